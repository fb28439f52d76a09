//! Objects that are not the locks that they seem: a back pointer is its owner, and a lock that the program made itself is no
//! state.

use ravel_classfile::access;
use rustc_hash::FxHashSet;

use crate::body::Stmt;
use crate::expr::{ExprId, Exprs, Node};
use crate::program::{MethodId, Program};
use crate::symbols::{PairId, Sym, class_of_descriptor, field_descriptor, result};

/// The object to which a back pointer leads: `base.part.owner` is `base` when the part is kept for good and its owner is of the
/// class that has the part and never changes either.
pub(crate) fn back_to(program: &Program, exprs: &Exprs, lock: ExprId) -> Option<ExprId> {
    let Node::Field(middle, owner) = exprs.node(lock) else {
        return None;
    };
    let Node::Field(base, part) = exprs.node(middle) else {
        return None;
    };
    let is_final = |pair: PairId| {
        program
            .field(pair)
            .is_some_and(|field| field.access & access::FINAL != 0)
    };
    let symbols = &program.symbols;
    let (holder, _) = symbols.members(program.field(part)?.pair);
    let pointed = field_descriptor(symbols.bytes(symbols.members(owner).1));
    let leads_back = class_of_descriptor(pointed).and_then(|class| symbols.find(class)) == Some(holder);
    (leads_back && is_final(owner) && is_final(part)).then_some(base)
}

/// The classes that are locks by what they do: one method waits on the object until it may go on, another one wakes, both
/// assign a common field, and no method gives out an object, as a queue or a future would.
pub(crate) struct MadeLocks {
    classes: FxHashSet<Sym>,
}

impl MadeLocks {
    pub fn of(program: &Program) -> MadeLocks {
        let mut classes = FxHashSet::default();
        for class in &program.classes {
            let mut waits: FxHashSet<PairId> = FxHashSet::default();
            let mut wakes: FxHashSet<PairId> = FxHashSet::default();
            let mut gives_out = false;
            for method in class.methods.clone().map(MethodId) {
                let found = program.method(method);
                let selector = program.symbols.bytes(found.selector);
                let own = found.access & (access::PRIVATE | access::STATIC) != 0 || selector.starts_with(b"toString()");
                gives_out |= !own && matches!(result(selector).first(), Some(b'L' | b'['));
                let Some(body) = program.body(method) else { continue };
                let is_this = |lock: &ExprId| body.exprs.get(lock.0 as usize) == Some(&Node::This);
                let stmts = &body.stmts;
                if stmts
                    .iter()
                    .any(|stmt| matches!(stmt, Stmt::Wait(lock) if is_this(lock)))
                {
                    waits.extend(found.assigns.iter());
                }
                if stmts
                    .iter()
                    .any(|stmt| matches!(stmt, Stmt::Notify { lock, .. } if is_this(lock)))
                {
                    wakes.extend(found.assigns.iter());
                }
            }
            if !gives_out && !waits.is_disjoint(&wakes) {
                classes.insert(class.name);
            }
        }
        MadeLocks { classes }
    }

    /// Whether a class is such a lock.
    pub fn contains(&self, class: Sym) -> bool {
        self.classes.contains(&class)
    }
}
