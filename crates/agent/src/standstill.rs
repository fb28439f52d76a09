//! Detects that a recorded program hangs, or that its threads deadlock, from the states that the JVM reports.
//!
//! A thread that never wakes up writes nothing to the trace. So the agent inspects all recorded threads
//! from outside while the process uses little processor time. Threads that wait for each other's locks are a deadlock, whatever the
//! others do; classes that threads initialise are such locks (`initialisers.rs`). The program stands still if every thread waits without a time limit and none is left that could wake another:
//! not one that runs, waits for input, sleeps or is a timer, nor a hook that runs when the JVM is asked to end. Idle workers of pools
//! and helpers of the JDK do not count. JVMTI says nothing about virtual threads without a capability that slows all of them down; the agent lists them
//! (`virtual_threads.rs`) and asks their own methods, which do not tell who holds a monitor: threads that block each other's monitors stand still.

use std::collections::hash_map::DefaultHasher;
use std::ffi::CStr;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jclass, jint, jobject, jvalue};
use jvmti_bindings::sys::jvmti::{
    JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER, JVMTI_THREAD_STATE_IN_OBJECT_WAIT, JVMTI_THREAD_STATE_PARKED,
    JVMTI_THREAD_STATE_SLEEPING, JVMTI_THREAD_STATE_TERMINATED, JVMTI_THREAD_STATE_WAITING_INDEFINITELY,
    JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT, jvmtiError, jvmtiMonitorUsage,
};
use ravel_protocol::EndedBy;
use ravel_trace::naming::Frame;
use ravel_trace::{FailedThread, Failure, FailureKind, Origin, WaitKind};

use crate::agent::Agent;
use crate::idle::Idle;
use crate::initialisers::{self, AwaitedClass};
use crate::jvm::{self, Jvmti};
use crate::management;
use crate::thread_block::ThreadBlock;

/// How often the threads are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// The same of a program that is idle but does not stand still.
const SELDOM: Duration = Duration::from_secs(5);
/// The same once threads were seen that could be stuck.
const LOOK_CLOSELY: Duration = Duration::from_millis(250);
/// Looks in a row that must see the same before anything is concluded.
const SAME: u32 = 6;
/// The same in a forced run: the watch of the schedule concludes first, since it knows whose turn it is.
const SAME_FORCED: u32 = 24;
/// Looks after that until it counts as idle.
const MORE: u32 = 8;
/// The part of a processor that a program that stands still may use, in percent: compilers and collectors end their work.
const BUSY: u128 = 25;
/// The time between two looks at the end of the JVM.
const AGAIN: Duration = Duration::from_millis(20);
/// Threads that are looked at.
const MOST: usize = 2000;

/// Threads of the JVM itself, which wake none of the program's.
pub const OF_THE_JVM: [&str; 8] = [
    "Attach Listener",
    "Common-Cleaner",
    // The main thread once `main` has returned.
    "DestroyJavaVM",
    "Finalizer",
    "Notification Thread",
    "Reference Handler",
    "Service Thread",
    "Signal Dispatcher",
];

/// The JVM, once it is up.
static VM: AtomicPtr<JavaVM> = AtomicPtr::new(std::ptr::null_mut());

/// Looks at the threads now and then.
pub struct Watcher {
    next: Instant,
    /// Processor time of the process at the last look, and when that was.
    used: (Duration, Instant),
    /// What was seen last, and how often in a row.
    seen: (u64, u32),
}

/// What the look at a program came to that will not go on.
pub enum BlockedThreads {
    /// Threads that block each other.
    Deadlock(Failure),
    /// Threads that no other one will wake.
    Standstill(Failure),
}

impl BlockedThreads {
    /// What was found.
    pub fn failure(&self) -> &Failure {
        match self {
            BlockedThreads::Deadlock(failure) | BlockedThreads::Standstill(failure) => failure,
        }
    }

    /// How a process ends that is in this state.
    pub fn ended_by(&self) -> EndedBy {
        match self {
            BlockedThreads::Deadlock(_) => EndedBy::Deadlock,
            BlockedThreads::Standstill(_) => EndedBy::Hang,
        }
    }
}

