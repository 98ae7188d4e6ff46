//! Streamable HTTP: who is let in, what is bounded, how it ends.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::listening::{Server, initialize, meta};
use crate::support::fake::{Reply, Script};
use crate::support::program::{Home, remote, until};

fn sample(home: &Home) {
    home.configure(&[&home.table("x", &Script::legacy().sample())]);
}

#[test]
fn only_those_with_the_right_host_origin_and_token_are_let_in() {
    let home = Home::new();
    sample(&home);
    let server = Server::start(&home, &[], None);
    assert!(server.token.len() >= 32, "{}", server.token);
    let body = initialize().to_string();
    let token = server.authorization();
    let host = format!("Host: {}", server.address);
    let port = server.address.port();
    let check = |headers: &[&str], status: u16| {
        let response = server.post(headers, &body);
        assert_eq!(response.status, status, "{headers:?}: {response:?}");
        response
    };
    check(&[&host, &token], 200);
    check(&[&format!("Host: localhost:{port}"), &token], 200);
    check(
        &[&host, &token, &format!("Origin: http://{}", server.address)],
        200,
    );
    check(&["Host: evil.example", &token], 403);
    check(&[&format!("Host: evil.example:{port}"), &token], 403);
    check(&[&host, &token, "Origin: http://evil.example"], 403);
    check(&[&host, &token, "Origin: null"], 403);
    let missing = check(&[&host], 401);
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    check(&[&host, "Authorization: Bearer wrong"], 401);
    check(&[&host, &format!("{token}x")], 401);
    check(&[&host, &token[..token.len() - 1]], 401);
    // What is refused learns nothing of the rest.
    check(&["Host: evil.example"], 403);
    let elsewhere = server.send(&format!(
        "GET /other HTTP/1.1\r\n{host}\r\n{token}\r\nConnection: close\r\n\r\n"
    ));
    assert_eq!(elsewhere.status, 404);
    server.end();
}

#[test]
fn the_token_can_be_given_and_is_not_printed_then() {
    let home = Home::new();
    sample(&home);
    let server = Server::start(&home, &["--token-env", "THE_TOKEN"], Some("given-token"));
    assert_eq!(server.initialize().status, 200);
    let port = server.address.port();
    let ran = {
        let Server {
            home,
            child,
            stderr,
            ..
        } = server;
        let pid = i32::try_from(child.id()).unwrap();
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::INT,
        )
        .unwrap();
        let ran = home.wait(child);
        assert_eq!(stderr.iter().collect::<Vec<_>>(), Vec::<String>::new());
        ran
    };
    assert_eq!(ran.code, Some(130));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_request_has_at_most_1_mib() {
    let home = Home::new();
    sample(&home);
    let server = Server::start(&home, &[], None);
    let padded = |length: usize| {
        let mut message = initialize();
        let missing = length - message.to_string().len();
        message["params"]["clientInfo"]["name"] = "x".repeat(missing + 4).into();
        assert_eq!(message.to_string().len(), length);
        message
    };
    let full = server.message(&[], &padded(1 << 20));
    assert_eq!(full.status, 200);
    assert_eq!(server.message(&[], &padded((1 << 20) + 1)).status, 413);
    server.end();
}

#[test]
fn the_65th_session_is_refused_until_one_ends() {
    let home = Home::new();
    sample(&home);
    let server = Server::start(&home, &[], None);
    let mut sessions = Vec::new();
    for number in 1..=64 {
        let response = server.initialize();
        assert_eq!(response.status, 200, "session {number}");
        sessions.push(response.header("mcp-session-id").unwrap().to_owned());
    }
    let refused = server.initialize();
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("64 sessions"), "{refused:?}");
    // Those that are open go on, and the era without sessions is not concerned.
    let session = format!("Mcp-Session-Id: {}", sessions[0]);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "list_mcp_resource_templates", "arguments": {},
    }});
    let answer = server.message(&[&session, "MCP-Protocol-Version: 2025-11-25"], &call);
    assert_eq!(answer.json()["result"]["isError"], false, "{answer:?}");
    assert_eq!(modern_call(&server)["result"]["isError"], false);
    let ended = server.send(&format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\n{}\r\n{session}\r\nConnection: close\r\n\r\n",
        server.address,
        server.authorization(),
    ));
    assert!(ended.status < 300, "{ended:?}");
    assert_eq!(server.initialize().status, 200);
    assert_eq!(server.initialize().status, 503);
    server.end();
    assert_eq!(
        home.asked("x")
            .iter()
            .filter(|method| *method == "resources/list")
            .count(),
        1
    );
}

/// The templates, asked for in the era without sessions.
fn modern_call(server: &Server<'_>) -> Value {
    modern_tool(server, "list_mcp_resource_templates")
}

