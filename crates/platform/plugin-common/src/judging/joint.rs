//! Comparisons under a joint renaming as documents.

use crate::judging::domains::{end_reason, side};
use crate::judging::reports::{
    ComparedProblem, GranularityDifference, JointComparison, OneSidedSequence, RenamedAction, RenamedReading,
};
use planforge_planning::StopReason;
use planforge_planning::equivalence::joint::{
    JointRenaming, OneSided, ReadingComparison, ReadingVerdict, ReadingsNotCompared, Witness, WitnessKind,
};
use planforge_planning::walk::NamedStep;

/// One problem's comparison under a joint renaming, or why there is none.
pub fn to_compared_problem(
    problem: &str,
    outcome: &Result<ReadingComparison, ReadingsNotCompared>,
) -> ComparedProblem {
    let problem = problem.to_owned();
    let compared = match outcome {
        Ok(compared) => compared,
        Err(ReadingsNotCompared { side: of, error }) => {
            let reason = Some(match of {
                Some(of) => format!("the {} domain with its problem: {error}", side(*of)),
                None => error.to_string(),
            });
            let decision = "undecided".to_owned();
            return ComparedProblem { problem, decision, reason, ..Default::default() };
        }
    };
    let mut shown = ComparedProblem { problem, pairs: compared.pairs, ..Default::default() };
    let mut joint = JointComparison {
        renaming: renaming(&compared.renaming),
        granularity: compared.granularity.as_ref().map(|found| GranularityDifference {
            finer: side(found.finer).to_owned(),
            sequence: found.sequence.clone(),
            action: found.action.clone(),
        }),
        differs_under_all: compared.differs_under_all,
        judged: compared.judged as u64,
        choices_exhausted: compared.stopped == Some(StopReason::Nodes),
        ..Default::default()
    };
    shown.decision = match &compared.verdict {
        ReadingVerdict::Same => "equal",
        ReadingVerdict::SameUpTo { steps, end } => {
            shown.equal_up_to = Some(*steps);
            shown.reason = Some(end_reason(*end));
            "undecided"
        }
        ReadingVerdict::Different { first_only, second_only } => {
            joint.first_only = Some(one_sided(first_only));
            joint.second_only = Some(one_sided(second_only));
            "different"
        }
    }
    .to_owned();
    shown.joint = Some(joint);
    shown
}

fn one_sided(found: &OneSided) -> OneSidedSequence {
    let texts = |steps: &[NamedStep]| steps.iter().map(ToString::to_string).collect();
    match found {
        OneSided::Shortest(Witness { steps, other_steps, kind, conditions }) => OneSidedSequence {
            outcome: "found".to_owned(),
            kind: Some(
                match kind {
                    WitnessKind::Refused => "refused",
                    WitnessKind::Goal => "goal",
                }
                .to_owned(),
            ),
            steps: texts(steps),
            other_steps: texts(other_steps),
            conditions: conditions.clone(),
            searched_up_to: None,
        },
        OneSided::None => OneSidedSequence { outcome: "none".to_owned(), ..Default::default() },
        OneSided::NotFound { steps, .. } => OneSidedSequence {
            outcome: "not-found".to_owned(),
            searched_up_to: Some(*steps),
            ..Default::default()
        },
    }
}

/// The renaming as a document.
fn renaming(found: &JointRenaming) -> RenamedReading {
    let pairs =
        |list: &[(String, String)]| list.iter().map(|(a, b)| [a.clone(), b.clone()]).collect::<Vec<_>>();
    let alone = |side: usize| [found.actions_alone[side].clone(), found.objects_alone[side].clone()].concat();
    let actions = found.actions.iter().map(|action| RenamedAction {
        first: action.first.clone(),
        second: action.second.clone(),
        parameters: action.parameters.iter().map(|&(a, b)| [a as u64, b as u64]).collect(),
        first_alone: action.parameters_alone[0].clone(),
        second_alone: action.parameters_alone[1].clone(),
    });
    RenamedReading {
        actions: actions.collect(),
        objects: pairs(&found.objects),
        types: pairs(&found.types),
        predicates: pairs(&found.predicates),
        first_alone: alone(0),
        second_alone: alone(1),
    }
}
