//! Unifies predicates with the same meaning, in declarations and actions.

use crate::codes;
use crate::pddl_text::{MARKS, alternatives};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, PredicateDecl};
use planforge_pddl::{Name, parse_domain, print_action};
use std::collections::BTreeMap;

/// The replacements of predicates.
#[derive(Debug, Default)]
pub(crate) struct Unified {
    /// Name -> replacement, which may be replaced in turn. There are no circles.
    by: BTreeMap<String, Name>,
}

impl Unified {
    /// Reads lines of the form `old -> kept`.
    pub(crate) fn read(
        reply: &str,
        declared: &[PredicateDecl],
        types: &Domain,
        out: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut unified = Self::default();
        let mut at = 0;
        for line in reply.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let plain = line.replace('→', "->");
            let Some((old, kept)) = plain.split_once("->") else { continue };
            if let Err(why) = unified.add(word(old), word(kept), declared, types) {
                let span = Span::new(start as u32, (start + line.trim_end().len()) as u32);
                let message = format!("these two predicates are not made one: {why}");
                out.push(
                    Diagnostic::warning(codes::NOT_UNIFIED, message)
                        .at(SourceId(0), span, "")
                        .help("write `old -> kept` with the names of two predicates of the list"),
                );
            }
        }
        unified
    }

    fn add(
        &mut self,
        old: &str,
        kept: &str,
        declared: &[PredicateDecl],
        types: &Domain,
    ) -> Result<(), String> {
        let find = |name: &str| {
            let found = declared.iter().find(|p| p.name.is(&name.to_lowercase()));
            found.ok_or_else(|| format!("there is no predicate `{name}`"))
        };
        let (old, kept) = (find(old)?, find(kept)?);
        if self.by.contains_key(old.name.key()) {
            return Err(format!("`{}` is replaced already", old.name));
        }
        if self.last(&kept.name) == &old.name {
            return Err(format!("`{}` would replace itself", old.name));
        }
        if old.parameters.len() != kept.parameters.len() {
            return Err(format!("`{}` and `{}` have different numbers of arguments", old.name, kept.name));
        }
        // An argument of the old one must be one of the kept as well.
        let fits = old.parameters.iter().zip(&kept.parameters).all(|(old, kept)| {
            let wide = alternatives(kept);
            alternatives(old).iter().all(|ty| ancestors(ty, types).iter().any(|a| wide.contains(a)))
        });
        if !fits {
            return Err(format!("`{}` takes arguments of types that `{}` does not", old.name, kept.name));
        }
        self.by.insert(old.name.key().to_owned(), kept.name.clone());
        Ok(())
    }

    /// The final replacement of a name.
    fn last<'n>(&'n self, name: &'n Name) -> &'n Name {
        let mut last = name;
        while let Some(next) = self.by.get(last.key()) {
            last = next;
        }
        last
    }

    /// True if another predicate replaces this one.
    pub(crate) fn replaces(&self, name: &str) -> bool {
        self.by.contains_key(name)
    }

    /// Rewrites an action with the replacements; `None` if it is unreadable or does not change.
    pub(crate) fn in_action(&self, text: &str) -> Option<String> {
        let parsed = parse_domain(&format!("(define (domain d)\n{text}\n)"), SourceId(0));
        if self.by.is_empty() || parsed.diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        let mut action: Action = parsed.value.actions.into_iter().next()?;
        let before = print_action(&action);
        action.precondition.iter_mut().for_each(|c| self.in_condition(c));
        action.effect.iter_mut().for_each(|e| self.in_effect(e));
        Some(print_action(&action)).filter(|after| *after != before)
    }

    fn in_atom(&self, atom: &mut Atom) {
        let name = self.last(&atom.predicate).at(atom.predicate.span);
        atom.predicate = name;
    }

    fn in_condition(&self, condition: &mut Condition) {
        match condition {
            Condition::And(parts, _) | Condition::Or(parts, _) => {
                parts.iter_mut().for_each(|part| self.in_condition(part));
            }
            Condition::Not(inner, _) | Condition::Timed(_, inner, _) => self.in_condition(inner),
            Condition::Imply(a, b, _) => {
                self.in_condition(a);
                self.in_condition(b);
            }
            Condition::Exists(q) | Condition::Forall(q) => self.in_condition(&mut q.body),
            Condition::Preference(p) => self.in_condition(&mut p.condition),
            Condition::Trajectory(t) => t.conditions.iter_mut().for_each(|part| self.in_condition(part)),
            Condition::Atom(atom) => self.in_atom(atom),
            Condition::Equal(..) | Condition::Compare(_) => {}
        }
    }

    fn in_effect(&self, effect: &mut Effect) {
        match effect {
            Effect::And(parts, _) => parts.iter_mut().for_each(|part| self.in_effect(part)),
            Effect::Forall(q) => self.in_effect(&mut q.body),
            Effect::When(condition, inner, _) => {
                self.in_condition(condition);
                self.in_effect(inner);
            }
            Effect::Add(atom) | Effect::Delete(atom, _) => self.in_atom(atom),
            Effect::Timed(_, inner, _) => self.in_effect(inner),
            Effect::Assign(_) => {}
        }
    }
}

/// The name in one half of a line: the first word, without the characters around it.
fn word(half: &str) -> &str {
    let start = half.trim_start_matches(|c: char| MARKS.contains(&c) || c == '(' || c.is_ascii_digit());
    let end = start.find(|c: char| c.is_whitespace() || "()`,;:.".contains(c)).unwrap_or(start.len());
    start.get(..end).unwrap_or_default()
}

/// A type and everything above it, in lower case.
fn ancestors(ty: &str, types: &Domain) -> Vec<String> {
    let mut all = vec![ty.to_owned()];
    let mut next = 0;
    while let Some(name) = all.get(next).cloned() {
        let parents = types.types.iter().filter(|t| t.name.is(&name)).flat_map(alternatives);
        let new: Vec<String> = parents.filter(|parent| !all.contains(parent)).collect();
        all.extend(new);
        next += 1;
    }
    if !all.iter().any(|name| name == "object") {
        all.push("object".to_owned());
    }
    all
}
