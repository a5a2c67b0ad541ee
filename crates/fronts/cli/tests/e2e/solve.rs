//! `planforge solve`: readings, questions, answers, corrections. The replies are written here by hand.

use super::mcp::Server;
use super::support::{Ran, fenced, planforge, ran};
use planforge_testkit::{Scripted, ScriptedServer};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const TEXT: &str = "Two goats, Lotte and Mia, stand on the west bank of a river. A ferryman has a boat there, which is empty. He can load a goat that \
    is where the boat is, row across with whatever is aboard, and unload a goat. Both goats shall be on the east bank.\n";

const DOMAIN: &str = "(define (domain ferry)
  (:requirements :strips :typing)
  (:types
    goat bank ; [1]
  )
  (:predicates
    (on ?g - goat ?b - bank) ; [1]
    (aboard ?g - goat) ; [3]
    (empty) ; [2]
    (boat ?b - bank) ; [2]
  )
  (:action load ; [3]
    :parameters (?g - goat ?b - bank)
    :precondition (and
      (on ?g ?b) ; [3]
      (boat ?b) ; [3]
      (empty) ; assumed
    )
    :effect (and
      (aboard ?g) ; [3]
      (not (on ?g ?b)) ; [3]
      (not (empty)) ; assumed
    )
  )
  (:action unload ; [3]
    :parameters (?g - goat ?b - bank)
    :precondition (and
      (aboard ?g) ; [3]
      (boat ?b) ; [3]
    )
    :effect (and
      (on ?g ?b) ; [3]
      (empty) ; assumed
      (not (aboard ?g)) ; [3]
    )
  )
  (:action row ; [3]
    :parameters (?a - bank ?b - bank)
    :precondition (boat ?a) ; [3]
    :effect (and
      (boat ?b) ; [3]
      (not (boat ?a)) ; [3]
    )
  )
)";

const PROBLEM: &str = "(define (problem goats)
  (:domain ferry)
  (:objects
    lotte mia - goat ; [1]
    west east - bank ; [1]
  )
  (:init
    (on lotte west) ; [1]
    (on mia west) ; [1]
    (boat west) ; [2]
    (empty) ; [2]
  )
  (:goal (and
    (on lotte east) ; [4]
    (on mia east) ; [4]
  ))
)";

const POINTS: &str = r#"{"points": [{
  "kind": "capacity",
  "question": "Do both goats fit into the boat?",
  "here": "no: one goat at a time",
  "otherwise": "yes: both goats at once",
  "decided_by": "",
  "change": {"actions": ["(:action load :parameters (?g - goat ?b - bank) :precondition (and (on ?g ?b) (boat ?b)) :effect (and (aboard ?g) (not (on ?g ?b))))"]}
}]}"#;

/// A model that reads every text as the goats, and names these points.
fn model(points: &'static str) -> ScriptedServer {
    ScriptedServer::matching(move |request| {
        let is_about_points = request.body.contains("Check these kinds of points");
        let reply = match is_about_points {
            true => points.to_owned(),
            false => format!("TASK\n{}\n{}", fenced(DOMAIN), fenced(PROBLEM)),
        };
        Scripted::replies(&[&reply])
    })
    .unwrap()
}

const NO_POINTS: &str = "{\"points\": []}";

/// `planforge solve` in that folder, with replies of a server.
fn solve(folder: &Path, server: &ScriptedServer, arguments: &[&str]) -> Ran {
    let address = format!("llm.main.base_url={}", server.base_url());
    let mut command = planforge();
    command.current_dir(folder).arg("solve").args(arguments);
    // The readings that are there count: no model is asked.
    if !arguments.contains(&"--continue") || arguments.contains(&"--say") {
        command.args(["--set", &address]);
    }
    Ran::wait(command.spawn().unwrap())
}

fn with_text() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("goats.txt"), TEXT).unwrap();
    folder
}

fn steps(folder: &Path) -> usize {
    fs::read_to_string(folder.join("goats/answer/plan")).unwrap().lines().count()
}

