//! One bug seen in several ways: a lost update is a race, an interruption and a cycle of conflicts at once, an object that threads share
//! without a lock shows as a race on each of its fields, and an object that is published too early shows in its own fields too.
//!
//! Findings are one bug if one change of the program repairs them all. That is so of shown findings which
//! - name the same variables and lie in the same methods of the program; or
//! - are races inside of objects of the JDK that one field holds: one change of the field repairs them; or
//! - are about fields of one class and lie in the same methods, which then must exclude each other; or
//! - are about fields of one class, lie in methods that overlap, and no step holds a lock: the class has no synchronisation; or
//! - are about a field, and about the fields of the object that it holds, written inside of the methods that access the field: the object
//!   is published before it is ready.
//!
//! A program that hangs in these methods because a signal is lost is the same bug as the race or the interruption that makes it hang.
//!
//! Fields of the program and the inside of objects of the JDK stay apart: another class of the JDK repairs the second alone. The strongest
//! evidence leads. Of equals an interruption leads, since it says how far the lock must reach, with two exceptions. If the variable is an object of
//! the JDK, the race says which class to use instead. If no lock guards the accesses and all lie in methods that the unit calls, as those of a cache
//! below a long critical section, the race says where the lock is missing.

use std::collections::{BTreeMap, BTreeSet};

use ravel_trace::naming::{Frame, qualified_method, variable, without_descriptor};
use ravel_trace::origin::is_platform;

use crate::analyse::support;
use crate::describe::listed;
use crate::finding::{Finding, FindingStep, OutcomeKind, Rule, RuleFamily};
use crate::fix::together_help;

/// Makes one finding of those that are one bug. The ids of those that are gone.
pub fn fold_same(findings: &mut Vec<Finding>) -> Vec<String> {
    let seen: Vec<(usize, SeenBug)> = (0..findings.len())
        .filter_map(|index| Some((index, SeenBug::of(&findings[index])?)))
        .collect();
    // The bug of each finding, as the first of those that are one.
    let mut first: Vec<usize> = (0..seen.len()).collect();
    for one in 0..seen.len() {
        for other in one + 1..seen.len() {
            if seen[one].1.is_one_with(&seen[other].1) {
                let (keep, gone) = (first[one].min(first[other]), first[one].max(first[other]));
                first.iter_mut().filter(|at| **at == gone).for_each(|at| *at = keep);
            }
        }
    }
    let mut same: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, (index, _)) in seen.iter().enumerate() {
        same.entry(first[place]).or_default().push(*index);
    }
    let signals = (0..findings.len()).filter(|at| is_lost_signal(&findings[*at]));
    for signal in signals {
        let methods: BTreeSet<String> = findings[signal].steps.iter().map(method).collect();
        let cause = seen
            .iter()
            .position(|(index, bug)| hangs(&findings[*index]) && bug.methods == methods);
        if let Some(place) = cause {
            same.entry(first[place]).or_default().push(signal);
        }
    }
    let mut gone: BTreeMap<usize, usize> = BTreeMap::new();
    for indices in same.into_values() {
        let Some(&host) = indices.iter().min_by_key(|&&index| rank(&findings[index])) else {
            continue;
        };
        gone.extend(
            indices
                .into_iter()
                .filter(|index| *index != host)
                .map(|index| (index, host)),
        );
    }
    for (&index, &host) in &gone {
        let other = findings[index].clone();
        let is_race_inside = findings[host].rule.family().is_race() && findings[host].steps.iter().all(is_inside);
        let more = together_help(&other).filter(|_| is_race_inside);
        if let Some(more) = more.filter(|more| !findings[host].help.contains(more)) {
            findings[host].help = format!("{} {more}", findings[host].help);
        }
        support(&mut findings[host], other);
    }
    guard_all(findings, &gone);
    let ids = gone.keys().map(|&index| findings[index].id.clone()).collect();
    let mut index = 0;
    findings.retain(|_| {
        index += 1;
        !gone.contains_key(&(index - 1))
    });
    ids
}

