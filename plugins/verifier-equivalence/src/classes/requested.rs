//! The requested actions of a candidate, and a check of its predicates.

use planforge_contract::Candidate;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Domain;
use planforge_pddl::parse_domain;
use planforge_planning::result_class::named_action;
use std::collections::BTreeSet;

/// Most predicates that a message names.
const MOST: usize = 5;

/// A requested action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestedAction {
    /// As the reference has it.
    pub(crate) name: String,
    /// Its text; empty if there is none.
    pub(crate) text: String,
}

/// The requested actions of a candidate, in the order of `names`: those that it has a text for or, without
/// such texts, all, taken from its domain by name.
pub(crate) fn requested_actions(candidate: &Candidate, names: &[String]) -> Vec<RequestedAction> {
    let one = |name: &String, text: String| RequestedAction { name: name.clone(), text };
    if own_texts(candidate).next().is_some() {
        let text = |name: &String| candidate.texts.action(name);
        return names.iter().filter_map(|name| Some(one(name, text(name)?.clone()))).collect();
    }
    let domain = candidate.domain.as_deref().unwrap_or_default();
    let block = |name: &String| named_action(domain, name).map(|block| block.text).unwrap_or_default();
    names.iter().map(|name| one(name, block(name))).collect()
}

/// Names of actions that the candidate has a text for.
pub(crate) fn own_texts(candidate: &Candidate) -> impl Iterator<Item = &str> {
    candidate.texts.actions.keys().map(String::as_str)
}

/// The reason why the candidate's actions cannot be judged in `domain`: its own domain declares other
/// predicates. A candidate without a domain is assumed to use these.
pub(crate) fn other_predicates(candidate: &Candidate, domain: &Domain) -> Option<String> {
    let text = candidate.domain.as_deref().filter(|text| !text.trim().is_empty())?;
    let (wanted, own) =
        (declared_predicates(domain), declared_predicates(&parse_domain(text, SourceId(0)).value));
    let missing: Vec<String> = wanted.difference(&own).map(predicate_text).collect();
    let extra: Vec<String> = own.difference(&wanted).map(predicate_text).collect();
    let list = |names: &[String]| {
        let more = names.len().saturating_sub(MOST);
        let shown = names[..names.len().min(MOST)].join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let why = match (missing.is_empty(), extra.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("without {}", list(&missing)),
        (true, false) => format!("with {} besides", list(&extra)),
        (false, false) => format!("with {} and without {}", list(&extra), list(&missing)),
    };
    Some(format!("the candidate's actions are written over other predicates than the reference's, {why}"))
}

/// Predicates by name and number of arguments.
fn declared_predicates(domain: &Domain) -> BTreeSet<(String, usize)> {
    domain.predicates.iter().map(|p| (p.name.key().to_owned(), p.parameters.len())).collect()
}

fn predicate_text((name, arguments): &(String, usize)) -> String {
    format!("{name}/{arguments}")
}
