//! Data races: conflicting accesses of one location that nothing orders.
//!
//! Two questions, two modules. [`observed`]: did the recorded run have two accesses unordered by locks and hard order
//! (FastTrack)? [`predicted`]: could another run have (Pecan's hybrid model: no common lock and no hard order)? The first
//! is the stronger evidence, the second finds more; every observed race is also predicted.

pub mod observed;
pub mod predicted;

pub use observed::Observed;
pub use predicted::Predicted;

use crate::engine::{Access, Analysis, Context, Needs};
use crate::raw::RawReport;
use ravel_trace::Event;

/// Both questions as one analysis.
#[derive(Debug, Default)]
pub struct Race {
    observed: Observed,
    predicted: Predicted,
}

impl Analysis for Race {
    fn name(&self) -> &'static str {
        "race"
    }

    fn needs(&self) -> Needs {
        self.observed.needs().and(self.predicted.needs())
    }

    fn access(&mut self, cx: &Context<'_>, access: &Access) {
        self.observed.access(cx, access);
        self.predicted.access(cx, access);
    }

    fn event(&mut self, cx: &Context<'_>, index: u64, event: &Event) {
        self.observed.event(cx, index, event);
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        let mut reports = self.observed.finish(cx);
        reports.append(&mut self.predicted.finish(cx));
        let idempotent = self.predicted.idempotent();
        reports.retain(|r| {
            !r.steps
                .iter()
                .filter_map(|s| s.location)
                .any(|l| idempotent.contains(&l))
        });
        reports
    }
}
