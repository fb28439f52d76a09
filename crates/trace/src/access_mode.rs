//! How an access orders threads that is made by a call: through a `VarHandle`, a field updater or `Unsafe`; or by an instruction beside a fence. The
//! location may be a plain field or array element; a plain access to it races with such an access all the same.

use crate::ids::SiteId;
use crate::names::{Names, SiteKind};

/// The mode of an access that is atomic by itself: it races with no other access of that kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AccessMode {
    /// What it reads comes after the write that it saw.
    pub acquires: bool,
    /// A read that sees what it writes comes after it.
    pub releases: bool,
}

impl AccessMode {
    /// The mode of a method, by its class and name (`java.lang.invoke.VarHandle.getAcquire`); none for plain accesses and for
    /// methods of other classes.
    pub fn of_call(call: &str) -> Option<AccessMode> {
        let call = call.split('(').next().unwrap_or(call);
        let (class, method) = call.rsplit_once('.')?;
        let is_plain = match class {
            "java.lang.invoke.VarHandle" => matches!(method, "get" | "set"),
            "sun.misc.Unsafe" => {
                let of_type = method.strip_prefix("get").or_else(|| method.strip_prefix("put"));
                of_type.is_some_and(|of_type| TYPES.contains(&of_type))
            }
            _ if class.starts_with("java.util.concurrent.atomic.") && class.ends_with("FieldUpdater") => false,
            _ => return None,
        };
        let is = |word: &str| method.ends_with(word);
        let opaque = is("Opaque") || is("Plain");
        let release = is("Release") || method == "lazySet" || method.starts_with("putOrdered");
        (!is_plain).then_some(AccessMode {
            acquires: !opaque && !release,
            releases: !opaque && !is("Acquire"),
        })
    }
}

/// What the plain accesses of `Unsafe` are called by.
const TYPES: [&str; 10] = [
    "Boolean",
    "Byte",
    "Short",
    "Char",
    "Int",
    "Long",
    "Float",
    "Double",
    "Object",
    "Reference",
];

impl Names {
    /// The mode of the accesses that are made at a site; none if they are plain, or as their location is.
    pub fn access_mode(&self, site: SiteId) -> Option<AccessMode> {
        match &self.sites.get(site.index())?.what {
            SiteKind::Call(call) => AccessMode::of_call(call),
            // A read acquires, a write releases; an access is one of the two.
            SiteKind::Fenced(_) => Some(AccessMode {
                acquires: true,
                releases: true,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_told_by_the_method() {
        let mode = |call: &str| AccessMode::of_call(call).map(|mode| (mode.acquires, mode.releases));
        let handle = |method: &str| mode(&format!("java.lang.invoke.VarHandle.{method}"));
        assert_eq!(handle("get"), None);
        assert_eq!(handle("set"), None);
        assert_eq!(handle("getOpaque"), Some((false, false)));
        assert_eq!(handle("weakCompareAndSetPlain"), Some((false, false)));
        assert_eq!(handle("getAcquire"), Some((true, false)));
        assert_eq!(handle("setRelease"), Some((false, true)));
        assert_eq!(handle("getVolatile"), Some((true, true)));
        assert_eq!(handle("compareAndSet"), Some((true, true)));
        assert_eq!(handle("getAndAddRelease"), Some((false, true)));
        let updater = "java.util.concurrent.atomic.AtomicIntegerFieldUpdater";
        assert_eq!(mode(&format!("{updater}.lazySet")), Some((false, true)));
        assert_eq!(mode(&format!("{updater}.get")), Some((true, true)));
        assert_eq!(mode("sun.misc.Unsafe.getInt"), None);
        assert_eq!(mode("sun.misc.Unsafe.putOrderedObject"), Some((false, true)));
        assert_eq!(mode("sun.misc.Unsafe.getAndAddInt"), Some((true, true)));
        assert_eq!(mode("sun.misc.Unsafe.compareAndSwapInt"), Some((true, true)));
        assert_eq!(mode("java.util.List.get"), None);
    }
}
