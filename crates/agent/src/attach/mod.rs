//! Recording a JVM that was running before Ravel came.
//!
//! Loaded classes get their hooks by retransformation, and lose them again at the end. Such a class cannot get fields, so tables stand in for the
//! fields of threads and objects (`substitute`, `threads`, `RavelAttached.java`). Everything else is the recorder that a JVM has from its start on.
//!
//! # Why a race that is observed is a race
//!
//! The trace has accesses from the beginning of the recording on. Whatever came before orders none of them, so it need not be known. What
//! must not be missed is an order between two recorded accesses. It is made of steps: one thread tells (gives up a lock, writes a volatile field, ends), another
//! one hears. A step is missed only in code without hooks: in a method that a thread is in since before the recording
//! (`stacks`), and what follows from that:
//!
//! - *A lock that is held when the recording begins* and is given up by code with hooks: the trace has its release, and not its acquisition. Readers of
//!   a trace drop such a release, so each release is also a send into a channel of the lock, and each acquisition a receive from it.
//! - *Code that was entered before calls a method of the JDK* with hooks: its own frames are missing from the shadow stack, so such a call counts as the
//!   program's in every thread that had code of the program on its stack when it was first recorded.
//! - *A thread that waits* in a method of the JDK since before (in `take` of a queue, in `lock`, in `await`): it does nothing until it comes back. It
//!   is recorded from its first hook after that on, and then comes after everything that was recorded before. What it has
//!   heard in that method is among it. A thread whose start was not seen begins in the same way.
//! - *A thread in older code that orders threads* (a loop with a lock around its body, a method that is synchronized): it may hear and tell at any
//!   time between the methods that it calls. These methods have hooks. In such a thread the outermost method with hooks comes
//!   after everything before its first recorded access, and tells all others when it ends. As long as there is such a thread, every step in which any thread hears
//!   something makes it hear from all others (the mode of the recording is *unseen*). So what the thread hears
//!   between two calls was told before the next call hears, and what it tells was told by the end of the last call, and is heard by whoever hears the thread.
//! - *A chain through it*: A tells it, it tells B, all in older code. A's step is in the trace and so is B's, since theirs is code with hooks, and
//!   in this mode B hears what A has told.
//! - *An interrupt* that older code catches: when it comes, the stack of the thread is looked at, and the thread counts as one of these.
//! - *Virtual threads* that were there before cannot be listed, and *classes that the JVM will not change* keep their code: then the mode
//!   stays until the end.
//!
//! The mode is left as soon as all such code has been left: each thread then hears from all others once more. It costs races, never truth: two accesses are then a race
//! only if neither thread has told anything between its access and the other thread's last hearing before its own. Not covered is what a recording from the
//! start on does not see either (`ARCHITECTURE.md`), and a class initialiser that runs when the recording begins and hands over
//! something that it was handed.
//!
//! Schedules need the program from its start, so nothing is forced and nothing is predicted: which locks protect an access may be unknown.

mod classes;
mod natives;
mod stacks;
mod substitute;
mod threads;

use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jboolean, jclass, jint, jlong, jobject, jthread};
use jvmti_bindings::sys::jvmti::{
    JVMTI_DISABLE, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_THREAD_START,
    JVMTI_EVENT_VM_DEATH, jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEventCallbacks,
};
use ravel_protocol::attach::{AttachNote, file};
use ravel_protocol::line;
use ravel_trace::ids::ThreadId;
use ravel_trace::raw::ORDER_OBJECT;

use crate::agent::{Agent, agent, append};
use crate::guard::{guard, guarded};
use crate::helper;
use crate::jvm::{self, Jvmti};
use crate::options::Options;
use crate::recorder::address;
use crate::supported;
use crate::thread_block::ThreadBlock;
use stacks::{Look, Stacks};
use threads::{Mode, ThreadTable};

pub use threads::THREAD_BITS;

/// The channel that everything that orders threads is told into.
pub const ALL: u64 = ORDER_OBJECT + (1 << 32) + (1 << 31);
/// Channels of the locks that readers give up: the first.
pub const READERS: u64 = ORDER_OBJECT + (1 << 32) + (1 << 29);

