//! Analyses of a trace, one module each, and the findings they share.

pub mod account;
pub mod analyse;
pub mod automata;
pub mod batch;
pub mod blocks;
#[cfg(any(test, feature = "oracles"))]
pub mod definitions;
pub mod describe;
pub mod engine;
pub(crate) mod exposure;
pub mod finding;
pub mod fix;
pub mod focus;
pub mod generate;
pub mod guards;
pub mod holds;
pub mod limit;
pub mod locks;
pub mod lockset;
pub mod merge;
pub mod numbers;
pub(crate) mod optimistic;
#[cfg(any(test, feature = "oracles"))]
pub mod oracle;
pub mod order;
pub mod part;
pub mod patterns;
pub mod race;
pub mod raw;
pub mod reduction;
pub mod registry;
pub(crate) mod repeats;
pub mod rule;
pub mod serializability;
pub mod sets;
pub mod sharing;
pub mod stacks;
pub mod stop;
pub mod timeline;
pub mod transaction;
pub mod units;
pub(crate) mod window;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod theorems;
