//! One module per command.

pub mod record;
pub mod trace;
