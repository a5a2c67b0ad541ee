//! `planforge pddl picture`: the files that it writes.

use super::support::{example, ran};
use std::path::Path;

fn picture(suite: &str, more: &[&str]) -> super::support::Ran {
    let mut args = vec![
        "pddl".to_owned(),
        "picture".to_owned(),
        example(suite, "domain.pddl").display().to_string(),
        example(suite, "p01.pddl").display().to_string(),
    ];
    args.extend(more.iter().map(|a| (*a).to_owned()));
    ran(args)
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

const PLAN: &str = "(drive elm fir)\n(load parcel1 fir)\n(drive fir elm)\n(unload parcel1 elm)\n(drive elm fir)\n\
    (drive fir oak)\n(load parcel2 oak)\n(drive oak fir)\n(drive fir elm)\n(unload parcel2 elm)\n";

#[test]
fn a_plan_becomes_a_folder_of_pictures_and_a_step_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, out, one) =
        (folder.path().join("p01.plan"), folder.path().join("states"), folder.path().join("one.svg"));
    std::fs::write(&plan, PLAN).unwrap();
    let all = picture("parcels", &[&text(&plan), "--out", &text(&out)]);
    all.expect(0);
    assert!(all.stdout.starts_with("11 states in "), "{}", all.stdout);
    let states: Vec<String> =
        (0..=10).map(|i| std::fs::read_to_string(out.join(format!("{i:02}.svg"))).unwrap()).collect();
    assert!(states[0].contains("the van is empty") && !states[2].contains("the van is empty"));
    picture("parcels", &[&text(&plan), "--out", &text(&one), "--step", "2"]).expect(0);
    assert_eq!(std::fs::read_to_string(&one).unwrap(), states[2], "the same state, the same bytes");
    let image = folder.path().join("one.png");
    let drawn = picture("parcels", &[&text(&plan), "--out", &text(&image), "--step", "2"]);
    assert_eq!(drawn.expect(0).stderr, "");
    assert!(std::fs::read(&image).unwrap().starts_with(b"\x89PNG"));
    picture("parcels", &[&text(&plan), "--out", &text(&one), "--step", "11"]).expect(30);
    picture("parcels", &["--out", &text(&one)]).expect(0);
    assert_eq!(std::fs::read_to_string(&one).unwrap(), states[0], "without a plan the initial state");
    let json = picture("parcels", &[&text(&plan), "--json"]);
    json.expect(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json["verdict"].as_str(), json["steps"].as_array().map(Vec::len)), (Some("valid"), Some(10)));
}

#[test]
fn a_failing_plan_is_drawn_up_to_the_failing_step() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, out) = (folder.path().join("p01.plan"), folder.path().join("states"));
    std::fs::write(&plan, "(drive elm fir)\n(load parcel2 fir)\n").unwrap();
    let broken = picture("parcels", &[&text(&plan), "--out", &text(&out)]);
    broken.expect(10);
    assert!(broken.stderr.contains("step 2 (load parcel2 fir) is not applicable"), "{}", broken.stderr);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2);
}

#[test]
fn a_named_template_that_is_missing_or_unfit_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (template, out) = (folder.path().join("picture.toml"), folder.path().join("p.svg"));
    std::fs::write(&template, "schema = 1\n[[group]]\nplaces = \"twon\"\nin = \"parcel-at ?what ?place\"\n")
        .unwrap();
    let wrong = picture("parcels", &["--out", &text(&out), "--template", &text(&template)]);
    wrong.expect(10);
    assert!(
        wrong.stderr.contains("the domain has no type `twon`") && wrong.stderr.contains("picture.toml:3"),
        "{}",
        wrong.stderr
    );
    assert!(!out.exists());
    std::fs::remove_file(&template).unwrap();
    picture("parcels", &["--out", &text(&out), "--template", &text(&template)]).expect(31);
}

#[test]
fn without_a_template_the_domain_gives_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let [domain, problem] = ["domain.pddl", "p01.pddl"].map(|name| {
        let copy = folder.path().join(name);
        std::fs::copy(example("parcels", name), &copy).unwrap();
        text(&copy)
    });
    let out = folder.path().join("p.svg");
    ran(["pddl", "picture", &domain, &problem, "--out", &text(&out)]).expect(0);
    assert!(std::fs::read_to_string(&out).unwrap().contains("parcel1"));
}
