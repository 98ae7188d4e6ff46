//! What a server writes to stderr, as the Stderr tab and the failure of a server show it.

use super::Terminal;
use crate::support::program::{Home, shell};

#[test]
fn what_has_no_line_break_yet_is_shown_as_it_grows() {
    let home = Home::new();
    // Each further part follows when a line of its stdin has come.
    let script = "printf 'Pass' >&2; read -r line; printf 'word: ' >&2; read -r line; \
        head -c 20000 /dev/zero | tr '\\0' x >&2; exec cat";
    home.configure(&["[settings]\nprobe_timeout = '1s'\n", &shell("asks", script)]);
    let mut deck = Terminal::deck(&home, &[]);
    deck.press("7");
    deck.shows(&["Pass"]);
    deck.shows(&["Password: xxxxxxxx"]);
    deck.press("q");
    assert_eq!(deck.code(), 0);
}

#[test]
fn a_failure_quotes_a_prompt_that_nobody_answers() {
    let home = Home::new();
    home.configure(&[
        "[settings]\nprobe_timeout = '1ms'\nconnect_timeout = '300ms'\n",
        &shell("asks", "printf 'Passphrase for key: ' >&2; exec sleep 60"),
    ]);
    let ran = home.run(&["list"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stdout.contains("stderr: Passphrase for key:"),
        "{ran:?}"
    );
    home.assert_nothing_left();
}
