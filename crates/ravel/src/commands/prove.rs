//! `ravel prove`: tries this machine's share of a plan and writes a report that `ravel merge` joins with the others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use ravel_analysis::finding::Evidence;
use ravel_prove::job::Job;
use ravel_prove::shares::{ProofPlan, Shard, Share};
use ravel_report::json;
use ravel_report::words::count;
use ravel_trace::{ReadOptions, Trace};

use super::run::{self, BudgetArgs};
use crate::progress::Terminal;

/// Printed after `ravel prove --help`.
const ENVIRONMENT: &str = "\
Without --shard, the variables of the engine that runs the command decide:
  Slurm       SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _STEP   (sbatch --array=0-7)
  Kubernetes  JOB_COMPLETION_INDEX and RAVEL_SHARD_COUNT (completionMode: Indexed)
  GitLab      CI_NODE_INDEX, CI_NODE_TOTAL               (parallel: 8)
  GitHub      RAVEL_SHARD_INDEX: ${{ strategy.job-index }}
              RAVEL_SHARD_COUNT: ${{ strategy.job-total }}
If none is set, everything is tried.

Exit codes: 0 the share was tried, whatever was found; 2 usage or input error;
130 and 143 interrupted. `ravel merge` gives the verdict.";

/// Prove this machine's share of a plan.
#[derive(clap::Args, Debug)]
#[command(after_help = ENVIRONMENT)]
pub struct Args {
    /// The folder that `ravel plan` wrote, or files of single findings in it
    #[arg(required = true, value_name = "GOALS")]
    goals: Vec<PathBuf>,
    /// The share: the first of three is 1/3
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Where to write the findings [default: shard-I-of-N.json, or the finding's id]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The trace, if it is not where it was when the plan was made
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// The configuration [default: ravel.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let (plan, share, output) = chosen(&args)?;
    let path = args.trace.as_deref().unwrap_or(&plan.trace.path);
    plan.check_trace(path)?;
    let config = ravel_report::config::load(args.config.as_deref(), &std::env::current_dir()?)?;
    let mut settings = run::settings(&config, args.budget.budget());
    settings.scan = Some(super::scan::options(&config).0);
    settings.analyses.clone_from(&plan.analyses);
    let trace = Trace::open(path, ReadOptions::default())?;
    let name = share.name.clone();
    let mut job = Job::new(settings, &Terminal);
    // What is to be tried must be the same on all machines, so it is found out anew and compared.
    job.share(path, trace, share, &|goals| plan.check_findings(goals))?;
    let finished = job.finish();
    let part = finished.report.parts.first();
    let (tried, proven) = part.map_or((0, 0), |part| {
        let all = finished.report.findings.iter();
        let proven = all.filter(|finding| finding.evidence >= Evidence::Confirmed && part.tried.contains(&finding.id));
        (part.tried.len(), proven.count())
    });
    write_whole(&output, &json::render(&finished.report))?;
    if let Some(reason) = &finished.work.unforced {
        bail!("shard {name}: nothing could be forced: {reason}");
    }
    eprintln!(
        "ravel: shard {name}: {} tried, {proven} happened; wrote {}",
        count(tried as u64, "finding"),
        output.display()
    );
    Ok(finished.interrupted.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// The plan, what to try of it, and where to write.
fn chosen(args: &Args) -> Result<(ProofPlan, Share, PathBuf)> {
    if let [folder] = args.goals.as_slice()
        && !folder.is_file()
    {
        let plan = ProofPlan::read(folder)?;
        let shard = match args.shard {
            Some(shard) => shard,
            None => Shard::from_environment(&|name| std::env::var(name).ok())?.unwrap_or(Shard::WHOLE),
        };
        let file = format!("shard-{}-of-{}.json", shard.index() + 1, shard.count());
        let output = args.output.clone().unwrap_or_else(|| file.into());
        return Ok((plan.clone(), plan.share(shard), output));
    }
    if args.shard.is_some() {
        bail!("--shard is for a whole folder of goals; name either the folder or files of findings");
    }
    let mut found: Option<ProofPlan> = None;
    let mut ids = BTreeSet::new();
    for file in &args.goals {
        let (plan, id) = ProofPlan::of_finding(file)?;
        if found.as_ref().is_some_and(|other| other.plan != plan.plan) {
            bail!(
                "{}: of another plan than the file before it; prove them one after the other",
                file.display()
            );
        }
        found = Some(plan);
        ids.insert(id);
    }
    let plan = found.context("no goals are named")?;
    let share = plan.only(&ids);
    let file = format!("shard-{}.json", share.name);
    Ok((plan, share, args.output.clone().unwrap_or_else(|| file.into())))
}

/// Writes a file in one step: a machine that is killed leaves no half of one.
fn write_whole(file: &Path, text: &str) -> Result<()> {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let half = PathBuf::from(name);
    super::report::write(&half, text)?;
    std::fs::rename(&half, file).with_context(|| format!("cannot write {}", file.display()))
}
