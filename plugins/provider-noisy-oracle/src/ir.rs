//! A problem as the intermediate representation of the translate-infer-compile paper: every object, fact and goal spelled out, so that
//! nothing is left to infer. Also the answers to its generic questions about objects.

use planforge_pddl::ast::{Atom, Condition, InitElement, Problem};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Object and type, as the representation writes them.
fn objects(problem: &Problem) -> Result<Vec<(String, String)>, String> {
    let one = |object: &planforge_pddl::ast::TypedName| {
        let types = object.ty.as_ref().map(|ty| &ty.alternatives[..]).unwrap_or_default();
        let ty = match types {
            [] => "object".to_owned(),
            [one] => constant(one.as_str())?,
            _ => return Err(format!("`{}` has a choice of types", object.name)),
        };
        Ok((constant(object.name.as_str())?, ty))
    };
    problem.objects.iter().map(one).collect()
}

/// The whole problem.
///
/// # Errors
/// A construct that the representation cannot express, in words.
pub(crate) fn program(problem: &Problem) -> Result<String, String> {
    let mut out = String::new();
    for (object, ty) in objects(problem)? {
        let _ = writeln!(out, "object({object}, {ty}).");
    }
    Ok(out + &rules(problem)?)
}

/// The initial state and the goal alone.
///
/// # Errors
/// As [`program`].
pub(crate) fn rules(problem: &Problem) -> Result<String, String> {
    let mut out = String::new();
    for element in &problem.init {
        let fact = match element {
            InitElement::Atom(atom) => application(atom.predicate.as_str(), atom)?,
            InitElement::Not(..) => continue,
            InitElement::Value(..) | InitElement::Timed { .. } => {
                return Err("the initial state has numbers or times".to_owned());
            }
        };
        let _ = writeln!(out, "init({fact}).");
    }
    if let Some(condition) = &problem.goal {
        goal(condition, &mut out)?;
    }
    Ok(out)
}

fn goal(condition: &Condition, out: &mut String) -> Result<(), String> {
    let unsayable = || Err("the goal is not a conjunction of facts".to_owned());
    match condition {
        Condition::And(parts, _) => parts.iter().try_for_each(|part| goal(part, out)),
        Condition::Atom(atom) => {
            let _ = writeln!(out, "goal({}).", application(atom.predicate.as_str(), atom)?);
            Ok(())
        }
        Condition::Not(inner, _) => match inner.as_ref() {
            Condition::Atom(atom) => {
                let _ = writeln!(out, "goal(not {}).", application(atom.predicate.as_str(), atom)?);
                Ok(())
            }
            _ => unsayable(),
        },
        _ => unsayable(),
    }
}

/// The number of objects of each type.
///
/// # Errors
/// As [`program`].
pub(crate) fn cardinalities(problem: &Problem) -> Result<String, String> {
    let counts: BTreeMap<String, usize> =
        by_type(problem)?.into_iter().map(|(ty, names)| (ty, names.len())).collect();
    json(&counts)
}

/// The names of the objects of each type.
///
/// # Errors
/// As [`program`].
pub(crate) fn named(problem: &Problem) -> Result<String, String> {
    json(&by_type(problem)?)
}

fn by_type(problem: &Problem) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (object, ty) in objects(problem)? {
        types.entry(ty).or_default().push(object);
    }
    Ok(types)
}

fn json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map_err(|error| error.to_string())
}

fn application(predicate: &str, atom: &Atom) -> Result<String, String> {
    let arguments: Vec<String> =
        atom.args.iter().map(|term| constant(term.name().as_str())).collect::<Result<_, _>>()?;
    let predicate = constant(predicate)?;
    Ok(if arguments.is_empty() { predicate } else { format!("{predicate}({})", arguments.join(", ")) })
}

/// A name of PDDL as a constant: in lower case, with `_` for `-`.
fn constant(name: &str) -> Result<String, String> {
    let word = name.to_ascii_lowercase().replace('-', "_");
    match word.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => Ok(word),
        false => Err(format!("`{name}` is not a name of the representation")),
    }
}
