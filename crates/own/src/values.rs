//! Owners of parameters and results: what protects the objects that a method is given and gives.
//!
//! Where the paper reads them off a run and lets the type checker carry them on, here they follow from which objects may come
//! ([`points`](crate::points)) and what was proven of these, so they hold for code that did not run as well.

use ravel_classfile::access;

use crate::bits::Bits;
use crate::check::{Checked, Owner};
use crate::flow::{FIRST, FlowNode, RETURN, holds};
use crate::objects::{ObjectIx, ObjectKind, STRANGER};
use crate::points::Points;
use crate::sharing::Sharing;
use crate::world::{ClassIx, MethodIx, World};
use ravel_scan::symbols::{parameters, result};

/// Owners of a method's parameters and of its result, as the plan has them; `-` where a value is no object of the program,
/// `?` where none is proven.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueOwners {
    /// One for each parameter, without `this`.
    pub parameters: Vec<String>,
    /// That of the result.
    pub result: String,
}

/// No object of the program.
pub const NO_OBJECT: &str = "-";
/// Nothing is proven.
pub const UNPROVEN: &str = "?";

/// What is needed to tell owners of values.
pub struct Values<'a> {
    world: &'a World,
    points: &'a Points<'a>,
    sharing: &'a Sharing,
    /// The owner that all fields of each class have that need one, if they have the same.
    classes: Vec<Option<Owner>>,
}

impl<'a> Values<'a> {
    /// Looks at all classes.
    pub fn new(world: &'a World, points: &'a Points<'a>, sharing: &'a Sharing, checked: &Checked) -> Values<'a> {
        let classes = (0..world.classes.len() as u32).map(|class| class_owner(world, checked, ClassIx(class)));
        Values {
            world,
            points,
            sharing,
            classes: classes.collect(),
        }
    }

    /// The owners of a method's values.
    pub fn of(&self, method: MethodIx) -> ValueOwners {
        let found = self.world.method(method);
        let selector = self.world.symbols.bytes(found.selector);
        let first = FIRST + u32::from(found.access & access::STATIC == 0);
        let own = |descriptor: &[u8], node: FlowNode| match holds(descriptor) {
            true => self.owner(self.points.of(method, node)),
            false => NO_OBJECT.to_owned(),
        };
        let all = parameters(selector).zip(first..);
        ValueOwners {
            parameters: all.map(|(descriptor, node)| own(descriptor, node)).collect(),
            result: own(result(selector), RETURN),
        }
    }

    fn owner(&self, objects: &Bits) -> String {
        if objects.is_empty() || objects.contains(STRANGER.0) {
            return UNPROVEN.to_owned();
        }
        let mut owner: Option<Owner> = None;
        for object in objects.iter().map(ObjectIx) {
            let of_object = if self.sharing.is_unique(object) {
                Some(Owner::Unique)
            } else if !self.sharing.is_shared(object) {
                Some(Owner::ThisThread)
            } else if !self.sharing.changes(object) {
                Some(Owner::Readonly)
            } else {
                match self.points.kind(object) {
                    ObjectKind::Own(class) => self.classes[class.0 as usize].clone(),
                    _ => None,
                }
            };
            owner = match (owner, of_object) {
                (_, None) => return UNPROVEN.to_owned(),
                (None, some) => some,
                (Some(a), Some(b)) if a == b => Some(a),
                // An object of the thread itself can stand wherever one is wanted that others share.
                (Some(Owner::ThisThread), Some(other)) | (Some(other), Some(Owner::ThisThread)) => Some(other),
                _ => return UNPROVEN.to_owned(),
            };
        }
        owner.map_or_else(|| UNPROVEN.to_owned(), |owner| owner.text())
    }
}

/// The owner that all fields of a class have, inherited ones included, final and unused ones aside.
fn class_owner(world: &World, checked: &Checked, class: ClassIx) -> Option<Owner> {
    let mut common: Option<Owner> = None;
    for class in world.ancestors(world.class(class).name) {
        for field in world.class(class).fields.values() {
            if world.field(*field).access & access::STATIC != 0 {
                continue;
            }
            match &checked.fields[field.0 as usize].owner {
                Some(Owner::Final | Owner::Unused) => {}
                Some(owner) if common.as_ref().is_none_or(|known| known == owner) => common = Some(owner.clone()),
                _ => return None,
            }
        }
    }
    Some(common.unwrap_or(Owner::Readonly))
}
