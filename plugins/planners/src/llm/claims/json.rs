//! Claims and plans in JSON: an object in a code block, or the whole reply.

use super::{to_claimed_state, yes_or_no};
use planforge_contract::{ClaimedState, PlanClaims};
use planforge_plugin_sdk::serde_json::{self, Map, Value};

const STATES: [&str; 3] = ["states", "stateafter", "statesaftersteps"];
const STEPS: [&str; 2] = ["steps", "checkedsteps"];
const STATE: [&str; 5] = ["state", "stateafter", "literals", "facts", "stateafterstep"];
const NUMBER: [&str; 5] = ["after", "step", "n", "number", "index"];
const GOAL: [&str; 4] = ["goalreached", "goal", "goalachieved", "reachesgoal"];
const COST: [&str; 4] = ["cost", "totalcost", "optimalcost", "plancost"];
const VALID: [&str; 4] = ["valid", "planvalid", "isvalid", "planisvalid"];

/// The claims of the last object in the reply that makes any.
pub(crate) fn claims(reply: &str) -> Option<PlanClaims> {
    objects(reply).iter().rev().map(of_object).find(|c| *c != PlanClaims::default())
}

/// The steps of the last object in the reply that lists some: `plan`, or the actions of `steps`.
pub(crate) fn plan(reply: &str) -> Option<Vec<String>> {
    objects(reply).iter().rev().find_map(|object| {
        let listed = get(object, &["plan", "actions"]).or_else(|| get(object, &STEPS))?.as_array()?;
        let step = |entry: &Value| match entry {
            Value::String(text) => Some(text.clone()),
            Value::Object(fields) => Some(get(fields, &["action", "step"])?.as_str()?.to_owned()),
            _ => None,
        };
        listed.iter().map(step).collect::<Option<Vec<_>>>().filter(|steps| !steps.is_empty())
    })
}

/// The objects of the reply: whole code blocks, else the whole reply.
fn objects(reply: &str) -> Vec<Map<String, Value>> {
    let mut texts: Vec<&str> = reply.split("```").skip(1).step_by(2).collect();
    texts.push(reply);
    let body = |text: &&str| {
        let text = text.trim();
        let text = text.strip_prefix("json").unwrap_or(text);
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        }
    };
    texts.iter().filter_map(body).collect()
}

/// The value of the first of the keys, in any case and with any separators.
fn get<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    let plain =
        |key: &str| -> String { key.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
    keys.iter().find_map(|wanted| object.iter().find(|(key, _)| plain(key) == *wanted).map(|(_, v)| v))
}

fn of_object(object: &Map<String, Value>) -> PlanClaims {
    let states = get(object, &STATES).or_else(|| get(object, &STEPS));
    PlanClaims {
        states: states.map(of_states).unwrap_or_default(),
        goal_reached: get(object, &GOAL).and_then(truth),
        cost: get(object, &COST).and_then(number),
        valid: get(object, &VALID).and_then(truth),
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => yes_or_no(text),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        _ => None,
    }
}

/// States in a list, numbered or in order from 1, or under their numbers.
fn of_states(value: &Value) -> Vec<ClaimedState> {
    let at = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
    match value {
        Value::Array(entries) => {
            entries.iter().enumerate().filter_map(|(index, entry)| of_state(entry, at(index))).collect()
        }
        Value::Object(entries) => {
            let numbered = |(key, entry): (&String, &Value)| {
                let digits = key.trim_start_matches(|c: char| !c.is_ascii_digit());
                of_state(entry, digits.parse().ok()?)
            };
            let mut states: Vec<ClaimedState> = entries.iter().filter_map(numbered).collect();
            states.sort_by_key(|state| state.after);
            states
        }
        _ => Vec::new(),
    }
}

fn of_state(value: &Value, after: u32) -> Option<ClaimedState> {
    match value {
        Value::String(text) => Some(to_claimed_state(after, &[text])),
        Value::Array(facts) => {
            let texts: Vec<&str> = facts.iter().filter_map(Value::as_str).collect();
            Some(to_claimed_state(after, &texts))
        }
        Value::Object(fields) => {
            let number = get(fields, &NUMBER).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
            match get(fields, &STATE)? {
                Value::Object(_) => None,
                facts => of_state(facts, number.unwrap_or(after)),
            }
        }
        _ => None,
    }
}
