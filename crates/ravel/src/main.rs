//! The command line: one module per command, no logic of its own.

mod commands;
mod progress;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// What a reader of `ravel --help` needs next.
const AFTER: &str = "\
First steps:
  ravel demo                       see what it does, on a built-in program
  ravel run java -cp classes Main  the whole job on yours
  ravel explain                    what the words in a report mean

Exit codes: 0 nothing shown, 1 something shown, 2 usage or input error,
3 nothing was observed or only one thread ran, 130 and 143 interrupted.";

/// Finds the concurrency bugs of JVM programs and proves them.
#[derive(Parser, Debug)]
#[command(name = "ravel", version, arg_required_else_help = true, after_help = AFTER)]
struct Cli {
    /// Show no progress: no line on a terminal, and none every ten seconds in a log
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Record a command, work out what could go wrong, force it, and report: the whole job.
    Run(commands::run::Args),
    /// Run a command and record what the threads of its JVMs do.
    Record(commands::record::Args),
    /// Analyse traces.
    Check(commands::check::Args),
    /// Force findings of a trace, and say of each what came out.
    Replay(commands::replay::Args),
    /// Find suspicious locking in class files, without running anything.
    Scan(commands::scan::Args),
    /// Find out who protects each field, prove it, and write a focus plan.
    Own(commands::own::Args),
    /// Render the findings of an earlier run again, in any format.
    Report(commands::report::Args),
    /// Accept today's findings, so that only new ones fail a build.
    Baseline(commands::baseline::Args),
    /// Compare two reports: what is new, what is gone, whose evidence changed.
    Diff(commands::diff::Args),
    /// Look into a trace, convert it.
    Trace(commands::trace::Args),
    /// What a rule, a pattern or a step of the evidence means.
    Explain(commands::explain::Args),
    /// Check ravel.toml, or print its schema.
    Config(commands::config::Args),
    /// Say whether the JVMs here can be recorded, and what would be.
    Doctor(commands::doctor::Args),
    /// The whole job on a built-in buggy program.
    Demo(commands::demo::Args),
    /// Print the completions for a shell.
    Completions(commands::generated::CompletionsArgs),
    /// Print the manual page of ravel or of one of its commands.
    Man(commands::generated::ManArgs),
    /// End programs that are left when Ravel is gone; Ravel starts it for itself.
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
        Command::Check(args) => commands::check::run(args),
        Command::Replay(args) => commands::replay::run(args),
        Command::Scan(args) => commands::scan::run(args),
        Command::Own(args) => commands::own::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Baseline(args) => commands::baseline::run(args),
        Command::Diff(args) => commands::diff::run(args),
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
