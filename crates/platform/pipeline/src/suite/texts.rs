//! The wording of a suite: descriptions of actions (`actions.toml`, domain-generators paper, section 3), for models that write a domain
//! action by action, and of facts, numbers and types (`sentences.toml`, exploration-walk paper, Appendix C, and translate-infer-compile
//! paper, Appendix B).
//!
//! A description has the purpose and parameters of an action (base), also its needs and deletions (flipped:
//! the literals of pre(a) ∩ del(a)), or as many literals drawn from all its conditions and effects (random).
//! `actions.toml` may hold texts written for a class; missing ones are made from the action's name and
//! parameters, the suite's descriptions of types and its sentences.
//!
//! pre(a) are the literals among the conjuncts of the precondition, add(a) and del(a) the atoms that effects
//! make true and false, also under a condition or for every binding. Numbers, comparisons, equalities,
//! disjunctions and quantified conditions are in none of the three.

use super::{ActionTexts, DescriptionClass, PredicateText, Suite};
use crate::reader::{
    At, Key, Node, SourcePlace, Table, TableReader, Value, error_at, help_for, parse, with_help,
};
use planforge_contract::{
    ActionDescription, ActionExample, ActionMaterials, PredicateDescription, Sentences, sentence_slots,
};
use planforge_diagnostics::{Diagnostic, Severity, SourceId, Span};
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, PredicateDecl, Problem, TypedName};
use planforge_pddl::random::Random;
use planforge_pddl::{
    Name, TaskSources, parse_domain, print_action, print_domain, print_typed_list, requirements_used,
};
use planforge_plugin_sdk::wording::{CLOCK, Wording, clause, list, time_of_day};
use planforge_record::sha256_hex;
use std::collections::{BTreeMap, BTreeSet};

/// The materials of a suite whose actions are given in words. Where the predicates are not, neither is what is made of them.
pub(super) fn materials(suite: &Suite, class: DescriptionClass, given: bool) -> ActionMaterials {
    let Some(text) = &suite.reference_domain else { return ActionMaterials::default() };
    let domain = parse_domain(text, SourceId(0)).value;
    let described: Vec<ActionDescription> =
        domain.actions.iter().map(|action| describe(suite, action, class)).collect();
    let predicates = given.then(|| predicates(suite, &domain));
    let requirements = requirements(&domain);
    let mut header = Domain { actions: Vec::new(), durative_actions: Vec::new(), requirements, ..domain };
    if !given {
        header.predicates.clear();
        header.functions.clear();
        header.derived.clear();
        header.constraints = None;
    }
    ActionMaterials {
        header: Some(print_domain(&header)),
        described: Some(described),
        predicates,
        examples: None,
    }
}

/// The requirements of a domain, and those that its actions use undeclared: a header without them would
/// forbid to write the actions.
fn requirements(domain: &Domain) -> Vec<Name> {
    let mut all = domain.requirements.clone();
    // These stand for most others.
    if all.iter().any(|declared| [":adl", ":ucpop"].contains(&declared.key())) {
        return all;
    }
    for used in requirements_used(domain, &Problem::default(), TaskSources::default()) {
        if !all.iter().any(|declared| declared.key() == used.requirement) {
            all.push(Name::new(used.requirement, used.span));
        }
    }
    all
}

/// Reports durative actions: descriptions of single actions have no place for their times.
pub(super) fn durative_actions(suite: &Suite) -> Option<Diagnostic> {
    let domain = parse_domain(suite.reference_domain.as_ref()?, SourceId(0)).value;
    let first = domain.durative_actions.first()?;
    let message = format!(
        "the pipeline describes one action at a time, and suite `{}` has durative actions, such as `{}`",
        suite.name, first.name
    );
    let help = "use solve.toml, or a pipeline that writes whole problems and does not judge plans against the environment";
    Some(Diagnostic::error("suite.durative-actions", message).help(help))
}

