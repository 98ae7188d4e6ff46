//! The messages of a prompt as a document: what is said as one text, and what is embedded each as
//! a part of its own.

use super::super::aside::Wanted;
use super::line::Ink;
use super::rich::Rich;
use super::{Document, Part, Raw, View};
use crate::domain::item::Audience;
use crate::domain::text as clean;
use crate::mcp::decode::contents::{Body, Content};
use crate::mcp::decode::prompt::{PromptContent, PromptText};

/// What stands before each line of a message.
const INDENT: &str = "  ";

impl Document {
    /// The document of a prompt. This takes time for long ones, and stops halfway where it is not
    /// wanted any more.
    #[must_use]
    pub fn messages(name: &str, prompt: PromptText, wanted: &Wanted) -> Self {
        let mut page = Page::default();
        if let Some(description) = &prompt.description {
            page.text("", description, Ink::Dim);
        }
        if prompt.messages.is_empty() {
            page.rich.gap();
            page.text("", "The prompt has no messages.", Ink::Dim);
        }
        let messages = prompt.messages.into_iter().enumerate();
        for (index, message) in messages.take_while(|_| wanted.holds()) {
            let who = match message.role {
                Audience::User => "user",
                Audience::Assistant => "assistant",
            };
            page.rich.heading(who);
            page.raw.push(format!("{who}:"));
            match message.content {
                PromptContent::Text(text) => page.say(&text),
                PromptContent::Embedded(content) => page.embed(index + 1, content, wanted),
                PromptContent::Other { kind, detail } => {
                    let words = [&*kind, detail.as_deref().unwrap_or_default()].join(" ");
                    page.text(INDENT, &words, Ink::Link);
                    page.raw.push(words);
                }
            }
        }
        page.finish(name)
    }
}

/// What is being laid out.
#[derive(Debug, Default)]
struct Page {
    rich: Rich,
    raw: Vec<String>,
    removed: usize,
    embedded: Vec<Part>,
}

impl Page {
    /// Adds a text of the server.
    fn text(&mut self, lead: &str, text: &str, ink: Ink) {
        let clean = clean::contents(text);
        self.removed += clean.removed;
        self.rich.text(lead, lead, &clean.text, ink);
    }

    fn say(&mut self, text: &str) {
        self.text(INDENT, text, Ink::Plain);
        self.raw.push(text.to_owned());
    }

    /// Names what is embedded, and shows it where it is a text.
    fn embed(&mut self, number: usize, content: Content, wanted: &Wanted) {
        let said = match &content.body {
            Body::Text(text) => Some(text.clone()),
            Body::Blob(_) => None,
        };
        let has_uri = !content.uri.is_empty();
        let mut part = Part::of(content, wanted);
        // The conversation itself is the first part.
        let place = self.embedded.len() + 2;
        let mut words = vec![format!("[part {place}]")];
        if has_uri {
            words.push(clean::visible(&part.name).into_owned());
        } else {
            part.name = format!("message-{number}.{}", part.ending()).into();
        }
        words.extend(part.facts());
        let words = words.join("  ");
        self.text(INDENT, &words, Ink::Link);
        self.raw.push(words);
        if let Some(text) = said {
            self.say(&text);
        }
        self.embedded.push(part);
    }

    fn finish(self, name: &str) -> Document {
        // Of one text alone nobody wants to know who says it.
        let raw = match &*self.raw {
            [_, only] => only.clone(),
            several => several.join("\n\n"),
        };
        let conversation = Part {
            name: name.into(),
            kind: "".into(),
            view: View::Rich(self.rich),
            raw: Raw::Text(raw.into()),
            removed: self.removed,
        };
        let mut parts = vec![conversation];
        parts.extend(self.embedded);
        Document { parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::decode::prompt::PromptMessage;

    fn message(role: Audience, content: PromptContent) -> PromptMessage {
        PromptMessage { role, content }
    }

    fn lines(part: &Part) -> Vec<String> {
        let View::Rich(rich) = &part.view else {
            panic!("{:?}", part.view);
        };
        let lines = (0..rich.len()).map(|index| rich.line(index));
        lines
            .map(|line| format!("{}{}", line.lead, line.text))
            .collect()
    }

    #[test]
    fn messages_are_one_text_and_what_is_embedded_has_parts() {
        let content = |uri: &str, kind: &str, body| {
            PromptContent::Embedded(Content {
                uri: uri.into(),
                mime_type: Some(kind.into()),
                body,
            })
        };
        let blob = Body::Blob("AAEC".into());
        let inside = Body::Text("in\u{1b}[31mside".into());
        let link = PromptContent::Other {
            kind: "resource_link".into(),
            detail: Some("note:///b".into()),
        };
        let document = Document::messages(
            "greet",
            PromptText {
                description: Some("How to greet".into()),
                messages: vec![
                    message(Audience::User, PromptContent::Text("Say\nhello".into())),
                    message(Audience::Assistant, content("", "image/png", blob)),
                    message(Audience::User, content("note:///a", "text/plain", inside)),
                    message(Audience::User, link),
                ],
            },
            &Wanted::default(),
        );
        assert_eq!(
            lines(&document.parts[0]),
            [
                "How to greet",
                "",
                "user",
                "  Say",
                "  hello",
                "",
                "assistant",
                "  [part 2]  image/png  3 B",
                "",
                "user",
                "  [part 3]  note:///a  text/plain  11 B",
                "  inside",
                "",
                "user",
                "  resource_link note:///b",
            ]
        );
        let names: Vec<&str> = document.parts.iter().map(|part| &*part.name).collect();
        assert_eq!(names, ["greet", "message-2.bin", "note:///a"]);
        assert_eq!(document.parts[0].removed, 1);
        assert_eq!(document.parts[1].raw.bytes(), [0, 1, 2]);
        assert_eq!(document.parts[2].raw.bytes(), b"in\x1b[31mside");
        let saved = String::from_utf8_lossy(document.parts[0].raw.bytes()).into_owned();
        assert!(saved.starts_with("user:\n\nSay\nhello\n\nassistant:"));
    }

    #[test]
    fn of_one_text_the_text_is_saved() {
        let text = PromptContent::Text("Say hello\n".into());
        let prompt = PromptText {
            description: None,
            messages: vec![message(Audience::User, text)],
        };
        let document = Document::messages("greet", prompt, &Wanted::default());
        assert_eq!(lines(&document.parts[0]), ["user", "  Say hello"]);
        assert_eq!(document.parts[0].raw.bytes(), b"Say hello\n");
        let none = Document::messages("greet", PromptText::default(), &Wanted::default());
        assert_eq!(lines(&none.parts[0]), ["The prompt has no messages."]);
    }
}
