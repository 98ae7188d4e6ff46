//! The resources and resource templates of the demo server, and what a read of them gives.
//!
//! Everything is a pure function of the address and of the step of the harbour. Each step changes
//! exactly one resource: the ferry arrives, the tide rises, the ferry leaves, the tide falls.

use rmcp::model::{Annotations, Resource, ResourceContents, ResourceTemplate, Role};

const FERRY: &str = "demo://harbour/ferry";
const TIDE: &str = "demo://harbour/tide";

const GREETINGS: &str = "demo://greetings/{language}/{name}";
const SQUARES: &str = "demo://squares{?from,to}";
const WORDS: &str = "demo://words/{+word}";

/// How many squares one read gives at most.
const MOST_SQUARES: u64 = 100;

struct Page {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    mime_type: &'static str,
    body: Body,
}

enum Body {
    Text(&'static str),
    /// In base64, as it goes over the wire.
    Picture(&'static str),
}

const PAGES: [Page; 6] = [
    Page {
        uri: "demo://welcome",
        name: "welcome",
        title: "Welcome aboard",
        description: "Start here: a short tour of mcpdeck",
        mime_type: "text/markdown",
        body: Body::Text(include_str!("../../assets/demo/welcome.md")),
    },
    Page {
        uri: "demo://guide/tabs",
        name: "tabs",
        title: "What the tabs show",
        description: "Resources, Templates, Tools, Prompts, Errors, Events, Stderr and Trace in one table",
        mime_type: "text/markdown",
        body: Body::Text(include_str!("../../assets/demo/tabs.md")),
    },
    Page {
        uri: "demo://guide/marks",
        name: "marks",
        title: "What + and ~ mean",
        description: "How mcpdeck shows that a list has changed",
        mime_type: "text/plain",
        body: Body::Text(include_str!("../../assets/demo/marks.txt")),
    },
    Page {
        uri: "demo://guide/config",
        name: "config",
        title: "Your own servers",
        description: "A config file to copy and change",
        mime_type: "application/toml",
        body: Body::Text(include_str!("../../assets/demo/config.toml")),
    },
    Page {
        uri: "demo://data/planets",
        name: "planets",
        title: "Four planets",
        description: "Some JSON, which mcpdeck lays out for reading",
        mime_type: "application/json",
        body: Body::Text(include_str!("../../assets/demo/planets.json")),
    },
    Page {
        uri: "demo://pictures/boat",
        name: "boat",
        title: "A boat",
        description: "A small picture, to see what happens with binary data",
        mime_type: "image/png",
        body: Body::Picture(BOAT),
    },
];

/// A palette PNG of 48 by 32 pixels.
const BOAT: &str = "iVBORw0KGgoAAAANSUhEUgAAADAAAAAgAgMAAAApuhOPAAAADFBMVEUbJjtBWnfg4d3ulksgPohXAAAAdUlEQVR4\
    2mNgIBs0EMdZgMxZgcxZhcRmWoWkiWsVkiatVUiaVq1ahaRlFUITF5CzAKFlFULTqlUITUxgTgOmQ/n///+/////D2AO838wOACRgnCg6uxB7\
    D8gVmhoaDyI8xXIAHHgAJXDGBoKR2jKAkThCLcBAEBrUoCDwz5sAAAAAElFTkSuQmCC";

const HELLO: [(&str, &str); 6] = [
    ("english", "Hello"),
    ("deutsch", "Hallo"),
    ("español", "Hola"),
    ("français", "Bonjour"),
    ("italiano", "Ciao"),
    ("日本語", "こんにちは"),
];

const MEANINGS: [(&str, &str); 8] = [
    (
        "mcp/client",
        "The side that connects to a server. mcpdeck keeps one client for each server.",
    ),
    (
        "mcp/prompt",
        "A ready-made message with arguments that a server offers to start a conversation with.",
    ),
    (
        "mcp/resource",
        "A document or a piece of data with an address, which a server lets you read.",
    ),
    (
        "mcp/server",
        "A program that offers resources, templates, tools and prompts to those who connect.",
    ),
    (
        "mcp/template",
        "An address with blanks. Fill them in, and you have the address of a resource.",
    ),
    (
        "mcp/tool",
        "Something that a model may do through a server, with arguments that a schema describes.",
    ),
    (
        "mcpdeck/generation",
        "A number that grows whenever mcpdeck shows a new set of lists of a server.",
    ),
    (
        "mcpdeck/list-changed",
        "What a server says when one of its lists is different from before. mcpdeck fetches the \
         list again and marks what changed.",
    ),
];

/// All resources at this step.
pub(super) fn resources(step: u64) -> Vec<Resource> {
    let mut resources: Vec<Resource> = PAGES.iter().map(resource).collect();
    if let Some(first) = resources.first_mut() {
        first.annotations = Some(
            Annotations::default()
                .with_audience(vec![Role::User])
                .with_priority(1.0),
        );
    }
    resources.push(
        Resource::new(TIDE, "tide")
            .with_title("The tide")
            .with_description(format!("It is {} now", tide(step)))
            .with_mime_type("text/plain"),
    );
    if ferry_is_in(step) {
        resources.push(
            Resource::new(FERRY, "ferry")
                .with_title("The ferry")
                .with_description("Here for a moment, then gone again")
                .with_mime_type("text/plain"),
        );
    }
    resources
}

/// All resource templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(GREETINGS, "greetings")
            .with_title("A greeting")
            .with_description("Says hello to somebody, in a language that you choose")
            .with_mime_type("text/plain"),
        ResourceTemplate::new(WORDS, "words")
            .with_title("A word explained")
            .with_description("What a word of MCP or mcpdeck means, such as mcp/resource")
            .with_mime_type("text/plain"),
        ResourceTemplate::new(SQUARES, "squares")
            .with_title("Square numbers")
            .with_description("The squares of the numbers from one to another, as JSON")
            .with_mime_type("application/json"),
    ]
}

