//! A server while it is being defined: the fields as typed, and what they come to.

use crate::config::adhoc::split_header;
use crate::config::{
    Definition, Http, Stdio, Transport, Written, is_http_url, is_variable_name, proposed_name,
    secret,
};
use crate::domain::{HttpFlavour, ServerName, TransportKind, text};
use crate::tui::field::Field;

/// The transports to choose from, in the order shown.
pub const KINDS: [TransportKind; 3] = [
    TransportKind::Stdio,
    TransportKind::Http,
    TransportKind::Sse,
];

/// What is typed so far. What belongs to another transport is kept, should that be chosen again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// How the server is reached.
    pub kind: TransportKind,
    command: Field,
    variables: Vec<Field>,
    folder: Field,
    url: Field,
    headers: Vec<Field>,
    name: Field,
}

/// One of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// How the server is reached.
    Transport,
    /// What is started.
    Command,
    /// A variable for it.
    Variable(usize),
    /// Where it runs.
    Folder,
    /// What is called.
    Url,
    /// A header sent with each request.
    Header(usize),
    /// What it is called here.
    Name,
    /// Nothing to fill in: below the fields, after a test that has failed, it is saved all the same.
    Anyway,
}

/// Why no server can be made of what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field to be mended.
    pub slot: Slot,
    /// What is wrong with it. It repeats no value: that may be a secret.
    pub why: String,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            kind: TransportKind::Stdio,
            command: Field::default(),
            variables: vec![Field::default()],
            folder: Field::default(),
            url: Field::default(),
            headers: vec![Field::default()],
            name: Field::default(),
        }
    }
}

impl Draft {
    /// The fields of the chosen transport, in the order shown.
    #[must_use]
    pub fn slots(&self) -> Vec<Slot> {
        let mut slots = vec![Slot::Transport];
        match self.kind {
            TransportKind::Stdio => {
                slots.push(Slot::Command);
                slots.extend((0..self.variables.len()).map(Slot::Variable));
                slots.push(Slot::Folder);
            }
            TransportKind::Http | TransportKind::Sse => {
                slots.push(Slot::Url);
                slots.extend((0..self.headers.len()).map(Slot::Header));
            }
        }
        slots.push(Slot::Name);
        slots
    }

    /// The field that a server cannot do without.
    #[must_use]
    pub const fn target(&self) -> Slot {
        match self.kind {
            TransportKind::Stdio => Slot::Command,
            TransportKind::Http | TransportKind::Sse => Slot::Url,
        }
    }

    /// The text of the field; none where it is a choice.
    #[must_use]
    pub fn field(&self, slot: Slot) -> Option<&Field> {
        match slot {
            Slot::Transport | Slot::Anyway => None,
            Slot::Command => Some(&self.command),
            Slot::Variable(index) => self.variables.get(index),
            Slot::Folder => Some(&self.folder),
            Slot::Url => Some(&self.url),
            Slot::Header(index) => self.headers.get(index),
            Slot::Name => Some(&self.name),
        }
    }

    /// The same, to be changed. Afterwards it is to be [`Draft::settle`]d.
    pub fn field_mut(&mut self, slot: Slot) -> Option<&mut Field> {
        match slot {
            Slot::Transport | Slot::Anyway => None,
            Slot::Command => Some(&mut self.command),
            Slot::Variable(index) => self.variables.get_mut(index),
            Slot::Folder => Some(&mut self.folder),
            Slot::Url => Some(&mut self.url),
            Slot::Header(index) => self.headers.get_mut(index),
            Slot::Name => Some(&mut self.name),
        }
    }

    /// Brings the fields in line with what was typed in one of them, and says which has the focus
    /// then: a command that is a URL means another transport, and below the last variable or
    /// header there is room for one more.
    pub fn settle(&mut self, slot: Slot) -> Slot {
        for list in [&mut self.variables, &mut self.headers] {
            if list.last().is_none_or(|last| !last.text().is_empty()) {
                list.push(Field::default());
            }
        }
        let typed = self.command.text().trim_start();
        let is_url = typed.starts_with("http://") || typed.starts_with("https://");
        if slot == Slot::Command && is_url {
            self.url = std::mem::take(&mut self.command);
            self.kind = TransportKind::Http;
            return Slot::Url;
        }
        slot
    }

