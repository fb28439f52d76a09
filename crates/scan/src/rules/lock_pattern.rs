#![doc = include_str!("../../../report/src/rules/lock-pattern.md")]

use std::collections::BTreeMap;

use ravel_analysis::finding::Rule;
use ravel_classfile::access;
use ravel_trace::naming;

use super::Facts;
use super::guards::is_before_sharing;
use super::kept::Kept;
use super::told::{is_log, is_only_told};
use crate::alias::{self, MadeLocks};
use crate::body::{Body, Stmt};
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Node, UNKNOWN};
use crate::filter::{Filter, class_of};
use crate::program::{MethodId, Program};
use crate::report::{Alike, Draft, expr_text, step};
use crate::solve::{Instance, LocksHeld, MethodFacts};
use crate::stale::{Dependence, Stale};
use crate::summary::Way;
use crate::symbols::Sym;

/// Warnings with more calls than this between the context and an acquisition are held back: the author of the method hardly
/// thought of it. The limit was chosen by reading warnings on real programs; see `docs/scan-results.md`.
const NEAR: usize = 3;

/// Warnings whose context is more calls away than this are held back.
const NEAR_CONTEXT: usize = 2;

/// One warning per method and pair of locks acquired in turn there, over all contexts and all places of the second
/// acquisition. The paper's tool combines the warnings about one lock in the same way; all have one fix.
///
/// Shown is a second acquisition that rests on a value read under the first ([`Dependence`]). Held back are the others, those of an
/// object that is changed only with the outer lock held ([`Kept`]), and those with an acquisition or a context that is many calls away ([`NEAR`], [`NEAR_CONTEXT`]) or with an exception between the
/// acquisitions (most often nothing is left to be atomic).
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let Facts {
        program,
        graph,
        held,
        filter,
        found,
        instances,
    } = *facts;
    let stale = Stale::new(program, held);
    let made = MadeLocks::of(program);
    let kept = Kept::new(program, graph, held, &stale);
    let mut groups: BTreeMap<(u32, ExprId, ExprId), Vec<Ranked<'_>>> = BTreeMap::new();
    for instance in instances {
        let facts = &found[instance.facts as usize];
        let Some(body) = program.body(facts.method) else {
            continue;
        };
        if !program.class_of(facts.method).wanted
            || is_unshared(program, filter, facts, instance)
            || is_private(body, facts, instance)
            || is_under_construction(program, facts, instance)
            || is_guarded(program, facts, instance)
            || is_context(program, graph, facts, instance)
            || is_made_lock(program, &made, facts, instance)
        {
            continue;
        }
        let locks = (instance.facts, instance.twice.first, instance.twice.second);
        let ranked = Ranked::new(program, graph, held, &stale, &kept, found, instance);
        groups.entry(locks).or_default().push(ranked);
    }
    let drafts = groups.into_values().filter_map(|mut instances| {
        instances.sort_by_key(|ranked| {
            let instance = ranked.instance;
            (
                !ranked.is_shown(),
                std::cmp::Reverse(ranked.dependence),
                !ranked.certain,
                instance.thrown,
                ranked.calls,
                (ranked.first, instance.twice.at),
                (instance.context_method, instance.context_site),
            )
        });
        draft(program, held, found, &instances)
    });
    drafts.collect()
}

/// An instance with what decides whether it is shown.
struct Ranked<'a> {
    instance: &'a Instance,
    /// How the second acquisition depends on the first.
    dependence: Dependence,
    /// The first acquisition: the one that the second depends on, if there is one.
    first: u32,
    /// Every call on the way, to the acquisitions and from the context, has only one possible answer.
    certain: bool,
    /// A call on the way names a library's class that was not read, and most often the library's own code answers. Only of
    /// a parameter nothing more is known than that.
    foreign: bool,
    /// The lock belongs to an object that the method was given.
    is_given: bool,
    /// The lock belongs to a log: what is asked of it decides only whether a text is written.
    is_log: bool,
    /// Nothing changes in between, or it does no harm: the lock is that of an object which its owner keeps to itself and changes only
    /// with the outer lock held; or the method makes its object ready; or what is read again only goes into a text; or the outer lock
    /// has no name and may be the same one.
    is_quiet: bool,
    /// How many calls lie on the way.
    calls: usize,
    /// How many calls lie before the farther of the acquisitions, those that compilers add aside.
    depth: usize,
}

