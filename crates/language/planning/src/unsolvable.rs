//! Explains why a task has no plan. Delete relaxation shows atoms that nothing can make true; where it reaches the goal, pairs of literals
//! show what can never hold together; where these do too, searches find few goals that have no plan.

mod exhausted;
mod pairs;

use crate::ground::{GroundLimits, Reachability};
use crate::lifted::{ActionSchema, EffectChange, Formula, LiftedAtom, LiftedExpr, LiftedTask, Term};
use crate::resources::{ResourceLimits, ScopedLimits, StopReason};
use crate::satisfy::{Cut, Interpretation, Work, conjuncts, holds};
use crate::task::{Atom, GroundTask, ObjectId, SourcePlace, TaskText};
use crate::validate::condition_text;
use planforge_diagnostics::{Diagnostic, Span};
use planforge_pddl::ast::CompareOp;
use rustc_hash::FxHashSet;

/// Longest chain of missing achievers that is followed.
const MAX_DEPTH: usize = 8;

/// One reason, with the place it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Kind of the reason.
    pub kind: ReasonKind,
    /// One sentence, without a full stop.
    pub message: String,
    /// Place in the domain or problem.
    pub place: SourcePlace,
}

/// Kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasonKind {
    /// A part of the goal that can never hold.
    UnreachableGoal,
    /// The first thing missing on the way to it.
    MissingAchiever,
    /// Two literals that can never hold together.
    NeverTogether,
    /// An action that is never applicable.
    NeverApplicable,
    /// A predicate that is needed, never holds initially and that nothing adds.
    NeverAdded,
}

/// The reasons, the most direct first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The reasons. Contains no [`ReasonKind::UnreachableGoal`] if only the search showed that there is no plan and no goals without a plan
    /// could be named, or if a limit prevented the search for reasons: then they are what else is striking.
    pub reasons: Vec<Reason>,
    /// The limit that ended the search for reasons. Those found before it are there.
    pub stopped: Option<StopReason>,
}

impl Explanation {
    /// The first sentence where the reasons do not show that there is no plan.
    pub fn headline(&self) -> Option<String> {
        if self.reasons.iter().any(|r| r.kind == ReasonKind::UnreachableGoal) {
            return None;
        }
        Some(match self.stopped {
            Some(reason) => format!("{reason} ended the search for the reasons."),
            None => {
                "Every state from which the goal might be reached was searched, and the goal holds in none of them."
                    .to_owned()
            }
        })
    }

    /// The reasons as one paragraph.
    pub fn text(&self) -> String {
        let reasons = self.reasons.iter().map(|r| format!("{}.", r.message));
        self.headline().into_iter().chain(reasons).collect::<Vec<_>>().join(" ")
    }

    /// The reasons as diagnostics (advice), for rendering with the source.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let one = |r: &Reason| {
            let code = match r.kind {
                ReasonKind::UnreachableGoal => "planning.goal-unreachable",
                ReasonKind::MissingAchiever => "planning.missing-achiever",
                ReasonKind::NeverTogether => "planning.never-together",
                ReasonKind::NeverApplicable => "planning.never-applicable",
                ReasonKind::NeverAdded => "planning.never-added",
            };
            Diagnostic::advice(code, r.message.clone()).at(r.place.text.source(), r.place.span, "")
        };
        self.reasons.iter().map(one).collect()
    }
}

