//! What the file says of the run as a whole: the [`Header`] at its begin, the [`Footer`] at its end, and the program's
//! [`StandardInput`], [`LeftFiles`].
//!
//! All are lists of numbered fields, each with its length, so that fields can be added and readers pass over those
//! they do not know.

use crate::failure::Failure;
use crate::ids::ThreadId;
use crate::test_run::{TestRun, Tests};
use crate::varint::{fold, get, get_slice, get_str, put, put_str, unfold};

/// How the recorded program was started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The command line, program first.
    pub command: Vec<String>,
    /// The working directory.
    pub directory: String,
    /// The environment. A trace is as secret as this is.
    pub environment: Vec<(String, String)>,
    /// `java.version`.
    pub java_version: String,
    /// `java.home`.
    pub java_home: String,
    /// The version of Ravel that recorded.
    pub ravel_version: String,
    /// When the recording began, in milliseconds since 1970.
    pub start_unix_millis: u64,
    /// The process.
    pub pid: u32,
    /// The options of the recorder, name and value.
    pub options: Vec<(String, String)>,
}

/// How the recording ended and what it left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footer {
    /// Classes instrumented.
    pub classes_instrumented: u64,
    /// Classes left as they were, per reason.
    pub classes_skipped: Vec<(String, u64)>,
    /// Classes that could not be instrumented, per reason.
    pub classes_failed: Vec<(String, u64)>,
    /// Methods left alone in instrumented classes, per reason.
    pub methods_left_alone: Vec<(String, u64)>,
    /// Whatever else was counted, by name.
    pub counts: Vec<(String, u64)>,
    /// What application threads lost waiting for the writer, in nanoseconds.
    pub back_pressure_nanos: u64,
    /// Why the recording ended.
    pub ended: EndReason,
    /// The program's exit code, if it is known.
    pub exit_code: Option<i32>,
    /// What its events come to; none if the recorder did not count them. The writer fills it in.
    pub counted: Option<Counted>,
    /// What went wrong in the run.
    pub failures: Vec<Failure>,
    /// The tests that ran, as far as a test runner told of them.
    pub tests: Tests,
}

/// What the events of a trace come to, as a reader delivers them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// Each thread that has records, by the recorder's number.
    pub threads: Vec<(ThreadId, ThreadCount)>,
    /// Releases of locks that were not seen to be taken.
    pub unmatched_releases: u64,
    /// Waits that were not seen whole.
    pub unmatched_waits: u64,
}

/// What the events of one thread come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadCount {
    /// Its events, but for its begin and end.
    pub events: u64,
    /// Its begin: 1, or 0 if the recording began later.
    pub begins: u64,
    /// Its end: 1, or 0 if the recording ended before.
    pub ends: u64,
}

impl Counted {
    /// All events.
    pub fn events(&self) -> u64 {
        let counts = self.threads.iter().map(|(_, count)| count);
        let all = counts.flat_map(|count| [count.events, count.begins, count.ends]);
        all.fold(0, u64::saturating_add)
    }
}

/// What the recorded program was given on its standard input. A trace is as secret as this is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StandardInput {
    /// The bytes, from the first on.
    pub bytes: Vec<u8>,
    /// There was more, which was not kept.
    pub cut: bool,
    /// Its end had not come when the program ended.
    pub open: bool,
    /// It was a terminal; its contents are not kept.
    pub terminal: bool,
}

/// What the recorded program did to the files of its working directory: a further run finds another one than the recorded run did. Paths are
/// relative to that directory. A trace is as secret as these files are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LeftFiles {
    /// Files and directories that it made.
    pub made: Vec<String>,
    /// Files that it changed or removed, each with its content before; none if that was not kept.
    pub changed: Vec<(String, Option<Vec<u8>>)>,
}

/// Why a recording ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum EndReason {
    /// The program ended.
    #[default]
    Exit,
    /// The file reached its size limit; the program went on.
    SizeLimit,
    /// The recording reached its time limit; the program went on.
    TimeLimit,
    /// Anything else, in words.
    Other(String),
}

impl EndReason {
    /// The reason in words.
    pub fn as_str(&self) -> &str {
        match self {
            EndReason::Exit => "exit",
            EndReason::SizeLimit => "size limit",
            EndReason::TimeLimit => "time limit",
            EndReason::Other(reason) => reason,
        }
    }

    fn parse(text: String) -> Self {
        [EndReason::Exit, EndReason::SizeLimit, EndReason::TimeLimit]
            .into_iter()
            .find(|reason| reason.as_str() == text)
            .unwrap_or(EndReason::Other(text))
    }
}

/// Writes numbered fields.
#[derive(Default)]
struct Fields {
    out: Vec<u8>,
    body: Vec<u8>,
}

impl Fields {
    fn field(&mut self, number: u64, fill: impl FnOnce(&mut Vec<u8>)) {
        self.body.clear();
        fill(&mut self.body);
        put(&mut self.out, number);
        put(&mut self.out, self.body.len() as u64);
        self.out.append(&mut self.body);
    }

