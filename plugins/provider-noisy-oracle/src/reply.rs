//! Replies and their texts: PDDL or edit calls, and that it is simulated.

use crate::revise::Schema;
use planforge_contract::TokenLogprob;
use planforge_pddl::ast::PredicateDecl;
use planforge_pddl::print_typed_list;

/// Beginning of every reply, so that no record of it can be taken for a language model's.
pub(crate) const SIMULATED: &str =
    "This reply is simulated by provider-noisy-oracle; no language model was asked.";

/// One reply with notes for the record.
pub(crate) struct SimulatedReply {
    pub(crate) text: String,
    pub(crate) note: serde_json::Value,
    /// Number of mistakes.
    pub(crate) mistakes: usize,
    /// The tokens, if log-probabilities are requested and the options define them.
    pub(crate) tokens: Option<Vec<TokenLogprob>>,
}

impl SimulatedReply {
    pub(crate) fn new(text: String, note: serde_json::Value, mistakes: usize) -> Self {
        Self { text, note, mistakes, tokens: None }
    }
}

pub(crate) fn definitions(texts: &[String]) -> String {
    let blocks: Vec<String> = texts.iter().map(|text| format!("```pddl\n{}\n```", text.trim_end())).collect();
    format!("{SIMULATED}\n\n{}", blocks.join("\n\n"))
}

/// A thought and PDDL, each under its heading. `what` is `Domain` or `Problem`.
pub(crate) fn thought(thought: &str, what: &str, pddl: &str) -> String {
    format!(
        "{SIMULATED}\n\n### Thought:\n{}\n\n### {what}:\n```pddl\n{}\n```",
        thought.trim_end(),
        pddl.trim_end()
    )
}

pub(crate) fn prose(text: &str) -> String {
    format!("{SIMULATED}\n\n{text}")
}

pub(crate) fn block(language: &str, text: &str) -> String {
    format!("{SIMULATED}\n\n```{language}\n{}\n```", text.trim_end())
}

pub(crate) fn edits(predicates: &[&PredicateDecl], schemas: &[&Schema]) -> String {
    let mut calls = Vec::new();
    if !predicates.is_empty() {
        let declarations: Vec<String> = predicates.iter().map(|p| declaration(p)).collect();
        calls.push(format!("add_or_update_predicates({})", list(&declarations, "    ")));
    }
    for schema in schemas {
        calls.push(format!(
            "modify_action(\n    {},\n    {},\n    {},\n)",
            quoted(schema.name.as_str()),
            list(&schema.preconditions, "        "),
            list(&schema.effects, "        ")
        ));
    }
    format!("{SIMULATED}\n\n```python\n{}\n```", calls.join("\n"))
}

fn declaration(predicate: &PredicateDecl) -> String {
    let parameters = print_typed_list(&predicate.parameters);
    match parameters.is_empty() {
        true => format!("({})", predicate.name),
        false => format!("({} {parameters})", predicate.name),
    }
}

fn list(items: &[String], indent: &str) -> String {
    if items.is_empty() {
        return "[]".to_owned();
    }
    let outer = indent.get(4..).unwrap_or_default();
    let lines: Vec<String> = items.iter().map(|item| format!("{indent}{},\n", quoted(item))).collect();
    format!("[\n{}{outer}]", lines.concat())
}

/// A string as Python and JSON write it. PDDL has no character that would need more than this.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
