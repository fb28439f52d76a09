//! The figures that a writer puts into the footer are those that a reader counts.

use proptest::prelude::*;
use ravel_trace::names::Thread;
use ravel_trace::raw::{RawKind, RawRecord};
use ravel_trace::{Definition, Footer, Header, Op, ReadOptions, Reader, Source, ThreadId, Writer};

/// A record of any kind, mostly of locks: kind, and which of a few objects.
fn record() -> impl Strategy<Value = (RawKind, u64)> {
    let kind = prop_oneof![4 => 13u8..20, 1 => 0u8..34];
    let kind = kind.prop_map(|bits| RawKind::from_bits(bits).expect("a kind"));
    (kind, 0u64..3)
}

/// A trace of three threads, the last one a daemon that may have nothing.
fn written(threads: &[Vec<(RawKind, u64)>; 3]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
    let mut number = 0;
    for (thread, records) in (0..).zip(threads) {
        let definition = Thread {
            name: format!("t{thread}"),
            daemon: thread == 2,
            ..Thread::default()
        };
        writer
            .define(&Definition::Thread(ThreadId(thread), definition))
            .expect("memory");
        let raw: Vec<RawRecord> = (0..)
            .zip(records)
            .map(|(position, (kind, object))| {
                number += 1;
                RawRecord::new(*kind, 0, position, *object, number)
            })
            .collect();
        for part in raw.chunks(7) {
            writer.buffer(ThreadId(thread), part).expect("memory");
        }
    }
    writer.finish(&Footer::default()).expect("memory")
}

proptest! {
    #[test]
    fn the_footer_counts_what_a_reader_counts(
        threads in prop::array::uniform3(prop::collection::vec(record(), 0..60)),
    ) {
        let bytes = written(&threads);
        let mut reader = Reader::from_bytes(bytes, "t.ravel", ReadOptions::default()).expect("a trace");
        let figures = reader.figures().expect("counted");
        let (mut events, mut active) = (0, std::collections::BTreeSet::new());
        while let Some(event) = reader.next_event().expect("a sound trace") {
            events += 1;
            if !matches!(event.op, Op::Begin | Op::End { .. }) {
                active.insert(event.thread);
            }
        }
        prop_assert_eq!(figures.events, events);
        prop_assert_eq!(figures.threads, active.len());
        prop_assert_eq!(figures.warnings, reader.warnings());
    }
}

#[test]
fn a_trace_that_was_cut_off_must_be_counted() {
    let begun = vec![(RawKind::Begin, 0), (RawKind::Acquire, 1)];
    let bytes = written(&[begun.clone(), begun, Vec::new()]);
    let figures = |bytes: &[u8]| {
        let reader = Reader::from_bytes(bytes.to_vec(), "t.ravel", ReadOptions::default()).expect("a trace");
        reader.figures()
    };
    assert!(figures(&bytes).is_some_and(|figures| figures.events == 4 && figures.threads == 2));
    assert_eq!(figures(&bytes[..bytes.len() - 1]), None);
}
