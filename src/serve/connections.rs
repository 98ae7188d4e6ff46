//! The TCP connections of clients, bounded in number and in patience: whoever holds one without
//! asking anything, with or without the token, must not use up our file descriptors.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How many connections may be open at once; the rest wait to be accepted.
const CONNECTIONS: usize = 512;

/// How long a client may take for the head of a request, from its connection or last answer on.
const HEAD: Duration = Duration::from_mins(1);

/// How long open responses may take to end when we do.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// How long is waited when the system gives no connection: most likely it has no more files.
const PAUSE: Duration = Duration::from_millis(200);

/// Lets the router answer all who connect, until `end`.
pub(super) async fn serve(listener: TcpListener, router: Router, end: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = end.cancelled() => break,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        let talking = talk(stream, router.clone(), end.clone());
        open.spawn(async move {
            talking.await;
            drop(place);
        });
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Answers on one connection until it is closed, or a moment longer than `end`.
async fn talk(stream: TcpStream, router: Router, end: CancellationToken) {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // A connection that breaks concerns its client alone.
    let _ = tokio::select! {
        ended = connection.as_mut() => Ok(ended),
        () = end.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(LAST_ANSWERS, connection).await
        }
    };
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

    #[tokio::test]
    async fn those_beyond_the_bound_wait_until_another_one_leaves() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "here"));
        let end = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, router, end.clone()));
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let mut late = TcpStream::connect(address).await.unwrap();
        late.write_all(ASK).await.unwrap();
        let mut answer = String::new();
        let asked = late.read_to_string(&mut answer);
        tokio::pin!(asked);
        let early = timeout(Duration::from_millis(200), asked.as_mut()).await;
        assert!(early.is_err(), "{early:?}");
        silent.pop();
        asked.await.unwrap();
        assert!(answer.ends_with("here"), "{answer}");
        end.cancel();
        serving.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_never_asks_is_hung_up_on() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let end = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, Router::new(), end.clone()));
        for start in [&b""[..], b"GET / HTTP/1.1\r\nHost:"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(start).await.unwrap();
            // It comes to an end, whatever is said at it.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        end.cancel();
        serving.await.unwrap();
    }
}
