//! A simulator that shares nothing with `planforge-planning` but the parsed tree: every action is instantiated with
//! every object, conditions are evaluated recursively, and numbers are exact fractions.

use planforge_pddl::ast::{
    Action, ArithmeticOp, AssignOp, CompareOp, Condition, Derived, Domain, Effect, InitElement, NumericExpr,
    Problem, Term, TypedName,
};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;

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

pub(crate) struct Simulator<'t> {
    domain: &'t Domain,
    problem: &'t Problem,
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
        let objects = domain.constants.iter().chain(&problem.objects);
        let objects = objects.map(|object| (object.name.key(), types_of(domain, object))).collect();
        let strata = strata(&domain.derived);
        let mut simulator = Self { domain, problem, objects, strata, actions: Vec::new() };
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
                if old.is_none() && additive && target == COST {
                    old = Some(Fraction::ZERO);
                }
                let new = assign(assignment.op, old, amount)?;
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
                Ok(compare(comparison.op, left.minus(right)?) == positive)
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
                arithmetic(*op, &values)
            }
            NumericExpr::Duration(_)
            | NumericExpr::ElapsedTime(_)
            | NumericExpr::TotalTime(_)
            | NumericExpr::IsViolated(..) => Ok(None),
        }
    }
}

fn arithmetic(op: ArithmeticOp, values: &[Fraction]) -> Result<Option<Fraction>, TooLarge> {
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
                let Some(quotient) = result.divided_by(value)? else { return Ok(None) };
                quotient
            }
        };
    }
    Ok(Some(result))
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
fn compare(op: CompareOp, difference: Fraction) -> bool {
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

/// A value beyond the range of [`Fraction`]. A case with such a value is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// A fraction in lowest terms with a positive denominator. Both parts are bounded, so that two fractions can be
/// compared by products of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fraction {
    numerator: i128,
    denominator: i128,
}

const MAX_NUMERATOR: i128 = 1 << 80;
const MAX_DENOMINATOR: i128 = 1 << 45;

