//! Other units, of the pattern's threads and of others, that write to the same variables: a run may be called harmful only if nothing
//! but the order of the pattern's units tells it from the serial runs.

use ravel_analysis::finding::{Evidence, Finding, Rule};

use super::{fake, finding, judged, limit, told};
use crate::runner::fake::Fake;

/// A program in the making: a column for each thread after `main`, which starts and joins them all.
struct Columns {
    threads: usize,
    /// What `main` does first.
    first: Vec<String>,
    lines: Vec<(usize, String)>,
}

/// A unit: its thread, its first and its last line.
type Lines = (usize, u32, u32);

impl Columns {
    fn of(threads: usize, first: &[&str]) -> Columns {
        Columns {
            threads,
            first: first.iter().map(|line| line.to_string()).collect(),
            lines: Vec::new(),
        }
    }

    /// Adds operations of a thread, from 1, and says where they are.
    fn unit(&mut self, thread: usize, operations: &[&str]) -> Lines {
        let before = 1 + self.first.len() + self.threads + self.lines.len();
        let operations = operations.iter().map(|operation| (thread, operation.to_string()));
        self.lines.extend(operations);
        let last = 1 + self.first.len() + self.threads + self.lines.len();
        (thread, before as u32 + 1, last as u32)
    }

    /// The program, at whose end `main` reads these variables.
    fn program(&self, read: &[&str]) -> Fake {
        let names: Vec<String> = (1..=self.threads).map(|thread| format!("t{thread}")).collect();
        let mut text = format!("main | {}\n", names.join(" | "));
        let mut line = |thread: usize, operation: &str| {
            text.push_str(&format!(
                "{}{operation}{}\n",
                "|".repeat(thread),
                "|".repeat(self.threads - thread)
            ));
        };
        self.first.iter().for_each(|operation| line(0, operation));
        names.iter().for_each(|name| line(0, &format!("fork {name}")));
        self.lines
            .iter()
            .for_each(|(thread, operation)| line(*thread, operation));
        names.iter().for_each(|name| line(0, &format!("join {name}")));
        read.iter().for_each(|variable| line(0, &format!("r C.{variable}")));
        line(0, "print");
        fake(&text)
    }
}

/// Judges a pattern of accesses, each given by its unit and its line there, from 1.
fn judge(program: &Fake, units: &[Lines], events: &[(usize, u32)]) -> Finding {
    let name = |thread: usize| format!("t{thread}");
    let names: Vec<String> = units.iter().map(|unit| name(unit.0)).collect();
    let spans: Vec<(&str, u32, u32)> = units
        .iter()
        .zip(&names)
        .map(|(unit, name)| (name.as_str(), unit.1, unit.2))
        .collect();
    let at: Vec<(&str, u32)> = events
        .iter()
        .map(|(unit, line)| (names[*unit].as_str(), units[*unit].1 + line - 1))
        .collect();
    judged(program, finding(program, Rule::Atomicity, &at, &spans))
}

/// A look under the lock, and then all that the unit does under the lock.
const POP: [&str; 11] = [
    "enter C.pop()I",
    "acq L",
    "r C.n",
    "rel L",
    "acq L",
    "r C.n",
    "skip 0 1",
    "w C.n+-1",
    "rel L",
    "ret",
    "exit",
];
const PUSH: [&str; 9] = [
    "enter C.push()V",
    "acq L",
    "r C.n",
    "rel L",
    "acq L",
    "r C.n",
    "w C.n+1",
    "rel L",
    "exit",
];
/// The look decides what is written.
const ADD: [&str; 9] = [
    "enter C.add()V",
    "acq L",
    "r C.n",
    "rel L",
    "acq L",
    "w C.n+1",
    "rel L",
    "ret",
    "exit",
];

#[test]
fn a_unit_may_come_between_two_earlier_units_and_a_later_one_of_the_other_thread() {
    let mut columns = Columns::of(2, &["w C.n=2"]);
    let first = columns.unit(1, &POP);
    columns.unit(1, &POP);
    columns.unit(2, &POP);
    columns.unit(2, &POP);
    let push = columns.unit(2, &PUSH);
    let program = columns.program(&["n"]);
    // Taken twice and not yet put back: the stack is empty between the looks of the two.
    for events in [
        [(0, 3), (1, 3), (0, 6)],
        [(0, 3), (1, 7), (0, 6)],
        [(1, 3), (0, 6), (1, 7)],
    ] {
        let finding = judge(&program, &[first, push], &events);
        assert_ne!(finding.evidence, Evidence::Harmful, "{events:?}: {:?}", told(&finding));
    }
}

