//! `ravel attach`: records a JVM that is running, leaves it, and reports the races that were observed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::focus::Focus;
use ravel_prove::attach::{AttachEnd, AttachedRecording, record};
use ravel_prove::job::{Finished, Job};
use ravel_prove::proof::Budget;
use ravel_report::Notes;
use ravel_trace::{ReadOptions, Trace};

use super::record::FilterArgs;
use super::report::ReportArgs;
use crate::progress::Terminal;

/// Printed after `ravel attach --help`.
const EXAMPLES: &str = "\
Examples:
  ravel attach 4711 --for 30s            record process 4711 for 30 seconds
  ravel attach 4711 -o t.ravel           record until Ctrl-C, and keep the trace elsewhere
  ravel attach 4711 --include shop.      record only classes of these packages

The program must be a HotSpot JVM (Java 17 or later) of the same user; it goes on as before. A server that runs cannot be
forced into another order, so a race is reported only if it was observed: `ravel run` starts the program and proves more.";

/// Record a JVM that is running, leave it, and report the races that were observed.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The process id of the JVM, as `jps` lists it.
    #[arg(value_name = "PID")]
    pid: u32,
    /// How long to record: 30, 30s, 2m, 1h [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// The trace to write.
    #[arg(short, long, default_value = "trace.ravel", value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// The longest time that makes sense.
const LONGEST: f64 = 24.0 * 3600.0;

fn parse_time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("{other:?} is not a unit: use s, m or h")),
    };
    let number: f64 = digits.parse().map_err(|_| format!("{digits:?} is not a number"))?;
    match number * unit {
        seconds if seconds > 0.0 && seconds <= LONGEST => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("use a time above 0 and up to 24h".to_string()),
    }
}

/// Runs `ravel attach`. Exit 0 or 1: the report's. 2: the JVM could not be recorded. 3: nothing was observed.
pub fn run(args: Args) -> Result<ExitCode> {
    let config = args.report.load_config()?;
    let recorded = record(args.pid, args.time, &args.output, args.filter.options(), &Terminal)?;
    tell(&args.output, &recorded);
    let start = Instant::now();
    let mut job = Job::new(super::run::settings(&config, Budget::default()), &Terminal);
    let trace = Trace::open(&args.output, ReadOptions::default())?;
    job.check(&args.output, trace, Focus::default())?;
    let Finished {
        report,
        warnings,
        class_path,
        work,
        interrupted,
        one_thread,
        ..
    } = job.finish();
    let analysed = format!("{} analyses in {:.1} s", work.analyses, start.elapsed().as_secs_f64());
    let nothing = report.summary.events == 0 || one_thread;
    let notes = Notes {
        analysed: Some(analysed),
        warnings,
        ..Notes::default()
    };
    let code = args.report.emit(report, &config, notes, class_path)?;
    Ok(match interrupted {
        Some(signal) => ExitCode::from(signal),
        None if nothing && code == ExitCode::SUCCESS => ExitCode::from(3),
        None => code,
    })
}

/// Says on standard error how the recording went.
fn tell(output: &Path, recorded: &AttachedRecording) {
    let say = |text: String| eprintln!("ravel: {text}");
    if let Some(first) = recorded.refused.first() {
        say(format!(
            "{} loaded classes could not be changed and were not recorded, as {first}",
            recorded.refused.len()
        ));
    }
    match &recorded.end {
        AttachEnd::JvmEnded => {
            say("the JVM ended while it was recorded; the trace has what was written until then".into())
        }
        AttachEnd::Detached {
            kept,
            stayed,
            threads,
            time,
            unseen,
        } => {
            say(format!(
                "detached after {:.1} s; {threads} threads recorded: {}",
                time.as_secs_f64(),
                output.display()
            ));
            for (thread, method) in stayed.iter().take(3) {
                let place = match method.is_empty() {
                    true => "code with synchronisation".to_string(),
                    false => method.clone(),
                };
                say(format!(
                    "thread {thread} stayed in {place}, where it was when the recording began: what it did there was not seen"
                ));
            }
            if stayed.len() > 3 {
                say(format!("so did {} other threads", stayed.len() - 3));
            }
            if *unseen {
                say("so only accesses that came close to each other in time can be shown to race: a longer recording finds more".into());
            }
            if let Some(first) = kept.first() {
                say(format!(
                    "{} classes could not be changed back, as {first}; what was added to them does nothing",
                    kept.len()
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [
            ("30", 30.0),
            ("30s", 30.0),
            ("2m", 120.0),
            ("1.5m", 90.0),
            ("1h", 3600.0),
        ] {
            assert_eq!(parse_time(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "s", "5d", "-1", "0", "25h", "NaN"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
