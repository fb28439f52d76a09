//! The serial orders of a directed finding as they were run, for the report: the steps that their goals name, and what they came to.

use ravel_analysis::finding::{Finding, FindingStep, Outcome, OutcomeKind, SerialRun};
use ravel_protocol::goal::{CodeSite, LogLine, Passed};
use ravel_trace::naming;
use ravel_trace::origin::is_platform;

use super::DirectedRun;
use super::derive::SerialOrder;
use super::observed::{Observed, in_words};
use crate::words::last_lines;

/// More steps than these say nothing.
const MOST_STEPS: usize = 24;

/// One run of a serial order, the id of its goal, and what it shows of the units.
pub struct MadeOrder<'a> {
    pub order: &'a SerialOrder,
    pub id: String,
    pub run: &'a DirectedRun,
    pub observed: &'a Observed,
}

/// A serial order beside the outcome of the pattern. None if the run's log lacks the goal.
pub fn told(finding: &Finding, outcome: &Outcome, made: &MadeOrder<'_>) -> Option<SerialRun> {
    let passed = made.run.log.iter().find_map(|line| match line {
        LogLine::Fact { goal, steps, .. } if *goal == made.id => Some(steps),
        _ => None,
    })?;
    let mut threads: Vec<String> = Vec::new();
    for step in passed {
        if !threads.contains(&step.thread) {
            threads.push(step.thread.clone());
        }
    }
    let steps: Option<Vec<FindingStep>> = passed
        .iter()
        .map(|passed| step(finding, &made.order.goal.steps.get(passed.step)?.site, passed))
        .collect();
    let (steps, outcome) = (steps.unwrap_or_default(), instead(outcome, made));
    (threads.len() > 1).then(|| SerialRun {
        threads,
        steps: if steps.len() > MOST_STEPS { Vec::new() } else { steps },
        outcome,
    })
}

/// A step of a serial run. None inside a class of the JDK, where the program's own call is not known.
fn step(finding: &Finding, site: &CodeSite, passed: &Passed) -> Option<FindingStep> {
    let class = site.method.class.replace('/', ".");
    if is_platform(&class) {
        return None;
    }
    let method = format!("{}{}", site.method.name, site.method.descriptor);
    let here = |step: &&FindingStep| step.class == class && step.method == method;
    let is_it = |step: &&FindingStep| here(step) && step.line == site.line && step.variable.ends_with(&site.member);
    let writes = passed.before.is_some();
    // A line may both read and write.
    let same_op = |step: &&FindingStep| is_it(step) && (step.op != "read") == writes;
    let known = finding
        .steps
        .iter()
        .find(same_op)
        .or_else(|| finding.steps.iter().find(is_it));
    let file = finding.steps.iter().find(|step| step.class == class);
    let is_number = |kind: &u8| matches!(kind, b'I' | b'J' | b'S' | b'B' | b'C' | b'Z');
    let kind = known.and_then(|step| step.descriptor.bytes().next()).filter(is_number);
    Some(FindingStep {
        thread: passed.thread.clone(),
        op: match (writes, known) {
            (true, _) => "write".to_owned(),
            (false, Some(step)) => step.op.clone(),
            (false, None) => "read".to_owned(),
        },
        variable: known.map_or_else(|| format!("{class}.{}", site.member), |step| step.variable.clone()),
        value: kind
            .zip(passed.value)
            .map(|(kind, value)| naming::number_text(kind, value)),
        file: file.map(|step| step.file.clone()).unwrap_or_default(),
        line: site.line,
        class,
        method,
        ..FindingStep::default()
    })
}