impl<'a> Ranked<'a> {
    fn new(
        program: &Program,
        graph: &CallGraph<'_>,
        held: &LocksHeld,
        stale: &Stale<'_>,
        kept: &Kept<'_, '_>,
        found: &[MethodFacts],
        instance: &'a Instance,
    ) -> Self {
        let facts = &found[instance.facts as usize];
        let twice = instance.twice;
        let (dependence, first) = stale.dependence(facts, twice.first, (twice.at, twice.second));
        let first = first.unwrap_or(instance.first);
        let mut calls: Vec<(MethodId, u32)> = instance.chain.iter().map(|site| (site.method, site.stmt)).collect();
        let mut depth = 0;
        for (stmt, lock) in [(first, twice.first), (twice.at, twice.second)] {
            let ways = ways(program, held, facts, stmt, lock);
            let called = ways.iter().skip(1).map(|way| program.method(way.0).access);
            depth = depth.max(called.filter(|access| access & access::SYNTHETIC == 0).count());
            calls.extend(ways.iter().map(|way| (way.0, way.1)));
        }
        let stmt = |(method, stmt): &(MethodId, u32)| program.body(*method)?.stmts.get(*stmt as usize);
        let targets = calls.iter().filter_map(stmt).filter_map(|stmt| match stmt {
            Stmt::Call { target, .. } => Some(graph.target(*target)),
            _ => None,
        });
        let targets: Vec<_> = targets.collect();
        let is_given = facts
            .exprs
            .any(twice.second, &mut |node| matches!(node, Node::Param(_)));
        let is_known_kind = is_known_kind(program, facts, twice.second);
        let is_foreign = |stmt: &Stmt| match stmt {
            Stmt::Call { target, .. } if target.is_virtual => {
                let (class, _) = program.symbols.members(target.pair);
                !program.by_name.contains_key(&class)
            }
            _ => false,
        };
        // Containers compare their entries, which is not meant to be one step with anything.
        let compares = |stmt: &Stmt| match stmt {
            Stmt::Call { target, .. } => {
                let (_, selector) = program.symbols.members(target.pair);
                let selector = program.symbols.bytes(selector);
                matches!(
                    selector,
                    b"hashCode()I" | b"equals(Ljava/lang/Object;)Z" | b"toString()Ljava/lang/String;"
                )
            }
            _ => false,
        };
        let foreign = calls
            .iter()
            .filter_map(stmt)
            .any(|stmt| is_foreign(stmt) && (!is_given || !is_known_kind || compares(stmt)));
        let witness = class_of(program, facts.method, facts.exprs.nodes(), twice.second);
        let mut ranked = Ranked {
            instance,
            dependence,
            is_log: witness.is_some_and(|class| is_log(program.symbols.bytes(class))),
            first,
            certain: targets
                .iter()
                .all(|target| target.is_some_and(|target| graph.answer_count(target, 2) == 1)),
            calls: targets.len(),
            is_quiet: false,
            foreign,
            is_given,
            depth,
        };
        // What is held back anyway needs no look at the code around it.
        ranked.is_quiet = ranked.is_shown()
            && (is_unnamed_context(program, instance)
                || is_before_sharing(program, graph, facts.method)
                || reads_to_tell(stale, program, facts, dependence, twice.at)
                || kept.is_changed_inside(facts, instance));
        ranked
    }

    fn is_shown(&self) -> bool {
        let context = self.instance.chain.len();
        let near = context <= NEAR_CONTEXT && self.depth + context <= NEAR;
        let plain = self.is_given || self.certain && self.depth <= 1;
        near && !self.foreign
            && !self.is_log
            && !self.is_quiet
            && !self.instance.thrown
            && match self.dependence {
                Dependence::Changes => true,
                Dependence::Rereads | Dependence::Joined => plain,
                Dependence::LooksAgain | Dependence::HandedBack | Dependence::None => false,
            }
    }
}

