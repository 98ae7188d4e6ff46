//! Clients are told when what is offered has changed.

use serde_json::{Value, json};

use super::client::Client;
use crate::support::fake::{Action, Listing, Reply, Script};
use crate::support::program::{Home, table, until};

const CHANGED: &str = "notifications/resources/list_changed";

/// A server whose list of resources changes when `fake:///change` is read, and that announces it
/// also when it is told to by `fake:///announce`, without any change.
fn changing(script: Script) -> Script {
    let list = Listing::named("resources/list", &["one", "two"]);
    let change = Reply::default()
        .after(Action::set_pages("resources/list", list))
        .after(Action::list_changed("resources", 5));
    let announce = Reply::default().after(Action::list_changed("resources", 1));
    script
        .named("resources/list", &["change", "announce"])
        .read("fake:///change", change)
        .read("fake:///announce", announce)
}

fn names(client: &mut Client<'_>) -> Vec<String> {
    let listed = client.ask("resources/list", json!({}));
    let resources = listed["resources"].as_array().unwrap();
    let name = |resource: &Value| resource["name"].as_str().unwrap().to_owned();
    resources.iter().map(name).collect()
}

#[test]
fn a_client_of_initialize_is_told_on_its_connection() {
    let home = Home::new();
    home.configure(&[&home.table("x", &changing(Script::legacy()))]);
    let mut client = Client::start(&home, &[]);
    assert_eq!(names(&mut client), ["change", "announce"]);
    client.read("x", "fake:///change");
    client.notified(CHANGED);
    assert_eq!(names(&mut client), ["one", "two"]);
    client.end();
}

#[test]
fn a_modern_client_is_told_on_its_subscription_of_resources_alone() {
    let home = Home::new();
    home.configure(&[&home.table("x", &changing(Script::both()))]);
    let mut client = Client::start_modern(&home, &[]);
    assert_eq!(names(&mut client), ["change", "announce"]);
    let id = client.begin(
        "subscriptions/listen",
        json!({"notifications": {
            "resourcesListChanged": true, "toolsListChanged": true, "promptsListChanged": true,
            "resourceSubscriptions": ["mcpdeck://x/r/a"],
        }}),
    );
    let acknowledged = client.notified("notifications/subscriptions/acknowledged");
    let accepted = &acknowledged["params"]["notifications"];
    assert_eq!(accepted, &json!({"resourcesListChanged": true}));
    client.read("x", "fake:///change");
    let told = client.notified(CHANGED);
    let subscription = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert!(
        subscription == &json!(id) || subscription == &json!(id.to_string()),
        "{told}"
    );
    assert_eq!(names(&mut client), ["one", "two"]);
    // An open subscription does not hold up the end.
    client.end();
}

#[test]
fn a_server_that_dies_takes_its_resources_along() {
    let home = Home::new();
    let script = Script::legacy()
        .named("resources/list", &["one"])
        .read("fake:///die", Reply::exit(3, "gone\n"));
    home.configure(&[
        "[settings]\nreconnect_attempts = 1\n",
        &home.table("x", &script),
        &home.table("y", &Script::legacy().named("resources/list", &["other"])),
    ]);
    let mut client = Client::start(&home, &[]);
    assert_eq!(names(&mut client), ["one", "other"]);
    let answer = client.read("x", "fake:///die");
    assert!(answer.is_error());
    client.notified(CHANGED);
    // It comes back by itself, and the call waits for it.
    assert_eq!(names(&mut client), ["one", "other"]);
    client.end();
}

#[test]
fn an_edit_of_the_config_adds_and_removes_servers() {
    let home = Home::new();
    let server = |name: &str| {
        let script = Script::legacy().named("resources/list", &[name]);
        home.table(name, &script)
    };
    let (kept, removed, added) = (server("kept"), server("removed"), server("added"));
    home.configure(&[&kept, &removed]);
    let mut client = Client::start(&home, &[]);
    assert_eq!(names(&mut client), ["kept", "removed"]);
    home.configure(&[&kept, &added]);
    while names(&mut client) != ["kept", "added"] {
        client.notified(CHANGED);
    }
    let unknown = "Server \"removed\" not found. Available servers: kept, added";
    assert_eq!(client.read("removed", "fake:///removed").message(), unknown);
    // An edit that cannot be used changes nothing, and is told on stderr.
    home.write(".config/mcpdeck/config.toml", "[servers.kept\n");
    let told = client.said();
    assert!(told.starts_with("mcpdeck: config reloaded: "), "{told}");
    let told = client.said();
    assert!(
        told.starts_with("mcpdeck: config kept as it was: "),
        "{told}"
    );
    assert_eq!(names(&mut client), ["kept", "added"]);
    client.end();
    assert_eq!(
        home.asked("kept")
            .iter()
            .filter(|m| *m == "initialize")
            .count(),
        1
    );
}

#[cfg(unix)]
#[test]
fn a_server_that_is_changed_or_switched_off_has_its_time_to_end() {
    let home = Home::new();
    let script = Script::legacy().named("resources/list", &["one"]);
    let ended = home.path("ended").display().to_string();
    // After its input has ended it has something to do, for longer than a command that has printed
    // its result would wait.
    let slow = format!("\"$@\"; sleep 0.7; echo x >> '{ended}'");
    let mut command = ["sh", "-c", &slow, "sh"].map(str::to_owned).to_vec();
    command.extend(home.fake("slow", &script));
    let server = table("slow", &command);
    let times_ended = || home.read("ended").lines().count();
    home.configure(&[&server]);
    let mut client = Client::start(&home, &[]);
    assert_eq!(names(&mut client), ["one"]);
    home.configure(&[&server, "env = { A = \"b\" }"]);
    until("it is restarted", || times_ended() == 1);
    while names(&mut client) != ["one"] {
        client.notified(CHANGED);
    }
    home.configure(&[&server, "enabled = false"]);
    until("it is switched off", || times_ended() == 2);
    client.end();
}