/// Reports descriptions that would show names of withheld predicates: a literal without a sentence contains
/// its predicate's name.
pub(super) fn telling_names(suite: &Suite, class: DescriptionClass) -> Vec<Diagnostic> {
    let Some(text) = &suite.reference_domain else { return Vec::new() };
    let domain = parse_domain(text, SourceId(0)).value;
    let sentence = |name: &str| suite.sentences.keys().any(|known| known.eq_ignore_ascii_case(name));
    let mut found = Vec::new();
    for action in &domain.actions {
        if suite.action_texts.get(action.name.key()).is_some_and(|texts| texts.of(class).is_some()) {
            continue;
        }
        let literals = described_literals(action, class, &draw_name(suite, action));
        let silent = literals.iter().flat_map(Literal::predicates).find(|name| !sentence(name));
        found.extend(silent.map(|predicate| {
            let message = format!(
                "the pipeline withholds the predicates, and suite `{}` has no sentence for `{predicate}`, which the description of `{}` tells",
                suite.name, action.name
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

/// Descriptions of the predicates of a domain: the suite's own words from `actions.toml`, else its sentences.
fn predicates(suite: &Suite, domain: &Domain) -> Vec<PredicateDescription> {
    let wording = Wording::new(&suite.sentences);
    let described = |declared: &PredicateDecl| {
        if let Some(written) = suite.predicate_texts.get(declared.name.key()) {
            let declaration = written.declaration.clone().unwrap_or_else(|| print_declaration(declared));
            return PredicateDescription { declaration, text: written.text.clone() };
        }
        let names: Vec<&str> = declared.parameters.iter().map(bare).collect();
        PredicateDescription {
            declaration: print_declaration(declared),
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
        LiteralWording::new(&suite.sentences, &suite.types)
            .text(&base, &described_literals(action, class, &draw_name(suite, action)))
    });
    ActionDescription { name: action.name.to_string(), text }
}

/// The part of an action's `random` description beyond the base, in words. The drawn conditions and effects
/// depend on the suite's name, the action's and the order of the domain.
pub(super) fn random_text(suite: &Suite, action: &Action) -> String {
    describe(suite, action, DescriptionClass::Random).text
}

/// The seed text of a draw.
fn draw_name(suite: &Suite, action: &Action) -> String {
    format!("{}/{}", suite.name, action.name.key())
}

/// `The action "pick" is done with a ball b, a room r and a gripper g.`
fn base(suite: &Suite, action: &Action) -> String {
    let with: Vec<String> =
        action.parameters.iter().map(|p| format!("{} {}", kind(&suite.types, p), bare(p))).collect();
    match with.as_slice() {
        [] => format!("The action \"{}\" is done with nothing.", action.name),
        with => format!("The action \"{}\" is done with {}.", action.name, list(with)),
    }
}

fn bare(parameter: &TypedName) -> &str {
    parameter.name.as_str().trim_start_matches('?')
}

/// A condition or effect of an action.
#[derive(Clone)]
pub(super) struct Literal<'a> {
    atom: &'a Atom,
    holds: bool,
    effect: bool,
    /// Conditions of an effect.
    when: Vec<&'a Condition>,
    /// For which bindings an effect takes place.
    every: Vec<&'a TypedName>,
}

impl Literal<'_> {
    /// The predicates that telling it takes, in lower case: its own and those of what it depends on.
    pub(super) fn predicates(&self) -> Vec<&str> {
        let when = self.when.iter().filter_map(|condition| literals_of(condition)).flatten();
        [self.atom]
            .into_iter()
            .chain(when.map(|literal| literal.atom))
            .map(|atom| atom.predicate.key())
            .collect()
    }

    /// True if both have the same predicate and arguments.
    fn same_atom(&self, other: &Literal<'_>) -> bool {
        self.atom.predicate == other.atom.predicate
            && self.atom.args == other.atom.args
            && !self.is_bound()
            && !other.is_bound()
    }

    /// True if it has a bound variable, which is not a parameter of the action even if it has the name of
    /// one.
    fn is_bound(&self) -> bool {
        self.every.iter().any(|variable| self.atom.args.iter().any(|arg| *arg.name() == variable.name))
    }
}

/// The literals in a description of the class, in the order of the action: none for base; pre(a) ∩ del(a) for
/// flipped; for random as many, drawn from the atoms of pre(a), add(a) and del(a). An atom that occurs in
/// several of them is drawn once. An atom that is both condition and effect is described as the condition, as
/// in the published descriptions: none of them describes a deletion as an effect.
pub(super) fn described_literals<'a>(
    action: &'a Action,
    class: DescriptionClass,
    draw_name: &str,
) -> Vec<Literal<'a>> {
    let mut needed = Vec::new();
    action.precondition.iter().for_each(|condition| conditions(condition, &mut needed));
    let mut caused = Vec::new();
    action.effect.iter().for_each(|effect| effects(effect, &[], &[], &mut caused));
    let deleted = |l: &Literal<'_>| caused.iter().any(|e| !e.holds && e.same_atom(l));
    let flipped: Vec<Literal<'a>> = needed.iter().filter(|l| l.holds && deleted(l)).cloned().collect();
    match class {
        DescriptionClass::Base => Vec::new(),
        DescriptionClass::Flipped => flipped,
        DescriptionClass::Random => {
            // What is made true wins over what is made false, as in the semantics of effects.
            let (added, removed): (Vec<_>, Vec<_>) = caused.into_iter().partition(|l| l.holds);
            let mut atoms: Vec<Literal<'a>> = Vec::new();
            for literal in needed.into_iter().chain(added).chain(removed) {
                let tellable = literal.when.iter().all(|c| literals_of(c).is_some());
                if tellable && !atoms.iter().any(|known| known.same_atom(&literal)) {
                    atoms.push(literal);
                }
            }
            draw(draw_name, atoms, flipped.len())
        }
    }
}

/// So many of them, each at most once, in their order. The draw belongs to the name: that of the suite and the action.
fn draw<'a>(name: &str, literals: Vec<Literal<'a>>, count: usize) -> Vec<Literal<'a>> {
    let digest = sha256_hex(name.as_bytes());
    let seed = u64::from_str_radix(digest.get(..16).unwrap_or_default(), 16).unwrap_or_default();
    let mut random = Random::new(seed);
    let mut left: Vec<usize> = (0..literals.len()).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count && !left.is_empty() {
        chosen.push(left.swap_remove(random.below(left.len() as u64) as usize));
    }
    let mut literals: Vec<Option<Literal<'a>>> = literals.into_iter().map(Some).collect();
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|index| literals.get_mut(index).and_then(Option::take)).collect()
}

