//! Typed views of the attributes of the JVM specification, read from and written to the bytes of an [`Attribute`].
//!
//! A view holds indices into the constant pool, not names, so that it is written back exactly as it was read.

mod annotation;
mod frame;
mod item;
mod module;
mod table;

pub use annotation::{
    Annotation, AnnotationPair, ElementValue, TypeAnnotation, TypePathStep, TypeTarget, VariableRange,
};
pub use frame::{Frame, FrameKind, VerificationType};
pub use module::{Module, ModuleExports, ModuleProvides, ModuleRequires};
pub use table::{
    BootstrapMethod, EnclosingMethod, InnerClass, LineNumber, LocalVariable, MethodParameter, RecordComponent,
};

pub(crate) use annotation::TOO_DEEP;

use crate::class::{Attribute, ClassFile};
use crate::code::Code;
use crate::error::Result;
use crate::pool::ConstantPool;
use item::Item;

/// The content of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeValue {
    /// The initial value of a static field: a constant.
    ConstantValue(u16),
    /// The code of a method.
    Code(Code),
    /// The frames that the verifier checks code against.
    StackMapTable(Vec<Frame>),
    /// The classes that a method declares to throw.
    Exceptions(Vec<u16>),
    /// The nested classes that the class names.
    InnerClasses(Vec<InnerClass>),
    /// Where a local class stands.
    EnclosingMethod(EnclosingMethod),
    /// It does not stand in the source.
    Synthetic,
    /// The generic signature: a string.
    Signature(u16),
    /// The name of the source file: a string.
    SourceFile(u16),
    /// Debug information in no fixed form.
    SourceDebugExtension(Vec<u8>),
    /// The source lines of code.
    LineNumberTable(Vec<LineNumber>),
    /// The local variables of code, with descriptors.
    LocalVariableTable(Vec<LocalVariable>),
    /// The local variables of code that have a generic type, with signatures.
    LocalVariableTypeTable(Vec<LocalVariable>),
    /// It should not be used any more.
    Deprecated,
    /// Annotations that a program can see.
    RuntimeVisibleAnnotations(Vec<Annotation>),
    /// Annotations that only tools can see.
    RuntimeInvisibleAnnotations(Vec<Annotation>),
    /// Annotations of each parameter that a program can see.
    RuntimeVisibleParameterAnnotations(Vec<Vec<Annotation>>),
    /// Annotations of each parameter that only tools can see.
    RuntimeInvisibleParameterAnnotations(Vec<Vec<Annotation>>),
    /// Annotations of types that a program can see.
    RuntimeVisibleTypeAnnotations(Vec<TypeAnnotation>),
    /// Annotations of types that only tools can see.
    RuntimeInvisibleTypeAnnotations(Vec<TypeAnnotation>),
    /// The default value of an annotation's element.
    AnnotationDefault(ElementValue),
    /// The bootstrap methods of dynamic constants and call sites.
    BootstrapMethods(Vec<BootstrapMethod>),
    /// The names of a method's parameters.
    MethodParameters(Vec<MethodParameter>),
    /// A module's description.
    Module(Module),
    /// The packages of a module.
    ModulePackages(Vec<u16>),
    /// The main class of a module.
    ModuleMainClass(u16),
    /// The class whose nest this one belongs to.
    NestHost(u16),
    /// The classes that belong to this one's nest.
    NestMembers(Vec<u16>),
    /// The components of a record.
    Record(Vec<RecordComponent>),
    /// The classes that may extend this one.
    PermittedSubclasses(Vec<u16>),
    /// An attribute that the specification does not have, as its bytes.
    Unknown(Vec<u8>),
}

