//! From the bytecode of one method to its [`Flow`].
//!
//! An abstract run over the code. A value is a *node* (a place in the flow of references) and an expression (a name that means
//! the same object as long as the activation lasts). Expressions are made of `this`, parameters, class literals, static final
//! and final fields only, and otherwise of "the value made at this position" ([`Node::New`]) or "the value that met at this
//! block" ([`Node::Local`]); whatever is made anew forgets its old name everywhere. So equal expressions are equal objects,
//! which the scanner's own lowering, made for suspicion, does not promise.

use ravel_classfile::{ClassFile, Code, Constant, Instruction, Operand, access, op, stack_effect};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{
    Access, Allocation, Call, FIRST, Flow, FlowBlock, FlowNode, LambdaFlow, LockStep, Made, NONE, OUTSIDE, Place,
    RETURN, holds,
};
use super::objects::Element;
use super::world::{ClassIx, FieldIx, MethodIx, World};
use crate::expr::{ExprId, Node, UNKNOWN};
use crate::lower::cfg::Cfg;
use crate::symbols::{PairId, Sym, parameters, result, slots};

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
struct State {
    locals: Vec<Value>,
    stack: Vec<Value>,
    held: Vec<ExprId>,
    /// Arrays that the method has made and nobody else has.
    fresh: Vec<ExprId>,
    entry: bool,
}

/// The states that come into a block, by the block they come from and whether by an exception.
type Ways = std::collections::BTreeMap<(u16, bool), State>;

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
    state: State,
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
    let mut state = State {
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
    crate::lower::source_lines(&file.pool, code)
}

/// Rounds after which a method is given up; each slot changes at most twice, so real ones need few.
const MAX_VISITS: usize = 200_000;

/// A way into a block that changes more often than this is only added to.
const RESTLESS: u32 = 40;