/// How often the global counter moves.
const TICK: Duration = Duration::from_millis(1);
/// How often the agent looks whether it is to end, and at threads in older code.
const LOOK: Duration = Duration::from_millis(40);
/// How long the JVM may take to know the agent's native methods, which it does once it has loaded the agent.
const LINKING: Duration = Duration::from_secs(20);
/// The oldest release that can be recorded like this.
const OLDEST: u32 = 17;

/// Threads of the JVM itself that run code of the program now and then, and are not recorded from the start on either.
const OF_JVM: [&str; 9] = [
    "Reference Handler",
    "Finalizer",
    "Signal Dispatcher",
    "Attach Listener",
    "Service Thread",
    "Monitor Deflation Thread",
    "Notification Thread",
    "Common-Cleaner",
    "process reaper",
];

/// What is different in such a JVM.
pub struct Attached {
    pub(crate) stacks: Stacks,
    threads: ThreadTable,
    mode: Mode,
    generation: u32,
    /// Where the agent and the command line talk.
    folder: PathBuf,
    unseen: Mutex<Unseen>,
    over: AtomicBool,
}

/// Threads that may order others unseen.
#[derive(Default)]
struct Unseen {
    /// Whether all threads have been looked at.
    looked: bool,
    /// It is so until the end, for these reasons.
    lasting: Vec<String>,
    older: Vec<Older>,
    /// Places of threads that were interrupted in older code, and not recorded yet.
    interrupted: Vec<usize>,
}

/// A thread in older code.
struct Older {
    thread: GlobalReference,
    place: Option<usize>,
    /// The frame, from the bottom of the stack, and its method.
    frame: usize,
    method: usize,
}

struct GlobalReference(jobject);

// SAFETY: global references may be used by any thread.
unsafe impl Send for GlobalReference {}

struct VmPointer(*mut JavaVM);

// SAFETY: the invocation interface may be used by any thread.
unsafe impl Send for VmPointer {}

/// Called by the JVM when a command asks it to load the agent. Says in the folder why it cannot be, if so.
pub fn on_attach(vm: *mut JavaVM, text: &str) -> Result<(), String> {
    let folder = text
        .split(',')
        .find_map(|option| option.strip_prefix("attach="))
        .map(PathBuf::from)
        .ok_or("this agent is loaded by `ravel attach`")?;
    let begun = start(vm, folder.clone());
    if let Err(why) = &begun {
        say(&folder, &AttachNote::Refused { why: why.clone() });
    }
    Ok(())
}

fn say(folder: &std::path::Path, note: &AttachNote) {
    // The command line may be gone, and the folder with it: then the note has no reader.
    let _ = line::encode(note).map(|line| append(&folder.join(file::NOTES), &line));
}

fn start(vm: *mut JavaVM, folder: PathBuf) -> Result<(), String> {
    if agent().is_some() {
        return Err("this JVM is recorded already".into());
    }
    let text = std::fs::read_to_string(folder.join(file::OPTIONS)).map_err(|error| error.to_string())?;
    let mut options = Options::parse(text.trim_end())?;
    // The word of an object says who has it; here nothing does for what orders threads.
    options.keep_unshared = true;
    options.keep_repeats = false;
    options.attach = Some(folder.clone());
    let begun = Instant::now();
    let jvmti = loop {
        match Jvmti::of(vm) {
            Ok(jvmti) => break jvmti,
            // A JVM that has just begun listens before it is there.
            Err(_) if begun.elapsed() < LINKING => std::thread::sleep(LOOK),
            Err(error) => return Err(error),
        }
    };
    supported::check(jvmti)?;
    let release = jvm::property(jvmti, c"java.vm.specification.version");
    let number: u32 = release.trim_start_matches("1.").parse().unwrap_or(0);
    if number < OLDEST {
        return Err(format!(
            "a running JVM can be recorded from Java {OLDEST} on, and this is Java {release}; start it with `ravel record`"
        ));
    }
    ask_for_capabilities(jvmti)?;
    let env = environment(vm).ok_or("the JVM did not give the agent an environment")?;
    let generation = claim(env)?;
    let attached = Attached {
        stacks: Stacks::new(jvmti, generation),
        threads: ThreadTable::new(env)?,
        mode: Mode::new()?,
        generation,
        folder,
        unseen: Mutex::default(),
        over: AtomicBool::new(false),
    };
    let agent = Agent::attach(jvmti, options, attached);
    let started = agent.and_then(|agent| {
        let vm = VmPointer(vm);
        std::thread::Builder::new()
            .name("ravel-attach".into())
            .spawn(move || {
                let vm = vm;
                guard(|| {
                    let _ = jvm::attached(vm.0, |env| live(agent, env));
                });
            })
            .map_err(|error| format!("cannot start a thread: {error}"))
    });
    if started.is_err() {
        give_back(env);
    }
    started.map(drop)
}

