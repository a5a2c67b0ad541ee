//! The diagnostic codes of studies and evaluations.

use planforge_diagnostics::CodeInfo;

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "calibrate.reference",
        title: "a reference domain cannot be compared with anything",
        explanation: "A calibration grounds every reference domain with its stated problems and compares mutants with it. Here that ends at a \
                      limit, or the domain uses what the exact comparison does not execute (durative actions, `:vars`). Name smaller \
                      problems:\n\n    planforge study calibrate --suites my-suites --problems p01\n\nor leave the suite out with `--only`.",
    },
    CodeInfo {
        code: "calibrate.critic",
        title: "a pipeline cannot judge the mutants of a calibration",
        explanation: "`planforge study calibrate --critic FILE` puts each mutant in the place of the domain that the pipeline is given, and takes the \
                      pipeline's verdict as the judgement. So the pipeline needs a given domain and a verify stage, and must not have a \
                      translate stage:\n\n    schema = 1\n    [given]\n    domain = true\n\n    [llm.critic]\n    use = \"provider-openai\"\n    \
                      base_url = \"http://127.0.0.1:8081/v1\"\n    model = \"my-model\"\n\n    [[stage]]\n    do = \"verify\"\n    label = \
                      \"critique\"\n    use = \"verifier-critique\"\n    roles = { critic = \"critic\" }",
    },
    CodeInfo {
        code: "calibrate.problem",
        title: "a suite lacks a problem that was named",
        explanation: "`--problems p01,p02` names the problems, by file name without `.pddl`, that labels and verifiers use in every suite. \
                      Without it these are the first two of each suite.",
    },
    CodeInfo {
        code: "compare.nothing-paired",
        title: "two runs have no task in common",
        explanation: "`planforge compare A B` pairs runs of one task by suite, task and seed; runs on one side alone are not \
                      compared. Two runs over the same tasks under different seeds are paired by\n\n    \
                      planforge compare A B --pair-by task\n\nOtherwise compare runs over the same suites.",
    },
    CodeInfo {
        code: "compare.not-asked",
        title: "no stage answers the question of the comparison",
        explanation: "`planforge compare --by problem` asks of every task whether its problem is the reference, which a stage of \
                      `verifier-equivalence` decides. Without such a stage the answer is unknown. Choose another `--by`, or add the stage, as a \
                      measurement:\n\n    [[stage]]\n    do = \"verify\"\n    label = \"same\"\n    use = \"verifier-equivalence\"\n    \
                      measure = true",
    },
    CodeInfo {
        code: "compare.not-a-run",
        title: "a folder holds neither a run nor an evaluation",
        explanation: "`planforge compare` takes a folder that `planforge run` made (it has a run.json), or the output folder of `planforge \
                      evaluate` (it has an evaluation.json once its table was made). An evaluation that was killed before that goes on \
                      with\n\n    planforge evaluate --resume --out FOLDER",
    },
    CodeInfo {
        code: "compare.pipeline",
        title: "the pipeline of an evaluation is ambiguous",
        explanation: "An evaluation of several pipelines has several tables of results. Name one:\n\n    \
                      planforge compare evaluation evaluation --pipeline-a llm-p --pipeline-b tic-ic\n\nThe names are those of the table: the \
                      pipeline files' names without `.toml`.",
    },
    CodeInfo {
        code: "compare.twice",
        title: "a run of a task is on one side twice",
        explanation: "A comparison pairs runs by suite, task and seed, so each may be there once. The folder was not made by planforge, or two \
                      suites of one run have the same name: compare runs over one of them.",
    },
    CodeInfo {
        code: "evaluate.filter",
        title: "a filter matches nothing of the matrix",
        explanation: "`--only` and `--except` name values of an axis: suite, pipeline, model, seed or task.\n\n    --only suite=garden,parcels --only seed=42-43 \
                  --except task=p1*\n\nSeveral values of one axis add up, different axes narrow each other. `*` stands for any text and `?` for one \
                  character. A value that nothing matches is an error, so that a misspelt name runs nothing else. What is not \
                  selected stays in the tables, as not run.",
    },
    CodeInfo {
        code: "evaluate.junit",
        title: "the JUnit document cannot be written",
        explanation: "The results are there and `tasks.jsonl` has them; their form as XML failed. This should not happen; please report it.",
    },
    CodeInfo {
        code: "evaluate.matrix",
        title: "a matrix file, or its options on the command line, are invalid",
        explanation: "An evaluation runs every pipeline with every model over every suite under every seed:\n\n    schema = 1\n    [matrix]\n    \
                  suites = [\"examples/suites/garden\", \"examples/suites/parcels\"]\n    pipelines = [\"intrinsic.toml\", \"llm-p.toml\"]\n    \
                  seeds = \"42-45\"\n    tasks = 10\n    levels = [1, 2, 3, 4]\n    set = [\"llm.main.model=gpt-4o\"]\n    add_ons = [\"my-add-on\"]\n\n    [matrix.models.small]\n    \
                  set = [\"llm.main.model=qwen-7b\", \"llm.main.base_url=http://127.0.0.1:8081/v1\"]\n    [matrix.models.large]\n    \
                  set = [\"llm.main.model=gpt-4o\"]\n\nPaths are relative to the file. `seeds` may be a \
                  list of numbers. `tasks` (the first of each suite, by name), `levels`, `set` and `models` may be left out. `levels` evaluates each suite with texts at these \
                  levels: 1 is the suite as it is, 2 to 4 are written into `OUT/suites/SUITE-LN` as `planforge suite paraphrase --level N` does, with seed 1, and \
                  need `%% level` sections in the suite's wordings.jinja. A model is KEY=VALUE for every pipeline, as `--set` takes it, and \
                  its cells are in the column `PIPELINE@NAME`; without models each pipeline uses its own, and `set = []` is such a column beside others. The \
                  names of suites must differ, and so must the names of pipeline files.",
    },
    CodeInfo {
        code: "evaluate.model",
        title: "a model of the matrix does not fit a pipeline",
        explanation: "`[matrix.models.NAME]` changes keys of every pipeline file, as `--set` does:\n\n    [matrix.models.small]\n    \
                  set = [\"llm.main.model=qwen-7b\", \"llm.main.base_url=http://127.0.0.1:8081/v1\"]\n\nIt changes tables that are \
                  there: a `[llm.NAME]` that a pipeline file does not have would not be used by any stage. Give the models of all \
                  pipelines the same names, or evaluate pipelines with other names in a separate matrix.",
    },
    CodeInfo {
        code: "evaluate.other",
        title: "the output folder holds another evaluation",
        explanation: "`--resume` continues an evaluation of the same suites, tasks, pipeline texts, overrides and seeds; otherwise \
                  cells of different experiments would be in one table. Name another folder with `--out`, or undo the change \
                  that the message names.",
    },
    CodeInfo {
        code: "evaluate.changed",
        title: "the results of an evaluation were changed",
        explanation: "The folder of an evaluation has the SHA-256 of its files in SHA256SUMS, and evaluation.json has another one: somebody \
                  edited it. Its results are not used. The runs have everything that it says:\n\n    planforge evaluate merge \
                  FOLDER\n\nreads them, runs nothing, and writes the results anew.",
    },
    CodeInfo {
        code: "evaluate.twice",
        title: "two parts of an evaluation have the same cell with different results",
        explanation: "`planforge evaluate merge A B --into C` puts the parts of one evaluation together. Each cell belongs to one part \
                  (`--shard I/N`); where two parts ran the same cell and have different results, the right one is unknown. Leave one of \
                  the folders out, or remove the run that does not count.",
    },
    CodeInfo {
        code: "study.no-suite",
        title: "a folder holds no planning domain to study",
        explanation: "A study needs a folder with `domain.pddl` and at least one problem beside it, or a folder of such folders:\n\n    \
                  planforge study omissions --suites examples/suites --out study\n\nProblems are all other `*.pddl` files, \
                  in-context examples (`p_example.pddl`) and templates excepted, in the order of their names (numbers in them compared as numbers).",
    },
    CodeInfo {
        code: "study.cancelled",
        title: "a study was interrupted",
        explanation: "An incomplete study has no result, so nothing was written. Start it again; `--quick` takes under two minutes.",
    },
    CodeInfo {
        code: "study.threads",
        title: "a study cannot start its threads",
        explanation: "The operating system refused. Try `--jobs 1`, or raise the limit on processes.",
    },
    CodeInfo {
        code: "study.plot",
        title: "a file of a study cannot be made",
        explanation: "The figures were computed but cannot be drawn or written down. This should not happen with the options that \
                  `planforge study` takes; please report it.",
    },
    CodeInfo {
        code: "study.real-model",
        title: "a strategy of a simulated study asks a real model",
        explanation: "`planforge study search` and `study scaling` run every pipeline many times over, so they take providers declared `simulated` alone:\n\n    \
                      [llm.main]\n    use = \"provider-noisy-oracle\"\n\nFor real models there is `planforge evaluate`.",
    },
    CodeInfo {
        code: "study.spec",
        title: "a list of sweeps cannot be used",
        explanation: "`planforge study scaling --spec FILE` reads a TOML file of [[sweep]] tables, each a pipeline file, one of its keys and the \
                  ascending values that the key takes:\n\n    \
                  [[sweep]]\n    label = \"best of N\"\n    of = \"samples\"   # or \"rounds\", \"budget\"\n    pipeline = \"bon.toml\"\n    \
                  key = \"stage.domain.n\"\n    values = [1, 2, 4, 8]",
    },
    CodeInfo {
        code: "study.no-final",
        title: "a strategy has no final assessment",
        explanation: "The study reads the result of a run from the assessment of a stage labelled `final`, which every strategy ends with:\n\n    \
                      [[stage]]\n    do = \"verify\"\n    label = \"final\"\n    use = \"verifier-ew\"",
    },
];
