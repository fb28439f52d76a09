//! The atomics that [`crate::handover`] is written against. A name of its own, so that the test of the protocol can compile the
//! same file with loom's.

pub use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
pub use std::thread::yield_now;
