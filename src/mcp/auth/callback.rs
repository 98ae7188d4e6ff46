//! The other end of the redirect after a log-in in the browser (RFC 8252, section 7.3): one page
//! on the loopback interface, for as long as the log-in lasts.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::domain::{Failure, FailureKind};

/// The path of the page.
const PATH: &str = "/callback";

/// The most of a request that is read, and for how long.
const MAX_REQUEST: usize = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// More browsers at once are hung up on.
const MAX_VISITORS: usize = 32;

/// The wait after a connection that could not be taken.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Listens for the browser.
#[derive(Debug)]
pub struct Callback {
    address: SocketAddr,
    redirects: mpsc::Receiver<Redirect>,
    tasks: JoinSet<()>,
}

/// A browser that was sent back to us, and waits for a page.
#[derive(Debug)]
pub struct Redirect {
    /// The whole URL that it was sent to.
    pub url: String,
    page: oneshot::Sender<Page>,
}

/// What the browser is shown.
#[derive(Debug, Clone, Copy)]
pub enum Page {
    /// The log-in succeeded.
    Done,
    /// The log-in failed, and the program says why.
    Failed,
    /// The redirect belongs to another log-in.
    Foreign,
}

impl Callback {
    /// Listens on the port, or on a free one.
    ///
    /// # Errors
    ///
    /// The port is taken.
    pub async fn listen(port: Option<u16>) -> Result<Self, Failure> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
        let cannot = |error: std::io::Error| {
            Failure::new(
                FailureKind::Config,
                format!("cannot wait for the browser at {wanted}: {error}"),
            )
        };
        let listener = TcpListener::bind(wanted).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let (sender, redirects) = mpsc::channel(4);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut visitors = JoinSet::new();
            loop {
                match listener.accept().await {
                    Ok((stream, _)) if visitors.len() < MAX_VISITORS => {
                        visitors.spawn(serve(stream, address, sender.clone()));
                    }
                    Ok(_) => {}
                    // Too many open files, say: that passes.
                    Err(_) => sleep(ACCEPT_AGAIN).await,
                }
                while visitors.try_join_next().is_some() {}
            }
        });
        Ok(Self {
            address,
            redirects,
            tasks,
        })
    }

    /// The URL that the authorization server sends the browser to.
    pub fn redirect_uri(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// The next browser that comes; there may never be one.
    pub async fn next(&mut self) -> Option<Redirect> {
        self.redirects.recv().await
    }

    /// Waits until the last page is sent, or a moment.
    pub async fn close(mut self) {
        const LAST_PAGE: Duration = Duration::from_millis(100);
        self.redirects.close();
        sleep(LAST_PAGE).await;
        self.tasks.abort_all();
    }
}

impl Redirect {
    /// Shows the page.
    pub fn show(self, page: Page) {
        // A failed send: the browser has gone.
        let _ = self.page.send(page);
    }
}

/// Reads one request; browsers ask for other things as well.
async fn serve(mut stream: TcpStream, address: SocketAddr, redirects: mpsc::Sender<Redirect>) {
    let Ok(Some(target)) = timeout(PATIENCE, read_target(&mut stream)).await else {
        return;
    };
    let path = target.split('?').next().unwrap_or_default();
    let (status, text) = if path == PATH {
        let (page, shown) = oneshot::channel();
        let redirect = Redirect {
            url: format!("http://{address}{target}"),
            page,
        };
        if redirects.send(redirect).await.is_err() {
            return;
        }
        match shown.await.unwrap_or(Page::Failed) {
            Page::Done => ("200 OK", "You are logged in. You can close this page."),
            Page::Failed => (
                "400 Bad Request",
                "The log-in failed; mcpdeck says why. You can close this page.",
            ),
            Page::Foreign => (
                "400 Bad Request",
                "This page belongs to another log-in, so nothing was done.",
            ),
        }
    } else {
        ("404 Not Found", "There is nothing here.")
    };
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcpdeck</title><p>{text}</p></html>"
    );
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    // A browser that has gone needs no page.
    let _ = timeout(PATIENCE, async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}

/// The target of a GET, `/callback?code=...`.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    let mut chunk = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream
            .read(&mut chunk)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        request.extend_from_slice(&chunk[..read]);
        if request.len() > MAX_REQUEST {
            return None;
        }
    }
    let line = request.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let is_get = words.next() == Some("GET");
    words
        .next()
        .filter(|target| is_get && target.starts_with('/'))
        .map(str::to_owned)
}
