//! One candidate's assessment: the class of each action, of the domain of all of them, and the verdict.

use crate::classes::frame::{Behaviour, Cache, Frame, Open, interruption_failure};
use crate::classes::{ClassVerifierOptions, codes};
use planforge_contract::api::Host;
use planforge_contract::{
    ActionReconstructionError, Assessment, Candidate, Classification, Decision, ExactAnswer, Failure,
    ReportedDiagnostic, ResultClasses, TaskView, UndecidedReason,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::ast::Domain;
use planforge_pddl::parse_domain;
use planforge_planning::equivalence::are::action_error;
use planforge_planning::equivalence::domains::{ComparisonVerdict, Comparisons};
use planforge_planning::equivalence::hde::{FailingPlan, HdeDifference, HdeOutcome};
use planforge_planning::equivalence::parameters::step_in_other_order;
use planforge_planning::result_class::{
    ClassifiedReply, FittedAction, ResultClass, ResultGroup, classify_action, classify_domain, fit_action,
    fit_all_actions, named_action,
};
use planforge_planning::walk::NamedStep;
use planforge_planning::{Explanation, StopReason};
use planforge_plugin_common::judging::{Deadline, domains};
use planforge_plugin_sdk::feedback::{self, ActionFault, FailingActionPlan};
use serde_json::json;
use std::collections::BTreeSet;

/// The source of an action's text in diagnostics.
const TEXT: SourceId = SourceId(0);

/// Judges the candidates of one request.
pub(crate) struct ActionJudge<'a> {
    host: &'a dyn Host,
    options: &'a ClassVerifierOptions,
    frame: Frame,
    budget: Deadline<'a>,
}

impl<'a> ActionJudge<'a> {
    /// Prepares the reference once for all candidates and actions.
    ///
    /// # Errors
    /// See [`Frame::open`].
    pub(crate) fn open(
        host: &'a dyn Host,
        options: &'a ClassVerifierOptions,
        cache: &Cache,
        task: &TaskView,
    ) -> Result<Self, Failure> {
        let mut budget = options.limits.deadline(host, 1);
        let frame = Frame::open(host, options, task, cache, &mut budget)?;
        Ok(Self { host, options, frame, budget })
    }

    /// Judges one candidate.
    ///
    /// # Errors
    /// The run was interrupted.
    pub(crate) fn judge(&mut self, candidate: &Candidate) -> Result<Assessment, Failure> {
        self.budget = self.options.limits.deadline(self.host, 1);
        if self.host.cancelled() {
            return Err(interruption_failure());
        }
        let has_domain = candidate.domain.as_deref().is_some_and(|text| !text.trim().is_empty());
        if !has_domain && own_texts(candidate).next().is_none() {
            return Ok(nothing(
                "there is nothing to classify: the candidate has neither actions nor a domain",
            ));
        }
        if let Some(message) = other_predicates(candidate, &self.frame.domain) {
            return Ok(not_comparable(message));
        }
        let names: Vec<String> = match self.frame.names.is_empty() {
            // Declarations that are given without names: those of the texts, as they are.
            true => own_texts(candidate).map(str::to_owned).collect(),
            false => self.frame.names.clone(),
        };
        let asked = requested_actions(candidate, &names);
        if asked.is_empty() {
            return Ok(nothing(
                "there is nothing to classify: no action of the candidate is one of the reference",
            ));
        }
        let mut found = Vec::with_capacity(asked.len());
        for action in &asked {
            found.push(self.action(action)?);
        }
        let whole = match self.options.whole {
            true => Some(self.whole(&asked, &found)?),
            false => None,
        };
        Ok(self.assessment(&asked, &found, whole.as_ref(), unknown(candidate, &names)))
    }

    /// The class of one action.
    fn action(&mut self, asked: &RequestedAction) -> Result<ActionResult, Failure> {
        let rule = self.options.bad_precondition.into();
        let Frame { domain, behaviour, .. } = &self.frame;
        match behaviour.as_deref() {
            None => Ok(fitting(fit_action(&asked.text, TEXT, domain, &asked.name, rule))),
            Some(Behaviour { plans: Ok(plans), .. }) => {
                let classified =
                    classify_action(&asked.text, TEXT, domain, &asked.name, rule, plans, &mut self.budget);
                self.found(classified)
            }
            Some(Behaviour { plans: Err(open), .. }) => {
                let classified = match fit_action(&asked.text, TEXT, domain, &asked.name, rule) {
                    Ok(FittedAction { action, domain }) => {
                        ClassifiedReply { action: Some(action), domain: Some(domain), ..left_open(open) }
                    }
                    Err(classified) => *classified,
                };
                self.found(classified)
            }
        }
    }

