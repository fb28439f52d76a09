//! `ravel trace dump`: the events, one per line.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use ravel_trace::names::SiteKind;
use ravel_trace::{Event, LocationId, LockId, Mode, Names, Op, Source, ThreadId, Value};

use super::{open, warn};

/// Arguments.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The trace.
    trace: PathBuf,
    /// Only events of threads with this name (repeatable).
    #[arg(long, value_name = "NAME")]
    thread: Vec<String>,
    /// Only events on locations, locks and synchronisation objects whose name contains TEXT (repeatable).
    #[arg(long, value_name = "TEXT")]
    location: Vec<String>,
    /// Only events with these numbers, the end excluded: `100..200`, `100..`, `..200`.
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    range: Option<(u64, u64)>,
    /// Stop after this many lines.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Skip damaged parts of the trace instead of stopping there.
    #[arg(long)]
    salvage: bool,
}

fn parse_range(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or("a range is written A..B")?;
    let number = |text: &str, default| match text {
        "" => Ok(default),
        _ => text.parse().map_err(|_| format!("`{text}` is not a number")),
    };
    let (from, to) = (number(from, 0)?, number(to, u64::MAX)?);
    if from > to {
        Err("the range ends before it starts".to_string())
    } else {
        Ok((from, to))
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let mut reader = open(&args.trace, args.salvage)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (from, to) = args.range.unwrap_or((0, u64::MAX));
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut line = String::new();
    let mut number = 0;
    let mut known_threads = false;
    while left > 0 && number < to {
        let Some(event) = reader.next_event()? else { break };
        let names = reader.names();
        let thread = &names.thread(event.thread).name;
        known_threads |= args.thread.contains(thread);
        let wanted = number >= from
            && (args.thread.is_empty() || args.thread.contains(thread))
            && (args.location.is_empty() || matches_location(&event, names, &args.location));
        if wanted {
            line.clear();
            describe(&mut line, number, &event, names);
            out.write_all(line.as_bytes())?;
            left -= 1;
        }
        number += 1;
    }
    out.flush()?;
    drop(out);
    if !args.thread.is_empty() && !known_threads {
        let mut names: Vec<&str> = reader
            .names()
            .threads
            .iter()
            .map(|thread| thread.name.as_str())
            .collect();
        names.truncate(20);
        eprintln!(
            "ravel: no event of a thread named {}; the threads are {}",
            args.thread.join(" or "),
            names.join(", ")
        );
    }
    warn(&args.trace, &reader);
    Ok(())
}

fn matches_location(event: &Event, names: &Names, texts: &[String]) -> bool {
    let name = match event.op {
        Op::Read { location, .. } | Op::Write { location, .. } | Op::Update { location, .. } => {
            location_label(names, location)
        }
        Op::Acquire { lock, .. }
        | Op::Release { lock, .. }
        | Op::Wait { lock }
        | Op::Resume { lock, .. }
        | Op::Notify { lock, .. } => lock_label(names, lock),
        Op::Send { sync } | Op::Receive { sync } => names.sync(sync).name.clone(),
        _ => return false,
    };
    texts.iter().any(|text| name.contains(text.as_str()))
}

/// A location with a number that distinguishes it from others of the same name.
pub(super) fn location_label(names: &Names, location: LocationId) -> String {
    use ravel_trace::names::Location;
    let name = names.location_name(location);
    match names.locations[location.index()] {
        Location::Field(object, _) | Location::Entry(object, _, _) => format!("{name} of {:x}", object.0),
        _ => name,
    }
}

/// A lock with its object's number.
pub(super) fn lock_label(names: &Names, lock: LockId) -> String {
    let lock = names.lock(lock);
    format!("{} {:x}", lock.name, lock.object.0)
}

fn describe(out: &mut String, number: u64, event: &Event, names: &Names) {
    let thread = &names.thread(event.thread).name;
    // Writing to a string cannot fail.
    let _ = write!(out, "{number:>9} {thread:<12} {:>8} ", event.position);
    operation(out, &event.op, names);
    place(out, event, names);
    out.push('\n');
}

fn operation(out: &mut String, op: &Op, names: &Names) {
    let thread = |thread: ThreadId| names.thread(thread).name.as_str();
    let mode = |mode: Mode| if mode == Mode::Shared { " (shared)" } else { "" };
    let _ = match *op {
        Op::Read { location, value } => access(out, "read", location, value, names),
        Op::Write { location, value } => access(out, "write", location, value, names),
        Op::Update { location, value } => access(out, "update", location, value, names),
        Op::Acquire { lock, mode: m } => write!(out, "acquire   {}{}", lock_label(names, lock), mode(m)),
        Op::Release { lock, mode: m } => write!(out, "release   {}{}", lock_label(names, lock), mode(m)),
        Op::Wait { lock } => write!(out, "wait      {}", lock_label(names, lock)),
        Op::Resume { lock, notified } => {
            write!(
                out,
                "resume    {}{}",
                lock_label(names, lock),
                if notified { "" } else { " (not notified)" }
            )
        }
        Op::Notify { lock, all } => {
            write!(
                out,
                "{} {}",
                if all { "notifyall" } else { "notify   " },
                lock_label(names, lock)
            )
        }
        Op::Fork { child } => write!(out, "fork      {}", thread(child)),
        Op::Begin => write!(out, "begin"),
        Op::End { exception } => write!(
            out,
            "end{}",
            if exception {
                "       by an uncaught exception"
            } else {
                ""
            }
        ),
        Op::Join { child, limited: false } => write!(out, "join      {}", thread(child)),
        Op::Join { child, limited: true } => write!(out, "join      {} (within a limit)", thread(child)),
        Op::Send { sync } => write!(
            out,
            "send      {} {:x}",
            names.sync(sync).name,
            names.sync(sync).object.0
        ),
        Op::Receive { sync } => write!(
            out,
            "receive   {} {:x}",
            names.sync(sync).name,
            names.sync(sync).object.0
        ),
        Op::Enter { method } => write!(out, "enter     {}", names.method_text(method)),
        Op::Exit { method } => write!(out, "exit      {}", names.method_text(method)),
        Op::Call => write!(out, "call"),
        Op::Initialized { class } => write!(out, "init      {}", names.class(class).name),
        Op::UnitBegin => write!(out, "unit begin"),
        Op::UnitEnd => write!(out, "unit end"),
        Op::Returned { method, value } => {
            let _ = write!(out, "returned  {}", names.method_text(method));
            shown(out, value)
        }
    };
}

fn access(out: &mut String, what: &str, location: LocationId, value: Value, names: &Names) -> std::fmt::Result {
    write!(out, "{what:<9} {}", location_label(names, location))?;
    shown(out, value)
}

fn shown(out: &mut String, value: Value) -> std::fmt::Result {
    match value {
        Value::Unknown => Ok(()),
        Value::Exact(value) => write!(out, " = {value}"),
        Value::Digest(digest) => write!(out, " = ~{digest:04x}"),
    }
}

fn place(out: &mut String, event: &Event, names: &Names) {
    let site = names.site(event.site);
    let frame = names.frame(site.method, event.site);
    let _ = match (frame.method, frame.line) {
        ("" | "?", 0) => Ok(()),
        ("" | "?", line) => write!(out, "  at {line}"),
        (_, 0) => write!(out, "  at {} [{}]", frame.name(), site.bci),
        _ => write!(out, "  at {frame}"),
    };
    if let SiteKind::Call(target) = &site.what {
        let _ = write!(out, " calls {target}");
    }
}
