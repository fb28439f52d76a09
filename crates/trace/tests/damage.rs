//! Torn, damaged and hostile files: an error with the byte, or what can be read, and never a panic.

use proptest::prelude::*;
use ravel_trace::names::{Field, Site, SiteKind, Thread};
use ravel_trace::raw::{RawKind, RawRecord};
use ravel_trace::{
    Definition, Event, FieldId, Footer, Header, ReadOptions, Reader, SiteId, Source, StandardInput, ThreadId, Trace,
    TraceError, Warning, Writer, add_input,
};

/// Where the file's own header ends and blocks begin.
const FIRST_BLOCK: usize = 16;
const FRAME: usize = 40;

/// Two threads, three buffers each, every block long enough to be compressed.
fn sound() -> Vec<u8> {
    let header = Header {
        command: vec!["java".into(), "Main".into()],
        pid: 7,
        ..Header::default()
    };
    let mut writer = Writer::new(Vec::new(), &header).expect("memory");
    let field = Field {
        name: "f".into(),
        descriptor: "I".into(),
        ..Field::default()
    };
    writer.define(&Definition::Field(FieldId(0), field)).expect("memory");
    let what = SiteKind::Field(FieldId(0));
    writer
        .define(&Definition::Site(
            SiteId(1),
            Site {
                line: 3,
                what,
                ..Site::default()
            },
        ))
        .expect("memory");
    for thread in 0..2 {
        let name = format!("t{thread}");
        writer
            .define(&Definition::Thread(
                ThreadId(thread),
                Thread {
                    name,
                    ..Thread::default()
                },
            ))
            .expect("memory");
    }
    for round in 0..3u64 {
        for thread in 0..2u64 {
            let number = round * 4 + thread * 2;
            let mut records = Vec::new();
            if round == 0 {
                records.push(RawRecord::new(RawKind::Begin, 0, 0, 0, number));
            }
            records.push(RawRecord::new(RawKind::Acquire, 2, 0, 1, number));
            for i in 0..40u64 {
                records.push(RawRecord::new(RawKind::Write, 1, i as u32, i * 977 % 101, i * i));
                records.push(RawRecord::new(RawKind::WriteElement, 3, i as u32, i << 32 | i, i));
            }
            records.push(RawRecord::new(RawKind::ReadEntry, 4, 99, 3 << 48 | 5, 77));
            records.push(RawRecord::new(RawKind::Release, 2, 100, 1, number + 1));
            writer.buffer(ThreadId(thread as u32), &records).expect("memory");
        }
    }
    writer.finish(&Footer::default()).expect("memory")
}

/// Where each block begins, by walking over their lengths.
fn blocks(bytes: &[u8]) -> Vec<usize> {
    let mut at = FIRST_BLOCK;
    let mut starts = Vec::new();
    while at < bytes.len() {
        starts.push(at);
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().expect("four bytes"));
        at += FRAME + length as usize;
    }
    starts
}

struct Outcome {
    events: Vec<Event>,
    warnings: Vec<Warning>,
    error: Option<String>,
}

/// Reads to the end, looking up every id on the way.
fn read(bytes: &[u8], salvage: bool) -> Result<Outcome, TraceError> {
    let mut reader = Reader::from_bytes(bytes.to_vec(), "t.ravel", ReadOptions { salvage })?;
    let (mut events, mut error) = (Vec::new(), None);
    loop {
        match reader.next_event() {
            Ok(Some(event)) => {
                touch(&event, &reader);
                events.push(event);
            }
            Ok(None) => break,
            Err(failure) => error = Some(failure.to_string()),
        }
    }
    let warnings = reader.warnings().to_vec();
    let _: Vec<String> = warnings.iter().map(Warning::to_string).collect();
    Ok(Outcome {
        events,
        warnings,
        error,
    })
}

/// Every id of an event must be in the tables, and everything in the tables must lead somewhere.
fn touch(event: &Event, reader: &Reader) {
    let names = reader.names();
    let method = names.method(names.site(event.site).method);
    assert!(names.classes.len() > method.class.index());
    assert!(names.threads.len() > event.thread.index());
    if let Some(location) = event.op.location() {
        assert!(!names.location_name(location).is_empty());
        names.is_synchronizing(location);
    }
    match event.op {
        ravel_trace::Op::Acquire { lock, .. } | ravel_trace::Op::Release { lock, .. } => {
            names.lock(lock);
        }
        ravel_trace::Op::Fork { child } | ravel_trace::Op::Join { child, .. } => {
            names.thread(child);
        }
        ravel_trace::Op::Enter { method } | ravel_trace::Op::Exit { method } => {
            names.method(method);
        }
        _ => {}
    }
}

