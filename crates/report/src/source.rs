//! Finds the source text that belongs to a class, so that a report can show lines and name paths. Separate because
//! several formats need it and it is the only part of the crate that reads files: a source that is missing, unreadable
//! or foreign is shown as missing and never fails a report.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use ravel_trace::naming;

/// A file larger than this is no source that anyone wrote.
const MAX_SOURCE_BYTES: u64 = 8 << 20;
/// How many files below one root are looked at before the search by name gives up.
const MAX_INDEXED_FILES: usize = 200_000;
/// Where build tools keep sources, below the folder of the project.
const USUAL_ROOTS: [&str; 9] = [
    "src/main/java",
    "src/test/java",
    "src/main/kotlin",
    "src/test/kotlin",
    "src/main/scala",
    "src/test/scala",
    "src",
    "test",
    ".",
];

/// One source file.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// How to name it: relative to the base folder where it lies below it.
    pub path: String,
    /// Whether it lies below the base folder, so that the path means the same on another machine.
    pub in_base: bool,
    /// Its lines, without line ends.
    pub lines: Vec<String>,
}

impl Source {
    /// A line by its number, from 1.
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.lines.get(index).map(String::as_str)
    }
}

/// Package and file name.
type Key = (String, String);
/// Source files by name.
type Index = HashMap<String, Vec<PathBuf>>;

/// Looks for sources in folders and archives, in the order in which they were added.
#[derive(Debug, Default)]
pub struct SourceFinder {
    base: PathBuf,
    roots: Vec<PathBuf>,
    cache: RefCell<HashMap<Key, Option<Rc<Source>>>>,
    indexes: RefCell<HashMap<PathBuf, Rc<Index>>>,
}

impl SourceFinder {
    /// A finder that finds nothing, for reports without sources.
    pub fn none() -> SourceFinder {
        SourceFinder::default()
    }

    /// A finder whose paths are relative to `base`, the folder of the project or its repository.
    pub fn new(base: impl Into<PathBuf>) -> SourceFinder {
        SourceFinder {
            base: base.into(),
            ..SourceFinder::default()
        }
    }

    /// Whether sources are looked for at all.
    pub fn is_asked(&self) -> bool {
        !self.base.as_os_str().is_empty() || !self.roots.is_empty()
    }

    /// Adds a folder of sources or an archive that holds some (`--source`).
    pub fn add(&mut self, root: impl Into<PathBuf>) -> &mut SourceFinder {
        let root = root.into();
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
        self
    }

    /// Adds the roots of another finder, after those that are there.
    pub fn add_all(&mut self, other: &SourceFinder) -> &mut SourceFinder {
        for root in &other.roots {
            self.add(root.clone());
        }
        self
    }

    /// Adds the folders below the base in which build tools keep sources.
    pub fn add_usual_roots(&mut self) -> &mut SourceFinder {
        for usual in USUAL_ROOTS {
            let root = if usual == "." {
                self.base.clone()
            } else {
                self.base.join(usual)
            };
            if root.is_dir() {
                self.add(root);
            }
        }
        self
    }

    /// Adds what a class path says about sources: a folder of classes may hold them itself, a jar may contain them or
    /// have a `-sources.jar` beside it.
    pub fn add_class_path(&mut self, entries: impl IntoIterator<Item = PathBuf>) -> &mut SourceFinder {
        for entry in entries {
            if let Some(name) = entry.file_name().and_then(|n| n.to_str())
                && let Some(stem) = name.strip_suffix(".jar")
            {
                let beside = entry.with_file_name(format!("{stem}-sources.jar"));
                if beside.is_file() {
                    self.add(beside);
                }
            }
            self.add(entry);
        }
        self
    }

    /// The source of a class, by its dotted name and the file name that its class file gives.
    pub fn find(&self, class: &str, file: &str) -> Option<Rc<Source>> {
        if !is_plain_name(file) {
            return None;
        }
        let package = naming::package(class);
        let key = (package.to_owned(), file.to_owned());
        if let Some(known) = self.cache.borrow().get(&key) {
            return known.clone();
        }
        let found = self.search(package, file).map(Rc::new);
        self.cache.borrow_mut().insert(key, found.clone());
        found
    }

    /// The path of a class's source relative to the base, if the source was found below it.
    pub fn known_path(&self, class: &str, file: &str) -> Option<String> {
        let source = self.find(class, file).filter(|source| source.in_base)?;
        Some(source.path.clone())
    }

