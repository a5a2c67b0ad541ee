//! Splits a string of a call into lists: comments and descriptions are removed, parentheses counted.
//!
//! The result is whole lists without section keywords. Inserted in the text of a definition, they cannot
//! change anything but their own place.

use crate::codes;
use planforge_contract::FixPolicy;
use std::borrow::Cow;

/// The lists of a string.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedLists {
    pub(super) lists: Vec<String>,
    /// Repairs in the imperative, each with the code that it answers.
    pub(super) fixes: Vec<(&'static str, String)>,
}

/// The reason why a string has no usable lists.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: &'static str,
    pub(super) message: Cow<'static, str>,
}

fn refuse<T>(code: &'static str, message: impl Into<Cow<'static, str>>) -> Result<T, Refused> {
    Err(Refused { code, message: message.into() })
}

/// Returns the lists of a string. `described`: text behind a list is a description and left out, as in `(at
/// ?x) - x is here`; in a condition such text might be a part that was meant.
pub(super) fn pieces(text: &str, described: bool, fixes: FixPolicy) -> Result<ParsedLists, Refused> {
    if fixes == FixPolicy::Safe && is_bare_atom(text) {
        let whole = pieces(&format!("({})", text.trim()), described, fixes)?;
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
pub(super) fn without_section<'a>(text: &'a str, keyword: &str) -> &'a str {
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
        pieces(text, described, FixPolicy::None).unwrap().lists
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
            let refused = pieces(text, false, FixPolicy::None).unwrap_err();
            assert_eq!(refused.code, "translate.edit-parentheses", "{text}: {}", refused.message);
        }
        assert!(pieces("predicate (at ?x)", true, FixPolicy::None).is_err());
    }

    #[test]
    fn parentheses_are_repaired_only_where_asked() {
        let open = "(and (a) (not (b))";
        assert!(
            pieces(open, false, FixPolicy::None)
                .unwrap_err()
                .message
                .contains("1 parenthesis is never closed")
        );
        let fixed = pieces(open, false, FixPolicy::Safe).unwrap();
        assert_eq!(
            (fixed.lists, fixed.fixes.first().map(|f| f.1.as_str())),
            (vec!["(and (a) (not (b)))".to_owned()], Some("add 1 closing parenthesis"))
        );
        assert!(
            pieces("(a)))", false, FixPolicy::None)
                .unwrap_err()
                .message
                .contains("2 parentheses close nothing")
        );
        assert_eq!(pieces("(a)))", false, FixPolicy::Safe).unwrap().lists, ["(a)"]);
    }

    #[test]
    fn a_bare_atom_is_put_into_parentheses_only_where_asked_and_where_it_is_one() {
        for (text, atom) in [("on-table ?b", "(on-table ?b)"), (" at ?x ?y - room ", "(at ?x ?y - room)")] {
            let fixed = pieces(text, true, FixPolicy::Safe).unwrap();
            assert_eq!((fixed.lists, fixed.fixes.len() == 1), (vec![atom.to_owned()], true));
            assert!(pieces(text, false, FixPolicy::None).is_err());
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
            assert!(pieces(text, false, FixPolicy::Safe).is_err(), "{text}");
        }
    }

    #[test]
    fn types_are_taken_out_of_atoms_only_where_asked() {
        let typed = "(and (in ?r - room\n ?x - (thing)) (not (free ?g - gripper ?h)) (forall (?t - thing) (in ?t - thing ?r)))";
        let refused = pieces(typed, false, FixPolicy::None).unwrap_err();
        assert!(
            refused.code == "translate.edit-typed-atom" && refused.message.contains("- room"),
            "{refused:?}"
        );
        let fixed = pieces(typed, false, FixPolicy::Safe).unwrap();
        let wanted = "(and (in ?r\n ?x - (thing)) (not (free ?g ?h)) (forall (?t - thing) (in ?t ?r)))";
        assert_eq!((fixed.lists, fixed.fixes.len() == 1), (vec![wanted.to_owned()], true));
        for sound in
            ["(forall (?t - thing ?r - room) (in ?t ?r))", "(decrease (fuel ?v) (- ?x y))", "(a-b ?x ?y)"]
        {
            assert_eq!(pieces(sound, false, FixPolicy::None).unwrap().lists, [sound]);
        }
        assert_eq!(pieces("(in ?r - room)", true, FixPolicy::Safe).unwrap().lists, ["(in ?r - room)"]);
        assert_eq!(pieces("in ?r - room", false, FixPolicy::Safe).unwrap().lists, ["(in ?r)"]);
    }

    #[test]
    fn keywords_cannot_break_out() {
        for text in ["(a) (:action evil)", "(a :effect (b))", "(and\n:precondition (a))"] {
            assert_eq!(
                pieces(text, false, FixPolicy::Safe).unwrap_err().code,
                "translate.edit-form",
                "{text}"
            );
        }
        assert_eq!(without_section("(:predicates (a) (b ?x))", ":predicates"), " (a) (b ?x)");
        assert_eq!(without_section("(a)", ":predicates"), "(a)");
    }
}
