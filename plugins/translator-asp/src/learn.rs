//! Learns the rules of a knowledge file from representations and reference problems.

use crate::infer::{Inference, Materialized};
use crate::work::{Question, ask_child};
use crate::{AspTranslatorOptions, codes};
use planforge_asp::learn::{Example, LearnLimits, Learned, LearnedRule, counted, declarations, learn};
use planforge_asp::names::mangle;
use planforge_asp::stages::SolveJob;
use planforge_asp::syntax::ast::{Program, Term, constant, function};
use planforge_contract::api::Host;
use planforge_contract::{
    CandidatePatch, Failure, FailureClass, Outcome, ReportedSeverity, TranslateRequest, TranslateResponse,
};
use planforge_diagnostics::SourceId;
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::{
    Condition, Domain, Fluent, InitElement, MetricDirection, NumericExpr, Problem, TypedName,
};
use planforge_pddl::extract::code_blocks;
use planforge_planning::CountingLimits;
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The candidate's text with the input.
const PAIRS: &str = "pairs";
/// The type of every object.
const OBJECT: &str = "object";
/// The texts of the result.
const KNOWLEDGE: &str = "knowledge";
const LEARNED: &str = "learned";

/// The candidate's text `pairs`, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnInput {
    pub pairs: Vec<LearnPair>,
    pub limits: LearnLimits,
    /// Seconds for the search.
    pub time_s: f64,
}

/// The representation of a text and the problem that should follow from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnPair {
    pub name: String,
    /// An intermediate representation, or a reply that contains one.
    pub representation: String,
    pub problem: String,
}

/// The result's text `learned`, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnResult {
    pub declarations: Vec<String>,
    #[serde(flatten)]
    pub learned: Learned,
    pub pairs: Vec<PairResult>,
}

/// The contribution of a pair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairResult {
    pub name: String,
    /// The reason why the pair was not used.
    pub refused: Option<String>,
    /// Facts of the reference that do not follow without rules.
    pub missing: usize,
    /// Facts of the representation that the reference lacks. No rule removes them.
    pub contradicted: Vec<String>,
}

/// True if the candidate has pairs to learn from.
pub(crate) fn has_pairs(request: &TranslateRequest) -> bool {
    request.candidate.texts.named.contains_key(PAIRS)
}

/// Learns from the candidate's pairs. Samples: one, with the texts `knowledge` and `learned`.
pub(crate) fn run(
    host: &dyn Host,
    options: &AspTranslatorOptions,
    request: &TranslateRequest,
) -> Result<TranslateResponse, Failure> {
    let input = request.candidate.texts.named.get(PAIRS).map(String::as_str).unwrap_or_default();
    let input: LearnInput = serde_json::from_str(input).map_err(|error| {
        let message = format!("the candidate's text `{PAIRS}` is not a list of pairs: {error}");
        Failure::new(FailureClass::Request, codes::NO_IR, message)
            .help("this mode serves `planforge suite learn-knowledge`")
    })?;
    let result = learn_from(host, options, request, &input)?;
    let json = serde_json::to_string(&result)
        .map_err(|e| Failure::new(FailureClass::Plugin, codes::JOB, format!("the learned rules: {e}")))?;
    let texts = [(KNOWLEDGE, knowledge_text(&result)), (LEARNED, json)].into_iter().collect();
    let patch = CandidatePatch { texts, ..CandidatePatch::default() };
    Ok(TranslateResponse { samples: vec![Outcome::from(Ok::<_, Failure>(patch))] })
}

