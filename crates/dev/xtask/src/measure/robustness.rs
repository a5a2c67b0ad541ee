//! Runs whose server misbehaves in every way of `planforge_testkit::misbehaviour`, as the table of docs/reference/robustness.md.

use crate::paths::absolute;
use planforge_plugin_sdk::testing::ServiceInterface;
use planforge_testkit::misbehaviour::{self, Experiment};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct RobustnessArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// Seconds until a request counts as unanswered, where a case is about that.
    #[arg(long, default_value_t = 60.0)]
    timeout_s: f64,
    /// Only the cases whose name holds this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Prints a line a case; an error where something is not as it should be.
pub(crate) fn run(args: &RobustnessArgs) -> Result<(), String> {
    let planforge = absolute(&args.planforge)?;
    let pipeline = absolute(Path::new("configs/pipelines/llm-p.toml"))?;
    let suite = absolute(Path::new("examples/suites/parcels"))?;
    let interface = ServiceInterface::ChatCompletions;
    let place = Experiment {
        interface,
        planforge: &planforge,
        pipeline: &pipeline,
        suite: &suite,
        timeout_s: args.timeout_s,
    };
    println!("| the server's answer | verdict | code | in the record | requests | exit | s | peak MB |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for case in
        misbehaviour::all_misbehaviours(interface).into_iter().filter(|case| case.name.contains(&args.only))
    {
        let name = case.name;
        let found = misbehaviour::run_misbehaviour(&place, case).map_err(|e| format!("{name}: {e}"))?;
        let mut recorded: Vec<String> =
            found.retried.iter().map(|class| format!("retry ({class})")).collect();
        recorded.push(match found.ended.as_str() {
            "" => "completion".to_owned(),
            class => format!("completion ({class})"),
        });
        println!(
            "| {name} | {} | {} | {} | {} | {} | {:.1} | {:.0} |",
            found.verdicts.get(1).map_or("", String::as_str),
            found.code,
            recorded.join(", "),
            found.requests,
            found.exit,
            found.time.as_secs_f64(),
            found.peak_mb
        );
        wrong.extend(found.violations.iter().map(|violation| format!("{name}: {violation}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
