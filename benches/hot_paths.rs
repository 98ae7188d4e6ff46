//! What costs time inside: decoding, traversal, sanitizing, publishing, frames, search.
//!
//! `cargo bench` runs all, `cargo bench -- frame` those with the word in their name. What a user
//! meets is measured by the example `bench`.

#[path = "../tests/support/bench/frame.rs"]
mod frame;

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use anyhow::Result;
use divan::Bencher;
use mcpdeck::app::{Definition, Engine, EngineHandle, EngineOptions, Face, Launch, Launched};
use mcpdeck::domain::text::{self, Keep};
use mcpdeck::domain::{
    AppState, Interest, Resource, ResourceTemplate, ServerName, Settings, StdioConfig,
};
use mcpdeck::mcp::decode::{self, Accumulator, Decode};
use mcpdeck::mcp::{LineRing, Signals};
use mcpdeck::tui::aside::Wanted;
use mcpdeck::tui::find::Query;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::runtime::Runtime;

use frame::{Frame, definition, many_servers};

/// How many items a page has, and how many pages there are.
const PAGE: usize = 100;
const PAGES: usize = 100;

fn main() {
    divan::main();
}

/// The page of resources or templates as a server sends it.
fn page(key: &str, uri: &str, number: usize) -> String {
    let mut page = format!("{{\"{key}\":[");
    for at in number * PAGE..(number + 1) * PAGE {
        let comma = if at % PAGE == 0 { "" } else { "," };
        // Never fails: a String takes everything.
        let _ = write!(
            page,
            "{comma}{{\"{uri}\":\"mem://res/{at}/x\",\"name\":\"res-{at}\",\"description\":\
             \"number {at}\"}}"
        );
    }
    page.push(']');
    if number + 1 < PAGES {
        let _ = write!(page, ",\"nextCursor\":\"{}\"", number + 1);
    }
    page.push('}');
    page
}

/// Decodes all pages, as a traversal does.
fn decode_pages<T: Decode>(pages: &[String]) -> Arc<[T]> {
    let mut items = Accumulator::default();
    for (page, number) in pages.iter().zip(1..) {
        if let Err(failure) = decode::page::<T>(page, number, &mut items) {
            unreachable!("{failure}");
        }
    }
    items.finish().0
}

#[divan::bench]
fn decode_a_page_of_100_resources(bencher: Bencher) {
    let pages = [page("resources", "uri", 0)];
    bencher.bench(|| decode_pages::<Resource>(black_box(&pages)));
}

#[divan::bench]
fn decode_100_pages_of_100_templates(bencher: Bencher) {
    let pages: Vec<String> = (0..PAGES)
        .map(|number| page("resourceTemplates", "uriTemplate", number))
        .collect();
    bencher.bench(|| decode_pages::<ResourceTemplate>(black_box(&pages)));
}

#[divan::bench(args = [
    "Reads a file of the workspace and returns what it holds.",
    "Reads a file \u{1b}[31mof\u{1b}[0m the workspace\u{202e} and returns it\u{7}.",
    "ワークスペースのファイルを読み、その内容を返します。",
])]
fn sanitize(text: &str) {
    let _ = black_box(text::sanitize(black_box(text), Keep::Block));
}

/// A server in this process that answers at once.
#[derive(Debug)]
struct Fast(Arc<[String]>);

impl Launch for Fast {
    fn launch(
        &self,
        _: &StdioConfig,
        _: &Arc<LineRing>,
        _: &Arc<Signals>,
    ) -> Result<Launched, String> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        // It ends when its input does.
        tokio::spawn(serve(theirs, Arc::clone(&self.0)));
        Ok(Launched::InProcess(ours))
    }
}

