//! The codes of suites, for `planforge explain`.

use crate::codes::code;
use planforge_diagnostics::CodeInfo;

/// Every code that reading and preparing suites gives, in alphabetical order.
pub const CODES: &[CodeInfo] = &[
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
