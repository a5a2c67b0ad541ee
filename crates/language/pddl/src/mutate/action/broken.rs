//! Damage to an action's text, by the tokens of the printed action and what each list in it is.

use super::{Damage, Draft};
use crate::ast::{Action, TypedName};
use crate::print::print_action;
use crate::random::Random;

/// Words that are not allowed at the places where they are inserted.
const STRAY: [&str; 6] = ["then", "also", "&", "->", "...", "so"];

/// Every damage of every variety; read from the end, the varieties take turns, in another order each time.
pub(super) fn all(action: &Action, random: &mut Random) -> Vec<Draft> {
    let text = print_action(action);
    let scan = Scan::of(&text);
    let mut varieties: Vec<Vec<Draft>> = Damage::ALL
        .into_iter()
        .map(|damage| {
            let mut made = match damage {
                Damage::LostParenthesis => lost_parentheses(&scan),
                Damage::ExtraParenthesis => extra_parentheses(&scan),
                Damage::StrayToken => stray_tokens(&scan),
                Damage::LostWord => lost_words(&scan),
                Damage::DuplicatedField => duplicated_fields(&scan),
                Damage::TypedArgument => typed_arguments(&scan),
                Damage::NoAction => no_action(action, &text),
            };
            let count = made.len();
            random.shuffle_front(&mut made, count);
            let draft = |(change, text)| Draft { flaw: Some(damage.flaw()), change, text };
            made.into_iter().map(draft).collect()
        })
        .collect();
    let mut turns = Vec::new();
    while varieties.iter().any(|made| !made.is_empty()) {
        let count = varieties.len();
        random.shuffle_front(&mut varieties, count);
        turns.extend(varieties.iter_mut().filter_map(Vec::pop));
    }
    turns.reverse();
    turns
}

/// Description of the change, and the new text.
type EditedText = (String, String);

/// The text with a piece replaced.
fn replace_range(scan: &Scan<'_>, from: usize, to: usize, by: &str) -> String {
    format!("{}{by}{}", &scan.text[..from], &scan.text[to..])
}

