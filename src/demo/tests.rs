//! The demo server over a pipe in memory, asked by rmcp's own client in both eras.

use anyhow::{Context as _, Result, bail};
use rmcp::model::{
    ArgumentInfo, CallToolRequestParams, CompleteRequestParams, ErrorCode, GetPromptRequestParams,
    JsonObject, ProtocolVersion, ReadResourceRequestParams, Reference, ServerNotification,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, RunningService, serve_client_with_lifecycle,
};
use rmcp::{ClientHandler, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;

const HOUR: Duration = Duration::from_hours(1);

/// A client that passes on that the resources have changed.
struct Watcher(mpsc::Sender<()>);

impl ClientHandler for Watcher {
    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        let _ = self.0.send(()).await;
    }
}

struct Connected {
    client: RunningService<RoleClient, Watcher>,
    changes: mpsc::Receiver<()>,
    server: JoinHandle<Result<()>>,
}

fn start() -> (DuplexStream, JoinHandle<Result<()>>) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    (ours, tokio::spawn(serve(reader, writer, PERIOD)))
}

async fn connect(lifecycle: ClientLifecycleMode) -> Result<Connected> {
    let (stream, server) = start();
    let (sender, changes) = mpsc::channel(16);
    let client = serve_client_with_lifecycle(Watcher(sender), stream, lifecycle).await?;
    Ok(Connected {
        client,
        changes,
        server,
    })
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

fn object(value: &Value) -> JsonObject {
    value.as_object().cloned().unwrap_or_default()
}

impl Connected {
    async fn uris(&self) -> Result<Vec<String>> {
        let listed = self.client.list_all_resources().await?;
        Ok(listed.into_iter().map(|resource| resource.uri).collect())
    }

    async fn call(&self, name: &'static str, arguments: &Value) -> Result<Value> {
        let request = CallToolRequestParams::new(name).with_arguments(object(arguments));
        Ok(serde_json::to_value(self.client.call_tool(request).await?)?)
    }

    async fn complete(&self, reference: Reference, name: &str, typed: &str) -> Result<Vec<String>> {
        let request = CompleteRequestParams::new(reference, ArgumentInfo::new(name, typed));
        let result = self.client.complete(request).await?;
        Ok(result.completion.values)
    }

    /// Closes our side and expects the server to end well, and at once on the paused clock.
    async fn close(self) -> Result<()> {
        let before = Instant::now();
        self.client.cancel().await?;
        self.server.await??;
        assert!(before.elapsed() < Duration::from_millis(100));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn lists_hold_what_a_newcomer_needs_in_both_eras() -> Result<()> {
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        let demo = connect(lifecycle).await?;
        let info = demo.client.peer_info().context("no server info")?;
        assert!(
            info.instructions
                .as_ref()
                .context("no instructions")?
                .contains("demo://welcome")
        );
        assert_eq!(demo.uris().await?.len(), 7);
        let templates = demo.client.list_all_resource_templates().await?;
        assert_eq!(templates.len(), 3);
        assert_eq!(demo.client.list_all_prompts().await?.len(), 3);
        let tools = demo.client.list_all_tools().await?;
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, ["add", "count_words", "echo", "now"]);
        for tool in &tools {
            let hints = tool.annotations.as_ref().context("no annotations")?;
            assert_eq!(hints.read_only_hint, Some(true), "{}", tool.name);
            assert!(tool.description.is_some(), "{}", tool.name);
        }
        demo.close().await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn resources_are_read_and_unknown_ones_are_not_found() -> Result<()> {
    for (lifecycle, code) in [
        (
            ClientLifecycleMode::Initialize,
            ErrorCode::RESOURCE_NOT_FOUND,
        ),
        (modern(), ErrorCode::INVALID_PARAMS),
    ] {
        let demo = connect(lifecycle).await?;
        for uri in demo.uris().await? {
            let request = ReadResourceRequestParams::new(uri.as_str());
            let result = demo.client.read_resource(request).await?;
            assert_eq!(result.contents.len(), 1, "{uri}");
        }
        let request = ReadResourceRequestParams::new("demo://nowhere");
        let Err(ServiceError::McpError(error)) = demo.client.read_resource(request).await else {
            bail!("an unknown address was read");
        };
        assert_eq!(error.code, code);
        demo.close().await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn tools_do_what_they_say() -> Result<()> {
    let demo = connect(ClientLifecycleMode::Initialize).await?;
    let echo = demo.call("echo", &json!({ "text": "ahoy" })).await?;
    assert_eq!(echo["content"][0]["text"], "ahoy");
    let add = demo.call("add", &json!({ "a": 2, "b": 0.5 })).await?;
    assert_eq!(add["structuredContent"], json!({ "sum": 2.5 }));
    let large = demo
        .call("add", &json!({ "a": f64::MAX, "b": f64::MAX }))
        .await?;
    assert_eq!(large["isError"], true);
    let count = demo
        .call("count_words", &json!({ "text": "one two\nthrée" }))
        .await?;
    assert_eq!(
        count["structuredContent"],
        json!({ "lines": 2, "words": 3, "characters": 13 })
    );
    let now = demo.call("now", &json!({})).await?;
    assert!(now["structuredContent"]["unix"].is_i64());
    demo.close().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn prompts_take_their_arguments() -> Result<()> {
    let demo = connect(ClientLifecycleMode::Initialize).await?;
    let request = GetPromptRequestParams::new("explain-word")
        .with_arguments(object(&json!({ "word": "mcp/tool" })));
    let result = demo.client.get_prompt(request).await?;
    let text = serde_json::to_string(&result.messages)?;
    assert!(text.contains("a newcomer"), "{text}");

    let incomplete = demo
        .client
        .get_prompt(GetPromptRequestParams::new("plan-day"));
    let error = incomplete
        .await
        .err()
        .context("the goal was not asked for")?
        .to_string();
    assert!(error.contains("\"goal\" is missing"), "{error}");
    demo.close().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn variables_and_arguments_are_completed() -> Result<()> {
    let demo = connect(ClientLifecycleMode::Initialize).await?;
    for template in demo.client.list_all_resource_templates().await? {
        for variable in ["language", "name", "word", "from", "to"] {
            if template.uri_template.contains(variable) {
                let reference = Reference::for_resource(&template.uri_template);
                let values = demo.complete(reference, variable, "").await?;
                assert!(!values.is_empty(), "{} {variable}", template.uri_template);
            }
        }
    }
    let reference = Reference::for_resource("demo://greetings/{language}/{name}");
    assert_eq!(
        demo.complete(reference, "name", "a").await?,
        ["Ada", "Alan"]
    );
    let reference = Reference::for_prompt("kind-review");
    assert_eq!(demo.complete(reference, "tone", "W").await?, ["warm"]);
    demo.close().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_legacy_peer_is_told_when_the_list_changes() -> Result<()> {
    let mut demo = connect(ClientLifecycleMode::Initialize).await?;
    let before = demo.uris().await?;
    let start = Instant::now();
    demo.changes.recv().await.context("the client is gone")?;
    assert_eq!(start.elapsed().as_secs(), PERIOD.as_secs());
    let after = demo.uris().await?;
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(after.last().context("empty")?, "demo://harbour/ferry");
    demo.close().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_modern_subscriber_is_told_and_does_not_delay_the_end() -> Result<()> {
    let mut demo = connect(modern()).await?;
    let all = rmcp::model::SubscriptionFilter::builder()
        .resources_list_changed()
        .tools_list_changed()
        .build();
    let mut subscription = demo.client.listen(all).await?;
    assert_eq!(
        subscription.acknowledged().resources_list_changed,
        Some(true)
    );
    assert_eq!(subscription.acknowledged().tools_list_changed, None);
    assert_eq!(demo.uris().await?.len(), 7);
    let event = subscription.next().await?;
    assert!(
        matches!(
            event,
            Some(ServerNotification::ResourceListChangedNotification(_))
        ),
        "{event:?}"
    );
    assert_eq!(demo.uris().await?.len(), 8);
    assert!(demo.changes.try_recv().is_err(), "told twice");
    demo.close().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_a_peer_that_never_listed() -> Result<()> {
    let mut demo = connect(ClientLifecycleMode::Initialize).await?;
    demo.client.list_all_tools().await?;
    assert!(timeout(HOUR, demo.changes.recv()).await.is_err());
    demo.close().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_leaves_early_is_no_error() -> Result<()> {
    let (stream, server) = start();
    drop(stream);
    server.await??;

    let (stream, server) = start();
    let (reader, mut writer) = tokio::io::split(stream);
    let discover = json!({
        "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        }},
    });
    writer.write_all(format!("{discover}\n").as_bytes()).await?;
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let answer: Value = serde_json::from_str(&line)?;
    assert!(answer["result"]["capabilities"].is_object(), "{line}");
    writer.shutdown().await?;
    server.await??;
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).await?;
    assert!(rest.is_empty());
    Ok(())
}
