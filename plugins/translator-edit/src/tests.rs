//! The questions of each round, and the patches that replies lead to.

use super::*;
use planforge_plugin_common::translating::GrammarUse;
use planforge_plugin_common::translating::testing::{
    LAMPS_DOMAIN as DOMAIN, LAMPS_PROBLEM as PROBLEM, lamps_interface, lamps_request, sample_results,
    transcript,
};
use planforge_plugin_sdk::testing::TestHost;

const CALLS: &str = "The switch needs a wire.\n```python\nadd_or_update_predicates([\"(on ?l - lamp)\", \"(wired ?l - lamp)\", \"(ready)\"])\n\
modify_action(\"switch\", [\"(wired ?l)\", \"(ready)\"], [\"(on ?l)\"])\n```\nThat is all.";

fn plugin(options: EditOptions) -> EditTranslator {
    EditTranslator::create(options, &Secrets::default()).unwrap()
}

fn first_round(n: u32) -> TranslateRequest {
    let mut request = lamps_request(false, n);
    request.task.action_interface = Some(lamps_interface());
    request.candidate.problem = Some(PROBLEM.to_owned());
    request
}

fn with_doors(mut request: TranslateRequest) -> TranslateRequest {
    let materials = [
        ("example.domain-text", "A door can be opened and closed."),
        (
            "example.domain",
            "(define (domain doors) (:requirements :strips) (:predicates (open ?d)) \
             (:action unlatch :parameters (?d) :precondition (not (open ?d)) :effect (open ?d)) \
             (:action shut :parameters (?d) :precondition (open ?d) :effect (and (not (open ?d)))))",
        ),
        ("example.problem", "(define (problem d1) (:domain doors) (:objects a) (:init) (:goal (open a)))"),
    ];
    request.task.materials = materials.iter().copied().collect();
    request
}

/// The messages sent, and the patches of the replies.
fn run(
    options: EditOptions,
    request: &TranslateRequest,
    replies: &[&str],
) -> (Vec<Message>, Vec<Result<CandidatePatch, Failure>>) {
    let host = replies
        .iter()
        .fold(TestHost::for_kind(PluginKind::Translator), |host, reply| host.reply("writer", reply));
    let got = sample_results(plugin(options).translate(&host, request).unwrap());
    assert_eq!(host.requests().len(), 1);
    assert_eq!(host.requests()[0].1.tags.artefact, "edit");
    (host.requests()[0].1.messages.clone(), got)
}

#[test]
fn first_question_with_problem_and_example() {
    let (asked, _) = run(EditOptions::default(), &with_doors(first_round(1)), &[CALLS]);
    insta::assert_snapshot!(transcript(&asked));
}

#[test]
fn first_question_without_example_and_without_reasoning() {
    let mut request = first_round(1);
    request.candidate.problem = None;
    let (asked, _) = run(EditOptions { reason: false, ..Default::default() }, &request, &[CALLS]);
    insta::assert_snapshot!(transcript(&asked));
}

#[test]
fn each_reply_is_applied_to_the_domain_that_the_question_showed() {
    let bad = "```python\nadd_or_update_predicates([\"(on ?l - lamp)\"])\nmodify_action(\"switch\", [\"(wired ?l)\"], [\"(on ?l)\"])\n```";
    let whole = format!("```pddl\n{DOMAIN}\n```");
    let (asked, got) = run(EditOptions::default(), &first_round(4), &[CALLS, bad, "I do not know.", &whole]);
    let shown = asked[1].content.clone();
    let patch = |i: usize| got[i].as_ref().unwrap();
    assert_eq!(patch(0).edits, Some(Edits { applied: 4, refused: 0 }));
    assert!(patch(0).diagnostics.is_empty() && patch(0).raw_reply == CALLS);
    insta::assert_snapshot!(patch(0).domain.as_deref().unwrap());

    assert_eq!(patch(1).edits, Some(Edits { applied: 1, refused: 1 }));
    let refusal = &patch(1).diagnostics[0];
    assert_eq!((refusal.code.as_str(), refusal.file.as_str()), ("pddl.undefined-predicate", "reply"));
    assert_eq!((refusal.line, refusal.column), (3, 26), "the string that says `wired`");
    assert!(refusal.message.contains("`switch`") && refusal.message.contains("`wired`"));

    for (i, words) in [(2, "calls neither function"), (3, "writes a domain instead")] {
        assert_eq!(patch(i).edits, Some(Edits { applied: 0, refused: 0 }));
        assert!(shown.contains(patch(i).domain.as_deref().unwrap().trim_end()), "the domain stays");
        let note = &patch(i).diagnostics[0];
        assert!(note.code == "translate.no-edit" && note.message.contains(words), "{note:?}");
        assert!(note.help[0].contains("modify_action("));
    }
}

