//! Focus plans in use: which one applies to a command, whether it still holds, and its digest for the agent.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ravel_agent::UNFOCUSED;
use ravel_agent::options::Options;
use ravel_analysis::numbers::count;
use ravel_classfile::content_hash;
use ravel_own::ClassInput;
use ravel_own::discover::Suggestions;
use ravel_own::plan::{Mode, Plan, RACE_UNSAFE};
use ravel_own::{own, read};
use ravel_protocol::focus::FocusDigest;
use ravel_protocol::line;
use ravel_trace::{Header, Reader};

use crate::agent_library::cache_directories;
use crate::observer::Observer;
use crate::suspects;

/// A plan in use.
#[derive(Debug, Default)]
pub struct Focus {
    /// What was proven; none if the plan does not hold any more.
    pub plan: Option<Plan>,
    /// The digest that the agent reads, for as long as JVMs are started.
    digest: Option<tempfile::NamedTempFile>,
}

impl Focus {
    /// Finds the plan for a command and tells the agent's options of it. Remarks why a plan is not used.
    pub fn prepare(
        path: Option<&Path>,
        mode: Mode,
        command: &[String],
        options: &mut Options,
        observer: &dyn Observer,
    ) -> Result<Focus> {
        let Some(path) = path else {
            return Ok(Focus::default());
        };
        let plan = if path == Path::new("auto") {
            match automatic(command) {
                Ok(plan) => plan,
                Err(error) => {
                    observer.remark(&format!("--focus auto: {error:#}; recording everything"));
                    return Ok(Focus::default());
                }
            }
        } else {
            let plan = Plan::read(path)?;
            let changed = changed(&plan);
            if !changed.is_empty() {
                observer.remark(&format!(
                    "{}: {} class(es) have changed since `ravel own` wrote it ({}): recording everything; run `ravel own` again",
                    path.display(),
                    changed.len(),
                    changed.iter().take(3).cloned().collect::<Vec<_>>().join(", ")
                ));
                return Ok(Focus::default());
            }
            plan
        };
        let mut file = crate::scratch::file()?;
        let digest = line::encode(&plan.digest(mode, options.keep_unshared))?;
        file.write_all(digest.as_bytes())
            .context("the digest of the focus plan")?;
        options.focus = Some(file.path().to_path_buf());
        Ok(Focus {
            plan: Some(plan),
            digest: Some(file),
        })
    }

    /// What the analyses need not check. Where constructors are recorded, an object published by a race has a race with its
    /// own constructor, whatever else protects its fields.
    pub fn proven(&self, options: &Options) -> ravel_analysis::focus::Focus {
        match &self.plan {
            Some(plan) if !options.keep_unshared => proven(plan),
            _ => ravel_analysis::focus::Focus::default(),
        }
    }

    /// Stops using the plan, because a class was loaded that it was not made for.
    pub fn drop_plan(&mut self, options: &mut Options) {
        options.focus = None;
        self.plan = None;
        self.digest = None;
    }
}

/// What the analyses need not check.
pub fn proven(plan: &Plan) -> ravel_analysis::focus::Focus {
    let race_free = plan.fields.iter().filter(|field| field.owner != RACE_UNSAFE);
    let methods = plan.classes.iter().flat_map(|class| {
        let atomic = class.methods.iter().filter(|method| method.atomicity.is_some());
        atomic.map(move |method| format!("{}.{}", class.name, method.name))
    });
    ravel_analysis::focus::Focus {
        race_free: race_free.map(|field| field.name.clone()).collect(),
        atomic: methods.collect(),
        shorten: None,
    }
}

/// Whether a trace has only a sample of the accesses.
pub fn is_sample(header: &Header) -> bool {
    let agent = header.options.iter().find(|(name, _)| name == "agent");
    agent.is_some_and(|(_, text)| Options::parse(text).is_ok_and(|options| options.sample.is_some()))
}

/// What a focus plan left out of a trace, if it was recorded with one.
fn digest_of(header: &Header) -> Option<FocusDigest> {
    let (_, text) = header.options.iter().find(|(name, _)| name == "focus")?;
    FocusDigest::decode(text, Path::new("the trace's focus plan")).ok()
}

/// Whether a trace has only what may race, so that other analyses than those of races would find less than there is.
pub fn is_for_races(header: &Header) -> bool {
    digest_of(header).is_some_and(|digest| digest.for_races)
}

