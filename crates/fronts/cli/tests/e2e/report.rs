//! `planforge report` from the command line; what is in a report is tested where it is made.

use super::support::{Ran, example, pipeline, planforge};
use std::fs;

#[test]
fn the_report_of_an_evaluation_marks_simulated_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let suite = example("grippers", "").display().to_string();
    let model = format!(
        "llm.main={{ use = \"provider-noisy-oracle\", model = \"noisy-oracle\", suites = [{suite:?}], errors = 0 }}"
    );
    let llm_p = pipeline("llm-p.toml").display().to_string();
    let evaluate = ["evaluate", "--suite", &suite, "--pipeline", &llm_p, "--set", &model, "--seeds", "1"];
    let ran = planforge().args(evaluate).args(["--tasks", "1", "--out", &path("out")]).spawn().unwrap();
    Ran::wait(ran).expect(0);
    let ran = planforge().args(["report", &path("out"), "--out", &path("o.html")]).spawn().unwrap();
    Ran::wait(ran).expect(0);
    let html = fs::read_to_string(path("o.html")).unwrap();
    assert!(html.contains("llm-p (simulated)"), "the table that is there without scripts");
    // Two reports of one folder are the same bytes.
    let ran = planforge().args(["report", &path("out"), "--out", &path("again.html")]).spawn().unwrap();
    Ran::wait(ran).expect(0);
    assert_eq!(html, fs::read_to_string(path("again.html")).unwrap());
}
