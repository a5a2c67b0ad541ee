//! The effects of every option of pipeline, matrix, suite and configuration files beyond the result of a run, and the consent
//! that each effect needs. The check of consent reads this table, the reference page prints it, and a test fails if an option
//! has no row.

use planforge_contract::{CommandOption, PluginInfo, PluginKind};

/// An effect of an option beyond the result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Names the server that gets the requests, with texts of the tasks and, if one is named, a key.
    NamesServer,
    /// Names a proxy, which gets all requests.
    NamesProxy,
    /// Names environment variables whose values are sent.
    NamesSecret,
    /// Names certificate authorities that are trusted: their owner can answer for the server, and read what is sent.
    TrustsAuthority,
    /// Names a program that is started.
    StartsProgram,
    /// Chooses whether the plugin's usual program is started, and which.
    StartsUsualProgram,
    /// Reaches a program that is started.
    ReachesProgram,
    /// Is sent to the server unchanged.
    IsSent,
    /// Names files that are read, and may be sent in requests.
    ReadsFiles,
    /// Sets keys of a pipeline file.
    SetsOptions,
    /// Names a plugin.
    NamesPlugin,
    /// Raises the number or the price of requests.
    Spends,
    /// Limits the number or the price of requests.
    LimitsSpending,
    /// Changes the rate of requests, not their number.
    ChangesRate,
    /// States prices, which caps in US dollars count with.
    StatesPrice,
    /// Gives consent.
    GivesConsent,
    /// Changes only the result, or the time and memory of its computation.
    None,
}

impl Effect {
    /// The effect in a sentence, for the reference page.
    pub fn text(self) -> &'static str {
        match self {
            Self::NamesServer => "names the server that gets the requests, and the key if one is named",
            Self::NamesProxy => "names a proxy, which gets all requests and the key",
            Self::NamesSecret => "names environment variables whose values are sent to the server",
            Self::TrustsAuthority => "trusts certificate authorities, whose owner can read all that is sent",
            Self::StartsProgram => "starts a program",
            Self::StartsUsualProgram => "starts the plugin's usual program",
            Self::ReachesProgram => "gives a started program arguments, variables or a folder",
            Self::IsSent => "is sent to the server unchanged",
            Self::ReadsFiles => "reads files, whose texts may be sent in requests",
            Self::SetsOptions => "sets options of a pipeline file",
            Self::NamesPlugin => "chooses a plugin",
            Self::Spends => "makes requests more, longer or dearer",
            Self::LimitsSpending => "limits the cost of requests",
            Self::StatesPrice => "states the prices that caps in US dollars count with",
            Self::ChangesRate => "changes the rate of requests only",
            Self::GivesConsent => "gives consent",
            Self::None => "changes only the result, or the time and memory of its computation",
        }
    }

    /// The consent that covers the effect, for the reference page.
    pub fn consent(self) -> &'static str {
        match self {
            Self::NamesServer => {
                "`--allow-host`; not needed for the service that the key is for, and without a key not for loopback addresses and the provider's default"
            }
            Self::NamesProxy => "`--allow-host`, also for loopback addresses and without a key",
            Self::NamesSecret => "that for the server and the proxy, for each variable",
            Self::TrustsAuthority => "`--allow-ca`, with the hash of the file",
            Self::StartsProgram | Self::ReachesProgram => {
                "`--allow-commands`; not needed for the plugin's usual program"
            }
            Self::StartsUsualProgram => {
                "none; beside a command of the file, a part of what `--allow-commands` allows"
            }
            Self::IsSent | Self::ReadsFiles => "that for the server; nothing else leaves the machine",
            Self::SetsOptions => "that for each option that is set, as if the pipeline file had it",
            Self::NamesPlugin => {
                "none: bundled plugins, and those of the user's own plugin path (`--plugin-dir`)"
            }
            Self::Spends => {
                "none beyond that for the server and its key; `--dry-run` prints the bound, and `--set llm.NAME.max_calls=N` caps it"
            }
            Self::LimitsSpending => "none: it only lowers the cost",
            Self::ChangesRate => "none: the number of requests stays the same",
            Self::GivesConsent => "none: the file is the user's own",
            Self::StatesPrice => "none: `max_calls` and `max_total_tokens` hold whatever the prices",
            Self::None => "none",
        }
    }
}

