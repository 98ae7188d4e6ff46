//! The engine's HTTP side: tokens, sessions, streams and paths.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::answer::is_modern;
use super::super::outlet::Head;
use super::super::{Frame, Logged, Outlet, Reply, Route};
use super::{Engine, Message};

const SESSION_ID: &str = "mcp-session-id";

/// An HTTP request, taken apart.
#[derive(Debug)]
pub struct HttpRequest {
    /// `GET`, `POST`, ...
    pub verb: String,
    /// The path.
    pub path: String,
    /// The query, without the question mark.
    pub query: String,
    /// Headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
    /// The response.
    pub outlet: Outlet,
}

/// A channel for the server's own messages.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) outlet: Outlet,
    /// The session that it belongs to, over HTTP.
    pub(super) session: Option<String>,
}

impl Engine {
    /// Takes any HTTP request.
    pub(super) fn http(&mut self, request: HttpRequest) {
        let legacy_sse = self.script.http.legacy_sse;
        match (request.verb.as_str(), request.path.as_str()) {
            ("POST", "/mcp") if !legacy_sse => {
                self.body(&request.body, &request.outlet, Some(request.headers));
            }
            ("POST", "/messages") if legacy_sse => self.legacy_post(request),
            _ => self.other(request),
        }
    }

    /// A message over legacy HTTP+SSE: it is accepted here and answered on the stream.
    fn legacy_post(&mut self, request: HttpRequest) {
        let session = request.query.strip_prefix("sessionId=");
        let stream = self
            .streams
            .iter()
            .find(|stream| stream.session.as_deref() == session)
            .map(|stream| stream.outlet.clone());
        if let Some(refusal) = self.refuse_token(&request.headers) {
            self.send_bare(&request.outlet, &refusal);
        } else if let Some(stream) = stream {
            self.answer_bare(&request.outlet, 202);
            drop(request.outlet);
            self.body(&request.body, &stream, Some(request.headers));
        } else {
            self.answer_bare(&request.outlet, 404);
        }
    }

    /// GET, DELETE and everything that is not for the MCP endpoint.
    fn other(&mut self, request: HttpRequest) {
        self.log(Logged {
            method: Some(request.verb.clone()),
            path: Some(request.path.clone()),
            headers: Some(request.headers.clone()),
            text: Some(String::from_utf8_lossy(&request.body).into_owned()),
            ..Logged::default()
        });
        let is = |route: &&Route| route.verb == request.verb && route.path == request.path;
        if let Some(route) = self.script.http.routes.iter().find(is).cloned() {
            send_route(&route, &request);
            return;
        }
        let endpoint = if self.script.http.legacy_sse {
            "/sse"
        } else {
            "/mcp"
        };
        if request.path != endpoint {
            self.answer_bare(&request.outlet, 404);
            return;
        }
        let rule = self.rule_for(&request.verb, None).unwrap_or_default();
        if let Some(refusal) = self.refuse_token(&request.headers) {
            self.send_bare(&request.outlet, &refusal);
        } else if rule.is_explicit() || rule.silence {
            self.answer_verb(request, rule);
        } else {
            match request.verb.as_str() {
                "GET" if !self.script.http.no_get => self.open_stream(request),
                "DELETE" if !self.script.http.stateless => {
                    let session = request.headers.get(SESSION_ID);
                    self.sessions.retain(|known| Some(known) != session);
                    self.streams
                        .retain(|stream| stream.session.as_ref() != session);
                    self.answer_bare(&request.outlet, 200);
                }
                _ => self.answer_bare(&request.outlet, 405),
            }
        }
    }

    /// Answers a GET or DELETE as a rule says, which was counted already.
    fn answer_verb(&mut self, request: HttpRequest, reply: Reply) {
        self.reply_with(
            Message {
                method: request.verb,
                // With an id, silence is possible; no answer carries it.
                id: Some(Value::Null),
                params: None,
                outlet: request.outlet,
                http: Some(request.headers),
            },
            reply,
        );
    }