    /// Chooses the transport so many places further.
    pub fn turn(&mut self, by: isize) {
        let place = KINDS.iter().position(|kind| *kind == self.kind);
        let last = KINDS.len() - 1;
        let place = place.unwrap_or(0).saturating_add_signed(by).min(last);
        self.kind = KINDS[place];
    }

    /// The name that is typed, or else proposed: none that is taken.
    #[must_use]
    pub fn name(&self, taken: impl Fn(&str) -> bool) -> Option<String> {
        let typed = self.name.text().trim();
        if typed.is_empty() {
            self.proposal(taken)
        } else {
            Some(typed.to_owned())
        }
    }

    /// The name that is proposed while none is typed.
    #[must_use]
    pub fn proposal(&self, taken: impl Fn(&str) -> bool) -> Option<String> {
        let name = proposed_name(&self.transport().ok()?)?;
        let name = ServerName::new(&name).ok()?.as_str().to_owned();
        let numbered = (2..100).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(|name| !taken(name))
    }

    /// What is wrong with the name as typed.
    #[must_use]
    pub fn wrong_name(&self, taken: impl Fn(&str) -> bool) -> Option<(&'static str, String)> {
        let typed = self.name.text().trim();
        if typed.is_empty() {
            return None;
        }
        match ServerName::new(typed) {
            Ok(name) if taken(name.as_str()) => Some((
                "taken",
                format!("there is a server {name} already; take another name"),
            )),
            Ok(_) => None,
            Err(error) => Some(("wrong", error.to_string())),
        }
    }

    /// The server.
    ///
    /// # Errors
    ///
    /// The first field that has to be mended, and why.
    pub fn finish(&self, taken: impl Fn(&str) -> bool) -> Result<(ServerName, Definition), Fault> {
        let fault = |why: String| Fault {
            slot: Slot::Name,
            why,
        };
        let transport = self.transport()?;
        if let Some((_, why)) = self.wrong_name(&taken) {
            return Err(fault(why));
        }
        let name = self.name(&taken);
        let name = name.ok_or_else(|| fault("a name is needed".to_owned()))?;
        let name = ServerName::new(&name).map_err(|error| fault(error.to_string()))?;
        Ok((name, transport.into()))
    }

    fn transport(&self) -> Result<Transport, Fault> {
        match self.kind {
            TransportKind::Stdio => self.stdio().map(Transport::Stdio),
            TransportKind::Http => self.http(HttpFlavour::Auto).map(Transport::Http),
            TransportKind::Sse => self.http(HttpFlavour::Sse).map(Transport::Http),
        }
    }

    fn stdio(&self) -> Result<Stdio, Fault> {
        let fault = |why: String| Fault {
            slot: Slot::Command,
            why,
        };
        let words = text::words(self.command.text()).map_err(|error| fault(error.to_string()))?;
        let mut env = Vec::new();
        let mut words = words.into_iter().peekable();
        // As in a shell, variables may stand before the command.
        while let Some((name, value)) = words.peek().and_then(|word| assignment(word)) {
            let pair = (name.to_owned(), Written::plain(value));
            words.next();
            add(&mut env, pair, false).map_err(fault)?;
        }
        let command = words
            .next()
            .filter(|command| !command.is_empty())
            .ok_or_else(|| fault("a command is needed: what you would type in a shell".into()))?;
        for (index, field) in self.variables.iter().enumerate() {
            if let Some(pair) = variable(field.text()).transpose() {
                let added = pair.and_then(|pair| add(&mut env, pair, false));
                added.map_err(|why| Fault {
                    slot: Slot::Variable(index),
                    why,
                })?;
            }
        }
        let folder = self.folder.text().trim();
        Ok(Stdio {
            command: Written::plain(&command),
            args: words.map(|word| Written::plain(&word)).collect(),
            env,
            cwd: (!folder.is_empty()).then(|| Written::plain(folder)),
            ..Stdio::default()
        })
    }

