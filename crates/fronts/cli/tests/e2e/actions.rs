//! A domain action by action against a server that gives hand-written answers: every class, rounds of correction, and what reaches the model.

use super::support::{Ran, Run, assessments, example, example_text, pipeline, planforge, root, verdict};
use planforge_contract::ResultClasses;
use planforge_testkit::{Scripted, ScriptedServer};
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;

/// The name of the action that a question is about.
fn asked_about(question: &str) -> String {
    let (_, rest) = question.rsplit_once("(it is called `").expect("a question for an action");
    rest.split('`').next().unwrap().to_owned()
}

/// An action of grippers as the reference has it.
fn right(name: &str) -> String {
    let domain = example_text("grippers", "domain.pddl");
    let from = domain.find(&format!("(:action {name}\n")).unwrap();
    let end = domain[from + 1..].find("(:action").map_or(domain.trim_end().len() - 1, |to| from + 1 + to);
    domain[from..end].trim_end().to_owned()
}

fn change(name: &str, from: &str, to: &str) -> String {
    let text = right(name);
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1)
}

/// Replies by the name of the action and the number of earlier requests for it.
fn server(answer: impl Fn(&str, usize, &str) -> String + Send + Sync + 'static) -> ScriptedServer {
    let counts = Mutex::new(std::collections::BTreeMap::<String, usize>::new());
    ScriptedServer::matching(move |request| {
        let question = request.question();
        let name = asked_about(&question);
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(name.clone()).or_default();
        let text = answer(&name, *count, &question);
        *count += 1;
        Scripted::replies(&[&text])
    })
    .unwrap()
}

fn run(name: &str, server: &ScriptedServer) -> Run {
    Run::new(name, &server.base_url()).task("grippers", "p02").arg("--json")
}

fn classes(assessment: &Value) -> ResultClasses {
    serde_json::from_value(assessment["evidence"].clone()).unwrap()
}

/// `go grasp release | whole`.
fn told(assessment: &Value) -> String {
    let classes = classes(assessment);
    let actions: Vec<&str> = classes.actions.iter().map(|action| action.class.as_str()).collect();
    format!("{} | {}", actions.join(" "), classes.domain.unwrap().class)
}

/// A report without what names its folder.
fn replayed(run: &Run) -> Value {
    Ran::wait(planforge().arg("replay").arg(run.folder()).arg("--json").spawn().unwrap()).json(0)
}

/// One answer of each class for `grasp`, in the order of precedence.
fn answers() -> Vec<(&'static str, String)> {
    let pre = "(and (robot-in ?r ?place) (ball-in ?b ?place) (empty ?r ?g))";
    vec![
        ("NoPDDL", "The robot takes the ball.".to_owned()),
        ("PError", change("grasp", "(empty ?r ?g))", "(empty ?r ?g)")),
        ("UToken", change("grasp", ":effect", ":precondition (empty ?r ?g)\n:effect")),
        ("TError", change("grasp", "?b - ball", "?b - toy")),
        ("PAError", change("grasp", "(ball-in ?b ?place)", "(ball-in ?b)")),
        ("NError", change("grasp", ":action grasp", ":action grab")),
        ("BPError", change("grasp", "(empty ?r ?g)", "(not (holds ?r ?g ?b))")),
        ("NoPlan", change("grasp", "(holds ?r ?g ?b) ", "")),
        ("NPApp", change("grasp", pre, "(and (ball-in ?b ?place) (empty ?r ?g))")),
        ("Equivalent", format!("Here it is:\n```pddl\n{}\n```", right("grasp").replace("?b", "?ball"))),
    ]
}

