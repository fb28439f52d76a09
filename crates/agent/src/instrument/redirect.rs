//! Calls that ask for time or for a random seed, sent to Ravel instead: where the user wants these to be the same in
//! every run. A call is replaced by a call of the same length, so nothing moves; only what may wait with a time limit gets code.
//!
//! Always sent to Ravel is what [`RANDOM`] asks of the atomic number that is its seed: a random number is not program state, and
//! hiding the two operations on it from the models of atomics, one by one, cost more than drawing the number.

use ravel_classfile::{ClassFile, CodeEditor, Operand, Result, decode_modified_utf8, op};

use super::emit::Emit;
use super::hook::{self, Hook};
use super::methods;

/// What is sent to Ravel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redirects {
    /// Seeds of generators that have none.
    pub seed: bool,
    /// Time.
    pub clock: bool,
    /// Ending the program: in all forced runs.
    pub exit: bool,
    /// Parking and yielding: in searches.
    pub search: bool,
}

/// A call of a method (class, name, descriptor) becomes one of a hook (with its descriptor).
type Call = ((&'static str, &'static str, &'static str), (Hook, &'static str));

const SYSTEM: &str = "java/lang/System";
const THREAD: &str = "java/lang/Thread";
const RANDOM: &str = "java/util/Random";
const LOCAL: &str = "java/util/concurrent/ThreadLocalRandom";
const SUPPORT: &str = "java/util/concurrent/locks/LockSupport";

const MILLIS: Call = ((SYSTEM, "currentTimeMillis", "()J"), (hook::MILLIS, "()J"));
const NANOS: Call = ((SYSTEM, "nanoTime", "()J"), (hook::NANOS, "()J"));
const SLEEP: Call = ((THREAD, "sleep", "(J)V"), (hook::SLEEP, "(J)V"));
const SLEEP_NANOS: Call = ((THREAD, "sleep", "(JI)V"), (hook::SLEEP, "(JI)V"));
const YIELD: Call = ((THREAD, "yield", "()V"), (hook::SEARCH_YIELD, "()V"));
const SPIN: Call = ((THREAD, "onSpinWait", "()V"), (hook::SEARCH_YIELD, "()V"));
const EXIT: Call = ((SYSTEM, "exit", "(I)V"), (hook::ENDS, "(I)V"));
const RUNTIME_EXIT: Call = (
    ("java/lang/Runtime", "exit", "(I)V"),
    (hook::ENDS, "(Ljava/lang/Runtime;I)V"),
);
const RUNTIME_HALT: Call = (
    ("java/lang/Runtime", "halt", "(I)V"),
    (hook::HALTS, "(Ljava/lang/Runtime;I)V"),
);
const SHUTDOWN_HOOK: Call = (
    ("java/lang/Runtime", "addShutdownHook", "(Ljava/lang/Thread;)V"),
    (hook::SEARCH_SHUTDOWN_HOOK, "(Ljava/lang/Runtime;Ljava/lang/Thread;)V"),
);
const PARK: Call = (
    ("jdk/internal/misc/Unsafe", "park", "(ZJ)V"),
    (hook::SEARCH_PARK, "(Ljdk/internal/misc/Unsafe;ZJ)V"),
);
const UNPARK: Call = (
    ("jdk/internal/misc/Unsafe", "unpark", "(Ljava/lang/Object;)V"),
    (hook::SEARCH_UNPARK, "(Ljdk/internal/misc/Unsafe;Ljava/lang/Object;)V"),
);
/// The same on JDK 8.
const OLD_PARK: Call = (
    ("sun/misc/Unsafe", "park", "(ZJ)V"),
    (hook::SEARCH_PARK, "(Lsun/misc/Unsafe;ZJ)V"),
);
const OLD_UNPARK: Call = (
    ("sun/misc/Unsafe", "unpark", "(Ljava/lang/Object;)V"),
    (hook::SEARCH_UNPARK, "(Lsun/misc/Unsafe;Ljava/lang/Object;)V"),
);
const ADJUSTMENT: Call = (
    ("jdk/internal/misc/VM", "getNanoTimeAdjustment", "(J)J"),
    (hook::ADJUSTMENT, "(J)J"),
);
const GET_SEED: Call = (
    ("java/util/concurrent/atomic/AtomicLong", "get", "()J"),
    (hook::SEED, "(Ljava/util/concurrent/atomic/AtomicLong;)J"),
);
const MOVE_SEED: Call = (
    ("java/util/concurrent/atomic/AtomicLong", "compareAndSet", "(JJ)Z"),
    (hook::MOVE_SEED, "(Ljava/util/concurrent/atomic/AtomicLong;JJ)Z"),
);
const ADD: (&str, &str, &str) = ("java/util/concurrent/atomic/AtomicLong", "getAndAdd", "(J)J");
const SEEDER: &str = "(Ljava/util/concurrent/atomic/AtomicLong;J)J";
/// These make a generator that all threads share: for `Math.random`, where its numbers are not used here, and for
/// `Collections.shuffle`.
const SHARED: [&str; 2] = ["java/lang/Math$RandomNumberGeneratorHolder", "java/util/Collections"];

