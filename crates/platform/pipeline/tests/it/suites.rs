//! Suites: what is read, what is refused, and what translators may see.

use planforge_contract::Materials;
use planforge_pipeline::*;
use std::fs;
use std::path::{Path, PathBuf};

fn codes(loaded: &LoadedSuite) -> Vec<&str> {
    loaded.diagnostics.iter().map(|d| &*d.code).collect()
}

/// A folder in the LLM+P layout, and nothing wrong with it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("domain.nl", "A robot moves balls.");
    write(
        "domain.pddl",
        "(define (domain balls) (:requirements :typing) (:types ball room) (:constants home - room)\n\
        (:predicates (in ?b - ball ?r - room)) (:action move :parameters (?b - ball ?r - (either room ball) ?x)\n\
        :precondition (in ?b home) :effect (in ?b ?r)))",
    );
    for stem in ["p01", "p02"] {
        write(&format!("{stem}.nl"), &format!("Task {stem}."));
        write(
            &format!("{stem}.pddl"),
            &format!(
                "(define (problem {stem}) (:domain balls) (:objects b1 b2 - ball c) (:init) (:goal (and)))"
            ),
        );
    }
    write("p_example.nl", "An example.");
    write("p_example.pddl", "(define (problem e) (:domain balls))");
    write("p_example.sol", "(move b home)\n");
    folder
}

fn write(folder: &tempfile::TempDir, name: &str, text: &str) {
    fs::write(folder.path().join(name), text).unwrap();
}

#[test]
fn a_latin_1_byte_in_a_comment_of_a_problem_is_a_warning() {
    let f = folder();
    let problem = fs::read(f.path().join("p01.pddl")).unwrap();
    let with = |comment: &[u8]| fs::write(f.path().join("p01.pddl"), [comment, &problem].concat()).unwrap();
    with(b"; caf\xe9\n");
    let loaded = load_suite(f.path());
    assert_eq!(codes(&loaded), ["pddl.invalid-utf8"]);
    assert!(!loaded.diagnostics[0].is_error());
    let suite = loaded.suite.unwrap();
    assert!(suite.tasks[0].reference_problem.as_ref().unwrap().starts_with("; caf\u{e9}\n(define"));
    with(b"; cafe\n\xe9 ");
    let refused = load_suite(f.path());
    assert_eq!((codes(&refused), refused.suite.is_none()), (vec!["suite.encoding"], true));
    assert!(refused.diagnostics[0].message.contains("byte 7 (line 2)"), "{}", refused.diagnostics[0].message);
}

#[test]
fn a_byte_order_mark_of_a_suite_s_file_is_skipped() {
    let f = folder();
    write(&f, "suite.toml", "schema = 1\nname = \"marked\"\n");
    for entry in fs::read_dir(f.path()).unwrap() {
        let path = entry.unwrap().path();
        let marked = [b"\xef\xbb\xbf".as_slice(), &fs::read(&path).unwrap()].concat();
        fs::write(path, marked).unwrap();
    }
    let loaded = load_suite(f.path());
    assert_eq!(codes(&loaded), [""; 0]);
    let suite = loaded.suite.unwrap();
    assert_eq!((suite.name.as_str(), suite.domain_text.as_str()), ("marked", "A robot moves balls."));
    assert_eq!(suite.tasks[0].text, "Task p01.");
    assert!(suite.tasks[0].reference_problem.as_ref().unwrap().starts_with("(define"));
}

#[test]
fn the_llm_p_layout_needs_no_manifest() {
    let folder = folder();
    let suite = load_suite(folder.path()).suite.unwrap();
    let stems: Vec<&str> = suite.tasks.iter().map(|t| t.stem.as_str()).collect();
    assert_eq!(stems, ["p01", "p02"]);
    assert_eq!(suite.domain_text, "A robot moves balls.");
    assert_eq!(suite.example.as_ref().unwrap().plan.as_deref(), Some("(move b home)\n"));
    for path in ["p02", "p02.nl", "p02.pddl"] {
        let one = load_task(&folder.path().join(path)).suite.unwrap();
        assert_eq!((one.tasks.len(), one.tasks[0].text.as_str()), (1, "Task p02."));
        assert_eq!(one.digest(&one.tasks[0]), suite.digest(&suite.tasks[1]));
    }
    assert_ne!(suite.digest(&suite.tasks[0]), suite.digest(&suite.tasks[1]));
}

