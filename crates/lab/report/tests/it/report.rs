//! Reports of runs that are written by hand, taken apart again as a browser would.

use crate::common::{Evidence, Page, report};
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, FailureClass, LineageStep, PlanDocument, PlanOutcome,
    ProviderFailure, ProviderFailureClass, ReportedDiagnostic, ReportedSeverity, Usage,
};
use planforge_record::{BudgetCost, Event, Redactor, TaskVerdict};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;

const TASK: &str = "blocks.p01";
const COUNTED: Usage = Usage {
    prompt_tokens: Some(100),
    completion_tokens: Some(10),
    cached_tokens: None,
    cache_write_tokens: None,
    reasoning_tokens: None,
    requests: None,
    uncounted_requests: None,
};

/// Texts of a model, a server or a file that try to break out of the page or to falsify its text.
const HOSTILE: &str = "</script><script>window.pwned=1</script></style></title></noscript><!-- <img src=x onerror=\"window.pwned=2\"> \
                       \u{2028}\u{2029}\u{202e}txet\u{0} ]]> {{ 7*7 }} {% raw %} &lt;b&gt; ' \" ` \\u003cscript\\u003e";

fn domain(text: &str) -> Candidate {
    Candidate { domain: Some(text.to_owned()), ..Candidate::default() }
}

fn finding(message: &str) -> ReportedDiagnostic {
    ReportedDiagnostic {
        code: "pddl.undefined-predicate".to_owned(),
        severity: ReportedSeverity::Error,
        message: message.to_owned(),
        file: "domain".to_owned(),
        line: 1,
        column: 3,
        start: 2,
        end: 5,
        help: vec![message.to_owned()],
    }
}

#[test]
fn hostile_texts_are_escaped_and_only_our_script_may_run() {
    let dir = tempfile::tempdir().unwrap();
    let task = "s<img src=x onerror=alert(1)>\u{202e}.p01";
    let evidence = Evidence::new(dir.path(), "run", &[task], Redactor::default());
    evidence.event(&Event::TaskStarted { task: task.to_owned() });
    evidence.call(&format!("{task}/domain/-/0/0"), HOSTILE, &[HOSTILE], COUNTED);
    let path = evidence.made(task, "domain/0", domain(HOSTILE), HOSTILE);
    let mut assessment = Assessment::new(Decision::Rejected, HOSTILE);
    assessment.diagnostics = vec![finding(HOSTILE)];
    assessment.feedback = vec![HOSTILE.to_owned()];
    assessment.evidence = json!({"said": HOSTILE});
    assessment.metrics.insert(HOSTILE.to_owned(), 1.0);
    evidence.assessed(task, "critique", &path, &assessment);
    let failure = Failure::new(FailureClass::Reply, "reply.nothing", HOSTILE);
    evidence.event(&Event::SampleFailed {
        task: task.to_owned(),
        path: format!("{task}/domain/1"),
        failure: failure.clone(),
    });
    evidence.event(&Event::Log { plugin: HOSTILE.into(), level: "warn".into(), message: HOSTILE.into() });
    let verdict = TaskVerdict::Failed { stage: HOSTILE.to_owned(), failure };
    evidence.event(&Event::TaskFinished { task: task.to_owned(), verdict });
    let (page, _) = report(&evidence.path());

    // One script and one style run, those whose hashes the policy names; everything else in scripts is data.
    let (running, data): (Vec<_>, Vec<_>) =
        page.of("script").into_iter().partition(|script| !script.attributes.contains_key("type"));
    assert_eq!((running.len(), page.of("style").len()), (1, 1));
    assert!(data.iter().all(|script| {
        let base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        match script.attributes["type"].as_str() {
            "application/json" => script.attributes["id"] == "index" && !script.text.contains('<'),
            "application/octet-stream" => script.text.chars().all(base64),
            _ => false,
        }
    }));
    let policies: Vec<&String> = page
        .of("meta")
        .iter()
        .filter(|m| m.attributes.contains_key("http-equiv"))
        .map(|m| &m.attributes["content"])
        .collect();
    assert_eq!(policies.len(), 1);
    assert!(policies[0].starts_with("default-src 'none'; ") && !policies[0].contains("unsafe"));
    for (directive, text) in [("script-src", &running[0].text), ("style-src", &page.of("style")[0].text)] {
        use base64::Engine as _;
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
        assert!(policies[0].contains(&format!("{directive} 'sha256-{hash}'")), "{directive}");
    }
    // No element, attribute or address that is not the template's.
    let known = [
        "html", "head", "meta", "title", "style", "body", "a", "header", "nav", "button", "main", "noscript",
        "h1", "p", "div", "table", "caption", "thead", "tr", "th", "tbody", "td", "script",
    ];
    for element in &page.elements {
        assert!(known.contains(&element.name.as_str()), "{element:?}");
        for (name, value) in &element.attributes {
            assert!(!name.starts_with("on") && name != "src" && name != "style", "{element:?}");
            assert!(name != "href" || value.starts_with('#'), "{element:?}");
        }
    }
    assert!(!page.text.contains('\u{202e}'), "what reorders text is shown in the table without scripts");
    assert!(!page.html.contains("<script>window") && !page.html.contains("<img"));

    // And nothing of it is lost: the texts are in there, to the letter.
    let shown = page.task(0, 0);
    let candidate = page.node(shown, 0);
    assert_eq!(page.text(&candidate["reply"]), HOSTILE);
    assert_eq!(page.text(&candidate["domain"]["text"]), HOSTILE);
    let said = &candidate["assessments"][0];
    assert_eq!((&said["summary"], &said["diagnostics"][0]["message"]), (&json!(HOSTILE), &json!(HOSTILE)));
    assert_eq!(page.text(&page.call(shown, 0)["messages"][1]["text"]), HOSTILE);
    assert_eq!(shown["tree"]["failed"]["1"]["message"], HOSTILE);
    assert_eq!(page.index["cells"][0]["counts"]["failed"], 1);
}

