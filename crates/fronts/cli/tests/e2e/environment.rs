//! `planforge plugins try-environment` on programs of a few words.

use crate::support::{Run, example, fenced, ran, verdict};
use planforge_testkit::{Scripted, ScriptedServer, model, stage, table, toml};

/// A light: `(on)` and `(off)`. Needs nothing but a shell.
const LIGHT: &str = r#"
n=0
say() { printf '{"id":%s,"result":%s}\n' "$id" "$1"; }
try() { case $1,$n in '"(on)",0') n=1; why= ;; '"(off)",1') n=0; why= ;; *) why='no' ;; esac; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}; m=${line#*\"method\":\"}; m=${m%%\"*}
  case $m in
    describe) say '{"protocol":1,"methods":["step","actions"],"actions":[{"name":"on"},{"name":"off"}],"objects":[{"name":"lamp"}]}' ;;
    reset) n=0; say '{}' ;;
    actions) if [ $n = 0 ]; then say '{"actions":["(on)"]}'; else say '{"actions":["(off)"]}'; fi ;;
    step) a=${line#*\"action\":}; try "${a%\}}"
      if [ -z "$why" ]; then say '{"executed":true}'; else say '{"executed":false,"refusal":"no"}'; fi ;;
    validate) n=0; done=0; why=; p=${line#*\"plan\":\[}; IFS=,
      for a in ${p%%\]*}; do try "$a"; [ -n "$why" ] && break; done=$((done+1)); done
      v=false; [ -z "$why" ] && [ $n = 1 ] && v=true; say "{\"valid\":$v,\"executed\":$done}"; unset IFS ;;
  esac
done
"#;

fn check(script: &str, more: &[&str]) -> crate::support::Ran {
    let mut args = vec!["plugins", "try-environment"];
    args.extend(more);
    args.extend(["--", "/bin/sh", "-c", script]);
    ran(args)
}

#[test]
fn a_program_is_checked_and_every_outcome_has_its_exit_code() {
    let good = check(LIGHT, &[]);
    good.expect(0);
    assert!(good.stdout.starts_with("The program keeps to the protocol.\n"), "{}", good.stdout);
    for part in ["pass    describe is answered", "Time of one answer: reset"] {
        assert!(good.stdout.contains(part), "{}", good.stdout);
    }
    let task = example("jugs", "p02");
    let json = check(LIGHT, &["--json", "--task", task.to_str().unwrap()]).json(0);
    assert_eq!(json["conforms"], true);
    assert!(json["checks"].as_array().unwrap().len() > 8 && json["start_ms"].as_f64().unwrap() > 0.0);
    // A reset that does not reset.
    let bad = check(&LIGHT.replace("reset) n=0;", "reset)"), &[]);
    bad.expect(10);
    assert!(
        bad.stdout.contains("FAIL") && bad.stdout.starts_with("The program does not keep to the protocol: "),
        "{}",
        bad.stdout
    );
    let hanging = check("sleep 60", &["--start-timeout", "0.2"]);
    hanging.expect(10);
    assert!(hanging.stdout.contains("did not answer within 0.2 s and was killed"), "{}", hanging.stdout);
    let absent = ran(["plugins", "try-environment", "--", "/nowhere/program"]);
    absent.expect(36);
    assert!(absent.stderr.contains("/nowhere/program does not exist"), "{}", absent.stderr);
    ran(["plugins", "try-environment"]).expect(30);
    ran(["plugins", "try-environment", "--task", "/nowhere/p01", "--", "true"]).expect(31);
}

const PIPELINE: &str = concat!(
    toml!(schema = 1),
    table!("given" interface = true objects = true),
    model!(main "scripted" base_url = "http://127.0.0.1:1/v1"),
    table!("environment" use = "environment-process" options = { command = ["/bin/sh", "light.sh"] }),
    stage!(translate "model" use = "translator-direct" roles = { writer = "main" } options = { mode = "both", template = true }),
    stage!(plan "plan" use = "planner-classical"),
    stage!(verify "environment" use = "verifier-val" options = { what = "plan", against = "environment" }),
    stage!(verify "ew" use = "verifier-ew" options = { mode = "sampled", t_max = 4 }),
);

