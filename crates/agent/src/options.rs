//! What the user asked for, as it reaches the agent: `key=value` pairs, joined by commas, values percent-encoded.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// The agent's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where the trace goes; `%p` stands for the process id.
    pub out: PathBuf,
    /// Only classes whose dotted name starts with one of these are recorded; empty: all of the application.
    pub include: Vec<String>,
    /// Classes whose dotted name starts with one of these are not recorded.
    pub exclude: Vec<String>,
    /// Whether the frameworks that usually surround a program (test runners, build tools) are recorded too.
    pub keep_frameworks: bool,
    /// Record accesses to objects that only one thread has touched.
    pub keep_unshared: bool,
    /// Record accesses that repeat what the thread just did.
    pub keep_repeats: bool,
    /// Record accesses to final fields.
    pub keep_final: bool,
    /// Record each thread at most so often at each access in the code: enough to discover owners, too little to check.
    pub sample: Option<u8>,
    /// Yields and short sleeps at recorded points: a seed and how many of a thousand points.
    pub noise: Option<(u64, u32)>,
    /// What random generators without a seed of their own begin with.
    pub seed: Option<u64>,
    /// When the program's clock begins, in milliseconds since 1970; it then moves by what the program does.
    pub clock: Option<u64>,
    /// End the recording at this many bytes of trace.
    pub max_size: Option<u64>,
    /// End the recording after this time.
    pub max_time: Option<Duration>,
    /// How long the recorded run took, in a forced run: once the schedule is over, it needs not take much longer.
    pub took: Option<Duration>,
    /// The command that the user gave, for the trace's header.
    pub command: Vec<String>,
    /// Where the agent says how the recording went (a line per JVM), for the command line to read.
    pub status: Option<PathBuf>,
    /// What a focus plan leaves out of which classes.
    pub focus: Option<PathBuf>,
    /// Run under this schedule instead of recording.
    pub schedule: Option<PathBuf>,
    /// Run under a scheduler that decides at each point which thread goes on, as this file says; what the runs show goes to the file
    /// with the extension `found`.
    pub search: Option<PathBuf>,
    /// Run `main` again and again inside this JVM, and record nothing.
    pub inside: bool,
    /// Direct the run to the goals of this file instead of recording; the log goes to `out`.
    pub goals: Option<PathBuf>,
    /// Run under the schedule and record as without one: what methods return is not noted.
    pub explore: bool,
    /// Record accesses to these fields alone (a line each, `shop.Stock.items`, `[]` for elements of arrays), and
    /// synchronisation. All points count.
    pub watch: Option<PathBuf>,
    /// The list that all JVMs of a command sign, which identifies them in another run.
    pub roll: Option<PathBuf>,
    /// Be active only in the JVM that signs the list like this.
    pub only: Option<String>,
    /// The directory and the environment of the command, if the JVM's own may be others: words that end with a zero byte.
    pub origin: Option<PathBuf>,
    /// End with the process that started this JVM.
    pub tied: bool,
    /// The JVM was running before Ravel came: the folder through which the agent and the command line talk.
    pub attach: Option<PathBuf>,
    /// For tests: instrument every class of the JDK as if it were the application's, and record nothing.
    pub everything: bool,
    /// For tests: the agent fails from its call of this number on.
    pub fail: Option<u64>,
    /// For tests: order accesses by fences where the processor does it by itself.
    pub fences: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            out: PathBuf::from("ravel-%p.ravel"),
            include: Vec::new(),
            exclude: Vec::new(),
            keep_frameworks: false,
            keep_unshared: false,
            keep_repeats: false,
            keep_final: false,
            sample: None,
            noise: None,
            seed: None,
            clock: None,
            max_size: None,
            max_time: None,
            took: None,
            command: Vec::new(),
            status: None,
            focus: None,
            schedule: None,
            search: None,
            inside: false,
            goals: None,
            explore: false,
            watch: None,
            roll: None,
            only: None,
            origin: None,
            tied: false,
            attach: None,
            everything: false,
            fail: None,
            fences: false,
        }
    }
}

