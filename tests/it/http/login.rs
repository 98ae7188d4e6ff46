//! Log-ins against a mock authorization server, without a browser: the tests open the URL.

use std::net::SocketAddr;
use std::sync::Arc;

use mcpdeck::app::login::{Login, Redirected, TokenStore};
use mcpdeck::domain::{Failure, FailureKind, HttpConfig, OAuthConfig, Secret};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::{endpoint, header, remote};
use crate::support::authorization::{AuthorizationServer, access};
use crate::support::fake::script::HttpScript;
use crate::support::fake::{Route, Script};
use crate::support::handle::FakeHandle;
use crate::support::launch::http_server;

/// A server that lets those in who have the first token of the authorization server.
pub fn guarded(authorization: &AuthorizationServer) -> (SocketAddr, FakeHandle) {
    guarded_as(authorization, "{base}/mcp")
}

/// As [`guarded`]; what it says of itself is about this resource.
fn guarded_as(authorization: &AuthorizationServer, resource: &str) -> (SocketAddr, FakeHandle) {
    let document = json!({
        "resource": resource,
        "authorization_servers": [authorization.issuer],
        "scopes_supported": ["read"],
    });
    let mut script = Script::legacy().sample();
    script.http = HttpScript {
        bearer: Some(access(1)),
        www_authenticate: Some(
            "Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"".into(),
        ),
        routes: vec![Route {
            verb: "GET".into(),
            path: "/.well-known/oauth-protected-resource/mcp".into(),
            headers: [("content-type".into(), "application/json".into())].into(),
            body: document.to_string(),
            ..Route::default()
        }],
        ..HttpScript::default()
    };
    http_server(script)
}

fn store() -> (TempDir, Arc<TokenStore>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(TokenStore::in_folder(folder.path()));
    (folder, store)
}

/// A browser that follows no redirect: where the page sends it, or the page itself.
pub async fn get(url: &str) -> (u16, String) {
    // The tests' own client needs a provider; the program brings its own.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let response = client.get(url).send().await.unwrap();
    let status = response.status().as_u16();
    match response.headers().get("location") {
        Some(location) => (status, location.to_str().unwrap().to_owned()),
        None => (status, response.text().await.unwrap()),
    }
}

/// Opens the page to log in on; where it sends the browser back to.
pub async fn visit(url: &str) -> String {
    let (status, back) = get(url).await;
    assert_eq!(status, 303, "{back}");
    back
}

async fn begin(config: &HttpConfig, store: &Arc<TokenStore>) -> Result<Login, Failure> {
    Login::begin(config, Arc::clone(store)).await
}

#[tokio::test]
async fn a_log_in_ends_in_the_browser_with_a_page_that_says_so() {
    let authorization = AuthorizationServer::start();
    let (address, _fake) = guarded(&authorization);
    let (_folder, store) = store();
    let config = remote(endpoint(address));
    let login = begin(&config, &store).await.unwrap();
    let redirect = login.redirect_uri().to_owned();
    let back = visit(login.url()).await;
    assert!(back.starts_with(&redirect), "{back}");
    // What others send to our port is shown the door, and does not disturb.
    let foreign = format!("{redirect}?code=x&state=y");
    let browser = async {
        let (status, page) = get(&foreign).await;
        assert_eq!(status, 400);
        assert!(page.contains("belongs to another log-in"), "{page}");
        get(&back).await
    };
    let (_nobody, mut pasted) = mpsc::channel(1);
    let finish = login.finish(&mut pasted, || unreachable!("nothing is pasted"));
    let (done, (status, page)) = tokio::join!(finish, browser);
    done.unwrap();
    assert_eq!(status, 200);
    assert!(page.contains("You are logged in."), "{page}");
    assert!(store.find(&config.url).await.unwrap().is_some());
    let book = authorization.book();
    assert!(book.refused.is_empty(), "{:?}", book.refused);
    let visit = &book.visits[0];
    assert_eq!(visit["code_challenge_method"], "S256");
    assert_eq!(visit["resource"], config.url);
    assert_eq!(visit["scope"], "read");
    assert_eq!(visit["client_id"], "client-1");
    let registration = &book.registrations[0];
    assert_eq!(registration["redirect_uris"], json!([redirect]));
    assert_eq!(registration["client_name"], "mcpdeck");
    assert_eq!(book.grants[0]["resource"], config.url);
}

/// A pasted redirect, changed; what comes of it, and how often tokens were asked for.
async fn pasted(
    prepare: impl FnOnce(&AuthorizationServer),
    change: impl FnOnce(String) -> String,
) -> (Result<Redirected, Failure>, usize) {
    let authorization = AuthorizationServer::start();
    prepare(&authorization);
    let (address, _fake) = guarded(&authorization);
    let (_folder, store) = store();
    let config = remote(endpoint(address));
    let login = begin(&config, &store).await.unwrap();
    let back = change(visit(login.url()).await);
    let taken = login.take(&back).await;
    let kept = store.find(&config.url).await.unwrap().is_some();
    assert_eq!(kept, taken == Ok(Redirected::Done));
    let grants = authorization.book().grants.len();
    (taken, grants)
}