#[test]
fn the_script_turns_texts_into_text_nodes_only() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/js");
    let mut files = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let script = fs::read_to_string(&path).unwrap();
        let forbidden = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "eval(",
            "new Function",
            "javascript:",
            "fetch(",
            "XMLHttpRequest",
            "import(",
            "http://",
            "https://",
            "</script",
        ];
        for word in forbidden {
            assert!(!script.contains(word), "{} has `{word}`", path.display());
        }
        files += 1;
    }
    assert!(files > 5);
}

#[test]
fn secrets_echoed_by_a_server_are_not_in_the_report() {
    const KEY: &str = "sk-live-0123456789abcdef";
    let dir = tempfile::tempdir().unwrap();
    let redactor = Redactor::new([&secrecy::SecretString::from(KEY)]);
    let evidence = Evidence::new(dir.path(), "run", &[TASK], redactor);
    let echoed = format!("Your key is {KEY}.");
    evidence.call(&format!("{TASK}/domain/-/0/0"), &echoed, &[&echoed], COUNTED);
    let failure = ProviderFailure {
        class: ProviderFailureClass::Authentication,
        status: Some(401),
        retry_after_ms: None,
        usage: None,
        message: echoed.clone(),
    };
    evidence.completion(&format!("{TASK}/domain/-/0/1"), "p", 1, None, Some(failure), Usage::default());
    evidence.made(TASK, "domain/0", domain(&echoed), &echoed);
    let (page, _) = report(&evidence.path());
    let everything = page.everything();
    assert!(everything.contains("Your key is [redacted]."));
    assert!(!everything.contains(KEY) && !everything.contains("0123456789abcdef"));
}

