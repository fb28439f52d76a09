//! What a recorder writes is what a reader gives, in an order that agrees with the recorder's counter.

use proptest::prelude::*;
use ravel_trace::names::{Class, Field, Location, Method, Site, SiteKind, Thread, flags};
use ravel_trace::raw::{RawKind, RawRecord, TABLE_OBJECT};
use ravel_trace::{
    ClassId, Definition, Event, FieldId, Footer, Header, MethodId, Mode, Op, ReadOptions, Reader, SiteId, Source,
    ThreadId, Value, Writer,
};

const INSTANCE: u32 = 1;
const STATIC: u32 = 2;
const REFERENCE: u32 = 3;
const ELEMENT: u32 = 4;
const LOCK: u32 = 5;
const VOLATILE: u32 = 6;
const DOUBLE: u32 = 7;

fn field(name: &str, descriptor: &str, flags: u16) -> Field {
    Field {
        class: ClassId(0),
        name: name.into(),
        descriptor: descriptor.into(),
        flags,
        annotations: vec![],
    }
}

fn definitions() -> Vec<Definition> {
    let site = |id: u32, what: SiteKind| {
        Definition::Site(
            SiteId(id),
            Site {
                method: MethodId(0),
                bci: id,
                line: 10 * id,
                what,
            },
        )
    };
    vec![
        Definition::Class(
            ClassId(0),
            Class {
                name: "shop.Stock".into(),
                ..Class::default()
            },
        ),
        Definition::Method(
            MethodId(0),
            Method {
                name: "take".into(),
                ..Method::default()
            },
        ),
        Definition::Field(FieldId(0), field("items", "J", 0)),
        Definition::Field(FieldId(1), field("total", "I", flags::STATIC)),
        Definition::Field(FieldId(2), field("next", "Lshop/Stock;", 0)),
        Definition::Field(FieldId(3), field("open", "Z", flags::VOLATILE)),
        Definition::Field(FieldId(4), field("price", "D", 0)),
        site(INSTANCE, SiteKind::Field(FieldId(0))),
        site(STATIC, SiteKind::Field(FieldId(1))),
        site(REFERENCE, SiteKind::Field(FieldId(2))),
        site(ELEMENT, SiteKind::Element("[I".into())),
        site(LOCK, SiteKind::Lock),
        site(VOLATILE, SiteKind::Field(FieldId(3))),
        site(DOUBLE, SiteKind::Field(FieldId(4))),
    ]
}

/// One step of one thread, before it is recorded.
#[derive(Clone, Debug)]
enum RecordedStep {
    Plain { kind: RawKind, site: u32, a: u64, b: u64 },
    Volatile { write: bool, object: u64, value: u64 },
    Section { lock: u64 },
    Leave,
    Flush,
}

fn step() -> impl Strategy<Value = RecordedStep> {
    let object = prop_oneof![0..4u64, any::<u32>().prop_map(u64::from), Just(TABLE_OBJECT - 1)];
    let value = prop_oneof![0..3u64, any::<u64>(), any::<i32>().prop_map(|v| v as i64 as u64)];
    let access = (
        prop_oneof![Just(RawKind::Read), Just(RawKind::Write), Just(RawKind::Update)],
        object.clone(),
        value,
    );
    prop_oneof![
        6 => (access, prop_oneof![Just(INSTANCE), Just(STATIC), Just(REFERENCE), Just(DOUBLE)])
            .prop_map(|((kind, a, b), site)| RecordedStep::Plain { kind, site, a, b }),
        4 => (any::<bool>(), 0..3u64, any::<u32>(), -3..3i64).prop_map(|(write, array, index, value)| RecordedStep::Plain {
            kind: if write { RawKind::WriteElement } else { RawKind::ReadElement },
            site: ELEMENT,
            a: array << 32 | u64::from(index),
            b: value as u64,
        }),
        2 => (any::<bool>(), 0..2u64, 0..2u64)
            .prop_map(|(write, object, value)| RecordedStep::Volatile { write, object, value }),
        2 => (0..3u64).prop_map(|lock| RecordedStep::Section { lock }),
        2 => Just(RecordedStep::Leave),
        1 => Just(RecordedStep::Flush),
    ]
}

/// An event in the order in which it really happened.
#[derive(Clone, Debug)]
struct Happened {
    thread: u32,
    position: u32,
    site: u32,
    what: What,
    /// Set for what the order must keep: the counter's number.
    sequence: Option<u64>,
    /// For the others: what they saw of the counter.
    seen: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Access {
        write: bool,
        update: bool,
        location: Location,
        value: Value,
    },
    Acquire(u64),
    Release(u64),
}

#[derive(Default)]
struct Recorder {
    records: Vec<RawRecord>,
    position: u32,
    mark: u64,
    locks: Vec<u64>,
}