/// The environment of the calling thread, which is one of the JVM.
fn environment(vm: *mut JavaVM) -> Option<*mut JNIEnv> {
    const JNI_VERSION_1_8: jint = 0x0001_0008;
    let mut env: *mut JNIEnv = std::ptr::null_mut();
    // SAFETY: the JVM is alive; there is room for the answer.
    let code = unsafe { ((**vm).GetEnv)(vm, (&raw mut env).cast(), JNI_VERSION_1_8) };
    (code == 0 && !env.is_null()).then_some(env)
}

fn ask_for_capabilities(jvmti: Jvmti) -> Result<(), String> {
    let mut wanted = jvmtiCapabilities::default();
    wanted.set_can_generate_all_class_hook_events(true);
    wanted.set_can_retransform_classes(true);
    let add = jvmti
        .functions()
        .AddCapabilities
        .ok_or("this JVM's JVMTI lacks functions")?;
    // SAFETY: the structure lives through the call.
    match unsafe { add(jvmti.0, &raw const wanted) } {
        jvmtiError::NONE => Ok(()),
        code => Err(format!(
            "this JVM does not let an agent change loaded classes: {code:?}"
        )),
    }
}

/// The class that knows of all recordings of this JVM.
const BASE: &CStr = c"java/lang/Ravel";

fn find_class(env: *mut JNIEnv, name: &CStr) -> Option<jclass> {
    // SAFETY: a thread of the JVM with its own environment.
    let class = unsafe { ((**env).FindClass)(env, name.as_ptr()) };
    jvm::clear(env);
    (!class.is_null()).then_some(class)
}

/// Takes the JVM for this recording; gives the number of the recording. The JVM loads one agent after the other.
fn claim(env: *mut JNIEnv) -> Result<u32, String> {
    if find_class(env, c"java/lang/RavelDirector").is_some() {
        return Err("Ravel forces this run already".into());
    }
    let base = match find_class(env, BASE) {
        Some(base) => base,
        None => {
            define(env, &helper::CLASSES[0], 1)?;
            let base = find_class(env, BASE).ok_or("the JVM does not take the helper classes")?;
            set_claim(env, base, 1, true);
            return Ok(1);
        }
    };
    // SAFETY: the fields are looked for before they are read; the class is a live reference.
    let (generation, busy) = unsafe {
        let generation = ((**env).GetStaticFieldID)(env, base, c"generation".as_ptr(), c"I".as_ptr());
        let busy = ((**env).GetStaticFieldID)(env, base, c"busy".as_ptr(), c"Z".as_ptr());
        jvm::clear(env);
        if generation.is_null() || busy.is_null() {
            return Err("another version of Ravel has been in this JVM".into());
        }
        (
            ((**env).GetStaticIntField)(env, base, generation),
            ((**env).GetStaticBooleanField)(env, base, busy) != 0,
        )
    };
    let generation = u32::try_from(generation).unwrap_or(0);
    match generation {
        0 => Err("this JVM was started by Ravel, which records it".into()),
        _ if busy => Err("another `ravel attach` records this JVM; wait until it has ended".into()),
        _ if generation >= substitute::LAST_GENERATION => Err(format!(
            "this JVM has been recorded {generation} times, which is as often as is possible"
        )),
        _ => {
            set_claim(env, base, generation + 1, true);
            Ok(generation + 1)
        }
    }
}