#[test]
fn a_text_alone_becomes_a_plan_that_says_what_it_rests_on() {
    let folder = with_text();
    let server = model(NO_POINTS);
    let solved = solve(folder.path(), &server, &["goats.txt"]);
    assert_eq!(
        solved.expect(0).stdout.lines().next(),
        Some(
            "planned: 7 steps. 3 of 3 readings by 1 model agree (2 are copies of another), 2 assumptions ((empty) for load is meant; \
             (empty) for unload is meant), every sentence is used."
        )
    );
    // Three readings and the points of each.
    assert_eq!(server.requests().len(), 6);
    let answer = folder.path().join("goats/answer");
    let files = ["domain.pddl", "problem.pddl", "plan"].map(|file| answer.join(file).display().to_string());
    ran(["pddl", "validate"].into_iter().chain(files.iter().map(String::as_str))).expect(0);
    assert!(solved.stdout.contains("precondition of load: (empty)"), "{}", solved.stdout);
    // The folder is a suite with one task, whose answer is not its reference.
    ran(["suite", "check", &folder.path().join("goats").display().to_string()]).expect(0);
    assert!(!folder.path().join("goats/task.pddl").exists());
    // Nothing is overwritten.
    solve(folder.path(), &server, &["goats.txt"]).expect(30).says(&["goats", "--continue goats", "--out"]);
}

#[test]
fn questions_wait_in_a_file_and_the_answers_decide_the_plan_without_further_requests() {
    let folder = with_text();
    let server = model(POINTS);
    let asked = solve(folder.path(), &server, &["goats.txt"]);
    asked.expect(27).says(&["planforge solve --continue goats"]);
    assert!(asked.stdout.starts_with("needs answers: 1 question in questions.toml."), "{}", asked.stdout);
    assert!(asked.stdout.contains("Do both goats fit into the boat?"), "{}", asked.stdout);
    assert!(!folder.path().join("goats/answer").exists());
    let sheet = folder.path().join("goats/questions.toml");
    let open = fs::read_to_string(&sheet).unwrap();
    assert!(
        open.contains("yes: both goats at once [possible: load (lotte, west), then load (mia, west)]"),
        "{open}"
    );
    for (answer, length, said) in [
        ("1", 5, "after 1 answer"),
        ("2", 7, "after 1 answer"),
        ("unknown", 7, "2 assumptions (one goat at a time"),
    ] {
        fs::write(&sheet, open.replace("answer = \"\"", &format!("answer = \"{answer}\""))).unwrap();
        let solved = solve(folder.path(), &server, &["--continue", "goats"]);
        assert!(solved.expect(0).stdout.lines().next().unwrap().contains(said), "{}", solved.stdout);
        assert_eq!(steps(folder.path()), length, "{answer}");
    }
    assert_eq!(server.requests().len(), 6);
    // Answers to another text are not taken.
    fs::write(folder.path().join("other.txt"), format!("{TEXT} It rains.")).unwrap();
    solve(folder.path(), &server, &["other.txt", "--answers", "goats/questions.toml"])
        .expect(31)
        .says(&["these answers belong to another text"]);
    assert!(!folder.path().join("other").exists());
}

#[test]
fn without_a_person_open_points_are_assumed_and_a_statement_makes_a_new_version() {
    let folder = with_text();
    let server = model(POINTS);
    let assumed = solve(folder.path(), &server, &["goats.txt", "--ask", "never", "--json"]).json(0);
    assert_eq!(assumed["points"][0]["status"], "assumed");
    assert_eq!(assumed["trust"]["assumptions"][0]["question"], "Do both goats fit into the boat?");
    let line = assumed["line"].as_str().unwrap();
    assert!(
        line.contains("2 assumptions (one goat at a time; (empty) for unload is meant), every"),
        "{line}"
    );
    let said = ["--continue", "goats", "--say", "The boat holds one goat.", "--ask", "never"];
    solve(folder.path(), &server, &said).expect(0);
    assert_eq!(server.requests().len(), 12);
    let second = fs::read_to_string(folder.path().join("goats/task-2.nl")).unwrap();
    assert!(
        second.starts_with(TEXT) && second.ends_with("author:\n- The boat holds one goat.\n"),
        "{second}"
    );
    assert!(folder.path().join("goats/answer-1/plan").exists());
}

#[test]
fn a_given_domain_is_used_and_not_written() {
    let folder = with_text();
    fs::write(folder.path().join("ferry.pddl"), DOMAIN).unwrap();
    let server = model(NO_POINTS);
    solve(folder.path(), &server, &["goats.txt", "--domain", "ferry.pddl"]).expect(0);
    assert!(server.requests()[0].body.contains("for a given domain"));
    assert_eq!(fs::read_to_string(folder.path().join("goats/domain.pddl")).unwrap(), DOMAIN);
    assert!(!folder.path().join("goats/answer/domain.pddl").exists());
    assert_eq!(steps(folder.path()), 7);
}

