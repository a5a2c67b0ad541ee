//! Actions in words (domain-generators paper, section 3): what a model is told that writes a domain action by action.
//!
//! A description tells what an action does and with what (base), also what it needs and makes false (flipped: the literals of
//! pre(a) ∩ del(a)), or as many literals drawn from all its conditions and effects (random). `actions.toml` may hold texts written for
//! a class; what it leaves out is made from the action's name and parameters, the suite's descriptions of types and its sentences.

use super::Suite;
use crate::config::DescriptionClass;
use crate::front::reader::{Reader, error_at, with_help};
use crate::front::tree::{Node, Place, Value, parse};
use crate::suggest::help_for;
use planforge_contract::{ActionDescription, ActionExample, PredicateDescription};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, TypedName};
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, print_action, print_domain, print_typed_list};
use planforge_plugin_sdk::wording::Wording;
use planforge_record::sha256_hex;
use std::collections::BTreeMap;

/// What `actions.toml` says of one action; absent texts are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionTexts {
    /// What it does, and with what.
    pub base: Option<String>,
    /// Base with what it needs and makes false.
    pub flipped: Option<String>,
    /// Base with some conditions and effects.
    pub random: Option<String>,
}

impl ActionTexts {
    fn of(&self, class: DescriptionClass) -> Option<&String> {
        match class {
            DescriptionClass::Base => self.base.as_ref(),
            DescriptionClass::Flipped => self.flipped.as_ref(),
            DescriptionClass::Random => self.random.as_ref(),
        }
    }
}

/// Reads `actions.toml`: a table `[actions]` with a text, or a table of texts by class, for each action of the reference domain.
pub(super) fn read(
    text: &str,
    source: SourceId,
    domain: Option<&str>,
    out: &mut Vec<Diagnostic>,
) -> BTreeMap<String, ActionTexts> {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let mut told = BTreeMap::new();
    let place = Place { source, span: Span::empty(0) };
    let names: Option<Vec<String>> = domain.map(|text| {
        parse_domain(text, SourceId(0)).value.actions.iter().map(|a| a.name.key().to_owned()).collect()
    });
    let mut reader = Reader::new(&parsed.root, place, "actions.toml");
    for (name, node) in reader.table("actions", &mut found).iter().flat_map(|(table, _)| &table.entries) {
        let key = name.name.to_lowercase();
        if let Some(names) = names.as_ref().filter(|names| !names.contains(&key)) {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let message = format!("the reference domain has no action `{}`", name.name);
            let help = help_for(&name.name, &known, "its actions are");
            found.push(with_help(error_at("suite.actions", message, name.place), help));
            continue;
        }
        told.insert(key, texts(&name.name, node, &mut found));
    }
    reader.finish("suite.actions", &mut found);
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.actions".into();
        d
    }));
    told
}

fn texts(name: &str, node: &Node, out: &mut Vec<Diagnostic>) -> ActionTexts {
    match &node.value {
        Value::String(base) => ActionTexts { base: Some(base.clone()), ..ActionTexts::default() },
        Value::Table(table) => {
            let mut reader = Reader::new(table, node.place, format!("the texts of `{name}`"));
            let mut text = |key, out: &mut Vec<Diagnostic>| reader.string(key, out).map(|at| at.value);
            let (base, flipped, random) = (text("base", out), text("flipped", out), text("random", out));
            reader.finish("suite.actions", out);
            ActionTexts { base, flipped, random }
        }
        _ => {
            let message = format!("`{name}` must be a text or a table of texts, not {}", node.kind());
            out.push(error_at("suite.actions", message, node.place).help("write NAME = \"what it does\""));
            ActionTexts::default()
        }
    }
}

/// The materials of a suite whose actions are given in words. Where the predicates are not, neither is what is made of them.
pub(super) fn materials(suite: &Suite, class: DescriptionClass, given: bool) -> BTreeMap<String, String> {
    let Some(text) = &suite.reference_domain else { return BTreeMap::new() };
    let domain = parse_domain(text, SourceId(0)).value;
    let described: Vec<ActionDescription> =
        domain.actions.iter().map(|action| describe(suite, action, class)).collect();
    let mut materials = BTreeMap::from([("actions".to_owned(), json(&described))]);
    if given {
        materials.insert("predicates.declared".to_owned(), json(&predicates(suite, &domain)));
    }
    let mut header = Domain { actions: Vec::new(), durative_actions: Vec::new(), ..domain };
    if !given {
        header.predicates.clear();
        header.functions.clear();
        header.derived.clear();
        header.constraints = None;
    }
    materials.insert("domain.header".to_owned(), print_domain(&header));
    materials
}

