//! Tools and prompts: they need only a name; what is bad beside it is left out and noted.

use serde_json::value::RawValue;

use crate::domain::item::{Prompt, PromptArgument, Tool};
use crate::mcp::http::misfit;

use super::fields::{Defect, Fields, Keys};
use super::rules::{Notes, Rules};
use super::schema::{self, Unusable};
use super::texts::{block, line, required};

/// The most prompt arguments of a listing. Far beyond what a person or model could use, it keeps
/// a page of tiny arguments from becoming a multiple of its size in memory.
pub(super) const MAX_ARGUMENTS: usize = 100_000;

impl Rules for Tool {
    const KEYS: &'static [&'static str] = &[
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
    ];
    const MAX_BYTES: usize = 10_000_000;

    fn decode(fields: &Fields<'_>, notes: &mut Notes<'_>) -> Result<Self, Defect> {
        let name = required(fields, "name")?;
        Ok(Self {
            title: notes.lenient(&name, line(fields, "title")),
            description: notes.lenient(&name, block(fields, "description")),
            input_schema: object(fields, "inputSchema", &name, notes),
            output_schema: object(fields, "outputSchema", &name, notes),
            annotations: object(fields, "annotations", &name, notes),
            name,
        })
    }

    fn misfit_over_http(&self) -> Option<(&str, &'static str)> {
        let schema = self.input_schema.as_ref()?;
        Some((&self.name, misfit(schema.get())?))
    }
}

fn object(
    fields: &Fields<'_>,
    key: &'static str,
    name: &str,
    notes: &mut Notes<'_>,
) -> Option<Box<RawValue>> {
    let value = fields.get(key)?;
    if !value.is_object() {
        notes.left_out(name, &Defect::new(key, "is not an object"));
        return None;
    }
    match schema::compact(value.0, Tool::MAX_BYTES) {
        Ok(json) => Some(json),
        Err(Unusable::TooLarge) => {
            notes.too_large = true;
            None
        }
        Err(Unusable::Because(problem)) => {
            notes.left_out(name, &Defect::new(key, problem));
            None
        }
    }
}

impl Rules for Prompt {
    const KEYS: &'static [&'static str] = &["name", "title", "description", "arguments"];
    const MAX_BYTES: usize = 10_000_000;

    fn decode(fields: &Fields<'_>, notes: &mut Notes<'_>) -> Result<Self, Defect> {
        let name = required(fields, "name")?;
        Ok(Self {
            title: notes.lenient(&name, line(fields, "title")),
            description: notes.lenient(&name, block(fields, "description")),
            arguments: arguments(fields, &name, notes),
            name,
        })
    }
}

fn arguments(
    fields: &Fields<'_>,
    name: &str,
    notes: &mut Notes<'_>,
) -> Option<Box<[PromptArgument]>> {
    let value = fields.get("arguments")?;
    let mut list = Arguments {
        name,
        notes,
        kept: Vec::new(),
    };
    let mut number = 0;
    let array = value.each_element(|argument| {
        number += 1;
        list.add(number, Fields::read(ARGUMENT_KEYS, argument.0));
    });
    let kept = list.kept;
    if array.is_none() {
        notes.left_out(name, &Defect::new("arguments", "is not an array"));
        return None;
    }
    Some(kept.into())
}

/// The arguments of one prompt.
struct Arguments<'a, 'n> {
    name: &'a str,
    notes: &'a mut Notes<'n>,
    kept: Vec<PromptArgument>,
}

const ARGUMENT_KEYS: Keys = &["name", "title", "description", "required"];

impl Arguments<'_, '_> {
    fn add(&mut self, number: usize, fields: Option<Fields<'_>>) {
        let Some(fields) = fields else {
            let what = format!("argument {number} is not an object");
            return self.notes.left_out(self.name, &what);
        };
        let name = match required(&fields, "name") {
            Ok(name) => name,
            Err(defect) => return self.note(number, defect),
        };
        if *self.notes.arguments_left == 0 {
            let what = format!("argument {number} is one of more than 100,000 in this listing");
            return self.notes.left_out(self.name, &what);
        }
        *self.notes.arguments_left -= 1;
        let required = fields.get("required").map(|value| {
            let defect = Defect::new("required", "is not true or false");
            value.bool().ok_or(defect)
        });
        let argument = PromptArgument {
            name,
            title: self.lenient(number, line(&fields, "title")),
            description: self.lenient(number, block(&fields, "description")),
            required: self.lenient(number, required.transpose()),
        };
        self.kept.push(argument);
    }

    fn lenient<T>(&mut self, number: usize, field: Result<Option<T>, Defect>) -> Option<T> {
        field.unwrap_or_else(|defect| {
            self.note(number, defect);
            None
        })
    }

    fn note(&mut self, number: usize, defect: Defect) {
        let what = format!("argument {number}: {defect}");
        self.notes.left_out(self.name, &what);
    }
}
