//! The figure of a plan's states and of the states around it (test-time-scaling paper, Fig. 6), as SVG or for
//! Graphviz.
//!
//! The layout is our own because the figure is a special case: the plan's states form a straight column on
//! the left, read from top to bottom, and states that other actions lead to are in columns to the right, each
//! beside the state that it was found from. So no two of these edges cross. The other edges, which lead back,
//! are thin and have their action in a tooltip. The same graph gives the same bytes.

mod dot;
mod layout;
mod svg;

pub use dot::dot;
pub use svg::svg;

use planforge_plugin_common::judging::reports::{StateGraphReport, StateGraphState};

/// Most characters of a line.
const MOST_CHARACTERS: usize = 44;
/// Most changed atoms listed for a state.
const MOST_CHANGES: usize = 8;

/// A line of a state's box, and how it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    kind: LineKind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Heading,
    Added,
    Deleted,
    Remark,
}

/// The lines of a state's box: its place in the plan, its difference from the state it was found from, and
/// the number of hidden atoms.
fn lines(state: &StateGraphState) -> Vec<Line> {
    let mut out = Vec::new();
    let mut add = |kind, text: String| out.push(Line { kind, text: shorten(&text) });
    let goal = if state.goal { "goal" } else { "" };
    let heading = match (heading(&state.after_steps), goal) {
        (when, "") => when,
        (when, goal) if when.is_empty() => goal.to_owned(),
        (when, goal) => format!("{when}: {goal}"),
    };
    if !heading.is_empty() {
        add(LineKind::Heading, heading);
    }
    let changes = state
        .added
        .iter()
        .map(|a| (LineKind::Added, format!("+ {a}")))
        .chain(state.deleted.iter().map(|a| (LineKind::Deleted, format!("\u{2212} {a}"))));
    let count = state.added.len() + state.deleted.len();
    changes.take(MOST_CHANGES).for_each(|(kind, text)| add(kind, text));
    if count > MOST_CHANGES {
        add(LineKind::Remark, format!("and {} more changes", count - MOST_CHANGES));
    }
    if state.from.is_some() && count == 0 {
        add(LineKind::Remark, "nothing changed but numbers".to_owned());
    }
    if state.left_out > 0 {
        let actions = if state.left_out == 1 { "action" } else { "actions" };
        add(LineKind::Remark, format!("{} more {actions}, not shown", state.left_out));
    }
    if out.is_empty() {
        out.push(Line { kind: LineKind::Heading, text: "state".to_owned() });
    }
    out
}

/// `initial state`, `after step 2`, `initial state, after steps 2 and 4`.
fn heading(after: &[u32]) -> String {
    let numbers: Vec<String> = after.iter().filter(|n| **n > 0).map(u32::to_string).collect();
    let later = match numbers.as_slice() {
        [] => String::new(),
        [one] => format!("after step {one}"),
        [most @ .., last] => format!("after steps {} and {last}", most.join(", ")),
    };
    match (after.first(), later.is_empty()) {
        (Some(0), true) => "initial state".to_owned(),
        (Some(0), false) => format!("initial state, {later}"),
        _ => later,
    }
}

fn shorten(text: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    match text.char_indices().nth(MOST_CHARACTERS) {
        None => text.chars().map(clean).collect(),
        Some((at, _)) => text[..at].chars().map(clean).chain(['\u{2026}']).collect(),
    }
}

/// The lines above the figure: its size, the result of the plan, and omissions by limits.
fn captions(graph: &StateGraphReport) -> Vec<String> {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let around = match &graph.plan {
        Some(_) => "of the plan's states",
        None => "of the initial state",
    };
    let mut out = vec![format!(
        "{} and {}: all within {} {around}",
        count(graph.states.len(), "state"),
        count(graph.edges.len(), "action"),
        count(graph.distance as usize, "action"),
    )];
    if graph.left_out > 0 {
        out[0] = format!(
            "{} and {}, cut at {}: {} within {} {around} {} to states that are not shown",
            count(graph.states.len(), "state"),
            count(graph.edges.len(), "action"),
            count(graph.max_states as usize, "state"),
            count(graph.left_out as usize, "action"),
            count(graph.distance as usize, "action"),
            if graph.left_out == 1 { "leads" } else { "lead" },
        );
    }
    if let Some(plan) = &graph.plan {
        let steps = count(plan.steps as usize, "step");
        out.push(match (plan.valid, plan.failing_step.is_empty()) {
            (true, _) => format!("The plan of {steps} is valid"),
            (false, true) => format!("The plan of {steps} is executed and misses the goal"),
            (false, false) => {
                format!("The plan of {steps} breaks after {}", count(plan.executed as usize, "step"))
            }
        });
    }
    out
}

#[cfg(test)]
mod tests;
