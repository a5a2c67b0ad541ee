//! Conditions in words: the ground text of a formula and what keeps it from holding.

use super::world::World;
use crate::lifted::{Formula, LiftedAtom, LiftedExpr, LiftedTask, Term, Variable};
use crate::satisfy::{Cut, Work, first};
use crate::task::{Atom, ObjectId, SourcePlace, TaskText};
use planforge_diagnostics::Span;
use planforge_pddl::ast::CompareOp;

/// Violating bindings of a universal condition that are listed one by one.
const LISTED_BINDINGS: usize = 5;

/// A condition that did not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedCondition {
    /// The condition with the objects filled in, as PDDL.
    pub text: String,
    /// Place of the condition.
    pub place: SourcePlace,
    /// Why the condition does not hold, as a clause.
    pub why: String,
    /// The change that would make it hold, as a clause.
    pub remedy: String,
    /// The atom, where the condition is one literal.
    pub atom: Option<Atom>,
    /// True if the literal is negative.
    pub negated: bool,
    /// The step (from 0) that gave the atom its present truth; `None` where it has been so from the start.
    pub changed_by: Option<usize>,
}

/// Binds variables to the last of their objects.
pub(super) fn bind_last(variables: &[Variable], binding: &mut [ObjectId]) {
    for variable in variables {
        binding[variable.slot as usize] = variable.objects.last().copied().unwrap_or(ObjectId::MAX);
    }
}

/// Renders and explains conditions of one task.
pub(crate) struct Explainer<'w> {
    pub(crate) task: &'w LiftedTask,
    pub(crate) world: &'w World<&'w LiftedTask>,
    pub(crate) text: TaskText,
    /// Last step that changed an atom, and its name in words.
    pub(crate) changed_by: &'w dyn Fn(&Atom) -> Option<Cause>,
}

/// A change of an atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Number of the step, from 0; `None` for a timed literal.
    pub(crate) step: Option<usize>,
    /// The change as a noun phrase: `step 3 (lift red left)`.
    pub(crate) text: String,
}

