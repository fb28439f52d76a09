//! Random numbers and time that are the same in every run, for programs that depend on them, if the user asks for it.
//!
//! Each thread has its own numbers and its own time, known by who started it and in which order, so that neither depends on
//! how threads take turns. A thread's time moves a little with every look at it, so that a loop that waits for time ends, and
//! by as much as the thread asked to sleep or wait for, if it did wait that long. A new thread begins with the time of
//! the one that starts it.

use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustc_hash::{FxHashMap, FxHasher};

/// A seed of a generator that the program makes.
pub const SEED: usize = 0;
/// A number of the generator that all threads share.
pub const SHARED: usize = 1;
/// The seed of a thread's own generator.
pub const LOCAL: usize = 2;
/// The seed of a generator that can be split.
pub const SPLITTABLE: usize = 3;
/// Kinds of random numbers: those above.
const KINDS: usize = 4;

/// How far time moves with every look at it.
const STEP: u64 = 1_000;

/// Numbers and times of all threads.
#[derive(Debug)]
pub struct Chance {
    seed: u64,
    /// Milliseconds since 1970 at which the program begins.
    start: u64,
    threads: Mutex<FxHashMap<u32, Stream>>,
}

/// Those of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    name: u64,
    /// How many numbers of each kind.
    drawn: [u64; KINDS],
    /// Nanoseconds since the program began.
    now: u64,
    /// A wait that may have taken its full time.
    waiting: Option<Wait>,
}

/// A wait with a time limit.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: Instant,
    limit: Duration,
    /// What it moves the clock by, in nanoseconds.
    counts: u64,
}

impl Stream {
    fn look(&mut self, now: Instant) -> u64 {
        if let Some(wait) = self.waiting.take()
            && now.saturating_duration_since(wait.since) >= wait.limit
        {
            self.now = self.now.saturating_add(wait.counts);
        }
        self.now = self.now.saturating_add(STEP);
        self.now
    }
}

/// Which form of the time is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Nanoseconds since some moment.
    Nanos,
    /// Milliseconds since 1970.
    Millis,
    /// Nanoseconds since 1970.
    WallNanos,
}

impl Chance {
    /// From a seed and a start.
    pub fn new(seed: Option<u64>, start: Option<u64>) -> Chance {
        Chance {
            seed: seed.unwrap_or_default(),
            start: start.unwrap_or_default(),
            threads: Mutex::new(FxHashMap::default()),
        }
    }

    fn with<T>(&self, thread: u32, path: impl FnOnce() -> String, act: impl FnOnce(&mut Stream) -> T) -> T {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = threads.entry(thread).or_default();
        if stream.name == 0 {
            let mut hasher = FxHasher::default();
            path().hash(&mut hasher);
            stream.name = hasher.finish() | 1;
        }
        act(stream)
    }

    /// The thread's next number of a kind; `path` tells who started it. Kinds do not disturb each other: which thread makes the
    /// JDK's own generators differs from run to run.
    pub fn draw(&self, thread: u32, kind: usize, path: impl FnOnce() -> String) -> u64 {
        let kind = kind.min(KINDS - 1);
        self.with(thread, path, |stream| {
            stream.drawn[kind] += 1;
            let number = stream.drawn[kind] << 8 | kind as u64;
            Rng::with_seed(Rng::with_seed(self.seed ^ stream.name).u64(..).wrapping_add(number)).u64(..)
        })
    }

    /// The thread looks at its clock.
    pub fn look(&self, thread: u32, form: Form) -> u64 {
        let now = self.with(thread, String::new, |stream| stream.look(Instant::now()));
        match form {
            Form::Nanos => now,
            Form::Millis => self.start.saturating_add(now / 1_000_000),
            Form::WallNanos => self.start.saturating_mul(1_000_000).saturating_add(now),
        }
    }

    /// The thread begins to sleep or to wait with a time limit; `exact` if the program itself gave the limit, and not the JDK what
    /// is left of one.
    pub fn wait(&self, thread: u32, nanos: u64, exact: bool) {
        self.with(thread, String::new, |stream| {
            // One that has gone by and was not looked for counts all the same.
            stream.look(Instant::now());
            stream.waiting = Some(Wait {
                since: Instant::now(),
                limit: Duration::from_nanos(nanos),
                counts: if exact { nanos } else { rounded(nanos) },
            });
        });
    }

    /// The thread has slept or waited so long, by the word of a scheduler.
    pub fn pass(&self, thread: u32, nanos: u64) {
        self.with(thread, String::new, |stream| {
            stream.now = stream.now.saturating_add(nanos);
        });
    }

    /// A thread starts another one.
    pub fn fork(&self, parent: u32, child: u32) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let now = threads.entry(parent).or_default().look(Instant::now());
        threads.entry(child).or_default().now = now;
    }
}

/// What was asked for, if this is what was left of it a moment later.
fn rounded(nanos: u64) -> u64 {
    let unit = match nanos {
        0..1_000_000 => 10_000,
        1_000_000..100_000_000 => 1_000_000,
        100_000_000..1_000_000_000 => 10_000_000,
        _ => 100_000_000,
    };
    nanos.div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(thread: &str) -> impl FnOnce() -> String + '_ {
        || thread.to_string()
    }

    #[test]
    fn numbers_depend_on_seed_and_thread_and_not_on_turns() {
        let draw = |seed, order: &[(u32, &str)]| -> Vec<(u32, u64)> {
            let chance = Chance::new(Some(seed), None);
            let mut drawn: Vec<(u32, u64)> = order
                .iter()
                .map(|(thread, name)| (*thread, chance.draw(*thread, 0, path(name))))
                .collect();
            drawn.sort_by_key(|(thread, _)| *thread);
            drawn
        };
        let (a, b) = ((1, "main/0"), (2, "main/1"));
        assert_eq!(draw(7, &[a, a, b, b]), draw(7, &[b, a, b, a]));
        assert_ne!(draw(7, &[a, a]), draw(8, &[a, a]));
        let drawn = draw(7, &[a, a, b]);
        assert_ne!(drawn[0].1, drawn[1].1);
        assert_ne!(drawn[0].1, drawn[2].1);
    }

    #[test]
    fn time_moves_with_every_look_and_every_wait_that_took_its_time() {
        let mut stream = Stream::default();
        let begin = Instant::now();
        assert_eq!(stream.look(begin), STEP);
        let wait = Wait {
            since: begin,
            limit: Duration::from_millis(1),
            counts: 1_000_000,
        };
        stream.waiting = Some(wait);
        assert_eq!(stream.look(begin + Duration::from_micros(999)), 2 * STEP);
        stream.waiting = Some(wait);
        assert_eq!(stream.look(begin + Duration::from_millis(50)), 1_000_000 + 3 * STEP);
        let chance = Chance::new(None, Some(5_000));
        chance.wait(0, 0, true);
        assert_eq!((rounded(9_930_001), rounded(10_000_000)), (10_000_000, 10_000_000));
        chance.fork(0, 1);
        assert!(chance.look(1, Form::Nanos) > STEP);
        assert_eq!(chance.look(1, Form::Millis), 5_000);
        assert!(chance.look(1, Form::WallNanos) > 5_000_000_000);
    }
}
