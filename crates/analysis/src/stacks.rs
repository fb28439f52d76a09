//! Interned call stacks: a tree of calling contexts, so that an access can remember its stack in one word.

use ravel_trace::{MethodId, SiteId};
use rustc_hash::FxHashMap;

/// A call stack. 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct StackId(pub u32);

/// One activation on a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StackFrame {
    /// The method.
    pub method: MethodId,
    /// Where it was called from, if known.
    pub call: SiteId,
}

/// All stacks seen so far.
#[derive(Debug)]
pub struct Stacks {
    nodes: Vec<(StackId, StackFrame)>,
    children: FxHashMap<(StackId, StackFrame), StackId>,
}

impl Default for Stacks {
    fn default() -> Self {
        let root = StackFrame {
            method: MethodId(u32::MAX),
            call: SiteId(0),
        };
        Stacks {
            nodes: vec![(StackId(0), root)],
            children: FxHashMap::default(),
        }
    }
}

impl Stacks {
    /// The stack with one activation more.
    pub fn push(&mut self, stack: StackId, frame: StackFrame) -> StackId {
        let next = StackId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 calling contexts"));
        let id = *self.children.entry((stack, frame)).or_insert(next);
        if id == next {
            self.nodes.push((stack, frame));
        }
        id
    }

    /// The caller's stack; the empty stack's is itself.
    pub fn pop(&self, stack: StackId) -> StackId {
        self.nodes[stack.0 as usize].0
    }

    /// Activations, innermost first.
    pub fn frames(&self, mut stack: StackId) -> impl Iterator<Item = StackFrame> + '_ {
        std::iter::from_fn(move || {
            if stack == StackId(0) {
                return None;
            }
            let (caller, frame) = self.nodes[stack.0 as usize];
            stack = caller;
            Some(frame)
        })
    }
}
