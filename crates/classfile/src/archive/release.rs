//! Which entries of a jar or war are its classes for a given Java release.

use std::collections::BTreeMap;

/// The name of the manifest.
pub(super) const MANIFEST: &str = "META-INF/MANIFEST.MF";

const VERSIONS: &str = "META-INF/versions/";

/// Whether a manifest says that the archive has classes for several releases.
pub(super) fn is_multi_release(manifest: &[u8]) -> bool {
    let text = String::from_utf8_lossy(manifest);
    // Only the main section counts, which ends with the first empty line.
    text.lines().take_while(|line| !line.is_empty()).any(|line| {
        line.split_once(':').is_some_and(|(key, value)| {
            key.eq_ignore_ascii_case("Multi-Release") && value.trim().eq_ignore_ascii_case("true")
        })
    })
}

/// The main class that a manifest names.
pub(super) fn main_class(manifest: &[u8]) -> Option<String> {
    // A long line goes on after a blank in the next.
    let text = String::from_utf8_lossy(manifest)
        .replace("\r\n", "\n")
        .replace("\n ", "");
    let mut lines = text.lines().take_while(|line| !line.is_empty());
    lines.find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case("Main-Class").then(|| value.trim().to_owned())
    })
}

/// The classes among the entries: internal name and entry, in the order of the names.
pub(super) fn select(names: &[String], multi_release: bool, release: u16) -> impl Iterator<Item = (&str, &str)> {
    let mut chosen: BTreeMap<&str, (u16, &str)> = BTreeMap::new();
    for entry in names {
        let Some((version, class)) = class_name(entry) else {
            continue;
        };
        if version > 0 && (!multi_release || version > release) {
            continue;
        }
        let best = chosen.entry(class).or_insert((version, entry));
        if version >= best.0 {
            *best = (version, entry);
        }
    }
    chosen.into_iter().map(|(class, (_, entry))| (class, entry))
}

/// The release (0 for all) and the internal name of the class in an entry; none if it is no class of the program.
fn class_name(entry: &str) -> Option<(u16, &str)> {
    let class = entry.strip_suffix(".class")?;
    if let Some(versioned) = class.strip_prefix(VERSIONS) {
        let (version, class) = versioned.split_once('/')?;
        let version = version.parse().ok().filter(|version| *version >= 9)?;
        // Never overridden by the specification.
        return if class.starts_with("META-INF/") {
            None
        } else {
            Some((version, class))
        };
    }
    for prefix in ["BOOT-INF/classes/", "WEB-INF/classes/"] {
        if let Some(class) = class.strip_prefix(prefix) {
            return Some((0, class));
        }
    }
    Some((0, class))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(multi_release: bool, release: u16) -> Vec<(String, String)> {
        let names = [
            "META-INF/MANIFEST.MF",
            "META-INF/versions/11/a/B.class",
            "META-INF/versions/17/a/B.class",
            "META-INF/versions/9/a/B.class",
            "META-INF/versions/9/a/Only9.class",
            "META-INF/versions/8/a/B.class",
            "WEB-INF/classes/w/C.class",
            "a/B.class",
            "readme.txt",
        ];
        let names = names.map(str::to_owned);
        select(&names, multi_release, release)
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect()
    }

    #[test]
    fn the_newest_not_newer_than_the_release_is_taken() {
        let pairs = |list: Vec<(String, String)>| list.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>();
        let nine = "META-INF/versions/9/a/Only9.class";
        let web = "WEB-INF/classes/w/C.class";
        assert_eq!(pairs(chosen(true, 16)), ["META-INF/versions/11/a/B.class", nine, web]);
        assert_eq!(pairs(chosen(true, 25)), ["META-INF/versions/17/a/B.class", nine, web]);
        assert_eq!(pairs(chosen(true, 8)), ["a/B.class", web]);
        assert_eq!(pairs(chosen(false, 25)), ["a/B.class", web]);
    }

    #[test]
    fn names_lose_their_prefix() {
        let names: Vec<_> = chosen(true, 25).into_iter().map(|(class, _)| class).collect();
        assert_eq!(names, ["a/B", "a/Only9", "w/C"]);
    }

    #[test]
    fn the_main_class_may_go_on_in_the_next_line() {
        let manifest = b"Manifest-Version: 1.0\r\nMain-Class: shop.St\r\n ock\r\n\r\nName: x\r\n";
        assert_eq!(main_class(manifest).as_deref(), Some("shop.Stock"));
        assert_eq!(main_class(b"Manifest-Version: 1.0\n\nMain-Class: no\n"), None);
    }

    #[test]
    fn only_the_main_section_of_the_manifest_counts() {
        assert!(is_multi_release(
            b"Manifest-Version: 1.0\r\nmulti-release: TRUE\r\n\r\n"
        ));
        assert!(!is_multi_release(
            b"Manifest-Version: 1.0\n\nName: x\nMulti-Release: true\n"
        ));
        assert!(!is_multi_release(b"Multi-Release: false\n"));
    }
}
