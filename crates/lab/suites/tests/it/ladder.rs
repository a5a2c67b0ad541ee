//! Texts of the ladder: each is read back, apart from how it was written, and gives the facts, objects and goal of its problem.

use planforge_obfuscate::{DisguiseOptions, NameStyle};
use planforge_pddl::random::Random;
use planforge_pipeline::{Suite, disguise_suite, load_suite};
use planforge_planning::{Poll, ResourceLimits, StopReason, Unlimited};
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::{Generator, Instance, Limits, Rung};
use planforge_suites::ladder::{Axis, Finding, Lexicon, Task, read_text, write_text};
use planforge_suites::obfuscate::files;
use std::collections::BTreeSet;
use std::ops::Range;
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

/// Findings of the reader in a text of a family after a change.
fn findings(family: &str, task: &Instance, text: &str) -> Vec<Finding> {
    let suite = suite(family);
    let lexicon = Lexicon::parse(suite.ladder.as_deref().unwrap()).unwrap();
    let source = planforge_diagnostics::SourceId(0);
    let domain = planforge_pddl::parse_domain(suite.reference_domain.as_deref().unwrap(), source).value;
    let problem = planforge_pddl::parse_problem(&task.problem, source).value;
    let facts = Task::new(&domain, &problem).unwrap();
    let gap = facts.facts.iter().find(|fact| Some(fact.to_string()) == task.gap).cloned();
    read_text(&lexicon, &facts, task.axes.as_ref().unwrap(), text, gap.as_ref())
}

/// The places of the sentences, each with its stop.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut all = Vec::new();
    for (at, _) in text.match_indices('.') {
        if text[at + 1..].starts_with([' ', '\n']) {
            all.push(start..at + 1);
            start = at + 2;
        }
    }
    all
}

#[test]
fn every_removed_sentence_of_a_plain_text_is_missed() {
    for family in FAMILIES {
        let task = make(&generator(family), 2, 20, "plain");
        assert_eq!(findings(family, &task, &task.text), [], "{family}");
        let sentences = sentences(&task.text);
        assert!(sentences.len() > 10, "{family}: {}", task.text);
        for place in sentences {
            let sentence = &task.text[place.clone()];
            let words: BTreeSet<&str> =
                sentence.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
            let is_rule = !words.iter().any(|word| word.ends_with(|c: char| c.is_ascii_digit()));
            let mut text = task.text.clone();
            text.replace_range(place.clone(), "");
            let found = findings(family, &task, &text);
            let names_it = |finding: &Finding| match finding {
                Finding::Missing(fact) => {
                    is_rule || fact.arguments.iter().all(|argument| words.contains(argument.as_str()))
                }
                Finding::Object(object) => words.contains(object.as_str()),
                _ => false,
            };
            assert!(found.iter().any(names_it), "{family}: {sentence}: {found:?}");
        }
    }
    let task = make(&generator("parcels"), 2, 20, "plain");
    let text = format!("{}It snows on the van.\n", task.text);
    assert_eq!(findings("parcels", &task, &text), [Finding::Sentence("It snows on the van.".to_owned())]);
}

#[test]
fn a_text_denies_no_alternative_of_the_fact_that_it_leaves_out() {
    for family in FAMILIES {
        let generator = generator(family);
        for seed in 1..=6 {
            // A text with such a sentence is refused when it is read back.
            make(&generator, seed, 10, "negations+gap");
            make(&generator, seed, 20, "negations+conditions+corrections+gap");
        }
    }
    let task = (1..).map(|seed| make(&generator("parcels"), seed, 10, "gap"));
    let task = task.take(20).find(|task| task.gap.as_ref().is_some_and(|gap| gap.starts_with("(van-at")));
    let task = task.unwrap();
    let town = task.gap.as_ref().unwrap().trim_end_matches(')').rsplit(' ').next().unwrap();
    let other = ["town1", "town2"].into_iter().find(|other| *other != town).unwrap();
    let text = format!("{}The van is not in {other}.\n", task.text);
    let found = findings("parcels", &task, &text);
    assert!(matches!(found.as_slice(), [Finding::TellsGap(fact)] if fact.arguments == [other]), "{found:?}");
}

/// Stops the work at one of the questions whether it may go on. Short work ends at a limit of memory alone.
struct StopAt {
    asked: u64,
    last: u64,
}

impl StopAt {
    fn ask(&mut self) -> Poll {
        self.asked += 1;
        if self.asked > self.last { Poll::Stop(StopReason::Memory) } else { Poll::Continue }
    }
}

