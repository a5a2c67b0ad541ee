//! Replies in the forms that models write, and the blocks extracted from each.

use planforge_diagnostics::SourceId;
use planforge_pddl::extract::{ExtractedPddl, PddlBlock};
use planforge_pddl::{find_pddl, parse_domain, parse_problem};

const DOMAIN: &str =
    "(define (domain lamps)\n  (:predicates (lit))\n  (:action on :parameters () :effect (lit)))";
const PROBLEM: &str = "(define (problem one)\n  (:domain lamps)\n  (:init)\n  (:goal (lit)))";

fn find(reply: &str) -> ExtractedPddl {
    let found = find_pddl(reply, SourceId(0));
    for block in found.domains.iter().chain(&found.problems).chain(&found.others) {
        assert_eq!(&reply[block.span.range()], block.text, "offsets of a block map to the reply");
    }
    found
}

fn texts(blocks: &[PddlBlock]) -> Vec<&str> {
    blocks.iter().map(|b| b.text.as_str()).collect()
}

fn codes(found: &ExtractedPddl) -> Vec<&str> {
    found.diagnostics.iter().map(|d| d.code.as_ref()).collect()
}

#[test]
fn definitions_are_found_in_fences_with_any_tag_or_none() {
    for tag in ["", "pddl", "lisp", "PDDL domain", "plaintext\r"] {
        let found = find(&format!("Here it is:\n\n```{tag}\n{PROBLEM}\n```\n\nThe (goal) is simple.\n"));
        assert_eq!(texts(&found.problems), [PROBLEM], "{tag}");
        assert!(found.domains.is_empty() && found.others.is_empty());
        assert_eq!(codes(&found), [""; 0]);
    }
    let found = find(&format!("~~~\n{DOMAIN}\n~~~"));
    assert_eq!(texts(&found.domains), [DOMAIN]);
    let indented = find(&format!("1. The domain:\n   ```pddl\n   {DOMAIN}\n   ```\n"));
    assert_eq!(texts(&indented.domains), [DOMAIN]);
}

#[test]
fn definitions_are_found_in_prose_without_a_fence() {
    let found = find(&format!("Sure! {PROBLEM} That is all (I think)."));
    assert_eq!(texts(&found.problems), [PROBLEM]);
    assert!(found.others.is_empty());
    let upper = PROBLEM.to_uppercase();
    assert_eq!(texts(&find(&upper).problems), [upper.as_str()]);
}

#[test]
fn domain_and_problem_are_found_in_one_fence_or_several() {
    for between in ["\n", "\n```\nAnd the problem:\n```pddl\n", "\n\n; the problem\n"] {
        let found = find(&format!("```\n{DOMAIN}{between}{PROBLEM}\n```"));
        assert_eq!(texts(&found.domains).len(), 1, "{between}");
        assert!(found.domains[0].text.starts_with(DOMAIN));
        assert_eq!(texts(&found.problems), [PROBLEM]);
        assert!(!parse_domain(&found.domains[0].text, SourceId(0)).has_errors());
    }
}

#[test]
fn the_last_complete_block_is_chosen() {
    let first = PROBLEM.replace("one", "first");
    let cut = &PROBLEM[..PROBLEM.len() - 6];
    let reply = format!("```\n{first}\n```\nLet me correct that.\n```\n{PROBLEM}\n```\nOr\n```\n{cut}");
    let found = find(&reply);
    assert_eq!(found.problems.len(), 3);
    assert_eq!(found.problem().unwrap().text, PROBLEM);
    assert_eq!(codes(&found), ["pddl.several-blocks", "pddl.unclosed-fence"]);
    let mention = find(&format!("{PROBLEM}\n\nIt begins with (define (problem one) ...)."));
    assert_eq!(mention.problem().unwrap().text, PROBLEM, "a mention in prose is not meant");
}

#[test]
fn a_truncated_reply_gives_its_readable_part() {
    let cut = &PROBLEM[..PROBLEM.len() - 6];
    let found = find(&format!("```pddl\n{cut}"));
    let block = found.problem().unwrap();
    assert!(!block.complete);
    assert_eq!(block.text, cut);
    assert_eq!(codes(&found), ["pddl.unclosed-fence"]);
}

#[test]
fn a_missing_parenthesis_does_not_include_the_prose() {
    let lost = &PROBLEM[..PROBLEM.len() - 1];
    for prose in [
        "\nThis problem has one lamp, which is off (at first).\n",
        "\n\n### Explanation\n\nThe lamp is lit.\n",
        "\n\n**Note:** the lamp is lit at the end.\n",
        "\n```\nThis is the problem.\n",
    ] {
        let fence = if prose.starts_with("\n```") { "```\n" } else { "" };
        let found = find(&format!("{fence}{lost}{prose}"));
        let block = found.problem().unwrap();
        assert_eq!(block.text, lost, "{prose}");
        assert!(!block.complete);
    }
}

