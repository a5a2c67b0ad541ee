//! Numbers, time and wishes of a task, which prompts ask for only where a task has them.

use planforge_diagnostics::SourceId;
use planforge_pddl::parse_domain;
use serde::Serialize;

/// Parts of PDDL beyond facts that a task has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TaskFeatures {
    /// Numbers that are compared, changed or minimised.
    pub numbers: bool,
    /// Actions that last.
    pub durations: bool,
    /// Facts that change at a time of the clock.
    pub timed: bool,
    /// Wishes with weights.
    pub wishes: bool,
}

impl TaskFeatures {
    /// The features of either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            numbers: self.numbers || other.numbers,
            durations: self.durations || other.durations,
            timed: self.timed || other.timed,
            wishes: self.wishes || other.wishes,
        }
    }

    /// The features that a domain or action interface declares, and the wishes of the text, which problems alone have.
    pub fn of_domain(domain: &str, text: &str) -> Self {
        let domain = parse_domain(domain, SourceId(0)).value;
        let declares = |names: &[&str]| domain.requirements.iter().any(|r| names.contains(&r.key()));
        let numbers = domain.functions.iter().any(|function| !function.name.is("total-cost"));
        Self {
            numbers: numbers || declares(&[":numeric-fluents", ":fluents"]),
            durations: !domain.durative_actions.is_empty() || declares(&[":durative-actions"]),
            timed: declares(&[":timed-initial-literals"]),
            wishes: declares(&[":preferences"]) || Self::of_text(text).wishes,
        }
    }

    /// The features that a text states with figures or units: `30 minutes`, `9:15`, `120 cents`, `counted in grams`, a wish of `3 points`.
    /// Other words say too little about what is meant.
    pub fn of_text(text: &str) -> Self {
        let text = text.to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, ':' | '.' | '\'')))
            .map(|word| word.trim_matches(['.', ':', '\'']))
            .filter(|word| !word.is_empty())
            .collect();
        let figure = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let after_figure = |units: &[&str]| {
            words.windows(2).any(|pair| {
                // `in g` is a place.
                let counts =
                    (pair[0] == "in" && pair[1].len() > 2) || (figure(pair[0]) && !pair[0].contains(':'));
                counts && units.contains(&pair[1])
            })
        };
        let clock = |word: &&str| {
            word.split_once(':').is_some_and(|(hours, minutes)| {
                minutes.len() == 2
                    && (1..=2).contains(&hours.len())
                    && hours.parse::<u8>().is_ok_and(|h| h < 24)
                    && minutes.parse::<u8>().is_ok_and(|m| m < 60)
            })
        };
        let timed = words.iter().any(clock);
        // A wish is worth points; `in points` is no figure.
        let points = words.windows(2).any(|pair| figure(pair[0]) && ["point", "points"].contains(&pair[1]));
        Self {
            numbers: after_figure(&UNITS),
            durations: timed || after_figure(&TIMES),
            timed,
            wishes: points && words.iter().any(|word| ["wish", "wishes"].contains(word)),
        }
    }
}

const TIMES: [&str; 8] = ["second", "seconds", "minute", "minutes", "hour", "hours", "day", "days"];
const UNITS: [&str; 13] = [
    "cent",
    "cents",
    "euro",
    "euros",
    "dollar",
    "dollars",
    "g",
    "grams",
    "kg",
    "m",
    "km",
    "metres",
    "kilometres",
];

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: TaskFeatures = TaskFeatures { numbers: false, durations: false, timed: false, wishes: false };

    #[test]
    fn a_text_has_what_it_states_with_figures() {
        let all = "The ride takes 20 minutes. The mill opens at 8:40. A loaf costs 120 cents. Wish w1, 3 points: a swim.";
        assert_eq!(
            TaskFeatures::of_text(all),
            TaskFeatures { numbers: true, durations: true, timed: true, wishes: true }
        );
        for text in [
            "Each lesson gets a room and an hour; two hours are enough. I wish you luck.",
            "The counter stands at two hours. Room 7: minutes of the meeting. Step 12:345.",
            "There are 3 jugs of 5 litres and 12 minute details of no weight: 1:2",
        ] {
            let found = TaskFeatures::of_text(text);
            assert_eq!(TaskFeatures { durations: false, ..found }, NONE, "{text}");
        }
        assert!(TaskFeatures::of_text("Prices are counted in cents.").numbers);
        assert_eq!(TaskFeatures::of_text("The robot is in g. The score is 45:99 or 12:60."), NONE);
        assert_eq!(TaskFeatures::of_text("two hours, half a day, and a wish without points"), NONE);
    }

    #[test]
    fn a_domain_has_what_it_declares() {
        let domain = |rest: &str| format!("(define (domain d) {rest})");
        assert_eq!(TaskFeatures::of_domain(&domain("(:functions (total-cost) - number)"), "9:15"), NONE);
        let found = TaskFeatures::of_domain(
            &domain(
                "(:requirements :durative-actions :timed-initial-literals) (:functions (fuel)) \
                 (:durative-action a :parameters () :duration (= ?duration 1) :condition (and) :effect (and))",
            ),
            "It is a wish of 2 points.",
        );
        assert_eq!(found, TaskFeatures { numbers: true, durations: true, timed: true, wishes: true });
    }
}
