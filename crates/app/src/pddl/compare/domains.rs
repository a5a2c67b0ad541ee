//! Two domains on given problems: the same behaviour, exactly or up to a limit, or the same cheapest plans.

mod joint;

use super::findings_once;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::status::{Status, of_stop};
use planforge_contract::HeuristicEquivalence;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::Name;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::are::{MAX_CHOICES, domain_error};
use planforge_planning::equivalence::domains::{
    Behaviour, BehaviourDifference, ComparisonVerdict, Comparisons, DifferenceKind, EquivalenceLimits,
    NotCompared, SearchEnd, compare_domains,
};
use planforge_planning::equivalence::hde::{
    HdeOptions, HdeOutcome, HdeReference, HdeReferenceError, HdeReferenceErrorKind, HdeResult,
};
use planforge_planning::equivalence::interface::{
    DomainWithProblems, Interface, NoInterface, match_interface,
};
use planforge_planning::walk::{ModelError, Refusal};
use planforge_plugin_common::judging::domains::{self, Outcome};
pub use planforge_plugin_common::judging::reports::{
    ComparedProblem, DomainEquivalentReport, JointComparison, MatchedInterface, RenamedReading,
};
pub use planforge_plugin_common::judging::{Rule, Semantics};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::time::Instant;

/// Two domains and the problems that they are compared on.
#[derive(Debug, Clone)]
pub struct DomainsRequest {
    /// The first domain.
    pub first: Source,
    /// The second domain.
    pub second: Source,
    /// The problems.
    pub problems: Vec<Source>,
    /// The same problems in the predicates of the second domain, in the same order; empty if both have the same.
    pub second_problems: Vec<Source>,
    /// What is compared.
    pub method: DomainComparisonMethod,
    /// Search a renaming of the second domain to the first: of actions, parameters and types or, for the exact method and with problems
    /// of the second domain, of objects and predicates too.
    pub match_interface: bool,
    /// Most choices of that search; `None` for the default.
    pub max_choices: Option<u64>,
    /// The legal ground actions; by default those of the method.
    pub semantics: Option<Semantics>,
    /// Seconds for all problems; each gets an equal share of the rest.
    pub limits: RequestLimits,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DomainComparisonMethod {
    /// Every sequence of actions.
    Exact {
        /// Most pairs of states on each problem.
        max_states: u64,
        /// Longest sequence.
        max_depth: Option<u32>,
    },
    /// The cheapest plans: heuristic domain equivalence of the domain-generators paper.
    Plans {
        /// Plans of each problem in each domain.
        k: u32,
        /// How plans count.
        rule: Rule,
        /// Most search nodes for the plans of one problem in one domain.
        max_nodes: u64,
    },
}

/// The comparison. Its JSON form is the report.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct DomainsResult {
    /// The result as a document.
    pub report: DomainEquivalentReport,
    /// Findings about the texts, those of a domain once, if a text cannot be used: nothing was compared then.
    #[serde(skip)]
    pub unusable: Option<Vec<Findings>>,
    /// Negative if the domains differ, else what left it undecided.
    #[serde(skip)]
    pub status: Status,
}

