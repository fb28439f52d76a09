//! A proof plan: what is to be tried of a trace, as files that machines without any other connection can share.
//!
//! `plan.json` names the trace, the command and everything that is to be tried, in the order in which it is dealt. Beside it each finding
//! has a file of its own, by which it can be looked at or tried alone. Both have a version. A machine finds out anew what its trace has,
//! and refuses to work if that is not what was planned: another trace, another configuration or another Ravel.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ravel_analysis::finding::Finding;
use ravel_classfile::content_hash;
use serde::{Deserialize, Serialize};

use super::Shard;

/// The version of both files.
const VERSION: u32 = 1;
/// The file of the plan in its folder.
const FILE_NAME: &str = "plan.json";

/// The trace of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedTrace {
    /// Where it was, whole.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The CRC-32 of its bytes.
    pub crc32: String,
}

/// What is to be tried of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProofPlan {
    /// Version of this form: 1.
    version: u32,
    /// The name of the plan: the same for the same trace and the same findings.
    pub plan: String,
    /// The trace.
    pub trace: PlannedTrace,
    /// The recorded command, which forced runs repeat.
    pub command: Vec<String>,
    /// The analyses that were asked for; all if empty.
    #[serde(default)]
    pub analyses: Vec<String>,
    /// The ids of what is to be tried, in the order in which it is dealt.
    pub findings: Vec<String>,
}

/// The file of one finding.
#[derive(Serialize, Deserialize)]
struct PlannedFinding {
    version: u32,
    /// The plan that it belongs to, and the file of it.
    plan: String,
    command: Vec<String>,
    trace: PlannedTrace,
    finding: Finding,
}

/// What one machine tries of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// The name of the plan.
    pub plan: String,
    /// The name of the share: `2/3`, or the ids of what it tries.
    pub name: String,
    /// The ids of what it tries.
    pub tries: BTreeSet<String>,
    /// The ids of what others try.
    pub leaves: BTreeSet<String>,
    /// Whether it makes the runs that belong to no finding.
    pub is_first: bool,
}

impl PlannedTrace {
    /// The trace in this file.
    pub fn of(path: &Path) -> Result<PlannedTrace> {
        let told = || format!("cannot read {}", path.display());
        let mut file = fs::File::open(path).with_context(told)?;
        let (mut sum, mut bytes) = (crc32fast::Hasher::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer).with_context(told)? {
                0 => break,
                n => {
                    sum.update(&buffer[..n]);
                    bytes += n as u64;
                }
            }
        }
        Ok(PlannedTrace {
            path: path.canonicalize().with_context(told)?,
            bytes,
            crc32: format!("{:08x}", sum.finalize()),
        })
    }
}

impl ProofPlan {
    /// A plan for these findings of a trace.
    pub fn new(trace: PlannedTrace, command: Vec<String>, analyses: Vec<String>, findings: &[Finding]) -> ProofPlan {
        let ids: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
        let named = format!("{} {} {}", trace.bytes, trace.crc32, ids.join(" "));
        ProofPlan {
            version: VERSION,
            plan: format!("{:016x}", content_hash(named.as_bytes())),
            trace,
            command,
            analyses,
            findings: ids,
        }
    }

