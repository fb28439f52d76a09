//! What methods of the JDK, and a few of frameworks, mean. The agent puts a call of `RavelModels.in` at the method's start and
//! of `RavelModels.out` at each end; what happens inside is hidden, except application code that it calls back.
//!
//! `table.rs` has a line for each.

mod table;

use crate::supported;
use Effect::*;
use table::{ATOMIC_METHODS, COMPLETABLE, QUEUE_METHODS, QUEUES, READ_WRITE, THREAD, UNSAFE, UNSAFE_METHODS};
pub use table::{MODELS, ROUND};

/// In the number of a model, as hooks get it: the effect.
pub const EFFECT_MASK: u32 = 0xFF;
/// Where the field of the state stands that the method reads or writes.
pub const FIELD_SHIFT: u32 = 8;
/// The fields that fit there.
pub const FIELD_MASK: u32 = 0xFFFF;
/// The argument is a handle of a field of the object.
pub const THROUGH_HANDLE: u32 = 1 << 30;
/// It counts in threads that run no application code at the time.
pub const ALWAYS: u32 = 1 << 31;

/// What a method does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Effect {
    /// Has got the lock when it returns.
    Lock = 1,
    /// Has got the lock if it returns true (or a stamp other than 0).
    TryLock = 2,
    /// Gives the lock up.
    Unlock = 3,
    /// Has got a shared hold when it returns.
    LockShared = 4,
    /// Has got a shared hold if it returns true (or a stamp other than 0).
    TryLockShared = 5,
    /// Gives a shared hold up.
    UnlockShared = 6,
    /// Waits on a condition: gives the lock up and takes it back.
    Await = 7,
    /// Wakes one waiter.
    Signal = 8,
    /// Wakes all waiters.
    SignalAll = 9,
    /// Release half at the start.
    Send = 10,
    /// Acquire half at the end.
    Receive = 11,
    /// Acquire half at the end if the result is true, positive or not null.
    ReceiveIf = 12,
    /// Takes permits: acquire half at the end if it needed one that another thread gave back.
    TakePermits = 47,
    /// The same if it returns true.
    TryPermits = 48,
    /// Gives permits back: release half at the start.
    GivePermits = 49,
    /// Takes all permits, or makes them fewer: acquire half at the end.
    DrainPermits = 50,
    /// Release half at the start, acquire half there (the last to come may act for all) and at the end.
    Barrier = 13,
    /// The same for one of many rounds: the round is known only inside the method, see [`ROUND`].
    Rounds = 46,
    /// Release half at the start, acquire half at the end.
    Exchange = 14,
    /// Reads the object's value.
    Get = 15,
    /// Writes the object's value.
    Set = 16,
    /// Reads and writes the object's value in one step.
    Update = 17,
    /// The same if it returns true, else reads.
    CompareAndSet = 18,
    /// Reads the entry of the argument.
    MapGet = 19,
    /// Writes the entry of the argument; one more if it returns null.
    MapPut = 20,
    /// Writes the entry if it returns null, else reads it.
    MapPutIfAbsent = 21,
    /// Removes the entry if the result says so, else reads it.
    MapRemove = 22,
    /// Hands the argument over to its receiver.
    QueuePut = 23,
    /// Takes what was handed over.
    QueueTake = 24,
    /// Looks at what was handed over.
    QueueLook = 25,
    /// Reads the whole state.
    StateRead = 26,
    /// Changes the whole state.
    StateUpdate = 27,
    /// Runs a task: acquire half at the start, release half of its pool at the end; nothing is hidden.
    Run = 29,
    /// Computes the entry of the argument anew.
    MapCompute = 30,
    /// Writes the entry if the result says so, else reads it.
    MapReplaceIf = 31,
    /// Writes the entry of the argument.
    MapUpdate = 38,
    /// Waits for the thread that is the argument to end; it may run out of time.
    Join = 39,
    /// Hands a task over and waits for it: release half of the argument at the start, acquire half at the end.
    Invoke = 40,
    /// Means nothing, and nothing inside it counts.
    Hide = 32,
    /// Gives up the lock that the stamp says.
    UnlockStamp = 33,
    /// Turns what the stamp says into the lock if it returns a stamp other than 0.
    ToLock = 44,
    /// Turns what the stamp says into a shared hold if it returns a stamp other than 0.
    ToShared = 45,
    /// Release half of the argument at the start.
    SendArgument = 34,
    /// Acquire half of the result at the end.
    ReceiveResult = 35,
    /// A synchronized method of a collection.
    Monitor = 37,
    /// Acquire half of the object and the argument (each may be several futures) at the start and at the end, since they
    /// may be completed between; nothing is hidden.
    Hear = 41,
    /// Tells the root of a tree of tasks that this part of it is done: release and acquire half there; nothing is hidden.
    Complete = 42,
    /// Release half at the start; nothing is hidden.
    Tell = 43,
}

