//! Records a JVM that is running: loads the agent into it, waits, has it leave, and fetches the trace.
//!
//! The agent and the command line talk through a folder that both see ([`ravel_protocol::attach`]). The agent leaves by itself when this process
//! is gone: it then gets the lock of a file that this process holds.

mod socket;
mod target;

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ravel_agent::options::Options;
use ravel_protocol::attach::{AttachNote, file};
use ravel_protocol::line;
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::interrupt::{self, RecordingPhase};
use crate::observer::Observer;
use crate::{agent_library, family};

use self::target::Target;

/// How long the JVM may take to change its classes, or to change them back.
const CHANGING: Duration = Duration::from_secs(180);
/// The same where it is stopped.
const STOPPED: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(20);
/// How often the JVM is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// What came of it.
#[derive(Debug)]
pub struct AttachedRecording {
    /// Classes that the JVM would not change.
    pub refused: Vec<String>,
    /// How it ended.
    pub end: AttachEnd,
}

/// How the recording of a running JVM ended.
#[derive(Debug)]
pub enum AttachEnd {
    /// The agent has left, and says this.
    Detached {
        /// Classes that keep hooks, which do nothing.
        kept: Vec<String>,
        /// Threads, and the methods with synchronisation in which they stayed all the time.
        stayed: Vec<(String, String)>,
        /// Threads that were recorded.
        threads: u64,
        /// How long.
        time: Duration,
        /// Whether threads may have ordered each other unseen to the end.
        unseen: bool,
    },
    /// The JVM ended meanwhile.
    JvmEnded,
}

/// Records the JVM with this number to `output`, for so long or until an interrupt.
pub fn record(
    pid: u32,
    time: Option<Duration>,
    output: &Path,
    mut options: Options,
    observer: &dyn Observer,
) -> Result<AttachedRecording> {
    let target = Target::find(pid)?;
    let output = std::path::absolute(output).context("the output path")?;
    let directory = output.parent().unwrap_or(Path::new("/"));
    tempfile::NamedTempFile::new_in(directory)
        .with_context(|| format!("cannot write {}; choose another file with -o", directory.display()))?;
    let folder = AttachFolder::new(&target)?;
    let library = folder.outside.path().join("libravel-agent.so");
    fs::copy(agent_library::unpack()?, &library).with_context(|| format!("cannot write {}", library.display()))?;
    folder.give(&library, 0o755)?;
    // A recording that nobody ends does not last longer than a day, whatever happens to this process.
    options.max_time = Some(time.map_or(Duration::from_secs(86_400), |time| 2 * time + CHANGING));
    options.out = folder.inside.join(file::TRACE);
    let settings = folder.outside.path().join(file::OPTIONS);
    fs::write(&settings, options.encode())?;
    folder.give(&settings, 0o600)?;
    let alive = folder.outside.path().join(file::ALIVE);
    let lock = File::create(&alive)?;
    flock(&lock, FlockOperation::LockExclusive)?;
    folder.give(&alive, 0o600)?;

    let phase = RecordingPhase::begin();
    let words = format!("attach={}", folder.inside.display());
    socket::load(&target, &folder.inside.join("libravel-agent.so"), &words)?;
    let waiting = Waiting {
        target: &target,
        folder: &folder,
    };
    let began = waiting.note(CHANGING, |note| {
        matches!(note, AttachNote::Refused { .. } | AttachNote::Recording { .. })
    });
    let refused = match began {
        Some(AttachNote::Recording {
            changed,
            refused,
            unseen,
        }) => {
            observer.remark(&format!(
                "recording process {pid}{}: {changed} loaded classes changed; Ctrl-C ends the recording, and the program goes on",
                time.map_or(String::new(), |time| format!(" for {} s", time.as_secs_f64())),
            ));
            for why in unseen {
                observer.remark(&format!(
                    "{why}: only accesses that come close to each other in time can be shown to race"
                ));
            }
            refused
        }
        Some(AttachNote::Refused { why }) => bail!("process {pid}: {why}"),
        Some(AttachNote::Detached { .. }) => Vec::new(),
        None => {
            folder.stop();
            bail!(waiting.silence("did not begin to record"));
        }
    };
    let begun = Instant::now();
    let trace = folder.outside.path().join(file::TRACE);
    let mut looked = Instant::now();
    let is_end = |note: &AttachNote| matches!(note, AttachNote::Detached { .. });
    while !phase.is_over() && !interrupt::requested() && time.is_none_or(|time| begun.elapsed() < time) {
        std::thread::sleep(POLL);
        if looked.elapsed() < LOOK {
            continue;
        }
        looked = Instant::now();
        if target.has_ended() || folder.notes().iter().any(is_end) {
            break;
        }
    }
    folder.stop();
    let ended = waiting.note(CHANGING, is_end);
    drop(phase);
    let end = match ended {
        Some(AttachNote::Detached {
            kept,
            stayed,
            threads,
            millis,
            unseen,
        }) => AttachEnd::Detached {
            kept,
            stayed,
            threads,
            time: Duration::from_millis(millis),
            unseen,
        },
        _ if target.has_ended() => AttachEnd::JvmEnded,
        _ => bail!(waiting.silence("did not end the recording")),
    };
    fs::copy(&trace, &output).with_context(|| format!("cannot write {}", output.display()))?;
    drop(lock);
    Ok(AttachedRecording { refused, end })
}

