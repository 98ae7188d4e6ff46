//! What keys do in a form.

mod screens;

use std::sync::Arc;

use super::Form;
use crate::domain::{AppState, Catalog, Prompt, ResourceTemplate, ServerSnapshot, text};
use crate::mcp::calls::ArgumentOf;
use crate::mcp::decode::completion::Completion;
use crate::mcp::decode::contents::{Body, Content};
use crate::tui::action::{Action, Edit, Effect};
use crate::tui::aside::Wanted;
use crate::tui::ask::{Answer, Argument, Ask, Source, Ticket};
use crate::tui::document::Document;
use crate::tui::fixture as make;
use crate::tui::harness::Deck;
use crate::tui::layer::Layer;

const USUAL: (u16, u16) = (110, 30);
const ROWS: &str = "db://{+table}{/row}{?limit,tags*}";

/// A server with these templates and prompts, completions or not.
fn server(
    name: &str,
    completes: bool,
    templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
) -> ServerSnapshot {
    let mut words = vec!["prompts", "resources"];
    words.extend(completes.then_some("completions"));
    let mut server = make::server(name, make::connected(&words));
    server.catalog = Arc::new(Catalog {
        resources: make::listed(Vec::new()),
        templates: make::listed(templates),
        tools: make::listed(Vec::new()),
        prompts: make::listed(prompts),
    });
    server
}

/// Two servers with the same template and prompts.
fn state() -> AppState {
    let templates = || {
        vec![
            ResourceTemplate {
                description: Some(
                    "The rows of a table, or one of them. Tables are those of the schema that \
                     the server was started with."
                        .into(),
                ),
                ..make::template(ROWS, "Rows of a table")
            },
            make::template("db://{broken", "Broken"),
            make::template("db://fixed", "Fixed"),
            make::template("db://one/{id}", "One"),
        ]
    };
    let prompts = || {
        let mut bare = make::prompt("bare");
        bare.arguments = None;
        vec![make::prompt("compose"), bare]
    };
    make::with_events(vec![
        server("db", true, templates(), prompts()),
        server("plain", false, templates(), prompts()),
    ])
}

/// A deck with the form of the first template open, and what it asked for.
fn opened() -> (Deck, Ticket) {
    let mut deck = Deck::new(USUAL, state());
    let (ticket, _) = asked(deck.press("2 tab enter"));
    (deck, ticket)
}

fn form(deck: &Deck) -> &Form {
    match deck.model.layers.top() {
        Some(Layer::Form(form)) => form,
        other => panic!("{other:?}"),
    }
}

fn texts(deck: &Deck) -> Vec<String> {
    let blanks = form(deck).blanks().iter();
    blanks.map(|blank| blank.field.text().to_owned()).collect()
}

fn notice(deck: &Deck) -> &str {
    deck.model.notice.as_ref().map_or("", |notice| &notice.text)
}

fn asked(effect: Option<Effect>) -> (Ticket, Ask) {
    match effect {
        Some(Effect::Ask(ticket, ask)) => (ticket, ask),
        other => panic!("{other:?}"),
    }
}

fn read(effect: Option<Effect>) -> Source {
    match asked(effect).1 {
        Ask::Read(_, source) => source,
        other => panic!("{other:?}"),
    }
}

fn uri(effect: Option<Effect>) -> String {
    match read(effect) {
        Source::Resource(uri) => uri,
        other @ Source::Prompt(..) => panic!("{other:?}"),
    }
}

fn suggest(deck: &mut Deck, ticket: Ticket, values: &[&str]) {
    let completion = Completion {
        values: values.iter().map(|value| (*value).into()).collect(),
        has_more: false,
    };
    deck.act(Action::Answered(ticket, Answer::Completed(Ok(completion))));
}

fn open_values(deck: &Deck) -> Vec<&str> {
    let values = form(deck).suggestions().values().iter();
    values.map(|value| &**value).collect()
}

/// The texts of the lines of the form's box.
fn shows(deck: &Deck, texts: &[&str]) {
    let screen = deck.text();
    for text in texts {
        assert!(screen.contains(text), "{text:?} is not on\n{screen}");
    }
}

