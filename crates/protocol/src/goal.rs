//! The goals of a directed run, as the prover writes them and the agent reads them.
//!
//! A goal is the rest of a witness schedule when everything before the pattern is dropped: roles (threads), the steps of the
//! pattern in the wanted order, and a hold point wherever the schedule switches threads. The program runs free; a thread that
//! comes too early is held, and the thread whose step is next passes.

use serde::{Deserialize, Serialize};

use crate::line::Message;

/// The goals of a directed run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Goals {
    /// The places in code that goals name by their index here.
    pub sites: Vec<CodeSite>,
    /// The methods that units are made of, by index.
    pub methods: Vec<CodeMethod>,
    /// What should happen.
    pub goals: Vec<Goal>,
    /// Decides which activations are chosen once the first ones failed.
    pub seed: u64,
    /// How often each goal should happen; then its hooks do nothing more.
    pub facts: u64,
    /// Methods, by index, whose activations exclude each other during the whole run: a control in which the pattern cannot happen.
    pub exclusive: Vec<usize>,
}

impl Message for Goals {
    const KIND: &'static str = "goals";
}

/// A method of a class file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct CodeMethod {
    /// Internal name of the class, `shop/Stock`.
    pub class: String,
    /// Name of the method.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}

/// An instruction of a class file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct CodeSite {
    /// The method.
    pub method: CodeMethod,
    /// Index of the instruction in the code as the compiler made it.
    pub bci: u32,
    /// The member that the instruction names, `left` or `take`; empty if it names none. A class file in which the
    /// instruction is another one is not the recorded one, and is left alone.
    pub member: String,
    /// The source line, for people; 0 if unknown.
    pub line: u32,
}

/// What should happen once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// The finding, and which way round.
    pub id: String,
    /// How the steps must lie.
    pub shape: GoalShape,
    /// The threads that take the steps.
    pub roles: Vec<GoalRole>,
    /// The steps in the wanted order. Of a serial goal: those of each role, in the order of the roles; only the first of a role must happen.
    pub steps: Vec<GoalStep>,
    /// A wait that changes no order: controls wait where and as long as the runs with the pattern did.
    pub pause: Option<Pause>,
    /// Of a serial goal: whether the first role must take all its steps, so that its unit goes the same way as in the pattern.
    pub whole: bool,
}

/// A thread that a goal needs, whichever it is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GoalRole {
    /// Index of the method whose activation all steps of the role belong to; none if they belong to any.
    pub unit: Option<usize>,
    /// Index of the method whose result is the role's: the value that it returns, or its exception.
    pub result: Option<usize>,
}

/// A wait that changes no order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    /// The role whose thread waits.
    pub role: usize,
    /// Index of the instruction before which it waits.
    pub site: usize,
    /// How long.
    pub millis: u64,
}

/// How the steps of a goal must lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoalShape {
    /// One after the other, in the given order.
    Ordered,
    /// Every role is about to take its step and none has: acquisitions of a lock-order cycle.
    Blocked,
    /// The roles one after the other: each begins when the one before has taken its last step, or its unit has ended.
    Serial,
}

/// One step of a goal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GoalStep {
    /// Index of the role.
    pub role: usize,
    /// Index of the instruction.
    pub site: usize,
    /// Steps with the same number concern the same object.
    pub object: usize,
    /// Where a thread of the role waits that comes too early.
    pub hold: Hold,
    /// The step counts only while the thread of this role is held.
    pub while_held: Option<usize>,
    /// What it does.
    pub kind: StepKind,
}

/// What a step does, which decides when it counts and what it concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Accesses a cell; counts when it is done.
    #[default]
    Access,
    /// Writes a field; counts when it is done. An instruction that does anything else is not the one that is meant.
    Write,
    /// Takes a lock; counts when it is done, and concerns the object alone, whatever the arguments of a synchronized method are.
    Acquisition,
    /// Waits for a signal; counts when the thread comes to it, since the wait may never end, and concerns the object alone.
    Wait,
}

/// Where a thread waits that comes too early for its step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Nowhere: it passes.
    Never,
    /// Right before the step.
    Here,
    /// Before the instruction with this index, on the way from the role's last step to this one.
    At(usize),
}

