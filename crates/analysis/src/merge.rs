//! From observations to findings: one bug, one finding.
//!
//! What counts as one bug: all races and broken lock disciplines of one variable, or inside one sort of object of the platform
//! that one part of the program calls ([`library`]); all interruptions of one unit's code on
//! one class's state, by any thread; all inconsistencies between the same two units on one class's state, unless
//! one of the two is already known to be interrupted there; all cycles of one unit's code, unless it is already known to be
//! interrupted. Fingerprints are made of those same names (never of lines, ids, threads or counts), so that a bug keeps its
//! id from run to run and when other code changes.

mod alike;
mod inner;
mod library;
mod repeated;
mod same;

pub use alike::fold_alike;
pub use repeated::fold_repeated;
pub use same::fold_same;

use crate::describe::{Describer, message, named, tell_locks_apart};
use crate::engine::EngineState;
use crate::finding::{Candidate, EventRef, Finding, RuleFamily, UnitKind, UnitRef, UnitSpan};
use crate::fix::{help, library_help};
use crate::raw::{RawReport, RawStep};
use crate::stop::Stop;
use crate::units::UnitId;
use inner::InnerUnits;
use library::{Library, Link, Shared, connected};
use ravel_trace::names::SiteKind;
use ravel_trace::naming;
use ravel_trace::origin::calls_service;
use ravel_trace::{LocationId, LockId, Names, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Occurrences kept per finding.
const CANDIDATES: usize = 24;

/// Whether a kind of unit is certain, not assumed.
pub fn is_certain(kind: UnitKind) -> bool {
    matches!(kind, UnitKind::Section | UnitKind::Declared)
}

/// The sort of bug: observations of different rules can be of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum KeyFamily {
    /// Units that are interrupted: on one location, or between the locations of an atomic set.
    Atomicity,
    /// A cycle of locks.
    LockOrder,
    /// A pattern of the user's.
    Pattern,
    /// Unordered or badly guarded accesses.
    Race,
    /// A cycle of conflicts.
    Unserializable,
}

impl KeyFamily {
    /// The family's part of a fingerprint, which never changes.
    fn name(self) -> &'static str {
        match self {
            KeyFamily::Atomicity => "atomicity",
            KeyFamily::LockOrder => "lock-order",
            KeyFamily::Pattern => "pattern",
            KeyFamily::Race => "race",
            KeyFamily::Unserializable => "unserializable",
        }
    }
}

/// What makes one bug.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    family: KeyFamily,
    subject: String,
    code: Vec<String>,
    /// The methods that tell one shared object of the platform from another of the same sort; empty if there is but one.
    apart: Vec<String>,
}

impl Key {
    fn parts(&self) -> impl Iterator<Item = &str> {
        [self.family.name(), &self.subject]
            .into_iter()
            .chain(self.code.iter().chain(&self.apart).map(String::as_str))
    }
}

/// Makes findings of the observations of one trace.
pub fn merge(reports: Vec<RawReport>, names: &Names, state: &EngineState) -> Vec<Finding> {
    merge_until(&Stop::never(), reports, names, state)
}

/// The same, with what there was time for.
pub fn merge_until(stop: &Stop<'_>, reports: Vec<RawReport>, names: &Names, state: &EngineState) -> Vec<Finding> {
    let describer = Describer::new(names, state);
    let library = Library::new(names, state, &reports);
    let mut groups: BTreeMap<Key, Vec<RawReport>> = BTreeMap::new();
    let mut shared: BTreeMap<Key, Vec<RawReport>> = BTreeMap::new();
    let mut inside: BTreeMap<Key, Vec<RawReport>> = BTreeMap::new();
    let mut asked = 0;
    for report in reports {
        if stop.now_and_then(&mut asked) {
            break;
        }
        if report.steps.is_empty() || cuts_a_call(&report.steps) || !rests_on_reads(&report.steps, state) {
            continue;
        }
        if is_of_services(&report.steps, names) {
            continue;
        }
        match library.shared(&report).map(library_key) {
            Some(key) if report.rule.family().is_race() => shared.entry(key).or_default().push(report),
            Some(key) if report.rule.family() == RuleFamily::Serializability => {
                inside.entry(key).or_default().push(report)
            }
            _ => groups.entry(key(&describer, &report)).or_default().push(report),
        }
    }
    for (key, reports) in shared {
        // Calls that race inside are not serializable either: that is the same bug.
        let unserializable = inside.remove(&key).unwrap_or_default();
        for (key, reports) in shared_objects(&library, key, reports, unserializable) {
            groups.entry(key).or_default().extend(reports);
        }
    }
    for report in inside.into_values().flatten() {
        groups.entry(self::key(&describer, &report)).or_default().push(report);
    }
    absorb(&mut groups);
    let inner = InnerUnits::new(names, state);
    let mut findings: Vec<Finding> = Vec::new();
    for (key, reports) in groups {
        if stop.now() {
            break;
        }
        findings.push(finding(&describer, (state, &inner), &key, reports));
    }
    findings.sort_by(|a, b| {
        b.evidence
            .cmp(&a.evidence)
            .then(a.rule.cmp(&b.rule))
            .then(a.id.cmp(&b.id))
    });
    findings
}