/// What a thread does, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Doing {
    /// It runs, or waits for something outside the JVM.
    Runs,
    /// It waits with a time limit.
    Dozes,
    /// It waits without one.
    Waits,
}

impl Doing {
    /// From the state that JVMTI reports.
    pub fn of(state: jint) -> Doing {
        let is = |bits: jint| state & bits != 0;
        if is(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER | JVMTI_THREAD_STATE_WAITING_INDEFINITELY) {
            Doing::Waits
        } else if is(JVMTI_THREAD_STATE_SLEEPING | JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT) {
            Doing::Dozes
        } else {
            Doing::Runs
        }
    }
}

/// A recorded thread.
struct Seen {
    thread: jobject,
    state: jint,
    doing: Doing,
    position: u32,
    /// The class that it waits for, which another thread initialises.
    class: Option<AwaitedClass>,
}

/// What a thread waits for.
#[derive(Default)]
struct Wanted {
    kind: WaitKind,
    target: String,
    /// The thread that has it: its name, its place in the list, and whether it has ended.
    holder: Option<(String, Option<usize>, bool)>,
    /// Joins itself: a way to wait without end on purpose.
    itself: bool,
}

impl Watcher {
    /// Nothing seen yet.
    pub fn new(env: *mut JNIEnv) -> Watcher {
        let mut vm: *mut JavaVM = std::ptr::null_mut();
        // SAFETY: called on a thread of a live JVM; `vm` has room for the answer.
        unsafe { ((**env).GetJavaVM)(env, &raw mut vm) };
        VM.store(vm, Ordering::Release);
        Watcher {
            next: Instant::now() + LOOK,
            used: (processor_time(), Instant::now()),
            seen: (0, 0),
        }
    }

    /// Looks, if it is time. What keeps the program from ever going on, if that is sure; a deadlock of some threads while others go on
    /// is noted, and the program goes on.
    pub fn look(&mut self, agent: &Agent) -> Option<BlockedThreads> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + LOOK;
        let (used, since) = std::mem::replace(&mut self.used, (processor_time(), now));
        let busy = self.used.0.saturating_sub(used).as_nanos() * 100 > now.duration_since(since).as_nanos() * BUSY;
        if busy {
            self.seen = (0, 0);
            return None;
        }
        let same = if agent.baton.is_some() { SAME_FORCED } else { SAME };
        let sure = self.seen.1 + 1 >= same;
        let (mark, found) = attached(|env| inspect(agent, env, sure))?;
        match mark {
            Some(mark) if mark == self.seen.0 => self.seen.1 += 1,
            Some(mark) => self.seen = (mark, 1),
            None => {
                self.seen = (0, 0);
                self.next = now + SELDOM;
            }
        }
        if mark.is_some() {
            self.next = now + LOOK_CLOSELY;
        }
        if sure && self.seen.1 >= same {
            // A thread of the JVM may have run just then.
            if found.is_none() && self.seen.1 >= same + MORE {
                self.next = now + SELDOM;
            }
            return found;
        }
        None
    }
}

/// Notes where the threads of a forced run are that stands still.
pub fn note_hang(agent: &Agent) {
    let stuck = attached(|env| {
        let seen = threads(agent, env)?;
        deadlock(agent, env, &seen).or_else(|| standstill(agent, env, &seen))
    });
    if let Some(Some(failure)) = stuck {
        agent.failures.add(failure);
    }
}

/// Notes threads that block each other when the JVM ends. Other threads may still run, so a cycle must be there twice.
pub fn at_end(agent: &Agent, env: *mut JNIEnv) {
    let look = || threads(agent, env).and_then(|seen| deadlock(agent, env, &seen));
    if let Some(cycle) = look() {
        std::thread::sleep(AGAIN);
        if look().as_ref() == Some(&cycle) {
            agent.failures.add(cycle);
        }
    }
}

