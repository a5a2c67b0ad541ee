//! The facts of a problem, and the record of those that a wording used.

use planforge_pddl::ast::{Atom, Condition, Domain, InitElement, Problem};
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
    /// Types of the domain, each with its supertypes.
    types: BTreeMap<String, Vec<String>>,
    predicates: Vec<String>,
}

impl Facts {
    /// Collects the facts of a problem.
    ///
    /// # Errors
    /// A construct that wordings cannot express: numbers, times, a goal that is not a conjunction of facts.
    pub(super) fn of(domain: &Domain, problem: &Problem) -> Result<Self, String> {
        let mut facts = Self {
            types: lineages(domain),
            predicates: domain.predicates.iter().map(|p| lower(p.name.as_str())).collect(),
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
                InitElement::Value(..) | InitElement::Timed { .. } => {
                    return Err("its initial state has numbers or times".to_owned());
                }
            }
        }
        if let Some(goal) = &problem.goal {
            facts.goal(goal)?;
        }
        if problem.metric.is_some() {
            return Err("it has a metric".to_owned());
        }
        Ok(facts)
    }

    fn goal(&mut self, goal: &Condition) -> Result<(), String> {
        match goal {
            Condition::And(parts, _) => parts.iter().try_for_each(|part| self.goal(part)),
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
        let arguments = atom.args.iter().map(|term| term.name().to_string()).collect();
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