/// Whether each pass through the body of a thread that a report interrupts rests on what it read: it reads first and writes at last. Nothing
/// says that a thread which looks twice, or writes twice, means one moment.
fn rests_on_reads(steps: &[RawStep], state: &EngineState) -> bool {
    let passes = steps.iter().filter_map(|step| step.owner);
    let mut passes = passes.filter(|owner| state.units.is_pass(*owner));
    passes.all(|pass| {
        let own = || {
            steps
                .iter()
                .filter(|step| step.owner == Some(pass) && step.location.is_some())
        };
        match (own().next(), own().next_back()) {
            (Some(first), Some(last)) if first.point.index != last.point.index => {
                first.point.kind.reads() && last.point.kind.writes()
            }
            _ => true,
        }
    })
}

/// Whether all accesses are inside calls of services of the JDK: their numbers and locks are the JDK's own, not the program's.
fn is_of_services(steps: &[RawStep], names: &Names) -> bool {
    let is_inside = |step: &RawStep| match &names.site(step.point.site).what {
        SiteKind::Call(callee) => callee.rsplit_once('.').is_some_and(|(class, _)| calls_service(class)),
        _ => false,
    };
    let mut accesses = steps.iter().filter(|step| step.location.is_some()).peekable();
    accesses.peek().is_some() && accesses.all(is_inside)
}

/// Whether another thread comes between two events of one call on a modelled object, as the change of an entry and of the size: the call is
/// one step, and nothing comes in between.
fn cuts_a_call(steps: &[RawStep]) -> bool {
    let is_access = |step: &RawStep| step.location.is_some();
    let same = |a: &RawStep, b: &RawStep| {
        let (a, b) = (&a.point, &b.point);
        a.thread == b.thread && a.position == b.position && a.site == b.site && a.index != b.index
    };
    steps.iter().enumerate().any(|(number, first)| {
        let last = steps.iter().rposition(|last| is_access(last) && same(first, last));
        let between = last.and_then(|last| steps.get(number + 1..last));
        is_access(first)
            && between.is_some_and(|steps| steps.iter().any(|step| step.point.thread != first.point.thread))
    })
}

fn library_key(shared: Shared) -> Key {
    Key {
        family: KeyFamily::Race,
        subject: shared.class,
        code: shared.callers,
        apart: Vec::new(),
    }
}