    fn search(&self, package: &str, file: &str) -> Option<Source> {
        let folder: PathBuf = package.split('.').filter(|p| is_plain_name(p)).collect();
        let wanted = folder.join(file);
        for root in &self.roots {
            if root.is_dir() {
                if let Some(source) = self.read_file(&root.join(&wanted)) {
                    return Some(source);
                }
            } else if let Some(source) = self.read_archive(root, &wanted) {
                return Some(source);
            }
        }
        // Kotlin lets a file lie outside the folder of its package; modules nest roots deeper than the usual ones.
        self.roots.iter().filter(|root| root.is_dir()).find_map(|root| {
            let index = self.index(root);
            let mut candidates = index.get(file)?.clone();
            candidates.sort();
            let mut found = candidates
                .iter()
                .filter_map(|path| self.read_file(path))
                .filter(|source| declares(source, package));
            // Two modules with different files of one name: nothing says which of them was compiled.
            let first = found.next()?;
            found.all(|other| other.lines == first.lines).then_some(first)
        })
    }

    fn index(&self, root: &Path) -> Rc<Index> {
        if let Some(index) = self.indexes.borrow().get(root) {
            return index.clone();
        }
        let index = Rc::new(index_sources(root));
        self.indexes.borrow_mut().insert(root.to_owned(), index.clone());
        index
    }

    fn read_file(&self, path: &Path) -> Option<Source> {
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_SOURCE_BYTES {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let path = clean_path(path);
        let base = clean_path(&self.base);
        let below = path.strip_prefix(&base).ok().filter(|p| p.is_relative());
        Some(Source {
            path: slashes(below.unwrap_or(&path)),
            in_base: below.is_some(),
            lines: lines(&bytes),
        })
    }

    fn read_archive(&self, archive: &Path, wanted: &Path) -> Option<Source> {
        let mut zip = zip::ZipArchive::new(File::open(archive).ok()?).ok()?;
        let wanted = slashes(wanted);
        let name = match zip.index_for_name(&wanted) {
            Some(_) => wanted.clone(),
            // The JDK's src.zip has a folder per module.
            None => zip
                .file_names()
                .find(|n| n.strip_suffix(wanted.as_str()).is_some_and(|p| p.ends_with('/')))?
                .to_owned(),
        };
        let entry = zip.by_name(&name).ok()?;
        let mut bytes = Vec::new();
        entry.take(MAX_SOURCE_BYTES).read_to_end(&mut bytes).ok()?;
        Some(Source {
            path: format!("{}!/{name}", slashes(archive)),
            in_base: false,
            lines: lines(&bytes),
        })
    }
}

/// `shop/Stock.java`: where the compiler's conventions put the source of a class, below a folder that is not known.
pub fn path_in_source_folder(class: &str, file: &str) -> Option<String> {
    if class.is_empty() && file.is_empty() {
        return None;
    }
    let mut path: Vec<String> = naming::package(class)
        .split('.')
        .filter(|p| is_plain_name(p))
        .map(str::to_owned)
        .collect();
    if is_plain_name(file) {
        path.push(file.to_owned());
    } else {
        let outer = naming::simple_class(class)
            .split('$')
            .next()
            .filter(|n| is_plain_name(n))?;
        path.push(format!("{outer}.java"));
    }
    Some(path.join("/"))
}

/// A name from a class file is used as one component of a path and nothing else.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', ':', '\0'])
}

fn declares(source: &Source, package: &str) -> bool {
    let declared = source
        .lines
        .iter()
        .map(|l| l.trim())
        .find_map(|l| l.strip_prefix("package "));
    declared.map_or("", |d| d.trim().trim_end_matches(';').trim()) == package
}

