//! Knowledge files, in-context representations and patterns fit together: every text gives its own task.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

use super::outcome::{Control, Outcome, changes, infer_outcome};
use super::{TextTask, llm_p_tasks, load, own_tasks, patterns};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn examples() -> PathBuf {
    repository().join("examples")
}

/// The LLM+P suites, where they are.
fn llm_p() -> Option<PathBuf> {
    let folder = repository().join("../shared/suites/llm-p");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

fn convert(task: &TextTask, text: &str) -> Result<String, Vec<String>> {
    patterns::convert(patterns(task.texts, &task.suite).unwrap(), text)
}

/// Tasks that do not give the reference.
fn not_equivalent(tasks: &[TextTask]) -> Vec<String> {
    let of = |task: &TextTask| match convert(task, &task.text) {
        Ok(ir) => infer_outcome(task, &ir, None).unwrap(),
        Err(problems) => Outcome::NotConverted(problems),
    };
    let outcomes = tasks.iter().map(|task| (task, of(task)));
    outcomes
        .filter(|(_, o)| !o.is_equivalent())
        .map(|(t, o)| format!("{} {}: {o}", t.suite, t.stem))
        .collect()
}

/// Tasks of which no change of one word makes a difference.
fn deaf(tasks: &[TextTask]) -> Vec<String> {
    let control = |task: &TextTask| Control::of(task, 1, &mut |text| Ok(convert(task, text))).unwrap();
    let controls = tasks.iter().map(|task| (task, control(task)));
    controls.filter(|(_, c)| c.found.is_none()).flat_map(|(t, c)| c.rows(t)).collect()
}

/// A task whose representation is the suite's in-context example.
fn example(folder: &Path, add_on: Option<&Path>) -> (TextTask, String) {
    let suite = load(folder).unwrap();
    let read = |name: &str| std::fs::read_to_string(add_on.unwrap_or(folder).join(name));
    let example = suite.example.expect("an in-context example");
    let task = TextTask {
        texts: "own",
        suite: suite.name,
        stem: "p_example".to_owned(),
        text: example.text,
        domain: suite.reference_domain.unwrap(),
        knowledge: read("knowledge.lp").unwrap_or_default(),
        problem: example.problem.unwrap(),
    };
    (task, read("p_example.lp").unwrap())
}

#[test]
fn new_tasks_of_our_suites_are_inferred_from_their_texts_and_changed_texts_are_not() {
    let tasks = own_tasks(&examples(), 7, 8).unwrap();
    assert_eq!(tasks.len(), 56);
    assert_eq!(not_equivalent(&tasks), Vec::<String>::new());
    assert_eq!(deaf(&tasks), Vec::<String>::new());
}

#[test]
fn in_context_representations_of_our_suites_give_their_problems() {
    let suites = std::fs::read_dir(examples().join("suites")).unwrap().map(|e| e.unwrap().path());
    let mut suites: Vec<PathBuf> = suites.filter(|folder| folder.join("p_example.lp").is_file()).collect();
    suites.sort();
    let without_knowledge = suites.iter().filter(|folder| !folder.join("knowledge.lp").is_file()).count();
    assert!(suites.len() >= 10 && without_knowledge >= 3, "{suites:?}");
    for folder in suites {
        let (task, ir) = example(&folder, None);
        let outcome = infer_outcome(&task, &ir, None).unwrap();
        assert!(outcome.is_equivalent(), "{}: {outcome}", folder.display());
    }
}

#[test]
fn in_context_representations_of_the_llm_p_domains_give_their_problems() {
    let Some(llm_p) = llm_p() else { return };
    for (suite, _) in super::llm_p::DOMAINS {
        let (task, ir) = example(&llm_p.join(suite), Some(&examples().join("add-ons/llm-p").join(suite)));
        let outcome = infer_outcome(&task, &ir, None).unwrap();
        match suite {
            // The suite's own example counts one robot, places two and declares one of them and one of two colours.
            "floortile" => {
                let Outcome::Different(difference) = &outcome else { panic!("{outcome}") };
                assert_eq!(difference.missing_objects.len(), 2, "{outcome}");
            }
            _ => assert!(outcome.is_equivalent(), "{suite}: {outcome}"),
        }
    }
}

/// The domain of docs/how-to/write-knowledge.md: without its knowledge file the problem lacks what every task of it leaves out.
#[test]
fn the_example_of_the_documentation_gives_its_problem_by_its_knowledge_file() {
    let read = |name: &str| std::fs::read_to_string(examples().join("knowledge").join(name)).unwrap();
    let mut task = TextTask {
        texts: "own",
        suite: "library".to_owned(),
        stem: "task".to_owned(),
        text: read("task.nl"),
        domain: read("domain.pddl"),
        knowledge: read("knowledge.lp"),
        problem: read("task.pddl"),
    };
    let ir = read("task.lp");
    let outcome = infer_outcome(&task, &ir, None).unwrap();
    assert!(outcome.is_equivalent(), "{outcome}");
    let declaration =
        task.knowledge.lines().find(|line| line.starts_with("ir_predicate")).unwrap().to_owned();
    task.knowledge = declaration;
    let Outcome::Different(difference) = infer_outcome(&task, &ir, None).unwrap() else { panic!() };
    assert_eq!((difference.missing_facts.len(), difference.extra_facts.len()), (0, 18), "{difference:?}");
    task.knowledge = read("knowledge.lp");
    let crowded = ir.replace("init(book_on(dictionary, b2))", "init(book_on(dictionary, a2))");
    assert!(matches!(infer_outcome(&task, &crowded, None).unwrap(), Outcome::Refused(_)));
}

#[test]
fn the_llm_p_tasks_are_inferred_from_their_texts() {
    let Some(folder) = llm_p() else { return };
    let tasks = llm_p_tasks(&folder, &examples()).unwrap();
    assert_eq!(tasks.len(), 56);
    assert_eq!(not_equivalent(&tasks), Vec::<String>::new());
    assert_eq!(deaf(&tasks), Vec::<String>::new());
}

#[test]
fn a_sentence_that_no_pattern_reads_is_an_error_and_none_is_left_out() {
    let patterns: &[patterns::Pattern] =
        &[("{name} is blue", |ir, p| ir.init("blue", p)), ("b1 is {name}", |ir, p| ir.init("is", p))];
    let read = |text| patterns::convert(patterns, text);
    assert_eq!(read("b2 is blue.\nB-3 is blue"), Ok("init(blue(b2)).\ninit(blue(b_3)).\n".to_owned()));
    let wrong = read("b2 is blue. b2 is heavy. b1 is blue. 4 is blue").unwrap_err();
    let expected = [
        "no pattern reads the sentence `b2 is heavy`",
        "several patterns read the sentence `b1 is blue`",
        "`4` is not a name",
    ];
    assert_eq!(wrong, expected);
}

#[test]
fn changes_keep_to_names_of_a_kind_and_to_numbers() {
    let text = "There are two blocks and 3 rooms.\nb1 is on b2; tile_0-1 is white. The one before it.";
    let mut all: Vec<String> =
        changes(text, 5).unwrap().into_iter().map(|c| format!("{}>{}", c.before, c.after)).collect();
    let order = all.clone();
    all.sort();
    let expected = [
        "There are **two** blocks and 3 rooms>There are **three** blocks and 3 rooms",
        "There are two blocks and **3** rooms>There are two blocks and **4** rooms",
        "**b1** is on b2>**b2** is on b2",
        "b1 is on **b2**>b1 is on **b1**",
        "tile_0-1 is **white**>tile_0-1 is **black**",
    ];
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(all, expected);
    let again: Vec<String> =
        changes(text, 5).unwrap().into_iter().map(|c| format!("{}>{}", c.before, c.after)).collect();
    assert_eq!(order, again);
}
