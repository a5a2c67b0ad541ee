//! Compares candidates' domains with the reference domain on the reference problem. Differences reveal the
//! reference, so they are never feedback.

use crate::codes;
use crate::judge::{interruption_failure, undecided_assessment};
use crate::{EquivalenceVerifierOptions, InterfaceOption, Level};
use planforge_contract::api::Host;
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, FailureClass, HeuristicEquivalence, ReportedSeverity,
    UndecidedReason,
};
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::Domain;
use planforge_planning::StopReason;
use planforge_planning::equivalence::are::domain_error;
use planforge_planning::equivalence::domains::{
    Behaviour, ComparisonVerdict, Comparisons, DomainComparison, ExactReference, NotCompared,
};
use planforge_planning::equivalence::hde::{self, HdeOutcome, HdeReferenceErrorKind};
use planforge_planning::equivalence::interface::{
    DomainWithProblems as Sides, Interface, NoInterface, match_interface, same_interface,
};
use planforge_planning::equivalence::parameters::reorder_domain;
use planforge_planning::walk::ModelError;
use planforge_plugin_common::judging::domains::Outcome;
use planforge_plugin_common::judging::{Deadline, Reference, domains};
use planforge_plugin_sdk::checked::{Checked, Texts, check};
use serde_json::json;

/// The reference of one request, prepared for comparison.
pub(crate) struct DomainJudge<'a> {
    host: &'a dyn Host,
    options: &'a EquivalenceVerifierOptions,
    reference: &'a Reference,
    budget: Deadline<'a>,
    prepared: Prepared,
}

/// The reference, made ready once for all candidates.
enum Prepared {
    /// For level `exact`.
    Model(ExactReference),
    /// For level `hde`.
    Plans(hde::HdeReference),
    /// No comparison is possible; every candidate gets this assessment.
    None(Box<Assessment>),
}

impl<'a> DomainJudge<'a> {
    /// Prepares the reference.
    ///
    /// # Errors
    /// The reference is not a model, or the run was interrupted.
    pub(crate) fn open(
        host: &'a dyn Host,
        options: &'a EquivalenceVerifierOptions,
        reference: &'a Reference,
    ) -> Result<Self, Failure> {
        let mut budget = options.limits.deadline(host, 1);
        let prepared = match options.level() {
            Level::Hde => plans(options, reference, &mut budget)?,
            Level::Exact | Level::Syntactic | Level::Goals => {
                let limits = options.domain_limits();
                match ExactReference::new(&reference.domain, &reference.problems(), &limits, &mut budget) {
                    Ok(models) => Prepared::Model(models),
                    Err(NotCompared { error, .. }) => no_reference(error)?,
                }
            }
        };
        Ok(Self { host, options, reference, budget, prepared })
    }