/// Processor time of this process.
pub fn processor_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure has room for the answer, and is all zeros if there is none.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn attached<T>(work: impl FnOnce(*mut JNIEnv) -> T) -> Option<T> {
    jvm::attached(vm(), work)
}

/// The JVM; null before it is up.
pub fn vm() -> *mut JavaVM {
    VM.load(Ordering::Acquire)
}

/// Whether the program has code that runs when the JVM ends.
pub fn runs_code_at_end(agent: &Agent) -> bool {
    attached(|env| has_hooks(agent, env)).unwrap_or(true)
}

/// A mark of what the waiting threads do, none if no two could be stuck; and with `closely`, what is wrong with them.
fn inspect(agent: &Agent, env: *mut JNIEnv, closely: bool) -> (Option<u64>, Option<BlockedThreads>) {
    let Some(seen) = threads(agent, env) else {
        return (None, None);
    };
    let runs = seen.iter().any(|thread| thread.doing == Doing::Runs);
    let waiting = seen.iter().filter(|thread| thread.doing == Doing::Waits);
    let mut hasher = DefaultHasher::new();
    let mut count = 0;
    for thread in waiting {
        let class = thread.class.as_ref().map(|awaited| (&awaited.class, awaited.by));
        (thread.state, thread.position, class).hash(&mut hasher);
        count += 1;
    }
    if count == 0 || runs && count < 2 {
        return (None, None);
    }
    let mark = Some(hasher.finish());
    if !closely {
        return (mark, None);
    }
    if let Some(cycle) = deadlock(agent, env, &seen) {
        if runs {
            agent.failures.add(cycle);
            return (mark, None);
        }
        return (mark, Some(BlockedThreads::Deadlock(cycle)));
    }
    if runs || Idle::others_are_ready() || Idle::has_children() || has_hooks(agent, env) {
        return (mark, None);
    }
    (mark, standstill(agent, env, &seen).map(BlockedThreads::Standstill))
}

/// The platform threads that live, with their states; none if there are too many.
pub fn live_threads(jvmti: Jvmti) -> Option<Vec<(jobject, jint)>> {
    let functions = jvmti.functions();
    let (list, state_of) = (functions.GetAllThreads?, functions.GetThreadState?);
    let (mut count, mut threads): (jint, *mut jobject) = (0, std::ptr::null_mut());
    // SAFETY: both have room for the answers; the list is freed below.
    if unsafe { list(jvmti.0, &raw mut count, &raw mut threads) } != jvmtiError::NONE || threads.is_null() {
        return None;
    }
    // SAFETY: JVMTI gave `count` references.
    let all = unsafe { std::slice::from_raw_parts(threads, count.max(0) as usize) }.to_vec();
    jvmti.free(threads);
    if all.len() > MOST {
        return None;
    }
    let state = |thread: jobject| {
        let mut state: jint = 0;
        // SAFETY: a live reference; `state` has room for the answer.
        let code = unsafe { state_of(jvmti.0, thread, &raw mut state) };
        (code == jvmtiError::NONE && state & JVMTI_THREAD_STATE_TERMINATED == 0).then_some(state)
    };
    let live = all.into_iter().filter_map(|thread| Some((thread, state(thread)?)));
    Some(live.collect())
}

/// The recorded threads that live; none if there are too many.
fn threads(agent: &Agent, env: *mut JNIEnv) -> Option<Vec<Seen>> {
    let mut seen = Vec::new();
    for (thread, state) in live_threads(agent.jvmti)? {
        let block = jvm::block_of(env, agent, thread);
        if block == 0 {
            continue;
        }
        let doing = Doing::of(state);
        // SAFETY: blocks are never freed; that of a thread that has just ended may be another one's by now, which changes the mark.
        let position = unsafe { &*(block as *const ThreadBlock) }.position();
        seen.push(Seen {
            thread,
            state,
            doing,
            position,
            class: None,
        });
    }
    note_classes(agent, env, &mut seen);
    let virtual_threads = agent.virtual_threads.all(env)?;
    seen.extend(
        virtual_threads
            .into_iter()
            .filter_map(|thread| virtual_thread(agent, env, thread)),
    );
    Some(seen)
}

