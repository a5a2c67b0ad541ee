//! The tool `solve`: a text, questions to the client's user, and answers in a second call.

use crate::support::{DOMAIN, TestClient, UserAnswers, answer, connect, connect_to, failure};
use planforge_app::Context;
use planforge_mcp::McpServer;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TEXT: &str = "Two boxes are in port a, where an empty ferry is. They shall be in port b.";

const PROBLEM: &str = "(define (problem boxes) (:domain ferry)
  (:objects a b - port red blue - crate)
  (:init (at red a) (at blue a) (ferry-at a) (free))
  (:goal (and (at red b) (at blue b))))";

const POINTS: &str = r#"{"points": [{
  "kind": "capacity", "question": "Do both boxes fit on the ferry?", "here": "no: one at a time", "otherwise": "yes: both at once",
  "decided_by": "",
  "change": {"actions": ["(:action load :parameters (?c - crate ?p - port) :precondition (and (at ?c ?p) (ferry-at ?p)) :effect (and (on-board ?c) (not (at ?c ?p))))"]}
}]}"#;

/// A client whose model reads the boxes, and the number of requests to it.
fn client(user: Option<UserAnswers>) -> (TestClient, Arc<Mutex<usize>>) {
    let requests = Arc::new(Mutex::new(0));
    let count = Arc::clone(&requests);
    let replies = move |request: &str| {
        *count.lock().unwrap() += 1;
        match request.contains("Check these kinds of points") {
            true => POINTS.to_owned(),
            false => format!("TASK\n```pddl\n{DOMAIN}```\n```pddl\n{PROBLEM}\n```\n"),
        }
    };
    (TestClient { replies: Some(Arc::new(replies)), user, ..TestClient::default() }, requests)
}

fn new_task() -> Value {
    json!({ "text": { "text": TEXT } })
}

fn steps(solved: &Value) -> usize {
    solved["plan"].as_array().unwrap().len()
}

#[tokio::test]
async fn the_user_of_the_client_is_asked_and_the_answer_decides_the_plan() {
    let user = |question: &Value| {
        assert_eq!(question["message"], "Do both boxes fit on the ferry?");
        let choices = question["requestedSchema"]["properties"]["choice"]["oneOf"].as_array().unwrap();
        assert!(choices[0]["title"].as_str().unwrap().starts_with("yes: both at once [possible: load"));
        assert_eq!((choices.len(), &choices[4]["title"]), (5, &json!("I do not know")));
        Some(json!({ "choice": "1" }))
    };
    let (client, requests) = client(Some(Arc::new(user)));
    let client = connect(client).await;
    let solved = answer(&client, "solve", new_task()).await;
    assert_eq!((solved["end"].as_str(), steps(&solved)), (Some("planned"), 5), "{solved}");
    assert!(solved["line"].as_str().unwrap().contains("after 1 answer"), "{solved}");
    assert_eq!(solved["trust"]["models"], json!(["client"]));
    assert_eq!(*requests.lock().unwrap(), 6);
}

#[tokio::test]
async fn own_words_of_the_user_make_a_new_version_and_a_declined_question_stays_open() {
    let asked = Mutex::new(0);
    let (with_words, requests) = client(Some(Arc::new(move |_| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        Some(match *asked {
            1 => json!({ "choice": "4", "words": "Only if they are small." }),
            _ => json!({ "choice": "2" }),
        })
    })));
    let solved = answer(&connect(with_words).await, "solve", new_task()).await;
    assert_eq!((solved["end"].as_str(), steps(&solved)), (Some("planned"), 7), "{solved}");
    assert_eq!(*requests.lock().unwrap(), 12);
    let folder = Path::new(solved["folder"].as_str().unwrap());
    let second = std::fs::read_to_string(folder.join("task-2.nl")).unwrap();
    assert!(second.ends_with("- Do both boxes fit on the ferry? Only if they are small.\n"), "{second}");
    let (declining, _) = client(Some(Arc::new(|_| None)));
    let declined = answer(&connect(declining).await, "solve", new_task()).await;
    assert_eq!(declined["end"], "needs-answers", "{declined}");
}

#[tokio::test]
async fn a_client_that_cannot_ask_gets_the_questions_and_gives_the_answers_in_a_second_call() {
    let (test_client, requests) = client(None);
    let client = connect(test_client).await;
    let asked = answer(&client, "solve", new_task()).await;
    assert_eq!(asked["end"], "needs-answers", "{asked}");
    let point = &asked["points"][0];
    assert_eq!(
        (&point["status"], &point["question"]),
        (&json!("open"), &json!("Do both boxes fit on the ferry?"))
    );
    let second = |answers: Value| json!({ "folder": asked["folder"], "answers": answers });
    let id = point["id"].as_str().unwrap();
    let unknown = failure(&client, "solve", second(json!({ "none": "1" }))).await;
    assert!(unknown.contains("no open point `none`") && unknown.contains(id), "{unknown}");
    for (given, length) in [("1", 5), ("no", 7)] {
        let solved = answer(&client, "solve", second(json!({ id: given }))).await;
        assert_eq!((solved["end"].as_str(), steps(&solved)), (Some("planned"), length), "{solved}");
    }
    // No request is sent twice.
    assert_eq!(*requests.lock().unwrap(), 6);
    let assumed = json!({ "text": { "text": TEXT }, "ask": false });
    let assumed = answer(&client, "solve", assumed).await;
    assert_eq!((&assumed["end"], &assumed["points"][0]["status"]), (&json!("planned"), &json!("assumed")));
}