const DOMAIN: &str =
    "(define (domain light) (:requirements :strips :negative-preconditions) (:predicates (lit))
  (:action on :parameters () :precondition (not (lit)) :effect (lit))
  (:action off :parameters () :precondition (lit) :effect (not (lit))))";
const PROBLEM: &str = "(define (problem p01) (:domain light) (:objects lamp) (:init) (:goal (lit)))";

/// A suite without PDDL, its environment and a pipeline, and a model that writes PDDL for it. The run may start the environment.
fn light(domain: &'static str) -> (tempfile::TempDir, Run, ScriptedServer) {
    let (folder, run, server) = light_without_consent(domain);
    (folder, run.arg("--allow-commands"), server)
}

fn light_without_consent(domain: &'static str) -> (tempfile::TempDir, Run, ScriptedServer) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("light.sh", LIGHT);
    write("pipeline.toml", PIPELINE);
    std::fs::create_dir(folder.path().join("light")).unwrap();
    write("light/domain.nl", "A light can be switched on while it is off, and off while it is on.");
    write("light/p01.nl", "The light is off. In the end it should be on.");
    let server = ScriptedServer::matching(move |request| {
        let asked =
            request.json()["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "user").count();
        Scripted::replies(&[&fenced(if asked == 1 { domain } else { PROBLEM })])
    })
    .unwrap();
    let path = folder.path().join("pipeline.toml");
    let run = Run::new(path.to_str().unwrap(), &server.base_url())
        .arg("--task")
        .arg(folder.path().join("light/p01"))
        .arg("--json");
    (folder, run, server)
}

#[test]
fn a_suite_without_pddl_runs_in_a_program_and_its_replay_needs_none() {
    let (folder, mut run, server) = light(DOMAIN);
    let report = run.go().json(0);
    let task = &report["tasks"][0];
    assert_eq!(verdict(&report, 0), "accepted", "{report:#}");
    assert_eq!(task["candidate"]["plan"]["plans"][0]["steps"], serde_json::json!(["(on)"]));
    assert_eq!(task["candidate"]["assessments"]["ew"]["metrics"]["score"], 1.0);
    // The interface that the program told is what the model was given.
    let prompt = server.requests()[0].json().to_string();
    assert!(prompt.contains("(:action on") && prompt.contains("(:action off"), "{prompt}");
    // Neither the program nor the model is needed again.
    std::fs::remove_file(folder.path().join("light.sh")).unwrap();
    drop(server);
    let again = ran(["replay".as_ref(), run.folder().as_os_str(), "--json".as_ref()]).json(0);
    assert_eq!(again["tasks"][0]["verdict"], task["verdict"]);
    assert_eq!(again["tasks"][0]["candidate"], task["candidate"]);
}

#[test]
fn a_named_program_is_started_with_the_user_s_consent_alone() {
    let (folder, mut run, server) = light_without_consent(DOMAIN);
    let script = |text: &str| std::fs::write(folder.path().join("light.sh"), text).unwrap();
    script(&format!(": > started{LIGHT}"));
    let is_started = || folder.path().join("started").exists();
    let line = 1 + PIPELINE.lines().position(|line| line.contains("command = ")).unwrap();
    let place = format!("pipeline.toml:{line}: [environment] (environment-process)");
    let says = ["cli.consent", &place, "`/bin/sh light.sh`", "`--allow-commands`"];
    let refused = run.go();
    refused.expect(30).says(&says).says(&["allow.toml below [commands]: "]);
    assert_eq!((is_started(), run.folders().len(), server.count()), (false, 0, 0));
    // The check says what a run would start, and starts nothing.
    let pipeline = folder.path().join("pipeline.toml");
    let check = |more: &[&str]| {
        let arguments = ["check".as_ref(), pipeline.as_os_str()];
        ran(arguments.into_iter().chain(more.iter().map(AsRef::as_ref)))
    };
    let text = check(&[]);
    text.expect(0).says(&says);
    let line = "[environment] (environment-process) starts `/bin/sh light.sh`: /bin/sh (sha256 ";
    assert!(text.stdout.contains(line) && text.stdout.contains("light.sh (sha256 "), "{}", text.stdout);
    let starts = check(&["--json"]).json(0)["starts"].clone();
    let hash = starts[0]["consent"].as_str().unwrap();
    assert_eq!(
        (starts[0]["kind"].as_str(), starts[0]["files"][0]["path"].as_str()),
        (Some("command"), Some("/bin/sh"))
    );
    assert!(refused.stderr.contains(&format!("{hash} = \"/bin/sh light.sh\"")), "{}", refused.stderr);
    assert!(!is_started());
    // An entry in the user's list holds until the program changes.
    let config = folder.path().join("config");
    std::fs::create_dir_all(config.join("planforge")).unwrap();
    std::fs::write(config.join("planforge/allow.toml"), format!("[commands]\n{hash} = \"light\"\n")).unwrap();
    let mut allowed = run.env("XDG_CONFIG_HOME", config.to_str().unwrap());
    let ran = allowed.go();
    let report = ran.says(&[line]).json(0);
    assert_eq!(verdict(&report, 0), "accepted");
    let manifest = std::fs::read_to_string(allowed.folder().join("run.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["settings"]["starts"], starts);
    assert!(is_started());
    script(&format!(": > again{LIGHT}"));
    allowed.go().expect(30).says(&["cli.consent"]);
    assert!(!folder.path().join("again").exists());
}

#[test]
fn every_option_that_names_a_program_needs_consent_and_usual_programs_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let check = |stages: &str| {
        let text = [
            toml!(schema = 1),
            table!("given" domain = true),
            model!(main "scripted" base_url = "http://127.0.0.1:1/v1"),
            stage!(translate "model" use = "translator-direct" roles = { writer = "main" } options = { mode = "problem" }),
            stages,
        ];
        let path = folder.path().join("pipeline.toml");
        std::fs::write(&path, text.concat()).unwrap();
        let ran = ran(["check".as_ref(), path.as_os_str(), "--json".as_ref()]);
        let report = ran.json(0);
        let advice = report["diagnostics"].as_array().unwrap().iter().filter(|d| d["code"] == "cli.consent");
        (advice.count(), report["starts"].as_array().map_or(0, Vec::len))
    };
    let named = [
        stage!(plan "plan" use = "planner-external" options = { command = ["/opt/fd"], arguments = ["{domain}"] }),
        stage!(verify "val" use = "verifier-val" options = { what = "plan", backend = "val", val_command = ["./v"] }),
        stage!(verify "parser" use = "verifier-val" options = { parser = "val", parser_command = ["./p"] }),
    ];
    assert_eq!(check(&named.concat()), (3, 3));
    let variables = stage!(plan "plan" use = "planner-external" options = { preset = "pyperplan", env = { PYTHONPATH = "." } });
    assert_eq!(check(variables), (1, 1));
    let usual = [
        stage!(plan "plan" use = "planner-external" options = { preset = "fast-downward", alias = "lama-first" }),
        stage!(verify "val" use = "verifier-val" options = { what = "plan", backend = "val" }),
    ];
    assert_eq!(check(&usual.concat()), (0, 2));
    let none = stage!(plan "plan" use = "planner-classical");
    assert_eq!(check(none), (0, 0));
}

#[test]
fn a_crashing_environment_is_a_failure_and_never_a_verdict() {
    let (folder, mut run, _server) = light(DOMAIN);
    let dying = LIGHT.replace("validate)", "validate) echo 'out of order' >&2; exit 4;");
    std::fs::write(folder.path().join("light.sh"), dying).unwrap();
    let ran = run.go();
    let report = ran.json(36);
    assert_eq!(verdict(&report, 0), "failed", "{report:#}");
    let failure = &report["tasks"][0]["verdict"]["failure"];
    assert_eq!(failure["code"], "process.died");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("asked `validate`") && message.contains("out of order"), "{message}");
    // One that is not there is told before anything is asked of a model.
    let (folder, mut run, server) = light(DOMAIN);
    std::fs::write(folder.path().join("light.sh"), "exit 1").unwrap();
    run.go().expect(36).says(&["process.died", "asked `describe`"]);
    assert_eq!(server.count(), 0);
}
