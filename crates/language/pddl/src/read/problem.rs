//! Sections of a problem.

use super::TreeReader;
use super::domain::merge;
use super::numeric::is_number;
use super::typed::Entry;
use crate::ast::{Condition, InitElement, Length, Metric, MetricDirection, Problem};
use crate::sexpr::{Children, NodeId};

/// Sections a problem may have.
const PROBLEM_SECTIONS: &[&str] = &[
    ":domain",
    ":requirements",
    ":objects",
    ":init",
    ":goal",
    ":constraints",
    ":metric",
    ":situation",
    ":length",
];

/// Conditions of the sections read so far.
#[derive(Default)]
struct Conditions {
    goal: Vec<Condition>,
    constraints: Vec<Condition>,
}

impl<'a, 't> TreeReader<'a, 't> {
    pub(super) fn problem(&mut self, define: NodeId) -> Problem {
        let mut problem = Problem { span: self.tree.span(define), ..Problem::default() };
        let mut merged = Conditions::default();
        for id in self.tree.children(define).skip(1) {
            if !self.tree.is_list(id) {
                self.stray_in_definition(id);
            } else if self.tree.head_is(id, "problem") {
                problem.name = self.only_name(id, "problem");
            } else {
                self.problem_section(id, &mut problem, &mut merged);
            }
        }
        problem.goal = merge(merged.goal);
        problem.constraints = merge(merged.constraints);
        if problem.name.is_none() && !self.tree.children(define).any(|id| self.tree.head_is(id, "problem")) {
            let help = "begin with `(define (problem NAME)`";
            let place = self.head_span(define);
            self.error_help("pddl.missing-name", "the problem has no name".into(), place, help);
        }
        for keyword in [":domain", ":init", ":goal"] {
            self.require_section(&problem.sections, keyword, define, true);
        }
        problem
    }

    fn problem_section(&mut self, id: NodeId, problem: &mut Problem, merged: &mut Conditions) {
        let mut rest = self.tree.children(id);
        let Some(keyword) = rest.next().filter(|head| !self.tree.is_list(*head)) else {
            self.error("pddl.unknown-section", "a section begins with a keyword", self.head_span(id));
            return;
        };
        let key = self.tree.text(keyword).to_ascii_lowercase();
        if PROBLEM_SECTIONS.contains(&key.as_str()) {
            self.note_section(&mut problem.sections, id, keyword, false);
        }
        match key.as_str() {
            ":domain" => problem.domain_name = self.only_name(id, "domain"),
            ":requirements" => {
                let requirements = self.requirements(rest);
                problem.requirements.extend(requirements);
            }
            ":objects" => problem.objects.extend(self.typed_list(rest, Entry::Object)),
            ":init" => self.init(rest, &mut problem.init),
            ":goal" => {
                merged.goal.extend(self.condition_value(rest, "the goal", id));
            }
            ":constraints" => {
                merged.constraints.extend(self.condition_value(rest, "the section", id));
            }
            ":metric" => problem.metric = self.metric(id).or(problem.metric.take()),
            ":situation" => problem.situation = self.only_name(id, "situation"),
            ":length" => problem.length = Some(self.length(rest)),
            _ => self.unknown_section(keyword, PROBLEM_SECTIONS, "problem"),
        }
    }

    fn init(&mut self, rest: Children<'a, 't>, init: &mut Vec<InitElement>) {
        for id in rest {
            if self.tree.head_is(id, "and") {
                let message = "the initial state is a list; it needs no `and`";
                self.warning("pddl.and-in-init", message, self.head_span(id));
                for inner in self.tree.children(id).skip(1) {
                    init.extend(self.init_element(inner, true));
                }
            } else {
                init.extend(self.init_element(id, true));
            }
        }
    }

