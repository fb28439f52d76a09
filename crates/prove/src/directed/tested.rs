//! Check-then-act through a library: a method of the program looks an entry up by one call and sets it by another one, and nothing keeps
//! other threads out in between.
//!
//! The scan knows the containers of the JDK. A cache or a registry of a library has one of them inside, so that the trace has the look-up and
//! the change of the entry, and the calls of the program that led there: these are the steps of the goal, on the same object with the same
//! first argument. As with what the scan suspects, one thread that went through the code suffices; another one takes the other part.

use ravel_analysis::describe::as_sentence;
use ravel_analysis::finding::{Candidate, EventRef, Evidence, Finding, FindingStep, Rule, UnitKind, UnitRef};
use ravel_analysis::merge::fingerprint;
use ravel_protocol::goal::{CodeMethod, CodeSite, GoalShape, StepKind};
use ravel_trace::names::{Location, Names, SiteKind};
use ravel_trace::origin::Origin;
use ravel_trace::{Event, LocationId, LockId, Op, SiteId};
use rustc_hash::FxHashMap;

use super::derive::{CodeHold, CodePause, CodeRole, CodeStep, SerialOrder};
use super::places::{STAND_IN, code_method, instruction};
use super::ready::{Ready, goal, short_name};

/// Pairs that are tried.
const MOST_PAIRS: usize = 4;
/// Look-ups at one place that are remembered: a program that makes millions of them shows the same in the first ones.
const MOST_LOOKUPS: u32 = 2_000;

/// Look-ups of one entry by one thread that are remembered.
const SAME_LOOKUPS: usize = 3;

/// A look-up of an entry.
#[derive(Debug)]
struct Lookup {
    reference: EventRef,
    site: SiteId,
    /// The entries of the methods on the stack.
    stack: Vec<Event>,
    locks: Vec<(LockId, u32)>,
}

/// A look-up and a change by two calls of one method.
#[derive(Debug)]
struct Tested {
    method: CodeMethod,
    calls: [CodeSite; 2],
    events: [EventRef; 2],
    sites: [SiteId; 2],
}

/// Sees the entries of containers in a trace go by.
#[derive(Debug, Default)]
pub struct TestedPairs {
    /// How the names of the program's own classes begin: the package of its main class, or the first two words of it.
    own: Option<String>,
    /// By thread and entry, the latest last: a call that sets an entry may look it up again itself.
    lookups: FxHashMap<(u32, LocationId), Vec<Lookup>>,
    /// By place: how many look-ups were remembered.
    counts: FxHashMap<SiteId, u32>,
    found: Vec<Tested>,
}

impl TestedPairs {
    /// The next event, with the entries of the methods on the thread's stack and the locks that it has.
    pub fn event(&mut self, event: &Event, index: u64, stack: &[Event], held: &[(LockId, Event)], names: &Names) {
        if let (Op::Enter { method }, None) = (event.op, &self.own) {
            self.own = code_method(names, method.index())
                .filter(|method| method.name == "main")
                .map(|method| own_prefix(&method.class));
        }
        let Some(location) = event.op.location() else { return };
        if self.found.len() >= MOST_PAIRS || !matches!(names.locations.get(location.index()), Some(Location::Entry(..)))
        {
            return;
        }
        let key = (event.thread.0, location);
        let reference = EventRef {
            index,
            thread: event.thread,
            position: event.position,
            location: Some(location),
            lock: None,
        };
        if matches!(event.op, Op::Read { .. }) {
            let count = self.counts.entry(event.site).or_insert(0);
            *count += 1;
            if *count <= MOST_LOOKUPS {
                let lookup = Lookup {
                    reference,
                    site: event.site,
                    stack: stack.to_vec(),
                    locks: held.iter().map(|(lock, taken)| (*lock, taken.position)).collect(),
                };
                let lookups = self.lookups.entry(key).or_default();
                if lookups.len() == SAME_LOOKUPS {
                    lookups.remove(0);
                }
                lookups.push(lookup);
            }
            return;
        }
        let Some(lookups) = self.lookups.remove(&key) else {
            return;
        };
        let is_open = |lookup: &&Lookup| {
            let keeps_out = |(lock, taken): &(LockId, Event)| lookup.locks.contains(&(*lock, taken.position));
            !held.iter().any(keeps_out)
        };
        let mut open = lookups.iter().rev().filter(is_open);
        if let Some(tested) = open.find_map(|lookup| self.tested(lookup, (event, reference), stack, names))
            && !self.found.iter().any(|known| known.calls == tested.calls)
        {
            self.found.push(tested);
        }
    }

    /// The two calls, if one method of the program made both and the second one leads into a library.
    fn tested(
        &self,
        lookup: &Lookup,
        (event, reference): (&Event, EventRef),
        stack: &[Event],
        names: &Names,
    ) -> Option<Tested> {
        let pairs = lookup.stack.iter().zip(stack);
        let common = pairs
            .take_while(|(one, other)| one.position == other.position && one.op == other.op)
            .count();
        let Op::Enter { method } = stack.get(common.checked_sub(1)?)?.op else {
            return None;
        };
        let method = code_method(names, method.index())?;
        let is_own = self.is_own(&method.class) && !method.name.starts_with('<');
        let first = lookup.stack.get(common).map_or(lookup.site, |entry| entry.site);
        let second = stack.get(common)?.site;
        let is_library = |entry: &Event| match entry.op {
            Op::Enter { method } => code_method(names, method.index())
                .is_some_and(|method| Origin::of(&method.class) == Origin::Application && !self.is_own(&method.class)),
            _ => false,
        };
        if !is_own || first == second || !stack[common..].iter().any(is_library) {
            return None;
        }
        let calls = [instruction(names, first)?, instruction(names, second)?];
        let is_call = |site: &CodeSite| !site.member.is_empty() && site.method == method;
        (calls.iter().all(is_call) && event.op.is_write()).then_some(Tested {
            method,
            calls,
            events: [lookup.reference, reference],
            sites: [first, second],
        })
    }