impl Run<'_> {
    fn all(&mut self, first: State) -> Option<()> {
        let count = self.cfg.blocks.len();
        let mut entries: Vec<Option<State>> = vec![None; count];
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
    fn block(&mut self, block: u16, entries: &mut [Option<State>]) -> Option<Vec<u16>> {
        let raw = &self.cfg.blocks[usize::from(block)];
        self.state = entries[usize::from(block)].clone()?;
        let mut caught: Vec<Option<State>> = vec![None; raw.handlers.len()];
        for number in raw.range.clone() {
            let instruction = self.instructions[number];
            self.pc = u16::try_from(instruction.pc).ok()?;
            for (handler, caught) in raw.handlers.iter().zip(&mut caught) {
                let mut now = State {
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
    fn arrive(&mut self, block: u16, from: (u16, bool), state: State, entries: &mut [Option<State>]) -> Option<bool> {
        if self.telling {
            return Some(false);
        }
        let ways = self.ways.entry(block).or_default();
        ways.0 += 1;
        let restless = ways.0 > RESTLESS;
        ways.1.insert(from, state);
        let ways: Vec<State> = ways.1.values().cloned().collect();
        let mut met: Option<State> = if restless {
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

    fn meet(&mut self, block: u16, known: &mut State, with: &State) -> Option<()> {
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
    fn forget_met(&mut self, block: u16, state: &mut State) {
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

    fn place(&self) -> Place {
        Place {
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

    fn instruction(&mut self, instruction: &Instruction<'_>) -> Option<()> {
        let opcode = instruction.opcode;
        match (opcode, instruction.operand) {
            (op::LDC | op::LDC_W, Operand::Constant(index)) => match self.file.pool.get(index).ok()? {
                Constant::Class(_) => {
                    let name = self.world.symbols.intern(self.file.pool.class_name(index).ok()?);
                    let expr = self.flow.exprs.add(Node::Class(name));
                    self.push(Value { expr, ..NOTHING });
                }
                Constant::Dynamic(..) | Constant::MethodHandle(..) | Constant::MethodType(_) => self.push(Value {
                    node: OUTSIDE,
                    ..NOTHING
                }),
                _ => self.push(NOTHING),
            },
            (op::ALOAD | op::ALOAD_0..=op::ALOAD_3, Operand::Local(slot)) => {
                let value = *self.state.locals.get(usize::from(slot))?;
                self.push(value);
            }
            (op::ISTORE..=op::ASTORE_3, Operand::Local(slot)) => {
                let slot = usize::from(slot);
                let wide = matches!(opcode, op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3);
                if wide {
                    self.pop()?;
                    *self.state.locals.get_mut(slot + 1)? = NOTHING;
                }
                let value = self.pop()?;
                *self.state.locals.get_mut(slot)? = value;
            }
            (op::IINC, _) => {}
            (op::IALOAD..=op::SALOAD, _) => {
                self.pop()?;
                let array = self.pop()?;
                let value = if opcode == op::AALOAD { self.made() } else { NOTHING };
                self.access(Err(element_of(opcode - op::IALOAD)), array, false, value.node);
                self.push(value);
                if matches!(opcode, op::LALOAD | op::DALOAD) {
                    self.push(NOTHING);
                }
            }
            (op::IASTORE..=op::SASTORE, _) => {
                let value = self.pop()?;
                if matches!(opcode, op::LASTORE | op::DASTORE) {
                    self.pop()?;
                }
                self.pop()?;
                let array = self.pop()?;
                self.leak(value);
                self.access(Err(element_of(opcode - op::IASTORE)), array, true, value.node);
            }
            (op::POP..=op::SWAP, _) => self.shuffle(opcode)?,
            (op::CHECKCAST, Operand::Class(index)) => {
                let value = self.pop()?;
                let class = self.file.pool.class_name(index).ok()?;
                let name = self.world.symbols.intern(class);
                self.cast(value, name);
            }
            (op::NEW, Operand::Class(index)) => {
                let name = self.world.symbols.intern(self.file.pool.class_name(index).ok()?);
                self.allocate(Made::Object(name));
            }
            (op::NEWARRAY, Operand::NewArray(kind)) => {
                self.pop()?;
                let letter = b"ZCFDBSIJ".get(usize::from(kind.checked_sub(4)?))?;
                self.allocate(Made::Array(Element::of(&[*letter])));
            }
            (op::ANEWARRAY, _) => {
                self.pop()?;
                self.allocate(Made::Array(Element::REFERENCE));
            }
            (op::MULTIANEWARRAY, Operand::MultiArray(index, dimensions)) => {
                self.pop_slots(usize::from(dimensions))?;
                let class = self.file.pool.class_name(index).ok()?;
                let element = Element::of(class.get(usize::from(dimensions)..)?);
                self.allocate(match dimensions {
                    1 => Made::Array(element),
                    _ => Made::DeepArray(element, dimensions),
                });
            }
            (op::MONITORENTER, _) => {
                let lock = self.pop()?;
                self.acquire(lock.expr);
            }
            (op::MONITOREXIT, _) => {
                let lock = self.pop()?;
                self.release(lock.expr, false);
            }
            (op::GETSTATIC..=op::PUTFIELD, Operand::Field(index)) => self.field(opcode, index)?,
            (op::INVOKEDYNAMIC, Operand::Dynamic(index)) => self.dynamic(index)?,
            (_, Operand::Method(index) | Operand::InterfaceMethod(index, _)) => self.call(opcode, index)?,
            (op::ARETURN, _) => {
                let value = self.pop()?;
                self.edge(value.node, RETURN);
            }
            (op::ATHROW, _) => {
                let value = self.pop()?;
                self.leak(value);
                self.edge(value.node, OUTSIDE);
            }
            _ => {
                let (pops, pushes) = stack_effect(instruction, &self.file.pool).ok()?;
                self.pop_slots(pops as usize)?;
                self.push_nothing(pushes as usize);
            }
        }
        Some(())
    }

    fn allocate(&mut self, made: Made) {
        let value = self.made();
        if matches!(made, Made::Array(_)) {
            self.state.fresh.push(value.expr);
        }
        if self.telling {
            self.flow.allocations.push(Allocation {
                pc: self.pc,
                node: value.node,
                made,
            });
        }
        self.push(value);
    }

    /// A value of another type from here on; its name stays.
    fn cast(&mut self, value: Value, class: Sym) {
        if value.node == NONE || value.node == OUTSIDE && !self.world.by_name.contains_key(&class) {
            return self.push(value);
        }
        let node = self.node((2, u32::from(self.pc), 0));
        self.edge(value.node, node);
        if self.telling {
            self.flow.casts.push((node, class));
        }
        self.push(Value { node, ..value });
    }

    /// An access to a field or an element.
    fn access(&mut self, to: Result<FieldIx, Element>, base: Value, write: bool, value: FlowNode) {
        if !self.telling {
            return;
        }
        let (field, element) = match to {
            Ok(field) => (Some(field), Element::REFERENCE),
            Err(element) => (None, element),
        };
        let is_static = field.is_some_and(|field| self.world.field(field).access & access::STATIC != 0);
        let place = self.place();
        self.flow.accesses.push(Access {
            place,
            field,
            element,
            is_static,
            base: base.node,
            base_expr: base.expr,
            fresh: base.expr != UNKNOWN && self.state.fresh.contains(&base.expr),
            write,
            value,
        });
    }

    fn shuffle(&mut self, opcode: u8) -> Option<()> {
        let deepest = match opcode {
            op::POP | op::DUP => 1,
            op::POP2 | op::DUP2 | op::DUP_X1 | op::SWAP => 2,
            op::DUP_X2 | op::DUP2_X1 => 3,
            _ => 4,
        };
        let length = self.state.stack.len();
        let bottom = length.checked_sub(deepest)?;
        match opcode {
            op::POP | op::POP2 => self.state.stack.truncate(bottom),
            op::SWAP => self.state.stack.swap(length - 1, length - 2),
            // The others copy the top one or two and put the copy below.
            _ => {
                let one = matches!(opcode, op::DUP | op::DUP_X1 | op::DUP_X2);
                let copied = if one { 1 } else { 2 };
                let top: Vec<Value> = self.state.stack[length - copied..].to_vec();
                for (offset, value) in top.into_iter().enumerate() {
                    self.state.stack.insert(bottom + offset, value);
                }
            }
        }
        Some(())
    }

    fn acquire(&mut self, lock: ExprId) {
        if self.telling {
            let place = self.place();
            self.flow.locks.push(LockStep {
                place,
                lock,
                acquire: true,
            });
        }
        self.state.held.push(lock);
    }

    fn release(&mut self, lock: ExprId, explicit: bool) {
        if self.telling {
            let place = self.place();
            self.flow.locks.push(LockStep {
                place,
                lock,
                acquire: false,
            });
        }
        let found = self
            .state
            .held
            .iter()
            .rposition(|held| *held == lock && lock != UNKNOWN);
        if let Some(at) = found {
            self.state.held.remove(at);
            return;
        }
        // Whichever lock this is, it is held no more.
        if explicit {
            let field = match self.flow.exprs.node(lock) {
                Node::Field(_, pair) | Node::Static(pair) => Some(FieldIx(pair.0)),
                _ => None,
            };
            if self.telling {
                self.flow.stray_unlocks.push(field);
            }
        }
        self.state.held.clear();
        self.state.entry = false;
    }

    fn field(&mut self, opcode: u8, index: u16) -> Option<()> {
        let member = self.file.pool.member_ref(index).ok()?;
        let mut text = member.name.to_vec();
        text.push(b':');
        text.extend_from_slice(member.descriptor);
        let width = slots(member.descriptor);
        let reference = holds(member.descriptor);
        let (class, member) = (
            self.world.symbols.intern(member.class),
            self.world.symbols.intern(&text),
        );
        let field = self.world.resolve_field(class, member);
        let write = matches!(opcode, op::PUTFIELD | op::PUTSTATIC);
        let mut value = NOTHING;
        if write {
            value = *self.state.stack.last()?;
            self.pop_slots(width)?;
            self.leak(value);
        }
        let is_static = matches!(opcode, op::GETSTATIC | op::PUTSTATIC);
        let base = if is_static { NOTHING } else { self.pop()? };
        let Some(field) = field else {
            // A field of the JDK, or of a class that is not there.
            if write {
                self.edge(value.node, OUTSIDE);
            } else {
                let node = if reference { OUTSIDE } else { NONE };
                self.push(Value { node, ..NOTHING });
                self.push_nothing(width - 1);
            }
            return Some(());
        };
        if write {
            let node = if reference { value.node } else { NONE };
            self.access(Ok(field), base, true, node);
            return Some(());
        }
        let mut got = if width == 1 && text.last() == Some(&b';') || text.contains(&b'[') {
            self.made()
        } else {
            NOTHING
        };
        if !reference {
            got.node = NONE;
        }
        if self.world.field(field).access & access::FINAL != 0 && got.expr != UNKNOWN {
            let pair = PairId(field.0);
            let expr = match is_static {
                true => self.flow.exprs.add(Node::Static(pair)),
                false if base.expr != UNKNOWN => self.flow.exprs.add(Node::Field(base.expr, pair)),
                false => UNKNOWN,
            };
            if expr != UNKNOWN {
                got.expr = expr;
            }
        }
        self.access(Ok(field), base, false, got.node);
        self.push(got);
        self.push_nothing(width - 1);
        Some(())
    }

    /// Takes the arguments of a call from the stack, the receiver first.
    fn arguments(&mut self, descriptor: &[u8], receiver: bool) -> Option<Vec<Value>> {
        let widths: usize = parameters(descriptor).map(slots).sum();
        let bottom = self.state.stack.len().checked_sub(widths + usize::from(receiver))?;
        let mut at = bottom;
        let mut args = Vec::new();
        if receiver {
            args.push(*self.state.stack.get(at)?);
            at += 1;
        }
        for parameter in parameters(descriptor) {
            let value = *self.state.stack.get(at)?;
            args.push(if holds(parameter) {
                value
            } else {
                Value { node: NONE, ..value }
            });
            at += slots(parameter);
        }
        self.state.stack.truncate(bottom);
        Some(args)
    }

    fn call(&mut self, opcode: u8, index: u16) -> Option<()> {
        let member = self.file.pool.member_ref(index).ok()?;
        let receiver = opcode != op::INVOKESTATIC;
        let descriptor = member.descriptor.to_vec();
        let name = member.name.to_vec();
        let owner = member.class.to_vec();
        let args = self.arguments(&descriptor, receiver)?;
        if receiver && owner == b"java/util/concurrent/locks/Lock" && name == b"unlock" && self.telling {
            self.flow.stray_unlocks.push(None);
        }
        if receiver && is_lock(&owner) {
            match name.as_slice() {
                b"lock" | b"lockInterruptibly" if descriptor == b"()V" => {
                    self.acquire(args[0].expr);
                    return Some(());
                }
                b"unlock" => {
                    self.release(args[0].expr, true);
                    return Some(());
                }
                _ => {}
            }
        }
        self.flow.splits |= splits(&owner, &name);
        let to_super = self.is_constructor && opcode == op::INVOKESPECIAL && name == b"<init>";
        for (at, value) in args.iter().enumerate() {
            if !(at == 0 && to_super) {
                self.leak(*value);
            }
        }
        let class = self.world.symbols.intern(&owner);
        let mut text = name;
        text.extend_from_slice(&descriptor);
        let selector = self.world.symbols.intern(&text);
        let returned = result(&descriptor);
        let width = slots(returned);
        let mut value = NOTHING;
        if matches!(returned.first(), Some(b'L' | b'[')) {
            value = self.made();
            if !holds(returned) {
                value.node = NONE;
            }
        }
        if self.telling {
            let place = self.place();
            self.flow.calls.push(Call {
                place,
                opcode,
                class,
                selector,
                args: args.iter().map(|value| (value.node, value.expr)).collect(),
                result: value.node,
            });
        }
        if width > 0 {
            self.push(value);
            self.push_nothing(width - 1);
        }
        Some(())
    }

    fn dynamic(&mut self, index: u16) -> Option<()> {
        let (bootstrap, _, descriptor) = self.file.pool.dynamic(index).ok()?;
        let descriptor = descriptor.to_vec();
        let args = self.arguments(&descriptor, false)?;
        for value in &args {
            self.leak(*value);
        }
        let (factory, lambda) = self.bootstrap(bootstrap, index)?;
        let returned = result(&descriptor).to_vec();
        match (factory.as_slice(), lambda) {
            (b"java/lang/invoke/LambdaMetafactory", Some((name, kind, class, selector))) => {
                let value = self.made();
                if self.telling {
                    let at = self.flow.lambdas.len() as u32;
                    self.flow.lambdas.push(LambdaFlow {
                        name: name.into(),
                        captured: args.iter().map(|value| value.node).collect(),
                        kind,
                        class,
                        selector,
                    });
                    self.flow.allocations.push(Allocation {
                        pc: self.pc,
                        node: value.node,
                        made: Made::Lambda(at),
                    });
                }
                self.push(value);
            }
            (
                b"java/lang/invoke/StringConcatFactory"
                | b"java/lang/runtime/ObjectMethods"
                | b"java/lang/runtime/SwitchBootstraps",
                _,
            ) => {
                if self.telling {
                    self.flow
                        .shown
                        .extend(args.iter().map(|value| value.node).filter(|node| *node != NONE));
                }
                self.push_nothing(slots(&returned));
            }
            _ => {
                for value in &args {
                    self.edge(value.node, OUTSIDE);
                }
                let width = slots(&returned);
                let node = if holds(&returned) { OUTSIDE } else { NONE };
                if width > 0 {
                    self.push(Value { node, ..NOTHING });
                    self.push_nothing(width - 1);
                }
            }
        }
        Some(())
    }

    /// The class of a bootstrap method and, of a lambda, the interface's method and what it calls.
    #[expect(clippy::type_complexity, reason = "taken apart where it is made")]
    fn bootstrap(&mut self, number: u16, index: u16) -> Option<(Vec<u8>, Option<(Vec<u8>, u8, Sym, Sym)>)> {
        let info = self.file.attribute("BootstrapMethods")?.info.clone();
        let word = |at: usize| Some(u16::from_be_bytes([*info.get(at)?, *info.get(at + 1)?]));
        let mut at = 2;
        for _ in 0..number {
            at += 4 + 2 * usize::from(word(at + 2)?);
        }
        let pool = &self.file.pool;
        let Constant::MethodHandle(_, factory) = pool.get(word(at)?).ok()? else {
            return None;
        };
        let factory = pool.member_ref(factory).ok()?.class.to_vec();
        if factory != b"java/lang/invoke/LambdaMetafactory" {
            return Some((factory, None));
        }
        let Constant::MethodHandle(kind, target) = pool.get(word(at + 6)?).ok()? else {
            return None;
        };
        let (_, name, _) = pool.dynamic(index).ok()?;
        let member = pool.member_ref(target).ok()?;
        let mut text = member.name.to_vec();
        text.extend_from_slice(member.descriptor);
        let class = self.world.symbols.intern(member.class);
        let selector = self.world.symbols.intern(&text);
        Some((factory, Some((name.to_vec(), kind, class, selector))))
    }
}

/// The explicit locks that exclude everybody. A `Lock` may be a read lock, and read and write locks are not followed.
fn is_lock(class: &[u8]) -> bool {
    class == b"java/util/concurrent/locks/ReentrantLock"
}

/// Calls over which no unit goes on.
fn splits(class: &[u8], name: &[u8]) -> bool {
    match name {
        b"wait" | b"sleep" | b"join" | b"park" | b"parkNanos" | b"await" | b"start" | b"yield" => true,
        _ => class.starts_with(b"java/util/concurrent/") && !class.starts_with(b"java/util/concurrent/atomic/"),
    }
}

/// The elements of the array instructions, in their order.
fn element_of(instruction: u8) -> Element {
    Element::of(
        b"IJFDLBCS"
            .get(usize::from(instruction))
            .map_or(&[], std::slice::from_ref),
    )
}