/// Explains why delete relaxation or pairs of literals do not reach the goal; without reasons of the first kind where both do.
pub fn why_unsolvable(task: &LiftedTask, resources: &mut dyn ResourceLimits) -> Explanation {
    let reach = match Reachability::new(task, GroundLimits::default(), resources) {
        Ok(reach) => reach,
        Err(reason) => return Explanation { reasons: Vec::new(), stopped: Some(reason) },
    };
    let (mut added, mut deleted) = (vec![false; task.predicates.len()], vec![false; task.predicates.len()]);
    for (change, _) in task.schemas.iter().flat_map(|s| &s.effects).flat_map(|g| &g.changes) {
        match change {
            EffectChange::Add(atom) => added[atom.predicate as usize] = true,
            EffectChange::Delete(atom) => deleted[atom.predicate as usize] = true,
            EffectChange::Numeric(..) => {}
        }
    }
    let seen = FxHashSet::default();
    let mut search = ReasonSearch { task, reach, added, deleted, reasons: Vec::new(), seen };
    let mut work = Work::new(resources);
    // What a limit cuts is left out: it is not shown to be out of reach.
    let mut stopped = match search.run(&mut work) {
        Ok(()) | Err(Cut::Inexact) => None,
        Err(Cut::Limit(reason)) => Some(reason),
    };
    drop(work);
    let is_found = search.reasons.iter().any(|r| r.kind == ReasonKind::UnreachableGoal);
    if !is_found && stopped.is_none() && task.unsupported.is_empty() {
        match pairs::explain(task, &mut ScopedLimits::new(resources)) {
            Ok(reasons) => search.reasons.extend(reasons),
            Err(reason) => stopped = Some(reason),
        }
    }
    search.reasons.sort_by_key(|r| match r.kind {
        ReasonKind::UnreachableGoal => 0,
        ReasonKind::MissingAchiever | ReasonKind::NeverTogether => 1,
        ReasonKind::NeverAdded => 2,
        ReasonKind::NeverApplicable => 3,
    });
    Explanation { reasons: search.reasons, stopped }
}

/// [`why_unsolvable`] of a task of which a search showed that it has no plan, after it had generated so many states.
pub(crate) fn why_exhausted(
    lifted: &LiftedTask,
    task: &GroundTask,
    generated: u64,
    resources: &mut dyn ResourceLimits,
) -> Explanation {
    let mut why = why_unsolvable(lifted, resources);
    if why.headline().is_some() && why.stopped.is_none() {
        let reasons = exhausted::explain(lifted, task, generated, resources);
        why.reasons.splice(0..0, reasons);
    }
    why
}

struct ReasonSearch<'t> {
    task: &'t LiftedTask,
    reach: Reachability,
    /// For each predicate, true if some effect adds it.
    added: Vec<bool>,
    /// For each predicate, true if some effect deletes it.
    deleted: Vec<bool>,
    reasons: Vec<Reason>,
    seen: FxHashSet<(u32, Vec<Option<ObjectId>>)>,
}

type Pattern = Vec<Option<ObjectId>>;

/// An atom on the chain of missing achievers.
struct Needed {
    predicate: u32,
    pattern: Pattern,
    text: String,
}

/// Returns true if two patterns have a common instance.
fn overlap(a: &[Option<ObjectId>], b: &[Option<ObjectId>]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.is_none() || y.is_none() || x == y)
}

/// Atoms that may hold in some relaxed state.
struct RelaxedStates<'t> {
    task: &'t LiftedTask,
    reach: &'t Reachability,
    deleted: &'t [bool],
}

impl Interpretation for RelaxedStates<'_> {
    fn literal(&self, atom: &LiftedAtom, negated: bool, binding: &[ObjectId]) -> bool {
        let ground = atom.instantiate(binding);
        if !negated {
            return self.reach.contains(atom.predicate, &ground.args);
        }
        self.deleted[atom.predicate as usize] || self.task.init.binary_search(&ground).is_err()
    }

    fn compare(
        &self,
        _comparison: CompareOp,
        _left: &LiftedExpr,
        _right: &LiftedExpr,
        _binding: &[ObjectId],
    ) -> Result<bool, Cut> {
        Ok(true)
    }

    fn row_count(&self, predicate: u32) -> usize {
        self.reach.row_count(predicate)
    }

    fn rows(&self, predicate: u32) -> Vec<&[ObjectId]> {
        self.reach.rows(predicate)
    }
}

