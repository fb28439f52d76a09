//! Where classes come from: single files, directories, jars and wars with jars in them, JDK modules and whole JDKs.

mod jimage;
mod jimage_location;
mod release;

use std::fs;
use std::io::{BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use thiserror::Error;
use zip::ZipArchive;

pub use jimage::{Jimage, JimageClass};

/// No class or nested archive may unpack to more than this: a small zip can claim any size.
const MAX_ENTRY: u64 = 1 << 30;

/// The main section of a manifest is in its beginning.
const MAX_MANIFEST: u64 = 1 << 20;

/// Archives in archives are opened down to this depth.
const MAX_NESTING: usize = 4;

/// The first bytes of a `.jmod`, before the zip.
const JMOD_HEADER: &[u8] = b"JM\x01\x00";

/// A class found in an archive or directory.
#[derive(Debug, Clone)]
pub struct ClassEntry {
    /// Where it was found: path, and for each archive on the way `!` and the entry.
    pub origin: String,
    /// Its internal name as its place in the archive has it (`java/lang/Object`).
    pub name: String,
    /// The module it lies in, when it comes from a JDK.
    pub module: Option<String>,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// What to take from archives.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The Java release whose classes are taken from multi-release archives; the newest by default.
    pub release: u16,
    /// Whether to look into archives that lie in a directory or an archive.
    pub nested: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            release: u16::MAX,
            nested: true,
        }
    }
}

/// Why classes could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A file could not be read.
    #[error("{path}: {source}")]
    Io {
        /// The file, or the place in an archive.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A zip archive is damaged or of an unknown kind.
    #[error("{path}: {source}")]
    Zip {
        /// The archive.
        path: String,
        /// What was wrong with it.
        source: zip::result::ZipError,
    },
    /// A `modules` file of a JDK is damaged or of an unknown kind.
    #[error("{path}: {what} at byte {offset}")]
    Jimage {
        /// The file.
        path: String,
        /// What was wrong.
        what: &'static str,
        /// Where.
        offset: u64,
    },
    /// An entry is larger than anything that is not an attack.
    #[error("{path}: larger than {MAX_ENTRY} bytes when unpacked")]
    TooLarge {
        /// The entry.
        path: String,
    },
    /// Code for Android's runtime.
    #[error("{path}: holds dex code for Android, no class files; give the jars or classes that it was made from")]
    Dex {
        /// The path.
        path: String,
    },
    /// The path is nothing that holds classes.
    #[error("{path}: not a class, a jar, a war, a jmod, a directory or a JDK")]
    Unknown {
        /// The path.
        path: String,
    },
}

type Result<T> = std::result::Result<T, ArchiveError>;
type Flow = ControlFlow<()>;

/// Calls `each` with every class under `path`, in the order of their names within each archive or directory, until it
/// says to stop. Class files that only describe a module or a package are included.
pub fn for_each_class(path: &Path, options: &Options, each: &mut dyn FnMut(ClassEntry) -> Flow) -> Result<()> {
    let mut walk = Walk {
        options,
        each,
        damaged: None,
    };
    walk.path(path).map(drop)
}

/// The same, but an archive within `path` that cannot be read is added to `damaged` and left out.
pub fn for_each_readable_class(
    path: &Path,
    options: &Options,
    damaged: &mut Vec<ArchiveError>,
    each: &mut dyn FnMut(ClassEntry) -> Flow,
) -> Result<()> {
    let mut walk = Walk {
        options,
        each,
        damaged: Some(damaged),
    };
    walk.path(path).map(drop)
}

/// Calls `each` with every class of the JDK at `home`: those of `lib/modules`, which the JVM runs, or if that is
/// missing or packed in a way that cannot be read, those of `jmods`. Of a JDK before release 9, those of `rt.jar` and the jars beside it.
pub fn for_each_jdk_class(home: &Path, each: &mut dyn FnMut(ClassEntry) -> Flow) -> Result<()> {
    let options = Options::default();
    let mut walk = Walk {
        options: &options,
        each,
        damaged: None,
    };
    walk.jdk(home).map(drop)
}

/// Whether a directory is the home of a JDK.
pub fn is_jdk(home: &Path) -> bool {
    home.join("lib/modules").is_file() || home.join("jmods/java.base.jmod").is_file() || jars(home).is_some()
}

/// The jars with the classes of a JDK, or of a runtime, before release 9; none of a later one.
pub fn jars(home: &Path) -> Option<Vec<PathBuf>> {
    let folders = [home.join("jre/lib"), home.join("lib")];
    let folder = folders.into_iter().find(|folder| folder.join("rt.jar").is_file())?;
    let all = ["rt.jar", "jce.jar", "jsse.jar", "charsets.jar"].map(|name| folder.join(name));
    Some(all.into_iter().filter(|jar| jar.is_file()).collect())
}

