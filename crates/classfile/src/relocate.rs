//! Moves the positions that the attributes of a method's code hold, after the code has been edited.

use crate::attribute::TOO_DEEP;
use crate::bytes::{Reader, put_u2};
use crate::class::Attribute;
use crate::edit::PcMap;
use crate::error::{ErrorKind, Result};
use crate::pool::ConstantPool;

/// Rebuilds the attributes of some code. `handlers` are the positions of appended handlers that need a frame.
pub(crate) fn attributes(
    old: &[Attribute],
    pool: &mut ConstantPool,
    map: &PcMap,
    handlers: &[u16],
) -> Result<Vec<Attribute>> {
    let mut new = Vec::with_capacity(old.len() + 1);
    let mut handlers = handlers;
    let throwable = if handlers.is_empty() {
        0
    } else {
        pool.add_class("java/lang/Throwable")?
    };
    for attribute in old {
        let info = match pool.utf8(attribute.name)? {
            b"StackMapTable" => {
                let info = stack_map_table(attribute, map, handlers, throwable)?;
                handlers = &[];
                info
            }
            b"LineNumberTable" => line_numbers(attribute, map)?,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => local_variables(attribute, map)?,
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => type_annotations(attribute, map)?,
            b"CharacterRangeTable" | b"CoverageTable" | b"StackMap" => continue,
            _ => attribute.info.clone(),
        };
        new.push(Attribute {
            name: attribute.name,
            info,
            offset: attribute.offset,
        });
    }
    if !handlers.is_empty() {
        let empty = Attribute::new(pool.add_utf8("StackMapTable")?, vec![0, 0]);
        let info = stack_map_table(&empty, map, handlers, throwable)?;
        new.push(Attribute { info, ..empty });
    }
    Ok(new)
}

/// Moves the frames of a `StackMapTable` and appends one for each handler.
fn stack_map_table(attribute: &Attribute, map: &PcMap, handlers: &[u16], throwable: u16) -> Result<Vec<u8>> {
    let mut r = attribute.reader();
    let count = usize::from(r.u2()?);
    let mut out = Vec::with_capacity(attribute.info.len() + attribute.info.len() / 4 + 12 * handlers.len() + 16);
    let total = u16::try_from(count + handlers.len());
    put_u2(
        &mut out,
        total.map_err(|_| ErrorKind::TooMany("the stack-map frames").at(attribute.offset))?,
    );

    // One past the last frame's position, so that a frame's position is that plus its delta.
    let mut old_next = 0u32;
    let mut new_next = 0u32;
    for _ in 0..count {
        let at = r.offset();
        let tag = r.u1()?;
        let delta = match tag {
            0..=127 => u16::from(tag & 63),
            247..=255 => r.u2()?,
            _ => return Err(ErrorKind::Malformed("stack-map frame").at(at)),
        };
        let old = old_next + u32::from(delta);
        let new = map.label(old).ok_or_else(|| ErrorKind::NotAnInstruction(old).at(at))?;
        old_next = old + 1;
        // Labels rise with positions and are below 65536.
        let delta = new.saturating_sub(new_next) as u16;
        new_next = new + 1;
        let wide = |out: &mut Vec<u8>, tag: u8| {
            out.push(tag);
            put_u2(out, delta);
        };
        match tag {
            // The long form stays long, as some compilers write it where the short one would do.
            0..=63 if delta < 64 => out.push(delta as u8),
            0..=63 | 251 => wide(&mut out, 251),
            64..=127 | 247 => {
                if delta < 64 && tag != 247 {
                    out.push(64 + delta as u8);
                } else {
                    wide(&mut out, 247);
                }
                types(&mut r, &mut out, map, 1)?;
            }
            252..=254 => {
                wide(&mut out, tag);
                types(&mut r, &mut out, map, u16::from(tag - 251))?;
            }
            255 => {
                wide(&mut out, tag);
                for _ in 0..2 {
                    let count = r.u2()?;
                    put_u2(&mut out, count);
                    types(&mut r, &mut out, map, count)?;
                }
            }
            _ => wide(&mut out, tag),
        }
    }
    r.end()?;
    for &handler in handlers {
        let delta = u32::from(handler).saturating_sub(new_next) as u16;
        new_next = u32::from(handler) + 1;
        // A full frame: no locals, one thing on the stack.
        out.push(255);
        put_u2(&mut out, delta);
        put_u2(&mut out, 0);
        put_u2(&mut out, 1);
        out.push(7);
        put_u2(&mut out, throwable);
    }
    Ok(out)
}

