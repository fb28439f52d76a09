//! `ravel trace`: look into a trace, convert it.

use std::process::ExitCode;

/// The arguments of `ravel trace`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {}

/// Runs `ravel trace`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {}
}