#[test]
fn a_file_cut_anywhere_gives_the_whole_blocks_before_the_cut() {
    let bytes = sound();
    let starts = blocks(&bytes);
    let whole = read(&bytes, false).expect("a trace");
    assert_eq!(
        whole.warnings,
        [Warning::NotEnded {
            threads: vec!["t0".into(), "t1".into()]
        }]
    );
    for cut in 0..bytes.len() {
        let outcome = read(&bytes[..cut], false);
        if cut < FIRST_BLOCK {
            assert!(matches!(outcome, Err(TraceError::Empty { .. })), "cut at {cut}");
            continue;
        }
        let outcome = outcome.unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(outcome.error, None);
        let torn_at = *starts
            .iter()
            .take_while(|start| **start <= cut)
            .last()
            .expect("the first block");
        let expected = Warning::TornTail {
            offset: torn_at as u64,
            bytes: (cut - torn_at) as u64,
        };
        let said = outcome.warnings.contains(&expected);
        assert_eq!(said, cut != torn_at, "cut at {cut}: {:?}", outcome.warnings);
        assert!(outcome.warnings.contains(&Warning::Unfinished));
        assert!(outcome.events.len() <= whole.events.len());
    }
    // The last cut loses the footer alone.
    assert_eq!(
        read(&bytes[..bytes.len() - 1], false).expect("a trace").events,
        whole.events
    );
}

#[test]
fn input_can_be_added_to_a_whole_trace_and_to_a_torn_one() {
    let bytes = sound();
    let whole = read(&bytes, false).expect("a trace").events;
    let input = StandardInput {
        bytes: b"one line\n".repeat(500),
        open: true,
        ..StandardInput::default()
    };
    for cut in [0, 1, FRAME] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), &bytes[..bytes.len() - cut]).expect("written");
        add_input(file.path(), &input).expect("added");
        let mut reader = Reader::open(file.path(), ReadOptions::default()).expect("a trace");
        assert_eq!(reader.standard_input(), Some(&input));
        assert_eq!(reader.footer().is_some(), cut == 0);
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().expect("an event") {
            events.push(event);
        }
        assert_eq!(events, whole);
    }
}

#[test]
fn a_tail_of_zeros_is_a_torn_tail() {
    let mut bytes = sound();
    let length = bytes.len() as u64;
    bytes.extend_from_slice(&[0; 5000]);
    let outcome = read(&bytes, false).expect("a trace");
    assert!(outcome.warnings.contains(&Warning::TornTail {
        offset: length,
        bytes: 5000
    }));
}

#[test]
fn damage_in_the_middle_is_an_error_at_its_block_and_can_be_passed_over() {
    let bytes = sound();
    let starts = blocks(&bytes);
    let whole = read(&bytes, false).expect("a trace").events.len();
    for (index, start) in starts.iter().enumerate().skip(1).take(starts.len() - 2) {
        for at in [*start + 1, *start + 20, *start + FRAME + 3] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            let error = match read(&damaged, false) {
                Err(error) => error.to_string(),
                Ok(outcome) => outcome.error.unwrap_or_else(|| panic!("byte {at} was not noticed")),
            };
            assert!(
                error.contains(&format!("t.ravel is damaged at byte {start}:")),
                "{error}"
            );
            assert!(error.contains("--salvage"), "{error}");
            let outcome = read(&damaged, true).expect("salvaged");
            assert_eq!(outcome.error, None);
            let skipped =
                |warning: &Warning| matches!(warning, Warning::Skipped { offset, .. } if *offset == *start as u64);
            assert!(outcome.warnings.iter().any(skipped), "{:?}", outcome.warnings);
            // A table holds no event; one buffer of six holds a sixth, but for a lock that then stays held.
            let lost = if index == 1 { 0 } else { whole / 6 };
            assert!(
                outcome.events.len().abs_diff(whole - lost) <= 2,
                "{} of {whole}",
                outcome.events.len()
            );
        }
    }
}

