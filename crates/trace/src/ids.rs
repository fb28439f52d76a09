//! The small numbers that stand for things, one type each, so that a thread can never be mistaken for a lock.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a dense table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// Panics beyond `u32::MAX`: tables are bounded long before that.
            #[inline]
            fn from(index: usize) -> Self {
                $name(u32::try_from(index).expect("more than u32::MAX entries in an id table"))
            }
        }
    };
}

id!(
    /// A thread of the recorded run; 0 is the first thread seen (`main`).
    ThreadId
);
id!(
    /// A place in code. Site 0 is "unknown".
    SiteId
);
id!(
    /// A method of a class.
    MethodId
);
id!(
    /// A class, by name and loader.
    ClassId
);
id!(
    /// A field declared by a class.
    FieldId
);
id!(
    /// A memory cell, dense in order of first appearance in the merged trace.
    LocationId
);
id!(
    /// A lock, dense in order of first appearance in the merged trace.
    LockId
);
id!(
    /// The object of a synchronisation that is no lock (latch, future, task, queue element, class initialisation),
    /// dense in order of first appearance in the merged trace.
    SyncId
);

/// The identity of an object in the recorded run. Never the same in another run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct ObjectId(pub u64);