/// The races inside one sort of object by the object that they are about, and with each the cycles on the same one. Objects in the same
/// methods are one bug, as fields are.
fn shared_objects(
    library: &Library<'_>,
    key: Key,
    races: Vec<RawReport>,
    cycles: Vec<RawReport>,
) -> Vec<(Key, Vec<RawReport>)> {
    let racing = races.len();
    let reports: Vec<RawReport> = races.into_iter().chain(cycles).collect();
    let links: Vec<Vec<Link>> = reports.iter().map(|report| library.links(report)).collect();
    let numbers = connected(&links);
    let mut objects: BTreeMap<usize, (Vec<Link>, Vec<RawReport>)> = BTreeMap::new();
    // A cycle that no race is connected with goes to the first.
    let known: FxHashSet<usize> = numbers[..racing].iter().copied().collect();
    for ((report, links), number) in reports.into_iter().zip(links).zip(numbers) {
        let number = if known.contains(&number) { number } else { 0 };
        let object = objects.entry(number).or_default();
        object.0.extend(links);
        object.1.push(report);
    }
    if objects.len() == 1 {
        return objects
            .into_values()
            .map(|(_, reports)| (key.clone(), reports))
            .collect();
    }
    let objects = objects.into_values();
    let objects: Vec<(Vec<String>, Vec<RawReport>)> = objects
        .map(|(links, reports)| (library.methods(&links), reports))
        .collect();
    // One name will do, and does not change when another run sees more methods.
    let names: Vec<Vec<String>> = objects
        .iter()
        .map(|(methods, _)| {
            let alike = objects.iter().filter(|(other, _)| other.first() == methods.first());
            let most = if alike.count() == 1 { 1 } else { methods.len() };
            methods.iter().take(most).cloned().collect()
        })
        .collect();
    let named = names.into_iter().zip(objects);
    named
        .map(|(apart, (_, reports))| (Key { apart, ..key.clone() }, reports))
        .collect()
}

/// The class whose state a variable is; an imported variable stands for itself.
fn subject_of(variable: &str) -> &str {
    naming::variable::class_of(variable).unwrap_or(variable)
}

fn code_of(describer: &Describer<'_>, step: &RawStep) -> String {
    match (step.owner, describer.method_of(step)) {
        (Some(owner), _) => describer.unit_code(owner),
        (None, Some(method)) => describer.names().method_text(method),
        (None, None) => describer.thread(step.point.thread),
    }
}

fn key(describer: &Describer<'_>, report: &RawReport) -> Key {
    let variable = report
        .steps
        .iter()
        .map(|s| describer.variable(s))
        .find(|v| !v.is_empty())
        .unwrap_or_default();
    let subject = subject_of(&variable).to_owned();
    let codes = || {
        let mut codes: Vec<String> = report.steps.iter().map(|s| code_of(describer, s)).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    };
    // A pattern of the user's is always a finding of its own.
    if let Some(own) = own_name(&report.pattern) {
        return Key {
            family: KeyFamily::Pattern,
            subject: format!("{own} {subject}"),
            code: codes(),
            apart: Vec::new(),
        };
    }
    match report.rule.family() {
        RuleFamily::Race | RuleFamily::Discipline => Key {
            family: KeyFamily::Race,
            subject: variable,
            code: Vec::new(),
            apart: Vec::new(),
        },
        RuleFamily::Atomicity => {
            // The unit that is interrupted is the one with two steps, the first of all in every pattern.
            let code = report.steps.first().map(|s| code_of(describer, s));
            Key {
                family: KeyFamily::Atomicity,
                subject,
                code: code.into_iter().collect(),
                apart: Vec::new(),
            }
        }
        RuleFamily::AtomicSet => Key {
            family: KeyFamily::Atomicity,
            subject,
            code: codes(),
            apart: Vec::new(),
        },
        RuleFamily::Serializability => Key {
            family: KeyFamily::Unserializable,
            subject: String::new(),
            code: codes(),
            apart: Vec::new(),
        },
        RuleFamily::LockOrder | RuleFamily::Failure | RuleFamily::Code => {
            let mut locks: Vec<String> = report.steps.iter().map(|s| describer.target(s)).collect();
            locks.sort_unstable();
            locks.dedup();
            Key {
                family: KeyFamily::LockOrder,
                subject: locks.join(" "),
                code: codes(),
                apart: Vec::new(),
            }
        }
    }
}

