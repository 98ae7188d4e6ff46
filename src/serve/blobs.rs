//! Binary contents, as files that only their owner may read.
//!
//! They lie in the state folder and are removed when a later blob is saved a week after them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How long a file is kept.
const KEPT: Duration = Duration::from_hours(7 * 24);

/// The folder of blobs.
#[derive(Debug, Clone)]
pub(super) struct Blobs {
    folder: Option<Arc<Path>>,
}

/// A blob that has a name and is not written yet.
#[derive(Debug)]
pub(super) struct Blob {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl Blobs {
    /// Blobs below the state folder, where there is one.
    pub(super) fn new(state_folder: Option<&Path>) -> Self {
        Self {
            folder: state_folder.map(|folder| folder.join("blobs").into()),
        }
    }

    /// Decodes a blob and gives it a name that nobody can guess.
    pub(super) fn name(&self, base64: &str, mime_type: Option<&str>) -> Result<Blob, String> {
        let folder = self
            .folder
            .as_ref()
            .ok_or("The resource is binary, and there is no state folder to save it in")?;
        let bytes = STANDARD
            .decode(base64)
            .map_err(|error| format!("The server's blob is no Base64: {error}"))?;
        let number = super::random::<8>().map_err(|error| unsaved(&error))?;
        let name = format!("{}.{}", super::hex(&number), extension(mime_type));
        Ok(Blob {
            path: folder.join(name),
            bytes,
        })
    }

    /// Writes the blobs.
    pub(super) async fn save(&self, blobs: Vec<Blob>) -> Result<(), String> {
        let Some(folder) = self.folder.clone().filter(|_| !blobs.is_empty()) else {
            return Ok(());
        };
        let written = tokio::task::spawn_blocking(move || write(&folder, &blobs)).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(unsaved(&error)),
            Err(error) => Err(unsaved(&io::Error::other(error))),
        }
    }
}

fn unsaved(error: &io::Error) -> String {
    format!("The resource is binary, and it could not be saved: {error}")
}

fn write(folder: &Path, blobs: &[Blob]) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        builder.mode(0o700);
        options.mode(0o600);
    }
    builder.create(folder)?;
    remove_old(folder, SystemTime::now());
    for blob in blobs {
        options.open(&blob.path)?.write_all(&blob.bytes)?;
    }
    Ok(())
}

/// Removes the files whose time is over. One that cannot be removed harms nobody.
fn remove_old(folder: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|at| now.duration_since(at).ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The usual file extension, so that other programs know what it is.
fn extension(mime_type: Option<&str>) -> &'static str {
    let mime_type = mime_type.unwrap_or_default();
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "audio/mpeg" => "mp3",
        "audio/wav" => "wav",
        "video/mp4" => "mp4",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_blob_is_saved_for_its_owner_alone() {
        let state = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(Some(state.path()));
        let blob = blobs.name("AAEC", Some("image/png; a=b")).unwrap();
        let path = blob.path.clone();
        assert!(path.starts_with(state.path()) && path.extension().unwrap() == "png");
        assert!(!path.exists());
        blobs.save(vec![blob]).await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), [0, 1, 2]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(path.parent().unwrap()), 0o700);
        }
    }

    #[test]
    fn what_cannot_be_saved_says_why() {
        let error = Blobs::new(None).name("", None).unwrap_err();
        assert!(error.contains("no state folder"), "{error}");
        let error = Blobs::new(Some(Path::new("x"))).name("?", None);
        assert!(error.unwrap_err().contains("no Base64"));
    }

    #[test]
    fn files_go_after_a_week() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        fs::write(&path, "x").unwrap();
        remove_old(folder.path(), SystemTime::now());
        assert!(path.exists());
        remove_old(folder.path(), SystemTime::now() + KEPT * 2);
        assert!(!path.exists());
    }
}
