//! Every mistake in a pipeline file is found in one go, at its place, with a way out.

use crate::common::info;
use planforge_contract::{Applies, JsonObject, OptionCondition, PluginInfo, PluginKind};
use planforge_diagnostics::{Diagnostic, Severity, SourceId};
use planforge_pipeline::*;
use planforge_plugin_host::check_against_schema;
use serde_json::json;
use std::collections::BTreeSet;

/// What is wrong with a file by the schema that editors read.
pub(crate) fn schema_problems(file: &serde_json::Value) -> Vec<planforge_plugin_host::OptionProblem> {
    check_against_schema(&pipeline_schema(), file.as_object().unwrap()).unwrap()
}

/// Plugins with real options schemas.
struct Plugins;

fn plugins() -> Vec<PluginInfo> {
    let mut provider = info("provider-openai", PluginKind::Provider, &[], &[]);
    provider.options_schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "base_url": {"type": "string"}, "proxy": {"type": "string"}, "api_key_env": {"type": "string"}, "timeout_s": {"type": "number"}}});
    provider.secrets = vec!["api_key_env".to_owned()];
    let mut translator = info("translator-direct", PluginKind::Translator, &["writer"], &[]);
    translator.options_schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "mode": {"enum": ["problem", "domain", "both"]}, "example": {"type": "boolean"}}});
    let mut val = info("verifier-val", PluginKind::Verifier, &[], &["score"]);
    val.options_schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "against": {"enum": ["candidate", "environment"]}}});
    val.capabilities.environment = Applies::Where(vec![OptionCondition::new("against", &["environment"])]);
    let mut strict = info("verifier-strict", PluginKind::Verifier, &[], &[]);
    strict.options_schema = json!({"type": "object", "required": ["limit"], "properties": {
        "limit": {"type": "integer"}}});
    let mut classical = info("planner-classical", PluginKind::Planner, &[], &[]);
    classical.options_schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "search": {"enum": ["greedy", "astar"]}}});
    let environment = info("environment-pddl", PluginKind::Environment, &[], &[]);
    vec![provider, translator, val, strict, classical, environment]
}

impl Catalogue for Plugins {
    fn ids(&self) -> Vec<String> {
        plugins().into_iter().map(|p| p.id).chain(["broken-plugin".to_owned()]).collect()
    }
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        if id == "broken-plugin" {
            let message = "epoch 2, this planforge has 1".to_owned();
            return Err(CatalogueError::Unavailable { code: "plugin.epoch".to_owned(), message });
        }
        plugins().into_iter().find(|p| p.id == id).ok_or(CatalogueError::Unknown)
    }
    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem> {
        let Ok(info) = self.info(id) else { return Vec::new() };
        let problems = check_against_schema(&info.options_schema, options).unwrap();
        problems
            .into_iter()
            .map(|p| OptionProblem {
                kind: match p.code {
                    "options.unknown" => OptionProblemKind::Unknown,
                    "options.missing" => OptionProblemKind::Missing,
                    _ => OptionProblemKind::Invalid,
                },
                pointer: p.pointer,
                message: p.message,
                help: p.suggestion.map(|near| format!("did you mean `{near}`?")),
            })
            .collect()
    }
}

fn found(text: &str, set: &[&str]) -> Checked {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    check(text, "test.toml", &Plugins, &set)
}

fn codes(checked: &Checked) -> Vec<String> {
    checked.diagnostics.iter().map(|d| d.code.to_string()).collect()
}

/// The text that a diagnostic points at, and its line.
fn pointed_text<'a>(checked: &'a Checked, d: &Diagnostic) -> (&'a str, u32) {
    let label = d.primary().unwrap();
    let file = checked.sources.get(label.source).unwrap();
    (&file.text[label.span.range()], file.line_column(label.span.start).line)
}

const MISTAKES: &str = include_str!("fixtures/mistakes.toml");
const SCALING: &str = include_str!("fixtures/mistakes-scaling.toml");

