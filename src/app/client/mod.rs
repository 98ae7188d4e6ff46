//! One MCP client: the actor that owns its connection, and the handle everyone else has.

mod actor;
mod connecting;
mod discovery;
mod handle;
mod live;
mod message;
mod refresh;
mod report;
mod requests;
mod show;
mod slots;
mod stage;
mod waiting;

pub use handle::{ClientHandle, Demand};
pub use refresh::{RefreshQueue, Start, Ticket};

pub(super) use actor::{ClientActor, Context};
pub(super) use report::Update;
pub(super) use slots::{ConnectSlots, Seat};
