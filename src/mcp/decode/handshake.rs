//! Reads the results of `initialize` and `server/discover`, tolerantly: what is needed is the
//! version and the capabilities; whatever else is odd is set to a default and noted.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use crate::domain::Failure;
use crate::domain::catalog::MAX_NOTES;
use crate::domain::text::{Keep, fit, metadata, sanitize_within, visible};

use super::fields::{Defect, Fields, Keys, Value};
use super::{malformed, repair_surrogates, texts};

/// The most characters of a server's instructions.
pub const MAX_INSTRUCTIONS: usize = 16_384;

/// The most versions, and capabilities that MCP does not know, that are kept of a server.
const MAX_NAMES: usize = 100;

/// The most columns of a version or a capability's name, for people.
const MAX_SHOWN: usize = 64;

/// The capabilities that MCP knows, up to 2026-07-28.
const KNOWN: [&str; 8] = [
    "completions",
    "experimental",
    "extensions",
    "logging",
    "prompts",
    "resources",
    "tasks",
    "tools",
];

/// Where a result of `server/discover` has the server's name and version.
const SERVER_INFO_META: &str = "io.modelcontextprotocol/serverInfo";

/// What `initialize` was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitializeReading {
    /// The version that the server chose, whatever it is.
    pub protocol_version: Box<str>,
    /// The rest.
    pub server: ServerReading,
}

/// What `server/discover` was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoverReading {
    /// The versions that the server speaks, as it orders them.
    pub supported_versions: Vec<Box<str>>,
    /// How long the server thinks its answer good, in milliseconds; 0 where it does not say.
    pub ttl_ms: u64,
    /// The rest.
    pub server: ServerReading,
}

/// What a server says about itself. Texts are sanitized.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerReading {
    /// The sorted names of the declared capabilities.
    pub capabilities: Box<[Box<str>]>,
    /// The server's own name; empty where it gave none.
    pub name: Box<str>,
    /// The server's own version; empty where it gave none.
    pub version: Box<str>,
    /// The name for people.
    pub title: Option<Box<str>>,
    /// What it tells a model about itself; may have line breaks.
    pub instructions: Option<Box<str>>,
    /// What was odd and set to a default.
    pub notes: Vec<Arc<str>>,
}

const INITIALIZE_KEYS: Keys = &[
    "protocolVersion",
    "capabilities",
    "serverInfo",
    "instructions",
];

const INFO_KEYS: Keys = &["name", "version", "title"];

const DISCOVER_KEYS: Keys = &[
    "resultType",
    "supportedVersions",
    "capabilities",
    "serverInfo",
    "instructions",
    "ttlMs",
    "cacheScope",
    "_meta",
];

impl InitializeReading {
    /// Reads the JSON text of a result.
    ///
    /// # Errors
    ///
    /// A [`Failure`] of kind `malformed` where version or capabilities are missing or of the wrong type.
    pub fn read(json: &str) -> Result<Self, Failure> {
        let json = repair_surrogates(json);
        let mut reader = Reader::new("initialize", INITIALIZE_KEYS, &json)?;
        let version = reader.needed("protocolVersion")?;
        let version = version
            .string()
            .ok_or_else(|| reader.failure("protocolVersion", "is not a string"))?;
        reader.capabilities()?;
        match reader.fields.get("serverInfo") {
            Some(info) => reader.server_info(info),
            None => reader.note(&Defect::missing("serverInfo")),
        }
        reader.instructions();
        Ok(Self {
            protocol_version: shown(&version),
            server: reader.server,
        })
    }
}

