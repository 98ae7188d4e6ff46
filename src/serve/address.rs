//! Our own URIs for what servers offer: `mcpdeck://NAME/r/URI` and `mcpdeck://NAME/t/TEMPLATE`.
//!
//! A name and a resource's URI are percent-encoded; a template stands as it is, so that whoever
//! fills it in gets a URI that leads back. Pure; both ways are exact, whatever the URI is.

/// The start of every URI of ours.
const SCHEME: &str = "mcpdeck://";

/// What a URI of ours stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The server's name.
    pub(super) server: String,
    /// The server's own URI.
    pub(super) uri: String,
}

/// Our URI for a resource of a server.
pub(super) fn of_resource(server: &str, uri: &str) -> String {
    let mut ours = String::with_capacity(SCHEME.len() + server.len() + uri.len() * 2);
    ours.push_str(SCHEME);
    encode(server, &mut ours);
    ours.push_str("/r/");
    encode(uri, &mut ours);
    ours
}

/// Our template for a template of a server.
pub(super) fn of_template(server: &str, template: &str) -> String {
    let mut ours = String::from(SCHEME);
    encode(server, &mut ours);
    ours.push_str("/t/");
    ours.push_str(template);
    ours
}

/// What our URI stands for, if it is one of ours.
pub(super) fn parse(ours: &str) -> Option<Address> {
    let (server, path) = ours.strip_prefix(SCHEME)?.split_once('/')?;
    let uri = match path.split_once('/')? {
        ("r", encoded) => decode(encoded)?,
        ("t", verbatim) => verbatim.to_owned(),
        _ => return None,
    };
    let server = decode(server)?;
    Some(Address { server, uri })
}

fn encode(text: &str, into: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            into.push(byte.into());
        } else {
            into.push('%');
            into.push(DIGITS[usize::from(byte >> 4)].into());
            into.push(DIGITS[usize::from(byte & 15)].into());
        }
    }
}

/// The text behind the encoding; `None` where it is broken, or no UTF-8.
fn decode(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address(server: &str, uri: &str) -> Address {
        Address {
            server: server.to_owned(),
            uri: uri.to_owned(),
        }
    }

    #[test]
    fn every_byte_but_a_few_is_encoded() {
        let ours = of_resource("my.server", "file:///a b/ä?x=1#%41-_~.");
        assert_eq!(
            ours,
            "mcpdeck://my%2Eserver/r/file%3A%2F%2F%2Fa%20b%2F%C3%A4%3Fx%3D1%23%2541-_~%2E"
        );
        assert_eq!(
            parse(&ours),
            Some(address("my.server", "file:///a b/ä?x=1#%41-_~."))
        );
    }

    #[test]
    fn a_template_stands_as_it_is_and_its_expansion_leads_back() {
        assert_eq!(
            of_template("a/b", "db://{table}/{?q,r*}"),
            "mcpdeck://a%2Fb/t/db://{table}/{?q,r*}"
        );
        let filled = "mcpdeck://a%2Fb/t/db://x%20y/?q=%25/r/";
        assert_eq!(parse(filled), Some(address("a/b", "db://x%20y/?q=%25/r/")));
    }

    #[test]
    fn what_is_not_ours_is_nothing() {
        let check = |text: &str| assert_eq!(parse(text), None, "{text}");
        check("");
        check("file:///r/x");
        check("mcpdeck://a");
        check("mcpdeck://a/r");
        check("mcpdeck://a/x/y");
        check("mcpdeck://a/r/%4");
        check("mcpdeck://a/r/%zz");
        check("mcpdeck://a/r/%+1");
        check("mcpdeck://a/r/%FF");
        check("mcpdeck://%FF/r/x");
    }

    proptest! {
        #[test]
        fn both_ways_are_exact(server in "\\PC{1,20}", uri in any::<String>()) {
            prop_assert_eq!(parse(&of_resource(&server, &uri)), Some(address(&server, &uri)));
            prop_assert_eq!(parse(&of_template(&server, &uri)), Some(address(&server, &uri)));
            let ours = of_resource(&server, &uri);
            prop_assert!(ours.bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
