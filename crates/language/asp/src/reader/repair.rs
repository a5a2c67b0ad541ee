//! Names that a model spelt as no name of the reasoner can be: hyphens, upper case, quotes.

use super::drafts::{Draft, name_length, touch};
use super::report::Report;
use super::signature::Signature;
use crate::codes::reader as code;
use crate::names::{fold_spelling, mangle};
use crate::syntax::ast::Relation;
use crate::syntax::count_steps;
use crate::syntax::lexer::{Kind, Token};
use planforge_diagnostics::{Diagnostic, Severity, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Names of a whole text, collected before its statements are read.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// Constants that are written as such somewhere, in lower case.
    plain: BTreeSet<String>,
    /// Every constant that is read, however it is written.
    constants: BTreeSet<String>,
    /// Variables of statements with a body.
    variables: BTreeSet<String>,
}

impl Census {
    fn of(drafts: &[Draft]) -> Self {
        let mut census = Self::default();
        let mut of_facts: BTreeSet<&str> = BTreeSet::new();
        for Draft { tokens, .. } in drafts {
            let has_body = tokens.iter().any(|token| token.kind == Kind::If);
            for (at, token) in tokens.iter().enumerate() {
                let length = name_length(&tokens[at..]);
                if is_call(tokens, at + length - 1) {
                    continue;
                }
                match &token.kind {
                    Kind::Name(_) if length > 1 => census.add_joined(&tokens[at..at + length]),
                    Kind::Name(name) => {
                        census.plain.insert(mangle(name));
                    }
                    Kind::Variable(name) if has_body => {
                        census.variables.insert(name.clone());
                    }
                    Kind::Variable(_) if length > 1 && !is_difference(tokens, at, length) => {
                        census.add_joined(&tokens[at..at + length]);
                    }
                    Kind::Variable(name) => {
                        of_facts.insert(name);
                    }
                    Kind::Text(text) => census.constants.extend(name_in_quotes(text)),
                    _ => {}
                }
            }
        }
        census.constants.extend(census.plain.iter().cloned());
        for name in of_facts {
            let meant = name.to_ascii_lowercase();
            if census.constants.contains(&meant) || !census.looks_like_a_variable(name) {
                census.constants.insert(meant);
            }
        }
        census
    }

    fn add_joined(&mut self, tokens: &[Token]) {
        let written: String = tokens.iter().map(|token| token.kind.show()).collect();
        self.constants.insert(mangle(&written));
    }

    /// True if an upper-case name in a fact is more likely a variable without a condition than an object.
    fn looks_like_a_variable(&self, name: &str) -> bool {
        name.starts_with('_')
            || name.len() == 1 && (matches!(name, "X" | "Y" | "Z") || self.variables.contains(name))
    }
}

/// The name that a text in quotes is meant as.
fn name_in_quotes(text: &str) -> Option<String> {
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    is_name.then(|| mangle(text))
}

fn is_call(tokens: &[Token], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Open && touch(&tokens[at], next))
}

/// The words of the representation itself.
const HEADS: [&str; 6] = ["object", "cardinality", "init", "goal", "metric", "map"];

/// Repairs the names of statements.
pub(super) struct Speller<'a> {
    text: &'a str,
    signature: &'a Signature,
    census: Census,
    /// Known names by what they have in common with other spellings; empty where several are alike.
    by_folded: BTreeMap<String, String>,
    /// First spelling of each object with hyphens, its place, and whether a collision was reported.
    written: BTreeMap<String, (String, Span, bool)>,
}

impl<'a> Speller<'a> {
    pub(super) fn new(text: &'a str, signature: &'a Signature, drafts: &[Draft]) -> Self {
        let mut by_folded: BTreeMap<String, String> = BTreeMap::new();
        let functions = signature.functions.keys().map(String::as_str);
        for name in HEADS.into_iter().chain(signature.all_predicates()).chain(functions) {
            let entry = by_folded.entry(fold_spelling(name)).or_insert_with(|| name.to_owned());
            if entry != name {
                entry.clear();
            }
        }
        Self { text, signature, census: Census::of(drafts), by_folded, written: BTreeMap::new() }
    }

    /// The tokens of a statement with names in place of what was meant as one.
    pub(super) fn spell(&mut self, draft: &mut Draft, report: &mut Report) {
        let tokens = std::mem::take(&mut draft.tokens);
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for token in &tokens {
            if let Kind::Variable(name) = &token.kind {
                *uses.entry(name).or_default() += 1;
            }
        }
        let has_body = tokens.iter().any(|token| token.kind == Kind::If);
        let mut at = 0;
        while at < tokens.len() {
            let (taken, kind) = self.name(&tokens, at, &uses, has_body, report);
            match kind {
                Some(kind) => {
                    let span = tokens[at].span.to(tokens[at + taken - 1].span);
                    draft.tokens.push(Token { kind, span });
                }
                None => draft.tokens.extend_from_slice(&tokens[at..at + taken]),
            }
            at += taken;
        }
    }

