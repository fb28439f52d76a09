//! The life cycle of the agent: loading, the callbacks for classes and threads, and the end.

use std::ffi::{CStr, c_char, c_uchar};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jboolean, jclass, jfieldID, jint, jlong, jobject, jthread};
use jvmti_bindings::sys::jvmti::{
    JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_THREAD_END, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_START,
    jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEventCallbacks,
};
use ravel_protocol::{EndedBy, JvmName, Status, Watch, line};
use ravel_trace::ids::ThreadId;
use ravel_trace::raw::RawKind;
use ravel_trace::run_info::{EndReason, Footer, Header};

use crate::attach::Attached;
use crate::baton::Baton;
use crate::chance::Chance;
use crate::failures::Failures;
use crate::filter::Filter;
use crate::focus::Focus;
use crate::guard::{guard, guarded, say};
use crate::helper;
use crate::idle_pools::{IdlePools, IdleWorkers};
use crate::instrument::{Instrumenter, Redirects, quiet};
use crate::jvm::{self, Jvmti};
use crate::main_class::{command_line, main_and_arguments, main_class};
use crate::options::Options;
use crate::recorder::Recorder;
use crate::registry::Registry;
use crate::roll;
use crate::search::Search;
use crate::standstill::{self, Watcher};
use crate::supported;
use crate::thread_block::ThreadBlock;
use crate::told_tests::{Moment, ToldTests};
use crate::virtual_threads::VirtualThreads;

/// The fields of `java.lang.Thread` that hold the address of a thread's block, and its number and one.
#[derive(Clone, Copy)]
pub struct BlockField {
    pub(crate) block: jfieldID,
    pub(crate) number: jfieldID,
}

// SAFETY: field ids may be used by any thread.
unsafe impl Send for BlockField {}
// SAFETY: as above.
unsafe impl Sync for BlockField {}

/// Everything the agent has, for as long as the JVM lives.
pub struct Agent {
    pub(crate) jvmti: Jvmti,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) instrumenter: Instrumenter,
    pub(crate) block_field: OnceLock<BlockField>,
    pub(crate) baton: Option<Baton>,
    pub(crate) search: Option<Search>,
    pub(crate) chance: Option<Chance>,
    pub(crate) failures: Failures,
    pub(crate) tests: ToldTests,
    /// Virtual threads that have begun and not ended.
    pub(crate) virtual_threads: VirtualThreads,
    /// What is different in a JVM that was running before.
    pub(crate) attached: Option<Attached>,
    finished: AtomicBool,
    /// Whether an exception ended the thread that the launcher started.
    main_died: AtomicBool,
    /// Whether that thread has ended.
    main_ended: AtomicBool,
}

/// The footer's count of the milliseconds that the program ran.
pub const ELAPSED: &str = "milliseconds";

/// Begins the footer's counts of classes that the focus plan was not made for; the class follows.
pub const UNFOCUSED: &str = "not as in the focus plan: ";

/// How long a forced run that records only some fields goes on recording after its last turn.
const AFTERMATH: Duration = Duration::from_millis(500);
/// How long a forced run may go on after its turns, besides five times what the recorded run took.
const LONGEST_REST: Duration = Duration::from_secs(8);
/// The same of one in which a thread has died, besides twice what the recorded run took.
const LONGEST_REST_OF_FAILED: Duration = Duration::from_secs(2);
/// How long nothing but idle workers of pools is left of a recorded program until it counts as over.
const IDLE: Duration = Duration::from_secs(3);
/// The same of a forced run whose turns are over.
const IDLE_FORCED: Duration = Duration::from_millis(100);
/// How often the global counter moves without synchronisation. Waking a thread five times as often costs a fiftieth of a core.
const TICK: Duration = Duration::from_millis(1);

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The agent, once it is loaded.
pub fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

