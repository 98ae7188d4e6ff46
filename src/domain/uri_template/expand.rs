//! How the values of an expression become a part of the URI (RFC 6570, section 3.2).

use std::collections::BTreeMap;

use super::{LONGEST_URI, Modifier, Operator, Spec, TemplateError, Value};

impl Operator {
    /// What stands before the first value, and between two (the table of RFC 6570, appendix A).
    const fn signs(self) -> (&'static str, &'static str) {
        match self {
            Self::Simple | Self::Reserved => ("", ","),
            Self::Fragment => ("#", ","),
            Self::Label => (".", "."),
            Self::Path => ("/", "/"),
            Self::Parameter => (";", ";"),
            Self::Query => ("?", "&"),
            Self::Continuation => ("&", "&"),
        }
    }

    /// What stands behind the name of an empty value, where values stand behind their names.
    const fn named(self) -> Option<&'static str> {
        match self {
            Self::Parameter => Some(""),
            Self::Query | Self::Continuation => Some("="),
            Self::Simple | Self::Reserved | Self::Fragment | Self::Label | Self::Path => None,
        }
    }

    /// Adds a value; reserved characters stay where they may.
    fn add(self, uri: &mut String, value: &str) {
        encode(uri, value, matches!(self, Self::Reserved | Self::Fragment));
    }

    /// Adds the name of a variable, where it stands in the URI.
    fn add_name(self, uri: &mut String, name: &str, value_is_empty: bool) {
        if let Some(empty) = self.named() {
            encode(uri, name, true);
            uri.push_str(if value_is_empty { empty } else { "=" });
        }
    }

    /// Adds the values of an expression (RFC 6570, section 3.2.1).
    pub(super) fn expand(
        self,
        uri: &mut String,
        specs: &[Spec],
        values: &BTreeMap<String, Value>,
    ) -> Result<(), TemplateError> {
        let (first, between) = self.signs();
        let mut sign = first;
        for Spec { name, modifier } in specs {
            let Some(value) = values.get(name).filter(|it| !it.is_nothing()) else {
                continue;
            };
            uri.push_str(sign);
            sign = between;
            match (value, *modifier) {
                (Value::Text(text), modifier) => {
                    self.add_name(uri, name, text.is_empty());
                    self.add(uri, modifier.beginning(text));
                }
                (_, Modifier::Prefix(_)) => {
                    return Err(TemplateError::PrefixOfMany(name.clone()));
                }
                (Value::List(items), Modifier::None) => {
                    self.add_name(uri, name, false);
                    separated(uri, ",", items, |uri, item| self.add(uri, item));
                }
                (Value::Pairs(pairs), Modifier::None) => {
                    self.add_name(uri, name, false);
                    separated(uri, ",", pairs, |uri, (name, value)| {
                        self.add(uri, name);
                        uri.push(',');
                        self.add(uri, value);
                    });
                }
                (Value::List(items), Modifier::Explode) => {
                    separated(uri, between, items, |uri, item| {
                        self.add_name(uri, name, item.is_empty());
                        self.add(uri, item);
                    });
                }
                (Value::Pairs(pairs), Modifier::Explode) => {
                    separated(uri, between, pairs, |uri, (name, value)| {
                        self.add(uri, name);
                        let empty = self.named().filter(|_| value.is_empty());
                        uri.push_str(empty.unwrap_or("="));
                        self.add(uri, value);
                    });
                }
            }
            if uri.len() > LONGEST_URI {
                return Err(TemplateError::Long);
            }
        }
        Ok(())
    }
}

impl Modifier {
    /// The part of a text that is used.
    fn beginning(self, text: &str) -> &str {
        let Self::Prefix(length) = self else {
            return text;
        };
        let end = text.char_indices().nth(length);
        &text[..end.map_or(text.len(), |(end, _)| end)]
    }
}

impl Value {
    /// Whether it is as if there were none (RFC 6570, section 2.3).
    fn is_nothing(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::List(items) => items.is_empty(),
            Self::Pairs(pairs) => pairs.is_empty(),
        }
    }
}

fn separated<T>(uri: &mut String, by: &str, items: &[T], add: impl Fn(&mut String, &T)) {
    for (index, item) in items.iter().enumerate() {
        uri.push_str(if index == 0 { "" } else { by });
        add(uri, item);
    }
}

