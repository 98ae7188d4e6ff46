//! Takes a JSON-RPC message apart without decoding what it carries.
//!
//! Liberal in what it accepts (no `jsonrpc` member, a batch, a byte order mark, a lone surrogate,
//! an error without a message), strict in what it says: an answer that names one of our requests
//! but cannot be used is [`Reply::Malformed`] with the reason.
//!
//! A line may have 16 MiB, so nothing is copied that need not be: the result of an answer is what
//! is left of the line's own buffer, and the messages of a batch are handed on one by one.

use std::borrow::Cow;
use std::fmt;
use std::str::Utf8Chunk;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::decode::repair_bytes;
use super::read::MAX_LINE;
use super::reply::{Reply, RpcError};
use super::scan::IdScanner;
use crate::domain::text;

/// The longest raw error data that is kept, in bytes; what we look for in it is short.
const MAX_DATA: usize = 64 * 1024;

/// The longest error message that is kept, in bytes: many times what is shown of one.
const MAX_MESSAGE: usize = 256 * 1024;

/// The longest id of a request that is answered, in bytes.
const MAX_ID: usize = 1024;

/// One message from a server.
#[derive(Debug)]
pub enum Inbound<'a> {
    /// An answer to a request.
    Answer(AnswerId, Reply),
    /// A request of the server: the raw id and the method.
    Request(&'a str, Cow<'a, str>),
    /// A notification with its raw parameters.
    Notification(Cow<'a, str>, Option<&'a str>),
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

/// What a line held beside messages.
#[derive(Debug, PartialEq, Eq)]
pub enum Noise {
    /// Nothing.
    None,
    /// Something around a message: a byte order mark, terminal sequences.
    Around,
    /// This line, which is no message, or a batch in which something is none.
    Line(String),
}

/// Takes a line, an HTTP body or an SSE event apart and hands on each of its messages.
pub fn take_apart(mut line: Vec<u8>, mut each: impl FnMut(Inbound<'_>)) -> Noise {
    repair_bytes(&mut line);
    let text = match String::from_utf8(line) {
        Ok(text) => text,
        Err(error) => match replace_invalid(&error.into_bytes()) {
            Ok(text) => text,
            Err(id) => {
                let reply = Reply::Malformed("the answer is not UTF-8".into());
                each(Inbound::Answer(id, reply));
                return Noise::None;
            }
        },
    };
    let marked = text.trim_start().starts_with('\u{feff}');
    let text = match messages(text, &mut each) {
        Ok(Noise::None) if marked => return Noise::Around,
        Ok(noise) => return noise,
        Err(text) => text,
    };
    // A log library that colours everything wraps messages in terminal sequences.
    if text.contains(['\u{1b}', '\u{9b}'])
        && let Ok(noise) = messages(text::without_sequences(&text), &mut each)
    {
        return match noise {
            Noise::None => Noise::Around,
            noise => noise,
        };
    }
    if body(&text).starts_with('{') {
        let mut scanner = IdScanner::default();
        scanner.push(body(&text).as_bytes());
        if let Some(id) = scanner.id() {
            let reply = Reply::Malformed("the answer is no valid JSON".into());
            each(Inbound::Answer(AnswerId::Known(id), reply));
            return Noise::None;
        }
    }
    Noise::Line(text)
}

/// The text with U+FFFD in place of what is no UTF-8, or the id of what grew over the limit.
fn replace_invalid(line: &[u8]) -> Result<String, AnswerId> {
    let mark = |chunk: &Utf8Chunk<'_>| !chunk.invalid().is_empty();
    let grown = |chunk: Utf8Chunk<'_>| {
        let marks = usize::from(mark(&chunk));
        chunk.valid().len() + marks * char::REPLACEMENT_CHARACTER.len_utf8()
    };
    let size = line.utf8_chunks().map(grown).sum();
    if size > MAX_LINE {
        let mut scanner = IdScanner::default();
        scanner.push(line);
        return Err(scanner.id().map_or(AnswerId::Missing, AnswerId::Known));
    }
    let mut text = String::with_capacity(size);
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        if mark(&chunk) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(text)
}

/// The text without what may stand around a message.
fn body(text: &str) -> &str {
    text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace())
        .trim_end()
}