#[test]
fn later_rounds_show_the_feedback_and_the_current_domain() {
    let mut request = first_round(1);
    request.candidate.conversation =
        vec![Message::system("s"), Message::user("q"), Message::assistant(CALLS)];
    request.candidate.domain =
        run(EditOptions::default(), &first_round(1), &[CALLS]).1.remove(0).unwrap().domain;
    request.feedback = vec!["`switch red` cannot be executed in the environment.".into()];
    let reply = "```python\nmodify_action(\"switch\", [\"(wired ?l)\", \"(ready)\", \"(not (on ?l))\"], [\"(on ?l)\"])\n```";
    let (asked, got) = run(EditOptions::default(), &request, &[reply]);
    assert_eq!(asked[..3], request.candidate.conversation[..]);
    insta::assert_snapshot!(asked[3].content);
    let patch = got[0].as_ref().unwrap();
    assert_eq!(patch.messages.len(), 2);
    assert!(patch.domain.as_deref().unwrap().contains("(not (on ?l))"));
    assert!(patch.domain.as_deref().unwrap().contains("(wired ?l - lamp)"), "the rest stays");
}

#[test]
fn feedback_without_a_conversation_tells_the_domain_first_and_once() {
    let mut request = first_round(1);
    request.feedback = vec!["Nothing can be done at the start.".into()];
    let (asked, _) = run(EditOptions::default(), &request, &[CALLS]);
    let question = &asked[1].content;
    assert_eq!(question.matches("(:action switch").count(), 1, "{question}");
    assert!(question.contains("A wired lamp") && question.contains("Nothing can be done"), "{question}");
    assert!(!question.contains("Reason first"), "the request stands once, at the end: {question}");
}

#[test]
fn joint_repair_shows_the_problem_with_its_text_and_edits_it() {
    let options = || EditOptions { problem: true, ..Default::default() };
    let mut request = with_doors(first_round(1));
    request.candidate.problem = Some(PROBLEM.replace("(on blue)", "(on green)"));
    let (asked, got) = run(options(), &request, &[CALLS]);
    insta::assert_snapshot!(transcript(&asked));
    assert_eq!(got[0].as_ref().unwrap().problem, None, "nothing edited it");

    let mut again = first_round(1);
    again.candidate.problem = Some(PROBLEM.replace("(on red) ", ""));
    again.candidate.conversation = vec![Message::system("s"), Message::user("q"), Message::assistant(CALLS)];
    again.candidate.domain = Some(DOMAIN.into());
    again.feedback =
        vec!["All 1 steps were executed, and the goal of the task does not hold in the end.".into()];
    let goal = "```python\nedit_goal([\"(on red)\"])\n```";
    let (asked, got) = run(options(), &again, &[goal]);
    insta::assert_snapshot!(asked[3].content);
    let patch = got[0].as_ref().unwrap();
    assert_eq!(patch.edits, Some(Edits { applied: 1, refused: 0 }));
    let problem = planforge_pddl::parse_problem(patch.problem.as_deref().unwrap(), Default::default()).value;
    assert_eq!(problem.goal.unwrap().conjuncts().len(), 2);
    // Without the option the call is unknown, and the problem stays.
    let (_, got) = run(EditOptions::default(), &again, &[goal]);
    assert_eq!(
        (got[0].as_ref().unwrap().problem.clone(), got[0].as_ref().unwrap().edits),
        (None, Some(Edits::default()))
    );
}

#[test]
fn joint_repair_begins_with_the_objects_where_no_problem_can_be_read() {
    let options = EditOptions { problem: true, ..Default::default() };
    let reply = "```python\nadd_or_update_predicates([\"(on ?l - lamp)\"])\nmodify_action(\"switch\", [], [\"(on ?l)\"])\n\
edit_goal([\"(on red)\"])\n```";
    for written in [None, Some("(define (problem".to_owned())] {
        let mut request = first_round(1);
        request.candidate.problem = written;
        let (asked, got) = run(options.clone(), &request, &[reply]);
        assert!(
            asked[1].content.contains("No change of the domain repairs this in it:"),
            "{}",
            asked[1].content
        );
        let patch = got[0].as_ref().unwrap();
        assert_eq!(patch.edits, Some(Edits { applied: 3, refused: 0 }), "{:?}", patch.diagnostics);
        let problem = patch.problem.as_deref().unwrap();
        assert!(problem.contains("(on red)") && problem.contains("blue - lamp"), "{problem}");
    }
}

