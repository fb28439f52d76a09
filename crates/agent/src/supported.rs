//! Whether the agent can work in this JVM, and its release. The agent counts on how HotSpot lays out objects and calls agents, and was tried on
//! the releases that [`check_names`] names: in another JVM the program must run as if Ravel were not there.
//!
//! What differs between the releases asks [`release`], or [`is_old`]: JDK 8 has no modules, no `jdk.internal.misc.Unsafe` and an older JVMTI.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::jvm::{self, Jvmti};

/// The first release with modules; of those before, 8 alone is supported.
const MODULES: u32 = 9;
/// The oldest release with modules that is supported.
const OLDEST_MODULAR: u32 = 11;
/// What is said where a release is too old.
const WANTED: &str = "Ravel needs Java 8, 11 or later";

/// The names of HotSpot builds: `OpenJDK 64-Bit Server VM`, `Java HotSpot(TM) 64-Bit Server VM`, and GraalVM the same.
const HOTSPOT: [&str; 4] = ["Server VM", "Client VM", "Zero VM", "Minimal VM"];

/// The release of this JVM; the newest until it is known.
static RELEASE: AtomicU32 = AtomicU32::new(u32::MAX);

/// Why this JVM cannot be recorded, if so.
pub fn check(jvmti: Jvmti) -> Result<(), String> {
    let name = jvm::property(jvmti, c"java.vm.name");
    let release = jvm::property(jvmti, c"java.vm.specification.version");
    RELEASE.store(check_names(&name, &release)?, Ordering::Relaxed);
    Ok(())
}

/// The release of this JVM: 8, 11, 17 and so on. The newest where there is no JVM.
pub fn release() -> u32 {
    RELEASE.load(Ordering::Relaxed)
}

/// Whether this JVM is of JDK 8.
pub fn is_old() -> bool {
    release() < MODULES
}

fn check_names(name: &str, release: &str) -> Result<u32, String> {
    if !HOTSPOT.iter().any(|hotspot| name.ends_with(hotspot)) {
        let name = if name.is_empty() { "a JVM without a name" } else { name };
        return Err(format!("Ravel can record HotSpot JVMs only, and this is {name}"));
    }
    // Before release 9 the first number is always 1.
    let number = release.strip_prefix("1.").unwrap_or(release);
    match number.parse::<u32>() {
        Ok(number @ (8 | OLDEST_MODULAR..)) => Ok(number),
        Ok(number) => Err(format!("{WANTED}, and this is Java {number}")),
        Err(_) => Err(format!("{WANTED}, and this is of an unknown release {release:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hotspot_of_some_releases_is_recorded() {
        for (name, release, wanted) in [
            ("OpenJDK 64-Bit Server VM", "1.8", Ok(8)),
            ("OpenJDK 64-Bit Server VM", "11", Ok(11)),
            ("OpenJDK 64-Bit Server VM", "17", Ok(17)),
            ("Java HotSpot(TM) 64-Bit Server VM", "26", Ok(26)),
            ("OpenJDK 64-Bit Zero VM", "21", Ok(21)),
            ("OpenJDK 64-Bit Server VM", "1.7", Err("this is Java 7")),
            ("OpenJDK 64-Bit Server VM", "10", Err("this is Java 10")),
            ("OpenJDK 64-Bit Server VM", "", Err("unknown release")),
            ("Eclipse OpenJ9 VM", "17", Err("this is Eclipse OpenJ9 VM")),
            ("Zing 64-Bit Tiered VM", "17", Err("this is Zing 64-Bit Tiered VM")),
            ("", "17", Err("without a name")),
        ] {
            match (check_names(name, release), wanted) {
                (Ok(found), Ok(wanted)) => assert_eq!(found, wanted, "{name} {release}"),
                (Err(why), Err(words)) => assert!(why.contains(words), "{name} {release}: {why}"),
                (found, _) => panic!("{name} {release}: {found:?}"),
            }
        }
    }
}