    pub(crate) fn judge(&mut self, candidate: &Candidate) -> Result<Assessment, Failure> {
        self.budget = self.options.limits.deadline(self.host, 1);
        if self.host.cancelled() {
            return Err(interruption_failure());
        }
        let text = candidate.domain.as_deref().filter(|t| !t.trim().is_empty());
        let Some(text) = text else {
            let message = "there is nothing to compare: the candidate has no domain";
            return Ok(undecided_assessment(UndecidedReason::MissingInput, message.to_owned()));
        };
        let checked = check(Texts { domain: Some(text), problem: None }, "");
        let Some(domain) = checked.domain.as_ref().filter(|_| checked.count(ReportedSeverity::Error) == 0)
        else {
            return Ok(broken(checked));
        };
        let (domain, renaming) = match self.match_names(domain) {
            Ok(matched) => matched,
            Err(NoInterface::None(why)) => return Ok(not_comparable(&checked, codes::INTERFACE, why)),
            Err(NoInterface::Limit { stopped: Some(StopReason::Cancelled), .. }) => {
                return Err(interruption_failure());
            }
            Err(limit @ NoInterface::Limit { .. }) => {
                return Ok(undecided_assessment(UndecidedReason::Limit, limit.to_string()));
            }
        };
        let mut assessment = self.compare(&domain, &checked)?;
        if assessment.decision == Decision::Rejected
            && let Some(reordered) = reorder_domain(&self.reference.domain, &domain)
        {
            let other = self.compare(&reordered, &checked)?;
            if other.decision != Decision::Rejected {
                let positional = json!({ "decision": "rejected", "summary": assessment.summary });
                assessment = other;
                assessment.summary.push_str(" Its parameters are in another order, which is not compared.");
                assessment.evidence["positional"] = positional;
            }
        }
        let error = domain_error(&self.reference.domain, &domain);
        let figures = [
            ("are", Some(error.by_name)),
            ("are_by_position", Some(error.by_position)),
            ("are_least", error.least),
        ];
        for (name, value) in figures {
            if let Some(value) = value {
                assessment.metrics.insert(name.into(), value as f64);
            }
        }
        if assessment.evidence.is_null() {
            assessment.evidence = json!({});
        }
        assessment.evidence["reconstruction_error"] = json!(domains::reconstruction_error(&error));
        if let Some(renaming) = renaming {
            assessment.evidence["interface"] = json!(domains::interface(&renaming));
            if !renaming.is_identity() {
                assessment.summary.push_str(" Its actions were renamed before.");
            }
        }
        assessment.diagnostics.splice(0..0, checked.diagnostics);
        Ok(assessment)
    }

    /// The assessment of a domain with parameters by position.
    fn compare(&mut self, domain: &Domain, checked: &Checked) -> Result<Assessment, Failure> {
        match &self.prepared {
            Prepared::Model(own) => exactly(own, (domain, checked), &mut self.budget),
            Prepared::Plans(own) => by_plans(own, (domain, checked), self.options, &mut self.budget),
            Prepared::None(all) => Ok((**all).clone()),
        }
    }

    /// The candidate in the reference's names, with its renaming if one is searched.
    fn match_names(&mut self, domain: &Domain) -> Result<(Domain, Option<Interface>), NoInterface> {
        let reference = &self.reference.domain;
        if self.options.interface == InterfaceOption::Exact {
            return same_interface(reference, domain).map(|()| (domain.clone(), None));
        }
        let own = Sides { domain: reference, problems: &self.reference.problems() };
        let other = Sides { domain, problems: &[] };
        let found = match_interface(own, other, self.options.max_choices, &mut self.budget)?;
        Ok((found.rewrite(reference, domain), Some(found)))
    }
}

/// By every sequence of ground actions, problem by problem up to the first that shows a difference.
fn exactly(
    own: &ExactReference,
    (domain, checked): (&Domain, &Checked),
    budget: &mut Deadline<'_>,
) -> Result<Assessment, Failure> {
    let compared = own.compare(domain, budget);
    if compared.is_cancelled() {
        return Err(interruption_failure());
    }
    told_exactly(&compared, own.problems(), checked)
}

