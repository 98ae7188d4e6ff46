//! What a server sends: messages, results, pages, events.

use bytes::Bytes;
use futures::FutureExt;
use futures::stream;
use mcpdeck::domain::text::{Keep, MAX_CHARS, sanitize};
use mcpdeck::domain::{Prompt, Resource, ResourceTemplate, Tool};
use mcpdeck::mcp::decode::handshake::{DiscoverReading, InitializeReading};
use mcpdeck::mcp::decode::{Accumulator, Decode, completion, contents, page, prompt};
use mcpdeck::mcp::envelope::{Inbound, take_apart};
use mcpdeck::mcp::http::events::{Event, EventReader};
use mcpdeck::mcp::reply::Reply;
use mcpdeck::mcp::scan::IdScanner;
use serde_json::value::RawValue;

/// A line of a server: what is handed on as a result is JSON, and a reply survives its way.
pub fn envelope(data: &[u8]) {
    let _ = take_apart(data.to_vec(), |message| {
        if let Inbound::Answer(_, reply) = message {
            if let Reply::Result(json) = &reply {
                let parsed = serde_json::from_str::<&RawValue>(json);
                assert!(parsed.is_ok(), "a result that is no JSON: {json}");
            }
            assert_eq!(Reply::from_text(reply.clone().into_text()), reply);
        }
    });
    let (mut whole, mut parts) = (IdScanner::default(), IdScanner::default());
    whole.push(data);
    data.chunks(3).for_each(|chunk| parts.push(chunk));
    assert_eq!(whole.id(), parts.id());
}

/// Two pages of a listing, between which a NUL stands.
pub fn listing(data: &[u8]) {
    let Some((choice, text)) = super::choice_and_text(data) else {
        return;
    };
    match choice % 4 {
        0 => pages::<Resource>(text, 10_000_000),
        1 => pages::<ResourceTemplate>(text, 1_000_000),
        2 => pages::<Tool>(text, 10_000_000),
        _ => pages::<Prompt>(text, 10_000_000),
    }
}

/// What is kept is within the bounds, counted rightly and safe.
fn pages<T: Decode>(text: &str, most: usize) {
    let mut into = Accumulator::<T>::default();
    for (number, json) in (1..).zip(text.split('\0')) {
        if page(json, number, &mut into).is_err() {
            return;
        }
        assert!(into.items().len() <= 10_000 && into.bytes() <= most);
    }
    let kept = into.items().iter().map(serde_json::to_string);
    let kept: usize = kept.map(|json| json.unwrap().len()).sum();
    assert_eq!(into.bytes(), kept);
    for item in into.items() {
        assert_safe(item.label(), Keep::Line);
        item.about()
            .inspect(|about| assert_safe(about, Keep::Block));
        assert!(item.same(item));
    }
    let _ = into.finish();
}

/// A text went through the sanitizer.
fn assert_safe(text: &str, keep: Keep) {
    assert_eq!(sanitize(text, keep).as_deref(), Ok(text));
    assert!(text.chars().count() <= MAX_CHARS);
}

/// A result of any other request.
pub fn answers(data: &[u8]) {
    let Ok(json) = std::str::from_utf8(data) else {
        return;
    };
    let hello = InitializeReading::read(json).map(|reading| reading.server);
    let found = DiscoverReading::read(json).map(|reading| reading.server);
    for server in [hello, found].into_iter().flatten() {
        assert_safe(&server.name, Keep::Line);
        assert_safe(&server.version, Keep::Line);
        server.title.inspect(|title| assert_safe(title, Keep::Line));
    }
    let _ = contents::read(json);
    let _ = contents::input_required(json);
    let _ = prompt::read(json);
    let _ = completion::read(json);
}

/// A stream of events is the same however it is cut into pieces.
pub fn sse(data: &[u8]) {
    let Some((size, data)) = data.split_first() else {
        return;
    };
    let size = usize::from(*size).max(1);
    assert_eq!(events(data, size), events(data, data.len().max(1)));
}

fn events(data: &[u8], size: usize) -> Vec<Event> {
    let chunks = data.chunks(size).map(Bytes::copy_from_slice);
    let chunks = chunks.map(Ok::<_, std::convert::Infallible>);
    let mut reader = EventReader::new(stream::iter(chunks));
    let next = || match reader.next().now_or_never() {
        Some(Ok(event)) => event,
        None => panic!("a stream that is ready makes nobody wait"),
    };
    std::iter::from_fn(next).collect()
}