/// Returns the text around a position, on one line, to describe the place.
fn near(scan: &Scan<'_>, at: usize) -> String {
    let end = scan.text[at..].char_indices().nth(24).map_or(scan.text.len(), |(n, _)| at + n);
    scan.text[at..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

fn lost_parentheses(scan: &Scan<'_>) -> Vec<EditedText> {
    // Without the first parenthesis there is no action.
    let parentheses =
        scan.tokens.iter().enumerate().skip(1).filter(|(t, _)| ["(", ")"].contains(&scan.word(*t)));
    parentheses
        .map(|(t, token)| {
            let change = format!("`{}` lost at `{}`", scan.word(t), near(scan, token.start));
            (change, replace_range(scan, token.start, token.end, ""))
        })
        .collect()
}

fn extra_parentheses(scan: &Scan<'_>) -> Vec<EditedText> {
    let mut made = vec![("`(` before the action".to_owned(), replace_range(scan, 0, 0, "("))];
    // After `(:action`: before it there is no action.
    for token in scan.tokens.iter().skip(2) {
        for parenthesis in ["(", ")"] {
            let change = format!("`{parenthesis}` before `{}`", near(scan, token.start));
            made.push((change, replace_range(scan, token.start, token.start, parenthesis)));
        }
    }
    let end = scan.text.len();
    made.push(("`)` behind the action".to_owned(), replace_range(scan, end, end, ")")));
    made
}

/// Inserts words where none are allowed: between the fields, in `and` and `not`, at either end of the
/// parameters.
fn stray_tokens(scan: &Scan<'_>) -> Vec<EditedText> {
    let mut places: Vec<usize> =
        scan.fields().iter().map(|(keyword, _)| scan.tokens[*keyword].start).collect();
    places.push(scan.text.len() - 1);
    let mut made = Vec::new();
    for list in scan.opening() {
        match scan.role(list) {
            TokenRole::And | TokenRole::Not => {
                places.extend(scan.children(list).iter().skip(1).map(|child| scan.tokens[*child].start));
                places.push(scan.end(list) - 1);
            }
            TokenRole::Variables => places.extend([scan.tokens[list].end, scan.end(list) - 1]),
            TokenRole::Atom => {
                for argument in scan.children(list).into_iter().skip(1) {
                    let end = scan.tokens[argument].end;
                    made.push((
                        format!("`,` behind {}", scan.word(argument)),
                        replace_range(scan, end, end, ","),
                    ));
                }
            }
            TokenRole::Action | TokenRole::Other => {}
        }
    }
    for at in places {
        for word in STRAY {
            let change = format!("`{word}` before `{}`", near(scan, at));
            made.push((change, replace_range(scan, at, at, &format!(" {word} "))));
        }
    }
    made
}

/// Words of the form that are lost or misspelt.
fn lost_words(scan: &Scan<'_>) -> Vec<EditedText> {
    let mut made = Vec::new();
    let mut replace = |token: usize, by: &str| {
        let word = scan.word(token);
        let what = if by.is_empty() { "lost".to_owned() } else { format!("became {by}") };
        let change = format!("`{word}` {what} at `{}`", near(scan, scan.tokens[token].start));
        made.push((change, replace_range(scan, scan.tokens[token].start, scan.tokens[token].end, by)));
    };
    for (keyword, _) in scan.fields() {
        let misspelt: &[&str] = match scan.word(keyword) {
            ":parameters" => &["", ":params", ":parameter", ":args", "parameters"],
            ":precondition" => &["", ":preconditions", ":pre", ":condition", "precondition"],
            ":effect" => &["", ":effects", ":post", ":postcondition", "effect"],
            _ => &[""],
        };
        misspelt.iter().for_each(|by| replace(keyword, by));
    }
    for list in scan.opening() {
        let children = scan.children(list);
        let Some(&head) = children.first() else { continue };
        match scan.role(list) {
            // Without its head the rest is not a list of PDDL. An empty list would be.
            TokenRole::And | TokenRole::Not | TokenRole::Atom if children.len() > 1 => replace(head, ""),
            TokenRole::Variables => {
                for &dash in children.iter().filter(|child| scan.word(**child) == "-") {
                    replace(dash, "");
                    if !scan.is_open(dash + 1) {
                        replace(dash + 1, "");
                    }
                }
            }
            // The name.
            TokenRole::Action => children.iter().skip(1).take(1).for_each(|name| replace(*name, "")),
            _ => {}
        }
    }
    for (keyword, value) in scan.fields() {
        if let Some(value) = value {
            let change = format!("what belongs to {} lost", scan.word(keyword));
            made.push((change, replace_range(scan, scan.tokens[value].start, scan.end(value), "")));
        }
    }
    made
}

/// Repeats each field after each field.
fn duplicated_fields(scan: &Scan<'_>) -> Vec<EditedText> {
    let fields: Vec<(usize, usize)> = scan
        .fields()
        .into_iter()
        .filter_map(|(keyword, value)| Some((scan.tokens[keyword].start, scan.end(value?))))
        .collect();
    let mut made = Vec::new();
    for &(start, end) in &fields {
        let again = format!("\n    {}", &scan.text[start..end]);
        for &(behind, at) in &fields {
            let change = format!("`{}` again behind `{}`", near(scan, start), near(scan, behind));
            made.push((change, replace_range(scan, at, at, &again)));
        }
    }
    made
}

fn typed_arguments(scan: &Scan<'_>) -> Vec<EditedText> {
    let mut types = vec!["object"];
    for list in scan.opening().filter(|list| scan.role(*list) == TokenRole::Variables) {
        let children = scan.children(list);
        let dashes = children.iter().filter(|child| scan.word(**child) == "-");
        types.extend(dashes.map(|dash| scan.word(dash + 1)).filter(|word| *word != "("));
    }
    types.sort_unstable();
    types.dedup();
    let mut made = Vec::new();
    for list in scan.opening().filter(|list| scan.role(*list) == TokenRole::Atom) {
        for argument in scan.children(list).into_iter().skip(1) {
            let end = scan.tokens[argument].end;
            for ty in &types {
                let change = format!(
                    "`- {ty}` behind {} of `{}`",
                    scan.word(argument),
                    near(scan, scan.tokens[list].start)
                );
                made.push((change, replace_range(scan, end, end, &format!(" - {ty}"))));
            }
        }
    }
    made
}

/// Replies without an action: other keywords, other notations, prose.
fn no_action(action: &Action, text: &str) -> Vec<EditedText> {
    let name = action.name.as_str();
    let rest = text.strip_prefix("(:action").unwrap_or(text);
    let keyword = |keyword: &str| (format!("`{keyword}` for `(:action`"), format!("{keyword}{rest}"));
    let mut made: Vec<EditedText> =
        [":action", "(action", "(:operator", "(:act", "(:action-definition", "(defaction", "(operator"]
            .map(keyword)
            .into();
    let bare = |v: &TypedName| v.name.as_str().trim_start_matches('?').to_owned();
    let variables: Vec<String> = action.parameters.iter().map(bare).collect();
    let words = |list: &str| match variables.is_empty() {
        true => "nothing".to_owned(),
        false => variables.join(list),
    };
    let told = |change: &str, text: String| (change.to_owned(), text);
    made.extend([
        told("prose", format!("To {name}, make sure that everything it needs is true; then it is done.")),
        told(
            "prose",
            format!("The action {name} takes {}. It changes the state as described.", words(" and ")),
        ),
        told("prose", format!("I cannot write {name} without knowing the predicates.")),
        told("a list of points", format!("* {name}\n* parameters: {}\n* effect: as described", words(", "))),
        told(
            "a function",
            format!("def {}({}):\n    return state\n", name.replace('-', "_"), variables.join(", ")),
        ),
        told(
            "JSON",
            format!("{{\"action\": \"{name}\", \"parameters\": [\"{}\"]}}", variables.join("\", \"")),
        ),
        told("a term", format!("{name}({}) :- applicable.", variables.join(", "))),
        told("a fenced remark", format!("```pddl\n; {name} goes here\n```\n")),
    ]);
    made
}

/// A parenthesis or a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Index of the opening token of the enclosing list; a list's own parentheses belong to the list around
    /// it.
    pub(super) parent: Option<usize>,
}

/// Kind of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenRole {
    /// The whole action.
    Action,
    /// A list of variables with their types.
    Variables,
    /// `and`, of conditions or effects.
    And,
    /// A negation, `(not ...)`.
    Not,
    /// A predicate with its arguments.
    Atom,
    /// Any other list.
    Other,
}