/// Exactly these findings: code, the beginning of the text pointed at, its line, and a word of the help.
fn expect(checked: &Checked, wanted: &[(&str, &str, u32, &str)]) {
    let got: Vec<(String, &str, u32)> = checked
        .diagnostics
        .iter()
        .map(|d| (d.code.to_string(), pointed_text(checked, d).0, pointed_text(checked, d).1))
        .collect();
    for (code, text, at, help) in wanted {
        let hit = checked.diagnostics.iter().find(|d| {
            let (found, line) = pointed_text(checked, d);
            d.code == *code && line == *at && found.starts_with(text)
        });
        let Some(hit) = hit else { panic!("no {code} at {text:?} in line {at}; found {got:#?}") };
        assert!(help.is_empty() || hit.help.iter().any(|h| h.contains(help)), "{code}: {:?}", hit.help);
    }
    assert_eq!(got.len(), wanted.len(), "{got:#?}");
}

#[test]
fn one_file_many_mistakes_each_at_its_place() {
    let checked = found(MISTAKES, &[]);
    assert!(checked.pipeline.is_none());
    let line = |needle: &str| MISTAKES.lines().position(|l| l.contains(needle)).unwrap() as u32 + 1;
    let nth_stage = |n: usize| {
        let lines = MISTAKES.lines().enumerate().filter(|(_, l)| *l == "[[stage]]");
        lines.map(|(i, _)| i as u32 + 1).nth(n).unwrap()
    };
    // Code, the text pointed at, its line, and a word of the help.
    let wanted = [
        ("pipeline.schema", "2", 1, "schema = 1"),
        ("pipeline.unknown-key", "seeed", 2, "`seed`"),
        ("pipeline.range", "-1", 3, ""),
        ("pipeline.value", "\"everything\"", 4, "`environment`"),
        ("pipeline.type", "\"yes\"", line("domain = \"yes\""), ""),
        ("pipeline.range", "5000", line("jobs"), ""),
        ("pipeline.unknown-option", "temperture", line("temperture"), "`temperature`"),
        ("pipeline.literal-secret", "\"***************************", line("sk-"), "OPENAI_API_KEY"),
        ("pipeline.range", "0.0", line("top_p"), ""),
        ("pipeline.unused-llm", "spare", line("[llm.spare]"), "`roles`"),
        ("pipeline.plugin-kind", "\"translator-direct\"", line("[llm.spare]") + 1, "provider-openai"),
        ("pipeline.missing-field", "third", line("[llm.third]"), "model = "),
        ("pipeline.unused-llm", "third", line("[llm.third]"), ""),
        ("pipeline.option", "5", line("base_url"), ""),
        ("pipeline.secret-name", "\"not a name\"", line("not a name"), "OPENAI_API_KEY"),
        ("pipeline.unknown-stage", "\"trnaslate\"", line("trnaslate"), "`translate`"),
        ("pipeline.unknown-plugin", "\"translator-direkt\"", line("direkt"), "`translator-direct`"),
        ("pipeline.range", "0", line("n = 0"), ""),
        ("pipeline.unknown-llm", "\"mian\"", line("mian"), "`main`"),
        ("pipeline.value", "\"all\"", line("fixes"), "`none`, `safe`"),
        ("pipeline.duplicate-label", "\"problem\"", nth_stage(2) + 2, ""),
        ("pipeline.missing-role", "{ wirter = \"main\" }", line("wirter"), "writer = \"main\""),
        ("pipeline.unknown-role", "wirter", line("wirter"), "`writer`"),
        ("pipeline.option", "\"problme\"", line("problme"), "`problem`"),
        ("pipeline.unknown-option", "modee", line("modee"), "`mode`"),
        ("pipeline.unknown-stage-key", "lable", line("lable"), "`label`"),
        ("pipeline.label", "\"Bad Label\"", line("Bad Label"), "lower-case"),
        ("pipeline.no-environment", "\"verifier-val\"", line("Bad Label") + 1, "[environment]"),
        ("pipeline.missing-option", "[[stage]]", nth_stage(4), ""),
        ("pipeline.label", "\"\"", line("label = \"\""), "lower-case"),
        ("pipeline.missing-field", "[[stage]]", nth_stage(5), "label = "),
        ("pipeline.plugin-unavailable", "\"broken-plugin\"", line("broken-plugin"), "plugin.epoch"),
        ("pipeline.metric-form", "\"score\"", line("by = \"score\""), "LABEL.NAME"),
        ("pipeline.unknown-label", "\"nowhere.score\"", line("nowhere"), ""),
        ("pipeline.range", "0", line("keep"), ""),
        ("pipeline.group-by", "\"nothing\"", line("nothing"), "`problem`"),
        ("pipeline.label-order", "\"late.score\"", line("late.score"), "before this one"),
        ("pipeline.unknown-metric", "\"late.scroe\"", line("scroe"), "`score`"),
        ("pipeline.unknown-stage-key", "laed", line("laed"), "`lead`"),
        ("pipeline.missing-field", "[[stage]]", nth_stage(12), "rounds = 4"),
        ("pipeline.round-metric", "\"late.score\"", line("label = \"rounds\"") + 1, "behind"),
        ("pipeline.value", "\"best\"", line("\"best\""), "`best-so-far`"),
        ("pipeline.value", "\"first\"", line("keep = \"first\""), "`last`"),
        ("pipeline.value", "\"plan\"", line("forget"), "`domain`"),
        ("pipeline.duplicate-label", "\"late\"", line("label = \"rounds\"") + 7, ""),
        ("pipeline.type", "\"yes\"", line("measure = \"yes\""), ""),
        ("pipeline.label-order", "\"again\"", line("\"nobody\""), "before this one"),
        ("pipeline.unknown-label", "\"spread\"", line("\"nobody\""), ""),
        ("pipeline.unknown-label", "\"nobody\"", line("\"nobody\""), ""),
        ("pipeline.value", "\"plan\"", line("only_without"), "`problem`"),
        ("pipeline.nested-round", "\"refine\"", line("label = \"inner\"") - 1, "beside"),
        ("pipeline.round", "[[stage]]", nth_stage(13), "do = \"plan\""),
        ("pipeline.range", "0", line("rounds = 0"), ""),
        ("pipeline.round-metric", "\"judge.score\"", line("judge.score"), "`again`"),
        ("pipeline.round", "[[stage.round]]", line("judge.score") + 1, "do = \"translate\""),
        ("pipeline.duplicate-label", "\"again\"", line("judge.score") + 3, ""),
        ("pipeline.missing-field", "[[stage]]", nth_stage(14), "rounds = 4"),
        ("pipeline.unknown-label", "\"unheard.score\"", line("unheard"), ""),
        ("pipeline.type", "4", line("round = 4"), "[[stage.round]]"),
        ("pipeline.fan-out", "[[stage]]", nth_stage(15), "keep one"),
    ];
    expect(&checked, &wanted);
    let distinct: BTreeSet<&str> = wanted.iter().map(|w| w.0).collect();
    assert!(distinct.len() >= 15, "{}", distinct.len());
    // In the order of the text.
    assert!(checked.diagnostics.is_sorted_by_key(|d| d.primary().map(|l| l.span)));
}