fn set_claim(env: *mut JNIEnv, base: jclass, generation: u32, busy: bool) {
    // SAFETY: as in `claim`.
    unsafe {
        let field = ((**env).GetStaticFieldID)(env, base, c"generation".as_ptr(), c"I".as_ptr());
        if !field.is_null() && generation > 0 {
            ((**env).SetStaticIntField)(env, base, field, generation as jint);
        }
        let field = ((**env).GetStaticFieldID)(env, base, c"busy".as_ptr(), c"Z".as_ptr());
        if !field.is_null() {
            ((**env).SetStaticBooleanField)(env, base, field, jboolean::from(busy));
        }
    }
    jvm::clear(env);
}

/// Lets another recording of this JVM begin.
fn give_back(env: *mut JNIEnv) {
    if let Some(base) = find_class(env, BASE) {
        set_claim(env, base, 0, false);
    }
}

fn define(env: *mut JNIEnv, (name, bytes): &(&CStr, &[u8]), generation: u32) -> Result<(), String> {
    let name = name.to_string_lossy();
    let bytes = substitute::helper(&name, bytes, generation).map_err(|error| format!("{name}: {error}"))?;
    let new = CString::new(substitute::name_in(&name, generation)).map_err(|error| error.to_string())?;
    match jvm::define_class(env, &new, &bytes) {
        true => Ok(()),
        false => Err(format!("the JVM does not take {name}")),
    }
}

/// From the first change of the JVM to the last.
fn live(agent: &'static Agent, env: *mut JNIEnv) {
    let Some(attached) = &agent.attached else { return };
    if let Err(why) = attached.prepare(agent, env) {
        attached.over.store(true, Ordering::SeqCst);
        agent.finish(None);
        classes::restore(agent, env);
        let _ = listen(agent.jvmti, JVMTI_DISABLE);
        give_back(env);
        say(&attached.folder, &AttachNote::Refused { why });
        return;
    }
    attached.record(agent, env);
    attached.end(agent, env);
}

impl Attached {
    /// The addresses of the tables that belong here.
    pub fn address(&self, which: i32) -> Option<i64> {
        match which {
            address::THREADS => Some(self.threads.address()),
            address::MODE => Some(self.mode.address()),
            _ => None,
        }
    }

    /// The address of a thread's block, 0 if it has none.
    pub fn block_of(&self, env: *mut JNIEnv, thread: jobject) -> jlong {
        let place = self.threads.place(env, thread);
        let block = place.and_then(|place| self.threads.block(place));
        block.map_or(0, |block| std::ptr::from_ref(block) as jlong)
    }

    /// Gives a thread its block.
    pub fn set_block(&self, env: *mut JNIEnv, thread: jobject, block: &'static ThreadBlock) {
        match self.threads.place(env, thread) {
            Some(place) if self.mode.is_on() => self.threads.set(place, block),
            _ => {}
        }
    }

    /// A thread has run its last.
    pub fn take_block(&self, env: *mut JNIEnv, thread: jobject) {
        if let Some(place) = self.threads.place(env, thread) {
            self.threads.end(place);
        }
    }

    fn unseen(&self) -> std::sync::MutexGuard<'_, Unseen> {
        self.unseen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Threads may order each other unseen until the end.
    fn lasts(&self, why: String) {
        let mut unseen = self.unseen();
        if !unseen.lasting.contains(&why) {
            unseen.lasting.push(why);
        }
        self.mode.set_unseen(true);
    }