/// The assessment of comparisons on so many problems: a difference counts before what is open.
fn told_exactly(compared: &Comparisons, problems: usize, checked: &Checked) -> Result<Assessment, Failure> {
    let on = |number: usize| match problems {
        1 => String::new(),
        _ => format!(" on problem {}", number + 1),
    };
    let (decides, outcome, comparison) = match compared.decisive() {
        Some((place, outcome @ Ok(comparison))) => (place, outcome, comparison),
        Some((_, Err(not))) => return unmade(not.clone(), checked),
        None => {
            return Ok(undecided_assessment(
                UndecidedReason::MissingInput,
                "there is no reference problem".to_owned(),
            ));
        }
    };
    let entry = |outcome: &Outcome| {
        let mut entry = json!(domains::to_compared_problem("", outcome));
        entry.as_object_mut().and_then(|object| object.remove("problem"));
        entry
    };
    let mut assessment = match comparison.verdict() {
        ComparisonVerdict::Equal => accepted_assessment(&match problems {
            1 => "The domain behaves as the reference over the whole reachable space.".to_owned(),
            n => {
                format!("The domain behaves as the reference over the whole reachable space of {n} problems.")
            }
        }),
        ComparisonVerdict::Different => {
            let steps = comparison.shown_after().unwrap_or_default();
            let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
            let place = on(decides);
            differs(checked, &format!("the domain behaves otherwise than the reference after {steps}{place}"))
        }
        ComparisonVerdict::Open => {
            let shown = domains::to_compared_problem("", outcome);
            let why = shown.reason.unwrap_or_default();
            let steps = shown.equal_up_to.map(|n| format!(", equal for all sequences of at most {n} steps"));
            let reason = match comparison.behaviour {
                Behaviour::EqualUpTo { .. } => UndecidedReason::Limit,
                _ => UndecidedReason::Unsupported,
            };
            let place = on(decides);
            undecided_assessment(
                reason,
                format!("the comparison{place} is open{}: {why}", steps.unwrap_or_default()),
            )
        }
    };
    figures(&mut assessment, comparison, compared.pairs());
    assessment.evidence = json!({ "comparison": entry(outcome) });
    if problems > 1 {
        assessment.evidence["comparisons"] = compared.0.iter().map(entry).collect();
    }
    Ok(assessment)
}

/// By the cheapest plans of either.
fn by_plans(
    own: &hde::HdeReference,
    (domain, checked): (&Domain, &Checked),
    options: &EquivalenceVerifierOptions,
    budget: &mut Deadline<'_>,
) -> Result<Assessment, Failure> {
    let found = match own.compare(domain, budget) {
        Ok(found) => found,
        Err(not) => return unmade(not, checked),
    };
    let shown = domains::heuristic(&found, &options.hde());
    let mut assessment = match &found.outcome {
        HdeOutcome::Undecided { stopped: StopReason::Cancelled, .. } => return Err(interruption_failure()),
        HdeOutcome::Equivalent => accepted_assessment(&format!(
            "The cheapest plans of the domain and of the reference are plans of both ({} executed).",
            found.shared
        )),
        HdeOutcome::Different { .. } => differs(checked, difference_clause(&shown)),
        HdeOutcome::Undecided { .. } => {
            undecided_assessment(UndecidedReason::Limit, shown.why.clone().unwrap_or_default())
        }
    };
    assessment.metrics.insert("plans".into(), found.plans.iter().flatten().sum::<usize>() as f64);
    assessment.evidence = json!({ "heuristic": shown });
    Ok(assessment)
}

/// The reference's plans, or an assessment for every candidate if there are none.
fn plans(
    options: &EquivalenceVerifierOptions,
    reference: &Reference,
    budget: &mut Deadline<'_>,
) -> Result<Prepared, Failure> {
    let found = hde::HdeReference::new(&reference.domain, &reference.problems(), &options.hde(), budget);
    match found.map_err(|no| no.why) {
        Ok(plans) => Ok(Prepared::Plans(plans)),
        Err(HdeReferenceErrorKind::Limit(reason)) => no_reference(ModelError::Limit(reason)),
        Err(HdeReferenceErrorKind::Model(error)) => no_reference(error),
        Err(HdeReferenceErrorKind::Unsolvable(_)) => {
            let message = "the reference problem has no plan, so the metric is not defined".to_owned();
            let decision = Decision::NotComparable { message: message.clone() };
            Ok(Prepared::None(Box::new(Assessment::new(decision, message))))
        }
    }
}

