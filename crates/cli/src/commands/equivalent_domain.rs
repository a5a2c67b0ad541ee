//! `planforge equivalent domain`: whether two domains behave the same on given problems, exactly or up to a limit.

use super::Context;
use crate::args::EquivalentDomainArgs;
use crate::exit::{Exit, of_stop};
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use crate::progress::counting;
use planforge_contract::{
    ComparedProblem, DomainCostDifference, DomainDifference, DomainEquivalentReport, ReportedDiagnostic,
};
use planforge_diagnostics::Diagnostic;
use planforge_diagnostics::render::escape;
use planforge_planning::equivalence::domains::{
    Behaviour, Comparison, Costs, DifferenceKind, DomainLimits, NotCompared, SearchEnd, Side, Verdict,
    compare_domains, overall,
};
use planforge_planning::walk::{ModelError, Semantics, Step};
use planforge_verifier_ew::Semantics as Word;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// One problem's comparison, or why there is none.
type Outcome = Result<Comparison, NotCompared>;

pub(crate) fn run(context: &Context, args: &EquivalentDomainArgs) -> Exit {
    let second_problems = match args.second_problems.as_slice() {
        [] => args.problems.as_slice(),
        own if own.len() == args.problems.len() => own,
        own => {
            context.output.note(&format!(
                "--second-problems names {} files and --problems {}; give one for each, in the same order",
                own.len(),
                args.problems.len()
            ));
            return Exit::Usage;
        }
    };
    let mut read: Vec<[Inputs; 2]> = args
        .problems
        .iter()
        .zip(second_problems)
        .map(|(a, b)| [Inputs::read(&args.first, Some(a)), Inputs::read(&args.second, Some(b))])
        .collect();
    // A damaged text is not compared: what is left of it is another one. That is no verdict on what was meant.
    if read.iter().flatten().any(|r| r.unreadable || r.has_errors()) {
        return unusable(context, args, &read);
    }
    let outcomes = compare_all(context, args, &read);
    let mut invalid = false;
    for (outcome, inputs) in outcomes.iter().zip(&mut read) {
        if let Err(NotCompared { side, error: ModelError::Invalid(found) }) = outcome {
            inputs[place(*side)].diagnostics.extend(found.iter().cloned());
            invalid = true;
        }
    }
    if invalid {
        return unusable(context, args, &read);
    }
    let report = report(args, &outcomes);
    match args.json {
        true => context.output.json(&report),
        false => context.output.result(&text(&report)),
    }
    exit_of(&outcomes)
}

const fn place(side: Side) -> usize {
    match side {
        Side::First => 0,
        Side::Second => 1,
    }
}

