//! Input that nobody means to give.

use crate::client::{TestServer, settings};
use crate::jobs::answered;
use planforge_app::Context;
use planforge_page::{PageServer, Place};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

#[test]
fn a_path_out_of_the_folder_is_refused_by_every_call() {
    let server = TestServer::start();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), server.folder.path().join("link")).unwrap();
    for path in ["../x", "/etc", "link", "link/deep"] {
        for call in ["runs?folder", "report/index?path", "solve?path", "report?path", "watch?path"] {
            let reply = server.get(&format!("/api/{call}={path}"));
            assert_eq!((reply.status, reply.code().as_str()), (403, "page.path"), "{call} {path}");
        }
        let requests = [
            ("solve", json!({ "text": "x", "folder": path })),
            ("solve", json!({ "continued": path })),
            ("solve", json!({ "text": "x", "model": format!("local:{path}/m.gguf") })),
            ("run", json!({ "pipeline": path })),
            ("run", json!({ "pipeline": "shipped:llm-p", "suite": path })),
            ("run", json!({ "pipeline": "shipped:llm-p", "task": [path] })),
            ("resume", json!({ "run": path })),
            ("evaluate", json!({ "out": path })),
            ("evaluate", json!({ "out": "x", "matrix": path })),
            ("evaluate", json!({ "out": "x", "models": [format!("local:{path}/m.gguf")] })),
        ];
        for (what, request) in requests {
            let reply = server.post("/api/jobs", &json!({ "use": what, "request": request }));
            assert_eq!((reply.status, reply.code().as_str()), (403, "page.path"), "{what} {request}");
        }
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn requests_of_the_wrong_form_are_named() {
    let server = TestServer::start();
    for request in [
        json!({ "use": "solve", "request": { "text": 5 } }),
        json!({ "use": "solve", "request": { "text": "x", "set": ["llm.main.base_url=http://example.org"] } }),
        json!({ "use": "solve", "request": {} }),
        json!({ "use": "plan", "request": { "domain": "", "problem": "", "time_limit": -1 } }),
        json!({ "use": "everything", "request": {} }),
        json!([]),
    ] {
        let reply = server.post("/api/jobs", &request);
        assert_eq!((reply.status, reply.code().as_str()), (400, "page.request"), "{request}");
    }
    for path in ["jobs/j9/events", "jobs/x/events", "watch?path=none", "none", "lsp/e9/events"] {
        let reply = server.get(&format!("/api/{path}"));
        assert_eq!((reply.status, reply.code().as_str()), (404, "page.missing"), "{path}");
    }
    assert_eq!(server.post("/api/lsp/open", &json!({})).status, 404);
    assert_eq!(server.get("/api/report/index").status, 400);
}

#[test]
fn a_text_of_five_megabytes_is_answered() {
    let server = TestServer::start();
    let text = "(define (domain d)) ".repeat(5 * 50_000);
    let checked = server.post("/api/pddl/check", &json!({ "domain": text }));
    assert_eq!(
        (checked.status, checked.json()["valid"].as_bool()),
        (200, Some(false)),
        "{}",
        &checked.body[..200]
    );
    let job = server.job("solve", &json!({ "text": text, "model": ["demo"] }));
    let error = server.events(&format!("/api/jobs/{job}/events"), 0).next_of("error");
    assert!(error["error"]["message"].as_str().unwrap().contains("the demo alone"), "{error}");
}

#[test]
fn scripts_in_a_text_stay_text() {
    let server = TestServer::start();
    let text = "(define (domain <script>alert(1)</script>)";
    let reply = server.post("/api/pddl/check", &json!({ "domain": text }));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    let reply = server.get("/%3Cscript%3Ealert(1)%3C/script%3E");
    assert_eq!((reply.status, reply.header("content-type")), (404, Some("text/plain; charset=utf-8")));
}

#[test]
fn a_folder_that_was_deleted_is_named_and_the_server_goes_on() {
    let server = TestServer::start();
    std::fs::remove_dir_all(server.folder.path()).unwrap();
    assert_eq!(server.get("/api/runs").code(), "page.missing");
    let reply =
        server.post("/api/jobs", &json!({ "use": "solve", "request": { "text": "x", "model": "demo" } }));
    assert_eq!(reply.status, 200);
    let path = format!("/api/jobs/{}/events", reply.json()["job"].as_str().unwrap());
    server.events(&path, 0).next_of("error");
    assert_eq!(server.get("/api/jobs").json()["jobs"][0]["state"], "failed");
}

#[test]
fn a_folder_that_is_deleted_during_a_job_is_made_anew_for_its_answer() {
    let server = TestServer::start();
    let job = server.job("solve", &json!({ "text": planforge_app::demo::TEXT, "model": "demo" }));
    server.events(&format!("/api/jobs/{job}/events"), 0).next_of("question");
    std::fs::remove_dir_all(server.folder.path()).unwrap();
    let result = answered(&server, &job);
    assert_eq!(result["end"], "planned", "{result:#}");
    assert!(server.folder.path().join("task/answer/plan").is_file());
}

#[test]
fn a_task_below_a_file_is_refused() {
    let server = TestServer::start();
    std::fs::write(server.folder.path().join("file"), "").unwrap();
    let request = json!({ "text": planforge_app::demo::TEXT, "model": "demo", "folder": "file/task" });
    let job = server.post("/api/jobs", &json!({ "use": "solve", "request": request }));
    assert_eq!((job.status, job.code().as_str()), (404, "page.missing"), "{}", job.body);
}

/// The event of a kind of a job that works in the folder `task` on recorded replies, on a server of its own.
fn solved_in(folder: &Path, request: &Value, kind: &str) -> Value {
    let mut settings = settings(folder, Place::Loopback);
    settings.replay =
        Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/demo/bakery.jsonl").into());
    let server = PageServer::start(Context::default(), settings).unwrap();
    let server = TestServer { folder: tempfile::tempdir().unwrap(), server };
    let job = server.job("solve", request);
    let event = server.events(&format!("/api/jobs/{job}/events"), 0).next_of(kind);
    let shown = server.get("/api/runs");
    assert_eq!(
        (shown.status, &shown.json()["tasks"][0]["path"]),
        (200, &json!("task")),
        "{event:#} {}",
        shown.body
    );
    event
}

/// A limit on the size of files stands for a full disk. It holds for a process, so this test starts one of its own.
#[test]
#[allow(clippy::disallowed_methods, reason = "the test hands the folder to the process that it starts")]
fn a_full_disk_ends_the_job_with_its_reason_and_it_goes_on_once_there_is_room() {
    const NAME: &str =
        "bad_input::a_full_disk_ends_the_job_with_its_reason_and_it_goes_on_once_there_is_room";
    const FOLDER: &str = "PLANFORGE_TEST_FULL_DISK";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let text = planforge_app::demo::TEXT;
        let request = json!({ "text": text, "model": "batch:frontier", "ask": false, "folder": "task" });
        let error = solved_in(folder.as_ref(), &request, "error");
        assert!(error["error"]["message"].as_str().unwrap().contains("File too large"), "{error:#}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut full = Command::new("sh");
    full.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let ended = full.args(["--exact", NAME]).env(FOLDER, folder.path()).output().unwrap();
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && printed.contains("1 passed"), "{printed}");
    assert!(!folder.path().join("task/answer").exists());
    let result = solved_in(folder.path(), &json!({ "continued": "task", "ask": false }), "result");
    assert_eq!(result["result"]["end"], "planned", "{result:#}");
}

#[test]
fn a_run_of_another_version_and_a_broken_one_are_named() {
    let server = TestServer::start();
    let run = server.folder.path().join("runs/old");
    std::fs::create_dir_all(run.join("events")).unwrap();
    for (text, code) in
        [("{\"schema\": 0}", "record.version"), ("{", "record.corrupt"), ("", "record.corrupt")]
    {
        std::fs::write(run.join("run.json"), text).unwrap();
        for call in ["report/index", "watch", "report"] {
            let reply = server.get(&format!("/api/{call}?path=runs/old"));
            assert!(reply.status >= 400 && reply.code() == code, "{call}: {}", reply.body);
        }
    }
    assert_eq!(server.get("/api/runs").status, 200);
}

#[test]
fn more_streams_than_allowed_are_refused_and_closed_ones_make_room() {
    let server = TestServer::start();
    let job = server.job("solve", &json!({ "text": planforge_app::demo::TEXT, "model": "demo" }));
    let path = format!("/api/jobs/{job}/events");
    server.events(&path, 0).next_of("question");
    let mut open: Vec<_> = (0..256).map(|_| server.events(&path, 0)).collect();
    let reply = server.get(&path);
    assert_eq!((reply.status, reply.code().as_str()), (429, "page.busy"));
    open.truncate(200);
    for _ in 0..100 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let mut reader = server.open("GET", &path, &server.own_headers(), "");
        if crate::client::head(&mut reader).0 == 200 {
            return;
        }
    }
    panic!("no stream was released");
}
