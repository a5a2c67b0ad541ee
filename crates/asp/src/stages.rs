//! How a program is solved: in stages, each one a run of the reasoner.
//!
//! Which objects a text counts and does not name is known when everything else is, and what pairs the third shot with the third level
//! has to know all of both. Said in one program, that is a search through choices with as many answer sets as there are ways to name
//! what is interchangeable. So the first stage finds the objects that are named; each further one is given the objects that were missing and
//! the order of all, until nothing is missing any more and nothing changes. Every stage is a program without choices, unless the knowledge
//! file has some, and takes no search.
//!
//! [`solve`] does the stages and is given the reasoner as a function, so that it can run in another process than the rest.

use crate::compile::order::natural;
use crate::naming::Naming;
use crate::syntax::ast::Term;
use crate::syntax::parse_ground_term;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Runs of the reasoner with different objects before it is said that they do not settle.
const MOST_STAGES: u32 = 16;

/// What the reasoner is given: a document that crosses to the process it runs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The program.
    pub plain: String,
    /// The program with a twin for every rule.
    pub recorded: String,
    /// What makes violated constraints forbidden.
    pub hard: String,
    /// What makes violated constraints as few as possible.
    pub relaxed: String,
    /// What objects without a name are called.
    pub naming: Naming,
    /// Names that they must not get.
    pub taken: BTreeSet<String>,
    /// Those among them that the text says something of.
    pub mentioned: BTreeSet<String>,
    /// The types above each type of the domain.
    pub above: BTreeMap<String, BTreeSet<String>>,
    /// For each type those whose objects bring objects of it, and have to be complete before.
    pub feeds: BTreeMap<String, BTreeSet<String>>,
    /// Types whose objects are put in order.
    pub ranked: BTreeSet<String>,
    /// The objects of every type are put in order.
    pub ranks_all: bool,
    /// Most answer sets to look at.
    pub max_answers: u32,
    /// Most objects to make.
    pub max_objects: u32,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            plain: String::new(),
            recorded: String::new(),
            hard: String::new(),
            relaxed: String::new(),
            naming: Naming::default(),
            taken: BTreeSet::new(),
            mentioned: BTreeSet::new(),
            above: BTreeMap::new(),
            feeds: BTreeMap::new(),
            ranked: BTreeSet::new(),
            ranks_all: false,
            max_answers: 16,
            max_objects: 10_000,
        }
    }
}

/// One run of the reasoner.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The program.
    pub program: &'a str,
    /// Most answer sets to find.
    pub models: u32,
    /// Whether to find an optimal one.
    pub optimise: bool,
    /// What `@id` means.
    pub naming: &'a Naming,
}

/// What one run found: the atoms of each answer set, as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The answer sets.
    pub answers: Vec<Vec<String>>,
    /// There are no others.
    pub complete: bool,
}

/// What the stages came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There are answer sets, and all objects that they ask for.
    Solved,
    /// Only with violated constraints: there is one answer set, with as few as possible.
    Violated,
    /// None, even with the constraints left out: rules deny each other.
    NoAnswer,
    /// A type has more objects than are made.
    TooManyObjects {
        /// The type.
        ty: String,
        /// How many are missing.
        missing: i64,
    },
    /// The objects kept changing from stage to stage.
    Unsettled,
}

/// The answer to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// How it ended.
    pub outcome: Outcome,
    /// The atoms of each answer set, with the twins.
    pub answers: Vec<Vec<String>>,
    /// There are no other answer sets.
    pub complete: bool,
    /// Answer sets after the first ask for other objects than it does.
    pub objects_differ: bool,
    /// Runs of the reasoner.
    pub runs: u32,
}

/// What a stage is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Given {
    /// Objects to make: type, index, how many there are to be.
    generated: Vec<(String, i64, i64)>,
    /// The objects of ranked types, in order.
    ranks: BTreeMap<String, Vec<String>>,
}

/// What an answer set says about objects.
#[derive(Debug, Default)]
struct Census {
    /// The objects of each type.
    members: BTreeMap<String, Vec<String>>,
    /// How many of a type have no name.
    missing: BTreeMap<String, i64>,
    counts: BTreeMap<String, i64>,
    /// Types that maps pair.
    mapped: BTreeSet<String>,
}

