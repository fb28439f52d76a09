//! Analyses of a trace, one module each, and the findings they share.

pub mod engine;
pub mod finding;
pub mod locks;
pub mod order;
pub mod raw;
pub mod sets;
pub mod stacks;
pub mod units;