#[test]
fn every_class_comes_out_of_the_shipped_pipeline_with_any_number_of_jobs_and_in_replay() {
    let go = |jobs: &str| {
        let server = server(|name, count, _| match name {
            "grasp" => answers()[count].1.clone(),
            other => right(other),
        });
        let n = answers().len().to_string();
        let mut run = run("actions.toml", &server).set("stage.actions.n", &n).arg("-j").arg(jobs);
        let report = run.go().json(0);
        assert_eq!(server.count(), 3 * answers().len());
        (run, report, server)
    };
    let (first, report, server) = go("1");
    let told_of: Vec<String> = assessments(&first.folder(), "classes").iter().map(told).collect();
    let wanted: Vec<String> =
        answers().iter().map(|(class, _)| format!("Equivalent {class} Equivalent | {class}")).collect();
    assert_eq!(told_of, wanted);
    let problems: Vec<u64> =
        assessments(&first.folder(), "classes").iter().map(|a| classes(a).problems).collect();
    assert!(problems.iter().all(|&n| n == 2), "the task's problem and a further one: {problems:?}");
    let same: Vec<Value> = assessments(&first.folder(), "same");
    assert_eq!(same.last().unwrap()["decision"], "accepted");
    assert_eq!(same.last().unwrap()["evidence"]["comparisons"].as_array().unwrap().len(), 2);
    // Three examples a question, of other domains, drawn anew for each sample.
    for request in server.requests() {
        assert_eq!(request.question().matches("```pddl").count(), 3);
        assert!(!request.question().contains("(robot-in ?r ?place) (ball-in"), "its own body is withheld");
    }
    let (second, other, _) = go("4");
    assert_eq!(report["tasks"], other["tasks"]);
    drop(server);
    assert_eq!(replayed(&first)["tasks"], report["tasks"]);
    drop(second);
}

#[test]
fn only_wrong_actions_are_rewritten_with_feedback_on_their_class() {
    let wrong = |name: &str| match name {
        "go" => change("go", "(robot-in ?r ?from)\n", "(robot-in ?r ?from\n"),
        "grasp" => change("grasp", "(robot-in ?r ?place) ", ""),
        other => right(other),
    };
    let go = |jobs: &str| {
        let server = server(move |name, count, _| if count == 0 { wrong(name) } else { right(name) });
        let mut run = run("actions-corrective.toml", &server).arg("-j").arg(jobs);
        let report = run.go().json(0);
        (run, report, server)
    };
    let (first, report, server) = go("1");
    assert_eq!(verdict(&report, 0), "accepted");
    let questions: Vec<String> = server.requests().iter().map(|request| request.question()).collect();
    let names: Vec<String> = questions.iter().map(|question| asked_about(question)).collect();
    assert_eq!(names, ["go", "grasp", "release", "go", "grasp"]);
    let of_first: String = questions[..3].concat();
    assert!(!of_first.contains("found wrong"));
    let (of_go, of_grasp) = (&questions[3], &questions[4]);
    assert!(of_go.contains("Action `go`: syntax error (PError): the parentheses do not match."), "{of_go}");
    assert!(of_grasp.contains("Action `grasp`: different domain (NPApp): it allows a plan that is wrong."));
    assert!(
        of_grasp.contains("<- cannot be executed") && of_grasp.contains("In truth this holds of its objects")
    );
    // What the true action needs is not told, and nobody hears of another's fault.
    assert!(!of_grasp.contains("(robot-in ?r ?place)") && !of_grasp.contains("`go`"), "{of_grasp}");
    let looks: Vec<String> =
        assessments(&first.folder(), "look").iter().map(|a| a["decision"].to_string()).collect();
    assert_eq!(looks, ["\"rejected\"", "\"accepted\""]);
    assert_eq!(
        told(&assessments(&first.folder(), "classes")[0]),
        "Equivalent Equivalent Equivalent | Equivalent"
    );
    let (_second, other, _) = go("4");
    assert_eq!(report["tasks"], other["tasks"]);
    drop(server);
    assert_eq!(replayed(&first)["tasks"], report["tasks"]);
}

#[test]
fn rounds_end_if_the_model_makes_no_progress_and_the_rest_is_unchanged() {
    let server = server(|name, _, _| match name {
        "release" => change("release", "(holds ?r ?g ?b)", "(ball-in ?b ?place)"),
        other => right(other),
    });
    let mut run = run("actions-corrective.toml", &server).set("stage.correct.rounds", "2");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "rejected");
    assert_eq!(server.count(), 3 + 2);
    let last = &server.requests()[4].question();
    assert!(
        last.contains("Action `release`: different domain (NoPlan): with it a problem has no plan any more."),
        "{last}"
    );
    // Why there is no plan is told of the action itself; what others need is the reference's.
    assert!(!last.contains("grasp, which needs") && !last.contains("(:action grasp"), "{last}");
    assert_eq!(told(&assessments(&run.folder(), "classes")[0]), "Equivalent Equivalent NoPlan | NoPlan");
}

