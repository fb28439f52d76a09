//! `ravel demo`: finds and proves the bug of a built-in program.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ravel_agent::options::Options;
use ravel_prove::interrupt;
use ravel_prove::java::{self, Java};
use ravel_prove::job::Job;
use ravel_prove::proof::Budget;
use ravel_prove::recording::{Recording, Start, record};
use ravel_prove::scratch;
use ravel_report::Notes;
use ravel_report::config::Config;
use ravel_report::words::count;
use ravel_report::{Format, Output};

use super::report::{ReportArgs, print};
use super::run;
use crate::progress::Terminal;

/// The limits for the built-in program.
const BUDGET: Budget = Budget {
    jobs: 1,
    repeats: 0,
    total: Duration::from_secs(120),
    run: Duration::from_secs(20),
};

const SOURCE: &str = include_str!("../../demo/shop/Shop.java");

/// The bug of the program, and its fix.
const BUGGY: &str = "\
        int count = Math.min(wanted, tickets.left());
        tickets.take(count);
        return count;
";
const FIXED: &str = "\
        synchronized (tickets) {
            int count = Math.min(wanted, tickets.left());
            tickets.take(count);
            return count;
        }
";

/// The arguments of `ravel demo`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Keep the program, its classes and the trace in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The built-in program, compiled and recorded.
pub struct Demo {
    /// Where its source is.
    pub sources: PathBuf,
    /// Where its classes are.
    pub classes: PathBuf,
    /// Its trace.
    pub trace: PathBuf,
    /// What was recorded, and how the program ended.
    pub recording: Recording,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let temporary;
    let directory = match &args.keep {
        Some(directory) => {
            std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
            std::path::absolute(directory).with_context(|| directory.display().to_string())?
        }
        None => {
            temporary = scratch::directory()?;
            // The directory is deleted at the end, so paths in the report can be relative to it.
            std::env::set_current_dir(temporary.path()).context("a temporary directory")?;
            PathBuf::new()
        }
    };
    let kept = args.keep.is_some();
    let demo = demo(&directory)?;
    if demo.recording.traces.is_empty() {
        super::record::report(&demo.recording);
        return Ok(ExitCode::from(interrupt::exit_code().unwrap_or(3)));
    }
    seen(&demo, kept)?;
    print("\n4. Predicting other orders of the same steps, and forcing them:\n\n")?;
    let report = ReportArgs {
        source: vec![demo.sources.clone()],
        out: if kept { vec![page(&directory)] } else { Vec::new() },
        ..ReportArgs::default()
    };
    let config = Config::default();
    let mut settings = run::settings(&config, BUDGET);
    settings.traces_vanish = !kept;
    let mut job = Job::new(settings, &Terminal);
    job.traces(std::slice::from_ref(&demo.trace))?;
    let code = run::report(job.finish(), Notes::default(), &report, &config)?;
    if interrupt::requested() {
        return Ok(code);
    }
    corrected(&directory)?;
    if let Some(signal) = interrupt::exit_code() {
        return Ok(ExitCode::from(signal));
    }
    if kept {
        print(&format!(
            "\nThe same report as a page: {}\n",
            directory.join("report.html").display()
        ))?;
    }
    print("\nNow your program: ravel run -- java -cp CLASSES MAIN\n(or mvn test, or a script that starts a JVM)\n")?;
    Ok(code)
}

fn page(directory: &Path) -> Output {
    Output {
        format: Format::Html,
        file: Some(directory.join("report.html")),
    }
}

/// Compiles the built-in program into `directory` and records it there, with a line about each step.
pub fn demo(directory: &Path) -> Result<Demo> {
    let java = java::jdk()?;
    let lines = SOURCE.lines().count();
    print(&format!(
        "1. The program: shop/Shop.java, {lines} lines. Two customers buy from five tickets;\n   \
         every method of Tickets is synchronized, but buying calls two of them:\n\n{}\n",
        excerpt(SOURCE)
    ))?;
    print(&format!("2. Compiling it with {}.\n", java.tool("javac").display()))?;
    let built = compile(&java, SOURCE, directory, "")?;
    print("3. Recording one run. It succeeds, as nearly every run does. Its output:\n\n")?;
    built.record(&java, &directory.join("demo.ravel"))
}