async fn serve(stream: DuplexStream, pages: Arc<[String]>) -> Result<()> {
    let (input, mut output) = tokio::io::split(stream);
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await? {
        let request: serde_json::Value = serde_json::from_str(&line)?;
        let Some(id) = request.get("id") else {
            continue;
        };
        let cursor = request["params"]["cursor"].as_str();
        let number: usize = cursor.map_or(Ok(0), str::parse)?;
        let answer = match request["method"].as_str() {
            Some("initialize") => concat!(
                r#""result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"#,
                r#""serverInfo":{"name":"fast","version":"1"}}"#
            )
            .to_owned(),
            Some("resources/list") => format!("\"result\":{}", pages[number]),
            _ => r#""error":{"code":-32601,"message":"Method not found"}"#.to_owned(),
        };
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n");
        output.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

/// An engine without processes, and what it runs on.
struct Rig {
    runtime: Runtime,
    engine: EngineHandle,
    _running: Engine,
}

impl Rig {
    fn new(servers: Vec<Definition>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let pages = (0..PAGES).map(|number| page("resources", "uri", number));
        let launcher = Arc::new(Fast(pages.collect()));
        let options = EngineOptions {
            face: Face::Deck,
            interest: Interest::ALL,
            live: true,
            settings: Settings::default(),
        };
        let (engine, running) = runtime.block_on(async {
            let running = Engine::start_with(options, launcher);
            let engine = running.handle();
            engine.put(servers).await;
            (engine, running)
        });
        Ok(Self {
            runtime,
            engine,
            _running: running,
        })
    }

    /// Waits for a snapshot of this kind.
    async fn until(&self, holds: impl Fn(&AppState) -> bool) -> Result<()> {
        let mut states = self.engine.state();
        states.wait_for(|state| holds(state)).await?;
        Ok(())
    }
}

/// From the request to the snapshot that has the new list: the wire, the walk and the diff.
#[divan::bench(sample_count = 20)]
fn traverse_100_pages_of_100_resources(bencher: Bencher) {
    let run = || -> Result<()> {
        let rig = Rig::new(vec![definition(0, true)?])?;
        let name = ServerName::new("server-0")?;
        rig.runtime
            .block_on(rig.until(|state| state.servers.iter().all(|server| server.is_settled())))?;
        bencher.bench_local(|| {
            rig.runtime.block_on(async {
                let before = generation(&rig.engine.snapshot());
                rig.engine.refresh(&name).await;
                rig.until(|state| generation(state) > before).await
            })
        });
        Ok(())
    };
    run().unwrap_or_else(|error| unreachable!("{error:#}"));
}

fn generation(state: &AppState) -> Option<mcpdeck::domain::Generation> {
    state.servers.first().map(|server| server.generation)
}

/// One more snapshot of 200 servers, with one more event in it.
#[divan::bench]
fn publish_200_servers(bencher: Bencher) {
    let run = || -> Result<()> {
        let servers: Result<_> = (0..200).map(|number| definition(number, false)).collect();
        let rig = Rig::new(servers?)?;
        rig.runtime
            .block_on(rig.until(|state| state.servers.len() == 200))?;
        bencher.bench_local(|| {
            rig.runtime.block_on(async {
                let before = rig.engine.snapshot().revision;
                rig.engine.note(None, "noted").await;
                rig.until(|state| state.revision > before).await
            })
        });
        Ok(())
    };
    run().unwrap_or_else(|error| unreachable!("{error:#}"));
}

/// What a frame takes, model to cells: 100 servers, 10,000 rows, in a large window.
#[divan::bench]
fn frame_of_100_servers_and_10_000_rows(bencher: Bencher) {
    let mut frame = Frame::new(100).unwrap_or_else(|error| unreachable!("{error:#}"));
    bencher.bench_local(|| frame.draw());
}

/// A search over 1,000,000 items.
#[divan::bench(sample_count = 10, args = ["res-77", "nothing has this", "res 9 x"])]
fn find_in_1_000_000_items(bencher: Bencher, needle: &str) {
    let state = many_servers(100).unwrap_or_else(|error| unreachable!("{error:#}"));
    bencher.bench_local(|| Query::new(needle, &state.servers).run(&Wanted::default()));
}
