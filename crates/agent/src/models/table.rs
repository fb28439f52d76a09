//! The table of models, one line a method, and what queues, atomics and `Unsafe` have in common by the names of their methods.
//!
//! To add a model: a line here, and a subject in `subjects/events` that shows its events.

use super::Effect::*;
use super::{Effect, Model, Of};

/// A line of the table: a method of `this`, with nothing more to say.
pub(super) const fn m(class: &'static str, method: &'static str, effect: Effect) -> Model {
    Model {
        class,
        method,
        parameters: "",
        effect,
        object: Of::This,
        argument: Of::None,
        state: "",
        always: false,
        before: 0,
    }
}

impl Model {
    pub(super) const fn with(mut self, parameters: &'static str) -> Model {
        self.parameters = parameters;
        self
    }
    pub(super) const fn of(mut self, object: Of) -> Model {
        self.object = object;
        self
    }
    pub(super) const fn arg(mut self, local: u8) -> Model {
        self.argument = Of::Local(local);
        self
    }
    pub(super) const fn count(mut self, local: u8) -> Model {
        self.argument = Of::Index(local);
        self
    }
    pub(super) const fn state(mut self, state: &'static str) -> Model {
        self.state = state;
        self
    }
    pub(super) const fn before(mut self, release: u32) -> Model {
        self.before = release;
        self
    }
    pub(super) const fn always(mut self) -> Model {
        self.always = true;
        self
    }
}

const SYNC: Of = Of::Field("sync", "Ljava/util/concurrent/locks/ReentrantLock$Sync;");
const RW_SYNC: Of = Of::Field("sync", "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;");
const CONDITION: Of = Of::Field("this$0", "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer;");
const LONG_CONDITION: Of = Of::Field("this$0", "Ljava/util/concurrent/locks/AbstractQueuedLongSynchronizer;");

const LOCK: &str = "java/util/concurrent/locks/ReentrantLock";
pub(super) const READ_WRITE: &str = "java/util/concurrent/locks/ReentrantReadWriteLock";
const READ: &str = "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock";
const WRITE: &str = "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock";
const STAMPED: &str = "java/util/concurrent/locks/StampedLock";
const COND: &str = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject";
const LONG_COND: &str = "java/util/concurrent/locks/AbstractQueuedLongSynchronizer$ConditionObject";
const SEMAPHORE: &str = "java/util/concurrent/Semaphore";
const LATCH: &str = "java/util/concurrent/CountDownLatch";
const CYCLIC: &str = "java/util/concurrent/CyclicBarrier";
const PHASER: &str = "java/util/concurrent/Phaser";
const EXCHANGER: &str = "java/util/concurrent/Exchanger";
const FUTURE_TASK: &str = "java/util/concurrent/FutureTask";
pub(super) const COMPLETABLE: &str = "java/util/concurrent/CompletableFuture";
const PER_TASK: &str = "java/util/concurrent/ThreadPerTaskExecutor";
const FLOCK: &str = "jdk/internal/misc/ThreadFlock";
const COMPLETER: &str = "java/util/concurrent/CountedCompleter";
const POOL: &str = "java/util/concurrent/ThreadPoolExecutor";
const FJ_TASK: &str = "java/util/concurrent/ForkJoinTask";
const FJ_POOL: &str = "java/util/concurrent/ForkJoinPool";
const SUPPORT: &str = "java/util/concurrent/locks/LockSupport";
const CHM: &str = "java/util/concurrent/ConcurrentHashMap";
const CSLM: &str = "java/util/concurrent/ConcurrentSkipListMap";
const COWA: &str = "java/util/concurrent/CopyOnWriteArrayList";
pub(super) const THREAD: &str = "java/lang/Thread";
const CLEANABLE: &str = "jdk/internal/ref/CleanerImpl$PhantomCleanableRef";
const STABLE: &str = "jdk/internal/lang/stable/StableValueImpl";
pub(super) const UNSAFE: &str = "sun/misc/Unsafe";
const COROUTINES: &str = "kotlinx/coroutines/scheduling/CoroutineScheduler";
const COROUTINE_WORKER: &str = "kotlinx/coroutines/scheduling/CoroutineScheduler$Worker";
const COROUTINE_TASK: &str = "kotlinx/coroutines/scheduling/TaskImpl";

/// Where a method that has [`Rounds`] learns under its lock which round it takes part in: class, method, field and the field's type. A
/// thread may come to the next round before another one has left the last.
pub const ROUND: (&str, &str, &str, &str) = (
    CYCLIC,
    "dowait",
    "generation",
    "Ljava/util/concurrent/CyclicBarrier$Generation;",
);

