//! `ravel trace import`: STD text to a trace.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use ravel_trace::std_text::{self, ImportError, ImportSummary};
use ravel_trace::{Footer, Header, Writer};

use super::Output;

/// Arguments.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The STD text, `-` for standard input.
    input: PathBuf,
    /// The trace to write, `-` for standard output.
    #[arg(short, long)]
    output: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let output = Output::new(&args.output);
    let summary = output.close(convert(&args.input, &output))?;
    let ImportSummary {
        events,
        threads,
        variables,
        locks,
    } = summary;
    eprintln!(
        "{}: {events} events, {threads} threads, {variables} variables, {locks} locks",
        output.name()
    );
    Ok(())
}

fn convert(input: &Path, output: &Output) -> anyhow::Result<ImportSummary> {
    let name = if input.as_os_str() == "-" {
        "standard input".to_string()
    } else {
        input.display().to_string()
    };
    let text: Box<dyn BufRead> = if input.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(input).with_context(|| format!("cannot read {name}"))?;
        Box::new(BufReader::with_capacity(1 << 20, file))
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let header = Header {
        command: std::env::args().collect(),
        directory: std::env::current_dir().unwrap_or_default().display().to_string(),
        ravel_version: env!("CARGO_PKG_VERSION").to_string(),
        start_unix_millis: now.as_millis() as u64,
        pid: std::process::id(),
        options: vec![("imported".to_string(), name.clone())],
        ..Header::default()
    };
    let writing = || format!("cannot write {}", output.name());
    let mut writer = Writer::new(output.open()?, &header).with_context(writing)?;
    let summary = std_text::import(text, &mut writer).map_err(|error| match error {
        ImportError::Write(error) => anyhow::Error::new(error).context(writing()),
        ImportError::Read(error) => anyhow::Error::new(error).context(format!("cannot read {name}")),
        error => anyhow::Error::new(error).context(name.clone()),
    })?;
    let counts = vec![("events".to_string(), summary.events)];
    writer
        .finish(&Footer {
            counts,
            ..Footer::default()
        })
        .with_context(writing)?;
    Ok(summary)
}