impl Agent {
    /// Starts the agent in a JVM that is being created.
    pub fn load(vm: *mut JavaVM, jvmti: Jvmti, options: Options) -> Result<(), String> {
        let signed = options.roll.as_deref().map(roll::sign).transpose()?;
        let only = options.only.as_deref().map(str::parse::<JvmName>).transpose()?;
        if only.is_some() && only != signed {
            // Another JVM of the same command: it runs as if Ravel were not there.
            return Ok(());
        }
        supported::check(jvmti)?;
        if options.tied {
            // Nothing is left behind when Ravel itself is killed.
            // SAFETY: sets a flag of this process; no memory is involved.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        }
        if options.goals.is_some() {
            return crate::directed::load(vm, jvmti, &options);
        }
        let mut header = header(jvmti, &options);
        header
            .options
            .extend(signed.map(|signed| ("jvm".to_string(), signed.to_string())));
        let main = command_line().ok().and_then(|words| main_class(&words));
        let filter = Filter::new(&options).of_program(main.as_deref());
        let focus = match &options.focus {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
                let focus = Focus::decode(&text, path).map_err(|error| error.to_string())?;
                // A forced run must leave out the same, whatever has become of the plan by then.
                header.options.push(("focus".into(), text));
                Some(focus)
            }
            None => None,
        };
        let forcing = options.is_forced();
        let baton = options.schedule.as_deref().map(Baton::read).transpose()?;
        let search = options.search.as_deref().map(Search::read).transpose()?;
        let redirects = Redirects {
            seed: options.seed.is_some(),
            clock: options.clock.is_some(),
            exit: forcing,
            search: search.is_some(),
        };
        let chance = (redirects.seed || redirects.clock).then(|| Chance::new(options.seed, options.clock));
        let watched: Option<Watch> = options
            .watch
            .as_deref()
            .map(line::read_one)
            .transpose()
            .map_err(|error| error.to_string())?;
        let recorder = Arc::new(Recorder::start(
            options,
            &header,
            focus.as_ref().is_some_and(Focus::is_for_races),
        )?);
        let mut registry = Registry::new(Arc::clone(&recorder));
        let inside = search.as_ref().is_some_and(Search::is_inside);
        if let Some(search) = &search {
            registry = registry.quiet(search.quiet());
        }
        if let Some(list) = watched {
            registry = registry.watch(list);
        }
        let mut instrumenter = Instrumenter::new(filter, focus, registry, forcing, redirects);
        if inside {
            instrumenter = instrumenter.keep();
        }
        let controlled = search.is_some();
        let agent = Agent {
            jvmti,
            recorder,
            instrumenter,
            block_field: OnceLock::new(),
            baton,
            search,
            chance,
            failures: Failures::default(),
            tests: ToldTests::default(),
            virtual_threads: VirtualThreads::default(),
            attached: None,
            finished: AtomicBool::new(false),
            main_died: AtomicBool::new(false),
            main_ended: AtomicBool::new(false),
        };
        AGENT.set(agent).map_err(|_| "the agent is loaded twice".to_string())?;
        listen(jvmti, controlled)
    }