#[test]
fn a_cut_off_reply_gives_the_calls_before_the_cut() {
    let cut = |content: &str| Reply::new(content, FinishReason::Length);
    let after_the_first = &CALLS[..CALLS.find("[\"(wired ?l)\"").unwrap()];
    let before_any = &CALLS[..40];
    let host = TestHost::new()
        .answer("writer", Ok(cut(after_the_first)))
        .answer("writer", Ok(cut(before_any)))
        .answer("writer", Ok(Reply { finish: FinishReason::ContentFilter, ..cut(CALLS) }));
    let got = sample_results(plugin(EditOptions::default()).translate(&host, &first_round(3)).unwrap());
    let first = got[0].as_ref().unwrap();
    assert_eq!(first.edits, Some(Edits { applied: 3, refused: 1 }));
    let codes: Vec<&str> = first.diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["translate.edit-form", "translate.edits-cut-off"]);
    assert!(first.diagnostics[0].message.contains("it is not closed"));
    assert_eq!(got[1].as_ref().unwrap_err().code, "reply.cut-off");
    assert_eq!(got[2].as_ref().unwrap_err().code, "reply.filtered");
}

#[test]
fn the_candidates_own_domain_is_edited_however_broken() {
    let mut request = first_round(1);
    request.candidate.domain = Some(DOMAIN.replace("(ready))\n    :effect", "(ready)\n    :effect"));
    let (_, got) =
        run(EditOptions::default(), &request, &["```python\nadd_or_update_predicates(['(dim ?l)'])\n```"]);
    let patch = got[0].as_ref().unwrap();
    assert!(patch.domain.as_deref().unwrap().contains("(dim ?l)"), "{:?}", patch.domain);
    assert!(patch.diagnostics.iter().any(|d| d.file == "domain"), "what was wrong with it is told");

    request.candidate.domain = Some("(define (domain empty))".into());
    let failure = plugin(EditOptions::default()).translate(&TestHost::new(), &request).unwrap_err();
    assert_eq!(
        (failure.class, failure.code.as_str()),
        (FailureClass::Request, "translate.no-domain-to-edit")
    );
}

#[test]
fn the_template_takes_the_name_that_the_problem_wants() {
    let mut request = first_round(1);
    request.task.materials.insert(
        "domain.template",
        "(define (domain other) (:predicates) (:action switch :parameters (?l)))".into(),
    );
    let (asked, _) = run(EditOptions::default(), &request, &[CALLS]);
    assert!(asked[1].content.contains("(define (domain lamps)"), "{}", asked[1].content);
}

#[test]
fn nothing_to_begin_with_is_a_failure_of_the_request() {
    let mut request = first_round(1);
    request.task.action_interface = None;
    let failure = plugin(EditOptions::default()).translate(&TestHost::new(), &request).unwrap_err();
    assert_eq!(failure.code, "translate.no-template");
    let mut request = first_round(1);
    request.task.domain_text.clear();
    let failure = plugin(EditOptions::default()).translate(&TestHost::new(), &request).unwrap_err();
    assert_eq!(failure.code, "translate.no-text");
}

#[test]
fn an_example_whose_domain_cannot_be_read_is_a_failure_of_the_request() {
    let mut request = with_doors(first_round(1));
    request.task.materials.insert("example.domain", "(define (domain doors) (:action".into());
    let failure = plugin(EditOptions::default()).translate(&TestHost::new(), &request).unwrap_err();
    assert_eq!(failure.code, "translate.no-example");
}

#[test]
fn tokens_are_counted() {
    let token = TokenLogprob { token: "t".into(), logprob: -1.0 };
    let content = "```python\nmodify_action(\"switch\", [\"(wired ?l)\"], [\"(on ?l)\"])\n```".to_owned();
    let reply = Reply { logprobs: Some(vec![token; 4]), ..Reply::new(content, FinishReason::Stop) };
    let host = TestHost::new().answer("writer", Ok(reply));
    let mut request = lamps_request(false, 1);
    request.candidate.domain = Some(DOMAIN.into());
    let options = EditOptions { logprobs: true, ..Default::default() };
    let patch = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert_eq!((patch.log_likelihood, patch.tokens), (Some(-4.0), Some(4)));
}

