//! What takes time is done beside the screen's thread: one thing after the other, and only as long
//! as somebody waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The one place for it. All clones are the same place.
#[derive(Debug, Clone)]
pub struct Aside(Arc<Semaphore>);

impl Default for Aside {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Aside {
    /// Does it as soon as what was begun before is done or left; `None` where it panicked. When
    /// the future is dropped the work is told that it is not wanted any more.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Wanted) -> T + Send + 'static,
    ) -> Option<T> {
        let place = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let wanted = Wanted::default();
        let _waiting = Waiting(wanted.clone());
        let done = spawn_blocking(move || {
            let _place = place;
            work(&wanted)
        });
        done.await.ok()
    }
}

/// Whether somebody still waits for what is being done. Loops look at it; what they leave half
/// done is seen by nobody.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    is_left: Arc<AtomicBool>,
}

impl Wanted {
    /// Whether to go on.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.is_left.load(Ordering::Relaxed)
    }

    /// Nobody waits any more.
    pub fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }
}

/// Lives as long as somebody waits.
struct Waiting(Wanted);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tokio::sync::oneshot;

    use super::*;

    /// Goes on until it is left, and tells when it begins and when it has ended.
    fn endless(
        begun: oneshot::Sender<()>,
        ended: oneshot::Sender<()>,
    ) -> impl FnOnce(&Wanted) + Send {
        move |wanted| {
            begun.send(()).unwrap();
            while wanted.holds() {
                thread::yield_now();
            }
            ended.send(()).unwrap();
        }
    }

    #[tokio::test]
    async fn what_nobody_waits_for_ends_before_the_next_begins() {
        let aside = Aside::default();
        let (begun, has_begun) = oneshot::channel();
        let (ended, mut has_ended) = oneshot::channel();
        let of_first = aside.clone();
        let first = tokio::spawn(async move { of_first.run(endless(begun, ended)).await });
        has_begun.await.unwrap();
        let mut second = std::pin::pin!(aside.run(move |_| has_ended.try_recv().is_ok()));
        assert!(futures::poll!(second.as_mut()).is_pending());
        first.abort();
        assert_eq!(second.await, Some(true));
    }

    #[tokio::test]
    async fn what_panics_makes_room() {
        let aside = Aside::default();
        let broken: Option<()> = aside.run(|_| panic!("on purpose")).await;
        assert_eq!((broken, aside.run(|_| 7).await), (None, Some(7)));
    }
}
