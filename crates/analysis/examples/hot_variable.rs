//! Does a search go quadratic on a hot variable? Times `patterns`, `blocks` and `reduction` on traces of growing length in which
//! eight threads work on one variable, with a hand-over between threads every hundred events so that hard order has as many
//! moments as it may; and on a trace of 450,000 events shaped like a database's (16 threads, 256 locks, 100,000 variables).
//!
//! `cargo run --release -p ravel-analysis --example hot_variable [-- MAXIMUM-EVENTS]`

use std::time::Instant;

use ravel_analysis::engine::Engine;
use ravel_analysis::generate::{Generator, Shape};
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;
use ravel_trace::names::{Field, Location, Lock, Site, Sync, Thread};
use ravel_trace::{
    Event, FieldId, LocationId, LockId, Mode, Names, ObjectId, Op, SiteId, Source, SourceError, SyncId, ThreadId, Value,
};

const THREADS: u64 = 8;

/// Units of the form lock, read, write, unlock on one variable, thread after thread; every thousandth forgets the lock.
struct Hot {
    names: Names,
    made: u64,
    events: u64,
}

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
        let thread = ThreadId(u32::try_from(turn % THREADS).unwrap_or(0));
        let site = SiteId(u32::try_from(step).unwrap_or(0) + 1);
        let position = u32::try_from(self.made).unwrap_or(u32::MAX);
        Ok(Some(Event {
            thread,
            position,
            site,
            op,
        }))
    }

    fn names(&self) -> &Names {
        &self.names
    }
}

fn measure(what: &str, name: &str, source: &mut dyn Source) {
    let settings = UnitSettings::default();
    let start = Instant::now();
    let outcome = Engine::new(&settings, registry::by_name(name).into_iter().collect()).run(source);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what:<14} {:>10} events  {name:<10} {seconds:>7.2} s  {:>7.2} M events/s  {:>4} reports",
        outcome.events,
        outcome.events as f64 / seconds / 1e6,
        outcome.reports.len()
    );
}

fn main() {
    let maximum = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(20_000_000u64);
    for name in ["patterns", "blocks", "reduction"] {
        let database = Shape {
            events: 450_000,
            threads: 16,
            locks: 256,
            variables: 100_000,
            ..Shape::default()
        };
        measure("database-like", name, &mut Generator::new(database));
        for events in [100_000, 1_000_000, 5_000_000, 20_000_000]
            .into_iter()
            .filter(|n| *n <= maximum)
        {
            measure("hot variable", name, &mut Hot::new(events));
        }
    }
}
