//! The suites of this repository: what is generated is fresh, and the texts, templates and sentences go with the PDDL.

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, TypedName};
use planforge_pddl::{Name, parse_domain};
use planforge_pipeline::{Suite, load_suite};
use planforge_planning::Unlimited;
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::{Generator, Limits};
use planforge_suites::template::{problem_file, templates};
use std::path::{Path, PathBuf};

/// Every suite with a reference; the environment of one without is a program outside.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples");
    let entries = ["suites", "extended"].map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let mut folders: Vec<PathBuf> = entries.into_iter().flatten().map(|e| e.unwrap().path()).collect();
    folders.retain(|f| f.join("domain.pddl").exists());
    folders.sort();
    folders
}

fn suite(folder: &Path) -> Suite {
    let loaded = load_suite(folder);
    assert!(loaded.diagnostics.is_empty(), "{}: {:?}", folder.display(), loaded.diagnostics);
    loaded.suite.unwrap()
}

fn same(folder: &Path, file: &str, wanted: &str) {
    let found = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let name = folder.file_name().unwrap().to_string_lossy();
    assert_eq!(
        found, wanted,
        "{file} is not what `planforge suite generate examples/.../{name} --force` (or `suite template`) makes"
    );
}

#[test]
fn descriptions_name_the_parameters_in_the_order_of_the_pddl() {
    let (mut found, mut actions) = (0, 0);
    for folder in folders() {
        let checked = planforge_suites::check::check(
            &folder,
            &[],
            &mut || Box::new(planforge_planning::Unlimited),
            false,
        );
        found += checked.diagnostics.iter().filter(|d| d.code == "suite.parameter-order").count();
        actions += suite(&folder).action_texts.len();
    }
    assert_eq!((found, actions), (0, 106));
}

#[test]
fn no_task_is_its_suites_example() {
    for folder in folders() {
        let suite = suite(&folder);
        let Some(example) = &suite.example else { continue };
        for task in &suite.tasks {
            assert_ne!(task.text, example.text, "{}: {}", suite.name, task.stem);
        }
    }
}

/// Names and parameters of all actions.
fn schemas(domain: &Domain) -> Vec<(&Name, &[TypedName])> {
    let plain = domain.actions.iter().map(|a| (&a.name, a.parameters.as_slice()));
    plain.chain(domain.durative_actions.iter().map(|a| (&a.name, a.parameters.as_slice()))).collect()
}

/// Every task and the example of the manifest come out of the seed with the same bytes. Generating finds or validates a plan for each, and
/// refuses goals that hold already and texts that never mention an object.
#[test]
fn generated_tasks_are_fresh_and_solvable() {
    let mut tasks = 0;
    for folder in folders() {
        let suite = suite(&folder);
        let Some(spec) = suite.generate else { continue };
        let generator = Generator::new(&suite, TemplateRenderer::in_this_process()).unwrap();
        let example = spec.example.then_some(0);
        for index in example.into_iter().chain(spec.first..spec.first + spec.tasks) {
            let made = generator.instance(spec.seed, index, &Limits::default(), &mut Unlimited);
            let made = made.unwrap_or_else(|e| panic!("{}: {:?}", folder.display(), e.diagnostics));
            same(&folder, &format!("{}.nl", made.stem), &made.text);
            same(&folder, &format!("{}.pddl", made.stem), &made.problem);
            if index == 0 {
                same(&folder, "p_example.sol", &made.plan);
            }
            assert!(folder.join(problem_file(&made.stem)).exists());
            tasks += 1;
        }
    }
    assert!(tasks >= 102, "{tasks}");
}

#[test]
fn templates_are_fresh() {
    for folder in folders() {
        for (file, text) in templates(&suite(&folder)) {
            same(&folder, &file, &text);
        }
    }
}

