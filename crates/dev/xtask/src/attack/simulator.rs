//! A simulator that shares nothing with `planforge-planning` but the parsed tree: every action is instantiated with
//! every object, conditions are evaluated recursively, and numbers are exact fractions.

use super::fraction::{Fraction, TooLarge};
use super::strata::strata;
use planforge_pddl::ast::{
    Action, ArithmeticOp, AssignOp, CompareOp, Condition, Derived, Domain, Effect, InitElement, NumericExpr,
    Problem, Term, TypedName,
};
use std::collections::{BTreeMap, BTreeSet};

/// Atoms that hold and values of fluents; both are keyed by text such as `p a b`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct State {
    pub(crate) facts: BTreeSet<String>,
    pub(crate) numbers: BTreeMap<String, Fraction>,
}

/// Objects by variable; the last entry of a variable counts.
type Binding<'t> = Vec<(&'t str, &'t str)>;

pub(crate) struct GroundAction<'t> {
    /// The step as it is written in plans, such as `(move a b)`.
    pub(crate) name: String,
    action: &'t Action,
    binding: Binding<'t>,
}

/// Departures of VAL from exact arithmetic, to tell whether one of them explains a verdict of VAL.
#[derive(Clone, Copy, Default)]
pub(crate) struct Departures {
    /// Comparisons hold within this distance of their bound.
    pub(crate) tolerance: Option<Fraction>,
    /// Increases, decreases and scalings of an undefined fluent start from 0.
    pub(crate) undefined_is_zero: bool,
    /// A value that is divided or scaled down by 0 becomes infinite.
    pub(crate) zero_divides: bool,
}

/// Stands for an infinite value: beyond all numbers of the tasks.
const INFINITE: i64 = 1_000_000_000_000;

pub(crate) struct Simulator<'t> {
    domain: &'t Domain,
    problem: &'t Problem,
    departures: Departures,
    /// Objects with all types that they belong to.
    objects: Vec<(&'t str, BTreeSet<&'t str>)>,
    strata: Vec<Vec<&'t Derived>>,
    pub(crate) actions: Vec<GroundAction<'t>>,
}

/// Changes made by one step.
#[derive(Default)]
struct Changes {
    added: BTreeSet<String>,
    deleted: BTreeSet<String>,
    /// New values, each with true if it results from increases and decreases only.
    numbers: BTreeMap<String, (Fraction, bool)>,
    /// True if two effects contradict each other, or an effect has no value.
    impossible: bool,
}

/// The cost counter counts from 0 if the problem does not set it.
const COST: &str = "total-cost";

impl<'t> Simulator<'t> {
    pub(crate) fn new(domain: &'t Domain, problem: &'t Problem) -> Self {
        Self::departing(domain, problem, Departures::default())
    }

    pub(crate) fn departing(domain: &'t Domain, problem: &'t Problem, departures: Departures) -> Self {
        let objects = domain.constants.iter().chain(&problem.objects);
        let objects = objects.map(|object| (object.name.key(), types_of(domain, object))).collect();
        let strata = strata(&domain.derived);
        let mut simulator = Self { domain, problem, departures, objects, strata, actions: Vec::new() };
        for action in &domain.actions {
            for binding in simulator.bindings(&action.parameters, &Vec::new()) {
                let mut name = format!("({}", action.name.key());
                for (_, object) in &binding {
                    name.push(' ');
                    name.push_str(object);
                }
                name.push(')');
                simulator.actions.push(GroundAction { name, action, binding });
            }
        }
        simulator
    }

    pub(crate) fn initial(&self) -> Result<State, TooLarge> {
        let mut state = State::default();
        for element in &self.problem.init {
            match element {
                InitElement::Atom(atom) => {
                    state.facts.insert(ground(atom.predicate.key(), &atom.args, &Vec::new()));
                }
                InitElement::Value(fluent, value, _) => {
                    if let Some(value) = fraction(*value)? {
                        state.numbers.insert(ground(fluent.function.key(), &fluent.args, &Vec::new()), value);
                    }
                }
                InitElement::Not(..) | InitElement::Timed { .. } => {}
            }
        }
        self.derive(&mut state)?;
        Ok(state)
    }

    pub(crate) fn is_goal(&self, state: &State) -> Result<bool, TooLarge> {
        match &self.problem.goal {
            Some(goal) => self.holds(goal, true, &Vec::new(), state),
            None => Ok(true),
        }
    }