/// These work out by themselves, in one call, how much is left of the time that they were given: by the same clock, or what
/// they wait for would depend on how long the machine took to get there.
const DEADLINES: [&str; 12] = [
    "java/util/concurrent/locks/AbstractQueuedSynchronizer",
    "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer$ConditionObject",
    "java/util/concurrent/locks/StampedLock",
    "java/util/concurrent/FutureTask",
    "java/util/concurrent/CompletableFuture",
    "java/util/concurrent/CompletableFuture$Signaller",
    "java/util/concurrent/Exchanger",
    "java/util/concurrent/Phaser$QNode",
    "java/util/concurrent/SynchronousQueue$TransferStack",
    "java/util/concurrent/SynchronousQueue$TransferQueue",
];

/// These park and wake threads by themselves; all others ask [`SUPPORT`] to do it.
const PARKING: [&str; 4] = [
    SUPPORT,
    "java/util/concurrent/ForkJoinPool",
    "java/util/concurrent/ForkJoinTask",
    "java/util/concurrent/DelayScheduler",
];

impl Redirects {
    /// The calls to be replaced in a class.
    fn calls(self, class: &str, application: bool) -> &'static [Call] {
        match class {
            _ if application && self.search => &[
                MILLIS,
                NANOS,
                SLEEP,
                SLEEP_NANOS,
                YIELD,
                SPIN,
                EXIT,
                RUNTIME_EXIT,
                RUNTIME_HALT,
                SHUTDOWN_HOOK,
            ],
            _ if self.search && PARKING.contains(&class) => &[PARK, UNPARK, OLD_PARK, OLD_UNPARK],
            _ if application && self.clock && self.exit => {
                &[MILLIS, NANOS, SLEEP, SLEEP_NANOS, EXIT, RUNTIME_EXIT, RUNTIME_HALT]
            }
            _ if application && self.clock => &[MILLIS, NANOS, SLEEP, SLEEP_NANOS],
            _ if application && self.exit => &[EXIT, RUNTIME_EXIT, RUNTIME_HALT],
            RANDOM if self.seed => &[
                ((RANDOM, "seedUniquifier", "()J"), (hook::ZERO, "()J")),
                ((SYSTEM, "nanoTime", "()J"), (hook::CHANCE, "()J")),
                GET_SEED,
                MOVE_SEED,
            ],
            RANDOM => &[GET_SEED, MOVE_SEED],
            "java/lang/Math" if self.seed => {
                &[((RANDOM, "nextDouble", "()D"), (hook::RANDOM, "(Ljava/util/Random;)D"))]
            }
            LOCAL if self.seed => &[(ADD, (hook::LOCAL, SEEDER))],
            "java/util/SplittableRandom" if self.seed => &[(ADD, (hook::SPLITTABLE, SEEDER))],
            "java/util/Date" | "java/time/Clock" | "java/time/Clock$SystemClock" if self.clock => &[MILLIS, ADJUSTMENT],
            "java/util/concurrent/TimeUnit" if self.clock => &[SLEEP_NANOS],
            _ if self.clock && DEADLINES.contains(&class) => &[NANOS],
            _ => &[],
        }
    }

    /// Whether a class of the JDK is concerned.
    pub fn concerns(self, class: &str) -> bool {
        !self.calls(class, false).is_empty() || self.clock && class == SUPPORT || self.seed && SHARED.contains(&class)
    }

    /// Changes a class; false if there was nothing to change.
    pub fn apply(self, name: &str, application: bool, class: &mut ClassFile) -> Result<bool> {
        // A generator that has no use for its seed must not take one either.
        let mut changed = self.seed && (SHARED.contains(&name) || name == LOCAL) && seeded(class)?;
        let calls = self.calls(name, application);
        // The scheduler of a search moves the clock by itself.
        let waits = self.clock && application && !self.search;
        let parks = self.clock && name == SUPPORT && !self.search;
        if calls.is_empty() && !waits && !parks {
            return Ok(changed);
        }
        for method in methods(class)? {
            // Which thread initialises a class of the JDK differs from run to run, and must not cost that thread a number.
            if !application && method.name == "<clinit>" {
                continue;
            }
            if let Some(long) = parks.then(|| parked(&method.name, &method.descriptor)).flatten() {
                changed |= park(class, method.index, long)?;
            } else {
                changed |= redirect(class, method.index, calls, waits)?;
            }
        }
        Ok(changed)
    }
}

