//! A home with files in it, and the real program run there with nothing else of our environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::fake::Script;
use super::launch::fake_program;

/// The user's own config file.
pub const USER: &str = ".config/mcpdeck/config.toml";

/// A home, and in it `work`, the working directory.
#[derive(Debug)]
pub struct Site(tempfile::TempDir);

/// How a run ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; -1 where a signal ended it.
    pub code: i32,
    /// Its stdout.
    pub stdout: String,
    /// Its stderr, the site's folder shown as `~`.
    pub stderr: String,
}

impl Ran {
    /// Checks the exit code.
    ///
    /// # Panics
    /// When it is another one.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Stdout as JSON.
    ///
    /// # Panics
    /// When it is not exactly one value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Site {
    /// A site with these files, named from the home.
    ///
    /// # Panics
    /// When they cannot be written.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        fs::create_dir(site.path("work")).unwrap();
        for (name, text) in files {
            site.write(name, text);
        }
        site
    }

    /// A place in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, with the folders above it.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What is in the file.
    ///
    /// # Panics
    /// When it cannot be read.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The text with the site's folder as `~`.
    pub fn short(&self, text: &str) -> String {
        text.replace(&*self.0.path().to_string_lossy(), "~")
    }

    /// The program, to be run in the working directory.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpdeck"));
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.0.path())
            .current_dir(self.path("work"))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.finish(&mut self.command(args))
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn finish(&self, command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: self.short(&String::from_utf8(output.stderr).unwrap()),
        }
    }

    /// The TOML table of a fake server with this script.
    ///
    /// # Panics
    /// When the script cannot be written.
    pub fn server(&self, name: &str, script: &Script) -> String {
        let file = format!("{name}.script.json");
        self.write(&file, &serde_json::to_string(script).unwrap());
        let text = |path: &Path| Value::from(path.to_string_lossy()).to_string();
        format!(
            "[servers.{name}]\ncommand = {}\nargs = [\"--script\", {}]\n",
            text(&fake_program()),
            text(&self.path(&file)),
        )
    }
}
