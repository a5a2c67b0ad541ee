//! Effects of actions, instantaneous and durative.

use super::TreeReader;
use crate::ast::{AssignOp, Assignment, Effect, Quantified, TimeSpecifier};
use crate::name::Name;
use crate::sexpr::{Children, NodeId};

impl<'a, 't> TreeReader<'a, 't> {
    /// Everything to the end of `rest` as one effect: several need an `and`, which is reported and supplied.
    pub(super) fn effect_value(&mut self, rest: Children<'a, 't>, owner: NodeId) -> Option<Effect> {
        let parts: Vec<NodeId> = rest.collect();
        match parts.as_slice() {
            [] => {
                self.error("pddl.missing-value", "the effect is empty", self.head_or_atom(owner));
                None
            }
            [only] => self.effect(*only),
            [first, .., last] => {
                let span = self.tree.span(*first).to(self.tree.span(*last));
                self.missing_and("the effect", span);
                Some(Effect::And(parts.iter().filter_map(|id| self.effect(*id)).collect(), span))
            }
        }
    }

    /// One effect; nothing when it cannot be read, which has been reported then.
    pub(super) fn effect(&mut self, id: NodeId) -> Option<Effect> {
        let span = self.tree.span(id);
        if !self.tree.is_list(id) {
            return self.bare_word(id, "an effect").map(Effect::Add);
        }
        let mut rest = self.tree.children(id);
        let Some(head) = rest.next() else { return Some(Effect::And(Vec::new(), span)) };
        if self.tree.is_list(head) {
            let message = "a list stands where an operator or predicate belongs".to_owned();
            let help = "a list of effects needs `and` in front: `(and ...)`";
            self.error_help("pddl.missing-and", message, self.head_span(id), help);
            let all = self.tree.children(id);
            return Some(Effect::And(all.filter_map(|id| self.effect(id)).collect(), span));
        }
        let operator = self.name(head);
        match operator.key() {
            "and" => Some(Effect::And(rest.filter_map(|id| self.effect(id)).collect(), span)),
            "not" => self.delete(rest, id, &operator),
            "forall" => {
                let [variables, body] = self.operands(rest, id, &operator)?;
                let parameters = self.parameter_list(variables);
                Some(Effect::Forall(Quantified { parameters, body: Box::new(self.effect(body)?), span }))
            }
            "when" => {
                let [condition, effect] = self.operands(rest, id, &operator)?;
                let (condition, effect) = (self.condition(condition), self.effect(effect));
                Some(Effect::When(Box::new(condition?), Box::new(effect?), span))
            }
            "assign" => self.assignment(AssignOp::Assign, rest, id, &operator),
            "increase" => self.assignment(AssignOp::Increase, rest, id, &operator),
            "decrease" => self.assignment(AssignOp::Decrease, rest, id, &operator),
            "scale-up" => self.assignment(AssignOp::ScaleUp, rest, id, &operator),
            "scale-down" => self.assignment(AssignOp::ScaleDown, rest, id, &operator),
            "or" | "exists" | "imply" | "=" | "<" | "<=" | ">" | ">=" | "preference" | "oneof" => {
                self.error("pddl.bad-effect", format!("`{operator}` cannot be an effect"), operator.span);
                None
            }
            _ => match self.time_specifier(id) {
                Some((TimeSpecifier::OverAll, _)) => {
                    let message = "`over all` is for conditions; an effect is `at start` or `at end`";
                    self.error("pddl.bad-effect", message, span);
                    None
                }
                Some((time, body)) => Some(Effect::Timed(time, Box::new(self.effect(body)?), span)),
                None => self.atom_list(id, head).map(Effect::Add),
            },
        }
    }

    /// Reads `(not ATOM)`.
    fn delete(&mut self, rest: Children<'a, 't>, list: NodeId, operator: &Name) -> Option<Effect> {
        let span = self.tree.span(list);
        let [inner] = self.operands(rest, list, operator)?;
        let inner_span = self.tree.span(inner);
        match self.effect(inner)? {
            Effect::Add(atom) => Some(Effect::Delete(atom, span)),
            // `(not (at start (p)))`: the time belongs outside.
            Effect::Timed(time, effect, _) => match *effect {
                Effect::Add(atom) => {
                    let message = "the time belongs outside: `(at ... (not ...))`";
                    self.warning("pddl.time-inside-not", message, span);
                    Some(Effect::Timed(time, Box::new(Effect::Delete(atom, span)), span))
                }
                _ => self.not_of_something_else(inner_span),
            },
            _ => self.not_of_something_else(inner_span),
        }
    }

    fn not_of_something_else(&mut self, span: planforge_diagnostics::Span) -> Option<Effect> {
        let help = "write one `(not (...))` for each atom that becomes false";
        self.error_help("pddl.bad-effect", "in an effect, `not` takes one atom".into(), span, help);
        None
    }

    /// Reads a numeric effect such as `(increase FLUENT VALUE)`.
    fn assignment(
        &mut self,
        op: AssignOp,
        rest: Children<'a, 't>,
        list: NodeId,
        operator: &Name,
    ) -> Option<Effect> {
        let [fluent, value] = self.operands(rest, list, operator)?;
        if op == AssignOp::Assign && self.tree.atom(value).is_some_and(is_object_variable) {
            self.object_fluent(self.tree.span(list));
            return None;
        }
        let (fluent, value) = (self.fluent(fluent), self.numeric(value));
        Some(Effect::Assign(Assignment { op, fluent: fluent?, value: value?, span: self.tree.span(list) }))
    }
}

fn is_object_variable(word: &str) -> bool {
    word.starts_with('?') && !word.eq_ignore_ascii_case("?duration")
}
