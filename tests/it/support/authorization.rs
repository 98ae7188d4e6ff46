//! An authorization server that anybody may log in at: metadata, registration, the page to log in
//! on (which sends the browser straight back), and tokens. It checks what clients have to send, and
//! keeps what they sent.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

type Fields = BTreeMap<String, String>;

/// How the server is, and what it saw.
#[derive(Debug, Default)]
pub struct Book {
    /// Members of the metadata that replace the usual ones; null removes one.
    pub metadata: Vec<(&'static str, Value)>,
    /// What the redirect says instead of the issuer.
    pub iss: Option<String>,
    /// What the redirect says instead of a code.
    pub refusal: Option<&'static str>,
    /// Tokens end after so many seconds; never where absent.
    pub lifetime: Option<u64>,
    /// Whether refresh tokens are refused.
    pub revoked: bool,
    /// Whether it gives no tokens at the moment.
    pub down: bool,
    /// The id and secret of the client that was registered by hand.
    pub secret: Option<(&'static str, &'static str)>,
    /// Every registration.
    pub registrations: Vec<Value>,
    /// The query of every visit to the page.
    pub visits: Vec<Fields>,
    /// Every request for tokens.
    pub grants: Vec<Fields>,
    /// Why requests for tokens were refused.
    pub refused: Vec<String>,
    tokens: usize,
}

/// A running server.
#[derive(Debug, Clone)]
pub struct AuthorizationServer {
    /// Its issuer.
    pub issuer: String,
    book: Arc<Mutex<Book>>,
}

impl AuthorizationServer {
    /// Starts one on a thread of its own.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start() -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = std::net::TcpListener::bind(address).expect("a port is free");
        listener.set_nonblocking(true).expect("the option is known");
        let address = listener.local_addr().expect("a listener has an address");
        let server = Self {
            issuer: format!("http://{address}"),
            book: Arc::default(),
        };
        let router = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(server.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime starts");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("it is async");
                let _ = axum::serve(listener, router).await;
            });
        });
        server
    }

    /// What it is like, and what it saw.
    pub fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The nth access token: no other text has a word of it.
pub fn access(number: usize) -> String {
    format!("acc3ss-tok3n-{number}-zq")
}

/// The nth refresh token.
pub fn refresh(number: usize) -> String {
    format!("r3fresh-tok3n-{number}-zq")
}

async fn metadata(State(server): State<AuthorizationServer>) -> Response {
    let issuer = &server.issuer;
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    for (name, value) in &server.book().metadata {
        if let Some(members) = document.as_object_mut() {
            members.remove(*name);
            if !value.is_null() {
                members.insert((*name).to_owned(), value.clone());
            }
        }
    }
    json_response(StatusCode::OK, &document)
}

async fn register(State(server): State<AuthorizationServer>, body: String) -> Response {
    let mut asked: Value = serde_json::from_str(&body).unwrap_or_default();
    let mut book = server.book();
    book.registrations.push(asked.clone());
    asked["client_id"] = json!(format!("client-{}", book.registrations.len()));
    json_response(StatusCode::CREATED, &asked)
}

async fn authorize(
    State(server): State<AuthorizationServer>,
    Query(query): Query<Fields>,
) -> Response {
    let mut book = server.book();
    book.visits.push(query.clone());
    let field = |name: &str| query.get(name).cloned().unwrap_or_default();
    let outcome = match book.refusal {
        Some(error) => format!("error={error}&error_description=not%20today"),
        None => format!("code=c0de-{}-zq", book.visits.len()),
    };
    let iss = book.iss.clone().unwrap_or_else(|| server.issuer.clone());
    let target = format!(
        "{}?{outcome}&state={}&iss={}",
        field("redirect_uri"),
        field("state"),
        iss.replace(':', "%3A").replace('/', "%2F")
    );
    Redirect::to(&target).into_response()
}

async fn token(
    State(server): State<AuthorizationServer>,
    headers: HeaderMap,
    Form(form): Form<Fields>,
) -> Response {
    let mut book = server.book();
    if book.down {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    book.grants.push(form.clone());
    if let Err(why) = check_grant(&book, &headers, &form) {
        book.refused.push(why.clone());
        let body = json!({"error": "invalid_grant", "error_description": why});
        return json_response(StatusCode::BAD_REQUEST, &body);
    }
    book.tokens += 1;
    let mut answer = json!({
        "access_token": access(book.tokens),
        "refresh_token": refresh(book.tokens),
        "token_type": "Bearer",
    });
    if let Some(lifetime) = book.lifetime {
        answer["expires_in"] = json!(lifetime);
    }
    json_response(StatusCode::OK, &answer)
}

/// What OAuth 2.1 and MCP ask of a client.
fn check_grant(book: &Book, headers: &HeaderMap, form: &Fields) -> Result<(), String> {
    let field = |name: &str| form.get(name).map_or("", String::as_str);
    if field("resource").is_empty() {
        return Err("no resource".to_owned());
    }
    if let Some((id, secret)) = book.secret {
        let expected = format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")));
        let given = headers.get(header::AUTHORIZATION);
        if given.is_none_or(|given| given != expected.as_str()) {
            return Err("the client did not prove who it is".to_owned());
        }
    }
    match field("grant_type") {
        "authorization_code" => {
            let number = field("code")
                .trim_start_matches("c0de-")
                .trim_end_matches("-zq");
            let number: usize = number.parse().map_err(|_| "no such code".to_owned())?;
            let visit = book.visits.get(number - 1).ok_or("no such code")?;
            let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")));
            if visit.get("code_challenge") != Some(&challenge) {
                return Err("the verifier does not fit".to_owned());
            }
            if visit.get("redirect_uri").map(String::as_str) != Some(field("redirect_uri")) {
                return Err("another redirect".to_owned());
            }
            Ok(())
        }
        "refresh_token" if !book.revoked && field("refresh_token") == refresh(book.tokens) => {
            Ok(())
        }
        "refresh_token" => Err("the refresh token is not good".to_owned()),
        other => Err(format!("what is {other}?")),
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (status, headers, body.to_string()).into_response()
}
