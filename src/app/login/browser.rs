//! The person's own browser, where there is one in front of them.

use std::process::Stdio;

use tokio::process::Command;

/// Opens the page; whether something was started that will. Over SSH and without a display nothing
/// is. `$BROWSER` is preferred to what the platform has.
pub fn open(url: &str) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_elsewhere = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
    let has_display = cfg!(any(windows, target_os = "macos"))
        || is_set("DISPLAY")
        || is_set("WAYLAND_DISPLAY")
        || is_set("BROWSER");
    has_display && !is_elsewhere && start(url)
}

fn start(url: &str) -> bool {
    let own = std::env::var_os("BROWSER").filter(|own| !own.is_empty());
    let mut command = match &own {
        Some(own) => Command::new(own),
        None if cfg!(target_os = "macos") => Command::new("open"),
        None if cfg!(windows) => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        None => Command::new("xdg-open"),
    };
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // It is no server of ours, should we be one's.
    command.env_remove("MCPDECK_PARENT");
    // A Ctrl-C is for us, not for the browser.
    #[cfg(unix)]
    command.process_group(0);
    // The runtime reaps it.
    command.spawn().is_ok()
}
