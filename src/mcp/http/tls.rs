//! TLS and the HTTP client under it. Nothing of this is touched before the first remote server is
//! called, so a run with local servers alone pays nothing.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls_platform_verifier::Verifier;

use super::error::HttpFailure;
use crate::domain::{Failure, FailureKind};

/// A connection without traffic is probed after this long, three times, so that a stream whose
/// other end has vanished does not stay open for ever.
const KEEPALIVE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_PROBES: u32 = 3;

/// The roots of the platform are read once in a run: on some systems that takes 20 ms.
static TRUSTED: OnceLock<Result<ClientConfig, Failure>> = OnceLock::new();

/// A client with connections of its own, for one URL. It takes proxies from the environment and
/// follows no redirects.
///
/// # Errors
///
/// Why TLS cannot be set up.
pub async fn client(url: &str) -> Result<reqwest::Client, Failure> {
    let tls = if is_https(url) || has_https_proxy() {
        let trusted = tokio::task::spawn_blocking(|| TRUSTED.get_or_init(trusting_the_platform));
        trusted.await.map_err(|error| broken(&error))?.clone()?
    } else {
        config(|builder| {
            Ok(builder
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_no_client_auth())
        })?
    };
    reqwest::Client::builder()
        .user_agent(concat!("mcpdeck/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .tls_backend_preconfigured(tls)
        .tcp_keepalive(KEEPALIVE)
        .tcp_keepalive_interval(KEEPALIVE_INTERVAL)
        .tcp_keepalive_retries(KEEPALIVE_PROBES)
        .build()
        .map_err(|error| HttpFailure::of(&error).failure)
}

fn is_https(url: &str) -> bool {
    url.get(..6)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
}

/// Whether the environment names a proxy that is itself reached over TLS.
fn has_https_proxy() -> bool {
    std::env::vars_os().any(|(name, value)| {
        let name = name.to_string_lossy().to_ascii_lowercase();
        name.ends_with("_proxy") && is_https(&value.to_string_lossy())
    })
}

fn trusting_the_platform() -> Result<ClientConfig, Failure> {
    config(|builder| {
        let verifier = Verifier::new(provider()).map_err(|error| broken(&error))?;
        Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth())
    })
}

type Builder = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

fn config(
    finish: impl FnOnce(Builder) -> Result<ClientConfig, Failure>,
) -> Result<ClientConfig, Failure> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| broken(&error))?;
    finish(builder)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn broken(error: &dyn std::error::Error) -> Failure {
    Failure::new(
        FailureKind::Connect,
        format!("TLS cannot be set up: {error}"),
    )
}