fn conditions<'a>(condition: &'a Condition, out: &mut Vec<Literal<'a>>) {
    let mut push =
        |atom, holds| out.push(Literal { atom, holds, effect: false, when: Vec::new(), every: Vec::new() });
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|part| conditions(part, out)),
        Condition::Atom(atom) => push(atom, true),
        Condition::Not(inner, _) => {
            if let Condition::Atom(atom) = inner.as_ref() {
                push(atom, false);
            }
        }
        _ => {}
    }
}

fn effects<'a>(
    effect: &'a Effect,
    when: &[&'a Condition],
    every: &[&'a TypedName],
    out: &mut Vec<Literal<'a>>,
) {
    let mut push = |atom, holds| {
        out.push(Literal { atom, holds, effect: true, when: when.to_vec(), every: every.to_vec() });
    };
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|part| effects(part, when, every, out)),
        Effect::Add(atom) => push(atom, true),
        Effect::Delete(atom, _) => push(atom, false),
        Effect::When(condition, inner, _) => {
            let when: Vec<&Condition> = when.iter().copied().chain([condition.as_ref()]).collect();
            effects(inner, &when, every, out);
        }
        Effect::Forall(quantified) => {
            let every: Vec<&TypedName> = every.iter().copied().chain(&quantified.parameters).collect();
            effects(&quantified.body, when, &every, out);
        }
        _ => {}
    }
}

/// The literals of a condition that is nothing but a conjunction of literals.
fn literals_of(condition: &Condition) -> Option<Vec<Literal<'_>>> {
    let plain = |part: &Condition| match part {
        Condition::Atom(_) => true,
        Condition::Not(inner, _) => matches!(inner.as_ref(), Condition::Atom(_)),
        _ => false,
    };
    if !condition.conjuncts().iter().all(plain) {
        return None;
    }
    let mut literals = Vec::new();
    conditions(condition, &mut literals);
    Some(literals)
}