/// A virtual thread, by what it says of itself; none if it has ended.
fn virtual_thread(agent: &Agent, env: *mut JNIEnv, thread: jobject) -> Option<Seen> {
    let block = jvm::block_of(env, agent, thread);
    let text = helper(env, c"state", c"(Ljava/lang/Thread;)Ljava/lang/String;", thread);
    let text = text.and_then(|text| jvm::text(env, text)).unwrap_or_default();
    let (doing, state) = match text.as_str() {
        "TERMINATED" => return None,
        "BLOCKED" => (Doing::Waits, JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER),
        "WAITING" => {
            let get = c"(Ljava/lang/Thread;)Ljava/lang/Object;";
            match helper(env, c"blocker", get, thread) {
                Some(_) => (Doing::Waits, JVMTI_THREAD_STATE_PARKED),
                None => (Doing::Waits, JVMTI_THREAD_STATE_IN_OBJECT_WAIT),
            }
        }
        "TIMED_WAITING" => (Doing::Dozes, JVMTI_THREAD_STATE_SLEEPING),
        _ => (Doing::Runs, 0),
    };
    if block == 0 {
        return None;
    }
    // SAFETY: blocks are never freed; that of a thread that has just ended may be another one's by now, which changes the mark.
    let position = unsafe { &*(block as *const ThreadBlock) }.position();
    Some(Seen {
        thread,
        state,
        doing,
        position,
        class: None,
    })
}

/// Notes which threads wait for classes that others initialise: the JVM calls them runnable.
fn note_classes(agent: &Agent, env: *mut JNIEnv, seen: &mut [Seen]) {
    let runs: Vec<bool> = seen.iter().map(|thread| thread.doing == Doing::Runs).collect();
    if !runs.contains(&true) {
        return;
    }
    let threads: Vec<jobject> = seen.iter().map(|thread| thread.thread).collect();
    let awaited = initialisers::awaited(agent, env, &threads, &|at| runs[at]);
    for (thread, class) in seen.iter_mut().zip(awaited) {
        if class.is_some() {
            (thread.doing, thread.class) = (Doing::Waits, class);
        }
    }
}

/// Threads that wait for each other's locks, if there are some. Nothing of it can change: no thread of the cycle gives up a lock.
fn deadlock(agent: &Agent, env: *mut JNIEnv, seen: &[Seen]) -> Option<Failure> {
    let wanted: Vec<Wanted> = seen.iter().map(|thread| wanted(agent, env, seen, thread)).collect();
    let next = |at: usize| match &wanted[at] {
        Wanted {
            kind: WaitKind::Monitor | WaitKind::Parked | WaitKind::Initialisation,
            holder: Some((_, Some(holder), _)),
            ..
        } if seen[at].doing == Doing::Waits => Some(*holder),
        _ => None,
    };
    for start in 0..seen.len() {
        let (mut cycle, mut at) = (vec![start], start);
        while let Some(holder) = next(at) {
            if holder == start && cycle.len() > 1 {
                let threads = cycle.iter().map(|&at| told(agent, env, &seen[at], &wanted[at]));
                return Some(Failure {
                    kind: FailureKind::Deadlock,
                    exception: String::new(),
                    threads: threads.collect(),
                });
            }
            if cycle.contains(&holder) {
                break;
            }
            cycle.push(holder);
            at = holder;
        }
    }
    None
}

/// The threads of the program that wait, if no thread is left that could wake one.
fn standstill(agent: &Agent, env: *mut JNIEnv, seen: &[Seen]) -> Option<Failure> {
    let mut stuck = Vec::new();
    for thread in seen {
        let wanted = wanted(agent, env, seen, thread);
        let told = told(agent, env, thread, &wanted);
        let origins = || told.stack.iter().map(|frame| Origin::of(Frame::parse(frame).class));
        let is_own = origins().any(|origin| origin == Origin::Application);
        match thread.doing {
            Doing::Runs => return None,
            Doing::Dozes if is_own && is_closing(&told) => stuck.push(told),
            Doing::Dozes if is_own || origins().any(|origin| origin == Origin::Framework) || is_timer(&told) => {
                return None;
            }
            Doing::Dozes => {}
            Doing::Waits if wanted.itself || is_unknown_join(&wanted, &told) => return None,
            Doing::Waits if is_own => stuck.push(told),
            Doing::Waits => {}
        }
    }
    (!stuck.is_empty()).then_some(Failure {
        kind: FailureKind::Standstill,
        exception: String::new(),
        threads: stuck,
    })
}

