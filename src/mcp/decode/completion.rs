//! Reads the result of `completion/complete` (MCP 2025-06-18, completion).

use super::fields::{Fields, Keys};
use super::{malformed, repair_surrogates};
use crate::domain::Failure;

/// The most values that a completion has, by the specification; more are dropped.
pub const MAX_VALUES: usize = 100;

/// Values for an argument.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// The values, best first, exactly as the server sent them: they go into a URI or a prompt.
    pub values: Vec<Box<str>>,
    /// Whether there are more.
    pub has_more: bool,
}

const RESULT_KEYS: Keys = &["completion"];
const COMPLETION_KEYS: Keys = &["values", "hasMore"];

/// Reads the JSON text of the result.
///
/// # Errors
///
/// A [`Failure`] of kind `malformed`.
pub fn read(json: &str) -> Result<Completion, Failure> {
    let json = repair_surrogates(json);
    let bad = |reason: &str| malformed(format!("completion: {reason}"));
    let result =
        Fields::read(RESULT_KEYS, &json).ok_or_else(|| bad("the result is not an object"))?;
    let completion = result
        .get("completion")
        .and_then(|value| Fields::read(COMPLETION_KEYS, value.0))
        .ok_or_else(|| bad("completion is not an object"))?;
    let values = completion
        .get("values")
        .ok_or_else(|| bad("values is missing"))?;
    let mut read = Completion::default();
    let mut all_strings = true;
    values
        .each_element(|value| {
            if read.values.len() == MAX_VALUES {
                read.has_more = true;
                return;
            }
            match value.string() {
                Some(text) => read.values.push(text.into()),
                None => all_strings = false,
            }
        })
        .ok_or_else(|| bad("values is not an array"))?;
    if !all_strings {
        return Err(bad("a value is not a string"));
    }
    read.has_more |= completion
        .get("hasMore")
        .and_then(super::fields::Value::bool)
        == Some(true);
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_up_to_the_bound() {
        let check = |json: &str, expected: Result<(usize, bool), &str>| {
            let read = read(json)
                .map(|completion| (completion.values.len(), completion.has_more))
                .map_err(|failure| failure.message.to_string());
            assert_eq!(read, expected.map_err(str::to_owned), "{json}");
        };
        check(r#"{"completion":{"values":["a","b"]}}"#, Ok((2, false)));
        check(
            r#"{"completion":{"values":[],"hasMore":true}}"#,
            Ok((0, true)),
        );
        let many = format!(
            r#"{{"completion":{{"values":[{}"x"]}}}}"#,
            "\"x\",".repeat(100)
        );
        check(&many, Ok((100, true)));
        check(
            r#"{"completion":{"values":[1]}}"#,
            Err("completion: a value is not a string"),
        );
        check(r#"{"completion":{}}"#, Err("completion: values is missing"));
        check("{}", Err("completion: completion is not an object"));
        check("[]", Err("completion: the result is not an object"));
    }
}
