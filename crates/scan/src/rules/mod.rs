//! The rules, one file each. A file's comment is the rule's page, which `ravel explain` prints: both are made of one text.
//!
//! To add a rule: its file, with a `check`, and a line in [`RULES`]; a `check` that no line names is an error of the compiler.
//! The rule itself is a line in the table of `ravel_analysis::rule`.

mod callers;
mod check_then_act;
mod compound_volatile;
mod double_checked;
mod guarded_by;
mod guards;
mod inconsistent_sync;
mod kept;
mod lock_order;
mod lock_pattern;
mod naked_notify;
mod nested_wait;
mod notify_one;
mod reassigned_lock;
mod shared_format;
mod test_lock_assign;
mod told;
mod two_guards;
mod unreleased_lock;
mod unsafe_publication;
mod wait_loop;

use ravel_analysis::finding::Rule;
use ravel_trace::naming;

use crate::body::{Body, Stmt};
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Node};
use crate::filter::Filter;
use crate::flow::{Kind, MethodFlow};
use crate::program::{LocalFact, LocalKind, MethodId, Program};
use crate::report::{Alike, Draft, expr_text, step};
use crate::solve::{Instance, LocksHeld, MethodFacts};
use crate::symbols::{PairId, Sym};

/// What a rule sees of a program.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The classes.
    pub program: &'a Program,
    /// Who calls whom.
    pub graph: &'a CallGraph<'a>,
    /// What methods lock.
    pub held: &'a LocksHeld,
    /// Which locks count.
    pub filter: &'a Filter,
    /// What the dataflow of the lock pattern found.
    pub found: &'a [MethodFacts],
    /// The instances of the lock pattern, with their contexts.
    pub instances: &'a [Instance],
}

/// Which finding of a recorded run shows that a suspicion is real.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShownBy {
    /// None: a run shows no more than the code.
    Nothing,
    /// A race on the suspected field.
    Race,
    /// An interruption between the two suspected acquisitions, or between a test and an act.
    Interruption,
    /// A circle of locks through the suspected methods.
    LockOrder,
}

/// A rule of the scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanRule {
    /// Which.
    pub rule: Rule,
    /// Looks for it.
    pub check: fn(&Facts<'_>) -> Vec<Draft>,
    /// How a run shows it.
    pub shown_by: ShownBy,
}

const fn rule(rule: Rule, shown_by: ShownBy, check: fn(&Facts<'_>) -> Vec<Draft>) -> ScanRule {
    ScanRule { rule, check, shown_by }
}

/// What `ravel scan` looks for, in the order of its report.
pub const RULES: &[ScanRule] = &[
    rule(Rule::LockPattern, ShownBy::Interruption, lock_pattern::check),
    rule(Rule::LockOrder, ShownBy::LockOrder, lock_order::check),
    rule(Rule::GuardedBy, ShownBy::Race, guarded_by::check),
    rule(Rule::DoubleCheckedLocking, ShownBy::Race, double_checked::check),
    rule(Rule::TestLockAssign, ShownBy::Race, test_lock_assign::check),
    rule(Rule::CheckThenAct, ShownBy::Interruption, check_then_act::check),
    rule(Rule::InconsistentSync, ShownBy::Race, inconsistent_sync::check),
    rule(Rule::TwoGuards, ShownBy::Race, two_guards::check),
    rule(Rule::CompoundVolatile, ShownBy::Race, compound_volatile::check),
    rule(Rule::SharedFormat, ShownBy::Race, shared_format::check),
    rule(Rule::UnsafePublication, ShownBy::Nothing, unsafe_publication::check),
    rule(Rule::UnreleasedLock, ShownBy::Nothing, unreleased_lock::check),
    rule(Rule::ReassignedLock, ShownBy::Race, reassigned_lock::check),
    rule(Rule::WaitOutsideLoop, ShownBy::Nothing, wait_loop::check),
    rule(Rule::NestedWait, ShownBy::Nothing, nested_wait::check),
    rule(Rule::NotifyOne, ShownBy::Nothing, notify_one::check),
    rule(Rule::NakedNotify, ShownBy::Nothing, naked_notify::check),
];

/// The facts of one kind in the methods of wanted classes.
pub(crate) fn local_facts(program: &Program, kind: LocalKind) -> impl Iterator<Item = (MethodId, &LocalFact)> {
    let methods = program.method_ids().filter(|method| program.class_of(*method).wanted);
    methods.flat_map(move |method| {
        let facts = program.method(method).local.iter();
        facts
            .filter(move |fact| fact.kind == kind)
            .map(move |fact| (method, fact))
    })
}

/// Whether a class is one of these or below one.
pub(crate) fn is_below(program: &Program, class: Sym, wanted: &[&[u8]]) -> bool {
    let mut pending = vec![class];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(class) = pending.pop() {
        if wanted.contains(&program.symbols.bytes(class)) {
            return true;
        }
        if let Some(found) = program.by_name.get(&class).filter(|_| seen.insert(class)) {
            let found = program.class(*found);
            pending.extend(found.super_class.iter().chain(found.interfaces.iter()));
        }
    }
    false
}

/// A finding about places in code and at most one field.
struct About<'a> {
    rule: Rule,
    method: MethodId,
    field: Option<PairId>,
    /// Method, position and what happens there.
    places: &'a [(MethodId, u16, &'a str)],
    message: String,
    help: String,
    shown: bool,
}

