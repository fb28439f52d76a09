//! What the whole-program tests share: the JDKs of this machine, compiled subjects, bounded runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use ravel_testing::{Jdk, OLD_JDKS, SECOND_JDK, jdks, old_jdks, program, skip, tested_jdks};

/// A directory for a whole test binary. Nothing removes it at the end, so it is not among the temporary files. `RAVEL_TESTS_IN` names another
/// folder for them: two test binaries that run at the same time would clear each other's classes.
pub fn kept_directory(name: &str) -> PathBuf {
    let folder = std::env::var_os("RAVEL_TESTS_IN").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let directory = Path::new(&folder).join(name);
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

/// The binary under test. `RAVEL_BINARY` names another one, such as a copy that no later build replaces.
pub fn ravel() -> Command {
    Command::new(std::env::var_os("RAVEL_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_ravel").into()))
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

/// How many further commands may run now; none before the first.
static PLACES: Mutex<Option<usize>> = Mutex::new(None);
static PLACE_FREE: Condvar = Condvar::new();

/// One of the commands that may run at once; free again when dropped.
pub struct CommandSlot(());

/// Waits until fewer commands run.
pub fn command_slot() -> CommandSlot {
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let free = places.get_or_insert_with(commands_at_once);
        if *free > 0 {
            *free -= 1;
            return CommandSlot(());
        }
        places = PLACE_FREE.wait(places).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Drop for CommandSlot {
    fn drop(&mut self) {
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        *places = places.map(|free| free + 1);
        PLACE_FREE.notify_one();
    }
}

/// Commands that run at the same time, of all tests together. One more than there are cores, because programs wait; with many more,
/// forced runs disturb each other and are made again.
fn commands_at_once() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from) + 1
}

/// The classes of a folder of subjects, compiled once by each JDK, for all tests.
pub fn compiled(jdk: &Jdk, folder: &'static str, release: u32) -> PathBuf {
    type Folders = BTreeMap<(u32, &'static str), Arc<OnceLock<PathBuf>>>;
    static COMPILED: Mutex<Folders> = Mutex::new(BTreeMap::new());
    let entry = {
        let mut folders = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(folders.entry((jdk.release, folder)).or_default())
    };
    entry
        .get_or_init(|| {
            let directory = kept_directory(&format!("{folder}-{}", jdk.release));
            // Classes of an earlier run, whose sources may be gone.
            std::fs::remove_dir_all(&directory).expect("the directory can be cleared");
            javac(jdk, &sources(folder), release, &directory);
            directory
        })
        .clone()
}

/// The classes of these subjects of a folder for Java 8, compiled once by the oldest JDK that has a compiler.
pub fn compiled_for_8(folder: &'static str, wanted: impl Fn(&str) -> bool) -> PathBuf {
    let directory = kept_directory(&format!("{folder}-for-8"));
    std::fs::remove_dir_all(&directory).expect("the directory can be cleared");
    std::fs::create_dir_all(&directory).expect("a directory");
    let mut chosen = sources(folder);
    chosen.retain(|path| path.file_stem().and_then(|name| name.to_str()).is_some_and(&wanted));
    // `--release` hides `sun.misc.Unsafe`.
    javac_with(
        &oldest_jdk(),
        &chosen,
        &["-Xlint:-options", "-source", "8", "-target", "8"],
        &directory,
    );
    directory
}

/// Compiles these sources for the oldest release that all tests run on.
pub fn compile_some(jdk: &Jdk, sources: &[PathBuf], to: &Path) {
    javac(jdk, sources, 17, to);
}

fn javac(jdk: &Jdk, sources: &[PathBuf], release: u32, to: &Path) {
    javac_with(jdk, sources, &["--release", &release.to_string()], to);
}

fn javac_with(jdk: &Jdk, sources: &[PathBuf], options: &[&str], to: &Path) {
    let _slot = command_slot();
    let output = Command::new(jdk.tool("javac"))
        .args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"])
        .args(options)
        .args(["-g", "-nowarn", "-d"])
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
    let _slot = command_slot();
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

/// For tests of what the JDK has no part in.
pub fn oldest_jdk() -> Jdk {
    tested_jdks().swap_remove(0)
}

/// The same, with the other one.
pub fn newest_jdk() -> Jdk {
    tested_jdks().pop().expect("a JDK")
}

/// These items, each with one of the JDKs in turn. With another `RAVEL_TURN` (0), an item gets another JDK: two runs with 0 and 1 try all on both.
pub fn in_turn<T>(items: impl IntoIterator<Item = T>) -> Vec<(Jdk, T)> {
    let first = std::env::var("RAVEL_TURN").map_or(0, |turn| turn.parse().expect("RAVEL_TURN is a number"));
    let jdks = tested_jdks();
    let first = first % jdks.len();
    jdks.into_iter().cycle().skip(first).zip(items).collect()
}

/// Calls `test` for every item, on as many threads as commands may run, and gathers what failed.
pub fn each<T: Sync>(items: &[T], test: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..commands_at_once() {
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
