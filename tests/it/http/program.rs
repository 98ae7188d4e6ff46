//! The program with a server that wants a log-in: `login`, `logout`, tokens that end, and no token
//! in anything that it prints or logs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::Value;

use super::endpoint;
use super::login::{guarded, visit};
use crate::support::authorization::{AuthorizationServer, access, refresh};
use crate::support::fake::{Action, Reply, Rule, Script};
use crate::support::program::{Home, Ran, remote as table, server, wait};

const LOGINS: &str = ".local/state/mcpdeck/logins.json";

/// A home with the server `far`.
fn home_of(address: SocketAddr) -> Home {
    let home = Home::new();
    home.configure(&[&table("far", &endpoint(address))]);
    home
}

/// Logs in at `far` as over SSH: the URL is opened elsewhere, and the redirect is pasted.
fn log_in(home: &Home) -> Ran {
    let mut command = home.program(&["login", "far", "--no-browser"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let stderr = child.stderr.take().unwrap();
    let mut lines = BufReader::new(stderr).lines();
    let line = lines.next().unwrap().unwrap();
    let url = line.strip_prefix("mcpdeck: open in a browser: ").unwrap();
    let back = tokio::runtime::Runtime::new().unwrap().block_on(visit(url));
    let stdin = child.stdin.as_mut().unwrap();
    writeln!(stdin, "{back}").unwrap();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let mut ran = wait(child);
    ran.stderr = format!("{line}\n{}", rest.join("\n"));
    ran
}

/// The token that is kept was got so long ago that it has ended.
fn end_token(home: &Home) {
    let mut kept: Value = serde_json::from_str(&home.read(LOGINS)).unwrap();
    for servers in kept["issuers"].as_object_mut().unwrap().values_mut() {
        for login in servers.as_object_mut().unwrap().values_mut() {
            login["credentials"]["token_received_at"] = 1.into();
        }
    }
    home.write(LOGINS, &kept.to_string());
}

/// All that is secret in a log-in must be in none of these texts.
fn assert_no_secret(texts: &[&str]) {
    for text in texts {
        for word in ["acc3ss", "r3fresh", "c0de-", "s3cret"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

#[test]
fn the_program_logs_in_and_out_and_tells_no_token() {
    let authorization = AuthorizationServer::start();
    let (address, fake) = guarded(&authorization);
    let home = home_of(address);
    let before = home.run(&["list", "all", "--json"]);
    let listed = before.json(5);
    assert_eq!(server(&listed, "far")["status"], "needs-auth");
    assert_eq!(server(&listed, "far")["error"]["kind"], "auth");

    let login = log_in(&home);
    assert_eq!(login.code, Some(0), "{login:?}");
    assert!(
        login.stderr.ends_with("mcpdeck: logged in at far"),
        "{login:?}"
    );
    assert_eq!(login.stdout, "");
    let listed = home.run(&["list", "all", "--json"]);
    let json = listed.json(0);
    assert_eq!(server(&json, "far")["status"], "connected");
    let read = home.run(&["read", "far", "fake:///one"]);

    // The server quotes what it was sent, and more.
    let quote = format!("bad token {} in {}", access(1), refresh(1));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let quoting = Rule::on("tools/list", Reply::error(-32000, &quote));
    runtime.block_on(fake.send(Action::rule(quoting)));
    let quoted = home.run(&["list", "all", "--json"]);
    assert_eq!(quoted.code, Some(3));
    assert!(quoted.stdout.contains("bad token ***"), "{quoted:?}");
    let text = home.run(&["list", "tools"]);
    let watched = home.run(&["watch", "--json", "--for", "1s"]);
    let shown = home.run(&["config", "show", "--json"]);

    let kept = home.read(LOGINS);
    assert!(kept.contains(&access(1)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = std::fs::metadata(home.path(LOGINS)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
    for ran in [
        &before, &login, &listed, &read, &quoted, &text, &watched, &shown,
    ] {
        assert_no_secret(&[&ran.stdout, &ran.stderr]);
    }
    assert_no_secret(&[&home.state().replace(&kept, "")]);

    let out = home.run(&["logout", "far"]);
    assert_eq!(out.code, Some(0));
    assert_eq!(out.stderr, "mcpdeck: logged out at far\n");
    assert_no_secret(&[&home.read(LOGINS)]);
    assert_eq!(home.run(&["list"]).code, Some(5));
    assert_eq!(home.run(&["read", "far", "fake:///one"]).code, Some(5));
}

#[test]
fn a_token_is_renewed_when_it_ends_or_is_not_taken_and_a_revoked_one_needs_a_log_in() {
    let authorization = AuthorizationServer::start();
    let (address, fake) = guarded(&authorization);
    let home = home_of(address);
    assert_eq!(log_in(&home).code, Some(0));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let require = |token: String| {
        runtime.block_on(fake.send(Action::SetBearer(Some(token))));
    };
    // The server no longer takes the first one.
    require(access(2));
    home.run(&["list", "--json"]).json(0);
    let grants = |authorization: &AuthorizationServer| authorization.book().grants.clone();
    let renewal = &grants(&authorization)[1];
    assert_eq!(renewal["grant_type"], "refresh_token");
    assert_eq!(renewal["refresh_token"], refresh(1));
    // The third one has ended, so that the fourth is got before the server refuses it.
    authorization.book().lifetime = Some(3_600);
    require(access(3));
    home.run(&["list", "--json"]).json(0);
    end_token(&home);
    require(access(4));
    home.run(&["list", "--json"]).json(0);
    let all = grants(&authorization);
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(authorization.book().refused.is_empty());
    // Nobody may renew any more.
    authorization.book().revoked = true;
    require(access(9));
    let listed = home.run(&["list", "--json"]).json(5);
    assert_eq!(server(&listed, "far")["status"], "needs-auth");
    assert_no_secret(&[&listed.to_string()]);
}

#[test]
fn of_many_that_find_a_token_ended_one_renews_it() {
    let authorization = AuthorizationServer::start();
    authorization.book().lifetime = Some(3_600);
    let (address, fake) = guarded(&authorization);
    let home = home_of(address);
    assert_eq!(log_in(&home).code, Some(0));
    end_token(&home);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(fake.send(Action::SetBearer(Some(access(2)))));
    let list = || home.program(&["list", "--json"]).spawn().unwrap();
    let started: Vec<_> = (0..4).map(|_| list()).collect();
    for child in started {
        wait(child).json(0);
    }
    let book = authorization.book();
    assert_eq!(book.grants.len(), 2, "{:?}", book.grants);
    assert!(book.refused.is_empty(), "{:?}", book.refused);
}

#[test]
fn a_client_of_the_config_renews_with_its_secret_which_is_kept_there_alone() {
    let authorization = AuthorizationServer::start();
    authorization.book().secret = Some(("mine", "s3cret-of-mine"));
    let (address, fake) = guarded(&authorization);
    let home = Home::new();
    let oauth = "oauth = { client_id = 'mine', client_secret = 's3cret-of-mine' }\n";
    home.configure(&[&table("far", &endpoint(address)), oauth]);
    assert_eq!(log_in(&home).code, Some(0));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(fake.send(Action::SetBearer(Some(access(2)))));
    home.run(&["list", "--json"]).json(0);
    assert!(authorization.book().refused.is_empty());
    assert!(!home.state().contains("s3cret"));
}

#[test]
fn where_the_log_in_cannot_be_renewed_now_it_is_kept() {
    let authorization = AuthorizationServer::start();
    let (address, fake) = guarded(&authorization);
    let home = home_of(address);
    assert_eq!(log_in(&home).code, Some(0));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(fake.send(Action::SetBearer(Some(access(2)))));
    authorization.book().down = true;
    let listed = home.run(&["list", "--json"]).json(3);
    assert_eq!(server(&listed, "far")["error"]["kind"], "connect");
    authorization.book().down = false;
    home.run(&["list", "--json"]).json(0);
}

#[test]
fn a_scope_that_is_missing_is_asked_for_at_the_next_log_in() {
    let authorization = AuthorizationServer::start();
    let (address, fake) = guarded(&authorization);
    let home = home_of(address);
    assert_eq!(log_in(&home).code, Some(0));
    let lacking = Reply::status(403).header(
        "www-authenticate",
        "Bearer error=\"insufficient_scope\", scope=\"tools:list\"",
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(fake.send(Action::rule(Rule::on("tools/list", lacking))));
    let listed = home.run(&["list", "tools", "--json"]).json(5);
    assert_eq!(
        listed["errors"][0]["message"],
        "HTTP 403 Forbidden; the log-in lacks a scope (tools:list); log in again"
    );
    assert_eq!(log_in(&home).code, Some(0));
    assert_eq!(authorization.book().visits[1]["scope"], "read tools:list");
}

#[test]
fn a_log_in_that_nobody_completes_ends_in_time() {
    let authorization = AuthorizationServer::start();
    let (address, _fake) = guarded(&authorization);
    let home = home_of(address);
    let ran = home.run(&["login", "far", "--no-browser", "--timeout", "1s"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("nobody logged in in time"), "{ran:?}");
    assert_eq!(home.run(&["login", "nobody"]).code, Some(4));
    assert_eq!(home.run(&["login"]).code, Some(2));
    let local = home.table("near", &Script::legacy());
    home.configure(&[&local]);
    let ran = home.run(&["login", "near"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("only servers with a URL"), "{ran:?}");
}

#[test]
fn a_log_out_needs_nothing_of_the_server_but_its_url() {
    let authorization = AuthorizationServer::start();
    let (address, _fake) = guarded(&authorization);
    let home = home_of(address);
    assert_eq!(log_in(&home).code, Some(0));
    let url = endpoint(address);
    let rest =
        "headers = { X-Team = '${NOT_SET_ANYWHERE}' }\noauth = { client_secret = '${NOR_THIS}' }\n";
    // A project file that nobody approved starts nothing here.
    home.configure(&[]);
    home.write(
        "work/.mcpdeck.toml",
        &format!("{}{rest}", table("far", &url)),
    );
    let out = home.run(&["logout", "far"]);
    assert_eq!(out.stderr, "mcpdeck: logged out at far\n");
    assert_eq!(out.code, Some(0));
    home.write("work/.mcpdeck.toml", "");
    home.configure(&[
        &table("far", "https://${NOT_SET_ANYWHERE}/mcp"),
        "[servers.near]\ncommand = 'x'\n",
    ]);
    let out = home.run(&["logout", "far"]);
    assert_eq!(
        out.refused(3),
        "mcpdeck: far: its URL is needed to find the log-in, and cannot be told: environment variable NOT_SET_ANYWHERE is not set; set NOT_SET_ANYWHERE, or give it a default: ${NOT_SET_ANYWHERE:-text}\n"
    );
    assert!(
        home.run(&["logout", "near"])
            .refused(2)
            .contains("only servers with a URL")
    );
}
