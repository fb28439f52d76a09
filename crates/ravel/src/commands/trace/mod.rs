//! `ravel trace`: inspects and converts traces.

mod dump;
mod export;
mod import;
mod info;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use ravel_trace::{ReadOptions, Reader};

/// The arguments of `ravel trace`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Summarise a trace: the run, counts, the busiest locations and locks, a timeline of the threads.
    Info(info::Args),
    /// Print the events of a trace, one per line.
    Dump(dump::Args),
    /// Make a trace from STD text (`thread|op(name)|integer`).
    Import(import::Args),
    /// Write a trace as STD text.
    Export(export::Args),
}

/// Runs `ravel trace`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let result = match args.command {
        Command::Info(args) => info::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Export(args) => export::run(&args),
    };
    match result {
        // The reader of our output has closed the pipe.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Opens a trace.
fn open(path: &Path, salvage: bool) -> anyhow::Result<Reader> {
    let reader = Reader::open(path, ReadOptions { salvage })?;
    Ok(reader)
}

/// Prints the warnings about a trace that was read to its end.
fn warn(path: &Path, reader: &Reader) {
    for warning in reader.warnings() {
        eprintln!("ravel: {}: {warning}", path.display());
    }
}

/// Standard output for `-`, else a file that appears under its name only once it is whole.
enum Output {
    Standard,
    Whole {
        partial: PathBuf,
        target: PathBuf,
    },
    /// Something that is not to be replaced: a device, a pipe.
    Special(PathBuf),
}

impl Output {
    fn new(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            return Output::Standard;
        }
        if path.exists() && !path.is_file() {
            return Output::Special(path.to_path_buf());
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        Output::Whole {
            partial: partial.into(),
            target: path.to_path_buf(),
        }
    }

    fn name(&self) -> String {
        match self {
            Output::Standard => "standard output".to_string(),
            Output::Whole { target: path, .. } | Output::Special(path) => path.display().to_string(),
        }
    }

    fn open(&self) -> anyhow::Result<Box<dyn Write>> {
        let path = match self {
            Output::Standard => return Ok(Box::new(io::stdout().lock())),
            Output::Whole { partial, .. } => partial,
            Output::Special(path) => path,
        };
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // A trace may hold secrets of the program.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Box::new(file))
    }

    /// Gives the file its name, or removes what there is of it.
    fn close<T>(&self, result: anyhow::Result<T>) -> anyhow::Result<T> {
        let Output::Whole { partial, target } = self else {
            return result;
        };
        match result {
            Ok(value) => {
                std::fs::rename(partial, target).with_context(|| format!("cannot write {}", target.display()))?;
                Ok(value)
            }
            Err(error) => {
                // The error already tells what went wrong; a left-over that cannot be removed adds nothing.
                let _ = std::fs::remove_file(partial);
                Err(error)
            }
        }
    }
}
