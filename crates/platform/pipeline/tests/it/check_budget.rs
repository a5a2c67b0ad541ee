//! Every misuse of a budget stage is one diagnostic at its place, with a way out.

use crate::check::schema_problems;
use crate::common::Scripted;
use planforge_pipeline::*;

const GOOD: &str = r#"
schema = 1
[llm.main]
use = "provider-openai"
model = "m"
price = { prompt = 1.0, completion = 2.0 }
[llm.critic]
use = "provider-openai"
model = "c"
price = { prompt = 1.0, completion = 2.0 }
[[stage]]
do = "translate"
label = "before"
use = "translator-direct"
roles = { writer = "main" }
[[stage]]
do = "budget"
label = "search"
by = "pddl.score"
order = "lowest"
range = [0, 10]
policy = "ucb"
width = 4
keep = 2
[stage.budget]
calls = 40
tokens = 60000
seconds = 600
money = 1.50
[[stage.sample]]
do = "translate"
label = "domain"
use = "translator-direct"
n = 2
roles = { writer = "main" }
[[stage.round]]
do = "verify"
label = "walks"
use = "verifier-ew"
[[stage.round]]
do = "translate"
label = "update"
use = "translator-direct"
roles = { writer = "critic" }
feedback = ["walks", "pddl"]
[[stage.judge]]
do = "verify"
label = "pddl"
use = "verifier-val"
[[stage.judge]]
do = "plan"
label = "plan"
use = "planner-classical"
[[stage]]
do = "verify"
label = "after"
use = "verifier-val"
"#;

fn found(text: &str) -> Checked {
    check(text, "test.toml", &Scripted, &[])
}

/// Code, what is pointed at, and the help of each diagnostic.
fn codes_places_and_help(text: &str) -> Vec<(String, String, String)> {
    let checked = found(text);
    let told = checked.diagnostics.iter().map(|d| {
        let label = d.primary().unwrap();
        let pointed = &checked.sources.get(label.source).unwrap().text[label.span.range()];
        (d.code.to_string(), pointed.to_owned(), d.help.join(" "))
    });
    told.collect()
}

#[test]
fn a_budget_stage_reads_as_written_and_its_judges_stand_last() {
    let checked = found(GOOD);
    let Some(pipeline) = checked.pipeline else { panic!("{:#?}", checked.diagnostics) };
    assert!(checked.diagnostics.is_empty(), "{:#?}", checked.diagnostics);
    let labels: Vec<&str> = pipeline.config.all_stages().map(Stage::label).collect();
    assert_eq!(labels, ["before", "search", "domain", "walks", "update", "pddl", "plan", "after"]);
    let Some(Stage::Budget(stage)) = pipeline.config.stage("search") else { panic!("{labels:?}") };
    assert_eq!((stage.policy, stage.width, stage.keep), (BudgetPolicy::Ucb, 4, 2));
    assert_eq!((stage.order, stage.range), (Order::Lowest, Some([0.0, 10.0])));
    let limits =
        BudgetLimits { calls: Some(40), tokens: Some(60_000), seconds: Some(600.0), money: Some(1.5) };
    assert_eq!(stage.budget, limits);
    // The typed form is what the schema describes, and reads back; an editor sees the file as it was written.
    let json = serde_json::to_value(&pipeline.config).unwrap();
    assert_eq!((schema_problems(&json), schema_problems(&toml::from_str(GOOD).unwrap())), (vec![], vec![]));
    assert_eq!(serde_json::from_value::<Pipeline>(json).unwrap(), pipeline.config);
    // Keys inside are set like any other.
    let set: Vec<String> =
        ["stage.search.budget.calls=7", "stage.search.sample.domain.n=3"].map(str::to_owned).to_vec();
    let set = check(GOOD, "test.toml", &Scripted, &set).pipeline.unwrap().config;
    assert!(matches!(set.stage("search"), Some(Stage::Budget(stage)) if stage.budget.calls == Some(7)));
    assert!(matches!(set.stage("domain"), Some(Stage::Translate(stage)) if stage.n == 3));
}

/// A part of the file between two markers.
fn without(from: &str, to: &str) -> String {
    let start = GOOD.find(from).unwrap();
    let end = start + GOOD[start..].find(to).unwrap();
    format!("{}{}", &GOOD[..start], &GOOD[end..])
}