impl ResourceLimits for StopAt {
    fn poll(&mut self) -> Poll {
        self.ask()
    }
    fn charge(&mut self, _: u64) -> Poll {
        self.ask()
    }
    fn release(&mut self, _: u64) {}
}

#[test]
fn an_interruption_decides_no_gap() {
    let generator = generator("parcels");
    let rung = |axes: &str, last| {
        let rung = Rung { size: 10, axes: axes.parse().unwrap(), number: 1 };
        let mut limits = StopAt { asked: 0, last };
        (generator.rung(1, &rung, &Limits::default(), &mut limits), limits.asked)
    };
    let (plain, (whole, all)) = (rung("plain", u64::MAX).1, rung("gap", u64::MAX));
    // What is asked after the work on a plain text is asked for the gap.
    let mut stopped = 0;
    for last in plain..all {
        match rung("gap", last).0 {
            Ok(task) => assert_eq!(task, *whole.as_ref().unwrap()),
            Err(error) => {
                assert_eq!(error.diagnostics[0].code, "generate.stopped");
                stopped += 1;
            }
        }
    }
    assert!(stopped > 0, "{plain} {all}");
}

#[test]
fn a_template_that_makes_another_number_of_objects_is_refused() {
    let mut suite = suite("parcels");
    let template = suite.generator.take().unwrap();
    let other = template.replace("size - towns | length if size", "size + 1 - towns | length if size");
    assert_ne!(template, other);
    suite.generator = Some(other);
    let generator = Generator::new(&suite, TemplateRenderer::in_this_process()).unwrap();
    let rung = Rung { size: 10, axes: "plain".parse().unwrap(), number: 1 };
    let error = generator.rung(1, &rung, &Limits::default(), &mut Unlimited).unwrap_err();
    assert_eq!(error.diagnostics[0].code, "generate.template");
    assert!(error.diagnostics[0].message.contains("makes 11 objects"), "{:?}", error.diagnostics);
}

#[test]
fn more_objects_than_measures_get_none() {
    let suite = suite("parcels");
    let lexicon = Lexicon::parse(suite.ladder.as_deref().unwrap()).unwrap();
    let source = planforge_diagnostics::SourceId(0);
    let domain = planforge_pddl::parse_domain(suite.reference_domain.as_deref().unwrap(), source).value;
    let towns: String = (1..=12_000).map(|number| format!(" town{number}")).collect();
    let text =
        format!("(define (problem p) (:domain parcels) (:objects{towns} - town) (:init) (:goal (and)))");
    let task = Task::new(&domain, &planforge_pddl::parse_problem(&text, source).value).unwrap();
    let (axes, mut random) = ("units".parse().unwrap(), Random::stream(1, 1));
    let text = write_text(&lexicon, &task, &axes, &mut random, &mut |_| true).unwrap().text;
    let measures = sentences(&text).len();
    assert!((4700..4710).contains(&measures), "{measures}");
}

#[test]
fn the_text_with_a_gap_lacks_the_fact_and_nothing_else() {
    let task = make(&generator("parcels"), 2, 20, "gap");
    assert!(task.gap.is_some());
    assert_eq!(findings("parcels", &task, &task.text), []);
    let told = Instance { gap: None, ..task.clone() };
    let found: Vec<String> = findings("parcels", &told, &task.text)
        .into_iter()
        .map(|finding| match finding {
            Finding::Missing(fact) => fact.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, [task.gap.unwrap()]);
}

#[test]
fn an_obfuscated_ladder_keeps_axes_and_gaps() {
    let mut suite = suite("parcels");
    suite.tasks.truncate(2);
    suite.tasks[0].axis = Some("plain".to_owned());
    suite.tasks[1].axis = Some("order+gap".to_owned());
    suite.tasks[1].gap = Some("(van-at town1)".to_owned());
    let hidden = disguise_suite(&suite, &DisguiseOptions::all(NameStyle::Random, 1)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files(&hidden, None) {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let read = load_suite(folder.path()).suite.unwrap();
    let of = |suite: &Suite| -> Vec<_> {
        suite.tasks.iter().map(|task| (task.axis.clone(), task.gap.clone())).collect()
    };
    assert_eq!(of(&read), of(&hidden));
    assert!(read.tasks[1].gap.as_ref().is_some_and(|gap| !gap.contains("van-at")), "{:?}", read.tasks[1].gap);
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
