//! `ravel scan`: static analysis of class files, no run needed.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;
use ravel_analysis::finding::{ClassCounts, Report, Summary};
use ravel_scan::{Options, listing, scan};

/// How findings are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ScanFormat {
    /// For people.
    Text,
    /// The stable form that all of Ravel's findings have.
    Json,
}

/// Find suspicious locking in class files, without running anything.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Jars, wars, directories, class files or JDKs.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Also find two different locks taken in turn under a third: more findings, more of them harmless.
    #[arg(long)]
    variant: bool,
    /// The JDK whose classes say what library calls lock; without one they lock nothing.
    #[arg(long, value_name = "HOME")]
    jdk: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    format: ScanFormat,
    /// Show also what is held back: what rests on calls that several methods may answer.
    #[arg(long)]
    all: bool,
    /// A class whose objects are never shared although they lock themselves (`shop.Buffer`, `shop.*`).
    #[arg(long, value_name = "CLASS")]
    unshared: Vec<String>,
    /// A class on the built-in list whose objects are shared here (`java.util.Vector`).
    #[arg(long, value_name = "CLASS")]
    shared: Vec<String>,
}

/// Scans and prints. Exit 0: nothing found, 1: something, 3: there was no class to look at.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = Options {
        variant: args.variant,
        jdk: args.jdk,
        ..Options::default()
    };
    for class in &args.unshared {
        options.filter.add_unshared(class);
    }
    for class in &args.shared {
        options.filter.remove_unshared(class);
    }
    let scan = scan(&args.paths, &options).context("scanning")?;
    let mut out = std::io::stdout().lock();
    let text = match args.format {
        ScanFormat::Text => {
            listing::findings(&scan.findings, args.all) + &listing::summary(&scan.counts, &scan.findings)
        }
        ScanFormat::Json => {
            let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
            let classes = ClassCounts {
                instrumented: scan.counts.wanted as u64,
                skipped: scan.counts.duplicates as u64,
                failed: scan.counts.failed as u64,
            };
            let report = Report {
                version: 1,
                program: paths.join(" "),
                summary: Summary {
                    classes,
                    ..Summary::default()
                },
                findings: scan.findings.clone(),
            };
            serde_json::to_string_pretty(&report)? + "\n"
        }
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        done => done.context("writing")?,
    }
    for problem in &scan.problems {
        eprintln!("ravel: {problem}");
    }
    let clean = !scan.findings.iter().any(|finding| args.all || finding.shown);
    Ok(match (scan.counts.wanted, clean) {
        (0, _) => ExitCode::from(3),
        (_, true) => ExitCode::SUCCESS,
        (_, false) => ExitCode::from(1),
    })
}
