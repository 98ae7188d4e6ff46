//! The search itself: which servers and items have what is typed, the best first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::domain::catalog::Slot;
use crate::domain::{
    ListMethod, Prompt, Resource, ResourceTemplate, ServerName, ServerSnapshot, Tool,
};
use crate::tui::aside::Wanted;

/// More hits than anyone looks through.
const MOST_HITS: usize = 500;

/// So much of an item is looked at, in bytes: a hostile server's endless URI costs no more.
const LONGEST: usize = 1_024;

/// After so many items a search looks whether anyone still wants it.
const STRETCH: usize = 256;

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub struct Query {
    needle: String,
    servers: Arc<[Arc<ServerSnapshot>]>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The best hits, the best first.
    pub hits: Vec<Hit>,
    /// How many servers and items have the text.
    pub total: usize,
    /// How many there are.
    pub of: usize,
}

/// A server or an item that has the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The server, or the one whose item it is.
    pub server: ServerName,
    /// What it is.
    pub what: What,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The server itself.
    Server,
    /// One of its items.
    Item {
        /// The kind of the item.
        method: ListMethod,
        /// Its URI, template or name.
        key: Box<str>,
        /// How many with the same key stand before it.
        nth: usize,
        /// Its title or name.
        label: Box<str>,
    },
}

impl Query {
    /// A query for all words of the needle.
    #[must_use]
    pub fn new(needle: &str, servers: &Arc<[Arc<ServerSnapshot>]>) -> Self {
        Self {
            needle: needle.to_owned(),
            servers: Arc::clone(servers),
        }
    }

    /// What is looked for.
    #[must_use]
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// Whether the servers have the same items as those of the query.
    #[must_use]
    pub fn is_about(&self, servers: &Arc<[Arc<ServerSnapshot>]>) -> bool {
        let same = |(a, b): (&Arc<ServerSnapshot>, &Arc<ServerSnapshot>)| {
            Arc::ptr_eq(a, b)
                || a.name == b.name
                    && (a.epoch, a.generation) == (b.epoch, b.generation)
                    && a.status.session().is_some() == b.status.session().is_some()
        };
        Arc::ptr_eq(&self.servers, servers)
            || self.servers.len() == servers.len() && self.servers.iter().zip(&**servers).all(same)
    }

    /// Looks for it. This takes time where there are many items, and stops halfway where it is not
    /// wanted any more.
    #[must_use]
    pub fn run(&self, wanted: &Wanted) -> Found {
        let pattern = Pattern::new(
            &self.needle,
            CaseMatching::Smart,
            Normalization::Smart,
            AtomKind::Fuzzy,
        );
        let mut sieve = Sieve {
            query: self,
            wanted,
            pattern,
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            text: String::new(),
            letters: Vec::new(),
            best: BinaryHeap::new(),
            total: 0,
            of: 0,
        };
        for (index, server) in self.servers.iter().enumerate() {
            sieve.look(index, None, [server.name.as_str(), "", ""]);
        }
        // Without a word the servers are the overview; all items are none.
        if !self.needle.trim().is_empty() {
            for index in 0..self.servers.len() {
                sieve.listing::<Resource>(index);
                sieve.listing::<ResourceTemplate>(index);
                sieve.listing::<Tool>(index);
                sieve.listing::<Prompt>(index);
            }
        }
        sieve.finish()
    }
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.needle == other.needle && Arc::ptr_eq(&self.servers, &other.servers)
    }
}

impl Eq for Query {}

/// A match: the best one first, and of equal ones the first in config and server order.
type Scored = Reverse<(u32, Reverse<usize>, usize, Option<(ListMethod, usize)>)>;

/// Lets the best matches through.
struct Sieve<'a> {
    query: &'a Query,
    wanted: &'a Wanted,
    pattern: Pattern,
    matcher: Matcher,
    text: String,
    letters: Vec<char>,
    best: BinaryHeap<Scored>,
    total: usize,
    of: usize,
}

