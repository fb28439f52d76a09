//! Reads class files from where they are and runs all rules: the entry point of the crate.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ravel_analysis::finding::Finding;
use ravel_classfile::archive::{self, ArchiveError};

use crate::callgraph::CallGraph;
use crate::filter::Filter;
use crate::library;
use crate::lower::{self, Input};
use crate::program::{Counts, Program};
use crate::rules::{Facts, RULES, ScanRule};
use crate::{report, solve};

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
    /// Where what was learnt of a JDK is kept, the best place first; nowhere if there are none.
    pub cache: Vec<PathBuf>,
    /// Asked again and again, from several threads: once it says so, the scan ends with [`ScanError::Stopped`]. What a JDK locks is
    /// worked out to its end, because it is kept.
    pub stop: Option<fn() -> bool>,
}

/// Why nothing could be scanned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// A path cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The caller asked to stop.
    #[error("stopped before its end")]
    Stopped,
}

/// How long each part took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Reading files.
    pub read: Duration,
    /// What a JDK lends.
    pub library: Duration,
    /// Class files to the program.
    pub lower: Duration,
    /// The call graph.
    pub graph: Duration,
    /// LOCKSHELD.
    pub held: Duration,
    /// The dataflow and its contexts.
    pub flow: Duration,
    /// The rules.
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

/// Takes entries in, but those of modules that are not wanted.
fn taken<'a>(
    wanted: bool,
    modules: &'a [String],
    stop: Option<fn() -> bool>,
    into: &'a mut Vec<Input>,
) -> impl FnMut(archive::ClassEntry) -> ControlFlow<()> + 'a {
    move |entry| {
        let left_out = |module: &String| !modules.is_empty() && !modules.contains(module);
        if !entry.module.as_ref().is_some_and(left_out) {
            into.push(Input {
                origin: entry.origin,
                bytes: entry.bytes,
                wanted,
            });
        }
        match stop.is_some_and(|stop| stop()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// The classes of a JDK, which lend what they lock and in which no findings are wanted.
pub(crate) fn collect_jdk(home: &Path, modules: &[String]) -> Result<Vec<Input>, ScanError> {
    let mut inputs = Vec::new();
    archive::for_each_jdk_class(home, &mut taken(false, modules, None, &mut inputs))?;
    Ok(inputs)
}

/// The classes under the paths, and the archives that could not be read. A path that cannot be read is an error only if there
/// is nothing else to look at.
fn collect(paths: &[PathBuf], options: &Options) -> Result<(Vec<Input>, Vec<String>), ScanError> {
    let mut inputs = Vec::new();
    let mut damaged = Vec::new();
    for path in paths {
        let mut each = taken(true, &options.modules, options.stop, &mut inputs);
        let done = archive::for_each_readable_class(path, &archive::Options::default(), &mut damaged, &mut each);
        drop(each);
        damaged.extend(done.err());
    }
    if inputs.is_empty() && !damaged.is_empty() {
        return Err(damaged.swap_remove(0).into());
    }
    Ok((inputs, damaged.iter().map(ArchiveError::to_string).collect()))
}

/// What is known of the JDK, if one is wanted.
fn library(options: &Options) -> Result<Program, ScanError> {
    match &options.jdk {
        Some(home) => library::of(home, options),
        None => Ok(Program::default()),
    }
}

/// Reads the classes under `paths`, and those of the JDK if one is wanted.
pub fn load(paths: &[PathBuf], options: &Options) -> Result<Program, ScanError> {
    let (inputs, damaged) = collect(paths, options)?;
    extend(library(options)?, inputs, damaged, options)
}

/// Adds classes to what is known of the JDK.
fn extend(library: Program, inputs: Vec<Input>, damaged: Vec<String>, options: &Options) -> Result<Program, ScanError> {
    let library = Program {
        stop: options.stop,
        ..library
    };
    let mut program = lower::extend(library, inputs);
    program.problems.extend(damaged);
    unless_stopped(&program)?;
    Ok(program)
}

fn unless_stopped(program: &Program) -> Result<(), ScanError> {
    match program.is_stopped() {
        true => Err(ScanError::Stopped),
        false => Ok(()),
    }
}

/// Scans the classes under `paths`: jars, wars, ears, directories of classes or jars, single
/// classes, JDKs.
pub fn scan(paths: &[PathBuf], options: &Options) -> Result<Scan, ScanError> {
    let start = Instant::now();
    let (inputs, damaged) = collect(paths, options)?;
    let read = start.elapsed();
    let start = Instant::now();
    let library = library(options)?;
    let lent = start.elapsed();
    let start = Instant::now();
    let program = extend(library, inputs, damaged, options)?;
    let mut times = Times {
        read,
        library: lent,
        lower: start.elapsed(),
        ..Times::default()
    };
    let (findings, counts) = analyse(&program, options, &mut times);
    unless_stopped(&program)?;
    Ok(Scan {
        findings,
        counts,
        problems: program.problems,
        times,
    })
}

/// Runs all rules on a program. The counts are those of the program, with the calls that nothing in it answers and the locks whose
/// names grew too long on their way to callers.
pub fn analyse(program: &Program, options: &Options, times: &mut Times) -> (Vec<Finding>, Counts) {
    analyse_with(RULES, program, options, times)
}

/// The same with the rules of another table.
pub fn analyse_with(
    rules: &[ScanRule],
    program: &Program,
    options: &Options,
    times: &mut Times,
) -> (Vec<Finding>, Counts) {
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
    times.flow = start.elapsed();
    let start = Instant::now();
    let facts = Facts {
        program,
        graph: &graph,
        held: &held,
        filter: &options.filter,
        found: &found,
        instances: &instances,
    };
    let drafts = rules.iter().take_while(|_| !program.is_stopped());
    let drafts = drafts.flat_map(|rule| (rule.check)(&facts)).collect();
    let findings = report::findings(program, drafts);
    times.rules = start.elapsed();
    let in_callers: usize = found.iter().map(|facts| facts.exprs.cut()).sum();
    let counts = Counts {
        unresolved,
        long: program.counts.long + held.exprs.cut() + in_callers,
        ..program.counts
    };
    (findings, counts)
}
