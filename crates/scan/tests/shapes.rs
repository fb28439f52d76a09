//! The same code from different compilers: what must be found and what must not is in the names of the methods.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{compile_with, jdks};
use ravel_analysis::finding::Rule;
use ravel_scan::{Options, ScanError, load, scan};

const SHAPES: &str = include_str!("shapes/Shapes.java");

/// The methods with a lock pattern, and all methods whose names say that they must or must not have one.
fn check(classes: &Path, what: &str) {
    let paths = [classes.to_path_buf()];
    let found = scan(&paths, &Options::default()).expect("scanned");
    assert_eq!(found.problems, Vec::<String>::new(), "{what}");
    assert_eq!(found.counts.failed_methods, 0, "{what}");
    let program = load(&paths, &Options::default()).expect("loaded");
    let names = program.method_ids().map(|method| program.method_text(method));
    let name = |method: &str| method.split('(').next().unwrap_or_default().to_owned();
    let mut wanted: Vec<String> = names
        .map(|method| name(&method))
        .filter(|name| name.ends_with("Bad"))
        .collect();
    let mut seen: Vec<String> = found
        .findings
        .iter()
        .filter(|finding| finding.rule == Rule::LockPattern)
        .map(|finding| name(&finding.units[0].method))
        .collect();
    for list in [&mut wanted, &mut seen] {
        // Companions and objects have a second method that passes the call on.
        for name in list.iter_mut() {
            *name = name.replace("$Companion.", ".").replace("$.", ".");
        }
        list.sort();
        list.dedup();
    }
    assert!(wanted.len() > 4, "{what}: {wanted:?}");
    assert_eq!(seen, wanted, "{what}");
}

fn release(jdk: &Path) -> u32 {
    let text = std::fs::read_to_string(jdk.join("release")).expect("a release file");
    let line = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
    let number = line.and_then(|line| line.split(['.', '"']).next()?.parse().ok());
    number.expect("a version")
}

fn check_releases(wanted: &dyn Fn(u32) -> bool) {
    for jdk in jdks() {
        let newest = release(&jdk);
        for target in (8..=newest).filter(|target| wanted(*target) || *target == newest) {
            let flags = ["-g", "--release", &target.to_string()];
            let folder = compile_with(&jdk, &[("Shapes.java", SHAPES)], &flags);
            check(&folder.path().join("classes"), &format!("javac {newest} for {target}"));
        }
    }
}

/// The releases at which javac began to write something else: nested classes that see each other, strings joined by
/// invokedynamic, and the ones people stay with.
#[test]
fn javac_for_some_releases() {
    check_releases(&|target| matches!(target, 8 | 9 | 11 | 21));
}

#[test]
#[ignore = "takes a minute; make realworld runs it"]
fn javac_for_all_releases() {
    check_releases(&|_| true);
}

#[test]
fn other_compilers() {
    let shapes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shapes");
    for compiler in ["ecj", "kotlin", "scala"] {
        check(&shapes.join(compiler), compiler);
    }
}

/// Folders of classes that the compilers of today made of the sources in `tests/shapes`.
#[test]
#[ignore = "needs RAVEL_SHAPES; make realworld sets it"]
fn fresh_classes() {
    let folders = std::env::var_os("RAVEL_SHAPES").expect("RAVEL_SHAPES names folders of classes");
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    assert!(!folders.is_empty());
    for folder in folders {
        check(&folder, &folder.display().to_string());
    }
}

/// How often the scan may still be asked before it is to stop.
static ASKED: AtomicUsize = AtomicUsize::new(0);

fn stop() -> bool {
    ASKED
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
        .is_err()
}

#[test]
fn a_scan_that_is_to_stop_stops_wherever_it_is() {
    let paths = [PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/shapes/ecj")];
    let options = Options {
        stop: Some(stop),
        ..Options::default()
    };
    let whole = scan(&paths, &Options::default()).expect("scanned").findings;
    let mut asked = 0;
    loop {
        ASKED.store(asked, Ordering::Relaxed);
        match scan(&paths, &options) {
            Err(ScanError::Stopped) => asked += 1,
            other => {
                assert_eq!(other.expect("scanned").findings, whole);
                break;
            }
        }
    }
    // The classes, the methods and the rules.
    assert!(asked > 20, "asked {asked} times");
}