impl AttributeValue {
    /// Reads an attribute by its name in the constant pool.
    pub fn parse(attribute: &Attribute, pool: &ConstantPool) -> Result<AttributeValue> {
        use AttributeValue as A;
        let mut r = attribute.reader();
        let r = &mut r;
        let value = match pool.utf8(attribute.name)? {
            b"ConstantValue" => A::ConstantValue(r.u2()?),
            b"Code" => return Code::parse(attribute, false).map(A::Code),
            b"StackMapTable" => A::StackMapTable(frame::read(r)?),
            b"Exceptions" => A::Exceptions(Item::read(r)?),
            b"InnerClasses" => A::InnerClasses(Item::read(r)?),
            b"EnclosingMethod" => A::EnclosingMethod(Item::read(r)?),
            b"Synthetic" => A::Synthetic,
            b"Signature" => A::Signature(r.u2()?),
            b"SourceFile" => A::SourceFile(r.u2()?),
            b"SourceDebugExtension" => return Ok(A::SourceDebugExtension(attribute.info.clone())),
            b"LineNumberTable" => A::LineNumberTable(Item::read(r)?),
            b"LocalVariableTable" => A::LocalVariableTable(Item::read(r)?),
            b"LocalVariableTypeTable" => A::LocalVariableTypeTable(Item::read(r)?),
            b"Deprecated" => A::Deprecated,
            b"RuntimeVisibleAnnotations" => A::RuntimeVisibleAnnotations(Item::read(r)?),
            b"RuntimeInvisibleAnnotations" => A::RuntimeInvisibleAnnotations(Item::read(r)?),
            b"RuntimeVisibleParameterAnnotations" => A::RuntimeVisibleParameterAnnotations(item::read_list1(r)?),
            b"RuntimeInvisibleParameterAnnotations" => A::RuntimeInvisibleParameterAnnotations(item::read_list1(r)?),
            b"RuntimeVisibleTypeAnnotations" => A::RuntimeVisibleTypeAnnotations(Item::read(r)?),
            b"RuntimeInvisibleTypeAnnotations" => A::RuntimeInvisibleTypeAnnotations(Item::read(r)?),
            b"AnnotationDefault" => A::AnnotationDefault(Item::read(r)?),
            b"BootstrapMethods" => A::BootstrapMethods(Item::read(r)?),
            b"MethodParameters" => A::MethodParameters(item::read_list1(r)?),
            b"Module" => A::Module(Item::read(r)?),
            b"ModulePackages" => A::ModulePackages(Item::read(r)?),
            b"ModuleMainClass" => A::ModuleMainClass(r.u2()?),
            b"NestHost" => A::NestHost(r.u2()?),
            b"NestMembers" => A::NestMembers(Item::read(r)?),
            b"Record" => A::Record(Item::read(r)?),
            b"PermittedSubclasses" => A::PermittedSubclasses(Item::read(r)?),
            _ => return Ok(A::Unknown(attribute.info.clone())),
        };
        r.end()?;
        Ok(value)
    }

