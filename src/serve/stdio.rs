//! Serving on stdin and stdout, until stdin ends.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::handler::Handler;
use super::{REQUEST, ServeError};

/// How long answers that are under way may take after the end of the input, or a signal.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// Serves until the input ends; `end` is cancelled then.
pub(super) async fn serve(handler: Handler, end: CancellationToken) -> Result<(), ServeError> {
    // Unlike tokio's stdin, these leave no blocked read behind that would hold up the exit.
    let (reader, writer) = rmcp::transport::stdio_pipes();
    let reader = EndWatch {
        inner: reader,
        end: end.clone(),
    };
    let pipes = AsyncRwTransport::new_server(reader, writer).with_max_line_length(REQUEST);
    let gate = Gate::new(pipes, end.clone());
    let Some(begun) = unless_over(&end, Box::pin(handler.serve(gate))).await else {
        return Ok(());
    };
    let running = match begun {
        Ok(running) => running,
        // A client that only probes us and leaves has done nothing wrong.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            return Err(ServeError::Handshake("its first message is no request"));
        }
        Err(_) => return Err(ServeError::Handshake("the handshake failed")),
    };
    unless_over(&end, running.waiting()).await;
    Ok(())
}

/// The output of `future`, which may take a moment longer than `end`.
async fn unless_over<T>(end: &CancellationToken, future: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(future);
    tokio::select! {
        output = &mut future => Some(output),
        // What is not answered by then nobody waits for.
        () = end.cancelled() => timeout(LAST_ANSWERS, future).await.ok(),
    }
}

/// A reader that tells `end` when it is exhausted: rmcp itself waits up to 5 s for what is still
/// under way.
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