/// Two samples, the first refined over two rounds of two children; one child broke.
fn refined(evidence: &Evidence) {
    evidence.event(&Event::TaskStarted { task: TASK.to_owned() });
    evidence.call(&format!("{TASK}/domain/-/0/0"), "write", &["d0", "d1"], COUNTED);
    evidence.made(TASK, "domain/1", domain("(one)"), "d1");
    let root = evidence.made(TASK, "domain/0", domain("(zero)"), "d0");
    evidence.call(&format!("{TASK}/critique#1/0/0/0"), "judge", &["bad"], COUNTED);
    evidence.assessed(TASK, "critique", &root, &Assessment::new(Decision::Rejected, "bad"));
    evidence.call(&format!("{TASK}/update#1/0/0/0"), "again", &["u0", "broken"], COUNTED);
    let child = evidence.made(TASK, "domain/0 update#1/0", domain("(zero (one))"), "u0");
    evidence.event(&Event::SampleFailed {
        task: TASK.to_owned(),
        path: format!("{TASK}/update#1/0.1"),
        failure: Failure::new(FailureClass::Reply, "reply.no-pddl", "no PDDL"),
    });
    let mut scored = Assessment::new(
        Decision::Undecided {
            reason: planforge_contract::UndecidedReason::Limit,
            message: "too large".into(),
        },
        "",
    );
    scored.metrics.insert("score".to_owned(), 0.25);
    evidence.assessed(TASK, "ew", &child, &scored);
    let last = evidence.made(TASK, "domain/0 update#1/0 update#2/0", domain("(zero (two))"), "u1");
    evidence.assessed(TASK, "ew", &last, &Assessment::new(Decision::Accepted, "fine"));
    for (round, best) in [(1, &child), (2, &last)] {
        evidence.event(&Event::RoundFinished {
            task: TASK.to_owned(),
            stage: "ivml".to_owned(),
            path: root.clone(),
            round,
            best: Some(best.clone()),
            value: Some(f64::from(round) / 2.0),
            accepted: round == 2,
            best_so_far: Some(best.clone()),
            history: evidence.blob(&()),
        });
    }
    evidence.event(&Event::Selected {
        task: TASK.to_owned(),
        stage: "best".to_owned(),
        kept: vec![last.clone()],
        groups: Vec::new(),
    });
    let plan = PlanOutcome::Plan {
        plans: vec![PlanDocument { steps: vec!["(go a b)".to_owned()], ..PlanDocument::default() }],
        optimal: true,
        statistics: Default::default(),
    };
    evidence.event(&Event::Planned {
        task: TASK.to_owned(),
        stage: "plan".to_owned(),
        path: last,
        outcome: evidence.blob(&plan),
        name: plan.name().to_owned(),
    });
}

#[test]
fn the_lineage_is_a_tree_with_the_results_of_every_stage() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK, "blocks.p02"], Redactor::default());
    refined(&evidence);
    evidence.event(&Event::TaskFinished { task: TASK.to_owned(), verdict: TaskVerdict::Accepted });
    let (page, written) = report(&evidence.path());
    assert_eq!((written.runs, written.tasks, written.candidates, written.calls), (1, 2, 4, 3));
    let task = page.task(0, 0);
    let tree = &task["tree"];
    let labels: Vec<&str> = tree["label"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| tree["labels"][usize::try_from(label.as_u64().unwrap()).unwrap()].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["domain", "update#1", "update#2", "update#1", "domain"]);
    assert_eq!(tree["sample"], json!([0, 0, 0, 1, 1]));
    assert_eq!(tree["parent"], json!([-1, 0, 1, 0, -1]));
    assert_eq!(tree["failed"]["3"]["code"], "reply.no-pddl");
    assert_eq!(tree["decisions"], json!({"critique": "r----", "ew": "-ua--"}));
    assert_eq!(tree["metrics"]["ew.score"], json!([null, 0.25, null, null, null]));
    assert_eq!((&tree["best"], &tree["kept"]["best"]), (&json!([1, 2]), &json!([2])));
    assert_eq!(tree["planned"], json!({"2": "plan"}));
    // A candidate has the calls that wrote it and those about it, whatever else was asked at the same place.
    let root = page.node(task, 0);
    assert_eq!((&root["wrote"], &root["about"]), (&json!([0]), &json!([1])));
    assert_eq!(page.node(task, 1)["wrote"], json!([2]));
    assert_eq!(tree["failed_calls"]["3"], json!([2]));
    assert_eq!(page.node(task, 2)["plans"][0]["plans"][0]["steps"], json!(["(go a b)"]));
    // The other task was not begun, and reads so.
    let run = page.page(&page.index["cells"][0]["page"]);
    assert_eq!(
        (&run["tasks"][0]["outcome"], &run["tasks"][1]["outcome"]),
        (&json!("solved"), &json!("unfinished"))
    );
    assert_eq!(page.index["cells"][0]["state"], "unfinished");
}

