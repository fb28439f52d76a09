//! The request to stop, which the analyses poll while they search the events that were read.
//!
//! A user who interrupts a run wants the known results at once. So a search that starts after the request has some time left, and
//! one that is running when it comes ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the searches of a trace that was interrupted may take.
const GRACE: Duration = Duration::from_millis(800);

/// Whether to stop.
pub struct Stop<'a> {
    asked: &'a (dyn Fn() -> bool + Sync),
    began: Instant,
    heeded: AtomicBool,
}

impl<'a> Stop<'a> {
    /// From now on; `asked` says whether the user has asked to stop.
    pub fn new(asked: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Stop {
            asked,
            began: Instant::now(),
            heeded: AtomicBool::new(false),
        }
    }

    /// Never.
    pub fn never() -> Stop<'static> {
        Stop::new(&|| false)
    }

    /// Whether to end the search in hand. Not for the innermost loop: it looks at the clock.
    pub fn now(&self) -> bool {
        let stop = (self.asked)() && self.began.elapsed() > GRACE;
        if stop {
            self.heeded.store(true, Ordering::Relaxed);
        }
        stop
    }

    /// The same, asked once in a thousand times.
    #[inline]
    pub fn now_and_then(&self, count: &mut u32) -> bool {
        *count = count.wrapping_add(1);
        count.is_multiple_of(1024) && self.now()
    }

    /// Whether anything was ended.
    pub fn was_heeded(&self) -> bool {
        self.heeded.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop")
            .field("heeded", &self.heeded)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that was asked, and began so long ago or will begin so much later.
    fn asked(began: Instant) -> Stop<'static> {
        Stop {
            began,
            ..Stop::new(&|| true)
        }
    }

    #[test]
    fn a_search_ends_only_if_asked_and_after_its_grace() {
        let never = Stop::never();
        assert!(!never.now() && !never.was_heeded());
        let young = asked(Instant::now() + GRACE);
        assert!(!young.now(), "some time is left");
        assert!(!young.was_heeded());
        let old = asked(Instant::now() - 2 * GRACE);
        let mut count = 0;
        assert!((0..1024).any(|_| old.now_and_then(&mut count)));
        assert!(old.was_heeded());
    }
}
