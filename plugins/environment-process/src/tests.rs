//! Programs that behave and programs that do not, all of them shell scripts.

use super::*;
use crate::check::{Status, check};
use planforge_plugin_sdk::testing::TestHost;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Only stops a test that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// A tank of 0 to 3 litres: `(fill tap)` adds one, `(drain)` takes one. The goal is 2. Needs nothing but a shell.
const TANK: &str = r#"
n=0
say() { printf '{"id":%s,"result":%s}\n' "$id" "$1"; }
try() { # tries one action; the answer is in $why, empty where it was executed
  why=
  case $1 in
    '"(fill tap)"') if [ $n -lt 3 ]; then n=$((n+1)); else why='the tank is full'; fi ;;
    '"(drain)"') if [ $n -gt 0 ]; then n=$((n-1)); else why='the tank is empty'; fi ;;
    *) why='there is no such action' ;;
  esac
}
walk() { # $1: actions between commas, from the initial state; counts in $done
  n=0; done=0; why=; old=$IFS; IFS=,
  for a in $1; do IFS=$old; try "$a"; [ -n "$why" ] && break; done=$((done+1)); IFS=,; done
  IFS=$old
}
inner() { inner=${line#*\"$1\":\[}; inner=${inner%%\]*}; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  m=${line#*\"method\":\"}; m=${m%%\"*}
  #HEAD
  case $m in
    describe) say '{"protocol":1,"methods":[METHODS],"actions":[{"name":"fill","parameters":[{"name":"from","type":"source"}]},{"name":"drain"}],"objects":[{"name":"tap","type":"source"},{"name":"me"}]}' ;;
    reset) n=0; say '{}' ;;
    actions) l=; [ $n -lt 3 ] && l='"(fill tap)"'; [ $n -gt 0 ] && l="$l${l:+,}\"(drain)\""; say "{\"actions\":[$l]}" ;;
    step) a=${line#*\"action\":}; a=${a%\}}; try "$a"
      if [ -z "$why" ]; then say '{"executed":true}'; else say "{\"executed\":false,\"refusal\":\"$why\"}"; fi ;;
    execute) s=${line#*\"sequences\":\[}; out=
      while :; do case $s in '['*) ;; *) break ;; esac
        one=${s#\[}; walk "${one%%\]*}"
        if [ -n "$why" ]; then r=",\"refusal\":\"$why\""; else r=; fi
        out="$out${out:+,}{\"executed\":$done$r}"; s=${s#*\]}; s=${s#,}
      done; say "{\"executions\":[$out]}" ;;
    validate) inner plan; walk "$inner"; v=false; [ -z "$why" ] && [ $n -eq 2 ] && v=true
      [ -z "$why" ] && [ $v = false ] && why="there are $n litres"
      say "{\"valid\":$v,\"executed\":$done,\"reasons\":[\"$why\"]}" ;;
    describe_state) inner actions; walk "$inner"; say "{\"sentences\":[\"The tank holds $n litres.\"],\"atoms\":[\"(litres n$n)\"]}" ;;
    *) printf '{"id":%s,"error":{"message":"no method %s"}}\n' "$id" "$m" ;;
  esac
done
"#;

const ALL: &[&str] = &["actions", "step", "execute", "describe_state"];

/// The tank with these methods, and something to be done before each answer.
fn tank(methods: &[&str], head: &str) -> (tempfile::TempDir, ProcessEnvironmentOptions) {
    let quoted: Vec<String> = methods.iter().map(|m| format!("\"{m}\"")).collect();
    script(&TANK.replace("METHODS", &quoted.join(",")).replace("#HEAD", head))
}

fn script(text: &str) -> (tempfile::TempDir, ProcessEnvironmentOptions) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("program.sh"), text).unwrap();
    let options = ProcessEnvironmentOptions {
        command: vec!["/bin/sh".into(), "program.sh".into()],
        cwd: folder.path().display().to_string(),
        timeout_s: 300.0,
        start_timeout_s: 300.0,
        ..Default::default()
    };
    (folder, options)
}

fn plugin(options: &ProcessEnvironmentOptions) -> ProcessEnvironment {
    ProcessEnvironment::create(options.clone(), &Secrets::default()).unwrap()
}

fn task() -> EnvironmentOpen {
    EnvironmentOpen { suite: "tank".into(), task: "p01".into(), ..EnvironmentOpen::default() }
}

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|t| (*t).to_owned()).collect()
}

