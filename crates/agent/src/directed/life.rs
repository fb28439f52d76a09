//! The life of a directed run: the plan is read, classes with steps get their hooks, threads are held and go on, and facts are
//! written to the log at once, since the process may end in any way.

use std::ffi::{CStr, c_char, c_uchar};
use std::fs::File;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jboolean, jclass, jint, jlong, jobject, jthread};
use jvmti_bindings::sys::jvmti::{
    JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, jvmtiCapabilities,
    jvmtiEnv, jvmtiError, jvmtiEventCallbacks,
};
use ravel_classfile::{ClassFile, CodeEditor, Result as ClassResult, op};

use ravel_protocol::{EndedBy, line};

use super::allowance::Allowance;
use super::director::{Answer, Arrival, Director, HoldTicket, Note, ThreadNumber};
use super::ended;
use super::exclusive::Exclusive;
use super::hold::{POLL, Tasks, Waiting};
use super::hooks::Hooks;
use super::locks;
use super::objects::{Jvm, KeptCell, LocalCell};
use super::stuck::{self, Ending};
use crate::helper;
use crate::instrument::emit::Emit;
use crate::instrument::hook;
use crate::jvm::{self, Jvmti};
use crate::options::Options;
use crate::supported;
use ravel_protocol::goal::{GoalShape, Goals, LogLine, Released, UnitEnd};

/// How long threads are looked at for a deadlock after a cycle of locks has closed.
const CLOSING: Duration = Duration::from_secs(1);
/// The class whose last method sees every exception that no handler took.
const THREAD: &str = "java/lang/Thread";

/// Everything that a directed run has, for as long as the JVM lives.
struct Directed {
    jvmti: Jvmti,
    vm: VmPointer,
    plan: Goals,
    hooks: Hooks,
    /// A byte for each site, and one for each unit.
    armed: (Box<[AtomicU8]>, Box<[AtomicU8]>),
    /// By site: whether a loaded class has its hook.
    hooked: Box<[AtomicU8]>,
    state: Mutex<RunState>,
    changed: Condvar,
    log: Mutex<File>,
    /// Whether an exception ended the thread that the launcher started.
    main_died: AtomicBool,
}

struct RunState {
    director: Director<KeptCell>,
    tasks: Tasks,
    exclusive: Exclusive,
    allowance: Allowance,
    /// How long the hold lasted that ended last.
    held_for: u64,
}

struct VmPointer(*mut JavaVM);

// SAFETY: the invocation interface may be used by any thread.
unsafe impl Send for VmPointer {}
// SAFETY: as above.
unsafe impl Sync for VmPointer {}

static DIRECTED: OnceLock<Directed> = OnceLock::new();

/// Starts a directed run in a JVM that is being created.
pub fn load(vm: *mut JavaVM, jvmti: Jvmti, options: &Options) -> Result<(), String> {
    let Some(path) = &options.goals else {
        return Err("a directed run needs goals".into());
    };
    let plan: Goals = line::read_one(path).map_err(|error| error.to_string())?;
    let log = File::options()
        .append(true)
        .create(true)
        .open(&options.out)
        .map_err(|error| format!("{}: {error}", options.out.display()))?;
    let table = |length: usize, value: u8| (0..length).map(|_| AtomicU8::new(value)).collect();
    let directed = Directed {
        jvmti,
        vm: VmPointer(vm),
        hooks: Hooks::new(&plan),
        armed: (table(plan.sites.len(), 1), table(plan.methods.len(), 1)),
        hooked: table(plan.sites.len(), 0),
        state: Mutex::new(RunState {
            director: Director::new(&plan),
            tasks: Tasks::default(),
            exclusive: Exclusive::default(),
            allowance: Allowance::new(plan.goals.len()),
            held_for: 0,
        }),
        changed: Condvar::new(),
        log: Mutex::new(log),
        plan,
        main_died: AtomicBool::new(false),
    };
    DIRECTED
        .set(directed)
        .map_err(|_| "the agent is loaded twice".to_string())?;
    listen(jvmti)
}

