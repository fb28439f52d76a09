//! Compiles Java sources and scans them.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

use ravel_analysis::finding::Finding;
use ravel_scan::{Options, Scan, scan};

/// The homes of the JDKs of this machine.
pub fn jdks() -> Vec<PathBuf> {
    ravel_testing::jdks().into_iter().map(|jdk| jdk.home).collect()
}

/// Compiles sources into a directory with the given flags.
pub fn compile_with(jdk: &Path, sources: &[(&str, &str)], flags: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(jdk.join("bin/javac"));
    command.args([
        "-J-XX:TieredStopAtLevel=1",
        "-J-Xshare:auto",
        "-nowarn",
        "-Xlint:none",
        "-d",
    ]);
    command.arg(folder.path().join("classes")).args(flags);
    for (name, source) in sources {
        let path = folder.path().join(name);
        std::fs::write(&path, source).expect("written");
        command.arg(path);
    }
    let output = command.output().expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// Compiles with debug names.
pub fn compile(sources: &[(&str, &str)]) -> tempfile::TempDir {
    let jdks = jdks();
    let jdk = jdks.first().expect("a JDK: set JAVA_HOME");
    compile_with(jdk, sources, &["-g"])
}

/// Scans a compiled folder.
pub fn scan_folder(folder: &tempfile::TempDir, options: &Options) -> Scan {
    let scan = scan(&[folder.path().join("classes")], options).expect("scanned");
    assert_eq!(scan.problems, Vec::<String>::new());
    assert_eq!(scan.counts.failed_methods, 0);
    scan
}

/// Compiles one source and scans it.
pub fn scan_source(source: &str) -> Scan {
    scan_folder(&compile(&[("Test.java", source)]), &Options::default())
}

/// Rule, method (name only) and line of each finding.
pub fn places(findings: &[Finding]) -> Vec<(String, String, u32)> {
    findings
        .iter()
        .map(|finding| {
            let unit = finding.units[0].method.clone();
            let name = unit.split('(').next().unwrap_or_default().to_owned();
            let line = finding.steps.last().map_or(0, |step| step.line);
            (finding.rule.name().to_owned(), name, line)
        })
        .collect()
}

/// The methods that a rule complains about, each once.
pub fn methods(findings: &[Finding], rule: &str) -> Vec<String> {
    let mut methods: Vec<String> = places(findings)
        .into_iter()
        .filter(|(found, ..)| found == rule)
        .map(|(_, method, _)| method)
        .collect();
    methods.sort();
    methods.dedup();
    methods
}