/// Whether a thread joins an unknown thread: it may wait for itself, on purpose.
fn is_unknown_join(wanted: &Wanted, told: &FailedThread) -> bool {
    wanted.target.is_empty()
        && told
            .stack
            .iter()
            .any(|frame| frame.starts_with("java.lang.Thread.join ("))
}

/// Whether a thread closes a pool: it waits for the tasks, a day at a time.
fn is_closing(thread: &FailedThread) -> bool {
    let closes = |frame: &String| {
        let name = Frame::parse(frame).name();
        name.starts_with("java.util.concurrent.") && name.ends_with(".close")
    };
    thread.stack.iter().any(closes)
}

/// Whether a thread of the JDK waits for the time of a task.
fn is_timer(thread: &FailedThread) -> bool {
    const TIMERS: [&str; 4] = ["TimerThread", "DelayedWorkQueue", "DelayQueue", "DelayScheduler"];
    let timer = |frame: &String| TIMERS.iter().any(|name| frame.contains(name));
    thread.stack.iter().any(timer)
}

fn told(agent: &Agent, env: *mut JNIEnv, seen: &Seen, wanted: &Wanted) -> FailedThread {
    let (holder, ended) = match &wanted.holder {
        Some((name, _, ended)) => (name.clone(), *ended),
        None => (String::new(), false),
    };
    let stack = helper(env, c"stack", c"(Ljava/lang/Thread;)Ljava/lang/String;", seen.thread);
    let stack = stack.and_then(|text| jvm::text(env, text)).unwrap_or_default();
    FailedThread {
        name: name_of(agent, env, seen.thread),
        wait: wanted.kind,
        target: wanted.target.clone(),
        holder,
        holder_ended: ended,
        stack: stack.lines().map(str::to_string).collect(),
    }
}

fn name_of(agent: &Agent, env: *mut JNIEnv, thread: jobject) -> String {
    let known = jvm::thread_info(agent.jvmti, env, thread);
    // Of a virtual thread JVMTI may know nothing; without a name it is called as in the trace.
    match known.map_or_else(|| owner_name(env, thread), |(name, _)| name) {
        name if name.is_empty() => "virtual".to_owned(),
        name => name,
    }
}

