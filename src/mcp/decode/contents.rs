//! Reads the result of `resources/read`: exactly, nothing is normalized; and the wish for more
//! input, which the result of `prompts/get` may be too (MCP 2026-07-28, `InputRequiredResult`).

use serde::Serialize;

use crate::domain::{Failure, FailureKind};

use super::fields::{Defect, Fields, Keys, Value};
use super::{MAX_ITEMS, malformed, repair_surrogates};

/// What a read gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The contents, in the server's order.
    Contents(Vec<Content>),
    /// The server asks for more before it answers.
    InputRequired(InputRequired),
}

/// One of the contents of a resource, exactly as the server sent it. Its JSON is that of MCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// The URI of this part.
    pub uri: Box<str>,
    /// The MIME type, if the server says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Box<str>>,
    /// Text or blob.
    #[serde(flatten)]
    pub body: Body,
}

/// What a content consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    /// Text.
    Text(Box<str>),
    /// Bytes in Base64; whether it is valid is not looked at here.
    Blob(Box<str>),
}

/// What a server wants before it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRequired {
    /// To be sent back unchanged with the next try.
    pub request_state: Option<Box<str>>,
    /// Whether it asks for anything: elicitation, sampling, roots.
    pub asks_for_input: bool,
}

const RESULT_KEYS: Keys = &["resultType", "requestState", "inputRequests", "contents"];
const CONTENT_KEYS: Keys = &["uri", "mimeType", "text", "blob"];

/// Reads the JSON text of the result of `resources/read`.
///
/// # Errors
///
/// A [`Failure`] of kind `malformed`, or `item_limit` for more than 10,000 contents.
pub fn read(json: &str) -> Result<Reading, Failure> {
    let json = repair_surrogates(json);
    let fields = result(&json)?;
    match asked(&fields)? {
        Some(asked) => Ok(Reading::InputRequired(asked)),
        None => contents(&fields).map(Reading::Contents),
    }
}

/// What the server asks for, if the JSON text of a result is a wish for more input and not an answer.
///
/// # Errors
///
/// A [`Failure`] of kind `malformed` where the result is neither.
pub fn input_required(json: &str) -> Result<Option<InputRequired>, Failure> {
    asked(&result(&repair_surrogates(json))?)
}

fn result(json: &str) -> Result<Fields<'_>, Failure> {
    Fields::read(RESULT_KEYS, json).ok_or_else(|| malformed("the result is not an object".into()))
}

fn asked(fields: &Fields<'_>) -> Result<Option<InputRequired>, Failure> {
    let Some(result_type) = fields.get("resultType") else {
        return Ok(None);
    };
    match result_type.string().as_deref() {
        Some("complete") => return Ok(None),
        Some("input_required") => {}
        _ => return Err(bad("resultType", "is neither complete nor input_required")),
    }
    let state = fields.get("requestState").map(|state| {
        let state = state.string().map(Box::from);
        state.ok_or_else(|| bad("requestState", "is not a string"))
    });
    let mut asks_for_input = false;
    if let Some(requests) = fields.get("inputRequests") {
        requests
            .each_member(|_, _| asks_for_input = true)
            .ok_or_else(|| bad("inputRequests", "is not an object"))?;
    }
    let asked = InputRequired {
        request_state: state.transpose()?,
        asks_for_input,
    };
    if asked.request_state.is_none() && !asks_for_input {
        return Err(bad("requestState", "is missing"));
    }
    Ok(Some(asked))
}

fn contents(fields: &Fields<'_>) -> Result<Vec<Content>, Failure> {
    let value = fields
        .get("contents")
        .ok_or_else(|| bad("contents", "is missing"))?;
    let mut read = Ok(Vec::new());
    let mut number = 0;
    let array = value.each_element(|value| {
        number += 1;
        let Ok(list) = &mut read else { return };
        if number > MAX_ITEMS {
            let message = "the result has more than 10,000 contents";
            read = Err(Failure::new(FailureKind::ItemLimit, message));
            return;
        }
        match content(value) {
            Ok(content) => list.push(content),
            Err(reason) => read = Err(malformed(format!("item {number}: {reason}"))),
        }
    });
    array.ok_or_else(|| bad("contents", "is not an array"))?;
    read
}