    /// The class of the domain with every written action.
    fn whole(&mut self, asked: &[RequestedAction], found: &[ActionResult]) -> Result<ActionResult, Failure> {
        let parts: Vec<(&str, &ClassifiedReply)> =
            asked.iter().zip(found).map(|(asked, found)| (asked.name.as_str(), &found.classified)).collect();
        let Frame { domain, behaviour, .. } = &self.frame;
        match behaviour.as_deref() {
            None => Ok(match fit_all_actions(domain, &parts) {
                Ok(_) => ActionResult { classified: empty(ResultClass::Undecided), fits: true, exact: None },
                Err(classified) => ActionResult { classified: *classified, fits: false, exact: None },
            }),
            Some(Behaviour { plans: Ok(plans), .. }) => {
                let classified = classify_domain(domain, &parts, plans, &mut self.budget);
                self.found(classified)
            }
            Some(Behaviour { plans: Err(open), .. }) => {
                let classified = match fit_all_actions(domain, &parts) {
                    Ok(domain) => ClassifiedReply { domain: Some(domain), ..left_open(open) },
                    Err(classified) => *classified,
                };
                self.found(classified)
            }
        }
    }

    /// A class with the exact comparison, if it is requested and there is a domain to compare.
    fn found(&mut self, classified: ClassifiedReply) -> Result<ActionResult, Failure> {
        if classified.stopped == Some(StopReason::Cancelled) {
            return Err(interruption_failure());
        }
        let models = self.frame.behaviour.as_ref().and_then(|behaviour| behaviour.exact.as_ref());
        let exact = match (models, &classified.domain) {
            (Some(Ok(models)), Some(domain)) => {
                let compared = models.compare(domain, &mut self.budget);
                if compared.is_cancelled() {
                    return Err(interruption_failure());
                }
                Some(exact_answer(&compared))
            }
            (Some(Err(_)), Some(_)) => {
                Some(ExactAnswer { decision: "undecided".to_owned(), ..ExactAnswer::default() })
            }
            _ => None,
        };
        Ok(ActionResult { classified, fits: false, exact })
    }

    fn assessment(
        &self,
        asked: &[RequestedAction],
        found: &[ActionResult],
        whole: Option<&ActionResult>,
        unknown: Option<ReportedDiagnostic>,
    ) -> Assessment {
        let domain: &Domain = &self.frame.domain;
        let actions: Vec<Classification> =
            asked.iter().zip(found).map(|(a, f)| report_action(a, f, domain, self.options)).collect();
        let name = domain.name.as_ref().map(ToString::to_string).unwrap_or_default();
        let of_all = whole.map(|whole| report_domain(&name, whole, &actions, self.options));
        let behaviour = self.frame.behaviour.is_some();
        let mut assessment = Assessment::new(decision(asked, found), summary(found, behaviour));
        figures(&mut assessment, (found, behaviour), whole, &actions);
        for ((asked, found), action) in asked.iter().zip(found).zip(&actions) {
            assessment.diagnostics.extend(action.diagnostics.iter().cloned());
            assessment.diagnostics.extend(behaviour_finding(asked, found));
            assessment.feedback.extend(feedback_entry(asked, found, action, domain));
        }
        assessment.diagnostics.extend(unknown);
        let problems = self.frame.behaviour.as_ref().map_or(0, |behaviour| behaviour.problems as u64);
        assessment.evidence = json!(ResultClasses { problems, actions, domain: of_all });
        assessment
    }
}

/// An action that fits, or why it does not.
fn fitting(result: Result<FittedAction, Box<ClassifiedReply>>) -> ActionResult {
    match result {
        Ok(FittedAction { action, domain }) => {
            let classified = ClassifiedReply {
                action: Some(action),
                domain: Some(domain),
                ..empty(ResultClass::Undecided)
            };
            ActionResult { classified, fits: true, exact: None }
        }
        Err(classified) => ActionResult { classified: *classified, fits: false, exact: None },
    }
}

fn left_open(open: &Open) -> ClassifiedReply {
    ClassifiedReply { reason: Some(open.why.clone()), stopped: open.stopped, ..empty(ResultClass::Undecided) }
}