/// The owner of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionOwner {
    /// A table of a pipeline file. Keys of nested tables have the name of their type: `Stage.n`.
    Pipeline,
    /// A bundled plugin. Keys of nested tables have the name of their type: `Kinds.omission`.
    Plugin(&'static str),
    /// A matrix file of `planforge evaluate`.
    Matrix,
    /// `suite.toml`.
    Suite,
    /// `config.toml`, `allow.toml` and `prices.toml` in the user's configuration folder.
    UserFile(&'static str),
}

/// Options of one owner with the same effect.
#[derive(Debug, Clone, Copy)]
pub struct OptionRow {
    /// The file or plugin.
    pub owner: OptionOwner,
    /// Names of the options.
    pub options: &'static [&'static str],
    /// Their effect.
    pub effect: Effect,
}

const fn row(owner: OptionOwner, effect: Effect, options: &'static [&'static str]) -> OptionRow {
    OptionRow { owner, options, effect }
}

use Effect as E;
use OptionOwner::{Matrix, Pipeline, Plugin, Suite, UserFile};

/// Every option of every file.
pub const OPTION_ROWS: &[OptionRow] = &[
    // Pipeline files.
    row(Pipeline, E::NamesPlugin, &["EnvironmentTable.use", "LlmTable.use", "RoundStage.use", "Stage.use"]),
    row(Pipeline, E::SetsOptions, &["EnvironmentTable.options", "RoundStage.options", "Stage.options"]),
    row(Pipeline, E::ReadsFiles, &["GivenSpec.action_examples", "GivenSpec.example"]),
    row(Pipeline, E::IsSent, &["LlmTable.extra_body", "LlmTable.stop"]),
    row(
        Pipeline,
        E::Spends,
        &[
            "LlmTable.logprobs",
            "LlmTable.max_attempts",
            "LlmTable.max_tokens",
            "LlmTable.model",
            "LlmTable.n_per_request",
            "RoundStage.apart",
            "RoundStage.n",
            "RoundStage.resample",
            "RoundStage.roles",
            "Stage.apart",
            "Stage.n",
            "Stage.resample",
            "Stage.roles",
            "Stage.rounds",
            "Stage.width",
        ],
    ),
    row(
        Pipeline,
        E::LimitsSpending,
        &[
            "BudgetLimits.calls",
            "BudgetLimits.money",
            "BudgetLimits.seconds",
            "BudgetLimits.tokens",
            "LlmTable.max_calls",
            "LlmTable.max_cost_usd",
            "LlmTable.max_total_tokens",
            "Stage.budget",
        ],
    ),
    row(
        Pipeline,
        E::ChangesRate,
        &[
            "LlmTable.max_concurrency",
            "LlmTable.requests_per_minute",
            "LlmTable.rest_after",
            "LlmTable.rest_s",
            "RunLimits.jobs",
        ],
    ),
    row(
        Pipeline,
        E::StatesPrice,
        &[
            "LlmTable.price",
            "Price.cache_write",
            "Price.cached",
            "Price.completion",
            "Price.prompt",
            "Price.reasoning",
        ],
    ),
    row(
        Pipeline,
        E::None,
        &[
            "EnvironmentTable.problems",
            "GivenSpec.actions",
            "GivenSpec.domain",
            "GivenSpec.interface",
            "GivenSpec.objects",
            "GivenSpec.predicates",
            "GivenSpec.problem",
            "GivenSpec.text",
            "LlmTable.backoff_ms",
            "LlmTable.max_backoff_ms",
            "LlmTable.seed",
            "LlmTable.temperature",
            "LlmTable.top_p",
            "ObfuscateTable.names",
            "ObfuscateTable.reorder",
            "ObfuscateTable.seed",
            "ObfuscateTable.texts",
            "ObfuscateTable.what",
            "PlanStageLimits.memory_mb",
            "PlanStageLimits.nodes",
            "PlanStageLimits.time_s",
            "RoundStage.by",
            "RoundStage.do",
            "RoundStage.feedback",
            "RoundStage.fixes",
            "RoundStage.group_by",
            "RoundStage.keep",
            "RoundStage.label",
            "RoundStage.limits",
            "RoundStage.measure",
            "RoundStage.only_without",
            "RoundStage.order",
            "RoundStage.otherwise",
            "RoundStage.plan_rejected",
            "RoundStage.required",
            "RoundStage.ties",
            "RunLimits.call_deadline_s",
            "Stage.arms",
            "Stage.by",
            "Stage.continue_from",
            "Stage.do",
            "Stage.feedback",
            "Stage.fixes",
            "Stage.forget",
            "Stage.group_by",
            "Stage.judge",
            "Stage.keep",
            "Stage.label",
            "Stage.lead",
            "Stage.limits",
            "Stage.measure",
            "Stage.only_without",
            "Stage.order",
            "Stage.otherwise",
            "Stage.plan_rejected",
            "Stage.policy",
            "Stage.range",
            "Stage.required",
            "Stage.round",
            "Stage.sample",
            "Stage.stop",
            "Stage.ties",
            "about",
            "environment",
            "feedback",
            "given",
            "limits",
            "llm",
            "obfuscate",
            "schema",
            "seed",
            "stage",
        ],
    ),
    // Providers.
    row(Plugin("provider-anthropic"), E::NamesServer, &["base_url"]),
    row(Plugin("provider-anthropic"), E::NamesProxy, &["proxy"]),
    row(Plugin("provider-anthropic"), E::NamesSecret, &["api_key_env", "headers_env"]),
    row(Plugin("provider-anthropic"), E::TrustsAuthority, &["ca_file"]),
    row(Plugin("provider-anthropic"), E::IsSent, &["headers"]),
    row(Plugin("provider-anthropic"), E::Spends, &["cache", "reasoning"]),
    row(Plugin("provider-anthropic"), E::None, &["connect_timeout_s", "max_body_mb", "timeout_s"]),
    row(Plugin("provider-batch"), E::NamesServer, &["base_url", "service"]),
    row(Plugin("provider-batch"), E::NamesSecret, &["api_key_env"]),
    row(Plugin("provider-batch"), E::Spends, &["cache", "reasoning"]),
    row(Plugin("provider-batch"), E::None, &["interface", "max_tokens_field", "omit"]),
    row(Plugin("provider-gemini"), E::NamesServer, &["base_url"]),
    row(Plugin("provider-gemini"), E::NamesProxy, &["proxy"]),
    row(Plugin("provider-gemini"), E::NamesSecret, &["api_key_env", "headers_env"]),
    row(Plugin("provider-gemini"), E::TrustsAuthority, &["ca_file"]),
    row(Plugin("provider-gemini"), E::IsSent, &["headers"]),
    row(Plugin("provider-gemini"), E::Spends, &["cache", "reasoning"]),
    row(Plugin("provider-gemini"), E::None, &["connect_timeout_s", "max_body_mb", "timeout_s"]),
    row(Plugin("provider-openai"), E::NamesServer, &["base_url"]),
    row(Plugin("provider-openai"), E::NamesProxy, &["proxy"]),
    row(Plugin("provider-openai"), E::NamesSecret, &["api_key_env", "headers_env"]),
    row(Plugin("provider-openai"), E::TrustsAuthority, &["ca_file"]),
    row(
        Plugin("provider-openai"),
        E::IsSent,
        &["api_key_header", "api_version", "headers", "organization", "project"],
    ),
    row(Plugin("provider-openai"), E::Spends, &["cache", "reasoning"]),
    row(
        Plugin("provider-openai"),
        E::None,
        &[
            "connect_timeout_s",
            "grammar",
            "interface",
            "max_body_mb",
            "max_tokens_field",
            "omit",
            "timeout_s",
        ],
    ),
    row(Plugin("provider-noisy-oracle"), E::ReadsFiles, &["suites"]),
    row(
        Plugin("provider-noisy-oracle"),
        E::None,
        &[
            "Actions.broken_text",
            "Actions.errors",
            "Actions.negated_precondition",
            "Actions.no_action",
            "Actions.synonym",
            "Actions.typed_argument",
            "Actions.wrong_arity",
            "Actions.wrong_name",
            "Actions.wrong_type",
            "Critic.answers",
            "Critic.false_findings",
            "Critic.finds",
            "Critic.prose",
            "Kinds.addition",
            "Kinds.negation",
            "Kinds.number",
            "Kinds.omission",
            "Kinds.replaced_argument",
            "Kinds.retarget",
            "Kinds.swapped_arguments",
            "Kinds.time",
            "Kinds.weight",
            "Likelihood.mean",
            "Likelihood.per_mistake",
            "Likelihood.spread",
            "SuiteReference.domain",
            "SuiteReference.name",
            "SuiteReference.problems",
            "actions",
            "characters_per_token",
            "critic",
            "damage",
            "error_count",
            "errors",
            "kinds",
            "likelihood",
            "predicate_argument",
            "problem_errors",
            "repair_named",
            "repair_unnamed",
        ],
    ),
    // Plugins that start programs.
    row(Plugin("environment-process"), E::StartsProgram, &["command"]),
    row(Plugin("environment-process"), E::ReachesProgram, &["cwd", "inherit", "set"]),
    row(
        Plugin("environment-process"),
        E::None,
        &[
            "answer_kb",
            "errors_kb",
            "max_ground_actions",
            "memory_mb",
            "processes",
            "start_timeout_s",
            "timeout_s",
        ],
    ),
    row(Plugin("planner-external"), E::StartsProgram, &["command"]),
    row(Plugin("planner-external"), E::StartsUsualProgram, &["preset"]),
    row(Plugin("planner-external"), E::ReachesProgram, &["alias", "arguments", "env", "heuristic", "search"]),
    row(
        Plugin("planner-external"),
        E::None,
        &[
            "ExitCodes.exhausted",
            "ExitCodes.memory",
            "ExitCodes.plan",
            "ExitCodes.time",
            "ExitCodes.unsolvable",
            "ExitCodes.unsupported",
            "exit_codes",
            "memory_limit_mb",
            "optimal",
            "output_limit_kb",
            "supports",
            "time_limit_s",
            "validate",
        ],
    ),
    row(Plugin("verifier-val"), E::StartsProgram, &["parser_command", "val_command"]),
    row(Plugin("verifier-val"), E::StartsUsualProgram, &["backend", "parser"]),
    row(
        Plugin("verifier-val"),
        E::None,
        &[
            "JudgingLimits.memory_mb",
            "JudgingLimits.time_s",
            "against",
            "blame",
            "claims",
            "critic",
            "limits",
            "optimal_nodes",
            "val_time_limit_s",
            "what",
        ],
    ),
    // Plugins that ask models.
    row(Plugin("planner-llm"), E::IsSent, &["system"]),
    row(Plugin("planner-llm"), E::None, &["chain_of_thought", "check_steps", "example", "rules"]),
    row(Plugin("translator-actions"), E::IsSent, &["system"]),
    row(Plugin("translator-actions"), E::Spends, &["examples", "logprobs", "passes"]),
    row(Plugin("translator-actions"), E::None, &["earlier", "grammar", "mode", "only"]),
    row(Plugin("translator-asp"), E::IsSent, &["system"]),
    row(Plugin("translator-asp"), E::Spends, &["logprobs", "repair_rounds"]),
    row(
        Plugin("translator-asp"),
        E::None,
        &[
            "Limits.answer_kb",
            "Limits.choices",
            "Limits.memory_mb",
            "Limits.program_kb",
            "Limits.time_s",
            "grammar",
            "limits",
            "mode",
            "models",
        ],
    ),
    row(Plugin("translator-describe"), E::IsSent, &["system"]),
    row(Plugin("translator-describe"), E::Spends, &["examples"]),
    row(Plugin("translator-describe"), E::None, &["mode"]),
    row(Plugin("translator-direct"), E::IsSent, &["system"]),
    row(Plugin("translator-direct"), E::Spends, &["logprobs"]),
    row(Plugin("translator-direct"), E::None, &["example", "grammar", "mode", "reason", "template"]),
    row(Plugin("translator-edit"), E::IsSent, &["system"]),
    row(Plugin("translator-edit"), E::Spends, &["logprobs"]),
    row(Plugin("translator-edit"), E::None, &["example", "grammar", "problem", "reason"]),
    row(Plugin("translator-reading"), E::IsSent, &["system"]),
    row(Plugin("translator-reading"), E::None, &["styles"]),
    row(Plugin("translator-thought"), E::IsSent, &["system"]),
    row(Plugin("translator-thought"), E::Spends, &["logprobs"]),
    row(Plugin("translator-thought"), E::None, &["artefact", "form", "mode", "template"]),
    row(Plugin("verifier-clusters"), E::IsSent, &["system"]),
    row(Plugin("verifier-clusters"), E::Spends, &["questions"]),
    row(
        Plugin("verifier-clusters"),
        E::None,
        &["JudgingLimits.memory_mb", "JudgingLimits.time_s", "limits", "max_nodes", "max_states"],
    ),
    row(Plugin("verifier-critique"), E::IsSent, &["system"]),
    row(Plugin("verifier-critique"), E::None, &["evidence", "form", "history", "of"]),
    row(Plugin("verifier-points"), E::IsSent, &["system"]),
    // Plugins that compute.
    row(
        Plugin("environment-pddl"),
        E::None,
        &[
            "JudgingLimits.memory_mb",
            "JudgingLimits.time_s",
            "Sentences.no",
            "Sentences.yes",
            "limits",
            "model",
            "sentences",
        ],
    ),
    row(
        Plugin("planner-classical"),
        E::None,
        &[
            "improve_s",
            "memory_limit_mb",
            "node_limit",
            "quality",
            "report_plans",
            "search",
            "semantics",
            "threads",
            "time_limit_s",
        ],
    ),
    row(
        Plugin("verifier-classes"),
        E::None,
        &[
            "JudgingLimits.memory_mb",
            "JudgingLimits.time_s",
            "bad_precondition",
            "behaviour",
            "exact",
            "k",
            "limits",
            "max_nodes",
            "max_states",
            "rule",
            "semantics",
            "whole",
        ],
    ),
    row(
        Plugin("verifier-equivalence"),
        E::None,
        &[
            "JudgingLimits.memory_mb",
            "JudgingLimits.time_s",
            "interface",
            "k",
            "level",
            "limits",
            "max_choices",
            "max_nodes",
            "max_states",
            "rule",
            "what",
        ],
    ),
    row(
        Plugin("verifier-ew"),
        E::None,
        &[
            "JudgingLimits.memory_mb",
            "JudgingLimits.time_s",
            "blame",
            "confidence",
            "dead_ends",
            "exact_memory_mb",
            "exact_pairs",
            "failing_walks",
            "form",
            "interface",
            "limits",
            "mode",
            "policy",
            "racing",
            "ratings",
            "semantics",
            "t_max",
            "walks",
        ],
    ),
    // Other files.
    row(Matrix, E::SetsOptions, &["matrix.models.NAME.set", "matrix.pipeline_set", "matrix.set"]),
    row(Matrix, E::ReadsFiles, &["matrix.add_ons", "matrix.pipelines", "matrix.suites"]),
    row(
        Matrix,
        E::Spends,
        &["matrix.levels", "matrix.models", "matrix.models.NAME.pipelines", "matrix.seeds", "matrix.tasks"],
    ),
    row(Matrix, E::None, &["matrix", "schema"]),
    row(Suite, E::IsSent, &["materials"]),
    row(
        Suite,
        E::None,
        &[
            "axes",
            "gaps",
            "generate",
            "generate.example",
            "generate.first",
            "generate.seed",
            "generate.tasks",
            "given",
            "given.actions",
            "given.domain",
            "given.example",
            "given.interface",
            "given.objects",
            "given.problem",
            "level",
            "licence",
            "name",
            "schema",
            "title",
            "titles",
        ],
    ),
    row(UserFile("config.toml"), E::SetsOptions, &["models"]),
    row(UserFile("allow.toml"), E::GivesConsent, &["authorities", "commands", "hosts", "keys"]),
    row(UserFile("prices.toml"), E::StatesPrice, &["price"]),
];

