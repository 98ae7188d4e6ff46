//! 6, at the door: what a server wrote is safe in the snapshot, URIs and templates are exact.

use mcpdeck::domain::ListMethod;
use serde_json::json;

use crate::support::fake::{Page, Reply, Script};
use crate::support::rig::{discovered, listing};

/// A text that hides things, and what is left of it on one line.
const HOSTILE: [(&str, &str); 12] = [
    ("\u{1b}[31mred\u{1b}[0m", "red"),
    ("\u{9b}31mred", "red"),
    ("\u{1b}]0;title\u{7}a", "a"),
    ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
    ("\u{1b}P1$r0m\u{1b}\\a", "a"),
    ("a\u{202e}b\u{2066}c", "abc"),
    ("a\u{200b}\u{200d}\u{feff}\u{2060}b", "ab"),
    ("a\u{e0041}\u{e0042}b", "ab"),
    ("a\u{e000}\u{f0000}b", "ab"),
    ("a\r\u{8}\u{0}\u{7f}b", "ab"),
    ("ﬁ ① Ａ", "fi 1 A"),
    ("\u{1b}\u{200b}[31mred", "[31mred"),
];

#[tokio::test(start_paused = true)]
async fn names_and_their_kind_are_clean_and_uris_exact() {
    for (raw, clean) in HOSTILE {
        let description = format!("{raw}\n\t{raw}");
        let item = |key: &str| json!({key: raw, "name": raw, "title": raw, "description": description, "mimeType": raw});
        let script = Script::legacy()
            .resources(vec![Page::last(vec![item("uri")])])
            .templates(vec![Page::last(vec![item("uriTemplate")])]);
        let (server, _) = discovered(script).await;
        let kept = |key: &str| {
            let description = format!("{clean}\n\t{clean}");
            json!({key: raw, "name": clean, "title": clean, "description": description, "mimeType": clean})
        };
        let resource = serde_json::to_value(&server.catalog.resources.items[0]).unwrap();
        assert_eq!(resource, kept("uri"), "{raw:?}");
        let template = serde_json::to_value(&server.catalog.templates.items[0]).unwrap();
        assert_eq!(template, kept("uriTemplate"), "{raw:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn tools_and_prompts_are_clean_to_the_depth_of_their_schemas() {
    for (raw, clean) in HOSTILE {
        let schema = |text: &str| json!({"type": "object", "description": text, "properties": {text: {"enum": [text]}}});
        let tool =
            |text: &str| json!({"name": text, "description": text, "inputSchema": schema(text)});
        let prompt =
            |text: &str| json!({"name": text, "arguments": [{"name": text, "description": text}]});
        let script = Script::legacy()
            .on("tools/list", Reply::result(json!({"tools": [tool(raw)]})))
            .on(
                "prompts/list",
                Reply::result(json!({"prompts": [prompt(raw)]})),
            )
            .capabilities(json!({"tools": {}, "prompts": {}}));
        let (server, _) = discovered(script).await;
        let kept = serde_json::to_value(&server.catalog.tools.items[0]).unwrap();
        assert_eq!(kept, tool(clean), "{raw:?}");
        let kept = serde_json::to_value(&server.catalog.prompts.items[0]).unwrap();
        assert_eq!(kept, prompt(clean), "{raw:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn errors_notes_and_what_a_server_says_of_itself_are_clean() {
    for (raw, clean) in HOSTILE {
        let mut script = Script::legacy()
            .sample()
            .on("tools/list", Reply::error(-32000, raw))
            .on(
                "prompts/list",
                Reply::result(json!({"prompts": [{"name": raw, "title": 7}]})),
            );
        script.server_info = Some(json!({"name": raw, "version": raw, "title": raw}));
        script.instructions = Some(raw.into());
        let (server, _) = discovered(script).await;
        let shown = listing(&server, ListMethod::Tools);
        let error = format!("failed !rpc -32000: {clean}");
        assert_eq!(shown, error, "{raw:?}");
        let note = format!("page 1, item 1 ({clean}): title is not a string, left out");
        assert_eq!(*server.catalog.prompts.notes[0], note);
        let session = server.status.session().unwrap();
        let said = [
            Some(&session.server_name),
            Some(&session.server_version),
            session.server_title.as_ref(),
            session.instructions.as_ref(),
        ];
        assert_eq!(
            said.map(|said| said.map(ToString::to_string)),
            [(); 4].map(|()| Some(clean.to_owned()))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn texts_are_capped_after_they_are_cleaned() {
    let check = async |raw: String, kept: usize| {
        let item =
            json!({"uri": raw, "name": raw, "title": raw, "description": raw, "mimeType": raw});
        let script = Script::legacy().resources(vec![Page::last(vec![item])]);
        let (server, _) = discovered(script).await;
        let resource = &server.catalog.resources.items[0];
        assert_eq!(&*resource.uri, raw);
        for text in [
            Some(&resource.name),
            resource.title.as_ref(),
            resource.description.as_ref(),
            resource.mime_type.as_ref(),
        ] {
            assert_eq!(text.unwrap().chars().count(), kept);
        }
    };
    check("n".repeat(2_048), 2_048).await;
    check("n".repeat(2_049), 2_048).await;
    check("é".repeat(3_000), 2_048).await;
    check("n\u{200b}".repeat(2_048), 2_048).await;
    check("\u{1b}[31mn".repeat(2_047), 2_047).await;
    // A ligature is two letters, and a cut is one between characters.
    check("ﬁ".repeat(1_025), 2_048).await;
}
