//! The HTTP side: axum hands every request to the engine and plays the frames that come back.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures::{StreamExt as _, stream};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::outlet::Head;
use super::{Frame, HttpRequest, Input, Outlet};

const BODY_LIMIT: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone)]
struct Context {
    inputs: UnboundedSender<Input>,
    next_key: Arc<AtomicU64>,
}

/// Serves HTTP on this listener until the task is dropped.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, inputs: UnboundedSender<Input>) -> io::Result<()> {
    let context = Context {
        inputs,
        next_key: Arc::new(AtomicU64::new(1)),
    };
    let router = Router::new().fallback(handle).with_state(context);
    axum::serve(listener, router).await
}

async fn handle(State(context): State<Context>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, BODY_LIMIT)
        .await
        .unwrap_or_default();
    let headers: BTreeMap<String, String> = parts
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    let key = context.next_key.fetch_add(1, Ordering::Relaxed);
    let (outlet, frames) = Outlet::new(key);
    let response = OpenResponse {
        frames,
        inputs: context.inputs.clone(),
        key,
        stream: false,
        ended: false,
    };
    let _ = context.inputs.send(Input::Http(HttpRequest {
        verb: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers,
        body: body.to_vec(),
        outlet,
    }));
    response.answer().await
}

/// A response that is being played. Dropped before its end, it tells the engine.
struct OpenResponse {
    frames: UnboundedReceiver<Frame>,
    inputs: UnboundedSender<Input>,
    key: u64,
    stream: bool,
    ended: bool,
}

impl OpenResponse {
    async fn answer(mut self) -> Response {
        let head = self.head().await;
        self.stream = head.stream;
        if head.stream {
            return response(&head, Some("text/event-stream"), self.into_body());
        }
        let mut whole = Vec::new();
        let mut is_message = false;
        while let Some(frame) = self.frames.recv().await {
            match frame {
                Frame::Message(text) => {
                    is_message = true;
                    whole.extend_from_slice(text.as_bytes());
                }
                Frame::Raw(bytes) => whole.extend_from_slice(&bytes),
                Frame::Abort => {
                    self.ended = true;
                    let start = stream::iter([Ok(Bytes::from(whole))]);
                    let body = Body::from_stream(start.chain(stream::once(cut())));
                    return response(&head, Some("application/json"), body);
                }
                Frame::Flush(done) => {
                    let _ = done.send(());
                }
                Frame::Head(_) | Frame::Event(..) | Frame::Close => {}
            }
        }
        self.ended = true;
        let content_type = match whole.is_empty() {
            true => None,
            false if is_message || head.status == 200 => Some("application/json"),
            false => Some("text/plain"),
        };
        response(&head, content_type, Body::from(whole))
    }

    /// The head; without one the request hangs, as on a server that never answers.
    async fn head(&mut self) -> Head {
        while let Some(frame) = self.frames.recv().await {
            match frame {
                Frame::Head(head) => return head,
                Frame::Flush(done) => {
                    let _ = done.send(());
                }
                _ => {}
            }
        }
        std::future::pending().await
    }

    fn into_body(self) -> Body {
        Body::from_stream(stream::unfold(self, |mut open| async move {
            let chunk = open.next_chunk().await?;
            Some((chunk, open))
        }))
    }

    async fn next_chunk(&mut self) -> Option<io::Result<Bytes>> {
        if self.ended {
            return None;
        }
        loop {
            match self.frames.recv().await {
                Some(Frame::Message(text)) => {
                    return Some(Ok(format!("event: message\ndata: {text}\n\n").into()));
                }
                Some(Frame::Event(event, data)) => {
                    return Some(Ok(format!("event: {event}\ndata: {data}\n\n").into()));
                }
                Some(Frame::Raw(bytes)) => return Some(Ok(bytes.into())),
                Some(Frame::Abort) => {
                    self.ended = true;
                    return Some(cut().await);
                }
                Some(Frame::Flush(done)) => {
                    let _ = done.send(());
                }
                Some(Frame::Head(_)) => {}
                Some(Frame::Close) | None => {
                    self.ended = true;
                    return None;
                }
            }
        }
    }
}

impl Drop for OpenResponse {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.inputs.send(Input::Gone(self.key));
        }
    }
}

/// The end of a body that is broken off, once what came before is with the kernel.
async fn cut() -> io::Result<Bytes> {
    tokio::time::sleep(Duration::from_millis(20)).await;
    Err(io::Error::other("cut"))
}

fn response(head: &Head, content_type: Option<&str>, body: Body) -> Response {
    let mut response = Response::new(body);
    if let Ok(status) = StatusCode::from_u16(head.status) {
        *response.status_mut() = status;
    }
    let headers = response.headers_mut();
    if let Some(Ok(value)) = content_type.map(HeaderValue::from_str) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    for (name, value) in &head.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
    response
}
