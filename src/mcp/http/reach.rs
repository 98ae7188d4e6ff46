//! Whether a URL leads to a place where we ourselves listen.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use reqwest::Url;

/// Whether the URL leads to what listens at the address. Only hosts that are an address or
/// `localhost` count: `mcpdeck serve` answers to no other name.
#[must_use]
pub fn leads_to(url: &str, listening: SocketAddr) -> bool {
    let Ok(url) = url.parse::<Url>() else {
        return false;
    };
    if url.port_or_known_default() != Some(listening.port()) {
        return false;
    }
    let ours = listening.ip().to_canonical();
    let Some(host) = url.host_str() else {
        return false;
    };
    if host.eq_ignore_ascii_case("localhost") {
        return ours.is_loopback() || ours.is_unspecified();
    }
    // The parser has brought `127.1` and its kind into the usual form.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let Ok(host) = host.parse::<IpAddr>() else {
        return false;
    };
    let host = host.to_canonical();
    host.is_unspecified() || host == ours || (ours.is_unspecified() && is_of_this_machine(host))
}

/// Whether this machine has the address: another one cannot be bound.
fn is_of_this_machine(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_our_own_address_is_seen() {
        let check = |listening: &str, url: &str, expected: bool| {
            let found = leads_to(url, listening.parse().unwrap());
            assert_eq!(found, expected, "{url} at {listening}");
        };
        for ours in [
            "http://127.0.0.1:7000/mcp",
            "http://127.1:7000/mcp",
            "http://2130706433:7000/",
            "http://LocalHost:7000/mcp",
            "http://user:pass@localhost:7000/mcp",
            "http://[::ffff:127.0.0.1]:7000/mcp",
            "http://0.0.0.0:7000/mcp",
        ] {
            check("127.0.0.1:7000", ours, true);
            check("0.0.0.0:7000", ours, true);
            check("[::]:7000", ours, true);
        }
        check("[::1]:7000", "http://[::1]:7000/mcp", true);
        check("127.0.0.1:80", "http://localhost/mcp", true);
        for other in [
            "http://127.0.0.1:7001/mcp",
            "http://127.0.0.2:7000/mcp",
            "http://example.org:7000/mcp",
            "http://localhost/mcp",
            "no URL",
        ] {
            check("127.0.0.1:7000", other, false);
        }
        // An address of the documentation range is nobody's.
        check("0.0.0.0:7000", "http://192.0.2.1:7000/mcp", false);
    }
}