#[test]
fn what_is_no_trace_is_said_with_a_way_out() {
    let error = |bytes: &[u8]| {
        read(bytes, false)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(error(b"T0|r(x)|3\nT0|w(x)|4\n").contains("ravel trace import"));
    assert!(error(b"\x7fELF").contains("is not a Ravel trace"));
    assert!(error(b"").contains("it holds no recording"));
    let mut newer = sound();
    newer[8] = 200;
    assert!(error(&newer).contains("version 200"), "{}", error(&newer));
    assert!(matches!(
        Reader::open("no/such/file", ReadOptions::default()),
        Err(TraceError::Io { .. })
    ));
}

#[test]
fn a_few_bytes_cannot_ask_for_much_memory() {
    // A table entry with a number near 2^32, and a block that states the largest size for a few bytes.
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
    writer
        .define(&Definition::Field(FieldId(u32::MAX - 1), Field::default()))
        .expect("memory");
    let bytes = writer.finish(&Footer::default()).expect("memory");
    assert!(matches!(read(&bytes, false), Err(TraceError::Damaged { .. })));
}

/// Sets a block's checksums right again, so that what is behind them is tested too.
fn repair(bytes: &mut [u8], start: usize) {
    let Some(frame) = bytes.get(start..start + FRAME) else {
        return;
    };
    let length = u32::from_le_bytes(frame[4..8].try_into().expect("four bytes")) as usize;
    let Some(payload) = bytes.get(start + FRAME..start + FRAME + length) else {
        return;
    };
    let checksum = crc32fast::hash(payload);
    bytes[start + 32..start + 36].copy_from_slice(&checksum.to_le_bytes());
    let own = crc32fast::hash(&bytes[start..start + 36]);
    bytes[start + 36..start + 40].copy_from_slice(&own.to_le_bytes());
}

/// A trace whose payloads are all stored as they are, so that changes reach the columns and tables.
fn stored() -> Vec<u8> {
    let bytes = sound();
    let mut out = bytes[..FIRST_BLOCK].to_vec();
    for start in blocks(&bytes) {
        let word = |at: usize| u32::from_le_bytes(bytes[start + at..start + at + 4].try_into().expect("four bytes"));
        let (length, raw) = (word(4) as usize, word(8) as usize);
        let payload = &bytes[start + FRAME..start + FRAME + length];
        let compressed = bytes[start + 13] & 1 != 0;
        let payload = if compressed {
            zstd::bulk::decompress(payload, raw).expect("sound")
        } else {
            payload.to_vec()
        };
        let at = out.len();
        out.extend_from_slice(&bytes[start..start + FRAME]);
        out[at + 4..at + 8].copy_from_slice(&(raw as u32).to_le_bytes());
        out[at + 13] &= !1;
        out.extend_from_slice(&payload);
        repair(&mut out, at);
    }
    out
}

#[test]
fn stored_blocks_read_the_same() {
    assert_eq!(
        read(&stored(), false).expect("a trace").events,
        read(&sound(), false).expect("a trace").events
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed bytes behind sound checksums: the file was written so on purpose.
    #[test]
    fn hostile_blocks_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        salvage in any::<bool>(),
    ) {
        let mut bytes = stored();
        let starts = blocks(&bytes);
        for (index, value) in changes {
            let at = FIRST_BLOCK + index.index(bytes.len() - FIRST_BLOCK);
            bytes[at] = value;
        }
        for start in starts {
            repair(&mut bytes, start);
        }
        let _ = read(&bytes, salvage);
    }

    /// Changed bytes with a checksum that does not match.
    #[test]
    fn damaged_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        salvage in any::<bool>(),
    ) {
        let mut bytes = sound();
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len()) / 4);
        let _ = read(&bytes, salvage);
    }

    /// Bytes from nowhere behind a sound start.
    #[test]
    fn random_bytes_never_panic(tail in prop::collection::vec(any::<u8>(), 0..300), salvage in any::<bool>()) {
        let mut bytes = sound()[..FIRST_BLOCK].to_vec();
        bytes.extend_from_slice(b"RvBk");
        bytes.extend_from_slice(&tail);
        repair(&mut bytes, FIRST_BLOCK);
        let _ = read(&bytes, salvage);
    }
}

/// All that one reading of a trace gives.
fn reading(source: &mut dyn Source) -> (Vec<Event>, Option<String>) {
    let (mut events, mut error) = (Vec::new(), None);
    loop {
        match source.next_event() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (events, error),
            Err(failure) => error = Some(failure.to_string()),
        }
    }
}

#[test]
fn every_reading_of_a_trace_is_the_same_whether_its_events_are_kept_or_not() {
    let bytes = sound();
    let middle = blocks(&bytes)[4] + FRAME + 3;
    let mut damaged = bytes.clone();
    damaged[middle] ^= 0x10;
    for (bytes, salvage) in [(&bytes, false), (&damaged, false), (&damaged, true)] {
        let alone = read(bytes, salvage).expect("a trace");
        for keep in [0, u64::MAX] {
            let reader = Reader::from_bytes(bytes.clone(), "t.ravel", ReadOptions { salvage }).expect("a trace");
            let mut trace = Trace::new(reader, keep);
            let expected = (alone.events.clone(), alone.error.clone());
            // A reading that is left in its middle does not spoil the next one.
            for _ in 0..100 {
                let _ = trace.next_event();
            }
            trace.rewind();
            let first = trace.again().map(|mut first| reading(first.as_mut()));
            assert_eq!(first.as_ref(), Some(&expected), "salvage {salvage}, keep {keep}");
            assert_eq!(reading(&mut trace), expected, "salvage {salvage}, keep {keep}");
            assert_eq!(trace.reader().warnings(), alone.warnings);
            assert_eq!(trace.events(), (keep > 0).then_some(alone.events.as_slice()));
            let decoded = trace.reader().decoded();
            let records = trace.reader().records();
            match (keep, &alone.error) {
                (0, None) => assert!(decoded > records, "{decoded} of {records}"),
                (0, Some(_)) => {}
                _ => assert!(decoded <= records, "{decoded} of {records}"),
            }
        }
    }
}
