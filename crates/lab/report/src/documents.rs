//! The documents that report.js reads: one for each page of the report, as JSON. Long texts are in a separate
//! store and referred to by numbers ([`TextId`]), so that equal ones are kept once and none is unpacked
//! before it is shown.

use crate::changes::Changes;
use crate::outline::{LogLine, Pull, Retry, RoundOutline, Selection, Session, Spent};
use planforge_contract::{
    AppliedFix, Edits, Failure, LineageStep, ProviderFailure, ReportedDiagnostic, Usage,
};
use planforge_evaluate::Table;
use planforge_evaluate::tables::{Methods, OPEN};
use planforge_record::TaskVerdict;
use serde::Serialize;
use std::collections::BTreeMap;

/// The number of a text.
pub(crate) type TextId = u32;
/// The number of a page.
pub(crate) type PageId = u32;

/// Comparison of an evaluation's methods.
#[derive(Serialize)]
pub(crate) struct MethodsEntry {
    /// One for each method and null baseline.
    sentences: Vec<String>,
    /// Success by level and by size.
    tables: Vec<MethodsTable>,
    /// Success against tokens.
    figure: Option<TextId>,
}

#[derive(Serialize)]
struct MethodsTable {
    caption: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl MethodsEntry {
    pub(crate) fn new(methods: &Methods, figure: Option<TextId>) -> Self {
        let table = |(caption, table): (String, Table)| {
            let rows = table.rows().to_vec();
            let open = rows.iter().flatten().any(|cell| cell.contains('?'));
            MethodsTable {
                caption: if open { format!("{caption}. {OPEN}") } else { caption },
                columns: table.header().map(str::to_owned).collect(),
                rows,
            }
        };
        Self {
            sentences: methods.sentences().cloned().collect(),
            tables: methods.tables().into_iter().map(table).collect(),
            figure,
        }
    }
}

/// The index of the report: enough for the first table, with the places of everything else.
#[derive(Serialize)]
pub(crate) struct Index {
    /// Version of the documents, 1.
    pub(crate) schema: u32,
    /// `run` or `evaluation`.
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    pub(crate) planforge: String,
    pub(crate) cells: Vec<CellEntry>,
    /// Tables as the command line writes them: name and text.
    pub(crate) tables: Vec<(String, TextId)>,
    /// The methods of each evaluation.
    pub(crate) methods: Vec<MethodsEntry>,
    /// Unreadable parts, for a person.
    pub(crate) warnings: Vec<String>,
    /// The styles of drawings, by what they show.
    pub(crate) styles: BTreeMap<&'static str, &'static str>,
    #[serde(flatten)]
    pub(crate) chunks: Firsts,
}

/// The number of the first text and of the first page of each chunk.
#[derive(Serialize, Default)]
pub(crate) struct Firsts {
    pub(crate) text_chunks: Vec<u32>,
    pub(crate) page_chunks: Vec<u32>,
}

/// A run of an evaluation, or the run.
#[derive(Serialize, Default)]
pub(crate) struct CellEntry {
    pub(crate) suite: String,
    pub(crate) pipeline: String,
    pub(crate) model: String,
    pub(crate) seed: u64,
    /// True if a model of it is simulated: its figures say nothing about a language model.
    pub(crate) simulated: bool,
    /// Numbers of tasks by outcome.
    pub(crate) counts: Counts,
    /// True if outcomes are those of the evaluation (a judging stage) or the tasks' verdicts.
    pub(crate) judged: bool,
    /// Walk score of the cell, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) walk: Option<f64>,
    /// `finished`, `unfinished` or `not started`.
    pub(crate) state: &'static str,
    pub(crate) candidates: usize,
    pub(crate) calls: usize,
    pub(crate) tokens: Account,
    /// Absent without a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<PageId>,
}

/// Numbers of tasks by outcome.
#[derive(Serialize, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) solved: usize,
    pub(crate) not_solved: usize,
    pub(crate) undecided: usize,
    pub(crate) failed: usize,
    pub(crate) unfinished: usize,
}

/// Use of models. Numbers that a server did not report are unknown, never 0.
#[derive(Serialize, Default, Clone)]
pub(crate) struct Account {
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) replies: u64,
    pub(crate) attempts: u64,
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
    /// Calls of which the server did not count all tokens.
    pub(crate) unmetered: u64,
    /// Sum of the calls' wall times, in milliseconds; calls side by side count each.
    pub(crate) ms: u64,
    /// US dollars; absent where a price or a count is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
}