/// Whether an object that was given, and whose only known class is a library's, may well be one of this program that locks. A
/// collection is most often one of the library, unless the method is that of a collection itself; of others the lock must be their own.
fn is_known_kind(program: &Program, facts: &MethodFacts, lock: ExprId) -> bool {
    let mut root = lock;
    while let Node::Field(base, _) | Node::ReadWrite(base) | Node::Elem(base, _) = facts.exprs.node(root) {
        root = base;
    }
    let is_container = |class: Sym| program.symbols.bytes(class).starts_with(b"java/util/");
    let given = class_of(program, facts.method, facts.exprs.nodes(), root);
    if !given.is_some_and(is_container) {
        return root == lock;
    }
    let mut next = Some(program.class_of(facts.method));
    for _ in 0..64 {
        let Some(class) = next else { break };
        if class
            .super_class
            .iter()
            .chain(&class.interfaces)
            .any(|above| is_container(*above))
        {
            return true;
        }
        let above = class.super_class.and_then(|above| program.by_name.get(&above));
        next = above.map(|above| program.class(*above));
    }
    false
}

fn is_unnamed_context(program: &Program, instance: &Instance) -> bool {
    let holder = program.body(instance.context_method);
    holder.is_some_and(|holder| holder.lock(instance.context_site) == UNKNOWN)
}

/// Whether the second acquisition only reads what then goes into a text.
fn reads_to_tell(stale: &Stale<'_>, program: &Program, facts: &MethodFacts, dependence: Dependence, stmt: u32) -> bool {
    if !matches!(dependence, Dependence::Rereads | Dependence::Joined) {
        return false;
    }
    let told = || {
        let pc = *program.body(facts.method)?.pcs.get(stmt as usize)?;
        let known = stale.flow(facts.method)?;
        let read = known.flow.at(pc)?;
        Some(is_only_told(&known, read))
    };
    told().unwrap_or(false)
}

/// Whether the witness is declared to be of a class whose objects are not shared.
fn is_unshared(program: &Program, filter: &Filter, facts: &MethodFacts, instance: &Instance) -> bool {
    [instance.twice.first, instance.twice.second].iter().any(|lock| {
        class_of(program, facts.method, facts.exprs.nodes(), *lock)
            .is_some_and(|class| filter.drops_class(program, class))
    })
}

/// Whether the witness is an object that the method made and has to itself until the second acquisition.
fn is_private(body: &Body, facts: &MethodFacts, instance: &Instance) -> bool {
    let twice = instance.twice;
    let locks = [twice.first, twice.second];
    locks
        .iter()
        .any(|lock| body.is_unpublished(&facts.exprs, *lock, twice.at))
}

/// Whether the witness is the context under another name: `this.part.owner` is `this`, and so is the maker that an object keeps.
fn is_context(program: &Program, graph: &CallGraph<'_>, facts: &MethodFacts, instance: &Instance) -> bool {
    let Some(body) = program.body(facts.method).filter(|_| instance.chain.is_empty()) else {
        return false;
    };
    let context = body.lock(instance.context_site);
    let second = instance.twice.second;
    let own = || body.exprs.get(context.0 as usize) == Some(&Node::This);
    alias::back_to(program, &facts.exprs, second).is_some_and(|lock| lock == context)
        || own() && alias::is_maker(program, graph, &facts.exprs, second, facts.method)
}

/// Whether the witness is a lock that the program made itself: its methods take a permission and give it back, and hold no
/// state that goes stale.
fn is_made_lock(program: &Program, locks: &MadeLocks, facts: &MethodFacts, instance: &Instance) -> bool {
    let nodes = facts.exprs.nodes();
    class_of(program, facts.method, nodes, instance.twice.second).is_some_and(|class| locks.contains(class))
}

/// Whether the witness is the object that a constructor is making: no other thread has it yet.
fn is_under_construction(program: &Program, facts: &MethodFacts, instance: &Instance) -> bool {
    let selector = program.method(facts.method).selector;
    let locks = [instance.twice.first, instance.twice.second];
    program.symbols.bytes(selector).starts_with(b"<init>")
        && locks.iter().any(|lock| facts.exprs.node(*lock) == Node::This)
}

