//! The checks of a domain.

use super::requirements::{self, Feature, Insertion};
use super::{Checker, KnownNames, TypeHierarchy};
use crate::ast::{
    Action, CompareOp, Condition, Derived, Domain, DurativeAction, Effect, NumericExpr, TypeRef, TypedName,
};
use crate::name::Name;
use planforge_diagnostics::{Diagnostic, SourceId};

/// Checks the meaning of a domain. Findings about its form come from reading it.
///
/// A constant that the domain uses without declaring it is a warning here: a problem may declare an object of
/// that name. [`super::check_problem`] makes it an error if the problem does not.
pub fn check_domain(domain: &Domain, source: SourceId) -> Vec<Diagnostic> {
    let types = TypeHierarchy::of(domain);
    let mut checker = Checker::new(domain, &types, source);
    checker.whole_domain(domain);
    checker.predicate_use(domain);
    let declared: Vec<&Name> = domain.requirements.iter().collect();
    let insertion = domain_insertion(domain);
    if let Some(diagnostic) = requirements::report_undeclared(&checker.features, &declared, insertion, source)
    {
        checker.push(diagnostic);
    }
    for diagnostic in
        requirements::report_unused_requirements(&checker.features, &domain.requirements, source)
    {
        checker.push(diagnostic);
    }
    checker.sink.finish()
}

/// Constants that a domain uses and does not declare, the first use of each.
pub fn undeclared_constants<'a>(domain: &'a Domain, types: &'a TypeHierarchy) -> Vec<&'a Name> {
    let mut checker = Checker::new(domain, types, SourceId(0));
    checker.whole_domain(domain);
    checker.undeclared
}

/// The requirements that a domain makes use of and does not declare, as keywords.
pub fn undeclared_requirements(domain: &Domain) -> Vec<&'static str> {
    let types = TypeHierarchy::of(domain);
    let mut checker = Checker::new(domain, &types, SourceId(0));
    checker.whole_domain(domain);
    let declared: Vec<&Name> = domain.requirements.iter().collect();
    requirements::missing(&checker.features, &declared).into_iter().map(|(name, _)| name).collect()
}

fn domain_insertion(domain: &Domain) -> Insertion {
    let section = domain.sections.iter().find(|s| s.keyword.is(":requirements"));
    match (domain.requirements.last(), section, &domain.name) {
        (Some(last), ..) => Insertion::Append(last.span.end),
        (None, Some(section), _) => Insertion::Append(section.keyword.span.end),
        (None, None, Some(_)) => match domain.sections.first() {
            Some(first) => Insertion::SectionBefore(first.span.start),
            None => Insertion::None,
        },
        _ => Insertion::None,
    }
}

impl<'a> Checker<'a> {
    pub(super) fn whole_domain(&mut self, domain: &'a Domain) {
        self.declarations(domain);
        domain.actions.iter().for_each(|action| self.action(action));
        domain.durative_actions.iter().for_each(|action| self.durative_action(action));
        domain.derived.iter().for_each(|rule| self.check_derived(rule));
        if let Some(constraints) = &domain.constraints {
            self.features.note(Feature::Constraints, constraints.span());
            self.condition(constraints, true);
        }
    }

    fn action(&mut self, action: &'a Action) {
        let used = self.bound(&action.parameters, &[], |checker| {
            let used = checker.bound(&action.vars, &[], |checker| {
                if let Some(precondition) = &action.precondition {
                    checker.condition(precondition, true);
                    checker.contradiction(precondition);
                }
                checker.action_effect(action.effect.as_ref());
            });
            checker.report_unused(&action.vars, &used, "variable");
        });
        self.report_unused(&action.parameters, &used, "parameter");
    }

    fn action_effect(&mut self, effect: Option<&'a Effect>) {
        let Some(effect) = effect else { return };
        if matches!(effect, Effect::And(parts, _) if parts.is_empty()) {
            let message = "the effect is empty, so the action changes nothing".to_owned();
            self.warning("pddl.empty-effect", message, effect.span());
        }
        self.effect(effect);
        for part in effect.conjuncts() {
            let Effect::Delete(deleted, span) = part else { continue };
            let same = |other: &&Effect| matches!(other, Effect::Add(a) if a.predicate == deleted.predicate && a.args == deleted.args);
            if let Some(added) = effect.conjuncts().iter().find(same) {
                let source = self.sink.source;
                let message = format!("`{}` is made false and true at once", deleted.predicate);
                self.push(
                    Diagnostic::warning("pddl.contradictory-effect", message)
                        .at(source, *span, "deleted here")
                        .also(source, added.span(), "added here")
                        .help("PDDL lets the addition win"),
                );
            }
        }
    }

