//! Random config files, whose servers are toggled and removed at random: whatever is not of the
//! server stays as it is, to the byte.

use proptest::prelude::*;

use super::{Edit, edit};
use crate::domain::ServerName;

/// A piece of a config file, and which server it belongs to.
#[derive(Debug, Clone)]
struct Piece {
    text: String,
    server: Option<usize>,
}

/// What belongs to nobody: comments that look like servers, settings, keys, strings over lines.
fn between() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("# nothing\n\n".to_owned()),
        Just("\n".to_owned()),
        Just("#[servers.s0]\n#enabled = false\n\n".to_owned()),
        "# [a-z=\\[\\]{}\"'. é]{0,30}\n\n",
    ]
}

/// One server, in one of the forms in which people write it.
fn server(index: usize) -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just(format!("s{index}")),
        Just(format!("\"s{index}\"")),
        Just(format!("'s{index}'")),
        Just(format!(" s{index} ")),
    ];
    let comment = prop_oneof![Just(""), Just("# mine\n"), Just("# = [x] \"\n# two\n")];
    let end = prop_oneof![Just(""), Just("  # why"), Just("\t# enabled = true")];
    let body = prop_oneof![
        Just("command = 'c'\n"),
        Just("command = \"c\" # c\nargs = [\n  'a', # one\n  \"\"\"\n[servers.x]\n\"\"\",\n]\n"),
        Just("url='https://x'\nheaders={ A='b', \"C.D\" = 'e' }\n"),
        Just("enabled = true # on\ncommand = 'c'\n"),
        Just("command = 'c'\n\nenabled=false\n\n"),
    ];
    let below = prop_oneof![Just(""), Just("ENV"), Just("\nENV")];
    (name, comment, end, body, below).prop_map(move |(name, comment, end, body, below)| {
        let bare = name.trim();
        let below = below.replace("ENV", &format!("[servers.{bare}.env]\nA = 'b' # c\n"));
        // A server with a URL has no variables.
        let below = if body.starts_with("url") { "" } else { &below };
        format!("{comment}[servers.{name}]{end}\n{body}{below}\n")
    })
}

fn config() -> impl Strategy<Value = Vec<Piece>> {
    let servers = (1..5_usize).prop_flat_map(|count| {
        let servers: Vec<_> = (0..count).map(server).collect();
        (servers, prop::collection::vec(between(), count + 1))
    });
    let head = prop_oneof![
        Just(""),
        Just("# my servers\n\n"),
        Just("[settings]\nmouse = false # no\n\n[keys]\nquit = ['x', \"ctrl-c\"]\n\n"),
    ];
    (head, servers, any::<(bool, bool, bool)>()).prop_map(
        |(head, (servers, between), (crlf, bom, cut))| {
            let nobody = |text: &str| Piece {
                text: text.to_owned(),
                server: None,
            };
            let mut pieces = vec![nobody(if bom { "\u{feff}" } else { "" }), nobody(head)];
            for (index, text) in servers.into_iter().enumerate() {
                pieces.push(nobody(&between[index]));
                pieces.push(Piece {
                    text,
                    server: Some(index),
                });
            }
            pieces.push(nobody(&between[between.len() - 1]));
            if crlf {
                for piece in &mut pieces {
                    piece.text = piece.text.replace('\n', "\r\n");
                }
            }
            if cut && let Some(last) = pieces.last_mut() {
                last.text = last.text.trim_end().to_owned();
            }
            pieces
        },
    )
}

fn whole(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| &*piece.text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn everything_else_is_equal_to_the_byte(
        mut pieces in config(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<bool>()), 1..8),
    ) {
        for (index, removes, enabled) in steps {
            let there: Vec<usize> = pieces.iter().filter_map(|piece| piece.server).collect();
            let server = there[index.index(there.len())];
            let place = pieces.iter().position(|piece| piece.server == Some(server)).unwrap();
            let (before, after) = (whole(&pieces[..place]), whole(&pieces[place + 1..]));
            let name = ServerName::new(&format!("s{server}")).unwrap();
            let change = if removes {
                Edit::Remove { name }
            } else {
                Edit::SetEnabled { name, enabled }
            };
            let text = edit(&whole(&pieces), &change).unwrap().text;
            if removes {
                // Of the blank lines on both sides some go along. The next step is on the text as
                // it was, whose pieces are known.
                let rest = text.strip_prefix(before.trim_end());
                let rest = rest.unwrap_or_else(|| panic!("before is not whole:\n{before}\n---\n{text}"));
                let gap = rest.strip_suffix(after.trim_start());
                let gap = gap.unwrap_or_else(|| panic!("after is not whole:\n{after}\n---\n{text}"));
                // Comments above it may stay.
                let is_comment = |line: &str| line.trim().is_empty() || line.starts_with('#');
                prop_assert!(gap.lines().all(is_comment), "{}\n---\n{}", text, gap);
            } else {
                prop_assert!(text.starts_with(&before), "before is not whole:\n{}\n---\n{}", before, text);
                prop_assert!(text.ends_with(&after), "after is not whole:\n{}\n---\n{}", after, text);
                let own = &text[before.len()..text.len() - after.len()];
                let old = pieces[place].text.clone();
                // One line at most is another one, or more.
                let differing = |one: &str, two: &str| {
                    one.lines().filter(|line| !two.lines().any(|other| other == *line)).count()
                };
                prop_assert!(differing(own, &old) <= 1 && differing(&old, own) <= 1, "{}\n---\n{}", old, own);
                pieces[place].text = own.to_owned();
            }
        }
    }
}
