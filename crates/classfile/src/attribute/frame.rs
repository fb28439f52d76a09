//! The frames of a `StackMapTable`.

use crate::bytes::{Reader, put_count, put_u2};
use crate::error::{ErrorKind, Result};

/// What the verifier takes a slot to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationType {
    /// Nothing usable.
    Top,
    /// An `int` or smaller.
    Integer,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// A `long`.
    Long,
    /// `null`.
    Null,
    /// `this` in a constructor before the super constructor was called.
    UninitializedThis,
    /// An object of a class.
    Object(u16),
    /// A new object, made by the `new` at this position, whose constructor was not called yet.
    Uninitialized(u16),
}

/// The types of the locals and the stack at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The position in the code.
    pub pc: u16,
    /// Whether the long form was used although the short one would do.
    pub extended: bool,
    /// What is there, relative to the frame before.
    pub kind: FrameKind,
}

/// How a frame differs from the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameKind {
    /// The same locals, an empty stack.
    Same,
    /// The same locals, one thing on the stack.
    SameLocals(VerificationType),
    /// Without the last locals (one to three), an empty stack.
    Chop(u8),
    /// With more locals (one to three), an empty stack.
    Append(Vec<VerificationType>),
    /// Anything.
    Full {
        /// The locals.
        locals: Vec<VerificationType>,
        /// The stack.
        stack: Vec<VerificationType>,
    },
}

pub(super) fn read(r: &mut Reader<'_>) -> Result<Vec<Frame>> {
    let mut next = 0u32;
    r.list2(|r| {
        let at = r.offset();
        let tag = r.u1()?;
        let delta = match tag {
            0..=127 => u16::from(tag & 63),
            247..=255 => r.u2()?,
            _ => return Err(ErrorKind::Malformed("stack-map frame").at(at)),
        };
        let pc = next + u32::from(delta);
        let pc = u16::try_from(pc).map_err(|_| ErrorKind::Malformed("stack-map frame: position").at(at))?;
        next = u32::from(pc) + 1;
        let kind = match tag {
            0..=63 | 251 => FrameKind::Same,
            64..=127 | 247 => FrameKind::SameLocals(read_type(r)?),
            252..=254 => FrameKind::Append((251..tag).map(|_| read_type(r)).collect::<Result<_>>()?),
            255 => FrameKind::Full {
                locals: r.list2(read_type)?,
                stack: r.list2(read_type)?,
            },
            _ => FrameKind::Chop(251 - tag),
        };
        Ok(Frame {
            pc,
            extended: matches!(tag, 247 | 251) && delta < 64,
            kind,
        })
    })
}

fn read_type(r: &mut Reader<'_>) -> Result<VerificationType> {
    use VerificationType as V;
    let at = r.offset();
    Ok(match r.u1()? {
        0 => V::Top,
        1 => V::Integer,
        2 => V::Float,
        3 => V::Double,
        4 => V::Long,
        5 => V::Null,
        6 => V::UninitializedThis,
        7 => V::Object(r.u2()?),
        8 => V::Uninitialized(r.u2()?),
        _ => return Err(ErrorKind::Malformed("verification type").at(at)),
    })
}

pub(super) fn write(frames: &[Frame], out: &mut Vec<u8>) -> Result<()> {
    put_count(out, frames.len(), "the stack-map frames")?;
    let mut next = 0u32;
    for frame in frames {
        let delta = u32::from(frame.pc)
            .checked_sub(next)
            .and_then(|delta| u16::try_from(delta).ok());
        let delta = delta.ok_or_else(|| ErrorKind::Malformed("stack-map frames: not in order").at(out.len()))?;
        next = u32::from(frame.pc) + 1;
        let short = delta < 64 && !frame.extended;
        let long = |out: &mut Vec<u8>, tag| {
            out.push(tag);
            put_u2(out, delta);
        };
        match &frame.kind {
            FrameKind::Same if short => out.push(delta as u8),
            FrameKind::Same => long(out, 251),
            FrameKind::SameLocals(on_stack) => {
                if short {
                    out.push(64 + delta as u8);
                } else {
                    long(out, 247);
                }
                write_type(*on_stack, out);
            }
            FrameKind::Chop(count @ 1..=3) => long(out, 251 - count),
            FrameKind::Append(types) if (1..=3).contains(&types.len()) => {
                long(out, 251 + types.len() as u8);
                types.iter().for_each(|ty| write_type(*ty, out));
            }
            FrameKind::Full { locals, stack } => {
                long(out, 255);
                for types in [locals, stack] {
                    put_count(out, types.len(), "the types of a frame")?;
                    types.iter().for_each(|ty| write_type(*ty, out));
                }
            }
            FrameKind::Chop(_) | FrameKind::Append(_) => {
                return Err(ErrorKind::Malformed("stack-map frame: one to three locals").at(out.len()));
            }
        }
    }
    Ok(())
}

fn write_type(ty: VerificationType, out: &mut Vec<u8>) {
    use VerificationType as V;
    let (tag, index) = match ty {
        V::Top => (0, None),
        V::Integer => (1, None),
        V::Float => (2, None),
        V::Double => (3, None),
        V::Long => (4, None),
        V::Null => (5, None),
        V::UninitializedThis => (6, None),
        V::Object(class) => (7, Some(class)),
        V::Uninitialized(pc) => (8, Some(pc)),
    };
    out.push(tag);
    if let Some(index) = index {
        put_u2(out, index);
    }
}
