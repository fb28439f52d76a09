//! The library that the JVM loads: instruments classes, records events, forces schedules.
//!
//! It runs inside someone else's process, so it stays small, and whatever goes wrong in it must leave the program as it
//! is. The only place of Ravel with `unsafe` code, but for memory maps: JNI and JVMTI are C interfaces, and instrumented
//! code writes its records to raw memory.

mod agent;
mod attach;
mod baton;
mod chance;
pub mod directed;
mod failures;
pub mod filter;
pub mod focus;
mod guard;
mod handover;
mod helper;
mod idle;
mod idle_pools;
mod initialisers;
mod instrument;
mod jvm;
mod layout;
mod main_class;
mod management;
mod memory;
mod models;
mod natives;
mod noise;
pub mod options;
mod recorder;
mod registry;
mod roll;
mod search;
mod stack;
mod standstill;
mod supported;
mod sync;
mod thread_block;
mod told_tests;
mod virtual_threads;

pub use agent::{ELAPSED, UNFOCUSED};

use std::ffi::{CStr, c_char, c_void};

use jvmti_bindings::sys::jni::{JavaVM, jint};

/// Called by the JVM for `-agentpath`.
///
/// # Safety
/// The JVM passes itself and a NUL-terminated string or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *mut c_char, _: *mut c_void) -> jint {
    guard::set_hook();
    let text = if options.is_null() {
        String::new()
    } else {
        // SAFETY: not null, so NUL-terminated, by the contract of JVMTI.
        unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
    };
    let load =
        || options::Options::parse(&text).and_then(|options| agent::Agent::load(vm, jvm::Jvmti::of(vm)?, options));
    // A panic must not cross into the JVM: the program runs as if Ravel were not there.
    let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(load));
    match loaded.unwrap_or_else(|_| Err("the agent failed to start".to_string())) {
        Ok(()) => 0,
        Err(error) => {
            guard::say(format_args!("{error}; the program runs without recording"));
            0
        }
    }
}

/// Called by the JVM when the agent is loaded while it runs.
///
/// # Safety
/// The JVM passes itself and a NUL-terminated string or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(vm: *mut JavaVM, options: *mut c_char, _: *mut c_void) -> jint {
    guard::set_hook();
    let text = if options.is_null() {
        String::new()
    } else {
        // SAFETY: not null, so NUL-terminated, by the contract of JVMTI.
        unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
    };
    let attach = || attach::on_attach(vm, &text);
    let attached = std::panic::catch_unwind(std::panic::AssertUnwindSafe(attach));
    match attached.unwrap_or_else(|_| Err("the agent failed to start".to_string())) {
        Ok(()) => 0,
        Err(error) => {
            guard::say(format_args!("{error}; nothing is recorded"));
            -1
        }
    }
}
