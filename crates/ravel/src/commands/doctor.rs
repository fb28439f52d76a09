//! `ravel doctor`: lists the installed JVMs, whether the agent works in each, what a recording contains, and how to solve each
//! problem.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use ravel_agent::filter::{Filter, Treatment};
use ravel_agent::options::Options;
use ravel_classfile::archive;
use ravel_prove::agent_library;
use ravel_prove::java::{self, Java};
use ravel_prove::recording::{Start, record};
use ravel_prove::scratch;

use super::record::RecorderArgs;
use super::report::print;
use crate::progress::Terminal;

/// Two threads and a monitor; compiled for Java 8, so that every JVM can run it.
const PROBE: &[u8] = include_bytes!("../../demo/probe/Probe.class");

/// The arguments of `ravel doctor`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Class names, jars or directories of classes: shows which of them a recording contains
    #[arg(value_name = "CLASS|JAR|DIR")]
    classes: Vec<String>,
    #[command(flatten)]
    recorder: RecorderArgs,
}

/// Runs the command. Ends with 2 if the JVM that a plain `java` starts cannot be recorded.
pub fn run(args: Args) -> Result<ExitCode> {
    let mut problems = Vec::new();
    platform(&mut problems)?;
    agent(&mut problems)?;
    javas(&mut problems)?;
    environment()?;
    selection(&args)?;
    if problems.is_empty() {
        print("\nEverything is ready: ravel record -o t.ravel -- java …\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&format!(
        "\n{} to solve:\n",
        ravel_report::words::count(problems.len() as u64, "problem")
    ))?;
    for problem in &problems {
        print(&format!("  - {problem}\n"))?;
    }
    Ok(ExitCode::from(2))
}

fn platform(problems: &mut Vec<String>) -> Result<()> {
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let remark = match (system, machine) {
        ("linux", "x86_64") => "",
        ("linux", "aarch64") => " (hardly tested, see docs/platforms.md)",
        _ => " (never tested)",
    };
    print(&format!(
        "ravel     {} on {system} {machine}{remark}\n",
        env!("RAVEL_VERSION")
    ))?;
    if !cfg!(unix) {
        problems.push(format!("{system} is not supported: use Linux, or a Linux container"));
    }
    Ok(())
}

fn agent(problems: &mut Vec<String>) -> Result<()> {
    match agent_library::unpack() {
        Ok(path) => print(&format!("agent     {}\n", path.display())),
        Err(error) => {
            problems.push(format!("{error:#}"));
            print("agent     cannot be unpacked\n")
        }
    }
}

fn javas(problems: &mut Vec<String>) -> Result<()> {
    let installed = java::installed();
    if installed.is_empty() {
        problems.push(format!("no Java found: {}", java::HOW_TO_INSTALL));
        return print("java      none\n");
    }
    let mut works = Vec::new();
    for java in &installed {
        let kind = if java.has_compiler() {
            "JDK"
        } else {
            "runtime without javac"
        };
        print(&format!(
            "java      {} {}, {kind}, {}\n",
            java.home.display(),
            java.version,
            java.found
        ))?;
        let outcome = probe(java);
        match &outcome {
            Ok(words) => print(&format!("            the agent loads: {words}\n"))?,
            Err(error) => print(&format!("            cannot be recorded: {error:#}\n"))?,
        }
        works.push(outcome.is_ok());
    }
    // The first one is the JVM that a plain `java` starts; the others do not matter.
    if works.first() == Some(&false) {
        let first = &installed[0];
        let other = installed.iter().zip(&works).find(|(_, works)| **works);
        problems.push(match other {
            Some((other, _)) => format!(
                "{} ({}) cannot be recorded; start {} instead, or set JAVA_HOME={}",
                first.home.display(),
                first.version,
                other.tool("java").display(),
                other.home.display()
            ),
            None => format!("no Java here can be recorded: {}", java::HOW_TO_INSTALL),
        });
    }
    Ok(())
}

