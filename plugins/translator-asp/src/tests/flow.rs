//! Outcomes of replies: problems, failed samples, second questions.

use super::*;
use planforge_diagnostics::SourceId;
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use planforge_plugin_common::translating::GrammarUse;

/// True if a problem is that of p01 of grippers up to the names of its objects.
fn is_p01(problem: &str) -> bool {
    let domain = planforge_pddl::parse_domain(GRIPPERS, SourceId(0)).value;
    let [a, b] =
        [GRIPPERS_PROBLEM, problem].map(|text| planforge_pddl::parse_problem(text, SourceId(0)).value);
    matches!(
        equivalent_problems(&domain, &a, &b, 100_000, &mut planforge_planning::Unlimited),
        ProblemEquivalence::Equal { .. }
    )
}

fn with_ir(ir: &str) -> TranslateRequest {
    let mut request = grippers(1);
    request.candidate.texts.named.insert("ir".into(), ir.into());
    request
}

fn infer(ir: &str) -> Result<CandidatePatch, Failure> {
    sample(of_mode(Mode::Infer), &host(&[]), &with_ir(ir))
}

#[test]
fn a_representation_becomes_the_problem_without_a_question() {
    let patch = infer(GRIPPERS_IR).unwrap();
    assert!(is_p01(patch.problem.as_deref().unwrap()), "{:?}", patch.problem);
    assert_eq!(patch.texts.named["ir"], GRIPPERS_IR);
    let inference = patch.inference.unwrap();
    let robot = inference.entries.iter().find(|e| e.pddl == "robot1 - robot").unwrap();
    let atom = &inference.atoms[robot.atoms[0] as usize];
    assert_eq!(atom.atom, "object(robot1, robot)");
    assert_eq!(inference.rules[atom.rule as usize].text, "object(X, robot) :- init(robot_in(X, _)).");
    assert_eq!(inference.atoms[atom.premises[0] as usize].atom, "init(robot_in(robot1, room3))");
    // The three rooms are not counted in the reply; their names follow from their contents.
    let idle: Vec<u32> = inference.idle.iter().map(|idle| inference.rules[idle.rule as usize].line).collect();
    assert_eq!(idle, [1, 2, 3, 4]);
}

#[test]
fn a_reply_in_prose_and_a_code_block_is_read() {
    let reply = format!("Here it is:\n\n```asp\n{GRIPPERS_IR}```\nThat is all.");
    let host = host(&[&reply]);
    let patch = sample(of_mode(Mode::Ic), &host, &grippers(1)).unwrap();
    assert!(is_p01(patch.problem.as_deref().unwrap()));
    assert_eq!(patch.raw_reply, reply);
    let roles: Vec<Speaker> = patch.messages.iter().map(|m| m.role).collect();
    assert_eq!(roles, [Speaker::System, Speaker::User, Speaker::Assistant]);
}

