//! Takes a JSON-RPC message apart without decoding what it carries.
//!
//! Liberal in what it accepts (no `jsonrpc` member, a batch, a byte order mark, a lone surrogate,
//! an error without a message), strict in what it says: an answer that names one of our requests
//! but cannot be used is [`Reply::Malformed`] with the reason.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::decode::repair_surrogates;
use super::reply::{Reply, RpcError};
use super::scan::IdScanner;
use crate::domain::text;

/// One message from a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Inbound {
    /// An answer to a request.
    Answer(AnswerId, Reply),
    /// A request of the server: the raw id and the method.
    Request(Box<RawValueEq>, String),
    /// A notification with its raw parameters.
    Notification(String, Option<Box<RawValueEq>>),
    /// No message.
    Noise,
}

/// Raw JSON that compares by its text.
#[derive(Debug, Clone)]
pub struct RawValueEq(pub Box<RawValue>);

impl PartialEq for RawValueEq {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// What an answer says about which request it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerId {
    /// This one, if it is outstanding. A string that holds an integer counts as the integer.
    Known(i64),
    /// None, or null: JSON-RPC 2.0, section 5 has null where the server could not read the id.
    Missing,
    /// Something we never send.
    Foreign,
}

/// Takes the text of a line, an HTTP body or an SSE event apart. The last member of the pair
/// tells whether something around or in it was noise (a byte order mark, terminal sequences).
#[must_use]
pub fn parse(bytes: &[u8]) -> (Vec<Inbound>, bool) {
    let lossy = String::from_utf8_lossy(bytes);
    let unmarked = lossy.trim_start_matches('\u{feff}').trim();
    let marked = unmarked.len() != lossy.trim().len();
    let repaired = repair_surrogates(unmarked);
    if let Some(messages) = parse_text(&repaired) {
        return (messages, marked);
    }
    // A log library that colours everything wraps messages in terminal sequences.
    if repaired.contains(['\u{1b}', '\u{9b}'])
        && let Ok(plain) = text::sanitize(&repaired, text::Keep::Line)
        && let Some(messages) = parse_text(plain.trim())
    {
        return (messages, true);
    }
    if repaired.starts_with('{') {
        let mut scanner = IdScanner::default();
        scanner.push(repaired.as_bytes());
        if let Some(id) = scanner.id() {
            let reply = Reply::Malformed("the answer is no valid JSON".into());
            return (vec![Inbound::Answer(AnswerId::Known(id), reply)], false);
        }
    }
    (vec![Inbound::Noise], false)
}

/// `None` where the text is no JSON object or array of objects.
fn parse_text(text: &str) -> Option<Vec<Inbound>> {
    if text.starts_with('[') {
        let batch: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let mut messages: Vec<Inbound> = batch
            .into_iter()
            .map(|raw| parse_object(raw.get()).unwrap_or(Inbound::Noise))
            .collect();
        if messages.is_empty() {
            messages.push(Inbound::Noise);
        }
        return Some(messages);
    }
    text.starts_with('{')
        .then(|| parse_object(text))?
        .map(|message| vec![message])
}

/// The members of a message; of a repeated one the last counts.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let member = match &*key {
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *member = Some(map.next_value()?);
        }
        Ok(envelope)
    }
}

fn parse_object(text: &str) -> Option<Inbound> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let envelope = deserializer.deserialize_map(EnvelopeVisitor).ok()?;
    deserializer.end().ok()?;
    Some(envelope.into_inbound())
}

impl Envelope<'_> {
    fn into_inbound(self) -> Inbound {
        if let Some(method) = self
            .method
            .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
        {
            return match self.id {
                Some(id) if id.get() != "null" => {
                    Inbound::Request(Box::new(RawValueEq(id.to_owned())), method)
                }
                Some(_) | None => Inbound::Notification(
                    method,
                    self.params.map(|raw| Box::new(RawValueEq(raw.to_owned()))),
                ),
            };
        }
        let id = answer_id(self.id);
        match (self.result, self.error) {
            (Some(result), None) => Inbound::Answer(id, Reply::Result(own(result))),
            (None, Some(error)) => Inbound::Answer(id, read_error(error)),
            (Some(result), Some(error)) if error.get() == "null" => {
                Inbound::Answer(id, Reply::Result(own(result)))
            }
            (Some(_), Some(_)) => Inbound::Answer(
                id,
                Reply::Malformed("the answer has both result and error".into()),
            ),
            (None, None) => match id {
                AnswerId::Known(_) => Inbound::Answer(
                    id,
                    Reply::Malformed("the answer has neither result nor error".into()),
                ),
                AnswerId::Missing | AnswerId::Foreign => Inbound::Noise,
            },
        }
    }
}

/// Copies a result once, with room for the tag of [`Reply::into_text`]: it may be 16 MiB.
fn own(result: &RawValue) -> String {
    let mut text = String::with_capacity(result.get().len() + 1);
    text.push_str(result.get());
    text
}

fn answer_id(raw: Option<&RawValue>) -> AnswerId {
    let Some(text) = raw.map(RawValue::get).filter(|text| *text != "null") else {
        return AnswerId::Missing;
    };
    text.trim_matches('"')
        .parse()
        .map_or(AnswerId::Foreign, AnswerId::Known)
}