/// The shipped pipeline without `feedback = "environment"`, in a separate folder.
fn undeclared(folder: &Path) -> std::path::PathBuf {
    let text = std::fs::read_to_string(pipeline("actions-corrective.toml")).unwrap();
    let examples = root().join("examples").display().to_string();
    let without = text.replace("\nfeedback = \"environment\"\n", "\n").replace("../../examples", &examples);
    assert!(!without.contains("\nfeedback = \"environment\""));
    let file = folder.join("undeclared.toml");
    std::fs::write(&file, without).unwrap();
    file
}

#[test]
fn without_the_declaration_feedback_contains_nothing_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = undeclared(folder.path());
    let go = |behaviour: &str| {
        let server = server(|name, count, _| match (name, count) {
            ("go", 0) => change("go", "?from ?to - room", "?from ?to - place"),
            ("grasp", _) => change("grasp", "(robot-in ?r ?place) ", ""),
            (other, _) => right(other),
        });
        let runs = folder.path().join(format!("runs-{behaviour}"));
        let mut command = planforge();
        command.arg("run").arg(&file).arg("--json").arg("--runs").arg(&runs);
        command.arg("--task").arg(example("grippers", "p02"));
        for set in [
            format!("llm.main.base_url={}", server.base_url()),
            format!("stage.correct.round.look.options.behaviour={behaviour}"),
            "llm.main.max_attempts=1".to_owned(),
            "stage.correct.rounds=2".to_owned(),
        ] {
            command.arg("--set").arg(set);
        }
        let report = Ran::wait(command.spawn().unwrap()).json(0);
        assert_eq!(verdict(&report, 0), "rejected");
        server.requests().iter().map(|request| request.question()).collect::<Vec<String>>()
    };
    // Errors of syntax and meaning follow from what the pipeline gives, so they are told; that grasp behaves otherwise is not known then.
    let told = go("false");
    assert_eq!(told.iter().map(|q| asked_about(q)).collect::<Vec<_>>(), ["go", "grasp", "release", "go"]);
    assert!(
        told[3].contains("Action `go`: semantic error (TError)") && !told[3].contains("different domain")
    );
    // With behaviour the environment is asked, and all that the verifier says is kept from the model, the errors too: nobody complains, so
    // nothing is asked for again.
    let withheld = go("true");
    assert_eq!(withheld.iter().map(|q| asked_about(q)).collect::<Vec<_>>(), ["go", "grasp", "release"]);
    for question in withheld {
        for word in ["found wrong", "TError", "NPApp", "In truth", "(robot-in ?r ?place)"] {
            assert!(!question.contains(word), "{word}: {question}");
        }
    }
}

#[test]
fn further_problems_and_examples_are_part_of_a_run_s_identity() {
    let server = server(|name, _, _| right(name));
    let digest = |sets: &[(&str, &str)]| {
        let run = run("actions.toml", &server).set("stage.actions.n", "1");
        let mut run = sets.iter().fold(run, |run, (key, value)| run.set(key, value));
        run.go().expect(0);
        let manifest: Value =
            serde_json::from_slice(&std::fs::read(run.folder().join("run.json")).unwrap()).unwrap();
        manifest["tasks"][0]["sha256"].as_str().unwrap().to_owned()
    };
    let usual = digest(&[]);
    assert_eq!(usual, digest(&[]));
    assert_ne!(usual, digest(&[("environment.problems", "1")]));
    assert_ne!(usual, digest(&[("environment.problems", "3")]));
    let fewer = "[\"../../examples/suites/blocks\"]";
    assert_ne!(usual, digest(&[("given.action_examples", fewer)]));
}
