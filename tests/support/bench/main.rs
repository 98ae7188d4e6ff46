//! Measures the program as a whole, as a user meets it, beside a floor: a client that sends the
//! same requests and does nothing else.
//!
//! ```text
//! cargo run --release --example bench -- [SCENARIO...]
//! ```
//!
//! Builds the program as it ships, runs both in turn against the same server, and prints medians,
//! ratios and what was promised. Servers and floor are this program too, so nothing else is needed.
//! `growth` draws its plots into `assets/`; a run of everything writes its table into the README.

#[cfg(target_os = "linux")]
mod deck;
#[cfg(target_os = "linux")]
mod floor;
#[cfg(target_os = "linux")]
mod frame;
#[cfg(target_os = "linux")]
mod growth;
#[cfg(target_os = "linux")]
mod lists;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod plot;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod screens;
#[cfg(target_os = "linux")]
mod server;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["server", options @ ..] => server::serve(&server::Options::read(options)?),
        ["floor", rest @ ..] => floor::run(rest),
        ["measure", needle, command @ ..] => measure::child(needle, command),
        scenarios => report::run(scenarios),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("this program reads /proc, which only Linux has")
}
