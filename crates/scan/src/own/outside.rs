//! What is assumed of code outside the world: which classes of the JDK are tame, and which methods it calls back.
//!
//! A tame class keeps what it is given to itself and to whoever asks it, on the thread that asks: it starts no thread, keeps
//! nothing in statics, and hands nothing to another thread. Everything else may do all of that.

/// Whether a class is part of the platform.
pub fn is_jdk(name: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 8] = [
        b"java/",
        b"javax/",
        b"jdk/",
        b"sun/",
        b"com/sun/",
        b"org/xml/sax/",
        b"org/w3c/dom/",
        b"org/ietf/jgss/",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The collections, their views, nodes and iterators, and helpers that work on what they are given.
const TAME_UTIL: [&str; 37] = [
    "AbstractCollection",
    "AbstractList",
    "AbstractMap",
    "AbstractQueue",
    "AbstractSequentialList",
    "AbstractSet",
    "ArrayDeque",
    "ArrayList",
    "Arrays",
    "BitSet",
    "Collection",
    "Collections",
    "Comparator",
    "Deque",
    "Dictionary",
    "Enumeration",
    "HashMap",
    "HashSet",
    "Hashtable",
    "IdentityHashMap",
    "Iterator",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "List",
    "ListIterator",
    "Map",
    "Objects",
    "Optional",
    "PriorityQueue",
    "Queue",
    "Random",
    "Set",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
];

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
        return TAME_UTIL.contains(&simple) && !parallel;
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
