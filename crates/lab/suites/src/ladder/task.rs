//! A problem as objects and facts.

use super::{FactWords, Lexicon, Rule};
use planforge_pddl::ast::{Atom, Condition, Domain, InitElement, Problem, Term, TypedName};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The part of a problem that a fact is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Init,
    Goal,
}

/// A fact of the initial state or of the goal. Names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    pub part: Part,
    pub predicate: String,
    pub arguments: Vec<String>,
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            Part::Init => "",
            Part::Goal => "goal ",
        };
        write!(f, "{part}({}", self.predicate)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))?;
        f.write_str(")")
    }
}

impl Fact {
    /// True if the fact differs from another one at most in its last object. Who reads that the van is not in a, b and c
    /// concludes that it is in d.
    pub(super) fn excludes_alternative_of(&self, other: &Self) -> bool {
        let subject = |fact: &Self| fact.arguments.split_last().map(|(_, subject)| subject.to_vec());
        self.part == other.part && self.predicate == other.predicate && subject(self) == subject(other)
    }
}

/// The objects and facts of a problem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// Objects by type, in the problem's order; the domain's constants come first.
    pub objects: BTreeMap<String, Vec<String>>,
    pub facts: BTreeSet<Fact>,
    /// The order of the problem, for the order of a plain text.
    pub(super) order: Vec<Fact>,
    pub(super) type_of: BTreeMap<String, String>,
    pub(super) signatures: Signatures,
}

/// For each predicate, the types that each of its arguments may have.
pub(super) type Signatures = BTreeMap<String, Vec<BTreeSet<String>>>;

impl Task {
    /// Takes a problem apart.
    ///
    /// # Errors
    /// A part that is not a conjunction of facts.
    pub fn new(domain: &Domain, problem: &Problem) -> Result<Self, String> {
        let mut task = Self { signatures: signatures(domain), ..Self::default() };
        for entry in domain.constants.iter().chain(&problem.objects) {
            let (name, ty) = (entry.name.key().to_owned(), type_name(entry));
            task.type_of.insert(name.clone(), ty.clone());
            task.objects.entry(ty).or_default().push(name);
        }
        for element in &problem.init {
            match element {
                InitElement::Atom(atom) => task.add(Part::Init, atom)?,
                _ => return Err("the initial state has more than facts".to_owned()),
            }
        }
        if let Some(goal) = &problem.goal {
            task.add_goal(goal)?;
        }
        Ok(task)
    }

    fn add(&mut self, part: Part, atom: &Atom) -> Result<(), String> {
        let arguments = atom.args.iter().map(|term| match term {
            Term::Constant(name) => Ok(name.key().to_owned()),
            Term::Variable(name) => Err(format!("`{name}` is not an object")),
        });
        let fact = Fact {
            part,
            predicate: atom.predicate.key().to_owned(),
            arguments: arguments.collect::<Result<_, _>>()?,
        };
        if self.facts.insert(fact.clone()) {
            self.order.push(fact);
        }
        Ok(())
    }

    fn add_goal(&mut self, goal: &Condition) -> Result<(), String> {
        match goal {
            Condition::And(parts, _) => parts.iter().try_for_each(|part| self.add_goal(part)),
            Condition::Atom(atom) => self.add(Part::Goal, atom),
            _ => Err("the goal is not a list of facts".to_owned()),
        }
    }

    /// Facts that a rule states: all instances of its form, without those that `unless` excludes.
    pub(super) fn of_rule(&self, rule: &Rule) -> BTreeSet<Fact> {
        let part = if rule.goal { Part::Goal } else { Part::Init };
        let Some((predicate, pattern)) = rule.holds.as_deref().and_then(words) else {
            return BTreeSet::new();
        };
        let without = rule.unless.as_deref().and_then(words);
        let variable = pattern.iter().find(|word| word.starts_with('?'));
        let Some(variable) = variable else {
            return BTreeSet::from([Fact { part, predicate, arguments: pattern }]);
        };
        // `?b:block` names the type.
        let ty = variable.split_once(':').map(|(_, ty)| ty);
        let bind = |object: &String| {
            pattern.iter().map(|word| if word == variable { object.clone() } else { word.clone() }).collect()
        };
        let excluded = |object: &String| {
            let Some((predicate, pattern)) = &without else { return false };
            self.facts.iter().any(|fact| {
                fact.part == part
                    && fact.predicate == *predicate
                    && fact.arguments.iter().zip(pattern).all(|(argument, word)| {
                        Some(word.as_str()) != variable.split(':').next() || argument == object
                    })
            })
        };
        ty.and_then(|ty| self.objects.get(ty))
            .into_iter()
            .flatten()
            .filter(|object| !excluded(object))
            .map(|object| Fact { part, predicate: predicate.clone(), arguments: bind(object) })
            .collect()
    }

