//! Threads in chains: a thread whose parent knew that another one had ended goes on in that one's place.
//!
//! A clock has a time for each thread, so that a million threads, one after the other, would need a million clocks of a million
//! times. But the end of the first thread comes before the start of the second by hard edges that go through no location: the two are ordered
//! as if they were one thread that goes on, whatever is left out. So the pass gives them one number, and nothing that is asked of clocks
//! changes. Reports get the threads' own numbers back.
//!
//! Threads of a trace with fewer than [`OWN`] keep their numbers.
//!
//! **Misses.** A thread that joins an ended one whose place is taken, and did not know of that end, is taken to come after the part of the
//! chain so far: too much order, never too little.

use ravel_trace::ThreadId;
use std::collections::VecDeque;

use crate::order::Moment;

/// So many threads are never given the place of another one.
pub(super) const OWN: usize = 256;

/// Ended threads that are looked at for one that starts.
const LOOKS: usize = 16;

/// The chain that a thread is part of.
#[derive(Clone, Copy, Debug)]
struct ThreadChain {
    chain: ThreadId,
    /// Its last moment, by chain; none while it runs.
    end: Option<Moment>,
}

/// The chains of a pass.
#[derive(Debug, Default)]
pub(super) struct Chains {
    own: usize,
    places: Vec<Option<ThreadChain>>,
    /// By chain: from which event on it is which thread.
    members: Vec<Vec<(u64, ThreadId)>>,
    /// Chains whose thread has ended.
    free: VecDeque<Moment>,
}

impl Chains {
    /// None yet; the first threads keep their numbers.
    pub fn new(own: usize) -> Self {
        Chains {
            own,
            ..Chains::default()
        }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.places.len()
    }

    /// The chain of a thread, if it has one.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> Option<ThreadId> {
        self.places
            .get(thread.index())
            .copied()
            .flatten()
            .map(|place| place.chain)
    }

    /// A chain for a thread that has none: one that has ended and that `known` says its parent knows of, or a new one; and whether it
    /// was another thread's.
    pub fn place(&mut self, thread: ThreadId, index: u64, known: impl Fn(Moment) -> bool) -> (ThreadId, bool) {
        let may_share = thread.index() >= self.own;
        let looks = self.free.len().min(LOOKS);
        let found = (0..looks).find(|at| may_share && known(self.free[*at]));
        let ended = found.and_then(|at| self.free.remove(at));
        if may_share && ended.is_none() {
            self.free.rotate_left(looks);
        }
        let chain = match ended {
            Some(ended) => ended.thread,
            None if may_share => ThreadId::from(self.members.len().max(self.own)),
            None => thread,
        };
        if self.places.len() <= thread.index() {
            self.places.resize(thread.index() + 1, None);
        }
        self.places[thread.index()] = Some(ThreadChain { chain, end: None });
        if self.members.len() <= chain.index() {
            self.members.resize_with(chain.index() + 1, Vec::new);
        }
        self.members[chain.index()].push((index, thread));
        (chain, ended.is_some())
    }

    /// A thread has ended, and left nothing behind; this was its last moment.
    pub fn end(&mut self, thread: ThreadId, end: Moment) {
        if let Some(Some(place)) = self.places.get_mut(thread.index())
            && place.end.is_none()
        {
            place.end = Some(end);
            self.free.push_back(end);
        }
    }

    /// The last moment of a thread whose place another one has taken.
    pub fn replaced(&self, thread: ThreadId) -> Option<Moment> {
        let place = self.places.get(thread.index()).copied().flatten()?;
        let last = self.members[place.chain.index()].last();
        place.end.filter(|_| last.is_some_and(|(_, member)| *member != thread))
    }

    /// The thread that a chain was at an event.
    pub fn thread(&self, chain: ThreadId, index: u64) -> ThreadId {
        let members = self.members.get(chain.index()).map_or(&[][..], Vec::as_slice);
        let at = members.partition_point(|(begin, _)| *begin <= index);
        members.get(at.saturating_sub(1)).map_or(chain, |(_, thread)| *thread)
    }
}
