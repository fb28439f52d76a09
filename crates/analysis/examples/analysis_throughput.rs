//! Events per second of each analysis, on one core, over generated traces of growing length.
//!
//! `cargo run --release -p ravel-analysis --example analysis_throughput [-- MAXIMUM-EVENTS [NAME,NAME…]]` measures those
//! named, by default each and all together; `-- EVENTS std FILE` writes a trace as text for other tools instead.

use ravel_analysis::engine::{Analysis, Engine};
use ravel_analysis::generate::{Generator, Shape, std_line};
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;
use ravel_trace::{Event, Names, Source, SourceError};
use std::io::Write;

/// A trace held in memory, so that only the analysis is measured.
struct Held<'a> {
    events: std::slice::Iter<'a, Event>,
    names: &'a Names,
}

impl Source for Held<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        Ok(self.events.next().copied())
    }

    fn names(&self) -> &Names {
        self.names
    }
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|n| n.parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}

/// Time on a core, so that other work on the machine does not count.
fn cpu_seconds() -> f64 {
    let line = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    line.split_whitespace()
        .next()
        .and_then(|n| n.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1e9
}

fn measure(name: &str, analyses: Vec<Box<dyn Analysis>>, source: &mut dyn Source) {
    let settings = UnitSettings::default();
    let start = cpu_seconds();
    let outcome = Engine::new(&settings, analyses).run(source);
    let seconds = cpu_seconds() - start;
    println!(
        "{:>10} events  {name:<16} {:>8.2} M events/s  {:>6.2} s  {:>4} reports  peak {} MB",
        outcome.events,
        outcome.events as f64 / seconds / 1e6,
        seconds,
        outcome.reports.len(),
        peak_megabytes()
    );
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let maximum = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(20_000_000u64);
    let shape = |events| Shape {
        events,
        races: 5,
        violations: 5,
        ..Shape::default()
    };
    if let (Some("std"), Some(file)) = (arguments.get(1).map(String::as_str), arguments.get(2)) {
        let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
        let mut generator = Generator::new(shape(maximum));
        while let Ok(Some(event)) = generator.next_event() {
            if let Some(line) = std_line(generator.names(), &event) {
                writeln!(out, "{line}")?;
            }
        }
        return out.flush();
    }
    let chosen: Vec<&str> = match arguments.get(1) {
        Some(list) => list.split(',').collect(),
        None => registry::names().chain(["all"]).collect(),
    };
    let make = |name: &str| match name {
        "all" => registry::all(),
        name => registry::by_name(name).into_iter().collect(),
    };
    for events in [100_000, 1_000_000, 5_000_000, 20_000_000]
        .into_iter()
        .filter(|e| *e <= maximum)
    {
        let mut generator = Generator::new(shape(events));
        // Beyond this a trace in memory would be what is measured: then it is made as it is read.
        if events > 5_000_000 {
            let start = cpu_seconds();
            let mut count = 0u64;
            while let Ok(Some(_)) = generator.next_event() {
                count += 1;
            }
            println!(
                "{count:>10} events  (generator alone {:.2} s, included below)",
                cpu_seconds() - start
            );
            for name in &chosen {
                measure(name, make(name), &mut Generator::new(shape(events)));
            }
            continue;
        }
        let mut held = Vec::new();
        while let Ok(Some(event)) = generator.next_event() {
            held.push(event);
        }
        let names = generator.names();
        measure(
            "none",
            Vec::new(),
            &mut Held {
                events: held.iter(),
                names,
            },
        );
        for name in &chosen {
            let source = &mut Held {
                events: held.iter(),
                names,
            };
            measure(name, make(name), source);
        }
    }
    Ok(())
}