#[test]
fn every_code_is_explained_once() {
    let mut codes: Vec<&str> = CODES.iter().map(|c| c.code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), CODES.len());
    assert!(CODES.iter().all(|c| c.code.starts_with("translate.") && c.explanation.len() > c.title.len()));
}

/// Replies written by hand in shapes that models give, with what they are worth: applied, refused.
#[test]
fn replies_of_many_shapes() {
    let corpus: [(&str, u32, u32); 14] = [
        // Markdown around inline code, no block.
        (
            "**Predicates**: `add_or_update_predicates([\"(on ?l - lamp)\"])`\n\n1. Then `modify_action(\"switch\", [], [\"(on ?l)\"])`.",
            2,
            0,
        ),
        // The name with an underscore, and a list of conditions as one string.
        (
            "```python\nadd_or_update_predicates([\"(on ?l - lamp)\"])\nmodify_action(\"Switch\", [\"(not (on ?l))\"], \"(on ?l)\")\nmodify_action(\"swap_lamps\", [], [\"(on ?a)\"])\n```",
            2,
            1,
        ),
        // Another parameter than the interface has.
        (
            "```python\nadd_or_update_predicates([\"(on ?l - lamp)\"])\nmodify_action(\"switch\", [\"(not (on ?lamp))\"], [\"(on ?lamp)\"])\n```",
            1,
            1,
        ),
        // Question marks forgotten everywhere.
        (
            "```python\nadd_or_update_predicates([\"(on l - lamp)\"])\nmodify_action(\"switch\", [], [\"(on l)\"])\n```",
            0,
            2,
        ),
        // Parentheses forgotten.
        (
            "```python\nadd_or_update_predicates([\"on ?l - lamp\"])\nmodify_action(\"switch\", [\"not on ?l\"], [\"on ?l\"])\n```",
            0,
            2,
        ),
        // The interface repeated before it is called.
        (
            "```python\ndef add_or_update_predicates(predicates: List[str]):\n    ...\n\nadd_or_update_predicates([\"(on ?l - lamp)\"])\n```",
            1,
            0,
        ),
        // Descriptions in the strings, and a comment behind a bracket.
        (
            "```python\nadd_or_update_predicates([\n  \"(on ?l - lamp): lamp ?l is on\",\n  \"(ready) ; the house (all of it) is ready\",\n])  # two\n```",
            2,
            0,
        ),
        // A tool call.
        (
            "<tool_call>\n{\"name\": \"add_or_update_predicates\", \"arguments\": {\"predicates\": [\"(on ?l - lamp)\", \"(ready)\"]}}\n</tool_call>",
            2,
            0,
        ),
        // Invalid JSON breaks off; complete calls before it count.
        (
            "```json\n[\n  {\"function\": \"add_or_update_predicates\", \"arguments\": {\"predicates\": [\"(ready)\"]}},\n  {\"function\": \"modify_action\", \"arguments\": {\"action_name\": \"switch\" \"new_effects\": []}}\n]\n```",
            1,
            1,
        ),
        // Unquoted PDDL is not Python.
        ("```python\nadd_or_update_predicates([(on ?l - lamp)])\n```", 0, 1),
        // Numeric and unknown constructs.
        (
            "```python\nadd_or_update_predicates([\"(on ?l - lamp)\"])\nmodify_action(\"switch\", [], [\"(on ?l)\", \"(increase (cost) 1)\"])\n```",
            1,
            1,
        ),
        // A whole section as the string.
        (
            "```python\nadd_or_update_predicates(\"\"\"(:predicates\n  (on ?l - lamp)\n  (ready))\"\"\")\n```",
            2,
            0,
        ),
        // Conditions joined by a word.
        (
            "```python\nadd_or_update_predicates([\"(on ?l - lamp)\", \"(ready)\"])\nmodify_action(\"switch\", [\"(ready) and (not (on ?l))\"], [\"(on ?l)\"])\n```",
            2,
            1,
        ),
        // Two blocks with corrections: the last one counts.
        (
            "```python\nadd_or_update_predicates([\"(on ?l)\"])\n```\nNo, with its type:\n```python\nadd_or_update_predicates([\"(on ?l - lamp)\"])\nmodify_action(\"switch\", [], [\"(on ?l)\"])\n```",
            3,
            0,
        ),
    ];
    for (reply, applied, refused) in corpus {
        let (_, got) = run(EditOptions::default(), &first_round(1), &[reply]);
        let patch = got[0].as_ref().unwrap();
        assert_eq!(patch.edits, Some(Edits { applied, refused }), "{reply}\n{:#?}", patch.diagnostics);
        let errors = patch.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Error).count();
        assert_eq!(errors > 0, refused > 0, "{reply}\n{:#?}", patch.diagnostics);
        let parsed = planforge_pddl::parse_domain(
            patch.domain.as_deref().unwrap(),
            planforge_diagnostics::SourceId(0),
        );
        assert!(!parsed.has_errors(), "{reply}");
    }
}

