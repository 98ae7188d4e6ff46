//! Ways to start a fake: in this task's runtime, as an HTTP server, or as a process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::fake::{Action, Engine, Input, Outlet, Record as _, Script, http, stream};
use super::handle::{Book, BookWriter, FakeHandle};

/// Starts a fake as tasks of the current runtime and returns the client's end of its pipe. With
/// paused time its delays take no time.
pub fn in_process(script: Script) -> (DuplexStream, FakeHandle) {
    let (ours, theirs) = tokio::io::duplex(256 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let (book, handle, commands) = handle();
    let never_read = script.process.never_read;
    let (engine, inputs, receiver) = Engine::new(script);
    let (outlet, mut frames) = Outlet::new(stream::MAIN);
    let engine = engine.record_to(Box::new(book)).with_stream(outlet.clone());
    tokio::spawn(forward(commands, inputs.clone()));
    tokio::spawn(async move {
        let writing = async {
            let _ = stream::write_frames(writer, &mut frames).await;
            stream::drain(&mut frames).await;
        };
        let reading = async {
            if !never_read {
                stream::read_lines(reader, inputs, outlet).await;
            }
            std::future::pending::<()>().await;
        };
        // When the engine ends, both ends of the pipe are dropped.
        tokio::select! {
            _ = engine.run(receiver) => {}
            () = async { tokio::join!(writing, reading); } => {}
        }
    });
    (ours, handle)
}

/// Starts a fake HTTP server in this process, on a thread and runtime of its own, and returns its
/// address (`/mcp` is the endpoint; `/sse` for the legacy transport). All its connections break
/// when the script exits.
///
/// # Panics
/// When no port is free.
pub fn http_server(script: Script) -> (SocketAddr, FakeHandle) {
    http_server_at(SocketAddr::from(([127, 0, 0, 1], 0)), script)
}

/// As [`http_server`], at this address: a server that comes back.
///
/// # Panics
/// When the address is taken.
pub fn http_server_at(address: SocketAddr, script: Script) -> (SocketAddr, FakeHandle) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts");
    let guard = runtime.enter();
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket opens");
    socket.set_reuseaddr(true).expect("the option is known");
    socket.bind(address).expect("the address is free");
    let listener = socket.listen(1024).expect("the socket listens");
    let address = listener.local_addr().expect("a listener has an address");
    drop(guard);
    let (book, handle, commands) = handle();
    let (engine, inputs, receiver) = Engine::new(script);
    let engine = engine.record_to(Box::new(book));
    std::thread::spawn(move || {
        runtime.block_on(async move {
            tokio::spawn(forward(commands, inputs.clone()));
            tokio::spawn(http::serve(listener, inputs));
            engine.run(receiver).await;
            // The last responses are with the kernel by then.
            tokio::time::sleep(Duration::from_millis(20)).await;
        });
    });
    (address, handle)
}

/// The listener to which fake processes connect; restarts of one server come to the same one.
#[derive(Debug)]
pub struct Control {
    address: SocketAddr,
    arrivals: UnboundedReceiver<FakeHandle>,
    folder: TempDir,
    scripts: usize,
}

/// A command line.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Control {
    /// Listens on a free port.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let (sender, arrivals) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (book, handle, commands) = handle();
                tokio::spawn(link(stream, book, commands));
                if sender.send(handle).is_err() {
                    return;
                }
            }
        });
        Self {
            address,
            arrivals,
            folder: TempDir::new().expect("a folder can be made"),
            scripts: 0,
        }
    }

    /// The command line that starts a fake with this script on stdio, connected to this listener.
    ///
    /// # Panics
    /// When the program is not built: `cargo build --example fake-mcp-server`.
    pub fn command(&mut self, script: &Script) -> CommandLine {
        self.scripts += 1;
        let path = self
            .folder
            .path()
            .join(format!("script-{}.json", self.scripts));
        let text = serde_json::to_vec(script).expect("a script is JSON");
        std::fs::write(&path, text).expect("the script is written");
        let path = path.to_string_lossy().into_owned();
        let address = self.address.to_string();
        CommandLine {
            program: fake_program(),
            arguments: ["--script", &path, "--control", &address]
                .map(str::to_owned)
                .to_vec(),
        }
    }

    /// The next fake that connects, in the order of their starts.
    ///
    /// # Panics
    /// When none connects within 10 s.
    pub async fn accept(&mut self) -> FakeHandle {
        let arrival = tokio::time::timeout(Duration::from_secs(10), self.arrivals.recv()).await;
        arrival
            .expect("a fake connects within 10 s")
            .expect("the listener lives")
    }

    /// A fake that has connected already, if there is one.
    pub fn try_accept(&mut self) -> Option<FakeHandle> {
        self.arrivals.try_recv().ok()
    }
}

/// The program `fake-mcp-server`, which a plain `cargo test` builds.
///
/// # Panics
/// When it is not built.
pub fn fake_program() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test
        .parent()
        .and_then(|deps| deps.parent())
        .expect("target/PROFILE/deps/");
    let name = format!("fake-mcp-server{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(name);
    assert!(
        program.exists(),
        "run `cargo build --example fake-mcp-server` first"
    );
    program
}

/// A book, a handle over it, and the commands that the handle sends.
fn handle() -> (BookWriter, FakeHandle, UnboundedReceiver<Action>) {
    let (writer, book) = Book::new();
    let (sender, commands) = unbounded_channel();
    (writer, FakeHandle::new(sender, book), commands)
}

async fn forward(mut commands: UnboundedReceiver<Action>, inputs: UnboundedSender<Input>) {
    while let Some(action) = commands.recv().await {
        if inputs.send(Input::Act(vec![action])).is_err() {
            return;
        }
    }
}

/// The test's end of a control channel.
async fn link(stream: TcpStream, mut book: BookWriter, mut commands: UnboundedReceiver<Action>) {
    let (reader, mut writer) = stream.into_split();
    let sending = tokio::spawn(async move {
        while let Some(action) = commands.recv().await {
            let mut line = serde_json::to_vec(&action).expect("a command is JSON");
            line.push(b'\n');
            if writer.write_all(&line).await.is_err() {
                return;
            }
        }
        // The fake keeps talking although nobody commands it any more.
        std::future::pending::<()>().await;
    });
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let entry = serde_json::from_str(&line).expect("an entry is JSON");
        book.record(&entry);
    }
    sending.abort();
}