#[test]
fn an_addition_that_is_lost_among_others_is_still_harm() {
    let mut columns = Columns::of(2, &["w C.n=2"]);
    let first = columns.unit(1, &ADD);
    columns.unit(1, &ADD);
    columns.unit(2, &ADD);
    columns.unit(2, &ADD);
    let last = columns.unit(2, &ADD);
    let program = columns.program(&["n"]);
    let finding = judge(&program, &[first, last], &[(0, 3), (1, 6), (0, 6)]);
    let (evidence, _, message) = told(&finding);
    assert_eq!(evidence, Evidence::Harmful, "{message} {}", limit(&finding));
    assert_eq!(message, "C.n was 6; every serial order gives 7");
}

/// Looks, and returns what it finds later.
const GET: [&str; 9] = [
    "enter C.get()I",
    "acq L",
    "r C.n",
    "rel L",
    "acq L",
    "r C.n",
    "rel L",
    "ret",
    "exit",
];

/// Sets a number under the lock.
fn set(number: u32) -> Vec<String> {
    let write = format!("w C.n={number}");
    ["enter C.set()V", "acq L", &write, "rel L", "exit"]
        .map(str::to_string)
        .to_vec()
}

fn words(operations: &[String]) -> Vec<&str> {
    operations.iter().map(String::as_str).collect()
}

#[test]
fn a_reader_may_find_what_any_of_three_setters_has_set_last() {
    let mut columns = Columns::of(4, &["w C.n=9"]);
    let setters: Vec<Lines> = (1..=3)
        .map(|number| columns.unit(number, &words(&set(number as u32))))
        .collect();
    let get = columns.unit(4, &GET);
    let program = columns.program(&["n"]);
    for setter in setters {
        let finding = judge(&program, &[get, setter], &[(0, 3), (1, 3), (0, 6)]);
        assert_ne!(finding.evidence, Evidence::Harmful, "{:?}", told(&finding));
    }
}

#[test]
fn an_addition_that_overwrites_a_setter_is_harm_whatever_others_add() {
    let mut columns = Columns::of(4, &["w C.n=9"]);
    let setter = columns.unit(1, &words(&set(1)));
    columns.unit(2, &ADD);
    columns.unit(3, &ADD);
    let add = columns.unit(4, &ADD);
    let program = columns.program(&["n"]);
    let finding = judge(&program, &[add, setter], &[(0, 3), (1, 3), (0, 6)]);
    let (evidence, _, message) = told(&finding);
    assert_eq!(evidence, Evidence::Harmful, "{message} {}", limit(&finding));
    assert_eq!(
        message,
        "right after these units, C.n was 10; every serial order gives 1 or 2"
    );
}

#[test]
fn a_unit_of_a_third_thread_may_come_between() {
    // The second unit waits for the third thread before it sets the number.
    let mut columns = Columns::of(3, &["w C.n=1"]);
    columns.unit(3, &words(&set(7)));
    columns.unit(3, &["end"]);
    let get = columns.unit(1, &GET);
    let later = columns.unit(
        2,
        &[
            "enter C.later()V",
            "join t3",
            "r C.n",
            "acq L",
            "w C.n=9",
            "rel L",
            "exit",
        ],
    );
    let program = columns.program(&["n"]);
    let finding = judge(&program, &[get, later], &[(0, 3), (1, 3), (0, 6)]);
    assert_ne!(finding.evidence, Evidence::Harmful, "{:?}", told(&finding));
}

#[test]
fn an_addition_that_is_lost_behind_a_third_thread_is_harm() {
    let mut columns = Columns::of(3, &["w C.n=1"]);
    columns.unit(3, &words(&set(7)));
    columns.unit(3, &["end"]);
    let add = columns.unit(1, &ADD);
    let later = columns.unit(
        2,
        &["enter C.later()V", "join t3", "acq L", "w C.n=20", "rel L", "exit"],
    );
    let program = columns.program(&["n"]);
    let finding = judge(&program, &[add, later], &[(0, 3), (1, 4), (0, 6)]);
    let (evidence, _, message) = told(&finding);
    assert_eq!(evidence, Evidence::Harmful, "{message} {}", limit(&finding));
    assert_eq!(
        message,
        "right after these units, C.n was 8; every serial order gives 20 or 21"
    );
}