/// A numeric error code needs no message; a code that is no integer is malformed.
fn read_error(raw: &RawValue) -> Reply {
    #[derive(serde::Deserialize)]
    struct Wire {
        code: Option<serde_json::Value>,
        message: Option<serde_json::Value>,
        data: Option<serde_json::Value>,
    }
    let Ok(wire) = serde_json::from_str::<Wire>(raw.get()) else {
        return Reply::Malformed("the error is not an object with a code".into());
    };
    match wire.code.as_ref().and_then(serde_json::Value::as_i64) {
        Some(code) => Reply::Error(RpcError {
            code,
            message: match wire.message {
                Some(serde_json::Value::String(message)) => message,
                Some(_) | None => String::new(),
            },
            data: wire.data,
        }),
        None => Reply::Malformed("the error's code is not an integer".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Inbound {
        let (mut messages, _) = parse(text.as_bytes());
        assert_eq!(messages.len(), 1, "{text}");
        messages.remove(0)
    }

    fn check_answer(text: &str, id: AnswerId, reply: Reply) {
        assert_eq!(one(text), Inbound::Answer(id, reply), "{text}");
    }

    fn result(raw: &str) -> Reply {
        Reply::Result(raw.into())
    }

    fn malformed(reason: &str) -> Reply {
        Reply::Malformed(reason.into())
    }

    fn error(code: i64, message: &str) -> Reply {
        Reply::Error(RpcError {
            code,
            message: message.into(),
            data: None,
        })
    }

    #[test]
    fn answers_are_read_liberally_and_judged_strictly() {
        use AnswerId::{Foreign, Known, Missing};
        check_answer(
            r#"{"jsonrpc":"2.0","id":1,"result":{"a": 1}}"#,
            Known(1),
            result(r#"{"a": 1}"#),
        );
        check_answer(r#"{"id":"1","result":{}}"#, Known(1), result("{}"));
        check_answer(r#"{"id":null,"result":{}}"#, Missing, result("{}"));
        check_answer(r#"{"id":{},"result":{}}"#, Foreign, result("{}"));
        check_answer(r#"{"id":1.5,"result":{}}"#, Foreign, result("{}"));
        check_answer(
            r#"{"id":2,"error":{"code":-32601,"message":"m"}}"#,
            Known(2),
            error(-32601, "m"),
        );
        check_answer(
            r#"{"id":2,"error":{"code":-32601}}"#,
            Known(2),
            error(-32601, ""),
        );
        check_answer(
            r#"{"id":2,"error":{"code":"x"}}"#,
            Known(2),
            malformed("the error's code is not an integer"),
        );
        check_answer(
            r#"{"id":2,"error":{"code":1.5}}"#,
            Known(2),
            malformed("the error's code is not an integer"),
        );
        check_answer(
            r#"{"id":2,"error":"bad"}"#,
            Known(2),
            malformed("the error is not an object with a code"),
        );
        check_answer(
            r#"{"id":2}"#,
            Known(2),
            malformed("the answer has neither result nor error"),
        );
        check_answer(
            r#"{"id":2,"result":1,"error":{"code":1}}"#,
            Known(2),
            malformed("the answer has both result and error"),
        );
        check_answer(
            r#"{"id":2,"result":{"tools":[}"#,
            Known(2),
            malformed("the answer is no valid JSON"),
        );
        check_answer(r#"{"id":1,"id":2,"result":{}}"#, Known(2), result("{}"));
        check_answer("\u{feff}{\"id\":1,\"result\":{}}", Known(1), result("{}"));
        check_answer(
            "\u{1b}[32m{\"id\":1,\"result\":{}}\u{1b}[0m",
            Known(1),
            result("{}"),
        );
        check_answer(
            r#"{"id":1,"result":"\ud800"}"#,
            Known(1),
            result(r#""\ufffd""#),
        );
    }

    #[test]
    fn requests_notifications_batches_and_noise() {
        assert!(
            matches!(one(r#"{"id":"a","method":"ping"}"#), Inbound::Request(_, method) if method == "ping")
        );
        assert!(
            matches!(one(r#"{"method":"n","params":{}}"#), Inbound::Notification(method, Some(_)) if method == "n")
        );
        let (batch, _) = parse(br#"[{"id":1,"result":{}},{"method":"n"},7]"#);
        assert_eq!(batch.len(), 3);
        assert_eq!(batch.last(), Some(&Inbound::Noise));
        for noise in [
            "",
            "   ",
            "Server listening on 3000",
            "{}",
            "[]",
            "7",
            r#"{"level":"info"}"#,
        ] {
            assert_eq!(one(noise), Inbound::Noise, "{noise}");
        }
    }

    #[test]
    fn deep_nesting_inside_an_answer_is_no_matter_of_the_envelope() {
        let deep = format!(
            r#"{{"id":3,"result":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(matches!(
            one(&deep),
            Inbound::Answer(AnswerId::Known(3), Reply::Result(_))
        ));
    }
}
