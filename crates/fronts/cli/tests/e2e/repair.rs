//! Joint repair of domain and problem, with replies written by hand: `pd-tree-joint.toml` on the first task of hiking.

use crate::support::{Run, assessments, events, example_text, fenced, verdict};
use planforge_testkit::{Scripted, ScriptedRequest, ScriptedServer};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The calls that make the hiking domain from its template.
const DOMAIN: &str = r#"```python
add_or_update_predicates(["(trail ?from ?to - camp)", "(team-of ?m - team ?a ?b - hiker)", "(hiker-at ?h - hiker ?p - camp)",
  "(car-at ?c - car ?p - camp)", "(tent-at ?t - tent ?p - camp)", "(pitched ?t - tent)", "(packed ?t - tent)",
  "(reached ?m - team ?p - camp)"])
modify_action("pitch", ["(hiker-at ?h ?p)", "(tent-at ?t ?p)", "(packed ?t)"], ["(pitched ?t)", "(not (packed ?t))"])
modify_action("strike", ["(hiker-at ?h ?p)", "(tent-at ?t ?p)", "(pitched ?t)"], ["(packed ?t)", "(not (pitched ?t))"])
modify_action("drive", ["(hiker-at ?h ?from)", "(car-at ?c ?from)"],
  ["(hiker-at ?h ?to)", "(car-at ?c ?to)", "(not (hiker-at ?h ?from))", "(not (car-at ?c ?from))"])
modify_action("drive-tent", ["(hiker-at ?h ?from)", "(car-at ?c ?from)", "(tent-at ?t ?from)", "(packed ?t)"],
  ["(hiker-at ?h ?to)", "(car-at ?c ?to)", "(tent-at ?t ?to)", "(not (hiker-at ?h ?from))", "(not (car-at ?c ?from))",
   "(not (tent-at ?t ?from))"])
modify_action("drive-friend", ["(hiker-at ?h ?from)", "(car-at ?c ?from)", "(hiker-at ?friend ?from)"],
  ["(hiker-at ?h ?to)", "(car-at ?c ?to)", "(hiker-at ?friend ?to)", "(not (hiker-at ?h ?from))", "(not (car-at ?c ?from))",
   "(not (hiker-at ?friend ?from))"])
modify_action("drive-all",
  ["(hiker-at ?h ?from)", "(car-at ?c ?from)", "(hiker-at ?friend ?from)", "(tent-at ?t ?from)", "(packed ?t)"],
  ["(hiker-at ?h ?to)", "(car-at ?c ?to)", "(hiker-at ?friend ?to)", "(tent-at ?t ?to)", "(not (hiker-at ?h ?from))",
   "(not (car-at ?c ?from))", "(not (hiker-at ?friend ?from))", "(not (tent-at ?t ?from))"])
modify_action("hike",
  ["(team-of ?m ?a ?b)", "(hiker-at ?a ?from)", "(hiker-at ?b ?from)", "(reached ?m ?from)", "(trail ?from ?to)", "(tent-at ?t ?to)",
   "(pitched ?t)"],
  ["(hiker-at ?a ?to)", "(hiker-at ?b ?to)", "(reached ?m ?to)", "(not (hiker-at ?a ?from))", "(not (hiker-at ?b ?from))",
   "(not (reached ?m ?from))"])
```"#;

/// A model whose first problem is wrong, and which corrects it if it can.
fn server(problem: String, repair: &'static str) -> ScriptedServer {
    ScriptedServer::matching(move |request: &ScriptedRequest| {
        let question = request.question();
        let n = request.json()["n"].as_u64().unwrap_or(1) as usize;
        let reply = match () {
            () if question.contains("Now translate") => fenced(&problem),
            () if question.contains("The domain was checked") => repair.to_owned(),
            () => format!("{DOMAIN}\n"),
        };
        Scripted::replies(&vec![reply.as_str(); n])
    })
    .unwrap()
}

fn run(pipeline: &str, server: &ScriptedServer) -> Run {
    Run::new(pipeline, &server.base_url()).set("stage.problem.n", "1").arg("--json").task("hiking", "p01")
}

const GOAL: &str = "The goal names the wrong camp.\n```python\nedit_goal(add=[\"(reached team1 camp3)\"], remove=[\"(reached team1 \
camp2)\"])\n```";

#[test]
fn a_wrong_goal_that_walks_do_not_see_is_repaired() {
    let wrong = example_text("hiking", "p01.pddl").replace("(reached team1 camp3)", "(reached team1 camp2)");
    let server = server(wrong, GOAL);
    let mut today = run("pd-tree.toml", &server);
    let report = today.go().json(0);
    assert_eq!(verdict(&report, 0), "rejected");
    assert_eq!(assessments(&today.folder(), "ew")[0]["metrics"]["score"], 1.0);

    let mut joint = run("pd-tree-joint.toml", &server);
    let report = joint.go().json(0);
    assert_eq!(verdict(&report, 0), "accepted");
    let folder = joint.folder();
    assert!(assessments(&folder, "ew").iter().all(|a| a["metrics"]["score"] == 1.0));
    let told = assessments(&folder, "valid")[0]["feedback"].as_array().unwrap().clone();
    let told: Vec<&str> = told.iter().map(|text| text.as_str().unwrap()).collect();
    assert!(told[0].contains("the goal of the task does not hold in the end"), "{told:?}");
    assert!(told[1].contains("a change of the problem"), "{told:?}");
    assert!(!told.concat().contains("(reached team1 camp3)"), "the reference's goal is not told: {told:?}");
    assert_eq!(events(&folder, "round-finished").len(), 2);
}

#[test]
fn a_broken_problem_is_repaired_or_ends_as_an_unusable_reply() {
    let broken = example_text("hiking", "p01.pddl").replace("(car-at car2 camp3)", "(car-at car2 camp9)");
    let repair = "```python\nedit_initial_state([\"(car-at car2 camp3)\"], [\"(car-at car2 camp9)\"])\n```";
    let asked = AtomicUsize::new(0);
    let broken_reply = fenced(&broken);
    let server = ScriptedServer::matching(move |request: &ScriptedRequest| {
        let question = request.question();
        let n = request.json()["n"].as_u64().unwrap_or(1) as usize;
        let reply = if question.contains("Now translate") {
            broken_reply.clone()
        } else if question.contains("is declared") && asked.fetch_add(1, Ordering::SeqCst) == 0 {
            format!("{DOMAIN}\n{repair}")
        } else {
            DOMAIN.to_owned()
        };
        Scripted::replies(&vec![reply.as_str(); n])
    })
    .unwrap();
    let mut today = run("pd-tree.toml", &server);
    let ran = today.go();
    let report = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(verdict(&report, 0), "unusable", "{}", ran.stderr);
    let requests = events(&today.folder(), "completion");
    assert_eq!(requests.len(), 4, "the problem is asked for four times, and no domain");

    let mut joint = run("pd-tree-joint.toml", &server);
    let report = joint.go().json(0);
    assert_eq!(verdict(&report, 0), "accepted");
    assert_eq!(events(&joint.folder(), "round-finished").len(), 1);
}
