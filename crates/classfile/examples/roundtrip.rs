//! Reads every class under the given paths (JDK homes, jars, directories), writes it back and compares.
//!
//! `roundtrip [--edit] PATH...`: with `--edit` it also inserts code as a recorder does and says what that costs. The
//! comparison is made for the class as a whole, for each attribute through its typed view, and for each code through its
//! list of instructions. Prints one line per path; exits 1 if any class was not read or not written back equal.

#[path = "../tests/common/exact.rs"]
mod exact;

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ravel_classfile::archive::{Options, for_each_class};
use ravel_classfile::{ClassFile, CodeEditor, ErrorKind, Result, op};

fn main() -> ExitCode {
    let mut edit = false;
    let mut failed = false;
    for argument in std::env::args().skip(1) {
        if argument == "--edit" {
            edit = true;
            continue;
        }
        let mut counts = Counts::default();
        let result = for_each_class(Path::new(&argument), &Options::default(), &mut |class| {
            if let Err(problem) = counts.class(&class.bytes, edit) {
                eprintln!("{}: {problem}", class.origin);
                counts.failed += 1;
            }
            ControlFlow::Continue(())
        });
        if let Err(error) = result {
            eprintln!("{error}");
            failed = true;
        }
        failed |= counts.failed > 0 || counts.classes == 0;
        print!(
            "{argument}: {} classes, {} bytes, {} failed",
            counts.classes, counts.bytes, counts.failed
        );
        let exact::Compared { known, unknown, codes } = counts.compared;
        print!(", {known} attributes and {codes} codes decoded, {unknown} attributes unknown");
        print!(", read and written in {:.3} s", counts.plain.as_secs_f64());
        if edit {
            print!(
                ", edited in {:.3} s: {} methods",
                counts.edited.as_secs_f64(),
                counts.methods
            );
            print!(" ({} without room)", counts.no_room);
        }
        println!();
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[derive(Default)]
struct Counts {
    classes: usize,
    bytes: usize,
    failed: usize,
    compared: exact::Compared,
    methods: usize,
    no_room: usize,
    plain: Duration,
    edited: Duration,
}

impl Counts {
    fn class(&mut self, bytes: &[u8], edit: bool) -> std::result::Result<(), String> {
        self.classes += 1;
        self.bytes += bytes.len();
        let start = Instant::now();
        let written = ClassFile::parse(bytes)
            .and_then(|class| class.write())
            .map_err(|error| error.to_string())?;
        self.plain += start.elapsed();
        if written != bytes {
            return Err("written back different".to_owned());
        }
        exact::check(bytes, &mut self.compared)?;
        if edit {
            let start = Instant::now();
            self.edit(bytes).map_err(|error| error.to_string())?;
            self.edited += start.elapsed();
        }
        Ok(())
    }

    /// What a recorder does: something before every access to a field or an element, and at entry and exit.
    fn edit(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut class = ClassFile::parse(bytes)?;
        let [high, low] = class.pool.add_method_ref("tool/Probe", "hit", "()V")?.to_be_bytes();
        let probe = [op::INVOKESTATIC, high, low];
        let mut editor = CodeEditor::new();
        for index in 0..class.methods.len() {
            let Some(method) = class.methods.get(index) else {
                continue;
            };
            let Some(mut code) = class.code(method)? else { continue };
            editor.clear();
            editor.insert_at_entry(&probe);
            for instruction in code.instructions() {
                let instruction = instruction?;
                match instruction.opcode {
                    op::GETSTATIC..=op::PUTFIELD | op::IALOAD..=op::SALOAD | op::IASTORE..=op::SASTORE => {
                        editor.insert_before(instruction.pc, &probe);
                    }
                    op::IRETURN..=op::RETURN => editor.insert_before(instruction.pc, &probe),
                    _ => {}
                }
            }
            match editor.apply(&mut code, &mut class.pool, class.major) {
                Ok(_) => {
                    self.methods += 1;
                    class.set_code(index, &code)?;
                }
                Err(error) if matches!(error.kind, ErrorKind::CodeTooLarge(_) | ErrorKind::BranchOutOfRange(_)) => {
                    self.no_room += 1;
                }
                Err(error) => return Err(error),
            }
        }
        class.write()
    }
}
