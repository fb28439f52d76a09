//! What the class files of a recorded program say of it: what is suspicious, so that a run tries that first, and what its
//! locks are called.
//!
//! The class path is taken from the recorded command. What cannot be read or is too much is left out, and the report says so.

use std::path::{Path, PathBuf};

use ravel_analysis::finding::Finding;
use ravel_scan::{Options, confirm, containers, naming, scan};
use ravel_trace::Header;

/// More bytes of classes and archives than this are not read on the way to a report.
const MOST_BYTES: u64 = 64 << 20;

/// How many places the code alone makes suspicious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspected {
    /// All of them.
    pub all: usize,
    /// Those that a run showed as well.
    pub seen: usize,
}

/// What scanning the class path of a program gave.
#[derive(Debug, Default)]
pub struct Suspects {
    paths: Vec<PathBuf>,
    findings: Vec<Finding>,
    /// What was not scanned, each as a sentence.
    pub left_out: Vec<String>,
}

impl Suspects {
    /// Scans what the recorded command had on its class path, unless `known` is what is there already.
    pub fn of(header: &Header, options: &Options, known: Option<Suspects>) -> Suspects {
        let paths = class_path(header);
        if let Some(known) = known.filter(|known| known.paths == paths) {
            return known;
        }
        let mut suspects = Suspects::default();
        if !is_small(&paths) {
            let most = MOST_BYTES >> 20;
            suspects.left_out.push(format!(
                "static scan: skipped, the class path has more than {most} MB; use `ravel scan` on the application's own jars"
            ));
        } else if !paths.is_empty() {
            let problems = match scan(&paths, options) {
                Ok(scan) => {
                    suspects.findings = scan.findings;
                    scan.problems
                }
                Err(error) => vec![error.to_string()],
            };
            let left_out = problems.iter().map(|problem| format!("static scan: {problem}"));
            suspects.left_out = left_out.collect();
        }
        Suspects { paths, ..suspects }
    }

    /// What the scan would show and whose code is all in classes that ran.
    pub fn of_classes(&self, ran: impl Fn(&str) -> bool) -> impl Iterator<Item = &Finding> {
        let shown = self.findings.iter().filter(|finding| finding.shown);
        shown.filter(move |finding| finding.steps.iter().all(|step| ran(&step.class)))
    }

    /// Notes which findings of a run were suspected; says how many, if anything was.
    pub fn support(&self, found: &mut [Finding]) -> Option<Suspected> {
        let open = confirm::confirm(self.findings.clone(), found).len();
        let all = self.findings.len();
        (all > 0).then_some(Suspected { all, seen: all - open })
    }
}

/// Names the locks and the objects of the JDK in findings as the code on the class path names them.
pub fn name_locks(findings: &mut [Finding], class_path: &[PathBuf]) {
    if is_small(class_path) {
        naming::name_locks(findings, class_path);
        containers::name_containers(findings, class_path);
        // A thread waits and notifies on a lock that it holds.
        for step in findings.iter_mut().flat_map(|finding| &mut finding.steps) {
            if let ("wait" | "notify", [lock]) = (step.op.as_str(), step.locks.as_slice()) {
                step.variable = lock.clone();
            }
        }
    }
}

fn is_small(paths: &[PathBuf]) -> bool {
    let mut left = MOST_BYTES;
    paths.iter().all(|path| fits(path, &mut left))
}

