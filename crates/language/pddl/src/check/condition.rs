//! Checks of conditions, effects and numeric expressions: scopes, polarity, features, use of predicates. Atoms and fluents must be
//! defined and have arguments of the right number and types.

use super::{Binding, Checker, Feature, KnownNames};
use crate::ast::{
    AssignOp, Atom, Condition, Effect, Fluent, NumericExpr, Quantified, Term, TypeRef, TypedName,
};
use crate::hierarchy::TypeFit;
use crate::name::Name;
use planforge_diagnostics::{Diagnostic, Severity, Span};

impl<'a> Checker<'a> {
    /// Binds variables for as long as `inside` runs and returns which of them it used.
    pub(super) fn bound(
        &mut self,
        variables: &'a [TypedName],
        inherited: &[Option<&'a TypeRef>],
        inside: impl FnOnce(&mut Self),
    ) -> Vec<bool> {
        let outer = self.scope.len();
        for (index, variable) in variables.iter().enumerate() {
            let inherited = inherited.get(index).copied().flatten();
            self.scope.push(Binding { variable, inherited, used: false });
        }
        self.variables(variables, Severity::Error);
        inside(self);
        self.scope.drain(outer..).map(|b| b.used).collect()
    }

    /// Checks a list of variables: each once, of declared types. In a declaration a repeated name does no harm.
    pub(super) fn variables(&mut self, variables: &'a [TypedName], repeated: Severity) {
        for (index, variable) in variables.iter().enumerate() {
            let Some(first) = variables[..index].iter().find(|v| v.name == variable.name) else { continue };
            let source = self.sink.source;
            let message = format!("the variable `{}` is declared twice", variable.name);
            self.push(
                Diagnostic::new(repeated, "pddl.duplicate-parameter", message)
                    .at(source, variable.name.span, "")
                    .also(source, first.name.span, "first declared here"),
            );
            if self.sink.is_full() {
                break;
            }
        }
        self.type_refs(variables);
    }

    pub(super) fn report_unused(&mut self, variables: &[TypedName], used: &[bool], what: &str) {
        for (variable, _) in variables.iter().zip(used).filter(|(_, used)| !**used) {
            let message = format!("the {what} `{}` is never used", variable.name);
            self.warning("pddl.unused-parameter", message, variable.name.span);
        }
    }

    fn check_quantified<T>(&mut self, q: &'a Quantified<T>, inside: impl FnOnce(&mut Self, &'a T)) {
        let used = self.bound(&q.parameters, &[], |checker| inside(checker, &q.body));
        self.report_unused(&q.parameters, &used, "quantified variable");
    }

    /// Walks a condition. `positive` is false under an odd number of negations.
    pub(super) fn condition(&mut self, condition: &'a Condition, positive: bool) {
        match condition {
            Condition::And(parts, _) => parts.iter().for_each(|part| self.condition(part, positive)),
            Condition::Or(parts, span) => {
                self.features.note(Feature::Disjunction, *span);
                parts.iter().for_each(|part| self.condition(part, positive));
            }
            Condition::Not(inner, span) => {
                if !matches!(**inner, Condition::Equal(..)) {
                    self.features.note(Feature::Negation, *span);
                }
                self.condition(inner, !positive);
            }
            Condition::Imply(a, b, span) => {
                self.features.note(Feature::Disjunction, *span);
                self.condition(a, !positive);
                self.condition(b, positive);
            }
            Condition::Exists(q) => {
                self.features.note(Feature::Exists, q.span);
                self.check_quantified(q, |checker, body| checker.condition(body, positive));
            }
            Condition::Forall(q) => {
                self.features.note(Feature::Forall, q.span);
                self.check_quantified(q, |checker, body| checker.condition(body, positive));
            }
            Condition::Atom(atom) => {
                self.atom(atom);
                let usage = self.usage.entry(atom.predicate.key()).or_default();
                if positive && usage.wanted.is_none() {
                    usage.wanted = Some(atom.span);
                }
            }
            Condition::Equal(a, b, span) => {
                self.features.note(Feature::Equality, *span);
                self.term(a);
                self.term(b);
            }
            Condition::Compare(c) => {
                self.numeric(&c.left);
                self.numeric(&c.right);
            }
            Condition::Preference(p) => {
                self.features.note(Feature::Preferences, p.span);
                self.condition(&p.condition, positive);
            }
            Condition::Timed(_, inner, _) => self.condition(inner, positive),
            Condition::Trajectory(t) => {
                t.conditions.iter().for_each(|part| self.condition(part, positive));
            }
        }
    }