/// The answer of a tool without arguments, asked for in the era without sessions.
fn modern_tool(server: &Server<'_>, tool: &str) -> Value {
    let headers = [
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        &format!("Mcp-Name: {tool}"),
    ];
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": tool, "arguments": {},
        "_meta": meta(),
    }});
    let answer = server.message(&headers, &call);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.header("mcp-session-id").is_none());
    answer.json()
}

#[test]
fn an_open_stream_does_not_hold_up_the_end() {
    let home = Home::new();
    sample(&home);
    let server = Server::start(&home, &[], None);
    let session = server.initialize();
    let session = session.header("mcp-session-id").unwrap();
    let mut reader = server.stream("GET", &[&format!("Mcp-Session-Id: {session}")], "");
    server.end();
    let mut rest = Vec::new();
    let _ = reader.read_to_end(&mut rest);
}

#[test]
fn it_never_calls_itself() {
    let home = Home::new();
    sample(&home);
    let server = Server::start(&home, &[], None);
    let port = server.address.port();
    let headers = format!(
        "headers = {{ Authorization = 'Bearer {}' }}\n",
        server.token
    );
    let urls = [
        format!("http://127.0.0.1:{port}/mcp"),
        format!("http://localhost:{port}/mcp"),
        format!("http://127.1:{port}/mcp"),
        // Nothing is read there but our own environment.
        format!("http://${{NO_SUCH_VARIABLE:-127.0.0.1}}:{port}/mcp"),
    ];
    let mut tables = vec![home.table("x", &Script::legacy().sample())];
    for (number, url) in urls.iter().enumerate() {
        let table = remote(&format!("self{number}"), url);
        tables.push(format!("{table}{headers}"));
    }
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    home.configure(&tables);
    let config = home.path(".config/mcpdeck/config.toml");
    let message = format!(
        "mcpdeck serve would start itself; remove it from {}",
        config.display()
    );
    let mut servers = json!([]);
    until("the config is read again", || {
        let mut answer = modern_tool(&server, "list_mcp_servers");
        servers = answer["result"]["structuredContent"]["servers"].take();
        servers.as_array().unwrap().len() == 1 + urls.len()
    });
    for server in &servers.as_array().unwrap()[1..] {
        assert_eq!(server["status"], "failed", "{server}");
        assert_eq!(server["error"]["kind"], "config", "{server}");
        assert_eq!(server["error"]["message"], message);
    }
    // None of them has opened a session.
    for number in 1..=64 {
        assert_eq!(server.initialize().status, 200, "session {number}");
    }
    server.end();
}

/// Reads until a line has the text.
fn read_until(reader: &mut BufReader<TcpStream>, text: &str) {
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "no {text}");
    }
}

#[test]
fn changes_are_told_on_streams_of_both_eras() {
    const CHANGED: &str = "notifications/resources/list_changed";
    let home = Home::new();
    let table = |name: &str| home.table(name, &Script::legacy().named("resources/list", &[name]));
    let (one, two) = (table("one"), table("two"));
    home.configure(&[&one]);
    let server = Server::start(&home, &[], None);
    let answer = modern_call(&server);
    assert_eq!(answer["result"]["isError"], false);

    let opened = server.initialize();
    let session = format!(
        "Mcp-Session-Id: {}",
        opened.header("mcp-session-id").unwrap()
    );
    let mut legacy = server.stream("GET", &[&session], "");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.message(&[&session], &initialized).status, 202);

    let headers = [
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: subscriptions/listen",
    ];
    let listen = json!({"jsonrpc": "2.0", "id": 4, "method": "subscriptions/listen", "params": {
        "notifications": {"resourcesListChanged": true}, "_meta": meta(),
    }});
    let mut modern = server.stream("POST", &headers, &listen.to_string());
    read_until(&mut modern, "notifications/subscriptions/acknowledged");

    home.configure(&[&one, &two]);
    read_until(&mut legacy, CHANGED);
    read_until(&mut modern, CHANGED);
    server.end();
}

#[test]
fn a_client_that_hangs_up_calls_off_what_it_asked() {
    let home = Home::new();
    let script = Script::legacy()
        .sample()
        .read("fake:///never", Reply::silence());
    home.configure(&[&home.table("x", &script)]);
    let server = Server::start(&home, &[], None);
    let headers = [
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Mcp-Name: read_mcp_resource",
    ];
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "read_mcp_resource", "arguments": {"server": "x", "uri": "fake:///never"},
        "_meta": meta(),
    }});
    let has = |method: &str| home.asked("x").iter().any(|asked| asked == method);
    let asking = server.request("POST", &headers, &call.to_string());
    until("the server is asked", || has("resources/read"));
    drop(asking);
    until("it is called off", || has("notifications/cancelled"));
    server.end();
}
