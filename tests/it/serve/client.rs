//! A client of `mcpdeck serve` that sends what it is told and keeps what it gets.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::program::{DEADLINE, Home, Ran};

/// A serving mcpdeck and the client's side of its pipes.
pub struct Client<'a> {
    home: &'a Home,
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The lines of its stderr, where they are asked for.
    stderr: Option<Receiver<String>>,
    era: Era,
    last_id: u64,
    /// The tools as they are listed, once one was called.
    schemas: Vec<Value>,
    /// Notifications that came while something else was waited for.
    notifications: Vec<Value>,
}

/// Which protocol era the client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

/// The answer of a tool.
#[derive(Debug)]
pub struct Answer(pub Value);

impl<'a> Client<'a> {
    /// Starts `mcpdeck serve` with these arguments and shakes hands in the era of `initialize`.
    pub fn start(home: &'a Home, args: &[&str]) -> Self {
        let mut client = Self::silent(home, args, Era::Legacy);
        client.shake_hands();
        client
    }

    /// Shakes hands in the era of `initialize`.
    pub fn shake_hands(&mut self) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let result = self.ask("initialize", params);
        assert_eq!(result["protocolVersion"], "2025-11-25");
        self.notify("notifications/initialized");
    }

    /// Starts it for the later era, which has no handshake.
    pub fn start_modern(home: &'a Home, args: &[&str]) -> Self {
        let mut client = Self::silent(home, args, Era::Modern);
        let result = client.ask("server/discover", json!({}));
        let versions = result["supportedVersions"].as_array().unwrap();
        assert!(versions.contains(&json!("2026-07-28")), "{result}");
        client
    }

    /// Starts it and says nothing.
    pub fn silent(home: &'a Home, args: &[&str], era: Era) -> Self {
        let mut command = home.program(&[&["serve"], args].concat());
        let mut child = command
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.expect("stdout is UTF-8");
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("no JSON on stdout ({error}): {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            home,
            child,
            stdin,
            messages,
            stderr: None,
            era,
            last_id: 0,
            schemas: Vec::new(),
            notifications: Vec::new(),
        }
    }

    pub fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    /// Sends a line, whatever it is.
    pub fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{line}").expect("it is read");
    }

    pub fn notify(&mut self, method: &str) {
        self.send(&json!({"jsonrpc": "2.0", "method": method}));
    }

    /// Sends a request and returns its id.
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The answer to a request: the whole message.
    pub fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            assert!(message["id"].is_null(), "an answer to nothing: {message}");
            self.notifications.push(message);
        }
    }

    /// The answers to these requests, as they come.
    pub fn answers_to(&mut self, ids: &[u64]) -> Vec<Value> {
        let mut open: BTreeSet<u64> = ids.iter().copied().collect();
        let mut answers = Vec::new();
        while !open.is_empty() {
            let message = self.next();
            if let Some(id) = message["id"].as_u64() {
                assert!(open.remove(&id), "an answer to nothing: {message}");
                answers.push(message);
            }
        }
        answers
    }

    /// The result of a request.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let mut message = self.answer_to(id);
        assert!(message["error"].is_null(), "{method}: {message}");
        message["result"].take()
    }

    /// The error of a request.
    pub fn error(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let mut message = self.answer_to(id);
        assert!(message["result"].is_null(), "{method}: {message}");
        message["error"].take()
    }

    /// The answer of a tool. Its structured content has to be as the tool's schema says.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        if self.schemas.is_empty() {
            let listed = self.ask("tools/list", json!({}));
            self.schemas.clone_from(listed["tools"].as_array().unwrap());
        }
        if let Some(structured) = answer.get("structuredContent") {
            let named = self.schemas.iter().find(|listed| listed["name"] == tool);
            validate(structured, &named.unwrap()["outputSchema"]);
        }
        Answer(answer)
    }

    pub fn templates(&mut self) -> Answer {
        self.call("list_mcp_resource_templates", &json!({}))
    }

    pub fn templates_of(&mut self, server: &str) -> Answer {
        self.call("list_mcp_resource_templates", &json!({"server": server}))
    }

    pub fn resources(&mut self) -> Answer {
        self.call("list_mcp_resources", &json!({}))
    }

    pub fn read(&mut self, server: &str, uri: &str) -> Answer {
        let arguments = json!({"server": server, "uri": uri});
        self.call("read_mcp_resource", &arguments)
    }

    /// Waits for a notification, the earliest that was not taken yet.
    pub fn notified(&mut self, method: &str) -> Value {
        loop {
            let is = |message: &Value| message["method"] == method;
            if let Some(at) = self.notifications.iter().position(is) {
                return self.notifications.remove(at);
            }
            let message = self.next();
            assert!(message["id"].is_null(), "an answer to nothing: {message}");
            self.notifications.push(message);
        }
    }

    fn next(&mut self) -> Value {
        match self.messages.recv_timeout(DEADLINE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("no message within {DEADLINE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("it has closed its stdout"),
        }
    }

    /// The next line that it says on stderr.
    pub fn said(&mut self) -> String {
        let stderr = self.stderr.get_or_insert_with(|| {
            let stderr = BufReader::new(self.child.stderr.take().expect("stderr is piped"));
            let (sender, lines) = channel();
            thread::spawn(move || {
                let mut lines = stderr.lines().map_while(Result::ok);
                lines.try_for_each(|line| sender.send(line))
            });
            lines
        });
        stderr.recv_timeout(DEADLINE).expect("it says something")
    }

    /// Closes its stdin, and keeps on listening.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end; nothing that it started may be left then.
    pub fn wait(self) -> Ran {
        let Self {
            home, child, stdin, ..
        } = self;
        let ran = home.wait(child);
        drop(stdin);
        ran
    }

    /// Closes its stdin and waits for its end, which has to come within a second.
    pub fn end(mut self) {
        self.stdin = None;
        let start = Instant::now();
        let ran = self.wait();
        let took = start.elapsed();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(took.as_millis() < 1_000, "{took:?}");
    }
}

