//! How much holding each goal of a run may cost.
//!
//! Separate from the rules of single holds (`hold.rs`), because it is about fairness among goals: those in code that runs at the start must
//! leave time for those that come late, and a goal that is over leaves what it did not use to the others.

use super::hold::Holding;

/// Holding that a goal may cost in one run.
const GOAL_MILLIS: u64 = 3_000;
/// Holding that all goals together may cost in one run.
const RUN_MILLIS: u64 = 5_000;

/// What the holds of a run have cost so far, by goal.
pub struct Allowance(Vec<u64>);

impl Allowance {
    /// For so many goals, before the first hold.
    pub fn new(goals: usize) -> Allowance {
        Allowance(vec![0; goals])
    }

    /// A hold has ended.
    pub fn charge(&mut self, goal: usize, holding: Holding) {
        if let Some(charged) = self.0.get_mut(goal) {
            *charged += holding.0;
        }
    }

    /// Whether a goal has had its share with a hold that has cost this so far. Armed goals share what those that are over have left.
    pub fn is_spent(&self, goal: usize, holding: Holding, is_armed: impl Fn(usize) -> bool) -> bool {
        let all: u64 = self.0.iter().sum();
        let (armed, over): (Vec<usize>, Vec<usize>) =
            (0..self.0.len()).partition(|&other| other == goal || is_armed(other));
        let used: u64 = over.iter().map(|&other| self.0[other]).sum();
        let share = RUN_MILLIS.saturating_sub(used) / armed.len().max(1) as u64;
        let own = self.0.get(goal).copied().unwrap_or(0);
        own + holding.0 > share.min(GOAL_MILLIS) || all + holding.0 > RUN_MILLIS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest hold that a goal may have.
    fn most(allowance: &Allowance, goal: usize, armed: &[usize]) -> u64 {
        let is_spent = |millis: &u64| allowance.is_spent(goal, Holding(*millis), |other| armed.contains(&other));
        (0..10_000).find(is_spent).expect("no goal has all the time") - 1
    }

    #[test]
    fn goals_share_the_time_of_a_run() {
        assert_eq!(most(&Allowance::new(1), 0, &[0]), 3_000);
        assert_eq!(most(&Allowance::new(2), 0, &[0, 1]), 2_500);
        assert_eq!(most(&Allowance::new(12), 3, &(0..12).collect::<Vec<_>>()), 416);
    }

    #[test]
    fn a_goal_that_is_over_leaves_its_time_to_the_others() {
        let mut allowance = Allowance::new(4);
        allowance.charge(0, Holding(200));
        allowance.charge(1, Holding(1_000));
        assert_eq!(most(&allowance, 1, &[0, 1, 2, 3]), 250);
        assert_eq!(most(&allowance, 1, &[1, 2, 3]), 600);
        assert_eq!(most(&allowance, 2, &[2]), 3_000);
    }

    #[test]
    fn all_goals_together_have_no_more_than_a_run_may_cost() {
        let mut allowance = Allowance::new(3);
        allowance.charge(0, Holding(2_900));
        allowance.charge(1, Holding(2_000));
        assert_eq!(most(&allowance, 2, &[2]), 100);
    }
}
