//! Parses the pieces of a call as PDDL, each in its place in a definition that is otherwise correct.

use super::pieces::{ParsedLists, pieces, without_section};
use crate::calls::{ActionCall, REPLY, Text};
use crate::codes;
use planforge_contract::{AppliedFix, FixPolicy};
use planforge_diagnostics::{Diagnostic, SourceFile, SourceId, Span};
use planforge_pddl::ast::{Action, Domain, PredicateDecl, TypedName};
use planforge_pddl::{
    check_domain, parse_domain, print_condition, print_domain, print_effect, print_typed_list,
};
use std::collections::BTreeSet;

/// Reasons against an edit; never empty.
pub(super) type Refusals = Vec<Diagnostic>;

/// Lists of PDDL with the repairs that they needed.
pub(super) type Lists = (Vec<String>, Vec<AppliedFix>);

/// Declarations against which edits are read.
pub(super) struct EditReader<'a> {
    /// The domain without actions, up to before its last parenthesis.
    prefix: String,
    pub(super) fixes: FixPolicy,
    /// Objects that problems declare, in lower case; `None` where no problem is known.
    pub(super) objects: Option<&'a BTreeSet<String>>,
    /// The reply, to place repairs.
    pub(super) reply: &'a SourceFile,
}

/// A range of the composed text and the string of the reply that it came from.
struct Part {
    start: usize,
    end: usize,
    from: Span,
}

/// A value with the repairs that it needed.
pub(super) struct Repaired<T> {
    pub(super) value: T,
    pub(super) fixes: Vec<AppliedFix>,
}

impl<'a> EditReader<'a> {
    pub(super) fn new(
        domain: &Domain,
        fixes: FixPolicy,
        objects: Option<&'a BTreeSet<String>>,
        reply: &'a SourceFile,
    ) -> Self {
        let mut printed = print_domain(&Domain {
            actions: Vec::new(),
            durative_actions: Vec::new(),
            constraints: None,
            ..domain.clone()
        });
        printed.truncate(printed.trim_end().len().saturating_sub(1));
        Self { prefix: printed, fixes, objects, reply }
    }

    fn cut(&self, text: &str, from: Span, described: bool) -> Result<ParsedLists, Box<Diagnostic>> {
        pieces(text, described, self.fixes).map_err(|refused| {
            let wrong = Diagnostic::error(refused.code, refused.message).at(REPLY, from, "");
            Box::new(match refused.code {
                codes::EDIT_PARENTHESES => {
                    wrong.help("each string is a list in parentheses, such as `(at ?x ?y)`")
                }
                _ => wrong,
            })
        })
    }

    /// The lists of a string that may be a whole section, with the repairs that it needed.
    pub(super) fn lists(&self, text: &Text, section: &str) -> Result<Lists, Box<Diagnostic>> {
        let cut = self.cut(without_section(&text.value, section), text.span, false)?;
        if cut.lists.is_empty() {
            let message = "the string holds no list of PDDL";
            return Err(Box::new(Diagnostic::error(codes::EDIT_FORM, message).at(REPLY, text.span, "")));
        }
        Ok((cut.lists, self.applied_fixes(cut.fixes, text.span)))
    }

    fn applied_fixes(&self, fixes: Vec<(&str, String)>, from: Span) -> Vec<AppliedFix> {
        let at = self.reply.line_column(from.start);
        let applied = |(code, title): (&str, String)| AppliedFix {
            code: code.to_owned(),
            title,
            line: at.line,
            column: at.column,
        };
        fixes.into_iter().map(applied).collect()
    }

    /// Reads the declarations in a string. `self` must be made from the domain without predicates.
    pub(super) fn predicates(&self, item: &Text) -> Vec<Result<Repaired<PredicateDecl>, Refusals>> {
        let cut = match self.cut(without_section(&item.value, ":predicates"), item.span, true) {
            Ok(cut) => cut,
            Err(refused) => return vec![Err(vec![*refused])],
        };
        if cut.lists.is_empty() {
            let message = "the string declares no predicate";
            let empty = Diagnostic::error(codes::EDIT_FORM, message).at(REPLY, item.span, "");
            return vec![Err(vec![empty])];
        }
        // The repairs of the string are reported once, with its first declaration.
        let mut fixes = self.applied_fixes(cut.fixes, item.span);
        let read = |list: &String| {
            let value = self.predicate(list, item.span)?;
            Ok(Repaired { value, fixes: std::mem::take(&mut fixes) })
        };
        cut.lists.iter().map(read).collect()
    }

    fn predicate(&self, list: &str, from: Span) -> Result<PredicateDecl, Refusals> {
        let Some((before, after)) = self.prefix.split_once("(:predicates)") else {
            return Err(vec![self.outside(from)]);
        };
        let text = format!("{before}(:predicates {list}){after})");
        let start = before.len() + "(:predicates ".len();
        let part = Part { start, end: start + list.len(), from };
        let (domain, refusals) = self.examine(&text, &[part]);
        let [declared] = domain.predicates.as_slice() else {
            return Err(or_else(refusals, || self.outside(from)));
        };
        match refusals.is_empty() {
            true => Ok(declared.clone()),
            false => Err(refusals),
        }
    }

