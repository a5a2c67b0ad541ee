//! A text from the facts of a problem.

use super::language::{Case, Frames, Noun, capitalised, quantity, uncapitalised};
use super::numbers::{count_in_words, in_words};
use super::task::swapped;
use super::{Axes, Axis, Fact, Language, Lexicon, Part, Task};
use planforge_pddl::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// A written text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    /// The fact that it leaves out, on the axis `gap`.
    pub gap: Option<Fact>,
}

/// Writes the text of a task. `needed` decides whether a fact may be the gap.
///
/// # Errors
/// Facts that the lexicon has no sentence for, and a gap that cannot be found.
pub fn write_text(
    lexicon: &Lexicon,
    task: &Task,
    axes: &Axes,
    random: &mut Random,
    needed: &mut dyn FnMut(&Fact) -> bool,
) -> Result<Text, String> {
    let language = axes.language();
    let mut writer = Writer {
        lexicon,
        task,
        axes,
        language,
        frames: Frames::of(language),
        random,
        aliases: BTreeMap::new(),
        values: BTreeMap::new(),
        gap: None,
    };
    let mut facts = task.to_tell(lexicon)?;
    let gap = if axes.has(Axis::Gap) { Some(writer.take_gap(&mut facts, needed)?) } else { None };
    writer.gap.clone_from(&gap);
    Ok(Text { text: writer.write(facts), gap })
}

/// Number of different measures. Further objects have none.
const MEASURES: u64 = 4700;

/// Most sentences of one kind that make a text longer.
const MAX_ADDED: usize = 60;

/// Part of a text that stays together.
#[derive(Debug, Clone)]
enum Block {
    /// Sentences in this order.
    Sentences(Vec<String>),
    /// Lines of a table or list.
    Lines(Vec<String>),
}

/// A phrase for an object or several.
enum Phrase {
    /// An object by name or description.
    Object(String),
    /// "this town".
    This(String),
    /// "it", the subject of the sentence before; English only.
    It,
    /// "each of the towns a, b and c": type, list and exception.
    Each(String, Vec<String>, Option<String>),
}

/// A sentence without its stop.
struct Clause {
    text: String,
    /// True if it begins with a word that is small within a sentence.
    common_start: bool,
}

impl Clause {
    /// As a sentence, without the stop.
    fn sentence(&self) -> String {
        if self.common_start { capitalised(&self.text) } else { self.text.clone() }
    }

    /// As a part of a sentence. German has it after a colon.
    fn inside(&self, language: Language) -> String {
        match language {
            Language::German => self.sentence(),
            _ if self.common_start => uncapitalised(&self.text),
            _ => self.text.clone(),
        }
    }
}

struct Writer<'a> {
    lexicon: &'a Lexicon,
    task: &'a Task,
    axes: &'a Axes,
    language: Language,
    frames: &'static Frames,
    random: &'a mut Random,
    aliases: BTreeMap<String, String>,
    /// Measured objects: value in the small unit, and whether its own sentence has the large unit.
    values: BTreeMap<String, (u32, bool)>,
    /// The fact that the text leaves out.
    gap: Option<Fact>,
}