/// A suite's words for literals.
pub(super) struct LiteralWording<'a> {
    types: &'a BTreeMap<String, String>,
    wording: Wording,
}

impl<'a> LiteralWording<'a> {
    pub(super) fn new(sentences: &BTreeMap<String, Sentences>, types: &'a BTreeMap<String, String>) -> Self {
        Self { types, wording: Wording::new(sentences) }
    }

    /// The base and the literals: conditions after `if`, effects in a sentence of their own.
    pub(super) fn text(&self, base: &str, told: &[Literal<'_>]) -> String {
        let mut text = base.trim_end().trim_end_matches('.').to_owned();
        let say = |effect: bool| -> Vec<String> {
            told.iter().filter(|l| l.effect == effect).map(|literal| self.literal(literal)).collect()
        };
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

    /// `for every ball b, if it is red, b lies in room`; the first two parts are optional.
    fn literal(&self, literal: &Literal<'_>) -> String {
        let mut text = String::new();
        if !literal.every.is_empty() && literal.is_bound() {
            let every: Vec<String> = literal.every.iter().map(|v| self.variable(v)).collect();
            text += &format!("for every {}, ", list(&every));
        }
        let when: Vec<String> = literal
            .when
            .iter()
            .filter_map(|condition| literals_of(condition))
            .flatten()
            .map(|condition| self.fact(&condition))
            .collect();
        if !when.is_empty() {
            text += &format!("if {}, ", list(&when));
        }
        text + &self.fact(literal)
    }

    fn fact(&self, literal: &Literal<'_>) -> String {
        let predicate = literal.atom.predicate.as_str();
        let names: Vec<&str> =
            literal.atom.args.iter().map(|term| term.name().as_str().trim_start_matches('?')).collect();
        self.wording.clause(predicate, &names, literal.holds)
    }

    /// `ball b`, in the words of the suite without their article.
    fn variable(&self, variable: &TypedName) -> String {
        let what = kind(self.types, variable);
        let what = ["a ", "an "].iter().find_map(|article| what.strip_prefix(article)).unwrap_or(&what);
        format!("{what} {}", bare(variable))
    }
}

/// The description of a parameter's type, else `a TYPE`.
pub(super) fn kind(types: &BTreeMap<String, String>, parameter: &TypedName) -> String {
    let ty = parameter.ty.as_ref().and_then(|ty| ty.alternatives.first());
    let ty = ty.map_or("object", |name| name.as_str());
    types.get(&ty.to_lowercase()).cloned().unwrap_or_else(|| {
        let article = if ty.starts_with(|c: char| "aeiouAEIOU".contains(c)) { "an" } else { "a" };
        format!("{article} {ty}")
    })
}

/// The contents of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct ActionFile {
    /// By action, in lower case.
    pub(super) actions: BTreeMap<String, ActionTexts>,
    /// By predicate, in lower case.
    pub(super) predicates: BTreeMap<String, PredicateText>,
}

/// Reads the file: a table `[actions]` with a text, or a table of texts by class, for each action of the reference domain, and a table
/// `[predicates]` with a text, or a table of declaration and text, for its predicates.
pub(super) fn read_action_file(
    text: &str,
    source: SourceId,
    domain: Option<&str>,
    out: &mut Vec<Diagnostic>,
) -> ActionFile {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let mut file = ActionFile::default();
    let place = SourcePlace { source, span: Span::empty(0) };
    let domain = domain.map(|text| parse_domain(text, SourceId(0)).value);
    let mut reader = TableReader::new(&parsed.root, place, "actions.toml");
    let actions = domain.as_ref().map(|d| {
        let durative = d.durative_actions.iter().map(|a| &a.name);
        d.actions.iter().map(|a| &a.name).chain(durative).map(|name| name.key().to_owned()).collect()
    });
    for (name, node) in known_names(&mut reader, "actions", "action", actions, &mut found) {
        file.actions.insert(name.name.to_lowercase(), action(&name.name, node, &mut found));
    }
    let predicates = domain.as_ref().map(|d| d.predicates.iter().map(|p| p.name.key().to_owned()).collect());
    for (name, node) in known_names(&mut reader, "predicates", "predicate", predicates, &mut found) {
        if let Some(told) = predicate(name, node, domain.as_ref(), &mut found) {
            file.predicates.insert(name.name.to_lowercase(), told);
        }
    }
    reader.finish("suite.actions", &mut found);
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.actions".into();
        d
    }));
    file
}

