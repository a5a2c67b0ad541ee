use super::*;
use crate::history::History;
use crate::history::tests::JournalBuilder;
use crate::results::bare;
use crate::results::{
    CellClasses, ClassStages, ComparisonRule, Counts, ExactResult, Group, Histogram, Reading, ReplyClass,
    Tally,
};
use crate::results::{CellResult, Evaluation, Judges};
use planforge_contract::{
    ActionReconstructionError, Assessment, Classification, Decision, DomainDifference, ExactAnswer,
    FailureClass, HeuristicEquivalence, ResultClasses,
};
use planforge_planning::result_class::ResultClass;
use std::collections::BTreeMap;

const EQUIVALENT: ReplyClass = ReplyClass::Class(ResultClass::Equivalent);
const UNDECIDED: ReplyClass = ReplyClass::Class(ResultClass::Undecided);

fn stages() -> ClassStages {
    ClassStages {
        judge: "classes".to_owned(),
        all: vec!["classes".to_owned(), "inner".to_owned()],
        writers: vec!["actions".to_owned()],
        description: Some("base".to_owned()),
        ..ClassStages::default()
    }
}

fn actions() -> Vec<String> {
    ["pick", "drop"].map(str::to_owned).to_vec()
}

/// `Equivalent 3 different`: the class, the error by position and the exact answer, where there are any.
fn classification(name: &str, said: &str) -> Classification {
    let mut words = said.split(' ');
    let class = words.next().unwrap().to_owned();
    let error = words.next().map(|n| n.parse::<u64>().unwrap());
    let exact = words.next();
    let behaves =
        matches!(ReplyClass::of(&class).map(ReplyClass::group), Some(Group::Different | Group::Equivalent));
    Classification {
        name: name.to_owned(),
        reconstruction_error: error.map(|n| ActionReconstructionError {
            action: name.to_owned(),
            by_name: Some(n + 1),
            by_position: Some(n),
            least: (n > 0).then(|| n - 1),
        }),
        heuristic: behaves.then(|| HeuristicEquivalence {
            k: 10,
            rule: "definition".to_owned(),
            semantics: "strips".to_owned(),
            ..HeuristicEquivalence::default()
        }),
        exact: exact.map(|decision| ExactAnswer {
            decision: decision.to_owned(),
            difference: (decision == "different").then(|| DomainDifference {
                kind: "refused".to_owned(),
                by: "second".to_owned(),
                steps: vec!["(pick a)".to_owned(), "(drop a)".to_owned()],
                ..DomainDifference::default()
            }),
            ..ExactAnswer::default()
        }),
        class,
        ..Classification::default()
    }
}

fn evidence(pick: &str, drop: &str, domain: Option<&str>) -> Assessment {
    let mut assessment = Assessment::new(Decision::Rejected, "");
    let classes = ResultClasses {
        problems: 2,
        actions: vec![classification("pick", pick), classification("drop", drop)],
        domain: domain.map(|class| classification("d", class)),
    };
    assessment.evidence = serde_json::to_value(classes).unwrap();
    assessment
}

/// Seven samples: five classified, one that broke, one that the run has not judged.
fn first_run() -> JournalBuilder {
    let journal = JournalBuilder::new();
    let judged = |sample: u32, pick: &str, drop: &str, domain: Option<&str>| {
        let path = journal.made("s.p01", &format!("actions/{sample}"), "d", None);
        journal.assessed("s.p01", "classes", &path, &evidence(pick, drop, domain));
    };
    judged(0, "Equivalent 0 equal", "Equivalent 4 different", Some("Equivalent"));
    judged(1, "Equivalent 4 different", "NoPlan 2 different", Some("NoPlan"));
    judged(2, "NoPDDL", "UToken", Some("NoPDDL"));
    judged(3, "TError 6", "PAError 1", Some("TError"));
    judged(4, "Undecided 1 undecided", "OPApp 3 different", Some("Undecided"));
    // An interrupted run says it again.
    judged(4, "Undecided 1 undecided", "OPApp 3 different", Some("Undecided"));
    journal.failed("s.p01", "s.p01/actions/5", FailureClass::Provider);
    journal.made("s.p01", "actions/6", "d", None);
    // Broke at first, and came when it was tried again.
    journal.failed("s.p01", "s.p01/actions/0", FailureClass::Provider);
    journal.made("s.p01", "actions/0", "d", None);
    // What the next task begins with was judged where it was written.
    journal.assessed("s.p02", "classes", "s.p02/start/-", &evidence("Equivalent", "Equivalent", None));
    journal
}