    /// The facts that need a sentence of their own, in the problem's order.
    ///
    /// # Errors
    /// A rule that does not hold, and facts without a sentence.
    pub(super) fn to_tell(&self, lexicon: &Lexicon) -> Result<Vec<Fact>, String> {
        let mut covered = BTreeSet::new();
        for rule in &lexicon.rule {
            let stated = self.of_rule(rule);
            if let Some(wrong) = stated.iter().find(|fact| !self.facts.contains(fact)) {
                return Err(format!("the rule `{}` states {wrong}, which does not hold", rule.words.en));
            }
            covered.extend(stated);
        }
        let mut told = Vec::new();
        for fact in self.order.iter().filter(|fact| !covered.contains(fact)) {
            let words = lexicon
                .facts(fact.part)
                .get(&fact.predicate)
                .ok_or_else(|| format!("ladder.toml has no sentence for {fact}"))?;
            if words.chain && !self.is_neighbour(fact) {
                continue;
            }
            if words.symmetric {
                let back = swapped(fact);
                if !self.facts.contains(&back) {
                    return Err(format!("ladder.toml calls {fact} symmetric, and the problem lacks {back}"));
                }
                if told.contains(&back) {
                    continue;
                }
            }
            told.push(fact.clone());
        }
        Ok(told)
    }

    /// True if no third object is between the two of a fact of a sequence.
    fn is_neighbour(&self, fact: &Fact) -> bool {
        let [high, low] = fact.arguments.as_slice() else { return true };
        let pair = |a: &str, b: &str| Fact { arguments: vec![a.to_owned(), b.to_owned()], ..fact.clone() };
        let all = self.type_of.get(high).and_then(|ty| self.objects.get(ty));
        !all.into_iter().flatten().any(|between| {
            self.facts.contains(&pair(high, between)) && self.facts.contains(&pair(between, low))
        })
    }

    /// Adds what follows from facts with these words: the other direction, or all pairs of a sequence.
    pub(super) fn implied(words: &FactWords, facts: &BTreeSet<Fact>) -> BTreeSet<Fact> {
        let mut all = facts.clone();
        if words.symmetric {
            all.extend(facts.iter().map(swapped));
        }
        if words.chain {
            let below: BTreeMap<&str, &Fact> =
                facts.iter().filter_map(|fact| Some((fact.arguments.first()?.as_str(), fact))).collect();
            for fact in facts {
                let mut next = fact.arguments.get(1).and_then(|low| below.get(low.as_str()));
                for _ in 0..facts.len() {
                    let Some(low) = next.and_then(|fact| fact.arguments.get(1)) else { break };
                    let mut further = fact.clone();
                    further.arguments =
                        vec![fact.arguments.first().cloned().unwrap_or_default(), low.clone()];
                    all.insert(further);
                    next = below.get(low.as_str());
                }
            }
        }
        all
    }
}

fn signatures(domain: &Domain) -> Signatures {
    let parents: Vec<(String, String)> =
        domain.types.iter().map(|ty| (ty.name.key().to_owned(), type_name(ty))).collect();
    let with_subtypes = |ty: String| {
        let mut all = BTreeSet::from([ty]);
        loop {
            let more: Vec<&String> = parents
                .iter()
                .filter(|(sub, of)| all.contains(of) && !all.contains(sub))
                .map(|(sub, _)| sub)
                .collect();
            if more.is_empty() {
                return all;
            }
            all.extend(more.into_iter().cloned().collect::<Vec<_>>());
        }
    };
    let of = |parameters: &[TypedName]| parameters.iter().map(|p| with_subtypes(type_name(p))).collect();
    domain.predicates.iter().map(|p| (p.name.key().to_owned(), of(&p.parameters))).collect()
}

pub(super) fn swapped(fact: &Fact) -> Fact {
    Fact { arguments: fact.arguments.iter().rev().cloned().collect(), ..fact.clone() }
}

fn words(form: &str) -> Option<(String, Vec<String>)> {
    let mut words = form.split_whitespace().map(str::to_owned);
    Some((words.next()?, words.collect()))
}

fn type_name(entry: &TypedName) -> String {
    let first = entry.ty.as_ref().and_then(|ty| ty.alternatives.first());
    first.map_or_else(|| "object".to_owned(), |name| name.key().to_owned())
}