/// Records the built-in class on this JVM.
fn probe(java: &Java) -> Result<String> {
    if !java::is_supported(java.release) {
        anyhow::bail!("Java {} is not supported: Ravel needs 8, 11 or later", java.version);
    }
    let directory = scratch::directory()?;
    std::fs::write(directory.path().join("Probe.class"), PROBE).context("a temporary file")?;
    let command = [
        java.tool("java").to_string_lossy().into_owned(),
        "-cp".to_string(),
        directory.path().to_string_lossy().into_owned(),
        "Probe".to_string(),
    ];
    let trace = directory.path().join("probe.ravel");
    let recording = record(&command, &trace, Options::default(), &Start::simple(), &Terminal)?;
    if !recording.status.success() {
        anyhow::bail!("a small program ended with {} under the agent", recording.status);
    }
    let Some(trace) = recording.traces.first() else {
        let reason = recording
            .empty
            .first()
            .map_or("the JVM did not load the agent", String::as_str);
        anyhow::bail!("{reason}");
    };
    if trace.threads < 3 || trace.shared == Some(0) {
        anyhow::bail!("the threads of a small program were not seen ({} events)", trace.events);
    }
    Ok(format!(
        "{} events of {} threads seen in a small program",
        trace.events, trace.threads
    ))
}

/// The options that JVMs get from the environment besides the agent.
fn environment() -> Result<()> {
    for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
        if let Ok(value) = std::env::var(name)
            && !value.is_empty()
        {
            print(&format!("options   {name}={value} (kept when recording)\n"))?;
        }
    }
    Ok(())
}

fn selection(args: &Args) -> Result<()> {
    let options = args.recorder.options();
    let yes_no = |on: bool| if on { "recorded" } else { "left out" };
    let classes = match (options.include.as_slice(), options.keep_frameworks) {
        ([], false) => "all but the JDK's, build tools, test runners and language runtimes".to_string(),
        ([], true) => "all but the JDK's".to_string(),
        (prefixes, _) => format!("those that begin with {}", prefixes.join(", ")),
    };
    let except = match options.exclude.as_slice() {
        [] => String::new(),
        prefixes => format!(", except those that begin with {}", prefixes.join(", ")),
    };
    print(&format!(
        "recorded  classes: {classes}{except}\n            \
         of the JDK: collections of java.util called by them, and the modelled methods of java.util.concurrent\n            \
         objects of one thread: {}; repeated accesses: {}; final fields: {}\n",
        yes_no(options.keep_unshared),
        yes_no(options.keep_repeats),
        yes_no(options.keep_final),
    ))?;
    let filter = Filter::new(&options);
    for wanted in &args.classes {
        let path = Path::new(wanted);
        let line = if path.exists() {
            archive_treatments(&filter, path)?
        } else if wanted.contains('/') || wanted.ends_with(".jar") {
            anyhow::bail!("{wanted}: no such file or directory");
        } else {
            words(filter.treatment(&wanted.replace('.', "/")))
        };
        print(&format!("            {wanted}: {line}\n"))?;
    }
    Ok(())
}

fn archive_treatments(filter: &Filter, path: &Path) -> Result<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    archive::for_each_class(path, &archive::Options::default(), &mut |class| {
        *counts.entry(words(filter.treatment(&class.name))).or_default() += 1;
        ControlFlow::Continue(())
    })?;
    let list: Vec<String> = counts.iter().map(|(words, count)| format!("{count} {words}")).collect();
    Ok(if list.is_empty() {
        "no classes".to_string()
    } else {
        list.join("; ")
    })
}

fn words(treatment: Treatment) -> String {
    match treatment {
        Treatment::Application => "recorded".to_string(),
        Treatment::Collection => "recorded when application code calls it".to_string(),
        Treatment::Library => "only its modelled methods".to_string(),
        Treatment::Skip(reason) => format!("left alone ({reason})"),
    }
}
