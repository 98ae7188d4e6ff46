//! Sends rmcp's OAuth requests over our own HTTP client: the same trust, proxies and bounds as for
//! everything else, and no redirect but those that rmcp follows itself.

use futures::StreamExt as _;
use http::header::CONTENT_TYPE;
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};

use crate::mcp::http::{EVENT_STREAM, http_client};

/// The most of an answer that is read: metadata and tokens are small.
const MAX_BODY: usize = 1024 * 1024;

/// The client.
#[derive(Debug, Clone, Copy)]
pub struct OAuthClient;

impl OAuthHttpClient for OAuthClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let OAuthHttpRequest {
                request, timeout, ..
            } = request;
            let client = http_client(&request.uri().to_string()).await?;
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
