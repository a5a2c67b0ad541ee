//! Conditions: preconditions, goals, rule bodies, duration constraints, trajectory constraints.

use super::TreeReader;
use super::numeric::is_number;
use crate::ast::{
    CompareOp, Comparison, Condition, NumericExpr, Preference, Quantified, Term, TimeSpecifier, Trajectory,
    TrajectoryOp,
};
use crate::name::Name;
use crate::number::Number;
use crate::sexpr::{Children, NodeId};

impl<'a, 't> TreeReader<'a, 't> {
    /// Everything to the end of `rest` as one condition: several need an `and`, which is reported and supplied.
    pub(super) fn condition_value(
        &mut self,
        rest: Children<'a, 't>,
        whose: &str,
        owner: NodeId,
    ) -> Option<Condition> {
        let mut parts: Vec<NodeId> = rest.collect();
        match parts.as_slice() {
            [] => {
                self.error("pddl.missing-value", format!("{whose} is empty"), self.head_or_atom(owner));
                None
            }
            [only] => self.condition(*only),
            [first, .., last] => {
                let span = self.tree.span(*first).to(self.tree.span(*last));
                self.missing_and(whose, span);
                Some(Condition::And(parts.drain(..).filter_map(|id| self.condition(id)).collect(), span))
            }
        }
    }

    pub(super) fn missing_and(&mut self, whose: &str, span: planforge_diagnostics::Span) {
        let message = format!("{whose} consists of several expressions without `and`");
        self.error_help("pddl.missing-and", message, span, "write `(and ...)` around them");
    }

    /// One condition; nothing when it cannot be read, which has been reported then.
    pub(super) fn condition(&mut self, id: NodeId) -> Option<Condition> {
        let span = self.tree.span(id);
        if !self.tree.is_list(id) {
            return self.bare_word(id, "a condition").map(Condition::Atom);
        }
        let mut rest = self.tree.children(id);
        let Some(head) = rest.next() else { return Some(Condition::And(Vec::new(), span)) };
        if self.tree.is_list(head) {
            let message = "a list stands where an operator or predicate belongs".to_owned();
            let help = "a list of conditions needs `and` in front: `(and ...)`";
            self.error_help("pddl.missing-and", message, self.head_span(id), help);
            return Some(Condition::And(self.conditions(self.tree.children(id)), span));
        }
        let operator = self.name(head);
        match operator.key() {
            "and" => Some(Condition::And(self.conditions(rest), span)),
            "or" => Some(Condition::Or(self.conditions(rest), span)),
            "not" => {
                let [inner] = self.operands(rest, id, &operator)?;
                Some(Condition::Not(Box::new(self.condition(inner)?), span))
            }
            "imply" | "implies" => {
                if operator.is("implies") {
                    let message = "PDDL spells this `imply`";
                    self.warning("pddl.misspelt-operator", message, operator.span);
                }
                let [a, b] = self.operands(rest, id, &operator)?;
                let (a, b) = (self.condition(a), self.condition(b));
                Some(Condition::Imply(Box::new(a?), Box::new(b?), span))
            }
            "exists" => self.read_quantified(rest, id, &operator).map(Condition::Exists),
            "forall" => self.read_quantified(rest, id, &operator).map(Condition::Forall),
            "when" => {
                let message = "`when` is for effects; a condition uses `imply`";
                self.error("pddl.bad-condition", message, operator.span);
                None
            }
            "=" => self.equation(rest, id, &operator),
            "<" => self.comparison(CompareOp::Less, rest, id, &operator),
            "<=" => self.comparison(CompareOp::LessEqual, rest, id, &operator),
            ">" => self.comparison(CompareOp::Greater, rest, id, &operator),
            ">=" => self.comparison(CompareOp::GreaterEqual, rest, id, &operator),
            "preference" => self.preference(rest, id),
            _ => match self.time_specifier(id) {
                Some((time, body)) => Some(Condition::Timed(time, Box::new(self.condition(body)?), span)),
                None => match trajectory_op(operator.key()).filter(|_| self.has_list_after_head(id)) {
                    Some(op) => self.trajectory(op, rest, id, &operator),
                    None => self.atom_list(id, head).map(Condition::Atom),
                },
            },
        }
    }