#[test]
fn each_sample_is_on_its_own() {
    let host = host(&[
        GRIPPERS_IR,
        "I cannot do that.",
        &GRIPPERS_IR.replace("ball_in(ball1, room2)", "ball_in(ball1, room1)"),
    ]);
    let found = samples(plugin(of_mode(Mode::G1)).translate(&host, &grippers(3)).unwrap());
    assert!(is_p01(found[0].as_ref().unwrap().problem.as_deref().unwrap()));
    let failure = found[1].as_ref().unwrap_err();
    assert_eq!(failure.class, FailureClass::Reply, "{failure}");
    assert!(!is_p01(found[2].as_ref().unwrap().problem.as_deref().unwrap()));
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn three_answers_make_one_representation() {
    let counts = "```python\n{'room': {'count': 3}, 'robot': None, 'ball': 2,}\n```";
    let names = "{'room': ['Room1', 'room2', 'room3'], 'robot': ['robot1'], 'gripper': ['left1', 'right1'], 'ball': ['ball1', 'ball2']}";
    let rules: String = GRIPPERS_IR
        .lines()
        .filter(|l| l.starts_with("init") || l.starts_with("goal"))
        .map(|l| format!("{l}\n"))
        .collect();
    let host = host(&[counts, names, &rules]);
    let patch = sample(of_mode(Mode::G3), &host, &grippers(1)).unwrap();
    assert!(is_p01(patch.problem.as_deref().unwrap()), "{:?}", patch.problem);
    let ir = &patch.texts.named["ir"];
    assert!(ir.starts_with("cardinality(room, 3).\ncardinality(ball, 2).\nobject(room1, room).\n"), "{ir}");
    assert!(ir.ends_with(&rules), "{ir}");
    // The conversation that goes on is that of the last question, which has the others' answers in it.
    assert_eq!(patch.messages.len(), 3);
    assert!(patch.raw_reply.contains(counts) && patch.raw_reply.contains(names), "{}", patch.raw_reply);
}

#[test]
fn the_first_two_questions_are_asked_once_for_all_samples() {
    let names = "{'room': ['room1', 'room2', 'room3']}";
    let host = host(&[
        "{'room': 3}",
        "none",
        "{'room': 3}",
        names,
        names,
        names,
        GRIPPERS_IR,
        "init(robot_in(robot1, room3)). goal(robot_in(robot1, room1)).",
    ]);
    let found = samples(plugin(of_mode(Mode::G3)).translate(&host, &grippers(3)).unwrap());
    assert!(is_p01(found[0].as_ref().unwrap().problem.as_deref().unwrap()));
    assert_eq!(found[1].as_ref().unwrap_err().code, "translate-asp.json");
    assert!(!is_p01(found[2].as_ref().unwrap().problem.as_deref().unwrap()));
    let asked: Vec<u32> = host.requests().iter().map(|(_, r)| r.sampling.n.unwrap()).collect();
    assert_eq!(asked, [3, 3, 1, 1], "the sample that failed is not asked about rules");
}

#[test]
fn a_table_that_cannot_be_read_fails_the_sample_or_is_asked_for_again() {
    let names = "{'room': ['room1']}";
    let once = host(&["{'room': 3", names]);
    let failure = sample(of_mode(Mode::G3), &once, &grippers(1)).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Reply, "translate-asp.json"));
    assert!(
        failure.message.contains("cardinalities") && failure.message.contains("line 1, column 11"),
        "{failure}"
    );
    let again = host(&["{'room': 3", names, "{'room': 3}", GRIPPERS_IR]);
    let options = AspTranslatorOptions { repair_rounds: 1, ..of_mode(Mode::G3) };
    let patch = sample(options, &again, &grippers(1)).unwrap();
    assert!(is_p01(patch.problem.as_deref().unwrap()));
    let asked = question(&again, 2);
    assert!(asked.contains("`,` or `}` is missing (line 1, column 11)"), "{asked}");
    assert!(asked.contains("{'room': 3\n"), "the conversation goes on: {asked}");
}

#[test]
fn a_refused_statement_is_told_and_asked_about_in_the_same_conversation() {
    let wrong = GRIPPERS_IR.replace("init(ball_in(ball2, room1)).", "init(lies_in(ball2, room1)).");
    let failure = sample(of_mode(Mode::Ic), &host(&[&wrong]), &grippers(1)).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Reply, "translate-asp.refused"));
    let told = &failure.diagnostics[0];
    assert_eq!((told.file.as_str(), told.line), ("ir", 9), "{told:?}");
    assert!(failure.message.contains("line 9"), "{failure}");

    let twice = host(&[&wrong, &wrong, GRIPPERS_IR]);
    let options = AspTranslatorOptions { repair_rounds: 2, ..of_mode(Mode::Ic) };
    let patch = sample(options, &twice, &grippers(1)).unwrap();
    assert!(is_p01(patch.problem.as_deref().unwrap()));
    let asked = question(&twice, 1);
    assert!(asked.contains("line 9, column"), "{asked}");
    assert!(asked.contains("init(lies_in(ball2, room1))."), "{asked}");
    assert_eq!(twice.requests()[2].1.messages.len(), 6);
    assert_eq!(patch.messages.len(), 7);
    assert_eq!(twice.left_over(), 0);
}

#[test]
fn places_in_a_second_question_are_of_what_the_model_wrote() {
    let (counts, names) = ("{'room': 3}", "{'room': ['room1', 'room2', 'room3']}");
    let host = host(&[counts, names, "init(nowhere(room1)).\n", GRIPPERS_IR]);
    let options = AspTranslatorOptions { repair_rounds: 1, ..of_mode(Mode::G3) };
    sample(options, &host, &grippers(1)).unwrap();
    let asked = question(&host, 3);
    assert!(asked.contains("- line 1, column 1: there is no predicate `nowhere`"), "{asked}");
}

