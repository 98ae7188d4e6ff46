//! Serving on stdin and stdout, until stdin ends.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::ServeError;
use super::handler::Handler;

/// How long answers that are under way may take after the end of the input.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// Serves until the input ends; `end` is cancelled then.
pub(super) async fn serve(handler: Handler, end: CancellationToken) -> Result<(), ServeError> {
    // Unlike tokio's stdin, these leave no blocked read behind that would hold up the exit.
    let (reader, writer) = rmcp::transport::stdio_pipes();
    let reader = EndWatch {
        inner: reader,
        end: end.clone(),
    };
    let running = match handler.serve((reader, writer)).await {
        Ok(running) => running,
        // A client that only probes us and leaves has done nothing wrong.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(error) => return Err(ServeError::Handshake(error.to_string())),
    };
    let ended = running.waiting();
    tokio::pin!(ended);
    tokio::select! {
        _ = &mut ended => {}
        () = end.cancelled() => {
            // What is not answered by then nobody waits for.
            let _ = timeout(LAST_ANSWERS, ended).await;
        }
    }
    Ok(())
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