impl DiscoverReading {
    /// Reads the JSON text of a result.
    ///
    /// # Errors
    ///
    /// A [`Failure`] of kind `malformed` where versions or capabilities are missing or of the wrong
    /// type, or the result is not complete.
    pub fn read(json: &str) -> Result<Self, Failure> {
        let json = repair_surrogates(json);
        let mut reader = Reader::new("server/discover", DISCOVER_KEYS, &json)?;
        match reader.fields.get("resultType") {
            None => reader.note(&Defect::missing("resultType")),
            Some(kind) if kind.string().as_deref() == Some("complete") => {}
            Some(_) => return Err(reader.failure("resultType", "is not complete")),
        }
        let supported_versions = reader.versions()?;
        reader.capabilities()?;
        let info = info_of_meta(&reader.fields);
        if let Some(info) = info.or(reader.fields.get("serverInfo")) {
            reader.server_info(info);
        }
        reader.instructions();
        let ttl_ms = reader.ttl_ms();
        match reader.fields.get("cacheScope").map(Value::string) {
            None => reader.note(&Defect::missing("cacheScope")),
            Some(Some(scope)) if matches!(&*scope, "public" | "private") => {}
            Some(_) => reader.note(&Defect::new("cacheScope", "is neither public nor private")),
        }
        Ok(Self {
            supported_versions,
            ttl_ms,
            server: reader.server,
        })
    }
}

/// Whether the JSON text of a result is one of `server/discover`.
#[must_use]
pub fn is_discover_result(json: &str) -> bool {
    DiscoverReading::read(json).is_ok()
}

/// Reads one result.
struct Reader<'a> {
    method: &'static str,
    fields: Fields<'a>,
    server: ServerReading,
}

impl<'a> Reader<'a> {
    fn new(method: &'static str, keys: Keys, json: &'a str) -> Result<Self, Failure> {
        let fields = Fields::read(keys, json)
            .ok_or_else(|| malformed(format!("{method}: the result is not an object")))?;
        Ok(Self {
            method,
            fields,
            server: ServerReading::default(),
        })
    }

    fn failure(&self, field: &'static str, problem: &'static str) -> Failure {
        malformed(format!("{}: {}", self.method, Defect::new(field, problem)))
    }

    fn note(&mut self, what: &dyn Display) {
        if self.server.notes.len() < MAX_NOTES {
            let note = format!("{}: {what}", self.method);
            self.server.notes.push(note.into());
        }
    }

    fn needed(&self, key: &'static str) -> Result<Value<'a>, Failure> {
        let value = self.fields.get(key);
        value.ok_or_else(|| self.failure(key, "is missing"))
    }

    fn versions(&mut self) -> Result<Vec<Box<str>>, Failure> {
        const KEY: &str = "supportedVersions";
        let mut versions = Vec::new();
        let mut odd = false;
        let array = self
            .needed(KEY)?
            .each_element(|version| match version.string() {
                Some(version) if versions.len() < MAX_NAMES => versions.push(shown(&version)),
                Some(_) | None => odd = true,
            });
        array.ok_or_else(|| self.failure(KEY, "is not an array"))?;
        if odd {
            self.note(&Defect::new(
                KEY,
                "has entries that are no strings, or too many",
            ));
        }
        Ok(versions)
    }

    /// A capability is declared when its value is an object or `true`.
    fn capabilities(&mut self) -> Result<(), Failure> {
        const KEY: &str = "capabilities";
        let mut declared = BTreeMap::<Box<str>, bool>::new();
        let object = self.needed(KEY)?.each_member(|name, value| {
            let is_declared = value.is_object() || value.bool() == Some(true);
            if !is_declared && value.bool().is_none() && value.0 != "null" {
                let name = shown(name);
                self.note(&format_args!(
                    "capabilities.{name} is neither an object nor true"
                ));
            }
            let is_odd = metadata(name, Keep::Line).as_deref() != Ok(name);
            if is_odd || (declared.len() >= MAX_NAMES && !KNOWN.contains(&name)) {
                let name = shown(name);
                self.note(&format_args!(
                    "capabilities.{name} has an odd name, or is one too many"
                ));
                return;
            }
            declared.insert(name.into(), is_declared);
        });
        object.ok_or_else(|| self.failure(KEY, "is not an object"))?;
        let names = declared.into_iter().filter(|(_, declared)| *declared);
        self.server.capabilities = names.map(|(name, _)| name).collect();
        Ok(())
    }

    fn server_info(&mut self, info: Value<'_>) {
        let Some(info) = Fields::read(INFO_KEYS, info.0) else {
            return self.note(&Defect::new("serverInfo", "is not an object"));
        };
        for key in ["name", "version"] {
            if info.get(key).is_none() {
                self.note(&format_args!("serverInfo.{key} is missing"));
            }
        }
        self.server.name = self.info_text(&info, "name").unwrap_or_default();
        self.server.version = self.info_text(&info, "version").unwrap_or_default();
        self.server.title = self.info_text(&info, "title");
    }

    fn info_text(&mut self, info: &Fields<'_>, key: &'static str) -> Option<Box<str>> {
        texts::line(info, key).unwrap_or_else(|defect| {
            self.note(&format_args!("serverInfo.{defect}"));
            None
        })
    }

    fn instructions(&mut self) {
        const KEY: &str = "instructions";
        let Some(value) = self.fields.get(KEY) else {
            return;
        };
        match value.string() {
            None => self.note(&Defect::new(KEY, "is not a string")),
            Some(text) => match sanitize_within(&text, Keep::Block, MAX_INSTRUCTIONS) {
                Ok(text) => self.server.instructions = Some(text.into()),
                Err(unstable) => self.note(&format_args!("{KEY}: {unstable}")),
            },
        }
    }

    fn ttl_ms(&mut self) -> u64 {
        const KEY: &str = "ttlMs";
        let Some(value) = self.fields.get(KEY) else {
            self.note(&Defect::missing(KEY));
            return 0;
        };
        value.whole().unwrap_or_else(|| {
            self.note(&Defect::new(KEY, "is not a whole number from 0"));
            0
        })
    }
}

/// The name and version of the server, which the modern era has in the metadata of the result.
fn info_of_meta<'a>(fields: &Fields<'a>) -> Option<Value<'a>> {
    Fields::read(&[SERVER_INFO_META], fields.get("_meta")?.0)?.get(SERVER_INFO_META)
}