/// The table.
pub const MODELS: &[Model] = &[
    // Locks.
    m(LOCK, "lock", Lock).of(SYNC).state("held"),
    m(LOCK, "lockInterruptibly", Lock).of(SYNC).state("held"),
    m(LOCK, "tryLock", TryLock).of(SYNC).state("held"),
    m(LOCK, "unlock", Unlock).of(SYNC).state("held"),
    m(READ, "lock", LockShared).of(RW_SYNC).state("held"),
    m(READ, "lockInterruptibly", LockShared).of(RW_SYNC).state("held"),
    m(READ, "tryLock", TryLockShared).of(RW_SYNC).state("held"),
    m(READ, "unlock", UnlockShared).of(RW_SYNC).state("held"),
    m(WRITE, "lock", Lock).of(RW_SYNC).state("held"),
    m(WRITE, "lockInterruptibly", Lock).of(RW_SYNC).state("held"),
    m(WRITE, "tryLock", TryLock).of(RW_SYNC).state("held"),
    m(WRITE, "unlock", Unlock).of(RW_SYNC).state("held"),
    m(STAMPED, "writeLock", Lock).state("held"),
    m(STAMPED, "writeLockInterruptibly", Lock).state("held"),
    m(STAMPED, "tryWriteLock", TryLock).state("held"),
    m(STAMPED, "unlockWrite", Unlock).state("held"),
    m(STAMPED, "readLock", LockShared).state("held"),
    m(STAMPED, "readLockInterruptibly", LockShared).state("held"),
    m(STAMPED, "tryReadLock", TryLockShared).state("held"),
    m(STAMPED, "unlockRead", UnlockShared).state("held"),
    m(STAMPED, "unlock", UnlockStamp).arg(1),
    m(STAMPED, "tryConvertToWriteLock", ToLock).arg(1),
    m(STAMPED, "tryConvertToReadLock", ToShared).arg(1),
    m(STAMPED, "tryConvertToOptimisticRead", UnlockStamp).arg(1),
    // Optimistic reads hold no lock: the analyses find the end of what began here.
    m(STAMPED, "tryOptimisticRead", Hear),
    m(STAMPED, "validate", Hear),
    // What a program asks of a lock. Taking it and giving it up change what these see.
    m(LOCK, "isLocked", StateRead).of(SYNC).state("held"),
    m(LOCK, "hasQueuedThreads", StateRead).of(SYNC).state("held"),
    m(LOCK, "getQueueLength", StateRead).of(SYNC).state("held"),
    m(READ_WRITE, "isWriteLocked", StateRead).of(RW_SYNC).state("held"),
    m(READ_WRITE, "getReadLockCount", StateRead).of(RW_SYNC).state("held"),
    m(READ_WRITE, "hasQueuedThreads", StateRead).of(RW_SYNC).state("held"),
    m(READ_WRITE, "getQueueLength", StateRead).of(RW_SYNC).state("held"),
    m(STAMPED, "isWriteLocked", StateRead).state("held"),
    m(STAMPED, "isReadLocked", StateRead).state("held"),
    m(STAMPED, "getReadLockCount", StateRead).state("held"),
    m(SEMAPHORE, "availablePermits", StateRead).state("permits"),
    m(SEMAPHORE, "hasQueuedThreads", StateRead).state("permits"),
    m(SEMAPHORE, "getQueueLength", StateRead).state("permits"),
    // Conditions: the lock is the synchroniser that the condition belongs to.
    m(COND, "await", Await).of(CONDITION),
    m(COND, "awaitUninterruptibly", Await).of(CONDITION),
    m(COND, "awaitNanos", Await).of(CONDITION),
    m(COND, "awaitUntil", Await).of(CONDITION),
    m(COND, "signal", Signal).of(CONDITION),
    m(COND, "signalAll", SignalAll).of(CONDITION),
    m(LONG_COND, "await", Await).of(LONG_CONDITION),
    m(LONG_COND, "awaitUninterruptibly", Await).of(LONG_CONDITION),
    m(LONG_COND, "awaitNanos", Await).of(LONG_CONDITION),
    m(LONG_COND, "signal", Signal).of(LONG_CONDITION),
    m(LONG_COND, "signalAll", SignalAll).of(LONG_CONDITION),
    // Synchronisers.
    m(SEMAPHORE, "acquire", TakePermits).with("()").state("permits"),
    m(SEMAPHORE, "acquire", TakePermits)
        .with("(I)")
        .count(1)
        .state("permits"),
    m(SEMAPHORE, "acquireUninterruptibly", TakePermits)
        .with("()")
        .state("permits"),
    m(SEMAPHORE, "acquireUninterruptibly", TakePermits)
        .with("(I)")
        .count(1)
        .state("permits"),
    m(SEMAPHORE, "tryAcquire", TryPermits).with("()").state("permits"),
    m(SEMAPHORE, "tryAcquire", TryPermits).with("(J").state("permits"),
    m(SEMAPHORE, "tryAcquire", TryPermits)
        .with("(I")
        .count(1)
        .state("permits"),
    m(SEMAPHORE, "release", GivePermits).with("()").state("permits"),
    m(SEMAPHORE, "release", GivePermits)
        .with("(I)")
        .count(1)
        .state("permits"),
    m(SEMAPHORE, "drainPermits", DrainPermits).state("permits"),
    m(SEMAPHORE, "reducePermits", DrainPermits).state("permits"),
    m(LATCH, "await", Receive).with("()"),
    m(LATCH, "await", ReceiveIf).with("(JLjava/util/concurrent/TimeUnit;)"),
    m(LATCH, "countDown", Send),
    m(LATCH, "getCount", Receive),
    m(CYCLIC, "await", Rounds),
    m(PHASER, "arrive", Send),
    m(PHASER, "arriveAndDeregister", Send),
    m(PHASER, "arriveAndAwaitAdvance", Barrier),
    m(PHASER, "awaitAdvance", Receive),
    m(PHASER, "awaitAdvanceInterruptibly", Receive),
    m(EXCHANGER, "exchange", Exchange),
    m(SUPPORT, "unpark", SendArgument).of(Of::None).arg(0),
    m(SUPPORT, "park", Receive).of(Of::Thread),
    m(SUPPORT, "parkNanos", Receive).of(Of::Thread),
    m(SUPPORT, "parkUntil", Receive).of(Of::Thread),
    Model {
        argument: Of::Offset(1),
        ..m(THREAD, "join", Join).with("(J)")
    },
    Model {
        argument: Of::This,
        ..m(THREAD, "join", Join).with("(Ljava/time/Duration;)").of(Of::None)
    },
    Model {
        argument: Of::This,
        ..m(THREAD, "getState", Join).of(Of::None)
    },
    m(THREAD, "interrupt", Send),
    m(THREAD, "isInterrupted", ReceiveIf).with("()"),
    m(THREAD, "interrupted", ReceiveIf).of(Of::Thread),
    // Tasks and futures.
    m(POOL, "execute", SendArgument).of(Of::None).arg(1).always(),
    m(POOL, "processWorkerExit", Send).always(),
    m(POOL, "awaitTermination", ReceiveIf),
    m(POOL, "isTerminated", ReceiveIf),
    m(PER_TASK, "taskComplete", Send).always(),
    m(PER_TASK, "awaitTermination", ReceiveIf).with("(J"),
    m(PER_TASK, "awaitTermination", Receive).with("()"),
    m(PER_TASK, "isTerminated", ReceiveIf),
    // The carrier of a virtual thread tells of its end.
    m(FLOCK, "onExit", Send).arg(1).always(),
    m(FLOCK, "awaitAll", Receive),
    m(FUTURE_TASK, "set", Send).always(),
    m(FUTURE_TASK, "setException", Send).always(),
    m(FUTURE_TASK, "cancel", Send),
    m(FUTURE_TASK, "get", Receive),
    m(FUTURE_TASK, "isDone", ReceiveIf),
    m(FJ_TASK, "fork", Send).always(),
    m(FJ_TASK, "doExec", Run).always(),
    // A waiting thread may continue before `doExec` returns.
    m(FJ_TASK, "setDone", Tell),
    m(FJ_TASK, "trySetThrown", Tell),
    m(FJ_TASK, "trySetCancelled", Tell),
    m(FJ_TASK, "setCompletion", Tell).before(9),
    m(FJ_TASK, "abnormalCompletion", Tell).before(17),
    m(FJ_TASK, "join", Receive),
    m(FJ_TASK, "get", Receive),
    m(FJ_TASK, "invoke", Receive),
    m(FJ_TASK, "isDone", ReceiveIf),
    m(FJ_TASK, "quietlyJoin", Receive).with("()"),
    m(FJ_TASK, "quietlyJoin", ReceiveIf),
    m(FJ_TASK, "quietlyJoinUninterruptibly", ReceiveIf),
    m(FJ_TASK, "quietlyJoinPoolInvokeAllTask", Receive),
    m(FJ_TASK, "awaitPoolInvoke", Receive),
    m(FJ_TASK, "quietlyInvoke", Receive),
    m(FJ_TASK, "invokeAll", Hear)
        .with("(Ljava/util/concurrent/ForkJoinTask;")
        .of(Of::Local(0))
        .arg(1),
    m(FJ_TASK, "invokeAll", Hear).of(Of::Local(0)),
    m(COMPLETER, "tryComplete", Complete),
    m(COMPLETER, "propagateCompletion", Complete),
    m(COMPLETER, "complete", Complete),
    m(COMPLETER, "quietlyCompleteRoot", Complete),
    // The pool receives the end of every task.
    m(FJ_POOL, "awaitTermination", ReceiveIf),
    m(FJ_POOL, "awaitQuiescence", ReceiveIf),
    m(FJ_POOL, "isTerminated", ReceiveIf),
    m(FJ_POOL, "isQuiescent", ReceiveIf),
    m(FJ_POOL, "close", Receive),
    // `execute` and `submit` make a task of what they are given: that task is the one that a worker runs.
    m(FJ_POOL, "invoke", Invoke).of(Of::None).arg(1).always(),
    m(FJ_POOL, "externalSubmit", SendArgument).of(Of::None).arg(1).always(),
    m(FJ_POOL, "poolSubmit", SendArgument).of(Of::None).arg(2).always(),
    m(FJ_POOL, "externalPush", SendArgument)
        .of(Of::None)
        .arg(1)
        .always()
        .before(9),
    m(COMPLETABLE, "completeNull", Send).always(),
    m(COMPLETABLE, "completeValue", Send).always(),
    m(COMPLETABLE, "completeThrowable", Send).always(),
    m(COMPLETABLE, "encodeNil", Send).always(),
    m(COMPLETABLE, "completeRelay", Send).always(),
    m(COMPLETABLE, "internalComplete", Send).always(),
    m(COMPLETABLE, "get", Receive),
    m(COMPLETABLE, "join", Receive),
    m(COMPLETABLE, "getNow", Receive),
    m(COMPLETABLE, "isDone", ReceiveIf),
    m(COMPLETABLE, "allOf", Hear).of(Of::Local(0)),
    m(COMPLETABLE, "anyOf", Hear).of(Of::Local(0)),
    // What is registered before the end of the JVM runs after that, and so does what a Cleaner does for an object.
    m("java/lang/Runtime", "addShutdownHook", SendArgument).arg(1),
    m("java/lang/ref/Cleaner", "register", SendArgument).of(Of::None).arg(2),
    m(CLEANABLE, "performCleanup", Hear)
        .of(Of::Field("action", "Ljava/lang/Runnable;"))
        .always(),
    m("java/util/Timer", "sched", SendArgument).of(Of::None).arg(1),
    m("java/util/TaskQueue", "getMin", ReceiveResult).of(Of::None).always(),
    // The wakeup that ends a select happens before the return of that select.
    m("sun/nio/ch/EPollSelectorImpl", "wakeup", Tell),
    m("sun/nio/ch/SelectorImpl", "select", Hear),
    m("sun/nio/ch/SelectorImpl", "selectNow", Hear),
    // What is written to a pipe was done before it is read.
    m("java/io/PipedInputStream", "receive", Send),
    m("java/io/PipedInputStream", "receivedLast", Send),
    m("java/io/PipedInputStream", "read", ReceiveIf),
    m("java/io/PipedReader", "receive", Send),
    m("java/io/PipedReader", "receivedLast", Send),
    m("java/io/PipedReader", "read", ReceiveIf),
    // How a virtual thread gets its carrier is not the program's: the start already created the edge.
    m("java/lang/VirtualThread", "submitRunContinuation", Hide).of(Of::None),
    m("java/lang/VirtualThread", "externalSubmitRunContinuation", Hide).of(Of::None),
    m("java/lang/VirtualThread", "externalSubmitRunContinuationOrThrow", Hide).of(Of::None),
    m("java/lang/VirtualThread", "lazySubmitRunContinuation", Hide).of(Of::None),
    // A value that is set once.
    m(STABLE, "wrapAndSet", Tell),
    m(STABLE, "trySet", Hear),
    m(STABLE, "setOrThrow", Hear),
    m(STABLE, "orElseThrow", Hear),
    m(STABLE, "orElse", Hear),
    m(STABLE, "orElseSet", Hear),
    m(STABLE, "isSet", Hear),
    // Tasks of coroutines. Which worker takes which task from which queue is the pool's own affair.
    m(COROUTINES, "dispatch", SendArgument).of(Of::None).arg(1).always(),
    m(COROUTINE_WORKER, "findTask", Hide).of(Of::None).always(),
    m(COROUTINE_TASK, "run", Hear).of(Of::Field("block", "Ljava/lang/Runnable;")),
    m("kotlinx/coroutines/DispatchedTask", "run", Hear),
    // Maps.
    m(CHM, "get", MapGet).arg(1).state("entry"),
    m(CHM, "getOrDefault", MapGet).arg(1).state("entry"),
    m(CHM, "containsKey", MapGet).arg(1).state("entry"),
    m(CHM, "put", MapPut).arg(1).state("entry"),
    m(CHM, "putIfAbsent", MapPutIfAbsent).arg(1).state("entry"),
    m(CHM, "remove", MapRemove).arg(1).state("entry"),
    m(CHM, "replace", MapReplaceIf).arg(1).state("entry"),
    m(CHM, "compute", MapCompute).arg(1).state("entry"),
    m(CHM, "computeIfAbsent", MapCompute).arg(1).state("entry"),
    m(CHM, "computeIfPresent", MapCompute).arg(1).state("entry"),
    m(CHM, "merge", MapCompute).arg(1).state("entry"),
    m(CHM, "size", StateRead).state("size"),
    m(CHM, "isEmpty", StateRead).state("size"),
    m(CHM, "mappingCount", StateRead).state("size"),
    m(CHM, "clear", StateUpdate).state("size"),
    m(CSLM, "get", MapGet).arg(1).state("entry"),
    m(CSLM, "getOrDefault", MapGet).arg(1).state("entry"),
    m(CSLM, "containsKey", MapGet).arg(1).state("entry"),
    m(CSLM, "put", MapPut).arg(1).state("entry"),
    m(CSLM, "putIfAbsent", MapPutIfAbsent).arg(1).state("entry"),
    m(CSLM, "remove", MapRemove).arg(1).state("entry"),
    m(CSLM, "replace", MapReplaceIf).arg(1).state("entry"),
    m(CSLM, "compute", MapCompute).arg(1).state("entry"),
    m(CSLM, "computeIfAbsent", MapCompute).arg(1).state("entry"),
    m(CSLM, "computeIfPresent", MapCompute).arg(1).state("entry"),
    m(CSLM, "merge", MapCompute).arg(1).state("entry"),
    m(CSLM, "size", StateRead).state("size"),
    m(CSLM, "isEmpty", StateRead).state("size"),
    m(CSLM, "clear", StateUpdate).state("size"),
    // Lists that copy on write.
    m(COWA, "get", StateRead).state("state"),
    m(COWA, "size", StateRead).state("state"),
    m(COWA, "isEmpty", StateRead).state("state"),
    m(COWA, "contains", StateRead).state("state"),
    m(COWA, "indexOf", StateRead)
        .with("(Ljava/lang/Object;)")
        .state("state"),
    m(COWA, "iterator", StateRead).state("state"),
    m(COWA, "listIterator", StateRead).state("state"),
    m(COWA, "toArray", StateRead).state("state"),
    m(COWA, "forEach", StateRead).state("state"),
    m(COWA, "add", StateUpdate).state("state"),
    m(COWA, "addIfAbsent", StateUpdate)
        .with("(Ljava/lang/Object;)")
        .state("state"),
    m(COWA, "addAll", StateUpdate).state("state"),
    m(COWA, "addAllAbsent", StateUpdate).state("state"),
    m(COWA, "set", StateUpdate).state("state"),
    m(COWA, "remove", StateUpdate).state("state"),
    m(COWA, "removeIf", StateUpdate).state("state"),
    m(COWA, "removeAll", StateUpdate).state("state"),
    m(COWA, "retainAll", StateUpdate).state("state"),
    m(COWA, "replaceAll", StateUpdate).state("state"),
    m(COWA, "sort", StateUpdate).state("state"),
    m(COWA, "clear", StateUpdate).state("state"),
    // Class loading and linking happen in whichever thread comes first, and are not the program's.
    m("java/lang/ClassLoader", "loadClass", Hide).of(Of::None),
    m("java/lang/ClassLoader", "checkPackageAccess", Hide)
        .of(Of::None)
        .before(9),
    m("sun/misc/Launcher$AppClassLoader", "loadClass", Hide)
        .of(Of::None)
        .before(9),
    m("jdk/internal/loader/BuiltinClassLoader", "loadClassOrNull", Hide).of(Of::None),
    m("jdk/internal/loader/BuiltinClassLoader", "loadClass", Hide).of(Of::None),
    m("java/lang/invoke/MethodHandleNatives", "linkCallSite", Hide).of(Of::None),
    m("java/lang/invoke/MethodHandleNatives", "linkMethod", Hide).of(Of::None),
    m("java/lang/invoke/MethodHandleNatives", "linkMethodHandleConstant", Hide).of(Of::None),
    m("java/lang/invoke/MethodHandleNatives", "linkDynamicConstant", Hide).of(Of::None),
    m("java/lang/invoke/MethodHandleNatives", "findMethodHandleType", Hide).of(Of::None),
    m("java/lang/invoke/MethodType", "makeImpl", Hide).of(Of::None),
];

