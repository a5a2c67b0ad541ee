//! Scripted sessions with the language server, a test for each feature.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may break where it stands; its helpers too.

mod client;
mod random_edits;

use client::{Client, position, slice};
use serde_json::{Value, json};

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().map(|d| d["code"].as_str().unwrap()).collect()
}

/// The diagnostics that are errors.
fn errors(diagnostics: &[Value]) -> Vec<Value> {
    diagnostics.iter().filter(|d| d["severity"] == 1).cloned().collect()
}

fn labels(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect()
}

#[test]
fn all_mistakes_of_a_domain_are_published_while_somebody_types() {
    let mut client = Client::with_suite("parcels");
    assert!(client.open("domain.pddl").is_empty());
    let text = client.read("domain.pddl");
    // After characters of one, two and four bytes, positions count UTF-16 code units.
    let broken = text.replace("(van-at ?from) (road", "; ü🚚\n (van-att ?from) (raod");
    let found = errors(&client.set("domain.pddl", &broken));
    assert_eq!(codes(&found), ["pddl.undefined-predicate", "pddl.undefined-predicate"]);
    assert!(slice(&broken, &found[0]["range"]).contains("van-att"), "{found:?}");
    assert!(found[0]["message"].as_str().unwrap().contains("did you mean `van-at`?"), "{found:?}");
    let here = position(&broken, "; ü🚚");
    client.change("domain.pddl", json!([{ "range": { "start": here, "end": here }, "text": "\n(" }]));
    assert!(codes(&client.diagnostics("domain.pddl")).contains(&"pddl.lost-parenthesis"));
    assert!(client.set("domain.pddl", &text).is_empty());
}

#[test]
fn a_byte_order_mark_is_not_a_mistake_and_keeps_positions() {
    let mut client = Client::with_suite("parcels");
    client.open("domain.pddl");
    let marked = format!("\u{feff}{}", client.read("domain.pddl"));
    assert!(client.set("domain.pddl", &marked).is_empty());
    let broken = "\u{feff}(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (q) :effect (p)))";
    let found = errors(&client.set("domain.pddl", broken));
    assert_eq!(codes(&found), ["pddl.undefined-predicate"]);
    assert!(slice(broken, &found[0]["range"]).starts_with('q'), "{found:?}");
}

#[test]
fn a_problem_is_checked_with_the_domain_beside_it_and_again_when_that_changes() {
    let mut client = Client::with_suite("parcels");
    assert!(client.open("p01.pddl").is_empty());
    let text = client.read("p01.pddl");
    let found = client.set("p01.pddl", &text.replace("(van-at elm)", "(van-at parcel1)"));
    assert_eq!(codes(&found), ["pddl.type-mismatch"]);
    client.set("p01.pddl", &text);
    let domain = client.read("domain.pddl");
    client.open("domain.pddl");
    client.diagnostics("p01.pddl");
    client.change("domain.pddl", json!([{ "text": domain.replace("van-empty", "van-free") }]));
    assert_eq!(codes(&client.diagnostics("p01.pddl")), ["pddl.undefined-predicate"]);
}

#[test]
fn domains_are_found_by_name_in_the_folder_above_and_in_documents() {
    let mut client = Client::new();
    let problem = "(define (problem p) (:domain two) (:init (q)) (:goal (q)))";
    client.write("one.pddl", "(define (domain one) (:predicates (p)))");
    client.write("problems/p01.pddl", problem);
    assert_eq!(codes(&client.open("problems/p01.pddl")), ["lsp.no-domain"]);
    client.write("two.pddl", "(define (domain two) (:predicates (q)))");
    assert!(client.set("problems/p01.pddl", problem).is_empty());
    client.open_text("problems/new.pddl", "(define (domain two) (:predicates (r)))");
    assert_eq!(
        codes(&client.diagnostics("problems/p01.pddl")),
        ["pddl.undefined-predicate", "pddl.undefined-predicate"]
    );
}

#[test]
fn a_goal_that_can_never_hold_is_explained() {
    let mut client = Client::with_suite("parcels");
    let text = client.read("p01.pddl").replace("(parcel-at parcel1 fir)", "");
    let found = client.open_text("p01.pddl", &text);
    assert!(codes(&found).contains(&"planning.goal-unreachable"), "{found:?}");
}

