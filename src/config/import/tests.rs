use std::path::Path;

use super::*;

fn read_as(tool: Option<Tool>, path: &str, text: &str) -> Import {
    let environment = Environment::new([], Some("/home/ada".into()), "/code/notes".into());
    let input = ImportInput {
        path: Path::new(path),
        text,
        tool,
        scope: &Scope::User,
        platform: Platform::Unix,
        environment: &environment,
    };
    read(input).unwrap().unwrap_or_default()
}

/// The servers as `name definition`, and those left out as `name: reason`.
fn shown(import: &Import) -> Vec<String> {
    let servers = import.servers.iter();
    let servers = servers.map(|one| format!("{} {}", one.name, one.definition.to_json(false)));
    let out = import.left_out.iter();
    let out = out.map(|one| format!("{}: {}", one.name, one.reason));
    servers.chain(out).collect()
}

#[test]
fn every_table_that_holds_servers_is_known() {
    let server = r#"{"a": {"command": "x"}}"#;
    for text in [
        format!(r#"{{"mcpServers": {server}}}"#),
        format!(r#"{{"servers": {server}, "inputs": []}}"#),
        format!(r#"{{"context_servers": {server}}}"#),
        format!(r#"{{"mcp": {{"servers": {server}, "inputs": []}}}}"#),
        format!(r#"{{"mcp": {server}}}"#),
        r#"{"mcpServers": [{"name": "a", "command": "x"}, {"uses": "b"}]}"#.to_owned(),
        "\u{feff}// c\n{\"servers\": {\"a\": {\"command\": \"x\",},},}".to_owned(),
    ] {
        let import = read_as(None, "c.json", &text);
        assert_eq!(shown(&import), [r#"a {"command":"x"}"#], "{text}");
    }
    let import = read_as(None, "block.json", r#"{"command": "x"}"#);
    assert_eq!(shown(&import), [r#"block {"command":"x"}"#]);
    let import = read_as(None, "c.toml", "[mcp_servers.a]\ncommand = 'x'");
    assert_eq!(shown(&import), [r#"a {"command":"x"}"#]);
    let import = read_as(None, "ours.toml", "[servers.a]\ncommand = '${X}'");
    assert_eq!(shown(&import), [r#"a {"command":"${X}"}"#]);
    for (path, text) in [
        ("c.json", r#"{"mcp": {"allowed": []}}"#),
        ("c.json", r#"{"mcpServers": {}}"#),
        ("c.json", "{}"),
        ("config.yaml", "name: x\n"),
    ] {
        assert_eq!(shown(&read_as(None, path, text)), [""; 0], "{text}");
    }
}

#[test]
fn the_keys_of_each_tool_become_ours() {
    let check = |body: &str, expected: &str| {
        let import = read_as(
            None,
            "c.json",
            &format!(r#"{{"mcpServers": {{"a": {body}}}}}"#),
        );
        assert_eq!(shown(&import), [expected], "{body}");
        assert_eq!(
            import.servers.len(),
            usize::from(expected.starts_with("a {"))
        );
    };
    check(
        r#"{"type": "local", "command": ["x", "y"], "args": ["z"], "environment": {"K": 1}}"#,
        r#"a {"command":"x","args":["y","z"],"env":{"K":"1"}}"#,
    );
    check(
        r#"{"command": {"path": "x", "args": ["y"], "env": {"K": "v"}}}"#,
        r#"a {"command":"x","args":["y"],"env":{"K":"v"}}"#,
    );
    check(
        r#"{"type": "remote", "url": "https://x", "enabled": true}"#,
        r#"a {"url":"https://x"}"#,
    );
    check(
        r#"{"url": "https://x", "apiKey": "k", "requestOptions": {"timeout": 1, "headers": {"B": "c"}}}"#,
        r#"a {"url":"https://x","headers":{"B":"c","Authorization":"Bearer k"}}"#,
    );
    check(r#"{"command": []}"#, "a: a server needs `command` or `url`");
    check(
        r#"{"command": 1}"#,
        "a: `command` must be a string, not a number",
    );
    check(
        r#"{"command": "npx", "args": ["mcpdeck", "serve"]}"#,
        "a: its command is mcpdeck, which would start itself",
    );
    check(
        r#"{"command": "C:\\bin\\mcpdeck.exe"}"#,
        "a: its command is mcpdeck, which would start itself",
    );
    check(
        r#"{"command": "files", "args": ["/home/ada/mcpdeck"]}"#,
        r#"a {"command":"files","args":["/home/ada/mcpdeck"]}"#,
    );
}

#[test]
fn what_is_wrong_has_a_place() {
    let environment = Environment::new([], None, "/code/notes".into());
    let check = |path: &str, text: &str, expected: &str| {
        let error = read(ImportInput {
            path: Path::new(path),
            text,
            tool: None,
            scope: &Scope::User,
            platform: Platform::Unix,
            environment: &environment,
        });
        assert_eq!(error.unwrap_err().one_line(), expected);
    };
    check("c.yaml", "a: 1\na: 2\n", "c.yaml:2:1: duplicate key");
    check("c.json", "{\"a\": }", "c.json:1:7: unexpected close brace");
    let import = read_as(
        None,
        "c.yaml",
        "mcpServers:\n  - name: a\n    command: x\n    env:\n      TOKEN: hunter22\n",
    );
    assert_eq!(import.servers[0].line, 2);
    let secret = &import.servers[0].secrets[0];
    assert_eq!((&*secret.place, secret.line), ("env TOKEN", Some(5)));
    assert!(!format!("{import:?}").contains("hunter22"));
}

#[test]
fn a_repeated_name_of_a_list_counts_once() {
    let text = "mcpServers:\n  - {name: a, command: x}\n  - {name: a, command: y}\n";
    assert_eq!(
        shown(&read_as(None, "c.yaml", text)),
        [r#"a {"command":"y"}"#]
    );
}

#[test]
fn what_is_no_server_is_told_with_its_place() {
    let environment = Environment::new([], Some("/home/ada".into()), "/code/notes".into());
    let check = |path: &str, text: &str, expected: &str| {
        let input = ImportInput {
            path: Path::new(path),
            text,
            tool: None,
            scope: &Scope::User,
            platform: Platform::Unix,
            environment: &environment,
        };
        assert_eq!(read(input).unwrap_err().one_line(), expected, "{text}");
    };
    check(
        "c.json",
        "{\n\"mcpServers\": [\n{\"command\": \"x\"}]}",
        "c.json:3:1: `mcpServers[]` must be a server with a `name`, not a table",
    );
    check(
        "c.json",
        r#"{"mcpServers": ["npx x"]}"#,
        "c.json:1:17: `mcpServers[]` must be a server with a `name`, not a string",
    );
    check(
        "c.json",
        r#"{"servers": [{"command": "x"}]}"#,
        "c.json:1:14: `servers[]` must be a server with a `name`, not a table",
    );
    check(
        "c.json",
        r#"{"mcp": {"servers": ["x"]}}"#,
        "c.json:1:22: `mcp.servers[]` must be a server with a `name`, not a string",
    );
    check(
        "c.json",
        r#"{"context_servers": "x"}"#,
        "c.json:1:21: `context_servers` must be a table of servers by their names, not a string",
    );
    check(
        "c.toml",
        "mcp_servers = true",
        "c.toml:1:15: `mcp_servers` must be a table of servers by their names, not true or false",
    );
    check(
        "c.yaml",
        "mcpServers:\n  - name: a\n    <<: 7\n",
        "c.yaml:3:5: the merge key << takes a mapping or a list of mappings, as `<<: *name`",
    );
    let import = read_as(None, "c.json", r#"{"mcpServers": {"a": "npx x"}}"#);
    assert_eq!(
        shown(&import),
        ["a: `a` must be an object with `command` or `url`, not a string"]
    );
}

#[test]
fn a_merge_key_takes_over_what_is_not_there() {
    let text = "base: &base\n  command: npx\n  env: {A: b}\nmore: &more {command: y, cwd: /x}\nmcpServers:\n  - name: a\n    <<: [*base, *more]\n    env: {C: d}\n  - <<: *base\n    name: b\n";
    assert_eq!(
        shown(&read_as(None, "c.yaml", text)),
        [
            r#"a {"command":"npx","env":{"C":"d"},"cwd":"/x"}"#,
            r#"b {"command":"npx","env":{"A":"b"}}"#,
        ]
    );
}

#[test]
fn settings_of_vs_code_may_have_servers() {
    for text in [
        r#"{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"a": {"command": "x"}}}}"#,
        r#"{"mcp.servers": {"a": {"command": "x"}}}"#,
    ] {
        let import = read_as(Some(Tool::VsCode), "settings.json", text);
        assert_eq!(shown(&import), [r#"a {"command":"x"}"#], "{text}");
    }
}
