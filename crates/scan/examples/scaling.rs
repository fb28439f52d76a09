//! Time and memory of a scan against the number of classes, as a table: `scaling JDK_HOME…`.
//!
//! Each row scans more modules of the JDK, in a process of its own, so that its peak of memory is its own.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use ravel_classfile::archive;
use ravel_scan::{Options, scan};

/// A row for about this many classes.
const ROWS: [usize; 6] = [1_000, 2_500, 5_000, 10_000, 20_000, usize::MAX];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == "--row" {
        let home = PathBuf::from(arguments.next().unwrap_or_default());
        return row(&home, arguments.collect());
    }
    println!(
        "| JDK | classes | methods | lines with code | findings | seconds | CPU s | MB |\n|---|---|---|---|---|---|---|---|"
    );
    for home in std::iter::once(first).chain(arguments) {
        if let Err(error) = table(Path::new(&home)) {
            eprintln!("{home}: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn table(home: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut modules: BTreeMap<String, usize> = BTreeMap::new();
    archive::for_each_jdk_class(home, &mut |entry| {
        *modules.entry(entry.module.unwrap_or_default()).or_default() += 1;
        ControlFlow::Continue(())
    })?;
    let mut modules: Vec<(usize, String)> = modules.into_iter().map(|(name, count)| (count, name)).collect();
    modules.sort();
    let mut last = 0;
    for most in ROWS {
        let mut sum = 0;
        let chosen: Vec<&str> = modules
            .iter()
            .take_while(|(count, _)| {
                sum += count;
                sum <= most
            })
            .map(|(_, name)| name.as_str())
            .collect();
        if chosen.len() > last {
            last = chosen.len();
            let row = Command::new(std::env::current_exe()?)
                .arg("--row")
                .arg(home)
                .args(chosen)
                .status()?;
            if !row.success() {
                return Err("a row failed".into());
            }
        }
    }
    Ok(())
}

fn row(home: &Path, modules: Vec<String>) -> ExitCode {
    let options = Options {
        modules,
        ..Options::default()
    };
    let start = Instant::now();
    match scan(&[home.to_path_buf()], &options) {
        Ok(found) => {
            let counts = found.counts;
            println!(
                "| {} | {} | {} | {} | {} | {:.2} | {} | {} |",
                home.file_name().unwrap_or_default().to_string_lossy(),
                counts.classes,
                counts.methods,
                counts.lines,
                found.findings.len(),
                start.elapsed().as_secs_f64(),
                cpu_seconds().map_or("?".to_owned(), |seconds| format!("{seconds:.2}")),
                peak_megabytes().map_or("?".to_owned(), |peak| peak.to_string()),
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// The processor time of this process, where the system says; its clock ticks a hundred times a second.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in brackets: user and system time are the 12th and 13th.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: f64 = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

/// The most memory that this process has had, where the system says.
fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024)
}
