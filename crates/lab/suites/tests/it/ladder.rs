//! Texts of the ladder: each is read back, apart from how it was written, and gives the facts, objects and goal of its problem.

use planforge_pipeline::{Suite, load_suite};
use planforge_planning::Unlimited;
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::{Generator, Instance, Limits, Rung};
use planforge_suites::ladder::{Axis, Finding, Lexicon, Task, read_text};
use std::collections::BTreeSet;
use std::path::Path;

const FAMILIES: [&str; 8] =
    ["blocks", "childsnack", "driverlog", "garden", "grippers", "miconic", "parcels", "tyres"];
const SIZES: [u32; 6] = [10, 20, 40, 80, 160, 300];
/// All axes but tables, which take facts from the others.
const NO_TABLES: &str =
    "order+irrelevant+references+quantities+units+negations+conditions+corrections+synonyms";

fn suite(family: &str) -> Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites").join(family);
    load_suite(&folder).suite.unwrap()
}

fn generator(family: &str) -> Generator {
    Generator::new(&suite(family), TemplateRenderer::in_this_process()).unwrap()
}

fn make(generator: &Generator, seed: u64, size: u32, axes: &str) -> Instance {
    let rung = Rung { size, axes: axes.parse().unwrap(), number: 1 };
    generator.rung(seed, &rung, &Limits::default(), &mut Unlimited).unwrap_or_else(|error| {
        panic!("{axes} {size} {seed}: {:?}", error.diagnostics.iter().map(|d| &d.message).collect::<Vec<_>>())
    })
}

#[test]
fn each_axis_of_each_family_is_read_back() {
    for family in FAMILIES {
        let generator = generator(family);
        for axis in Axis::ALL {
            for seed in 1..=3 {
                for size in [10, 20, 40] {
                    make(&generator, seed, size, axis.name());
                }
            }
        }
    }
}

#[test]
fn all_axes_together_are_read_back_in_each_language() {
    for family in FAMILIES {
        let generator = generator(family);
        for language in ["", "+german", "+chinese", "+spanish"] {
            for (seed, size) in [(1, 10), (2, 40), (3, 80)] {
                make(&generator, seed, size, &format!("{NO_TABLES}{language}"));
                make(&generator, seed, size, &format!("all+gap{language}"));
            }
        }
    }
}

#[test]
fn every_size_has_its_objects_a_plan_and_a_text_within_the_limit() {
    for family in FAMILIES {
        let generator = generator(family);
        for size in SIZES {
            let task = make(&generator, 5, size, "all");
            let parsed = planforge_pddl::parse_problem(&task.problem, planforge_diagnostics::SourceId(0));
            assert_eq!(parsed.value.objects.len(), size as usize, "{family}");
            assert!(task.plan.lines().count() > 1);
            assert!(task.text.chars().count() <= 60_000);
        }
    }
}

#[test]
fn other_seeds_have_other_sentences_and_the_axes_of_a_size_share_the_problem() {
    for family in FAMILIES {
        let generator = generator(family);
        let texts: BTreeSet<String> = (1..=5).map(|seed| make(&generator, seed, 10, "plain").text).collect();
        assert_eq!(texts.len(), 5, "{family}");
        let [plain, all] = ["plain", "all"].map(|axes| make(&generator, 1, 20, axes));
        assert_eq!(plain.problem, all.problem, "{family}");
        assert_ne!(plain.text, all.text, "{family}");
    }
}

/// Findings of the reader in a text of parcels after a change.
fn findings(task: &Instance, text: &str) -> Vec<Finding> {
    let suite = suite("parcels");
    let lexicon = Lexicon::parse(suite.ladder.as_deref().unwrap()).unwrap();
    let source = planforge_diagnostics::SourceId(0);
    let domain = planforge_pddl::parse_domain(suite.reference_domain.as_deref().unwrap(), source).value;
    let problem = planforge_pddl::parse_problem(&task.problem, source).value;
    let facts = Task::new(&domain, &problem).unwrap();
    let gap = facts.facts.iter().find(|fact| Some(fact.to_string()) == task.gap).cloned();
    read_text(&lexicon, &facts, task.axes.as_ref().unwrap(), text, gap.as_ref())
}

#[test]
fn every_removed_sentence_of_a_plain_text_is_missed() {
    let task = make(&generator("parcels"), 2, 20, "plain");
    assert_eq!(findings(&task, &task.text), []);
    let sentences: Vec<&str> = task.text.split_inclusive(['.', ':']).collect();
    assert!(sentences.len() > 30);
    for left_out in task.text.split(". ").filter(|sentence| !sentence.contains('\n')) {
        let text = task.text.replacen(left_out, "", 1).replace("..", ".");
        assert!(!findings(&task, &text).is_empty(), "{left_out}");
    }
    let text = format!("{}It snows on the van.\n", task.text);
    assert_eq!(findings(&task, &text), [Finding::Sentence("It snows on the van.".to_owned())]);
}

#[test]
fn the_text_with_a_gap_lacks_the_fact_and_nothing_else() {
    let task = make(&generator("parcels"), 2, 20, "gap");
    assert!(task.gap.is_some());
    assert_eq!(findings(&task, &task.text), []);
    let told = Instance { gap: None, ..task.clone() };
    let found: Vec<String> = findings(&told, &task.text)
        .into_iter()
        .map(|finding| match finding {
            Finding::Missing(fact) => fact.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, [task.gap.unwrap()]);
}

/// The grammar of these sentences is written here: nothing of the reader or of ladder.toml is used.
#[test]
fn a_plain_text_of_grippers_means_its_problem_to_a_reader_with_a_grammar_of_its_own() {
    for seed in 1..=5 {
        let task = make(&generator("grippers"), seed, 40, "plain");
        let mut facts = BTreeSet::new();
        for sentence in task.text.split_terminator(['.', '\n']).map(str::trim).filter(|s| !s.is_empty()) {
            let named: Vec<&str> = sentence
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(|word| {
                    word.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(char::is_alphabetic)
                })
                .collect();
            // Introductions name objects of one type.
            let [first, second] = named.as_slice() else { continue };
            let kind = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
            let goal = ["should", "must", "has to"].iter().any(|word| sentence.contains(word));
            match (kind(first).as_str(), kind(second).as_str()) {
                ("robot", "room") => facts.insert(format!("init robot-in {first} {second}")),
                ("robot", "left" | "right") => facts.insert(format!("init empty {first} {second}")),
                ("ball", "room") if goal => facts.insert(format!("goal ball-in {first} {second}")),
                ("ball", "room") => facts.insert(format!("init ball-in {first} {second}")),
                _ => continue,
            };
        }
        let (init, goal) = task.problem.split_once("(:goal").unwrap();
        let atoms = |part: &'static str, text: &str| -> BTreeSet<String> {
            text.split('(')
                .map(|atom| atom.trim_matches(|c: char| c == ')' || c.is_whitespace()))
                .filter(|atom| ["robot-in ", "empty ", "ball-in "].iter().any(|name| atom.starts_with(name)))
                .map(|atom| format!("{part} {atom}"))
                .collect()
        };
        let expected: BTreeSet<String> = atoms("init", init).into_iter().chain(atoms("goal", goal)).collect();
        assert_eq!(facts, expected, "{}", task.text);
    }
}
