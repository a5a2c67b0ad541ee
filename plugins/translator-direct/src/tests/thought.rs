//! Thought and PDDL in one reply, and both written anew from a critique.

use super::*;
use planforge_contract::{FinishReason, Reply, TokenLogprob};

const THOUGHT: &str = "predicate on: the lamp ?l is lit\naction switch: lights a wired lamp";

fn thinking(mode: Mode) -> Options {
    Options { mode, form: Some(Form::Thought), template: true, ..Options::default() }
}

fn answer(what: &str, pddl: &str) -> String {
    format!("### Thought:\n{THOUGHT}\n\n### {what}:\n```pddl\n{pddl}\n```")
}

/// A task with text, interface and problem, as the pipelines for best-of-N give them.
fn task() -> TranslateRequest {
    let mut request = request(false, 1);
    request.task.action_interface = Some(interface());
    request.task.given.problem = Some(PROBLEM.into());
    request
}

/// What a first question led to, and what a critic had to say.
fn written() -> TranslateRequest {
    let mut request = task();
    request.candidate.domain = Some(DOMAIN.into());
    request.candidate.problem = Some(PROBLEM.into());
    request.candidate.thought = Some(THOUGHT.into());
    request.candidate.conversation =
        vec![Message::system("Be."), Message::user("Write."), Message::assistant("Done.")];
    request.feedback = vec!["1. action switch: nothing says that the lamp is off before.".into()];
    request
}

fn updating() -> Options {
    Options { mode: Mode::Update, template: true, ..Options::default() }
}

#[test]
fn a_domain_from_a_text_with_interface_and_problem() {
    insta::assert_snapshot!(question(thinking(Mode::Domain), &task()));
}

#[test]
fn a_domain_from_a_text_alone() {
    let options = Options { template: false, ..thinking(Mode::Domain) };
    insta::assert_snapshot!(question(options, &request(false, 1)));
}

