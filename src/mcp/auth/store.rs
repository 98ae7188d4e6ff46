//! Keeps log-ins between runs: a file that only its owner can read, by issuer and server.
//!
//! Every change is made on a fresh read, under a lock that other processes of ours respect, and
//! replaces the file as a whole.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::member;
use crate::domain::{Failure, FailureKind, Secret};

const FILE: &str = "logins.json";

/// Held while the file is changed.
const WRITE_LOCK: &str = "logins.lock";

/// How often a lock is tried that somebody else holds.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// The log-ins of a user.
#[derive(Debug, Clone)]
pub struct TokenStore {
    folder: PathBuf,
}

/// One log-in.
#[derive(Clone, Serialize, Deserialize)]
pub struct Saved {
    /// What rmcp knows of it: client, tokens, scopes, issuer.
    pub(super) credentials: StoredCredentials,
    /// The secret of a client that registered itself, if it got one; that of a client of the
    /// config stays there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// Where the authorization server sends the browser back to.
    pub(super) redirect_uri: String,
    /// What the server said to somebody who had not logged in: where the authorization server is
    /// found again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) challenge: Option<String>,
    /// Scopes that the server has asked for since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) wanted: Vec<String>,
}

/// The content of the file: issuer to server URL to log-in.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    version: u32,
    issuers: BTreeMap<String, BTreeMap<String, Saved>>,
}

impl fmt::Debug for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Saved").finish_non_exhaustive()
    }
}

impl Saved {
    /// The secret of a client that registered itself, if it got one.
    pub(super) fn client_secret(&self) -> Option<Secret> {
        self.client_secret.as_deref().map(Secret::new)
    }

    /// The token that is sent along.
    pub(super) fn access_token(&self) -> Option<Secret> {
        member(self.credentials.token_response.as_ref()?, "access_token")
    }

    /// The token that the next one is got with.
    pub(super) fn refresh_token(&self) -> Option<Secret> {
        member(self.credentials.token_response.as_ref()?, "refresh_token")
    }

    /// Whether the access token holds for `margin` after the moment, both in seconds of Unix time.
    /// One that does not say how long it holds is taken to.
    pub(super) fn holds(&self, now: u64, margin: u64) -> bool {
        let token = serde_json::to_value(&self.credentials.token_response).unwrap_or_default();
        let lifetime = token.get("expires_in").and_then(serde_json::Value::as_u64);
        match (lifetime, self.credentials.token_received_at) {
            (Some(lifetime), Some(received)) => {
                received.saturating_add(lifetime) > now + margin.min(lifetime / 2)
            }
            _ => true,
        }
    }
}

impl TokenStore {
    /// The log-ins in this folder, which is made when there is something to keep.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The log-in at the server, if there is one.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    pub async fn find(&self, url: &str) -> Result<Option<Saved>, Failure> {
        let (store, url) = (self.clone(), url.to_owned());
        blocking(move || {
            let mut content = store.read()?;
            let mut found = content.issuers.values_mut();
            Ok(found.find_map(|servers| servers.remove(&url)))
        })
        .await
    }

    /// Keeps the log-in, in place of any other at the server.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn put(&self, url: &str, saved: Saved) -> Result<(), Failure> {
        let url = url.to_owned();
        self.change(move |content| {
            forget(content, &url);
            let issuer = saved.credentials.issuer.clone().unwrap_or_default();
            let servers = content.issuers.entry(issuer).or_default();
            servers.insert(url, saved);
            true
        })
        .await
        .map(drop)
    }

    /// Forgets the log-in at the server; whether there was one.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub async fn remove(&self, url: &str) -> Result<bool, Failure> {
        let url = url.to_owned();
        self.change(move |content| forget(content, &url)).await
    }

    /// The server wants more scopes than the log-in has: the next one asks for them too.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) async fn want(&self, url: &str, scopes: Vec<String>) -> Result<(), Failure> {
        let url = url.to_owned();
        self.change(move |content| {
            let mut servers = content.issuers.values_mut();
            let Some(saved) = servers.find_map(|servers| servers.get_mut(&url)) else {
                return false;
            };
            let is_news = saved.wanted != scopes;
            saved.wanted = scopes;
            is_news
        })
        .await
        .map(drop)
    }

    /// Waits for the right to renew the token of the server, which lasts until the file is
    /// dropped: a refresh token may be good for one use only.
    pub(super) async fn lock_renewal(&self, url: &str) -> Result<File, Failure> {
        use sha2::{Digest as _, Sha256};
        let digest = Sha256::digest(url.as_bytes());
        self.lock(format!("renewal-{:02x}{:02x}.lock", digest[0], digest[1]))
            .await
    }

    async fn change(
        &self,
        change: impl FnOnce(&mut Content) -> bool + Send + 'static,
    ) -> Result<bool, Failure> {
        let lock = self.lock(WRITE_LOCK.to_owned()).await?;
        let store = self.clone();
        blocking(move || {
            let mut content = store.read()?;
            let changed = change(&mut content);
            if changed {
                store.write(&content)?;
            }
            drop(lock);
            Ok(changed)
        })
        .await
    }

    async fn lock(&self, name: String) -> Result<File, Failure> {
        let store = self.clone();
        let file = blocking(move || {
            store.make_folder()?;
            let mut options = OpenOptions::new();
            options.create(true).write(true).truncate(false);
            private(&mut options);
            options.open(store.folder.join(name))
        })
        .await?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(fs::TryLockError::WouldBlock) => sleep(LOCK_POLL).await,
                Err(fs::TryLockError::Error(error)) => return Err(unusable(&error)),
            }
        }
    }

    fn read(&self) -> io::Result<Content> {
        match fs::read(self.folder.join(FILE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| {
                // Its own words would quote the file.
                io::Error::other(format!("{FILE} is damaged; delete it and log in again"))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content {
                version: 1,
                ..Content::default()
            }),
            Err(error) => Err(error),
        }
    }

    fn write(&self, content: &Content) -> io::Result<()> {
        let draft = self.folder.join(format!("{FILE}.{}", std::process::id()));
        let written = (|| {
            let mut options = OpenOptions::new();
            options.create(true).write(true).truncate(true);
            private(&mut options);
            let mut file = options.open(&draft)?;
            file.write_all(&serde_json::to_vec_pretty(content)?)?;
            file.sync_all()?;
            fs::rename(&draft, self.folder.join(FILE))
        })();
        if written.is_err() {
            // The first failure is the one to tell.
            let _ = fs::remove_file(&draft);
        }
        written
    }

    fn make_folder(&self) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)
    }
}

