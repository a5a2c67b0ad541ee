//! `planforge pddl graph`: the files that it writes.

use super::support::{example, ran};

fn graph(folder: &std::path::Path, plan: &str, file: &str, more: &[&str]) -> (String, String) {
    let (plan_file, out) = (folder.join("p01.plan"), folder.join(file));
    std::fs::write(&plan_file, plan).unwrap();
    let mut args = vec![
        "pddl".to_owned(),
        "graph".to_owned(),
        example("parcels", "domain.pddl").display().to_string(),
        example("parcels", "p01.pddl").display().to_string(),
        plan_file.display().to_string(),
        "--out".to_owned(),
        out.display().to_string(),
    ];
    args.extend(more.iter().map(|a| (*a).to_owned()));
    let ran = ran(args);
    ran.expect(0);
    (std::fs::read_to_string(out).unwrap(), ran.stdout)
}

#[test]
fn the_figure_is_written_in_three_forms_and_always_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "(drive elm fir)\n(load parcel1 fir)\n(drive fir elm)\n(unload parcel1 elm)\n(drive elm fir)\n\
                (drive fir oak)\n(load parcel2 oak)\n(drive oak fir)\n(drive fir elm)\n(unload parcel2 elm)\n";
    let (svg, said) = graph(folder.path(), plan, "p01.svg", &[]);
    assert_eq!(svg, graph(folder.path(), plan, "again.svg", &[]).0);
    for part in [
        "The plan of 10 steps is valid",
        "step 3: (drive fir elm)",
        "class=\"state plan goal\"",
        "+ (in-van parcel2)",
    ] {
        assert!(svg.contains(part), "{part}\n{svg}");
    }
    let (json, _) = graph(folder.path(), plan, "p01.json", &[]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let states = json["states"].as_array().unwrap();
    assert_eq!(states.iter().filter(|s| s["distance"] == 0).count(), 11);
    assert!(said.starts_with(&format!("{} states (", states.len())), "{said}");
    let (dot, _) = graph(folder.path(), plan, "p01.dot", &["--around", "0"]);
    assert_eq!(dot.matches(" -> ").count(), 10, "{dot}");
    let (cut, said) = graph(folder.path(), plan, "cut.svg", &["--max-states", "12"]);
    assert!(cut.contains("cut at 12 states") && said.contains("--max-states"), "{said}");
}
