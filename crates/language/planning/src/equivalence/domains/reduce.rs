//! A ground task without the facts that nothing depends on: no condition, rule or goal that matters reads them.

use crate::task::{Condition, Fact, GroundTask};

/// The task with the same applicable actions after every sequence and the same goal, whose states differ in fewer facts. Facts keep
/// their numbers; those that do not matter never change and do not hold initially.
pub(super) fn reduce_task(task: &GroundTask) -> (GroundTask, Vec<bool>) {
    let relevant = relevant(task);
    let keeps = |f: &Fact| relevant[*f as usize];
    let kept = |list: &[Fact]| -> Box<[Fact]> { list.iter().copied().filter(keeps).collect() };
    let mut task = task.clone();
    for operator in &mut task.operators {
        operator.add = kept(&operator.add);
        operator.delete = kept(&operator.delete);
        let mut conditional = std::mem::take(&mut operator.conditional).into_vec();
        for effect in &mut conditional {
            effect.add = kept(&effect.add);
            effect.delete = kept(&effect.delete);
        }
        conditional.retain(|e| !e.add.is_empty() || !e.delete.is_empty());
        operator.conditional = conditional.into();
    }
    task.axioms.retain(|a| relevant[a.head as usize]);
    task.init.retain(keeps);
    (task, relevant)
}

/// By fact, whether what is applicable, or the goal, can depend on it.
fn relevant(task: &GroundTask) -> Vec<bool> {
    let mut marks = vec![false; task.facts.len()];
    let mut changed = false;
    if !task.goal_unreachable {
        mark(&mut marks, &task.goal, &mut changed);
    }
    for operator in &task.operators {
        mark(&mut marks, &operator.precondition, &mut changed);
        // The task has only numeric effects whose value is read.
        for effect in &operator.numeric {
            mark(&mut marks, &effect.condition, &mut changed);
        }
    }
    while std::mem::take(&mut changed) {
        for effect in task.operators.iter().flat_map(|o| &o.conditional) {
            if effect.add.iter().chain(&effect.delete).any(|&f| marks[f as usize]) {
                mark(&mut marks, &effect.condition, &mut changed);
            }
        }
        for axiom in &task.axioms {
            if marks[axiom.head as usize] {
                mark(&mut marks, &axiom.condition, &mut changed);
            }
        }
    }
    marks
}

fn mark(marks: &mut [bool], condition: &Condition, changed: &mut bool) {
    for &fact in condition.positive.iter().chain(&condition.negative) {
        let known = std::mem::replace(&mut marks[fact as usize], true);
        *changed |= !known;
    }
}
