//! How a command is started so that its JVMs load the agent: by an option of `java` itself, or by the environment of
//! anything else that starts JVMs.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use ravel_agent::options::Options;
use ravel_trace::added::{COMMON_POOL_WORKERS, is_added};

/// Whether a command is java itself, and nothing that starts it.
pub fn starts_java(program: &str) -> bool {
    Path::new(program)
        .file_name()
        .is_some_and(|name| name == "java" || name == "java.exe")
}

/// The option that loads the agent.
pub fn agent_option(library: &Path, options: &Options) -> String {
    format!("-agentpath:{}={}", library.display(), options.encode())
}

/// Processors from which on the JDK gives its common pool enough workers by itself.
const ENOUGH_PROCESSORS: usize = 4;

/// What a JVM gets besides the agent, in every run alike. Options of the user come later or have been set before, and prevail.
fn further_options() -> Option<&'static str> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (processors < ENOUGH_PROCESSORS).then_some(COMMON_POOL_WORKERS)
}

/// The options for a JVM that is started by `java` itself.
pub fn jvm_options(library: &Path, options: &Options) -> Vec<String> {
    let further = further_options().map(str::to_owned);
    further.into_iter().chain([agent_option(library, options)]).collect()
}

/// Lets every JVM that a command starts load the agent; `own` is what the user had there, and prevails.
pub fn add_agent(command: &mut Command, own: Option<String>, library: &Path, options: &Options, more: &[&str]) {
    let mut words: Vec<String> = further_options()
        .into_iter()
        .chain(more.iter().copied())
        .map(str::to_owned)
        .collect();
    words.extend(own.filter(|own| !own.is_empty()));
    words.push(agent_option(library, options));
    command.env("JAVA_TOOL_OPTIONS", words.join(" "));
}

/// Directory and environment of the command, each word ended by a zero byte.
pub fn surroundings<T: AsRef<OsStr>>(directory: &Path, environment: impl IntoIterator<Item = (T, T)>) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut bytes = directory.as_os_str().as_bytes().to_vec();
    bytes.push(0);
    for (name, value) in environment {
        bytes.extend_from_slice(name.as_ref().as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_ref().as_bytes());
        bytes.push(0);
    }
    bytes
}

/// A variable without what the recorded run added: a program recorded with the option of `ravel record --print-option`
/// has it there, and a JVM that loads two agents follows neither.
pub fn without_agent((name, value): &(String, String)) -> (String, String) {
    if !matches!(
        name.as_str(),
        "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" | "_JAVA_OPTIONS"
    ) {
        return (name.clone(), value.clone());
    }
    let words: Vec<&str> = value.split(' ').filter(|word| !is_added(word)).collect();
    (name.clone(), words.join(" "))
}