fn about(program: &Program, about: &About<'_>) -> Draft {
    let name = about.field.map(|field| program.field_text(field));
    let line = |method, pc| program.body(method).map_or(0, |body| body.line(pc));
    let steps = about.places.iter().map(|(method, pc, op)| {
        let variable = name.clone().unwrap_or_default();
        step(program, *method, line(*method, *pc), op, variable, Vec::new())
    });
    let mut units: Vec<MethodId> = about.places.iter().map(|(method, ..)| *method).collect();
    units.retain(|method| *method != about.method);
    units.dedup();
    let first = about.places.last().map_or(0, |(method, pc, _)| line(*method, *pc));
    Draft {
        rule: about.rule,
        method: about.method,
        line: first,
        subject: name.clone().unwrap_or_default(),
        alike: None,
        steps: steps.collect(),
        variables: name.into_iter().collect(),
        message: about.message.clone(),
        help: about.help.clone(),
        units,
        shown: about.shown,
    }
}

/// A lock as steps name it: a field by its class, so that all methods name it alike; none if it is not known.
fn lock_text(program: &Program, body: &Body, lock: ExprId) -> Option<String> {
    match *body.exprs.get(lock.0 as usize)? {
        Node::Unknown => None,
        Node::Field(base, field) if body.exprs.get(base.0 as usize) == Some(&Node::This) => {
            Some(program.field_text(field))
        }
        Node::Static(field) => Some(program.field_text(field)),
        Node::ReadWrite(base) => lock_text(program, body, base),
        _ => Some(expr_text(program, body, &body.table(), lock)),
    }
}

/// A lock as a sentence names it: `Stock.guard`, `the lock of Stock` for `this`.
fn lock_told(program: &Program, method: MethodId, text: &str) -> String {
    match text {
        "this" => {
            let class = program.symbols.class_text(program.class_of(method).name);
            format!("the lock of {}", naming::class(&class))
        }
        _ => naming::lock::short(text),
    }
}

/// The lock that a call at this position waits on, or whose waiters it wakes.
fn waited_on(program: &Program, method: MethodId, pc: u16) -> Option<String> {
    let body = program.body(method)?;
    let mut stmts = body.stmts.iter().zip(body.pcs.iter()).filter(|(_, at)| **at == pc);
    stmts.find_map(|(stmt, _)| match stmt {
        Stmt::Wait(lock) | Stmt::Notify { lock, .. } => lock_text(program, body, *lock),
        _ => None,
    })
}

/// The lock that is acquired at this position.
fn acquired_at(program: &Program, method: MethodId, pc: u16) -> Option<String> {
    let body = program.body(method)?;
    let site = body.sites.iter().find(|site| site.pc == pc)?;
    lock_text(program, body, site.lock)
}

/// The field that is written at this position.
fn written_at(program: &Program, method: MethodId, pc: u16) -> Option<PairId> {
    let known = MethodFlow::of(program, method)?;
    match known.flow.kind(known.flow.at(pc)?) {
        Kind::Write(index) => known.field(program, index),
        _ => None,
    }
}

/// Methods that a message names.
const MOST_NAMES: usize = 4;

/// The names of methods, each once; of many, the first few and how many more.
fn method_names(program: &Program, methods: impl IntoIterator<Item = MethodId>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for method in methods {
        let name = program.method_name(method);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > MOST_NAMES {
        let more = names.len() - MOST_NAMES;
        names.truncate(MOST_NAMES);
        names.push(format!("{more} more"));
    }
    names
}

/// The same for a rule whose bug is a race on the field: a run that finds the race has found this bug.
fn about_race(program: &Program, about: &About<'_>) -> Draft {
    let field = about.field.map(|field| program.field_text(field));
    Draft {
        alike: field.map(Alike::Race),
        ..self::about(program, about)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ravel_analysis::finding::RuleFamily;

    use super::*;
    use crate::load::{self, Options};

    #[test]
    fn every_rule_of_code_is_looked_for() {
        for rule in Rule::ALL.iter().filter(|rule| rule.family() == RuleFamily::Code) {
            assert_eq!(RULES.iter().filter(|known| known.rule == *rule).count(), 1, "{rule:?}");
        }
    }

    /// A rule is one file and one line: this module is the file.
    mod every_method {
        use super::*;

        pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
            let draft = |method| Draft {
                rule: Rule::NakedNotify,
                method,
                line: 0,
                subject: String::new(),
                alike: None,
                variables: Vec::new(),
                steps: Vec::new(),
                message: facts.program.method_name(method),
                help: "added".to_owned(),
                units: Vec::new(),
                shown: true,
            };
            facts.program.method_ids().map(draft).collect()
        }
    }

    #[test]
    fn a_rule_is_one_line_of_the_table() {
        let extended = [RULES, &[rule(Rule::NakedNotify, ShownBy::Nothing, every_method::check)]].concat();
        let classes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/shapes/ecj");
        let program = load::load(&[classes], &Options::default()).expect("a class");
        let found = load::analyse_with(&extended, &program, &Options::default(), &mut load::Times::default()).0;
        let added = found.iter().filter(|finding| finding.help == "added").count();
        assert!(added > 0 && added == program.method_ids().count());
    }
}