/// Adds a text, percent-encoded but for unreserved characters; reserved ones and what is encoded
/// already may be kept (RFC 6570, sections 1.5 and 3.2.1).
pub(super) fn encode(uri: &mut String, text: &str, keeps_reserved: bool) {
    const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let is_encoded = || {
            let digits = bytes.get(index + 1..index + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        let is_kept = byte.is_ascii_alphanumeric()
            || b"-._~".contains(byte)
            || keeps_reserved && (RESERVED.contains(byte) || *byte == b'%' && is_encoded());
        if is_kept {
            uri.push(char::from(*byte));
        } else {
            let digit = |value: u8| char::from(b"0123456789ABCDEF"[usize::from(value)]);
            uri.extend(['%', digit(byte >> 4), digit(byte & 0xF)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::uri_template::UriTemplate;

    /// The variables of RFC 6570, section 3.2.
    fn rfc() -> BTreeMap<String, Value> {
        let text = |text: &str| Value::Text(text.to_owned());
        let list = |items: &[&str]| Value::List(items.iter().map(|it| (*it).to_owned()).collect());
        let pairs = [("semi", ";"), ("dot", "."), ("comma", ",")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let values = [
            ("count", list(&["one", "two", "three"])),
            ("dom", list(&["example", "com"])),
            ("dub", text("me/too")),
            ("hello", text("Hello World!")),
            ("half", text("50%")),
            ("var", text("value")),
            ("who", text("fred")),
            ("base", text("http://example.com/home/")),
            ("path", text("/foo/bar")),
            ("list", list(&["red", "green", "blue"])),
            ("keys", Value::Pairs(pairs.to_vec())),
            ("v", text("6")),
            ("x", text("1024")),
            ("y", text("768")),
            ("empty", text("")),
            ("empty_keys", Value::Pairs(Vec::new())),
        ];
        values
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect()
    }

    /// The examples of the sections 3.2.1 to 3.2.9.
    #[test]
    fn the_examples_of_the_rfc_expand_as_it_says() {
        let examples = [
            // 3.2.1
            ("{count}", "one,two,three"),
            ("{count*}", "one,two,three"),
            ("{/count}", "/one,two,three"),
            ("{/count*}", "/one/two/three"),
            ("{;count}", ";count=one,two,three"),
            ("{;count*}", ";count=one;count=two;count=three"),
            ("{?count}", "?count=one,two,three"),
            ("{?count*}", "?count=one&count=two&count=three"),
            ("{&count*}", "&count=one&count=two&count=three"),
            // 3.2.2
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{half}", "50%25"),
            ("O{empty}X", "OX"),
            ("O{undef}X", "OX"),
            ("{x,y}", "1024,768"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("?{x,empty}", "?1024,"),
            ("?{x,undef}", "?1024"),
            ("?{undef,y}", "?768"),
            ("{var:3}", "val"),
            ("{var:30}", "value"),
            ("{list}", "red,green,blue"),
            ("{list*}", "red,green,blue"),
            ("{keys}", "semi,%3B,dot,.,comma,%2C"),
            ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
            // 3.2.3
            ("{+var}", "value"),
            ("{+hello}", "Hello%20World!"),
            ("{+half}", "50%25"),
            ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
            ("{+base}index", "http://example.com/home/index"),
            ("O{+empty}X", "OX"),
            ("O{+undef}X", "OX"),
            ("{+path}/here", "/foo/bar/here"),
            ("here?ref={+path}", "here?ref=/foo/bar"),
            ("up{+path}{var}/here", "up/foo/barvalue/here"),
            ("{+x,hello,y}", "1024,Hello%20World!,768"),
            ("{+path,x}/here", "/foo/bar,1024/here"),
            ("{+path:6}/here", "/foo/b/here"),
            ("{+list*}", "red,green,blue"),
            ("{+keys}", "semi,;,dot,.,comma,,"),
            ("{+keys*}", "semi=;,dot=.,comma=,"),
            // 3.2.4
            ("{#var}", "#value"),
            ("{#hello}", "#Hello%20World!"),
            ("foo{#empty}", "foo#"),
            ("foo{#undef}", "foo"),
            ("{#x,hello,y}", "#1024,Hello%20World!,768"),
            ("{#path:6}/here", "#/foo/b/here"),
            ("{#keys*}", "#semi=;,dot=.,comma=,"),
            // 3.2.5
            ("{.who}", ".fred"),
            ("{.who,who}", ".fred.fred"),
            ("{.half,who}", ".50%25.fred"),
            ("www{.dom*}", "www.example.com"),
            ("X{.var}", "X.value"),
            ("X{.empty}", "X."),
            ("X{.undef}", "X"),
            ("X{.var:3}", "X.val"),
            ("X{.list*}", "X.red.green.blue"),
            ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"),
            ("X{.empty_keys}", "X"),
            // 3.2.6
            ("{/who}", "/fred"),
            ("{/half,who}", "/50%25/fred"),
            ("{/who,dub}", "/fred/me%2Ftoo"),
            ("{/var,empty}", "/value/"),
            ("{/var,undef}", "/value"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{/var:1,var}", "/v/value"),
            ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
            ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
            // 3.2.7
            ("{;who}", ";who=fred"),
            ("{;half}", ";half=50%25"),
            ("{;empty}", ";empty"),
            ("{;v,empty,who}", ";v=6;empty;who=fred"),
            ("{;x,y,undef}", ";x=1024;y=768"),
            ("{;hello:5}", ";hello=Hello"),
            ("{;list*}", ";list=red;list=green;list=blue"),
            ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
            // 3.2.8
            ("{?who}", "?who=fred"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("{?x,y,undef}", "?x=1024&y=768"),
            ("{?var:3}", "?var=val"),
            ("{?list*}", "?list=red&list=green&list=blue"),
            ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
            ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
            // 3.2.9
            ("{&who}", "&who=fred"),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{&x,y,empty}", "&x=1024&y=768&empty="),
            ("{&var:3}", "&var=val"),
            ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
        ];
        for (template, expected) in examples {
            let expanded = UriTemplate::new(template).unwrap().expand(&rfc());
            assert_eq!(expanded.as_deref(), Ok(expected), "{template}");
        }
    }

    proptest! {
        #[test]
        fn a_simple_value_is_encoded_wholly(field in ".{1,12}") {
            let template = UriTemplate::new("{x}").unwrap();
            let values = template.variables()[0].value(&field).map(|it| ("x".to_owned(), it));
            let expanded = template.expand(&values.into_iter().collect()).unwrap();
            let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
            prop_assert!(expanded.bytes().all(fine), "{}", expanded);
        }
    }
}