/// Puts groups about several units under those that already name one of the units as interrupted.
fn absorb(groups: &mut BTreeMap<Key, Vec<RawReport>>) {
    let interrupted: Vec<Key> = groups
        .keys()
        .filter(|k| k.family == KeyFamily::Atomicity && k.code.len() == 1)
        .cloned()
        .collect();
    let mut moves: Vec<(Key, Key)> = Vec::new();
    for key in groups
        .keys()
        .filter(|k| k.family == KeyFamily::Atomicity && k.code.len() > 1)
    {
        let host = interrupted
            .iter()
            .find(|h| h.subject == key.subject && key.code.contains(&h.code[0]));
        if let Some(host) = host {
            moves.push((key.clone(), host.clone()));
        }
    }
    for (from, to) in moves.drain(..) {
        let reports = groups.remove(&from).unwrap_or_default();
        groups.entry(to).or_default().extend(reports);
    }
    let known: Vec<Key> = groups
        .keys()
        .filter(|k| k.family == KeyFamily::Atomicity)
        .cloned()
        .collect();
    for key in groups.keys().filter(|k| k.family == KeyFamily::Unserializable) {
        let host = known.iter().find(|h| h.code.iter().all(|c| key.code.contains(c)));
        if let Some(host) = host {
            moves.push((key.clone(), host.clone()));
        }
    }
    for (from, to) in moves {
        let reports = groups.remove(&from).unwrap_or_default();
        groups.entry(to).or_default().extend(reports);
    }
}

/// Strongest first: evidence, then certain units, then the shorter and earlier.
fn strength(report: &RawReport) -> impl Ord + use<> {
    let assumed = report
        .steps
        .iter()
        .any(|s| s.owner.is_some_and(|o| !is_certain(o.kind)));
    let whole = report.rule.family() == RuleFamily::Serializability;
    let last = report.steps.iter().map(|s| s.point.index).max();
    (
        std::cmp::Reverse(report.evidence),
        whole,
        assumed,
        report.rule,
        report.steps.len(),
        last,
        report.analysis,
    )
}

/// The name that the user gave a pattern; none of a built-in one.
fn own_name(pattern: &str) -> Option<&str> {
    let (name, _) = pattern.strip_prefix('"')?.rsplit_once("\": ")?;
    Some(name)
}

/// `R W' W` for `1: R(x) W'(x) W(x)`: without its number, and without the variable where there is but one.
fn pattern_name(pattern: &str) -> String {
    // The user's letters are the user's.
    if own_name(pattern).is_some() {
        return pattern.to_owned();
    }
    let numbered = pattern
        .split_once(": ")
        .filter(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()));
    let name = numbered.map_or(pattern, |(_, name)| name);
    if name.contains("(y)") {
        name.to_owned()
    } else {
        name.replace("(x)", "")
    }
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Puts the strongest of each variable first, then the second of each: what is tried until time is up should not be one
/// field over and over. Cycles come last: they only follow.
fn take_turns(reports: Vec<RawReport>) -> Vec<RawReport> {
    let mut turns: FxHashMap<Option<LocationId>, usize> = FxHashMap::default();
    let mut in_turn: Vec<(bool, usize, RawReport)> = Vec::with_capacity(reports.len());
    for report in reports {
        let turn = turns
            .entry(report.steps.first().and_then(|step| step.location))
            .or_default();
        *turn += 1;
        in_turn.push((report.rule.family() == RuleFamily::Serializability, *turn, report));
    }
    in_turn.sort_by_key(|(follows, turn, _)| (*follows, *turn));
    in_turn.into_iter().map(|(.., report)| report).collect()
}

