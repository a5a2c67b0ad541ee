//! Bad input: one clear diagnostic, a separate block of exit codes, no panic, nothing half-written. Large and
//! unprintable files are created at run time; readable ones are case folders.

use super::support::{Ran, Run, example, pipeline, planforge, ran};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files that are not PDDL: name, bytes, code, exit code.
fn unusable() -> Vec<(&'static str, Vec<u8>, &'static str, i32)> {
    let nested = |n: usize| [vec![b'('; n], vec![b')'; n]].concat();
    let conditions = "(and ".repeat(100_000) + "(p)" + &")".repeat(100_000);
    let deep_condition = format!(
        "(define (domain deep) (:predicates (p)) (:action a :parameters () :precondition {conditions} :effect (not (p))))"
    );
    vec![
        ("empty", Vec::new(), "pddl.empty", 31),
        ("blank", b" \n\t\n".to_vec(), "pddl.empty", 31),
        ("binary", (0..=255_u8).cycle().take(4096).collect(), "pddl.binary", 31),
        ("latin-1", b"(define (domain caf\xe9))".to_vec(), "pddl.invalid-utf8", 31),
        ("cut-utf8", b"(define (domain caf\xc3".to_vec(), "pddl.invalid-utf8", 31),
        ("parentheses-open", vec![b'('; 100_000], "pddl.too-deep", 10),
        ("parentheses", nested(100_000), "pddl.too-deep", 10),
        ("deep-condition", deep_condition.into_bytes(), "pddl.too-deep", 10),
        ("50-mb-open", vec![b'('; 50_000_000], "pddl.too-deep", 10),
        ("50-mb-blank", vec![b' '; 50_000_000], "pddl.empty", 31),
        ("70-mb", vec![b';'; 70_000_000], "pddl.too-large", 31),
    ]
}

#[test]
fn commands_read_pddl_with_a_latin_1_byte_in_a_comment() {
    let folder = tempfile::tempdir().unwrap();
    let [domain, problem] = ["domain.pddl", "p01.pddl"].map(|name| {
        let text = fs::read(example("parcels", name)).unwrap();
        let path = folder.path().join(name);
        fs::write(&path, [b"; caf\xe9\n", text.as_slice()].concat()).unwrap();
        path
    });
    for command in ["validate", "plan"] {
        let ran = ran(["pddl".as_ref(), command.as_ref(), domain.as_path(), problem.as_path()]);
        ran.expect(0).says(&[
            "warning[pddl.invalid-utf8]",
            "domain.pddl is not UTF-8: byte 5 (line 1) is 0xe9",
            "2 warnings",
        ]);
    }
}

fn one_diagnostic(ran: &Ran, code: &str, exit: i32, what: &str) {
    assert_eq!(ran.exit, exit, "{what}: {}", ran.stderr);
    assert!(ran.stderr.contains(&format!("error[{code}]")), "{what}: {}", ran.stderr);
    let count = ran.stderr.matches("error[").count() + ran.stderr.matches("warning[").count();
    assert_eq!(count, 1, "{what}: {}", ran.stderr);
    assert!(ran.stderr.contains("help: "), "{what} has no help line: {}", ran.stderr);
    assert!(ran.stderr.len() < 4000, "{what} is too long");
}

#[test]
fn a_device_or_pipe_is_refused_wherever_a_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    let [domain, problem, task] =
        ["domain.pddl", "p01.pddl", "p01"].map(|name| example("parcels", name).display().to_string());
    let llm_p = pipeline("llm-p.toml").display().to_string();
    for bad in [path("zero"), path("pipe")] {
        let suite = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(&bad, suite.path().join("run.json")).unwrap();
        let run = suite.path().display().to_string();
        for arguments in [
            vec!["pddl", "validate", &bad],
            vec!["pddl", "plan", &domain, &bad],
            vec!["pddl", "validate", &domain, &problem, &bad],
            vec!["check", &bad],
            vec!["run", &bad, "--task", &task],
            vec!["run", &llm_p, "--task", &task, "--replay", &bad, "--runs", &run],
            vec!["run", "--resume", &run],
            vec!["replay", &run],
            vec!["evaluate", "--matrix", &bad, "--out", &run],
        ] {
            let ran = ran(&arguments);
            assert!((30..=36).contains(&ran.exit), "{arguments:?}: {} {}", ran.exit, ran.stderr);
            ran.says(&["it is a device, a pipe or a socket"]);
        }
    }
    // A stream that the user names is read, up to the limit.
    let mut command = planforge();
    command.args(["pddl", "validate", "/dev/stdin"]).stdin(fs::File::open("/dev/zero").unwrap());
    Ran::wait(command.spawn().unwrap()).expect(31).says(&["pddl.too-large", "at most 64 MiB are read"]);
    let mut command = planforge();
    command.args(["pddl", "validate", "/dev/stdin"]).stdin(fs::File::open(&domain).unwrap());
    Ran::wait(command.spawn().unwrap()).expect(0);
}

