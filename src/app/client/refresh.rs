//! Decides when a group of listings is asked for again: one refresh running, at most one pending.
//!
//! Pure: time comes in as values, and nothing is started here. Notifications only raise a count,
//! so their order and number do not matter, and the last one is never lost: a notification that
//! arrives while a refresh runs leads to one more.

use std::time::{Duration, Instant};

/// The first refreshes after a quiet time wait for nothing but the debounce.
const FREE_REFRESHES: u32 = 2;

/// The spacing between refreshes under sustained notification, at first and at most.
const MIN_SPACING: Duration = Duration::from_millis(100);
const MAX_SPACING: Duration = Duration::from_secs(5);

/// A notification this soon after a refresh means that they keep arriving.
const SUSTAINED_WITHIN: Duration = Duration::from_secs(1);

/// After this long without a notification the spacing starts anew.
const QUIET: Duration = Duration::from_secs(10);

/// The number of a refresh of one group on one connection, from 1.
pub type Ticket = u64;

/// The refreshes of one group.
#[derive(Debug, Clone)]
pub struct RefreshQueue {
    debounce: Duration,
    last_ticket: Ticket,
    running: bool,
    pending: Option<Pending>,
    pace: Pace,
}

/// A refresh that was asked for and has not started.
#[derive(Debug, Clone, Copy)]
struct Pending {
    /// The notifications that led to it.
    notifications: u64,
    /// The earliest start; it is not renewed by later notifications.
    due: Instant,
    /// Whether the first of the notifications came during or soon after a refresh.
    sustained: bool,
    /// Whether a person or a demand wants it: then it waits for nothing.
    by_hand: bool,
}

/// How fast refreshes may follow each other.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// Refreshes that notifications led to since the last quiet time.
    led: u32,
    /// The spacing that the last of them kept.
    spacing: Duration,
    last_notified: Option<Instant>,
    /// When the last refresh ended.
    last_ended: Option<Instant>,
}

/// A refresh that is to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Its number.
    pub ticket: Ticket,
    /// The notifications that led to it; 0 if there were none.
    pub notifications: u64,
}

impl RefreshQueue {
    /// Nothing running, nothing pending.
    #[must_use]
    pub fn new(debounce: Duration) -> Self {
        Self {
            debounce,
            last_ticket: 0,
            running: false,
            pending: None,
            pace: Pace::default(),
        }
    }

    /// The server said `count` times that the lists changed.
    pub fn notify(&mut self, count: u64, now: Instant) {
        if self
            .pace
            .last_notified
            .is_some_and(|last| now.duration_since(last) >= QUIET)
        {
            self.pace.led = 0;
        }
        self.pace.last_notified = Some(now);
        let soon = |ended: Instant| now < ended + SUSTAINED_WITHIN;
        let sustained = self.running || self.pace.last_ended.is_some_and(soon);
        let pending = self.pending.get_or_insert(Pending {
            notifications: 0,
            due: now + self.debounce,
            sustained,
            by_hand: false,
        });
        pending.notifications += count;
    }

    /// The lists may have changed without a word.
    pub fn suspect(&mut self, now: Instant) {
        self.pending.get_or_insert(Pending {
            notifications: 0,
            due: now + self.debounce,
            sustained: false,
            by_hand: false,
        });
    }

    /// A person or a demand wants the lists now.
    pub fn request(&mut self, now: Instant) {
        let pending = self.pending.get_or_insert(Pending {
            notifications: 0,
            due: now,
            sustained: false,
            by_hand: true,
        });
        pending.due = pending.due.min(now);
        pending.by_hand = true;
    }

    /// When the pending refresh may start; `None` while one runs or none is pending.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        let pending = self.pending.filter(|_| !self.running)?;
        if pending.by_hand {
            return Some(pending.due);
        }
        Some(match self.pace.last_ended {
            Some(ended) => pending.due.max(ended + self.pace.spacing_for(pending)),
            None => pending.due,
        })
    }

    /// Starts the pending refresh if it is due.
    pub fn start(&mut self, now: Instant) -> Option<Start> {
        if self.due()? > now {
            return None;
        }
        let pending = self.pending.take()?;
        if pending.notifications > 0 {
            self.pace.spacing = self.pace.spacing_for(pending);
            self.pace.led += 1;
        }
        self.running = true;
        self.last_ticket += 1;
        Some(Start {
            ticket: self.last_ticket,
            notifications: pending.notifications,
        })
    }

    /// The running refresh ended, well or not.
    pub fn finished(&mut self, now: Instant) {
        self.running = false;
        self.pace.last_ended = Some(now);
    }

    /// Whether a refresh runs.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// Whether the lists may be out of date: something was asked for and has not ended.
    #[must_use]
    pub const fn is_dirty(&self) -> bool {
        self.running || self.pending.is_some()
    }

    /// The refresh whose end tells everything the server had announced by now: the pending one,
    /// else the running one. `None` if neither exists.
    #[must_use]
    pub const fn awaited(&self) -> Option<Ticket> {
        match (&self.pending, self.running) {
            (Some(_), _) => Some(self.last_ticket + 1),
            (None, true) => Some(self.last_ticket),
            (None, false) => None,
        }
    }
}

