//! Puts the agent library into the `ravel` binary, compressed where size matters.
//!
//! Usually that is the one that cargo builds as a dependency. A binary for several C libraries carries one for each, and one
//! that chooses among them in the JVM: `scripts/dist.sh` builds them before, and names their folder.
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
/// The folder of libraries that are built already.
const FOLDER: &str = "RAVEL_AGENTS";
/// The files of that folder, and what is added to the name of each where it is unpacked: the first is the one that a JVM loads.
const BUILT: [(&str, &str); 3] = [("chooser.so", ""), ("gnu.so", "-gnu"), ("musl.so", "-musl")];

/// The agent libraries, as `(&[(suffix, bytes, compressed, length)], hash)`. A JVM loads the first one; the hash is that of all files
/// together, the lengths are those of the files themselves.
#[proc_macro]
pub fn agent_libraries(_: TokenStream) -> TokenStream {
    let code = embed().unwrap_or_else(|error| format!("compile_error!({:?})", format!("agent library: {error}")));
    code.parse().unwrap_or_else(|error| panic!("agent library: {error}"))
}

/// Whether the compiler that expands the macro writes code. `cargo check` and clippy do not, and cargo builds no libraries for them.
fn writes_code() -> bool {
    std::env::args().any(|argument| argument.starts_with("--emit=") && argument.contains("link"))
}

/// The files to embed, each with its suffix.
fn files() -> Result<Vec<(&'static str, PathBuf)>, String> {
    if let Some(folder) = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        return Ok(BUILT
            .iter()
            .map(|(file, suffix)| (*suffix, folder.join(file)))
            .collect());
    }
    library_path().map(|path| vec![("", path)])
}

/// The agent library, a dependency that is compiled before the crate.
fn library_path() -> Result<PathBuf, String> {
    let out =
        std::env::var_os(OUT_DIR).ok_or_else(|| format!("{OUT_DIR} is not set: the crate has no build script"))?;
    let profile = Path::new(&out).ancestors().nth(3);
    let deps = profile.ok_or_else(|| format!("{OUT_DIR} is {out:?}"))?.join("deps");
    let path = deps.join(format!("libravel_agent{}", std::env::consts::DLL_SUFFIX));
    if !path.exists() {
        return Err(format!(
            "there is no {}: this target has no shared libraries; build with scripts/dist.sh, which sets {FOLDER}",
            path.display()
        ));
    }
    Ok(path)
}

fn embed() -> Result<String, String> {
    if !writes_code() {
        return Ok("(&[], 0_u64)".to_string());
    }
    let level: Option<i32> = match std::env::var(LEVEL) {
        Ok(level) => Some(level.parse().map_err(|error| format!("{LEVEL}: {error}"))?),
        Err(_) => None,
    };
    let mut hasher = rustc_hash::FxHasher::default();
    let mut embedded = String::new();
    for (suffix, path) in files()? {
        let library = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        hasher.write(&library);
        let length = library.len();
        // Makes cargo compile the crate again when the file changes.
        let file = format!("include_bytes!({path:?})");
        embedded += &match level {
            None => format!("({suffix:?}, {file} as &[u8], false, {length}_u64),"),
            Some(level) => {
                let compressed =
                    zstd::bulk::compress(&library, level).map_err(|error| format!("{}: {error}", path.display()))?;
                let bytes = Literal::byte_string(&compressed);
                format!("({suffix:?}, {{ const _: &[u8] = {file}; {bytes} as &[u8] }}, true, {length}_u64),")
            }
        };
    }
    Ok(format!("(&[{embedded}], {}_u64)", hasher.finish()))
}
