//! Saves what the reader shows to a file: where is for a person to say.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::action::{Action, Edit, Effect, Notice};
use super::document::Raw;
use super::field::Field;
use super::format;
use super::layer::Reply;
use crate::domain::text;

/// The field for the name of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    /// The name as typed.
    pub field: Field,
    raw: Raw,
}

/// What is to be written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub path: PathBuf,
    /// What, exactly as it came.
    pub raw: Raw,
    /// Whether a file that is there already is replaced.
    pub replace: bool,
}

impl Save {
    /// A field that proposes the name.
    #[must_use]
    pub fn new(name: &str, raw: Raw) -> Self {
        Self {
            field: Field::new(name),
            raw,
        }
    }

    /// A key in the field.
    pub fn edit(&mut self, edit: &Edit) -> Reply {
        match edit {
            Edit::Cancel => Reply::Close(None),
            Edit::Accept if self.field.text().trim().is_empty() => Reply::Stay(None),
            Edit::Accept => Reply::Close(Some(Effect::Save(File {
                path: in_home(self.field.text().trim()),
                raw: self.raw.clone(),
                replace: false,
            }))),
            edit => {
                self.field.apply(edit);
                Reply::Stay(None)
            }
        }
    }
}

impl File {
    /// Writes it, and tells what became of it. A file that is there is asked about first.
    #[must_use]
    pub fn write(self) -> Action {
        match self.try_write() {
            Ok(()) => Action::Notice(Notice::good(format!(
                "saved {} to {}",
                format::size(self.raw.bytes().len() as u64),
                shown(&self.path)
            ))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Action::Exists(self),
            Err(error) => Action::Notice(Notice::bad(format!(
                "could not save to {}: {}",
                shown(&self.path),
                crate::config::io_reason(&error)
            ))),
        }
    }

    fn try_write(&self) -> io::Result<()> {
        if self.path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // Nobody is asked about what would not be replaced.
        if let Ok(there) = fs::metadata(&self.path) {
            refuse_other_than_file(&there)?;
        }
        let mut options = OpenOptions::new();
        options.write(true);
        if self.replace {
            // It is cut off when it is known to be a file.
            options.create(true).truncate(false);
        } else {
            options.create_new(true);
        }
        never_wait(&mut options);
        let mut file = options.open(&self.path)?;
        refuse_other_than_file(&file.metadata()?)?;
        file.set_len(0)?;
        file.write_all(self.raw.bytes())?;
        file.sync_all()
    }
}

/// A pipe would wait for a reader, and a device has its own idea of what is written to it.
fn refuse_other_than_file(there: &Metadata) -> io::Result<()> {
    if there.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("it is there and no ordinary file"))
    }
}

/// What has become a pipe or a terminal a moment ago is opened without waiting for the other end.
#[cfg(unix)]
fn never_wait(options: &mut OpenOptions) {
    use rustix::fs::OFlags;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.cast_signed());
}

#[cfg(not(unix))]
const fn never_wait(_options: &mut OpenOptions) {}

/// A path for the screen.
#[must_use]
pub fn shown(path: &Path) -> String {
    text::visible(&path.display().to_string()).into_owned()
}

/// `~/x` is in the home of the user.
fn in_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// The last segment of a URI as the name of a file: without separators, a leading dot, or anything
/// that is not seen. What has no name gets one with the ending.
#[must_use]
pub fn proposal(uri: &str, ending: &str) -> String {
    /// More bytes would be too long for most file systems.
    const LONGEST: usize = 240;
    let path = uri.split_once("://").map_or(uri, |(_, path)| path);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    let segment = path.rsplit('/').next().unwrap_or_default();
    let name: String = segment
        .chars()
        .filter(|c| !matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|'))
        .filter(|c| text::visible(c.encode_utf8(&mut [0; 4])).chars().eq([*c]))
        .scan(0, |bytes, c| {
            *bytes += c.len_utf8();
            (*bytes <= LONGEST).then_some(c)
        })
        .collect();
    let name = name.trim_start_matches(['.', '-', ' ']).trim_end();
    if name.is_empty() {
        format!("resource.{ending}")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proposal_is_a_plain_name() {
        let check = |uri: &str, expected: &str| assert_eq!(proposal(uri, "txt"), expected, "{uri}");
        check("file:///home/ada/notes.txt", "notes.txt");
        check("demo://resource/1?x=/etc/passwd", "1");
        check("file:///a/.bashrc", "bashrc");
        check("file:///a/..", "resource.txt");
        check("file:///a\\..\\b", "a..b");
        check("file:///a/b%2Fc", "b%2Fc");
        check("file:///a/x\u{202e}y\n", "xy");
        check("file:///", "resource.txt");
        check("urn:isbn:1", "urnisbn1");
        check("-rf", "rf");
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_after_a_question() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| File {
            path: folder.path().join(name),
            raw: Raw::Bytes(bytes.into()),
            replace: false,
        };
        assert!(matches!(
            file("a", b"\0\xff").write(),
            Action::Notice(Notice { bad: false, .. })
        ));
        let Action::Exists(mut again) = file("a", b"new").write() else {
            panic!("it was replaced");
        };
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"\0\xff");
        again.replace = true;
        assert!(matches!(
            again.write(),
            Action::Notice(Notice { bad: false, .. })
        ));
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"new");
        for bad in ["", "no/such/folder"] {
            assert!(matches!(
                file(bad, b"").write(),
                Action::Notice(Notice { bad: true, .. })
            ));
        }
    }

    /// The test would hang in what it forbids.
    #[cfg(unix)]
    #[test]
    fn a_pipe_and_a_device_are_refused_without_a_question() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let refused = |path: &Path| {
            for replace in [false, true] {
                let file = File {
                    path: path.to_owned(),
                    raw: Raw::Text("text".into()),
                    replace,
                };
                let Action::Notice(notice) = file.write() else {
                    panic!("{} is asked about", path.display());
                };
                let expected = format!(
                    "could not save to {}: it is there and no ordinary file",
                    path.display()
                );
                assert_eq!((&*notice.text, notice.bad), (&*expected, true));
            }
        };
        refused(&pipe);
        refused(Path::new("/dev/null"));
    }
}
