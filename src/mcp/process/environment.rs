//! Which of our variables a child gets: enough to run, and nothing that it was not given.

use std::ffi::OsString;

use crate::domain::StdioConfig;

/// Variables every child gets: who and where it is, proxies, certificates.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "TMPDIR",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// Variables without which programs do not start on Windows.
#[cfg(windows)]
const PASSED_ON_PLATFORM: &[&str] = &[
    "SYSTEMROOT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "PATHEXT",
    "TEMP",
    "TMP",
    "COMSPEC",
];
#[cfg(not(windows))]
const PASSED_ON_PLATFORM: &[&str] = &[];

/// Tells a server that it runs under mcpdeck, and under which face.
pub const PARENT: &str = "MCPDECK_PARENT";

/// Our own environment and face, read once.
#[derive(Debug, Clone)]
pub struct ParentVariables {
    variables: Vec<(OsString, OsString)>,
    face: &'static str,
}

impl ParentVariables {
    /// Our environment as it is now; `face` is `deck`, `cli` or `serve`.
    #[must_use]
    pub fn read(face: &'static str) -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            face,
        }
    }
}

/// The child's whole environment: of ours what it may have, then its own, then who its parent is.
pub fn of_child(config: &StdioConfig, parent: &ParentVariables) -> Vec<(OsString, OsString)> {
    let passed = |name: &OsString| {
        config.inherit_env
            || name.to_str().is_some_and(|name| {
                PASSED.contains(&name)
                    || PASSED_ON_PLATFORM
                        .iter()
                        .any(|known| known.eq_ignore_ascii_case(name))
                    || name.starts_with("LC_")
                    || config.pass_env.iter().any(|wanted| wanted == name)
            })
    };
    parent
        .variables
        .iter()
        .filter(|(name, _)| passed(name))
        .cloned()
        .chain(
            config
                .env
                .iter()
                .map(|(name, value)| (name.into(), value.expose().into())),
        )
        .chain([(PARENT.into(), parent.face.into())])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    fn names(config: &StdioConfig) -> Vec<String> {
        let parent = ParentVariables {
            variables: ["PATH", "LC_ALL", "AWS_SECRET", "EXTRA", "https_proxy"]
                .map(|name| (name.into(), "1".into()))
                .to_vec(),
            face: "cli",
        };
        of_child(config, &parent)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn a_child_gets_what_it_needs_and_what_it_was_given() {
        let mut config = StdioConfig {
            env: vec![("TOKEN".into(), Secret::new("t"))],
            ..StdioConfig::default()
        };
        let check = |config: &StdioConfig, expected: &str| {
            assert_eq!(names(config).join(" "), expected);
        };
        check(
            &config,
            "PATH=1 LC_ALL=1 https_proxy=1 TOKEN=t MCPDECK_PARENT=cli",
        );
        config.pass_env = vec!["EXTRA".into()];
        check(
            &config,
            "PATH=1 LC_ALL=1 EXTRA=1 https_proxy=1 TOKEN=t MCPDECK_PARENT=cli",
        );
        config.inherit_env = true;
        check(
            &config,
            "PATH=1 LC_ALL=1 AWS_SECRET=1 EXTRA=1 https_proxy=1 TOKEN=t MCPDECK_PARENT=cli",
        );
    }
}
