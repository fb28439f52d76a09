//! Block-based atomicity checking: which pairs and sets of units some interleaving makes unserializable, and which locks
//! are taken in a circle.
//!
//! The algorithms of Wang and Stoller, *Run-Time Analysis for Atomicity* (RV 2003), section 5, one file for each step:
//! [`feasibility`] (5.1), [`one`] (5.2), [`two`] (5.3), [`general`] (5.4), and [`goodlock`] for lock-order cycles. Each
//! file's header says what it promises and costs. [`units`], [`sets`] and [`nesting`] apply them to a whole trace, and [`Blocks`] is the
//! analysis that runs both.

mod compare;
pub mod feasibility;
pub mod general;
pub mod goodlock;
pub mod nesting;
pub mod one;
pub(crate) mod sets;
pub mod two;
pub mod units;

use crate::engine::{Access, Analysis, Context, Happened, Needs, View};
use crate::raw::RawReport;
use crate::units::{UnitId, UnitSettings};

/// The analysis: units against each other in pairs, and lock-order cycles.
#[derive(Default)]
pub struct Blocks {
    units: units::Units,
    nestings: nesting::Nestings,
    bounded: bool,
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
            repeats: true,
            ..Needs::default()
        }
    }

    fn set_up(&mut self, settings: &UnitSettings) {
        self.units.shorten_by(settings.focus.shorten);
    }

    fn access(&mut self, view: &View, access: &Access) {
        self.units.access(view, access);
    }

    fn event(&mut self, _: &View, event: &Happened) {
        self.units.event(event);
        self.nestings.event(event);
    }

    fn unit_end(&mut self, view: &View, unit: UnitId, _: u64) {
        self.units.unit_end(view, unit);
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        let mut reports = self.units.finish(cx);
        let (cycles, all) = std::mem::take(&mut self.nestings).finish(cx);
        reports.extend(cycles);
        self.bounded = !all;
        reports
    }

    fn left_out(&self) -> Vec<String> {
        let mut words = self.units.left_out();
        if self.bounded {
            let steps = goodlock::STEP_BOUND;
            words.push(format!(
                "blocks left out lock-order cycles that take more than {steps} steps to find"
            ));
        }
        words
    }
}
