//! From an intermediate representation to a problem: read, assembled, solved in the child process, compiled.

use crate::vocabulary::Vocabulary;
use crate::work::{Question, Remark, Solved, ask_child};
use crate::{AspTranslatorOptions, codes};
use planforge_asp::answer::{ExplainedAnswer, ExplainedAnswers};
use planforge_asp::compile::{Compiled, IrOnly, Place, Section, compile};
use planforge_asp::derivations::Idle;
use planforge_asp::program::{Assembled, Origin, Table};
use planforge_asp::reader::Signature;
use planforge_asp::syntax::ast::{Program, Term};
use planforge_asp::{Declarations, answer, compile, program, read_knowledge, reader};
use planforge_contract::api::Host;
use planforge_contract::{
    AppliedFix, Failure, FailureClass, IdleReason, IdleRule, InferenceRule, InferredAtom, InferredEntry,
    ProblemSection, ReportedDiagnostic, ReportedSeverity, RuleOrigin, TaskView, TranslateRequest,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_grammar::AspVocabulary;
use planforge_pddl::ast::Domain;
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use planforge_planning::{Poll, ResourceLimits, StopReason};
use planforge_plugin_common::judging::Deadline;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The names of the texts that findings are about.
pub(crate) const IR: &str = "ir";
const KNOWLEDGE: &str = "knowledge";
const DOMAIN: &str = "domain";
const PROBLEM: &str = "problem";
/// Their numbers, in the order of [`Inference::sources`].
const IR_ID: SourceId = SourceId(0);
const KNOWLEDGE_ID: SourceId = SourceId(1);
const DOMAIN_ID: SourceId = SourceId(2);
const PROBLEM_ID: SourceId = SourceId(3);

/// Prefix of a help line that names a further place in the representation.
pub(crate) const FURTHER_PLACE: &str = "ir line ";

/// Characters of a line that is quoted.
pub(crate) const MOST_QUOTED: usize = 200;

/// Completes and compiles the representations of a call.
pub(crate) struct Inference<'a> {
    options: &'a AspTranslatorOptions,
    task: &'a TaskView,
    domain: Domain,
    domain_text: &'a str,
    knowledge: Program,
    knowledge_text: &'a str,
    declarations: Declarations,
    /// Predicates that a representation may use.
    signature: Signature,
    /// Parts that are not compiled to PDDL.
    ir_only: IrOnly,
    /// The text's names of objects.
    spellings: BTreeMap<String, String>,
    pub(crate) vocabulary: Vocabulary,
}

/// The first answer of a representation.
pub(crate) struct Materialized {
    pub(crate) atoms: Vec<Term>,
    /// The problem, if the atoms make one.
    pub(crate) problem: Option<String>,
}

/// A problem with the provenance of its parts.
#[derive(Debug)]
pub(crate) struct Inferred {
    pub(crate) problem: String,
    pub(crate) inference: planforge_contract::Inference,
    /// Repairs of the representation.
    pub(crate) fixes: Vec<AppliedFix>,
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
}

/// The reason why a representation does not lead to a problem.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: &'static str,
    /// All findings, at least one of them an error.
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
}

impl Refusal {
    /// The failure of the sample. `rounds`: number of repair questions.
    pub(crate) fn failure(self, rounds: u32) -> Failure {
        let errors: Vec<&ReportedDiagnostic> =
            self.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Error).collect();
        let what = match self.code {
            codes::CONFLICT => "the program contradicts itself or what is known of the domain",
            codes::AMBIGUOUS => "the program has several answers that are different problems",
            codes::NOT_COMPILED => "what the program says is no problem of the domain",
            _ => "the program cannot be used",
        };
        let first = errors.first().map(|d| match d.line {
            0 => d.message.clone(),
            line => format!("{} line {line}, column {}: {}", d.file, d.column, d.message),
        });
        let more = match errors.len().saturating_sub(1) {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let message = format!("{what}: {}{more}", first.unwrap_or_default());
        let help = match rounds {
            0 => {
                "set `repair_rounds` to tell the model what is wrong, ask for more samples (`n`), or use another model"
            }
            _ => "ask for more samples (`n`), or use another model",
        };
        Failure::new(FailureClass::Reply, self.code, message).help(help).diagnostics(self.diagnostics)
    }
}