fn cell_of(journal: &JournalBuilder) -> CellClasses {
    CellClasses::read(&journal.0, &stages(), &actions()).unwrap()
}

#[test]
fn every_sample_of_every_action_is_counted_once() {
    let cell = cell_of(&first_run());
    let names: Vec<&str> = cell.actions.iter().map(|tally| tally.action.as_str()).collect();
    assert_eq!((names, cell.failed_samples, cell.unjudged_samples), (vec!["pick", "drop"], 1, 1));
    let pick: Counts =
        [("Equivalent", 2), ("NoPDDL", 1), ("TError", 1), ("Undecided", 1), ("Failed", 1), ("NotJudged", 1)]
            .map(|(name, n)| (ReplyClass::of(name).unwrap(), n))
            .into();
    assert_eq!(cell.actions[0].counts, pick);
    assert_eq!(cell.actions[0].replies(), 7);
    assert_eq!(cell.whole[&EQUIVALENT], 1);
    assert_eq!(cell.whole.values().sum::<u64>(), 7);
    let setting =
        ComparisonRule { rule: "definition".to_owned(), k: 10, problems: 2, semantics: "strips".to_owned() };
    assert_eq!(cell.settings, [setting]);
    let errors = &cell.actions[0].errors[&Reading::ByPosition];
    assert_eq!(errors[&EQUIVALENT], Histogram::from([(0, 1), (4, 1)]));
    assert!(!errors.contains_key(&ReplyClass::Class(ResultClass::NoPddl)), "there is nothing to compare");
    assert_eq!(cell.actions[0].errors[&Reading::Least][&EQUIVALENT], Histogram::from([(3, 1)]));
    // What the cell says survives its file.
    let text =
        serde_json::to_string(&CellResult { classes: Some(cell.clone()), ..bare("s", "p", 1, 1) }).unwrap();
    let read: CellResult = serde_json::from_str(&text).unwrap();
    assert_eq!(read.classes, Some(cell));
}

#[test]
fn replies_equivalent_by_plans_alone_are_listed() {
    let cell = cell_of(&first_run());
    let equivalent = &cell.exact[&EQUIVALENT];
    assert_eq!(
        (equivalent[&ExactResult::Equal].replies, equivalent[&ExactResult::Different].replies),
        (1, 2)
    );
    assert_eq!(cell.exact[&UNDECIDED][&ExactResult::Undecided].replies, 1);
    let listed: Vec<(&str, ExactResult, u64)> =
        cell.suspects.iter().map(|s| (s.action.as_str(), s.exact, s.times)).collect();
    assert_eq!(listed, [("drop", ExactResult::Different, 1), ("pick", ExactResult::Different, 1)]);
    assert_eq!(cell.suspects[0].difference.as_ref().unwrap().steps.len(), 2);
    // Where nobody asked there is no comparison, and still a list of what to look at.
    let journal = JournalBuilder::new();
    for sample in 0..3 {
        let path = journal.made("s.p01", &format!("actions/{sample}"), "d", None);
        journal.assessed("s.p01", "classes", &path, &evidence("Equivalent 2", "Equivalent 9", None));
    }
    let cell = cell_of(&journal);
    assert!(cell.exact.is_empty() && cell.whole.is_empty());
    let listed: Vec<(&str, u64)> = cell.suspects.iter().map(|s| (s.action.as_str(), s.times)).collect();
    assert_eq!(listed, [("drop", 3), ("pick", 3)], "alike ones are one, the highest error first");
}

