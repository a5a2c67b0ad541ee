//! Mistakes in an action's parameters: their order, and how wide their types are.

use super::{Edit, atoms};
use crate::ast::{Action, Atom, Domain, Term, TypeRef, TypedName};
use crate::check::{TypeFit, TypeHierarchy};
use crate::name::Name;
use crate::print;
use crate::rename::{Renaming, rename_condition, rename_effect};

/// Two parameters of an action exchanged, for every two.
pub(super) fn swaps(domain: &Domain) -> Vec<Edit> {
    let of_action = |(action, of): (usize, &Action)| -> Vec<Edit> {
        let count = of.parameters.len();
        let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        pairs.map(|(first, second)| Edit::SwapParameters { action, first, second }).collect()
    };
    domain.actions.iter().enumerate().flat_map(of_action).collect()
}

/// Each parameter with each type directly above its own.
pub(super) fn widenings(domain: &Domain) -> Vec<Edit> {
    let types = TypeHierarchy::of(domain);
    let mut made = Vec::new();
    for (action, of) in domain.actions.iter().enumerate() {
        for (position, parameter) in of.parameters.iter().enumerate() {
            let wider = wider(&types, parameter.ty.as_ref()).into_iter();
            made.extend(wider.map(|ty| Edit::WidenType { action, position, ty }));
        }
    }
    made
}

/// Returns the types directly above one; `None` stands for `object`. Alternatives have only `object` above
/// them.
fn wider(types: &TypeHierarchy, ty: Option<&TypeRef>) -> Vec<Option<TypeRef>> {
    let Some(ty) = ty else { return Vec::new() };
    if ty.is_either() {
        return vec![None];
    }
    let own = ty.alternatives.first().and_then(|name| types.get(name.key()));
    match own {
        None | Some(TypeHierarchy::OBJECT) => Vec::new(),
        Some(own) if types.parents(own).is_empty() => vec![None],
        Some(own) => {
            let above = types.parents(own).iter().map(|&parent| match parent {
                TypeHierarchy::OBJECT => None,
                named => Some(TypeRef::single(Name::synthetic(types.name(named).as_str()))),
            });
            above.collect()
        }
    }
}

/// Returns true if both edits widen the same parameter.
pub(super) fn same_parameter(a: &Edit, b: &Edit) -> bool {
    let parameter = |edit: &Edit| match edit {
        Edit::WidenType { action, position, .. } => Some((*action, *position)),
        _ => None,
    };
    parameter(a).is_some() && parameter(a) == parameter(b)
}

/// The list with two entries exchanged.
pub(super) fn swap_entries(list: &[TypedName], first: usize, second: usize) -> Vec<TypedName> {
    let mut list = list.to_vec();
    if first.max(second) < list.len() {
        list.swap(first, second);
    }
    list
}

/// Makes the edits of an action's parameters. Types first: positions are those of the list as it was.
pub(super) fn edit(action: &mut Action, edits: &[&Edit]) {
    for edit in edits {
        if let Edit::WidenType { position, ty, .. } = edit
            && let Some(parameter) = action.parameters.get_mut(*position)
        {
            parameter.ty.clone_from(ty);
        }
    }
    for edit in edits {
        if let Edit::SwapParameters { first, second, .. } = edit {
            action.parameters = swap_entries(&action.parameters, *first, *second);
        }
    }
}

/// Atoms of the action that a parameter fits and, with its other type, fits no more.
pub(super) fn ill_typed(
    domain: &Domain,
    action: usize,
    before: &TypedName,
    after: &TypedName,
) -> Vec<String> {
    let types = TypeHierarchy::of(domain);
    let (Some(action), Some(old), Some(new)) =
        (domain.actions.get(action), types.resolve(before.ty.as_ref()), types.resolve(after.ty.as_ref()))
    else {
        return Vec::new();
    };
    // A name that no text can contain distinguishes a parameter from a quantifier's variable of the same name.
    let marked = TypedName { name: Name::synthetic("?"), ty: None };
    let marking = Renaming::new(std::slice::from_ref(before), std::slice::from_ref(&marked));
    let mut found: Vec<String> = Vec::new();
    let mut look = |atom: &mut Atom| {
        let Some(decl) = domain.predicates.iter().find(|p| p.name == atom.predicate) else { return };
        let lost = atom.args.iter().zip(&decl.parameters).any(|(arg, declared)| {
            let wanted = types.resolve(declared.ty.as_ref());
            *arg == Term::Variable(marked.name.clone())
                && wanted.is_some_and(|w| {
                    types.fit(&old, &w) == TypeFit::Always && types.fit(&new, &w) != TypeFit::Always
                })
        });
        if lost {
            for arg in atom.args.iter_mut().filter(|arg| *arg.name() == marked.name) {
                *arg = Term::Variable(before.name.clone());
            }
            let text = print::print_atom(atom);
            if !found.contains(&text) {
                found.push(text);
            }
        }
    };
    for mut condition in action.precondition.iter().cloned() {
        rename_condition(&mut condition, &marking);
        atoms::of_condition(&mut condition, &mut look);
    }
    for mut effect in action.effect.iter().cloned() {
        rename_effect(&mut effect, &marking);
        atoms::of_effect(&mut effect, &mut look);
    }
    found
}
