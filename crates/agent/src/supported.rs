//! Whether the agent can work in this JVM. It counts on how HotSpot lays out objects and calls agents, and its Java classes are compiled for
//! [`OLDEST`]: in another JVM the program must run as if Ravel were not there.

use crate::jvm::{self, Jvmti};

/// The oldest release that the Java classes run on.
const OLDEST: u32 = 17;

/// The names of HotSpot builds: `OpenJDK 64-Bit Server VM`, `Java HotSpot(TM) 64-Bit Server VM`, and GraalVM the same.
const HOTSPOT: [&str; 4] = ["Server VM", "Client VM", "Zero VM", "Minimal VM"];

/// Why this JVM cannot be recorded, if so.
pub fn check(jvmti: Jvmti) -> Result<(), String> {
    let name = jvm::property(jvmti, c"java.vm.name");
    let release = jvm::property(jvmti, c"java.vm.specification.version");
    check_names(&name, &release)
}

fn check_names(name: &str, release: &str) -> Result<(), String> {
    if !HOTSPOT.iter().any(|hotspot| name.ends_with(hotspot)) {
        let name = if name.is_empty() { "a JVM without a name" } else { name };
        return Err(format!("Ravel can record HotSpot JVMs only, and this is {name}"));
    }
    // Before release 9 the first number is always 1.
    let number = release.strip_prefix("1.").unwrap_or(release);
    match number.parse::<u32>() {
        Ok(number) if number < OLDEST => Err(format!("Ravel needs Java {OLDEST} or later, and this is Java {number}")),
        Ok(_) => Ok(()),
        Err(_) => Err(format!(
            "Ravel needs Java {OLDEST} or later, and this is of an unknown release {release:?}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hotspot_from_17_on_is_recorded() {
        for (name, release, wanted) in [
            ("OpenJDK 64-Bit Server VM", "17", None),
            ("Java HotSpot(TM) 64-Bit Server VM", "26", None),
            ("OpenJDK 64-Bit Zero VM", "21", None),
            ("OpenJDK 64-Bit Server VM", "11", Some("this is Java 11")),
            ("OpenJDK 64-Bit Server VM", "1.8", Some("this is Java 8")),
            ("OpenJDK 64-Bit Server VM", "", Some("unknown release")),
            ("Eclipse OpenJ9 VM", "17", Some("this is Eclipse OpenJ9 VM")),
            ("Zing 64-Bit Tiered VM", "17", Some("this is Zing 64-Bit Tiered VM")),
            ("", "17", Some("without a name")),
        ] {
            let found = check_names(name, release);
            match wanted {
                None => assert_eq!(found, Ok(()), "{name} {release}"),
                Some(words) => assert!(found.is_err_and(|why| why.contains(words)), "{name} {release}"),
            }
        }
    }
}
