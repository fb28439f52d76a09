//! Says how to embed the agent library.

/// The level of zstd at which optimised builds embed the library: it is compressed once and unpacked often.
const COMPRESSION: u32 = 19;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Libraries that are built already, see the macro.
    println!("cargo::rerun-if-env-changed=RAVEL_AGENTS");
    println!(
        "cargo::rustc-env=RAVEL_AGENTS={}",
        std::env::var("RAVEL_AGENTS").unwrap_or_default()
    );
    // Builds for work on Ravel itself must be fast.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rustc-env=RAVEL_AGENT_COMPRESSION={COMPRESSION}");
    }
}
