//! The seeds of the fuzz targets through the functions that the targets call, as they are and with simple damage: `make fuzz` does the
//! same for long, this is the sample of every `make test`.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(dead_code, reason = "the file of the fuzz targets, which call the functions by name")]
mod targets;

use std::path::Path;
use std::process::Command;

use ravel_testing::jdks;

/// How often a seed is damaged.
const DAMAGED: usize = 40;

/// Seeded, so that every run does the same damage.
struct Chance(fastrand::Rng);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit.max(1))
    }

    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => bytes.truncate(at),
                1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                2 if at < bytes.len() => bytes[at] = 0xff,
                _ => {
                    let end = (at + self.below(16)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
        }
        bytes
    }
}

#[test]
fn no_target_panics_on_its_seeds_and_on_damaged_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = tempfile::tempdir().expect("a temporary directory");
    let made = Command::new(root.join("scripts/fuzz-corpus.sh"))
        .arg(corpus.path())
        .env("RAVEL", env!("CARGO_BIN_EXE_ravel"))
        .env("JAVA_HOME", &jdks()[0].home)
        .output()
        .expect("the script starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut chance = Chance(fastrand::Rng::with_seed(1));
    for (name, target) in targets::TARGETS {
        let seeds: Vec<_> = std::fs::read_dir(corpus.path().join(name))
            .expect("a folder of seeds for each target")
            .flatten()
            .collect();
        assert!(!seeds.is_empty(), "{name} has no seed");
        for seed in seeds {
            let bytes = std::fs::read(seed.path()).expect("a readable seed");
            target(&bytes);
            for _ in 0..DAMAGED {
                target(&chance.damage(&bytes));
            }
        }
    }
}

/// A target that is in the list and not in the manifest, or the other way round, would never run.
#[test]
fn every_function_has_a_target() {
    let manifest = include_str!("../../../fuzz/Cargo.toml");
    let script = include_str!("../../../scripts/fuzz.sh");
    for (name, _) in targets::TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        assert!(script.contains(name), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), targets::TARGETS.len());
}
