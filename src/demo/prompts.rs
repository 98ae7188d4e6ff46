//! The prompts of the demo server: ready-made messages with a few blanks.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::content;

struct Recipe {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Blank],
    write: fn(&JsonObject) -> String,
}

struct Blank {
    name: &'static str,
    description: &'static str,
    required: bool,
}

const RECIPES: [Recipe; 3] = [
    Recipe {
        name: "explain-word",
        title: "Explain a word",
        description: "Asks for a plain explanation of a word of MCP",
        arguments: &[
            Blank {
                name: "word",
                description: "The word, for example mcp/resource",
                required: true,
            },
            Blank {
                name: "audience",
                description: "Who is going to read it; a newcomer if you leave it out",
                required: false,
            },
        ],
        write: |given| {
            let word = text(given, "word");
            let audience = text_or(given, "audience", "a newcomer");
            let hint = content::word(word)
                .map(|meaning| format!("\n\nHere is what mcpdeck says about it: {meaning}"))
                .unwrap_or_default();
            format!("Please explain \"{word}\" to {audience}, with one small example.{hint}")
        },
    },
    Recipe {
        name: "plan-day",
        title: "Plan a day",
        description: "Asks for a calm plan for one day",
        arguments: &[
            Blank {
                name: "goal",
                description: "What you want to get done",
                required: true,
            },
            Blank {
                name: "hours",
                description: "How many hours you have; six if you leave it out",
                required: false,
            },
        ],
        write: |given| {
            let goal = text(given, "goal");
            let hours = text_or(given, "hours", "6");
            format!(
                "I have {hours} hours today and would like to: {goal}\n\n\
                 Please plan the day in a few steps, with breaks, and leave some room at the end."
            )
        },
    },
    Recipe {
        name: "kind-review",
        title: "A kind review",
        description: "Asks for a review of a text",
        arguments: &[
            Blank {
                name: "text",
                description: "The text to look at",
                required: true,
            },
            Blank {
                name: "tone",
                description: "How the review should sound; warm if you leave it out",
                required: false,
            },
        ],
        write: |given| {
            let review = text(given, "text");
            let tone = text_or(given, "tone", "warm");
            format!(
                "Please review the text below in a {tone} tone. Say first what works, then at \
                 most three things that could be better.\n\n{review}"
            )
        },
    },
];

/// All prompts, in the order in which they are listed.
pub(super) fn all() -> Vec<Prompt> {
    RECIPES.iter().map(prompt).collect()
}

/// The messages of one prompt, or what is wrong with the request.
pub(super) fn get(name: &str, given: &JsonObject) -> Result<GetPromptResult, String> {
    let recipe = RECIPES
        .iter()
        .find(|recipe| recipe.name == name)
        .ok_or_else(|| format!("there is no prompt \"{name}\""))?;
    let missing = recipe
        .arguments
        .iter()
        .find(|blank| blank.required && text(given, blank.name).is_empty());
    if let Some(blank) = missing {
        return Err(format!("the argument \"{}\" is missing", blank.name));
    }
    let message = PromptMessage::new_text(Role::User, (recipe.write)(given));
    Ok(GetPromptResult::new(vec![message]).with_description(recipe.description))
}

/// Values to offer for an argument of a prompt; none where anything goes.
pub(super) fn values(prompt: &str, argument: &str) -> Vec<&'static str> {
    match (prompt, argument) {
        ("explain-word", "word") => content::words().collect(),
        ("explain-word", "audience") => vec!["a newcomer", "a child", "an expert"],
        ("plan-day", "hours") => vec!["2", "4", "6", "8"],
        ("kind-review", "tone") => vec!["warm", "direct", "brief"],
        _ => Vec::new(),
    }
}

fn prompt(recipe: &Recipe) -> Prompt {
    let arguments = recipe
        .arguments
        .iter()
        .map(|blank| {
            PromptArgument::new(blank.name)
                .with_description(blank.description)
                .with_required(blank.required)
        })
        .collect();
    Prompt::new(recipe.name, Some(recipe.description), Some(arguments)).with_title(recipe.title)
}

fn text<'a>(given: &'a JsonObject, name: &str) -> &'a str {
    given.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn text_or<'a>(given: &'a JsonObject, name: &str, default: &'a str) -> &'a str {
    let value = text(given, name);
    if value.is_empty() { default } else { value }
}
