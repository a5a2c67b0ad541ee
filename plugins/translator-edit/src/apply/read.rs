//! Parses the pieces of a call as PDDL, each in its place in a definition that is otherwise correct.

use crate::calls::{ActionCall, REPLY, Text};
use crate::codes;
use planforge_contract::{AppliedFix, FixPolicy};
use planforge_diagnostics::{Diagnostic, SourceFile, SourceId, Span};
use planforge_pddl::ast::{Action, Domain, PredicateDecl, TypedName};
use planforge_pddl::{
    check_domain, parse_domain, print_condition, print_domain, print_effect, print_typed_list,
};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Reasons against an edit; never empty.
pub(super) type Refusals = Vec<Diagnostic>;

/// Lists of PDDL with the repairs that they needed.
type Lists = (Vec<String>, Vec<AppliedFix>);

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
        parse_lists(text, described, self.fixes).map_err(|refused| {
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

/// The lists of a string.
#[derive(Debug, Default, PartialEq, Eq)]
struct ParsedLists {
    lists: Vec<String>,
    /// Repairs in the imperative, each with the code that it answers.
    fixes: Vec<(&'static str, String)>,
}

/// The reason why a string has no usable lists.
#[derive(Debug, PartialEq, Eq)]
struct Refused {
    code: &'static str,
    message: Cow<'static, str>,
}

fn refuse<T>(code: &'static str, message: impl Into<Cow<'static, str>>) -> Result<T, Refused> {
    Err(Refused { code, message: message.into() })
}

/// Returns the lists of a string. `described`: text behind a list is a description and left out, as in `(at
/// ?x) - x is here`; in a condition such text might be a part that was meant.
///
/// The result is whole lists without section keywords. Inserted in the text of a definition, they cannot
/// change anything but their own place.
fn parse_lists(text: &str, described: bool, fixes: FixPolicy) -> Result<ParsedLists, Refused> {
    if fixes == FixPolicy::Safe && is_bare_atom(text) {
        let whole = parse_lists(&format!("({})", text.trim()), described, fixes)?;
        let mut fixed = vec![(codes::EDIT_PARENTHESES, "put the atom into parentheses".to_owned())];
        fixed.extend(whole.fixes);
        return Ok(ParsedLists { fixes: fixed, ..whole });
    }
    let mut cutter = Cutter { out: ParsedLists::default(), current: String::new(), depth: 0, surplus: 0 };
    for line in text.lines() {
        cutter.line(line, described)?;
    }
    cutter.finish(text, described, fixes)
}

/// Words that begin a condition or effect and name no predicate.
const OPERATORS: [&str; 9] =
    ["and", "or", "not", "forall", "exists", "imply", "when", "either", "preference"];

/// True if a string is an atom without parentheses, `at ?x ?y` or `at ?x - obj`: a name and variables with
/// their types. It can be read in one way only, unlike strings with an operator, further names or
/// punctuation.
fn is_bare_atom(text: &str) -> bool {
    let is_name = |w: &str| {
        w.starts_with(|c: char| c.is_ascii_alphabetic())
            && w.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let is_variable = |w: &str| w.strip_prefix('?').is_some_and(is_name);
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else { return false };
    let typed = |at: usize| {
        at > 1 && rest.get(at - 1) == Some(&"-") && rest.get(at - 2).is_some_and(|w| is_variable(w))
    };
    let follows = rest
        .iter()
        .enumerate()
        .all(|(at, word)| is_variable(word) || (*word == "-" && at > 0) || (is_name(word) && typed(at)));
    let ends = rest.last().is_some_and(|word| *word != "-");
    is_name(first) && !is_operator(first) && follows && ends
}

struct Cutter {
    out: ParsedLists,
    current: String,
    depth: usize,
    /// Closing parentheses that closed nothing.
    surplus: usize,
}

impl Cutter {
    fn line(&mut self, line: &str, described: bool) -> Result<(), Refused> {
        let mut after_list = false;
        for (at, c) in line.char_indices() {
            let rest = &line[at..];
            match c {
                ';' => break,
                '(' => {
                    self.depth += 1;
                    self.current.push(c);
                }
                ')' if self.depth == 0 => self.surplus += 1,
                ')' => {
                    self.current.push(c);
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.out.lists.push(std::mem::take(&mut self.current));
                        after_list = true;
                    }
                }
                _ if self.depth > 0 => self.current.push(c),
                _ if c.is_whitespace() || c == ',' => {}
                '#' => break,
                '/' if rest.starts_with("//") => break,
                _ if described && after_list && matches!(c, '-' | ':' | '=' | '–' | '—') => break,
                _ if described && !after_list && matches!(c, '-' | '*' | '•' | '+') => {}
                _ => return self.stray(rest),
            }
        }
        // A line break separates words.
        if self.depth > 0 {
            self.current.push('\n');
        }
        Ok(())
    }

    fn stray<T>(&self, rest: &str) -> Result<T, Refused> {
        let shown: String = rest.chars().take(40).collect();
        let word = shown.trim();
        refuse(codes::EDIT_PARENTHESES, format!("`{word}` stands outside of all parentheses"))
    }

    fn finish(mut self, text: &str, described: bool, fixes: FixPolicy) -> Result<ParsedLists, Refused> {
        let repair = fixes == FixPolicy::Safe;
        if self.depth > 0 {
            let message =
                message_about(text, &parentheses_text(self.depth, "is never closed", "are never closed"));
            if !repair {
                return refuse(codes::EDIT_PARENTHESES, message);
            }
            self.current.truncate(self.current.trim_end().len());
            self.current.push_str(&")".repeat(self.depth));
            self.out.lists.push(std::mem::take(&mut self.current));
            let title = format!("add {}", plural(self.depth, "closing parenthesis", "closing parentheses"));
            self.out.fixes.push((codes::EDIT_PARENTHESES, title));
        }
        if self.surplus > 0 {
            if !repair {
                return refuse(
                    codes::EDIT_PARENTHESES,
                    message_about(text, &parentheses_text(self.surplus, "closes nothing", "close nothing")),
                );
            }
            let surplus = plural(self.surplus, "surplus parenthesis", "surplus parentheses");
            self.out.fixes.push((codes::EDIT_PARENTHESES, format!("take away {surplus}")));
        }
        if !described {
            self.without_types(repair)?;
        }
        if let Some(word) = self.out.lists.iter().find_map(|list| keyword(list)) {
            return refuse(
                codes::EDIT_FORM,
                format!("`{word}` does not belong here: only the list itself is wanted"),
            );
        }
        Ok(self.out)
    }
}

impl Cutter {
    /// Removes types from atoms, in which they have no meaning: `(at ?x - obj)` for `(at ?x)`.
    fn without_types(&mut self, repair: bool) -> Result<(), Refused> {
        for list in &mut self.out.lists {
            let types = types_in_atoms(list);
            let Some(first) = types.first().and_then(|range| list.get(range.clone())) else { continue };
            if !repair {
                let message = message_about(
                    list,
                    &format!("`{first}` does not belong: types stand in declarations alone"),
                );
                return refuse(codes::EDIT_TYPED, message);
            }
            for range in types.into_iter().rev() {
                list.replace_range(range, "");
            }
            self.out.fixes.push((codes::EDIT_TYPED, "take the types out of the atoms".to_owned()));
        }
        Ok(())
    }
}

/// The ranges of types in atoms, with the white space before them. Lists that begin with a variable belong to
/// quantifiers.
fn types_in_atoms(list: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    // For each open list, how many words it has had, and whether it is an atom.
    let mut open: Vec<(usize, bool)> = Vec::new();
    // The words that may be a variable and the dash behind it.
    let mut before: [Option<(usize, &str)>; 2] = [None, None];
    let mut at = 0;
    while let Some(c) = list.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &list[at..];
        if c == '(' || c == ')' || c.is_whitespace() {
            match c {
                '(' => open.push((0, false)),
                ')' => drop(open.pop()),
                _ => {}
            }
            if !c.is_whitespace() {
                before = [None, None];
            }
            at += c.len_utf8();
            continue;
        }
        let word =
            &rest[..rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')')).unwrap_or(rest.len())];
        if let Some((words, is_atom)) = open.last_mut() {
            if *words == 0 {
                *is_atom = word.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_operator(word);
            }
            *words += 1;
            if let ([Some((_, variable)), Some((dash, "-"))], true) = (before, *is_atom)
                && variable.starts_with('?')
                && word.starts_with(|c: char| c.is_ascii_alphabetic())
            {
                let from = list[..dash].trim_end().len();
                found.push(from..at + word.len());
            }
        }
        before = [before[1], Some((at, word))];
        at += word.len();
    }
    found
}

