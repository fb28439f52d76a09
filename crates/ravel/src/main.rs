//! The command line: one module per command, no logic of its own.

mod commands;
mod progress;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// Printed after `ravel --help`.
const AFTER: &str = "\
First steps:
  ravel demo                       find and prove the bug of a built-in program
  ravel run java -cp classes Main  do the same for your program
  ravel explain                    explain the terms of a report

Exit codes: 0 no finding shown, 1 findings shown, 2 usage or input error,
3 no events recorded or only one thread ran, 130 and 143 interrupted.";

/// Finds the concurrency bugs of JVM programs and proves them.
#[derive(Parser, Debug)]
#[command(name = "ravel", version = env!("RAVEL_VERSION"), arg_required_else_help = true, after_help = AFTER)]
struct Cli {
    /// Show no progress, on a terminal or in a log
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Record a command, predict concurrency bugs, prove them by re-running it, and report.
    Run(commands::run::Args),
    /// Run a command and record the events of its JVMs' threads.
    Record(commands::record::Args),
    /// Record a JVM that is running, leave it, and report the races that were observed.
    Attach(commands::attach::Args),
    /// Analyse traces without running the program again.
    Check(commands::check::Args),
    /// Re-run the program of a trace to prove its findings, and report each outcome.
    Replay(commands::replay::Args),
    /// Find suspicious locking in class files without running them.
    Scan(commands::scan::Args),
    /// Determine which lock or thread protects each field, prove it, and write a focus plan.
    Own(commands::own::Args),
    /// Write what is to be proven of a trace to a folder, for several machines.
    Plan(commands::plan::Args),
    /// Prove this machine's share of a plan.
    Prove(commands::prove::Args),
    /// Join the findings of several machines or runs into one report.
    Merge(commands::merge::Args),
    /// Render the findings of an earlier run again, in any format.
    Report(commands::report::Args),
    /// Accept today's findings, so that only new ones fail a build.
    Baseline(commands::baseline::Args),
    /// Compare two reports: new findings, fixed findings, changed evidence.
    Diff(commands::diff::Args),
    /// Keep the findings of many runs, and show when each was seen.
    History(commands::history::Args),
    /// Inspect or convert a trace.
    Trace(commands::trace::Args),
    /// Explain a rule, a pattern or a level of evidence.
    Explain(commands::explain::Args),
    /// Check ravel.toml, or print its schema.
    Config(commands::config::Args),
    /// Check that the installed JVMs can be recorded, and list what a recording contains.
    Doctor(commands::doctor::Args),
    /// Find and prove the bug of a built-in program.
    Demo(commands::demo::Args),
    /// Print the completion script for a shell.
    Completions(commands::generated::CompletionsArgs),
    /// Print the manual page of ravel or of one of its commands.
    Man(commands::generated::ManArgs),
    /// End the programs that Ravel started once Ravel is gone; Ravel starts this command itself.
    #[command(hide = true)]
    Guard(commands::guard::Args),
}

fn main() -> ExitCode {
    ravel_prove::family::enable_guard("guard");
    let cli = Cli::parse();
    if cli.quiet {
        progress::be_quiet();
    }
    let result = match cli.command {
        Command::Run(args) => commands::run::run(args),
        Command::Record(args) => commands::record::run(args),
        Command::Attach(args) => commands::attach::run(args),
        Command::Check(args) => commands::check::run(args),
        Command::Replay(args) => commands::replay::run(args),
        Command::Scan(args) => commands::scan::run(args),
        Command::Own(args) => commands::own::run(args),
        Command::Plan(args) => commands::plan::run(args),
        Command::Prove(args) => commands::prove::run(args),
        Command::Merge(args) => commands::merge::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Baseline(args) => commands::baseline::run(args),
        Command::Diff(args) => commands::diff::run(args),
        Command::History(args) => commands::history::run(args),
        Command::Trace(args) => commands::trace::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Config(args) => commands::config::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Guard(args) => commands::guard::run(args),
        Command::Completions(args) => commands::generated::completions(&args, Cli::command()),
        Command::Man(args) => commands::generated::man(&args, Cli::command()),
    };
    result.unwrap_or_else(|error| {
        eprintln!("ravel: {error:#}");
        ExitCode::from(2)
    })
}
