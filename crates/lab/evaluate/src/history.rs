//! The candidates of a run, read from its journal: their parents, their assessments, and the round of a
//! refine stage that made them. Tables of replies, curves over samples and rounds, and `planforge runs rounds`
//! read it.

use planforge_contract::{
    Assessment, Candidate, CandidatePatch, Failure, FailureClass, LineageStep, PlanOutcome,
};
use planforge_record::{CompletionEvent, Event, Journal, RecordError, SamplePath};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};

/// All tasks of a run, in the order in which the journal names them first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    pub tasks: Vec<TaskHistory>,
}

/// One task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskHistory {
    /// The task's name in the record, `SUITE.STEM`.
    pub task: String,
    /// The candidates in the order of their first event, each once.
    pub candidates: Vec<MadeCandidate>,
    /// Assessments of the candidate that the task started with, by stage: those of a pipeline that makes no
    /// candidate, such as one with a single plan a task.
    pub start: BTreeMap<String, Assessment>,
    /// Samples and calls that broke: the path, and how.
    pub failed: Vec<(SamplePath, Failure)>,
    /// The rounds of refine stages, in order.
    pub rounds: Vec<Round>,
    /// Seconds of the task's requests to models, one after another: attempts, waits between them and waits
    /// for a free place included. An answer from a cassette has the time of the recording. A request that was
    /// sent again counts once, as it ended.
    pub model_seconds: f64,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeCandidate {
    pub path: SamplePath,
    /// The candidate as it was when it was made.
    pub candidate: Candidate,
    /// The patch that made it.
    pub patch: CandidatePatch,
    /// The label of the stage that made it, without a round.
    pub stage: String,
    /// The round of the refine stage that made it; 0 outside one.
    pub round: u32,
    /// Assessments by the labels of verify stages. The last assessment of a stage counts.
    pub assessments: BTreeMap<String, Assessment>,
    /// Answers of planners, by the labels of plan stages.
    pub plans: BTreeMap<String, PlanOutcome>,
}

/// One round of a refine stage for one candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The label of the refine stage.
    pub stage: String,
    /// The path of the candidate that is refined, as it came in.
    pub root: SamplePath,
    /// Number of the round, from 1.
    pub number: u32,
    /// The path of the round's best child; absent if the round has no usable sample.
    pub best: Option<SamplePath>,
}

impl History {
    /// Reads a run.
    ///
    /// # Errors
    /// `record.*`: a blob is missing, was changed, or holds another document.
    pub fn read(journal: &dyn Journal) -> Result<Self, Failure> {
        Self::read_without(journal, &[])
    }

    /// Reads a run and leaves out the evidence of these stages, which can be far larger than all the rest.
    ///
    /// # Errors
    /// As [`History::read`].
    pub fn read_without(journal: &dyn Journal, stages: &[String]) -> Result<Self, Failure> {
        let mut reader = HistoryReader {
            journal,
            without: stages,
            at: HashMap::new(),
            questions: HashMap::new(),
            history: Self::default(),
        };
        for event in journal.events() {
            reader.take(event)?;
        }
        Ok(reader.history)
    }

    /// The task of that name; the stem alone is enough where no other task has it.
    pub fn task(&self, name: &str) -> Option<&TaskHistory> {
        let stem = |task: &&TaskHistory| task.task.rsplit('.').next() == Some(name);
        let mut stems = self.tasks.iter().filter(stem);
        let only = match (stems.next(), stems.next()) {
            (Some(task), None) => Some(task),
            _ => None,
        };
        self.tasks.iter().find(|task| task.task == name).or(only)
    }

    fn of(&mut self, task: &str) -> &mut TaskHistory {
        let at = self.tasks.iter().position(|known| known.task == task).unwrap_or_else(|| {
            self.tasks.push(TaskHistory { task: task.to_owned(), ..TaskHistory::default() });
            self.tasks.len() - 1
        });
        &mut self.tasks[at]
    }
}

