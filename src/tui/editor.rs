//! The person's own editor, which gets the terminal for a while.
//!
//! It runs in our process group, as any job of the shell: Ctrl-C and Ctrl-Z in it are its own
//! business. Servers go on meanwhile.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::process::{Child, Command};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::event::{Ending, Input, Signals};
use crate::app::spawn;
use crate::domain::{Origin, text};

/// What is started where nobody has said otherwise.
const USUAL: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// How long the editor may take to end when the deck has to.
const PATIENCE: Duration = Duration::from_secs(2);

/// The variables that name it, the first that is set wins.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// A command line that opens a file, at a line where the editor is known to take one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editor {
    words: Vec<String>,
}

/// How an editor is told the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `+LINE FILE`
    Plus,
    /// `FILE:LINE`
    Colon,
    /// `--goto FILE:LINE`, and `--wait`: it would return at once.
    Goto,
    /// `FILE:LINE`, and `--wait`.
    Wait,
    /// Only `FILE`.
    File,
}

/// Why there is nothing to open a file with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("${variable} is no command line: {why}")]
pub struct BadVariable {
    variable: &'static str,
    why: text::LineError,
}

impl Editor {
    /// The editor that the environment names.
    ///
    /// # Errors
    ///
    /// The variable cannot be split into words.
    pub fn of_environment() -> Result<Self, BadVariable> {
        Self::named(|name| std::env::var(name).ok())
    }

    fn named(variable: impl Fn(&str) -> Option<String>) -> Result<Self, BadVariable> {
        for name in VARIABLES {
            let value = variable(name).unwrap_or_default();
            let words = text::words(&value).map_err(|why| BadVariable {
                variable: name,
                why,
            })?;
            if !words.is_empty() {
                return Ok(Self { words });
            }
        }
        let words = vec![USUAL.to_owned()];
        Ok(Self { words })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        self.words.first().map_or(USUAL, String::as_str)
    }

    fn form(&self) -> Form {
        let stem = Path::new(self.name()).file_stem().unwrap_or_default();
        match stem.to_str().unwrap_or_default() {
            "vi" | "vim" | "nvim" | "vim.basic" | "vim.tiny" | "gvim" | "nano" | "pico"
            | "emacs" | "emacsclient" | "micro" | "kak" | "joe" | "mcedit" => Form::Plus,
            "hx" | "helix" => Form::Colon,
            "code" | "code-insiders" | "codium" | "cursor" | "windsurf" => Form::Goto,
            "subl" | "zed" => Form::Wait,
            _ => Form::File,
        }
    }

    /// The arguments that open the place.
    fn arguments(&self, place: &Origin) -> Vec<OsString> {
        let file = place.file.as_os_str();
        let at_line = || {
            let mut argument = file.to_owned();
            argument.push(format!(":{}", place.line));
            argument
        };
        let mut arguments: Vec<OsString> = self.words.iter().skip(1).map(Into::into).collect();
        let waits = arguments
            .iter()
            .any(|word| word == "--wait" || word == "-w");
        let form = self.form();
        if matches!(form, Form::Goto | Form::Wait) && !waits {
            arguments.push("--wait".into());
        }
        match form {
            Form::Plus => arguments.extend([format!("+{}", place.line).into(), file.to_owned()]),
            Form::Colon | Form::Wait => arguments.push(at_line()),
            Form::Goto => arguments.extend(["--goto".into(), at_line()]),
            Form::File => arguments.push(file.to_owned()),
        }
        arguments
    }

    /// Runs it on our terminal until it ends, or the deck has to.
    ///
    /// # Errors
    ///
    /// What the system says where it cannot be started.
    pub async fn run(&self, place: &Origin, signals: &mut Signals) -> io::Result<Ended> {
        let mut command = Command::new(self.name());
        command.args(self.arguments(place)).kill_on_drop(true);
        // It is no server of ours, should we be one's.
        command.env_remove("MCPDECK_PARENT");
        let (mut child, _ours) = spawn(&mut command)?;
        let closed = loop {
            tokio::select! {
                status = child.wait() => break status?,
                input = signals.next() => if let Some(ending) = of_deck(&input) {
                    end(&mut child).await;
                    return Ok(Ended::DeckHasTo(ending));
                },
            }
        };
        // A key that has ended the editor was told to us before, and means us no more.
        yield_now().await;
        while let Some(input) = signals.next().now_or_never() {
            if let Some(ending) = of_deck(&input) {
                return Ok(Ended::DeckHasTo(ending));
            }
        }
        Ok(Ended::Closed(closed))
    }
}

/// How the deck has to end, if it has. An interrupt is a key in the editor, which is told as well.
const fn of_deck(input: &Input) -> Option<Ending> {
    match input {
        Input::End(Ending::Interrupted) => None,
        Input::End(ending) => Some(*ending),
        _ => None,
    }
}

/// Why an editor runs no more.
#[derive(Debug)]
pub enum Ended {
    /// It was closed.
    Closed(ExitStatus),
    /// The deck has to end, and so had it.
    DeckHasTo(Ending),
}

/// Ends the editor, gently first: it may have something to keep.
async fn end(child: &mut Child) {
    terminate(child);
    if timeout(PATIENCE, child.wait()).await.is_err() {
        // An error means that it has just ended.
        let _ = child.kill().await;
    }
}

#[cfg(unix)]
fn terminate(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(process) = id.and_then(Pid::from_raw) {
        // An error means that it has just ended.
        let _ = kill_process(process, Signal::TERM);
    }
}

#[cfg(not(unix))]
fn terminate(_child: &Child) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(visual: Option<&str>, editor: Option<&str>) -> Result<Editor, BadVariable> {
        Editor::named(|name| {
            let value = if name == "VISUAL" { visual } else { editor };
            value.map(str::to_owned)
        })
    }

    #[test]
    fn the_first_variable_that_says_something_counts() {
        let check = |visual, editor, expected: &[&str]| {
            assert_eq!(named(visual, editor).unwrap().words, expected);
        };
        check(Some("nvim -f"), Some("nano"), &["nvim", "-f"]);
        check(Some(" "), Some("'my editor' x"), &["my editor", "x"]);
        check(None, None, &[USUAL]);
        let error = named(None, Some("vi '")).unwrap_err().to_string();
        assert_eq!(
            error,
            "$EDITOR is no command line: the quote ' is not closed"
        );
    }

    #[test]
    fn each_editor_is_told_the_line_in_its_own_way() {
        let place = Origin {
            file: "/home/ada/my config.toml".into(),
            line: 4,
            editable: true,
        };
        let check = |editor: &str, expected: &[&str]| {
            let editor = named(Some(editor), None).unwrap();
            assert_eq!(editor.arguments(&place), expected, "{editor:?}");
        };
        let file = "/home/ada/my config.toml";
        let at_line = "/home/ada/my config.toml:4";
        for editor in ["vi", "/usr/bin/nvim", "nano", "emacs", "micro"] {
            check(editor, &["+4", file]);
        }
        check("vim -u NONE", &["-u", "NONE", "+4", file]);
        check("hx", &[at_line]);
        check("code", &["--wait", "--goto", at_line]);
        check("code --wait", &["--wait", "--goto", at_line]);
        check("zed", &["--wait", at_line]);
        check("./edit.sh", &[file]);
    }
}
