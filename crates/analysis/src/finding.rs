//! What every analysis produces and every report shows: findings, in the stable JSON form.

use ravel_trace::naming::{self, Frame};
use ravel_trace::origin::is_platform;
use ravel_trace::{LocationId, LockId, ThreadId};
use serde::{Deserialize, Serialize};

use crate::limit::Limit;

pub use crate::holds::LockLane;
pub use crate::part::Part;
pub use crate::rule::{Rule, RuleFamily};
pub use crate::timeline::{Lane, Recording};

/// How strong the evidence is, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// A rule of thumb is broken.
    Suspected,
    /// An order allowed by locks and hard order has the pattern.
    Predicted,
    /// A whole feasible schedule has it, or the trace itself.
    Witnessed,
    /// A re-run under that schedule had it.
    Confirmed,
    /// That re-run had an outcome that no serial order produces.
    Harmful,
}

/// What kind of unit a finding rests on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitKind {
    /// A critical section.
    Section,
    /// A non-private method on its own instance.
    Method,
    /// Two or more calls on one self-protecting object.
    Compound,
    /// Declared by the user or by the trace.
    Declared,
}

/// A unit that takes part in a finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct UnitRef {
    /// The thread's name.
    pub thread: String,
    /// `shop.Stock.take(I)Z`
    pub method: String,
    /// What makes it a unit.
    pub kind: UnitKind,
}

/// One step of the interleaving.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FindingStep {
    /// The thread's name.
    pub thread: String,
    /// `read`, `write`, `update`, `acquire`, `release`, …
    pub op: String,
    /// `shop.Stock.items`, empty for steps that access no location.
    pub variable: String,
    /// What it read or wrote in the run that was forced, if the trace of that run has it.
    #[serde(default)]
    pub value: Option<String>,
    /// The part of the variable that was accessed: the index of an element, the key of an entry; none if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The program's own class, dotted.
    pub class: String,
    /// Its method, `count()I`.
    pub method: String,
    /// Source file name, empty if unknown.
    pub file: String,
    /// Source line, 0 if unknown.
    pub line: u32,
    /// The method of the JDK that the program called there, and in which the step lies: `java.util.HashMap.putVal`; none for a
    /// step of the program's own code.
    #[serde(default)]
    pub inside: Option<String>,
    /// Names of the locks held.
    pub locks: Vec<String>,
    /// Those of them that are held for reading alone, as other readers may hold them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_locks: Vec<String>,
    /// Innermost first, `shop.Stock.count (Stock.java:14)`.
    pub stack: Vec<String>,
    /// The bytecode index of the program's call of a method of the JDK, or of its access to an element of an array, for names; not part of
    /// the JSON.
    #[serde(skip)]
    pub call: Option<u32>,
    /// The name of the method of the JDK that the program calls there, `get`, if its class file was read; not part of the JSON.
    #[serde(skip)]
    pub called: String,
    /// The key that it gives a map there, in the run that was forced, if that is known; not part of the JSON.
    #[serde(skip)]
    pub key: Option<String>,
    /// The descriptor of the field, empty for elements of arrays; not part of the JSON.
    #[serde(skip)]
    pub descriptor: String,
    /// The recorded event, for schedules; not part of the JSON.
    #[serde(skip)]
    pub event: Option<EventRef>,
}

impl FindingStep {
    /// The names of the locks held, to be changed: a lock has one name, however it is held.
    pub fn lock_names_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.locks.iter_mut().chain(&mut self.read_locks)
    }

    /// Whether the step writes and holds the lock only for reading, so that other readers can run at the same time.
    pub fn writes_as_reader(&self, lock: &str) -> bool {
        matches!(self.op.as_str(), "write" | "update") && self.read_locks.iter().any(|read| read == lock)
    }

    /// The calls that led to its place, innermost first: its stack without the place itself and what lies inside of it.
    pub fn callers(&self) -> &[String] {
        let own = self.frame();
        let at = self.stack.iter().position(|frame| Frame::parse(frame) == own);
        self.stack.get(at.map_or(1, |at| at + 1)..).unwrap_or(&[])
    }

    /// The class of the program whose objects the variable holds, if it is one.
    pub fn holds(&self) -> Option<String> {
        let class = self.descriptor.strip_prefix('L')?.strip_suffix(';')?.replace('/', ".");
        (!is_platform(&class)).then_some(class)
    }

    /// Where it is, as a line of a call stack.
    pub fn frame(&self) -> Frame<'_> {
        Frame {
            class: &self.class,
            method: naming::without_descriptor(&self.method),
            file: &self.file,
            line: self.line,
        }
    }
}

