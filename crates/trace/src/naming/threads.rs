//! Threads: the Java name, and a number where several threads have one name.

use rustc_hash::FxHashMap;

use crate::names::Names;

/// The names of at least `count` threads, in the order of their ids: `worker`, where it repeats `worker#2`, and `thread-3`
/// for one that has no name.
pub fn thread_names(names: &Names, count: usize) -> Vec<String> {
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    (0..count.max(names.threads.len()))
        .map(|index| {
            let given = names.threads.get(index).map_or("", |thread| thread.name.as_str());
            let name = match given {
                "" => format!("thread-{index}"),
                given => given.to_owned(),
            };
            let count = seen.entry(name.clone()).or_insert(0);
            *count += 1;
            match *count {
                1 => name,
                count => format!("{name}#{count}"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Thread;

    #[test]
    fn repeated_and_missing_names_get_numbers() {
        let threads = ["main", "worker", "", "worker", ""];
        let names = Names {
            threads: threads
                .iter()
                .map(|name| Thread {
                    name: (*name).to_owned(),
                    ..Thread::default()
                })
                .collect(),
            ..Names::default()
        };
        let shown = ["main", "worker", "thread-2", "worker#2", "thread-4", "thread-5"];
        assert_eq!(thread_names(&names, 6), shown);
    }
}
