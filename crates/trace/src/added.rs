//! The options that Ravel adds to the command of a JVM. Here because three places must know them: the run that adds them, the next run, which
//! adds its own, and the report, which shows the command as the user typed it.

/// Gives the common pool of the JDK three workers at least. On a machine with two processors it has one, which runs all its tasks one after the
/// other: their conflicts would never be seen.
pub const COMMON_POOL_WORKERS: &str = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=3";

/// Gives virtual threads as many carriers as may have to wait for their turn: a virtual thread that a forced run holds keeps its carrier.
pub const CARRIERS: [&str; 2] = [
    "-Djdk.virtualThreadScheduler.parallelism=256",
    "-Djdk.virtualThreadScheduler.maxPoolSize=256",
];

/// Whether an option loads Ravel's agent, of this version or another.
pub fn is_agent(option: &str) -> bool {
    option.starts_with("-agentpath:") && option.contains("ravel-agent-")
}

/// Whether Ravel added this option to a command.
pub fn is_added(option: &str) -> bool {
    is_agent(option) || option == COMMON_POOL_WORKERS || CARRIERS.contains(&option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_user_stay() {
        assert!(is_added("-agentpath:/cache/ravel-agent-1.so=out=t"));
        assert!(is_added(COMMON_POOL_WORKERS));
        for own in [
            "-agentpath:/opt/profiler.so",
            "-Djava.util.concurrent.ForkJoinPool.common.parallelism=8",
            "ravel-agent-1.so",
        ] {
            assert!(!is_added(own), "{own}");
        }
    }
}
