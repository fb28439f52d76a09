//! Reads the `lib/modules` file of a JDK (the "jimage" format), as far as its classes are not compressed.
//!
//! The file starts with a header, then come four tables: a hash table that is not needed to list everything, the
//! positions of the locations, the locations (attributes of each resource) and the strings; then the resources.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::jimage_location::Location;
use super::{ArchiveError, Result, io};

const MAGIC: u32 = 0xCAFE_DADA;
const HEADER: u64 = 28;

/// The tables of a JDK with everything are about 3 MB.
const MAX_INDEX: u64 = 1 << 28;

/// Names in class files are shorter.
const MAX_STRING: usize = 1 << 16;

/// An opened `modules` file.
#[derive(Debug)]
pub struct Jimage {
    file: File,
    path: String,
    file_length: u64,
    /// Where the locations lie in `locations`.
    offsets: Vec<u32>,
    locations: Vec<u8>,
    strings: Vec<u8>,
    /// Where the resources start in the file.
    resources: u64,
}

/// A class in a `modules` file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JimageClass {
    /// The module.
    pub module: String,
    /// The internal name of the class.
    pub name: String,
    offset: u64,
    length: u64,
}

impl Jimage {
    /// Opens the file and reads its tables.
    pub fn open(path: &Path) -> Result<Jimage> {
        let mut file = File::open(path).map_err(io(path))?;
        let file_length = file.metadata().map_err(io(path))?.len();
        let name = path.display().to_string();
        let bad = |what, offset| ArchiveError::Jimage {
            path: name.clone(),
            what,
            offset,
        };
        let mut header = [0; HEADER as usize];
        file.read_exact(&mut header)
            .map_err(|_| bad("the header is cut off", 0))?;
        let (words, _) = header.as_chunks::<4>();
        // Numbers are in the byte order of the machine the JDK is made for; the magic number tells.
        let little = match words.first() {
            Some(word) if u32::from_le_bytes(*word) == MAGIC => true,
            Some(word) if u32::from_be_bytes(*word) == MAGIC => false,
            _ => return Err(bad("not a jimage file", 0)),
        };
        let number = |word: [u8; 4]| {
            if little {
                u32::from_le_bytes(word)
            } else {
                u32::from_be_bytes(word)
            }
        };
        let field = |index: usize| words.get(index).map_or(0, |word| number(*word));
        if field(1) >> 16 != 1 {
            return Err(bad("unknown version", 4));
        }
        let (slots, locations, strings) = (u64::from(field(4)), u64::from(field(5)), u64::from(field(6)));
        let index = slots * 8 + locations + strings;
        let resources = HEADER + index;
        if resources > file_length || index > MAX_INDEX {
            return Err(bad("the tables are larger than the file", 16));
        }
        let mut read = |length: u64| {
            let mut bytes = vec![0; length as usize];
            file.read_exact(&mut bytes).map(|()| bytes).map_err(io(path))
        };
        read(slots * 4)?;
        let offsets = read(slots * 4)?
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| number(*word))
            .collect();
        let (locations, strings) = (read(locations)?, read(strings)?);
        Ok(Jimage {
            file,
            path: name,
            file_length,
            offsets,
            locations,
            strings,
            resources,
        })
    }

    fn bad(&self, what: &'static str, offset: u64) -> ArchiveError {
        ArchiveError::Jimage {
            path: self.path.clone(),
            what,
            offset,
        }
    }

    /// All classes, by module and name.
    pub fn classes(&self) -> Result<Vec<JimageClass>> {
        let mut classes = Vec::new();
        for &offset in &self.offsets {
            let at = HEADER + self.offsets.len() as u64 * 8 + u64::from(offset);
            let location = self.locations.get(offset as usize..).and_then(Location::parse);
            let location = location.ok_or_else(|| self.bad("malformed location", at))?;
            let text = |offset| self.string(offset).ok_or_else(|| self.bad("malformed string", at));
            let module = text(location.module)?;
            if text(location.extension)? != "class" || module.is_empty() {
                continue;
            }
            if location.compressed != 0 {
                return Err(self.bad("compressed resources cannot be read", at));
            }
            let (parent, base) = (text(location.parent)?, text(location.base)?);
            let name = if parent.is_empty() {
                base
            } else {
                format!("{parent}/{base}")
            };
            let start = self.resources.checked_add(location.offset);
            let end = start.and_then(|start| start.checked_add(location.length));
            match (start, end) {
                (Some(offset), Some(end)) if end <= self.file_length => {
                    classes.push(JimageClass {
                        module,
                        name,
                        offset,
                        length: location.length,
                    });
                }
                _ => return Err(self.bad("a resource lies outside the file", at)),
            }
        }
        classes.sort_unstable();
        Ok(classes)
    }

    /// The bytes of one of its classes.
    pub fn read(&mut self, class: &JimageClass) -> Result<Vec<u8>> {
        if class.length > super::MAX_ENTRY || class.offset + class.length > self.file_length {
            return Err(self.bad("a resource lies outside the file", class.offset));
        }
        let mut bytes = vec![0; class.length as usize];
        let read = self
            .file
            .seek(SeekFrom::Start(class.offset))
            .and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|source| ArchiveError::Io {
            path: self.path.clone(),
            source,
        })?;
        Ok(bytes)
    }

    /// The string that starts at `offset` and ends with a zero.
    fn string(&self, offset: u64) -> Option<String> {
        let rest = self.strings.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().take(MAX_STRING).position(|byte| *byte == 0)?;
        Some(crate::decode_modified_utf8(rest.get(..end)?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A file with one class `m/p.C` of four bytes, and what `change` does to it.
    fn image(change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<(String, Vec<u8>)>> {
        let strings = b"\0class\0m\0p\0C\0";
        let locations = [1 << 3, 7, 2 << 3, 9, 3 << 3, 11, 4 << 3, 1, 5 << 3, 0, 7 << 3, 4, 0];
        let mut bytes = Vec::new();
        for word in [
            MAGIC,
            1 << 16,
            0,
            1,
            1,
            locations.len() as u32,
            strings.len() as u32,
            0,
            0,
        ] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(locations);
        bytes.extend(strings);
        bytes.extend(b"\xca\xfe\xba\xbe");
        change(&mut bytes);
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(&bytes).expect("written");
        let mut image = Jimage::open(file.path())?;
        image
            .classes()?
            .iter()
            .map(|class| Ok((format!("{}:{}", class.module, class.name), image.read(class)?)))
            .collect()
    }

    #[test]
    fn classes_are_listed_and_read() {
        let classes = image(|_| {}).expect("a valid file");
        assert_eq!(classes, vec![("m:p/C".to_owned(), b"\xca\xfe\xba\xbe".to_vec())]);
    }

    #[test]
    fn damage_is_an_error() {
        image(|bytes| bytes.truncate(20)).expect_err("cut off");
        image(|bytes| bytes[0] = 0).expect_err("foreign");
        image(|bytes| bytes[19] = 0xff).expect_err("huge table");
        image(|bytes| bytes[36 + 11] = 200).expect_err("resource outside");
        image(|bytes| bytes[36 + 1] = 200).expect_err("string outside");
        image(|bytes| bytes[36 + 10] = 6 << 3).expect_err("compressed");
        image(|bytes| bytes[36] = 9 << 3).expect_err("unknown attribute");
    }
}
