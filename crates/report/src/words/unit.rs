//! The call inside a unit that leads to a step.

use ravel_analysis::finding::{Finding, FindingStep};
use ravel_trace::naming::{self, Frame};

/// Where the unit of a step calls the code that leads to it: the method to fix is the unit's, not the one that accesses the field.
pub fn call_in_unit<'f>(finding: &'f Finding, step: &'f FindingStep) -> Option<Frame<'f>> {
    let is_unit = |frame: &Frame<'_>| {
        let mut units = finding.units.iter().filter(|unit| unit.thread == step.thread);
        units.any(|unit| naming::without_descriptor(&unit.method) == frame.name())
    };
    if is_unit(&step.frame()) {
        return None;
    }
    step.callers().iter().map(|f| Frame::parse(f)).find(is_unit)
}