    /// Reads one entry. `(at TIME ...)` is allowed only if `timed` is true.
    fn init_element(&mut self, id: NodeId, timed: bool) -> Option<InitElement> {
        let span = self.tree.span(id);
        if !self.tree.is_list(id) {
            return self.bare_word(id, "an entry of the initial state").map(InitElement::Atom);
        }
        let mut rest = self.tree.children(id);
        let Some(head) = rest.next().filter(|head| !self.tree.is_list(*head)) else {
            let message = "an entry of the initial state begins with a predicate";
            self.error("pddl.bad-init", message, self.head_span(id));
            return None;
        };
        let operator = self.name(head);
        match operator.key() {
            "not" => {
                let [inner] = self.operands(rest, id, &operator)?;
                match self.init_element(inner, false)? {
                    InitElement::Atom(atom) => Some(InitElement::Not(atom, span)),
                    _ => {
                        self.error("pddl.bad-init", "in the initial state, `not` takes one atom", span);
                        None
                    }
                }
            }
            "=" => self.initial_value(rest, id),
            "at" if timed && self.is_timed(rest) => self.timed_literal(rest, id),
            "and" | "or" | "imply" | "exists" | "forall" | "when" | "oneof" | "<" | "<=" | ">" | ">=" => {
                let help = "list every fact that holds, with its objects";
                let message = format!("`{operator}` cannot stand in the initial state");
                self.error_help("pddl.bad-init", message, operator.span, help);
                None
            }
            _ => self.atom_list(id, head).map(InitElement::Atom),
        }
    }

    fn is_timed(&self, mut rest: Children<'a, 't>) -> bool {
        rest.next().and_then(|id| self.tree.atom(id)).is_some_and(is_number)
            && rest.next().is_some_and(|id| self.tree.is_list(id))
            && rest.next().is_none()
    }

    fn timed_literal(&mut self, mut rest: Children<'a, 't>, list: NodeId) -> Option<InitElement> {
        let (time, what) = (rest.next()?, rest.next()?);
        let time = self.number(time)?;
        let element = Box::new(self.init_element(what, false)?);
        Some(InitElement::Timed { time, element, span: self.tree.span(list) })
    }

    /// Reads `(= FLUENT NUMBER)`.
    fn initial_value(&mut self, rest: Children<'a, 't>, list: NodeId) -> Option<InitElement> {
        let span = self.tree.span(list);
        let operands: Vec<NodeId> = rest.collect();
        let [fluent, value] = operands.as_slice() else {
            let message = format!("`=` has 2 arguments, not {}", operands.len());
            self.error("pddl.operator-arity", message, span);
            return None;
        };
        if self.tree.atom(*value).is_some_and(|w| !is_number(w)) {
            self.object_fluent(span);
            return None;
        }
        let fluent = self.fluent(*fluent);
        let value = self.number(*value);
        Some(InitElement::Value(fluent?, value?, span))
    }

    /// Reads `(:metric minimize EXPRESSION)`.
    fn metric(&mut self, list: NodeId) -> Option<Metric> {
        let span = self.tree.span(list);
        let mut rest = self.tree.children(list);
        rest.next();
        let direction = match rest.next().and_then(|id| self.tree.atom(id)) {
            Some(word) if word.eq_ignore_ascii_case("minimize") => MetricDirection::Minimize,
            Some(word) if word.eq_ignore_ascii_case("maximize") => MetricDirection::Maximize,
            _ => {
                let help = "write `(:metric minimize (total-cost))`";
                let message = "the metric says neither `minimize` nor `maximize`".to_owned();
                self.error_help("pddl.bad-metric", message, span, help);
                return None;
            }
        };
        let Some(expr) = rest.next() else {
            self.error("pddl.missing-value", "the metric has no expression", span);
            return None;
        };
        self.expect_end(rest, "the metric");
        let expr = self.numeric(expr)?;
        Some(Metric { direction, expr, span })
    }

    /// `(:length (:serial N) (:parallel N))`
    fn length(&mut self, rest: Children<'a, 't>) -> Length {
        let mut length = Length::default();
        for id in rest {
            let value = self.tree.is_list(id).then(|| self.tree.children(id).nth(1)).flatten();
            let value = value.and_then(|v| self.tree.atom(v)).and_then(|w| w.parse::<u64>().ok());
            if value.is_some() && self.tree.head_is(id, ":serial") {
                length.serial = value;
            } else if value.is_some() && self.tree.head_is(id, ":parallel") {
                length.parallel = value;
            } else {
                let message = "a length is `(:serial N)` or `(:parallel N)`";
                self.error("pddl.bad-length", message, self.tree.span(id));
            }
        }
        length
    }
}
