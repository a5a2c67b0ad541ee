use super::*;
use planforge_contract::TokenLogprob;

const DOMAIN: &str = "(define (domain room)\n  (:predicates (clean ?c))\n  (:action wipe :parameters (?c) :effect (clean ?c)))";
const THOUGHT: &str = "predicate clean: the cup ?c is clean\naction wipe: makes ?c clean";

fn reply(content: &str) -> Reply {
    Reply::new(content, FinishReason::Stop)
}

fn read(content: &str) -> CandidatePatch {
    read_thought_reply(&reply(content), WantedPddl::Domain, FixPolicy::None).unwrap()
}

fn codes(patch: &CandidatePatch) -> Vec<&str> {
    patch.diagnostics.iter().map(|d| d.code.as_str()).collect()
}

#[test]
fn the_form_that_is_asked_for_has_nothing_remarkable() {
    let patch = read(&format!("### Thought:\n{THOUGHT}\n\n### Domain:\n```pddl\n{DOMAIN}\n```\n"));
    assert_eq!(patch.thought.as_deref(), Some(THOUGHT));
    assert_eq!(patch.domain.as_deref(), Some(DOMAIN));
    assert_eq!((codes(&patch), patch.log_likelihood, patch.tokens), (vec![], None, None));
}

#[test]
fn headings_are_known_however_they_are_written() {
    for (thought, domain) in [
        ("# Thought", "# Domain"),
        ("**Thought:**", "**Domain:**"),
        ("**Thoughts**:", "__PDDL Domain__"),
        ("## 1. Thought process:", "## 2. Domain (PDDL)"),
        ("Thought:", "The domain:"),
        ("### New Thought:", "### Updated Domain:"),
        (">  *Thought*:", "#### PDDL Domain Definition:"),
    ] {
        let patch = read(&format!("{thought}\n{THOUGHT}\n{domain}\n{DOMAIN}\n"));
        assert_eq!(patch.thought.as_deref(), Some(THOUGHT), "{thought}");
        assert_eq!(codes(&patch), Vec::<&str>::new(), "{domain}");
    }
    let patch = read(&format!("**Thought:** predicate clean: it is clean.\n**Domain:** here\n{DOMAIN}\n"));
    assert_eq!(patch.thought.as_deref(), Some("predicate clean: it is clean."));
}

#[test]
fn a_line_about_a_domain_is_no_heading() {
    let prose =
        "The domain of cups has one action.\nA thought on wiping: it cleans.\nDomain knowledge is little.";
    let patch = read(&format!("### Thought:\n{prose}\n### Domain:\n{DOMAIN}"));
    assert_eq!(patch.thought.as_deref(), Some(prose));
}

#[test]
fn the_thought_may_stand_behind_the_domain() {
    let patch = read(&format!("### Domain:\n```\n{DOMAIN}\n```\n### Thought:\n{THOUGHT}"));
    assert_eq!((patch.thought.as_deref(), codes(&patch)), (Some(THOUGHT), vec![]));
    assert_eq!(patch.domain.as_deref(), Some(DOMAIN));
}

#[test]
fn what_is_missing_is_told_and_the_domain_is_taken() {
    let patch = read(&format!("```pddl\n{DOMAIN}\n```"));
    assert_eq!(
        (patch.thought.as_deref(), codes(&patch)),
        (None, vec!["reply.no-thought", "reply.no-heading"])
    );
    let patch = read(&format!("### Thought:\n\n### Domain:\n{DOMAIN}"));
    assert_eq!((patch.thought.as_deref(), codes(&patch)), (None, vec!["reply.no-thought"]));
    let patch = read(&format!("{THOUGHT}\n\n```pddl\n{DOMAIN}\n```\nIt is done."));
    assert_eq!(patch.thought.as_deref(), Some(format!("{THOUGHT}\n\nIt is done.").as_str()));
    assert_eq!(codes(&patch), ["reply.no-heading", "reply.no-heading"]);
    // A thought that runs into the code without a heading between them does not hold the code.
    let patch = read(&format!("### Thought:\n{THOUGHT}\n```pddl\n{DOMAIN}\n```\n"));
    assert_eq!((patch.thought.as_deref(), codes(&patch)), (Some(THOUGHT), vec!["reply.no-heading"]));
}

#[test]
fn a_domain_below_its_heading_counts_before_one_that_a_thought_quotes() {
    let other = DOMAIN.replace("room", "draft");
    let patch = read(&format!("### Domain:\n{DOMAIN}\n### Thought:\n{THOUGHT}\nNot this one:\n{other}\n"));
    assert_eq!(patch.domain.as_deref(), Some(DOMAIN));
    assert!(patch.thought.unwrap().ends_with("Not this one:"));
}

