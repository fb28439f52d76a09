//! `ravel trace info`: the summary of a trace.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use ravel_prove::plans::digest_in_short;
use ravel_trace::names::Location;
use ravel_trace::{Event, LocationId, LockId, Names, Op, Reader, Source, ThreadId};

use super::dump::{location_label, lock_label};
use super::open;
use ravel_analysis::timeline::Timeline;

/// Arguments.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The trace.
    trace: PathBuf,
    /// How many classes, locations, locks and threads to list.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Skip damaged parts of the trace instead of stopping there.
    #[arg(long)]
    salvage: bool,
}

const KINDS: [&str; 21] = [
    "read",
    "write",
    "update",
    "acquire",
    "release",
    "wait",
    "resume",
    "notify",
    "fork",
    "begin",
    "end",
    "join",
    "send",
    "receive",
    "enter",
    "exit",
    "initialized",
    "unit begin",
    "unit end",
    "returned",
    "call",
];

fn kind(op: &Op) -> usize {
    match op {
        Op::Read { .. } => 0,
        Op::Write { .. } => 1,
        Op::Update { .. } => 2,
        Op::Acquire { .. } => 3,
        Op::Release { .. } => 4,
        Op::Wait { .. } => 5,
        Op::Resume { .. } => 6,
        Op::Notify { .. } => 7,
        Op::Fork { .. } => 8,
        Op::Begin => 9,
        Op::End { .. } => 10,
        Op::Join { .. } => 11,
        Op::Send { .. } => 12,
        Op::Receive { .. } => 13,
        Op::Enter { .. } => 14,
        Op::Exit { .. } => 15,
        Op::Initialized { .. } => 16,
        Op::UnitBegin => 17,
        Op::UnitEnd => 18,
        Op::Returned { .. } => 19,
        Op::Call => 20,
    }
}

/// How often something was used, and whether by more than one thread.
#[derive(Clone, Copy, Default)]
struct Use {
    count: u64,
    thread: Option<ThreadId>,
    shared: bool,
}

impl Use {
    fn count(uses: &mut Vec<Use>, index: usize, thread: ThreadId) {
        if uses.len() <= index {
            uses.resize(index + 1, Use::default());
        }
        let used = &mut uses[index];
        used.count += 1;
        used.shared |= used.thread.is_some_and(|other| other != thread);
        used.thread = Some(thread);
    }
}

#[derive(Default)]
struct Counts {
    events: u64,
    kinds: [u64; KINDS.len()],
    locations: Vec<Use>,
    locks: Vec<Use>,
    timeline: Timeline,
}

