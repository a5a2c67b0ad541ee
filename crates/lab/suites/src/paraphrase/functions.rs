//! One wording of a problem: its text, the facts that the template requested, and the template functions in addition to those of generators.

use super::facts::{Arguments, Facts, Part, RequestedFacts, lower};
use crate::generate::template::{NoRendering, invalid, print, tidy_lines};
use minijinja::value::Rest;
use minijinja::{Environment, Error, Value, context};
use planforge_diagnostics::SourceId;
use planforge_pddl::random::Random;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// Adds the functions and filters; `asked` records the facts that the wording requests.
pub(super) fn add(
    environment: &mut Environment<'static>,
    facts: &Arc<Facts>,
    asked: &Arc<Mutex<RequestedFacts>>,
) {
    let own = Arc::clone(facts);
    environment.add_function("objects", move |ty: String| own.of_type(&ty).map_err(invalid));
    for part in [Part::Init, Part::Goal, Part::GoalNot] {
        let (own, asked) = (Arc::clone(facts), Arc::clone(asked));
        environment.add_function(part.name(), move |predicate: String| -> Result<Vec<Arguments>, Error> {
            let found = own.of_predicate(part, &predicate).map_err(invalid)?;
            with(&asked, |asked| asked.told.push((part, lower(&predicate))));
            Ok(found)
        });
    }
    for (name, bounds) in [("values", false), ("bounds", true)] {
        let own = Arc::clone(facts);
        let read = move |function: String| own.of_function(bounds, &function).map_err(invalid);
        environment.add_function(name, read);
    }
    for (name, holds) in [("timed", true), ("timed_not", false)] {
        let own = Arc::clone(facts);
        environment
            .add_function(name, move |predicate: String| own.of_time(holds, &predicate).map_err(invalid));
    }
    for (name, wishes) in [("constraints", false), ("wishes", true)] {
        let own = Arc::clone(facts);
        environment
            .add_function(name, move |operator: String| own.of_operator(wishes, &operator).map_err(invalid));
    }
    let (own, asked) = (Arc::clone(facts), Arc::clone(asked));
    environment.add_function(
        "covered",
        move |part: String,
              predicate: String,
              facts: Option<Vec<Arguments>>|
              -> Result<&'static str, Error> {
            let part = Part::by_name(&part)
                .ok_or_else(|| invalid(format!("`{part}` is none of `init`, `goal` and `goal_not`")))?;
            own.of_predicate(part, &predicate).map_err(invalid)?;
            with(&asked, |asked| asked.covered.push((part, lower(&predicate), facts)));
            Ok("")
        },
    );
    environment.add_function("require", |holds: Value, why: String| match holds.is_true() {
        true => Ok(""),
        false => Err(invalid(format!("{REQUIRED}{why}"))),
    });
    environment.add_filter("where", only);
    environment.add_filter("column", column);
    environment.add_filter("swapped", |pairs: Vec<Arguments>| -> Vec<Arguments> {
        pairs.into_iter().map(|pair| pair.into_iter().rev().collect()).collect()
    });
    environment.add_filter("both_ways", both_ways);
    environment.add_filter("chains", chains);
    environment.add_filter("say", say);
}

/// Begins the message where a problem is not what the wordings were written for.
pub(super) const REQUIRED: &str = "the wordings do not fit this problem: ";

fn with<T>(asked: &Mutex<RequestedFacts>, change: impl FnOnce(&mut RequestedFacts) -> T) -> T {
    change(&mut asked.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The facts that have one of these values at a place.
fn only(facts: Vec<Arguments>, place: usize, values: Rest<String>) -> Vec<Arguments> {
    facts.into_iter().filter(|fact| fact.get(place).is_some_and(|value| values.contains(value))).collect()
}

/// The values at one position of each fact.
fn column(facts: Vec<Arguments>, place: usize) -> Result<Vec<String>, Error> {
    let cell = |fact: Arguments| {
        fact.get(place)
            .cloned()
            .ok_or_else(|| invalid(format!("a fact of {} has no place {place}", fact.len())))
    };
    facts.into_iter().map(cell).collect()
}

/// Pairs that hold in both directions, each once.
fn both_ways(pairs: Vec<Arguments>) -> Result<Vec<Arguments>, Error> {
    let mut once: Vec<Arguments> = Vec::new();
    for pair in &pairs {
        let back: Arguments = pair.iter().rev().cloned().collect();
        if !pairs.contains(&back) {
            return Err(invalid(format!("{REQUIRED}{} holds in one direction only", pair.join(" "))));
        }
        if !once.contains(&back) {
            once.push(pair.clone());
        }
    }
    Ok(once)
}

/// Pairs (one, the next) as sequences, in the order of the pairs that begin them.
fn chains(pairs: Vec<Arguments>) -> Result<Vec<Vec<String>>, Error> {
    let mut sequences = Vec::new();
    for pair in &pairs {
        let [first, _] = pair.as_slice() else { return Err(invalid("a sequence is made of pairs")) };
        if pairs.iter().filter(|other| other.first() == Some(first)).count() > 1 {
            return Err(invalid(format!("{REQUIRED}{first} is followed by more than one")));
        }
        if pairs.iter().any(|other| other.get(1) == Some(first)) {
            continue;
        }
        let mut sequence = vec![first.clone()];
        // A sequence without a beginning is a circle and has none here, so this ends.
        while let Some(next) = pairs.iter().find(|pair| pair.first() == sequence.last()) {
            sequence.extend(next.get(1).cloned());
        }
        sequences.push(sequence);
    }
    Ok(sequences)
}

/// Renders each fact as a phrase: `{0}` is its first argument.
fn say(facts: Vec<Arguments>, pattern: String) -> Vec<String> {
    let phrase = |fact: Arguments| {
        fact.iter()
            .enumerate()
            .fold(pattern.clone(), |text, (place, value)| text.replace(&format!("{{{place}}}"), value))
    };
    facts.into_iter().map(phrase).collect()
}

/// A rendered wording.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RenderedWording {
    pub(super) text: String,
    pub(super) requested: RequestedFacts,
}

/// Renders a wording of a problem of a domain.
pub(crate) fn render_wording(
    source: &str,
    domain: &str,
    problem: &str,
    random: Random,
) -> Result<RenderedWording, NoRendering> {
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(problem, SourceId(0)).value;
    let facts = Arc::new(Facts::of(&domain, &problem).map_err(NoRendering::wrong)?);
    let requested = Arc::new(Mutex::new(RequestedFacts::default()));
    let text = print(source, context! {}, random, |environment| {
        add(environment, &facts, &requested);
    })?;
    let requested = requested.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(RenderedWording { text: tidy_lines(text.lines()), requested })
}