/// The effects that only tell of order: what happens inside the method is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transparent {
    /// [`Effect::Hear`].
    Hear,
    /// [`Effect::Tell`].
    Tell,
    /// [`Effect::Complete`].
    Complete,
}

/// Which object a model speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Nothing.
    None,
    /// `this`.
    This,
    /// A field of `this`: name and descriptor.
    Field(&'static str, &'static str),
    /// A parameter: the local variable that holds it.
    Local(u8),
    /// An index or a number of permits: the local variable that holds the `int`.
    Index(u8),
    /// An offset in an object, or a limit in milliseconds: the local variable that holds the `long`.
    Offset(u8),
    /// The thread that calls.
    Thread,
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Internal name of the class.
    pub class: &'static str,
    /// The methods of that name.
    pub method: &'static str,
    /// The descriptor's parameters, `(I)`; empty for all methods of the name.
    pub parameters: &'static str,
    /// What it does.
    pub effect: Effect,
    /// To what.
    pub object: Of,
    /// The key, element or task concerned.
    pub argument: Of,
    /// The name of the state it reads or writes; empty if none.
    pub state: &'static str,
    /// Whether it counts in threads that run no application code at the time (workers of a pool).
    pub always: bool,
    /// The first release of the JDK in which the method is none of these any more; 0 if it is one in all.
    pub before: u32,
}

impl Effect {
    /// Whether the method gets the stamp of a `StampedLock` that says what is held.
    pub fn takes_stamp(self) -> bool {
        matches!(self, UnlockStamp | ToLock | ToShared)
    }

    /// What the model tells, if it only tells of order; none if it stands for what happens inside the method.
    pub fn transparent(self) -> Option<Transparent> {
        match self {
            Hear => Some(Transparent::Hear),
            Tell => Some(Transparent::Tell),
            Complete => Some(Transparent::Complete),
            Lock | TryLock | Unlock | LockShared | TryLockShared | UnlockShared | Await | Signal | SignalAll | Send
            | Receive | ReceiveIf | TakePermits | TryPermits | GivePermits | DrainPermits | Barrier | Rounds
            | Exchange | Get | Set | Update | CompareAndSet | MapGet | MapPut | MapPutIfAbsent | MapRemove
            | QueuePut | QueueTake | QueueLook | StateRead | StateUpdate | Run | MapCompute | MapReplaceIf
            | MapUpdate | Join | Invoke | Hide | UnlockStamp | ToLock | ToShared | SendArgument | ReceiveResult
            | Monitor => None,
        }
    }
}

/// A modelled method with everything filled in.
#[derive(Clone, Debug)]
pub struct FoundModel {
    /// What it does.
    pub effect: Effect,
    /// To what.
    pub object: Of,
    /// The key, element or task concerned.
    pub argument: Of,
    /// The name of the state, empty if none.
    pub state: String,
    /// Whether it counts in threads that run no application code at the time.
    pub always: bool,
}

/// Whether some method of the class may have a model: the other classes of the JDK are not even parsed.
pub fn concerns(class: &str) -> bool {
    concerns_in(MODELS, class)
}

fn concerns_in(models: &[Model], class: &str) -> bool {
    // Queues, atomics and stages have models by the shape of their names.
    class.starts_with("java/util/concurrent/")
        || class.starts_with("java/lang/invoke/VarHandle")
        // That of JDK 8 has native methods, and the agent's own classes call the others.
        || class == UNSAFE && !supported::is_old()
        || models.iter().any(|model| model.class == class)
}

