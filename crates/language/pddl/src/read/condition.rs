//! Conditions (preconditions, goals, rule bodies, duration and trajectory constraints), effects of actions, numeric expressions, terms and
//! atoms.

use super::TreeReader;
use crate::ast::{
    ArithmeticOp, AssignOp, Assignment, Atom, CompareOp, Comparison, Condition, Effect, Fluent, NumericExpr,
    Preference, Quantified, Term, TimeSpecifier, Trajectory, TrajectoryOp,
};
use crate::name::Name;
use crate::number::Number;
use crate::sexpr::{Children, NodeId, OPERATORS};
use planforge_diagnostics::{Diagnostic, Edit};

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

    fn missing_and(&mut self, whose: &str, span: planforge_diagnostics::Span) {
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
    fn time_specifier(&self, list: NodeId) -> Option<(TimeSpecifier, NodeId)> {
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

/// Returns true if a word has the form of a number.
pub(super) fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    digits.strip_prefix('.').unwrap_or(digits).starts_with(|c: char| c.is_ascii_digit())
        && word.parse::<f64>().is_ok()
}

impl<'a, 't> TreeReader<'a, 't> {
    /// The value of a number; one too large for a 64-bit float is reported.
    pub(super) fn number(&mut self, id: NodeId) -> Option<Number> {
        let word = self.tree.atom(id).filter(|w| is_number(w));
        let value = word.and_then(Number::parse);
        match value {
            Some(value) if value.to_f64().is_finite() => return Some(value),
            Some(_) => self.error("pddl.bad-number", "this number is too large", self.tree.span(id)),
            None => self.error("pddl.bad-number", "a number is expected here", self.tree.span(id)),
        }
        None
    }

    pub(super) fn term(&mut self, id: NodeId) -> Term {
        let name = self.name(id);
        if name.as_str().starts_with('?') { Term::Variable(name) } else { Term::Constant(name) }
    }

    /// The arguments of an atom: names and variables. A list among them is reported and left out, and so is a type.
    pub(super) fn terms(&mut self, mut rest: Children<'a, 't>, of: &str) -> Vec<Term> {
        let mut args = Vec::with_capacity(4);
        while let Some(id) = rest.next() {
            if self.tree.atom(id) == Some("-") && !args.is_empty() {
                self.typed_argument(id, rest.next(), of);
            } else if self.tree.is_list(id) {
                let help = format!(
                    "arguments are names; is a closing parenthesis missing before this in `({of} ...`?"
                );
                let message = format!("a list among the arguments of `{of}`");
                self.error_help("pddl.unexpected-list", message, self.head_span(id), help);
            } else {
                args.push(self.term(id));
            }
        }
        args
    }

    /// Reports `- type` after an argument, as in a declaration.
    fn typed_argument(&mut self, dash: NodeId, ty: Option<NodeId>, of: &str) {
        let span = ty.map_or(self.tree.span(dash), |ty| self.tree.span(dash).to(self.tree.span(ty)));
        let message = format!("a type among the arguments of `{of}`");
        let edit = Edit { source: self.sink.source, span, replacement: String::new() };
        let diagnostic = Diagnostic::error("pddl.typed-argument", message)
            .at(self.sink.source, span, "")
            .help("types stand where variables are declared, in `:parameters` and `:predicates`; an atom only names them")
            .fix("remove the type", vec![edit]);
        self.sink.push(diagnostic);
    }

    /// `(predicate term ...)`, the list and its head already known to be one.
    pub(super) fn atom_list(&mut self, list: NodeId, head: NodeId) -> Option<Atom> {
        let predicate = self.name(head);
        // `(define` starts a definition at any depth, so that a missing parenthesis does not include the next one.
        if predicate.as_str().starts_with(['?', ':']) || predicate.is("define") {
            let message = format!("`{predicate}` cannot be a predicate");
            self.error("pddl.bad-predicate", message, predicate.span);
            return None;
        }
        let mut rest = self.tree.children(list);
        rest.next();
        let args = self.terms(rest, predicate.as_str());
        Some(Atom { predicate, args, span: self.tree.span(list) })
    }

    /// A word where a list is expected: reported, and read as a predicate without arguments if it can be one.
    pub(super) fn bare_word(&mut self, id: NodeId, what: &str) -> Option<Atom> {
        let span = self.tree.span(id);
        let predicate = self.name(id);
        let word = predicate.as_str();
        let help = format!("write `({word})` if it is a predicate without arguments");
        self.error_help("pddl.expected-list", format!("`{word}` is not {what}"), span, help);
        // An operator without its list is not a predicate; printed as one it would be read as an operator again.
        let operator = predicate.is("define") || OPERATORS.contains(&predicate.key());
        let can_be = word.starts_with(|c: char| c.is_alphabetic()) && !operator;
        can_be.then_some(Atom { predicate, args: Vec::new(), span })
    }

    /// Reads a numeric expression.
    pub(super) fn numeric(&mut self, id: NodeId) -> Option<NumericExpr> {
        let span = self.tree.span(id);
        if let Some(word) = self.tree.atom(id) {
            if is_number(word) {
                return self.number(id).map(|value| NumericExpr::Number(value, span));
            }
            return match word.to_ascii_lowercase().as_str() {
                "?duration" => Some(NumericExpr::Duration(span)),
                "#t" => Some(NumericExpr::ElapsedTime(span)),
                "total-time" => Some(NumericExpr::TotalTime(span)),
                lower if lower.starts_with(['?', ':']) => {
                    self.error("pddl.bad-number", format!("`{word}` is not a number"), span);
                    None
                }
                _ => {
                    let function = self.name(id);
                    Some(NumericExpr::Fluent(Fluent { function, args: Vec::new(), span }))
                }
            };
        }
        let mut rest = self.tree.children(id);
        let Some(head) = rest.next() else {
            self.error("pddl.missing-value", "a numeric expression is expected here", span);
            return None;
        };
        let operator = match self.tree.atom(head) {
            Some("+") => ArithmeticOp::Add,
            Some("-") => ArithmeticOp::Subtract,
            Some("*") => ArithmeticOp::Multiply,
            Some("/") => ArithmeticOp::Divide,
            _ => return self.numeric_term(id, head),
        };
        let args: Vec<_> = rest.filter_map(|arg| self.numeric(arg)).collect();
        let given = rest.count();
        let fits = match operator {
            ArithmeticOp::Subtract => (1..=2).contains(&given),
            ArithmeticOp::Divide => given == 2,
            ArithmeticOp::Add | ArithmeticOp::Multiply => given >= 2,
        };
        if !fits {
            let message = format!("`{}` cannot have {given} arguments", self.tree.text(head));
            self.error("pddl.operator-arity", message, span);
        }
        // An argument that could not be read must not silently change the value.
        (fits && args.len() == given).then_some(NumericExpr::Arithmetic(operator, args, span))
    }

    /// Reads a list that is not arithmetic: a fluent, `(total-time)`, `(is-violated p)` or a number in
    /// parentheses.
    fn numeric_term(&mut self, list: NodeId, head: NodeId) -> Option<NumericExpr> {
        let span = self.tree.span(list);
        let mut rest = self.tree.children(list);
        rest.next();
        let Some(word) = self.tree.atom(head) else {
            self.error("pddl.unexpected-list", "a list stands where a function's name belongs", span);
            return None;
        };
        if is_number(word) && rest.peek().is_none() {
            self.warning("pddl.parenthesised-number", "a number needs no parentheses", span);
            return self.number(head).map(|value| NumericExpr::Number(value, span));
        }
        let function = self.name(head);
        match function.key() {
            "total-time" if rest.peek().is_none() => Some(NumericExpr::TotalTime(span)),
            "is-violated" => {
                let Some(name) = rest.next().filter(|id| !self.tree.is_list(*id)) else {
                    self.error("pddl.missing-name", "`is-violated` names no preference", span);
                    return None;
                };
                let name = self.name(name);
                self.expect_end(rest, "`is-violated`");
                Some(NumericExpr::IsViolated(name, span))
            }
            key if key.starts_with(['?', ':']) => {
                self.error("pddl.bad-predicate", format!("`{function}` cannot be a function"), function.span);
                None
            }
            _ => {
                let args = self.terms(rest, function.as_str());
                Some(NumericExpr::Fluent(Fluent { function, args, span }))
            }
        }
    }

    /// The numeric fluent that an effect or an initial value is about.
    pub(super) fn fluent(&mut self, id: NodeId) -> Option<Fluent> {
        match self.numeric(id)? {
            NumericExpr::Fluent(fluent) => Some(fluent),
            other => {
                self.error("pddl.expected-fluent", "a numeric function is expected here", other.span());
                None
            }
        }
    }
}