struct Walk<'a> {
    options: &'a Options,
    each: &'a mut dyn FnMut(ClassEntry) -> Flow,
    /// Where archives within archives and directories go that cannot be read; without it they end the walk.
    damaged: Option<&'a mut Vec<ArchiveError>>,
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ArchiveError {
    let path = path.display().to_string();
    |source| ArchiveError::Io { path, source }
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, end)| extensions.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

impl Walk<'_> {
    fn path(&mut self, path: &Path) -> Result<Flow> {
        let origin = path.display().to_string();
        if fs::metadata(path).map_err(io(path))?.is_dir() {
            return if is_jdk(path) {
                self.jdk(path)
            } else {
                self.directory(path)
            };
        }
        if path.file_name().is_some_and(|name| name == "modules") {
            return self.jimage(path);
        }
        let bytes = fs::read(path).map_err(io(path))?;
        if has_extension(&origin, &["class"]) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            return Ok((self.each)(ClassEntry {
                origin,
                name,
                module: None,
                bytes,
            }));
        }
        match bytes.get(..4) {
            Some(JMOD_HEADER) => {
                let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                self.jmod(origin, &module, bytes.get(4..).unwrap_or_default())
            }
            Some(b"PK\x03\x04" | b"PK\x05\x06") => self.archive(origin, bytes, 0),
            Some(b"dex\n") => Err(ArchiveError::Dex { path: origin }),
            _ => Err(ArchiveError::Unknown { path: origin }),
        }
    }

    fn jdk(&mut self, home: &Path) -> Result<Flow> {
        if let Some(jars) = jars(home) {
            for jar in jars {
                if self.path(&jar)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let modules = home.join("lib/modules");
        let jmods = home.join("jmods");
        if modules.is_file() {
            match self.jimage(&modules) {
                // Nothing was given out yet: a packed image is noticed when it is opened.
                Err(ArchiveError::Jimage { .. }) if jmods.is_dir() => {}
                done => return done,
            }
        }
        for path in sorted_files(&jmods)? {
            if path.extension().is_some_and(|extension| extension == "jmod") && self.path(&path)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn jimage(&mut self, path: &Path) -> Result<Flow> {
        let mut image = Jimage::open(path)?;
        for class in image.classes()? {
            let bytes = image.read(&class)?;
            let origin = format!("{}!/{}/{}.class", path.display(), class.module, class.name);
            let entry = ClassEntry {
                origin,
                name: class.name,
                module: Some(class.module),
                bytes,
            };
            if (self.each)(entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn jmod(&mut self, origin: String, module: &str, zip: &[u8]) -> Result<Flow> {
        let mut zip = open(&origin, zip)?;
        let names = names(&zip);
        let class = |name: &String| Some(name.strip_prefix("classes/")?.strip_suffix(".class")?.to_owned());
        let mut classes: Vec<String> = names.iter().filter_map(class).collect();
        classes.sort_unstable();
        for class in classes {
            let name = format!("classes/{class}.class");
            let bytes = read_entry(&mut zip, &origin, &name)?;
            let entry = ClassEntry {
                origin: format!("{origin}!{name}"),
                name: class,
                module: Some(module.to_owned()),
                bytes,
            };
            if (self.each)(entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn archive(&mut self, origin: String, bytes: Vec<u8>, nesting: usize) -> Result<Flow> {
        let mut zip = open(&origin, &bytes)?;
        let names = names(&zip);
        let has = |end: &str| names.iter().any(|name| name.ends_with(end));
        if names.iter().any(|name| name == "classes.dex") && !has(".class") {
            return Err(ArchiveError::Dex { path: origin });
        }
        let manifest = match names.iter().find(|name| name.eq_ignore_ascii_case(release::MANIFEST)) {
            Some(name) => read_entry(&mut zip, &origin, name)?,
            None => Vec::new(),
        };
        for (class, name) in release::select(&names, release::is_multi_release(&manifest), self.options.release) {
            let bytes = read_entry(&mut zip, &origin, name)?;
            let entry = ClassEntry {
                origin: format!("{origin}!{name}"),
                name: class.to_owned(),
                module: None,
                bytes,
            };
            if (self.each)(entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        for name in names
            .iter()
            .filter(|name| self.options.nested && is_nested(name) && nesting < MAX_NESTING)
        {
            let inner = format!("{origin}!{name}");
            if self.refuses(name, &inner) {
                continue;
            }
            let done = read_entry(&mut zip, &origin, name).and_then(|bytes| self.archive(inner, bytes, nesting + 1));
            if self.nested(done)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// An archive within something else that cannot be read spoils itself alone, if the caller wants it so.
    fn nested(&mut self, done: Result<Flow>) -> Result<Flow> {
        match (done, &mut self.damaged) {
            (Err(error), Some(damaged)) => {
                damaged.push(error);
                Ok(ControlFlow::Continue(()))
            }
            (done, _) => done,
        }
    }

    /// Whether something within something else is code for Android, which is said if the caller wants to know what is left out.
    fn refuses(&mut self, name: &str, path: &str) -> bool {
        let refused = has_extension(name, &ANDROID);
        if let Some(damaged) = self.damaged.as_mut().filter(|_| refused) {
            damaged.push(ArchiveError::Dex { path: path.to_owned() });
        }
        refused
    }

    fn directory(&mut self, root: &Path) -> Result<Flow> {
        let mut names = Vec::new();
        let mut pending = vec![root.to_path_buf()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(&directory).map_err(io(&directory))? {
                let entry = entry.map_err(io(&directory))?;
                let path = entry.path();
                // Links to files are followed, links to directories are not: they may lead in a circle.
                if entry.file_type().map_err(io(&path))?.is_dir() {
                    pending.push(path);
                } else if let Ok(relative) = path.strip_prefix(root) {
                    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
                    names.push(parts.join("/"));
                }
            }
        }
        names.sort_unstable();
        let manifest = root.join(release::MANIFEST);
        let manifest = if manifest.is_file() {
            fs::read(&manifest).map_err(io(&manifest))?
        } else {
            Vec::new()
        };
        for (class, name) in release::select(&names, release::is_multi_release(&manifest), self.options.release) {
            let path = root.join(name);
            let bytes = fs::read(&path).map_err(io(&path))?;
            let entry = ClassEntry {
                origin: path.display().to_string(),
                name: class.to_owned(),
                module: None,
                bytes,
            };
            if (self.each)(entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        for name in names.iter().filter(|name| self.options.nested && is_nested(name)) {
            let path = root.join(name);
            if self.refuses(name, &path.display().to_string()) {
                continue;
            }
            let bytes = fs::read(&path).map_err(io(&path));
            let done = bytes.and_then(|bytes| self.archive(path.display().to_string(), bytes, 1));
            if self.nested(done)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// What holds code for Android's runtime.
const ANDROID: [&str; 3] = ["aab", "apk", "dex"];

/// Whether an entry is an archive with classes: a library in a war or a fat jar, a module of an ear, a jar in a folder; or one that
/// should have some and is refused.
fn is_nested(name: &str) -> bool {
    let sources = name.ends_with("-sources.jar") || name.ends_with("-javadoc.jar");
    !sources && (has_extension(name, &["aar", "ear", "jar", "rar", "war"]) || has_extension(name, &ANDROID))
}

fn sorted_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(io(directory))? {
        files.push(entry.map_err(io(directory))?.path());
    }
    files.sort_unstable();
    Ok(files)
}

fn open<'a>(origin: &str, bytes: &'a [u8]) -> Result<ZipArchive<Cursor<&'a [u8]>>> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|source| ArchiveError::Zip {
        path: origin.to_owned(),
        source,
    })
}

/// The main class that the manifest of an archive names, `shop.Main`; none if there is none or the archive cannot be read.
pub fn main_class(path: &Path) -> Option<String> {
    let mut zip = ZipArchive::new(BufReader::new(fs::File::open(path).ok()?)).ok()?;
    let name = zip
        .file_names()
        .find(|name| name.eq_ignore_ascii_case(release::MANIFEST))?
        .to_owned();
    let mut manifest = Vec::new();
    let entry = zip.by_name(&name).ok()?;
    entry.take(MAX_MANIFEST).read_to_end(&mut manifest).ok()?;
    release::main_class(&manifest)
}

fn names(zip: &ZipArchive<Cursor<&[u8]>>) -> Vec<String> {
    let mut names: Vec<String> = zip.file_names().map(str::to_owned).collect();
    names.sort_unstable();
    names
}

fn read_entry(zip: &mut ZipArchive<Cursor<&[u8]>>, origin: &str, name: &str) -> Result<Vec<u8>> {
    let path = || format!("{origin}!{name}");
    let entry = zip
        .by_name(name)
        .map_err(|source| ArchiveError::Zip { path: path(), source })?;
    // The size in the directory is a claim; what is read decides.
    let mut bytes = Vec::with_capacity(entry.size().min(1 << 20) as usize);
    entry
        .take(MAX_ENTRY + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| ArchiveError::Io { path: path(), source })?;
    if bytes.len() as u64 > MAX_ENTRY {
        return Err(ArchiveError::TooLarge { path: path() });
    }
    Ok(bytes)
}