#[tokio::test]
async fn a_pasted_redirect_is_as_good_and_a_wrong_one_is_not() {
    let same: fn(String) -> String = |back| back;
    let (taken, _) = pasted(|_| {}, |back| format!("  {back}\n")).await;
    assert_eq!(taken, Ok(Redirected::Done));

    let (taken, grants) = pasted(|_| {}, |back| back.replace("state=", "state=x")).await;
    assert_eq!((taken, grants), (Ok(Redirected::Foreign), 0));
    let (taken, grants) = pasted(|_| {}, |_| "hello".to_owned()).await;
    assert_eq!((taken, grants), (Ok(Redirected::Foreign), 0));

    let wrong_iss = |server: &AuthorizationServer| {
        server.book().iss = Some("https://evil.example".to_owned());
    };
    let (taken, grants) = pasted(wrong_iss, same).await;
    let failure = taken.unwrap_err();
    assert_eq!((failure.kind, grants), (FailureKind::Auth, 0));
    assert!(failure.message.contains("issuer mismatch"), "{failure}");

    let without_iss: fn(String) -> String =
        |back| back.split("&iss=").next().unwrap_or_default().to_owned();
    let (taken, grants) = pasted(|_| {}, without_iss).await;
    assert_eq!(taken.unwrap_err().kind, FailureKind::Auth);
    assert_eq!(grants, 0);

    let refusing = |server: &AuthorizationServer| {
        server.book().refusal = Some("access_denied");
    };
    let (taken, _) = pasted(refusing, same).await;
    assert_eq!(
        &*taken.unwrap_err().message,
        "the log-in was refused (access_denied: not today)"
    );

    // Whoever else sends the browser back does not get a word on the screen.
    let forged = |server: &AuthorizationServer| {
        server.book().refusal = Some("access_denied");
        server.book().iss = Some("https://evil.example".to_owned());
    };
    for change in [same, without_iss] {
        let (taken, _) = pasted(forged, change).await;
        assert_eq!(
            &*taken.unwrap_err().message,
            "the log-in was refused, but not by whom it began at; try again"
        );
    }

    let (taken, grants) = pasted(|_| {}, |back| back.replace("c0de-1", "c0de-7")).await;
    let failure = taken.unwrap_err();
    assert_eq!((failure.kind, grants), (FailureKind::Auth, 1));
    assert!(failure.message.contains("no such code"), "{failure}");
}

/// Why no log-in begins.
async fn no_beginning(prepare: impl FnOnce(&AuthorizationServer), resource: &str, expected: &str) {
    let authorization = AuthorizationServer::start();
    prepare(&authorization);
    let (address, _fake) = guarded_as(&authorization, resource);
    let (_folder, store) = store();
    let failure = begin(&remote(endpoint(address)), &store).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Auth, "{failure}");
    assert!(failure.message.contains(expected), "{failure}");
    assert!(authorization.book().visits.is_empty());
}

#[tokio::test]
async fn an_authorization_server_that_is_not_what_it_should_be_is_refused() {
    let same = "{base}/mcp";
    let with = |name: &'static str, value: Value| {
        move |server: &AuthorizationServer| server.book().metadata.push((name, value))
    };
    let evil = with("issuer", json!("https://evil.example"));
    no_beginning(evil, same, "issuer mismatch").await;
    let plain = with("code_challenge_methods_supported", json!(["plain"]));
    no_beginning(plain, same, "PKCE").await;
    let closed = with("registration_endpoint", Value::Null);
    no_beginning(closed, same, "takes no new clients by itself").await;
    no_beginning(|_| {}, "https://evil.example/mcp", "resource mismatch").await;
    let insecure = with(
        "authorization_endpoint",
        json!("ftp://as.example/authorize"),
    );
    no_beginning(insecure, same, "is no https address").await;
    // Nobody is asked to log in where everybody is let in.
    let (address, _fake) = http_server(Script::legacy().sample());
    let (_folder, store) = store();
    let failure = begin(&remote(endpoint(address)), &store).await.unwrap_err();
    assert_eq!(&*failure.message, "the server asks for no log-in");
    // Nor where the config says what lets us in.
    let config = HttpConfig {
        headers: vec![header("authorization", "Bearer of the config")],
        ..remote(endpoint(address))
    };
    let failure = begin(&config, &store).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Config);
    assert!(
        failure.message.contains("an Authorization header"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_client_of_the_config_is_used_instead_of_a_registration() {
    let authorization = AuthorizationServer::start();
    authorization.book().secret = Some(("mine", "s3cret-of-mine"));
    let (address, _fake) = guarded(&authorization);
    let (_folder, store) = store();
    let config = HttpConfig {
        oauth: Some(OAuthConfig {
            client_id: Some("mine".into()),
            client_secret: Some(Secret::new("s3cret-of-mine")),
            scopes: vec!["read".into(), "write".into()],
            redirect_port: None,
        }),
        ..remote(endpoint(address))
    };
    let login = begin(&config, &store).await.unwrap();
    let back = visit(login.url()).await;
    assert_eq!(login.take(&back).await, Ok(Redirected::Done));
    let book = authorization.book();
    assert!(book.registrations.is_empty());
    assert_eq!(book.visits[0]["client_id"], "mine");
    assert_eq!(book.visits[0]["scope"], "read write");
}

#[tokio::test]
async fn a_document_about_the_client_is_used_where_the_authorization_server_reads_such() {
    let (_folder, store) = store();
    let authorization = AuthorizationServer::start();
    let document = "https://client.example/mcpdeck.json";
    let takes = ("client_id_metadata_document_supported", json!(true));
    authorization.book().metadata.push(takes);
    let (address, _fake) = guarded(&authorization);
    let config = HttpConfig {
        oauth: Some(OAuthConfig {
            client_id: Some(document.into()),
            ..OAuthConfig::default()
        }),
        ..remote(endpoint(address))
    };
    let login = begin(&config, &store).await.unwrap();
    let back = visit(login.url()).await;
    assert_eq!(login.take(&back).await, Ok(Redirected::Done));
    let book = authorization.book();
    assert!(book.registrations.is_empty());
    assert_eq!(book.visits[0]["client_id"], document);
}