    /// Writes the plan and its findings to a folder, which is made if it is not there. Files of an earlier plan are removed, since they
    /// would be taken for part of this one; a folder with anything else in it is refused.
    pub fn write(&self, folder: &Path, findings: &[Finding]) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        remove_earlier(folder)?;
        for finding in findings {
            let planned = PlannedFinding {
                version: VERSION,
                plan: self.plan.clone(),
                command: self.command.clone(),
                trace: self.trace.clone(),
                finding: finding.clone(),
            };
            write(&folder.join(format!("{}.json", finding.id)), &planned)?;
        }
        // Last, so that a folder with a plan has all of it.
        write(&folder.join(FILE_NAME), self)
    }

    /// The plan in a folder.
    pub fn read(folder: &Path) -> Result<ProofPlan> {
        let file = folder.join(FILE_NAME);
        if folder.is_dir() && !file.exists() {
            bail!(
                "{}: no {FILE_NAME}; `ravel plan TRACE -o {0}` writes one",
                folder.display()
            );
        }
        read(&file)
    }

    /// The plan that a file of a finding belongs to, and the finding's id.
    pub fn of_finding(file: &Path) -> Result<(ProofPlan, String)> {
        let planned: PlannedFinding = read(file)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let plan = ProofPlan::read(folder.unwrap_or(Path::new(".")))?;
        let id = planned.finding.id;
        if planned.plan != plan.plan || !plan.findings.contains(&id) {
            bail!(
                "{}: not part of the {FILE_NAME} beside it; `ravel plan` writes both again",
                file.display()
            );
        }
        Ok((plan, id))
    }

    /// What one of several machines tries: findings are dealt in turn.
    pub fn share(&self, shard: Shard) -> Share {
        let mut share = Share {
            plan: self.plan.clone(),
            name: shard.to_string(),
            is_first: shard.index() == 0,
            ..Share::default()
        };
        for (number, id) in self.findings.iter().enumerate() {
            let whose = if shard.has(number) {
                &mut share.tries
            } else {
                &mut share.leaves
            };
            whose.insert(id.clone());
        }
        share
    }

    /// What is tried if only these findings are wanted.
    pub fn only(&self, ids: &BTreeSet<String>) -> Share {
        let (tries, leaves): (BTreeSet<String>, _) = self.findings.iter().cloned().partition(|id| ids.contains(id));
        Share {
            plan: self.plan.clone(),
            name: tries.iter().cloned().collect::<Vec<_>>().join("+"),
            is_first: self.findings.first().is_some_and(|first| ids.contains(first)),
            tries,
            leaves,
        }
    }

    /// Checks that a file is the trace that was planned for.
    pub fn check_trace(&self, path: &Path) -> Result<()> {
        if !path.exists() {
            bail!(
                "{}: the trace of the plan is not there; copy it to this machine and name it with --trace",
                path.display()
            );
        }
        let there = PlannedTrace::of(path)?;
        if (there.bytes, &there.crc32) != (self.trace.bytes, &self.trace.crc32) {
            bail!(
                "{}: not the trace of the plan, which had {} bytes and CRC-32 {}; name the right one with --trace, or run `ravel plan` again",
                path.display(),
                self.trace.bytes,
                self.trace.crc32
            );
        }
        Ok(())
    }

    /// Checks that the trace has here what was planned.
    pub fn check_findings(&self, findings: &[Finding]) -> Result<()> {
        let here: BTreeSet<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
        let planned: BTreeSet<&str> = self.findings.iter().map(String::as_str).collect();
        if here == planned {
            return Ok(());
        }
        let odd: Vec<&str> = planned.symmetric_difference(&here).copied().take(3).collect();
        bail!(
            "{}: the findings here are not those of the plan ({} differs): use the Ravel, the ravel.toml and the class files of the machine \
             that planned, or run `ravel plan` again",
            self.trace.path.display(),
            odd.join(", ")
        )
    }
}

/// Removes the files of an earlier plan from a folder.
fn remove_earlier(folder: &Path) -> Result<()> {
    let told = || format!("cannot read the folder {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(told)? {
        files.push(entry.with_context(told)?.path());
    }
    if files.is_empty() {
        return Ok(());
    }
    let earlier = ProofPlan::read(folder).with_context(|| {
        format!(
            "{} is not empty and has no plan to replace; name another folder",
            folder.display()
        )
    })?;
    for id in &earlier.findings {
        let file = folder.join(format!("{id}.json"));
        if is_name(id) && file.exists() {
            fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
        }
    }
    Ok(())
}

/// Whether an id of a file can be part of the name of another file.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric())
}

fn write<T: Serialize>(file: &Path, value: &T) -> Result<()> {
    let told = || format!("cannot write {}", file.display());
    let mut text = serde_json::to_string_pretty(value).with_context(told)?;
    text.push('\n');
    fs::write(file, text).with_context(told)
}