/// The knowledge file.
fn knowledge_text(result: &LearnResult) -> String {
    let names: Vec<&str> =
        result.pairs.iter().filter(|pair| pair.refused.is_none()).map(|pair| pair.name.as_str()).collect();
    let mut out = format!("% Learned from {}.\n", names.join(", "));
    let rules = result.learned.rules.iter().map(|rule| &rule.rule);
    for line in result.declarations.iter().chain(rules) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn learn_from(
    host: &dyn Host,
    options: &AspTranslatorOptions,
    request: &TranslateRequest,
    input: &LearnInput,
) -> Result<LearnResult, Failure> {
    let domain = request.task.given.domain.as_deref().unwrap_or_default();
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let problems: Vec<Problem> = input
        .pairs
        .iter()
        .map(|pair| planforge_pddl::parse_problem(&pair.problem, SourceId(0)).value)
        .collect();
    let programs: Vec<Program> = input.pairs.iter().map(|pair| program(&pair.representation)).collect();
    let types = object_types(&domain, &problems);
    let declarations = declarations(&domain, &programs, &|object| types.get(object).cloned());
    let mut request = request.clone();
    request.task.materials.knowledge = Some(declarations.join("\n"));
    let inference = Inference::new(options, &request)?;
    let mut result = LearnResult { declarations, ..LearnResult::default() };
    let mut examples = Vec::new();
    for ((pair, problem), program) in input.pairs.iter().zip(&problems).zip(&programs) {
        let mut told = PairResult { name: pair.name.clone(), ..PairResult::default() };
        match inference.materialize(host, &pair.representation)? {
            Err(refusal) => {
                let error = refusal.diagnostics.iter().find(|d| d.severity == ReportedSeverity::Error);
                told.refused = Some(error.map_or_else(String::new, |d| d.message.clone()));
            }
            Ok(Materialized { atoms, problem: inferred }) => {
                let example = example(&domain, atoms, inferred.as_deref(), problem, program);
                told.missing = example.wanted.difference(&example.given).count();
                // Numbers of rows and objects that are counted and not named are objects of the representation alone.
                let is_fact = |atom: &&Term| object_atom(atom).is_none_or(|(_, ty)| ty != OBJECT);
                let wrong = example.given.difference(&example.wanted).filter(is_fact);
                told.contradicted = wrong.map(Term::to_string).collect();
                examples.push(example);
            }
        }
        result.pairs.push(told);
    }
    let deadline = Instant::now() + Duration::from_secs_f64(input.time_s);
    let mut reasoner = |program: &str| {
        let job = SolveJob { plain: program.to_owned(), ..SolveJob::default() };
        let solved = ask_child(host, &Question { direct: true, ..Question::new(&options.limits, job) })?;
        let answer = solved.reply.and_then(|reply| reply.answers.into_iter().next());
        answer.ok_or_else(|| {
            let remark =
                solved.remarks.first().map(|r| format!("{}: {}", r.text, r.line)).unwrap_or_default();
            Failure::new(FailureClass::Plugin, codes::JOB, format!("a program of the search: {remark}"))
        })
    };
    let mut stopped = || host.cancelled() || Instant::now() >= deadline;
    result.learned = learn(&examples, input.limits, &mut reasoner, &mut stopped)?;
    let numbers =
        shared_numbers(&problems).into_iter().filter(|atom| !examples.iter().any(|e| e.given.contains(atom)));
    let concludes = problems.len();
    let rules = numbers.map(|atom| LearnedRule { rule: format!("{atom}."), concludes });
    result.learned.rules.extend(rules);
    Ok(result)
}

/// The initial values of functions without arguments and the metric, where all references have the same.
fn shared_numbers(problems: &[Problem]) -> BTreeSet<Term> {
    let mut of_problems = problems.iter().map(numbers);
    let first = of_problems.next().unwrap_or_default();
    of_problems.fold(first, |shared, next| shared.intersection(&next).cloned().collect())
}

fn numbers(problem: &Problem) -> BTreeSet<Term> {
    let fluent_name =
        |fluent: &Fluent| fluent.args.is_empty().then(|| constant(&mangle(fluent.function.key())));
    let values = problem.init.iter().filter_map(|element| match element {
        InitElement::Value(fluent, number, _) => {
            let number = number.to_string();
            let number = number.parse().map_or(Term::Text(number), Term::Number);
            Some(function("init", vec![function("value", vec![fluent_name(fluent)?, number])]))
        }
        _ => None,
    });
    let metric = problem.metric.as_ref().and_then(|metric| {
        let direction = match metric.direction {
            MetricDirection::Minimize => "minimize",
            MetricDirection::Maximize => "maximize",
        };
        let quantity = match &metric.expr {
            NumericExpr::Fluent(fluent) => fluent_name(fluent)?,
            NumericExpr::TotalTime(_) => constant("total_time"),
            _ => return None,
        };
        Some(function("metric", vec![constant(direction), quantity]))
    });
    values.chain(metric).collect()
}

/// The readable statements of a representation.
fn program(text: &str) -> Program {
    let blocks: Vec<&str> = code_blocks(text).into_iter().map(|block| &text[block]).collect();
    let text = if blocks.is_empty() { text.to_owned() } else { blocks.join("\n") };
    planforge_asp::syntax::parse(&text, SourceId(0)).program
}

/// The declared type of each object of the problems and each constant, as representations write them.
fn object_types(domain: &Domain, problems: &[Problem]) -> BTreeMap<String, String> {
    let all = domain.constants.iter().chain(problems.iter().flat_map(|problem| &problem.objects));
    all.filter_map(|object| Some((mangle(object.name.key()), mangle(single_type(object)?)))).collect()
}

fn single_type(object: &TypedName) -> Option<&str> {
    object.ty.as_ref().filter(|ty| !ty.is_either()).and_then(|ty| ty.alternatives.first()).map(|ty| ty.key())
}

/// The example of a pair. `inferred`: the problem that follows without rules; it shows which objects correspond.
fn example(
    domain: &Domain,
    atoms: Vec<Term>,
    inferred: Option<&str>,
    reference: &Problem,
    program: &Program,
) -> Example {
    let mut given: BTreeSet<Term> = atoms.into_iter().collect();
    let objects: BTreeSet<(String, String)> = given.iter().filter_map(object_atom).collect();
    for (object, _) in &objects {
        given.insert(function("object", vec![constant(object), constant(OBJECT)]));
    }
    let names = inferred.map(|inferred| correspondence(domain, inferred, reference)).unwrap_or_default();
    let types = TypeHierarchy::of(domain);
    let mut wanted = reference_atoms(domain, &types, reference, &names);
    wanted.extend(given.iter().filter(|atom| is_only_in_representations(domain, &types, atom)).cloned());
    Example { given, wanted, counted: counted(program, &objects) }
}

/// For objects of the reference the names of the representation: the same name if both have it, or else from the closest
/// correspondence.
fn correspondence(domain: &Domain, inferred: &str, reference: &Problem) -> BTreeMap<String, String> {
    const MOST_CHOICES: u64 = 100_000;
    let mut limits = CountingLimits { polls: 10_000_000, bytes: 1 << 30 };
    let inferred = planforge_pddl::parse_problem(inferred, SourceId(0)).value;
    let mangled = |renaming: Vec<(String, String)>| -> Vec<(String, String)> {
        renaming.into_iter().map(|(ours, theirs)| (mangle(&theirs), mangle(&ours))).collect()
    };
    let renaming = match equivalent_problems(domain, &inferred, reference, MOST_CHOICES, &mut limits) {
        ProblemEquivalence::Equal { renaming } => return mangled(renaming).into_iter().collect(),
        ProblemEquivalence::Different(difference) => mangled(difference.renaming),
        ProblemEquivalence::Undecided { .. } => Vec::new(),
    };
    let names =
        |problem: &Problem| problem.objects.iter().map(|o| mangle(o.name.key())).collect::<BTreeSet<_>>();
    let shared: BTreeSet<String> = names(&inferred).intersection(&names(reference)).cloned().collect();
    let is_new = |(theirs, ours): &(String, String)| !shared.contains(theirs) && !shared.contains(ours);
    renaming.into_iter().filter(is_new).collect()
}

/// True for objects and facts whose type or predicate the domain lacks.
fn is_only_in_representations(domain: &Domain, types: &TypeHierarchy, atom: &Term) -> bool {
    let Term::Function { name, arguments } = atom else { return false };
    match (name.as_str(), arguments.as_slice()) {
        ("object", [_, ty]) => {
            ty.as_constant().is_some_and(|ty| !types.names().any(|name| mangle(name.key()) == ty))
        }
        ("init" | "goal", [Term::Function { name, arguments }]) => {
            match (name.as_str(), arguments.as_slice()) {
                ("neg", [Term::Function { name, .. }]) => !is_predicate(domain, name),
                _ => !is_predicate(domain, name),
            }
        }
        _ => false,
    }
}

fn is_predicate(domain: &Domain, name: &str) -> bool {
    domain.predicates.iter().any(|predicate| mangle(predicate.name.key()) == name)
}

fn object_atom(atom: &Term) -> Option<(String, String)> {
    let Term::Function { name, arguments } = atom else { return None };
    match (name.as_str(), arguments.as_slice()) {
        ("object", [object, ty]) => Some((object.to_string(), ty.as_constant()?.to_owned())),
        _ => None,
    }
}

/// The objects, initial facts and goal literals of a problem. Numbers and conditions that are not literals are left out: rules do
/// not conclude them.
fn reference_atoms(
    domain: &Domain,
    types: &TypeHierarchy,
    problem: &Problem,
    names: &BTreeMap<String, String>,
) -> BTreeSet<Term> {
    let object = |name: &str| {
        let name = mangle(name);
        constant(names.get(&name).unwrap_or(&name))
    };
    let fact = |atom: &planforge_pddl::ast::Atom| {
        let arguments = atom.args.iter().map(|term| object(term.name().key())).collect();
        function(&mangle(atom.predicate.key()), arguments)
    };
    let mut found = BTreeSet::new();
    for declared in domain.constants.iter().chain(&problem.objects) {
        for id in types.resolve(declared.ty.as_ref()).unwrap_or_default() {
            for above in
                types.names().filter(|name| types.get(name.key()).is_some_and(|t| types.is_subtype(id, t)))
            {
                found.insert(function(
                    "object",
                    vec![object(declared.name.key()), constant(&mangle(above.key()))],
                ));
            }
        }
    }
    for element in &problem.init {
        if let InitElement::Atom(atom) = element {
            found.insert(function("init", vec![fact(atom)]));
        }
    }
    for part in problem.goal.iter().flat_map(Condition::conjuncts) {
        match part {
            Condition::Atom(atom) => drop(found.insert(function("goal", vec![fact(atom)]))),
            Condition::Not(inner, _) => {
                if let Condition::Atom(atom) = inner.as_ref() {
                    found.insert(function("goal", vec![function("neg", vec![fact(atom)])]));
                }
            }
            _ => {}
        }
    }
    found
}
