//! The file of a history: SQLite, through `rusqlite` with SQLite's own source, so that nothing need be installed.
//!
//! Why a database and not a folder of reports: builds that end at the same time add to one history, a build server keeps years of runs, and
//! people may ask it questions of their own with `sqlite3`. It costs a build about 5 seconds of CPU for SQLite's C at the level
//! of a debug build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ravel_analysis::finding::Report;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use thiserror::Error;

use super::{KeptFinding, KeptRun, Seen, gone, place};
use crate::config::Day;
use crate::{json, words};

/// The file in the folder of a history.
const FILE_NAME: &str = "history.sqlite";
/// The newest form of the file that this build reads and writes.
const VERSION: i64 = 1;
/// How long to wait for another Ravel that writes to the same file.
const PATIENCE: Duration = Duration::from_secs(20);

const TABLES: &str = "
    create table runs (
        number integer primary key,
        day text not null,
        program text not null,
        counts integer not null,
        report text not null unique
    );
    create table seen (
        run integer not null references runs (number),
        finding text not null,
        rule text not null,
        evidence text not null,
        shown integer not null,
        place text not null,
        message text not null,
        primary key (run, finding)
    ) without rowid;
    create index seen_by_finding on seen (finding, run);
    pragma user_version = 1;
";

/// Why a history could not be used.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// There is no history.
    #[error("{}: no history here; `ravel history {} add REPORT` begins one", .0.display(), .0.display())]
    Missing(PathBuf),
    /// The folder could not be made.
    #[error("cannot make the folder {}: {error}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Written by a newer Ravel.
    #[error("{}: version {found} of a history; this Ravel reads version {VERSION}: use a newer Ravel", .file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// The version in it.
        found: i64,
    },
    /// SQLite failed.
    #[error("{}: {error}; if the file is damaged, move it away and add the reports again", .file.display())]
    Store {
        /// The file.
        file: PathBuf,
        /// Why.
        error: rusqlite::Error,
    },
    /// Something in it is unknown.
    #[error("{}: `{word}` is no {kind} that this Ravel knows: use a newer Ravel", .file.display())]
    Word {
        /// The file.
        file: PathBuf,
        /// What.
        word: String,
        /// What it should be.
        kind: &'static str,
    },
}

/// What adding a report did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Added {
    /// It is this run now.
    Run(i64),
    /// It is there already, as this run.
    Known(i64),
}

/// A history of findings.
#[derive(Debug)]
pub struct History {
    file: PathBuf,
    store: Connection,
}

impl History {
    /// The history in a folder, for reading and writing; begun if there is none.
    pub fn create(folder: &Path) -> Result<History, HistoryError> {
        std::fs::create_dir_all(folder).map_err(|error| HistoryError::Folder {
            folder: folder.to_owned(),
            error,
        })?;
        History::at(folder.join(FILE_NAME))
    }

    /// The history in a folder.
    pub fn open(folder: &Path) -> Result<History, HistoryError> {
        let file = folder.join(FILE_NAME);
        if !file.exists() {
            return Err(HistoryError::Missing(folder.to_owned()));
        }
        History::at(file)
    }

    fn at(file: PathBuf) -> Result<History, HistoryError> {
        let open = || {
            let mut store = Connection::open(&file)?;
            store.busy_timeout(PATIENCE)?;
            let begin = store.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let version: i64 = begin.query_row("pragma user_version", [], |row| row.get(0))?;
            if version == 0 {
                begin.execute_batch(TABLES)?;
            }
            begin.commit()?;
            Ok((store, version))
        };
        let (store, found) = open().map_err(|error| HistoryError::Store {
            file: file.clone(),
            error,
        })?;
        if found > VERSION {
            return Err(HistoryError::Newer { file, found });
        }
        Ok(History { file, store })
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> HistoryError + use<> {
        let file = self.file.clone();
        move |error| HistoryError::Store {
            file: file.clone(),
            error,
        }
    }

    /// Adds the findings of a run. The same report counts once.
    pub fn add(&mut self, report: &Report, day: Day) -> Result<Added, HistoryError> {
        let failed = self.failed();
        let text = json::render(&without_recordings(report));
        self.add_text(report, &text, day).map_err(failed)
    }

    fn add_text(&mut self, report: &Report, text: &str, day: Day) -> rusqlite::Result<Added> {
        let all = self.store.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known = all
            .query_row("select number from runs where report = ?1", [text], |row| row.get(0))
            .optional()?;
        if let Some(number) = known {
            return Ok(Added::Known(number));
        }
        let counts = report.complete && report.summary.events > 0;
        all.execute(
            "insert into runs (day, program, counts, report) values (?1, ?2, ?3, ?4)",
            params![day.to_string(), report.program, counts, text],
        )?;
        let run = all.last_insert_rowid();
        for finding in &report.findings {
            all.execute(
                "insert or replace into seen (run, finding, rule, evidence, shown, place, message) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    run,
                    finding.id,
                    words::rule(finding.rule),
                    words::evidence(finding.evidence),
                    finding.shown,
                    place(finding),
                    finding.message
                ],
            )?;
        }
        all.commit()?;
        Ok(Added::Run(run))
    }