    pub(super) fn effect(&mut self, effect: &'a Effect) {
        match effect {
            Effect::And(parts, _) => parts.iter().for_each(|part| self.effect(part)),
            Effect::Forall(q) => {
                self.features.note(Feature::ConditionalEffects, q.span);
                self.check_quantified(q, Self::effect);
            }
            Effect::When(condition, effect, span) => {
                self.features.note(Feature::ConditionalEffects, *span);
                self.condition(condition, true);
                self.effect(effect);
            }
            Effect::Add(atom) => {
                self.effect_atom(atom);
                self.usage.entry(atom.predicate.key()).or_default().added = true;
            }
            Effect::Delete(atom, span) => {
                self.effect_atom(atom);
                self.usage.entry(atom.predicate.key()).or_default().deleted.get_or_insert(*span);
            }
            Effect::Assign(assignment) => {
                let is_cost =
                    assignment.op == AssignOp::Increase && assignment.fluent.function.is("total-cost");
                let feature = if is_cost { Feature::ActionCosts } else { Feature::Numeric };
                self.features.note(feature, assignment.span);
                self.fluent(&assignment.fluent);
                if is_cost {
                    self.numeric_inside_cost(&assignment.value);
                } else {
                    self.numeric(&assignment.value);
                }
            }
            Effect::Timed(_, inner, _) => self.effect(inner),
        }
    }

    fn effect_atom(&mut self, atom: &'a crate::ast::Atom) {
        self.in_effect = true;
        self.atom(atom);
        self.in_effect = false;
        let name = &atom.predicate;
        if !self.predicates.contains_key(name.key()) && self.types.get(name.key()).is_some() {
            let message = format!("`{name}` is a type; no effect can change an object's type");
            self.error("pddl.effect-on-type", message, atom.span);
        } else if let Some(&rule) = self.derived.get(name.key()) {
            let source = self.sink.source;
            let message = format!("`{name}` is derived by a rule; an action cannot change it");
            self.push(Diagnostic::error("pddl.effect-on-derived", message).at(source, atom.span, "").also(
                source,
                rule,
                "the rule is here",
            ));
        }
    }

    /// Walks a numeric expression that needs numeric fluents wherever it names one.
    pub(super) fn numeric(&mut self, expr: &'a NumericExpr) {
        if let NumericExpr::Fluent(f) = expr {
            let is_cost = f.function.is("total-cost");
            self.features.note(if is_cost { Feature::ActionCosts } else { Feature::Numeric }, f.span);
        }
        if let NumericExpr::Arithmetic(_, args, _) = expr {
            args.iter().for_each(|arg| self.numeric(arg));
        } else {
            self.numeric_leaf(expr);
        }
    }

    /// The cost an action adds may name functions without needing more than `:action-costs`.
    fn numeric_inside_cost(&mut self, expr: &'a NumericExpr) {
        if let NumericExpr::Arithmetic(_, args, span) = expr {
            self.features.note(Feature::Numeric, *span);
            args.iter().for_each(|arg| self.numeric(arg));
        } else {
            self.numeric_leaf(expr);
        }
    }

    fn numeric_leaf(&mut self, expr: &'a NumericExpr) {
        match expr {
            NumericExpr::Fluent(fluent) => self.fluent(fluent),
            NumericExpr::IsViolated(name, _) if !self.preferences.contains(&name) => {
                let message = format!("no preference is called `{name}`");
                self.unknown("pddl.undefined-preference", message, name, KnownNames::Preferences);
            }
            _ => {}
        }
    }