#[test]
fn a_manifest_adds_names_texts_and_what_is_withheld() {
    let folder = folder();
    write(&folder, "hint.txt", "Balls are round.");
    write(
        &folder,
        "suite.toml",
        "schema = 1\nname = \"my balls\"\nlicence = \"MIT\"\ntitle = \"Balls\"\n\
        [materials]\nhint = \"hint.txt\"\n[titles]\np01 = \"First\"\n[given]\ndomain = false\n",
    );
    let suite = load_suite(folder.path()).suite.unwrap();
    assert_eq!(
        (suite.name.as_str(), suite.licence.as_str(), suite.title.as_str()),
        ("my-balls", "MIT", "Balls")
    );
    assert_eq!((suite.tasks[0].title.as_str(), suite.tasks[1].title.as_str()), ("First", ""));
    let view = task_view(&suite, &suite.tasks[0], &GivenSpec::default(), None).unwrap();
    assert_eq!(view.materials.to_texts().keys().collect::<Vec<_>>(), ["hint"]);
    let wrong = task_view(&suite, &suite.tasks[0], &GivenSpec { domain: true, ..GivenSpec::default() }, None)
        .unwrap_err();
    assert_eq!(wrong[0].code, "suite.withheld");
}

#[test]
fn without_texts_every_problem_is_a_task_and_no_text_is_given() {
    let folder = folder();
    fs::remove_file(folder.path().join("domain.nl")).unwrap();
    fs::remove_file(folder.path().join("p02.nl")).unwrap();
    let codes =
        |loaded: &LoadedSuite| loaded.diagnostics.iter().map(|d| d.code.to_string()).collect::<Vec<_>>();
    let with_texts = load_suite(folder.path());
    assert_eq!(codes(&with_texts), ["suite.no-text", "suite.no-domain-text"]);
    assert_eq!(with_texts.suite.unwrap().tasks.len(), 1);
    let loaded = load_suite_with(folder.path(), Texts::Optional);
    assert_eq!(codes(&loaded), Vec::<String>::new());
    let suite = loaded.suite.unwrap();
    let stems: Vec<&str> = suite.tasks.iter().map(|task| task.stem.as_str()).collect();
    assert_eq!(stems, ["p01", "p02"]);
    let one = load_task_with(&folder.path().join("p02.pddl"), Texts::Optional).suite.unwrap();
    assert_eq!(one.tasks.len(), 1);
    assert_eq!(codes(&load_task_with(&folder.path().join("p03"), Texts::Optional)), ["suite.unknown-task"]);
    let given = GivenSpec { text: false, problem: true, ..GivenSpec::default() };
    let view = task_view(&suite, &suite.tasks[0], &given, None).unwrap();
    assert_eq!((view.domain_text.as_str(), view.task_text.as_str()), ("", ""));
    assert!(view.given.problem.is_some() && view.given.domain.is_none());
    // The in-context example's texts are texts too, wherever it comes from.
    let whole = load_suite(self::folder().path()).suite.unwrap();
    let with = GivenSpec { domain: true, ..given.clone() };
    let materials = task_view(&whole, &whole.tasks[0], &with, None).unwrap().materials.to_texts();
    assert!(materials.contains_key("example.problem") && !materials.contains_key("example.text"));
    let mut other = whole;
    (other.name, other.reference_domain) = ("other".to_owned(), Some("(define (domain other))".to_owned()));
    other.folder = "elsewhere".into();
    let materials = task_view(&suite, &suite.tasks[0], &given, Some(&other)).unwrap().materials.to_texts();
    assert!(materials.contains_key("example.domain"));
    assert!(!materials.keys().any(|name| name.ends_with("text")), "{:?}", materials.keys());
    // A suite that was read so has no texts to give.
    let wrong = task_view(&suite, &suite.tasks[1], &GivenSpec::default(), None).unwrap_err();
    assert_eq!(wrong.iter().map(|d| &*d.code).collect::<Vec<_>>(), ["suite.no-text"]);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(codes(&load_suite_with(empty.path(), Texts::Optional)), ["suite.no-text"]);
}

