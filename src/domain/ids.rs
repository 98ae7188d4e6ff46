//! Names and counters: how servers, connections, catalogs and listings are told apart.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// The name of a configured server: 1 to 128 characters without controls, compared byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ServerName(Arc<str>);

/// Why a text is no server name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text has no character.
    #[error("the name of a server must not be empty")]
    Empty,
    /// The text has more than [`ServerName::MAX_CHARS`] characters.
    #[error("the name of a server has at most 128 characters")]
    TooLong,
    /// The text has a control character.
    #[error("the name of a server must not contain control characters")]
    Control,
}

impl ServerName {
    /// The most characters (Unicode scalar values) a name may have.
    pub const MAX_CHARS: usize = 128;

    /// Checks the text and makes it a name.
    ///
    /// # Errors
    ///
    /// [`NameError`] where the text is empty, too long, or has a control character.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.chars().count() > Self::MAX_CHARS {
            return Err(NameError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(NameError::Control);
        }
        Ok(Self(text.into()))
    }

    /// A name for an entry whose own name is not allowed, so that its error can be listed:
    /// controls are replaced, and the text is cut.
    #[must_use]
    pub fn display_of(text: &str) -> Self {
        let shown: String = text
            .chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .take(Self::MAX_CHARS)
            .collect();
        Self(if shown.is_empty() {
            "(empty)".into()
        } else {
            shown.into()
        })
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! counter {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The one after this.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

counter! {
    /// Grows with every connection of a server; 0 before the first.
    Epoch
}
counter! {
    /// Grows with every published catalog of a server; 0 before the first.
    Generation
}
counter! {
    /// Grows with every published [`AppState`](super::AppState).
    Revision
}

/// How a server is reached, in the words of the JSON output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    /// A child process, one JSON message a line (MCP 2025-11-25, basic/transports).
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The HTTP+SSE transport of MCP 2024-11-05.
    Sse,
}

impl TransportKind {
    /// `stdio`, `http` or `sse`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// The four list methods of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListMethod {
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
    /// `tools/list`
    Tools,
    /// `prompts/list`
    Prompts,
}

impl ListMethod {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::Resources,
        Self::ResourceTemplates,
        Self::Tools,
        Self::Prompts,
    ];

    /// The method's name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The array's name in a result, and in our JSON output.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Tools => "tools",
            Self::Prompts => "prompts",
        }
    }

    /// What a person calls the items.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::ResourceTemplates => "templates",
            Self::Tools => "tools",
            Self::Prompts => "prompts",
        }
    }

    /// The group whose refresh asks for this listing.
    #[must_use]
    pub const fn group(self) -> Group {
        match self {
            Self::Resources | Self::ResourceTemplates => Group::Resources,
            Self::Tools => Group::Tools,
            Self::Prompts => Group::Prompts,
        }
    }
}

/// Listings that are refreshed together, because one `list_changed` speaks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Resources and resource templates: one transaction.
    Resources,
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
}

impl Group {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Resources, Self::Tools, Self::Prompts];

    /// `resources`, `tools` or `prompts`: also the capability's name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Tools => "tools",
            Self::Prompts => "prompts",
        }
    }

    /// The list methods of the group.
    #[must_use]
    pub const fn methods(self) -> &'static [ListMethod] {
        match self {
            Self::Resources => &[ListMethod::Resources, ListMethod::ResourceTemplates],
            Self::Tools => &[ListMethod::Tools],
            Self::Prompts => &[ListMethod::Prompts],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_1_to_128_characters_without_controls() {
        assert!(ServerName::new("a b.c").is_ok());
        assert!(ServerName::new(&"ä".repeat(128)).is_ok());
        assert_eq!(ServerName::new(""), Err(NameError::Empty));
        assert_eq!(ServerName::new(&"a".repeat(129)), Err(NameError::TooLong));
        assert_eq!(ServerName::new("a\nb"), Err(NameError::Control));
        assert_eq!(ServerName::display_of("a\nb").as_str(), "a\u{fffd}b");
    }
}
