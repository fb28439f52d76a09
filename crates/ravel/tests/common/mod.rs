//! What the whole-program tests share: the JDKs of this machine, compiled subjects, bounded runs.

#![allow(dead_code, unused_imports, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub use ravel_testing::{Jdk, SECOND_JDK, jdks, program, skip, tested_jdks};

/// A directory for a whole test binary. Nothing removes it at the end, so it is not among the temporary files.
pub fn kept_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/ravel is two levels down")
        .to_path_buf()
}

/// The binary under test.
pub fn ravel() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ravel"))
}

/// Java sources of a folder of subjects, sorted.
pub fn sources(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("subjects").join(folder))
        .expect("subjects are part of the tree")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "java"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no subjects in {folder}");
    files
}

/// Compiles a folder of subjects for a release.
pub fn compile(jdk: &Jdk, folder: &str, release: u32, to: &Path) {
    javac(jdk, &sources(folder), release, to);
}

/// Compiles these sources for the oldest release that is supported.
pub fn compile_some(jdk: &Jdk, sources: &[PathBuf], to: &Path) {
    javac(jdk, sources, 17, to);
}

fn javac(jdk: &Jdk, sources: &[PathBuf], release: u32, to: &Path) {
    let output = Command::new(jdk.tool("javac"))
        .args(["-g", "-nowarn", "--release", &release.to_string(), "-d"])
        .arg(to)
        .args(sources)
        .output()
        .expect("javac runs");
    assert!(
        output.status.success(),
        "{sources:?} do not compile:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a command to its end with nothing on its standard input; kills it, by its id, when it takes longer.
pub fn run(command: &mut Command, limit: Duration) -> Output {
    run_with(command, None, limit)
}

/// The same with these bytes in a pipe.
pub fn run_with_input(command: &mut Command, input: &[u8], limit: Duration) -> Output {
    run_with(command, Some(input), limit)
}

fn run_with(command: &mut Command, input: Option<&[u8]>, limit: Duration) -> Output {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (out, err) = (dir.path().join("out"), dir.path().join("err"));
    let file = |path: &Path| std::fs::File::create(path).expect("a temporary file");
    let stdin = input.map_or_else(Stdio::null, |_| Stdio::piped());
    command.stdin(stdin).stdout(file(&out)).stderr(file(&err));
    let mut child = command.spawn().expect("the command starts");
    if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
        // A program need not read it.
        let _ = std::io::Write::write_all(&mut pipe, input);
    }
    let status = wait(&mut child, limit);
    Output {
        status,
        stdout: std::fs::read(out).expect("the output"),
        stderr: std::fs::read(err).expect("the output"),
    }
}

fn wait(child: &mut Child, limit: Duration) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            return status;
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            return child.wait().expect("the child can be waited for");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The lines of a subject's first comment after `key:`, without decoration, up to `about:`.
pub fn comment(source: &str, key: &str) -> Option<Vec<String>> {
    let body = source.strip_prefix("/*")?.split("*/").next()?;
    let mut lines = body.lines();
    if lines.next()?.trim() != format!("{key}:") {
        return None;
    }
    let clean = |line: &str| {
        let line = line.trim_start().strip_prefix('*').unwrap_or(line).trim();
        line.split("//").next().unwrap_or_default().trim().to_string()
    };
    Some(
        lines
            .map(clean)
            .take_while(|line| !line.starts_with("about:"))
            .filter(|line| !line.is_empty())
            .collect(),
    )
}

/// Calls `test` for every item, on as many threads as there are cores, and gathers what failed.
pub fn each<T: Sync>(items: &[T], test: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(failure) = test(item) {
                        failures.lock().expect("no test panics with the lock").push(failure);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no test panics with the lock");
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} failed:\n{}",
        failures.len(),
        items.len(),
        failures.join("\n")
    );
}
