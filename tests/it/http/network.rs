//! The program and what lies between it and a server: certificates, proxies, and sites that are no
//! servers.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::endpoint;
use crate::support::fake::Script;
use crate::support::launch::http_server;
use crate::support::program::{Home, server};

/// A certificate for 127.0.0.1 that nobody trusts, and its key, which is good for nothing else.
fn pem(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/http/tls");
    folder.join(name)
}

/// Runs a server on a thread of its own for as long as the tests run; where it listens.
fn serve<F: Future<Output = ()>>(
    server: impl FnOnce(TcpListener) -> F + Send + 'static,
) -> SocketAddr {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            server(listener).await;
        });
    });
    told.recv().unwrap()
}

/// TLS with our certificate in front of a server.
fn in_tls(inner: SocketAddr) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from_pem_file(pem("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(pem("key.pem")).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    serve(async move |listener| {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // Who does not trust us goes away here.
                let Ok(mut outer) = acceptor.accept(stream).await else {
                    return;
                };
                let mut inner = TcpStream::connect(inner).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut outer, &mut inner).await;
            });
        }
    })
}

#[test]
fn a_certificate_that_nobody_trusts_is_refused_unless_ssl_cert_file_has_it() {
    let (address, _fake) = http_server(Script::legacy().sample());
    let url = format!("https://{}/mcp", in_tls(address));
    let home = Home::new();
    let listed = home.run(&["list", "--json", "--url", &url]).json(3);
    let message = server(&listed, "127.0.0.1")["error"]["message"].clone();
    let message = message.as_str().unwrap();
    assert!(
        message.contains(": TLS failed with 127.0.0.1:"),
        "{message}"
    );
    assert!(message.contains("SSL_CERT_FILE"), "{message}");

    let mut command = home.program(&["list", "--json", "--url", &url]);
    command.env("SSL_CERT_FILE", pem("cert.pem"));
    let listed = home.finish(command).json(0);
    assert_eq!(server(&listed, "127.0.0.1")["status"], "connected");
}

#[test]
fn proxies_come_from_the_environment() {
    // Somebody who answers for every host is a proxy.
    let (address, _fake) = http_server(Script::legacy().sample());
    let home = Home::new();
    let listing = || home.program(&["list", "--json", "--url", "http://far.invalid/mcp"]);
    let mut command = listing();
    command.env("http_proxy", format!("http://{address}"));
    let listed = home.finish(command).json(0);
    assert_eq!(server(&listed, "far.invalid")["status"], "connected");
    let mut command = listing();
    command
        .env("http_proxy", format!("http://{address}"))
        .env("no_proxy", "far.invalid");
    let listed = home.finish(command).json(3);
    let message = server(&listed, "far.invalid")["error"]["message"].to_string();
    assert!(message.contains("no address was found"), "{message}");
}

#[test]
fn a_site_that_is_no_server_is_told_in_one_line_with_what_to_do() {
    let page = || async { Html("<!doctype html><title>Hello</title>") };
    let site =
        |router: Router| serve(async move |listener| axum::serve(listener, router).await.unwrap());
    // One that has nothing but pages, and one that shows its page whatever it is asked.
    let pages = site(Router::new().route("/mcp", get(page)));
    let always = site(Router::new().route("/mcp", get(page).post(page)));
    let home = Home::new();
    for (address, message, is_advised) in [
        (
            always,
            "a web page was answered, not an MCP message; check the URL",
            true,
        ),
        (pages, "HTTP 405 Method Not Allowed", false),
    ] {
        let url = endpoint(address);
        let ran = home.run(&["list", "--url", &url]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert_eq!(ran.stdout, format!("127.0.0.1\tfailed\t{url}: {message}\n"));
        // Where the words themselves do not say it.
        let advice = format!(
            "mcpdeck: 127.0.0.1: see that the server runs and that the URL is right: {url}\n"
        );
        assert_eq!(ran.stderr, if is_advised { "" } else { &advice });
    }
}
