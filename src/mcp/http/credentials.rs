//! What is sent along to be let in: configured headers, those that a command prints, and the token
//! of a log-in. What is short-lived is got again once when the server no longer takes it.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::headers::configured;
use crate::domain::server::Mask;
use crate::domain::{Failure, FailureKind, HttpConfig, Secret, text};
use crate::mcp::auth::{Bearer, TokenStore};
use crate::mcp::process::spawn;

/// How long a command for headers may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// How many bytes of a command's output are read.
const MAX_OUTPUT: u64 = 64 * 1024;

/// The credentials of one server.
#[derive(Debug)]
pub struct Credentials {
    fixed: HeaderMap,
    command: Vec<String>,
    /// The log-in, where nothing in the config stands in its place.
    login: Option<Bearer>,
    mask: Mask,
    current: Mutex<Option<Printed>>,
}

/// What the command printed, and how often it ran by then.
#[derive(Debug, Clone)]
struct Printed {
    headers: HeaderMap,
    run: u64,
}

/// The headers of one request, and which state of the credentials they are.
#[derive(Debug, Clone, Default)]
pub struct Presented {
    /// The headers.
    pub headers: HeaderMap,
    run: u64,
    token: Option<Secret>,
}

impl Credentials {
    /// The credentials of a server. Values that turn up later are added to the mask.
    ///
    /// # Errors
    ///
    /// A configured header that HTTP does not allow.
    pub fn new(
        config: &HttpConfig,
        logins: Option<Arc<TokenStore>>,
        mask: Mask,
    ) -> Result<Self, Failure> {
        let pairs = config
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        let login = logins.filter(|_| !config.brings_credentials());
        Ok(Self {
            fixed: configured(pairs)?,
            login: login.map(|store| Bearer::new(store, config, mask.clone())),
            command: config.headers_command.clone(),
            mask,
            current: Mutex::new(None),
        })
    }

    /// The headers to send.
    ///
    /// # Errors
    ///
    /// Why there are none to be had.
    pub async fn present(&self) -> Result<Presented, Failure> {
        let mut headers = self.fixed.clone();
        if let Some(login) = &self.login
            && let Some(token) = login.token().await?
        {
            headers.insert(AUTHORIZATION, bearer(&token)?);
            return Ok(Presented {
                headers,
                run: 0,
                token: Some(token),
            });
        }
        if self.command.is_empty() {
            return Ok(Presented {
                headers,
                ..Presented::default()
            });
        }
        let mut current = self.current.lock().await;
        let printed = match &*current {
            Some(printed) => printed.clone(),
            None => current.insert(self.run(1).await?).clone(),
        };
        drop(current);
        for (name, value) in &printed.headers {
            headers.insert(name, value.clone());
        }
        Ok(Presented {
            headers,
            run: printed.run,
            token: None,
        })
    }

    /// The server wants these scopes beside those that the log-in has.
    pub async fn lacks(&self, scopes: Vec<String>) {
        if let Some(login) = &self.login {
            login.lacks(scopes).await;
        }
    }

    /// The server did not take the headers: whether there are others now. Whoever comes second
    /// with the same ones finds them renewed.
    ///
    /// # Errors
    ///
    /// Why there are no others to be had.
    pub async fn renew(&self, refused: &Presented) -> Result<bool, Failure> {
        if let (Some(login), Some(token)) = (&self.login, &refused.token) {
            return login.renew(token).await;
        }
        if self.command.is_empty() {
            return Ok(false);
        }
        let mut current = self.current.lock().await;
        let run = current.as_ref().map_or(0, |printed| printed.run);
        if run == refused.run {
            *current = Some(self.run(run + 1).await?);
        }
        Ok(true)
    }

    async fn run(&self, run: u64) -> Result<Printed, Failure> {
        let printed = timeout(COMMAND_TIMEOUT, print(&self.command));
        let pairs = match printed.await {
            Ok(printed) => printed?,
            Err(_) => {
                return Err(Failure::new(
                    FailureKind::Auth,
                    "headers_command did not end within 30 s",
                ));
            }
        };
        for (_, value) in &pairs {
            self.mask.add(value);
        }
        let headers = configured(pairs.iter().map(|(name, value)| (name.as_str(), value)))?;
        Ok(Printed { headers, run })
    }
}

fn bearer(token: &Secret) -> Result<HeaderValue, Failure> {
    let value = HeaderValue::try_from(format!("Bearer {}", token.expose()));
    let mut value = value.map_err(|_| {
        Failure::new(
            FailureKind::Auth,
            "the token of the log-in is not allowed in HTTP; log in again",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Runs the command, which has our whole environment, and reads the headers that it prints.
async fn print(command: &[String]) -> Result<Vec<(String, Secret)>, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(Vec::new());
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let could_not = |error: std::io::Error| {
        Failure::new(
            FailureKind::Config,
            format!("headers_command could not run: {program}: {error}"),
        )
    };
    let (mut child, _ours) = spawn(&mut command).map_err(could_not)?;
    let (out, err) = tokio::join!(
        read_some(child.stdout.take()),
        read_some(child.stderr.take())
    );
    let status = child.wait().await.map_err(could_not)?;
    if !status.success() {
        // What it wrote may hold anything; its last line is for people.
        let said = String::from_utf8_lossy(&err);
        let said = said.lines().rfind(|line| !line.trim().is_empty());
        let said = said.map_or_else(String::new, |line| format!(": {}", text::error_text(line)));
        let status = match status.code() {
            Some(code) => format!("exit status {code}"),
            None => "a signal ended it".to_owned(),
        };
        return Err(Failure::new(
            FailureKind::Auth,
            format!("headers_command failed ({status}){said}"),
        ));
    }
    read_headers(&out).ok_or_else(|| {
        Failure::new(
            FailureKind::Config,
            "headers_command did not print a JSON object of header names and texts",
        )
    })
}

async fn read_some<R: AsyncRead + Unpin>(pipe: Option<R>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let mut pipe = pipe.take(MAX_OUTPUT);
        // What cannot be read is missed by what reads it.
        let _ = pipe.read_to_end(&mut bytes).await;
    }
    bytes
}

fn read_headers(output: &[u8]) -> Option<Vec<(String, Secret)>> {
    let value: Value = serde_json::from_slice(output).ok()?;
    let pairs = value.as_object()?.iter().map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(is) => is.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((name.clone(), Secret::new(text)))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_an_object_of_texts() {
        let check = |output: &str, expected: Option<Vec<(&str, &str)>>| {
            let read = read_headers(output.as_bytes());
            let read = read.as_ref().map(|pairs| {
                pairs
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.expose()))
                    .collect::<Vec<_>>()
            });
            assert_eq!(read, expected, "{output}");
        };
        check(
            "{\"A\": \"b\", \"C\": 1}\n",
            Some(vec![("A", "b"), ("C", "1")]),
        );
        check("{}", Some(vec![]));
        check("Bearer x", None);
        check("{\"A\": null}", None);
        check("[]", None);
    }
}