impl Inference<'_> {
    /// The names that a representation may use.
    pub(crate) fn asp_vocabulary(&self) -> AspVocabulary {
        let signature = &self.signature;
        let of_domain = signature.predicates.iter().map(|(name, arity)| (name.clone(), *arity));
        let of_ir = signature.ir_predicates.iter().map(|(name, types)| (name.clone(), types.len()));
        let predicates = of_domain.chain(of_ir).collect();
        AspVocabulary {
            types: signature.all_types().map(str::to_owned).collect(),
            predicates,
            functions: signature.functions.iter().map(|(name, arity)| (name.clone(), *arity)).collect(),
        }
    }
}

impl<'a> Inference<'a> {
    /// Reads the domain and the knowledge file.
    pub(crate) fn new(
        options: &'a AspTranslatorOptions,
        request: &'a TranslateRequest,
    ) -> Result<Self, Failure> {
        let task = &request.task;
        let given = request.candidate.domain.as_deref().or(task.given.domain.as_deref());
        let domain_text = given.filter(|text| !text.trim().is_empty()).ok_or_else(|| {
            Failure::new(FailureClass::Request, codes::NO_DOMAIN, "the pipeline gives no domain")
                .help("set `domain = true` in [given]")
        })?;
        let knowledge_text = task.materials.knowledge.as_deref().unwrap_or_default();
        let mut sources = SourceMap::single(IR, "");
        sources.add(KNOWLEDGE, knowledge_text);
        sources.add(DOMAIN, domain_text);
        let domain = planforge_pddl::parse_domain(domain_text, DOMAIN_ID);
        refuse_given(codes::NO_DOMAIN, "the domain cannot be read", &domain.diagnostics, &sources)?;
        let alike = planforge_asp::names::collisions(&domain.value, DOMAIN_ID);
        refuse_given(codes::NO_DOMAIN, "the domain cannot be translated for", &alike, &sources)?;
        let knowledge = planforge_asp::syntax::parse(knowledge_text, KNOWLEDGE_ID);
        let mut found = knowledge.diagnostics;
        let (declarations, wrong) = read_knowledge(&knowledge.program, &domain.value, KNOWLEDGE_ID);
        found.extend(wrong);
        refuse_given(codes::KNOWLEDGE, "the knowledge file cannot be used", &found, &sources)?;
        let signature = Signature::new(&domain.value, &declarations);
        let ir_only = IrOnly {
            types: declarations.types.iter().map(|ty| ty.name.clone()).collect(),
            predicates: declarations.predicates.iter().map(|p| p.name.clone()).collect(),
        };
        Ok(Self {
            options,
            task,
            signature,
            ir_only,
            spellings: planforge_asp::names::spellings(&task.task_text),
            vocabulary: Vocabulary::of(&domain.value, &declarations, task),
            domain: domain.value,
            domain_text,
            knowledge: knowledge.program,
            knowledge_text,
            declarations,
        })
    }
}

/// The failure of mistakes in given texts, which are not the reply's fault.
fn refuse_given(
    code: &'static str,
    what: &str,
    found: &[Diagnostic],
    sources: &SourceMap,
) -> Result<(), Failure> {
    let Some(first) = found.iter().find(|d| d.is_error()) else { return Ok(()) };
    let message = format!("{what}: {}", first.message);
    Err(Failure::new(FailureClass::Request, code, message)
        .help("run `planforge suite check` on the suite")
        .diagnostics(report(found, sources)))
}

fn report(diagnostics: &[Diagnostic], sources: &SourceMap) -> Vec<ReportedDiagnostic> {
    diagnostics.iter().map(|d| report_with_places(d, sources)).collect()
}

/// A finding with its place. Further places, such as the lines that a conflict is about, become lines of its help.
fn report_with_places(diagnostic: &Diagnostic, sources: &SourceMap) -> ReportedDiagnostic {
    let mut reported = ReportedDiagnostic::of(diagnostic, sources);
    let primary = diagnostic.primary();
    for label in diagnostic.labels.iter().filter(|label| Some(*label) != primary) {
        let Some(file) = sources.get(label.source) else { continue };
        let line = file.line_column(label.span.start).line;
        let text: String = file.text[file.line_range(line)].trim().chars().take(MOST_QUOTED).collect();
        let message = match label.message.as_str() {
            "" => String::new(),
            message => format!(" ({message})"),
        };
        reported.help.push(format!("{} line {line}{message}: {text}", file.name));
    }
    reported
}

/// Repairs of the representation.
fn fixes(repairs: &[Diagnostic], sources: &SourceMap) -> Vec<AppliedFix> {
    let fixed = repairs.iter().filter_map(|repair| Some((repair, repair.fix.as_ref()?)));
    fixed
        .map(|(repair, fix)| {
            let ReportedDiagnostic { line, column, .. } = ReportedDiagnostic::of(repair, sources);
            AppliedFix { code: repair.code.to_string(), title: fix.title.clone(), line, column }
        })
        .collect()
}

