//! Runs of LLM+P on recorded replies.

use planforge_app::run::{
    PipelineSource, ResumeRequest, RunRequest, RunResult, RunState, RunStorage, resume, run,
};
use planforge_app::{ConsentRequest, Context, Event, Status};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A run of some tasks of the demo, below a folder.
fn request(runs: &Path, tasks: &[&str], jobs: u32) -> RunRequest {
    let suites = root().join("examples/suites");
    RunRequest {
        pipeline: PipelineSource::File(root().join("configs/pipelines/llm-p.toml")),
        tasks: tasks.iter().map(|task| suites.join(task)).collect(),
        replay: Some(root().join("examples/demo/llm-p.jsonl")),
        storage: RunStorage::Folder(runs.to_owned()),
        jobs,
        ..RunRequest::default()
    }
}

/// The result without times.
fn verdicts(result: &RunResult) -> Vec<(String, Option<String>, Option<String>)> {
    let verdict = |task: &planforge_app::run::TaskReport| {
        let plan = task.candidate.as_ref().and_then(|candidate| candidate.plan.as_ref());
        let plan = plan.map(|plan| serde_json::to_string(plan).unwrap());
        (task.task.clone(), task.verdict.as_ref().map(|verdict| format!("{verdict:?}")), plan)
    };
    result.report.tasks.iter().map(verdict).collect()
}

#[test]
fn two_runs_at_once_in_one_process_share_a_folder_and_nothing_else() {
    let runs = tempfile::tempdir().unwrap();
    let task_sets: [&[&str]; 2] = [&["parcels/p01", "garden/p03"], &["parcels/p02"]];
    let results: Vec<RunResult> = std::thread::scope(|scope| {
        let start = |tasks: &'static [&'static str]| {
            let request = request(runs.path(), tasks, 2);
            scope.spawn(move || run(&Context::default(), &request).unwrap())
        };
        let handles = task_sets.map(start);
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    assert_ne!(results[0].folder, results[1].folder);
    for (result, tasks) in results.iter().zip(task_sets) {
        assert_eq!((result.report.state, result.report.tasks.len()), (RunState::Finished, tasks.len()));
        let alone = tempfile::tempdir().unwrap();
        let alone = run(&Context::default(), &request(alone.path(), tasks, 1)).unwrap();
        assert_eq!(verdicts(result), verdicts(&alone));
    }
}

#[test]
fn a_run_that_is_cancelled_at_any_event_resumes_to_the_same_result() {
    let counted = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&counted);
    let context = Context {
        events: Arc::new(move |_: &Event<'_>| {
            counter.fetch_add(1, Ordering::SeqCst);
        }),
        ..Context::default()
    };
    let runs = tempfile::tempdir().unwrap();
    let tasks = &["parcels/p01"];
    let whole = run(&context, &request(runs.path(), tasks, 1)).unwrap();
    let events = counted.load(Ordering::SeqCst);
    assert!(events > 10, "only {events} events");
    let mut interrupted = 0;
    for at in 0..events {
        let runs = tempfile::tempdir().unwrap();
        let context = Context::default();
        let (cancellation, seen) = (context.cancellation.clone(), AtomicUsize::new(0));
        let cancel = move |_: &Event<'_>| {
            if seen.fetch_add(1, Ordering::SeqCst) == at {
                cancellation.cancel();
            }
        };
        let context = Context { events: Arc::new(cancel), ..context };
        let cut = run(&context, &request(runs.path(), tasks, 1)).unwrap();
        interrupted += usize::from(cut.status(false) == Status::Interrupted);
        let request = ResumeRequest { run: cut.folder.unwrap(), jobs: 1, ..ResumeRequest::default() };
        let resumed = resume(&Context::default(), &request).unwrap();
        assert_eq!(verdicts(&resumed), verdicts(&whole), "cancelled at event {at} of {events}");
    }
    assert!(interrupted > 5, "only {interrupted} of {events} cancellations interrupted the run");
}

#[test]
fn a_front_that_panics_in_its_event_handler_gets_no_more_events_and_the_run_ends() {
    let received = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&received);
    let panics = move |_: &Event<'_>| {
        assert!(counter.fetch_add(1, Ordering::SeqCst) < 3, "the front breaks");
    };
    let context = Context { events: Arc::new(panics), ..Context::default() };
    let runs = tempfile::tempdir().unwrap();
    let result = run(&context, &request(runs.path(), &["parcels/p02"], 1)).unwrap();
    assert_eq!(result.status(false), Status::Good);
    assert_eq!(received.load(Ordering::SeqCst), 4);
}

#[test]
fn paths_of_a_request_count_from_the_folder_of_the_context() {
    let runs = tempfile::tempdir().unwrap();
    let context = Context { folder: root(), ..Context::default() };
    let request = RunRequest {
        pipeline: PipelineSource::File("configs/pipelines/llm-p.toml".into()),
        tasks: vec!["examples/suites/parcels/p01".into()],
        replay: Some("examples/demo/llm-p.jsonl".into()),
        storage: RunStorage::Folder(runs.path().to_owned()),
        jobs: 1,
        ..RunRequest::default()
    };
    assert_eq!(run(&context, &request).unwrap().status(false), Status::Good);
}

#[test]
fn an_error_has_a_code_a_help_and_a_json_form() {
    let request = RunRequest {
        pipeline: PipelineSource::Text {
            name: "p.toml".to_owned(),
            text: "schema = 1\nstagee = 1\n".to_owned(),
        },
        ..RunRequest::default()
    };
    let error = run(&Context::default(), &request).unwrap_err();
    assert_eq!((error.status, error.code()), (Status::Pipeline, "pipeline.no-stages"));
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!(json["exit"], 32);
    let codes = json["diagnostics"].as_array().unwrap().iter().map(|d| d["code"].as_str().unwrap());
    assert!(codes.collect::<Vec<_>>().contains(&"pipeline.unknown-key"), "{json}");
}

#[test]
fn a_front_that_never_answers_about_consent_can_still_cancel() {
    let runs = tempfile::tempdir().unwrap();
    let file = root().join("configs/pipelines/llm-p.toml");
    let planner = "use = \"planner-classical\"\noptions = { search = \"greedy\" }";
    let stranger = "use = \"planner-external\"\noptions = { command = [\"touch\"], arguments = [\"here\"] }";
    let text = std::fs::read_to_string(&file).unwrap().replace(planner, stranger);
    let request = RunRequest {
        pipeline: PipelineSource::Text { name: file.display().to_string(), text },
        replay: None,
        ..request(runs.path(), &["parcels/p01"], 1)
    };
    let context = Context::default();
    let cancellation = context.cancellation.clone();
    let silent = move |_: &ConsentRequest| {
        cancellation.cancel();
        loop {
            std::thread::park();
        }
    };
    let error = run(&Context { consent: Arc::new(silent), ..context }, &request).unwrap_err();
    assert_eq!(error.code(), "cli.consent", "{error}");
    assert_eq!(std::fs::read_dir(runs.path()).unwrap().count(), 0);
}