/// Class events are enabled once the JVM is there: from the start on they would switch class data sharing off.
fn listen(jvmti: Jvmti) -> Result<(), String> {
    let functions = jvmti.functions();
    let mut wanted = jvmtiCapabilities::default();
    wanted.set_can_generate_all_class_hook_events(true);
    wanted.set_can_retransform_classes(true);
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(on_vm_init);
    callbacks.VMDeath = Some(on_vm_death);
    callbacks.ClassFileLoadHook = Some(on_class);
    let (Some(add), Some(set)) = (functions.AddCapabilities, functions.SetEventCallbacks) else {
        return Err("this JVM's JVMTI lacks functions".into());
    };
    // SAFETY: the structures live through the calls, and have the size that is passed.
    unsafe {
        check("class events", add(jvmti.0, &raw const wanted))?;
        check(
            "callbacks",
            set(jvmti.0, &raw const callbacks, size_of::<jvmtiEventCallbacks>() as jint),
        )?;
    }
    let mut wanted = jvmtiCapabilities::default();
    locks::want(&mut wanted);
    // SAFETY: as above. Without them a hold that another thread needs ends when nothing moves any more.
    let _ = unsafe { add(jvmti.0, &raw const wanted) };
    enable(jvmti, JVMTI_EVENT_VM_INIT)?;
    enable(jvmti, JVMTI_EVENT_VM_DEATH)
}

fn check(what: &str, code: jvmtiError) -> Result<(), String> {
    match code == jvmtiError::NONE {
        true => Ok(()),
        false => Err(format!("this JVM refuses {what}: {code:?}")),
    }
}

fn enable(jvmti: Jvmti, event: u32) -> Result<(), String> {
    let enable = jvmti
        .functions()
        .SetEventNotificationMode
        .ok_or("this JVM's JVMTI lacks functions")?;
    // SAFETY: asks for an event of all threads; no memory is involved.
    check("events", unsafe {
        enable(jvmti.0, JVMTI_ENABLE, event, std::ptr::null_mut())
    })
}