    fn http(&self, flavour: HttpFlavour) -> Result<Http, Fault> {
        let url = self.url.text().trim();
        if !is_http_url(url) {
            return Err(Fault {
                slot: Slot::Url,
                why: "a URL is needed: it begins with http:// or https:// and names a host".into(),
            });
        }
        let mut headers = Vec::new();
        for (index, field) in self.headers.iter().enumerate() {
            if let Some(pair) = header(field.text()).transpose() {
                let added = pair.and_then(|pair| add(&mut headers, pair, true));
                added.map_err(|why| Fault {
                    slot: Slot::Header(index),
                    why,
                })?;
            }
        }
        Ok(Http {
            url: Written::plain(url),
            headers,
            flavour,
            ..Http::default()
        })
    }

    /// The text of the field as it is shown to whoever is not typing in it: without secrets. `None`
    /// where there are none.
    #[must_use]
    pub fn masked(&self, slot: Slot) -> Option<String> {
        let text = self.field(slot)?.text();
        let masked = match slot {
            Slot::Transport | Slot::Folder | Slot::Name | Slot::Anyway => return None,
            Slot::Command => {
                let words = text::words(text).ok()?;
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let masked = secret::masked_arguments(&words);
                if masked == words {
                    return None;
                }
                text::command_line(masked.iter().map(String::as_str))
            }
            Slot::Url => secret::masked_url(text),
            Slot::Variable(_) | Slot::Header(_) => {
                let (name, value) = text.split_once(separator(slot)?)?;
                let range = secret::literal_in(name.trim(), value.trim())?;
                let masked = secret::masked(value.trim(), Some(range));
                let gap = &value[..value.len() - value.trim_start().len()];
                format!("{name}{}{gap}{masked}", separator(slot)?)
            }
        };
        (masked != text).then_some(masked)
    }

    /// Whether the field holds a secret that would stand in the file as it is typed.
    #[must_use]
    pub fn writes_secret(&self, slot: Slot) -> bool {
        matches!(slot, Slot::Variable(_) | Slot::Header(_)) && self.masked(slot).is_some()
    }
}

/// What stands between a name and its value.
const fn separator(slot: Slot) -> Option<char> {
    match slot {
        Slot::Variable(_) => Some('='),
        Slot::Header(_) => Some(':'),
        Slot::Transport | Slot::Command | Slot::Folder | Slot::Url | Slot::Name | Slot::Anyway => {
            None
        }
    }
}

/// `K=V` where K is what a shell takes for a variable.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut chars = name.chars();
    let starts = chars
        .next()
        .is_some_and(|c| c == '_' || c.is_ascii_alphabetic());
    let is_name = starts && chars.all(|c| c == '_' || c.is_ascii_alphanumeric());
    is_name.then_some((name, value))
}

/// `K=V`, or `K` alone for our own value; nothing of an empty field.
fn variable(typed: &str) -> Result<Option<(String, Written)>, String> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let (name, value) = match typed.split_once('=') {
        Some((name, value)) => (name.trim_end(), unquoted(value.trim()).to_owned()),
        None => (typed, format!("${{{typed}}}")),
    };
    if !is_variable_name(name) || name.contains(['$', '{', '"', '\'', ':']) {
        return Err("a variable is written NAME=VALUE".to_owned());
    }
    Ok(Some((name.to_owned(), Written::plain(&value))))
}

/// The value without the quotes that a shell would take away.
fn unquoted(value: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

/// `K: V`; nothing of an empty field.
fn header(typed: &str) -> Result<Option<(String, Written)>, String> {
    if typed.trim().is_empty() {
        return Ok(None);
    }
    match split_header(typed) {
        Some((name, value)) => Ok(Some((name.to_owned(), Written::plain(value)))),
        None => Err("a header is written Name: value".to_owned()),
    }
}

/// Adds the pair, unless there is one of the name.
fn add(
    pairs: &mut Vec<(String, Written)>,
    pair: (String, Written),
    ignores_case: bool,
) -> Result<(), String> {
    let is_same = |name: &str| name == pair.0 || ignores_case && name.eq_ignore_ascii_case(&pair.0);
    if pairs.iter().any(|(name, _)| is_same(name)) {
        return Err(format!("{} is there twice", pair.0));
    }
    pairs.push(pair);
    Ok(())
}
