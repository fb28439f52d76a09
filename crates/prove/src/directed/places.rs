//! Where the events of findings lie in code, with the calls that lead there: what a goal is made of.
//!
//! A builder sees the one reading of the recorded trace that proof makes.

use ravel_analysis::finding::{Candidate, EventRef, Finding};
use ravel_trace::names::{Location, Names, Site, SiteKind, flags};
use ravel_trace::{Event, LocationId, LockId, Op, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use ravel_protocol::goal::{CodeMethod, CodeSite};

use super::MOST_CANDIDATES;
use super::published::PublishedReads;
use super::ready::Ready;
use super::signals::SignalPairs;
use super::suspected::SuspectedPairs;
use super::tested::TestedPairs;

/// The thread of an occurrence that stands for any other thread in the same code: the recorded run need not have had two.
pub const STAND_IN: ThreadId = ThreadId(u32::MAX);

/// The occurrences of a finding that goals are made of: two on the fewest locations whose first thread has its steps close together, since those
/// happen most easily and are the least to keep apart, then others in their own order.
pub fn chosen(finding: &Finding) -> Vec<&Candidate> {
    let spread = |candidate: &Candidate| {
        let first = candidate.events.first().map(|event| event.thread);
        let own = candidate.events.iter().filter(|event| Some(event.thread) == first);
        let positions = own.map(|event| event.position);
        let locations: FxHashSet<_> = candidate.events.iter().map(|event| event.location).collect();
        let spread = positions.clone().max().unwrap_or(0) - positions.min().unwrap_or(0);
        (locations.len(), spread)
    };
    let mut all: Vec<&Candidate> = finding.candidates.iter().collect();
    all.sort_by_key(|candidate| spread(candidate));
    all.truncate(MOST_CANDIDATES / 2);
    for candidate in &finding.candidates {
        if all.len() < MOST_CANDIDATES && !all.contains(&candidate) {
            all.push(candidate);
        }
    }
    all
}

/// How many events lie between the first and the last one of the closest occurrence: threads that came close to each other once do so again.
pub fn distance(finding: &Finding) -> u64 {
    let of = |candidate: &Candidate| {
        let indices = candidate.events.iter().map(|event| event.index);
        indices.clone().max().unwrap_or(0) - indices.min().unwrap_or(0)
    };
    finding.candidates.iter().map(of).min().unwrap_or(u64::MAX)
}

/// Where the JDK's classes for sockets begin.
const SOCKETS: [&str; 4] = [
    "java.net.Socket",
    "java.net.ServerSocket",
    "java.nio.channels.S",
    "java.net.DatagramSocket",
];

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
pub struct Places {
    events: FxHashMap<u64, EventPlace>,
    /// By write: the read of the same location that the same pass of the same activation made before, if that read is what the write may rest on.
    reads: FxHashMap<u64, EventRef>,
    /// By id of a suspicion: an occurrence in which another thread runs the same code.
    suspected: FxHashMap<String, Candidate>,
    /// What no finding of an analysis is.
    ready: Vec<Ready>,
    /// How the names of the program's own classes begin.
    own: Option<String>,
    sockets: bool,
}

impl Places {
    /// Where an event lies, by its number in the trace.
    pub fn get(&self, index: u64) -> Option<&EventPlace> {
        self.events.get(&index)
    }

    /// Whether the program calls classes for sockets: other ends of them decide what comes when.
    pub fn uses_sockets(&self) -> bool {
        self.sockets
    }

    /// Whether a finding has a step in the program's own code, not only in libraries that it uses.
    pub fn is_own(&self, finding: &Finding) -> bool {
        let own = self.own.as_deref();
        own.is_some_and(|own| finding.steps.iter().any(|step| step.class.starts_with(own)))
    }

    /// The occurrence of a suspicion.
    pub fn suspected(&self, id: &str) -> Option<&Candidate> {
        self.suspected.get(id)
    }

    /// What is tried although no analysis has found it.
    pub fn unfounded(&self) -> impl Iterator<Item = &Finding> {
        self.ready.iter().map(|ready| &ready.finding)
    }

    /// The goals that an occurrence stands for; none if they are made of its events.
    pub fn ready(&self, candidate: &Candidate) -> Option<&Ready> {
        let mut all = self.ready.iter();
        all.find(|ready| ready.finding.candidates.contains(candidate))
    }

    /// The lost update that a race would be part of: a thread reads, another one reads and writes, the first one writes. The other one runs
    /// the other code of the race if that reads and writes too, else the same code. None if no thread of the race writes what it may
    /// have made of what it read.
    pub fn update(&self, race: &Candidate) -> Option<Candidate> {
        let pair = |write: &EventRef| Some((*self.reads.get(&write.index)?, *write));
        let mut updates = race.events.iter().filter_map(pair);
        let (read, write) = updates.next()?;
        let (other_read, other_write) = updates.next().unwrap_or((read, write));
        let by = |event: EventRef, thread: ThreadId| EventRef { thread, ..event };
        Some(Candidate {
            events: vec![read, by(other_read, STAND_IN), by(other_write, STAND_IN), write],
            owners: vec![None; 4],
            ..Candidate::default()
        })
    }
}

#[cfg(test)]
impl FromIterator<(u64, EventPlace)> for Places {
    fn from_iter<I: IntoIterator<Item = (u64, EventPlace)>>(all: I) -> Places {
        Places {
            events: all.into_iter().collect(),
            ..Places::default()
        }
    }
}

#[cfg(test)]
impl Places {
    /// With goals that are made already.
    pub fn with_ready(mut self, ready: Ready) -> Places {
        self.ready.push(ready);
        self
    }

    /// With a read that a write may rest on.
    pub fn with_read(mut self, write: u64, read: EventRef) -> Places {
        self.reads.insert(write, read);
        self
    }
}

/// Accesses of one pass of an activation: when the activation began, and each with its site and whether it only reads.
type Pass = (u32, Vec<(SiteId, EventRef, bool)>);

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
    passes: FxHashMap<(u32, LocationId), Pass>,
    suspected: SuspectedPairs,
    signals: SignalPairs,
    tested: TestedPairs,
    published: PublishedReads,
    index: u64,
}

