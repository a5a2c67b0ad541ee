//! The assessments of one request.

use crate::candidate::{ReadCandidate, Ready, read};
use crate::environment::EnvironmentClient;
use crate::goals::{self, GoalsMeasured, MissingGoals};
use crate::measure::{self, Measured, NoScore};
use crate::options::{FailingWalks, Mode, Ratings, Settings};
use crate::race::{self, RaceStatus};
use crate::rating::{
    CandidateState, interruption_failure, limit_assessment, ranked_assessment, rejected_assessment,
    undecided_assessment,
};
use crate::reference::{Cache, Reference};
use crate::trials::Ended;
use crate::{codes, report, walk_feedback};
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, FailureClass, Outcome, PlanOutcome, UndecidedReason,
    VerifyRequest,
};
use planforge_diagnostics::Diagnostic;
use planforge_planning::walk::{Counterexample, CounterexampleOutcome, Model, NamedStep, WalkDirection};
use planforge_planning::{ResourceLimits, StopReason};
use planforge_plugin_common::judging::blame::{Trial, blame};
use planforge_plugin_common::judging::{Deadline, Semantics, domains as documents};
use planforge_plugin_sdk::feedback;

/// Most failing walks in one feedback.
const MOST_WALKS: usize = 12;

/// Largest difference of two scores that both count as best in a race.
const TOLERANCE: f64 = 0.01;

pub(crate) fn judge(
    host: &dyn Host,
    settings: &Settings,
    cache: &Cache,
    request: &VerifyRequest,
) -> Result<Vec<Outcome<Assessment>>, Failure> {
    if host.cancelled() {
        return Err(interruption_failure());
    }
    let mut budget = settings.limits.deadline(host, request.candidates.len());
    let reference = match Reference::open(EnvironmentClient::new(host), cache, settings, &mut budget) {
        Ok(reference) => reference,
        Err(Ended::Failed(failure)) => {
            let stopped = unless_limit(failure)?;
            return Ok(request.candidates.iter().map(|_| Outcome::Ok(stopped.clone())).collect());
        }
        Err(Ended::Stopped(StopReason::Cancelled)) => return Err(interruption_failure()),
        Err(Ended::Stopped(reason)) => {
            let stopped = limit_assessment(format!("{reason} ended the grounding of the reference"));
            return Ok(request.candidates.iter().map(|_| Outcome::Ok(stopped.clone())).collect());
        }
    };
    let mut court = WalkJudge { host, settings, reference: &reference, seed: request.seed, budget };
    let total = request.candidates.len() as u64;
    let mut read_all = Vec::with_capacity(request.candidates.len());
    for candidate in &request.candidates {
        read_all.push(read(candidate, &request.task.given, &reference, settings, &mut court.budget));
    }
    let mut measured = court.measure_all(&read_all)?.into_iter();
    let mut results = Vec::with_capacity(read_all.len());
    for (candidate, read) in request.candidates.iter().zip(read_all) {
        let outcome = match read {
            Err(failure) => Err(failure),
            Ok(ReadCandidate::Settled(assessment)) => Ok(*assessment),
            Ok(ReadCandidate::Ready(ready)) => match measured.next() {
                Some(found) => court.assess(candidate, &ready, found),
                None => Err(unmeasured_failure()),
            },
        };
        results.push(outcome.into());
        host.progress(results.len() as u64, total, "candidates");
    }
    Ok(results)
}

fn unmeasured_failure() -> Failure {
    Failure::new(FailureClass::Plugin, codes::STOPPED, "a candidate was not measured")
}

/// Undecided if a limit ended the environment's work; any other failure stays one.
fn unless_limit(failure: Failure) -> Result<Assessment, Failure> {
    match failure.class {
        FailureClass::Limit => {
            Ok(limit_assessment(format!("the environment did not answer: {}", failure.message)))
        }
        _ => Err(failure),
    }
}