#[test]
fn every_call_has_its_request_reply_and_cost() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    evidence.call(&format!("{TASK}/domain/-/0/0"), "write a domain", &["no PDDL here"], COUNTED);
    let dropped = ProviderFailure {
        class: ProviderFailureClass::RateLimited,
        status: Some(429),
        retry_after_ms: Some(2000),
        usage: None,
        message: "slow down".to_owned(),
    };
    let second = format!("{TASK}/domain/-/0/1");
    evidence.event(&Event::Retry {
        path: second.clone(),
        attempt: 1,
        failure: dropped.clone(),
        wait_ms: 2000,
    });
    evidence.completion(&second, "write a domain", 1, None, Some(dropped), Usage::default());
    // A call of the same question, with a count that the server did not give.
    evidence.call(&format!("{TASK}/domain/-/0/2"), "write a domain", &["x"], Usage::default());
    let (page, written) = report(&evidence.path());
    assert_eq!((written.candidates, written.calls), (0, 3));
    let task = page.task(0, 0);
    let call = page.call(task, 0);
    assert_eq!(
        (&call["role"], &call["llm"], &call["model"]),
        (&json!("writer"), &json!("main"), &json!("some-model"))
    );
    assert_eq!(call["settings"], json!({"n": 1, "seed": 5, "temperature": 0.7, "grammar": "g"}));
    assert_eq!(page.text(&call["messages"][1]["text"]), "write a domain");
    assert_eq!(page.text(&call["replies"][0]["text"]), "no PDDL here");
    assert_eq!(
        (&call["attempts"], &call["ms"], &call["answered_by"]),
        (&json!(2), &json!(1500), &json!("served"))
    );
    let failed = page.call(task, 1);
    assert_eq!((&failed["failure"]["status"], &failed["retries"][0]["wait_ms"]), (&json!(429), &json!(2000)));
    assert_eq!(task["calls"]["failure"], json!(["", "rate-limited", ""]));
    // Equal texts are kept once.
    assert_eq!(call["messages"], page.call(task, 2)["messages"]);
    let account = &task["by_model"]["main: some-model"];
    assert_eq!(
        (&account["calls"], &account["failed"], &account["unmetered"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(account.get("cost"), None, "what was not counted is unknown");
    let priced = |account: &Value| account["cost"].as_f64();
    let dir = tempfile::tempdir().unwrap();
    let counted = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    counted.call(&format!("{TASK}/domain/-/0/0"), "p", &["x"], COUNTED);
    let (page, _) = report(&counted.path());
    assert_eq!(priced(&page.task(0, 0)["by_stage"]["domain"]), Some(0.00012));
}

#[test]
fn a_budget_search_lists_its_pulls_and_the_calls_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    for pull in 1..=2u32 {
        evidence.call(&format!("{TASK}/domain#{pull}/-/0/0"), "write", &[&format!("d{pull}")], COUNTED);
        let made = evidence.made(TASK, &format!("domain#{pull}/0"), domain("(d)"), &format!("d{pull}"));
        evidence.call(&format!("{TASK}/critique#{pull}/0/0/0"), &format!("judge {pull}"), &["ok"], COUNTED);
        evidence.event(&Event::BudgetPulled {
            task: TASK.to_owned(),
            stage: "search".to_owned(),
            pull,
            arm: "new".to_owned(),
            made: vec![made.clone()],
            value: Some(1.0),
            reward: 0.5,
            accepted: false,
            cost: BudgetCost::default(),
            spent: BudgetCost { calls: u64::from(pull) * 2, ..BudgetCost::default() },
            best: Some(made),
            best_value: Some(1.0),
        });
    }
    let (page, _) = report(&evidence.path());
    let task = page.task(0, 0);
    assert_eq!(task["pulls"][1]["spent"]["calls"], 4);
    // Both candidates have the indices `0`.
    assert_eq!((&page.node(task, 0)["about"], &page.node(task, 1)["about"]), (&json!([1]), &json!([3])));
    assert_eq!((&page.node(task, 0)["wrote"], &page.node(task, 1)["wrote"]), (&json!([0]), &json!([2])));
}

#[test]
fn an_unfinished_evaluation_shows_its_finished_parts() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path();
    fs::write(out.join("scaling.txt"), "a table </script>\n").unwrap();
    let column = out.join("cells/blocks/method@large");
    fs::create_dir_all(&column).unwrap();
    let evidence = Evidence::new(&column, "7", &[TASK], Redactor::default());
    refined(&evidence);
    let cells = json!([{
        "suite": "blocks", "pipeline": "method", "model": "large", "seed": 8, "state": "unfinished", "usage": {
            "calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "unmetered": 0},
        "tasks": [{"task": "p01", "outcome": "unfinished"}]
    }]);
    fs::write(out.join("evaluation.json"), json!({"cells": cells}).to_string()).unwrap();
    let (page, written) = report(out);
    assert_eq!((page.index["kind"].as_str(), written.runs, written.tasks), (Some("evaluation"), 1, 2));
    let states: Vec<(&Value, &Value)> =
        page.index["cells"].as_array().unwrap().iter().map(|cell| (&cell["seed"], &cell["state"])).collect();
    assert_eq!(states, [(&json!(8), &json!("not started")), (&json!(7), &json!("unfinished"))]);
    assert!(page.text.contains("method@large"), "the table is there without scripts");
    assert_eq!(page.text(&page.index["tables"][0][1]), "a table </script>\n");
    // An evaluation that was stopped before it had its tables: what was planned is there.
    let suite = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites/garden");
    let matrix =
        json!({"suites": [suite, "nowhere"], "pipelines": ["a.toml", "b.toml"], "seeds": [1, 2], "tasks": 3});
    let begun = tempfile::tempdir().unwrap();
    fs::write(begun.path().join("matrix.json"), matrix.to_string()).unwrap();
    let (page, written) = report(begun.path());
    assert_eq!((written.runs, written.tasks), (0, 12));
    assert!(written.warnings[0].contains("nowhere"), "{:?}", written.warnings);
    let cell = &page.index["cells"][3];
    assert_eq!(
        (&cell["pipeline"], &cell["seed"], &cell["state"]),
        (&json!("b"), &json!(2), &json!("not started"))
    );
    assert_eq!((&cell["suite"], &cell["counts"]["unfinished"]), (&json!("garden"), &json!(3)));
}

#[test]
fn unreadable_parts_are_named_in_place_and_do_not_end_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    refined(&evidence);
    let path = evidence.path();
    drop(evidence);
    let lost = format!("{:?}", Assessment::new(Decision::Rejected, "bad"));
    assert!(lost.contains("bad"));
    // The blob of the first candidate's assessment is changed by somebody.
    let blobs = fs::read_dir(path.join("blobs")).unwrap().map(|file| file.unwrap().path());
    let of_assessment =
        |file: &std::path::PathBuf| fs::read_to_string(file).unwrap().contains("\"summary\":\"bad\"");
    let blob = blobs.into_iter().find(of_assessment).unwrap();
    fs::write(&blob, "{}").unwrap();
    let (page, written) = report(&path);
    let candidate = page.node(page.task(0, 0), 0);
    assert!(candidate["unreadable"][0].as_str().unwrap().contains("record.blob-corrupt"), "{candidate}");
    assert!(written.warnings.iter().any(|warning| warning.contains("1 document")), "{:?}", written.warnings);
    // A page whose tasks are written when they are opened has no warning of a candidate before.
    assert_eq!(page.task(0, 0)["unreadable"], 1);
}