    /// The value of the metric; `None` if it is undefined or there is no metric.
    pub(crate) fn metric(&self, state: &State) -> Result<Option<Fraction>, TooLarge> {
        let Some(metric) = &self.problem.metric else { return Ok(None) };
        let mut state = state.clone();
        state.numbers.entry(COST.to_owned()).or_insert(Fraction::ZERO);
        self.value(&metric.expr, &Vec::new(), &state)
    }

    /// Cost of a plan of `steps` steps that ends in this state: the metric, or the number of steps without one.
    pub(crate) fn plan_cost(&self, state: &State, steps: usize) -> Result<Option<Fraction>, TooLarge> {
        match &self.problem.metric {
            Some(_) => self.metric(state),
            None => Fraction::new(steps as i128, 1),
        }
    }

    /// The action of a step; `None` if there is no such action or its arguments do not fit.
    pub(crate) fn action(&self, step: &str) -> Option<&GroundAction<'t>> {
        let words: Vec<&str> = step.trim_matches(['(', ')', ' ']).split_whitespace().collect();
        let name = format!("({})", words.join(" ").to_lowercase());
        self.actions.iter().find(|action| action.name == name)
    }

    /// The last state of a plan; `None` if a step is not applicable.
    pub(crate) fn execute(&self, steps: &[String]) -> Result<Option<State>, TooLarge> {
        let mut state = self.initial()?;
        for step in steps {
            let Some(action) = self.action(step) else { return Ok(None) };
            let Some(next) = self.successor(&state, action)? else { return Ok(None) };
            state = next;
        }
        Ok(Some(state))
    }

    /// The state after an action; `None` if it is not applicable.
    pub(crate) fn successor(
        &self,
        state: &State,
        ground_action: &GroundAction<'t>,
    ) -> Result<Option<State>, TooLarge> {
        let GroundAction { action, binding, .. } = ground_action;
        if let Some(precondition) = &action.precondition
            && !self.holds(precondition, true, binding, state)?
        {
            return Ok(None);
        }
        let mut changes = Changes::default();
        if let Some(effect) = &action.effect {
            self.collect(effect, binding, state, &mut changes)?;
        }
        if changes.impossible {
            return Ok(None);
        }
        let mut next = state.clone();
        next.facts.retain(|fact| !changes.deleted.contains(fact));
        next.facts.extend(changes.added);
        next.numbers.extend(changes.numbers.into_iter().map(|(fluent, (value, _))| (fluent, value)));
        self.derive(&mut next)?;
        Ok(Some(next))
    }

    fn collect(
        &self,
        effect: &'t Effect,
        binding: &Binding<'t>,
        state: &State,
        changes: &mut Changes,
    ) -> Result<(), TooLarge> {
        match effect {
            Effect::And(parts, _) => {
                parts.iter().try_for_each(|part| self.collect(part, binding, state, changes))?;
            }
            Effect::Forall(quantified) => {
                for binding in self.bindings(&quantified.parameters, binding) {
                    self.collect(&quantified.body, &binding, state, changes)?;
                }
            }
            Effect::When(condition, effect, _) => {
                if self.holds(condition, true, binding, state)? {
                    self.collect(effect, binding, state, changes)?;
                }
            }
            Effect::Add(atom) => {
                changes.added.insert(ground(atom.predicate.key(), &atom.args, binding));
            }
            Effect::Delete(atom, _) => {
                changes.deleted.insert(ground(atom.predicate.key(), &atom.args, binding));
            }
            Effect::Assign(assignment) => {
                let target = ground(assignment.fluent.function.key(), &assignment.fluent.args, binding);
                let amount = self.value(&assignment.value, binding, state)?;
                let additive = matches!(assignment.op, AssignOp::Increase | AssignOp::Decrease);
                let earlier = changes.numbers.get(&target).copied();
                changes.impossible |= earlier.is_some_and(|(_, earlier)| !(earlier && additive));
                let mut old = earlier.map(|e| e.0).or_else(|| state.numbers.get(&target).copied());
                if old.is_none() && (additive && target == COST || self.departures.undefined_is_zero) {
                    old = Some(Fraction::ZERO);
                }
                let divides_by_zero = assignment.op == AssignOp::ScaleDown && amount == Some(Fraction::ZERO);
                let new = match old {
                    Some(old) if divides_by_zero && self.departures.zero_divides => infinite(old)?,
                    old => assign(assignment.op, old, amount)?,
                };
                match new {
                    Some(new) => {
                        changes.numbers.insert(target, (new, additive));
                    }
                    None => changes.impossible = true,
                }
            }
            Effect::Timed(_, effect, _) => self.collect(effect, binding, state, changes)?,
        }
        Ok(())
    }

    /// Replaces the derived atoms: the rules of each stratum are applied until nothing changes.
    fn derive(&self, state: &mut State) -> Result<(), TooLarge> {
        if self.strata.is_empty() {
            return Ok(());
        }
        let heads: BTreeSet<&str> = self.domain.derived.iter().map(|rule| rule.predicate.key()).collect();
        state.facts.retain(|fact| !heads.contains(fact.split(' ').next().unwrap_or_default()));
        for rules in &self.strata {
            let mut before = usize::MAX;
            while before != state.facts.len() {
                before = state.facts.len();
                for rule in rules {
                    for binding in self.bindings(&rule.parameters, &Vec::new()) {
                        if let Some(condition) = &rule.condition
                            && self.holds(condition, true, &binding, state)?
                        {
                            let objects: Vec<&str> = binding.iter().map(|b| b.1).collect();
                            state.facts.insert(text(rule.predicate.key(), objects));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// All bindings of some variables, each after the entries of `outer`.
    fn bindings(&self, variables: &'t [TypedName], outer: &Binding<'t>) -> Vec<Binding<'t>> {
        let mut all = vec![outer.clone()];
        for variable in variables {
            let fits = |types: &BTreeSet<&str>| match &variable.ty {
                Some(ty) => ty.alternatives.iter().any(|name| types.contains(name.key())),
                None => true,
            };
            let mut longer = Vec::new();
            for binding in all {
                for (object, _) in self.objects.iter().filter(|(_, types)| fits(types)) {
                    let mut next = binding.clone();
                    next.push((variable.name.key(), object));
                    longer.push(next);
                }
            }
            all = longer;
        }
        all
    }

    /// Returns true if a condition (if `positive` is false: its negation) holds. A comparison with an undefined value is
    /// false, and so is its negation.
    fn holds(
        &self,
        condition: &'t Condition,
        positive: bool,
        binding: &Binding<'t>,
        state: &State,
    ) -> Result<bool, TooLarge> {
        // A negated conjunction is a disjunction, and so on; `every` is true for conjunctions.
        let combine = |results: &mut dyn Iterator<Item = Result<bool, TooLarge>>, every: bool| {
            for result in results {
                if result? != every {
                    return Ok(!every);
                }
            }
            Ok(every)
        };
        match condition {
            Condition::And(parts, _) => {
                combine(&mut parts.iter().map(|p| self.holds(p, positive, binding, state)), positive)
            }
            Condition::Or(parts, _) => {
                combine(&mut parts.iter().map(|p| self.holds(p, positive, binding, state)), !positive)
            }
            Condition::Not(inner, _) => self.holds(inner, !positive, binding, state),
            Condition::Imply(premise, conclusion, _) => {
                let parts = [(premise, !positive), (conclusion, positive)];
                combine(
                    &mut parts.into_iter().map(|(p, sign)| self.holds(p, sign, binding, state)),
                    !positive,
                )
            }
            Condition::Exists(q) | Condition::Forall(q) => {
                let every = matches!(condition, Condition::Forall(_)) == positive;
                let bindings = self.bindings(&q.parameters, binding);
                combine(&mut bindings.iter().map(|b| self.holds(&q.body, positive, b, state)), every)
            }
            Condition::Atom(atom) => {
                Ok(state.facts.contains(&ground(atom.predicate.key(), &atom.args, binding)) == positive)
            }
            Condition::Equal(a, b, _) => Ok((object(a, binding) == object(b, binding)) == positive),
            Condition::Compare(comparison) => {
                let left = self.value(&comparison.left, binding, state)?;
                let right = self.value(&comparison.right, binding, state)?;
                let Some((left, right)) = left.zip(right) else { return Ok(false) };
                Ok(compare(comparison.op, left.minus(right)?, self.departures.tolerance) == positive)
            }
            Condition::Timed(_, inner, _) => self.holds(inner, positive, binding, state),
            Condition::Preference(_) | Condition::Trajectory(_) => Ok(positive),
        }
    }

    fn value(
        &self,
        expr: &NumericExpr,
        binding: &Binding<'t>,
        state: &State,
    ) -> Result<Option<Fraction>, TooLarge> {
        match expr {
            NumericExpr::Number(number, _) => fraction(*number),
            NumericExpr::Fluent(fluent) => {
                Ok(state.numbers.get(&ground(fluent.function.key(), &fluent.args, binding)).copied())
            }
            NumericExpr::Arithmetic(op, parts, _) => {
                let mut values = Vec::new();
                for part in parts {
                    let Some(value) = self.value(part, binding, state)? else { return Ok(None) };
                    values.push(value);
                }
                arithmetic(*op, &values, self.departures.zero_divides)
            }
            NumericExpr::Duration(_)
            | NumericExpr::ElapsedTime(_)
            | NumericExpr::TotalTime(_)
            | NumericExpr::IsViolated(..) => Ok(None),
        }
    }
}

fn arithmetic(
    op: ArithmeticOp,
    values: &[Fraction],
    zero_divides: bool,
) -> Result<Option<Fraction>, TooLarge> {
    let Some((&first, rest)) = values.split_first() else { return Ok(None) };
    if op == ArithmeticOp::Subtract && rest.is_empty() {
        return Fraction::ZERO.minus(first).map(Some);
    }
    let mut result = first;
    for &value in rest {
        result = match op {
            ArithmeticOp::Add => result.plus(value)?,
            ArithmeticOp::Subtract => result.minus(value)?,
            ArithmeticOp::Multiply => result.times(value)?,
            ArithmeticOp::Divide => {
                let quotient = match result.divided_by(value)? {
                    None if zero_divides => infinite(result)?,
                    quotient => quotient,
                };
                let Some(quotient) = quotient else { return Ok(None) };
                quotient
            }
        };
    }
    Ok(Some(result))
}

/// An infinite value with the sign of `old`; 0 stays 0.
fn infinite(old: Fraction) -> Result<Option<Fraction>, TooLarge> {
    let far = |sign: i64| Fraction::new(i128::from(sign * INFINITE), 1);
    match old.cmp(&Fraction::ZERO) {
        std::cmp::Ordering::Less => far(-1),
        std::cmp::Ordering::Equal => Ok(Some(Fraction::ZERO)),
        std::cmp::Ordering::Greater => far(1),
    }
}

fn assign(
    op: AssignOp,
    old: Option<Fraction>,
    amount: Option<Fraction>,
) -> Result<Option<Fraction>, TooLarge> {
    match (op, old, amount) {
        (_, _, None) => Ok(None),
        (AssignOp::Assign, _, amount) => Ok(amount),
        (_, None, _) => Ok(None),
        (AssignOp::Increase, Some(old), Some(amount)) => old.plus(amount).map(Some),
        (AssignOp::Decrease, Some(old), Some(amount)) => old.minus(amount).map(Some),
        (AssignOp::ScaleUp, Some(old), Some(amount)) => old.times(amount).map(Some),
        (AssignOp::ScaleDown, Some(old), Some(amount)) => old.divided_by(amount),
    }
}

/// Compares a difference with 0.
fn compare(op: CompareOp, difference: Fraction, tolerance: Option<Fraction>) -> bool {
    if tolerance.is_some_and(|tolerance| difference <= tolerance && difference.negated() <= tolerance) {
        return true;
    }
    match op {
        CompareOp::Less => difference < Fraction::ZERO,
        CompareOp::LessEqual => difference <= Fraction::ZERO,
        CompareOp::Equal => difference == Fraction::ZERO,
        CompareOp::GreaterEqual => difference >= Fraction::ZERO,
        CompareOp::Greater => difference > Fraction::ZERO,
    }
}

fn fraction(number: planforge_pddl::Number) -> Result<Option<Fraction>, TooLarge> {
    let (numerator, denominator) = number.parts().ok_or(TooLarge)?;
    Fraction::new(numerator, denominator)
}

fn object<'t>(term: &'t Term, binding: &Binding<'t>) -> &'t str {
    let name = term.name().key();
    match term {
        Term::Variable(_) => binding.iter().rev().find(|entry| entry.0 == name).map_or(name, |entry| entry.1),
        Term::Constant(_) => name,
    }
}

fn ground<'t>(name: &'t str, args: &'t [Term], binding: &Binding<'t>) -> String {
    text(name, args.iter().map(|term| object(term, binding)))
}

fn text<'t>(name: &'t str, objects: impl IntoIterator<Item = &'t str>) -> String {
    let mut text = name.to_owned();
    for object in objects {
        text.push(' ');
        text.push_str(object);
    }
    text
}

/// All types of an object: those it is declared with, their ancestors, and `object`.
fn types_of<'t>(domain: &'t Domain, object: &'t TypedName) -> BTreeSet<&'t str> {
    fn names(typed: &TypedName) -> impl Iterator<Item = &str> {
        typed.ty.iter().flat_map(|ty| &ty.alternatives).map(planforge_pddl::Name::key)
    }
    let mut types = BTreeSet::from(["object"]);
    let mut open: Vec<&str> = names(object).collect();
    while let Some(ty) = open.pop() {
        if types.insert(ty) {
            open.extend(domain.types.iter().filter(|t| t.name.key() == ty).flat_map(names));
        }
    }
    types
}