impl Fraction {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`; `None` if the denominator is 0.
    pub(crate) fn new(numerator: i128, denominator: i128) -> Result<Option<Self>, TooLarge> {
        if denominator == 0 {
            return Ok(None);
        }
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a).map_err(|_| TooLarge)? * denominator.signum();
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        if numerator.abs() > MAX_NUMERATOR || denominator > MAX_DENOMINATOR {
            return Err(TooLarge);
        }
        Ok(Some(Self { numerator, denominator }))
    }

    fn from_parts(numerator: Option<i128>, denominator: Option<i128>) -> Result<Self, TooLarge> {
        let (Some(numerator), Some(denominator)) = (numerator, denominator) else { return Err(TooLarge) };
        Self::new(numerator, denominator)?.ok_or(TooLarge)
    }

    fn plus(self, other: Self) -> Result<Self, TooLarge> {
        let left = self.numerator.checked_mul(other.denominator);
        let right = other.numerator.checked_mul(self.denominator);
        let sum = left.zip(right).and_then(|(l, r)| l.checked_add(r));
        Self::from_parts(sum, self.denominator.checked_mul(other.denominator))
    }

    fn minus(self, other: Self) -> Result<Self, TooLarge> {
        self.plus(other.negated())
    }

    fn negated(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    pub(crate) fn times(self, other: Self) -> Result<Self, TooLarge> {
        Self::from_parts(
            self.numerator.checked_mul(other.numerator),
            self.denominator.checked_mul(other.denominator),
        )
    }

    /// The quotient; `None` if the divisor is 0.
    fn divided_by(self, other: Self) -> Result<Option<Self>, TooLarge> {
        if other.numerator == 0 {
            return Ok(None);
        }
        let numerator = self.numerator.checked_mul(other.denominator);
        Self::from_parts(numerator, self.denominator.checked_mul(other.numerator)).map(Some)
    }

    /// The nearest float.
    pub(crate) fn to_f64(self) -> f64 {
        // A finite decimal is rounded once, by the parser of floats.
        let mut digits = format!("{}.", (self.numerator / self.denominator).abs());
        let mut rest = (self.numerator % self.denominator).abs();
        for _ in 0..50 {
            if rest == 0 {
                let value: f64 = digits.parse().unwrap_or(f64::NAN);
                return if self.numerator < 0 { -value } else { value };
            }
            rest *= 10;
            digits.push_str(&(rest / self.denominator).to_string());
            rest %= self.denominator;
        }
        self.numerator as f64 / self.denominator as f64
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

/// The rules by stratum, lowest first.
fn strata(rules: &[Derived]) -> Vec<Vec<&Derived>> {
    let mut level: BTreeMap<&str, usize> = rules.iter().map(|rule| (rule.predicate.key(), 0)).collect();
    // Levels grow until every rule is satisfied; rules that negate themselves in a circle stop at the bound.
    for _ in 0..=rules.len() {
        for rule in rules {
            let mut uses = Vec::new();
            if let Some(condition) = &rule.condition {
                predicates(condition, true, &mut uses);
            }
            let needed = uses.iter().filter_map(|(predicate, positive)| {
                level.get(predicate).map(|level| level + usize::from(!positive))
            });
            let needed = needed.max().unwrap_or(0).min(rules.len());
            let own = level.entry(rule.predicate.key()).or_default();
            *own = (*own).max(needed);
        }
    }
    let mut strata: Vec<Vec<&Derived>> = vec![Vec::new(); rules.len() + 1];
    for rule in rules {
        strata[level[rule.predicate.key()]].push(rule);
    }
    strata.retain(|rules| !rules.is_empty());
    strata
}

/// The predicates of a condition, each with true if it occurs positively.
fn predicates<'t>(condition: &'t Condition, positive: bool, uses: &mut Vec<(&'t str, bool)>) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|part| predicates(part, positive, uses));
        }
        Condition::Not(inner, _) => predicates(inner, !positive, uses),
        Condition::Imply(premise, conclusion, _) => {
            predicates(premise, !positive, uses);
            predicates(conclusion, positive, uses);
        }
        Condition::Exists(q) | Condition::Forall(q) => predicates(&q.body, positive, uses),
        Condition::Atom(atom) => uses.push((atom.predicate.key(), positive)),
        Condition::Timed(_, inner, _) => predicates(inner, positive, uses),
        Condition::Equal(..)
        | Condition::Compare(_)
        | Condition::Preference(_)
        | Condition::Trajectory(_) => {}
    }
}

/// Cost, then length.
pub(crate) type Effort = (Fraction, usize);

/// The reachable states of a task with their steps.
pub(crate) struct Space<'s> {
    /// Steps from each state: name, next state, cost.
    edges: Vec<Vec<(&'s str, usize, Fraction)>>,
    goals: Vec<bool>,
}

/// Reason why a space is not built.
pub(crate) enum NoSpace {
    TooManyStates,
    /// A value is beyond the range of fractions, or a step's cost is undefined or negative.
    Uncomparable,
}

impl From<TooLarge> for NoSpace {
    fn from(_: TooLarge) -> Self {
        Self::Uncomparable
    }
}

impl<'s> Space<'s> {
    /// Visits all reachable states, at most `cap`. Without a metric, each step costs 1.
    pub(crate) fn build(simulator: &'s Simulator<'s>, metric: bool, cap: usize) -> Result<Self, NoSpace> {
        let mut space = Self { edges: Vec::new(), goals: Vec::new() };
        let mut numbers: BTreeMap<State, usize> = BTreeMap::new();
        let mut states: Vec<State> = Vec::new();
        let mut initial = simulator.initial()?;
        // The cost counter is not part of a state here, because no condition of a generated task reads it.
        initial.numbers.insert(COST.to_owned(), Fraction::ZERO);
        numbers.insert(initial.clone(), 0);
        states.push(initial);
        let mut next = 0;
        while let Some(state) = states.get(next).cloned() {
            space.goals.push(simulator.is_goal(&state)?);
            let mut edges = Vec::new();
            for action in &simulator.actions {
                let Some(mut after) = simulator.successor(&state, action)? else { continue };
                let cost = after.numbers.insert(COST.to_owned(), Fraction::ZERO);
                let cost = if metric { cost.unwrap_or(Fraction::ZERO) } else { Fraction::ONE };
                if cost < Fraction::ZERO {
                    return Err(NoSpace::Uncomparable);
                }
                let number = numbers.get(&after).copied().unwrap_or(states.len());
                if number == states.len() {
                    if states.len() == cap {
                        return Err(NoSpace::TooManyStates);
                    }
                    numbers.insert(after.clone(), number);
                    states.push(after);
                }
                edges.push((action.name.as_str(), number, cost));
            }
            space.edges.push(edges);
            next += 1;
        }
        Ok(space)
    }

    pub(crate) fn states(&self) -> usize {
        self.edges.len()
    }

    /// Steps of a shortest plan; `None` if there is no plan.
    pub(crate) fn fewest_steps(&self) -> Option<usize> {
        let (mut seen, mut layer) = (BTreeSet::from([0]), vec![0]);
        for steps in 0.. {
            if layer.iter().any(|&state| self.goals[state]) {
                return Some(steps);
            }
            let next = layer.iter().flat_map(|&state| &self.edges[state]).map(|edge| edge.1);
            layer = next.filter(|&state| seen.insert(state)).collect();
            if layer.is_empty() {
                break;
            }
        }
        None
    }

    /// The least effort from every state to a goal; `None` where there is no plan.
    pub(crate) fn efforts(&self) -> Result<Vec<Option<Effort>>, TooLarge> {
        let mut backward: Vec<Vec<(usize, Fraction)>> = vec![Vec::new(); self.edges.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            for &(_, to, cost) in edges {
                backward[to].push((from, cost));
            }
        }
        let mut best: Vec<Option<Effort>> = vec![None; self.edges.len()];
        let mut open: BinaryHeap<Reverse<(Effort, usize)>> = BinaryHeap::new();
        let goals = (0..self.goals.len()).filter(|&s| self.goals[s]);
        open.extend(goals.map(|s| Reverse(((Fraction::ZERO, 0), s))));
        while let Some(Reverse((effort, state))) = open.pop() {
            if best[state].is_some() {
                continue;
            }
            best[state] = Some(effort);
            for &(from, cost) in &backward[state] {
                if best[from].is_none() {
                    open.push(Reverse(((effort.0.plus(cost)?, effort.1 + 1), from)));
                }
            }
        }
        Ok(best)
    }
}