fn empty(class: ResultClass) -> ClassifiedReply {
    ClassifiedReply {
        class,
        positional: None,
        parameters: None,
        diagnostics: Vec::new(),
        action: None,
        domain: None,
        hde: None,
        stopped: None,
        reason: None,
    }
}

fn decision(asked: &[RequestedAction], found: &[ActionResult]) -> Decision {
    if found.iter().any(|found| !found.is_good() && !found.is_open()) {
        return Decision::Rejected;
    }
    let open: Vec<(&RequestedAction, &ActionResult)> =
        asked.iter().zip(found).filter(|(_, found)| found.is_open()).collect();
    let Some((asked, first)) = open.first() else { return Decision::Accepted };
    // Another run may change the result of a limit, so a limit is reported first.
    let reason = match open.iter().any(|(_, found)| found.classified.stopped.is_some()) {
        true => UndecidedReason::Limit,
        false => UndecidedReason::Unsupported,
    };
    let why = first.classified.reason.as_deref().unwrap_or("its behaviour could not be told");
    let message = match open.len() {
        1 => format!("action `{}`: {why}", asked.name),
        n => format!("{n} actions could not be told; `{}`: {why}", asked.name),
    };
    Decision::Undecided { reason, message }
}

/// `3 of 4 actions are equivalent, 1 semantic error.`
fn summary(found: &[ActionResult], behaviour: bool) -> String {
    let count = |group: &str| found.iter().filter(|found| found.group() == group).count();
    let good = found.iter().filter(|found| found.is_good()).count();
    let word = match (behaviour, good) {
        (false, 1) => "fits the domain",
        (false, _) => "fit the domain",
        (true, 1) => "is equivalent",
        (true, _) => "are equivalent",
    };
    let rest = [ResultGroup::Syntax, ResultGroup::Semantic, ResultGroup::Different, ResultGroup::Undecided]
        .map(ResultGroup::name);
    let rest: String = rest
        .into_iter()
        .filter(|group| count(group) > 0)
        .map(|group| format!(", {} {group}", count(group)))
        .collect();
    format!("{good} of {} actions {word}{rest}.", found.len())
}

fn figures(
    assessment: &mut Assessment,
    (found, behaviour): (&[ActionResult], bool),
    whole: Option<&ActionResult>,
    actions: &[Classification],
) {
    let mut put = |name: &str, value: f64| {
        assessment.metrics.insert(name.to_owned(), value);
    };
    let count = |group: &str| found.iter().filter(|found| found.group() == group).count() as f64;
    put("actions", found.len() as f64);
    put("syntax", count(ResultGroup::Syntax.name()));
    put("semantic", count(ResultGroup::Semantic.name()));
    // Without behaviour the number of equivalent actions is unknown.
    if behaviour {
        put("equivalent", count(ResultGroup::Equivalent.name()));
        put("different", count(ResultGroup::Different.name()));
        put("undecided", count(ResultGroup::Undecided.name()));
    } else {
        put("fits", count("fits"));
    }
    put("rating", found.iter().map(ActionResult::rating).sum::<f64>() / found.len().max(1) as f64);
    if let Some(whole) = whole.filter(|whole| !whole.is_open() && !whole.fits) {
        put("whole", if whole.is_good() { 1.0 } else { 0.0 });
    }
    let errors = actions.iter().map(|action| action.reconstruction_error.as_ref());
    let Some(errors) = errors.collect::<Option<Vec<_>>>() else { return };
    let sums = [
        ("are", errors.iter().map(|e| e.by_name).sum::<Option<u64>>()),
        ("are_by_position", errors.iter().map(|e| e.by_position).sum()),
        ("are_least", errors.iter().map(|e| e.least).sum()),
    ];
    for (name, sum) in sums {
        if let Some(sum) = sum {
            put(name, sum as f64);
        }
    }
}

/// A finding for an action that fits but behaves differently, or is undecided: the PDDL checks have none for
/// those.
fn behaviour_finding(asked: &RequestedAction, found: &ActionResult) -> Option<ReportedDiagnostic> {
    if found.fits {
        return None;
    }
    let span = found.classified.action.as_ref().map_or(Span::empty(0), |action| action.name.span);
    let sources = SourceMap::single(format!("action {}", asked.name), asked.text.as_str());
    let diagnostic = match found.classified.class.group() {
        ResultGroup::Different => {
            let message = format!("`{}` {}", asked.name, class_clause(found.classified.class));
            Diagnostic::error(codes::DIFFERENT, message)
        }
        ResultGroup::Undecided => {
            let why = found.classified.reason.as_deref().unwrap_or("its behaviour could not be told");
            Diagnostic::warning(codes::UNDECIDED, format!("`{}` is undecided: {why}", asked.name))
        }
        _ => return None,
    };
    Some(ReportedDiagnostic::of(&diagnostic.at(TEXT, span, ""), &sources))
}

