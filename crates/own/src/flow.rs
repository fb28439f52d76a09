//! What a method does, as ownership sees it: where its references come from and go to, what it accesses, calls and locks, and
//! which locks it is certain to hold at each of these. [`lowering`](crate::lowering) makes it from bytecode.

use crate::objects::Element;
use crate::world::FieldIx;
use ravel_scan::expr::{ExprId, Exprs};
use ravel_scan::symbols::Sym;

/// A place in the flow of a method's references.
pub type FlowNode = u32;
/// No reference, or one of a type that holds nothing.
pub const NONE: FlowNode = 0;
/// Everything that code outside the world has seen.
pub const OUTSIDE: FlowNode = 1;
/// What the method returns.
pub const RETURN: FlowNode = 2;
/// The first parameter, `this` included.
pub const FIRST: FlowNode = 3;

/// Where and under which locks something happens.
#[derive(Clone, Debug, Default)]
pub struct FlowPlace {
    /// The position in the code.
    pub pc: u16,
    /// The locks certainly held that the method itself has taken.
    pub held: Box<[ExprId]>,
    /// Whether the locks held at the method's start are certainly still held.
    pub entry: bool,
}

/// A read or write of a field or an array element.
#[derive(Clone, Debug)]
pub struct Access {
    /// Where.
    pub place: FlowPlace,
    /// The field; none for an element.
    pub field: Option<FieldIx>,
    /// What the elements are, if it is one.
    pub element: Element,
    /// Whether the field is static.
    pub is_static: bool,
    /// The object.
    pub base: FlowNode,
    /// The object by name.
    pub base_expr: ExprId,
    /// Whether the object is an array that the method has made and not let go of yet.
    pub fresh: bool,
    /// Whether it is written.
    pub write: bool,
    /// The value written, or where the value read goes.
    pub value: FlowNode,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where.
    pub place: FlowPlace,
    /// The instruction.
    pub opcode: u8,
    /// The class named.
    pub class: Sym,
    /// The method named.
    pub selector: Sym,
    /// Receiver and arguments.
    pub args: Box<[(FlowNode, ExprId)]>,
    /// Where the result goes.
    pub result: FlowNode,
}

/// What an allocation makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// An object of this class.
    Object(Sym),
    /// An array.
    Array(Element),
    /// An array of arrays: the elements of the innermost, and how many dimensions are made.
    DeepArray(Element, u8),
    /// A lambda, by its place in [`Flow::lambdas`].
    Lambda(u32),
}

/// An allocation.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// The position in the code.
    pub pc: u16,
    /// Where the object goes.
    pub node: FlowNode,
    /// What it is.
    pub made: Made,
}

/// A lambda or method reference.
#[derive(Clone, Debug)]
pub struct LambdaFlow {
    /// The name of the interface's method.
    pub name: Box<[u8]>,
    /// What is captured.
    pub captured: Box<[FlowNode]>,
    /// The kind of the method handle.
    pub kind: u8,
    /// The class that the handle names.
    pub class: Sym,
    /// The method that the handle names.
    pub selector: Sym,
}

/// A lock taken or given up.
#[derive(Clone, Debug)]
pub struct LockStep {
    /// Where; the locks held are those before.
    pub place: FlowPlace,
    /// Which.
    pub lock: ExprId,
    /// Whether it is taken.
    pub acquire: bool,
}

/// A block of the control flow graph, for analyses that follow paths.
#[derive(Clone, Debug, Default)]
pub struct FlowBlock {
    /// Positions: first, and one past the last.
    pub range: (u32, u32),
    /// The blocks that can come next.
    pub next: Vec<u16>,
    /// The blocks that handle its exceptions.
    pub handlers: Vec<u16>,
    /// Whether an exception may leave the method from here.
    pub leaves: bool,
}

/// What a method does.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The expressions.
    pub exprs: Exprs,
    /// How many nodes there are.
    pub nodes: u32,
    /// From where references flow to where.
    pub edges: Vec<(FlowNode, FlowNode)>,
    /// Nodes that a cast lets objects of a class to, and the class.
    pub casts: Vec<(FlowNode, Sym)>,
    /// What is made.
    pub allocations: Vec<Allocation>,
    /// What is accessed.
    pub accesses: Vec<Access>,
    /// What is called.
    pub calls: Vec<Call>,
    /// The lambdas made.
    pub lambdas: Vec<LambdaFlow>,
    /// Nodes whose objects code outside may use in passing (string concatenation and the like).
    pub shown: Vec<FlowNode>,
    /// Locks taken and given up, apart from that of a synchronized method.
    pub locks: Vec<LockStep>,
    /// Whether `this` is used for anything but its own fields and its super constructor.
    pub leaks_this: bool,
    /// Explicit locks given up that were not taken here: the final field they are in, if it is one.
    pub stray_unlocks: Vec<Option<FieldIx>>,
    /// The lock of a synchronized method.
    pub own_lock: Option<ExprId>,
    /// The blocks, in the order of the graph.
    pub blocks: Vec<FlowBlock>,
    /// Whether it waits, sleeps or parks itself, or starts or joins threads: no unit goes on over that.
    pub splits: bool,
    /// Position and source line.
    pub lines: Box<[(u16, u16)]>,
}

impl Flow {
    /// The source line of a position; 0 if unknown.
    pub fn line(&self, pc: u16) -> u32 {
        ravel_scan::body::line_at(&self.lines, pc)
    }
}

/// Whether values of a type can hold, or be, objects of the program.
pub fn holds(descriptor: &[u8]) -> bool {
    match descriptor.first() {
        Some(b'[') => true,
        Some(b'L') => !is_inert(
            descriptor
                .strip_prefix(b"L")
                .and_then(|d| d.strip_suffix(b";"))
                .unwrap_or_default(),
        ),
        _ => false,
    }
}

/// Classes whose objects hold nothing.
pub fn is_inert(class: &[u8]) -> bool {
    matches!(
        class,
        b"java/lang/String"
            | b"java/lang/Class"
            | b"java/lang/Integer"
            | b"java/lang/Long"
            | b"java/lang/Short"
            | b"java/lang/Byte"
            | b"java/lang/Character"
            | b"java/lang/Boolean"
            | b"java/lang/Float"
            | b"java/lang/Double"
            | b"java/lang/Void"
            | b"java/math/BigInteger"
            | b"java/math/BigDecimal"
    )
}