    /// Opens the trace of a JVM that was running before. Nothing is recorded yet.
    pub(crate) fn attach(jvmti: Jvmti, options: Options, attached: Attached) -> Result<&'static Agent, String> {
        let mut header = header(jvmti, &options);
        // It says nothing of how the program could be run again.
        header.environment.clear();
        let main = command_line().ok().and_then(|words| main_class(&words));
        let filter = Filter::new(&options).of_program(main.as_deref());
        let recorder = Arc::new(Recorder::start(options, &header, false)?);
        let registry = Registry::new(Arc::clone(&recorder));
        let instrumenter = Instrumenter::new(filter, None, registry, false, Redirects::default()).without_fields();
        let agent = Agent {
            jvmti,
            recorder,
            instrumenter,
            block_field: OnceLock::new(),
            baton: None,
            search: None,
            chance: None,
            failures: Failures::default(),
            tests: ToldTests::default(),
            virtual_threads: VirtualThreads::default(),
            attached: Some(attached),
            finished: AtomicBool::new(false),
            main_died: AtomicBool::new(false),
            main_ended: AtomicBool::new(false),
        };
        let twice = || "the agent is loaded twice".to_string();
        AGENT.set(agent).map_err(|_| twice())?;
        AGENT.get().ok_or_else(twice)
    }

    /// Whether the trace has been closed.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::SeqCst)
    }

    /// Tells a forced run of a new thread.
    pub(crate) fn in_schedule(&self, block: &'static ThreadBlock) {
        if let Some(baton) = &self.baton {
            let number = block.thread;
            baton.add(block, number, self.recorder.thread_path(ThreadId(number)));
        }
        if let Some(search) = &self.search {
            search.add(block.thread, self.recorder.thread_path(ThreadId(block.thread)));
        }
    }

    /// Ends a forced run that would not end by itself.
    pub(crate) fn end_process(&self, why: EndedBy) -> ! {
        self.finish(Some(why));
        // SAFETY: ends the process at once; the threads are in a state from which nothing good follows.
        unsafe { libc::_exit(why.exit_code()) }
    }

    /// Ends a program of which only idle workers of pools are left, as it would end without them.
    fn end_idle(&self, workers: &IdleWorkers) -> ! {
        self.finish(workers.forever.then_some(EndedBy::Idle));
        let died = self.main_died.load(Ordering::Relaxed);
        // SAFETY: ends the process at once; no thread is left that would do anything.
        unsafe { libc::_exit(i32::from(died)) }
    }

    /// How long nothing but idle workers of pools must be left; none if it does not matter now. Each look makes a thread of the JVM, so none is
    /// taken while the program can go on by itself.
    fn idle_patience(&self) -> Option<Duration> {
        if self.attached.is_some() {
            return None;
        }
        let is_over = match (&self.search, &self.baton) {
            (Some(search), _) => search.is_over(),
            (None, _) if !self.main_ended.load(Ordering::Relaxed) => return None,
            (None, Some(baton)) => baton.has_been_over(IDLE_FORCED),
            (None, None) => return Some(IDLE),
        };
        is_over.then_some(IDLE_FORCED)
    }

    /// A thread that the agent knows begins to run.
    pub(crate) fn thread_began(&self, env: *mut JNIEnv, thread: jobject, virtual_thread: bool) {
        let address = jvm::block_of(env, self, thread);
        if address == 0 {
            return;
        }
        // SAFETY: the address of the block of a thread that has not ended, and the thread is the one that runs.
        let block = unsafe { &*(address as *const ThreadBlock) };
        if block.begun.get() != 0 {
            return;
        }
        block.begun.set(1);
        let (name, daemon) = jvm::thread_info(self.jvmti, env, thread).unwrap_or_default();
        if let Some(baton) = &self.baton {
            baton.begin(block.thread, &name, virtual_thread);
        }
        if let Some(search) = &self.search {
            if virtual_thread {
                search.note_obstacle("it uses virtual threads".to_string());
            }
            search.begin(block.thread, &name, daemon);
        }
        self.recorder.describe_thread(ThreadId(block.thread), |thread| {
            thread.name = if name.is_empty() && virtual_thread {
                "virtual".into()
            } else {
                name
            };
            thread.daemon = daemon;
            thread.virtual_thread = virtual_thread;
        });
        self.recorder.append_numbered(block, RawKind::Begin, 0, 0);
    }

    /// A thread has run its last.
    pub(crate) fn thread_ended(&self, env: *mut JNIEnv, thread: jobject) {
        let address = jvm::block_of(env, self, thread);
        if address == 0 {
            return;
        }
        // SAFETY: the address of the block of a thread that has not ended, and the thread is the one that runs.
        let block: &'static ThreadBlock = unsafe { &*(address as *const ThreadBlock) };
        if block.begun.get() == 0 || block.ended.get() != 0 {
            return;
        }
        if block.thread == 0 {
            self.main_ended.store(true, Ordering::Relaxed);
        }
        // Another thread may get the block from now on.
        jvm::take_block(env, self, thread);
        if let Some(baton) = &self.baton {
            baton.end(block);
        }
        if let Some(search) = &self.search {
            search.end(block);
        }
        if self.attached.is_some() {
            // A thread whose steps are not seen may join this one.
            self.recorder
                .append_numbered(block, RawKind::Send, 0, crate::attach::ALL);
        }
        let died = u64::from(block.begun.get() > 1);
        self.recorder.append_numbered(block, RawKind::End, 0, died);
        self.recorder.end_thread(block);
    }

    /// No code caught a thread's exception. The stack is null if a handler of the program deals with it.
    pub(crate) fn thread_died(&self, env: *mut JNIEnv, thread: jobject, exception: jobject, stack: jobject) {
        let address = jvm::block_of(env, self, thread);
        if address == 0 || exception.is_null() {
            return;
        }
        // SAFETY: the address of the block of a thread that has not ended, and the thread is the one that runs.
        let block = unsafe { &*(address as *const ThreadBlock) };
        block.begun.set(2);
        if block.thread == 0 {
            self.main_died.store(true, Ordering::Relaxed);
        }
        let words = jvm::describe(self.jvmti, env, exception);
        // What its own end makes of a thread of a run that is over is no failure.
        let ended = self.search.as_ref().is_some_and(Search::is_ending);
        if let Some(stack) = jvm::text(env, stack).filter(|_| !ended) {
            let name = jvm::thread_info(self.jvmti, env, thread).map_or_else(String::new, |(name, _)| name);
            self.failures.died(name, words.clone(), &stack);
        }
        self.recorder
            .describe_thread(ThreadId(block.thread), |thread| thread.exception = words);
    }

    /// Where a thread is now; none if it is not recorded.
    pub(crate) fn moment(&self, env: *mut JNIEnv, thread: jobject) -> Option<Moment> {
        let address = jvm::block_of(env, self, thread);
        if address == 0 {
            return None;
        }
        // SAFETY: the address of the block of a thread that has not ended, and the thread is the one that runs.
        let block = unsafe { &*(address as *const ThreadBlock) };
        Some(Moment {
            thread: ThreadId(block.thread),
            position: block.position.load(crate::sync::Ordering::Relaxed),
            threads: u32::try_from(self.recorder.thread_count()).unwrap_or(u32::MAX),
        })
    }

    /// A thread asks for the end of the program.
    pub(crate) fn program_exits(&self, env: *mut JNIEnv, thread: jobject, status: i32, stack: jobject) {
        // A run that is over ends its threads by an error, which handlers of the program may answer with an exit.
        if self.search.as_ref().is_some_and(Search::is_ending) {
            return;
        }
        let name = jvm::thread_info(self.jvmti, env, thread).map_or_else(String::new, |(name, _)| name);
        let stack = jvm::text(env, stack).unwrap_or_default();
        self.failures.exits(name, status, &stack);
    }

    /// Limits of the recording, and of a forced run.
    fn check_time(&self) {
        if let Some(search) = &self.search {
            search.watch();
            let limit = self.recorder.options.max_time;
            if !search.is_inside() && limit.is_some_and(|limit| self.recorder.elapsed() >= limit) {
                self.end_process(EndedBy::Hang);
            }
            return;
        }
        let Some(baton) = &self.baton else {
            self.recorder.check_limits();
            return;
        };
        let hung = baton.watch();
        // A busy program would write unneeded events for minutes.
        if self.recorder.options.watch.is_some() && baton.has_been_over(AFTERMATH) {
            self.recorder.stop(EndReason::Other("the schedule is over".into()));
        }
        if hung {
            standstill::note_hang(self);
        }
        let options = &self.recorder.options;
        let is_late = options.max_time.is_some_and(|limit| self.recorder.elapsed() >= limit);
        if hung || is_late || options.took.is_some_and(|took| self.is_answered(baton, took)) {
            self.end_process(EndedBy::Hang);
        }
    }

    /// Whether a forced run has had all its turns and goes on much longer than the recorded run took. Where a thread has died, what would have ended the
    /// others may never come.
    fn is_answered(&self, baton: &Baton, took: Duration) -> bool {
        match self.failures.is_empty() {
            true => baton.has_been_over(LONGEST_REST + 5 * took),
            false => baton.has_been_over(LONGEST_REST_OF_FAILED + 2 * took),
        }
    }

    /// Closes the trace and says how it went, and why the agent itself is about to end the JVM.
    pub(crate) fn finish(&self, ended_by: Option<EndedBy>) {
        if self.finished.swap(true, Ordering::SeqCst) {
            return;
        }
        let counts = self.instrumenter.counts();
        let sorted = |map: &rustc_hash::FxHashMap<String, u64>| {
            let mut list: Vec<(String, u64)> = map.iter().map(|(reason, count)| (reason.clone(), *count)).collect();
            list.sort();
            list
        };
        let footer = Footer {
            classes_instrumented: counts.instrumented,
            classes_skipped: sorted(&counts.skipped),
            classes_failed: sorted(&counts.failed),
            methods_left_alone: sorted(&counts.left_alone),
            counts: vec![
                ("application classes".into(), counts.application),
                ("sites".into(), self.instrumenter.site_count() as u64),
                ("threads".into(), self.recorder.thread_count() as u64),
                (ELAPSED.into(), self.recorder.elapsed().as_millis() as u64),
            ]
            .into_iter()
            .chain(
                counts
                    .unfocused
                    .into_iter()
                    .map(|name| (format!("{UNFOCUSED}{name}"), 1)),
            )
            .collect(),
            failures: self.failures.all(),
            tests: self.tests.all(),
            ..Footer::default()
        };
        if let Some(search) = self.search.as_ref().filter(|search| !search.is_inside()) {
            search.end_alone();
        }
        let outcome = self.recorder.finish(footer);
        let status = Status {
            trace: self.recorder.path.clone(),
            bytes: outcome.bytes,
            error: outcome.error,
            verdict: self.baton.as_ref().map(Baton::verdict),
            ended_by,
        };
        match &self.recorder.options.status {
            Some(path) => {
                // The command line may be gone, and the folder with it: then the report has no reader.
                let _ = line::encode(&status).map(|line| append(path, &line));
            }
            None => {
                if let Some(error) = &status.error {
                    let _ = writeln!(std::io::stderr(), "ravel: {}: {error}", status.trace.display());
                }
            }
        }
    }
}

