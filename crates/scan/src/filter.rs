//! Locks that no other thread contends for: classes known to be used unshared, classes annotated so, and objects that never
//! leave the method that made them.

use crate::body::Body;
use crate::expr::{ExprId, Node};
use crate::program::{MethodId, Program};
use crate::symbols::{Sym, class_of_descriptor, field_descriptor, parameters};

/// The classes whose objects are usually not shared although they lock themselves; a name ending in `*` covers all that
/// start like it.
pub const UNSHARED: [&str; 24] = [
    "java/lang/StringBuffer",
    "java/util/Vector",
    "java/util/Stack",
    "java/util/Hashtable",
    "java/util/Properties",
    "java/util/Collections$Synchronized*",
    "java/io/ByteArrayInputStream",
    "java/io/ByteArrayOutputStream",
    "java/io/BufferedInputStream",
    "java/io/BufferedOutputStream",
    "java/io/BufferedReader",
    "java/io/BufferedWriter",
    "java/io/InputStream",
    "java/io/OutputStream",
    "java/io/CharArrayReader",
    "java/io/CharArrayWriter",
    "java/io/PrintStream",
    "java/io/PrintWriter",
    "java/io/PushbackInputStream",
    "java/io/Reader",
    "java/io/Writer",
    "java/io/String*",
    "java/lang/Throwable",
    "java/util/Random",
];

/// Which locks count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    unshared: Vec<String>,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            unshared: UNSHARED.map(str::to_owned).to_vec(),
        }
    }
}

impl Filter {
    /// A filter that drops nothing.
    pub fn none() -> Filter {
        Filter { unshared: Vec::new() }
    }

    /// Also takes objects of this class to be unshared: `shop.Buffer`, or `shop.*` for all that start like it.
    pub fn add_unshared(&mut self, class: &str) {
        self.unshared.push(class.replace('.', "/"));
    }

    /// Takes objects of this class to be shared, although the default list says otherwise; false if the list does not.
    pub fn remove_unshared(&mut self, class: &str) -> bool {
        let class = class.replace('.', "/");
        let before = self.unshared.len();
        self.unshared.retain(|known| *known != class);
        self.unshared.len() < before
    }

    /// The classes whose objects are taken to be unshared.
    pub fn unshared(&self) -> &[String] {
        &self.unshared
    }

    /// Whether objects of a class are taken to be unshared.
    pub fn is_unshared(&self, class: &str) -> bool {
        self.unshared.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => class.starts_with(start),
            None => class == known,
        })
    }

    /// Whether a lock of a method is not worth following.
    pub fn drops_lock(&self, program: &Program, method: MethodId, body: &Body, lock: ExprId) -> bool {
        class_of(program, method, &body.exprs, lock).is_some_and(|class| self.drops_class(program, class))
    }

    /// Whether objects of a class are unshared, by the list, by inheritance from a class on it, or by annotation. Of a class
    /// and those above it the nearest that says anything counts, its annotation before the list.
    pub fn drops_class(&self, program: &Program, class: Sym) -> bool {
        let mut next = Some(class);
        for _ in 0..64 {
            let Some(class) = next else { break };
            let found = program.by_name.get(&class).map(|id| program.class(*id));
            let notes = found.map(|class| class.notes).unwrap_or_default();
            if notes.thread_safe {
                return false;
            }
            let listed = || self.is_unshared(&String::from_utf8_lossy(program.symbols.bytes(class)));
            if notes.not_thread_safe || notes.immutable || listed() {
                return true;
            }
            let Some(found) = found else { break };
            next = found.super_class;
        }
        false
    }
}

/// The class of an expression as far as the code declares it.
pub fn class_of(program: &Program, method: MethodId, nodes: &[Node], expr: ExprId) -> Option<Sym> {
    let symbols = &program.symbols;
    let descriptor = match nodes.get(expr.0 as usize)? {
        Node::This => return Some(program.class_of(method).name),
        Node::Param(index) => {
            let selector = symbols.bytes(program.method(method).selector);
            parameters(selector).nth(usize::from(*index))?
        }
        Node::Static(pair) | Node::Field(_, pair) => field_descriptor(symbols.bytes(symbols.members(*pair).1)),
        _ => return None,
    };
    symbols.find(class_of_descriptor(descriptor)?)
}
