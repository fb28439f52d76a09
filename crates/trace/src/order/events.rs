//! The edges as pairs of events, for consumers that name the events they come after.

use rustc_hash::FxHashMap;

use super::{Channel, EdgeRule, Edges};
use crate::event::Event;
use crate::ids::ThreadId;
use crate::names::Names;

/// The sending end of an edge.
#[derive(Clone, Copy, Debug)]
struct Sent<M> {
    thread: ThreadId,
    /// How many were sent before, into any channel.
    number: u64,
    mark: M,
}

/// For each event, the marks of the events of other threads that it comes after. The consumer chooses the marks: an event's number, or
/// what it knows of the event.
///
/// A channel in which everything sent counts keeps the last of each thread, and reports it to a thread once.
#[derive(Clone, Debug)]
pub struct EventEdges<M> {
    edges: Edges,
    wanted: fn(EdgeRule) -> bool,
    /// In the order of sending.
    sent: FxHashMap<Channel, Vec<Sent<M>>>,
    last: Vec<Option<M>>,
    /// How many had been sent when a thread last came after a channel in which everything counts.
    heard: FxHashMap<(ThreadId, Channel), u64>,
    count: u64,
}

impl<M: Copy> EventEdges<M> {
    /// Reports edges by the rules that are wanted.
    pub fn new(wanted: fn(EdgeRule) -> bool) -> Self {
        EventEdges {
            edges: Edges::default(),
            wanted,
            sent: FxHashMap::default(),
            last: Vec::new(),
            heard: FxHashMap::default(),
            count: 0,
        }
    }

    /// The events that this event comes after, with the rules. An event is asked about once, in the order of the trace.
    pub fn comes_after(&mut self, event: &Event, names: &Names) -> Vec<(EdgeRule, M)> {
        let thread = event.thread;
        let mut found = Vec::new();
        let (sent, last, heard) = (&self.sent, &self.last, &mut self.heard);
        let (wanted, count) = (self.wanted, self.count);
        self.edges.comes_after(event, names, |rule, channel| {
            if !wanted(rule) {
                return;
            }
            if let Channel::Thread(child) = channel {
                found.extend(last.get(child.index()).copied().flatten().map(|mark| (rule, mark)));
                return;
            }
            let sent = sent.get(&channel).map_or(&[][..], Vec::as_slice);
            let Some((latest, earlier)) = sent.split_last() else {
                return;
            };
            let is_other = |sent: &&Sent<M>| sent.thread != thread;
            let all = matches!(rule, EdgeRule::Send | EdgeRule::EarlierVolatile | EdgeRule::Lock);
            if !all {
                found.extend(Some(latest).filter(is_other).map(|sent| (rule, sent.mark)));
                return;
            }
            let since = heard.insert((thread, channel), count).unwrap_or(0);
            let latest = (rule != EdgeRule::EarlierVolatile).then_some(latest);
            let new = earlier.iter().chain(latest).filter(|sent| sent.number >= since);
            found.extend(new.filter(is_other).map(|sent| (rule, sent.mark)));
        });
        for notification in self.edges.forgotten() {
            self.sent.remove(&Channel::Notify(notification));
        }
        found
    }

    /// The event has happened, and this is its mark.
    pub fn happened(&mut self, event: &Event, names: &Names, mark: M) {
        let thread = event.thread;
        if self.last.len() <= thread.index() {
            self.last.resize(thread.index() + 1, None);
        }
        self.last[thread.index()] = Some(mark);
        let (all, one) = ((self.wanted)(EdgeRule::EarlierVolatile), &mut self.sent);
        let count = &mut self.count;
        self.edges.sends(event, names, |channel| {
            if let Channel::Exclusive(lock) = channel {
                one.remove(&Channel::Shared(lock));
            }
            let sent = one.entry(channel).or_default();
            match channel {
                Channel::Send(_) | Channel::Shared(_) => sent.retain(|sent| sent.thread != thread),
                Channel::Location(_) if all => sent.retain(|sent| sent.thread != thread),
                _ => sent.clear(),
            }
            sent.push(Sent {
                thread,
                number: *count,
                mark,
            });
            *count += 1;
        });
    }
}