impl ReasonSearch<'_> {
    fn run(&mut self, work: &mut Work<'_>) -> Result<(), Cut> {
        let task = self.task;
        for part in conjuncts(&task.goal) {
            self.goal(part, work)?;
        }
        self.actions(work)?;
        self.predicates(work)?;
        Ok(())
    }

    fn push(
        &mut self,
        kind: ReasonKind,
        message: String,
        place: SourcePlace,
        work: &mut Work<'_>,
    ) -> Result<(), StopReason> {
        work.charge(message.len() as u64)?;
        let reason = Reason { kind, message, place };
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
        Ok(())
    }

    fn goal(&mut self, part: &Formula, work: &mut Work<'_>) -> Result<(), Cut> {
        let mut binding = vec![ObjectId::MAX; self.task.goal_slots];
        let relaxed = RelaxedStates { task: self.task, reach: &self.reach, deleted: &self.deleted };
        if holds(&relaxed, part, &mut binding, work)? {
            return Ok(());
        }
        let text = condition_text(self.task, part, &binding);
        match part {
            Formula::Literal { atom, negated: false, span } => {
                let place = SourcePlace::problem(*span);
                self.push(
                    ReasonKind::UnreachableGoal,
                    format!("the goal {text} can never become true"),
                    place,
                    work,
                )?;
                let pattern: Pattern = atom.args.iter().map(|t| bound_object(*t, &binding)).collect();
                self.missing(atom.predicate, pattern, place, work)?;
            }
            Formula::Literal { span, .. } => {
                let message = format!(
                    "the goal {text} can never hold: the atom holds initially and no action deletes it"
                );
                self.push(ReasonKind::UnreachableGoal, message, SourcePlace::problem(*span), work)?;
            }
            other => {
                let span = span_of(other).unwrap_or_default();
                self.push(
                    ReasonKind::UnreachableGoal,
                    format!("the goal {text} can never hold"),
                    SourcePlace::problem(span),
                    work,
                )?;
            }
        }
        Ok(())
    }

    fn pattern_text(&self, predicate: u32, pattern: &[Option<ObjectId>]) -> String {
        self.task.symbols.pattern(predicate, pattern)
    }

    /// Follows an unreachable atom back to the first thing that is missing: one chain, through the precondition that most
    /// achievers share.
    fn missing(
        &mut self,
        predicate: u32,
        pattern: Pattern,
        place: SourcePlace,
        work: &mut Work<'_>,
    ) -> Result<(), StopReason> {
        let mut chain: Vec<Needed> = Vec::new();
        let mut current = (predicate, pattern, place);
        loop {
            let text = self.pattern_text(current.0, &current.1);
            if let Some(start) =
                chain.iter().position(|n| n.predicate == current.0 && overlap(&n.pattern, &current.1))
            {
                let circle: Vec<&str> = chain[start..].iter().map(|n| n.text.as_str()).collect();
                let message = if circle.len() > 1 {
                    format!(
                        "{} need one another: one of them would have to hold initially",
                        circle.join(", ")
                    )
                } else {
                    format!("{text} is needed to bring it about: it would have to hold initially")
                };
                return self.push(ReasonKind::MissingAchiever, message, current.2, work);
            }
            if chain.len() > MAX_DEPTH || !self.seen.insert((current.0, current.1.clone())) {
                return Ok(());
            }
            let Some(next) = self.achievers(current.0, &current.1, &text, current.2, work)? else {
                return Ok(());
            };
            chain.push(Needed { predicate: current.0, pattern: current.1, text });
            current = next;
        }
    }

    /// Reports the actions that could add an atom and the conditions that prevent them. Returns the atoms to
    /// follow next.
    fn achievers(
        &mut self,
        predicate: u32,
        pattern: &[Option<ObjectId>],
        text: &str,
        place: SourcePlace,
        work: &mut Work<'_>,
    ) -> Result<Option<(u32, Pattern, SourcePlace)>, StopReason> {
        let task = self.task;
        if task.predicates[predicate as usize].derived {
            let message = format!("no rule ever yields the derived {text}");
            self.push(ReasonKind::MissingAchiever, message, place, work)?;
            return Ok(None);
        }
        let mut clauses: Vec<String> = Vec::new();
        let mut blocked: Vec<(usize, u32, Pattern, SourcePlace)> = Vec::new();
        let adds = task.schemas.iter().enumerate().flat_map(|(n, s)| {
            s.effects.iter().flat_map(|g| &g.changes).filter_map(move |(change, _)| match change {
                EffectChange::Add(atom) if atom.predicate == predicate => Some((n, s, atom)),
                _ => None,
            })
        });
        for (number, schema, atom) in adds {
            work.tick()?;
            let Some(binding) = unify(atom, pattern, schema) else { continue };
            let name = &task.symbols.actions[number];
            let mut needs = Vec::new();
            for (needed, span) in required_atoms(&schema.precondition) {
                let wanted: Pattern = needed.args.iter().map(|t| partial(*t, &binding)).collect();
                if self.reach.matches(needed.predicate, &wanted, work)? {
                    continue;
                }
                needs.push(self.pattern_text(needed.predicate, &wanted));
                match blocked.iter_mut().find(|b| b.1 == needed.predicate && b.2 == wanted) {
                    Some(known) => known.0 += 1,
                    None => blocked.push((1, needed.predicate, wanted, SourcePlace::domain(span))),
                }
            }
            let clause = match (needs.is_empty(), self.reach.is_applicable(number)) {
                (false, _) => format!("{name}, which needs {}", needs.join(" and ")),
                (true, true) => format!("{name}, which is never applicable with these arguments"),
                (true, false) => format!("{name}, whose conditions never hold together"),
            };
            work.charge(clause.len() as u64)?;
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
        }
        if clauses.is_empty() {
            let message = format!("no action adds {text}, and it does not hold initially");
            self.push(ReasonKind::MissingAchiever, message, place, work)?;
            return Ok(None);
        }
        let message = format!("{text} is added only by {}", clauses.join(", and by "));
        self.push(ReasonKind::MissingAchiever, message, place, work)?;
        // The first of those that most achievers share.
        Ok(blocked
            .into_iter()
            .rev()
            .max_by_key(|b| b.0)
            .map(|(_, predicate, wanted, place)| (predicate, wanted, place)))
    }

    fn actions(&mut self, work: &mut Work<'_>) -> Result<(), StopReason> {
        for (number, schema) in self.task.schemas.iter().enumerate() {
            work.tick()?;
            if self.reach.is_applicable(number) {
                continue;
            }
            let name = self.task.symbols.actions[number].clone();
            let unbound = vec![None; schema.slots];
            let mut first = None;
            for (atom, span) in required_atoms(&schema.precondition) {
                let pattern: Pattern = atom.args.iter().map(|t| partial(*t, &unbound)).collect();
                if !self.reach.matches(atom.predicate, &pattern, work)? {
                    first = Some((self.pattern_text(atom.predicate, &pattern), span));
                    break;
                }
            }
            let empty = schema.variables.iter().find(|v| v.objects.is_empty());
            let (message, span) = match (first, empty) {
                (_, Some(v)) => (
                    format!("{name} is never applicable: there is no object of type {}", v.type_name),
                    schema.span,
                ),
                (Some((text, span)), _) => {
                    (format!("{name} is never applicable: {text} can never hold"), span)
                }
                (None, None) => {
                    (format!("{name} is never applicable: its conditions never hold together"), schema.span)
                }
            };
            self.push(ReasonKind::NeverApplicable, message, SourcePlace::domain(span), work)?;
        }
        Ok(())
    }

    fn predicates(&mut self, work: &mut Work<'_>) -> Result<(), StopReason> {
        let mut needed: FxHashSet<u32> = FxHashSet::default();
        for schema in &self.task.schemas {
            schema.precondition.for_each_literal(&mut |atom, negated, _| {
                if !negated {
                    needed.insert(atom.predicate);
                }
            });
        }
        self.task.goal.for_each_literal(&mut |atom, _, _| {
            needed.insert(atom.predicate);
        });
        let mut needed: Vec<u32> = needed.into_iter().collect();
        needed.sort_unstable();
        let initially: FxHashSet<u32> = self.task.init.iter().map(|atom| atom.predicate).collect();
        for predicate in needed {
            let declared = &self.task.predicates[predicate as usize];
            if !self.added[predicate as usize] && !initially.contains(&predicate) && !declared.derived {
                let name = &self.task.symbols.predicates[predicate as usize];
                let message = format!("{name} is needed, but no action adds it and it never holds initially");
                self.push(
                    ReasonKind::NeverAdded,
                    message,
                    SourcePlace { text: TaskText::Domain, span: declared.span },
                    work,
                )?;
            }
        }
        Ok(())
    }
}