    /// Defines the helper classes and gives the loaded classes their hooks.
    fn prepare(&self, agent: &'static Agent, env: *mut JNIEnv) -> Result<(), String> {
        for class in helper::CLASSES.iter().skip(usize::from(self.generation == 1)) {
            define(env, class, self.generation)?;
        }
        define(env, &helper::ATTACHED, self.generation)?;
        let own = CString::new(substitute::name_in("java/lang/Ravel", self.generation)).map_err(|e| e.to_string())?;
        self.link(env, &own)?;
        if !jvm::prepare(env, &own) {
            return Err("the helper classes do not work in this JVM".into());
        }
        listen(agent.jvmti, JVMTI_ENABLE)?;
        classes::declare(agent, env)?;
        let changed = classes::change(agent, env)?;
        let failed = agent.instrumenter.counts().failed;
        let mut refused: Vec<String> = changed.refused;
        refused.extend(failed.keys().cloned());
        refused.sort();
        refused.dedup();
        if let Some(class) = refused.first() {
            self.lasts(format!("{} classes could not be changed, as {class}", refused.len()));
        }
        if classes::runs_virtual_threads(agent, env) {
            self.lasts("there may be virtual threads, whose stacks cannot be seen".to_string());
        }
        self.mode.begin();
        say(
            &self.folder,
            &AttachNote::Recording {
                changed: changed.changed,
                refused,
                unseen: self.unseen().lasting.clone(),
            },
        );
        Ok(())
    }

