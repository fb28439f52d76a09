//! `ravel report`: renders the findings of an earlier run again, in any format. Every command that ends in a report shares
//! these options and this output.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use ravel_analysis::finding::{Evidence, Report};
use ravel_report::baseline::Baseline;
use ravel_report::config::{self, Config, Day};
use ravel_report::{Format, Notes, Options, Output, SourceFinder, json, text, words};

/// The arguments of `ravel report`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A findings.json, the folder that contains one, or - for standard input
    findings: PathBuf,
    #[command(flatten)]
    report: ReportArgs,
}

/// The options of every command that reports.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Report")]
pub struct ReportArgs {
    /// The format on standard output.
    #[arg(long, value_name = "FORMAT", help = format!("The format on standard output: {}", Format::names().join(", ")))]
    pub format: Option<Format>,
    /// Also write a report to a file, as in html=report.html; may be repeated
    #[arg(long, value_name = "FORMAT=FILE")]
    pub out: Vec<Output>,
    /// Also show findings that are not proven
    #[arg(long)]
    pub all: bool,
    /// Show whole findings instead of one screen each; say on standard error why each finding has no stronger evidence, and list
    /// the attempts of directed runs site by site
    #[arg(long, short)]
    pub verbose: bool,
    /// Where to find sources: a folder or an archive; may be repeated
    #[arg(long, value_name = "DIR|JAR")]
    pub source: Vec<PathBuf>,
    /// The configuration [default: ravel.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Accepted findings, as written by `ravel baseline`
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// The weakest evidence that makes the exit code 1, shown or not [default: every shown finding]
    #[arg(long, value_name = "EVIDENCE", value_parser = parse_evidence)]
    pub fail_on: Option<Evidence>,
    #[command(flatten)]
    pub color: ColorArgs,
}

/// Columns of text where there is no terminal.
const PLAIN_WIDTH: usize = 80;

/// How text looks.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ColorArgs {
    /// Colours: auto, always or never
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    pub color: Option<String>,
    /// Draw with plain ASCII
    #[arg(long)]
    pub ascii: bool,
    /// Columns of text [default: those of the terminal, 80 in a file or a pipe]
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
}

impl ColorArgs {
    /// Whether to colour standard output.
    pub fn color(&self) -> bool {
        let wish = match self.color.as_deref() {
            Some("always") => Some(true),
            Some("never") => Some(false),
            _ => None,
        };
        let variable = |name| std::env::var(name).ok();
        let (no_color, term) = (variable("NO_COLOR"), variable("TERM"));
        text::colors_wanted(wish, io::stdout().is_terminal(), no_color.as_deref(), term.as_deref())
    }

    /// Columns of text.
    pub fn width(&self) -> usize {
        let out = io::stdout();
        let of_terminal = || {
            let size = rustix::termios::tcgetwinsize(&out).ok()?;
            // A terminal that does not know its size says 0.
            (size.ws_col > 0).then(|| usize::from(size.ws_col).clamp(text::MIN_COLUMNS, text::MAX_COLUMNS))
        };
        self.width.or_else(of_terminal).unwrap_or(PLAIN_WIDTH)
    }

    /// Whether to draw with Unicode. Files and pipes are read as UTF-8; for a terminal the locale decides.
    pub fn unicode(&self) -> bool {
        if self.ascii || !io::stdout().is_terminal() {
            return !self.ascii;
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(|name| std::env::var(name).ok());
        text::unicode_wanted([locale[0].as_deref(), locale[1].as_deref(), locale[2].as_deref()])
    }
}

fn parse_evidence(name: &str) -> Result<Evidence, String> {
    words::parse_evidence(name).ok_or_else(|| {
        let known = words::LADDER.map(words::evidence);
        match ravel_report::format::nearest(name, known) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("use one of {}", known.join(", ")),
        }
    })
}

/// Reports why findings have no stronger evidence, and the attempts of directed runs.
fn tell_attempts(report: &Report) {
    for finding in report.findings.iter().chain(&report.suspicions) {
        let accounts = report.directed.iter().filter(|account| account.finding == finding.id);
        let evidence = words::evidence(finding.evidence);
        match &finding.limit {
            Some(limit) => eprintln!("ravel: {} {evidence}, no stronger evidence: {limit}", finding.id),
            None if accounts.clone().count() > 0 => eprintln!("ravel: {} {evidence}", finding.id),
            None => {}
        }
        for line in accounts.flat_map(words::account) {
            eprintln!("ravel:   {line}");
        }
    }
}

/// Runs `ravel report`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let report = read_findings(&args.findings)?;
    let config = args.report.load_config()?;
    let nothing_seen = report.summary.events == 0 && report.summary.classes.instrumented == 0;
    let code = args.report.emit(report, &config, Notes::default(), Vec::new())?;
    Ok(if nothing_seen { ExitCode::from(3) } else { code })
}

