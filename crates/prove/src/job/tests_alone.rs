//! Tests that run alone: a test runner told the recorder where each test begins and ends and how one is run without the build tool, so each test
//! with several threads is recorded in a JVM of its own, and its findings are forced there. A forced run then costs the start of one JVM, not a
//! build; and runs go on side by side.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use ravel_agent::options::Options;
use ravel_analysis::analyse::is_replayable;
use ravel_analysis::finding::{Candidate, Finding};
use ravel_analysis::numbers::count;
use ravel_schedule::orders;
use ravel_trace::names::Thread;
use ravel_trace::{Reader, Source as _, TestRun, Tests, Trace};
use rustc_hash::FxHashSet;

use super::Job;
use super::record::with_suffix;
use crate::analysing::seen_from_here;
use crate::interrupt;
use crate::recording::{EndAfter, Start, record};

/// A recorded run of tests that can be run one by one.
pub(super) struct Suite {
    tests: Tests,
    options: Options,
}

impl Suite {
    /// The tests of a trace; none if it has none, or is itself the run of one test alone.
    pub(super) fn of(reader: &Reader) -> Option<Suite> {
        let tests = &reader.footer()?.tests;
        let options = &reader.header().options;
        let option = |wanted: &str| options.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
        let alone = tests.runs.len() == 1 && option("jvm").is_none();
        if tests.command.is_empty() || tests.runs.is_empty() || alone {
            return None;
        }
        let recorded = option("agent")
            .and_then(|text| Options::parse(text).ok())
            .unwrap_or_default();
        Some(Suite {
            tests: tests.clone(),
            options: Options {
                include: recorded.include,
                exclude: recorded.exclude,
                keep_frameworks: recorded.keep_frameworks,
                keep_unshared: recorded.keep_unshared,
                keep_repeats: recorded.keep_repeats,
                keep_final: recorded.keep_final,
                seed: recorded.seed,
                clock: recorded.clock,
                max_size: recorded.max_size,
                ..Options::default()
            },
        })
    }

    /// The tests to run alone, those with the most findings first: each with their number.
    fn wanted(&self, findings: &[Finding]) -> Vec<(&TestRun, usize)> {
        let mut ids = FxHashSet::default();
        let found = |test: &TestRun| {
            let of_test = |finding: &&Finding| is_replayable(finding) && finding.tests.contains(&test.name);
            findings.iter().filter(of_test).count()
        };
        let mut wanted: Vec<(&TestRun, usize)> = self
            .tests
            .runs
            .iter()
            .filter(|test| ids.insert(test.id.as_str()))
            .map(|test| (test, found(test)))
            .filter(|(test, found)| *found > 0 || test.has_threads())
            .collect();
        wanted.sort_by_key(|(_, found)| Reverse(*found));
        wanted
    }
}

/// Gives findings the names of the tests that they were found in.
pub(super) fn name_tests(findings: &mut [Finding], reader: &Reader) {
    let Some(tests) = reader.footer().map(|footer| &footer.tests) else {
        return;
    };
    if tests.runs.is_empty() {
        return;
    }
    let threads = &reader.names().threads;
    for finding in findings {
        let mut names: Vec<String> = Vec::new();
        for test in finding
            .candidates
            .iter()
            .filter_map(|candidate| test_of(candidate, tests, threads))
        {
            if !names.contains(&test.name) {
                names.push(test.name.clone());
            }
        }
        finding.tests = names;
    }
}

/// The one test that has all events of a candidate whose test is known.
fn test_of<'t>(candidate: &Candidate, tests: &'t Tests, threads: &[Thread]) -> Option<&'t TestRun> {
    let mut found = candidate
        .events
        .iter()
        .filter_map(|event| tests.of(threads, event.thread, event.position));
    let first = found.next()?;
    found.all(|other| other.id == first.id).then_some(first)
}

