//! Block-based atomicity checking: which pairs and sets of units some interleaving makes unserialisable, and which locks
//! are taken in a circle.
//!
//! The algorithms of Wang and Stoller, *Run-Time Analysis for Atomicity* (RV 2003), section 5, one file for each step:
//! [`feasibility`] (5.1), [`one`] (5.2), [`two`] (5.3), [`general`] (5.4), and [`goodlock`] for lock-order cycles. Each
//! file's header says what it promises and costs.

pub mod feasibility;
pub mod general;
pub mod goodlock;
pub mod one;
pub mod two;