#[test]
fn a_file_that_is_not_pddl_gives_one_diagnostic_in_every_position() {
    let folder = tempfile::tempdir().unwrap();
    let (domain, problem) = (example("parcels", "domain.pddl"), example("parcels", "p01.pddl"));
    for (name, bytes, code, exit) in unusable() {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        let file = file.as_path();
        one_diagnostic(&ran(["pddl".as_ref(), "validate".as_ref(), file]), code, exit, name);
        // The large ones once: they take the same way.
        if fs::metadata(file).unwrap().len() < 1 << 20 {
            one_diagnostic(
                &ran(["pddl".as_ref(), "validate".as_ref(), domain.as_path(), file]),
                code,
                exit,
                name,
            );
            one_diagnostic(
                &ran(["pddl".as_ref(), "plan".as_ref(), domain.as_path(), file]),
                code,
                exit,
                name,
            );
            one_diagnostic(
                &ran(["pddl".as_ref(), "plan".as_ref(), file, problem.as_path()]),
                code,
                exit,
                name,
            );
            let json =
                ran(["pddl".as_ref(), "validate".as_ref(), file, problem.as_path(), "--json".as_ref()])
                    .json(exit);
            assert_eq!(json["diagnostics"][0]["code"], code, "{name}");
            assert_eq!(json["valid"], false, "{name}");
        }
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_file_that_is_not_a_plan_gives_one_diagnostic() {
    let folder = tempfile::tempdir().unwrap();
    let (domain, problem) = (example("parcels", "domain.pddl"), example("parcels", "p01.pddl"));
    for (name, bytes, exit) in [
        ("binary", vec![0, 159, 146, 150], 31),
        ("latin-1", b"(drive caf\xe9 fir)".to_vec(), 31),
        ("parentheses", vec![b'('; 100_000], 10),
        ("prose", b"First the van drives to fir.".to_vec(), 10),
    ] {
        let plan = folder.path().join(name);
        fs::write(&plan, bytes).unwrap();
        let ran =
            ran(["pddl".as_ref(), "validate".as_ref(), domain.as_path(), problem.as_path(), plan.as_path()]);
        ran.expect(exit);
        assert_eq!(ran.stderr.matches("error[").count(), 1, "{name}: {}", ran.stderr);
        assert!(ran.stderr.len() < 4000, "{name} is too long");
    }
    // 8 MB of one good step: read, and found not to be a plan for this task at its second step.
    let plan = folder.path().join("long");
    fs::write(&plan, "(drive elm fir)\n".repeat(8_000_000 / 16)).unwrap();
    let ran =
        ran(["pddl".as_ref(), "validate".as_ref(), domain.as_path(), problem.as_path(), plan.as_path()]);
    ran.expect(10).says(&["error[plan.precondition]: step 2 (drive elm fir) is not applicable"]);
}

#[test]
fn a_task_that_planning_refuses_is_not_called_good() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let lamp = |predicates: &str, rules: &str| {
        format!(
            "(define (domain lamps) (:requirements :adl :derived-predicates) {predicates} {rules}
              (:action light :parameters () :precondition () :effect (lit)))"
        )
    };
    let task = |init: &str| format!("(define (problem one) (:domain lamps) (:init {init}) (:goal (lit)))");
    let declared = "(:predicates (lit) (dark) (odd))";
    let dark = "(:derived (dark) (not (lit)))";
    for (name, domain, problem, code) in [
        ("no-predicates", lamp("", ""), task(""), "planning.undefined"),
        ("derived-in-init", lamp(declared, dark), task("(dark)"), "planning.derived-set"),
        (
            "not-stratifiable",
            lamp(declared, "(:derived (dark) (not (odd))) (:derived (odd) (not (dark)))"),
            task(""),
            "planning.not-stratifiable",
        ),
    ] {
        let domain = write(&format!("{name}.domain"), domain);
        let problem = write(&format!("{name}.problem"), problem);
        let plan = write(&format!("{name}.plan"), "(light)\n".to_owned());
        let (domain, problem, plan) = (domain.as_path(), problem.as_path(), plan.as_path());
        ran(["pddl".as_ref(), "validate".as_ref(), domain, problem]).expect(10).says(&[code]);
        ran(["pddl".as_ref(), "validate".as_ref(), domain, problem, plan]).expect(10).says(&[code]);
    }
}