#[test]
fn quick_fixes_are_edits_of_the_document() {
    let mut client = Client::with_suite("parcels");
    let text = client
        .read("domain.pddl")
        .replace("(van-empty))\n", "(van-empty)\n")
        .replace(":strips :typing", ":strips");
    let found = client.open_text("domain.pddl", &text);
    assert!(found.len() > 1, "{found:?}");
    let params = json!({ "range": found[0]["range"], "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", "domain.pddl", &text, "(", params).unwrap();
    let kinds: Vec<&str> = actions.as_array().unwrap().iter().map(|a| a["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"quickfix") && kinds.contains(&"source.fixAll"), "{actions}");
    let all = actions.as_array().unwrap().iter().find(|a| a["kind"] == "source.fixAll").unwrap();
    let fixed = client.apply(&all["edit"], "domain.pddl", &text);
    assert!(client.set("domain.pddl", &fixed).is_empty(), "{fixed}");
}

#[test]
fn definition_and_references_cross_domain_and_problems() {
    let mut client = Client::with_suite("parcels");
    let (domain, problem) = (client.read("domain.pddl"), client.read("p01.pddl"));
    client.open("p01.pddl");
    let found =
        client.ask("textDocument/definition", "p01.pddl", &problem, "(:init\n    (ro", json!({})).unwrap();
    assert_eq!(found["uri"], client.uri("domain.pddl"));
    assert_eq!(slice(&domain, &found["range"]), "road");
    let places = client
        .ask(
            "textDocument/references",
            "p01.pddl",
            &problem,
            "(van-at",
            json!({ "context": { "includeDeclaration": true } }),
        )
        .unwrap();
    let files: Vec<&str> = places
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["uri"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(files.iter().filter(|file| **file == "domain.pddl").count(), 6, "{files:?}");
    assert!(["p01.pddl", "p02.pddl", "p_example.pddl"].iter().all(|file| files.contains(file)), "{files:?}");
    // An object belongs to its problem.
    let places =
        client.ask("textDocument/references", "p01.pddl", &problem, "(van-at elm", json!({})).unwrap();
    assert!(
        places.as_array().unwrap().iter().all(|p| p["uri"] == client.uri("p01.pddl").as_str()),
        "{places}"
    );
    let marks =
        client.ask("textDocument/documentHighlight", "p01.pddl", &problem, "(van-at elm", json!({})).unwrap();
    assert_eq!(marks.as_array().unwrap().len(), places.as_array().unwrap().len() + 1);
}

#[test]
fn renaming_changes_the_domain_and_every_problem() {
    let mut client = Client::with_suite("parcels");
    let (domain, problem) = (client.read("domain.pddl"), client.read("p01.pddl"));
    client.open("domain.pddl");
    let edit = client
        .ask("textDocument/rename", "domain.pddl", &domain, "(van-at", json!({ "newName": "lorry-at" }))
        .unwrap();
    assert_eq!(client.apply(&edit, "domain.pddl", &domain), domain.replace("van-at", "lorry-at"));
    assert_eq!(client.apply(&edit, "p01.pddl", &problem), problem.replace("van-at", "lorry-at"));
    // A variable is renamed in its action alone, with or without its question mark.
    let edit = client
        .ask(
            "textDocument/rename",
            "domain.pddl",
            &domain,
            "load\n    :parameters (?p",
            json!({ "newName": "box" }),
        )
        .unwrap();
    let renamed = client.apply(&edit, "domain.pddl", &domain);
    let (before, load) =
        (&domain[..domain.find("(:action load").unwrap()], &domain[domain.find("(:action load").unwrap()..]);
    let (load, rest) = load.split_at(load.find("(:action unload").unwrap());
    assert_eq!(renamed, format!("{before}{}{rest}", load.replace("?p", "?box")));
    for (name, reason) in [
        ("road", "already used"),
        ("1x", "not a name"),
        ("a b", "not a name"),
        ("", "not a name"),
        ("a)(b", "not a name"),
    ] {
        let (code, message) = client
            .ask("textDocument/rename", "domain.pddl", &domain, "(van-at", json!({ "newName": name }))
            .unwrap_err();
        assert!(code == -32803 && message.contains(reason), "{name}: {message}");
    }
    let range =
        client.ask("textDocument/prepareRename", "domain.pddl", &domain, "(van-at", json!({})).unwrap();
    assert_eq!(range["placeholder"], "van-at");
    assert!(
        client
            .ask("textDocument/prepareRename", "domain.pddl", &domain, "(defi", json!({}))
            .unwrap()
            .is_null()
    );
}

#[test]
fn hover_shows_signature_sentence_and_where_a_predicate_changes() {
    let mut client = Client::with_suite("parcels");
    let (domain, problem) = (client.read("domain.pddl"), client.read("p01.pddl"));
    client.open("domain.pddl");
    client.open("p01.pddl");
    let mut text = |file: &str, text: &str, before: &str| {
        let hover = client.ask("textDocument/hover", file, text, before, json!({})).unwrap();
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let predicate = text("p01.pddl", &problem, "(van-at");
    for part in [
        "(van-at ?t - town)",
        "The van is in t.",
        "Added by drive.",
        "Deleted by drive.",
        "Needed by drive, load and unload.",
    ] {
        assert!(predicate.contains(part), "{predicate}");
    }
    let action = text("domain.pddl", &domain, "(:action loa");
    assert!(action.contains("Needs that the van is in t, p is in t and the van is empty."), "{action}");
    assert!(action.contains("Afterwards, the van carries p"), "{action}");
    assert!(text("domain.pddl", &domain, "(:types tow").contains("An object of it is a town."));
    assert!(text("p01.pddl", &problem, "(:objects elm fi").contains("fir - town"));
    assert!(text("domain.pddl", &domain, ":parameters (?fro").contains("?from - town"));
    assert_eq!(text("domain.pddl", &domain, "; Written for"), "");
}

#[test]
fn completion_offers_what_fits_by_place_and_type() {
    let mut client = Client::with_suite("parcels");
    let (domain, problem) = (client.read("domain.pddl"), client.read("p01.pddl"));
    client.open("domain.pddl");
    client.open("p01.pddl");
    let mut complete = |file: &str, text: &str, at: &str, typed: &str| -> Vec<String> {
        let text = text.replacen(at, &format!("{at}{typed}"), 1);
        client.set(file, &text);
        let items =
            client.ask("textDocument/completion", file, &text, &format!("{at}{typed}"), json!({})).unwrap();
        if items.is_null() { Vec::new() } else { labels(&items).into_iter().map(str::to_owned).collect() }
    };
    // Unfinished lists, as while typing.
    assert_eq!(
        complete(
            "domain.pddl",
            &domain,
            "(:action load\n    :parameters (?p - parcel ?t - town)\n    :precondition (and ",
            "(parcel-at "
        ),
        ["?p"]
    );
    assert_eq!(
        complete(
            "domain.pddl",
            &domain,
            "(:action load\n    :parameters (?p - parcel ?t - town)\n    :precondition (and ",
            "(parcel-at ?p ?"
        ),
        ["?t"]
    );
    let heads = complete("domain.pddl", &domain, ":effect (and ", "(");
    assert!(heads.contains(&"when".to_owned()) && heads.contains(&"van-at".to_owned()), "{heads:?}");
    assert_eq!(
        complete("domain.pddl", &domain, "(:action drive\n    :parameters (?from ?to -", " ")[..2],
        ["object", "town"]
    );
    assert!(
        complete("domain.pddl", &domain, "(:requirements", " :n")
            .contains(&":negative-preconditions".to_owned())
    );
    assert!(
        complete("domain.pddl", &domain, "(:types town parcel)\n  ", "(:").contains(&":action".to_owned())
    );
    assert_eq!(
        complete("domain.pddl", &domain, "(:action drive\n    ", ":e"),
        [":parameters", ":precondition", ":effect"]
    );
    assert_eq!(complete("p01.pddl", &problem, "(van-empty)\n    ", "(parcel-at "), ["parcel1", "parcel2"]);
    assert_eq!(complete("p01.pddl", &problem, "(van-empty)\n    ", "(van-at e"), ["elm", "fir", "oak"]);
    assert!(complete("p01.pddl", &problem, "(van-empty)\n    ", "; (van-at ").is_empty(), "a comment");
}

#[test]
fn the_outline_has_sections_and_actions() {
    let mut client = Client::with_suite("parcels");
    let domain = client.read("domain.pddl");
    client.open("domain.pddl");
    let outline = client.ask("textDocument/documentSymbol", "domain.pddl", &domain, "(", json!({})).unwrap();
    assert_eq!(outline[0]["name"], "parcels");
    let names: Vec<&str> =
        outline[0]["children"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, [":requirements", ":types", ":predicates", "drive", "load", "unload"]);
    assert_eq!(outline[0]["children"][2]["children"][0]["name"], "road");
}

#[test]
fn formatting_is_that_of_the_command_and_leaves_broken_texts() {
    let mut client = Client::with_suite("parcels");
    let text = "(define (domain d)(:predicates (p)\n (q)))";
    client.open_text("x.pddl", text);
    let edits = client.ask("textDocument/formatting", "x.pddl", text, "(", json!({ "options": {} })).unwrap();
    assert_eq!(edits[0]["newText"], "(define (domain d)\n  (:predicates\n    (p)\n    (q)))\n");
    client.set("x.pddl", "(define (domain d)");
    assert!(
        client
            .ask("textDocument/formatting", "x.pddl", "(", "(", json!({ "options": {} }))
            .unwrap()
            .is_null()
    );
}

#[test]
fn lenses_plan_validate_and_compare() {
    let mut client = Client::with_suite("parcels");
    let (domain, problem) = (client.read("domain.pddl"), client.read("p01.pddl"));
    client.write("p01.plan", "(drive elm fir)\n(load parcel2 fir)\n");
    client.write("written.pddl", &domain.replacen("(van-at ?from)", "(and)", 1));
    client.write(
        "written/domain.pddl",
        &domain.replace("(van-at ?from) (road", "(road ?from ?to) (van-at ?from) (road"),
    );
    client.open("written/domain.pddl");
    client.open("domain.pddl");
    client.open("p01.pddl");
    client.open("written.pddl");
    let mut titles = |file: &str, text: &str| -> Vec<String> {
        let lenses = client.ask("textDocument/codeLens", file, text, "(", json!({})).unwrap();
        lenses
            .as_array()
            .unwrap()
            .iter()
            .map(|l| l["command"]["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles("p01.pddl", &problem), ["Plan", "Validate p01.plan"]);
    for file in ["written.pddl", "written/domain.pddl"] {
        assert_eq!(titles(file, &domain), ["Compare with the reference"]);
    }
    assert!(titles("domain.pddl", &domain).is_empty(), "the reference itself");
    let run = |client: &mut Client, command: &str, file: &str| {
        let arguments = json!({ "command": command, "arguments": [client.uri(file)] });
        client.request("workspace/executeCommand", arguments)
    };
    let plan = run(&mut client, "planforge.plan", "p01.pddl").unwrap();
    assert!(plan["summary"].as_str().unwrap().starts_with("The plan is valid"), "{plan}");
    assert!(plan["text"].as_str().unwrap().contains("The van carries parcel1."));
    assert!(plan["states"]["pictures"][0]["svg"].as_str().unwrap().contains("<svg"));
    let refusal = run(&mut client, "planforge.validate", "p01.pddl").unwrap();
    assert!(
        refusal["text"].as_str().unwrap().contains("load parcel2 fir, needs: parcel2 is in fir."),
        "{refusal}"
    );
    let compared = run(&mut client, "planforge.compare", "written.pddl").unwrap();
    assert_eq!(
        compared["summary"],
        "The domain behaves differently on p01.pddl: the reference refuses the last step of (drive fir elm): the precondition does not hold."
    );
    let text = compared["text"].as_str().unwrap();
    assert!(text.contains("Does not hold: (van-at fir) is false from the start"), "{text}");
    assert!(text.contains("In the reference, the action drive needs that the van is in from"), "{text}");
    let same = run(&mut client, "planforge.compare", "written/domain.pddl").unwrap();
    assert_eq!(same["summary"], "The domain behaves as the reference on 5 problems.");
    assert!(client.notified.iter().any(|n| n.method == "window/showMessage"));
    for (command, file) in [
        ("planforge.plan", "written.pddl"),
        ("planforge.nothing", "p01.pddl"),
        ("planforge.plan", "missing.pddl"),
    ] {
        assert_eq!(run(&mut client, command, file).unwrap_err().0, -32803, "{command} {file}");
    }
}

/// A task whose search does not end in the time of a test: sums of 40 weights that no subset has.
fn endless(client: &mut Client) -> Value {
    let predicates: String = (0..40).map(|n| format!("(p{n}) ")).collect();
    let actions: String = (0..40).map(|n| {
        let clear: String = (0..n).map(|m| format!("(not (p{m})) ")).collect();
        let all: String = (0..n).map(|m| format!("(p{m}) ")).collect();
        format!("(:action a{n} :parameters () :precondition (and (not (p{n})) {all}) :effect (and (p{n}) {clear}))")
    }).collect();
    // A counter in binary: the shortest plan has 2 to the power of 40 steps.
    client.write("domain.pddl", &format!("(define (domain c) (:requirements :strips :negative-preconditions) (:predicates {predicates}) {actions})"));
    let goal: String = (0..40).map(|n| format!("(p{n}) ")).collect();
    let problem = format!("(define (problem p) (:domain c) (:init) (:goal (and {goal})))");
    client.write("p01.pddl", &problem);
    client.open("p01.pddl");
    json!({ "command": "planforge.plan", "arguments": [client.uri("p01.pddl")] })
}

#[test]
fn a_running_command_is_cancelled_and_too_many_are_refused() {
    let mut client = Client::new();
    let plan = endless(&mut client);
    let first = client.send("workspace/executeCommand", plan.clone());
    let second = client.send("workspace/executeCommand", plan.clone());
    let third = client.send("workspace/executeCommand", plan);
    let (code, message) = client.response(&third).unwrap_err();
    assert!(code == -32803 && message.contains("2 commands are running"), "{message}");
    // Documents are answered meanwhile.
    let text = client.read("p01.pddl");
    assert!(!client.ask("textDocument/documentSymbol", "p01.pddl", &text, "(", json!({})).unwrap().is_null());
    for (number, id) in [(2, first), (3, second)] {
        client.notify("$/cancelRequest", json!({ "id": number }));
        assert_eq!(client.response(&id).unwrap_err().0, -32800);
    }
}

#[test]
fn the_end_of_a_session_cancels_what_runs() {
    let mut client = Client::new();
    let plan = endless(&mut client);
    client.send("workspace/executeCommand", plan);
    let id = client.send("shutdown", Value::Null);
    client.response(&id).unwrap();
    client.notify("exit", Value::Null);
    client.end();
}

#[test]
fn pipelines_knowledge_and_sentences_have_diagnostics() {
    let mut client = Client::with_suite("blocks");
    assert_eq!(codes(&client.open_text("run.toml", "[[stage]]\ndo = \"wrong\"\n")), ["pipeline.unknown"]);
    assert!(client.open_text("other.toml", "do = \"wrong\"\n").is_empty(), "another TOML file");
    assert!(client.open("knowledge.lp").is_empty());
    let knowledge = client.read("knowledge.lp");
    let found = client.set("knowledge.lp", &knowledge.replacen("stands_on", "stands_onn", 1));
    assert!(!found.is_empty());
    assert!(client.open("sentences.toml").is_empty());
    assert_eq!(
        codes(&client.set("sentences.toml", "[predicates]\nhold = { yes = \"{1}\" }\n")),
        ["suite.sentences"]
    );
}

#[test]
fn unreadable_requests_are_refused_and_the_session_goes_on() {
    let mut client = Client::with_suite("parcels");
    let domain = client.read("domain.pddl");
    client.open("domain.pddl");
    assert_eq!(client.request("textDocument/hover", json!({ "textDocument": 3 })).unwrap_err().0, -32602);
    assert_eq!(client.request("textDocument/nothing", json!({})).unwrap_err().0, -32601);
    client.notify("textDocument/didChange", json!({ "textDocument": {} }));
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": "file:///unknown.pddl" }, "contentChanges": [{ "text": "x" }] }),
    );
    client.notify("$/cancelRequest", json!({ "id": 99 }));
    let far = json!({ "line": 4_000_000_000_u32, "character": 4_000_000_000_u32 });
    assert!(
        client
            .request(
                "textDocument/hover",
                json!({ "textDocument": { "uri": client.uri("domain.pddl") }, "position": far })
            )
            .unwrap()
            .is_null()
    );
    client.change(
        "domain.pddl",
        json!([{ "range": { "start": far, "end": { "line": 0, "character": 0 } }, "text": "; end" }]),
    );
    assert!(client.diagnostics("domain.pddl").is_empty());
    assert!(
        !client.ask("textDocument/hover", "domain.pddl", &domain, "(van-at", json!({})).unwrap().is_null()
    );
}

#[test]
fn huge_and_deep_documents_are_refused_not_read() {
    let mut client = Client::new();
    assert_eq!(codes(&client.open_text("deep.pddl", &"(".repeat(100_000))), ["pddl.too-deep"]);
    let huge = "; x\n".repeat(5 << 20);
    assert_eq!(codes(&client.open_text("huge.pddl", &huge)), ["pddl.too-large"]);
    for method in [
        "textDocument/documentSymbol",
        "textDocument/formatting",
        "textDocument/hover",
        "textDocument/codeLens",
    ] {
        client.ask(method, "huge.pddl", &huge, "; x", json!({})).unwrap();
        client.ask(method, "deep.pddl", "(", "(", json!({})).unwrap();
    }
}