/// What remains of a value in the file, restated from the format's document.
fn kept(site: u32, bits: u64) -> Value {
    let digest = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u32;
    match site {
        REFERENCE if bits == 0 => Value::Exact(0),
        REFERENCE => Value::Digest(digest.max(1)),
        DOUBLE => Value::Digest(digest),
        _ if (-(1 << 24)..1 << 24).contains(&(bits as i64)) => Value::Exact(bits as i64),
        _ => Value::Digest(digest),
    }
}

fn location(site: u32, a: u64) -> Location {
    let object = ravel_trace::ObjectId(a);
    match site {
        STATIC => Location::Static(FieldId(1)),
        ELEMENT => Location::Element(ravel_trace::ObjectId(TABLE_OBJECT + (a >> 32)), a as u32),
        REFERENCE => Location::Field(object, FieldId(2)),
        VOLATILE => Location::Field(object, FieldId(3)),
        DOUBLE => Location::Field(object, FieldId(4)),
        _ => Location::Field(object, FieldId(0)),
    }
}

/// Plays the steps in their order, as a recorder would see them.
fn record(steps: &[(u32, RecordedStep)]) -> (Vec<u8>, Vec<Happened>) {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
    for definition in definitions() {
        writer.define(&definition).expect("memory");
    }
    let mut threads: Vec<Recorder> = Vec::new();
    let mut counter = 0u64;
    let mut happened = Vec::new();
    for (thread, step) in steps {
        while threads.len() <= *thread as usize {
            let id = threads.len() as u32;
            let name = format!("t{id}");
            writer
                .define(&Definition::Thread(
                    ThreadId(id),
                    Thread {
                        name,
                        ..Thread::default()
                    },
                ))
                .expect("memory");
            threads.push(Recorder::default());
        }
        let own = &mut threads[*thread as usize];
        own.position += 1;
        let position = own.position;
        let mut event = |site, what, sequence, seen| {
            happened.push(Happened {
                thread: *thread,
                position,
                site,
                what,
                sequence,
                seen,
            });
        };
        match *step {
            RecordedStep::Plain { kind, site, a, b } => {
                let now = counter;
                if own.mark != now {
                    own.mark = now;
                    own.records.push(RawRecord::new(RawKind::Mark, 0, position, now, 0));
                }
                own.records.push(RawRecord::new(kind, site, position, a, b));
                let write = matches!(kind, RawKind::Write | RawKind::WriteElement);
                let update = kind == RawKind::Update;
                let what = What::Access {
                    write,
                    update,
                    location: location(site, a),
                    value: kept(site, b),
                };
                event(site, what, None, now);
            }
            RecordedStep::Volatile { write, object, value } => {
                let number = counter;
                counter += 1;
                let kind = if write { RawKind::Write } else { RawKind::Read };
                own.records.push(RawRecord::new(RawKind::Stamp, 0, position, number, 0));
                own.records
                    .push(RawRecord::new(kind, VOLATILE, position, object, value));
                let location = location(VOLATILE, object);
                let what = What::Access {
                    write,
                    update: false,
                    location,
                    value: Value::Exact(value as i64),
                };
                event(VOLATILE, what, Some(number), number);
            }
            RecordedStep::Section { lock } => {
                let number = counter;
                counter += 1;
                own.records
                    .push(RawRecord::new(RawKind::Acquire, LOCK, position, lock, number));
                if !own.locks.contains(&lock) {
                    event(LOCK, What::Acquire(lock), Some(number), number);
                }
                own.locks.push(lock);
            }
            RecordedStep::Leave => {
                if let Some(lock) = own.locks.pop() {
                    let number = counter;
                    counter += 1;
                    own.records
                        .push(RawRecord::new(RawKind::Release, LOCK, position, lock, number));
                    if !own.locks.contains(&lock) {
                        event(LOCK, What::Release(lock), Some(number), number);
                    }
                }
            }
            RecordedStep::Flush => {
                writer.buffer(ThreadId(*thread), &own.records).expect("memory");
                own.records.clear();
            }
        }
    }
    for (thread, own) in threads.iter().enumerate() {
        writer.buffer(ThreadId::from(thread), &own.records).expect("memory");
    }
    (writer.finish(&Footer::default()).expect("memory"), happened)
}

fn read(bytes: &[u8]) -> (Reader, Vec<Event>) {
    let mut reader = Reader::from_bytes(bytes.to_vec(), "memory", ReadOptions::default()).expect("a trace");
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().expect("a sound trace") {
        events.push(event);
    }
    (reader, events)
}