/// What a thread waits for, and who has it.
fn wanted(agent: &Agent, env: *mut JNIEnv, all: &[Seen], seen: &Seen) -> Wanted {
    let mut wanted = Wanted::default();
    if seen.doing == Doing::Runs {
        return wanted;
    }
    if let Some(AwaitedClass { class, by }) = &seen.class {
        wanted.kind = WaitKind::Initialisation;
        wanted.target = crate::natives::shown_name(class.clone());
        wanted.holder = Some((name_of(agent, env, all[*by].thread), Some(*by), false));
        return wanted;
    }
    let blocked = seen.state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER != 0;
    let monitor = blocked || seen.state & JVMTI_THREAD_STATE_IN_OBJECT_WAIT != 0;
    let object = if monitor {
        contended(agent, seen.thread)
    } else if seen.state & JVMTI_THREAD_STATE_PARKED != 0 {
        let get = c"(Ljava/lang/Thread;)Ljava/lang/Object;";
        helper(env, c"blocker", get, seen.thread)
    } else {
        None
    };
    wanted.kind = match (blocked, monitor) {
        (true, _) => WaitKind::Monitor,
        (false, true) => WaitKind::Notification,
        (false, false) => WaitKind::Parked,
    };
    let Some(object) = object else {
        if wanted.kind == WaitKind::Notification {
            by_management(agent, env, all, seen, &mut wanted);
        }
        return wanted;
    };
    // SAFETY: a live reference, and classes that every JVM has.
    let is_thread = unsafe {
        let class = ((**env).FindClass)(env, c"java/lang/Thread".as_ptr());
        !class.is_null() && ((**env).IsInstanceOf)(env, object, class) != 0
    };
    if is_thread && wanted.kind == WaitKind::Notification {
        wanted.kind = WaitKind::Join;
        wanted.target = name_of(agent, env, object);
        // SAFETY: two live references.
        wanted.itself = unsafe { ((**env).IsSameObject)(env, object, seen.thread) } != 0;
        return wanted;
    }
    // SAFETY: a live reference.
    let class = unsafe { ((**env).GetObjectClass)(env, object) };
    wanted.target = crate::natives::shown_name(jvm::class_name(agent.jvmti, env, class));
    let owner = match wanted.kind {
        WaitKind::Monitor => owner_of_monitor(agent, object),
        WaitKind::Parked => owner_of_synchronizer(env, object),
        WaitKind::None | WaitKind::Notification | WaitKind::Join | WaitKind::Initialisation => None,
    };
    wanted.holder = owner.map(|owner| {
        // SAFETY: two live references.
        let same = |seen: &Seen| unsafe { ((**env).IsSameObject)(env, seen.thread, owner) } != 0;
        let at = all.iter().position(same);
        let mut state: jint = 0;
        if let Some(state_of) = agent.jvmti.functions().GetThreadState {
            // SAFETY: a live reference; `state` has room for the answer.
            unsafe { state_of(agent.jvmti.0, owner, &raw mut state) };
        }
        let ended = at.is_none() && state & JVMTI_THREAD_STATE_TERMINATED != 0;
        (owner_name(env, owner), at, ended)
    });
    wanted
}

/// On what a thread waits, where JVMTI does not say so (JDK 21 and later): class and hash of the object, as `java.management` has them.
fn by_management(agent: &Agent, env: *mut JNIEnv, all: &[Seen], seen: &Seen, wanted: &mut Wanted) {
    let Some((class, hash)) = management::lock_info(env, seen.thread) else {
        return;
    };
    let hash_of = |thread: jobject| {
        let mut hash: jint = 0;
        let get = agent.jvmti.functions().GetObjectHashCode?;
        // SAFETY: a live reference; `hash` has room for the answer.
        (unsafe { get(agent.jvmti.0, thread, &raw mut hash) } == jvmtiError::NONE).then_some(hash)
    };
    match all.iter().find(|other| hash_of(other.thread) == Some(hash)) {
        Some(joined) => {
            wanted.kind = WaitKind::Join;
            wanted.target = name_of(agent, env, joined.thread);
            wanted.itself = std::ptr::eq(joined, seen);
        }
        None => wanted.target = class,
    }
}

/// A thread's name, also of one that has ended: JVMTI knows nothing about it.
fn owner_name(env: *mut JNIEnv, thread: jobject) -> String {
    // SAFETY: a live reference to a thread; every result is checked before use.
    unsafe {
        let class = ((**env).GetObjectClass)(env, thread);
        let method = ((**env).GetMethodID)(env, class, c"getName".as_ptr(), c"()Ljava/lang/String;".as_ptr());
        if method.is_null() {
            jvm::clear(env);
            return String::new();
        }
        let name = ((**env).CallObjectMethodA)(env, thread, method, std::ptr::null());
        jvm::text(env, name).unwrap_or_default()
    }
}

/// The object whose monitor a thread wants, or on which it waits.
fn contended(agent: &Agent, thread: jobject) -> Option<jobject> {
    let get = agent.jvmti.functions().GetCurrentContendedMonitor?;
    let mut object: jobject = std::ptr::null_mut();
    // SAFETY: a live reference; `object` has room for the answer.
    let code = unsafe { get(agent.jvmti.0, thread, &raw mut object) };
    (code == jvmtiError::NONE && !object.is_null()).then_some(object)
}

