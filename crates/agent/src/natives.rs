//! The native methods of `Ravel.java`. The JVM finds them by name: they are symbols of the agent library.

use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};
use ravel_protocol::EndedBy;
use ravel_trace::definition::Definition;
use ravel_trace::ids::{ObjectId, SiteId, ThreadId};
use ravel_trace::raw::{RawKind, TABLE_OBJECT};
use ravel_trace::spawn;

use crate::agent::{Agent, agent};
use crate::baton::Baton;
use crate::chance::Form;
use crate::guard::{guard, guarded};
use crate::jvm;
use crate::recorder::{MAX_SITES, told};
use crate::search::{self, Search, answer};
use crate::sync::{AtomicU32, Ordering};
use crate::thread_block::{RECORD, ThreadBlock};

/// The block whose address instrumented code has; none if the agent is not running.
fn block<'a>(thread: jlong) -> Option<(&'static Agent, &'a ThreadBlock)> {
    let agent = agent()?;
    if thread == 0 {
        return None;
    }
    // SAFETY: `ravel$t` holds 0 or the address of the block of a thread that has not ended; the thread that calls is the block's own,
    // so its cells are the caller's.
    Some((agent, unsafe { &*(thread as *const ThreadBlock) }))
}

/// What a thread asks memory for.
#[derive(Clone, Copy)]
enum Spill {
    Buffer,
    Stack,
    Table,
}

/// After a failure: memory that the thread may write to and that nothing reads, so that it can go on.
fn spilled(thread: jlong, what: Spill) -> jlong {
    let Some((agent, block)) = block(thread) else { return 0 };
    let place = agent.recorder.spill();
    match what {
        // There is room for one record, and the thread asks again.
        Spill::Buffer => {
            agent.recorder.abandon(block);
            block.limit.set(place + RECORD as u64);
        }
        // The frames so far are lost.
        Spill::Stack => {
            let bottom = block.bottom.load(Ordering::Relaxed);
            block.top.store(bottom, Ordering::Relaxed);
            block.written.set(bottom);
            return bottom as jlong;
        }
        Spill::Table => {}
    }
    place as jlong
}

/// `Ravel.address`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_address(_: *mut JNIEnv, _: jclass, which: jint) -> jlong {
    let of_attached = |agent: &Agent| agent.attached.as_ref().and_then(|attached| attached.address(which));
    guarded(
        || 0,
        || {
            agent().map_or(0, |agent| {
                of_attached(agent).unwrap_or_else(|| agent.recorder.address(which))
            })
        },
    )
}

/// `Ravel.flush`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_flush(_: *mut JNIEnv, _: jclass, thread: jlong) -> jlong {
    guarded(
        || spilled(thread, Spill::Buffer),
        || block(thread).map_or(0, |(agent, block)| agent.recorder.flush(block) as jlong),
    )
}

/// `Ravel.grow`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_grow(_: *mut JNIEnv, _: jclass, thread: jlong) -> jlong {
    guarded(
        || spilled(thread, Spill::Stack),
        || block(thread).map_or(0, |(agent, block)| agent.recorder.grow_stack(block) as jlong),
    )
}

/// `Ravel.ids`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_ids(_: *mut JNIEnv, _: jclass, thread: jlong) -> jlong {
    guarded(
        || 0,
        || block(thread).map_or(0, |(agent, block)| agent.recorder.reserve_ids(block) as jlong),
    )
}

/// `Ravel.settled`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_settled(_: *mut JNIEnv, _: jclass, thread: jlong) -> jlong {
    guarded(
        || spilled(thread, Spill::Table),
        || block(thread).map_or(0, |(agent, block)| agent.recorder.settled_table(block) as jlong),
    )
}

/// `Ravel.shake`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_shake(_: *mut JNIEnv, _: jclass) {
    guard(|| {
        if let Some(agent) = agent() {
            agent.recorder.shake();
        }
    });
}

/// `Ravel.number`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_number(env: *mut JNIEnv, _: jclass, of: jclass) -> jint {
    guarded(
        || 0,
        || {
            let Some(agent) = agent() else { return 0 };
            let number = agent.recorder.number();
            let class_name = shown_name(jvm::class_name(agent.jvmti, env, of));
            // Where no object has a word, arrays alone have ids of this kind.
            let from_table = agent.attached.is_none() || class_name.ends_with("[]");
            let first = if from_table { TABLE_OBJECT } else { 0 };
            agent.recorder.define(Definition::Object {
                object: ObjectId(first + u64::from(number)),
                class_name,
            });
            number as jint
        },
    )
}

