//! The facts of a problem, and the record of those that a wording used.

use planforge_pddl::ast::{
    ArithmeticOp, Atom, Condition, Domain, InitElement, Metric, MetricDirection, NumericExpr, Preference,
    Problem, Term, TrajectoryOp,
};
use planforge_pddl::{Number, print_condition};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The part of a problem with a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Part {
    /// In the initial state.
    Init,
    Goal,
    /// In the goal, negated.
    GoalNot,
}

impl Part {
    /// Name of the template function that returns these facts.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Goal => "goal",
            Self::GoalNot => "goal_not",
        }
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        [Self::Init, Self::Goal, Self::GoalNot].into_iter().find(|part| part.name() == name)
    }
}

/// The arguments of a fact.
pub(super) type Arguments = Vec<String>;

/// A problem as lists. Names are in lower case where they are the domain's, and as written where they are objects.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Object and type, in the problem's order.
    pub(super) objects: Vec<(String, String)>,
    /// By part and predicate, in the problem's order.
    pub(super) facts: BTreeMap<(Part, String), Vec<Arguments>>,
    /// By function: arguments and initial value.
    values: BTreeMap<String, Vec<Arguments>>,
    /// By function: arguments, comparison and number of a bound in the goal.
    bounds: BTreeMap<String, Vec<Arguments>>,
    /// Timed facts by predicate, and whether the fact becomes true: time and arguments.
    timed: BTreeMap<(String, bool), Vec<Arguments>>,
    /// Constraints by operator: the words of the condition.
    constraints: BTreeMap<String, Vec<Arguments>>,
    /// Preferences by operator (`goal` for one on the last state): name, weight and the words of the condition.
    wishes: BTreeMap<String, Vec<Arguments>>,
    /// The first of these parts, which only levels tell.
    only_levels: Option<&'static str>,
    /// Types of the domain, each with its supertypes.
    types: BTreeMap<String, Vec<String>>,
    predicates: Vec<String>,
    functions: Vec<String>,
}

impl Facts {
    /// Collects the facts of a problem.
    ///
    /// # Errors
    /// A construct that neither wordings nor levels express, such as a goal that is not a conjunction of facts.
    pub(super) fn of(domain: &Domain, problem: &Problem) -> Result<Self, String> {
        let mut facts = Self {
            types: lineages(domain),
            predicates: domain.predicates.iter().map(|p| lower(p.name.as_str())).collect(),
            functions: domain.functions.iter().map(|f| lower(f.name.as_str())).collect(),
            ..Self::default()
        };
        for object in &problem.objects {
            let types = object.ty.as_ref().map(|ty| &ty.alternatives[..]).unwrap_or_default();
            let ty = match types {
                [] => "object".to_owned(),
                [one] => lower(one.as_str()),
                _ => return Err(format!("`{}` has a choice of types", object.name)),
            };
            facts.objects.push((object.name.to_string(), ty));
        }
        for element in &problem.init {
            match element {
                InitElement::Atom(atom) => facts.add_fact(Part::Init, atom),
                InitElement::Not(..) => {}
                InitElement::Value(fluent, value, _) => {
                    facts.only_levels.get_or_insert("numbers");
                    let told = facts.values.entry(lower(fluent.function.as_str())).or_default();
                    told.push(names_of(&fluent.args, value));
                }
                InitElement::Timed { time, element, .. } => {
                    facts.only_levels.get_or_insert("timed facts");
                    let (atom, holds) = match element.as_ref() {
                        InitElement::Atom(atom) => (atom, true),
                        InitElement::Not(atom, _) => (atom, false),
                        _ => return Err("its initial state has timed numbers".to_owned()),
                    };
                    let told = facts.timed.entry((lower(atom.predicate.as_str()), holds)).or_default();
                    told.push(std::iter::once(time.to_string()).chain(names_of_terms(&atom.args)).collect());
                }
            }
        }
        let weights = match &problem.metric {
            Some(metric) => {
                facts.only_levels.get_or_insert("a metric");
                weights(metric)?
            }
            None => BTreeMap::new(),
        };
        if let Some(goal) = &problem.goal {
            facts.goal(goal, &weights)?;
        }
        if let Some(constraints) = &problem.constraints {
            facts.constraint(constraints, &weights)?;
        }
        Ok(facts)
    }

