//! From class files to the program: names are interned class by class in order, then all methods are lowered in parallel.

mod calls;
pub mod cfg;
mod class;
mod held;
mod method;
mod variables;

use ravel_classfile::{ClassFile, Constant};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Class, ClassId, ClassNotes, Method, MethodId, Program};
use crate::symbols::{PairId, Sym};
use class::{Lambda, LoweredClass, Names};

/// A class file that was read.
#[derive(Debug)]
pub(crate) struct Input {
    pub origin: String,
    pub bytes: Vec<u8>,
    /// Whether findings in it are wanted.
    pub wanted: bool,
}

/// A class with its names and, if findings in it are wanted, its bytes.
type ReadClass = (ClassFile, Names, Option<Box<[u8]>>);

/// Adds class files to a program: those of a library that is known already, or none. A class that cannot be read is counted and
/// left out; of two with one name the first counts, and the library's counts last.
pub(crate) fn extend(library: Program, inputs: Vec<Input>) -> Program {
    let stop = library.stop;
    let goes_on = || !stop.is_some_and(|stop| stop());
    let parsed: Vec<(Input, Result<ClassFile, String>)> = inputs
        .into_par_iter()
        .filter(|_| goes_on())
        .map(|input| {
            let class = ClassFile::parse(&input.bytes).map_err(|error| error.to_string());
            (input, class)
        })
        .collect();
    let mut program = library;
    let mut named: Vec<ReadClass> = Vec::with_capacity(parsed.len());
    let mut seen = FxHashSet::default();
    for (input, class) in parsed {
        let class = class.and_then(|class| {
            let names = Names::intern(&class, &mut program.symbols).map_err(|error| error.to_string())?;
            Ok((class, names))
        });
        match class {
            // Descriptions of modules have no code.
            Ok((class, _)) if class.is(ravel_classfile::access::MODULE) => {}
            Ok((_, names)) if !seen.insert(names.name) => program.counts.duplicates += 1,
            Ok((class, names)) => {
                named.push((class, names, input.wanted.then(|| input.bytes.into())));
            }
            Err(error) => {
                program.counts.failed += 1;
                program.problems.push(format!("{}: {error}", input.origin));
            }
        }
    }
    name_fields_by_their_owners(&mut named, &program);
    let fields = named.iter().flat_map(|(_, names, _)| &names.fields);
    let fields = fields.chain(program.classes.iter().flat_map(|class| &class.fields));
    let guarded = fields.filter(|field| field.guard.is_some());
    let guarded: FxHashSet<Sym> = guarded.map(|field| program.symbols.members(field.pair).1).collect();
    let locks = lock_classes(&named, &program);
    let symbols = &program.symbols;
    let lowered: Vec<_> = named
        .into_par_iter()
        .filter(|_| goes_on())
        .map(|(file, names, bytes)| {
            let lowered = class::lower(&file, &names, &guarded, &locks, symbols, bytes.is_some());
            (names, file.access, bytes, lowered)
        })
        .collect();
    for (names, access, bytes, lowered) in lowered {
        add(&mut program, names, access, bytes, lowered);
    }
    count(&mut program);
    program
}

/// Code may name an inherited field by any subclass; from here on the class that declares it names it, or one lock would
/// have several names.
fn name_fields_by_their_owners(named: &mut [ReadClass], library: &Program) {
    let symbols = &library.symbols;
    let fields = named.iter().flat_map(|(_, names, _)| &names.fields);
    let fields = fields.chain(library.classes.iter().flat_map(|class| &class.fields));
    let declared: FxHashSet<PairId> = fields.map(|field| field.pair).collect();
    let above = |interfaces: &[Sym], parent: Option<Sym>| interfaces.iter().copied().chain(parent).collect();
    let mut parents: FxHashMap<Sym, Vec<Sym>> = FxHashMap::default();
    for class in &library.classes {
        parents.insert(class.name, above(&class.interfaces, class.super_class));
    }
    for (_, names, _) in named.iter() {
        parents.insert(names.name, above(&names.interfaces, names.super_class));
    }
    let owner = |pair: PairId| {
        let (class, member) = symbols.members(pair);
        let mut pending = vec![class];
        // The bound is for hierarchies that are damaged into circles.
        for _ in 0..256 {
            let class = pending.pop()?;
            let pair = symbols.find_pair(class, member);
            if let Some(pair) = pair.filter(|pair| declared.contains(pair)) {
                return Some(pair);
            }
            pending.extend(parents.get(&class).into_iter().flatten());
        }
        None
    };
    named.par_iter_mut().for_each(|(file, names, _)| {
        for index in file.pool.indices() {
            if let Ok(Constant::FieldRef(..)) = file.pool.get(index)
                && let Some(id) = names.ids.get_mut(usize::from(index))
                && let Some(pair) = owner(PairId(*id))
            {
                *id = pair.0;
            }
        }
    });
}