impl Pace {
    /// The wait after the last refresh that the pending one keeps.
    fn spacing_for(&self, pending: Pending) -> Duration {
        if self.led < FREE_REFRESHES {
            Duration::ZERO
        } else if self.spacing < MIN_SPACING {
            MIN_SPACING
        } else if pending.sustained {
            (self.spacing * 2).min(MAX_SPACING)
        } else {
            self.spacing
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DEBOUNCE: Duration = Duration::from_millis(100);

    fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// Lets the next refresh start when it is due and take `took`; returns when it started, in ms.
    fn run(queue: &mut RefreshQueue, zero: Instant, took: Duration) -> (u128, Start) {
        let due = queue.due().unwrap();
        assert_eq!(queue.start(due.checked_sub(millis(1)).unwrap()), None);
        let start = queue.start(due).unwrap();
        queue.finished(due + took);
        (due.duration_since(zero).as_millis(), start)
    }

    #[test]
    fn a_burst_is_one_refresh_after_the_debounce_of_its_first() {
        let zero = Instant::now();
        let mut queue = RefreshQueue::new(DEBOUNCE);
        for step in 0..1000 {
            queue.notify(1, zero + millis(step / 20));
        }
        let (at, start) = run(&mut queue, zero, millis(5));
        assert_eq!((at, start.notifications, start.ticket), (100, 1000, 1));
        assert!(!queue.is_dirty());
    }

    #[test]
    fn what_arrives_during_a_refresh_leads_to_one_more() {
        let zero = Instant::now();
        let mut queue = RefreshQueue::new(DEBOUNCE);
        queue.request(zero);
        let first = queue.start(zero).unwrap();
        queue.notify(3, zero + millis(10));
        queue.notify(4, zero + millis(20));
        assert_eq!((queue.due(), queue.start(zero + millis(500))), (None, None));
        assert_eq!(queue.awaited(), Some(first.ticket + 1));
        queue.finished(zero + millis(500));
        let second = queue.start(zero + millis(500)).unwrap();
        assert_eq!((second.ticket, second.notifications), (2, 7));
        queue.finished(zero + millis(600));
        assert_eq!(queue.awaited(), None);
    }

    #[test]
    fn a_server_that_notifies_after_every_list_is_slowed_down_and_forgiven_after_quiet() {
        let zero = Instant::now();
        let mut queue = RefreshQueue::new(DEBOUNCE);
        let mut gaps = Vec::new();
        let mut ended = zero;
        for _ in 0..10 {
            queue.notify(1, ended + millis(1));
            let (at, _) = run(&mut queue, zero, millis(0));
            let due = zero + Duration::from_millis(u64::try_from(at).unwrap());
            gaps.push(due.duration_since(ended).as_millis());
            ended = due;
        }
        assert_eq!(gaps, [101, 101, 101, 200, 400, 800, 1600, 3200, 5000, 5000]);
        ended += Duration::from_secs(10);
        queue.notify(1, ended);
        assert_eq!(queue.due(), Some(ended + DEBOUNCE));
    }

    #[test]
    fn lists_that_are_suspect_are_asked_for_without_a_notification() {
        let zero = Instant::now();
        let mut queue = RefreshQueue::new(DEBOUNCE);
        queue.suspect(zero);
        queue.suspect(zero + millis(50));
        let (at, start) = run(&mut queue, zero, millis(5));
        assert_eq!((at, start.notifications), (100, 0));
        assert!(!queue.is_dirty());
    }

    #[test]
    fn a_person_does_not_wait_for_the_spacing_of_a_storm() {
        let zero = Instant::now();
        let mut queue = RefreshQueue::new(DEBOUNCE);
        queue.request(zero);
        assert_eq!(queue.due(), Some(zero));
    }

    /// What may happen to a queue.
    #[derive(Debug, Clone)]
    enum Event {
        Notify(u64),
        Suspect,
        Request,
        Start,
        Finish,
        Wait(u64),
        /// The connection is another one.
        Reset,
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![
            4 => (1..20_u64).prop_map(Event::Notify),
            1 => Just(Event::Suspect),
            1 => Just(Event::Request),
            4 => Just(Event::Start),
            4 => Just(Event::Finish),
            5 => (0..300_u64).prop_map(Event::Wait),
            1 => (300..12_000_u64).prop_map(Event::Wait),
            1 => Just(Event::Reset),
        ];
        prop::collection::vec(event, 0..200)
    }

    /// What a queue must know at least: what was said, and what the refreshes have heard of it.
    #[derive(Debug, Default)]
    struct Model {
        /// How often somebody said that the lists changed, or wanted them.
        said: u64,
        /// How much of it was said when the last refresh started.
        heard: u64,
        running: bool,
        tickets: Ticket,
        /// Since the last start: the first word, the notifications, and whether it was a person's.
        first: Option<Instant>,
        notifications: u64,
        by_hand: bool,
        last_notified: Option<Instant>,
        last_end: Option<Instant>,
        /// Refreshes that notifications led to since it was last quiet.
        led: u32,
    }

    impl Model {
        fn hear(&mut self, now: Instant) {
            self.said += 1;
            self.first.get_or_insert(now);
        }

        fn take(&mut self, event: &Event, queue: &mut RefreshQueue, now: Instant) {
            match event {
                Event::Notify(count) => {
                    let quiet = |last: Instant| now.duration_since(last) >= QUIET;
                    if self.last_notified.is_some_and(quiet) {
                        self.led = 0;
                    }
                    self.last_notified = Some(now);
                    self.notifications += count;
                    self.hear(now);
                    queue.notify(*count, now);
                }
                Event::Suspect => {
                    self.hear(now);
                    queue.suspect(now);
                }
                Event::Request => {
                    self.by_hand = true;
                    self.hear(now);
                    queue.request(now);
                }
                Event::Start => self.start(queue, now),
                Event::Finish if self.running => {
                    self.running = false;
                    self.last_end = Some(now);
                    queue.finished(now);
                }
                Event::Reset => {
                    *self = Self::default();
                    *queue = RefreshQueue::new(DEBOUNCE);
                }
                Event::Finish | Event::Wait(_) => {}
            }
        }

        fn start(&mut self, queue: &mut RefreshQueue, now: Instant) {
            let due = queue.due();
            let start = queue.start(now);
            assert_eq!(start.is_some(), due.is_some_and(|due| due <= now));
            let Some(start) = start else { return };
            assert!(!self.running && self.said > self.heard);
            assert_eq!(start.ticket, self.tickets + 1);
            assert_eq!(start.notifications, self.notifications);
            if let (false, true, Some(end)) = (self.by_hand, self.led >= 2, self.last_end) {
                assert!(now >= end + MIN_SPACING, "the third follows too fast");
            }
            self.led += u32::from(self.notifications > 0);
            self.heard = self.said;
            self.tickets = start.ticket;
            self.running = true;
            (self.first, self.notifications, self.by_hand) = (None, 0, false);
        }

        fn check(&self, queue: &RefreshQueue, now: Instant) {
            let pending = self.said > self.heard;
            assert_eq!(queue.is_running(), self.running);
            assert_eq!(queue.is_dirty(), self.running || pending);
            let awaited = self.tickets + u64::from(pending);
            let awaits = self.running || pending;
            assert_eq!(queue.awaited(), awaits.then_some(awaited));
            let Some(first) = self.first.filter(|_| pending && !self.running) else {
                assert_eq!(queue.due(), None);
                return;
            };
            let due = queue.due().unwrap();
            if self.by_hand {
                assert!(due <= now);
            } else {
                let latest = self.last_end.map_or(first, |end| end + MAX_SPACING);
                assert!(due >= first + DEBOUNCE);
                assert!(due <= latest.max(first + DEBOUNCE));
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_that_was_said_is_lost_in_any_order_of_events(events in events()) {
            let mut now = Instant::now();
            let mut queue = RefreshQueue::new(DEBOUNCE);
            let mut model = Model::default();
            for event in &events {
                if let Event::Wait(ms) = event {
                    now += millis(*ms);
                }
                model.take(event, &mut queue, now);
                model.check(&queue, now);
            }
            // Left alone it comes to rest after the running refresh and one more, which has heard
            // everything.
            let awaited = queue.awaited();
            for _ in 0..2 {
                model.take(&Event::Finish, &mut queue, now);
                now = queue.due().map_or(now, |due| due.max(now));
                model.take(&Event::Start, &mut queue, now);
            }
            model.take(&Event::Finish, &mut queue, now);
            model.check(&queue, now);
            prop_assert!(!queue.is_dirty());
            prop_assert!(awaited.is_none_or(|ticket| ticket == model.tickets));
        }
    }
}