#[test]
fn every_predicate_has_its_sentences() {
    for folder in folders() {
        let suite = suite(&folder);
        let Some(domain) = &suite.reference_domain else { continue };
        let domain = parse_domain(domain, SourceId(0)).value;
        for function in &domain.functions {
            let name = function.name.as_str();
            let place = format!("{}: {name}", folder.display());
            let told = suite.sentences.get(name).unwrap_or_else(|| panic!("{place}"));
            let slots = (1..=function.parameters.len()).map(|n| format!("{{{n}}}"));
            for slot in slots.chain(["{value}".to_owned()]) {
                assert!(told.yes.contains(&slot), "{place} {slot}");
            }
        }
        for predicate in domain.predicates {
            let name = predicate.name.as_str();
            let place = format!("{}: {name}", folder.display());
            let told = suite.sentences.get(name).unwrap_or_else(|| panic!("{place}"));
            assert!(!told.yes.is_empty() && !told.no.is_empty(), "{place}");
            for n in 1..=predicate.parameters.len() {
                let slot = format!("{{{n}}}");
                assert!(told.yes.contains(&slot) && told.no.contains(&slot), "{place} {slot}");
            }
        }
    }
}

/// The ten domains of the paper's Table 2, and the in-context example's.
#[test]
fn all_domains_of_table_2_are_there() {
    let folders = folders();
    let has = |name: &str| folders.iter().any(|f| f.ends_with(name));
    for name in [
        "barman",
        "childsnack",
        "driverlog",
        "floortile",
        "grippers",
        "grippers-ood",
        "hiking",
        "miconic",
        "movie",
        "termes",
        "blocks",
    ] {
        assert!(has(name), "{name} is missing in {folders:?}");
    }
}

/// No error and no warning: PDDL, texts that name every object, sentences with their slots, templates, the example's plan.
#[test]
fn nothing_is_wrong_with_them() {
    use planforge_diagnostics::Severity;
    for folder in folders() {
        let checked = planforge_suites::check::check(
            &folder,
            &[],
            &mut || Box::new(planforge_planning::Unlimited),
            false,
        );
        let worse: Vec<_> = checked.diagnostics.iter().filter(|d| d.severity != Severity::Advice).collect();
        assert!(worse.is_empty(), "{}: {worse:?}", folder.display());
    }
}

#[test]
fn every_action_is_told_by_its_name() {
    for folder in folders() {
        let suite = suite(&folder);
        let Some(domain) = &suite.reference_domain else { continue };
        for (name, _) in schemas(&parse_domain(domain, SourceId(0)).value) {
            let name = name.as_str();
            let told =
                suite.domain_text.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == name);
            assert!(told, "{}: {name}", folder.display());
        }
    }
}

/// Base descriptions (domain-generators paper, section 3): what an action does and with what, in a line that names each parameter and no
/// predicate.
#[test]
fn every_action_is_described_without_its_predicates() {
    let mut actions = 0;
    for folder in folders() {
        let suite = suite(&folder);
        let domain = parse_domain(suite.reference_domain.as_deref().unwrap(), SourceId(0)).value;
        assert_eq!(suite.action_texts.len(), schemas(&domain).len(), "{}", suite.name);
        for (name, parameters) in schemas(&domain) {
            let texts = &suite.action_texts[name.key()];
            let base = texts.base.as_deref().unwrap();
            let line =
                base.strip_prefix(&format!("The action \"{name}\" ")).unwrap_or_else(|| panic!("{base}"));
            let line = line.strip_suffix('.').unwrap_or_else(|| panic!("{base}"));
            assert!(!line.contains(". ") && line.len() < 200, "{base}");
            let words: Vec<&str> = line.split([' ', ',', ';', ':']).collect();
            for parameter in parameters {
                let name = parameter.name.as_str().trim_start_matches('?');
                assert!(words.contains(&name), "{}: {base} does not name {name}", suite.name);
            }
            for predicate in &domain.predicates {
                assert!(
                    !words.contains(&predicate.name.as_str()),
                    "{}: {base} names {}",
                    suite.name,
                    predicate.name
                );
            }
            assert!(texts.flipped.is_none() && texts.random.is_none(), "they are made from the sentences");
            actions += 1;
        }
    }
    assert!(actions >= 104, "{actions}");
}