pub(super) const QUEUES: &[&str] = &[
    "ArrayBlockingQueue",
    "LinkedBlockingQueue",
    "LinkedBlockingDeque",
    "PriorityBlockingQueue",
    "SynchronousQueue",
    "LinkedTransferQueue",
    "DelayQueue",
    "ConcurrentLinkedQueue",
    "ConcurrentLinkedDeque",
    "ScheduledThreadPoolExecutor$DelayedWorkQueue",
];

/// Methods of queues; `x` is the element. Where one calls another, only the outer one counts.
pub(super) const QUEUE_METHODS: &[(&str, &str, Effect)] = &[
    ("add", "", QueuePut),
    ("addFirst", "", QueuePut),
    ("addLast", "", QueuePut),
    ("offer", "", QueuePut),
    ("offerFirst", "", QueuePut),
    ("offerLast", "", QueuePut),
    ("put", "", QueuePut),
    ("putFirst", "", QueuePut),
    ("putLast", "", QueuePut),
    ("push", "", QueuePut),
    ("transfer", "", QueuePut),
    ("tryTransfer", "", QueuePut),
    ("take", "", QueueTake),
    ("takeFirst", "", QueueTake),
    ("takeLast", "", QueueTake),
    ("poll", "", QueueTake),
    ("pollFirst", "", QueueTake),
    ("pollLast", "", QueueTake),
    ("remove", "()", QueueTake),
    ("removeFirst", "", QueueTake),
    ("removeLast", "", QueueTake),
    ("pop", "", QueueTake),
    ("peek", "", QueueLook),
    ("peekFirst", "", QueueLook),
    ("peekLast", "", QueueLook),
    ("element", "", QueueLook),
    ("size", "", StateRead),
    ("isEmpty", "", StateRead),
    ("contains", "", StateRead),
    ("remainingCapacity", "", StateRead),
    ("clear", "", StateUpdate),
    ("drainTo", "", StateUpdate),
    ("remove", "(Ljava/lang/Object;)", StateUpdate),
    ("addAll", "", StateUpdate),
    ("removeIf", "", StateUpdate),
];

/// Methods of the atomic classes by how their names begin, the longest first.
pub(super) const ATOMIC_METHODS: &[(&str, Effect)] = &[
    ("compareAndSet", CompareAndSet),
    ("compareAndExchange", Update),
    ("weakCompareAndSet", CompareAndSet),
    ("getAnd", Update),
    ("incrementAndGet", Update),
    ("decrementAndGet", Update),
    ("addAndGet", Update),
    ("updateAndGet", Update),
    ("accumulateAndGet", Update),
    ("lazySet", Set),
    ("set", Set),
    ("get", Get),
    ("intValue", Get),
    ("longValue", Get),
    ("attemptMark", CompareAndSet),
    ("attemptStamp", CompareAndSet),
    ("isMarked", Get),
    ("increment", Update),
    ("decrement", Update),
    ("add", Update),
    ("accumulate", Update),
    ("sumThenReset", Update),
    ("sum", Get),
    ("reset", Set),
];

/// Methods of `Unsafe` by how their names begin, the longest first.
pub(super) const UNSAFE_METHODS: &[(&str, Effect)] = &[
    ("compareAndSwap", CompareAndSet),
    ("getAnd", Update),
    ("get", Get),
    ("put", Set),
];