    fn text(&mut self, number: u64, text: &str) {
        self.field(number, |out| put_str(out, text));
    }

    fn number(&mut self, number: u64, value: u64) {
        self.field(number, |out| put(out, value));
    }

    fn numbers(&mut self, number: u64, values: &[u64]) {
        self.field(number, |out| values.iter().for_each(|value| put(out, *value)));
    }

    fn counts(&mut self, number: u64, counts: &[(String, u64)]) {
        for (name, count) in counts {
            self.field(number, |out| {
                put_str(out, name);
                put(out, *count);
            });
        }
    }

    fn pairs(&mut self, number: u64, pairs: &[(String, String)]) {
        for (name, value) in pairs {
            self.field(number, |out| {
                put_str(out, name);
                put_str(out, value);
            });
        }
    }
}

/// Calls `take` with each numbered field; none if the bytes are no such list or `take` gives none.
fn each_field(bytes: &[u8], mut take: impl FnMut(u64, &[u8]) -> Option<()>) -> Option<()> {
    let mut at = 0;
    while at < bytes.len() {
        let number = get(bytes, &mut at)?;
        take(number, get_slice(bytes, &mut at)?)?;
    }
    Some(())
}

fn text(body: &[u8]) -> Option<String> {
    get_str(body, &mut 0)
}

fn pair(body: &[u8]) -> Option<(String, String)> {
    let mut at = 0;
    Some((get_str(body, &mut at)?, get_str(body, &mut at)?))
}

fn numbers<const N: usize>(body: &[u8]) -> Option<[u64; N]> {
    let (mut at, mut values) = (0, [0; N]);
    for value in &mut values {
        *value = get(body, &mut at)?;
    }
    Some(values)
}

fn count(body: &[u8]) -> Option<(String, u64)> {
    let mut at = 0;
    Some((get_str(body, &mut at)?, get(body, &mut at)?))
}

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        for word in &self.command {
            fields.text(1, word);
        }
        fields.text(2, &self.directory);
        fields.pairs(3, &self.environment);
        fields.text(4, &self.java_version);
        fields.text(5, &self.java_home);
        fields.text(6, &self.ravel_version);
        fields.number(7, self.start_unix_millis);
        fields.number(8, self.pid.into());
        fields.pairs(9, &self.options);
        fields.out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut header = Header::default();
        each_field(bytes, |number, body| {
            match number {
                1 => header.command.push(text(body)?),
                2 => header.directory = text(body)?,
                3 => header.environment.push(pair(body)?),
                4 => header.java_version = text(body)?,
                5 => header.java_home = text(body)?,
                6 => header.ravel_version = text(body)?,
                7 => header.start_unix_millis = get(body, &mut 0)?,
                8 => header.pid = u32::try_from(get(body, &mut 0)?).ok()?,
                9 => header.options.push(pair(body)?),
                _ => {}
            }
            Some(())
        })?;
        Some(header)
    }
}

impl Footer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        fields.number(1, self.classes_instrumented);
        fields.counts(2, &self.classes_skipped);
        fields.counts(3, &self.classes_failed);
        fields.counts(4, &self.methods_left_alone);
        fields.counts(5, &self.counts);
        fields.number(6, self.back_pressure_nanos);
        fields.text(7, self.ended.as_str());
        if let Some(code) = self.exit_code {
            fields.number(8, fold(code.into()));
        }
        if let Some(counted) = &self.counted {
            fields.numbers(9, &[counted.unmatched_releases, counted.unmatched_waits]);
            for (thread, count) in &counted.threads {
                fields.numbers(10, &[thread.0.into(), count.events, count.begins, count.ends]);
            }
        }
        for failure in &self.failures {
            fields.field(11, |out| failure.encode(out));
        }
        for test in &self.tests.runs {
            fields.field(12, |out| test.encode(out));
        }
        for word in &self.tests.command {
            fields.text(13, word);
        }
        if !self.tests.directory.is_empty() {
            fields.text(14, &self.tests.directory);
        }
        fields.out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut footer = Footer::default();
        each_field(bytes, |number, body| {
            match number {
                1 => footer.classes_instrumented = get(body, &mut 0)?,
                2 => footer.classes_skipped.push(count(body)?),
                3 => footer.classes_failed.push(count(body)?),
                4 => footer.methods_left_alone.push(count(body)?),
                5 => footer.counts.push(count(body)?),
                6 => footer.back_pressure_nanos = get(body, &mut 0)?,
                7 => footer.ended = EndReason::parse(text(body)?),
                8 => footer.exit_code = Some(i32::try_from(unfold(get(body, &mut 0)?)).ok()?),
                9 => {
                    let [releases, waits] = numbers(body)?;
                    let counted = footer.counted.get_or_insert_default();
                    (counted.unmatched_releases, counted.unmatched_waits) = (releases, waits);
                }
                10 => {
                    let [thread, events, begins, ends] = numbers(body)?;
                    let count = ThreadCount { events, begins, ends };
                    let threads = &mut footer.counted.get_or_insert_default().threads;
                    threads.push((ThreadId(u32::try_from(thread).ok()?), count));
                }
                11 => footer.failures.push(Failure::decode(body)?),
                12 => footer.tests.runs.push(TestRun::decode(body)?),
                13 => footer.tests.command.push(text(body)?),
                14 => footer.tests.directory = text(body)?,
                _ => {}
            }
            Some(())
        })?;
        Some(footer)
    }
}

