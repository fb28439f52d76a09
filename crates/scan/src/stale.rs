//! Whether a second acquisition of a lock rests on a value that was read under the first.
//!
//! The lock pattern alone says that a lock is given up and taken again; the cases that go wrong are those in which the value read
//! the first time decides whether, or computes what, the second one does: then the second acts on a value that may be stale.
//! This module asks [`crate::flow`] that question, in the method with both acquisitions and, for an acquisition behind calls,
//! in every method on the way: the value must come back through all of them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ravel_classfile::access;
use rustc_hash::FxHashMap;

use crate::body::{Body, Stmt};
use crate::expr::ExprId;
use crate::flow::{At, Flow, Kind, MethodFlow, Origins};
use crate::program::{MethodId, Program};
use crate::solve::{LocksHeld, MethodFacts};
use crate::summary::Way;
use crate::symbols::{PairId, result};

/// How the second acquisition depends on the first, strongest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dependence {
    /// In no way that can be seen.
    None,
    /// The second is given the very object that the first one returned, as when a thing is taken and given back.
    HandedBack,
    /// The second changes something only after it has looked again.
    LooksAgain,
    /// The results of both meet in one computation.
    Joined,
    /// The value read first decides whether the second reads, or what.
    Rereads,
    /// The value read first decides whether the second changes something, or what.
    Changes,
}

/// A method, the locks acquired first and second, and the statement of the second.
type Question = (MethodId, ExprId, ExprId, u32);

/// How the second acquisition depends on the first, and the statement of the first.
type Answer = (Dependence, Option<u32>);

/// Answers questions about staleness, with what was worked out before.
pub struct Stale<'a> {
    program: &'a Program,
    held: &'a LocksHeld,
    flows: RefCell<FxHashMap<MethodId, Option<Rc<MethodFlow>>>>,
    returns: RefCell<FxHashMap<(MethodId, u32), bool>>,
    writes: RefCell<FxHashMap<MethodId, bool>>,
    read_inside: RefCell<FxHashMap<(MethodId, u16), Origins>>,
    effects: RefCell<FxHashMap<(MethodId, u16), Effect>>,
    answers: RefCell<FxHashMap<Question, Answer>>,
    /// The methods other than constructors that assign each field.
    assigners: FxHashMap<PairId, BTreeSet<MethodId>>,
}

impl<'a> Stale<'a> {
    /// For a program and its LOCKSHELD.
    pub fn new(program: &'a Program, held: &'a LocksHeld) -> Self {
        let mut assigners: FxHashMap<PairId, BTreeSet<MethodId>> = FxHashMap::default();
        for method in program.method_ids().filter(|method| !program.is_constructor(*method)) {
            for field in program.method(method).assigns.iter() {
                assigners.entry(*field).or_default().insert(method);
            }
        }
        Stale {
            program,
            held,
            flows: RefCell::default(),
            returns: RefCell::default(),
            writes: RefCell::default(),
            read_inside: RefCell::default(),
            effects: RefCell::default(),
            answers: RefCell::default(),
            assigners,
        }
    }

    /// The flow of a method; none if its class was not kept.
    pub fn flow(&self, method: MethodId) -> Option<Rc<MethodFlow>> {
        let mut flows = self.flows.borrow_mut();
        let known = flows.entry(method);
        known
            .or_insert_with(|| MethodFlow::of(self.program, method).map(Rc::new))
            .clone()
    }

    /// How the acquisition at statement `second` depends on an earlier one of the lock `first`, and which one that is.
    pub fn dependence(&self, facts: &MethodFacts, first: ExprId, second: (u32, ExprId)) -> Answer {
        // One pair of acquisitions comes with many contexts.
        let key = (facts.method, first, second.1, second.0);
        if let Some(known) = self.answers.borrow().get(&key) {
            return *known;
        }
        let answer = self.work_out(facts, first, second);
        self.answers.borrow_mut().insert(key, answer);
        answer
    }

    fn work_out(&self, facts: &MethodFacts, first: ExprId, second: (u32, ExprId)) -> Answer {
        let none = (Dependence::None, None);
        let (Some(body), Some(known)) = (self.program.body(facts.method), self.flow(facts.method)) else {
            return none;
        };
        let flow = &known.flow;
        let mut best = none;
        for stmt in acquisitions(facts, body, first) {
            // A loop that comes to the same place again is one that asks about something else each time, or it only polls.
            if stmt == second.0
                && (argument_count(body, stmt) < 2 || self.effect(facts, body, &known, second) != Effect::Reads)
            {
                continue;
            }
            let sources = self.sources(facts, body, &known, stmt, first);
            let found = match rests_on(&known, body, second.0, &sources) {
                Some(Use::Computed) => match self.effect(facts, body, &known, second) {
                    Effect::Writes => Dependence::Changes,
                    Effect::LooksAgain => Dependence::LooksAgain,
                    Effect::Reads => Dependence::Rereads,
                },
                Some(Use::HandedBack) => Dependence::HandedBack,
                // Of two results that meet, the earlier one is the first.
                None if stmt >= second.0 => Dependence::None,
                None => {
                    let others = self.sources(facts, body, &known, second.0, second.1);
                    if meet(flow, &sources, &others) {
                        Dependence::Joined
                    } else {
                        Dependence::None
                    }
                }
            };
            if found > best.0 {
                best = (found, Some(stmt));
            }
        }
        best
    }

