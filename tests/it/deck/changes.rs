//! What a person sees of a server that changes, fails or dies while it is looked at.

use std::time::Duration;

use mcpdeck::domain::ListMethod;

use super::{Home, Terminal, healthy, resource};
use crate::support::fake::listing::{Listing, Page};
use crate::support::fake::{Action, Reply, Rule, Script};
use crate::support::handle::FakeHandle;
use crate::support::launch::Control;
use crate::support::program::{shell, table};

const LIST: &str = ListMethod::Resources.name();

/// A deck over one server, and the hand on that server.
pub(super) async fn deck_and_server(script: &Script) -> (Home, Control, Terminal, FakeHandle) {
    let home = Home::new();
    let mut control = Control::listen().await;
    let line = control.command(script);
    let mut words = vec![line.program.display().to_string()];
    words.extend(line.arguments);
    home.configure(&[&table("notes", &words)]);
    let deck = Terminal::deck(&home, &[]);
    let server = control.accept().await;
    deck.shows(&["note:///one", "note:///two"]);
    (home, control, deck, server)
}

/// So many new resources above the two old ones.
fn grown(new: usize) -> Action {
    let mut items: Vec<_> = (1..=new).map(|it| resource(&format!("new-{it}"))).collect();
    items.extend([resource("one"), resource("two")]);
    Action::set_pages(LIST, Listing::Pages(vec![Page::last(items)]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_and_fails_in_turns_tells_its_story() {
    let (home, _control, mut deck, server) = deck_and_server(&healthy()).await;
    deck.press("\tj");
    deck.line_with(&["▌", "note:///two"]);
    for number in 1..=6 {
        let fails = number % 3 == 0;
        let newest = number - usize::from(fails);
        server.send(grown(number)).await;
        if fails {
            let broken = Rule::on(LIST, Reply::error(-32603, "the index is torn"));
            server.send(Action::rule(broken)).await;
        }
        server.send(Action::list_changed("resources", 1)).await;
        let row = format!("note:///new-{newest}");
        if fails {
            deck.shows(&["old since", &row]);
            deck.hides(&format!("note:///new-{number}"));
        } else {
            deck.line_with(&["+", &row]);
            deck.hides("old since");
        }
        // Above it the list grows; the selection stays on its item.
        deck.line_with(&["▌", "note:///two"]);
        server.send(Action::ClearRules(LIST.to_owned())).await;
    }
    deck.press("5");
    deck.shows(&[LIST, "-32603", "the index is torn", "old"]);
    deck.press("6");
    deck.shows(&["refresh failed", "the index is torn", "kept generation 5"]);
    deck.shows(&["resources +1, templates 0, generation 5"]);
    deck.press("1");
    server.send(grown(7)).await;
    server.send(Action::list_changed("resources", 1)).await;
    deck.shows(&["note:///new-7"]);
    deck.hides("old since");
    deck.line_with(&["▌", "note:///two"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_by_hand_is_counted_down_and_comes_back() {
    let (home, mut control, mut deck, server) = deck_and_server(&healthy()).await;
    let pid = server.pid().await.to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status();
    assert!(killed.unwrap().success());
    deck.shows(&["reconnecting 1/5 in 1s", "killed by signal 9"]);
    deck.hides("note:///one");
    control
        .accept()
        .await
        .wait_for(LIST, 1, Duration::from_secs(10))
        .await;
    deck.shows(&["note:///one", "note:///two", "1 server: 1 connected"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
    home.assert_nothing_left();
}

/// Each of them lets its end be waited for, and none makes the others wait.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_servers_are_ended_within_three_seconds() {
    let home = Home::new();
    let deaf = |number: usize| {
        let fake = home.fake(&format!("notes-{number}"), &healthy());
        let quoted: Vec<String> = fake.iter().map(|word| format!("'{word}'")).collect();
        // A shell that neither EOF nor TERM ends, around a server that both would end.
        shell(
            &format!("notes-{number}"),
            &format!(
                "trap '' TERM; {}; while :; do sleep 1; done",
                quoted.join(" ")
            ),
        )
    };
    let tables: Vec<String> = (0..50).map(deaf).collect();
    home.configure(&tables.iter().map(String::as_str).collect::<Vec<_>>());
    let mut deck = Terminal::deck(&home, &[]);
    deck.shows(&["50 servers: 50 connected"]);
    let start = std::time::Instant::now();
    deck.press("q");
    assert_eq!(deck.code(), 0);
    let took = start.elapsed();
    assert!(took < Duration::from_millis(3_500), "{took:?}");
    home.assert_nothing_left();
}