/// One write at the end of the file, so that two JVMs cannot come between each other's words.
pub(crate) fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(line.as_bytes())
}

fn header(jvmti: Jvmti, options: &Options) -> Header {
    let command = if options.command.is_empty() {
        std::fs::read("/proc/self/cmdline")
            .map(|text| {
                let words = text
                    .split(|byte| *byte == 0)
                    .map(|word| String::from_utf8_lossy(word).into_owned());
                let mut words: Vec<String> = words.collect();
                words.pop();
                words
            })
            .unwrap_or_default()
    } else {
        options.command.clone()
    };
    let (directory, environment) = options
        .origin
        .as_deref()
        .and_then(|file| origin(&std::fs::read(file).ok()?))
        .unwrap_or_else(here);
    Header {
        command,
        directory,
        environment,
        java_version: jvm::property(jvmti, c"java.vm.version"),
        java_home: jvm::property(jvmti, c"java.home"),
        ravel_version: env!("CARGO_PKG_VERSION").to_string(),
        start_unix_millis: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| now.as_millis() as u64),
        pid: std::process::id(),
        options: vec![("agent".into(), options.encode())],
    }
}

/// A directory, and an environment.
type Surroundings = (String, Vec<(String, String)>);

/// Where this JVM runs.
fn here() -> Surroundings {
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    let directory = std::env::current_dir().map(|dir| text(dir.into_os_string()));
    let environment = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
    (directory.unwrap_or_default(), environment.collect())
}