/// `Ravel.name`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_name(env: *mut JNIEnv, _: jclass, object: jlong, of: jclass) {
    guard(|| {
        let Some(agent) = agent() else { return };
        let class_name = shown_name(jvm::class_name(agent.jvmti, env, of));
        agent.recorder.define(Definition::Object {
            object: ObjectId(object as u64),
            class_name,
        });
    });
}

/// A lock is known by the class that people use, not by the synchroniser inside it.
pub(crate) fn shown_name(name: String) -> String {
    match name.split_once('$') {
        Some((outer, inner)) if outer.starts_with("java.util.concurrent.") && inner.ends_with("Sync") => {
            outer.to_string()
        }
        _ => name,
    }
}

/// `Ravel.told`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_told(
    env: *mut JNIEnv,
    _: jclass,
    digest: jlong,
    sort: jint,
    number: jlong,
    text: jobject,
    of: jclass,
) -> jlong {
    guarded(
        || digest,
        || {
            let told = agent().and_then(|agent| Some((agent, agent.recorder.told.as_ref()?)));
            let Some((agent, told)) = told else { return digest };
            let text = jvm::text(env, text);
            let class = || match of.is_null() {
                true => String::new(),
                false => jvm::class_name(agent.jvmti, env, of),
            };
            match told::words(sort, number, text.as_deref(), class) {
                Some(words) => told.number(digest as u64, words) as jlong,
                None => digest,
            }
        },
    )
}

/// `Ravel.key`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_key(
    env: *mut JNIEnv,
    _: jclass,
    key: jint,
    sort: jint,
    number: jlong,
    text: jobject,
) {
    guard(|| {
        let told = agent().and_then(|agent| Some((agent, agent.recorder.told.as_ref()?)));
        let Some((agent, told)) = told else { return };
        let text = jvm::text(env, text);
        let words = told::words(sort, number, text.as_deref(), String::new);
        if let Some(text) = words.and_then(|words| told.key(key as u32, words)) {
            agent.recorder.define(Definition::Key {
                number: key as u32,
                text,
            });
        }
    });
}

/// `Ravel.given`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_given(
    env: *mut JNIEnv,
    _: jclass,
    thread: jlong,
    site: jint,
    sort: jint,
    number: jlong,
    text: jobject,
) {
    guard(|| {
        let Some((agent, block)) = block(thread) else { return };
        let Some(told) = agent.recorder.told.as_ref() else {
            return;
        };
        let (thread, site) = (ThreadId(block.thread), SiteId(site as u32));
        let text = || told::words(sort, number, jvm::text(env, text).as_deref(), String::new).unwrap_or_default();
        if let Some(text) = told.given(thread, site, text) {
            agent.recorder.define(Definition::Value {
                thread,
                position: block.position(),
                site,
                text,
            });
        }
    });
}

/// `Ravel.hasWord`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_hasWord(env: *mut JNIEnv, _: jclass, of: jclass) -> jboolean {
    guarded(
        || 0,
        || {
            let Some(agent) = agent() else { return 0 };
            let name = jvm::class_name(agent.jvmti, env, of).replace('.', "/");
            // Arrays are objects of no class file.
            jboolean::from(!name.ends_with("[]") && agent.instrumenter.declares_word(&name))
        },
    )
}

/// `Ravel.declares`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_declares(
    env: *mut JNIEnv,
    _: jclass,
    of: jclass,
    name: jobject,
) -> jboolean {
    guarded(
        || 0,
        || {
            let Some(agent) = agent() else { return 0 };
            let Some(name) = jvm::text(env, name) else { return 0 };
            jboolean::from(jvm::declares_field(agent.jvmti, of, &name))
        },
    )
}

/// `Ravel.field`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_field(env: *mut JNIEnv, _: jclass, of: jclass, name: jobject) -> jobject {
    guarded(std::ptr::null_mut, || {
        let (Some(agent), Some(name)) = (agent(), jvm::text(env, name)) else {
            return std::ptr::null_mut();
        };
        jvm::reflected_field(agent.jvmti, env, of, &name)
    })
}

/// `Ravel.fieldName`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_fieldName(env: *mut JNIEnv, _: jclass, of: jclass, index: jint) -> jobject {
    guarded(std::ptr::null_mut, || {
        let Some(agent) = agent() else {
            return std::ptr::null_mut();
        };
        let class = jvm::class_name(agent.jvmti, env, of).replace('.', "/");
        match agent.instrumenter.declared_field(&class, index) {
            Some((name, _)) => jvm::string(env, &name),
            None => std::ptr::null_mut(),
        }
    })
}