    /// The name of the attribute; none for an unknown one.
    pub fn name(&self) -> Option<&'static str> {
        use AttributeValue as A;
        Some(match self {
            A::ConstantValue(_) => "ConstantValue",
            A::Code(_) => "Code",
            A::StackMapTable(_) => "StackMapTable",
            A::Exceptions(_) => "Exceptions",
            A::InnerClasses(_) => "InnerClasses",
            A::EnclosingMethod(_) => "EnclosingMethod",
            A::Synthetic => "Synthetic",
            A::Signature(_) => "Signature",
            A::SourceFile(_) => "SourceFile",
            A::SourceDebugExtension(_) => "SourceDebugExtension",
            A::LineNumberTable(_) => "LineNumberTable",
            A::LocalVariableTable(_) => "LocalVariableTable",
            A::LocalVariableTypeTable(_) => "LocalVariableTypeTable",
            A::Deprecated => "Deprecated",
            A::RuntimeVisibleAnnotations(_) => "RuntimeVisibleAnnotations",
            A::RuntimeInvisibleAnnotations(_) => "RuntimeInvisibleAnnotations",
            A::RuntimeVisibleParameterAnnotations(_) => "RuntimeVisibleParameterAnnotations",
            A::RuntimeInvisibleParameterAnnotations(_) => "RuntimeInvisibleParameterAnnotations",
            A::RuntimeVisibleTypeAnnotations(_) => "RuntimeVisibleTypeAnnotations",
            A::RuntimeInvisibleTypeAnnotations(_) => "RuntimeInvisibleTypeAnnotations",
            A::AnnotationDefault(_) => "AnnotationDefault",
            A::BootstrapMethods(_) => "BootstrapMethods",
            A::MethodParameters(_) => "MethodParameters",
            A::Module(_) => "Module",
            A::ModulePackages(_) => "ModulePackages",
            A::ModuleMainClass(_) => "ModuleMainClass",
            A::NestHost(_) => "NestHost",
            A::NestMembers(_) => "NestMembers",
            A::Record(_) => "Record",
            A::PermittedSubclasses(_) => "PermittedSubclasses",
            A::Unknown(_) => return None,
        })
    }

    /// The content as bytes.
    pub fn write(&self) -> Result<Vec<u8>> {
        use AttributeValue as A;
        let mut bytes = Vec::new();
        let out = &mut bytes;
        match self {
            A::ConstantValue(index)
            | A::Signature(index)
            | A::SourceFile(index)
            | A::ModuleMainClass(index)
            | A::NestHost(index) => index.write(out)?,
            A::Code(code) => return code.write(),
            A::StackMapTable(frames) => frame::write(frames, out)?,
            A::Exceptions(list) | A::ModulePackages(list) | A::NestMembers(list) | A::PermittedSubclasses(list) => {
                list.write(out)?;
            }
            A::InnerClasses(list) => list.write(out)?,
            A::EnclosingMethod(value) => value.write(out)?,
            A::Synthetic | A::Deprecated => {}
            A::SourceDebugExtension(content) | A::Unknown(content) => out.extend_from_slice(content),
            A::LineNumberTable(list) => list.write(out)?,
            A::LocalVariableTable(list) | A::LocalVariableTypeTable(list) => list.write(out)?,
            A::RuntimeVisibleAnnotations(list) | A::RuntimeInvisibleAnnotations(list) => list.write(out)?,
            A::RuntimeVisibleParameterAnnotations(list) | A::RuntimeInvisibleParameterAnnotations(list) => {
                item::write_list1(list, out)?;
            }
            A::RuntimeVisibleTypeAnnotations(list) | A::RuntimeInvisibleTypeAnnotations(list) => list.write(out)?,
            A::AnnotationDefault(value) => value.write(out)?,
            A::BootstrapMethods(list) => list.write(out)?,
            A::MethodParameters(list) => item::write_list1(list, out)?,
            A::Module(module) => module.write(out)?,
            A::Record(list) => list.write(out)?,
        }
        Ok(bytes)
    }

    /// A new attribute with this content; its name is added to the pool. An unknown one keeps `name`.
    pub fn to_attribute(&self, pool: &mut ConstantPool, name: u16) -> Result<Attribute> {
        let name = match self.name() {
            Some(name) => pool.add_utf8(name)?,
            None => name,
        };
        Ok(Attribute::new(name, self.write()?))
    }
}

impl Code {
    /// The source lines of the code; empty if it was compiled without.
    pub fn line_numbers(&self, pool: &ConstantPool) -> Result<Vec<LineNumber>> {
        let mut lines = Vec::new();
        // There may be several tables, which count together.
        for attribute in self
            .attributes
            .iter()
            .filter(|attribute| pool.utf8(attribute.name) == Ok(b"LineNumberTable"))
        {
            lines.extend(Vec::<LineNumber>::read(&mut attribute.reader())?);
        }
        Ok(lines)
    }
}

impl ClassFile {
    /// The name of the source file, if the class says it.
    pub fn source_file(&self) -> Option<std::borrow::Cow<'_, str>> {
        let index = self.attribute("SourceFile")?.reader().u2().ok()?;
        self.pool.text(index).ok()
    }

    /// Reads any attribute of this class, its members or their code.
    pub fn attribute_value(&self, attribute: &Attribute) -> Result<AttributeValue> {
        if self.pool.utf8(attribute.name)? == b"Code" {
            return Code::parse(attribute, self.may_have_short_code()).map(AttributeValue::Code);
        }
        AttributeValue::parse(attribute, &self.pool)
    }

    /// The annotations among the attributes of the class or of a member, visible ones first.
    pub fn annotations(&self, attributes: &[Attribute]) -> Result<Vec<Annotation>> {
        let mut all = Vec::new();
        for name in ["RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"] {
            if let Some(attribute) = crate::class::find_attribute(attributes, &self.pool, name) {
                let mut r = attribute.reader();
                all.extend(Vec::<Annotation>::read(&mut r)?);
                r.end()?;
            }
        }
        Ok(all)
    }

    /// The first annotation with this simple name (`GuardedBy`), whatever its package.
    pub fn annotation(&self, attributes: &[Attribute], simple_name: &str) -> Result<Option<Annotation>> {
        let all = self.annotations(attributes)?;
        Ok(all
            .into_iter()
            .find(|annotation| annotation.simple_name(&self.pool) == Ok(simple_name.as_bytes())))
    }
}
