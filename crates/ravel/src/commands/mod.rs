//! One module per command.

pub mod trace;
