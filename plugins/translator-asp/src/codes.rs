//! The codes of this plugin. Those about a program, `asp.*` and `ir.*`, are of the crate asp, those about a reply, `reply.*`, the SDK's.

use planforge_diagnostics::CodeInfo;

pub(crate) const NO_TEXT: &str = "translate-asp.no-text";
pub(crate) const NO_DOMAIN: &str = "translate-asp.no-domain";
pub(crate) const NO_EXAMPLE: &str = "translate-asp.no-example";
pub(crate) const NO_IR: &str = "translate-asp.no-ir";
pub(crate) const KNOWLEDGE: &str = "translate-asp.knowledge";
pub(crate) const DESCRIPTIONS: &str = "translate-asp.descriptions";
pub(crate) const TEMPLATE: &str = "translate-asp.prompt-template";
pub(crate) const FEW_REPLIES: &str = "translate-asp.too-few-replies";
pub(crate) const JSON: &str = "translate-asp.json";
pub(crate) const TYPE: &str = "translate-asp.unknown-type";
pub(crate) const COUNT: &str = "translate-asp.count";
pub(crate) const NAME: &str = "translate-asp.name";
pub(crate) const REFUSED: &str = "translate-asp.refused";
pub(crate) const CONFLICT: &str = "translate-asp.conflict";
pub(crate) const AMBIGUOUS: &str = "translate-asp.ambiguous";
pub(crate) const NOT_COMPILED: &str = "translate-asp.not-compiled";
pub(crate) const REMARK: &str = "translate-asp.remark";
pub(crate) const COMPARISON: &str = "translate-asp.comparison";
pub(crate) const REASONER: &str = "translate-asp.reasoner";
pub(crate) const JOB: &str = "translate-asp.job";
pub(crate) const TIME: &str = "translate-asp.time";
pub(crate) const SIZE: &str = "translate-asp.size";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NO_TEXT,
        title: "there is no text to translate",
        explanation: "The task has no text (`p01.nl` beside `p01.pddl`), or it is empty.",
    },
    CodeInfo {
        code: NO_DOMAIN,
        title: "there is no domain to translate for",
        explanation: "The intermediate representation is read, completed and compiled with the domain: its types, predicates and constants. \
The pipeline gives none, an unreadable one, or one with names that the representation cannot distinguish.\n\nSet `domain = true` in [given].",
    },
    CodeInfo {
        code: NO_EXAMPLE,
        title: "the suite has no in-context example in the intermediate representation",
        explanation: "Mode `ic` shows the text of a task and its intermediate representation: the files `p_example.nl` and `p_example.lp` \
of the suite or of an add-on.\n\nAdd them and set `example = true` in [given], or use mode `g3` or `g1`, which need none.",
    },
    CodeInfo {
        code: NO_IR,
        title: "there is no intermediate representation",
        explanation: "Mode `infer` asks no model: it takes the candidate's text `ir`, and the candidate has none.\n\nPut a stage before it \
that writes it, or use `planforge pddl infer` with a file.",
    },
    CodeInfo {
        code: KNOWLEDGE,
        title: "the knowledge file has mistakes",
        explanation: "The suite's knowledge.lp cannot be read. Nothing was inferred and no model was asked: this is a mistake in the suite, \
not in any text.\n\nRun `planforge suite check` on the suite.",
    },
    CodeInfo {
        code: DESCRIPTIONS,
        title: "the requests lack descriptions",
        explanation: "The generic requests describe each type and predicate in words. The suite's sentences.toml does not describe all of \
them ([types] and [predicates]), so the request has only names, numbers of arguments and types for the others.",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "A bug in this plugin: a prompt template names a value that is missing.\n\n\
Please report it with the message.",
    },
    CodeInfo {
        code: FEW_REPLIES,
        title: "fewer replies than samples",
        explanation: "The host returned fewer replies than were requested. The missing samples fail; the others go on.",
    },
    CodeInfo {
        code: JSON,
        title: "an answer cannot be read as JSON",
        explanation: "Mode `g3` asks for the numbers and the names of objects as JSON. It is read with Python's quotes and words, trailing \
commas and prose around it; this answer is unreadable nevertheless. The sample failed.\n\nSet `repair_rounds` to ask again.",
    },
    CodeInfo {
        code: TYPE,
        title: "an answer is about a type that the domain does not have",
        explanation: "The entry was left out: the problem cannot use it.",
    },
    CodeInfo {
        code: COUNT,
        title: "a number of objects is not clear",
        explanation: "Numbers of objects are whole and not negative. If the count of objects in rows and columns differs from \
rows times columns, the count is used.",
    },
    CodeInfo {
        code: NAME,
        title: "a mention cannot be converted to a name",
        explanation: "Names are mentions in lower case with `_` for spaces and hyphens. They begin with a letter and are made of a-z, \
0-9 and `_`. The mention was left out.",
    },
    CodeInfo {
        code: REFUSED,
        title: "the program cannot be used",
        explanation: "Statements of the intermediate representation were refused; each has a diagnostic with line and column. A problem \
without them would be another one, so none was made and the sample failed.\n\nSet `repair_rounds` to show the model and ask again.",
    },
    CodeInfo {
        code: CONFLICT,
        title: "the program contradicts itself or what is known of the domain",
        explanation: "No answer satisfies every constraint. The diagnostics name the violated constraint and the facts that violate it.",
    },
    CodeInfo {
        code: AMBIGUOUS,
        title: "the program has several answers that are different problems",
        explanation: "Answers that are equal but for the names of objects count as one. These are not, and the diagnostics list the atoms \
that differ.\n\nMake the text, or the suite's knowledge file, unambiguous.",
    },
    CodeInfo {
        code: NOT_COMPILED,
        title: "the answer is not a problem of the domain",
        explanation: "What was inferred does not fit the domain: a fact with arguments of other types, an object without a type. See the \
diagnostics.",
    },
    CodeInfo {
        code: REMARK,
        title: "clingo has a remark about a rule",
        explanation: "The text is clingo's. A warning: instances of a rule were left out, because they compute with something that is not a \
number. An error: the program cannot be solved.",
    },
    CodeInfo {
        code: COMPARISON,
        title: "it was not decided whether two answers are the same problem",
        explanation: "The program has several answers. Those that are equal but for the names of objects count as one, and the stage's \
`limits.choices` or `limits.time_s` was reached before that was known.",
    },
    CodeInfo {
        code: REASONER,
        title: "clingo failed",
        explanation: "clingo ended with an error that does not concern the program.\n\nPlease report it with the program.",
    },
    CodeInfo {
        code: JOB,
        title: "the child process did not understand its job",
        explanation: "A bug in this plugin, or a child process of another version.\n\nPlease report it with the message.",
    },
    CodeInfo {
        code: TIME,
        title: "a program was not solved in time",
        explanation: "The stage's `limits.time_s` was reached. Nothing was decided about the program.\n\nA rule that makes its own condition \
true again with a larger number never ends:\n\n    p(X+1) :- p(X).",
    },
    CodeInfo {
        code: SIZE,
        title: "a program or its answer is too large",
        explanation: "The stage's `limits.program_kb`, `limits.answer_kb` or `limits.memory_mb` was reached. Nothing was \
decided about the program.",
    },
];