fn is_operator(word: &str) -> bool {
    OPERATORS.contains(&word.to_lowercase().as_str())
}

/// A keyword of a section or field in a list. The reader of PDDL would end the list at it.
fn keyword(list: &str) -> Option<String> {
    let mut previous = ' ';
    for (at, c) in list.char_indices() {
        if c == ':' && (previous == '(' || previous.is_whitespace()) {
            let rest = &list[at..];
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')')).unwrap_or(rest.len());
            return Some(rest[..end].to_owned());
        }
        previous = c;
    }
    None
}

/// The declarations inside a whole section, `(:predicates (a) (b))`; other texts unchanged.
fn without_section<'a>(text: &'a str, keyword: &str) -> &'a str {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix('(').map(str::trim_start).and_then(|t| t.strip_prefix(keyword));
    inner.and_then(|t| t.strip_suffix(')')).unwrap_or(text)
}

/// A message about a string, after its beginning.
fn message_about(text: &str, what: &str) -> String {
    let line = text.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
    let begin: String = line.chars().take(40).collect();
    format!("in `{begin}{}` {what}", if begin.len() < line.len() { "..." } else { "" })
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn parentheses_text(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", plural(n, "parenthesis", "parentheses"), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(text: &str, described: bool) -> Vec<String> {
        parse_lists(text, described, FixPolicy::None).unwrap().lists
    }

    #[test]
    fn lists_are_taken_out_of_comments_and_descriptions() {
        assert_eq!(lists("(at ?x - obj) ; x (an object) is here", true), ["(at ?x - obj)"]);
        assert_eq!(lists("- (at ?x): x (an object) is here", true), ["(at ?x)"]);
        assert_eq!(lists("(p) - first\n* (q ?x) = second\n\n(r)", true), ["(p)", "(q ?x)", "(r)"]);
        assert_eq!(lists("(and (a)\n  (b)), (c) # both", false), ["(and (a)\n  (b))", "(c)"]);
        assert_eq!(lists("", false), [""; 0]);
    }

    #[test]
    fn nothing_of_a_condition_is_left_out_in_silence() {
        for text in ["(a) and (b)", "at ?x", "(a) - is true", "- (a)", "not (a)"] {
            let refused = parse_lists(text, false, FixPolicy::None).unwrap_err();
            assert_eq!(refused.code, "translate.edit-parentheses", "{text}: {}", refused.message);
        }
        assert!(parse_lists("predicate (at ?x)", true, FixPolicy::None).is_err());
    }

    #[test]
    fn parentheses_are_repaired_only_where_asked() {
        let open = "(and (a) (not (b))";
        assert!(
            parse_lists(open, false, FixPolicy::None)
                .unwrap_err()
                .message
                .contains("1 parenthesis is never closed")
        );
        let fixed = parse_lists(open, false, FixPolicy::Safe).unwrap();
        assert_eq!(
            (fixed.lists, fixed.fixes.first().map(|f| f.1.as_str())),
            (vec!["(and (a) (not (b)))".to_owned()], Some("add 1 closing parenthesis"))
        );
        assert!(
            parse_lists("(a)))", false, FixPolicy::None)
                .unwrap_err()
                .message
                .contains("2 parentheses close nothing")
        );
        assert_eq!(parse_lists("(a)))", false, FixPolicy::Safe).unwrap().lists, ["(a)"]);
    }

    #[test]
    fn a_bare_atom_is_put_into_parentheses_only_where_asked_and_where_it_is_one() {
        for (text, atom) in [("on-table ?b", "(on-table ?b)"), (" at ?x ?y - room ", "(at ?x ?y - room)")] {
            let fixed = parse_lists(text, true, FixPolicy::Safe).unwrap();
            assert_eq!((fixed.lists, fixed.fixes.len() == 1), (vec![atom.to_owned()], true));
            assert!(parse_lists(text, false, FixPolicy::None).is_err());
        }
        for text in [
            "not ?x",
            "at ?x and free ?y",
            "at x",
            "ready",
            "at ?x -",
            "at - room",
            "at ?x, ?y",
            "AND ?x",
            "the robot",
        ] {
            assert!(parse_lists(text, false, FixPolicy::Safe).is_err(), "{text}");
        }
    }

    #[test]
    fn types_are_taken_out_of_atoms_only_where_asked() {
        let typed = "(and (in ?r - room\n ?x - (thing)) (not (free ?g - gripper ?h)) (forall (?t - thing) (in ?t - thing ?r)))";
        let refused = parse_lists(typed, false, FixPolicy::None).unwrap_err();
        assert!(
            refused.code == "translate.edit-typed-atom" && refused.message.contains("- room"),
            "{refused:?}"
        );
        let fixed = parse_lists(typed, false, FixPolicy::Safe).unwrap();
        let wanted = "(and (in ?r\n ?x - (thing)) (not (free ?g ?h)) (forall (?t - thing) (in ?t ?r)))";
        assert_eq!((fixed.lists, fixed.fixes.len() == 1), (vec![wanted.to_owned()], true));
        for sound in
            ["(forall (?t - thing ?r - room) (in ?t ?r))", "(decrease (fuel ?v) (- ?x y))", "(a-b ?x ?y)"]
        {
            assert_eq!(parse_lists(sound, false, FixPolicy::None).unwrap().lists, [sound]);
        }
        assert_eq!(parse_lists("(in ?r - room)", true, FixPolicy::Safe).unwrap().lists, ["(in ?r - room)"]);
        assert_eq!(parse_lists("in ?r - room", false, FixPolicy::Safe).unwrap().lists, ["(in ?r)"]);
    }

    #[test]
    fn keywords_cannot_break_out() {
        for text in ["(a) (:action evil)", "(a :effect (b))", "(and\n:precondition (a))"] {
            assert_eq!(
                parse_lists(text, false, FixPolicy::Safe).unwrap_err().code,
                "translate.edit-form",
                "{text}"
            );
        }
        assert_eq!(without_section("(:predicates (a) (b ?x))", ":predicates"), " (a) (b ?x)");
        assert_eq!(without_section("(a)", ":predicates"), "(a)");
    }
}