/// Where the command was started, as the command line wrote it down.
fn origin(bytes: &[u8]) -> Option<Surroundings> {
    let mut words = bytes
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned());
    let directory = words.next()?;
    let pair = |word: String| {
        word.split_once('=')
            .map(|(name, value)| (name.to_string(), value.to_string()))
    };
    Some((directory, words.filter_map(pair).collect()))
}

/// Asks the JVM for every class from the first one on, and for threads and the end.
fn listen(jvmti: Jvmti, controlled: bool) -> Result<(), String> {
    let functions = jvmti.functions();
    let mut wanted = jvmtiCapabilities::default();
    wanted.set_can_generate_all_class_hook_events(true);
    // JDK 8 does both without being asked, and does not know these.
    wanted.set_can_generate_early_class_hook_events(!supported::is_old());
    wanted.set_can_generate_early_vmstart(!supported::is_old());
    // For programs that stand still; none of these changes how code runs.
    wanted.set_can_get_current_contended_monitor(true);
    wanted.set_can_get_monitor_info(true);
    wanted.set_can_get_bytecodes(true);
    wanted.set_can_get_constant_pool(true);
    // For threads that block in code of the JDK.
    wanted.set_can_generate_monitor_events(controlled);
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMStart = Some(on_vm_start);
    callbacks.VMInit = Some(on_vm_init);
    callbacks.VMDeath = Some(on_vm_death);
    callbacks.ThreadStart = Some(on_thread_start);
    callbacks.ThreadEnd = Some(on_thread_end);
    callbacks.ClassFileLoadHook = Some(on_class);
    callbacks.MonitorContendedEnter = Some(on_blocking);
    callbacks.MonitorContendedEntered = Some(on_blocked);
    callbacks.MonitorWait = Some(on_wait);
    callbacks.MonitorWaited = Some(on_waited);
    let (Some(add), Some(set), Some(enable)) = (
        functions.AddCapabilities,
        functions.SetEventCallbacks,
        functions.SetEventNotificationMode,
    ) else {
        return Err("this JVM's JVMTI lacks functions".into());
    };
    let check = |what: &str, code: jvmtiError| {
        if code == jvmtiError::NONE {
            Ok(())
        } else {
            Err(format!("this JVM refuses {what}: {code:?}"))
        }
    };
    // SAFETY: the structures live through the calls, and have the size that is passed.
    unsafe {
        check("early class events", add(jvmti.0, &raw const wanted))?;
        check(
            "callbacks",
            set(jvmti.0, &raw const callbacks, size_of::<jvmtiEventCallbacks>() as jint),
        )?;
        for event in [
            JVMTI_EVENT_VM_START,
            JVMTI_EVENT_VM_INIT,
            JVMTI_EVENT_VM_DEATH,
            JVMTI_EVENT_THREAD_START,
            JVMTI_EVENT_THREAD_END,
            JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        ] {
            check("events", enable(jvmti.0, JVMTI_ENABLE, event, std::ptr::null_mut()))?;
        }
        for event in [
            JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
            JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
            JVMTI_EVENT_MONITOR_WAIT,
            JVMTI_EVENT_MONITOR_WAITED,
        ]
        .into_iter()
        .filter(|_| controlled)
        {
            check("events", enable(jvmti.0, JVMTI_ENABLE, event, std::ptr::null_mut()))?;
        }
    }
    Ok(())
}