impl Inference<'_> {
    /// Infers a problem. The outer failure is of the tool or a limit, the inner one of the representation.
    pub(crate) fn infer(&self, host: &dyn Host, ir: &str) -> Result<Result<Inferred, Refusal>, Failure> {
        self.with_answers(host, ir, |mut found, fixes, answers, first| {
            let compiled = self.compile_answer(first);
            found.sources.add(PROBLEM, compiled.text.clone());
            let problem = compiled.problem().map(str::to_owned);
            found.adds_errors(compiled.diagnostics.clone());
            let Some(problem) = problem else { return Ok(Err(found.refusal(codes::NOT_COMPILED))) };
            if answers.answers.len() > 1 {
                let one = self.are_one_problem(host, answers, &problem)?;
                if found.adds_errors(vec![one]) {
                    return Ok(Err(found.refusal(codes::AMBIGUOUS)));
                }
            }
            Ok(Ok(Inferred {
                problem,
                inference: inference(first, &compiled),
                fixes,
                diagnostics: found.report_with_places(),
            }))
        })
    }

    /// The atoms of the first answer, and the problem if they make one. Failures as for [`Self::infer`].
    pub(crate) fn materialize(
        &self,
        host: &dyn Host,
        ir: &str,
    ) -> Result<Result<Materialized, Refusal>, Failure> {
        self.with_answers(host, ir, |_, _, _, first| {
            let problem = self.compile_answer(first).problem().map(str::to_owned);
            Ok(Ok(Materialized { atoms: first.materialized.atoms.clone(), problem }))
        })
    }

    /// Reads and solves a representation; `then` gets its answers, the first of them separately.
    fn with_answers<T>(
        &self,
        host: &dyn Host,
        ir: &str,
        then: impl FnOnce(
            Findings,
            Vec<AppliedFix>,
            &ExplainedAnswers<'_>,
            &ExplainedAnswer<'_>,
        ) -> Result<Result<T, Refusal>, Failure>,
    ) -> Result<Result<T, Refusal>, Failure> {
        let most = self.options.limits.program_kb as usize;
        if ir.len() > most << 10 {
            let message = format!("the program has {} bytes; at most {most} kB are read", ir.len());
            return Err(Failure::new(FailureClass::Limit, codes::SIZE, message)
                .help("write what the text says and no more, or raise `limits.program_kb` of the stage"));
        }
        let mut found = Findings { sources: self.sources(ir), diagnostics: Vec::new() };
        let read = reader::read(ir, IR_ID, &self.signature);
        let fixes = fixes(&read.repairs, &found.sources);
        if found.adds_errors(read.diagnostics()) {
            return Ok(Err(found.refusal(codes::REFUSED)));
        }
        let mut assembled = program::assemble(&self.program(ir, &read.program));
        assembled.job.max_answers = self.options.models;
        if found.adds_errors(std::mem::take(&mut assembled.diagnostics)) {
            return match found.is_about(IR) {
                true => Ok(Err(found.refusal(codes::REFUSED))),
                false => {
                    Err(found.failure(codes::KNOWLEDGE, "the domain or its knowledge file cannot be used"))
                }
            };
        }
        let solved = self.solve(host, &assembled)?;
        let Some(reply) = solved.reply else {
            found.adds_errors(remarks(&solved.remarks, Diagnostic::error));
            return Ok(Err(found.refusal(codes::REFUSED)));
        };
        found.adds_errors(remarks(&solved.remarks, Diagnostic::warning));
        let answers = match answer::read_answers(&assembled, &reply) {
            Ok(answers) => answers,
            Err(conflicts) => {
                found.adds_errors(conflicts);
                return Ok(Err(found.refusal(codes::CONFLICT)));
            }
        };
        let Some(first) = answers.answers.first() else {
            let message = "the reasoner's answer cannot be read";
            return Err(Failure::new(FailureClass::Plugin, codes::JOB, message));
        };
        then(found, fixes, &answers, first)
    }

    /// The texts that findings are about, by their numbers. The problem comes last, once there is one.
    fn sources(&self, ir: &str) -> SourceMap {
        let mut sources = SourceMap::single(IR, ir);
        sources.add(KNOWLEDGE, self.knowledge_text);
        sources.add(DOMAIN, self.domain_text);
        sources
    }

    /// The parts of the assembled program.
    fn program<'p>(&'p self, ir: &'p str, read: &'p Program) -> program::Task<'p> {
        let knowledge = program::Source {
            id: KNOWLEDGE_ID,
            name: KNOWLEDGE,
            text: self.knowledge_text,
            program: &self.knowledge,
        };
        program::Task {
            domain: &self.domain,
            domain_id: DOMAIN_ID,
            domain_text: self.domain_text,
            knowledge: (!self.knowledge_text.is_empty()).then_some(knowledge),
            declarations: &self.declarations,
            ir: program::Source { id: IR_ID, name: IR, text: ir, program: read },
        }
    }

    /// Solves a program in the child process.
    fn solve(&self, host: &dyn Host, assembled: &Assembled) -> Result<Solved, Failure> {
        ask_child(host, &Question::new(&self.options.limits, assembled.job.clone()))
    }

    fn compile_answer(&self, answer: &ExplainedAnswer<'_>) -> Compiled {
        let place = |(source, span): (SourceId, _)| Place { source, span };
        let (suite, task) = (&self.task.suite, &self.task.task);
        let name = if suite.is_empty() { task.clone() } else { format!("{suite}-{task}") };
        compile(&compile::Input {
            domain: &self.domain,
            materialized: &answer.materialized,
            ir_only: &self.ir_only,
            name: &name,
            spellings: &self.spellings,
            places: &|atom| answer.derivations.places(atom).into_iter().map(place).collect(),
            sources: planforge_pddl::TaskSources { domain: DOMAIN_ID, problem: PROBLEM_ID },
        })
    }

    /// Checks that all answers are one problem up to the names of objects: advice if so, an error if not.
    fn are_one_problem(
        &self,
        host: &dyn Host,
        answers: &ExplainedAnswers<'_>,
        first: &str,
    ) -> Result<Diagnostic, Failure> {
        let time = Duration::try_from_secs_f64(self.options.limits.time_s).ok();
        let mut deadline = Deadline::within(host, time);
        let parse = |text: &str| planforge_pddl::parse_problem(text, PROBLEM_ID).value;
        let one = parse(first);
        for (number, answer) in answers.answers.iter().enumerate().skip(1) {
            if let Poll::Stop(reason) = deadline.poll() {
                return Err(undecided_comparison(0, Some(reason)));
            }
            let other = self.compile_answer(answer);
            let Some(problem) = other.problem() else { return Ok(answer::ambiguity(answers, 0, number)) };
            let choices = self.options.limits.choices;
            match equivalent_problems(&self.domain, &one, &parse(problem), choices, &mut deadline) {
                ProblemEquivalence::Equal { .. } => {}
                ProblemEquivalence::Different(_) => return Ok(answer::ambiguity(answers, 0, number)),
                ProblemEquivalence::Undecided { choices, stopped } => {
                    return Err(undecided_comparison(choices, stopped));
                }
            }
        }
        Ok(answer::several_answers_advice(answers))
    }
}