/// Whether a class of the JDK has models that order threads: what a framework calls of it counts even where the program is not on the
/// stack.
pub fn orders(class: &str) -> bool {
    class.starts_with("java/util/concurrent/") || class == THREAD
}

/// The class whose state a modelled method of a class reads or writes: the two locks of a `ReadWriteLock` are parts of one.
pub fn class_of_state(class: &str) -> &str {
    match class.strip_prefix(READ_WRITE) {
        Some("$ReadLock" | "$WriteLock") => READ_WRITE,
        _ => class,
    }
}

/// Whether a method of this name asks a lock for its state. Only in programs that call one are changes of such states recorded.
pub fn asks_a_lock(method: &[u8]) -> bool {
    let read = |model: &&Model| matches!(model.state, "held" | "permits") && model.effect == StateRead;
    MODELS
        .iter()
        .filter(read)
        .any(|model| model.method.as_bytes() == method)
}

/// Whether all methods of a class of the JDK are accesses to a location.
pub fn is_access(class: &str) -> bool {
    class.starts_with("java/util/concurrent/atomic/") || matches!(class, "java/lang/invoke/VarHandle" | UNSAFE)
}

/// Whether a model has this name: a class that extends one of the JDK, or an interface, may stand for it. A method without a model must
/// not count, since the first modelled method inside it would be taken for the one that was called.
pub fn is_named(method: &str) -> bool {
    // Short names of atomics begin those of many other methods.
    let atomic = |(name, _): &(&str, Effect)| *name == method || name.len() > 5 && method.starts_with(name);
    let mode = method.strip_prefix("get").or(method.strip_prefix("set"));
    ATOMIC_METHODS.iter().any(atomic)
        || matches!(mode, Some("Plain" | "Opaque" | "Acquire" | "Release" | "Volatile"))
        || MODELS.iter().any(|model| model.method == method)
        || QUEUE_METHODS.iter().any(|(name, ..)| *name == method)
}

/// Looks a method of a class of the JDK up. The descriptor decides only where a name has several meanings.
pub fn find(class: &str, method: &str, descriptor: &str, is_static: bool) -> Option<FoundModel> {
    find_in(MODELS, class, method, descriptor, is_static)
}

fn find_in(models: &[Model], class: &str, method: &str, descriptor: &str, is_static: bool) -> Option<FoundModel> {
    let plain = |effect, state: &str| FoundModel {
        effect,
        object: if is_static { Of::None } else { Of::This },
        argument: Of::None,
        state: state.to_string(),
        always: false,
    };
    if let Some(model) = models
        .iter()
        .filter(|model| model.before == 0 || supported::release() < model.before)
        .find(|model| model.class == class && model.method == method && descriptor.starts_with(model.parameters))
    {
        return Some(FoundModel {
            effect: model.effect,
            object: model.object,
            argument: model.argument,
            state: model.state.to_string(),
            always: model.always,
        });
    }
    if let Some(found) = stage(class, method) {
        return Some(found);
    }
    if let Some(simple) = class.strip_prefix("java/util/concurrent/") {
        if QUEUES.contains(&simple) && !is_static {
            let (_, _, effect) = QUEUE_METHODS
                .iter()
                .find(|(name, parameters, _)| *name == method && descriptor.starts_with(parameters))?;
            // `add` of a queue has a lone element; a deque's `remove(Object)` is in the table by its descriptor.
            let argument = if *effect == QueuePut { Of::Local(1) } else { Of::None };
            let always = matches!(effect, QueuePut | QueueTake);
            return Some(FoundModel {
                argument,
                always,
                ..plain(*effect, "state")
            });
        }
        if let Some(atomic) = simple.strip_prefix("atomic/") {
            let (_, effect) = ATOMIC_METHODS.iter().find(|(prefix, _)| method.starts_with(prefix))?;
            if is_static {
                return None;
            }
            if atomic.contains("FieldUpdater") {
                // The object is the argument, the updater tells the field.
                let updater = atomic.contains('$');
                let entry = entry_effect(*effect);
                return (updater && descriptor.starts_with("(Ljava/lang/Object;")).then(|| FoundModel {
                    object: Of::Local(1),
                    argument: Of::This,
                    ..plain(entry, "updated")
                });
            }
            if atomic.contains('$') {
                return None;
            }
            if atomic.ends_with("Array") {
                return descriptor.starts_with("(I").then(|| FoundModel {
                    argument: Of::Index(1),
                    ..plain(entry_effect(*effect), "element")
                });
            }
            return Some(plain(*effect, "value"));
        }
    }
    if let Some(kind) = class
        .strip_prefix("java/lang/invoke/VarHandle")
        .and_then(|rest| rest.split_once('$'))
    {
        if !is_static || !descriptor.starts_with("(Ljava/lang/invoke/VarHandle;") || method.starts_with("runtime") {
            return None;
        }
        let (_, effect) = ATOMIC_METHODS.iter().find(|(prefix, _)| method.starts_with(prefix))?;
        let holder = descriptor.starts_with("(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;")
            && kind.1 != "FieldStaticReadWrite";
        // Of an array or a buffer the index says which part.
        let indexed = descriptor.starts_with("(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;I")
            && matches!(kind.1, "Array" | "ArrayHandle" | "ByteBufferHandle");
        return Some(FoundModel {
            object: if holder { Of::Local(1) } else { Of::Local(0) },
            argument: if indexed { Of::Index(2) } else { Of::Local(0) },
            ..plain(entry_effect(*effect), if indexed { "element" } else { "handle" })
        });
    }
    if class == UNSAFE {
        // Object and offset; memory outside the heap has no object.
        let (_, effect) = UNSAFE_METHODS.iter().find(|(prefix, _)| method.starts_with(prefix))?;
        return descriptor.starts_with("(Ljava/lang/Object;J").then(|| FoundModel {
            object: Of::Local(1),
            argument: Of::Offset(2),
            ..plain(entry_effect(*effect), "element")
        });
    }
    None
}

