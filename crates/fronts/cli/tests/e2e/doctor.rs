//! `planforge doctor` on a search path of our own.

use crate::support::{Ran, planforge};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

#[test]
fn doctor_finds_programs_and_explains_how_to_get_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("fast-downward", "#!/bin/sh\necho 99.1\n", 0o755);
    // A program that hangs when asked for its version is found; one without permission to run is not.
    write("python3", "#!/bin/sh\nexec sleep 60\n", 0o755);
    write("pyperplan", "#!/bin/sh\n", 0o644);
    let path = format!("{}:/bin", folder.path().display());
    let doctor = |args: &[&str]| Ran::wait(planforge().env("PATH", &path).args(args).spawn().unwrap());
    let json = doctor(&["doctor", "--json"]);
    let report: Value = json.json(0);
    let program = |name: &str| {
        let all = report["programs"].as_array().unwrap();
        all.iter().find(|p| p["name"] == name).unwrap().clone()
    };
    assert_eq!(program("fast-downward")["version"], "99.1");
    assert!(program("python3")["path"].is_string() && program("python3")["version"].is_null());
    assert!(program("pyperplan")["path"].is_null());
    let planners = report["planners"].as_array().unwrap();
    let installed: Vec<&str> =
        planners.iter().filter(|p| p["installed"] == true).map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(installed, ["planner-classical", "fast-downward"]);
    write("python3", "#!/bin/sh\n", 0o755);
    let text = doctor(&["doctor"]).stdout;
    let clingo = report["clingo"].as_str().unwrap();
    assert!(clingo.starts_with("5.") && text.contains(&format!("with clingo {clingo}")), "{text}");
    assert!(text.contains("pip install pyperplan") && text.contains("  99.1  "), "{text}");
}
