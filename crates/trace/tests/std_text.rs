//! STD text in and out: nothing lost, the order kept.

use proptest::prelude::*;
use ravel_trace::std_text::{ExportSummary, ImportError, ImportSummary, export, import};
use ravel_trace::{Footer, Header, MemoryTrace, Op, ReadOptions, Reader, Source, Value, Writer};

fn imported(text: &str) -> Result<(Vec<u8>, ImportSummary), ImportError> {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
    // A small buffer, so that lines lie across its end.
    let summary = import(std::io::BufReader::with_capacity(16, text.as_bytes()), &mut writer)?;
    Ok((writer.finish(&Footer::default()).expect("memory"), summary))
}

fn exported(source: &mut dyn Source) -> (String, ExportSummary) {
    let mut out = Vec::new();
    let summary = export(source, &mut out).expect("memory");
    (String::from_utf8(out).expect("text"), summary)
}

fn reader(bytes: Vec<u8>) -> Reader {
    Reader::from_bytes(bytes, "memory", ReadOptions::default()).expect("a trace")
}

const SAMPLE: &str = "main|fork(T 1)|1
main|w(shop.Stock.items)|12
T 1|begin()|3
T 1|acq(l)|4
T 1|r(shop.Stock.items)|12
main|r(x)|0
T 1|w(x)|7
T 1|rel(l)|8
T 1|end()|9
main|acq(l)|4
main|rel(l)|5
main|join(T 1)|6
";

#[test]
fn text_survives_import_and_export() {
    let (bytes, summary) = imported(SAMPLE).expect("a trace");
    assert_eq!(
        summary,
        ImportSummary {
            events: 12,
            threads: 2,
            variables: 2,
            locks: 1
        }
    );
    let mut trace = reader(bytes.clone());
    while let Some(event) = trace.next_event().expect("a sound trace") {
        if let Op::Read { value, .. } | Op::Write { value, .. } = event.op {
            assert_eq!(value, Value::Unknown, "the text has no values");
        }
    }
    assert_eq!(trace.warnings(), []);
    let (text, summary) = exported(&mut reader(bytes));
    assert_eq!(text, SAMPLE);
    assert_eq!(
        summary,
        ExportSummary {
            written: 12,
            left_out: 0
        }
    );
    let (text, _) = exported(&mut MemoryTrace::from_std(SAMPLE).expect("a trace"));
    assert_eq!(text, SAMPLE);
}

#[test]
fn windows_line_ends_blank_lines_and_a_missing_last_one_are_fine() {
    let (bytes, summary) = imported("a|r(x)|1\r\n\r\na|w(x)|2").expect("a trace");
    assert_eq!(summary.events, 2);
    assert_eq!(exported(&mut reader(bytes)).0, "a|r(x)|1\na|w(x)|2\n");
}

#[test]
fn a_malformed_line_is_named() {
    let error = imported("a|r(x)|1\n\nT0|frob(x)|2\n")
        .expect_err("no trace")
        .to_string();
    assert!(error.starts_with("line 3: the operation is none of"), "{error}");
    let error = imported("a|r(x)|1\nlast").expect_err("no trace").to_string();
    assert!(error.starts_with("line 2:"), "{error}");
}

#[test]
fn what_no_run_can_have_done_is_refused_with_its_line() {
    for (text, wrong) in [
        (
            "a|acq(l)|1\na|acq(l)|2\na|rel(l)|3\nb|acq(l)|4\n",
            "line 4: lock l has two holders: thread a has it since line 1",
        ),
        (
            "a|fork(b)|1\nb|r(x)|2\na|join(b)|3\n\nb|w(x)|4\n",
            "line 5: thread b goes on although it was joined in line 3",
        ),
        (
            "a|join(a)|1\na|r(x)|2\n",
            "line 2: thread a goes on although it was joined in line 1",
        ),
    ] {
        assert_eq!(imported(text).expect_err("impossible").to_string(), wrong);
    }
    // Taken twice and given up twice; given up by a thread that took it before the trace began; joined twice.
    for text in [
        "a|acq(l)|1\na|acq(l)|2\na|rel(l)|3\na|rel(l)|4\nb|acq(l)|5\n",
        "a|rel(l)|1\nb|acq(l)|2\nb|rel(l)|3\n",
        "a|fork(b)|1\na|join(b)|2\nc|join(b)|3\n",
    ] {
        assert!(imported(text).is_ok(), "{text}");
    }
}

#[test]
fn what_std_has_no_word_for_is_counted_and_names_stay_apart() {
    let mut trace = MemoryTrace::parse(
        "a | b
         acqs q
         r C#1.f
           | w C#2.f
         u x
         acq m
         wait m
         resume m
         rel m
         rels q
         enter C.m",
    )
    .expect("a trace");
    let (text, summary) = exported(&mut trace);
    assert_eq!(
        text,
        "a|r(C.f)|3\nb|w(C.f#2)|4\na|r(x)|5\na|w(x)|5\na|acq(m)|6\na|rel(m)|7\na|acq(m)|8\na|rel(m)|9\n"
    );
    assert_eq!(
        summary,
        ExportSummary {
            written: 8,
            left_out: 3
        }
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the threads do, the order of the text is the order of the trace.
    #[test]
    fn any_order_survives(lines in prop::collection::vec((0..5u8, 0..6u8, 0..4u8, 0..3u32), 0..150)) {
        let mut held: Vec<Vec<u8>> = vec![Vec::new(); 5];
        let mut text = String::new();
        for (thread, op, name, place) in lines {
            let taken = held.iter().any(|locks| locks.contains(&name));
            let locks = &mut held[usize::from(thread)];
            let line = match op {
                0 | 1 => format!("T{thread}|r(v{name})|{place}\n"),
                2 => format!("T{thread}|w(v{name})|{place}\n"),
                3 if !taken => {
                    locks.push(name);
                    format!("T{thread}|acq(l{name})|{place}\n")
                }
                4 if !locks.is_empty() => format!("T{thread}|rel(l{})|{place}\n", locks.remove(0)),
                5 => format!("T{thread}|fork(T{name})|{place}\n"),
                _ => format!("T{thread}|begin()|{place}\n"),
            };
            text.push_str(&line);
        }
        let (bytes, _) = imported(&text).expect("a trace");
        prop_assert_eq!(exported(&mut reader(bytes)).0, text);
    }

    /// Bytes from nowhere: an error or a trace.
    #[test]
    fn random_text_never_panics(text in "[T0-9|rw()acqel\n\r é]{0,80}") {
        let _ = imported(&text);
    }
}