fn what(event: &Event, reader: &Reader) -> What {
    let names = reader.names();
    let access = |write, update, location: ravel_trace::LocationId, value| What::Access {
        write,
        update,
        location: names.locations[location.index()],
        value,
    };
    match event.op {
        Op::Read { location, value } => access(false, false, location, value),
        Op::Write { location, value } => access(true, false, location, value),
        Op::Update { location, value } => access(false, true, location, value),
        Op::Acquire {
            lock,
            mode: Mode::Exclusive,
        } => What::Acquire(names.lock(lock).object.0),
        Op::Release {
            lock,
            mode: Mode::Exclusive,
        } => What::Release(names.lock(lock).object.0),
        other => panic!("{other:?} was never recorded"),
    }
}

fn check(steps: &[(u32, RecordedStep)]) {
    let (bytes, happened) = record(steps);
    let (reader, events) = read(&bytes);
    assert_eq!(events.len(), happened.len());
    assert_eq!(reader.statistics().events, events.len() as u64);
    let threads = happened.iter().map(|event| event.thread + 1).max().unwrap_or(0);
    let mut position_of = vec![0; happened.len()];
    for thread in 0..threads {
        let recorded = happened.iter().enumerate().filter(|(_, event)| event.thread == thread);
        let given = events.iter().enumerate().filter(|(_, event)| event.thread.0 == thread);
        for ((index, recorded), (position, given)) in recorded.zip(given) {
            assert_eq!(recorded.what, what(given, &reader));
            assert_eq!((recorded.position, recorded.site), (given.position, given.site.0));
            position_of[index] = position;
        }
    }
    // A thread that read n from the counter comes after everything numbered below n and before everything from n on.
    for (i, one) in happened.iter().enumerate() {
        for (j, other) in happened.iter().enumerate() {
            let before = match (one.sequence, other.sequence) {
                (Some(one), Some(other)) => one < other,
                (Some(one), None) => one < other.seen,
                (None, Some(other)) => one.seen <= other,
                (None, None) => one.seen < other.seen,
            };
            assert!(
                !before || position_of[i] < position_of[j],
                "{one:?} must come before {other:?}"
            );
        }
    }
    let (_, again) = read(&bytes);
    assert_eq!(events, again);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_runs_round_trip(steps in prop::collection::vec((0..4u32, step()), 0..120)) {
        check(&steps);
    }
}

#[test]
fn ids_are_dense_in_order_of_first_appearance() {
    let steps: Vec<_> = (0..200u64)
        .map(|i| {
            (
                i as u32 % 3,
                RecordedStep::Volatile {
                    write: i % 2 == 0,
                    object: i * 7 % 5,
                    value: i % 2,
                },
            )
        })
        .collect();
    let (bytes, _) = record(&steps);
    let (_, events) = read(&bytes);
    let mut next = 0;
    for event in &events {
        let location = event.op.location().expect("only accesses").0;
        assert!(location <= next, "{location} came before {next}");
        next = next.max(location + 1);
    }
    assert_eq!(next, 5);
}

#[test]
fn a_stamp_and_its_access_may_be_in_two_buffers() {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
    for definition in definitions() {
        writer.define(&definition).expect("memory");
    }
    let access = |position, value| RawRecord::new(RawKind::Write, VOLATILE, position, 1, value);
    let stamp = |position, number| RawRecord::new(RawKind::Stamp, 0, position, number, 0);
    writer.buffer(ThreadId(1), &[stamp(1, 5)]).expect("memory");
    writer
        .buffer(ThreadId(0), &[stamp(1, 4), access(1, 0), stamp(2, 6), access(2, 0)])
        .expect("memory");
    writer.buffer(ThreadId(1), &[access(1, 1)]).expect("memory");
    let bytes = writer.finish(&Footer::default()).expect("memory");
    let (_, events) = read(&bytes);
    let threads: Vec<u32> = events.iter().map(|event| event.thread.0).collect();
    assert_eq!(threads, [0, 1, 0]);
}

#[test]
fn more_sites_than_a_byte_counts_and_more_records_than_a_block_holds() {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
    writer
        .define(&Definition::Field(FieldId(0), field("f", "I", flags::STATIC)))
        .expect("memory");
    for id in 1..1000 {
        let what = SiteKind::Field(FieldId(0));
        writer
            .define(&Definition::Site(
                SiteId(id),
                Site {
                    what,
                    line: id,
                    ..Site::default()
                },
            ))
            .expect("memory");
    }
    let records: Vec<_> = (0..100_000u32)
        .map(|i| RawRecord::new(RawKind::Read, 1 + i % 999, i, u64::from(i), u64::from(i % 7)))
        .collect();
    writer.buffer(ThreadId(0), &records).expect("memory");
    let bytes = writer.finish(&Footer::default()).expect("memory");
    let (reader, events) = read(&bytes);
    assert_eq!(events.len(), records.len());
    assert_eq!(reader.records(), 100_000);
    for (i, event) in (0u32..).zip(&events) {
        assert_eq!((event.site.0, event.position), (1 + i % 999, i));
    }
    assert_eq!(reader.names().locations, [Location::Static(FieldId(0))]);
}