    /// The first part of the problem that wordings do not tell, and levels do.
    pub(super) fn only_levels(&self) -> Option<&'static str> {
        self.only_levels
    }

    fn wish(&mut self, wish: &Preference, weights: &BTreeMap<String, String>) -> Result<(), String> {
        self.only_levels.get_or_insert("preferences");
        let Some(name) = &wish.name else { return Err("a preference has no name".to_owned()) };
        let weight = weights.get(name.key()).cloned().unwrap_or_else(|| "0".to_owned());
        let (operator, words) = words_of(&wish.condition)?;
        let told = [name.to_string(), weight].into_iter().chain(words).collect();
        self.wishes.entry(operator).or_default().push(told);
        Ok(())
    }

    fn constraint(
        &mut self,
        condition: &Condition,
        weights: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        match condition {
            Condition::And(parts, _) => parts.iter().try_for_each(|part| self.constraint(part, weights)),
            Condition::Preference(wish) => self.wish(wish, weights),
            _ => {
                self.only_levels.get_or_insert("constraints");
                let (operator, words) = words_of(condition)?;
                self.constraints.entry(operator).or_default().push(words);
                Ok(())
            }
        }
    }

    /// The parts of a kind for a function of the domain.
    ///
    /// # Errors
    /// The domain has no such function.
    pub(super) fn of_function(&self, bounds: bool, function: &str) -> Result<Vec<Arguments>, String> {
        let key = lower(function);
        if !self.functions.contains(&key) {
            return Err(format!("the domain has no function `{function}`"));
        }
        let table = if bounds { &self.bounds } else { &self.values };
        Ok(table.get(&key).cloned().unwrap_or_default())
    }

    /// The timed facts of a predicate that become true, or false.
    ///
    /// # Errors
    /// The domain has no such predicate.
    pub(super) fn of_time(&self, holds: bool, predicate: &str) -> Result<Vec<Arguments>, String> {
        let key = lower(predicate);
        if !self.predicates.contains(&key) {
            return Err(format!("the domain has no predicate `{predicate}`"));
        }
        Ok(self.timed.get(&(key, holds)).cloned().unwrap_or_default())
    }

    /// The constraints, or the wishes, of an operator.
    ///
    /// # Errors
    /// There is no such operator.
    pub(super) fn of_operator(&self, wishes: bool, operator: &str) -> Result<Vec<Arguments>, String> {
        let key = lower(operator);
        if key != GOAL && !OPERATORS.iter().any(|op| op.as_str() == key) {
            return Err(format!("`{operator}` is neither `goal` nor an operator of constraints"));
        }
        let table = if wishes { &self.wishes } else { &self.constraints };
        Ok(table.get(&key).cloned().unwrap_or_default())
    }

    fn goal(&mut self, goal: &Condition, weights: &BTreeMap<String, String>) -> Result<(), String> {
        match goal {
            Condition::And(parts, _) => parts.iter().try_for_each(|part| self.goal(part, weights)),
            Condition::Preference(wish) => self.wish(wish, weights),
            Condition::Compare(bound) => {
                self.only_levels.get_or_insert("numbers");
                let (NumericExpr::Fluent(fluent), NumericExpr::Number(number, _)) =
                    (&bound.left, &bound.right)
                else {
                    return Err("its goal compares something else than a function with a number".to_owned());
                };
                let mut told: Arguments = names_of_terms(&fluent.args).collect();
                told.extend([bound.op.as_str().to_owned(), number.to_string()]);
                self.bounds.entry(lower(fluent.function.as_str())).or_default().push(told);
                Ok(())
            }
            Condition::Atom(atom) => {
                self.add_fact(Part::Goal, atom);
                Ok(())
            }
            Condition::Not(inner, _) => match inner.as_ref() {
                Condition::Atom(atom) => {
                    self.add_fact(Part::GoalNot, atom);
                    Ok(())
                }
                _ => Err("its goal is not a conjunction of facts".to_owned()),
            },
            _ => Err("its goal is not a conjunction of facts".to_owned()),
        }
    }

    fn add_fact(&mut self, part: Part, atom: &Atom) {
        let arguments = names_of_terms(&atom.args).collect();
        self.facts.entry((part, lower(atom.predicate.as_str()))).or_default().push(arguments);
    }

    /// The objects of a type or of one below it.
    ///
    /// # Errors
    /// The domain has no such type.
    pub(super) fn of_type(&self, ty: &str) -> Result<Vec<String>, String> {
        let wanted = lower(ty);
        if wanted != "object" && !self.types.contains_key(&wanted) {
            return Err(format!("the domain has no type `{ty}`"));
        }
        let below = |own: &str| {
            own == wanted
                || wanted == "object"
                || self.types.get(own).is_some_and(|all| all.contains(&wanted))
        };
        Ok(self.objects.iter().filter(|(_, own)| below(own)).map(|(name, _)| name.clone()).collect())
    }

    /// The facts of a predicate.
    ///
    /// # Errors
    /// The domain has no such predicate.
    pub(super) fn of_predicate(&self, part: Part, predicate: &str) -> Result<Vec<Arguments>, String> {
        let key = lower(predicate);
        if !self.predicates.contains(&key) {
            return Err(format!("the domain has no predicate `{predicate}`"));
        }
        Ok(self.facts.get(&(part, key)).cloned().unwrap_or_default())
    }
}

fn names_of_terms(terms: &[Term]) -> impl Iterator<Item = String> + '_ {
    terms.iter().map(|term| term.name().to_string())
}