/// The reference could not be made ready: a limit or a construct that is not executed leaves every candidate undecided.
fn no_reference(error: ModelError) -> Result<Prepared, Failure> {
    let reason = match &error {
        ModelError::Limit(StopReason::Cancelled) => return Err(interruption_failure()),
        ModelError::Limit(_) => UndecidedReason::Limit,
        ModelError::Unsupported(_) => UndecidedReason::Unsupported,
        ModelError::Invalid(_) => {
            let message = format!("the reference cannot be executed: {error}");
            return Err(Failure::new(FailureClass::Request, codes::REFERENCE, message)
                .help("the reference belongs to the suite: check it with `planforge pddl validate`"));
        }
    };
    let message = match error {
        ModelError::Limit(limit) => format!("{limit} was reached while the reference was made ready"),
        other => format!("the reference: {other}"),
    };
    Ok(Prepared::None(Box::new(undecided_assessment(reason, message))))
}

/// The assessment of a candidate that is not a model: a limit, or a domain that the reference problem does
/// not fit.
fn unmade(not: NotCompared, checked: &Checked) -> Result<Assessment, Failure> {
    let message = format!("the candidate's domain with the reference problem: {}", not.error);
    match not.error {
        ModelError::Limit(StopReason::Cancelled) => Err(interruption_failure()),
        ModelError::Limit(_) => Ok(undecided_assessment(UndecidedReason::Limit, message)),
        ModelError::Unsupported(_) => Ok(undecided_assessment(UndecidedReason::Unsupported, message)),
        ModelError::Invalid(_) => Ok(not_comparable(checked, codes::INTERFACE, message)),
    }
}

/// A clause about a difference by plans.
fn difference_clause(shown: &HeuristicEquivalence) -> &'static str {
    match shown.class.as_deref() {
        Some("no-plan") => "the reference problem has no plan in the domain",
        Some("new-plan-fails") => "a plan of the domain is none of the reference",
        Some("old-plan-fails") if shown.failing_plan.is_none() => {
            "the domain and the reference have different numbers of plans"
        }
        _ => "a plan of the reference is none of the domain",
    }
}

fn accepted_assessment(summary: &str) -> Assessment {
    let mut assessment = Assessment::new(Decision::Accepted, summary);
    assessment.metrics.insert("equivalent".into(), 1.0);
    assessment
}

fn differs(checked: &Checked, message: &str) -> Assessment {
    let mut summary = message.to_owned();
    summary[..1].make_ascii_uppercase();
    let mut assessment = Assessment::new(Decision::Rejected, format!("{summary}."));
    assessment.metrics.insert("equivalent".into(), 0.0);
    assessment.diagnostics = checked.report(&[Diagnostic::error(codes::BEHAVIOUR, message)]);
    assessment
}

/// A domain with errors is not the reference, which has none.
fn broken(checked: Checked) -> Assessment {
    let errors = match checked.count(ReportedSeverity::Error) {
        1 => "1 error".to_owned(),
        n => format!("{n} errors"),
    };
    let mut assessment =
        Assessment::new(Decision::Rejected, format!("The domain has {errors}, so it is not the reference."));
    assessment.metrics.insert("equivalent".into(), 0.0);
    assessment.diagnostics = checked.diagnostics;
    assessment
}

fn not_comparable(checked: &Checked, code: &'static str, message: String) -> Assessment {
    let decision = Decision::NotComparable { message: message.clone() };
    let mut assessment = Assessment::new(decision, message.clone());
    assessment.diagnostics = checked.report(&[Diagnostic::error(code, message)]);
    assessment
}

/// Of the comparison that decides, and the pairs of all.
fn figures(assessment: &mut Assessment, comparison: &DomainComparison, pairs: u64) {
    assessment.metrics.insert("states".into(), pairs as f64);
    let depth = match &comparison.behaviour {
        Behaviour::EqualUpTo { steps, .. } if comparison.verdict() == ComparisonVerdict::Open => {
            Some(f64::from(*steps))
        }
        _ => comparison.shown_after().map(|steps| steps as f64),
    };
    if let Some(depth) = depth {
        assessment.metrics.insert("depth".into(), depth);
    }
}
