//! How often a job reads its traces.

use std::path::Path;

use ravel_prove::job::{Job, Settings};
use ravel_prove::observer::Silent;
use ravel_trace::names::{Field, Site, SiteKind, Thread};
use ravel_trace::raw::{RawKind, RawRecord};
use ravel_trace::{Definition, FieldId, Footer, Header, ReadOptions, Reader, SiteId, ThreadId, Trace, Writer};

/// A trace of two threads that share nothing, so that nothing is found and nothing is run.
fn write(path: &Path) {
    let header = Header {
        command: vec!["java".into(), "Main".into()],
        ..Header::default()
    };
    let mut writer = Writer::create(path, &header).expect("a trace");
    let field = Field {
        name: "f".into(),
        descriptor: "I".into(),
        ..Field::default()
    };
    let site = Site {
        line: 3,
        what: SiteKind::Field(FieldId(0)),
        ..Site::default()
    };
    let mut definitions = vec![Definition::Field(FieldId(0), field), Definition::Site(SiteId(1), site)];
    definitions.extend((0..2).map(|thread| {
        let name = format!("t{thread}");
        Definition::Thread(
            ThreadId(thread),
            Thread {
                name,
                ..Thread::default()
            },
        )
    }));
    for definition in &definitions {
        writer.define(definition).expect("written");
    }
    for thread in 0..2u32 {
        let records: Vec<RawRecord> = (0..500u32)
            .map(|position| RawRecord::new(RawKind::Write, 1, position, u64::from(thread), position.into()))
            .collect();
        writer.buffer(ThreadId(thread), &records).expect("written");
    }
    writer.finish(&Footer::default()).expect("written");
}

/// Records that a job decodes of a trace of 1000.
fn decoded(keep: u64, work: impl FnOnce(&mut Job<'_>, &Path, Trace)) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.ravel");
    write(&path);
    let reader = Reader::open(&path, ReadOptions::default()).expect("a trace");
    assert_eq!(reader.records(), 1000);
    let mut job = Job::new(Settings::default(), &Silent);
    work(&mut job, &path, Trace::new(reader, keep));
    let finished = job.finish();
    assert_eq!(finished.report.summary.events, 1000);
    assert_eq!(finished.work.unforced, None);
    finished.work.decoded
}

#[test]
fn a_short_trace_is_decoded_once_and_a_long_one_once_for_each_step_of_the_job() {
    let check = |job: &mut Job<'_>, path: &Path, trace: Trace| {
        job.check(path, trace, Default::default()).expect("analysed");
    };
    assert_eq!(decoded(u64::MAX, check), 1000);
    assert_eq!(decoded(0, check), 2000, "which locations are shared, and the analyses");
    let prove = |job: &mut Job<'_>, path: &Path, trace: Trace| job.trace(path, trace).expect("analysed");
    assert_eq!(decoded(u64::MAX, prove), 1000);
    assert_eq!(decoded(0, prove), 3000, "and all that proof needs");
}