    /// The instructions through which the method learns what an acquisition protects.
    fn sources(&self, facts: &MethodFacts, body: &Body, known: &MethodFlow, stmt: u32, lock: ExprId) -> Origins {
        match body.stmts.get(stmt as usize) {
            Some(Stmt::Enter(site)) => self.read_inside(facts.method, known, body, *site),
            Some(Stmt::Call { .. }) => {
                let brought = facts.brought.get(&(stmt, lock));
                let returns = brought.is_none_or(|(callee, place)| self.returns_state(*callee, *place));
                let at = body.pcs.get(stmt as usize).and_then(|pc| known.flow.at(*pc));
                at.filter(|_| returns).map(Origins::one).unwrap_or_default()
            }
            _ => Origins::default(),
        }
    }

    /// What is read while a site holds its lock, fields that do not change aside.
    fn read_inside(&self, method: MethodId, known: &MethodFlow, body: &Body, site: u16) -> Origins {
        if let Some(known) = self.read_inside.borrow().get(&(method, site)) {
            return known.clone();
        }
        let mut origins = Origins::default();
        let flow = &known.flow;
        for at in flow.region(body, site) {
            let is_read = match flow.kind(at) {
                Kind::Read(index) => !self.is_settled(method, known, index),
                Kind::Call(_) | Kind::Load => true,
                _ => false,
            };
            if is_read {
                origins.insert(at);
            }
        }
        self.read_inside.borrow_mut().insert((method, site), origins.clone());
        origins
    }

    /// Whether a field keeps the value that it has once it is not null: it is assigned by constructors alone, or by this method
    /// alone and only after a test of itself, as lazy initialisation does.
    fn is_settled(&self, method: MethodId, known: &MethodFlow, index: u16) -> bool {
        let Some(field) = known.field(self.program, index) else {
            return false;
        };
        let Some(declared) = self.program.field(field) else {
            return false;
        };
        if declared.access & access::FINAL != 0 {
            return true;
        }
        let Some(assigners) = self.assigners.get(&declared.pair) else {
            // Others could assign what is not private; they would have been read as well.
            return true;
        };
        let only_here = assigners.len() == 1 && assigners.contains(&method);
        only_here && self.is_initialised_once(known, declared.pair)
    }

    fn is_initialised_once(&self, known: &MethodFlow, field: PairId) -> bool {
        let flow = &known.flow;
        let reads = known.reads(self.program, field);
        flow.all().all(|at| match flow.kind(at) {
            Kind::Write(index) if known.field(self.program, index) == Some(field) => {
                flow.decided(at).meets(&reads) && !flow.used(at).meets(&reads)
            }
            _ => true,
        })
    }

    /// Whether the result of a method depends on what it, or a method that it calls, reads under the lock at this place of its
    /// set. Code that was not kept is taken to return such a value.
    fn returns_state(&self, method: MethodId, place: u32) -> bool {
        let key = (method, place);
        if let Some(known) = self.returns.borrow().get(&key) {
            return *known;
        }
        // A method that calls itself on the way adds nothing to its own result.
        self.returns.borrow_mut().insert(key, false);
        let answer = self.work_out_return(method, place);
        self.returns.borrow_mut().insert(key, answer);
        answer
    }

    fn work_out_return(&self, method: MethodId, place: u32) -> bool {
        let selector = self.program.symbols.bytes(self.program.method(method).selector);
        if result(selector) == b"V" {
            return false;
        }
        let (Some(body), Some(known)) = (self.program.body(method), self.flow(method)) else {
            return true;
        };
        let Some(entry) = self.held.summaries.of(method).get(place as usize) else {
            return false;
        };
        let flow = &known.flow;
        let sources = match entry.way {
            Way::Call(_, callee, next) if self.is_made_lock(callee, next) => everything_read(flow),
            Way::Direct(site) => u16::try_from(site)
                .map(|site| self.read_inside(method, &known, body, site))
                .unwrap_or_default(),
            Way::Call(stmt, callee, next) if self.returns_state(callee, next) => {
                let at = body.pcs.get(stmt as usize).and_then(|pc| flow.at(*pc));
                at.map(Origins::one).unwrap_or_default()
            }
            Way::Call(..) => return false,
        };
        // A test may choose between constants that meet before the return: `a < b ? -1 : 1`.
        let chooses = matches!(result(selector), b"Z" | b"B" | b"S" | b"C" | b"I");
        flow.all().any(|at| match flow.kind(at) {
            Kind::Return => flow.used(at).meets(&sources) || flow.decided(at).meets(&sources),
            Kind::Branch => chooses && flow.used(at).meets(&sources),
            _ => false,
        })
    }

