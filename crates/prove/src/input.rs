//! Standard input of programs: what a recorded one finds there is kept, and given again to further runs.
//!
//! A file is handed to the program as it is, and read afterwards. Anything else that is no terminal goes through Ravel, which
//! takes from it whatever there is until the program ends, as ssh does. A terminal stays the program's own: it would behave
//! differently with a pipe.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileTypeExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use ravel_trace::StandardInput;

const OWN: &str = "/proc/self/fd/0";

/// What a program gets.
pub enum Input {
    /// Ravel's own standard input, which is kept.
    Own(Kind),
    /// What an earlier run got.
    Again(Again),
}

/// What Ravel's own standard input is.
pub enum Kind {
    /// Nothing to keep: closed, or a device such as /dev/null.
    Nothing,
    /// A terminal.
    Terminal,
    /// A file, from this byte on.
    File(u64),
    /// Bytes that come once.
    Stream(Arc<Mutex<StandardInput>>),
}

/// What an earlier run got.
pub struct Again {
    input: Arc<StandardInput>,
    /// The bytes, if they have an end.
    file: Option<tempfile::NamedTempFile>,
}

/// Keeps an input without an end open while the program runs.
pub struct Feeding {
    _open: Option<Sender<()>>,
}

impl Input {
    /// Ravel's own.
    pub fn own() -> Input {
        let kind = match fs::metadata(OWN) {
            _ if io::IsTerminal::is_terminal(&io::stdin()) => Kind::Terminal,
            Ok(found) if found.is_file() => position().map_or(Kind::Nothing, Kind::File),
            Ok(found) if found.file_type().is_fifo() || found.file_type().is_socket() => {
                Kind::Stream(Arc::new(Mutex::new(StandardInput {
                    open: true,
                    ..StandardInput::default()
                })))
            }
            _ => Kind::Nothing,
        };
        Input::Own(kind)
    }

    /// For programs that read nothing.
    pub fn nothing() -> Input {
        Input::Own(Kind::Nothing)
    }

    /// Prepares a command.
    pub fn set(&self, command: &mut Command) -> Result<()> {
        match self {
            Input::Own(Kind::Stream(_)) => command.stdin(Stdio::piped()),
            Input::Own(_) => command.stdin(Stdio::inherit()),
            Input::Again(again) => command.stdin(again.stdio()?),
        };
        Ok(())
    }

    /// The command runs.
    pub fn feed(&self, child: &mut Child) -> Feeding {
        let pipe = child.stdin.take();
        match (self, pipe) {
            (Input::Own(Kind::Stream(kept)), Some(pipe)) => {
                let kept = Arc::clone(kept);
                // Not waited for: it may be reading long after the program has ended.
                std::thread::spawn(move || pump(pipe, &kept));
                Feeding { _open: None }
            }
            (Input::Again(again), Some(pipe)) => again.feed(pipe),
            _ => Feeding { _open: None },
        }
    }

    /// What the program got; none if there was nothing to keep.
    pub fn kept(&self) -> Option<StandardInput> {
        match self {
            Input::Own(Kind::Nothing) => None,
            Input::Own(Kind::Terminal) => Some(StandardInput {
                terminal: true,
                ..StandardInput::default()
            }),
            Input::Own(Kind::File(start)) => from_file(*start).ok(),
            Input::Own(Kind::Stream(kept)) => Some(kept.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            Input::Again(again) => Some((*again.input).clone()),
        }
    }
}

impl Again {
    /// From what was kept.
    pub fn new(input: &StandardInput) -> Result<Again> {
        let file = if input.open {
            None
        } else {
            let mut file = crate::scratch::file()?;
            file.write_all(&input.bytes)
                .context("a temporary file for standard input")?;
            Some(file)
        };
        Ok(Again {
            input: Arc::new(input.clone()),
            file,
        })
    }

    /// What was kept.
    pub fn kept(&self) -> &StandardInput {
        &self.input
    }

    /// For a command that is about to start; a pipe if the input has no end.
    pub fn stdio(&self) -> Result<Stdio> {
        match &self.file {
            Some(file) => Ok(File::open(file.path()).context("the kept standard input")?.into()),
            None => Ok(Stdio::piped()),
        }
    }

    /// Gives the input to a command that has got a pipe.
    pub fn feed(&self, mut pipe: ChildStdin) -> Feeding {
        let input = Arc::clone(&self.input);
        let (open, ended) = channel::<()>();
        std::thread::spawn(move || {
            if pipe.write_all(&input.bytes).is_ok() {
                // Comes when the other side is dropped.
                let _ = ended.recv();
            }
        });
        Feeding { _open: Some(open) }
    }
}

/// Where the next byte of standard input is read, if it is a file.
fn position() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/fdinfo/0").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("pos:"))?;
    line.trim().parse().ok()
}

fn from_file(start: u64) -> io::Result<StandardInput> {
    let mut file = File::open(OWN)?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(StandardInput::LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > StandardInput::LIMIT;
    bytes.truncate(StandardInput::LIMIT);
    Ok(StandardInput {
        bytes,
        cut,
        ..StandardInput::default()
    })
}

/// Forwards and keeps standard input until it ends or the program closes its end.
fn pump(mut to: ChildStdin, kept: &Mutex<StandardInput>) {
    let mut from = io::stdin().lock();
    let mut buffer = [0; 8192];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = StandardInput::LIMIT - kept.bytes.len();
            kept.bytes.extend_from_slice(&buffer[..read.min(room)]);
            kept.cut |= read > room;
            kept.open = read != 0;
        }
        if read == 0 || to.write_all(&buffer[..read]).is_err() {
            return;
        }
    }
}