/// Before any Java code runs: the helper classes must be there.
unsafe extern "system" fn on_vm_start(_: *mut jvmtiEnv, env: *mut JNIEnv) {
    guard(|| define_helpers(env));
}

fn define_helpers(env: *mut JNIEnv) {
    let everything = agent().is_some_and(|agent| agent.recorder.options.everything);
    for (name, bytes) in helper::CLASSES {
        let quiet = if everything { quiet(bytes).ok() } else { None };
        let bytes = quiet.as_deref().unwrap_or(bytes);
        let taken = helper::for_release(bytes, supported::release()).is_ok_and(|it| jvm::define_class(env, name, &it));
        if !taken {
            // Classes that were loaded before may call it, so the JVM may not come up. That is for the JVM to say.
            say(format_args!(
                "the JVM does not take {}: this program cannot be recorded on this JVM",
                name.to_string_lossy()
            ));
            if let Some(agent) = agent() {
                agent.finished.store(true, Ordering::SeqCst);
            }
            return;
        }
    }
    let (name, bytes) = helper::UNSAFE;
    if let Some(agent) = agent().filter(|_| supported::is_old())
        && let Ok(class) = helper::for_release(bytes, supported::release())
        && let Ok(class) = agent.instrumenter.stand_in_for_unsafe(&class)
        && jvm::define_class(env, name, &class)
    {
        agent.instrumenter.use_stand_in();
    }
}

unsafe extern "system" fn on_vm_init(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread) {
    guard(|| begin(env, thread));
}

/// The JVM is there: the first thread is recorded from here on.
fn begin(env: *mut JNIEnv, thread: jthread) {
    let Some(agent) = agent() else { return };
    let fields = (
        jvm::thread_field(env, c"ravel$t", c"J"),
        jvm::thread_field(env, c"ravel$n", c"I"),
    );
    let (Some(block), Some(number)) = fields else {
        say(format_args!(
            "java.lang.Thread could not be instrumented; nothing is recorded"
        ));
        return;
    };
    let _ = agent.block_field.set(BlockField { block, number });
    if agent.finished.load(Ordering::SeqCst)
        || agent.recorder.options.everything
        || !jvm::prepare(env, c"java/lang/Ravel")
    {
        return;
    }
    let inside = agent.search.as_ref().filter(|search| search.is_inside());
    if inside.is_none() {
        let new = agent.recorder.new_thread(None, 0);
        agent.in_schedule(new);
        jvm::set_block(env, agent, thread, new);
        agent.thread_began(env, thread, false);
    }
    let mut watcher = Watcher::new(env);
    let mut pools = IdlePools::new();
    let _ = std::thread::Builder::new().name("ravel-ticker".into()).spawn(move || {
        while !agent.finished.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
            guard(|| {
                agent.recorder.tick();
                agent.check_time();
                if inside.is_some() {
                    return;
                }
                if let Some(patience) = agent.idle_patience()
                    && let Some(workers) = pools.look(standstill::vm(), agent.jvmti, patience)
                    && !standstill::runs_code_at_end(agent)
                {
                    agent.end_idle(&workers);
                }
                // A thread that waits for its turn in a forced run does so in native code, so it counts as one that runs.
                if let Some(found) = watcher.look(agent) {
                    agent.failures.add(found.failure().clone());
                    agent.end_process(match &agent.baton {
                        None => found.ended_by(),
                        // The verdict on a schedule tells a deadlock by the cycle of its own locks.
                        Some(baton) => {
                            baton.stands_still();
                            EndedBy::Hang
                        }
                    });
                }
            });
        }
    });
    if let Some(search) = inside {
        search_inside(agent, search, env);
    }
}