/// `Ravel.fieldNumber`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_fieldNumber(env: *mut JNIEnv, _: jclass, of: jclass, index: jint) -> jint {
    guarded(
        || -1,
        || {
            let Some(agent) = agent() else { return -1 };
            let class = jvm::class_name(agent.jvmti, env, of).replace('.', "/");
            // A model has 16 bits for its field.
            let field = agent
                .instrumenter
                .declared_field(&class, index)
                .map(|(_, field)| field.0);
            field.filter(|field| *field < 1 << 16).map_or(-1, |field| field as jint)
        },
    )
}

/// What HotSpot calls the thread that waits for the end of all others and then ends the JVM.
const ENDS_THE_JVM: &str = "DestroyJavaVM";

/// How many threads of the JVM have been adopted.
static HAVE_BEEN_ADOPTED: AtomicU32 = AtomicU32::new(0);
/// How many workers each pool has started.
static WORKERS: [AtomicU32; spawn::MOST_POOLS as usize] = [const { AtomicU32::new(0) }; spawn::MOST_POOLS as usize];

/// What a thread is to its parent, as `Ravel.fork` gets it.
pub mod thread_sort {
    /// One that the program starts.
    pub const STARTED: i32 = 0;
    /// One that a pool starts on demand: this, less the number of the pool.
    pub const ON_DEMAND: i32 = -1;
    /// One that runs when the JVM ends: this, and its place among those that were registered.
    pub const HOOK: i32 = 1;
}

/// What a test runner tells, as `Ravel.test` gets it.
pub mod test_note {
    /// The command that runs one test alone.
    pub const RUN_ONE_BY: i32 = 0;
    /// A test begins.
    pub const BEGIN: i32 = 1;
    /// A test has ended.
    pub const END: i32 = 2;
}

/// `Ravel.fork`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_fork(
    env: *mut JNIEnv,
    _: jclass,
    thread: jlong,
    child: jobject,
    sort: jint,
) {
    guard(|| {
        let Some((agent, parent)) = block(thread) else { return };
        let spawned = match sort {
            thread_sort::STARTED => parent.children.replace(parent.children.get() + 1),
            pool @ ..=thread_sort::ON_DEMAND => {
                let pool = (thread_sort::ON_DEMAND - pool) as u32;
                if let Some(search) = agent.search.as_ref().filter(|_| pool == spawn::COMMON) {
                    // The next run inside this JVM would find the pool as this one left it.
                    search.note_obstacle("it uses the common pool of the JDK, which outlives a run".to_string());
                }
                let workers = &WORKERS[(pool as usize).min(WORKERS.len() - 1)];
                spawn::worker(pool, workers.fetch_add(1, Ordering::Relaxed))
            }
            hook => spawn::HOOKS + (hook - thread_sort::HOOK) as u32,
        };
        let new = agent.recorder.new_thread(Some(ThreadId(parent.thread)), spawned);
        agent.in_schedule(new);
        let number = new.thread;
        // Above the sites: a framework makes the call.
        let site = Some(parent.call.get())
            .filter(|site| (*site as usize) < MAX_SITES)
            .unwrap_or(0);
        agent
            .recorder
            .append_numbered(parent, RawKind::Fork, site, u64::from(number));
        if let Some(chance) = &agent.chance {
            chance.fork(parent.thread, number);
        }
        jvm::set_block(env, agent, child, new);
    });
}

/// `Ravel.adopt`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_adopt(env: *mut JNIEnv, _: jclass, thread: jobject) {
    guard(|| {
        let Some(agent) = agent().filter(|_| !thread.is_null()) else {
            return;
        };
        let number = spawn::ADOPTED + HAVE_BEEN_ADOPTED.fetch_add(1, Ordering::Relaxed);
        let new = agent.recorder.new_thread(Some(ThreadId(0)), number);
        agent.in_schedule(new);
        jvm::set_block(env, agent, thread, new);
        agent.thread_began(env, thread, false);
        // The JVM ends by itself when no thread is left that keeps it alive; a signal waits for none.
        let name = jvm::thread_info(agent.jvmti, env, thread).map_or_else(String::new, |(name, _)| name);
        if name == ENDS_THE_JVM {
            for ended in agent.recorder.ended_threads() {
                agent
                    .recorder
                    .append_numbered(new, RawKind::Join, 0, u64::from(ended.0));
            }
        }
    });
}