/// A pass over a journal.
struct HistoryReader<'a> {
    journal: &'a dyn Journal,
    without: &'a [String],
    /// By task and path, the place among the task's candidates.
    at: HashMap<(String, SamplePath), usize>,
    /// By key, how long each question took in seconds.
    questions: HashMap<String, f64>,
    history: History,
}

impl HistoryReader<'_> {
    fn take(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::CandidateMade { task, path, candidate, patch } => {
                let candidate: Candidate = document(self.journal, &candidate)?;
                let patch = document(self.journal, &patch)?;
                self.made(task, path, candidate, patch);
            }
            Event::Assessed { task, stage, path, assessment, .. } => {
                let mut assessment: Assessment = document(self.journal, &assessment)?;
                if self.without.contains(&stage) {
                    assessment.evidence = serde_json::Value::Null;
                }
                if path.ends_with("/start/-") && !self.at.contains_key(&(task.clone(), path.clone())) {
                    self.history.of(&task).start.insert(stage, assessment);
                } else if let Some(made) = self.known(task, path) {
                    made.assessments.insert(stage, assessment);
                }
            }
            Event::Planned { task, stage, path, outcome, .. } => {
                let outcome = document(self.journal, &outcome)?;
                if let Some(made) = self.known(task, path) {
                    made.plans.insert(stage, outcome);
                }
            }
            Event::SampleFailed { task, path, failure } => {
                let failed = &mut self.history.of(&task).failed;
                failed.retain(|(known, _)| *known != path);
                failed.push((path, failure));
            }
            Event::RoundFinished { task, stage, path, round, best, .. } => {
                let round = Round { stage, root: path, number: round, best };
                let rounds = &mut self.history.of(&task).rounds;
                rounds.retain(|known| {
                    (&known.stage, &known.root, known.number) != (&round.stage, &round.root, round.number)
                });
                rounds.push(round);
            }
            Event::Completion(CompletionEvent { key, path, elapsed_ms, .. }) => {
                let seconds = elapsed_ms as f64 / 1000.0;
                let before = self.questions.insert(key, seconds).unwrap_or(0.0);
                let task = path.split('/').next().unwrap_or_default();
                self.history.of(task).model_seconds += seconds - before;
            }
            _ => {}
        }
        Ok(())
    }

    fn made(&mut self, task: String, path: SamplePath, candidate: Candidate, patch: CandidatePatch) {
        let label = candidate.lineage.last().map_or("start", |step: &LineageStep| step.stage.as_str());
        let (stage, round) = match label.split_once('#') {
            Some((stage, round)) => (stage.to_owned(), round.parse().unwrap_or(0)),
            None => (label.to_owned(), 0),
        };
        let candidates = &mut self.history.of(&task).candidates;
        let at = *self.at.entry((task, path.clone())).or_insert(candidates.len());
        match candidates.get_mut(at) {
            // Earlier assessments still count.
            Some(known) => (known.candidate, known.patch) = (candidate, patch),
            None => candidates.push(MadeCandidate {
                stage,
                round,
                candidate,
                patch,
                assessments: BTreeMap::new(),
                plans: BTreeMap::new(),
                path,
            }),
        }
    }

    fn known(&mut self, task: String, path: SamplePath) -> Option<&mut MadeCandidate> {
        let key = (task, path);
        let at = *self.at.get(&key)?;
        self.history.of(&key.0).candidates.get_mut(at)
    }
}

impl TaskHistory {
    /// The candidate of that path.
    pub fn candidate(&self, path: &str) -> Option<&MadeCandidate> {
        self.candidates.iter().find(|made| made.path == path)
    }

    /// The candidate that another was made from.
    pub fn parent(&self, made: &MadeCandidate) -> Option<&MadeCandidate> {
        let (_, ancestors) = made.candidate.lineage.split_last()?;
        self.candidates.iter().find(|other| other.candidate.lineage == ancestors)
    }

