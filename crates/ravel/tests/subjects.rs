//! Every subject is recorded on every JDK: it must behave as without Ravel, and its trace must have the events that its
//! first comment states (grammar in `subjects/README.md`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::{
    Jdk, OLD_JDKS, SECOND_JDK, comment, compiled, compiled_for_8, each, old_jdks, ravel, run, skip, sources,
    tested_jdks,
};
use ravel_trace::names::{Location, SiteKind};
use ravel_trace::reader::{ReadOptions, Reader};
use ravel_trace::{Event, Mode, Names, Op, Source};

const LIMIT: Duration = Duration::from_secs(120);

struct Subject {
    jdk: Jdk,
    source: PathBuf,
    classes: PathBuf,
}

impl Subject {
    fn name(&self) -> String {
        self.source
            .file_stem()
            .expect("a source has a name")
            .to_string_lossy()
            .into_owned()
    }

    fn fail(&self, what: impl std::fmt::Display) -> String {
        format!("{} on JDK {}: {what}", self.name(), self.jdk.release)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.source).expect("the source can be read")
    }
}

/// Subjects of a folder, compiled once for each JDK.
fn subjects(folder: &'static str, release: u32) -> Vec<Subject> {
    let mut all = Vec::new();
    for jdk in tested_jdks().into_iter().filter(|jdk| jdk.release >= release) {
        let classes = compiled(&jdk, folder, release);
        for source in sources(folder) {
            all.push(Subject {
                jdk: jdk.clone(),
                source,
                classes: classes.clone(),
            });
        }
    }
    if all.is_empty() {
        skip(SECOND_JDK, &format!("subjects of {folder} need JDK {release}"));
    }
    all
}

fn java(subject: &Subject, options: &[String]) -> Vec<String> {
    let mut words = vec![subject.jdk.tool("java").to_string_lossy().into_owned()];
    words.extend_from_slice(options);
    words.extend([
        "-cp".to_string(),
        subject.classes.to_string_lossy().into_owned(),
        subject.name(),
    ]);
    words
}

fn recorded(subject: &Subject, trace: &Path, options: &[String]) -> std::process::Output {
    recorded_with(&[], subject, trace, options)
}

fn recorded_with(how: &[&str], subject: &Subject, trace: &Path, options: &[String]) -> std::process::Output {
    run(
        ravel()
            .args(["record", "-o"])
            .arg(trace)
            .args(how)
            .args(["--exit-code", "program", "--"])
            .args(java(subject, options)),
        LIMIT,
    )
}

fn plain(subject: &Subject, options: &[String]) -> std::process::Output {
    let words = java(subject, options);
    run(Command::new(&words[0]).args(&words[1..]), LIMIT)
}

/// What the program itself wrote: Ravel's lines all begin with its name, and it ends a line that the program did not.
fn own_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr).into_owned();
    let own: String = text
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("ravel: "))
        .collect();
    own.trim_end_matches('\n').to_string()
}

fn behaves_as_plain(subject: &Subject, trace: &Path) -> Result<(), String> {
    let fault = comment(&subject.text(), "fault").unwrap_or_default();
    let value = |key: &str| fault.iter().find_map(|line| line.strip_prefix(key)).map(str::trim);
    if value("exit") == Some("killed") || value("stdin").is_some() {
        return Ok(());
    }
    let options: Vec<String> = value("jvm")
        .map(|words| words.split_whitespace().map(str::to_string).collect())
        .unwrap_or_default();
    let (before, after) = (plain(subject, &options), recorded(subject, trace, &options));
    if before.status.code() != after.status.code() {
        let stderr = String::from_utf8_lossy(&after.stderr);
        return Err(subject.fail(format!("{} plain, {} recorded\n{stderr}", before.status, after.status)));
    }
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines.join("\n")
    };
    let streams = [
        (
            "output",
            String::from_utf8_lossy(&before.stdout).into_owned(),
            String::from_utf8_lossy(&after.stdout).into_owned(),
        ),
        ("error output", own_lines(&before.stderr), own_lines(&after.stderr)),
    ];
    for (what, before, after) in streams {
        let same = match value("output") {
            Some("any") => true,
            Some("lines") => sorted(before.clone()) == sorted(after.clone()),
            _ => before == after,
        };
        if !same {
            return Err(subject.fail(format!("the {what} differs\nplain:\n{before}\nrecorded:\n{after}")));
        }
    }
    Ok(())
}

