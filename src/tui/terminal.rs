//! The terminal: taken over at the start, and given back however the deck ends.

use std::future;
use std::io::{self, Write as _};
use std::mem;
use std::panic;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use super::pen::Pen;

/// How long the terminal may take to read the last bytes when it is given back. One that does not
/// read must not keep the end of the deck.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// What the terminal is written with while it is ours: the panic hook and the end must give it
/// back.
static TAKEN: Mutex<Option<Pen>> = Mutex::new(None);

/// The terminal while the deck has it. Dropping it gives it back.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Sheet>>,
    pen: Pen,
    /// Whether a frame was drawn of which nobody knows yet that it is written.
    is_awaited: bool,
    mouse: Mouse,
    /// What the next frame puts on the clipboard.
    copied: Option<String>,
}

/// Whether the mouse is to be listened to, and whether it is.
#[derive(Debug)]
struct Mouse {
    wanted: bool,
    on: bool,
}

/// Collects what belongs together, a frame say, so that it is written at once.
#[derive(Debug)]
struct Sheet {
    bytes: Vec<u8>,
    pen: Pen,
}

impl Sheet {
    const fn of(pen: Pen) -> Self {
        let bytes = Vec::new();
        Self { bytes, pen }
    }
}

impl io::Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Gives it to the pen, and waits for nothing.
    fn flush(&mut self) -> io::Result<()> {
        self.pen.write(&mem::take(&mut self.bytes));
        Ok(())
    }
}

impl Screen {
    /// Takes the terminal over: raw mode, alternate screen, bracketed paste, and the mouse.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it cannot be taken over; it is given back then.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        install_panic_hook();
        let pen = Pen::start(io::stdout())?;
        take(&pen, mouse).inspect_err(|_| {
            restore();
        })?;
        let backend = CrosstermBackend::new(Sheet::of(pen.clone()));
        let terminal = Terminal::new(backend).inspect_err(|_| {
            restore();
        })?;
        Ok(Self {
            terminal,
            pen,
            is_awaited: false,
            mouse: Mouse {
                wanted: mouse,
                on: mouse,
            },
            copied: None,
        })
    }

    /// Columns and rows of the window.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it does not tell.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Draws a frame, with what was asked for since the last one; nothing waits until it is written.
    /// Terminals that can show it at once.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it cannot be drawn on.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let sheet = self.terminal.backend_mut();
        if let Some(text) = self.copied.take() {
            write!(sheet, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        }
        queue!(sheet, BeginSynchronizedUpdate)?;
        self.terminal.draw(render)?;
        let sheet = self.terminal.backend_mut();
        queue!(sheet, EndSynchronizedUpdate)?;
        if self.mouse.on != self.mouse.wanted {
            self.mouse.on = self.mouse.wanted;
            listen_to_mouse(sheet, self.mouse.on)?;
        }
        self.is_awaited = true;
        io::Write::flush(sheet)
    }

    /// Whether the last frame is known to be written: another one would only wait behind it.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        !self.is_awaited
    }

    /// Returns when the last frame is written, once.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it cannot be written to.
    pub async fn written(&mut self) -> io::Result<()> {
        if !self.is_awaited {
            return future::pending().await;
        }
        let written = self.pen.done().await;
        self.is_awaited = false;
        written
    }

    /// Listens to the mouse, or stops listening, from the next frame on.
    pub const fn set_mouse(&mut self, on: bool) {
        self.mouse.wanted = on;
    }

    /// Puts a text on the clipboard, where the terminal allows it (OSC 52), with the next frame.
    pub fn copy(&mut self, text: String) {
        self.copied = Some(text);
    }

    /// Takes the terminal over again after a stop, and makes the next frame a whole one. Nothing
    /// is asked of the terminal, because the answer would get into the stream of keys.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it cannot be taken over.
    pub fn resume(&mut self) -> io::Result<()> {
        // The shell may have set the modes back, which crossterm does not notice.
        disable_raw_mode()?;
        take(&self.pen, self.mouse.wanted)?;
        self.mouse.on = self.mouse.wanted;
        let (columns, rows) = self.size()?;
        self.terminal.resize(Rect::new(0, 0, columns, rows))
    }

    /// Gives the terminal to another program, and remembers how it was given.
    #[must_use]
    pub fn lend(&self) -> Lent {
        restore();
        Lent::now()
    }

    /// Takes the terminal back from another program, whatever it has left it like.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it cannot be taken over.
    pub fn take_back(&mut self, lent: &Lent) -> io::Result<()> {
        lent.restore();
        self.resume()
    }

    /// Gives the terminal to the shell and stops; returns when the shell says to go on.
    ///
    /// # Errors
    ///
    /// What the terminal answers where it cannot be given back or taken over.
    pub fn suspend(&mut self) -> io::Result<()> {
        restore();
        stop()?;
        self.resume()
    }
}