/// Hands on the messages of a text; gives it back where it holds none.
fn messages(text: String, each: &mut impl FnMut(Inbound<'_>)) -> Result<Noise, String> {
    let json = body(&text);
    if json.starts_with('[') {
        return match batch(json, each) {
            Some(true) => Ok(Noise::None),
            Some(false) => Ok(Noise::Line(text)),
            None => Err(text),
        };
    }
    let (id, result) = match Parsed::read(json) {
        None => return Err(text),
        Some(Parsed::Message(message)) => {
            each(message);
            return Ok(Noise::None);
        }
        Some(Parsed::Result(id, result)) => (id, result),
    };
    let start = result.as_ptr().addr() - text.as_ptr().addr();
    let end = start + result.len();
    let mut buffer = text;
    buffer.truncate(end);
    buffer.drain(..start);
    each(Inbound::Answer(id, Reply::Result(buffer)));
    Ok(Noise::None)
}

/// Hands on the messages of a batch, and tells whether it holds something and nothing else.
/// `None` where it is broken JSON, of which nothing is handed on.
fn batch(json: &str, each: &mut impl FnMut(Inbound<'_>)) -> Option<bool> {
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let visitor = BatchVisitor(|element| {
        match Parsed::read(element) {
            None => return false,
            Some(Parsed::Message(message)) => each(message),
            Some(Parsed::Result(id, result)) => {
                each(Inbound::Answer(id, Reply::Result(result.to_owned())));
            }
        }
        true
    });
    deserializer.deserialize_seq(visitor).ok()
}

/// Visits each element, and tells whether there are some and all of them pleased.
struct BatchVisitor<F>(F);

impl<'de, F: FnMut(&'de str) -> bool> Visitor<'de> for BatchVisitor<F> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<bool, A::Error> {
        let (mut all, mut any) = (true, false);
        while let Some(element) = seq.next_element::<&RawValue>()? {
            all &= (self.0)(element.get());
            any = true;
        }
        Ok(any && all)
    }
}

