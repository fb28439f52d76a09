//! Occurrences of what the static scan suspects: code that tests a concurrent container and then acts on the answer.
//!
//! A recorded run seldom has two threads that both act on one key: the first one to come acts, and the others find the entry. So the
//! analyses see no pattern, though the code has the bug. One thread that went through the code suffices for a goal: another one that
//! runs the same code takes the other part.

use ravel_analysis::finding::{Candidate, EventRef, Finding, Rule, UnitKind, UnitSpan};
use ravel_trace::names::{Location, Names};
use ravel_trace::{Event, SiteId};
use rustc_hash::FxHashMap;

use super::places::STAND_IN;

/// Code that tests and acts.
#[derive(Debug)]
struct Suspected {
    id: String,
    /// `shop.Stock`
    class: String,
    /// `take(I)Z`
    method: String,
    /// Of the test, and of the act.
    lines: [u32; 2],
    /// By thread: the last test, where, and when its activation began.
    tests: FxHashMap<u32, (EventRef, SiteId, u32)>,
}

/// A test and the act that followed.
pub struct FoundPair {
    /// Id of the suspicion.
    pub id: String,
    /// The test.
    pub test: EventRef,
    /// Its site.
    pub site: SiteId,
    /// The same code twice, one inside the other.
    pub candidate: Candidate,
}

/// Whether the two steps of a suspicion are a test and an act of one method, of which a goal can be made.
fn is_pair(rule: Rule) -> bool {
    match rule {
        Rule::CheckThenAct => true,
        Rule::DataRace
        | Rule::Atomicity
        | Rule::AtomicSet
        | Rule::Unserializable
        | Rule::LockDiscipline
        | Rule::LockOrder
        | Rule::Failure
        | Rule::LockPattern
        | Rule::GuardedBy
        | Rule::DoubleCheckedLocking
        | Rule::ReassignedLock
        | Rule::WaitOutsideLoop
        | Rule::NakedNotify
        | Rule::TestLockAssign
        | Rule::InconsistentSync
        | Rule::TwoGuards
        | Rule::CompoundVolatile
        | Rule::SharedFormat
        | Rule::UnsafePublication
        | Rule::UnreleasedLock
        | Rule::NestedWait
        | Rule::NotifyOne => false,
    }
}

/// The suspicions that a trace has shown no occurrence of yet.
#[derive(Debug, Default)]
pub struct SuspectedPairs {
    open: Vec<Suspected>,
    /// By site: the suspicions whose test (0) or act (1) is there.
    sites: FxHashMap<SiteId, Vec<(usize, usize)>>,
}

impl SuspectedPairs {
    /// Those of a scan that a goal can be made of.
    pub fn of(suspicions: &[Finding]) -> SuspectedPairs {
        let pair = |finding: &Finding| match finding.steps.as_slice() {
            [test, act] if is_pair(finding.rule) && test.line != act.line => Some(Suspected {
                id: finding.id.clone(),
                class: test.class.clone(),
                method: test.method.clone(),
                lines: [test.line, act.line],
                tests: FxHashMap::default(),
            }),
            _ => None,
        };
        SuspectedPairs {
            open: suspicions.iter().filter_map(pair).collect(),
            sites: FxHashMap::default(),
        }
    }

    /// The next event, in an activation that began at this position: the first occurrence of a suspicion, if it completes one.
    pub fn event(&mut self, event: &Event, reference: EventRef, activation: u32, names: &Names) -> Option<FoundPair> {
        if self.open.is_empty() {
            return None;
        }
        let location = event.op.location()?;
        let open = &self.open;
        let here = self
            .sites
            .entry(event.site)
            .or_insert_with(|| at(open, names, event.site));
        if here.is_empty() || !matches!(names.locations.get(location.index()), Some(Location::Entry(..))) {
            return None;
        }
        for &(number, part) in here.iter() {
            let suspected = &mut self.open[number];
            let thread = event.thread.0;
            if part == 0 {
                suspected.tests.insert(thread, (reference, event.site, activation));
                continue;
            }
            let tested = suspected.tests.remove(&thread);
            let fits =
                |(test, _, began): &(EventRef, SiteId, u32)| *began == activation && test.location == Some(location);
            let Some((test, site, _)) = tested.filter(fits).filter(|_| event.op.is_write()) else {
                continue;
            };
            let found = FoundPair {
                id: suspected.id.clone(),
                test,
                site,
                candidate: candidate(test, reference),
            };
            self.open.remove(number);
            self.sites.clear();
            return Some(found);
        }
        None
    }
}

/// A thread tests, another one that runs the same code acts, the first one acts.
fn candidate(test: EventRef, act: EventRef) -> Candidate {
    let unit = |thread| UnitSpan {
        thread,
        begin: EventRef { thread, ..test },
        end: None,
        kind: UnitKind::Compound,
        pass: false,
    };
    Candidate {
        events: vec![
            test,
            EventRef {
                thread: STAND_IN,
                ..act
            },
            act,
        ],
        owners: vec![Some(0), Some(1), Some(0)],
        units: vec![unit(test.thread), unit(STAND_IN)],
        observed: false,
    }
}

/// The suspicions with a part at a site.
fn at(open: &[Suspected], names: &Names, site: SiteId) -> Vec<(usize, usize)> {
    let Some(site) = names.sites.get(site.index()) else {
        return Vec::new();
    };
    let Some(method) = names.methods.get(site.method.index()) else {
        return Vec::new();
    };
    let class = &names.class(method.class).name;
    let text = format!("{}{}", method.name, method.descriptor);
    let mut parts = Vec::new();
    for (number, one) in open.iter().enumerate() {
        if one.class == *class && one.method == text {
            let part = one.lines.iter().position(|line| *line == site.line);
            parts.extend(part.map(|part| (number, part)));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_thread_acts_between_the_test_and_the_act_of_the_first() {
        let event = |index| EventRef {
            index,
            thread: ravel_trace::ThreadId(3),
            position: index as u32,
            location: None,
            lock: None,
        };
        let made = candidate(event(4), event(6));
        let order: Vec<(u64, bool)> = made
            .events
            .iter()
            .map(|event| (event.index, event.thread == STAND_IN))
            .collect();
        assert_eq!(order, [(4, false), (6, true), (6, false)]);
    }
}
