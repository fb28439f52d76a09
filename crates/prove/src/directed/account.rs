//! Why a directed run did not have its pattern, in one sentence that names the line where the partner did not come.

use ravel_analysis::finding::Candidate;
use ravel_protocol::goal::{Account, Released};

use super::places::Places;

/// The sentence for these accounts of all runs of a finding.
pub fn why(accounts: &[Account], candidate: Option<&Candidate>, places: &Places, runs: usize) -> String {
    let steps = accounts.iter().map(|account| account.visits.len()).max().unwrap_or(0);
    let visits = |step: usize| {
        accounts
            .iter()
            .filter_map(|account| account.visits.get(step))
            .sum::<u64>()
    };
    let holds: u64 = accounts.iter().map(|account| account.holds).sum();
    let ended = |why: Released| {
        let all = accounts.iter().flat_map(|account| &account.ended);
        all.filter(|(released, _)| *released == why)
            .map(|(_, count)| count)
            .sum::<u64>()
    };
    if accounts.is_empty() {
        return format!("{runs} directed runs left no account: the program did not end by itself");
    }
    if let Some(step) = (0..steps).find(|&step| visits(step) == 0) {
        return format!(
            "no thread came to {} in {runs} directed runs",
            line(candidate, places, step)
        );
    }
    if holds == 0 {
        return format!(
            "{runs} directed runs found no moment to hold a thread: at most {} threads came to its steps",
            accounts.iter().map(|account| account.threads).max().unwrap_or(0)
        );
    }
    format!(
        "held {holds} times in {runs} directed runs, but the partner did not come to {}: {} times no other thread could run, \
         {} times the longest hold was over",
        line(candidate, places, 1),
        ended(Released::Idle),
        ended(Released::Cap)
    )
}

fn line(candidate: Option<&Candidate>, places: &Places, step: usize) -> String {
    let event = candidate.and_then(|candidate| candidate.events.get(step));
    let site = event
        .and_then(|event| places.get(event.index))
        .and_then(|place| place.site.as_ref());
    match site {
        Some(site) => format!(
            "{}.{} (line {})",
            site.method.class.replace('/', "."),
            site.method.name,
            site.line
        ),
        None => format!("step {}", step + 1),
    }
}