fn fits(path: &Path, left: &mut u64) -> bool {
    let Ok(meta) = path.metadata() else { return true };
    if !meta.is_dir() {
        *left = left.saturating_sub(meta.len());
        return *left > 0;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    // A link may lead in a circle.
    let mut entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries.all(|entry| fits(&entry.path(), left))
}

/// Where build tools put classes. Their commands name no class path, and the jar that Surefire starts its JVM with is gone once the tests are over.
const BUILT: [&str; 8] = [
    "target/classes",
    "target/test-classes",
    "build/classes/java/main",
    "build/classes/java/test",
    "build/classes/kotlin/main",
    "build/classes/kotlin/test",
    "build/classes/scala/main",
    "build/classes/scala/test",
];

/// The class path of a `java` command: what its options say, else what the variable CLASSPATH says; where nothing of that is there, what
/// a build tool has built. The working folder, which counts when neither says anything, is left out: it may be anything.
pub fn class_path(header: &Header) -> Vec<PathBuf> {
    let folder = Path::new(&header.directory);
    let environment = header.environment.iter().find(|(name, _)| name == "CLASSPATH");
    let mut written = environment.map(|(_, value)| value.clone());
    let mut modules = None;
    let mut words = header.command.iter().skip(1);
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        match name {
            "-cp" | "-classpath" | "--class-path" => written = value.or_else(|| words.next().cloned()),
            "-p" | "--module-path" => modules = value.or_else(|| words.next().cloned()),
            "-jar" => {
                written = words.next().cloned();
                break;
            }
            "-m" | "--module" => break,
            "--add-modules" | "--add-opens" | "--add-exports" | "--add-reads" | "--upgrade-module-path" => {
                if value.is_none() {
                    words.next();
                }
            }
            name if name.starts_with('-') || name.starts_with('@') => {}
            // The main class: what follows is the program's own.
            _ => break,
        }
    }
    let mut paths = Vec::new();
    for list in written.iter().chain(&modules) {
        for entry in std::env::split_paths(list) {
            match entry.file_name() {
                Some(name) if name == "*" => paths.extend(jars(&folder.join(entry.parent().unwrap_or(Path::new(""))))),
                _ => paths.push(folder.join(entry)),
            }
        }
    }
    paths.retain(|path| path.exists());
    if paths.is_empty() {
        paths = BUILT.iter().map(|built| folder.join(built)).collect();
        paths.retain(|path| path.is_dir());
    }
    paths
}

fn jars(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut jars: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    jars.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("jar"))
    });
    jars.sort();
    jars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(folder: &Path, command: &[&str]) -> Vec<String> {
        let header = Header {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            directory: folder.display().to_string(),
            environment: vec![("CLASSPATH".to_owned(), "env".to_owned())],
            ..Header::default()
        };
        let paths = class_path(&header).into_iter();
        paths
            .map(|path| path.strip_prefix(folder).expect("inside").display().to_string())
            .collect()
    }

    #[test]
    fn classes_of_a_build_stand_for_a_jar_that_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = ["target/classes", "target/test-classes", "build"].map(|name| folder.path().join(name));
        made.iter()
            .for_each(|path| std::fs::create_dir_all(path).expect("made"));
        let gone = ["java", "-jar", "target/surefire/booter.jar", "tmp"];
        assert_eq!(paths(folder.path(), &gone), ["target/classes", "target/test-classes"]);
        assert_eq!(
            paths(folder.path(), &["mvn", "-B", "test"]),
            ["target/classes", "target/test-classes"]
        );
        assert!(paths(folder.path(), &["java", "-cp", "build", "Main"]) == ["build"]);
    }

    #[test]
    fn what_was_not_scanned_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("cut.jar"), b"PK\x03\x04 and no more").expect("written");
        let large = std::fs::File::create(folder.path().join("large.jar")).expect("made");
        large.set_len(MOST_BYTES + 1).expect("a hole in a file");
        let left_out = |jar: &str| {
            let header = Header {
                command: ["java", "-cp", jar, "Main"].map(str::to_owned).to_vec(),
                directory: folder.path().display().to_string(),
                ..Header::default()
            };
            Suspects::of(&header, &Options::default(), None).left_out
        };
        assert!(matches!(&left_out("cut.jar")[..], [said] if said.contains("cut.jar")));
        assert!(matches!(&left_out("large.jar")[..], [said] if said.contains("more than 64 MB")));
        assert_eq!(left_out("gone.jar"), Vec::<String>::new());
    }

    #[test]
    fn the_class_path_is_what_java_would_take() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "env", "lib"] {
            std::fs::create_dir(folder.path().join(name)).expect("made");
        }
        for name in ["lib/x.jar", "lib/y.JAR", "lib/z.txt", "app.jar"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let paths = |command: &[&str]| paths(folder.path(), command);
        assert_eq!(
            paths(&["java", "-Xmx1g", "-cp", "a:lib/*:gone", "Main", "-cp", "lib"]),
            ["a", "lib/x.jar", "lib/y.JAR"]
        );
        assert_eq!(
            paths(&["java", "--class-path=a", "-jar", "app.jar", "-cp", "a"]),
            ["app.jar"]
        );
        assert_eq!(
            paths(&["java", "-p", "lib/x.jar", "-m", "mod/Main"]),
            ["env", "lib/x.jar"]
        );
        assert_eq!(paths(&["java", "Main"]), ["env"]);
    }
}