/// What the run had in place of the outcome.
fn instead(outcome: &Outcome, made: &MadeOrder<'_>) -> String {
    let outcomes = made.run.outcomes();
    let died = outcomes.iter().any(|other| other.kind == OutcomeKind::Exception);
    match (outcome.kind, made.run.status.code()) {
        (OutcomeKind::Exception, _) if died => "no such exception".to_owned(),
        (OutcomeKind::Exception, _) => "no exception".to_owned(),
        (OutcomeKind::Exit, Some(code)) => format!("exit code {code}"),
        (OutcomeKind::Value, _) => match made.observed.changes {
            Some((_, total)) => format!("changed by {total}"),
            None => "a different value".to_owned(),
        },
        (OutcomeKind::Return, _) => match &made.observed.results {
            Some([one, other]) => format!("the units returned {} and {}", in_words(&one.end), in_words(&other.end)),
            None => "different results".to_owned(),
        },
        (OutcomeKind::Output, _) => match last_lines(&made.run.output).last() {
            Some(line) => format!("the last line printed was {line:?}"),
            None => "printed nothing".to_owned(),
        },
        (OutcomeKind::Exit | OutcomeKind::Normal | OutcomeKind::Deadlock | OutcomeKind::Hang, _) => {
            "the program ends".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::super::derive::{CodeGoal, CodeHold, CodeStep};
    use super::*;
    use ravel_analysis::finding::{Evidence, Rule};
    use ravel_protocol::goal::{CodeMethod, GoalShape, StepKind};

    #[test]
    fn a_serial_order_has_the_values_of_its_own_run() {
        let site = |line: u32| CodeSite {
            method: CodeMethod {
                class: "shop/Stock".into(),
                name: "take".into(),
                descriptor: "()V".into(),
            },
            bci: line,
            member: "left".into(),
            line,
        };
        let code = |role: usize, line: u32| CodeStep {
            role,
            site: site(line),
            object: 0,
            hold: CodeHold::Never,
            while_held: None,
            kind: StepKind::Access,
        };
        let order = SerialOrder {
            roles: [0, 1],
            goal: CodeGoal {
                shape: GoalShape::Serial,
                roles: Vec::new(),
                steps: vec![code(0, 7), code(0, 8), code(1, 7)],
                pause: None,
                whole: true,
            },
            words: String::new(),
        };
        let passed = |step: usize, thread: &str, before: Option<i64>, value: i64| Passed {
            step,
            role: 0,
            thread: thread.into(),
            before,
            value: Some(value),
        };
        let run = DirectedRun {
            status: ExitStatus::from_raw(0),
            timed_out: false,
            log: vec![LogLine::Fact {
                goal: "serial-0".into(),
                steps: vec![
                    passed(0, "a", None, 3),
                    passed(1, "a", Some(3), 2),
                    passed(2, "b", None, 2),
                ],
                held_millis: 0,
            }],
            output: Vec::new(),
        };
        let known = FindingStep {
            op: "read".into(),
            variable: "shop.Stock.left".into(),
            class: "shop.Stock".into(),
            method: "take()V".into(),
            file: "Stock.java".into(),
            line: 7,
            descriptor: "I".into(),
            ..FindingStep::default()
        };
        let finding = Finding {
            steps: vec![
                known.clone(),
                FindingStep {
                    op: "write".into(),
                    line: 8,
                    ..known
                },
            ],
            ..Finding::new("f".into(), Rule::Atomicity, Evidence::Harmful)
        };
        let made = MadeOrder {
            order: &order,
            id: "serial-0".into(),
            run: &run,
            observed: &Observed::default(),
        };
        let outcome = Outcome::new(OutcomeKind::Exception, "java.lang.IllegalStateException");
        let told = told(&finding, &outcome, &made).expect("a serial run");
        assert_eq!(told.threads, ["a", "b"]);
        assert_eq!(told.outcome, "no exception");
        let steps: Vec<(&str, Option<&str>, u32)> = told
            .steps
            .iter()
            .map(|step| (step.op.as_str(), step.value.as_deref(), step.line))
            .collect();
        assert_eq!(
            steps,
            [("read", Some("3"), 7), ("write", Some("2"), 8), ("read", Some("2"), 7)]
        );
    }
}
