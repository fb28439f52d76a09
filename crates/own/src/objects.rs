//! The abstract objects of the points-to analysis, and which of them a value of a type can be.

use rustc_hash::FxHashMap;

use crate::bits::Bits;
use crate::world::{ClassIx, MethodIx, World};
use ravel_classfile::access;
use ravel_scan::symbols::Sym;

/// An abstract object, by its place among the objects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectIx(pub u32);

/// The object that stands for all that code outside has made.
pub const STRANGER: ObjectIx = ObjectIx(0);

/// What the elements of an array are: the first letter of their descriptor, `B` for booleans and `L` for arrays too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Element(u8);

impl Element {
    /// References.
    pub const REFERENCE: Element = Element(b'L');

    /// From the descriptor of an element.
    pub fn of(descriptor: &[u8]) -> Element {
        Element(match descriptor.first() {
            Some(b'Z' | b'B') => b'B',
            Some(letter @ (b'C' | b'S' | b'I' | b'J' | b'F' | b'D')) => *letter,
            _ => b'L',
        })
    }
}

/// What an abstract object is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ObjectKind {
    /// Made outside.
    Stranger,
    /// Of a class of the world.
    Own(ClassIx),
    /// Of another class.
    Foreign(Sym),
    /// An array.
    Array(Element),
    /// A lambda of a method.
    Lambda(MethodIx, u32),
}

/// An abstract object.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its allocation site, or the first of the sites that count as one.
    pub site: Option<(MethodIx, u16)>,
}

/// What a node lets through: objects that a value of this type can be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// Of a class or interface, of the world or not.
    Of(Sym),
    /// An array with such elements.
    Array(Element),
}

/// All objects, and those of each type.
#[derive(Debug, Default)]
pub struct Objects {
    all: Vec<Object>,
    /// Those of a type, and how many objects have been asked.
    masks: FxHashMap<Type, (Bits, u32)>,
    /// Everything of the world above each class, by name, and what of it is outside.
    above: Vec<(rustc_hash::FxHashSet<Sym>, Vec<Sym>)>,
}

impl Objects {
    /// With the stranger alone.
    pub fn new(world: &World) -> Objects {
        let above = world.classes.iter().map(|class| {
            let ancestors = world.ancestors(class.name);
            let names = ancestors.iter().map(|class| world.class(*class).name).collect();
            (names, world.outside_parents(class.name))
        });
        Objects {
            all: vec![Object {
                kind: ObjectKind::Stranger,
                site: None,
            }],
            masks: FxHashMap::default(),
            above: above.collect(),
        }
    }

    /// Adds one.
    pub fn push(&mut self, object: Object) -> ObjectIx {
        self.all.push(object);
        ObjectIx(self.all.len() as u32 - 1)
    }

    /// All of them; the first is the stranger.
    pub fn all(&self) -> &[Object] {
        &self.all
    }

    /// What an object is.
    pub fn kind(&self, object: ObjectIx) -> ObjectKind {
        self.all[object.0 as usize].kind
    }

    /// The classes and interfaces above a class that are not of the world.
    pub fn outside_parents(&self, class: ClassIx) -> &[Sym] {
        &self.above[class.0 as usize].1
    }

    /// Whether an object can be of a type, as far as the world knows. The stranger can be anything but an array of a kind
    /// that a program tells apart itself.
    fn may_be(&self, world: &World, kind: ObjectKind, wanted: Type) -> bool {
        let class = match (wanted, kind) {
            (_, ObjectKind::Stranger) => return true,
            (Type::Array(element), ObjectKind::Array(found)) => return element == found,
            (Type::Array(_), _) => return false,
            (Type::Of(class), _) => class,
        };
        let own = world.by_name.get(&class);
        match kind {
            ObjectKind::Own(found) => {
                let (names, outside) = &self.above[found.0 as usize];
                let object = world.symbols.bytes(class) == b"java/lang/Object";
                names.contains(&class) || own.is_none() && (object || !outside.is_empty())
            }
            ObjectKind::Lambda(..) => own.is_none_or(|class| world.class(*class).access & access::INTERFACE != 0),
            _ => own.is_none(),
        }
    }

    /// The objects that can be of a type. A call, an access or a cast on a value of that type never meets others.
    pub fn of(&mut self, world: &World, wanted: Type) -> &Bits {
        let (mut bits, seen) = self.masks.remove(&wanted).unwrap_or_default();
        for (at, object) in self.all.iter().enumerate().skip(seen as usize) {
            if self.may_be(world, object.kind, wanted) {
                bits.insert(at as u32);
            }
        }
        let entry = self.masks.entry(wanted).or_default();
        *entry = (bits, self.all.len() as u32);
        &entry.0
    }

    /// The same when all objects are known.
    pub fn known(&self, world: &World, wanted: Type) -> Bits {
        match self.masks.get(&wanted) {
            Some((bits, seen)) if *seen as usize == self.all.len() => bits.clone(),
            _ => {
                let all = self.all.iter().enumerate();
                all.filter(|(_, object)| self.may_be(world, object.kind, wanted))
                    .map(|(at, _)| at as u32)
                    .collect()
            }
        }
    }
}
