//! How fast traces are written and read, and how many bytes an event takes: `cargo run --release -p ravel-trace
//! --example throughput [TRACE…]`.
//!
//! Without arguments the records imitate what a recorder sees of four kinds of program on four threads; with arguments, those
//! traces are read. One core, best of three, in time on the core.

use std::time::{Duration, Instant};

use fastrand::Rng;
use ravel_trace::names::{Field, Site, SiteKind, flags};
use ravel_trace::raw::{RawKind, RawRecord};
use ravel_trace::{
    ClassId, Definition, FieldId, Footer, Header, MethodId, ReadOptions, Reader, SiteId, Source, ThreadId, Writer,
};

const THREADS: u32 = 4;
const EVENTS: usize = 10_000_000;
const BUFFER: usize = 8192;

struct Recorder {
    counter: u64,
    threads: Vec<(Vec<RawRecord>, u32, u64)>,
    chunks: Vec<(ThreadId, Vec<RawRecord>)>,
    events: usize,
}

impl Recorder {
    fn new() -> Self {
        let threads = (0..THREADS).map(|_| (Vec::with_capacity(BUFFER), 0, 0)).collect();
        Recorder {
            counter: 0,
            threads,
            chunks: Vec::new(),
            events: 0,
        }
    }

    fn push(&mut self, thread: u32, kind: RawKind, site: u32, a: u64, b: u64) {
        let (records, position, _) = &mut self.threads[thread as usize];
        *position += 1;
        records.push(RawRecord::new(kind, site, *position, a, b));
        if records.len() >= BUFFER {
            let full = std::mem::replace(records, Vec::with_capacity(BUFFER));
            self.chunks.push((ThreadId(thread), full));
        }
    }

    fn plain(&mut self, thread: u32, kind: RawKind, site: u32, a: u64, b: u64) {
        if self.threads[thread as usize].2 != self.counter {
            self.threads[thread as usize].2 = self.counter;
            self.push(thread, RawKind::Mark, 0, self.counter, 0);
        }
        self.push(thread, kind, site, a, b);
        self.events += 1;
    }

    fn sync(&mut self, thread: u32, kind: RawKind, site: u32, a: u64) {
        let number = self.counter;
        self.counter += 1;
        self.push(thread, kind, site, a, number);
        self.events += 1;
    }

    fn finish(mut self) -> (Vec<(ThreadId, Vec<RawRecord>)>, usize) {
        for (thread, (records, ..)) in self.threads.iter_mut().enumerate() {
            self.chunks.push((ThreadId::from(thread), std::mem::take(records)));
        }
        (self.chunks, self.events)
    }
}

const INT_FIELD: u32 = 1;
const REF_FIELD: u32 = 20;
const STATIC_FIELD: u32 = 40;
const DOUBLES: u32 = 50;
const INTS: u32 = 60;
const LOCK: u32 = 70;

fn definitions() -> Vec<Definition> {
    let field = |id: u32, descriptor: &str, flags: u16| {
        let (name, descriptor) = (format!("f{id}"), descriptor.to_string());
        Definition::Field(
            FieldId(id),
            Field {
                class: ClassId(0),
                name,
                descriptor,
                flags,
                annotations: vec![],
            },
        )
    };
    let site = |id: u32, what| {
        Definition::Site(
            SiteId(id),
            Site {
                method: MethodId(0),
                bci: id,
                line: id,
                what,
            },
        )
    };
    let mut all = Vec::new();
    for id in 0..50 {
        let (descriptor, bits) = match id {
            0..20 => ("I", 0),
            20..40 => ("Ljava/lang/Object;", 0),
            _ => ("I", flags::STATIC),
        };
        all.push(field(id, descriptor, bits));
        all.push(site(id, SiteKind::Field(FieldId(id))));
    }
    for id in 50..60 {
        all.push(site(id, SiteKind::Element("[D".into())));
    }
    for id in 60..70 {
        all.push(site(id, SiteKind::Element("[I".into())));
    }
    all
}

/// A relaxation over a grid: neighbours read, one written, a barrier per sweep.
fn grid() -> Recorder {
    let mut recorder = Recorder::new();
    let mut random = Rng::with_seed(1);
    while recorder.events < EVENTS {
        for row in 1..400u64 {
            let thread = (row % u64::from(THREADS)) as u32;
            for column in 1..400u64 {
                let value = 1.0 / (random.u64(..1000) + 1) as f64;
                for (site, near) in [(0, row << 32 | (column - 1)), (1, row << 32 | (column + 1))] {
                    recorder.plain(thread, RawKind::ReadElement, DOUBLES + site, near, value.to_bits());
                }
                recorder.plain(
                    thread,
                    RawKind::WriteElement,
                    DOUBLES + 2,
                    row << 32 | column,
                    value.to_bits(),
                );
            }
        }
        for thread in 0..THREADS {
            recorder.sync(thread, RawKind::Send, LOCK, 1);
            recorder.sync(thread, RawKind::Receive, LOCK, 1);
        }
    }
    recorder
}