/// The thread of the first unit goes on with another one, which looks at what the second unit is still to write, and so writes nothing. In the runs
/// of serial orders it sees what both units wrote, and writes.
#[test]
fn a_later_unit_that_looked_before_the_units_were_over_may_be_why() {
    let mut columns = Columns::of(2, &["w C.n=1"]);
    let one = columns.unit(
        1,
        &[
            "enter C.unit()I",
            "acq L",
            "r C.n",
            "rel L",
            "acq L",
            "r C.m",
            "rel L",
            "acq L",
            "r C.m",
            "w C.n+1",
            "w C.n=1",
            "r C.m",
            "rel L",
            "ret",
            "exit",
        ],
    );
    let other = columns.unit(
        2,
        &[
            "enter C.unit()I",
            "acq L",
            "r C.m",
            "rel L",
            "acq L",
            "r C.n",
            "rel L",
            "acq L",
            "r C.n",
            "w C.m+1",
            "skip 1 1",
            "r C.m",
            "rel L",
            "ret",
            "exit",
        ],
    );
    columns.unit(
        1,
        &[
            "enter C.unit()I",
            "acq L",
            "r C.n",
            "rel L",
            "acq L",
            "r C.m",
            "skip 0 1",
            "w C.m+1",
            "r C.n",
            "rel L",
            "ret",
            "exit",
        ],
    );
    let program = columns.program(&["n", "m"]);
    let finding = judge(&program, &[one, other], &[(0, 6), (1, 3), (0, 10)]);
    assert_eq!(finding.evidence, Evidence::Confirmed, "{:?}", told(&finding));
}

/// Programs by chance, the same for the same seed.
struct Chance(fastrand::Rng);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    /// A unit that looks at variables as it likes and then does all that it does at once.
    fn atomic_unit(&mut self) -> Vec<String> {
        let mut operations = vec!["enter C.unit()I".to_string()];
        let variable = |chance: &mut Chance| ["n", "m"][chance.below(2)];
        for _ in 0..self.below(3) {
            operations.extend([
                "acq L".to_string(),
                format!("r C.{}", variable(self)),
                "rel L".to_string(),
            ]);
        }
        operations.extend(["acq L".to_string(), format!("r C.{}", variable(self))]);
        for _ in 0..=self.below(3) {
            let variable = variable(self);
            operations.push(match self.below(4) {
                0 => format!("r C.{variable}"),
                1 => format!("w C.{variable}={}", self.below(3)),
                2 => format!("skip {} 1", self.below(2)),
                _ => format!("w C.{variable}+1"),
            });
        }
        operations.extend([
            format!("r C.{}", variable(self)),
            "rel L".to_string(),
            "ret".to_string(),
            "exit".to_string(),
        ]);
        operations
    }
}

/// Units that each take effect at one moment are atomic, whatever they looked at before: no order of their accesses is harmful.
#[test]
fn programs_of_atomic_units_are_never_called_harmful() {
    let (mut happened, mut tried) = (0, 0);
    for seed in 0..1_500 {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let threads = 2 + chance.below(2);
        let mut columns = Columns::of(threads, &["w C.n=1"]);
        let mut units: Vec<(Lines, Vec<String>)> = Vec::new();
        for _ in 0..2 + chance.below(4) {
            let thread = 1 + chance.below(threads);
            let operations = chance.atomic_unit();
            units.push((columns.unit(thread, &words(&operations)), operations));
        }
        let program = columns.program(&["n", "m"]);
        let trace = program.recorded();
        let recorded = |unit: &Lines, line: u32| {
            let names = ravel_trace::Source::names(&trace);
            let name = format!("t{}", unit.0);
            trace.events().iter().any(|event| {
                let at = names.site(event.site).line == unit.1 + line - 1;
                at && names.thread(event.thread).name == name && event.op.location().is_some()
            })
        };
        for _ in 0..4 {
            let (one, other) = (chance.below(units.len()), chance.below(units.len()));
            let (a, b) = (&units[one], &units[other]);
            if a.0.0 == b.0.0 {
                continue;
            }
            let accesses = |unit: &(Lines, Vec<String>)| -> Vec<u32> {
                (1..=unit.1.len() as u32)
                    .filter(|line| recorded(&unit.0, *line))
                    .collect()
            };
            let (of_a, of_b) = (accesses(a), accesses(b));
            if of_a.len() < 2 || of_b.is_empty() {
                continue;
            }
            let first = chance.below(of_a.len() - 1);
            let last = first + 1 + chance.below(of_a.len() - first - 1);
            let events = [(0, of_a[first]), (1, of_b[chance.below(of_b.len())]), (0, of_a[last])];
            let finding = judge(&program, &[a.0, b.0], &events);
            tried += 1;
            happened += usize::from(finding.evidence >= Evidence::Confirmed);
            assert_ne!(
                finding.evidence,
                Evidence::Harmful,
                "seed {seed}, {events:?} of {:?} and {:?} of all {:?}: {:?}",
                a,
                b,
                units,
                told(&finding)
            );
        }
    }
    assert!(tried > 1_500 && happened > 200, "{happened} of {tried}");
}
