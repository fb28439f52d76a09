//! Analyses of a trace, one module each, and the findings they share.

pub mod blocks;
pub mod engine;
pub mod finding;
pub mod locks;
pub mod order;
pub mod raw;
pub mod reduction;
pub mod sets;
pub mod stacks;
pub mod transaction;
pub mod units;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod theorems;
