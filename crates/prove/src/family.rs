//! A program that Ravel has started, and all its descendants: none survives Ravel, even if Ravel is killed.
//!
//! Ravel itself can be killed without warning. So it starts a guard with the first program: a second process of Ravel that receives the
//! start and the end of every program, and ends the remaining ones when Ravel is gone. It also removes temporary files.

use std::fs;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How often to look for processes that appear while others are being ended.
const ROUNDS: u32 = 100;

/// Empty scans required before we conclude that no process is left: a program may be about to start.
const CALM: u32 = 5;

/// A program and what it started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// Identifies the family.
    number: usize,
    /// The process of the program; 0 if it may not have started yet.
    root: u32,
    /// Whether the program leads a process group of its own.
    group: bool,
    /// A text that only the command lines or environments of members contain.
    mark: String,
}

/// A process of this machine.
struct Process {
    id: u32,
    parent: u32,
    group: u32,
}

impl Family {
    /// Announces a program that is about to be started, which leads a group of its own if `group`.
    pub fn announce(group: bool, mark: &str) -> Guarded {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let family = Family {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            root: 0,
            group,
            mark: mark.replace(['\n', '\t'], ""),
        };
        tell(&family.line());
        Guarded(family)
    }

    fn line(&self) -> String {
        let Family {
            number,
            root,
            group,
            mark,
        } = self;
        format!("+\t{number}\t{root}\t{}\t{mark}\n", u8::from(*group))
    }

    fn parse(mut words: std::str::Split<'_, char>, number: usize) -> Option<Family> {
        Some(Family {
            number,
            root: words.next()?.parse().ok()?,
            group: words.next()? == "1",
            mark: words.next()?.to_string(),
        })
    }

