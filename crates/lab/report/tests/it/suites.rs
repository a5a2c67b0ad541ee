//! The pictures of the repository's own suites.

use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_pipeline::load_suite;
use planforge_planning::normalize;
use planforge_report::picture::{Painter, Picture};
use std::path::{Path, PathBuf};

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites")
}

/// The initial state of a task, and the atoms that its picture does not show.
fn initial(suite: &str, task: &str, with_template: bool) -> (Picture, Vec<String>) {
    let loaded = load_suite(&suites().join(suite));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let suite = loaded.suite.unwrap();
    let domain = parse_domain(suite.reference_domain.as_deref().unwrap(), SourceId(0)).value;
    let task = suite.tasks.iter().find(|t| t.stem == task).unwrap();
    let problem = parse_problem(task.reference_problem.as_deref().unwrap(), SourceId(1)).value;
    let lifted = normalize(&domain, &problem).unwrap();
    let template = suite.picture.as_deref().filter(|_| with_template);
    let (painter, why) = Painter::of_text(template, &domain, &problem, lifted.symbols.clone());
    assert_eq!(why.is_none(), with_template, "{why:?}");
    let numbers: Vec<_> =
        lifted.init_numbers.iter().map(|(term, value)| (term.clone(), value.to_f64())).collect();
    let picture = painter.draw(&lifted.init, &numbers, "initial state");
    let undrawn = picture.undrawn.iter().map(|at| lifted.symbols.atom(&lifted.init[*at])).collect();
    (picture, undrawn)
}

#[test]
fn every_suite_with_pddl_has_a_picture_that_shows_what_changes() {
    let mut suites_with_pictures = 0;
    for entry in std::fs::read_dir(suites()).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.join("domain.pddl").is_file() {
            continue;
        }
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(folder.join("picture.toml").is_file(), "{name}");
        let (picture, undrawn) = initial(&name, "p02", true);
        assert_eq!(picture.left_out, 0, "{name}");
        // Without the template, facts of one or two objects are drawn too.
        let (drawn, rest) = initial(&name, "p02", false);
        assert!(drawn.left_out == 0 && drawn.svg.contains("<rect"), "{name}");
        assert!(rest.iter().all(|atom| atom.split(' ').count() > 3), "{name}: {rest:?}");
        // What never changes and has no place in a picture is told in words.
        let told = ["(adjacent", "(one-above", "(followed-by", "(lowest", "(above", "(not-made"];
        let rest: Vec<&String> =
            undrawn.iter().filter(|atom| !told.iter().any(|t| atom.starts_with(t))).collect();
        assert!(rest.is_empty(), "{name}: {rest:?}");
        suites_with_pictures += 1;
    }
    assert!(suites_with_pictures >= 15, "{suites_with_pictures}");
}