#[test]
fn a_template_is_filled_in_and_read_like_a_resource() {
    let (mut deck, _) = opened();
    shows(&deck, &["Rows of a table", "db://{table}{row}"]);
    deck.press("m a i n / a tab 5 tab tab x , space y");
    shows(&deck, &["db://main/a/5?tags=x&tags=y"]);
    let effect = deck.press("enter");
    assert_eq!(uri(effect.clone()), "db://main/a/5?tags=x&tags=y");
    shows(&deck, &["reading", "db://main/a/5?tags=x&tags=y"]);
    let content = Content {
        uri: "db://main/a/5".into(),
        mime_type: None,
        body: Body::Text("the fifth row".into()),
    };
    let document = Arc::new(Document::of(vec![content], &Wanted::default()));
    let (ticket, _) = asked(effect);
    deck.act(Action::Answered(ticket, Answer::Read(Ok(document))));
    shows(&deck, &["the fifth row"]);
    // Back in the form with its texts; Enter reads again.
    deck.press("esc");
    assert_eq!(texts(&deck), ["main/a", "5", "", "x, y"]);
    assert_eq!(
        uri(deck.press("shift-tab shift-tab backspace 6 enter")),
        "db://main/a/6?tags=x&tags=y"
    );
    deck.press("esc esc");
    assert!(deck.model.layers.is_empty());
}

#[test]
fn enter_goes_to_what_is_missing_and_says_so() {
    let (mut deck, _) = opened();
    deck.press("down down 9");
    let (_, ask) = asked(deck.press("enter"));
    assert!(matches!(ask, Ask::Complete(..)), "{ask:?}");
    assert_eq!(
        (form(&deck).focus(), notice(&deck)),
        (0, "table is required")
    );
    deck.press("t enter");
    assert_eq!((form(&deck).focus(), notice(&deck)), (1, "row is required"));
    assert_eq!(uri(deck.press("1 enter")), "db://t/1?limit=9");
}

#[test]
fn everything_printable_is_text_and_the_usual_keys_edit_it() {
    let (mut deck, _) = opened();
    let check = |deck: &mut Deck, keys: &str, expected: &str| {
        deck.press(keys);
        assert_eq!(texts(deck)[0], expected, "{keys}");
    };
    check(&mut deck, "q ? / space j y 1", "q?/ jy1");
    check(&mut deck, "ctrl-w", "q?/ ");
    check(&mut deck, "ctrl-a x", "xq?/ ");
    check(&mut deck, "ctrl-e z left delete", "xq?/ ");
    check(&mut deck, "home right ctrl-u end", "q?/ ");
    deck.act(Action::Edit(Edit::Insert("two words".to_owned())));
    assert_eq!(texts(&deck)[0], "q?/ two words");
    assert_eq!(deck.press("ctrl-z"), Some(Effect::Suspend));
    assert_eq!(deck.press("ctrl-c"), Some(Effect::Quit));
}

#[test]
fn focus_goes_round_with_tab_and_ends_with_arrows() {
    let (mut deck, _) = opened();
    let check = |deck: &mut Deck, keys: &str, expected: usize| {
        deck.press(keys);
        assert_eq!(form(deck).focus(), expected, "{keys}");
    };
    check(&mut deck, "up", 0);
    check(&mut deck, "shift-tab", 3);
    check(&mut deck, "down", 3);
    check(&mut deck, "tab", 0);
    check(&mut deck, "down down up", 1);
}

#[test]
fn suggestions_are_asked_for_with_what_else_is_filled_in() {
    let (mut deck, _) = opened();
    deck.press("m tab");
    let (_, ask) = asked(deck.press("7"));
    let argument = Argument {
        of: ArgumentOf::Template(ROWS.to_owned()),
        name: "row".to_owned(),
        typed: "7".to_owned(),
        others: vec![("table".to_owned(), "m".to_owned())],
    };
    assert_eq!(ask, Ask::Complete(make::name("db"), argument));
    // A key that changes nothing asks nothing.
    for key in ["left", "home", "backspace", "end"] {
        assert_eq!(deck.press(key), None, "{key}");
    }
    // Nor does a server that has no completions.
    let mut plain = Deck::new(USUAL, state());
    assert_eq!(plain.press("down 2 tab enter"), None);
    assert_eq!(plain.press("x"), None);
    assert_eq!(plain.press("tab"), None);
}

