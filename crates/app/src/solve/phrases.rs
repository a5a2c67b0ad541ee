//! The fixed words of questions, plans and first lines, in the language of the text. Names and the words of critics are in that language
//! anyway. Remarks and errors are in English.

use planforge_contract::Sentences;
use planforge_pddl::ast::Domain;
use planforge_plugin_common::telling::PlanWords;
use planforge_plugin_sdk::wording::Wording;
use std::collections::BTreeSet;

/// Fixed words in a language. `{}` stands for what the field names, in that order; of two texts the first is about one thing.
#[derive(Debug)]
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
    /// The steps before, and the last one.
    pub(super) not_possible_after: &'static str,
    pub(super) done: &'static str,
    pub(super) not_done: &'static str,
    pub(super) done_at_start: &'static str,
    pub(super) not_done_at_start: &'static str,
    /// Between two steps.
    pub(super) then: &'static str,
    pub(super) more_steps: &'static str,
    /// Before a fact that no longer holds.
    no_longer: &'static str,
    /// The choices behind the two sides of a question: either side, own words, unknown.
    pub(super) other_choices: [&'static str; 3],
    /// The question which of two answers holds.
    pub(super) contradiction: &'static str,
    /// The question which sentence is true, so that there is a plan.
    pub(super) no_plan: &'static str,
    /// A line of PDDL that no sentence states: the question, and both sides.
    pub(super) unstated: [&'static str; 3],
    /// Behind such a line: its action.
    pub(super) of_action: &'static str,
    /// The reason of a step that an answer allows: the answer.
    pub(super) answered: &'static str,
    /// A text without a task, with a contradiction, and with two tasks: what is missing, or the sentences.
    pub(super) not_a_task: [&'static str; 3],
    /// A plan in sentences.
    pub(super) plan: PlanWords,
    /// The first line of a result.
    pub(super) line: LinePhrases,
}

/// What was reached and what it rests on: parts of the first line.
#[derive(Debug)]
pub(super) struct LinePhrases {
    /// A number of steps.
    pub(super) planned: [&'static str; 2],
    /// A number of questions.
    pub(super) needs_answers: [&'static str; 2],
    pub(super) unsolvable: &'static str,
    pub(super) no_plan_found: &'static str,
    pub(super) one_reading: &'static str,
    /// A number of models.
    pub(super) models: [&'static str; 2],
    /// The readings that agree, all readings, and the models.
    pub(super) agree: [&'static str; 2],
    /// A number of steps up to which they agree.
    pub(super) up_to: &'static str,
    /// A number of further readings.
    pub(super) follow: &'static str,
    pub(super) copies: [&'static str; 2],
    pub(super) answers: [&'static str; 2],
    pub(super) corrections: [&'static str; 2],
    pub(super) no_assumption: &'static str,
    /// One assumption; the number of assumptions, and some of them.
    pub(super) assumptions: [&'static str; 2],
    pub(super) not_looked_at: [&'static str; 2],
    /// A number of readings.
    pub(super) unusable: [&'static str; 2],
    pub(super) nothing_looked_for: &'static str,
    /// A number of readings.
    pub(super) not_looked_for: &'static str,
    pub(super) no_sources: &'static str,
    pub(super) all_used: &'static str,
    /// The numbers of sentences.
    pub(super) not_used: [&'static str; 2],
}

/// The text of the two for a number of things.
pub(super) const fn of_number(texts: [&'static str; 2], number: usize) -> &'static str {
    if number == 1 { texts[0] } else { texts[1] }
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
    not_possible_after: "not possible after {}: {}",
    done: "done after {}",
    not_done: "not done after {}",
    done_at_start: "done at the start",
    not_done_at_start: "not done at the start",
    then: ", then ",
    more_steps: "{} more steps",
    no_longer: "No longer: ",
    other_choices: ["it does not matter", "none of these (type what is true)", "I do not know"],
    contradiction: "These two answers contradict each other. Which one holds?",
    no_plan: "As the text is read there is no plan. There is one if one of these is true. Which one is?",
    unstated: ["No sentence states {}. Is it meant?", "yes: {} is meant", "no: {} is not meant"],
    of_action: " for {}",
    answered: "Possible because you answered: {}",
    not_a_task: [
        "not a task: {}",
        "the text contradicts itself: {}",
        "two tasks, each of which needs a text of its own: {}",
    ],
    plan: PlanWords::ENGLISH,
    line: LinePhrases {
        planned: ["planned: 1 step.", "planned: {} steps."],
        needs_answers: [
            "needs answers: 1 question in questions.toml.",
            "needs answers: {} questions in questions.toml.",
        ],
        unsolvable: "unsolvable as read.",
        no_plan_found: "no plan was found within the limits of the search, and none is excluded.",
        one_reading: "1 reading by 1 model; nothing else has judged it",
        models: ["1 model", "{} models"],
        agree: ["{} of {} readings by {} stands alone", "{} of {} readings by {} agree"],
        up_to: " up to {} steps",
        follow: ", the plan can be followed in {} more",
        copies: [" (1 is a copy of another)", " ({} are copies of another)"],
        answers: [" after 1 answer", " after {} answers"],
        corrections: [
            ", 1 correction by a sentence of the text",
            ", {} corrections by sentences of the text",
        ],
        no_assumption: ", no assumption",
        assumptions: [", 1 assumption ({})", ", {} assumptions ({})"],
        unusable: [", 1 reading cannot be used", ", {} readings cannot be used"],
        not_looked_at: [", 1 point was not looked at", ", {} points were not looked at"],
        nothing_looked_for: ", open points were not looked for",
        not_looked_for: ", open points were not looked for in {}",
        no_sources: "the readings do not say which sentences they use",
        all_used: "every sentence is used",
        not_used: ["sentence {} is not used", "sentences {} are not used"],
    },
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
    not_possible_after: "nicht möglich nach {}: {}",
    done: "erreicht nach {}",
    not_done: "nicht erreicht nach {}",
    done_at_start: "am Anfang erreicht",
    not_done_at_start: "am Anfang nicht erreicht",
    then: ", dann ",
    more_steps: "{} weitere Schritte",
    no_longer: "Nicht mehr: ",
    other_choices: ["es ist egal", "nichts davon (was stimmt, wird getippt)", "ich weiß es nicht"],
    contradiction: "Diese beiden Antworten widersprechen sich. Welche gilt?",
    no_plan: "So wie der Text gelesen ist, gibt es keinen Plan. Es gibt einen, wenn eines davon stimmt. Was stimmt?",
    unstated: ["Kein Satz sagt {}. Ist das gemeint?", "ja: {} ist gemeint", "nein: {} ist nicht gemeint"],
    of_action: " für {}",
    answered: "Möglich wegen der Antwort: {}",
    not_a_task: [
        "keine Aufgabe: {}",
        "der Text widerspricht sich: {}",
        "zwei Aufgaben, von denen jede einen eigenen Text braucht: {}",
    ],
    plan: PlanWords {
        valid: "Der Plan ist gültig: nach {}{} ist das Ziel erreicht.",
        steps: ["1 Schritt", "{} Schritten"],
        cost: " und Kosten von {}",
        nothing_changes: "Nichts ändert sich.",
        repeated: "Schritte {} bis {}: dasselbe mit {} statt {}.",
        and: "und",
        so_that: "Damit Schritt {}, {}, möglich ist.",
    },
    line: LinePhrases {
        planned: ["geplant: 1 Schritt.", "geplant: {} Schritte."],
        needs_answers: [
            "Antworten fehlen: 1 Frage in questions.toml.",
            "Antworten fehlen: {} Fragen in questions.toml.",
        ],
        unsolvable: "unlösbar, so wie es gelesen ist.",
        no_plan_found: "kein Plan wurde in den Grenzen der Suche gefunden, und keiner ist ausgeschlossen.",
        one_reading: "1 Lesart von 1 Modell; nichts anderes hat sie geprüft",
        models: ["1 Modell", "{} Modellen"],
        agree: ["{} von {} Lesarten von {} steht allein", "{} von {} Lesarten von {} stimmen überein"],
        up_to: " bis zu {} Schritten",
        follow: ", dem Plan kann man in {} weiteren folgen",
        copies: [" (1 ist die Kopie einer anderen)", " ({} sind Kopien einer anderen)"],
        answers: [" nach 1 Antwort", " nach {} Antworten"],
        corrections: [", 1 Korrektur durch einen Satz des Textes", ", {} Korrekturen durch Sätze des Textes"],
        no_assumption: ", keine Annahme",
        assumptions: [", 1 Annahme ({})", ", {} Annahmen ({})"],
        unusable: [", 1 Lesart ist nicht brauchbar", ", {} Lesarten sind nicht brauchbar"],
        not_looked_at: [", 1 Punkt wurde nicht untersucht", ", {} Punkte wurden nicht untersucht"],
        nothing_looked_for: ", offene Punkte wurden nicht gesucht",
        not_looked_for: ", offene Punkte wurden in {} nicht gesucht",
        no_sources: "die Lesarten sagen nicht, welche Sätze sie verwenden",
        all_used: "jeder Satz ist verwendet",
        not_used: ["Satz {} ist nicht verwendet", "die Sätze {} sind nicht verwendet"],
    },
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
    not_possible_after: "impossible après {} : {}",
    done: "atteint après {}",
    not_done: "pas atteint après {}",
    done_at_start: "atteint au début",
    not_done_at_start: "pas atteint au début",
    then: ", puis ",
    more_steps: "{} étapes de plus",
    no_longer: "Plus maintenant : ",
    other_choices: ["cela n'a pas d'importance", "rien de cela (écrire ce qui est vrai)", "je ne sais pas"],
    contradiction: "Ces deux réponses se contredisent. Laquelle est la bonne ?",
    no_plan: "Tel que le texte est lu, il n'y a pas de plan. Il y en a un si l'une de ces phrases est vraie. Laquelle ?",
    unstated: ["Aucune phrase ne dit {}. Est-ce voulu ?", "oui: {} est voulu", "non: {} n'est pas voulu"],
    of_action: " pour {}",
    answered: "Possible grâce à la réponse : {}",
    not_a_task: [
        "pas une tâche : {}",
        "le texte se contredit : {}",
        "deux tâches, qui demandent chacune leur propre texte : {}",
    ],
    plan: PlanWords {
        valid: "Le plan est valide : après {}{}, le but est atteint.",
        steps: ["1 étape", "{} étapes"],
        cost: " et un coût de {}",
        nothing_changes: "Rien ne change.",
        repeated: "Étapes {} à {} : la même chose avec {} au lieu de {}.",
        and: "et",
        so_that: "Pour que l'étape {}, {}, soit possible.",
    },
    line: LinePhrases {
        planned: ["plan trouvé : 1 étape.", "plan trouvé : {} étapes."],
        needs_answers: [
            "réponses attendues : 1 question dans questions.toml.",
            "réponses attendues : {} questions dans questions.toml.",
        ],
        unsolvable: "sans solution, tel que le texte est lu.",
        no_plan_found: "aucun plan n'a été trouvé dans les limites de la recherche, et aucun n'est exclu.",
        one_reading: "1 lecture par 1 modèle ; rien d'autre ne l'a vérifiée",
        models: ["1 modèle", "{} modèles"],
        agree: ["{} des {} lectures par {} reste seule", "{} des {} lectures par {} concordent"],
        up_to: " jusqu'à {} étapes",
        follow: ", le plan peut être suivi dans {} de plus",
        copies: [" (1 est la copie d'une autre)", " ({} sont des copies d'une autre)"],
        answers: [" après 1 réponse", " après {} réponses"],
        corrections: [", 1 correction par une phrase du texte", ", {} corrections par des phrases du texte"],
        no_assumption: ", aucune hypothèse",
        assumptions: [", 1 hypothèse ({})", ", {} hypothèses ({})"],
        unusable: [", 1 lecture est inutilisable", ", {} lectures sont inutilisables"],
        not_looked_at: [", 1 point n'a pas été examiné", ", {} points n'ont pas été examinés"],
        nothing_looked_for: ", les points ouverts n'ont pas été cherchés",
        not_looked_for: ", les points ouverts n'ont pas été cherchés dans {}",
        no_sources: "les lectures ne disent pas quelles phrases elles utilisent",
        all_used: "chaque phrase est utilisée",
        not_used: ["la phrase {} n'est pas utilisée", "les phrases {} ne sont pas utilisées"],
    },
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
    not_possible_after: "imposible después de {}: {}",
    done: "cumplido después de {}",
    not_done: "no cumplido después de {}",
    done_at_start: "cumplido al principio",
    not_done_at_start: "no cumplido al principio",
    then: ", luego ",
    more_steps: "{} pasos más",
    no_longer: "Ya no: ",
    other_choices: ["da igual", "nada de esto (escribir lo que es verdad)", "no lo sé"],
    contradiction: "Estas dos respuestas se contradicen. ¿Cuál vale?",
    no_plan: "Tal como se lee el texto no hay plan. Lo hay si una de estas frases es verdad. ¿Cuál?",
    unstated: [
        "Ninguna frase dice {}. ¿Es lo que se quiere decir?",
        "sí: {} es lo que se quiere decir",
        "no: {} no es lo que se quiere decir",
    ],
    of_action: " para {}",
    answered: "Posible por la respuesta: {}",
    not_a_task: [
        "no es una tarea: {}",
        "el texto se contradice: {}",
        "dos tareas, cada una de las cuales necesita su propio texto: {}",
    ],
    plan: PlanWords {
        valid: "El plan es válido: después de {}{}, el objetivo está cumplido.",
        steps: ["1 paso", "{} pasos"],
        cost: " y un coste de {}",
        nothing_changes: "No cambia nada.",
        repeated: "Pasos {} a {}: lo mismo con {} en lugar de {}.",
        and: "y",
        so_that: "Para que el paso {}, {}, sea posible.",
    },
    line: LinePhrases {
        planned: ["plan encontrado: 1 paso.", "plan encontrado: {} pasos."],
        needs_answers: [
            "faltan respuestas: 1 pregunta en questions.toml.",
            "faltan respuestas: {} preguntas en questions.toml.",
        ],
        unsolvable: "sin solución, tal como se lee.",
        no_plan_found: "no se encontró ningún plan dentro de los límites de la búsqueda, y ninguno está excluido.",
        one_reading: "1 lectura de 1 modelo; nada más la ha comprobado",
        models: ["1 modelo", "{} modelos"],
        agree: ["{} de {} lecturas de {} queda sola", "{} de {} lecturas de {} coinciden"],
        up_to: " hasta {} pasos",
        follow: ", el plan se puede seguir en {} más",
        copies: [" (1 es copia de otra)", " ({} son copias de otra)"],
        answers: [" después de 1 respuesta", " después de {} respuestas"],
        corrections: [", 1 corrección por una frase del texto", ", {} correcciones por frases del texto"],
        no_assumption: ", ningún supuesto",
        assumptions: [", 1 supuesto ({})", ", {} supuestos ({})"],
        unusable: [", 1 lectura no se puede usar", ", {} lecturas no se pueden usar"],
        not_looked_at: [", 1 punto no se ha examinado", ", {} puntos no se han examinado"],
        nothing_looked_for: ", no se buscaron puntos abiertos",
        not_looked_for: ", no se buscaron puntos abiertos en {}",
        no_sources: "las lecturas no dicen qué frases usan",
        all_used: "se usa cada frase",
        not_used: ["la frase {} no se usa", "las frases {} no se usan"],
    },
};

impl Phrases {
    /// The languages, English first.
    pub(super) const ALL: [&'static Self; 4] = [&ENGLISH, &GERMAN, &FRENCH, &SPANISH];

    /// Sentences for the facts of a domain that a model wrote for a text. Models name predicates by verbs and places: `holds`, `is-in`,
    /// `on`. So the first object stands before the name: `robot holds box.`
    pub(super) fn wording(&self, domain: &Domain) -> Wording {
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
        Wording::new(&facts.collect())
    }

    /// The phrases of the language of which a text has the most frequent words, three at least; else the English ones.
    pub(super) fn of(text: &str) -> &'static Self {
        let lower = text.to_lowercase();
        let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphabetic()).collect();
        let count = |phrases: &Self| phrases.frequent.iter().filter(|word| words.contains(*word)).count();
        let others = Self::ALL.into_iter().skip(1).filter(|other| count(other) >= 3);
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
        let wording = ENGLISH.wording(&planforge_pddl::parse_domain(domain, SourceId(0)).value);
        assert_eq!(wording.fact("holds", &["ann", "box-1"], true), "ann holds box-1.");
        assert_eq!(wording.fact("lit", &[], false), "No longer: lit.");
        assert_eq!(wording.fact("is-clean", &["rod"], true), "rod is clean.");
        assert_eq!(wording.fact("full", &["bag"], false), "No longer: bag full.");
        assert_eq!(wording.fact("lies_between", &["a", "b", "c"], true), "a lies between b, c.");
    }

    /// A value is missing or shown twice otherwise.
    #[test]
    fn a_phrase_has_the_same_values_in_all_languages() {
        let shown = |phrases: &Phrases| -> Vec<usize> {
            format!("{phrases:#?}").lines().map(|line| line.matches("{}").count()).collect()
        };
        for phrases in Phrases::ALL {
            assert_eq!(shown(phrases), shown(&ENGLISH), "{}", phrases.yes);
        }
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
