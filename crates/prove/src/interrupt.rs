//! Ctrl-C and SIGTERM: what runs is ended, and what is known is reported. The second signal ends Ravel at once.
//!
//! While a program is recorded the first Ctrl-C is for the program alone: it is how a user ends one that does not end by
//! itself, and the job goes on with its trace. SIGTERM stops the job in every phase.
//!
//! A thread of its own waits for the signals, so that the second one is heard whatever the others do. Programs and temporary
//! files that are left then are the guard's (`family.rs`).

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The signal that stops the job; 0 for none yet.
static STOP: AtomicI32 = AtomicI32::new(0);
/// Whether a program is being recorded.
static RECORDING: AtomicBool = AtomicBool::new(false);
/// Whether the program that is recorded is to end.
static END_PROGRAM: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt only asks; it does not end Ravel.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Signals that cannot be listened to end Ravel as they would any program.
        if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) {
            std::thread::spawn(move || signals.forever().for_each(heard));
        }
    });
}

fn heard(signal: i32) {
    if RECORDING.load(Ordering::SeqCst) && !END_PROGRAM.swap(true, Ordering::SeqCst) && signal == SIGINT {
        return;
    }
    let again = STOP.swap(signal, Ordering::SeqCst) != 0;
    let twice_at_recording = signal == SIGINT && RECORDING.load(Ordering::SeqCst);
    if again || twice_at_recording {
        eprintln!("ravel: interrupted again: no report");
        std::process::exit(exit_code_of(signal));
    }
}

/// Whether the user has asked to stop the job.
pub fn requested() -> bool {
    STOP.load(Ordering::Relaxed) != 0
}

/// The exit code of a job that was stopped, as shells have it: 128 and the signal; none if it was not.
pub fn exit_code() -> Option<u8> {
    let signal = STOP.load(Ordering::Relaxed);
    (signal != 0).then(|| u8::try_from(exit_code_of(signal)).unwrap_or(1))
}

fn exit_code_of(signal: i32) -> i32 {
    128 + signal
}

/// A program is being recorded, until this is dropped.
pub struct RecordingPhase(());

impl RecordingPhase {
    /// The program starts.
    pub fn begin() -> RecordingPhase {
        listen();
        END_PROGRAM.store(requested(), Ordering::SeqCst);
        RECORDING.store(true, Ordering::SeqCst);
        RecordingPhase(())
    }

    /// Whether the program is to end.
    pub fn is_over(&self) -> bool {
        END_PROGRAM.load(Ordering::SeqCst)
    }
}

impl Drop for RecordingPhase {
    fn drop(&mut self) {
        RECORDING.store(false, Ordering::SeqCst);
    }
}
