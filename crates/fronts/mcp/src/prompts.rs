//! Prompts: texts that a client offers to its user.

use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

/// A prompt and its text, with slots `{name}` for its arguments.
struct PromptText {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name, description, and true if it is required.
    arguments: &'static [(&'static str, &'static str, bool)],
    text: &'static str,
}

const PROMPTS: &[PromptText] = &[
    PromptText {
        name: "write-domain",
        title: "Write a domain",
        description: "Write a PDDL domain and problem from a description, and check them with the tools.",
        arguments: &[("description", "What the domain and the task are about, in plain language.", true)],
        text: "Write a PDDL domain and a problem for the description below.\n\n\
               1. List the types of objects, the predicates, and each action with its preconditions and effects, before you write PDDL.\n\
               2. Write the domain and the problem. Call `read` with both and mend every error until `usable` is true.\n\
               3. Call `plan`. If the outcome is `proven-unsolvable`, `why_not` names what can never become true: mend that, and go back to step 2.\n\
               4. Check that each step of the plan makes sense for the description. If a step should not be possible, add the missing \
               precondition; if a step is missing, mend the effects.\n\
               5. Show the domain, the problem and the plan.\n\n\
               Description:\n{description}\n",
    },
    PromptText {
        name: "repair-domain",
        title: "Repair a domain with counterexamples",
        description: "Repair a PDDL domain until it behaves like a reference, or until a plan that should work is valid.",
        arguments: &[
            ("domain", "The domain: its text, or its path under a root.", true),
            ("problem", "A problem of the domain: its text, or its path under a root.", true),
            (
                "expected",
                "The reference domain, or a plan that should be valid: a text, or a path under a root.",
                true,
            ),
        ],
        text: "Repair the PDDL domain below.\n\n\
               1. Call `read` with the domain and the problem, and mend every error until `usable` is true.\n\
               2. If a reference domain is expected: call `compare`. If the decision is `different`, `behaviour.difference` holds the shortest \
               sequence of actions that only one of the two executes, the side that refuses it, and the conditions. Change the one precondition or \
               effect that explains it.\n\
               3. If a plan is expected to be valid: call `validate`. `failing_step` names the step, its conditions that do not hold, and what would \
               make them hold. Change the one precondition or effect that explains it.\n\
               4. Repeat until the decision is `equal`, or the plan is valid. Change as little as possible in each round.\n\
               5. Show the repaired domain and, for each change, the counterexample that called for it.\n\n\
               Domain:\n{domain}\n\nProblem:\n{problem}\n\nExpected:\n{expected}\n",
    },
];

/// The descriptions of all prompts.
pub(crate) fn all() -> Vec<Prompt> {
    let argument = |(name, description, required): &(&'static str, &'static str, bool)| {
        PromptArgument::new(*name).with_description(*description).with_required(*required)
    };
    let prompts = PROMPTS.iter().map(|prompt| {
        let arguments = prompt.arguments.iter().map(argument).collect();
        Prompt::new(prompt.name, Some(prompt.description), Some(arguments)).with_title(prompt.title)
    });
    prompts.collect()
}

/// A prompt with its arguments filled in.
pub(crate) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == name) else {
        return Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None));
    };
    let mut text = String::new();
    let mut rest = prompt.text;
    // One pass, so that a slot in an argument stays text.
    while let Some((before, slot)) = rest.split_once('{') {
        let Some((slot, after)) = slot.split_once('}') else { break };
        let Some(value) = arguments.get(slot).and_then(Value::as_str) else {
            return Err(ErrorData::invalid_params(format!("the argument `{slot}` is missing"), None));
        };
        text += before;
        text += value;
        rest = after;
    }
    text += rest;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_of_a_prompt_is_an_argument_and_the_reverse() {
        for prompt in PROMPTS {
            let arguments: JsonObject = prompt
                .arguments
                .iter()
                .map(|(name, ..)| ((*name).to_owned(), Value::from(format!("<{name} {{x}}>"))))
                .collect();
            let filled = get(prompt.name, &arguments).unwrap();
            let text = serde_json::to_string(&filled).unwrap();
            for (name, ..) in prompt.arguments {
                assert!(text.contains(&format!("<{name} {{x}}>")), "{text}");
            }
            assert!(get(prompt.name, &JsonObject::new()).is_err());
        }
        assert!(get("unknown", &JsonObject::new()).is_err());
    }
}
