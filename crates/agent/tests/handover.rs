//! The hand-over of buffers in every interleaving that loom can make: a thread that fills, moves and ends its buffer, against the
//! collector that ends the trace. The protocol is the agent's own file, compiled with loom's atomics.

#[path = "../src/handover.rs"]
mod handover;

/// Stands in for the agent's `sync`.
mod sync {
    pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
    pub use loom::thread::yield_now;
}

use handover::{Cut, Hand};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};

/// Records of a buffer.
const SIZE: usize = 2;

/// A buffer. Loom reports two uses of a cell, at least one of them a write, that are not ordered; freeing counts as a write.
struct Buffer([UnsafeCell<u64>; SIZE]);

impl Buffer {
    fn new() -> Arc<Buffer> {
        Arc::new(Buffer([UnsafeCell::new(0), UnsafeCell::new(0)]))
    }

    fn free(&self) {
        for cell in &self.0 {
            // SAFETY: loom checks that no other thread uses the cell meanwhile.
            cell.with_mut(|value| unsafe { *value = u64::MAX });
        }
    }

    fn read(&self, count: usize) -> Vec<u64> {
        // SAFETY: as above.
        let value = |cell: &UnsafeCell<u64>| cell.with(|value| unsafe { *value });
        self.0[..count].iter().map(value).collect()
    }
}

/// The part of the recorder that concerns one thread; the methods have the names of the recorder's.
struct Model {
    hand: Hand,
    cut: Cut,
    counter: AtomicU64,
    cursor: AtomicUsize,
    /// As the two words of a block: no lock guards it, loom checks each use.
    buffer: UnsafeCell<Option<Arc<Buffer>>>,
    written: Mutex<Vec<u64>>,
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            hand: Hand::new(),
            cut: Cut::new(),
            counter: AtomicU64::new(1),
            cursor: AtomicUsize::new(0),
            buffer: UnsafeCell::new(Some(Buffer::new())),
            written: Mutex::new(Vec::new()),
        })
    }

    fn take_buffer(&self) -> Option<Arc<Buffer>> {
        // SAFETY: loom checks it.
        self.buffer.with_mut(|buffer| unsafe { (*buffer).take() })
    }

    fn give_buffer(&self) {
        let fresh = Some(Buffer::new());
        // SAFETY: loom checks it.
        self.buffer.with_mut(|buffer| unsafe { *buffer = fresh });
        self.cursor.store(0, Ordering::Relaxed);
    }

    fn buffer(&self) -> Option<Arc<Buffer>> {
        // SAFETY: loom checks it.
        self.buffer.with(|buffer| unsafe { (*buffer).clone() })
    }

    /// The writer reads what it gets, and frees it.
    fn send(&self, buffer: &Buffer, cut: bool) {
        let mut records = buffer.read(self.cursor.load(Ordering::Relaxed));
        buffer.free();
        if cut && self.cut.is_near() {
            let at = self.cut.at();
            records.retain(|record| *record < at);
        }
        self.written.lock().expect("no panic").extend(records);
    }

    fn close(&self) {
        self.hand.close(|| {
            if let Some(buffer) = self.take_buffer() {
                self.send(&buffer, true);
            }
        });
    }

    fn flush(&self) {
        if self.cut.is_near() {
            self.close();
        } else {
            self.hand.move_buffer(|| {
                if let Some(full) = self.take_buffer() {
                    self.send(&full, false);
                }
                self.give_buffer();
            });
        }
        if self.buffer().is_none() {
            self.give_buffer();
        }
        self.cursor.store(0, Ordering::Relaxed);
    }

    /// One record with a number of its own.
    fn append_numbered(&self) {
        let number = self.counter.fetch_add(1, Ordering::SeqCst);
        if self.cursor.load(Ordering::Relaxed) == SIZE {
            self.flush();
        }
        let cursor = self.cursor.load(Ordering::Relaxed);
        let buffer = self.buffer().expect("a buffer");
        // SAFETY: loom checks it.
        buffer.0[cursor].with_mut(|value| unsafe { *value = number });
        self.cursor.store(cursor + 1, Ordering::Release);
    }

    fn end_thread(&self) {
        self.close();
        if let Some(buffer) = self.take_buffer() {
            buffer.free();
        }
    }

    /// The collector; gives the place at which the trace ends.
    fn finish(&self) -> u64 {
        self.cut.make(&self.counter);
        let copy = || {
            let at = self.cut.at();
            let count = self.cursor.load(Ordering::Acquire);
            let mut rest = self.buffer().map_or_else(Vec::new, |buffer| buffer.read(count));
            rest.retain(|record| *record < at);
            rest
        };
        let rest = self.hand.collect(|| true, copy);
        self.written.lock().expect("no panic").extend(rest.unwrap_or_default());
        self.cut.at()
    }
}

/// Tries all interleavings with at most this many preemptions.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A thread that records, and then ends or lives on.
fn start(model: &Arc<Model>, records: u64, ends: bool) -> loom::thread::JoinHandle<()> {
    let model = Arc::clone(model);
    loom::thread::spawn(move || {
        (0..records).for_each(|_| model.append_numbered());
        if ends {
            model.end_thread();
        }
    })
}

/// What is written has no hole, and lacks at most the record that had its number and was not yet in the buffer.
fn check(model: &Model, records: u64, at: u64) {
    let written = model.written.lock().expect("no panic").clone();
    let count = written.len() as u64;
    assert!(
        written.iter().copied().eq(1..=count),
        "a hole, or a record twice: {written:?}"
    );
    // Below the end are the thread's numbers and, last, the one that the end itself took.
    let numbered = (at - 2).min(records);
    assert!(
        count <= numbered && count + 1 >= numbered,
        "{written:?} of {numbered}, up to {at}"
    );
}

#[test]
fn the_trace_ends_while_a_thread_flushes_and_ends() {
    explore(3, || {
        let model = Model::new();
        let thread = start(&model, 3, true);
        let at = model.finish();
        thread.join().expect("no panic");
        check(&model, 3, at);
    });
}

#[test]
fn the_trace_ends_and_a_thread_goes_on() {
    explore(2, || {
        let model = Model::new();
        let thread = start(&model, 5, false);
        let at = model.finish();
        check(&model, 5, at);
        thread.join().expect("no panic");
        check(&model, 5, at);
    });
}

#[test]
fn a_recording_that_the_ticker_ends_early_has_one_end() {
    explore(2, || {
        let model = Model::new();
        let thread = start(&model, 3, true);
        let ticker = {
            let model = Arc::clone(&model);
            loom::thread::spawn(move || model.cut.make(&model.counter))
        };
        let at = model.finish();
        thread.join().expect("no panic");
        ticker.join().expect("no panic");
        assert_eq!(model.cut.at(), at);
        check(&model, 3, at);
    });
}
