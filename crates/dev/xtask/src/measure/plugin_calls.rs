//! Calls of one verifier in every form that a plugin can have: time of a call with a candidate of 2 kB, memory, and many calls at once.
//!
//! `direct` is a call of the Rust method. The other calls go through the host: documents are written and read, on a thread of the pool
//! with a deadline. A library adds the binary interface; an isolated library and a program in Python add a process and its pipes.

/// The verifier of the templates of new plugins, so that what is measured is what users get.
#[allow(unreachable_pub)]
#[rustfmt::skip]
#[path = "../../../../platform/plugin-tools/templates/verifier/lib.rs"]
mod short_plans;

use crate::programs::status_field;
use planforge_contract::api::Verifier;
use planforge_contract::{
    Assessment, Candidate, CreateRequest, Decision, Outcome, PlanDocument, PlanOutcome, SearchStatistics,
    VerifyRequest,
};
use planforge_plugin_host::{Instance, Registry, RegistrySettings, WorkerSettings};
use planforge_plugin_sdk::testing::TestHost;
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_plugin_tools::scaffold::scaffold_python;
use short_plans::NewPlugin as ShortPlans;
use short_plans::Options;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

planforge_plugin_sdk::bundle_plugin!("planforge_short_plans", Verifier, ShortPlans);

#[derive(clap::Args)]
pub(crate) struct PluginCallsArgs {
    /// The `planforge` binary that runs the isolated library, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// The verifier's library, from `cargo build --release -p planforge-loaded-tests --example planforge_short_plans`.
    #[arg(long, default_value = "target/release/examples/libplanforge_short_plans.so")]
    library: PathBuf,
    /// Number of calls one after the other.
    #[arg(long, default_value_t = 5000)]
    calls: usize,
    /// Number of calls at once.
    #[arg(long, default_value_t = 1000)]
    at_once: usize,
}

/// Bytes of the candidate's domain.
const CANDIDATE_BYTES: usize = 2000;
/// Plans of more steps are rejected.
const MOST_STEPS: usize = 20;
/// Calls before the first that counts.
const WARM_UP: usize = 100;

/// The form of the plugin.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Direct,
    Bundled,
    Library,
    Isolated,
    Python,
}