/// Solves a job. `reasoner` runs one program.
///
/// # Errors
/// What the reasoner says of a program that it cannot run.
pub fn solve<E>(job: &Job, reasoner: &mut dyn FnMut(Run<'_>) -> Result<Found, E>) -> Result<Reply, E> {
    let mut solver = Solver { job, reasoner, runs: 0 };
    solver.solve()
}

struct Solver<'a, E> {
    job: &'a Job,
    reasoner: &'a mut dyn FnMut(Run<'_>) -> Result<Found, E>,
    runs: u32,
}

impl<E> Solver<'_, E> {
    fn solve(&mut self) -> Result<Reply, E> {
        let mut given = Given::default();
        for stage in 0..MOST_STAGES {
            // Nothing is given to the first stage, so it is only worth recording where nothing can be missing.
            let record = stage > 0 || !self.asks_for_objects();
            let (outcome, found) = self.stage(&given, record)?;
            let Some(first) = found.answers.first() else { return Ok(self.reply(outcome, found)) };
            let next = match self.next(&given, &census(first)) {
                Ok(next) => next,
                Err(outcome) => return Ok(self.reply(outcome, Found::default())),
            };
            if record && next == given {
                let same = |answer: &Vec<String>| self.next(&given, &census(answer)).as_ref() == Ok(&given);
                let objects_differ = !found.answers.iter().skip(1).all(same);
                return Ok(Reply { objects_differ, ..self.reply(outcome, found) });
            }
            given = next;
        }
        Ok(self.reply(Outcome::Unsettled, Found::default()))
    }

    fn reply(&self, outcome: Outcome, found: Found) -> Reply {
        let Found { answers, complete } = found;
        Reply { outcome, answers, complete, objects_differ: false, runs: self.runs }
    }

    fn asks_for_objects(&self) -> bool {
        let mentions = |word: &str| self.job.plain.contains(word);
        mentions("generated(") || mentions("index(") || mentions("amount(")
    }

    fn run(&mut self, program: &str, models: u32, optimise: bool) -> Result<Found, E> {
        self.runs += 1;
        (self.reasoner)(Run { program, models, optimise, naming: &self.job.naming })
    }

    /// One stage: the program with its constraints only watched. A program with several answer sets is solved again with the constraints
    /// in force, and one that then has none a third time with as few violations as possible.
    fn stage(&mut self, given: &Given, record: bool) -> Result<(Outcome, Found), E> {
        let mut program = if record { self.job.recorded.clone() } else { self.job.plain.clone() };
        write_given(given, &mut program);
        let found = self.run(&program, 2, false)?;
        match found.answers.as_slice() {
            [] => return Ok((Outcome::NoAnswer, found)),
            [only] if found.complete => {
                let violated = only.iter().any(|atom| atom.starts_with("_bad"));
                return Ok((if violated { Outcome::Violated } else { Outcome::Solved }, found));
            }
            _ => {}
        }
        let found = self.run(&format!("{program}{}", self.job.hard), self.job.max_answers, false)?;
        if !found.answers.is_empty() {
            return Ok((Outcome::Solved, found));
        }
        let found = self.run(&format!("{program}{}", self.job.relaxed), 1, true)?;
        Ok((Outcome::Violated, found))
    }

    /// What the next stage is given after an answer.
    fn next(&self, given: &Given, census: &Census) -> Result<Given, Outcome> {
        let mut next = Given { generated: given.generated.clone(), ranks: BTreeMap::new() };
        let mut members = census.members.clone();
        let due: Vec<(&String, i64)> = census
            .missing
            .iter()
            .filter(|(ty, _)| !census.missing.keys().any(|other| self.comes_before(other, ty)))
            .map(|(ty, missing)| (ty, *missing))
            .collect();
        for (ty, missing) in due {
            if missing > i64::from(self.job.max_objects) - next.generated.len() as i64 {
                return Err(Outcome::TooManyObjects { ty: ty.clone(), missing });
            }
            self.make(ty, missing, census, &mut next.generated, &mut members);
        }
        let ranked = self.job.ranked.iter().chain(&census.mapped);
        let all: Vec<&String> = if self.job.ranks_all { members.keys().collect() } else { Vec::new() };
        for ty in ranked.chain(all) {
            let mut names = members.get(ty).cloned().unwrap_or_default();
            names.sort_by(|a, b| natural(a, b));
            names.dedup();
            next.ranks.insert(ty.clone(), names);
        }
        Ok(next)
    }

    /// Whether the objects of the type `first` have to be complete before those that `then` lacks are known.
    fn comes_before(&self, first: &str, then: &str) -> bool {
        first != then && self.leads(first, then) && !self.leads(then, first)
    }

    fn leads(&self, from: &str, to: &str) -> bool {
        let mut reached: BTreeSet<&str> = BTreeSet::from([to]);
        let mut open = vec![to];
        while let Some(ty) = open.pop() {
            for feeder in self.job.feeds.get(ty).into_iter().flatten() {
                if reached.insert(feeder) {
                    open.push(feeder);
                }
            }
        }
        reached.contains(from)
    }

    /// Makes objects of a type. A name of the type's own form that the text uses for something that may well be of the type is the name of
    /// one: who speaks of shot1, and of three shots, means one of them. The others get the lowest free indices.
    fn make(
        &self,
        ty: &str,
        missing: i64,
        census: &Census,
        generated: &mut Vec<(String, i64, i64)>,
        members: &mut BTreeMap<String, Vec<String>>,
    ) {
        let naming = &self.job.naming;
        let total = census.counts.get(ty).copied().unwrap_or(missing);
        let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (of, names) in &census.members {
            names.iter().for_each(|name| types.entry(name).or_default().push(of));
        }
        let made: BTreeSet<String> = generated.iter().map(|(ty, index, _)| naming.name(ty, *index)).collect();
        let may_be = |name: &str| {
            let known = types.get(name).map(Vec::as_slice).unwrap_or_default();
            !made.contains(name) && known.iter().all(|of| self.is_above(of, ty))
        };
        let mentioned = types.keys().copied().chain(self.job.mentioned.iter().map(String::as_str));
        let meant: BTreeSet<i64> =
            mentioned.filter(|name| may_be(name)).filter_map(|name| naming.index(ty, name)).collect();
        let is_free = |index: &i64| {
            let name = naming.name(ty, *index);
            !types.contains_key(name.as_str()) && !made.contains(&name) && !self.job.taken.contains(&name)
        };
        let others = usize::try_from(missing).unwrap_or(0).saturating_sub(meant.len());
        let free: Vec<i64> = (naming.first(ty)..).filter(is_free).take(others).collect();
        for index in meant.into_iter().chain(free) {
            generated.push((ty.to_owned(), index, total));
            for above in self.job.above.get(ty).into_iter().flatten().map(String::as_str).chain([ty]) {
                members.entry(above.to_owned()).or_default().push(naming.name(ty, index));
            }
        }
    }

    /// Whether every object of the type `below` is of the type `above`, but for itself.
    fn is_above(&self, above: &str, below: &str) -> bool {
        above == "object"
            || self.job.above.get(below).is_some_and(|all| all.contains(above))
            || (above != below && self.leads(below, above))
    }
}

