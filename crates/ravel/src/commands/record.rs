//! `ravel record`: run a command and record what its threads do.

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

/// What a reader of `ravel record --help` may type.
const EXAMPLES: &str = "\
Examples:
  ravel record java -cp classes Main             one trace, trace.ravel
  ravel record -o t.ravel --max-time 30 -- mvn -q test
                                                 one trace for each JVM of the build, 30 seconds each
  ravel record --print-option                    the option for a JVM that something else starts";

/// Run a command and record what the threads of its JVMs do.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The trace; with several JVMs each gets its process id in the name (or where %p stands).
    #[arg(short, long, default_value = "trace.ravel", value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    pub recorder: RecorderArgs,
    /// Record each thread only N times (1 to 255) at each access in the code: a cheap trace for `ravel own`, which discovers
    /// owners in it; it is too thin to be checked for bugs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    sample: Option<u8>,
    /// What to return: Ravel's own verdict, or the program's exit code.
    #[arg(long, value_enum, default_value = "ravel", value_name = "WHOSE")]
    exit_code: ExitCodeOf,
    /// Run nothing; print the option that makes a JVM record itself, for an IDE or a build file.
    #[arg(long, conflicts_with_all = ["command", "exit_code"])]
    print_option: bool,
    /// The command and its arguments: java …, mvn test, a script. What follows it is no option of Ravel.
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
    /// 0: recorded. 2: usage or input error. 3: nothing was observed.
    Ravel,
    /// The program's own.
    Program,
}

/// What is recorded and what is left out.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Recording")]
pub struct RecorderArgs {
    /// Record only classes whose name begins like this (repeatable).
    #[arg(long, value_name = "PREFIX")]
    include: Vec<String>,
    /// Do not record classes whose name begins like this (repeatable).
    #[arg(long, value_name = "PREFIX")]
    exclude: Vec<String>,
    /// Record build tools, test runners and language runtimes too.
    #[arg(long)]
    keep_frameworks: bool,
    /// Record objects that only one thread has touched so far, too.
    #[arg(long)]
    keep_unshared: bool,
    /// Record accesses that repeat what the thread just did, or has often done while nobody else came, too.
    #[arg(long)]
    keep_repeats: bool,
    /// Record final fields, too.
    #[arg(long)]
    keep_final: bool,
    /// Insert yields and short sleeps at RATE thousandths of the recorded points (default 10).
    #[arg(long, value_name = "SEED[:RATE]", value_parser = parse_noise)]
    noise: Option<(u64, u32)>,
    /// Seed java.util.Random, Math.random, ThreadLocalRandom and SplittableRandom where the program does not; the same
    /// in every thread's order, and again in forced runs. SecureRandom is left alone.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Let the program's clock begin at MS milliseconds since 1970 (now if not given) and move only by what each thread does: a
    /// microsecond whenever it looks, and as long as it sleeps or waits. The same again in forced runs.
    #[arg(long, value_name = "MS", num_args = 0..=1)]
    clock: Option<Option<u64>>,
    /// End the recording at this size (K, M, G); the program goes on.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_size: Option<u64>,
    /// End the recording after this many seconds; the program goes on.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    max_time: Option<Duration>,
    /// End the program after this many seconds: for one that does not end by itself.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub end_after: Option<Duration>,
    /// What need not be recorded.
    #[command(flatten)]
    pub focus: FocusArgs,
}

/// What the user says about focus.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Recording")]
pub struct FocusArgs {
    /// Leave out what this plan of `ravel own` proves safe; `auto` makes and keeps one by itself
    #[arg(long, value_name = "PLAN|auto")]
    pub focus: Option<PathBuf>,
    /// What is left out of the recording
    #[arg(long, value_name = "MODE", default_value = "combined", requires = "focus", value_parser = focus_modes())]
    pub focus_mode: Mode,
}

/// The modes by name. Those that are hidden are for `benches/focus.sh`, which compares them with the modes of the paper.
fn focus_modes() -> impl TypedValueParser<Value = Mode> {
    let shown = [
        ("combined", "what no analysis and no forced run needs"),
        (
            "races",
            "all that cannot race; for `ravel record` only, and such a trace serves the race analyses alone",
        ),
    ];
    let shown = shown.map(|(name, help)| PossibleValue::new(name).help(help));
    let hidden = ["field", "method", "none"].map(|name| PossibleValue::new(name).hide(true));
    PossibleValuesParser::new(shown.into_iter().chain(hidden)).try_map(|name| name.parse::<Mode>())
}

impl FocusArgs {
    /// The plan that they name, if it holds, in the agent's options.
    pub fn prepare(&self, command: &[String], options: &mut Options) -> Result<Focus> {
        Focus::prepare(self.focus.as_deref(), self.focus_mode, command, options, &Terminal)
    }
}

impl RecorderArgs {
    /// As the agent takes them.
    pub fn options(&self) -> Options {
        Options {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            keep_frameworks: self.keep_frameworks,
            keep_unshared: self.keep_unshared,
            keep_repeats: self.keep_repeats,
            keep_final: self.keep_final,
            noise: self.noise,
            seed: self.seed,
            clock: self.clock.map(|start| start.unwrap_or_else(now)),
            max_size: self.max_size,
            max_time: self.max_time,
            ..Options::default()
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
        other => return Err(format!("{other:?} is no unit: use K, M or G")),
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
            anyhow::bail!("--focus is for commands that Ravel starts itself, not for --print-option");
        }
        let option = jvm_option(&args.output, args.recorder.options())?;
        super::report::print(&format!("{option}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let start = Start {
        input: Input::own(),
        end_after: args.recorder.end_after.map(EndAfter::asked),
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

/// Says on standard error what was recorded.
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
            [] => "the command started no JVM that could be recorded (a JVM too old, or JAVA_TOOL_OPTIONS ignored)",
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
            "ravel: only the first {} of standard input were kept; forced runs find its end there",
            size(StandardInput::LIMIT as u64)
        );
    }
    if let Some(limit) = recording.ended {
        eprintln!(
            "ravel: the program was ended after {} s ({})",
            limit.time.as_secs_f64(),
            limit.option
        );
    } else if !recording.status.success() {
        eprintln!("ravel: the program ended with {}", recording.status);
    }
}
