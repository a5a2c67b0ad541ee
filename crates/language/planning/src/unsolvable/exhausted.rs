//! Reasons from further searches, where a search of all states showed that there is no plan: few goals that have no plan either.

use super::{Reason, ReasonKind, list, place_of_goal};
use crate::lifted::LiftedTask;
use crate::resources::ResourceLimits;
use crate::search::{Algorithm, Outcome, run_search};
use crate::task::{Condition, Fact, GroundTask, SourcePlace};

/// Longest chain of facts that is followed.
const MAX_CHAIN: usize = 4;
/// Most operators whose conditions are searched for.
const MAX_OPERATORS: usize = 8;
/// Fewest states that the further searches may keep.
const MIN_STATES: u64 = 20_000;
/// Most goals that a message names.
const MAX_GOALS: usize = 5;

/// Explains why a task has no plan, which a search showed that generated so many states, by searches for parts of its goal that have none.
/// Together they keep at most half as many, or 20,000 if that is more.
pub(super) fn explain(
    lifted: &LiftedTask,
    task: &GroundTask,
    generated: u64,
    resources: &mut dyn ResourceLimits,
) -> Vec<Reason> {
    // Goals on numbers cannot be named, and the literals alone may have a plan.
    if !task.goal.numeric.is_empty() {
        return Vec::new();
    }
    let mut parts = Parts { task: task.clone(), states: (generated / 2).max(MIN_STATES), resources };
    let goals = parts.smallest(&literals(&task.goal));
    let mut texts: Vec<String> = goals.iter().take(MAX_GOALS).map(|&g| text(task, g)).collect();
    if goals.len() > MAX_GOALS {
        texts.push(format!("{} more", goals.len() - MAX_GOALS));
    }
    let message = match texts.as_slice() {
        [] => return Vec::new(),
        [one] => format!("the goal {one} can never become true"),
        many => format!("the goals {} can never hold together", list(many)),
    };
    let message = format!("{message}: every state that can lead there was searched");
    let place = place_of_goal(lifted, &task.facts[goals[0].0 as usize]);
    let mut reasons = vec![Reason { kind: ReasonKind::UnreachableGoal, message, place }];
    let mut next = <[Literal; 1]>::try_from(goals).ok().map(|[goal]| goal);
    while let Some(literal) = next.take()
        && reasons.len() <= MAX_CHAIN
        && let Some((message, schema, cause)) = parts.why_never(literal)
    {
        let place = SourcePlace::domain(lifted.schemas[schema as usize].span);
        let reason = Reason { kind: ReasonKind::MissingAchiever, message, place };
        if reasons.contains(&reason) {
            break;
        }
        reasons.push(reason);
        next = cause;
    }
    if reasons.iter().any(|r| r.message.contains('@')) {
        // Facts that the normaliser invented have no name in the domain.
        return Vec::new();
    }
    reasons
}

/// A fact, and true if it is negated.
type Literal = (Fact, bool);

fn literals(condition: &Condition) -> Vec<Literal> {
    let positive = condition.positive.iter().map(|&f| (f, false));
    positive.chain(condition.negative.iter().map(|&f| (f, true))).collect()
}

fn text(task: &GroundTask, (fact, negated): Literal) -> String {
    let atom = task.symbols.atom(&task.facts[fact as usize]);
    if negated { format!("(not {atom})") } else { atom }
}

/// Searches for parts of conditions.
struct Parts<'r> {
    /// The task, with the goal of the last search.
    task: GroundTask,
    /// States that may still be kept.
    states: u64,
    resources: &'r mut dyn ResourceLimits,
}

impl Parts<'_> {
    /// Returns true if a search proves that literals never hold together.
    fn is_impossible(&mut self, literals: &[Literal]) -> bool {
        let of = |negated: bool| -> Box<[Fact]> {
            let mut facts: Vec<Fact> = literals.iter().filter(|l| l.1 == negated).map(|l| l.0).collect();
            facts.sort_unstable();
            facts.dedup();
            facts.into()
        };
        self.task.goal = Condition { positive: of(false), negative: of(true), ..Condition::default() };
        if self.states == 0 {
            return false;
        }
        let found = run_search(&self.task, Algorithm::Greedy, self.states, self.resources);
        self.states = self.states.saturating_sub(found.statistics.generated + 1);
        found.outcome == Outcome::Unsolvable && !found.is_inexact
    }

    /// Leaves out literals, one at a time, as long as the others still never hold together.
    fn smallest(&mut self, literals: &[Literal]) -> Vec<Literal> {
        let mut kept = literals.to_vec();
        for &literal in literals {
            let rest: Vec<Literal> = kept.iter().copied().filter(|&l| l != literal).collect();
            if !rest.is_empty() && self.is_impossible(&rest) {
                kept = rest;
            }
        }
        kept
    }

    /// Why no action adds a fact, the first such action, and a literal that it needs and that never holds.
    fn why_never(&mut self, (fact, negated): Literal) -> Option<(String, u32, Option<Literal>)> {
        let adds = |list: &[Fact]| list.contains(&fact);
        let operators = &self.task.operators;
        let is_simple = operators.iter().all(|o| o.conditional.iter().all(|c| !adds(&c.add)));
        let adders: Vec<usize> = (0..operators.len()).filter(|&o| adds(&operators[o].add)).collect();
        if negated || !is_simple || adders.is_empty() || adders.len() > MAX_OPERATORS {
            return None;
        }
        let mut clauses: Vec<String> = Vec::new();
        let mut cause = None;
        for &o in &adders {
            let needs = literals(&self.task.operators[o].precondition);
            if !self.is_impossible(&needs) {
                return None;
            }
            let needs = self.smallest(&needs);
            let texts: Vec<String> = needs.iter().map(|&l| text(&self.task, l)).collect();
            let together = if texts.len() > 1 { " together" } else { "" };
            let name = &self.task.symbols.actions[self.schema(o) as usize];
            let clause = format!("{name}, which needs {}{together}", list(&texts));
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
            if let [one] = needs.as_slice() {
                cause = cause.or(Some(*one));
            }
        }
        let schema = self.schema(adders[0]);
        let message =
            format!("{} is added only by {}", text(&self.task, (fact, negated)), clauses.join(", and by "));
        Some((message, schema, cause))
    }

    fn schema(&self, operator: usize) -> u32 {
        self.task.actions[self.task.operators[operator].action as usize].action
    }
}
