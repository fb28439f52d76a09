//! The command line: one module per command, no logic of its own.

mod agent_library;
mod commands;
mod recording;

use std::process::ExitCode;

use clap::Parser;

/// Finds the concurrency bugs of JVM programs and proves them.
#[derive(Parser, Debug)]
#[command(name = "ravel", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Run a command and record what the threads of its JVMs do.
    Record(commands::record::Args),
    /// Look into a trace, convert it.
    Trace(commands::trace::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Record(args) => commands::record::run(args),
        Command::Trace(args) => commands::trace::run(args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("ravel: {error:#}");
        ExitCode::from(2)
    })
}
