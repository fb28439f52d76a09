//! The assumptions about code outside the world: which classes of the JDK are tame, and which methods it calls back.
//!
//! A tame class returns its arguments only to its callers, on their own thread: it starts no thread, keeps nothing in statics, and
//! hands nothing to another thread. Every other class may do all of that.

use ravel_trace::origin::COLLECTIONS;
pub use ravel_trace::origin::is_platform as is_jdk;

/// The interfaces of the collections, and helpers that work on what they are given.
const TAME_UTIL: [&str; 15] = [
    "Arrays",
    "Collection",
    "Collections",
    "Comparator",
    "Deque",
    "Enumeration",
    "Iterator",
    "List",
    "ListIterator",
    "Map",
    "Objects",
    "Optional",
    "Queue",
    "Random",
    "Set",
];

/// Whether a call copies elements from its first argument to its third.
pub fn is_array_copy(class: &[u8], selector: &[u8]) -> bool {
    class == b"java/lang/System" && selector.starts_with(b"arraycopy(")
}

/// Whether a method of a class is tame.
pub fn is_tame(class: &[u8], selector: &[u8]) -> bool {
    let Ok(class) = std::str::from_utf8(class) else {
        return false;
    };
    let name = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
    if let Some(rest) = class.strip_prefix("java/util/") {
        if rest.starts_with("function/") {
            return true;
        }
        let simple = rest.split('$').next().unwrap_or(rest);
        let parallel = name.starts_with(b"parallel") || matches!(name, b"stream" | b"spliterator");
        return (COLLECTIONS.contains(&simple) || TAME_UTIL.contains(&simple)) && !parallel;
    }
    match class.strip_prefix("java/lang/") {
        Some(
            "Object" | "String" | "StringBuilder" | "StringBuffer" | "Math" | "StrictMath" | "Integer" | "Long"
            | "Short" | "Byte" | "Character" | "Boolean" | "Float" | "Double" | "Number" | "Enum" | "Record"
            | "Iterable" | "Comparable" | "CharSequence" | "Cloneable" | "AutoCloseable" | "Runnable",
        ) => !matches!(name, b"wait" | b"valueOf" if class.ends_with("Enum") || name == b"wait"),
        Some("System") => matches!(name, b"arraycopy" | b"identityHashCode"),
        Some("Throwable") => true,
        Some(other) => !other.contains('/') && (other.ends_with("Exception") || other.ends_with("Error")),
        None => class == "java/io/Serializable" || class == "java/io/Closeable" || shows_only(class.as_bytes()),
    }
}

/// Whether a class of the JDK is one of what is thrown.
pub fn is_throwable(class: &[u8]) -> bool {
    let named = class.ends_with(b"Exception") || class.ends_with(b"Error") || class == b"java/lang/Throwable";
    named && class.starts_with(b"java/")
}

/// Classes that collections keep and take nothing out of: those of `java.lang` that are not tame.
pub fn is_closed(class: &[u8]) -> bool {
    let simple = class.strip_prefix(b"java/lang/");
    simple.is_some_and(|simple| !simple.contains(&b'/')) && !is_tame(class, b"toString()")
}

/// Methods of the JDK that start no thread and call nothing back, though what they are given may go anywhere.
pub fn starts_no_thread(class: &[u8], selector: &[u8]) -> bool {
    let name = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
    match class {
        b"java/lang/System" => matches!(
            name,
            b"nanoTime" | b"currentTimeMillis" | b"getProperty" | b"getenv" | b"lineSeparator" | b"identityHashCode"
        ),
        b"java/lang/Runtime" => matches!(
            name,
            b"getRuntime" | b"availableProcessors" | b"totalMemory" | b"maxMemory" | b"freeMemory"
        ),
        _ => match class.strip_prefix(b"java/util/concurrent/") {
            Some(rest) => {
                // Those that take functions call them.
                let plain = !selector.contains(&b'L') || rest == b"CyclicBarrier";
                rest.starts_with(b"atomic/Atomic") && (plain || name == b"<init>")
                    || name == b"<init>"
                        && plain
                        && (rest.starts_with(b"locks/")
                            || matches!(
                                rest,
                                b"CyclicBarrier"
                                    | b"CountDownLatch"
                                    | b"Semaphore"
                                    | b"Phaser"
                                    | b"ConcurrentHashMap"
                                    | b"ConcurrentLinkedQueue"
                                    | b"ConcurrentLinkedDeque"
                                    | b"LinkedBlockingQueue"
                                    | b"ArrayBlockingQueue"
                                    | b"PriorityBlockingQueue"
                                    | b"CopyOnWriteArrayList"
                            ))
            }
            None => false,
        },
    }
}