/// Descriptions that would show names of predicates which are withheld: a literal without a sentence is told by its predicate's name.
pub(super) fn telling_names(suite: &Suite, class: DescriptionClass) -> Vec<Diagnostic> {
    let Some(text) = suite.reference_domain.as_ref().filter(|_| class != DescriptionClass::Base) else {
        return Vec::new();
    };
    let domain = parse_domain(text, SourceId(0)).value;
    let sentence = |name: &str| suite.sentences.keys().any(|known| known.eq_ignore_ascii_case(name));
    let mut found = Vec::new();
    for action in &domain.actions {
        if suite.action_texts.get(action.name.key()).is_some_and(|texts| texts.of(class).is_some()) {
            continue;
        }
        let all = literals(action);
        let silent =
            told(suite, action, class, &all).iter().find(|l| !sentence(l.atom.predicate.key())).copied();
        found.extend(silent.map(|literal| {
            let message = format!(
                "the pipeline withholds the predicates, and suite `{}` has no sentence for `{}`, which the description of `{}` tells",
                suite.name, literal.atom.predicate, action.name
            );
            Diagnostic::error("suite.no-sentence", message).help(format!(
                "write a sentence for it in sentences.toml, a text for `{}` in actions.toml, or give `actions = \"base\"`",
                action.name
            ))
        }));
    }
    found
}

/// The actions of a suite as in-context examples.
pub(crate) fn examples(suite: &Suite, class: DescriptionClass) -> Vec<ActionExample> {
    let Some(text) = &suite.reference_domain else { return Vec::new() };
    let domain = parse_domain(text, SourceId(0)).value;
    let predicates = predicates(suite, &domain);
    let example = |action: &Action| ActionExample {
        suite: suite.name.clone(),
        action: describe(suite, action, class),
        predicates: predicates.clone(),
        pddl: print_action(action),
    };
    domain.actions.iter().map(example).collect()
}

/// What the predicates of a domain say of their parameters.
fn predicates(suite: &Suite, domain: &Domain) -> Vec<PredicateDescription> {
    let wording = Wording::new(&suite.sentences);
    let described = |declared: &planforge_pddl::ast::PredicateDecl| {
        let parameters = match declared.parameters.is_empty() {
            true => String::new(),
            false => format!(" {}", print_typed_list(&declared.parameters)),
        };
        let names: Vec<&str> = declared.parameters.iter().map(bare).collect();
        PredicateDescription {
            declaration: format!("({}{parameters})", declared.name),
            text: clause(&wording.fact(declared.name.as_str(), &names, true)),
        }
    };
    domain.predicates.iter().map(described).collect()
}

/// One action in words.
fn describe(suite: &Suite, action: &Action, class: DescriptionClass) -> ActionDescription {
    let written = suite.action_texts.get(action.name.key());
    let text = written.and_then(|texts| texts.of(class)).cloned().unwrap_or_else(|| {
        let base = written.and_then(|texts| texts.base.clone()).unwrap_or_else(|| base(suite, action));
        made(suite, action, class, &base)
    });
    ActionDescription { name: action.name.to_string(), text }
}

/// `The action "pick" is done with a ball b, a room r and a gripper g.`
fn base(suite: &Suite, action: &Action) -> String {
    let with: Vec<String> = action
        .parameters
        .iter()
        .map(|parameter| {
            let ty = parameter.ty.as_ref().and_then(|ty| ty.alternatives.first());
            let ty = ty.map_or("object", |name| name.as_str());
            let what = suite.types.get(&ty.to_lowercase()).cloned().unwrap_or_else(|| format!("a {ty}"));
            format!("{what} {}", bare(parameter))
        })
        .collect();
    match with.as_slice() {
        [] => format!("The action \"{}\" is done with nothing.", action.name),
        with => format!("The action \"{}\" is done with {}.", action.name, list(with)),
    }
}

