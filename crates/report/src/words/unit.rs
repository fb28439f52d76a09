//! The call inside a unit that leads to a step, and the place where a reader should look first.

use std::ops::Range;

use ravel_analysis::finding::{Finding, FindingStep};
use ravel_trace::naming::{self, Frame};

use crate::mark;

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

/// The place of a finding: in the method to fix, for every format the same.
#[derive(Clone, Copy, Debug)]
pub struct MainPlace<'f> {
    /// Where it is.
    pub frame: Frame<'f>,
    /// The step that happens there, or to which the call there leads.
    pub step: &'f FindingStep,
    /// Whether the place is a call that leads to the step.
    pub is_call: bool,
}

impl MainPlace<'_> {
    /// `Stock.java:14`, `Stock.java`, or the class if the file is not known; empty if nothing is.
    pub fn place(&self) -> String {
        self.frame.place_or_class()
    }

    /// The bytes of the source line to look at: the name of the method called, or what the step touches.
    pub fn touched(&self, line: &str) -> Range<usize> {
        let called = naming::without_descriptor(&self.step.method);
        match line.find(called).filter(|_| self.is_call && !called.is_empty()) {
            Some(at) => at..at + called.len(),
            None => mark::touched(line, self.step),
        }
    }
}

/// The place where a reader should look first: that of the first step that has a line. It begins the unit that is not atomic, so the place is
/// in the method to fix.
pub fn main_place(finding: &Finding) -> Option<MainPlace<'_>> {
    let with_line = finding.steps.iter().find(|step| step.line > 0);
    let step = with_line.or(finding.steps.first())?;
    let call = call_in_unit(finding, step);
    Some(MainPlace {
        frame: call.unwrap_or_else(|| step.frame()),
        step,
        is_call: call.is_some(),
    })
}
