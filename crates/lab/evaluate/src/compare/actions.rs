//! `--by classes`: replies for one action, paired by action. A reply is a yes if its action behaves as the
//! reference's, as far as the classifying stage decided it.

use super::observe::{Observation, Observed, TaskKey};
use crate::results::{
    CellClasses, CellKey, CellResult, Group, Judges, ProblemOutcome, ReplyClass, TaskResult,
};
use planforge_contract::Failure;
use planforge_pddl::random::Random;
use std::collections::BTreeMap;

impl Observed {
    /// The same side with the replies for each action in place of its tasks. `cells` are its cells, with
    /// their classes. Costs belong to tasks, not to actions, so they are left out.
    ///
    /// # Errors
    /// `compare.not-asked`: no cell has classes.
    pub fn by_action(self, cells: &[CellResult]) -> Result<Self, Failure> {
        let mut runs: Vec<(&CellKey, &CellClasses)> =
            cells.iter().filter_map(|cell| Some((&cell.key, cell.classes.as_ref()?))).collect();
        if runs.is_empty() {
            let message = format!("no stage of {} classifies actions", self.name);
            let help = "add a stage that classifies actions, such as `verifier-classes`; see docs/how-to/write-actions.md";
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

/// The outcome for a reply's class. An unreadable reply, or an action that does not fit the domain, is a no;
/// a reply that never came or could not be judged is open.
const fn outcome(fate: ReplyClass) -> ProblemOutcome {
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