#[test]
fn only_the_answer_for_the_text_as_it_is_counts() {
    let (mut deck, first) = opened();
    let (second, _) = asked(deck.press("m"));
    let (third, _) = asked(deck.press("a"));
    for stale in [first, second] {
        assert!(!deck.model.layers.await_answer(stale));
        suggest(&mut deck, stale, &["stale"]);
        assert_eq!(open_values(&deck), Vec::<&str>::new());
    }
    suggest(&mut deck, third, &["main", "map", "Mars"]);
    assert_eq!(open_values(&deck), ["main", "map", "Mars"]);
    // What still fits stays until the next answer.
    let (fourth, _) = asked(deck.press("r"));
    assert_eq!(open_values(&deck), ["Mars"]);
    suggest(&mut deck, third, &["stale"]);
    assert_eq!(open_values(&deck), ["Mars"]);
    suggest(&mut deck, fourth, &["mare", "Mars"]);
    assert_eq!(open_values(&deck), ["mare", "Mars"]);
    // What is chosen of them stays chosen.
    let (fourth, _) = asked(deck.press("backspace"));
    deck.press("down");
    suggest(&mut deck, fourth, &["main", "mare", "Mars"]);
    assert_eq!(form(&deck).suggestions().chosen(), Some("mare"));
    deck.press("up up");
    // Another field has nothing to do with them.
    let (fifth, _) = asked(deck.press("tab"));
    assert_eq!(open_values(&deck), Vec::<&str>::new());
    suggest(&mut deck, fourth, &["stale"]);
    assert_eq!(open_values(&deck), Vec::<&str>::new());
    // Nor has a form that is gone.
    deck.press("esc");
    suggest(&mut deck, fifth, &["stale"]);
    assert!(deck.model.layers.is_empty());
}

#[test]
fn a_suggestion_is_chosen_with_the_arrows_and_taken_with_enter_or_tab() {
    for key in ["enter", "tab"] {
        let (mut deck, ticket) = opened();
        suggest(&mut deck, ticket, &["users", "orders"]);
        shows(&deck, &["users", "orders", "Down choose"]);
        assert_eq!(deck.press("down down down"), None);
        assert_eq!(deck.press(key), None);
        assert_eq!(
            (texts(&deck)[0].as_str(), form(&deck).focus()),
            ("orders", 0)
        );
        assert_eq!(open_values(&deck), Vec::<&str>::new());
    }
    // Nothing chosen, nothing taken: what is typed counts.
    let (mut deck, ticket) = opened();
    suggest(&mut deck, ticket, &["users", "orders"]);
    deck.press("down up");
    let (ticket, _) = asked(deck.press("tab"));
    assert_eq!((texts(&deck)[0].as_str(), form(&deck).focus()), ("", 1));
    suggest(&mut deck, ticket, &["1"]);
    deck.press("up");
    assert_eq!(
        form(&deck).focus(),
        0,
        "up from the field, as none is chosen"
    );
    // One that is typed already is no suggestion.
    let (ticket, _) = asked(deck.press("x"));
    suggest(&mut deck, ticket, &["x"]);
    assert_eq!(open_values(&deck), Vec::<&str>::new());
}

#[test]
fn esc_closes_the_list_first_and_then_the_form() {
    let (mut deck, ticket) = opened();
    suggest(&mut deck, ticket, &["users"]);
    deck.press("down esc");
    assert_eq!(open_values(&deck), Vec::<&str>::new());
    assert_eq!(texts(&deck)[0], "");
    deck.press("esc");
    assert!(deck.model.layers.is_empty());
}

#[test]
fn failed_suggestions_are_a_quiet_line() {
    let (mut deck, ticket) = opened();
    let failure = make::rpc(-32601, "Method not found");
    deck.act(Action::Answered(ticket, Answer::Completed(Err(failure))));
    shows(&deck, &["no suggestions: -32601 Method not found"]);
    assert_eq!(notice(&deck), "");
    deck.press("x");
    assert!(!deck.text().contains("no suggestions"));
}