/// An action's text without comments, in tokens.
struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
}

const OPERATORS: [&str; 16] = [
    "or",
    "imply",
    "forall",
    "exists",
    "when",
    "=",
    "<",
    ">",
    "<=",
    ">=",
    "increase",
    "decrease",
    "assign",
    "scale-up",
    "scale-down",
    "either",
];

impl<'t> Scan<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut tokens: Vec<Token> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            let parent = open.last().copied();
            let end = match byte {
                b'(' => {
                    open.push(tokens.len());
                    at + 1
                }
                b')' => {
                    open.pop();
                    let parent = open.last().copied();
                    tokens.push(Token { start: at, end: at + 1, parent });
                    at += 1;
                    continue;
                }
                b if b.is_ascii_whitespace() => {
                    at += 1;
                    continue;
                }
                _ => text[at..]
                    .find(|c: char| c.is_whitespace() || c == '(' || c == ')')
                    .map_or(text.len(), |n| at + n),
            };
            tokens.push(Token { start: at, end, parent });
            at = end;
        }
        Scan { text, tokens }
    }

    pub(super) fn word(&self, token: usize) -> &'t str {
        self.tokens.get(token).map_or("", |t| &self.text[t.start..t.end])
    }

    fn is_open(&self, token: usize) -> bool {
        self.word(token) == "("
    }

    pub(super) fn opening(&self) -> impl Iterator<Item = usize> {
        (0..self.tokens.len()).filter(|&t| self.is_open(t))
    }

    /// The words and lists of a list, each by its first token.
    pub(super) fn children(&self, list: usize) -> Vec<usize> {
        (list + 1..self.tokens.len())
            .filter(|&t| self.tokens[t].parent == Some(list) && self.word(t) != ")")
            .collect()
    }

    /// One past the last byte of a word or list.
    pub(super) fn end(&self, token: usize) -> usize {
        let own = &self.tokens[token];
        if !self.is_open(token) {
            return own.end;
        }
        let close = self.tokens[token + 1..]
            .iter()
            .find(|t| t.parent == own.parent && &self.text[t.start..t.end] == ")");
        close.map_or(self.text.len(), |t| t.end)
    }

    /// Returns the kind of a list. Lists inside numbers or alternatives of types are [`TokenRole::Other`].
    fn role(&self, list: usize) -> TokenRole {
        let Some(parent) = self.tokens[list].parent else { return TokenRole::Action };
        let head = self.word(list + 1);
        let before = list.checked_sub(1).map_or("", |t| self.word(t));
        if [":parameters", ":vars"].contains(&before) {
            return TokenRole::Variables;
        }
        let numeric = |list: usize| OPERATORS[5..].contains(&self.word(list + 1));
        let mut around = Some(parent);
        while let Some(list) = around {
            if numeric(list) {
                return TokenRole::Other;
            }
            around = self.tokens[list].parent;
        }
        match head {
            "and" => TokenRole::And,
            "not" => TokenRole::Not,
            "(" | ")" => TokenRole::Other,
            word if word.starts_with('?') || OPERATORS.contains(&word) => TokenRole::Other,
            _ => TokenRole::Atom,
        }
    }

    /// The fields of the action: each keyword's token and its value's, where it has one.
    pub(super) fn fields(&self) -> Vec<(usize, Option<usize>)> {
        let children = self.children(0);
        let keyword = |t: usize| self.word(t).starts_with(':') && t > 1;
        let behind = |i: usize| children.get(i + 1).copied().filter(|t| !keyword(*t));
        children.iter().enumerate().filter(|(_, t)| keyword(**t)).map(|(i, &t)| (t, behind(i))).collect()
    }
}