#[test]
fn whether_predicates_are_given_is_a_question_of_actions_in_words() {
    let with = |given: &str| {
        let text = GOOD.replace("[given]\ndomain = true", &format!("[given]\n{given}"));
        let codes: Vec<String> = found(&text, &[]).diagnostics.iter().map(|d| d.code.to_string()).collect();
        codes
    };
    assert!(with("actions = \"base\"\npredicates = false").is_empty());
    assert!(with("actions = \"base\"\npredicates = true").is_empty());
    assert_eq!(with("predicates = false"), ["pipeline.predicates"], "there are no actions in words");
    assert_eq!(with("actions = \"base\"\ndomain = true\npredicates = false"), ["pipeline.predicates"]);
}

#[test]
fn what_scales_is_checked_as_closely() {
    let checked = found(SCALING, &[]);
    let line = |needle: &str| SCALING.lines().position(|l| l.contains(needle)).unwrap() as u32 + 1;
    let (critique, behind) = (line("[\"critique\", \"also\""), line("[\"update\", \"critique\""));
    let wanted = [
        ("pipeline.nothing-given", "false", line("text = false"), "problem = true"),
        ("pipeline.label-order", "\"plan\"", line("feedback = [\"plan\"]"), "before this one"),
        ("pipeline.range", "0", line("n = 0"), ""),
        ("pipeline.label-order", "\"plan\"", line("\"nobody\""), ""),
        ("pipeline.unknown-label", "\"nobody\"", line("\"nobody\""), "`domain`"),
        ("pipeline.unheard", "[\"plan\"", line("\"nobody\""), "asks a model"),
        ("pipeline.label-order", "\"best\"", line("[\"plan\", \"best\"]"), ""),
        ("pipeline.unheard", "[\"plan\"", line("[\"plan\", \"best\"]"), ""),
        ("pipeline.unknown-metric", "\"candidate.mean_log", line("loglikelihood"), "`mean_log_likelihood`"),
        ("pipeline.unknown-metric", "\"pddl.scroe\"", line("loglikelihood"), "`score`"),
        ("pipeline.otherwise", "\"candidate.log_likelihood\"", line("loglikelihood"), "another metric"),
        ("pipeline.type", "4", line("otherwise = 4"), ""),
        ("pipeline.missing-field", "[[stage]]", line("\"no-metric\"") - 2, "keep = \"last\""),
        ("pipeline.round", "[[stage]]", line("\"no-metric\"") - 2, "stop = \"never\""),
        ("pipeline.value", "\"sometimes\"", line("sometimes"), "`accepted`, `never`"),
        ("pipeline.round", "[[stage.round]]", line("\"second\"") - 2, "keep one"),
        ("pipeline.missing-field", "\"lowest\"", line("\"lowest\""), "take `order` out"),
        ("pipeline.missing-field", "\"best-so-far\"", line("best-so-far"), "by = "),
        ("pipeline.round", "[[stage.round]]", line("\"early\"") - 2, "behind"),
        ("pipeline.round", "[[stage.round]]", line("\"many\"") - 2, "behind"),
        ("pipeline.unheard", "[\"critique\"", critique, ""),
        ("pipeline.label-order", "\"critique\"", critique, "an earlier stage"),
        ("pipeline.label-order", "\"also\"", critique, ""),
        ("pipeline.unheard", "[\"update\"", behind, ""),
        ("pipeline.label-order", "\"after\"", behind, ""),
        ("pipeline.label-order", "\"behind\"", behind, ""),
        ("pipeline.round-metric", "\"look.score\"", line("look.score"), "keep = \"last\""),
        ("pipeline.unheard", "[\"look\"]", line("[\"look\"]"), ""),
        ("pipeline.round", "[[stage.round]]", line("\"twice\"") - 2, "keep one"),
        ("pipeline.unheard", "[\"again\"]", line("[\"again\"]"), ""),
        ("pipeline.round", "[[stage.round]]", line("\"same\"") - 2, "`feedback`"),
    ];
    expect(&checked, &wanted);
}

