//! What comes from outside: keys, the mouse, the window's size, and signals.
//!
//! Keys are read by a thread of their own. crossterm's reader spins for ever on a terminal that is
//! gone, so the thread first waits until there is something to read, and ends when the terminal
//! hangs up.

use std::io;
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind, MouseButton, MouseEventKind};
use tokio::sync::mpsc;

use super::action::{Action, Edit};
use super::key::Key;

/// How many events may wait; the reader waits then.
const BUFFERED: usize = 256;

/// Lines that a turn of the wheel scrolls.
const WHEEL_LINES: i32 = 3;

/// One thing that came from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted.
    Paste(String),
    /// Something that needs no key map.
    Action(Action),
    /// The window may have another size.
    Resized,
    /// We go on after a stop.
    Continued,
    /// The deck has to end.
    End(Ending),
}

/// How the deck ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The person quit.
    Quit,
    /// The terminal hung up (exit code 129).
    HungUp,
    /// Somebody sent an interrupt (exit code 130).
    Interrupted,
    /// Somebody sent a request to terminate (exit code 143).
    Terminated,
}

/// Starts the thread that reads keys. It lives as long as the process, or the terminal.
///
/// # Errors
///
/// What the system answers where no thread can be started.
pub fn keys() -> io::Result<mpsc::Receiver<Input>> {
    let (sender, receiver) = mpsc::channel(BUFFERED);
    thread::Builder::new()
        .name("keys".to_owned())
        .spawn(move || {
            while let Some(inputs) = read() {
                for input in inputs {
                    if sender.blocking_send(input).is_err() {
                        return;
                    }
                }
            }
            let _ = sender.blocking_send(Input::End(Ending::HungUp));
        })?;
    Ok(receiver)
}

/// Waits for events and reads all there are; `None` when the terminal is gone.
fn read() -> Option<Vec<Input>> {
    if !wait() {
        return None;
    }
    let mut inputs = Vec::new();
    while event::poll(Duration::ZERO).ok()? {
        inputs.extend(input(event::read().ok()?));
    }
    Some(inputs)
}

/// Waits until the terminal has something to read; false when it hung up.
#[cfg(unix)]
fn wait() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    // crossterm reads from standard input where that is a terminal, else from the controlling one.
    let opened = if rustix::termios::isatty(rustix::stdio::stdin()) {
        None
    } else {
        match std::fs::File::open("/dev/tty") {
            Ok(file) => Some(file),
            Err(_) => return false,
        }
    };
    let mut terminal = [match &opened {
        Some(file) => PollFd::new(file, PollFlags::IN),
        None => PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN),
    }];
    loop {
        match poll(&mut terminal, None) {
            Ok(_) => {
                let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                return !terminal[0].revents().intersects(gone);
            }
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(not(unix))]
fn wait() -> bool {
    event::poll(Duration::MAX).is_ok()
}

fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(key) => Key::try_from(key).ok().map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(_, _) => Some(Input::Resized),
        Event::Mouse(mouse) => {
            let (x, y) = (mouse.column, mouse.row);
            match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => Some(Input::Action(Action::Click(x, y))),
                MouseEventKind::ScrollUp => Some(Input::Action(Action::Scroll(x, y, -WHEEL_LINES))),
                MouseEventKind::ScrollDown => {
                    Some(Input::Action(Action::Scroll(x, y, WHEEL_LINES)))
                }
                _ => None,
            }
        }
        Event::FocusGained | Event::FocusLost => None,
    }
}

/// A pasted text as it goes into a field: one line.
#[must_use]
pub fn pasted(text: &str) -> Action {
    Action::Edit(Edit::Insert(text.replace(['\r', '\n', '\t'], " ")))
}

/// The signals that the deck has to answer.
#[cfg(unix)]
#[derive(Debug)]
pub struct Signals {
    hang_up: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    resize: tokio::signal::unix::Signal,
    resume: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Listens to them from now on.
    ///
    /// # Errors
    ///
    /// What the system answers where a signal cannot be listened to.
    pub fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            resize: signal(SignalKind::window_change())?,
            resume: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next one.
    pub async fn next(&mut self) -> Input {
        tokio::select! {
            _ = self.hang_up.recv() => Input::End(Ending::HungUp),
            _ = self.interrupt.recv() => Input::End(Ending::Interrupted),
            _ = self.terminate.recv() => Input::End(Ending::Terminated),
            _ = self.resize.recv() => Input::Resized,
            _ = self.resume.recv() => Input::Continued,
        }
    }
}

/// Elsewhere Ctrl-C is the only one, and arrives as a key.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Nothing to listen to.
    ///
    /// # Errors
    ///
    /// None.
    pub const fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Never comes.
    pub async fn next(&mut self) -> Input {
        std::future::pending().await
    }
}