/// An event of the trace, found again by thread and position, or by its number in the global order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventRef {
    /// How many events came before it in the merged trace.
    pub index: u64,
    /// Who.
    pub thread: ThreadId,
    /// The thread's position.
    pub position: u32,
    /// The cell, for accesses.
    pub location: Option<LocationId>,
    /// The lock, for lock operations.
    pub lock: Option<LockId>,
}

/// The kinds of ends that a forced run can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// Without a visible effect.
    Normal,
    /// An uncaught exception.
    Exception,
    /// Threads that wait for each other's locks.
    Deadlock,
    /// The program did not end.
    Hang,
    /// An exit code that tells of a failure.
    Exit,
    /// Output that no serial order prints.
    Output,
    /// The last value of a variable.
    Value,
    /// What a unit returned.
    Return,
}

impl OutcomeKind {
    /// Every kind.
    pub const ALL: [OutcomeKind; 8] = [
        OutcomeKind::Normal,
        OutcomeKind::Exception,
        OutcomeKind::Deadlock,
        OutcomeKind::Hang,
        OutcomeKind::Exit,
        OutcomeKind::Output,
        OutcomeKind::Value,
        OutcomeKind::Return,
    ];
}

/// How a forced run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Which kind of end.
    pub kind: OutcomeKind,
    /// The thread concerned, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// For people.
    pub message: String,
    /// The stack of the exception, innermost first, `shop.Stock.count (Stock.java:14)`; empty if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// The last lines that the program printed in that run; empty if it printed none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
}

impl Outcome {
    /// An outcome without a stack or printed lines.
    pub fn new(kind: OutcomeKind, message: impl Into<String>) -> Outcome {
        Outcome {
            kind,
            thread: None,
            message: message.into(),
            stack: Vec::new(),
            printed: Vec::new(),
        }
    }

    /// The same, of a thread.
    pub fn of(mut self, thread: impl Into<String>) -> Outcome {
        self.thread = Some(thread.into());
        self
    }
}

/// A run of the units one after the other, in one order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SerialRun {
    /// The threads of the units, in this order.
    pub threads: Vec<String>,
    /// The accesses of that run to the pattern's locations in the methods of the finding's steps, without locks and stacks; empty
    /// if they are too many to show.
    pub steps: Vec<FindingStep>,
    /// What the run had in place of the finding's outcome: `Account.balance was 30`, `no exception`.
    pub outcome: String,
}

/// Another view of a bug: what a second analysis or rule says of the same accesses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AlsoSeen {
    /// The id that it would have as a finding of its own.
    pub id: String,
    /// The kind of bug that it is seen as.
    pub rule: Rule,
    /// How far that got.
    pub evidence: Evidence,
    /// One sentence.
    pub message: String,
}

/// One bug.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Fingerprint: same bug, same id, run after run and after unrelated edits.
    pub id: String,
    /// The kind of bug.
    pub rule: Rule,
    /// How far it got.
    pub evidence: Evidence,
    /// Whether the default view shows it.
    pub shown: bool,
    /// `R W' W`, the patterns that matched.
    pub patterns: Vec<String>,
    /// The name of the user's own pattern that it is found by; none if it is found by a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_pattern: Option<String>,
    /// The analyses that support it.
    pub analyses: Vec<String>,
    /// `shop.Stock.items`
    pub variables: Vec<String>,
    /// The units concerned.
    pub units: Vec<UnitRef>,
    /// The interleaving.
    pub steps: Vec<FindingStep>,
    /// None below confirmed.
    pub outcome: Option<Outcome>,
    /// What serial orders of the units did in the runs that the outcome was compared with; empty if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serial: Vec<SerialRun>,
    /// Why it got no further than its evidence; none if it was not tried, or if there is no further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Other views of the same bug, which are no findings of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoSeen>,
    /// The tests that it was found in, `shop.ShopTest.twoCustomers`; empty if no test runner told of any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Thread name and number of points, in turn.
    pub schedule: Vec<(String, u32)>,
    /// The command that makes it happen again, empty if there is none.
    pub replay: String,
    /// One sentence.
    pub message: String,
    /// What to change.
    pub help: String,
    /// Occurrences of the bug in the recorded trace, for the scheduler; not part of the JSON.
    #[serde(skip)]
    pub candidates: Vec<Candidate>,
}

impl Finding {
    /// A finding with nothing but its name, not shown.
    pub fn new(id: String, rule: Rule, evidence: Evidence) -> Finding {
        Finding {
            id,
            rule,
            evidence,
            shown: false,
            patterns: Vec::new(),
            own_pattern: None,
            analyses: Vec::new(),
            variables: Vec::new(),
            units: Vec::new(),
            steps: Vec::new(),
            outcome: None,
            serial: Vec::new(),
            limit: None,
            also: Vec::new(),
            tests: Vec::new(),
            schedule: Vec::new(),
            replay: String::new(),
            message: String::new(),
            help: String::new(),
            candidates: Vec::new(),
        }
    }
}

