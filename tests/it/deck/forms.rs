//! What a person does with a template or a prompt that has something to fill in.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Home, Terminal};
use crate::support::fake::{Action, Reply, Rule, Script};
use crate::support::handle::FakeHandle;
use crate::support::launch::Control;
use crate::support::program::table;

const COMPLETE: &str = "completion/complete";
const DEADLINE: Duration = Duration::from_secs(10);
const DOWN: &str = "\x1b[B";
const ESC: &str = "\x1b";
/// The frame of the form, which nothing below it has.
const FORM: &str = "╭ notes  a note ";

/// A server with a template and two prompts that suggests values, or does not.
fn script(capabilities: &Value) -> Script {
    let prompts = json!([
        {"name": "greet", "description": "Says hello", "arguments": [
            {"name": "who", "description": "Whom to greet", "required": true},
            {"name": "tone", "description": "How it sounds"},
        ]},
        {"name": "bare"},
    ]);
    serde_json::from_value(json!({
        "capabilities": capabilities,
        "listings": {
            "resources/list": {"pages": [{"items": []}]},
            "resources/templates/list": {"pages": [{"items": [{
                "uriTemplate": "note:///{folder}/{name}{?lang}",
                "name": "a note",
                "description": "One of your notes",
            }]}]},
            "prompts/list": {"pages": [{"items": prompts}]},
        },
        "rules": [
            {"method": "resources/read", "params": {"uri": "note:///a%20b/x?lang=de"},
                "reply": {"result": {"contents": [
                    {"uri": "note:///a%20b/x", "text": "the note itself"}]}}},
        ],
    }))
    .unwrap()
}

fn completing() -> Script {
    script(&json!({"resources": {}, "prompts": {}, "completions": {}}))
}

/// A deck over one server, the list of the tab open, and the hand on the server.
async fn opened(script: &Script, tab: &str) -> (Home, Control, Terminal, FakeHandle) {
    let home = Home::new();
    let mut control = Control::listen().await;
    let line = control.command(script);
    let mut words = vec![line.program.display().to_string()];
    words.extend(line.arguments);
    home.configure(&[&table("notes", &words)]);
    let mut deck = Terminal::deck(&home, &[]);
    let server = control.accept().await;
    deck.shows(&["0r 1t -T 2p"]);
    deck.press("\r");
    deck.press(tab);
    (home, control, deck, server)
}

fn end(home: &Home, deck: &mut Terminal) {
    deck.press("\x03");
    assert_eq!(deck.code(), 0);
    deck.assert_sane();
    home.assert_nothing_left();
}