/// `Ravel.chance`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_chance(_: *mut JNIEnv, _: jclass, thread: jlong, kind: jint) -> jlong {
    guarded(
        || 0,
        || {
            let Some((agent, block)) = block(thread) else { return 0 };
            let path = || agent.recorder.thread_path(ThreadId(block.thread));
            agent
                .chance
                .as_ref()
                .map_or(0, |chance| chance.draw(block.thread, kind as usize, path) as jlong)
        },
    )
}

/// `Ravel.clock`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_clock(_: *mut JNIEnv, _: jclass, thread: jlong, form: jint) -> jlong {
    guarded(
        || 0,
        || {
            let known = [Form::Nanos, Form::Millis, Form::WallNanos];
            let form = known
                .into_iter()
                .find(|known| *known as jint == form)
                .unwrap_or(Form::WallNanos);
            let Some((agent, block)) = block(thread) else { return 0 };
            agent
                .chance
                .as_ref()
                .map_or(0, |chance| chance.look(block.thread, form) as jlong)
        },
    )
}

/// `Ravel.timed`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_timed(
    _: *mut JNIEnv,
    _: jclass,
    thread: jlong,
    nanos: jlong,
    exact: jboolean,
) {
    guard(|| {
        if let (Some((agent, block)), Ok(nanos)) = (block(thread), u64::try_from(nanos))
            && let Some(chance) = &agent.chance
        {
            if agent.search.is_some() {
                chance.pass(block.thread, nanos);
                return;
            }
            chance.wait(block.thread, nanos, exact != 0);
        }
    });
}

/// `Ravel.began`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_began(env: *mut JNIEnv, _: jclass, thread: jobject) {
    guard(|| {
        if let Some(agent) = agent() {
            let block = jvm::block_of(env, agent, thread);
            agent.virtual_threads.began(env, thread, block);
            agent.thread_began(env, thread, true);
        }
    });
}

/// `Ravel.ended`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_ended(env: *mut JNIEnv, _: jclass, thread: jobject) {
    guard(|| {
        if let Some(agent) = agent() {
            let block = jvm::block_of(env, agent, thread);
            agent.virtual_threads.ended(env, block);
            agent.thread_ended(env, thread);
        }
    });
}

/// `Ravel.died`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_died(
    env: *mut JNIEnv,
    _: jclass,
    thread: jobject,
    exception: jobject,
    stack: jobject,
) {
    guard(|| {
        if let Some(agent) = agent() {
            agent.thread_died(env, thread, exception, stack);
        }
    });
}

/// `Ravel.test`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_test(
    env: *mut JNIEnv,
    _: jclass,
    thread: jobject,
    what: jint,
    id: jobject,
    name: jobject,
) {
    guard(|| {
        let Some(agent) = agent() else { return };
        let text = |string| jvm::text(env, string).unwrap_or_default();
        match what {
            test_note::RUN_ONE_BY => agent.tests.run_one_by(&text(id)),
            test_note::BEGIN => {
                if let Some(now) = agent.moment(env, thread) {
                    agent.tests.begin(text(id), text(name), now);
                }
            }
            test_note::END => {
                if let Some(now) = agent.moment(env, thread) {
                    agent.tests.end(&text(id), now);
                }
            }
            _ => {}
        }
    });
}

/// `Ravel.exits`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_exits(
    env: *mut JNIEnv,
    _: jclass,
    thread: jobject,
    status: jint,
    stack: jobject,
) {
    guard(|| {
        if let Some(agent) = agent() {
            agent.program_exits(env, thread, status, stack);
        }
    });
}

/// `Ravel.noise`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_noise(_: *mut JNIEnv, _: jclass, thread: jlong) {
    guard(|| {
        if let Some((agent, block)) = block(thread) {
            crate::noise::at_point(&agent.recorder.options, block);
        }
    });
}

/// The baton of a forced run, with the block of the thread that calls.
fn forced<'a>(thread: jlong) -> Option<(&'static Agent, &'static Baton, &'a ThreadBlock)> {
    let (agent, block) = block(thread)?;
    Some((agent, agent.baton.as_ref()?, block))
}

/// `Ravel.gate`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_gate(_: *mut JNIEnv, _: jclass, thread: jlong) {
    guard(|| {
        if let Some((agent, baton, block)) = forced(thread) {
            baton.pass(block);
            // What this thread does now comes after what the others did in their turns.
            agent.recorder.tick();
        }
    });
}