#[tokio::test]
async fn a_folder_is_made_under_a_root_alone_and_texts_are_never_paths() {
    let place = tempfile::tempdir().unwrap();
    let (root, outside) = (place.path().join("root"), place.path().join("outside"));
    for folder in [&root, &outside] {
        std::fs::create_dir(folder).unwrap();
    }
    std::fs::write(outside.join("secret task"), "Two boxes are there.").unwrap();
    std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
    let (test_client, _) = client(None);
    let client = connect(TestClient { roots: Some(vec![root.clone()]), ..test_client }).await;
    let with_folder = |folder: &Path| json!({ "text": { "text": TEXT }, "ask": false, "folder": folder });
    let solved = answer(&client, "solve", with_folder(Path::new("boxes"))).await;
    assert_eq!(solved["folder"], json!(root.join("boxes")));
    assert!(root.join("boxes/answer/plan").is_file() && root.join("boxes/trust.json").is_file());
    for wrong in ["../outside/boxes", "link/boxes", "link", "/etc/boxes", "..", "none/boxes"] {
        let refused = failure(&client, "solve", with_folder(Path::new(wrong))).await;
        assert!(refused.contains("mcp.file"), "{wrong}: {refused}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    std::os::unix::fs::symlink(&outside, root.join("boxes/readings/2/link")).unwrap();
    let refused = failure(&client, "solve", json!({ "folder": "boxes" })).await;
    assert!(refused.contains("readings/2/link"), "{refused}");
    // A text that is the path of a file is a text of one word.
    let secret = outside.join("secret task");
    std::fs::rename(&secret, outside.join("secret")).unwrap();
    let path = json!({ "text": { "text": outside.join("secret") } });
    assert!(failure(&client, "solve", path).await.contains("solve.no-text"));
}

#[tokio::test]
async fn arguments_that_make_no_task_are_refused_with_help() {
    let silent = connect(TestClient::default()).await;
    assert!(failure(&silent, "solve", json!({})).await.contains("`text`"));
    let no_model = failure(&silent, "solve", new_task()).await;
    assert!(no_model.contains("offers no model") && no_model.contains("openai:NAME"), "{no_model}");
    let (test_client, _) = client(None);
    let client = connect(test_client).await;
    let pddl = failure(&client, "solve", json!({ "text": { "text": PROBLEM } })).await;
    assert!(pddl.contains("PDDL"), "{pddl}");
    let empty = failure(&client, "solve", json!({ "text": { "text": " " } })).await;
    assert!(empty.contains("empty"), "{empty}");
    let long = failure(&client, "solve", json!({ "text": { "text": TEXT.repeat(4000) } })).await;
    assert!(long.contains("at most"), "{long}");
    let late = failure(&client, "solve", json!({ "text": { "text": TEXT }, "seconds": 4000 })).await;
    assert!(late.contains("`seconds`"), "{late}");
}

#[tokio::test]
async fn a_call_at_the_end_of_its_time_leaves_a_folder_that_goes_on() {
    let client = connect(TestClient { is_silent: true, ..TestClient::default() }).await;
    let ended = answer(&client, "solve", json!({ "text": { "text": TEXT }, "seconds": 0.5 })).await;
    assert_eq!(ended["end"], "unfinished", "{ended}");
    let again = json!({ "folder": ended["folder"], "seconds": 0.5 });
    assert_eq!(answer(&client, "solve", again).await["end"], "unfinished");
}

#[tokio::test]
async fn an_interrupted_dialogue_goes_on_with_its_answers_and_without_further_requests() {
    let second = r#", {"kind": "end-state", "question": "Must the ferry be back?", "here": "no: anywhere", "otherwise": "yes: in port a",
      "decided_by": "", "change": {"goal": "(and (at red b) (at blue b) (ferry-at a))"}}]}"#;
    let points = POINTS.trim_end().trim_end_matches("]}").to_owned() + second;
    let is_there = Arc::new(Mutex::new(false));
    let (user_is_there, questions) = (Arc::clone(&is_there), Arc::new(Mutex::new(Vec::new())));
    let asked = Arc::clone(&questions);
    let user = move |question: &Value| {
        let question = question["message"].as_str().unwrap().to_owned();
        let is_first = question.contains("boxes");
        asked.lock().unwrap().push(question);
        Some(if is_first || *user_is_there.lock().unwrap() { json!({ "choice": "1" }) } else { Value::Null })
    };
    let (mut test_client, requests) = client(Some(Arc::new(user)));
    let replies = test_client.replies.take().unwrap();
    test_client.replies = Some(Arc::new(move |request: &str| match replies(request) {
        reply if reply == POINTS => points.clone(),
        reply => reply,
    }));
    let root = tempfile::tempdir().unwrap();
    let test_client = TestClient { roots: Some(vec![root.path().to_owned()]), ..test_client };
    // The second call waits for the end of the first one.
    let client = connect_to(McpServer::new(Context::default(), 1), test_client).await;
    let arguments = json!({ "text": { "text": TEXT }, "folder": "boxes" }).as_object().unwrap().clone();
    let request = CallToolRequest::new(CallToolRequestParams::new("solve").with_arguments(arguments));
    let request = ClientRequest::CallToolRequest(request);
    let call = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    while questions.lock().unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    call.cancel(None).await.unwrap();
    *is_there.lock().unwrap() = true;
    let solved = answer(&client, "solve", json!({ "folder": "boxes" })).await;
    // Both boxes at once, and the way back.
    assert_eq!((solved["end"].as_str(), steps(&solved)), (Some("planned"), 6), "{solved}");
    assert_eq!((*requests.lock().unwrap(), questions.lock().unwrap().len()), (6, 3));
}