    /// Reports a conjunction that requires an atom and its negation.
    fn contradiction(&mut self, condition: &'a Condition) {
        for part in condition.conjuncts() {
            let Condition::Not(inner, span) = part else { continue };
            let Condition::Atom(denied) = &**inner else { continue };
            let same = |other: &&Condition| matches!(other, Condition::Atom(a) if a.predicate == denied.predicate && a.args == denied.args);
            if let Some(asked) = condition.conjuncts().iter().find(same) {
                let source = self.sink.source;
                let message = format!("`{}` is asked to be true and false at once", denied.predicate);
                self.push(
                    Diagnostic::warning("pddl.contradictory-condition", message)
                        .at(source, *span, "must be false here")
                        .also(source, asked.span(), "must be true here"),
                );
            }
        }
    }

    fn durative_action(&mut self, action: &'a DurativeAction) {
        self.features.note(Feature::Durative, action.span);
        let used = self.bound(&action.parameters, &[], |checker| {
            if let Some(duration) = &action.duration {
                checker.duration(duration);
            }
            if let Some(condition) = &action.condition {
                checker.condition(condition, true);
            }
            checker.action_effect(action.effect.as_ref());
        });
        self.report_unused(&action.parameters, &used, "parameter");
        for part in action.condition.iter().flat_map(Condition::conjuncts) {
            if matches!(part, Condition::Atom(_) | Condition::Not(..) | Condition::Compare(_)) {
                let message = "this condition says no time: `at start`, `over all` or `at end`".to_owned();
                self.error("pddl.missing-time", message, part.span());
            }
        }
        for part in action.effect.iter().flat_map(Effect::conjuncts) {
            if matches!(part, Effect::Add(_) | Effect::Delete(..)) {
                let message = "this effect says no time: `at start` or `at end`".to_owned();
                self.error("pddl.missing-time", message, part.span());
            }
        }
    }

    fn duration(&mut self, duration: &'a Condition) {
        for part in duration.conjuncts() {
            let part = if let Condition::Timed(_, inner, _) = part { inner } else { part };
            match part {
                Condition::Compare(c) if matches!(c.left, NumericExpr::Duration(_)) => {
                    if c.op != CompareOp::Equal {
                        self.features.note(Feature::DurationInequalities, c.span);
                    }
                    self.numeric(&c.right);
                }
                other => {
                    let message =
                        "a duration is `(= ?duration EXPRESSION)` or an inequality of it".to_owned();
                    self.error("pddl.bad-duration", message, other.span());
                }
            }
        }
    }

    fn check_derived(&mut self, rule: &'a Derived) {
        self.features.note(Feature::Derived, rule.span);
        let declared = self.predicates.get(rule.predicate.key()).copied();
        let parameters: &'a [TypedName] = declared.map_or(&[], |d| &d.parameters);
        match declared {
            None if !self.predicates_unknown => {
                let message = format!("no predicate `{}` is declared", rule.predicate);
                self.unknown("pddl.undefined-predicate", message, &rule.predicate, KnownNames::Predicates);
            }
            Some(decl) if decl.parameters.len() != rule.parameters.len() => {
                let (want, have) = (decl.parameters.len(), rule.parameters.len());
                let message =
                    format!("the predicate `{}` has {want} argument(s), not {have}", rule.predicate);
                self.error("pddl.arity", message, rule.predicate.span);
            }
            _ => {}
        }
        let inherited: Vec<Option<&'a TypeRef>> = parameters.iter().map(|p| p.ty.as_ref()).collect();
        self.bound(&rule.parameters, &inherited, |checker| {
            if let Some(condition) = &rule.condition {
                checker.condition(condition, true);
            }
        });
    }

    /// Predicates that nothing mentions, and those that only ever become false.
    fn predicate_use(&mut self, domain: &'a Domain) {
        let has_actions = !domain.actions.is_empty() || !domain.durative_actions.is_empty();
        for predicate in &domain.predicates {
            let name = &predicate.name;
            let usage = self.usage.get(name.key()).cloned().unwrap_or_default();
            let is_derived = self.derived.contains_key(name.key());
            if !usage.mentioned && !is_derived && has_actions {
                let message = format!("no action or rule mentions the predicate `{name}`");
                self.warning("pddl.unused-predicate", message, name.span);
            } else if let (Some(deleted), false, true) = (usage.deleted, usage.added, usage.wanted.is_some())
            {
                let source = self.sink.source;
                let message = format!("actions make `{name}` false, and none makes it true");
                self.push(
                    Diagnostic::advice("pddl.never-added", message)
                        .at(source, name.span, "")
                        .also(source, deleted, "made false here")
                        .help("that is right for something used up; otherwise an action lacks an effect"),
                );
            }
        }
    }
}