/// Names in the fix of each finding the further fields of its class that others are about, and their methods: a change for one of them alone
/// does not repair the bug.
fn guard_all(findings: &mut [Finding], gone: &BTreeMap<usize, usize>) {
    let hosts: BTreeSet<usize> = gone.values().copied().collect();
    for host in hosts {
        let bug = |index: usize| SeenBug::of(&findings[index]).filter(|bug| !bug.inside);
        let Some(own) = bug(host).filter(|own| own.owner.is_some()) else {
            continue;
        };
        let others = gone
            .iter()
            .filter(|(_, of)| **of == host)
            .filter_map(|(index, _)| bug(*index));
        let others = others.filter(|other| other.owner == own.owner && !other.variables.is_subset(&own.variables));
        let (mut variables, mut methods) = (BTreeSet::new(), BTreeSet::new());
        for other in others {
            variables.extend(other.variables.difference(&own.variables).cloned());
            methods.extend(other.methods);
        }
        if variables.is_empty() {
            continue;
        }
        let variables: Vec<String> = variables.iter().map(|name| variable::short(name)).collect();
        // The fix says which methods hold the lock; others come to the further fields alone.
        let others = methods.difference(&own.methods);
        let others: Vec<String> = others.map(|name| qualified_method(name)).collect();
        let places = match others.is_empty() {
            true => String::new(),
            false => format!(", also in {}", listed(&others)),
        };
        findings[host].help = format!(
            "{} The same lock must guard {}{places}.",
            findings[host].help,
            listed(&variables)
        );
    }
}

/// Whether a finding says that the program hangs.
fn hangs(finding: &Finding) -> bool {
    let outcome = finding.outcome.as_ref().filter(|_| finding.shown);
    outcome.is_some_and(|outcome| outcome.kind == OutcomeKind::Hang)
}

/// Whether a finding is a wait whose signal is lost.
fn is_lost_signal(finding: &Finding) -> bool {
    finding.rule == Rule::NakedNotify && hangs(finding)
}

/// What tells whether two findings are one bug.
#[derive(Debug)]
struct SeenBug {
    variables: BTreeSet<String>,
    /// The class whose fields they are, if it is one class of the program.
    owner: Option<String>,
    /// The methods of the program that the steps lie in.
    methods: BTreeSet<String>,
    /// Of each step that writes, the methods on its stack.
    writers: Vec<BTreeSet<String>>,
    /// The classes of the program whose objects the variables hold.
    holds: BTreeSet<String>,
    /// Whether it is a race.
    race: bool,
    /// Whether some step lies inside of an object of the JDK.
    inside: bool,
    /// Whether no step holds a lock.
    unlocked: bool,
}

impl SeenBug {
    fn of(finding: &Finding) -> Option<SeenBug> {
        let family = finding.rule.family();
        if !finding.shown || !(family.is_race() || family.is_interruption()) || finding.steps.is_empty() {
            return None;
        }
        let steps = &finding.steps;
        let variables: BTreeSet<String> = steps.iter().map(|step| step.variable.clone()).collect();
        let owners: BTreeSet<Option<&str>> = variables.iter().map(|name| variable::class_of(name)).collect();
        let owner = match owners.into_iter().collect::<Vec<_>>().as_slice() {
            [Some(one)] => Some((*one).to_owned()),
            _ => None,
        };
        Some(SeenBug {
            owner,
            methods: steps.iter().map(method).collect(),
            writers: steps.iter().filter(|step| step.op != "read").map(on_stack).collect(),
            holds: steps.iter().filter_map(FindingStep::holds).collect(),
            race: family.is_race(),
            inside: steps.iter().any(is_inside),
            unlocked: steps.iter().all(|step| step.locks.is_empty()),
            variables,
        })
    }

    fn is_one_with(&self, other: &SeenBug) -> bool {
        if self.inside != other.inside {
            return false;
        }
        if self.variables == other.variables && self.methods == other.methods {
            return true;
        }
        if self.inside {
            let is_field = |name: &String| {
                !name.contains(" in ") && variable::class_of(name).is_some_and(|class| !is_platform(class))
            };
            let one_field = self.variables == other.variables && self.variables.iter().all(is_field);
            return self.race && other.race && one_field;
        }
        let one_class = self.owner.is_some() && self.owner == other.owner;
        let unlocked = self.unlocked && other.unlocked && !self.methods.is_disjoint(&other.methods);
        one_class && (self.methods == other.methods || unlocked) || self.publishes(other) || other.publishes(self)
    }

