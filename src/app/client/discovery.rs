//! Asks for the listings of one group, and judges what a refresh may change.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::domain::catalog::Slot;
use crate::domain::diff::{Counts, Names, diff};
use crate::domain::server::Mask;
use crate::domain::{
    Catalog, DiscoveryError, Failure, Freshness, Group, Item, ListMethod, Listing, Prompt,
    Resource, ResourceTemplate, Tool,
};
use crate::mcp::Requester;
use crate::mcp::decode::Decode;
use crate::mcp::traverse::{Traversed, earliest, traverse};

/// How one traversal ended; `None` where the listing was not asked for.
pub type Outcome<T> = Option<Result<Traversed<T>, Failure>>;

/// How the traversals of one group ended.
#[derive(Debug)]
pub enum GroupOutcome {
    /// Resources and templates.
    Resources(Outcome<Resource>, Outcome<ResourceTemplate>),
    /// Tools.
    Tools(Outcome<Tool>),
    /// Prompts.
    Prompts(Outcome<Prompt>),
}

impl GroupOutcome {
    /// Until when the server thinks the listings good, where it says so.
    pub fn good_until(&self) -> Option<tokio::time::Instant> {
        fn of<T>(outcome: Option<&Result<Traversed<T>, Failure>>) -> Option<tokio::time::Instant> {
            outcome?.as_ref().ok()?.good_until
        }
        match self {
            Self::Resources(resources, templates) => {
                earliest([of(resources.as_ref()), of(templates.as_ref())])
            }
            Self::Tools(tools) => of(tools.as_ref()),
            Self::Prompts(prompts) => of(prompts.as_ref()),
        }
    }
}

/// Asks for the listings of the group, those of one group at the same time.
pub async fn discover(
    requester: &Requester,
    group: Group,
    methods: &[ListMethod],
    within: Duration,
    mask: &Mask,
) -> GroupOutcome {
    match group {
        Group::Resources => {
            let (resources, templates) = tokio::join!(
                ask(requester, methods, within, mask),
                ask(requester, methods, within, mask)
            );
            GroupOutcome::Resources(resources, templates)
        }
        Group::Tools => GroupOutcome::Tools(ask(requester, methods, within, mask).await),
        Group::Prompts => GroupOutcome::Prompts(ask(requester, methods, within, mask).await),
    }
}

async fn ask<T: Decode>(
    requester: &Requester,
    methods: &[ListMethod],
    within: Duration,
    mask: &Mask,
) -> Outcome<T> {
    if methods.contains(&T::METHOD) {
        let traversed = traverse(requester, within).await;
        Some(traversed.map_err(|failure| mask.failure(failure)))
    } else {
        None
    }
}

/// What a refresh changed.
#[derive(Debug, Default)]
pub struct Applied {
    /// For each listing that is new now what changed.
    pub counts: Vec<(ListMethod, Counts)>,
    /// The first names of that.
    pub names: Vec<(ListMethod, Names)>,
    /// Each listing that failed.
    pub failures: Vec<(ListMethod, Failure)>,
}

/// The catalog of one connection while it is built, with its errors.
#[derive(Debug, Default)]
pub struct Shelf {
    /// What is shown.
    pub catalog: Catalog,
    /// What went wrong, by method.
    pub errors: Vec<DiscoveryError>,
    /// The last catalog of the former connection, to tell what changed since. Never shown.
    former: Catalog,
    /// Whether resources and templates have succeeded together on this connection. From then on
    /// they are one transaction.
    together: bool,
    /// Whether a listing of this connection was given a generation.
    published: bool,
}

/// When a refresh ended, on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// For marks that fade.
    pub mono: Instant,
    /// For people.
    pub wall: SystemTime,
}

impl Shelf {
    /// An empty shelf for the next connection; what it showed is remembered for comparison.
    pub fn reconnected(&mut self) {
        let shown = std::mem::take(&mut self.catalog);
        for_each_kind(&shown, &mut self.former);
        self.errors.clear();
        self.together = false;
        self.published = false;
    }

    /// Whether a listing of this connection was given a generation.
    pub const fn is_published(&self) -> bool {
        self.published
    }

    /// A listing of this connection was given a generation.
    pub const fn published(&mut self) {
        self.published = true;
    }

