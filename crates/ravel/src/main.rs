//! The command line: one module per command, no logic of its own.

fn main() {}
