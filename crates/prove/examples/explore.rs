//! Runs to the first failure of a search, for each strategy, as a table: `explore SEEDS TRACE…`.
//!
//! Each trace is of a program with a bug. For each of the seeds and each strategy the program is run again and again inside a JVM of its
//! own until a run fails; a search that does not fail in time counts as many runs as it made. The last column is how many runs a second
//! the guided search makes of a program if it is not stopped.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ravel_protocol::{Inside, Search, Searched, StrategyKind};
use ravel_prove::job::quiet_fields;
use ravel_prove::jvm::JvmRunner;
use ravel_trace::{ReadOptions, Trace};

/// The time of one search.
const TIME: Duration = Duration::from_secs(10);
/// The most runs of one search.
const RUNS: u32 = 5_000;
/// The time in which the speed is measured.
const SPEED_TIME: Duration = Duration::from_secs(2);
/// Seeds lie this far apart: a search uses one for each of its runs.
const APART: u64 = 1_000_003;

const STRATEGIES: [StrategyKind; 4] = [
    StrategyKind::Guided,
    StrategyKind::Random,
    StrategyKind::PartialOrder,
    StrategyKind::Priorities,
];

/// What a search came to.
struct Searching {
    /// The run that failed first, from 1.
    first: Option<u32>,
    runs: u32,
    millis: u64,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(seeds) = arguments.next().and_then(|word| word.parse::<u64>().ok()) else {
        eprintln!("usage: explore SEEDS TRACE…");
        return ExitCode::from(2);
    };
    println!("| program | guided | random | partial order | priorities | less runs | guided runs/s |");
    println!("|---|---|---|---|---|---|---|");
    let (mut better, mut equal, mut all) = (0, 0, 0);
    for path in arguments {
        match row(Path::new(&path), seeds) {
            Ok(Some(order)) => {
                all += 1;
                better += u32::from(order.is_lt());
                equal += u32::from(order.is_eq());
            }
            Ok(None) => {}
            Err(error) => eprintln!("{path}: {error:#}"),
        }
    }
    println!(
        "\nThe guided search needs fewer runs than random choice for {better} of {all} programs, as many for {equal}."
    );
    ExitCode::SUCCESS
}

/// The row of a program; whether the guided search needs fewer runs than random choice, if any strategy fails at all.
fn row(path: &Path, seeds: u64) -> anyhow::Result<Option<std::cmp::Ordering>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut trace = Trace::open(path, ReadOptions::default())?;
    let runner = JvmRunner::of(trace.reader(), TIME)?;
    let quiet = quiet_fields(&mut trace)?;
    let search = |strategy: StrategyKind, seed: u64, first: bool| -> anyhow::Result<Searching> {
        let time = if first { TIME } else { SPEED_TIME };
        let plan = Search {
            strategy,
            seed: 1 + seed * APART,
            inside: Some(Inside {
                runs: if first { RUNS } else { u32::MAX },
                millis: time.as_millis() as u64,
                stale: u32::MAX,
                first,
            }),
            follow: None,
            quiet: quiet.clone(),
        };
        let mut searching = Searching {
            first: None,
            runs: 0,
            millis: 0,
        };
        for line in runner.search(&plan, time)? {
            match line {
                Searched::Failed { run, .. } => searching.first = searching.first.or(Some(run + 1)),
                Searched::Ended {
                    obstacle: Some(why), ..
                } => anyhow::bail!("{why}"),
                Searched::Ended { runs, millis, .. } => (searching.runs, searching.millis) = (runs, millis),
                _ => {}
            }
        }
        Ok(searching)
    };
    let mut cells = Vec::new();
    let mut means = Vec::new();
    for strategy in STRATEGIES {
        let (mut sum, mut failed) = (0, 0);
        for seed in 0..seeds {
            let one = search(strategy, seed, true)?;
            sum += u64::from(one.first.unwrap_or(one.runs));
            failed += u64::from(one.first.is_some());
        }
        if strategy == StrategyKind::Guided && failed == 0 {
            eprintln!("{name}: no run fails");
            return Ok(None);
        }
        let mean = sum as f64 / seeds as f64;
        cells.push(match failed == seeds {
            true => format!("{mean:.1}"),
            false => format!("{mean:.0} ({failed} of {seeds} failed)"),
        });
        means.push(mean);
    }
    let speed = search(StrategyKind::Guided, 0, false)?;
    let order = means[0].total_cmp(&means[1]);
    println!(
        "| {name} | {} | {} | {:.0} |",
        cells.join(" | "),
        if order.is_lt() {
            "guided"
        } else if order.is_gt() {
            "random"
        } else {
            "equal"
        },
        f64::from(speed.runs) * 1000.0 / speed.millis.max(1) as f64,
    );
    Ok(Some(order))
}
