//! `planforge study`: the same files and figures for any number of threads.

use super::support::{ran, root};
use std::fs;
use std::path::Path;

fn suites() -> String {
    root().join("examples/suites").display().to_string()
}

fn omissions(out: &Path, jobs: &str) -> super::support::Ran {
    let out = out.display().to_string();
    ran([
        "study",
        "omissions",
        "--suites",
        &suites(),
        "--only",
        "garden",
        "parcels",
        "--out",
        &out,
        "--quick",
        "--draws",
        "3",
        "--most",
        "3",
        "--jobs",
        jobs,
    ])
}

#[test]
fn omissions_writes_the_same_files_on_one_thread_and_on_four() {
    let folder = tempfile::tempdir().unwrap();
    let (one, four) = (folder.path().join("one"), folder.path().join("deep/four"));
    let first = omissions(&one, "1");
    first.expect(0);
    assert!(
        first.stdout.contains("garden") && first.stdout.contains("parcels") && first.stdout.contains("mean")
    );
    assert_eq!(omissions(&four, "4").stdout, first.stdout);
    for file in ["omissions.csv", "omissions.md", "omissions.json", "omissions.svg"] {
        let text = fs::read_to_string(one.join(file)).unwrap();
        assert!(text.len() > 200, "{file}: {text}");
        assert_eq!(text, fs::read_to_string(four.join(file)).unwrap(), "{file}");
    }
}

#[test]
fn ew_correlation_writes_tables_and_both_figures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let ran = ran([
        "study",
        "ew-correlation",
        "--suites",
        &suites(),
        "--only",
        "garden",
        "parcels",
        "--out",
        &out,
        "--quick",
        "--pairs",
        "4",
        "--most",
        "3",
        "--shown",
        "parcels",
        "--json",
    ]);
    let study = ran.json(0);
    assert_eq!(study["suites"][0]["suite"], "garden");
    assert_eq!(study["spec"]["metric"], "reference-code");
    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    assert!(read("ew-correlation.csv").starts_with("suite,difference,pairs,mean_score,standard_error,"));
    assert!(read("ew-correlation.md").contains("| parcels |"));
    assert!(read("ew-correlation-pairs.csv").lines().count() > 4);
    let (few, all) = (read("ew-correlation.svg"), read("ew-correlation-all.svg"));
    assert!(few.contains("parcels") && !few.contains("garden"));
    assert!(all.contains("parcels (rho") && all.contains("garden (rho"));
}

#[test]
fn a_study_reports_unreadable_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let empty = ran(["study", "omissions", "--suites", &folder.path().display().to_string(), "--out", &out]);
    empty.expect(31);
    assert!(empty.stderr.contains("error[study.no-suite]"), "{}", empty.stderr);
    let unknown = ran(["study", "omissions", "--suites", &suites(), "--out", &out, "--only", "graden"]);
    unknown.expect(30);
    assert!(unknown.stderr.contains("`graden`") && unknown.stderr.contains("garden"), "{}", unknown.stderr);
    ran(["study", "omissions", "--suites", &suites(), "--out", &out, "--draws", "0"]).expect(30);
    assert!(!Path::new(&out).exists(), "nothing is written half");
}

/// A small spec over the pipelines that are shipped.
fn scaling(out: &Path, spec: &Path, jobs: &str) -> super::support::Ran {
    let (out, spec) = (out.display().to_string(), spec.display().to_string());
    let suites = suites();
    ran([
        "study", "scaling", "--spec", &spec, "--suites", &suites, "--only", "garden", "--out", &out,
        "--quick", "--jobs", jobs,
    ])
}