#[test]
fn a_text_that_asks_for_no_plan_says_what_is_missing() {
    let folder = with_text();
    let server =
        ScriptedServer::matching(|_| Scripted::replies(&["NO TASK: nobody says where the goats shall be"]))
            .unwrap();
    let solved = solve(folder.path(), &server, &["goats.txt"]);
    assert_eq!(
        solved.expect(12).stdout.lines().next(),
        Some("not a task: nobody says where the goats shall be")
    );
    let silent = ScriptedServer::matching(|_| Scripted::replies(&["I cannot help with goats."])).unwrap();
    let failed = solve(folder.path(), &silent, &["goats.txt", "--out", "again"]);
    assert!(
        failed.expect(11).stdout.starts_with("failed: none of 3 readings can be used"),
        "{}",
        failed.stdout
    );
}

#[test]
fn what_is_not_a_text_is_refused_before_a_model_is_asked() {
    let folder = with_text();
    fs::write(folder.path().join("empty.txt"), " \n").unwrap();
    fs::write(folder.path().join("task.txt"), PROBLEM).unwrap();
    fs::write(folder.path().join("long.txt"), TEXT.repeat(1000)).unwrap();
    let server = model(NO_POINTS);
    let refused = |arguments: &[&str], exit, words: &[&str]| {
        solve(folder.path(), &server, arguments).expect(exit).says(words);
    };
    refused(&["empty.txt"], 31, &["empty"]);
    refused(&["robot.txt"], 31, &["robot.txt", "is neither a file nor a text"]);
    refused(&["task.txt"], 31, &["PDDL", "planforge pddl plan"]);
    refused(&["long.txt"], 31, &["bytes", "at most"]);
    refused(&["--continue", "nowhere"], 30, &["nowhere is not the folder of a task"]);
    refused(&["goats.txt", "--say", "more"], 30, &["--continue"]);
    assert!(!folder.path().join("task").exists() && server.requests().is_empty());
}

/// A configuration folder whose table `own` is the server.
fn configured(server: &ScriptedServer) -> tempfile::TempDir {
    let config = tempfile::tempdir().unwrap();
    fs::create_dir(config.path().join("planforge")).unwrap();
    let table = format!(
        "[models.own]\nuse = \"provider-openai\"\nmodel = \"own-model\"\nbase_url = \"{}\"\n",
        server.base_url()
    );
    fs::write(config.path().join("planforge/config.toml"), table).unwrap();
    config
}

#[test]
fn the_mcp_tool_and_the_command_line_give_the_same_result_for_the_same_replies() {
    let folder = with_text();
    let server = model(POINTS);
    let config = configured(&server);
    let command = |arguments: &[&str]| {
        let mut command = planforge();
        command.env("XDG_CONFIG_HOME", config.path()).current_dir(folder.path()).args(arguments);
        command
    };
    let solve = |arguments: &[&str], exit| Ran::wait(command(arguments).spawn().unwrap()).json(exit);
    let root = folder.path().canonicalize().unwrap();
    let mut agent =
        Server::of(command(&["mcp"]), &root, Box::new(|_| panic!("the client's model is not asked")));
    let without_folder = |mut result: Value, folder: &str| {
        assert!(result["folder"].as_str().unwrap().ends_with(folder), "{result}");
        result["folder"] = Value::Null;
        result
    };

    let asked = solve(&["solve", "goats.txt", "--model", "own", "--json"], 27);
    let new = json!({ "text": { "path": "goats.txt" }, "folder": "agent/goats", "models": ["own"] });
    fs::create_dir(root.join("agent")).unwrap();
    let asked_agent = agent.answer("solve", new);
    assert_eq!(without_folder(asked.clone(), "goats"), without_folder(asked_agent.clone(), "agent/goats"));

    let id = asked["points"][0]["id"].as_str().unwrap();
    let sheet = folder.path().join("goats/questions.toml");
    let open = fs::read_to_string(&sheet).unwrap();
    fs::write(&sheet, open.replace("answer = \"\"", "answer = \"1\"")).unwrap();
    let solved = solve(&["solve", "--continue", "goats", "--json"], 0);
    let answers = json!({ "folder": asked_agent["folder"], "answers": { id: "1" } });
    let solved_agent = agent.answer("solve", answers);
    assert_eq!(solved["plan"].as_array().unwrap().len(), 5);
    assert_eq!(without_folder(solved, "goats"), without_folder(solved_agent, "agent/goats"));
    assert_eq!(server.requests().len(), 12);
    agent.end();
}