/// The result of measuring a candidate.
enum Measurement {
    Measured(Box<Measured>, Option<RaceStatus>),
    /// Undecided, or a failure.
    Not(Result<Assessment, Failure>),
}

impl Measurement {
    /// The results of candidates that are measured together, after their common work ended early.
    fn same_for_all(ended: Ended, candidates: usize) -> Result<Vec<Self>, Failure> {
        let all = 0..candidates;
        match ended {
            Ended::Failed(failure) => {
                let stopped = unless_limit(failure)?;
                Ok(all.map(|_| Self::Not(Ok(stopped.clone()))).collect())
            }
            Ended::Stopped(reason) => Ok(all.map(|_| Ended::Stopped(reason).into()).collect()),
        }
    }
}

impl From<Ended> for Measurement {
    fn from(ended: Ended) -> Self {
        Self::Not(match ended {
            Ended::Failed(failure) => unless_limit(failure),
            Ended::Stopped(StopReason::Cancelled) => Err(interruption_failure()),
            Ended::Stopped(reason) => Ok(limit_assessment(format!("{reason} ended the walks"))),
        })
    }
}

struct WalkJudge<'a> {
    host: &'a dyn Host,
    settings: &'a Settings,
    reference: &'a Reference<'a>,
    seed: u64,
    budget: Deadline<'a>,
}

