//! What the demo server answers: the MCP methods and the tools.

use std::sync::Arc;

use chrono::{SecondsFormat, Utc};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::schemars::JsonSchema;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Json, RoleServer, ServerHandler, schemars, tool, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{DEMO_NAME, content, prompts};

const INSTRUCTIONS: &str = "This is the demo server of mcpdeck. Nothing here can break anything. \
    Read demo://welcome first; demo://guide/marks explains the + and ~ marks. One resource of the \
    harbour changes every few seconds, so that you can watch a list change by itself.";

/// One connection's worth of demo server.
pub(super) struct DemoServer {
    /// How often the harbour has changed.
    step: watch::Receiver<u64>,
    /// Told when the resources are listed.
    asked: Arc<Notify>,
    /// Cancelled when the peer has closed its side.
    end: CancellationToken,
}

impl DemoServer {
    pub(super) fn new(
        step: watch::Receiver<u64>,
        asked: Arc<Notify>,
        end: CancellationToken,
    ) -> Self {
        Self { step, asked, end }
    }

    /// The steps of the harbour from now on.
    fn steps(&self) -> watch::Receiver<u64> {
        let mut step = self.step.clone();
        step.mark_unchanged();
        step
    }

    /// Waits for the next step; false when the peer is gone and there will be none.
    async fn next_step(&self, steps: &mut watch::Receiver<u64>) -> bool {
        tokio::select! {
            () = self.end.cancelled() => false,
            changed = steps.changed() => changed.is_ok(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct EchoInput {
    /// What to say back.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct AddInput {
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct AddOutput {
    /// The sum of the two.
    sum: f64,
}

#[derive(Serialize, JsonSchema)]
struct NowOutput {
    /// The time as RFC 3339, in UTC.
    time: String,
    /// Seconds since 1970.
    unix: i64,
}

#[derive(Deserialize, JsonSchema)]
struct CountInput {
    /// The text to count in.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct CountOutput {
    /// Lines, where the last needs no line break.
    lines: usize,
    /// Runs of characters between white space.
    words: usize,
    /// Unicode scalar values.
    characters: usize,
}

#[tool_router]
impl DemoServer {
    #[tool(
        description = "Says back what you say",
        annotations(
            title = "Echo",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    fn echo(Parameters(EchoInput { text }): Parameters<EchoInput>) -> String {
        text
    }

    #[tool(
        description = "Adds two numbers",
        annotations(
            title = "Add",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    fn add(Parameters(AddInput { a, b }): Parameters<AddInput>) -> Result<Json<AddOutput>, String> {
        let sum = a + b;
        if sum.is_finite() {
            Ok(Json(AddOutput { sum }))
        } else {
            Err("the sum is too large".to_owned())
        }
    }

    #[tool(
        description = "Tells the time",
        annotations(
            title = "Now",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    fn now() -> Json<NowOutput> {
        let now = Utc::now();
        Json(NowOutput {
            time: now.to_rfc3339_opts(SecondsFormat::Secs, true),
            unix: now.timestamp(),
        })
    }

    #[tool(
        description = "Counts the lines, words and characters of a text",
        annotations(
            title = "Count words",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    fn count_words(Parameters(CountInput { text }): Parameters<CountInput>) -> Json<CountOutput> {
        Json(CountOutput {
            lines: text.lines().count(),
            words: text.split_whitespace().count(),
            characters: text.chars().count(),
        })
    }
}

#[tool_handler]
impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_tools()
            .build();
        let identity = Implementation::new(DEMO_NAME, env!("CARGO_PKG_VERSION"))
            .with_title("mcpdeck demo")
            .with_description("A small harbour that shows what an MCP server offers");
        ServerConfig::new(capabilities)
            .with_server_info(identity)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.asked.notify_one();
        let step = *self.step.borrow();
        Ok(ListResourcesResult::with_all_items(content::resources(
            step,
        )))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            content::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let step = *self.step.borrow();
        match content::read(&request.uri, step) {
            Ok(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Err(message) => Err(ErrorData::resource_not_found(
                message,
                Some(serde_json::json!({ "uri": request.uri })),
            )),
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        prompts::get(&request.name, &arguments)
            .map(GetPromptResponse::from)
            .map_err(|message| ErrorData::invalid_params(message, None))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = &request.argument;
        let known = match &request.r#ref {
            Reference::Resource(template) => content::values(&template.uri, &argument.name),
            Reference::Prompt(prompt) => prompts::values(&prompt.name, &argument.name),
            _ => Vec::new(),
        };
        let typed = argument.value.to_lowercase();
        let values = known
            .into_iter()
            .filter(|value| value.to_lowercase().starts_with(&typed))
            .map(str::to_owned)
            .collect();
        CompletionInfo::with_all_values(values)
            .map(CompleteResult::new)
            .map_err(|message| ErrorData::internal_error(message, None))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut steps = self.steps();
        while self.next_step(&mut steps).await {
            if context.peer.notify_resource_list_changed().await.is_err() {
                return;
            }
        }
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(
            SubscriptionFilter::builder()
                .resources_list_changed()
                .build(),
        )
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut steps = self.steps();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = self.next_step(&mut steps) => {
                    if !changed || context.sink().notify_resource_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}
