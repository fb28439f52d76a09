//! The trace as schedules need it: one compact picture in memory, made in one pass and shared by all findings.
//!
//! It is separate because it is the only place that knows how an event is stored. It is made in `build`; everything else asks
//! here, by event number.
//!
//! Cost: 16 bytes an event kept, 16 more for the indices; `Enter`, `Exit` and unit marks are not kept, unless one is
//! a thread's first use of a class that another thread initialised. [`Limits::events`] bounds the whole.

use ravel_protocol::ThreadName;
use ravel_trace::{ObjectId, Source, SourceError, ThreadId};
use rustc_hash::FxHashMap;

use crate::build::Builder;

/// How much of a trace is taken into memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most events kept; a longer trace is refused. 32 bytes are used for each.
    pub events: usize,
}

impl Default for Limits {
    /// 32 million events, about one gigabyte.
    fn default() -> Self {
        Limits { events: 32_000_000 }
    }
}

/// Why no image was made.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The trace could not be read on.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The trace has more events than the limit.
    #[error(
        "the trace has more than {0} events; schedules are made for shorter ones only (raise the limit or cut the trace)"
    )]
    TooLong(usize),
}

/// The number of a kept event, in global order.
pub(crate) type EventNo = u32;

/// No event.
pub(crate) const NONE: EventNo = u32::MAX;

/// A thread's step: everything it did at one position. Schedules switch between steps only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ThreadStep {
    pub thread: u32,
    pub number: u32,
}

/// What an event is, as far as schedules care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Code {
    Read,
    Write,
    Update,
    Acquire,
    AcquireShared,
    Release,
    ReleaseShared,
    Wait,
    /// Ended by the notification that chose the thread.
    Resume,
    /// Ended by a notification that was expected to choose another thread.
    ResumeOther,
    /// Ended by no notification.
    ResumeUnnotified,
    Notify,
    NotifyAll,
    Send,
    Receive,
    /// Fork, begin, end, join, class initialised, first use of a class: nothing but its place in the order.
    Other,
}

impl Code {
    pub fn is_read(self) -> bool {
        matches!(self, Code::Read | Code::Update)
    }

    pub fn is_write(self) -> bool {
        matches!(self, Code::Write | Code::Update)
    }

    /// Whether a lock is held from here on.
    pub fn takes(self) -> bool {
        matches!(
            self,
            Code::Acquire | Code::AcquireShared | Code::Resume | Code::ResumeOther | Code::ResumeUnnotified
        )
    }

    /// Whether a lock is held up to here.
    pub fn gives_up(self) -> bool {
        matches!(self, Code::Release | Code::ReleaseShared | Code::Wait)
    }

    pub fn is_shared(self) -> bool {
        matches!(self, Code::AcquireShared | Code::ReleaseShared)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub thread: u32,
    pub position: u32,
    /// Location, lock or synchronisation object.
    pub operand: u32,
    /// What was read or written, folded to 32 bits; 0 if unknown.
    pub value: u32,
}

#[derive(Default)]
pub(crate) struct ThreadSteps {
    pub events: Vec<EventNo>,
    /// Where each step begins in `events`.
    pub starts: Vec<u32>,
}

/// A trace in memory.
pub struct Image {
    pub(crate) items: Vec<Item>,
    pub(crate) codes: Vec<Code>,
    /// Reads and updates: the write seen, moved back to the first of a run of writes of the same value (`NONE`: the
    /// value the location had at first). Writes: the first of that run. What takes or gives up a lock: the other end
    /// of the section.
    pub(crate) links: Vec<EventNo>,
    /// The number, in its thread, of the step that an event belongs to.
    pub(crate) numbers: Vec<u32>,
    pub(crate) threads: Vec<ThreadSteps>,
    /// What an event comes after by hard order, besides program order and the write that a read saw.
    pub(crate) after: FxHashMap<EventNo, Vec<EventNo>>,
    /// Value at first, by location, as the first read without a write before showed it.
    pub(crate) initial: Vec<u32>,
    pub(crate) synchronizing: Vec<bool>,
    pub(crate) several_threads: Vec<bool>,
    pub(crate) names: Vec<ThreadName>,
    pub(crate) odd_reads: usize,
    /// Locations of the JDK's modelled objects, by object, and the object of each.
    pub(crate) modelled: FxHashMap<ObjectId, Vec<u32>>,
    pub(crate) modelled_object: FxHashMap<u32, ObjectId>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image")
            .field("events", &self.items.len())
            .field("threads", &self.threads.len())
            .finish()
    }
}