#[test]
fn a_view_has_what_is_given_and_nothing_else() {
    let folder = folder();
    write(&folder, "p01_template.pddl", "(objects template)");
    write(&folder, "domain_template.pddl", "(domain template)");
    let suite = load_suite(folder.path()).suite.unwrap();
    let task = &suite.tasks[0];
    let view = |given| task_view(&suite, task, &given, None).unwrap();
    let none = view(GivenSpec::default());
    assert_eq!((none.given.domain, none.given.problem, none.action_interface), (None, None, None));
    assert!(none.materials == Materials::default());

    let interface = view(GivenSpec { interface: true, ..GivenSpec::default() });
    let actions = interface.action_interface.unwrap();
    assert!(actions.objects.is_empty() && interface.given.domain.is_none());
    let types: Vec<(&str, &str)> =
        actions.actions[0].parameters.iter().map(|p| (p.name.as_str(), p.type_name.as_str())).collect();
    assert_eq!(types, [("b", "ball"), ("r", "(either room ball)"), ("x", "object")]);
    assert_eq!(interface.materials.to_texts().keys().collect::<Vec<_>>(), ["domain.template"]);

    // A template shows the types. Without one the interface has them, with their parents.
    assert!(actions.types.is_empty());
    let bare = Suite { domain_template: None, ..suite.clone() };
    let given = GivenSpec { interface: true, ..GivenSpec::default() };
    let types = task_view(&bare, task, &given, None).unwrap().action_interface.unwrap().types;
    assert!(!types.is_empty() && types.iter().all(|ty| !ty.name.starts_with('?')), "{types:?}");

    // Translators make its template, unless the domain requires more than they know from the interface.
    let template = |requirements: &str| {
        let text = bare.reference_domain.clone().unwrap();
        let text = text.replace("(:requirements :typing)", &format!("(:requirements {requirements})"));
        let suite = Suite { reference_domain: Some(text), ..bare.clone() };
        task_view(&suite, task, &given, None).unwrap().materials.templates.domain
    };
    assert_eq!(template(":strips :typing"), None);
    let more = template(":strips :typing :negative-preconditions").unwrap();
    assert!(more.contains("(:requirements :strips :typing :negative-preconditions)"), "{more}");
    assert!(more.contains("(:predicates)"), "{more}");

    let objects = view(GivenSpec { objects: true, ..GivenSpec::default() });
    let names: Vec<String> = objects.action_interface.unwrap().objects.into_iter().map(|o| o.name).collect();
    assert_eq!(names, ["b1", "b2", "c", "home"]);
    assert_eq!(objects.materials.to_texts().keys().collect::<Vec<_>>(), ["objects.template"]);

    let domain = view(GivenSpec { domain: true, ..GivenSpec::default() });
    assert_eq!(domain.given.domain, suite.reference_domain);
    assert_eq!(
        domain.materials.to_texts().keys().collect::<Vec<_>>(),
        ["domain.template", "example.plan", "example.problem", "example.text"]
    );

    let example = view(GivenSpec { example: Some(GivenExample::Own(true)), ..GivenSpec::default() });
    assert_eq!(example.materials.to_texts().keys().collect::<Vec<_>>(), ["example.plan", "example.text"]);
    let without =
        view(GivenSpec { domain: true, example: Some(GivenExample::Own(false)), ..GivenSpec::default() });
    assert!(without.materials.example.text.is_none());
}

#[test]
fn what_is_given_must_be_there() {
    let folder = folder();
    fs::remove_file(folder.path().join("domain.pddl")).unwrap();
    fs::remove_file(folder.path().join("p01.pddl")).unwrap();
    let suite = load_suite(folder.path()).suite.unwrap();
    let missing = |given: GivenSpec| {
        let wrong = task_view(&suite, &suite.tasks[0], &given, None).err().unwrap_or_default();
        assert!(wrong.iter().all(|d| d.code == "suite.no-reference"), "{wrong:?}");
        wrong.into_iter().map(|d| d.message).collect::<Vec<_>>().join(" ")
    };
    let all =
        GivenSpec { domain: true, problem: true, interface: true, objects: true, ..GivenSpec::default() };
    let messages = missing(GivenSpec { text: false, ..all.clone() });
    assert!(messages.contains("domain.pddl") && messages.contains("p01.pddl"), "{messages}");
    // A text can do without names and a problem. It cannot be translated into a problem of no domain.
    let messages = missing(all.clone());
    assert!(messages.contains("domain.pddl") && !messages.contains("p01.pddl"), "{messages}");
    assert_eq!(missing(GivenSpec { domain: false, ..all }), "");
}

#[test]
fn the_text_of_a_task_stands_for_a_missing_text_about_the_domain() {
    let folder = folder();
    fs::remove_file(folder.path().join("domain.nl")).unwrap();
    let suite = load_suite(folder.path()).suite.unwrap();
    let view = task_view(&suite, &suite.tasks[0], &GivenSpec::default(), None).unwrap();
    assert!(!view.task_text.is_empty());
    assert_eq!(view.domain_text, view.task_text);
}

