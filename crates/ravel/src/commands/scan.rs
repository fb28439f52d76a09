//! `ravel scan`: static analysis of class files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use ravel_analysis::finding::{ClassCounts, Report, Scanned, Summary};
use ravel_classfile::archive::{self, ArchiveError};
use ravel_report::config::Config;
use ravel_report::{Notes, words};
use ravel_scan::expr::MAX_PARTS;
use ravel_scan::program::Counts;
use ravel_scan::{Options, ScanError, scan};

use super::report::ReportArgs;

/// Find suspicious locking in class files without running them.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Jars, wars, ears, directories of classes or jars, class files or JDKs.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Also report two different locks acquired one after the other under a third: more findings, fewer of them real.
    #[arg(long)]
    variant: bool,
    /// The JDK whose classes show which locks library calls take; without it Ravel assumes none. The result is kept in the cache
    /// directory.
    #[arg(long, value_name = "HOME")]
    jdk: Option<PathBuf>,
    /// A class with synchronized methods whose objects no two threads share (`shop.Buffer`, `shop.*`).
    #[arg(long, value_name = "CLASS")]
    unshared: Vec<String>,
    /// A class on the built-in list of unshared classes whose objects this program does share (`java.util.Vector`).
    #[arg(long, value_name = "CLASS")]
    shared: Vec<String>,
    #[command(flatten)]
    report: ReportArgs,
}

/// The options of the static analysis in `ravel.toml`, and warnings about them.
pub fn options(config: &Config) -> (Options, Vec<String>) {
    let mut options = Options::default();
    for class in &config.scan.unshared {
        options.filter.add_unshared(class);
    }
    let mut warnings = Vec::new();
    for class in &config.scan.shared {
        if !options.filter.remove_unshared(class) {
            warnings.push(format!(
                "{class} is not on the list of unshared classes, so `shared` changes nothing"
            ));
        }
    }
    (options, warnings)
}

/// Scans and reports. Exit 0: nothing shown, 1: something, 3: no class to scan.
pub fn run(args: Args) -> Result<ExitCode> {
    let mut config = args.report.load_config()?;
    config.scan.unshared.extend(args.unshared);
    config.scan.shared.extend(args.shared);
    let (mut options, warnings) = options(&config);
    options.variant = args.variant;
    options.jdk = args.jdk;
    options.cache = ravel_prove::agent_library::cache_directories();
    let start = Instant::now();
    if let Some(home) = options.jdk.as_ref().filter(|home| !is_jdk(home)) {
        anyhow::bail!(
            "--jdk {}: not a JDK: neither lib/modules nor jmods nor rt.jar exists there",
            home.display()
        );
    }
    let scan = scan(&args.paths, &options).map_err(|error| match error {
        ScanError::Archive(ArchiveError::Zip { .. }) => {
            anyhow::anyhow!("{error}; the archive is cut off or damaged: copy or build it again")
        }
        error => anyhow::anyhow!("{error}"),
    })?;
    let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
    if scan.counts.wanted == 0 {
        scan.problems.iter().for_each(|problem| eprintln!("ravel: {problem}"));
        eprintln!(
            "ravel: nothing scanned: no readable class in {}; give jars, wars, directories of classes, class files or JDKs",
            paths.join(" ")
        );
    }
    let scanned = scanned(&scan.counts);
    let notes = Notes {
        analysed: Some(analysed(&scanned, start.elapsed().as_secs_f64())),
        warnings,
        ..Notes::default()
    };
    let report = Report {
        program: paths.join(" "),
        summary: Summary {
            classes: ClassCounts {
                instrumented: scan.counts.wanted as u64,
                skipped: scan.counts.duplicates as u64,
                failed: scan.counts.failed as u64,
            },
            scanned: Some(scanned),
            ..Summary::default()
        },
        warnings: scan.problems,
        findings: scan.findings,
        ..Report::default()
    };
    let code = args.report.emit(report, &config, notes, args.paths)?;
    Ok(if scan.counts.wanted == 0 {
        ExitCode::from(3)
    } else {
        code
    })
}

fn is_jdk(home: &Path) -> bool {
    home.join("lib/modules").is_file() || home.join("jmods").is_dir() || archive::jars(home).is_some()
}

fn scanned(counts: &Counts) -> Scanned {
    Scanned {
        methods: counts.methods as u64,
        lines: counts.lines as u64,
        failed_methods: counts.failed_methods as u64,
        missing_classes: counts.missing as u64,
        unresolved_calls: counts.unresolved as u64,
        reflective_calls: counts.reflective as u64,
        native_methods: counts.native as u64,
        unnamed_locks: counts.unnamed as u64,
        long_names: counts.long as u64,
        large_methods: counts.large as u64,
    }
}

/// The size of the scanned program, and the assumptions of the scan.
fn analysed(scanned: &Scanned, seconds: f64) -> String {
    let count = words::count;
    let lines = match scanned.lines {
        0 => "no line numbers in the class files".to_owned(),
        lines => format!("{} with code", count(lines, "line")),
    };
    let mut text = format!(
        "{}, {lines}, in {seconds:.1} s. Assumed to take no lock: {} not found, {} without a target, {}, {}",
        count(scanned.methods, "method"),
        count(scanned.missing_classes, "class"),
        count(scanned.unresolved_calls, "call"),
        count(scanned.reflective_calls, "reflective call"),
        count(scanned.native_methods, "native method")
    );
    if scanned.failed_methods > 0 {
        text.push_str(&format!(", {} not understood", count(scanned.failed_methods, "method")));
    }
    let mut not_followed = Vec::new();
    if scanned.unnamed_locks > 0 {
        not_followed.push(format!("{} without a name", count(scanned.unnamed_locks, "lock")));
    }
    if scanned.long_names > 0 {
        let names = count(scanned.long_names, "object name");
        not_followed.push(format!("{names} with more than {MAX_PARTS} parts"));
    }
    if scanned.large_methods > 0 {
        not_followed.push(format!(
            "values in {}",
            count(scanned.large_methods, "very large method")
        ));
    }
    if !not_followed.is_empty() {
        text.push_str(&format!(". Not followed: {}", not_followed.join(", ")));
    }
    text
}