/// Atoms that a condition requires in any case.
fn required_atoms(formula: &Formula) -> Vec<(&LiftedAtom, Span)> {
    match formula {
        Formula::And(parts) => parts.iter().flat_map(required_atoms).collect(),
        Formula::Exists(_, body, _) => required_atoms(body),
        Formula::Literal { atom, negated: false, span } => vec![(atom, *span)],
        _ => Vec::new(),
    }
}

/// Place of a goal that is an atom or its negation, otherwise of the whole goal.
fn place_of_goal(task: &LiftedTask, wanted: &Atom) -> SourcePlace {
    let is_it = |part: &&Formula| match part {
        Formula::Literal { atom, .. } => atom.instantiate(&[]) == *wanted,
        _ => false,
    };
    let part = conjuncts(&task.goal).iter().find(is_it);
    SourcePlace::problem(part.and_then(span_of).or(span_of(&task.goal)).unwrap_or_default())
}

/// Texts as a list with `and` before the last.
fn list(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn bound_object(term: Term, binding: &[ObjectId]) -> Option<ObjectId> {
    Some(term.object(binding)).filter(|o| *o != ObjectId::MAX)
}

fn partial(term: Term, binding: &[Option<ObjectId>]) -> Option<ObjectId> {
    match term {
        Term::Slot(slot) => binding[slot as usize],
        Term::Object(object) => Some(object),
    }
}

/// The binding under which an effect adds the pattern; `None` where it cannot.
fn unify(
    atom: &LiftedAtom,
    pattern: &[Option<ObjectId>],
    schema: &ActionSchema,
) -> Option<Vec<Option<ObjectId>>> {
    let mut binding = vec![None; schema.slots];
    for (term, wanted) in atom.args.iter().zip(pattern) {
        let Some(wanted) = wanted else { continue };
        match term {
            Term::Object(object) if object != wanted => return None,
            Term::Object(_) => {}
            Term::Slot(slot) => {
                let known = &mut binding[*slot as usize];
                if known.is_some_and(|k| k != *wanted) {
                    return None;
                }
                *known = Some(*wanted);
                let variable = schema.variables.iter().find(|v| v.slot == *slot);
                if variable.is_some_and(|v| v.objects.binary_search(wanted).is_err()) {
                    return None;
                }
            }
        }
    }
    Some(binding)
}

fn span_of(formula: &Formula) -> Option<Span> {
    match formula {
        Formula::And(parts) => parts.iter().find_map(span_of),
        Formula::Or(_, span)
        | Formula::Literal { span, .. }
        | Formula::Equal { span, .. }
        | Formula::Compare { span, .. }
        | Formula::Exists(_, _, span)
        | Formula::Forall(_, _, span) => Some(*span),
    }
}
