//! Where a class comes from, by its name alone: the platform (the JDK), a framework that usually surrounds the program under
//! test, or the program itself.
//!
//! One table, in the lowest crate that the agent, the analyses and the scan all see, so that the part of a run that is left
//! out of the recording is the part that a report attributes to its caller. Names may be dotted (`java.util.List`) or
//! internal (`java/util/List`), and text or bytes.

/// Where a class comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// Part of the JDK. A program cannot change it, only its own calls.
    Platform,
    /// Build tools, test runners, language runtimes, mocking, logging: not the subject of a test unless the user says so.
    Framework,
    /// The program under test and its libraries.
    Application,
}

/// How the internal names of classes begin that are not the application's. Prefixes of the table exclude each other.
const PREFIXES: &[(Origin, &[&str])] = &[
    (
        Origin::Platform,
        &[
            "java/",
            "javax/",
            "jdk/",
            "sun/",
            "com/sun/",
            "org/xml/sax/",
            "org/w3c/dom/",
            "org/ietf/jgss/",
            "netscape/javascript/",
            "org/jcp/xml/dsig/",
            "com/oracle/",
            "org/graalvm/",
        ],
    ),
    (
        Origin::Framework,
        &[
            "org/apache/maven/",
            "org/codehaus/plexus/",
            "org/codehaus/classworlds/",
            "org/codehaus/groovy/",
            "org/eclipse/aether/",
            "org/eclipse/sisu/",
            "com/google/inject/",
            "com/google/common/",
            "org/gradle/",
            "worker/org/gradle/",
            "org/junit/",
            "junit/",
            "org/opentest4j/",
            "org/apiguardian/",
            "org/testng/",
            "org/hamcrest/",
            "org/assertj/",
            "org/mockito/",
            "net/bytebuddy/",
            "org/objenesis/",
            "org/slf4j/",
            "ch/qos/logback/",
            "org/apache/logging/",
            "org/apache/log4j/",
            "org/apache/commons/logging/",
            "org/fusesource/jansi/",
            "org/jline/",
            "kotlin/",
            "kotlinx/coroutines/",
            "scala/",
            "groovy/",
            "groovyjarjar",
            "com/intellij/rt/",
            "org/eclipse/jdt/internal/junit",
            "aj/org/",
            "ravel/junit/",
        ],
    ),
];

/// The unsynchronised and synchronised collections of `java.util`, without their nodes, views and iterators.
pub const COLLECTIONS: &[&str] = &[
    "AbstractCollection",
    "AbstractList",
    "AbstractMap",
    "AbstractQueue",
    "AbstractSequentialList",
    "AbstractSet",
    "ArrayDeque",
    "ArrayList",
    "BitSet",
    "Dictionary",
    "EnumMap",
    "HashMap",
    "HashSet",
    "Hashtable",
    "IdentityHashMap",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "PriorityQueue",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
    "WeakHashMap",
];

/// Formats and calendars: they look like values, are shared like them, and change with every use.
const FORMATS: &[&str] = &[
    "java/text/Format",
    "java/text/DateFormat",
    "java/text/SimpleDateFormat",
    "java/text/NumberFormat",
    "java/text/DecimalFormat",
    "java/text/DigitList",
    "java/util/Calendar",
    "java/util/GregorianCalendar",
];

/// Classes that programs share by mistake and that the JDK itself uses everywhere, under locks of its own: what is in them counts only
/// where the program calls one of them.
const TOOLS: &[&str] = &[
    "java/io/ByteArrayOutputStream",
    "java/lang/AbstractStringBuilder",
    "java/nio/Buffer",
    "java/util/Scanner",
    "java/util/StringJoiner",
    "java/util/StringTokenizer",
    "java/util/regex/Matcher",
];

