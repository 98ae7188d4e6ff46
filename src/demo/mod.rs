//! The demo server: a small real MCP server on stdio, so that mcpdeck shows something before
//! anything is configured.
//!
//! It explains mcpdeck to a newcomer, and it is alive: a harbour whose tide and ferry change one
//! resource every few seconds. It speaks both protocol eras and ends with its input. It knows
//! nothing of the rest of the program.

mod content;
mod prompts;
mod server;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use server::DemoServer;

/// The name under which the demo server is shown, and that it gives itself.
pub const DEMO_NAME: &str = "demo";

/// How often the harbour changes.
pub const PERIOD: Duration = Duration::from_secs(5);

/// Serves on this process's stdin and stdout until stdin ends.
///
/// # Errors
///
/// Returns an error if the peer opens with anything but an MCP request, or if serving panics.
/// A peer that goes away is no error, however early.
pub async fn serve_stdio() -> anyhow::Result<()> {
    // Unlike tokio's stdin, these leave no blocked read behind that would hold up the exit.
    let (reader, writer) = rmcp::transport::stdio_pipes();
    serve(reader, writer, PERIOD).await
}

/// Serves over any pair of streams; one resource changes every `period` once the resources were
/// listed.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve<R, W>(reader: R, writer: W, period: Duration) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let end = CancellationToken::new();
    let asked = Arc::new(Notify::new());
    let (clock, step) = watch::channel(0);
    let reader = EndWatch {
        inner: reader,
        end: end.clone(),
    };
    let server = DemoServer::new(step, Arc::clone(&asked), end);
    tokio::select! {
        result = run(server, reader, writer) => result,
        never = keep_time(clock, &asked, period) => match never {},
    }
}

async fn run<R, W>(server: DemoServer, reader: R, writer: W) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match server.serve((reader, writer)).await {
        Ok(running) => running,
        // A peer that only probes us and leaves has done nothing wrong.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match running.waiting().await? {
        QuitReason::JoinError(error) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Steps the harbour. Time stands still until somebody has looked: a peer that never lists the
/// resources is never told that they changed.
async fn keep_time(clock: watch::Sender<u64>, asked: &Notify, period: Duration) -> Infallible {
    asked.notified().await;
    let mut ticks = tokio::time::interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        clock.send_modify(|step| *step += 1);
    }
}

/// A reader that tells `end` when it is exhausted.
///
/// rmcp waits up to 5 s for open subscriptions after the end of the input; they watch `end`
/// instead.
struct EndWatch<R> {
    inner: R,
    end: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for EndWatch<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let result = ready!(Pin::new(&mut self.inner).poll_read(cx, buf));
        if result.is_err() || buf.filled().len() == before {
            self.end.cancel();
        }
        Poll::Ready(result)
    }
}

#[cfg(test)]
mod tests;