/// Pipeline files and tasks that cannot be run: what is changed, the words of the message, the exit code.
#[test]
fn a_refused_run_leaves_no_run_folder() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(pipeline("llm-p.toml")).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    };
    let copy = |name: &str, file: &str| {
        write(&format!("{name}/{file}"), &fs::read(example("parcels", file)).unwrap())
    };
    // A suite without the task's text, one without any domain, and one whose text is binary.
    copy("no-text", "domain.pddl");
    copy("no-text", "domain.nl");
    copy("no-text", "p01.pddl");
    copy("no-domain", "p01.nl");
    copy("binary-text", "domain.pddl");
    copy("binary-text", "domain.nl");
    write("binary-text/p01.nl", &[0; 64]);
    copy("empty-text", "domain.pddl");
    copy("empty-text", "domain.nl");
    write("empty-text/p01.nl", b"\n");
    let good = write("good.toml", text.as_bytes());
    let missing = write("missing.toml", text.replace("planner-classical", "planner-classic").as_bytes());
    let empty = write("empty.toml", b"");
    let binary = write("binary.toml", &[0, 1, 2, 3]);
    let latin = write("latin.toml", b"# caf\xe9\n");
    let brackets = write("brackets.toml", "[".repeat(100_000).as_bytes());
    let pddl = write("pddl.toml", &fs::read(example("parcels", "domain.pddl")).unwrap());
    let absent = folder.path().join("absent.toml");
    let (p01, here) = (example("parcels", "p01"), folder.path());
    let tasks = |name: &str| here.join(name).join("p01");
    let cases: &[(&Path, &Path, i32, &[&str])] = &[
        (
            &missing,
            &p01,
            32,
            &["error[pipeline.unknown-plugin]", "planner-classic", "did you mean `planner-classical`?"],
        ),
        (&empty, &p01, 31, &["error["]),
        (&binary, &p01, 31, &["error[", "is not a text"]),
        (&latin, &p01, 31, &["error[", "is not UTF-8"]),
        (&brackets, &p01, 32, &["error[pipeline.syntax]"]),
        (&pddl, &p01, 32, &["error[pipeline.syntax]"]),
        (&absent, &p01, 31, &["error[cli.unreadable-file]", "No such file"]),
        (here, &p01, 31, &["error[cli.unreadable-file]", "Is a directory"]),
        (&good, &tasks("no-text"), 31, &["error[suite.no-text]", "p01.nl"]),
        (&good, &tasks("no-domain"), 31, &["error["]),
        (&good, &tasks("binary-text"), 31, &["error[", "is not a text"]),
        (&good, &tasks("empty-text"), 31, &["error[suite.no-text]"]),
        (&good, &tasks("absent"), 31, &["error[suite.not-a-folder]"]),
        (&good, &example("parcels", "p99"), 31, &["error[suite.unknown-task]", "`p01`"]),
        (&good, &example("parcels", "domain.pddl/p01"), 31, &["error[suite.not-a-folder]"]),
    ];
    for (pipeline, task, exit, words) in cases {
        let runs = here.join("runs");
        let mut command = planforge();
        command.arg("run").arg(pipeline).arg("--task").arg(task).arg("--runs").arg(&runs);
        let ran = Ran::wait(command.spawn().unwrap());
        ran.expect(*exit).says(words);
        assert_eq!(ran.stdout, "", "{pipeline:?} {task:?}");
        assert!(!runs.exists(), "{pipeline:?} {task:?} left a run folder");
        assert!(ran.stderr.len() < 6000, "{pipeline:?} is too long: {}", ran.stderr.len());
    }
}

