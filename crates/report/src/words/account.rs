//! How the attempts of directed runs fared, line by line.

use ravel_analysis::account::{DirectedAccount, HoldEnd};

use super::count;

/// The lines of one goal: a line for each step, and how the holds ended.
pub fn account(account: &DirectedAccount) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, step) in account.steps.iter().enumerate() {
        let method = step.method.split('(').next().unwrap_or_default();
        let place = format!("step {} at {}.{method} (line {})", number + 1, step.class, step.line);
        lines.push(match step.instrumented {
            false => format!("{place}: not instrumented, so nothing is known of it"),
            true => format!(
                "{place}: {}, {} by a thread that could take it",
                count(step.visits, "visit"),
                step.candidates
            ),
        });
    }
    let ended: Vec<String> = HoldEnd::ALL
        .iter()
        .filter_map(|end| Some(format!("{} × {}", account.ended.get(end)?, end.words())))
        .collect();
    lines.push(format!(
        "{}, {}, {} ({}), {} ms held, happened {}",
        count(account.runs, "run"),
        count(account.threads, "thread"),
        count(account.holds, "hold"),
        match ended.is_empty() {
            true => "none ended".to_string(),
            false => ended.join(", "),
        },
        account.held_ms,
        count(account.happened, "time"),
    ));
    lines
}

#[cfg(test)]
mod tests {
    use ravel_analysis::account::DirectedStep;

    use super::*;

    #[test]
    fn a_step_without_a_hook_is_not_one_that_no_thread_came_to() {
        let step = |instrumented| DirectedStep {
            class: "shop.Stock".into(),
            method: "take(I)Z".into(),
            line: 14,
            instrumented,
            ..DirectedStep::default()
        };
        let one = DirectedAccount {
            steps: vec![step(true), step(false)],
            runs: 2,
            threads: 3,
            holds: 4,
            ended: [(HoldEnd::Idle, 4)].into(),
            held_ms: 20,
            ..DirectedAccount::default()
        };
        assert_eq!(
            account(&one),
            [
                "step 1 at shop.Stock.take (line 14): 0 visits, 0 by a thread that could take it",
                "step 2 at shop.Stock.take (line 14): not instrumented, so nothing is known of it",
                "2 runs, 3 threads, 4 holds (4 × no other thread could run), 20 ms held, happened 0 times",
            ]
        );
    }
}