#[test]
fn every_mistake_in_a_folder_is_one_clear_diagnostic() {
    let missing = load_suite(Path::new("/nonexistent/suite"));
    assert_eq!(codes(&missing), ["suite.not-a-folder"]);

    let f = folder();
    assert_eq!(codes(&load_suite(&f.path().join("p01.nl"))), ["suite.not-a-folder"]);
    let unknown = load_task(&f.path().join("p03"));
    assert_eq!(codes(&unknown), ["suite.unknown-task"]);
    assert!(
        unknown.diagnostics[0].help[0].contains("`p01`") || unknown.diagnostics[0].help[0].contains("`p02`")
    );

    fs::remove_file(f.path().join("p01.nl")).unwrap();
    assert_eq!(codes(&load_task(&f.path().join("p01"))), ["suite.no-text"]);
    let left_out = load_suite(f.path());
    assert_eq!(codes(&left_out), ["suite.no-text"]);
    assert_eq!(left_out.suite.unwrap().tasks.len(), 1);
    fs::remove_file(f.path().join("p02.nl")).unwrap();
    let silent = load_suite(f.path());
    assert_eq!((codes(&silent), silent.suite.is_none()), (vec!["suite.no-text"], true));

    let f = folder();
    write(&f, "p01.nl", "  \n");
    assert_eq!(codes(&load_suite(f.path())), ["suite.no-text"]);
    fs::write(f.path().join("p01.nl"), b"caf\xe9").unwrap();
    let encoding = load_suite(f.path());
    assert_eq!(codes(&encoding), ["suite.encoding"]);
    assert!(
        encoding.diagnostics[0].message.contains("byte 3, in line 1"),
        "{}",
        encoding.diagnostics[0].message
    );
    fs::write(f.path().join("p01.nl"), vec![b'x'; MAX_SUITE_FILE_BYTES as usize + 1]).unwrap();
    assert_eq!(codes(&load_suite(f.path())), ["suite.too-large"]);
    fs::remove_file(f.path().join("p01.nl")).unwrap();
    fs::create_dir(f.path().join("p01.nl")).unwrap();
    assert_eq!(codes(&load_suite(f.path())), ["suite.unreadable"]);

    let f = folder();
    fs::remove_file(f.path().join("domain.nl")).unwrap();
    assert_eq!(codes(&load_suite(f.path())), ["suite.no-domain-text"]);

    let f = folder();
    write(&f, "suite.toml", "schema = 2\nnaem = \"x\"\n[materials]\na = \"gone.txt\"\nb = 3\n");
    let manifest = load_suite(f.path());
    assert_eq!(codes(&manifest), ["suite.manifest", "suite.manifest", "suite.manifest", "suite.no-material"]);
    assert!(manifest.diagnostics.iter().any(|d| d.help.iter().any(|h| h.contains("`name`"))));
}

#[test]
fn no_file_outside_the_folder_is_read() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "secret").unwrap();
    let f = folder();
    let absolute = outside.path().display().to_string();
    for path in [absolute.clone(), "../../../../../../../etc/hostname".to_owned(), "link.txt".to_owned()] {
        #[cfg(unix)]
        if path == "link.txt" {
            std::os::unix::fs::symlink(outside.path(), f.path().join("link.txt")).unwrap();
        }
        write(&f, "suite.toml", &format!("schema = 1\n[materials]\nx = \"{path}\"\n"));
        let loaded = load_suite(f.path());
        assert!(loaded.suite.is_none(), "{path}");
        assert!(
            ["suite.outside", "suite.no-material"].contains(&codes(&loaded)[0]),
            "{path}: {:?}",
            codes(&loaded)
        );
        assert!(!format!("{loaded:?}").contains("\"secret\""));
    }
}

#[test]
fn two_suites_of_one_name_are_told_apart_or_refused() {
    let (a, b) = (folder(), folder());
    for f in [&a, &b] {
        write(f, "suite.toml", "schema = 1\nname = \"same\"\n");
    }
    let text = "schema = 1\n[[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\n";
    mod_check(text, |pipeline| {
        let suites = [load_suite(a.path()).suite.unwrap(), load_suite(b.path()).suite.unwrap()];
        let wrong = run_tasks(pipeline, &suites, Path::new("")).unwrap_err();
        assert!(wrong.iter().all(|d| d.code == "suite.duplicate-task"));
        let one = run_tasks(pipeline, &suites[..1], Path::new("")).unwrap();
        assert_eq!(one.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["same.p01", "same.p02"]);
        assert_eq!(one[0].reference.domain, suites[0].reference_domain);
    });
    write(&a, "domain_validation.pddl", "(weaker)");
    mod_check(text, |pipeline| {
        let tasks = run_tasks(pipeline, &[load_suite(a.path()).suite.unwrap()], Path::new("")).unwrap();
        assert_eq!(tasks[0].reference.domain.as_deref(), Some("(weaker)"));
    });
}

