//! A scripted MCP server as a process, for tests.
//!
//! `fake-mcp-server [--script FILE | --inline JSON] [--http ADDRESS] [--log FILE] [--control
//! ADDRESS]`: serves stdio, or HTTP at `/mcp` with the address on the first line of stdout.
//! `--log` appends what it received to a file; `--control` connects to a test, which gets the
//! same and sends commands, both as one JSON object a line.

#[expect(
    dead_code,
    reason = "tests build scripts in Rust, this program only reads them"
)]
#[path = "../it/support/fake/mod.rs"]
mod fake;

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use fake::engine::Host;
use fake::record::{self, FileRecord};
use fake::{Engine, Grandchild, Input, Logged, Outlet, Record, Script, stream};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Failure = Box<dyn std::error::Error>;

#[derive(Debug, Default)]
struct Options {
    script: Script,
    http: Option<SocketAddr>,
    log: Option<PathBuf>,
    control: Option<SocketAddr>,
}

fn main() -> Result<(), Failure> {
    let options = options(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(run(options))?;
    // Threads that still read stdin must not keep the process alive.
    std::process::exit(code)
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, Failure> {
    let mut options = Options::default();
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--script" => options.script = serde_json::from_slice(&std::fs::read(value)?)?,
            "--inline" => options.script = serde_json::from_str(&value)?,
            "--http" => options.http = Some(value.parse()?),
            "--log" => options.log = Some(value.into()),
            "--control" => options.control = Some(value.parse()?),
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(options)
}

async fn run(options: Options) -> Result<i32, Failure> {
    let process = options.script.process.clone();
    let (mut engine, inputs, receiver) = Engine::new(options.script);
    if let Some(path) = &options.log {
        engine = engine.record_to(Box::new(FileRecord::open(path)?));
    }
    let mut link = None;
    if let Some(address) = options.control {
        let (entries, lines) = unbounded_channel();
        let stream = TcpStream::connect(address).await?;
        link = Some(tokio::spawn(control(stream, inputs.clone(), lines)));
        engine = engine.record_to(Box::new(LinkRecord(entries)));
    }
    let (stderr, console) = Console::start();
    engine = engine.with_host(Box::new(console));
    signals(process.sigterm, inputs.clone())?;

    let exit = if let Some(address) = options.http {
        let listener = TcpListener::bind(address).await?;
        let mut stdout = io::stdout();
        writeln!(stdout, "{}", listener.local_addr()?)?;
        stdout.flush()?;
        tokio::spawn(fake::http::serve(listener, inputs));
        let exit = engine.run(receiver).await;
        // The last responses are with the kernel by then.
        tokio::time::sleep(Duration::from_millis(20)).await;
        exit
    } else {
        let (outlet, frames) = Outlet::new(stream::MAIN);
        engine = engine.with_stream(outlet.clone());
        tokio::spawn(stdio::write(frames));
        if !process.never_read {
            tokio::spawn(stdio::read(inputs, outlet));
        }
        engine.run(receiver).await
    };
    end(stderr, link).await;
    Ok(exit.code)
}

/// Waits, within a bound, until stderr and the control channel have everything.
async fn end(stderr: mpsc::Sender<Output>, link: Option<tokio::task::JoinHandle<()>>) {
    let (done, written) = tokio::sync::oneshot::channel();
    let _ = stderr.send(Output::Flush(done));
    let _ = tokio::time::timeout(Duration::from_secs(1), written).await;
    if let Some(link) = link {
        let _ = tokio::time::timeout(Duration::from_secs(1), link).await;
    }
}

/// Listens for TERM, unless it has its default effect.
fn signals(sigterm: fake::Sigterm, inputs: UnboundedSender<Input>) -> io::Result<()> {
    #[cfg(unix)]
    if sigterm != fake::Sigterm::Default {
        use tokio::signal::unix::{SignalKind, signal};
        let mut term = signal(SignalKind::terminate())?;
        tokio::spawn(async move {
            while term.recv().await.is_some() {
                let _ = inputs.send(Input::Signal);
            }
        });
    }
    #[cfg(not(unix))]
    let _ = (sigterm, inputs);
    Ok(())
}

/// Entries on their way to the test.
struct LinkRecord(UnboundedSender<String>);

impl Record for LinkRecord {
    fn record(&mut self, entry: &Logged) {
        let _ = self.0.send(record::line(entry));
    }
}

/// The control channel: commands in, entries out. It ends when the engine has ended.
async fn control(
    stream: TcpStream,
    inputs: UnboundedSender<Input>,
    mut lines: UnboundedReceiver<String>,
) {
    let (reader, mut writer) = stream.into_split();
    tokio::spawn(async move {
        let mut commands = BufReader::new(reader).lines();
        while let Ok(Some(command)) = commands.next_line().await {
            match serde_json::from_str(&command) {
                Ok(action) => {
                    let _ = inputs.send(Input::Act(vec![action]));
                }
                Err(error) => {
                    let text = format!("fake: bad command: {error}: {command}\n");
                    let _ = inputs.send(Input::Act(vec![fake::Action::stderr(&text)]));
                }
            }
        }
    });
    while let Some(mut line) = lines.recv().await {
        while let Ok(more) = lines.try_recv() {
            line.push_str(&more);
        }
        if writer.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Something for stderr.
enum Output {
    Bytes(Vec<u8>),
    Flush(tokio::sync::oneshot::Sender<()>),
}

/// Stderr and children. A thread of its own writes, so that a full pipe blocks nobody.
struct Console(mpsc::Sender<Output>);

impl Console {
    fn start() -> (mpsc::Sender<Output>, Self) {
        let (sender, outputs) = mpsc::channel();
        std::thread::spawn(move || {
            for output in outputs {
                match output {
                    Output::Bytes(bytes) => {
                        let _ = io::stderr().write_all(&bytes);
                    }
                    Output::Flush(done) => {
                        let _ = done.send(());
                    }
                }
            }
        });
        (sender.clone(), Self(sender))
    }
}

impl Host for Console {
    fn stderr(&mut self, bytes: Vec<u8>) {
        let _ = self.0.send(Output::Bytes(bytes));
    }

    fn grandchild(&mut self, grandchild: &Grandchild) -> Option<u32> {
        let seconds = if grandchild.seconds == 0 {
            1000
        } else {
            grandchild.seconds
        };
        let trap = if grandchild.ignore_term {
            "trap '' TERM; "
        } else {
            ""
        };
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!("{trap}sleep {seconds}"));
        #[cfg(unix)]
        if grandchild.own_group {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        Some(command.spawn().ok()?.id())
    }
}

/// Stdin and stdout.
mod stdio {
    use tokio::io::{AsyncRead, AsyncWrite};
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

    use super::fake::{Frame, Input, Outlet, stream};

    /// Reads stdin.
    pub async fn read(inputs: UnboundedSender<Input>, outlet: Outlet) {
        stream::read_lines(input(), inputs, outlet).await;
    }

    /// Writes stdout, and closes it when told to.
    pub async fn write(mut frames: UnboundedReceiver<Frame>) {
        let _ = stream::write_frames(output(), &mut frames).await;
        #[cfg(unix)]
        if let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(null);
        }
        stream::drain(&mut frames).await;
    }

    /// A pipe is read by the runtime itself, which spares a thread; other files by tokio's stdin.
    fn input() -> Box<dyn AsyncRead + Send + Unpin> {
        #[cfg(unix)]
        if let Some(pipe) = pipe::receiver() {
            return Box::new(pipe);
        }
        Box::new(tokio::io::stdin())
    }

    fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
        #[cfg(unix)]
        if let Some(pipe) = pipe::sender() {
            return Box::new(pipe);
        }
        Box::new(tokio::io::stdout())
    }

    #[cfg(unix)]
    mod pipe {
        use std::os::fd::AsFd as _;

        use tokio::net::unix::pipe::{Receiver, Sender};

        pub fn receiver() -> Option<Receiver> {
            let fd = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
            Receiver::from_owned_fd(fd).ok()
        }

        pub fn sender() -> Option<Sender> {
            let fd = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
            Sender::from_owned_fd(fd).ok()
        }
    }
}
