//! Where the events of findings lie in code, with the calls that lead there: what a goal is made of.
//!
//! A builder sees the one reading of the recorded trace that proof makes.

use ravel_analysis::finding::{Candidate, Finding};
use ravel_trace::names::{Location, Names, Site, SiteKind, flags};
use ravel_trace::{Event, LocationId, LockId, Op, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};

use ravel_protocol::goal::{CodeMethod, CodeSite};

use super::MOST_CANDIDATES;

/// An activation on the stack of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Activation {
    /// The method.
    pub method: CodeMethod,
    /// The instruction that called it; none if unknown.
    pub call: Option<CodeSite>,
    /// The thread's position when it began.
    pub entered: u32,
}

/// A lock that a thread holds at an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldLock {
    /// The lock.
    pub lock: LockId,
    /// The thread's position when it was taken.
    pub taken: u32,
    /// The instruction that took it; none for the monitor of a synchronized method.
    pub site: Option<CodeSite>,
}

/// An event of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventPlace {
    /// The thread's position.
    pub position: u32,
    /// The instruction; none if it is not known which.
    pub site: Option<CodeSite>,
    /// The cell accessed: tells whether two events of a finding concern the same object.
    pub cell: Option<(u64, u32)>,
    /// Outermost first.
    pub stack: Vec<Activation>,
    /// In the order in which they were taken.
    pub locks: Vec<HeldLock>,
    /// The accesses to the same location that the same pass of the same activation made before, oldest first.
    pub earlier: Vec<CodeSite>,
}

/// The places of all events that findings name.
#[derive(Debug, Default)]
pub struct Places(FxHashMap<u64, EventPlace>);

impl Places {
    /// Where an event lies, by its number in the trace.
    pub fn get(&self, index: u64) -> Option<&EventPlace> {
        self.0.get(&index)
    }
}

#[cfg(test)]
impl FromIterator<(u64, EventPlace)> for Places {
    fn from_iter<I: IntoIterator<Item = (u64, EventPlace)>>(all: I) -> Places {
        Places(all.into_iter().collect())
    }
}

/// Sees a trace go by, for the occurrences of findings that goals are made of.
#[derive(Debug)]
pub struct PlacesBuilder {
    wanted: FxHashSet<u64>,
    places: Places,
    /// By thread: the entries of the methods on the stack.
    stacks: FxHashMap<u32, Vec<Event>>,
    /// By thread: the locks held, and where they were taken.
    held: FxHashMap<u32, Vec<(LockId, Event)>>,
    /// The locations of the wanted events.
    locations: FxHashSet<LocationId>,
    /// By thread and wanted location: the accesses of the present pass, and when their activation began.
    passes: FxHashMap<(u32, LocationId), (u32, Vec<SiteId>)>,
    index: u64,
}

impl PlacesBuilder {
    /// Before the first event.
    pub fn of(findings: &[Finding]) -> PlacesBuilder {
        let of = |candidate: &Candidate| {
            let events = candidate.events.iter().map(|event| event.index);
            let units = candidate.units.iter().map(|unit| unit.begin.index);
            events.chain(units).collect::<Vec<u64>>()
        };
        PlacesBuilder {
            wanted: findings
                .iter()
                .flat_map(|finding| finding.candidates.iter().take(MOST_CANDIDATES).flat_map(of))
                .collect(),
            places: Places::default(),
            stacks: FxHashMap::default(),
            held: FxHashMap::default(),
            locations: findings
                .iter()
                .flat_map(|finding| finding.candidates.iter().take(MOST_CANDIDATES))
                .flat_map(|candidate| candidate.events.iter().filter_map(|event| event.location))
                .collect(),
            passes: FxHashMap::default(),
            index: 0,
        }
    }

