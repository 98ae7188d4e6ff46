//! Reads the keys of one table, and collects what is wrong with them.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::duration::{self, parse_duration};
use super::entry::Written;
use super::problem::{ConfigProblem, ProblemKind};
use super::source::{Source, Spot};
use super::suggest::nearest;
use super::tree::{Node, Pair, Value};

/// A table that is being read.
pub(super) struct Fields<'a> {
    source: &'a Arc<Source>,
    pairs: &'a [Pair],
    /// Numbers and booleans count as texts.
    lenient: bool,
    problems: Vec<(usize, ConfigProblem)>,
}

impl<'a> Fields<'a> {
    /// The pairs of the source.
    pub(super) const fn new(source: &'a Arc<Source>, pairs: &'a [Pair]) -> Self {
        Self {
            source,
            pairs,
            lenient: false,
            problems: Vec::new(),
        }
    }

    /// Where values of the table `env` may be numbers and booleans too.
    pub(super) const fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// The pair of the key. `null` counts as absent.
    pub(super) fn pair(&self, key: &str) -> Option<&'a Pair> {
        self.pairs
            .iter()
            .find(|pair| pair.key == key && pair.value.value != Value::Null)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.pair(key).is_some()
    }

    pub(super) fn report(&mut self, range: &Range<usize>, kind: ProblemKind) {
        let problem = Spot::new(self.source, range).problem(kind);
        self.problems.push((range.start, problem));
    }

    /// Takes over the problems of an inner table.
    pub(super) fn take_problems(&mut self, inner: Fields<'_>) {
        self.problems.extend(inner.problems);
    }

    /// The first problem in the order of the text.
    pub(super) fn first_problem(self) -> Option<ConfigProblem> {
        let first = self.problems.into_iter().min_by_key(|(at, _)| *at);
        first.map(|(_, problem)| problem)
    }

    /// Reports every key that is not known.
    pub(super) fn only(&mut self, known: &[&str]) {
        let pairs = self.pairs;
        for pair in pairs.iter().filter(|pair| !known.contains(&&*pair.key)) {
            self.unknown(pair, known);
        }
    }

    pub(super) fn unknown(&mut self, pair: &Pair, known: &[&str]) {
        let kind = ProblemKind::UnknownKey {
            key: pair.key.clone(),
            nearest: nearest(&pair.key, known.iter().copied()).map(str::to_owned),
        };
        self.report(&pair.key_span, kind);
    }

    pub(super) fn wrong(&mut self, key: &str, node: &Node, expected: &'static str) {
        let kind = ProblemKind::WrongType {
            key: key.to_owned(),
            expected,
            found: node.type_name(),
        };
        self.report(&node.span, kind);
    }

    pub(super) fn bad(&mut self, key: &str, node: &Node, expected: impl Into<String>) {
        let kind = ProblemKind::BadValue {
            key: key.to_owned(),
            expected: expected.into(),
            nearest: None,
        };
        self.report(&node.span, kind);
    }

    fn written(&self, text: &str, node: &Node) -> Written {
        Written::new(text, Spot::new(self.source, &node.span))
    }

    /// A string.
    pub(super) fn text(&mut self, key: &str) -> Option<Written> {
        let node = &self.pair(key)?.value;
        if let Value::Text(text) = &node.value {
            return Some(self.written(text, node));
        }
        self.wrong(key, node, "a string");
        None
    }

    /// One of the words.
    pub(super) fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let node = &self.pair(key)?.value;
        let Value::Text(text) = &node.value else {
            self.wrong(key, node, "a string");
            return None;
        };
        let known = words.iter().find(|(word, _)| word == text);
        if known.is_none() {
            let names = words.iter().map(|(word, _)| *word);
            let quoted: Vec<String> = names.clone().map(|word| format!("\"{word}\"")).collect();
            let kind = ProblemKind::BadValue {
                key: key.to_owned(),
                expected: quoted.join(" or "),
                nearest: nearest(text, names).map(str::to_owned),
            };
            self.report(&node.span, kind);
        }
        known.map(|(_, value)| *value)
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let node = &self.pair(key)?.value;
        if let Value::Bool(flag) = node.value {
            return Some(flag);
        }
        self.wrong(key, node, "true or false");
        None
    }

    /// A whole number from `least` on.
    pub(super) fn whole<T: TryFrom<u32>>(&mut self, key: &str, least: u32, most: u32) -> Option<T> {
        let node = &self.pair(key)?.value;
        let Value::Number(number) = &node.value else {
            self.wrong(key, node, "a whole number");
            return None;
        };
        let number = number.parse::<u32>().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        if number.is_none() {
            self.bad(key, node, format!("a whole number from {least} to {most}"));
        }
        number
    }

    /// A duration.
    pub(super) fn duration(&mut self, key: &str) -> Option<Duration> {
        let node = &self.pair(key)?.value;
        let duration = match &node.value {
            Value::Text(text) => parse_duration(text),
            _ => None,
        };
        if duration.is_none() {
            self.bad(key, node, duration::EXPECTED);
        }
        duration
    }

    /// A list of strings; absent is empty.
    pub(super) fn texts(&mut self, key: &str) -> Vec<Written> {
        let Some(pair) = self.pair(key) else {
            return Vec::new();
        };
        let Value::List(nodes) = &pair.value.value else {
            self.wrong(key, &pair.value, "a list of strings");
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(nodes.len());
        for node in nodes {
            match self.as_text(node) {
                Some(text) => texts.push(self.written(&text, node)),
                None => self.wrong(key, node, "a list of strings"),
            }
        }
        texts
    }

    /// A list of strings that are never expanded.
    pub(super) fn names(&mut self, key: &str) -> Vec<String> {
        let texts = self.texts(key);
        texts.iter().map(|text| text.text().to_owned()).collect()
    }

    /// A table of strings; absent is empty.
    pub(super) fn named_texts(&mut self, key: &str) -> Vec<(String, Written)> {
        let Some(pair) = self.pair(key) else {
            return Vec::new();
        };
        let Value::Table(pairs) = &pair.value.value else {
            self.wrong(key, &pair.value, "a table of strings");
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(pairs.len());
        for pair in pairs {
            match self.as_text(&pair.value) {
                Some(text) => {
                    texts.push((pair.key.clone(), self.written(&text, &pair.value)));
                }
                None if self.lenient && pair.value.value == Value::Null => {}
                None => self.wrong(&format!("{key}.{}", pair.key), &pair.value, "a string"),
            }
        }
        texts
    }

    /// The text of the value, if it is one here.
    fn as_text(&self, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) | Value::Number(text) if self.lenient => Some(text.clone()),
            Value::Text(text) => Some(text.clone()),
            Value::Bool(flag) if self.lenient => Some(flag.to_string()),
            _ => None,
        }
    }
}
