//! Replies and their texts: PDDL or edit calls, and that it is simulated.

use crate::options::Likelihood;
use crate::revise::Schema;
use planforge_contract::TokenLogprob;
use planforge_pddl::ast::{Domain, InitElement, PredicateDecl, Problem, TypedName};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, print_condition, print_typed_list};
use std::collections::BTreeSet;
use std::fmt::Write as _;

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

/// The thought for a domain with its mistakes.
pub(crate) fn domain_thought(domain: &Domain) -> String {
    let mut out = String::new();
    for predicate in &domain.predicates {
        let _ = writeln!(out, "predicate {}: {}", predicate.name, about(&predicate.parameters));
    }
    for Schema { name, durations, preconditions, effects } in Schema::all(domain, true) {
        let takes = durations.map(|list| format!("takes {}, ", all(&list))).unwrap_or_default();
        let (needs, makes) = (all(&preconditions), all(&effects));
        let _ = writeln!(out, "action {name}: {takes}needs {needs}, and makes true {makes}");
    }
    out
}

/// The thought for a problem: its predicates, its initial state and its goal.
pub(crate) fn problem_thought(domain: &Domain, problem: &Problem) -> String {
    let used: BTreeSet<&Name> = problem
        .init
        .iter()
        .filter_map(|element| match element {
            InitElement::Atom(atom) => Some(&atom.predicate),
            _ => None,
        })
        .collect();
    let mut out = String::new();
    for predicate in domain.predicates.iter().filter(|p| used.contains(&p.name)) {
        let _ = writeln!(out, "predicate {}: {}", predicate.name, about(&predicate.parameters));
    }
    let _ = writeln!(out, "initial state: {} facts are true", problem.init.len());
    if let Some(goal) = &problem.goal {
        let goals: Vec<String> = goal.conjuncts().iter().map(|c| one_line(&print_condition(c))).collect();
        let _ = writeln!(out, "goal: {}", all(&goals));
    }
    out
}

fn about(parameters: &[TypedName]) -> String {
    if parameters.is_empty() {
        return "is true or false of the whole state".to_owned();
    }
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    format!("holds of {}", names.join(", "))
}

fn all(terms: &[String]) -> String {
    if terms.is_empty() { "nothing".to_owned() } else { terms.join(" and ") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters of a token, unless the options set them.
pub(crate) const CHARACTERS: u32 = 4;

/// The tokens of a text with `mistakes` in it.
pub(crate) fn simulated_tokens(
    likelihood: &Likelihood,
    characters: u32,
    text: &str,
    mistakes: usize,
    random: &mut Random,
) -> Vec<TokenLogprob> {
    let all: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = all.chunks(characters.max(1) as usize).map(|c| c.iter().collect()).collect();
    let n = pieces.len().max(1) as f64;
    let sum =
        n * likelihood.mean - mistakes as f64 * likelihood.per_mistake + likelihood.spread * normal(random);
    let logprob = (sum / n).min(0.0);
    pieces.into_iter().map(|token| TokenLogprob { token, logprob }).collect()
}

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut Random) -> f64 {
    // Never the logarithm of 0: `unit` is below 1.
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// A number from a Poisson distribution (Knuth's method, for means of some hundreds at most).
pub(crate) fn poisson(mean: f64, random: &mut Random) -> u32 {
    let limit = (-mean).exp();
    let mut product = random.unit();
    let mut count = 0;
    while product > limit {
        product *= random.unit();
        count += 1;
    }
    count
}
