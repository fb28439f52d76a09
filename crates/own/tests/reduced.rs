//! The theorem of Focus, section 6.2, as a property: the block-based analysis and brute force on random sets of transactions,
//! with the atomic ones reduced and not. Seeds are fixed.

use fastrand::Rng;
use ravel_analysis::blocks::general::SetVerdict;
use ravel_analysis::definitions::reduction::{self, RaceTest};
use ravel_analysis::definitions::{ForkOrder, atomicity, lock_cycles};
use ravel_analysis::oracle::{Oracle, Shape, random, show};
use ravel_analysis::transaction::Transaction;
use ravel_own::reduced::reduced;

const TWO: Shape = Shape {
    threads: 2,
    transactions: 1,
    accesses: 4,
    steps: 8,
    variables: 2,
    locks: 2,
    forks: false,
    nesting: 0,
};
const THREE: Shape = Shape {
    threads: 3,
    transactions: 1,
    accesses: 3,
    steps: 4,
    variables: 3,
    locks: 1,
    forks: false,
    nesting: 0,
};

/// Where no deadlock is possible, standing a reducible transaction for one event per variable, under all locks
/// that it ever holds, changes no verdict. 3000 sets of 2 threads, 8 steps; 1500 of 3 threads, 4 steps.
#[test]
fn reduced_events_of_atomic_transactions_change_no_verdict() {
    let (mut shorter, mut violations) = (0, 0);
    for (shape, cases, seed) in [(TWO, 3000, 12), (THREE, 1500, 13)] {
        let mut rng = Rng::with_seed(seed);
        for _ in 0..cases {
            let set = random(&mut rng, shape);
            let order = ForkOrder::new(&set);
            if !lock_cycles(&set, &order).found.is_empty() {
                continue;
            }
            let broken = reduction::check(&set, RaceTest::EveryPair, |a, b| order.before(a, b));
            let mut smaller = set.clone();
            for (at, transaction) in smaller.iter_mut().enumerate() {
                if !broken.iter().any(|broken| broken.transaction == at)
                    && let Some(places) = reduced(transaction)
                    && places.len() < transaction.steps.len()
                {
                    transaction.steps = places.iter().map(|at| transaction.steps[*at]).collect();
                    shorter += 1;
                }
            }
            let is_atomic = |set: &[Transaction]| match atomicity(set, &ForkOrder::new(set)) {
                SetVerdict::Atomic => true,
                SetVerdict::Violation { .. } => false,
                SetVerdict::Unknown => panic!("bound hit by a small set"),
            };
            let (whole, found) = (is_atomic(&set), is_atomic(&smaller));
            assert_eq!(found, whole, "{}\n{}", show(&set), show(&smaller));
            assert!(!found || Oracle::new(&set).is_atomic(), "{}", show(&set));
            violations += usize::from(!whole);
        }
    }
    assert!(
        shorter > 100 && violations > 100,
        "{shorter} reduced, {violations} violations"
    );
}