/// Shows that Ravel finds no bug in the fixed program.
fn corrected(directory: &Path) -> Result<()> {
    let source = SOURCE.replace(BUGGY, FIXED);
    print(&format!(
        "\n5. The same program with one lock over both calls:\n\n{}\n   Recorded and forced in the same way, it prints:\n\n",
        excerpt(&source)
    ))?;
    let java = java::jdk()?;
    let demo = compile(&java, &source, directory, "fixed/")?.record(&java, &directory.join("fixed.ravel"))?;
    if interrupt::requested() || demo.recording.traces.is_empty() {
        super::record::report(&demo.recording);
        return Ok(());
    }
    let mut job = Job::new(run::settings(&Config::default(), BUDGET), &Terminal);
    job.traces(std::slice::from_ref(&demo.trace))?;
    if interrupt::requested() {
        return Ok(());
    }
    let left = job.findings().iter().filter(|finding| finding.shown).count();
    print(&match left {
        0 => "\n   No bug found: the fix is complete.\n".to_owned(),
        left => format!(
            "\n   Found {}, although the program is correct.\n",
            count(left as u64, "bug")
        ),
    })
}

/// A compiled variant of the program.
struct Built {
    sources: PathBuf,
    classes: PathBuf,
}

impl Built {
    fn record(self, java: &Java, trace: &Path) -> Result<Demo> {
        let command = [
            java.tool("java").to_string_lossy().into_owned(),
            "-cp".to_string(),
            self.classes.to_string_lossy().into_owned(),
            "shop.Shop".to_string(),
        ];
        let recording = record(&command, trace, Options::default(), &Start::simple(), &Terminal)?;
        let trace = recording
            .traces
            .first()
            .map_or(trace.to_path_buf(), |recorded| recorded.path.clone());
        Ok(Demo {
            sources: self.sources,
            classes: self.classes,
            trace,
            recording,
        })
    }
}

/// The method with the bug.
fn excerpt(source: &str) -> String {
    let method = source
        .lines()
        .skip_while(|line| !line.contains("int buyUpTo"))
        .take_while(|line| !line.is_empty());
    method.map(|line| format!("  {line}\n")).collect()
}

fn compile(java: &Java, text: &str, directory: &Path, variant: &str) -> Result<Built> {
    let (sources, classes) = (
        directory.join(format!("{variant}src")),
        directory.join(format!("{variant}classes")),
    );
    let source = sources.join("shop/Shop.java");
    std::fs::create_dir_all(sources.join("shop")).with_context(|| format!("cannot make {}", sources.display()))?;
    std::fs::create_dir_all(&classes).with_context(|| format!("cannot make {}", classes.display()))?;
    std::fs::write(&source, text).with_context(|| format!("cannot write {}", source.display()))?;
    let javac = java.tool("javac");
    let output = Command::new(&javac)
        .args(["-g", "-d"])
        .arg(&classes)
        .arg(&source)
        .output()
        .with_context(|| format!("cannot start {}", javac.display()))?;
    if !output.status.success() {
        bail!(
            "{} could not compile the built-in program:\n{}",
            javac.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(Built { sources, classes })
}

fn seen(demo: &Demo, kept: bool) -> Result<()> {
    let Some(seen) = demo.recording.traces.first() else {
        return Ok(());
    };
    let mut text = format!(
        "\n   Ravel recorded {} of {}, which share {}.\n",
        count(seen.events, "event"),
        count(seen.threads as u64, "thread"),
        count(seen.shared.unwrap_or(0) as u64, "memory cell"),
    );
    if kept {
        text.push_str(&format!(
            "   The program is in {}, its classes in {}.\n   Look into the trace: ravel trace dump {}\n",
            demo.sources.display(),
            demo.classes.display(),
            demo.trace.display()
        ));
    } else {
        text.push_str(
            "   (ravel demo --keep DIR keeps the program, its classes, the trace and a report\n   in HTML.)\n",
        );
    }
    print(&text)
}