/// Texts under names that the reference has not.
fn unknown(candidate: &Candidate, names: &[String]) -> Option<ReportedDiagnostic> {
    let known = |text: &&str| names.iter().any(|name| name.eq_ignore_ascii_case(text));
    let unknown: Vec<&str> = own_texts(candidate).filter(|text| !known(text)).collect();
    if unknown.is_empty() {
        return None;
    }
    let message = format!("the reference has no action {}, so it is not classified", unknown.join(", "));
    let diagnostic = Diagnostic::warning(codes::UNKNOWN_ACTION, message);
    Some(ReportedDiagnostic::of(&diagnostic, &SourceMap::default()))
}

fn nothing(message: &str) -> Assessment {
    let decision = Decision::Undecided { reason: UndecidedReason::MissingInput, message: message.to_owned() };
    Assessment::new(decision, message)
}

fn not_comparable(message: String) -> Assessment {
    let decision = Decision::NotComparable { message: message.clone() };
    let mut assessment = Assessment::new(decision, message.clone());
    let diagnostic = Diagnostic::error(codes::OTHER_PREDICATES, message);
    assessment.diagnostics = vec![ReportedDiagnostic::of(&diagnostic, &SourceMap::default())];
    assessment
}

/// Most predicates that a message names.
const MOST: usize = 5;

/// A requested action.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RequestedAction {
    /// As the reference has it.
    name: String,
    /// Its text; empty if there is none.
    text: String,
}

/// The requested actions of a candidate, in the order of `names`: those that it has a text for or, without
/// such texts, all, taken from its domain by name.
fn requested_actions(candidate: &Candidate, names: &[String]) -> Vec<RequestedAction> {
    let one = |name: &String, text: String| RequestedAction { name: name.clone(), text };
    if own_texts(candidate).next().is_some() {
        let text = |name: &String| candidate.texts.action(name);
        return names.iter().filter_map(|name| Some(one(name, text(name)?.clone()))).collect();
    }
    let domain = candidate.domain.as_deref().unwrap_or_default();
    let block = |name: &String| named_action(domain, name).map(|block| block.text).unwrap_or_default();
    names.iter().map(|name| one(name, block(name))).collect()
}

/// Names of actions that the candidate has a text for.
fn own_texts(candidate: &Candidate) -> impl Iterator<Item = &str> {
    candidate.texts.actions.keys().map(String::as_str)
}

