//! `ravel diff`: the changes from one report to the next.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use ravel_analysis::finding::Report;
use ravel_report::diff::Diff;
use ravel_report::history::History;

use super::report::{ColorArgs, print, read_findings};

/// The arguments of `ravel diff`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The old findings and the new ones: a findings.json, the folder that contains one, or - for standard input. With --history, the
    /// new ones alone
    #[arg(required = true, num_args = 1..=2, value_names = ["OLD", "NEW"])]
    findings: Vec<PathBuf>,
    /// Compare with the last complete run of the same program in this history
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,
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
    let history = args.history.as_deref().map(History::open).transpose()?;
    let (old, new) = match (&history, args.findings.as_slice()) {
        (Some(history), [new]) => {
            let new = read_findings(new)?;
            (last_of(history, &new)?, new)
        }
        (Some(_), _) => bail!("--history gives the old findings; name the new ones alone"),
        (None, [old, new]) => {
            if old == new && old.as_os_str() == "-" {
                bail!("only one of the two reports can come from standard input");
            }
            (read_findings(old)?, read_findings(new)?)
        }
        (None, _) => bail!("name two reports, or a history with --history DIR"),
    };
    let mut diff = Diff::between(&old, &new, args.all);
    if let Some(history) = &history {
        for finding in &diff.new {
            if let Some(before) = history.seen_before(&finding.id)? {
                diff.warnings.push(format!("{} came back: {before}", finding.id));
            }
        }
    }
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

/// The last complete report of the program of a new one.
fn last_of(history: &History, new: &Report) -> anyhow::Result<Report> {
    match history.last_report(&new.program)? {
        Some((_, old)) => Ok(old),
        None => bail!(
            "the history has no complete run of `{}`; `ravel history DIR add REPORT` adds one",
            new.program
        ),
    }
}
