//! The codes of this crate's diagnostics.

use planforge_diagnostics::CodeInfo;

pub(crate) const NO_GENERATOR: &str = "generate.no-generator";
pub(crate) const NO_DOMAIN: &str = "generate.no-domain";
pub(crate) const TEMPLATE: &str = "generate.template";
pub(crate) const SILENT: &str = "generate.silent-object";
pub(crate) const NO_DRAW: &str = "generate.no-draw";
pub(crate) const STOPPED: &str = "generate.stopped";
pub(crate) const UNSUPPORTED: &str = "generate.unsupported";
pub(crate) const NO_WORDINGS: &str = "paraphrase.no-wordings";
pub(crate) const WORDING: &str = "paraphrase.template";
pub(crate) const NO_WORDS: &str = "paraphrase.unsupported";
pub(crate) const UNTOLD: &str = "paraphrase.untold";
pub(crate) const ALIKE: &str = "paraphrase.alike";
/// A text of a level does not imply its problem.
pub const NOT_IMPLIED: &str = "paraphrase.not-implied";
/// A sentence of a level is not needed and not marked irrelevant.
pub const NEEDLESS: &str = "paraphrase.needless-sentence";
/// The suite has no `domain_brief.nl`.
pub const NO_BRIEF_TEXT: &str = "paraphrase.no-brief-text";
pub(crate) const NO_TASKS: &str = "suite.no-tasks";
/// Explained by `planforge_pipeline`, which gives it too.
pub(crate) const NO_SENTENCE: &str = "suite.no-sentence";
pub(crate) const NO_TYPE: &str = "suite.no-type";
pub(crate) const IDLE_FILE: &str = "suite.idle-file";
pub(crate) const UNNAMED: &str = "suite.unnamed-object";
pub(crate) const GOAL_HOLDS: &str = "suite.goal-holds";
pub(crate) const WRONG_PLAN: &str = "suite.wrong-plan";
pub(crate) const PROSE_PLAN: &str = "suite.prose-plan";
pub(crate) const UNSOLVABLE: &str = "suite.unsolvable";
pub(crate) const UNDECIDED: &str = "suite.undecided";
pub(crate) const TEMPLATE_DIFFERS: &str = "suite.template-differs";
pub(crate) const TEMPLATE_SHOWS: &str = "suite.template-shows";
pub(crate) const PARAMETER_ORDER: &str = "suite.parameter-order";
pub(crate) const LAYOUT: &str = "import.layout";
pub(crate) const TABLE: &str = "import.table";
pub(crate) const ROW: &str = "import.row";
pub(crate) const NO_ROW: &str = "import.no-row";
pub(crate) const DIFFERS: &str = "import.differs";
pub(crate) const DESCRIPTION: &str = "import.description";
pub(crate) const NO_DESCRIPTION: &str = "import.no-description";
pub(crate) const INCOMPLETE: &str = "import.incomplete";
pub(crate) const LEFT_OUT: &str = "import.left-out";

const FUNCTIONS: &str = "A generator is a Jinja template, rendered once a task. It prints two sections, each under a line of \
its own:\n\n    %% problem\n    (define (problem {{ name }}) ...)\n    %% text\n    There are two rooms, {{ rooms | listed \
}}.\n\nVariables: `index` (the task's number from 1, 0 for the in-context example) and `name`.\nFunctions: integer(a, b), \
chance(p), pick(list), sample(list, k), shuffle(list), names(stem, n),\ntree(list) and connected(list, extra) (pairs that join \
all items), redraw(why) (takes the next draw).\nFilters: `list | listed` (a, b and c), `n | word` (three), and those of \
Jinja.\nStatements stand in {% ... %}, or after # on a line of their own; ## begins a comment.\n\nIt reads no files, and may run for two million steps and 30 seconds, take 512 MiB of memory and print one megabyte.";

const WORDINGS: &str = "wordings.jinja tells any problem of the suite's domain in several ways. What all ways share stands first; each line \
`%% wording` begins one:\n\n    # set rooms = objects(\"room\")\n    %% wording\n    There are {{ rooms | length | word }} rooms: {{ rooms | \
listed }}.\n    {{ init(\"ball-in\") | say(\"{0} is in {1}\") | listed }}.\n    {{ goal(\"ball-in\") | say(\"{0} should be in {1}\") | listed \
}}.\n    %% wording\n    ...\n\nFunctions: objects(type); init(p), goal(p) and goal_not(p), lists of facts, each a list of its arguments; \
covered(\"init\", p) or\ncovered(\"init\", p, facts) for what is told by a rule or a count; require(condition, why) for problems that the \
wordings do not fit;\nand those of generators. Filters of facts: where(i, value, ...), column(i), say(pattern), swapped, both_ways, chains.\n\n\
A line `%% level 2` or `%% level 3` begins a text that implies facts. After each sentence stand its facts, or that it has none:\n\n    %% level 2\n    \
There are three rooms.\n    = cardinality(room, 3).\n    The building is 40 m long.\n    = irrelevant";

