//! A server that costs as little as it can: it looks for three words in a line and answers with
//! text that is made on the spot.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// How many items stand on a page.
const PAGE: usize = 100;

/// How large the page of a hostile server is, in bytes.
const HOSTILE: usize = 15 * 1024 * 1024;

/// How often a storm says that a list has changed.
const GUST: Duration = Duration::from_millis(1);

const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}\n";

/// How the server behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many resources it has, and how many templates.
    pub items: usize,
    /// How long it sleeps before it reads anything.
    pub start: Duration,
    /// How much processor time it uses before that.
    pub work: Duration,
    /// How long it stays after its stdin has ended.
    pub end: Duration,
    /// Whether its lists are one page of [`HOSTILE`] bytes that holds no items.
    pub hostile: bool,
    /// Whether it never answers.
    pub silent: bool,
    /// The port of whoever asks for notifications.
    pub control: Option<u16>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            items: 3,
            start: Duration::ZERO,
            work: Duration::ZERO,
            end: Duration::ZERO,
            hostile: false,
            silent: false,
            control: None,
        }
    }
}

impl Options {
    /// Reads what [`Options::arguments`] wrote.
    pub fn read(arguments: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            let milliseconds = || value.parse().map(Duration::from_millis);
            match name {
                "items" => options.items = value.parse()?,
                "start" => options.start = milliseconds()?,
                "work" => options.work = milliseconds()?,
                "end" => options.end = milliseconds()?,
                "hostile" => options.hostile = true,
                "silent" => options.silent = true,
                "control" => options.control = Some(value.parse()?),
                other => bail!("{other:?} is no option of the server"),
            }
        }
        Ok(options)
    }

    /// The arguments that make a server of this kind.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["server".to_owned(), format!("items={}", self.items)];
        for (name, duration) in [
            ("start", self.start),
            ("work", self.work),
            ("end", self.end),
        ] {
            if !duration.is_zero() {
                arguments.push(format!("{name}={}", duration.as_millis()));
            }
        }
        if self.hostile {
            arguments.push("hostile".to_owned());
        }
        if self.silent {
            arguments.push("silent".to_owned());
        }
        arguments.extend(self.control.map(|port| format!("control={port}")));
        arguments
    }
}

/// Which version of the lists is the newest, and whether a storm blows.
static VERSION: AtomicU64 = AtomicU64::new(0);
static STORM: AtomicBool = AtomicBool::new(false);

/// Serves stdin and stdout.
pub fn serve(options: &Options) -> Result<()> {
    std::thread::sleep(options.start);
    while used()? < options.work {
        std::hint::spin_loop();
    }
    if let Some(port) = options.control {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        std::thread::spawn(move || obey(stream));
    }
    let mut input = io::stdin().lock();
    let mut buffer = vec![0; 64 * 1024];
    let mut pending: Vec<u8> = Vec::new();
    let mut output = String::new();
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            std::thread::sleep(options.end);
            return Ok(());
        }
        if options.silent {
            continue;
        }
        pending.extend_from_slice(&buffer[..count]);
        let mut rest = pending.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = std::str::from_utf8(&rest[..end])?;
            output.clear();
            answer(line, options, &mut output)?;
            if say(&output).is_break() {
                return Ok(());
            }
            rest = &rest[end + 1..];
        }
        pending = rest.to_vec();
    }
}

/// The processor time that this process has used.
fn used() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let used = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(u64::try_from(
        used.num_microseconds(),
    )?))
}

/// Does what a control connection asks for: `N\n` changes the lists and says so N times, `storm\n`
/// says it without an end. Each is answered with a line as soon as it is written.
fn obey(stream: TcpStream) -> Result<()> {
    let mut answers = stream.try_clone()?;
    for line in io::BufRead::lines(io::BufReader::new(stream)) {
        let line = line?;
        VERSION.fetch_add(1, Ordering::Relaxed);
        if line == "storm" {
            STORM.store(true, Ordering::Relaxed);
            std::thread::spawn(|| {
                while STORM.load(Ordering::Relaxed) && say(CHANGED).is_continue() {
                    VERSION.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(GUST);
                }
            });
        } else {
            let count: usize = line.parse()?;
            if say(&CHANGED.repeat(count)).is_break() {
                break;
            }
        }
        answers.write_all(b"done\n")?;
    }
    Ok(())
}

/// Writes whole lines; breaks where nobody reads them.
fn say(lines: &str) -> ControlFlow<()> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(lines.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// The text behind the key, up to what ends a value of ours.
fn value<'a>(line: &'a str, key: &str, end: &[char]) -> Option<&'a str> {
    let (_, behind) = line.split_once(key)?;
    behind.split(end).next()
}

/// Appends the answer to one line.
fn answer(line: &str, options: &Options, output: &mut String) -> Result<()> {
    let Some(id) = value(line, "\"id\":", &[',', '}']) else {
        return Ok(());
    };
    let method = value(line, "\"method\":\"", &['"']).context("a request has a method")?;
    write!(output, "{{\"jsonrpc\":\"2.0\",\"id\":{id},")?;
    match method {
        "initialize" => {
            output.push_str(
                "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"resources\":\
                 {\"listChanged\":true}},\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}",
            );
        }
        "resources/list" | "resources/templates/list" if options.hostile => {
            output.push_str("\"result\":{\"resources\":[{\"a\":0}");
            while output.len() < HOSTILE - 8 {
                output.push_str(",{\"a\":0}");
            }
            output.push_str("]}");
        }
        "resources/list" => list(line, options, output, "resources", |output, at, version| {
            write!(
                output,
                "{{\"uri\":\"mem://res/{at}\",\"name\":\"res-{at}-v{version}\",\
                 \"description\":\"resource number {at}\",\"mimeType\":\"text/plain\"}}"
            )
        })?,
        "resources/templates/list" => {
            list(
                line,
                options,
                output,
                "resourceTemplates",
                |output, at, _| {
                    write!(
                        output,
                        "{{\"uriTemplate\":\"mem://tpl/{at}/{{id}}\",\"name\":\"tpl-{at}\",\
                     \"description\":\"template number {at}\"}}"
                    )
                },
            )?;
        }
        "ping" => output.push_str("\"result\":{}"),
        _ => output.push_str("\"error\":{\"code\":-32601,\"message\":\"Method not found\"}"),
    }
    output.push_str("}\n");
    Ok(())
}

/// Appends a page; its cursor is the number of its first item.
fn list(
    line: &str,
    options: &Options,
    output: &mut String,
    key: &str,
    item: impl Fn(&mut String, usize, u64) -> std::fmt::Result,
) -> Result<()> {
    let version = VERSION.load(Ordering::Relaxed);
    let first = match value(line, "\"cursor\":\"", &['"']) {
        Some(cursor) => cursor.parse()?,
        None => 0,
    };
    let end = (first + PAGE).min(options.items);
    write!(output, "\"result\":{{\"{key}\":[")?;
    for at in first..end {
        if at > first {
            output.push(',');
        }
        item(output, at, version)?;
    }
    output.push(']');
    if end < options.items {
        write!(output, ",\"nextCursor\":\"{end}\"")?;
    }
    output.push('}');
    Ok(())
}
