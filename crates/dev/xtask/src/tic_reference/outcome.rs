//! The problem inferred from a representation, compared with the reference. Inference runs in this process: the texts are our own
//! converters' and the knowledge files ours, so nothing has to be contained.

use super::TextTask;
use planforge_asp::answer::{self, ExplainedAnswer};
use planforge_asp::compile::{self, IrOnly, Place};
use planforge_asp::names::Naming;
use planforge_asp::program::{Assembled, Source, Task, assemble};
use planforge_asp::reader::{self, Signature};
use planforge_asp::stages::{self, Run, RunAnswers, SolveResult};
use planforge_asp::syntax::{parse, parse_ground_term};
use planforge_asp::{Declarations, read_knowledge};
use planforge_clingo::{SolveRequest, Symbol};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::TaskSources;
use planforge_pddl::ast::Domain;
use planforge_planning::Unlimited;
use planforge_planning::equivalence::{ProblemDifference, ProblemEquivalence, equivalent_problems};
use std::fmt;
use std::path::Path;

/// Pairs of objects that a comparison may try; the tasks need a few hundred.
const MAX_CHOICES: u64 = 1_000_000;

/// The outcome of a task.
pub(crate) enum Outcome {
    /// The same problem but for names.
    Equivalent {
        /// Objects whose names differ by more than a hyphen: ours, the reference's.
        renamed: Vec<(String, String)>,
    },
    Different(ProblemDifference),
    /// The comparison ended at its limit.
    Undecided,
    /// Sentences that no pattern reads.
    NotConverted(Vec<String>),
    /// Inference or compilation refused.
    Refused(Vec<String>),
}

