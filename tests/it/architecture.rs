//! The layers of the crate, proved by reading its source.
//!
//! A path such as `crate::app::Handle` or `super::super::config` names a layer; which layers may
//! name which is the line in the crate's documentation. Test code counts as well. The scanner
//! reads names, not types: it is blind to what a macro writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Each layer, and the layers that it may name besides itself.
const LAYERS: [(&str, &[&str]); 11] = [
    ("domain", &[]),
    ("config", &["domain"]),
    ("mcp", &["domain", "config"]),
    ("app", &["domain", "config", "mcp", "demo", "telemetry"]),
    ("tui", FACE),
    ("cli", FACE),
    ("serve", FACE),
    ("demo", &[]),
    ("telemetry", &[]),
    // The program's own modules, beside `main.rs`: they put a face and the engine together.
    ("deck", &["domain", "config", "app", "tui", "cli"]),
    ("serving", &["app", "cli", "serve"]),
];

const FACE: &[&str] = &["domain", "config", "mcp", "app", "demo", "telemetry"];

/// Crates that only some layers may name. `main.rs` and `lib.rs` are the layer `""`.
const CRATES: [(&str, &[&str]); 4] = [
    ("rmcp", &["mcp", "serve", "demo"]),
    ("ratatui", &["tui"]),
    ("crossterm", &["tui"]),
    (
        "tokio",
        &["", "mcp", "app", "tui", "cli", "serve", "demo", "deck"],
    ),
];

#[test]
fn imports_go_one_way() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    assert!(files.len() > 10, "only {} files were found", files.len());
    let mut violations = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root)?;
        let text = fs::read_to_string(&file)?;
        for violation in scan(path, &text) {
            violations.push(format!("{}: {violation}", path.display()));
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
    Ok(())
}

/// Every folder and file in `src` is a layer that the table above knows.
#[test]
fn every_layer_is_known() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        let name = path.file_stem().context("no name")?.to_string_lossy();
        let known = LAYERS.iter().any(|(layer, _)| *layer == name);
        assert!(known || name == "main" || name == "lib", "{name}");
    }
    Ok(())
}

#[test]
fn the_scanner_finds_what_is_planted() {
    check("domain/ids.rs", "use crate::app::Handle;", &["names app"]);
    check(
        "domain/ids.rs",
        "let x = crate :: mcp :: y();",
        &["names mcp"],
    );
    check(
        "domain/ids.rs",
        "use super::super::config;",
        &["names config"],
    );
    check("domain/mod.rs", "use super::config;", &["names config"]);
    check(
        "mcp/a/b.rs",
        "use super::super::super::tui::x;",
        &["names tui"],
    );
    check("mcp/a/b.rs", "use super::super::wire;", &[]);
    check("mcp/a/mod.rs", "use super::super::tui::x;", &["names tui"]);
    check("telemetry.rs", "use super::app;", &["names app"]);
    check(
        "tui/view/list.rs",
        "use crate::{domain::Name, cli};",
        &["names cli"],
    );
    check(
        "cli/list.rs",
        "use crate::{\n    app::{self, tui},\n    serve::http,\n};",
        &["names serve"],
    );
    check(
        "serve/tools.rs",
        "use crate::{tui, cli};",
        &["names cli", "names tui"],
    );
    check(
        "tui/view.rs",
        "pub(in crate::cli) fn x() {}",
        &["names cli"],
    );
    check("app/mod.rs", "use mcpdeck::tui;", &["names tui"]);
    check("app/mod.rs", "use rmcp::model::Tool;", &["uses rmcp"]);
    check("app/mod.rs", "extern crate rmcp;", &["uses rmcp"]);
    check("app/mod.rs", "use rmcp as sdk;", &["uses rmcp"]);
    check(
        "app/mod.rs",
        "use {anyhow::Result, rmcp::model};",
        &["uses rmcp"],
    );
    check(
        "cli/list.rs",
        "let s = ratatui::text::Line::raw(x);",
        &["uses ratatui"],
    );
    check("app/mod.rs", "use ::crossterm::event;", &["uses crossterm"]);
    check(
        "domain/state.rs",
        "#[tokio::test]\nfn x() {}",
        &["uses tokio"],
    );
    check("config/mod.rs", "use tokio_util::sync;", &["uses tokio"]);
}