    /// Number of tokens of the name, and the token that replaces them if the name is repaired.
    fn name(
        &mut self,
        tokens: &[Token],
        at: usize,
        uses: &BTreeMap<&str, usize>,
        has_body: bool,
        report: &mut Report,
    ) -> (usize, Option<Kind>) {
        match &tokens[at].kind {
            Kind::Not => match not_name(tokens, at) {
                1 => (1, None),
                length => (length, Some(self.repair_joined_name(tokens, at, length, report))),
            },
            Kind::Name(name) => match name_length(&tokens[at..]) {
                1 => (1, self.repair_case(tokens, at, name, report)),
                length => (length, Some(self.repair_joined_name(tokens, at, length, report))),
            },
            Kind::Variable(name) => {
                let length = name_length(&tokens[at..]);
                let once = uses.get(name.as_str()).is_none_or(|count| *count == 1);
                if is_call(tokens, at + length - 1) {
                    return (length, Some(self.repair_joined_name(tokens, at, length, report)));
                }
                if length > 1 && (!has_body || once) && !is_difference(tokens, at, length) {
                    return (length, Some(self.repair_joined_name(tokens, at, length, report)));
                }
                let is_type =
                    self.signature.has_type(&name.to_ascii_lowercase()) && is_type_of_object(tokens, at);
                if is_type && once {
                    let meant = name.to_ascii_lowercase();
                    self.report_repaired_name(name, &meant, tokens[at].span, Severity::Warning, report);
                    return (1, Some(Kind::Name(meant)));
                }
                (1, self.constant(name, tokens[at].span, once, has_body, report))
            }
            Kind::Text(text) => (1, self.quoted(tokens, at, text, report)),
            _ => (1, None),
        }
    }

    /// A name of several tokens, or a predicate that begins with an upper-case letter.
    fn repair_joined_name(
        &mut self,
        tokens: &[Token],
        at: usize,
        length: usize,
        report: &mut Report,
    ) -> Kind {
        let span = tokens[at].span.to(tokens[at + length - 1].span);
        let written = self.text.get(span.range()).unwrap_or_default().to_owned();
        let mut name = mangle(&written);
        if !is_call(tokens, at + length - 1) && !self.is_known(&name) {
            self.report_collision(&written, &name, span, report);
        } else if let Some(known) = self.find_similar_name(&name) {
            name = known;
        }
        self.report_repaired_name(&written, &name, span, Severity::Advice, report);
        Kind::Name(name)
    }

    fn is_known(&self, name: &str) -> bool {
        HEADS.contains(&name)
            || self.signature.arity(name).is_some()
            || self.signature.functions.contains_key(name)
    }

    /// The known predicate or function that differs only in case, hyphens and underscores.
    fn find_similar_name(&self, name: &str) -> Option<String> {
        if self.is_known(name) {
            return None;
        }
        self.by_folded.get(&fold_spelling(name)).filter(|known| !known.is_empty()).cloned()
    }

    /// A name with upper-case letters in it, or a predicate spelt a little differently.
    fn repair_case(&mut self, tokens: &[Token], at: usize, name: &str, report: &mut Report) -> Option<Kind> {
        let mut meant = name.to_ascii_lowercase();
        if is_call(tokens, at) && !self.is_known(&meant) {
            meant = self.find_similar_name(&meant).unwrap_or(meant);
        }
        if meant == name || meant == "not" {
            return None;
        }
        self.report_repaired_name(name, &meant, tokens[at].span, Severity::Advice, report);
        Some(Kind::Name(meant))
    }

    /// The constant for a variable that must mean an object: it stands in a fact, or once in a rule while an
    /// object has that name.
    fn constant(
        &mut self,
        name: &str,
        span: Span,
        once: bool,
        has_body: bool,
        report: &mut Report,
    ) -> Option<Kind> {
        let meant = name.to_ascii_lowercase();
        let is_object = self.signature.objects.contains(&meant) || self.census.constants.contains(&meant);
        let is_name = if has_body {
            once && is_object && name.len() > 1
        } else {
            is_object || !self.census.looks_like_a_variable(name)
        };
        if !is_name || name.starts_with('_') || meant == "not" {
            return None;
        }
        self.report_repaired_name(name, &meant, span, Severity::Warning, report);
        Some(Kind::Name(meant))
    }