impl Outcome {
    /// True if the problems are equivalent.
    pub(crate) fn is_equivalent(&self) -> bool {
        matches!(self, Self::Equivalent { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equivalent { renamed } if renamed.is_empty() => write!(f, "equivalent"),
            Self::Equivalent { renamed } => {
                write!(f, "equivalent, {} objects named otherwise", renamed.len())
            }
            Self::Different(difference) => write!(f, "different: {}", describe_difference(difference)),
            Self::Undecided => write!(f, "comparison undecided at its limit"),
            Self::NotConverted(problems) => write!(f, "not converted: {}", problems.join("; ")),
            Self::Refused(messages) => write!(f, "refused: {}", messages.join("; ")),
        }
    }
}

/// A difference in few words: ours is the first problem, the reference the second.
fn describe_difference(difference: &ProblemDifference) -> String {
    difference.summary(["too many objects", "missing objects", "too many facts", "missing facts"])
}

/// Infers, compiles and compares; the problem is kept in the folder, if one is given.
///
/// # Errors
/// A reference that cannot be read, a problem that cannot be kept, a reasoner that broke.
pub(crate) fn of(task: &TextTask, ir: &str, keep: Option<&Path>) -> Result<Outcome, String> {
    let problem = match problem(&task.domain, &task.knowledge, ir)? {
        Ok(problem) => problem,
        Err(messages) => return Ok(Outcome::Refused(messages)),
    };
    if let Some(folder) = keep {
        let path = folder.join(format!("{}.pddl", task.stem));
        std::fs::write(&path, &problem).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(compare(&task.domain, &problem, &task.problem))
}

fn compare(domain: &str, ours: &str, reference: &str) -> Outcome {
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let ours = planforge_pddl::parse_problem(ours, SourceId(1)).value;
    let reference = planforge_pddl::parse_problem(reference, SourceId(2)).value;
    match equivalent_problems(&domain, &ours, &reference, MAX_CHOICES, &mut Unlimited) {
        ProblemEquivalence::Equal { mut renaming } => {
            renaming.retain(|(a, b)| *a != b.replace('-', "_"));
            Outcome::Equivalent { renamed: renaming }
        }
        ProblemEquivalence::Different(difference) => Outcome::Different(difference),
        ProblemEquivalence::Undecided { .. } => Outcome::Undecided,
    }
}

/// True if two representations give the same problem with the same names.
///
/// # Errors
/// The reasoner failed.
pub(crate) fn same_names(task: &TextTask, first: &str, second: &str) -> Result<bool, String> {
    let sorted = |ir: &str| -> Result<Vec<String>, String> {
        let problem = problem(&task.domain, &task.knowledge, ir)?.map_err(|m| m.join("; "))?;
        let mut lines: Vec<String> = problem.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        Ok(lines)
    };
    Ok(sorted(first)? == sorted(second)?)
}

const IR: SourceId = SourceId(0);
const KNOWLEDGE: SourceId = SourceId(1);
const DOMAIN: SourceId = SourceId(2);
const PROBLEM: SourceId = SourceId(3);

/// The problem, or what is wrong: findings of the reader (repairs too: converters have no need of them), of the knowledge file, conflicts,
/// several answers, and mistakes of the problem.
///
/// # Errors
/// A reasoner that broke.
fn problem(domain: &str, knowledge: &str, ir: &str) -> Result<Result<String, Vec<String>>, String> {
    let parsed = planforge_pddl::parse_domain(domain, DOMAIN);
    let known = parse(knowledge, KNOWLEDGE);
    let (declarations, declared) = read_knowledge(&known.program, &parsed.value, KNOWLEDGE);
    let (signature, ir_only) = vocabulary(&parsed.value, &declarations);
    let reading = reader::read(ir, IR, &signature);
    let wrong = [parsed.diagnostics, known.diagnostics, declared].concat();
    // `goal(not p)` is the form of the paper, and reading it is not a repair.
    let read = reading.diagnostics();
    let read = read.iter().filter(|d| d.code != "ir.negative-goal");
    if let Some(wrong) = error_messages(wrong.iter().filter(|d| d.is_error()).chain(read)) {
        return Ok(Err(wrong));
    }
    let assembled = assemble(&Task {
        domain: &parsed.value,
        domain_id: DOMAIN,
        domain_text: domain,
        knowledge: Some(Source {
            id: KNOWLEDGE,
            name: "knowledge",
            text: knowledge,
            program: &known.program,
        }),
        declarations: &declarations,
        ir: Source { id: IR, name: "ir", text: ir, program: &reading.program },
    });
    if let Some(wrong) = error_messages(assembled.diagnostics.iter().filter(|d| d.is_error())) {
        return Ok(Err(wrong));
    }
    let reply = solve(&assembled)?;
    let answers = match answer::read_answers(&assembled, &reply) {
        Ok(answers) => answers,
        Err(conflicts) => return Ok(Err(error_messages(&conflicts).unwrap_or_default())),
    };
    match answers.answers.as_slice() {
        [answer] => Ok(compile_problem(&parsed.value, &ir_only, answer)),
        several => Ok(Err(vec![format!("{} answers", several.len())])),
    }
}

/// The names that a representation may use, and those that the PDDL does not get.
fn vocabulary(domain: &Domain, declarations: &Declarations) -> (Signature, IrOnly) {
    let signature = Signature::new(domain, declarations);
    let ir_only = IrOnly {
        types: signature.ir_types.clone(),
        predicates: signature.ir_predicates.keys().cloned().collect(),
    };
    (signature, ir_only)
}

fn error_messages<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Option<Vec<String>> {
    let messages: Vec<String> =
        diagnostics.into_iter().map(|d| format!("{} ({})", d.message, d.code)).collect();
    (!messages.is_empty()).then_some(messages)
}

fn solve(assembled: &Assembled) -> Result<SolveResult, String> {
    stages::solve(&assembled.job, &mut |run: Run<'_>| {
        let functions = |name: &str, arguments: &[Symbol]| call(run.naming, name, arguments);
        let job = SolveRequest {
            models: run.models,
            optimise: run.optimise,
            functions: &functions,
            ..SolveRequest::new(run.program)
        };
        let answer = planforge_clingo::solve(&job).map_err(|e| e.to_string())?;
        let atoms = |model: &Vec<Symbol>| model.iter().map(Symbol::to_string).collect();
        Ok(RunAnswers { answers: answer.models.iter().map(atoms).collect(), complete: answer.complete })
    })
}

fn call(naming: &Naming, name: &str, arguments: &[Symbol]) -> Option<Result<Vec<Symbol>, String>> {
    let terms: Option<Vec<_>> = arguments.iter().map(|a| parse_ground_term(&a.to_string())).collect();
    let made = naming.call(name, &terms?)?;
    Some(made.map(|term| vec![Symbol::constant(term.to_string())]))
}

fn compile_problem(
    domain: &Domain,
    ir_only: &IrOnly,
    answer: &ExplainedAnswer<'_>,
) -> Result<String, Vec<String>> {
    let places = |atom: u32| {
        let found = answer.derivations.places(atom).into_iter();
        found.map(|(source, span)| Place { source, span }).collect()
    };
    let compiled = compile::compile(&compile::Input {
        domain,
        materialized: &answer.materialized,
        ir_only,
        name: "reference",
        spellings: &Default::default(),
        places: &places,
        sources: TaskSources { domain: DOMAIN, problem: PROBLEM },
    });
    let problem = compiled.problem().map(str::to_owned);
    problem.ok_or_else(|| {
        error_messages(compiled.diagnostics.iter().filter(|d| d.is_error())).unwrap_or_default()
    })
}
