//! What threads are called: the name people see, and the path by which another run finds the same thread.
//!
//! A path is who created whom and in which order, so it means the same in every run: `main/0/2` is the third thread
//! started by the first thread that `main` started. A worker that a pool started on demand is a child of the first thread: which thread found the
//! pool busy differs from run to run.

pub use ravel_protocol::ThreadName;
use ravel_trace::naming;
use ravel_trace::spawn;
use ravel_trace::{Names, ThreadId};
use rustc_hash::FxHashMap;

/// Names for at least `count` threads, in order of their ids.
pub fn thread_names(names: &Names, count: usize) -> Vec<ThreadName> {
    let shown = naming::thread_names(names, count);
    let count = shown.len();
    let mut roots: FxHashMap<String, u32> = FxHashMap::default();
    let mut result: Vec<ThreadName> = Vec::with_capacity(count);
    for (index, name) in shown.into_iter().enumerate() {
        let entry = names.threads.get(index);
        let path = match entry.and_then(|t| t.parent) {
            Some(_) => path_of(names, ThreadId(index as u32)),
            None => {
                let given = entry.map(|t| t.name.clone()).filter(|name| !name.is_empty());
                let given = given.unwrap_or_else(|| format!("T{index}"));
                numbered(&mut roots, &escape(&given))
            }
        };
        result.push(ThreadName { path, name });
    }
    // Paths of children begin with the path of a root, which may have been numbered.
    for index in 0..count {
        if let Some(parent_path) = root_of(names, ThreadId(index as u32)).map(|root| result[root.index()].path.clone())
        {
            let tail = result[index].path.clone();
            result[index].path = format!("{parent_path}{tail}");
        }
    }
    result
}

fn numbered(seen: &mut FxHashMap<String, u32>, name: &str) -> String {
    let count = seen.entry(name.to_owned()).or_insert(0);
    *count += 1;
    if *count == 1 {
        name.to_owned()
    } else {
        format!("{name}#{count}")
    }
}

/// The part of a path below the root: `/0/2`.
fn path_of(names: &Names, thread: ThreadId) -> String {
    let mut parts = Vec::new();
    let mut current = thread;
    while let Some(entry) = names.threads.get(current.index())
        && let Some(parent) = entry.parent
        && parts.len() <= names.threads.len()
    {
        parts.push(entry.spawn_index);
        if spawn::is_worker(entry.spawn_index) {
            break;
        }
        current = parent;
    }
    parts.iter().rev().map(|i| format!("/{i}")).collect()
}

/// The first ancestor of a thread that has a parent.
fn root_of(names: &Names, thread: ThreadId) -> Option<ThreadId> {
    names.threads.get(thread.index())?.parent?;
    let mut current = thread;
    for _ in 0..names.threads.len() {
        let entry = names.threads.get(current.index());
        if entry.is_some_and(|t| t.parent.is_some() && spawn::is_worker(t.spawn_index)) {
            return Some(ThreadId(0));
        }
        match entry.and_then(|t| t.parent) {
            Some(parent) if parent.index() < names.threads.len() => current = parent,
            _ => return Some(current),
        }
    }
    None
}

/// Keeps a path one word: white space, `/`, `#` and `%` of a root's name become `%xx`.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_whitespace() || c.is_control() || matches!(c, '/' | '#' | '%') {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                escaped.push_str(&format!("%{byte:02x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}
