//! Counts the events of a trace while it is written, as a reader will deliver them, so that its figures are in the footer and
//! the trace need not be read for them.

use rustc_hash::FxHashMap;

use crate::held::{Outcome, Reentrancy};
use crate::ids::ThreadId;
use crate::raw::{RawKind, RawRecord};
use crate::reader::OBJECT_MASK;
use crate::run_info::{Counted, ThreadCount};

/// One thread so far.
#[derive(Default)]
struct Thread {
    held: Reentrancy<u64>,
    count: ThreadCount,
}

/// A trace so far.
#[derive(Default)]
pub(crate) struct Counter {
    threads: FxHashMap<ThreadId, Thread>,
    unmatched_releases: u64,
    unmatched_waits: u64,
}

impl Counter {
    /// Counts records of one thread, after those it gave before.
    pub fn count(&mut self, thread: ThreadId, records: &[RawRecord]) {
        let Thread { held, count } = self.threads.entry(thread).or_default();
        for record in records {
            let Some(kind) = record.kind() else { continue };
            match kind {
                RawKind::Mark | RawKind::Stamp | RawKind::Share => {}
                RawKind::Begin => count.begins += 1,
                RawKind::End => count.ends += 1,
                _ if kind.is_locking() => match held.apply(kind, record.a & OBJECT_MASK) {
                    Outcome::Inner => {}
                    Outcome::One(_) => count.events += 1,
                    Outcome::Two(..) => count.events += 2,
                    Outcome::Unmatched(change) => {
                        count.events += u64::from(change.is_some());
                        match kind {
                            RawKind::Release | RawKind::ReleaseShared => self.unmatched_releases += 1,
                            _ => self.unmatched_waits += 1,
                        }
                    }
                },
                _ => count.events += 1,
            }
        }
    }

    /// What was counted.
    pub fn finish(&self) -> Counted {
        let mut threads: Vec<(ThreadId, ThreadCount)> =
            self.threads.iter().map(|(id, thread)| (*id, thread.count)).collect();
        threads.sort_unstable_by_key(|(id, _)| *id);
        Counted {
            threads,
            unmatched_releases: self.unmatched_releases,
            unmatched_waits: self.unmatched_waits,
        }
    }
}