impl StandardInput {
    /// The most bytes that a trace keeps.
    pub const LIMIT: usize = 8 << 20;

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        fields.field(1, |out| out.extend_from_slice(&self.bytes));
        for (number, on) in [(2, self.cut), (3, self.open), (4, self.terminal)] {
            fields.number(number, on.into());
        }
        fields.out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = StandardInput::default();
        each_field(bytes, |number, body| {
            match number {
                1 => input.bytes = body.to_vec(),
                2 => input.cut = get(body, &mut 0)? != 0,
                3 => input.open = get(body, &mut 0)? != 0,
                4 => input.terminal = get(body, &mut 0)? != 0,
                _ => {}
            }
            Some(())
        })?;
        Some(input)
    }
}

impl LeftFiles {
    /// The most bytes of contents that a trace keeps.
    pub const LIMIT: usize = 8 << 20;
    /// The most paths that a trace keeps.
    pub const MOST_PATHS: usize = 20_000;

    /// Whether it left its directory as it found it.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty() && self.changed.is_empty()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        for path in &self.made {
            fields.text(1, path);
        }
        for (path, content) in &self.changed {
            let number = if content.is_some() { 2 } else { 3 };
            fields.field(number, |out| {
                put_str(out, path);
                out.extend_from_slice(content.as_deref().unwrap_or_default());
            });
        }
        fields.out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut files = LeftFiles::default();
        each_field(bytes, |number, body| {
            let mut at = 0;
            match number {
                1 => files.made.push(get_str(body, &mut at)?),
                2 => {
                    let path = get_str(body, &mut at)?;
                    files.changed.push((path, Some(body.get(at..)?.to_vec())));
                }
                3 => files.changed.push((get_str(body, &mut at)?, None)),
                _ => {}
            }
            Some(())
        })?;
        Some(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_string(), b.to_string())
    }

    #[test]
    fn header_and_footer_round_trip() {
        let header = Header {
            command: vec!["java".into(), String::new(), "-cp".into()],
            directory: "/srv".into(),
            environment: vec![pair("PATH", "/bin"), pair("EMPTY", "")],
            java_version: "17.0.15".into(),
            java_home: "/jdk".into(),
            ravel_version: "0.1.0".into(),
            start_unix_millis: u64::MAX,
            pid: u32::MAX,
            options: vec![pair("max-size", "1G")],
        };
        assert_eq!(Header::decode(&header.encode()), Some(header));
        let footer = Footer {
            classes_instrumented: 3,
            classes_skipped: vec![("excluded".into(), 7)],
            classes_failed: vec![("verify".into(), 1)],
            methods_left_alone: vec![("64 KB".into(), 2)],
            counts: vec![("events".into(), 5)],
            back_pressure_nanos: 12,
            ended: EndReason::Other("disk full".into()),
            exit_code: Some(-1),
            counted: Some(Counted {
                threads: vec![(
                    ThreadId(3),
                    ThreadCount {
                        events: 300,
                        begins: 1,
                        ends: 0,
                    },
                )],
                unmatched_releases: 2,
                unmatched_waits: 1,
            }),
            failures: vec![Failure {
                exception: "java.lang.Error".into(),
                ..Failure::default()
            }],
            tests: Tests {
                runs: vec![TestRun {
                    id: "[class:a.B]".into(),
                    ..TestRun::default()
                }],
                command: vec!["java".into(), String::new()],
                directory: "/srv/module".into(),
            },
        };
        assert_eq!(Footer::decode(&footer.encode()), Some(footer));
        assert_eq!(Footer::decode(&Footer::default().encode()), Some(Footer::default()));
        let input = StandardInput {
            bytes: b"one\n\xff\0".to_vec(),
            cut: true,
            open: true,
            terminal: false,
        };
        assert_eq!(StandardInput::decode(&input.encode()), Some(input));
        let files = LeftFiles {
            made: vec!["db".into(), "db/log".into()],
            changed: vec![("seats.txt".into(), Some(b"12\n\xff".to_vec())), ("big".into(), None)],
        };
        assert_eq!(LeftFiles::decode(&files.encode()), Some(files));
    }

    #[test]
    fn unknown_fields_are_passed_over() {
        let mut bytes = Header::default().encode();
        bytes.extend_from_slice(&[100, 2, 1, 1]);
        assert_eq!(Header::decode(&bytes), Some(Header::default()));
        bytes.extend_from_slice(&[100, 2, 1]);
        assert_eq!(Header::decode(&bytes), None);
    }
}