    fn is_own(&self, class: &str) -> bool {
        self.own.as_deref().is_some_and(|own| class.starts_with(own))
    }

    /// How the names of the program's own classes begin, as people write them.
    pub fn own_package(&self) -> Option<String> {
        self.own.as_ref().map(|own| own.replace('/', "."))
    }

    /// What is tried: each with a finding that nothing supports yet.
    pub fn finish(self, names: &Names) -> Vec<Ready> {
        self.found.iter().map(|tested| ready(tested, names)).collect()
    }
}

/// How the internal names of the classes begin that belong to the program of a main class.
pub(super) fn own_prefix(main: &str) -> String {
    let words: Vec<&str> = main.split('/').collect();
    let package = &words[..words.len() - 1];
    match package {
        [] => main.to_string(),
        _ => format!("{}/", package[..package.len().min(2)].join("/")),
    }
}

fn ready(tested: &Tested, names: &Names) -> Ready {
    let [test, act] = &tested.calls;
    let step = |role: usize, site: &CodeSite, hold: CodeHold, while_held: Option<usize>| CodeStep {
        role,
        site: site.clone(),
        object: 0,
        hold,
        while_held,
        kind: StepKind::Access,
    };
    let never = || CodeHold::Never;
    let unit = || CodeRole {
        unit: Some(tested.method.clone()),
        result: Some(tested.method.clone()),
    };
    let other = CodeRole { unit: None, ..unit() };
    let pattern = vec![
        step(0, test, never(), None),
        step(1, act, never(), Some(0)),
        step(0, act, CodeHold::Here, None),
    ];
    let serial = vec![
        step(0, test, never(), Some(1)),
        step(0, act, never(), Some(1)),
        step(1, test, CodeHold::Here, None),
        step(1, act, never(), None),
    ];
    let mut serial = goal(GoalShape::Serial, vec![unit(), unit()], serial);
    serial.pause = Some(CodePause {
        role: 0,
        site: act.clone(),
        millis: 0,
    });
    let name = short_name(&tested.method);
    Ready {
        finding: finding(tested, names),
        pattern: goal(GoalShape::Ordered, vec![unit(), other], pattern),
        serial: vec![SerialOrder {
            roles: [0, 1],
            goal: serial,
            words: format!("{name} before {name}"),
        }],
        units: vec![tested.method.clone()],
    }
}

fn finding(tested: &Tested, names: &Names) -> Finding {
    let callee = |site: SiteId| match &names.site(site).what {
        SiteKind::Call(callee) => callee.clone(),
        _ => String::new(),
    };
    let container = |callee: &str| callee.rsplit_once('.').map_or("", |(class, _)| class).to_string();
    let [test, act] = tested.sites.map(callee);
    let step = |number: usize, op: &str| {
        let site = tested.sites[number];
        let frame = names.frame(names.site(site).method, site);
        FindingStep {
            thread: names.thread(tested.events[number].thread).name.clone(),
            op: op.into(),
            variable: container(&act),
            class: frame.class.to_owned(),
            method: names.selector(names.site(site).method),
            file: frame.file.to_owned(),
            line: frame.line,
            ..FindingStep::default()
        }
    };
    let steps = vec![step(0, "read"), step(1, "write")];
    let called = |callee: &str| callee.rsplit('.').next().unwrap_or_default().to_string();
    let rule = Rule::CheckThenAct;
    let parts = [
        rule.name(),
        steps[0].class.as_str(),
        steps[0].method.as_str(),
        test.as_str(),
        act.as_str(),
    ];
    let [first, second] = [called(&test), called(&act)];
    let id = fingerprint(parts.into_iter());
    Finding {
        analyses: vec!["replay".into()],
        message: as_sentence(format!(
            "{} is not atomic: another thread can set the entry between its call of {first} and its call of {second}.",
            short_name(&tested.method)
        )),
        help: format!(
            "Use one atomic call for both, such as computeIfAbsent, or hold one lock around {first} and {second}."
        ),
        variables: vec![container(&act)],
        units: vec![UnitRef {
            thread: steps[0].thread.clone(),
            method: format!("{}.{}", steps[0].class, steps[0].method),
            kind: UnitKind::Compound,
        }],
        steps,
        candidates: vec![Candidate {
            events: vec![
                tested.events[0],
                EventRef {
                    thread: STAND_IN,
                    ..tested.events[1]
                },
                tested.events[1],
            ],
            owners: vec![None; 3],
            ..Candidate::default()
        }],
        ..Finding::new(id, rule, Evidence::Suspected)
    }
}

#[cfg(test)]
mod tests {
    use super::own_prefix;

    #[test]
    fn the_programs_own_classes_begin_as_its_main_class_does() {
        assert_eq!(own_prefix("com/acme/shop/Main"), "com/acme/");
        assert_eq!(own_prefix("shop/Main"), "shop/");
        assert_eq!(own_prefix("Main"), "Main");
    }
}