/// The locks of the library and all classes of the program below them.
fn lock_classes(named: &[ReadClass], library: &Program) -> FxHashSet<Sym> {
    let known = calls::LOCKS.iter().filter_map(|name| library.symbols.find(name));
    let mut locks: FxHashSet<Sym> = known.collect();
    let read = named
        .iter()
        .map(|(_, names, _)| (names.name, names.super_class, &names.interfaces));
    let kept = library
        .classes
        .iter()
        .map(|class| (class.name, class.super_class, &class.interfaces));
    let all: Vec<_> = read.chain(kept).collect();
    loop {
        let before = locks.len();
        for (name, parent, interfaces) in &all {
            let mut parents = parent.iter().chain(interfaces.iter());
            if parents.any(|parent| locks.contains(parent)) {
                locks.insert(*name);
            }
        }
        if locks.len() == before {
            return locks;
        }
    }
}

fn add(program: &mut Program, names: Names, access: u16, bytes: Option<Box<[u8]>>, lowered: LoweredClass) {
    let wanted = bytes.is_some();
    if let Some(known) = program.by_name.get(&names.name) {
        program.forget(*known);
    }
    let counts = &mut program.counts;
    counts.classes += 1;
    counts.wanted += usize::from(wanted);
    counts.reflective += lowered.reflective;
    counts.unnamed += lowered.unnamed;
    counts.long += lowered.long;
    counts.large += lowered.large;
    counts.failed_methods += lowered.failed;
    counts.lines += lowered.lines;
    let id = ClassId(program.classes.len() as u32);
    let first = program.methods.len() as u32;
    for method in lowered.methods {
        let counts = &mut program.counts;
        counts.native += usize::from(method.access & ravel_classfile::access::NATIVE != 0);
        counts.methods += usize::from(method.body.is_some());
        let number = MethodId(program.methods.len() as u32);
        let pair = program.symbols.pair(names.name, method.selector);
        program.by_pair.insert(pair, number);
        program.methods.push(Method {
            class: id,
            selector: method.selector,
            access: method.access,
            guard: method.guard,
            body: method.body,
            local: method.local,
            assigns: method.assigns,
            stores_elements: method.stores_elements,
            touches: method.touches,
        });
    }
    program.by_name.insert(names.name, id);
    program.classes.push(Class {
        name: names.name,
        super_class: names.super_class,
        interfaces: names.interfaces,
        access,
        source: lowered.source,
        fields: names.fields.into(),
        methods: first..program.methods.len() as u32,
        wanted,
        notes: names.notes,
        instantiates: lowered.instantiates.into(),
        bytes,
    });
    for (number, lambda) in names.lambdas.iter().enumerate() {
        add_lambda(program, names.name, number, lambda);
    }
}

/// A lambda is a class of its own, with one method.
fn add_lambda(program: &mut Program, maker: Sym, number: usize, lambda: &Lambda) {
    let Some(body) = lambda.body() else { return };
    let name = format!("{}$$Lambda${number}", program.symbols.text(maker));
    let name = program.symbols.intern(name.as_bytes());
    let id = ClassId(program.classes.len() as u32);
    let method = program.methods.len() as u32;
    let pair = program.symbols.pair(name, lambda.selector);
    program.by_pair.insert(pair, MethodId(method));
    program.methods.push(Method {
        class: id,
        selector: lambda.selector,
        access: ravel_classfile::access::SYNTHETIC,
        guard: None,
        body: Some(Box::new(body)),
        local: Box::default(),
        assigns: Box::default(),
        stores_elements: false,
        touches: Box::default(),
    });
    program.by_name.insert(name, id);
    program.classes.push(Class {
        name,
        super_class: None,
        interfaces: [lambda.interface].into(),
        access: ravel_classfile::access::SYNTHETIC,
        source: None,
        fields: Box::default(),
        methods: method..method + 1,
        wanted: false,
        notes: ClassNotes::default(),
        instantiates: [name].into(),
        bytes: None,
    });
}

/// Counts the classes that are named as super class or interface, or called, and were not read.
fn count(program: &mut Program) {
    let mut missing: FxHashSet<Sym> = FxHashSet::default();
    for class in &program.classes {
        let named = class.super_class.iter().chain(class.interfaces.iter());
        missing.extend(named.filter(|name| !program.by_name.contains_key(name)));
    }
    for pair in 0..program.symbols.pair_count() as u32 {
        let (class, _) = program.symbols.members(PairId(pair));
        if !program.by_name.contains_key(&class) && program.symbols.bytes(class).first() != Some(&b'[') {
            missing.insert(class);
        }
    }
    program.counts.missing = missing.len();
}

/// Position and source line of a method's code, in the order of positions.
pub fn source_lines(pool: &ravel_classfile::ConstantPool, code: &ravel_classfile::Code) -> Box<[(u16, u16)]> {
    variables::lines(pool, code)
}
