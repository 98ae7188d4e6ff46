//! The token of a log-in while a server is connected: sent along, renewed shortly before its end
//! and once when the server no longer takes it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, CredentialStore, OAuthClientConfig, StoredCredentials,
};
use tokio::sync::Mutex;

use super::client::OAuthClient;
use super::store::{Saved, TokenStore};
use super::{failed, refuse_downgrade};
use crate::domain::server::Mask;
use crate::domain::{Failure, FailureKind, HttpConfig, OAuthConfig, Secret};

/// A token is renewed when it holds for less than this, in seconds.
const MARGIN: u64 = 30;

/// The token for one server.
#[derive(Debug)]
pub struct Bearer {
    renewer: Arc<Renewer>,
    current: Mutex<Option<Saved>>,
}

impl Bearer {
    /// The token of the log-in at the server; the mask hides whatever there is of it.
    #[must_use]
    pub fn new(store: Arc<TokenStore>, config: &HttpConfig, mask: Mask) -> Self {
        let renewer = Renewer {
            store,
            url: config.url.clone(),
            oauth: config.oauth.clone().unwrap_or_default(),
            mask,
        };
        Self {
            renewer: Arc::new(renewer),
            current: Mutex::new(None),
        }
    }

    /// The token; `None` where nobody has logged in.
    ///
    /// # Errors
    ///
    /// It has ended, and cannot be renewed.
    pub async fn token(&self) -> Result<Option<Secret>, Failure> {
        let mut current = self.current.lock().await;
        if current.as_ref().is_none_or(|saved| !saved.holds(now(), 0)) {
            // Servers that want no log-in must not suffer from a file that cannot be read; the
            // others refuse us, and the log-in says what is wrong with it.
            *current = self.renewer.load().await.unwrap_or_else(|failure| {
                tracing::warn!(%failure, "log-ins could not be read");
                None
            });
        }
        if let Some(saved) = &*current
            && !saved.holds(now(), MARGIN)
        {
            match self.renew_saved(saved).await {
                Ok(fresh) => *current = Some(fresh),
                Err(failure) if !saved.holds(now(), 0) => return Err(failure),
                // There is some time left to try again.
                Err(_) => tracing::debug!("a token could not be renewed before its end"),
            }
        }
        Ok(current.as_ref().and_then(Saved::access_token))
    }

    /// The server did not take the token: whether there is another one now.
    ///
    /// # Errors
    ///
    /// The authorization server cannot be asked.
    pub async fn renew(&self, refused: &Secret) -> Result<bool, Failure> {
        let mut current = self.current.lock().await;
        // Somebody else, or another process, may have been faster.
        *current = self.renewer.load().await?;
        let Some(saved) = &*current else {
            return Ok(false);
        };
        if saved.access_token().as_ref() != Some(refused) {
            return Ok(true);
        }
        match self.renew_saved(saved).await {
            Ok(saved) => {
                *current = Some(saved);
                Ok(true)
            }
            Err(failure) if failure.kind == FailureKind::Auth => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The server wants these scopes beside those that the log-in has.
    pub async fn lacks(&self, scopes: Vec<String>) {
        let Renewer { store, url, .. } = &*self.renewer;
        if store.want(url, scopes).await.is_err() {
            tracing::warn!("the scopes that a server wants could not be kept");
        }
    }

    /// Gets another token in a task of its own: whoever waits may give up, but a refresh token that
    /// was used must not be lost.
    async fn renew_saved(&self, saved: &Saved) -> Result<Saved, Failure> {
        if saved.refresh_token().is_none() {
            return Err(expired());
        }
        let (renewer, saved) = (Arc::clone(&self.renewer), saved.clone());
        let renewal = tokio::spawn(async move { renewer.renew(&saved).await });
        renewal.await.unwrap_or_else(|_| {
            Err(Failure::new(
                FailureKind::Connect,
                "the log-in could not be renewed",
            ))
        })
    }
}

/// Gets new tokens for one server.
#[derive(Debug)]
struct Renewer {
    store: Arc<TokenStore>,
    url: String,
    oauth: OAuthConfig,
    mask: Mask,
}

impl Renewer {
    async fn load(&self) -> Result<Option<Saved>, Failure> {
        let saved = self.store.find(&self.url).await?;
        if let Some(saved) = &saved {
            for secret in [
                saved.access_token(),
                saved.refresh_token(),
                saved.client_secret(),
            ]
            .into_iter()
            .flatten()
            {
                self.mask.add(&secret);
            }
        }
        Ok(saved)
    }

    /// Gets another token with the refresh token.
    async fn renew(&self, saved: &Saved) -> Result<Saved, Failure> {
        let lock = self.store.lock_renewal(&self.url).await?;
        // While we waited, another process may have done it.
        if let Some(fresh) = self.load().await?
            && fresh.access_token() != saved.access_token()
            && fresh.holds(now(), MARGIN)
        {
            return Ok(fresh);
        }
        let refreshed = self.refresh(saved).await;
        drop(lock);
        refreshed.map_err(|error| match error {
            AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) => expired(),
            error => failed("the log-in could not be renewed", &error, &self.mask),
        })?;
        let fresh = self.load().await?;
        fresh.ok_or_else(|| Failure::new(FailureKind::Auth, "the log-in was removed; log in again"))
    }

    async fn refresh(&self, saved: &Saved) -> Result<(), AuthError> {
        let client = Arc::new(OAuthClient::of(self.url.as_str()));
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(self.url.as_str(), client).await?;
        manager.set_credential_store(Shelf {
            store: Arc::clone(&self.store),
            url: self.url.clone(),
            like: saved.clone(),
        });
        let found = manager
            .resolve_metadata_from_challenge(saved.challenge.as_deref())
            .await?;
        // Tokens of one authorization server are never shown to another.
        if found.metadata.issuer != saved.credentials.issuer {
            return Err(AuthError::AuthorizationRequired);
        }
        refuse_downgrade(&self.url, &found.metadata)?;
        manager.set_metadata(found.metadata);
        manager.configure_client(self.client(saved))?;
        manager.refresh_token().await.map(drop)
    }

    /// The client that logged in. One of the config has its secret there.
    fn client(&self, saved: &Saved) -> OAuthClientConfig {
        let id = &saved.credentials.client_id;
        let client = OAuthClientConfig::new(id, saved.redirect_uri.as_str());
        let secret = if self.oauth.client_id.as_ref() == Some(id) {
            self.oauth.client_secret.clone()
        } else {
            saved.client_secret()
        };
        match secret {
            Some(secret) => client.with_client_secret(secret.expose()),
            None => client,
        }
    }
}

fn expired() -> Failure {
    Failure::new(FailureKind::Auth, "the log-in has expired; log in again")
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The place of one log-in in the store, as rmcp wants it.
struct Shelf {
    store: Arc<TokenStore>,
    url: String,
    /// What stays the same when its tokens change.
    like: Saved,
}

#[async_trait]
impl CredentialStore for Shelf {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let saved = self.store.find(&self.url).await.map_err(unusable)?;
        Ok(saved.map(|saved| saved.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let saved = Saved {
            credentials,
            ..self.like.clone()
        };
        self.store.put(&self.url, saved).await.map_err(unusable)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.store
            .remove(&self.url)
            .await
            .map(drop)
            .map_err(unusable)
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is made for map_err, which passes by value"
)]
fn unusable(failure: Failure) -> AuthError {
    AuthError::CredentialStoreError(failure.message.to_string())
}
