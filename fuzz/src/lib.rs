//! The functions that the fuzz targets call, one per kind of input from outside. Results do not matter, coming back does: no panic,
//! no endless loop, no more memory than a small multiple of the input.
//!
//! Separate from the targets, so that `crates/ravel/tests/fuzz.rs` can include this file and try the seeds in every `make test`.

#[path = "../../crates/classfile/tests/common/heavy.rs"]
mod heavy;

#[path = "../../crates/classfile/tests/common/everything.rs"]
mod everything;

use ravel_trace::{Header, ReadOptions, Reader, Source, Writer, std_text};

/// Where the blocks of a trace begin, and how long the frame of one is.
const FIRST_BLOCK: usize = 16;
const FRAME: usize = 40;

/// Tries one input.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Target); 8] = [
    ("class_file", class_file),
    ("trace", trace),
    ("std_text", std_text),
    ("schedule", schedule),
    ("config", config),
    ("baseline", baseline),
    ("report", report),
    ("focus", focus),
];

/// A class: parsed, written back, decoded in every part, edited.
pub fn class_file(bytes: &[u8]) {
    everything::use_everything(bytes);
}

/// A trace: read as it is and after its checksums were set right, so that what lies behind them is reached, each with and
/// without salvage.
pub fn trace(bytes: &[u8]) {
    let mut repaired = bytes.to_vec();
    repair(&mut repaired);
    for bytes in [bytes, &repaired] {
        for salvage in [false, true] {
            read_trace(bytes, salvage);
        }
    }
}

fn read_trace(bytes: &[u8], salvage: bool) {
    let Ok(mut reader) = Reader::from_bytes(bytes.to_vec(), "t.ravel", ReadOptions { salvage }) else {
        return;
    };
    while let Ok(Some(event)) = reader.next_event() {
        let names = reader.names();
        names.method(names.site(event.site).method);
        names.thread(event.thread);
        if let Some(location) = event.op.location() {
            names.location_name(location);
            names.is_synchronizing(location);
        }
    }
    for warning in reader.warnings() {
        let _ = warning.to_string();
    }
}

/// Sets the checksums of all blocks right.
fn repair(bytes: &mut [u8]) {
    let mut at = FIRST_BLOCK;
    while let Some(frame) = bytes.get(at..at + FRAME) {
        let length = u32::from_le_bytes([frame[4], frame[5], frame[6], frame[7]]) as usize;
        let Some(payload) = bytes.get(at + FRAME..(at + FRAME).saturating_add(length)) else {
            break;
        };
        let checksum = crc32fast::hash(payload);
        bytes[at + 32..at + 36].copy_from_slice(&checksum.to_le_bytes());
        let own = crc32fast::hash(&bytes[at..at + 36]);
        bytes[at + 36..at + 40].copy_from_slice(&own.to_le_bytes());
        at += FRAME + length;
    }
}

/// Text of other tools: imported; the trace that comes of it can be read.
pub fn std_text(bytes: &[u8]) {
    let Ok(mut writer) = Writer::new(Vec::new(), &Header::default()) else {
        return;
    };
    if std_text::import(bytes, &mut writer).is_err() {
        return;
    }
    if let Ok(trace) = writer.finish(&ravel_trace::Footer::default()) {
        read_trace(&trace, false);
    }
}

/// A schedule: what can be parsed comes back from its text.
pub fn schedule(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = ravel_schedule::Schedule::from_json(text, &[]);
    let Ok(schedule) = ravel_schedule::Schedule::parse(text) else {
        return;
    };
    let _ = (schedule.to_string(), schedule.to_json(), schedule.switches());
    assert_eq!(
        ravel_schedule::Schedule::parse(&schedule.to_text()).as_ref(),
        Ok(&schedule),
        "a schedule comes back from its text"
    );
}

/// `ravel.toml`.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match ravel_report::config::read(text, "ravel.toml") {
        Ok(config) => {
            let _ = (config.unit_settings(), config.access_patterns());
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
}

/// A baseline: what can be read comes back.
pub fn baseline(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(baseline) = ravel_report::baseline::Baseline::read(text) else {
        return;
    };
    let rendered = baseline.render();
    let again = ravel_report::baseline::Baseline::read(&rendered).map(|again| again.render());
    assert_eq!(again.ok(), Some(rendered), "a baseline comes back from its file");
}

/// The JSON of a report: rendered in every format.
pub fn report(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(report) = ravel_report::json::read(text) else {
        return;
    };
    let sources = ravel_report::SourceFinder::new("no-such-folder");
    for &format in ravel_report::Format::ALL {
        let _ = ravel_report::render(&report, format, &ravel_report::Options::new(&sources));
    }
}

/// The digest of a focus plan.
pub fn focus(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(focus) = ravel_agent::focus::Focus::decode(text, std::path::Path::new("fuzzed")) {
        let _ = (focus.is_for_races(), focus.is_plain("A"), focus.class("A", bytes));
    }
}
