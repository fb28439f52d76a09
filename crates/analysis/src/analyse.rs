//! The whole of analysis in one call, for callers that want findings and nothing else.

use crate::engine::{Analysis, Engine};
use crate::finding::{AlsoSeen, Evidence, Finding, Rule};
use crate::merge::merge_until;
use crate::raw::RawReport;
use crate::stop::Stop;
use crate::units::UnitSettings;
use ravel_trace::{LocationId, Source, SourceError};
use rustc_hash::FxHashSet;

/// What analysis says of one trace.
#[derive(Debug)]
pub struct Analysed {
    /// The bugs, strongest evidence first.
    pub findings: Vec<Finding>,
    /// Events read.
    pub events: u64,
    /// Threads seen.
    pub threads: u64,
    /// What was left out at a bound, each as a sentence.
    pub left_out: Vec<String>,
    /// Why reading stopped before the end of the trace, if it did; the findings are those of what was read.
    pub error: Option<SourceError>,
    /// Whether the search was cut short because the user asked for it.
    pub stopped: bool,
}

/// Runs analyses over a trace, on all cores, and merges what they observe.
pub fn analyse(source: &mut dyn Source, settings: &UnitSettings, analyses: Vec<Box<dyn Analysis>>) -> Analysed {
    analyse_on(cores(), source, settings, analyses)
}

/// How many cores there are to work on.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The same on so many cores. What comes out does not depend on the number.
pub fn analyse_on(
    threads: usize,
    source: &mut dyn Source,
    settings: &UnitSettings,
    analyses: Vec<Box<dyn Analysis>>,
) -> Analysed {
    analyse_until(&|| false, threads, source, settings, analyses)
}

/// The same until the user has had enough, as `stop` says: then with what is known so far.
pub fn analyse_until(
    stop: &(dyn Fn() -> bool + Sync),
    threads: usize,
    source: &mut dyn Source,
    settings: &UnitSettings,
    analyses: Vec<Box<dyn Analysis>>,
) -> Analysed {
    let races = analyses.iter().any(|analysis| analysis.name() == RACE);
    let engine = Engine::new(settings, analyses).threads(threads).stop_when(stop);
    let mut outcome = engine.run(source);
    if races {
        let known: FxHashSet<LocationId> = outcome
            .reports
            .iter()
            .filter(|r| r.analysis == RACE)
            .flat_map(locations)
            .collect();
        let excused =
            |r: &RawReport| r.rule == Rule::DataRace && r.analysis != RACE && !locations(r).any(|l| known.contains(&l));
        outcome.reports.retain(|r| !excused(r));
    }
    let stop = Stop::new(stop);
    let findings = merge_until(&stop, outcome.reports, source.names(), &outcome.state);
    if stop.was_heeded() {
        outcome
            .left_out
            .push("interrupted: the list of findings is incomplete".to_owned());
    }
    Analysed {
        findings,
        events: outcome.events,
        threads: outcome.threads,
        left_out: outcome.left_out,
        error: outcome.error,
        stopped: outcome.stopped || stop.was_heeded(),
    }
}

/// The analysis that knows which races are harmless (the caching of a hash code); another one that sees a race it has
/// left out does not overrule it.
const RACE: &str = "race";

fn locations(report: &RawReport) -> impl Iterator<Item = LocationId> + '_ {
    report.steps.iter().filter_map(|step| step.location)
}

/// Findings of several traces as those of one: the same bug is one finding, with the stronger of the evidence.
/// Occurrences stay those of the trace that the finding is taken from.
pub fn combine(into: &mut Vec<Finding>, findings: Vec<Finding>) {
    for finding in findings {
        let Some(known) = into.iter_mut().find(|f| f.id == finding.id) else {
            into.push(finding);
            continue;
        };
        let (mut strong, weak) = if finding.evidence > known.evidence {
            (finding, known.clone())
        } else {
            (known.clone(), finding)
        };
        support(&mut strong, weak);
        *known = strong;
    }
    into.sort_by(|a, b| {
        b.evidence
            .cmp(&a.evidence)
            .then(a.rule.cmp(&b.rule))
            .then(a.id.cmp(&b.id))
    });
}

/// Adds what another finding of the same bug knows.
pub(crate) fn support(finding: &mut Finding, other: Finding) {
    let add = |to: &mut Vec<String>, from: Vec<String>| {
        for item in from {
            if !to.contains(&item) {
                to.push(item);
            }
        }
    };
    add(&mut finding.patterns, other.patterns);
    finding.own_pattern = finding.own_pattern.take().or(other.own_pattern);
    add(&mut finding.analyses, other.analyses);
    add(&mut finding.variables, other.variables);
    add(&mut finding.tests, other.tests);
    let own = AlsoSeen {
        id: other.id,
        rule: other.rule,
        evidence: other.evidence,
        message: other.message,
    };
    for view in std::iter::once(own).chain(other.also) {
        let known = view.id == finding.id || finding.also.iter().any(|known| known.id == view.id);
        if !known {
            finding.also.push(view);
        }
    }
}

/// Whether replay can try to make a finding happen: it has an occurrence, and more than a rule of thumb behind it.
pub fn is_replayable(finding: &Finding) -> bool {
    finding.evidence >= Evidence::Predicted && !finding.candidates.is_empty()
}
