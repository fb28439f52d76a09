//! Who gets a goal in the next run: what has happened once first, then every finding before any gets its second run, and those of the application come
//! before those of libraries and of the JDK, data races first, and among them those whose accesses came closest to each other in the recorded run.

use std::time::Instant;

use anyhow::Result;
use ravel_analysis::finding::{Candidate, Evidence, Finding, Rule};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_trace::origin::is_platform;

use super::account::Accounts;
use super::derive::{GoalsBuilder, pattern_goals};
use super::places::{Places, chosen, distance};
use super::{DirectedRun, DirectedRunner};
use crate::proof::Clock;

/// Goals that share a run, by the number of runs that each finding has had: with more, their holds get in each other's way. What has failed in
/// company is tried with less of it, since the time for holds in a run is shared, and goals at places that all threads pass use it up.
const GOALS_PER_RUN: [usize; 4] = [24, 12, 6, 3];
/// Runs that must have the pattern.
pub const WANTED_FACTS: usize = 2;
/// Runs in which a finding has a goal before it is given up.
const MOST_RUNS: usize = 8;

/// A finding on its way.
pub struct Open {
    /// Its place in the list of findings.
    pub index: usize,
    /// Occurrences that goals are made of.
    candidates: Vec<Candidate>,
    /// Runs in which it had a goal.
    pub runs: usize,
    /// Those in which the pattern happened.
    pub facts: Vec<DirectedRun>,
    /// The occurrence that happened, and which choice of hold points it took.
    pub happened: Option<(Candidate, usize)>,
    /// Why no goal could be made.
    refused: Option<String>,
    /// How its goals fared, of all runs.
    pub accounts: Accounts,
    /// Whether its harm has been judged.
    pub judged: bool,
}

/// Whether a finding is confirmed, and whether it does harm is not known since its runs could not be compared with serial ones.
pub(crate) fn is_undecided(finding: &Finding) -> bool {
    let compared = |limit: &Limit| !limit.has(LimitKind::NotCompared);
    finding.evidence == Evidence::Confirmed && !finding.limit.as_ref().is_none_or(compared) && !is_of_platform(finding)
}

/// The findings that are not confirmed yet, the application's first, and those whose harm is not decided.
pub fn open(findings: &[Finding], places: &Places) -> Vec<Open> {
    let is_open = |finding: &Finding| finding.evidence < Evidence::Confirmed || is_undecided(finding);
    let wanted = |finding: &Finding| is_open(finding) && !finding.candidates.is_empty();
    let mut order: Vec<usize> = (0..findings.len()).filter(|&index| wanted(&findings[index])).collect();
    // A race that happened is shown whatever it does; other findings need controls too.
    order.sort_by_key(|&index| {
        let finding = &findings[index];
        let rest = (finding.rule != Rule::DataRace, distance(finding));
        let whose = (is_of_platform(finding), !places.is_own(finding));
        (whose, is_undecided(finding), rest)
    });
    let begin = |index: usize| Open {
        index,
        candidates: chosen(&findings[index]).into_iter().cloned().collect(),
        runs: 0,
        facts: Vec::new(),
        happened: None,
        refused: None,
        accounts: Accounts::default(),
        judged: false,
    };
    order.into_iter().map(begin).collect()
}

/// Whether a finding is about variables of the JDK alone: the application's come first.
pub(crate) fn is_of_platform(finding: &Finding) -> bool {
    !finding.variables.is_empty() && finding.variables.iter().all(is_platform)
}

/// Makes runs until each finding had its pattern twice or is given up, or the time is over.
pub fn make(
    open: &mut [Open],
    findings: &[Finding],
    places: &Places,
    runner: &dyn DirectedRunner,
    (clock, end): (&dyn Clock, Instant),
    runs: &mut usize,
) -> Result<()> {
    while clock.now() < end && !clock.is_interrupted() {
        let mut next: Vec<usize> = (0..open.len()).filter(|&place| open[place].is_open()).collect();
        // What has happened once comes first: one more run completes a proof. What needed a lock of the held thread comes last: it is mostly no bug.
        next.sort_by_key(|&place| {
            let one = &open[place];
            (one.facts.is_empty(), one.runs, one.accounts.are_blocked())
        });
        let round = next.first().map_or(0, |&place| open[place].runs);
        let most = GOALS_PER_RUN[round.min(GOALS_PER_RUN.len() - 1)];
        let mut plan = GoalsBuilder::new(*runs as u64 + 1);
        let mut chosen = Vec::new();
        for place in next {
            if plan.len() >= most {
                break;
            }
            let one = &mut open[place];
            let (candidate, variant) = one.attempt();
            match pattern_goals(findings[one.index].rule, &candidate, places, variant) {
                Ok(goals) => {
                    for goal in &goals {
                        plan.add(&findings[one.index].id, goal);
                    }
                    chosen.push((place, candidate, variant));
                }
                Err(why) => one.refuse(&candidate, why),
            }
        }
        if plan.is_empty() {
            return Ok(());
        }
        let plan = plan.finish();
        let run = runner.direct(&plan)?;
        *runs += 1;
        for (place, candidate, variant) in chosen {
            let one = &mut open[place];
            one.runs += 1;
            let id = &findings[one.index].id;
            one.accounts.add(id, &plan, &run.accounts(id).collect::<Vec<_>>());
            if run.has_fact(id) {
                // A second run must have the same occurrence.
                one.candidates = vec![candidate.clone()];
                one.happened = Some((candidate, variant));
                one.facts.push(run.clone());
            }
        }
    }
    Ok(())
}

impl Open {
    fn is_open(&self) -> bool {
        self.facts.len() < WANTED_FACTS && self.runs < MOST_RUNS && !self.candidates.is_empty()
    }

    /// Which occurrence the next run tries, and which hold points: each occurrence with the outermost ones first.
    fn attempt(&self) -> (Candidate, usize) {
        match &self.happened {
            Some((candidate, variant)) => (candidate.clone(), *variant),
            None => {
                let all = self.candidates.len();
                (self.candidates[self.runs % all].clone(), self.runs / all)
            }
        }
    }

    fn refuse(&mut self, candidate: &Candidate, why: String) {
        self.candidates.retain(|other| other != candidate);
        self.refused = Some(why);
    }

    /// Why the pattern did not happen twice; `not_tried` is why no run was made, if none was.
    pub fn why_not(&self, not_tried: Option<&Limit>) -> Limit {
        match (&self.refused, self.runs) {
            _ if !self.facts.is_empty() => match self.runs - self.facts.len() {
                0 if not_tried.is_some_and(|why| why.has(LimitKind::Interrupted)) => Limit::new(
                    "a directed run had the pattern; interrupted before a second one",
                    [LimitKind::Interrupted],
                ),
                0 => Limit::new(
                    "a directed run had the pattern; there was no time for a second one (--budget)",
                    [LimitKind::Budget],
                ),
                others => format!("a directed run had the pattern, {others} others did not").into(),
            },
            (Some(why), 0) => why.as_str().into(),
            (None, 0) => not_tried.cloned().unwrap_or_default(),
            _ => self.accounts.why(self.runs).into(),
        }
    }
}
