//! Reads class files from where they are and runs all rules: the entry point of the crate.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ravel_analysis::finding::Finding;
use ravel_classfile::archive::{self, ArchiveError};

use crate::callgraph::CallGraph;
use crate::filter::Filter;
use crate::lower::{Input, program};
use crate::program::{Counts, Program};
use crate::{report, rules, solve};

/// What to scan for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Look for the variant of the lock pattern, in which the two locks may differ.
    pub variant: bool,
    /// The JDK whose classes lend their summaries; without one, calls into the JDK are taken to acquire nothing.
    pub jdk: Option<PathBuf>,
    /// Of a JDK, take only these modules; all if there are none.
    pub modules: Vec<String>,
    /// Which locks count.
    pub filter: Filter,
}

/// Why nothing could be scanned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// A path cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// How long each part took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Reading files.
    pub read: Duration,
    /// Class files to the program.
    pub lower: Duration,
    /// The call graph.
    pub graph: Duration,
    /// LOCKSHELD.
    pub held: Duration,
    /// The dataflow and its contexts.
    pub flow: Duration,
    /// The other rules.
    pub rules: Duration,
}

/// What a scan found.
#[derive(Debug)]
pub struct Scan {
    /// The findings, by rule and place.
    pub findings: Vec<Finding>,
    /// What was read.
    pub counts: Counts,
    /// Classes that could not be read, and why.
    pub problems: Vec<String>,
    /// How long each part took.
    pub times: Times,
}

fn collect(
    path: &Path,
    wanted: bool,
    modules: &[String],
    into: &mut Vec<Input>,
    is_jdk: bool,
) -> Result<(), ArchiveError> {
    let mut each = |entry: archive::ClassEntry| {
        let left_out = |module: &String| !modules.is_empty() && !modules.contains(module);
        if entry.module.as_ref().is_some_and(left_out) {
            return ControlFlow::Continue(());
        }
        into.push(Input {
            origin: entry.origin,
            bytes: entry.bytes,
            wanted,
        });
        ControlFlow::Continue(())
    };
    if is_jdk {
        archive::for_each_jdk_class(path, &mut each)
    } else {
        archive::for_each_class(path, &archive::Options::default(), &mut each)
    }
}

fn inputs(paths: &[PathBuf], options: &Options) -> Result<Vec<Input>, ScanError> {
    let mut inputs = Vec::new();
    for path in paths {
        collect(path, true, &options.modules, &mut inputs, false)?;
    }
    if let Some(home) = &options.jdk {
        collect(home, false, &options.modules, &mut inputs, true)?;
    }
    Ok(inputs)
}

/// Reads the classes under `paths`, and those of the JDK if one is wanted.
pub fn load(paths: &[PathBuf], options: &Options) -> Result<Program, ScanError> {
    Ok(program(inputs(paths, options)?))
}

/// Scans the classes under `paths`: jars, wars, directories, single classes, JDKs.
pub fn scan(paths: &[PathBuf], options: &Options) -> Result<Scan, ScanError> {
    let start = Instant::now();
    let inputs = inputs(paths, options)?;
    let read = start.elapsed();
    let start = Instant::now();
    let program = program(inputs);
    let mut times = Times {
        read,
        lower: start.elapsed(),
        ..Times::default()
    };
    let (findings, unresolved) = analyse(&program, options, &mut times);
    Ok(Scan {
        findings,
        counts: Counts {
            unresolved,
            ..program.counts
        },
        problems: program.problems,
        times,
    })
}

/// Runs all rules on a program; also counts the calls that nothing in it answers.
pub fn analyse(program: &Program, options: &Options, times: &mut Times) -> (Vec<Finding>, usize) {
    let start = Instant::now();
    let graph = CallGraph::new(program);
    let unresolved = graph.unresolved();
    times.graph = start.elapsed();
    let start = Instant::now();
    let mut held = solve::locks_held(program, &graph, &options.filter, None);
    times.held = start.elapsed();
    let start = Instant::now();
    let found = solve::dataflow(program, &graph, &held, options.variant, None);
    let instances = solve::instances(program, &graph, &mut held, &found);
    let mut drafts = rules::lock_pattern::check(program, &graph, &held, &options.filter, &found, &instances);
    times.flow = start.elapsed();
    let start = Instant::now();
    drafts.extend(rules::lock_order::check(program, &graph, &held, &options.filter));
    drafts.extend(rules::guarded_by::check(program, &graph));
    drafts.extend(rules::double_checked::check(program));
    drafts.extend(rules::reassigned_lock::check(program));
    drafts.extend(rules::wait_loop::check(program));
    drafts.extend(rules::naked_notify::check(program));
    let findings = report::findings(program, drafts);
    times.rules = start.elapsed();
    (findings, unresolved)
}