/// One occurrence of a finding: the events of the pattern in the order in which they must happen, and the units
/// they belong to, so that serial orders of those units can be forced for comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Candidate {
    /// The pattern's events, in the order that the pattern demands (not that of the trace).
    pub events: Vec<EventRef>,
    /// For each event, the index in `units` of the unit it belongs to; none for an access outside any unit.
    pub owners: Vec<Option<usize>>,
    /// The units that take part.
    pub units: Vec<UnitSpan>,
    /// Whether the recorded trace already has the events in this order.
    pub observed: bool,
}

impl Candidate {
    /// Whether one of the units is a pass through the body of a thread.
    pub fn is_of_body(&self) -> bool {
        self.units.iter().any(|unit| unit.pass)
    }
}

/// The stretch of one thread that a unit covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitSpan {
    /// Who.
    pub thread: ThreadId,
    /// The first event of the unit.
    pub begin: EventRef,
    /// The last event of the unit; none if the trace ended first.
    pub end: Option<EventRef>,
    /// What makes it a unit.
    pub kind: UnitKind,
    /// Whether it is a pass through the body of a thread: nothing says that what it prints belongs together.
    pub pass: bool,
}

/// Classes seen by the recorder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Instrumented.
    pub instrumented: u64,
    /// Left out by the filters.
    pub skipped: u64,
    /// Could not be instrumented.
    pub failed: u64,
}

/// What was analysed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Events read.
    pub events: u64,
    /// Threads seen.
    pub threads: u64,
    /// Classes.
    pub classes: ClassCounts,
    /// What took how long; none if findings were not forced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// What a static scan read and did not follow; none for runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scanned: Option<Scanned>,
}

/// What a static scan read, and what it did not follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Scanned {
    /// Methods with code.
    pub methods: u64,
    /// Source lines with code.
    pub lines: u64,
    /// Methods whose code could not be understood.
    pub failed_methods: u64,
    /// Classes that are named and were not there: taken to lock nothing.
    pub missing_classes: u64,
    /// Calls that no method answers: taken to lock nothing.
    pub unresolved_calls: u64,
    /// Calls by reflection: taken to lock nothing.
    pub reflective_calls: u64,
    /// Native methods: taken to lock nothing.
    pub native_methods: u64,
    /// Acquisitions of a lock without a name in code.
    pub unnamed_locks: u64,
    /// Names of objects with too many parts.
    pub long_names: u64,
    /// Methods too large for rules that follow values.
    pub large_methods: u64,
}

/// Milliseconds that the parts of the work took, each as the sum over all that worked side by side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Times {
    /// Running the program to record it; 0 if it was recorded before.
    pub record: u64,
    /// Looking for bugs in the trace.
    pub search: u64,
    /// Making schedules.
    pub schedule: u64,
    /// Running the program under schedules.
    pub replay: u64,
    /// Runs of the program under schedules, and directed ones.
    pub runs: u64,
    /// Directed runs of the program.
    #[serde(default)]
    pub directed: u64,
    /// How many these were.
    #[serde(default)]
    pub directed_runs: u64,
}

/// The whole result, as in `findings.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Version of this form: 1.
    pub version: u32,
    /// The recorded command line.
    pub program: String,
    /// Whether the work was done to its end: false if the user interrupted it, or if a trace could not be read to its end.
    #[serde(default = "complete")]
    pub complete: bool,
    /// What was analysed.
    pub summary: Summary,
    /// What the user should know of what was not done or not seen, each as a sentence; absent if there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The bugs, worst first.
    pub findings: Vec<Finding>,
    /// What the code alone makes suspicious in classes that ran, and no run showed; none for a scan, whose findings are all of
    /// this kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspicions: Vec<Finding>,
    /// What was recorded, one entry for each JVM; empty for what was found without a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recording>,
    /// How the attempts of directed runs fared, a goal each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directed: Vec<crate::account::DirectedAccount>,
    /// The work that this report is a part of, if several machines share it or reports were merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl Default for Report {
    /// Nothing found yet, in the form of today.
    fn default() -> Self {
        Report {
            version: 1,
            program: String::new(),
            complete: true,
            summary: Summary::default(),
            warnings: Vec::new(),
            findings: Vec::new(),
            suspicions: Vec::new(),
            recordings: Vec::new(),
            directed: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// Reports of a Ravel that did not say so were only written at the end of the work.
fn complete() -> bool {
    true
}
