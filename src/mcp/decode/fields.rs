//! The fields of one JSON object, as raw text: what a rule needs, and nothing else.
//!
//! Only the keys asked for are kept, the last of a repeated one. Other values are skipped without
//! recursion, however deep they nest.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The visits of a value that is not of the type wanted: it is skipped, and another stands for it.
macro_rules! skip_others {
    (seq => $value:expr) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            serde::de::IgnoredAny.visit_seq(seq).map(|_| $value)
        }
    };
    (map => $value:expr) => {
        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            serde::de::IgnoredAny.visit_map(map).map(|_| $value)
        }
    };
    (null => $value:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
    (scalars => $value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}
pub(super) use skip_others;

/// How many keys a [`Fields`] may have.
pub(super) const MAX_KEYS: usize = 8;

/// The keys of interest of one kind of object.
pub(super) type Keys = &'static [&'static str];

/// The values of an object, as raw JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    keys: Keys,
    values: [Option<&'a str>; MAX_KEYS],
}

impl<'a> Fields<'a> {
    /// Reads a whole text; `None` where it is no JSON object.
    pub(super) fn read(keys: Keys, json: &'a str) -> Option<Self> {
        let mut json = serde_json::Deserializer::from_str(json);
        let fields = FieldsSeed(keys).deserialize(&mut json).ok()?;
        json.end().ok()?;
        fields
    }

    /// The value of the key. Absent and null are the same.
    pub(super) fn get(&self, key: &'static str) -> Option<Value<'a>> {
        let index = self.keys.iter().position(|known| *known == key)?;
        Value::present(self.values[index]?)
    }
}

/// A value, as raw JSON text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a>(pub(super) &'a str);

impl<'a> Value<'a> {
    /// The value, if it is not null.
    pub(super) fn present(json: &'a str) -> Option<Self> {
        (json != "null").then_some(Self(json))
    }

    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        let quoted = self.0.strip_prefix('"')?;
        if quoted.contains('\\') {
            serde_json::from_str(self.0).ok().map(Cow::Owned)
        } else {
            quoted.strip_suffix('"').map(Cow::Borrowed)
        }
    }

    pub(super) fn bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    pub(super) fn is_number(self) -> bool {
        self.0.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    }

    /// The whole number that a JSON number is, however it is written (`10`, `10.0`, `1e1`).
    pub(super) fn whole(self) -> Option<u64> {
        if let Ok(whole) = self.0.parse() {
            return Some(whole);
        }
        // 2^53: up to here every whole number has a float of its own.
        let float: f64 = self.0.parse().ok()?;
        let is_whole = (0.0..=9_007_199_254_740_992.0).contains(&float) && float.fract() == 0.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and in range"
        )]
        is_whole.then_some(float as u64)
    }

    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Walks over an array; `None` where the value is none.
    pub(super) fn each_element(self, visit: impl FnMut(Value<'a>)) -> Option<()> {
        let mut json = serde_json::Deserializer::from_str(self.0);
        json.deserialize_seq(ElementVisitor(visit)).ok()
    }

    /// Walks over an object; `None` where the value is none.
    pub(super) fn each_member(self, visit: impl FnMut(&str, Value<'a>)) -> Option<()> {
        let mut json = serde_json::Deserializer::from_str(self.0);
        json.deserialize_map(MemberVisitor(visit)).ok()
    }
}

/// Why a field cannot be kept: `annotations.priority is not a number from 0 to 1`, say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defect {
    pub(super) field: &'static str,
    pub(super) problem: &'static str,
}

impl Defect {
    pub(super) const fn new(field: &'static str, problem: &'static str) -> Self {
        Self { field, problem }
    }

    pub(super) const fn missing(field: &'static str) -> Self {
        Self::new(field, "is missing")
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

/// Reads an object in a stream; anything else is skipped and becomes `None`.
pub(super) struct FieldsSeed(pub(super) Keys);

impl<'de> DeserializeSeed<'de> for FieldsSeed {
    type Value = Option<Fields<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldsSeed {
    type Value = Option<Fields<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; MAX_KEYS];
        while let Some(key) = map.next_key_seed(KeySeed(self.0))? {
            match key {
                Some(index) => values[index] = Some(map.next_value::<&RawValue>()?.get()),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let keys = self.0;
        Ok(Some(Fields { keys, values }))
    }

    skip_others!(seq => None);
    skip_others!(null => None);
    skip_others!(scalars => None);
}

/// Finds a key among those of interest.
pub(super) struct KeySeed(pub(super) Keys);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|known| *known == key))
    }
}

struct ElementVisitor<F>(F);

impl<'de, F: FnMut(Value<'de>)> Visitor<'de> for ElementVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element::<&RawValue>()? {
            (self.0)(Value(element.get()));
        }
        Ok(())
    }
}

struct MemberVisitor<F>(F);

impl<'de, F: FnMut(&str, Value<'de>)> Visitor<'de> for MemberVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            (self.0)(&key, Value(map.next_value::<&RawValue>()?.get()));
        }
        Ok(())
    }
}
