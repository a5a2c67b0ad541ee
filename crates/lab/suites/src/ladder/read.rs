//! Reads a text backwards: from its sentences to objects and facts. The reader knows the sentences of `ladder.toml` and the shared ones, and
//! nothing of how a text was made or of the problem.

use super::language::{Case, Frames, Noun, capitalised, uncapitalised};
use super::numbers::count_in_words;
use super::task::Signatures;
use super::write::spelt;
use super::{Fact, Language, Lexicon, Measure, Part, Task};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A sentence that cannot be read, or a difference between a text and the facts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// A sentence that is not understood, has two meanings or contradicts another one.
    Sentence(String),
    /// A fact of the problem that no sentence states.
    Missing(Fact),
    /// A fact that the text states and the problem lacks.
    Wrong(Fact),
    /// An object that only the text or only the problem has.
    Object(String),
    /// A fact that the text denies, which excludes an alternative of the fact that it leaves out.
    TellsGap(Fact),
}

/// Reads a text and compares it with the facts of the reference. `gap` is the fact that the text leaves out.
pub fn read_text(
    lexicon: &Lexicon,
    task: &Task,
    axes: &super::Axes,
    text: &str,
    gap: Option<&Fact>,
) -> Vec<Finding> {
    let language = axes.language();
    let mut reader = Reader::new(lexicon, &task.signatures, language);
    reader.read(text);
    let (objects, facts) = reader.result();
    let mut findings = std::mem::take(&mut reader.findings);
    let expected: BTreeMap<String, String> = task.type_of.clone();
    for (object, ty) in &expected {
        if objects.get(object) != Some(ty) {
            findings.push(Finding::Object(object.clone()));
        }
    }
    findings.extend(objects.keys().filter(|o| !expected.contains_key(*o)).cloned().map(Finding::Object));
    let mut facts_expected = task.facts.clone();
    if let Some(gap) = gap {
        let denied = reader.denied.iter().chain(&reader.corrected).chain(&reader.excluded);
        findings
            .extend(denied.filter(|fact| fact.excludes_alternative_of(gap)).cloned().map(Finding::TellsGap));
        facts_expected.remove(gap);
        // What a rule derives from the absence of the fact is not compared.
        let derived: BTreeSet<&str> = lexicon
            .rule
            .iter()
            .filter(|rule| rule.unless.is_some())
            .filter_map(|rule| rule.holds.as_deref()?.split_whitespace().next())
            .collect();
        facts_expected.retain(|fact| !derived.contains(fact.predicate.as_str()));
        findings.extend(
            facts
                .difference(&facts_expected)
                .filter(|fact| !derived.contains(fact.predicate.as_str()))
                .cloned()
                .map(Finding::Wrong),
        );
    } else {
        findings.extend(facts.difference(&facts_expected).cloned().map(Finding::Wrong));
    }
    findings.extend(facts_expected.difference(&facts).cloned().map(Finding::Missing));
    findings
}

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// One of these texts.
    Literal(Vec<String>),
    Slot(usize),
}

/// Takes a pattern apart: `[a|b]` and `{0}` or `{0:d}`.
fn tokens(pattern: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['[', '{']) {
        let (before, after) = rest.split_at(at);
        if !before.is_empty() {
            all.push(Token::Literal(vec![before.to_owned()]));
        }
        let close = if after.starts_with('[') { ']' } else { '}' };
        let Some((inside, behind)) = after.get(1..).and_then(|after| after.split_once(close)) else { break };
        all.push(match close {
            ']' => Token::Literal(inside.split('|').map(str::to_owned).collect()),
            _ => Token::Slot(inside.split(':').next().and_then(|n| n.parse().ok()).unwrap_or_default()),
        });
        rest = behind;
    }
    if !rest.is_empty() {
        all.push(Token::Literal(vec![rest.to_owned()]));
    }
    all
}

/// The ways to fill the slots of a pattern so that it is the text; `fits` rejects contents of a slot.
fn fill<'t>(
    tokens: &[Token],
    text: &'t str,
    fits: &dyn Fn(usize, &str) -> bool,
) -> Vec<BTreeMap<usize, &'t str>> {
    let lacks = |token: &Token| matches!(token, Token::Literal(choices) if !choices.iter().any(|c| text.contains(c.as_str())));
    if tokens.iter().any(lacks) {
        return Vec::new();
    }
    fill_in_order(tokens, text, fits)
}

