//! From the bytecode of one method to its [`Flow`].
//!
//! An abstract run over the code. A value is a *node* (a place in the flow of references) and an expression (a name that means
//! the same object as long as the activation lasts). Expressions are made of `this`, parameters, class literals, static final
//! and final fields only, and otherwise of "the value made at this position" ([`Node::New`]) or "the value that met at this
//! block" ([`Node::Local`]); whatever is made anew forgets its old name everywhere. So equal expressions are equal objects,
//! which the scanner's own lowering, made for suspicion, does not promise.

mod instructions;

use ravel_classfile::{ClassFile, Code, Instruction, access, op};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{FIRST, Flow, FlowBlock, FlowNode, FlowPlace, NONE, OUTSIDE};
use crate::world::{ClassIx, MethodIx, World};
use ravel_scan::cfg::Cfg;
use ravel_scan::expr::{ExprId, Node, UNKNOWN};
use ravel_scan::symbols::{parameters, slots};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Value {
    node: FlowNode,
    expr: ExprId,
    /// May be `this`.
    this: bool,
}

const NOTHING: Value = Value {
    node: NONE,
    expr: UNKNOWN,
    this: false,
};

#[derive(Clone, Debug, PartialEq, Eq)]
struct LoweringState {
    locals: Vec<Value>,
    stack: Vec<Value>,
    held: Vec<ExprId>,
    /// Arrays that the method has made and no other code has.
    fresh: Vec<ExprId>,
    entry: bool,
}

/// The states that come into a block, by the block they come from and whether by an exception.
type Ways = std::collections::BTreeMap<(u16, bool), LoweringState>;

struct Run<'a> {
    world: &'a mut World,
    file: &'a ClassFile,
    instructions: &'a [Instruction<'a>],
    cfg: &'a Cfg,
    is_constructor: bool,
    flow: Flow,
    edges: FxHashSet<(FlowNode, FlowNode)>,
    /// The nodes of positions, and of slots at blocks.
    named: FxHashMap<(u8, u32, u32), FlowNode>,
    /// The slots that met, by their place in expressions.
    met: FxHashMap<(u16, u32), u16>,
    state: LoweringState,
    /// The ways into each block, and how often one changed.
    ways: FxHashMap<u16, (u32, Ways)>,
    /// Whether facts are taken down; before that only states are.
    telling: bool,
    pc: u16,
}

/// Lowers code; none if it makes no sense.
pub fn lower(world: &mut World, class: ClassIx, method: MethodIx, file: &ClassFile, code: &Code) -> Option<Flow> {
    let instructions: Vec<Instruction<'_>> = code.instructions().collect::<Result<_, _>>().ok()?;
    if instructions
        .iter()
        .any(|instruction| matches!(instruction.opcode, op::JSR | op::JSR_W | op::RET))
    {
        return None;
    }
    let cfg = Cfg::of(code, &instructions)?;
    let found = world.method(method);
    let (flags, selector, is_constructor) = (found.access, found.selector, found.name == "<init>");
    let selector = world.symbols.bytes(selector).to_vec();
    let mut flow = Flow {
        lines: lines(file, code),
        ..Flow::default()
    };
    let mut state = LoweringState {
        locals: Vec::new(),
        stack: Vec::new(),
        held: Vec::new(),
        fresh: Vec::new(),
        entry: true,
    };
    let mut next = FIRST;
    if flags & access::STATIC == 0 {
        let expr = flow.exprs.add(Node::This);
        state.locals.push(Value {
            node: next,
            expr,
            this: true,
        });
        next += 1;
    }
    for (index, parameter) in parameters(&selector).enumerate() {
        let reference = matches!(parameter.first(), Some(b'L' | b'['));
        let expr = if reference {
            flow.exprs.add(Node::Param(index as u16))
        } else {
            UNKNOWN
        };
        state.locals.push(Value {
            node: if reference { next } else { NONE },
            expr,
            this: false,
        });
        next += 1;
        if slots(parameter) == 2 {
            state.locals.push(NOTHING);
        }
    }
    flow.nodes = next;
    if state.locals.len() > usize::from(code.max_locals) {
        return None;
    }
    state.locals.resize(usize::from(code.max_locals), NOTHING);
    if flags & access::SYNCHRONIZED != 0 {
        let lock = if flags & access::STATIC != 0 {
            Node::Class(world.class(class).name)
        } else {
            Node::This
        };
        let lock = flow.exprs.add(lock);
        flow.own_lock = Some(lock);
        state.held.push(lock);
    }
    let mut run = Run {
        world,
        file,
        instructions: &instructions,
        cfg: &cfg,
        is_constructor,
        flow,
        edges: FxHashSet::default(),
        named: FxHashMap::default(),
        met: FxHashMap::default(),
        state: state.clone(),
        ways: FxHashMap::default(),
        telling: false,
        pc: 0,
    };
    run.all(state)?;
    let mut flow = run.flow;
    flow.edges = run.edges.into_iter().collect();
    flow.edges.sort_unstable();
    Some(flow)
}

