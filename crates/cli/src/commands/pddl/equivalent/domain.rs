//! `planforge pddl equivalent domain`: whether two domains behave the same on given problems: exactly or up to a limit, or by their
//! cheapest plans.

mod text;

use self::text::text;
use crate::args::positive_seconds;
use crate::args::words;
use crate::context::Context;
use crate::exit::{Exit, of_stop};
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use crate::progress::counting;
use clap::Args;
use planforge_contract::{HeuristicEquivalence, ReportedDiagnostic};
use planforge_diagnostics::Diagnostic;
use planforge_diagnostics::render::escape;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::are::domain_error;
use planforge_planning::equivalence::domains::{
    Behaviour, ComparisonVerdict, Comparisons, EquivalenceLimits, NotCompared, SearchEnd, compare_domains,
};
use planforge_planning::equivalence::hde::{
    HdeOptions, HdeOutcome, HdeReference, HdeReferenceError, HdeReferenceErrorKind, HdeResult,
};
use planforge_planning::equivalence::interface::{
    DomainWithProblems, Interface, NoInterface, match_interface,
};
use planforge_planning::walk::ModelError;
use planforge_plugin_common::judging::Rule;
use planforge_plugin_common::judging::Semantics;
use planforge_plugin_common::judging::domains::{self, Outcome};
use planforge_plugin_common::judging::reports::DomainEquivalentReport;
use std::num::NonZeroUsize;
use std::path::Path;
use std::path::PathBuf;
use std::time::Instant;

/// Compare two domains exactly on given problems.
///
/// Prints the shortest sequence of ground actions that only one of them executes, or after which the goal
/// holds in only one; or that there is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl --max-states 5000000 --time-limit 60 --json
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl --second-problems written-p01.pddl
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl --heuristic --k 100
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl --match-interface

By default all sequences of actions are compared. With --heuristic, the k cheapest plans of each problem are compared: each is found in
one domain and executed in the other. With both options the action reconstruction error is printed. --match-interface first renames
actions, parameters and types of the second domain to those of the first.

