//! The recordings of a job: one, or several with noise of their own, with a focus plan for as long as it holds.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_agent::options::{DEFAULT_NOISE, Options};

use crate::input::{Again, Input};
use crate::observer::Observer;
use crate::plans::Focus;
use crate::recording::{EndAfter, Recording, Start, record};

/// What to record, and how often.
#[derive(Debug)]
pub struct Request<'a> {
    /// The command.
    pub command: &'a [String],
    /// Where the traces go.
    pub output: &'a Path,
    /// The agent's options.
    pub options: Options,
    /// The plan in use.
    pub focus: Focus,
    /// How many runs to record.
    pub runs: u16,
    /// The command is ended then, if it has not ended by itself.
    pub end_after: Option<EndAfter>,
}

/// What was recorded.
pub struct Recorded {
    /// The runs.
    pub recordings: Vec<Recording>,
    /// How long they took.
    pub time: Duration,
    /// What is proven of the program, if the plan held.
    pub proven: ravel_analysis::focus::Focus,
}

impl Recorded {
    /// The traces of all runs.
    pub fn traces(&self) -> Vec<PathBuf> {
        let traces = self.recordings.iter().flat_map(|recording| &recording.traces);
        traces.map(|trace| trace.path.clone()).collect()
    }

    /// The size of all traces.
    pub fn bytes(&self) -> u64 {
        let traces = self.recordings.iter().flat_map(|recording| &recording.traces);
        traces.map(|trace| trace.bytes).sum()
    }
}

/// Records the runs of a request; `ended` hears of each. Stops early when the user asks to.
pub fn record_runs(request: Request<'_>, observer: &dyn Observer, ended: &dyn Fn(&Recording)) -> Result<Recorded> {
    let Request {
        command,
        output,
        mut options,
        mut focus,
        runs,
        end_after,
    } = request;
    let begun = Instant::now();
    let mut recordings: Vec<Recording> = Vec::new();
    let mut start = Start {
        input: Input::own(),
        end_after,
        hidden_in: None,
    };
    for number in 0..runs {
        let with_noise = |options: &Options| Options {
            noise: noise(options.noise, number),
            ..options.clone()
        };
        let output = numbered(output, number, runs);
        let mut recording = record(command, &output, with_noise(&options), &start, observer)?;
        if let (0, Some(kept)) = (number, &recording.input) {
            start.input = Input::Again(Again::new(kept)?);
        }
        if let Some(class) = recording.traces.iter().find_map(|trace| trace.unfocused.first()) {
            observer.remark(&format!(
                "the focus plan does not cover {class}, which was loaded: recording again without it"
            ));
            focus.drop_plan(&mut options);
            recording = record(command, &output, with_noise(&options), &start, observer)?;
        }
        ended(&recording);
        let stopped = recording.stopped;
        recordings.push(recording);
        if stopped {
            break;
        }
    }
    Ok(Recorded {
        recordings,
        time: begun.elapsed(),
        proven: focus.proven(&options),
    })
}

/// The first run is as the user wants it; each further one has noise of its own.
fn noise(asked: Option<(u64, u32)>, number: u16) -> Option<(u64, u32)> {
    match (number, asked) {
        (0, asked) => asked,
        (_, Some((seed, rate))) => Some((seed.wrapping_add(number.into()), rate)),
        (_, None) => Some((number.into(), DEFAULT_NOISE)),
    }
}

/// `t.ravel` is `t-2.ravel` in the second of several runs.
fn numbered(output: &Path, number: u16, runs: u16) -> PathBuf {
    if runs == 1 {
        return output.to_path_buf();
    }
    with_suffix(output, &(number + 1).to_string())
}

/// `t.ravel` is `t-SUFFIX.ravel`.
pub(super) fn with_suffix(output: &Path, suffix: &str) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let extension = output.extension().unwrap_or(OsStr::new("ravel")).to_string_lossy();
    output.with_file_name(format!("{stem}-{suffix}.{extension}"))
}
