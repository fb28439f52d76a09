//! Why a directed run did not have its pattern, in one sentence that names the line where the partner did not come; and the account of
//! each step, for those who want to know more.

use ravel_analysis::account::{DirectedAccount, DirectedStep, HoldEnd};
use ravel_protocol::goal::{Account, CodeSite, Goals, Released};

/// How one goal fared in all its runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoalAccount {
    /// By step: `shop.Stock.take (line 14)`.
    lines: Vec<String>,
    /// By step.
    sites: Vec<Option<CodeSite>>,
    /// Runs that left an account.
    runs: u64,
    sum: Account,
}

/// How the goals of one finding fared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accounts(Vec<GoalAccount>);

impl Accounts {
    /// Adds the accounts of a run; the agent writes them in the order of the goals.
    pub fn add(&mut self, id: &str, plan: &Goals, accounts: &[&Account]) {
        let goals = plan.goals.iter().filter(|goal| goal.id == id);
        for (goal, account) in goals.zip(accounts) {
            let line = |site: usize| match plan.sites.get(site) {
                Some(site) => format!(
                    "{}.{} (line {})",
                    site.method.class.replace('/', "."),
                    site.method.name,
                    site.line
                ),
                None => "an unknown line".to_string(),
            };
            let lines: Vec<String> = goal.steps.iter().map(|step| line(step.site)).collect();
            let sites: Vec<Option<CodeSite>> = goal
                .steps
                .iter()
                .map(|step| plan.sites.get(step.site).cloned())
                .collect();
            match self.0.iter_mut().find(|known| known.sites == sites) {
                Some(known) => known.add(account),
                None => self.0.push(GoalAccount {
                    lines,
                    sites,
                    runs: 1,
                    sum: (*account).clone(),
                }),
            }
        }
    }

    /// Why none of these goals happened in so many runs.
    pub fn why(&self, runs: usize) -> String {
        match self.0.iter().max_by_key(|one| (one.is_hooked(), one.sum.holds)) {
            None => format!("{runs} directed runs ended without a result: the program did not end by itself"),
            Some(one) => one.why(),
        }
    }

    /// Whether most holds of each goal ended because another thread needed a lock of the held one.
    pub fn are_blocked(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(GoalAccount::is_blocked)
    }

    /// Each goal of a finding.
    pub fn told(&self, id: &str) -> Vec<DirectedAccount> {
        self.0.iter().map(|goal| goal.told(id)).collect()
    }
}

fn hold_end(why: Released) -> HoldEnd {
    match why {
        Released::Reached => HoldEnd::Reached,
        Released::Idle => HoldEnd::Idle,
        Released::Lock => HoldEnd::Lock,
        Released::Cap => HoldEnd::Cap,
        Released::Reset => HoldEnd::Reset,
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{count} times"),
    }
}

impl GoalAccount {
    fn add(&mut self, account: &Account) {
        let sum = &mut self.sum;
        let steps = sum.visits.iter_mut().zip(&account.visits);
        steps.for_each(|(all, one)| *all += one);
        let steps = sum.candidates.iter_mut().zip(&account.candidates);
        steps.for_each(|(all, one)| *all += one);
        let steps = sum.instrumented.iter_mut().zip(&account.instrumented);
        steps.for_each(|(all, one)| *all |= one);
        sum.threads = sum.threads.max(account.threads);
        sum.holds += account.holds;
        sum.held_millis += account.held_millis;
        sum.facts += account.facts;
        for (why, count) in &account.ended {
            match sum.ended.iter_mut().find(|(known, _)| known == why) {
                Some((_, all)) => *all += count,
                None => sum.ended.push((*why, *count)),
            }
        }
        self.runs += 1;
    }

    fn is_hooked(&self) -> bool {
        self.sum.instrumented.iter().all(|hooked| *hooked)
    }

    fn ended(&self, why: Released) -> u64 {
        let all = self.sum.ended.iter().filter(|(known, _)| *known == why);
        all.map(|(_, count)| count).sum()
    }

    fn is_blocked(&self) -> bool {
        self.ended(Released::Lock) * 2 > self.sum.holds
    }

    fn why(&self) -> String {
        let runs = match self.runs {
            1 => "one directed run".to_string(),
            runs => format!("{runs} directed runs"),
        };
        let first = |counts: &[u64]| {
            counts
                .iter()
                .position(|count| *count == 0)
                .map(|step| &self.lines[step])
        };
        let unhooked = self.sum.instrumented.iter().position(|hooked| !hooked);
        if let Some(line) = unhooked.and_then(|step| self.lines.get(step)) {
            return format!("the class of {line} had changed in {runs}");
        }
        if let Some(line) = first(&self.sum.visits) {
            return format!("no thread reached {line} in {runs}");
        }
        if let Some(line) = first(&self.sum.candidates) {
            return format!("no thread reached {line} on the same object, within the unit, in {runs}");
        }
        if self.sum.holds == 0 {
            return format!(
                "{runs} had no chance to hold a thread: at most {} threads reached its steps",
                self.sum.threads
            );
        }
        let partner = self.lines.first().map_or("its step", String::as_str);
        let partner = self
            .lines
            .get(1)
            .filter(|_| self.lines.len() > 2)
            .map_or(partner, String::as_str);
        if self.is_blocked() {
            return format!(
                "a thread was held {} in {runs}, but it holds a lock that its partner needs before {partner}",
                times(self.sum.holds)
            );
        }
        let mut ends = Vec::new();
        for why in [
            Released::Idle,
            Released::Cap,
            Released::Lock,
            Released::Reached,
            Released::Reset,
        ] {
            let words = match why {
                Released::Reached => "the partner came, but the pattern was not complete",
                _ => hold_end(why).words(),
            };
            if self.ended(why) > 0 {
                ends.push(format!("{} {words}", times(self.ended(why))));
            }
        }
        format!(
            "a thread was held {} in {runs}, but no other thread reached {partner} meanwhile: {}",
            times(self.sum.holds),
            ends.join(", ")
        )
    }

    fn told(&self, id: &str) -> DirectedAccount {
        let step = |(number, site): (usize, &Option<CodeSite>)| {
            let of = |counts: &[u64]| counts.get(number).copied().unwrap_or(0);
            let method = site.as_ref().map(|site| &site.method);
            DirectedStep {
                class: method.map_or_else(String::new, |method| method.class.replace('/', ".")),
                method: method.map_or_else(String::new, |method| format!("{}{}", method.name, method.descriptor)),
                line: site.as_ref().map_or(0, |site| site.line),
                instrumented: self.sum.instrumented.get(number).copied().unwrap_or(false),
                visits: of(&self.sum.visits),
                candidates: of(&self.sum.candidates),
            }
        };
        DirectedAccount {
            finding: id.to_string(),
            steps: self.sites.iter().enumerate().map(step).collect(),
            runs: self.runs,
            threads: self.sum.threads as u64,
            holds: self.sum.holds,
            ended: self
                .sum
                .ended
                .iter()
                .map(|(why, count)| (hold_end(*why), *count))
                .collect(),
            held_ms: self.sum.held_millis,
            happened: self.sum.facts,
        }
    }
}
