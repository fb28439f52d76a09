//! Writes the classes of one JDK module, edited everywhere, to a directory for `--patch-module`.
//!
//! `heavy_edit JDK_HOME MODULE DIRECTORY`; then `java -Xverify:all --patch-module MODULE=DIRECTORY …` must work as ever.

#[path = "../tests/common/heavy.rs"]
mod heavy;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use ravel_classfile::archive::for_each_jdk_class;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, module, directory] = &arguments[..] else {
        return Err("usage: heavy_edit JDK_HOME MODULE DIRECTORY".into());
    };
    let mut done = heavy::Done::default();
    let mut result: Result<(), Box<dyn Error>> = Ok(());
    let mut edit = |name: &str, bytes: &[u8]| -> Result<(), Box<dyn Error>> {
        let edited = heavy::edit(bytes, &mut done)?;
        let path = Path::new(directory).join(format!("{name}.class"));
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(directory)))?;
        Ok(std::fs::write(path, edited)?)
    };
    for_each_jdk_class(Path::new(home), &mut |class| {
        if class.module.as_deref() == Some(module)
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
