//! The derivation of a part of an inferred problem, as a tree: the atom, the rule that made it,
//! the premises of the rule, down to the lines of the intermediate representation (translate-infer-compile
//! paper, section 3.3).

use planforge_app::contract::{IdleReason, Inference, InferenceRule, InferredEntry, RuleOrigin};
use planforge_app::diagnostics::render::escape;
use planforge_app::runs::explain::section_name;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Atoms shown of one derivation; JSON has all.
const SHOWN_ATOMS: usize = 200;

/// One part of the problem: its line, and below it each atom with the rule that made it and what that rule needed.
pub(crate) fn tree(inference: &Inference, entry: &InferredEntry) -> String {
    let mut out = format!("{}  in :{}\n", escape(&entry.pddl), section_name(entry.section));
    if entry.atoms.is_empty() {
        out.push_str("  the domain asks for it\n");
    }
    let mut shown = BTreeSet::new();
    // A stack instead of recursion: a sequence of a thousand steps is a derivation a thousand deep.
    let mut rest: Vec<(u32, usize)> = entry.atoms.iter().rev().map(|&atom| (atom, 1)).collect();
    while let Some((index, depth)) = rest.pop() {
        let indent = "  ".repeat(depth.min(MOST_INDENT));
        let Some(atom) = inference.atoms.get(index as usize) else {
            _ = writeln!(out, "{indent}(the record does not hold atom {index})");
            continue;
        };
        if !shown.insert(index) {
            _ = writeln!(out, "{indent}{}  (as above)", escape(&atom.atom));
            continue;
        }
        if shown.len() > SHOWN_ATOMS {
            _ = writeln!(out, "{indent}... more atoms; --json has all");
            break;
        }
        _ = writeln!(out, "{indent}{}", escape(&atom.atom));
        _ = writeln!(out, "{indent}  by {}", rule(inference, atom.rule));
        for absent in &atom.absent {
            _ = writeln!(out, "{indent}  with {}", escape(absent));
        }
        match atom.others {
            0 => {}
            1 => _ = writeln!(out, "{indent}  one further way leads to it"),
            n => _ = writeln!(out, "{indent}  {n} further ways lead to it"),
        }
        rest.extend(atom.premises.iter().rev().map(|&premise| (premise, depth + 1)));
    }
    out
}

/// Deepest indentation; deeper atoms are printed at this level.
const MOST_INDENT: usize = 40;

/// The lines of the representation without effect, or that there are none.
pub(crate) fn idle(inference: &Inference) -> String {
    if inference.idle.is_empty() {
        return "every line of the intermediate representation has an effect\n".to_owned();
    }
    let mut out = "lines of the intermediate representation without effect:\n".to_owned();
    for idle in &inference.idle {
        _ = writeln!(out, "  {}\n    {}", rule(inference, idle.rule), reason(idle.reason));
    }
    out
}

fn reason(reason: IdleReason) -> &'static str {
    match reason {
        IdleReason::NeverApplies => "its conditions never hold",
        IdleReason::Follows => "what it says follows from the other lines",
        IdleReason::NotCompiled => "what it says is not part of the PDDL, and nothing follows from it",
    }
}

/// `ir:7:1: init(clean(X)) :- object(X, shot).`
fn rule(inference: &Inference, index: u32) -> String {
    let Some(rule) = inference.rules.get(index as usize) else {
        return format!("rule {index}, which the record does not hold");
    };
    let whose = match rule.origin {
        RuleOrigin::Text | RuleOrigin::Knowledge => "",
        RuleOrigin::Library => " (library)",
        RuleOrigin::Domain => " (from the domain's declarations)",
    };
    let InferenceRule { source, line, column, text, .. } = rule;
    format!("{}:{line}:{column}{whose}: {}", escape(source), escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_app::contract::{InferredAtom, ProblemSection};

    fn rule(text: &str) -> InferenceRule {
        InferenceRule { origin: RuleOrigin::Text, source: "ir".into(), line: 1, column: 1, text: text.into() }
    }

    fn atom(atom: &str, premises: &[u32]) -> InferredAtom {
        InferredAtom { atom: atom.into(), rule: 0, premises: premises.to_vec(), absent: vec![], others: 0 }
    }

    fn entry(atoms: &[u32]) -> InferredEntry {
        InferredEntry { section: ProblemSection::Init, pddl: "(p)".into(), atoms: atoms.to_vec() }
    }

    #[test]
    fn a_shared_premise_is_shown_once() {
        let inference = Inference {
            rules: vec![rule("p.")],
            atoms: vec![atom("a", &[1, 2]), atom("b", &[3]), atom("c", &[3]), atom("d", &[])],
            ..Inference::default()
        };
        let text = tree(&inference, &entry(&[0]));
        assert_eq!(text.matches("by ir:1:1: p.").count(), 4, "{text}");
        assert!(text.contains("      d  (as above)\n"), "{text}");
    }

    #[test]
    fn an_edited_record_is_shown_as_far_as_possible() {
        let inference =
            Inference { rules: vec![], atoms: vec![atom("a\u{1b}[31m", &[0, 7])], ..Inference::default() };
        let text = tree(&inference, &entry(&[0]));
        assert!(text.contains("rule 0, which the record does not hold"), "{text}");
        assert!(text.contains("does not hold atom 7"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn a_derivation_of_any_depth_is_shown() {
        let atoms = (0..100_000).map(|i| atom("next", &[i + 1])).collect();
        let inference = Inference { rules: vec![rule("p.")], atoms, ..Inference::default() };
        let text = tree(&inference, &entry(&[0]));
        assert!(text.contains("--json has all"), "{}", text.len());
        assert!(text.len() < 100_000, "{}", text.len());
    }
}