    /// `"b1"` where an object is meant. Decimal numbers and relations stay texts.
    fn quoted(&mut self, tokens: &[Token], at: usize, text: &str, report: &mut Report) -> Option<Kind> {
        let name = name_in_quotes(text)?;
        self.report_repaired_name(&format!("\"{text}\""), &name, tokens[at].span, Severity::Advice, report);
        Some(Kind::Name(name))
    }

    fn report_repaired_name(
        &mut self,
        written: &str,
        name: &str,
        span: Span,
        severity: Severity,
        report: &mut Report,
    ) {
        let message = format!("`{written}` is read as the name `{name}`");
        report.repair(severity, code::NAME, message, span, name);
    }

    /// Reports, once for each name, that an object has another spelling elsewhere.
    fn report_collision(&mut self, written: &str, name: &str, span: Span, report: &mut Report) {
        let spelt: String =
            written.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let (first, place, told) =
            self.written.entry(name.to_owned()).or_insert_with(|| (spelt.to_ascii_lowercase(), span, false));
        let other = if first.eq_ignore_ascii_case(&spelt) {
            self.census.plain.get(name).cloned()
        } else {
            Some(first.clone())
        };
        let Some(other) = other.filter(|_| !*told) else { return };
        *told = true;
        let place = *place;
        let mut found = Diagnostic::warning(
            code::NAME_COLLISION,
            format!("`{other}` and `{spelt}` are both read as `{name}`"),
        )
        .at(report.source, span, "");
        if place != span {
            found = found.also(report.source, place, "written otherwise");
        }
        report.repairs.push(found.help(
            "where two objects are meant, give them names that differ in more than hyphens and underscores",
        ));
    }
}

/// True if a token is the type in `object(X, TYPE)`.
fn is_type_of_object(tokens: &[Token], at: usize) -> bool {
    let Some([name, open, _, comma]) = at.checked_sub(4).and_then(|first| tokens.get(first..at)) else {
        return false;
    };
    comma.kind == Kind::Comma
        && open.kind == Kind::Open
        && matches!(&name.kind, Kind::Name(text) | Kind::Variable(text) if text.eq_ignore_ascii_case("object"))
}

/// The tokens of `not-inflated`, which is a name; of a `not` that is one, 1.
fn not_name(tokens: &[Token], at: usize) -> usize {
    let length = name_length(&tokens[at..]);
    let ends_in_name = matches!(tokens[at + length - 1].kind, Kind::Name(_) | Kind::Number(_));
    if length > 1 && ends_in_name { length } else { 1 }
}

/// True if `X-Y` or `X-1` is arithmetic: a single letter, and no letters of a name after the hyphen.
fn is_difference(tokens: &[Token], at: usize, length: usize) -> bool {
    let Kind::Variable(first) = &tokens[at].kind else { return false };
    let rest = &tokens[at + 1..at + length];
    length == 3 && (first.len() == 1 || matches!(rest[1].kind, Kind::Variable(_)))
}

// Rewrites constructs inside `init` and `goal` that the grammar lacks: `goal(not clean(X))`,
// `init(total_cost = 0)`.

/// Rewrites the arguments of `init` and `goal` into terms.
pub(super) fn reshape(draft: &mut Draft, report: &mut Report) {
    let tokens = std::mem::take(&mut draft.tokens);
    let closers = closers(&tokens);
    let mut edits = Edits { before: vec![Vec::new(); tokens.len()], dropped: vec![false; tokens.len()] };
    let mut at = 0;
    while at < tokens.len() {
        let Some((state, close)) = state(&tokens, &closers, at) else {
            at += 1;
            continue;
        };
        for argument in arguments(&tokens, at + 2..close) {
            edits.argument(&tokens, &closers, state, argument, report);
        }
        at = close;
    }
    for (at, token) in tokens.into_iter().enumerate() {
        draft.tokens.append(&mut edits.before[at]);
        if !edits.dropped[at] {
            draft.tokens.push(token);
        }
    }
}

/// For each opening parenthesis the index of its partner.
fn closers(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => open.push(at),
            Kind::Close => {
                if let Some(partner) = open.pop() {
                    partners[partner] = Some(at);
                }
            }
            _ => {}
        }
    }
    partners
}

/// For a token that begins `init(` or `goal(`, the state and the index of the closing parenthesis.
fn state(tokens: &[Token], closers: &[Option<usize>], at: usize) -> Option<(&'static str, usize)> {
    let state = match &tokens[at].kind {
        Kind::Name(name) if name == "init" => "init",
        Kind::Name(name) if name == "goal" => "goal",
        _ => return None,
    };
    closers.get(at + 1).copied().flatten().map(|close| (state, close))
}