/// A condition or effect of an action.
#[derive(Clone, Copy)]
struct Literal<'a> {
    atom: &'a Atom,
    holds: bool,
    effect: bool,
}

/// All literals of conditions, then those of effects.
fn literals(action: &Action) -> Vec<Literal<'_>> {
    let mut literals = Vec::new();
    action.precondition.iter().for_each(|condition| conditions(condition, &mut literals));
    action.effect.iter().for_each(|effect| effects(effect, &mut literals));
    literals
}

/// The literals that a description of the class tells.
fn told<'a>(
    suite: &Suite,
    action: &Action,
    class: DescriptionClass,
    literals: &[Literal<'a>],
) -> Vec<Literal<'a>> {
    let deleted = |atom: &Atom| {
        literals
            .iter()
            .any(|l| l.effect && !l.holds && l.atom.predicate == atom.predicate && l.atom.args == atom.args)
    };
    let needed = literals.iter().filter(|l| !l.effect);
    let flipped: Vec<Literal<'_>> = needed.filter(|l| l.holds && deleted(l.atom)).copied().collect();
    match class {
        DescriptionClass::Base => Vec::new(),
        DescriptionClass::Flipped => flipped,
        DescriptionClass::Random => draw(suite, action, literals, flipped.len()),
    }
}

fn made(suite: &Suite, action: &Action, class: DescriptionClass, base: &str) -> String {
    let told = told(suite, action, class, &literals(action));
    let wording = Wording::new(&suite.sentences);
    let say = |wanted: bool| -> Vec<String> {
        told.iter().filter(|l| l.effect == wanted).map(|literal| in_words(&wording, literal)).collect()
    };
    let mut text = base.trim_end().trim_end_matches('.').to_owned();
    let (before, after) = (say(false), say(true));
    if !before.is_empty() {
        text += &format!(", if {}", list(&before));
    }
    text.push('.');
    if !after.is_empty() {
        text += &format!(" After the action, {}.", list(&after));
    }
    text
}

/// So many literals, each at most once, in the order of the action. The draw belongs to the suite and the action.
fn draw<'a>(suite: &Suite, action: &Action, literals: &[Literal<'a>], count: usize) -> Vec<Literal<'a>> {
    let name = format!("{}/{}", suite.name, action.name.key());
    let digest = sha256_hex(name.as_bytes());
    let seed = u64::from_str_radix(digest.get(..16).unwrap_or_default(), 16).unwrap_or_default();
    let mut random = Random::new(seed);
    let mut left: Vec<usize> = (0..literals.len()).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count && !left.is_empty() {
        chosen.push(left.swap_remove(random.below(left.len() as u64) as usize));
    }
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|index| literals.get(index).copied()).collect()
}

fn conditions<'a>(condition: &'a Condition, out: &mut Vec<Literal<'a>>) {
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|part| conditions(part, out)),
        Condition::Atom(atom) => out.push(Literal { atom, holds: true, effect: false }),
        Condition::Not(inner, _) => {
            if let Condition::Atom(atom) = inner.as_ref() {
                out.push(Literal { atom, holds: false, effect: false });
            }
        }
        _ => {}
    }
}

fn effects<'a>(effect: &'a Effect, out: &mut Vec<Literal<'a>>) {
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|part| effects(part, out)),
        Effect::Add(atom) => out.push(Literal { atom, holds: true, effect: true }),
        Effect::Delete(atom, _) => out.push(Literal { atom, holds: false, effect: true }),
        _ => {}
    }
}

fn in_words(wording: &Wording, literal: &Literal<'_>) -> String {
    let names: Vec<String> = literal
        .atom
        .args
        .iter()
        .map(|term| term.name().as_str().trim_start_matches('?').to_owned())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    clause(&wording.fact(literal.atom.predicate.as_str(), &names, literal.holds))
}

/// A sentence as part of another.
fn clause(sentence: &str) -> String {
    let sentence = sentence.trim().trim_end_matches('.');
    let mut letters = sentence.chars();
    match (letters.next(), letters.clone().next()) {
        // A word of capitals is a name.
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

fn bare(parameter: &TypedName) -> &str {
    parameter.name.as_str().trim_start_matches('?')
}

fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Plain data always has a JSON form.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