fn owner_of_monitor(agent: &Agent, object: jobject) -> Option<jobject> {
    let get = agent.jvmti.functions().GetObjectMonitorUsage?;
    let mut usage = std::mem::MaybeUninit::<jvmtiMonitorUsage>::zeroed();
    // SAFETY: a live reference; the structure has room for the answer, and is read only if there is one.
    let usage = unsafe {
        if get(agent.jvmti.0, object, usage.as_mut_ptr()) != jvmtiError::NONE {
            return None;
        }
        usage.assume_init()
    };
    agent.jvmti.free(usage.waiters);
    agent.jvmti.free(usage.notify_waiters);
    (!usage.owner.is_null()).then_some(usage.owner)
}

/// The thread that holds an explicit lock exclusively.
fn owner_of_synchronizer(env: *mut JNIEnv, object: jobject) -> Option<jobject> {
    let name = c"java/util/concurrent/locks/AbstractOwnableSynchronizer";
    // SAFETY: called on an attached thread; every result is checked before use.
    unsafe {
        let class: jclass = ((**env).FindClass)(env, name.as_ptr());
        if class.is_null() || ((**env).IsInstanceOf)(env, object, class) == 0 {
            jvm::clear(env);
            return None;
        }
        let field = ((**env).GetFieldID)(
            env,
            class,
            c"exclusiveOwnerThread".as_ptr(),
            c"Ljava/lang/Thread;".as_ptr(),
        );
        if field.is_null() {
            jvm::clear(env);
            return None;
        }
        let owner = ((**env).GetObjectField)(env, object, field);
        (!owner.is_null()).then_some(owner)
    }
}

/// Whether the program has code that runs when the JVM is asked to end: a thread may wait for that on purpose.
fn has_hooks(agent: &Agent, env: *mut JNIEnv) -> bool {
    // SAFETY: called on an attached thread; every result is checked before use.
    unsafe {
        let jni = &**env;
        let class: jclass = (jni.FindClass)(env, c"java/lang/ApplicationShutdownHooks".as_ptr());
        if class.is_null() {
            jvm::clear(env);
            return true;
        }
        let field = (jni.GetStaticFieldID)(env, class, c"hooks".as_ptr(), c"Ljava/util/IdentityHashMap;".as_ptr());
        if field.is_null() {
            jvm::clear(env);
            return true;
        }
        let hooks = (jni.GetStaticObjectField)(env, class, field);
        if hooks.is_null() {
            return false;
        }
        let list = helper(env, c"keys", c"(Ljava/util/Map;)[Ljava/lang/Object;", hooks);
        let Some(list) = list else { return true };
        (0..(jni.GetArrayLength)(env, list)).any(|at| {
            let hook = (jni.GetObjectArrayElement)(env, list, at);
            let class = (jni.GetObjectClass)(env, hook);
            let name = jvm::class_name(agent.jvmti, env, class);
            // A plain thread with a task of the program's own.
            !ravel_trace::origin::is_platform(&name) || name == "java.lang.Thread"
        })
    }
}

/// Calls a method of the helper class with one argument.
fn helper(env: *mut JNIEnv, name: &CStr, descriptor: &CStr, argument: jobject) -> Option<jobject> {
    // SAFETY: called on a thread of a live JVM; every result is checked before use.
    unsafe {
        let class = ((**env).FindClass)(env, c"java/lang/RavelFailures".as_ptr());
        if class.is_null() {
            jvm::clear(env);
            return None;
        }
        let method = ((**env).GetStaticMethodID)(env, class, name.as_ptr(), descriptor.as_ptr());
        if method.is_null() {
            jvm::clear(env);
            return None;
        }
        let argument = jvalue { l: argument };
        let result = ((**env).CallStaticObjectMethodA)(env, class, method, &raw const argument);
        if ((**env).ExceptionCheck)(env) != 0 {
            jvm::clear(env);
            return None;
        }
        (!result.is_null()).then_some(result)
    }
}
