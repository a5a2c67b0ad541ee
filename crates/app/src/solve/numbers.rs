//! Numbers of a text against the counts of its PDDL.

use super::behaviour::Model;
use planforge_pddl::ast::{Domain, TypedName};
use planforge_plugin_common::reading::{Part, Sentence, Source};
use std::collections::{BTreeMap, BTreeSet};

/// English number words from two on; `one` is a pronoun too.
const NUMBERS: [&str; 11] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// Most words between a number and what it counts: `five small red boxes`.
const MOST_BETWEEN: usize = 2;

/// Numbers of the text that no count of the problem matches, a sentence each. A number counts if it stands before the name of a type, in a
/// sentence that objects of this type come from, and is the only such number of the type: elsewhere it may be a rule (`it carries two
/// boxes`) or a part of a sum.
pub(super) fn unmatched_numbers(sentences: &[Sentence], parts: &[Source], model: &Model) -> Vec<String> {
    let counts = Counts::of(model);
    let mut mentions: BTreeMap<String, Vec<Mention>> = BTreeMap::new();
    for sentence in sentences {
        for mention in counts.mentions(sentence) {
            let objects = counts.objects(&mention.ty);
            let is_source = |part: &Source| {
                let name = part.text.split(' ').next().unwrap_or_default().to_lowercase();
                part.part == Part::Object
                    && part.sentences.contains(&sentence.number)
                    && objects.contains(&name)
            };
            if parts.iter().any(is_source) {
                mentions.entry(mention.ty.clone()).or_default().push(mention);
            }
        }
    }
    let mut remarks = Vec::new();
    for (ty, of_type) in &mentions {
        let [mention] = of_type.as_slice() else { continue };
        let count = counts.objects(ty).len();
        if mention.number != count && !counts.others.contains(&mention.number) {
            let noun = if count == 1 { "object" } else { "objects" };
            let Mention { sentence, words, .. } = mention;
            remarks.push(format!(
                "sentence {sentence} says \"{words}\"; the problem has {count} {noun} of type {ty}"
            ));
        }
    }
    remarks
}

/// A number before the name of a type.
struct Mention {
    sentence: usize,
    number: usize,
    ty: String,
    /// From the number to the name.
    words: String,
}

fn number_of(word: &str) -> Option<usize> {
    let lower = word.to_lowercase();
    match NUMBERS.iter().position(|number| *number == lower) {
        Some(at) => Some(at + 2),
        None => word.parse().ok().filter(|number| *number >= 2),
    }
}

/// The counts of a problem.
struct Counts<'m> {
    domain: &'m Domain,
    all: Vec<&'m TypedName>,
    /// Counts of the facts of each predicate and of the parts of the goal, and numbers in the PDDL.
    others: BTreeSet<usize>,
}

impl<'m> Counts<'m> {
    fn of(model: &'m Model) -> Self {
        let Model { domain, problem, .. } = model;
        let mut others = BTreeSet::new();
        let texts = format!("{} {}", code_of(&model.domain_text), code_of(&model.problem_text));
        let words = texts.split(|c: char| c.is_whitespace() || ['(', ')'].contains(&c));
        others.extend(words.filter_map(|word| word.parse::<f64>().ok()).map(|number| number as usize));
        let facts = problem_facts(&model.problem_text);
        for (name, _) in &facts {
            others.insert(facts.iter().filter(|(other, _)| other == name).count());
        }
        // A part of a predicate's facts, such as those of one object.
        for (name, object) in facts.iter().flat_map(|(name, args)| args.iter().map(move |arg| (name, arg))) {
            others
                .insert(facts.iter().filter(|(other, args)| other == name && args.contains(object)).count());
        }
        Self { domain, all: problem.objects.iter().chain(&domain.constants).collect(), others }
    }

    /// The numbers of a sentence that stand before a type.
    fn mentions(&self, sentence: &Sentence) -> Vec<Mention> {
        let words = sentence.text.split(|c: char| !c.is_alphanumeric() && c != '-');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let of = |at: usize| {
            let number = number_of(words[at])?;
            let after = words.iter().enumerate().skip(at + 1).take(MOST_BETWEEN + 1);
            // `2 of the boxes` and `two or three boxes` count otherwise.
            let is_between =
                |word: &str| number_of(word).is_none() && !["of", "or", "and", "to"].contains(&word);
            let mut nouns = after.take_while(|(_, word)| is_between(word));
            let (end, ty) = nouns.find_map(|(end, word)| Some((end, self.type_of(word)?)))?;
            Some(Mention { sentence: sentence.number, number, ty, words: words[at..=end].join(" ") })
        };
        (0..words.len()).filter_map(of).collect()
    }

