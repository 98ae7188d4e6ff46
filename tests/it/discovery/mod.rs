//! How resources, templates, tools and prompts are listed: a case for each sentence of section 5
//! of the contract, and for those of 4.7 to 4.9 and 6 that discovery depends on.
//!
//! Most cases drive the whole engine against a fake in the same process, in paused time; `binary`
//! and `hostile` run the real program. Requests are counted where they arrive.

mod bounds;
mod codes;
mod demand;
mod malformed;
mod pages;
mod refresh;
mod transaction;

use mcpdeck::domain::ListMethod;

use crate::support::fake::Script;
use crate::support::rig::{discovered, listing};

/// Checks what is shown of one listing after the first discovery, and how many requests it took.
async fn check(method: ListMethod, script: Script, shown: &str, requests: usize) {
    let (server, fake) = discovered(script).await;
    let listed = listing(&server, method);
    let asked = fake.count(method.name()).await;
    assert_eq!((listed.as_str(), asked), (shown, requests));
}

/// As [`check`], for resource templates.
async fn check_templates(script: Script, shown: &str, requests: usize) {
    check(ListMethod::ResourceTemplates, script, shown, requests).await;
}