/// Mistakes of form that a small model made: types in atoms, and an atom without parentheses.
#[test]
fn mistakes_of_a_small_model_are_repaired_only_with_safe_fixes() {
    let reply = "1. **switch** needs a wire.\n\nHere are the calls:\n\n```python\nadd_or_update_predicates([\n    \"(on ?l - lamp)\",\n    \"wired ?l - lamp\",\n])\n\n\
modify_action(\n    \"switch\",\n    [\n        \"wired ?l\",\n        \"(not (on ?l - lamp))\",\n    ],\n    [\n        \"(on ?l - lamp)\",  # it is on now\n    ],\n)\n```\n";
    let mut request = first_round(1);
    let (_, got) = run(EditOptions::default(), &request, &[reply]);
    let strict = got[0].as_ref().unwrap();
    assert_eq!(strict.edits, Some(Edits { applied: 1, refused: 2 }));
    let codes: Vec<&str> = strict.diagnostics.iter().map(|d| d.code.as_str()).collect();
    let (bare, typed) = ("translate.edit-parentheses", "translate.edit-typed-atom");
    assert_eq!(codes, [bare, bare, typed, typed], "{:?}", strict.diagnostics);

    request.fixes = FixPolicy::Safe;
    let (_, got) = run(EditOptions::default(), &request, &[reply]);
    let fixed = got[0].as_ref().unwrap();
    assert_eq!(fixed.edits, Some(Edits { applied: 3, refused: 0 }), "{:?}", fixed.diagnostics);
    let codes: Vec<&str> = fixed.fixes.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, [bare, bare, typed, typed]);
    let domain = fixed.domain.as_deref().unwrap();
    assert!(domain.contains(":precondition (and (wired ?l) (not (on ?l)))"), "{domain}");
}

#[test]
fn a_grammar_is_of_the_calls_and_the_actions_of_the_domain() {
    let constraint = |grammar, problem| {
        let host = TestHost::for_kind(PluginKind::Translator).reply("writer", CALLS);
        let options = EditOptions { grammar, problem, ..Default::default() };
        let _ = plugin(options).translate(&host, &first_round(1)).unwrap();
        host.requests()[0].1.constraint.clone()
    };
    assert_eq!(constraint(GrammarUse::Off, false), None);
    let found = constraint(GrammarUse::Require, false).unwrap();
    assert!(found.required && found.schema.unwrap()["properties"].get("calls").is_some());
    for part in ["modify_action", "\\\"switch\\\"", "```python", "thought"] {
        assert!(found.gbnf.contains(part), "{part}: {}", found.gbnf);
    }
    assert!(!found.gbnf.contains("edit_goal"));
    assert!(constraint(GrammarUse::Prefer, true).unwrap().gbnf.contains("edit_goal"));
}

#[test]
fn calls_in_json_of_the_schema_are_made() {
    let json = r#"{"calls": [
        {"function": "add_or_update_predicates", "predicates": [
            {"name": "dusty", "parameters": [{"name": "?l", "type": "lamp"}]}, {"name": "on", "parameters": [{"name": "?l", "type": "lamp"}]}]},
        {"function": "modify_action", "action": "switch", "preconditions": [{"not": {"predicate": "dusty", "arguments": ["?l"]}}],
            "effects": [{"predicate": "on", "arguments": ["?l"]}]}]}"#;
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", json);
    let options = EditOptions { grammar: GrammarUse::Require, ..Default::default() };
    let patch = sample_results(plugin(options).translate(&host, &first_round(1)).unwrap()).remove(0).unwrap();
    let domain = patch.domain.unwrap();
    assert!(domain.contains("(dusty ?l - lamp)") && domain.contains("(not (dusty ?l))"), "{domain}");
    assert_eq!(patch.edits, Some(Edits { applied: 3, refused: 0 }));
    assert_eq!(patch.raw_reply, json);
}
