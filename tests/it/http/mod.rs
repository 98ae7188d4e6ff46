//! Remote servers as they fail in the wild: one row for each way, against fakes that speak HTTP.
//!
//! These run in real time, as sockets do; what is waited for is a state, never a time.

mod credentials;
mod dying;
mod failures;
#[cfg(target_os = "linux")]
mod hostile;
pub mod login;
mod many;
mod network;
mod program;
mod requests;
mod sessions;
mod sse;
mod streams;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcpdeck::app::{Definition, EngineOptions};
use mcpdeck::domain::{
    Failure, HttpConfig, HttpFlavour, ProtocolChoice, Secret, ServerConfig, ServerName,
    ServerSnapshot, TransportConfig,
};

use tokio::net::TcpSocket;

use crate::support::fake::{Action, Script};
use crate::support::handle::FakeHandle;
use crate::support::launch::http_server;
use crate::support::rig::{NAME, Rig, live};

/// Long enough on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// A server at the URL, as a config says it without further ado.
fn remote(url: impl Into<String>) -> HttpConfig {
    HttpConfig {
        url: url.into(),
        headers: Vec::new(),
        headers_command: Vec::new(),
        flavour: HttpFlavour::Auto,
        oauth: None,
    }
}

fn definition(config: HttpConfig, protocol: ProtocolChoice) -> Definition {
    Definition::from(server_config(config, protocol))
}

fn server_config(config: HttpConfig, protocol: ProtocolChoice) -> ServerConfig {
    ServerConfig {
        name: ServerName::new(NAME).unwrap(),
        transport: TransportConfig::Http(config),
        protocol,
        connect_timeout: None,
        request_timeout: None,
        traversal_timeout: None,
    }
}

fn endpoint(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}

fn header(name: &str, value: &str) -> (String, Secret) {
    (name.to_owned(), Secret::new(value))
}

/// A live engine connected to a fake with this script.
async fn connected(script: Script) -> (Rig, FakeHandle, SocketAddr) {
    let (address, fake) = http_server(script);
    let rig = put(remote(endpoint(address)), ProtocolChoice::Auto).await;
    let server = rig.settled().await;
    assert_eq!(server.status.word(), "connected", "{server:?}");
    (rig, fake, address)
}

/// A live engine connected to this server.
async fn connected_to(config: HttpConfig) -> Rig {
    let rig = put(config, ProtocolChoice::Auto).await;
    let server = rig.settled().await;
    assert_eq!(server.status.word(), "connected", "{server:?}");
    rig
}

/// A live engine with this server.
async fn put(config: HttpConfig, protocol: ProtocolChoice) -> Rig {
    let rig = Rig::start(live());
    rig.handle.put(vec![definition(config, protocol)]).await;
    rig
}

/// How a one-shot command finds this server.
async fn found(config: HttpConfig, protocol: ProtocolChoice) -> Arc<ServerSnapshot> {
    let rig = Rig::start(EngineOptions {
        live: false,
        ..live()
    });
    rig.handle.put(vec![definition(config, protocol)]).await;
    let server = rig.settled().await;
    rig.end().await;
    server
}

/// Why a one-shot command does not get connected.
async fn refusal(config: HttpConfig) -> Failure {
    let server = found(config, ProtocolChoice::Auto).await;
    let failure = server.status.failure();
    failure
        .unwrap_or_else(|| panic!("no failure: {server:?}"))
        .clone()
}

/// Ends the server, with all its connections, and waits until nothing listens any more. As long as
/// the socket is there, no server of another test gets the port.
#[must_use]
async fn kill(fake: &FakeHandle, address: SocketAddr) -> TcpSocket {
    fake.send(Action::exit(0, "")).await;
    fake.wait_end(SOON).await;
    let held = async {
        loop {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseaddr(true).unwrap();
            if socket.bind(address).is_ok() {
                return socket;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, held).await.expect("it ends")
}
