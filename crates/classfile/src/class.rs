//! The class itself: its header, members and attributes, the latter kept as bytes until a typed view is asked for.

use crate::bytes::{Reader, put_count, put_list, put_u2, put_u4};
use crate::code::Code;
use crate::error::{ErrorKind, Result};
use crate::pool::ConstantPool;

/// The access flags of classes, fields and methods.
pub mod access {
    #![allow(missing_docs, reason = "the names are those of the JVM specification")]
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SUPER: u16 = 0x0020;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const VOLATILE: u16 = 0x0040;
    pub const BRIDGE: u16 = 0x0040;
    pub const TRANSIENT: u16 = 0x0080;
    pub const VARARGS: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const STRICT: u16 = 0x0800;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ANNOTATION: u16 = 0x2000;
    pub const ENUM: u16 = 0x4000;
    pub const MANDATED: u16 = 0x8000;
    pub const MODULE: u16 = 0x8000;
}

const MAGIC: u32 = 0xCAFE_BABE;

/// A class file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassFile {
    /// The minor version.
    pub minor: u16,
    /// The major version: 52 is Java 8, 61 is Java 17, 69 is Java 25.
    pub major: u16,
    /// The constant pool.
    pub pool: ConstantPool,
    /// The access flags.
    pub access: u16,
    /// The constant that names the class.
    pub this_class: u16,
    /// The constant that names the super class; 0 for `java/lang/Object` and modules.
    pub super_class: u16,
    /// The constants that name the interfaces.
    pub interfaces: Vec<u16>,
    /// The fields.
    pub fields: Vec<Member>,
    /// The methods.
    pub methods: Vec<Member>,
    /// The attributes of the class.
    pub attributes: Vec<Attribute>,
}

/// A field or a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The access flags.
    pub access: u16,
    /// The constant that holds the name.
    pub name: u16,
    /// The constant that holds the descriptor.
    pub descriptor: u16,
    /// The attributes.
    pub attributes: Vec<Attribute>,
}

/// An attribute as it stands in the file.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// The constant that holds the name.
    pub name: u16,
    /// The content.
    pub info: Vec<u8>,
    /// Where the content began in the file that was read; 0 for a new attribute. For error messages.
    pub offset: usize,
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.info == other.info
    }
}

impl Eq for Attribute {}

impl Attribute {
    /// A new attribute.
    pub fn new(name: u16, info: Vec<u8>) -> Self {
        Attribute { name, info, offset: 0 }
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader::new(&self.info, self.offset)
    }
}

impl Member {
    /// Whether all the given access flags are set.
    pub fn is(&self, flags: u16) -> bool {
        self.access & flags == flags
    }
}

pub(crate) fn read_attributes(r: &mut Reader<'_>) -> Result<Vec<Attribute>> {
    r.list2(read_attribute)
}

pub(crate) fn read_attribute(r: &mut Reader<'_>) -> Result<Attribute> {
    let name = r.u2()?;
    let length = r.u4()? as usize;
    let offset = r.offset();
    let info = r.take(length)?.to_vec();
    Ok(Attribute { name, info, offset })
}

pub(crate) fn write_attributes(out: &mut Vec<u8>, attributes: &[Attribute]) -> Result<()> {
    put_list(out, attributes, "the attributes", write_attribute)
}

pub(crate) fn write_attribute(out: &mut Vec<u8>, attribute: &Attribute) -> Result<()> {
    put_u2(out, attribute.name);
    let length = u32::try_from(attribute.info.len());
    put_u4(
        out,
        length.map_err(|_| ErrorKind::TooMany("an attribute's bytes").at(out.len()))?,
    );
    out.extend_from_slice(&attribute.info);
    Ok(())
}

fn read_members(r: &mut Reader<'_>) -> Result<Vec<Member>> {
    r.list2(|r| {
        Ok(Member {
            access: r.u2()?,
            name: r.u2()?,
            descriptor: r.u2()?,
            attributes: read_attributes(r)?,
        })
    })
}

fn write_members(out: &mut Vec<u8>, members: &[Member], what: &'static str) -> Result<()> {
    put_list(out, members, what, |out, member| {
        put_u2(out, member.access);
        put_u2(out, member.name);
        put_u2(out, member.descriptor);
        write_attributes(out, &member.attributes)
    })
}

fn attributes_len(attributes: &[Attribute]) -> usize {
    2 + attributes
        .iter()
        .map(|attribute| 6 + attribute.info.len())
        .sum::<usize>()
}

/// The attribute of that name, if there is one; an attribute whose name cannot be read is passed over.
pub(crate) fn find_attribute<'a>(
    attributes: &'a [Attribute],
    pool: &ConstantPool,
    name: &str,
) -> Option<&'a Attribute> {
    attributes
        .iter()
        .find(|attribute| pool.utf8(attribute.name) == Ok(name.as_bytes()))
}

