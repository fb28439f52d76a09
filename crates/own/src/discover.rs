//! Owners as recorded runs suggest them: Focus, section 4.
//!
//! For each field: how many threads came, whether it was written once a second thread had come, and which locks were held at
//! every access from then on. The suggestion is what the observed accesses agree on, per field over all its objects; it is
//! checked afterwards, so it may be wrong. The paper watches a few objects of each class; here whatever the trace has counts.

use std::collections::BTreeMap;

use ravel_trace::names::{Location, Names, flags};
use ravel_trace::{LockId, Mode, Op, Source, SourceError, ThreadId};
use rustc_hash::FxHashMap;

/// An owner that the runs suggest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Suggestion {
    /// Each object stayed with one thread.
    ThisThread,
    /// Not written once shared.
    Readonly,
    /// The object's own lock was held.
    Own,
    /// A lock of this class was held, for each object always the same.
    Lock(String),
    /// Objects went from thread to thread, each having them alone in its time.
    Unique,
    /// Nothing protects it.
    Nothing,
}

impl Suggestion {
    /// As the plan has it.
    pub fn text(&self) -> String {
        match self {
            Suggestion::ThisThread => "thisThread".to_owned(),
            Suggestion::Readonly => "readonly".to_owned(),
            Suggestion::Own => "self".to_owned(),
            Suggestion::Lock(class) => format!("a lock of class {class}"),
            Suggestion::Unique => "unique".to_owned(),
            Suggestion::Nothing => "nothing".to_owned(),
        }
    }
}

#[derive(Debug)]
struct Cell {
    first: ThreadId,
    last: ThreadId,
    shared: bool,
    written: bool,
    /// Whether a thread that had left the object came back to it.
    returned: bool,
    past: Vec<ThreadId>,
    locks: Option<Vec<LockId>>,
}

/// Suggestions by field, `shop.Stock.items`.
pub type Suggestions = BTreeMap<String, Suggestion>;

/// Reads a trace and adds what it suggests.
pub fn discover(source: &mut dyn Source, into: &mut Suggestions) -> Result<(), SourceError> {
    let mut held: FxHashMap<ThreadId, Vec<(LockId, Mode)>> = FxHashMap::default();
    let mut cells: FxHashMap<u32, Cell> = FxHashMap::default();
    while let Some(event) = source.next_event()? {
        let locks = held.entry(event.thread).or_default();
        match event.op {
            Op::Acquire { lock, mode } => locks.push((lock, mode)),
            Op::Resume { lock, .. } => locks.push((lock, Mode::Exclusive)),
            Op::Release { lock, .. } | Op::Wait { lock } => {
                if let Some(at) = locks.iter().rposition(|(held, _)| *held == lock) {
                    locks.remove(at);
                }
            }
            op => {
                let Some(location) = op.location() else { continue };
                visit(cells.entry(location.0), event.thread, op.is_write(), locks);
            }
        }
    }
    let names = source.names();
    let mut ids: Vec<u32> = cells.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        let location = ravel_trace::LocationId(id);
        let Some(field) = names.field_of(location) else {
            continue;
        };
        if names.field(field).flags & (flags::VOLATILE | flags::FINAL) != 0 {
            continue;
        }
        let suggestion = suggest(&cells[&id], names, location);
        let name = names.location_name(location);
        match into.get_mut(&name) {
            Some(known) => *known = join(known.clone(), suggestion),
            None => {
                into.insert(name, suggestion);
            }
        }
    }
    Ok(())
}

fn visit(
    entry: std::collections::hash_map::Entry<'_, u32, Cell>,
    thread: ThreadId,
    write: bool,
    locks: &[(LockId, Mode)],
) {
    let cell = entry.or_insert_with(|| Cell {
        first: thread,
        last: thread,
        shared: false,
        written: false,
        returned: false,
        past: Vec::new(),
        locks: None,
    });
    cell.shared |= thread != cell.first;
    if thread != cell.last {
        cell.returned |= cell.past.contains(&thread);
        cell.past.push(cell.last);
        cell.last = thread;
    }
    if !cell.shared {
        return;
    }
    cell.written |= write;
    let protects = |lock: LockId| {
        locks
            .iter()
            .any(|(held, mode)| *held == lock && (!write || *mode == Mode::Exclusive))
    };
    match &mut cell.locks {
        Some(known) => known.retain(|lock| protects(*lock)),
        None => {
            cell.locks = Some(
                locks
                    .iter()
                    .map(|(lock, _)| *lock)
                    .filter(|lock| protects(*lock))
                    .collect(),
            )
        }
    }
}

fn suggest(cell: &Cell, names: &Names, location: ravel_trace::LocationId) -> Suggestion {
    if !cell.shared {
        return Suggestion::ThisThread;
    }
    if !cell.written {
        return Suggestion::Readonly;
    }
    let locks = cell.locks.as_deref().unwrap_or_default();
    let object = match names.locations.get(location.index()) {
        Some(Location::Field(object, _) | Location::Entry(object, _, _)) => Some(*object),
        _ => None,
    };
    if locks.iter().any(|lock| Some(names.lock(*lock).object) == object) {
        return Suggestion::Own;
    }
    match locks.first() {
        Some(lock) => Suggestion::Lock(names.lock(*lock).name.clone()),
        None if !cell.returned => Suggestion::Unique,
        None => Suggestion::Nothing,
    }
}

/// What two objects' suggestions have in common.
fn join(a: Suggestion, b: Suggestion) -> Suggestion {
    use Suggestion::{Lock, Nothing, Own, Readonly, ThisThread, Unique};
    match (a, b) {
        (a, b) if a == b => a,
        (ThisThread, other) | (other, ThisThread) => other,
        (Readonly, other @ (Own | Lock(_) | Unique)) | (other @ (Own | Lock(_) | Unique), Readonly) => other,
        _ => Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_join_to_what_both_allow() {
        use Suggestion::{Lock, Nothing, Own, Readonly, ThisThread, Unique};
        let all = [
            ThisThread,
            Readonly,
            Own,
            Lock("A".into()),
            Lock("B".into()),
            Unique,
            Nothing,
        ];
        for a in &all {
            assert_eq!(join(a.clone(), a.clone()), *a);
            assert_eq!(join(a.clone(), Nothing), Nothing);
            for b in &all {
                assert_eq!(join(a.clone(), b.clone()), join(b.clone(), a.clone()));
            }
        }
        assert_eq!(join(ThisThread, Own), Own);
        assert_eq!(join(Own, Lock("A".into())), Nothing);
    }
}