/// Whether the witness is in a field that an annotation puts under a lock: it is protected already.
fn is_guarded(program: &Program, facts: &MethodFacts, instance: &Instance) -> bool {
    let guarded = |lock: ExprId| match facts.exprs.node(lock) {
        Node::Field(_, pair) | Node::Static(pair) => program.field(pair).is_some_and(|field| field.guard.is_some()),
        _ => false,
    };
    guarded(instance.twice.first) && guarded(instance.twice.second)
}

/// A place on the way to an acquisition: the method, the statement (none for the acquisition itself), the line.
type CallPlace = (MethodId, u32, u32);

/// No statement of any method: the end of a way is a site.
const AT_SITE: u32 = u32::MAX;

/// The calls that lead from a statement of a method to the acquisition of a lock, outermost first, ending there.
fn ways(program: &Program, held: &LocksHeld, facts: &MethodFacts, stmt: u32, lock: ExprId) -> Vec<CallPlace> {
    let Some(body) = program.body(facts.method) else {
        return Vec::new();
    };
    let mut ways = vec![(facts.method, stmt, body.stmt_line(stmt))];
    if !matches!(body.stmts.get(stmt as usize), Some(Stmt::Call { .. })) {
        return ways;
    }
    let mut next = facts.brought.get(&(stmt, lock)).copied();
    while let Some((method, place)) = next.filter(|_| ways.len() < 64) {
        let Some(body) = program.body(method) else { break };
        next = None;
        match held.summaries.of(method)[place as usize].way {
            Way::Direct(site) => {
                let pc = body.sites.get(site as usize).map_or(0, |site| site.pc);
                ways.push((method, AT_SITE, body.line(pc)));
            }
            Way::Call(stmt, callee, place) => {
                ways.push((method, stmt, body.stmt_line(stmt)));
                next = Some((callee, place));
            }
        }
    }
    ways
}

/// The class whose state a lock protects, as far as code says: that of the methods that lock their own object or class.
fn state_class(program: &Program, held: &LocksHeld, facts: &MethodFacts, stmt: u32, lock: ExprId) -> Option<String> {
    let (method, _, _) = *ways(program, held, facts, stmt, lock).last()?;
    let body = program.body(method)?;
    let own = |node: &Node| matches!(node, Node::This | Node::Class(_));
    let locks_itself = body
        .sites
        .iter()
        .any(|site| body.exprs.get(site.lock.0 as usize).is_some_and(own));
    locks_itself.then(|| program.symbols.class_text(program.class_of(method).name))
}

/// Locks as a message names them: in two methods `this` is two objects.
struct Told {
    witness: String,
    holder: String,
    context: String,
    apart: bool,
}

impl Told {
    fn new(program: &Program, method: MethodId, context_method: MethodId, context: &str) -> Self {
        let class = |method| naming::class(&program.symbols.class_text(program.class_of(method).name));
        Told {
            witness: class(method),
            holder: class(context_method),
            context: context.to_owned(),
            apart: method != context_method,
        }
    }

    fn witness(&self, lock: &str) -> String {
        self.of(lock, &self.witness)
    }

    fn context(&self) -> String {
        match self.context.as_str() {
            "*" => "a lock".to_owned(),
            "this" if self.apart && self.holder == self.witness => format!("another {}", self.holder),
            lock => self.of(lock, &self.holder),
        }
    }

    fn of(&self, lock: &str, class: &str) -> String {
        match lock.strip_prefix("this") {
            Some(rest) if self.apart && (rest.is_empty() || rest.starts_with('.')) => format!("{class}.this{rest}"),
            _ => lock.to_owned(),
        }
    }
}

/// Places of the second acquisition that are listed.
const LISTED: usize = 8;