/// Returns the entries whose names the reference domain has and reports the others.
fn known_names<'a>(
    reader: &mut TableReader<'a>,
    key: &'static str,
    what: &str,
    names: Option<Vec<String>>,
    out: &mut Vec<Diagnostic>,
) -> Vec<&'a (Key, Node)> {
    let Some((table, _)) = reader.table(key, out) else { return Vec::new() };
    let table: &'a Table = table;
    let mut entries = Vec::new();
    for entry in &table.entries {
        let name = &entry.0;
        match &names {
            Some(names) if !names.contains(&name.name.to_lowercase()) => {
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                let message = format!("the reference domain has no {what} `{}`", name.name);
                let help = help_for(&name.name, &known, &format!("its {what}s are"));
                out.push(with_help(error_at("suite.actions", message, name.place), help));
            }
            _ => entries.push(entry),
        }
    }
    entries
}

fn action(name: &str, node: &Node, out: &mut Vec<Diagnostic>) -> ActionTexts {
    match &node.value {
        Value::String(base) => ActionTexts { base: Some(base.clone()), ..ActionTexts::default() },
        Value::Table(table) => {
            let mut reader = TableReader::new(table, node.place, format!("the texts of `{name}`"));
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

fn predicate(
    name: &Key,
    node: &Node,
    domain: Option<&Domain>,
    out: &mut Vec<Diagnostic>,
) -> Option<PredicateText> {
    match &node.value {
        Value::String(text) => Some(PredicateText { declaration: None, text: text.clone() }),
        Value::Table(table) => {
            let mut reader =
                TableReader::new(table, node.place, format!("the entry of predicate `{}`", name.name));
            let text = reader.string("text", out);
            if text.is_none() && table.get("text").is_none() {
                reader.missing("text", "\"what it says of its parameters\"", out);
            }
            let declaration = reader.string("declaration", out);
            reader.finish("suite.actions", out);
            if let Some(at) = &declaration
                && let Err(why) = fits(at, &name.name, domain)
            {
                let help = "write it as the domain does; its parameters may have other names";
                out.push(error_at("suite.actions", why, at.place).help(help));
            }
            Some(PredicateText { declaration: declaration.map(|at| at.value), text: text?.value })
        }
        _ => {
            let message = format!(
                "`{}` must be a text or a table of declaration and text, not {}",
                name.name,
                node.kind()
            );
            out.push(error_at("suite.actions", message, node.place).help("write NAME = \"its text\""));
            None
        }
    }
}

fn fits(at: &At<String>, name: &str, domain: Option<&Domain>) -> Result<(), String> {
    let written = read_declaration(&at.value)?;
    if !written.name.as_str().eq_ignore_ascii_case(name) {
        return Err(format!("the declaration is that of `{}` and not of `{name}`", written.name));
    }
    let declared = domain.and_then(|d| d.predicates.iter().find(|p| p.name == written.name));
    declared.map_or(Ok(()), |declared| same_parameters(declared, &written))
}

/// Reads the declaration of one predicate, such as `(on ?x - block ?y - block)`.
///
/// # Errors
/// Reason why the text is not one declaration.
pub fn read_declaration(text: &str) -> Result<PredicateDecl, String> {
    let parsed = parse_domain(&format!("(define (domain d) (:predicates {text}))"), SourceId(0));
    let wrong = parsed.diagnostics.iter().find(|d| d.is_error()).map(|d| d.message.as_str());
    let mut declared = parsed.value.predicates;
    match (declared.pop(), declared.is_empty(), wrong) {
        (Some(declaration), true, None) => Ok(declaration),
        (_, _, Some(why)) => Err(format!("`{text}` is not a declaration of a predicate: {why}")),
        _ => Err(format!("`{text}` is not the declaration of one predicate")),
    }
}

/// Checks that two declarations have the same number of parameters of the same types, under any names.
///
/// # Errors
/// The difference, with both declarations.
pub fn same_parameters(declared: &PredicateDecl, written: &PredicateDecl) -> Result<(), String> {
    let same = declared.parameters.len() == written.parameters.len()
        && declared.parameters.iter().zip(&written.parameters).all(|(a, b)| type_of(a) == type_of(b));
    match same {
        true => Ok(()),
        false => Err(format!(
            "`{}` is declared as `{}` in the domain",
            print_declaration(written),
            print_declaration(declared)
        )),
    }
}

fn type_of(parameter: &TypedName) -> Vec<String> {
    match &parameter.ty {
        None => vec!["object".to_owned()],
        Some(ty) => {
            let mut names: Vec<String> = ty.alternatives.iter().map(|n| n.key().to_owned()).collect();
            names.sort();
            names
        }
    }
}

/// A declaration with its parentheses.
pub(super) fn print_declaration(declared: &PredicateDecl) -> String {
    match declared.parameters.is_empty() {
        true => format!("({})", declared.name),
        false => format!("({} {})", declared.name, print_typed_list(&declared.parameters)),
    }
}

/// Names in the reference that sentences can be for.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Predicate or function, in lower case -> number of parameters.
    pub(super) arities: BTreeMap<String, usize>,
    /// Types, in lower case.
    pub(super) types: BTreeSet<String>,
}

impl Declared {
    /// The names that a domain's text declares.
    pub(super) fn of(domain: &str) -> Self {
        let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
        let predicates = domain.predicates.iter().map(|p| (&p.name, p.parameters.len()));
        let functions = domain.functions.iter().map(|f| (&f.name, f.parameters.len()));
        let derived = domain.derived.iter().map(|d| (&d.predicate, d.parameters.len()));
        let entries = predicates.chain(functions).chain(derived);
        Self {
            arities: entries.map(|(name, arity)| (name.as_str().to_ascii_lowercase(), arity)).collect(),
            types: domain.types.iter().map(|t| t.name.as_str().to_ascii_lowercase()).collect(),
        }
    }
}

/// The contents of a `sentences.toml`.
#[derive(Debug, Default)]
pub struct SentenceFile {
    /// Predicate or function, in lower case -> its sentences.
    pub facts: BTreeMap<String, Sentences>,
    /// Type, in lower case -> what its objects are, such as `a place that holds one crate`.
    pub types: BTreeMap<String, String>,
}

/// Reads a `sentences.toml` for a domain, given as text. Mistakes in it are added to `out`.
pub fn read_sentences(text: &str, source: SourceId, domain: &str, out: &mut Vec<Diagnostic>) -> SentenceFile {
    read_sentence_file(text, source, Some(&Declared::of(domain)), out)
}

/// Reads the file. Where the suite has a reference domain, `declared` holds its predicates and functions, and every entry must
/// be one of them with slots that it has.
pub(super) fn read_sentence_file(
    text: &str,
    source: SourceId,
    declared: Option<&Declared>,
    out: &mut Vec<Diagnostic>,
) -> SentenceFile {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let mut told = SentenceFile::default();
    let place = SourcePlace { source, span: Span::empty(0) };
    let mut reader = TableReader::new(&parsed.root, place, "sentences.toml");
    for key in ["predicates", "functions"] {
        let Some((table, _)) = reader.table(key, &mut found) else { continue };
        for (name, node) in &table.entries {
            if let Some(entry) = entry(name, node, key == "functions", declared, &mut found) {
                told.facts.insert(name.name.to_ascii_lowercase(), entry);
            }
        }
    }
    for (name, at) in reader.string_map("types", &mut found) {
        type_described(name, &at, declared, &mut found);
        told.types.insert(name.name.to_ascii_lowercase(), at.value.trim().to_owned());
    }
    reader.finish("suite.sentences", &mut found);
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.sentences".into();
        d
    }));
    told
}

