//! The files of a program's working directory: what the recorded run did to them, and a fresh copy for each further run.
//!
//! A program that makes a database, a lock file or a report finds it there when it is run again, and goes another way than the recorded run. So the
//! directory is looked at before and after the recording. If it has changed, further runs get a directory of their own, as the recorded run found it: real
//! directories, files that the program left alone as links, files that it changed with their content before, and nothing of what it made. The program's own
//! directory is not touched for this. Files elsewhere are not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use ravel_trace::LeftFiles;

/// Bytes of the files before a recording that are kept until its end, to be there if the program changes them.
const MOST_BYTES: u64 = 32 << 20;

/// Files and directories beside the working directory that a further run finds there too.
const MOST_NEIGHBOURS: usize = 2_000;

/// What tells a changed file from an unchanged one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mark {
    is_directory: bool,
    length: u64,
    modified: (i64, i64),
    file: u64,
}

impl Mark {
    fn of(found: &Metadata) -> Mark {
        Mark {
            is_directory: found.is_dir(),
            length: if found.is_dir() { 0 } else { found.len() },
            modified: match found.is_dir() {
                true => (0, 0),
                false => (found.mtime(), found.mtime_nsec()),
            },
            file: found.ino(),
        }
    }
}

/// A directory before a recording.
#[derive(Debug)]
pub struct Before {
    directory: PathBuf,
    /// By relative path; none if there are too many.
    found: Option<BTreeMap<PathBuf, Mark>>,
    contents: BTreeMap<PathBuf, Vec<u8>>,
}

impl Before {
    /// Looks at a directory, and keeps the contents of its files if they are not too many.
    pub fn of(directory: &Path) -> Before {
        let found = list(directory);
        let mut contents = BTreeMap::new();
        let files = || found.iter().flatten().filter(|(_, mark)| !mark.is_directory);
        if files().map(|(_, mark)| mark.length).sum::<u64>() <= MOST_BYTES {
            for (path, _) in files() {
                if let Ok(bytes) = fs::read(directory.join(path)) {
                    contents.insert(path.clone(), bytes);
                }
            }
        }
        Before {
            directory: directory.to_path_buf(),
            found,
            contents,
        }
    }

    /// What has changed since, but for files that `is_own` says are Ravel's; none if there are too many files to tell.
    pub fn compare(mut self, is_own: impl Fn(&Path) -> bool) -> Option<LeftFiles> {
        let (before, after) = (self.found.take()?, list(&self.directory)?);
        let mut left = LeftFiles::default();
        let mut room = LeftFiles::LIMIT;
        for (path, mark) in &after {
            match before.get(path) {
                Some(known) if known == mark => {}
                Some(known) if known.is_directory && mark.is_directory => {}
                Some(_) => left.changed.push(self.content(path, &mut room)),
                None if !is_own(&self.directory.join(path)) => left.made.push(text(path)),
                None => {}
            }
        }
        let gone = before
            .iter()
            .filter(|(path, mark)| !mark.is_directory && !after.contains_key(*path));
        for (path, _) in gone {
            left.changed.push(self.content(path, &mut room));
        }
        Some(left)
    }

    fn content(&mut self, path: &Path, room: &mut usize) -> (String, Option<Vec<u8>>) {
        let kept = self.contents.remove(path).filter(|bytes| bytes.len() <= *room);
        *room -= kept.as_ref().map_or(0, Vec::len);
        (text(path), kept)
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// All files and directories below one, by relative path, links left out; none if they are too many.
fn list(directory: &Path) -> Option<BTreeMap<PathBuf, Mark>> {
    let mut all = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(directory.join(&inner)).into_iter().flatten().flatten() {
            let path = inner.join(entry.file_name());
            // Of the entry itself: a link may lead in a circle.
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                open.push(path.clone());
            } else if !found.is_file() {
                continue;
            }
            all.insert(path, Mark::of(&found));
            if all.len() > LeftFiles::MOST_PATHS {
                return None;
            }
        }
    }
    Some(all)
}

/// What cannot be given to further runs as the recorded one found it, as a sentence.
pub fn not_restored(left: Option<&LeftFiles>, starts_java: bool) -> Option<String> {
    let Some(left) = left else {
        let most = LeftFiles::MOST_PATHS;
        return Some(format!(
            "the working directory has more than {most} files: further runs see the files that this run changed"
        ));
    };
    if !starts_java && !left.is_empty() {
        let count = left.made.len() + left.changed.len();
        return Some(format!(
            "the command left {count} files in its directory, which further runs see: Ravel restores files only for a java command"
        ));
    }
    let lost: Vec<&str> = left
        .changed
        .iter()
        .filter(|(_, content)| content.is_none())
        .map(|(path, _)| path.as_str())
        .collect();
    let first = lost.first()?;
    Some(match lost.len() {
        1 => format!("{first} has changed and is too large to restore: further runs see the change"),
        more => format!(
            "{first} and {} more files have changed and are too large to restore: further runs see the changes",
            more - 1
        ),
    })
}