#[test]
fn scaling_sweeps_samples_rounds_and_budgets_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let pipelines = root().join("examples/studies/scaling");
    let shipped = fs::read_to_string(pipelines.join("study.toml")).unwrap();
    // The sweeps that are shipped, each at its first two values.
    let mut spec = String::new();
    for line in shipped.lines() {
        let values = line.strip_prefix("values = [").and_then(|rest| rest.strip_suffix(']'));
        match values {
            Some(values) => {
                let first: Vec<&str> = values.split(", ").take(2).collect();
                spec += &format!("values = [{}]\n", first.join(", "));
            }
            None => {
                spec += &format!(
                    "{}\n",
                    line.replace("pipeline = \"", &format!("pipeline = \"{}/", pipelines.display()))
                )
            }
        }
    }
    let file = folder.path().join("spec.toml");
    fs::write(&file, &spec).unwrap();
    let (one, four) = (folder.path().join("one"), folder.path().join("four"));
    let first = scaling(&one, &file, "1");
    first.expect(0);
    assert_eq!(scaling(&four, &file, "4").stdout, first.stdout);
    let read = |folder: &Path, file: &str| fs::read_to_string(folder.join(file)).unwrap();
    let files = [
        "scaling.csv",
        "scaling.json",
        "scaling.md",
        "scaling-tokens.svg",
        "scaling-samples.svg",
        "scaling-rounds.svg",
        "scaling-budget.svg",
    ];
    for file in files {
        assert_eq!(read(&one, file), read(&four, file), "{file}");
    }
    let study: serde_json::Value = serde_json::from_str(&read(&one, "scaling.json")).unwrap();
    assert_eq!(study["model"], "noisy-oracle (simulated)");
    let sweeps = study["sweeps"].as_array().unwrap();
    assert_eq!(sweeps.len(), shipped.matches("[[sweep]]").count());
    for run in study["runs"].as_array().unwrap() {
        assert!(run.get("broke").is_none(), "{run}");
        assert!(run["tokens"].as_u64() > Some(100) && run["calls"].as_u64() > Some(0), "{run}");
        // What behaves as the reference is executed by every walk.
        assert!(run["equal"] != true || run["score"] == 1.0, "{run}");
    }
    // More samples take more tokens, and a budget is not exceeded by more than a pull.
    let tokens = |sweep: usize, point: usize| sweeps[sweep]["points"][point]["tokens"].as_f64().unwrap();
    assert!(tokens(0, 1) > tokens(0, 0));
    let last = sweeps.len() - 1;
    assert!(tokens(last, 0) < 2.5 * 2000.0, "{}", tokens(last, 0));
}

#[test]
fn a_scaling_study_refuses_an_invalid_spec() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spec.toml");
    let out = folder.path().join("out");
    for (text, why) in [
        ("# nothing\n", "missing field `sweep`"),
        ("sweep = []", "no [[sweep]] table"),
        (
            "[[sweep]]\nlabel = \"a\"\nof = \"samples\"\npipeline = \"p\"\nkey = \"k\"\nvalues = [2, 1]",
            "must ascend",
        ),
    ] {
        fs::write(&spec, text).unwrap();
        let ran = scaling(&out, &spec, "1");
        ran.expect(31);
        assert!(ran.stderr.contains("study.spec") && ran.stderr.contains(why), "{}", ran.stderr);
    }
    assert!(!out.exists());
}

#[test]
fn a_scaling_study_requires_simulated_models_and_a_final_stage() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spec.toml");
    let out = folder.path().join("out");
    let sweep = |pipeline: &Path| {
        format!(
            "[[sweep]]\nlabel = \"a\"\nof = \"samples\"\npipeline = \"{}\"\nkey = \"seed\"\nvalues = [1, 2]\n",
            pipeline.display()
        )
    };
    fs::write(&spec, sweep(&root().join("configs/pipelines/llm-p.toml"))).unwrap();
    let real = scaling(&out, &spec, "1");
    real.expect(32);
    assert!(real.stderr.contains("provider-openai"), "{}", real.stderr);
    let shipped = fs::read_to_string(root().join("examples/studies/scaling/bon-walks.toml")).unwrap();
    let unjudged = folder.path().join("unjudged.toml");
    fs::write(&unjudged, shipped.replace("label = \"final\"", "label = \"last\"")).unwrap();
    fs::write(&spec, sweep(&unjudged)).unwrap();
    let ran = scaling(&out, &spec, "1");
    ran.expect(32);
    assert!(ran.stderr.contains("no stage with the label `final`"), "{}", ran.stderr);
    assert!(!out.exists());
}
