//! The fake server itself: it does what its script says, over every transport.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    ReadHalf, WriteHalf,
};
use tokio::process::{Child, Command};

use crate::support::fake::{Action, Grandchild, Listing, Page, Part, Reply, Rule, Script, Sigterm};
use crate::support::launch::{Control, http_server, in_process};

const SOON: Duration = Duration::from_secs(10);

/// A client that sends what it is told and reads lines.
struct Client<R, W> {
    reader: BufReader<R>,
    writer: W,
    next_id: u64,
}

impl<T: AsyncRead + AsyncWrite> Client<ReadHalf<T>, WriteHalf<T>> {
    fn over(stream: T) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self::new(reader, writer)
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Client<R, W> {
    fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            writer,
            next_id: 0,
        }
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        line
    }

    async fn next(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn handshake(&mut self) -> Value {
        let answer = self
            .call("initialize", json!({"protocolVersion": "2025-11-25"}))
            .await;
        self.notify("notifications/initialized", json!({})).await;
        answer
    }
}

#[tokio::test(start_paused = true)]
async fn a_plain_server_answers_everything() {
    let (stream, fake) = in_process(Script::legacy().sample());
    let mut client = Client::over(stream);
    let answer = client.call("server/discover", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    let answer = client.handshake().await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert!(answer["result"]["capabilities"]["prompts"].is_object());
    let answer = client.call("resources/templates/list", json!({})).await;
    let template = &answer["result"]["resourceTemplates"][0];
    assert_eq!(template["uriTemplate"], "fake:///one/{id}");
    let answer = client
        .call("resources/read", json!({"uri": "fake:///one/7"}))
        .await;
    assert_eq!(
        answer["result"]["contents"][0]["text"],
        "content of fake:///one/7"
    );
    let answer = client
        .call("resources/read", json!({"uri": "fake:///two"}))
        .await;
    assert_eq!(answer["error"]["code"], -32002);
    let answer = client.call("prompts/get", json!({"name": "one"})).await;
    assert!(answer["result"]["messages"].is_array());
    assert_eq!(fake.count("resources/read").await, 2);
    assert_eq!(fake.methods().await[..2], ["server/discover", "initialize"]);
}

#[tokio::test(start_paused = true)]
async fn pages_follow_their_cursors_whatever_these_are() {
    let pages = vec![
        Page::more(vec![json!({"n": 1})], ""),
        Page::more(vec![json!({"n": 2})], Value::Null),
        Page::more(vec![json!({"n": 3})], 7),
    ];
    let (stream, fake) = in_process(Script::legacy().resources(pages));
    let mut client = Client::over(stream);
    let answer = client.call("resources/list", json!({})).await;
    assert_eq!(answer["result"]["nextCursor"], "");
    let answer = client.call("resources/list", json!({"cursor": ""})).await;
    assert_eq!(answer["result"]["nextCursor"], Value::Null);
    assert!(answer["result"].get("nextCursor").is_some());
    let answer = client.call("resources/list", json!({"cursor": "x"})).await;
    assert_eq!(answer["error"]["code"], -32602);
    fake.send(Action::set_pages(
        "resources/list",
        Listing::generated(10_000, 100),
    ))
    .await;
    let (mut pages, mut cursor) = (0, None);
    loop {
        let params = cursor.map_or(json!({}), |cursor: Value| json!({"cursor": cursor}));
        let answer = client.call("resources/list", params).await;
        pages += 1;
        assert_eq!(answer["result"]["resources"].as_array().unwrap().len(), 100);
        match answer["result"].get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(pages, 100);
}

#[tokio::test(start_paused = true)]
async fn rules_pick_the_nth_request() {
    let script = Script::legacy()
        .named("tools/list", &["a"])
        .on_nth("tools/list", 2, Reply::error(-32603, "no"))
        .rule(Rule::on("tools/list", Reply::raw("noise {id}\n{\"id\":{id}}\n")).from(3))
        .on(
            "ping",
            Reply::parts(vec![Part::fill("[", 3), Part::from("\n")]),
        )
        .on("exit", Reply::exit(3, "bye\n"));
    let (stream, fake) = in_process(script);
    let mut client = Client::over(stream);
    let answer = client.call("tools/list", json!({})).await;
    assert_eq!(answer["result"]["tools"][0]["name"], "a");
    let answer = client.call("tools/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32603);
    client.ask("tools/list", json!({})).await;
    assert_eq!(client.line().await, "noise 3\n");
    assert_eq!(client.line().await, "{\"id\":3}\n");
    client.ask("ping", json!({})).await;
    assert_eq!(client.line().await, "[[[\n");
    client.ask("exit", json!({})).await;
    assert_eq!(client.line().await, "");
    fake.wait_end(SOON).await;
    assert_eq!(fake.events("exit").await[0].value, Some(3));
    assert_eq!(
        fake.events("stderr").await[0].text.as_deref(),
        Some("bye\n")
    );
}

#[tokio::test(start_paused = true)]
async fn answers_are_held_delayed_cancelled_and_late() {
    let script = Script::legacy()
        .named("resources/list", &["old"])
        .on_nth("resources/list", 1, Reply::hold())
        .on_nth("resources/list", 2, Reply::hold().fresh())
        .on("slow", Reply::result(json!({})).delayed(5_000))
        .on(
            "late",
            Reply::result(json!({})).delayed(60_000).ignoring_cancel(),
        );
    let (stream, fake) = in_process(script);
    let mut client = Client::over(stream);
    client.ask("resources/list", json!({})).await;
    client.ask("resources/list", json!({})).await;
    fake.wait_for("resources/list", 2, SOON).await;
    fake.send(Action::set_pages(
        "resources/list",
        Listing::named("resources/list", &["new"]),
    ))
    .await;
    fake.send(Action::release("resources/list")).await;
    for name in ["old", "new"] {
        assert_eq!(client.next().await["result"]["resources"][0]["name"], name);
    }
    for method in ["slow", "late"] {
        let id = client.ask(method, json!({})).await;
        client
            .notify("notifications/cancelled", json!({"requestId": id}))
            .await;
    }
    assert_eq!(client.next().await["id"], 4);
    assert_eq!(fake.events("cancelled").await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn notifications_come_in_bursts_and_spaced() {
    let script = Script::legacy()
        .sample()
        .after_initialized(Action::list_changed("tools", 2))
        .after_initialized(Action::ask("roots/list"));
    let (stream, fake) = in_process(script);
    let mut client = Client::over(stream);
    client.handshake().await;
    for _ in 0..2 {
        assert_eq!(
            client.next().await["method"],
            "notifications/tools/list_changed"
        );
    }
    let asked = client.next().await;
    client
        .send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}))
        .await;
    let answer = fake.wait_answer("roots/list", 1, SOON).await;
    assert_eq!(answer.result, Some(json!({"roots": []})));
    fake.send(Action::list_changed("resources", 1_000)).await;
    for _ in 0..1_000 {
        client.next().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_discovers_and_subscribes() {
    let (stream, fake) = in_process(Script::modern().sample());
    let mut client = Client::over(stream);
    let answer = client.call("server/discover", json!({})).await;
    assert_eq!(answer["result"]["supportedVersions"], json!(["2026-07-28"]));
    let filter = json!({"resourcesListChanged": true});
    let id = client
        .ask("subscriptions/listen", json!({"notifications": filter}))
        .await;
    let acknowledged = client.next().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(acknowledged["params"]["notifications"], filter);
    fake.send(Action::list_changed("tools", 1)).await;
    fake.send(Action::list_changed("resources", 1)).await;
    let notice = client.next().await;
    assert_eq!(notice["method"], "notifications/resources/list_changed");
    let meta = &notice["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], id);
    fake.send(Action::EndSubscriptions { graceful: true }).await;
    assert_eq!(client.next().await["id"], id);
    let answer = client.call("resources/list", json!({})).await;
    assert_eq!(answer["result"]["resultType"], "complete");
}

/// A fake process and a client on its pipes.
fn start(
    control: &mut Control,
    script: &Script,
) -> (
    Child,
    Client<tokio::process::ChildStdout, tokio::process::ChildStdin>,
) {
    let line = control.command(script);
    let mut child = Command::new(line.program)
        .args(line.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    (child, client)
}

#[tokio::test]
async fn a_process_is_driven_and_ends_as_told() {
    let mut control = Control::listen().await;
    let script = Script::legacy().sample().banner("hello\n");
    let (mut child, mut client) = start(&mut control, &script);
    let fake = control.accept().await;
    assert_eq!(Some(fake.pid().await), child.id());
    assert_eq!(client.line().await, "hello\n");
    client.handshake().await;
    fake.send(Action::list_changed("resources", 1_000)).await;
    for _ in 0..1_000 {
        client.next().await;
    }
    fake.send(Action::rule(Rule::on("ping", Reply::close_stdout())))
        .await;
    client.ask("ping", json!({})).await;
    assert_eq!(client.line().await, "");
    assert!(!fake.has_ended());
    fake.send(Action::exit(7, "the end\n")).await;
    assert_eq!(child.wait().await.unwrap().code(), Some(7));
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .await
        .unwrap();
    assert_eq!(stderr, "the end\n");
    assert_eq!(fake.count("ping").await, 1);
    assert!(control.try_accept().is_none());
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_ignores_eof_and_term() {
    let mut control = Control::listen().await;
    let script = Script::legacy().process(|process| {
        process.ignore_eof = true;
        process.sigterm = Sigterm::Ignore;
        process.grandchild = Some(Grandchild {
            seconds: 1,
            ..Grandchild::default()
        });
    });
    let (mut child, client) = start(&mut control, &script);
    let fake = control.accept().await;
    assert!(fake.wait_event("grandchild", 1, SOON).await.value > Some(0));
    drop(client);
    fake.wait_event("eof", 1, SOON).await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    fake.wait_event("signal", 1, SOON).await;
    assert!(!fake.has_ended());
    child.kill().await.unwrap();
    fake.wait_end(SOON).await;
}

#[tokio::test]
async fn a_process_ends_with_its_input_and_logs_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut child = Command::new(crate::support::launch::fake_program())
        .args([
            "--inline",
            r#"{"listings":{"tools/list":{"generated":{"items":3}}}}"#,
        ])
        .arg("--log")
        .arg(&log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let answer = client.call("tools/list", json!({})).await;
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 3);
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.contains("\"method\":\"tools/list\""), "{logged}");
    drop(client);
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

/// Sends a JSON-RPC message by POST.
async fn post(url: &str, session: Option<&str>, message: &Value) -> reqwest::Response {
    let mut request = http_client().post(url).json(message);
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.send().await.unwrap()
}

fn http_client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn http_has_sessions_streams_and_statuses() {
    let script = Script::legacy()
        .sample()
        .on("slow", Reply::silence())
        .on("prompts/list", Reply::error(-32601, "no").with_status(404))
        .on("tools/list", Reply::default().sse(true))
        .on_nth("ping", 1, Reply::status(500));
    let (address, fake) = http_server(script);
    let url = format!("http://{address}/mcp");
    let call = |id: u64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    assert_eq!(post(&url, None, &call(1, "ping")).await.status(), 500);
    assert_eq!(post(&url, None, &call(2, "ping")).await.status(), 400);
    let response = post(&url, None, &call(3, "initialize")).await;
    let id = response.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let session = Some(id.as_str());
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(&url, session, &initialized).await.status(), 202);
    let response = post(&url, session, &call(4, "resources/list")).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(response.text().await.unwrap().contains("fake:///one"));
    let response = post(&url, session, &call(5, "tools/list")).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(
        response
            .text()
            .await
            .unwrap()
            .starts_with("event: message\ndata: {")
    );
    assert_eq!(
        post(&url, session, &call(6, "prompts/list")).await.status(),
        404
    );

    fake.send(Action::list_changed("tools", 1)).await;
    let get = http_client().get(&url).header("mcp-session-id", &id);
    let mut stream = get.send().await.unwrap();
    let chunk = stream.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&chunk).contains("notifications/tools/list_changed"));
    drop(stream);

    let slow = tokio::spawn({
        let (url, session, message) = (url.clone(), session.map(str::to_owned), call(7, "slow"));
        async move { post(&url, session.as_deref(), &message).await }
    });
    fake.wait_for("slow", 1, SOON).await;
    slow.abort();
    assert_eq!(
        fake.wait_event("gone", 1, SOON).await.method.as_deref(),
        Some("slow")
    );

    fake.send(Action::ExpireSessions).await;
    assert_eq!(post(&url, session, &call(8, "ping")).await.status(), 404);
    fake.send(Action::SetBearer(Some("secret".to_owned())))
        .await;
    let response = post(&url, session, &call(9, "ping")).await;
    assert_eq!(response.status(), 401);
    assert_eq!(response.headers()["www-authenticate"], "Bearer");
    fake.send(Action::exit(0, "")).await;
    fake.wait_end(SOON).await;
    assert_eq!(fake.count("ping").await, 4);
}

#[tokio::test]
async fn legacy_sse_answers_on_its_stream() {
    let script = Script::legacy()
        .sample()
        .http(|http| http.legacy_sse = true);
    let (address, fake) = http_server(script);
    let base = format!("http://{address}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(
        post(&format!("{base}/sse"), None, &ping).await.status(),
        405
    );
    let mut stream = http_client()
        .get(format!("{base}/sse"))
        .send()
        .await
        .unwrap();
    let chunk = stream.chunk().await.unwrap().unwrap();
    let chunk = String::from_utf8_lossy(&chunk).into_owned();
    let endpoint = chunk
        .strip_prefix("event: endpoint\ndata: ")
        .unwrap()
        .trim();
    let response = post(&format!("{base}{endpoint}"), None, &ping).await;
    assert_eq!(response.status(), 202);
    let chunk = stream.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&chunk).contains("\"id\":1,\"result\":{}"));
    assert_eq!(fake.count("ping").await, 1);
}

#[tokio::test]
async fn modern_http_streams_subscriptions_until_the_client_leaves() {
    let (address, fake) = http_server(
        Script::modern()
            .sample()
            .on("cut", Reply::raw("{\"js").abort()),
    );
    let url = format!("http://{address}/mcp");
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let listen =
        json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": filter});
    let mut stream = post(&url, None, &listen).await;
    let mut text = String::new();
    while !text.contains("\n\n") {
        let chunk = stream.chunk().await.unwrap().unwrap();
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    assert!(text.contains("subscriptions/acknowledged"), "{text}");
    fake.send(Action::list_changed("tools", 1)).await;
    let chunk = stream.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&chunk).contains("tools/list_changed"));
    drop(stream);
    fake.wait_event("gone", 1, SOON).await;
    let cut = post(
        &url,
        None,
        &json!({"jsonrpc": "2.0", "id": 6, "method": "cut"}),
    )
    .await;
    assert!(cut.text().await.is_err());
}