/// Copies verification types; an uninitialised object is known by the position of its `new`, which moves.
fn types(r: &mut Reader<'_>, out: &mut Vec<u8>, map: &PcMap, count: u16) -> Result<()> {
    for _ in 0..count {
        let at = r.offset();
        let tag = r.u1()?;
        out.push(tag);
        match tag {
            0..=6 => {}
            7 => put_u2(out, r.u2()?),
            8 => {
                let old = u32::from(r.u2()?);
                let new = map
                    .instruction(old)
                    .ok_or_else(|| ErrorKind::NotAnInstruction(old).at(at))?;
                put_u2(out, new as u16);
            }
            _ => return Err(ErrorKind::Malformed("verification type").at(at)),
        }
    }
    Ok(())
}

fn line_numbers(attribute: &Attribute, map: &PcMap) -> Result<Vec<u8>> {
    let mut r = attribute.reader();
    let mut out = Vec::with_capacity(attribute.info.len());
    let count = r.u2()?;
    put_u2(&mut out, count);
    for _ in 0..count {
        let start = r.u2()?;
        put_u2(&mut out, map.nearest(u32::from(start)) as u16);
        put_u2(&mut out, r.u2()?);
    }
    r.end()?;
    Ok(out)
}

/// A moved range of positions, as start and length.
fn range(map: &PcMap, start: u16, length: u16) -> (u16, u16) {
    let new_start = map.nearest(u32::from(start));
    let new_end = map.nearest(u32::from(start) + u32::from(length));
    (new_start as u16, new_end.saturating_sub(new_start) as u16)
}

fn local_variables(attribute: &Attribute, map: &PcMap) -> Result<Vec<u8>> {
    let mut r = attribute.reader();
    let mut out = Vec::with_capacity(attribute.info.len());
    let count = r.u2()?;
    put_u2(&mut out, count);
    for _ in 0..count {
        let (start, length) = range(map, r.u2()?, r.u2()?);
        put_u2(&mut out, start);
        put_u2(&mut out, length);
        out.extend_from_slice(r.take(6)?);
    }
    r.end()?;
    Ok(out)
}

/// Type annotations keep their size; only the positions in them are overwritten.
fn type_annotations(attribute: &Attribute, map: &PcMap) -> Result<Vec<u8>> {
    let mut r = attribute.reader();
    let mut out = attribute.info.clone();
    let count = r.u2()?;
    for _ in 0..count {
        let at = r.offset();
        match r.u1()? {
            0x00 | 0x01 | 0x16 => drop(r.u1()?),
            0x10..=0x12 | 0x17 | 0x42 => drop(r.u2()?),
            0x13..=0x15 => {}
            0x40 | 0x41 => {
                let ranges = r.u2()?;
                for _ in 0..ranges {
                    let position = r.position();
                    let (start, length) = range(map, r.u2()?, r.u2()?);
                    r.u2()?;
                    overwrite(&mut out, position, start);
                    overwrite(&mut out, position + 2, length);
                }
            }
            target @ 0x43..=0x4b => {
                let position = r.position();
                let old = u32::from(r.u2()?);
                let new = map.instruction(old).unwrap_or_else(|| map.nearest(old));
                overwrite(&mut out, position, new as u16);
                if target >= 0x47 {
                    r.u1()?;
                }
            }
            _ => return Err(ErrorKind::Malformed("type annotation").at(at)),
        }
        let path = usize::from(r.u1()?);
        r.take(2 * path)?;
        skip_annotation(&mut r)?;
    }
    r.end()?;
    Ok(out)
}

fn overwrite(out: &mut [u8], position: usize, value: u16) {
    if let Some(place) = out.get_mut(position..position + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

fn skip_annotation(r: &mut Reader<'_>) -> Result<()> {
    r.u2()?;
    let pairs = r.u2()?;
    for _ in 0..pairs {
        r.u2()?;
        skip_value(r)?;
    }
    Ok(())
}

fn skip_value(r: &mut Reader<'_>) -> Result<()> {
    let at = r.offset();
    match r.u1()? {
        b'e' => drop(r.u4()?),
        b'@' => r.nested(TOO_DEEP, skip_annotation)?,
        b'[' => r.nested(TOO_DEEP, |r| {
            let count = r.u2()?;
            (0..count).try_for_each(|_| skip_value(r))
        })?,
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => drop(r.u2()?),
        _ => return Err(ErrorKind::Malformed("annotation value").at(at)),
    }
    Ok(())
}