impl Form {
    const ALL: [(Self, &'static str, Option<f64>); 5] = [
        (Self::Direct, "direct", None),
        (Self::Bundled, "bundled", None),
        (Self::Library, "library in this process (abi_stable)", None),
        (Self::Isolated, "isolated library", Some(100.0)),
        (Self::Python, "program in Python", Some(300.0)),
    ];
}

pub(crate) fn run(args: &PluginCallsArgs) -> Result<(), String> {
    for file in [&args.planforge, &args.library] {
        if !file.is_file() {
            return Err(format!(
                "{} is missing: `cargo build --release -p planforge-cli && cargo build --release -p planforge-loaded-tests --example planforge_short_plans`",
                file.display()
            ));
        }
    }
    if cfg!(debug_assertions) {
        println!(
            "The host is a development build; `cargo run --release -p planforge-xtask -- measure-plugin-calls` measures.\n"
        );
    }
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    scaffold_python("verifier", "short-plans", folder.path()).map_err(|e| e.to_string())?;
    let program = folder.path().join("short-plans");
    let calls = args.at_once;
    println!(
        "| plugin | us a call (median) | 99 % under | aim | MB | right answers of {calls} at once | ms for them |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (form, name, aim) in Form::ALL {
        let before = memory_mb();
        let verifier = verifier(form, args, &program)?;
        let mut times = one_after_the_other(verifier.as_ref(), args.calls.max(1))?;
        let memory = (memory_mb() - before).max(0.0);
        times.sort_unstable();
        let at = |share: f64| {
            let index = ((times.len() - 1) as f64 * share) as usize;
            times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        let (median, high) = (at(0.5), at(0.99));
        let aim = aim.map_or_else(String::new, |aim| {
            format!("under {aim}: {}", if median < aim { "met" } else { "missed" })
        });
        let (right, together) = at_once(verifier.as_ref(), args.at_once)?;
        let together = together.as_millis();
        println!("| {name} | {median:.2} | {high:.2} | {aim} | {memory:.1} | {right} | {together} |");
    }
    println!(
        "\nMB: resident memory that the plugin adds, in this process and in those that it starts, after {} calls.",
        args.calls
    );
    Ok(())
}

fn verifier(form: Form, args: &PluginCallsArgs, program: &Path) -> Result<Arc<dyn Verifier>, String> {
    if form == Form::Direct {
        let plugin = ShortPlans::create(Options { most_steps: MOST_STEPS }, &Secrets::default());
        return Ok(Arc::new(plugin.map_err(|e| e.to_string())?));
    }
    let settings = RegistrySettings {
        worker: Some(WorkerSettings::new(args.planforge.clone())),
        isolate_libraries: form == Form::Isolated,
        ..RegistrySettings::default()
    };
    let registry = match form {
        Form::Library | Form::Isolated => {
            let library = fs::canonicalize(&args.library).map_err(|e| e.to_string())?;
            Registry::new(&[], &[library], settings)
        }
        Form::Python => Registry::new(&[], &[program.to_owned()], settings),
        Form::Bundled | Form::Direct => Registry::new(&[&PLANFORGE_PLUGIN], &[], settings),
    };
    let mut request = CreateRequest::default();
    request.options.insert("most_steps".to_owned(), MOST_STEPS.into());
    match registry.create("short-plans", request) {
        Ok(Instance::Verifier(verifier)) => Ok(verifier),
        Ok(other) => Err(format!("{other:?} is not a verifier")),
        Err(failure) => Err(failure.to_string()),
    }
}

/// A request with one candidate, whose plan has so many steps.
fn request(steps: usize) -> VerifyRequest {
    let plan = PlanDocument { steps: vec!["(go a b)".to_owned(); steps], ..PlanDocument::default() };
    let plan =
        PlanOutcome::Plan { plans: vec![plan], optimal: false, statistics: SearchStatistics::default() };
    let domain = Some("x".repeat(CANDIDATE_BYTES));
    let candidate = Candidate { domain, plan: Some(plan), ..Candidate::default() };
    VerifyRequest { candidates: vec![candidate], ..VerifyRequest::default() }
}

fn host() -> TestHost {
    TestHost::new().remaining_ms(600_000)
}

/// True if the answer is that on a plan of so many steps.
fn is_right(assessment: &Assessment, steps: usize) -> bool {
    let is_accepted = assessment.decision == Decision::Accepted;
    is_accepted == (steps <= MOST_STEPS) && assessment.metrics.get("steps") == Some(&(steps as f64))
}

fn ask(verifier: &dyn Verifier, request: &VerifyRequest, steps: usize) -> Result<bool, String> {
    let response = verifier.verify(&host(), request).map_err(|failure| failure.to_string())?;
    Ok(matches!(&response.results[..], [Outcome::Ok(assessment)] if is_right(assessment, steps)))
}

fn one_after_the_other(verifier: &dyn Verifier, calls: usize) -> Result<Vec<Duration>, String> {
    const STEPS: usize = 5;
    let request = request(STEPS);
    let mut times = Vec::with_capacity(calls);
    for call in 0..WARM_UP + calls {
        let start = Instant::now();
        if !ask(verifier, &request, STEPS)? {
            return Err("the verifier gave a wrong answer".to_owned());
        }
        if call >= WARM_UP {
            times.push(start.elapsed());
        }
    }
    Ok(times)
}

/// Number of right answers to calls that start together, each with a plan of another length, and the time until the last answer.
fn at_once(verifier: &dyn Verifier, calls: usize) -> Result<(usize, Duration), String> {
    let barrier = Barrier::new(calls + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..calls)
            .map(|steps| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let request = request(steps);
                    barrier.wait();
                    ask(verifier, &request, steps)
                })
            })
            .collect();
        barrier.wait();
        let start = Instant::now();
        let mut right = 0;
        for thread in threads {
            right += usize::from(thread.join().map_err(|_| "a call panicked")??);
        }
        Ok((right, start.elapsed()))
    })
}

/// Resident memory of this process and of everything that it started, in MB.
fn memory_mb() -> f64 {
    let processes: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
            Some((id, status_field(id, "PPid:")? as u32))
        })
        .collect();
    let mut tree = BTreeSet::from([std::process::id()]);
    loop {
        let before = tree.len();
        let children = processes.iter().filter(|(_, parent)| tree.contains(parent)).map(|(id, _)| *id);
        tree.extend(children.collect::<Vec<_>>());
        if tree.len() == before {
            break;
        }
    }
    tree.into_iter().filter_map(|id| status_field(id, "VmRSS:")).sum::<f64>() / 1024.0
}
