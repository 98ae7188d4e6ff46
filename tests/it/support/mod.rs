//! What several test modules share.

#[expect(
    dead_code,
    unused_imports,
    reason = "a server for every test uses no more than each test asks of it"
)]
pub mod fake;
pub mod handle;
pub mod launch;