/// The classes that inherit what the program uses of [`TOOLS`].
const KINDS_OF_TOOLS: &[&str] = &[
    "java/lang/StringBuilder",
    "java/nio/ByteBuffer",
    "java/nio/CharBuffer",
    "java/nio/DoubleBuffer",
    "java/nio/FloatBuffer",
    "java/nio/IntBuffer",
    "java/nio/LongBuffer",
    "java/nio/MappedByteBuffer",
    "java/nio/ShortBuffer",
];

impl Origin {
    /// Where the class of this name comes from.
    pub fn of(class: impl AsRef<[u8]>) -> Origin {
        let class = class.as_ref();
        let known = PREFIXES
            .iter()
            .find(|(_, prefixes)| prefixes.iter().any(|prefix| begins(class, prefix)));
        known.map_or(Origin::Application, |(origin, _)| *origin)
    }
}

/// Frameworks that write log lines: threads meet in them by accident.
const LOGGING: &[&str] = &[
    "org/slf4j/",
    "ch/qos/logback/",
    "org/apache/logging/",
    "org/apache/log4j/",
    "org/apache/commons/logging/",
    "org/fusesource/jansi/",
    "org/jline/",
];

/// Pools of frameworks that run tasks in any order on any thread. That two tasks had one worker, or were taken from one queue, is an
/// accident; models of the agent say what orders them.
const SCHEDULERS: &[&str] = &["kotlinx/coroutines/scheduling/"];

/// Whether the class of this name writes log lines.
pub fn is_logging(class: impl AsRef<[u8]>) -> bool {
    LOGGING.iter().any(|prefix| begins(class.as_ref(), prefix))
}

/// Whether the class of this name is part of a pool of a framework.
pub fn is_scheduler(class: impl AsRef<[u8]>) -> bool {
    SCHEDULERS.iter().any(|prefix| begins(class.as_ref(), prefix))
}

/// How the internal names of the classes of a framework begin, if the class of this name is of one: `org/junit/`.
pub fn framework(class: impl AsRef<[u8]>) -> Option<&'static str> {
    let class = class.as_ref();
    let (_, prefixes) = PREFIXES.iter().find(|(origin, _)| *origin == Origin::Framework)?;
    prefixes.iter().copied().find(|prefix| begins(class, prefix))
}

/// Whether the class of this name is part of the JDK.
pub fn is_platform(class: impl AsRef<[u8]>) -> bool {
    Origin::of(class) == Origin::Platform
}

/// Whether the class of this name is one of the [`COLLECTIONS`], or a node, view or iterator of one.
pub fn is_collection(class: impl AsRef<[u8]>) -> bool {
    let class = class.as_ref();
    if !begins(class, "java/util/") {
        return false;
    }
    let simple = &class["java/util/".len()..];
    let outer = simple.split(|byte| *byte == b'$').next().unwrap_or_default();
    COLLECTIONS.iter().any(|known| known.as_bytes() == outer)
}

/// What of `java/util/` has no state that threads could share: packages, and classes.
const STATELESS: &[&str] = &[
    "java/util/Comparator",
    "java/util/Locale",
    "java/util/Objects",
    "java/util/Optional",
    "java/util/UUID",
    "java/util/function/",
    "java/util/stream/",
];

/// Whether what a method does is recorded that the program may call by a reference, `list::add`: it is of such a class of the JDK, or its name and
/// descriptor are those of a collection's method, which a class of the program may have inherited. Where it has not, the reference is the same as a
/// lambda.
pub fn is_called_by_reference(class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
    match is_platform(class) {
        true => is_recorded_in(class),
        false => of_collections(name, descriptor),
    }
}