    /// Asks the program to end.
    pub fn ask(&self) {
        if let Some(pid) = pid(self.root) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Asks the program and all that it started to end.
    pub fn ask_all(&self) {
        for pid in self.members(true).into_iter().filter_map(pid) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Ends the program and all that it started.
    pub fn end(&self) {
        self.kill(true);
    }

    /// Ends what the program left behind when it ended itself.
    pub fn end_rest(&self) {
        self.kill(false);
    }

    fn kill(&self, root: bool) {
        let mut calm = 0;
        for _ in 0..ROUNDS {
            let members = self.members(root);
            if members.is_empty() {
                calm += 1;
                if self.root != 0 || calm == CALM {
                    return;
                }
            }
            for member in members {
                if let Some(pid) = pid(member) {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The living members. Once the root has been waited for, its number may be another's.
    fn members(&self, root: bool) -> Vec<u32> {
        let all = processes();
        let own = std::process::id();
        let mut found: Vec<u32> = all
            .iter()
            .filter(|process| {
                let known = self.root != 0;
                (known && root && process.id == self.root)
                    || (known && self.group && process.group == self.root)
                    || has_mark(process.id, &self.mark)
            })
            .map(|process| process.id)
            .collect();
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            let children = all.iter().filter(|process| process.parent == parent);
            for child in children.map(|process| process.id) {
                if !found.contains(&child) {
                    found.push(child);
                }
            }
            at += 1;
        }
        found.retain(|id| *id != own);
        found
    }
}

/// A family that the guard knows of, until this is dropped.
pub struct Guarded(Family);

impl Guarded {
    /// The program has started.
    pub fn started(&mut self, root: u32) {
        self.0.root = root;
        tell(&self.0.line());
    }
}

impl std::ops::Deref for Guarded {
    type Target = Family;

    fn deref(&self) -> &Family {
        &self.0
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        tell(&format!("-\t{}\n", self.0.number));
    }
}

/// Tells the guard of a temporary file or directory, to be removed if Ravel is gone and it is not.
pub fn leave_nothing_at(path: &Path) {
    if let Some(path) = path.to_str().filter(|path| !path.contains(['\n', '\t'])) {
        tell(&format!("file\t{path}\n"));
    }
}

/// Sends a line to the guard; starts it if it is not there. Without a guard everything works until Ravel is killed.
fn tell(line: &str) {
    static GUARD: OnceLock<Mutex<Option<ChildStdin>>> = OnceLock::new();
    let guard = GUARD.get_or_init(|| Mutex::new(start()));
    if let Some(pipe) = guard.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        let _ = pipe.write_all(line.as_bytes());
    }
}

/// From now on programs have a guard: the running executable, which must call [`guard`] when its only argument is this.
pub fn enable_guard(argument: &'static str) {
    let _ = GUARD_ARGUMENT.set(argument);
}

static GUARD_ARGUMENT: OnceLock<&str> = OnceLock::new();

fn start() -> Option<ChildStdin> {
    let argument = GUARD_ARGUMENT.get()?;
    // The file that runs, even if another one is at its place by now.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Ctrl-C in the terminal must not reach it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().ok()?.stdin.take()
}

/// How often the guard tries to remove a file.
const REMOVALS: usize = 60;

/// What the guard does: listens until Ravel is gone, and ends what is left.
pub fn guard(lines: impl BufRead) {
    let mut families: Vec<Family> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for line in lines.lines().map_while(Result::ok) {
        let mut words = line.split('\t');
        let sign = words.next();
        if sign == Some("file") {
            files.extend(words.next().map(PathBuf::from));
            continue;
        }
        let Some(number) = words.next().and_then(|word| word.parse().ok()) else {
            continue;
        };
        families.retain(|family| family.number != number);
        if sign == Some("+") {
            families.extend(Family::parse(words, number));
        }
    }
    families.iter().for_each(Family::end);
    for path in files {
        // What was just ended may still be making a file there.
        for _ in 0..REMOVALS {
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            if !path.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(id).ok()?)
}

/// The processes that live.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(process)
        .collect()
}

fn process(id: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before the last parenthesis may contain anything.
    let mut words = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    if matches!(words.next()?, "Z" | "X") {
        return None;
    }
    Some(Process {
        id,
        parent: words.next()?.parse().ok()?,
        group: words.next()?.parse().ok()?,
    })
}

fn has_mark(id: u32, mark: &str) -> bool {
    ["cmdline", "environ"].iter().any(|file| {
        fs::read(format!("/proc/{id}/{file}"))
            .is_ok_and(|words| words.windows(mark.len()).any(|window| window == mark.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell that has started a sleeper in a session of its own, and its family.
    fn sleeper(mark: &str) -> (std::process::Child, Family) {
        let mut command = Command::new("sh");
        command
            .args(["-c", "setsid sleep 600 & sleep 600 & wait"])
            .env("RAVEL_TEST_MARK", mark)
            .stdout(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().expect("a shell");
        let family = Family {
            number: child.id() as usize,
            root: child.id(),
            group: true,
            mark: mark.to_string(),
        };
        let began = |_| {
            std::thread::sleep(Duration::from_millis(10));
            family.members(true).len() >= 3
        };
        if !(0..1000).any(began) {
            family.end();
            child.wait().expect("it was killed");
            panic!("the sleepers did not start");
        }
        (child, family)
    }

    #[test]
    fn a_family_ends_as_a_whole() {
        let (mut child, family) = sleeper(&format!("whole-{}", std::process::id()));
        family.end();
        child.wait().expect("it was killed");
        assert_eq!(family.members(false), Vec::<u32>::new());
    }

    #[test]
    fn what_a_program_leaves_behind_is_found_by_group_and_mark() {
        let (mut child, family) = sleeper(&format!("rest-{}", std::process::id()));
        child.kill().expect("killed");
        child.wait().expect("it was killed");
        assert!(family.members(false).len() >= 2);
        family.end_rest();
        assert_eq!(family.members(false), Vec::<u32>::new());
    }

    #[test]
    fn a_member_that_has_its_mark_as_an_argument_is_found() {
        let mark = format!("argument-{}", std::process::id());
        // A shell that waits for input and starts nothing: a child that it starts just before its end would not have the mark.
        let mut child = Command::new("sh")
            .args(["-c", "read line", &mark])
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell");
        let family = Family {
            number: 0,
            root: 0,
            group: false,
            mark,
        };
        family.end();
        assert!(!child.wait().expect("it was killed").success());
        assert_eq!(family.members(true), Vec::<u32>::new());
    }

    #[test]
    fn the_guard_ends_what_it_was_not_told_to_forget() {
        let (mut one, first) = sleeper(&format!("one-{}", std::process::id()));
        let (mut two, second) = sleeper(&format!("two-{}", std::process::id()));
        // The first may not have started, as far as the guard knows.
        let announced = Family {
            root: 0,
            ..first.clone()
        };
        let told = format!("{}{}-\t{}\nnonsense\n", announced.line(), second.line(), second.number);
        let folder = tempfile::tempdir().expect("a folder");
        let (file, inner) = (folder.path().join("file"), folder.path().join("inner"));
        fs::write(&file, "1").expect("a file");
        fs::create_dir(&inner).expect("a folder");
        fs::write(inner.join("file"), "1").expect("a file");
        let told = format!("{told}file\t{}\nfile\t{}\nfile\t\n", file.display(), inner.display());
        guard(told.as_bytes());
        assert!(!file.exists() && !inner.exists() && folder.path().exists());
        one.wait().expect("it was killed");
        assert_eq!(first.members(false), Vec::<u32>::new());
        assert!(second.members(true).len() >= 3);
        second.end();
        two.wait().expect("it was killed");
    }
}
