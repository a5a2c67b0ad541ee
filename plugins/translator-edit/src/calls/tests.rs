//! Recognition of calls. The replies are written by hand in the forms that models use.

use super::{MAX_CALLS, MAX_REPLY, MAX_STRINGS, *};
use proptest::prelude::*;

/// The calls in short: `predicates: (a) | (b)`, `action: pre | pre -> eff`.
fn told(reply: &str) -> Vec<String> {
    let reading = read_calls(reply, Functions::Domain);
    assert!(reading.refused.is_empty(), "{reply}\n{:#?}", reading.refused);
    reading.calls.iter().map(tell).collect()
}

fn tell(call: &Call) -> String {
    let join = |items: &[Text]| items.iter().map(|t| t.value.as_str()).collect::<Vec<_>>().join(" | ");
    match call {
        Call::Predicates { items } => format!("predicates: {}", join(items)),
        Call::Action(call) => {
            let field = |f: &Option<Vec<Text>>| f.as_deref().map_or("kept".to_owned(), join);
            format!("{}: {} -> {}", call.name.value, field(&call.preconditions), field(&call.effects))
        }
        Call::Problem(call) => {
            format!("{}: + {} - {}", call.part.function(), join(&call.add), join(&call.remove))
        }
    }
}

#[test]
fn calls_that_edit_the_problem_are_read_only_where_they_are_offered() {
    let reply = r#"```python
edit_objects(["a b - box"])
edit_initial_state(remove=["(on a b)"], add="(on b a)")
edit_goal(["(p)"], ["(q)"])
```"#;
    let json = r#"[{"function": "edit_objects", "arguments": {"add": ["a b - box"]}},
{"name": "edit_initial_state", "arguments": "{\"add\": [\"(on b a)\"], \"remove\": [\"(on a b)\"]}"},
{"edit_goal": {"add": "(p)", "remove": ["(q)"]}}]"#;
    for reply in [reply, json] {
        let reading = read_calls(reply, Functions::DomainAndProblem);
        assert!(reading.refused.is_empty(), "{:?}", reading.refused);
        let calls: Vec<String> = reading.calls.iter().map(tell).collect();
        assert_eq!(
            calls,
            [
                "edit_objects: + a b - box - ",
                "edit_initial_state: + (on b a) - (on a b)",
                "edit_goal: + (p) - (q)"
            ]
        );
    }
    assert!(read_calls(reply, Functions::Domain).calls.is_empty());
    let wrong = read_calls("```python\nedit_goal([])\nset_goal([\"(p)\"])\n```", Functions::DomainAndProblem);
    let told: Vec<String> =
        wrong.refused.iter().map(|d| format!("{}; {}", d.message, d.help.join("; "))).collect();
    assert_eq!(
        told,
        [
            "`edit_goal`: nothing is added or removed; call it as edit_goal([\"(added)\", ...], [\"(removed)\", ...])",
            "there is no function `set_goal`; only `add_or_update_predicates`, `modify_action`, `edit_objects`, \
`edit_initial_state` and `edit_goal` can be called"
        ]
    );
}

fn refusals(reply: &str) -> Vec<String> {
    read_calls(reply, Functions::Domain)
        .refused
        .iter()
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect()
}

#[test]
fn python_in_a_block_with_prose_around() {
    let reply = "The move needs a door. I call `modify_action(action_name, new_preconditions, new_effects)`:\n\n```python\n\
# predicates first\nadd_or_update_predicates([\n    \"(at ?o - obj ?r - room)\",  # where it is\n    '(open ?d)',\n])\n\
modify_action(\n    'move',\n    [\"(at ?o ?from)\", \"\"\"(not\n  (open ?d))\"\"\"],\n    new_effects=[\"(at ?o ?to)\"],\n)\n```\nThat's it: it doesn't lock.";
    assert_eq!(
        told(reply),
        [
            "predicates: (at ?o - obj ?r - room) | (open ?d)",
            "move: (at ?o ?from) | (not\n  (open ?d)) -> (at ?o ?to)"
        ]
    );
}

#[test]
fn several_blocks_and_names_set_before() {
    let reply = "First:\n```python\nPREDICATES: List[str] = [\"(a)\", '(b ?x)']\nadd_or_update_predicates(predicates=PREDICATES + [\"(c)\"])\n```\n\
Then\n~~~py\npre = [\n  \"(a)\"\n]\npre += [\"(c)\"]\nmodify_action(action_name=\"go\", new_preconditions=pre, new_effects=\"(and (b ?x) \"\n  \"(not (a)))\")\n~~~";
    assert_eq!(told(reply), ["predicates: (a) | (b ?x) | (c)", "go: (a) | (c) -> (and (b ?x) (not (a)))"]);
}

#[test]
fn literals_of_every_kind() {
    let cases = [
        (
            r#"modify_action("go", [r"(a\b)", u'(b)', f"(c)", "\u0028d)"], ("(e)",))"#,
            "go: (a\\b) | (b) | (c) | (d) -> (e)",
        ),
        (r#"modify_action("go", [["(a)"], ["(b)", ["(c)"]]], [])"#, "go: (a) | (b) | (c) -> "),
        (r#"modify_action("go", None, ["(a)"])"#, "go: kept -> (a)"),
        (r#"modify_action("go", effects=["(a)"])"#, "go: kept -> (a)"),
        ("modify_action('go', '''\n(a)\n'''.strip(), ['(b)'],)", "go: (a) -> (b)"),
        ("domain.modify_action ( \"go\" , [ ] , [\"(a)\"] )", "go:  -> (a)"),
        ("x = modify_action(\"go\", [], [\"(a)\"])", "go:  -> (a)"),
        (r#"add_or_update_predicates({"(a ?x)": "x is a", "(b)": "b"})"#, "predicates: (a ?x) | (b)"),
        (r#"add_or_update_predicates("(a) (b)")"#, "predicates: (a) (b)"),
    ];
    for (code, wanted) in cases {
        assert_eq!(told(&format!("```python\n{code}\n```")), [wanted], "{code}");
        assert_eq!(told(&format!("So I call {code} now.")), [wanted], "in prose: {code}");
    }
}

#[test]
fn json_in_the_shapes_of_tool_calls() {
    let go = "go: (a) -> (b) | (not (a))";
    let arguments =
        r#"{"action_name": "go", "new_preconditions": ["(a)"], "new_effects": ["(b)", "(not (a))"]}"#;
    let as_text = serde_json::to_string(arguments).unwrap();
    let shapes = [
        format!(r#"[{{"function": "modify_action", "arguments": {arguments}}}]"#),
        format!("<tool_call>\n{{\"name\": \"modify_action\", \"arguments\": {arguments}}}\n</tool_call>"),
        format!(r#"{{"tool_calls": [{{"id": "1", "type": "function", "function": {{"name": "modify_action", "arguments": {as_text}}}}}]}}"#),
        format!(r#"{{"modify_action": {arguments}}}"#),
        format!(r#"{{"modify_action": [{arguments}]}}"#),
        r#"{"name": "modify_action", "action_name": "go", "preconditions": ["(a)"], "effects": "(b) (not (a))"}"#
            .replace("\"(b) (not (a))\"", "[\"(b)\", \"(not (a))\"]"),
        r#"{"function": "modify_action", "args": ["go", ["(a)"], ["(b)", "(not (a))"]]}"#.to_owned(),
    ];
    for shape in shapes {
        assert_eq!(told(&format!("Here:\n```json\n{shape}\n```\n")), [go], "{shape}");
        assert_eq!(told(&format!("I answer {shape} as asked.")), [go], "in prose: {shape}");
    }
    let both = r#"{"add_or_update_predicates": ["(a)", "(b)"], "modify_action": {"name": "go", "pre": [], "eff": ["(a)"]}}"#;
    assert_eq!(told(both), ["predicates: (a) | (b)", "go:  -> (a)"]);
    let listed = r#"[{"function": "add_or_update_predicates", "arguments": [["(a)", "(b)"]]}, {"function": "add_or_update_predicates", "arguments": ["(c)"]}]"#;
    assert_eq!(told(listed), ["predicates: (a) | (b)", "predicates: (c)"]);
}

#[test]
fn text_that_is_not_a_call_is_ignored() {
    for reply in [
        "",
        "I would use add_or_update_predicates and modify_action(...) here.",
        "```python\ndef modify_action(action_name: str, new_preconditions: List[str], new_effects: List[str]):\n    pass\n```",
        "```python\nmodify_action(\n  action_name: str,\n  new_preconditions: List[str]\n)\n```",
        "```python\n# modify_action(\"go\", [], [\"(a)\"])\nprint('modify_action(\"go\", [], [])')\n\"\"\"modify_action('go')\"\"\"\n```",
        "The result was `modify_action()`.",
        "```pddl\n(:action modify_action :parameters ())\n```",
        "```json\n{\"name\": \"go\", \"steps\": [1, 2.5e3, true, null]}\n```",
    ] {
        let reading = read_calls(reply, Functions::Domain);
        assert!(reading.calls.is_empty() && reading.refused.is_empty(), "{reply}\n{reading:#?}");
    }
}

#[test]
fn where_a_block_has_calls_those_in_prose_are_talk() {
    let reply = "Before I had `modify_action(\"go\", [\"(wrong)\"], [\"(a)\"])`.\n```python\nmodify_action(\"go\", [\"(b)\"], [\"(a)\"])\n```";
    let reading = read_calls(reply, Functions::Domain);
    assert_eq!(reading.calls.iter().map(tell).collect::<Vec<_>>(), ["go: (b) -> (a)"]);
    assert_eq!(reading.notes[0].code, "translate.edit-outside-code");
}

#[test]
fn a_call_that_cannot_be_read_is_refused_with_its_place_and_the_next_one_is_read() {
    let cases = [
        (
            "modify_action(\"go\", [(at ?x)], [\"(b)\"])",
            "translate.edit-form",
            "`at` is no string and no list",
        ),
        ("modify_action(\"go\", [\"(at ?x), \"(b)\"], [\"(c)\"])", "translate.edit-form", "is wanted here"),
        ("modify_action(\"go\", [\"(a)], [\"(b)\"])", "translate.edit-form", ""),
        ("modify_action(\"go\", pre, eff)", "translate.edit-form", "`pre` is no string and no list"),
        ("modify_action(\"go\", f\"({x})\", [])", "translate.edit-form", "f-string"),
        ("modify_action(\"go\", [x for x in y], [])", "translate.edit-form", "`x` is no string"),
        ("modify_action(\"go\", [\"(a)\"] * 2, [])", "translate.edit-form", "`,` or `)`"),
        ("modify_action(\"go\")", "translate.edit-form", "neither preconditions nor effects"),
        ("modify_action()", "translate.edit-form", "the action's name is missing"),
        ("modify_action([\"go\"], [], [])", "translate.edit-form", "must be a string"),
        (
            "modify_action(\"go\", [\"(?a)\"], [\"(p)\"], [\"(e)\"])",
            "translate.edit-form",
            "argument 4 is one too many",
        ),
        ("modify_action(\"go\", [], [], cost=1)", "translate.edit-form", "no parameter `cost`"),
        ("modify_action(\"go\", [], [], name=\"go\")", "translate.edit-form", "given twice"),
        ("add_or_update_predicates([1, 2])", "translate.edit-form", "this is no string"),
        ("add_or_update_predicates(\"(a)\", \"(b)\")", "translate.edit-form", "argument 2 is one too many"),
        (
            "add_predicates([\"(a)\"])",
            "translate.edit-unknown-function",
            "there is no function `add_predicates`",
        ),
        (
            "pre = []\npre.append(\"(a)\")\nmodify_action(\"go\", pre, [])",
            "translate.edit-form",
            "`pre` is no string",
        ),
    ];
    for (code, wanted, message) in cases {
        let reply = format!("Prose.\n```python\n{code}\nmodify_action(\"last\", [], [\"(z)\"])\n```");
        let reading = read_calls(&reply, Functions::Domain);
        let refused: Vec<_> = reading.refused.iter().map(|d| (d.code.as_ref(), d.message.as_str())).collect();
        assert_eq!(refused.len(), 1, "{code}: {refused:?}");
        assert!(refused[0].0 == wanted && refused[0].1.contains(message), "{code}: {refused:?}");
        let place = reading.refused[0].primary().unwrap().span.start as usize;
        assert!(place >= "Prose.\n```python\n".len(), "{code}: {place}");
        assert_eq!(reading.calls.iter().map(tell).collect::<Vec<_>>(), ["last:  -> (z)"], "{code}");
    }
    assert!(refusals("```python\nmodify_action(\"go\", [\"(a)\",\n")[0].contains("it is not closed"));
    assert!(
        refusals("{\"modify_action\": {\"name\": \"go\", \"pre\": [\"(a)\", ]]}")[0]
            .starts_with("translate.edit-form: the JSON `{")
    );
    let unknown = r#"[{"function": "add_action", "arguments": {"name": "go"}}]"#;
    assert!(refusals(unknown)[0].contains("there is no function `add_action`"));
}

#[test]
fn limits_are_enforced_and_reported() {
    let deep =
        format!("```python\nmodify_action(\"go\", {}\"(a)\"{}, [])\n```", "[".repeat(100), "]".repeat(100));
    assert!(refusals(&deep)[0].contains("nested more than 32 deep"), "{:?}", refusals(&deep));
    let many = format!("```python\n{}\n```", "modify_action(\"go\", [], [\"(a)\"])\n".repeat(MAX_CALLS + 5));
    let reading = read_calls(&many, Functions::Domain);
    assert_eq!((reading.calls.len(), reading.refused.len()), (MAX_CALLS, 1));
    assert_eq!(reading.refused[0].code, "translate.edit-limit");
    let long = format!("```python\nadd_or_update_predicates([{}])\n```", "\"(a)\",".repeat(MAX_STRINGS + 1));
    assert!(refusals(&long)[0].contains("are more than 1024"));
    assert_eq!(refusals(&"x".repeat(MAX_REPLY + 1)).len(), 1);
    // Each line doubles the value of the one before it.
    let mut doubling = String::from("```python\na = [\"(a)\"]\n");
    doubling.extend((0..60).map(|_| "a += a\n"));
    doubling.push_str("modify_action(\"go\", a, [])\n```");
    assert_eq!(refusals(&doubling).len(), 1);
}

#[test]
fn hostile_texts_are_read_in_time_proportional_to_their_length() {
    for unit in [
        "[",
        "{\"",
        "[\"a\",",
        "\"\"\"",
        "modify_action(",
        "modify_action([",
        "(",
        "x=[",
        "#",
        "\\",
        "'''\"",
        "{\"a\":[",
        "f\"{",
    ] {
        for wrap in ["", "```python\n"] {
            let text = format!("{wrap}{}", unit.repeat((1 << 12) / unit.len()));
            let reading = read_calls(&text, Functions::Domain);
            assert!(reading.calls.is_empty(), "{unit}");
        }
    }
}

/// Pieces of replies, put together at random: closer to the code's paths than random letters.
fn fragments() -> impl Strategy<Value = String> {
    let words = [
        "modify_action",
        "add_or_update_predicates",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "\"\"\"",
        ",",
        ":",
        "=",
        "+",
        "+=",
        "\n",
        "```",
        "```python\n",
        "\\",
        "#",
        "None",
        "go",
        "(at ?x)",
        "name",
        "new_effects",
        " ",
        "f\"",
        "\"function\"",
        "\"arguments\"",
        "\"modify_action\"",
        "é",
        "𝄞",
        "\u{2028}",
        "def ",
        ".strip()",
        "1",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in prop_oneof![any::<String>(), fragments()]) {
        let reading = read_calls(&text, Functions::Domain);
        for span in reading.refused.iter().flat_map(|d| &d.labels).map(|l| l.span) {
            prop_assert!(span.start <= span.end && span.end as usize <= text.len());
        }
    }

    #[test]
    fn what_is_written_as_a_literal_is_read_again(
        items in prop::collection::vec("[ -~é\n\"'\\\\]{0,20}", 1..6),
    ) {
        let json = serde_json::to_string(&items).unwrap();
        let reading = read_calls(&format!("```python\nadd_or_update_predicates({json})\n```"), Functions::Domain);
        // A fence in a string ends the block as it does for every reader of Markdown.
        prop_assume!(!json.contains("```"));
        let [Call::Predicates { items: read }] = reading.calls.as_slice() else {
            return Err(TestCaseError::fail(format!("{json}: {reading:?}")));
        };
        prop_assert_eq!(read.iter().map(|t| t.value.clone()).collect::<Vec<_>>(), items);
    }
}
