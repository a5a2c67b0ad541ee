//! Arguments of facts and numeric functions as PDDL terms, with their order in the printed problem.

use super::Compiler;
use crate::syntax::ast::Term;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::{self, TypedName};
use planforge_pddl::{Name, TypeFit};
use smallvec::SmallVec;

/// Position of a fact or number in the problem: by the declaration of its predicate or function, then by its
/// objects in natural order.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Clone)]
pub(super) struct OrderKey {
    pub(super) declaration: usize,
    pub(super) objects: Ranks,
}

/// Objects by their [`super::objects::Object::rank`].
pub(super) type Ranks = SmallVec<[u32; 4]>;

impl Compiler<'_> {
    /// Arguments as PDDL writes them, and their ranks, checked for their number and types.
    pub(super) fn arguments(
        &mut self,
        declared: &Name,
        parameters: &[TypedName],
        arguments: &[Term],
        atom: u32,
        what: &str,
    ) -> Option<(Vec<ast::Term>, Ranks)> {
        if parameters.len() != arguments.len() {
            self.report(format!("arity {declared} {}", arguments.len()), |compiler| {
                let message = format!(
                    "the {what} `{declared}` has {} argument(s), but `{}` gives it {}",
                    parameters.len(),
                    compiler.print_atom_text(atom),
                    arguments.len()
                );
                compiler
                    .with_origins(Diagnostic::error("asp.arity", message), atom)
                    .help(format!("the domain declares it as `{}`", shape(declared, parameters)))
            });
            return None;
        }
        let mut args = Vec::with_capacity(arguments.len());
        let mut ranks = Ranks::new();
        let mut wrong = false;
        for (position, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
            let Some(object) = self.object(argument, atom) else {
                wrong = true;
                continue;
            };
            let (name, types) = (object.name.clone(), object.types.clone());
            ranks.push(object.rank);
            let wanted = self.types.resolve(parameter.ty.as_ref());
            if wanted.is_some_and(|wanted| self.types.fit(&types, &wanted) == TypeFit::Never) {
                wrong = true;
                let given: Vec<String> =
                    types.iter().map(|id| format!("`{}`", self.types.name(*id))).collect();
                let given = given.join(" or ");
                self.report(format!("type of {declared} {position} {given}"), |compiler| {
                    let message = format!(
                        "`{name}` is a {given}, but argument {} of `{declared}` in `{}` is for another type",
                        position + 1,
                        compiler.print_atom_text(atom)
                    );
                    compiler
                        .with_origins(Diagnostic::error("asp.wrong-type", message), atom)
                        .help(format!("the domain declares it as `{}`", shape(declared, parameters)))
                });
            }
            args.push(ast::Term::Constant(name));
        }
        (!wrong).then_some((args, ranks))
    }
}

/// `(on ?x - block ?y - block)`.
fn shape(name: &Name, parameters: &[TypedName]) -> String {
    let list = planforge_pddl::print_typed_list(parameters);
    match list.is_empty() {
        true => format!("({name})"),
        false => format!("({name} {list})"),
    }
}