fn mod_check(text: &str, with: impl FnOnce(&Pipeline)) {
    with(&crate::common::good(text).config);
}

/// Every folder with texts under a root.
fn suites_under(root: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root) else { return };
    if root.join("domain.nl").is_file() {
        into.push(root.to_owned());
    }
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders.iter().for_each(|folder| suites_under(folder, into));
}

#[test]
fn the_suites_of_this_repository_are_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples");
    let mut folders = Vec::new();
    suites_under(&root.join("suites"), &mut folders);
    suites_under(&root.join("extended"), &mut folders);
    assert!(folders.len() >= 20, "{folders:?}");
    for folder in folders {
        let loaded = load_suite(&folder);
        assert!(loaded.diagnostics.is_empty(), "{}: {:?}", folder.display(), loaded.diagnostics);
        let suite = loaded.suite.unwrap();
        if suite.reference_domain.is_none() {
            // Its environment is a program outside, which tells what a reference would.
            let texts = GivenSpec::default();
            assert!(suite.tasks.iter().all(|task| task_view(&suite, task, &texts, None).is_ok()));
            continue;
        }
        let all = GivenSpec {
            domain: true,
            problem: true,
            interface: true,
            objects: true,
            example: Some(GivenExample::Own(true)),
            ..GivenSpec::default()
        };
        for task in &suite.tasks {
            // A suite whose environment is a program has no reference to give.
            if suite.reference_domain.is_none() && task.reference_problem.is_none() {
                assert!(task_view(&suite, task, &GivenSpec::default(), None).is_ok());
                continue;
            }
            let view = task_view(&suite, task, &all, None).unwrap();
            assert!(view.action_interface.is_some_and(|i| !i.actions.is_empty() && !i.objects.is_empty()));
        }
    }
}

#[test]
fn durative_actions_are_not_described_one_by_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/extended");
    let given = GivenSpec { actions: Some(DescriptionClass::Base), ..GivenSpec::default() };
    let view = |name: &str| {
        let suite = load_suite(&root.join(name)).suite.unwrap();
        task_view(&suite, &suite.tasks[0], &given, None)
    };
    assert!(view("market").is_ok());
    let found = view("bakery").unwrap_err();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, "suite.durative-actions");
    assert!(found[0].message.contains("`bakery` has durative actions, such as `knead`"), "{found:?}");
}

#[test]
fn shared_suites_load_where_they_are_at_hand() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/suites");
    let mut folders = Vec::new();
    suites_under(&root, &mut folders);
    if folders.is_empty() {
        println!("skipped: no suites in {}", root.display());
        return;
    }
    let mut tasks = 0;
    for folder in &folders {
        let loaded = load_suite(folder);
        assert!(loaded.suite.is_some(), "{}: {:?}", folder.display(), loaded.diagnostics);
        tasks += loaded.suite.unwrap().tasks.len();
    }
    println!("{} suites, {tasks} tasks", folders.len());
    assert!(tasks > folders.len());
}

const SENTENCES: &str = "[predicates]\nIn = { yes = \"{1} is in {2}.\", no = \"{1} is not in {2}.\" }\n";

#[test]
fn sentences_are_read_and_part_of_the_digest() {
    let folder = folder();
    let before = load_suite(folder.path()).suite.unwrap();
    assert!(before.sentences.is_empty());
    write(&folder, "sentences.toml", SENTENCES);
    let after = load_suite(folder.path()).suite.unwrap();
    assert_eq!(after.sentences["in"].yes, "{1} is in {2}.");
    assert_eq!(after.sentences["in"].no, "{1} is not in {2}.");
    assert_ne!(before.digest(&before.tasks[0]), after.digest(&after.tasks[0]));
}