#[test]
fn the_same_folder_gives_the_same_bytes_and_another_folder_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    refined(&evidence);
    assert_eq!(report(&evidence.path()).0.html, report(&evidence.path()).0.html);
    let nothing =
        planforge_report::write(&[dir.path().to_owned()], &mut |_, _| {}, &mut Vec::new()).unwrap_err();
    assert_eq!((nothing.code.as_str(), nothing.class), ("report.nothing", FailureClass::Request));
    assert!(planforge_report::CODES.iter().any(|code| code.code == nothing.code));
}

#[test]
fn candidates_of_another_task_are_roots_with_their_indices() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    evidence.made(TASK, "others/0 problem/2", domain("(d)"), "reply");
    let (page, _) = report(&evidence.path());
    let tree = &page.task(0, 0)["tree"];
    assert_eq!((&tree["parent"], &tree["start"]), (&json!([-1]), &json!({"0": "0"})));
    let lineage: Vec<LineageStep> =
        serde_json::from_value(page.node(page.task(0, 0), 0)["lineage"].clone()).unwrap();
    assert_eq!(lineage.len(), 2);
}

const LIGHTS: &str = "(define (domain lights) (:predicates (dark ?r) (lit ?r))\n\
    (:action switch :parameters (?r) :precondition (dark ?r) :effect (and (lit ?r) (not (dark ?r)))))";