#[test]
fn missing_replies_count_for_each_action_of_the_reference() {
    let journal = JournalBuilder::new();
    journal.failed("s.p01", "s.p01/actions/0", FailureClass::Provider);
    journal.failed("s.p01", "s.p01/actions/1", FailureClass::Provider);
    let cell = cell_of(&journal);
    assert_eq!(
        cell.actions.iter().map(|tally| tally.counts[&ReplyClass::Failed]).collect::<Vec<_>>(),
        [2, 2]
    );
    let only = ClassStages { only: vec!["DROP".to_owned()], ..stages() };
    let cell = CellClasses::read(&journal.0, &only, &actions()).unwrap();
    assert_eq!((cell.actions.len(), cell.actions[0].action.as_str()), (1, "drop"));
    // A judgement that broke, and a verifier that could say nothing.
    let path = journal.made("s.p01", "actions/2", "d", None);
    journal.failed("s.p01", "s.p01/classes/2", FailureClass::Plugin);
    assert_eq!(cell_of(&journal).failed_samples, 3);
    journal.assessed("s.p01", "classes", &path, &Assessment::new(Decision::Rejected, ""));
    let cell = cell_of(&journal);
    assert_eq!((cell.failed_samples, cell.actions[0].counts[&UNDECIDED]), (2, 1));
}

#[test]
fn evidence_of_another_kind_is_an_error() {
    for class in ["Brilliant", "Failed", ""] {
        let journal = JournalBuilder::new();
        let path = journal.made("s.p01", "actions/0", "d", None);
        journal.assessed("s.p01", "classes", &path, &evidence("Equivalent", &format!("{class} 1"), None));
        let failure = CellClasses::read(&journal.0, &stages(), &actions()).unwrap_err();
        assert_eq!(failure.code, "record.corrupt", "{class}");
    }
}

/// Two samples in three rounds: the second ends after one.
fn rounds() -> JournalBuilder {
    let journal = JournalBuilder::new();
    let say = |path: &str, stage: &str, pick: &str, drop: &str| {
        journal.assessed("s.p01", stage, path, &evidence(pick, drop, None));
    };
    let first = journal.made("s.p01", "actions/0", "d", None);
    say(&first, "classes", "UToken", "NoPlan 2");
    let second = journal.made("s.p01", "actions/1", "d", None);
    say(&second, "classes", "NError 1", "Equivalent 0");
    let better = journal.made("s.p01", "actions/0 again#1/0", "d", None);
    say(&better, "inner", "NoPlan 1", "NoPlan 2");
    let good = journal.made("s.p01", "actions/0 again#1/0 again#3/0", "d", None);
    say(&good, "inner", "Equivalent 1", "NoPlan 2");
    let done = journal.made("s.p01", "actions/1 again#1/0", "d", None);
    say(&done, "inner", "Equivalent 0", "Equivalent 0");
    // A sample that came and goes into no rounds.
    let other = journal.made("s.p01", "actions/2", "d", None);
    say(&other, "classes", "BPError 1", "BPError 1");
    for (root, round, best) in
        [(&first, 1, Some(&better)), (&first, 2, None), (&first, 3, Some(&good)), (&second, 1, Some(&done))]
    {
        let event = planforge_record::Event::RoundFinished {
            task: "s.p01".to_owned(),
            stage: "correct".to_owned(),
            path: root.clone(),
            round,
            best: best.cloned(),
            value: None,
            accepted: false,
            best_so_far: None,
            history: String::new(),
        };
        planforge_record::Journal::append(&journal.0, &event).unwrap();
    }
    journal
}

#[test]
fn rounds_hold_the_class_of_each_reply_at_that_time() {
    let refined = ClassStages { refine: Some("correct".to_owned()), ..stages() };
    let cell = CellClasses::read(&rounds().0, &refined, &actions()).unwrap();
    let equivalent = |round: usize| -> u64 {
        cell.rounds[round].values().map(|counts| counts.get(&EQUIVALENT).copied().unwrap_or(0)).sum()
    };
    assert_eq!((0..4).map(equivalent).collect::<Vec<_>>(), [1, 2, 2, 3]);
    assert_eq!(
        cell.rounds.iter().map(|r| r.values().flat_map(BTreeMap::values).sum()).collect::<Vec<u64>>(),
        [4; 4]
    );
    let change = |from, to| {
        cell.changes.iter().find(|change| (change.from, change.to) == (from, to)).map(|change| change.replies)
    };
    assert_eq!(change(Group::Syntax, Group::Equivalent), Some(1));
    assert_eq!(change(Group::Different, Group::Different), Some(1));
    assert_eq!(change(Group::Equivalent, Group::Equivalent), Some(1));
    // The table itself holds the replies as they came, with the third sample.
    assert_eq!(cell.actions.iter().map(Tally::replies).sum::<u64>(), 6);
    let inside = ClassStages { judge: "inner".to_owned(), in_rounds: true, ..refined };
    let cell = CellClasses::read(&rounds().0, &inside, &actions()).unwrap();
    let left: Counts = [(EQUIVALENT, 2), (ReplyClass::NotJudged, 1)].into();
    assert_eq!(cell.actions[0].counts, left, "what the rounds left, and one that went into none");
}