fn find_row(option: &str, is_owner: impl Fn(&str) -> bool) -> Option<Effect> {
    let mut rows = OPTION_ROWS.iter();
    rows.find(|row| matches!(row.owner, Plugin(id) if is_owner(id)) && row.options.contains(&option))
        .map(|row| row.effect)
}

/// The effect of an option of a plugin. A plugin of the user's plugin path has no rows: its description declares the effect of an
/// option. One with the name of an option of the bundled providers has that one's effect if the plugin is a provider and does not
/// declare it otherwise; a server, proxy or authority stays one.
pub(crate) fn effect_of(info: &PluginInfo, option: &str) -> Effect {
    let similar = || {
        let is_provider = info.kind == PluginKind::Provider;
        find_row(option, |id| is_provider && id.starts_with("provider-"))
    };
    find_row(option, |id| id == info.id).unwrap_or_else(|| match (similar(), declared_effect(info, option)) {
        (Some(effect @ (E::NamesServer | E::NamesProxy)), _)
        | (Some(effect @ E::TrustsAuthority), Some(E::ReadsFiles))
        | (_, Some(effect))
        | (Some(effect), None) => effect,
        (None, None) => E::None,
    })
}

/// The effect that the plugin's description declares.
fn declared_effect(info: &PluginInfo, option: &str) -> Option<Effect> {
    let is_in = |names: &[String]| names.iter().any(|name| name == option);
    let reaches = |command: &CommandOption| {
        let mut single = command.variables.iter().chain(&command.folder);
        is_in(&command.settings) || single.any(|name| name == option)
    };
    if is_in(&info.servers) {
        Some(E::NamesServer)
    } else if is_in(&info.secrets) {
        Some(E::NamesSecret)
    } else if info.commands.iter().any(|command| command.option == option) {
        Some(E::StartsProgram)
    } else if info.commands.iter().any(reaches) {
        Some(E::ReachesProgram)
    } else if is_in(&info.files) || is_in(&info.suites) {
        Some(E::ReadsFiles)
    } else {
        None
    }
}

