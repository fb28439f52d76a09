//! Puts the agent library into the `ravel` binary, compressed where size matters.
//!
//! A build script cannot do this: it may run before the library that it would have to read is linked. A macro is expanded when the
//! crate that uses it is compiled, and cargo compiles that one after the library.

use std::hash::Hasher;
use std::path::Path;

use proc_macro::{Literal, TokenStream};

/// Names the file to embed.
const LIBRARY: &str = "RAVEL_AGENT_LIBRARY";
/// The level of compression; the file is embedded as it is if this is not set.
const LEVEL: &str = "RAVEL_AGENT_COMPRESSION";

/// The file that the build script names, as `(bytes, compressed, length, hash)`; length and hash are those of the file itself.
#[proc_macro]
pub fn agent_library(_: TokenStream) -> TokenStream {
    let code = embed().unwrap_or_else(|error| format!("compile_error!({:?})", format!("agent library: {error}")));
    code.parse().unwrap_or_else(|error| panic!("agent library: {error}"))
}

/// Whether the compiler that expands the macro writes code. `cargo check` and clippy do not, and cargo builds no libraries for them.
fn writes_code() -> bool {
    std::env::args().any(|argument| argument.starts_with("--emit=") && argument.contains("link"))
}

fn embed() -> Result<String, String> {
    if !writes_code() {
        return Ok("(&[] as &[u8], false, 0_u64, 0_u64)".to_string());
    }
    let path = std::env::var(LIBRARY).map_err(|error| format!("{LIBRARY}: {error}"))?;
    let library = std::fs::read(Path::new(&path)).map_err(|error| format!("{path}: {error}"))?;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(&library);
    let (length, hash) = (library.len(), hasher.finish());
    // Makes cargo compile the crate again when the file changes.
    let file = format!("include_bytes!({path:?})");
    let Ok(level) = std::env::var(LEVEL) else {
        return Ok(format!("({file} as &[u8], false, {length}_u64, {hash}_u64)"));
    };
    let level = level.parse().map_err(|error| format!("{LEVEL}: {error}"))?;
    let compressed = zstd::bulk::compress(&library, level).map_err(|error| format!("{path}: {error}"))?;
    let bytes = Literal::byte_string(&compressed);
    Ok(format!(
        "{{ const _: &[u8] = {file}; ({bytes} as &[u8], true, {length}_u64, {hash}_u64) }}"
    ))
}
