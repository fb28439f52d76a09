//! Whether a thread of this process runs, sleeps for a time, or waits, according to the kernel.
//!
//! Separate because it knows the kernel and nothing of schedules. It distinguishes a thread that is runnable but gets no
//! processor, on a busy machine, from one that waits; a clock alone cannot.

use std::time::{Duration, Instant};

/// Threads that are looked at to find one that is ready.
const MOST_LOOKED_AT: usize = 200;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// It runs, or would if there was a processor for it.
    Runs,
    /// It sleeps, or waits with a time limit; also when the kernel does not tell.
    Dozes,
    /// It waits for another thread, without a limit.
    Waits,
    /// It waits for something outside: a file, a socket, a process.
    Outside,
}

/// A thread, and since when it has not run.
#[derive(Debug)]
pub struct Idle {
    task: i32,
    ran: u64,
    since: Instant,
}

impl Idle {
    /// The thread that calls.
    pub fn own() -> Idle {
        Idle::of_task(Idle::own_task())
    }

    /// The kernel's number of the thread that calls.
    pub fn own_task() -> i32 {
        // SAFETY: asks for a number; no memory is involved.
        unsafe { libc::syscall(libc::SYS_gettid) as i32 }
    }

    /// A thread of this process by the kernel's number.
    pub fn of_task(task: i32) -> Idle {
        Idle {
            task,
            ran: 0,
            since: Instant::now(),
        }
    }

    /// Whether the kernel still knows it.
    pub fn is_alive(&self) -> bool {
        std::path::Path::new(&format!("/proc/self/task/{}", self.task)).exists()
    }

    /// What it does, and for how long it has not run.
    pub fn look(&mut self) -> (Sleep, Duration) {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/self/task/{}/{name}", self.task));
        let ran = read("schedstat").ok().and_then(|text| processor_time(&text));
        let state = read("stat").ok().and_then(|text| state(&text));
        let runs = ran.is_some_and(|ran| ran != self.ran) || state == Some('R');
        if runs {
            self.ran = ran.unwrap_or(0);
            self.since = Instant::now();
            return (Sleep::Runs, Duration::ZERO);
        }
        let sleep = read("syscall").map_or(Sleep::Dozes, |text| waiting_for(&text));
        if sleep == Sleep::Runs {
            self.since = Instant::now();
        }
        (sleep, self.since.elapsed())
    }

    /// Whether another thread of this process runs or would if there was a processor for it. Compilers do not count: no thread waits for
    /// them.
    pub fn others_are_ready() -> bool {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
            return false;
        };
        let own = Idle::own().task.to_string();
        let others = tasks.flatten().filter(|task| task.file_name().to_str() != Some(&own));
        others
            .take(MOST_LOOKED_AT)
            .filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok())
            .any(|text| state(&text) == Some('R') && !is_compiler(&text))
    }

    /// How long all threads of this process together have run.
    pub fn of_process() -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes to the structure, which lives through the call.
        match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } {
            0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
            _ => Duration::ZERO,
        }
    }

    /// Whether this process has started others that still are there: what it waits for may come from them.
    pub fn has_children() -> bool {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
            return true;
        };
        tasks.flatten().any(|task| {
            let children = std::fs::read_to_string(task.path().join("children"));
            children.is_ok_and(|text| !text.trim().is_empty())
        })
    }
}

/// Nanoseconds on a processor, the first number of `schedstat`.
fn processor_time(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The letter after the name, which stands in brackets and may hold anything.
fn state(text: &str) -> Option<char> {
    text.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Whether a thread is called what the JVM calls its compilers.
fn is_compiler(text: &str) -> bool {
    text.contains("(C1 Compiler") || text.contains("(C2 Compiler") || text.contains("(JVMCI")
}

/// From the number of the system call and its arguments.
fn waiting_for(text: &str) -> Sleep {
    let words: Vec<&str> = text.split_whitespace().collect();
    let call: Option<i64> = words.first().and_then(|word| word.parse().ok());
    match call {
        None => Sleep::Runs,
        Some(libc::SYS_futex) => match words.get(4) {
            Some(&"0x0") => Sleep::Waits,
            _ => Sleep::Dozes,
        },
        Some(libc::SYS_nanosleep | libc::SYS_clock_nanosleep) => Sleep::Dozes,
        Some(_) => Sleep::Outside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_understood() {
        assert_eq!(processor_time("1234 5 6\n"), Some(1234));
        assert_eq!(state("17 (a) thread) S 1 2"), Some('S'));
        assert!(is_compiler("18 (C2 CompilerThre) R 1 2") && !is_compiler("18 (VM Thread) R 1 2"));
        let futex = libc::SYS_futex;
        assert_eq!(
            waiting_for(&format!("{futex} 0x7f 0x189 0x0 0x0 0x0 0x0 0x7f 0x7f")),
            Sleep::Waits
        );
        assert_eq!(
            waiting_for(&format!("{futex} 0x7f 0x189 0x0 0x7f12 0x0 0x0 0x7f 0x7f")),
            Sleep::Dozes
        );
        assert_eq!(
            waiting_for(&format!("{} 0x0 0x0", libc::SYS_clock_nanosleep)),
            Sleep::Dozes
        );
        assert_eq!(waiting_for(&format!("{} 0x0 0x0", libc::SYS_read)), Sleep::Outside);
        assert_eq!(waiting_for("running"), Sleep::Runs);
    }

    #[test]
    fn a_thread_that_is_ready_is_seen() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let busy = std::thread::spawn(move || {
            while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                std::hint::spin_loop();
            }
        });
        assert!(Idle::others_are_ready());
        drop(end);
        busy.join().expect("the thread ends");
    }

    #[test]
    fn a_waiting_thread_is_told_from_a_sleeping_and_a_busy_one() {
        let (give, take) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let waiter = std::thread::spawn(move || {
            let _ = give.send(Idle::own());
            let _ = ended.recv();
        });
        let mut idle = take.recv().expect("the thread's number");
        let start = Instant::now();
        let mut seen = idle.look();
        while (seen.0 != Sleep::Waits || seen.1 < Duration::from_millis(20))
            && start.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(5));
            seen = idle.look();
        }
        let told = std::fs::read_to_string("/proc/self/syscall").is_ok();
        assert!(!told || seen.0 == Sleep::Waits, "{seen:?}");
        let mut own = Idle::own();
        own.look();
        assert_eq!(own.look().0, Sleep::Runs);
        drop(end);
        waiter.join().expect("the waiter ends");
    }
}