    /// Whether the lock at this place of a method's set is one that the program made itself: the method that takes it waits
    /// until it may go on. It then protects everything that its caller does until it is given back.
    fn is_made_lock(&self, method: MethodId, place: u32) -> bool {
        let mut at = (method, place);
        for _ in 0..64 {
            match self.held.summaries.of(at.0).get(at.1 as usize).map(|entry| entry.way) {
                Some(Way::Call(_, callee, next)) => at = (callee, next),
                Some(Way::Direct(_)) => {
                    let selector = self.program.symbols.bytes(self.program.method(at.0).selector);
                    let waits = |body: &Body| body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Wait(_)));
                    return result(selector) == b"V" && self.program.body(at.0).is_some_and(waits);
                }
                None => return false,
            }
        }
        false
    }

    /// What an acquisition does while it holds the lock; code that was not kept is taken to write.
    fn effect(&self, facts: &MethodFacts, body: &Body, known: &MethodFlow, (stmt, lock): (u32, ExprId)) -> Effect {
        if let Some(Stmt::Enter(site)) = body.stmts.get(stmt as usize) {
            return self.effect_inside(facts.method, known, body, *site);
        }
        let Some(at) = facts.brought.get(&(stmt, lock)).copied() else {
            return Effect::Writes;
        };
        self.effect_of(at)
    }

    /// What a method does while it holds the lock at a place of its set.
    fn effect_of(&self, mut at: (MethodId, u32)) -> Effect {
        for _ in 0..64 {
            match self.held.summaries.of(at.0).get(at.1 as usize).map(|entry| entry.way) {
                Some(Way::Call(_, callee, place)) => at = (callee, place),
                Some(Way::Direct(site)) => {
                    let (Some(body), Some(known), Ok(site)) =
                        (self.program.body(at.0), self.flow(at.0), u16::try_from(site))
                    else {
                        break;
                    };
                    return self.effect_inside(at.0, &known, body, site);
                }
                None => break,
            }
        }
        Effect::Writes
    }

    /// Whether a method changes something while it holds the lock at a place of its set; code that was not kept is taken to.
    pub fn changes(&self, method: MethodId, place: u32) -> bool {
        self.effect_of((method, place)) != Effect::Reads
    }

    /// Whether a method changes something while a site of its own holds its lock.
    pub fn changes_inside(&self, method: MethodId, site: u16) -> bool {
        match (self.program.body(method), self.flow(method)) {
            (Some(body), Some(known)) => self.effect_inside(method, &known, body, site) != Effect::Reads,
            _ => true,
        }
    }

    fn effect_inside(&self, method: MethodId, known: &MethodFlow, body: &Body, site: u16) -> Effect {
        if let Some(known) = self.effects.borrow().get(&(method, site)) {
            return *known;
        }
        let effect = self.work_out_effect(known, body, site);
        self.effects.borrow_mut().insert((method, site), effect);
        effect
    }

    fn work_out_effect(&self, known: &MethodFlow, body: &Body, site: u16) -> Effect {
        let flow = &known.flow;
        let region = flow.region(body, site);
        let mut reads = Origins::default();
        for at in &region {
            if matches!(flow.kind(*at), Kind::Read(_) | Kind::Load | Kind::Call(_)) {
                reads.insert(*at);
            }
        }
        let mut effect = Effect::Reads;
        for at in region.into_iter().filter(|at| self.is_write(known, *at, 2)) {
            if !flow.decided(at).meets(&reads) {
                return Effect::Writes;
            }
            effect = Effect::LooksAgain;
        }
        effect
    }

    fn is_write(&self, known: &MethodFlow, at: At, calls: u32) -> bool {
        match known.flow.kind(at) {
            Kind::Write(_) | Kind::Store => true,
            Kind::Call(index) => {
                let Ok(method) = known.class.pool.member_ref(index) else {
                    return false;
                };
                if method.name.starts_with(b"<") {
                    return false;
                }
                let symbols = &self.program.symbols;
                let selector = [method.name, method.descriptor].concat();
                let found = symbols
                    .find(method.class)
                    .and_then(|class| symbols.find_pair(class, symbols.find(&selector)?))
                    .and_then(|pair| self.program.by_pair.get(&pair));
                match found.filter(|method| self.program.body(**method).is_some()) {
                    Some(found) => calls > 0 && self.writes(*found, calls - 1),
                    None => is_mutator(method.name),
                }
            }
            _ => false,
        }
    }

    fn writes(&self, method: MethodId, calls: u32) -> bool {
        if !self.program.method(method).assigns.is_empty() {
            return true;
        }
        if let Some(known) = self.writes.borrow().get(&method) {
            return *known;
        }
        let answer = self.flow(method).is_some_and(|known| {
            let flow = &known.flow;
            flow.all().any(|at| self.is_write(&known, at, calls))
        });
        self.writes.borrow_mut().insert(method, answer);
        answer
    }
}

