//! A JDK as the programs that call it need to know it: its classes, what they inherit and declare, what its methods lock, and the
//! code of those that do. Learnt once for each JDK and kept in a file, since it costs far more than scanning a program.
//!
//! Of a method of the JDK that takes no lock itself there are only the calls through which locks come, if any do. So what such a
//! method calls back in the program is not followed. This holds whether the file was there or not: both ways go through its form.
//!
//! The name of the file is the hash of the JDK's content, of the modules and locks that count, and of the sources of this crate. It is written
//! beside and renamed, and has a checksum: a file that another process is writing or that is damaged is not there, and what it would
//! say is worked out again. Of the files in a directory those used last are kept ([`KEPT`]); the others, which belong to JDKs and
//! versions of Ravel that were replaced, are deleted when a file is added.

mod form;
mod read;
mod write;

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ravel_classfile::archive;
use rustc_hash::FxHasher;

use crate::body::{Body, Stmt};
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Node};
use crate::filter::Filter;
use crate::load::{Options, ScanError, collect_jdk};
use crate::lower;
use crate::program::{Lent, Program};
use crate::solve;
use crate::summary::{SummaryEntry, Way};

/// So many files are kept in a directory.
const KEPT: usize = 4;

/// How the name of a kept file begins and ends, and the end of one that is being written.
const PREFIX: &str = "jdk-";
const SUFFIX: &str = ".locks";
const PARTIAL: &str = ".part";

/// A file that is still being written after this time was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The classes of a JDK: from the first of the cache directories that has them, else worked out and kept in the first that can be
/// written.
pub(crate) fn of(home: &Path, options: &Options) -> Result<Program, ScanError> {
    let cache = &options.cache;
    // Without a key nothing can be kept; reading the classes will say what is wrong with the JDK.
    let key = if cache.is_empty() {
        None
    } else {
        key(home, options).ok()
    };
    let name = key.map(|key| format!("{PREFIX}{key:016x}{SUFFIX}"));
    if let Some(name) = &name {
        let kept = cache.iter().map(|folder| folder.join(name));
        if let Some(program) = kept.into_iter().find_map(|file| read(&file)) {
            return Ok(program);
        }
    }
    let mut program = lower::extend(Program::default(), collect_jdk(home, &options.modules)?);
    lend(&mut program, &options.filter);
    let bytes = form::encode(&program);
    if let Some(name) = &name {
        // What cannot be kept costs time the next time and nothing else.
        let _ = cache.iter().find(|folder| write(folder, name, &bytes).is_ok());
    }
    // The numbers of names are those of the file, so that what is decided by comparing them does not depend on the cache.
    Ok(form::decode(&bytes).unwrap_or(program))
}

/// The hash of all that decides what the file says.
fn key(home: &Path, options: &Options) -> io::Result<u64> {
    let mut hasher = FxHasher::default();
    hasher.write(env!("RAVEL_SCAN_SOURCES").as_bytes());
    for name in options.modules.iter().chain(options.filter.unshared()) {
        hasher.write(name.as_bytes());
        hasher.write_u8(0);
    }
    hasher.write_usize(options.modules.len());
    let image = home.join("lib/modules");
    if let Some(jars) = archive::jars(home) {
        for jar in &jars {
            hash_file(jar, &mut hasher)?;
        }
    } else if image.is_file() {
        hash_file(&image, &mut hasher)?;
    } else {
        let mut files: Vec<PathBuf> = fs::read_dir(home.join("jmods"))?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.sort();
        for file in files {
            hasher.write(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash_file(&file, &mut hasher)?;
        }
    }
    Ok(hasher.finish())
}

fn hash_file(path: &Path, hasher: &mut FxHasher) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut chunk = vec![0; 1 << 18];
    loop {
        // Whole chunks, or the hash would depend on how much the system gives at once.
        let mut filled = 0;
        while filled < chunk.len() {
            match file.read(&mut chunk[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        if filled == 0 {
            return Ok(());
        }
        hasher.write(&chunk[..filled]);
    }
}

/// The program in a file, which is marked as used; none if it is not there or damaged.
fn read(path: &Path) -> Option<Program> {
    let program = form::decode(&fs::read(path).ok()?)?;
    // A file that cannot be marked may be deleted earlier and is worked out again then.
    if let Ok(file) = File::options().write(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
    Some(program)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut partial = tempfile::Builder::new();
    let mut file = partial.prefix(PREFIX).suffix(PARTIAL).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    tidy(folder, name);
    Ok(())
}

/// Deletes all but the files that were used last, the new one among them. Another process that reads one of the others has it open,
/// or works it out again; what cannot be deleted stays.
fn tidy(folder: &Path, newest: &str) {
    let mut old = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, Ok(about)) = (entry.file_name(), entry.metadata()) else {
            continue;
        };
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX) && *name != newest) else {
            continue;
        };
        let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if name.ends_with(SUFFIX) {
            old.push((used, entry.path()));
        } else if name.ends_with(PARTIAL) && used.elapsed().is_ok_and(|age| age > ABANDONED) {
            let _ = fs::remove_file(entry.path());
        }
    }
    old.sort();
    let surplus = (old.len() + 1).saturating_sub(KEPT);
    for (_, path) in &old[..surplus] {
        let _ = fs::remove_file(path);
    }
}