fn draft(program: &Program, held: &LocksHeld, found: &[MethodFacts], instances: &[Ranked<'_>]) -> Option<Draft> {
    let best = instances.first()?;
    let instance = best.instance;
    let facts = &found[instance.facts as usize];
    let body = program.body(facts.method)?;
    let twice = instance.twice;
    let text = |lock| expr_text(program, body, &facts.exprs, lock);
    let (first, second) = (text(twice.first), text(twice.second));
    let context_body = program.body(instance.context_method)?;
    let site = *context_body.sites.get(usize::from(instance.context_site))?;
    let context = expr_text(program, context_body, &context_body.table(), site.lock);
    let context_line = context_body.line(site.pc);
    let mut steps = vec![step(
        program,
        instance.context_method,
        context_line,
        "acquire",
        context.clone(),
        Vec::new(),
    )];
    // The places of the best kind, one per line: compilers copy the code of `finally`.
    let mut seconds: BTreeMap<u32, &Ranked<'_>> = BTreeMap::new();
    for ranked in instances.iter().filter(|ranked| ranked.is_shown() == best.is_shown()) {
        let line = match body.stmt_line(ranked.instance.twice.at) {
            // Without line numbers every statement is a place of its own.
            0 => u32::MAX - ranked.instance.twice.at,
            line => line,
        };
        seconds.entry(line).or_insert(ranked);
    }
    let mut acquisitions = vec![(best.first, twice.first, &first)];
    acquisitions.push((twice.at, twice.second, &second));
    let best_line = body.stmt_line(twice.at);
    let others = seconds.values().map(|ranked| ranked.instance.twice.at);
    let others = others.filter(|at| body.stmt_line(*at) != best_line || best_line == 0 && *at != twice.at);
    acquisitions.extend(others.take(LISTED - 1).map(|at| (at, twice.second, &second)));
    for (stmt, lock, name) in acquisitions {
        let ways = ways(program, held, facts, stmt, lock);
        let outer = instance.chain.iter();
        let mut stack: Vec<String> = outer
            .map(|site| {
                let line = program.body(site.method).map_or(0, |body| body.stmt_line(site.stmt));
                program.place(site.method, line)
            })
            .chain(ways.iter().map(|(method, _, line)| program.place(*method, *line)))
            .collect();
        stack.reverse();
        let line = body.stmt_line(stmt);
        steps.push(step(program, facts.method, line, "acquire", name.clone(), stack));
    }
    let mut contexts: Vec<MethodId> = instances
        .iter()
        .filter(|ranked| ranked.is_shown() == best.is_shown())
        .map(|ranked| ranked.instance.context_method)
        .collect();
    contexts.sort_unstable();
    contexts.dedup();
    let lines = steps.iter().skip(1).map(|step| step.line);
    let (from, to) = (lines.clone().min().unwrap_or(0), lines.max().unwrap_or(0));
    let told = Told::new(program, facts.method, instance.context_method, &context);
    let (outer, protects) = (told.context(), told.witness(&second));
    let both = if first == second {
        match seconds.len() {
            1 => format!("{protects} is locked twice"),
            more => format!("{protects} is locked {} times in turn", more + 1),
        }
    } else {
        format!("{} and then {protects} are locked", told.witness(&first))
    };
    let more = match contexts.len() {
        0 | 1 => String::new(),
        count => format!(" ({count} contexts)"),
    };
    let change = match best.dependence {
        Dependence::Changes => "the update is based on a value that may be stale".to_owned(),
        Dependence::Rereads => "the second read is based on a value that may be stale".to_owned(),
        Dependence::Joined => {
            format!("the two values may come from different states of the data that {protects} protects")
        }
        Dependence::LooksAgain | Dependence::HandedBack | Dependence::None => {
            format!("the data that {protects} protects may change in between")
        }
    };
    Some(Draft {
        rule: Rule::LockPattern,
        method: facts.method,
        line: body.stmt_line(twice.at),
        subject: format!("{first} {second}"),
        alike: state_class(program, held, facts, twice.at, twice.second).map(Alike::Interruption),
        variables: vec![context.clone(), second.clone()],
        steps,
        message: format!("{both} while {outer} is held{more}: {change}"),
        help: match (from, to) {
            (0, _) => format!("Hold {protects} around both uses."),
            _ if from == to => format!("Hold {protects} around both uses (line {to})."),
            _ => format!("Hold {protects} from line {from} to line {to}."),
        },
        units: contexts,
        shown: best.is_shown(),
    })
}
