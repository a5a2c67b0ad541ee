//! The codes of pipeline files and of the runner, for `planforge explain`.

use planforge_diagnostics::CodeInfo;

const fn code(code: &'static str, title: &'static str, explanation: &'static str) -> CodeInfo {
    CodeInfo { code, title, explanation }
}

/// Every code that pipeline files and the runner give, in alphabetical order.
pub const CODES: &[CodeInfo] = &[
    code(
        "pipeline.assessment-count",
        "a verifier answered for the wrong number of candidates",
        "The runner asks a verifier about one candidate, or about several where the plugin judges together, and expects exactly\n\
         one assessment for each. Anything else is a fault of the plugin, counts as a failure, and says nothing about a\n\
         candidate. Report it to the plugin's author.",
    ),
    code(
        "pipeline.broken-problem",
        "a problem that no domain repairs",
        "A written problem cannot be read, has no goal, or names an object that is declared nowhere, and the rounds of the refine\n\
         stage write domains alone. The candidate does not enter the rounds; it counts as an unusable reply.\n\n\
         `resample` asks for such a problem again. With `options = { problem = true }` of `translator-edit` the rounds repair it.",
    ),
    code(
        "pipeline.budget",
        "a budget stage that cannot work",
        "do = \"budget\" samples new candidates, refines those that are there, or both, and judges all of them alike:\n\n    \
         [[stage.sample]]   # how a new candidate is made: a translate stage, or a plan stage with n above 1\n    \
         [[stage.round]]    # how one is refined once: one translate stage, or a plan stage with feedback\n    \
         [[stage.judge]]    # what judges every candidate; verify and plan stages\n\n\
         At least one judge is a plan stage or a verify stage without `measure`: the search ends where all such judges accept.",
    ),
    code(
        "pipeline.budget-limit",
        "a budget that is never spent",
        "The [stage.budget] of a budget stage states at least one of `calls`, `tokens`, `seconds` and `money`, and something in the\n\
         stage must spend it: calls, tokens and money are spent by stages that ask a model (those with `roles`).",
    ),
    code(
        "pipeline.budget-metric",
        "a metric that a budget stage cannot compare candidates by",
        "Sampled and refined candidates are compared by one metric, so it is one of a [[stage.judge]], which every candidate passes.\n\
         The policy reckons with values between 0 and 1; for other metrics say which values make a difference:\n\n    \
         by = \"pddl.errors\"\n    order = \"lowest\"\n    range = [0, 10]   # ten errors or more are all the same",
    ),
    code(
        "pipeline.budget-price",
        "a budget in money, and a model without a price",
        "The cost of a pull is computed from tokens and prices. Each model of the inner stages needs both prices, in US dollars\n\
         for a million tokens:\n\n    \
         [llm.main]\n    price = { prompt = 2.5, completion = 10.0 }\n\n\
         For a local model, choose the price; 0 is a price.",
    ),
    code(
        "pipeline.cancelled",
        "the run was interrupted",
        "No further call was started after the interrupt. Every reply until then is recorded:\n\
         `planforge run --resume RUN` continues where the run stopped and pays for nothing twice.",
    ),
    code(
        "pipeline.copies",
        "replies are copies of each other",
        "A model received the same request more than once, as for `n` samples, and some replies are identical. They\n\
         stay samples of their own, with their own places in the record, but they add nothing: the best of n copies is the best of one.\n\
         Set a temperature above 0. If a server ignores `seed` and replies from a cache, turn the cache off. If it copies a\n\
         reply n times, request single replies with `n_per_request = 1` in its [llm.NAME] table.",
    ),
    code(
        "pipeline.duplicate-label",
        "two stages have one label",
        "Labels name stages in metrics, in records and on the command line, so each is used once:\n\n    \
         [[stage]]\n    do = \"verify\"\n    label = \"plan\"      # taken if a plan stage is called so too\n\n\
         Rename one of the two.",
    ),
    code(
        "pipeline.environment-leak",
        "a verifier asked the environment and then a model",
        "The environment knows the reference, which the method is not given. Its results may reach a model only in pipelines that\n\
         declare feedback = \"environment\" at the top of the file. Without that, a verifier call that used the environment may\n\
         not send requests to a model.",
    ),
    code(
        "pipeline.fan-out",
        "a fan_out stage in the wrong place",
        "do = \"fan_out\" lets the lead task of a suite run first and starts the suite's other tasks from its survivors. A pipeline has\n\
         at most one such stage, followed by at least one verify or plan stage, which gives the verdicts of all tasks.",
    ),
    code(
        "pipeline.file",
        "a file that an option names cannot be read",
        "Some options hold the path of a file; planforge reads it and gives the plugin its text. Paths in a pipeline file are\n\
         relative to that file. The file must exist, be UTF-8 and have at most 4 MiB.",
    ),
    code(
        "pipeline.group-by",
        "group_by does not name an earlier translate stage",
        "A select stage may keep the best of each group: group_by names the translate stage whose samples make the groups.\n\n    \
         group_by = \"problem\"   # the label of a stage with do = \"translate\"\n\n\
         Without group_by all candidates of the task are one group.",
    ),
    code(
        "pipeline.label",
        "not a label",
        "A label is a lower-case letter, followed by at most 63 lower-case letters, digits, `_` or `-`. It is used in metric names\n\
         (LABEL.NAME), sample paths and --set arguments, so it holds no dot, slash or space. `candidate` is reserved:\n\
         `candidate.log_likelihood` is the candidate's own metric.",
    ),
    code(
        "pipeline.label-order",
        "a stage is named that comes later",
        "Stages run in the order of the file, so a stage can use only what earlier stages made. Move the stages, or name another. In a\n\
         round the stage that writes may name any stage; a stage that judges may name those before it, and one before the writer also\n\
         those behind the writer, which have judged the candidate in the round before.",
    ),
    code(
        "pipeline.lead",
        "the lead task left nothing to start from",
        "With do = \"fan_out\" a suite's other tasks start from the domains of the lead task. It ended without one, so\n\
         the others were not run. The verdict of the lead task gives the reason. `lead = \"p02\"` names another\n\
         lead.",
    ),
    code(
        "pipeline.literal-secret",
        "a key is written into the pipeline file",
        "Pipeline files are shared and recorded, so they hold no secrets: an option such as api_key_env holds the name of an\n\
         environment variable.\n\n    api_key_env = \"OPENAI_API_KEY\"\n\n\
         A value that looks like a key is refused anywhere in the file, and never shown. So is the value of every header that is not known\n\
         to be harmless (such as Accept or User-Agent): services carry keys in headers of any name. Name its variable instead:\n\n    \
         [llm.main.headers_env]\n    X-Goog-Api-Key = \"GEMINI_API_KEY\"\n\n\
         If the key was in a shared file, replace it.",
    ),
    code(
        "pipeline.metric-form",
        "not the name of a metric",
        "by = \"LABEL.NAME\": the label of an earlier verify stage and a metric that its plugin declares, `cost` or `steps` of an\n\
         earlier plan stage, candidate.log_likelihood or candidate.mean_log_likelihood. `planforge plugins list` shows the metrics.",
    ),
    code(
        "pipeline.missing-field",
        "a required key is missing",
        "Every pipeline has schema = 1; every stage has do; translate, verify and plan stages have label and use; a select stage\n\
         has by, and so has a refine stage unless it keeps the last round; every [llm.NAME] has use and model. The message names the key and shows a line to add.",
    ),
    code(
        "pipeline.missing-option",
        "the plugin needs an option",
        "The plugin's schema requires an option that the stage's `options` (or the [llm.NAME] table of a provider) does not have.",
    ),
    code(
        "pipeline.missing-role",
        "a role has no model",
        "A plugin sends requests to roles, and the stage assigns an [llm.NAME] table to each role:\n\n    \
         roles = { writer = \"main\" }\n\n\
         Every role that the plugin declares needs a model.",
    ),
    code(
        "pipeline.mixed-likelihood",
        "likelihoods of several models are compared",
        "Candidates are compared by `candidate.log_likelihood` or `candidate.mean_log_likelihood`, and a role of the stage that makes\n\
         them has several models. How likely a model finds its own reply says little beside what another model finds of its own:\n\
         vocabularies differ, and so do temperatures. Give the role to one model, select within one model's samples, or\n\
         compare by the metric of a verifier.",
    ),
    code(
        "pipeline.moved-option",
        "an old form of a plugin's options",
        "The plugin was split, and these options moved to another one. The stage runs as the new form would, which the help line shows. \
Write the new form into the file.",
    ),
    code(
        "pipeline.nested-round",
        "a stage that cannot stand in a round",
        "The rounds of a refine stage hold translate, verify, select and plan stages. Another refine stage goes beside it, and\n\
         fan_out behind it:\n\n    \
         [[stage]]\n    do = \"refine\"\n    ...\n    [[stage]]\n    do = \"fan_out\"",
    ),
    code(
        "pipeline.no-environment",
        "a stage asks an environment and the file has none",
        "The verifier, with these options, asks the task's environment. Add one; the host opens it with the task's reference:\n\n    \
         [environment]\n    use = \"environment-pddl\"",
    ),
    code(
        "pipeline.no-grammar",
        "a stage requires a grammar, and its model's provider does not enforce one",
        "The stage's options have `grammar = \"require\"`: every reply has to follow a grammar of the task. The provider of a model of\n\
         its roles does not declare that its service enforces grammars. For an OpenAI-compatible server, state which one it is in its\n\
         model table:\n\n    \
         grammar = \"llama-cpp\"\n\n\
         The values are `llama-cpp`, `vllm`, `sglang`, `custom-tool` (OpenAI's Responses) and `json-schema`. With `grammar = \"prefer\"` the\n\
         stage also runs without one.",
    ),
    code(
        "pipeline.no-instance",
        "a stage without a plugin instance",
        "The program that started the run gave it no instance for the stage, or one of another kind. This is a fault of that\n\
         program, not of the pipeline file.",
    ),
    code(
        "pipeline.no-logprobs",
        "a stage requests log-probabilities, and its model returns none",
        "The stage's options have `logprobs = true`, and the provider of a model of its roles declares that its service returns no\n\
         log-probabilities. So a `select` stage could not compare candidates by `candidate.log_likelihood`. Remove `logprobs` and\n\
         select by a metric of a verifier:\n\n    \
         by = \"ew.score\"\n\n\
         or give the role to a model whose provider returns them. `planforge plugins show PROVIDER` shows what a service lacks.",
    ),
    code(
        "pipeline.no-stages",
        "the pipeline has no stages",
        "A pipeline is a list of stages. Add at least one [[stage]] table with do = \"translate\", \"verify\", \"select\" or \"plan\".",
    ),
    code(
        "pipeline.nothing-given",
        "neither texts nor PDDL are given",
        "With `text = false` below [given] a method gets no text in plain language. It then needs something of the reference to go by:\n\n    \
         [given]\n    text = false\n    problem = true      # a domain is written for a problem\n\n\
         An in-context example of another suite does not describe the task.",
    ),
    code(
        "pipeline.obfuscate",
        "an environment that knows names of its own",
        "[obfuscate] exchanges the names of a suite everywhere: in texts, in the reference, and so in what the environment is opened with.\n\
         A program outside, or any environment that does not simulate the reference it is given, knows the original names alone and\n\
         would tell them to the model.",
    ),
    code(
        "pipeline.option",
        "the plugin does not take this value",
        "The value of an option does not fit the plugin's schema: another type, a word that is not among the choices, or a number\n\
         out of range. The message gives the valid values.",
    ),
    code(
        "pipeline.otherwise",
        "`otherwise` names a metric for the second time",
        "`otherwise` of a select stage lists the metrics to compare a group by if a member has no value of `by`:\n\n    \
         by = \"candidate.log_likelihood\"\n    otherwise = [\"critique.errors\", \"pddl.errors\"]\n\n\
         The metrics are tried in order, so each is listed once and `by` is not among them.",
    ),
    code(
        "pipeline.override",
        "a --set argument cannot be applied",
        "--set KEY=VALUE sets one key of the file before it is checked. KEY is a dotted path; a stage is named by its label or its\n\
         position from 0. VALUE is read as TOML, and as a string where it is none:\n\n    \
         --set llm.main.model=gpt-4o\n    --set stage.problem.n=5\n    --set stage.0.options.mode=both",
    ),
    code(
        "pipeline.plugin-kind",
        "a plugin of another kind",
        "A translate stage uses a translator, a verify stage a verifier, a plan stage a planner, [llm.NAME] a provider and\n\
         [environment] an environment. `planforge plugins list` shows the kind of each plugin.",
    ),
    code(
        "pipeline.plugin-unavailable",
        "a plugin does not load",
        "A library of that id was found and did not pass the load gates. The message has the gate's own code.",
    ),
    code(
        "pipeline.predicates",
        "`predicates` goes with `actions`",
        "Where `actions` of [given] gives each action in words, the domain's predicates come with them, unless the file says otherwise:\n\n    \
         [given]\n    actions = \"base\"\n    predicates = false      # the method makes its own",
    ),
    code(
        "pipeline.range",
        "a number out of range",
        "The message names the range. For example n is 1 to 1000, keep is 1 to 1000000, jobs is 1 to 1024.",
    ),
    code(
        "pipeline.replay-miss",
        "replay: an answer from outside is not in the record",
        "The environment asks a program outside planforge, whose answers are recorded when a run is made and never asked for again.\n\
         The record holds none for this question: it is of another pipeline, other tasks or another seed. Run the pipeline again\n\
         to make a new record.",
    ),
    code(
        "pipeline.role-models",
        "a list of models for a role without effect",
        "A role is given to one model, to several in an order, or to several by weight:\n\n    \
         roles = { writer = \"main\" }\n    \
         roles = { writer = [\"main\", \"backup\"] }          # backup is asked if main fails or has reached a cap\n    \
         roles = { writer = { main = 3, other = 1 } }      # three of four samples are main's\n\n\
         In a list each model stands once, for one that failed is not asked the same question again; and a list of one is written\n\
         as its name. docs/how-to/use-several-models.md describes the order of requests.",
    ),
    code(
        "pipeline.round",
        "a round that cannot refine",
        "In a round exactly one stage writes: a translate stage or, where there is none, a plan stage with `feedback`. Verify and plan\n\
         stages before it look at what came into the round, those behind it judge its children:\n\n    \
         [[stage.round]]\n    do = \"verify\"         # a critic looks at the candidate\n    label = \"critique\"\n    ...\n    \
         [[stage.round]]\n    do = \"translate\"      # it is written anew\n    feedback = [\"critique\"]\n    ...\n\n\
         The rounds end where all verify and plan stages on one side of the writer accept, so there has to be one (a verify stage with\n\
         measure = true does not count); with stop = \"never\" all rounds are made. Select stages stand behind the writer.",
    ),
    code(
        "pipeline.round-metric",
        "rounds compared by what no round measures",
        "`by` of a refine stage names a metric that each child of each round has: LABEL.NAME of a verify or plan stage of the round,\n\
         candidate.log_likelihood or candidate.mean_log_likelihood. What a stage before the refine stage measured is about what came in.",
    ),
    code(
        "pipeline.sample-count",
        "a translator returned the wrong number of samples",
        "A translator that is asked for n samples returns n results, failed ones included. Anything else is a fault of the plugin\n\
         and counts as a failure of the whole call. Report it to the plugin's author.",
    ),
    code(
        "pipeline.schema",
        "a pipeline file of another version",
        "The key `schema` is the version of the file format. This planforge reads schema = 1.",
    ),
    code(
        "pipeline.secret-name",
        "not the name of an environment variable",
        "An option that stands for a secret holds the name of the environment variable with the secret in it: letters, digits\n\
         and `_`, not beginning with a digit.\n\n    api_key_env = \"OPENAI_API_KEY\"",
    ),
    code(
        "pipeline.suite",
        "a suite that an option names cannot be used",
        "Some options of simulated models list suite folders; planforge reads them and gives the plugin their reference. Paths in a\n\
         pipeline file are relative to that file. Each suite must be readable and have a domain.pddl, and names must differ.\n\
         `planforge suite check FOLDER` shows what is wrong with one. Plugins that are not declared `simulated` never get a reference.",
    ),
    code(
        "pipeline.syntax",
        "not TOML",
        "The text breaks the rules of TOML at this place. What comes after it was read as well as possible; findings on the same\n\
         line, and keys that only seem to be missing, are not reported.",
    ),
    code(
        "pipeline.too-large",
        "too large for a pipeline file",
        "A pipeline file has at most 1 MiB. Is it the right file?",
    ),
    code(
        "pipeline.type",
        "a value of another type",
        "The key takes a value of another type: write \"text\" in quotes, numbers and true or false without, tables as [name] or\n\
         { key = value }, and each stage under [[stage]].",
    ),
    code(
        "pipeline.unheard",
        "feedback for a plugin that asks no model",
        "`feedback` of a verify or plan stage brings words for a language model. This plugin declares no role, so it asks none. It does\n\
         no harm where a plugin of your own reads the words all the same.",
    ),
    code(
        "pipeline.unknown-key",
        "an unknown key",
        "Unknown keys are refused, because they are nearly always misspelt. The message names the nearest known key.",
    ),
    code(
        "pipeline.unknown-label",
        "no stage has that label",
        "A metric names an earlier verify or plan stage by its label, `feedback` an earlier verify, plan or translate stage; in a round\n\
         `feedback` may also name a stage of the round before. The message names the nearest label, or lists them.",
    ),
    code(
        "pipeline.unknown-llm",
        "no model of that name",
        "roles = { writer = \"main\" } gives the role to the table [llm.main], which must be in the file. So must every name of a\n\
         list and every name with a weight.",
    ),
    code(
        "pipeline.unknown-metric",
        "the stage has no such metric",
        "A verifier declares its metrics, and `planforge plugins list` shows them. A plan stage has `cost` and `steps`, a candidate\n\
         has `log_likelihood` (the sum over the tokens) and `mean_log_likelihood` (per token).",
    ),
    code(
        "pipeline.unknown-option",
        "the plugin has no such option",
        "Options that a plugin does not know are refused. Keys of the stage itself (n, roles, fixes, limits) stand beside `options`,\n\
         not inside.",
    ),
    code(
        "pipeline.unknown-plugin",
        "no plugin of that id",
        "`use` names a plugin by its id. `planforge plugins list` shows all plugins and where they were looked for.",
    ),
    code(
        "pipeline.unknown-role",
        "the plugin has no such role",
        "`roles` gives models to the roles that the plugin declares, and to no others. `planforge plugins list` shows them.",
    ),
    code("pipeline.unknown-stage", "no stage of that kind", "`do` is translate, verify, select or plan."),
    code(
        "pipeline.unknown-stage-key",
        "a stage has no such key",
        "Keys of a stage depend on its kind; the message names the nearest one. The plugin's keys belong in `options`.",
    ),
    code(
        "pipeline.unsupported-setting",
        "the service of a provider lacks a setting",
        "A key of an [llm.NAME] table asks for something that the provider declares its service lacks: `stop` of OpenAI's interface\n\
         Responses, `logprobs` of Anthropic, a temperature above the highest. Nothing is sent. A `seed` is a warning: the requests\n\
         go out without it.",
    ),
    code(
        "pipeline.unused-llm",
        "a model that no stage uses",
        "No stage gives a role to this table. It does no harm; check whether a role names another table by mistake.",
    ),
    code(
        "pipeline.value",
        "not one of the possible words",
        "The key takes one of a few words, and the message lists them.",
    ),
];

