//! Finds descriptions of actions that name the parameters in another order than the PDDL.

use crate::codes;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Action, Domain, TypedName};
use planforge_pipeline::Suite;

/// Actions whose written description names the parameters in another order than their schema. Which one a reader
/// takes over is open, so result classes are up to the order, and the class by position stands beside them.
pub(super) fn descriptions(suite: &Suite, domain: &Domain, source: SourceId) -> Vec<Diagnostic> {
    let of = |action: &Action| {
        let text = suite.action_texts.get(action.name.key())?.base.as_deref()?;
        let told = told_order(text, action)?;
        let names = |list: Vec<&str>| list.join(", ");
        let message = format!(
            "the description of `{}` names its parameters in another order than the PDDL: {} for {}",
            action.name,
            names(told),
            names(action.parameters.iter().map(bare).collect())
        );
        let help =
            "result classes are up to the order of parameters; where the order counts, let the text state it";
        let found = Diagnostic::advice(codes::PARAMETER_ORDER, message).help(help);
        Some(found.at(source, action.name.span, ""))
    };
    domain.actions.iter().filter_map(of).collect()
}

fn bare(parameter: &TypedName) -> &str {
    parameter.name.key().trim_start_matches('?')
}

/// The parameters in the order in which a text names them first, if that is another order than the schema's.
/// Parameters that it never names are left out.
fn told_order<'a>(text: &str, action: &'a Action) -> Option<Vec<&'a str>> {
    let text = text.to_lowercase();
    // The name of the action may contain that of a parameter.
    let quoted = format!("\"{}\"", action.name.key());
    let rest = text.split_once(&quoted).map_or(text.as_str(), |(_, rest)| rest);
    let words: Vec<&str> = rest
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let place = |parameter: &TypedName| {
        let name = bare(parameter);
        let types: Vec<&str> =
            parameter.ty.iter().flat_map(|ty| &ty.alternatives).map(|name| name.key()).collect();
        let is_type = |word: &str| types.iter().any(|ty| word == *ty || word.strip_suffix('s') == Some(ty));
        let after_type = words.windows(2).position(|pair| is_type(pair[0]) && pair[1] == name);
        // Without its type before it, `a` is an article.
        let alone = || words.iter().position(|word| *word == name && name != "a");
        after_type.map(|at| at + 1).or_else(alone)
    };
    let mut told: Vec<(usize, &str)> =
        action.parameters.iter().filter_map(|p| Some((place(p)?, bare(p)))).collect();
    if told.is_sorted_by_key(|(at, _)| *at) {
        return None;
    }
    told.sort_by_key(|(at, _)| *at);
    Some(told.into_iter().map(|(_, name)| name).collect())
}
