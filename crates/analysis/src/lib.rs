//! Analyses of a trace, one module each, and the findings they share.

pub mod finding;
