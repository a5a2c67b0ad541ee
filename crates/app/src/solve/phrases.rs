//! The words that questions and plans are made of, in the language of the text. Names and the words of critics are in that language
//! anyway.

use planforge_contract::Sentences;
use planforge_pddl::ast::Domain;
use std::collections::{BTreeMap, BTreeSet};

/// Words of questions. `{}` is replaced by steps or a number.
pub(super) struct Phrases {
    /// Words that are frequent in texts of this language.
    frequent: [&'static str; 10],
    pub(super) yes: &'static str,
    pub(super) no: &'static str,
    pub(super) is_possible: &'static str,
    pub(super) is_done: &'static str,
    pub(super) is_done_at_start: &'static str,
    pub(super) possible: &'static str,
    pub(super) not_possible_at_start: &'static str,
    /// The steps before, then the last one.
    pub(super) not_possible_after: [&'static str; 2],
    pub(super) done: &'static str,
    pub(super) not_done: &'static str,
    pub(super) done_at_start: &'static str,
    pub(super) not_done_at_start: &'static str,
    /// Between two steps.
    pub(super) then: &'static str,
    pub(super) more_steps: &'static str,
    /// Before a fact that no longer holds.
    no_longer: &'static str,
}

pub(super) static ENGLISH: Phrases = Phrases {
    frequent: ["the", "and", "is", "of", "to", "that", "it", "can", "must", "are"],
    yes: "yes",
    no: "no",
    is_possible: "Is this possible from the start: {}?",
    is_done: "Is everything that is wanted true after these steps: {}?",
    is_done_at_start: "Is everything that is wanted true at the start?",
    possible: "possible: {}",
    not_possible_at_start: "not possible at the start: {}",
    not_possible_after: ["not possible after {}", ": {}"],
    done: "done after {}",
    not_done: "not done after {}",
    done_at_start: "done at the start",
    not_done_at_start: "not done at the start",
    then: ", then ",
    more_steps: "{} more steps",
    no_longer: "No longer: ",
};

static GERMAN: Phrases = Phrases {
    frequent: ["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "kann", "den"],
    yes: "ja",
    no: "nein",
    is_possible: "Ist das von Anfang an möglich: {}?",
    is_done: "Ist nach diesen Schritten alles erreicht: {}?",
    is_done_at_start: "Ist am Anfang schon alles erreicht?",
    possible: "möglich: {}",
    not_possible_at_start: "am Anfang nicht möglich: {}",
    not_possible_after: ["nicht möglich nach {}", ": {}"],
    done: "erreicht nach {}",
    not_done: "nicht erreicht nach {}",
    done_at_start: "am Anfang erreicht",
    not_done_at_start: "am Anfang nicht erreicht",
    then: ", dann ",
    more_steps: "{} weitere Schritte",
    no_longer: "Nicht mehr: ",
};

static FRENCH: Phrases = Phrases {
    frequent: ["le", "les", "et", "est", "dans", "des", "une", "peut", "du", "pas"],
    yes: "oui",
    no: "non",
    is_possible: "Est-ce possible dès le début : {} ?",
    is_done: "Tout est-il atteint après ces étapes : {} ?",
    is_done_at_start: "Tout est-il atteint dès le début ?",
    possible: "possible : {}",
    not_possible_at_start: "impossible au début : {}",
    not_possible_after: ["impossible après {}", " : {}"],
    done: "atteint après {}",
    not_done: "pas atteint après {}",
    done_at_start: "atteint au début",
    not_done_at_start: "pas atteint au début",
    then: ", puis ",
    more_steps: "{} étapes de plus",
    no_longer: "Plus maintenant : ",
};

static SPANISH: Phrases = Phrases {
    frequent: ["el", "los", "y", "es", "está", "las", "una", "puede", "del", "con"],
    yes: "sí",
    no: "no",
    is_possible: "¿Es posible desde el principio: {}?",
    is_done: "¿Está todo cumplido después de estos pasos: {}?",
    is_done_at_start: "¿Está todo cumplido desde el principio?",
    possible: "posible: {}",
    not_possible_at_start: "imposible al principio: {}",
    not_possible_after: ["imposible después de {}", ": {}"],
    done: "cumplido después de {}",
    not_done: "no cumplido después de {}",
    done_at_start: "cumplido al principio",
    not_done_at_start: "no cumplido al principio",
    then: ", luego ",
    more_steps: "{} pasos más",
    no_longer: "Ya no: ",
};

impl Phrases {
    /// Sentences for the facts of a domain that a model wrote for a text, in the form of `sentences.toml`. Models name predicates by verbs and
    /// places: `holds`, `is-in`, `on`. So the first object stands before the name: `robot holds box.`
    pub(super) fn sentences(&self, domain: &Domain) -> String {
        let of = |name: &str, count: usize| {
            let words = name.replace(['-', '_'], " ");
            let rest: Vec<String> = (2..=count).map(|at| format!("{{{at}}}")).collect();
            let fact = match count {
                0 => words,
                _ => format!("{{1}} {words} {}", rest.join(", ")).trim_end().to_owned(),
            };
            Sentences { yes: format!("{fact}."), no: format!("{}{fact}.", self.no_longer) }
        };
        let facts = domain.predicates.iter().map(|predicate| {
            let name = predicate.name.key().to_owned();
            let sentences = of(&name, predicate.parameters.len());
            (name, sentences)
        });
        let file = BTreeMap::from([("predicates", facts.collect::<BTreeMap<_, _>>())]);
        toml::to_string(&file).unwrap_or_default()
    }

    /// The phrases of the language of which a text has the most frequent words, three at least; else the English ones.
    pub(super) fn of(text: &str) -> &'static Self {
        let lower = text.to_lowercase();
        let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphabetic()).collect();
        let count = |phrases: &Self| phrases.frequent.iter().filter(|word| words.contains(*word)).count();
        let others = [&GERMAN, &FRENCH, &SPANISH].into_iter().filter(|other| count(other) >= 3);
        others.fold(&ENGLISH, |best, other| if count(other) > count(best) { other } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_diagnostics::SourceId;

    #[test]
    fn facts_are_told_with_their_first_object_before_the_name() {
        let domain = "(define (domain d) (:predicates (lit) (holds ?x ?y) (is-clean ?x) (full ?x) (lies_between ?x ?y ?z)))";
        let file = ENGLISH.sentences(&planforge_pddl::parse_domain(domain, SourceId(0)).value);
        let mut found = Vec::new();
        let read = planforge_pipeline::read_sentences(&file, SourceId(0), domain, &mut found);
        assert!(found.is_empty(), "{found:?}");
        let wording = planforge_plugin_sdk::wording::Wording::new(&read.facts);
        assert_eq!(wording.fact("holds", &["ann", "box-1"], true), "ann holds box-1.");
        assert_eq!(wording.fact("lit", &[], false), "No longer: lit.");
        assert_eq!(wording.fact("is-clean", &["rod"], true), "rod is clean.");
        assert_eq!(wording.fact("full", &["bag"], false), "No longer: bag full.");
        assert_eq!(wording.fact("lies_between", &["a", "b", "c"], true), "a lies between b, c.");
    }

    #[test]
    fn the_language_of_a_text_is_found_by_its_frequent_words() {
        let of = |text| Phrases::of(text).yes;
        assert_eq!(of("Sepp ist im Tal und kann eine Last tragen. Die Hütte liegt oben."), "ja");
        assert_eq!(of("Le vin rouge est dans le fût de chêne, et les fûts sont vides."), "oui");
        assert_eq!(of("El robot está en la sala y puede llevar una caja con las manos."), "sí");
        assert_eq!(of("The robot is in the hall and can carry one box."), "yes");
        assert_eq!(of("ロボットは部屋にいる。"), "yes");
        assert_eq!(of("Roboten är i en hall och kan bära en låda."), "yes");
        assert_eq!(of("Il robot è nella sala e porta una scatola con le mani."), "yes");
    }
}
