//! Diagrams of a domain: its types, and which predicates depend on which (the causal graph of its actions).

use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Inputs, Source};
use crate::status::Status;
use planforge_evaluate::diagram::{Diagram, svg};
use planforge_pddl::ast::{Action, Domain, DurativeAction};
use planforge_pddl::{NameKind, TypeHierarchy, VisitNames};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Subject of a diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagramSubject {
    /// Types, each with an arrow to the type that it is part of.
    Types,
    /// Predicates and functions, with an arrow from each one that an action needs to each one that it changes.
    Causal,
}

/// A diagram as a picture and as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiagramResult {
    /// The picture.
    pub svg: String,
    /// The arrows, one a line, for readers without pictures.
    pub text: String,
}

/// Draws a diagram of a domain.
///
/// # Errors
/// A text that cannot be used.
pub fn diagram(context: &Context, domain: &Source, subject: DiagramSubject) -> Result<DiagramResult, Error> {
    let inputs = Inputs::read(context, domain, None);
    let status = inputs.status();
    let (Some(read), Status::Good) = (&inputs.texts.domain, status) else {
        let findings = inputs.into_findings();
        return Err(Error::findings(status, findings.diagnostics, findings.sources));
    };
    let diagram = match subject {
        DiagramSubject::Types => types(read),
        DiagramSubject::Causal => causal(read),
    };
    Ok(DiagramResult { svg: svg(&diagram), text: text(&diagram) })
}

fn text(diagram: &Diagram) -> String {
    let mut text = String::new();
    for (from, to, label) in &diagram.edges {
        let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{} -> {}{label}", diagram.nodes[*from], diagram.nodes[*to]);
    }
    text
}

fn types(domain: &Domain) -> Diagram {
    let hierarchy = TypeHierarchy::of(domain);
    let names: Vec<String> = hierarchy.names().map(ToString::to_string).collect();
    let mut edges = Vec::new();
    for (from, name) in names.iter().enumerate() {
        let Some(id) = hierarchy.get(&name.to_lowercase()) else { continue };
        for parent in hierarchy.parents(id) {
            let parent = hierarchy.name(*parent).to_string();
            edges.extend(names.iter().position(|known| *known == parent).map(|to| (from, to, String::new())));
        }
    }
    Diagram { nodes: names, edges }
}

/// Names of predicates and functions in a domain that has a part of one action alone.
fn names_in(mut part: Domain) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    part.visit_names(&mut |kind, name| {
        if matches!(kind, NameKind::Predicate | NameKind::Function) {
            names.insert(name.key().to_owned());
        }
    });
    names
}

/// By action, the names that it needs, and those in its effect.
fn needs_and_changes(domain: &Domain) -> Vec<(String, BTreeSet<String>, BTreeSet<String>)> {
    let empty = Domain {
        types: Vec::new(),
        constants: Vec::new(),
        predicates: Vec::new(),
        functions: Vec::new(),
        actions: Vec::new(),
        durative_actions: Vec::new(),
        derived: Vec::new(),
        constraints: None,
        ..domain.clone()
    };
    let mut found = Vec::new();
    for action in &domain.actions {
        let part = |action: Action| names_in(Domain { actions: vec![action], ..empty.clone() });
        let needed = part(Action { effect: None, ..action.clone() });
        let changed = part(Action { precondition: None, ..action.clone() });
        found.push((action.name.to_string(), needed, changed));
    }
    for action in &domain.durative_actions {
        let part =
            |action: DurativeAction| names_in(Domain { durative_actions: vec![action], ..empty.clone() });
        let needed = part(DurativeAction { effect: None, ..action.clone() });
        let changed = part(DurativeAction { condition: None, duration: None, ..action.clone() });
        found.push((action.name.to_string(), needed, changed));
    }
    found
}

fn causal(domain: &Domain) -> Diagram {
    // From what is needed to what is changed -> the actions.
    let mut arrows: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut nodes: BTreeSet<String> = BTreeSet::new();
    for (action, needed, changed) in needs_and_changes(domain) {
        nodes.extend(needed.iter().chain(&changed).cloned());
        for from in &needed {
            for to in changed.iter().filter(|to| *to != from) {
                arrows.entry((from.clone(), to.clone())).or_default().push(action.clone());
            }
        }
    }
    let nodes: Vec<String> = nodes.into_iter().collect();
    let place = |name: &String| nodes.iter().position(|node| node == name).unwrap_or(0);
    let edges = arrows.iter().map(|((from, to), actions)| (place(from), place(to), actions.join(", ")));
    Diagram { edges: edges.collect(), nodes: nodes.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_from_what_an_action_needs_to_what_it_changes_and_from_a_type_to_the_one_it_is_part_of() {
        let domain = "(define (domain d) (:requirements :strips :typing) (:types van - vehicle vehicle place)
            (:predicates (at ?v - vehicle ?p - place) (fuel ?v - vehicle) (known ?p - place))
            (:action drive :parameters (?v - van ?a ?b - place) :precondition (and (at ?v ?a) (fuel ?v))
             :effect (and (not (at ?v ?a)) (at ?v ?b) (not (fuel ?v)))))";
        let draw = |subject| diagram(&Context::default(), &Source::text("domain", domain), subject);
        let causal = draw(DiagramSubject::Causal).unwrap();
        assert_eq!(causal.text, "at -> fuel (drive)\nfuel -> at (drive)\n");
        let types = draw(DiagramSubject::Types).unwrap();
        assert!(types.text.contains("van -> vehicle\n"), "{}", types.text);
        assert!(types.svg.contains(">van</text>"), "{}", types.svg);
        let broken = diagram(&Context::default(), &Source::text("domain", "("), DiagramSubject::Types);
        assert_eq!(broken.unwrap_err().status, Status::Negative);
    }
}