const GOOD: &str = r#"
schema = 1
about = "an example"
[given]
domain = true
[llm.main]
use = "provider-openai"
model = "m"
temperature = 0
[environment]
use = "environment-pddl"
[[stage]]
do = "translate"
label = "problem"
use = "translator-direct"
n = 5
roles = { writer = "main" }
options = { mode = "problem" }
[[stage]]
do = "verify"
label = "ew"
use = "verifier-val"
options = { against = "environment" }
[[stage]]
do = "select"
by = "ew.score"
group_by = "problem"
[[stage]]
do = "plan"
label = "plan"
use = "planner-classical"
limits = { time_s = 30, memory_mb = 512 }
[[stage]]
do = "select"
by = "plan.cost"
order = "lowest"
[[stage]]
do = "select"
by = "candidate.mean_log_likelihood"
otherwise = ["candidate.log_likelihood", "ew.score"]
[[stage]]
do = "select"
by = "candidate.log_likelihood"
otherwise = "plan.steps"
"#;

const IVML: &str = r#"
schema = 1
[given]
text = false
problem = true
[llm.main]
use = "provider-openai"
model = "m"
[[stage]]
do = "plan"
label = "plan"
use = "planner-classical"
n = 8
[[stage]]
do = "refine"
label = "ivml"
rounds = 5
keep = "last"
stop = "never"
[[stage.round]]
do = "verify"
label = "critique"
use = "verifier-val"
feedback = ["plan", "update", "pddl"]
[[stage.round]]
do = "translate"
label = "update"
use = "translator-direct"
roles = { writer = "main" }
feedback = ["critique"]
[[stage.round]]
do = "verify"
label = "pddl"
use = "verifier-val"
[[stage]]
do = "refine"
label = "self-critique"
rounds = 2
keep = "last"
[[stage.round]]
do = "verify"
label = "plan-critique"
use = "verifier-val"
[[stage.round]]
do = "plan"
label = "again"
use = "planner-classical"
feedback = ["plan-critique", "again"]
"#;

