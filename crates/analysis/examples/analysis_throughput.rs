//! How fast the analyses are: one table, as markdown.
//!
//! `cargo run --release -p ravel-analysis --example analysis_throughput [-- OPTIONS]`, with
//! - `--events N`: the longest trace (default 20,000,000; those measured are 100,000, 1, 5 and 20 million);
//! - `--only NAME,NAME…`: only these analyses (`all` is all seven);
//! - `--threads N,N…`: on so many cores (default 1,2);
//! - `--trace FILE`: a recorded or imported trace instead of generated ones, at most `--events` of it;
//! - `--kind guarded|diverse|wild|hot|database`: only this kind of generated trace (default: all but `wild`, where every
//!   variable races and a million events take gigabytes);
//! - `--std FILE`: writes the longest generated trace (`--kind` before it, default `guarded`) as text for other tools, and measures nothing (`ravel trace import`
//!   reads it; `benches/check.sh` measures `ravel check` on such files).
//!
//! Each row is measured in a process of its own, so that its peak of memory is its own: the generated trace is made as it
//! is read, and what that alone takes is the row `none`. Seconds are of the clock; those on cores are in brackets.

use ravel_analysis::engine::Engine;
use ravel_analysis::generate::{Generator, Shape, std_line};
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;
use ravel_trace::names::{Field, Location, Lock, Site, Sync, Thread};
use ravel_trace::{
    Event, FieldId, LocationId, LockId, Mode, Names, ObjectId, Op, ReadOptions, Reader, SiteId, Source, SourceError,
    SyncId, ThreadId, Value,
};
use std::io::Write;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

/// Eight threads at one variable, in units of the form lock, read, write, unlock, thread after thread; every thousandth
/// forgets the lock, and two of fourteen hand over, so that hard order has as many moments as it may.
struct Hot {
    names: Names,
    made: u64,
    events: u64,
}

const THREADS: u64 = 8;

impl Hot {
    fn new(events: u64) -> Self {
        let mut names = Names::default();
        names.sites.extend((0..9).map(|line| Site {
            line,
            ..Site::default()
        }));
        names.fields.push(Field {
            name: "hot".into(),
            ..Field::default()
        });
        names.locations.push(Location::Named(FieldId(0)));
        names.locks.push(Lock {
            object: ObjectId(1),
            name: "lock".into(),
        });
        names.syncs.push(Sync {
            object: ObjectId(2),
            name: "hand-over".into(),
        });
        names.threads.extend((0..THREADS).map(|n| Thread {
            name: format!("t{n}"),
            ..Thread::default()
        }));
        Hot { names, made: 0, events }
    }
}

impl Source for Hot {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        if self.made >= self.events {
            return Ok(None);
        }
        let (turn, step) = (self.made / 7, self.made % 7);
        self.made += 1;
        let (location, value) = (LocationId(0), Value::Unknown);
        let (lock, mode, sync) = (LockId(0), Mode::Exclusive, SyncId(0));
        let (forgets, hands_over) = (turn % 1000 == 999, turn % 14 < 2);
        let op = match step {
            0 => Op::UnitBegin,
            1 if !forgets => Op::Acquire { lock, mode },
            1 | 2 => Op::Read { location, value },
            3 => Op::Write { location, value },
            4 if !forgets => Op::Release { lock, mode },
            4 => Op::Write { location, value },
            5 => Op::UnitEnd,
            _ if hands_over && turn % 14 == 0 => Op::Send { sync },
            _ if hands_over => Op::Receive { sync },
            _ => Op::Read { location, value },
        };
        Ok(Some(Event {
            thread: ThreadId(u32::try_from(turn % THREADS).unwrap_or(0)),
            position: u32::try_from(self.made).unwrap_or(u32::MAX),
            site: SiteId(u32::try_from(step).unwrap_or(0) + 1),
            op,
        }))
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(Hot::new(self.events)))
    }
}

/// The first events of a trace file.
struct Head<'a> {
    source: Box<dyn Source + 'a>,
    left: u64,
}

impl Source for Head<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.source.next_event()
    }

    fn names(&self) -> &Names {
        self.source.names()
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        let source = self.source.again()?;
        Some(Box::new(Head {
            source,
            left: self.left,
        }))
    }
}

fn guarded(events: u64) -> Shape {
    Shape {
        events,
        races: 5,
        violations: 5,
        ..Shape::default()
    }
}

/// Any variable at any of 2,000 places, and all bugs in the last tenth.
fn diverse(events: u64) -> Shape {
    Shape {
        late: true,
        places: Shape::diverse().places,
        ..guarded(events)
    }
}

fn database() -> Shape {
    Shape {
        events: 450_000,
        threads: 16,
        locks: 256,
        variables: 100_000,
        ..Shape::default()
    }
}