/// An evaluation of one pipeline with these cells.
fn evaluation(model: &str, description: &str, cells: &[(&str, &JournalBuilder)]) -> Evaluation {
    let stages = ClassStages {
        description: Some(description.to_owned()),
        refine: Some("correct".to_owned()),
        ..stages()
    };
    let judges =
        Judges { classes: Some(stages.clone()), models: vec![model.to_owned()], ..Judges::default() };
    let cells = cells.iter().map(|(suite, journal)| {
        let classes = CellClasses::read(&journal.0, &stages, &actions()).unwrap();
        CellResult { classes: Some(classes), ..bare(suite, "actions", 1, 1) }
    });
    Evaluation::new(vec![1], &BTreeMap::from([("actions".to_owned(), judges)]), cells.collect())
}

fn table() -> Classes {
    let small = evaluation("small-1.5b", "base", &[("gripper", &first_run()), ("depot", &rounds())]);
    let large = evaluation("large-7b", "flipped", &[("gripper", &rounds())]);
    Classes::new(&[&small, &large], &ClassSettings::default()).unwrap()
}

#[test]
fn a_column_is_a_model_a_method_and_a_description_class() {
    let table = table();
    let small = &table.columns[0];
    assert_eq!((table.columns.len(), small.replies, small.size), (2, 20, Some(1.5)));
    let equivalent = small.row("Equiv").unwrap();
    assert_eq!((equivalent.count, equivalent.percent), (4, 20.0));
    // Four actions of two domains, not twenty replies: Wilson for 0.8 of 4.
    assert!(
        (equivalent.actions.low - 3.08).abs() < 0.01 && (equivalent.actions.high - 66.32).abs() < 0.01,
        "{equivalent:?}"
    );
    assert!(equivalent.prompts.high < equivalent.actions.high && equivalent.bootstrap.is_some());
    let sums: u64 = small.rows.iter().filter(|row| row.sum).map(|row| row.count).sum();
    assert_eq!(sums, small.replies, "every reply is in one primary class");
    for group in Group::ALL {
        let members: u64 =
            small.rows.iter().filter(|row| row.group == group && !row.sum).map(|row| row.count).sum();
        let sum = small.rows.iter().find(|row| row.group == group && row.sum).unwrap().count;
        assert!(ReplyClass::members(group).count() == 1 || members == sum, "{group:?}");
    }
    assert_eq!((small.samples, small.whole.iter().find(|row| row.name == "Equiv").unwrap().count), (7, 1));
    let again = evaluation("small-1.5b", "base", &[("gripper", &rounds())]);
    let first = evaluation("small-1.5b", "base", &[("gripper", &rounds())]);
    let twice = Classes::new(&[&first, &again], &ClassSettings::default()).unwrap_err();
    assert!(twice.contains("gripper") && twice.contains("small-1.5b"), "{twice}");
    let sizes = Sizes::from([("smal".to_owned(), 1.0)]);
    let unknown = Classes::new(&[&first], &ClassSettings { sizes, ..ClassSettings::default() }).unwrap_err();
    assert!(unknown.contains("small-1.5b"), "{unknown}");
}

#[test]
fn tables_print_as_text() {
    insta::assert_snapshot!(table().text());
}

#[test]
fn csv_tables_have_a_line_for_each_class_and_scope() {
    let csv = table().csv();
    let line = |begin: &str| {
        csv.lines().find(|line| line.contains(begin)).unwrap_or_else(|| panic!("{begin}: {csv}"))
    };
    assert!(line(",all,,,,Equiv,true,").contains(",20,4,20.0000,"));
    assert!(line(",action,gripper,pick,,Failed,false,").contains(",7,1,14.2857,"));
    assert!(line("large-7b,actions,actions,flipped,false,7,round,,,3,Equiv,true,").contains(",4,3,75.0000,"));
    assert!(line(",whole,,,,Equiv,true,").contains(",7,1,14.2857,"));
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns), "{csv}");
}

