//! Atoms, fluents and their arguments: defined, the right number, the right types, in scope.

use super::{Checker, KnownNames, TypeFit};
use crate::ast::{Atom, Fluent, Term, TypeRef, TypedName};
use crate::name::Name;
use planforge_diagnostics::{Diagnostic, Span};

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
