//! The man page, made of the command line: one page, with a section for each command.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// What the command line cannot say.
const REST: &str = r#".SH "EXIT STATUS"
.TP
.B 0
All went well.
.TP
.B 1
Something went wrong inside.
.TP
.B 2
Wrong usage or config.
.TP
.B 3
A server failed to connect or a listing failed; what succeeded is still printed.
.TP
.B 4
There is no such server or resource.
.TP
.B 5
The only failures are missing log\-ins.
.TP
.B 129, 130, 143
Ended by a hang\-up, an interrupt, or a request to terminate.
.SH FILES
.TP
.I ~/.config/mcpdeck/config.toml
The user\(aqs config file, below
.B XDG_CONFIG_HOME
where that is set;
.B mcpdeck config path
prints it, and
.B mcpdeck config example
prints one with every key.
.TP
.IR ./.mcpdeck.toml ", " ./.mcp.json
Project files; their servers wait for an approval.
.TP
.I ~/.local/state/mcpdeck
Approvals and the log file, below
.B XDG_STATE_HOME
where that is set.
.SH ENVIRONMENT
.TP
.B MCPDECK_CONFIG
The config file to read in place of the usual ones.
.TP
.BI MCPDECK_INPUT_ NAME
The value for
.BI ${input: NAME }
in a file of VS Code.
.TP
.B NO_COLOR
Draw without colours.
"#;

/// The whole page.
pub fn page(mut command: Command) -> String {
    command.build();
    let mut page = String::from(".TH MCPDECK 1\n.SH NAME\n");
    let about = command.get_about().map(ToString::to_string);
    let long = command.get_long_about().map(ToString::to_string);
    line(
        &mut page,
        &format!("mcpdeck - {}", about.unwrap_or_default()),
    );
    page.push_str(".SH SYNOPSIS\n");
    usage(&mut page, &command);
    page.push_str(".SH DESCRIPTION\n");
    paragraphs(&mut page, &long.unwrap_or_default());
    help(&mut page, &command);
    page.push_str(".SH OPTIONS\nOptions stand before or after the command.\n");
    let mut heading = None;
    for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
        if arg.get_help_heading() != heading {
            heading = arg.get_help_heading();
            let _ = writeln!(page, ".SS \"{}\"", escaped(heading.unwrap_or("Other")));
        }
        argument(&mut page, arg);
    }
    page.push_str(".SH COMMANDS\n");
    for below in command.get_subcommands() {
        section(&mut page, below);
    }
    page.push_str(REST);
    page
}

/// The section of a command, and those of the commands below it.
fn section(page: &mut String, command: &Command) {
    if command.get_name() == "help" {
        return;
    }
    if command.has_subcommands() {
        for below in command.get_subcommands() {
            section(page, below);
        }
        return;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let _ = writeln!(page, ".SS \"{}\"", escaped(name));
    usage(page, command);
    page.push_str(".PP\n");
    let about = command.get_long_about().or_else(|| command.get_about());
    paragraphs(
        page,
        &format!("{}.", about.map(ToString::to_string).unwrap_or_default()),
    );
    let own = |arg: &&Arg| !arg.is_global_set() && arg.get_id() != "help";
    for arg in command.get_arguments().filter(own) {
        argument(page, arg);
    }
    help(page, command);
}

fn usage(page: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    page.push_str(".nf\n");
    for text in usage.trim_start_matches("Usage: ").lines() {
        line(page, text.trim());
    }
    page.push_str(".fi\n");
}

fn argument(page: &mut String, arg: &Arg) {
    let names = arg.get_value_names().unwrap_or_default();
    let values: Vec<String> = names
        .iter()
        .map(|name| format!("\\fI{}\\fR", escaped(name)))
        .collect();
    let short = arg.get_short().map(|short| format!("\\fB\\-{short}\\fR"));
    let long = arg.get_long();
    let long = long.map(|long| format!("\\fB{}\\fR", escaped(&format!("--{long}"))));
    let flags: Vec<String> = [short, long].into_iter().flatten().collect();
    let takes = arg.get_action().takes_values();
    let mut words = vec![flags.join(", ")];
    if takes {
        words.push(values.join(" "));
    }
    words.retain(|word| !word.is_empty());
    let _ = writeln!(page, ".TP\n{}", words.join(" "));
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let possible = arg.get_possible_values();
    if takes && !possible.is_empty() {
        let words: Vec<&str> = possible
            .iter()
            .map(clap::builder::PossibleValue::get_name)
            .collect();
        let _ = write!(text, ": {}", words.join(", "));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().collect();
    if let (true, [default]) = (takes, &defaults[..]) {
        let _ = write!(text, " (default: {})", default.to_string_lossy());
    }
    line(page, &text);
}

/// What stands behind the options in `--help`: indented lines as they are, the rest filled.
fn help(page: &mut String, command: &Command) {
    let help = command.get_after_help().map(ToString::to_string);
    paragraphs(page, &help.unwrap_or_default());
}

fn paragraphs(page: &mut String, text: &str) {
    let mut first = true;
    let mut verbatim = false;
    for text in text.lines() {
        let indented = text.starts_with("  ");
        if indented != verbatim {
            page.push_str(if indented { ".PP\n.nf\n" } else { ".fi\n" });
            verbatim = indented;
        }
        if text.is_empty() {
            continue_with(page, &mut first);
        } else {
            if first && !indented {
                continue_with(page, &mut first);
            }
            first = false;
            line(page, text);
        }
    }
    if verbatim {
        page.push_str(".fi\n");
    }
}

/// A new paragraph begins.
fn continue_with(page: &mut String, first: &mut bool) {
    if !page.ends_with(".PP\n") {
        page.push_str(".PP\n");
    }
    *first = false;
}

/// A line of text that is none of a command of roff.
fn line(page: &mut String, text: &str) {
    let text = escaped(text);
    let guard = if text.starts_with(['.', '\'']) {
        "\\&"
    } else {
        ""
    };
    let _ = writeln!(page, "{guard}{text}");
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
        .replace('"', "\\(dq")
}
