//! Reads one resource.

use rmcp::model::{ClientRequest, ReadResourceRequest, ReadResourceRequestParams};

use super::connection::Requester;
use super::decode::contents::{self, Content, Reading};
use crate::domain::{Failure, FailureKind};

/// How often a read is repeated with the state that the server asks to be given back.
const MAX_ROUNDS: usize = 3;

/// Reads the resource. The URI is sent as it is, and the contents come as the server sent them.
///
/// An answer `input_required` (MCP 2026-07-28) that has only a state is repeated with it.
///
/// # Errors
///
/// Why there are no contents.
pub async fn read_resource(requester: &Requester, uri: &str) -> Result<Vec<Content>, Failure> {
    let mut state = None;
    for _ in 0..=MAX_ROUNDS {
        let mut params = ReadResourceRequestParams::new(uri);
        params.request_state = state.take();
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        let raw = requester
            .call(request, None)
            .await
            .map_err(super::connection::CallError::into_failure)?;
        match contents::read(&raw)? {
            Reading::Contents(contents) => return Ok(contents),
            Reading::InputRequired(asked) if !asked.asks_for_input => {
                state = asked.request_state.map(String::from);
            }
            Reading::InputRequired(_) => {
                return Err(Failure::new(
                    FailureKind::Rpc { code: None },
                    "the server asks for input (elicitation), which mcpdeck does not give",
                ));
            }
        }
    }
    Err(Failure::new(
        FailureKind::Rpc { code: None },
        format!("the server did not complete the read in {MAX_ROUNDS} further rounds"),
    ))
}