#[test]
fn the_scanner_lets_pass_what_is_fine() {
    check(
        "mcp/wire.rs",
        "use crate::domain::Name; use rmcp::Service;",
        &[],
    );
    check("main.rs", "use mcpdeck::{cli, tui, serve};", &[]);
    check("lib.rs", "pub mod tui;", &[]);
    check("demo/server.rs", "use super::{content, DEMO_NAME};", &[]);
    check("domain/ids.rs", "use super::{config, app};", &[]);
    check(
        "domain/ids.rs",
        "//! See [`crate::app`] and rmcp::model.",
        &[],
    );
    check(
        "domain/ids.rs",
        "let s = \"crate::app rmcp::x \\\" tokio::y\";",
        &[],
    );
    check(
        "domain/ids.rs",
        "let s = r#\"crate::app \" tokio::y\"#;",
        &[],
    );
    check(
        "domain/ids.rs",
        "/* crate::app /* rmcp::x */ tokio::y */",
        &[],
    );
    check(
        "domain/ids.rs",
        "fn f<'a>(c: char) { c == '\"' } // crate::app",
        &[],
    );
    check("domain/ids.rs", "let tokio = 1; let x = my_rmcp::y;", &[]);
}

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    let found: Vec<String> = scan(Path::new(path), text).into_iter().collect();
    assert_eq!(found, expected, "{path}: {text}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// What a file names and may not name; `path` counts from `src`.
fn scan(path: &Path, text: &str) -> BTreeSet<String> {
    let mut module: Vec<String> = path
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") || module == ["main"] || module == ["lib"] {
        module.pop();
    }
    let layer = module.first().map_or("", String::as_str);
    let words = words(text);
    let mut violations = BTreeSet::new();
    for at in 0..words.len() {
        for named in layers_named(&words, at, module.len()) {
            let allowed = LAYERS
                .iter()
                .find_map(|(name, allowed)| (*name == layer).then_some(*allowed));
            let is_layer = LAYERS.iter().any(|(name, _)| *name == named);
            let may = allowed.is_none_or(|allowed| named == layer || allowed.contains(&named));
            if is_layer && !may {
                violations.insert(format!("names {named}"));
            }
        }
        for (name, allowed) in CRATES {
            if uses_crate(&words, at, name) && !allowed.contains(&layer) {
                violations.insert(format!("uses {name}"));
            }
        }
    }
    violations
}

/// The first segments below the root of the crate in the path that begins at `at`.
fn layers_named<'a>(words: &[&'a str], at: usize, depth: usize) -> Vec<&'a str> {
    let word = |index: usize| words.get(index).copied().unwrap_or_default();
    if at > 0 && word(at - 1) == "::" {
        return Vec::new();
    }
    let mut next = at;
    match word(at) {
        "crate" | "mcpdeck" => next += 1,
        "super" => {
            let mut ups = 0;
            while word(next) == "super" {
                ups += 1;
                next += if word(next + 1) == "::" && word(next + 2) == "super" {
                    2
                } else {
                    1
                };
            }
            if ups < depth {
                return Vec::new();
            }
        }
        _ => return Vec::new(),
    }
    if word(next) != "::" {
        return Vec::new();
    }
    next += 1;
    if word(next) == "{" {
        heads(words, next)
    } else {
        vec![word(next)]
    }
}

/// The first segment of every path in the braces that open at `open`.
fn heads<'a>(words: &[&'a str], open: usize) -> Vec<&'a str> {
    let mut heads = Vec::new();
    let mut depth = 0_usize;
    let mut before = "";
    for word in words.iter().skip(open) {
        match *word {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            head if depth == 1 && matches!(before, "{" | ",") => heads.push(head),
            _ => {}
        }
        before = word;
    }
    heads
}

/// Whether the word at `at` is the crate `name` or one of its family, such as `tokio_util`.
fn uses_crate(words: &[&str], at: usize, name: &str) -> bool {
    let word = |index: usize| words.get(index).copied().unwrap_or_default();
    let family = word(at)
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    let before = at.checked_sub(1).map_or("", word);
    // After `x::` it is somebody's module; a `::` after nothing or a keyword begins a path.
    let owner = at.checked_sub(2).map_or("", word);
    let keyword = matches!(
        owner,
        "use" | "as" | "dyn" | "for" | "impl" | "in" | "return"
    );
    let inner = before == "::" && owner.starts_with(is_name) && !keyword;
    let imported = matches!(before, "use" | "crate") && matches!(word(at + 1), ";" | "as");
    family && !inner && (word(at + 1) == "::" || imported)
}

/// The names, `::` and single signs of Rust source, without comments, strings and characters.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(skipped) = skipped(rest) {
            rest = &rest[skipped..];
            continue;
        } else if is_name(first) {
            rest.find(|sign| !is_name(sign)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        words.push(&rest[..length]);
        rest = &rest[length..];
    }
    words
}

/// The length of the white space, comment, string or character that `text` begins with.
fn skipped(text: &str) -> Option<usize> {
    let end_of = |sign: &str, from: usize| {
        text[from..]
            .find(sign)
            .map_or(text.len(), |at| from + at + sign.len())
    };
    if text.starts_with(char::is_whitespace) {
        return Some(text.len() - text.trim_start().len());
    }
    if text.starts_with("//") {
        return Some(end_of("\n", 2));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    if text.starts_with('"') || text.starts_with("b\"") || text.starts_with("c\"") {
        return Some(quoted(text, '"'));
    }
    let raw = ["r", "br", "cr"].iter().find_map(|prefix| {
        let signs = text.strip_prefix(prefix)?;
        let hashes = signs.len() - signs.trim_start_matches('#').len();
        signs[hashes..]
            .starts_with('"')
            .then_some((prefix.len() + hashes + 1, hashes))
    });
    if let Some((start, hashes)) = raw {
        return Some(end_of(&format!("\"{}", "#".repeat(hashes)), start));
    }
    // 'x' or '\n' is a character, 'x alone a lifetime.
    let mut signs = text.chars();
    if signs.next() == Some('\'') && (signs.next() == Some('\\') || signs.next() == Some('\'')) {
        return Some(quoted(text, '\''));
    }
    None
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// The length up to the closing `quote`, where a backslash hides the next sign.
fn quoted(text: &str, quote: char) -> usize {
    let mut signs = text
        .char_indices()
        .skip_while(|(_, sign)| *sign != quote)
        .skip(1);
    while let Some((at, sign)) = signs.next() {
        if sign == '\\' {
            signs.next();
        } else if sign == quote {
            return at + 1;
        }
    }
    text.len()
}

fn is_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}
