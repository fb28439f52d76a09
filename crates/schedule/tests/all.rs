//! Schedules on hand-made and random traces, one module per subject.

mod brute_force;
mod figures;
mod forms;
mod goals;
mod rules;
mod support;