    /// The candidates that went into refine stages, each with the best child of every round that had one, in order.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut at: HashMap<(&str, &str), usize> = HashMap::new();
        for round in &self.rounds {
            let key = (round.stage.as_str(), round.root.as_str());
            let index = *at.entry(key).or_insert_with(|| {
                lines.push(Line {
                    stage: &round.stage,
                    root: self.candidate(&round.root),
                    rounds: Vec::new(),
                });
                lines.len() - 1
            });
            let best = round.best.as_deref().and_then(|path| self.candidate(path));
            lines[index].rounds.push((round.number, best));
        }
        for line in &mut lines {
            line.rounds.sort_by_key(|(number, _)| *number);
        }
        lines
    }
}

/// A candidate on its way through a refine stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// The label of the refine stage.
    pub stage: &'a str,
    /// The candidate as it came in; absent where the task itself came in.
    pub root: Option<&'a MadeCandidate>,
    /// Each round with its best child, if it has a usable sample.
    pub rounds: Vec<(u32, Option<&'a MadeCandidate>)>,
}

impl Line<'_> {
    /// The candidate after so many rounds: what the last of them that had a child made of it.
    pub fn after(&self, rounds: u32) -> Option<&MadeCandidate> {
        let mut made =
            self.rounds.iter().filter(|(number, _)| *number <= rounds).filter_map(|(_, made)| *made);
        made.next_back().or(self.root)
    }
}

