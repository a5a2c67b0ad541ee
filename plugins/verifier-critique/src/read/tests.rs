use super::*;
use planforge_contract::FindingSeverity::{Error, Warning};
use proptest::prelude::*;
use std::sync::LazyLock;

fn against() -> Against<'static> {
    let actions = ["move", "pick-up", "drop"].map(str::to_owned).to_vec();
    Against { actions: Some(actions), ..Against::default() }
}

fn read_with(reply: &str, finish: FinishReason, against: &Against<'_>) -> ReadCritique {
    static READER: LazyLock<CritiqueReader> = LazyLock::new(|| CritiqueReader::new().unwrap());
    READER.read(reply, finish, against)
}

fn read(reply: &str) -> Critique {
    read_with(reply, FinishReason::Stop, &against()).critique
}

/// `E place [action] finding -> change` for each finding.
fn shown(critique: &Critique) -> Vec<String> {
    let one = |f: &CritiqueFinding| {
        let severity = if f.severity == Error { 'E' } else { 'W' };
        let action = f.action.as_deref().unwrap_or("-");
        format!("{severity} {} [{action}] {} -> {}", f.place, f.finding, f.change)
    };
    critique.findings.iter().map(one).collect()
}

const FINDINGS: &str = r#"{"findings": [{"finding": "The precondition lacks (at ?from).", "place": "action move", "severity": "error", "change": "Add (at ?from)."}, {"finding": "The name is odd", "place": "drop", "severity": "warning", "change": "none"}], "approves": false}"#;

#[test]
fn json_of_any_shape_gives_the_same_critique() {
    let wanted = [
        "E action move [move] The precondition lacks (at ?from). -> Add (at ?from).",
        "W drop [drop] The name is odd -> ",
    ];
    let python = FINDINGS.replace('"', "'").replace("false", "False");
    let forms = [
        FINDINGS.to_owned(),
        format!("```json\n{FINDINGS}\n```"),
        format!("Here it is:\n```\n{FINDINGS}\n```"),
        python,
        // Other keys, without a frame.
        r#"[{"Issue": "The precondition lacks (at ?from).", "Action": "move", "Suggested Fix": "Add (at ?from)."},
            {"issue": "The name is odd", "location": "drop", "severity": "minor"}]"#
            .to_owned(),
        // One object after the other.
        "{\"error\": \"The precondition lacks (at ?from).\", \"action\": \"move\", \"fix\": \"Add (at ?from).\"}\n\
         {\"error\": \"The name is odd\", \"place\": \"drop\", \"severity\": \"warning\"}"
            .to_owned(),
        // In a frame of frames.
        r#"{"critique": {"grammar": [], "logic": [{"problem": "The precondition lacks (at ?from).", "action": "move",
            "recommendation": "Add (at ?from)."}, {"problem": "The name is odd", "where": "drop", "level": "low"}]}}"#
            .to_owned(),
    ];
    for form in forms {
        let critique = read(&form);
        assert_eq!(shown(&critique), wanted, "{form}");
        assert_eq!((critique.approves, critique.form.as_str()), (Some(false), "structured"), "{form}");
        assert_eq!(critique.remarks, Vec::<String>::new(), "{form}");
        assert_eq!(critique.reply, form);
    }
}