#[test]
fn every_misuse_is_one_diagnostic_with_a_way_out() {
    let budget = "[stage.budget]\ncalls = 40\ntokens = 60000\nseconds = 600\nmoney = 1.50\n";
    let judges = without("[[stage.judge]]", "[[stage]]\ndo = \"verify\"\nlabel = \"after\"");
    let no_models = without("[[stage.round]]", "[[stage.judge]]")
        .replace(
            "label = \"domain\"\nuse = \"translator-direct\"\nn = 2\nroles = { writer = \"main\" }",
            "label = \"domain\"\nuse = \"translator-actions\"\nn = 2",
        )
        .replace("seconds = 600\n", "");
    let cases: &[(&str, String, &str, &str, &str)] = &[
        ("no budget at all", GOOD.replace(budget, ""), "pipeline.missing-field", "[[stage]]", "[stage.budget]"),
        ("an empty budget", GOOD.replace(budget, "[stage.budget]\n"), "pipeline.budget-limit", "[stage.budget]", "`calls`"),
        ("zero", GOOD.replace("calls = 40", "calls = 0"), "pipeline.range", "0", ""),
        ("less than nothing", GOOD.replace("money = 1.50", "money = -1"), "pipeline.range", "-1", ""),
        ("no number", GOOD.replace("seconds = 600", "seconds = \"ten\""), "pipeline.type", "\"ten\"", ""),
        ("a limit that is none", GOOD.replace("tokens = 60000", "token = 60000"), "pipeline.unknown-stage-key", "token", "`tokens`"),
        ("a budget that is no table", GOOD.replace(budget, "budget = 40\n"), "pipeline.type", "40", ""),
        ("a policy that is none", GOOD.replace("\"ucb\"", "\"ucb1\""), "pipeline.value", "\"ucb1\"", "`ucb`"),
        ("no width", GOOD.replace("width = 4", "width = 0"), "pipeline.range", "0", ""),
        ("a range upside down", GOOD.replace("[0, 10]", "[10, 0]"), "pipeline.range", "[10, 0]", "order"),
        ("a range of words", GOOD.replace("[0, 10]", "\"0 to 10\""), "pipeline.type", "\"0 to 10\"", "LOW"),
        ("no metric", GOOD.replace("by = \"pddl.score\"\n", ""), "pipeline.missing-field", "[[stage]]", "by = "),
        ("a metric that is none", GOOD.replace("pddl.score", "pddl.scroe"), "pipeline.unknown-metric", "\"pddl.scroe\"", "`score`"),
        ("a metric of a round", GOOD.replace("pddl.score", "walks.score"), "pipeline.budget-metric", "\"walks.score\"", "`pddl`"),
        ("a metric from behind", GOOD.replace("pddl.score", "after.score"), "pipeline.label-order", "\"after.score\"", ""),
        ("no range for steps", GOOD.replace("pddl.score", "plan.steps").replace("range = [0, 10]\n", ""), "pipeline.budget-metric", "\"plan.steps\"", "range = "),
        ("no range for likelihoods", GOOD.replace("pddl.score", "candidate.log_likelihood").replace("range = [0, 10]\n", ""), "pipeline.budget-metric", "\"candidate.log_likelihood\"", "range = "),
        ("no judge", judges, "pipeline.budget", "[[stage]]", "[[stage.judge]]"),
        ("a judge that writes", GOOD.replace("do = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"", "do = \"select\"\nby = \"pddl.score\""), "pipeline.budget", "[[stage.judge]]", "[[stage.sample]]"),
        ("judges that only measure", GOOD.replace("use = \"verifier-val\"\n[[stage.judge]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"", "use = \"verifier-val\"\nmeasure = true"), "pipeline.budget", "[[stage.judge]]", "measure"),
        ("a round that does not write", without("[[stage.round]]\ndo = \"translate\"", "[[stage.judge]]"), "pipeline.budget", "[[stage.round]]", "exactly one"),
        ("a sample that is not written", GOOD.replace("do = \"translate\"\nlabel = \"domain\"\nuse = \"translator-direct\"\nn = 2\nroles = { writer = \"main\" }", "do = \"verify\"\nlabel = \"domain\"\nuse = \"verifier-val\""), "pipeline.budget", "[[stage.sample]]", "translate"),
        ("neither sample nor round", without("[[stage.sample]]", "[[stage.judge]]"), "pipeline.budget", "[[stage]]", "[[stage.sample]]"),
        ("a sample that is no list", without("[[stage.sample]]", "[[stage.round]]").replace("keep = 2\n", "keep = 2\nsample = 3\n"), "pipeline.type", "3", "[[stage.sample]]"),
        ("a budget inside of a budget", GOOD.replace("do = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"", "do = \"budget\"\nlabel = \"plan\""), "pipeline.nested-round", "\"budget\"", "beside"),
        ("a price that is missing", GOOD.replacen("price = { prompt = 1.0, completion = 2.0 }", "price = { prompt = 1.0 }", 1), "pipeline.budget-price", "1.50", "[llm.main]"),
        ("samples that want feedback on themselves", GOOD.replace("n = 2\n", "n = 2\nfeedback = [\"pddl\"]\n"), "pipeline.label-order", "\"pddl\"", ""),
        ("nothing that spends", no_models, "pipeline.budget-limit", "[stage.budget]", "seconds"),
    ];
    for (what, text, code, pointed, help) in cases {
        assert_ne!(text.as_str(), GOOD, "{what}");
        let told = codes_places_and_help(text);
        let hits: Vec<_> =
            told.iter().filter(|(found, at, _)| found == code && at.starts_with(pointed)).collect();
        let [(_, _, found)] = hits[..] else { panic!("{what}: {told:#?}") };
        assert!(found.contains(help), "{what}: {found}");
        assert!(help.is_empty() || !found.is_empty());
        assert!(CODES.iter().any(|c| c.code == *code), "{code}");
    }
}

/// One mistake does not bring others with it.
#[test]
fn mistakes_are_told_once() {
    for (text, wanted) in [
        (GOOD.replace("calls = 40", "calls = 0"), vec!["pipeline.range"]),
        (GOOD.replace("pddl.score", "walks.score"), vec!["pipeline.budget-metric"]),
        (GOOD.replace("\"ucb\"", "\"best\""), vec!["pipeline.value"]),
        (
            GOOD.replace(
                "use = \"verifier-val\"\n[[stage.judge]]",
                "use = \"verifier-vla\"\n[[stage.judge]]",
            ),
            vec!["pipeline.unknown-plugin"],
        ),
    ] {
        let codes: Vec<String> = codes_places_and_help(&text).into_iter().map(|(code, ..)| code).collect();
        assert_eq!(codes, wanted);
    }
}