    /// Every type that a typed list names must be declared.
    pub(super) fn type_refs(&mut self, list: &'a [TypedName]) {
        let mut last: Option<Span> = None;
        for ty in list.iter().filter_map(|entry| entry.ty.as_ref()) {
            self.features.note(Feature::Typing, ty.span);
            // Names that share one type share its span too: `a b c - t` is reported once.
            if last.replace(ty.span) != Some(ty.span) {
                self.type_ref(ty);
            }
        }
    }

    fn type_ref(&mut self, ty: &'a TypeRef) {
        for name in ty.alternatives.iter().filter(|name| self.types.get(name.key()).is_none()) {
            let message = format!("no type `{name}` is declared");
            self.unknown("pddl.undefined-type", message, name, KnownNames::Types);
        }
    }
}

impl<'a> Checker<'a> {
    /// Checks an atom against its declaration. Noting its use is the caller's business.
    pub(super) fn atom(&mut self, atom: &'a Atom) {
        self.usage.entry(atom.predicate.key()).or_default().mentioned = true;
        let declared = self.predicates.get(atom.predicate.key()).copied();
        match declared {
            Some(decl) => self.arguments("predicate", &decl.name, &decl.parameters, &atom.args, atom.span),
            None => {
                self.undefined_predicate(&atom.predicate, atom.args.len());
                self.terms(&atom.args);
            }
        }
    }

    fn undefined_predicate(&mut self, name: &Name, arity: usize) {
        if self.predicates_unknown || self.types.get(name.key()).is_some() && self.in_effect {
            return;
        }
        if self.functions.contains_key(name.key()) {
            let message = format!("`{name}` is a numeric function, not a predicate");
            self.error("pddl.undefined-predicate", message, name.span);
            return;
        }
        if self.sink.is_full() {
            return;
        }
        let mut diagnostic = Diagnostic::error(
            "pddl.undefined-predicate",
            format!("no predicate `{name}` is declared"),
        )
        .at(self.sink.source, name.span, "");
        let known = self.predicates.values().map(|p| p.name.as_str());
        diagnostic = match self.sink.suggestion(name.key(), known) {
            Some(suggestion) => diagnostic.help(suggestion),
            None => diagnostic.help(format!("declare it in `:predicates` with {arity} parameter(s)")),
        };
        self.push(diagnostic);
    }

    /// Checks a numeric function's use.
    pub(super) fn fluent(&mut self, fluent: &'a Fluent) {
        let declared = self.functions.get(fluent.function.key()).copied();
        match declared {
            Some(decl) => {
                self.arguments("function", &decl.name, &decl.parameters, &fluent.args, fluent.span);
            }
            None => {
                let name = &fluent.function;
                let message = if self.predicates.contains_key(name.key()) {
                    format!("`{name}` is a predicate, not a numeric function")
                } else {
                    format!("no function `{name}` is declared")
                };
                self.unknown("pddl.undefined-function", message, name, KnownNames::Functions);
                self.terms(&fluent.args);
            }
        }
    }

    fn arguments(
        &mut self,
        what: &str,
        declared: &Name,
        parameters: &'a [TypedName],
        args: &'a [Term],
        span: Span,
    ) {
        self.terms(args);
        if parameters.len() != args.len() {
            if !self.sink.is_full() {
                let message = format!(
                    "the {what} `{declared}` has {} argument(s), not {}",
                    parameters.len(),
                    args.len()
                );
                let shape: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
                let shape = format!(
                    "it is declared as `({})`",
                    [&[declared.as_str()], &shape[..]].concat().join(" ")
                );
                self.push(
                    Diagnostic::error("pddl.arity", message).at(self.sink.source, span, "").help(shape),
                );
            }
            return;
        }
        for (arg, parameter) in args.iter().zip(parameters) {
            self.argument_type(declared, arg, parameter);
        }
    }

