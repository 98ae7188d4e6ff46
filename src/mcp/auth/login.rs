//! One log-in: finds the authorization server, tells the URL to open, and takes the redirect, from
//! the browser or from a person who pasted it.

use std::sync::Arc;

use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata,
    CredentialStore as _, InMemoryCredentialStore, OAuthClientConfig,
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::callback::{Callback, Page};
use super::client::OAuthClient;
use super::store::{Saved, TokenStore};
use super::{failed, member, refuse_downgrade};
use crate::domain::server::Mask;
use crate::domain::{Failure, FailureKind, HttpConfig, OAuthConfig, Secret, text};
use crate::mcp::http::challenge;

/// Where a document about this client is published, for authorization servers that read such
/// (OAuth Client ID Metadata Document). Builds that have one name it here.
const CLIENT_DOCUMENT: Option<&str> = option_env!("MCPDECK_CLIENT_METADATA_URL");

/// A log-in that waits for its redirect.
pub struct Login {
    manager: AuthorizationManager,
    credentials: InMemoryCredentialStore,
    callback: Callback,
    store: Arc<TokenStore>,
    /// The server.
    server: String,
    client: OAuthClientConfig,
    /// Whether the client is none of the config.
    is_ours: bool,
    url: String,
    state: String,
    challenge: Option<String>,
    authority: Authority,
    mask: Mask,
}

/// Who sends the browser back to us (RFC 9207).
struct Authority {
    issuer: Option<String>,
    /// Whether it has said that it names itself.
    says_who: bool,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// What a redirect led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirected {
    /// The log-in is done and kept.
    Done,
    /// The redirect belongs to another log-in; this one goes on.
    Foreign,
}

impl Login {
    /// Asks the server who lets people in, and prepares a log-in there.
    ///
    /// # Errors
    ///
    /// The server asks for no log-in, or none can be had: kind `auth`; it or the authorization
    /// server cannot be reached: kind `connect`.
    pub async fn begin(config: &HttpConfig, store: Arc<TokenStore>) -> Result<Self, Failure> {
        if config.brings_credentials() {
            return Err(Failure::new(
                FailureKind::Config,
                "the config has an Authorization header or a headers_command for it, which a log-in has no place beside; remove that first",
            ));
        }
        let oauth = config.oauth.clone().unwrap_or_default();
        let mask = Mask::new(oauth.client_secret.as_ref());
        let told = |error: &AuthError| failed("the log-in cannot begin", error, &mask);
        let challenge = challenge(config, &mask).await?;
        let http = Arc::new(OAuthClient::of(&config.url));
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(config.url.as_str(), http)
                .await
                .map_err(|error| told(&error))?;
        let found = manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await
            .map_err(|error| told(&error))?;
        if challenge.is_none() && !found.source.is_discovered() {
            return Err(Failure::new(
                FailureKind::Auth,
                "the server asks for no log-in",
            ));
        }
        let metadata = found.metadata;
        refuse_downgrade(&config.url, &metadata).map_err(|error| told(&error))?;
        let authority = Authority {
            issuer: metadata.issuer.clone(),
            says_who: says(&metadata, "authorization_response_iss_parameter_supported"),
        };
        manager.set_metadata(metadata.clone());
        let credentials = InMemoryCredentialStore::new();
        manager.set_credential_store(credentials.clone());
        let scopes = scopes(&manager, &oauth, store.find(&config.url).await?).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let callback = Callback::listen(oauth.redirect_port).await?;
        let redirect = callback.redirect_uri();
        let client = match known_client(&oauth, &metadata, &redirect) {
            Some(client) => client,
            None if metadata.registration_endpoint.is_none() => {
                return Err(Failure::new(
                    FailureKind::Auth,
                    "the authorization server takes no new clients by itself; register one there and set oauth = { client_id = \"...\" }",
                ));
            }
            None => manager
                .register_client("mcpdeck", &redirect, &scopes)
                .await
                .map_err(|error| told(&error))?,
        };
        manager
            .configure_client(client.clone())
            .map_err(|error| told(&error))?;
        if let Some(secret) = &client.client_secret {
            mask.add(&Secret::new(secret.as_str()));
        }
        let url = manager
            .get_authorization_url(&scopes)
            .await
            .map_err(|error| told(&error))?;
        let state = query(&url, "state").unwrap_or_default();
        Ok(Self {
            manager,
            credentials,
            callback,
            store,
            server: config.url.clone(),
            is_ours: oauth.client_id.is_none(),
            client,
            url,
            state,
            challenge,
            authority,
            mask,
        })
    }

    /// The URL to open in a browser. It holds nothing that lets anybody in.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where the browser is sent back to.
    #[must_use]
    pub fn redirect_uri(&self) -> &str {
        &self.client.redirect_uri
    }

