//! The rules of the actions: the domain's text, or its conditions and effects in words.

use planforge_contract::TaskView;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect};
use planforge_pddl::{parse_domain, print_condition, print_effect};
use planforge_plugin_sdk::wording::Wording;

/// The rules: of the domain if it is given, else of the domain's text.
pub(crate) fn of(domain: Option<&str>, task: &TaskView) -> String {
    match domain {
        Some(domain) => of_domain(&parse_domain(domain, SourceId(0)).value, task),
        None => of_text(&task.domain_text),
    }
}

/// From the first entry of a list on, if the text lists its actions; else the whole text.
fn of_text(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let first = lines.iter().position(|line| is_entry(line)).unwrap_or(0);
    lines.get(first..).unwrap_or_default().join("\n")
}

fn is_entry(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || (numbered.len() < line.len() && (numbered.starts_with(". ") || numbered.starts_with(") ")))
}

/// One entry an action. Conditions and effects other than facts are given as PDDL.
fn of_domain(domain: &Domain, task: &TaskView) -> String {
    let wording = Wording::new(&task.materials.sentences);
    let entries: Vec<String> = domain.actions.iter().map(|a| entry(a, &wording)).collect();
    entries.join("\n")
}

fn entry(action: &Action, wording: &Wording) -> String {
    let parameters: String = action.parameters.iter().map(|p| format!(" {}", p.name)).collect();
    let mut needs = Vec::new();
    action.precondition.iter().for_each(|c| conditions(c, wording, &mut needs));
    let mut changes = Vec::new();
    action.effect.iter().for_each(|e| effects(e, wording, &mut changes));
    let told = |parts: Vec<String>| match parts.is_empty() {
        true => "nothing.".to_owned(),
        false => parts.join(" "),
    };
    format!("- ({}{parameters}). It needs: {} It changes: {}", action.name, told(needs), told(changes))
}

fn conditions(condition: &Condition, wording: &Wording, out: &mut Vec<String>) {
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|p| conditions(p, wording, out)),
        Condition::Atom(atom) => out.push(fact(atom, true, wording)),
        Condition::Not(inner, _) => match &**inner {
            Condition::Atom(atom) => out.push(fact(atom, false, wording)),
            Condition::Equal(a, b, _) => out.push(format!("{} and {} are different.", a.name(), b.name())),
            _ => out.push(format!("{}.", print_condition(condition))),
        },
        other => out.push(format!("{}.", print_condition(other))),
    }
}

fn effects(effect: &Effect, wording: &Wording, out: &mut Vec<String>) {
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|p| effects(p, wording, out)),
        Effect::Add(atom) => out.push(fact(atom, true, wording)),
        Effect::Delete(atom, _) => out.push(fact(atom, false, wording)),
        other => out.push(format!("{}.", print_effect(other))),
    }
}

fn fact(atom: &Atom, holds: bool, wording: &Wording) -> String {
    let arguments: Vec<String> = atom.args.iter().map(|t| t.name().to_string()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    wording.fact(atom.predicate.as_str(), &arguments, holds)
}