    /// All runs, oldest first.
    pub fn runs(&self) -> Result<Vec<KeptRun>, HistoryError> {
        let read = || {
            let mut query = self
                .store
                .prepare("select number, day, program, counts from runs order by number")?;
            let rows = query.query_map([], |row| {
                Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get(3)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(i64, String, String, bool)>>>()
        };
        let mut runs = Vec::new();
        for (number, day, program, counts) in read().map_err(self.failed())? {
            let Ok(day) = day.parse() else {
                return Err(self.unknown(day, "day"));
            };
            runs.push(KeptRun {
                number,
                day,
                program,
                counts,
            });
        }
        Ok(runs)
    }

    /// All findings, those that were seen last first.
    pub fn findings(&self) -> Result<Vec<KeptFinding>, HistoryError> {
        type SeenRow = (i64, String, String, String, bool, String, String);
        let read = || {
            let mut query = self.store.prepare(
                "select run, finding, rule, evidence, shown, place, message from seen order by run, finding",
            )?;
            let rows = query.query_map([], |row| {
                let (run, finding, rule) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok((run, finding, rule, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<SeenRow>>>()
        };
        let runs = self.runs()?;
        let mut all: BTreeMap<String, KeptFinding> = BTreeMap::new();
        for (run, id, rule, evidence, shown, place, message) in read().map_err(self.failed())? {
            let Some(rule) = words::parse_rule(&rule) else {
                return Err(self.unknown(rule, "rule"));
            };
            let Some(evidence) = words::parse_evidence(&evidence) else {
                return Err(self.unknown(evidence, "level of evidence"));
            };
            let program = runs.iter().find(|known| known.number == run);
            let program = program.map_or_else(String::new, |run| run.program.clone());
            let seen = Seen { run, evidence, shown };
            // Later runs overwrite what may change: place, words, program.
            let mut before = all.remove(&id).map_or_else(Vec::new, |known| known.seen);
            before.push(seen);
            let gone = gone(&runs, &program, run);
            let finding = KeptFinding {
                id: id.clone(),
                rule,
                place,
                program,
                message,
                seen: before,
                gone,
            };
            all.insert(id, finding);
        }
        let mut all: Vec<KeptFinding> = all.into_values().collect();
        all.sort_by_key(|finding| {
            let last = finding.seen.last();
            std::cmp::Reverse((last.map(|seen| seen.run), last.map(|seen| (seen.shown, seen.evidence))))
        });
        Ok(all)
    }

    /// The report of the last complete run of a program.
    pub fn last_report(&self, program: &str) -> Result<Option<(KeptRun, Report)>, HistoryError> {
        let runs = self.runs()?;
        let Some(run) = runs.into_iter().rfind(|run| run.counts && run.program == program) else {
            return Ok(None);
        };
        let text: String = self
            .store
            .query_row("select report from runs where number = ?1", [run.number], |row| {
                row.get(0)
            })
            .map_err(self.failed())?;
        match json::read(&text) {
            Ok(report) => Ok(Some((run, report))),
            Err(error) => Err(self.unknown(error.to_string(), "report")),
        }
    }

    fn unknown(&self, word: String, kind: &'static str) -> HistoryError {
        HistoryError::Word {
            file: self.file.clone(),
            word,
            kind,
        }
    }
}

/// A report without what is only drawn: the threads over time, and the accounts of attempts.
fn without_recordings(report: &Report) -> Report {
    Report {
        recordings: Vec::new(),
        directed: Vec::new(),
        suspicions: Vec::new(),
        ..report.clone()
    }
}