/// Runs the program's `main` again and again, and ends the JVM.
fn search_inside(agent: &'static Agent, search: &Search, env: *mut JNIEnv) -> ! {
    agent.recorder.stop(EndReason::Other("nothing is recorded".into()));
    match command_line().ok().and_then(|words| main_and_arguments(&words)) {
        Some((main, arguments)) => {
            if !jvm::drive(env, &main, &arguments) {
                search.note_obstacle("its runs could not be driven".to_string());
            }
        }
        None => search.note_obstacle("its command does not name a main class".to_string()),
    }
    search.end_runs();
    // SAFETY: ends the process at once: threads of a run may be left that would keep it alive.
    unsafe { libc::_exit(0) }
}

/// The number of a recorded thread that lives, with the search.
fn controlled(env: *mut JNIEnv, thread: jthread) -> Option<(&'static Search, u32)> {
    let agent = agent()?;
    let address = jvm::block_of(env, agent, thread);
    // SAFETY: the address of the block of a thread that has not ended, and the thread is the one that runs.
    let block = (address != 0).then(|| unsafe { &*(address as *const ThreadBlock) })?;
    Some((agent.search.as_ref()?, block.thread))
}

unsafe extern "system" fn on_blocking(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread, _: jobject) {
    guard(|| {
        if let Some((search, number)) = controlled(env, thread) {
            search.goes_outside(number);
        }
    });
}

unsafe extern "system" fn on_blocked(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread, _: jobject) {
    guard(|| {
        if let Some((search, number)) = controlled(env, thread) {
            search.comes_back(number);
        }
    });
}

unsafe extern "system" fn on_wait(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread, _: jobject, _: jlong) {
    guard(|| {
        if let Some((search, number)) = controlled(env, thread) {
            search.goes_outside(number);
        }
    });
}

unsafe extern "system" fn on_waited(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread, _: jobject, _: jboolean) {
    guard(|| {
        if let Some((search, number)) = controlled(env, thread) {
            search.comes_back(number);
        }
    });
}

unsafe extern "system" fn on_vm_death(_: *mut jvmtiEnv, env: *mut JNIEnv) {
    guard(|| {
        if let Some(agent) = agent() {
            if agent.baton.is_none() {
                standstill::at_end(agent, env);
            }
            agent.finish(None);
        }
    });
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

unsafe extern "system" fn on_class(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    redefined: jclass,
    _loader: jobject,
    name: *const c_char,
    _domain: jobject,
    length: jint,
    bytes: *const c_uchar,
    new_length: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    let Some(agent) = agent() else { return };
    // A class that another agent redefines is changed like one that is loaded: it must keep the field that it was given then.
    let over = agent.finished.load(Ordering::Relaxed) && redefined.is_null();
    if name.is_null() || over {
        return;
    }
    // SAFETY: the JVM gives a NUL-terminated name and `length` bytes, valid during the call.
    let (name, bytes) = unsafe { (CStr::from_ptr(name), std::slice::from_raw_parts(bytes, length as usize)) };
    let Ok(name) = name.to_str() else { return };
    let new = guarded(|| None, || agent.instrumenter.transform(name, bytes));
    if let Some(new) = new
        && let Some(memory) = agent.jvmti.copy(&new)
    {
        // SAFETY: the JVM gives room for both answers and frees the memory.
        unsafe {
            *new_length = new.len() as jint;
            *new_bytes = memory;
        }
    }
}
