//! The actions and objects of a program: checked, looked up in any case, and grounded.

use crate::protocol::{Description, Method};
use planforge_contract::{ActionInterface, ActionSignature};
use std::collections::{BTreeMap, BTreeSet};

/// A program's description of itself, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interface {
    pub(crate) public: ActionInterface,
    pub(crate) methods: BTreeSet<Method>,
    types: BTreeMap<String, String>,
    /// Name in lower case -> place among the actions.
    actions: BTreeMap<String, usize>,
    /// Name in lower case -> the program's spelling.
    objects: BTreeMap<String, String>,
}

impl Interface {
    /// Checks a program's description.
    ///
    /// # Errors
    /// All mistakes in the description, as one text.
    pub(crate) fn of(said: &Description) -> Result<Self, String> {
        let mut wrong = Vec::new();
        let public = said.interface();
        if said.protocol != crate::protocol::VERSION {
            wrong.push(format!(
                "it speaks protocol {}, and this version {}",
                said.protocol,
                crate::protocol::VERSION
            ));
        }
        let mut methods = BTreeSet::from([Method::Describe, Method::Reset, Method::Validate]);
        for name in &said.methods {
            match serde_json::from_value(name.as_str().into()) {
                Ok(method) => drop(methods.insert(method)),
                Err(_) => wrong.push(format!("there is no method `{name}`")),
            }
        }
        if !methods.contains(&Method::Step) && !methods.contains(&Method::Execute) {
            wrong.push("`methods` names neither `step` nor `execute`: nothing could be tried".to_owned());
        }
        if methods.contains(&Method::Actions) && !methods.contains(&Method::Step) {
            wrong.push(
                "`methods` names `actions` without `step`, which leads to the states it lists for".to_owned(),
            );
        }
        let mut actions = BTreeMap::new();
        for (place, action) in public.actions.iter().enumerate() {
            name(&action.name, "action", &mut wrong);
            if actions.insert(action.name.to_lowercase(), place).is_some() {
                wrong.push(format!("there are two actions `{}`", action.name));
            }
        }
        let mut objects = BTreeMap::new();
        for object in &public.objects {
            name(&object.name, "object", &mut wrong);
            if objects.insert(object.name.to_lowercase(), object.name.clone()).is_some() {
                wrong.push(format!("there are two objects `{}`", object.name));
            }
        }
        let types: BTreeMap<String, String> =
            said.types.iter().map(|(t, above)| (t.to_lowercase(), above.to_lowercase())).collect();
        for low in types.keys() {
            if chain(&types, low).nth(types.len() + 1).is_some() {
                wrong.push(format!("the type `{low}` lies above itself"));
            }
        }
        if public.actions.is_empty() {
            wrong.push("it has no actions".to_owned());
        }
        if !wrong.is_empty() {
            return Err(wrong.join("; "));
        }
        Ok(Self { public, methods, types, actions, objects })
    }

    pub(crate) fn can(&self, method: Method) -> bool {
        self.methods.contains(&method)
    }

    /// Returns a ground action in the program's spelling.
    ///
    /// # Errors
    /// The refusal of an unknown action.
    pub(crate) fn spell(&self, text: &str) -> Result<String, String> {
        let Some(words) = words(text) else { return Err(format!("`{}` is not an action", text.trim())) };
        let (name, arguments) = (words[0], &words[1..]);
        let Some(action) = self.actions.get(&name.to_lowercase()).and_then(|i| self.public.actions.get(*i))
        else {
            return Err(format!("there is no action {name}"));
        };
        if action.parameters.len() != arguments.len() {
            let wanted = action.parameters.len();
            let s = if wanted == 1 { "" } else { "s" };
            return Err(format!("{name} takes {wanted} argument{s}, not {}", arguments.len()));
        }
        let mut out = format!("({}", action.name);
        for argument in arguments {
            let Some(object) = self.objects.get(&argument.to_lowercase()) else {
                return Err(format!("there is no object {argument}"));
            };
            out.push(' ');
            out.push_str(object);
        }
        out.push(')');
        Ok(out)
    }

    /// Every action with every object that fits, in the order of their texts.
    ///
    /// # Errors
    /// How many there are, if that is more than `most`.
    pub(crate) fn ground(&self, most: u64) -> Result<Vec<String>, u128> {
        let fitting: Vec<Vec<Vec<&str>>> = self.public.actions.iter().map(|a| self.fitting(a)).collect();
        let count = |lists: &Vec<Vec<&str>>| {
            lists.iter().fold(1_u128, |n, list| n.saturating_mul(list.len() as u128))
        };
        let all: u128 = fitting.iter().map(count).fold(0, u128::saturating_add);
        if all > u128::from(most) {
            return Err(all);
        }
        let mut ground = Vec::new();
        for (action, lists) in self.public.actions.iter().zip(&fitting) {
            let mut texts = vec![format!("({}", action.name)];
            for list in lists {
                texts = texts.iter().flat_map(|t| list.iter().map(move |o| format!("{t} {o}"))).collect();
            }
            ground.extend(texts.into_iter().map(|t| t + ")"));
        }
        ground.sort_unstable();
        Ok(ground)
    }