impl Job<'_> {
    /// Records the tests of a run alone and forces what is found in each. Gives the ids of all findings seen there.
    pub(super) fn prove_alone(&mut self, path: &Path, suite: &Suite, findings: &[Finding]) -> FxHashSet<String> {
        interrupt::listen();
        let new: Vec<Finding> = findings
            .iter()
            .filter(|finding| self.evidence(&finding.id).is_none())
            .cloned()
            .collect();
        let mut wanted = suite.wanted(&new);
        // In another recorded run of the same tests, only those that show something new.
        wanted.retain(|(test, found)| *found > 0 || !self.alone_ids.contains(&test.id));
        let others = self.open_traces;
        let mut seen = FxHashSet::default();
        let mut left_out = 0;
        self.explorable = true;
        for (number, (test, found)) in wanted.iter().enumerate() {
            // Tests without a finding are run for orders that were not recorded, which may take half of the time.
            let reserve = if *found > 0 {
                Duration::ZERO
            } else {
                self.settings.budget.total / 2
            };
            if interrupt::requested() || self.left() <= reserve {
                left_out += 1;
                continue;
            }
            // What is left to others is left to the tests with findings first.
            let open = wanted[number..].iter().filter(|(_, found)| *found > 0).count();
            self.open_traces = u32::try_from(open.max(1)).unwrap_or(u32::MAX);
            let output = with_suffix(path, &format!("test-{}", number + 1));
            match self.prove_one(suite, test, &output) {
                Ok(ids) => seen.extend(ids),
                Err(error) => self.warn(format!("{} was not run alone: {error:#}", test.name)),
            }
        }
        self.open_traces = others;
        if left_out > 0 {
            self.warn(format!(
                "{} not run alone: the time ran out (--budget)",
                count(left_out, "test")
            ));
        }
        seen
    }

    /// The same for one test.
    fn prove_one(&mut self, suite: &Suite, test: &TestRun, output: &Path) -> Result<Vec<String>> {
        let mut command = suite.tests.command.clone();
        command.push(test.id.clone());
        let start = Start {
            end_after: Some(EndAfter {
                time: self.settings.budget.run.min(self.left()),
                option: "--run-limit",
            }),
            hidden_in: Some(PathBuf::from(&suite.tests.directory)),
            ..Start::simple()
        };
        let recording = record(&command, output, suite.options.clone(), &start, self.observer)?;
        let recorded = recording.traces.first().with_context(|| {
            let why = recording.empty.first().map_or("", String::as_str);
            format!("its JVM left no trace {why} (exit code {})", recording.exit_code())
        })?;
        let path = recorded.path.clone();
        let mut trace = Trace::new(Reader::open(&path, self.reading())?, ravel_trace::KEPT_RECORDS);
        self.explorable &= recorded.events <= orders::MOST_EVENTS as u64;
        let millis = crate::jvm::elapsed(trace.reader());
        self.alone_time = self.alone_time.max(millis);
        self.alone.push(path.clone());
        self.alone_ids.insert(test.id.clone());
        self.alone_names.insert(path.clone(), test.name.clone());
        let mut findings = self.analyse(&path, &mut trace, false, self.deadline())?;
        findings
            .iter_mut()
            .for_each(|finding| finding.tests = vec![test.name.clone()]);
        let ids = findings.iter().map(|finding| finding.id.clone()).collect();
        self.settle(&path, Some(trace), findings, Vec::new());
        Ok(ids)
    }

    /// The test whose run alone a trace has.
    pub(super) fn test_of_trace(&self, path: &Path) -> Vec<String> {
        self.alone_names.get(path).cloned().into_iter().collect()
    }

    /// Removes the traces of tests that no finding needs to be seen again.
    pub(super) fn forget_alone(&mut self) {
        for path in std::mem::take(&mut self.alone) {
            let name = seen_from_here(&path);
            let needed = |finding: &Finding| finding.replay.contains(&name);
            if !self.report.findings.iter().any(needed) {
                let _ = std::fs::remove_file(&path);
                self.report.recordings.retain(|recording| recording.trace != name);
            }
        }
    }
}