#[test]
fn events_are_recorded_and_programs_behave_the_same() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut all = subjects("events", 17);
    all.extend(subjects("events21", 21));
    each(&all, |subject| {
        let trace = dir
            .path()
            .join(format!("{}-{}.ravel", subject.name(), subject.jdk.release));
        behaves_as_plain(subject, &trace)?;
        check(subject, &trace)
    });
}

#[test]
fn hard_programs_behave_the_same() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    each(&subjects("faults", 17), |subject| {
        let trace = dir
            .path()
            .join(format!("{}-{}.ravel", subject.name(), subject.jdk.release));
        behaves_as_plain(subject, &trace)
    });
}

/// Subjects that need syntax or classes of a later Java than 8.
const LATER_THAN_8: &[&str] = &[
    "DefaultMethods",
    "Interrupts",
    "Lambdas",
    "MapBulk",
    "Records",
    "VarHandles",
    "VarargsSwitch",
];

#[test]
fn old_jvms_record_the_same_events() {
    let jdks = old_jdks();
    if jdks.is_empty() {
        skip(
            "old-jdk",
            &format!("no JDK 8 or 11 records events: {OLD_JDKS} names no folder with one"),
        );
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let wanted = |name: &str| !LATER_THAN_8.contains(&name);
    let classes = compiled_for_8("events", wanted);
    let mut all = Vec::new();
    for jdk in jdks {
        let fits = |source: &PathBuf| source.file_stem().and_then(|name| name.to_str()).is_some_and(wanted);
        all.extend(sources("events").into_iter().filter(fits).map(|source| Subject {
            jdk: jdk.clone(),
            source,
            classes: classes.clone(),
        }));
    }
    each(&all, |subject| {
        let trace = dir
            .path()
            .join(format!("{}-{}.ravel", subject.name(), subject.jdk.release));
        behaves_as_plain(subject, &trace)?;
        check(subject, &trace)
    });
}

/// What the filter of repeats loses, and what brings it back: the beginning of a unit that takes a new way late.
#[test]
fn a_late_path_shows_its_beginning_if_repeats_are_kept() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let all: Vec<Subject> = subjects("events", 17)
        .into_iter()
        .filter(|subject| subject.name() == "LatePath")
        .collect();
    assert!(!all.is_empty());
    each(&all, |subject| {
        for (how, wanted) in [(&[][..], false), (&["--keep-repeats"][..], true)] {
            let trace = dir.path().join(format!("late-{}.ravel", subject.jdk.release));
            recorded_with(how, subject, &trace, &[]);
            let seen = write_follows_read(&trace).map_err(|error| subject.fail(error))?;
            if seen != [wanted] {
                return Err(subject.fail(format!("{how:?}: each write after a read in its call: {seen:?}")));
            }
        }
        Ok(())
    });
}

/// For each write of the thread `seller`, whether the trace has a read before it in the same call.
fn write_follows_read(trace: &Path) -> Result<Vec<bool>, ravel_trace::SourceError> {
    let mut reader = Reader::open(trace, ReadOptions::default())?;
    let (mut read, mut found) = (false, Vec::new());
    while let Some(event) = reader.next_event()? {
        if reader.names().thread(event.thread).name != "seller" || !concerns(&event, "Stock.*", reader.names()) {
            continue;
        }
        match event.op {
            Op::Enter { .. } => read = false,
            Op::Read { .. } => read = true,
            Op::Write { .. } => found.push(read),
            _ => {}
        }
    }
    Ok(found)
}

/// Compares a trace with the expectations.
fn check(subject: &Subject, trace: &Path) -> Result<(), String> {
    let text = subject.text();
    let expectations = comment(&text, "expect").ok_or_else(|| subject.fail("its first comment expects nothing"))?;
    let mut reader = Reader::open(trace, ReadOptions::default()).map_err(|error| subject.fail(error))?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().map_err(|error| subject.fail(error))? {
        events.push(event);
    }
    let names = reader.names();
    let failures: Vec<String> = expectations
        .iter()
        .filter_map(|line| expectation(line, &events, names).err())
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(subject.fail(failures.join("; ")))
    }
}