/// The reason why the candidate's actions cannot be judged in `domain`: its own domain declares other
/// predicates. A candidate without a domain is assumed to use these.
fn other_predicates(candidate: &Candidate, domain: &Domain) -> Option<String> {
    let text = candidate.domain.as_deref().filter(|text| !text.trim().is_empty())?;
    let (wanted, own) =
        (declared_predicates(domain), declared_predicates(&parse_domain(text, SourceId(0)).value));
    let missing: Vec<String> = wanted.difference(&own).map(predicate_text).collect();
    let extra: Vec<String> = own.difference(&wanted).map(predicate_text).collect();
    let list = |names: &[String]| {
        let more = names.len().saturating_sub(MOST);
        let shown = names[..names.len().min(MOST)].join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let why = match (missing.is_empty(), extra.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("without {}", list(&missing)),
        (true, false) => format!("with {} besides", list(&extra)),
        (false, false) => format!("with {} and without {}", list(&extra), list(&missing)),
    };
    Some(format!("the candidate's actions are written over other predicates than the reference's, {why}"))
}

/// Predicates by name and number of arguments.
fn declared_predicates(domain: &Domain) -> BTreeSet<(String, usize)> {
    domain.predicates.iter().map(|p| (p.name.key().to_owned(), p.parameters.len())).collect()
}

fn predicate_text((name, arguments): &(String, usize)) -> String {
    format!("{name}/{arguments}")
}

/// The class and the group of an action that fits and whose behaviour is not compared.
const FITS: [&str; 2] = ["Fits", "fits"];

/// The result of an action.
fn report_action(
    asked: &RequestedAction,
    found: &ActionResult,
    domain: &Domain,
    options: &ClassVerifierOptions,
) -> Classification {
    let sources = SourceMap::single(format!("action {}", asked.name), asked.text.as_str());
    let reported = |d| ReportedDiagnostic::of(d, &sources);
    Classification {
        diagnostics: found.classified.diagnostics.iter().map(reported).collect(),
        reconstruction_error: reconstruction_error(asked, &found.classified, domain),
        ..classification(&asked.name, found, options)
    }
}

/// The result of the domain with all written actions.
fn report_domain(
    name: &str,
    found: &ActionResult,
    actions: &[Classification],
    options: &ClassVerifierOptions,
) -> Classification {
    let sum = |value: &dyn Fn(&ActionReconstructionError) -> Option<u64>| {
        let values = actions.iter().map(|a| a.reconstruction_error.as_ref().and_then(value));
        values.sum::<Option<u64>>()
    };
    let error = ActionReconstructionError {
        action: name.to_owned(),
        by_name: sum(&|e| e.by_name),
        by_position: sum(&|e| e.by_position),
        least: sum(&|e| e.least),
    };
    let readable = error.by_name.is_some();
    Classification { reconstruction_error: readable.then_some(error), ..classification(name, found, options) }
}

/// A class with the exact comparison.
#[derive(Debug)]
struct ActionResult {
    classified: ClassifiedReply,
    /// True if it fits and behaviour is not compared.
    fits: bool,
    exact: Option<ExactAnswer>,
}

impl ActionResult {
    /// The paper's word, or `Fits`.
    const fn class(&self) -> &'static str {
        if self.fits { FITS[0] } else { self.classified.class.name() }
    }

    /// The primary class in words.
    const fn group(&self) -> &'static str {
        if self.fits { FITS[1] } else { self.classified.class.group().name() }
    }

    /// True if no fault was found.
    fn is_good(&self) -> bool {
        self.fits || self.classified.class == ResultClass::Equivalent
    }

    /// True if it is undecided.
    fn is_open(&self) -> bool {
        !self.fits && self.classified.class == ResultClass::Undecided
    }

    /// The rank of the class, 0 (wrong) to 1 (right).
    fn rating(&self) -> f64 {
        match self.classified.class.group() {
            _ if self.fits => 1.0,
            ResultGroup::Syntax => 0.0,
            ResultGroup::Semantic => 1.0 / 3.0,
            ResultGroup::Different | ResultGroup::Undecided => 2.0 / 3.0,
            ResultGroup::Equivalent => 1.0,
        }
    }
}

fn classification(name: &str, found: &ActionResult, options: &ClassVerifierOptions) -> Classification {
    let hde = found.classified.hde.as_ref();
    Classification {
        name: name.to_owned(),
        class: found.class().to_owned(),
        positional: found.classified.positional.map(|class| class.name().to_owned()),
        parameters: found
            .classified
            .parameters
            .as_ref()
            .map(|order| order.iter().map(|&i| i as u64).collect()),
        group: found.group().to_owned(),
        reason: found.classified.reason.clone(),
        heuristic: hde.map(|hde| domains::heuristic(hde, &options.hde())),
        exact: found.exact.clone(),
        ..Classification::default()
    }
}

/// The differences of the written action from the reference's, in three readings.
fn reconstruction_error(
    asked: &RequestedAction,
    classified: &ClassifiedReply,
    domain: &Domain,
) -> Option<ActionReconstructionError> {
    let written = classified.action.as_ref()?;
    let original = domain.actions.iter().find(|action| action.name.is(&asked.name.to_lowercase()))?;
    Some(domains::action_error(&asked.name, Some(&action_error(original, written))))
}

/// Exact comparisons in short.
fn exact_answer(compared: &Comparisons) -> ExactAnswer {
    let verdict = compared.verdict();
    let different = compared.decisive().filter(|_| verdict == ComparisonVerdict::Different);
    ExactAnswer {
        decision: domains::decision(verdict).to_owned(),
        equal_up_to: compared.equal_up_to(),
        problem: different.map(|(place, _)| place as u64),
        difference: different.and_then(|(_, outcome)| domains::to_compared_problem("", outcome).difference),
        pairs: compared.pairs(),
    }
}

