//! Applies the calls of a reply to a domain and, if the model may edit it, to a problem. Valid edits are applied; every other edit is refused with its reason.
//!
//! The domain stays valid at every step. Predicates are declared first, whatever the order of the calls. Then each action is filled in and
//! checked against them. A declaration that breaks an action which no edit repairs is undone, and all edits are checked again without it.

mod problem;
mod read;

pub(crate) use problem::faults as problem_faults;

use crate::calls::{ActionCall, Call, CallsOfReply, ProblemCall, REPLY, Text};
use crate::codes;
use planforge_contract::{AppliedFix, Edits, FixPolicy};
use planforge_diagnostics::{Diagnostic, SourceFile, SourceId, Span, apply_fixes};
use planforge_pddl::ast::{Domain, PredicateDecl, Problem};
use planforge_pddl::{check_domain, parse_domain, print_domain, print_problem};
use read::{EditReader, Refusals, has_same_parameters, signature};
use std::collections::{BTreeMap, BTreeSet};

/// Most findings reported about one edit.
const MAX_FINDINGS: usize = 4;

/// A domain after the edits of a reply.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) text: String,
    /// The problem, if it was changed.
    pub(crate) problem: Option<String>,
    pub(crate) edits: Edits,
    /// Findings about the reply in the order of its calls. Refusals are errors.
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) fixes: Vec<AppliedFix>,
}

/// The domain and reply of one application of edits.
pub(crate) struct EditTarget<'a> {
    pub(crate) domain: &'a Domain,
    /// The problem, if the model may edit it.
    pub(crate) problem: Option<&'a Problem>,
    /// Objects that problems declare, in lower case; `None` where no problem is known.
    pub(crate) objects: Option<&'a BTreeSet<String>>,
    pub(crate) fixes: FixPolicy,
    pub(crate) reply: &'a SourceFile,
}

/// A readable declaration of a predicate.
struct Declared {
    predicate: PredicateDecl,
    from: Span,
    fixes: Vec<AppliedFix>,
    /// The reason if it was undone.
    refused: Option<Diagnostic>,
}

/// Applies the calls of a reply.
pub(crate) fn apply(base: &EditTarget<'_>, reply: CallsOfReply) -> Edited {
    let mut refused: Vec<Refusals> = reply.refused.into_iter().map(|d| vec![d]).collect();
    let (mut items, mut actions, mut of_problem) = (Vec::new(), Vec::new(), Vec::new());
    for call in reply.calls {
        match call {
            Call::Predicates { items: found } => items.extend(found),
            Call::Action(call) => actions.push(call),
            Call::Problem(call) => of_problem.push(call),
        }
    }
    let mut declared = read_predicates(base, &items, &mut refused);
    let state = loop {
        let state = State::build(base, &declared, &actions);
        let broken = new_faults(base.domain, &state.domain);
        if broken.is_empty() || !undo_breaking_declarations(base, &state, &mut declared, &broken) {
            break if broken.is_empty() { state } else { State::unchanged(base, &mut declared, &actions) };
        }
    };
    refused.extend(declared.iter().filter_map(|d| d.refused.clone()).map(|d| vec![d]));
    refused.extend(state.refused);
    let kept = declared.iter().filter(|d| d.refused.is_none());
    let mut fixes: Vec<AppliedFix> = kept.clone().flat_map(|d| d.fixes.clone()).collect();
    fixes.extend(state.fixes);
    let mut applied = kept.count() + state.applied;
    let problem = base.problem.filter(|_| !of_problem.is_empty()).map(|problem| {
        let edited = edit_problem(base, &state.domain, problem, &of_problem);
        applied += edited.applied;
        refused.extend(edited.refused);
        fixes.extend(edited.fixes);
        edited.problem
    });
    let unchanged = base.problem.map(print_problem);
    let problem =
        problem.map(|edited| print_problem(&edited)).filter(|text| Some(text) != unchanged.as_ref());
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let edits = Edits { applied: count(applied), refused: count(refused.len()) };
    refused.sort_by_key(|r| r.first().and_then(Diagnostic::primary).map(|l| l.span.start));
    let mut diagnostics: Vec<Diagnostic> = refused.into_iter().flat_map(first_findings).collect();
    diagnostics.extend(reply.notes);
    Edited { text: with_requirements(&state.domain), problem, edits, diagnostics, fixes }
}