    fn conditions(&mut self, rest: Children<'a, 't>) -> Vec<Condition> {
        rest.filter_map(|id| self.condition(id)).collect()
    }

    /// Exactly `N` operands, or a report.
    pub(super) fn operands<const N: usize>(
        &mut self,
        rest: Children<'a, 't>,
        list: NodeId,
        operator: &Name,
    ) -> Option<[NodeId; N]> {
        let operands: Vec<NodeId> = rest.collect();
        let given = operands.len();
        let exact = <[NodeId; N]>::try_from(operands).ok();
        if exact.is_none() {
            let plural = if N == 1 { "" } else { "s" };
            let message = format!("`{operator}` has {N} argument{plural}, not {given}");
            self.error("pddl.operator-arity", message, self.tree.span(list));
        }
        exact
    }

    /// `(VARIABLES BODY)` after `forall` or `exists`.
    fn read_quantified(
        &mut self,
        rest: Children<'a, 't>,
        list: NodeId,
        operator: &Name,
    ) -> Option<Quantified<Condition>> {
        let [variables, body] = self.operands(rest, list, operator)?;
        let parameters = self.parameter_list(variables);
        let body = Box::new(self.condition(body)?);
        Some(Quantified { parameters, body, span: self.tree.span(list) })
    }

    /// `=` compares numbers where one side is a number, a list or `?duration`, and objects otherwise.
    fn equation(&mut self, rest: Children<'a, 't>, list: NodeId, operator: &Name) -> Option<Condition> {
        let [left, right] = self.operands(rest, list, operator)?;
        let numeric = |id: NodeId| match self.tree.atom(id) {
            None => true,
            Some(word) => {
                is_number(word) || word.eq_ignore_ascii_case("?duration") || word.eq_ignore_ascii_case("#t")
            }
        };
        if numeric(left) || numeric(right) {
            for (side, other) in [(left, right), (right, left)] {
                let is_term = self
                    .tree
                    .atom(side)
                    .is_some_and(|w| w.starts_with('?') && !w.eq_ignore_ascii_case("?duration"));
                if is_term && self.tree.is_list(other) {
                    self.object_fluent(self.tree.span(list));
                    return None;
                }
            }
            return self.comparison_of(CompareOp::Equal, left, right, list);
        }
        let (left, right): (Term, Term) = (self.term(left), self.term(right));
        Some(Condition::Equal(left, right, self.tree.span(list)))
    }

    fn comparison(
        &mut self,
        op: CompareOp,
        rest: Children<'a, 't>,
        list: NodeId,
        operator: &Name,
    ) -> Option<Condition> {
        let [left, right] = self.operands(rest, list, operator)?;
        self.comparison_of(op, left, right, list)
    }

    fn comparison_of(
        &mut self,
        op: CompareOp,
        left: NodeId,
        right: NodeId,
        list: NodeId,
    ) -> Option<Condition> {
        let (left, right): (Option<NumericExpr>, Option<NumericExpr>) =
            (self.numeric(left), self.numeric(right));
        Some(Condition::Compare(Comparison { op, left: left?, right: right?, span: self.tree.span(list) }))
    }

    /// `(preference NAME CONDITION)`; the name may be left out.
    fn preference(&mut self, rest: Children<'a, 't>, list: NodeId) -> Option<Condition> {
        let span = self.tree.span(list);
        let operands: Vec<NodeId> = rest.collect();
        let (name, body) = match operands.as_slice() {
            [name, body] if !self.tree.is_list(*name) => (Some(self.name(*name)), *body),
            [body] if self.tree.is_list(*body) => (None, *body),
            _ => {
                let help = "write `(preference NAME CONDITION)`";
                let message = "`preference` has a name and one condition".to_owned();
                self.error_help("pddl.operator-arity", message, span, help);
                return None;
            }
        };
        let condition = Box::new(self.condition(body)?);
        Some(Condition::Preference(Preference { name, condition, span }))
    }

