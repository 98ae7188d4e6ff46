//! What several test modules share.

pub mod authorization;
#[expect(
    dead_code,
    reason = "some of it is for the program fake-mcp-server only"
)]
pub mod fake;
pub mod fleet;
pub mod handle;
pub mod launch;
pub mod program;
pub mod random;
pub mod rig;
pub mod site;
