//! Objects that their owner keeps to itself and changes only with one lock held: the lock that such an object takes itself protects
//! nothing that could change while the owner's lock is held.
//!
//! The owner's class makes the object, puts it into a private field, and uses it there: it calls its methods, locks it, compares it
//! with null. It gives it to no method, returns it nowhere and stores it nowhere else.

use std::cell::RefCell;

use ravel_classfile::{ClassFile, access, op};
use rustc_hash::FxHashMap;

use super::callers::Callers;
use super::guards::{Guard, guard};
use crate::body::{Body, Stmt};
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Exprs, Node, UNKNOWN};
use crate::flow::{At, Kind, MethodFlow};
use crate::program::{Class, MethodId, Program};
use crate::solve::{Instance, LocksHeld, MethodFacts};
use crate::stale::Stale;
use crate::symbols::{PairId, outermost, parameters};

/// Answers whether an object is changed only with a lock of its owner held, with what was worked out before.
pub(super) struct Kept<'a, 'p> {
    program: &'a Program,
    graph: &'a CallGraph<'p>,
    held: &'a LocksHeld,
    stale: &'a Stale<'a>,
    /// The classes by the name of the outermost class around them.
    nested: FxHashMap<&'a [u8], Vec<&'a Class>>,
    kept: RefCell<FxHashMap<PairId, bool>>,
    changed: RefCell<FxHashMap<(PairId, Guard), bool>>,
}

impl<'a, 'p> Kept<'a, 'p> {
    pub fn new(program: &'a Program, graph: &'a CallGraph<'p>, held: &'a LocksHeld, stale: &'a Stale<'a>) -> Self {
        let mut nested: FxHashMap<&[u8], Vec<&Class>> = FxHashMap::default();
        for class in program.classes.iter().filter(|class| class.wanted) {
            let outer = outermost(program.symbols.bytes(class.name));
            nested.entry(outer).or_default().push(class);
        }
        Kept {
            program,
            graph,
            held,
            stale,
            nested,
            kept: RefCell::default(),
            changed: RefCell::default(),
        }
    }

    /// Whether what the lock of an instance protects is changed only with the context's lock held.
    pub fn is_changed_inside(&self, facts: &MethodFacts, instance: &Instance) -> bool {
        let twice = instance.twice;
        if twice.first != twice.second {
            return false;
        }
        let Some((field, guard)) = self.owner(facts, instance, twice.second) else {
            return false;
        };
        let Some(field) = self.program.field(field) else {
            return false;
        };
        let private = field.access & access::PRIVATE != 0 && field.access & access::STATIC == 0;
        private && self.is_kept(field.pair) && self.is_changed_with(field.pair, guard)
    }

    /// The field on the way to a lock whose owner has the context's lock, and that lock as the owner names it.
    fn owner(&self, facts: &MethodFacts, instance: &Instance, lock: ExprId) -> Option<(PairId, Guard)> {
        let holder = self.program.body(instance.context_method)?;
        let context = holder.lock(instance.context_site);
        // Calls on the same object keep its name.
        let own = |site: &crate::callgraph::CallSite| {
            let body = self.program.body(site.method)?;
            let Stmt::Call {
                args, count, receiver, ..
            } = body.stmts.get(site.stmt as usize)?
            else {
                return None;
            };
            let first = body.arguments(*args, *count).first()?;
            (*receiver && body.exprs.get(first.0 as usize) == Some(&Node::This)).then_some(())
        };
        let here = instance.chain.is_empty();
        if !here && instance.chain.iter().any(|site| own(site).is_none()) {
            return None;
        }
        let mut at = lock;
        loop {
            at = match facts.exprs.node(at) {
                Node::ReadWrite(base) => base,
                Node::Field(owner, field) => {
                    let found = if here {
                        of_owner(&facts.exprs, context, owner)
                    } else if facts.exprs.node(owner) == Node::This {
                        guard(holder, context).filter(|found| matches!(found, Guard::This | Guard::Own(_)))
                    } else {
                        None
                    };
                    if let Some(found) = found {
                        return Some((field, found));
                    }
                    owner
                }
                _ => return None,
            };
        }
    }

    fn is_kept(&self, field: PairId) -> bool {
        if let Some(known) = self.kept.borrow().get(&field) {
            return *known;
        }
        let mut users = self.users(field).into_iter();
        let kept =
            users.all(|method| MethodFlow::of(self.program, method).is_some_and(|known| self.keeps(&known, field)));
        self.kept.borrow_mut().insert(field, kept);
        kept
    }

    /// The methods that name a private field: those of its class and of the classes nested with it.
    fn users(&self, field: PairId) -> Vec<MethodId> {
        let (class, member) = self.program.symbols.members(field);
        let member = self.program.symbols.member_name(member);
        let nested = self.nested.get(outermost(self.program.symbols.bytes(class)));
        let mut users = Vec::new();
        for other in nested.into_iter().flatten() {
            let class = other.bytes.as_deref();
            let Some(class) = class.and_then(|bytes| ClassFile::parse(bytes).ok()) else {
                continue;
            };
            let is_named = |index: &u16| {
                let named = class.pool.member_ref(*index);
                named.is_ok_and(|named| named.name == member.as_bytes())
            };
            let references: Vec<u16> = class.pool.indices().filter(is_named).collect();
            if references.is_empty() {
                continue;
            }
            users.extend(other.methods.clone().map(MethodId).filter(|method| {
                let member = crate::flow::member(self.program, &class, *method);
                let code = member.and_then(|member| class.code(member).ok().flatten());
                code.is_some_and(|code| {
                    code.code.windows(3).any(|bytes| {
                        matches!(bytes[0], op::GETFIELD | op::PUTFIELD)
                            && references.contains(&u16::from_be_bytes([bytes[1], bytes[2]]))
                    })
                })
            }));
        }
        users
    }

