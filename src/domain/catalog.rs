//! A server's listings, and the rules by which a refresh may change them.
//!
//! Resources and templates are one transaction; tools and prompts stand alone. A listing holds
//! items of complete traversals only.

use std::sync::Arc;
use std::time::SystemTime;

use super::diff::Changes;
use super::ids::ListMethod;
use super::item::{Item, Prompt, Resource, ResourceTemplate, Tool};

/// How a listing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// Nothing was asked yet, or nothing will be: not declared, not of interest, not connected.
    #[default]
    Absent,
    /// The last traversal failed, and there is nothing older to show.
    Failed,
    /// The items are those of the last traversal.
    Fresh,
    /// A later traversal failed; the items are those of an earlier one, good until `since`.
    Old {
        /// When the first traversal failed that came after the one shown.
        since: SystemTime,
    },
}

/// What one list method returned.
#[derive(Debug, Clone)]
pub struct Listing<T> {
    /// In the server's order, duplicates included.
    pub items: Arc<[T]>,
    /// How the items stand.
    pub freshness: Freshness,
    /// What the last refresh changed, row by row; `None` for the first catalog.
    pub changes: Option<Arc<Changes>>,
    /// What was left out of items that are shown all the same, for the Errors tab; at most
    /// [`MAX_NOTES`].
    pub notes: Arc<[Arc<str>]>,
}

/// The most notes that one listing keeps.
pub const MAX_NOTES: usize = 100;

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self {
            items: Arc::new([]),
            freshness: Freshness::Absent,
            changes: None,
            notes: Arc::new([]),
        }
    }
}

impl<T> Listing<T> {
    /// The number of items, or `None` where the server has no such listing, it failed, or it was not asked for.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        match self.freshness {
            Freshness::Absent | Freshness::Failed => None,
            Freshness::Fresh | Freshness::Old { .. } => Some(self.items.len()),
        }
    }

    /// Whether the items are those of an earlier traversal than the last.
    #[must_use]
    pub const fn is_old(&self) -> bool {
        matches!(self.freshness, Freshness::Old { .. })
    }

    /// The listing after a complete traversal.
    #[must_use]
    pub const fn renewed(
        items: Arc<[T]>,
        notes: Arc<[Arc<str>]>,
        changes: Option<Arc<Changes>>,
    ) -> Self {
        Self {
            items,
            freshness: Freshness::Fresh,
            changes,
            notes,
        }
    }

    /// The listing after a failed traversal: what there was is kept and marked old.
    #[must_use]
    pub fn after_failure(&self, at: SystemTime) -> Self {
        let freshness = match self.freshness {
            Freshness::Absent | Freshness::Failed => Freshness::Failed,
            Freshness::Fresh => Freshness::Old { since: at },
            old @ Freshness::Old { .. } => old,
        };
        Self {
            items: Arc::clone(&self.items),
            freshness,
            changes: self.changes.clone(),
            notes: Arc::clone(&self.notes),
        }
    }
}

/// All listings of one server that belong together.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Concrete resources.
    pub resources: Listing<Resource>,
    /// Resource templates.
    pub templates: Listing<ResourceTemplate>,
    /// Tools.
    pub tools: Listing<Tool>,
    /// Prompts.
    pub prompts: Listing<Prompt>,
}

impl Catalog {
    /// How the listing of the method stands.
    #[must_use]
    pub const fn freshness(&self, method: ListMethod) -> Freshness {
        match method {
            ListMethod::Resources => self.resources.freshness,
            ListMethod::ResourceTemplates => self.templates.freshness,
            ListMethod::Tools => self.tools.freshness,
            ListMethod::Prompts => self.prompts.freshness,
        }
    }

    /// The number of items the method listed, as [`Listing::count`].
    #[must_use]
    pub fn count(&self, method: ListMethod) -> Option<usize> {
        match method {
            ListMethod::Resources => self.resources.count(),
            ListMethod::ResourceTemplates => self.templates.count(),
            ListMethod::Tools => self.tools.count(),
            ListMethod::Prompts => self.prompts.count(),
        }
    }

    /// When the oldest listing that is kept after a failure went stale.
    #[must_use]
    pub fn old_since(&self) -> Option<SystemTime> {
        ListMethod::ALL
            .into_iter()
            .filter_map(|method| match self.freshness(method) {
                Freshness::Old { since } => Some(since),
                Freshness::Absent | Freshness::Failed | Freshness::Fresh => None,
            })
            .min()
    }
}

/// Gives each item kind its listing of a catalog, so that rules are written once for all four.
pub trait Slot: Item {
    /// The listing of this kind.
    fn of(catalog: &Catalog) -> &Listing<Self>;
    /// The listing of this kind, to be replaced.
    fn of_mut(catalog: &mut Catalog) -> &mut Listing<Self>;
}

macro_rules! slot {
    ($kind:ident, $field:ident) => {
        impl Slot for $kind {
            fn of(catalog: &Catalog) -> &Listing<Self> {
                &catalog.$field
            }
            fn of_mut(catalog: &mut Catalog) -> &mut Listing<Self> {
                &mut catalog.$field
            }
        }
    };
}

slot!(Resource, resources);
slot!(ResourceTemplate, templates);
slot!(Tool, tools);
slot!(Prompt, prompts);