/// `Ravel.next`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_next(_: *mut JNIEnv, _: jclass, thread: jlong) {
    guard(|| {
        if let Some((_, baton, block)) = forced(thread) {
            baton.hand_over(block);
        }
    });
}

/// `Ravel.lock`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_lock(env: *mut JNIEnv, _: jclass, lock: jobject) {
    if !lock.is_null() {
        // SAFETY: a live reference; `Ravel.unlock` gives it up on the same thread.
        unsafe { ((**env).MonitorEnter)(env, lock) };
    }
}

/// `Ravel.unlock`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_unlock(env: *mut JNIEnv, _: jclass, lock: jobject) {
    if !lock.is_null() {
        // SAFETY: a live reference; `Ravel.lock` took it on the same thread. Allowed with an exception pending.
        unsafe { ((**env).MonitorExit)(env, lock) };
    }
}

/// `Ravel.want`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_want(_: *mut JNIEnv, _: jclass, thread: jlong, lock: jlong) {
    guard(|| {
        if let Some((agent, baton, block)) = forced(thread)
            && baton.wants(block, lock as u64)
        {
            agent.end_process(EndedBy::Deadlock);
        }
        if let Some((_, baton, block)) = forced(thread) {
            baton.before_lock(block, lock as u64);
        }
    });
}

/// `Ravel.got`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_got(_: *mut JNIEnv, _: jclass, thread: jlong, lock: jlong) {
    guard(|| {
        if let Some((_, baton, block)) = forced(thread) {
            baton.got(block, lock as u64);
        }
    });
}

/// `Ravel.give`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_give(_: *mut JNIEnv, _: jclass, thread: jlong, lock: jlong, all: jboolean) {
    guard(|| {
        if let Some((_, baton, block)) = forced(thread) {
            baton.gives(block, lock as u64, all != 0);
        }
        // A wait gives a monitor up by itself.
        if let Some((agent, block)) = self::block(thread)
            && let Some(search) = agent.search.as_ref().filter(|_| all == 0)
        {
            search.gives(block.thread, lock as u64);
        }
    });
}

/// `Ravel.search`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_search(
    _: *mut JNIEnv,
    _: jclass,
    thread: jlong,
    request: jint,
    a: jlong,
    b: jlong,
) -> jint {
    guarded(|| answer::FREE, || search::requested(thread, request, a, b))
}

/// `Ravel.obstacle`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_obstacle(env: *mut JNIEnv, _: jclass, why: jobject) {
    guard(|| {
        if let Some(search) = agent().and_then(|agent| agent.search.as_ref()) {
            search.note_obstacle(jvm::text(env, why).unwrap_or_default());
        }
    });
}

/// `Ravel.nextRun`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_nextRun(_: *mut JNIEnv, _: jclass) -> jboolean {
    guarded(
        || 0,
        || {
            jboolean::from(
                agent()
                    .and_then(|agent| agent.search.as_ref())
                    .is_some_and(Search::next_run),
            )
        },
    )
}

/// `Ravel.root`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_root(env: *mut JNIEnv, _: jclass, thread: jobject) {
    guard(|| {
        if let Some(agent) = agent() {
            for started in &WORKERS {
                started.store(0, Ordering::Relaxed);
            }
            let new = agent.recorder.new_thread(None, 0);
            agent.in_schedule(new);
            jvm::set_block(env, agent, thread, new);
        }
    });
}

/// `Ravel.main`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_main(env: *mut JNIEnv, _: jclass, of: jclass, arguments: jobject) {
    guard(|| {
        if !jvm::call_main(env, of, arguments)
            && let Some(search) = agent().and_then(|agent| agent.search.as_ref())
        {
            search.note_obstacle("it has no static main(String[])".to_string());
        }
    });
}

/// `Ravel.endRun`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_endRun(_: *mut JNIEnv, _: jclass) -> jboolean {
    guarded(
        || 0,
        || {
            let search = agent().and_then(|agent| agent.search.as_ref());
            jboolean::from(search.is_some_and(Search::end_run))
        },
    )
}

/// `Ravel.judgeRun`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_judgeRun(_: *mut JNIEnv, _: jclass, output: jlong) {
    guard(|| {
        if let Some(agent) = agent()
            && let Some(search) = &agent.search
        {
            search.judge_run(&agent.failures.take(), output as u64);
        }
    });
}
