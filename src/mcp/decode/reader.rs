//! Reads one page in a stream: the keys in any order, the array item by item.

use std::fmt::{self, Display};
use std::io;
use std::time::Duration;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::domain::{Failure, FailureKind};

use super::fields::{Defect, Fields, FieldsSeed, KeySeed, Value, skip_others};
use super::rules::{Notes, Place};
use super::{Accumulator, Cursor, Decode, MAX_ITEMS, Page, malformed};

/// Reads a page whose surrogates are repaired.
pub(super) fn read<T: Decode>(
    json: &str,
    number: usize,
    into: &mut Accumulator<T>,
) -> Result<Page, Failure> {
    let fail = |problem: &dyn Display| malformed(format!("page {number}: {problem}"));
    if !json.trim_ascii_start().starts_with('{') {
        return Err(fail(&"the result is not an object"));
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let head = deserializer
        .deserialize_map(HeadVisitor { number, into })
        .and_then(|head| deserializer.end().map(|()| head))
        .map_err(|_| fail(&"the result is not valid JSON"))?;

    let array = T::METHOD.field();
    if let Some(result_type) = head.result_type
        && result_type.string().as_deref() != Some("complete")
    {
        return Err(fail(&Defect::new("resultType", "is not complete")));
    }
    match head.items {
        Items::Missing => return Err(fail(&Defect::missing(array))),
        Items::NotAnArray => return Err(fail(&Defect::new(array, "is not an array"))),
        Items::Failed(failure) => return Err(failure),
        Items::Read => {}
    }
    let next = match head.next_cursor {
        None => None,
        Some(cursor) => {
            let cursor = cursor
                .string()
                .ok_or_else(|| fail(&Defect::new("nextCursor", "is not a string")))?;
            Some(Cursor(cursor.into()))
        }
    };
    let ttl = head.ttl_ms.and_then(Value::whole).filter(|ms| *ms > 0);
    Ok(Page {
        next,
        ttl: ttl.map(Duration::from_millis),
    })
}

/// What a page holds at its top level; of a repeated key the last.
struct Head<'a> {
    items: Items,
    next_cursor: Option<Value<'a>>,
    result_type: Option<Value<'a>>,
    ttl_ms: Option<Value<'a>>,
}

/// What became of the array.
enum Items {
    Missing,
    NotAnArray,
    Failed(Failure),
    /// Its items are in the accumulator.
    Read,
}

/// Reads the top level of a page.
struct HeadVisitor<'a, T> {
    number: usize,
    into: &'a mut Accumulator<T>,
}

impl<'de, T: Decode> Visitor<'de> for HeadVisitor<'_, T> {
    type Value = Head<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head<'de>, A::Error> {
        let before = self.into.mark();
        let mut head = Head {
            items: Items::Missing,
            next_cursor: None,
            result_type: None,
            ttl_ms: None,
        };
        let keys = const { &[T::METHOD.field(), "nextCursor", "resultType", "ttlMs"] };
        while let Some(key) = map.next_key_seed(KeySeed(keys))? {
            match key {
                Some(0) => {
                    self.into.reset(before);
                    head.items = map.next_value_seed(ItemsSeed {
                        number: self.number,
                        into: &mut *self.into,
                    })?;
                }
                Some(1) => head.next_cursor = raw(&mut map)?,
                Some(2) => head.result_type = raw(&mut map)?,
                Some(3) => head.ttl_ms = raw(&mut map)?,
                Some(_) | None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(head)
    }
}

fn raw<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Value<'de>>, A::Error> {
    let value: &RawValue = map.next_value()?;
    Ok(Value::present(value.get()))
}

/// Reads the array into the accumulator, up to the first item that breaks a rule.
struct ItemsSeed<'a, T> {
    number: usize,
    into: &'a mut Accumulator<T>,
}

impl<'de, T: Decode> DeserializeSeed<'de> for ItemsSeed<'_, T> {
    type Value = Items;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Items, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Decode> Visitor<'de> for ItemsSeed<'_, T> {
    type Value = Items;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Items, A::Error> {
        let mut place = Place {
            page: self.number,
            item: 1,
        };
        loop {
            let failure = if self.into.items.len() < MAX_ITEMS {
                match seq.next_element_seed(FieldsSeed(T::KEYS))? {
                    None => return Ok(Items::Read),
                    Some(fields) => self.into.push(place, fields).err(),
                }
            } else {
                match seq.next_element::<IgnoredAny>()? {
                    None => return Ok(Items::Read),
                    Some(_) => Some(too_many::<T>(self.number)),
                }
            };
            if let Some(failure) = failure {
                // The rest is passed over: a later array of the same key would count instead, and
                // too many items come before too many bytes.
                let mut items = self.into.items.len() + 1;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    items += 1;
                }
                let too_large = failure.kind == FailureKind::ByteLimit;
                return Ok(Items::Failed(if too_large && items > MAX_ITEMS {
                    too_many::<T>(self.number)
                } else {
                    failure
                }));
            }
            place.item += 1;
        }
    }

    skip_others!(map => Items::NotAnArray);
    skip_others!(null => Items::Missing);
    skip_others!(scalars => Items::NotAnArray);
}

fn too_many<T: Decode>(page: usize) -> Failure {
    let noun = T::METHOD.noun();
    Failure::new(
        FailureKind::ItemLimit,
        format!("page {page}: more than 10,000 {noun}"),
    )
}

fn too_large<T: Decode>(place: Place) -> Failure {
    let noun = T::METHOD.noun();
    let millions = T::MAX_BYTES / 1_000_000;
    Failure::new(
        FailureKind::ByteLimit,
        format!("{place}: more than {millions},000,000 bytes of {noun}"),
    )
}

/// What an accumulator held at one moment.
#[derive(Clone, Copy)]
struct Mark {
    items: usize,
    bytes: usize,
    notes: usize,
    arguments_left: usize,
}

impl<T: Decode> Accumulator<T> {
    fn mark(&self) -> Mark {
        Mark {
            items: self.items.len(),
            bytes: self.bytes,
            notes: self.notes.len(),
            arguments_left: self.arguments_left,
        }
    }

    fn reset(&mut self, mark: Mark) {
        self.items.truncate(mark.items);
        self.bytes = mark.bytes;
        self.notes.truncate(mark.notes);
        self.arguments_left = mark.arguments_left;
    }

    fn push(&mut self, place: Place, fields: Option<Fields<'_>>) -> Result<(), Failure> {
        let fields = fields.ok_or_else(|| malformed(format!("{place}: it is not an object")))?;
        let mut notes = Notes {
            place,
            list: &mut self.notes,
            arguments_left: &mut self.arguments_left,
            too_large: false,
        };
        let item = T::decode(&fields, &mut notes)
            .map_err(|defect| malformed(format!("{place}: {defect}")))?;
        let too_large = notes.too_large;
        self.bytes += json_len(&item).map_err(|error| malformed(format!("{place}: {error}")))?;
        if too_large || self.bytes > T::MAX_BYTES {
            return Err(self::too_large::<T>(place));
        }
        self.items.push(item);
        Ok(())
    }
}

/// How many bytes of compact JSON a value has.
fn json_len(value: &impl serde::Serialize) -> serde_json::Result<usize> {
    struct Count(usize);

    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    serde_json::to_writer(&mut count, value)?;
    Ok(count.0)
}
