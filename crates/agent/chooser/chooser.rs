//! The agent of a binary that carries agents for several C libraries: loads the one that fits the JVM it is in, and passes everything on.
//!
//! Which one fits cannot be known before: one environment may reach JVMs of both kinds. This library needs no C library to be loaded: it
//! links to none, and takes the few functions that it calls from the one that is there. So any JVM can load it.
//!
//! The JVM looks for the native methods of the Java classes in the libraries that it has loaded as agents, hence here and not in the
//! one that this one loads. So each has a jump here, to where the real one is. `scripts/dist.sh` lists them as the agent has
//! them, and compiles this file by itself: it is no part of the workspace, since it has no standard library.

#![no_std]

use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A kind of pointer to a JVM.
type Vm = *mut c_void;
/// `Agent_OnLoad` and `Agent_OnAttach`.
type Start = unsafe extern "C" fn(Vm, *mut c_char, *mut c_void) -> c_int;
/// `Agent_OnUnload`.
type End = unsafe extern "C" fn(Vm);

const RTLD_NOW: c_int = 2;
/// What is in the name of musl's loader, which is musl itself.
const MUSL: &[u8] = b"/ld-musl-";
/// Bytes of the longest path.
const LONGEST: usize = 4096;

/// `Dl_info`, the same in both C libraries.
#[repr(C)]
struct Address {
    file: *const c_char,
    base: *mut c_void,
    name: *const c_char,
    symbol: *mut c_void,
}

/// The beginning of `struct dl_phdr_info`, the same in both C libraries.
#[repr(C)]
struct Loaded {
    base: usize,
    name: *const c_char,
}

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn dladdr(address: *const c_void, found: *mut Address) -> c_int;
    fn dl_iterate_phdr(
        look: unsafe extern "C" fn(*const Loaded, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn write(file: c_int, bytes: *const u8, count: usize) -> isize;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the process. Nothing here panics.
    unsafe { abort() }
}

macro_rules! natives {
    ($($name:ident)+) => {
        /// Where each native method is in the agent that was chosen.
        #[allow(non_upper_case_globals, reason = "the statics have the names of the native methods")]
        mod place {
            use super::{AtomicPtr, c_void, null_mut};
            $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(null_mut());)+
        }

        $(
            /// Goes on in the agent that was chosen, with all arguments as they are.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                naked_asm!("jmp qword ptr [rip + {place}]", place = sym place::$name);
                #[cfg(target_arch = "aarch64")]
                naked_asm!(
                    "adrp x16, {place}",
                    "ldr x16, [x16, :lo12:{place}]",
                    "br x16",
                    place = sym place::$name
                );
            }
        )+

        /// Finds the native methods in a library; the name of one that it does not have.
        ///
        /// # Safety
        ///
        /// The library is one that `dlopen` gave.
        unsafe fn find(library: *mut c_void) -> Option<&'static CStr> {
            $(
                // SAFETY: the name ends with a zero byte.
                let found = unsafe { dlsym(library, concat!(stringify!($name), "\0").as_ptr().cast()) };
                if found.is_null() {
                    return CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()).ok();
                }
                place::$name.store(found, Ordering::Release);
            )+
            None
        }
    };
}

// A call of the macro with all names: written by scripts/dist.sh.
include!(env!("RAVEL_NATIVES"));

/// The library that was chosen.
static CHOSEN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Text that a C library gave.
///
/// # Safety
///
/// Null, or text that ends with a zero byte and lives as long as the result is used.
unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    match text.is_null() {
        true => b"",
        // SAFETY: as the caller says.
        false => unsafe { CStr::from_ptr(text) }.to_bytes(),
    }
}

/// Notes in `data`, a truth value, if a library that the process has loaded is musl.
unsafe extern "C" fn look(library: *const Loaded, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the C library gives a structure that begins so, valid during the call.
    let name = unsafe { text((*library).name) };
    if name.windows(MUSL.len()).any(|part| part == MUSL) {
        // SAFETY: `is_musl` passes its own variable.
        unsafe { *data.cast::<bool>() = true };
    }
    0
}