#[test]
fn quotes_within_a_text_do_not_end_it() {
    let critique = read(
        r#"{"findings": [{"finding": "The predicate "at" is not declared", "place": "line 4", "change": 'it's (at ?x)'}], "approves": false}"#,
    );
    assert_eq!(shown(&critique), [r#"E line 4 [-] The predicate "at" is not declared -> it's (at ?x)"#]);
}

#[test]
fn approval_is_stated_or_follows() {
    for reply in [
        r#"{"findings": [], "approves": true}"#,
        r#"{"findings": []}"#.replace("}", ", \"verdict\": \"approved\"}").as_str(),
        r#"{"findings": ["No errors."]}"#,
        r#"{"findings": [{"finding": "none", "place": "", "severity": "error", "change": ""}], "approves": true}"#,
        r#"{"findings": [{"finding": "Could be more readable.", "severity": "warning"}]}"#,
        "No errors.",
        "No errors found.",
        "There are no grammatical or logical errors in this domain.",
        "I do not see any mistakes.",
        "The domain looks good. All predicates are declared and used with the right number of arguments.",
        "**Grammar**: The parentheses are balanced.\n\n**Logic**: The domain is correct.",
        "Approves: yes",
    ] {
        assert_eq!(read(reply).approves, Some(true), "{reply}");
    }
    let frame = read(r#"{"findings": []}"#);
    assert_eq!(
        (frame.approves, frame.form.as_str()),
        (None, "structured"),
        "an empty list says nothing by itself"
    );
}

#[test]
fn objections_are_found_in_prose() {
    let numbered = "The domain has some issues:\n\n1. **Action `move`**: The precondition is missing (at ?from).\n   \
        - Suggestion: Add (at ?from).\n2. The effect of `drop` does not delete (holding ?x).\n\nOverall, the rest is correct.";
    assert_eq!(
        shown(&read(numbered)),
        [
            "E  [move] **Action `move`**: The precondition is missing (at ?from). -> Add (at ?from).",
            "E  [drop] The effect of `drop` does not delete (holding ?x). -> ",
        ]
    );
    let headed = "### Grammar\nThe parentheses match.\n\n### Logic\n- The action `pick-up` should require (handempty).\n- Consider a \
        better name for `at`; this is optional.";
    assert_eq!(
        shown(&read(headed)),
        [
            "E Logic [pick-up] The action `pick-up` should require (handempty). -> ",
            "W Logic [-] Consider a better name for `at`; this is optional. -> ",
        ]
    );
    let labelled =
        "Issue: the robot can carry two balls\nPlace: pick-up\nSeverity: error\nChange: add (free ?g)";
    assert_eq!(
        shown(&read(labelled)),
        ["E pick-up [pick-up] the robot can carry two balls -> add (free ?g)"]
    );
    let running = "The domain is well structured. However, the action `move` lacks a precondition. The robot could be anywhere.";
    assert_eq!(shown(&read(running)), ["E  [move] However, the action `move` lacks a precondition. -> "]);
    for reply in [numbered, headed, labelled, running] {
        let critique = read(reply);
        assert_eq!((critique.approves, critique.form.as_str()), (Some(false), "prose"), "{reply}");
    }
}

#[test]
fn a_reply_without_approval_or_objection_is_no_verdict() {
    for reply in [
        "",
        "  \n ",
        "Sure, I will look at the domain.",
        "```pddl\n(define (domain d) (:action fail :effect (error)))\n```",
        "(define (domain d)\n (:action error :effect (wrong)))",
        "Der Bereich ist falsch.",
        "{}",
    ] {
        let critique = read(reply);
        assert_eq!((critique.approves, critique.findings.len()), (None, 0), "{reply}");
    }
    let object = read(r#"{"findings": [], "approves": false}"#);
    assert_eq!(object.approves, None);
    assert_eq!(object.remarks, ["the reply says that something is wrong and not what"]);
    assert_eq!(read("").remarks, ["the reply is empty"]);
}

#[test]
fn who_names_an_error_does_not_approve() {
    for reply in [
        r#"{"findings": [{"finding": "The effect is wrong.", "place": "move"}], "approves": true}"#,
        "The domain is correct.\n\n1. The effect of `move` is wrong.",
    ] {
        let critique = read(reply);
        assert_eq!(critique.approves, Some(false), "{reply}");
        assert_eq!(critique.remarks, ["the reply says that all is right and names what is wrong"], "{reply}");
    }
    let warned =
        read(r#"{"findings": [{"finding": "A name is odd", "severity": "warning"}], "approves": false}"#);
    assert_eq!((warned.approves, warned.findings[0].severity), (Some(false), Warning));
}

#[test]
fn a_reply_that_was_cut_off_counts_as_far_as_it_goes() {
    let cut = |reply: &str| read_with(reply, FinishReason::Length, &against()).critique;
    let half = &FINDINGS[..FINDINGS.find("The name is odd").unwrap() + 8];
    assert_eq!(
        shown(&cut(half)),
        ["E action move [move] The precondition lacks (at ?from). -> Add (at ?from).", "E  [-] The name -> "]
    );
    assert_eq!(cut(half).approves, Some(false));
    for reply in [r#"{"findings": [], "approves": true"#, "No errors.", r#"{"findings": ["#, ""] {
        let critique = cut(reply);
        assert_eq!(critique.approves, None, "{reply}");
        assert!(critique.remarks[0].contains("cut the reply off"), "{:?}", critique.remarks);
    }
    let held = read_with("No errors.", FinishReason::ContentFilter, &against()).critique;
    assert_eq!((held.approves, held.remarks.len()), (None, 1));
}

#[test]
fn a_copy_of_the_question_s_form_is_not_a_finding() {
    let form = include_str!("../../templates/answer.txt");
    let form = form.lines().find(|l| l.starts_with("{\"findings\"")).unwrap();
    let critique = read(form);
    assert_eq!((critique.findings.len(), critique.approves), (0, None));
    assert!(critique.remarks.contains(&"the reply repeats the form that the request shows".to_owned()));
}

#[test]
fn repetitions_are_remarked_on() {
    let last = |last: &'static str, reply: &str| {
        read_with(reply, FinishReason::Stop, &Against { last, ..against() })
    };
    let same = last(FINDINGS, FINDINGS);
    assert_eq!(
        (same.repeated, same.critique.remarks.as_slice()),
        (2, &["the reply repeats the last critique word for word".to_owned()][..])
    );
    assert_eq!(same.diagnostics[0].code, codes::REPEATED);
    let reworded = FINDINGS
        .replace("lacks (at ?from).", "LACKS: (at ?from)")
        .replace("\"approves\": false", "\"approves\":  False");
    assert_eq!(
        last(FINDINGS, &reworded).critique.remarks,
        ["the reply repeats the last critique word for word"]
    );
    let part = FINDINGS.replace("The name is odd", "The effect is empty");
    assert_eq!(last(FINDINGS, &part).critique.remarks, ["1 of 2 findings repeat the last critique"]);
    let other_form = "Issue: The precondition lacks (at ?from)\nPlace: action move";
    assert_eq!(last(FINDINGS, other_form).critique.remarks, ["the finding repeats one of the last critique"]);
    assert_eq!(last(FINDINGS, "No errors.").repeated, 0);
    assert_eq!(
        last("No errors.", "No errors.").critique.remarks,
        ["the reply repeats the last critique word for word"]
    );
    let within = read(&"1. The effect of `move` is wrong.\n".repeat(30));
    assert_eq!(
        (within.findings.len(), within.remarks.as_slice()),
        (1, &["29 of 30 findings say what others of the reply say".to_owned()][..])
    );
}

#[test]
fn actions_that_do_not_exist_are_remarked_on() {
    let remarks = |reply: &str| read(reply).remarks;
    assert_eq!(
        remarks(
            r#"{"findings": [{"finding": "It lacks an effect.", "place": "action fly"}, {"finding": "The `swim` action is wrong"}]}"#
        ),
        ["the reply speaks of actions that do not exist: `fly`, `swim`"]
    );
    assert_eq!(
        remarks("1. In (:action teleport the effect is missing."),
        ["the reply speaks of an action that does not exist: `teleport`"]
    );
    for reply in [
        "1. Each action should have an effect.",
        "1. The action `move` is wrong.",
        "1. The predicate `at` is undeclared.",
    ] {
        assert_eq!(remarks(reply), Vec::<String>::new(), "{reply}");
    }
    let unknown = Against { actions: None, ..against() };
    let read = read_with("1. The action `fly` is wrong.", FinishReason::Stop, &unknown);
    assert_eq!(read.critique.remarks, Vec::<String>::new());
}

#[test]
fn long_states_are_cut_with_a_note() {
    let many: String = (0..100).map(|n| format!("{n}. Fact {n} is wrong.\n")).collect();
    let critique = read(&many);
    assert_eq!(critique.findings.len(), MOST_FINDINGS);
    assert_eq!(critique.remarks, ["of 100 findings the first 40 are taken"]);
    let long = read(&"The effect is wrong \u{e9} ".repeat(10_000));
    assert!(
        long.reply.len() <= MOST_BYTES
            && long.findings.iter().all(|f| f.finding.len() <= MOST_OF_A_FIELD + 3)
    );
    assert!(long.remarks[0].starts_with("of 230000 bytes of the reply the first"), "{:?}", long.remarks);
}

#[test]
fn hostile_replies_of_the_greatest_length_are_read() {
    for reply in [
        "[".repeat(MOST_BYTES),
        "{\"findings\": [".repeat(5000),
        "no ".repeat(MOST_BYTES / 3),
        "- ".repeat(MOST_BYTES / 2),
        "Issue: \n".repeat(8000),
        "1. The `".repeat(8000),
        "\" ".repeat(MOST_BYTES / 2),
        "not ".repeat(MOST_BYTES / 4) + "correct",
    ] {
        read(&reply);
    }
}

proptest! {
    #[test]
    fn any_reply_is_read(reply in "\\PC{0,200}|([\\[\\]{}\"':,`#*\n -]|finding|approves|wrong|1\\. |Issue: |false|no errors){0,60}", last in "\\PC{0,40}", length in any::<bool>()) {
        let finish = if length { FinishReason::Length } else { FinishReason::Stop };
        let read = read_with(&reply, finish, &Against { last: &last, ..against() });
        let errors = read.critique.findings.iter().filter(|f| f.severity == Error).count();
        prop_assert!(read.critique.findings.iter().all(|f| !f.finding.trim().is_empty()));
        prop_assert!(errors == 0 || read.critique.approves == Some(false));
        prop_assert!(!(length && read.critique.approves == Some(true)));
        prop_assert_eq!(read.diagnostics.len(), read.critique.remarks.len());
        prop_assert!(read.repeated <= read.critique.findings.len());
    }
}