/// How the terminal was when it was lent.
#[derive(Debug)]
pub struct Lent {
    #[cfg(unix)]
    modes: Option<rustix::termios::Termios>,
}

impl Lent {
    #[cfg(unix)]
    fn now() -> Self {
        let modes = rustix::termios::tcgetattr(rustix::stdio::stdin()).ok();
        Self { modes }
    }

    #[cfg(not(unix))]
    const fn now() -> Self {
        Self {}
    }

    /// A program that was killed may not have put the modes back.
    #[cfg(unix)]
    fn restore(&self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(modes) = &self.modes {
            // An error means that the terminal is gone.
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, modes);
        }
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "there are no modes here")]
    const fn restore(&self) {}
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Stops the whole job, as Ctrl-Z does to a program that does not read keys itself: whoever
/// started us in the foreground has to stop too, or the shell would not come back.
#[cfg(unix)]
fn stop() -> io::Result<()> {
    use rustix::process::{Signal, kill_current_process_group};
    kill_current_process_group(Signal::TSTP).map_err(io::Error::from)
}

#[cfg(not(unix))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "there is nothing to stop with here"
)]
fn stop() -> io::Result<()> {
    Ok(())
}

fn take(pen: &Pen, mouse: bool) -> io::Result<()> {
    *taken() = Some(pen.clone());
    enable_raw_mode()?;
    let mut sheet = Sheet::of(pen.clone());
    queue!(
        sheet,
        EnterAlternateScreen,
        EnableBracketedPaste,
        cursor::Hide
    )?;
    if mouse {
        listen_to_mouse(&mut sheet, true)?;
    }
    sheet.flush()
}

fn taken() -> MutexGuard<'static, Option<Pen>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks for presses and the wheel, in SGR reports. crossterm would ask for every motion too, and
/// each of them would wake us.
#[cfg(unix)]
fn listen_to_mouse(out: &mut impl io::Write, on: bool) -> io::Result<()> {
    let switch = if on { 'h' } else { 'l' };
    write!(out, "\x1b[?1000{switch}\x1b[?1006{switch}")
}

#[cfg(not(unix))]
fn listen_to_mouse(out: &mut impl io::Write, on: bool) -> io::Result<()> {
    use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
    if on {
        queue!(out, EnableMouseCapture)
    } else {
        queue!(out, DisableMouseCapture)
    }
}

/// Whether the error says that there is no terminal any more: a window that was closed, a
/// connection that was lost.
#[must_use]
pub fn is_gone(error: &io::Error) -> bool {
    // It hung up, or there is none to open any more.
    const EIO: i32 = 5;
    const ENXIO: i32 = 6;
    cfg!(unix) && matches!(error.raw_os_error(), Some(EIO | ENXIO))
        || matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::NotConnected
        )
}

/// Gives the terminal back, once. There is nobody left to tell of an error: the terminal may be
/// gone. Returns whether it reads what is written to it.
fn restore() -> bool {
    let Some(pen) = taken().take() else {
        return true;
    };
    let mut sheet = Sheet::of(pen.clone());
    let _ = listen_to_mouse(&mut sheet, false);
    let _ = execute!(
        sheet,
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let is_read = pen.wait(LAST_BYTES);
    let _ = disable_raw_mode();
    is_read
}

/// A panic of the deck gives the terminal back before it is told. One of another thread, while the
/// deck goes on, is only logged: its message would stand in the middle of the screen. So is one on
/// a terminal that does not read, where telling would never end.
fn install_panic_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let deck: ThreadId = thread::current().id();
        let former = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let is_ours = thread::current().id() == deck || taken().is_none();
            if is_ours && restore() {
                former(panic);
            } else {
                tracing::error!(location = ?panic.location(), "a thread panicked");
            }
        }));
    });
}