/// Transfers between locked accounts: every event close to synchronisation.
fn bank() -> Recorder {
    let mut recorder = Recorder::new();
    let mut random = Rng::with_seed(2);
    while recorder.events < EVENTS {
        let thread = random.u32(..THREADS);
        let (from, to) = (random.u64(..1000), random.u64(..1000));
        for (object, sign) in [(from, -1i64), (to, 1)] {
            recorder.sync(thread, RawKind::Acquire, LOCK, object);
            let balance = 1000 + random.u64(..100) as i64;
            recorder.plain(thread, RawKind::Read, INT_FIELD, object, balance as u64);
            recorder.plain(
                thread,
                RawKind::Write,
                INT_FIELD + 1,
                object,
                (balance + sign * 10) as u64,
            );
            recorder.plain(thread, RawKind::Read, INT_FIELD + 2, object, recorder.counter & 0xffff);
            recorder.plain(thread, RawKind::Read, REF_FIELD, object, object * 77 + 1);
            recorder.sync(thread, RawKind::Release, LOCK, object);
        }
    }
    recorder
}

/// Look-ups in a shared tree: references followed through many objects.
fn tree() -> Recorder {
    let mut recorder = Recorder::new();
    let mut random = Rng::with_seed(3);
    while recorder.events < EVENTS {
        let thread = random.u32(..THREADS);
        recorder.sync(thread, RawKind::Acquire, LOCK, 0);
        recorder.plain(thread, RawKind::Enter, LOCK + 1, 5, 0);
        let key = random.u64(..1 << 16);
        let mut node = 1;
        while node < 1 << 16 {
            recorder.plain(thread, RawKind::Read, INT_FIELD, node, node * 7 % 65536);
            let child = node * 2 + (key >> (16 - node.ilog2()).min(15) & 1);
            recorder.plain(thread, RawKind::Read, REF_FIELD, node, child * 0x9e37);
            node = child;
        }
        recorder.plain(thread, RawKind::Write, STATIC_FIELD, 0, key);
        recorder.plain(thread, RawKind::Exit, LOCK + 2, 5, 0);
        recorder.sync(thread, RawKind::Release, LOCK, 0);
    }
    recorder
}

/// Quicksort of random numbers in one shared array.
fn sort() -> Recorder {
    let mut recorder = Recorder::new();
    let mut random = Rng::with_seed(4);
    while recorder.events < EVENTS {
        let thread = random.u32(..THREADS);
        let start = random.u64(..1 << 20);
        let (mut low, mut high) = (start, start + 500);
        while low < high {
            recorder.plain(
                thread,
                RawKind::ReadElement,
                INTS,
                3 << 32 | low,
                i64::from(random.i32(..)) as u64,
            );
            recorder.plain(
                thread,
                RawKind::ReadElement,
                INTS + 1,
                3 << 32 | high,
                i64::from(random.i32(..)) as u64,
            );
            if random.bool() {
                let value = i64::from(random.i32(..)) as u64;
                recorder.plain(thread, RawKind::WriteElement, INTS + 2, 3 << 32 | low, value);
                recorder.plain(thread, RawKind::WriteElement, INTS + 3, 3 << 32 | high, value);
            }
            low += 1;
            high -= 1;
        }
        recorder.sync(thread, RawKind::Acquire, LOCK, 0);
        recorder.sync(thread, RawKind::Release, LOCK, 0);
    }
    recorder
}

/// Time this thread has had a core, where the system tells it; else the clock on the wall.
fn cpu_time(start: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|field| field.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Reads to the end; gives the number of events.
fn read_all(mut reader: Reader) -> usize {
    let mut count = 0;
    let mut check = 0u64;
    while let Some(event) = reader.next_event().expect("a sound trace") {
        count += 1;
        check = check.wrapping_add(event.op.location().map_or(0, |location| location.0.into()));
    }
    std::hint::black_box(check);
    count
}

/// One line for a recorded trace: what reading it costs.
fn read_file(path: &str) {
    let begin = Instant::now();
    let (mut best, mut events) = (f64::MAX, 0);
    for _ in 0..3 {
        let start = cpu_time(begin);
        events = read_all(Reader::open(path, ReadOptions::default()).expect("a trace"));
        best = best.min((cpu_time(begin) - start).as_secs_f64());
    }
    let size = std::fs::metadata(path).expect("the file just read").len();
    println!(
        "{path} {events} events, {:.2} bytes each, read at {:.1} M/s",
        size as f64 / events as f64,
        events as f64 / best / 1e6
    );
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if !files.is_empty() {
        files.iter().for_each(|file| read_file(file));
        return;
    }
    let begin = Instant::now();
    println!(
        "{:8} {:>10} {:>12} {:>14} {:>14}",
        "program", "events", "bytes/event", "write M/s", "read M/s"
    );
    for (name, make) in [
        ("grid", grid as fn() -> Recorder),
        ("bank", bank),
        ("tree", tree),
        ("sort", sort),
    ] {
        let (chunks, events) = make().finish();
        let (mut write_best, mut read_best, mut size) = (f64::MAX, f64::MAX, 0);
        for _ in 0..3 {
            let start = cpu_time(begin);
            let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
            for definition in definitions() {
                writer.define(&definition).expect("memory");
            }
            for (thread, records) in &chunks {
                writer.buffer(*thread, records).expect("memory");
            }
            let bytes = writer.finish(&Footer::default()).expect("memory");
            write_best = write_best.min((cpu_time(begin) - start).as_secs_f64());
            size = bytes.len();

            let start = cpu_time(begin);
            let count = read_all(Reader::from_bytes(bytes, name, ReadOptions::default()).expect("a trace"));
            read_best = read_best.min((cpu_time(begin) - start).as_secs_f64());
            assert_eq!(count, events);
        }
        let millions = events as f64 / 1e6;
        println!(
            "{name:8} {events:>10} {:>12.2} {:>14.1} {:>14.1}",
            size as f64 / events as f64,
            millions / write_best,
            millions / read_best
        );
    }
}
