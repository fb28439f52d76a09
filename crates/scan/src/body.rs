//! The code of a method as the analyses see it: a control flow graph whose statements are acquisitions, releases, calls,
//! assignments to what locks depend on, and accesses to guarded fields. Everything else is left out.

use crate::expr::{ExprId, Exprs, Node, UNKNOWN};
use crate::symbols::PairId;

/// A place where a method acquires a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The lock.
    pub lock: ExprId,
    /// The position in the code; 0 for a synchronized method.
    pub pc: u16,
    /// How it is acquired.
    pub kind: SiteKind,
    /// Whether the method never releases it: its caller holds the lock afterwards.
    pub kept: bool,
    /// Whether it is only tried, which does not block.
    pub tried: bool,
}

/// How a lock is acquired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteKind {
    /// The method is `synchronized`.
    Method,
    /// A `synchronized` block.
    Block,
    /// `Lock.lock` and its kin.
    Explicit,
}

/// A call's target as the code names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallRef {
    /// The class and the method named.
    pub pair: PairId,
    /// Whether overriding methods may run instead.
    pub is_virtual: bool,
}

/// One statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// Acquires the lock of a site; the number is that of the site.
    Enter(u16),
    /// Releases what a site acquired; none if nothing matches.
    Exit(Option<u16>),
    /// Assigns to an expression that a lock may depend on.
    Assign(ExprId),
    /// Calls a method.
    Call {
        /// Which.
        target: CallRef,
        /// Where its arguments start in `Body::args`, the receiver first.
        args: u32,
        /// How many there are, the receiver included.
        count: u8,
        /// Whether the first one is a receiver.
        receiver: bool,
    },
    /// Waits on an object, which gives its lock up meanwhile; `*` for a condition, which belongs to some explicit lock.
    Wait(ExprId),
    /// Wakes threads that wait on an object.
    Notify {
        /// The object.
        lock: ExprId,
        /// Whether it wakes all of them.
        all: bool,
    },
    /// Reads or writes a field that an annotation guards.
    Access {
        /// The field.
        field: PairId,
        /// The object; `*` for a static field.
        base: ExprId,
        /// Whether it is written.
        write: bool,
    },
}

/// A basic block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// Its statements, by their places in `Body::stmts`.
    pub stmts: std::ops::Range<u32>,
    /// The blocks that can come next.
    pub successors: Vec<u16>,
    /// The blocks that handle its exceptions.
    pub handlers: Vec<u16>,
    /// The sites whose locks are held at its start, outermost first.
    pub held: Vec<u16>,
    /// Whether it can be reached.
    pub reached: bool,
}

/// The code of a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// The expressions, `*` first.
    pub exprs: Box<[Node]>,
    /// The acquisitions.
    pub sites: Box<[Site]>,
    /// The statements of all blocks.
    pub stmts: Box<[Stmt]>,
    /// The position of each statement in the code.
    pub pcs: Box<[u16]>,
    /// The arguments of all calls.
    pub args: Box<[ExprId]>,
    /// The blocks; the first is the entry.
    pub blocks: Box<[Block]>,
    /// Position and source line, in the order of positions.
    pub lines: Box<[(u16, u16)]>,
    /// The names of locals and parameters that expressions use.
    pub names: Box<[(Node, Box<str>)]>,
    /// Expressions made by `new` that are passed on, stored or otherwise out of the method's hands, and since which position.
    pub escaped: Box<[(ExprId, u16)]>,
}

/// The source line of a position, by a table of positions and lines in the order of positions; 0 if unknown.
pub fn line_at(lines: &[(u16, u16)], pc: u16) -> u32 {
    let after = lines.partition_point(|(start, _)| *start <= pc);
    let found = after.checked_sub(1).and_then(|at| lines.get(at));
    found.map_or(0, |(_, line)| u32::from(*line))
}

impl Body {
    /// The source line of a position; 0 if unknown.
    pub fn line(&self, pc: u16) -> u32 {
        line_at(&self.lines, pc)
    }

    /// The source line of a statement.
    pub fn stmt_line(&self, stmt: u32) -> u32 {
        self.pcs.get(stmt as usize).map_or(0, |pc| self.line(*pc))
    }

    /// The expressions as a table that can grow.
    pub fn table(&self) -> Exprs {
        Exprs::of(if self.exprs.is_empty() {
            &[Node::Unknown]
        } else {
            &self.exprs
        })
    }

    /// Whether an expression starts at an object that the method made and still has to itself at this statement.
    pub fn is_unpublished(&self, exprs: &Exprs, lock: ExprId, stmt: u32) -> bool {
        let pc = self.pcs.get(stmt as usize).copied().unwrap_or(u16::MAX);
        exprs.any(lock, &mut |node| {
            let escape = self
                .escaped
                .iter()
                .find(|(escaped, _)| self.exprs.get(escaped.0 as usize) == Some(&node));
            matches!(node, Node::New(_)) && escape.is_none_or(|(_, since)| *since > pc)
        })
    }

    /// The arguments of a call.
    pub fn arguments(&self, args: u32, count: u8) -> &[ExprId] {
        let start = args as usize;
        self.args.get(start..start + usize::from(count)).unwrap_or_default()
    }

    /// The lock of a site.
    pub fn lock(&self, site: u16) -> ExprId {
        self.sites.get(usize::from(site)).map_or(UNKNOWN, |site| site.lock)
    }

    /// Calls `each` with every statement of a reachable block and the sites held before it, outermost first.
    pub fn walk(&self, mut each: impl FnMut(u32, &Stmt, &[u16])) {
        let mut held = Vec::new();
        for block in self.blocks.iter().filter(|block| block.reached) {
            held.clear();
            held.extend_from_slice(&block.held);
            for at in block.stmts.clone() {
                let Some(stmt) = self.stmts.get(at as usize) else {
                    continue;
                };
                each(at, stmt, &held);
                step(&mut held, stmt);
            }
        }
    }
}

impl Body {
    /// The open site whose lock a wait gives up; the sites are given as they are held, outermost first.
    pub fn waited_on(&self, held: &[u16], lock: ExprId) -> Option<usize> {
        held.iter().rposition(|site| {
            let site = self.sites.get(usize::from(*site));
            site.is_some_and(|site| match lock {
                UNKNOWN => site.kind == SiteKind::Explicit,
                lock => site.lock == lock,
            })
        })
    }
}

/// What a statement does to the sites held.
pub(crate) fn step(held: &mut Vec<u16>, stmt: &Stmt) {
    match stmt {
        Stmt::Enter(site) => held.push(*site),
        Stmt::Exit(Some(site)) => {
            if let Some(at) = held.iter().rposition(|held| held == site) {
                held.remove(at);
            }
        }
        _ => {}
    }
}