/// True if the option may go into the arguments of a program that the plugin starts. Every option may, of a plugin of the user's
/// plugin path.
pub(crate) fn may_reach_program(info: &PluginInfo, option: &str) -> bool {
    let has_rows = OPTION_ROWS.iter().any(|row| matches!(row.owner, Plugin(id) if id == info.id));
    !has_rows || matches!(effect_of(info, option), E::ReachesProgram | E::StartsUsualProgram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plugin_declares_wins_over_the_row_of_a_similar_option() {
        let info: PluginInfo = serde_json::from_value(serde_json::json!({
            "id": "provider-own", "kind": "provider", "version": "1", "contract": 2, "about": "", "options_schema": {},
            "servers": ["cache", "proxy"], "secrets": ["headers"], "files": ["ca_file", "base_url", "stop"],
            "commands": [{"option": "reasoning", "settings": ["omit"]}],
        }))
        .unwrap();
        for (option, effect) in [
            ("cache", Effect::NamesServer),
            ("proxy", Effect::NamesProxy),
            ("headers", Effect::NamesSecret),
            ("ca_file", Effect::TrustsAuthority),
            ("base_url", Effect::NamesServer),
            ("stop", Effect::ReadsFiles),
            ("reasoning", Effect::StartsProgram),
            ("omit", Effect::ReachesProgram),
            ("api_key_header", Effect::IsSent),
            ("other", Effect::None),
        ] {
            assert_eq!(effect_of(&info, option), effect, "{option}");
        }
        assert!(may_reach_program(&info, "other"));
    }
}