/// Why a thread went on that was held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Released {
    /// The others have taken their steps.
    Reached,
    /// No thread that could take the next step ran any more.
    Idle,
    /// A thread waited for a lock of the held one.
    Lock,
    /// The longest time of a hold was over.
    Cap,
    /// The goal began anew or was given up.
    Reset,
}

/// A line of the log of a directed run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogLine {
    /// All steps of a goal happened as wanted.
    Fact {
        /// The goal.
        goal: String,
        /// Its steps as they happened.
        steps: Vec<Passed>,
        /// The longest hold that it took, in milliseconds.
        held_millis: u64,
    },
    /// The unit of a role has ended in a run in which its goal happened.
    Result {
        /// The goal.
        goal: String,
        /// Index of the role.
        role: usize,
        /// How it ended.
        result: UnitResult,
    },
    /// Activations that excluded each other, and how often one was let in because the other could not go on.
    Exclusive {
        /// Activations.
        entered: u64,
        /// How often two were let in at the same time.
        broken: u64,
    },
    /// An exception that no handler took ended a thread.
    Died {
        /// The thread's name.
        thread: String,
        /// Class and message.
        exception: String,
        /// Its stack, innermost first, `shop.Stock.count (Stock.java:14)`.
        #[serde(default)]
        stack: Vec<String>,
    },
    /// Threads that block each other in a circle.
    Deadlock {
        /// Their names.
        threads: Vec<String>,
    },
    /// Every thread waits without a time limit, and none is left that could wake another: the run was ended.
    Standstill {
        /// Their names.
        threads: Vec<String>,
    },
    /// Only idle workers of pools are left, and no thread that could submit a task: the run was ended.
    Idle {
        /// Their names.
        threads: Vec<String>,
    },
    /// How a goal fared, written at the end of the run.
    Account(Account),
    /// A class that has steps and was not instrumented, and why.
    NotInstrumented {
        /// Internal name.
        class: String,
        /// Why.
        reason: String,
    },
}

impl Message for LogLine {
    const KIND: &'static str = "directed";
}

/// How an activation of a unit ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct UnitResult {
    /// The thread's name.
    pub thread: String,
    /// Which activation of the thread: results of the same one can be compared from run to run.
    pub activation: u64,
    /// The value returned, or the exception.
    pub end: UnitEnd,
}

/// What an activation of a unit returned or threw.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitEnd {
    /// The method has no result.
    Nothing,
    /// A number, a constant of an enum by its name, a string in quotes, `null`.
    Value(String),
    /// Any other object: its class, `shop.Stock`.
    Object(String),
    /// An exception: its class.
    Thrown(String),
}

/// A step that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Passed {
    /// Which step of the goal.
    pub step: usize,
    /// The role that took it.
    pub role: usize,
    /// The thread's name.
    pub thread: String,
    /// The value before a write, if the hook could see it.
    pub before: Option<i64>,
    /// The value read or written, if the hook could see it.
    pub value: Option<i64>,
}

/// How a goal fared.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// The goal.
    pub goal: String,
    /// How often threads came to each step.
    pub visits: Vec<u64>,
    /// How often a thread came to each step that could take it: the role, the unit and the object fitted.
    pub candidates: Vec<u64>,
    /// By step: whether its instruction has a hook.
    pub instrumented: Vec<bool>,
    /// Threads that came to any step.
    pub threads: usize,
    /// Threads that were held.
    pub holds: u64,
    /// Why they went on, each with its number.
    pub ended: Vec<(Released, u64)>,
    /// Milliseconds of holding.
    pub held_millis: u64,
    /// How often all steps happened.
    pub facts: u64,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::line;

    #[test]
    fn every_end_of_a_unit_is_read_as_it_was_written() {
        let text = || "nothing".to_owned();
        let ends = [
            UnitEnd::Nothing,
            UnitEnd::Value(text()),
            UnitEnd::Object(text()),
            UnitEnd::Thrown(text()),
        ];
        for end in ends {
            let written = LogLine::Result {
                goal: "g".into(),
                role: 1,
                result: UnitResult {
                    thread: "t1".into(),
                    activation: 3,
                    end,
                },
            };
            let text = line::encode(&written).expect("JSON");
            let read = line::decode_one::<LogLine>(&text, Path::new("log")).expect("a line");
            assert_eq!(read, written, "{text}");
        }
    }
}
