//! `do = "refine"`, for each candidate on its own: Algorithm 1 of the exploration-walk paper (section 4.4), and iVML of the
//! test-time-scaling paper (section 3.3).
//!
//! In a round the stages before the writer look at what came in, the writer makes children, and the stages behind it judge them. A
//! round's children share the history h of the candidate that they are made from: its conversation, and the feedback on it. The best
//! child alone, with its own conversation, goes into the next round. The best of all rounds is returned, or the last.

use super::bound::{BeamBound, BoundWalk};
use super::checker::{InnerList, KnownStage, Round, StageChecker, StageTable, small};
use super::interface::{KindFacts, StageContext, StageDefinition, StageResult, Writes, has_judge, objection};
use super::rounds::{
    Forget, ORDERS, Order, Rated, SeriesEnd, add_all, forget, parse_forget, problem_defect, report,
    run_series, writer_of,
};
use super::{RoundStage, Stage};
use crate::beam::{CANDIDATE, Entry, StageOutcome, candidate_path};
use crate::reader::{At, Node, TableReader, error_at};
use crate::report::{FailedSample, StageReport};
use planforge_contract::{Failure, FailureClass, LineageStep};
use planforge_diagnostics::Diagnostic;
use planforge_record::{Event, RoundHistory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// `do = "refine"`: rounds of judging and writing, for each candidate on its own. Algorithm 1 of the exploration-walk paper (section
/// 4.4) writes first and judges the children; iVML (test-time-scaling paper, section 3.3) has a critic look at the candidate first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefineStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// Most rounds for one candidate (c_max, or T). With `stop` it may end earlier.
    #[schemars(range(min = 1, max = 1000))]
    pub rounds: u32,
    /// The metric by which the best of a round, and of all rounds, is chosen if none is accepted:
    /// `LABEL.NAME` of a verify or plan stage of the round, or one of the candidate's own. Children without a
    /// value come last; ties go to the earlier. It is optional with `keep = "last"`: accepted children are
    /// then not compared, and the first is taken.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The better end of the metric.
    #[serde(default, skip_serializing_if = "Order::is_highest")]
    pub order: Order,
    /// The candidate that the next round starts from.
    #[serde(default)]
    pub continue_from: ContinueFrom,
    /// The candidate that is returned.
    #[serde(default)]
    pub keep: KeepRound,
    /// The condition that ends the rounds early.
    #[serde(default, skip_serializing_if = "StopRounds::is_accepted")]
    pub stop: StopRounds,
    /// Parts of the candidate to remove before the first round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<Forget>,
    /// The stages of a round, in order. Exactly one of them writes: a translate stage or, without one, a plan
    /// stage with `feedback`. Verify and plan stages before it judge the candidate that enters the round,
    /// those behind it judge its children.
    #[schemars(with = "Vec<RoundStage>", length(min = 1))]
    pub round: Vec<Stage>,
}

/// The candidate that the next round of a refine stage starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinueFrom {
    /// The best child of the last round, even when an earlier one was better (the paper's Algorithm 1).
    #[default]
    RoundBest,
    /// The best child of all rounds so far.
    BestSoFar,
}

/// The candidate that a refine stage returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeepRound {
    /// The best of all rounds (the paper's Algorithm 1).
    #[default]
    Best,
    /// The best of the last round that had a child; the entered candidate if none had.
    Last,
}

/// The condition that ends the rounds of a refine stage early.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StopRounds {
    /// Every judge of the round accepts: those before the writer accept the candidate that enters the round,
    /// which is then returned unchanged, or those behind it accept a child. Measurements and select stages
    /// are not judges.
    #[default]
    Accepted,
    /// Never (iVML as the test-time-scaling paper runs it).
    Never,
}

impl StopRounds {
    /// True for the default.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted)
    }
}

impl RefineStage {
    /// The position in the round of the stage that writes. A checked pipeline has one.
    pub fn writer(&self) -> Option<usize> {
        writer_of(&self.round)
    }
}