/// A run.
#[derive(Serialize, Default)]
pub(crate) struct CellPage {
    pub(crate) id: String,
    pub(crate) created_at: String,
    pub(crate) planforge: String,
    pub(crate) config_path: String,
    pub(crate) config: TextId,
    pub(crate) overrides: Vec<String>,
    pub(crate) models: BTreeMap<String, String>,
    pub(crate) plugins: Vec<String>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) tasks: Vec<TaskEntry>,
    /// By `[llm]` table.
    pub(crate) by_model: BTreeMap<String, Account>,
    pub(crate) by_stage: BTreeMap<String, Account>,
    /// Planners, verifiers and programs: how often, and milliseconds.
    pub(crate) effects: BTreeMap<String, (u64, u64)>,
}

/// A line of a cell's table.
#[derive(Serialize)]
pub(crate) struct TaskEntry {
    pub(crate) task: String,
    /// solved, not solved, undecided, failed, unfinished.
    pub(crate) outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<&'static str>,
    /// The reason why it is not solved, for a person.
    pub(crate) why: String,
    pub(crate) candidates: usize,
    pub(crate) failed: usize,
    pub(crate) account: Account,
    /// Absent if the page is written when it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<PageId>,
}

/// A task.
#[derive(Serialize)]
pub(crate) struct TaskPage {
    pub(crate) task: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<TaskVerdict>,
    /// Description of the domain and of the task, where the suite's folder is still there.
    pub(crate) texts: Vec<(String, TextId)>,
    /// Labels of stages in the order of the pipeline file.
    pub(crate) stages: Vec<String>,
    /// Labels of stages that only measure.
    pub(crate) measured: Vec<String>,
    pub(crate) tree: Tree,
    pub(crate) calls: CallList,
    pub(crate) rounds: Vec<RoundOutline>,
    pub(crate) selections: Vec<Selection>,
    pub(crate) pulls: Vec<Pull>,
    pub(crate) spent: Vec<Spent>,
    pub(crate) curves: Vec<CurveView>,
    /// Failures of calls other than samples: the path and the failure.
    pub(crate) broken: Vec<(String, Failure)>,
    /// Documents of its candidates and calls that cannot be read; their pages have the reasons.
    pub(crate) unreadable: usize,
    pub(crate) by_model: BTreeMap<String, Account>,
    pub(crate) by_stage: BTreeMap<String, Account>,
    pub(crate) effects: BTreeMap<String, (u64, u64)>,
}

/// A metric over rounds or samples, drawn.
#[derive(Serialize)]
pub(crate) struct CurveView {
    pub(crate) metric: String,
    /// `round` or `sample`.
    pub(crate) over: &'static str,
    /// The drawing, an `<svg>` element as text.
    pub(crate) svg: TextId,
}

/// Candidates and samples that broke, parents before their children, column by column.
#[derive(Serialize, Default)]
pub(crate) struct Tree {
    /// Labels of stages with their rounds.
    pub(crate) labels: Vec<String>,
    /// By node, the place of its stage in `labels`.
    pub(crate) label: Vec<u32>,
    /// By node, which sample.
    pub(crate) sample: Vec<u32>,
    /// By node, its parent's place; -1 for those that the task itself, or another task's candidate, led to.
    pub(crate) parent: Vec<i64>,
    /// Place of a node without a parent here -> the indices of what it came from, where it has some.
    pub(crate) start: BTreeMap<usize, String>,
    /// By node, its page; -1 for a sample that broke.
    pub(crate) page: Vec<i64>,
    /// Place of a node -> how the sample broke.
    pub(crate) failed: BTreeMap<usize, Failure>,
    /// Stage -> by node the first letter of the decision (`c` for not comparable), `-` where there is none.
    pub(crate) decisions: BTreeMap<String, String>,
    /// Metric -> by node its value.
    pub(crate) metrics: BTreeMap<String, Vec<Option<f64>>>,
    /// The metric by which the pipeline chose, if the record names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// Place of a node -> how the planner answered.
    pub(crate) planned: BTreeMap<usize, String>,
    /// Select stage -> places of the nodes that it kept, best first.
    pub(crate) kept: BTreeMap<String, Vec<usize>>,
    /// Select stage -> places of nodes of the same stage that it did not keep.
    pub(crate) dropped: BTreeMap<String, Vec<usize>>,
    /// Places of the best of a round.
    pub(crate) best: Vec<usize>,
    /// The node that the verdict is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<usize>,
    /// Places of calls that led to samples that broke, by node.
    pub(crate) failed_calls: BTreeMap<usize, Vec<u32>>,
}

