//! A task from three texts, solved by clingo.

use planforge_asp::program::{Assembled, Source, Task, assemble};
use planforge_asp::stages::{Run, RunAnswers, SolveResult, solve};
use planforge_asp::syntax::ast::{Program, Term};
use planforge_asp::syntax::{parse, parse_ground_term};
use planforge_asp::{Declarations, read_knowledge};
use planforge_clingo::{SolveRequest, Symbol};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::Domain;
use std::collections::BTreeSet;

/// Names of the texts of a [`World`] in diagnostics.
pub(crate) const IR: SourceId = SourceId(0);
pub(crate) const KNOWLEDGE: SourceId = SourceId(1);
pub(crate) const DOMAIN: SourceId = SourceId(2);

/// The texts of a task, read.
pub(crate) struct World {
    pub(crate) domain_text: String,
    pub(crate) domain: Domain,
    pub(crate) knowledge_text: String,
    pub(crate) knowledge: Program,
    pub(crate) declarations: Declarations,
    pub(crate) declaration_findings: Vec<Diagnostic>,
    pub(crate) ir_text: String,
    pub(crate) ir: Program,
}

fn program(text: &str, source: SourceId) -> Program {
    let parsed = parse(text, source);
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.program
}

impl World {
    pub(crate) fn new(domain_text: &str, knowledge_text: &str, ir_text: &str) -> Self {
        let parsed = planforge_pddl::parse_domain(domain_text, DOMAIN);
        assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
        let knowledge = program(knowledge_text, KNOWLEDGE);
        let (declarations, declaration_findings) = read_knowledge(&knowledge, &parsed.value, KNOWLEDGE);
        Self {
            domain_text: domain_text.to_owned(),
            domain: parsed.value,
            knowledge_text: knowledge_text.to_owned(),
            knowledge,
            declarations,
            declaration_findings,
            ir_text: ir_text.to_owned(),
            ir: program(ir_text, IR),
        }
    }

    pub(crate) fn task(&self) -> Task<'_> {
        Task {
            domain: &self.domain,
            domain_id: DOMAIN,
            domain_text: &self.domain_text,
            knowledge: Some(Source {
                id: KNOWLEDGE,
                name: "knowledge",
                text: &self.knowledge_text,
                program: &self.knowledge,
            }),
            declarations: &self.declarations,
            ir: Source { id: IR, name: "ir", text: &self.ir_text, program: &self.ir },
        }
    }

    pub(crate) fn solve(&self) -> (Assembled, SolveResult) {
        assert_eq!(self.declaration_findings, []);
        let assembled = assemble(&self.task());
        assert_eq!(assembled.diagnostics, []);
        let reply = run(&assembled.job);
        (assembled, reply)
    }
}

fn symbol(term: &Term) -> Symbol {
    match term {
        Term::Function { name, arguments } => Symbol::function(name.clone(), arguments.iter().map(symbol)),
        Term::Number(number) => Symbol::Number(i32::try_from(*number).unwrap()),
        other => panic!("{other} is no value"),
    }
}

/// One program, solved by clingo.
pub(crate) fn clingo(run: Run<'_>) -> Result<RunAnswers, String> {
    let functions = |name: &str, arguments: &[Symbol]| {
        let arguments: Vec<Term> =
            arguments.iter().map(|a| parse_ground_term(&a.to_string()).unwrap()).collect();
        run.naming.call(name, &arguments).map(|value| value.map(|term| vec![symbol(&term)]))
    };
    let job = SolveRequest {
        models: run.models,
        optimise: run.optimise,
        functions: &functions,
        ..SolveRequest::new(run.program)
    };
    let answer = planforge_clingo::solve(&job).map_err(|error| format!("{error}\n{}", run.program))?;
    let answers = answer.models.iter().map(|model| model.iter().map(Symbol::to_string).collect()).collect();
    Ok(RunAnswers { answers, complete: answer.complete })
}

pub(crate) fn run(job: &planforge_asp::stages::SolveJob) -> SolveResult {
    solve(job, &mut clingo).unwrap_or_else(|error| panic!("{error}"))
}

/// Atoms of an answer with that predicate, sorted.
pub(crate) fn atoms(answer: &[String], predicates: &[&str]) -> BTreeSet<String> {
    answer.iter().filter(|atom| predicates.contains(&atom.split('(').next().unwrap())).cloned().collect()
}
