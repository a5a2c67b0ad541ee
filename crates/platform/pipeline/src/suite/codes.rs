//! The codes of suites, for `planforge explain`.

use crate::codes::code;
use planforge_diagnostics::CodeInfo;

/// Every code that reading and preparing suites gives, in alphabetical order.
pub const CODES: &[CodeInfo] = &[
    code(
        "suite.add-on",
        "an add-on does not fit the suites, or has unknown files",
        "--add-on DIR names a folder whose knowledge.lp, p_example.lp and sentences.toml stand in for those of a suite: DIR/SUITE for the\n\
         suite of that name, DIR itself for the suite of the folder's name or for the only suite of the command. Texts, domain and tasks\n\
         always come from the suite. What an add-on brought is in run.json with its SHA-256, and a resumed or replayed run reads no\n\
         add-on again.",
    ),
    code(
        "suite.disguise",
        "a suite cannot be given other names",
        "[obfuscate] of a pipeline and `planforge suite obfuscate` exchange the names of a suite, which are those of its PDDL: without\n\
         domain.pddl, or without the problem of a task, nobody knows which words are names, and the environment would speak of things\n\
         by names that no text has. PDDL that can be read only in part would lose the rest. `planforge suite check` lists the mistakes.",
    ),
    code(
        "suite.duplicate-task",
        "two tasks have one name",
        "Tasks are named SUITE.STEM in the record. Name each task once on the command line, and give two suites different names in\n\
         their suite.toml.",
    ),
    code(
        "suite.encoding",
        "a file of a suite is not UTF-8, or not a text",
        "Save the file as UTF-8. The message names the first wrong byte and its line. A zero byte is valid UTF-8, but text has none: the\n\
         file is then a binary one.",
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
        "suite.toml may hold schema = 1, name, title, licence, [given] (false for parts of the reference that no pipeline may be\n\
         given), [materials] (name = \"file\"), [titles] (stem = \"title\") and [generate] (seed, first, tasks, example).",
    ),
    code(
        "suite.no-domain-text",
        "the suite does not say what its domain is about",
        "A suite has a file domain.nl that describes the domain in plain language.",
    ),
    code(
        "suite.no-lead",
        "the lead task is not in the run",
        "`lead` of the fan_out stage names the task that runs first, and the run has several tasks of the suite without it. Take it\n\
         into the run, name another, or leave `lead` out: the first task leads then. A task that runs alone is its own lead.",
    ),
    code(
        "suite.no-material",
        "a material's file is not there",
        "[materials] of suite.toml names a file that the suite's folder does not have.",
    ),
    code(
        "suite.no-problem",
        "a task has no reference problem",
        "The suite has a reference domain, and this task has a text and no problem NAME.pddl: plans for it cannot be judged.",
    ),
    code(
        "suite.no-reference",
        "something is given that the suite does not have",
        "[given] of the pipeline grants a part of the reference (domain.pddl or the task's problem), and the suite has no such file.\n\n\
         The interface and the objects of a suite without PDDL come from the pipeline's environment, if it has one.",
    ),
    code(
        "suite.no-sentence",
        "a predicate has no sentence",
        "sentences.toml tells facts in plain language when a state is described to a model. A predicate without an entry\n\
         is told in a general form, which reads worse.\n\n    \
         [predicates]\n    at = { yes = \"{1} is at {2}.\", no = \"{1} is not at {2}.\" }\n\n\
         Descriptions of the classes flipped and random tell conditions and effects in these sentences, and by the predicate's name\n\
         where there is none. With `predicates = false` below [given] no name of the reference's predicates may be shown.",
    ),
    code(
        "suite.no-text",
        "a task has no text",
        "A task is a file NAME.nl that describes it in plain language; NAME.pddl beside it is the reference. A folder with\n\
         PDDL alone is a suite only for pipelines that are given no texts: `text = false` below [given].",
    ),
    code(
        "suite.not-a-folder",
        "a suite is a folder",
        "--suite names a folder, --task FOLDER/STEM a task in one.",
    ),
    code(
        "suite.outside",
        "a file lies outside the suite's folder",
        "Files of a suite, links followed, lie in its folder, so that a manifest cannot make planforge read anything else.",
    ),
    code(
        "suite.own-example",
        "the in-context example shows the suite's own reference",
        "An in-context example from another suite shows its whole domain. Taken from the suite whose tasks are run it would show the\n\
         model what is withheld from it. Name another suite in `example` of [given], or leave this suite out of the run.",
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
        "Files of a suite have at most 4 MiB. Is it the right file?",
    ),
    code(
        "suite.unknown-task",
        "the suite has no such task",
        "--task FOLDER/STEM names the stem of the task's files, for example p03. The message names the nearest.",
    ),
    code(
        "suite.unreadable",
        "a file of a suite cannot be read",
        "The operating system refused; the message gives the reason.",
    ),
    code(
        "suite.withheld",
        "the suite withholds what the pipeline is given",
        "[given] of the suite's manifest sets this part of the reference to false: its texts are meant for methods that do not see it.",
    ),
];
