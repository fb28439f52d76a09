//! The hard order of a set of transactions.

use ravel_trace::order::{EdgeRule, EventEdges};
use ravel_trace::{Event, Names, Op, SiteId, ThreadId};

use crate::transaction::{Action, Transaction};

/// The order that thread starts and joins make among the steps of a set of transactions.
///
/// Transactions have no order of their own, so their steps are put in one that keeps starts and joins; the edges are then those of
/// [`ravel_trace::order`]. Cost: one vector clock per synchronisation step and thread; a question costs two look-ups.
#[derive(Clone, Debug)]
pub struct ForkOrder {
    /// For each transaction, the number of steps of its thread before it.
    offset: Vec<u32>,
    thread: Vec<usize>,
    /// Per thread: (from this step of the thread on, clock), in order. A clock says how many steps of every other
    /// thread have certainly happened.
    clocks: Vec<Vec<(u32, Vec<u32>)>>,
}

impl ForkOrder {
    /// Computes the order. A thread without a fork exists from the start; a join of a thread waits for all its
    /// transactions.
    pub fn new(transactions: &[Transaction]) -> Self {
        let mut threads: Vec<Vec<Action>> = Vec::new();
        let mut offset = Vec::with_capacity(transactions.len());
        for transaction in transactions {
            let others = transaction.steps.iter().filter_map(|step| other_thread(step.action));
            let most = others.fold(transaction.thread, ThreadId::max);
            if threads.len() <= most.index() {
                threads.resize_with(most.index() + 1, Vec::new);
            }
            let steps = &mut threads[transaction.thread.index()];
            offset.push(u32::try_from(steps.len()).unwrap_or(u32::MAX));
            steps.extend(transaction.steps.iter().map(|step| step.action));
        }
        let mut order = ForkOrder {
            offset,
            thread: transactions.iter().map(|t| t.thread.index()).collect(),
            clocks: vec![vec![(0, vec![0; threads.len()])]; threads.len()],
        };
        let names = Names::default();
        let mut edges = EventEdges::new(EdgeRule::is_hard);
        for (thread, step) in linear(&threads) {
            let op = match threads[thread][step as usize] {
                Action::Fork(child) => Op::Fork { child },
                Action::Join(child) => Op::Join { child, limited: false },
                // Accesses and locks make no edge here.
                _ => Op::UnitBegin,
            };
            let event = Event {
                thread: ThreadId::from(thread),
                position: step,
                site: SiteId(0),
                op,
            };
            for (_, (from, at)) in edges.comes_after(&event, &names) {
                order.learn(thread, step, from, at);
            }
            edges.happened(&event, &names, (thread, step));
        }
        order
    }

    /// A step of a thread comes after a step of another thread.
    fn learn(&mut self, thread: usize, step: u32, from: usize, at: u32) {
        let mut clock = self.clocks[thread]
            .last()
            .map(|known| known.1.clone())
            .unwrap_or_default();
        let other = &self.clocks[from];
        let index = other.partition_point(|(since, _)| *since <= at);
        for (known, more) in clock.iter_mut().zip(&other[index.saturating_sub(1)].1) {
            *known = (*known).max(*more);
        }
        clock[from] = clock[from].max(at + 1);
        match self.clocks[thread].last_mut() {
            Some(last) if last.0 == step => last.1 = clock,
            _ => self.clocks[thread].push((step, clock)),
        }
    }

    /// Whether step `a` (transaction, step) must come before step `b`.
    pub fn before(&self, a: (usize, usize), b: (usize, usize)) -> bool {
        let at = |(transaction, step): (usize, usize)| self.offset[transaction] as usize + step;
        let (from, to) = (self.thread[a.0], self.thread[b.0]);
        if from == to {
            return at(a) < at(b);
        }
        let clocks = &self.clocks[to];
        let index = clocks.partition_point(|(since, _)| *since as usize <= at(b));
        index > 0 && (clocks[index - 1].1[from] as usize) > at(a)
    }
}

fn other_thread(action: Action) -> Option<ThreadId> {
    match action {
        Action::Fork(child) | Action::Join(child) => Some(child),
        _ => None,
    }
}

/// The steps of all threads, as (thread, step), in an order that keeps starts and joins. Where there is none, because threads
/// wait for each other, the steps that are left follow thread by thread.
fn linear(threads: &[Vec<Action>]) -> Vec<(usize, u32)> {
    let mut waits_for_fork = vec![false; threads.len()];
    for action in threads.iter().flatten() {
        if let Action::Fork(child) = action {
            waits_for_fork[child.index()] = true;
        }
    }
    let mut done = vec![0; threads.len()];
    let mut order = Vec::new();
    let mut keeps = true;
    loop {
        let before = order.len();
        for (thread, steps) in threads.iter().enumerate() {
            while let Some(&action) = steps.get(done[thread]).filter(|_| !keeps || !waits_for_fork[thread]) {
                match action {
                    Action::Fork(child) => waits_for_fork[child.index()] = false,
                    Action::Join(child)
                        if keeps
                            && (waits_for_fork[child.index()]
                                || done[child.index()] < threads[child.index()].len()) =>
                    {
                        break;
                    }
                    _ => {}
                }
                order.push((thread, u32::try_from(done[thread]).unwrap_or(u32::MAX)));
                done[thread] += 1;
            }
        }
        match order.len() == before {
            true if keeps => keeps = false,
            true => return order,
            false => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::definitions::TransactionSet;

    #[test]
    fn starts_and_joins_order_steps_through_a_third_thread() {
        let set = TransactionSet::parse("m: w(x) fork(t) w(y) join(t) w(z)\n t: fork(u) r(x)\n u: r(y)").unwrap();
        let order = ForkOrder::new(&set.transactions);
        assert!(order.before((0, 0), (2, 0)));
        assert!(!order.before((0, 2), (2, 0)) && !order.before((2, 0), (0, 2)));
        assert!(order.before((1, 1), (0, 4)));
        assert!(!order.before((2, 0), (0, 4)));
        assert!(order.before((0, 0), (0, 1)));
    }
}
