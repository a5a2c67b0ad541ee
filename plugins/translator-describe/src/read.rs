//! Reading replies: a text, predicate sentences, or descriptions of types.

use crate::codes;
use planforge_contract::{Failure, FailureClass, FinishReason, Reply, Sentences, sentence_slots};
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, print_typed_list};
use planforge_plugin_sdk::reply::filtered_text;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A predicate to describe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Predicate {
    name: String,
    parameters: String,
    arity: usize,
}

impl Predicate {
    /// The predicates that a domain declares, as far as it can be read.
    pub(crate) fn all(domain: &str) -> Vec<Self> {
        let domain = parse_domain(domain, SourceId(0)).value;
        let one = |p: planforge_pddl::ast::PredicateDecl| Self {
            name: p.name.as_str().to_ascii_lowercase(),
            parameters: print_typed_list(&p.parameters),
            arity: p.parameters.len(),
        };
        domain.predicates.into_iter().map(one).collect()
    }

    /// `(at ?x - ball ?r - room)`.
    pub(crate) fn declaration(&self) -> String {
        match self.parameters.is_empty() {
            true => format!("({})", self.name),
            false => format!("({} {})", self.name, self.parameters),
        }
    }
}

/// A type to describe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Type {
    name: String,
    /// The types that it is a kind of, as the domain writes them.
    above: String,
}

impl Type {
    /// The types that a domain declares, as far as it can be read; `object` is PDDL's own.
    pub(crate) fn all(domain: &str) -> Vec<Self> {
        let domain = parse_domain(domain, SourceId(0)).value;
        let one = |ty: planforge_pddl::ast::TypedName| {
            let above = ty.ty.as_ref().map(|ty| &ty.alternatives[..]).unwrap_or_default();
            let above: Vec<String> = above.iter().map(|name| name.as_str().to_ascii_lowercase()).collect();
            Self { name: ty.name.as_str().to_ascii_lowercase(), above: above.join(" or ") }
        };
        domain.types.into_iter().map(one).filter(|ty| ty.name != "object").collect()
    }

    /// `glass - vessel`.
    pub(crate) fn declaration(&self) -> String {
        match self.above.is_empty() {
            true => self.name.clone(),
            false => format!("{} - {}", self.name, self.above),
        }
    }
}

/// The code blocks of a reply. One without an end reaches to the end of the reply.
fn blocks(reply: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in reply.lines() {
        match (line.trim_start().starts_with("```"), &mut open) {
            (true, Some(_)) => blocks.extend(open.take()),
            (true, None) => open = Some(String::new()),
            (false, Some(block)) => {
                block.push_str(line);
                block.push('\n');
            }
            (false, None) => {}
        }
    }
    blocks.extend(open);
    blocks
}

fn check_finished(reply: &Reply) -> Result<(), Failure> {
    let why = match reply.finish {
        FinishReason::Length => "the server cut the reply off at its token limit".to_owned(),
        FinishReason::ContentFilter => filtered_text(reply),
        FinishReason::Stop | FinishReason::Other => return Ok(()),
    };
    Err(Failure::new(FailureClass::Reply, codes::CUT_OFF, why))
}

/// The text of a reply: its longest code block, or all of it if there is none. Ends with a line end.
pub(crate) fn text(reply: &Reply) -> Result<String, Failure> {
    check_finished(reply)?;
    let block = blocks(&reply.content).into_iter().max_by_key(String::len);
    let text = block.unwrap_or_else(|| reply.content.clone());
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let none = |why: &str| Err(Failure::new(FailureClass::Reply, codes::NO_TEXT, why));
    match lines.join("\n") {
        text if text.is_empty() => none("the reply holds no text"),
        text if text.to_ascii_lowercase().contains("(define") => {
            none("the reply holds PDDL and no plain language")
        }
        text => Ok(text + "\n"),
    }
}

