//! `ravel record`: run a command and record the events of its threads.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ravel_agent::options::{Options, parse_noise};
use ravel_own::plan::Mode;
use ravel_prove::claim::Claim;
use ravel_prove::input::Input;
use ravel_prove::plans::Focus;
use ravel_prove::recording::{EndAfter, Recording, Start, jvm_option, record};
use ravel_trace::StandardInput;

use super::run::exit_code;
use crate::progress::{Terminal, size};

/// Printed after `ravel record --help`.
const EXAMPLES: &str = "\
Examples:
  ravel record java -cp classes Main             one trace, trace.ravel
  ravel record -o t.ravel --max-time 30 -- mvn -q test
                                                 one trace for each JVM of the build, 30 seconds each
  ravel record --print-option                    the option for a JVM that an IDE or a build file starts";

/// Run a command and record the events of its JVMs' threads.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The trace to write; with several JVMs, the name of each trace gets the process id (in place of %p if given).
    #[arg(short, long, default_value = "trace.ravel", value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    pub recorder: RecorderArgs,
    /// Record only the first N (1 to 255) executions of each access per thread: a cheap trace in which `ravel own` discovers
    /// owners; `ravel check` needs a full one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    sample: Option<u8>,
    /// The exit code: Ravel's verdict, or that of the program.
    #[arg(long, value_enum, default_value = "ravel", value_name = "WHOSE")]
    exit_code: ExitCodeOf,
    /// Run nothing; print the JVM option that records, for an IDE or a build file.
    #[arg(long, conflicts_with_all = ["command", "exit_code"])]
    print_option: bool,
    /// The command and its arguments: java …, mvn test, a script. Everything after its name belongs to the command.
    #[arg(
        trailing_var_arg = true,
        required_unless_present = "print_option",
        value_name = "COMMAND"
    )]
    command: Vec<String>,
}

/// Whose exit code is returned.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitCodeOf {
    /// Ravel's own, as `ravel --help` lists them.
    Ravel,
    /// The program's own.
    Program,
}

/// The selection of recorded classes and events.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Recording")]
pub struct RecorderArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Also record objects that only one thread has accessed so far.
    #[arg(long)]
    keep_unshared: bool,
    /// Also record accesses that repeat the thread's last one, or one that it has often made while no other thread came.
    #[arg(long)]
    keep_repeats: bool,
    /// Insert yields and short sleeps at RATE per thousand of the recorded points (default 10).
    #[arg(long, value_name = "SEED[:RATE]", value_parser = parse_noise)]
    noise: Option<(u64, u32)>,
    /// Seed java.util.Random, Math.random, ThreadLocalRandom and SplittableRandom where the program does not; each thread gets the
    /// same numbers again in forced runs. SecureRandom is unchanged.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Start the program's clock at MS milliseconds since 1970 (default: now). Each thread's clock advances by a microsecond
    /// per reading and by the time it sleeps or waits. Forced runs repeat it.
    #[arg(long, value_name = "MS", num_args = 0..=1)]
    clock: Option<Option<u64>>,
    /// Stop recording after this many seconds; the program continues.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    max_time: Option<Duration>,
    /// End the program after this many seconds, if it does not end by itself.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub end_after: Option<Duration>,
    /// The focus plan.
    #[command(flatten)]
    pub focus: FocusArgs,
}

/// The selection of recorded classes, and the size of the trace.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Recording")]
pub struct FilterArgs {
    /// Record only classes whose name starts with PREFIX (repeatable).
    #[arg(long, value_name = "PREFIX")]
    include: Vec<String>,
    /// Do not record classes whose name starts with PREFIX (repeatable).
    #[arg(long, value_name = "PREFIX")]
    exclude: Vec<String>,
    /// Also record build tools, test runners and language runtimes.
    #[arg(long)]
    keep_frameworks: bool,
    /// Also record final fields.
    #[arg(long)]
    keep_final: bool,
    /// Stop recording at this size (K, M, G); the program continues.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_size: Option<u64>,
}

impl FilterArgs {
    /// As the agent takes them.
    pub fn options(&self) -> Options {
        Options {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            keep_frameworks: self.keep_frameworks,
            keep_final: self.keep_final,
            max_size: self.max_size,
            ..Options::default()
        }
    }
}

/// The options of focus plans.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Recording")]
pub struct FocusArgs {
    /// Leave out the accesses that this plan of `ravel own` proves safe; `auto` makes a plan and keeps it in the cache
    #[arg(long, value_name = "PLAN|auto")]
    pub focus: Option<PathBuf>,
    /// Which accesses to leave out
    #[arg(long, value_name = "MODE", default_value = "combined", requires = "focus", value_parser = focus_modes())]
    pub focus_mode: Mode,
}

