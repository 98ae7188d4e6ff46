//! The default answers: what a well-behaved server with this script says.

use serde_json::{Map, Value, json};

use super::Era;
use super::script::{LIST_METHODS, Script};

const LEGACY_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const MODERN_VERSION: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// A result as JSON text, or an error object.
pub type Answer = Result<String, Value>;

/// The default answer to a request.
pub fn default_answer(script: &Script, method: &str, params: Option<&Value>) -> Answer {
    let modern = is_modern(script, params);
    let argument = |name: &str| params.and_then(|params| params.get(name));
    let text = |name: &str| argument(name).and_then(Value::as_str).unwrap_or_default();
    match method {
        "initialize" if script.era != Era::Modern => {
            Ok(initialize(script, text("protocolVersion")).to_string())
        }
        "server/discover" if script.era != Era::Legacy => Ok(discover(script).to_string()),
        "ping" if !modern => Ok("{}".to_owned()),
        "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => Ok("{}".to_owned()),
        _ if LIST_METHODS.contains(&method) => {
            let extra = if modern {
                cacheable(script)
            } else {
                Map::new()
            };
            let listing = script
                .listings
                .get(method)
                .ok_or_else(|| not_found(method))?;
            listing
                .result(method, argument("cursor"), &extra)
                .ok_or_else(|| json!({"code": -32602, "message": "Invalid cursor"}))
        }
        "resources/read" => read(script, text("uri"), modern),
        "prompts/get" => {
            let arguments = argument("arguments").cloned().unwrap_or(json!({}));
            let said = format!("prompt {} with {arguments}", text("name"));
            let message = json!({"role": "user", "content": {"type": "text", "text": said}});
            Ok(complete(json!({"messages": [message]}), modern).to_string())
        }
        "tools/call" => {
            let said = format!("called {}", text("name"));
            let content = json!([{"type": "text", "text": said}]);
            Ok(complete(json!({"content": content}), modern).to_string())
        }
        "completion/complete" => {
            let typed = argument("argument")
                .and_then(|it| it["value"].as_str())
                .unwrap_or("");
            let values = [format!("{typed}-a"), format!("{typed}-b")];
            let completion = json!({"values": values, "total": 2, "hasMore": false});
            Ok(complete(json!({"completion": completion}), modern).to_string())
        }
        _ => Err(not_found(method)),
    }
}

fn initialize(script: &Script, asked: &str) -> Value {
    let version = script.protocol_version.clone().unwrap_or_else(|| {
        let known = LEGACY_VERSIONS.contains(&asked);
        Value::from(if known { asked } else { LEGACY_VERSIONS[0] })
    });
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(script),
        "serverInfo": server_info(script),
    });
    if let Some(instructions) = &script.instructions {
        result["instructions"] = instructions.clone();
    }
    result
}

fn discover(script: &Script) -> Value {
    let versions = script.supported_versions.clone().unwrap_or_else(|| {
        let mut versions = vec![MODERN_VERSION];
        if script.era == Era::Both {
            versions.extend(LEGACY_VERSIONS);
        }
        versions.into_iter().map(str::to_owned).collect()
    });
    let mut result = json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": capabilities(script),
        "ttlMs": script.ttl_ms.unwrap_or(0),
        "cacheScope": "private",
        "_meta": {SERVER_INFO_KEY: server_info(script)},
    });
    if let Some(instructions) = &script.instructions {
        result["instructions"] = instructions.clone();
    }
    result
}

/// The declared capabilities: as written, or what the listings need.
fn capabilities(script: &Script) -> Value {
    if let Some(capabilities) = &script.capabilities {
        return capabilities.clone();
    }
    let mut capabilities = json!({});
    for method in script.listings.keys() {
        if let Some((kind, _)) = method.split_once('/') {
            capabilities[kind] = json!({"listChanged": true});
        }
    }
    capabilities
}

fn server_info(script: &Script) -> Value {
    let info = script.server_info.clone();
    info.unwrap_or_else(|| json!({"name": "fake-mcp-server", "version": "1.2.3"}))
}

fn read(script: &Script, uri: &str, modern: bool) -> Answer {
    let listed = script
        .listings
        .get("resources/list")
        .is_some_and(|listing| listing.lists("uri", uri))
        || script
            .listings
            .get("resources/templates/list")
            .is_some_and(|listing| listing.lists("uriTemplate", uri));
    if !listed {
        let code = if modern { -32602 } else { -32002 };
        return Err(json!({"code": code, "message": "Resource not found", "data": {"uri": uri}}));
    }
    let text = format!("content of {uri}");
    let mut result = json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]});
    if let (true, Value::Object(result)) = (modern, &mut result) {
        result.extend(cacheable(script));
    }
    Ok(result.to_string())
}

/// Whether a request is of the modern era: it carries its protocol version in `_meta`.
pub fn is_modern(script: &Script, params: Option<&Value>) -> bool {
    match script.era {
        Era::Legacy => false,
        Era::Modern => true,
        Era::Both => params.is_some_and(|params| params["_meta"].get(VERSION_KEY).is_some()),
    }
}

fn complete(mut result: Value, modern: bool) -> Value {
    if modern {
        result["resultType"] = "complete".into();
    }
    result
}

/// The members that a modern result has if it may be cached.
fn cacheable(script: &Script) -> Map<String, Value> {
    let mut extra = Map::new();
    extra.insert("resultType".to_owned(), "complete".into());
    extra.insert("ttlMs".to_owned(), script.ttl_ms.unwrap_or(0).into());
    extra.insert("cacheScope".to_owned(), "private".into());
    extra
}

fn not_found(method: &str) -> Value {
    json!({"code": -32601, "message": format!("Method not found: {method}")})
}