/// Runs what the JVM calls: a panic must not cross into it.
fn guarded(work: impl FnOnce(&'static Directed)) {
    if let Some(directed) = DIRECTED.get() {
        let _ = catch_unwind(AssertUnwindSafe(|| work(directed)));
    }
}

unsafe extern "system" fn on_vm_init(_: *mut jvmtiEnv, env: *mut JNIEnv, _: jthread) {
    guarded(|directed| {
        if let Err(error) = directed.begin(env) {
            directed.write(&LogLine::NotInstrumented {
                class: String::new(),
                reason: error,
            });
        }
    });
}

unsafe extern "system" fn on_vm_death(_: *mut jvmtiEnv, _: *mut JNIEnv) {
    guarded(Directed::finish);
}

unsafe extern "system" fn on_class(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    _redefined: jclass,
    _loader: jobject,
    name: *const c_char,
    _domain: jobject,
    length: jint,
    bytes: *const c_uchar,
    new_length: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    guarded(|directed| {
        if name.is_null() {
            return;
        }
        // SAFETY: the JVM gives a NUL-terminated name and `length` bytes, valid during the call.
        let (name, bytes) = unsafe { (CStr::from_ptr(name), std::slice::from_raw_parts(bytes, length as usize)) };
        let Ok(name) = name.to_str() else { return };
        let Some(new) = directed.transform(name, bytes) else {
            return;
        };
        if let Some(memory) = directed.jvmti.copy(&new) {
            // SAFETY: the JVM gives room for both answers and frees the memory.
            unsafe {
                *new_length = new.len() as jint;
                *new_bytes = memory;
            }
        }
    });
}

impl Directed {
    fn lock(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, message: &LogLine) {
        if let Ok(text) = line::encode(message) {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = log.write_all(text.as_bytes());
        }
    }

    /// Defines the helper, and gives hooks to classes that are loaded already.
    fn begin(&'static self, env: *mut JNIEnv) -> Result<(), String> {
        let (name, bytes) = helper::DIRECTOR;
        let bytes = helper::for_release(bytes, supported::release()).map_err(|error| error.to_string())?;
        if !jvm::define_class(env, name, &bytes) {
            return Err("the JVM does not take the helper class".into());
        }
        enable(self.jvmti, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)?;
        self.watch_standstill();
        self.retransform_loaded(env)
    }

    /// Ends the process when its threads wait for nothing, or only for tasks.
    fn watch_standstill(&'static self) {
        let _ = std::thread::Builder::new().name("ravel-stuck".into()).spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let (line, code) = match stuck::wait_for_end(self.vm.0, self.jvmti) {
                    Ending::Standstill(threads) => (LogLine::Standstill { threads }, EndedBy::Hang.exit_code()),
                    Ending::Idle(workers) => {
                        let died = self.main_died.load(Ordering::Relaxed);
                        let threads = workers.threads;
                        (LogLine::Idle { threads }, i32::from(died))
                    }
                };
                self.write(&line);
                self.finish();
                // SAFETY: ends the process at once; none of its threads would go on.
                unsafe { libc::_exit(code) }
            }));
        });
    }

    fn retransform_loaded(&self, env: *mut JNIEnv) -> Result<(), String> {
        let functions = self.jvmti.functions();
        let (Some(list), Some(retransform)) = (functions.GetLoadedClasses, functions.RetransformClasses) else {
            return Err("this JVM's JVMTI lacks functions".into());
        };
        let (mut count, mut classes): (jint, *mut jclass) = (0, std::ptr::null_mut());
        // SAFETY: both have room for the answers; the list is freed below.
        check("the list of classes", unsafe {
            list(self.jvmti.0, &raw mut count, &raw mut classes)
        })?;
        // SAFETY: JVMTI gave `count` references.
        let all = unsafe { std::slice::from_raw_parts(classes, count.max(0) as usize) };
        for class in all {
            let name = jvm::class_name(self.jvmti, env, *class).replace('.', "/");
            if name == THREAD || self.hooks.concern(&name) {
                // SAFETY: one live reference.
                let code = unsafe { retransform(self.jvmti.0, 1, class) };
                if code != jvmtiError::NONE {
                    self.write(&LogLine::NotInstrumented {
                        class: name,
                        reason: format!("it was loaded before, and the JVM refuses a change: {code:?}"),
                    });
                }
            }
            // SAFETY: local references of the answer are ours to delete.
            unsafe { ((**env).DeleteLocalRef)(env, *class) };
        }
        self.jvmti.free(classes);
        Ok(())
    }

    /// The class with its hooks; none if it has none.
    fn transform(&self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let refused = |reason: String| {
            self.write(&LogLine::NotInstrumented {
                class: name.to_string(),
                reason,
            });
        };
        let mut new = None;
        if self.hooks.concern(name) {
            match self.hooks.rewrite(name, bytes) {
                Ok(rewritten) => {
                    rewritten.missing.into_iter().for_each(refused);
                    for site in rewritten.found {
                        self.hooked[site].store(1, Ordering::Relaxed);
                    }
                    new = Some(rewritten.bytes);
                }
                Err(error) => refused(error.to_string()),
            }
        }
        if name == THREAD {
            match see_uncaught(new.as_deref().unwrap_or(bytes)) {
                Ok(bytes) => new = Some(bytes),
                Err(error) => refused(error.to_string()),
            }
        }
        new
    }

    /// Lets hooks that no goal needs any more end after one look.
    fn rearm(&self, state: &RunState) {
        for (site, armed) in self.armed.0.iter().enumerate() {
            armed.store(u8::from(state.director.is_armed(site)), Ordering::Relaxed);
        }
        for (unit, armed) in self.armed.1.iter().enumerate() {
            let needed = self.is_exclusive(unit) || state.director.is_unit_armed(unit);
            armed.store(u8::from(needed), Ordering::Relaxed);
        }
    }

    fn is_exclusive(&self, unit: usize) -> bool {
        self.plan.exclusive.contains(&unit)
    }

    fn arrive(&'static self, env: *mut JNIEnv, cell: &LocalCell, site: usize, thread: ThreadNumber) {
        let jvm = Jvm(env);
        let mut state = self.lock();
        state.tasks.note(thread);
        let mut arrival = Arrival::new(thread, site);
        loop {
            match state.director.arrive(&jvm, &mut arrival, cell) {
                Answer::Pass => break,
                Answer::Pause { goal, millis } => {
                    drop(state);
                    std::thread::sleep(Duration::from_millis(millis));
                    state = self.lock();
                    state.director.paused(goal);
                }
                Answer::Hold(held) => {
                    if self.plan.goals[held.goal].shape == GoalShape::Blocked && state.director.closes(held.goal) {
                        self.rearm(&state);
                        self.changed.notify_all();
                        self.watch_cycle(held.goal);
                        break;
                    }
                    state = self.hold(env, state, held);
                    if state.director.is_released(held) == Some(Released::Reached) {
                        state.director.resume(&jvm, held, thread, cell);
                        let millis = state.held_for;
                        state.director.release(held, Released::Reached, millis);
                    }
                }
            }
        }
        if state.director.counts_on_arrival(site) {
            state.director.complete(thread, || self.own_name(env), site, None);
            self.changed.notify_all();
        }
        self.unlock(env, state);
    }

    /// Waits as long as the hold lasts. A hold whose step is next stays parked for the caller to end.
    fn hold<'a>(
        &'a self,
        env: *mut JNIEnv,
        mut state: MutexGuard<'a, RunState>,
        held: HoldTicket,
    ) -> MutexGuard<'a, RunState> {
        let mut waiting = Waiting::begin(state.director.failed_holds(held.goal));
        loop {
            if let Some(why) = state.director.is_released(held) {
                state.held_for = waiting.millis();
                state.allowance.charge(held.goal, waiting.holding());
                if why != Released::Reached {
                    state.director.release(held, why, waiting.millis());
                }
                return state;
            }
            // The kernel and the JVM are asked without the lock: on a busy machine that takes long, and others must come to their steps meanwhile.
            let asked = (!state.director.is_pausing(held.goal))
                .then(|| (state.director.awaited(held.goal), state.tasks.clone()));
            drop(state);
            let end = asked
                .and_then(|(awaited, tasks)| waiting.must_end(&awaited, &tasks, || locks::are_needed(self.jvmti, env)));
            state = self.lock();
            if state.director.is_released(held).is_some() {
                continue;
            }
            let is_armed = |goal: usize| state.director.is_goal_armed(goal);
            let spent = state.allowance.is_spent(held.goal, waiting.holding(), is_armed);
            if let Some(why) = end.or(spent.then_some(Released::Cap)) {
                state.director.release(held, why, waiting.millis());
                state.allowance.charge(held.goal, waiting.holding());
                if spent {
                    state.director.disarm(held.goal);
                }
                self.rearm(&state);
                self.changed.notify_all();
                return state;
            }
            (state, _) = self
                .changed
                .wait_timeout(state, POLL)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn complete(&self, env: *mut JNIEnv, site: usize, thread: ThreadNumber, value: Option<i64>) {
        let mut state = self.lock();
        state.director.complete(thread, || self.own_name(env), site, value);
        self.changed.notify_all();
        self.unlock(env, state);
    }

    /// The name of the calling thread.
    fn own_name(&self, env: *mut JNIEnv) -> String {
        jvm::thread_info(self.jvmti, env, std::ptr::null_mut()).map_or_else(String::new, |(name, _)| name)
    }

    fn writes(&self, site: usize, thread: ThreadNumber, old: i64, new: i64) {
        self.lock().director.writes(thread, site, old, new);
    }

    fn enter(&self, unit: usize, thread: ThreadNumber) {
        let mut state = self.lock();
        state.tasks.note(thread);
        if self.is_exclusive(unit) {
            state = self.wait_for_others(state, thread);
            state.exclusive.enter(thread);
        }
        state.director.enter(thread, unit);
    }

    /// Waits until no other thread is in an exclusive activation, or those that are cannot go on.
    fn wait_for_others<'a>(
        &'a self,
        mut state: MutexGuard<'a, RunState>,
        thread: ThreadNumber,
    ) -> MutexGuard<'a, RunState> {
        let mut waiting = Waiting::for_exclusive();
        while !state.exclusive.is_free_for(thread) {
            let inside = state.exclusive.inside();
            if waiting.must_end(&inside, &state.tasks, || false).is_some() {
                break;
            }
            (state, _) = self
                .changed
                .wait_timeout(state, POLL)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn leave(&self, env: *mut JNIEnv, unit: usize, thread: ThreadNumber, end: &UnitEnd) {
        let mut state = self.lock();
        if self.is_exclusive(unit) {
            state.exclusive.leave(thread);
        }
        state.director.leave(thread, || self.own_name(env), unit, end);
        self.changed.notify_all();
        self.unlock(env, state);
    }

    /// Ends a call of a hook: writes what has happened, and gives references back.
    fn unlock(&self, env: *mut JNIEnv, mut state: MutexGuard<'_, RunState>) {
        let trash = std::mem::take(&mut state.director.trash);
        let notes = std::mem::take(&mut state.director.notes);
        if !notes.is_empty() {
            self.rearm(&state);
        }
        drop(state);
        let id = |goal: usize| self.plan.goals[goal].id.clone();
        for note in notes {
            self.write(&match note {
                Note::Fact {
                    goal,
                    steps,
                    held_millis,
                } => LogLine::Fact {
                    goal: id(goal),
                    steps,
                    held_millis,
                },
                Note::Result { goal, role, result } => LogLine::Result {
                    goal: id(goal),
                    role,
                    result,
                },
            });
        }
        Jvm(env).forget(trash);
    }

    /// All threads of a cycle of locks go on to their acquisitions: sees whether they block each other.
    fn watch_cycle(&'static self, goal: usize) {
        let _ = std::thread::Builder::new().name("ravel-cycle".into()).spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let begin = std::time::Instant::now();
                while begin.elapsed() < CLOSING {
                    std::thread::sleep(Duration::from_millis(50));
                    let threads = super::deadlock::find(self.vm.0);
                    if !threads.is_empty() {
                        self.write(&LogLine::Fact {
                            goal: self.plan.goals[goal].id.clone(),
                            steps: Vec::new(),
                            held_millis: 0,
                        });
                        self.write(&LogLine::Deadlock { threads });
                        self.finish();
                        // SAFETY: ends the process at once; its threads block each other.
                        unsafe { libc::_exit(EndedBy::Deadlock.exit_code()) }
                    }
                }
                let mut state = self.lock();
                state.director.did_not_close(goal);
                self.rearm(&state);
            }));
        });
    }

    fn finish(&self) {
        let (accounts, entered, broken) = {
            let state = self.lock();
            let exclusive = &state.exclusive;
            (state.director.accounts(), exclusive.entered, exclusive.broken)
        };
        for (mut account, goal) in accounts.into_iter().zip(&self.plan.goals) {
            let hooked = |site: usize| self.hooked[site].load(Ordering::Relaxed) != 0;
            account.instrumented = goal.steps.iter().map(|step| hooked(step.site)).collect();
            self.write(&LogLine::Account(account));
        }
        if !self.plan.exclusive.is_empty() {
            self.write(&LogLine::Exclusive { entered, broken });
        }
    }
}