/// Collections that keep what they are given and never look into it.
pub fn only_keeps(class: &[u8]) -> bool {
    let Some(name) = class.strip_prefix(b"java/util/") else {
        return false;
    };
    let helper = matches!(name, b"Arrays" | b"Collections" | b"Random" | b"Objects");
    !helper && !name.starts_with(b"function/") && is_tame(class, b"add(")
}

/// Classes that never call methods of what they hold, in methods that take no function.
pub fn never_calls_back(class: &[u8], selector: &[u8]) -> bool {
    let Some(name) = class.strip_prefix(b"java/util/") else {
        return false;
    };
    let outer = name.split(|byte| *byte == b'$').next().unwrap_or_default();
    let plain = matches!(
        outer,
        b"ArrayList" | b"ArrayDeque" | b"LinkedList" | b"Vector" | b"Stack" | b"BitSet" | b"Random"
    );
    let method = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
    plain && !matches!(method, b"toString" | b"equals" | b"hashCode" | b"finalize")
}

/// Methods of collections that put what they are given where it belongs, and do nothing with it.
pub fn stores(selector: &[u8]) -> bool {
    let method = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
    matches!(
        method,
        b"add" | b"addFirst" | b"addLast" | b"offer" | b"offerFirst" | b"offerLast" | b"push" | b"set" | b"addElement"
    )
}

/// Whether a method of a collection gives out what the collection holds, and never the collection itself or a view of it. An
/// entry of a map counts as a view: it counts as its map.
pub fn gives_content(class: &[u8], selector: &[u8]) -> bool {
    let Some(class) = class.strip_prefix(b"java/util/") else {
        return false;
    };
    let method = selector.split(|byte| *byte == b'(').next().unwrap_or_default();
    match class {
        b"ArrayList" | b"ArrayDeque" | b"LinkedList" | b"PriorityQueue" | b"Vector" | b"Stack" => matches!(
            method,
            b"get"
                | b"getFirst"
                | b"getLast"
                | b"poll"
                | b"pollFirst"
                | b"pollLast"
                | b"peek"
                | b"peekFirst"
                | b"peekLast"
                | b"pop"
                | b"element"
                | b"remove"
                | b"removeFirst"
                | b"removeLast"
                | b"set"
        ),
        b"HashMap" | b"LinkedHashMap" | b"TreeMap" | b"IdentityHashMap" | b"Hashtable" => matches!(
            method,
            b"get" | b"getOrDefault" | b"getKey" | b"getValue" | b"put" | b"putIfAbsent"
        ),
        _ => false,
    }
}

/// Classes that look at what they are given (as text) and keep nothing.
pub fn shows_only(class: &[u8]) -> bool {
    matches!(
        class,
        b"java/io/PrintStream" | b"java/lang/StringBuilder" | b"java/lang/StringBuffer"
    )
}

/// Whether code that knows an object as one of `parent` may call its method of this name.
pub fn may_be_called(parent: &[u8], method: &str) -> bool {
    let Ok(parent) = std::str::from_utf8(parent) else {
        return true;
    };
    let names: &[&str] = match parent {
        "java/lang/Object" => &["toString", "equals", "hashCode", "finalize", "clone"],
        "java/lang/Runnable" => &["run"],
        "java/util/concurrent/Callable" => &["call"],
        "java/lang/Comparable" => &["compareTo"],
        "java/util/Comparator" => &["compare"],
        "java/lang/Cloneable" | "java/lang/Record" | "java/lang/Enum" => &[],
        "java/io/Serializable" => &[
            "readObject",
            "writeObject",
            "readResolve",
            "writeReplace",
            "readObjectNoData",
        ],
        "java/util/Iterator" => &["hasNext", "next", "remove", "forEachRemaining"],
        "java/lang/Iterable" => &["iterator", "forEach", "spliterator"],
        "java/lang/AutoCloseable" | "java/io/Closeable" => &["close"],
        "java/lang/Thread" => &[
            "run",
            "interrupt",
            "start",
            "getUncaughtExceptionHandler",
            "getContextClassLoader",
            "getId",
            "threadId",
        ],
        "java/util/concurrent/RecursiveAction" | "java/util/concurrent/RecursiveTask" => &["compute"],
        "java/lang/Throwable" | "java/lang/Exception" | "java/lang/RuntimeException" | "java/lang/Error" => &[
            "getMessage",
            "getLocalizedMessage",
            "getCause",
            "initCause",
            "fillInStackTrace",
            "printStackTrace",
            "getStackTrace",
            "setStackTrace",
        ],
        _ => return true,
    };
    names.contains(&method)
}