/// Whether a method of a class that was not read sounds as if it changed its object.
fn is_mutator(name: &[u8]) -> bool {
    const VERBS: [&[u8]; 26] = [
        b"add",
        b"append",
        b"clear",
        b"close",
        b"compute",
        b"decrement",
        b"delete",
        b"drain",
        b"getAnd",
        b"increment",
        b"insert",
        b"merge",
        b"offer",
        b"poll",
        b"pop",
        b"push",
        b"put",
        b"remove",
        b"replace",
        b"reset",
        b"retain",
        b"set",
        b"take",
        b"update",
        b"write",
        b"sort",
    ];
    VERBS.iter().any(|verb| name.starts_with(verb))
}

/// All calls and reads of a method.
fn everything_read(flow: &Flow) -> Origins {
    let mut all = Origins::default();
    for at in flow.all() {
        if matches!(flow.kind(at), Kind::Call(_) | Kind::Read(_) | Kind::Load) {
            all.insert(at);
        }
    }
    all
}

/// How many arguments a call has, its receiver included; 0 for what is no call.
fn argument_count(body: &Body, stmt: u32) -> u8 {
    match body.stmts.get(stmt as usize) {
        Some(Stmt::Call { count, .. }) => *count,
        _ => 0,
    }
}

/// The statements of a method that acquire a lock, itself or through a call.
fn acquisitions(facts: &MethodFacts, body: &Body, lock: ExprId) -> BTreeSet<u32> {
    let called = facts.brought.keys().filter(|(_, brought)| *brought == lock);
    let mut all: BTreeSet<u32> = called.map(|(stmt, _)| *stmt).collect();
    for (at, stmt) in body.stmts.iter().enumerate() {
        if matches!(stmt, Stmt::Enter(site) if body.lock(*site) == lock) {
            all.insert(at as u32);
        }
    }
    all
}

/// What a critical section does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    /// Every write depends on something that is read under the same lock.
    LooksAgain,
    Writes,
}

enum Use {
    HandedBack,
    Computed,
}

/// Whether an acquisition is decided by, or uses, a value from one of the sources.
fn rests_on(known: &MethodFlow, body: &Body, stmt: u32, sources: &Origins) -> Option<Use> {
    let flow = &known.flow;
    let at = body.pcs.get(stmt as usize).and_then(|pc| flow.at(*pc))?;
    let mut inside = vec![at];
    if let Some(Stmt::Enter(site)) = body.stmts.get(stmt as usize) {
        inside.extend(flow.region(body, *site));
    }
    let is_reference = |at: At| match flow.kind(at) {
        Kind::Call(index) => {
            let method = known.class.pool.member_ref(index);
            method.is_ok_and(|method| matches!(result(method.descriptor).first(), Some(b'L' | b'[')))
        }
        _ => false,
    };
    let handed = |at: At| {
        flow.operands(at)
            .any(|from| sources.contains(from) && is_reference(from))
    };
    let acts = |at: &At| {
        let kind = flow.kind(*at);
        matches!(kind, Kind::Call(_) | Kind::Write(_) | Kind::Store | Kind::Branch)
    };
    let mut found = None;
    for at in inside.iter().filter(|other| **other == at || acts(other)) {
        if handed(*at) {
            found.get_or_insert(Use::HandedBack);
        } else if flow.used(*at).meets(sources) || flow.decided(*at).meets(sources) {
            return Some(Use::Computed);
        }
    }
    found
}

/// Whether values from both sets go into one calculation or one test.
fn meet(flow: &Flow, first: &Origins, second: &Origins) -> bool {
    flow.all().any(|at| {
        matches!(flow.kind(at), Kind::Other | Kind::Branch)
            && flow.used(at).meets(first)
            && flow.used(at).meets(second)
            && !first.meets(second)
    })
}