/// Works out what the methods lock, and drops the code of those from which no lock can come.
fn lend(program: &mut Program, filter: &Filter) {
    let graph = CallGraph::new(program);
    let held = solve::locks_held(program, &graph, filter, None);
    program.counts.long += held.exprs.cut();
    let lent = Lent {
        methods: program.methods.len() as u32,
        exprs: held.exprs.nodes().to_vec(),
        held: held.summaries.into_entries(),
    };
    program.lent = lent;
    let mut sets = program.lent.held.iter_mut().peekable();
    for (number, method) in program.methods.iter_mut().enumerate() {
        let set = sets.next_if(|(holder, _)| holder.0 == number as u32);
        let Some(body) = method.body.as_mut() else { continue };
        match set {
            _ if !body.sites.is_empty() => keep_lines(body),
            Some((_, set)) => **body = passing_on(body, set),
            None => {
                method.body = None;
                method.assigns = Box::default();
            }
        }
    }
}

/// A method that locks only through those that it calls: the calls that lead to locks, which are renumbered in its set.
fn passing_on(body: &Body, set: &mut [SummaryEntry<ExprId>]) -> Body {
    let called = |entry: &SummaryEntry<ExprId>| match entry.way {
        Way::Call(stmt, ..) => Some(stmt),
        Way::Direct(_) => None,
    };
    let mut kept: Vec<u32> = set.iter().filter_map(called).collect();
    kept.sort_unstable();
    kept.dedup();
    for entry in set {
        if let Way::Call(stmt, ..) = &mut entry.way {
            *stmt = kept.partition_point(|known| known < stmt) as u32;
        }
    }
    let stmts = kept.iter().filter_map(|stmt| match body.stmts.get(*stmt as usize)? {
        Stmt::Call { target, receiver, .. } => Some(Stmt::Call {
            target: *target,
            args: 0,
            count: 0,
            receiver: *receiver,
        }),
        other => Some(*other),
    });
    let stmts = stmts.collect();
    let pcs: Box<[u16]> = kept
        .iter()
        .filter_map(|stmt| body.pcs.get(*stmt as usize).copied())
        .collect();
    let mut passing = Body {
        exprs: [Node::Unknown].into(),
        stmts,
        pcs,
        lines: body.lines.clone(),
        ..Body::default()
    };
    keep_lines(&mut passing);
    passing
}

/// Keeps the source lines of statements and acquisitions: no other is asked for.
fn keep_lines(body: &mut Body) {
    let mut pcs: Vec<u16> = body
        .pcs
        .iter()
        .copied()
        .chain(body.sites.iter().map(|site| site.pc))
        .collect();
    pcs.sort_unstable();
    pcs.dedup();
    let line = |pc: u16| u16::try_from(body.line(pc)).unwrap_or(0);
    let lines: Vec<(u16, u16)> = pcs.into_iter().map(|pc| (pc, line(pc))).collect();
    body.lines = lines.into();
}