    /// Whether a method puts only new objects into a field and lets none of them out.
    fn keeps(&self, known: &MethodFlow, field: PairId) -> bool {
        let flow = &known.flow;
        let is_here = |index: u16| known.field(self.program, index) == Some(field);
        let count = flow.all().count();
        flow.all().all(|at| match flow.kind(at) {
            Kind::Write(index) if is_here(index) => match flow.operand(at, 1) {
                // Null, which has no origin.
                None => flow.used(at).iter().next().is_none(),
                Some(made) => usize::from(made) < count && flow.kind(made) == Kind::Other,
            },
            Kind::Read(index) if is_here(index) => flow.all().all(|user| is_inside(known, user, at)),
            _ => true,
        })
    }

    /// Whether every change of the object in a field that is kept happens with a lock of its owner held.
    fn is_changed_with(&self, field: PairId, guard: Guard) -> bool {
        if let Some(known) = self.changed.borrow().get(&(field, guard)) {
            return *known;
        }
        let users = self.users(field);
        let mut users = users.iter().filter(|method| !self.program.is_constructor(**method));
        let changed = users.all(|method| self.changes_with(*method, field, guard));
        self.changed.borrow_mut().insert((field, guard), changed);
        changed
    }

    fn changes_with(&self, method: MethodId, field: PairId, guard: Guard) -> bool {
        let Some(body) = self.program.body(method) else {
            return true;
        };
        let owner_of = |lock: ExprId| owner_of(self.program, body, lock, field);
        let mut all = true;
        body.walk(|_, stmt, open| {
            let owner = match stmt {
                Stmt::Enter(site) => owner_of(body.lock(*site)).filter(|_| self.stale.changes_inside(method, *site)),
                Stmt::Call {
                    target,
                    args,
                    count,
                    receiver: true,
                } => {
                    let first = body.arguments(*args, *count).first();
                    let target = self.graph.target(*target);
                    first
                        .and_then(|first| owner_of(*first))
                        .filter(|_| target.is_some_and(|target| self.changes_its_own(target)))
                }
                _ => None,
            };
            if let Some(owner) = owner {
                all &= self.is_held(method, body, open, owner, guard);
            }
        });
        all
    }

    /// Whether a method that answers a call changes something under a lock of its object.
    fn changes_its_own(&self, target: crate::callgraph::TargetId) -> bool {
        let summaries = &self.held.summaries;
        summaries.answers(target).iter().any(|callee| {
            summaries.of(*callee).iter().enumerate().any(|(place, entry)| {
                let own = self.held.exprs.any(entry.item, &mut |node| node == Node::This);
                own && self.stale.changes(*callee, place as u32)
            })
        })
    }

    fn is_held(&self, method: MethodId, body: &Body, open: &[u16], owner: ExprId, wanted: Guard) -> bool {
        let holds = |site: &u16| of_owner(&body.table(), body.lock(*site), owner) == Some(wanted);
        if open.iter().any(holds) {
            return true;
        }
        if body.exprs.get(owner.0 as usize) != Some(&Node::This) {
            return false;
        }
        let mut exprs = Exprs::default();
        let this = exprs.add(Node::This);
        let lock = match wanted {
            Guard::Own(field) => exprs.add(Node::Field(this, field)),
            _ => this,
        };
        let callers = Callers {
            program: self.program,
            graph: self.graph,
            open: &|flags| flags & (access::PUBLIC | access::PROTECTED) != 0,
            lambdas: false,
        };
        callers.hold(method, lock, &exprs)
    }
}

/// A lock as its owner names it, if it is the owner itself or in a field of it.
fn of_owner(exprs: &Exprs, lock: ExprId, owner: ExprId) -> Option<Guard> {
    match exprs.node(lock) {
        _ if lock == UNKNOWN => None,
        _ if lock == owner => Some(Guard::This),
        Node::Field(base, field) if base == owner => Some(Guard::Own(field)),
        Node::ReadWrite(base) => of_owner(exprs, base, owner).filter(|found| *found != Guard::This),
        _ => None,
    }
}

/// The object whose field a lock goes through.
fn owner_of(program: &Program, body: &Body, lock: ExprId, field: PairId) -> Option<ExprId> {
    match body.exprs.get(lock.0 as usize)? {
        Node::Field(owner, named) => {
            if program.field(*named).is_some_and(|named| named.pair == field) {
                Some(*owner)
            } else {
                owner_of(program, body, *owner, field)
            }
        }
        Node::ReadWrite(base) => owner_of(program, body, *base, field),
        _ => None,
    }
}

/// Whether an instruction that uses a value lets it out: as an argument, as a result, into another object, or into a lambda.
fn is_inside(known: &MethodFlow, user: At, value: At) -> bool {
    let flow = &known.flow;
    let places = (0..flow.operand_count(user)).filter(|place| flow.operand(user, *place) == Some(value));
    let mut places = places.peekable();
    if places.peek().is_none() {
        return true;
    }
    match flow.kind(user) {
        Kind::Call(index) => {
            let called = known.class.pool.member_ref(index);
            let receiver = called.is_ok_and(|called| flow.operand_count(user) > parameters(called.descriptor).count());
            receiver && places.all(|place| place == 0)
        }
        Kind::Read(_) | Kind::Write(_) | Kind::Store => places.all(|place| place == 0),
        Kind::Return | Kind::Dynamic(_) => false,
        Kind::Branch | Kind::Load | Kind::Cast(_) | Kind::Other => true,
    }
}