impl StageDefinition for RefineStage {
    fn facts() -> KindFacts {
        KindFacts {
            lists: &["round"],
            outside_rounds: Some("put it beside the other stage: rounds are not nested"),
            ..KindFacts::PLAIN
        }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        let StageTable { reader, label, position } = table;
        let outer = checker.known.len();
        let rounds = reader.integer("rounds", 1..=1000, out);
        if rounds.is_none() && reader.node("rounds").is_none() {
            reader.missing("rounds", "4", out);
        }
        let by = reader.string("by", out);
        let order = reader.word("order", &ORDERS, out);
        let ways = [("round-best", ContinueFrom::RoundBest), ("best-so-far", ContinueFrom::BestSoFar)];
        let continue_from = reader.word("continue_from", &ways, out).unwrap_or_default();
        let had_keep = reader.node("keep").is_some();
        let keep = reader.word("keep", &[("best", KeepRound::Best), ("last", KeepRound::Last)], out);
        if by.is_none() && reader.node("by").is_none() {
            // A word that cannot be read may have been `last`.
            let best = keep == Some(KeepRound::Best) || !had_keep;
            needs_metric(best, continue_from, reader, out);
        }
        let stops = [("accepted", StopRounds::Accepted), ("never", StopRounds::Never)];
        let stop = reader.word("stop", &stops, out).unwrap_or_default();
        let forget = parse_forget(reader, out);
        let list = checker.read_list("round", position, reader, out);
        let round = checker.end_round(out);
        check_round(&list, &round, stop, reader, out);
        if let Some(by) = &by {
            check_metric_of_round(checker, by, outer, &list.stages, out);
        }
        let stage = RefineStage {
            label: label.value.clone(),
            rounds: small(rounds, 1),
            by: by.map(|b| b.value).unwrap_or_default(),
            order: order.unwrap_or_default(),
            continue_from,
            keep: keep.unwrap_or_default(),
            stop,
            forget,
            round: list.stages,
        };
        (stage, Vec::new())
    }

    fn inner(&self) -> Vec<&Stage> {
        self.round.iter().collect()
    }

    fn inner_judges(&self) -> &[Stage] {
        &self.round
    }

    fn decides(&self) -> bool {
        true
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        // Every round starts from one candidate, and one is returned.
        let writer = self.writer().unwrap_or(0);
        let mut before = beam.before;
        for _ in 0..self.rounds {
            let mut inside = BeamBound { width: 1, before };
            for (position, inner) in self.round.iter().enumerate() {
                let after = walk.stage(inner, inside, beam.width);
                // Stages before the writer leave one candidate.
                inside = if position < writer { BeamBound { width: 1, ..after } } else { after };
            }
            before = inside.before;
        }
        walk.merge();
        BeamBound { width: beam.width, before }
    }

    fn run(
        &self,
        context: &StageContext<'_>,
        _round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        // Candidates are refined at the same time; only their calls count against the number of jobs.
        let ended = context.run.pool.drive(&beam, |entry| {
            let path = context.candidate_path(entry);
            let reports = self.round.iter().map(report).collect();
            let writer = self.writer().unwrap_or(0);
            Refinement { context, stage: self, writer, path, reports, rounds: 0, failed: Vec::new() }
                .run(entry.clone())
        });
        let mut step =
            StageResult { inner: self.round.iter().map(report).collect(), ..StageResult::default() };
        for result in ended {
            let (end, refinement) = result?;
            *step.outcomes.entry("rounds".to_owned()).or_insert(0) += refinement.rounds as usize;
            add_all(&mut step.inner, refinement.reports);
            match end {
                End::Returned { entry, accepted } => {
                    step.count(if accepted { "accepted" } else { "best" });
                    step.beam.push(*entry);
                }
                End::NoCandidate => {
                    step.count("nothing");
                    step.failed.extend(refinement.failed);
                }
                End::Parked => step.parked = true,
                End::Interrupted => step.interrupted = true,
            }
        }
        Ok(step)
    }
}

fn check_round(
    list: &InnerList<'_>,
    round: &Round,
    stop: StopRounds,
    reader: &TableReader<'_>,
    out: &mut Vec<Diagnostic>,
) {
    // A stage that could not be read may be the one that is missing.
    if !list.is_complete {
        return;
    }
    match writer_of(&list.stages) {
        Some(writer) => {
            around(writer, &list.stages, list.items, reader, out);
            never_said(writer, &list.stages, round, out);
        }
        None => no_writer(list.items, reader, out),
    }
    if stop == StopRounds::Accepted {
        acceptance(&list.stages, reader, out);
    }
}