    fn argument_type(&mut self, of: &Name, arg: &Term, parameter: &TypedName) {
        let Some(wanted_ref) = parameter.ty.as_ref() else { return };
        let Some(given_ref) = self.type_of(arg) else { return };
        let (Some(given), Some(wanted)) =
            (self.types.resolve(given_ref), self.types.resolve(Some(wanted_ref)))
        else {
            return;
        };
        let fit = self.types.fit(&given, &wanted);
        if fit == TypeFit::Always || self.sink.is_full() {
            return;
        }
        let (given, wanted) = (describe(given_ref), describe(Some(wanted_ref)));
        let source = self.sink.source;
        let name = arg.name();
        let diagnostic = if fit == TypeFit::Never {
            let message = format!("`{of}` wants the type {wanted} here, but `{name}` has the type {given}");
            Diagnostic::error("pddl.type-mismatch", message)
        } else {
            let message =
                format!("`{of}` wants the type {wanted} here, but `{name}` has the wider type {given}");
            Diagnostic::warning("pddl.wide-type", message)
        };
        self.push(diagnostic.at(source, arg.span(), ""));
    }

    /// The written type of a term; nothing where the term itself is unknown.
    fn type_of(&self, term: &Term) -> Option<Option<&'a TypeRef>> {
        match term {
            Term::Variable(name) => {
                let binding = self.scope.iter().rev().find(|b| b.variable.name == *name)?;
                Some(binding.variable.ty.as_ref().or(binding.inherited))
            }
            Term::Constant(name) => self.objects.get(name.key()).map(|object| object.ty.as_ref()),
        }
    }

    pub(super) fn terms(&mut self, args: &'a [Term]) {
        for arg in args {
            self.term(arg);
        }
    }

    /// Checks that a term means something here.
    pub(super) fn term(&mut self, term: &'a Term) {
        match term {
            Term::Variable(name) => {
                if let Some(binding) = self.scope.iter_mut().rev().find(|b| b.variable.name == *name) {
                    binding.used = true;
                    return;
                }
                let message = format!("the variable `{name}` is bound by no parameter or quantifier");
                self.unknown("pddl.unbound-variable", message, name, KnownNames::Variables);
            }
            Term::Constant(name) if !self.objects.contains_key(name.key()) => self.unknown_object(name),
            Term::Constant(_) => {}
        }
    }

    /// Reports an undeclared name. In a domain alone a problem may still declare it, unless it is probably a
    /// misspelt variable.
    fn unknown_object(&mut self, name: &'a Name) {
        let variable =
            self.scope.iter().find(|b| b.variable.name.key().strip_prefix('?') == Some(name.key()));
        if let Some(variable) = variable {
            let help = format!("did you mean `{}`?", variable.variable.name);
            let message = format!("no object or constant `{name}` is declared");
            let source = self.sink.source;
            self.push(
                Diagnostic::error("pddl.undefined-constant", message).at(source, name.span, "").help(help),
            );
        } else if self.objects_known {
            let message = format!("no object or constant `{name}` is declared");
            self.unknown("pddl.undefined-object", message, name, KnownNames::Objects);
        } else if self.undeclared_seen.insert(name.key()) {
            self.undeclared.push(name);
            let message = format!("the constant `{name}` is not declared");
            let source = self.sink.source;
            self.push(
                Diagnostic::warning("pddl.undeclared-constant", message).at(source, name.span, "").help(
                    "declare it in `:constants`; as it is, every problem must have an object of that name",
                ),
            );
        }
    }
}

/// A type in a message: `` `block` or `crate` ``.
fn describe(ty: Option<&TypeRef>) -> String {
    match ty {
        None => "`object`".to_owned(),
        Some(ty) => {
            let names: Vec<String> = ty.alternatives.iter().map(|name| format!("`{name}`")).collect();
            names.join(" or ")
        }
    }
}