fn index_sources(root: &Path) -> Index {
    let mut index = Index::new();
    let mut folders = vec![root.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            seen += 1;
            if seen > MAX_INDEXED_FILES {
                return index;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() && !name.starts_with('.') && name != "node_modules" {
                folders.push(entry.path());
            } else if kind.is_file() && [".java", ".kt", ".scala", ".groovy"].iter().any(|e| name.ends_with(e)) {
                index.entry(name).or_default().push(entry.path());
            }
        }
    }
    index
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

/// The path without `.` components, so that two spellings of one folder compare equal.
fn clean_path(path: &Path) -> PathBuf {
    path.components().filter(|c| !matches!(c, Component::CurDir)).collect()
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("folder");
        fs::write(path, text).expect("file");
    }

    #[test]
    fn finds_by_package_and_names_it_from_the_base() {
        let dir = tempfile::tempdir().expect("folder");
        write(
            dir.path(),
            "src/main/java/shop/Stock.java",
            "package shop;\nclass Stock {}\n",
        );
        let mut finder = SourceFinder::new(dir.path());
        finder.add_usual_roots();
        let source = finder.find("shop.Stock$1", "Stock.java").expect("found");
        assert_eq!(source.path, "src/main/java/shop/Stock.java");
        assert!(source.in_base);
        assert_eq!(source.line(2), Some("class Stock {}"));
        assert_eq!((source.line(0), source.line(3)), (None, None));
    }

    #[test]
    fn a_file_of_another_package_is_not_taken() {
        let dir = tempfile::tempdir().expect("folder");
        write(dir.path(), "a/deep/Stock.kt", "package other\n");
        write(dir.path(), "b/deep/Stock.kt", "package shop\n");
        let mut finder = SourceFinder::new(dir.path());
        finder.add(dir.path());
        assert_eq!(
            finder.find("shop.Stock", "Stock.kt").expect("found").path,
            "b/deep/Stock.kt"
        );
        assert_eq!(finder.find("none.Stock", "Stock.kt"), None);
    }

    #[test]
    fn a_file_that_is_there_twice_is_not_guessed() {
        let dir = tempfile::tempdir().expect("folder");
        write(dir.path(), "a/deep/Stock.java", "package shop;\nclass Stock {}\n");
        write(dir.path(), "b/deep/Stock.java", "package shop;\nclass Stock {}\n");
        write(dir.path(), "a/deep/Till.java", "package shop;\nclass Till {}\n");
        write(
            dir.path(),
            "b/deep/Till.java",
            "package shop;\n\nclass Till { int n; }\n",
        );
        let mut finder = SourceFinder::new(dir.path());
        finder.add(dir.path());
        let path = |class: &str| finder.known_path(class, &format!("{}.java", naming::simple_class(class)));
        assert_eq!(path("shop.Stock").as_deref(), Some("a/deep/Stock.java"));
        assert_eq!(path("shop.Till"), None, "the two differ");
        assert_eq!(path("shop.Gone"), None);
    }

    #[test]
    fn archives_hold_sources() {
        let dir = tempfile::tempdir().expect("folder");
        let mut zip = zip::ZipWriter::new(File::create(dir.path().join("app-sources.jar")).expect("jar"));
        zip.start_file("shop/Stock.java", zip::write::SimpleFileOptions::default())
            .expect("entry");
        zip.write_all(b"package shop;").expect("content");
        zip.start_file(
            "java.base/java/util/List.java",
            zip::write::SimpleFileOptions::default(),
        )
        .expect("entry");
        zip.write_all(b"package java.util;").expect("content");
        zip.finish().expect("end");
        let mut finder = SourceFinder::new(dir.path());
        finder.add_class_path([dir.path().join("app.jar")]);
        assert!(
            finder
                .find("shop.Stock", "Stock.java")
                .expect("found")
                .path
                .ends_with("app-sources.jar!/shop/Stock.java")
        );
        assert!(finder.find("java.util.List", "List.java").is_some());
    }

    #[test]
    fn names_from_class_files_cannot_leave_the_root() {
        let dir = tempfile::tempdir().expect("folder");
        write(dir.path(), "secret.txt", "x");
        fs::create_dir_all(dir.path().join("src")).expect("folder");
        let mut finder = SourceFinder::new(dir.path().join("src"));
        finder.add(dir.path().join("src"));
        assert_eq!(finder.find("A", "../secret.txt"), None);
        assert_eq!(path_in_source_folder("..a.B", "../x"), Some("a/B.java".to_owned()));
    }

    #[test]
    fn unreadable_is_missing() {
        let dir = tempfile::tempdir().expect("folder");
        fs::write(dir.path().join("broken.jar"), b"PK\x03\x04 no archive").expect("file");
        fs::create_dir_all(dir.path().join("shop/Stock.java")).expect("folder with a file's name");
        let mut finder = SourceFinder::new(dir.path());
        finder
            .add(dir.path().join("broken.jar"))
            .add(dir.path().join("absent"))
            .add(dir.path());
        assert_eq!(finder.find("shop.Stock", "Stock.java"), None);
    }
}
