//! Equality of two problems after completing each goal with its consequences: equal up to renaming in
//! everything but the goal, and satisfied by the same reachable states.
//!
//! The goal states of a problem are the reachable states that satisfy its goal. Two problems are
//! *goal-equivalent* if one renaming makes initial states, numbers, constraints and metrics equal and maps
//! the goal states of one onto those of the other. (Equal initial states imply equal reachable states.) To
//! compare sets of states under every renaming at once, each goal is replaced by a formula that describes the
//! set and is renamed with the objects. The resulting problems are compared by their text.
//!
//! * **A conjunction of literals** is replaced by its *closure*: all literals that hold in every goal state. The goal states are the
//!   reachable states in which the closure holds, because the goal is part of it. The closure is defined by the
//!   set alone, so a renaming that maps the sets onto each other maps the closures onto each other. Complete
//!   closures therefore decide the question both ways. A *part* of the closure that contains the goal still
//!   describes the same set: equal is sound with any such part, different only with all of it.
//! * If either is **another goal**, both are replaced by the lists of their goal states, provided that all reachable states were visited.
//! * **Goals that no reachable state satisfies** are the same.
//!
//! The literals of all goal states are bounded from below by proofs (invariants, exhausted searches) and from
//! above by goal states that were found; see `closure`. Costs: all states, at most
//! [`GoalLimits::max_states`], times the applicable operators; pairs of facts, operators times the square of
//! the facts over 64 a round; and [`GoalLimits::max_questions`] searches.

mod closure;