fn read<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<T> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
        #[serde(rename = "plan")]
        _plan: String,
    }
    let told = || {
        format!(
            "{}: not a file of a proof plan; `ravel plan TRACE -o FOLDER` writes them",
            file.display()
        )
    };
    let versioned: Versioned = serde_json::from_str(&text).with_context(told)?;
    if versioned.version > VERSION {
        bail!(
            "{}: version {}; this Ravel reads versions up to {VERSION}: use a newer Ravel",
            file.display(),
            versioned.version
        );
    }
    serde_json::from_str(&text).with_context(told)
}

#[cfg(test)]
mod tests {
    use ravel_analysis::finding::{Evidence, Rule};

    use super::*;

    fn finding(id: &str) -> Finding {
        Finding::new(id.to_owned(), Rule::DataRace, Evidence::Predicted)
    }

    fn planned(folder: &Path, findings: &[Finding]) -> ProofPlan {
        let trace = folder.join("t.ravel");
        fs::write(&trace, "events").expect("a file");
        let trace = PlannedTrace::of(&trace).expect("a trace");
        ProofPlan::new(trace, vec!["java".to_owned()], Vec::new(), findings)
    }

    #[test]
    fn a_plan_is_read_as_it_was_written_and_shared_in_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let findings: Vec<Finding> = ["a1", "b2", "c3", "d4", "e5"].map(finding).to_vec();
        let plan = planned(folder.path(), &findings);
        let goals = folder.path().join("goals");
        plan.write(&goals, &findings).expect("written");
        assert_eq!(ProofPlan::read(&goals).expect("read"), plan);
        let mut all = BTreeSet::new();
        for index in 0..3 {
            let share = plan.share(Shard::new(index, 3).expect("a shard"));
            assert_eq!(share.tries.len() + share.leaves.len(), 5);
            for id in share.tries {
                assert!(all.insert(id), "in one share only");
            }
        }
        assert_eq!(all.len(), 5);
        let (of, id) = ProofPlan::of_finding(&goals.join("c3.json")).expect("a finding");
        assert_eq!((of, id.as_str()), (plan.clone(), "c3"));
        plan.check_findings(&findings).expect("the same");
        let error = plan
            .check_findings(&findings[1..])
            .expect_err("one is missing")
            .to_string();
        assert!(error.contains("a1"), "{error}");
    }

    #[test]
    fn a_folder_is_used_again_for_a_plan_and_for_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let goals = folder.path().join("goals");
        let (old, new) = ([finding("a1"), finding("b2")], [finding("b2")]);
        planned(folder.path(), &old).write(&goals, &old).expect("written");
        planned(folder.path(), &new).write(&goals, &new).expect("written again");
        assert!(!goals.join("a1.json").exists() && goals.join("b2.json").exists());
        let error = planned(folder.path(), &new)
            .write(folder.path(), &new)
            .expect_err("refused");
        assert!(format!("{error:#}").contains("is not empty"), "{error:#}");
    }

    #[test]
    fn damage_names_the_file_and_a_way_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let findings = [finding("a1")];
        let plan = planned(folder.path(), &findings);
        let goals = folder.path().join("goals");
        let error = format!("{:#}", ProofPlan::read(folder.path()).expect_err("none"));
        assert!(error.contains("ravel plan TRACE"), "{error}");
        plan.write(&goals, &findings).expect("written");
        for (text, told) in [
            ("{", "not a file of a proof plan"),
            (r#"{"version": 1, "findings": []}"#, "not a file of a proof plan"),
            (r#"{"version": 7, "plan": "x"}"#, "use a newer Ravel"),
        ] {
            fs::write(goals.join("plan.json"), text).expect("a file");
            let error = format!("{:#}", ProofPlan::read(&goals).expect_err("damaged"));
            assert!(error.contains("plan.json") && error.contains(told), "{error}");
        }
        fs::write(&plan.trace.path, "other").expect("a file");
        let error = plan.check_trace(&plan.trace.path).expect_err("another").to_string();
        assert!(error.contains("--trace"), "{error}");
        fs::remove_file(&plan.trace.path).expect("removed");
        let error = plan.check_trace(&plan.trace.path).expect_err("gone").to_string();
        assert!(error.contains("not there"), "{error}");
    }
}