    /// Whether the other is about the object that a field of this one holds, and is written inside of the methods that access the field.
    fn publishes(&self, other: &SeenBug) -> bool {
        other.owner.as_ref().is_some_and(|owner| self.holds.contains(owner))
            && other.writers.iter().all(|stack| !stack.is_disjoint(&self.methods))
    }
}

fn is_inside(step: &FindingStep) -> bool {
    step.inside.is_some()
}

fn method(step: &FindingStep) -> String {
    format!("{}.{}", step.class, without_descriptor(&step.method))
}

fn on_stack(step: &FindingStep) -> BTreeSet<String> {
    let callers = step.stack.iter().map(|frame| Frame::parse(frame).name());
    callers.chain([method(step)]).collect()
}

/// Best first.
fn rank(finding: &Finding) -> impl Ord + '_ {
    let family = finding.rule.family();
    let inside = finding.steps.iter().all(is_inside);
    let place = match (family.is_race(), inside) {
        (false, false) if is_below_unit(finding) => 2,
        (race, inside) => usize::from(race != inside),
    };
    (
        std::cmp::Reverse(finding.evidence),
        family == RuleFamily::Serializability,
        place,
        finding.rule,
        &finding.id,
    )
}

/// Whether no lock guards the accesses of an interruption and none of them lies in the unit's own method.
fn is_below_unit(finding: &Finding) -> bool {
    let Some(unit) = finding.units.first() else {
        return false;
    };
    let (steps, unit) = (&finding.steps, without_descriptor(&unit.method));
    let common = |lock: &String| steps.iter().all(|step| step.locks.contains(lock));
    let guarded = steps.first().is_some_and(|step| step.locks.iter().any(common));
    !guarded && steps.iter().all(|step| method(step) != unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::analyse;
    use crate::finding::{Evidence, Outcome, UnitKind, UnitRef};
    use crate::registry;
    use crate::units::UnitSettings;
    use ravel_trace::memory::MemoryTrace;

    /// Two threads that add one to a field without a lock.
    const LOST: &str = "
        main | t1 | t2
        fork t1
        fork t2
        | enter Main.run
        | enter Counter.add
        | r Counter.count @3
        | w Counter.count @3
        | exit
        | exit
        | | enter Main.run
        | | enter Counter.add
        | | r Counter.count @3
        | | w Counter.count @3
        | | exit
        | | exit
    ";

    fn findings() -> Vec<Finding> {
        let mut trace = MemoryTrace::parse(LOST).expect("the trace of a test parses");
        let mut found = analyse(&mut trace, &UnitSettings::default(), registry::all()).findings;
        found.iter_mut().for_each(|finding| finding.shown = true);
        found
    }

    #[test]
    fn a_lost_update_is_one_finding() {
        let mut found = findings();
        assert!(found.len() > 1, "{found:#?}");
        let all = found.len();
        found
            .iter_mut()
            .for_each(|finding| finding.evidence = Evidence::Harmful);
        let gone = fold_same(&mut found);
        assert_eq!((found.len(), gone.len()), (1, all - 1), "{found:#?}");
        assert_eq!(found[0].rule, Rule::Atomicity);
    }

    fn step(thread: &str, variable: &str, method: &str) -> FindingStep {
        FindingStep {
            thread: thread.to_owned(),
            op: "write".to_owned(),
            variable: variable.to_owned(),
            class: "shop.Stock".to_owned(),
            method: format!("{method}()V"),
            stack: vec![
                format!("shop.Stock.{method} (Stock.java:3)"),
                "shop.Main.run (Main.java:9)".to_owned(),
            ],
            ..FindingStep::default()
        }
    }

    /// Shown races, each on a variable between two methods.
    fn races(all: &[(&str, &str, &str)]) -> Vec<Finding> {
        let race = |(at, (variable, one, other)): (usize, &(&str, &str, &str))| Finding {
            shown: true,
            steps: vec![step("t1", variable, one), step("t2", variable, other)],
            ..Finding::new(format!("{at:08}"), Rule::DataRace, Evidence::Confirmed)
        };
        all.iter().enumerate().map(race).collect()
    }

    fn left(mut found: Vec<Finding>) -> usize {
        fold_same(&mut found);
        found.len()
    }

    #[test]
    fn fields_of_one_class_in_the_same_methods_are_one_bug() {
        let found = races(&[("shop.Stock.x", "move", "read"), ("shop.Stock.y", "read", "move")]);
        assert_eq!(left(found.clone()), 1);
        // A lock that one of the methods takes does not change that.
        let mut locked = found.clone();
        locked
            .iter_mut()
            .for_each(|one| one.steps[0].locks = vec!["shop.Stock".to_owned()]);
        assert_eq!(left(locked), 1);
        let mut other_class = found;
        other_class[1]
            .steps
            .iter_mut()
            .for_each(|step| step.variable = "shop.Till.y".to_owned());
        assert_eq!(left(other_class), 2);
    }

    #[test]
    fn a_class_without_locks_is_one_bug_as_far_as_its_methods_overlap() {
        let found = races(&[
            ("shop.Stock.busy", "enter", "leave"),
            ("shop.Stock.most", "enter", "enter"),
        ]);
        assert_eq!(left(found.clone()), 1);
        let mut one = found.clone();
        one[0].help = "Lock.".to_owned();
        one[0].evidence = Evidence::Harmful;
        fold_same(&mut one);
        assert_eq!(one[0].help, "Lock. The same lock must guard Stock.most.");
        let mut more = races(&[
            ("shop.Stock.busy", "enter", "leave"),
            ("shop.Stock.most", "enter", "reset"),
        ]);
        more[0].help = "Lock.".to_owned();
        more[0].evidence = Evidence::Harmful;
        fold_same(&mut more);
        assert_eq!(
            more[0].help,
            "Lock. The same lock must guard Stock.most, also in Stock.reset."
        );
        // Where some code locks, each method that does not is a bug of its own.
        let mut locked = found;
        locked[0].steps[1].locks = vec!["shop.Stock".to_owned()];
        assert_eq!(left(locked), 2);
        // Two counters of one class that have nothing to do with each other are two bugs.
        let apart = races(&[("shop.Stock.sold", "sell", "sell"), ("shop.Stock.lost", "lose", "lose")]);
        assert_eq!(left(apart), 2);
    }

    #[test]
    fn an_object_that_is_published_too_early_is_one_bug_with_its_fields() {
        let mut found = races(&[
            ("shop.Stock.current", "publish", "read"),
            ("shop.Item.name", "fill", "first"),
        ]);
        assert_eq!(left(found.clone()), 2, "the field does not hold the object");
        found[0].steps[0].descriptor = "Lshop/Item;".to_owned();
        assert_eq!(left(found.clone()), 2, "the calls come from elsewhere");
        found[1].steps[0]
            .stack
            .push("shop.Stock.publish (Stock.java:8)".to_owned());
        assert_eq!(left(found.clone()), 2, "one of the writes");
        found[1].steps[1].op = "read".to_owned();
        assert_eq!(left(found), 1);
    }

    #[test]
    fn a_lost_signal_is_one_bug_with_the_race_that_loses_it() {
        let hang = || Some(Outcome::new(OutcomeKind::Hang, "t1 waits without end"));
        let mut found = races(&[("shop.Stock.open", "pass", "open"), ("shop.Stock", "pass", "open")]);
        found[1].rule = Rule::NakedNotify;
        found[1].outcome = hang();
        assert_eq!(left(found.clone()), 2, "the race does not hang");
        found[0].outcome = hang();
        let mut other = found.clone();
        assert_eq!(left(found), 1);
        other[1].steps[0].method = "close()V".to_owned();
        assert_eq!(left(other), 2, "another method");
    }

    #[test]
    fn races_inside_what_one_field_holds_are_one_bug() {
        let inside = |mut found: Vec<Finding>| {
            let steps = found.iter_mut().flat_map(|finding| &mut finding.steps);
            steps.for_each(|step| step.inside = Some("java.util.HashMap.put".to_owned()));
            found
        };
        let one = [("shop.Stock.map", "put", "put"), ("shop.Stock.map", "get", "put")];
        assert_eq!(left(inside(races(&one))), 1);
        let two = [("shop.Stock.prices", "put", "put"), ("shop.Stock.sizes", "put", "put")];
        assert_eq!(left(inside(races(&two))), 2, "two maps");
        let unnamed = [("java.util.HashMap", "put", "put"), ("java.util.HashMap", "get", "put")];
        assert_eq!(left(inside(races(&unnamed))), 2, "these may be two maps");
        let mut interrupted = inside(races(&one));
        interrupted
            .iter_mut()
            .for_each(|finding| finding.rule = Rule::Atomicity);
        assert_eq!(left(interrupted), 2, "each method needs its own change");
    }

    #[test]
    fn a_race_inside_a_map_tells_which_calls_must_be_one_step() {
        let mut found = races(&[("shop.Stock.map", "add", "add"), ("shop.Stock.map", "add", "add")]);
        let steps = found.iter_mut().flat_map(|finding| &mut finding.steps);
        steps.for_each(|step| step.inside = Some("java.util.HashMap.put".to_owned()));
        found[0].help = "Use a ConcurrentHashMap.".to_owned();
        found[1].rule = Rule::Atomicity;
        found[1].steps[0].called = "get".to_owned();
        found[1].steps[1].called = "put".to_owned();
        found[1].steps[1].thread = "t1".to_owned();
        fold_same(&mut found);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].help.starts_with(
                "Use a ConcurrentHashMap. Stock.add calls get and put: to make them one step, use computeIfAbsent"
            ),
            "{}",
            found[0].help
        );
    }

    #[test]
    fn a_race_below_a_long_unit_is_told_as_a_race() {
        let mut found = races(&[("shop.Stock.cache", "put", "put"), ("shop.Stock.cache", "put", "put")]);
        found[0].rule = Rule::Atomicity;
        let unit = |name: &str| UnitRef {
            thread: "t1".to_owned(),
            method: format!("shop.{name}()V"),
            kind: UnitKind::Section,
        };
        found[0].units = vec![unit("Session.execute")];
        let leads = |found: &[Finding]| {
            let mut found = found.to_vec();
            fold_same(&mut found);
            assert_eq!(found.len(), 1);
            found[0].rule
        };
        assert_eq!(leads(&found), Rule::DataRace);
        // The unit's own method reads and writes, or a lock guards each access.
        let mut own = found.clone();
        own[0].units = vec![unit("Stock.put")];
        assert_eq!(leads(&own), Rule::Atomicity);
        for step in found.iter_mut().flat_map(|finding| &mut finding.steps) {
            step.locks = vec!["shop.Stock".to_owned()];
        }
        assert_eq!(leads(&found), Rule::Atomicity);
    }

    #[test]
    fn a_collection_and_a_field_beside_it_are_two_bugs() {
        let mut found = races(&[("shop.Stock.map", "put", "get"), ("shop.Stock.size", "put", "get")]);
        found[0]
            .steps
            .iter_mut()
            .for_each(|step| step.inside = Some("java.util.HashMap.put".to_owned()));
        assert_eq!(left(found), 2);
    }

    #[test]
    fn the_strongest_evidence_leads() {
        let mut found = findings();
        for finding in &mut found {
            let race = finding.rule == Rule::DataRace;
            finding.evidence = if race { Evidence::Harmful } else { Evidence::Confirmed };
        }
        fold_same(&mut found);
        assert_eq!(found[0].rule, Rule::DataRace);
    }

    #[test]
    fn another_method_or_what_is_not_shown_stays() {
        let mut found = findings();
        found.truncate(2);
        found[0]
            .steps
            .iter_mut()
            .for_each(|step| step.method = "other()V".to_owned());
        assert_eq!(fold_same(&mut found), [] as [String; 0]);
        let mut found = findings();
        found.iter_mut().for_each(|finding| finding.shown = false);
        assert_eq!(fold_same(&mut found), [] as [String; 0]);
    }
}