/// Checks that the metric of the rounds is there in each of them.
fn check_metric_of_round(
    checker: &StageChecker<'_>,
    by: &At<String>,
    outer: usize,
    round: &[Stage],
    out: &mut Vec<Diagnostic>,
) {
    let label = by.value.split_once('.').map_or("", |(label, _)| label);
    let before = round.iter().take(writer_of(round).unwrap_or(0));
    if before.clone().any(|stage| stage.label() == label) {
        let message = format!("`{label}` judges what comes into the round, so no child has its metrics");
        let help = "name a stage behind the one that writes, or leave `by` out with keep = \"last\"";
        out.push(error_at("pipeline.round-metric", message, by.place).help(help));
        return;
    }
    let in_round = |label: &str| checker.known.iter().skip(outer).any(|k| k.label == label);
    if label == CANDIDATE || in_round(label) || !checker.known.iter().any(|k| k.label == label) {
        return checker.check_metric(by, out);
    }
    let message = format!("`{label}` is no stage of the round, so no child has its metrics");
    let judges = |k: &&KnownStage| k.kind.facts().judges;
    let names: Vec<String> =
        checker.known.iter().skip(outer).filter(judges).map(|k| format!("`{}`", k.label)).collect();
    let help = format!("name a metric of a verify or plan stage of the round: {}", names.join(", "));
    out.push(error_at("pipeline.round-metric", message, by.place).help(help));
}

/// Reports keys that need a metric.
fn needs_metric(best: bool, from: ContinueFrom, reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) {
    if best {
        let message = format!("{} has no `by`, by which the best round is chosen", reader.what);
        out.push(
            error_at("pipeline.missing-field", message, reader.place)
                .help("add `by = \"LABEL.METRIC\"`, or `keep = \"last\"` where rounds are not compared"),
        );
        return;
    }
    let keys = [("continue_from", from == ContinueFrom::BestSoFar), ("order", true)];
    for (key, needs) in keys {
        if let Some(node) = reader.node(key).filter(|_| needs) {
            let message = format!("`{key}` of {} needs a metric, and there is no `by`", reader.what);
            out.push(
                error_at("pipeline.missing-field", message, node.place)
                    .help(format!("add `by = \"LABEL.METRIC\"`, or take `{key}` out")),
            );
        }
    }
}

const ROUND: &str = "pipeline.round";

fn no_writer(items: &[Node], reader: &TableReader<'_>, out: &mut Vec<Diagnostic>) {
    let place = items.first().map_or(reader.place, |item| item.place);
    let message = format!("nothing in the round of {} writes", reader.what);
    out.push(
        error_at(ROUND, message, place)
            .help("write [[stage.round]] with do = \"translate\": its children are what goes on")
            .help("to have plans written anew, give a plan stage of the round `feedback`"),
    );
}

/// Checks that one stage writes, and that only judges stand before it.
fn around(
    writer: usize,
    read: &[Stage],
    items: &[Node],
    reader: &TableReader<'_>,
    out: &mut Vec<Diagnostic>,
) {
    let Some(first) = read.get(writer) else { return };
    let writes = |stage: &Stage| stage.definition().writes() == first.definition().writes();
    for (index, (stage, item)) in read.iter().zip(items).enumerate() {
        if index > writer && writes(stage) {
            let message = format!("a second stage of the round of {} writes", reader.what);
            let at = items.get(writer).map_or(reader.place, |item| item.place);
            out.push(
                error_at(ROUND, message, item.place)
                    .also(at.source, at.span, "the first is here")
                    .help("keep one in the round; put the other before or behind the refine stage"),
            );
        }
        if let Some(why) = stage.definition().misplaced_before_writer().filter(|_| index < writer) {
            let message = format!("one candidate comes into a round: {why}");
            out.push(error_at(ROUND, message, item.place).help("put it behind the stage that writes"));
        }
    }
}

