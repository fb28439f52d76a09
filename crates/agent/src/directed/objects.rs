//! Objects of the JVM as a directed run compares them: by identity, and for keys of maps also by value if they are strings or
//! boxes. The program's own `equals` is never called.

use jvmti_bindings::sys::jni::{JNIEnv, jobject};

use super::director::Objects;

/// A cell during one call of a hook: references are local ones.
pub struct LocalCell {
    /// The object, or null for a static field.
    pub object: jobject,
    /// The key of a call on a container, or null.
    pub key: jobject,
    /// The index of an array element.
    pub index: i32,
}

/// A cell that is remembered: references are global ones.
pub struct KeptCell {
    object: jobject,
    key: jobject,
    index: i32,
}

// SAFETY: global references may be used by any thread.
unsafe impl Send for KeptCell {}

/// The thread's view of the JVM.
pub struct Jvm(pub *mut JNIEnv);

impl Objects for Jvm {
    type Local = LocalCell;
    type Kept = KeptCell;

    fn same(&self, local: &LocalCell, kept: &KeptCell) -> bool {
        let same_key = || self.is_same(local.key, kept.key) || self.equal_keys(local.key, kept.key);
        local.index == kept.index && self.same_object(local, kept) && same_key()
    }

    fn same_object(&self, local: &LocalCell, kept: &KeptCell) -> bool {
        self.is_same(local.object, kept.object)
    }

    fn keep(&self, local: &LocalCell) -> KeptCell {
        let global = |reference: jobject| {
            if reference.is_null() {
                return reference;
            }
            // SAFETY: a live local reference of this call.
            unsafe { ((**self.0).NewGlobalRef)(self.0, reference) }
        };
        KeptCell {
            object: global(local.object),
            key: global(local.key),
            index: local.index,
        }
    }
}

impl Jvm {
    fn is_same(&self, local: jobject, kept: jobject) -> bool {
        // SAFETY: both references are live: a local one of this call, a global one that is not yet deleted, or null.
        unsafe { ((**self.0).IsSameObject)(self.0, local, kept) != 0 }
    }

    /// Gives references back.
    pub fn forget(&self, trash: Vec<KeptCell>) {
        for cell in trash {
            for reference in [cell.object, cell.key] {
                if !reference.is_null() {
                    // SAFETY: the global reference was made by `keep` and is deleted once.
                    unsafe { ((**self.0).DeleteGlobalRef)(self.0, reference) };
                }
            }
        }
    }

    /// Whether two keys are strings or boxes with the same value; `hashCode` and `equals` of these classes are the JDK's.
    fn equal_keys(&self, one: jobject, other: jobject) -> bool {
        if one.is_null() || other.is_null() {
            return false;
        }
        const KNOWN: [&std::ffi::CStr; 7] = [
            c"java/lang/String",
            c"java/lang/Integer",
            c"java/lang/Long",
            c"java/lang/Short",
            c"java/lang/Byte",
            c"java/lang/Character",
            c"java/lang/Boolean",
        ];
        // SAFETY: called on a thread of the JVM with live references; classes of java.lang are found by the boot loader, and
        // their `equals` throws nothing.
        unsafe {
            let jni = &**self.0;
            for name in KNOWN {
                let class = (jni.FindClass)(self.0, name.as_ptr());
                if class.is_null() {
                    (jni.ExceptionClear)(self.0);
                    continue;
                }
                let both = (jni.IsInstanceOf)(self.0, one, class) != 0 && (jni.IsInstanceOf)(self.0, other, class) != 0;
                let equals = match both {
                    true => (jni.GetMethodID)(self.0, class, c"equals".as_ptr(), c"(Ljava/lang/Object;)Z".as_ptr()),
                    false => std::ptr::null_mut(),
                };
                (jni.DeleteLocalRef)(self.0, class);
                if !equals.is_null() {
                    let mut argument: jvmti_bindings::sys::jni::jvalue = std::mem::zeroed();
                    argument.l = other;
                    return (jni.CallBooleanMethodA)(self.0, one, equals, &raw const argument) != 0;
                }
            }
            false
        }
    }
}