fn names_of(terms: &[Term], value: &Number) -> Arguments {
    names_of_terms(terms).chain([value.to_string()]).collect()
}

/// The operator of a wish or constraint, and the words of its conditions without parentheses. Times of the operator come first.
fn words_of(condition: &Condition) -> Result<(String, Vec<String>), String> {
    let words = |condition: &Condition| -> Vec<String> {
        let text = print_condition(condition).replace(['(', ')'], " ");
        text.split_whitespace().map(str::to_owned).collect()
    };
    match condition {
        Condition::Forall(_) | Condition::Exists(_) => {
            Err("a wish or constraint stands below a quantifier".to_owned())
        }
        Condition::Trajectory(trajectory) => {
            let times = trajectory.times.iter().map(ToString::to_string);
            let words = times.chain(trajectory.conditions.iter().flat_map(words)).collect();
            Ok((trajectory.op.as_str().to_owned(), words))
        }
        Condition::Timed(_, part, _) => Ok((GOAL.to_owned(), words(part))),
        other => Ok((GOAL.to_owned(), words(other))),
    }
}

/// The operator of a wish on the last state.
const GOAL: &str = "goal";

const OPERATORS: [TrajectoryOp; 9] = [
    TrajectoryOp::Always,
    TrajectoryOp::Sometime,
    TrajectoryOp::Within,
    TrajectoryOp::AtMostOnce,
    TrajectoryOp::SometimeAfter,
    TrajectoryOp::SometimeBefore,
    TrajectoryOp::AlwaysWithin,
    TrajectoryOp::HoldDuring,
    TrajectoryOp::HoldAfter,
];

/// The weights of preferences in a metric that is a sum of weighted violations, numbers of the state and the total time.
fn weights(metric: &Metric) -> Result<BTreeMap<String, String>, String> {
    const OTHER: &str =
        "its metric is not a sum of weights of preferences, functions and the total time to be minimised";
    if metric.direction != MetricDirection::Minimize {
        return Err(OTHER.to_owned());
    }
    let mut found = BTreeMap::new();
    for term in sum_terms(&metric.expr) {
        match term {
            NumericExpr::IsViolated(name, _) => {
                found.insert(name.key().to_owned(), "1".to_owned());
            }
            NumericExpr::Fluent(_) | NumericExpr::TotalTime(_) => {}
            NumericExpr::Arithmetic(ArithmeticOp::Multiply, factors, _) => match factors.as_slice() {
                [NumericExpr::Number(weight, _), NumericExpr::IsViolated(name, _)]
                | [NumericExpr::IsViolated(name, _), NumericExpr::Number(weight, _)] => {
                    found.insert(name.key().to_owned(), weight.to_string());
                }
                [NumericExpr::Number(..), NumericExpr::Fluent(_) | NumericExpr::TotalTime(_)] => {}
                _ => return Err(OTHER.to_owned()),
            },
            _ => return Err(OTHER.to_owned()),
        }
    }
    Ok(found)
}

/// The terms of a sum; the expression itself where it is none.
pub(crate) fn sum_terms(expression: &NumericExpr) -> Vec<&NumericExpr> {
    match expression {
        NumericExpr::Arithmetic(ArithmeticOp::Add, parts, _) => parts.iter().flat_map(sum_terms).collect(),
        other => vec![other],
    }
}

/// Type -> everything above it, in lower case.
fn lineages(domain: &Domain) -> BTreeMap<String, Vec<String>> {
    let parents: BTreeMap<String, Vec<String>> = domain
        .types
        .iter()
        .map(|ty| {
            let above = ty.ty.as_ref().map(|ty| &ty.alternatives[..]).unwrap_or_default();
            (lower(ty.name.as_str()), above.iter().map(|name| lower(name.as_str())).collect())
        })
        .collect();
    let above = |ty: &String| {
        let mut all: Vec<String> = Vec::new();
        let mut open = vec![ty];
        while let Some(next) = open.pop() {
            for parent in parents.get(next).into_iter().flatten() {
                // A cycle of types ends here.
                if !all.contains(parent) {
                    all.push(parent.clone());
                    open.push(parent);
                }
            }
        }
        all
    };
    parents.keys().map(|ty| (ty.clone(), above(ty))).collect()
}

pub(super) fn lower(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// The facts that a wording requested, and those that it declares as covered by a rule or a count.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RequestedFacts {
    /// Predicates whose facts were handed out.
    pub(super) told: Vec<(Part, String)>,
    /// Facts that need not appear one by one; `None` for all facts of the predicate.
    pub(super) covered: Vec<(Part, String, Option<Vec<Arguments>>)>,
}

impl RequestedFacts {
    /// True if a rule or a count covers the fact.
    pub(super) fn covers(&self, part: Part, predicate: &str, arguments: &Arguments) -> bool {
        self.covered.iter().any(|(p, name, facts)| {
            *p == part && name == predicate && facts.as_ref().is_none_or(|facts| facts.contains(arguments))
        })
    }
}