Exits with 0 where the domains are equal over the whole reachable space of every problem given (which says nothing of other
problems), with 10 where they differ, and with 20 to 23 where a limit left that open or no renaming makes them comparable.")]
pub(crate) struct EquivalentDomainArgs {
    /// The first domain.
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,
    /// The second domain.
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
    /// Problems to compare them on.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) problems: Vec<PathBuf>,
    /// The same problems in the predicates of the second domain, one for each and in the same order. Without them both domains are
    /// given the same files.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) second_problems: Vec<PathBuf>,
    /// Compare every sequence of actions (the default).
    #[arg(long, conflicts_with = "heuristic")]
    pub(crate) exact: bool,
    /// Compare by the cheapest plans: heuristic domain equivalence, as the domain-generators paper has it.
    #[arg(long)]
    pub(crate) heuristic: bool,
    /// With --heuristic: plans of each problem in each domain.
    #[arg(long, value_name = "K", default_value_t = 100, requires = "heuristic", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) k: u32,
    /// With --heuristic: how plans count, by the paper's definition or as its code does.
    #[arg(long, value_name = "RULE", default_value = "definition", requires = "heuristic", value_parser = words::<Rule>(&["definition", "reference-code"]))]
    pub(crate) rule: Rule,
    /// With --heuristic: most search nodes for the plans of one problem in one domain.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "heuristic", value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_nodes: u64,
    /// Search a renaming of the second domain's actions, parameters and types, and compare it under the first's names.
    #[arg(long)]
    pub(crate) match_interface: bool,
    /// With --match-interface: most choices that are tried for a renaming.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "match_interface", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_choices: u64,
    /// The legal ground actions: all whose precondition holds (the default), or only those that can change
    /// something. With --heuristic: those that plans consist of, by default only those that can change
    /// something.
    #[arg(long, value_name = "WHAT", value_parser = words::<Semantics>(&["strips", "ground-no-ops-dropped"]))]
    pub(crate) semantics: Option<Semantics>,
    /// Limit: pairs of states on each problem.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_states: u64,
    /// Limit: length of the compared sequences of actions.
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Give up after this many seconds for all problems; each gets an equal share of the rest.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &EquivalentDomainArgs) -> Exit {
    let second_problems = match args.second_problems.as_slice() {
        [] => args.problems.as_slice(),
        own if own.len() == args.problems.len() => own,
        own => {
            let message =
                format!("--second-problems names {} files and --problems {}", own.len(), args.problems.len());
            return context.usage_error(message, Some("give one for each, in the same order"));
        }
    };
    // Under other names for its types, the second domain does not fit the first's problems yet: it is checked alone.
    let alone = args.match_interface && args.second_problems.is_empty();
    let second = |problem: &Path| Inputs::read(&args.second, (!alone).then_some(problem));
    let mut read: Vec<[Inputs; 2]> = args
        .problems
        .iter()
        .zip(second_problems)
        .map(|(a, b)| [Inputs::read(&args.first, Some(a)), second(b)])
        .collect();
    // A damaged text is not compared: its readable part would be compared instead.
    if read.iter().flatten().any(|r| r.unreadable || r.has_errors()) {
        return unusable(context, args, &read);
    }
    let Some(mut texts) = ComparedTexts::of(&read) else { return unusable(context, args, &read) };
    let matched = args.match_interface.then(|| texts.rename(args.max_choices)).transpose();
    let matched = match matched {
        Ok(matched) => matched,
        Err(not) => return not_matched(context, args, &not),
    };
    let compared = match args.heuristic {
        true => by_plans(args, &texts),
        false => DomainComparison::Exact(compare_all(context, args, &texts)),
    };
    if let Some((number, side, found)) = compared.invalid() {
        read[number][place(side)].texts.diagnostics.extend(found);
        return unusable(context, args, &read);
    }
    let mut report = report(args, &compared);
    report.reconstruction_error =
        Some(domains::reconstruction_error(&domain_error(texts.first, &texts.second)));
    report.interface = matched.as_ref().map(domains::interface);
    match args.json {
        true => context.output.json(&report),
        false => context.output.result(&text(&report)),
    }
    compared.exit()
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
    fn rename(&mut self, max_choices: u64) -> Result<Interface, NoInterface> {
        let of = |side: usize| self.problems.iter().map(|p| p[side]).collect::<Vec<&Problem>>();
        let (first, second) = (of(0), if self.own_problems { of(1) } else { Vec::new() });
        let found = match_interface(
            DomainWithProblems { domain: self.first, problems: &first },
            DomainWithProblems { domain: &self.second, problems: &second },
            max_choices,
        )?;
        self.second = found.rewrite(self.first, &self.second);
        Ok(found)
    }
}

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

    fn exit(&self) -> Exit {
        let of_model = |error: &ModelError| match error {
            ModelError::Limit(reason) => of_stop(*reason),
            _ => Exit::Undecided,
        };
        match self {
            DomainComparison::Exact(outcomes) => exit_of(outcomes),
            DomainComparison::ByPlans(Ok(found)) => match found.0.outcome {
                HdeOutcome::Equivalent => Exit::Good,
                HdeOutcome::Different { .. } => Exit::Negative,
                HdeOutcome::Undecided { stopped, .. } => of_stop(stopped),
            },
            DomainComparison::ByPlans(Err(NoPlanComparison::Candidate(not))) => of_model(&not.error),
            DomainComparison::ByPlans(Err(NoPlanComparison::HdeReference(not))) => match &not.why {
                HdeReferenceErrorKind::Limit(reason) => of_stop(*reason),
                HdeReferenceErrorKind::Model(error) => of_model(error),
                HdeReferenceErrorKind::Unsolvable(_) => Exit::Undecided,
            },
        }
    }
}

/// By the cheapest plans, all problems under one time limit.
fn by_plans(args: &EquivalentDomainArgs, texts: &ComparedTexts<'_>) -> DomainComparison {
    let defaults = HdeOptions::default();
    let options = HdeOptions {
        k: NonZeroUsize::new(args.k as usize).unwrap_or(defaults.k),
        rule: args.rule.into(),
        semantics: args.semantics.map_or(defaults.semantics, Into::into),
        max_nodes: args.max_nodes,
        ..defaults
    };
    let of = |side: usize| texts.problems.iter().map(|p| p[side]).collect::<Vec<&Problem>>();
    let mut limits = WorkLimits::new(args.time_limit);
    let reference = match HdeReference::new(texts.first, &of(0), &options, &mut limits) {
        Ok(reference) => reference,
        Err(not) => return DomainComparison::ByPlans(Err(NoPlanComparison::HdeReference(not))),
    };
    let found = reference.compare_on(&texts.second, &of(1), &mut limits);
    DomainComparison::ByPlans(found.map(|hde| Box::new((hde, options))).map_err(NoPlanComparison::Candidate))
}

/// No renaming makes the domains comparable: neither equal nor different.
fn not_matched(context: &Context, args: &EquivalentDomainArgs, not: &NoInterface) -> Exit {
    let limit = matches!(not, NoInterface::Limit { .. });
    let decision = if limit { "undecided" } else { "not-comparable" };
    if args.json {
        context.output.json(&DomainEquivalentReport {
            decision: decision.to_owned(),
            semantics: default_semantics(args).to_owned(),
            not_comparable: Some(not.to_string()),
            ..Default::default()
        });
    } else {
        context.output.result(&format!("{decision}: {}\n", escape(&not.to_string())));
    }
    if limit { Exit::NodeLimit } else { Exit::Undecided }
}

