//! What the README says about serving.

use crate::support::program::Home;

const README: &str = include_str!("../../../README.md");

/// The section about serving.
fn section() -> &'static str {
    let rest = README.split("\n## For models: mcpdeck serve\n").nth(1);
    rest.and_then(|rest| rest.split("\n## ").next()).unwrap()
}

/// Its code blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let start = format!("\n```{language}\n");
    let blocks = section().split(start.as_str()).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

#[test]
fn its_snippets_start_us_in_every_format_that_we_read_ourselves() {
    let snippets = [blocks("toml"), blocks("json")].concat();
    // Codex, Cursor, VS Code.
    assert_eq!(snippets.len(), 3);
    for snippet in snippets {
        let home = Home::new();
        home.write("work/snippet", snippet);
        let shown = home.run(&["config", "show", "--json", "--config", "snippet"]);
        let shown = shown.json(0);
        let server = &shown["servers"][0];
        assert_eq!(server["name"], "mcpdeck", "{shown}");
        assert_eq!(server["definition"]["command"], "mcpdeck", "{shown}");
        let args = &server["definition"]["args"];
        assert_eq!(args, &serde_json::json!(["serve"]), "{shown}");
    }
    let commands = blocks("sh");
    assert!(commands[0].contains("claude mcp add mcpdeck -- mcpdeck serve"));
}

#[test]
fn every_option_that_it_names_is_one() {
    let home = Home::new();
    let ran = home.run(&["serve", "--help"]);
    let help = ran.text(0);
    assert!(help.contains("[default: 10s]"), "{help}");
    let options = section().split('`').filter(|text| text.starts_with("--"));
    let options: Vec<&str> = options.collect();
    assert!(options.len() >= 3, "{options:?}");
    for option in options {
        assert!(help.contains(option), "{option} is not in\n{help}");
    }
}