#[test]
fn changes_states_and_curves_are_on_their_pages() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    let problem =
        "(define (problem p) (:domain lights) (:objects hall) (:init (dark hall)) (:goal (lit hall)))";
    let with = |domain: String| Candidate {
        domain: Some(domain),
        problem: Some(problem.to_owned()),
        ..Candidate::default()
    };
    let wrong = LIGHTS
        .replace("(lit ?r) (not", "(lit ?r) (lit ?r) (not")
        .replace("(dark ?r) :effect", "(lit ?r) :effect");
    let root = evidence.made(TASK, "domain/0", with(wrong), "d0");
    let child = evidence.made(TASK, "domain/0 a-round#1/0", with(LIGHTS.to_owned()), "d1");
    for (path, score) in [(&root, 0.5), (&child, 1.0)] {
        let mut walked = Assessment::new(Decision::Accepted, "walked");
        walked.metrics.insert("score".to_owned(), score);
        evidence.assessed(TASK, "ew", path, &walked);
    }
    let plan = |step: &str| PlanOutcome::Plan {
        plans: vec![PlanDocument { steps: vec![step.to_owned()], ..PlanDocument::default() }],
        optimal: false,
        statistics: Default::default(),
    };
    for stage in ["plan", "final-plan"] {
        let outcome = plan("(switch hall)");
        evidence.event(&Event::Planned {
            task: TASK.to_owned(),
            stage: stage.to_owned(),
            path: child.clone(),
            outcome: evidence.blob(&outcome),
            name: outcome.name().to_owned(),
        });
    }
    let (page, _) = report(&evidence.path());
    let task = page.task(0, 0);
    // The child's label comes before its parent's in the alphabet; it is compared all the same.
    let made = page.node(task, 1);
    let changes = &made["domain_changes"];
    assert!(
        changes["structural"]
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["text"].as_str().unwrap().contains("switch")),
        "{changes}"
    );
    assert_eq!(page.node(task, 0).get("domain_changes"), None, "nothing was before it");
    assert_eq!(made.get("problem_changes"), None, "its reply wrote none");
    // The same plan of two stages is executed once.
    assert_eq!(made["plans"][0]["states"], made["plans"][1]["states"]);
    let states = page.page(&made["plans"][0]["states"]);
    assert_eq!((&states["verdict"], &states["steps"].as_array().map(Vec::len)), (&json!("valid"), &Some(1)));
    assert_eq!(states["steps"][0]["goal_gained"], json!([0]));
    let told = ["lit holds for hall.", "dark does not hold for hall."];
    assert_eq!(states["in_words"]["steps"][0]["changes"], json!(told));
    let curve = &task["curves"][0];
    assert_eq!((&curve["metric"], &curve["over"]), (&json!("ew.score"), &json!("round")));
    assert!(page.text(&curve["svg"]).starts_with("<svg"));
}

#[test]
fn a_thought_is_shown_apart_from_its_reply() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = Evidence::new(dir.path(), "run", &[TASK], Redactor::default());
    let reply = planforge_contract::Reply {
        thought: Some("<b>hm</b>".to_owned()),
        ..planforge_contract::Reply::new("(and)", planforge_contract::FinishReason::Stop)
    };
    let result = planforge_contract::CompletionResult::Replies(planforge_contract::Replies {
        replies: vec![reply],
        usage: COUNTED,
        model: "served".to_owned(),
        raw: String::new(),
    });
    evidence.completion(&format!("{TASK}/domain/-/0/0"), "p", 1, Some(result), None, COUNTED);
    let (page, _) = report(&evidence.path());
    let call = page.call(page.task(0, 0), 0);
    let reply = &call["replies"][0];
    assert_eq!(page.text(&reply["text"]), "(and)");
    assert_eq!(page.text(&reply["thought"]), "<b>hm</b>");
}