#[tokio::test]
async fn a_process_serves_http_and_obeys_although_nobody_reads_its_stderr() {
    let mut control = Control::listen().await;
    let script = Script::legacy()
        .sample()
        .at_start(Action::FloodStderr(1_000_000));
    let line = control.command(&script);
    let mut child = Command::new(line.program)
        .args(line.arguments)
        .args(["--http", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let fake = control.accept().await;
    let mut address = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut address).await.unwrap();
    let url = format!("http://{}/mcp", address.trim());
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
    assert_eq!(post(&url, None, &initialize).await.status(), 200);
    assert_eq!(fake.count("initialize").await, 1);
    child.kill().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn hostile_bytes_pass_unchanged() {
    let big = Reply::parts(vec![
        Part::from("\u{feff}{\"id\":{id},\"result\":\""),
        Part::fill("x", 17 << 20),
        Part::from("\"}\n"),
        Part::Bytes(vec![0xff, b'\n']),
    ]);
    let surrogate = Reply::result_text(r#"{"name":"\ud800","name":1}"#);
    let script = Script::legacy().on("big", big).on("odd", surrogate);
    // What is written as JSON and read again is the same script.
    let script = serde_json::from_value(serde_json::to_value(script).unwrap()).unwrap();
    let (stream, _fake) = in_process(script);
    let mut client = Client::over(stream);
    client.ask("odd", json!({})).await;
    let line = client.line().await;
    assert!(
        line.contains(r#""result":{"name":"\ud800","name":1}"#),
        "{line}"
    );
    client.ask("big", json!({})).await;
    assert!(client.line().await.len() > 17 << 20);
    let mut rest = [0; 2];
    client.reader.read_exact(&mut rest).await.unwrap();
    assert_eq!(rest, [0xff, b'\n']);
}
