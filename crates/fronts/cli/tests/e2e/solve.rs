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
        let given = format!("answer = \"{answer}\"");
        // The first point waits; the others were assumed.
        fs::write(&sheet, open.replacen("answer = \"\"", &given, 1)).unwrap();
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
fn a_correction_says_which_steps_it_makes_possible() {
    let folder = with_text();
    let server = ScriptedServer::matching(|request| {
        let both = DOMAIN.replace("      (empty) ; assumed\n    )\n    :effect", "    )\n    :effect");
        let domain = if request.body.contains("holds both") { both } else { DOMAIN.to_owned() };
        let reply = match request.body.contains("Check these kinds of points") {
            true => NO_POINTS.to_owned(),
            false => format!("TASK\n{}\n{}", fenced(&domain), fenced(PROBLEM)),
        };
        Scripted::replies(&[&reply])
    })
    .unwrap();
    solve(folder.path(), &server, &["goats.txt", "--ask", "never"]).expect(0);
    let say = |words: &str| {
        let said = ["--continue", "goats", "--ask", "never", "--json", "--say", words];
        let changes = solve(folder.path(), &server, &said).json(0)["changes"].take();
        changes.as_array().unwrap().last().unwrap().as_str().unwrap().to_owned()
    };
    assert_eq!(say("Rex stays at home."), "the same steps are possible as before");
    assert_eq!(
        say("The boat holds both."),
        "before [not possible after load (lotte, west): load (mia, west)], now [possible: load (lotte, west), then load (mia, west)]"
    );
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
fn a_text_that_is_no_task_says_why() {
    let folder = with_text();
    let replied = |reply: &'static str, out: &str| {
        let server = ScriptedServer::matching(move |_| Scripted::replies(&[reply])).unwrap();
        solve(folder.path(), &server, &["goats.txt", "--out", out])
    };
    let quotes =
        "\"He can load a goat that is where the boat is\" / \"Both goats shall be on the east bank.\"";
    let contradiction: &'static str = format!("CONTRADICTION: {quotes}").leak();
    for (reply, out, line) in [
        (
            "NO TASK: nobody says where the goats shall be",
            "no-goal",
            "not a task: nobody says where the goats shall be",
        ),
        (contradiction, "both", &format!("the text contradicts itself: {quotes}")),
        (
            "TWO TASKS: goats and a puzzle",
            "two",
            "two tasks, each of which needs a text of its own: goats and a puzzle",
        ),
    ] {
        assert_eq!(replied(reply, out).expect(12).stdout.lines().next(), Some(line));
    }
    let silent = replied("I cannot help with goats.", "silent");
    assert!(
        silent.expect(11).stdout.starts_with("failed: none of 3 readings can be used"),
        "{}",
        silent.stdout
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

/// A folder with a configuration whose tables are these servers.
fn with_models(tables: &[(&str, &ScriptedServer, &str)]) -> tempfile::TempDir {
    let folder = with_text();
    let table = |(name, server, more): &(&str, &ScriptedServer, &str)| {
        let url = server.base_url();
        format!(
            "[models.{name}]\nuse = \"provider-openai\"\nmodel = \"{name}-model\"\nbase_url = \"{url}\"\nmax_attempts = 1\n{more}\n"
        )
    };
    fs::create_dir(folder.path().join("planforge")).unwrap();
    let text: String = tables.iter().map(table).collect();
    fs::write(folder.path().join("planforge/config.toml"), text).unwrap();
    folder
}

/// The folder of the first run of a task.
fn only_run(task: &Path) -> std::path::PathBuf {
    fs::read_dir(task.join("runs")).unwrap().next().unwrap().unwrap().path()
}

/// `planforge solve --ask never` in that folder, with its configuration.
fn solve_with(folder: &Path, key: Option<&str>, arguments: &[&str]) -> Ran {
    let mut command = planforge();
    command.env("XDG_CONFIG_HOME", folder).current_dir(folder).args(["solve", "--ask", "never"]);
    key.map(|key| command.env("OTHER_KEY", key));
    Ran::wait(command.args(arguments).spawn().unwrap())
}

#[test]
fn a_second_model_that_was_not_asked_or_did_not_answer_is_asked_by_continue() {
    let (first, second) = (model(NO_POINTS), model(NO_POINTS));
    let tables = [("own", &first, ""), ("other", &second, "api_key_env = \"OTHER_KEY\"")];
    let folder = with_models(&tables);
    let both = ["goats.txt", "--model", "own", "--model", "other"];
    let refused = solve_with(folder.path(), None, &both);
    assert_ne!(refused.exit, 0);
    refused.says(&["OTHER_KEY", "planforge solve --continue goats"]);
    assert_eq!((first.requests().len(), second.requests().len()), (4, 0));
    let solved = solve_with(folder.path(), Some("sk-scripted-0123456789"), &["--continue", "goats"]);
    let line = "planned: 7 steps. 4 of 4 readings by 2 models agree (3 are copies of another), ";
    assert!(solved.expect(0).stdout.starts_with(line), "{}", solved.stdout);
    assert_eq!((first.requests().len(), second.requests().len()), (4, 4));

    let is_awake = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let state = std::sync::Arc::clone(&is_awake);
    let sleepy = ScriptedServer::matching(move |request| match request.body.contains("Check these kinds") {
        _ if !state.load(std::sync::atomic::Ordering::SeqCst) => {
            Scripted::error(500, "overloaded", "scripted")
        }
        true => Scripted::replies(&[NO_POINTS]),
        false => Scripted::replies(&[&format!("TASK\n{}\n{}", fenced(DOMAIN), fenced(PROBLEM))]),
    })
    .unwrap();
    let folder = with_models(&[("own", &first, ""), ("other", &sleepy, "")]);
    let solved = solve_with(folder.path(), None, &both);
    assert!(
        solved.expect(0).stdout.starts_with(
            "planned: 7 steps. 2 of 4 readings by 1 model agree (1 is a copy of another), 2 assumptions ("
        ) && solved.stdout.lines().next().unwrap().contains(", 2 readings cannot be used, "),
        "{}",
        solved.stdout
    );
    is_awake.store(true, std::sync::atomic::Ordering::SeqCst);
    let solved = solve_with(folder.path(), None, &["--continue", "goats"]);
    assert!(solved.expect(0).stdout.starts_with(line), "{}", solved.stdout);
    assert_eq!(first.requests().len(), 8);
}

#[test]
fn a_recorded_solve_is_replayed_into_a_folder_of_any_name() {
    let server = model(NO_POINTS);
    let folder = with_models(&[("own", &server, "")]);
    solve_with(folder.path(), None, &["goats.txt", "--model", "own", "--record", "tape.jsonl"]).expect(0);
    let plan = |name: &str| fs::read_to_string(folder.path().join(name).join("answer/plan")).unwrap();
    let run = only_run(&folder.path().join("goats"));
    for (out, source) in [("again", Path::new("tape.jsonl")), ("third", &run)] {
        let source = source.display().to_string();
        let arguments = ["goats.txt", "--model", "own", "--replay", &source, "--out", out];
        solve_with(folder.path(), None, &arguments).expect(0);
        assert_eq!(plan(out), plan("goats"));
        // After an interrupt the same command goes on.
        fs::remove_dir_all(folder.path().join(out).join("answer")).unwrap();
        fs::remove_file(only_run(&folder.path().join(out)).join("report.json")).unwrap();
        solve_with(folder.path(), None, &arguments).expect(0);
        assert_eq!(plan(out), plan("goats"));
        let refused = solve_with(folder.path(), None, &["--continue", out, "--replay", "goats.txt"]);
        assert_ne!(refused.exit, 0);
        refused.says(&["are made already"]);
        ran(["suite", "check", &folder.path().join(out).display().to_string()]).expect(0);
    }
    assert_eq!(server.requests().len(), 6);
}

#[test]
fn a_cap_in_the_middle_keeps_what_there_is_and_says_what_it_rests_on() {
    let server = model(NO_POINTS);
    let folder = with_models(&[("own", &server, "max_calls = 4")]);
    let solved = solve_with(folder.path(), None, &["goats.txt", "--model", "own"]);
    let line = "planned: 7 steps. 3 of 3 readings by 1 model agree (2 are copies of another)";
    assert!(solved.expect(0).stdout.starts_with(line), "{}", solved.stdout);
    assert!(solved.stdout.contains("open points were not looked for in 2"), "{}", solved.stdout);
    assert_eq!(server.requests().len(), 4);
    solved.says(&["planforge run --resume", "max_calls=8"]);
    let run = only_run(&folder.path().join("goats"));
    ran(["run", "--resume", &run.display().to_string(), "--set", "llm.main.max_calls=8"]).expect(0);
    let solved = solve_with(folder.path(), None, &["--continue", "goats"]);
    assert!(!solved.expect(0).stdout.contains("not looked for"), "{}", solved.stdout);
    assert_eq!(server.requests().len(), 6);
}

#[test]
fn a_model_that_writes_no_valid_pddl_and_a_server_that_is_not_there_say_what_to_try() {
    let broken = DOMAIN.replace("(boat ?b - bank) ; [2]", "(ship ?b - bank) ; [2]");
    let reply = format!("TASK\n{}\n{}", fenced(&broken), fenced(PROBLEM));
    let server = ScriptedServer::matching(move |_| Scripted::replies(&[&reply])).unwrap();
    let folder = with_models(&[("own", &server, "")]);
    let failed = solve_with(folder.path(), None, &["goats.txt", "--model", "own"]);
    assert_ne!(failed.exit, 0);
    let line =
        "failed: none of 3 readings can be used: the PDDL of a reading has a mistake after its repairs: ";
    assert!(failed.stdout.starts_with(line), "{}", failed.stdout);
    failed.says(&["stage.repair.rounds=6", "--domain FILE"]);
    let dead =
        ["other.txt", "--set", "llm.main.base_url=http://127.0.0.1:9/v1", "--set", "llm.main.max_attempts=1"];
    fs::write(folder.path().join("other.txt"), TEXT).unwrap();
    let failed = solve_with(folder.path(), None, &dead);
    assert!(failed.stdout.starts_with("failed: none of 3 readings can be used"), "{}", failed.stdout);
    failed.says(&["openai:NAME", "planforge demo"]);
}

#[test]
fn a_german_text_is_answered_in_german() {
    let folder = with_text();
    let german = "Lotte und Mia, zwei Ziegen, sind am westlichen Ufer. Der Fährmann kann die Ziegen ans andere Ufer bringen, aber nicht alle.\n";
    fs::write(folder.path().join("goats.txt"), german).unwrap();
    let solved = solve(folder.path(), &model(NO_POINTS), &["goats.txt", "--ask", "never"]);
    let line = "geplant: 7 Schritte. 3 von 3 Lesarten von 1 Modell stimmen überein (2 sind Kopien einer anderen), \
        2 Annahmen ((empty) für load ist gemeint; (empty) für unload ist gemeint), ";
    assert!(solved.expect(0).stdout.starts_with(line), "{}", solved.stdout);
    for words in [
        "Der Plan ist gültig: nach 7 Schritten ist das Ziel erreicht.",
        "Nicht mehr: lotte on west.",
        "Damit Schritt 3, unload ",
        "Kein Satz sagt (empty) für load. Ist das gemeint?",
    ] {
        assert!(solved.stdout.contains(words), "{words}: {}", solved.stdout);
    }
    let server = ScriptedServer::matching(|_| Scripted::replies(&["NO TASK: es fehlt ein Ziel"])).unwrap();
    let refused = solve(folder.path(), &server, &["goats.txt", "--out", "none"]);
    assert_eq!(refused.expect(12).stdout.lines().next(), Some("keine Aufgabe: es fehlt ein Ziel"));
}

/// The replies know nothing of two goats aboard.
#[test]
fn an_answer_that_no_reading_allows_stays_in_the_sheet_beside_the_plan() {
    let folder = with_text();
    solve(folder.path(), &model(POINTS), &["goats.txt"]).expect(27);
    let sheet = folder.path().join("goats/questions.toml");
    let open = fs::read_to_string(&sheet).unwrap();
    fs::write(&sheet, open.replacen("answer = \"\"", "answer = \"yes\"", 1)).unwrap();
    // Without assumed lines, of which one is what the answer is about.
    let server = ScriptedServer::matching(|request| {
        let reply = match request.body.contains("Check these kinds of points") {
            true => NO_POINTS.to_owned(),
            false => format!("TASK\n{}\n{}", fenced(&DOMAIN.replace("; assumed", "; [3]")), fenced(PROBLEM)),
        };
        Scripted::replies(&[&reply])
    })
    .unwrap();
    let answered = ["goats.txt", "--out", "again", "--answers", "goats/questions.toml", "--ask", "never"];
    let solved = solve(folder.path(), &server, &answered);
    let again = solve(folder.path(), &server, &["--continue", "again", "--ask", "never"]);
    for solved in [solved, again] {
        let remark =
            "no reading allows this answer: Do both goats fit into the boat? yes: both goats at once.";
        assert!(solved.expect(0).stdout.contains(remark), "{}", solved.stdout);
        assert!(solved.stdout.starts_with("planned: 7 steps."), "{}", solved.stdout);
        let kept = fs::read_to_string(folder.path().join("again/questions.toml")).unwrap();
        assert!(kept.contains("answer = \"yes\""), "{kept}");
    }
    assert_eq!(server.requests().len(), 6);
    // It is a statement of the author where the text is read anew.
    let say = ["--continue", "again", "--ask", "never", "--say", "It rains."];
    solve(folder.path(), &server, &say).expect(0);
    let text = fs::read_to_string(folder.path().join("again/task-2.nl")).unwrap();
    let statements = "- Do both goats fit into the boat? yes: both goats at once\n- It rains.";
    assert!(text.starts_with(TEXT) && text.trim_end().ends_with(statements), "{text}");
}

#[test]
fn another_number_of_readings_than_those_of_the_folder_is_refused() {
    let server = model(NO_POINTS);
    let folder = with_models(&[("own", &server, "")]);
    let five = ["goats.txt", "--model", "own", "--readings", "5", "--record", "tape.jsonl"];
    let line = "planned: 7 steps. 5 of 5 readings by 1 model";
    assert!(solve_with(folder.path(), None, &five).expect(0).stdout.starts_with(line));
    let replayed = |more: &[&str]| {
        let replay = ["goats.txt", "--out", "again", "--replay", "tape.jsonl", "--model", "own"];
        solve_with(folder.path(), None, &[&replay, more].concat())
    };
    assert!(replayed(&["--readings", "5"]).expect(0).stdout.starts_with(line));
    fs::remove_dir_all(folder.path().join("again/answer")).unwrap();
    for (number, exit) in [("9", 30), ("5", 0)] {
        let again = solve_with(
            folder.path(),
            None,
            &["--continue", "again", "--replay", "tape.jsonl", "--readings", number],
        );
        if exit == 30 {
            again.expect(exit).says(&["the 5 readings of this text are made already: --readings"]);
        }
        assert_eq!(again.exit, exit);
    }
    assert!(solve_with(folder.path(), None, &["--continue", "again"]).expect(0).stdout.starts_with(line));
    // A new version has as many as the one before, unless another number is named.
    for (more, line) in [(&[][..], "5 of 5 readings"), (&["--readings", "2"][..], "2 of 2 readings")] {
        let say = ["--continue", "goats", "--say", "It rains."];
        let said = solve_with(folder.path(), None, &[&say, more].concat());
        assert!(said.expect(0).stdout.contains(line), "{}", said.stdout);
    }
}

/// The variables of an action and of its effect are more than are grounded: the search ends at its first limit.
#[test]
fn where_a_limit_ends_the_search_nothing_is_called_unsolvable() {
    let many: String = (0..998).map(|number| format!(" ?g{number}")).collect();
    let parameters = ":parameters (?g - goat ?b - bank)";
    let all = ":effect (and\n      (forall (?x - goat) (when (on ?x ?b) (aboard ?x))) ; [3]";
    let domain = DOMAIN
        .replace(":strips :typing", ":adl :typing")
        .replacen(parameters, &format!(":parameters (?g - goat ?b - bank{many} - goat)"), 1)
        .replacen(":effect (and", all, 1);
    let reply = format!("TASK\n{}\n{}", fenced(&domain), fenced(PROBLEM));
    let server = ScriptedServer::matching(move |request| {
        let is_about_points = request.body.contains("Check these kinds of points");
        Scripted::replies(&[if is_about_points { NO_POINTS } else { reply.as_str() }])
    })
    .unwrap();
    let folder = with_text();
    let solved = solve(folder.path(), &server, &["goats.txt", "--ask", "never", "--readings", "1"]);
    let line =
        "no plan was found within the limits of the search, and none is excluded. 1 reading by 1 model;";
    assert!(solved.expect(20).stdout.starts_with(line), "{}", solved.stdout);
    assert!(!solved.stdout.contains("unsolvable"), "{}", solved.stdout);
    assert!(!folder.path().join("goats/answer/plan").exists());
}