#[test]
fn critique_first_and_plans_as_children_read_as_written() {
    let checked = found(IVML, &[]);
    assert_eq!(codes(&checked), ["pipeline.unheard", "pipeline.unheard"], "{:#?}", checked.diagnostics);
    let config = checked.pipeline.unwrap().config;
    assert!(!config.given.text && config.given.problem && config.given.texts() == Texts::Optional);
    let Some(Stage::Refine(ivml)) = config.stage("ivml") else { panic!("{config:?}") };
    assert_eq!((ivml.writer(), ivml.stop, ivml.by.as_str()), (Some(1), StopRounds::Never, ""));
    let Some(Stage::Refine(plans)) = config.stage("self-critique") else { panic!("{config:?}") };
    assert_eq!((plans.writer(), plans.stop), (Some(1), StopRounds::Accepted));
    let Some(Stage::Plan(plan)) = config.stage("plan") else { panic!("{config:?}") };
    assert!(plan.n == 8 && plan.makes_children() && !plan.rewrites());
    let json = serde_json::to_value(&config).unwrap();
    assert_eq!((schema_problems(&json), schema_problems(&toml::from_str(IVML).unwrap())), (vec![], vec![]));
    assert_eq!(serde_json::from_value::<Pipeline>(json).unwrap(), config);
}