fn lines(file: &ClassFile, code: &Code) -> Box<[(u16, u16)]> {
    ravel_scan::source_lines(&file.pool, code)
}

/// Rounds after which a method is given up; each slot changes at most twice, so real ones need few.
const MAX_VISITS: usize = 200_000;

/// A way into a block that changes more often than this is only added to.
const RESTLESS: u32 = 40;

impl Run<'_> {
    fn all(&mut self, first: LoweringState) -> Option<()> {
        let count = self.cfg.blocks.len();
        let mut entries: Vec<Option<LoweringState>> = vec![None; count];
        self.ways
            .entry(0)
            .or_default()
            .1
            .insert((u16::MAX, false), first.clone());
        *entries.first_mut()? = Some(first);
        let mut pending: std::collections::BTreeSet<usize> = [0].into();
        let places: FxHashMap<u16, usize> = self
            .cfg
            .order
            .iter()
            .enumerate()
            .map(|(at, block)| (*block, at))
            .collect();
        let mut visits = 0;
        while let Some(at) = pending.pop_first() {
            visits += 1;
            if visits > MAX_VISITS {
                return None;
            }
            let block = *self.cfg.order.get(at)?;
            for changed in self.block(block, &mut entries)? {
                pending.insert(*places.get(&changed)?);
            }
        }
        self.telling = true;
        for at in 0..self.cfg.order.len() {
            let block = self.cfg.order[at];
            if entries[usize::from(block)].is_some() {
                self.block(block, &mut entries)?;
            }
        }
        for raw in &self.cfg.blocks {
            let first = self.instructions.get(raw.range.start)?.pc;
            let end = self.instructions.get(raw.range.end.checked_sub(1)?)?.next_pc();
            self.flow.blocks.push(FlowBlock {
                range: (first, end),
                next: raw.successors.clone(),
                handlers: raw.handlers.clone(),
                leaves: !raw.caught,
            });
        }
        Some(())
    }

    /// Runs a block; gives the blocks whose start has changed.
    fn block(&mut self, block: u16, entries: &mut [Option<LoweringState>]) -> Option<Vec<u16>> {
        let raw = &self.cfg.blocks[usize::from(block)];
        self.state = entries[usize::from(block)].clone()?;
        let mut caught: Vec<Option<LoweringState>> = vec![None; raw.handlers.len()];
        for number in raw.range.clone() {
            let instruction = self.instructions[number];
            self.pc = u16::try_from(instruction.pc).ok()?;
            for (handler, caught) in raw.handlers.iter().zip(&mut caught) {
                let mut now = LoweringState {
                    stack: vec![Value {
                        node: OUTSIDE,
                        ..NOTHING
                    }],
                    ..self.state.clone()
                };
                self.forget_met(*handler, &mut now);
                match caught {
                    Some(known) => self.meet(*handler, known, &now)?,
                    None => *caught = Some(now),
                }
            }
            self.instruction(&instruction)?;
        }
        let mut changed = Vec::new();
        for (handler, caught) in raw.handlers.iter().zip(caught) {
            if let Some(caught) = caught
                && self.arrive(*handler, (block, true), caught, entries)?
            {
                changed.push(*handler);
            }
        }
        for successor in &raw.successors {
            let mut end = self.state.clone();
            self.forget_met(*successor, &mut end);
            if self.arrive(*successor, (block, false), end, entries)? {
                changed.push(*successor);
            }
        }
        Some(changed)
    }

    /// A way into a block has a new state: works out what holds at the block's start. All ways are met anew, so that names
    /// of an earlier round do not stay; a block that will not settle keeps what it had as one more way.
    fn arrive(
        &mut self,
        block: u16,
        from: (u16, bool),
        state: LoweringState,
        entries: &mut [Option<LoweringState>],
    ) -> Option<bool> {
        if self.telling {
            return Some(false);
        }
        let ways = self.ways.entry(block).or_default();
        ways.0 += 1;
        let restless = ways.0 > RESTLESS;
        ways.1.insert(from, state);
        let ways: Vec<LoweringState> = ways.1.values().cloned().collect();
        let mut met: Option<LoweringState> = if restless {
            entries[usize::from(block)].clone()
        } else {
            None
        };
        for way in ways {
            match &mut met {
                Some(met) => self.meet(block, met, &way)?,
                None => met = Some(way),
            }
        }
        let changed = entries[usize::from(block)] != met;
        entries[usize::from(block)] = met;
        Some(changed)
    }

    fn meet(&mut self, block: u16, known: &mut LoweringState, with: &LoweringState) -> Option<()> {
        if known.stack.len() != with.stack.len() {
            return None;
        }
        let slots = known.locals.iter_mut().chain(known.stack.iter_mut());
        let mut mixed = Vec::new();
        for (slot, (old, new)) in slots.zip(with.locals.iter().chain(with.stack.iter())).enumerate() {
            if old.expr != new.expr {
                mixed.extend([old.expr, new.expr]);
            }
            self.meet_value(block, slot as u32, old, *new);
        }
        // Known under a second name from here on, which may be let go of.
        known.fresh.retain(|array| !mixed.contains(array));
        let mut left = with.held.clone();
        known.held.retain(|lock| {
            let found = left.iter().position(|held| held == lock);
            found.map(|at| left.swap_remove(at)).is_some()
        });
        known.fresh.retain(|array| with.fresh.contains(array));
        known.entry &= with.entry;
        Some(())
    }

    /// What met at a block on an earlier round is not what meets there now.
    fn forget_met(&mut self, block: u16, state: &mut LoweringState) {
        if self.met.is_empty() {
            return;
        }
        let met: FxHashMap<u16, u32> = self
            .met
            .iter()
            .filter(|((at, _), _)| *at == block)
            .map(|((_, slot), name)| (*name, *slot))
            .collect();
        if met.is_empty() {
            return;
        }
        let exprs = &self.flow.exprs;
        let old = |expr: ExprId, slot: Option<u32>| {
            exprs.any(expr, &mut |node| match node {
                Node::Local(name) => met.get(&name).is_some_and(|own| Some(*own) != slot),
                _ => false,
            })
        };
        let values = state.locals.iter_mut().chain(state.stack.iter_mut());
        for (slot, value) in values.enumerate() {
            if old(value.expr, Some(slot as u32)) {
                value.expr = UNKNOWN;
            }
        }
        state.held.retain(|lock| !old(*lock, None));
    }

    fn meet_value(&mut self, block: u16, slot: u32, old: &mut Value, new: Value) {
        if *old == new || old.node == NONE && new.node == NONE && old.expr == UNKNOWN {
            return;
        }
        if old.node == NONE && new.node == NONE {
            *old = NOTHING;
            return;
        }
        let node = self.node((1, u32::from(block), slot));
        for from in [old.node, new.node] {
            if from != node && from != NONE {
                self.edges.insert((from, node));
            }
        }
        let expr = if old.expr == new.expr {
            old.expr
        } else {
            let next = u16::try_from(self.met.len()).ok();
            match (self.met.get(&(block, slot)).copied(), next) {
                (Some(name), _) => self.flow.exprs.add(Node::Local(name)),
                (None, Some(name)) => {
                    self.met.insert((block, slot), name);
                    self.flow.exprs.add(Node::Local(name))
                }
                (None, None) => UNKNOWN,
            }
        };
        *old = Value {
            node,
            expr,
            this: old.this || new.this,
        };
    }

    fn node(&mut self, key: (u8, u32, u32)) -> FlowNode {
        if let Some(node) = self.named.get(&key) {
            return *node;
        }
        let node = self.flow.nodes;
        self.flow.nodes += 1;
        self.named.insert(key, node);
        node
    }

    /// The value made here, under a name that nothing else has.
    fn made(&mut self) -> Value {
        let expr = self.flow.exprs.add(Node::New(self.pc));
        let exprs = &self.flow.exprs;
        let values = self.state.locals.iter_mut().chain(self.state.stack.iter_mut());
        for value in values {
            if value.expr != UNKNOWN && exprs.depends(value.expr, expr) {
                value.expr = UNKNOWN;
            }
        }
        self.state.held.retain(|lock| !exprs.depends(*lock, expr));
        self.state.fresh.retain(|array| *array != expr);
        let node = self.node((0, u32::from(self.pc), 0));
        Value {
            node,
            expr,
            this: false,
        }
    }

    fn pop(&mut self) -> Option<Value> {
        self.state.stack.pop()
    }

    fn pop_slots(&mut self, count: usize) -> Option<()> {
        let left = self.state.stack.len().checked_sub(count)?;
        self.state.stack.truncate(left);
        Some(())
    }

    fn push(&mut self, value: Value) {
        self.state.stack.push(value);
    }

    fn push_nothing(&mut self, count: usize) {
        self.state.stack.extend(std::iter::repeat_n(NOTHING, count));
    }

    fn edge(&mut self, from: FlowNode, to: FlowNode) {
        if from != NONE && to != NONE && from != to {
            self.edges.insert((from, to));
        }
    }

    fn place(&self) -> FlowPlace {
        FlowPlace {
            pc: self.pc,
            held: self
                .state
                .held
                .iter()
                .copied()
                .filter(|lock| *lock != UNKNOWN)
                .collect(),
            entry: self.state.entry,
        }
    }

    /// A value leaves the method's own hands.
    fn leak(&mut self, value: Value) {
        self.state.fresh.retain(|array| *array != value.expr);
        self.flow.leaks_this |= value.this && self.telling && self.is_constructor;
    }
}