/// Whether collections have a method of this name and descriptor that uses what they contain.
fn of_collections(name: &[u8], descriptor: &[u8]) -> bool {
    const METHODS: &[(&str, &[&str])] = &[
        (
            "",
            &[
                "clear",
                "remove",
                "poll",
                "pop",
                "peek",
                "element",
                "removeFirst",
                "removeLast",
                "pollFirst",
                "pollLast",
                "getFirst",
                "getLast",
                "size",
                "isEmpty",
                "iterator",
                "next",
            ],
        ),
        (
            "Ljava/lang/Object;",
            &[
                "add",
                "addElement",
                "addFirst",
                "addLast",
                "contains",
                "containsKey",
                "get",
                "indexOf",
                "offer",
                "offerFirst",
                "offerLast",
                "push",
                "remove",
                "removeElement",
            ],
        ),
        (
            "Ljava/lang/Object;Ljava/lang/Object;",
            &["getOrDefault", "put", "putIfAbsent", "remove", "replace"],
        ),
        ("I", &["get", "remove"]),
        ("ILjava/lang/Object;", &["add", "set"]),
        ("Ljava/util/Collection;", &["addAll", "removeAll", "retainAll"]),
        ("Ljava/util/Map;", &["putAll"]),
    ];
    let arguments = descriptor
        .strip_prefix(b"(")
        .and_then(|rest| rest.split(|byte| *byte == b')').next());
    let is_one = |(of, names): &(&str, &[&str])| {
        arguments == Some(of.as_bytes()) && names.iter().any(|known| known.as_bytes() == name)
    };
    METHODS.iter().any(is_one)
}

/// Whether what the methods of this class of the JDK do is recorded.
fn is_recorded_in(class: &[u8]) -> bool {
    let of_util = begins(class, "java/util/") && !STATELESS.iter().any(|known| begins(class, known));
    let text = ["java/lang/Appendable", "java/lang/Iterable", "java/lang/StringBuffer"];
    of_util
        || begins(class, "java/text/")
        || text.iter().any(|known| is(class, known))
        || TOOLS.iter().chain(KINDS_OF_TOOLS).any(|known| is(class, known))
}

/// Whether the class of this name is a format or a calendar.
pub fn is_format(class: impl AsRef<[u8]>) -> bool {
    let class = class.as_ref();
    FORMATS.iter().any(|known| is(class, known))
}

/// Services of the JDK: what they keep in collections is guarded by class initialisers and locks that are not recorded. A prefix that ends with `/` is a
/// package with all below it.
const SERVICES: &[&str] = &[
    "java/awt/",
    "java/io/",
    "java/lang/ClassLoader",
    "java/lang/management/",
    "java/net/",
    "java/nio/channels/",
    "java/rmi/",
    "java/security/",
    "java/util/Locale",
    "java/util/ResourceBundle",
    "java/util/ServiceLoader",
    "java/util/jar/",
    "java/util/logging/",
    "java/util/prefs/",
    "java/util/zip/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
];

/// Those among them that are given collections of the program, and read them.
const READERS: &[&str] = &[
    "java/io/ObjectOutput",
    "java/io/ObjectOutputStream",
    "java/io/PrintStream",
    "java/io/PrintWriter",
    "java/io/SequenceInputStream",
];

/// Whether a program that calls a method of this class uses a service of the JDK, so that collections inside are the JDK's own.
pub fn calls_service(class: impl AsRef<[u8]>) -> bool {
    let class = class.as_ref();
    let is_service = |known: &&str| match known.ends_with('/') {
        true => begins(class, known),
        false => is(class, known),
    };
    SERVICES.iter().any(is_service) && !READERS.iter().any(|known| is(class, known))
}

/// Whether the class of this name is one of those whose content counts only where the program calls one of them.
pub fn is_tool(class: impl AsRef<[u8]>) -> bool {
    TOOLS.iter().any(|known| is(class.as_ref(), known))
}

/// Whether a program that calls a method of this class uses a [tool](is_tool).
pub fn calls_tool(class: impl AsRef<[u8]>) -> bool {
    let class = class.as_ref();
    is_tool(class) || KINDS_OF_TOOLS.iter().any(|known| is(class, known))
}

/// Whether a dotted or internal name is an internal one.
fn is(class: &[u8], known: &str) -> bool {
    known.len() == class.len() && begins(class, known)
}

