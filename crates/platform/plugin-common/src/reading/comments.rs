//! Comments at the ends of lines of PDDL, and PDDL laid out with them.

use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::ast::{Action, Condition, Domain, Effect, Problem};
use planforge_pddl::{parse_domain, parse_problem, print_condition, print_effect, print_typed_list};
use std::collections::HashMap;
use std::ops::Range;

/// A text and the comments of its lines.
pub(super) struct CommentedText<'t> {
    text: &'t str,
    lines: Vec<CommentedLine<'t>>,
}

struct CommentedLine<'t> {
    range: Range<usize>,
    /// The comment with its semicolon, without blanks at its end.
    comment: Option<&'t str>,
    /// True if nothing stands before the comment.
    is_alone: bool,
}

impl<'t> CommentedText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let comment = line.find(';').map(|start| (start, line[start..].trim_end()));
            lines.push(CommentedLine {
                range: at..at + line.len(),
                comment: comment.map(|(_, comment)| comment),
                is_alone: comment.is_some_and(|(start, _)| line[..start].trim().is_empty()),
            });
            at += line.len();
        }
        Self { text, lines }
    }

    fn line(&self, at: u32) -> Option<(usize, &CommentedLine<'t>)> {
        let index = self.lines.partition_point(|line| line.range.end <= at as usize);
        self.lines.get(index).map(|line| (index, line))
    }

    /// The comment on the line of that byte.
    pub(super) fn at(&self, at: u32) -> Option<&'t str> {
        self.line(at).and_then(|(_, line)| line.comment)
    }

    /// The comment of an element: of its last line, else of its first, else on a line of its own above it.
    pub(super) fn of(&self, span: Span) -> Option<&'t str> {
        let last = span.end.saturating_sub(1).max(span.start);
        self.at(last).or_else(|| self.at(span.start)).or_else(|| {
            let (index, line) = self.line(span.start)?;
            let begins = self.text.get(line.range.start..span.start as usize)?.trim().is_empty();
            let above = self.lines.get(index.checked_sub(1)?)?;
            above.comment.filter(|_| begins && above.is_alone)
        })
    }

    /// The bytes to remove with an element: its lines if nothing but their comment would remain, else the element.
    pub(super) fn removal(&self, span: Span) -> Range<usize> {
        let range = span.range();
        let last = span.end.saturating_sub(1).max(span.start);
        let Some(((_, first), (_, last))) = self.line(span.start).zip(self.line(last)) else { return range };
        let before = self.text[first.range.start..range.start].trim();
        let after = self.text[range.end..last.range.end].trim();
        if before.is_empty() && (after.is_empty() || after.starts_with(';')) {
            return first.range.start..last.range.end;
        }
        let blanks = |c: char| c == ' ' || c == '\t';
        match before.is_empty() {
            true => range.start..self.text.len() - self.text[range.end..].trim_start_matches(blanks).len(),
            false => self.text[..range.start].trim_end_matches(blanks).len()..range.end,
        }
    }
}

/// Comments by the printed form of what they stand beside.
pub(super) type Comments<'t> = HashMap<String, &'t str>;

/// The comments of an action's name, parameters and top-level conditions and effects. A name has the key `""`.
pub(super) fn comments_of_action<'t>(action: &Action, text: &CommentedText<'t>) -> Comments<'t> {
    let conditions = action.precondition.iter().flat_map(Condition::conjuncts);
    let effects = action.effect.iter().flat_map(Effect::conjuncts);
    let conditions = conditions.map(|c| (format!("if {}", print_condition(c)), c.span()));
    let effects = effects.map(|e| (format!("then {}", print_effect(e)), e.span()));
    let parameters = action.parameters.last().map(|last| {
        let end = last.ty.as_ref().map_or(last.name.span, |ty| ty.span);
        (":parameters".to_owned(), end)
    });
    let named = [(String::new(), action.name.span)].into_iter().chain(parameters);
    named.chain(conditions).chain(effects).filter_map(|(key, span)| Some((key, text.of(span)?))).collect()
}

/// The comments of the top-level conditions of a goal.
pub(super) fn comments_of_goal<'t>(goal: &Condition, text: &CommentedText<'t>) -> Comments<'t> {
    let conjuncts = goal.conjuncts().iter();
    conjuncts.filter_map(|c| Some((format!("if {}", print_condition(c)), text.of(c.span())?))).collect()
}

/// An action with a literal a line and its comments: those of `comments` that come first.
pub(super) fn print_commented_action(action: &Action, comments: &[Comments<'_>]) -> String {
    if !action.vars.is_empty() {
        return planforge_pddl::print_action(action).trim_end().to_owned();
    }
    let mut out = format!("(:action {}{}", action.name, comment(comments, ""));
    out.push_str("\n    :parameters (");
    out.push_str(&print_typed_list(&action.parameters));
    out.push(')');
    out.push_str(&comment(comments, ":parameters"));
    if let Some(precondition) = &action.precondition {
        let parts = precondition.conjuncts().iter().map(print_condition);
        out.push_str(&format!("\n    :precondition {}", conjunction(parts, "if", 6, comments)));
    }
    if let Some(effect) = &action.effect {
        let parts = effect.conjuncts().iter().map(print_effect);
        out.push_str(&format!("\n    :effect {}", conjunction(parts, "then", 6, comments)));
    }
    out.push_str("\n  )");
    out
}

/// A goal section with a condition a line and its comments.
pub(super) fn print_commented_goal(goal: &Condition, comments: &[Comments<'_>]) -> String {
    let parts = goal.conjuncts().iter().map(print_condition);
    format!("(:goal {})", conjunction(parts, "if", 4, comments))
}

fn conjunction(
    parts: impl Iterator<Item = String>,
    key: &str,
    indent: usize,
    comments: &[Comments<'_>],
) -> String {
    let mut out = String::from("(and");
    for part in parts {
        out.push_str(&format!("\n{:indent$}{part}{}", "", comment(comments, &format!("{key} {part}"))));
    }
    out.push_str(&format!("\n{:1$})", "", indent - 2));
    out
}

/// The first comment of that key, with a space before it.
fn comment(comments: &[Comments<'_>], key: &str) -> String {
    comments.iter().find_map(|map| map.get(key)).map(|comment| format!(" {comment}")).unwrap_or_default()
}

/// A domain as text and tree.
pub(super) fn read_domain(text: &str) -> Domain {
    parse_domain(text, SourceId(0)).value
}

/// A problem as text and tree.
pub(super) fn read_problem(text: &str) -> Problem {
    parse_problem(text, SourceId(1)).value
}