fn finding(
    describer: &Describer<'_>,
    (state, inner): (&EngineState, &InnerUnits<'_>),
    key: &Key,
    mut reports: Vec<RawReport>,
) -> Finding {
    reports.sort_by_cached_key(strength);
    let library = key.family == KeyFamily::Race && !key.code.is_empty();
    if library {
        reports = take_turns(reports);
    }
    let mut patterns = Vec::new();
    let mut analyses: Vec<String> = Vec::new();
    let mut variables = Vec::new();
    let mut units = Vec::new();
    // Methods that only call the code in question.
    let mut callers: Vec<UnitRef> = Vec::new();
    let mut candidates = Vec::new();
    let mut known: FxHashSet<(Option<LocationId>, Option<LockId>, SiteId)> = FxHashSet::default();
    for report in &reports {
        if !report.pattern.is_empty() {
            push_new(&mut patterns, pattern_name(&report.pattern));
        }
        push_new(&mut analyses, report.analysis.to_owned());
        for step in &report.steps {
            // Thousands of observations of one bug name the same few things.
            let named = (step.location, step.lock, step.point.site);
            if (step.location.is_some() || step.lock.is_some()) && known.insert(named) {
                push_new(&mut variables, describer.target(step));
            }
            if let Some(owner) = step.owner.filter(|_| units.len() < 8) {
                let within = inner.of(report, owner);
                if within.is_some() {
                    push_new(&mut callers, describer.unit(owner));
                }
                push_new(&mut units, describer.unit(within.unwrap_or(owner)));
            }
        }
        if candidates.len() < CANDIDATES {
            push_new(&mut candidates, candidate(describer, state, report));
        }
    }
    let is_named = units.iter().any(|unit| !callers.contains(unit));
    units.retain(|unit| !is_named || !callers.contains(unit));
    // A method that the user declares is a unit for that reason, whatever else makes it one.
    let declared: Vec<UnitRef> = units
        .iter()
        .filter(|unit: &&UnitRef| unit.kind == UnitKind::Declared)
        .cloned()
        .collect();
    let is_declared = |unit: &UnitRef| {
        declared
            .iter()
            .any(|one| one.thread == unit.thread && one.method == unit.method)
    };
    units.retain(|unit| unit.kind == UnitKind::Declared || !is_declared(unit));
    let first = &reports[0];
    let steps: Vec<_> = first.steps.iter().map(|s| describer.step(s)).collect();
    let own: Vec<String> = {
        let mut own = Vec::new();
        steps
            .iter()
            .filter(|s| !s.variable.is_empty())
            .for_each(|s| push_new(&mut own, s.variable.clone()));
        own
    };
    let mut steps = steps;
    tell_locks_apart(describer.names(), state, &first.steps, &mut steps);
    let own_pattern = own_name(&first.pattern).map(str::to_owned);
    Finding {
        message: named(own_pattern.as_deref(), message(first.rule, &own, &units, &steps)),
        own_pattern,
        help: match library {
            true => library_help(&key.subject, &key.code),
            false => help(first.rule, &own, &units, &steps),
        },
        patterns,
        analyses,
        variables,
        units,
        steps,
        candidates,
        ..Finding::new(fingerprint(key.parts()), first.rule, first.evidence)
    }
}

fn candidate(describer: &Describer<'_>, state: &EngineState, report: &RawReport) -> Candidate {
    let mut ids: Vec<UnitId> = Vec::new();
    let mut units = Vec::new();
    let mut owners = Vec::new();
    for step in &report.steps {
        let Some(owner) = step.owner else {
            owners.push(None);
            continue;
        };
        let known = ids.iter().position(|u| *u == owner.unit);
        owners.push(Some(known.unwrap_or_else(|| {
            let info = state.units.info(owner.unit);
            let event = |when: crate::units::When| EventRef {
                index: when.index,
                thread: info.thread,
                position: when.position,
                location: None,
                lock: None,
            };
            // A unit cut off by the end of the trace has no last event.
            let end = info.end.filter(|e| e.position != u32::MAX).map(event);
            ids.push(owner.unit);
            units.push(UnitSpan {
                thread: info.thread,
                begin: event(info.begin),
                end,
                kind: owner.kind,
                pass: state.units.is_pass(owner),
            });
            ids.len() - 1
        })));
    }
    Candidate {
        events: report.steps.iter().map(|s| describer.event(s)).collect(),
        owners,
        units,
        observed: report.observed,
    }
}

/// The id of a bug: FNV-1a over what makes it one, written out so that ids never change with a library.
pub fn fingerprint<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{:08x}", (hash ^ hash >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_told_in_one_notation_whoever_found_them() {
        assert_eq!(pattern_name("1: R(x) W'(x) W(x)"), "R W' W");
        assert_eq!(pattern_name("R W' W"), "R W' W");
        let own = "\"twice\": R1(a) W2(a) W1(a)";
        assert_eq!((pattern_name(own).as_str(), own_name(own)), (own, Some("twice")));
        assert_eq!(own_name("1: R(x) W'(x) W(x)"), None);
        assert_eq!(pattern_name("9: W(x) R'(x) R'(y) W(y)"), "W(x) R'(x) R'(y) W(y)");
    }
}