    /// The type whose plural a word is.
    fn type_of(&self, word: &str) -> Option<String> {
        let word = word.to_lowercase();
        let names: BTreeSet<String> = self
            .domain
            .types
            .iter()
            .map(|ty| ty.name.key().to_owned())
            .chain(self.all.iter().flat_map(|object| direct_types(object)))
            .collect();
        let is_it = |name: &String| {
            let stem = name.strip_suffix('y').unwrap_or(name);
            word == format!("{name}s") || word == format!("{name}es") || word == format!("{stem}ies")
        };
        names.into_iter().find(is_it)
    }

    /// The objects of a type and of the types below it.
    fn objects(&self, ty: &str) -> BTreeSet<String> {
        let mut types = BTreeSet::from([ty.to_owned()]);
        loop {
            let below = self.domain.types.iter().filter(|known| {
                direct_types(known).iter().any(|above| types.contains(above))
                    && !types.contains(known.name.key())
            });
            let below: Vec<String> = below.map(|known| known.name.key().to_owned()).collect();
            if below.is_empty() {
                break;
            }
            types.extend(below);
        }
        let is_of_type = |object: &&&TypedName| direct_types(object).iter().any(|ty| types.contains(ty));
        self.all.iter().filter(is_of_type).map(|object| object.name.key().to_owned()).collect()
    }
}

fn direct_types(object: &TypedName) -> Vec<String> {
    let types = object.ty.iter().flat_map(|ty| &ty.alternatives);
    types.map(|ty| ty.key().to_owned()).collect()
}

/// PDDL without its comments, whose numbers are those of sentences.
fn code_of(pddl: &str) -> String {
    pddl.lines().map(|line| line.split(';').next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The innermost parenthesised lists of a problem: facts and parts of the goal, each as its name and objects.
fn problem_facts(problem: &str) -> Vec<(String, Vec<String>)> {
    let code = code_of(problem).to_lowercase();
    let lists = code.split('(').filter_map(|part| part.split_once(')').map(|(inner, _)| inner));
    let mut facts = Vec::new();
    for list in lists {
        let mut words = list.split_whitespace().map(str::to_owned);
        if let Some(name) = words.next().filter(|name| !name.starts_with(':')) {
            facts.push((name, words.collect()));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_plugin_common::reading::{sentences, sources};

    const DOMAIN: &str = "(define (domain d) (:requirements :strips :typing) (:types box room - object)
        (:predicates (at ?b - box ?r - room))
        (:action move :parameters (?b - box ?a ?r - room) :precondition (at ?b ?a) :effect (and (at ?b ?r) (not (at ?b ?a)))))";

    fn remarks(text: &str, boxes: &str) -> Vec<String> {
        let facts: String = boxes.split(' ').map(|name| format!("(at {name} hall)")).collect();
        let problem = format!(
            "(define (problem p) (:domain d)\n(:objects\n{boxes} - box ; [1]\nhall yard - room ; [2]\n)\n(:init {facts})\n(:goal (at b1 yard)))"
        );
        let model = Model::read(DOMAIN, &problem).unwrap();
        unmatched_numbers(&sentences(text), &sources(DOMAIN, &problem), &model)
    }

    #[test]
    fn a_number_that_no_count_matches_is_a_remark() {
        let text = "There are five red boxes. They are in one of two rooms.";
        assert_eq!(
            remarks(text, "b1 b2 b3"),
            ["sentence 1 says \"five red boxes\"; the problem has 3 objects of type box"]
        );
        assert!(remarks(text, "b1 b2 b3 b4 b5").is_empty());
        assert_eq!(remarks(&text.replace("five", "5"), "b1 b2 b3").len(), 1);
    }

    #[test]
    fn numbers_of_rules_of_sums_and_of_other_words_are_none() {
        let rule = "There are boxes. They are in one of two rooms. The robot carries five boxes at once.";
        assert!(remarks(rule, "b1 b2 b3").is_empty());
        let sum = "There are two red boxes and four blue boxes here. They are in two rooms.";
        assert!(remarks(sum, "b1 b2 b3").is_empty());
        let other = "There are boxes, five of them red, which weigh nine pounds. They are in two rooms.";
        assert!(remarks(other, "b1 b2 b3").is_empty());
    }
}
