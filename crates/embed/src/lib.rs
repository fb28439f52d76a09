//! Puts the agent library into the `ravel` binary, compressed where size matters.
//!
//! A build script cannot do this: it may run before the library that it would have to read is linked. A macro is expanded when the
//! crate that uses it is compiled, and cargo compiles that one after the library.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

use proc_macro::{Literal, TokenStream};

/// Where cargo puts what the build script of the crate makes: `<profile>/build/<package>/out`. Cargo sets it at each compilation, and
/// keeps what a build script prints: a path printed there would name the agent of the folder that a build was copied from.
const OUT_DIR: &str = "OUT_DIR";
/// The level of compression; the file is embedded as it is if this is not set.
const LEVEL: &str = "RAVEL_AGENT_COMPRESSION";

/// The agent library that cargo has built for this crate, as `(bytes, compressed, length, hash)`; length and hash are those of the file itself.
#[proc_macro]
pub fn agent_library(_: TokenStream) -> TokenStream {
    let code = embed().unwrap_or_else(|error| format!("compile_error!({:?})", format!("agent library: {error}")));
    code.parse().unwrap_or_else(|error| panic!("agent library: {error}"))
}

/// Whether the compiler that expands the macro writes code. `cargo check` and clippy do not, and cargo builds no libraries for them.
fn writes_code() -> bool {
    std::env::args().any(|argument| argument.starts_with("--emit=") && argument.contains("link"))
}

/// The agent library, a dependency that is compiled before the crate.
fn library_path() -> Result<PathBuf, String> {
    let out =
        std::env::var_os(OUT_DIR).ok_or_else(|| format!("{OUT_DIR} is not set: the crate has no build script"))?;
    let profile = Path::new(&out).ancestors().nth(3);
    let deps = profile.ok_or_else(|| format!("{OUT_DIR} is {out:?}"))?.join("deps");
    Ok(deps.join(format!("libravel_agent{}", std::env::consts::DLL_SUFFIX)))
}

fn embed() -> Result<String, String> {
    if !writes_code() {
        return Ok("(&[] as &[u8], false, 0_u64, 0_u64)".to_string());
    }
    let path = library_path()?;
    let library = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(&library);
    let (length, hash) = (library.len(), hasher.finish());
    // Makes cargo compile the crate again when the file changes.
    let file = format!("include_bytes!({path:?})");
    let Ok(level) = std::env::var(LEVEL) else {
        return Ok(format!("({file} as &[u8], false, {length}_u64, {hash}_u64)"));
    };
    let level = level.parse().map_err(|error| format!("{LEVEL}: {error}"))?;
    let compressed = zstd::bulk::compress(&library, level).map_err(|error| format!("{}: {error}", path.display()))?;
    let bytes = Literal::byte_string(&compressed);
    Ok(format!(
        "{{ const _: &[u8] = {file}; ({bytes} as &[u8], true, {length}_u64, {hash}_u64) }}"
    ))
}