/// A version, or the name of a capability, for people: nothing in it is hidden, and it is short.
/// It is not normalized, so that nothing becomes a version that is none.
fn shown(text: &str) -> Box<str> {
    fit(&visible(text), MAX_SHOWN).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initialize(json: &str) -> Result<InitializeReading, String> {
        InitializeReading::read(json).map_err(|failure| failure.message.to_string())
    }

    fn discover(json: &str) -> Result<DiscoverReading, String> {
        DiscoverReading::read(json).map_err(|failure| failure.message.to_string())
    }

    fn notes(server: &ServerReading) -> Vec<&str> {
        server.notes.iter().map(AsRef::as_ref).collect()
    }

    #[test]
    fn a_whole_answer_is_read_without_notes() {
        let expected = ServerReading {
            capabilities: ["resources", "tools"].map(Box::from).into(),
            name: "n".into(),
            version: "1".into(),
            title: Some("T".into()),
            instructions: Some("i\nj".into()),
            notes: Vec::new(),
        };
        let read = initialize(
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":"odd"},"resources":true,"prompts":false,"logging":null},
                "serverInfo":{"name":"n\u200b","version":"1","title":"T"},"instructions":"i\nj\u001b[1m","_meta":{}}"#,
        );
        let initialized = InitializeReading {
            protocol_version: "2025-11-25".into(),
            server: expected.clone(),
        };
        assert_eq!(read, Ok(initialized));
        let read = discover(
            r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{},"resources":{}},
                "instructions":"i\nj","ttlMs":5,"cacheScope":"public",
                "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1","title":"T"}}}"#,
        );
        let discovered = DiscoverReading {
            supported_versions: ["2026-07-28", "2025-11-25"].map(Box::from).into(),
            ttl_ms: 5,
            server: expected,
        };
        assert_eq!(read, Ok(discovered));
    }

    #[test]
    fn what_is_needed_is_named() {
        let check = |json: &str, reason: &str| {
            assert_eq!(
                initialize(json),
                Err(format!("initialize: {reason}")),
                "{json}"
            );
        };
        check("7", "the result is not an object");
        check("{}", "protocolVersion is missing");
        check(
            r#"{"protocolVersion":7}"#,
            "protocolVersion is not a string",
        );
        check(r#"{"protocolVersion":"x"}"#, "capabilities is missing");
        check(
            r#"{"protocolVersion":"x","capabilities":[]}"#,
            "capabilities is not an object",
        );
        let check = |json: &str, reason: &str| {
            assert_eq!(
                discover(json),
                Err(format!("server/discover: {reason}")),
                "{json}"
            );
            assert!(!is_discover_result(json));
        };
        check("{}", "supportedVersions is missing");
        check(
            r#"{"supportedVersions":"x"}"#,
            "supportedVersions is not an array",
        );
        check(r#"{"supportedVersions":[]}"#, "capabilities is missing");
        check(
            r#"{"supportedVersions":[],"capabilities":7}"#,
            "capabilities is not an object",
        );
        check(
            r#"{"resultType":"input_required"}"#,
            "resultType is not complete",
        );
        assert!(is_discover_result(
            r#"{"supportedVersions":[],"capabilities":{}}"#
        ));
    }

    #[test]
    fn what_is_odd_is_noted() {
        let read = initialize(
            r#"{"protocolVersion":"2025-11-25\u001b[1m","capabilities":{"tools":"x","a\u200b":{},"ｒesources":{}},"serverInfo":{"name":7},"instructions":[]}"#,
        );
        let Ok(read) = read else {
            return assert!(read.is_ok());
        };
        assert_eq!(&*read.protocol_version, "2025-11-25\\u{1b}[1m");
        assert_eq!(read.server.capabilities, Box::default());
        assert_eq!(
            notes(&read.server),
            [
                "initialize: capabilities.tools is neither an object nor true",
                "initialize: capabilities.a\\u{200b} has an odd name, or is one too many",
                "initialize: capabilities.ｒesources has an odd name, or is one too many",
                "initialize: serverInfo.version is missing",
                "initialize: serverInfo.name is not a string",
                "initialize: instructions is not a string",
            ]
        );
        let read = initialize(r#"{"protocolVersion":"x","capabilities":{}}"#);
        let Ok(read) = read else {
            return assert!(read.is_ok());
        };
        assert_eq!(notes(&read.server), ["initialize: serverInfo is missing"]);

        let read = discover(
            r#"{"supportedVersions":["x",7],"capabilities":{},"ttlMs":-1,"cacheScope":"x","_meta":{"io.modelcontextprotocol/serverInfo":7}}"#,
        );
        let Ok(read) = read else {
            return assert!(read.is_ok());
        };
        assert_eq!(read.supported_versions, [Box::from("x")]);
        assert_eq!(
            notes(&read.server),
            [
                "server/discover: resultType is missing",
                "server/discover: supportedVersions has entries that are no strings, or too many",
                "server/discover: serverInfo is not an object",
                "server/discover: ttlMs is not a whole number from 0",
                "server/discover: cacheScope is neither public nor private",
            ]
        );
        let read =
            discover(r#"{"supportedVersions":[],"capabilities":{},"resultType":"complete"}"#);
        let Ok(read) = read else {
            return assert!(read.is_ok());
        };
        assert_eq!(
            notes(&read.server),
            [
                "server/discover: ttlMs is missing",
                "server/discover: cacheScope is missing"
            ]
        );
    }

    #[test]
    fn many_names_are_bounded_and_those_of_mcp_are_kept() {
        let junk: Vec<_> = (0..10_000).map(|n| format!("\"x{n}\":{{}}")).collect();
        let json = format!(
            r#"{{"protocolVersion":"x","capabilities":{{{},"tools":{{}}}}}}"#,
            junk.join(",")
        );
        let Ok(read) = initialize(&json) else {
            return assert!(initialize(&json).is_ok());
        };
        assert_eq!(read.server.capabilities.len(), MAX_NAMES + 1);
        assert!(read.server.capabilities.contains(&Box::from("tools")));
        assert_eq!(read.server.notes.len(), MAX_NOTES);
    }
}
