//! Descriptions of predicates: read, compared with the domain, and made into sentences.

use super::domains::DomainFiles;
use super::{Import, Text, span};
use crate::codes;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{PredicateDecl, TypedName};
use planforge_pddl::nearest;
use planforge_pipeline::{read_declaration, same_parameters};
use std::collections::BTreeMap;

/// One line of a file.
#[derive(Debug)]
pub(super) struct Line {
    source: SourceId,
    place: Span,
    text: String,
}

/// One predicate in words.
#[derive(Debug)]
pub(super) struct Described {
    /// Its name, as the domain writes it.
    pub(super) name: String,
    /// The declaration as written.
    pub(super) declaration: String,
    /// The text as written.
    pub(super) text: String,
    /// The text with slots; absent where it leaves a parameter out.
    pub(super) sentence: Option<String>,
}

impl Import<'_> {
    /// The lines of each file, by the stem of the file in lower case.
    pub(super) fn descriptions(&mut self) -> BTreeMap<String, Vec<Line>> {
        let mut all = BTreeMap::new();
        for stem in self.stems("predicate-descriptions", ".txt").unwrap_or_default() {
            if let Some(file) = self.text(&format!("predicate-descriptions/{stem}.txt")) {
                all.insert(stem.to_lowercase(), lines(&file));
            }
        }
        all
    }

    /// The descriptions of a domain's predicates, in the order of the domain.
    pub(super) fn predicates(&mut self, found: &DomainFiles, lines: Option<&Vec<Line>>) -> Vec<Described> {
        let Some(lines) = lines else {
            let message = format!("the file predicate-descriptions/{}.txt is missing", found.name);
            let help = "predicates without a description are rendered by their names";
            self.found.push(Diagnostic::warning(codes::NO_DESCRIPTION, message).help(help));
            return Vec::new();
        };
        let mut described: BTreeMap<&str, Described> = BTreeMap::new();
        for line in lines {
            match read(line, found) {
                Err(wrong) => self.found.push(*wrong),
                Ok((declared, told)) => {
                    if told.sentence.is_none() {
                        self.found.push(leaves_out(line, &told));
                    }
                    if described.insert(declared.name.key(), told).is_some() {
                        let message = format!("predicate `{}` is described twice", declared.name);
                        self.found.push(line.error(message).help("keep one of the lines"));
                    }
                }
            }
        }
        let predicates = &found.domain.predicates;
        for declared in predicates.iter().filter(|p| !described.contains_key(p.name.key())) {
            let message = format!("predicate `{}` of `{}` has no description", declared.name, found.name);
            self.found.push(
                Diagnostic::warning(codes::NO_DESCRIPTION, message)
                    .at(found.file.source, declared.name.span, "")
                    .help("it is rendered by its name"),
            );
        }
        predicates.iter().filter_map(|p| described.remove(p.name.key())).collect()
    }
}

impl Line {
    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::error(codes::DESCRIPTION, message).at(self.source, self.place, "")
    }
}

fn lines(file: &Text) -> Vec<Line> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in file.text.split_inclusive('\n') {
        let text = line.trim();
        if !text.is_empty() {
            let before = line.len() - line.trim_start().len();
            let place = span(start + before, text.len());
            lines.push(Line { source: file.source, place, text: text.to_owned() });
        }
        start += line.len();
    }
    lines
}

/// Parses `(in ?l - lamp ?r - room) : lamp l stands in room r.`
fn read<'a>(line: &Line, found: &'a DomainFiles) -> Result<(&'a PredicateDecl, Described), Box<Diagnostic>> {
    let wrong = |message: String| {
        Box::new(line.error(message).help("a line is `(in ?l - lamp ?r - room) : lamp l stands in room r.`"))
    };
    let (declaration, text) = line
        .text
        .find(')')
        .map(|end| line.text.split_at(end + 1))
        .and_then(|(declaration, rest)| Some((declaration, rest.trim_start().strip_prefix(':')?.trim())))
        .filter(|(_, text)| !text.is_empty())
        .ok_or_else(|| wrong("the line is not a declaration followed by a colon and a text".to_owned()))?;
    let written = read_declaration(declaration).map_err(wrong)?;
    let predicates = &found.domain.predicates;
    let Some(declared) = predicates.iter().find(|p| p.name == written.name) else {
        let names: Vec<&str> = predicates.iter().map(|p| p.name.as_str()).collect();
        let message = format!("domain `{}` has no predicate `{}`", found.name, written.name);
        let help = match nearest(written.name.as_str(), names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("its predicates are {}", names.join(", ")),
        };
        return Err(Box::new(line.error(message).help(help)));
    };
    same_parameters(declared, &written).map_err(|why| {
        Box::new(
            line.error(why)
                .also(found.file.source, declared.span, "what counts")
                .help("parameters may have other names, but as many of them and the same types"),
        )
    })?;
    let described = Described {
        name: declared.name.to_string(),
        declaration: declaration.to_owned(),
        text: text.to_owned(),
        sentence: sentence(text, &written.parameters),
    };
    Ok((declared, described))
}

fn leaves_out(line: &Line, told: &Described) -> Diagnostic {
    let message = format!("the description of `{}` does not name each of its parameters", told.name);
    Diagnostic::warning(codes::INCOMPLETE, message).at(line.source, line.place, "").help(
        "prompts use the text unchanged; in sentences about states the predicate is rendered by its name",
    )
}

/// Words that a variable may be called and that a text also has with their own meaning.
const ORDINARY: [&str; 20] = [
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "it", "not", "of", "off", "on", "or",
    "out", "the", "to", "with",
];

/// Replaces the variables of a text by slots. `None` if the text omits a variable, since different facts
/// would read the same. A variable that is also an ordinary word is replaced only behind the name of its
/// type.
fn sentence(text: &str, parameters: &[TypedName]) -> Option<String> {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for (index, parameter) in parameters.iter().enumerate() {
        let name = parameter.name.as_str().trim_start_matches('?');
        let types: Vec<&str> =
            parameter.ty.iter().flat_map(|ty| &ty.alternatives).map(|name| name.as_str()).collect();
        let ordinary = ORDINARY.contains(&name.to_lowercase().as_str());
        let mut named = false;
        for at in 0..words.len() {
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let behind_type = before.is_some_and(|word| types.iter().any(|ty| ty.eq_ignore_ascii_case(word)));
            let Some(word) = words.get_mut(at) else { continue };
            let bare = word.trim_matches(|c: char| ".,;:!?\"'()".contains(c));
            if bare == name && (behind_type || !ordinary) {
                *word = word.replacen(bare, &format!("{{{}}}", index + 1), 1);
                named = true;
            }
        }
        if !named {
            return None;
        }
    }
    Some(finish_sentence(&words.join(" ")))
}

/// Adds a capital letter at the beginning and a full stop at the end.
fn finish_sentence(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