const SOME_METHODS: &[&[&str]] = &[ALL, &["actions", "step"], &["step"], &["execute"], &["execute", "step"]];

#[test]
fn all_that_a_program_may_leave_out_changes_no_answer() {
    let spec = WalkSpec { lengths: vec![1, 2, 3, 4, 5, 5, 5, 5], seed: 3, ..WalkSpec::default() };
    let mut walks = Vec::new();
    for methods in SOME_METHODS {
        let (_folder, options) = tank(methods, "");
        let (plugin, host) = (plugin(&options), TestHost::new());
        let info = plugin.describe(&host, &task()).unwrap();
        assert_eq!(info.interface.actions.len(), 2);
        assert_eq!(info.interface.objects[1].type_name, "object");
        assert_eq!(info.model, None);
        walks.push(plugin.walks(&host, &task(), &spec).unwrap().walks);
        let sequences = Sequences {
            sequences: vec![
                words(&["(FILL Tap)", "( drain )", "(drain)"]),
                vec![],
                words(&["(fill me)"]),
                words(&["(fill tap)", "(fly)", "(drain)"]),
                words(&["(fill tap)", "(fill tap)", "(fill tap)", "(fill tap)"]),
            ],
        };
        let report = plugin.execute(&host, &task(), &sequences).unwrap();
        let told: Vec<(u32, Option<&str>)> =
            report.executions.iter().map(|e| (e.executed, e.refusal.as_deref())).collect();
        assert_eq!(
            told,
            [
                (2, Some("the tank is empty")),
                (0, None),
                (0, Some("there is no such action")),
                (1, Some("there is no action fly")),
                (3, Some("the tank is full")),
            ]
        );
        let judge = |steps: &[&str]| {
            plugin.validate(&host, &task(), &EnvironmentPlan { steps: words(steps) }).unwrap()
        };
        let good = judge(&["(fill tap)", "(fill TAP)"]);
        assert!(good.valid && good.executed == 2 && good.reasons.is_empty());
        let short = judge(&["(fill tap)"]);
        assert!(!short.valid && short.executed == 1 && short.reasons == ["there are 1 litres"]);
        let strange = judge(&["(fill tap)", "(fill)"]);
        assert!(!strange.valid && strange.executed == 1);
        assert_eq!(strange.reasons, ["fill takes 1 argument, not 0"]);
        let state = |actions: &[&str]| {
            plugin.describe_state(&host, &task(), &StateQuery { actions: words(actions), focus: None })
        };
        let told = state(&["(fill tap)"]).unwrap();
        if methods.contains(&"describe_state") {
            assert_eq!(told.sentences, ["The tank holds 1 litres."]);
        } else {
            assert_eq!(told, StateDescription::default());
        }
        assert_eq!(state(&["(drain)"]).unwrap_err().code, codes::NOT_EXECUTABLE);
    }
    assert_eq!(walks[0].iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 5, 5, 5]);
    assert!(walks[0].iter().all(|w| w[0] == "(fill tap)"));
    assert!(walks.iter().all(|w| *w == walks[0]), "{walks:?}");
}

#[test]
fn walks_depend_on_seed_and_policy_and_nothing_else() {
    let (_folder, options) = tank(ALL, "");
    let (plugin, host) = (plugin(&options), TestHost::new());
    let walks = |seed, policy| {
        plugin.walks(&host, &task(), &WalkSpec { lengths: vec![6; 6], seed, policy }).unwrap().walks
    };
    let first = walks(1, WalkPolicy::Uniform);
    assert_eq!(first, walks(1, WalkPolicy::Uniform));
    assert_ne!(first, walks(2, WalkPolicy::Uniform));
    assert_ne!(first, walks(1, WalkPolicy::CoverageGuided));
}

/// Requests walks and returns the failure.
fn broken(options: &ProcessEnvironmentOptions) -> Failure {
    let spec = WalkSpec { lengths: vec![3; 3], seed: 1, ..WalkSpec::default() };
    let failure = plugin(options).walks(&TestHost::new(), &task(), &spec).unwrap_err();
    assert!(failure.message.contains("the environment's program `/bin/sh"), "{failure}");
    failure
}