#[test]
fn a_stray_parenthesis_does_not_cut_the_definition_short() {
    let stray = DOMAIN.replace("(:predicates (lit))", "(:predicates (lit))))");
    let found = find(&format!("```\n{stray}\n```\nDone (really)."));
    assert_eq!(found.domain().unwrap().text, stray);
    let parsed = parse_domain(&stray, SourceId(0));
    assert_eq!(parsed.value.actions.len(), 1);
    let trailing = format!("{PROBLEM}))");
    assert_eq!(find(&format!("{trailing}\nThat is it.")).problem().unwrap().text, trailing);
}

#[test]
fn actions_and_plans_are_kept_apart() {
    let action = "(:action off\n  :parameters ()\n  :effect (not (lit)))";
    let found = find(&format!("```pddl\n{action}\n```\nand a plan:\n```\n(on)\n(off)\n```\n"));
    assert_eq!(texts(&found.others), [action, "(on)\n(off)"]);
    assert_eq!(codes(&found), ["pddl.no-definition"]);
    let bare = find(&format!("The action is {action}\n{action}\nas asked."));
    assert_eq!(texts(&bare.others), [format!("{action}\n{action}")]);
}

#[test]
fn comments_and_inline_code_are_not_definitions() {
    let found = find("; (define (domain x)\nWrite `(define-something (domain x))`.");
    assert!(found.domains.is_empty() && found.problems.is_empty());
    assert_eq!(codes(&found), ["pddl.no-definition"]);
}

#[test]
fn a_comment_with_a_parenthesis_does_not_count() {
    let commented = PROBLEM.replace("(:init)", "(:init) ; none :-)");
    let found = find(&format!("Look:\n{commented}\nGood."));
    assert_eq!(found.problem().unwrap().text, commented);
    assert!(!parse_problem(&found.problem().unwrap().text, SourceId(0)).has_errors());
}

#[test]
fn comments_after_the_last_parenthesis_and_between_sections_are_kept() {
    let text =
        "(define (problem p) (:domain d)\n(:init (q))) ; [1] closed too early\n; [2]\n(:goal (q))) ; [3]";
    let found = find(&format!("{text}\nThat is all; (really).\n"));
    assert_eq!(texts(&found.problems), [text]);
    let glued = "(define (problem p) (:domain d) (:goal (q))); done";
    assert_eq!(texts(&find(&format!("```\n{glued}\n```")).problems), [glued]);
}

#[test]
fn actions_end_at_their_intended_parenthesis() {
    let reply = "One:\n```pddl\n(define (domain d)\n  (:predicates (p))\n  (:action a :parameters () :effect (p))\n  (:action b :parameters ())\n    :effect (p)))\n```\nand (:action-costs) is no action, but (:action c :effect (p)\nis one that is never closed.\n\n(:ACTION d :effect (p)))\nThat was all of it.";
    let found = planforge_pddl::action_blocks(reply);
    let texts: Vec<(&str, bool)> = found.iter().map(|b| (b.text.as_str(), b.complete)).collect();
    assert_eq!(texts[0], ("(:action a :parameters () :effect (p))", true));
    assert_eq!(texts[1], ("(:action b :parameters ())\n    :effect (p)))", false));
    assert_eq!(texts[2], ("(:action c :effect (p)\nis one that is never closed.", false));
    assert_eq!(texts[3], ("(:ACTION d :effect (p)))", false));
    assert_eq!(texts.len(), 4);
    for block in found {
        assert_eq!(&reply[block.span.range()], block.text);
    }
}

#[test]
fn an_action_closed_behind_a_keyword_or_opened_twice_is_not_complete() {
    let complete = |reply: &str| planforge_pddl::action_blocks(reply)[0].complete;
    for right in [
        "(:action a :parameters () :effect (p))",
        "(see below) (:action a :parameters () :effect (p)) (as told)",
        "(define (domain d) (:action a :parameters () :effect (p)))",
        "(define (domain d)\n(:action a :parameters () :effect (p))\n(:action b :effect (p)))",
        "(:action a :parameters () :effect)\nThat is all.",
    ] {
        assert!(complete(right), "{right}");
    }
    for wrong in [
        "((:action a :parameters () :effect (p))",
        "```\n(\n(:action a :parameters () :effect (p))\n```",
        "(:action )a :parameters () :effect (p))",
        "(:action a :parameters) () :effect (p))",
        "(:action a :parameters () :precondition )(and (p)) :effect (p))",
        "(:action a :parameters () :effect) (p))",
    ] {
        assert!(!complete(wrong), "{wrong}");
    }
}
