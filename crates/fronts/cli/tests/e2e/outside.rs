//! A verifier from outside the workspace fills the column of a paper's table.

use super::support::{example, ran, root};
use planforge_testkit::outside::{build_library, copy_crate, keep_in_target};
use std::fs;

/// A pipeline without mistakes whose plans are judged by the verifier alone, with a limit on the uses of `load`.
fn pipeline(most: usize) -> String {
    format!(
        "schema = 1

[given]
domain = true

[llm.main]
use = \"provider-noisy-oracle\"
model = \"noisy-oracle\"
suites = [{:?}]
errors = 0

[environment]
use = \"environment-pddl\"

[[stage]]
do = \"translate\"
label = \"problem\"
use = \"translator-direct\"
roles = {{ writer = \"main\" }}
options = {{ mode = \"problem\" }}

[[stage]]
do = \"plan\"
label = \"plan\"
use = \"planner-classical\"

[[stage]]
do = \"verify\"
label = \"rules\"
use = \"verifier-from-outside\"
options = {{ limits = [{{ action = \"load\", most = {most} }}] }}
",
        example("parcels", "")
    )
}

#[test]
fn a_verifier_from_outside_the_workspace_fills_a_column_of_a_paper_s_table() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("verifier-from-outside");
    copy_crate(&root(), "examples/custom-verifier", &source).unwrap();
    // Another name, because another test builds the example at the same time.
    let manifest = fs::read_to_string(source.join("Cargo.toml")).unwrap();
    fs::write(
        source.join("Cargo.toml"),
        manifest.replace("\"custom-verifier\"", "\"verifier-from-outside\""),
    )
    .unwrap();
    let source = keep_in_target(&source, "verifier-from-outside").unwrap();
    let library = build_library(&root(), &source, "verifier_from_outside").unwrap_or_else(|e| panic!("{e}"));
    let plugins = folder.path().join("plugins");
    fs::create_dir(&plugins).unwrap();
    fs::copy(&library, plugins.join(library.file_name().unwrap())).unwrap();
    fs::write(folder.path().join("strict.toml"), pipeline(1)).unwrap();
    fs::write(folder.path().join("lax.toml"), pipeline(100)).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let arguments = [
        "evaluate".to_owned(),
        "--plugin-dir".to_owned(),
        plugins.display().to_string(),
        "--suite".to_owned(),
        example("parcels", "").display().to_string(),
        "--pipeline".to_owned(),
        path("strict.toml"),
        "--pipeline".to_owned(),
        path("lax.toml"),
        "--seeds".to_owned(),
        "1".to_owned(),
        "--out".to_owned(),
        path("out"),
    ];
    let evaluated = ran(arguments);
    evaluated.expect(0);
    // The exploration-walk paper's Table 2: tasks solved / walk score, by pipeline.
    let row = evaluated.stdout.lines().find(|line| line.starts_with("parcels ")).unwrap().to_owned();
    let solved: Vec<&str> = row.split_whitespace().skip(1).step_by(3).collect();
    let tasks = fs::read_to_string(folder.path().join("out/tasks.csv")).unwrap();
    let strict = |outcome: &str| {
        let lines = tasks.lines().filter(|line| line.contains(",strict,"));
        lines.filter(|line| line.contains(&format!(",{outcome},"))).count()
    };
    let (good, bad) = (strict("solved"), strict("not solved"));
    assert!(good > 0 && bad > 0, "a limit of one load separates the tasks\n{tasks}");
    let share = format!("{:.2}", good as f64 / (good + bad) as f64);
    assert_eq!(solved, [share.as_str(), "1.00"], "{}", evaluated.stdout);
}