fn forget(content: &mut Content, url: &str) -> bool {
    let mut found = false;
    content.issuers.retain(|_, servers| {
        found |= servers.remove(url).is_some();
        !servers.is_empty()
    });
    found
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
const fn private(_options: &mut OpenOptions) {}

async fn blocking<T: Send + 'static>(
    task: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(task).await {
        Ok(outcome) => outcome.map_err(|error| unusable(&error)),
        Err(error) => Err(unusable(&io::Error::other(error.to_string()))),
    }
}

fn unusable(error: &io::Error) -> Failure {
    Failure::new(
        FailureKind::Connect,
        format!("the log-ins in the state folder cannot be used: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn saved(issuer: &str, token: &str) -> Saved {
        let token = json!({"access_token": token, "token_type": "bearer", "expires_in": 100, "refresh_token": "r"});
        let credentials = StoredCredentials::new(
            "client".into(),
            serde_json::from_value(token).ok(),
            vec!["a".into()],
            Some(1_000),
        );
        let credentials = credentials.with_issuer(Some(issuer.into()));
        Saved {
            credentials,
            client_secret: Some("client-secret".into()),
            redirect_uri: "http://127.0.0.1/callback".into(),
            challenge: None,
            wanted: Vec::new(),
        }
    }

    #[tokio::test]
    async fn log_ins_are_kept_by_issuer_and_server_in_a_file_of_ones_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let store = TokenStore::in_folder(&path);
        let (a, b) = ("https://a.example/mcp", "https://b.example/mcp");
        assert!(store.find(a).await.unwrap().is_none());
        store
            .put(a, saved("https://as.example", "t1"))
            .await
            .unwrap();
        store
            .put(b, saved("https://as.example", "t2"))
            .await
            .unwrap();
        // The server has moved to another authorization server.
        store
            .put(a, saved("https://new.example", "t3"))
            .await
            .unwrap();
        let found = store.find(a).await.unwrap().unwrap();
        assert_eq!(found.access_token().unwrap().expose(), "t3");
        let text = fs::read_to_string(path.join(FILE)).unwrap();
        let content: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(content["issuers"]["https://new.example"][a].is_object());
        assert!(content["issuers"]["https://as.example"][a].is_null());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path.join(FILE)), 0o600);
            assert_eq!(mode(&path), 0o700);
        }
        assert!(store.remove(a).await.unwrap());
        assert!(!store.remove(a).await.unwrap());
        assert!(store.find(b).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_damaged_file_is_told_without_quoting_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "secret-token").unwrap();
        let store = TokenStore::in_folder(folder.path());
        let failure = store.find("u").await.unwrap_err();
        assert!(!failure.message.contains("secret"), "{failure}");
        assert!(failure.message.contains("is damaged"), "{failure}");
    }

    #[tokio::test]
    async fn two_writers_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..20 {
            let store = TokenStore::in_folder(folder.path());
            writers.spawn(async move {
                let url = format!("https://{number}.example");
                store.put(&url, saved("https://as.example", "t")).await
            });
        }
        while let Some(written) = writers.join_next().await {
            written.unwrap().unwrap();
        }
        let store = TokenStore::in_folder(folder.path());
        for number in 0..20 {
            let url = format!("https://{number}.example");
            assert!(store.find(&url).await.unwrap().is_some(), "{url}");
        }
    }

    #[test]
    fn a_log_in_is_not_shown_in_debug_output() {
        let shown = format!("{:?}", saved("https://as.example", "access-token"));
        assert_eq!(shown, "Saved { .. }");
    }

    #[test]
    fn a_token_holds_until_shortly_before_its_end() {
        let saved = saved("i", "t");
        let check = |now, expected| assert_eq!(saved.holds(now, 30), expected, "{now}");
        check(1_000, true);
        check(1_069, true);
        check(1_070, false);
        check(2_000, false);
    }
}