#[test]
fn a_domain_from_a_problem_alone() {
    let mut request = task();
    request.task.domain_text.clear();
    request.task.task_text.clear();
    insta::assert_snapshot!(question(thinking(Mode::Domain), &request));
    // In the plain form too, and each with a note in the record.
    let plain = Options { mode: Mode::Domain, ..Options::default() };
    let asked = question(plain.clone(), &request);
    assert!(asked.contains("the planning domain that a problem belongs to"), "{asked}");
    for (options, reply) in [(plain, DOMAIN.to_owned()), (thinking(Mode::Domain), answer("Domain", DOMAIN))] {
        let host = TestHost::new().reply("writer", &reply);
        let patch = samples(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
        assert_eq!(patch.diagnostics.last().unwrap().code, "translate.from-problem");
    }
}

#[test]
fn a_problem_with_the_domain_given() {
    let mut request = request(true, 1);
    request.task.action_interface = Some(interface());
    let options = thinking(Mode::Problem);
    insta::assert_snapshot!(question(options.clone(), &request));
    let host = TestHost::new().reply("writer", &answer("Problem", PROBLEM));
    let patch = samples(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert_eq!((patch.thought.as_deref(), patch.problem.as_deref()), (Some(THOUGHT), Some(PROBLEM)));
    assert!(!patch.rewrite);
}

#[test]
fn no_example_is_shown_with_a_thought() {
    let mut request = with_example(request(true, 1));
    assert!(!question(Options { template: false, ..thinking(Mode::Problem) }, &request).contains("green"));
    request.feedback = vec!["The lamp red is missing.".into()];
    request.candidate.problem = Some(PROBLEM.into());
    let asked = question(Options { template: false, ..thinking(Mode::Problem) }, &request);
    assert!(
        asked.contains("It was checked") && asked.ends_with("initial state and goal\n)\n```\n"),
        "{asked}"
    );
}

#[test]
fn thought_and_domain_go_with_the_candidate_and_their_likelihood_is_one() {
    let token = |logprob| TokenLogprob { token: "t".into(), logprob };
    let reply = Reply {
        content: answer("Domain", DOMAIN),
        finish: FinishReason::Stop,
        logprobs: Some(vec![token(-1.0), token(-0.5)]),
    };
    let host = TestHost::new().answer("writer", Ok(reply.clone())).answer("writer", Ok(reply));
    let options = Options { logprobs: true, ..thinking(Mode::Domain) };
    let got = samples(plugin(options).translate(&host, &TranslateRequest { n: 2, ..task() }).unwrap());
    let patch = got[1].as_ref().unwrap();
    assert_eq!((patch.thought.as_deref(), patch.domain.as_deref()), (Some(THOUGHT), Some(DOMAIN)));
    assert_eq!((patch.log_likelihood, patch.tokens), (Some(-1.5), Some(2)));
    assert_eq!(patch.messages.len(), 3);
    assert!(patch.diagnostics.is_empty(), "{:?}", patch.diagnostics);
    let (role, request) = &host.requests()[0];
    assert_eq!((role.as_str(), request.tags.artefact.as_str()), ("writer", "domain"));
    assert_eq!((request.sampling.n, request.sampling.logprobs), (Some(2), Some(true)));
}

#[test]
fn tokens_are_counted_in_every_form() {
    let token = TokenLogprob { token: "t".into(), logprob: -1.0 };
    let scored = |content: &str| {
        Ok(Reply {
            content: content.into(),
            finish: FinishReason::Stop,
            logprobs: Some(vec![token.clone(); 4]),
        })
    };
    for (mode, replies, tokens) in [
        (Mode::Problem, vec![PROBLEM], 4),
        (Mode::Domain, vec![DOMAIN], 4),
        (Mode::Both, vec![DOMAIN, PROBLEM], 8),
        (Mode::Edit, vec!["```python\nmodify_action(\"switch\", [\"(wired ?l)\"], [\"(on ?l)\"])\n```"], 4),
    ] {
        let host = replies.iter().fold(TestHost::new(), |host, reply| host.answer("writer", scored(reply)));
        let options = Options { mode, logprobs: true, ..Options::default() };
        let mut request = request(mode == Mode::Problem, 1);
        if mode == Mode::Edit {
            request.candidate.domain = Some(DOMAIN.into());
        }
        let patch = samples(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
        assert_eq!((patch.log_likelihood, patch.tokens), (Some(-(tokens as f64)), Some(tokens)), "{mode:?}");
    }
}

#[test]
fn an_update_shows_text_thought_domain_and_critique_and_stands_alone() {
    let host =
        TestHost::new().reply("writer", &answer("Domain", &DOMAIN.replace("(ready)", "(not (on ?l))")));
    let got = samples(plugin(updating()).translate(&host, &written()).unwrap()).remove(0).unwrap();
    let asked = host.requests().remove(0).1;
    assert_eq!(asked.tags.artefact, "update");
    assert_eq!(asked.messages.len(), 2, "the conversation is not carried");
    insta::assert_snapshot!(transcript(&asked.messages));
    assert!(got.rewrite && got.messages.is_empty());
    assert!(got.domain.unwrap().contains("(not (on ?l))"));
    assert_eq!(got.thought.as_deref(), Some(THOUGHT));
}

#[test]
fn an_update_of_a_problem() {
    let mut request = written();
    request.candidate.thought = None;
    let options = Options { artefact: Some(Artefact::Problem), template: false, ..updating() };
    let host = TestHost::new().reply("writer", &answer("Problem", PROBLEM));
    let got = samples(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert_eq!((got.domain, got.problem.as_deref()), (None, Some(PROBLEM)));
    insta::assert_snapshot!(transcript(&host.requests()[0].1.messages));
}

#[test]
fn an_update_says_so_where_the_critic_found_nothing() {
    let mut request = written();
    request.feedback.clear();
    request.task.domain_text.clear();
    insta::assert_snapshot!(question(updating(), &request));
}

#[test]
fn an_update_says_so_where_no_domain_stands() {
    let mut request = written();
    request.candidate.domain = None;
    let asked = question(updating(), &request);
    assert!(asked.contains("No domain stands yet") && asked.contains("What the review found"), "{asked}");
    request.feedback.clear();
    let asked = question(updating(), &request);
    assert!(asked.contains("No domain stands yet") && !asked.contains("review found"), "{asked}");
    assert!(asked.contains("What a good domain looks like"));
}

#[test]
fn an_update_in_the_plain_form_asks_for_pddl_alone() {
    let options = Options { form: Some(Form::Plain), ..updating() };
    let asked = question(options.clone(), &written());
    assert!(
        asked.ends_with(
            "Answer with the whole domain in PDDL alone, in one code block, without explanations.\n"
        )
    );
    assert!(!asked.contains("###") && asked.contains("Answer with PDDL alone"), "{asked}");
    let host = TestHost::new().reply("writer", DOMAIN);
    let got = samples(plugin(options).translate(&host, &written()).unwrap()).remove(0).unwrap();
    assert_eq!((got.thought, got.rewrite, got.diagnostics.len()), (None, true, 0));
}

#[test]
fn samples_that_cannot_be_used_fail_alone() {
    let host =
        TestHost::new().reply("writer", "### Thought:\nno idea").reply("writer", &answer("Domain", DOMAIN));
    let got = samples(plugin(updating()).translate(&host, &TranslateRequest { n: 2, ..written() }).unwrap());
    assert_eq!(got[0].as_ref().unwrap_err().code, "reply.no-pddl");
    assert!(got[1].is_ok());
}

#[test]
fn options_that_do_not_go_together_are_told_at_once() {
    let failed = |options: Options| {
        let failure = DirectTranslator::create(options, &Secrets::default()).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Request, "translate.options"));
        failure.message
    };
    for mode in [Mode::Both, Mode::Edit] {
        assert!(failed(thinking(mode)).contains("`form = \"thought\"`"));
    }
    let all = failed(Options {
        artefact: Some(Artefact::Domain),
        example: Some(Example::Shown(true)),
        reason: Some(true),
        ..thinking(Mode::Domain)
    });
    assert_eq!(all.matches("; ").count(), 2, "{all}");
    assert!(failed(Options { example: Some(Example::LEAD), ..updating() }).contains("example"));
}