    /// The JVM finds the native methods of the first recording by their names, once it has loaded the agent. Later ones are given theirs by the first.
    fn link(&self, env: *mut JNIEnv, own: &CStr) -> Result<(), String> {
        let class = find_class(env, own).ok_or("the JVM does not take the helper classes")?;
        if self.generation > 1 {
            let base = find_class(env, BASE).ok_or("the JVM has lost the helper classes")?;
            return natives::adopt(env, base, class);
        }
        let begun = Instant::now();
        while !natives::is_linked(env, class) {
            if begun.elapsed() > LINKING {
                return Err("the JVM does not find the agent's native methods".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Waits until the recording is to end.
    fn record(&self, agent: &'static Agent, env: *mut JNIEnv) {
        self.look_at_all(agent, env);
        let alive = File::open(self.folder.join(file::ALIVE)).ok();
        let limit = agent.recorder.options.max_time;
        let begun = Instant::now();
        let mut looked = Instant::now();
        while !agent.is_finished() {
            std::thread::sleep(TICK);
            agent.recorder.tick();
            agent.recorder.check_limits();
            if looked.elapsed() < LOOK {
                continue;
            }
            looked = Instant::now();
            let is_late = limit.is_some_and(|limit| begun.elapsed() >= limit);
            if is_late || agent.recorder.is_over() || self.is_stopped(alive.as_ref()) {
                return;
            }
            self.look_again(env);
        }
    }

    /// Whether the command line asks for the end, or has gone.
    fn is_stopped(&self, alive: Option<&File>) -> bool {
        let Some(alive) = alive else { return true };
        // SAFETY: the file is open; the call does not wait.
        let gone = unsafe { libc::flock(alive.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } == 0;
        gone || self.folder.join(file::STOP).exists() || !self.folder.exists()
    }

    /// Looks at all threads at one moment: those in older code, and those that have not come to a hook.
    fn look_at_all(&self, agent: &Agent, env: *mut JNIEnv) {
        let Some(all) = agent.attached.as_ref().and_then(|attached| attached.stacks.all(env)) else {
            self.lasts("the JVM does not show the stacks of its threads".to_string());
            return;
        };
        let mut unseen = self.unseen();
        for (thread, look) in all {
            let place = self.threads.place(env, thread);
            let known = place.and_then(|place| self.threads.block(place));
            let is_clear = known.is_some_and(|block| block.unseen.load(Ordering::SeqCst) == 0)
                || place.is_some_and(|place| self.threads.is_left_out(place))
                || jvm::thread_info(agent.jvmti, env, thread).is_none_or(|(name, _)| is_of_jvm(&name));
            if let (false, Look::Unseen { place: frame, method }) = (is_clear, look) {
                // SAFETY: a live reference; the new one is deleted when the thread leaves the list.
                let thread = unsafe { ((**env).NewGlobalRef)(env, thread) };
                unseen.older.push(Older {
                    thread: GlobalReference(thread),
                    place,
                    frame,
                    method,
                });
            }
            // SAFETY: the local reference of the answer is ours to delete.
            unsafe { ((**env).DeleteLocalRef)(env, thread) };
        }
        unseen.looked = true;
        if unseen.older.is_empty() && unseen.lasting.is_empty() {
            self.mode.set_unseen(false);
        }
    }

    /// Forgets threads that have left the older code that they were in.
    fn look_again(&self, env: *mut JNIEnv) {
        let mut unseen = self.unseen();
        if unseen.older.is_empty() {
            return;
        }
        let stays = |older: &Older| self.stacks.stays(older.thread.0, older.frame, older.method);
        let (stay, gone): (Vec<Older>, Vec<Older>) = std::mem::take(&mut unseen.older).into_iter().partition(stays);
        unseen.older = stay;
        for older in gone {
            if let Some(block) = older.place.and_then(|place| self.threads.block(place)) {
                block.unseen.store(0, Ordering::SeqCst);
            }
            // SAFETY: made by `look_at_all`, and used no more.
            unsafe { ((**env).DeleteGlobalRef)(env, older.thread.0) };
        }
        if unseen.older.is_empty() && unseen.lasting.is_empty() {
            self.mode.set_unseen(false);
        }
    }

    /// A thread comes to a hook and is not recorded yet: its block, 0 if it is too early, 1 if it never will be.
    fn admit(&self, agent: &'static Agent, env: *mut JNIEnv, thread: jobject) -> jlong {
        let Some(place) = self.threads.place(env, thread) else {
            return 1;
        };
        if !self.mode.is_on() {
            return 0;
        }
        let Some((name, _)) = jvm::thread_info(agent.jvmti, env, thread) else {
            return 1;
        };
        if is_of_jvm(&name) {
            return 1;
        }
        let (look, older) = self.stacks.own(env);
        if look == Look::Waits {
            return 0;
        }
        let is_unseen = {
            let mut unseen = self.unseen();
            let interrupted = unseen.interrupted.iter().position(|other| *other == place);
            if let Some(interrupted) = interrupted {
                unseen.interrupted.swap_remove(interrupted);
            }
            let listed = !unseen.looked || unseen.older.iter().any(|older| older.place == Some(place));
            let is_unseen = look != Look::Clear;
            if is_unseen && !listed {
                drop(unseen);
                self.lasts(format!(
                    "thread {name} came from older code that was not seen at the beginning"
                ));
            }
            is_unseen || interrupted.is_some()
        };
        let first = agent.recorder.thread_count() == 0;
        let parent = (!first).then_some(ThreadId(0));
        let spawned = u32::try_from(agent.recorder.thread_count()).unwrap_or(u32::MAX);
        let block = agent.recorder.new_thread(parent, spawned);
        block.unseen.store(u32::from(is_unseen), Ordering::SeqCst);
        block.older.set(u32::from(older));
        self.threads.set(place, block);
        agent.thread_began(env, thread, false);
        std::ptr::from_ref(block) as jlong
    }

    /// A thread is about to be interrupted: if it catches that in older code, what it hears is not seen.
    fn interrupted(&self, env: *mut JNIEnv, thread: jobject) {
        if !self.stacks.misses_interrupt(env, thread) {
            return;
        }
        if let Some(place) = self.threads.place(env, thread) {
            match self.threads.block(place) {
                Some(block) => block.unseen.store(1, Ordering::SeqCst),
                None => self.unseen().interrupted.push(place),
            }
        }
        self.lasts("a thread was interrupted in code that it was in before".to_string());
    }

    /// Closes the trace and takes the hooks out.
    fn end(&self, agent: &'static Agent, env: *mut JNIEnv) {
        self.mode.end();
        self.over.store(true, Ordering::SeqCst);
        self.threads.clear();
        let threads = agent.recorder.thread_count() as u64;
        let millis = u64::try_from(agent.recorder.elapsed().as_millis()).unwrap_or(u64::MAX);
        agent.finish(None);
        let kept = classes::restore(agent, env);
        let _ = listen(agent.jvmti, JVMTI_DISABLE);
        let mut unseen = self.unseen();
        let mut stayed = Vec::new();
        for older in std::mem::take(&mut unseen.older) {
            let name = jvm::thread_info(agent.jvmti, env, older.thread.0).map(|(name, _)| name);
            if let Some(name) = name {
                stayed.push((name, self.stacks.method_name(env, older.method)));
            }
            // SAFETY: made by `look_at_all`, and used no more.
            unsafe { ((**env).DeleteGlobalRef)(env, older.thread.0) };
        }
        let lasting = !unseen.lasting.is_empty();
        drop(unseen);
        let own = CString::new(substitute::name_in("java/lang/RavelAttached", self.generation)).ok();
        if let Some(class) = own.and_then(|own| find_class(env, &own)) {
            natives::call(env, class, c"forget");
        }
        give_back(env);
        say(
            &self.folder,
            &AttachNote::Detached {
                kept,
                unseen: lasting || !stayed.is_empty(),
                stayed,
                threads,
                millis,
            },
        );
    }
}

/// Whether a thread is the JVM's or the agent's own.
fn is_of_jvm(name: &str) -> bool {
    OF_JVM.contains(&name) || jvm::is_watch(name) || name.starts_with("C1 Compiler") || name.starts_with("C2 Compiler")
}

/// Switches the events of a recording on or off.
fn listen(jvmti: Jvmti, mode: u32) -> Result<(), String> {
    let functions = jvmti.functions();
    let (Some(set), Some(switch)) = (functions.SetEventCallbacks, functions.SetEventNotificationMode) else {
        return Err("this JVM's JVMTI lacks functions".into());
    };
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.ClassFileLoadHook = Some(on_class);
    callbacks.ThreadStart = Some(on_thread_start);
    callbacks.ThreadEnd = Some(on_thread_end);
    callbacks.VMDeath = Some(on_vm_death);
    // SAFETY: the structure lives through the call, and has the size that is passed.
    let code = unsafe { set(jvmti.0, &raw const callbacks, size_of::<jvmtiEventCallbacks>() as jint) };
    if code != jvmtiError::NONE {
        return Err(format!("this JVM refuses callbacks: {code:?}"));
    }
    for event in [
        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        JVMTI_EVENT_THREAD_START,
        JVMTI_EVENT_THREAD_END,
        JVMTI_EVENT_VM_DEATH,
    ] {
        // SAFETY: asks for an event of all threads; no memory is involved.
        let code = unsafe { switch(jvmti.0, mode, event, std::ptr::null_mut()) };
        if code != jvmtiError::NONE {
            return Err(format!("this JVM refuses events: {code:?}"));
        }
    }
    Ok(())
}

unsafe extern "system" fn on_thread_start(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread) {
    guard(|| {
        if let Some(agent) = agent() {
            agent.thread_began(env, thread, false);
        }
    });
}

unsafe extern "system" fn on_thread_end(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread) {
    guard(|| {
        if let Some(agent) = agent() {
            agent.thread_ended(env, thread);
        }
    });
}

/// The JVM ends while it is recorded: the trace is closed, and classes need not be changed back.
unsafe extern "system" fn on_vm_death(_: *mut jvmtiEnv, _: *mut JNIEnv) {
    guard(|| {
        if let Some(agent) = agent() {
            agent.finish(None);
        }
    });
}

unsafe extern "system" fn on_class(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    _redefined: jclass,
    _loader: jobject,
    name: *const c_char,
    _domain: jobject,
    length: jint,
    bytes: *const u8,
    new_length: *mut jint,
    new_bytes: *mut *mut u8,
) {
    let Some((agent, attached)) = agent().and_then(|agent| Some((agent, agent.attached.as_ref()?))) else {
        return;
    };
    if name.is_null() || attached.over.load(Ordering::SeqCst) {
        return;
    }
    // SAFETY: the JVM gives a NUL-terminated name and `length` bytes, valid during the call.
    let (name, bytes) = unsafe { (CStr::from_ptr(name), std::slice::from_raw_parts(bytes, length as usize)) };
    let Ok(name) = name.to_str() else { return };
    let Some(new) = guarded(|| None, || classes::with_hooks(agent, attached, name, bytes)) else {
        return;
    };
    if let Some(memory) = agent.jvmti.copy(&new) {
        // SAFETY: the JVM gives room for both answers and frees the memory.
        unsafe {
            *new_length = new.len() as jint;
            *new_bytes = memory;
        }
    }
}