/// Reads one of the contents; the error says what is wrong with it.
pub(super) fn content(value: Value<'_>) -> Result<Content, String> {
    let fields = Fields::read(CONTENT_KEYS, value.0).ok_or("it is not an object")?;
    let text = |key| match fields.get(key).map(Value::string) {
        None => Ok(None),
        Some(Some(text)) => Ok(Some(Box::from(text))),
        Some(None) => Err(Defect::new(key, "is not a string").to_string()),
    };
    let uri = text("uri")?.ok_or_else(|| Defect::missing("uri").to_string())?;
    let mime_type = text("mimeType")?;
    let body = match text("text")? {
        Some(text) => Body::Text(text),
        None => Body::Blob(text("blob")?.ok_or("it has neither text nor blob")?),
    };
    Ok(Content {
        uri,
        mime_type,
        body,
    })
}

fn bad(field: &'static str, problem: &'static str) -> Failure {
    malformed(Defect::new(field, problem).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str) -> String {
        match read(json) {
            Ok(Reading::Contents(contents)) => serde_json::to_string(&contents).unwrap_or_default(),
            Ok(Reading::InputRequired(asked)) => {
                format!("{:?} {}", asked.request_state, asked.asks_for_input)
            }
            Err(failure) => failure.message.to_string(),
        }
    }

    fn check(json: &str, expected: &str) {
        assert_eq!(told(json), expected, "{json}");
    }

    #[test]
    fn contents_are_read_exactly() {
        check(r#"{"contents":[]}"#, "[]");
        check(
            r#"{"contents":[{"text":"a\u200b\u001b[1mﬁ\r\n","mimeType":"text/x\u200b","uri":"u","_meta":{}}],"resultType":"complete"}"#,
            "[{\"uri\":\"u\",\"mimeType\":\"text/x\u{200b}\",\"text\":\"a\u{200b}\\u001b[1mﬁ\\r\\n\"}]",
        );
        check(
            r#"{"contents":[{"uri":"u","blob":"AA==","text":null},{"uri":"v","text":""}]}"#,
            r#"[{"uri":"u","blob":"AA=="},{"uri":"v","text":""}]"#,
        );
        check(
            r#"{"contents":[{"uri":"u","text":"\ud800"}]}"#,
            "[{\"uri\":\"u\",\"text\":\"\u{fffd}\"}]",
        );
    }

    #[test]
    fn what_is_malformed_is_named() {
        check("[]", "the result is not an object");
        check("{}", "contents is missing");
        check(r#"{"contents":{}}"#, "contents is not an array");
        check(r#"{"contents":[7]}"#, "item 1: it is not an object");
        check(
            r#"{"contents":[{"uri":"u","text":""},{"text":""}]}"#,
            "item 2: uri is missing",
        );
        check(r#"{"contents":[{"uri":7}]}"#, "item 1: uri is not a string");
        check(
            r#"{"contents":[{"uri":"u"}]}"#,
            "item 1: it has neither text nor blob",
        );
        check(
            r#"{"contents":[{"uri":"u","text":7}]}"#,
            "item 1: text is not a string",
        );
        check(
            r#"{"contents":[{"uri":"u","blob":7}]}"#,
            "item 1: blob is not a string",
        );
        check(
            r#"{"contents":[{"uri":"u","text":"","mimeType":7}]}"#,
            "item 1: mimeType is not a string",
        );
        check(
            r#"{"resultType":"task"}"#,
            "resultType is neither complete nor input_required",
        );
        check(
            r#"{"resultType":7}"#,
            "resultType is neither complete nor input_required",
        );
        let many = vec![r#"{"uri":"","text":""}"#; MAX_ITEMS + 1].join(",");
        check(
            &format!(r#"{{"contents":[{many}]}}"#),
            "the result has more than 10,000 contents",
        );
    }

    #[test]
    fn a_wish_for_input_is_told_from_an_answer() {
        let check = |rest: &str, expected: &str| {
            check(
                &format!(r#"{{"resultType":"input_required",{rest}}}"#),
                expected,
            );
        };
        check(r#""requestState":"s\n""#, r#"Some("s\n") false"#);
        check(
            r#""requestState":"s","inputRequests":{}"#,
            r#"Some("s") false"#,
        );
        check(
            r#""requestState":"s","inputRequests":{"a":{}}"#,
            r#"Some("s") true"#,
        );
        check(r#""inputRequests":{"a":{}}"#, "None true");
        check(r#""requestState":7"#, "requestState is not a string");
        check(r#""inputRequests":[]"#, "inputRequests is not an object");
        check(r#""inputRequests":{}"#, "requestState is missing");
        assert_eq!(input_required(r#"{"messages":[]}"#), Ok(None));
    }
}