/// Whether a dotted or internal name begins with an internal one.
fn begins(class: &[u8], prefix: &str) -> bool {
    let same = |(a, b): (&u8, u8)| *a == b || (*a == b'.' && b == b'/');
    class.len() >= prefix.len() && class.iter().zip(prefix.bytes()).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_name_have_one_origin() {
        for (name, origin) in [
            ("java.lang.String", Origin::Platform),
            ("com.sun.net.httpserver.HttpServer", Origin::Platform),
            ("org.w3c.dom.Node", Origin::Platform),
            ("org.junit.Test", Origin::Framework),
            ("kotlin.collections.ArrayDeque", Origin::Framework),
            ("groovyjarjarasm.asm.Opcodes", Origin::Framework),
            ("shop.Stock", Origin::Application),
            ("javan.Stock", Origin::Application),
            ("com.sunny.Stock", Origin::Application),
            ("Main", Origin::Application),
            ("java", Origin::Application),
            ("", Origin::Application),
        ] {
            assert_eq!(Origin::of(name), origin, "{name}");
            assert_eq!(Origin::of(name.replace('.', "/")), origin, "{name}");
        }
    }

    #[test]
    fn no_prefix_covers_another() {
        let all: Vec<&str> = PREFIXES
            .iter()
            .flat_map(|(_, prefixes)| prefixes.iter().copied())
            .collect();
        for (at, prefix) in all.iter().enumerate() {
            let covered = |(other, longer): (usize, &&str)| other != at && longer.starts_with(prefix);
            let longer = all.iter().enumerate().find(|(other, longer)| covered((*other, longer)));
            assert_eq!(longer, None, "{prefix}");
        }
    }

    #[test]
    fn collections_come_with_their_parts() {
        assert!(is_collection("java/util/HashMap$Node") && is_collection("java.util.ArrayList"));
        assert!(!is_collection("java/util/ArrayLister") && !is_collection("java/util/concurrent/ConcurrentHashMap"));
        assert!(is_format("java.text.DecimalFormat") && !is_format("java/text/DecimalFormatSymbols"));
    }

    #[test]
    fn a_reference_to_an_inherited_method_of_a_collection_is_a_call_of_it() {
        let wanted = |class: &str, name: &str, of: &str| {
            is_called_by_reference(class.as_bytes(), name.as_bytes(), of.as_bytes())
        };
        assert!(wanted("java/util/List", "add", "(Ljava/lang/Object;)Z"));
        assert!(wanted("java/util/List", "sort", "(Ljava/util/Comparator;)V"));
        assert!(!wanted("java/lang/String", "add", "(Ljava/lang/Object;)Z"));
        assert!(wanted("shop/Bag", "add", "(Ljava/lang/Object;)Z"));
        assert!(wanted(
            "shop/Bag",
            "put",
            "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"
        ));
        assert!(!wanted("shop/Bag", "add", "(Lshop/Item;)V") && !wanted("shop/Bag", "serve", "()V"));
    }

    #[test]
    fn a_tool_counts_where_the_program_calls_one_of_its_kind() {
        assert!(is_tool("java/nio/Buffer") && !is_tool("java/nio/ByteBuffer") && !is_tool("java/lang/StringBuffer"));
        assert!(calls_tool("java.nio.ByteBuffer") && calls_tool("java.util.regex.Matcher"));
        assert!(!calls_tool("java.io.PrintWriter") && !calls_tool("java.lang.StringBuffer"));
    }

    #[test]
    fn collections_inside_a_service_of_the_jdk_are_its_own() {
        assert!(calls_service("java.net.Socket") && calls_service("java/io/InputStream"));
        assert!(calls_service("java.util.ResourceBundle") && calls_service("sun.nio.ch.NioSocketImpl"));
        assert!(!calls_service("java.io.PrintStream") && !calls_service("java.util.HashMap"));
        assert!(!calls_service("java.util.stream.Stream") && !calls_service("java.lang.Iterable"));
    }
}
