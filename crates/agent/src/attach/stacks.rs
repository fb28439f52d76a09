//! The code that threads are in since before it got its hooks, as their stacks show it.
//!
//! A thread that is inside a method goes on in the code that it has entered until it returns; the JVM calls such code obsolete. A method that has got its
//! hooks, but was entered before the recording began, or before the thread was recorded, is no better where a pair of steps
//! belongs together.

use std::ffi::{CStr, c_char};
use std::sync::{Mutex, PoisonError, RwLock};

use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jmethodID, jobject, jthread};
use jvmti_bindings::sys::jvmti::{jvmtiError, jvmtiFrameInfo, jvmtiStackInfo};
use rustc_hash::FxHashMap;

use super::substitute::{Hooked, Missed, name_in};
use crate::agent::agent;
use crate::jvm::{self, Jvmti};

/// The most frames of a stack that are looked at.
const MOST: usize = 1024;

/// Hooks that are the first thing that a method does.
const AT_ENTRY: [&str; 9] = [
    "enter",
    "enterLocked",
    "enterInitializer",
    "in",
    "starting",
    "uncaught",
    "told",
    "completing",
    "stateSending",
];

/// What a method means to a thread that is inside.
#[derive(Clone, Copy, Debug)]
struct Inside {
    missed: Missed,
    interruptible: bool,
    helper: bool,
    /// It is the program's own.
    application: bool,
}

/// What a look at a stack has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// All that orders threads is seen from now on.
    Clear,
    /// The thread waits in a method that was entered before.
    Waits,
    /// The thread may order itself and others unseen, as long as it is in the method at this place, counted from the bottom.
    Unseen { place: usize, method: usize },
}

/// Knows the methods that have hooks.
pub struct Stacks {
    jvmti: Jvmti,
    /// Prefix of the names of the helper classes.
    helpers: String,
    /// By class and method.
    hooked: RwLock<FxHashMap<String, (Missed, bool)>>,
    /// By the address of the id of a method.
    known: Mutex<FxHashMap<usize, (Inside, String)>>,
}

impl Stacks {
    /// Knows no method yet.
    pub fn new(jvmti: Jvmti, generation: u32) -> Stacks {
        Stacks {
            jvmti,
            helpers: name_in("java/lang/Ravel", generation).replace('/', "."),
            hooked: RwLock::default(),
            known: Mutex::default(),
        }
    }

    /// Methods of a class (internal name) have got hooks.
    pub fn add(&self, class: &str, methods: Vec<Hooked>) {
        let mut hooked = self.hooked.write().unwrap_or_else(PoisonError::into_inner);
        for method in methods {
            if method.missed != Missed::Accesses || method.interruptible {
                let key = format!("{}.{}", class.replace('/', "."), method.method);
                hooked.insert(key, (method.missed, method.interruptible));
            }
        }
    }

    /// The name and descriptor of a method, with its class.
    fn name_of(&self, env: *mut JNIEnv, method: jmethodID) -> Option<(String, String)> {
        let functions = self.jvmti.functions();
        let (class_of, name_of) = (functions.GetMethodDeclaringClass?, functions.GetMethodName?);
        let mut class: jclass = std::ptr::null_mut();
        // SAFETY: a method id of a frame; there is room for the answer.
        if unsafe { class_of(self.jvmti.0, method, &raw mut class) } != jvmtiError::NONE {
            return None;
        }
        let owner = jvm::class_name(self.jvmti, env, class);
        // SAFETY: the local reference of the answer is ours to delete.
        unsafe { ((**env).DeleteLocalRef)(env, class) };
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (std::ptr::null_mut(), std::ptr::null_mut());
        let none = std::ptr::null_mut();
        // SAFETY: as above; the generic signature is not asked for.
        let code = unsafe { name_of(self.jvmti.0, method, &raw mut name, &raw mut descriptor, none) };
        if code != jvmtiError::NONE || name.is_null() || descriptor.is_null() {
            return None;
        }
        // SAFETY: JVMTI gave NUL-terminated strings, freed after the copy.
        let text = unsafe { (CStr::from_ptr(name), CStr::from_ptr(descriptor)) };
        let words = (text.0.to_string_lossy(), text.1.to_string_lossy());
        let full = format!("{}{}", words.0, words.1);
        self.jvmti.free(name);
        self.jvmti.free(descriptor);
        Some((owner, full))
    }