fn expectation(line: &str, events: &[Event], names: &Names) -> Result<(), String> {
    if let Some(list) = line.strip_prefix("thread ") {
        for wanted in list.split(',').map(str::trim) {
            let began = |event: &Event| event.op == Op::Begin && names.thread(event.thread).name == wanted;
            if !events.iter().any(began) {
                return Err(format!("no thread {wanted} began"));
            }
        }
        return Ok(());
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let (words, by) = match words.as_slice() {
        [rest @ .., "by", name] => (rest, Some(*name)),
        rest => (rest, None),
    };
    let (ops, target, comparison, count) = match words {
        [ops, comparison, count] => (*ops, None, *comparison, *count),
        [ops, target, comparison, count] => (*ops, Some(*target), *comparison, *count),
        _ => return Err(format!("{line:?} is no expectation")),
    };
    let count: usize = count.parse().map_err(|_| format!("{line:?}: {count} is no number"))?;
    let seen = events
        .iter()
        .filter(|event| by.is_none_or(|name| names.thread(event.thread).name == name))
        .filter(|event| ops.split('|').any(|op| op == kind(&event.op)))
        .filter(|event| target.is_none_or(|target| target.split('|').any(|one| concerns(event, one, names))))
        .count();
    let holds = match comparison {
        "==" => seen == count,
        ">=" => seen >= count,
        "<=" => seen <= count,
        _ => return Err(format!("{line:?}: {comparison} compares nothing")),
    };
    if holds { Ok(()) } else { Err(format!("{line}: {seen}")) }
}

fn kind(op: &Op) -> &'static str {
    match op {
        Op::Read { .. } => "read",
        Op::Write { .. } => "write",
        Op::Update { .. } => "update",
        Op::Acquire {
            mode: Mode::Exclusive, ..
        } => "acquire",
        Op::Acquire { .. } => "acquire-shared",
        Op::Release {
            mode: Mode::Exclusive, ..
        } => "release",
        Op::Release { .. } => "release-shared",
        Op::Wait { .. } => "wait",
        Op::Resume { .. } => "resume",
        Op::Notify { all: false, .. } => "notify",
        Op::Notify { .. } => "notify-all",
        Op::Fork { .. } => "fork",
        Op::Begin => "begin",
        Op::End { .. } => "end",
        Op::Join { .. } => "join",
        Op::Send { .. } => "send",
        Op::Receive { .. } => "receive",
        Op::Enter { .. } => "enter",
        Op::Exit { .. } => "exit",
        Op::Initialized { .. } => "initialized",
        Op::UnitBegin | Op::UnitEnd => "unit",
        Op::Returned { .. } => "returned",
        Op::Call => "call",
    }
}

/// Whether an event is of the wanted field, element type, method or class.
fn concerns(event: &Event, wanted: &str, names: &Names) -> bool {
    let member = |class: &str, member: &str| {
        wanted
            .rsplit_once('.')
            .is_some_and(|(of, name)| is_class(class, of) && (name == "*" || name == member))
    };
    match event.op {
        Op::Read { location, .. } | Op::Write { location, .. } | Op::Update { location, .. } => {
            match names.locations[location.index()] {
                Location::Element(..) => {
                    let SiteKind::Element(descriptor) = &names.site(event.site).what else {
                        return false;
                    };
                    wanted
                        .strip_suffix("[]")
                        .is_some_and(|element| is_element(descriptor, element))
                }
                _ => names.field_of(location).is_some_and(|field| {
                    let field = names.field(field);
                    member(&names.class(field.class).name, &field.name)
                }),
            }
        }
        Op::Acquire { lock, .. }
        | Op::Release { lock, .. }
        | Op::Wait { lock }
        | Op::Resume { lock, .. }
        | Op::Notify { lock, .. } => is_class(&names.lock(lock).name, wanted),
        Op::Send { sync } | Op::Receive { sync } => is_class(&names.sync(sync).name, wanted),
        Op::Fork { child } | Op::Join { child, .. } => names.thread(child).name == wanted,
        Op::Enter { method } | Op::Exit { method } => {
            let method = names.method(method);
            member(&names.class(method.class).name, &method.name)
        }
        Op::Initialized { class } => is_class(&names.class(class).name, wanted),
        _ => false,
    }
}

fn is_class(name: &str, wanted: &str) -> bool {
    let name = name.replace('$', ".");
    name == wanted || format!(".{name}.").contains(&format!(".{wanted}."))
}

fn is_element(descriptor: &str, element: &str) -> bool {
    match descriptor {
        "[I" => element == "int",
        "[J" => element == "long",
        "[F" => element == "float",
        "[D" => element == "double",
        "[S" => element == "short",
        "[C" => element == "char",
        "[B" => matches!(element, "byte" | "boolean"),
        _ => element == "Object",
    }
}