/// Sums up in one line what the digest of a plan leaves out; the digest has an entry for every class and method.
pub fn digest_in_short(text: &str) -> String {
    let digest = match FocusDigest::decode(text, Path::new("the trace's focus plan")) {
        Ok(digest) => digest,
        Err(error) => return error.to_string(),
    };
    let methods = || digest.classes.iter().flat_map(|class| &class.methods);
    let partly = || methods().filter(|method| !method.leave.is_empty());
    let races = match digest.for_races {
        true => "records only accesses that may race: ",
        false => "",
    };
    format!(
        "{races}plan for {}; left out: {} as a whole, {} in {}, {} of the JDK",
        count(digest.classes.len() as u64, "class"),
        count(methods().filter(|method| method.quiet).count() as u64, "method"),
        count(partly().map(|method| method.leave.len() as u64).sum(), "place"),
        count(partly().count() as u64, "other method"),
        count(digest.plain.len() as u64, "collection"),
    )
}

/// Why a finding of a recording for races goes no further.
pub const CANNOT_FORCE: &str =
    "recorded with --focus-mode races, which has too little to force a run; record it without";

/// The same of a JVM that was running before Ravel came.
pub const CANNOT_FORCE_ATTACHED: &str = "recorded by `ravel attach`, and a server that runs cannot be forced into another order; `ravel run` starts the program and proves races";

/// Whether a trace is of a JVM that was running before Ravel came.
pub fn is_attached(header: &Header) -> bool {
    let agent = header.options.iter().find(|(name, _)| name == "agent");
    agent.is_some_and(|(_, text)| Options::parse(text).is_ok_and(|options| options.attach.is_some()))
}

/// Why no finding of a trace can be forced, if so.
pub fn cannot_force(header: &Header) -> Option<&'static str> {
    match (is_attached(header), is_for_races(header)) {
        (true, _) => Some(CANNOT_FORCE_ATTACHED),
        (_, true) => Some(CANNOT_FORCE),
        _ => None,
    }
}

/// A recording that cannot be forced: says so.
pub fn refuse_for_races(header: &Header, name: &str) -> Result<()> {
    match cannot_force(header) {
        Some(why) => bail!("{name}: {why}"),
        None => Ok(()),
    }
}

/// The analysis of races that the recorded run itself had.
const OBSERVED: &str = "race-unordered";

/// The analyses that a trace is good for: those asked for, or, if none is and it has only what may race, those of races.
pub fn analyses_for(header: &Header, name: &str, asked: &[String], observer: &dyn Observer) -> Vec<String> {
    if is_attached(header) {
        // Which locks a thread had taken before is not known, so nothing can be predicted.
        if asked.iter().any(|asked| asked != OBSERVED) {
            observer.remark(&format!(
                "{name}: recorded by `ravel attach`: only observed races can be found in it"
            ));
        }
        return vec![OBSERVED.to_owned()];
    }
    if !is_for_races(header) {
        return asked.to_vec();
    }
    let races = ["lockset", "race"].map(str::to_owned);
    if !asked
        .iter()
        .all(|asked| races.contains(asked) || asked.starts_with("race-"))
    {
        observer.remark(&format!(
            "{name}: recorded with --focus-mode races: accesses under locks are missing, so only races can be found"
        ));
    }
    match asked {
        [] => {
            observer.remark(&format!(
                "{name}: recorded with --focus-mode races: checking for races only"
            ));
            races.to_vec()
        }
        asked => asked.to_vec(),
    }
}

/// Whether a trace was recorded with a plan, and every class that was loaded was as the plan has it; if not, why.
pub fn holds_for(plan: &Plan, trace: &Reader) -> std::result::Result<(), String> {
    let Some(digest) = digest_of(trace.header()) else {
        return Err("it was not recorded with --focus".to_owned());
    };
    let agent = trace.header().options.iter().find(|(name, _)| name == "agent");
    if agent.is_some_and(|(_, text)| Options::parse(text).is_ok_and(|options| options.keep_unshared)) {
        return Err("it was recorded with --keep-unshared, so it includes constructors".to_owned());
    }
    if !digest.is_of_same_classes(&plan.digest(Mode::None, false)) {
        return Err("it was recorded with another plan".to_owned());
    }
    match trace.footer().map(|footer| &footer.counts) {
        None => Err("it was cut off, so the plan may not have held".to_owned()),
        Some(counts) => match counts.iter().find_map(|(name, _)| name.strip_prefix(UNFOCUSED)) {
            Some(class) => Err(format!("the plan does not cover {class}, which was loaded")),
            None => Ok(()),
        },
    }
}