/// The entry on an action; `None` if there is nothing against it.
///
/// It has what the class needs, and no more of the reference.
fn feedback_entry(
    asked: &RequestedAction,
    found: &ActionResult,
    action: &Classification,
    domain: &Domain,
) -> Option<String> {
    if found.is_good() {
        return None;
    }
    let class = match found.is_open() {
        true => found.group().to_owned(),
        false => format!("{} ({})", found.group(), found.class()),
    };
    let write = |fault: &ActionFault<'_>| {
        Some(feedback::action(&asked.name, &class, class_clause(found.classified.class), fault))
    };
    match found.classified.class {
        ResultClass::NoPddl => return write(&ActionFault::Nothing),
        ResultClass::Undecided => return write(&ActionFault::Open),
        _ => {}
    }
    match difference(found) {
        None => write(&ActionFault::Text { found: &action.diagnostics, text: &asked.text }),
        Some(HdeDifference::NoPlan(why)) => write(&ActionFault::NoPlan(&reasons(why, &asked.name, domain))),
        Some(HdeDifference::Number { reference, candidate }) => {
            write(&ActionFault::Number { with: *candidate, right: *reference })
        }
        Some(HdeDifference::NewPlanFails(plan)) => plan_fails(plan, true, asked, found, &write),
        Some(HdeDifference::OldPlanFails(plan)) => plan_fails(plan, false, asked, found, &write),
    }
}

/// A clause about a class.
const fn class_clause(class: ResultClass) -> &'static str {
    match class {
        ResultClass::NoPddl => "the answer holds no action that begins with `(:action`",
        ResultClass::PError => "the parentheses do not match",
        ResultClass::UToken => "something stands where it cannot stand in an action",
        ResultClass::TError => "a type is unknown, or an argument has a wrong one",
        ResultClass::PAError => "a predicate is unknown or has wrong arguments",
        ResultClass::NError => "it is called otherwise than asked for",
        ResultClass::BPError => {
            "it needs what the domain does not allow, such as a condition that is negated"
        }
        ResultClass::NoPlan => "with it a problem has no plan any more",
        ResultClass::NPApp => "it allows a plan that is wrong",
        ResultClass::OPApp => "it does not allow a plan that is right",
        ResultClass::Equivalent => "it is equivalent",
        ResultClass::Undecided => "it could not be told, within limits, whether it does what it should",
    }
}

fn difference(found: &ActionResult) -> Option<&HdeDifference> {
    match &found.classified.hde.as_ref()?.outcome {
        HdeOutcome::Different { difference, .. } => Some(difference),
        _ => None,
    }
}

/// The reasons for a missing plan, without needs of other actions, which are the reference's.
fn reasons(why: &Explanation, name: &str, domain: &Domain) -> Vec<String> {
    let others: Vec<&str> = domain
        .actions
        .iter()
        .map(|action| action.name.key())
        .filter(|key| !key.eq_ignore_ascii_case(name))
        .collect();
    let of_another = |message: &str| {
        let part = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
        message.split(part).any(|word| others.iter().any(|other| word.eq_ignore_ascii_case(other)))
    };
    let told: Vec<String> =
        why.reasons.iter().map(|r| r.message.clone()).filter(|message| !of_another(message)).collect();
    match told.is_empty() {
        true => vec!["no sequence of actions leads to the goal any more".to_owned()],
        false => told,
    }
}

fn plan_fails(
    plan: &FailingPlan,
    allowed: bool,
    asked: &RequestedAction,
    found: &ActionResult,
    write: &dyn Fn(&ActionFault<'_>) -> Option<String>,
) -> Option<String> {
    let is_own = |step: &NamedStep| step.name.eq_ignore_ascii_case(&asked.name);
    // Steps of the action have their arguments in the order of its text.
    let written = |step: &NamedStep| match &found.classified.parameters {
        Some(order) if is_own(step) => step_in_other_order(step, order).to_string(),
        _ => step.to_string(),
    };
    let steps: Vec<String> = plan.steps.iter().map(written).collect();
    let failing = plan.failing.as_ref().map(|(step, _)| *step);
    let own = failing.and_then(|step| plan.steps.get(step)).is_none_or(is_own);
    // Conditions of the reference's actions are withheld; those of the goal and of the written action may be shown.
    let conditions = match (allowed && failing.is_some(), own) {
        (false, true) => plan.conditions.as_slice(),
        _ => &[],
    };
    write(&ActionFault::Plan(FailingActionPlan {
        steps: &steps,
        allowed,
        failing,
        conditions,
        facts: &plan.facts,
    }))
}
