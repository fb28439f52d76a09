//! The runs that a forced run is compared with: the units of its pattern one after the other, in every order.
//!
//! An order counts as run if the program took it. It is no serial order if a unit had to wait for another one in its middle. Any
//! other order that could not be had is missing, and what is said of serial orders is then said of those that were tried.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use ravel_analysis::finding::Candidate;
use ravel_schedule::{Effort, Goal, Schedule, SerialOrders, Start, serial_schedules};

use super::endings::{self, Ending};
use super::prover::Prover;
use crate::runner::Forced;

/// Runs of the units one after the other, in one order.
pub type Serial = Vec<Arc<Forced>>;

/// Runs of the units one after the other.
#[derive(Clone, Default)]
pub struct Controls {
    /// Each order that was run.
    pub orders: Vec<Serial>,
    /// How many other orders there may be.
    pub missing: usize,
    /// How many orders there are not, because a unit has to wait for another one in its middle.
    pub impossible: usize,
    /// Whether other units came between those of the pattern, so that there are serial orders besides those of the pattern's units.
    pub others_between: bool,
}

impl Controls {
    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = &Arc<Forced>> {
        self.orders.iter().flatten()
    }

    /// The orders whose runs are all like this; the others count as missing.
    pub fn only(&self, is_alike: impl Fn(&Arc<Forced>) -> bool) -> Controls {
        let alike = self.orders.iter().filter(|order| order.iter().all(&is_alike));
        let orders: Vec<Serial> = alike.cloned().collect();
        Controls {
            missing: self.missing.saturating_add(self.orders.len() - orders.len()),
            orders,
            impossible: self.impossible,
            others_between: self.others_between,
        }
    }

    /// `every serial order gives`, if all were run.
    pub fn words(&self, one: &str, several: &str) -> String {
        match (self.missing, self.orders.len()) {
            (0, _) if !self.others_between => format!("every serial order {one}"),
            (_, 1) => format!("the one serial order tried {one}"),
            (_, count) => format!("the {count} serial orders tried {several}"),
        }
    }
}

impl Prover<'_> {
    /// Forced runs of the units one after the other, from a start if there is one, so many of each order, with the ending of the run that they are
    /// compared with: the same threads are held back, or those that are there by then go on one by one.
    pub(super) fn controls(
        &mut self,
        goal: &Goal,
        candidate: &Candidate,
        count: usize,
        ending: &Ending,
        start: Option<&Start>,
    ) -> Result<Controls> {
        let apart = ending.apart;
        let began = Instant::now();
        let mut orders = self.serial_orders(goal, candidate, start);
        for serial in &mut orders.found {
            serial.schedule.hold_back(&ending.held_back);
        }
        self.tally.scheduling += began.elapsed();
        let mut controls = Controls {
            missing: orders.missing,
            ..Controls::default()
        };
        let wanted = orders.found.iter().flat_map(|serial| match apart {
            true => {
                let alone = endings::apart(self.image, candidate, serial.schedule.clone());
                vec![(serial.schedule.clone(), 1), (alone, count)]
            }
            false => vec![(serial.schedule.clone(), count)],
        });
        self.expect(wanted.collect());
        for serial in &orders.found {
            let made = match apart {
                true => self.order_apart(&serial.schedule, count, candidate)?,
                false => self.order(&serial.schedule, count)?,
            };
            match made {
                OrderRun::Run(runs) => controls.orders.push(runs),
                OrderRun::Impossible => controls.impossible += 1,
                OrderRun::Missing => controls.missing = controls.missing.saturating_add(1),
            }
        }
        Ok(controls)
    }

    /// The orders of a goal's units. If there is none, units that no analysis has given are taken for the accesses alone.
    fn serial_orders(&self, goal: &Goal, candidate: &Candidate, start: Option<&Start>) -> SerialOrders {
        let effort = Effort::default();
        let orders = serial_schedules(self.image, goal, &effort, start);
        if !orders.found.is_empty() || start.is_some() {
            return orders;
        }
        let mut narrow = goal.clone();
        for (span, unit) in narrow.units.iter_mut().zip(&candidate.units) {
            let mut accesses = candidate.events.iter().filter(|event| event.index == unit.begin.index);
            if let Some(access) = accesses.next() {
                (span.begin, span.end, span.leave) = (access.position, Some(access.position), None);
            }
        }
        match narrow == *goal {
            true => orders,
            false => serial_schedules(self.image, &narrow, &effort, None),
        }
    }

    fn order(&mut self, schedule: &Schedule, count: usize) -> Result<OrderRun> {
        let (mut runs, mut slipped) = (Vec::new(), Vec::new());
        // One more try than runs are wanted: a busy machine may have spoilt one.
        for number in 0..=count {
            if self.is_over() || runs.len() == count {
                break;
            }
            let run = self.run(schedule, number)?;
            match (run.complete(), run.slip()) {
                (true, None) => runs.push(run),
                (true, Some(_)) => slipped.push(run),
                (false, _) => {}
            }
        }
        let possible = !runs.is_empty() || slipped.iter().any(|run| !run.is_impossible());
        runs.extend(slipped);
        runs.truncate(count);
        Ok(match (runs.len() == count, possible) {
            (true, true) => OrderRun::Run(runs),
            // A unit that waits for another one in its middle cannot come before it.
            (true, false) => OrderRun::Impossible,
            (false, _) => OrderRun::Missing,
        })
    }

    /// The same of an order that is known to be possible. A turn that is lost once the units are over says nothing: a thread that
    /// goes on alone may have to wait for another one.
    fn order_apart(&mut self, schedule: &Schedule, count: usize, candidate: &Candidate) -> Result<OrderRun> {
        if self.is_over() {
            return Ok(OrderRun::Missing);
        }
        let together = self.run(schedule, 0)?;
        if together.slip().is_some() {
            return Ok(match together.is_impossible() {
                true => OrderRun::Impossible,
                false => OrderRun::Missing,
            });
        }
        let alone = endings::apart(self.image, candidate, schedule.clone());
        let mut runs = Vec::new();
        for number in 0..count {
            runs.push(self.run(&alone, number)?);
        }
        Ok(match runs.iter().all(|run| run.complete()) {
            true => OrderRun::Run(runs),
            false => OrderRun::Missing,
        })
    }
}

/// What came of one order.
enum OrderRun {
    Run(Serial),
    /// A unit had to wait for a later one.
    Impossible,
    Missing,
}