const fn word(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

const fn semantics(word: Word) -> (Semantics, &'static str) {
    match word {
        Word::Strips => (Semantics::Strips, "strips"),
        Word::GroundNoOpsDropped => (Semantics::GroundNoOpsDropped, "ground-no-ops-dropped"),
    }
}

/// Every problem, each under an equal share of the time that is left.
fn compare_all(context: &Context, args: &EquivalentDomainArgs, read: &[[Inputs; 2]]) -> Vec<Outcome> {
    let limits = DomainLimits {
        semantics: semantics(args.semantics).0,
        max_pairs: args.max_states,
        max_depth: args.max_depth,
        ..DomainLimits::default()
    };
    let bar = counting(&context.output, read.len(), "problems");
    let started = Instant::now();
    let mut outcomes = Vec::with_capacity(read.len());
    for [first, second] in read {
        let left = (read.len() - outcomes.len()) as f64;
        let share = args.time_limit.map(|all| (all - started.elapsed().as_secs_f64()).max(0.0) / left);
        if let (Some(a), Some(p), Some(b), Some(q)) =
            (&first.domain, &first.problem, &second.domain, &second.problem)
        {
            outcomes.push(compare_domains([a, b], [p, q], &limits, &mut WorkLimits::new(share)));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    outcomes
}

fn exit_of(outcomes: &[Outcome]) -> Exit {
    let compared: Vec<&Comparison> = outcomes.iter().flatten().collect();
    match overall(compared.iter().copied()) {
        Verdict::Different => Exit::Negative,
        Verdict::Equal if compared.len() == outcomes.len() => Exit::Good,
        Verdict::Equal | Verdict::Open => outcomes.iter().find_map(open_exit).unwrap_or(Exit::Undecided),
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

fn report(args: &EquivalentDomainArgs, outcomes: &[Outcome]) -> DomainEquivalentReport {
    let compared: Vec<&Comparison> = outcomes.iter().flatten().collect();
    let verdict = match overall(compared.iter().copied()) {
        Verdict::Equal if compared.len() < outcomes.len() => Verdict::Open,
        verdict => verdict,
    };
    let steps = |outcome: &Outcome| match outcome {
        Ok(Comparison { behaviour: Behaviour::EqualUpTo { steps, .. }, .. }) => Some(*steps),
        Ok(_) => None,
        Err(_) => Some(0),
    };
    let lengths = outcomes.iter().enumerate().filter_map(|(i, o)| Some((o.as_ref().ok()?.shown_after()?, i)));
    DomainEquivalentReport {
        equivalent: verdict == Verdict::Equal,
        decision: decision(verdict).to_owned(),
        semantics: semantics(args.semantics).1.to_owned(),
        equal_up_to: match verdict {
            Verdict::Open if compared.len() == outcomes.len() => outcomes.iter().filter_map(steps).min(),
            _ => None,
        },
        shortest: lengths.min().map(|(_, place)| place),
        problems: args.problems.iter().zip(outcomes).map(|(path, outcome)| shown(path, outcome)).collect(),
        diagnostics: Vec::new(),
    }
}

const fn decision(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Equal => "equal",
        Verdict::Different => "different",
        Verdict::Open => "undecided",
    }
}

fn shown(path: &Path, outcome: &Outcome) -> ComparedProblem {
    let problem = path.display().to_string();
    let comparison = match outcome {
        Ok(comparison) => comparison,
        Err(NotCompared { side, error }) => {
            let reason = Some(format!("the {} domain with this problem: {error}", word(*side)));
            return ComparedProblem {
                problem,
                decision: "undecided".to_owned(),
                reason,
                ..Default::default()
            };
        }
    };
    let mut shown = ComparedProblem {
        problem,
        decision: decision(comparison.verdict()).to_owned(),
        pairs: comparison.pairs,
        same_model: comparison.behaviour == Behaviour::Equal { same_model: true },
        ..Default::default()
    };
    match &comparison.costs {
        Costs::Different(cost) => {
            let [first, second] = cost.costs;
            shown.cost_difference = Some(DomainCostDifference { steps: steps(&cost.steps), first, second });
        }
        Costs::NotCompared { side, what } => {
            shown.reason = Some(format!("costs were not compared: the {} has {what}", word(*side)));
        }
        Costs::Equal | Costs::NotAsked => {}
    }
    match &comparison.behaviour {
        Behaviour::Equal { .. } => {}
        Behaviour::EqualUpTo { steps, end } => {
            shown.equal_up_to = Some(*steps);
            shown.reason = Some(match end {
                SearchEnd::Pairs => "the limit on pairs of states was reached".to_owned(),
                SearchEnd::Depth => "longer sequences were not asked for".to_owned(),
                SearchEnd::Stopped(reason) => format!("{reason} was reached"),
            });
        }
        Behaviour::Different(found) => shown.difference = Some(difference(&found.steps, &found.kind)),
    }
    shown
}

fn steps(list: &[Step]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn difference(list: &[Step], kind: &DifferenceKind) -> DomainDifference {
    let (kind, by, why, conditions) = match kind {
        DifferenceKind::Refused { by, refusal, conditions } => {
            ("refused", *by, refusal.to_string(), conditions)
        }
        DifferenceKind::Goal { holds_in, conditions } => {
            ("goal", holds_in.other(), "the goal does not hold".to_owned(), conditions)
        }
    };
    DomainDifference {
        kind: kind.to_owned(),
        by: word(by).to_owned(),
        steps: steps(list),
        why,
        conditions: conditions.clone(),
    }
}

fn text(report: &DomainEquivalentReport) -> String {
    let mut out = format!("{}\n", report.decision);
    for problem in &report.problems {
        let _ = write!(out, "{}: {}", escape(&problem.problem), problem.decision);
        match (problem.equal_up_to, problem.decision.as_str()) {
            (Some(steps), _) => {
                let _ = write!(out, "; behaviour equal for all sequences of at most {steps} steps");
            }
            (None, "equal") if problem.same_model => out.push_str(": the same ground model"),
            (None, "equal") => out.push_str(" over the whole reachable space"),
            (None, _) => {}
        }
        if let Some(reason) = &problem.reason {
            let _ = write!(out, "; {}", escape(reason));
        }
        if problem.pairs > 0 {
            let _ = write!(out, " ({} pairs of states)", problem.pairs);
        }
        out.push('\n');
        differences(&mut out, problem);
    }
    out
}

fn differences(out: &mut String, problem: &ComparedProblem) {
    if let Some(found) = &problem.difference {
        let _ = match found.kind.as_str() {
            "goal" => writeln!(out, "  after these steps the goal does not hold in the {} alone", found.by),
            _ => writeln!(out, "  the {} refuses the last of these steps: {}", found.by, escape(&found.why)),
        };
        listed(out, "    ", &found.steps);
        listed(out, "  does not hold: ", &found.conditions);
    }
    if let Some(found) = &problem.cost_difference {
        let _ = writeln!(
            out,
            "  the last of these steps costs {} in the first, {} in the second",
            found.first, found.second
        );
        listed(out, "    ", &found.steps);
    }
}

fn listed(out: &mut String, before: &str, lines: &[String]) {
    for line in lines {
        let _ = writeln!(out, "{before}{}", escape(line));
    }
}

/// What is wrong with the files; what is said of a domain once.
fn unusable(context: &Context, args: &EquivalentDomainArgs, read: &[[Inputs; 2]]) -> Exit {
    let mut diagnostics: Vec<ReportedDiagnostic> = Vec::new();
    for inputs in read.iter().flatten() {
        let mut fresh = Vec::new();
        for diagnostic in &inputs.diagnostics {
            let found = ReportedDiagnostic::of(diagnostic, &inputs.sources);
            if !diagnostics.contains(&found) {
                diagnostics.push(found);
                fresh.push(diagnostic.clone());
            }
        }
        if !args.json && fresh.iter().any(Diagnostic::is_error) {
            context.output.diagnostics(&fresh, &inputs.sources);
        }
    }
    if args.json {
        let (decision, semantics) = ("undecided".to_owned(), semantics(args.semantics).1.to_owned());
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