    /// Takes the outcome of a refresh, or keeps what there was.
    pub fn apply(&mut self, outcome: GroupOutcome, now: Moment) -> Applied {
        let mut applied = Applied::default();
        match outcome {
            GroupOutcome::Resources(resources, templates) => {
                self.apply_resources(resources, templates, now, &mut applied);
            }
            GroupOutcome::Tools(tools) => self.apply_one(tools, now, &mut applied),
            GroupOutcome::Prompts(prompts) => self.apply_one(prompts, now, &mut applied),
        }
        applied
    }

    fn apply_resources(
        &mut self,
        resources: Outcome<Resource>,
        templates: Outcome<ResourceTemplate>,
        now: Moment,
        applied: &mut Applied,
    ) {
        let failed = failed(resources.as_ref()) || failed(templates.as_ref());
        if failed && self.together {
            // The former catalog stays whole: what succeeded is not newer than what failed.
            self.keep(resources, now, applied);
            self.keep(templates, now, applied);
            return;
        }
        self.together |= !failed;
        self.apply_one(resources, now, applied);
        self.apply_one(templates, now, applied);
    }

    fn apply_one<T: Slot>(&mut self, outcome: Outcome<T>, now: Moment, applied: &mut Applied) {
        match outcome {
            None => {}
            Some(Ok(traversed)) => {
                let shown = T::of(&self.catalog);
                // What a former connection showed is good for one comparison.
                let former = std::mem::take(T::of_mut(&mut self.former));
                let before = [shown, &former]
                    .into_iter()
                    .find(|listing| listing.count().is_some());
                let changes = before.map(|before| diff(&before.items, &traversed.items, now.mono));
                let (counts, names) = if let Some(changes) = &changes {
                    (changes.counts, changes.names.clone())
                } else {
                    let counts = Counts {
                        added: traversed.items.len(),
                        total: traversed.items.len(),
                        ..Counts::default()
                    };
                    (counts, Names::added(&traversed.items))
                };
                *T::of_mut(&mut self.catalog) =
                    Listing::renewed(traversed.items, traversed.notes, changes.map(Arc::new));
                self.errors.retain(|error| error.method != Some(T::METHOD));
                applied.counts.push((T::METHOD, counts));
                applied.names.push((T::METHOD, names));
            }
            Some(Err(failure)) => self.fail::<T>(failure, now, applied),
        }
    }

    /// Leaves the listing as it is and marks it old. Its error stands only if it was this that
    /// failed.
    fn keep<T: Slot>(&mut self, outcome: Outcome<T>, now: Moment, applied: &mut Applied) {
        match outcome {
            None => {}
            Some(Ok(_)) => {
                let kept = T::of(&self.catalog).after_failure(now.wall);
                *T::of_mut(&mut self.catalog) = kept;
                self.errors.retain(|error| error.method != Some(T::METHOD));
            }
            Some(Err(failure)) => self.fail::<T>(failure, now, applied),
        }
    }

    fn fail<T: Slot>(&mut self, failure: Failure, now: Moment, applied: &mut Applied) {
        let listing = T::of(&self.catalog).after_failure(now.wall);
        let kept = matches!(listing.freshness, Freshness::Old { .. });
        *T::of_mut(&mut self.catalog) = listing;
        applied.failures.push((T::METHOD, failure.clone()));
        let method = Some(T::METHOD);
        let before = self.errors.iter().find(|error| error.method == method);
        let count = before.map_or(0, |error| error.count).saturating_add(1);
        self.errors.retain(|error| error.method != method);
        self.errors.push(DiscoveryError {
            method,
            failure,
            at: now.wall,
            count,
            kept,
        });
        self.errors.sort_by_key(|error| error.method);
    }
}

fn failed<T>(outcome: Option<&Result<Traversed<T>, Failure>>) -> bool {
    outcome.is_some_and(Result::is_err)
}

/// Remembers each listing that was shown.
fn for_each_kind(shown: &Catalog, former: &mut Catalog) {
    fn remember<T: Slot + Item>(shown: &Catalog, former: &mut Catalog) {
        if T::of(shown).count().is_some() {
            *T::of_mut(former) = T::of(shown).clone();
        }
    }
    remember::<Resource>(shown, former);
    remember::<ResourceTemplate>(shown, former);
    remember::<Tool>(shown, former);
    remember::<Prompt>(shown, former);
}