#[test]
fn files_have_the_whole_name_of_a_column() {
    let name = format!("{}-7b", "m".repeat(80));
    let one = evaluation(&name, "base", &[("gripper", &first_run())]);
    let table = Classes::new(&[&one], &ClassSettings::default()).unwrap();
    let files = table.artefacts().unwrap();
    let suspects = files.iter().find(|file| file.name == "classes_suspects.csv").unwrap();
    assert!(suspects.contents.lines().skip(1).all(|line| line.starts_with(&name)), "{}", suspects.contents);
    assert!(table.text().contains('\u{2026}'), "texts show the beginning");
}

#[test]
fn classes_by_position_stand_beside_those_up_to_the_order_of_parameters() {
    let journal = JournalBuilder::new();
    let path = journal.made("s.p01", "actions/0", "d", None);
    let mut assessment = evidence("Equivalent 0 equal", "Equivalent 0 equal", None);
    assessment.evidence["actions"][0]["positional"] = "NPApp".into();
    journal.assessed("s.p01", "classes", &path, &assessment);
    let by_position = ReplyClass::Class(ResultClass::NPApp);
    assert_eq!(cell_of(&journal).actions[0].by_position(), Counts::from([(by_position, 1)]));
    assert!(cell_of(&first_run()).actions.iter().all(|tally| tally.positional.is_empty()));
    let one = evaluation("small-1.5b", "base", &[("gripper", &journal)]);
    let table = Classes::new(&[&one], &ClassSettings::default()).unwrap();
    let column = &table.columns[0];
    let positional = |name: &str| column.positional.iter().find(|row| row.name == name).unwrap().count;
    assert_eq!((column.row("Equiv").unwrap().count, positional("Equiv"), positional("NPApp")), (2, 1, 1));
    assert!(table.text().contains("With parameters by position, as in the paper"), "{}", table.text());
    assert!(table.csv().lines().any(|line| line.contains(",by-position,,,,NPApp,false,2,1,50.0000,")));
    let other = self::table();
    assert!(!other.text().contains("by position, as in the paper") && !other.csv().contains("by-position"));
}

#[test]
fn an_unmeasured_layout_says_so() {
    let evaluation = Evaluation::new(vec![1], &BTreeMap::new(), vec![bare("s", "bon", 1, 2)]);
    let table = Classes::new(&[&evaluation], &ClassSettings::default()).unwrap();
    assert!(!table.is_measured() && table.text().contains("Not measured"));
    let figures = class_figures(&table).unwrap();
    assert!(figures.files.is_empty() && figures.notes.len() == 1);
}

#[test]
fn figures_are_whole_documents_and_the_same_bytes() {
    let figures = class_figures(&table()).unwrap();
    let names: Vec<&str> = figures.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "fig2_classes.svg",
            "fig2_different.svg",
            "fig3_size.svg",
            "fig3_size_flipped.svg",
            "fig4_descriptions.svg",
            "fig5_are.svg",
            "rounds.svg",
            "figures.csv",
            "fig5_are.csv",
            "figures.json"
        ]
    );
    assert_eq!(class_figures(&table()).unwrap(), figures);
    for file in figures.files.iter().filter(|file| file.name.ends_with(".svg")) {
        assert!(file.contents.starts_with("<svg ") && file.contents.ends_with("</svg>\n"), "{}", file.name);
        assert!(file.contents.contains("<desc>") && file.contents.contains("prefers-color-scheme"));
    }
    insta::assert_snapshot!(figures.files[0].contents);
    let one = evaluation("gpt-x", "base", &[("gripper", &first_run())]);
    let one = class_figures(&Classes::new(&[&one], &ClassSettings::default()).unwrap()).unwrap();
    assert!(
        one.files.iter().all(|file| file.name != "fig3_size.svg") && one.notes[0].contains("--model-size")
    );
    let csv = figures.files.iter().find(|file| file.name == "fig5_are.csv").unwrap();
    assert!(
        csv.contents
            .contains("small-1.5b,actions,base,false,by parameter position,Equivalent,equivalent,4,2")
    );
}

