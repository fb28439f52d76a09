//! Scans the given paths and says what it found and how long each part took: `timing [--variant] [--jdk HOME] PATH...`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use ravel_scan::rules::RULES;
use ravel_scan::{Options, scan};

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--variant" => options.variant = true,
            "--jdk" => options.jdk = arguments.next().map(PathBuf::from),
            path => paths.push(path.into()),
        }
    }
    let start = Instant::now();
    match scan(&paths, &options) {
        Ok(scan) => {
            for rule in RULES {
                let all = scan.findings.iter().filter(|finding| finding.rule == rule);
                let shown = all.clone().filter(|finding| finding.shown).count();
                println!("{:<24} {shown} shown, {} held back", rule.name(), all.count() - shown);
            }
            println!(
                "{:.3} s: {:?}\n{:?}",
                start.elapsed().as_secs_f64(),
                scan.times,
                scan.counts
            );
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
