//! The drawing of a domain without a template, from its types and predicates alone.

use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::ast::{Atom, Domain, Effect, TypedName};
use planforge_pddl::{Name, TypeFit, TypeHierarchy, TypeId};
use planforge_pipeline::{
    Colour, GroupSpec, LookSpec, MarkSpec, Pattern, PictureTemplate, Slot, StackSpec, TypeName,
};
use std::collections::HashSet;

/// Binary predicates of facts that actions move put the first argument into the second, or onto it if objects of
/// the first type may carry each other. Other predicates with up to two arguments, and functions with up to one,
/// are words on the first argument.
pub(super) fn template(domain: &Domain) -> PictureTemplate {
    let hierarchy = TypeHierarchy::of(domain);
    let derived: HashSet<&str> = domain.derived.iter().map(|rule| rule.predicate.key()).collect();
    let mut moving = HashSet::new();
    domain.actions.iter().filter_map(|action| action.effect.as_ref()).for_each(|e| moved(e, &mut moving));
    let mut template = PictureTemplate::default();
    let mut group = GroupSpec { places: Vec::new(), inside: Vec::new(), title: None };
    for predicate in domain.predicates.iter().filter(|p| !derived.contains(p.name.key())) {
        match predicate.parameters.as_slice() {
            [what, place] if moving.contains(predicate.name.key()) => {
                let (what, place) = (types(&hierarchy, what), types(&hierarchy, place));
                if hierarchy.fit(&what, &place) == TypeFit::Always {
                    let on = vec![pattern(&predicate.name, &["above", "below"])];
                    template.stacks.push(StackSpec { on, bottom: Vec::new(), held: Vec::new() });
                } else {
                    group.inside.push(pattern(&predicate.name, &["what", "place"]));
                    group.places.extend(place.into_iter().map(|id| type_name(hierarchy.name(id))));
                }
            }
            [_, _] => template.marks.push(mark(&predicate.name, &["of", "x"], "{x}", false)),
            [_] => template.marks.push(mark(&predicate.name, &["of"], "", false)),
            [] => template.marks.push(mark(&predicate.name, &[], "", false)),
            _ => {}
        }
    }
    for function in &domain.functions {
        match function.parameters.as_slice() {
            [_] => template.marks.push(mark(&function.name, &["of"], "{value}", true)),
            [] => template.marks.push(mark(&function.name, &[], "{value}", true)),
            _ => {}
        }
    }
    if !group.inside.is_empty() {
        template.groups.push(group);
    }
    let ids = || (0..).take(hierarchy.len());
    let is_leaf = |id: &TypeId| {
        *id != TypeHierarchy::OBJECT && !ids().any(|other| hierarchy.parents(other).contains(id))
    };
    let colours = Colour::ALL.into_iter().map(|(_, colour)| colour).filter(|colour| *colour != Colour::Grey);
    template.looks = ids()
        .filter(is_leaf)
        .zip(colours.cycle())
        .map(|(id, colour)| LookSpec {
            type_name: type_name(hierarchy.name(id)),
            glyph: None,
            colour: Some(colour),
        })
        .collect();
    template
}

/// Adds the predicates of facts that an action moves: it deletes one and adds another about the same first object.
fn moved<'d>(effect: &'d Effect, found: &mut HashSet<&'d str>) {
    let (mut added, mut deleted) = (Vec::new(), Vec::new());
    changes(effect, &mut added, &mut deleted);
    for (gone, new) in deleted.iter().flat_map(|gone| added.iter().map(move |new| (gone, new))) {
        if gone.args.len() < 3 && new.args.len() < 3 && gone.args.first() == new.args.first() {
            found.extend([gone.predicate.key(), new.predicate.key()]);
        }
    }
}

fn changes<'d>(effect: &'d Effect, added: &mut Vec<&'d Atom>, deleted: &mut Vec<&'d Atom>) {
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|part| changes(part, added, deleted)),
        Effect::Forall(quantified) => changes(&quantified.body, added, deleted),
        Effect::When(_, effect, _) | Effect::Timed(_, effect, _) => changes(effect, added, deleted),
        Effect::Add(atom) => added.push(atom),
        Effect::Delete(atom, _) => deleted.push(atom),
        Effect::Assign(_) => {}
    }
}

fn types(hierarchy: &TypeHierarchy, parameter: &TypedName) -> Vec<TypeId> {
    hierarchy.resolve(parameter.ty.as_ref()).into_iter().flatten().collect()
}

fn type_name(name: &Name) -> TypeName {
    TypeName { name: name.key().to_owned(), source: SourceId(0), span: Span::empty(0) }
}

fn pattern(name: &Name, variables: &[&str]) -> Pattern {
    let slots = variables.iter().map(|variable| Slot::Variable((*variable).to_owned())).collect();
    Pattern { name: name.key().to_owned(), slots, source: SourceId(0), span: Span::empty(0) }
}

fn mark(name: &Name, variables: &[&str], slot: &str, numeric: bool) -> MarkSpec {
    let text = format!("{} {slot}", name.key()).trim_end().to_owned();
    MarkSpec { fact: pattern(name, variables), numeric, text, colour: None }
}
