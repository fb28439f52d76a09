//! What time it is and whether the user wants to stop, as proof sees it: tests let the time pass that they need.

use std::time::Instant;

use crate::interrupt;

/// Tells when to stop.
pub trait Clock: Sync {
    /// The time.
    fn now(&self) -> Instant;

    /// Whether the user has asked to stop.
    fn is_interrupted(&self) -> bool;
}

/// The clock on the wall, and Ctrl-C.
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn is_interrupted(&self) -> bool {
        interrupt::requested()
    }
}
