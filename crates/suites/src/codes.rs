//! The codes of this crate's diagnostics.

use planforge_diagnostics::CodeInfo;

pub(crate) const NO_GENERATOR: &str = "generate.no-generator";
pub(crate) const NO_DOMAIN: &str = "generate.no-domain";
pub(crate) const TEMPLATE: &str = "generate.template";
pub(crate) const SILENT: &str = "generate.silent-object";
pub(crate) const NO_DRAW: &str = "generate.no-draw";
pub(crate) const STOPPED: &str = "generate.stopped";
pub(crate) const UNSUPPORTED: &str = "generate.unsupported";

const FUNCTIONS: &str = "A generator is a Jinja template, rendered once a task. It prints two sections, each under a line of \
its own:\n\n    %% problem\n    (define (problem {{ name }}) ...)\n    %% text\n    There are two rooms, {{ rooms | listed \
}}.\n\nVariables: `index` (the task's number from 1, 0 for the in-context example) and `name`.\nFunctions: integer(a, b), \
chance(p), pick(list), sample(list, k), shuffle(list), names(stem, n),\ntree(list) and connected(list, extra) (pairs that join \
all items), redraw(why) (takes the next draw).\nFilters: `list | listed` (a, b and c), `n | word` (three), and those of \
Jinja.\nStatements stand in {% ... %}, or after # on a line of their own; ## begins a comment.\n\nIt reads no files, and may run for two million steps and print one megabyte.";

/// What `planforge explain` says about them.
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
];
