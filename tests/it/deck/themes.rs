//! Colours: those of the theme that the settings name, and of a person's own.

use vt100::Color;

use super::{FILE, Terminal};
use crate::support::program::{Home, shell};

/// A home whose settings name the theme, with a file of that name beside the config.
fn home(theme: &str, file: &str) -> Home {
    let home = Home::new();
    let broken = shell("broken", "exit 7");
    home.configure(&[&format!("[settings]\ntheme = '{theme}'\n"), &broken]);
    home.write(".config/mcpdeck/mine.toml", file);
    home
}

/// The colours of the first letter of the title, and of the corner that is always empty.
fn colours(home: &Home) -> (Color, Color) {
    let mut deck = Terminal::colourful(home);
    deck.line_with(&["broken", "failed"]);
    let found = deck.with_screen(|screen| {
        let title = screen.cell(0, 1).unwrap();
        assert_eq!(title.contents(), "m");
        (title.fgcolor(), screen.cell(0, 0).unwrap().bgcolor())
    });
    deck.press("q");
    assert_eq!(deck.code(), 0);
    found
}

#[test]
fn the_deck_has_the_colours_of_its_theme() {
    let check = |theme: &str, file: &str, title: Color, ground: Color| {
        assert_eq!(colours(&home(theme, file)), (title, ground), "{theme}");
    };
    check("dark", "", Color::Idx(6), Color::Default);
    check("light", "", Color::Idx(25), Color::Default);
    check("high-contrast", "", Color::Idx(51), Color::Idx(16));
    let mine = "text = { bg = '#102030' }\naccent = { fg = '#ff8000' }\n";
    let (orange, navy) = (Color::Rgb(255, 128, 0), Color::Rgb(16, 32, 48));
    check("mine.toml", mine, orange, navy);
}

#[test]
fn what_is_wrong_with_a_theme_is_told_before_anything_is_drawn() {
    let check = |theme: &str, file: &str, told: &[&str]| {
        let home = home(theme, file);
        let mut deck = Terminal::deck(&home, &[]);
        assert_eq!(deck.code(), 2);
        deck.shows(told);
        deck.assert_sane();
        let checked = home.run(&["config", "check"]);
        let stderr = checked.refused(2);
        assert!(told.iter().all(|text| stderr.contains(text)), "{stderr}");
    };
    let near: &[&str] = &["mine.toml:2:1", "accent"];
    check("mine.toml", "dim = {}\nacent = {}\n", near);
    check("gone.toml", "", &["gone.toml", "no such file"]);
    check(
        "drak",
        "",
        &["config.toml:2:", "high-contrast", "did you mean `dark`?"],
    );
    assert!(home("dark", "").read(FILE).contains("dark"));
}