/// Makes, inside `around`, what the directory was before the recorded run, as far as that is known. It has the same name and the same neighbours, so
/// that `../lib` is what it was.
pub fn make_fresh(directory: &Path, left: &LeftFiles, around: &Path) -> Result<PathBuf> {
    let made: BTreeSet<&Path> = left.made.iter().map(Path::new).collect();
    let is_made = |path: &Path| made.contains(path);
    let name = directory.file_name().context("the root directory is not copied")?;
    fs::create_dir(around).context("a directory for a run")?;
    let neighbours = directory.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in neighbours.into_iter().flatten().flatten().take(MOST_NEIGHBOURS) {
        if entry.file_name() != name {
            let _ = std::os::unix::fs::symlink(entry.path(), around.join(entry.file_name()));
        }
    }
    let fresh = around.join(name);
    fs::create_dir(&fresh).context("a directory for a run")?;
    let mut open = vec![PathBuf::new()];
    let mut count = 0;
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(directory.join(&inner))
            .context("the working directory")?
            .flatten()
        {
            let path = inner.join(entry.file_name());
            if is_made(&path) {
                continue;
            }
            count += 1;
            if count > LeftFiles::MOST_PATHS {
                anyhow::bail!("the working directory has too many files");
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                fs::create_dir(fresh.join(&path)).context("a directory for a run")?;
                open.push(path);
            } else {
                std::os::unix::fs::symlink(directory.join(&path), fresh.join(&path)).context("a link for a run")?;
            }
        }
    }
    for (path, content) in &left.changed {
        let (Some(content), true) = (content, is_inside(Path::new(path))) else {
            continue;
        };
        let place = fresh.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).context("a directory for a run")?;
        }
        let _ = fs::remove_file(&place);
        fs::write(&place, content).context("a file for a run")?;
    }
    Ok(fresh)
}

/// Whether a path of a trace stays inside the directory that it is relative to.
fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// A word of a command with the files that are put back named where they are now.
pub fn renamed(word: &str, directory: &Path, left: &LeftFiles, fresh: &Path) -> String {
    let changed = left.changed.iter().map(|(path, _)| path);
    let is_named = |path: &&String| word.contains(&text(&directory.join(path)));
    match left.made.iter().chain(changed).any(|path| is_named(&path)) {
        true => word.replace(&text(directory), &text(fresh)),
        false => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(directory: &Path, name: &str, content: &str) {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }

    fn read(directory: &Path, name: &str) -> Option<String> {
        fs::read_to_string(directory.join(name)).ok()
    }

    /// A directory with three files. A run changes one, removes one, and adds two.
    fn changed() -> (tempfile::TempDir, Option<LeftFiles>) {
        let place = tempfile::tempdir().expect("a directory");
        write(place.path(), "classes/Main.class", "code");
        write(place.path(), "seats.txt", "12");
        write(place.path(), "old.txt", "old");
        let before = Before::of(place.path());
        write(place.path(), "seats.txt", "11 left");
        fs::remove_file(place.path().join("old.txt")).expect("removed");
        write(place.path(), "db/log", "made");
        write(place.path(), "t-17.ravel", "a trace");
        let left = before.compare(|path| path.ends_with("t-17.ravel"));
        (place, left)
    }

    #[test]
    fn what_a_run_did_to_its_files_is_seen() {
        let (_place, left) = changed();
        let left = left.expect("few files");
        assert_eq!(left.made, ["db", "db/log"]);
        let kept = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(
            left.changed,
            [
                ("seats.txt".to_string(), kept("12")),
                ("old.txt".to_string(), kept("old"))
            ]
        );
        assert_eq!(not_restored(Some(&left), true), None);
        assert!(not_restored(Some(&left), false).is_some_and(|words| words.contains("4 files")));
        assert!(not_restored(None, true).is_some());
    }

    #[test]
    fn a_further_run_finds_what_the_recorded_one_found() {
        let (place, left) = changed();
        let left = left.expect("few files");
        let scratch = tempfile::tempdir().expect("a directory");
        let fresh = make_fresh(place.path(), &left, &scratch.path().join("around")).expect("made");
        assert_eq!(fresh.file_name(), place.path().file_name());
        assert_eq!(read(&fresh, "seats.txt").as_deref(), Some("12"));
        assert_eq!(read(&fresh, "old.txt").as_deref(), Some("old"));
        assert_eq!(read(&fresh, "classes/Main.class").as_deref(), Some("code"));
        assert!(!fresh.join("db").exists());
        // What the run does there does not reach the program's own directory.
        write(&fresh, "seats.txt", "10");
        fs::remove_dir_all(&fresh).expect("removed");
        assert_eq!(read(place.path(), "seats.txt").as_deref(), Some("11 left"));
        assert_eq!(read(place.path(), "classes/Main.class").as_deref(), Some("code"));
    }

    #[test]
    fn a_path_that_leads_out_is_left_alone() {
        let place = tempfile::tempdir().expect("a directory");
        let left = LeftFiles {
            changed: vec![("../out.txt".into(), Some(b"no".to_vec()))],
            ..LeftFiles::default()
        };
        let empty = tempfile::tempdir().expect("a directory");
        let around = place.path().join("around");
        make_fresh(empty.path(), &left, &around).expect("made");
        assert!(!around.join("out.txt").exists());
    }

    #[test]
    fn a_command_names_the_files_where_they_are() {
        let left = LeftFiles {
            made: vec!["db".into()],
            ..LeftFiles::default()
        };
        let word = |word: &str| renamed(word, Path::new("/srv/app"), &left, Path::new("/tmp/f"));
        assert_eq!(
            word("jdbc:derby:/srv/app/db;create=true"),
            "jdbc:derby:/tmp/f/db;create=true"
        );
        assert_eq!(word("/srv/app/lib/a.jar"), "/srv/app/lib/a.jar");
        assert_eq!(word("db"), "db");
    }
}
