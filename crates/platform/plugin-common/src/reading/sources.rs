//! The sentences that the parts of a PDDL text name in comments.

use super::comments::{CommentedText, read_domain, read_problem};
use super::text::sentences;
use planforge_diagnostics::Span;
use planforge_pddl::ast::{Condition, Effect, Section, TypedName};
use planforge_pddl::{Name, print_condition, print_effect, print_init, print_typed_list};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Kind of a part of a domain or problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// An object or constant.
    Object,
    /// A type.
    Type,
    /// A predicate's declaration.
    Predicate,
    /// An action as such.
    Action,
    /// A condition of an action, or its duration.
    Precondition,
    /// An effect of an action.
    Effect,
    /// A fact of the initial state.
    Fact,
    /// A condition of the goal.
    Goal,
}

/// A part of a domain or problem with the sentences that it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Kind of the part.
    pub part: Part,
    /// The part in PDDL: `(at r a)`, `b1 - box`, or with its action `take: (free ?g)`. An action is its name.
    pub text: String,
    /// Numbers of the sentences, in order.
    pub sentences: Vec<usize>,
    /// True if the comment states an assumption.
    pub assumed: bool,
}

/// The parts of a domain and a problem in the order of their sections. A part's comment is that of its last line, else of its first, else
/// the one above it, else that of the line with the name of its action or the keyword of its section.
pub fn sources(domain: &str, problem: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let tree = read_domain(domain);
    let mut of_domain =
        Reader { text: CommentedText::new(domain), sections: &tree.sections, found: &mut found };
    of_domain.typed(Part::Type, ":types", &tree.types);
    of_domain.typed(Part::Object, ":constants", &tree.constants);
    for predicate in &tree.predicates {
        let parameters = print_typed_list(&predicate.parameters);
        let text = format!("({} {parameters}", predicate.name).trim_end().to_owned() + ")";
        of_domain.push(Part::Predicate, text, predicate.span, of_domain.head(":predicates"));
    }
    for action in &tree.actions {
        of_domain.action(&action.name, &[&action.precondition], action.effect.as_ref());
    }
    for action in &tree.durative_actions {
        of_domain.action(&action.name, &[&action.duration, &action.condition], action.effect.as_ref());
    }
    let tree = read_problem(problem);
    let mut of_problem =
        Reader { text: CommentedText::new(problem), sections: &tree.sections, found: &mut found };
    of_problem.typed(Part::Object, ":objects", &tree.objects);
    for fact in &tree.init {
        of_problem.push(Part::Fact, print_init(fact), fact.span(), of_problem.head(":init"));
    }
    for condition in tree.goal.iter().flat_map(Condition::conjuncts) {
        of_problem.push(Part::Goal, print_condition(condition), condition.span(), of_problem.head(":goal"));
    }
    found
}

struct Reader<'r, 't> {
    text: CommentedText<'t>,
    sections: &'r [Section],
    found: &'r mut Vec<Source>,
}

impl Reader<'_, '_> {
    /// The keyword of a section.
    fn head(&self, keyword: &str) -> Option<Span> {
        self.sections.iter().find(|section| section.keyword.is(keyword)).map(|section| section.keyword.span)
    }

    fn typed(&mut self, part: Part, keyword: &str, list: &[TypedName]) {
        let head = self.head(keyword);
        for entry in list {
            let text = print_typed_list(std::slice::from_ref(entry));
            self.push(part, text, entry.name.span, head);
        }
    }

    fn action(&mut self, name: &Name, conditions: &[&Option<Condition>], effect: Option<&Effect>) {
        let head = self.text.of(name.span);
        self.push_with(Part::Action, name.to_string(), head);
        for condition in conditions.iter().copied().flatten().flat_map(Condition::conjuncts) {
            let text = format!("{name}: {}", print_condition(condition));
            self.push(Part::Precondition, text, condition.span(), Some(name.span));
        }
        for effect in effect.into_iter().flat_map(Effect::conjuncts) {
            let text = format!("{name}: {}", print_effect(effect));
            self.push(Part::Effect, text, effect.span(), Some(name.span));
        }
    }

    fn push(&mut self, part: Part, text: String, span: Span, head: Option<Span>) {
        let comment = self.text.of(span).or_else(|| head.and_then(|head| self.text.at(head.start)));
        self.push_with(part, text, comment);
    }

    fn push_with(&mut self, part: Part, text: String, comment: Option<&str>) {
        let (sentences, assumed) = comment.map(read_comment).unwrap_or_default();
        self.found.push(Source { part, text, sentences, assumed });
    }
}

/// Most sentences that a range such as `[2-40]` names.
const LONGEST_RANGE: usize = 1000;