impl Writer<'_> {
    fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        self.random.pick(items)
    }

    fn take_gap(
        &mut self,
        facts: &mut Vec<Fact>,
        needed: &mut dyn FnMut(&Fact) -> bool,
    ) -> Result<Fact, String> {
        let with_objects = |fact: &&Fact| {
            let words = self.lexicon.facts(fact.part).get(&fact.predicate);
            fact.part == Part::Init
                && !fact.arguments.is_empty()
                && words.is_some_and(|w| !w.symmetric && !w.chain)
        };
        let mut candidates: Vec<Fact> = facts.iter().filter(with_objects).cloned().collect();
        self.random.shuffle(&mut candidates);
        let gap = candidates.into_iter().find(|fact| needed(fact));
        let gap = gap.ok_or("no fact of the initial state is needed by the plan")?;
        facts.retain(|fact| *fact != gap);
        Ok(gap)
    }

    fn write(&mut self, mut facts: Vec<Fact>) -> String {
        self.name_objects();
        let mut blocks = self.introductions();
        blocks.extend(self.names_and_measures());
        if self.axes.has(Axis::Order) {
            self.random.shuffle(&mut facts);
        }
        let (mut init, mut goal, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for part in [Part::Init, Part::Goal] {
            let mut left: Vec<Fact> = facts.iter().filter(|fact| fact.part == part).cloned().collect();
            let out = if part == Part::Init { &mut init } else { &mut goal };
            if self.axes.has(Axis::Tables) {
                out.extend(self.tables(&mut left));
            }
            if self.axes.has(Axis::Negations) {
                out.extend(self.negations(part, &mut left));
            }
            if self.axes.has(Axis::Conditions) {
                out.extend(self.conditions(&mut left));
            }
            if self.axes.has(Axis::Corrections) {
                let (wrong, right) = self.corrections(&mut left);
                out.extend(wrong);
                last.extend(right);
            }
            out.extend(self.plain(left));
            let rules: Vec<String> = self
                .lexicon
                .rule
                .iter()
                .filter(|rule| rule.goal == (part == Part::Goal))
                .map(|rule| rule.words.get(self.language).clone())
                .collect();
            out.extend(rules.iter().map(|rule| Block::Sentences(vec![self.choose(rule)])));
        }
        let facts_told = init.len() + goal.len();
        blocks.extend(init.into_iter().chain(goal).chain(last));
        if self.axes.has(Axis::Irrelevant) {
            for _ in 0..(facts_told * 2 / 5).clamp(3, MAX_ADDED) {
                let sentence = self.irrelevant();
                let at = self.random.below(blocks.len() as u64 + 1) as usize;
                blocks.insert(at.min(blocks.len()), Block::Sentences(vec![sentence]));
            }
        }
        if self.axes.has(Axis::Order) {
            self.random.shuffle(&mut blocks);
        }
        self.print(blocks)
    }

    /// Paragraphs of some sentences each; tables stand between them.
    fn print(&mut self, blocks: Vec<Block>) -> String {
        let blank = if self.language == Language::Chinese { "" } else { " " };
        let (mut text, mut paragraph, mut room) = (String::new(), Vec::new(), 4);
        let end = |text: &mut String, paragraph: &mut Vec<String>| {
            if !paragraph.is_empty() {
                text.push_str(&paragraph.join(blank));
                text.push('\n');
                paragraph.clear();
            }
        };
        for block in blocks {
            match block {
                Block::Sentences(sentences) => {
                    paragraph.extend(sentences);
                    if paragraph.len() >= room {
                        end(&mut text, &mut paragraph);
                        room = 3 + self.random.below(4) as usize;
                    }
                }
                Block::Lines(lines) => {
                    end(&mut text, &mut paragraph);
                    lines.iter().for_each(|line| {
                        text.push_str(line);
                        text.push('\n');
                    });
                }
            }
        }
        end(&mut text, &mut paragraph);
        text
    }

    /// Draws second names and measures.
    fn name_objects(&mut self) {
        const STARTS: [&str; 16] = [
            "Bel", "Cor", "Dal", "Fen", "Gar", "Hol", "Jor", "Kel", "Lam", "Mor", "Nor", "Pel", "Ros", "Sel",
            "Tam", "Vor",
        ];
        const MIDDLES: [&str; 8] = ["a", "e", "i", "o", "an", "er", "il", "on"];
        const ENDS: [&str; 8] = ["bin", "dor", "fax", "gan", "lum", "mer", "tis", "vik"];
        let objects: Vec<String> = self.task.type_of.keys().cloned().collect();
        if self.axes.has(Axis::Synonyms) {
            let mut free: Vec<String> = STARTS
                .iter()
                .flat_map(|a| {
                    MIDDLES.iter().flat_map(move |b| ENDS.iter().map(move |c| format!("{a}{b}{c}")))
                })
                .collect();
            self.random.shuffle(&mut free);
            for object in &objects {
                if self.random.chance(0.5) {
                    self.aliases.extend(free.pop().map(|alias| (object.clone(), alias)));
                }
            }
        }
        if self.axes.has(Axis::Units) {
            // Measures differ in the whole task, so that each names one object.
            let mut used = BTreeSet::new();
            for object in &objects {
                if used.len() == MEASURES as usize {
                    break;
                }
                if self.measure_of(object).is_none() || (objects.len() > 100 && self.random.chance(0.5)) {
                    continue;
                }
                let mut value = 0;
                while value == 0 || !used.insert(value) {
                    value = 300 + self.random.below(MEASURES) as u32;
                }
                let large = self.random.chance(0.5);
                self.values.insert(object.clone(), (value, large));
            }
        }
    }

    fn measure_of(&self, object: &str) -> Option<super::Measure> {
        let ty = self.task.type_of.get(object)?;
        self.lexicon.types.get(ty)?.measure
    }

    fn introductions(&mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if self.axes.has(Axis::Quantities) {
            let example =
                self.task.type_of.keys().find_map(|object| Some((object, spelt(object, self.language)?)));
            if let Some((object, words)) = example {
                blocks.push(Block::Sentences(vec![self.frame(&[self.frames.spelling], &[&words, object])]));
            }
        }
        for (ty, objects) in &self.task.objects {
            let Some(words) = self.lexicon.types.get(ty) else { continue };
            let noun = Noun::new(words, self.language);
            let list = self.listed(objects);
            let count = match self.axes.has(Axis::Quantities) {
                true => count_in_words(objects.len(), self.language),
                false => objects.len().to_string(),
            };
            let sentence = match objects.as_slice() {
                [one] => self.frame(self.frames.one, &[&noun.only(), one]),
                _ => self.frame(self.frames.several, &[&count, noun.plural, &list, noun.plural_article()]),
            };
            blocks.push(Block::Sentences(vec![sentence]));
        }
        blocks
    }

    fn names_and_measures(&mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (object, alias) in self.aliases.clone() {
            blocks.push(Block::Sentences(vec![self.frame(self.frames.alias, &[&object, &alias])]));
        }
        for (object, (value, large)) in self.values.clone() {
            let Some(measure) = self.measure_of(&object) else { continue };
            let quantity = quantity(measure, value, large, self.language);
            let sentence = self.frame(self.frames.measure(measure), &[&object, &quantity]);
            blocks.push(Block::Sentences(vec![sentence]));
        }
        self.random.shuffle(&mut blocks);
        blocks
    }

    fn listed(&self, items: &[String]) -> String {
        match items {
            [most @ .., last] if !most.is_empty() => {
                format!("{}{}{last}", most.join(self.frames.comma), self.frames.and)
            }
            items => items.concat(),
        }
    }

    /// A sentence of the shared ones.
    fn frame(&mut self, frames: &[&str], parts: &[&str]) -> String {
        let frame = self.pick(frames).copied().unwrap_or_default();
        let mut text = frame.to_owned();
        for (number, part) in parts.iter().enumerate() {
            text = text.replace(&format!("{{{number}}}"), part);
        }
        text
    }

    /// Takes one of each `[a|b]`.
    fn choose(&mut self, pattern: &str) -> String {
        let mut text = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('[') {
            let Some((choices, behind)) = after.split_once(']') else { break };
            let choices: Vec<&str> = choices.split('|').collect();
            text.push_str(before);
            text.push_str(self.pick(&choices).copied().unwrap_or_default());
            rest = behind;
        }
        text.push_str(rest);
        text
    }

    /// A phrase, and true if it begins with a common word.
    fn phrase(&mut self, phrase: &Phrase, case: Case) -> (String, bool) {
        let language = self.language;
        match phrase {
            Phrase::Object(object) => self.mention(object, case),
            Phrase::It => ("it".to_owned(), true),
            Phrase::This(ty) => (self.noun(ty).map_or_else(String::new, |noun| noun.this(case)), true),
            Phrase::Each(ty, objects, except) => {
                let list = self.listed(objects);
                let each =
                    self.noun(ty).map_or_else(String::new, |noun| noun.each(&list, except.as_deref(), case));
                (each, language != Language::Chinese)
            }
        }
    }

    fn noun(&self, ty: &str) -> Option<Noun<'_>> {
        self.lexicon.types.get(ty).map(|words| Noun::new(words, self.language))
    }

    fn mention(&mut self, object: &str, case: Case) -> (String, bool) {
        if let Some((value, large)) = self.values.get(object).copied()
            && self.random.chance(0.4)
            && let Some(measure) = self.measure_of(object)
            && let Some(noun) = self.task.type_of.get(object).and_then(|ty| self.noun(ty))
        {
            return (noun.measured(measure, &quantity(measure, value, !large, self.language), case), true);
        }
        if let Some(alias) = self.aliases.get(object).cloned()
            && self.random.chance(0.6)
        {
            return (alias, false);
        }
        if self.axes.has(Axis::Quantities)
            && self.random.chance(0.4)
            && let Some(words) = spelt(object, self.language)
        {
            return (words, false);
        }
        (object.to_owned(), false)
    }

    fn clause(&mut self, patterns: &[String], phrases: &[Phrase]) -> Clause {
        let pattern = self.pick(patterns).cloned().unwrap_or_default();
        let pattern = self.choose(&pattern);
        let pattern = pattern.trim_end_matches(self.frames.stop);
        let (mut text, mut rest) = (String::new(), pattern);
        let mut common_start = !pattern.starts_with('{') && self.language != Language::Chinese;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((place, behind)) = after.split_once('}') else { break };
            let (number, case) = match place.split_once(':') {
                Some((number, "d")) => (number, Case::Dative),
                Some((number, _)) => (number, Case::Accusative),
                None => (place, Case::Nominative),
            };
            text.push_str(before);
            if let Some(phrase) = number.parse::<usize>().ok().and_then(|n| phrases.get(n)) {
                let (words, common) = self.phrase(phrase, case);
                if text.is_empty() {
                    common_start = common && self.language != Language::Chinese;
                }
                text.push_str(&words);
            }
            rest = behind;
        }
        text.push_str(rest);
        if self.language == Language::Spanish {
            text = text.replace(" a el ", " al ").replace(" de el ", " del ");
        }
        Clause { text, common_start }
    }

    fn fact(&mut self, fact: &Fact) -> Clause {
        let phrases: Vec<Phrase> = fact.arguments.iter().cloned().map(Phrase::Object).collect();
        self.fact_with(fact, &phrases)
    }

    fn fact_with(&mut self, fact: &Fact, phrases: &[Phrase]) -> Clause {
        let words = self.lexicon.facts(fact.part).get(&fact.predicate);
        let mut patterns =
            words.map(|words| words.sentences.get(self.language).say.clone()).unwrap_or_default();
        // A list of objects does not fit into "between a and b", so it gets the first sentence.
        if phrases.iter().any(|phrase| matches!(phrase, Phrase::Each(..))) {
            patterns.truncate(1);
        }
        self.clause(&patterns, phrases)
    }

    fn stopped(&self, text: &str) -> String {
        format!("{text}{}", self.frames.stop)
    }

    /// Sentences of facts; on the axis `references` those that share an object follow each other.
    fn plain(&mut self, facts: Vec<Fact>) -> Vec<Block> {
        if !self.axes.has(Axis::References) {
            return facts
                .iter()
                .map(|fact| {
                    let clause = self.fact(fact);
                    Block::Sentences(vec![self.stopped(&clause.sentence())])
                })
                .collect();
        }
        let mut blocks = Vec::new();
        let mut left = facts;
        while !left.is_empty() {
            let mut fact = left.remove(0);
            let clause = self.fact(&fact);
            let mut sentences = vec![self.stopped(&clause.sentence())];
            while sentences.len() < 4 {
                let Some((at, shared)) = self.follower(&fact, &left) else { break };
                let next = left.remove(at);
                let ty = self.task.type_of.get(&shared).cloned().unwrap_or_default();
                let subject =
                    fact.arguments.first() == Some(&shared) && next.arguments.first() == Some(&shared);
                let is_thing =
                    self.lexicon.types.get(&ty).is_some_and(|words| words.kind == super::Kind::Thing);
                let it = subject && is_thing && self.language == Language::English && self.random.chance(0.5);
                let starts = self.starts_with_subject(&next);
                let phrases: Vec<Phrase> = next
                    .arguments
                    .iter()
                    .map(|argument| match *argument == shared {
                        true if it && starts => Phrase::It,
                        true => Phrase::This(ty.clone()),
                        false => Phrase::Object(argument.clone()),
                    })
                    .collect();
                let clause = self.fact_with(&next, &phrases);
                sentences.push(self.stopped(&clause.sentence()));
                fact = next;
            }
            blocks.push(Block::Sentences(sentences));
        }
        blocks
    }

    /// True if all sentences of a fact begin with its first object.
    fn starts_with_subject(&self, fact: &Fact) -> bool {
        let words = self.lexicon.facts(fact.part).get(&fact.predicate);
        words.is_some_and(|words| {
            words.sentences.get(self.language).say.iter().all(|say| say.starts_with("{0}"))
        })
    }

    /// A fact that can refer to an object of this one, which is the only one of its type in it.
    fn follower(&self, fact: &Fact, left: &[Fact]) -> Option<(usize, String)> {
        let ty = |object: &String| self.task.type_of.get(object);
        let alone =
            |object: &&String| fact.arguments.iter().filter(|other| ty(other) == ty(object)).count() == 1;
        let shared: Vec<&String> = fact.arguments.iter().filter(alone).collect();
        left.iter().enumerate().find_map(|(at, next)| {
            let object = next.arguments.iter().find(|object| shared.contains(object))?;
            let once = next.arguments.iter().filter(|other| *other == object).count() == 1;
            once.then(|| (at, object.clone()))
        })
    }

    /// Tables and lists of facts of two objects, a few rows each.
    fn tables(&mut self, left: &mut Vec<Fact>) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (part, predicate) in left.iter().map(|f| (f.part, f.predicate.clone())).collect::<BTreeSet<_>>() {
            let words = self.lexicon.facts(part).get(&predicate);
            let Some(caption) = words.and_then(|words| words.sentences.get(self.language).table.clone())
            else {
                continue;
            };
            let mut rows: Vec<Fact> =
                left.iter().filter(|f| f.predicate == predicate && f.arguments.len() == 2).cloned().collect();
            left.retain(|fact| !rows.contains(fact));
            self.random.shuffle(&mut rows);
            for chunk in rows.chunks(25) {
                let table = self.random.chance(0.5);
                let head =
                    self.frame(&[if table { self.frames.table } else { self.frames.list }], &[&caption]);
                let mut lines = vec![head];
                for row in chunk {
                    let cells: Vec<String> =
                        row.arguments.iter().map(|object| self.mention(object, Case::Nominative).0).collect();
                    lines.push(match table {
                        true => cells.join(" | "),
                        false => format!("- {}", cells.join(": ")),
                    });
                }
                blocks.push(Block::Lines(lines));
            }
        }
        blocks
    }

    /// An object that makes a fact wrong in the place of its last one.
    fn other_object(&mut self, fact: &Fact) -> Option<Fact> {
        let last = fact.arguments.last()?;
        let objects = self.task.objects.get(self.task.type_of.get(last)?)?;
        (0..20).find_map(|_| {
            let mut wrong = fact.clone();
            *wrong.arguments.last_mut()? = self.random.pick(objects)?.clone();
            let same = wrong.arguments.iter().collect::<BTreeSet<_>>().len() < wrong.arguments.len();
            let holds = self.task.facts.contains(&wrong) || self.task.facts.contains(&swapped(&wrong));
            (!same && !holds && !self.tells_gap(&wrong)).then_some(wrong)
        })
    }

    fn tells_gap(&self, wrong: &Fact) -> bool {
        self.gap.as_ref().is_some_and(|gap| wrong.excludes_alternative_of(gap))
    }

    /// Lists with exceptions, and sentences about what does not hold.
    fn negations(&mut self, part: Part, left: &mut Vec<Fact>) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut groups: BTreeMap<(String, Vec<String>), Vec<Fact>> = BTreeMap::new();
        for fact in left.iter().filter(|fact| !fact.arguments.is_empty()) {
            let rest = fact.arguments.iter().skip(1).cloned().collect();
            groups.entry((fact.predicate.clone(), rest)).or_default().push(fact.clone());
        }
        for group in
            groups.into_values().flat_map(|group| group.chunks(5).map(<[Fact]>::to_vec).collect::<Vec<_>>())
        {
            let Some(first) = group.first() else { continue };
            let words = self.lexicon.facts(first.part).get(&first.predicate);
            let Some(ty) = first.arguments.first().and_then(|o| self.task.type_of.get(o)).cloned() else {
                continue;
            };
            let same_type =
                group.iter().all(|f| f.arguments.first().and_then(|o| self.task.type_of.get(o)) == Some(&ty));
            if group.len() < 2 || !same_type || words.is_none_or(|words| words.chain) {
                continue;
            }
            let mut names: Vec<String> =
                group.iter().filter_map(|fact| fact.arguments.first().cloned()).collect();
            let others: Vec<String> = self
                .task
                .objects
                .get(&ty)
                .into_iter()
                .flatten()
                .filter(|object| {
                    let mut wrong = first.clone();
                    if let Some(subject) = wrong.arguments.first_mut() {
                        subject.clone_from(object);
                    }
                    let holds =
                        self.task.facts.contains(&wrong) || self.task.facts.contains(&swapped(&wrong));
                    let used = first.arguments.iter().skip(1).any(|argument| argument == *object);
                    !holds && !used && !self.tells_gap(&wrong)
                })
                .cloned()
                .collect();
            let Some(except) = self.random.pick(&others).cloned() else { continue };
            names.push(except.clone());
            self.random.shuffle(&mut names);
            let mut phrases = vec![Phrase::Each(ty, names, Some(except))];
            phrases.extend(first.arguments.iter().skip(1).cloned().map(Phrase::Object));
            let clause = self.fact_with(first, &phrases);
            blocks.push(Block::Sentences(vec![self.stopped(&clause.sentence())]));
            left.retain(|fact| !group.contains(fact));
        }
        let mut facts: Vec<Fact> = self.task.order.iter().filter(|fact| fact.part == part).cloned().collect();
        self.random.shuffle(&mut facts);
        facts.truncate((facts.len() / 4).clamp(1, MAX_ADDED));
        for fact in facts {
            let words = self.lexicon.facts(fact.part).get(&fact.predicate);
            let patterns =
                words.map(|words| words.sentences.get(self.language).no.clone()).unwrap_or_default();
            let Some(wrong) = self.other_object(&fact).filter(|_| !patterns.is_empty()) else { continue };
            let phrases: Vec<Phrase> = wrong.arguments.into_iter().map(Phrase::Object).collect();
            let clause = self.clause(&patterns, &phrases);
            blocks.push(Block::Sentences(vec![self.stopped(&clause.sentence())]));
        }
        self.random.shuffle(&mut blocks);
        blocks
    }

    /// A share of the facts for which a wrong one exists, each with it.
    fn with_wrong(&mut self, left: &mut Vec<Fact>, share: f64) -> Vec<(Fact, Fact)> {
        let mut facts = left.clone();
        self.random.shuffle(&mut facts);
        let wanted = ((facts.len() as f64 * share).ceil() as usize).min(MAX_ADDED);
        let (mut taken, mut used) = (Vec::new(), BTreeSet::new());
        for fact in facts {
            let chain = self.lexicon.facts(fact.part).get(&fact.predicate).is_some_and(|words| words.chain);
            // "b is on the table" is no alternative to "a is on the table", but "the van is in b" to "the van is in a".
            let same = |other: &&Fact| other.part == fact.part && other.predicate == fact.predicate;
            let fits = fact.arguments.len() > 1 || self.task.facts.iter().filter(same).count() == 1;
            if taken.len() < wanted
                && fits
                && !chain
                && let Some(wrong) = self.other_object(&fact).filter(|wrong| used.insert(wrong.clone()))
            {
                left.retain(|other| *other != fact);
                taken.push((fact, wrong));
            }
        }
        taken
    }

    /// Facts under a condition that another sentence decides.
    fn conditions(&mut self, left: &mut Vec<Fact>) -> Vec<Block> {
        let pairs = self.with_wrong(left, 0.35);
        let Some(part) = pairs.first().map(|(fact, _)| fact.part) else { return Vec::new() };
        // The initial state and the goal have conditions of their own, so that each is decided once.
        let (first, last) = self.frames.conditions.split_at(3);
        let own = if part == Part::Init { first } else { last };
        let decided: Vec<bool> = own.iter().map(|_| self.random.chance(0.5)).collect();
        let mut blocks: Vec<Block> = Vec::new();
        let mut used = BTreeSet::new();
        for (right, wrong) in pairs {
            let at = self.random.below(own.len() as u64) as usize;
            let (Some((condition, _, _)), Some(holds)) = (own.get(at), decided.get(at)) else { continue };
            used.insert(at);
            let (yes, no) = if *holds { (right, wrong) } else { (wrong, right) };
            let (yes, no) = (self.fact(&yes).inside(self.language), self.fact(&no).inside(self.language));
            blocks.push(Block::Sentences(vec![self.frame(self.frames.condition, &[condition, &yes, &no])]));
        }
        for at in used {
            let (Some((_, yes, no)), Some(holds)) = (own.get(at), decided.get(at)) else { continue };
            let place = self.random.below(blocks.len() as u64 + 1) as usize;
            let sentence = if *holds { yes } else { no };
            blocks.insert(place.min(blocks.len()), Block::Sentences(vec![(*sentence).to_owned()]));
        }
        blocks
    }

    /// Wrong sentences, and the sentences that correct them.
    fn corrections(&mut self, left: &mut Vec<Fact>) -> (Vec<Block>, Vec<Block>) {
        let (mut wrong_blocks, mut right_blocks) = (Vec::new(), Vec::new());
        for (right, wrong) in self.with_wrong(left, 0.3) {
            let wrong = self.fact(&wrong).sentence();
            wrong_blocks.push(Block::Sentences(vec![self.stopped(&wrong)]));
            let right = self.fact(&right).inside(self.language);
            right_blocks.push(Block::Sentences(vec![self.frame(self.frames.correction, &[&wrong, &right])]));
        }
        (wrong_blocks, right_blocks)
    }

    fn irrelevant(&mut self) -> String {
        let types: Vec<&String> =
            self.task.objects.iter().filter(|(_, objects)| objects.len() > 1).map(|(ty, _)| ty).collect();
        let ty = self.random.pick(&types).map(|ty| (*ty).clone()).unwrap_or_default();
        let objects = self.task.objects.get(&ty).cloned().unwrap_or_default();
        let Some(words) = self.lexicon.types.get(&ty) else { return String::new() };
        let mut two = objects;
        self.random.shuffle(&mut two);
        let parts: Vec<&str> = two.iter().take(2).map(String::as_str).collect();
        self.frame(self.frames.irrelevant(words.kind), &parts)
    }
}

/// A name with its number in words: `town forty-two`; `None` without a number.
pub(super) fn spelt(object: &str, language: Language) -> Option<String> {
    let stem = object.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = object.get(stem.len()..)?.parse::<usize>().ok()?;
    let blank = if language == Language::Chinese { "" } else { " " };
    Some(format!("{stem}{blank}{}", in_words(number, language)))
}