#[test]
fn the_model_s_own_reasoning_is_no_part_of_the_answer() {
    let draft = DOMAIN.replace("room", "draft");
    let answer = format!("### Thought:\n{THOUGHT}\n### Domain:\n{DOMAIN}");
    for reasoning in [
        format!("<think>\n### Domain:\nPerhaps, à propos: {draft}\n</think>\n"),
        format!("Perhaps {draft}\n</think>\n"),
        format!("<Thinking>{draft}</Thinking>"),
    ] {
        let patch = read(&format!("{reasoning}{answer}"));
        assert_eq!(patch.domain.as_deref(), Some(DOMAIN), "{reasoning}");
        assert_eq!((patch.thought.as_deref(), codes(&patch)), (Some(THOUGHT), vec![]));
    }
    let patch = read(&format!("<think>\nSo it is {draft}"));
    assert_eq!(patch.domain, Some(draft));
    assert!(codes(&patch).contains(&"reply.in-reasoning") && patch.thought.is_none());
}

#[test]
fn a_cut_behind_the_domain_is_told_and_a_cut_within_it_is_a_failure() {
    let cut = |content: &str| {
        let reply = Reply { finish: FinishReason::Length, ..reply(content) };
        read_thought_reply(&reply, WantedPddl::Domain, FixPolicy::Safe)
    };
    let patch = cut(&format!("### Domain:\n```pddl\n{DOMAIN}\n```\n### Thought:\npredicate cl")).unwrap();
    assert_eq!(patch.domain.as_deref(), Some(DOMAIN));
    assert_eq!((patch.thought.as_deref(), codes(&patch)), (Some("predicate cl"), vec!["reply.cut-off"]));
    let draft = DOMAIN.replace("room", "draft");
    for lost in [
        format!("### Thought:\n{THOUGHT}\n### Dom"),
        format!("### Thought:\n{THOUGHT}\n### Domain:\n{}", &DOMAIN[..60]),
        // Closed too early, and cut in the section behind it.
        "### Domain:\n(define (domain room) (:predicates (clean ?c)))\n(:action wipe :parameters (?c"
            .to_owned(),
        // A draft is whole, and the domain itself is not.
        format!("### Domain:\n{draft}\n### Domain:\n{}", &DOMAIN[..60]),
    ] {
        assert_eq!(cut(&lost).unwrap_err().code, "reply.cut-off", "{lost}");
    }
}

#[test]
fn what_is_not_there_is_a_failure() {
    let failed = |content: &str, wanted| {
        read_thought_reply(&reply(content), wanted, FixPolicy::Safe).unwrap_err().code
    };
    assert_eq!(failed("### Thought:\nnothing", WantedPddl::Domain), "reply.no-pddl");
    assert_eq!(failed(&format!("### Domain:\n{DOMAIN}"), WantedPddl::Problem), "reply.no-pddl");
}

#[test]
fn the_likelihood_is_that_of_the_whole_reply() {
    let token = |logprob| TokenLogprob { token: "t".into(), logprob };
    let scored = Reply {
        logprobs: Some(vec![token(-0.5), token(-0.25), token(-1.0)]),
        ..reply(&format!("### Thought:\n{THOUGHT}\n### Domain:\n{DOMAIN}"))
    };
    let patch = read_thought_reply(&scored, WantedPddl::Domain, FixPolicy::None).unwrap();
    assert_eq!((patch.log_likelihood, patch.tokens), (Some(-1.75), Some(3)));
    let none = Reply { logprobs: Some(vec![]), ..scored };
    let patch = read_thought_reply(&none, WantedPddl::Domain, FixPolicy::None).unwrap();
    assert_eq!((patch.log_likelihood, patch.tokens), (None, None), "an empty list is no likelihood of 1");
}

#[test]
fn fixes_and_problems_as_in_other_replies() {
    let content = "### Thought:\npredicate clean: it is clean\n### Problem:\n(define (problem tidy) (:domain room)\n(:init (dirty cup))\n(:goal (clean cup)\n";
    let patch = read_thought_reply(&reply(content), WantedPddl::Problem, FixPolicy::Safe).unwrap();
    assert!(patch.problem.unwrap().ends_with("(clean cup)))") && !patch.fixes.is_empty());
    assert_eq!(patch.thought.as_deref(), Some("predicate clean: it is clean"));
}
