//! The library methods that mean something to the analyses.

use ravel_classfile::MemberRef;

/// What a call means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// A call like any other.
    Plain,
    /// `Lock.lock`, `Lock.lockInterruptibly`
    Lock,
    /// `Lock.tryLock`
    TryLock,
    /// `Lock.unlock`
    Unlock,
    /// `ReadWriteLock.readLock`, `ReadWriteLock.writeLock`
    ReadWrite,
    /// `Object.wait` or `Condition.await` without a time limit.
    Wait,
    /// The same with a time limit.
    TimedWait,
    /// `Object.notify`, `Object.notifyAll`
    Notify,
    /// A call to a method that the code does not name.
    Reflective,
}

/// The locks of the library; classes that extend or implement them are locks as well.
pub(super) const LOCKS: [&[u8]; 4] = [
    b"java/util/concurrent/locks/Lock",
    b"java/util/concurrent/locks/ReentrantLock",
    b"java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock",
    b"java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock",
];

/// What a call to this method means; `is_lock` says whether the class it names is a lock.
pub(super) fn meaning(method: &MemberRef<'_>, is_lock: &dyn Fn() -> bool) -> Meaning {
    match (method.name, method.descriptor) {
        (b"wait", b"()V") => Meaning::Wait,
        (b"wait", b"(J)V" | b"(JI)V") => Meaning::TimedWait,
        (b"notify" | b"notifyAll", b"()V") => Meaning::Notify,
        (b"lock" | b"lockInterruptibly", b"()V") if is_lock() => Meaning::Lock,
        (b"unlock", b"()V") if is_lock() => Meaning::Unlock,
        (b"tryLock", _) if is_lock() => Meaning::TryLock,
        (b"readLock" | b"writeLock", descriptor) if descriptor.starts_with(b"()Ljava/util/concurrent/locks/") => {
            Meaning::ReadWrite
        }
        (b"await" | b"awaitUninterruptibly", b"()V") if method.class.ends_with(b"/locks/Condition") => Meaning::Wait,
        (b"await" | b"awaitNanos" | b"awaitUntil", _) if method.class.ends_with(b"/locks/Condition") => {
            Meaning::TimedWait
        }
        (b"invoke", _) if method.class == b"java/lang/reflect/Method" => Meaning::Reflective,
        (b"newInstance", _)
            if method.class == b"java/lang/reflect/Constructor" || method.class == b"java/lang/Class" =>
        {
            Meaning::Reflective
        }
        (b"invoke" | b"invokeExact", _) if method.class == b"java/lang/invoke/MethodHandle" => Meaning::Reflective,
        _ => Meaning::Plain,
    }
}