fn fill_in_order<'t>(
    tokens: &[Token],
    text: &'t str,
    fits: &dyn Fn(usize, &str) -> bool,
) -> Vec<BTreeMap<usize, &'t str>> {
    let Some((first, rest)) = tokens.split_first() else {
        return if text.is_empty() { vec![BTreeMap::new()] } else { Vec::new() };
    };
    match first {
        Token::Literal(choices) => choices
            .iter()
            .filter_map(|choice| text.strip_prefix(choice.as_str()))
            .flat_map(|behind| fill_in_order(rest, behind, fits))
            .collect(),
        Token::Slot(number) => {
            let next: Option<&Vec<String>> = match rest.first() {
                Some(Token::Literal(choices)) => Some(choices),
                _ => None,
            };
            let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
            ends.filter_map(|end| Some((text.get(..end)?, text.get(end..)?)))
                .filter(|(_, behind)| {
                    next.map_or(behind.is_empty(), |choices| {
                        choices.iter().any(|c| behind.starts_with(c.as_str()))
                    })
                })
                .filter(|(content, _)| fits(*number, content))
                .flat_map(|(content, behind)| {
                    let mut filled = fill_in_order(rest, behind, fits);
                    filled.iter_mut().for_each(|slots| {
                        slots.insert(*number, content);
                    });
                    filled
                })
                .collect()
        }
    }
}

/// The meaning of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning {
    Objects { all: Vec<String>, except: Option<String> },
    This(String),
    It,
}

/// The meaning of a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    /// False if it says that its facts do not hold.
    holds: bool,
    facts: Vec<Fact>,
    /// Facts that an exception denies.
    denied: Vec<Fact>,
}

struct Reader<'a> {
    lexicon: &'a Lexicon,
    signatures: &'a Signatures,
    language: Language,
    frames: &'static Frames,
    /// Patterns of facts with their part and predicate; false for sentences about what does not hold.
    patterns: Vec<(Part, &'a str, bool, Vec<Token>)>,
    /// Patterns of "each of the towns ... (except ...)" by type.
    lists: Vec<(String, Vec<Token>)>,
    objects: BTreeMap<String, String>,
    /// Second names and names in words.
    names: BTreeMap<String, String>,
    /// Type and value in the small unit.
    measured: BTreeMap<(String, u64), String>,
    decided: BTreeMap<&'static str, bool>,
    stated: BTreeSet<Fact>,
    denied: BTreeSet<Fact>,
    corrected: BTreeSet<Fact>,
    /// Facts of the branch of a condition that does not hold.
    excluded: BTreeSet<Fact>,
    rules: BTreeSet<usize>,
    phrases: RefCell<BTreeMap<String, Option<Meaning>>>,
    /// Objects of the sentence before.
    previous: Vec<String>,
    findings: Vec<Finding>,
}

