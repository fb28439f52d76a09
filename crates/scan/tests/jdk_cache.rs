//! What a JDK lends is kept in a file: the same findings with and without it, whatever happened to it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::common::{compile, jdks, methods};
use ravel_scan::{Options, scan};

/// Handlers of the JDK lock themselves; `java.logging` is a small module.
const USES: &str = "import java.util.logging.*;
    public class Uses {
      synchronized void bad(StreamHandler h, LogRecord r) { h.publish(r); h.flush(); }
      synchronized void ok(StreamHandler h, LogRecord r) { h.publish(r); }
    }";

fn found(paths: &[PathBuf], cache: &[PathBuf]) -> Vec<String> {
    found_with(paths, cache, &[])
}

/// With more classes that are not shared: what they lock does not count, so another file is kept.
fn found_with(paths: &[PathBuf], cache: &[PathBuf], unshared: &[&str]) -> Vec<String> {
    let mut options = Options {
        jdk: Some(jdks().remove(0)),
        modules: vec!["java.logging".to_owned()],
        cache: cache.to_vec(),
        ..Options::default()
    };
    unshared.iter().for_each(|class| options.filter.add_unshared(class));
    let found = scan(paths, &options).expect("scanned");
    assert_eq!(methods(&found.findings, "lock-pattern"), ["Uses.bad"]);
    let counts = found.counts;
    let findings = found.findings.into_iter().map(|finding| format!("{finding:?}"));
    findings.chain([format!("{counts:?}")]).collect()
}

fn kept(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn a_kept_jdk_lends_the_same_and_damage_only_costs_time() {
    let classes = compile(&[("Uses.java", USES)]);
    let paths = [classes.path().join("classes")];
    let folder = tempfile::tempdir().expect("a folder");
    let cache = [folder.path().join("cache")];
    let without = found(&paths, &[]);
    assert_eq!(found(&paths, &cache), without, "cold");
    let file = kept(&cache[0]).pop().expect("a file");
    let whole = fs::read(&file).expect("read");
    assert_eq!(found(&paths, &cache), without, "warm");
    // Cut off, changed, empty, something else: worked out again, and written again.
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 0x10;
    for damaged in [
        &whole[..whole.len() - 1],
        &whole[..20],
        &changed,
        b"",
        b"RAVELJDK",
        b"no such file at all",
    ] {
        fs::write(&file, damaged).expect("written");
        assert_eq!(found(&paths, &cache), without);
        assert_eq!(fs::read(&file).expect("read"), whole);
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_passed_over() {
    let classes = compile(&[("Uses.java", USES)]);
    let paths = [classes.path().join("classes")];
    let folder = tempfile::tempdir().expect("a folder");
    let blocked = folder.path().join("file");
    fs::write(&blocked, "in the way").expect("written");
    let second = folder.path().join("second");
    found(&paths, &[blocked.join("cache"), second.clone()]);
    assert_eq!(kept(&second).len(), 1, "the next place is taken");
    found(&paths, &[blocked]);
}

#[test]
fn several_at_once_see_whole_files() {
    let classes = compile(&[("Uses.java", USES)]);
    let paths = [classes.path().join("classes")];
    let folder = tempfile::tempdir().expect("a folder");
    let cache = [folder.path().to_path_buf()];
    let results: Vec<Vec<String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| found(&paths, &cache))).collect();
        threads.into_iter().map(|thread| thread.join().expect("done")).collect()
    });
    assert!(results.iter().all(|result| *result == results[0]));
    assert_eq!(
        kept(folder.path()).len(),
        1,
        "one file, and nothing half written is left"
    );
}

#[test]
fn only_the_files_used_last_are_kept() {
    let classes = compile(&[("Uses.java", USES)]);
    let paths = [classes.path().join("classes")];
    let folder = tempfile::tempdir().expect("a folder");
    let cache = [folder.path().to_path_buf()];
    let aged = |name: &str, hours: u64| {
        let path = folder.path().join(name);
        let file = File::options().create(true).append(true).open(&path).expect("opened");
        let age = Duration::from_secs(3600 * hours);
        file.set_modified(SystemTime::now() - age).expect("aged");
        path
    };
    found(&paths, &cache);
    let first = kept(folder.path()).pop().expect("a file");
    let name = first
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name")
        .to_owned();
    // Files of other versions and JDKs; one that a killed process left; one that another process is writing; other people's files.
    let others: Vec<PathBuf> = (1..=5)
        .map(|hours| aged(&format!("jdk-{hours:016x}.locks"), hours))
        .collect();
    let abandoned = aged("jdk-AbCdEf.part", 2);
    let begun = aged("jdk-GhIjKl.part", 0);
    let foreign = [aged("ravel-agent-1.so", 900), aged("jdk-notes.txt", 900)];
    // The oldest of all, but used again: that counts.
    aged(&name, 100);
    found(&paths, &cache);
    found_with(&paths, &cache, &["a.Cell"]);
    let there = |paths: &[PathBuf]| paths.iter().map(|path| path.exists()).collect::<Vec<_>>();
    assert_eq!(there(&others), [true, true, false, false, false], "four are left");
    assert_eq!(there(&[first, abandoned, begun]), [true, false, true]);
    assert_eq!(there(&foreign), [true, true], "no file of ours");
    assert_eq!(kept(folder.path()).len(), 4 + 1 + 2);
}

/// The program's own class counts, and the JDK's of the same name is as if it were not there.
#[test]
fn a_class_of_the_program_replaces_that_of_the_jdk() {
    let handler = "package java.util.logging; public class StreamHandler { public void publish(LogRecord r) {} public void flush() {} }";
    let record = "package java.util.logging; public class LogRecord {}";
    let uses = USES.replace("import java.util.logging.*;", "package java.util.logging;");
    let folder = tempfile::tempdir().expect("a folder");
    let sources = folder.path().join("src");
    fs::create_dir_all(&sources).expect("made");
    let mut command = std::process::Command::new(jdks()[0].join("bin/javac"));
    for (name, text) in [
        ("StreamHandler.java", handler),
        ("LogRecord.java", record),
        ("Uses.java", &uses),
    ] {
        fs::write(sources.join(name), text).expect("written");
        command.arg(sources.join(name));
    }
    let classes = folder.path().join("classes");
    let patched = format!("java.logging={}", sources.display());
    let output = command
        .arg("-d")
        .arg(&classes)
        .args(["--patch-module", &patched])
        .output()
        .expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let options = Options {
        jdk: Some(jdks().remove(0)),
        modules: vec!["java.logging".to_owned()],
        ..Options::default()
    };
    let found = scan(&[classes], &options).expect("scanned");
    assert_eq!(
        found.findings.iter().filter(|f| f.shown).count(),
        0,
        "{:?}",
        found.findings
    );
    assert_eq!(found.counts.duplicates, 2);
}