impl Explainer<'_> {
    /// Appends every part of `formula` that does not hold.
    pub(crate) fn failures(
        &self,
        formula: &Formula,
        binding: &mut [ObjectId],
        out: &mut Vec<FailedCondition>,
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        if self.world.holds(formula, binding, work)? {
            return Ok(());
        }
        let listed = out.len();
        match formula {
            Formula::And(parts) => {
                for part in parts {
                    self.failures(part, binding, out, work)?;
                }
            }
            Formula::Literal { atom, negated, span } => {
                out.push(self.literal(atom, *negated, *span, binding));
            }
            Formula::Equal { negated, span, .. } => {
                let why = if *negated { "both are the same object" } else { "they are different objects" };
                let remedy = if *negated { "two different objects" } else { "the same object twice" };
                out.push(self.explain_failure(formula, binding, *span, why.to_owned(), remedy.to_owned()));
            }
            Formula::Compare { comparison, left, right, span } => {
                out.push(self.comparison(formula, *comparison, left, right, *span, binding));
            }
            Formula::Or(parts, span) => {
                let remedies: Vec<String> = parts.iter().map(|p| self.formula(p, binding)).collect();
                let why = "none of its parts holds".to_owned();
                out.push(self.explain_failure(
                    formula,
                    binding,
                    *span,
                    why,
                    format!("one of {}", remedies.join(", ")),
                ));
            }
            Formula::Exists(variables, body, span) => {
                let names: Vec<&str> = variables.iter().map(|v| v.name.as_str()).collect();
                let why = format!("no objects for {} satisfy it", names.join(" "));
                // The remedy shows the last candidates.
                bind_last(variables, binding);
                let remedy = format!("{} for some {}", self.formula(body, binding), names.join(" "));
                out.push(self.explain_failure(formula, binding, *span, why, remedy));
            }
            Formula::Forall(variables, body, _) => {
                let mut left = LISTED_BINDINGS;
                let view = self.world.view();
                first(&view, variables, (body, false), binding, work, &mut |b, work| {
                    self.failures(body, b, out, work)?;
                    left -= 1;
                    Ok(left > 0)
                })?;
            }
        }
        if !matches!(formula, Formula::And(_) | Formula::Forall(..)) {
            let bytes = |f: &FailedCondition| (f.text.len() + f.why.len() + f.remedy.len()) as u64;
            // A condition becomes a finding, too, which repeats its texts.
            work.charge(512 + 2 * out[listed..].iter().map(bytes).sum::<u64>())?;
        }
        Ok(())
    }

    fn explain_failure(
        &self,
        f: &Formula,
        b: &mut [ObjectId],
        span: Span,
        why: String,
        remedy: String,
    ) -> FailedCondition {
        FailedCondition {
            text: self.formula(f, b),
            place: SourcePlace { text: self.text, span },
            why,
            remedy,
            atom: None,
            negated: false,
            changed_by: None,
        }
    }

    fn literal(
        &self,
        lifted: &LiftedAtom,
        negated: bool,
        span: Span,
        binding: &[ObjectId],
    ) -> FailedCondition {
        let atom = lifted.instantiate(binding);
        let text = self.task.symbols.atom(&atom);
        let changed_by = (self.changed_by)(&atom);
        let truth = if negated { "true" } else { "false" };
        let why = match &changed_by {
            Some(cause) => format!("{text} is {truth} since {}", cause.text),
            None => format!("{text} is {truth} from the start"),
        };
        let achievers = self.achievers(lifted.predicate, negated);
        let remedy = match (achievers.is_empty(), negated) {
            (true, false) => format!("{text}, which no action adds: it would have to hold initially"),
            (true, true) => format!("(not {text}), which no action brings about: it must not hold initially"),
            (false, false) => format!("{text}, which {} can add", achievers.join(", ")),
            (false, true) => format!("(not {text}), which {} can bring about", achievers.join(", ")),
        };
        FailedCondition {
            text: if negated { format!("(not {text})") } else { text },
            place: SourcePlace { text: self.text, span },
            why,
            remedy,
            atom: Some(atom),
            negated,
            changed_by: changed_by.and_then(|cause| cause.step),
        }
    }

    /// Actions (or rules) that change the predicate the right way.
    fn achievers(&self, predicate: u32, negated: bool) -> Vec<String> {
        use crate::lifted::EffectChange;
        let changes = |c: &EffectChange| match c {
            EffectChange::Add(a) => !negated && a.predicate == predicate,
            EffectChange::Delete(a) => negated && a.predicate == predicate,
            EffectChange::Numeric(..) => false,
        };
        if self.task.predicates[predicate as usize].derived {
            return vec![format!("the rule of {}", self.task.symbols.predicates[predicate as usize])];
        }
        let mut names: Vec<String> = Vec::new();
        for (schema, name) in self.task.schemas.iter().zip(&self.task.symbols.actions) {
            if schema.effects.iter().flat_map(|g| &g.changes).any(|(c, _)| changes(c)) {
                names.push(name.clone());
            }
        }
        let durative = self.task.symbols.actions.get(self.task.schemas.len()..).unwrap_or_default();
        for (schema, name) in self.task.extension.durative.iter().zip(durative) {
            for (end, at) in [(&schema.start, "start"), (&schema.end, "end")] {
                if end.effects.iter().flat_map(|g| &g.changes).any(|(c, _)| changes(c)) {
                    names.push(format!("the {at} of {name}"));
                }
            }
        }
        names
    }

    fn comparison(
        &self,
        formula: &Formula,
        comparison: CompareOp,
        left: &LiftedExpr,
        right: &LiftedExpr,
        span: Span,
        binding: &mut [ObjectId],
    ) -> FailedCondition {
        let side = |e: &LiftedExpr, b: &[ObjectId]| {
            let value = self.world.value(e, b);
            let text = self.expression(e, b);
            match e {
                LiftedExpr::Constant(_) => None,
                _ if value.is_undefined() => Some(format!("{text} has no value")),
                _ => Some(format!("{text} is {value}")),
            }
        };
        let facts: Vec<String> = [side(left, binding), side(right, binding)].into_iter().flatten().collect();
        let remedy = format!(
            "a value of {} {} {}",
            self.expression(left, binding),
            comparison.as_str(),
            self.expression(right, binding)
        );
        self.explain_failure(formula, binding, span, facts.join(" and "), remedy)
    }

    /// A formula under a binding, as PDDL; variables that are not bound keep their name.
    pub(crate) fn formula(&self, formula: &Formula, binding: &[ObjectId]) -> String {
        let mut scope = Vec::new();
        self.write(formula, binding, &mut scope)
    }

    fn write(&self, formula: &Formula, binding: &[ObjectId], scope: &mut Vec<(u32, String)>) -> String {
        let negate = |negated: bool, text: String| if negated { format!("(not {text})") } else { text };
        match formula {
            Formula::And(parts) => self.write_all("and", parts, binding, scope),
            Formula::Or(parts, _) => self.write_all("or", parts, binding, scope),
            Formula::Literal { atom, negated, .. } => {
                let name = &self.task.symbols.predicates[atom.predicate as usize];
                negate(*negated, self.term_list(name, &atom.args, binding, scope))
            }
            Formula::Equal { left, right, negated, .. } => {
                negate(*negated, self.term_list("=", &[*left, *right], binding, scope))
            }
            Formula::Compare { comparison, left, right, .. } => format!(
                "({} {} {})",
                comparison.as_str(),
                self.write_expression(left, binding, scope),
                self.write_expression(right, binding, scope)
            ),
            Formula::Exists(variables, body, _) => {
                self.quantified_text("exists", variables, body, binding, scope)
            }
            Formula::Forall(variables, body, _) => {
                self.quantified_text("forall", variables, body, binding, scope)
            }
        }
    }

    fn write_all(
        &self,
        word: &str,
        parts: &[Formula],
        binding: &[ObjectId],
        scope: &mut Vec<(u32, String)>,
    ) -> String {
        let parts: Vec<String> = parts.iter().map(|p| self.write(p, binding, scope)).collect();
        format!("({word} {})", parts.join(" "))
    }

    fn quantified_text(
        &self,
        word: &str,
        variables: &[Variable],
        body: &Formula,
        binding: &[ObjectId],
        scope: &mut Vec<(u32, String)>,
    ) -> String {
        let outer = scope.len();
        scope.extend(variables.iter().map(|v| (v.slot, v.name.clone())));
        let list: Vec<String> = variables.iter().map(|v| format!("{} - {}", v.name, v.type_name)).collect();
        let text = format!("({word} ({}) {})", list.join(" "), self.write(body, binding, scope));
        scope.truncate(outer);
        text
    }

    fn term_list(&self, name: &str, args: &[Term], binding: &[ObjectId], scope: &[(u32, String)]) -> String {
        let mut out = format!("({name}");
        for term in args {
            out.push(' ');
            let free = match term {
                Term::Slot(slot) => scope.iter().find(|(s, _)| s == slot),
                Term::Object(_) => None,
            };
            match free {
                Some((_, variable)) => out.push_str(variable),
                None => match self.task.symbols.objects.get(term.object(binding) as usize) {
                    Some(object) => out.push_str(object),
                    None => out.push('?'),
                },
            }
        }
        out.push(')');
        out
    }

    pub(super) fn expression(&self, expr: &LiftedExpr, binding: &[ObjectId]) -> String {
        self.write_expression(expr, binding, &[])
    }

    fn write_expression(&self, expr: &LiftedExpr, binding: &[ObjectId], scope: &[(u32, String)]) -> String {
        match expr {
            LiftedExpr::Constant(c) => c.to_string(),
            LiftedExpr::Steps => "total-time".to_owned(),
            LiftedExpr::Duration => "?duration".to_owned(),
            LiftedExpr::Violations(name) => {
                format!("(is-violated {})", self.task.extension.preference_names[*name as usize])
            }
            LiftedExpr::Function(term) => {
                let name = &self.task.symbols.functions[term.predicate as usize];
                self.term_list(name, &term.args, binding, scope)
            }
            LiftedExpr::Binary(op, sides) => format!(
                "({} {} {})",
                op.as_str(),
                self.write_expression(&sides.0, binding, scope),
                self.write_expression(&sides.1, binding, scope)
            ),
        }
    }
}
