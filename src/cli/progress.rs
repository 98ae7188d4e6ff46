//! Which servers a command still waits for: one line on stderr that is gone in the end.
//!
//! Only a person sees it: nothing is written where stderr is no terminal, or with `--quiet`.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use crate::app::EngineHandle;
use crate::domain::{AppState, text};

/// A command that is faster than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(300);

/// The least time between two lines.
const SPACING: Duration = Duration::from_millis(100);

/// Shows what is waited for, for ever; drop it when there is nothing to wait for any more.
pub async fn show(handle: &EngineHandle, quiet: bool) {
    if quiet || !std::io::stderr().is_terminal() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(PATIENCE).await;
    let _cleared = Cleared;
    let mut states = handle.state();
    loop {
        let waiting = waiting(&states.borrow_and_update());
        if let Some(line) = waiting {
            write(&format!("\r\u{1b}[K{}", cut(&line, columns())));
        }
        tokio::time::sleep(SPACING).await;
        if states.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Clears the line when it is dropped.
struct Cleared;

impl Drop for Cleared {
    fn drop(&mut self) {
        write("\r\u{1b}[K");
    }
}

/// If nobody reads it, there is nobody to tell.
fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

fn waiting(state: &AppState) -> Option<String> {
    let names: Vec<&str> = state
        .servers
        .iter()
        .filter(|server| !server.is_settled())
        .map(|server| server.name.as_str())
        .collect();
    if names.is_empty() {
        return None;
    }
    let (left, all) = (names.len(), state.servers.len());
    Some(format!("waiting for {left} of {all}: {}", names.join(", ")))
}

/// The text in one line of the terminal.
fn cut(line: &str, columns: usize) -> String {
    let mut shown = String::new();
    for c in text::visible(line).chars() {
        if text::width(&shown) + 4 >= columns {
            shown.push_str("...");
            break;
        }
        shown.push(c);
    }
    shown
}

#[cfg(unix)]
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    match size {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        Ok(_) | Err(_) => 80,
    }
}

#[cfg(not(unix))]
fn columns() -> usize {
    80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_the_terminal() {
        assert_eq!(cut("waiting for a", 80), "waiting for a");
        assert_eq!(cut("waiting for a", 12), "waiting ...");
        assert_eq!(cut("waiting", 0), "...");
    }
}