/// Compares two domains.
///
/// # Errors
/// Other numbers of problems for the two domains. Texts that cannot be used leave the question undecided.
pub fn domains(context: &Context, request: &DomainsRequest) -> Result<DomainsResult, Error> {
    let second_problems = match request.second_problems.as_slice() {
        [] => request.problems.as_slice(),
        own if own.len() == request.problems.len() => own,
        own => {
            let (own, first) = (own.len(), request.problems.len());
            let message = format!("--second-problems names {own} files and --problems {first}");
            return Err(Error::usage(message, Some("give one for each, in the same order")));
        }
    };
    // Under other names for its types, the second domain does not fit the first's problems yet: it is checked alone.
    let alone = request.match_interface && request.second_problems.is_empty();
    let second = |problem| Inputs::read(context, &request.second, (!alone).then_some(problem));
    let mut read: Vec<[Inputs; 2]> = request
        .problems
        .iter()
        .zip(second_problems)
        .map(|(a, b)| [Inputs::read(context, &request.first, Some(a)), second(b)])
        .collect();
    // A damaged text is not compared: its readable part would be compared instead.
    if read.iter().flatten().any(|r| r.unreadable || r.has_errors()) {
        return Ok(unusable(request, &read));
    }
    let Some(mut texts) = ComparedTexts::of(&read) else { return Ok(unusable(request, &read)) };
    let exact = matches!(request.method, DomainComparisonMethod::Exact { .. });
    if request.match_interface && exact && texts.own_problems {
        return match joint::compare(context, request, &texts) {
            Ok(result) => Ok(result),
            Err((number, side, found)) => {
                read[number][place(side)].texts.diagnostics.extend(found);
                Ok(unusable(request, &read))
            }
        };
    }
    let mut matched = None;
    if request.match_interface {
        let max_choices = request.max_choices.unwrap_or(MAX_CHOICES);
        match texts.rename(max_choices, &mut request.limits.start(context)) {
            Ok(found) => matched = Some(found),
            Err(not) => return Ok(not_matched(request, &not)),
        }
    }
    let compared = match request.method {
        DomainComparisonMethod::Plans { .. } => by_plans(context, request, &texts),
        DomainComparisonMethod::Exact { .. } => {
            DomainComparison::Exact(compare_all(context, request, &texts))
        }
    };
    if let Some((number, side, found)) = compared.invalid() {
        read[number][place(side)].texts.diagnostics.extend(found);
        return Ok(unusable(request, &read));
    }
    if let Some(why) = names_differ(&texts, &compared) {
        return Ok(not_matched(request, &NoInterface::None(why)));
    }
    let mut report = report(request, &compared);
    report.reconstruction_error =
        Some(domains::reconstruction_error(&domain_error(texts.first, &texts.second)));
    report.interface = matched.as_ref().map(domains::interface);
    Ok(DomainsResult { report, unusable: None, status: compared.status() })
}

/// The compared domains and problems.
struct ComparedTexts<'r> {
    first: &'r Domain,
    second: Domain,
    problems: Vec<[&'r Problem; 2]>,
    /// True if the second domain has separate problem files.
    own_problems: bool,
}

impl<'r> ComparedTexts<'r> {
    /// `None` if a text could not be read.
    fn of(read: &'r [[Inputs; 2]]) -> Option<Self> {
        let [a, b] = read.first()?;
        let own_problems = b.texts.problem.is_some();
        let problems = read.iter().map(|[a, b]| {
            let first = a.texts.problem.as_ref()?;
            Some([first, b.texts.problem.as_ref().unwrap_or(first)])
        });
        Some(ComparedTexts {
            first: a.texts.domain.as_ref()?,
            second: b.texts.domain.clone()?,
            problems: problems.collect::<Option<_>>()?,
            own_problems,
        })
    }

    /// Puts the second domain into the first's names.
    fn rename(&mut self, max_choices: u64, limits: &mut WorkLimits) -> Result<Interface, NoInterface> {
        let of = |side: usize| self.problems.iter().map(|p| p[side]).collect::<Vec<&Problem>>();
        let (first, second) = (of(0), if self.own_problems { of(1) } else { Vec::new() });
        let found = match_interface(
            DomainWithProblems { domain: self.first, problems: &first },
            DomainWithProblems { domain: &self.second, problems: &second },
            max_choices,
            limits,
        )?;
        self.second = found.rewrite(self.first, &self.second);
        Ok(found)
    }
}