impl Sieve<'_> {
    fn listing<T: Slot>(&mut self, server: usize) {
        let query = self.query;
        let server_name = query.servers[server].name.as_str();
        let items = &T::of(&query.servers[server].catalog).items;
        for (stretch, part) in items.chunks(STRETCH).enumerate() {
            if !self.wanted.holds() {
                return;
            }
            for (index, item) in part.iter().enumerate() {
                let (label, key) = (item.label(), item.key());
                let key = if key == label { "" } else { key };
                let place = (T::METHOD, stretch * STRETCH + index);
                self.look(server, Some(place), [label, key, server_name]);
            }
        }
    }

    /// Looks at what is known of a server or an item.
    fn look(&mut self, server: usize, item: Option<(ListMethod, usize)>, texts: [&str; 3]) {
        let number = self.of;
        self.of += 1;
        self.text.clear();
        for text in texts {
            let end = text.floor_char_boundary(LONGEST);
            self.text.push_str(&text[..end]);
            self.text.push(' ');
        }
        let haystack = Utf32Str::new(&self.text, &mut self.letters);
        let Some(score) = self.pattern.score(haystack, &mut self.matcher) else {
            return;
        };
        self.total += 1;
        self.best
            .push(Reverse((score, Reverse(number), server, item)));
        if self.best.len() > MOST_HITS {
            self.best.pop();
        }
    }

    fn finish(self) -> Found {
        let servers = &self.query.servers;
        let best = self.best.into_sorted_vec();
        let hits = best.into_iter().map(|Reverse((_, _, server, item))| {
            let server = &servers[server];
            let what = match item {
                None => What::Server,
                Some((ListMethod::Resources, index)) => what::<Resource>(server, index),
                Some((ListMethod::ResourceTemplates, index)) => {
                    what::<ResourceTemplate>(server, index)
                }
                Some((ListMethod::Tools, index)) => what::<Tool>(server, index),
                Some((ListMethod::Prompts, index)) => what::<Prompt>(server, index),
            };
            Hit {
                server: server.name.clone(),
                what,
            }
        });
        Found {
            hits: hits.collect(),
            total: self.total,
            of: self.of,
        }
    }
}

fn what<T: Slot>(server: &ServerSnapshot, index: usize) -> What {
    let items = &T::of(&server.catalog).items;
    let item = &items[index];
    let same = items[..index].iter().filter(|it| it.key() == item.key());
    What::Item {
        method: T::METHOD,
        key: item.key().into(),
        nth: same.count(),
        label: item.label().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::fixture as make;

    fn servers() -> Arc<[Arc<ServerSnapshot>]> {
        make::full().servers
    }

    fn shown(found: &Found) -> Vec<String> {
        let shown = found.hits.iter().map(|hit| match &hit.what {
            What::Server => hit.server.to_string(),
            What::Item { key, nth, .. } => format!("{}: {key} {nth}", hit.server),
        });
        shown.collect()
    }

    #[test]
    fn without_a_word_the_servers_are_shown_in_their_order() {
        let servers = servers();
        let names: Vec<String> = servers.iter().map(|it| it.name.to_string()).collect();
        let found = Query::new(" ", &servers).run(&Wanted::default());
        assert_eq!(shown(&found), names);
    }

    #[test]
    fn a_server_comes_before_its_items_and_all_words_count() {
        let servers = servers();
        let found = Query::new("everyth", &servers).run(&Wanted::default());
        assert_eq!(shown(&found)[0], "everything");
        let found = Query::new("everything static 3", &servers).run(&Wanted::default());
        let first = &shown(&found)[0];
        assert!(first.contains("static/3"), "{first}");
        assert!(found.total < found.of);
        assert_eq!(
            Query::new("qqqxxx", &servers).run(&Wanted::default()).hits,
            []
        );
    }

    #[test]
    fn equal_keys_are_told_apart() {
        let mut server = make::everything();
        let twice = make::resource("demo://twice", "Twice");
        let catalog = crate::domain::Catalog {
            resources: make::listed(vec![twice.clone(), twice]),
            ..crate::domain::Catalog::default()
        };
        server.catalog = Arc::new(catalog);
        let servers: Arc<[Arc<ServerSnapshot>]> = Arc::new([Arc::new(server)]);
        let found = Query::new("twice", &servers).run(&Wanted::default());
        assert_eq!(
            shown(&found),
            ["everything: demo://twice 0", "everything: demo://twice 1"]
        );
    }

    #[test]
    fn a_search_that_nobody_wants_ends() {
        let query = Query::new("demo", &servers());
        let wanted = Wanted::default();
        wanted.leave();
        assert!(
            query
                .run(&wanted)
                .hits
                .iter()
                .all(|hit| hit.what == What::Server)
        );
    }
}
