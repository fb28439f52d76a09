//! Dense ids for locations, locks and synchronisation objects, in the order in which the merged trace meets them.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::tables::Objects;
use crate::ids::{FieldId, LocationId, LockId, ObjectId, SyncId};
use crate::names::{Location, Lock, Names, Sync};

/// Elements of one array whose ids are found by one look-up: neighbours are mostly used together.
const CHUNK: usize = 16;

/// No id yet.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct FieldSlot {
    object: u64,
    field: u32,
    location: u32,
}

/// Finds and makes ids.
#[derive(Default)]
pub(crate) struct Interner {
    statics: Vec<u32>,
    fields: HashTable<FieldSlot>,
    entries: FxHashMap<(u64, u32, u32), LocationId>,
    chunks_by_array: FxHashMap<u64, u32>,
    chunks: Vec<[u32; CHUNK]>,
    locks: FxHashMap<u64, LockId>,
    syncs: FxHashMap<u64, SyncId>,
}

/// The array and chunk of an element, as one number.
#[inline]
pub(crate) fn chunk_key(array: u32, index: u32) -> u64 {
    u64::from(array) << 32 | u64::from(index / CHUNK as u32)
}

#[inline]
fn hash(object: u64, field: u32) -> u64 {
    let mixed = (object ^ u64::from(field).rotate_right(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // The table takes its bucket from the low bits and its tag from the high ones: fold so that both are mixed.
    mixed ^ mixed >> 32
}

fn add(names: &mut Names, location: Location) -> LocationId {
    names.locations.push(location);
    LocationId::from(names.locations.len() - 1)
}

impl Interner {
    /// A field that belongs to no object; `location` is what it becomes.
    pub fn single(&mut self, field: FieldId, location: Location, names: &mut Names) -> LocationId {
        let index = field.index();
        if index >= self.statics.len() {
            self.statics.resize(index + 1, NONE);
        }
        if self.statics[index] == NONE {
            self.statics[index] = add(names, location).0;
        }
        LocationId(self.statics[index])
    }

    #[inline]
    pub fn field(&mut self, object: u64, field: FieldId, names: &mut Names) -> LocationId {
        let key = hash(object, field.0);
        if let Some(slot) = self
            .fields
            .find(key, |slot| slot.object == object && slot.field == field.0)
        {
            return LocationId(slot.location);
        }
        let location = add(names, Location::Field(ObjectId(object), field));
        let slot = FieldSlot {
            object,
            field: field.0,
            location: location.0,
        };
        self.fields
            .insert_unique(key, slot, |slot| hash(slot.object, slot.field));
        location
    }

    pub fn entry(&mut self, object: u64, field: FieldId, key: u32, names: &mut Names) -> LocationId {
        *self
            .entries
            .entry((object, field.0, key))
            .or_insert_with(|| add(names, Location::Entry(ObjectId(object), field, key)))
    }

    /// The chunk of an array's elements, to be given to [`element`](Self::element).
    pub fn chunk(&mut self, key: u64) -> u32 {
        *self.chunks_by_array.entry(key).or_insert_with(|| {
            self.chunks.push([NONE; CHUNK]);
            self.chunks.len() as u32 - 1
        })
    }

    /// The element `index` of `array`, in the chunk found for it.
    #[inline]
    pub fn element(&mut self, chunk: u32, array: u64, index: u32, names: &mut Names) -> LocationId {
        let slot = &mut self.chunks[chunk as usize][index as usize % CHUNK];
        if *slot == NONE {
            *slot = add(names, Location::Element(ObjectId(array), index)).0;
        }
        LocationId(*slot)
    }

    pub fn lock(&mut self, object: u64, objects: &Objects, names: &mut Names) -> LockId {
        *self.locks.entry(object).or_insert_with(|| {
            names.locks.push(Lock {
                object: ObjectId(object),
                name: object_name(object, objects),
            });
            LockId::from(names.locks.len() - 1)
        })
    }

    pub fn sync(&mut self, object: u64, objects: &Objects, names: &mut Names) -> SyncId {
        *self.syncs.entry(object).or_insert_with(|| {
            names.syncs.push(Sync {
                object: ObjectId(object),
                name: object_name(object, objects),
            });
            SyncId::from(names.syncs.len() - 1)
        })
    }
}

fn object_name(object: u64, objects: &Objects) -> String {
    objects.class_name(ObjectId(object)).unwrap_or("?").to_string()
}