/// The folder through which the agent and this process talk.
struct AttachFolder {
    outside: TempDir,
    /// Where the JVM sees it.
    inside: PathBuf,
    owner: Option<(u32, u32)>,
}

impl AttachFolder {
    fn new(target: &Target) -> Result<AttachFolder> {
        let base = match target.shares_files() {
            true => std::env::temp_dir(),
            false => PathBuf::from("/tmp"),
        };
        let here = target.path_outside(&base);
        let outside = tempfile::Builder::new()
            .prefix("ravel-attach-")
            .tempdir_in(&here)
            .with_context(|| format!("cannot make a folder in {}", here.display()))?;
        family::leave_nothing_at(outside.path());
        let name = outside.path().file_name().context("a folder without a name")?;
        let folder = AttachFolder {
            inside: std::path::absolute(base.join(name))?,
            owner: rustix::process::geteuid()
                .is_root()
                .then_some((target.user, target.group)),
            outside,
        };
        folder.give(folder.outside.path(), 0o700)?;
        Ok(folder)
    }

    /// Lets the user of the JVM use a file.
    fn give(&self, path: &Path, mode: u32) -> Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        if let Some((user, group)) = self.owner {
            chown(path, Some(user), Some(group)).with_context(|| format!("cannot give {} away", path.display()))?;
        }
        Ok(())
    }

    fn notes(&self) -> Vec<AttachNote> {
        let path = self.outside.path().join(file::NOTES);
        let text = fs::read_to_string(&path).unwrap_or_default();
        line::decode::<AttachNote>(&text, &path).into_iter().flatten().collect()
    }

    /// Asks the agent to end the recording.
    fn stop(&self) {
        let _ = File::create(self.outside.path().join(file::STOP));
    }
}

/// Waits for what the agent says.
struct Waiting<'a> {
    target: &'a Target,
    folder: &'a AttachFolder,
}

impl Waiting<'_> {
    /// The first note of a kind; none if the JVM has ended, stands still, or takes longer than this.
    fn note(&self, limit: Duration, is_wanted: impl Fn(&AttachNote) -> bool) -> Option<AttachNote> {
        let begun = Instant::now();
        let mut stopped: Option<Instant> = None;
        loop {
            let ended = self.target.has_ended();
            if let Some(note) = self.folder.notes().into_iter().find(&is_wanted) {
                return Some(note);
            }
            stopped = self.target.is_stopped().then(|| stopped.unwrap_or_else(Instant::now));
            if ended || begun.elapsed() >= limit || stopped.is_some_and(|since| since.elapsed() >= STOPPED) {
                return None;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Why the agent says nothing.
    fn silence(&self, what: &str) -> String {
        let pid = self.target.pid;
        match (self.target.has_ended(), self.target.is_stopped()) {
            (true, _) => format!("process {pid} ended before it could be recorded"),
            (_, true) => format!(
                "process {pid} {what}: it is stopped; when it goes on (`kill -CONT {pid}`), the agent leaves it by itself"
            ),
            _ => format!(
                "process {pid} {what} within {} s; the agent leaves it by itself as soon as it can",
                CHANGING.as_secs()
            ),
        }
    }
}
