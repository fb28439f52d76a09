//! The process that is to be recorded: whether it is a JVM that can be attached to, and how it sees files.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The bit of SIGQUIT in a mask of signals.
const QUIT: u64 = 1 << 2;

/// A process, known by its number and when it began: numbers are used again.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its number here.
    pub pid: u32,
    /// Its number where it runs, which in a container is another one.
    pub own_pid: u32,
    /// Who it runs as.
    pub user: u32,
    pub group: u32,
    began: String,
}

impl Target {
    /// A JVM that this user may attach to.
    pub fn find(pid: u32) -> Result<Target> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let Ok(status) = fs::read_to_string(folder.join("status")) else {
            bail!("there is no process {pid}; `jps -l` and `ps -C java` list the JVMs of this machine");
        };
        let user = ids(&status, "Uid:").unwrap_or(0);
        let group = ids(&status, "Gid:").unwrap_or(0);
        let me = rustix::process::geteuid().as_raw();
        if me != 0 && me != user {
            bail!(
                "process {pid} belongs to user {user}, and only that user and root may attach to it; try `sudo -u '#{user}' ravel attach {pid}`"
            );
        }
        let maps = match fs::read_to_string(folder.join("maps")) {
            Ok(maps) => maps,
            Err(error) => bail!(
                "the system does not let this user look at process {pid} ({error}); try it as root, or where the process runs"
            ),
        };
        let loads = |library: &str| maps.lines().any(|line| line.contains(library));
        if loads("/libj9vm") {
            bail!("process {pid} is an OpenJ9 JVM; Ravel can record HotSpot JVMs only");
        }
        if !loads("/libjvm.so") {
            bail!("process {pid} is not a JVM; `jps -l` and `ps -C java` list those of this machine");
        }
        let command = fs::read(folder.join("cmdline")).unwrap_or_default();
        let has = |option: &[u8]| command.split(|byte| *byte == 0).any(|word| word == option);
        if has(b"-XX:+DisableAttachMechanism") {
            bail!(
                "process {pid} was started with -XX:+DisableAttachMechanism, so nothing can attach to it; start it without that option, or record it from the start with `ravel record`"
            );
        }
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if caught.is_none_or(|mask| mask & QUIT == 0) {
            // The signal that asks a JVM to listen would end this one.
            bail!(
                "process {pid} does not handle SIGQUIT (it has just begun, or was started with -Xrs), so nothing can attach to it; try again, or start it without -Xrs"
            );
        }
        let target = Target {
            pid,
            own_pid: own_pid(&status).unwrap_or(pid),
            user,
            group,
            began: began(pid).unwrap_or_default(),
        };
        if target.is_stopped() {
            bail!("process {pid} is stopped (SIGSTOP or a debugger); let it go on with `kill -CONT {pid}`");
        }
        Ok(target)
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        began(self.pid).is_none_or(|began| began != self.began)
    }

    /// Whether it is stopped by a signal or a debugger.
    pub fn is_stopped(&self) -> bool {
        matches!(state(self.pid), Some('T' | 't'))
    }

    /// How it sees a path that it may see elsewhere: the same file, named from here.
    pub fn path_outside(&self, path: &Path) -> PathBuf {
        if self.shares_files() {
            return path.to_path_buf();
        }
        let inside = path.strip_prefix("/").unwrap_or(path);
        Path::new(&format!("/proc/{}/root", self.pid)).join(inside)
    }

    /// Whether it has the same root directory as this process.
    pub fn shares_files(&self) -> bool {
        let same = |path: &str| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
        let theirs = same(&format!("/proc/{}/root/", self.pid));
        theirs.is_some() && theirs == same("/")
    }
}

/// The effective id among those of a line of the status.
fn ids(status: &str, key: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The number of a process in the innermost of the containers that it is in.
fn own_pid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// What stands in the statistics of a process after its name, which may have any characters.
fn statistics(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn state(pid: u32) -> Option<char> {
    statistics(pid)?.first()?.chars().next()
}

/// When a process began; none if it has ended.
fn began(pid: u32) -> Option<String> {
    let words = statistics(pid)?;
    match words.first()?.as_str() {
        "Z" | "X" | "x" => None,
        _ => words.get(19).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_jvm_is_refused() {
        let why = |pid| Target::find(pid).expect_err("is refused").to_string();
        assert!(why(std::process::id()).contains("is not a JVM"));
        assert!(why(u32::MAX).contains("no process"));
    }

    #[test]
    fn the_status_of_a_process_is_read() {
        let status = "Name:\tjava\nUid:\t7\t8\t8\t8\nGid:\t1\t2\t2\t2\nNSpid:\t4711\t12\n";
        assert_eq!((ids(status, "Uid:"), ids(status, "Gid:")), (Some(8), Some(2)));
        assert_eq!(own_pid(status), Some(12));
        let me = std::process::id();
        assert!(began(me).is_some_and(|began| !began.is_empty()));
        assert!(state(me).is_some());
    }
}