/// If all differences are differences of names: the names that each side lacks on the first problem that differs, as a clause.
fn names_differ(texts: &ComparedTexts<'_>, compared: &DomainComparison) -> Option<String> {
    let DomainComparison::Exact(outcomes) = compared else { return None };
    let mut first = None;
    for (number, outcome) in outcomes.0.iter().enumerate() {
        let Ok(comparison) = outcome else { continue };
        if comparison.verdict() != ComparisonVerdict::Different {
            continue;
        }
        let Behaviour::Different(difference) = &comparison.behaviour else { return None };
        let clause = name_difference(texts, number, difference)?;
        first.get_or_insert(clause);
    }
    first
}

/// If a difference is one of names: the names that each side lacks, as a clause. A difference that rests on a name is not one of behaviour
/// if the other side has names instead.
fn name_difference(
    texts: &ComparedTexts<'_>,
    number: usize,
    difference: &BehaviourDifference,
) -> Option<String> {
    let DifferenceKind::Refused { refusal, .. } = &difference.kind else { return None };
    let names = |what: &str| -> [Vec<&Name>; 2] {
        let problems = texts.problems[number];
        [0, 1].map(|side: usize| {
            let domain = if side == 0 { texts.first } else { &texts.second };
            match what {
                "action" => domain.actions.iter().map(|a| &a.name).collect(),
                _ => domain.constants.iter().chain(&problems[side].objects).map(|o| &o.name).collect(),
            }
        })
    };
    let what = match refusal {
        Refusal::UnknownAction { .. } => "action",
        Refusal::UnknownObject { .. } => "object",
        Refusal::Arity { name, expected, given } => {
            let counts = format!("`{name}` has {given} parameters in one domain and {expected} in the other");
            return Some(format!("{counts}; {WAY_OUT}"));
        }
        _ => return None,
    };
    let [first, second] = names(what);
    let own = first.iter().find(|name| !second.contains(name))?;
    let other = second.iter().find(|name| !first.contains(name))?;
    Some(format!("only the first has the {what} `{own}`, only the second `{other}`; {WAY_OUT}"))
}

/// What to do if names differ.
const WAY_OUT: &str = "with --match-interface and the second domain's problems as --second-problems, a renaming of both is searched";

/// The result of the comparison.
enum DomainComparison {
    Exact(Comparisons),
    ByPlans(Result<Box<(HdeResult, HdeOptions)>, NoPlanComparison>),
}

/// The reason why there is no comparison by plans.
enum NoPlanComparison {
    HdeReference(HdeReferenceError),
    Candidate(NotCompared),
}

impl DomainComparison {
    /// The first problem that does not form a model with a domain: its index, the side and the diagnostics.
    fn invalid(&self) -> Option<(usize, ComparedSide, Vec<Diagnostic>)> {
        let of = |number: usize, side: ComparedSide, error: &ModelError| match error {
            ModelError::Invalid(found) => Some((number, side, found.clone())),
            _ => None,
        };
        match self {
            DomainComparison::Exact(outcomes) => {
                outcomes.0.iter().enumerate().find_map(|(number, outcome)| {
                    outcome.as_ref().err().and_then(|not| of(number, not.side, &not.error))
                })
            }
            DomainComparison::ByPlans(Err(NoPlanComparison::HdeReference(HdeReferenceError {
                problem,
                why: HdeReferenceErrorKind::Model(error),
            }))) => of(*problem, ComparedSide::First, error),
            DomainComparison::ByPlans(Err(NoPlanComparison::Candidate(not))) => of(0, not.side, &not.error),
            DomainComparison::ByPlans(_) => None,
        }
    }

