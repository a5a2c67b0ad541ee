//! Best-of-N and iVML against servers with realistic faults: no probabilities, one reply for any `n`, copies,
//! truncated replies; and critics that answer in prose, approve nonsense, and repeat themselves.

use super::support::{Ran, assessments, events, example, example_text, planforge, verdict};
use planforge_testkit::{
    Choice, Scripted, ScriptedRequest, ScriptedServer, model, round, stage, table, toml,
};
use serde_json::Value;
use std::path::PathBuf;

const ROLES: &str = concat!(
    toml!(schema = 1 about = "test"),
    table!("given" interface = true),
    model!(writer "writer" base_url = "BASE" temperature = 0.7 max_attempts = 1),
    model!(critic "critic" base_url = "BASE" max_attempts = 1),
);

/// Four domains, and the likeliest is kept.
const BEST_OF_4: &str = concat!(
    stage!(translate "domain" use = "translator-thought" n = 4 fixes = "safe" roles = { writer = "writer" }
        options = { artefact = "domain", logprobs = true }),
    stage!(verify "pddl" use = "verifier-val" options = { what = "domain" } measure = true),
    stage!(select "best" by = "candidate.log_likelihood" otherwise = "pddl.clean"),
);

/// Two rounds of criticism and update, the critic's word before each.
const TWO_ROUNDS: &str = concat!(
    stage!(refine "ivml" rounds = 2 keep = "last" stop = "STOP"),
    round!(verify "critique" use = "verifier-critique" roles = { critic = "critic" }),
    round!(translate "update" use = "translator-thought" roles = { writer = "writer" } fixes = "safe"
        feedback = ["critique"] options = { mode = "update", logprobs = true }),
);

const JUDGED: &str = stage!(verify "judged" use = "verifier-val" options = { what = "domain" });

/// A run of an inline pipeline.
struct Bench {
    folder: tempfile::TempDir,
    server: ScriptedServer,
}

impl Bench {
    fn new(stages: &[&str], script: impl Fn(&ScriptedRequest) -> Scripted + Send + Sync + 'static) -> Self {
        let server = ScriptedServer::matching(script).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let text = format!("{ROLES}{}", stages.concat()).replace("BASE", &server.base_url());
        std::fs::write(folder.path().join("pipeline.toml"), text).unwrap();
        Self { folder, server }
    }

    fn run(&self, exit: i32) -> Value {
        let mut command = planforge();
        command.arg("run").arg(self.folder.path().join("pipeline.toml")).arg("--json");
        command
            .arg("--task")
            .arg(example("grippers", "p01"))
            .arg("--runs")
            .arg(self.folder.path().join("runs"));
        Ran::wait(command.spawn().unwrap()).json(exit)
    }

    fn run_folder(&self) -> PathBuf {
        let mut entries = std::fs::read_dir(self.folder.path().join("runs")).unwrap();
        entries.next().unwrap().unwrap().path()
    }

    /// The events of a kind in the run's journal.
    fn events(&self, kind: &str) -> Vec<Value> {
        events(&self.run_folder(), kind)
    }

    /// The assessments of a stage, in the order in which they were made.
    fn assessments(&self, stage: &str) -> Vec<Value> {
        assessments(&self.run_folder(), stage)
    }