/// Warns about a description that is never used: the file may serve several versions of a domain.
fn type_described(name: &Key, at: &At<String>, declared: Option<&Declared>, out: &mut Vec<Diagnostic>) {
    if at.value.trim().is_empty() {
        let message = format!("the description of type `{}` is empty", name.name);
        out.push(
            error_at("suite.sentences", message, at.place).help("say what an object of it is: `\"a room\"`"),
        );
    }
    let lower = name.name.to_ascii_lowercase();
    let Some(declared) = declared.filter(|declared| lower != "object" && !declared.types.contains(&lower))
    else {
        return;
    };
    let names: Vec<&str> = declared.types.iter().map(String::as_str).collect();
    let message = format!("the reference domain has no type `{}`", name.name);
    let mut unknown = error_at("suite.sentences", message, name.place);
    unknown.severity = Severity::Warning;
    out.push(with_help(unknown, help_for(&name.name, &names, "its types are")));
}

fn entry(
    name: &Key,
    node: &Node,
    function: bool,
    declared: Option<&Declared>,
    out: &mut Vec<Diagnostic>,
) -> Option<Sentences> {
    let Value::Table(table) = &node.value else {
        let message = format!("`{}` must be a table with `yes` and `no`, not {}", name.name, node.kind());
        out.push(error_at("suite.sentences", message, node.place));
        return None;
    };
    let is_clock = function && name.name.eq_ignore_ascii_case(CLOCK);
    let arity = match declared {
        _ if is_clock => Some(0),
        Some(declared) => match declared.arities.get(&name.name.to_ascii_lowercase()) {
            Some(arity) => Some(*arity),
            None => {
                let names: Vec<&str> = declared.arities.keys().map(String::as_str).collect();
                let message = format!("the reference domain declares no `{}`", name.name);
                let help = help_for(&name.name, &names, "it declares");
                out.push(with_help(error_at("suite.sentences", message, name.place), help));
                return None;
            }
        },
        None => None,
    };
    let side = |key: &'static str, reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>| {
        let at = reader.string(key, out)?;
        check_slots(name, &at.value, at.place, function, arity, out);
        if is_clock && time_of_day(&at.value).is_none() {
            let message = format!("the sentence of `{CLOCK}` has no time of day");
            let help = "give the time at which plans begin, from 0:00 to 23:59: `yes = \"at 8:00\"`";
            out.push(error_at("suite.sentences", message, at.place).help(help));
        }
        Some(at.value)
    };
    let mut reader = TableReader::new(table, node.place, format!("the entry of `{}`", name.name));
    let yes = side("yes", &mut reader, out);
    if yes.is_none() && !has(table, "yes") {
        reader.missing("yes", "\"{1} is ...\"", out);
    }
    let no = if function { None } else { side("no", &mut reader, out) };
    reader.finish("suite.sentences", out);
    Some(Sentences { yes: yes?, no: no.unwrap_or_default() })
}

fn has(table: &Table, key: &str) -> bool {
    table.get(key).is_some()
}

fn check_slots(
    name: &Key,
    sentence: &str,
    place: SourcePlace,
    function: bool,
    arity: Option<usize>,
    out: &mut Vec<Diagnostic>,
) {
    let wrong = |message: String| {
        let help = "slots are {1}, {2}, ... for the arguments, and {value} for the value of a function";
        error_at("suite.sentences", message, place).help(help)
    };
    let name = &name.name;
    match sentence_slots(sentence) {
        Err(why) => out.push(wrong(format!("the sentence of `{name}` cannot be read: {why}"))),
        Ok(slots) => {
            if let Some(arity) = arity.filter(|arity| slots.highest > *arity) {
                let message = format!(
                    "the sentence of `{name}` has slot {{{}}}, and `{name}` has {arity} argument(s)",
                    slots.highest
                );
                out.push(wrong(message));
            }
            if slots.value && !function {
                out.push(wrong(format!("the sentence of predicate `{name}` has slot {{value}}")));
            }
        }
    }
}
