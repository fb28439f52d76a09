//! How far a trace has got that is still being written: its size and its records, from the frames of its blocks alone.
//! For progress; nothing is checked that a reader would check.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::block::{BlockFrame, BlockKind, FILE_HEADER_LEN, FRAME_LEN};

/// What is known of one growing file; each look reads only what is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Records in the blocks that are whole.
    pub records: u64,
    /// Bytes of the file up to the last whole block.
    pub bytes: u64,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth {
            records: 0,
            bytes: FILE_HEADER_LEN as u64,
        }
    }
}

impl Growth {
    /// Looks at what was added since the last look. A block that is not whole yet is left for the next one.
    pub fn look(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut bytes = [0; FRAME_LEN];
        while self.bytes + FRAME_LEN as u64 <= length {
            file.seek(SeekFrom::Start(self.bytes))?;
            file.read_exact(&mut bytes)?;
            let Some(frame) = BlockFrame::parse(&bytes) else { break };
            let end = self.bytes + FRAME_LEN as u64 + u64::from(frame.stored_len);
            if end > length {
                break;
            }
            if frame.kind == BlockKind::Buffer {
                self.records += u64::from(frame.records);
            }
            self.bytes = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Footer, Header, ThreadId, Writer, raw::RawRecord};

    #[test]
    fn a_growing_file_is_counted_as_far_as_it_is_whole() {
        let path = std::env::temp_dir().join(format!("ravel-growth-{}.ravel", std::process::id()));
        let mut writer = Writer::new(Vec::new(), &Header::default()).expect("a writer");
        let records = vec![RawRecord::default(); 10];
        writer.buffer(ThreadId(0), &records).expect("a buffer");
        writer.buffer(ThreadId(1), &records).expect("a buffer");
        let bytes = writer.finish(&Footer::default()).expect("the end");
        let mut growth = Growth::default();
        let mut seen = Vec::new();
        for length in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..length]).expect("a file");
            growth.look(&path).expect("a look");
            seen.push(growth.records);
        }
        let _ = std::fs::remove_file(&path);
        seen.dedup();
        assert_eq!(seen, [0, 10, 20]);
        assert_eq!(growth.bytes, bytes.len() as u64);
    }
}