/// The classes of a plan that are no longer what they were, where they can still be found.
fn changed(plan: &Plan) -> Vec<String> {
    let paths: Vec<PathBuf> = plan
        .paths
        .iter()
        .map(PathBuf::from)
        .filter(|path| path.exists())
        .collect();
    if paths.len() < plan.paths.len() {
        // Moved since: the agent looks at every class that is loaded.
        return Vec::new();
    }
    let Ok(inputs) = read(&paths) else { return Vec::new() };
    let now = hashes(&inputs);
    let known: BTreeMap<&str, &str> = plan
        .classes
        .iter()
        .map(|class| (class.name.as_str(), class.hash.as_str()))
        .collect();
    now.iter()
        .filter(|(name, hash)| known.get(name.as_str()) != Some(&hash.as_str()))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Name and hash of each class, the first of each name.
fn hashes(inputs: &[ClassInput]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for input in inputs {
        let Ok(class) = ravel_classfile::ClassFile::parse(&input.bytes) else {
            continue;
        };
        let Ok(name) = class.name() else { continue };
        let name = ravel_classfile::decode_modified_utf8(name).replace('/', ".");
        if class.is(ravel_classfile::access::MODULE) || name.ends_with("package-info") {
            continue;
        }
        let hash = format!("{:016x}", content_hash(&input.bytes));
        all.entry(name).or_insert(hash);
    }
    all
}

/// More classes than this are not looked at on the way to a recording.
const MOST_CLASSES: usize = 500;

/// The plan for what a command runs, from the cache if nothing has changed.
fn automatic(command: &[String]) -> Result<Plan> {
    let directory = std::env::current_dir().context("the working directory")?;
    let paths = class_path(&Header {
        command: command.to_vec(),
        directory: directory.display().to_string(),
        environment: std::env::var("CLASSPATH")
            .map(|value| ("CLASSPATH".to_owned(), value))
            .into_iter()
            .collect(),
        ..Header::default()
    })?;
    let inputs = read(&paths)?;
    let mut key = String::new();
    for (name, hash) in hashes(&inputs) {
        key.push_str(&format!("{name} {hash}\n"));
    }
    let name = format!(
        "focus-{:016x}-{}.toml",
        content_hash(key.as_bytes()),
        env!("CARGO_PKG_VERSION")
    );
    let directories = cache_directories();
    for directory in &directories {
        if let Ok(plan) = Plan::read(&directory.join(&name)) {
            return Ok(plan);
        }
    }
    if inputs.len() > MOST_CLASSES {
        bail!(
            "{} classes are too many to plan for at each start (the limit is {MOST_CLASSES}); make a plan once with `ravel own`",
            inputs.len()
        );
    }
    let result = own(&inputs, &paths, &Suggestions::default());
    if let Some(first) = result.unreadable.first() {
        bail!("nothing can be proven: {first}");
    }
    for directory in &directories {
        let written = fs::create_dir_all(directory).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(directory)?;
            file.write_all(result.plan.text().as_bytes())?;
            file.persist(directory.join(&name)).map_err(|error| error.error)
        });
        if written.is_ok() {
            break;
        }
    }
    Ok(result.plan)
}

/// The classes of a program, as the command says that started it.
pub fn class_path(header: &Header) -> Result<Vec<PathBuf>> {
    let program = header
        .command
        .first()
        .and_then(|program| Path::new(program).file_stem());
    if program.is_none_or(|name| name != "java") {
        bail!("cannot determine the class path: the command is not `java`; name the classes");
    }
    let paths = suspects::class_path(header);
    if paths.is_empty() {
        bail!("no classes on the class path of {}", header.command.join(" "));
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use ravel_protocol::focus::{ClassDigest, FocusDigest, MethodDigest};
    use ravel_protocol::line;

    use super::digest_in_short;

    #[test]
    fn a_digest_of_many_lines_is_told_in_one() {
        let method = |name: &str, quiet: bool, leave: &[u32]| MethodDigest {
            name: name.into(),
            quiet,
            leave: leave.to_vec(),
            ..MethodDigest::default()
        };
        let class = |name: &str, methods: Vec<MethodDigest>| ClassDigest {
            name: name.into(),
            hash: "00".into(),
            methods,
        };
        let mut digest = FocusDigest {
            for_races: false,
            plain: vec!["java/util/ArrayList".into()],
            classes: vec![
                class("a/B", vec![method("m(I)V", false, &[9, 3]), method("q()I", true, &[])]),
                class("a/C", vec![method("n()V", false, &[7])]),
            ],
        };
        let told = |digest: &FocusDigest| digest_in_short(&line::encode(digest).expect("a line"));
        let wanted =
            "plan for 2 classes; left out: 1 method as a whole, 3 places in 2 other methods, 1 collection of the JDK";
        assert_eq!(told(&digest), wanted);
        digest.for_races = true;
        assert_eq!(told(&digest), format!("records only accesses that may race: {wanted}"));
    }
}
