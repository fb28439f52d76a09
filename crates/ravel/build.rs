//! Tells where cargo puts the agent library, a dependency that is compiled before this crate.

use std::path::PathBuf;

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
}
