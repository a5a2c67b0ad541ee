//! `planforge pddl graph`: the files that it writes.

use super::support::{Ran, example, ran, root};

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

#[test]
fn the_states_of_a_plan_with_times_are_drawn_along_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let texts = root().join("crates/fronts/cli/tests/e2e/language");
    let text = |task: &str, file: &str| texts.join(task).join(file).display().to_string();
    let out = folder.path().join("states.json").display().to_string();
    let drawn = |task: &str, more: &[&str]| {
        let files = ["domain.pddl", "p01.pddl"].map(|file| text(task, file));
        let words = more.iter().map(|word| (*word).to_owned());
        let words = ["pddl", "graph"].map(str::to_owned).into_iter().chain(files).chain(words);
        ran(words.chain(["--out".to_owned(), out.clone()]))
    };
    let states = |ran: &Ran| -> serde_json::Value {
        ran.expect(0);
        serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap()
    };
    let baking = states(&drawn("durations", &[&text("durations", "p01.plan")]));
    let actions: Vec<&str> =
        baking["edges"].as_array().unwrap().iter().map(|edge| edge["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        [
            "0: start of (bake roll)",
            "5: start of (bake bread)",
            "40: end of (bake roll)",
            "45: end of (bake bread)"
        ]
    );
    let last = &baking["states"][4];
    assert_eq!(last["added"], serde_json::json!(["(baked bread)"]));
    assert_eq!((&last["goal"], &baking["states"][3]["goal"]), (&true.into(), &false.into()));
    let late = folder.path().join("late.plan");
    std::fs::write(&late, "1: (buy pear)\n6: (buy bread)\n").unwrap();
    let closing = drawn("timed-literals", &[&late.display().to_string()]);
    closing.expect(10);
    let closing: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(closing["edges"][1]["action"], "5: timed literals", "{closing}");
    assert_eq!(closing["states"][2]["deleted"], serde_json::json!(["(open)"]));
    assert_eq!(
        (&closing["plan"]["executed"], &closing["states"][2]["after_steps"]),
        (&1.into(), &serde_json::json!([1]))
    );
    // What lies around such a plan is refused in one line, with what to do.
    for more in [vec![], vec![text("durations", "p01.plan"), "--around".to_owned(), "2".to_owned()]] {
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let refused = drawn("durations", &more);
        refused.expect(20);
        assert!(refused.stderr.contains("give a plan"), "{refused:?}");
    }
}