impl PlacesBuilder {
    /// Before the first event; `suspicions` are what the scan says of the code.
    pub fn of(findings: &[Finding], suspicions: &[Finding]) -> PlacesBuilder {
        let of = |candidate: &Candidate| {
            let events = candidate.events.iter().map(|event| event.index);
            let units = candidate.units.iter().map(|unit| unit.begin.index);
            events.chain(units).collect::<Vec<u64>>()
        };
        PlacesBuilder {
            wanted: findings
                .iter()
                .flat_map(|finding| chosen(finding).into_iter().flat_map(of))
                .collect(),
            places: Places::default(),
            stacks: FxHashMap::default(),
            held: FxHashMap::default(),
            locations: findings
                .iter()
                .flat_map(chosen)
                .flat_map(|candidate| candidate.events.iter().filter_map(|event| event.location))
                .collect(),
            passes: FxHashMap::default(),
            suspected: SuspectedPairs::of(suspicions),
            signals: SignalPairs::default(),
            tested: TestedPairs::default(),
            published: PublishedReads::of(findings),
            index: 0,
        }
    }

    /// The next event.
    pub fn event(&mut self, event: &Event, names: &Names) {
        let stack = self.stacks.entry(event.thread.0).or_default();
        let locks = self.held.entry(event.thread.0).or_default();
        self.signals.event(event, self.index, stack, locks, names);
        self.tested.event(event, self.index, stack, locks, names);
        self.published.event(event, self.index, names);
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
            if pass.0 != activation || pass.1.iter().any(|(site, ..)| *site == event.site) {
                *pass = (activation, Vec::new());
            }
            pass
        });
        let reference = EventRef {
            index: self.index,
            thread: event.thread,
            position: event.position,
            location: event.op.location(),
            lock: None,
        };
        if self.wanted.contains(&self.index) {
            let mut place = place(event, stack, locks, names);
            let earlier = pass.iter().flat_map(|pass| &pass.1);
            place.earlier = earlier.filter_map(|(site, ..)| instruction(names, *site)).collect();
            let last = pass.as_ref().and_then(|pass| pass.1.last());
            if let Some((site, read, true)) = last.filter(|_| matches!(event.op, Op::Write { .. })) {
                self.places.reads.insert(self.index, *read);
                let of_read = EventPlace {
                    position: read.position,
                    site: instruction(names, *site),
                    earlier: Vec::new(),
                    ..place.clone()
                };
                self.places.events.entry(read.index).or_insert(of_read);
            }
            self.places.events.insert(self.index, place);
        }
        if let Some(pass) = pass {
            pass.1
                .push((event.site, reference, matches!(event.op, Op::Read { .. })));
        }
        let activation = stack.last().map_or(0, |entry| entry.position);
        if let Some(pair) = self.suspected.event(event, reference, activation, names) {
            let act = place(event, stack, locks, names);
            let test = EventPlace {
                position: pair.test.position,
                site: instruction(names, pair.site),
                ..act.clone()
            };
            let act = EventPlace {
                earlier: test.site.clone().into_iter().collect(),
                ..act
            };
            self.places.suspected.insert(pair.id, pair.candidate);
            self.places.events.entry(pair.test.index).or_insert(test);
            self.places.events.entry(self.index).or_insert(act);
        }
        if let Op::Acquire { lock, .. } | Op::Resume { lock, .. } = event.op {
            locks.push((lock, *event));
        }
        self.index += 1;
    }

    /// After the last one.
    pub fn finish(self, names: &Names) -> Places {
        let of_sockets = |site: &Site| match &site.what {
            SiteKind::Call(callee) => SOCKETS.iter().any(|package| callee.starts_with(package)),
            _ => false,
        };
        Places {
            sockets: names.sites.iter().any(of_sockets),
            own: self.tested.own_package(),
            ready: [
                self.signals.finish(names),
                self.tested.finish(names),
                self.published.finish(names),
            ]
            .concat(),
            ..self.places
        }
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

pub(super) fn code_method(names: &Names, method: usize) -> Option<CodeMethod> {
    let method = names.methods.get(method)?;
    let class = names.classes.get(method.class.index())?;
    Some(CodeMethod {
        class: class.name.replace('.', "/"),
        name: method.name.clone(),
        descriptor: method.descriptor.clone(),
    })
}

/// Whether a site stands for the entry of a synchronized method.
pub(super) fn is_method_entry(names: &Names, site: SiteId) -> bool {
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
pub(super) fn instruction(names: &Names, site: SiteId) -> Option<CodeSite> {
    if site.0 == 0 || is_method_entry(names, site) {
        return None;
    }
    let site = names.sites.get(site.index())?;
    let member = match &site.what {
        SiteKind::Field(field) | SiteKind::Fenced(field) => names.fields.get(field.index())?.name.clone(),
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