/// Applies the calls that edit the problem, against the edited domain.
fn edit_problem(
    base: &EditTarget<'_>,
    domain: &Domain,
    problem: &Problem,
    calls: &[ProblemCall],
) -> problem::EditedProblem {
    let reader = EditReader::new(domain, base.fixes, base.objects, base.reply);
    problem::apply(&reader, domain, problem, calls)
}

/// The first findings, each once: a mistake in a precondition is often repeated in the effect.
fn first_findings(refusals: Refusals) -> Refusals {
    let mut refusals = distinct_messages(refusals);
    refusals.truncate(MAX_FINDINGS);
    refusals
}

fn distinct_messages(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    found.retain(|d| seen.insert(d.message.clone()));
    found
}

fn read_predicates(base: &EditTarget<'_>, items: &[Text], refused: &mut Vec<Refusals>) -> Vec<Declared> {
    let bare = Domain { predicates: Vec::new(), derived: Vec::new(), ..base.domain.clone() };
    let setting = EditReader::new(&bare, base.fixes, base.objects, base.reply);
    let mut declared = Vec::new();
    for item in items {
        for outcome in setting.predicates(item) {
            match outcome {
                Ok(done) => declared.push(Declared {
                    predicate: done.value,
                    from: item.span,
                    fixes: done.fixes,
                    refused: None,
                }),
                Err(findings) => {
                    let findings =
                        findings.into_iter().map(|d| about("predicates", with_types(base.domain, d)));
                    refused.push(findings.collect());
                }
            }
        }
    }
    declared
}

/// The domain with the declarations that are not undone, and the outcome of each action call.
struct State {
    domain: Domain,
    applied: usize,
    refused: Vec<Refusals>,
    fixes: Vec<AppliedFix>,
}

impl State {
    fn build(base: &EditTarget<'_>, declared: &[Declared], calls: &[ActionCall]) -> Self {
        let mut domain = base.domain.clone();
        for d in declared.iter().filter(|d| d.refused.is_none()) {
            match domain.predicates.iter_mut().find(|p| p.name == d.predicate.name) {
                Some(old) => old.clone_from(&d.predicate),
                None => domain.predicates.push(d.predicate.clone()),
            }
        }
        let setting = EditReader::new(&domain, base.fixes, base.objects, base.reply);
        let mut state = Self { domain, applied: 0, refused: Vec::new(), fixes: Vec::new() };
        for call in calls {
            match state.action(&setting, call) {
                Ok(fixes) => {
                    state.applied += 1;
                    state.fixes.extend(fixes);
                }
                Err(refusals) => state.refused.push(refusals),
            }
        }
        state
    }

    fn action(&mut self, setting: &EditReader<'_>, call: &ActionCall) -> Result<Vec<AppliedFix>, Refusals> {
        let (name, rest) = split_name(&call.name.value);
        let Some(index) = self.domain.actions.iter().position(|a| a.name.is(&name.to_lowercase())) else {
            return Err(vec![unknown_action(&self.domain, name, call.name.span)]);
        };
        let Some(original) = self.domain.actions.get_mut(index) else { return Err(Vec::new()) };
        let in_name = rest.map(|text| vec![Text { value: text.to_owned(), span: call.name.span }]);
        for given in [in_name, call.parameters.clone()].into_iter().flatten() {
            if !has_same_parameters(&given, &original.parameters) {
                let message = format!("the parameters of `{}` cannot be changed", original.name);
                let span = given.first().map_or(call.span, |t| t.span);
                let help = format!("they are {}", signature(original));
                return Err(vec![
                    Diagnostic::error(codes::EDIT_SIGNATURE, message).at(REPLY, span, "").help(help),
                ]);
            }
        }
        let help = format!("the parameters of `{}` are {}", original.name, signature(original));
        match setting.action(original, call) {
            Ok(done) => {
                *original = done.value;
                Ok(done.fixes)
            }
            Err(findings) => {
                let what = original.name.to_string();
                let findings = findings.into_iter().map(|d| {
                    match matches!(&*d.code, "pddl.unbound-variable" | "pddl.type-mismatch") {
                        true => about(&what, d.help(help.clone())),
                        false => about(&what, d),
                    }
                });
                Err(findings.collect())
            }
        }
    }

    /// The unchanged domain: for edits that break it together, without one that is the cause.
    fn unchanged(base: &EditTarget<'_>, declared: &mut [Declared], calls: &[ActionCall]) -> Self {
        let breaks = |span: Span| {
            let message = "together the edits break the domain; none of them is made";
            Diagnostic::error(codes::EDIT_BREAKS, message).at(REPLY, span, "")
        };
        for d in declared.iter_mut().filter(|d| d.refused.is_none()) {
            d.refused = Some(breaks(d.from));
        }
        let refused = calls.iter().map(|call| vec![breaks(call.span)]).collect();
        Self { domain: base.domain.clone(), applied: 0, refused, fixes: Vec::new() }
    }
}

