//! With real processes: at most one of a name is alive at any time, whatever is asked for, and one
//! that is killed by hand comes back (3, 4.4, 4.6).

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mcpdeck::app::{Definition, Engine, EngineHandle, EngineOptions, Ladder};
use mcpdeck::domain::{ProtocolChoice, ServerName, ServerSnapshot, Settings, Status};
use tokio::time::timeout;

use super::{Order, shown};
use crate::support::fake::{Reply, Script, Sigterm};
use crate::support::handle::FakeHandle;
use crate::support::launch::Control;
use crate::support::rig::{self, NAME, definition};

const SOON: Duration = Duration::from_secs(20);

/// An engine with a server that is a process; each of its starts is the same script.
struct Real {
    engine: Engine,
    handle: EngineHandle,
    control: Control,
    definition: Definition,
    /// The processes that were started so far.
    pids: Vec<u32>,
}

impl Real {
    async fn start(options: EngineOptions, script: &Script, protocol: ProtocolChoice) -> Self {
        let mut control = Control::listen().await;
        let line = control.command(script);
        let program = line.program.to_string_lossy().into_owned();
        let mut config = (*definition(NAME, &program, line.arguments)
            .config
            .get()
            .unwrap())
        .clone();
        config.protocol = protocol;
        config.connect_timeout = Some(Duration::from_secs(3));
        let definition = Definition::from(config);
        let engine = Engine::start(options);
        let handle = engine.handle();
        handle.put(vec![definition.clone()]).await;
        Self {
            engine,
            handle,
            control,
            definition,
            pids: Vec::new(),
        }
    }

    /// The next process; all before it must be gone by the time that it runs.
    async fn arrival(&mut self) -> FakeHandle {
        let fake = self.control.accept().await;
        let pid = fake.pid().await;
        for former in &self.pids {
            assert!(!is_alive(*former), "{former} lives beside {pid}");
        }
        self.pids.push(pid);
        fake
    }

    async fn until(&self, what: &str, is: impl Fn(&ServerSnapshot) -> bool) -> String {
        let mut states = self.handle.state();
        let found = states.wait_for(|state| state.servers.first().is_some_and(|it| is(it)));
        let found = timeout(SOON, found).await.map(|state| state.is_ok());
        let state = self.handle.snapshot();
        let shown = state.servers.first().map(|server| shown(server));
        assert_eq!(found, Ok(true), "not {what}: {shown:?}");
        shown.unwrap()
    }

    async fn tell(&self, order: Order) {
        let name = &self.definition.name;
        match order {
            Order::Refresh => self.handle.refresh(name).await,
            Order::Reconnect => self.handle.reconnect(name).await,
            Order::Enable => self.handle.set_enabled(name, true).await,
            Order::Disable => self.handle.set_enabled(name, false).await,
            Order::Replace => self.handle.put(vec![self.definition.clone()]).await,
            Order::Remove => {
                self.handle.remove(name).await;
            }
        }
    }

    async fn end(self) {
        self.engine.shutdown(Ladder::BRISK).await;
        for pid in self.pids {
            assert!(!is_alive(pid), "{pid} outlived us");
        }
    }
}

/// Whether there is such a process; one that ended and was not reaped counts.
fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// A server that ends only when it is killed.
fn immortal() -> Script {
    Script::legacy().sample().process(|process| {
        process.ignore_eof = true;
        process.sigterm = Sigterm::Ignore;
    })
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn two_processes_of_a_name_are_never_alive_together() {
    use Order::{Disable, Enable, Reconnect, Remove, Replace};
    let check = async |script: Script, orders: &[Order]| {
        let legacy = ProtocolChoice::Legacy;
        let mut real = Real::start(rig::live(), &script, legacy).await;
        real.arrival().await;
        for order in orders {
            real.tell(*order).await;
        }
        real.arrival().await;
        real.end().await;
    };
    let hanging = || immortal().on("initialize", Reply::silence());
    tokio::join!(
        check(immortal(), &[Reconnect]),
        check(immortal(), &[Replace]),
        check(immortal(), &[Disable, Enable]),
        check(immortal(), &[Remove, Replace]),
        check(
            immortal(),
            &[Reconnect, Replace, Disable, Enable, Remove, Replace]
        ),
        check(hanging(), &[Reconnect]),
        check(hanging(), &[Disable, Enable, Replace]),
        check(hanging(), &[Remove, Replace, Remove, Replace]),
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_catalog_is_invalid_long_before_the_old_process_is_gone() {
    for order in [Order::Replace, Order::Reconnect, Order::Disable] {
        let legacy = ProtocolChoice::Legacy;
        let mut real = Real::start(rig::live(), &immortal(), legacy).await;
        real.arrival().await;
        real.until("settled", ServerSnapshot::is_settled).await;
        real.tell(order).await;
        let shown = real
            .until("invalid", |server| server.status.session().is_none())
            .await;
        assert!(
            matches!(shown.as_str(), "connecting" | "disabled"),
            "{shown}"
        );
        assert!(is_alive(real.pids[0]));
        real.end().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_negotiation_that_needs_a_second_process_ends_the_first() {
    // It ends the first process in vain until the connect timeout is over; whatever was being
    // ended then is ended all the same.
    let script = immortal()
        .discover_silent()
        .on("initialize", Reply::error(-32603, "no"));
    for order in [None, Some(Order::Disable)] {
        let options = EngineOptions {
            settings: Settings {
                probe_timeout: Duration::from_millis(1_500),
                ..Settings::default()
            },
            ..rig::live()
        };
        let mut real = Real::start(options, &script, ProtocolChoice::Auto).await;
        let fake = real.arrival().await;
        fake.wait_for("initialize", 1, SOON).await;
        fake.wait_event("eof", 1, SOON).await;
        if let Some(order) = order {
            real.tell(order).await;
        }
        let resting =
            |server: &ServerSnapshot| matches!(server.status.word(), "failed" | "disabled");
        let shown = real.until("at rest", resting).await;
        if order.is_none() {
            assert!(
                shown.contains("initialize was refused: error -32603: no"),
                "{shown}"
            );
        }
        // A failure is told at once; what is left of the server is ended behind it.
        let first = real.pids[0];
        real.end().await;
        assert!(!is_alive(first), "{shown}, but its process lives");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_is_killed_by_hand_comes_back_with_its_lists() {
    let script = Script::legacy().sample();
    let mut real = Real::start(rig::live(), &script, ProtocolChoice::Auto).await;
    let fake = real.arrival().await;
    real.until("settled", ServerSnapshot::is_settled).await;
    let pid = fake.pid().await.to_string();
    let killed = Command::new("kill").args(["-9", &pid]).status().unwrap();
    assert!(killed.success());
    let lost = |server: &ServerSnapshot| {
        matches!(
            server.status,
            Status::Reconnecting {
                attempt: 1,
                limit: 5,
                due: Some(_),
                ..
            }
        )
    };
    let shown = real.until("reconnecting 1/5", lost).await;
    assert!(
        shown.contains("the connection closed, killed by signal 9"),
        "{shown}"
    );
    real.arrival().await;
    let back = |server: &ServerSnapshot| server.epoch.0 == 2 && server.is_settled();
    let shown = real.until("back", back).await;
    assert_eq!(shown, "connected 2: one | one | one | one");
    let state = real.handle.snapshot();
    let name = ServerName::new(NAME).unwrap();
    let server = state.server(&name).unwrap();
    let changes = server.catalog.tools.changes.as_ref().unwrap();
    assert!(changes.counts.is_unchanged());
    real.end().await;
}