#[test]
fn every_protocol_violation_is_reported_with_request_and_answer() {
    let dying = "[ $m = step ] && { echo 'about to go' >&2; exit 5; }";
    let half = "[ $m = step ] && { printf '{\"id\":'; kill -TERM $$; }";
    let cases: &[(&str, &str, FailureClass, &[&str])] = &[
        (dying, codes::DIED, FailureClass::System, &["asked `step`", "exit code 5", "about to go"]),
        (half, codes::DIED, FailureClass::System, &["in the middle of an answer, {\"id\":", "SIGTERM"]),
        (
            "echo hello; continue",
            codes::PROTOCOL,
            FailureClass::System,
            &["asked `describe`", "is not JSON", "it was: hello"],
        ),
        (
            "[ $m = step ] && { say '{\"executed\":1}'; continue; }",
            codes::PROTOCOL,
            FailureClass::System,
            &["another form"],
        ),
        ("[ $m = step ] && { id=99; }", codes::PROTOCOL, FailureClass::System, &["has the id 99 where"]),
        (
            "[ $m = step ] && { printf '\\377\\n'; continue; }",
            codes::PROTOCOL,
            FailureClass::System,
            &["not UTF-8"],
        ),
        ("[ $m = describe ] && { echo chatter; }", codes::PROTOCOL, FailureClass::System, &["chatter"]),
        (
            "[ $m = step ] && { say '{\"executed\":false,\"refusal\":\"no\"}'; continue; }",
            codes::CONTRADICTION,
            FailureClass::System,
            &["listed (fill tap) as applicable", "refuses it: no"],
        ),
        (
            "[ $m = actions ] && { say '{\"actions\":[\"(fly)\"]}'; continue; }",
            codes::CONTRADICTION,
            FailureClass::System,
            &["there is no action fly"],
        ),
        (
            "[ $m = reset ] && { printf '{\"id\":%s,\"error\":{\"message\":\"no such task\"}}\\n' $id; continue; }",
            codes::ERROR,
            FailureClass::System,
            &["asked `reset`", "no such task"],
        ),
        (
            "[ $m = step ] && { while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done; }",
            codes::LIMIT,
            FailureClass::Limit,
            &["more than 64 KiB", "standard output"],
        ),
        (
            "[ $m = step ] && { while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >&2; done; }",
            codes::LIMIT,
            FailureClass::Limit,
            &["more than 32 KiB", "standard error"],
        ),
        (
            "[ $m = describe ] && { say '{\"protocol\":1,\"actions\":[{\"name\":\"a b\"}]}'; continue; }",
            codes::PROTOCOL,
            FailureClass::System,
            &["describes itself wrongly", "neither `step` nor `execute`", "`a b` is not a name"],
        ),
        (
            "[ $m = step ] && { echo 'MemoryError' >&2; exit 1; }",
            codes::LIMIT,
            FailureClass::Limit,
            &["ran out of memory"],
        ),
    ];
    for (head, code, class, parts) in cases {
        let (_folder, mut options) = tank(ALL, head);
        (options.answer_kb, options.errors_kb) = (64, 32);
        let failure = broken(&options);
        assert_eq!((failure.code.as_str(), failure.class), (*code, *class), "{head}: {failure}");
        for part in *parts {
            assert!(failure.message.contains(part), "{head}: `{part}` is not in {failure}");
        }
    }
}

