//! Reports that are answered part by part.

use crate::client::TestServer;
use crate::jobs::{answered, demo_request};
use serde_json::Value;

#[test]
fn pages_of_tasks_are_written_when_they_are_asked_for() {
    let server = TestServer::start();
    answered(&server, &server.job("solve", &demo_request()));
    let runs = server.get("/api/runs?folder=task/runs").json();
    let run = runs["runs"][0]["path"].as_str().unwrap().to_owned();
    let index = server.get(&format!("/api/report/index?path={run}")).json();
    let ask = |rest: &str| server.get(&format!("/api/report/tasks?build={}&{rest}", index["build"]));
    let first = ask("run=0&from=0&to=1").json();
    assert_eq!(first["pages"].as_array().unwrap().len(), 1, "{first:#}");
    let chunks = |document: &Value| document["page_chunks"].as_array().unwrap().len();
    assert!(chunks(&first) > chunks(&index["index"]), "{first:#}");
    let last = chunks(&first) - 1;
    let name = format!("/api/report/chunk?build={}&name=page-{last}", index["build"]);
    assert_eq!(server.get(&name).status, 200);
    assert_eq!(ask("run=0&from=0&to=18446744073709551615").json(), first, "it has one task");
    assert_eq!(ask("run=1&from=0&to=1").code(), "page.missing");
    assert_eq!(ask("run=0&from=0&to=x").code(), "page.request");
    let unknown = server.get("/api/report/tasks?build=1&run=0&from=0&to=1");
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "page.build"));
}