/// The failure of a comparison of two answers that a limit or an interruption ended.
fn undecided_comparison(choices: u64, stopped: Option<StopReason>) -> Failure {
    let (class, because, help) = match stopped {
        Some(StopReason::Cancelled) => {
            return Failure::new(FailureClass::Cancelled, codes::COMPARISON, "the run was interrupted");
        }
        Some(reason) => (FailureClass::Limit, format!(" ({reason})"), "raise `limits.time_s` of the stage"),
        None => (FailureClass::Limit, String::new(), "raise `limits.choices` of the stage"),
    };
    let message = format!(
        "whether two answers are the same problem was not decided after {choices} pairs of objects{because}"
    );
    Failure::new(class, codes::COMPARISON, message).help(help)
}

/// Everything found so far.
struct Findings {
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
}

impl Findings {
    /// Adds findings. Whether one of them is an error.
    fn adds_errors(&mut self, found: Vec<Diagnostic>) -> bool {
        let errors = found.iter().any(Diagnostic::is_error);
        self.diagnostics.extend(found);
        errors
    }

    fn report_with_places(&self) -> Vec<ReportedDiagnostic> {
        report(&self.diagnostics, &self.sources)
    }

    /// True for an error about that text.
    fn is_about(&self, name: &str) -> bool {
        self.report_with_places().iter().any(|d| d.severity == ReportedSeverity::Error && d.file == name)
    }

    fn refusal(&self, code: &'static str) -> Refusal {
        Refusal { code, diagnostics: self.report_with_places() }
    }