#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_started() {
    let started = |folder: &Path| -> Vec<PathBuf> {
        let text = std::fs::read_to_string(folder.join("ids")).unwrap_or_default();
        text.split_whitespace().map(|id| format!("/proc/{id}/cmdline").into()).collect()
    };
    let head = "[ $m = step ] && { sleep 3601 & echo $$ $! >> ids; (sleep 3602 & echo $! >> ids; sleep 3603) & wait; }";
    // On a busy machine the program needs longer than that to start what is to be killed.
    let attempt = |timeout_s| {
        let (folder, mut options) = tank(ALL, head);
        options.timeout_s = timeout_s;
        let failure = broken(&options);
        assert_eq!((failure.code.as_str(), failure.class), (codes::SILENT, FailureClass::Limit));
        let limit = format!("did not answer within {timeout_s} s and was killed");
        assert!(failure.message.contains(&limit), "{failure}");
        let ids = started(folder.path());
        (ids.len() >= 3).then_some(ids)
    };
    let ids = [0.5, 4.0, 40.0].into_iter().find_map(attempt).unwrap();
    let until = Instant::now() + PATIENCE;
    // A finished process has no command line any more, a zombie included.
    while ids.iter().any(|id| std::fs::read(id).is_ok_and(|text| !text.is_empty())) {
        if Instant::now() > until {
            panic!("gave up waiting for the end of {ids:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_hosts_deadline_and_interruption_end_a_call() {
    let (_folder, options) = tank(ALL, "[ $m = step ] && { sleep 3600; }");
    let spec = WalkSpec { lengths: vec![3], seed: 1, ..WalkSpec::default() };
    let late = TestHost::new().remaining_ms(300);
    let failure = plugin(&options).walks(&late, &task(), &spec).unwrap_err();
    assert_eq!((failure.code.as_str(), failure.class), (codes::STOPPED, FailureClass::Limit), "{failure}");
    let interrupted = TestHost::new();
    interrupted.cancel();
    let failure = plugin(&options).walks(&interrupted, &task(), &spec).unwrap_err();
    assert_eq!(failure.class, FailureClass::Cancelled);
}

#[test]
fn many_quick_answers_are_progress() {
    let (_folder, options) = tank(ALL, "");
    let host = TestHost::new();
    let timer = ProgressTimer::since(&host, "seconds", Instant::now().checked_sub(PATIENCE).unwrap());
    let mut conversation = Conversation::start(&options).unwrap();
    let said: Value = conversation.ask(&timer, &options, &task(), Question::new(Method::Describe)).unwrap();
    assert!(said.is_object() && host.progress_reports()[0].0 >= PATIENCE.as_secs());
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let options =
        ProcessEnvironmentOptions { command: vec!["/nowhere/program".into()], ..Default::default() };
    let failure = plugin(&options).describe(&TestHost::new(), &task()).unwrap_err();
    assert_eq!(failure.code, codes::START);
    assert!(failure.message.contains("/nowhere/program does not exist"), "{failure}");
    let none =
        ProcessEnvironment::create(ProcessEnvironmentOptions::default(), &Secrets::default()).err().unwrap();
    assert_eq!((none.code.as_str(), none.class), (codes::OPTIONS, FailureClass::Request));
    let instant = ProcessEnvironmentOptions { command: words(&["x"]), timeout_s: 0.0, ..Default::default() };
    assert_eq!(ProcessEnvironment::create(instant, &Secrets::default()).err().unwrap().code, codes::OPTIONS);
}

#[test]
fn too_many_ground_actions_are_a_limit_and_named() {
    let (_folder, options) = tank(&["step"], "");
    let failure = broken_with(&ProcessEnvironmentOptions { max_ground_actions: 1, ..options });
    assert_eq!((failure.code.as_str(), failure.class), (codes::TOO_MANY, FailureClass::Limit));
    assert!(failure.message.contains("there are 2 ground actions"), "{failure}");
}

fn broken_with(options: &ProcessEnvironmentOptions) -> Failure {
    let spec = WalkSpec { lengths: vec![3], seed: 1, ..WalkSpec::default() };
    plugin(options).walks(&TestHost::new(), &task(), &spec).unwrap_err()
}

#[test]
fn copies_are_kept_until_they_misbehave_and_never_more_than_allowed() {
    let head = "[ -z \"$told\" ] && { echo $$ >> copies; told=1; }; [ -e bad ] && { rm bad; echo rubbish; continue; }";
    let (folder, mut options) = tank(ALL, head);
    options.processes = 2;
    let plugin = plugin(&options);
    let copies = || std::fs::read_to_string(folder.path().join("copies")).unwrap_or_default().lines().count();
    let ask = || {
        let spec = WalkSpec { lengths: vec![3; 4], seed: 1, ..WalkSpec::default() };
        plugin.walks(&TestHost::new(), &task(), &spec)
    };
    let first = ask().unwrap();
    for _ in 0..3 {
        assert_eq!(ask().unwrap(), first);
    }
    assert_eq!(copies(), 1, "one copy answers call after call");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(ask().unwrap(), first));
        }
    });
    assert!(copies() <= 2, "{} copies ran", copies());
    let before = copies();
    std::fs::write(folder.path().join("bad"), "").unwrap();
    assert_eq!(ask().unwrap_err().code, codes::PROTOCOL);
    for _ in 0..4 {
        assert_eq!(ask().unwrap(), first);
    }
    assert!(copies() <= before + 1, "only the one that misbehaved was replaced");
}

