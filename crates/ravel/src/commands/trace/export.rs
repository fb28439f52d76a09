//! `ravel trace export`: a trace to STD text.

use std::io::BufWriter;
use std::path::PathBuf;

use ravel_trace::std_text::{self, ExportError, ExportSummary};

use super::{Output, open, warn};

/// Arguments.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The trace.
    trace: PathBuf,
    /// The file to write, `-` for standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Skip damaged parts of the trace instead of stopping there.
    #[arg(long)]
    salvage: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let mut reader = open(&args.trace, args.salvage)?;
    let output = Output::new(&args.output);
    let mut convert = || -> anyhow::Result<ExportSummary> {
        let out = BufWriter::with_capacity(1 << 18, output.open()?);
        std_text::export(&mut reader, out).map_err(|error| match error {
            ExportError::Write(error) => anyhow::Error::new(error).context(format!("cannot write {}", output.name())),
            ExportError::Read(error) => error.into(),
        })
    };
    let summary = output.close(convert())?;
    warn(&args.trace, &reader);
    let ExportSummary { written, left_out } = summary;
    eprintln!(
        "{}: {written} lines; left out {left_out} events that STD cannot express",
        output.name()
    );
    Ok(())
}
