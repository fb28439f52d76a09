//! Block-based atomicity checking: which pairs and sets of units some interleaving makes unserialisable, and which locks
//! are taken in a circle.
//!
//! The algorithms of Wang and Stoller, *Run-Time Analysis for Atomicity* (RV 2003), section 5, one file for each step:
//! [`feasibility`] (5.1), [`one`] (5.2), [`two`] (5.3), [`general`] (5.4), and [`goodlock`] for lock-order cycles. Each
//! file's header says what it promises and costs. [`units`] and [`nesting`] apply them to a whole trace, and [`Blocks`] is the
//! analysis that runs both.

pub mod feasibility;
pub mod general;
pub mod goodlock;
pub mod nesting;
pub mod one;
pub mod two;
pub mod units;

use ravel_trace::Event;

use crate::engine::{Access, Analysis, Context, Needs};
use crate::raw::RawReport;
use crate::units::UnitId;

/// The analysis: units against each other in pairs, and lock-order cycles.
#[derive(Default)]
pub struct Blocks {
    units: units::Units,
    nestings: nesting::Nestings,
}

impl Analysis for Blocks {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn needs(&self) -> Needs {
        Needs {
            hard: true,
            history: true,
            units: true,
            transactions: true,
            ..Needs::default()
        }
    }

    fn access(&mut self, cx: &Context<'_>, access: &Access) {
        self.units.access(cx, access);
    }

    fn event(&mut self, cx: &Context<'_>, index: u64, event: &Event) {
        self.units.event(cx, event);
        self.nestings.event(cx, index, event);
    }

    fn unit_end(&mut self, cx: &Context<'_>, unit: UnitId) {
        self.units.unit_end(cx, unit);
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        let mut reports = std::mem::take(&mut self.units).finish(cx);
        reports.extend(std::mem::take(&mut self.nestings).finish());
        reports
    }
}
