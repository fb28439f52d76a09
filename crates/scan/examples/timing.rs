//! Scans the given paths and says how long each part took: `timing [--variant] [--list] [--all] PATH...`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use ravel_scan::{Options, listing, scan};

fn main() -> ExitCode {
    let mut options = Options::default();
    let (mut list, mut all) = (false, false);
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--variant" => options.variant = true,
            "--list" => list = true,
            "--all" => all = true,
            "--jdk" => options.jdk = arguments.next().map(PathBuf::from),
            path => paths.push(path.into()),
        }
    }
    let start = Instant::now();
    match scan(&paths, &options) {
        Ok(scan) => {
            if list {
                print!("{}", listing::findings(&scan.findings, all));
            }
            print!("{}", listing::summary(&scan.counts, &scan.findings));
            for rule in ravel_scan::ScanRule::ALL {
                let count = scan
                    .findings
                    .iter()
                    .filter(|f| (all || f.shown) && f.patterns.iter().any(|p| p == rule.name()))
                    .count();
                print!("{} {count}  ", rule.name());
            }
            println!("\n{:.3} s: {:?}", start.elapsed().as_secs_f64(), scan.times);
            for problem in &scan.problems {
                println!("{problem}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