/// What is at `uri`, or a sentence that says why there is nothing.
pub(super) fn read(uri: &str, step: u64) -> Result<ResourceContents, String> {
    if let Some(page) = PAGES.iter().find(|page| page.uri == uri) {
        return Ok(match page.body {
            Body::Text(text) => ResourceContents::text(text, uri),
            Body::Picture(base64) => ResourceContents::blob(base64, uri),
        }
        .with_mime_type(page.mime_type));
    }
    match uri {
        TIDE => Ok(ResourceContents::text(
            format!("It is {} now. It changes every few seconds.\n", tide(step)),
            uri,
        )),
        FERRY if ferry_is_in(step) => Ok(ResourceContents::text(
            "All aboard! The ferry leaves in a few seconds.\n",
            uri,
        )),
        FERRY => Err("the ferry has left; it comes back in a few seconds".to_owned()),
        _ => expanded(uri),
    }
}

/// The words that have an explanation.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    MEANINGS.iter().map(|(word, _)| *word)
}

/// What a word means.
pub(super) fn word(word: &str) -> Option<&'static str> {
    lookup(&MEANINGS, word)
}

/// Values to offer for a variable of a template; none where anything goes.
pub(super) fn values(template: &str, variable: &str) -> Vec<&'static str> {
    match (template, variable) {
        (GREETINGS, "language") => HELLO.iter().map(|(language, _)| *language).collect(),
        (GREETINGS, "name") => vec!["Ada", "Alan", "Grace", "Katherine", "Margaret"],
        (WORDS, "word") => words().collect(),
        (SQUARES, "from") => vec!["1", "5", "10"],
        (SQUARES, "to") => vec!["10", "20", "50", "100"],
        _ => Vec::new(),
    }
}

fn resource(page: &Page) -> Resource {
    let size = match page.body {
        Body::Text(text) => text.len(),
        Body::Picture(base64) => base64.trim_end_matches('=').len() * 3 / 4,
    };
    Resource::new(page.uri, page.name)
        .with_title(page.title)
        .with_description(page.description)
        .with_mime_type(page.mime_type)
        .with_size(size as u64)
}

fn ferry_is_in(step: u64) -> bool {
    matches!(step % 4, 1 | 2)
}

fn tide(step: u64) -> &'static str {
    if matches!(step % 4, 2 | 3) {
        "high water"
    } else {
        "low water"
    }
}

/// The resource behind an address that was made from one of the templates.
fn expanded(uri: &str) -> Result<ResourceContents, String> {
    if let Some(path) = uri.strip_prefix("demo://greetings/") {
        return Ok(ResourceContents::text(greeting(path)?, uri));
    }
    if let Some(path) = uri.strip_prefix("demo://words/") {
        let asked = decode(path)?;
        let meaning = word(&asked).ok_or_else(|| format!("nothing is known about \"{asked}\""))?;
        return Ok(ResourceContents::text(format!("{meaning}\n"), uri));
    }
    if let Some(query) = uri.strip_prefix("demo://squares") {
        let text = squares(query)?;
        return Ok(ResourceContents::text(text, uri).with_mime_type("application/json"));
    }
    Err("there is nothing at this address".to_owned())
}

fn greeting(path: &str) -> Result<String, String> {
    let (language, name) = path
        .split_once('/')
        .ok_or("a greeting needs a language and a name")?;
    let (language, name) = (decode(language)?, decode(name)?);
    if name.is_empty() {
        return Err("a greeting needs a name".to_owned());
    }
    let hello = lookup(&HELLO, &language)
        .ok_or_else(|| format!("no greeting is known in \"{language}\""))?;
    Ok(format!("{hello}, {name}!\n"))
}