impl ClassFile {
    /// Reads a class file. Names and attributes are not looked into until they are asked for.
    pub fn parse(bytes: &[u8]) -> Result<ClassFile> {
        let mut r = Reader::new(bytes, 0);
        let magic = r.u4()?;
        if magic != MAGIC {
            return Err(ErrorKind::BadMagic(magic).at(0));
        }
        let (minor, major) = (r.u2()?, r.u2()?);
        let class = ClassFile {
            minor,
            major,
            pool: ConstantPool::parse(&mut r)?,
            access: r.u2()?,
            this_class: r.u2()?,
            super_class: r.u2()?,
            interfaces: r.list2(|r| r.u2())?,
            fields: read_members(&mut r)?,
            methods: read_members(&mut r)?,
            attributes: read_attributes(&mut r)?,
        };
        r.end()?;
        Ok(class)
    }

    /// The class as bytes; those that were read, if nothing was changed. Fails only if a list has outgrown its count.
    pub fn write(&self) -> Result<Vec<u8>> {
        let members = self.fields.iter().chain(&self.methods);
        let members: usize = members.map(|member| 6 + attributes_len(&member.attributes)).sum();
        let size =
            20 + self.pool.written_len() + 2 * self.interfaces.len() + members + attributes_len(&self.attributes);
        let mut out = Vec::with_capacity(size);
        put_u4(&mut out, MAGIC);
        put_u2(&mut out, self.minor);
        put_u2(&mut out, self.major);
        self.pool.write(&mut out);
        put_u2(&mut out, self.access);
        put_u2(&mut out, self.this_class);
        put_u2(&mut out, self.super_class);
        put_count(&mut out, self.interfaces.len(), "the interfaces")?;
        for interface in &self.interfaces {
            put_u2(&mut out, *interface);
        }
        write_members(&mut out, &self.fields, "the fields")?;
        write_members(&mut out, &self.methods, "the methods")?;
        write_attributes(&mut out, &self.attributes)?;
        Ok(out)
    }

    /// The internal name of the class (`java/lang/Object`).
    pub fn name(&self) -> Result<&[u8]> {
        self.pool.class_name(self.this_class)
    }

    /// The internal name of the super class; none for `java/lang/Object` and modules.
    pub fn super_name(&self) -> Result<Option<&[u8]>> {
        match self.super_class {
            0 => Ok(None),
            index => self.pool.class_name(index).map(Some),
        }
    }

    /// Whether all the given access flags are set.
    pub fn is(&self, flags: u16) -> bool {
        self.access & flags == flags
    }

    /// The name of one of its members.
    pub fn member_name(&self, member: &Member) -> Result<&[u8]> {
        self.pool.utf8(member.name)
    }

    /// The descriptor of one of its members.
    pub fn member_descriptor(&self, member: &Member) -> Result<&[u8]> {
        self.pool.utf8(member.descriptor)
    }

    /// The attribute of the class with that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        find_attribute(&self.attributes, &self.pool, name)
    }

    /// The attribute of one of its members with that name.
    pub fn member_attribute<'a>(&self, member: &'a Member, name: &str) -> Option<&'a Attribute> {
        find_attribute(&member.attributes, &self.pool, name)
    }

    /// The code of a method; none if it is abstract or native.
    pub fn code(&self, method: &Member) -> Result<Option<Code>> {
        self.member_attribute(method, "Code")
            .map(|attribute| Code::parse(attribute, self.may_have_short_code()))
            .transpose()
    }

    /// Replaces (or adds) the code of the method at `index` of `methods`.
    pub fn set_code(&mut self, index: usize, code: &Code) -> Result<()> {
        let info = code.write()?;
        let ClassFile { methods, pool, .. } = self;
        let Some(method) = methods.get_mut(index) else {
            return Err(ErrorKind::Malformed("method index").at(0));
        };
        let old = method
            .attributes
            .iter_mut()
            .find(|attribute| pool.utf8(attribute.name) == Ok(b"Code"));
        match old {
            Some(attribute) => attribute.info = info,
            None => method.attributes.push(Attribute::new(pool.add_utf8("Code")?, info)),
        }
        Ok(())
    }

    /// Whether this class is so old (before 45.3) that its code attributes may have shorter fields.
    pub(crate) fn may_have_short_code(&self) -> bool {
        (self.major, self.minor) < (45, 3)
    }

    /// Adds a field and returns its position in `fields`.
    pub fn add_field(&mut self, access: u16, name: &str, descriptor: &str) -> Result<usize> {
        let (name, descriptor) = (self.pool.add_utf8(name)?, self.pool.add_utf8(descriptor)?);
        self.fields.push(Member {
            access,
            name,
            descriptor,
            attributes: Vec::new(),
        });
        Ok(self.fields.len() - 1)
    }

    /// Adds a method and returns its position in `methods`. Without code it must be abstract or native.
    pub fn add_method(&mut self, access: u16, name: &str, descriptor: &str, code: Option<&Code>) -> Result<usize> {
        let (name, descriptor) = (self.pool.add_utf8(name)?, self.pool.add_utf8(descriptor)?);
        self.methods.push(Member {
            access,
            name,
            descriptor,
            attributes: Vec::new(),
        });
        let index = self.methods.len() - 1;
        if let Some(code) = code {
            self.set_code(index, code)?;
        }
        Ok(index)
    }
}