fn source(what: &str, events: u64) -> Result<Box<dyn Source>, Failure> {
    Ok(match what {
        "guarded" => Box::new(Generator::new(guarded(events))),
        "diverse" => Box::new(Generator::new(diverse(events))),
        "wild" => Box::new(Generator::new(Shape {
            guarded: false,
            ..diverse(events)
        })),
        "database" => Box::new(Generator::new(database())),
        "hot" => Box::new(Hot::new(events)),
        file => Box::new(Head {
            source: Box::new(Reader::open(
                std::path::Path::new(file),
                ReadOptions { salvage: false },
            )?),
            left: events,
        }),
    })
}

/// A number of kilobytes from the kernel's table of this process.
fn kilobytes(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with(key)).unwrap_or_default();
    let number = line.split_whitespace().nth(1).and_then(|n| n.parse().ok());
    number.unwrap_or(0)
}

/// Seconds of all threads on a core, so that other work on the machine does not count.
fn on_cores() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |n: usize| fields.get(n).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Measures one row.
fn row(what: &str, events: u64, name: &str, threads: usize) -> Result<(), Failure> {
    let mut source = source(what, events)?;
    let analyses = match name {
        "all" => registry::all(),
        "none" => Vec::new(),
        name => registry::choose(&[name.to_owned()], &[])?,
    };
    let settings = UnitSettings::default();
    let (start, busy) = (Instant::now(), on_cores());
    let outcome = Engine::new(&settings, analyses).threads(threads).run(source.as_mut());
    let (seconds, busy) = (start.elapsed().as_secs_f64(), on_cores() - busy);
    let what = what.rsplit('/').next().unwrap_or(what);
    println!(
        "| {what} | {} | {name} | {threads} | {:.2} | {seconds:.2} ({busy:.2}) | {} | {} | {} |",
        outcome.events,
        outcome.events as f64 / seconds / 1e6,
        kilobytes("VmHWM") / 1024,
        outcome.reports.len(),
        outcome.left_out.len(),
    );
    if std::env::var_os("LEFT_OUT").is_some() {
        outcome.left_out.iter().for_each(|words| eprintln!("  {words}"));
    }
    Ok(())
}

#[derive(Default)]
struct Options {
    events: u64,
    only: Vec<String>,
    threads: Vec<usize>,
    trace: Option<String>,
    kind: Option<String>,
}

fn main() -> Result<(), Failure> {
    let mut options = Options {
        events: 20_000_000,
        threads: vec![1, 2],
        ..Options::default()
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--events" => options.events = value()?.replace('_', "").parse()?,
            "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
            "--threads" => options.threads = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--trace" => options.trace = Some(value()?),
            "--kind" => options.kind = Some(value()?),
            "--std" => {
                let kind = options.kind.as_deref().unwrap_or("guarded");
                return write_std(source(kind, options.events)?, &value()?);
            }
            "--row" => {
                let (what, events, name, threads) = (value()?, value()?, value()?, value()?);
                return row(&what, events.parse()?, &name, threads.parse()?);
            }
            other => return Err(format!("there is no option {other}").into()),
        }
    }
    table(&options)
}

fn table(options: &Options) -> Result<(), Failure> {
    println!(
        "| trace | events | analysis | cores | M events/s | seconds (on cores) | peak MB | reports | bounds hit |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let lengths = || {
        let all = [100_000, 1_000_000, 5_000_000, 20_000_000];
        all.into_iter().filter(|events| *events <= options.events)
    };
    if let Some(file) = &options.trace {
        return rows(options, file, options.events, &["none", "all"]);
    }
    let every: Vec<&str> = ["none"].into_iter().chain(registry::names()).chain(["all"]).collect();
    let wanted = |kind: &str| options.kind.as_deref().map_or(kind != "wild", |only| only == kind);
    for kind in ["guarded", "diverse", "wild", "hot"]
        .into_iter()
        .filter(|kind| wanted(kind))
    {
        for events in lengths() {
            rows(options, kind, events, &every)?;
        }
    }
    if wanted("database") {
        rows(options, "database", 450_000, &["patterns", "all"])?;
    }
    Ok(())
}

/// Measures the analyses wanted, each in a process of its own.
fn rows(options: &Options, what: &str, events: u64, names: &[&str]) -> Result<(), Failure> {
    let wanted: Vec<&str> = match options.only.as_slice() {
        [] => names.to_vec(),
        only => only.iter().map(String::as_str).collect(),
    };
    for name in wanted {
        for threads in &options.threads {
            let status = std::process::Command::new(std::env::current_exe()?)
                .args(["--row", what, &events.to_string(), name, &threads.to_string()])
                .status()?;
            if !status.success() {
                return Err(format!("{name} on {what} failed: {status}").into());
            }
        }
    }
    Ok(())
}

fn write_std(mut source: Box<dyn Source>, file: &str) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    while let Ok(Some(event)) = source.next_event() {
        if let Some(line) = std_line(source.names(), &event) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(out.flush()?)
}
