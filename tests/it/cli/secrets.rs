//! Secrets are in no output and in no file.

use serde_json::json;

use crate::support::fake::{Action, Reply, Script};
use crate::support::launch::http_server;
use crate::support::program::{Home, remote, table};

const TOKEN: &str = "hunter2-in-the-environment";
const HEADER: &str = "hunter2-in-a-header";
const CURSOR: &str = "opaque-cursor-9d1c";
const TEMPLATE: &str = "secret-template";

/// What servers quote in everything that they say.
fn chatter(secret: &str) -> String {
    format!("bad token {secret}, or Bearer {secret}")
}

/// Runs everything that prints something over servers that quote their secrets wherever they can.
#[test]
fn a_secret_that_a_server_quotes_is_masked_everywhere() {
    let home = Home::new();
    let quoted = chatter(TOKEN);
    let talking = Script::legacy()
        .sample()
        .at_start(Action::stderr(&format!("{quoted}\n")))
        .banner(&format!("{quoted}\n"))
        .on("resources/list", Reply::error(-32603, &quoted))
        .on("tools/list", Reply::error(-32000, &quoted))
        .read("x:1", Reply::error(-32000, &quoted));
    let refusing = Script::legacy()
        .discover_exits(1)
        .on("initialize", Reply::error(-32000, &quoted));
    let ending = Script::legacy().on("initialize", Reply::exit(3, &format!("{quoted}\n")));
    let versions = Script::legacy().version(&quoted);
    let far = Script::legacy()
        .sample()
        .on("resources/list", Reply::error(-32603, &chatter(HEADER)))
        .on(
            "prompts/list",
            Reply::raw(&chatter(HEADER)).with_status(500),
        );
    let (address, _fake) = http_server(far);
    let with_token = |name: &str, script: &Script| {
        format!(
            "{}env = {{ TOKEN = '{TOKEN}', SHORT = 'bad' }}\n",
            home.table(name, script)
        )
    };
    home.configure(&[
        &with_token("talking", &talking),
        &with_token("refusing", &refusing),
        &with_token("ending", &ending),
        &with_token("versions", &versions),
        &remote("far", &format!("http://{address}/mcp")),
        &format!("headers = {{ Authorization = 'Bearer {HEADER}' }}\n"),
    ]);
    for args in [
        &["list", "all", "--json"][..],
        &["list", "all"],
        &["list"],
        &["read", "talking", "x:1"],
        &["read", "refusing", "x:1"],
        &["read", "ending", "x:1", "--json"],
        &["read", "far", "x:1"],
    ] {
        let ran = home.run(args);
        let everything = format!("{}{}{}", ran.stdout, ran.stderr, home.state());
        for secret in [TOKEN, HEADER] {
            assert!(!everything.contains(secret), "{args:?}: {everything}");
        }
    }
    // What is masked is the value, not the message. A short value would hide too much.
    let listed = home.run(&["list", "all", "--json"]).json(3);
    let messages: Vec<&str> = listed["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["message"].as_str().unwrap())
        .collect();
    let expected = "bad token ***, or Bearer ***";
    assert!(messages.contains(&expected), "{messages:#?}");
    let quoting = |message: &&&str| message.contains("bad token ***");
    assert!(
        messages.iter().filter(quoting).count() >= 5,
        "{messages:#?}"
    );
}

#[test]
fn secrets_of_the_definition_are_in_no_message_about_it() {
    let home = Home::new();
    home.configure(&[
        &format!("[servers.a]\ncommand = 'no-such-command'\nenv = {{ TOKEN = '{TOKEN}' }}\n"),
        &format!("[servers.b]\ncommand = 'x'\nenv = {{ TOKEN = '{TOKEN}', 7 = ['{TOKEN}'] }}\n"),
        &format!(
            "[servers.c]\nurl = 'http://127.0.0.1:1'\nheaders = {{ 'bad name' = '{HEADER}' }}\n"
        ),
        &format!(
            "[servers.d]\nurl = 'http://127.0.0.1:1'\nheaders = {{ A = '{HEADER}\\n\u{e9}' }}\n"
        ),
        &format!("[servers.e]\nurl = 'http://127.0.0.1:1'\nheaders = {{ A = '{HEADER}' }}\n"),
        &format!("[servers.f]\ncommand = 'x'\ntokn = '{TOKEN}'\n"),
    ]);
    let check = |args: &[&str]| {
        let ran = home.run(args);
        let everything = format!("{}{}{}", ran.stdout, ran.stderr, home.state());
        for secret in [TOKEN, HEADER] {
            assert!(!everything.contains(secret), "{args:?}: {everything}");
        }
    };
    check(&["list", "--json"]);
    check(&["list"]);
    // Also where the whole file cannot be used, and the line is shown.
    home.write(
        "work/c.toml",
        &format!("[servers.a]\ncommand = 'x'\nenv = {{ TOKEN = '{TOKEN}' }} x\n"),
    );
    check(&["list", "--config", "c.toml"]);
    check(&["list", "--header", HEADER, "--url", "http://127.0.0.1:1"]);
    check(&["list", "--env", &format!("={TOKEN}"), "--", "sh"]);
}

#[test]
fn a_variable_of_ours_that_a_server_gets_is_masked_as_its_own_are() {
    let home = Home::new();
    let script = "echo \"token $MY_TOKEN, key $3\" >&2; exit 3";
    let table = table(
        "x",
        &["sh", "-c", script, "sh", "run", "--key", HEADER].map(str::to_owned),
    );
    for passed in ["pass_env = ['MY_TOKEN']\n", "inherit_env = true\n"] {
        home.configure(&[&table, passed]);
        let mut command = home.program(&["list"]);
        command.env("MY_TOKEN", TOKEN);
        let ran = home.finish(command);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stdout.contains("token ***, key ***"), "{ran:?}");
    }
}

#[test]
fn cursors_and_templates_are_never_logged_and_cursors_never_shown() {
    let home = Home::new();
    let pages = json!({
        "resourceTemplates": [{"uriTemplate": format!("x:{TEMPLATE}/{{id}}"), "name": "t"}],
        "nextCursor": CURSOR,
    });
    let bad_page = json!({"resourceTemplates": [{"uriTemplate": format!("x:{TEMPLATE}")}]});
    let repeating = Script::legacy()
        .sample()
        .on("resources/templates/list", Reply::result(pages.clone()));
    let quoting = Script::legacy()
        .sample()
        .on("resources/templates/list", Reply::result(pages))
        .on_nth(
            "resources/templates/list",
            2,
            Reply::error(-32603, &format!("bad cursor '{CURSOR}'")),
        );
    let malformed = Script::legacy()
        .sample()
        .on("resources/templates/list", Reply::result(bad_page));
    let page = json!({"resourceTemplates": [], "nextCursor": CURSOR});
    let dying = Script::legacy()
        .sample()
        .on("resources/templates/list", Reply::result(page))
        .on_nth(
            "resources/templates/list",
            2,
            Reply::exit(1, &format!("no page {CURSOR}\n")),
        );
    home.configure(&[
        &home.table("dying", &dying),
        &home.table("repeating", &repeating),
        &home.table("quoting", &quoting),
        &home.table("malformed", &malformed),
    ]);
    for args in [&["list", "templates", "--json"][..], &["list", "templates"]] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let everything = format!("{}{}{}", ran.stdout, ran.stderr, home.state());
        assert!(!everything.contains(CURSOR), "{args:?}: {everything}");
        assert!(!home.state().contains(TEMPLATE), "{args:?}");
    }
}
