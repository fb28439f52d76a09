//! Goals that do not come from a finding of an analysis: the trace has the code of the pattern, but not the two threads or not the accesses
//! that an analysis needs. `signals.rs`, `tested.rs` and `published.rs` make them while the trace is read.

use ravel_analysis::finding::Finding;
use ravel_protocol::goal::{CodeMethod, GoalShape};
use ravel_trace::naming;

use super::derive::{CodeGoal, CodePause, CodeRole, CodeStep, SerialOrder};

/// What is tried although nothing but code supports it.
#[derive(Clone, Debug)]
pub struct Ready {
    /// What is reported if it does harm; its only occurrence stands for the goals.
    pub finding: Finding,
    /// The pattern.
    pub pattern: CodeGoal,
    /// The units in serial orders; empty if these cannot be made.
    pub serial: Vec<SerialOrder>,
    /// The methods that exclude each other in an exclusive run.
    pub units: Vec<CodeMethod>,
}

impl Ready {
    /// The serial orders, with a wait of so many milliseconds where the pattern held a thread.
    pub fn serial_orders(&self, millis: u64) -> Vec<SerialOrder> {
        let mut orders = self.serial.clone();
        for order in &mut orders {
            order.goal.pause = order.goal.pause.take().map(|pause| CodePause { millis, ..pause });
        }
        orders
    }
}

/// A goal without a wait.
pub fn goal(shape: GoalShape, roles: Vec<CodeRole>, steps: Vec<CodeStep>) -> CodeGoal {
    CodeGoal {
        shape,
        roles,
        steps,
        pause: None,
        whole: shape == GoalShape::Serial,
    }
}

/// `Stock.take`, `the lambda in Stock.take`: for people.
pub fn short_name(method: &CodeMethod) -> String {
    naming::method_in_sentence(&format!("{}.{}", method.class.replace('/', "."), method.name))
}
