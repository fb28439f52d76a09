//! `ravel config`: checks and explains `ravel.toml`, or prints its schema.

use std::path::PathBuf;
use std::process::ExitCode;

use ravel_report::config::{self, Config, Day, FILE_NAME};
use ravel_report::words;

use super::report::print;

/// The arguments of `ravel config`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Read the configuration and list its mistakes, or its meaning if there are none
    Check {
        /// The file [default: ravel.toml in the working folder]
        file: Option<PathBuf>,
    },
    /// Print the JSON schema of ravel.toml, for editors
    Schema,
}

/// Runs `ravel config`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Schema => {
            let schema = serde_json::to_string_pretty(&config::keys::schema())?;
            print(&(schema + "\n"))?;
        }
        Command::Check { file } => {
            let folder = std::env::current_dir()?;
            if file.is_none() && !folder.join(FILE_NAME).exists() {
                print("No ravel.toml here: the defaults apply. `ravel explain config` shows one.\n")?;
                return Ok(ExitCode::SUCCESS);
            }
            let config = config::load(file.as_deref(), &folder)?;
            print(&describe(&config, Day::today()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(config: &Config, today: Day) -> String {
    let mut lines = vec!["The configuration is valid:".to_owned()];
    let mut say = |what: &str, values: &[String]| {
        if !values.is_empty() {
            lines.push(format!("  {what}: {}", values.join(", ")));
        }
    };
    say("record only", &config.record.include);
    say("never record", &config.record.exclude);
    if let Some(kinds) = &config.units.kinds {
        let kinds: Vec<String> = kinds.iter().map(|k| words::unit_kind(*k).to_owned()).collect();
        say("kinds of units", &kinds);
    }
    say("atomic", &config.units.declare);
    say("not atomic", &config.units.not_atomic);
    for set in &config.atomic_sets {
        say(&format!("atomic set {}", set.name), &set.fields);
    }
    for pattern in &config.patterns {
        say(
            &format!("pattern {}", pattern.name),
            std::slice::from_ref(&pattern.steps),
        );
    }
    say("not shared", &config.scan.unshared);
    say("shared", &config.scan.shared);
    if let Some(level) = config.report.fail_on {
        say("a build fails on", &[format!("{} or more", words::evidence(level))]);
    }
    let paths: Vec<String> = config.report.source.iter().map(|p| p.display().to_string()).collect();
    say("sources", &paths);
    let missing: Vec<String> = config
        .report
        .source
        .iter()
        .filter(|p| !p.exists())
        .map(|p| p.display().to_string())
        .collect();
    say("warning: missing sources", &missing);
    if let Some(baseline) = &config.report.baseline {
        let state = if baseline.exists() {
            ""
        } else {
            " (does not exist yet: `ravel baseline` writes it)"
        };
        say("accepted findings", &[format!("{}{state}", baseline.display())]);
    }
    let outputs: Vec<String> = config.report.out.iter().map(|o| o.to_string()).collect();
    say("also written", &outputs);
    for suppression in &config.suppressions {
        let state = match suppression.until {
            Some(until) if today > until => format!("expired on {until}"),
            Some(until) => format!("until {until}"),
            None => "without end".to_owned(),
        };
        say(
            &format!("suppression in line {}", suppression.line),
            &[format!("{}, {state}", suppression.reason)],
        );
    }
    if lines.len() == 1 {
        lines.push("  empty: the defaults apply".to_owned());
    }
    lines.join("\n") + "\n"
}
