//! `mcpdeck serve --http`, and the requests that tests send to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::program::{DEADLINE, Home, Ran};

/// A mcpdeck that serves over HTTP.
#[derive(Debug)]
pub struct Server<'a> {
    pub home: &'a Home,
    pub child: Child,
    pub address: SocketAddr,
    pub token: String,
    pub stderr: Receiver<String>,
}

/// An HTTP response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: String,
    pub body: String,
}

impl<'a> Server<'a> {
    pub fn start(home: &'a Home, args: &[&str], token: Option<&str>) -> Self {
        let mut command = home.program(&[&["serve", "--http", "127.0.0.1:0"], args].concat());
        if let Some(token) = token {
            command.env("THE_TOKEN", token);
        }
        let mut child = command.spawn().expect("the program starts");
        let lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let (sender, stderr) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut server = Self {
            home,
            child,
            address: ([127, 0, 0, 1], 0).into(),
            token: token.unwrap_or_default().to_owned(),
            stderr,
        };
        let url = server.said("mcpdeck: serving on http://");
        server.address = url.strip_suffix("/mcp").unwrap().parse().unwrap();
        if token.is_none() {
            server.token = server.said("mcpdeck: bearer token: ");
        }
        server
    }

    /// The rest of the next line on stderr.
    pub fn said(&self, start: &str) -> String {
        let line = self
            .stderr
            .recv_timeout(DEADLINE)
            .expect("it says something");
        let rest = line.strip_prefix(start);
        rest.unwrap_or_else(|| panic!("{line}")).to_owned()
    }

    pub fn authorization(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// Sends a POST with these header lines and no others but those that HTTP needs.
    pub fn post(&self, headers: &[&str], body: &str) -> Response {
        let mut lines = vec![
            "POST /mcp HTTP/1.1".to_owned(),
            "Content-Type: application/json".to_owned(),
            "Accept: application/json, text/event-stream".to_owned(),
            "Connection: close".to_owned(),
            format!("Content-Length: {}", body.len()),
        ];
        lines.extend(headers.iter().map(|&line| line.to_owned()));
        self.send(&format!("{}\r\n\r\n{body}", lines.join("\r\n")))
    }

    pub fn send(&self, request: &str) -> Response {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        // A server that refuses a body may close before it has read it whole.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Response {
            status: status.unwrap_or_else(|| panic!("no response: {text:?}")),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Opens a stream of events as a client that is let in, with more header lines.
    pub fn stream(&self, method: &str, headers: &[&str], body: &str) -> BufReader<TcpStream> {
        let mut reader = BufReader::new(self.request(method, headers, body));
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        reader
    }

    /// Sends a request as a client that is let in, with more header lines.
    pub fn request(&self, method: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let lines = [headers, &[""]].concat().join("\r\n");
        let request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\n{}\r\n{lines}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.authorization(),
            body.len(),
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Sends a message as a client that is let in, with more header lines.
    pub fn message(&self, headers: &[&str], message: &Value) -> Response {
        let host = format!("Host: {}", self.address);
        let authorization = self.authorization();
        let mut all = vec![host.as_str(), &authorization];
        all.extend(headers);
        self.post(&all, &message.to_string())
    }

    /// Opens a session of the era of `initialize`.
    pub fn initialize(&self) -> Response {
        self.message(&[], &initialize())
    }

    pub fn end(self) {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(self.child.id()).unwrap();
        let start = Instant::now();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        let ran: Ran = self.home.wait(self.child);
        let took = start.elapsed();
        assert_eq!(ran.code, Some(143), "{ran:?}");
        assert!(took.as_millis() < 1_500, "{took:?}");
    }
}

pub fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// The one JSON message of the body, which may be an event of a stream.
    pub fn json(&self) -> Value {
        let line = self.body.lines().find_map(|line| {
            let line = line.strip_prefix("data:").unwrap_or(line).trim();
            line.starts_with('{').then_some(line)
        });
        serde_json::from_str(line.unwrap_or_else(|| panic!("{self:?}"))).unwrap()
    }
}

/// What every request of the later era says of its client.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