/// The steps of a `CompletableFuture`: the completion of the futures that a step depends on happens before it, be it the thread
/// that asks for it (`uniApplyStage`) or the one that completes the last of them (`UniApply.tryFire`).
fn stage(class: &str, method: &str) -> Option<FoundModel> {
    const FUTURE: &str = "Ljava/util/concurrent/CompletableFuture;";
    let step = class.strip_prefix(COMPLETABLE)?;
    let of_two = |name: &str| name.starts_with("Bi") || name.starts_with("Or");
    let (object, argument) = match step.strip_prefix('$') {
        Some(name) if method == "tryFire" && of_two(name) => (Of::Field("src", FUTURE), Of::Field("snd", FUTURE)),
        Some(name) if method == "tryFire" && (name.starts_with("Uni") || name == "AnyOf") => {
            (Of::Field("src", FUTURE), Of::None)
        }
        None if method.ends_with("Stage") && (method.starts_with("bi") || method.starts_with("or")) => {
            (Of::This, Of::Local(2))
        }
        // It is static: the source is its argument.
        None if method == "uniCopyStage" => (Of::Local(0), Of::None),
        None if method.starts_with("uni") && (method.ends_with("Stage") || method.ends_with("Now")) => {
            (Of::This, Of::None)
        }
        _ => return None,
    };
    Some(FoundModel {
        effect: Hear,
        object,
        argument,
        state: String::new(),
        always: true,
    })
}

/// The same effect on the entry that the argument names.
fn entry_effect(effect: Effect) -> Effect {
    match effect {
        Get => MapGet,
        CompareAndSet => MapReplaceIf,
        _ => MapUpdate,
    }
}

#[cfg(test)]
mod tests {
    use super::table::m;
    use super::*;

    fn effect(class: &str, method: &str, descriptor: &str) -> Option<Effect> {
        find(class, method, descriptor, false).map(|found| found.effect)
    }

