//! `planforge pddl tell`: plans, refusals and differences in sentences.

use super::support::{Ran, example, example_text, ran, root};
use std::path::Path;

fn tell(plan: &str, more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p01.plan");
    std::fs::write(&file, plan).unwrap();
    let suite = |file: &str| example("parcels", file).display().to_string();
    let mut args =
        vec!["tell".to_owned(), suite("domain.pddl"), suite("p01.pddl"), file.display().to_string()];
    args.extend(more.iter().map(|word| (*word).to_owned()));
    ran(args)
}

#[test]
fn a_plan_is_told_in_the_words_of_the_suite() {
    let refused = tell("(drive elm fir)\n(load parcel2 fir)\n", &[]);
    refused.expect(10);
    assert_eq!(
        refused.stdout,
        "The plan is not valid: step 2, load parcel2 fir, cannot be executed.\n\
         1. drive elm fir: The van is in fir. The van is not in elm.\n\
         Step 2, load parcel2 fir, needs: parcel2 is in fir. But: parcel2 is not in fir from the start.\n"
    );
    let json = tell("(drive elm fir)\n", &["--json"]).json(10);
    assert_eq!(json["steps"][0]["changes"][0], "The van is in fir.");
    assert_eq!(json["refusal"]["what"], "the goal");
}

#[test]
fn sentences_can_be_named_and_their_mistakes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let words = folder.path().join("words.toml");
    let option = |path: &Path| path.display().to_string();
    std::fs::write(&words, "[predicates]\nvan-at = { yes = \"Now in {1}.\", no = \"Away from {1}.\" }\n")
        .unwrap();
    let told = tell("(drive elm fir)\n", &["--sentences", &option(&words)]);
    assert!(told.stdout.contains("1. drive elm fir: Now in fir. Away from elm.\n"), "{}", told.stdout);
    std::fs::write(&words, "[predicates]\nvann-at = { yes = \"Now in {1}.\" }\n").unwrap();
    let told = tell("(drive elm fir)\n", &["--sentences", &option(&words)]);
    told.expect(10);
    assert!(told.stdout.is_empty() && told.stderr.contains("suite.sentences"), "{}", told.stderr);
}

#[test]
fn the_difference_between_two_domains_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join("written.pddl");
    let (text, domain) = (example_text("parcels", "domain.pddl"), example("parcels", "domain.pddl"));
    let changed = text.replacen("(van-at ?from)", "(and)", 1);
    assert_ne!(text, changed);
    std::fs::write(&written, changed).unwrap();
    let compare = |other: &Path| {
        ran(["pddl", "tell", domain.to_str().unwrap(), "--compare-with", other.to_str().unwrap()])
    };
    let told = compare(&written);
    told.expect(10);
    assert!(
        told.stdout.contains("the action drive needs that the van is in from; not in"),
        "{}",
        told.stdout
    );
    let told = compare(&domain);
    told.expect(0);
    assert_eq!(told.stdout, "The domains have the same content.\n");
}

/// `sentences.toml` of the suite says that plans begin at 8:00.
#[test]
fn a_plan_with_times_is_told_by_the_clock() {
    let file = |file: &str| root().join("examples/extended/post").join(file).display().to_string();
    let told = ran(["pddl", "tell", &file("domain.pddl"), &file("p_example.pddl"), &file("p_example.sol")]);
    told.expect(0);
    for line in [
        "at 8:07 ride grafton denton starts: The postman is not in grafton.",
        "at 8:37 ride grafton denton ends: The postman is in denton.",
        "at 8:40 deliver letter1 denton ends: letter1 is delivered.",
    ] {
        assert!(told.stdout.contains(line), "{}", told.stdout);
    }
}
