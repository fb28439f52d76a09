//! `ravel guard`, which Ravel starts for itself: see `family.rs` of `ravel-prove`.

use std::process::ExitCode;

use anyhow::Result;

/// Ends programs that are left when Ravel is gone.
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Runs until standard input ends.
pub fn run(_: Args) -> Result<ExitCode> {
    ravel_prove::family::guard(std::io::stdin().lock());
    Ok(ExitCode::SUCCESS)
}
