//! Predicates that grow action by action: which ones a reply proposes, and which ones say the same.

use crate::codes;
use crate::prompt::declaration;
use planforge_contract::PredicateDescription;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, PredicateDecl};
use planforge_pddl::{Name, parse_domain};
use std::collections::BTreeMap;

/// Most predicates that one reply may propose, and most of all.
const MOST_OF_A_REPLY: usize = 32;
const MOST: usize = 256;

/// The predicates so far, with what they say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grown {
    pub(crate) declared: Vec<PredicateDecl>,
    pub(crate) described: Vec<PredicateDescription>,
}

impl Grown {
    /// Takes what a reply proposes before its action: lines such as `(lit ?l - lamp): lamp l gives light`.
    pub(crate) fn take(&mut self, reply: &str, action_at: usize, out: &mut Vec<Diagnostic>) {
        let before = reply.get(..action_at).unwrap_or(reply);
        let mut taken = 0;
        let mut at = 0;
        for line in before.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let text = line.trim().trim_start_matches(['-', '*', '`', ' ']);
            if !text.starts_with('(')
                || text.starts_with("(:")
                || taken == MOST_OF_A_REPLY
                || self.declared.len() == MOST
            {
                continue;
            }
            match proposal(text) {
                Some((declared, said)) if self.fits(&declared) => {
                    taken += 1;
                    self.add(declared, said);
                }
                _ => {
                    let span = Span::new(start as u32, (start + line.trim_end().len()) as u32);
                    out.push(
                        Diagnostic::warning(codes::BAD_PREDICATE, "this new predicate is left out")
                            .at(SourceId(0), span, "")
                            .help("a new predicate is written as `(name ?x - type): what it says`, once"),
                    );
                }
            }
        }
    }

    /// Whether it is new, or the same again.
    fn fits(&self, declared: &PredicateDecl) -> bool {
        let known = self.declared.iter().find(|p| p.name == declared.name);
        known.is_none_or(|known| known.parameters.len() == declared.parameters.len())
    }

    fn add(&mut self, declared: PredicateDecl, said: String) {
        if self.declared.iter().any(|p| p.name == declared.name) {
            return;
        }
        let declaration = declaration(&declared.name, &declared.parameters);
        self.described.push(PredicateDescription { declaration, text: said });
        self.declared.push(declared);
    }

    /// Reads `old -> kept` lines and makes those predicates one, in the actions as well.
    pub(crate) fn unify(&mut self, reply: &str, actions: &mut [Action], out: &mut Vec<Diagnostic>) {
        let mut renamed: BTreeMap<String, Name> = BTreeMap::new();
        for line in reply.lines() {
            let Some((old, kept)) = line.split_once("->") else { continue };
            let word = |text: &str| text.trim().trim_matches(['`', '(', ')', '-', '*', ' ']).to_lowercase();
            let (old, kept) = (word(old), word(kept));
            let find = |name: &str| self.declared.iter().find(|p| p.name.is(name));
            let pair = find(&old).zip(find(&kept)).filter(|(a, b)| a.parameters.len() == b.parameters.len());
            // A name that is gone cannot be kept, which also rules out circles.
            match pair {
                Some((a, b)) if a.name != b.name && !renamed.contains_key(&kept) && !renamed.values().any(|n| n.is(&old)) => {
                    renamed.insert(old, b.name.clone());
                }
                _ => out.push(
                    Diagnostic::warning(codes::NOT_UNIFIED, "two predicates are not made one").help(format!(
                        "`{}` names two different predicates with as many arguments, of which neither was replaced",
                        line.trim().chars().take(100).collect::<String>()
                    )),
                ),
            }
        }
        let keep: Vec<bool> = self.declared.iter().map(|p| !renamed.contains_key(p.name.key())).collect();
        let mut kept = keep.iter();
        self.described.retain(|_| kept.next().copied().unwrap_or(true));
        self.declared.retain(|p| !renamed.contains_key(p.name.key()));
        for action in actions {
            action.precondition.iter_mut().for_each(|c| rename_condition(c, &renamed));
            action.effect.iter_mut().for_each(|e| rename_effect(e, &renamed));
        }
    }
}

/// A declaration with what stands behind it.
fn proposal(line: &str) -> Option<(PredicateDecl, String)> {
    let close = line.find(')')?;
    let (declaration, rest) = line.split_at(close + 1);
    let text = format!("(define (domain d) (:predicates {declaration}))");
    let parsed = parse_domain(&text, SourceId(0));
    let mut declared: Vec<PredicateDecl> = parsed.value.predicates;
    if parsed.diagnostics.iter().any(Diagnostic::is_error) || declared.len() != 1 {
        return None;
    }
    let said = rest.trim_start_matches(['`', ':', ' ', '-', '*']).trim();
    Some((declared.pop()?, said.chars().take(300).collect()))
}

fn rename(atom: &mut Atom, renamed: &BTreeMap<String, Name>) {
    if let Some(name) = renamed.get(atom.predicate.key()) {
        atom.predicate = name.at(atom.predicate.span);
    }
}

fn rename_condition(condition: &mut Condition, renamed: &BTreeMap<String, Name>) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| rename_condition(part, renamed));
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => rename_condition(inner, renamed),
        Condition::Imply(a, b, _) => {
            rename_condition(a, renamed);
            rename_condition(b, renamed);
        }
        Condition::Exists(q) | Condition::Forall(q) => rename_condition(&mut q.body, renamed),
        Condition::Atom(atom) => rename(atom, renamed),
        Condition::Equal(..)
        | Condition::Compare(_)
        | Condition::Preference(_)
        | Condition::Trajectory(_) => {}
    }
}

fn rename_effect(effect: &mut Effect, renamed: &BTreeMap<String, Name>) {
    match effect {
        Effect::And(parts, _) => parts.iter_mut().for_each(|part| rename_effect(part, renamed)),
        Effect::Forall(q) => rename_effect(&mut q.body, renamed),
        Effect::When(condition, inner, _) => {
            rename_condition(condition, renamed);
            rename_effect(inner, renamed);
        }
        Effect::Add(atom) | Effect::Delete(atom, _) => rename(atom, renamed),
        Effect::Timed(_, inner, _) => rename_effect(inner, renamed),
        Effect::Assign(_) => {}
    }
}

/// The header with these predicates in the place of its own.
pub(crate) fn with_predicates(header: &Domain, grown: &Grown) -> Domain {
    Domain { predicates: grown.declared.clone(), functions: Vec::new(), ..header.clone() }
}
