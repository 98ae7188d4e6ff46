//! `mcpdeck config`: path, show, example and check, and errors like those of a compiler.

use serde_json::json;

use crate::support::site::{Site, USER};

const SERVERS: &str = "\
[servers.files]
command = \"npx\"
args = [\"-y\", \"server\"]
env = { TOKEN = \"hunter22\" }
enabled = false

[servers.\"a.b\"]
url = \"https://example.org/mcp\"
headers = { Authorization = \"Bearer hunter22\" }
";

#[test]
fn the_path_is_where_a_new_server_is_written() {
    let site = Site::new(&[
        ("work/one.toml", ""),
        ("work/other.json", "{\"servers\": {}}"),
    ]);
    let check = |args: &[&str], expected: &str| {
        let ran = site.run(args).ends_with(0);
        assert_eq!(site.short(&ran.stdout), format!("{expected}\n"), "{args:?}");
    };
    check(&["config", "path"], &format!("~/{USER}"));
    check(
        &[
            "config",
            "path",
            "--config",
            "one.toml",
            "--config",
            "other.json",
        ],
        "one.toml",
    );
    let ran = site.run(&["config", "path", "--json"]).ends_with(0).json();
    assert_eq!(ran["files"].as_array().unwrap().len(), 3);
    assert_eq!(ran["files"][0]["exists"], false);
    // It is also said of a file with an error: that is when it is needed most.
    site.write(USER, "a =");
    check(&["config", "path"], &format!("~/{USER}"));
}

#[test]
fn show_gives_the_merged_result_without_secrets() {
    let site = Site::new(&[
        (USER, SERVERS),
        ("work/.mcpdeck.toml", "[servers.mine]\ncommand = 'x'\n"),
    ]);
    let ran = site.run(&["config", "show"]).ends_with(0);
    assert!(!ran.stdout.contains("hunter22"));
    let servers = ran.stdout.split_once("\n\n").unwrap().1;
    assert_eq!(
        site.short(servers),
        format!(
            "\
# ~/{USER}:1
[servers.files]
command = \"npx\"
args = [\"-y\", \"server\"]
env = {{ TOKEN = \"***\" }}
enabled = false

# ~/{USER}:7
[servers.\"a.b\"]
url = \"https://example.org/mcp\"
headers = {{ Authorization = \"***\" }}

# ~/work/.mcpdeck.toml:1
# untrusted: of a project file that was not approved
[servers.mine]
command = \"x\"
"
        )
    );
    assert!(
        ran.stdout
            .starts_with("[settings]\nconnect_timeout = \"30s\"\n")
    );
    let ran = site.run(&["config", "show", "--json"]).ends_with(0);
    assert!(!ran.stdout.contains("hunter22"));
    let shown = ran.json();
    assert_eq!(
        shown["servers"][0]["definition"]["env"],
        json!({"TOKEN": "***"})
    );
    assert_eq!(shown["servers"][2]["trusted"], false);
    let only = site.run(&["config", "show", "--json", "--server", "mine"]);
    assert_eq!(only.json()["servers"].as_array().unwrap().len(), 1);
    let none = site
        .run(&["config", "show", "--server", "nope"])
        .ends_with(4);
    assert!(none.stderr.contains("available servers: files, a.b, mine"));
}

#[test]
fn the_example_is_a_config() {
    let site = Site::new(&[]);
    let example = site.run(&["config", "example"]).ends_with(0).stdout;
    site.write(USER, &example);
    let ran = site.run(&["config", "check"]).ends_with(0);
    assert_eq!(
        site.short(&ran.stdout),
        format!("~/{USER}: 0 servers, no error\n")
    );
}

#[test]
fn check_says_what_is_wrong_like_a_compiler() {
    let check = |text: &str, expected: &str| {
        let site = Site::new(&[(USER, text)]);
        let ran = site.run(&["config", "check"]).ends_with(2);
        assert_eq!(ran.stdout, "");
        assert_eq!(ran.stderr, expected);
    };
    check(
        "[servers.files]\ncommand = \"npx\"\nagrs = []\n",
        "mcpdeck: error: server \"files\": unknown key `agrs`
 --> ~/.config/mcpdeck/config.toml:3:1
  |
3 | agrs = []
  | ^^^^ did you mean `args`?
mcpdeck: 1 error
",
    );
    check(
        "[setings]\n",
        "mcpdeck: error: unknown key `setings`
 --> ~/.config/mcpdeck/config.toml:1:2
  |
1 | [setings]
  |  ^^^^^^^ did you mean `settings`?
mcpdeck: 1 error
",
    );
    check(
        "[servers.a]\nurl = \"https://x\"\nheaders = { A = \"${NOPE}\" }\n[servers.b]\nargs = []\n",
        "mcpdeck: error: server \"a\": environment variable NOPE is not set
 --> ~/.config/mcpdeck/config.toml:3:17
  |
3 | headers = { A = \"***\" }
  |                 ^^^^^
mcpdeck: error: server \"b\": a server needs `command` or `url`
 --> ~/.config/mcpdeck/config.toml:4:10
  |
4 | [servers.b]
  |          ^
mcpdeck: 2 errors
",
    );
}

#[test]
fn check_looks_at_every_file() {
    let site = Site::new(&[
        (USER, "a ="),
        ("work/.mcpdeck.toml", "[servers.a]\ncommand = 1\n"),
        (
            "work/.mcp.json",
            "{\"mcpServers\": {\"b\": {\"command\": \"x\",\n\"foo\": 1}}, \"bar\": 2}",
        ),
    ]);
    let ran = site.run(&["config", "check", "-v"]).ends_with(2);
    assert!(
        ran.stderr
            .contains("~/work/.mcp.json:2: key `bar` is not read")
    );
    assert!(ran.stderr.contains("config.toml:1:4"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("`command` must be a string, not a number")
    );
    assert!(
        ran.stderr
            .contains("~/work/.mcp.json:2: key `foo` of server \"b\" is not read")
    );
    assert!(ran.stderr.ends_with("mcpdeck: 2 errors\n"));
    let ran = site
        .run(&["config", "check", "--config", "no.toml"])
        .ends_with(2);
    assert!(ran.stderr.contains("no.toml: no such file or directory"));
    let keys = |text: &str, expected: &str| {
        site.write("keys.toml", text);
        let ran = site
            .run(&["config", "check", "--config", "../keys.toml"])
            .ends_with(2);
        assert_eq!(
            ran.stderr,
            format!("mcpdeck: error: {expected}\nmcpdeck: 1 error\n")
        );
    };
    keys(
        "[keys]\nquit = []\n",
        "[keys] leaves no key for `quit`\n --> ../keys.toml:2:1\n  |\n2 | quit = []\n  | ^^^^",
    );
    keys(
        "[keys]\nrefrsh = ['x']\n",
        "unknown key `refrsh`\n --> ../keys.toml:2:1\n  |\n2 | refrsh = ['x']\n  | ^^^^^^ did you mean `refresh`?",
    );
    keys(
        "[keys]\nhelp = ['h1', 'ctrl-i']\n",
        "unknown key `h1` for `help` in [keys]\n --> ../keys.toml:2:9\n  |\n2 | help = ['h1', 'ctrl-i']\n  |         ^^^^",
    );
    keys(
        "[keys]\nhelp = ['ctrl-i']\n",
        "`ctrl-i` for `help` in [keys] cannot be told from Tab on a terminal\n --> ../keys.toml:2:9\n  |\n2 | help = ['ctrl-i']\n  |         ^^^^^^^^",
    );
    // The list of the file is named, wherever the other one stands in the table.
    keys(
        "[keys]\ntoggle = ['r']\n",
        "key `r` is bound to both `toggle` and `refresh` in [keys]\n --> ../keys.toml:2:11\n  |\n2 | toggle = ['r']\n  |           ^^^",
    );
    // What is switched off is not expanded.
    site.write(
        "off.toml",
        "servers.a = { command = '${NOPE}', enabled = false }",
    );
    site.run(&["config", "check", "--config", "../off.toml"])
        .ends_with(0);
}

#[test]
fn wrong_usage_ends_with_2() {
    let site = Site::new(&[]);
    for args in [
        &["config"][..],
        &["config", "x"],
        &["config", "path", "--timeout", "5"],
    ] {
        let ran = site.run(args).ends_with(2);
        assert_eq!(ran.stdout, "");
        assert_ne!(ran.stderr, "");
    }
}

#[test]
fn a_secret_is_shown_nowhere_in_a_definition() {
    let site = Site::new(&[(
        USER,
        "[servers.a]\ncommand = 'x'\nargs = ['--token', 'hunter22-a', '--api-key=hunter22-b']\nenv = { MODE = 'hunter22-c' }\n\
         [servers.b]\nurl = 'https://ada:hunter22-d@example.org/mcp?api_key=hunter22-e&x=y'\nheaders_command = ['p', '--secret', 'hunter22-f']\n\
         oauth = { client_id = 'me', client_secret = 'hunter22-g' }\n",
    )]);
    for args in [&["config", "show"][..], &["config", "show", "--json"]] {
        let ran = site.run(args).ends_with(0);
        assert!(!ran.stdout.contains("hunter22"), "{ran:?}");
        assert!(ran.stdout.contains("--api-key=***"), "{ran:?}");
        assert!(
            ran.stdout
                .contains("https://ada:***@example.org/mcp?api_key=***&x=y")
        );
    }
}