impl Image {
    /// Reads a trace to its end.
    pub fn build(source: &mut dyn Source, limits: Limits) -> Result<Image, ImageError> {
        match Image::beginning(source, limits)? {
            (image, None) => Ok(image),
            (_, Some(_)) => Err(ImageError::TooLong(limits.events)),
        }
    }

    /// Reads a trace as far as the limit allows; how many of its events that were, if it has more. What a schedule takes lies
    /// before the bug, so the beginning of a long trace will do for what happens there.
    pub fn beginning(source: &mut dyn Source, limits: Limits) -> Result<(Image, Option<u64>), ImageError> {
        let mut builder = Builder::default();
        let mut read = 0;
        while let Some(event) = source.next_event()? {
            if builder.len() >= limits.events {
                return Ok((builder.finish(source.names()), Some(read)));
            }
            builder.event(&event, source.names());
            read += 1;
        }
        Ok((builder.finish(source.names()), None))
    }

    /// How many events were kept.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing was kept.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Names and paths of the threads, indexed by [`ThreadId`].
    pub fn thread_names(&self) -> &[ThreadName] {
        &self.names
    }

    /// All locations of the modelled object that a location belongs to; none if it is an ordinary one.
    pub(crate) fn same_modelled_object(&self, location: u32) -> impl Iterator<Item = u32> + '_ {
        let object = self.modelled_object.get(&location);
        object.and_then(|o| self.modelled.get(o)).into_iter().flatten().copied()
    }

    /// Reads whose recorded value is not what the last recorded write left.
    pub(crate) fn odd_reads(&self) -> usize {
        self.odd_reads
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// How many steps a thread has.
    pub(crate) fn steps(&self, thread: u32) -> u32 {
        self.threads.get(thread as usize).map_or(0, |t| t.starts.len() as u32)
    }

    /// The events of a step, in program order.
    pub(crate) fn events(&self, step: ThreadStep) -> &[EventNo] {
        let thread = &self.threads[step.thread as usize];
        let number = step.number as usize;
        let start = thread.starts[number] as usize;
        let end = thread
            .starts
            .get(number + 1)
            .map_or(thread.events.len(), |&e| e as usize);
        &thread.events[start..end]
    }

    pub(crate) fn position(&self, step: ThreadStep) -> u32 {
        self.items[self.events(step)[0] as usize].position
    }

    /// Whether a step happens by itself as soon as it can, so that no schedule can name it: a thread's beginning, before
    /// its first point, and the second half of an operation that may have to wait in its middle.
    pub(crate) fn is_by_itself(&self, step: ThreadStep) -> bool {
        let position = self.position(step);
        match step.number.checked_sub(1) {
            Some(number) => self.position(ThreadStep { number, ..step }) == position,
            None => position == 0 && self.events(step).iter().all(|&e| self.code(e) == Code::Other),
        }
    }

    pub(crate) fn step_of(&self, event: EventNo) -> ThreadStep {
        ThreadStep {
            thread: self.items[event as usize].thread,
            number: self.numbers[event as usize],
        }
    }

    /// The first step of a thread at this position or later.
    pub(crate) fn step_at_or_after(&self, thread: ThreadId, position: u32) -> Option<ThreadStep> {
        let steps = self.threads.get(thread.index())?;
        let number = steps
            .starts
            .partition_point(|&s| self.items[steps.events[s as usize] as usize].position < position);
        (number < steps.starts.len()).then_some(ThreadStep {
            thread: thread.0,
            number: number as u32,
        })
    }

    /// Whether a thread comes to a position or a later one.
    pub fn passes(&self, thread: ThreadId, position: u32) -> bool {
        self.step_at_or_after(thread, position).is_some()
    }

    /// The threads that do something before a thread comes to a position.
    pub fn threads_before(&self, thread: ThreadId, position: u32) -> Vec<ThreadId> {
        let Some(step) = self.step_at_or_after(thread, position) else {
            return Vec::new();
        };
        let end = self.events(step)[0];
        let begun = |other: &u32| {
            let first = ThreadStep {
                thread: *other,
                number: 0,
            };
            self.steps(*other) > 0 && self.events(first)[0] <= end
        };
        (0..self.thread_count() as u32).filter(begun).map(ThreadId).collect()
    }

    pub(crate) fn thread(&self, event: EventNo) -> u32 {
        self.items[event as usize].thread
    }

    pub(crate) fn code(&self, event: EventNo) -> Code {
        self.codes[event as usize]
    }

    /// Whether an event reads or writes a location.
    pub(crate) fn is_access(&self, event: EventNo) -> bool {
        self.code(event).is_read() || self.code(event).is_write()
    }

    /// Whether an event takes or gives up a lock, waits on it or notifies.
    pub(crate) fn is_locking(&self, event: EventNo) -> bool {
        let code = self.code(event);
        code.takes() || code.gives_up() || matches!(code, Code::Notify | Code::NotifyAll)
    }

    pub(crate) fn operand(&self, event: EventNo) -> u32 {
        self.items[event as usize].operand
    }

    /// What was read or written; 0 if unknown.
    pub(crate) fn value(&self, event: EventNo) -> u32 {
        self.items[event as usize].value
    }

    pub(crate) fn initial_value(&self, location: u32) -> u32 {
        self.initial[location as usize]
    }

    /// For an event that takes or gives up a lock, the other end of its section; `NONE` if the trace has none.
    pub(crate) fn other_end(&self, event: EventNo) -> EventNo {
        self.links[event as usize]
    }

    /// For a read, the write it saw; `NONE` for the value at first. See [`Image::origin`].
    pub(crate) fn saw(&self, read: EventNo) -> EventNo {
        self.links[read as usize]
    }

    /// The first of the run of writes of one value that a write belongs to; `NONE` for a write of the value that the
    /// location had at first, and for none at all.
    pub(crate) fn origin(&self, write: EventNo) -> EventNo {
        match write {
            NONE => NONE,
            w if self.code(w) == Code::Update => w,
            w => self.links[w as usize],
        }
    }

    /// What an event comes after by hard order, apart from program order and volatile or modelled writes.
    pub(crate) fn comes_after(&self, event: EventNo) -> &[EventNo] {
        self.after.get(&event).map_or(&[], Vec::as_slice)
    }

    /// The write that a volatile or modelled read comes after.
    pub(crate) fn volatile_source(&self, event: EventNo) -> Option<EventNo> {
        if !self.code(event).is_read() || !self.synchronizing[self.operand(event) as usize] {
            return None;
        }
        Some(self.saw(event)).filter(|&w| w != NONE)
    }

    /// Whether accesses to a location can tell threads apart.
    pub(crate) fn is_shared(&self, location: u32) -> bool {
        self.several_threads[location as usize]
    }

    pub(crate) fn locations(&self) -> usize {
        self.initial.len()
    }

    /// The wait that a resume ends: what its thread did just before.
    pub(crate) fn wait_of(&self, resume: EventNo) -> Option<EventNo> {
        let step = self.step_of(resume);
        let number = step.number.checked_sub(1)?;
        let before = *self.events(ThreadStep { number, ..step }).last()?;
        (self.code(before) == Code::Wait && self.operand(before) == self.operand(resume)).then_some(before)
    }
}