/// The name of the default semantics.
fn default_semantics(args: &EquivalentDomainArgs) -> &'static str {
    let default = || match args.heuristic {
        true => HdeOptions::default().semantics.into(),
        false => Semantics::default(),
    };
    args.semantics.unwrap_or_else(default).name()
}

const fn place(side: ComparedSide) -> usize {
    match side {
        ComparedSide::First => 0,
        ComparedSide::Second => 1,
    }
}

/// Every problem, each under an equal share of the time that is left.
fn compare_all(context: &Context, args: &EquivalentDomainArgs, texts: &ComparedTexts<'_>) -> Comparisons {
    let limits = EquivalenceLimits {
        semantics: args.semantics.unwrap_or_default().into(),
        max_pairs: args.max_states,
        max_depth: args.max_depth,
        ..EquivalenceLimits::default()
    };
    let count = texts.problems.len();
    let bar = counting(&context.output, count, "problems");
    let started = Instant::now();
    let mut outcomes = Vec::with_capacity(count);
    for &problems in &texts.problems {
        let left = (count - outcomes.len()) as f64;
        let share = args.time_limit.map(|all| (all - started.elapsed().as_secs_f64()).max(0.0) / left);
        let domains = [texts.first, &texts.second];
        outcomes.push(compare_domains(domains, problems, &limits, &mut WorkLimits::new(share)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Comparisons(outcomes)
}

fn exit_of(compared: &Comparisons) -> Exit {
    match compared.verdict() {
        ComparisonVerdict::Different => Exit::Negative,
        ComparisonVerdict::Equal => Exit::Good,
        ComparisonVerdict::Open => compared.0.iter().find_map(open_exit).unwrap_or(Exit::Undecided),
    }
}

/// The code of what left one problem open.
fn open_exit(outcome: &Outcome) -> Option<Exit> {
    match outcome {
        Err(NotCompared { error: ModelError::Limit(reason), .. }) => Some(of_stop(*reason)),
        Err(_) => Some(Exit::Undecided),
        Ok(comparison) => match comparison.behaviour {
            Behaviour::EqualUpTo { end: SearchEnd::Stopped(reason), .. } => Some(of_stop(reason)),
            Behaviour::EqualUpTo { end: SearchEnd::Pairs | SearchEnd::Depth, .. } => Some(Exit::NodeLimit),
            Behaviour::Equal { .. } | Behaviour::Different(_) => None,
        },
    }
}

fn report(args: &EquivalentDomainArgs, compared: &DomainComparison) -> DomainEquivalentReport {
    match compared {
        DomainComparison::Exact(outcomes) => exact_report(args, outcomes),
        DomainComparison::ByPlans(found) => plans_report(args, found),
    }
}

fn plans_report(
    args: &EquivalentDomainArgs,
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
        semantics: default_semantics(args).to_owned(),
        heuristic: Some(heuristic),
        ..Default::default()
    }
}

fn exact_report(args: &EquivalentDomainArgs, compared: &Comparisons) -> DomainEquivalentReport {
    let verdict = compared.verdict();
    let lengths = compared.0.iter().enumerate();
    let lengths = lengths.filter_map(|(place, o)| Some((o.as_ref().ok()?.shown_after()?, place)));
    DomainEquivalentReport {
        equivalent: verdict == ComparisonVerdict::Equal,
        decision: domains::decision(verdict).to_owned(),
        semantics: default_semantics(args).to_owned(),
        equal_up_to: compared.equal_up_to(),
        shortest: lengths.min().map(|(_, place)| place),
        problems: args
            .problems
            .iter()
            .zip(&compared.0)
            .map(|(path, outcome)| domains::to_compared_problem(&path.display().to_string(), outcome))
            .collect(),
        ..Default::default()
    }
}

/// Prints the diagnostics of the files; those of a domain once.
fn unusable(context: &Context, args: &EquivalentDomainArgs, read: &[[Inputs; 2]]) -> Exit {
    let mut diagnostics: Vec<ReportedDiagnostic> = Vec::new();
    for inputs in read.iter().flatten() {
        let mut fresh = Vec::new();
        for diagnostic in &inputs.texts.diagnostics {
            let found = ReportedDiagnostic::of(diagnostic, &inputs.texts.sources);
            if !diagnostics.contains(&found) {
                diagnostics.push(found);
                fresh.push(diagnostic.clone());
            }
        }
        if !args.json && fresh.iter().any(Diagnostic::is_error) {
            context.output.diagnostics(&fresh, &inputs.texts.sources);
        }
    }
    if args.json {
        let (decision, semantics) = ("undecided".to_owned(), default_semantics(args).to_owned());
        context.output.json(&DomainEquivalentReport {
            decision,
            semantics,
            diagnostics,
            ..Default::default()
        });
    } else {
        context.output.result("undecided: the domains cannot be compared\n");
    }
    if read.iter().flatten().any(|r| r.unreadable) { Exit::Input } else { Exit::Undecided }
}
