//! The calls a person makes: read a resource, get a prompt, complete an argument.

use std::collections::HashMap;

use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, CompletionContext,
    GetPromptRequest, GetPromptRequestParams, ReadResourceRequest, ReadResourceRequestParams,
    Reference,
};

use super::connection::{CallError, Requester};
use super::decode::completion::{self, Completion};
use super::decode::contents::{self, Content, Reading};
use super::decode::prompt::{self, PromptText};
use crate::domain::{Failure, FailureKind};

/// How often a call is repeated with the state that the server asks to be given back.
const MAX_ROUNDS: usize = 3;

/// Reads the resource. The URI is sent as it is, and the contents come as the server sent them.
///
/// # Errors
///
/// Why there are no contents.
pub async fn read_resource(requester: &Requester, uri: &str) -> Result<Vec<Content>, Failure> {
    let raw = in_rounds(requester, |state| {
        let mut params = ReadResourceRequestParams::new(uri);
        params.request_state = state;
        ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
    })
    .await?;
    match contents::read(&raw)? {
        Reading::Contents(contents) => Ok(contents),
        Reading::InputRequired(_) => Err(asks_for_input()),
    }
}

/// Gets the prompt's messages. They are the server's text, not sanitized.
///
/// # Errors
///
/// Why there are no messages.
pub async fn get_prompt(
    requester: &Requester,
    name: &str,
    arguments: &[(String, String)],
) -> Result<PromptText, Failure> {
    let raw = in_rounds(requester, |state| {
        let mut params = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            let pairs = arguments
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()));
            params.arguments = Some(pairs.collect());
        }
        params.request_state = state;
        ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
    })
    .await?;
    prompt::read(&raw)
}

/// What an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ArgumentOf {
    /// The resource template, as the server wrote it.
    Template(String),
    /// The prompt of the name.
    Prompt(String),
}

/// Asks for values of an argument that begin as `value` does; `context` holds the arguments that
/// are filled in already (MCP 2025-06-18, completion).
///
/// # Errors
///
/// Why there are none.
pub async fn complete(
    requester: &Requester,
    of: ArgumentOf,
    argument: (String, String),
    context: Vec<(String, String)>,
) -> Result<Completion, Failure> {
    let reference = match of {
        ArgumentOf::Template(template) => Reference::for_resource(template),
        ArgumentOf::Prompt(name) => Reference::for_prompt(name),
    };
    let mut params =
        CompleteRequestParams::new(reference, ArgumentInfo::new(argument.0, argument.1));
    if !context.is_empty() {
        let arguments: HashMap<String, String> = context.into_iter().collect();
        params.context = Some(CompletionContext::with_arguments(arguments));
    }
    let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
    let raw = requester
        .call(request, None)
        .await
        .map_err(CallError::into_failure)?;
    completion::read(&raw)
}

/// Makes a call whose answer may be `input_required` (MCP 2026-07-28): one with nothing but a
/// state is repeated with that state; one that asks for input fails, since we give none.
async fn in_rounds(
    requester: &Requester,
    request: impl Fn(Option<String>) -> ClientRequest,
) -> Result<String, Failure> {
    let mut state = None;
    for _ in 0..=MAX_ROUNDS {
        let raw = requester
            .call(request(state.take()), None)
            .await
            .map_err(CallError::into_failure)?;
        match contents::input_required(&raw)? {
            None => return Ok(raw),
            Some(asked) if asked.asks_for_input => return Err(asks_for_input()),
            Some(asked) => state = asked.request_state.map(String::from),
        }
    }
    Err(Failure::new(
        FailureKind::Rpc { code: None },
        format!("the server did not complete the call in {MAX_ROUNDS} further rounds"),
    ))
}

fn asks_for_input() -> Failure {
    Failure::new(
        FailureKind::Rpc { code: None },
        "the server asks for input (elicitation), which mcpdeck does not give",
    )
}