/// The modes by name. The hidden ones are for `benches/focus.sh`, which compares them with the modes of the paper.
fn focus_modes() -> impl TypedValueParser<Value = Mode> {
    let shown = [
        ("combined", "those that no analysis and no forced run needs"),
        (
            "races",
            "all that cannot race; only for `ravel record`, and only the race analyses can use such a trace",
        ),
    ];
    let shown = shown.map(|(name, help)| PossibleValue::new(name).help(help));
    let hidden = ["field", "method", "none"].map(|name| PossibleValue::new(name).hide(true));
    PossibleValuesParser::new(shown.into_iter().chain(hidden)).try_map(|name| name.parse::<Mode>())
}

impl FocusArgs {
    /// Puts the plan that they name into the agent's options, if it holds.
    pub fn prepare(&self, command: &[String], options: &mut Options) -> Result<Focus> {
        Focus::prepare(self.focus.as_deref(), self.focus_mode, command, options, &Terminal)
    }
}

impl RecorderArgs {
    /// As the agent takes them.
    pub fn options(&self) -> Options {
        Options {
            keep_unshared: self.keep_unshared,
            keep_repeats: self.keep_repeats,
            noise: self.noise,
            seed: self.seed,
            clock: self.clock.map(|start| start.unwrap_or_else(now)),
            max_time: self.max_time,
            ..self.filter.options()
        }
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as u64)
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B') {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        other => return Err(format!("{other:?} is not a unit: use K, M or G")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("{digits:?} is not a number"))?;
    number.checked_mul(unit).ok_or_else(|| "too large".to_string())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    if args.print_option {
        if args.recorder.focus.focus.is_some() {
            anyhow::bail!("--focus needs a command that Ravel starts; --print-option starts none");
        }
        let option = jvm_option(&args.output, args.recorder.options())?;
        super::report::print(&format!("{option}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let start = Start {
        input: Input::own(),
        end_after: args.recorder.end_after.map(EndAfter::asked),
        hidden_in: None,
    };
    let mut options = args.recorder.options();
    options.sample = args.sample;
    let _focus = args.recorder.focus.prepare(&args.command, &mut options)?;
    let claim = Claim::take(&args.output)?;
    let recording = record(&args.command, &claim.output, options, &start, &Terminal)?;
    report(&recording);
    if args.exit_code == ExitCodeOf::Program {
        return Ok(exit_code(&recording));
    }
    Ok(if recording.traces.is_empty() {
        ExitCode::from(3)
    } else {
        ExitCode::SUCCESS
    })
}

/// Reports on standard error what was recorded.
pub fn report(recording: &Recording) {
    // Plain numbers: scripts read them.
    let count = |n: u64, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    for trace in &recording.traces {
        eprintln!(
            "ravel: {}: {} of {}{}, {}; {}",
            trace.path.display(),
            count(trace.events, "event"),
            count(trace.threads as u64, "thread"),
            trace.shared.map_or(String::new(), |shared| format!(
                ", {}",
                count(shared as u64, "shared location")
            )),
            size(trace.bytes),
            trace.classes,
        );
        for remark in &trace.remarks {
            eprintln!("ravel: {}: {remark}", trace.path.display());
        }
    }
    if recording.interrupted > 0 {
        match recording.interrupted {
            1 => eprintln!("ravel: a JVM ended before it could close its trace"),
            several => eprintln!("ravel: {several} JVMs ended before they could close their traces"),
        }
    }
    if recording.traces.is_empty() {
        let reason = match recording.empty.as_slice() {
            [] => {
                "the command started no JVM that Ravel can record (the JVM is too old, or it ignores JAVA_TOOL_OPTIONS)"
            }
            [first, ..] => first,
        };
        eprintln!("ravel: nothing was recorded: {reason}");
    } else if !recording.empty.is_empty() {
        eprintln!(
            "ravel: {} recorded nothing: {}",
            count(recording.empty.len() as u64, "other JVM"),
            recording.empty[0]
        );
    }
    if recording.input.as_ref().is_some_and(|input| input.cut) {
        eprintln!(
            "ravel: kept only the first {} of standard input; it ends there in forced runs",
            size(StandardInput::LIMIT as u64)
        );
    }
    if let Some(limit) = recording.ended {
        eprintln!(
            "ravel: ended the program after {} s ({})",
            limit.time.as_secs_f64(),
            limit.option
        );
    } else if !recording.status.success() {
        eprintln!("ravel: the program ended with {}", recording.status);
    }
}
