//! Whether a class survives reading and writing, at every level: as a whole, attribute by attribute, code by code.

use ravel_classfile::{Attribute, AttributeValue, ClassFile, Code};

/// What was compared.
#[derive(Debug, Default, Clone, Copy)]
pub struct Compared {
    /// Attributes with a typed view.
    pub known: usize,
    /// Attributes without one.
    pub unknown: usize,
    /// Codes decoded to instructions with labels and encoded again.
    pub codes: usize,
}

/// Checks everything about one class; the error says what differed.
pub fn check(bytes: &[u8], compared: &mut Compared) -> Result<(), String> {
    let text = |error: ravel_classfile::ClassError| error.to_string();
    let mut class = ClassFile::parse(bytes).map_err(text)?;
    if class.write().map_err(text)? != bytes {
        return Err("the class is written back different".to_owned());
    }
    let mut pending: Vec<Attribute> = class.attributes.clone();
    for member in class.fields.iter().chain(&class.methods) {
        pending.extend(member.attributes.iter().cloned());
    }
    while let Some(attribute) = pending.pop() {
        let value = class.attribute_value(&attribute).map_err(text)?;
        if value.write().map_err(text)? != attribute.info {
            return Err(format!(
                "{:?} at byte {} is written back different",
                value.name(),
                attribute.offset
            ));
        }
        compared.known += usize::from(value.name().is_some());
        compared.unknown += usize::from(value.name().is_none());
        match value {
            AttributeValue::Code(code) => {
                check_code(&code, &mut class).map_err(|what| format!("code at byte {}: {what}", code.offset))?;
                compared.codes += 1;
                pending.extend(code.attributes);
            }
            AttributeValue::Record(components) => {
                pending.extend(components.into_iter().flat_map(|component| component.attributes));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_code(code: &Code, class: &mut ClassFile) -> Result<(), String> {
    let list = code.decode().map_err(|error| error.to_string())?;
    let again = list.encode(&mut class.pool).map_err(|error| error.to_string())?;
    if again.code != code.code {
        return Err("instructions encoded different".to_owned());
    }
    if again != *code {
        return Err("tables encoded different".to_owned());
    }
    Ok(())
}
