//! `--by classes`: replies that were asked for one action, paired by action. A reply is a yes where the action that it holds behaves as the
//! reference's, as far as the stage of `verifier-classes` looked.

use super::observe::{Observation, Observed, TaskKey};
use crate::evaluation::{CellClasses, CellKey, CellResult, Fate, Group, Judges, ProblemOutcome, TaskResult};
use planforge_contract::Failure;
use planforge_pddl::random::Random;
use std::collections::BTreeMap;

impl Observed {
    /// The same side with the replies for each action in the place of its tasks. `cells` are its cells, with their classes. Costs are of
    /// tasks and not of actions, and times of runs say nothing about them, so they are left out.
    ///
    /// # Errors
    /// `compare.not-asked`: no cell has classes.
    pub fn by_action(self, cells: &[CellResult]) -> Result<Self, Failure> {
        let mut runs: Vec<(&CellKey, &CellClasses)> =
            cells.iter().filter_map(|cell| Some((&cell.key, cell.classes.as_ref()?))).collect();
        if runs.is_empty() {
            let message = format!("no stage of {} classifies actions", self.name);
            let help = "a stage of `verifier-classes` does; see docs/how-to/write-actions.md";
            return Err(Failure::new(
                planforge_contract::FailureClass::Request,
                "compare.not-asked",
                message,
            )
            .help(help));
        }
        runs.sort_by(|a, b| (&a.0.suite, a.0.seed).cmp(&(&b.0.suite, b.0.seed)));
        let mut replies: BTreeMap<(String, String), Vec<ProblemOutcome>> = BTreeMap::new();
        for (key, classes) in runs {
            for tally in &classes.actions {
                let mut own: Vec<ProblemOutcome> = tally
                    .counts
                    .iter()
                    .flat_map(|(fate, count)| (0..*count).map(move |_| outcome(*fate)))
                    .collect();
                // Which reply of one side meets which of the other is arbitrary; an order by class would not be, where one side has more.
                let count = own.len();
                Random::new(key.seed).shuffle_front(&mut own, count);
                let action = tally.action.to_lowercase();
                replies.entry((key.suite.clone(), action)).or_default().extend(own);
            }
        }
        let of_action = |((suite, action), outcomes): ((String, String), Vec<ProblemOutcome>)| {
            let one =
                move |(number, outcome): (u64, ProblemOutcome)| observation(&suite, &action, number, outcome);
            (1..).zip(outcomes).map(one).collect::<Vec<_>>()
        };
        Ok(Self {
            observations: replies.into_iter().flat_map(of_action).collect(),
            sessions: Default::default(),
            ..self
        })
    }
}

/// What a reply's class says. A reply that cannot be read, or whose action does not fit the domain, is a no; one that never came or that
/// nobody could judge is open.
const fn outcome(fate: Fate) -> ProblemOutcome {
    match fate.group() {
        Group::Equivalent => ProblemOutcome::Equivalent,
        Group::Syntax | Group::Semantic | Group::Different => ProblemOutcome::Different,
        Group::Undecided | Group::Fits => ProblemOutcome::Undecided,
        Group::Failed => ProblemOutcome::Failed,
    }
}

/// One reply: an action's name in the task's place, its number in the seed's, and its answer in the problem's.
fn observation(suite: &str, action: &str, number: u64, outcome: ProblemOutcome) -> Observation {
    Observation {
        key: TaskKey { suite: suite.to_owned(), task: action.to_owned(), seed: number },
        result: TaskResult { problem: Some(outcome), ..TaskResult::unfinished(action, &Judges::default()) },
        sha256: None,
        plan: None,
        cost: None,
        samples: Vec::new(),
    }
}