#[test]
fn what_was_filled_in_is_there_again() {
    let (mut deck, _) = opened();
    deck.press("a tab b enter esc esc");
    assert!(deck.model.layers.is_empty());
    deck.press("enter");
    assert_eq!(texts(&deck), ["a", "b", "", ""]);
    // What is given up is kept too.
    deck.press("tab tab 3 esc enter");
    assert_eq!(texts(&deck), ["a", "b", "3", ""]);
    // Neither another template nor another server has it.
    deck.press("esc G enter");
    assert_eq!(texts(&deck), [""]);
    deck.press("esc esc down tab g enter");
    assert_eq!(form(&deck).server, make::name("plain"));
    assert_eq!(texts(&deck), ["", "", "", ""]);
}

#[test]
fn a_template_without_variables_is_read_at_once() {
    let mut deck = Deck::new(USUAL, state());
    assert_eq!(uri(deck.press("2 tab j j enter")), "db://fixed");
}

#[test]
fn a_broken_template_says_what_is_wrong_with_it() {
    let mut deck = Deck::new(USUAL, state());
    assert_eq!(deck.press("2 tab j enter"), None);
    shows(
        &deck,
        &[
            "This template cannot be filled in.",
            "db://{broken",
            "the template breaks the syntax of RFC 6570 at byte 6",
        ],
    );
    deck.press("q");
    assert!(deck.model.layers.is_empty());
}

#[test]
fn what_cannot_be_expanded_is_said_in_place_of_the_uri() {
    let mut state = state();
    let template = make::template("x:{list:3}{?list*}", "Prefix");
    state.servers = [Arc::new(server("db", false, vec![template], vec![]))].into();
    let mut deck = Deck::new(USUAL, state);
    deck.press("2 tab enter a , b");
    let problem = "only the beginning of list is used: write one text, no list";
    shows(&deck, &[problem]);
    assert_eq!(deck.press("enter"), None);
    assert_eq!(notice(&deck), problem);
}

#[test]
fn a_prompt_is_got_with_what_is_filled_in() {
    let mut deck = Deck::new(USUAL, state());
    deck.press("4 tab enter");
    shows(
        &deck,
        &["compose", "What it is about", "required", "optional"],
    );
    assert_eq!(form(&deck).preview(), None);
    let (_, ask) = asked(deck.press("t"));
    let Ask::Complete(_, argument) = ask else {
        panic!("{ask:?}");
    };
    assert_eq!(argument.of, ArgumentOf::Prompt("compose".to_owned()));
    let given = vec![("topic".to_owned(), "t".to_owned())];
    assert_eq!(
        read(deck.press("enter")),
        Source::Prompt("compose".to_owned(), given)
    );
    deck.press("esc esc j");
    assert_eq!(
        read(deck.press("enter")),
        Source::Prompt("bare".to_owned(), Vec::new())
    );
}

#[test]
fn the_mouse_goes_to_a_field_and_takes_a_suggestion() {
    let (mut deck, _) = opened();
    let place = |deck: &Deck, needle: &str| {
        let screen = deck.text();
        let lines = screen.lines().enumerate();
        let (row, line) = lines
            .filter(|(_, line)| line.contains(needle))
            .last()
            .unwrap();
        let before = &line[..line.find(needle).unwrap()];
        (
            u16::try_from(text::width(before)).unwrap(),
            u16::try_from(row).unwrap(),
        )
    };
    let (x, y) = place(&deck, "limit ");
    let (ticket, ask) = asked(deck.act(Action::Click(x, y)));
    assert!(matches!(ask, Ask::Complete(..)));
    assert_eq!(form(&deck).focus(), 2);
    suggest(&mut deck, ticket, &["10", "100"]);
    let (x, y) = place(&deck, "100 ");
    assert_eq!(deck.act(Action::Click(x, y)), None);
    assert_eq!(texts(&deck)[2], "100");
    // Beside the box it does nothing.
    deck.act(Action::Click(0, 29));
    assert_eq!(form(&deck).focus(), 2);
}