/// Something has to be able to accept where that is what ends the rounds.
fn acceptance(read: &[Stage], reader: &TableReader<'_>, out: &mut Vec<Diagnostic>) {
    let writer = writer_of(read);
    // That a plan was written accepts nothing.
    let accepts = |(index, stage): (usize, &Stage)| stage.definition().decides() && Some(index) != writer;
    if !read.iter().enumerate().any(accepts) {
        let message = format!("nothing in the round of {} can accept a candidate", reader.what);
        out.push(
            error_at(ROUND, message, reader.place)
                .help("add a [[stage.round]] with do = \"verify\" or do = \"plan\"")
                .help("or write stop = \"never\", and all rounds are made"),
        );
    }
}

/// Reports feedback that a stage would never get: the writer's children are new, so a stage gets none from
/// itself or, on its side of the writer, from a later stage.
fn never_said(writer: usize, read: &[Stage], round: &Round, out: &mut Vec<Diagnostic>) {
    for (index, label) in &round.feedback {
        let Some(named) = read.iter().position(|stage| stage.label() == label.value) else { continue };
        let later = named >= *index && (*index > writer || named < writer);
        if *index != writer && later {
            let message = match named == *index {
                true => format!("`{}` names itself", label.value),
                false => format!("`{}` has not judged a candidate yet when this stage does", label.value),
            };
            out.push(error_at("pipeline.label-order", message, label.place).help(
                "what was said about the last round's candidate does not hold for what was written since; name an earlier stage",
            ));
        }
    }
}

/// The end of the refinement of one candidate.
enum End {
    Returned {
        entry: Box<Entry>,
        accepted: bool,
    },
    /// No round had a child, and what came in is not whole.
    NoCandidate,
    /// A reply is deferred: the best child is not known before it is there.
    Parked,
    Interrupted,
}

/// The refinement of one candidate.
struct Refinement<'a> {
    context: &'a StageContext<'a>,
    stage: &'a RefineStage,
    /// The position in the round of the stage that writes.
    writer: usize,
    /// The candidate's path as it came in.
    path: String,
    reports: Vec<StageReport>,
    /// Number of started rounds.
    rounds: u32,
    failed: Vec<FailedSample>,
}

/// The continuation after a round.
enum Next {
    Round,
    End(End),
}

/// The state of a refinement between rounds.
struct RefineState {
    /// The candidate that the next round starts from.
    current: Entry,
    /// The candidate that entered, if it is complete.
    entered: Option<Rated>,
    /// The best of all rounds.
    best: Option<Rated>,
    /// The best of the last round that had a child.
    last: Option<Rated>,
}

impl RefineState {
    /// Stores the results of the stages before the writer wherever the candidate is held.
    fn store_results(&mut self, entry: Entry) {
        let held = [&mut self.entered, &mut self.best, &mut self.last];
        for rated in held.into_iter().flatten() {
            if rated.entry.candidate.lineage == entry.candidate.lineage {
                rated.entry = entry.clone();
            }
        }
        self.current = entry;
    }
}