impl Options {
    /// Reads what follows `=` in `-agentpath:…=`.
    pub fn parse(text: &str) -> Result<Options, String> {
        let mut options = Options::default();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value).ok_or_else(|| format!("option {key}: {value:?} is not percent-encoded text"))?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|_| format!("option {key}: {value:?} is not a number"))
            };
            match key {
                "out" => options.out = PathBuf::from(value),
                "include" => options.include.push(value),
                "exclude" => options.exclude.push(value),
                "keep-frameworks" => options.keep_frameworks = true,
                "keep-unshared" => options.keep_unshared = true,
                "keep-repeats" => options.keep_repeats = true,
                "keep-final" => options.keep_final = true,
                "sample" => {
                    let sample =
                        u8::try_from(number()?).map_err(|_| format!("option {key}: {value:?} is above 255"))?;
                    options.sample = Some(sample);
                }
                "noise" => options.noise = Some(parse_noise(&value)?),
                "seed" => options.seed = Some(number()?),
                "clock" => options.clock = Some(number()?),
                "max-size" => options.max_size = Some(number()?),
                "max-time" => options.max_time = Some(Duration::from_millis(number()?)),
                "took" => options.took = Some(Duration::from_millis(number()?)),
                "command" => options.command.push(value),
                "status" => options.status = Some(PathBuf::from(value)),
                "focus" => options.focus = Some(PathBuf::from(value)),
                "schedule" => options.schedule = Some(PathBuf::from(value)),
                "search" => options.search = Some(PathBuf::from(value)),
                "inside" => options.inside = true,
                "goals" => options.goals = Some(PathBuf::from(value)),
                "explore" => options.explore = true,
                "watch" => options.watch = Some(PathBuf::from(value)),
                "roll" => options.roll = Some(PathBuf::from(value)),
                "only" => options.only = Some(value),
                "origin" => options.origin = Some(PathBuf::from(value)),
                "tied" => options.tied = true,
                "attach" => options.attach = Some(PathBuf::from(value)),
                "everything" => options.everything = true,
                "fail" => options.fail = Some(number()?),
                "fences" => options.fences = true,
                _ => return Err(format!("unknown option {key:?}")),
            }
        }
        Ok(options)
    }

    /// Whether threads ask before each point.
    pub fn is_forced(&self) -> bool {
        self.schedule.is_some() || self.search.is_some()
    }

    /// Whether the Java classes need fences to order what threads store and load: on all processors but x86-64, see `RavelFences.java`.
    pub fn needs_fences(&self) -> bool {
        self.fences || cfg!(not(target_arch = "x86_64"))
    }

    /// The text that [`Options::parse`] reads back.
    pub fn encode(&self) -> String {
        let mut text = format!("out={}", encode(&self.out.to_string_lossy()));
        let mut add = |key: &str, value: &str| {
            let _ = write!(text, ",{key}={}", encode(value));
        };
        self.include.iter().for_each(|v| add("include", v));
        self.exclude.iter().for_each(|v| add("exclude", v));
        for (key, on) in [
            ("keep-frameworks", self.keep_frameworks),
            ("keep-unshared", self.keep_unshared),
            ("keep-repeats", self.keep_repeats),
            ("keep-final", self.keep_final),
            ("explore", self.explore),
            ("inside", self.inside),
            ("tied", self.tied),
            ("everything", self.everything),
            ("fences", self.fences),
        ] {
            if on {
                add(key, "");
            }
        }
        if let Some((seed, rate)) = self.noise {
            add("noise", &format!("{seed}:{rate}"));
        }
        let sample = self.sample.map(u64::from);
        for (key, number) in [
            ("seed", self.seed),
            ("clock", self.clock),
            ("fail", self.fail),
            ("max-size", self.max_size),
            ("sample", sample),
        ] {
            if let Some(number) = number {
                add(key, &number.to_string());
            }
        }
        for (key, time) in [("max-time", self.max_time), ("took", self.took)] {
            if let Some(time) = time {
                add(key, &time.as_millis().to_string());
            }
        }
        self.command.iter().for_each(|v| add("command", v));
        for (key, path) in [
            ("status", &self.status),
            ("focus", &self.focus),
            ("schedule", &self.schedule),
            ("search", &self.search),
            ("goals", &self.goals),
            ("watch", &self.watch),
            ("roll", &self.roll),
            ("origin", &self.origin),
            ("attach", &self.attach),
        ] {
            if let Some(path) = path {
                add(key, &path.to_string_lossy());
            }
        }
        if let Some(only) = &self.only {
            add("only", only);
        }
        text
    }
}

/// Thousandths of the recorded points that get noise, if nothing else is said.
pub const DEFAULT_NOISE: u32 = 10;

/// `SEED` or `SEED:RATE`, the rate in thousandths of the recorded points.
pub fn parse_noise(text: &str) -> Result<(u64, u32), String> {
    let (seed, rate) = match text.split_once(':') {
        Some((seed, rate)) => (seed, Some(rate)),
        None => (text, None),
    };
    let seed = seed.parse().map_err(|_| format!("noise: {seed:?} is not a number"))?;
    let rate = rate
        .map_or(Ok(DEFAULT_NOISE), str::parse)
        .map_err(|_| format!("noise: {:?} is not a number of thousandths", rate.unwrap_or_default()))?;
    if rate > 1000 {
        return Err(format!("noise: {rate} thousandths is more than every point"));
    }
    Ok((seed, rate))
}

fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' | b'$' => out.push(byte as char),
            _ => {
                let _ = write!(out, "%{byte:02x}");
            }
        }
    }
    out
}

fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' || matches!(bytes.as_slice_prefix(), Some(b'p' | b'%')) {
            out.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(out).ok()
}

/// `%p` in a hand-written option stands for itself.
trait Peek {
    fn as_slice_prefix(&self) -> Option<u8>;
}

impl Peek for std::str::Bytes<'_> {
    fn as_slice_prefix(&self) -> Option<u8> {
        self.clone().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_command_line() {
        let options = Options {
            out: PathBuf::from("/a dir/t,1=%p.ravel"),
            include: vec!["shop.".into(), "ä b".into()],
            exclude: vec!["x%20y".into()],
            keep_repeats: true,
            noise: Some((7, 20)),
            seed: Some(u64::MAX),
            clock: Some(0),
            max_size: Some(1 << 30),
            max_time: Some(Duration::from_millis(1500)),
            took: Some(Duration::from_millis(300)),
            command: vec!["java".into(), "-jar".into(), "my app.jar".into()],
            only: Some("1:-jar app-#.jar".into()),
            roll: Some(PathBuf::from("/tmp/roll")),
            watch: Some(PathBuf::from("/tmp/watch")),
            tied: true,
            fences: true,
            ..Options::default()
        };
        assert_eq!(Options::parse(&options.encode()), Ok(options));
    }

    #[test]
    fn a_process_id_may_be_written_by_hand() {
        assert_eq!(
            Options::parse("out=t-%p.ravel").map(|o| o.out),
            Ok(PathBuf::from("t-%p.ravel"))
        );
    }

    #[test]
    fn wrong_options_are_named() {
        assert_eq!(Options::parse("speed=9"), Err("unknown option \"speed\"".into()));
        assert_eq!(
            Options::parse("max-size=big"),
            Err("option max-size: \"big\" is not a number".into())
        );
        assert_eq!(
            Options::parse("noise=1:2000"),
            Err("noise: 2000 thousandths is more than every point".into())
        );
    }
}