impl WalkJudge<'_> {
    /// One entry for each candidate that is ready, in order.
    fn measure_all(&mut self, read: &[Result<ReadCandidate, Failure>]) -> Result<Vec<Measurement>, Failure> {
        let models: Vec<&Model> = read
            .iter()
            .filter_map(|r| match r {
                Ok(ReadCandidate::Ready(ready)) => Some(&ready.model),
                _ => None,
            })
            .collect();
        if let Some(message) = self.unsupported_setting() {
            let one = |_: &&Model| {
                Measurement::Not(Ok(undecided_assessment(UndecidedReason::Unsupported, message.clone())))
            };
            return Ok(models.iter().map(one).collect());
        }
        if self.settings.racing && models.len() > 1 {
            return self.race(&models);
        }
        if self.reference.model().is_some() {
            return Ok(models.iter().map(|m| self.with_model(m)).collect());
        }
        self.black_box(&models)
    }

    /// The setting that an environment without a model does not support.
    fn unsupported_setting(&self) -> Option<String> {
        if self.reference.model().is_some() {
            return None;
        }
        if self.settings.ratings == Ratings::WithGoals {
            return Some("goals are compared only with an environment that shows its reference model; set `ratings = \"paper\"`".into());
        }
        if self.settings.mode == Mode::Exact {
            return Some("an exact score needs an environment that shows its reference model; set `mode = \"auto\"` to sample".into());
        }
        (self.settings.semantics == Semantics::GroundNoOpsDropped).then(|| {
            "dropping ground no-ops needs an environment that shows its reference model; set `semantics = \"strips\"`".into()
        })
    }

    fn with_model(&mut self, candidate: &Model) -> Measurement {
        let Some(reference) = self.reference.model() else {
            return Measurement::Not(Err(unmeasured_failure()));
        };
        match measure::models(&[(reference, candidate)], self.settings, self.seed, &mut self.budget) {
            Ok(measured) => Measurement::Measured(Box::new(measured), None),
            Err(NoScore::Stopped(reason)) => Ended::Stopped(reason).into(),
            Err(too_large @ NoScore::TooLarge(_)) => {
                let message = format!(
                    "{too_large}; raise `exact_pairs` or `exact_memory_mb`, or set `mode = \"auto\"` to sample then"
                );
                Measurement::Not(Ok(limit_assessment(message)))
            }
        }
    }

    fn black_box(&mut self, models: &[&Model]) -> Result<Vec<Measurement>, Failure> {
        if models.is_empty() {
            return Ok(Vec::new());
        }
        let trials = self.reference.trials(self.settings);
        let drawn = match trials.draw(self.seed, &mut self.budget) {
            Ok(drawn) => drawn,
            Err(ended) => return Measurement::same_for_all(ended, models.len()),
        };
        let mut one =
            |candidate: &&Model| match trials.measure(drawn.as_ref(), candidate, self.seed, &mut self.budget)
            {
                Ok(problem) => {
                    Measurement::Measured(Box::new(Measured::of(vec![problem], self.settings)), None)
                }
                Err(ended) => ended.into(),
            };
        Ok(models.iter().map(&mut one).collect())
    }

    /// Races all candidates; one that has no score for lack of a first action is measured on its own.
    fn race(&mut self, models: &[&Model]) -> Result<Vec<Measurement>, Failure> {
        let trials = self.reference.trials(self.settings);
        let raced = match race::race(&trials, models, TOLERANCE, self.seed, &mut self.budget) {
            Ok(raced) => raced,
            Err(ended) => return Measurement::same_for_all(ended, models.len()),
        };
        let mut found = Vec::with_capacity(models.len());
        for (model, raced) in models.iter().zip(raced) {
            match raced {
                Some(raced) => found.push(Measurement::Measured(Box::new(raced.measured), Some(raced.note))),
                None if self.reference.model().is_some() => found.push(self.with_model(model)),
                None => found.extend(self.black_box(&[model])?),
            }
        }
        Ok(found)
    }

    fn assess(
        &mut self,
        candidate: &Candidate,
        ready: &Ready,
        found: Measurement,
    ) -> Result<Assessment, Failure> {
        let (measured, note) = match found {
            Measurement::Measured(measured, note) => (*measured, note),
            Measurement::Not(outcome) => return outcome,
        };
        let search = self.search(ready, &measured)?;
        let failing = match &search {
            Some(CounterexampleOutcome::Found(found)) => Some(found),
            _ => None,
        };
        let proven = matches!(search, Some(CounterexampleOutcome::None));
        let goals = match self.compare_goals(ready, &measured) {
            Ok(goals) => goals,
            Err(StopReason::Cancelled) => return Err(interruption_failure()),
            Err(reason) => return Ok(limit_assessment(format!("{reason} ended the goal walks"))),
        };
        let mut assessment = self.verdict(candidate, &measured, failing, proven, goals.as_ref())?;
        self.figures(&mut assessment, &measured, goals.as_ref());
        assessment.evidence = report::details(&measured, self.settings, self.seed, failing);
        report::certainty(&mut assessment.evidence, &measured, failing.is_some(), proven);
        if let Some(goals) = &goals {
            assessment.evidence["goals"] = report::goals(goals);
        }
        if let Some(renaming) = &ready.renaming {
            assessment.evidence["interface"] = serde_json::json!(documents::interface(renaming));
        }
        if let Some(note) = note {
            assessment.evidence["race"] = report::race(note);
        }
        assessment.diagnostics.splice(0..0, ready.checked.diagnostics.iter().cloned());
        if assessment.decision != Decision::Accepted {
            self.tell(&mut assessment, ready, &measured, failing)?;
        }
        Ok(assessment)
    }

    /// Searches for the shortest failing walk. It is skipped for a score of 1 if the options choose sampling.
    fn search(
        &mut self,
        ready: &Ready,
        measured: &Measured,
    ) -> Result<Option<CounterexampleOutcome>, Failure> {
        let perfect = measured.score.score == Some(1.0);
        match self.reference.model() {
            _ if perfect && self.settings.mode == Mode::Sampled => Ok(None),
            Some(reference) => {
                let problem = measured.problems.first();
                let budget: &mut dyn ResourceLimits = &mut self.budget;
                let search =
                    measure::shortest_failing(reference, &ready.model, self.settings, problem, budget);
                match search {
                    CounterexampleOutcome::LimitReached { reason: Some(StopReason::Cancelled), .. } => {
                        Err(interruption_failure())
                    }
                    search => Ok(Some(search)),
                }
            }
            None => {
                let Some(problem) = measured.problems.first() else { return Ok(None) };
                let trials = self.reference.trials(self.settings);
                Ok(trials
                    .counterexample(&ready.model, problem, &mut self.budget)?
                    .map(CounterexampleOutcome::Found))
            }
        }
    }

    /// Compares the goals, if the ratings do and there is a score that they can stand beside.
    fn compare_goals(
        &mut self,
        ready: &Ready,
        measured: &Measured,
    ) -> Result<Option<GoalsMeasured>, StopReason> {
        let Some(shown) = &self.reference.shown else { return Ok(None) };
        if self.settings.ratings != Ratings::WithGoals || measured.score.score.is_none() {
            return Ok(None);
        }
        let plan = shown.goal_plan(self.settings, &mut self.budget)?;
        let (settings, seed) = (self.settings, self.seed);
        goals::compare(&shown.model, &ready.model, &plan, settings, seed, &mut self.budget).map(Some)
    }

    fn verdict(
        &self,
        candidate: &Candidate,
        measured: &Measured,
        failing: Option<&Counterexample>,
        proven: bool,
        goals: Option<&GoalsMeasured>,
    ) -> Result<Assessment, Failure> {
        let mut summary = report::summary(measured, self.settings, failing.is_some(), proven);
        if let Some(goals) = goals {
            summary.push('\n');
            summary += &report::goals_line(goals, self.settings);
        }
        if measured.score.reference_undefined > 0 {
            let message =
                "the environment has no applicable action in its initial state, so the metric is not defined";
            let decision = Decision::NotComparable { message: message.to_owned() };
            return Ok(ranked_assessment(decision, summary, CandidateState::NoFirstAction, self.settings));
        }
        let Some(score) = measured.score.score else {
            return Ok(rejected_assessment(summary, CandidateState::NoFirstAction, self.settings));
        };
        if let Some(goals) = goals {
            let rated = CandidateState::Scored(0.5 * (score + goals.agreement.unwrap_or(0.0)));
            let decision = match &goals.missing {
                _ if score < 1.0 || failing.is_some() || goals.differ() => Decision::Rejected,
                None => Decision::Accepted,
                Some(MissingGoals::Unsolvable("candidate")) => Decision::Rejected,
                Some(why @ (MissingGoals::Objects(_) | MissingGoals::Unsolvable(_))) => {
                    Decision::NotComparable { message: why.to_string() }
                }
                Some(why @ MissingGoals::Limit(_)) => {
                    Decision::Undecided { reason: UndecidedReason::Limit, message: why.to_string() }
                }
            };
            return Ok(ranked_assessment(decision, summary, rated, self.settings));
        }
        if score < 1.0 || failing.is_some() {
            return Ok(rejected_assessment(summary, CandidateState::Scored(score), self.settings));
        }
        let standing = if self.has_valid_plan(candidate)? {
            CandidateState::Solved
        } else {
            CandidateState::Scored(score)
        };
        Ok(ranked_assessment(Decision::Accepted, summary, standing, self.settings))
    }

    /// True if the candidate's plan is valid in the environment; checked only if the rating table has a rank
    /// for it.
    fn has_valid_plan(&self, candidate: &Candidate) -> Result<bool, Failure> {
        match candidate.plan.as_ref().and_then(PlanOutcome::best) {
            Some(plan) if self.settings.ratings == Ratings::ReferenceCode => {
                self.reference.asked.accepts(&plan.steps)
            }
            _ => Ok(false),
        }
    }

    fn figures(&self, assessment: &mut Assessment, measured: &Measured, goals: Option<&GoalsMeasured>) {
        let score = &measured.score;
        let goals_interval = goals.and_then(|g| g.interval);
        let figures = [
            ("score", score.score),
            ("reference_to_candidate", score.reference_to_candidate),
            ("candidate_to_reference", score.candidate_to_reference),
            ("low", measured.interval.map(|i| i.low)),
            ("high", measured.interval.map(|i| i.high)),
            ("walks", Some(measured.walks() as f64)),
            ("goal_agreement", goals.and_then(|g| g.agreement)),
            ("goal_low", goals_interval.map(|i| i.low)),
            ("goal_high", goals_interval.map(|i| i.high)),
        ];
        for (name, value) in figures {
            if let Some(value) = value {
                assessment.metrics.insert(name.into(), value);
            }
        }
    }

    /// Adds diagnostics and feedback about the shortest failing walk.
    fn tell(
        &mut self,
        assessment: &mut Assessment,
        ready: &Ready,
        measured: &Measured,
        failing: Option<&Counterexample>,
    ) -> Result<(), Failure> {
        let stuck = measured.score.candidate_undefined > 0;
        if stuck {
            let message = "no action of the candidate can be executed in its initial state";
            let found = [Diagnostic::error(codes::NO_FIRST_ACTION, message)];
            assessment.diagnostics.extend(ready.checked.report(&found));
        }
        let Some(found) = failing else {
            if stuck {
                assessment.feedback = vec![feedback::no_first_action(None, None)];
            }
            return Ok(());
        };
        let walks = match self.settings.failing_walks {
            FailingWalks::Shortest => vec![found.clone()],
            FailingWalks::Each => self.each_failing(ready, measured)?,
        };
        if self.settings.failing_walks == FailingWalks::Each {
            assessment.evidence["failing_walks"] = walks.iter().map(report::failing_walk).collect();
        }
        let names = ready.renaming.as_ref().and_then(walk_feedback::names);
        assessment.feedback = names.into_iter().chain(feedback::several(walks.len(), MOST_WALKS)).collect();
        for (number, found) in walks.iter().take(MOST_WALKS).enumerate() {
            let initial = stuck && number == 0;
            let told = walk_feedback::failing_walk(self.reference, ready, found, initial, &mut self.budget)?;
            assessment.feedback.push(told.feedback);
            assessment.diagnostics.push(told.diagnostic);
            if self.settings.blame {
                assessment.feedback.extend(self.blame(ready, found)?);
            }
            if let Some(why) = told.no_state.filter(|_| number == 0) {
                self.host.log(LogLevel::Info, &format!("no state was described: {why}"));
                assessment.evidence["failing_walk"]["no_state"] = why.into();
            }
        }
        Ok(())
    }

    /// The text that names the side which is probably at fault for a failing walk, if that was decided.
    fn blame(&mut self, ready: &Ready, found: &Counterexample) -> Result<Option<String>, Failure> {
        let (Some(domain), Some(problem)) = (&ready.checked.domain, &ready.checked.problem) else {
            return Ok(None);
        };
        let walk = &found.walk;
        let executed = match found.direction {
            WalkDirection::ReferenceToCandidate => walk.len(),
            WalkDirection::CandidateToReference => walk.prefix.len(),
        };
        let steps = walk.prefix.iter().chain([&walk.action]).map(NamedStep::to_string).collect();
        let trial = Trial { steps, executed, goal: None };
        let found = blame(self.host, domain, problem, &trial, &mut self.budget)?;
        Ok(found.map(|blame| feedback::blame(blame.domain, blame.problem)))
    }

    fn each_failing(&mut self, ready: &Ready, measured: &Measured) -> Result<Vec<Counterexample>, Failure> {
        let problem = measured.problems.first();
        match (self.reference.model(), problem) {
            (Some(model), _) => {
                Ok(measure::each_failing(model, &ready.model, self.settings, problem, &mut self.budget))
            }
            (None, Some(problem)) => {
                let trials = self.reference.trials(self.settings);
                trials.each_counterexample(&ready.model, problem, &mut self.budget)
            }
            (None, None) => Ok(Vec::new()),
        }
    }
}