    /// For each parameter the objects of its type.
    fn fitting(&self, action: &ActionSignature) -> Vec<Vec<&str>> {
        let of = |wanted: &str| {
            let wanted = alternatives(&wanted.to_lowercase());
            let fits = |object: &&planforge_contract::TypedName| {
                wanted.iter().any(|w| w == "object")
                    || alternatives(&object.type_name.to_lowercase()).iter().any(|t| {
                        chain(&self.types, t)
                            .take(self.types.len() + 1)
                            .any(|t| wanted.iter().any(|w| w == t))
                    })
            };
            self.public.objects.iter().filter(fits).map(|o| o.name.as_str()).collect()
        };
        action.parameters.iter().map(|p| of(&p.type_name)).collect()
    }
}

/// The words of `(name object ...)`.
pub(crate) fn words(text: &str) -> Option<Vec<&str>> {
    let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let words: Vec<&str> = inner.split_whitespace().collect();
    (!words.is_empty() && !inner.contains(['(', ')', ';'])).then_some(words)
}

/// A type and all above it.
fn chain<'t>(types: &'t BTreeMap<String, String>, from: &'t str) -> impl Iterator<Item = &'t str> {
    std::iter::successors(Some(from), |t| types.get(*t).map(String::as_str))
}

/// `(either a b)` or one type.
fn alternatives(text: &str) -> Vec<String> {
    match words(text).as_deref() {
        Some(["either", types @ ..]) => types.iter().map(|t| (*t).to_owned()).collect(),
        _ => vec![text.trim().to_owned()],
    }
}

/// Names go into PDDL, so that they must be names there.
fn name(name: &str, what: &str, wrong: &mut Vec<String>) {
    let mut letters = name.chars();
    let good = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !good {
        wrong.push(format!("the {what} `{name}` is not a name: a letter, then letters, digits, `-` and `_`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn interface(more: serde_json::Value) -> Result<Interface, String> {
        let mut all = json!({
            "protocol": 1,
            "actions": [
                {"name": "Pour", "parameters": [{"name": "from", "type": "jug"}, {"name": "to", "type": "vessel"}]},
                {"name": "wait", "parameters": []},
            ],
            "objects": [
                {"name": "Big", "type": "jug"}, {"name": "pan", "type": "vessel"}, {"name": "me", "type": "person"},
            ],
            "types": {"jug": "Vessel", "vessel": "object"},
            "methods": ["step"],
        });
        for (key, value) in more.as_object().unwrap() {
            all[key] = value.clone();
        }
        Interface::of(&serde_json::from_value(all).unwrap())
    }

    #[test]
    fn actions_are_spelled_as_the_program_does_or_refused() {
        let i = interface(json!({})).unwrap();
        assert_eq!(i.spell(" ( pour  BIG pan ) "), Ok("(Pour Big pan)".to_owned()));
        assert_eq!(i.spell("(fly)").unwrap_err(), "there is no action fly");
        assert_eq!(i.spell("(wait pan)").unwrap_err(), "wait takes 0 arguments, not 1");
        assert_eq!(i.spell("(pour big cup)").unwrap_err(), "there is no object cup");
        for strange in ["", "()", "wait", "(wait) (wait)", "(wait ; x)"] {
            assert!(i.spell(strange).unwrap_err().contains("is not an action"), "{strange}");
        }
    }

    #[test]
    fn objects_fill_parameters_of_their_type_and_of_those_above() {
        let i = interface(json!({})).unwrap();
        assert_eq!(i.ground(10).unwrap(), ["(Pour Big Big)", "(Pour Big pan)", "(wait)"]);
        assert_eq!(i.ground(2), Err(3));
        let loose = json!({"actions": [{"name": "see", "parameters": [{"name": "x", "type": "object"}]},
            {"name": "take", "parameters": [{"name": "x", "type": "(either jug person)"}]}]});
        let ground = interface(loose).unwrap().ground(10).unwrap();
        assert_eq!(ground, ["(see Big)", "(see me)", "(see pan)", "(take Big)", "(take me)"]);
    }

    #[test]
    fn everything_that_makes_no_sense_is_told_at_once() {
        let wrong = interface(json!({
            "protocol": 2,
            "actions": [{"name": "go up", "parameters": []}, {"name": "a", "parameters": []}, {"name": "A", "parameters": []}],
            "objects": [{"name": "1", "type": "x"}],
            "types": {"x": "y", "y": "x"},
            "methods": ["actions", "dance"],
        }))
        .unwrap_err();
        for part in [
            "protocol 2",
            "no method `dance`",
            "neither `step` nor `execute`",
            "`actions` without `step`",
            "`go up` is not a name",
            "two actions `A`",
            "`1` is not a name",
            "the type `x` lies above itself",
        ] {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }
}
