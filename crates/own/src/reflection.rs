//! Which fields a program may write without an instruction that says so: by reflection, handles, updaters and addresses.
//!
//! Updaters and handles are found by the name of the field, and so is a `Field`, unless the fields of a class are listed. A name
//! that stands as a constant before the call that takes it is known; if one is not, every text of the program may be one. A `Field`
//! that a class writes with is found by name as long as the class gets none from elsewhere: the verifier lets no other object
//! through, so one must come as a parameter, result, field or by a cast. Reads do not matter here: their results
//! come from outside and may be any object.

use ravel_classfile::{ClassFile, Code, Constant, Instruction, Operand, op};
use rustc_hash::FxHashSet;

use ravel_scan::cfg::Cfg;

/// What is known of the writes.
#[derive(Debug, Default)]
pub struct Reflection {
    /// By updaters and handles.
    updates: Named,
    /// By objects of `Field`, if there is anyone who writes with them.
    fields: Named,
    writes_by_field: bool,
    /// Someone who does may have them from elsewhere.
    loose: bool,
    /// The fields of a class are listed.
    lists: bool,
}

#[derive(Debug, Default)]
struct Named {
    names: FxHashSet<Vec<u8>>,
    /// Some name is not known.
    any: bool,
}

/// What a method of the JDK has to do with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Makes something that writes a field. The name is the last argument, or the one before the type.
    Updater,
    Handle,
    /// Finds a field by its name.
    Finds,
    Lists,
    /// Writes with a field that was found.
    Writes,
    /// May write anything.
    Anything,
}

const FIELD: &[u8] = b"java/lang/reflect/Field";

fn role(class: &[u8], method: &[u8]) -> Option<Role> {
    match (class, method) {
        (b"java/lang/Class", b"getField" | b"getDeclaredField") => Some(Role::Finds),
        (b"java/lang/Class", b"getFields" | b"getDeclaredFields") => Some(Role::Lists),
        (FIELD, _) if method.starts_with(b"set") && method != b"setAccessible" => Some(Role::Writes),
        (b"java/lang/invoke/MethodHandles$Lookup", b"unreflectSetter" | b"unreflectVarHandle") => Some(Role::Writes),
        (
            b"java/lang/invoke/MethodHandles$Lookup",
            b"findVarHandle" | b"findStaticVarHandle" | b"findSetter" | b"findStaticSetter",
        ) => Some(Role::Handle),
        (b"java/lang/invoke/ConstantBootstraps" | b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe", _) => {
            Some(Role::Anything)
        }
        (_, b"newUpdater") if class.starts_with(b"java/util/concurrent/atomic/") => Some(Role::Updater),
        _ => None,
    }
}

impl Reflection {
    /// Whether a field of this name may be written, if the program has these texts.
    pub fn may_write(&self, name: &[u8], texts: &FxHashSet<Vec<u8>>) -> bool {
        let is = |named: &Named| named.names.contains(name) || named.any && texts.contains(name);
        self.lists_all() || is(&self.updates) || self.writes_by_field && is(&self.fields)
    }

    /// Whether any field may be.
    pub fn lists_all(&self) -> bool {
        self.lists && self.loose
    }

    /// Looks at a class.
    pub fn look_at(&mut self, file: &ClassFile) {
        let (mut writes, mut concerned, mut strange) = (false, false, false);
        for index in file.pool.indices() {
            let (member, handle) = match file.pool.get(index) {
                Ok(Constant::MethodRef(..) | Constant::InterfaceMethodRef(..) | Constant::FieldRef(..)) => {
                    (file.pool.member_ref(index), false)
                }
                Ok(Constant::MethodHandle(_, index)) => (file.pool.member_ref(index), true),
                _ => continue,
            };
            let Ok(member) = member else { continue };
            let role = role(member.class, member.name);
            let mentions = member.descriptor.windows(FIELD.len()).any(|part| part == FIELD);
            strange |= mentions && !matches!(role, Some(Role::Finds | Role::Writes));
            match role {
                Some(Role::Lists) => self.lists = true,
                Some(Role::Writes) => {
                    writes = true;
                    strange |= handle;
                }
                Some(Role::Anything) => {
                    self.updates.any = true;
                    (writes, strange) = (true, true);
                }
                // Any holder of the handle may call it, with a name that it knows.
                Some(Role::Updater | Role::Handle) if handle => self.updates.any = true,
                Some(Role::Finds) if handle => self.fields.any = true,
                Some(_) => concerned = true,
                None => {}
            }
        }
        for method in &file.methods {
            let descriptor = file.member_descriptor(method).unwrap_or_default();
            strange |= descriptor.windows(FIELD.len()).any(|part| part == FIELD);
            if !(concerned || writes) {
                continue;
            }
            let Ok(Some(code)) = file.code(method) else { continue };
            let understood = self.look_into(file, &code, &mut strange);
            if understood.is_none() {
                self.updates.any = true;
                self.fields.any = true;
                strange = true;
            }
        }
        self.writes_by_field |= writes;
        self.loose |= writes && strange;
    }

    fn look_into(&mut self, file: &ClassFile, code: &Code, strange: &mut bool) -> Option<()> {
        let instructions: Vec<Instruction<'_>> = code.instructions().collect::<Result<_, _>>().ok()?;
        let cfg = Cfg::of(code, &instructions)?;
        for block in &cfg.blocks {
            for at in block.range.clone() {
                let instruction = &instructions[at];
                if let (op::CHECKCAST, Operand::Class(class)) = (instruction.opcode, &instruction.operand) {
                    let name = file.pool.class_name(*class).ok()?;
                    *strange |= name.windows(FIELD.len()).any(|part| part == FIELD);
                }
                let (Operand::Method(index) | Operand::InterfaceMethod(index, _)) = instruction.operand else {
                    continue;
                };
                let member = file.pool.member_ref(index).ok()?;
                let (named, back) = match role(member.class, member.name) {
                    Some(Role::Updater) => (&mut self.updates, 1),
                    Some(Role::Handle) => (&mut self.updates, 2),
                    Some(Role::Finds) => (&mut self.fields, 1),
                    _ => continue,
                };
                let text = |at: usize| match (instructions[at].opcode, &instructions[at].operand) {
                    (op::LDC | op::LDC_W, Operand::Constant(index)) => file.pool.string(*index).ok(),
                    _ => None,
                };
                let pushes = |at: usize| matches!(instructions[at].opcode, op::LDC | op::LDC_W | op::GETSTATIC);
                let name = at.checked_sub(back).filter(|first| *first >= block.range.start);
                match name.filter(|first| (first + 1..at).all(pushes)).and_then(text) {
                    Some(name) => {
                        named.names.insert(name.to_vec());
                    }
                    None => named.any = true,
                }
            }
        }
        Some(())
    }
}