    fn open_stream(&mut self, request: HttpRequest) {
        let outlet = request.outlet;
        let session = if self.script.http.legacy_sse {
            Some(self.new_session())
        } else {
            request.headers.get(SESSION_ID).cloned()
        };
        let head = Head {
            status: 200,
            stream: true,
            headers: Vec::new(),
        };
        outlet.send(Frame::Head(head));
        if let (true, Some(session)) = (self.script.http.legacy_sse, &session) {
            let data = match &self.script.http.endpoint {
                Some(endpoint) => endpoint.replace("{base}", &base(&request.headers)),
                None => format!("/messages?sessionId={session}"),
            };
            outlet.send(Frame::Event("endpoint", data));
        }
        for message in self.backlog.drain(..) {
            outlet.send(Frame::Message(message));
        }
        self.streams.push(Stream { outlet, session });
    }

    fn new_session(&mut self) -> String {
        self.next_session += 1;
        let session = format!("session-{}", self.next_session);
        self.sessions.push(session.clone());
        session
    }

    /// Why a message over HTTP is not accepted, if so. A rule wins over the check of sessions.
    pub(super) fn refuse(&self, message: &Message, rule: &Reply) -> Option<Reply> {
        let headers = message.http.as_ref()?;
        if let Some(refusal) = self.refuse_token(headers) {
            return Some(refusal);
        }
        if self.script.http.legacy_sse
            || self.script.http.stateless
            || message.method == "initialize"
            || rule.is_explicit()
            || is_modern(&self.script, message.params.as_ref())
        {
            return None;
        }
        match headers.get(SESSION_ID) {
            None => Some(Reply::error(-32000, "Bad Request: no session id").with_status(400)),
            Some(session) if !self.sessions.contains(session) => {
                Some(Reply::error(-32001, "Session not found").with_status(404))
            }
            Some(_) => None,
        }
    }

    fn refuse_token(&self, headers: &BTreeMap<String, String>) -> Option<Reply> {
        let bearer = self.script.http.bearer.as_ref()?;
        let wanted = format!("Bearer {bearer}");
        if headers.get("authorization") == Some(&wanted) {
            return None;
        }
        let challenge = self.script.http.www_authenticate.as_deref();
        let challenge = challenge
            .unwrap_or("Bearer")
            .replace("{base}", &base(headers));
        Some(Reply::status(401).header("www-authenticate", &challenge))
    }

    /// Status and headers of the answer to a message.
    pub(super) fn head_for(&mut self, message: &Message, reply: &Reply) -> Head {
        let method = message.method.as_str();
        let is_request = message.id.is_some();
        let default = if is_request { 200 } else { 202 };
        let status = reply.http.status.unwrap_or(default);
        let wants_stream = reply.http.sse.unwrap_or(self.script.http.sse);
        let stream = is_request
            && (reply.http.sse == Some(true) || (status == 200 && reply.raw.is_none()))
            && (wants_stream || method == "subscriptions/listen");
        let mut headers = Vec::new();
        let hands_out = !self.script.http.stateless && !self.script.http.legacy_sse;
        if method == "initialize" && status == 200 && hands_out {
            headers.push((SESSION_ID.to_owned(), self.new_session()));
        }
        headers.extend(reply.http.headers.clone());
        Head {
            status,
            stream,
            headers,
        }
    }

    /// Answers an HTTP request with a status alone.
    pub(super) fn answer_bare(&self, outlet: &Outlet, status: u16) {
        if self.over_http {
            self.send_bare(outlet, &Reply::status(status));
        }
    }

    fn send_bare(&self, outlet: &Outlet, reply: &Reply) {
        if self.over_http {
            outlet.send(Frame::Head(Head {
                status: reply.http.status.unwrap_or(200),
                stream: false,
                headers: reply.http.headers.clone().into_iter().collect(),
            }));
        }
    }
}

fn send_route(route: &Route, request: &HttpRequest) {
    let base = base(&request.headers);
    let fill = |text: &String| text.replace("{base}", &base);
    request.outlet.send(Frame::Head(Head {
        status: if route.status == 0 { 200 } else { route.status },
        stream: false,
        headers: route
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), fill(value)))
            .collect(),
    }));
    request
        .outlet
        .send(Frame::Raw(fill(&route.body).into_bytes()));
}

/// The server's own origin, as the client sees it.
fn base(headers: &BTreeMap<String, String>) -> String {
    format!(
        "http://{}",
        headers.get("host").map_or("127.0.0.1", String::as_str)
    )
}