/// The findings in a file, in a folder's `findings.json`, or on standard input.
pub fn read_findings(path: &Path) -> anyhow::Result<Report> {
    if path == Path::new("-") {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        return json::read(&text).context("standard input");
    }
    let file = if path.is_dir() {
        path.join("findings.json")
    } else {
        path.to_owned()
    };
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    json::read(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        let hint = match bytes.as_slice() {
            [b'{' | b'[' | b' ' | b'\n' | b'\t' | b'\r', ..] | [] => "",
            [b'<', ..] => " (HTML or XML; this command reads the file that --out json=FILE wrote)",
            _ => " (`ravel check` reads traces)",
        };
        anyhow::anyhow!("{}: {error}{hint}", file.display())
    })
}

impl ReportArgs {
    /// The configuration that these arguments name, or the one in the working folder.
    pub fn load_config(&self) -> anyhow::Result<Config> {
        let config = config::load(self.config.as_deref(), &std::env::current_dir()?)?;
        self.ready(&config)?;
        Ok(config)
    }

    /// Checks before anything runs that the reports can be written at the end.
    fn ready(&self, config: &Config) -> anyhow::Result<()> {
        self.read_baseline(config)?;
        for output in config.report.out.iter().chain(&self.out) {
            let Some(file) = &output.file else { continue };
            if file.is_dir() {
                anyhow::bail!("cannot write {}: it is a folder", file.display());
            }
            if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make the folder {}", folder.display()))?;
            }
            // Devices and pipes are opened only to write the report.
            let writable = match file.metadata() {
                Ok(there) if !there.is_file() => Ok(()),
                Ok(_) => std::fs::OpenOptions::new().write(true).open(file).map(drop),
                Err(_) => std::fs::File::create_new(file).and_then(|_| std::fs::remove_file(file)),
            };
            writable.with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(())
    }

    /// Takes out what was accepted, prints and writes the reports, and says with which code to end: 0, or 1 if
    /// something is shown that fails a build. `class_path` is where sources may lie beside classes. A report that cannot be
    /// written is an error once all others are.
    pub fn emit(
        &self,
        report: Report,
        config: &Config,
        notes: Notes,
        class_path: Vec<PathBuf>,
    ) -> anyhow::Result<ExitCode> {
        let sources = self.sources(config, class_path);
        let mut failed = Vec::new();
        let baseline = self.read_baseline(config).unwrap_or_else(|error| {
            failed.push(format!("{error:#}"));
            None
        });
        let mut notes = notes;
        let applied = config::apply(report, config, baseline.as_ref(), Day::today());
        applied.note(&mut notes);
        let report = applied.report;
        if self.verbose {
            tell_attempts(&report);
        }
        let mut options = Options {
            verbose: self.verbose,
            all: self.all,
            notes,
            ..Options::new(&sources)
        };
        let fails = config::fails(&report.findings, self.fail_on.or(config.report.fail_on));
        let mut stdout_taken = false;
        for output in config
            .report
            .out
            .iter()
            .filter(|o| !self.out.contains(o))
            .chain(&self.out)
        {
            let rendered = ravel_report::render(&report, output.format, &options);
            let written = match &output.file {
                Some(file) => write(file, &rendered),
                None => {
                    stdout_taken = true;
                    print(&rendered)
                }
            };
            failed.extend(written.err().map(|error| format!("{error:#}")));
        }
        // What is printed is for people unless asked otherwise; a report that went to standard output is not mixed up with it.
        if self.format.is_some() || !stdout_taken {
            options.color = self.color.color();
            options.unicode = self.color.unicode();
            options.width = self.color.width();
            let format = self.format.unwrap_or(Format::Text);
            let printed = print(&ravel_report::render(&report, format, &options));
            failed.extend(printed.err().map(|error| format!("{error:#}")));
        }
        if !failed.is_empty() {
            anyhow::bail!("{}", failed.join("\nravel: "));
        }
        Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    fn sources(&self, config: &Config, class_path: Vec<PathBuf>) -> SourceFinder {
        let folder = std::env::current_dir().unwrap_or_default();
        let mut sources = SourceFinder::new(repository_root(&folder));
        for source in self.source.iter().chain(&config.report.source) {
            sources.add(folder.join(source));
        }
        sources.add_class_path(class_path.into_iter().map(|entry| folder.join(entry)));
        let mut here = SourceFinder::new(&folder);
        here.add_usual_roots();
        sources.add_all(&here);
        sources.add_usual_roots();
        sources
    }

    fn read_baseline(&self, config: &Config) -> anyhow::Result<Option<Baseline>> {
        let Some(file) = self.baseline.as_ref().or(config.report.baseline.as_ref()) else {
            return Ok(None);
        };
        match std::fs::read_to_string(file) {
            Ok(text) => Ok(Some(Baseline::read(&text).with_context(|| file.display().to_string())?)),
            // The configuration may name a baseline before the first one is written.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.baseline.is_none() => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read the baseline {}", file.display())),
        }
    }
}

/// The folder that paths in SARIF and annotations are relative to.
fn repository_root(folder: &Path) -> &Path {
    folder.ancestors().find(|f| f.join(".git").exists()).unwrap_or(folder)
}

/// Writes a whole file, making its folder.
pub fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Prints to standard output; a reader that has gone away is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}