    /// What a method means to a thread that is inside; with the name of a method of a helper class.
    fn inside(&self, env: *mut JNIEnv, method: jmethodID) -> (Inside, String) {
        let key = method as usize;
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let (class, name) = self.name_of(env, method).unwrap_or_default();
        let helper = class.starts_with(&self.helpers);
        let hooked = self.hooked.read().unwrap_or_else(PoisonError::into_inner);
        let (missed, interruptible) = hooked.get(&format!("{class}.{name}")).copied().unwrap_or_default();
        drop(hooked);
        let is_application = |name: &str| agent().is_some_and(|agent| agent.instrumenter.is_application(name));
        let inside = Inside {
            missed,
            interruptible,
            helper,
            application: !helper && is_application(&class.replace('.', "/")),
        };
        let name = match helper {
            true => name.split('(').next().unwrap_or_default().to_string(),
            false => String::new(),
        };
        let found = (inside, name);
        // A class that is loaded just now may get its hooks after this look.
        if missed != Missed::Accesses || helper {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key, found.clone());
        }
        found
    }

    fn is_obsolete(&self, method: jmethodID) -> bool {
        let mut obsolete: jboolean = 0;
        let Some(ask) = self.jvmti.functions().IsMethodObsolete else {
            return true;
        };
        // SAFETY: a method id of a frame; there is room for the answer.
        let code = unsafe { ask(self.jvmti.0, method, &raw mut obsolete) };
        code != jvmtiError::NONE || obsolete != 0
    }

    /// The stack of a thread, the innermost frame first; of the calling thread if it is null. None if it cannot be seen.
    fn stack(&self, thread: jthread) -> Option<Vec<jmethodID>> {
        let get = self.jvmti.functions().GetStackTrace?;
        let empty = jvmtiFrameInfo {
            method: std::ptr::null_mut(),
            location: 0,
        };
        let mut frames = vec![empty; MOST];
        let mut count: jint = 0;
        // SAFETY: there is room for so many frames and for their number.
        let code = unsafe {
            get(
                self.jvmti.0,
                thread,
                0,
                MOST as jint,
                frames.as_mut_ptr(),
                &raw mut count,
            )
        };
        if code != jvmtiError::NONE {
            return None;
        }
        frames.truncate(count.max(0) as usize);
        Some(frames.into_iter().map(|frame| frame.method).collect())
    }

    /// What a stack shows; the innermost frame is first. `entering` if the thread has just come to a hook at the start of the innermost method
    /// that is no helper's.
    fn judge(&self, env: *mut JNIEnv, stack: &[jmethodID], mut entering: bool) -> Look {
        let mut look = Look::Clear;
        for (at, method) in stack.iter().enumerate() {
            let (inside, _) = self.inside(env, *method);
            if inside.helper {
                continue;
            }
            let fresh = std::mem::take(&mut entering);
            let misses = match inside.missed {
                Missed::Accesses => false,
                Missed::Order => self.is_obsolete(*method),
                Missed::Wait | Missed::Pair => !fresh || self.is_obsolete(*method),
            };
            let method = *method as usize;
            let place = stack.len() - 1 - at;
            match inside.missed {
                _ if !misses => {}
                // The outermost counts: when it has gone, so have all others. Inside of a method that waits nothing counts.
                Missed::Order | Missed::Pair => look = Look::Unseen { place, method },
                _ => look = Look::Waits,
            }
        }
        if stack.len() >= MOST {
            // What lies below cannot be seen, and the places cannot be counted.
            return Look::Unseen {
                place: usize::MAX,
                method: 0,
            };
        }
        look
    }

    /// What the calling thread, which has come to a hook, has missed, and whether it has come to the hook from code of the program that was
    /// entered before.
    pub fn own(&self, env: *mut JNIEnv) -> (Look, bool) {
        let Some(stack) = self.stack(std::ptr::null_mut()) else {
            let look = Look::Unseen {
                place: usize::MAX,
                method: 0,
            };
            return (look, true);
        };
        // The outermost of the helpers' methods on top is the hook.
        let mut hook = String::new();
        for method in &stack {
            let (inside, name) = self.inside(env, *method);
            if !inside.helper {
                break;
            }
            hook = name;
        }
        let entering = AT_ENTRY.contains(&hook.as_str());
        let mut outer = stack.iter().map(|method| self.inside(env, *method).0);
        let first = outer.by_ref().find(|inside| !inside.helper);
        let older = first.is_some_and(|first| first.application && !entering) || outer.any(|inside| inside.application);
        (self.judge(env, &stack, entering), older)
    }

    /// What each thread has missed that has not come to a hook yet, with all threads at one moment. The references are the caller's, to be
    /// deleted. None if the JVM does not say.
    pub fn all(&self, env: *mut JNIEnv) -> Option<Vec<(jobject, Look)>> {
        let get = self.jvmti.functions().GetAllStackTraces?;
        let (mut infos, mut count): (*mut jvmtiStackInfo, jint) = (std::ptr::null_mut(), 0);
        // SAFETY: there is room for both answers; the list is freed below.
        let code = unsafe { get(self.jvmti.0, MOST as jint, &raw mut infos, &raw mut count) };
        if code != jvmtiError::NONE || infos.is_null() {
            return None;
        }
        // SAFETY: JVMTI gave `count` entries, each with as many frames as it says.
        let list = unsafe { std::slice::from_raw_parts(infos, count.max(0) as usize) };
        let mut found = Vec::with_capacity(list.len());
        for info in list {
            let length = info.frame_count.max(0) as usize;
            let frames = match info.frame_buffer.is_null() {
                true => &[][..],
                // SAFETY: as above.
                false => unsafe { std::slice::from_raw_parts(info.frame_buffer, length) },
            };
            let stack: Vec<jmethodID> = frames.iter().map(|frame| frame.method).collect();
            found.push((info.thread, self.judge(env, &stack, false)));
        }
        self.jvmti.free(infos);
        Some(found)
    }

    /// Whether a thread is still in the method at this place of its stack.
    pub fn stays(&self, thread: jthread, place: usize, method: usize) -> bool {
        let Some(stack) = self.stack(thread) else { return false };
        if place == usize::MAX {
            return !stack.is_empty();
        }
        let at = stack.len().checked_sub(1 + place);
        at.is_some_and(|at| stack[at] as usize == method) || stack.len() >= MOST
    }

    /// Whether a thread is in code that catches the exception of an interrupted thread, entered before it got its hooks.
    pub fn misses_interrupt(&self, env: *mut JNIEnv, thread: jthread) -> bool {
        let Some(stack) = self.stack(thread) else { return true };
        let misses = |method: &jmethodID| self.inside(env, *method).0.interruptible && self.is_obsolete(*method);
        stack.iter().any(misses)
    }

    /// The name of the method in which a thread stays, for people.
    pub fn method_name(&self, env: *mut JNIEnv, method: usize) -> String {
        let found = (method != 0).then(|| self.name_of(env, method as jmethodID)).flatten();
        found.map_or_else(String::new, |(class, name)| {
            format!("{class}.{}", name.split('(').next().unwrap_or_default())
        })
    }
}