/// Calls to models, column by column.
#[derive(Serialize, Default)]
pub(crate) struct CallList {
    /// Without the task's name.
    pub(crate) path: Vec<String>,
    pub(crate) role: Vec<String>,
    pub(crate) llm: Vec<String>,
    pub(crate) model: Vec<String>,
    pub(crate) prompt: Vec<Option<u64>>,
    pub(crate) completion: Vec<Option<u64>>,
    pub(crate) ms: Vec<u64>,
    pub(crate) attempts: Vec<u32>,
    pub(crate) replies: Vec<u32>,
    /// Empty where it was answered, else the class of the failure or `pending`.
    pub(crate) failure: Vec<String>,
    pub(crate) page: Vec<PageId>,
}

/// A candidate.
#[derive(Serialize)]
pub(crate) struct CandidatePage {
    pub(crate) path: String,
    pub(crate) lineage: Vec<LineageStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) domain: Option<Pddl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Pddl>,
    /// Changes of its own reply to the parent's domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) domain_changes: Option<Changes>,
    /// The same for the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem_changes: Option<Changes>,
    /// Texts in plain language and intermediate representations, by what they are.
    pub(crate) texts: Vec<(String, TextId)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thought: Option<TextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log_likelihood: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edits: Option<Edits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<TextId>,
    pub(crate) fixes: Vec<AppliedFix>,
    /// Diagnostics of reading the reply.
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
    pub(crate) conversation: Vec<Turn>,
    pub(crate) assessments: Vec<AssessmentView>,
    pub(crate) plans: Vec<PlanView>,
    /// Places of the calls that wrote it.
    pub(crate) wrote: Vec<u32>,
    /// Places of the calls about it.
    pub(crate) about: Vec<u32>,
    /// Unreadable parts of its record.
    pub(crate) unreadable: Vec<String>,
}

/// PDDL and whether the candidate's own reply wrote it.
#[derive(Serialize)]
pub(crate) struct Pddl {
    pub(crate) text: TextId,
    pub(crate) written: bool,
}

/// One message with its author.
#[derive(Serialize)]
pub(crate) struct Turn {
    pub(crate) role: &'static str,
    pub(crate) text: TextId,
}

/// The assessment of a verify stage.
#[derive(Serialize)]
pub(crate) struct AssessmentView {
    pub(crate) stage: String,
    pub(crate) decision: &'static str,
    /// The reason why it was not decided or not compared.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
    pub(crate) summary: String,
    pub(crate) metrics: BTreeMap<String, f64>,
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
    pub(crate) feedback: Vec<TextId>,
    /// The plugin's own evidence as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<TextId>,
    /// The length, if the text is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evidence_bytes: Option<usize>,
}

/// The answer of a planner.
#[derive(Serialize)]
pub(crate) struct PlanView {
    pub(crate) stage: String,
    pub(crate) outcome: &'static str,
    /// The best plans.
    pub(crate) plans: Vec<StepsView>,
    /// Number of plans.
    pub(crate) found: usize,
    pub(crate) optimal: bool,
    pub(crate) statistics: serde_json::Value,
    pub(crate) explanation: Vec<String>,
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
    /// The page with the states of the best plan in the candidate's own domain and problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) states: Option<PageId>,
}

/// A plan.
#[derive(Serialize)]
pub(crate) struct StepsView {
    pub(crate) steps: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
}

/// A question to a model.
#[derive(Serialize, Default)]
pub(crate) struct CallPage {
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) role: String,
    pub(crate) llm: String,
    pub(crate) model: String,
    pub(crate) messages: Vec<Turn>,
    /// Sampling and further fields of the request.
    pub(crate) settings: serde_json::Map<String, serde_json::Value>,
    pub(crate) replies: Vec<ReplyView>,
    /// The model's name as the server gave it.
    pub(crate) answered_by: String,
    pub(crate) usage: Usage,
    pub(crate) attempts: u32,
    pub(crate) retries: Vec<Retry>,
    pub(crate) ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<ProviderFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) broken: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<String>,
    pub(crate) unreadable: Vec<String>,
}

/// An answer.
#[derive(Serialize)]
pub(crate) struct ReplyView {
    pub(crate) text: TextId,
    /// The model's reasoning, apart from the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thought: Option<TextId>,
    pub(crate) finish: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log_likelihood: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
}
