//! Reading and writing as one definition: a structure is the list of its fields, in the order of the file.

use crate::bytes::{Reader, put_list, put_u2};
use crate::error::{ErrorKind, Result};

/// Something with a fixed layout in the file.
pub(crate) trait Item: Sized {
    fn read(r: &mut Reader<'_>) -> Result<Self>;
    fn write(&self, out: &mut Vec<u8>) -> Result<()>;
}

impl Item for u8 {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.u1()
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.push(*self);
        Ok(())
    }
}

impl Item for u16 {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.u2()
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        put_u2(out, *self);
        Ok(())
    }
}

/// A list with a two-byte count.
impl<T: Item> Item for Vec<T> {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        r.list2(T::read)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        put_list(out, self, "a list in an attribute", |out, item| item.write(out))
    }
}

/// A list with a one-byte count.
pub(crate) fn read_list1<T: Item>(r: &mut Reader<'_>) -> Result<Vec<T>> {
    let count = r.u1()?;
    (0..count).map(|_| T::read(r)).collect()
}

/// Writes a list with a one-byte count.
pub(crate) fn write_list1<T: Item>(list: &[T], out: &mut Vec<u8>) -> Result<()> {
    let count = u8::try_from(list.len());
    out.push(count.map_err(|_| ErrorKind::TooMany("a short list in an attribute").at(out.len()))?);
    list.iter().try_for_each(|item| item.write(out))
}

/// Defines a structure and its layout.
macro_rules! item {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl crate::attribute::item::Item for $name {
            fn read(r: &mut crate::bytes::Reader<'_>) -> crate::error::Result<Self> {
                // Fields of a structure are evaluated in the order written.
                Ok($name { $($field: crate::attribute::item::Item::read(r)?,)* })
            }

            fn write(&self, out: &mut Vec<u8>) -> crate::error::Result<()> {
                $(self.$field.write(out)?;)*
                Ok(())
            }
        }
    };
}

pub(crate) use item;
