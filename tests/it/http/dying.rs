//! Connections that were kept and end just as the next request is written to them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpdeck::domain::{FailureKind, ListMethod, ProtocolChoice};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{connected_to, endpoint, put, refusal, remote};
use crate::support::fake::{Reply, Script};
use crate::support::launch::http_server;

/// What lies between us and a server, and ends connections instead of passing a request on.
struct Between {
    address: SocketAddr,
    fate: Arc<Fate>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Fate {
    /// Connections that were opened before this many end with their next request.
    dead_before: AtomicUsize,
    /// So do those whose request says this.
    dead_words: &'static str,
    opened: AtomicUsize,
    ended: AtomicUsize,
}

impl Between {
    async fn start(server: SocketAddr, dead_words: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let fate = Arc::new(Fate {
            dead_words,
            ..Fate::default()
        });
        let shared = Arc::clone(&fate);
        let accepting = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let number = shared.opened.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect(server).await.unwrap();
                tokio::spawn(pass(client, server, number, Arc::clone(&shared)));
            }
        });
        Self {
            address,
            fate,
            accepting,
        }
    }

    /// All connections that are open end with their next request.
    fn end_what_is_open(&self) {
        let opened = self.fate.opened.load(Ordering::SeqCst);
        self.fate.dead_before.store(opened, Ordering::SeqCst);
    }

    fn ended(&self) -> usize {
        self.fate.ended.load(Ordering::SeqCst)
    }
}

/// Passes bytes on in both directions until one side ends, or fate ends both.
async fn pass(mut client: TcpStream, mut server: TcpStream, number: usize, fate: Arc<Fate>) {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(size @ 1..) = read else { return };
                let is_old = number < fate.dead_before.load(Ordering::SeqCst);
                let words = String::from_utf8_lossy(&asked[..size]);
                if is_old || (!fate.dead_words.is_empty() && words.contains(fate.dead_words)) {
                    fate.ended.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                server.write_all(&asked[..size]).await.unwrap();
            }
            read = server.read(&mut answered) => {
                let Ok(size @ 1..) = read else { return };
                client.write_all(&answered[..size]).await.unwrap();
            }
        }
    }
}

/// A server that has no stream and no session.
fn plain() -> Script {
    let mut script = Script::legacy().sample();
    script.http.no_get = true;
    script.http.stateless = true;
    script
}

#[tokio::test]
async fn a_request_that_dies_with_its_connection_is_sent_once_more_on_a_new_one() {
    let (server, fake) = http_server(plain());
    let between = Between::start(server, "").await;
    let rig = connected_to(remote(endpoint(between.address))).await;
    let before = rig.server();
    between.end_what_is_open();
    rig.handle.refresh_all().await;
    let after = rig
        .until("refreshed", |server| {
            server.generation > before.generation && server.is_settled()
        })
        .await;
    assert!(between.ended() > 0);
    assert_eq!((after.epoch, after.errors.len()), (before.epoch, 0));
    for method in ListMethod::ALL {
        let asked = fake.of(method.name()).await;
        assert_eq!(asked.len(), 2, "{method:?}: {asked:?}");
    }
    rig.end().await;
}

#[tokio::test]
async fn a_request_that_dies_with_its_connection_finds_out_that_the_server_is_gone() {
    let (server, _fake) = http_server(plain());
    let between = Between::start(server, "").await;
    let rig = connected_to(remote(endpoint(between.address))).await;
    between.accepting.abort();
    let address = between.address;
    between.end_what_is_open();
    let _ = between.accepting.await;
    rig.handle.refresh_all().await;
    let lost = rig
        .until("lost", |server| server.status.word() == "reconnecting")
        .await;
    let cause = lost.status.failure().unwrap();
    let expected = format!("connection refused: nothing listens at {address}");
    assert_eq!(
        (cause.kind, &*cause.message),
        (FailureKind::Closed, &*expected)
    );
    rig.end().await;
}

#[tokio::test]
async fn initialize_is_sent_once_whatever_becomes_of_its_connection() {
    let script = Script::legacy()
        .sample()
        .on("server/discover", Reply::status(404));
    let (server, fake) = http_server(script);
    let between = Between::start(server, "\"initialize\"").await;
    let failure = refusal(remote(endpoint(between.address))).await;
    assert_eq!(failure.kind, FailureKind::Connect);
    assert_eq!(between.ended(), 1);
    assert_eq!(fake.count("server/discover").await, 1);
    // With the modern era nothing begins a session: each request may be sent again.
    let (server, fake) = http_server(Script::modern().sample());
    let between = Between::start(server, "").await;
    let rig = put(remote(endpoint(between.address)), ProtocolChoice::Auto).await;
    let before = rig.settled().await;
    between.end_what_is_open();
    rig.handle.refresh_all().await;
    rig.until("refreshed", |server| {
        server.generation > before.generation && server.is_settled()
    })
    .await;
    assert_eq!(fake.count("server/discover").await, 1);
    rig.end().await;
}