    fn failure(&self, code: &'static str, what: &str) -> Failure {
        let first = self.diagnostics.iter().find(|d| d.is_error()).map(|d| d.message.as_str());
        let message = format!("{what}: {}", first.unwrap_or_default());
        Failure::new(FailureClass::Request, code, message).diagnostics(self.report_with_places())
    }
}

/// The remarks of clingo, with the lines of the assembled program.
fn remarks(remarks: &[Remark], make: impl Fn(&'static str, String) -> Diagnostic) -> Vec<Diagnostic> {
    let told = |remark: &Remark| {
        let said = make(codes::REMARK, remark.text.replace('\n', " "));
        if remark.line.is_empty() { said } else { said.help(format!("in `{}`", remark.line)) }
    };
    remarks.iter().map(told).collect()
}

/// The derivations of everything that a problem consists of, and the lines of the representation that change nothing of it.
pub(crate) fn inference(answer: &ExplainedAnswer<'_>, compiled: &Compiled) -> planforge_contract::Inference {
    let derivations = &answer.derivations;
    let table = derivations.table();
    let parts: BTreeSet<u32> =
        compiled.entries.iter().flat_map(|entry| entry.atoms.iter().copied()).collect();
    let mut derived = BTreeMap::new();
    let mut open: Vec<u32> = parts.iter().copied().collect();
    while let Some(atom) = open.pop() {
        if derived.contains_key(&atom) {
            continue;
        }
        if let Some(derivation) = derivations.derivation(atom) {
            open.extend(derivation.premises.iter().copied());
            derived.insert(atom, derivation);
        }
    }
    let idle = derivations.idle(&|atom| parts.contains(&atom));
    let lines = (0u32..).zip(&table.rules).filter(|(_, rule)| rule.origin == Origin::Text).map(|(at, _)| at);
    let used = derived.values().map(|derivation| derivation.rule);
    let rules: BTreeSet<u32> = lines.chain(used).chain(idle.iter().map(|(rule, _)| *rule)).collect();
    let rule_at = Positions::of(rules.iter().copied());
    let atom_at = Positions::of(derived.keys().copied());
    let atoms = derived.iter().map(|(atom, derivation)| InferredAtom {
        atom: derivations.term(*atom).map(|term| term.to_string()).unwrap_or_default(),
        rule: rule_at.of_one(derivation.rule),
        premises: atom_at.of_all(&derivation.premises),
        absent: derivation.absent.clone(),
        others: derivation.others,
    });
    let entries = compiled.entries.iter().map(|entry| InferredEntry {
        section: problem_section(entry.section),
        pddl: entry.pddl.clone(),
        atoms: atom_at.of_all(&entry.atoms),
    });
    planforge_contract::Inference {
        atoms: atoms.collect(),
        entries: entries.collect(),
        idle: idle
            .iter()
            .map(|(rule, why)| IdleRule { rule: rule_at.of_one(*rule), reason: idle_reason(*why) })
            .collect(),
        rules: rules.iter().map(|at| rule_of(table, *at)).collect(),
    }
}

/// Positions in a list that leaves numbers out.
struct Positions(BTreeMap<u32, u32>);

impl Positions {
    fn of(numbers: impl Iterator<Item = u32>) -> Self {
        Self(numbers.zip(0u32..).collect())
    }
    fn of_one(&self, number: u32) -> u32 {
        self.0.get(&number).copied().unwrap_or(u32::MAX)
    }
    fn of_all(&self, numbers: &[u32]) -> Vec<u32> {
        numbers.iter().filter_map(|number| self.0.get(number).copied()).collect()
    }
}

fn rule_of(table: &Table, at: u32) -> InferenceRule {
    let entry = &table.rules[at as usize];
    let place = table.place(at);
    InferenceRule {
        origin: match entry.origin {
            Origin::Text => RuleOrigin::Text,
            Origin::Knowledge => RuleOrigin::Knowledge,
            Origin::Domain => RuleOrigin::Domain,
            Origin::Library => RuleOrigin::Library,
        },
        source: table.source_name(at).to_owned(),
        line: place.line,
        column: place.column,
        text: entry.written.to_string(),
    }
}

const fn problem_section(section: Section) -> ProblemSection {
    match section {
        Section::Objects => ProblemSection::Objects,
        Section::Init => ProblemSection::Init,
        Section::Goal => ProblemSection::Goal,
        Section::Metric => ProblemSection::Metric,
    }
}

const fn idle_reason(idle: Idle) -> IdleReason {
    match idle {
        Idle::NeverApplies => IdleReason::NeverApplies,
        Idle::Follows => IdleReason::Follows,
        Idle::NotCompiled => IdleReason::NotCompiled,
    }
}