/// What an object is.
enum Parsed<'a> {
    Message(Inbound<'a>),
    /// An answer with this raw result, which is still part of the text.
    Result(AnswerId, &'a str),
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

impl<'a> Parsed<'a> {
    /// `None` where the text is no JSON object that means something.
    fn read(json: &'a str) -> Option<Self> {
        if !json.starts_with('{') {
            return None;
        }
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let envelope = deserializer.deserialize_map(EnvelopeVisitor).ok()?;
        deserializer.end().ok()?;
        envelope.into_parsed()
    }
}

impl<'a> Envelope<'a> {
    fn into_parsed(self) -> Option<Parsed<'a>> {
        if let Some(method) = self.method.and_then(|raw| string(raw.get())) {
            return match self.id.map(RawValue::get) {
                Some(id) if id.len() > MAX_ID => None,
                Some(id) if id != "null" => Some(Parsed::Message(Inbound::Request(id, method))),
                Some(_) | None => {
                    let params = self.params.map(RawValue::get);
                    Some(Parsed::Message(Inbound::Notification(method, params)))
                }
            };
        }
        let id = answer_id(self.id);
        let reply = match (self.result, self.error) {
            (Some(result), None) => return Some(Parsed::Result(id, result.get())),
            (Some(result), Some(error)) if error.get() == "null" => {
                return Some(Parsed::Result(id, result.get()));
            }
            (None, Some(error)) => read_error(error),
            (Some(_), Some(_)) => Reply::Malformed("the answer has both result and error".into()),
            (None, None) => match id {
                AnswerId::Known(_) => {
                    Reply::Malformed("the answer has neither result nor error".into())
                }
                AnswerId::Missing | AnswerId::Foreign => return None,
            },
        };
        Some(Parsed::Message(Inbound::Answer(id, reply)))
    }
}

/// The string that a raw JSON value is.
fn string(raw: &str) -> Option<Cow<'_, str>> {
    let quoted = raw.strip_prefix('"')?;
    if quoted.contains('\\') {
        serde_json::from_str(raw).ok().map(Cow::Owned)
    } else {
        quoted.strip_suffix('"').map(Cow::Borrowed)
    }
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
    struct Wire<'a> {
        #[serde(borrow)]
        code: Option<&'a RawValue>,
        #[serde(borrow)]
        message: Option<&'a RawValue>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    let is_object = raw.get().starts_with('{');
    let Some(wire) = serde_json::from_str::<Wire>(raw.get())
        .ok()
        .filter(|_| is_object)
    else {
        return Reply::Malformed("the error is not an object with a code".into());
    };
    let Some(code) = wire.code.and_then(|code| code.get().parse().ok()) else {
        return Reply::Malformed("the error's code is not an integer".into());
    };
    let message = wire.message.and_then(|message| string(message.get()));
    let message = message.unwrap_or_default();
    let data = wire.data.filter(|data| data.get().len() <= MAX_DATA);
    Reply::Error(RpcError {
        code,
        message: message[..message.floor_char_boundary(MAX_MESSAGE)].to_owned(),
        data: data.and_then(|data| serde_json::from_str(data.get()).ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of a line as text, and what else it holds.
    fn read(line: &[u8]) -> (Vec<String>, Noise) {
        let mut messages = Vec::new();
        let noise = take_apart(line.to_vec(), |message| {
            messages.push(format!("{message:?}"));
        });
        (messages, noise)
    }

    fn check_answer(text: &str, id: AnswerId, reply: Reply) {
        let expected = format!("{:?}", Inbound::Answer(id, reply));
        assert_eq!(read(text.as_bytes()).0, [expected], "{text}");
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
        let check = |text: &str, messages: &[&str], noise: Noise| {
            let (read, rest) = read(text.as_bytes());
            assert_eq!(
                (read, rest),
                (messages.iter().map(ToString::to_string).collect(), noise)
            );
        };
        let line = |text: &str| Noise::Line(text.to_owned());
        check(
            r#"{"id":"a","method":"ping"}"#,
            &[r#"Request("\"a\"", "ping")"#],
            Noise::None,
        );
        check(
            "\u{feff}{\"method\":\"\\u006e\",\"params\":{}}",
            &[r#"Notification("n", Some("{}"))"#],
            Noise::Around,
        );
        let batch = r#"[{"id":1,"result":{}},{"method":"n"}]"#;
        let two = [
            r#"Answer(Known(1), Result("{}"))"#,
            r#"Notification("n", None)"#,
        ];
        check(batch, &two, Noise::None);
        check(&format!("\u{1b}[1m{batch}\u{1b}[0m"), &two, Noise::Around);
        let mixed = batch.replace(']', ",7]");
        check(&mixed, &two, line(&mixed));
        let mixed = batch.replace(']', ",\"\u{9b}\"]");
        check(&mixed, &two, line(&mixed));
        let broken = batch.replace(']', "");
        check(&broken, &[], line(&broken));
        let long = format!(r#"{{"id":"{}","method":"ping"}}"#, "i".repeat(MAX_ID));
        check(&long, &[], line(&long));
        for noise in [
            "",
            "   ",
            "Server listening on 3000",
            "{}",
            "[]",
            "7",
            r#"{"level":"info"}"#,
            "\u{1b}[32mready\u{1b}[0m",
        ] {
            check(noise, &[], line(noise));
        }
    }

    #[test]
    fn what_wraps_a_message_is_removed_and_nothing_inside_it() {
        let coloured = "\u{1b}[32m{\"id\":1,\"result\":\"\u{fb01}\u{200b}\u{e000}\"}\u{1b}[0m";
        check_answer(
            coloured,
            AnswerId::Known(1),
            result("\"\u{fb01}\u{200b}\u{e000}\""),
        );
    }

    #[test]
    fn what_is_no_utf_8_is_replaced_within_the_limit() {
        let line = |count: usize| {
            let mut line = br#"{"id":1,"result":""#.to_vec();
            line.resize(line.len() + count, 0xff);
            line.extend_from_slice(b"\"}");
            line
        };
        let (messages, _) = read(&line(2));
        let two = result("\"\u{fffd}\u{fffd}\"");
        assert_eq!(
            messages,
            [format!("{:?}", Inbound::Answer(AnswerId::Known(1), two))]
        );
        let (messages, noise) = read(&line(MAX_LINE / 2));
        let reply = malformed("the answer is not UTF-8");
        assert_eq!(
            messages,
            [format!("{:?}", Inbound::Answer(AnswerId::Known(1), reply))]
        );
        assert_eq!(noise, Noise::None);
    }

    #[test]
    fn large_errors_are_cut() {
        let (long, deep) = (
            "\u{e9}".repeat(MAX_MESSAGE),
            "[".repeat(200) + &"]".repeat(200),
        );
        for data in [&*format!("\"{long}\""), &deep] {
            let text =
                format!(r#"{{"id":1,"error":{{"code":-32000,"message":"{long}","data":{data}}}}}"#);
            check_answer(
                &text,
                AnswerId::Known(1),
                error(-32000, &long[..MAX_MESSAGE]),
            );
        }
    }

    #[test]
    fn deep_nesting_inside_an_answer_is_no_matter_of_the_envelope() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"id":3,"result":{deep}}}"#);
        check_answer(&text, AnswerId::Known(3), result(&deep));
    }
}
