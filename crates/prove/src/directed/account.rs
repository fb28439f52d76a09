//! Why a directed run did not have its pattern, in one sentence that names the line where the partner did not come; and the account of
//! each step, for those who want to know more.

use ravel_protocol::goal::{Account, Goals, Released};

/// How one goal fared in all its runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoalAccount {
    /// By step: `shop.Stock.take (line 14)`.
    lines: Vec<String>,
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
            match self.0.iter_mut().find(|known| known.lines == lines) {
                Some(known) => known.add(account),
                None => self.0.push(GoalAccount {
                    lines,
                    runs: 1,
                    sum: (*account).clone(),
                }),
            }
        }
    }

    /// Why none of these goals happened in so many runs.
    pub fn why(&self, runs: usize) -> String {
        match self.0.iter().max_by_key(|one| (one.is_hooked(), one.sum.holds)) {
            None => format!("{runs} directed runs left no account: the program did not end by itself"),
            Some(one) => one.why(),
        }
    }

    /// A line for each step: whether it has a hook, how often threads came, how often one could take it; and how the holds ended.
    pub fn words(&self) -> Vec<String> {
        self.0.iter().flat_map(GoalAccount::words).collect()
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
            return format!("{line} was never loaded as it was recorded in {runs}");
        }
        if let Some(line) = first(&self.sum.visits) {
            return format!("no thread came to {line} in {runs}");
        }
        if let Some(line) = first(&self.sum.candidates) {
            return format!("no thread came to {line} on the same object, within the unit, in {runs}");
        }
        if self.sum.holds == 0 {
            return format!(
                "{runs} found no moment to hold a thread: at most {} threads came to its steps",
                self.sum.threads
            );
        }
        let partner = self.lines.first().map_or("its step", String::as_str);
        let partner = self
            .lines
            .get(1)
            .filter(|_| self.lines.len() > 2)
            .map_or(partner, String::as_str);
        if self.ended(Released::Lock) * 2 > self.sum.holds {
            return format!(
                "a thread was held {} in {runs}, but the partner needs a lock that it has before it can come to {partner}",
                times(self.sum.holds)
            );
        }
        let mut ends = Vec::new();
        for (why, words) in [
            (Released::Idle, "no other thread could run"),
            (Released::Cap, "the longest hold was over"),
            (Released::Lock, "a thread needed a lock of the held one"),
            (Released::Reached, "the step came and the pattern was not complete"),
            (Released::Reset, "the held thread's part was over"),
        ] {
            if self.ended(why) > 0 {
                ends.push(format!("{} {words}", times(self.ended(why))));
            }
        }
        format!(
            "a thread was held {} in {runs}, but no other came to {partner} meanwhile: {}",
            times(self.sum.holds),
            ends.join(", ")
        )
    }

    fn words(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (step, line) in self.lines.iter().enumerate() {
            let of = |counts: &[u64]| counts.get(step).copied().unwrap_or(0);
            all.push(match self.sum.instrumented.get(step) {
                Some(false) => format!("step {}, {line}: not instrumented", step + 1),
                _ => format!(
                    "step {}, {line}: {} visits, {} by a thread that could take it",
                    step + 1,
                    of(&self.sum.visits),
                    of(&self.sum.candidates)
                ),
            });
        }
        let ended: Vec<String> = [
            (Released::Reached, "reached"),
            (Released::Idle, "idle"),
            (Released::Lock, "lock needed"),
            (Released::Cap, "time over"),
            (Released::Reset, "given up"),
        ]
        .iter()
        .filter(|(why, _)| self.ended(*why) > 0)
        .map(|(why, words)| format!("{words} {}", self.ended(*why)))
        .collect();
        all.push(format!(
            "{} runs, {} threads, {} holds ({}), {} ms held, happened {}",
            self.runs,
            self.sum.threads,
            self.sum.holds,
            ended.join(", "),
            self.sum.held_millis,
            times(self.sum.facts)
        ));
        all
    }
}