    fn status(&self) -> Status {
        let of_model = |error: &ModelError| match error {
            ModelError::Limit(reason) => of_stop(*reason),
            _ => Status::Undecided,
        };
        match self {
            DomainComparison::Exact(outcomes) => status_of(outcomes),
            DomainComparison::ByPlans(Ok(found)) => match found.0.outcome {
                HdeOutcome::Equivalent => Status::Good,
                HdeOutcome::Different { .. } => Status::Negative,
                HdeOutcome::Undecided { stopped, .. } => of_stop(stopped),
            },
            DomainComparison::ByPlans(Err(NoPlanComparison::Candidate(not))) => of_model(&not.error),
            DomainComparison::ByPlans(Err(NoPlanComparison::HdeReference(not))) => match &not.why {
                HdeReferenceErrorKind::Limit(reason) => of_stop(*reason),
                HdeReferenceErrorKind::Model(error) => of_model(error),
                HdeReferenceErrorKind::Unsolvable(_) => Status::Undecided,
            },
        }
    }
}

/// By the cheapest plans, all problems under one time limit.
fn by_plans(context: &Context, request: &DomainsRequest, texts: &ComparedTexts<'_>) -> DomainComparison {
    let options = hde_options(request);
    let of = |side: usize| texts.problems.iter().map(|p| p[side]).collect::<Vec<&Problem>>();
    let mut limits = request.limits.start(context);
    let reference = match HdeReference::new(texts.first, &of(0), &options, &mut limits) {
        Ok(reference) => reference,
        Err(not) => return DomainComparison::ByPlans(Err(NoPlanComparison::HdeReference(not))),
    };
    let found = reference.compare_on(&texts.second, &of(1), &mut limits);
    DomainComparison::ByPlans(found.map(|hde| Box::new((hde, options))).map_err(NoPlanComparison::Candidate))
}

fn hde_options(request: &DomainsRequest) -> HdeOptions {
    let mut options = HdeOptions::default();
    if let DomainComparisonMethod::Plans { k, rule, max_nodes } = request.method {
        options.k = NonZeroUsize::new(k as usize).unwrap_or(options.k);
        options.rule = rule.into();
        options.max_nodes = max_nodes;
    }
    if let Some(semantics) = request.semantics {
        options.semantics = semantics.into();
    }
    options
}

/// No renaming makes the domains comparable: neither equal nor different.
fn not_matched(request: &DomainsRequest, not: &NoInterface) -> DomainsResult {
    let (decision, status) = match not {
        NoInterface::Limit { stopped, .. } => ("undecided", stopped.map_or(Status::NodeLimit, of_stop)),
        NoInterface::None(_) => ("not-comparable", Status::Undecided),
    };
    let report = DomainEquivalentReport {
        decision: decision.to_owned(),
        semantics: semantics(request).to_owned(),
        not_comparable: Some(not.to_string()),
        ..Default::default()
    };
    DomainsResult { report, unusable: None, status }
}

/// The name of the semantics.
fn semantics(request: &DomainsRequest) -> &'static str {
    let default = || match request.method {
        DomainComparisonMethod::Plans { .. } => HdeOptions::default().semantics.into(),
        DomainComparisonMethod::Exact { .. } => Semantics::default(),
    };
    request.semantics.unwrap_or_else(default).name()
}

const fn place(side: ComparedSide) -> usize {
    match side {
        ComparedSide::First => 0,
        ComparedSide::Second => 1,
    }
}

/// Every problem, each under an equal share of the time that is left.
fn compare_all(context: &Context, request: &DomainsRequest, texts: &ComparedTexts<'_>) -> Comparisons {
    let mut limits = EquivalenceLimits {
        semantics: request.semantics.unwrap_or_default().into(),
        ..EquivalenceLimits::default()
    };
    if let DomainComparisonMethod::Exact { max_states, max_depth } = request.method {
        (limits.max_pairs, limits.max_depth) = (max_states, max_depth);
    }
    let count = texts.problems.len();
    let progress = context.start_work("problems", Some(count as u64));
    let started = Instant::now();
    let mut outcomes = Vec::with_capacity(count);
    for &problems in &texts.problems {
        let left = (count - outcomes.len()) as f64;
        let all = request.limits.seconds;
        let seconds = all.map(|all| (all - started.elapsed().as_secs_f64()).max(0.0) / left);
        let share = RequestLimits { seconds, ..request.limits };
        let domains = [texts.first, &texts.second];
        outcomes.push(compare_domains(domains, problems, &limits, &mut share.start(context)));
        progress.advance();
    }
    Comparisons(outcomes)
}

