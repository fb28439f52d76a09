//! The way into a running HotSpot JVM: a file and a signal ask it to listen on a socket, and a command on the socket has it load a library.
//!
//! The JVM looks for `.attach_pidN` in its working directory and in `/tmp` when SIGQUIT comes, and then listens on
//! `/tmp/.java_pidN`; without the file, or with the mechanism disabled, it prints its threads instead. `N` is its own number of itself. A command is the
//! version `1`, its name and three arguments, each ended by a zero byte; the answer is a number in a line, and words.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::target::Target;
use crate::interrupt;

/// How long the JVM may take to listen. It does so at its next safepoint.
const LISTENING: Duration = Duration::from_secs(20);
/// When it is asked again: one signal may be lost while the JVM is busy, but each prints all threads if it does not listen.
const AGAIN: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(10)];
/// How long it may take to load a library.
const LOADING: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// Has the JVM load a library, with these words for it; both as the JVM sees them.
pub fn load(target: &Target, library: &Path, words: &str) -> Result<()> {
    let mut socket = connect(target)?;
    socket.set_read_timeout(Some(LOADING))?;
    socket.set_write_timeout(Some(LOADING))?;
    let mut command = Vec::new();
    for part in ["1", "load", &library.to_string_lossy(), "true", words] {
        command.extend_from_slice(part.as_bytes());
        command.push(0);
    }
    socket.write_all(&command).context("the JVM closed its socket")?;
    let mut answer = String::new();
    if let Err(error) = socket.read_to_string(&mut answer) {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => bail!(
                "process {} did not load the agent within {} s; is it stopped, or overloaded?",
                target.pid,
                LOADING.as_secs()
            ),
            _ => return Err(error).context("the JVM closed its socket"),
        }
    }
    judge(target.pid, &answer)
}

/// What the answer to `load` says.
fn judge(pid: u32, answer: &str) -> Result<()> {
    let (code, words) = answer.split_once('\n').unwrap_or((answer, ""));
    let words = words.trim();
    if words.contains("Dynamic agent loading is not enabled") {
        bail!(
            "process {pid} was started with -XX:-EnableDynamicAgentLoading, so it loads no agent; start it with -XX:+EnableDynamicAgentLoading, or record it from the start with `ravel record`"
        );
    }
    let result = words.rsplit(':').next().unwrap_or_default().trim();
    match code.trim() {
        "0" if matches!(result, "" | "0") => Ok(()),
        "0" if result.parse::<i32>().is_ok() => bail!("the agent does not work in process {pid}: {words}"),
        "101" => bail!("process {pid} speaks another version of the attach protocol"),
        // Where the library could not be loaded, older releases answer 0 and the words of the linker.
        _ if words.is_empty() => bail!("process {pid} did not load the agent (code {})", code.trim()),
        _ => bail!("process {pid} did not load the agent: {words}"),
    }
}

/// A connection to the JVM, which is asked to listen if it does not yet.
fn connect(target: &Target) -> Result<UnixStream> {
    let name = |kind: &str| PathBuf::from(format!("/tmp/.{kind}_pid{}", target.own_pid));
    let path = target.path_outside(&name("java"));
    if let Ok(socket) = UnixStream::connect(&path) {
        return Ok(socket);
    }
    let _asking = Asking::begin(target, &target.path_outside(&name("attach")))?;
    let begun = Instant::now();
    let mut asked = 0;
    while begun.elapsed() < LISTENING {
        if asked == 0 || AGAIN.get(asked - 1).is_some_and(|again| begun.elapsed() >= *again) {
            signal(target)?;
            asked += 1;
        }
        std::thread::sleep(POLL);
        if let Ok(socket) = UnixStream::connect(&path) {
            return Ok(socket);
        }
        if target.has_ended() {
            bail!("process {} ended before it could be attached to", target.pid);
        }
        if interrupt::requested() {
            bail!("interrupted before process {} was attached to", target.pid);
        }
    }
    let why = match target.is_stopped() {
        true => format!("it is stopped; let it go on with `kill -CONT {}`", target.pid),
        false => {
            "it may have disabled attaching (-XX:+DisableAttachMechanism in JAVA_TOOL_OPTIONS or a file), or be overloaded"
                .to_string()
        }
    };
    bail!(
        "process {} did not listen within {} s: {why}",
        target.pid,
        LISTENING.as_secs()
    )
}

fn signal(target: &Target) -> Result<()> {
    let pid = i32::try_from(target.pid).ok().and_then(Pid::from_raw);
    let pid = pid.with_context(|| format!("there is no process {}", target.pid))?;
    kill_process(pid, Signal::QUIT).with_context(|| format!("cannot signal process {}", target.pid))
}

/// The file that asks the JVM to listen, until this is dropped.
struct Asking(PathBuf);

impl Asking {
    fn begin(target: &Target, path: &Path) -> Result<Asking> {
        let cwd = PathBuf::from(format!("/proc/{}/cwd/.attach_pid{}", target.pid, target.own_pid));
        let mut refused = None;
        for path in [path.to_path_buf(), cwd] {
            match fs::File::options().write(true).create(true).truncate(false).open(&path) {
                Ok(_) => {
                    // The JVM looks whose file it is.
                    let _ = chown(&path, Some(target.user), Some(target.group));
                    return Ok(Asking(path));
                }
                Err(error) => refused = Some((path, error)),
            }
        }
        match refused {
            Some((path, error)) => Err(error).with_context(|| format!("cannot make {}", path.display())),
            None => bail!("process {} has no folder for a file", target.pid),
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_jvm_are_understood() {
        assert!(judge(1, "0\nreturn code: 0\n").is_ok());
        assert!(judge(1, "0\n0\n").is_ok());
        assert!(judge(1, "0\n").is_ok());
        let why = |answer: &str| judge(1, answer).expect_err("is an error").to_string();
        assert!(why("0\nreturn code: -1\n").contains("return code: -1"));
        assert!(why("101\n").contains("version"));
        assert!(why("100\nDynamic agent loading is not enabled. Use…\n").contains("-XX:+EnableDynamicAgentLoading"));
        assert!(why("0\n/x.so was not loaded.\n/x.so: failed to map\n").contains("failed to map"));
        assert!(why("").contains("did not load"));
    }
}