#[test]
fn every_mistake_of_the_sentences_is_reported_at_once() {
    let folder = folder();
    write(
        &folder,
        "sentences.toml",
        "[predicates]\nin = { yes = \"{1} is in {3}.\", no = \"{0} is out\", maybe = \"?\" }\nim = { yes = \"x\" }\n\
         [facts]\n[functions]\nweight = \"{value}\"\n",
    );
    let loaded = load_suite(folder.path());
    assert!(loaded.suite.is_none());
    assert_eq!(codes(&loaded), ["suite.sentences"; 6], "{:#?}", loaded.diagnostics);
    let all: String = loaded.diagnostics.iter().map(|d| format!("{}\n", d.message)).collect();
    for part in ["slot {3}", "`{0}` is no slot", "no key `maybe`", "no `im`", "no key `facts`", "`weight`"] {
        assert!(all.contains(part), "{part} is missing in\n{all}");
    }
}

#[test]
fn sentences_of_a_suite_without_pddl_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    file("domain.nl", "Two jugs.");
    file("p01.nl", "Measure four litres.");
    file("sentences.toml", "[functions]\nlitres = { yes = \"{1} holds {value} litres.\" }\n");
    let suite = load_suite(folder.path()).suite.unwrap();
    assert_eq!(suite.sentences["litres"].yes, "{1} holds {value} litres.");
}

#[test]
fn a_generated_suite_says_how() {
    let folder = folder();
    write(&folder, "suite.toml", "schema = 1\n[generate]\nseed = 7\nfirst = 3\ntasks = 2\n");
    write(&folder, "generator.jinja", "{{ index }}");
    let suite = load_suite(folder.path()).suite.unwrap();
    assert_eq!(suite.generate, Some(GenerateSpec { seed: 7, first: 3, tasks: 2, example: true }));
    assert_eq!(suite.generator.as_deref(), Some("{{ index }}"));
    let bare = load_without_tasks(folder.path()).suite.unwrap();
    assert!(bare.tasks.is_empty() && bare.reference_domain.is_some());
}

/// A folder with everything that is known beside the domain.
fn write_all_files(folder: &tempfile::TempDir) {
    write(folder, "knowledge.lp", "init(in(X, home)) :- object(X, ball).\n");
    write(folder, "p_example.lp", "object(b1, ball).\n");
    let functions =
        "[functions]\nheat = { yes = \"{1} has {value}.\" }\n[types]\nBall = \"a ball\"\nroom = \"a room\"\n";
    write(folder, "sentences.toml", &format!("{SENTENCES}{functions}"));
    let domain = fs::read_to_string(folder.path().join("domain.pddl")).unwrap();
    write(folder, "domain.pddl", &domain.replacen("(:action", "(:functions (heat ?b)) (:action", 1));
}

