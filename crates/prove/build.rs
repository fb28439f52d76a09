//! Tells where cargo puts the agent library, a dependency that is compiled before this crate, and how to embed it.

use std::path::PathBuf;

/// The level of zstd at which optimised builds embed the library: it is compressed once and unpacked often.
const COMPRESSION: u32 = 19;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let profile = out
        .ancestors()
        .nth(3)
        .expect("OUT_DIR is <profile>/build/<package>/out");
    let library = profile
        .join("deps")
        .join(format!("{}ravel_agent{}", "lib", std::env::consts::DLL_SUFFIX));
    println!("cargo::rustc-env=RAVEL_AGENT_LIBRARY={}", library.display());
    // Builds for work on Ravel itself must be fast.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rustc-env=RAVEL_AGENT_COMPRESSION={COMPRESSION}");
    }
}
