//! `ravel run`: the whole job: record, analyse, force, report.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::analyse::{analyse, combine, is_replayable};
use ravel_analysis::finding::{Report, Summary};
use ravel_analysis::registry;
use ravel_report::Notes;
use ravel_trace::{ReadOptions, Reader};

use super::check::add_classes;
use super::record::RecorderArgs;
use super::report::ReportArgs;
use crate::proof::{Budget, Tally, prove};
use crate::recording::{RecordedTrace, record};

/// Record a command, work out what could go wrong, force it, and report.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Where the traces are kept, for `ravel replay`
    #[arg(short, long, default_value = "ravel-run.ravel", value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub recorder: RecorderArgs,
    #[command(flatten)]
    pub budget: BudgetArgs,
    #[command(flatten)]
    pub report: ReportArgs,
    /// The command, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What may be spent on forcing.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct BudgetArgs {
    /// Seconds for all forced runs together
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub budget: u64,
    /// Seconds for one forced run
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub run_limit: u64,
}

impl BudgetArgs {
    /// As the prover takes it.
    pub fn budget(&self) -> Budget {
        Budget {
            total: Duration::from_secs(self.budget),
            run: Duration::from_secs(self.run_limit),
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let config = args.report.load_config()?;
    let start = Instant::now();
    let mut options = args.recorder.options();
    options.include.extend(config.record.include.iter().cloned());
    options.exclude.extend(config.record.exclude.iter().cloned());
    let recording = record(&args.command, &args.output, options)?;
    super::record::report(&recording);
    if recording.traces.is_empty() {
        return Ok(ExitCode::from(3));
    }
    let recorded = start.elapsed();
    let mut job = Job::new(&args.report, &config, args.budget.budget());
    for trace in &recording.traces {
        job.trace(trace)?;
    }
    let bytes: u64 = recording.traces.iter().map(|trace| trace.bytes).sum();
    job.notes.recorded = Some(format!(
        "{:.1} s, {} kB in {}",
        recorded.as_secs_f64(),
        bytes / 1000,
        args.output.display()
    ));
    job.finish()
}

/// Analysis, proof and report of one or more traces.
pub struct Job<'a> {
    report_args: &'a ReportArgs,
    config: &'a ravel_report::config::Config,
    budget: Budget,
    report: Report,
    notes: Notes,
    tally: Tally,
    analysed: Duration,
    /// Only these findings are forced and reported; all if empty.
    pub only: Vec<String>,
}

impl<'a> Job<'a> {
    /// Nothing done yet.
    pub fn new(report_args: &'a ReportArgs, config: &'a ravel_report::config::Config, budget: Budget) -> Self {
        let report = Report {
            version: 1,
            program: String::new(),
            summary: Summary::default(),
            findings: Vec::new(),
        };
        Job {
            report_args,
            config,
            budget,
            report,
            notes: Notes::default(),
            tally: Tally::default(),
            analysed: Duration::ZERO,
            only: Vec::new(),
        }
    }

    /// Analyses a trace and forces what was found.
    fn trace(&mut self, trace: &RecordedTrace) -> Result<()> {
        self.path(&trace.path)
    }

    /// The same, of a trace that lies somewhere.
    pub fn path(&mut self, path: &std::path::Path) -> Result<()> {
        let name = path.display().to_string();
        let mut reader = Reader::open(path, ReadOptions::default())?;
        let start = Instant::now();
        let analyses = registry::choose(&[], &self.config.access_patterns())?;
        let mut analysed = analyse(&mut reader, &self.config.unit_settings(), analyses);
        self.analysed += start.elapsed();
        if !self.only.is_empty() {
            analysed.findings.retain(|finding| self.only.contains(&finding.id));
        }
        for finding in analysed.findings.iter_mut().filter(|finding| is_replayable(finding)) {
            finding.replay = format!("ravel replay {name} {}", finding.id);
        }
        let quiet = !std::io::IsTerminal::is_terminal(&std::io::stderr());
        let progress = |words: &str| {
            if !quiet {
                eprint!("\r\x1b[K{words}");
            }
        };
        match prove(path, &mut analysed.findings, self.budget, &progress) {
            Ok(tally) => self.add(tally),
            Err(error) => self
                .notes
                .warnings
                .push(format!("{name}: nothing could be forced: {error:#}")),
        }
        if !quiet {
            eprint!("\r\x1b[K");
        }
        combine(&mut self.report.findings, analysed.findings);
        if self.report.program.is_empty() {
            self.report.program = reader.header().command.join(" ");
        }
        self.report.summary.events += analysed.events;
        self.report.summary.threads += analysed.threads;
        add_classes(&mut self.report.summary.classes, reader.footer());
        self.notes
            .warnings
            .extend(reader.warnings().iter().map(|warning| format!("{name}: {warning}")));
        self.notes
            .warnings
            .extend(analysed.error.map(|error| error.to_string()));
        Ok(())
    }

    fn add(&mut self, tally: Tally) {
        self.tally.scheduled += tally.scheduled;
        self.tally.forced += tally.forced;
        self.tally.happened += tally.happened;
        self.tally.runs += tally.runs;
        self.tally.reasons.extend(tally.reasons);
    }

    /// Why findings did not get further.
    pub fn reasons(&self) -> &[(String, String)] {
        &self.tally.reasons
    }

    /// The findings as they stand.
    pub fn findings(&self) -> &[ravel_analysis::finding::Finding] {
        &self.report.findings
    }

    /// Reports.
    pub fn finish(mut self) -> Result<ExitCode> {
        let tally = &self.tally;
        self.notes.analysed = Some(format!("{:.1} s", self.analysed.as_secs_f64()));
        self.notes.forced = Some(format!(
            "{} findings in {} runs: {} happened, {} could not be made to happen",
            tally.forced,
            tally.runs,
            tally.happened,
            tally.forced - tally.happened
        ));
        if self.report_args.all {
            let reasons = tally.reasons.iter().map(|(id, reason)| format!("{id}: {reason}"));
            self.notes.warnings.extend(reasons.collect::<Vec<_>>());
        }
        let nothing = self.report.summary.events == 0;
        self.report
            .findings
            .sort_by_key(|finding| std::cmp::Reverse((finding.shown, finding.evidence)));
        let code = self
            .report_args
            .emit(self.report, self.config, self.notes, Vec::new())?;
        Ok(if nothing { ExitCode::from(3) } else { code })
    }
}