    /// The questions to a model, each as one text.
    fn asked(&self, model: &str) -> Vec<String> {
        let requests = self.server.requests().into_iter().map(|r| r.json()).filter(|r| r["model"] == model);
        let turns = |r: Value| {
            r["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|m| m["content"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
                .join("\n")
        };
        requests.map(turns).collect()
    }

    /// Replays the run from its record without the server.
    fn replayed(self) -> String {
        let Self { folder, server } = self;
        drop(server);
        let runs = folder.path().join("runs");
        let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
        Ran::wait(planforge().arg("replay").arg(run).arg("--json").spawn().unwrap()).stdout
    }
}

fn is_writer(request: &ScriptedRequest) -> bool {
    request.json()["model"] == "writer"
}

/// A reply with the reference, or with a release action that puts no ball down.
fn written(comment: &str, forgets: bool) -> String {
    let domain = example_text("grippers", "domain.pddl");
    let wrong = domain.replace("(ball-in ?b ?place) (empty ?r ?g) (not", "(empty ?r ?g) (not");
    assert_ne!(domain, wrong);
    let domain = if forgets { wrong } else { domain };
    format!("### Thought:\naction go: {comment}\n\n### Domain:\n```pddl\n{domain}\n```\n")
}

/// A reply with an error that the front end reports.
fn unreadable(comment: &str) -> String {
    written(comment, false).replace("(robot-in ?r ?to) (not", "(robot-inn ?r ?to) (not")
}

const APPROVAL: &str = "```json\n{\"findings\": [], \"approves\": true}\n```";
const OBJECTION: &str = "```json\n{\"findings\": [{\"finding\": \"The effect does not put the ball down\", \"place\": \"action release\", \
\"severity\": \"error\", \"change\": \"add (ball-in ?b ?place)\"}], \"approves\": false}\n```";

fn made(report: &Value) -> &Value {
    &report["tasks"][0]["stages"][0]["outcomes"]["made"]
}

#[test]
fn the_most_probable_of_n_samples_is_selected() {
    let bench = Bench::new(&[BEST_OF_4], |request| {
        assert_eq!((&request.json()["n"], &request.json()["logprobs"]), (&4.into(), &true.into()));
        let one =
            |n: i32, of_tokens: &[f64]| Choice::new(&written(&format!("way {n}"), false)).logprobs(of_tokens);
        Scripted::choices(&[
            one(0, &[-2.0, -2.0]),
            one(1, &[-0.5, -1.0]),
            one(2, &[-3.0]),
            one(3, &[-1.0; 4]),
        ])
    });
    let report = bench.run(0);
    let candidate = &report["tasks"][0]["candidate"];
    assert_eq!((&candidate["log_likelihood"], &candidate["tokens"]), (&(-1.5).into(), &2.into()));
    assert!(candidate["thought"].as_str().unwrap().contains("way 1"), "{candidate}");
    assert_eq!(bench.events("selected")[0]["groups"][0]["by"], "candidate.log_likelihood");
    assert!(report["tasks"][0]["usage"]["writer"]["copies"].is_null(), "four replies, none a copy");
}

#[test]
fn without_probabilities_the_stated_fallback_decides_and_is_reported() {
    let bench = Bench::new(&[BEST_OF_4], |_| {
        let contents =
            [unreadable("way 0"), unreadable("way 1"), written("way 2", false), unreadable("way 3")];
        Scripted::replies(&contents.each_ref().map(String::as_str))
    });
    let report = bench.run(0);
    let task = &report["tasks"][0];
    assert!(task["candidate"]["log_likelihood"].is_null(), "absent, never 0");
    assert!(task["candidate"]["thought"].as_str().unwrap().contains("way 2"), "{task}");
    let selected = &bench.events("selected")[0]["groups"][0];
    assert_eq!((&selected["by"], &selected["members"]), (&"pddl.clean".into(), &4.into()), "{selected}");
    let select = task["stages"].as_array().unwrap().iter().find(|s| s["label"] == "best").unwrap();
    assert_eq!(select["compared"]["pddl.clean"], 1, "{select}");
}

#[test]
fn a_server_that_ignores_n_still_gives_n_samples() {
    let bench = Bench::new(&[BEST_OF_4], |request| {
        Scripted::choices(&[
            Choice::new(&written(&format!("seed {}", request.json()["seed"]), false)).logprobs(&[-1.0])
        ])
    });
    let report = bench.run(0);
    assert_eq!((made(&report), bench.server.count()), (&4.into(), 4));
    let seeds: std::collections::BTreeSet<String> =
        bench.server.requests().iter().map(|r| r.json()["seed"].to_string()).collect();
    assert_eq!(seeds.len(), 4, "each with a seed of its own");
    assert!(report["tasks"][0]["usage"]["writer"]["copies"].is_null());
    assert_eq!(bench.events("completion").len(), 4);
}

#[test]
fn copies_remain_separate_samples_and_are_reported() {
    for one_by_one in [false, true] {
        let bench = Bench::new(&[BEST_OF_4], move |request| {
            let n = if one_by_one { 1 } else { request.json()["n"].as_u64().unwrap_or(1) };
            Scripted::choices(&vec![Choice::new(&written("the same", false)).logprobs(&[-1.0]); n as usize])
        });
        let report = bench.run(0);
        assert_eq!(made(&report), 4);
        assert_eq!(report["tasks"][0]["usage"]["writer"]["copies"], 3);
        let paths: std::collections::BTreeSet<String> =
            bench.events("candidate-made").iter().map(|e| e["path"].to_string()).collect();
        assert_eq!(paths.len(), 4, "{paths:?}");
        let keys: std::collections::BTreeSet<String> =
            bench.events("completion").iter().map(|e| e["key"].to_string()).collect();
        assert_eq!(keys.len(), if one_by_one { 4 } else { 1 }, "copies have their own places in the record");
        let log = bench.events("log");
        let told = log.iter().find(|e| e["level"] == "warn").unwrap()["message"].as_str().unwrap();
        assert!(told.contains("3 of 4 replies under [llm.writer] are copies"), "{told}");
        let expected = format!("{:#}", report);
        let replayed: Value = serde_json::from_str(&bench.replayed()).unwrap();
        assert_eq!(format!("{replayed:#}"), expected);
    }
}

#[test]
fn a_truncated_reply_is_one_failed_sample_of_four() {
    let bench = Bench::new(&[BEST_OF_4], |_| {
        let half = |text: String| text[..text.len() / 2].to_owned();
        Scripted::choices(&[
            Choice::new(&half(written("cut", false))).finish("length").logprobs(&[-0.1]),
            Choice::new(&written("way 1", false)).logprobs(&[-4.0]),
            Choice::new("").finish("length").logprobs(&[]),
            Choice::new(&written("way 3", false)).logprobs(&[-3.0]),
        ])
    });
    let report = bench.run(0);
    let stage = &report["tasks"][0]["stages"][0];
    assert_eq!((&stage["outcomes"]["made"], &stage["outcomes"]["failed"]), (&2.into(), &2.into()));
    for failed in stage["failed"].as_array().unwrap() {
        assert_eq!(failed["failure"]["code"], "reply.cut-off", "{failed}");
    }
    assert!(report["tasks"][0]["candidate"]["thought"].as_str().unwrap().contains("way 3"));
}

/// A pipeline in which one domain is written and then refined.
fn refined(stop: &str, critic: impl Fn(usize) -> Scripted + Send + Sync + 'static, wrong: bool) -> Bench {
    let refine = TWO_ROUNDS.replace("STOP", stop);
    let once = BEST_OF_4.split("[[stage]]").nth(1).unwrap().replace("n = 4\n", "");
    let critiques = std::sync::atomic::AtomicUsize::new(0);
    let updates = std::sync::atomic::AtomicUsize::new(0);
    let counted =
        |counter: &std::sync::atomic::AtomicUsize| counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    Bench::new(&[&format!("[[stage]]{once}"), &refine, JUDGED], move |request| match is_writer(request) {
        false => critic(counted(&critiques)),
        true => {
            let text = written(&format!("version {}", counted(&updates)), true);
            let text = if wrong { unreadable("nonsense") } else { text };
            Scripted::choices(&[Choice::new(&text).logprobs(&[-1.0])])
        }
    })
}

/// Summaries of the critic's assessments and remarks.
fn critiques(bench: &Bench) -> Vec<(String, Vec<String>)> {
    let remarks = |a: &Value| {
        let remarks = a["evidence"]["remarks"].as_array().into_iter().flatten();
        remarks.map(|r| r.as_str().unwrap().to_owned()).collect()
    };
    let all = bench.assessments("critique");
    all.iter().map(|a| (a["decision"].as_str().unwrap().to_owned(), remarks(a))).collect()
}

#[test]
fn a_repetitive_critic_is_detected() {
    for stop in ["accepted", "never"] {
        let bench = refined(stop, |_| Scripted::replies(&[OBJECTION]), false);
        let report = bench.run(0);
        let repeats = "the reply repeats the last critique word for word".to_owned();
        assert_eq!(
            critiques(&bench),
            [("rejected".to_owned(), vec![]), ("rejected".to_owned(), vec![repeats.clone()])]
        );
        let second = &bench.assessments("critique")[1];
        assert_eq!(
            (&second["metrics"]["repeated"], &second["diagnostics"][0]["code"]),
            (&1.0.into(), &"critique.repeats-the-last".into())
        );
        let updates = &bench.asked("writer")[1..];
        assert_eq!(updates.len(), 2);
        for (update, stands) in updates.iter().zip(["version 0", "version 1"]) {
            assert!(update.contains("action release: The effect does not put the ball down"), "{update}");
            assert!(update.contains(stands), "{update}");
        }
        // Each version was criticised, and the critic was not told what it said before.
        let asked = bench.asked("critic");
        assert!(asked[0].contains("version 0") && asked[1].contains("version 1"), "{asked:#?}");
        assert!(!asked[1].contains("does not put the ball down"), "{}", asked[1]);
        assert!(report["tasks"][0]["candidate"]["thought"].as_str().unwrap().contains("version 2"));
    }
}

#[test]
fn a_critic_that_answers_in_prose_is_understood() {
    let prose =
        "The domain is mostly fine.\n\n1. **Action `release`**: the effect is missing (ball-in ?b ?place).\n";
    let bench =
        refined("accepted", move |n| Scripted::replies(&[if n == 0 { prose } else { "No errors." }]), false);
    let report = bench.run(0);
    let decisions: Vec<String> = critiques(&bench).into_iter().map(|(decision, _)| decision).collect();
    assert_eq!(decisions, ["rejected", "accepted"]);
    let evidence = &bench.assessments("critique")[0]["evidence"];
    assert_eq!((&evidence["form"], &evidence["findings"][0]["action"]), (&"prose".into(), &"release".into()));
    assert_eq!(evidence["reply"], prose);
    let asked = bench.asked("writer");
    assert_eq!(asked.len(), 2, "the approval ends it");
    assert!(asked[1].contains(prose.trim()), "{}", asked[1]);
    assert!(report["tasks"][0]["candidate"]["thought"].as_str().unwrap().contains("version 1"));
    assert_eq!(verdict(&report, 0), "accepted");
}

#[test]
fn a_critic_that_approves_nonsense_ends_the_rounds_and_decides_nothing() {
    let bench = refined("accepted", |_| Scripted::replies(&[APPROVAL]), true);
    let report = bench.run(0);
    assert_eq!((bench.asked("writer").len(), bench.asked("critic").len()), (1, 1));
    assert_eq!(critiques(&bench), [("accepted".to_owned(), vec![])]);
    assert_eq!(verdict(&report, 0), "rejected", "the front end sees what the critic does not: {report}");
    // Where the rounds go on all the same, the writer is told of no mistake.
    let bench = refined("never", |_| Scripted::replies(&[APPROVAL]), true);
    bench.run(0);
    assert_eq!(bench.asked("writer").len(), 3);
    assert!(
        bench.asked("writer")[1].contains("The review found nothing wrong"),
        "{}",
        bench.asked("writer")[1]
    );
}

#[test]
fn a_truncated_or_empty_critique_approves_nothing() {
    let cut = "{\"findings\": [{\"finding\": \"The effect does not put the ball down\", \"place\": \"action release\", \"sev";
    let bench = refined(
        "accepted",
        move |n| match n {
            0 => Scripted::choices(&[Choice::new(cut).finish("length")]),
            _ => Scripted::choices(&[Choice::new("No errors.").finish("length")]),
        },
        false,
    );
    bench.run(0);
    let limit = vec!["the server cut the reply off at its token limit".to_owned()];
    assert_eq!(critiques(&bench), [("rejected".to_owned(), limit.clone()), ("undecided".to_owned(), limit)]);
    assert!(bench.asked("writer")[1].contains("The effect does not put the ball down"));
    assert_eq!(bench.asked("writer").len(), 3, "neither of them ends the rounds");

    let bench = refined("accepted", |_| Scripted::replies(&[""]), false);
    bench.run(0);
    assert_eq!(critiques(&bench)[1], ("undecided".to_owned(), vec!["the reply is empty".to_owned()]));
    assert_eq!(bench.asked("writer").len(), 3);
}

/// Known facts about a domain from the front end, a planner and walks, each in a separate stage before the
/// critic.
const KNOWN: &str = r#"
[[stage]]
do = "plan"
label = "plan"
use = "planner-classical"
plan_rejected = true
limits = { time_s = 20, memory_mb = 512 }
[[stage]]
do = "verify"
label = "ew"
use = "verifier-ew"
[[stage]]
do = "verify"
label = "critique"
use = "verifier-critique"
roles = { critic = "critic" }
"#;

#[test]
fn the_critic_gets_exactly_the_configured_information() {
    // What each kind of evidence says, and no other.
    const DIAGNOSTICS: &str = "It was checked, with this result:\n\nThe domain has";
    const UNSOLVABLE: &str = "there is no plan";
    const WALK: &str = "The environment";
    let once = BEST_OF_4.split("[[stage]]").nth(1).unwrap().replace("n = 4\n", "");
    let prompt = |lines: &str, broken: bool| {
        let stages = [&format!("[[stage]]{once}"), KNOWN, lines];
        let bench = Bench::new(&stages, move |request| match is_writer(request) {
            true if broken => Scripted::replies(&[&unreadable("go")]),
            true => Scripted::replies(&[&written("go", true)]),
            false => Scripted::replies(&[APPROVAL]),
        });
        let file = bench.folder.path().join("pipeline.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.replace("[given]\n", "feedback = \"environment\"\n[given]\nproblem = true\n");
        let text = text.replace("[llm.writer]", "[environment]\nuse = \"environment-pddl\"\n[llm.writer]");
        std::fs::write(&file, text).unwrap();
        bench.run(0);
        let mut asked = bench.asked("critic");
        assert_eq!(asked.len(), 1);
        asked.remove(0)
    };
    let says = |prompt: &str| [DIAGNOSTICS, UNSOLVABLE, WALK].map(|mark| prompt.contains(mark));
    let diagnostics = "options = { evidence = [\"diagnostics\"] }\n";
    for (lines, broken, expected) in [
        ("", true, [false, false, false]),
        ("", false, [false, false, false]),
        (diagnostics, true, [true, false, false]),
        ("feedback = [\"plan\"]\n", false, [false, true, false]),
        ("feedback = [\"ew\"]\n", false, [false, false, true]),
        ("feedback = [\"plan\", \"ew\"]\n", false, [false, true, true]),
    ] {
        let prompt = prompt(lines, broken);
        assert_eq!(says(&prompt), expected, "{lines}\n{prompt}");
    }
    let all = prompt(&format!("{diagnostics}feedback = [\"plan\", \"ew\"]\n"), false);
    assert!(all.contains("A parser finds no errors in the domain and the problem."), "{all}");
    assert_eq!(says(&all)[1..], [true, true]);
}
