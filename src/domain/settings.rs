//! Settings that hold for all servers, and what a face wants to know of them.

use std::time::Duration;

use super::ids::{Group, ListMethod};

/// The `[settings]` table after reading; [`Default`] gives the documented defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Bound on connecting, the handshake included.
    pub connect_timeout: Duration,
    /// Bound on one request.
    pub request_timeout: Duration,
    /// Bound on one traversal, all its pages together.
    pub traversal_timeout: Duration,
    /// How long a silent server may take to answer `server/discover` before `initialize` is sent.
    pub probe_timeout: Duration,
    /// How many local servers connect at once.
    pub local_concurrency: usize,
    /// How many remote servers connect at once.
    pub remote_concurrency: usize,
    /// How often a lost connection is tried again.
    pub reconnect_attempts: u32,
    /// How long a `list_changed` waits for more of its kind.
    pub debounce: Duration,
    /// Whether servers get our whole environment.
    pub inherit_env: bool,
    /// `auto`, `dark`, `light`, ...
    pub theme: String,
    /// Whether only ASCII is drawn.
    pub ascii: bool,
    /// Whether the mouse is listened to.
    pub mouse: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_mins(1),
            traversal_timeout: Duration::from_mins(1),
            probe_timeout: Duration::from_secs(2),
            local_concurrency: 8,
            remote_concurrency: 20,
            reconnect_attempts: 5,
            debounce: Duration::from_millis(100),
            inherit_env: false,
            theme: "auto".to_owned(),
            ascii: false,
            mouse: true,
        }
    }
}

/// The listings a face wants. No request is sent outside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    methods: [bool; 4],
}

impl Interest {
    /// All four listings.
    pub const ALL: Self = Self { methods: [true; 4] };
    /// None: a read lists nothing.
    pub const NONE: Self = Self {
        methods: [false; 4],
    };

    /// One listing.
    #[must_use]
    pub const fn only(method: ListMethod) -> Self {
        Self::NONE.with(method)
    }

    /// One listing more.
    #[must_use]
    pub const fn with(mut self, method: ListMethod) -> Self {
        self.methods[method as usize] = true;
        self
    }

    /// Whether the listing is wanted.
    #[must_use]
    pub const fn wants(self, method: ListMethod) -> bool {
        self.methods[method as usize]
    }

    /// Whether any listing of the group is wanted.
    #[must_use]
    pub fn wants_any(self, group: Group) -> bool {
        group.methods().iter().any(|method| self.wants(*method))
    }
}