impl Refinement<'_> {
    fn run(mut self, entered: Entry) -> Result<(End, Self), Failure> {
        let current = forget(&self.stage.forget, entered);
        if let Some(why) = self.defect_of(&current) {
            let message = format!("the problem has a mistake that no domain repairs: {why}");
            let failure = Failure::new(FailureClass::Reply, "pipeline.broken-problem", message).help(
                "let the rounds edit the problem too: `options = { problem = true }` of `translator-edit`",
            );
            let mut lineage = current.candidate.lineage.clone();
            lineage.push(LineageStep { stage: self.stage.label.clone(), sample: 0 });
            let path = candidate_path(self.context.name(), &lineage);
            self.context.run.recorder.event(Event::SampleFailed {
                task: self.context.name().to_owned(),
                path: path.clone(),
                failure: failure.clone(),
            })?;
            self.failed.push(FailedSample { path, failure });
            return Ok((End::NoCandidate, self));
        }
        let entered = self.round_zero(&current);
        let best = entered.clone().filter(|rated| rated.value.is_some());
        let mut held = RefineState { current, entered, best, last: None };
        for round in 1..=self.stage.rounds {
            self.rounds = round;
            if let Next::End(end) = self.round(round, &mut held)? {
                return Ok((end, self));
            }
        }
        let RefineState { entered, best, last, .. } = held;
        let kept = match self.stage.keep {
            KeepRound::Best => best,
            KeepRound::Last => last.or(entered),
        };
        let end = kept.map_or(End::NoCandidate, |Rated { mut entry, accepted, .. }| {
            if self.context.candidate_path(&entry) == self.path {
                self.note_missing_results(&mut entry);
            }
            End::Returned { entry: Box::new(entry), accepted }
        });
        Ok((end, self))
    }

    /// The mistake of the written problem that no domain repairs, if the rounds write domains alone.
    fn defect_of(&self, entry: &Entry) -> Option<String> {
        let writer = self.stage.round.get(self.writer)?.definition();
        let plugin = writer.plugin().filter(|_| writer.writes() == Some(Writes::Candidate))?;
        let (info, _) = self.context.run.services.instances.stages.get(plugin.stage)?;
        let text = entry.candidate.problem.as_deref()?;
        if !info.writes_domain_only(plugin.options) {
            return None;
        }
        problem_defect(&self.context.task.view(entry), entry.candidate.domain.as_deref(), text)
    }

    /// A candidate that is returned as it came in was not judged by the stages behind the writer.
    fn note_missing_results(&self, entry: &mut Entry) {
        for stage in &self.stage.round {
            if stage.definition().decides() && !entry.has_current_result(stage.label()) {
                entry.record(stage.label(), StageOutcome::Missing(None));
            }
        }
    }

    /// The entered candidate competes if it is complete and has the metric.
    fn round_zero(&self, entry: &Entry) -> Option<Rated> {
        if self.stage.forget.iter().any(|forget| matches!(forget, Forget::Domain | Forget::Problem)) {
            return None;
        }
        Some(Rated { entry: entry.clone(), accepted: false, value: entry.metric(&self.stage.by) })
    }

    /// One round: look, write, judge, choose.
    fn round(&mut self, round: u32, held: &mut RefineState) -> Result<Next, Failure> {
        let unusable = held.current.unusable.clone();
        match self.part(round, 0..self.writer, &held.current)? {
            SeriesEnd::Candidates(looked) => {
                if let Some(mut entry) = looked.into_iter().next() {
                    entry.unusable = unusable;
                    held.store_results(entry);
                }
            }
            SeriesEnd::NoCandidates(_) | SeriesEnd::Enough => {}
            SeriesEnd::Parked => return Ok(Next::End(End::Parked)),
            SeriesEnd::Interrupted => return Ok(Next::End(End::Interrupted)),
        }
        if self.stage.stop == StopRounds::Accepted && self.accepts(0..self.writer, &held.current) {
            return self.return_unchanged(round, held);
        }
        let rest = self.writer..self.stage.round.len();
        let children = match self.part(round, rest, &held.current)? {
            SeriesEnd::Candidates(children) => children,
            SeriesEnd::Enough => return Ok(Next::Round),
            SeriesEnd::NoCandidates(reasons) => {
                held.current.unusable = reasons;
                self.record(round, None, held.best.as_ref(), &held.current)?;
                return Ok(Next::Round);
            }
            SeriesEnd::Parked => return Ok(Next::End(End::Parked)),
            SeriesEnd::Interrupted => return Ok(Next::End(End::Interrupted)),
        };
        let Some(of_round) = self.best_of(children) else { return Ok(Next::Round) };
        // Strictly better: ties go to the earlier round.
        if held.best.as_ref().is_none_or(|best| of_round.compare(best, self.stage.order).is_lt()) {
            held.best = Some(of_round.clone());
        }
        let next = match (self.stage.continue_from, &held.best) {
            (ContinueFrom::BestSoFar, Some(best)) => best,
            _ => &of_round,
        };
        held.current = Entry { unusable: Vec::new(), ..next.entry.clone() };
        self.record(round, Some(&of_round), held.best.as_ref(), &held.current)?;
        let ends = of_round.accepted && self.stage.stop == StopRounds::Accepted;
        held.last = Some(of_round);
        if !ends {
            return Ok(Next::Round);
        }
        // An accepted child is the best of all rounds, for none before was accepted.
        let Some(Rated { entry, accepted, .. }) = held.last.take() else { return Ok(Next::Round) };
        Ok(Next::End(End::Returned { entry: Box::new(entry), accepted }))
    }

    /// Returns the candidate that entered the round, because the stages before the writer accept it. Results
    /// of the other stages from when it was a child itself still count.
    fn return_unchanged(&self, round: u32, held: &mut RefineState) -> Result<Next, Failure> {
        let entry = held.current.clone();
        let value = entry.metric(&self.stage.by);
        let rated = Rated { entry, accepted: true, value };
        self.record(round, Some(&rated), Some(&rated), &rated.entry)?;
        Ok(Next::End(End::Returned { entry: Box::new(rated.entry), accepted: true }))
    }

    /// Some stages of the round, over what goes into the first of them.
    fn part(&mut self, round: u32, stages: Range<usize>, entry: &Entry) -> Result<SeriesEnd, Failure> {
        let part = self.stage.round.iter().skip(stages.start).take(stages.len());
        let done = run_series(self.context, round, part, vec![entry.clone()], |_, _| false)?;
        add_all(&mut self.reports, done.reports);
        self.failed.extend(done.failed);
        Ok(done.end)
    }

    /// True if there are judges among these stages of the round and all accept. A new plan by itself is not
    /// an acceptance.
    fn accepts(&self, stages: Range<usize>, entry: &Entry) -> bool {
        let judges =
            |(position, stage): &(usize, &Stage)| stage.definition().decides() && *position != self.writer;
        let all = self.stage.round.iter().enumerate().skip(stages.start).take(stages.len());
        let judging: Vec<&Stage> = all.filter(judges).map(|(_, stage)| stage).collect();
        !judging.is_empty()
            && has_judge(judging.iter().copied(), entry)
            && judging.iter().all(|stage| objection(stage, entry).is_none())
    }

    /// The best of a round; ties go to the sample path, in whose order the children are.
    fn best_of(&self, children: Vec<Entry>) -> Option<Rated> {
        let rated = children.into_iter().map(|child| self.rate(child));
        rated.min_by(|a, b| a.compare(b, self.stage.order))
    }

    fn rate(&self, entry: Entry) -> Rated {
        let accepted = self.accepts(self.writer..self.stage.round.len(), &entry);
        let value = entry.metric(&self.stage.by);
        Rated { entry, accepted, value }
    }

    fn record(
        &self,
        round: u32,
        of_round: Option<&Rated>,
        best: Option<&Rated>,
        next: &Entry,
    ) -> Result<(), Failure> {
        let path = |rated: &Rated| rated.path(self.context.name());
        let history = self.history(next);
        self.context.run.recorder.event(Event::RoundFinished {
            task: self.context.name().to_owned(),
            stage: self.stage.label.clone(),
            path: self.path.clone(),
            round,
            best: of_round.map(path),
            value: of_round.and_then(|rated| rated.value),
            accepted: of_round.is_some_and(|rated| rated.accepted),
            best_so_far: best.filter(|_| !self.stage.by.is_empty()).map(path),
            history: self.context.run.recorder.blob(&history)?,
        })
    }

    /// The feedback on a candidate in the next round's requests, as far as it is known before that round.
    fn history(&self, next: &Entry) -> RoundHistory {
        let before: Vec<&Stage> = self.stage.round.iter().take(self.writer).collect();
        let known = |label: &&String| !before.iter().any(|stage| stage.label() == label.as_str());
        let writer = self.stage.round.get(self.writer);
        let labels = writer.map_or(&[][..], |writer| writer.definition().feedback_labels());
        let told = before.iter().filter_map(|stage| {
            let said = self.context.feedback(stage.definition().feedback_labels().iter().filter(known), next);
            Some((stage.label().to_owned(), said)).filter(|(_, said)| !said.is_empty())
        });
        let own = |stage: &Stage| {
            let conversation = next.conversations.get(stage.label())?;
            Some((stage.label().to_owned(), conversation.clone()))
        };
        RoundHistory {
            path: self.context.candidate_path(next),
            conversation: next.candidate.conversation.clone(),
            feedback: self.context.writer_feedback(labels.iter().filter(known), next),
            told: told.collect(),
            conversations: self.stage.round.iter().filter_map(own).collect(),
        }
    }
}