/// The sentences of a reply, for every predicate; or every mistake in one failure.
pub(crate) fn sentences(
    reply: &Reply,
    predicates: &[Predicate],
) -> Result<BTreeMap<String, Sentences>, Failure> {
    check_finished(reply)?;
    let fail = |why: String| Failure::new(FailureClass::Reply, codes::SENTENCES, why);
    let told: BTreeMap<String, Sentences> = object(&reply.content).ok_or_else(|| {
        fail(
            "the reply holds no JSON object with an entry {\"yes\": ..., \"no\": ...} for each predicate"
                .to_owned(),
        )
    })?;
    let mut wrong = Vec::new();
    let mut found = BTreeMap::new();
    for predicate in predicates {
        let entry =
            told.iter().find(|(name, _)| name.trim_matches(['(', ')']).eq_ignore_ascii_case(&predicate.name));
        match entry {
            None => wrong.push(format!("`{}` has no entry", predicate.name)),
            Some((_, sentences)) => {
                for (side, sentence) in [("yes", &sentences.yes), ("no", &sentences.no)] {
                    wrong.extend(mistake(predicate, side, sentence));
                }
                found.insert(predicate.name.clone(), sentences.clone());
            }
        }
    }
    for name in told.keys() {
        let name = name.trim_matches(['(', ')']);
        if !predicates.iter().any(|p| p.name.eq_ignore_ascii_case(name)) {
            wrong.push(format!("the domain has no predicate `{name}`"));
        }
    }
    match wrong.is_empty() {
        true => Ok(found),
        false => Err(fail(wrong.join("; "))),
    }
}

/// The descriptions of a reply, for every type; or every mistake in one failure.
pub(crate) fn types(reply: &Reply, types: &[Type]) -> Result<BTreeMap<String, String>, Failure> {
    check_finished(reply)?;
    let fail = |why: String| Failure::new(FailureClass::Reply, codes::TYPES, why);
    let told: BTreeMap<String, String> = object(&reply.content)
        .ok_or_else(|| fail("the reply holds no JSON object with a text for each type".to_owned()))?;
    let mut wrong = Vec::new();
    let mut found = BTreeMap::new();
    for ty in types {
        match told.iter().find(|(name, _)| name.eq_ignore_ascii_case(&ty.name)) {
            None => wrong.push(format!("`{}` has no entry", ty.name)),
            Some((_, text)) if text.trim().is_empty() => {
                wrong.push(format!("`{}` has an empty text", ty.name))
            }
            Some((_, text)) => {
                // A description is used inside sentences and on separate lines.
                let words: Vec<&str> = text.split_whitespace().collect();
                found.insert(ty.name.clone(), words.join(" ").trim_end_matches('.').to_owned());
            }
        }
    }
    for name in told.keys() {
        let known = types.iter().any(|ty| ty.name.eq_ignore_ascii_case(name));
        if !known && !name.eq_ignore_ascii_case("object") {
            wrong.push(format!("the domain has no type `{name}`"));
        }
    }
    if wrong.is_empty() { Ok(found) } else { Err(fail(wrong.join("; "))) }
}

/// Descriptions as `sentences.toml` holds them.
pub(crate) fn types_to_toml(types: &BTreeMap<String, String>) -> String {
    let entries = types.iter().map(|(name, text)| format!("{} = {}\n", key(name), quoted(text)));
    format!("[types]\n{}", entries.collect::<String>())
}

/// JSON's escapes in strings are TOML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text.trim()).to_string()
}

fn key(name: &str) -> String {
    let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { name.to_owned() } else { quoted(name) }
}

/// The JSON object in a reply: in a code block, or between its first and last brace.
fn object<T: serde::de::DeserializeOwned>(reply: &str) -> Option<BTreeMap<String, T>> {
    let whole = || Some(reply.get(reply.find('{')?..=reply.rfind('}')?)?.to_owned());
    let candidates = blocks(reply).into_iter().rev().chain(whole());
    candidates.into_iter().find_map(|text| serde_json::from_str(text.trim()).ok())
}

fn mistake(predicate: &Predicate, side: &str, sentence: &str) -> Option<String> {
    let Predicate { name, arity, .. } = predicate;
    if sentence.trim().is_empty() {
        return Some(format!("`{name}` has no sentence `{side}`"));
    }
    let slots = match sentence_slots(sentence) {
        Ok(slots) => slots,
        Err(why) => return Some(format!("`{side}` of `{name}`: {why}")),
    };
    if slots.highest > *arity {
        return Some(format!(
            "`{side}` of `{name}` has slot {{{}}}, and `{name}` has {arity} argument(s)",
            slots.highest
        ));
    }
    let missing: Vec<String> =
        (1..=*arity).map(|n| format!("{{{n}}}")).filter(|slot| !sentence.contains(slot)).collect();
    (!missing.is_empty()).then(|| format!("`{side}` of `{name}` lacks {}", missing.join(" and ")))
}

/// Sentences as `sentences.toml` holds them.
pub(crate) fn to_toml(sentences: &BTreeMap<String, Sentences>) -> String {
    let mut out = String::from("[predicates]\n");
    for (name, told) in sentences {
        let (yes, no) = (quoted(&told.yes), quoted(&told.no));
        let _ = writeln!(out, "{} = {{ yes = {yes}, no = {no} }}", key(name));
    }
    out
}
