//! What to do about a failure, where there is something to do.

use super::run::quoted;
use crate::domain::{
    DiscoveryError, Failure, FailureKind, ServerSnapshot, Status, TransportKind, text,
};

/// Words of messages that say themselves what to do.
const PUT_INTO_ARGS: &str = "put the arguments into args";
const SET_VARIABLE: &str = "set the environment variable";
const CHECK_URL: &str = "check the URL";

/// What to do about the server, said for its connection or else for its first failed listing.
#[must_use]
pub fn hint(server: &ServerSnapshot) -> Option<String> {
    if server.status == Status::Untrusted {
        return Some(format!(
            "look at it and approve it: mcpdeck trust {}",
            quoted(&server.name)
        ));
    }
    server.errors.first().map(|error| of_error(server, error))
}

/// What to do about one failure of a listing or, without a method, of the connection.
#[must_use]
pub fn of_error(server: &ServerSnapshot, error: &DiscoveryError) -> String {
    of_failure(server, &error.failure, error.method.is_none())
}

/// What to do next, for the line of the failure itself: nothing where its words say that already,
/// or where only the author of the server can do something.
#[must_use]
pub fn next_step(
    server: &ServerSnapshot,
    failure: &Failure,
    of_connection: bool,
) -> Option<String> {
    let is_said = [PUT_INTO_ARGS, SET_VARIABLE, CHECK_URL]
        .iter()
        .any(|words| failure.message.contains(words));
    let is_off = matches!(server.status, Status::Disabled | Status::Untrusted);
    if is_said || is_off || is_for_author(failure.kind) {
        return None;
    }
    Some(of_failure(server, failure, of_connection))
}

/// The failure, and what to do next where there is something to do.
#[must_use]
pub fn with_next_step(server: &ServerSnapshot, failure: &Failure, of_connection: bool) -> String {
    match next_step(server, failure, of_connection) {
        Some(hint) => format!("{failure}; {hint}"),
        None => failure.to_string(),
    }
}

const fn is_for_author(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Rpc { .. }
        | FailureKind::Malformed
        | FailureKind::RepeatedCursor
        | FailureKind::PageLimit
        | FailureKind::ItemLimit
        | FailureKind::ByteLimit => true,
        FailureKind::Connect
        | FailureKind::Timeout
        | FailureKind::Closed
        | FailureKind::Auth
        | FailureKind::Config => false,
    }
}

fn of_failure(server: &ServerSnapshot, failure: &Failure, of_connection: bool) -> String {
    let message = &*failure.message;
    let target = &server.target;
    match failure.kind {
        FailureKind::Config => config_hint(message),
        FailureKind::Auth => log_in(server),
        FailureKind::Connect if message.contains(PUT_INTO_ARGS) => {
            "write the program alone as its command".to_owned()
        }
        FailureKind::Connect if message.contains("command not found") => {
            "install it, or give the full path of the program as its command".to_owned()
        }
        FailureKind::Connect if message.ends_with(" does not exist") => {
            "make the folder, or correct its cwd".to_owned()
        }
        FailureKind::Connect if message.contains("permission denied") => {
            "make the program executable".to_owned()
        }
        FailureKind::Connect if message.contains("protocol version") => {
            "update the server, or mcpdeck: they have no version of the protocol in common"
                .to_owned()
        }
        FailureKind::Connect => match server.transport {
            TransportKind::Stdio => format!("run it by hand to see what it says: {target}"),
            TransportKind::Http | TransportKind::Sse => {
                format!("see that the server runs and that the URL is right: {target}")
            }
        },
        FailureKind::Timeout if message.starts_with("not finished within --timeout") => {
            "give it more time with --timeout".to_owned()
        }
        FailureKind::Timeout => match (of_connection, server.transport) {
            (false, _) => "give it more time with request_timeout and traversal_timeout".to_owned(),
            (true, TransportKind::Stdio) => format!(
                "give it more time with connect_timeout, or run it by hand to see what it waits for: {target}"
            ),
            (true, TransportKind::Http | TransportKind::Sse) => format!(
                "give it more time with connect_timeout, or see that the URL is right: {target}"
            ),
        },
        FailureKind::Closed => "see its last words in the deck, tab Stderr: mcpdeck".to_owned(),
        FailureKind::Rpc { .. }
        | FailureKind::Malformed
        | FailureKind::RepeatedCursor
        | FailureKind::PageLimit
        | FailureKind::ItemLimit
        | FailureKind::ByteLimit => {
            "this is for the author of the server: what it answers cannot be used".to_owned()
        }
    }
}

/// How to log in at the server.
#[must_use]
pub fn log_in(server: &ServerSnapshot) -> String {
    match server.origin {
        Some(_) => format!(
            "log in: mcpdeck login {}; or give it a token in `headers`, or a `headers_command` that prints one",
            quoted(&server.name)
        ),
        None => format!(
            "log in: mcpdeck login --url {}; or give it a token with --header",
            text::literal_word(&server.target)
        ),
    }
}

fn config_hint(message: &str) -> String {
    let variable = message
        .strip_prefix("environment variable ")
        .and_then(|rest| rest.strip_suffix(" is not set"));
    match variable {
        Some(name) => format!("set {name}, or give it a default: ${{{name}:-text}}"),
        None if message.contains(SET_VARIABLE) => {
            "set the variable; mcpdeck does not ask for inputs".to_owned()
        }
        None => "correct the entry; mcpdeck config check shows the place".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_variable_is_named() {
        let check = |message: &str, expected: &str| assert_eq!(config_hint(message), expected);
        check(
            "environment variable X is not set",
            "set X, or give it a default: ${X:-text}",
        );
        check(
            "c.toml:1:1: unknown key `x`",
            "correct the entry; mcpdeck config check shows the place",
        );
    }
}