    #[test]
    fn methods_are_found_by_class_name_and_parameters() {
        assert_eq!(
            effect("java/util/concurrent/locks/ReentrantLock", "tryLock", "()Z"),
            Some(TryLock)
        );
        assert_eq!(
            effect("java/util/concurrent/CountDownLatch", "await", "()V"),
            Some(Receive)
        );
        let timed = "(JLjava/util/concurrent/TimeUnit;)Z";
        assert_eq!(
            effect("java/util/concurrent/CountDownLatch", "await", timed),
            Some(ReceiveIf)
        );
        assert_eq!(
            effect(
                "java/util/concurrent/ArrayBlockingQueue",
                "remove",
                "()Ljava/lang/Object;"
            ),
            Some(QueueTake)
        );
        assert_eq!(
            effect(
                "java/util/concurrent/ArrayBlockingQueue",
                "remove",
                "(Ljava/lang/Object;)Z"
            ),
            Some(StateUpdate)
        );
        assert_eq!(
            effect("java/util/concurrent/atomic/AtomicLong", "getAndAdd", "(J)J"),
            Some(Update)
        );
        assert_eq!(
            effect("java/util/concurrent/atomic/AtomicLong", "get", "()J"),
            Some(Get)
        );
        assert_eq!(
            effect(
                "java/util/concurrent/atomic/AtomicLong",
                "toString",
                "()Ljava/lang/String;"
            ),
            None
        );
        assert_eq!(
            effect("java/util/concurrent/ConcurrentHashMap", "keySet", "()Ljava/util/Set;"),
            None
        );
    }

    #[test]
    fn a_model_is_one_line_of_the_table() {
        let line = m("java/util/Mailbox", "post", SendArgument).of(Of::None).arg(1);
        let extended = [MODELS, &[line]].concat();
        assert!(concerns_in(&extended, "java/util/Mailbox") && !concerns("java/util/Mailbox"));
        let found = find_in(&extended, "java/util/Mailbox", "post", "(Ljava/lang/Object;)V", false);
        let found = found.map(|found| (found.effect, found.argument));
        assert_eq!(found, Some((SendArgument, Of::Local(1))));
    }

    #[test]
    fn a_handle_names_the_entry_of_its_holder() {
        let found = find(
            "java/lang/invoke/VarHandleInts$FieldInstanceReadWrite",
            "compareAndSet",
            "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;II)Z",
            true,
        )
        .expect("a model");
        assert_eq!(
            (found.effect, found.object, found.argument),
            (MapReplaceIf, Of::Local(1), Of::Local(0))
        );
    }

    #[test]
    fn unsafe_names_object_and_offset() {
        let swap = find(
            "sun/misc/Unsafe",
            "compareAndSwapInt",
            "(Ljava/lang/Object;JII)Z",
            false,
        );
        let places = swap.map(|found| (found.effect, found.object, found.argument));
        assert_eq!(places, Some((MapReplaceIf, Of::Local(1), Of::Offset(2))));
        assert_eq!(
            effect("sun/misc/Unsafe", "putOrderedInt", "(Ljava/lang/Object;JI)V"),
            Some(MapUpdate)
        );
        assert_eq!(
            effect("sun/misc/Unsafe", "getIntVolatile", "(Ljava/lang/Object;J)I"),
            Some(MapGet)
        );
        assert_eq!(effect("sun/misc/Unsafe", "getInt", "(J)I"), None);
        assert_eq!(
            effect(
                "sun/misc/Unsafe",
                "copyMemory",
                "(Ljava/lang/Object;JLjava/lang/Object;JJ)V"
            ),
            None
        );
    }

    #[test]
    fn calls_of_frameworks_are_known_by_class_and_name() {
        for name in [
            "get",
            "setRelease",
            "compareAndSet",
            "unlock",
            "park",
            "offer",
            "execute",
        ] {
            assert!(is_named(name), "{name}");
        }
        for name in ["getName", "shutdown", "setAttribute", "isHeldByCurrentThread", "sleep"] {
            assert!(!is_named(name), "{name}");
        }
        assert!(orders("java/util/concurrent/locks/Lock") && !orders("java/util/List"));
        assert!(is_access("java/lang/invoke/VarHandle") && !is_access("java/util/concurrent/locks/Lock"));
    }

    #[test]
    fn a_handle_of_arrays_names_the_element() {
        for class in ["VarHandleInts$Array", "VarHandleByteArrayAsLongs$ArrayHandle"] {
            let class = format!("java/lang/invoke/{class}");
            let found = find(
                &class,
                "getVolatile",
                "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;I)J",
                true,
            );
            let places = found.map(|found| (found.object, found.argument));
            assert_eq!(places, Some((Of::Local(1), Of::Index(2))));
        }
    }
}
