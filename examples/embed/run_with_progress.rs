//! Runs a pipeline with a progress line of its own, and cancels it after two seconds; `planforge run --resume` continues it.
//! `cargo run -p planforge-app --example run_with_progress`
#![allow(clippy::print_stdout, reason = "a front prints")]
use planforge_app::record::Event::{StageStarted, TaskFinished};
use planforge_app::run::{PipelineSource, RunRequest, run};
use planforge_app::{Context, Event, Progress};
use std::{sync::Arc, thread, time::Duration};

fn main() -> Result<(), planforge_app::Error> {
    let request = RunRequest {
        pipeline: PipelineSource::File("configs/pipelines/llm-p.toml".into()),
        suites: vec!["examples/suites/parcels".into()],
        replay: Some("examples/demo/llm-p.jsonl".into()),
        jobs: 1,
        ..RunRequest::default()
    };
    let show = |event: &Event<'_>| match event {
        Event::Run { progress: Progress::Event(StageStarted { task, stage, .. }), .. } => {
            println!("{task}: {stage}")
        }
        Event::Run { progress: Progress::Event(TaskFinished { task, .. }), .. } => {
            println!("{task}: finished")
        }
        _ => {}
    };
    let context = Context { events: Arc::new(show), ..Context::default() };
    let cancellation = context.cancellation.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(2));
        cancellation.cancel()
    });
    let result = run(&context, &request)?;
    println!("{}: {:?}", result.report.state.name(), result.folder);
    Ok(())
}