#[test]
fn a_good_file_has_nothing_to_say_and_reads_as_written() {
    let checked = found(GOOD, &[]);
    assert_eq!(codes(&checked), Vec::<String>::new());
    let pipeline = checked.pipeline.unwrap();
    let labels: Vec<&str> = pipeline.config.stages.iter().map(Stage::label).collect();
    assert_eq!(labels, ["problem", "ew", "select-3", "plan", "select-5", "select-6", "select-7"]);
    assert!(pipeline.config.given.domain && pipeline.config.given.gives_own_example());
    assert_eq!(pipeline.config.llm["main"].settings["temperature"], json!(0));
    match &pipeline.config.stages[3] {
        Stage::Plan(plan) => assert_eq!((plan.limits.time_s, plan.limits.memory_mb), (Some(30.0), Some(512))),
        other => panic!("{other:?}"),
    }
    let otherwise = |index: usize| match &pipeline.config.stages[index] {
        Stage::Select(select) => select.otherwise.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((otherwise(5).len(), otherwise(6)), (2, vec!["plan.steps".to_owned()]));
    // The typed form is what the schema describes, and reads back.
    let json = serde_json::to_value(&pipeline.config).unwrap();
    assert_eq!(schema_problems(&json), []);
    assert_eq!(serde_json::from_value::<Pipeline>(json).unwrap(), pipeline.config);
    // An editor sees the file as it was written.
    let written: serde_json::Value = toml::from_str(GOOD).unwrap();
    assert_eq!(schema_problems(&written), []);
    assert_ne!(schema_problems(&toml::from_str(MISTAKES).unwrap()), []);
}

const ROUNDS: &str = r#"
schema = 1
[llm.main]
use = "provider-openai"
model = "m"
[[stage]]
do = "refine"
label = "refine"
rounds = 4
by = "judge.score"
continue_from = "best-so-far"
keep = "last"
order = "lowest"
forget = ["domain", "problem", "conversation"]
[[stage.round]]
do = "translate"
label = "edit"
use = "translator-direct"
n = 10
roles = { writer = "main" }
feedback = ["edit", "judge"]
only_without = "problem"
[[stage.round]]
do = "verify"
label = "judge"
use = "verifier-val"
[[stage.round]]
do = "verify"
label = "figures"
use = "verifier-val"
measure = true
[[stage.round]]
do = "select"
by = "judge.score"
group_by = "edit"
[[stage]]
do = "select"
by = "judge.score"
group_by = "edit"
[[stage]]
do = "fan_out"
label = "others"
lead = "p02"
[[stage]]
do = "plan"
label = "plan"
use = "planner-classical"
"#;

#[test]
fn rounds_and_fan_out_read_as_written() {
    let checked = found(ROUNDS, &[]);
    assert_eq!(codes(&checked), Vec::<String>::new(), "{:#?}", checked.diagnostics);
    let config = checked.pipeline.unwrap().config;
    let labels: Vec<&str> = config.all_stages().map(Stage::label).collect();
    assert_eq!(labels, ["refine", "edit", "judge", "figures", "select-1-4", "select-2", "others", "plan"]);
    let Some(Stage::Refine(refine)) = config.stage("refine") else { panic!("{config:?}") };
    assert_eq!(
        (refine.rounds, refine.continue_from, refine.keep),
        (4, ContinueFrom::BestSoFar, KeepRound::Last)
    );
    assert_eq!(refine.forget, [Forget::Domain, Forget::Problem, Forget::Conversation]);
    let json = serde_json::to_value(&config).unwrap();
    assert_eq!((schema_problems(&json), schema_problems(&toml::from_str(ROUNDS).unwrap())), (vec![], vec![]));
    assert_eq!(serde_json::from_value::<Pipeline>(json).unwrap(), config);
    let nested =
        ROUNDS.replace("do = \"verify\"\nlabel = \"figures\"", "do = \"fan_out\"\nlabel = \"figures\"");
    assert_ne!(schema_problems(&toml::from_str(&nested).unwrap()), []);
    // Keys of a round are set like any other.
    let set = found(ROUNDS, &["stage.refine.round.edit.n=3"]).pipeline.unwrap().config;
    assert!(matches!(set.stage("edit"), Some(Stage::Translate(edit)) if edit.n == 3));
    // A fan-out behind which nothing is judged.
    let unjudged = ROUNDS.split("[[stage]]\ndo = \"plan\"").next().unwrap();
    assert_eq!(codes(&found(unjudged, &[])), ["pipeline.fan-out"]);
}

#[test]
fn another_provider_is_named_without_the_options_of_the_one_before() {
    let set = ["llm.main.base_url=http://127.0.0.1:1/v1", "llm.main.use=provider-openai"];
    let file =
        GOOD.replacen("[llm.main]", "[llm.main]\ntimeout_s = 7\nprice = { prompt = 1.0 }\nmax_calls = 9", 1);
    let checked = found(&file, &set);
    assert_eq!(codes(&checked), Vec::<String>::new());
    let table = &checked.pipeline.unwrap().config.llm["main"].settings;
    assert_eq!((&table["base_url"], &table["max_calls"]), (&json!("http://127.0.0.1:1/v1"), &json!(9)));
    assert_eq!((table.get("timeout_s"), table.get("price")), (None, None));
    // Also where the file has the key that an argument sets.
    let file = file.replacen("timeout_s = 7", "timeout_s = 7\nproxy = \"http://127.0.0.1:2\"", 1);
    let checked = found(&file, &["llm.main.proxy=http://127.0.0.1:3", set[0], set[1]]);
    let table = &checked.pipeline.unwrap().config.llm["main"].settings;
    assert_eq!((&table["proxy"], table.get("timeout_s")), (&json!("http://127.0.0.1:3"), None));
}

#[test]
fn overrides_change_keys_and_their_mistakes_have_places() {
    let good = found(
        GOOD,
        &[
            "llm.main.model=other",
            "stage.problem.n=7",
            "stage.0.options.mode=both",
            "seed=3",
            "limits.jobs = 4",
            "llm.main.stop=[\"a\", \"b\"]",
            "llm.main.base_url=http://127.0.0.1:8081/v1",
        ],
    );
    assert_eq!(codes(&good), Vec::<String>::new());
    let pipeline = good.pipeline.unwrap();
    assert_eq!(pipeline.config.llm["main"].settings["model"], json!("other"));
    assert_eq!(pipeline.config.llm["main"].settings["stop"], json!(["a", "b"]));
    assert_eq!(pipeline.config.llm["main"].settings["base_url"], json!("http://127.0.0.1:8081/v1"));
    assert_eq!((pipeline.config.seed, pipeline.config.limits.jobs), (3, Some(4)));
    match &pipeline.config.stages[0] {
        Stage::Translate(stage) => assert_eq!((stage.n, &stage.options["mode"]), (7, &json!("both"))),
        other => panic!("{other:?}"),
    }
    assert_eq!(pipeline.overrides[1], Override { key: "stage.problem.n".into(), value: json!(7) });
    assert_eq!(pipeline.source, GOOD);

    let bad = [
        ("nonsense", "pipeline.override", "nonsense"),
        ("stage.porblem.n=1", "pipeline.override", "porblem"),
        ("stage.17.n=1", "pipeline.override", "17"),
        ("llm..model=1", "pipeline.override", ""),
        ("llm.main.model.x=1", "pipeline.override", "x"),
        ("stage.problem.n=many", "pipeline.type", "many"),
        ("stage.problem.m=1", "pipeline.unknown-stage-key", "m"),
        ("stage.problem.options.mode=none", "pipeline.option", "none"),
        ("llm.main.api_key_env=sk-abcdefghijklmnop0123", "pipeline.literal-secret", "***"),
    ];
    for (argument, code, text) in bad {
        let checked = found(GOOD, &[argument]);
        assert_eq!(codes(&checked), [code], "{argument}");
        let (pointed, _) = pointed_text(&checked, &checked.diagnostics[0]);
        assert!(pointed.starts_with(text), "{argument}: {pointed}");
        assert!(checked.pipeline.is_none());
    }
    let near = found(GOOD, &["stage.porblem.n=1"]);
    assert!(near.diagnostics[0].help[0].contains("`problem`"));
}

#[test]
fn a_key_on_a_line_with_a_syntax_error_is_hidden() {
    for line in [
        "api_key_env = sk-abcdefghijklmnop0123",
        "api_key = \"sk-abcdefghijklmnop0123",
        "headers = { X-Team = \"sk-abcdefghijklmnop0123\" \"\" }",
    ] {
        let checked = found(&GOOD.replacen("[llm.main]", &format!("[llm.main]\n{line}"), 1), &[]);
        assert!(codes(&checked).contains(&"pipeline.syntax".to_owned()), "{line}");
        let text = &checked.sources.get(SourceId(0)).unwrap().text;
        assert!(!text.contains("abcdefgh") && text.contains("***"), "{text}");
    }
}

#[test]
fn syntax_errors_are_all_found_and_the_rest_is_checked_without_echoes() {
    let text = GOOD
        .replace("n = 5", "n = ")
        .replace("group_by = \"problem\"", "group_by = \"problem")
        .replace("label = \"plan\"", "label = \"plan\"\nspeling = 1");
    let checked = found(&text, &[]);
    let codes = codes(&checked);
    assert_eq!(codes.iter().filter(|c| *c == "pipeline.syntax").count(), 2, "{codes:?}");
    assert!(codes.contains(&"pipeline.unknown-stage-key".to_owned()), "{codes:?}");
    assert_eq!(codes.len(), 3, "{:#?}", checked.diagnostics);
}

#[test]
fn no_message_and_no_source_shows_a_key() {
    let checked = found(MISTAKES, &["llm.main.x=sk-qqqqqqqqqqqqqqqqqqqqqqq"]);
    let all = format!("{:?} {:?}", checked.diagnostics, checked.sources);
    assert!(!all.contains("abcdefghijklmnop0123456789") && !all.contains("qqqqqqq"));
    // Only the key is hidden.
    assert!(
        checked.sources.get(planforge_diagnostics::SourceId(0)).unwrap().text.contains("temperture = 0.5")
    );
}

#[test]
fn empty_binary_and_huge_files_are_one_clear_diagnostic_each() {
    assert_eq!(codes(&found("", &[])), ["pipeline.missing-field", "pipeline.no-stages"]);
    assert_eq!(codes(&found(&"x".repeat(MAX_PIPELINE_BYTES + 1), &[])), ["pipeline.too-large"]);
    let deep = format!("x = {}", "[".repeat(100_000));
    assert!(codes(&found(&deep, &[])).iter().all(|c| c.starts_with("pipeline.")));
    assert!(found("\u{0}\u{1}\u{2}", &[]).pipeline.is_none());
}

/// Every code of the pipeline's checks is given by some text.
#[test]
fn every_code_of_the_checker_is_triggered() {
    let mut seen: BTreeSet<String> = codes(&found(MISTAKES, &[])).into_iter().collect();
    seen.extend(codes(&found(SCALING, &[])));
    seen.extend(codes(&found(&GOOD.replace("[given]", "[given]\npredicates = false"), &[])));
    let edit = "[[stage]]\ndo = \"translate\"\nlabel = \"e\"\nuse = \"translator-direct\"\noptions = { mode = \"edit\" }\n";
    seen.extend(codes(&found(&format!("schema = 1\n{edit}"), &[])));
    seen.extend(codes(&found("", &["x"])));
    seen.extend(codes(&found("x = ", &[])));
    seen.extend(codes(&found(&"x".repeat(MAX_PIPELINE_BYTES + 1), &[])));
    // Given by the runner, the preparation, the suites, roles of several models, capabilities of providers, budget stages and
    // [obfuscate]; their tests trigger them.
    let elsewhere = |code: &str| {
        code.starts_with("pipeline.budget")
            || [
                "pipeline.assessment-count",
                "pipeline.broken-problem",
                "pipeline.cancelled",
                "pipeline.copies",
                "pipeline.environment-leak",
                "pipeline.file",
                "pipeline.lead",
                "pipeline.mixed-likelihood",
                "pipeline.no-grammar",
                "pipeline.no-instance",
                "pipeline.no-logprobs",
                "pipeline.obfuscate",
                "pipeline.replay-miss",
                "pipeline.role-models",
                "pipeline.sample-count",
                "pipeline.suite",
                "pipeline.unsupported-setting",
            ]
            .contains(&code)
    };
    for code in CODES.iter().filter(|code| code.code.starts_with("pipeline.")) {
        assert!(seen.contains(code.code) || elsewhere(code.code), "{} is never given", code.code);
    }
    for code in &seen {
        assert!(CODES.iter().any(|c| c.code == code), "{code} is not explained");
    }
    assert!(CODES.is_sorted_by_key(|c| c.code));
    assert!(CODES.windows(2).all(|w| w[0].code != w[1].code));
    for code in CODES {
        assert!(!code.title.is_empty() && code.explanation.len() > 20, "{}", code.code);
    }
}

#[test]
fn the_schema_in_the_repository_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../configs/schema/pipeline.schema.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let fresh = format!("{}\n", serde_json::to_string_pretty(&pipeline_schema()).unwrap());
    assert!(
        committed == fresh,
        "configs/schema/pipeline.schema.json is out of date: planforge check --schema > configs/schema/pipeline.schema.json"
    );
}

#[test]
fn severities_are_errors_but_for_the_unused_model() {
    for d in found(MISTAKES, &[]).diagnostics {
        let wanted = if d.code == "pipeline.unused-llm" { Severity::Warning } else { Severity::Error };
        assert_eq!(d.severity, wanted, "{}", d.code);
    }
}