fn is_musl() -> bool {
    let mut found = false;
    // SAFETY: the variable lives through the call.
    unsafe { dl_iterate_phdr(look, (&raw mut found).cast()) };
    found
}

fn say(parts: &[&[u8]]) {
    for part in parts {
        // SAFETY: writes bytes that are there; it does not matter if that fails.
        unsafe { write(2, part.as_ptr(), part.len()) };
    }
}

/// Loads the agent for this process's C library, which lies beside this library. Null if it cannot be used, and then that has been said.
fn choose() -> *mut c_void {
    let known = CHOSEN.load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    let mut own = Address {
        file: core::ptr::null(),
        base: null_mut(),
        name: core::ptr::null(),
        symbol: null_mut(),
    };
    // SAFETY: the structure has room for the answer, which names a file as long as this library is loaded.
    let file = unsafe {
        dladdr(Agent_OnLoad as *const c_void, &raw mut own);
        text(own.file)
    };
    let stem = file.strip_suffix(b".so").unwrap_or(file);
    let suffix: &[u8] = if is_musl() { b"-musl.so\0" } else { b"-gnu.so\0" };
    let mut path = [0; LONGEST];
    if stem.len() + suffix.len() > path.len() {
        say(&[b"ravel: the path of the agent is too long; the program runs without recording\n"]);
        return null_mut();
    }
    for (place, byte) in path.iter_mut().zip(stem.iter().chain(suffix)) {
        *place = *byte;
    }
    // SAFETY: the path ends with a zero byte.
    let library = unsafe { dlopen(path.as_ptr().cast(), RTLD_NOW) };
    if library.is_null() {
        // SAFETY: the C library's own text about its last error.
        let why = unsafe { text(dlerror()) };
        say(&[
            b"ravel: cannot load the agent: ",
            why,
            b"; the program runs without recording\n",
        ]);
        return null_mut();
    }
    // SAFETY: just loaded.
    if let Some(missing) = unsafe { find(library) } {
        say(&[
            b"ravel: the agent has no ",
            missing.to_bytes(),
            b"; the program runs without recording\n",
        ]);
        return null_mut();
    }
    CHOSEN.store(library, Ordering::Release);
    library
}

/// Passes the start on; 0 if there is no agent to pass it on to, so that the program runs.
fn start(name: &CStr, vm: Vm, options: *mut c_char, reserved: *mut c_void) -> c_int {
    let library = choose();
    if library.is_null() {
        return 0;
    }
    // SAFETY: the library is loaded, and the name ends with a zero byte.
    let found = unsafe { dlsym(library, name.as_ptr()) };
    if found.is_null() {
        say(&[
            b"ravel: the agent has no ",
            name.to_bytes(),
            b"; the program runs without recording\n",
        ]);
        return 0;
    }
    // SAFETY: the agent's function of this name has this type, and gets what the JVM passes.
    unsafe { core::mem::transmute::<*mut c_void, Start>(found)(vm, options, reserved) }
}

/// Called by the JVM when it starts.
#[unsafe(no_mangle)]
pub extern "C" fn Agent_OnLoad(vm: Vm, options: *mut c_char, reserved: *mut c_void) -> c_int {
    start(c"Agent_OnLoad", vm, options, reserved)
}

/// Called by the JVM when it runs already.
#[unsafe(no_mangle)]
pub extern "C" fn Agent_OnAttach(vm: Vm, options: *mut c_char, reserved: *mut c_void) -> c_int {
    start(c"Agent_OnAttach", vm, options, reserved)
}

/// Called by the JVM when it ends.
#[unsafe(no_mangle)]
pub extern "C" fn Agent_OnUnload(vm: Vm) {
    let library = CHOSEN.load(Ordering::Acquire);
    if library.is_null() {
        return;
    }
    // SAFETY: the library is loaded; the agent's function of this name, if it has one, has this type.
    unsafe {
        let found = dlsym(library, c"Agent_OnUnload".as_ptr());
        if !found.is_null() {
            core::mem::transmute::<*mut c_void, End>(found)(vm);
        }
    }
}
