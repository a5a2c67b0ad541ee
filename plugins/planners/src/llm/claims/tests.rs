//! The forms in which claims come, and those that are none.

use super::*;

fn state(after: u32, literals: &[&str], sentences: &[&str]) -> ClaimedState {
    let own = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
    ClaimedState { after, literals: own(literals), sentences: own(sentences) }
}

#[test]
fn every_pattern_compiles() {
    assert!(compiled_patterns().into_iter().all(|compiled| compiled));
}

#[test]
fn the_form_that_is_asked_for_is_read() {
    let reply = "Step 1: (go red blue)\nCheck 1: we are near red; yes\nState after step 1: (near blue); (not (near red))\n\
Step 2: (switch blue)\nCheck 2: near blue\nState after step 2: (on blue)\n\nGoal reached: yes\nCost: 2\nPlan valid: no\n\n\
```plan\n(go red blue)\n(switch blue)\n```";
    let read = read(reply);
    let expected = PlanClaims {
        states: vec![state(1, &["(near blue)", "(not (near red))"], &[]), state(2, &["(on blue)"], &[])],
        goal_reached: Some(true),
        cost: Some(2.0),
        valid: Some(false),
    };
    assert_eq!(read, Claims { claims: expected, remarks: vec![] });
}

#[test]
fn marks_lists_and_words_are_read_as_well() {
    let reply = "## Step 1: pick it up\n**State after step 1:**\n- The arm holds block1.\n- clear(block2), not clear(block1)\n\n\
1. (stack block1 block2)\n- **State**: {on(block1, block2) and ¬holding(block1)}\nAfter step 3, the arm is free. All is done.\n\
**Total cost**: 3 steps\n**Is the goal reached?** Yes, it is.\n";
    let read = read(reply);
    assert_eq!(
        read.claims.states,
        [
            state(1, &["(clear block2)", "(not (clear block1))"], &["The arm holds block1"]),
            state(1, &["(on block1 block2)", "(not (holding block1))"], &[]),
            state(3, &[], &["the arm is free", "All is done"]),
        ]
    );
    assert_eq!(
        (read.claims.goal_reached, read.claims.cost, read.claims.valid),
        (Some(true), Some(3.0), None)
    );
    assert_eq!(read.remarks, ["the reply does not say in a form that is read whether the plan is valid"]);
}

#[test]
fn sentences_claim_unless_they_ask_or_make_conditions() {
    let read = read(
        "If the goal is reached we stop. Is the goal reached?\nAfter the last step the goal is not reached. \
The total cost is 4.5. So this plan is invalid.",
    );
    assert_eq!(
        (read.claims.goal_reached, read.claims.cost, read.claims.valid),
        (Some(false), Some(4.5), Some(false))
    );
    let both = super::read("The plan is valid. The goal is achieved.\nNo, wait: the goal is not achieved.");
    assert_eq!((both.claims.goal_reached, both.claims.valid), (None, Some(true)));
    assert!(both.remarks.contains(&"the reply contradicts itself about the goal".to_owned()));
}

#[test]
fn the_last_label_counts_and_the_form_itself_claims_nothing() {
    let last = read("Goal reached: no\nGoal reached: yes\nthe goal is not reached");
    assert_eq!(last.claims.goal_reached, Some(true));
    let echoed = read("Goal reached: yes or no\nCost: a number\nPlan valid: yes or no, after a look back");
    assert_eq!(echoed.claims, PlanClaims::default());
    assert!(echoed.remarks.contains(&"cannot be read: Cost: a number".to_owned()), "{:?}", echoed.remarks);
}

#[test]
fn json_is_read_in_several_shapes() {
    let listed = read(
        r#"```json
{"Steps": [{"step": 1, "action": "(go red blue)", "state": ["(near blue)", "not (near red)"]}, {"action": "(switch blue)", "state": "(on blue)"}],
 "goal_reached": "yes", "total cost": 2, "Valid": true}
```"#,
    );
    let expected = PlanClaims {
        states: vec![state(1, &["(near blue)", "(not (near red))"], &[]), state(2, &["(on blue)"], &[])],
        goal_reached: Some(true),
        cost: Some(2.0),
        valid: Some(true),
    };
    assert_eq!(listed, Claims { claims: expected, remarks: vec![] });
    let keyed = read(
        r#"{"states": {"after step 2": ["(on blue)"], "step 1": ["we are near blue."]}, "cost": "two"}"#,
    );
    assert_eq!(keyed.claims.states, [state(1, &[], &["we are near blue"]), state(2, &["(on blue)"], &[])]);
    assert_eq!(keyed.claims.cost, None);
    assert_eq!(
        plan_in_json(r#"{"plan": ["(go red blue)", "(switch blue)"]}"#).unwrap(),
        ["(go red blue)", "(switch blue)"]
    );
    assert_eq!(plan_in_json(r#"{"plan": [1, 2]}"#), None);
}

#[test]
fn other_text_than_facts_is_a_sentence_or_ignored() {
    let facts = |text: &str| {
        let mut state = ClaimedState::default();
        read_facts(text, &mut state);
        (state.literals, state.sentences)
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(
        facts("(and (a b) (not (c)))"),
        (vec!["(a b)".to_owned(), "(not (c))".to_owned()], none.clone())
    );
    assert_eq!(facts("; - ;\n{}"), (none.clone(), none.clone()));
    assert_eq!(facts("(not (not (a)))").0, none);
    assert_eq!(facts("(a (b)").0, none);
    assert_eq!(facts("the lamp (red) is on").0, none, "a sentence with a remark is no atom");
    assert_eq!(facts("Ж («é») ∧").0, none);
}

#[test]
fn no_text_breaks_the_reader() {
    for text in [
        "",
        "State:",
        "State after step 99999999999: (a)",
        "```",
        "```json\n{",
        "Step \u{301}1: («",
        "Cost:",
        "Goal:",
        "((((",
        "Step 1",
    ] {
        let read = read(text);
        assert_eq!(read.claims, PlanClaims::default(), "{text}");
    }
}
