//! What is written to the terminal goes through a thread of its own. A terminal that does not
//! read, after Ctrl-S or behind a connection that hangs, keeps that thread and not the deck.

use std::io;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;

/// A clonable handle to the thread, which lives as long as the process.
#[derive(Debug, Clone, Default)]
pub struct Pen(Arc<Desk>);

#[derive(Debug, Default)]
struct Desk {
    work: Mutex<Work>,
    changed: Condvar,
    done: Notify,
}

#[derive(Debug, Default)]
struct Work {
    /// What is to be written next.
    bytes: Vec<u8>,
    is_writing: bool,
    /// Nothing can be written any more.
    has_ended: bool,
    /// Why, until somebody is told.
    failure: Option<io::Error>,
}

impl Work {
    const fn is_done(&self) -> bool {
        self.bytes.is_empty() && !self.is_writing
    }
}

impl Pen {
    /// Starts the thread, which writes to this.
    ///
    /// # Errors
    ///
    /// What the system answers where no thread can be started.
    pub fn start(paper: impl io::Write + Send + 'static) -> io::Result<Self> {
        let pen = Self::default();
        let desk = Arc::clone(&pen.0);
        thread::Builder::new()
            .name("pen".to_owned())
            .spawn(move || desk.write_all(paper))?;
        Ok(pen)
    }

    /// Has the bytes written after those before them, and does not wait for it.
    pub fn write(&self, bytes: &[u8]) {
        let mut work = self.0.lock();
        if !work.has_ended {
            work.bytes.extend_from_slice(bytes);
            self.0.changed.notify_all();
        }
    }

    /// Returns when everything is written.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it cannot be written to.
    pub async fn done(&self) -> io::Result<()> {
        loop {
            let done = self.0.done.notified();
            {
                let mut work = self.0.lock();
                if let Some(failure) = work.failure.take() {
                    return Err(failure);
                }
                if work.is_done() {
                    return Ok(());
                }
            }
            done.await;
        }
    }

    /// Waits until everything is written, or cannot be, or the patience is over. Returns whether
    /// nothing is left.
    pub fn wait(&self, patience: Duration) -> bool {
        let work = self.0.lock();
        let is_left = |work: &mut Work| !work.is_done();
        let waited = self.0.changed.wait_timeout_while(work, patience, is_left);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_done()
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what comes, until the paper takes no more.
    fn write_all(&self, mut paper: impl io::Write) {
        loop {
            let bytes = self.next();
            let written = paper.write_all(&bytes).and_then(|()| paper.flush());
            let mut work = self.lock();
            work.is_writing = false;
            if let Err(failure) = written {
                work.has_ended = true;
                work.failure = Some(failure);
                work.bytes.clear();
            }
            let has_ended = work.has_ended;
            drop(work);
            self.changed.notify_all();
            self.done.notify_waiters();
            if has_ended {
                return;
            }
        }
    }

    fn next(&self) -> Vec<u8> {
        let work = self.lock();
        let waited = self.changed.wait_while(work, |work| work.bytes.is_empty());
        let mut work = waited.unwrap_or_else(PoisonError::into_inner);
        work.is_writing = true;
        mem::take(&mut work.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A terminal that takes bytes only when it is told how to answer.
    struct Paper {
        answers: Receiver<io::Result<()>>,
        written: Sender<Vec<u8>>,
    }

    impl io::Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.answers.recv().unwrap()?;
            self.written.send(bytes.to_owned()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn pen() -> (Pen, Sender<io::Result<()>>, Receiver<Vec<u8>>) {
        let (answer, answers) = channel();
        let (written, read) = channel();
        let pen = Pen::start(Paper { answers, written }).unwrap();
        (pen, answer, read)
    }

    #[tokio::test]
    async fn what_is_written_waits_for_the_terminal_and_nobody_else_does() {
        let (pen, answer, read) = pen();
        pen.done().await.unwrap();
        pen.write(b"one");
        assert!(!pen.wait(Duration::ZERO));
        assert!(read.try_recv().is_err());
        answer.send(Ok(())).unwrap();
        pen.done().await.unwrap();
        assert_eq!(read.recv().unwrap(), b"one");
        answer.send(Ok(())).unwrap();
        pen.write(b"two");
        assert!(pen.wait(Duration::from_mins(1)));
        assert_eq!(read.try_recv().unwrap(), b"two");
    }

    #[tokio::test]
    async fn a_terminal_that_is_gone_is_told_once_and_waited_for_no_more() {
        let (pen, answer, _read) = pen();
        answer.send(Err(io::ErrorKind::BrokenPipe.into())).unwrap();
        pen.write(b"one");
        let failure = pen.done().await.unwrap_err();
        assert_eq!(failure.kind(), io::ErrorKind::BrokenPipe);
        pen.write(b"two");
        pen.done().await.unwrap();
        assert!(pen.wait(Duration::MAX));
    }
}