/// The pieces of a range between commas outside inner parentheses; none is empty.
fn arguments(tokens: &[Token], range: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0usize, range.start);
    count_steps(range.len());
    for at in range.clone() {
        match tokens[at].kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Comma if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(start..range.end);
    found.retain(|piece| !piece.is_empty());
    found
}

/// Changes to the tokens of one statement.
struct Edits {
    /// Tokens to insert before each token.
    before: Vec<Vec<Token>>,
    /// True for tokens to remove.
    dropped: Vec<bool>,
}

impl Edits {
    fn insert(&mut self, at: usize, kind: Kind, span: Span) {
        self.before[at].push(Token { kind, span });
    }

    fn argument(
        &mut self,
        tokens: &[Token],
        closers: &[Option<usize>],
        state: &str,
        argument: Range<usize>,
        report: &mut Report,
    ) {
        if is_negation(&tokens[argument.clone()]) {
            self.negate(tokens, closers, argument, report);
        } else if let Some(relation) = relation(tokens, argument.clone()) {
            self.compare(tokens, state, argument, relation, report);
        }
    }

    /// `not p(X)` becomes `neg(p(X))`.
    fn negate(
        &mut self,
        tokens: &[Token],
        closers: &[Option<usize>],
        argument: Range<usize>,
        report: &mut Report,
    ) {
        let (sign, last) = (argument.start, argument.end - 1);
        let span = tokens[sign].span.to(tokens[last].span);
        let message = "`not` inside `init` or `goal` is read as a fact that must not hold".to_owned();
        report.note(code::NEGATIVE, message, span);
        let is_wrapped = tokens[sign + 1].kind == Kind::Open && closers[sign + 1] == Some(last);
        self.dropped[sign] = true;
        self.insert(sign, Kind::Name("neg".to_owned()), tokens[sign].span);
        if !is_wrapped {
            self.insert(sign, Kind::Open, Span::empty(tokens[sign].span.end));
            self.insert(last + 1, Kind::Close, Span::empty(tokens[last].span.end));
        }
    }

    /// `total_cost = 0` becomes `value(total_cost, 0)`, and in a goal `compare("=", total_cost, 0)`.
    fn compare(
        &mut self,
        tokens: &[Token],
        state: &str,
        argument: Range<usize>,
        relation: usize,
        report: &mut Report,
    ) {
        let Kind::Relation(sign) = tokens[relation].kind else { return };
        let (first, last) = (argument.start, argument.end - 1);
        let span = tokens[first].span.to(tokens[last].span);
        let is_init = state == "init";
        if sign == Relation::NotEqual || (is_init && sign != Relation::Equal) {
            let message = format!("`{sign}` cannot stand inside `{state}`");
            let help = "say what a function is worth with `init(total_cost = 0)`, and bound it with `goal(fuel(truck1) >= 3)`";
            report.refuse(code::FRAGMENT, message, span, help);
            return;
        }
        let message = format!("the comparison inside `{state}` is read as one of a numeric function");
        report.note(code::NUMBER_FACT, message, span);
        let place = Span::empty(tokens[first].span.start);
        self.insert(first, Kind::Name(if is_init { "value" } else { "compare" }.to_owned()), place);
        self.insert(first, Kind::Open, place);
        if !is_init {
            self.insert(first, Kind::Text(sign.to_string()), place);
            self.insert(first, Kind::Comma, place);
        }
        self.dropped[relation] = true;
        self.insert(relation, Kind::Comma, tokens[relation].span);
        self.insert(last + 1, Kind::Close, Span::empty(tokens[last].span.end));
    }
}

/// True if an argument has a sign of negation before something else.
fn is_negation(argument: &[Token]) -> bool {
    let Some(next) = argument.get(1) else { return false };
    match &argument[0].kind {
        Kind::Not => true,
        Kind::Odd(text) => matches!(text.as_str(), "~" | "\u{ac}" | "!"),
        Kind::Minus => matches!(next.kind, Kind::Name(_)),
        _ => false,
    }
}

/// The relation outside inner parentheses.
fn relation(tokens: &[Token], argument: Range<usize>) -> Option<usize> {
    let mut depth = 0usize;
    let (first, last) = (argument.start, argument.end - 1);
    count_steps(argument.len());
    argument.into_iter().find(|at| {
        match tokens[*at].kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Relation(_) => return depth == 0 && *at > first && *at < last,
            _ => {}
        }
        false
    })
}
