//! Many edits of one text. Servers that are added in a row are written together and checked
//! together, so that the text is not parsed anew for each.

use std::collections::{HashMap, HashSet};

use super::locate::SERVERS;
use super::write;
use super::{
    Edit, EditError, Removed, definition_json, edit, from_json, others_than, parse, server_names,
    split_bom,
};
use crate::config::tree::Node;

/// What an edit has done.
#[derive(Debug, Clone)]
pub enum Made {
    /// The text is another one, and what was taken out.
    Change(Option<Removed>),
    /// The text said so already.
    Nothing,
}

/// Makes the edits one after the other, as [`edit`] makes each. One that cannot be made does not
/// hinder the others.
#[must_use]
pub fn edit_all(text: &str, edits: &[Edit]) -> (String, Vec<Result<Made, EditError>>) {
    let mut text = text.to_owned();
    let mut made = Vec::with_capacity(edits.len());
    let mut together = edits.len();
    let mut is_usual = true;
    while let Some(next) = edits.get(made.len()) {
        let rest = &edits[made.len()..];
        let adds = rest.iter().take_while(|it| matches!(it, Edit::Add { .. }));
        let adds = adds.count().min(together);
        if is_usual && adds > 1 {
            match add(&text, &rest[..adds]) {
                Some((longer, results)) => {
                    text = longer;
                    made.extend(results);
                    together = edits.len();
                }
                // Half of them, until the one is found that hinders.
                None => together = adds / 2,
            }
            continue;
        }
        together = edits.len();
        let edited = edit(&text, next);
        // A text that wants a new server in another form wants all of them so.
        if is_usual && adds == 1 && edited.is_ok() {
            is_usual = add(&text, &rest[..1]).is_some();
        }
        made.push(edited.map(|edited| {
            if edited.text == text {
                return Made::Nothing;
            }
            text = edited.text;
            Made::Change(edited.removed)
        }));
    }
    (text, made)
}

type Added = (String, Vec<Result<Made, EditError>>);

/// The text with all the servers in the most usual form; `None` where that is not right for all.
fn add(text: &str, adds: &[Edit]) -> Option<Added> {
    let (bom, body) = split_bom(text);
    let before = parse(body).ok()?;
    let mut taken: HashSet<&str> = server_names(&before).collect();
    let mut expected: HashMap<&str, Node> = HashMap::with_capacity(adds.len());
    let mut longer = body.to_owned();
    let mut results = Vec::with_capacity(adds.len());
    for add in adds {
        let Edit::Add {
            name,
            definition,
            enabled,
        } = add
        else {
            return None;
        };
        if !taken.insert(name.as_str()) {
            results.push(Err(EditError::Exists(name.clone())));
            continue;
        }
        let json = definition_json(definition, *enabled);
        write::append(&mut longer, name.as_str(), &json);
        expected.insert(name.as_str(), from_json(&json));
        results.push(Ok(Made::Change(None)));
    }
    let after = parse(&longer).ok()?;
    let servers = after.get(SERVERS).and_then(Node::table).unwrap_or_default();
    let new = servers.iter().filter_map(|pair| {
        let expected = expected.get(&*pair.key)?;
        Some(*expected == pair.value)
    });
    let right: Vec<bool> = new.collect();
    let is_right = right.len() == expected.len() && right.into_iter().all(|right| right);
    let is_new = |name: &str| expected.contains_key(name);
    let untouched = others_than(&after, is_new) == others_than(&before, is_new);
    (is_right && untouched).then(|| (format!("{bom}{longer}"), results))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Definition, Stdio, Transport, Written};
    use crate::domain::ServerName;

    fn name(name: &str) -> ServerName {
        ServerName::new(name).unwrap()
    }

    fn adding(server: &str) -> Edit {
        Edit::Add {
            name: name(server),
            definition: Box::new(Definition::from(Transport::Stdio(Stdio {
                command: Written::plain(&format!("run \"{server}\"")),
                ..Stdio::default()
            }))),
            enabled: !server.ends_with("off"),
        }
    }

    /// What the edits give one by one.
    fn one_by_one(text: &str, edits: &[Edit]) -> (String, Vec<Result<bool, EditError>>) {
        let mut text = text.to_owned();
        let results = edits.iter().map(|it| {
            let edited = edit(&text, it)?.text;
            Ok(std::mem::replace(&mut text, edited) != text)
        });
        let results = results.collect();
        (text, results)
    }

    fn check(text: &str, edits: &[Edit]) {
        let (together, made) = edit_all(text, edits);
        let made: Vec<Result<bool, EditError>> = made
            .into_iter()
            .map(|made| made.map(|made| matches!(made, Made::Change(_))))
            .collect();
        assert_eq!((together, made), one_by_one(text, edits), "{text}");
    }

    #[test]
    fn what_is_added_together_is_what_is_added_one_by_one() {
        let names = [
            "a", "b.c", "x", "d off", "\u{e9}\"", "a", "y", "z", "w", "v",
        ];
        let mut edits: Vec<Edit> = names.map(adding).into();
        edits.insert(4, Edit::Remove { name: name("x") });
        edits.insert(
            7,
            Edit::SetEnabled {
                name: name("a"),
                enabled: true,
            },
        );
        for text in [
            "",
            "\u{feff}# mine\r\n[servers.x]\r\ncommand = 'c'\r\n",
            "[servers.x]\ncommand = 'c'",
            "[settings]\nmouse = true\n\n",
            "servers = { x = { command = 'c' } } # all\n",
            "servers.x = { command = 'c' }\n[settings]\n",
            "[servers]\nx.command = 'c'\n[[other]]\n",
            "broken = \n",
            "mcp_servers = {}\n",
        ] {
            check(text, &edits);
            check(text, &edits[1..2]);
            check(text, &[]);
        }
    }
}
