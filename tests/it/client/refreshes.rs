//! Resources and templates as one transaction, in every order of events (5.10, 5.11), against a
//! simple model.

use std::fmt::Write as _;

use mcpdeck::domain::{EventKind, Group};

use super::{listings, stdio};
use crate::support::fake::{Action, Listing, Reply, Rule, Script};
use crate::support::rig::{self, NAME, Rig};

const RESOURCES: &str = "resources/list";
const TEMPLATES: &str = "resources/templates/list";

/// How a traversal of a listing ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Failed,
}

/// One refresh: how the two traversals end, and which of them last.
#[derive(Debug, Clone, Copy)]
struct Refresh {
    ends: [End; 2],
    last: usize,
    /// Whether the server asks for it, or a person.
    notified: bool,
}

/// One listing as the contract says that it stands.
#[derive(Debug, Clone, Copy, Default)]
struct Model {
    /// The refresh whose items are shown.
    shown: Option<usize>,
    /// Whether they are not the newest.
    old: bool,
    /// The refresh whose failure is shown.
    error: Option<usize>,
}

impl Model {
    fn draw(self) -> String {
        let mut drawn = match (self.shown, self.old) {
            (None, _) => "failed".to_owned(),
            (Some(version), false) => format!("v{version}"),
            (Some(version), true) => format!("old: v{version}"),
        };
        if let Some(version) = self.error {
            let _ = write!(drawn, " !rpc -32603: no v{version}");
        }
        drawn
    }
}

/// What both listings show after these refreshes.
fn expected(refreshes: &[Refresh]) -> [String; 2] {
    let mut listings = [Model::default(); 2];
    let mut together = false;
    for (number, refresh) in refreshes.iter().enumerate() {
        let whole = refresh.ends == [End::Complete; 2];
        let each_for_itself = !together;
        together |= whole;
        for (listing, end) in listings.iter_mut().zip(refresh.ends) {
            match end {
                End::Complete if whole || each_for_itself => {
                    *listing = Model {
                        shown: Some(number),
                        ..Model::default()
                    };
                }
                End::Complete => {
                    listing.old = true;
                    listing.error = None;
                }
                End::Failed => {
                    listing.old = listing.shown.is_some();
                    listing.error = Some(number);
                }
            }
        }
    }
    listings.map(Model::draw)
}

/// How the listings answer in a refresh.
fn answers(number: usize, refresh: Refresh) -> Vec<Action> {
    let name = format!("v{number}");
    let mut actions = Vec::new();
    for (index, method) in [RESOURCES, TEMPLATES].into_iter().enumerate() {
        let reply = match refresh.ends[index] {
            End::Complete => Reply::default(),
            End::Failed => Reply::error(-32603, &format!("no {name}")),
        };
        let delay = if refresh.last == index { 20 } else { 10 };
        actions.push(Action::set_pages(method, Listing::named(method, &[&name])));
        actions.push(Action::ClearRules(method.to_owned()));
        actions.push(Action::rule(Rule::on(method, reply.delayed(delay))));
    }
    actions
}

/// Plays the refreshes; the first is the first discovery.
async fn check(refreshes: &[Refresh]) {
    let mut script = Script::legacy().named(RESOURCES, &[]).named(TEMPLATES, &[]);
    for action in answers(0, refreshes[0]) {
        script = script.at_start(action);
    }
    let mut rig = Rig::start(rig::live());
    rig.script(NAME, vec![script]);
    let definition = stdio(NAME, mcpdeck::domain::ProtocolChoice::Legacy);
    rig.handle.put(vec![definition.clone()]).await;
    let fake = rig.arrival().await;
    for number in 0..refreshes.len() {
        if number > 0 {
            for action in answers(number, refreshes[number]) {
                fake.send(action).await;
            }
            if refreshes[number].notified {
                fake.send(Action::list_changed("resources", 1)).await;
            } else {
                rig.handle.refresh(&definition.name).await;
            }
        }
        let ended = |group: Group| move |event: &EventKind| matches!(event, EventKind::Refresh(it) if it.group == group);
        let state = rig
            .state("refreshed", |state| {
                let kinds = state.events.iter().map(|event| &event.kind);
                kinds.filter(|kind| ended(Group::Resources)(kind)).count() == number + 1
            })
            .await;
        let server = &state.servers[0];
        let [resources, templates, ..] = listings(server);
        let done = &refreshes[..=number];
        assert_eq!([resources, templates], expected(done), "{done:?}");
        // An error never stands beside a fresh listing.
        assert_eq!(server.status.word(), "connected");
    }
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn every_sequence_of_four_refreshes_shows_what_the_contract_says() {
    use End::{Complete, Failed};
    let pairs = [
        [Complete, Complete],
        [Complete, Failed],
        [Failed, Complete],
        [Failed, Failed],
    ];
    for sequence in 0..4_usize.pow(4) {
        for last in [0, 1] {
            let refreshes: Vec<Refresh> = (0..4_u32)
                .map(|place| Refresh {
                    ends: pairs[sequence / 4_usize.pow(place) % 4],
                    last,
                    notified: (sequence + place as usize).is_multiple_of(2),
                })
                .collect();
            check(&refreshes).await;
        }
    }
}
