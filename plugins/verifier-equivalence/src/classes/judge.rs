//! One candidate's assessment: the class of each action, of the domain of all of them, and the verdict.

use crate::classes::action_feedback;
use crate::classes::codes;
use crate::classes::frame::{Behaviour, Cache, Frame, Open, interruption_failure};
use crate::classes::options::ClassVerifierOptions;
use crate::classes::report::{self, ActionResult};
use crate::classes::requested::{RequestedAction, other_predicates, own_texts, requested_actions};
use planforge_contract::api::Host;
use planforge_contract::{
    Assessment, Candidate, Classification, Decision, ExactAnswer, Failure, ReportedDiagnostic, ResultClasses,
    TaskView, UndecidedReason,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::ast::Domain;
use planforge_planning::StopReason;
use planforge_planning::result_class::{
    ClassifiedReply, FittedAction, ResultClass, ResultGroup, classify_action, classify_domain, fit_action,
    fit_all_actions,
};
use planforge_plugin_common::judging::Deadline;
use serde_json::json;

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
                Some(report::exact(&compared))
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
            asked.iter().zip(found).map(|(a, f)| report::action(a, f, domain, self.options)).collect();
        let name = domain.name.as_ref().map(ToString::to_string).unwrap_or_default();
        let of_all = whole.map(|whole| report::whole(&name, whole, &actions, self.options));
        let behaviour = self.frame.behaviour.is_some();
        let mut assessment = Assessment::new(decision(asked, found), summary(found, behaviour));
        figures(&mut assessment, (found, behaviour), whole, &actions);
        for ((asked, found), action) in asked.iter().zip(found).zip(&actions) {
            assessment.diagnostics.extend(action.diagnostics.iter().cloned());
            assessment.diagnostics.extend(behaviour_finding(asked, found));
            assessment.feedback.extend(action_feedback::entry(asked, found, action, domain));
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
            let message = format!("`{}` {}", asked.name, action_feedback::what(found.classified.class));
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
