//! What comes from outside: keys, the mouse, the window's size, and signals.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use tokio::sync::mpsc;

use super::action::{Action, Edit};
use super::key::Key;

/// How many events may wait; the reader waits then.
const BUFFERED: usize = 256;

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

/// What a thread reads from the terminal. It lives as long as the process, or the terminal.
#[derive(Debug)]
pub struct Keys {
    inputs: mpsc::Receiver<Input>,
    gate: Arc<Gate>,
}

impl Keys {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// What the system answers where no thread can be started.
    pub fn read() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel(BUFFERED);
        let gate = Arc::new(Gate::default());
        let of_thread = Arc::clone(&gate);
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                reader::read(&of_thread, &mut |input| sender.blocking_send(input).is_ok());
                let _ = sender.blocking_send(Input::End(Ending::HungUp));
            })?;
        Ok(Self { inputs, gate })
    }

    /// The next one; `None` where the terminal is gone.
    pub async fn next(&mut self) -> Option<Input> {
        self.inputs.recv().await
    }

    /// One that has been read already.
    pub fn waiting(&mut self) -> Option<Input> {
        self.inputs.try_recv().ok()
    }

    /// Leaves what is typed from now on to somebody else.
    pub fn pause(&self) {
        self.gate.set(false);
    }

    /// Reads again. What was read before the pause and not taken is dropped: it was typed for
    /// somebody else. Returns whether the terminal is still there.
    pub fn resume(&mut self) -> bool {
        let mut is_there = true;
        while let Some(input) = self.waiting() {
            is_there &= !matches!(input, Input::End(_));
        }
        self.gate.set(true);
        is_there
    }
}

impl Drop for Keys {
    /// What is typed when nobody takes it any more is for whoever has the terminal next.
    fn drop(&mut self) {
        self.pause();
    }
}

/// Lets the thread read, or makes it wait. A read never waits for a key, so that closing the gate
/// does not either.
#[derive(Debug, Default)]
struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn set(&self, open: bool) {
        *self
            .is_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = !open;
        self.opened.notify_all();
    }

    /// Reads when the gate is open; nobody closes it meanwhile.
    fn pass<T>(&self, read: impl FnOnce() -> T) -> T {
        let is_closed = self
            .is_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let passing = self.opened.wait_while(is_closed, |is_closed| *is_closed);
        let _passing = passing.unwrap_or_else(PoisonError::into_inner);
        read()
    }
}

#[cfg(unix)]
mod reader {
    //! Reads and decodes the terminal's bytes.

    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd as _, BorrowedFd};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    use super::{Gate, Input};
    use crate::tui::decoder::Decoder;

    /// How long the rest of a sequence may take. What stands alone for longer is an Esc.
    const SEQUENCE: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 30_000_000,
    };

    /// There is something to read now, or there is not.
    const NOW: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };

    /// Gives what is read to the taker, until it takes no more or the terminal is gone.
    pub fn read(gate: &Gate, take: &mut dyn FnMut(Input) -> bool) {
        // As crossterm does it for the modes: standard input where it is a terminal.
        let opened = if rustix::termios::isatty(rustix::stdio::stdin()) {
            None
        } else {
            File::open("/dev/tty").ok()
        };
        let terminal = match &opened {
            Some(file) => file.as_fd(),
            None => rustix::stdio::stdin(),
        };
        // The end is the same however it comes: nothing can be read any more.
        let _ = read_from(terminal, gate, take);
    }

    fn read_from(
        terminal: BorrowedFd<'_>,
        gate: &Gate,
        take: &mut dyn FnMut(Input) -> bool,
    ) -> io::Result<()> {
        let mut decoder = Decoder::default();
        let mut bytes = [0; 4_096];
        loop {
            let patience = decoder.is_waiting().then_some(&SEQUENCE);
            let inputs = if wait(terminal, patience)? {
                // Somebody else may have read it while the gate was closed.
                let read = gate.pass(|| match wait(terminal, Some(&NOW)) {
                    Ok(true) => rustix::io::read(terminal, &mut bytes),
                    Ok(false) | Err(_) => Err(Errno::AGAIN),
                });
                match read {
                    Ok(0) => return Ok(()),
                    Ok(read) => decoder.feed(&bytes[..read]),
                    Err(Errno::INTR | Errno::AGAIN) => continue,
                    Err(error) => return Err(error.into()),
                }
            } else {
                decoder.flush()
            };
            for input in inputs {
                if !take(input) {
                    return Ok(());
                }
            }
        }
    }

    /// Waits until there is something to read, or the patience is over.
    fn wait(terminal: BorrowedFd<'_>, patience: Option<&Timespec>) -> io::Result<bool> {
        loop {
            let mut polled = [PollFd::from_borrowed_fd(terminal, PollFlags::IN)];
            match poll(&mut polled, patience) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(not(unix))]
mod reader {
    //! Elsewhere crossterm reads the console's events.

    use std::time::Duration;

    use crossterm::event::{
        Event, KeyEventKind, MouseButton, MouseEventKind, poll, read as read_event,
    };

    use super::{Gate, Input};
    use crate::tui::action::Action;
    use crate::tui::key::Key;

    /// Gives what is read to the taker, until it takes no more or the terminal is gone.
    pub fn read(gate: &Gate, take: &mut dyn FnMut(Input) -> bool) {
        const LONG: Duration = Duration::from_hours(1);
        loop {
            match poll(LONG) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(_) => return,
            }
            let Ok(event) = gate.pass(read_event) else {
                return;
            };
            if let Some(input) = input(event)
                && !take(input)
            {
                return;
            }
        }
    }

    fn input(event: Event) -> Option<Input> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => None,
            Event::Key(key) => Key::try_from(key).ok().map(Input::Key),
            Event::Paste(text) => Some(Input::Paste(text)),
            Event::Resize(_, _) => Some(Input::Resized),
            Event::Mouse(mouse) => {
                let (x, y) = (mouse.column, mouse.row);
                let action = match mouse.kind {
                    MouseEventKind::Down(MouseButton::Left) => Action::Click(x, y),
                    MouseEventKind::ScrollUp => Action::Scroll(x, y, -3),
                    MouseEventKind::ScrollDown => Action::Scroll(x, y, 3),
                    _ => return None,
                };
                Some(Input::Action(action))
            }
            Event::FocusGained | Event::FocusLost => None,
        }
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
    quit: tokio::signal::unix::Signal,
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
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            resize: signal(SignalKind::window_change())?,
            resume: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next one; what ends the deck goes before the rest.
    pub async fn next(&mut self) -> Input {
        tokio::select! {
            biased;
            _ = self.hang_up.recv() => Input::End(Ending::HungUp),
            _ = self.interrupt.recv() => Input::End(Ending::Interrupted),
            // Ctrl-\ on a terminal whose keys are not ours.
            _ = self.quit.recv() => Input::End(Ending::Interrupted),
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
