//! Descriptions of actions in words (domain-generators paper, section 3), for models that write a domain
//! action by action.
//!
//! A description has the purpose and parameters of an action (base), also its needs and deletions (flipped:
//! the literals of pre(a) ∩ del(a)), or as many literals drawn from all its conditions and effects (random).
//! `actions.toml` may hold texts written for a class; missing ones are made from the action's name and
//! parameters, the suite's descriptions of types and its sentences.

mod file;
mod literals;

use super::Suite;
use crate::config::DescriptionClass;
use literals::{Literal, LiteralWording, described_literals, kind};
use planforge_contract::{ActionDescription, ActionExample, ActionMaterials, PredicateDescription};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Action, Domain, PredicateDecl, Problem, TypedName};
use planforge_pddl::{Name, TaskSources, parse_domain, print_action, print_domain, requirements_used};
use planforge_plugin_sdk::wording::{Wording, clause, list};

pub(super) use file::{ActionFile, read};
pub use file::{ActionTexts, PredicateText, read_declaration, same_parameters};

/// The materials of a suite whose actions are given in words. Where the predicates are not, neither is what is made of them.
pub(super) fn materials(suite: &Suite, class: DescriptionClass, given: bool) -> ActionMaterials {
    let Some(text) = &suite.reference_domain else { return ActionMaterials::default() };
    let domain = parse_domain(text, SourceId(0)).value;
    let described: Vec<ActionDescription> =
        domain.actions.iter().map(|action| describe(suite, action, class)).collect();
    let predicates = given.then(|| predicates(suite, &domain));
    let requirements = requirements(&domain);
    let mut header = Domain { actions: Vec::new(), durative_actions: Vec::new(), requirements, ..domain };
    if !given {
        header.predicates.clear();
        header.functions.clear();
        header.derived.clear();
        header.constraints = None;
    }
    ActionMaterials {
        header: Some(print_domain(&header)),
        described: Some(described),
        predicates,
        examples: None,
    }
}

/// The requirements of a domain, and those that its actions use undeclared: a header without them would
/// forbid to write the actions.
fn requirements(domain: &Domain) -> Vec<Name> {
    let mut all = domain.requirements.clone();
    // These stand for most others.
    if all.iter().any(|declared| [":adl", ":ucpop"].contains(&declared.key())) {
        return all;
    }
    for used in requirements_used(domain, &Problem::default(), TaskSources::default()) {
        if !all.iter().any(|declared| declared.key() == used.requirement) {
            all.push(Name::new(used.requirement, used.span));
        }
    }
    all
}

/// Reports descriptions that would show names of withheld predicates: a literal without a sentence contains
/// its predicate's name.
pub(super) fn telling_names(suite: &Suite, class: DescriptionClass) -> Vec<Diagnostic> {
    let Some(text) = &suite.reference_domain else { return Vec::new() };
    let domain = parse_domain(text, SourceId(0)).value;
    let sentence = |name: &str| suite.sentences.keys().any(|known| known.eq_ignore_ascii_case(name));
    let mut found = Vec::new();
    for action in &domain.actions {
        if suite.action_texts.get(action.name.key()).is_some_and(|texts| texts.of(class).is_some()) {
            continue;
        }
        let literals = described_literals(action, class, &draw_name(suite, action));
        let silent = literals.iter().flat_map(Literal::predicates).find(|name| !sentence(name));
        found.extend(silent.map(|predicate| {
            let message = format!(
                "the pipeline withholds the predicates, and suite `{}` has no sentence for `{predicate}`, which the description of `{}` tells",
                suite.name, action.name
            );
            Diagnostic::error("suite.no-sentence", message).help(format!(
                "write a sentence for it in sentences.toml, a text for `{}` in actions.toml, or give `actions = \"base\"`",
                action.name
            ))
        }));
    }
    found
}

/// The actions of a suite as in-context examples.
pub(crate) fn examples(suite: &Suite, class: DescriptionClass) -> Vec<ActionExample> {
    let Some(text) = &suite.reference_domain else { return Vec::new() };
    let domain = parse_domain(text, SourceId(0)).value;
    let predicates = predicates(suite, &domain);
    let example = |action: &Action| ActionExample {
        suite: suite.name.clone(),
        action: describe(suite, action, class),
        predicates: predicates.clone(),
        pddl: print_action(action),
    };
    domain.actions.iter().map(example).collect()
}

/// Descriptions of the predicates of a domain: the suite's own words from `actions.toml`, else its sentences.
fn predicates(suite: &Suite, domain: &Domain) -> Vec<PredicateDescription> {
    let wording = Wording::new(&suite.sentences);
    let described = |declared: &PredicateDecl| {
        if let Some(written) = suite.predicate_texts.get(declared.name.key()) {
            let declaration =
                written.declaration.clone().unwrap_or_else(|| file::print_declaration(declared));
            return PredicateDescription { declaration, text: written.text.clone() };
        }
        let names: Vec<&str> = declared.parameters.iter().map(bare).collect();
        PredicateDescription {
            declaration: file::print_declaration(declared),
            text: clause(&wording.fact(declared.name.as_str(), &names, true)),
        }
    };
    domain.predicates.iter().map(described).collect()
}

/// One action in words.
fn describe(suite: &Suite, action: &Action, class: DescriptionClass) -> ActionDescription {
    let written = suite.action_texts.get(action.name.key());
    let text = written.and_then(|texts| texts.of(class)).cloned().unwrap_or_else(|| {
        let base = written.and_then(|texts| texts.base.clone()).unwrap_or_else(|| base(suite, action));
        LiteralWording::new(&suite.sentences, &suite.types)
            .text(&base, &described_literals(action, class, &draw_name(suite, action)))
    });
    ActionDescription { name: action.name.to_string(), text }
}

/// The part of an action's `random` description beyond the base, in words. The drawn conditions and effects
/// depend on the suite's name, the action's and the order of the domain.
pub(super) fn random_text(suite: &Suite, action: &Action) -> String {
    describe(suite, action, DescriptionClass::Random).text
}

/// The seed text of a draw.
fn draw_name(suite: &Suite, action: &Action) -> String {
    format!("{}/{}", suite.name, action.name.key())
}

/// `The action "pick" is done with a ball b, a room r and a gripper g.`
fn base(suite: &Suite, action: &Action) -> String {
    let with: Vec<String> =
        action.parameters.iter().map(|p| format!("{} {}", kind(&suite.types, p), bare(p))).collect();
    match with.as_slice() {
        [] => format!("The action \"{}\" is done with nothing.", action.name),
        with => format!("The action \"{}\" is done with {}.", action.name, list(with)),
    }
}

fn bare(parameter: &TypedName) -> &str {
    parameter.name.as_str().trim_start_matches('?')
}
