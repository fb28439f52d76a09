//! Data races: conflicting accesses of one location that nothing orders.
//!
//! Two questions, two modules. [`observed`]: did the recorded run have two accesses unordered by locks and hard order
//! (FastTrack)? [`predicted`]: could another run have (Pecan's hybrid model: no common lock and no hard order)? The first
//! is the stronger evidence, the second finds more; every observed race is also predicted.

pub mod observed;
pub mod predicted;

pub use observed::Observed;
pub use predicted::Predicted;

use crate::engine::{Access, Analysis, Context, Happened, Needs, View};
use crate::raw::{RawReport, RawStep};

/// Both questions as one analysis.
#[derive(Debug, Default)]
pub struct Race {
    observed: Observed,
    predicted: Predicted,
}

/// Whether two accesses that nothing orders are no race all the same: both are atomic by their modes.
fn is_synchronized(cx: &Context<'_>, steps: &[RawStep]) -> bool {
    steps.iter().all(|step| cx.names.access_mode(step.point.site).is_some())
}

impl Analysis for Race {
    fn name(&self) -> &'static str {
        "race"
    }

    fn needs(&self) -> Needs {
        self.observed.needs().and(self.predicted.needs())
    }

    fn access(&mut self, view: &View, access: &Access) {
        self.observed.access(view, access);
        self.predicted.access(view, access);
    }

    fn event(&mut self, view: &View, event: &Happened) {
        self.observed.event(view, event);
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
        reports.retain(|report| !is_synchronized(cx, &report.steps));
        reports
    }

    fn left_out(&self) -> Vec<String> {
        self.predicted.left_out()
    }
}
