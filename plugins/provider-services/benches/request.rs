//! Time from request to reply against a loopback server that answers at once: the provider alone, and the whole seam of
//! the host (key, limits, budget, journal in memory or a run folder on disk), with 1 and with 64 requests in flight.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

use divan::Bencher;
use planforge_contract::api::Provider;
use planforge_contract::{CompletionRequest, Message};
use planforge_llm::{CallSite, Llm, LlmOptions, ModelSettings, ModelTable};
use planforge_provider_services::openai::{OpenAi, OpenAiOptions};
use planforge_record::{Journal, MemoryJournal, RunFolder, RunManifest};
use planforge_testkit::{Scripted, ScriptedServer, SilentHost};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() {
    divan::main();
}

fn endpoint() -> (ScriptedServer, Arc<OpenAi>) {
    let server = ScriptedServer::matching(|_| Scripted::replies(&["(define (problem p))"])).unwrap();
    let options = OpenAiOptions { base_url: server.base_url(), ..Default::default() };
    let provider = Arc::new(OpenAi::new(options, None).unwrap());
    (server, provider)
}

fn request() -> CompletionRequest {
    CompletionRequest {
        model: "m".into(),
        messages: vec![Message::user("Write the problem. ".repeat(100))],
        ..CompletionRequest::default()
    }
}

/// Runs `call` once, or 64 times side by side; divan divides by the number of items.
fn in_flight(bencher: Bencher<'_, '_>, width: usize, call: impl Fn() + Sync) {
    bencher.counter(divan::counter::ItemsCount::new(width)).bench_local(|| {
        if width == 1 {
            return call();
        }
        std::thread::scope(|scope| {
            for _ in 0..width {
                scope.spawn(&call);
            }
        });
    });
}

#[divan::bench(args = [1, 64], sample_count = 50)]
fn provider_alone(bencher: Bencher<'_, '_>, width: usize) {
    let (_server, provider) = endpoint();
    let (request, host) = (request(), SilentHost::default());
    in_flight(bencher, width, || drop(divan::black_box(provider.complete(&host, &request).unwrap())));
}

fn seam(journal: Arc<dyn Journal>, provider: Arc<OpenAi>) -> impl Fn() + Sync {
    let config = ModelSettings { max_concurrency: 64, ..ModelSettings::new("p", "m") };
    let mut options = LlmOptions::new(journal);
    options.tables.insert("main".into(), ModelTable::new(config, Some(provider as Arc<dyn Provider>)));
    let llm = Llm::new(options).unwrap();
    let number = AtomicU64::new(0);
    move || {
        // Each request has its own path, or the journal would answer it.
        let path = format!("t/s/{}", number.fetch_add(1, Ordering::Relaxed));
        let site = CallSite { path, call: 0, role: "writer".into() };
        drop(divan::black_box(llm.complete("main", request(), &site, &SilentHost::default()).unwrap()));
    }
}

#[divan::bench(args = [1, 64], sample_count = 50)]
fn host_with_journal_in_memory(bencher: Bencher<'_, '_>, width: usize) {
    let (_server, provider) = endpoint();
    in_flight(bencher, width, seam(Arc::new(MemoryJournal::default()), provider));
}

#[divan::bench(args = [1, 64], sample_count = 50)]
fn host_with_run_folder(bencher: Bencher<'_, '_>, width: usize) {
    let (_server, provider) = endpoint();
    let runs = tempfile::tempdir().unwrap();
    let manifest = RunManifest { schema: RunManifest::SCHEMA, id: "r".into(), ..RunManifest::default() };
    let run = RunFolder::create(runs.path(), manifest, Arc::default()).unwrap();
    in_flight(bencher, width, seam(Arc::new(run), provider));
}