/// The numbers in square brackets, and whether the comment has the word `assumed`.
fn read_comment(comment: &str) -> (Vec<usize>, bool) {
    let mut numbers = BTreeSet::new();
    for part in comment.split('[').skip(1).filter_map(|part| part.split_once(']')).map(|(inner, _)| inner) {
        for piece in part.split([',', ' ', ';']).filter(|piece| !piece.is_empty()) {
            let (from, to) = piece.split_once(['-', '\u{2013}']).unwrap_or((piece, piece));
            if let (Ok(from), Ok(to)) = (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
                numbers.extend((from..=to).take(LONGEST_RANGE));
            }
        }
    }
    let is_assumed =
        |word: &str| word.eq_ignore_ascii_case("assumed") || word.eq_ignore_ascii_case("assumption");
    let assumed = comment.split(|c: char| !c.is_alphanumeric()).any(is_assumed);
    (numbers.into_iter().collect(), assumed)
}

/// The numbers of the sentences of a text that no part names.
pub fn unused(text: &str, sources: &[Source]) -> Vec<usize> {
    let used: BTreeSet<usize> = sources.iter().flat_map(|source| &source.sentences).copied().collect();
    sentences(text).iter().map(|sentence| sentence.number).filter(|number| !used.contains(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str = "(define (domain d) ; [9]
  (:types room box) ; [1]
  (:predicates
    (at ?b - box ?r - room) ; [2]
    (open)
  )
  (:action take ; [3]
    :parameters (?b - box ?r - room)
    :precondition (and
      (at ?b ?r) ; [3][5]
      (not (open))
      (or (at ?b ?r) ; [7]
          (open)))
    ; assumed, as nothing says it
    :effect (not (at ?b ?r))))
";
    const PROBLEM: &str = "(define (problem p) (:domain d)
  (:objects ; [1]
    a - room ; [1, 2]
    b - box)
  (:init (at b a) ; [4-6]
  )
  (:goal (and ; [8]
    (open) ; Assumed
    (not (at b a)))))";

    #[test]
    fn parts_have_the_sentences_of_their_comments() {
        let shown: Vec<String> = sources(DOMAIN, PROBLEM)
            .iter()
            .map(|s| {
                format!(
                    "{:?} {} {:?}{}",
                    s.part,
                    s.text,
                    s.sentences,
                    if s.assumed { " assumed" } else { "" }
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Type room [1]",
                "Type box [1]",
                "Predicate (at ?b - box ?r - room) [2]",
                "Predicate (open) []",
                "Action take [3]",
                "Precondition take: (at ?b ?r) [3, 5]",
                "Precondition take: (not (open)) [3]",
                "Precondition take: (or (at ?b ?r) (open)) [7]",
                "Effect take: (not (at ?b ?r)) [3]",
                "Object a - room [1, 2]",
                "Object b - box [1]",
                "Fact (at b a) [4, 5, 6]",
                "Goal (open) [] assumed",
                "Goal (not (at b a)) [8]",
            ]
        );
    }

    #[test]
    fn a_durative_action_has_the_sentences_of_its_duration_conditions_and_effects() {
        let domain = "(define (domain d)
  (:durative-action shape ; [2]
    :parameters (?b - bowl)
    :duration (= ?duration 10) ; [3]
    :condition (and
      (at start (raw ?b)) ; [4]
    )
    :effect (and
      (at end (shaped ?b)) ; [5]
      (at start (not (raw ?b))) ; assumed
    )))";
        let shown: Vec<String> = sources(domain, "")
            .iter()
            .map(|s| format!("{:?} {} {:?} {}", s.part, s.text, s.sentences, s.assumed))
            .collect();
        assert_eq!(
            shown,
            [
                "Action shape [2] false",
                "Precondition shape: (= ?duration 10) [3] false",
                "Precondition shape: (at start (raw ?b)) [4] false",
                "Effect shape: (at end (shaped ?b)) [5] false",
                "Effect shape: (at start (not (raw ?b))) [] true",
            ]
        );
    }

    #[test]
    fn sentences_without_a_part_are_unused() {
        let text = "One. Two. Three. Four. Five. Six. Seven. Eight. Nine. Ten.";
        assert_eq!(unused(text, &sources(DOMAIN, PROBLEM)), [9, 10]);
        assert_eq!(unused("One. Two.", &[]), [1, 2]);
        assert!(sources("(define (domain d", "nothing").is_empty());
    }

    #[test]
    fn a_comment_above_an_element_belongs_to_it() {
        let problem =
            "(define (problem p) (:domain d)\n (:init\n  ; assumed\n  (open)\n  (at b a))\n (:goal (open)))";
        let facts: Vec<bool> =
            sources("", problem).iter().filter(|s| s.part == Part::Fact).map(|s| s.assumed).collect();
        assert_eq!(facts, [true, false]);
    }
}