fn squares(query: &str) -> Result<String, String> {
    let (mut from, mut to) = (1_u64, 10_u64);
    let pairs = match query.strip_prefix('?') {
        Some(pairs) => pairs.split('&'),
        None if query.is_empty() => "".split('&'),
        None => return Err("there is nothing at this address".to_owned()),
    };
    for pair in pairs.filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let number = decode(value)?
            .parse::<u32>()
            .map_err(|_| format!("\"{name}\" is not a number"))?;
        match name {
            "from" => from = number.into(),
            "to" => to = number.into(),
            _ => return Err(format!("\"{name}\" is not known; there are from and to")),
        }
    }
    if to < from || to - from >= MOST_SQUARES {
        return Err(format!("choose between 1 and {MOST_SQUARES} numbers"));
    }
    let squares: Vec<_> = (from..=to)
        .map(|number| serde_json::json!({ "number": number, "square": number * number }))
        .collect();
    Ok(serde_json::json!({ "squares": squares }).to_string())
}

fn lookup(table: &[(&'static str, &'static str)], key: &str) -> Option<&'static str> {
    table
        .iter()
        .find_map(|(known, value)| (*known == key).then_some(*value))
}

/// Undoes percent-encoding (RFC 3986, section 2.1).
fn decode(text: &str) -> Result<String, String> {
    let malformed = || format!("\"{text}\" is not well encoded");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let [high, low, tail @ ..] = tail else {
                return Err(malformed());
            };
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                return Err(malformed());
            };
            bytes.push(u8::try_from(high * 16 + low).map_err(|_| malformed())?);
            rest = tail;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is the text, or the part of the reason after `!`.
    #[track_caller]
    fn check(uri: &str, expected: &str) {
        let found = match read(uri, 0) {
            Ok(ResourceContents::TextResourceContents { text, .. }) => text,
            Ok(_) => "a blob".to_owned(),
            Err(reason) => format!("!{reason}"),
        };
        assert_eq!(found, expected, "{uri}");
    }

    #[test]
    fn templates_expand_to_what_they_promise() {
        check("demo://greetings/english/Ada", "Hello, Ada!\n");
        check(
            "demo://greetings/fran%C3%A7ais/Ada%20L",
            "Bonjour, Ada L!\n",
        );
        check(
            "demo://greetings/english",
            "!a greeting needs a language and a name",
        );
        check("demo://greetings/english/", "!a greeting needs a name");
        check(
            "demo://greetings/latin/Ada",
            "!no greeting is known in \"latin\"",
        );
        check("demo://greetings/english/%4", "!\"%4\" is not well encoded");
        check(
            "demo://greetings/english/%FF",
            "!\"%FF\" is not well encoded",
        );
        check(
            "demo://squares?from=2&to=3",
            r#"{"squares":[{"number":2,"square":4},{"number":3,"square":9}]}"#,
        );
        check(
            "demo://squares?to=1",
            r#"{"squares":[{"number":1,"square":1}]}"#,
        );
        check(
            "demo://squares?from=9&to=3",
            "!choose between 1 and 100 numbers",
        );
        check(
            "demo://squares?from=1&to=101",
            "!choose between 1 and 100 numbers",
        );
        check("demo://squares?from=x", "!\"from\" is not a number");
        check(
            "demo://squares?by=2",
            "!\"by\" is not known; there are from and to",
        );
        check("demo://squaresque", "!there is nothing at this address");
        check(
            "demo://words/nonsense",
            "!nothing is known about \"nonsense\"",
        );
        check("demo://nowhere", "!there is nothing at this address");
    }

    #[test]
    fn every_word_can_be_read() {
        for (word, meaning) in MEANINGS {
            check(&format!("demo://words/{word}"), &format!("{meaning}\n"));
        }
    }

    #[test]
    fn every_listed_resource_can_be_read_with_its_type_and_size() -> Result<(), String> {
        for step in 0..4 {
            for listed in resources(step) {
                let contents = serde_json::json!(read(&listed.uri, step)?);
                assert_eq!(contents["mimeType"], serde_json::json!(listed.mime_type));
                let size = match contents["text"].as_str() {
                    Some(text) => text.len() as u64,
                    None => 198,
                };
                assert!(listed.size.is_none_or(|promised| promised == size));
            }
        }
        assert!(BOAT.starts_with("iVBORw0KGgo"), "the signature of a PNG");
        Ok(())
    }

    #[test]
    fn each_step_changes_exactly_one_resource() {
        for step in 0..8 {
            let (old, new) = (resources(step), resources(step + 1));
            let gone = old.iter().filter(|item| !new.contains(item)).count();
            let come = new.iter().filter(|item| !old.contains(item)).count();
            assert!(gone.max(come) == 1, "step {step}: -{gone} +{come}");
        }
    }

    #[test]
    fn a_read_of_the_ferry_fails_while_it_is_away() {
        check(FERRY, "!the ferry has left; it comes back in a few seconds");
        assert!(read(FERRY, 1).is_ok());
    }
}
