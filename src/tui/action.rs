//! What may happen to the deck, and what it may ask for in return: both closed.

use std::sync::Arc;

use super::ask::{Answer, Ask, Ticket};
use super::find::Hit;
use super::lines::StderrLine;
use super::logs::Log;
use super::save::File;
use crate::app::login::Progress;
use crate::app::{Place, Told};
use crate::domain::{Failure, Origin, ServerName};
use crate::mcp::Message;

/// What a key can be bound to. The names in the config are the kebab-case of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the key map says what each of them does")]
pub enum Command {
    Up,
    Down,
    First,
    Last,
    PageUp,
    PageDown,
    HalfPageUp,
    HalfPageDown,
    NextPane,
    PreviousPane,
    LeftPane,
    RightPane,
    Resources,
    Templates,
    Tools,
    Prompts,
    Errors,
    Events,
    Stderr,
    Trace,
    PreviousTab,
    NextTab,
    Open,
    Back,
    Filter,
    Find,
    Toggle,
    Remove,
    Trust,
    LogIn,
    Edit,
    Add,
    Import,
    Undo,
    Sort,
    Refresh,
    RefreshAll,
    Reconnect,
    Copy,
    Save,
    Follow,
    OnlyErrors,
    Fold,
    NextMatch,
    PreviousMatch,
    Mouse,
    Help,
    Suspend,
    Quit,
}

/// A key that works only where one chooses what to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// All of the selected line's file, or nothing of it.
    Source,
    /// Whether variables take the place of secrets.
    Variables,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A key was pressed that quits whatever is open.
    Leave,
    /// A bound key was pressed.
    Command(Command),
    /// A key was pressed in the filter field.
    Edit(Edit),
    /// A question was answered.
    Answer(bool),
    /// A key was pressed that works only where one chooses what to import.
    Choice(Choice),
    /// A key without a meaning here was pressed.
    Nothing,
    /// The left mouse button went down at a column and row.
    Click(u16, u16),
    /// The wheel was turned at a column and row; positive is down.
    Scroll(u16, u16, i32),
    /// The window has another size: columns and rows.
    Resize(u16, u16),
    /// The deck begins, and nothing is configured.
    Welcome,
    /// There is a newer snapshot.
    State,
    /// Where a server that is to be removed is written.
    Place(ServerName, Place),
    /// What a server that is to be approved would start or call, line by line.
    Described(ServerName, Vec<Arc<str>>),
    /// An operation ended with something to tell.
    Notice(Notice),
    /// Lines of a server's stderr arrived.
    Lines(ServerName, Vec<StderrLine>),
    /// Messages to and from a server arrived.
    Messages(ServerName, Vec<Message>),
    /// What a layer asked for has come.
    Answered(Ticket, Answer),
    /// A file that was to be saved is there already.
    Exists(File),
    /// A server or item that was looked for is to be selected.
    Jump(Hit),
    /// A log-in has come so far.
    LogIn(Progress),
    /// A log-in has ended.
    LoggedIn(Result<(), Failure>),
}

/// A key in a text field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what the keys do")]
pub enum Edit {
    Insert(String),
    Left,
    Right,
    Home,
    End,
    Backspace,
    Delete,
    DeleteWord,
    DeleteToStart,
    Accept,
    Cancel,
    Up,
    Down,
    NextField,
    PreviousField,
}

/// A line for the person, shown in the footer until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What it says.
    pub text: Arc<str>,
    /// Whether something went wrong.
    pub bad: bool,
}

impl Notice {
    /// Something that went as asked.
    #[must_use]
    pub fn good(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            bad: false,
        }
    }

    /// Something that did not.
    #[must_use]
    pub fn bad(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            bad: true,
        }
    }
}

impl From<Told> for Notice {
    fn from(told: Told) -> Self {
        Self {
            text: told.text,
            bad: told.bad,
        }
    }
}

/// What the loop has to do for the deck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Leave.
    Quit,
    /// Give the terminal back to the shell until it says to go on.
    Suspend,
    /// Listen to the mouse, or stop listening.
    Mouse(bool),
    /// Put the text on the clipboard.
    Copy(String),
    /// Ask the server for its listings again.
    Refresh(ServerName),
    /// Refresh every connected server, reconnect every failed or reconnecting one.
    RefreshAll,
    /// Close the connection and open a new one.
    Reconnect(ServerName),
    /// Switch the server on or off.
    SetEnabled(ServerName, bool),
    /// Find out where the server is written, for the question.
    AskRemoval(ServerName),
    /// Remove the server.
    Remove(ServerName),
    /// Find out what the server would start or call, for the question.
    AskTrust(ServerName),
    /// Approve the server as it was shown.
    Trust(ServerName),
    /// Open the place in the person's editor, and wait until it is closed.
    Edit(Arc<Origin>),
    /// Take the last removal back.
    Undo,
    /// Wait for what the server says after the number.
    Follow(Ticket, Log, ServerName, u64),
    /// Find the answer for the layer that awaits it.
    Ask(Ticket, Ask),
    /// Write the file.
    Save(File),
    /// Select the server or item.
    Jump(Hit),
    /// Begin a log-in at the server.
    LogIn(ServerName),
    /// Hand the log-in an address that was pasted.
    Pasted(String),
    /// Call the log-in off.
    EndLogIn,
}