/// Splits an action's name from parameters behind it: `move (?a ?b)`.
fn split_name(text: &str) -> (&str, Option<&str>) {
    let text = text.trim().trim_matches('`');
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).map_or(text, str::trim);
    match inner.split_once(|c: char| c.is_whitespace() || c == '(') {
        Some((name, rest)) if !rest.trim().is_empty() => (name, Some(rest)),
        _ => (inner, None),
    }
}

fn unknown_action(domain: &Domain, name: &str, span: Span) -> Diagnostic {
    let known: Vec<String> = domain.actions.iter().map(|a| format!("`{}`", a.name)).collect();
    Diagnostic::error(codes::EDIT_ACTION, format!("there is no action `{name}`, and none can be added"))
        .at(REPLY, span, "")
        .help(format!("the actions are {}", known.join(", ")))
}

/// Adds the declared types to a finding about an unknown type: no edit can add one.
fn with_types(domain: &Domain, diagnostic: Diagnostic) -> Diagnostic {
    if diagnostic.code != "pddl.undefined-type" {
        return diagnostic;
    }
    let known: Vec<String> = domain.types.iter().map(|t| format!("`{}`", t.name)).collect();
    diagnostic.help(match known.is_empty() {
        true => "the domain has no types, and none can be added".to_owned(),
        false => format!("the types are {}, and none can be added", known.join(", ")),
    })
}

/// Prefixes a finding with the edit that it is about.
fn about(what: &str, diagnostic: Diagnostic) -> Diagnostic {
    let message = format!("`{what}`: {}", diagnostic.message);
    Diagnostic { message, ..diagnostic }
}

/// The errors of a domain by code and message, with their counts.
fn faults(domain: &Domain) -> BTreeMap<(String, String), usize> {
    let mut faults = BTreeMap::new();
    let parsed = parse_domain(&print_domain(domain), SourceId(0));
    let found = parsed.diagnostics.into_iter().chain(check_domain(&parsed.value, SourceId(0)));
    for d in found.filter(Diagnostic::is_error) {
        *faults.entry((d.code.to_string(), d.message)).or_insert(0) += 1;
    }
    faults
}

/// The errors of `after` that `before` does not have.
fn new_faults(before: &Domain, after: &Domain) -> Vec<(String, String)> {
    let old = faults(before);
    let new = faults(after);
    new.into_iter().filter(|(what, n)| old.get(what).is_none_or(|m| m < n)).map(|(what, _)| what).collect()
}

/// Undoes the changed declarations that cause an error. Returns false if there are none.
fn undo_breaking_declarations(
    base: &EditTarget<'_>,
    state: &State,
    declared: &mut [Declared],
    broken_now: &[(String, String)],
) -> bool {
    let mut found = false;
    for d in declared.iter_mut().filter(|d| d.refused.is_none()) {
        let Some(old) = base.domain.predicates.iter().find(|p| p.name == d.predicate.name) else { continue };
        let mut without = state.domain.clone();
        if let Some(now) = without.predicates.iter_mut().find(|p| p.name == old.name) {
            now.clone_from(old);
        }
        let left = new_faults(base.domain, &without);
        let Some((_, message)) = broken_now.iter().find(|fault| !left.contains(fault)) else { continue };
        let name = &d.predicate.name;
        let message = format!(
            "`predicates`: `{name}` keeps its parameters, because an action would no longer fit: {message}"
        );
        let help = format!("modify every action that uses `{name}` in the same reply");
        d.refused = Some(Diagnostic::error(codes::EDIT_BREAKS, message).at(REPLY, d.from, "").help(help));
        found = true;
    }
    found
}

/// Prints the domain with the requirements that the edits need.
fn with_requirements(domain: &Domain) -> String {
    let text = print_domain(domain);
    let source = SourceId(0);
    let parsed = parse_domain(&text, source);
    let fixes: Vec<_> = check_domain(&parsed.value, source)
        .into_iter()
        .filter(|d| d.code == "pddl.undeclared-requirement")
        .filter_map(|d| d.fix)
        .collect();
    match fixes.is_empty() {
        true => text,
        false => print_domain(&parse_domain(&apply_fixes(&text, source, &fixes).text, source).value),
    }
}

#[cfg(test)]
mod tests;
