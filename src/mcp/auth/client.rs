//! Sends rmcp's OAuth requests over our own HTTP client: the same trust, proxies and bounds as for
//! everything else, and no redirect but those that rmcp follows itself.

use std::net::{IpAddr, Ipv4Addr};

use futures::StreamExt as _;
use http::header::CONTENT_TYPE;
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};

use reqwest::Url;

use crate::mcp::http::{EVENT_STREAM, http_client, shown};

/// The most of an answer that is read: metadata and tokens are small.
const MAX_BODY: usize = 1024 * 1024;

/// The client of the log-in at one server.
#[derive(Debug, Clone, Copy)]
pub struct OAuthClient {
    /// Whether the server itself is on this machine or in its network.
    near: bool,
}

impl OAuthClient {
    /// For a log-in at the server of the URL.
    pub fn of(server: &str) -> Self {
        let near = Url::parse(server).is_ok_and(|url| is_near(&url));
        Self { near }
    }

    /// What a server far away names is no way into this machine and its network (MCP 2026-07-28,
    /// security best practices, server-side request forgery).
    fn permits(self, url: &Url) -> bool {
        self.near || !is_near(url)
    }
}

/// Whether the URL names an address of this machine or of a private network. Names are not looked
/// up: whoever answers for a name says so with a certificate.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse() {
        Ok(IpAddr::V4(address)) => is_near_v4(address),
        Ok(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
            Some(address) => is_near_v4(address),
            None => {
                address.is_loopback()
                    || address.is_unspecified()
                    || address.is_unique_local()
                    || address.is_unicast_link_local()
            }
        },
        Err(_) => {
            let name = host.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

const fn is_near_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    // RFC 6598: addresses that providers share.
    let is_shared = first == 100 && second & 0xc0 == 64;
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || first == 0
        || is_shared
}

impl OAuthHttpClient for OAuthClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let OAuthHttpRequest {
                request, timeout, ..
            } = request;
            let url = request.uri().to_string();
            if !Url::parse(&url).is_ok_and(|url| self.permits(&url)) {
                return Err(format!(
                    "{} is an address of this machine or its network, to which a server from outside must not lead",
                    shown(&url)
                )
                .into());
            }
            let client = http_client(&url).await?;
            let mut request = reqwest::Request::try_from(request)?;
            *request.timeout_mut() = timeout;
            let response = client.execute(request).await.map_err(without_url)?;
            let mut answer = http::Response::builder().status(response.status());
            for (name, value) in response.headers() {
                answer = answer.header(name, value);
            }
            let mut body = Vec::new();
            // On the way to the metadata rmcp asks the server itself, which may begin a stream.
            let is_stream = response
                .headers()
                .get(CONTENT_TYPE)
                .is_some_and(|value| value.as_bytes().starts_with(EVENT_STREAM.as_bytes()));
            if is_stream {
                return Ok(answer.body(body)?);
            }
            let mut chunks = response.bytes_stream();
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(without_url)?;
                if body.len() + chunk.len() > MAX_BODY {
                    return Err("the answer has more than 1 MiB".into());
                }
                body.extend_from_slice(&chunk);
            }
            Ok(answer.body(body)?)
        })
    }
}

/// A URL may carry what is secret.
fn without_url(error: reqwest::Error) -> OAuthHttpClientError {
    error.without_url().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_from_outside_leads_to_no_address_inside() {
        let check = |server: &str, url: &str, permitted: bool| {
            let found = OAuthClient::of(server).permits(&Url::parse(url).unwrap());
            assert_eq!(found, permitted, "{server} {url}");
        };
        let outside = "https://mcp.example.org/mcp";
        check(outside, "https://login.example.org/token", true);
        check(outside, "https://93.184.216.34/token", true);
        check(outside, "https://[2606:2800:220:1::1]/token", true);
        for inside in [
            "http://localhost/x",
            "https://LOCALHOST./x",
            "https://as.localhost:8443/x",
            "http://127.0.0.1:8080/x",
            "http://2130706433/x",
            "http://10.1.2.3/x",
            "http://172.16.0.1/x",
            "http://192.168.1.1/x",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/x",
            "http://0.0.0.0/x",
            "http://[::1]/x",
            "http://[::]/x",
            "http://[::ffff:127.0.0.1]/x",
            "http://[fd00::1]/x",
            "http://[fe80::1]/x",
        ] {
            check(outside, inside, false);
            check("http://127.0.0.1:3000/mcp", inside, true);
        }
        check(
            "http://localhost:3000/mcp",
            "https://login.example.org/token",
            true,
        );
    }
}