/// `new Random()` becomes `new Random(0)`, which draws no seed of whichever thread comes first.
fn seeded(class: &mut ClassFile) -> Result<bool> {
    let mut changed = false;
    for method in methods(class)? {
        let Some(mut code) = class.code(&class.methods[method.index])? else {
            continue;
        };
        let mut edit = CodeEditor::new();
        edit.grow_stack(2);
        let with_seed = class.pool.add_method_ref(RANDOM, "<init>", "(J)V")?;
        for instruction in code.instructions() {
            let instruction = instruction?;
            let Operand::Method(called) = instruction.operand else {
                continue;
            };
            let callee = class.pool.member_ref(called)?;
            if (callee.class, callee.name, callee.descriptor) == (RANDOM.as_bytes(), &b"<init>"[..], &b"()V"[..]) {
                let emit = Emit::new().op(op::LCONST_0).indexed(op::INVOKESPECIAL, with_seed);
                edit.replace(instruction.pc, &emit.bytes);
            }
        }
        if !edit.is_empty() {
            edit.apply(&mut code, &mut class.pool, class.major)?;
            class.set_code(method.index, &code)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// The local variable that says how long a park lasts.
fn parked(name: &str, descriptor: &str) -> Option<u8> {
    match (name, descriptor) {
        ("parkNanos", "(J)V") => Some(0),
        ("parkNanos", "(Ljava/lang/Object;J)V") => Some(1),
        _ => None,
    }
}

fn park(class: &mut ClassFile, index: usize, long: u8) -> Result<bool> {
    let Some(mut code) = class.code(&class.methods[index])? else {
        return Ok(false);
    };
    let mut edit = CodeEditor::new();
    edit.grow_stack(2);
    let emit = Emit::new()
        .ops(&[op::LLOAD, long])
        .call(hook::TIMED, "(J)V", &mut class.pool)?;
    edit.insert_at_entry(&emit.bytes);
    edit.apply(&mut code, &mut class.pool, class.major)?;
    class.set_code(index, &code)?;
    Ok(true)
}

fn redirect(class: &mut ClassFile, index: usize, calls: &[Call], waits: bool) -> Result<bool> {
    let Some(mut code) = class.code(&class.methods[index])? else {
        return Ok(false);
    };
    let (mut replaced, mut waited) = (Vec::new(), Vec::new());
    for instruction in code.instructions() {
        let instruction = instruction?;
        let Operand::Method(called) = instruction.operand else {
            continue;
        };
        if !matches!(instruction.opcode, op::INVOKESTATIC | op::INVOKEVIRTUAL) {
            continue;
        }
        let callee = class.pool.member_ref(called)?;
        let [owner, name, descriptor] = [callee.class, callee.name, callee.descriptor].map(decode_modified_utf8);
        let wanted = (owner.as_ref(), name.as_ref(), descriptor.as_ref());
        if let Some((_, new)) = calls.iter().find(|(old, _)| *old == wanted) {
            replaced.push((instruction.pc as usize, *new));
        } else if waits && (wanted.1, wanted.2) == ("wait", "(J)V") {
            waited.push(instruction.pc);
        }
    }
    for (pc, (hook, descriptor)) in &replaced {
        let target = class.pool.add_method_ref(hook.class, hook.name, descriptor)?;
        if let Some(bytes) = code.code.get_mut(*pc..*pc + 3) {
            bytes[0] = op::INVOKESTATIC;
            bytes[1..].copy_from_slice(&target.to_be_bytes());
        }
    }
    if !waited.is_empty() {
        let mut edit = CodeEditor::new();
        edit.grow_stack(2);
        let emit = Emit::new()
            .op(op::DUP2)
            .call(hook::TIMED_MILLIS, "(J)V", &mut class.pool)?;
        for pc in &waited {
            edit.insert_before(*pc, &emit.bytes);
        }
        // No room: such a wait does not move the clock.
        let _ = edit.apply(&mut code, &mut class.pool, class.major);
    }
    let changed = !replaced.is_empty() || !waited.is_empty();
    if changed {
        class.set_code(index, &code)?;
    }
    Ok(changed)
}
