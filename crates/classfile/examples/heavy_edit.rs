//! Writes classes, edited everywhere, to a directory, for the JVM to verify.
//!
//! `heavy_edit PATH DIRECTORY [MODULE]`: PATH is a JDK home, a jar or a directory of classes; MODULE chooses one of a JDK.
//! Then `java -Xverify:all --patch-module MODULE=DIRECTORY …` or `java -Xverify:all -cp DIRECTORY …` must work as ever.

#[path = "../tests/common/heavy.rs"]
mod heavy;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use ravel_classfile::archive::{Options, for_each_class};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(directory), module) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: heavy_edit PATH DIRECTORY [MODULE]".into());
    };
    let mut done = heavy::Done::default();
    let mut result: Result<(), Box<dyn Error>> = Ok(());
    let mut edit = |name: &str, bytes: &[u8]| -> Result<(), Box<dyn Error>> {
        let edited = heavy::edit(bytes, &mut done)?;
        let path = Path::new(&directory).join(format!("{name}.class"));
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(&directory)))?;
        Ok(std::fs::write(path, edited)?)
    };
    for_each_class(Path::new(&path), &Options::default(), &mut |class| {
        if (module.is_none() || class.module == module)
            && class.name != "module-info"
            && let Err(error) = edit(&class.name, &class.bytes)
        {
            result = Err(format!("{}: {error}", class.origin).into());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    println!("{done:?}");
    result
}