use super::{ComparedSide, ProblemDifference, ProblemEquivalence, equivalent_problems};
use crate::bits;
use crate::ground::{GroundLimits, ground};
use crate::normalize::normalize;
use crate::resources::{ResourceLimits, StopReason};
use crate::task::{Fact, GroundTask};
use closure::{Closure, Sample, is_conjunctive};
use planforge_diagnostics::Span;
use planforge_pddl::Name;
use planforge_pddl::ast::{Atom, Condition, Domain, Problem, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Limits of [`equivalent_goals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalLimits {
    /// Most pairs of objects tried in one comparison.
    pub max_choices: u64,
    /// Most states visited to list all reachable ones.
    pub max_states: u64,
    /// Most states of one search for a goal state that rules a literal out; the first search may have as many as `max_states`.
    pub max_nodes: u64,
    /// Most such searches for one problem.
    pub max_questions: u32,
    /// Caps on the number of ground atoms and actions.
    pub ground: GroundLimits,
}

impl Default for GoalLimits {
    fn default() -> Self {
        Self {
            max_choices: 1_000_000,
            max_states: 100_000,
            max_nodes: 10_000,
            max_questions: 500,
            ground: GroundLimits { instances: 500_000, atoms: 500_000, formula_parts: 5_000_000 },
        }
    }
}

/// Comparison of two problems by their goal states.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalEquivalence {
    /// The result.
    pub outcome: GoalOutcome,
    /// For each problem, the literals that are proved to hold in every goal state and that its goal omits:
    /// `(clear a)`, `(not (on a b))`, positive ones first. Empty if the result needs none.
    pub added: [Vec<String>; 2],
}

/// The answer of [`equivalent_goals`].
#[derive(Debug, Clone, PartialEq)]
pub enum GoalOutcome {
    /// They are the same under this renaming: (object of the first, object of the second).
    Equal {
        /// The renaming, as in [`ProblemEquivalence::Equal`].
        renaming: Vec<(String, String)>,
    },
    /// No renaming makes them the same.
    Different {
        /// Facts that the problems as written do not share.
        difference: ProblemDifference,
        /// A reachable state that satisfies one goal and not the other. `None` where the problems differ in more than the
        /// goal, so that no renaming lets their states correspond.
        witness: Option<Witness>,
    },
    /// Neither equality nor a difference was shown.
    Undecided {
        /// The reason, as a clause.
        why: String,
        /// The budget's reason, where it ended the work.
        stopped: Option<StopReason>,
        /// True if the problems have an unsupported construct, so that no higher limit would help.
        unsupported: bool,
    },
}

/// Compares two problems of a domain by their goal states. The module documentation defines the question and
/// the method.
pub fn equivalent_goals(
    domain: &Domain,
    first: &Problem,
    second: &Problem,
    limits: &GoalLimits,
    resources: &mut dyn ResourceLimits,
) -> GoalEquivalence {
    let mut comparison = GoalComparison { domain, problems: [first, second], limits, resources };
    let mut added = [Vec::new(), Vec::new()];
    let outcome = match comparison.decide(&mut added) {
        Ok(outcome) => outcome,
        Err(Open::Stopped(reason)) => {
            let why = format!("{reason} was reached");
            GoalOutcome::Undecided { why, stopped: Some(reason), unsupported: false }
        }
        Err(Open::Because(why)) => GoalOutcome::Undecided { why, stopped: None, unsupported: false },
        Err(Open::Unsupported(why)) => GoalOutcome::Undecided { why, stopped: None, unsupported: true },
    };
    GoalEquivalence { outcome, added }
}

/// Reason why a question stays open.
enum Open {
    Stopped(StopReason),
    Because(String),
    Unsupported(String),
}

impl From<StopReason> for Open {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

struct GoalComparison<'a> {
    domain: &'a Domain,
    problems: [&'a Problem; 2],
    limits: &'a GoalLimits,
    resources: &'a mut dyn ResourceLimits,
}

impl GoalComparison<'_> {
    fn decide(&mut self, added: &mut [Vec<String>; 2]) -> Result<GoalOutcome, Open> {
        let written = self.compare(self.problems[0], self.problems[1])?;
        let ProblemComparison::Different(difference) = written else { return Ok(written.outcome()) };
        let without = self.problems.map(|p| Problem { goal: None, ..p.clone() });
        let ProblemComparison::Equal(renaming) = self.compare(&without[0], &without[1])? else {
            return Ok(GoalOutcome::Different { difference, witness: None });
        };
        let tasks = [self.ground(0)?, self.ground(1)?];
        let list = !tasks.iter().all(|task| closure::is_conjunctive(task));
        let [first, second] = tasks;
        let a = Closure::find(first, list, self.limits, self.resources)?;
        let b = Closure::find(second, list, self.limits, self.resources)?;
        // Of a goal that no state satisfies, everything follows.
        for (list, closure) in added.iter_mut().zip([&a, &b]).filter(|(_, c)| c.reachable != Some(false)) {
            let text = |(fact, sign)| literal_text(&closure.task, fact, sign);
            *list = closure.literals(true).into_iter().map(text).collect();
        }
        if let (Some(false), Some(false)) = (a.reachable, b.reachable) {
            return Ok(GoalOutcome::Equal { renaming });
        }
        let different = |difference| match find([&a, &b], &renaming) {
            Some(witness) => Ok(GoalOutcome::Different { difference, witness: Some(witness) }),
            None => Err(Open::Because("no state was found that tells the goals apart".to_owned())),
        };
        if a.reachable.is_some() && b.reachable.is_some() && a.reachable != b.reachable {
            return different(difference);
        }
        let close_goal = [close_goal(self.problems[0], &a, list), close_goal(self.problems[1], &b, list)];
        if let ProblemComparison::Equal(renaming) =
            self.compare(&close_goal[0].problem, &close_goal[1].problem)?
        {
            return Ok(GoalOutcome::Equal { renaming });
        }
        if close_goal.iter().all(|c| c.complete) {
            return different(difference);
        }
        if includes([&a, &b], &renaming) {
            return Ok(GoalOutcome::Equal { renaming });
        }
        Err(Open::Because(
            "what holds in every goal state is not known in full: some searches ended at their limits"
                .to_owned(),
        ))
    }

    fn compare(&mut self, a: &Problem, b: &Problem) -> Result<ProblemComparison, Open> {
        match equivalent_problems(self.domain, a, b, self.limits.max_choices, self.resources) {
            ProblemEquivalence::Equal { renaming } => Ok(ProblemComparison::Equal(renaming)),
            ProblemEquivalence::Different(difference) => Ok(ProblemComparison::Different(difference)),
            ProblemEquivalence::Undecided { stopped: Some(reason), .. } => Err(Open::Stopped(reason)),
            ProblemEquivalence::Undecided { choices, .. } => {
                Err(Open::Because(format!("the limit on pairs was reached after {choices} pairs of objects")))
            }
        }
    }

    fn ground(&mut self, side: usize) -> Result<Arc<GroundTask>, Open> {
        let which = ["first", "second"][side];
        let lifted = normalize(self.domain, self.problems[side]).map_err(|found| {
            let message = found.first().map(|d| d.message.clone()).unwrap_or_default();
            Open::Unsupported(format!("the {which} problem has no states: {message}"))
        })?;
        let not_executed =
            |what: &str| Open::Unsupported(format!("the states of a task with {what} are not seen"));
        if let Some(unsupported) = lifted.unsupported.first() {
            return Err(not_executed(&unsupported.what));
        }
        let task = ground(&lifted, self.limits.ground, self.resources)?;
        match &task.numeric_condition {
            Some(unsupported) => Err(not_executed(&unsupported.what)),
            None => Ok(Arc::new(task)),
        }
    }
}

/// A comparison that was decided.
enum ProblemComparison {
    Equal(Vec<(String, String)>),
    Different(ProblemDifference),
}

impl ProblemComparison {
    fn outcome(self) -> GoalOutcome {
        match self {
            Self::Equal(renaming) => GoalOutcome::Equal { renaming },
            Self::Different(difference) => GoalOutcome::Different { difference, witness: None },
        }
    }
}

/// A problem whose goal was replaced.
struct ClosedProblem {
    problem: Problem,
    /// True if the new goal is determined by the set of goal states alone.
    complete: bool,
}

/// Replaces the problem's goal by a description of its goal states: by their `list`, if it is requested and
/// complete, otherwise by the proved literals, together with a goal that is not a conjunction.
fn close_goal(problem: &Problem, closure: &Closure, list: bool) -> ClosedProblem {
    let task = &closure.task;
    let with = |goal: Condition, complete| ClosedProblem {
        problem: Problem { goal: Some(goal), ..problem.clone() },
        complete,
    };
    if let Some(all) = &closure.all {
        let state = |sample: &Sample| {
            let facts = crate::bits::ones(&sample.state).filter(|&f| Closure::is_visible(task, f));
            conjunction(facts.map(|f| literal(task, f, true)).collect())
        };
        return with(Condition::Or(all.iter().map(state).collect(), Span::default()), true);
    }
    let mut parts: Vec<Condition> =
        closure.literals(false).into_iter().map(|(fact, sign)| literal(task, fact, sign)).collect();
    if !closure::is_conjunctive(task) {
        parts.extend(problem.goal.clone());
    }
    with(conjunction(parts), !list && closure.exact)
}

fn conjunction(parts: Vec<Condition>) -> Condition {
    Condition::And(parts, Span::default())
}

fn literal(task: &GroundTask, fact: Fact, sign: bool) -> Condition {
    let atom = &task.facts[fact as usize];
    let name = |text: &String| Term::Constant(Name::synthetic(text));
    let atom = Condition::Atom(Atom {
        predicate: Name::synthetic(&task.symbols.predicates[atom.predicate as usize]),
        args: atom.args.iter().map(|&o| name(&task.symbols.objects[o as usize])).collect(),
        span: Span::default(),
    });
    if sign { atom } else { Condition::Not(Box::new(atom), Span::default()) }
}

fn literal_text(task: &GroundTask, fact: Fact, sign: bool) -> String {
    let text = task.symbols.atom(&task.facts[fact as usize]);
    if sign { text } else { format!("(not {text})") }
}

/// A reachable state that satisfies one goal and not the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// The side whose goal it satisfies. The other fields use that problem's names.
    pub satisfies: ComparedSide,
    /// Steps that lead to it from the initial state.
    pub steps: Vec<String>,
    /// The facts that hold in it, without those that hold in every reachable state.
    pub facts: Vec<String>,
    /// The renaming under which it does not satisfy the other goal: (object of the first, object of the second). No other renaming
    /// makes the goals equal either.
    pub renaming: Vec<(String, String)>,
}

/// A state, as the facts that hold in it.
type Facts = Vec<Fact>;

/// The witness among the goal states that were kept. Where both goals were known in full and differ, there is one.
fn find(closures: [&Closure; 2], renaming: &[(String, String)]) -> Option<Witness> {
    for (from, satisfies) in [(0, ComparedSide::First), (1, ComparedSide::Second)] {
        let map = Mapping::new(closures, from, renaming);
        let (own, other) = (closures[from], closures[1 - from]);
        let kept = own.all.as_ref().unwrap_or(&own.samples);
        let there: Option<FxHashSet<Facts>> =
            other.all.as_ref().map(|all| all.iter().map(|s| visible(&other.task, &s.state)).collect());
        let satisfied = |sample: &&Sample| {
            let Some(state) = map.state(&own.task, &sample.state) else { return false };
            match &there {
                _ if other.reachable == Some(false) => false,
                Some(there) => there.contains(&state),
                None => holds(&other.task, &state),
            }
        };
        if let Some(sample) = kept.iter().find(|s| !satisfied(s)) {
            let task = &own.task;
            return Some(Witness {
                satisfies,
                steps: sample.steps.iter().map(|&a| task.symbols.step(&task.actions[a as usize])).collect(),
                facts: visible(task, &sample.state)
                    .into_iter()
                    .map(|f| task.symbols.atom(&task.facts[f as usize]))
                    .collect(),
                renaming: renaming.to_vec(),
            });
        }
    }
    None
}

/// Returns true if each goal, a conjunction, is among the literals proved of the other's goal states. They
/// are then the same under the renaming, even if more literals hold.
fn includes(closures: [&Closure; 2], renaming: &[(String, String)]) -> bool {
    [0, 1].into_iter().all(|from| {
        let (own, other) = (closures[from], closures[1 - from]);
        let map = Mapping::new(closures, from, renaming);
        let proved = |facts: &[Fact], there: &[u64]| {
            facts.iter().all(|f| map.fact(*f).is_some_and(|f| bits::get(there, f)))
        };
        is_conjunctive(&own.task)
            && !own.task.goal_unreachable
            && proved(&own.task.goal.positive, &other.always)
            && proved(&own.task.goal.negative, &other.never)
    })
}

/// Returns the facts of a state that are atoms of the problem, ascending.
fn visible(task: &GroundTask, state: &[u64]) -> Facts {
    bits::ones(state).filter(|&f| Closure::is_visible(task, f)).collect()
}

/// Returns true if a conjunctive goal holds in a state.
fn holds(task: &GroundTask, state: &[Fact]) -> bool {
    task.goal.positive.iter().all(|f| state.binary_search(f).is_ok())
        && task.goal.negative.iter().all(|f| state.binary_search(f).is_err())
}

/// Facts of one task as facts of the other.
struct Mapping {
    facts: Vec<Option<Fact>>,
}

impl Mapping {
    fn new(closures: [&Closure; 2], from: usize, renaming: &[(String, String)]) -> Self {
        let (own, other) = (&closures[from].task, &closures[1 - from].task);
        let names: FxHashMap<String, String> = renaming
            .iter()
            .map(|(a, b)| if from == 0 { (a, b) } else { (b, a) })
            .map(|(a, b)| (a.to_lowercase(), b.to_lowercase()))
            .collect();
        let key = |task: &GroundTask, fact: usize, rename: bool| -> Vec<String> {
            let atom = &task.facts[fact];
            let object = |o: &u32| {
                let name = task.symbols.objects[*o as usize].to_lowercase();
                if rename { names.get(&name).cloned().unwrap_or(name) } else { name }
            };
            let predicate = task.symbols.predicates[atom.predicate as usize].to_lowercase();
            std::iter::once(predicate).chain(atom.args.iter().map(object)).collect()
        };
        let theirs: FxHashMap<Vec<String>, Fact> =
            (0..other.facts.len()).map(|f| (key(other, f, false), f as Fact)).collect();
        let facts = (0..own.facts.len()).map(|f| theirs.get(&key(own, f, true)).copied()).collect();
        Self { facts }
    }

    fn fact(&self, fact: Fact) -> Option<Fact> {
        self.facts[fact as usize]
    }

    /// A state of the one task as a state of the other, ascending.
    fn state(&self, task: &GroundTask, state: &[u64]) -> Option<Facts> {
        let mut facts: Facts =
            visible(task, state).into_iter().map(|f| self.fact(f)).collect::<Option<_>>()?;
        facts.sort_unstable();
        Some(facts)
    }
}

#[cfg(test)]
mod tests;