#[test]
fn the_kind_of_error_is_an_option_and_is_printed() {
    let small = evaluation("small-1.5b", "base", &[("gripper", &first_run())]);
    let mean = |reading| {
        let settings = ClassSettings { reading, ..ClassSettings::default() };
        let table = Classes::new(&[&small], &settings).unwrap();
        let text = table.text();
        assert!(text.contains(&format!("Action reconstruction error, {}", reading.name())), "{text}");
        let histogram = table.columns[0].histogram(reading, Group::Equivalent);
        histogram.iter().map(|(error, n)| error * n).sum::<u64>()
    };
    assert_eq!(Reading::ALL.map(mean), [11, 8, 6], "0, 4 and 4 by position");
    let figure = class_figures(&Classes::new(&[&small], &ClassSettings::default()).unwrap()).unwrap();
    let figure = &figure.files.iter().find(|file| file.name == "fig5_are.svg").unwrap().contents;
    assert!(figure.contains("by parameter position") && figure.contains("syntax error 2"), "{figure}");
}

#[test]
fn hostile_names_are_escaped() {
    let name = "<script>alert(1)</script>\u{1b}[31m|\"a\",b\n\u{202e}7b".to_owned() + &"x".repeat(300);
    let hostile = evaluation(&name, "base", &[("</svg><g onload=\"x\">", &rounds())]);
    let table = Classes::new(&[&hostile], &ClassSettings::default()).unwrap();
    for text in [table.text(), table.markdown()] {
        assert!(!text.contains('\u{1b}') && text.lines().all(|line| !line.starts_with("\u{202e}")), "{text}");
    }
    assert!(!table.markdown().replace("\\<", "").contains("<script"), "{}", table.markdown());
    for file in class_figures(&table).unwrap().files.iter().filter(|file| file.name.ends_with(".svg")) {
        let text = &file.contents;
        assert!(
            !text.contains("<script") && !text.contains("onload=\"x") && !text.contains('\u{1b}'),
            "{text}"
        );
        assert_eq!(text.matches("</svg>").count(), 1);
        assert!(!text.contains('\u{202e}'));
        let width: f64 = text.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert!(width < 1400.0, "a long name does not stretch the figure: {width}");
    }
    let bytes = table.csv().into_bytes();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    assert!(reader.records().all(|record| record.unwrap().get(0) == Some(name.as_str())));
}

#[test]
fn evidence_is_read_once_and_dropped() {
    let journal = JournalBuilder::new();
    for sample in 0..2000 {
        let path = journal.made("s.p01", &format!("actions/{sample}"), "d", None);
        journal.assessed(
            "s.p01",
            "classes",
            &path,
            &evidence("Equivalent 1 equal", "NPApp 3 different", None),
        );
    }
    let cell = cell_of(&journal);
    assert_eq!(cell.actions.iter().map(Tally::replies).sum::<u64>(), 4000);
    assert!(cell.suspects.is_empty());
    let stored = serde_json::to_string(&cell).unwrap();
    assert!(stored.len() < 4000, "counts and no evidence: {} bytes", stored.len());
    let history = History::read_without(&journal.0, &["classes".to_owned()]).unwrap();
    let assessed = |made: &crate::history::MadeCandidate| made.assessments["classes"].evidence.is_null();
    assert!(history.tasks[0].candidates.len() == 2000 && history.tasks[0].candidates.iter().all(assessed));
}

#[test]
fn sizes_are_read_from_unambiguous_names_only() {
    let sizes = Sizes::new();
    for (name, size) in [
        ("llama-2-70b-chat", Some(70.0)),
        ("qwen2.5-coder-1.5b-instruct", Some(1.5)),
        ("Qwen2.5-Coder-7B-Instruct-GGUF:Q4_K_M", Some(7.0)),
        ("opt-350m", Some(0.35)),
        ("mixtral-8x7b", None),
        ("7b-teacher-70b", None),
        ("7b-and-7B", Some(7.0)),
        ("gpt-4o", None),
        ("b", None),
        ("nanb", None),
        ("1e3b", None),
        ("0b", None),
        ("", None),
        ("7é", None),
    ] {
        assert_eq!(size_of(name, &sizes), size, "{name}");
    }
    let stated = Sizes::from([("gpt-4o".to_owned(), 200.0), ("opt-350m".to_owned(), 0.4)]);
    assert_eq!((size_of("gpt-4o", &stated), size_of("opt-350m", &stated)), (Some(200.0), Some(0.4)));
}