/// Lets `Thread.dispatchUncaughtException` tell of the exception.
fn see_uncaught(bytes: &[u8]) -> ClassResult<Vec<u8>> {
    let mut class = ClassFile::parse(bytes)?;
    let index = class.methods.iter().position(|method| {
        class
            .member_name(method)
            .is_ok_and(|name| name == b"dispatchUncaughtException")
    });
    let Some(index) = index else {
        return Ok(bytes.to_vec());
    };
    let Some(mut code) = class.code(&class.methods[index])? else {
        return Ok(bytes.to_vec());
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(4);
    let call = Emit::new().local(op::ALOAD, 0).local(op::ALOAD, 1).call(
        hook::DIED,
        "(Ljava/lang/Thread;Ljava/lang/Throwable;)V",
        &mut class.pool,
    )?;
    edit.insert_at_entry(&call.bytes);
    let major = class.major;
    edit.apply(&mut code, &mut class.pool, major)?;
    class.set_code(index, &code)?;
    class.write()
}

/// `RavelDirector.table`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_table(_: *mut JNIEnv, _: jclass, units: jboolean) -> jlong {
    DIRECTED.get().map_or(0, |directed| {
        let table = if units != 0 {
            &directed.armed.1
        } else {
            &directed.armed.0
        };
        table.as_ptr() as jlong
    })
}

