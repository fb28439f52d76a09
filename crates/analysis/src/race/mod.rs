//! Data races: conflicting accesses of one location that nothing orders.
//!
//! Two questions, two modules. [`observed`]: did the recorded run have two accesses unordered by locks and hard order
//! (FastTrack)? [`predicted`]: could another run have (Pecan's hybrid model: no common lock and no hard order)? The first
//! is the stronger evidence, the second finds more; every observed race is also predicted.

pub mod observed;
pub mod predicted;

pub use observed::Observed;
pub use predicted::Predicted;

use ravel_trace::{LocationId, SiteId};
use rustc_hash::FxHashSet;

use crate::engine::{Access, Analysis, Context, Happened, Needs, View};
use crate::raw::{Point, RawReport, RawStep};

/// The pairs of sites that were reported. Where a site is not known, the location tells pairs apart.
#[derive(Debug, Default)]
struct ReportedPairs(FxHashSet<(SiteId, SiteId, LocationId)>);

impl ReportedPairs {
    /// Whether this is the first race of two sites.
    fn is_new(&mut self, one: SiteId, other: SiteId, location: LocationId) -> bool {
        let (a, b) = (one.min(other), one.max(other));
        let unknown = a == SiteId(0) || b == SiteId(0);
        self.0
            .insert((a, b, if unknown { location } else { LocationId(u32::MAX) }))
    }
}

/// The step of a race at a point.
fn race_step(point: Point, location: LocationId) -> RawStep {
    RawStep {
        point,
        location: Some(location),
        lock: None,
        owner: None,
    }
}

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