#[test]
fn a_wrong_command_line_leaves_no_run_folder() {
    let usage: &[&[&str]] = &[
        &[],
        &["--jobs", "0", "--task", "x"],
        &["--task", "x", "--set", "no-equals-sign"],
        &["--task", "x", "--resume", "y"],
        &["--task", "x", "--fail-on", "anything"],
    ];
    for args in usage {
        let mut run =
            args.iter().fold(Run::new("llm-p.toml", "http://127.0.0.1:9/v1"), |run, arg| run.arg(arg));
        let ran = run.go();
        assert!([30, 32].contains(&ran.exit), "{args:?}: {} {}", ran.exit, ran.stderr);
        assert!(ran.stderr.contains("error"), "{args:?}: {}", ran.stderr);
        assert_eq!(run.folders().len(), 0, "{args:?}");
    }
    let mut run =
        Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p01").arg("--explain-plan=nobody");
    run.go().expect(30).says(&["error: ", "`nobody`", "`main`"]);
    assert_eq!(run.folders().len(), 0);
}

#[test]
fn a_missing_plugin_folder_is_reported_and_ignored() {
    let missing = ["plugins", "list", "--plugin-dir", "/no/such/folder"];
    ran(missing).expect(33).says(&["/no/such/folder", "plugin.file"]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("libplanforge_noise.so"), [0_u8; 64]).unwrap();
    let dir = folder.path().as_os_str();
    let domain = example("parcels", "domain.pddl");
    let problem = example("parcels", "p01.pddl");
    let plan = [
        "pddl".as_ref(),
        "plan".as_ref(),
        domain.as_os_str(),
        problem.as_os_str(),
        "--plugin-dir".as_ref(),
        dir,
    ];
    ran(plan).expect(0).says(&["warning: ", "libplanforge_noise.so"]);
}

#[test]
fn an_unwritable_runs_folder_is_reported_before_any_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    for runs in [file.clone(), file.join("below")] {
        let mut command = planforge();
        command.arg("run").arg(pipeline("llm-p.toml")).arg("--task").arg(example("parcels", "p01"));
        command.arg("--runs").arg(&runs).args(["--set", "llm.main.base_url=http://127.0.0.1:9/v1"]);
        let ran = Ran::wait(command.spawn().unwrap());
        ran.expect(36).says(&["record.io", &runs.display().to_string()]);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "in the way");
}

#[cfg(unix)]
#[test]
fn names_that_are_no_utf_8_are_files_that_are_not_there() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.pddl");
    ran(["pddl".as_ref(), "validate".as_ref(), name]).expect(31).says(&["cli.unreadable-file"]);
    ran(["check".as_ref(), name]).expect(31).says(&["cli.unreadable-file"]);
    ran(["replay".as_ref(), name]).expect(31).says(&["record.not-a-run"]);
}

/// `planforge explain | head -1` ends quietly.
#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = planforge().arg("explain").spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn colours_follow_the_option_and_the_environment() {
    let file = example("garden", "p01.pddl");
    let shown = |args: &[&str], variable: &str| {
        let mut command = planforge();
        command
            .args(args)
            .args(["pddl", "validate"])
            .arg(example("parcels", "domain.pddl"))
            .arg(&file)
            .env("NO_COLOR", variable);
        let ran = Ran::wait(command.spawn().unwrap());
        assert!(!ran.expect(10).stdout.contains('\u{1b}'));
        ran.stderr.contains('\u{1b}')
    };
    assert!(shown(&["--color=always"], ""));
    assert!(!shown(&["--color=never"], ""));
    assert!(!shown(&[], ""), "standard error is no terminal here");
    assert!(shown(&["--color=always"], "1"), "what the command line says counts");
}