/// `RavelDirector.number`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_number(env: *mut JNIEnv, _: jclass) -> jobject {
    let Some(directed) = DIRECTED.get().filter(|_| supported::is_old()) else {
        return std::ptr::null_mut();
    };
    let number = || {
        // SAFETY: called on a thread of the JVM with its own environment; the name is NUL-terminated.
        let thread = unsafe { ((**env).FindClass)(env, c"java/lang/Thread".as_ptr()) };
        jvm::reflected_field(directed.jvmti, env, thread, "tid")
    };
    catch_unwind(AssertUnwindSafe(number)).unwrap_or(std::ptr::null_mut())
}

/// `RavelDirector.arrive`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_arrive(
    env: *mut JNIEnv,
    _: jclass,
    object: jobject,
    key: jobject,
    index: jint,
    site: jint,
    thread: jlong,
) {
    guarded(|directed| directed.arrive(env, &LocalCell { object, key, index }, site as usize, thread));
}

/// `RavelDirector.complete`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_complete(
    env: *mut JNIEnv,
    _: jclass,
    site: jint,
    thread: jlong,
    known: jboolean,
    value: jlong,
) {
    guarded(|directed| directed.complete(env, site as usize, thread, (known != 0).then_some(value)));
}

/// `RavelDirector.writing`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_writing(
    _: *mut JNIEnv,
    _: jclass,
    site: jint,
    thread: jlong,
    old: jlong,
    value: jlong,
) {
    guarded(|directed| directed.writes(site as usize, thread, old, value));
}

