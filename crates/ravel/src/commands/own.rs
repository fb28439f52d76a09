//! `ravel own`: discovers the owner of each field, proves it, and writes a focus plan.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use ravel_own::discover::{Suggestions, discover};
use ravel_own::plan::{Plan, Precision, RACE_UNSAFE};
use ravel_own::{own, read};
use ravel_trace::naming;
use ravel_trace::{ReadOptions, Reader};

use ravel_prove::plans::class_path;

/// Determine which lock or thread protects each field, prove it, and write a focus plan.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Traces (*.ravel), to discover owners, and jars, directories or class files: all classes of the program except the
    /// JDK's [default: the class path of the first trace's command]
    #[arg(required = true, value_name = "TRACE|CLASSES")]
    inputs: Vec<PathBuf>,
    /// The plan to write
    #[arg(short, long, default_value = "plan.toml", value_name = "FILE")]
    output: PathBuf,
    /// Explain the result for a field or method (`shop.Stock.items`, `Stock.take`) and write no plan (repeatable)
    #[arg(long, value_name = "CLASS.MEMBER")]
    explain: Vec<String>,
    /// List every field that may race, not only the first ten
    #[arg(long)]
    all: bool,
}

/// Runs the command. Exit 0: a plan was written. 2: input error. 3: no class to analyse.
pub fn run(args: Args) -> Result<ExitCode> {
    let (traces, mut paths): (Vec<PathBuf>, Vec<PathBuf>) = args
        .inputs
        .into_iter()
        .partition(|path| path.extension().is_some_and(|extension| extension == "ravel"));
    let mut suggestions = Suggestions::default();
    for trace in &traces {
        let mut reader = Reader::open(trace, ReadOptions::default())?;
        if paths.is_empty() {
            paths = class_path(reader.header()).with_context(|| format!("{}: no class path", trace.display()))?;
        }
        discover(&mut reader, &mut suggestions)?;
    }
    let inputs = read(&paths)?;
    if inputs.is_empty() {
        eprintln!("ravel: no class in {}", names(&paths));
        return Ok(ExitCode::from(3));
    }
    let result = own(&inputs, &paths, &suggestions);
    if !result.unreadable.is_empty() {
        for problem in result.unreadable.iter().take(5) {
            eprintln!("ravel: {problem}");
        }
        bail!(
            "{} part(s) of the program cannot be read, so nothing can be proven; leave them out only if no JVM ever loads them",
            result.unreadable.len()
        );
    }
    if !args.explain.is_empty() {
        for name in &args.explain {
            explain(&result.plan, name)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::write(&args.output, result.plan.text()).with_context(|| args.output.display().to_string())?;
    print(&result.plan, args.all);
    println!("wrote {}: use it with --focus {0}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

fn names(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

fn print(plan: &Plan, all: bool) {
    let s = &plan.summary;
    println!(
        "{} fields: {} cannot race, {} may; {} are left out of recordings",
        s.fields,
        s.fields - s.race_unsafe,
        s.race_unsafe,
        s.fields_left_out
    );
    let mut owners: Vec<(&str, usize)> = Vec::new();
    for field in &plan.fields {
        let kind = field.owner.split(' ').next().unwrap_or_default();
        match owners.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => owners.push((kind, 1)),
        }
    }
    owners.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let words: Vec<String> = owners.iter().map(|(name, count)| format!("{count} {name}")).collect();
    println!("  owners: {}", words.join(", "));
    if s.discovered > 0 {
        println!(
            "  {} of {} owners discovered in the traces are proven",
            s.discovered_and_proven, s.discovered
        );
    }
    if s.given > 0 {
        println!(
            "  {} of {} owners given by annotations are proven",
            s.given_and_proven, s.given
        );
    }
    println!(
        "{} methods: {} typed, {} not; {} verified atomic",
        s.methods,
        s.methods - s.untyped,
        s.untyped,
        s.atomic
    );
    println!(
        "  {} of {} parameters and results that are objects have an owner",
        s.values_owned, s.values
    );
    println!(
        "{} accesses in the code: {} are left out of recordings, {} more of recordings for races alone",
        s.accesses, s.accesses_left_out, s.accesses_guarded
    );
    match s.precision {
        Precision::Sites => {}
        Precision::Classes => {
            println!("a large program: objects of one class that the same class allocates are treated as one")
        }
        Precision::Coarse => println!(
            "a large program: objects of one class that the same class allocates, or that static fields or the JDK reach, are treated as one"
        ),
    }
    let unsafe_fields: Vec<_> = plan.fields.iter().filter(|field| field.owner == RACE_UNSAFE).collect();
    let shown = if all { unsafe_fields.len() } else { 10 };
    for field in unsafe_fields.iter().take(shown) {
        println!(
            "may race: {}: {}",
            field.name,
            field.reasons.first().map_or("", String::as_str)
        );
    }
    if unsafe_fields.len() > shown {
        println!("and {} more (--all)", unsafe_fields.len() - shown);
    }
}

/// Prints the plan's facts about members with this name.
fn explain(plan: &Plan, name: &str) -> Result<()> {
    let wanted = name.replace('$', ".");
    let matches = |full: &str| {
        let full = full.replace('$', ".");
        full == wanted || full.ends_with(&format!(".{wanted}"))
    };
    let mut found = false;
    for field in plan.fields.iter().filter(|field| matches(&field.name)) {
        found = true;
        println!("{}: {}", field.name, field.owner);
        if let Some(discovered) = &field.discovered {
            println!("  the traces suggest: {discovered}");
        }
        if let Some(given) = &field.given {
            println!("  the program declares: {given}");
        }
        println!("  {}", meaning(&field.owner));
        for reason in &field.reasons {
            println!("  {reason}");
        }
        if field.left_out {
            println!("  every access is left out of focused recordings");
        }
    }
    for class in &plan.classes {
        for method in &class.methods {
            let simple = naming::without_descriptor(&method.name);
            if !matches(&format!("{}.{simple}", class.name)) {
                continue;
            }
            found = true;
            let typed = if method.untyped.is_empty() {
                "typed"
            } else {
                "not typed"
            };
            let atomicity = method.atomicity.as_deref().unwrap_or("not verified atomic");
            println!("{}.{}: {typed}, {atomicity}", class.name, method.name);
            if !method.parameters.is_empty() {
                println!("  owners of its parameters: {}", method.parameters.join(", "));
            }
            if let Some(returns) = &method.returns {
                println!("  owner of what it returns: {returns}");
            }
            if !method.requires.is_empty() {
                println!("  every caller holds {}", method.requires.join(", "));
            }
            for reason in &method.untyped {
                println!("  {reason}");
            }
            if method.quiet {
                println!("  neither its code nor the methods it calls need recording");
            }
        }
    }
    if !found {
        let known: Vec<&str> = plan.fields.iter().map(|field| field.name.as_str()).collect();
        bail!(
            "no field or method {name}; the fields are {}{}",
            known.iter().take(8).copied().collect::<Vec<_>>().join(", "),
            if known.len() > 8 { ", …" } else { "" }
        );
    }
    Ok(())
}

fn meaning(owner: &str) -> &'static str {
    match owner {
        "final" => "declared final",
        "volatile" => "declared volatile: accesses are synchronisation",
        "unused" => "no code accesses it",
        "thisThread" => "only one thread ever accesses it in any object",
        "unique" => {
            "one thread at a time: its creator's until the object is handed to a new thread, which then has it alone"
        }
        "readonly" => "only constructors (or the class initialiser) write it",
        "self" => "every access that may be concurrent holds the object's own lock",
        RACE_UNSAFE => "no owner proven:",
        _ => "every access that may be concurrent holds this lock",
    }
}
