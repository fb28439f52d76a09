//! What cost likely bugs their proof, and which option would help: the last thing that a report says of them.
//!
//! Every finding that got no further says why, for people. Here these reasons are counted by kind. Only options that would
//! change something are named: a seed is not, if the recorded run had one.

use ravel_analysis::finding::{Evidence, Finding};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_analysis::numbers::count;

/// What is known of the recording, as far as options of the recorder could have changed something.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedWith {
    /// `--seed`.
    pub seed: bool,
    /// `--clock`.
    pub clock: bool,
    /// Whether classes of frameworks were left out.
    pub without_frameworks: bool,
}

/// Why a likely bug was not proven, as far as an option may help.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Obstacle {
    /// The budget was used up.
    Time,
    /// Time, random numbers or input differ from run to run.
    Differs,
    /// A thread waited for something that was not recorded.
    Unrecorded,
    /// The re-runs took another path for another reason.
    Path,
}

impl Obstacle {
    const ALL: [Obstacle; 4] = [Obstacle::Time, Obstacle::Differs, Obstacle::Unrecorded, Obstacle::Path];

    fn of(reason: &Limit, with: RecordedWith) -> Option<Obstacle> {
        if reason.has(LimitKind::Budget) {
            Some(Obstacle::Time)
        } else if reason.has(LimitKind::MayDiffer) {
            Some(Obstacle::Differs)
        } else if with.without_frameworks && reason.has(LimitKind::WaitedOutside) {
            Some(Obstacle::Unrecorded)
        } else if reason.has(LimitKind::LeftSchedule) {
            Some(Obstacle::Path)
        } else {
            None
        }
    }

    /// What it was, and what would help.
    fn words(self, with: RecordedWith) -> String {
        match self {
            Obstacle::Time => "the time ran out: a larger --budget helps".into(),
            Obstacle::Differs => {
                let options: Vec<&str> = [("--seed 1", with.seed), ("--clock", with.clock)]
                    .iter()
                    .filter(|(_, used)| !used)
                    .map(|(option, _)| *option)
                    .collect();
                let help = match options.as_slice() {
                    [] => String::new(),
                    options => format!(": {} can make runs alike", options.join(" and ")),
                };
                format!("the re-runs took another path, perhaps because of time, random numbers or input{help}")
            }
            Obstacle::Unrecorded => "threads waited in framework code: --keep-frameworks records it".into(),
            Obstacle::Path => "the re-runs took another path: --runs 3 records other orders to try".into(),
        }
    }
}

/// What cost most of the likely bugs their proof; none if no option would have helped any. Races of the recorded run that are held back are
/// told whatever cost more, because they happened.
pub fn told(findings: &[Finding], with: RecordedWith) -> Option<String> {
    let likely =
        |finding: &&Finding| !finding.shown && matches!(finding.evidence, Evidence::Predicted | Evidence::Witnessed);
    let reasons: Vec<&Limit> = findings
        .iter()
        .filter(likely)
        .filter_map(|finding| finding.limit.as_ref())
        .collect();
    let held = reasons.iter().filter(|reason| reason.has(LimitKind::OrderedOutside));
    let held = match held.count() {
        0 => None,
        n => Some(format!(
            "{} of the recorded run held back, because frameworks that were not recorded may order the threads: --keep-frameworks \
             records them",
            count(n as u64, "data race")
        )),
    };
    let told: Vec<String> = most_costly(&reasons, with).into_iter().chain(held).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn most_costly(reasons: &[&Limit], with: RecordedWith) -> Option<String> {
    let number = |obstacle: Obstacle| {
        let same = |reason: &&&Limit| Obstacle::of(reason, with) == Some(obstacle);
        reasons.iter().filter(same).count()
    };
    let worst = Obstacle::ALL
        .into_iter()
        .max_by_key(|obstacle| (number(*obstacle), std::cmp::Reverse(*obstacle)))?;
    let many = number(worst);
    let words = worst.words(with);
    match (many, reasons.len()) {
        (0, _) => None,
        (many, all) if many == all => Some(words),
        (many, _) => Some(format!("{many} of them: {words}")),
    }
}

#[cfg(test)]
mod tests {
    use ravel_analysis::finding::Rule;
    use ravel_protocol::{Cause, Slip};

    use super::*;
    use crate::words;

    fn finding(evidence: Evidence, limit: Limit) -> Finding {
        Finding {
            limit: Some(limit),
            ..Finding::new(String::new(), Rule::DataRace, evidence)
        }
    }

    #[test]
    fn the_reason_that_cost_most_is_told_with_the_option_that_helps() {
        let late = finding(Evidence::Predicted, Limit::no_time());
        let differs = words::left_schedule(Limit::new("input may differ", [LimitKind::MayDiffer]));
        let differs = finding(Evidence::Witnessed, differs);
        let tested = finding(Evidence::Confirmed, Limit::no_time());
        let plain = RecordedWith::default();
        let all = [differs.clone(), late.clone(), differs.clone(), tested.clone()];
        let words = told(&all, plain).expect("a reason");
        assert!(
            words.starts_with("2 of them: ") && words.contains("--seed 1 and --clock"),
            "{words}"
        );
        let seeded = RecordedWith { seed: true, ..plain };
        let words = told(&all, seeded).expect("a reason");
        assert!(words.contains("--clock") && !words.contains("--seed"), "{words}");
        let both = RecordedWith { clock: true, ..seeded };
        assert!(!told(&all, both).expect("a reason").contains("--"));
        assert_eq!(
            told(&[late, tested.clone()], plain).as_deref(),
            Some("the time ran out: a larger --budget helps")
        );
        assert_eq!(
            told(&[tested, finding(Evidence::Predicted, "no idea".into())], plain),
            None
        );
    }

    #[test]
    fn a_race_of_the_recorded_run_that_is_held_back_is_told_beside_what_cost_most() {
        let plain = RecordedWith::default();
        let held = finding(Evidence::Witnessed, Limit::ordered_outside().then(Limit::no_time()));
        let late = finding(Evidence::Predicted, Limit::no_time());
        let words = told(&[held.clone(), late], plain).expect("a reason");
        assert!(
            words.starts_with("the time ran out") && words.contains("; 1 data race of the recorded run held back"),
            "{words}"
        );
        let shown = Finding { shown: true, ..held };
        assert_eq!(told(&[shown], plain), None);
    }

    #[test]
    fn a_wait_outside_is_laid_to_frameworks_only_if_some_were_left_out() {
        let slip = Slip {
            turn: 0,
            thread: "t".into(),
            at: 1,
            until: 2,
            cause: Cause::WaitedOutside,
        };
        let waited = words::left_schedule(words::lost_turn(&slip));
        let waited = [finding(Evidence::Predicted, waited)];
        let without = RecordedWith {
            without_frameworks: true,
            ..RecordedWith::default()
        };
        assert!(told(&waited, without).is_some_and(|words| words.contains("--keep-frameworks")));
        assert!(told(&waited, RecordedWith::default()).is_some_and(|words| words.contains("--runs")));
    }
}