fn status_of(compared: &Comparisons) -> Status {
    match compared.verdict() {
        ComparisonVerdict::Different => Status::Negative,
        ComparisonVerdict::Equal => Status::Good,
        ComparisonVerdict::Open => compared.0.iter().find_map(open_status).unwrap_or(Status::Undecided),
    }
}

/// The status of what left one problem open.
fn open_status(outcome: &Outcome) -> Option<Status> {
    match outcome {
        Err(NotCompared { error: ModelError::Limit(reason), .. }) => Some(of_stop(*reason)),
        Err(_) => Some(Status::Undecided),
        Ok(comparison) => match comparison.behaviour {
            Behaviour::EqualUpTo { end: SearchEnd::Stopped(reason), .. } => Some(of_stop(reason)),
            Behaviour::EqualUpTo { end: SearchEnd::Pairs | SearchEnd::Depth, .. } => Some(Status::NodeLimit),
            Behaviour::Equal { .. } | Behaviour::Different(_) => None,
        },
    }
}

fn report(request: &DomainsRequest, compared: &DomainComparison) -> DomainEquivalentReport {
    match compared {
        DomainComparison::Exact(outcomes) => exact_report(request, outcomes),
        DomainComparison::ByPlans(found) => plans_report(request, found),
    }
}

fn plans_report(
    request: &DomainsRequest,
    found: &Result<Box<(HdeResult, HdeOptions)>, NoPlanComparison>,
) -> DomainEquivalentReport {
    let heuristic = match found {
        Ok(found) => domains::heuristic(&found.0, &found.1),
        Err(not) => HeuristicEquivalence {
            decision: "undecided".to_owned(),
            why: Some(match not {
                NoPlanComparison::HdeReference(not) => format!("the first domain with {not}"),
                NoPlanComparison::Candidate(not) => format!("the second domain: {}", not.error),
            }),
            ..HeuristicEquivalence::default()
        },
    };
    let equivalent = heuristic.decision == "equivalent";
    DomainEquivalentReport {
        equivalent,
        decision: if equivalent { "equal".to_owned() } else { heuristic.decision.clone() },
        semantics: semantics(request).to_owned(),
        heuristic: Some(heuristic),
        ..Default::default()
    }
}

fn exact_report(request: &DomainsRequest, compared: &Comparisons) -> DomainEquivalentReport {
    let verdict = compared.verdict();
    let lengths = compared.0.iter().enumerate();
    let lengths = lengths.filter_map(|(place, o)| Some((o.as_ref().ok()?.shown_after()?, place)));
    DomainEquivalentReport {
        equivalent: verdict == ComparisonVerdict::Equal,
        decision: domains::decision(verdict).to_owned(),
        semantics: semantics(request).to_owned(),
        equal_up_to: compared.equal_up_to(),
        shortest: lengths.min().map(|(_, place)| place),
        problems: request
            .problems
            .iter()
            .zip(&compared.0)
            .map(|(source, outcome)| domains::to_compared_problem(&source.name(), outcome))
            .collect(),
        ..Default::default()
    }
}

/// The findings of the texts, those of a domain once.
fn unusable(request: &DomainsRequest, read: &[[Inputs; 2]]) -> DomainsResult {
    let (diagnostics, findings) = findings_once(read.iter().flatten());
    let report = DomainEquivalentReport {
        decision: "undecided".to_owned(),
        semantics: semantics(request).to_owned(),
        diagnostics,
        ..Default::default()
    };
    let unreadable = read.iter().flatten().any(|r| r.unreadable);
    let status = if unreadable { Status::Input } else { Status::Undecided };
    DomainsResult { report, unusable: Some(findings), status }
}
