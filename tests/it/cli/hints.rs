//! What a person is told to do next: lines of a shell that can be pasted, and what was meant.

use crate::support::fake::Script;
use crate::support::launch::http_server;
use crate::support::program::Home;

/// A home with a server of this name that wants a log-in.
fn locked(key: &str) -> (Home, String, impl Sized) {
    let script = Script::legacy()
        .sample()
        .http(|http| http.bearer = Some("some-bearer".into()));
    let (address, fake) = http_server(script);
    let url = format!("http://{address}/mcp");
    let home = Home::new();
    home.configure(&[&format!("[servers.{key}]\nurl = '{url}'\n")]);
    (home, url, fake)
}

#[test]
fn a_missing_log_in_says_how_to_log_in() {
    let (home, url, _fake) = locked("\"my docs\"");
    let how = "log in: mcpdeck login 'my docs'";
    for args in [
        &["list"][..],
        &["list", "tools"],
        &["list", "all", "--server", "my docs"],
        &["read", "my docs", "x:1"],
        &["check"],
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(5), "{ran:?}");
        assert!(ran.stderr.contains(how), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(home.run(&["list", "--json"]).stderr, "");
    let how = format!("log in: mcpdeck login --url {url}");
    for args in [
        &["list", "tools", "--url", &url][..],
        &["read", "x:1", "--url", &url],
    ] {
        let ran = home.run(args);
        assert!(ran.stderr.contains(&how), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn the_name_of_a_server_is_quoted_as_a_shell_takes_it() {
    let home = Home::new();
    home.write(
        "work/.mcpdeck.toml",
        "[servers.\"a b\"]\nurl = 'http://localhost:1'\n[servers.\"-x\"]\nurl = 'http://localhost:1'\n[servers.\"${HOME}\"]\ncommand = 'x'\n",
    );
    let check = |args: &[&str], expected: &str| {
        let ran = home.run(args);
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
    };
    check(&["login", "a b"], "mcpdeck trust 'a b'\n");
    check(&["list"], "mcpdeck trust 'a b'; ");
    check(&["list"], "mcpdeck trust -- -x; ");
    check(&["list"], "mcpdeck trust '${HOME}'; ");
    home.run(&["trust", "--quiet", "--", "-x"]).text(0);
    home.write("my file.json", r#"{"servers": {"j": {"command": "x"}}}"#);
    let file = home.path("my file.json").display().to_string();
    check(
        &["disable", "j", "--config", &file],
        &format!("mcpdeck import '{file}'\n"),
    );
}

#[test]
fn a_broken_entry_with_a_url_is_no_command() {
    let home = Home::new();
    home.configure(&[
        "[servers.a]\nurl = 'https://example.org/mcp'\nx = 1\n",
        "[servers.b]\nurl = 'https://example.org/mcp'\ntransport = 'sse'\nx = 1\n",
        "[servers.c]\nx = 1\n",
    ]);
    let listed = home.run(&["list", "--json"]).json(3);
    let transports: Vec<&str> = listed["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| server["transport"].as_str().unwrap())
        .collect();
    assert_eq!(transports, ["http", "sse", "stdio"]);
}
