//! Many edits of one text. Servers that are added or replaced in a row are written together and
//! checked together, so that the text is not parsed anew for each.

use std::collections::{HashMap, HashSet};

use super::locate::SERVERS;
use super::remove::tables;
use super::scan::statements;
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
        if let Some((replaced, results)) = replace(&text, rest) {
            text = replaced;
            made.extend(results);
            continue;
        }
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

/// A text, and what edits have done to it.
type Done = (String, Vec<Result<Made, EditError>>);

/// The text with other tables in place of those of the first servers, of two at least; `None` where
/// that is not right for them.
fn replace(text: &str, edits: &[Edit]) -> Option<Done> {
    let [Edit::Replace { .. }, Edit::Replace { .. }, ..] = edits else {
        return None;
    };
    let (bom, body) = split_bom(text);
    // In a text with both line ends those of a new table depend on what is there.
    let breaks = body.matches('\n').count();
    if !matches!(body.matches("\r\n").count(), count if count == 0 || count == breaks) {
        return None;
    }
    let before = parse(body).ok()?;
    let taken: HashSet<&str> = server_names(&before).collect();
    let statements = statements(body)?;
    let mut tables = tables(body, &statements);
    let mut expected: HashMap<&str, Node> = HashMap::new();
    let mut places = Vec::new();
    let mut results = Vec::new();
    for edit in edits {
        let Edit::Replace {
            name,
            definition,
            enabled,
        } = edit
        else {
            break;
        };
        if !taken.contains(name.as_str()) {
            results.push(Err(EditError::NoSuchServer(name.clone())));
            continue;
        }
        let Some((place, gap)) = tables.remove(name.as_str()) else {
            break;
        };
        let json = definition_json(definition, *enabled);
        let table = write::of(body, name.as_str(), &json) + gap;
        expected.insert(name.as_str(), from_json(&json));
        results.push(Ok(if body[place.clone()] == *table {
            Made::Nothing
        } else {
            Made::Change(None)
        }));
        places.push((place, table));
    }
    if places.len() < 2 {
        return None;
    }
    places.sort_unstable_by_key(|(place, _)| place.start);
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    for (place, table) in places {
        replaced.push_str(&body[from..place.start]);
        replaced.push_str(&table);
        from = place.end;
    }
    replaced.push_str(&body[from..]);
    is_right(&before, &replaced, &expected).then(|| (format!("{bom}{replaced}"), results))
}

/// The text with all the servers in the most usual form; `None` where that is not right for all.
fn add(text: &str, adds: &[Edit]) -> Option<Done> {
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
    is_right(&before, &longer, &expected).then(|| (format!("{bom}{longer}"), results))
}

/// Whether the text says of these servers what it should, and of all else what it said before.
fn is_right(before: &Node, text: &str, expected: &HashMap<&str, Node>) -> bool {
    let Ok(after) = parse(text) else {
        return false;
    };
    let servers = after.get(SERVERS).and_then(Node::table).unwrap_or_default();
    let mut right = 0;
    for pair in servers {
        if let Some(expected) = expected.get(&*pair.key) {
            if *expected != pair.value {
                return false;
            }
            right += 1;
        }
    }
    let is_one = |name: &str| expected.contains_key(name);
    right == expected.len() && others_than(&after, is_one) == others_than(before, is_one)
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

    fn replacing(server: &str, how: &str) -> Edit {
        let Edit::Add {
            name, definition, ..
        } = adding(how)
        else {
            panic!("it adds");
        };
        Edit::Replace {
            name: ServerName::new(server).unwrap_or(name),
            definition,
            enabled: true,
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

    #[test]
    fn what_is_replaced_together_is_what_is_replaced_one_by_one() {
        let orders: [&[&str]; 4] = [
            &["a", "b", "c", "d"],
            &["d", "c", "b", "a", "none"],
            &["b", "none", "b", "a", "d"],
            &["c", "d"],
        ];
        let texts = [
            "[servers.a]\ncommand = 'x'\n\n[servers.b]\ncommand = 'y'\n# c\n\n\n[servers.c]\nurl = 'z'\n[servers.d]\ncommand = 'w'\n",
            "# top\r\n\r\n[servers.a]\r\ncommand = 'x'\r\n[servers.a.env]\r\nA = 'b'\r\n\r\n[settings]\r\nmouse = true\r\n\r\n[servers.b]\r\ncommand = 'y'\r\n\r\n[servers.c]\r\ncommand = 'z'\r\n\r\n[servers.d]\r\ncommand = 'w'\r\n\r\n",
            "\u{feff}[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 'y'\n[servers.a.env]\nA = 'b'\n[servers.c]\n[servers.d]\n\n# end\n",
            "[servers.a]\ncommand = 'x'\r\n\n[servers.b]\ncommand = 'y'\n\n[servers.c]\n[servers.d]\n[keys]\n",
            "servers = { a = { command = 'x' }, b = {}, c = {}, d = {} }\n",
            "[servers]\na.command = 'x'\nb = {}\n[servers.c]\n\n[servers.d]\n\n[[other]]\n",
        ];
        for (text, order) in texts
            .iter()
            .flat_map(|text| orders.map(|order| (text, order)))
        {
            let mut edits: Vec<Edit> = order.iter().map(|name| replacing(name, "new")).collect();
            check(text, &edits);
            edits.insert(1, adding("e"));
            edits.push(replacing("e", "newer"));
            edits.push(replacing("a", "new"));
            check(text, &edits);
        }
    }
}
