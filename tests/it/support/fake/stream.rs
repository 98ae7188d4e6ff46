//! Newline-delimited JSON over any byte stream: stdio, a pipe, `tokio::io::duplex`.

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::{Frame, Input, Outlet};

/// The key of the one outlet of a byte stream.
pub const MAIN: u64 = 0;

/// Reads lines until the end and hands them to the engine.
pub async fn read_lines<R: AsyncRead + Unpin>(
    reader: R,
    inputs: UnboundedSender<Input>,
    outlet: Outlet,
) {
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                let message = Input::Line {
                    body: line,
                    outlet: outlet.clone(),
                };
                if inputs.send(message).is_err() {
                    return;
                }
            }
        }
    }
    let _ = inputs.send(Input::Eof);
}

/// Writes frames until the outlet is closed, and then closes the stream.
///
/// # Errors
/// When the other side is gone.
pub async fn write_frames<W: AsyncWrite + Unpin>(
    writer: W,
    frames: &mut UnboundedReceiver<Frame>,
) -> std::io::Result<()> {
    let mut writer = BufWriter::with_capacity(64 * 1024, writer);
    while let Some(frame) = frames.recv().await {
        match frame {
            Frame::Head(_) | Frame::Event(..) => {}
            Frame::Message(text) => {
                writer.write_all(text.as_bytes()).await?;
                writer.write_all(b"\n").await?;
            }
            Frame::Raw(bytes) => writer.write_all(&bytes).await?,
            Frame::Flush(done) => {
                writer.flush().await?;
                let _ = done.send(());
            }
            Frame::Abort | Frame::Close => break,
        }
        if frames.is_empty() {
            writer.flush().await?;
        }
    }
    writer.shutdown().await
}

/// Takes and drops frames after the stream is closed, so that flushes are still answered.
pub async fn drain(frames: &mut UnboundedReceiver<Frame>) {
    while let Some(frame) = frames.recv().await {
        if let Frame::Flush(done) = frame {
            let _ = done.send(());
        }
    }
}