    /// The next event.
    pub fn event(&mut self, event: &Event, names: &Names) {
        let stack = self.stacks.entry(event.thread.0).or_default();
        let locks = self.held.entry(event.thread.0).or_default();
        match event.op {
            Op::Enter { .. } => stack.push(*event),
            Op::Exit { .. } => drop(stack.pop()),
            Op::Release { lock, .. } | Op::Wait { lock } => {
                if let Some(last) = locks.iter().rposition(|(held, _)| *held == lock) {
                    locks.remove(last);
                }
            }
            _ => {}
        }
        let location = event.op.location().filter(|location| self.locations.contains(location));
        let pass = location.map(|location| {
            let activation = stack.last().map_or(0, |entry| entry.position);
            let pass = self.passes.entry((event.thread.0, location)).or_default();
            // The same instruction again: a new pass of a loop.
            if pass.0 != activation || pass.1.contains(&event.site) {
                *pass = (activation, Vec::new());
            }
            pass
        });
        if self.wanted.contains(&self.index) {
            let mut place = place(event, stack, locks, names);
            let earlier = pass.iter().flat_map(|pass| &pass.1);
            place.earlier = earlier.filter_map(|site| instruction(names, *site)).collect();
            self.places.0.insert(self.index, place);
        }
        if let Some(pass) = pass {
            pass.1.push(event.site);
        }
        if let Op::Acquire { lock, .. } | Op::Resume { lock, .. } = event.op {
            locks.push((lock, *event));
        }
        self.index += 1;
    }

    /// After the last one.
    pub fn finish(self) -> Places {
        self.places
    }
}

fn place(event: &Event, stack: &[Event], locks: &[(LockId, Event)], names: &Names) -> EventPlace {
    let activation = |entry: &Event| {
        let Op::Enter { method } = entry.op else { return None };
        Some(Activation {
            method: code_method(names, method.index())?,
            call: instruction(names, entry.site),
            entered: entry.position,
        })
    };
    let held = |(lock, event): &(LockId, Event)| HeldLock {
        lock: *lock,
        taken: event.position,
        site: instruction(names, event.site),
    };
    let stack: Vec<Activation> = stack.iter().filter_map(activation).collect();
    // A synchronized method has its monitor before its first instruction runs: the call stands for the acquisition.
    let site = match event.op {
        Op::Acquire { .. } if is_method_entry(names, event.site) => stack.last().and_then(|last| last.call.clone()),
        _ => instruction(names, event.site),
    };
    let cell = event
        .op
        .location()
        .map(|location| match names.locations[location.index()] {
            Location::Field(object, _) => (object.0, u32::MAX),
            Location::Entry(object, _, key) => (object.0, key),
            Location::Element(object, index) => (object.0, index),
            Location::Static(_) | Location::Named(_) => (u64::MAX, u32::MAX),
        });
    EventPlace {
        position: event.position,
        site,
        cell,
        stack,
        locks: locks.iter().map(held).collect(),
        earlier: Vec::new(),
    }
}

fn code_method(names: &Names, method: usize) -> Option<CodeMethod> {
    let method = names.methods.get(method)?;
    let class = names.classes.get(method.class.index())?;
    Some(CodeMethod {
        class: class.name.replace('.', "/"),
        name: method.name.clone(),
        descriptor: method.descriptor.clone(),
    })
}

/// Whether a site stands for the entry of a synchronized method.
fn is_method_entry(names: &Names, site: SiteId) -> bool {
    let synchronized = |site: &Site| {
        let method = names.methods.get(site.method.index());
        method.is_some_and(|method| method.flags & flags::SYNCHRONIZED != 0)
    };
    names
        .sites
        .get(site.index())
        .is_some_and(|site| site.bci == 0 && site.what == SiteKind::Lock && synchronized(site))
}

/// The instruction of a site; none if the site is unknown or is a method's entry.
fn instruction(names: &Names, site: SiteId) -> Option<CodeSite> {
    if site.0 == 0 || is_method_entry(names, site) {
        return None;
    }
    let site = names.sites.get(site.index())?;
    let member = match &site.what {
        SiteKind::Field(field) => names.fields.get(field.index())?.name.clone(),
        SiteKind::Call(callee) => callee.rsplit('.').next().unwrap_or_default().to_string(),
        SiteKind::Method => return None,
        SiteKind::Unknown | SiteKind::Element(_) | SiteKind::Lock => String::new(),
    };
    Some(CodeSite {
        method: code_method(names, site.method.index())?,
        bci: site.bci,
        member,
        line: site.line,
    })
}