fn validate(value: &Value, schema: &Value) {
    const URL: &str = "https://mcpdeck.invalid/schema";
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(URL, schema.clone()).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(URL, &mut schemas).unwrap();
    if let Err(error) = schemas.validate(value, index) {
        panic!("{error:#}\n{value:#}");
    }
}

impl Answer {
    /// The text of a block.
    pub fn block(&self, index: usize) -> &str {
        let block = &self.0["content"][index];
        assert_eq!(block["type"], "text", "{}", self.0);
        block["text"].as_str().expect("a block has a text")
    }

    pub fn blocks(&self) -> usize {
        self.0["content"]
            .as_array()
            .expect("there is content")
            .len()
    }

    pub fn is_error(&self) -> bool {
        self.0["isError"].as_bool().expect("it is said")
    }

    pub fn structured(&self) -> &Value {
        &self.0["structuredContent"]
    }

    /// The first block as JSON, which has to equal the list in the structured content.
    pub fn list(&self, field: &str) -> &Value {
        let first: Value = serde_json::from_str(self.block(0))
            .unwrap_or_else(|error| panic!("no JSON ({error}): {}", self.block(0)));
        let list = &self.structured()[field];
        assert_eq!(&first, list);
        list
    }

    /// The values of a field in the list.
    pub fn values(&self, list: &str, field: &str) -> Vec<&str> {
        let items = self.list(list).as_array().expect("it is a list");
        let values = items.iter().map(|item| item[field].as_str());
        values.map(|value| value.expect("it is a text")).collect()
    }

    /// The error message that the answer is.
    pub fn message(&self) -> &str {
        assert!(self.is_error() && self.blocks() == 1, "{}", self.0);
        self.block(0)
    }
}