    /// Waits for the redirect, whichever way it comes: from a browser here, or pasted. A pasted text
    /// that is not where this log-in ends is told, and the wait goes on.
    ///
    /// # Errors
    ///
    /// The log-in was refused or failed.
    pub async fn finish(
        mut self,
        pasted: &mut mpsc::Receiver<String>,
        mut tell_foreign: impl FnMut(),
    ) -> Result<(), Failure> {
        loop {
            tokio::select! {
                Some(redirect) = self.callback.next() => {
                    let outcome = self.take(&redirect.url).await;
                    redirect.show(match outcome {
                        Ok(Redirected::Done) => Page::Done,
                        Ok(Redirected::Foreign) => Page::Foreign,
                        Err(_) => Page::Failed,
                    });
                    if outcome != Ok(Redirected::Foreign) {
                        self.callback.close().await;
                        return outcome.map(drop);
                    }
                }
                Some(text) = pasted.recv() => match self.take(&text).await? {
                    Redirected::Done => return Ok(()),
                    Redirected::Foreign => tell_foreign(),
                },
                else => return Err(Failure::new(
                    FailureKind::Connect,
                    "the browser cannot come back any more; try again",
                )),
            }
        }
    }

    /// Takes a redirect: the URL that the browser was sent to.
    ///
    /// # Errors
    ///
    /// It is no such URL, or the log-in was refused or failed.
    pub async fn take(&self, url: &str) -> Result<Redirected, Failure> {
        let url = url.trim();
        if query(url, "state").is_none_or(|state| state != self.state) {
            return Ok(Redirected::Foreign);
        }
        if let Some(error) = query(url, "error") {
            if !self.authority.sent(query(url, "iss").as_deref()) {
                return Err(Failure::new(
                    FailureKind::Auth,
                    "the log-in was refused, but not by whom it began at; try again",
                ));
            }
            let error = text::error_text(&error);
            let why = query(url, "error_description")
                .map_or_else(String::new, |why| format!(": {}", text::error_text(&why)));
            return Err(Failure::new(
                FailureKind::Auth,
                format!("the log-in was refused ({error}{why})"),
            ));
        }
        let told = |error: &AuthError| failed("the log-in failed", error, &self.mask);
        let callback = AuthorizationCallback::from_redirect_url(url).map_err(|it| told(&it))?;
        self.mask.add(&Secret::new(callback.code.as_str()));
        let token = self
            .manager
            .exchange_code_for_token_with_issuer(
                &callback.code,
                &callback.csrf_token,
                callback.issuer.as_deref(),
            )
            .await
            .map_err(|error| told(&error))?;
        for name in ["access_token", "refresh_token"] {
            if let Some(secret) = member(&token, name) {
                self.mask.add(&secret);
            }
        }
        if !member(&token, "access_token").is_some_and(|token| can_be_sent(&token)) {
            return Err(Failure::new(
                FailureKind::Auth,
                "the authorization server gave a token that cannot be sent",
            ));
        }
        let credentials = self.credentials.load().await.map_err(|it| told(&it))?;
        let credentials = credentials.ok_or_else(|| told(&AuthError::AuthorizationRequired))?;
        let saved = Saved {
            credentials,
            client_secret: self.client.client_secret.clone().filter(|_| self.is_ours),
            redirect_uri: self.client.redirect_uri.clone(),
            challenge: self.challenge.clone(),
            wanted: Vec::new(),
        };
        self.store.put(&self.server, saved).await?;
        Ok(Redirected::Done)
    }
}

/// Whether the token may stand in a header (RFC 6750, section 2.1).
fn can_be_sent(token: &Secret) -> bool {
    let token = token.expose();
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

impl Authority {
    /// Whether a redirect that names this issuer, or none, is from it.
    fn sent(&self, issuer: Option<&str>) -> bool {
        match issuer {
            Some(issuer) => self.issuer.as_deref() == Some(issuer),
            None => !self.says_who,
        }
    }
}

/// The scopes to ask for: those of the config, or those that the server wants; with them what was
/// granted before, and what the server has asked for since.
async fn scopes(
    manager: &AuthorizationManager,
    oauth: &OAuthConfig,
    former: Option<Saved>,
) -> Vec<String> {
    let mut scopes = if oauth.scopes.is_empty() {
        manager.select_initial_scopes(&[]).await
    } else {
        oauth.scopes.clone()
    };
    let former = former.map(|former| (former.credentials.granted_scopes, former.wanted));
    let (granted, wanted) = former.unwrap_or_default();
    for scope in granted.into_iter().chain(wanted) {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// The client that needs no registration: that of the config, or our document where the
/// authorization server reads such.
fn known_client(
    oauth: &OAuthConfig,
    metadata: &AuthorizationMetadata,
    redirect: &str,
) -> Option<OAuthClientConfig> {
    let reads_documents = says(metadata, "client_id_metadata_document_supported");
    let document = CLIENT_DOCUMENT.filter(|_| reads_documents);
    let id = oauth.client_id.as_deref().or(document)?;
    let client = OAuthClientConfig::new(id, redirect);
    let secret = oauth.client_secret.as_ref();
    Some(match secret.filter(|_| oauth.client_id.is_some()) {
        Some(secret) => client.with_client_secret(secret.expose()),
        None => client,
    })
}

/// Whether the authorization server says that it has the feature.
fn says(metadata: &AuthorizationMetadata, feature: &str) -> bool {
    let value = metadata.additional_fields.get(feature);
    value.and_then(Value::as_bool).unwrap_or(false)
}

/// The value of a parameter of the URL's query.
fn query(url: &str, name: &str) -> Option<String> {
    let url: Url = url.parse().ok()?;
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}