#[test]
fn a_conflict_is_told_to_the_model_in_the_lines_that_it_wrote() {
    let (counts, names) = ("{'room': 3}", "{'room': ['room1', 'room2', 'room3', 'room4']}");
    let rules = "init(ball_in(ball1, room1)).\ninit(ball_in(ball1, room2)).\n";
    let host = host(&[counts, names, rules, GRIPPERS_IR]);
    let options = AspTranslatorOptions { repair_rounds: 1, ..of_mode(Mode::G3) };
    drop(sample(options, &host, &grippers(1)));
    let asked = question(&host, 3);
    assert!(asked.contains("2 things in your program are wrong"), "{asked}");
    assert!(asked.contains("  (said before (`object(room4, room)`): object(room4, room).)"), "{asked}");
    assert!(
        asked.contains("  (line 2 (`init(ball_in(ball1, room2))`): init(ball_in(ball1, room2)).)"),
        "{asked}"
    );
}

#[test]
fn a_domain_whose_names_become_one_is_no_fault_of_the_reply() {
    let mut request = with_ir(GRIPPERS_IR);
    let twice = GRIPPERS.replacen("(empty ?r", "(ball_in ?x) (empty ?r", 1);
    request.task.given.domain = Some(twice);
    let failure = plugin(of_mode(Mode::Infer)).translate(&host(&[]), &request).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Request, "translate-asp.no-domain"));
    assert!(failure.message.contains("ball_in"), "{failure}");
}

#[test]
fn a_conflict_says_which_facts_contradict_what_is_known() {
    let failure = infer(&format!("{GRIPPERS_IR}init(ball_in(ball2, room2)).\n")).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Reply, "translate-asp.conflict"));
    let told = serde_json::to_string(&failure.diagnostics).unwrap();
    assert!(told.contains("ball_in(ball2") && told.contains("room1") && told.contains("room2"), "{told}");
    let failure = infer(&GRIPPERS_IR.replace("cardinality(room, 3)", "cardinality(room, 2)")).unwrap_err();
    assert_eq!(failure.code, "translate-asp.conflict", "{failure}");
}

/// A knowledge file with a choice.
fn with_choice(rule: &str) -> TranslateRequest {
    let mut request = with_ir(GRIPPERS_IR);
    request.task.materials.insert("asp.knowledge", format!("{rule}\n"));
    request
}

#[test]
fn several_answers_are_one_problem_up_to_names_or_ambiguous() {
    let several = with_choice("1 { init(holds(robot1, G, ball1)) : object(G, gripper) } 1.");
    let patch = sample(of_mode(Mode::Infer), &host(&[]), &several).unwrap();
    assert!(patch.problem.unwrap().contains("(holds robot1"));
    let several = with_choice("1 { goal(ball_in(ball2, R)) : object(R, room) } 1.");
    let failure = sample(of_mode(Mode::Infer), &host(&[]), &several).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Reply, "translate-asp.ambiguous"));
    let told = serde_json::to_string(&failure.diagnostics).unwrap();
    assert!(told.contains("ball_in") && told.contains("ball2"), "{told}");
}

#[test]
fn the_comparison_of_several_answers_ends_with_the_time_or_the_run() {
    let several = with_choice("1 { init(holds(robot1, G, ball1)) : object(G, gripper) } 1.");
    let failure = sample(of_mode(Mode::Infer), &host(&[]).remaining_ms(0), &several).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "translate-asp.comparison"));
    assert!(failure.message.ends_with("(the time limit)"), "{failure}");
    let interrupted = host(&[]);
    interrupted.cancel();
    let failure = sample(of_mode(Mode::Infer), &interrupted, &several).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Cancelled, "translate-asp.comparison"));
}

#[test]
fn a_mistake_in_the_knowledge_file_is_no_fault_of_the_reply() {
    let request = with_choice("init(unheard_of(");
    let failure = plugin(of_mode(Mode::Infer)).translate(&host(&[]), &request).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Request, "translate-asp.knowledge"));
    assert_eq!(failure.diagnostics[0].file, "knowledge");
}