/// `RavelDirector.entered`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_entered(_: *mut JNIEnv, _: jclass, unit: jint, thread: jlong) {
    guarded(|directed| directed.enter(unit as usize, thread));
}

/// `RavelDirector.left`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_left(
    env: *mut JNIEnv,
    _: jclass,
    unit: jint,
    thread: jlong,
    kind: jint,
    text: jobject,
) {
    guarded(|directed| {
        if let Some(end) = ended::ended(kind, jvm::text(env, text).unwrap_or_default()) {
            directed.leave(env, unit as usize, thread, &end);
        }
    });
}

/// `RavelDirector.died`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_RavelDirector_died(
    env: *mut JNIEnv,
    _: jclass,
    thread: jobject,
    exception: jobject,
    message: jobject,
    stack: jobject,
) {
    guarded(|directed| {
        let text = |string| jvm::text(env, string);
        let exception = match text(message) {
            Some(message) => format!("{}: {message}", text(exception).unwrap_or_default()),
            None => text(exception).unwrap_or_default(),
        };
        let thread = jvm::thread_info(directed.jvmti, env, thread).map_or_else(String::new, |(name, _)| name);
        if thread == "main" {
            directed.main_died.store(true, Ordering::Relaxed);
        }
        directed.write(&LogLine::Died {
            thread,
            exception,
            stack: text(stack).unwrap_or_default().lines().map(str::to_owned).collect(),
        });
    });
}