    /// Returns the action with the call applied.
    pub(super) fn action(&self, original: &Action, call: &ActionCall) -> Result<Repaired<Action>, Refusals> {
        let mut fixes = Vec::new();
        let mut parts = Vec::new();
        let mut refusals = Vec::new();
        let mut text = self.prefix.clone();
        text.push_str(&format!(
            "\n  (:action {}\n    :parameters ({})",
            original.name,
            print_typed_list(&original.parameters)
        ));
        if !original.vars.is_empty() {
            text.push_str(&format!("\n    :vars ({})", print_typed_list(&original.vars)));
        }
        let kept = original.precondition.as_ref().map(print_condition);
        self.field(":precondition", call.preconditions.as_deref(), kept, &mut text, &mut parts, &mut fixes)
            .unwrap_or_else(|refused| refusals.extend(refused));
        let kept = original.effect.as_ref().map(print_effect);
        self.field(":effect", call.effects.as_deref(), kept, &mut text, &mut parts, &mut fixes)
            .unwrap_or_else(|refused| refusals.extend(refused));
        if !refusals.is_empty() {
            return Err(refusals);
        }
        text.push_str("))");
        let (domain, refusals) = self.examine(&text, &parts);
        match domain.actions.as_slice() {
            [action] if refusals.is_empty() && action.name == original.name => Ok(Repaired {
                // The signature is copied from the interface unchanged.
                value: Action {
                    precondition: action.precondition.clone(),
                    effect: action.effect.clone(),
                    ..original.clone()
                },
                fixes,
            }),
            _ => Err(or_else(refusals, || self.outside(call.span))),
        }
    }

    /// Writes a field: the call's strings joined by `and`, or the current content.
    fn field(
        &self,
        keyword: &str,
        items: Option<&[Text]>,
        kept: Option<String>,
        text: &mut String,
        parts: &mut Vec<Part>,
        fixes: &mut Vec<AppliedFix>,
    ) -> Result<(), Refusals> {
        let Some(items) = items else {
            if let Some(kept) = kept {
                text.push_str(&format!("\n    {keyword} {kept}"));
            }
            return Ok(());
        };
        let mut lists = Vec::new();
        let mut refusals = Vec::new();
        for item in items {
            match self.cut(&item.value, item.span, false) {
                Ok(cut) => {
                    fixes.extend(self.applied_fixes(cut.fixes, item.span));
                    lists.extend(cut.lists.into_iter().map(|list| (list, item.span)));
                }
                Err(refused) => refusals.push(*refused),
            }
        }
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let joined = lists.len() != 1;
        text.push_str(&format!("\n    {keyword} {}", if joined { "(and" } else { "" }));
        for (list, from) in lists {
            text.push_str("\n      ");
            parts.push(Part { start: text.len(), end: text.len() + list.len(), from });
            text.push_str(&list);
        }
        if joined {
            text.push(')');
        }
        Ok(())
    }

    /// Parses the composed text and returns the findings within its parts.
    fn examine(&self, text: &str, parts: &[Part]) -> (Domain, Refusals) {
        let source = SourceId(0);
        let parsed = parse_domain(text, source);
        let mut found = parsed.diagnostics;
        found.extend(check_domain(&parsed.value, source));
        let mut refusals = Vec::new();
        for diagnostic in found {
            let Some(span) = diagnostic.primary().map(|label| label.span) else { continue };
            let (start, end) = (span.start as usize, span.end as usize);
            let Some(part) = parts.iter().find(|p| p.start < end.max(start + 1) && start < p.end) else {
                continue;
            };
            let word = text.get(start..end).unwrap_or_default();
            let unknown = diagnostic.code == "pddl.undeclared-constant"
                && self.objects.is_some_and(|objects| !objects.contains(&word.to_lowercase()));
            if diagnostic.is_error() || unknown {
                refusals.push(move_to_reply(diagnostic, part.from, unknown.then_some(word)));
            }
        }
        (parsed.value, refusals)
    }

    fn outside(&self, from: Span) -> Diagnostic {
        Diagnostic::error(codes::EDIT_FORM, "this cannot be read as one list of PDDL").at(REPLY, from, "")
    }
}

pub(super) fn or_else(refusals: Refusals, otherwise: impl FnOnce() -> Diagnostic) -> Refusals {
    if refusals.is_empty() { vec![otherwise()] } else { refusals }
}

/// A finding about the composed text as one about the reply.
fn move_to_reply(diagnostic: Diagnostic, to: Span, unknown: Option<&str>) -> Diagnostic {
    let (code, message, help) = match unknown {
        Some(word) => (
            codes::EDIT_NAME.into(),
            format!("`{word}` is no parameter of the action, no constant and no object of the task"),
            vec!["variables begin with a question mark and are parameters of the action".to_owned()],
        ),
        None => (diagnostic.code, diagnostic.message, diagnostic.help),
    };
    let moved = Diagnostic { code, message, help, ..Diagnostic::error(codes::EDIT_FORM, "") };
    moved.at(REPLY, to, "")
}

/// The parameters as PDDL: `(?a - thing ?b)`.
pub(super) fn signature(action: &Action) -> String {
    format!("({})", print_typed_list(&action.parameters))
}

/// True if the strings name exactly these parameters. Types and question marks are optional.
pub(super) fn has_same_parameters(given: &[Text], parameters: &[TypedName]) -> bool {
    let text = given.iter().map(|t| t.value.as_str()).collect::<Vec<_>>().join(" ");
    let mut names = Vec::new();
    let mut after_dash = false;
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',')).filter(|w| !w.is_empty())
    {
        match word {
            "-" => after_dash = true,
            _ if after_dash => after_dash = false,
            _ => names.push(word.trim_start_matches('?').to_lowercase()),
        }
    }
    names.len() == parameters.len()
        && names.iter().zip(parameters).all(|(name, p)| p.name.key().trim_start_matches('?') == name)
}