/// Base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit > chunk.len() {
                text.push('=');
            } else {
                let index = bits >> (18 - 6 * digit) & 63;
                text.push(char::from(DIGITS[usize::try_from(index).unwrap_or(0)]));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_in_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[cfg(unix)]
    mod on_a_terminal {
        use std::io::Read as _;
        use std::thread;

        use portable_pty::{CommandBuilder, PtySize, native_pty_system};

        use super::super::Screen;

        const PLACE: &str = "tui::terminal::tests::on_a_terminal";

        #[test]
        #[ignore = "started by another test, on a terminal of its own"]
        fn the_deck_panics() {
            let _screen = Screen::enter(true).unwrap();
            panic!("the deck itself");
        }

        #[test]
        #[ignore = "started by another test, on a terminal of its own"]
        fn the_deck_panics_unread() {
            use rustix::termios::{Action, tcflow};
            let deck = std::panic::catch_unwind(|| {
                let _screen = Screen::enter(true).unwrap();
                tcflow(rustix::stdio::stdout(), Action::OOff).unwrap();
                panic!("the deck itself");
            });
            // The harness would want to print.
            std::process::exit(if deck.is_err() { 7 } else { 0 });
        }

        #[test]
        #[ignore = "started by another test, on a terminal of its own"]
        fn the_engine_panics() {
            let screen = Screen::enter(true).unwrap();
            let engine = thread::spawn(|| panic!("somebody else"));
            assert!(engine.join().is_err());
            drop(screen);
        }

        /// One of the tests above.
        fn command(test: &str) -> CommandBuilder {
            let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
            let name = format!("{PLACE}::{test}");
            command.args(["--exact", &name, "--ignored", "--nocapture"]);
            command.env("RUST_BACKTRACE", "0");
            command
        }

        /// Runs it, and returns what is on the terminal afterwards.
        fn run(test: &str) -> String {
            let pair = native_pty_system().openpty(PtySize::default()).unwrap();
            let command = command(test);
            let mut child = pair.slave.spawn_command(command).unwrap();
            drop(pair.slave);
            let mut bytes = Vec::new();
            // The end of a terminal is an error on Linux.
            let _ = pair
                .master
                .try_clone_reader()
                .unwrap()
                .read_to_end(&mut bytes);
            child.wait().unwrap();
            let mut parser = vt100::Parser::new(24, 80, 0);
            parser.process(&bytes);
            let screen = parser.screen();
            assert!(!screen.alternate_screen() && !screen.hide_cursor());
            assert!(!screen.bracketed_paste());
            let mouse = screen.mouse_protocol_mode();
            assert_eq!(mouse, vt100::MouseProtocolMode::None);
            let modes = format!("{:?}", pair.master.get_termios().unwrap().local_flags);
            assert!(modes.contains("ICANON"), "{modes}");
            let written = String::from_utf8_lossy(&bytes);
            assert!(written.contains("\x1b[?1049h"), "{written}");
            screen.contents()
        }

        #[test]
        fn a_panic_gives_the_terminal_back_before_it_is_told() {
            let screen = run("the_deck_panics");
            assert!(screen.contains("the deck itself"), "{screen}");
        }

        #[cfg(target_os = "linux")]
        #[test]
        fn a_panic_on_a_terminal_that_does_not_read_ends_the_deck() {
            let pair = native_pty_system().openpty(PtySize::default()).unwrap();
            let command = command("the_deck_panics_unread");
            let mut child = pair.slave.spawn_command(command).unwrap();
            let mut killer = child.clone_killer();
            let (tell, ended) = std::sync::mpsc::channel();
            thread::spawn(move || tell.send(child.wait().unwrap().exit_code()));
            let code = ended.recv_timeout(std::time::Duration::from_secs(20));
            // An error means that it has ended.
            let _ = killer.kill();
            assert_eq!(code, Ok(7));
        }

        #[test]
        fn a_panic_of_another_thread_is_not_told_on_the_screen() {
            let screen = run("the_engine_panics");
            assert!(!screen.contains("somebody else"), "{screen}");
        }
    }
}