const IMPORTED: &str = "`planforge suite import-actions` reads a folder with domainNL/Base-HC.csv, Flipped-HC.csv and Rand-HC.csv (columns domain, \
action, pddl, preds, NL; a field with line ends stands in quotes), pddl-problems/NAME.pddl with problems in pddl-problems/NAME/, and \
predicate-descriptions/NAME.txt. The tables of Flipped and Rand may be absent.";

/// The diagnostic codes of this crate.
pub static CODES: &[CodeInfo] = &[
    CodeInfo { code: NO_GENERATOR, title: "the suite has no generator", explanation: FUNCTIONS },
    CodeInfo {
        code: NO_DOMAIN,
        title: "the suite has no reference domain to generate problems for",
        explanation: "Each generated problem is checked with the suite's domain.pddl, and a plan for it is looked for. Write \
domain.pddl first.",
    },
    CodeInfo { code: TEMPLATE, title: "generator.jinja has a mistake", explanation: FUNCTIONS },
    CodeInfo {
        code: SILENT,
        title: "a generated text never mentions an object of its problem",
        explanation: "Whoever reads the text alone cannot know the object. Let the template print it: the names of objects are \
looked for as words of their own, in any case, `room 1` for room1 too.",
    },
    CodeInfo {
        code: NO_DRAW,
        title: "no draw of the seed makes a good task",
        explanation: "A draw is taken when the front end accepts the problem, the goal does not hold already and a plan is found \
within the limit on nodes. The message lists why the draws were not taken. Let the template make only tasks that can be \
solved, or smaller ones; or raise --nodes.",
    },
    CodeInfo {
        code: STOPPED,
        title: "generating was ended from outside",
        explanation: "It was interrupted, or its memory ran out. Nothing was chosen by the clock: the same seed gives the same \
tasks when the work is done to its end.",
    },
    CodeInfo {
        code: UNSUPPORTED,
        title: "the planner cannot judge whether the tasks can be solved",
        explanation: "The domain uses something that the classical planner does not plan with, such as durative actions. Such \
tasks cannot be generated, for nobody could say that they have a plan.",
    },
    CodeInfo { code: NO_WORDINGS, title: "the suite has no other wordings", explanation: WORDINGS },
    CodeInfo { code: WORDING, title: "wordings.jinja has a mistake", explanation: WORDINGS },
    CodeInfo {
        code: NO_WORDS,
        title: "the wordings do not cover a problem",
        explanation: "Wordings tell objects, facts and goals that are conjunctions of facts; numbers, times, metrics and other goals are not told. \
`require` in wordings.jinja also refuses problems: the message is its own.",
    },
    CodeInfo {
        code: UNTOLD,
        title: "a wording leaves a fact out",
        explanation: "Every fact of the initial state and of the goal is asked for by `init`, `goal` or `goal_not`, and stands with the names of all \
its objects in one sentence or line of the text. What the text tells by a rule or a count is named by `covered`.",
    },
    CodeInfo {
        code: ALIKE,
        title: "two wordings of a task are the same text",
        explanation: "More wordings were asked for than the template tells apart for this task. Write another one, let chance vary the order of \
facts or the words (`shuffle`, `pick`), or ask for fewer with --wordings.",
    },
    CodeInfo {
        code: NOT_IMPLIED,
        title: "a text of a level does not imply its problem",
        explanation: "The facts of all sentences, completed with knowledge.lp, are compared with the reference problem up to the names of objects. \
Facts of a sentence are the lines `= ...` after it in wordings.jinja, in the language of `planforge pddl infer`. Correct them, or add a rule for what \
holds in every task to knowledge.lp.",
    },
    CodeInfo {
        code: NEEDLESS,
        title: "a sentence of a level is not needed",
        explanation: "Each sentence of a level is left out in turn. If the same problem follows without it, it must be marked: `= irrelevant`.",
    },
    CodeInfo {
        code: NO_BRIEF_TEXT,
        title: "the suite has no text of its domain for level 4",
        explanation: "domain_brief.nl says what people would say about the domain and omits what everybody knows, for example that a gripper that \
holds something cannot grasp.",
    },
    CodeInfo {
        code: NO_TASKS,
        title: "the suite has no tasks",
        explanation: "A task is a file NAME.nl, with NAME.pddl as its reference. `planforge suite generate` makes tasks where the \
suite has a generator.jinja.",
    },
    CodeInfo {
        code: NO_TYPE,
        title: "a type is not described",
        explanation: "[types] of sentences.toml says what the objects of a type are; pipelines that ask a model for objects by type \
show it. A type without a description is shown by its name alone.\n\n    [types]\n    room = \"a room that balls lie in\"",
    },
    CodeInfo {
        code: IDLE_FILE,
        title: "the folder has a file that is not used",
        explanation: "p_example.lp is the intermediate representation of p_example.nl, and goes to a model with it alone.",
    },
    CodeInfo {
        code: UNNAMED,
        title: "the text does not name an object of the problem",
        explanation: "Names are looked for as words of their own, in any case; `ball 1` counts for ball1 and blanks for dashes. A \
problem that a model writes from this text cannot use the reference's names, unless the pipeline is given the objects.",
    },
    CodeInfo {
        code: GOAL_HOLDS,
        title: "the goal holds in the initial state",
        explanation: "The empty plan solves this task, so it tells nothing about a domain or a planner. Some published suites have \
such tasks; leave them out of a study, or say that they are in it.",
    },
    CodeInfo {
        code: WRONG_PLAN,
        title: "p_example.sol is not a plan for p_example.pddl",
        explanation: "The in-context example shows models how a task is solved, so its plan must be right.\n\n    planforge pddl validate \
domain.pddl p_example.pddl p_example.sol\n\nshows the step that fails.",
    },
    CodeInfo {
        code: PROSE_PLAN,
        title: "p_example.sol tells a plan in prose",
        explanation: "The file is shown to models as it is, and nobody can check it. A plan file has a step a line: \
`(action object object)`.",
    },
    CodeInfo {
        code: UNSOLVABLE,
        title: "a task has no plan",
        explanation: "The whole state space was searched, or the goal cannot be reached even if nothing is ever made false. The help \
lines say what is missing.",
    },
    CodeInfo {
        code: UNDECIDED,
        title: "whether a task has a plan was not decided",
        explanation: "A limit ended the search, it gave up without a proof, or the task uses something that the planner does not plan \
with. This says nothing about the task. Raise --time-limit, or try `planforge pddl plan` with other limits.",
    },
    CodeInfo {
        code: TEMPLATE_DIFFERS,
        title: "a template disagrees with what it is a template of",
        explanation: "domain_template.pddl has the domain's constants and actions with the same types of parameters, in order; \
NAME_template.pddl has the objects of NAME.pddl. A method that is given the template writes PDDL that cannot be compared with the \
reference otherwise.",
    },
    CodeInfo {
        code: TEMPLATE_SHOWS,
        title: "a template shows more than it should",
        explanation: "A domain template has empty conditions and effects, an object template an empty initial state. What stands there \
is shown to methods that are given the interface or the objects alone.",
    },
    CodeInfo {
        code: PARAMETER_ORDER,
        title: "a description names the parameters in another order than the PDDL",
        explanation: "A model that writes the action may list the parameters in the order of the text. That is another interface and the same \
behaviour, so result classes, heuristic equivalence and the least reconstruction error are up to a bijection between parameters of the same \
type; the class by position, which the domain-generators paper has, stands beside them.\n\nWhere plans are compared by position with other \
means, put the parameters in one order.",
    },
    CodeInfo { code: LAYOUT, title: "the folder lacks what suites are made of", explanation: IMPORTED },
    CodeInfo { code: TABLE, title: "a table of action descriptions cannot be read", explanation: IMPORTED },
    CodeInfo {
        code: ROW,
        title: "a row describes no action, or one that is described already",
        explanation: "Each row of domainNL/*.csv names a domain, as its PDDL or its file in pddl-problems is called, and an action of it, and \
has a text. An action has at most one row in each table. Letters of any case are the same.",
    },
    CodeInfo {
        code: NO_ROW,
        title: "an action has no row in a table",
        explanation: "Where a pipeline asks for descriptions of that class, the text is made: from the action's parameters, and from the sentences \
of its conditions and effects. An action with a row of another class needs one in Base-HC.csv: the texts of the other classes continue it.",
    },
    CodeInfo {
        code: DIFFERS,
        title: "a table writes an action otherwise than the domain's file",
        explanation: "The tables repeat each action in PDDL. What counts is pddl-problems/NAME.pddl: the suite's domain.pddl is made of it, and \
what a model writes is compared with it. Names compare without case; formatting and the order of conjuncts are no difference.",
    },
    CodeInfo {
        code: DESCRIPTION,
        title: "a line of predicate-descriptions does not describe a predicate of the domain",
        explanation: "A line is a declaration, a colon and a text:\n\n    (in ?l - lamp ?r - room) : lamp l stands in room r.\n\nThe \
domain has the predicate with as many parameters of the same types; the parameters may have other names.",
    },
    CodeInfo {
        code: NO_DESCRIPTION,
        title: "a predicate has no description",
        explanation: "Models are shown it with a text that is made of its name. Add a line to predicate-descriptions/NAME.txt.",
    },
    CodeInfo {
        code: INCOMPLETE,
        title: "a description does not name each parameter of its predicate",
        explanation: "Models are shown the description as it is, for that is the published data. Where facts of a state are told, a sentence \
without a parameter would be the same for facts that differ; there the predicate is told by its name: `at holds for truck1 and depot0.`",
    },
    CodeInfo {
        code: LEFT_OUT,
        title: "predicates are described of a domain that is not there",
        explanation: "predicate-descriptions has a file of a domain that pddl-problems does not have. No suite is made of it.",
    },
];