#[test]
fn what_is_known_beside_a_domain_goes_with_the_domain_alone() {
    let folder = folder();
    let before = load_suite(folder.path()).suite.unwrap();
    write_all_files(&folder);
    let suite = load_suite(folder.path()).suite.unwrap();
    assert_ne!(before.digest(&before.tasks[0]), suite.digest(&suite.tasks[0]));
    let view =
        |given: GivenSpec| task_view(&suite, &suite.tasks[0], &given, None).unwrap().materials.to_texts();
    let domain = view(GivenSpec { domain: true, ..GivenSpec::default() });
    assert_eq!(domain["asp.knowledge"], "init(in(X, home)) :- object(X, ball).\n");
    assert_eq!(domain["example.ir"], "object(b1, ball).\n");
    assert_eq!(domain["types"], r#"{"ball":"a ball","room":"a room"}"#);
    // Numbers are no predicates.
    assert_eq!(domain["predicates"], r#"{"in":{"yes":"{1} is in {2}.","no":"{1} is not in {2}."}}"#);
    let unexplained =
        view(GivenSpec { domain: true, example: Some(GivenExample::Own(false)), ..GivenSpec::default() });
    assert!(unexplained.contains_key("asp.knowledge") && !unexplained.contains_key("example.ir"));
    for given in [
        GivenSpec::default(),
        GivenSpec { interface: true, objects: true, problem: true, ..GivenSpec::default() },
        GivenSpec { example: Some(GivenExample::Own(true)), ..GivenSpec::default() },
    ] {
        let names: Vec<String> = view(given).into_keys().collect();
        let known = ["asp.knowledge", "example.ir", "types", "predicates"];
        assert!(!names.iter().any(|name| known.contains(&name.as_str())), "{names:?}");
    }
}

#[test]
fn a_description_of_an_unknown_type_is_a_warning() {
    let folder = folder();
    write(&folder, "sentences.toml", "[types]\nbal = \"a ball\"\nroom = \"\"\n");
    let loaded = load_suite(folder.path());
    let told: Vec<String> =
        loaded.diagnostics.iter().map(|d| format!("{:?} {} {:?}", d.severity, d.message, d.help)).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("Warning") && told[0].contains("`bal`") && told[0].contains("`ball`"),
        "{told:?}"
    );
    assert!(told[1].starts_with("Error") && told[1].contains("`room` is empty"), "{told:?}");
    write(&folder, "sentences.toml", "[types]\nbal = \"a ball\"\nobject = \"anything\"\n");
    assert_eq!(load_suite(folder.path()).suite.unwrap().types.len(), 2);
}

/// Applies add-ons and returns what was wrong, as `code: message`.
fn add_on_messages(folders: &[&Path], suites: &mut [Suite]) -> Vec<String> {
    let folders: Vec<PathBuf> = folders.iter().map(|f| f.to_path_buf()).collect();
    let found = apply_add_ons(&folders, suites, &mut planforge_diagnostics::SourceMap::default());
    found.iter().map(|d| format!("{:?} {}: {} {}", d.severity, d.code, d.message, d.help.join(" "))).collect()
}

#[test]
fn an_add_on_stands_in_for_the_suite_s_own_files() {
    let folder = folder();
    write_all_files(&folder);
    write(&folder, "suite.toml", "schema = 1\nname = \"balls\"\n");
    let plain = load_suite(folder.path()).suite.unwrap();
    let add_on = tempfile::tempdir().unwrap();
    fs::create_dir(add_on.path().join("balls")).unwrap();
    let put = |name: &str, text: &str| fs::write(add_on.path().join(name), text).unwrap();
    put("balls/knowledge.lp", "ir_object(home).\n");
    put("balls/README.md", "Whose this is.");

    let mut suites = [plain.clone()];
    assert_eq!(add_on_messages(&[add_on.path()], &mut suites), Vec::<String>::new());
    let suite = &suites[0];
    assert_eq!(suite.knowledge.as_deref(), Some("ir_object(home).\n"));
    assert_eq!((&suite.types, &suite.sentences), (&plain.types, &plain.sentences), "what it lacks stays");
    let used = suite.add_on.as_ref().unwrap();
    assert_eq!(used.folder, add_on.path().join("balls").display().to_string());
    assert_eq!(used.files.keys().collect::<Vec<_>>(), ["knowledge.lp"]);
    assert_eq!(used.files["knowledge.lp"], planforge_record::sha256_hex(b"ir_object(home).\n"));
    assert_ne!(suite.digest(&suite.tasks[0]), plain.digest(&plain.tasks[0]));

    put("balls/p_example.lp", "object(c, ball).\n");
    put("balls/sentences.toml", "[types]\nroom = \"a chamber\"\n");
    let mut suites = [plain.clone()];
    // The folder itself, for the suite of its name.
    assert_eq!(add_on_messages(&[&add_on.path().join("balls")], &mut suites), Vec::<String>::new());
    let suite = &suites[0];
    assert_eq!(suite.example.as_ref().unwrap().ir.as_deref(), Some("object(c, ball).\n"));
    assert!(suite.sentences.is_empty() && suite.types["room"] == "a chamber", "the file is replaced whole");
}

#[test]
fn an_add_on_that_fits_nothing_is_an_error_that_says_what_would() {
    let folder = folder();
    write(&folder, "suite.toml", "schema = 1\nname = \"balls\"\n");
    let balls = load_suite(folder.path()).suite.unwrap();
    let others = Suite { name: "boxes".to_owned(), ..balls.clone() };
    let add_on = tempfile::tempdir().unwrap();
    let path = add_on.path();
    let put = |name: &str, text: &str| fs::write(path.join(name), text).unwrap();

    let one = |found: Vec<String>, severity: &str, part: &str| {
        assert!(
            found.len() == 1 && found[0].starts_with(severity) && found[0].contains(part),
            "{part}: {found:?}"
        );
    };
    one(add_on_messages(&[path], &mut [balls.clone()]), "Error suite.add-on", "nothing for balls");
    one(
        add_on_messages(&[&path.join("none")], &mut [balls.clone()]),
        "Error suite.add-on",
        "cannot be opened",
    );
    put("knowledge.lp", "ir_object(home).\n");
    assert!(add_on_messages(&[path], &mut [balls.clone()]).is_empty(), "it is for the only suite");
    assert!(
        add_on_messages(&[path], &mut [balls.clone(), balls.clone()]).is_empty(),
        "also where its tasks are named one by one"
    );
    one(
        add_on_messages(&[path], &mut [balls.clone(), others]),
        "Error suite.add-on",
        "which of the suites balls, boxes",
    );
    put("knowlege.lp", "");
    one(
        add_on_messages(&[path], &mut [balls.clone(), balls.clone()]),
        "Warning suite.add-on",
        "not read: knowlege.lp",
    );
    fs::remove_file(path.join("knowlege.lp")).unwrap();
    put("sentences.toml", "[predicates]\nout = { yes = \"{1} is out.\" }\n");
    one(add_on_messages(&[path], &mut [balls.clone()]), "Error suite.sentences", "no `out`");
    fs::remove_file(path.join("sentences.toml")).unwrap();
    put("p_example.lp", "object(c, ball).\n");
    let bare = Suite { example: None, ..balls.clone() };
    one(add_on_messages(&[path], &mut [bare]), "Warning suite.add-on", "no p_example.nl");
    #[cfg(unix)]
    {
        fs::remove_file(path.join("knowledge.lp")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", path.join("knowledge.lp")).unwrap();
        one(add_on_messages(&[path], &mut [balls]), "Error suite.outside", "outside");
    }
}

#[test]
fn a_task_may_have_a_domain_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("ipc-2006/relay-propositional");
    fs::create_dir_all(&folder).unwrap();
    let domain = |name: &str| {
        format!("(define (domain relay) (:predicates (p)) (:action {name} :parameters () :effect (p)))")
    };
    let files = [
        ("domain.nl", "Runners pass a baton.".to_owned()),
        ("p01.nl", "Pass it.".to_owned()),
        ("p02.nl", "Pass it again.".to_owned()),
        ("domain-p01.pddl", domain("one")),
        ("domain-p02.pddl", domain("two")),
        ("p01.pddl", "(define (problem a) (:domain relay) (:init) (:goal (p)))".to_owned()),
        ("p02.pddl", "(define (problem b) (:domain relay) (:init) (:goal (p)))".to_owned()),
    ];
    for (name, text) in &files {
        fs::write(folder.join(name), text).unwrap();
    }
    let suite = load_suite(&folder).suite.unwrap();
    assert_eq!(suite.name, "ipc-2006-relay-propositional", "several competitions have a domain of that name");
    assert_eq!((suite.tasks.len(), &suite.reference_domain), (2, &None));
    let source =
        "schema = 1\n[given]\ndomain = true\n[[stage]]\ndo = \"translate\"\nlabel = \"a\"\nuse = \"t\"\n";
    let pipeline: planforge_pipeline::Pipeline = toml::from_str(source).unwrap();
    let tasks = run_tasks(&pipeline, std::slice::from_ref(&suite), Path::new("")).unwrap();
    for (task, name) in tasks.iter().zip(["one", "two"]) {
        assert_eq!(task.view.given.domain, Some(domain(name)));
        assert_eq!(task.reference.domain, Some(domain(name)));
    }
    let mut other = suite.tasks[0].clone();
    other.reference_domain = Some(domain("three"));
    assert_ne!(suite.digest(&suite.tasks[0]), suite.digest(&other));
}

#[test]
fn an_environment_shows_further_problems_where_the_pipeline_asks_for_them() {
    let folder = folder();
    write(&folder, "p03.pddl", "(define (problem p03) (:domain balls))");
    write(&folder, "p04.pddl", "(define (problem p04) (:domain other))");
    write(&folder, "domain-p04.pddl", "(define (domain other))");
    let shown = |problems: u32, task: &str| -> Vec<String> {
        let text = format!(
            "schema = 1\n[environment]\nuse = \"environment-pddl\"\nproblems = {problems}\n\
             [[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\n"
        );
        let mut names = Vec::new();
        mod_check(&text, |pipeline| {
            // One task is loaded; its neighbours are found all the same.
            let suite = load_task(&folder.path().join(task)).suite.unwrap();
            let tasks = run_tasks(pipeline, &[suite], Path::new("")).unwrap();
            let name = |text: &String| text.split(['(', ')']).nth(2).unwrap().replace("problem ", "");
            names = tasks[0].reference.problems.iter().map(name).collect();
        });
        names
    };
    assert_eq!(shown(1, "p01"), [""; 0]);
    assert_eq!(shown(2, "p01"), ["p02"]);
    assert_eq!(shown(2, "p02"), ["p01"]);
    assert_eq!(shown(9, "p02"), ["p01", "p03"], "neither the example nor what belongs to another domain");
}