#[test]
fn a_limit_is_no_verdict_and_no_second_question_is_asked() {
    let slow = TestHost::for_capabilities(
        PluginKind::Translator,
        Capabilities { worker: true, ..Capabilities::default() },
    )
    .worker(|_| Err(Failure::new(FailureClass::Limit, "host.worker-limit", "out of time")))
    .reply(ROLE, GRIPPERS_IR);
    let options = AspTranslatorOptions { repair_rounds: 3, ..of_mode(Mode::Ic) };
    let failure = sample(options, &slow, &grippers(1)).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "host.worker-limit"));
    let large = AspTranslatorOptions {
        limits: Limits { program_kb: 1, ..Limits::default() },
        ..of_mode(Mode::Infer)
    };
    let text = format!("{GRIPPERS_IR}%{}\n", " ".repeat(1024));
    let failure = sample(large, &host(&[]), &with_ir(&text)).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "translate-asp.size"));
    let small =
        AspTranslatorOptions { limits: Limits { answer_kb: 1, ..Limits::default() }, ..of_mode(Mode::Infer) };
    let many = format!("{GRIPPERS_IR}cardinality(ball, 2000).\n");
    let failure = sample(small, &host(&[]), &with_ir(&many)).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "translate-asp.size"));
}

#[test]
fn a_search_that_takes_too_long_is_a_limit() {
    // Ten pigeons and nine holes in a knowledge file: no answer, and a search to show it.
    let pigeons =
        "pigeon(1..12). hole(1..11). 1 { in(P, H) : hole(H) } 1 :- pigeon(P). :- in(P, H), in(Q, H), P < Q.";
    let options =
        AspTranslatorOptions { limits: Limits { time_s: 0.3, ..Limits::default() }, ..of_mode(Mode::Infer) };
    let failure = sample(options, &host(&[]), &with_choice(pigeons)).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "translate-asp.time"));
}

#[test]
fn feedback_is_asked_about_with_the_program_where_the_conversation_does_not_show_it() {
    let mut request = with_ir(GRIPPERS_IR);
    request.feedback = vec!["ball1 is nowhere".into()];
    let fresh = host(&[GRIPPERS_IR]);
    let patch = sample(of_mode(Mode::G3), &fresh, &request).unwrap();
    assert!(is_p01(patch.problem.as_deref().unwrap()));
    let asked = question(&fresh, 0);
    assert!(asked.contains("ball1 is nowhere") && asked.contains("This program was written"), "{asked}");
    request.candidate.conversation = vec![Message::user("write"), Message::assistant(GRIPPERS_IR)];
    let going = host(&[GRIPPERS_IR]);
    let patch = sample(of_mode(Mode::G3), &going, &request).unwrap();
    let asked = question(&going, 0);
    assert!(asked.contains("ball1 is nowhere") && !asked.contains("This program was written"), "{asked}");
    assert_eq!(patch.messages.len(), 2, "only what is new");
}

#[test]
fn a_reply_that_was_cut_off_is_not_judged() {
    let cut = Reply::new(GRIPPERS_IR, FinishReason::Length);
    let host = host(&[]).answer(ROLE, Ok(cut));
    assert_eq!(sample(of_mode(Mode::Ic), &host, &grippers(1)).unwrap_err().code, "reply.cut-off");
}

#[test]
fn a_grammar_is_of_the_vocabulary_and_questions_in_json_have_none() {
    let options = |mode, grammar| AspTranslatorOptions { mode, grammar, ..Default::default() };
    for (grammar, required) in [(GrammarUse::Prefer, false), (GrammarUse::Require, true)] {
        let host = super::host(&[GRIPPERS_IR]);
        let _ = plugin(options(Mode::Ic, grammar)).translate(&host, &grippers(1)).unwrap();
        let found = host.requests()[0].1.constraint.clone().unwrap();
        assert_eq!(found.required, required);
        assert!(found.gbnf.contains("\"ball_in\"") && found.gbnf.contains("```asp"), "{}", found.gbnf);
    }
    let host = super::host(&[GRIPPERS_IR]);
    let _ = plugin(options(Mode::Ic, GrammarUse::Off)).translate(&host, &grippers(1)).unwrap();
    assert_eq!(host.requests()[0].1.constraint, None);
    let in_json = serde_json::json!({"statements": GRIPPERS_IR.lines().collect::<Vec<_>>()}).to_string();
    let host = super::host(&[&in_json]);
    let patch = sample(options(Mode::Ic, GrammarUse::Require), &host, &grippers(1)).unwrap();
    assert!(is_p01(patch.problem.as_deref().unwrap()));
    let host = super::host(&[GRIPPERS_IR]);
    let failure = plugin(options(Mode::G3, GrammarUse::Require)).translate(&host, &grippers(1)).unwrap_err();
    assert_eq!(failure.code, "translate.no-grammar");
}
