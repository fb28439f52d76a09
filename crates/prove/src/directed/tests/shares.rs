//! Tests of who gets the time: controls do not starve findings that were not tried, and runs that cannot change a verdict are not made.

use super::*;

/// All steps of a goal happened, and its units returned these values.
fn happens_with(goal: &Goal, values: [&str; 2]) -> Vec<LogLine> {
    let result = |(role, value): (usize, &str)| LogLine::Result {
        goal: goal.id.clone(),
        role,
        result: UnitResult {
            thread: format!("t{role}"),
            activation: 1,
            end: end(value),
        },
    };
    let results = values.into_iter().enumerate().map(result);
    std::iter::once(happens(goal)).chain(results).collect()
}

fn is_serial(plan: &Goals) -> bool {
    plan.goals.iter().all(|goal| goal.shape == GoalShape::Serial)
}

#[test]
fn a_second_judgement_waits_until_other_findings_had_more_runs() {
    let mut findings: Vec<Finding> = (0..80)
        .map(|number| race(&format!("f{number}"), "shop.Stock.left"))
        .collect();
    findings.push(atomicity("a", "shop.Stock.left"));
    findings.push(atomicity("b", "shop.Stock.left"));
    let (plans, _) = directed(&mut findings, &places(), 60, &|plan| {
        let named = plan.goals.iter().filter(|goal| ["a", "b"].contains(&goal.id.as_str()));
        (0, named.flat_map(|goal| happens_with(goal, ["1", "2"])).collect())
    });
    let kinds: Vec<bool> = plans.iter().map(is_serial).collect();
    let blocks: Vec<(bool, usize)> = kinds
        .chunk_by(|one, other| one == other)
        .map(|all| (all[0], all.len()))
        .collect();
    let judgements: Vec<usize> = blocks
        .iter()
        .filter(|(serial, _)| *serial)
        .map(|(_, runs)| *runs)
        .collect();
    assert_eq!(judgements, [12, 12], "{blocks:?}");
    assert!(blocks[2].1 >= 5, "{blocks:?}");
    let confirmed = findings
        .iter()
        .filter(|finding| finding.evidence == Evidence::Confirmed);
    assert_eq!(confirmed.count(), 2);
}

#[test]
fn units_without_a_result_and_without_a_bad_end_need_no_controls() {
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    let (plans, tally) = directed(&mut findings, &places(), 60, &|plan| {
        (0, happens_with(&plan.goals[0], ["nothing", "nothing"]))
    });
    assert!(!plans.iter().any(is_serial));
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
    assert_eq!(tally.reasons[0].1.as_str(), "its directed runs had no visible effect");
}

#[test]
fn a_finding_that_needs_a_lock_of_the_held_thread_comes_last_in_its_round() {
    let mut findings: Vec<Finding> = (0..20)
        .map(|number| race(&format!("f{number}"), "shop.Stock.left"))
        .collect();
    let (plans, _) = directed(&mut findings, &places(), 100, &|plan| {
        let account = |goal: &Goal| {
            let why = match goal.id.as_str() {
                "f0" => Released::Lock,
                _ => Released::Idle,
            };
            LogLine::Account(Account {
                goal: goal.id.clone(),
                visits: vec![1, 1],
                candidates: vec![1, 1],
                instrumented: vec![true, true],
                holds: 5,
                ended: vec![(why, 5)],
                ..Account::default()
            })
        };
        (0, plan.goals.iter().map(account).collect())
    });
    let mut ids: Vec<&str> = plans
        .iter()
        .flat_map(|plan| &plan.goals)
        .map(|goal| goal.id.as_str())
        .collect();
    ids.dedup();
    let of_blocked: Vec<usize> = (0..ids.len()).filter(|&place| ids[place] == "f0").collect();
    assert_eq!(of_blocked[..2], [0, 39], "{ids:?}");
}

#[test]
fn a_judgement_says_that_there_was_no_time_for_a_serial_order() {
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    let (_, tally) = directed(&mut findings, &places(), 2, &|plan| {
        (0, happens_with(&plan.goals[0], ["1", "2"]))
    });
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
    let reason = tally.reasons[0].1.as_str();
    assert!(
        reason.starts_with("there was no time for a run with Stock.take before Stock.put"),
        "{reason}"
    );
}