/// The parameters of the nth request of the method.
async fn params(server: &FakeHandle, method: &str, nth: usize) -> Value {
    let asked = server.wait_for(method, nth, DEADLINE).await;
    let mut params = asked.params.unwrap_or_default();
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    params
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_filled_in_and_read() {
    let plain = script(&json!({"resources": {}, "prompts": {}}));
    let (home, _control, mut deck, server) = opened(&plain, "2").await;
    deck.shows(&["a note"]);
    deck.press("\r");
    deck.shows(&[FORM, "One of your notes", "note:///{folder}/{name} "]);
    deck.line_with(&["▌ folder", "required"]);
    deck.line_with(&["lang", "optional"]);
    deck.press("a b\r");
    deck.shows(&["name is required"]);
    deck.line_with(&["▌ name"]);
    deck.shows(&["note:///a%20b/{name}"]);
    deck.press("x\t");
    // Pasted text goes into the field like typed text.
    deck.press("\x1b[200~de\x1b[201~");
    deck.shows(&["note:///a%20b/x?lang=de"]);
    deck.press("\r");
    deck.shows(&["the note itself"]);
    let read = params(&server, "resources/read", 1).await;
    assert_eq!(read, json!({"uri": "note:///a%20b/x?lang=de"}));
    // Back in the form with its texts. What the server refuses is told, and asked for again.
    deck.press(ESC);
    deck.line_with(&["▌ lang", "de"]);
    let gone = Reply::error(-32002, "no such note");
    server
        .send(Action::rule(Rule::on("resources/read", gone)))
        .await;
    deck.press("\x7f\x7f\r");
    deck.shows(&["notes did not give the resource", "-32002 no such note"]);
    deck.press(ESC);
    deck.line_with(&["name", "x"]);
    deck.press(ESC);
    deck.hides(FORM);
    // The same form has the last values.
    deck.press("\r");
    deck.line_with(&["folder", "a b"]);
    deck.shows(&["note:///a%20b/x "]);
    assert_eq!(server.count(COMPLETE).await, 0);
    end(&home, &mut deck);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_suggested_and_taken() {
    let (home, _control, mut deck, server) = opened(&completing(), "2").await;
    deck.press("\r");
    deck.shows(&["-a", "-b"]);
    let asked = params(&server, COMPLETE, 1).await;
    let reference = json!({"type": "ref/resource", "uri": "note:///{folder}/{name}{?lang}"});
    assert_eq!(
        asked,
        json!({"ref": reference, "argument": {"name": "folder", "value": ""}})
    );
    deck.press("x");
    deck.shows(&["x-a", "x-b"]);
    deck.press(DOWN);
    deck.press(DOWN);
    deck.shows(&["›x-b", "2 of 2", "Enter take it"]);
    deck.press("\r");
    deck.hides("x-a");
    deck.line_with(&["▌ folder", "x-b"]);
    deck.press("\t");
    deck.shows(&["-a", "-b"]);
    let asked = server.count(COMPLETE).await;
    let last = params(&server, COMPLETE, asked).await;
    assert_eq!(
        last,
        json!({
            "ref": reference,
            "argument": {"name": "name", "value": ""},
            "context": {"arguments": {"folder": "x-b"}},
        })
    );
    // Esc closes the list, and only then the form.
    deck.press(ESC);
    deck.hides("close the list");
    deck.line_with(&["▌ name"]);
    deck.press(ESC);
    deck.hides(FORM);
    end(&home, &mut deck);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_for_another_text_is_dropped() {
    let (home, _control, mut deck, server) = opened(&completing(), "2").await;
    let typed = |text: &str| json!({"argument": {"value": text}});
    // It answers the first question when told to, and even though we gave it up.
    let held = Reply::hold().ignoring_cancel();
    server
        .send(Action::rule(Rule::on(COMPLETE, held).params(typed("x"))))
        .await;
    deck.press("\r");
    deck.shows(&["-a", "-b"]);
    deck.press("x");
    server.wait_for(COMPLETE, 2, DEADLINE).await;
    deck.press("y");
    deck.shows(&["xy-a", "xy-b"]);
    // The question that was given up was taken back.
    server
        .wait_for("notifications/cancelled", 1, DEADLINE)
        .await;
    server.send(Action::release(COMPLETE)).await;
    // One more question and answer, which come after the late answer.
    deck.press("z");
    deck.shows(&["xyz-a", "xyz-b"]);
    deck.hides("x-a");
    deck.line_with(&["▌ folder", "xyz"]);
    assert!(!String::from_utf8_lossy(&deck.bytes()).contains("x-a"));
    // An error is a quiet line, and the form goes on.
    let broken = Reply::error(-32603, "the index is torn");
    server.send(Action::rule(Rule::on(COMPLETE, broken))).await;
    deck.press("!");
    deck.shows(&["no suggestions: -32603 the index is torn", "xyz!"]);
    deck.press("\x15");
    deck.press("a b\tx\r");
    deck.shows(&["content of note:///a%20b/x"]);
    end(&home, &mut deck);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_filled_in_and_shown() {
    let (home, _control, mut deck, server) = opened(&completing(), "4").await;
    let picture = json!({"type": "image", "mimeType": "image/x-none", "data": "AAEC"});
    let inside = json!({"type": "resource", "resource": {"uri": "note:///one", "text": "inside"}});
    let messages = json!([
        {"role": "user", "content": {"type": "text", "text": "Hello,\nAda!"}},
        {"role": "assistant", "content": picture},
        {"role": "user", "content": inside},
    ]);
    let reply = Reply::result(json!({"description": "A greeting", "messages": messages}));
    let greet = Rule::on("prompts/get", reply).params(json!({"name": "greet"}));
    server.send(Action::rule(greet)).await;
    deck.shows(&["greet", "bare"]);
    deck.press("\r");
    deck.shows(&["Says hello", "Whom to greet", "-a", "-b"]);
    let asked = params(&server, COMPLETE, 1).await;
    assert_eq!(asked["ref"], json!({"type": "ref/prompt", "name": "greet"}));
    deck.press("\r");
    deck.shows(&["who is required"]);
    deck.press("Ada");
    deck.shows(&["Ada-a"]);
    deck.press("\r");
    deck.shows(&[
        "A greeting",
        "Hello,",
        "Ada!",
        "assistant",
        "note:///one",
        "inside",
    ]);
    deck.shows(&["part 1 of 3", "image/x-none"]);
    let got = params(&server, "prompts/get", 1).await;
    assert_eq!(got, json!({"name": "greet", "arguments": {"who": "Ada"}}));
    deck.press("]");
    deck.shows(&["part 2 of 3", "00 01 02"]);
    deck.press(ESC);
    deck.line_with(&["▌ who", "Ada"]);
    deck.press(ESC);
    deck.hides("╭ notes  greet ");
    // Without arguments there is nothing to fill in.
    deck.press("j\r");
    deck.shows(&["prompt bare with {}"]);
    deck.press(ESC);
    deck.hides("prompt bare with");
    deck.line_with(&["▌", "bare"]);
    end(&home, &mut deck);
}
