//! What belongs to the JDK, by name alone: its packages, and the collections and formats that are looked into.

/// How the internal names of the platform's classes begin.
pub const PACKAGES: &[&str] = &[
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

/// Whether a class of this internal name is a format or a calendar.
pub fn is_format(name: &[u8]) -> bool {
    FORMATS.iter().any(|known| known.as_bytes() == name)
}

/// Whether a class of this internal name is part of the platform.
pub fn is_platform(name: &[u8]) -> bool {
    PACKAGES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
}

/// Whether a class of this internal name is one of the [`COLLECTIONS`], or a node, view or iterator of one.
pub fn is_collection(name: &[u8]) -> bool {
    let Some(simple) = name.strip_prefix(b"java/util/") else {
        return false;
    };
    let outer = simple.split(|byte| *byte == b'$').next().unwrap_or_default();
    COLLECTIONS.iter().any(|known| known.as_bytes() == outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_come_with_their_parts() {
        assert!(is_collection(b"java/util/HashMap$Node") && is_collection(b"java/util/ArrayList"));
        assert!(!is_collection(b"java/util/ArrayLister") && !is_collection(b"java/util/concurrent/ConcurrentHashMap"));
        assert!(is_platform(b"java/lang/String") && !is_platform(b"shop/Stock"));
    }
}