#[test]
fn several_folders_are_one_report() {
    let dir = tempfile::tempdir().unwrap();
    let folders: Vec<_> = ["first", "second"]
        .map(|name| {
            let evidence = Evidence::new(dir.path(), name, &[TASK], Redactor::default());
            refined(&evidence);
            evidence.path()
        })
        .to_vec();
    let mut bytes = Vec::new();
    let twice = [folders.clone(), folders.clone()].concat();
    let written = planforge_report::write(&twice, &mut |_, _| {}, &mut bytes).unwrap();
    assert_eq!((written.runs, written.candidates), (2, 8), "a folder that is named twice counts once");
    let page = Page::parse(String::from_utf8(bytes).unwrap());
    assert_eq!((&page.index["kind"], &page.index["title"]), (&json!("evaluation"), &json!("first, second")));
    let pipelines = [0, 1].map(|cell| page.index["cells"][cell]["pipeline"].as_str().unwrap().to_owned());
    assert!(pipelines[0] != pipelines[1] && pipelines[1].ends_with("second"), "{pipelines:?}");
    for cell in 0..2 {
        assert_eq!(page.task(cell, 0)["tree"]["kept"]["best"], json!([2]));
    }
}

#[test]
fn pages_of_tasks_that_are_asked_for_say_the_same_as_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let other = "blocks.p02";
    let evidence = Evidence::new(dir.path(), "run", &[TASK, other], Redactor::default());
    refined(&evidence);
    evidence.call(&format!("{other}/domain/-/0/0"), "write", &["d0"], Usage::default());
    let failure = ProviderFailure {
        class: ProviderFailureClass::Authentication,
        status: Some(401),
        retry_after_ms: None,
        usage: None,
        message: "no key".to_owned(),
    };
    evidence.completion(&format!("{other}/domain/-/1/0"), "again", 1, None, Some(failure), Usage::default());
    evidence.made(other, "domain/0", domain("(zero)"), "d0");
    let (file, _) = report(&evidence.path());
    let contents = planforge_report::Contents::read(&[evidence.path()], &mut |_, _| {}).unwrap();
    let index = serde_json::from_str(contents.index()).unwrap();
    let first = Page::of_parts(&contents, &index);
    let without_pages = |value: &Value| {
        let mut value = value.clone();
        value.as_object_mut().unwrap().remove("page");
        value
    };
    assert_eq!(without_pages(&first.index["cells"][0]), without_pages(&file.index["cells"][0]));
    let (run, whole) = [&first, &file].map(|page| page.page(&page.index["cells"][0]["page"])).into();
    assert_eq!(run["tasks"].as_array().unwrap().len(), 2);
    for (later, now) in run["tasks"].as_array().unwrap().iter().zip(whole["tasks"].as_array().unwrap()) {
        assert_eq!((later, later.get("page")), (&without_pages(now), None));
    }
    for sums in ["by_model", "by_stage", "effects"] {
        assert_eq!(run[sums], whole[sums], "{sums}");
    }
    // The second task first, and both once more.
    let asked = |tasks| serde_json::to_value(contents.task_pages(0, tasks).unwrap()).unwrap();
    let (second, both) = (asked(1..2), asked(0..9));
    assert_eq!((both["pages"].as_array().unwrap().len(), &both["pages"][1]), (2, &second["pages"][0]));
    assert_eq!(asked(0..9), both);
    let parts = Page::of_parts(&contents, &both);
    for task in 0..2 {
        let (later, now) = (parts.page(&both["pages"][task]), file.task(0, task));
        for column in ["label", "sample", "parent", "decisions", "metrics", "kept", "best", "failed"] {
            assert_eq!(later["tree"][column], now["tree"][column], "{column}");
        }
        for part in ["task", "verdict", "rounds", "selections", "by_model", "by_stage"] {
            assert_eq!(later[part], now[part], "{part}");
        }
        assert_eq!(later["calls"]["failure"], now["calls"]["failure"]);
        let reply = |page: &Page, task: &Value| page.text(&page.node(task, 0)["reply"]).to_owned();
        assert_eq!(reply(&parts, later), reply(&file, now));
    }
    assert_eq!(
        (asked(7..9)["pages"].clone(), contents.task_pages(1, 0..1).unwrap().is_none()),
        (json!([]), true)
    );
}