fn document<T: DeserializeOwned>(journal: &dyn Journal, blob: &str) -> Result<T, Failure> {
    let bytes = journal.get(blob).map_err(|error: RecordError| Failure::from(error))?;
    planforge_contract::read_json(&bytes).map_err(|error| {
        let message = format!("blob {blob} does not hold the document that the journal names: {error}");
        Failure::new(FailureClass::System, "record.corrupt", message)
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use planforge_contract::Decision;
    use planforge_record::MemoryJournal;
    use std::sync::Arc;

    /// A journal that is written by hand.
    pub(crate) struct JournalBuilder(pub(crate) MemoryJournal);

    impl JournalBuilder {
        pub(crate) fn new() -> Self {
            Self(MemoryJournal::new(Arc::default()))
        }

        fn blob<T: serde::Serialize>(&self, document: &T) -> String {
            self.0.put_json(&serde_json::to_value(document).unwrap()).unwrap()
        }

        /// A candidate with this descent (`label/sample label/sample ...`) and domain.
        pub(crate) fn made(
            &self,
            task: &str,
            descent: &str,
            domain: &str,
            likelihood: Option<f64>,
        ) -> String {
            self.candidate(task, descent, domain, likelihood, &[])
        }

        /// The same with texts beside the domain.
        pub(crate) fn written(
            &self,
            task: &str,
            descent: &str,
            domain: &str,
            texts: &[(String, String)],
        ) -> String {
            self.candidate(task, descent, domain, None, texts)
        }

        fn candidate(
            &self,
            task: &str,
            descent: &str,
            domain: &str,
            likelihood: Option<f64>,
            texts: &[(String, String)],
        ) -> String {
            let candidate = Candidate {
                domain: Some(domain.to_owned()),
                log_likelihood: likelihood,
                thought: Some(format!("thought of {descent}")),
                texts: texts.iter().cloned().collect(),
                ..Candidate::default()
            };
            let patch = CandidatePatch {
                domain: Some(domain.to_owned()),
                raw_reply: domain.to_owned(),
                ..CandidatePatch::default()
            };
            self.add(task, descent, candidate, patch)
        }

        /// A candidate with a domain and a problem, one of which its patch wrote.
        pub(crate) fn patched(
            &self,
            task: &str,
            descent: &str,
            [domain, problem]: [&str; 2],
            wrote_domain: bool,
        ) -> String {
            let candidate = Candidate {
                domain: Some(domain.to_owned()),
                problem: Some(problem.to_owned()),
                ..Candidate::default()
            };
            let patch = CandidatePatch {
                domain: wrote_domain.then(|| domain.to_owned()),
                problem: (!wrote_domain).then(|| problem.to_owned()),
                ..CandidatePatch::default()
            };
            self.add(task, descent, candidate, patch)
        }

        fn add(&self, task: &str, descent: &str, candidate: Candidate, patch: CandidatePatch) -> String {
            let lineage: Vec<LineageStep> = descent
                .split(' ')
                .map(|step| {
                    let (stage, sample) = step.split_once('/').unwrap();
                    LineageStep { stage: stage.to_owned(), sample: sample.parse().unwrap() }
                })
                .collect();
            let samples: Vec<String> = lineage.iter().map(|step| step.sample.to_string()).collect();
            let path = format!("{task}/{}/{}", lineage.last().unwrap().stage, samples.join("."));
            let candidate = Candidate { lineage, ..candidate };
            let event = Event::CandidateMade {
                task: task.to_owned(),
                path: path.clone(),
                candidate: self.blob(&candidate),
                patch: self.blob(&patch),
            };
            self.0.append(&event).unwrap();
            path
        }

        pub(crate) fn assessed(&self, task: &str, stage: &str, path: &str, assessment: &Assessment) {
            let event = Event::Assessed {
                task: task.to_owned(),
                stage: stage.to_owned(),
                path: path.to_owned(),
                assessment: self.blob(assessment),
                decision: assessment.decision.name().to_owned(),
            };
            self.0.append(&event).unwrap();
        }

        pub(crate) fn round(&self, task: &str, root: &str, round: u32, best: Option<&str>) {
            let event = Event::RoundFinished {
                task: task.to_owned(),
                stage: "ivml".to_owned(),
                path: root.to_owned(),
                round,
                best: best.map(str::to_owned),
                value: None,
                accepted: false,
                best_so_far: None,
                history: self.blob(&()),
            };
            self.0.append(&event).unwrap();
        }

        pub(crate) fn failed(&self, task: &str, path: &str, class: FailureClass) {
            let failure = Failure::new(class, "x.y", "no domain in the reply");
            let event = Event::SampleFailed { task: task.to_owned(), path: path.to_owned(), failure };
            self.0.append(&event).unwrap();
        }
    }

    #[test]
    fn lines_follow_the_best_child_of_each_round() {
        let journal = JournalBuilder::new();
        let root = journal.made("s.p01", "domain/1", "d", Some(-3.0));
        let first = journal.made("s.p01", "domain/1 update#1/0", "d1", None);
        // A resumed run records a candidate again.
        journal.made("s.p01", "domain/1 update#1/0", "d1", None);
        let third = journal.made("s.p01", "domain/1 update#1/0 update#3/0", "d3", None);
        journal.assessed("s.p01", "critique", &root, &Assessment::new(Decision::Rejected, "wrong"));
        for (round, best) in [(1, Some(&first)), (2, None), (3, Some(&third))] {
            journal.round("s.p01", &root, round, best.map(String::as_str));
        }
        let history = History::read(&journal.0).unwrap();
        let task = history.task("p01").unwrap();
        assert_eq!(task.candidates.len(), 3);
        assert_eq!((task.candidates[2].stage.as_str(), task.candidates[2].round), ("update", 3));
        let lines = task.lines();
        let after = |rounds| lines[0].after(rounds).unwrap().candidate.domain.clone().unwrap();
        assert_eq!([0, 1, 2, 3, 9].map(after), ["d", "d1", "d1", "d3", "d3"]);
        assert_eq!(task.parent(&task.candidates[2]), Some(&task.candidates[1]));
        assert_eq!(task.candidates[0].assessments["critique"].summary, "wrong");
        assert!(history.task("p02").is_none());
    }
}