#[test]
fn a_program_sees_no_key_of_the_hosts() {
    let head = "[ $m = describe ] && { env > seen; }";
    let (folder, mut options) = tank(ALL, head);
    options.set.insert("COLOUR".into(), "blue".into());
    plugin(&options).describe(&TestHost::new(), &task()).unwrap();
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    assert!(seen.contains("COLOUR=blue"));
    // Cargo gives this to every test; a key would come the same way.
    assert!(!seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
}

fn failed(options: &ProcessEnvironmentOptions) -> Vec<String> {
    let report = check(options, &task(), &TestHost::new()).unwrap();
    assert_eq!(report.conforms(), report.checks.iter().all(|c| c.status != Status::Fail));
    report.checks.into_iter().filter(|c| c.status == Status::Fail).map(|c| c.name).collect()
}

#[test]
fn a_program_that_keeps_to_the_protocol_conforms() {
    for methods in SOME_METHODS {
        let (_folder, options) = tank(methods, "");
        let report = check(&options, &task(), &TestHost::new()).unwrap();
        assert!(report.conforms(), "{methods:?}: {:#?}", report.checks);
        assert!(report.start_ms > 0.0 && report.answer_ms.iter().any(|(name, _)| name == "reset"));
        if *methods == ALL {
            assert!(report.checks.iter().all(|c| c.status == Status::Pass), "{:#?}", report.checks);
        }
    }
}

#[test]
fn every_check_fails_where_it_must() {
    let cases: &[(&str, &str)] = &[
        ("[ $m = reset ] && { say '{}'; continue; }", "reset leads to the same state"),
        (
            "[ $m = actions ] && [ $n -lt 3 ] && { say '{\"actions\":[\"(fill tap)\"]}'; continue; }",
            "actions lists what step executes",
        ),
        (
            "[ $m = step ] && [ $n -eq 0 ] && case $line in *drain*) n=3; say '{\"executed\":false}'; continue;; esac",
            "a refused step changes nothing",
        ),
        (
            "[ $m = execute ] && { l=${line#*sequences}; say \"$(printf %s \"$l\" | tr -cd '[' | sed 's/^.//;s/\\[/,{\"executed\":0}/g;s/^,/{\"executions\":[/;s/$/]}/')\"; continue; }",
            "execute goes as far as step",
        ),
        (
            "[ $m = validate ] && { say '{\"valid\":true,\"executed\":0}'; continue; }",
            "validate executes the same",
        ),
        ("[ $m = describe_state ] && { say '{}'; continue; }", "describe_state tells states"),
        ("case $line in *no-such-action*) exit 1;; esac", "an unknown action is refused"),
        (
            "case $line in *no-such-object*) say '{\"executed\":true}'; continue;; esac",
            "an unknown object is refused",
        ),
        ("echo noise", "describe is answered"),
        (
            "[ $m = describe ] && { say '{\"protocol\":1,\"actions\":[]}'; continue; }",
            "the description makes sense",
        ),
    ];
    for (head, name) in cases {
        let (_folder, options) = tank(ALL, head);
        let failed = failed(&options);
        assert!(failed.iter().any(|f| f == name), "{head}: {failed:?}");
    }
    let nowhere =
        ProcessEnvironmentOptions { command: vec!["/nowhere/program".into()], ..Default::default() };
    assert_eq!(check(&nowhere, &task(), &TestHost::new()).unwrap_err().code, codes::START);
}

#[test]
fn every_code_is_explained_once() {
    let codes: std::collections::BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(codes.len(), CODES.len());
    assert!(codes.iter().all(|c| c.starts_with("process.")));
}

#[test]
fn the_puzzle_of_the_examples_keeps_to_the_protocol_and_can_be_solved() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|o| o.status.success()) {
        println!("skipped: there is no python3");
        return;
    }
    let options = ProcessEnvironmentOptions {
        command: words(&["python3", "jugs.py"]),
        cwd: concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/environments").to_owned(),
        ..Default::default()
    };
    for stem in ["p01", "p02", "p03"] {
        let task = EnvironmentOpen { task: stem.into(), ..task() };
        let report = check(&options, &task, &TestHost::new()).unwrap();
        assert!(report.conforms(), "{stem}: {:#?}", report.checks);
    }
    let pour = "(pour large small)";
    let plan = ["(fill large)", pour, "(empty small)", pour, "(fill large)", pour];
    let judge = |steps: &[&str]| {
        let plan = EnvironmentPlan { steps: words(steps) };
        plugin(&options).validate(&TestHost::new(), &task(), &plan).unwrap()
    };
    assert!(judge(&plan).valid);
    assert_eq!(judge(&plan[..2]).reasons, ["the large jug holds 2 litres, not 4"]);
    assert_eq!(judge(&["(fill large)", "(fill large)"]).reasons, ["the large jug is full"]);
}