/// Every code that reading and preparing suites gives, in alphabetical order.
pub const SUITE_CODES: &[CodeInfo] = &[
    code(
        "suite.add-on",
        "an add-on does not fit the suites, or has unknown files",
        "--add-on DIR names a folder whose knowledge.lp, p_example.lp and sentences.toml replace those of a suite: DIR/SUITE for the\n\
         suite of that name, DIR itself for the suite of the folder's name or for the only suite of the command. Texts, domain and tasks\n\
         always come from the suite. run.json lists the files that were used, with their SHA-256. A resumed or replayed run does not\n\
         read the add-on again.",
    ),
    code(
        "suite.disguise",
        "the names of a suite cannot be replaced",
        "[obfuscate] of a pipeline and `planforge suite obfuscate` replace the names of a suite, which are those of its PDDL. So the\n\
         suite needs domain.pddl and the problem of each task: they say which words of the texts are names. The PDDL must be free of\n\
         errors, because parts that cannot be read would be lost. `planforge suite check` lists the errors.",
    ),
    code(
        "suite.duplicate-task",
        "two tasks have the same name",
        "Tasks are named SUITE.STEM in the record. Name each task once on the command line, and give two suites different names in\n\
         their suite.toml.",
    ),
    code(
        "suite.encoding",
        "a file of a suite is not UTF-8 text",
        "Save the file as UTF-8. The message names the first wrong byte and its line. A file with a zero byte is refused as\n\
         binary, although a zero byte is valid UTF-8.",
    ),
    code(
        "suite.example",
        "the in-context example's suite cannot be used",
        "`example = \"PATH\"` in [given] takes the in-context example from another suite: its domain's text, its domain, and a task\n\
         of it with text, problem and plan. The path is relative to the pipeline file. That suite needs a domain.pddl and must\n\
         not withhold parts of its reference.",
    ),
    code(
        "suite.manifest",
        "suite.toml has a mistake",
        "suite.toml may hold schema = 1, name, title, licence, level (of its texts: 1 to 4), [given] (false for parts of the reference that no pipeline may be\n\
         given), [materials] (name = \"file\"), [titles] (stem = \"title\") and [generate] (seed, first, tasks, example).",
    ),
    code(
        "suite.no-domain-text",
        "the suite has no text about its domain",
        "The file domain.nl of a suite describes the domain in plain language.",
    ),
    code(
        "suite.no-lead",
        "the lead task is not in the run",
        "`lead` of the fan_out stage names the task that runs first. The run has several tasks of the suite, but not this one. Add it\n\
         to the run, name another task, or remove `lead`: then the first task leads. A single task is its own lead.",
    ),
    code(
        "suite.no-material",
        "the file of a material does not exist",
        "[materials] of suite.toml names a file that the suite's folder does not have.",
    ),
    code(
        "suite.no-problem",
        "a task has no reference problem",
        "The suite has a reference domain, and this task has a text but no problem NAME.pddl, so plans for it cannot be validated.",
    ),
    code(
        "suite.no-reference",
        "[given] names a part that the suite does not have",
        "[given] of the pipeline grants a part of the reference (domain.pddl or the task's problem), and the suite has no such file.\n\n\
         The interface and the objects of a suite without PDDL come from the pipeline's environment, if it has one.",
    ),
    code(
        "suite.no-sentence",
        "a predicate has no sentence",
        "States are described to models in the sentences of sentences.toml. A predicate without an entry gets a general sentence,\n\
         which reads worse.\n\n    \
         [predicates]\n    at = { yes = \"{1} is at {2}.\", no = \"{1} is not at {2}.\" }\n\n\
         Descriptions of actions of the classes flipped and random state conditions and effects in these sentences, or by the\n\
         predicate's name. With `predicates = false` in [given] the model must not see that name, so the entry is required.",
    ),
    code(
        "suite.no-text",
        "a task has no text",
        "A task is a file NAME.nl that describes it in plain language; NAME.pddl beside it is the reference. A folder with\n\
         PDDL alone serves only pipelines that have `text = false` in [given].",
    ),
    code(
        "suite.not-a-folder",
        "a suite is a folder",
        "--suite names a folder, --task FOLDER/STEM a task in one.",
    ),
    code(
        "suite.outside",
        "a file lies outside the suite's folder",
        "All files of a suite must be in its folder, also the targets of its symbolic links, so that a manifest cannot make planforge\n\
         read other files.",
    ),
    code(
        "suite.own-example",
        "the in-context example shows the suite's own reference",
        "An in-context example shows the whole domain of its suite. If this is also the suite whose tasks are run, the model would\n\
         see what is withheld from it. Name another suite in `example` of [given], or leave this suite out of the run.",
    ),
    code(
        "suite.picture",
        "picture.toml has a mistake",
        "picture.toml describes how states of the suite's domain are drawn (docs/how-to/draw-states.md). It has schema = 1 and at least one of\n\n    \
         [[stack]]  on = \"on ?above ?below\", bottom = \"on-table ?what\", held = \"holding ?what\"\n    \
         [[grid]]   cells = \"tile\", name = \"tile{row}-{col}\" or right = \"east-of ?to ?from\" (left, up, down), at = \"at ?what ?cell\"\n    \
         [[group]]  places = \"room\", in = \"in ?what ?place\"\n\n\
         and may have [[mark]] (words on things) and [types.NAME] (glyph and colour). Predicates, functions and types must be the\n\
         domain's, with its numbers of arguments; `_` is an argument that the picture does not show.",
    ),
    code(
        "suite.sentences",
        "sentences.toml has a mistake",
        "sentences.toml gives the sentences for facts, for each predicate of the reference domain:\n\n    [predicates]\n    \
         at = { yes = \"{1} is at {2}.\", no = \"{1} is not at {2}.\" }\n\n{1}, {2}, ... stand for the arguments. [functions] does the same\n\
         for numbers, with {value} for the value and without `no`. [types] describes the objects of a type: `room = \"a room\"`.",
    ),
    code(
        "suite.too-large",
        "a file of a suite is too large",
        "Files of a suite have at most 4 MiB. Check that this is the right file.",
    ),
    code(
        "suite.unknown-task",
        "the suite has no such task",
        "--task FOLDER/STEM names the stem of the task's files, for example p03. The message names the most similar one.",
    ),
    code(
        "suite.unreadable",
        "a file of a suite cannot be read",
        "The operating system refused; the message gives the reason.",
    ),
    code(
        "suite.withheld",
        "[given] names a part that the suite withholds",
        "[given] in suite.toml sets this part of the reference to false: the texts of the suite are for methods that do not see it.",
    ),
];
