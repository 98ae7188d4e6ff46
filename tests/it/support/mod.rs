//! What several test modules share.

#[expect(
    dead_code,
    reason = "some of it is for the program fake-mcp-server only"
)]
pub mod fake;
pub mod handle;
pub mod launch;
pub mod rig;
