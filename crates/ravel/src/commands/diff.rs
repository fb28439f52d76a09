//! `ravel diff`: the changes from one report to the next.

use std::path::PathBuf;
use std::process::ExitCode;

use ravel_report::diff::Diff;

use super::report::{ColorArgs, print, read_findings};

/// The arguments of `ravel diff`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The old findings: a findings.json, the folder that contains one, or - for standard input
    old: PathBuf,
    /// The new findings
    new: PathBuf,
    /// Also compare findings that are not proven
    #[arg(long)]
    all: bool,
    /// The format on standard output: text or json
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
    /// Columns of text [default: those of the terminal, 80 in a file or a pipe]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
}

/// Runs `ravel diff`. Ends with 1 if something is shown that was not shown before.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.old == args.new && args.old.as_os_str() == "-" {
        anyhow::bail!("only one of the two reports can come from standard input");
    }
    let (old, new) = (read_findings(&args.old)?, read_findings(&args.new)?);
    let diff = Diff::between(&old, &new, args.all);
    let look = ColorArgs {
        width: args.width,
        ..ColorArgs::default()
    };
    print(&match args.format.as_str() {
        "json" => format!("{:#}\n", diff.json()),
        _ => diff.text(look.width()),
    })?;
    Ok(if diff.new.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}
