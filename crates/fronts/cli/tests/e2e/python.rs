//! A verifier in Python: written from any folder, and the same verdicts in run and replay.

use super::support::{Ran, Run, assessments, noisy_oracle, planforge, ran, verdict};
use std::path::Path;

/// A folder with a new verifier `short-plans`, made far from any checkout.
fn new_plugin() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut command = planforge();
    command.args(["plugins", "new", "verifier", "short-plans", "--language", "python"]);
    Ran::wait(command.current_dir(folder.path()).spawn().unwrap()).expect(0).says(&["python3 -m unittest"]);
    folder
}

/// A pipeline whose plans are judged by the verifier, which accepts those of at most so many steps.
fn pipeline(folder: &Path, most: usize) -> std::path::PathBuf {
    let stages = format!(
        "{}{}{}options = {{ most_steps = {most} }}\n",
        "[[stage]]\ndo = \"translate\"\nlabel = \"problem\"\nuse = \"translator-direct\"\n\
         roles = { writer = \"main\" }\noptions = { mode = \"problem\" }\n",
        "[[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\n",
        "[[stage]]\ndo = \"verify\"\nlabel = \"short\"\nuse = \"short-plans\"\n",
    );
    let file = folder.join("pipeline.toml");
    std::fs::write(&file, noisy_oracle(0, "[given]\ndomain = true\n", &stages)).unwrap();
    file
}

#[test]
fn a_python_verifier_gives_the_same_verdicts_in_run_and_replay() {
    let plugin = new_plugin();
    let runs = tempfile::tempdir().unwrap();
    let mut command = planforge();
    command.arg("run").arg(pipeline(plugin.path(), 8)).arg("--runs").arg(runs.path().join("runs"));
    let mut run = ["p01", "p02", "p03", "p04"]
        .into_iter()
        .fold(Run::of(command, runs), |run, task| run.task("parcels", task))
        .arg("--json")
        .arg("--plugin-dir")
        .arg(plugin.path());
    let first = run.go();
    let report = first.json(0);
    let verdicts: Vec<&str> = (0..4).map(|task| verdict(&report, task)).collect();
    assert!(verdicts.contains(&"accepted") && verdicts.contains(&"rejected"), "{verdicts:?}");
    let assessed = assessments(&run.folder(), "short");
    assert_eq!(assessed.len(), 4);
    for assessment in &assessed {
        let is_short = assessment["metrics"]["steps"].as_f64().unwrap() <= 8.0;
        assert_eq!(assessment["decision"], if is_short { "accepted" } else { "rejected" }, "{assessment}");
    }
    let mut replay = planforge();
    replay.arg("replay").arg(run.folder()).arg("--json").arg("--plugin-dir").arg(plugin.path());
    assert_eq!(Ran::wait(replay.spawn().unwrap()).expect(0).stdout, first.stdout);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.folder().join("run.json")).unwrap()).unwrap();
    let plugins = manifest["plugins"].as_array().unwrap();
    let ours = plugins.iter().find(|one| one["id"] == "short-plans").unwrap();
    assert_eq!(ours["sha256"].as_str().unwrap().len(), 64, "{ours}");
}

#[test]
fn a_checkout_is_for_plugins_in_rust_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().display().to_string();
    let new = ["plugins", "new", "verifier", "my-check", "--dir", &dir, "--language"];
    ran(new.iter().copied().chain(["python", "--sdk", "."]))
        .expect(30)
        .says(&["--sdk is for plugins in Rust"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn plugins_test_prints_a_table_and_exits_by_the_first_failed_check() {
    let plugin = new_plugin();
    let path = plugin.path().join("short-plans");
    let path = path.to_str().unwrap();
    let passed = ran(["plugins", "test", path]);
    assert!(passed.expect(0).stdout.starts_with("`short-plans` passes.\n"), "{}", passed.stdout);
    assert_eq!(passed.stdout.matches("\npassed ").count(), 14, "{}", passed.stdout);
    let file = pipeline(plugin.path(), 8);
    let by_pipeline = ran(["plugins", "test", path, "--json", "--pipeline", file.to_str().unwrap()]).json(0);
    assert_eq!((&by_pipeline["passed"], &by_pipeline["kind"]), (&true.into(), &"verifier".into()));
    let wrong = ran(["plugins", "test", path, "--json", "--set", "most_steps=many"]).json(33);
    assert_eq!(wrong["passed"], false);
    let options = &wrong["checks"][1];
    assert_eq!((&options["check"], &options["status"]), (&"options".into(), &"failed".into()), "{wrong}");
    assert_eq!(options["failure"]["code"], "plugin.options");
    std::fs::write(
        plugin.path().join("short-plans/short_plans.py"),
        "import uuid\nfrom planforge_plugin import Verifier, accepted, run\n\n\nclass ShortPlans(Verifier):\n    about = \"Random\"\n\n    \
         def check(self, host, task, candidate):\n        return accepted(str(uuid.uuid4()))\n\n\nrun(ShortPlans)\n",
    )
    .unwrap();
    let random = ran(["plugins", "test", path, "--json"]).json(10);
    let failed: Vec<_> =
        random["checks"].as_array().unwrap().iter().filter(|c| c["status"] == "failed").collect();
    assert!(failed.iter().any(|check| check["check"] == "determinism"), "{random}");
}

#[test]
fn plugins_test_names_what_it_cannot_find() {
    ran(["plugins", "test", "no-such-plugin"]).expect(33).says(&["plugin.unknown"]);
    let empty = tempfile::tempdir().unwrap();
    ran(["plugins", "test", empty.path().to_str().unwrap()]).expect(30).says(&["there is no plugin in"]);
    ran([
        "plugins",
        "test",
        "verifier-val",
        "--pipeline",
        super::support::pipeline("llm-p.toml").to_str().unwrap(),
        "--set",
        "x",
    ])
    .expect(30)
    .says(&["KEY=VALUE"]);
}

#[test]
fn the_example_verifier_asks_a_planner_for_the_cheapest_plan() {
    let runs = tempfile::tempdir().unwrap();
    let example = super::support::root().join("examples/plugins/near-cheapest");
    let mut command = planforge();
    command.arg("run").arg(example.join("pipeline.toml")).arg("--runs").arg(runs.path().join("runs"));
    let mut run =
        Run::of(command, runs).task("parcels", "p04").arg("--json").arg("--plugin-dir").arg(&example);
    let first = run.go();
    assert_eq!(verdict(&first.json(0), 0), "accepted");
    let assessed = assessments(&run.folder(), "near");
    assert!(assessed[0]["metrics"]["ratio"].as_f64().unwrap() >= 1.0, "{assessed:?}");
    let mut replay = planforge();
    replay.arg("replay").arg(run.folder()).arg("--json").arg("--plugin-dir").arg(&example);
    assert_eq!(Ran::wait(replay.spawn().unwrap()).expect(0).stdout, first.stdout);
}