fn write_given(given: &Given, program: &mut String) {
    // Writing to a string cannot fail.
    for (ty, index, total) in &given.generated {
        let _ = writeln!(program, "generated({ty}, {index}, {total}).");
    }
    for (ty, names) in &given.ranks {
        let _ = writeln!(program, "amount({ty}, {}).", names.len());
        for (index, name) in (1..).zip(names) {
            let _ = writeln!(program, "index({ty}, {index}, {name}).");
        }
    }
}

/// Counts objects.
fn census(answer: &[String]) -> Census {
    let mut census = Census::default();
    for atom in answer {
        let name = atom.split('(').next().unwrap_or_default();
        if !["object", "missing", "mapped", "cardinality"].contains(&name) {
            continue;
        }
        let Some(Term::Function { arguments, .. }) = parse_ground_term(atom) else { continue };
        match (name, arguments.as_slice()) {
            ("object", [object, ty]) => {
                census.members.entry(ty.to_string()).or_default().push(object.to_string());
            }
            ("missing", [ty, Term::Number(missing)]) => drop(census.missing.insert(ty.to_string(), *missing)),
            ("cardinality", [ty, Term::Number(count)]) => drop(census.counts.insert(ty.to_string(), *count)),
            ("mapped", [_, first, _, second]) => {
                census.mapped.extend([first.to_string(), second.to_string()])
            }
            _ => {}
        }
    }
    census
}