    /// `(at start X)`, `(at end X)`, `(over all X)` with a list `X`. `at` and `over` are otherwise predicates.
    pub(super) fn time_specifier(&self, list: NodeId) -> Option<(TimeSpecifier, NodeId)> {
        let mut children = self.tree.children(list);
        let head = self.tree.atom(children.next()?)?;
        let when = self.tree.atom(children.next()?)?;
        let body = children.next().filter(|id| self.tree.is_list(*id))?;
        if children.next().is_some() {
            return None;
        }
        let is = |a: &str, b: &str| head.eq_ignore_ascii_case(a) && when.eq_ignore_ascii_case(b);
        let time = if is("at", "start") {
            TimeSpecifier::Start
        } else if is("at", "end") {
            TimeSpecifier::End
        } else if is("over", "all") {
            TimeSpecifier::OverAll
        } else {
            return None;
        };
        Some((time, body))
    }

    fn has_list_after_head(&self, list: NodeId) -> bool {
        self.tree.children(list).skip(1).any(|id| self.tree.is_list(id))
    }

    /// `(always X)`, `(within 5 X)`, `(sometime-after X Y)` and the like.
    fn trajectory(
        &mut self,
        op: TrajectoryOp,
        rest: Children<'a, 't>,
        list: NodeId,
        operator: &Name,
    ) -> Option<Condition> {
        let span = self.tree.span(list);
        let (times, conditions) = op.shape();
        let operands: Vec<NodeId> = rest.collect();
        if operands.len() != times + conditions {
            let message =
                format!("`{operator}` has {} arguments, not {}", times + conditions, operands.len());
            self.error("pddl.operator-arity", message, span);
            return None;
        }
        let (numbers, bodies) = operands.split_at(times);
        let times: Option<Vec<Number>> = numbers.iter().map(|id| self.number(*id)).collect();
        let read: Vec<Condition> = bodies.iter().filter_map(|id| self.condition(*id)).collect();
        (read.len() == conditions).then_some(Condition::Trajectory(Trajectory {
            op,
            times: times?,
            conditions: read,
            span,
        }))
    }
}

impl TrajectoryOp {
    /// Returns the number of times and the number of conditions.
    pub fn shape(self) -> (usize, usize) {
        match self {
            Self::Always | Self::Sometime | Self::AtMostOnce => (0, 1),
            Self::Within | Self::HoldAfter => (1, 1),
            Self::SometimeAfter | Self::SometimeBefore => (0, 2),
            Self::AlwaysWithin => (1, 2),
            Self::HoldDuring => (2, 1),
        }
    }

    /// The operator as PDDL spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Sometime => "sometime",
            Self::Within => "within",
            Self::AtMostOnce => "at-most-once",
            Self::SometimeAfter => "sometime-after",
            Self::SometimeBefore => "sometime-before",
            Self::AlwaysWithin => "always-within",
            Self::HoldDuring => "hold-during",
            Self::HoldAfter => "hold-after",
        }
    }
}

fn trajectory_op(key: &str) -> Option<TrajectoryOp> {
    Some(match key {
        "always" => TrajectoryOp::Always,
        "sometime" => TrajectoryOp::Sometime,
        "within" => TrajectoryOp::Within,
        "at-most-once" => TrajectoryOp::AtMostOnce,
        "sometime-after" => TrajectoryOp::SometimeAfter,
        "sometime-before" => TrajectoryOp::SometimeBefore,
        "always-within" => TrajectoryOp::AlwaysWithin,
        "hold-during" => TrajectoryOp::HoldDuring,
        "hold-after" => TrajectoryOp::HoldAfter,
        _ => return None,
    })
}
