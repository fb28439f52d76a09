//! From class files and recorded runs to a plan: the entry point of ownership.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use ravel_classfile::access;
use ravel_classfile::archive::{self, ArchiveError};

use crate::atomic::{self, Atomicities};
use crate::atomicity::Basic;
use crate::bits::Bits;
use crate::check::{Checked, MethodVerdict, Owner, check};
use crate::collections;
use crate::discover::{Suggestion, Suggestions};
use crate::guarded::Guarded;
use crate::hush::Plain;
use crate::locks::EntryLocks;
use crate::outside::is_jdk;
use crate::plan::{Plan, PlanClass, PlanField, PlanMethod, Precision, RACE_UNSAFE, Summary, VERSION};
use crate::points::Points;
use crate::sharing::Sharing;
use crate::values::{NO_OBJECT, UNPROVEN, Values};
use crate::world::{ClassInput, FieldIx, MethodIx, World};

/// What came of it.
pub struct Ownership {
    /// The plan.
    pub plan: Plan,
    /// What could not be read; if there is anything, nothing is proven.
    pub unreadable: Vec<String>,
}

/// Reads the classes under paths: jars, directories, single classes.
pub fn read(paths: &[PathBuf]) -> Result<Vec<ClassInput>, ArchiveError> {
    let mut inputs = Vec::new();
    for path in paths {
        archive::for_each_class(path, &archive::Options::default(), &mut |entry| {
            if !is_jdk(entry.name.as_bytes()) {
                inputs.push(ClassInput {
                    origin: entry.origin,
                    bytes: entry.bytes,
                });
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(inputs)
}

/// Proves what it can of a program, and compares it with what recorded runs suggest.
pub fn own(inputs: &[ClassInput], paths: &[PathBuf], suggestions: &Suggestions) -> Ownership {
    let world = World::new(inputs);
    let paths = paths.iter().map(|path| path.display().to_string()).collect();
    if !world.unreadable.is_empty() {
        let plan = Plan {
            version: VERSION,
            paths,
            ..Plan::default()
        };
        return Ownership {
            plan,
            unreadable: world.unreadable,
        };
    }
    let points = Points::new(&world);
    let sharing = Sharing::new(&world, &points);
    let locks = EntryLocks::new(&world, &points);
    let guarded = Guarded::new(&world, &points, &sharing, &locks);
    let plain = Plain {
        always: collections::plain(&world, &points, &sharing, &Bits::default()),
        for_races: collections::plain(&world, &points, &sharing, guarded.objects()),
    };
    let checked = check(&world, &points, &sharing, &locks, &guarded, &plain);
    let atomicities = atomic::infer(&world, &points, &sharing, &checked);
    let mut plan = plan(&world, &checked, paths, suggestions);
    add_values(&world, &mut plan, &Values::new(&world, &points, &sharing, &checked));
    let names = |classes: &BTreeSet<String>| classes.iter().map(|class| class.replace('/', ".")).collect();
    plan.plain = names(&plain.always);
    plan.plain_for_races = names(&plain.for_races.difference(&plain.always).cloned().collect());
    plan.summary.precision = match (points.is_coarse(), points.is_by_class()) {
        (true, _) => Precision::Coarse,
        (false, true) => Precision::Classes,
        (false, false) => Precision::Sites,
    };
    verify(&world, &mut plan, &atomicities, &locks);
    Ownership {
        plan,
        unreadable: Vec::new(),
    }
}

/// Adds the methods verified atomic.
fn verify(world: &World, plan: &mut Plan, atomicities: &Atomicities, locks: &EntryLocks) {
    for method in world.method_ids().filter(|method| world.method(*method).flow.is_some()) {
        let basic = atomicities.verified(method, locks);
        if basic > Basic::Atomic {
            continue;
        }
        let found = world.method(method);
        let (class, name) = (world.class_text(found.class), world.symbols.text(found.selector));
        let Ok(at) = plan.classes.binary_search_by(|known| known.name.cmp(&class)) else {
            continue;
        };
        if let Some(method) = plan.classes[at].methods.iter_mut().find(|method| method.name == name) {
            method.atomicity = Some(basic.name().to_owned());
            plan.summary.atomic += 1;
        }
    }
}

/// Adds the owners of parameters and results.
fn add_values(world: &World, plan: &mut Plan, values: &Values<'_>) {
    for method in world.method_ids().filter(|method| world.method(*method).flow.is_some()) {
        let found = world.method(method);
        let (class, name) = (world.class_text(found.class), world.symbols.text(found.selector));
        let Ok(at) = plan.classes.binary_search_by(|known| known.name.cmp(&class)) else {
            continue;
        };
        let Some(planned) = plan.classes[at].methods.iter_mut().find(|method| method.name == name) else {
            continue;
        };
        let owners = values.of(method);
        let objects = owners.parameters.iter().chain([&owners.result]);
        for owner in objects.filter(|owner| *owner != NO_OBJECT) {
            plan.summary.values += 1;
            plan.summary.values_owned += usize::from(owner != UNPROVEN);
        }
        if owners.parameters.iter().any(|owner| owner != NO_OBJECT) {
            planned.parameters = owners.parameters;
        }
        planned.returns = Some(owners.result).filter(|owner| owner != NO_OBJECT);
    }
}

/// What the program itself says about a field, and whether that is what was proven.
fn given(world: &World, field: FieldIx, owner: Option<&Owner>) -> Option<(String, bool)> {
    let found = world.field(field);
    let class = world.class(found.class);
    let owner_text = owner.map(Owner::text);
    if let Some(guard) = &found.guard {
        let wanted = guard.trim();
        let proven = match owner_text.as_deref() {
            None => false,
            // Free of races without any lock is more than was asked for.
            Some("final" | "readonly" | "thisThread" | "unique" | "unused") => true,
            Some("self") => wanted == "this",
            Some(text) => {
                let lock = text.strip_prefix("lock ").unwrap_or(text);
                let simple = |lock: &str| lock.trim_start_matches("this.").to_owned();
                simple(lock) == simple(wanted) || lock.ends_with(&format!(".{}", simple(wanted)))
            }
        };
        return Some((format!("guarded by {wanted}"), proven));
    }
    if found.access & access::STATIC != 0 {
        return None;
    }
    if class.immutable {
        let proven = matches!(
            owner,
            Some(Owner::Final | Owner::Readonly | Owner::Unused | Owner::ThisThread | Owner::Unique)
        );
        return Some(("readonly (its class is @Immutable)".to_owned(), proven));
    }
    class
        .thread_safe
        .then(|| ("free of races (its class is @ThreadSafe)".to_owned(), owner.is_some()))
}

fn plan(world: &World, checked: &Checked, paths: Vec<String>, suggestions: &Suggestions) -> Plan {
    let mut fields: BTreeMap<String, PlanField> = BTreeMap::new();
    let mut summary = Summary::default();
    for verdict in &checked.fields {
        if world.field(verdict.field).access & access::SYNTHETIC != 0 {
            continue;
        }
        let name = world.field_text(verdict.field);
        let suggestion = suggestions.get(&name);
        summary.fields += 1;
        summary.race_unsafe += usize::from(verdict.owner.is_none());
        summary.fields_left_out += usize::from(verdict.left_out);
        let typed = suggestion.is_some_and(|suggestion| !matches!(suggestion, Suggestion::Nothing));
        summary.discovered += usize::from(typed);
        summary.discovered_and_proven += usize::from(typed && verdict.owner.is_some());
        let given = given(world, verdict.field, verdict.owner.as_ref());
        summary.given += usize::from(given.is_some());
        summary.given_and_proven += usize::from(given.as_ref().is_some_and(|(_, proven)| *proven));
        let planned = PlanField {
            name,
            given: given.map(|(text, _)| text),
            owner: verdict
                .owner
                .as_ref()
                .map_or(RACE_UNSAFE.to_owned(), crate::check::Owner::text),
            discovered: suggestion.map(Suggestion::text),
            left_out: verdict.left_out,
            reasons: verdict.reasons.clone(),
        };
        // Two fields of one name (compilers of other languages make them) are as safe as the worse.
        match fields.get_mut(&planned.name) {
            Some(known) if known.owner == RACE_UNSAFE => {}
            _ => {
                fields.insert(planned.name.clone(), planned);
            }
        }
    }
    let mut classes: Vec<PlanClass> = Vec::new();
    for class in &world.classes {
        let mut methods: Vec<MethodIx> = class.methods.values().copied().collect();
        methods.sort_unstable();
        let mut planned = Vec::new();
        for method in methods {
            let Some(verdict) = checked.methods.get(&method) else {
                continue;
            };
            let accesses = world.method(method).flow.iter().flat_map(|flow| &flow.accesses);
            let guarded = accesses.filter(|access| verdict.guarded.contains(&access.place.pc));
            summary.accesses_guarded += guarded.count();
            summary.methods += 1;
            summary.untyped += usize::from(!verdict.reasons.is_empty());
            summary.accesses += verdict.accesses;
            let method = plan_method(world, checked, method, verdict);
            summary.accesses_left_out +=
                (method.local.len() + method.unique.len() + method.unchanging.len()).min(verdict.accesses);
            planned.push(method);
        }
        classes.push(PlanClass {
            name: world.symbols.class_text(class.name),
            hash: format!("{:016x}", class.hash),
            methods: planned,
        });
    }
    classes.sort_by(|a, b| a.name.cmp(&b.name));
    Plan {
        version: VERSION,
        paths,
        summary,
        plain: Vec::new(),
        plain_for_races: Vec::new(),
        fields: fields.into_values().collect(),
        classes,
    }
}

fn plan_method(world: &World, checked: &Checked, method: MethodIx, verdict: &MethodVerdict) -> PlanMethod {
    let found = world.method(method);
    let accesses = found.flow.iter().flat_map(|flow| &flow.accesses);
    let mut by_field: Vec<u16> = accesses
        .clone()
        .filter(|access| {
            let field = |field: FieldIx| checked.fields.get(field.0 as usize).is_some_and(|field| field.left_out);
            access.field.is_some_and(field)
        })
        .map(|access| access.place.pc)
        .collect();
    by_field.sort_unstable();
    let whole = verdict.accesses > 0 && accesses.clone().all(|access| verdict.leaves_out(access.place.pc));
    PlanMethod {
        name: world.symbols.text(found.selector),
        atomicity: None,
        requires: verdict.requires.clone(),
        parameters: Vec::new(),
        returns: None,
        local: verdict.local.clone(),
        unique: verdict.unique.clone(),
        unchanging: verdict.unchanging.clone(),
        by_field,
        guarded: verdict.guarded.clone(),
        touching: verdict.touching.clone(),
        quiet_calls: verdict.hush.quiet_calls.clone(),
        quiet_calls_for_races: verdict.hush_for_races.quiet_calls.clone(),
        whole,
        quiet: verdict.hush.quiet,
        quiet_for_races: verdict.hush_for_races.quiet,
        inner: verdict.inner,
        untyped: verdict.reasons.clone(),
    }
}
