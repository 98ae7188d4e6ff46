//! Has the linker put the functions of a start side by side: see `linker/measure.py`.

use std::env;
use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let mut cargo = io::stdout().lock();
    writeln!(cargo, "cargo:rerun-if-changed=linker/startup.ld")?;
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    // Linkers that a person chose themselves may not read such a script.
    let is_own_linker = env::var_os("RUSTC_LINKER").is_some()
        || env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && !is_own_linker {
        let folder = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
        writeln!(
            cargo,
            "cargo:rustc-link-arg-bin=mcpdeck=-Wl,--script={folder}/linker/startup.ld"
        )?;
    }
    Ok(())
}