impl Counts {
    fn count(&mut self, event: &Event) {
        self.events += 1;
        self.kinds[kind(&event.op)] += 1;
        self.timeline.count(event.thread);
        if let Some(location) = event.op.location() {
            Use::count(&mut self.locations, location.index(), event.thread);
        }
        if let Op::Acquire { lock, .. } = event.op {
            Use::count(&mut self.locks, lock.index(), event.thread);
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let mut reader = open(&args.trace, args.salvage)?;
    let mut counts = Counts::default();
    while let Some(event) = reader.next_event()? {
        counts.count(&event);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    run_section(&mut out, &reader, &args.trace.display().to_string(), &counts)?;
    events_section(&mut out, &counts)?;
    threads_section(&mut out, reader.names(), &counts, args.top)?;
    classes_section(&mut out, reader.names(), &counts, args.top)?;
    let names = reader.names();
    uses_section(
        &mut out,
        "locations",
        "accesses",
        &counts.locations,
        args.top,
        |index| location_label(names, LocationId::from(index)),
    )?;
    uses_section(&mut out, "locks", "times taken", &counts.locks, args.top, |index| {
        lock_label(names, LockId::from(index))
    })?;
    out.flush()?;
    Ok(())
}

fn run_section(out: &mut impl Write, reader: &Reader, path: &str, counts: &Counts) -> io::Result<()> {
    let header = reader.header();
    let per_event = reader.file_size() as f64 / counts.events.max(1) as f64;
    writeln!(out, "trace       {path}")?;
    writeln!(out, "size        {} bytes, {per_event:.2} an event", reader.file_size())?;
    for (name, value) in [
        ("command", &header.command.join(" ")),
        ("directory", &header.directory),
        ("java", &header.java_version),
        ("java home", &header.java_home),
        ("ravel", &header.ravel_version),
    ] {
        if !value.is_empty() {
            writeln!(out, "{name:<11} {value}")?;
        }
    }
    if header.start_unix_millis > 0 {
        writeln!(out, "started     {}", utc(header.start_unix_millis / 1000))?;
    }
    if header.pid > 0 {
        writeln!(out, "process     {}", header.pid)?;
    }
    if !header.environment.is_empty() {
        writeln!(out, "environment {} variables", header.environment.len())?;
    }
    for (name, value) in &header.options {
        match name.as_str() {
            "focus" => writeln!(out, "focus       {}", digest_in_short(value))?,
            _ => writeln!(out, "option      {name} = {value}")?,
        }
    }
    if let Some(footer) = reader.footer() {
        write!(out, "ended       {}", footer.ended.as_str())?;
        if let Some(code) = footer.exit_code {
            write!(out, ", exit code {code}")?;
        }
        writeln!(out)?;
        if footer.back_pressure_nanos > 0 {
            writeln!(
                out,
                "waited      {:.3} s for the writer",
                footer.back_pressure_nanos as f64 / 1e9
            )?;
        }
        if footer.classes_instrumented > 0 {
            writeln!(out, "classes     {} instrumented", footer.classes_instrumented)?;
        }
        for (what, list) in [
            ("classes skipped", &footer.classes_skipped),
            ("classes failed", &footer.classes_failed),
            ("methods skipped", &footer.methods_left_alone),
            ("count", &footer.counts),
        ] {
            for (reason, count) in list {
                writeln!(out, "            {what}: {count} {reason}")?;
            }
        }
    }
    let statistics = reader.statistics();
    if statistics.shared_objects > 0 {
        writeln!(out, "objects     {} seen to be shared", statistics.shared_objects)?;
    }
    for warning in reader.warnings() {
        writeln!(out, "note        {warning}")?;
    }
    Ok(())
}

fn events_section(out: &mut impl Write, counts: &Counts) -> io::Result<()> {
    writeln!(out, "\nevents      {}", counts.events)?;
    for (name, count) in KINDS.iter().zip(counts.kinds) {
        if count > 0 {
            writeln!(out, "  {name:<12} {count:>12}")?;
        }
    }
    Ok(())
}

fn threads_section(out: &mut impl Write, names: &Names, counts: &Counts, top: usize) -> io::Result<()> {
    writeln!(out, "\nthreads     {}", names.threads.len())?;
    let mut threads: Vec<ThreadId> = (0..names.threads.len()).map(ThreadId::from).collect();
    let hidden = threads.len().saturating_sub(top);
    if hidden > 0 {
        threads.sort_by_key(|thread| std::cmp::Reverse(counts.timeline.total(*thread)));
        threads.truncate(top);
        threads.sort();
    }
    for thread in threads {
        let name: String = names.thread(thread).name.chars().take(16).collect();
        writeln!(
            out,
            "  {name:<16} {:>10} {}",
            counts.timeline.total(thread),
            counts.timeline.line(thread)
        )?;
    }
    if hidden > 0 {
        writeln!(out, "  and {hidden} with fewer events (--top)")?;
    }
    Ok(())
}

fn classes_section(out: &mut impl Write, names: &Names, counts: &Counts, top: usize) -> io::Result<()> {
    let mut by_class = vec![0u64; names.classes.len()];
    let mut arrays = 0;
    for (location, used) in counts.locations.iter().enumerate() {
        match names.locations.get(location) {
            Some(Location::Element(..)) | None => arrays += used.count,
            Some(Location::Field(_, field) | Location::Entry(_, field, _) | Location::Static(field)) => {
                by_class[names.field(*field).class.index()] += used.count;
            }
            Some(Location::Named(_)) => {}
        }
    }
    let mut classes: Vec<(u64, &str)> = by_class
        .iter()
        .zip(&names.classes)
        .map(|(count, class)| (*count, class.name.as_str()))
        .chain([(arrays, "(array elements)")])
        .filter(|(count, _)| *count > 0)
        .collect();
    if classes.is_empty() {
        return Ok(());
    }
    classes.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    writeln!(out, "\nclasses     {} with accesses", classes.len())?;
    for (count, class) in classes.iter().take(top) {
        writeln!(out, "  {count:>12} {class}")?;
    }
    Ok(())
}

fn uses_section(
    out: &mut impl Write,
    title: &str,
    what: &str,
    uses: &[Use],
    top: usize,
    label: impl Fn(usize) -> String,
) -> io::Result<()> {
    let total = uses.iter().filter(|used| used.count > 0).count();
    if total == 0 {
        return Ok(());
    }
    let shared = uses.iter().filter(|used| used.shared).count();
    writeln!(
        out,
        "\n{title:<11} {total}, {shared} of them used by more than one thread; by {what}:"
    )?;
    let mut order: Vec<usize> = (0..uses.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(uses[*index].count), *index));
    for index in order.into_iter().take(top).filter(|index| uses[*index].count > 0) {
        let mark = if uses[index].shared { "" } else { "  (one thread)" };
        writeln!(out, "  {:>12} {}{mark}", uses[index].count, label(index))?;
    }
    Ok(())
}

/// Seconds since 1970 as a date and time, by the rules of the Gregorian calendar.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March, so that the leap day is the last of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_399), "2000-02-28 23:59:59 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_709_251_199), "2024-02-29 23:59:59 UTC");
        assert_eq!(utc(1_709_251_200), "2024-03-01 00:00:00 UTC");
    }
}