impl<'a> Reader<'a> {
    fn new(lexicon: &'a Lexicon, signatures: &'a Signatures, language: Language) -> Self {
        let frames = Frames::of(language);
        let mut patterns = Vec::new();
        for (part, facts) in [(Part::Init, &lexicon.init), (Part::Goal, &lexicon.goal)] {
            for (predicate, words) in facts {
                let sentences = words.sentences.get(language);
                let both = sentences
                    .say
                    .iter()
                    .map(|say| (true, say))
                    .chain(sentences.no.iter().map(|no| (false, no)));
                patterns.extend(both.map(|(holds, pattern)| {
                    let pattern = expand(language, pattern.trim_end_matches(frames.stop));
                    (part, predicate.as_str(), holds, tokens(&pattern))
                }));
            }
        }
        let cases = [Case::Nominative, Case::Dative, Case::Accusative];
        let mut lists = Vec::new();
        for (ty, words) in &lexicon.types {
            let noun = Noun::new(words, language);
            lists.extend(cases.map(|case| (ty.clone(), tokens(&noun.each("{0}", Some("{1}"), case)))));
        }
        lists.dedup();
        Self {
            lexicon,
            lists,
            signatures,
            language,
            frames,
            patterns,
            objects: BTreeMap::new(),
            names: BTreeMap::new(),
            measured: BTreeMap::new(),
            decided: BTreeMap::new(),
            stated: BTreeSet::new(),
            denied: BTreeSet::new(),
            corrected: BTreeSet::new(),
            excluded: BTreeSet::new(),
            rules: BTreeSet::new(),
            phrases: RefCell::new(BTreeMap::new()),
            previous: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn read(&mut self, text: &str) {
        let mut sentences = Vec::new();
        let mut table: Option<(Part, String)> = None;
        let mut rows = Vec::new();
        for line in text.lines() {
            let cells: Option<Vec<&str>> = match line.strip_prefix("- ") {
                Some(row) => Some(row.split(": ").collect()),
                None if line.contains(" | ") => Some(line.split(" | ").collect()),
                None => None,
            };
            if let Some(cells) = cells {
                match &table {
                    Some(subject) => rows.push((subject.clone(), cells)),
                    None => self.findings.push(Finding::Sentence(line.to_owned())),
                }
            } else if let Some(subject) = self.table_of(line) {
                table = Some(subject);
            } else {
                table = None;
                sentences.extend(split_sentences(line, self.frames.stop));
            }
        }
        sentences.retain(|sentence| !self.names_objects(sentence));
        let spelt: Vec<_> =
            self.objects.keys().filter_map(|o| Some((spelt(o, self.language)?, o.clone()))).collect();
        self.names.extend(spelt);
        sentences.retain(|sentence| !self.describes_object(sentence));
        for ((part, predicate), cells) in rows {
            let objects: Option<Vec<String>> = cells.iter().map(|cell| self.object(cell)).collect();
            match objects {
                Some(arguments) if arguments.len() == 2 => {
                    self.stated.insert(Fact { part, predicate, arguments });
                }
                _ => self.findings.push(Finding::Sentence(cells.join(" | "))),
            }
        }
        sentences.iter().for_each(|sentence| self.sentence(sentence));
    }

    fn table_of(&self, line: &str) -> Option<(Part, String)> {
        for (part, facts) in [(Part::Init, &self.lexicon.init), (Part::Goal, &self.lexicon.goal)] {
            for (predicate, words) in facts {
                let Some(caption) = &words.sentences.get(self.language).table else { continue };
                if [self.frames.table, self.frames.list]
                    .iter()
                    .any(|head| head.replace("{0}", caption) == line)
                {
                    return Some((part, predicate.clone()));
                }
            }
        }
        None
    }

    /// Reads an introduction of objects, a decided condition, or the note about numbers.
    fn names_objects(&mut self, sentence: &str) -> bool {
        for (condition, yes, no) in self.frames.conditions {
            if sentence == *yes || sentence == *no {
                self.decided.insert(condition, sentence == *yes);
                return true;
            }
        }
        if !fill(&tokens(self.frames.spelling), sentence, &|_, _| true).is_empty() {
            return true;
        }
        for (ty, words) in &self.lexicon.types {
            let noun = Noun::new(words, self.language);
            let fits = |slot: usize, content: &str| match slot {
                1 => content == noun.plural,
                3 => content == noun.plural_article(),
                0 => content.chars().count() < 40,
                _ => true,
            };
            for frame in self.frames.several {
                let names = fill(&tokens(frame), sentence, &fits).into_iter().find_map(|slots| {
                    let names = split_list(slots.get(&2)?, self.frames);
                    let counts = [names.len().to_string(), count_in_words(names.len(), self.language)];
                    counts.iter().any(|count| slots.get(&0) == Some(&count.as_str())).then_some(names)
                });
                if let Some(names) = names {
                    self.objects.extend(names.into_iter().map(|name| (name, ty.clone())));
                    return true;
                }
            }
            for frame in self.frames.one {
                let fits = |slot: usize, content: &str| match slot {
                    0 => content == noun.only(),
                    _ => content.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'),
                };
                let Some(slots) = fill(&tokens(frame), sentence, &fits).pop() else { continue };
                self.objects.insert(slots.get(&1).copied().unwrap_or_default().to_owned(), ty.clone());
                return true;
            }
        }
        false
    }

    /// Reads a second name or a measure.
    fn describes_object(&mut self, sentence: &str) -> bool {
        let is_object = |text: &str| self.objects.contains_key(text);
        let is_name =
            |text: &str| text.chars().all(char::is_alphanumeric) && text.starts_with(char::is_uppercase);
        for frame in self.frames.alias {
            let fits = |slot: usize, text: &str| if slot == 0 { is_object(text) } else { is_name(text) };
            if let Some(slots) = fill(&tokens(frame), sentence, &fits).pop()
                && let (Some(object), Some(name)) = (slots.get(&0), slots.get(&1))
            {
                self.names.insert((*name).to_owned(), (*object).to_owned());
                return true;
            }
        }
        for measure in [Measure::Weight, Measure::Width, Measure::Extent] {
            for frame in self.frames.measure(measure) {
                let fits = |slot: usize, text: &str| match slot {
                    0 => {
                        self.objects.get(text).and_then(|ty| self.lexicon.types.get(ty)?.measure)
                            == Some(measure)
                    }
                    _ => in_small_unit(text).is_some(),
                };
                if let Some(slots) = fill(&tokens(frame), sentence, &fits).pop()
                    && let (Some(object), Some(value)) =
                        (slots.get(&0), slots.get(&1).and_then(|q| in_small_unit(q)))
                    && let Some(ty) = self.objects.get(*object).cloned()
                {
                    self.measured.insert((ty, value), (*object).to_owned());
                    return true;
                }
            }
        }
        false
    }

    fn sentence(&mut self, sentence: &str) {
        let rule = self.lexicon.rule.iter().position(|rule| {
            !fill(&tokens(rule.words.get(self.language)), sentence, &|_, _| true).is_empty()
        });
        if let Some(rule) = rule {
            self.rules.insert(rule);
            return;
        }
        if let Some((yes, no, holds)) = self.conditional(sentence) {
            let (stated, excluded) = if holds { (yes, no) } else { (no, yes) };
            self.stated.extend(stated);
            self.excluded.extend(excluded);
            return;
        }
        for frame in self.frames.correction {
            let fits = |_: usize, text: &str| self.clause(text).is_some();
            let Some(slots) = fill(&tokens(frame), sentence, &fits).pop() else { continue };
            let part = |slot: usize| slots.get(&slot).and_then(|text| self.statement(text));
            if let (Some(wrong), Some(right)) = (part(0), part(1)) {
                self.corrected.extend(wrong);
                self.stated.extend(right);
                return;
            }
        }
        let clause = sentence.trim_end_matches(self.frames.stop);
        if let Some(clause) = self.clause(clause) {
            if let [fact] = clause.facts.as_slice() {
                self.previous.clone_from(&fact.arguments);
            }
            let facts = if clause.holds { &mut self.stated } else { &mut self.denied };
            facts.extend(clause.facts);
            self.denied.extend(clause.denied);
            return;
        }
        let is_object = |_: usize, text: &str| self.objects.contains_key(text);
        let irrelevant = [self.frames.places, self.frames.things, self.frames.persons];
        if !irrelevant
            .iter()
            .flat_map(|all| all.iter())
            .any(|f| !fill(&tokens(f), sentence, &is_object).is_empty())
        {
            self.findings.push(Finding::Sentence(sentence.to_owned()));
        }
    }

    /// The facts of both branches of a conditional sentence, and whether the condition holds.
    fn conditional(&self, sentence: &str) -> Option<(Vec<Fact>, Vec<Fact>, bool)> {
        for frame in self.frames.condition {
            let fits = |slot: usize, text: &str| match slot {
                0 => self.decided.contains_key(text),
                _ => self.clause(text).is_some(),
            };
            let Some(slots) = fill(&tokens(frame), sentence, &fits).pop() else { continue };
            let branch = |slot: usize| slots.get(&slot).and_then(|text| self.statement(text));
            if let (Some(yes), Some(no)) = (branch(1), branch(2)) {
                return Some((yes, no, *slots.get(&0).and_then(|condition| self.decided.get(condition))?));
            }
        }
        None
    }

    /// The facts of a clause that says what holds.
    fn statement(&self, text: &str) -> Option<Vec<Fact>> {
        self.clause(text).filter(|clause| clause.holds).map(|clause| clause.facts)
    }

    /// The meaning of a clause. `None` if it has none or several.
    fn clause(&self, text: &str) -> Option<Clause> {
        let mut meanings: Vec<Clause> = Vec::new();
        for text in BTreeSet::from([text.to_owned(), capitalised(text)]) {
            let text = expand(self.language, &text);
            for (part, predicate, holds, tokens) in &self.patterns {
                for slots in fill(tokens, &text, &|_, content| self.phrase(content).is_some()) {
                    let phrases: Option<Vec<Meaning>> =
                        slots.values().map(|content| self.phrase(content)).collect();
                    let facts = phrases.and_then(|phrases| self.facts(*part, predicate, &phrases));
                    let clause = facts.map(|(facts, denied)| Clause { holds: *holds, facts, denied });
                    meanings.extend(clause.filter(|clause| !meanings.contains(clause)));
                }
            }
        }
        match meanings.len() {
            1 => meanings.pop(),
            _ => None,
        }
    }

    /// The facts of a predicate with these phrases, and those that the exception denies.
    fn facts(&self, part: Part, predicate: &str, phrases: &[Meaning]) -> Option<(Vec<Fact>, Vec<Fact>)> {
        // Arguments with true for those that an exception denies.
        let mut facts = vec![(Vec::<String>::new(), false)];
        for phrase in phrases {
            let (objects, except) = match phrase {
                Meaning::Objects { all, except } => (all.clone(), except.as_ref()),
                Meaning::It => (vec![self.previous.first()?.clone()], None),
                Meaning::This(ty) => {
                    let mut fitting =
                        self.previous.iter().filter(|object| self.objects.get(*object) == Some(ty));
                    let object = fitting.next()?.clone();
                    if fitting.next().is_some() {
                        return None;
                    }
                    (vec![object], None)
                }
            };
            let with = |(before, denied): &(Vec<String>, bool), object: &String| {
                (
                    [before.as_slice(), std::slice::from_ref(object)].concat(),
                    *denied || Some(object) == except,
                )
            };
            facts = facts
                .iter()
                .flat_map(|before| objects.iter().map(move |object| with(before, object)))
                .collect();
        }
        let types = self.signatures.get(predicate)?;
        let fits = |arguments: &Vec<String>| {
            let fits_one = |(object, types): (&String, &BTreeSet<String>)| {
                self.objects.get(object).is_some_and(|ty| types.contains(ty))
            };
            arguments.len() == types.len() && arguments.iter().zip(types).all(fits_one)
        };
        if !facts.iter().all(|(arguments, _)| fits(arguments)) {
            return None;
        }
        let (denied, stated): (Vec<_>, Vec<_>) = facts.into_iter().partition(|(_, denied)| *denied);
        let fact = |(arguments, _)| Fact { part, predicate: predicate.to_owned(), arguments };
        Some((stated.into_iter().map(fact).collect(), denied.into_iter().map(fact).collect()))
    }

    fn object(&self, text: &str) -> Option<String> {
        match self.phrase(text)? {
            Meaning::Objects { all, except: None } => match all.as_slice() {
                [one] => Some(one.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The meaning of a phrase. Meanings are kept, since most phrases are tried in many patterns.
    fn phrase(&self, text: &str) -> Option<Meaning> {
        if let Some(known) = self.phrases.borrow().get(text) {
            return known.clone();
        }
        let meaning = self.small_phrase(text).or_else(|| self.small_phrase(&uncapitalised(text)));
        self.phrases.borrow_mut().insert(text.to_owned(), meaning.clone());
        meaning
    }

    fn small_phrase(&self, text: &str) -> Option<Meaning> {
        let one = |object: &str| Meaning::Objects { all: vec![object.to_owned()], except: None };
        if self.objects.contains_key(text) {
            return Some(one(text));
        }
        if let Some(object) = self.names.get(text) {
            return Some(one(object));
        }
        if text == "it" && self.language == Language::English {
            return Some(Meaning::It);
        }
        for (ty, words) in &self.lexicon.types {
            let noun = Noun::new(words, self.language);
            let cases = [Case::Nominative, Case::Dative, Case::Accusative];
            if cases.iter().any(|case| noun.this(*case) == text) {
                return Some(Meaning::This(ty.clone()));
            }
            let measured = words.measure.and_then(|measure| {
                let (quantity, value) = quantity_in(text)?;
                let object = self.measured.get(&(ty.clone(), value))?;
                cases.iter().any(|case| noun.measured(measure, quantity, *case) == text).then(|| one(object))
            });
            if measured.is_some() {
                return measured;
            }
        }
        for (ty, form) in &self.lists {
            let fits = |slot: usize, content: &str| slot == 0 || self.objects.contains_key(content);
            for slots in fill(form, text, &fits) {
                let all = split_list(slots.get(&0).copied().unwrap_or_default(), self.frames);
                let except = slots.get(&1).map(|object| (*object).to_owned());
                let known = all.iter().all(|object| self.objects.get(object) == Some(ty));
                if known && except.as_ref().is_some_and(|except| all.contains(except)) {
                    return Some(Meaning::Objects { all, except });
                }
            }
        }
        None
    }

    /// Objects by type, and all facts with those that follow from rules.
    fn result(&mut self) -> (BTreeMap<String, String>, BTreeSet<Fact>) {
        let mut stated: BTreeSet<Fact> = self.stated.difference(&self.corrected).cloned().collect();
        // A rule without facts says what follows from the neighbours of a sequence.
        let explains =
            |(index, rule): (usize, &super::Rule)| rule.holds.is_some() || self.rules.contains(&index);
        let is_explained = self.lexicon.rule.iter().enumerate().all(explains);
        for part in [Part::Init, Part::Goal] {
            for (predicate, words) in self.lexicon.facts(part) {
                if words.chain && !is_explained {
                    continue;
                }
                let own: BTreeSet<Fact> =
                    stated.iter().filter(|f| f.part == part && f.predicate == *predicate).cloned().collect();
                stated.extend(Task::implied(words, &own));
            }
        }
        for fact in &self.denied {
            if stated.contains(fact)
                && !self.lexicon.facts(fact.part).get(&fact.predicate).is_some_and(|w| w.chain)
            {
                self.findings.push(Finding::Sentence(format!("the text both states and denies {fact}")));
            }
        }
        let mut task = Task { type_of: self.objects.clone(), ..Task::default() };
        for (object, ty) in &self.objects {
            task.objects.entry(ty.clone()).or_default().push(object.clone());
        }
        task.facts = stated.clone();
        for rule in self.rules.iter().filter_map(|rule| self.lexicon.rule.get(*rule)) {
            stated.extend(task.of_rule(rule));
        }
        (self.objects.clone(), stated)
    }
}

/// Sentences of a line, each with its stop. A point within a number ends none.
fn split_sentences(line: &str, stop: char) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, found) in line.match_indices(stop) {
        let end = at + found.len();
        let behind = line.get(end..).unwrap_or_default();
        if behind.is_empty() || stop != '.' || behind.starts_with(' ') {
            sentences.extend(line.get(start..end).map(|sentence| sentence.trim().to_owned()));
            start = end;
        }
    }
    sentences.extend(line.get(start..).map(|rest| rest.trim().to_owned()).filter(|rest| !rest.is_empty()));
    sentences
}

fn split_list(list: &str, frames: &Frames) -> Vec<String> {
    list.split(frames.comma).flat_map(|part| part.split(frames.and)).map(str::to_owned).collect()
}

/// Spanish without contractions, so that a phrase has one form.
fn expand(language: Language, text: &str) -> String {
    match language {
        Language::Spanish => text.replace(" al ", " a el ").replace(" del ", " de el "),
        _ => text.to_owned(),
    }
}

/// The value of `1,240 g`, `1.24 kg` or `1,24 kg` in the small unit of its measure.
fn in_small_unit(quantity: &str) -> Option<u64> {
    const UNITS: [(&str, usize); 9] = [
        ("千克", 3),
        ("千米", 3),
        ("厘米", 0),
        ("克", 0),
        ("kg", 3),
        ("km", 3),
        ("cm", 0),
        ("g", 0),
        ("m", 0),
    ];
    let (unit, digits) = UNITS
        .into_iter()
        .find(|(unit, _)| quantity.ends_with(unit))
        .or_else(|| quantity.ends_with('米').then_some(("米", 0)))?;
    let number = quantity.strip_suffix(unit)?.trim();
    let valid = number.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',');
    if !valid || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // Metres are the large unit of widths, with two digits behind the point, and the small one of extents, without.
    let digits = if matches!(unit, "m" | "米") && decimals(number) == Some(2) { 2 } else { digits };
    let plain: String = number.chars().filter(char::is_ascii_digit).collect();
    let value: u64 = plain.parse().ok()?;
    (digits == 0 || decimals(number) == Some(digits)).then_some(value)
}

/// Digits behind the last point or comma.
fn decimals(number: &str) -> Option<usize> {
    number.rsplit_once(['.', ',']).map(|(_, digits)| digits.len())
}

/// The quantity within a phrase: a number and its unit.
fn quantity_in(text: &str) -> Option<(&str, u64)> {
    let start = text.char_indices().find(|(at, c)| {
        c.is_ascii_digit()
            && !text
                .get(..*at)
                .is_some_and(|before| before.ends_with(char::is_alphanumeric) && before.is_ascii())
    })?;
    let rest = text.get(start.0..)?;
    let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.filter_map(|end| Some((rest.get(..end)?, in_small_unit(rest.get(..end)?)?))).next_back()
}
