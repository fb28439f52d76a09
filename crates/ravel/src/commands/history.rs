//! `ravel history`: the findings of many runs, by id.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use ravel_report::config::Day;
use ravel_report::history::{Added, History};

use super::report::{ColorArgs, print, read_findings, write};

/// Printed after `ravel history --help`.
const EXAMPLES: &str = "\
Examples:
  ravel history .ravel add findings.json      keep the findings of a run
  ravel history .ravel                        first seen, last seen, evidence, gone
  ravel history .ravel --html history.html    the same as a page
  ravel diff --history .ravel findings.json   compare with the last complete run";

/// Keep the findings of many runs, and show when each was seen.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES, subcommand_negates_reqs = true)]
pub struct Args {
    /// The folder of the history
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Also show findings that no run showed
    #[arg(long)]
    all: bool,
    /// The format on standard output: text, json or html
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "html"], default_value = "text")]
    format: String,
    /// Also write the page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Columns of text [default: those of the terminal, 80 in a file or a pipe]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
    #[command(subcommand)]
    command: Option<HistoryCommand>,
}

#[derive(clap::Subcommand, Debug)]
enum HistoryCommand {
    /// Add the findings of runs; the same report counts once.
    Add {
        /// Findings as --out json=FILE wrote them, in the order of the runs
        #[arg(required = true, value_name = "REPORT")]
        reports: Vec<PathBuf>,
        /// The day of the runs [default: today]
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_day)]
        day: Option<Day>,
    },
}

fn parse_day(text: &str) -> Result<Day, String> {
    text.parse().map_err(|()| "use a day as in 2026-11-17".to_owned())
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    if let Some(HistoryCommand::Add { reports, day }) = args.command {
        // All of them are read before one is added.
        let mut read = Vec::new();
        for file in &reports {
            read.push(read_findings(file)?);
        }
        let mut history = History::create(&args.folder)?;
        for (file, report) in reports.iter().zip(&read) {
            let said = match history.add(report, day.unwrap_or_else(Day::today))? {
                Added::Run(number) => format!("run {number}"),
                Added::Known(number) => format!("run {number}, which was there already"),
            };
            print(&format!("{}: {said}\n", file.display()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let history = History::open(&args.folder)?;
    if let Some(file) = &args.html {
        write(file, &history.html(args.all)?)?;
    }
    let look = ColorArgs {
        width: args.width,
        ..ColorArgs::default()
    };
    print(&match args.format.as_str() {
        "json" => format!("{:#}\n", history.json(args.all)?),
        "html" => history.html(args.all)?,
        _ => history.text(args.all, look.width())?,
    })?;
    Ok(ExitCode::SUCCESS)
}
