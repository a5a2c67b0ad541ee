//! The figure of a plan's states and of the states around it (test-time-scaling paper, Fig. 6), as SVG or for
//! Graphviz.
//!
//! The layout is our own because the figure is a special case: the plan's states form a straight column on
//! the left, read from top to bottom, and states that other actions lead to are in columns to the right, each
//! beside the state that it was found from. So no two of these edges cross. The other edges, which lead back,
//! are thin and have their action in a tooltip. The same graph gives the same bytes.

use crate::chart::escaped;
use planforge_plugin_common::judging::reports::{StateGraphEdge, StateGraphReport, StateGraphState};
use std::collections::BTreeMap;
use std::fmt::Write as _;

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

/// Height of a line of text.
const LINE: i64 = 16;
/// Space inside a box.
const PADDING: i64 = 8;
/// Space between boxes one above the other.
const GAP: i64 = 14;
/// Space between states of the plan: an arrow and its label.
const STEP_GAP: i64 = 46;
/// Space between a box and the edges beside it.
const GUTTER: i64 = 24;
const MARGIN: i64 = 24;

/// A state's box.
#[derive(Debug, Clone)]
struct BoxPlace {
    x: i64,
    y: i64,
    width: i64,
    height: i64,
    lines: Vec<Line>,
}

impl BoxPlace {
    fn right(&self) -> i64 {
        self.x + self.width
    }
    fn bottom(&self) -> i64 {
        self.y + self.height
    }
    fn middle(&self) -> i64 {
        self.y + self.height / 2
    }
    fn centre(&self) -> i64 {
        self.x + self.width / 2
    }
}

/// Everything placed.
struct Layout {
    places: Vec<BoxPlace>,
    width: i64,
    /// Below the last box.
    bottom: i64,
}

/// The width of a text: the font has one width for all characters, 7.2 pixels, and some room.
fn text_width(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(0) * 15 / 2
}

/// The label of the tree edge into a state: the action that it was found by.
fn label_into(graph: &StateGraphReport, state: usize) -> Option<String> {
    let from = graph.states[state].from?;
    let edge = graph.edges.iter().find(|e| e.from == from && e.to as usize == state)?;
    Some(shorten(&edge.action))
}

/// Places the states below a caption that ends at `top`.
fn place(graph: &StateGraphReport, top: i64) -> Layout {
    let mut places: Vec<BoxPlace> = graph
        .states
        .iter()
        .map(|state| {
            let lines = lines(state);
            let width = lines.iter().map(|l| text_width(&l.text)).max().unwrap_or(0) + 2 * PADDING;
            let height = i64::try_from(lines.len()).unwrap_or(0) * LINE + 2 * PADDING;
            BoxPlace { x: 0, y: 0, width, height, lines }
        })
        .collect();
    let width = columns(graph, &mut places);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    for (index, state) in graph.states.iter().enumerate() {
        if let Some(from) = state.from.filter(|_| state.distance > 0) {
            children[from as usize].push(index);
        }
    }
    let mut bottom = top;
    for (index, _) in graph.states.iter().enumerate().filter(|(_, s)| s.distance == 0) {
        bottom = rows(index, bottom, &children, &mut places).max(places[index].bottom() + STEP_GAP);
    }
    let bottom = places.iter().map(BoxPlace::bottom).max().unwrap_or(top);
    Layout { places, width, bottom }
}

/// Gives each distance a column, with room for the labels of the edges into it; the whole width.
fn columns(graph: &StateGraphReport, places: &mut [BoxPlace]) -> i64 {
    let deepest = graph.states.iter().map(|s| s.distance).max().unwrap_or(0);
    // Edges that lead back bulge to the left of the first column.
    let mut x = MARGIN + 3 * GUTTER;
    for distance in 0..=deepest {
        let inside: Vec<usize> =
            (0..places.len()).filter(|&i| graph.states[i].distance == distance).collect();
        let labels = inside.iter().filter_map(|&i| label_into(graph, i)).map(|l| text_width(&l)).max();
        if distance > 0 {
            x += GUTTER + labels.unwrap_or(0) + 2 * PADDING;
        }
        let widest = inside.iter().map(|&i| places[i].width).max().unwrap_or(0);
        inside.iter().for_each(|&i| places[i].x = x);
        // The labels of a plan's steps stand to the right of their arrows, half a box in.
        let beside = if distance == 0 { widest / 2 + labels.unwrap_or(0) + 4 * PADDING } else { 0 };
        x += widest.max(beside) + GUTTER;
    }
    x + MARGIN
}

/// Places a state at a height and the states found from it beside it, one below the other. Returns the next
/// free height.
fn rows(state: usize, y: i64, children: &[Vec<usize>], places: &mut [BoxPlace]) -> i64 {
    // A stack instead of recursion: (state, where it begins); each pops after what hangs from it.
    let mut next = y;
    let mut stack: Vec<(usize, bool)> = vec![(state, false)];
    while let Some((index, done)) = stack.pop() {
        if done {
            next = next.max(places[index].bottom() + GAP);
            continue;
        }
        places[index].y = next;
        stack.push((index, true));
        stack.extend(children[index].iter().rev().map(|&child| (child, false)));
    }
    next
}

const STYLE: &str = "text { font: 12px monospace; fill: #222222; } .note { fill: #666666; } .head { font-weight: bold; } \
.add { fill: #1d6b2f; } .del { fill: #a02c2c; } .box { fill: #ffffff; stroke: #888888; } .plan .box { stroke: #0072b2; stroke-width: 2; } \
.goal .box { fill: #e8f5e9; stroke: #1d6b2f; stroke-width: 3; } .edge { fill: none; stroke: #888888; } \
.step { fill: none; stroke: #0072b2; stroke-width: 3; } .back { fill: none; stroke: #bbbbbb; stroke-dasharray: 4 3; } \
.broken .box { fill: #fdecea; stroke: #a02c2c; stroke-dasharray: 6 4; }";

/// Draws a graph. Every text is escaped; the bytes depend on the graph alone.
pub fn svg(graph: &StateGraphReport) -> String {
    let captions = captions(graph);
    let rows = i64::try_from(captions.len() + 1).unwrap_or(2);
    let layout = place(graph, MARGIN + rows * (LINE + 4) + MARGIN);
    let mut body = String::new();
    edges(graph, &layout, &mut body);
    for (index, place) in layout.places.iter().enumerate() {
        state(graph, index, place, &mut body);
    }
    let (broken, bottom) = broken(graph, &layout, &mut body);
    let legend = "Blue: the plan. Green: goal states. + and \u{2212}: what became true and false. Dashed edges lead back; they name \
their action when pointed at.";
    let widest = captions.iter().map(String::as_str).chain([legend]).map(text_width).max().unwrap_or(0);
    let width = layout.width.max(widest + 2 * MARGIN).max(broken + MARGIN);
    let height = bottom + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <title>State-transition graph</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"#666666\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let captions = captions.iter().map(|c| (c.as_str(), "head")).chain([(legend, "note")]);
    for (row, (caption, class)) in (1..).zip(captions) {
        text(&mut out, MARGIN, MARGIN + row * (LINE + 4) - 4, class, caption);
    }
    out + &body + "</svg>\n"
}

fn text(out: &mut String, x: i64, y: i64, class: &str, content: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" class=\"{class}\" xml:space=\"preserve\">{}</text>",
        escaped(content)
    );
}

fn state(graph: &StateGraphReport, index: usize, place: &BoxPlace, out: &mut String) {
    let state = &graph.states[index];
    let mut class = "state".to_owned();
    if state.distance == 0 {
        class.push_str(" plan");
    }
    if state.goal {
        class.push_str(" goal");
    }
    let _ = writeln!(
        out,
        "<g class=\"{class}\"><title>{}</title><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\"/>",
        escaped(&state.atoms.join("\n")),
        place.x,
        place.y,
        place.width,
        place.height
    );
    for (row, line) in (1..).zip(&place.lines) {
        let class = match line.kind {
            LineKind::Heading => "head",
            LineKind::Added => "add",
            LineKind::Deleted => "del",
            LineKind::Remark => "note",
        };
        text(out, place.x + PADDING, place.y + PADDING + row * LINE - 4, class, &line.text);
    }
    out.push_str("</g>\n");
}

/// Edges by the pair of states that they join; those that lead back first, below the others.
fn edges(graph: &StateGraphReport, layout: &Layout, out: &mut String) {
    let mut pairs: BTreeMap<(usize, usize), Vec<&StateGraphEdge>> = BTreeMap::new();
    for edge in &graph.edges {
        pairs.entry((edge.from as usize, edge.to as usize)).or_default().push(edge);
    }
    let found = |from: usize, to: usize| graph.states[to].from == u32::try_from(from).ok();
    let (tree, back): (Vec<_>, Vec<_>) = pairs.iter().partition(|((from, to), _)| found(*from, *to));
    for ((from, to), edges) in back {
        let taken = edges.iter().any(|e| !e.steps.is_empty());
        let class = if taken { "step" } else { "back" };
        path(out, class, &bow(&layout.places[*from], &layout.places[*to]), edges);
    }
    for ((from, to), edges) in tree {
        let (a, b) = (&layout.places[*from], &layout.places[*to]);
        let label = label_into(graph, *to).unwrap_or_default();
        if graph.states[*to].distance == 0 {
            let x = a.centre().min(b.centre());
            path(out, "step", &format!("M{x} {}L{x} {}", a.bottom(), b.y - 2), edges);
            text(out, x + PADDING, b.y - LINE, "head", &label);
        } else {
            // One for the whole column, left of every label in it: so no edge runs through another's label.
            let turn = turn_before(graph, layout, graph.states[*to].distance);
            // The first child is beside its parent, the others are below it.
            let start = (a.y + PADDING + LINE / 2).min(b.middle());
            let d = format!("M{} {start}H{turn}V{}H{}", a.right(), b.middle(), b.x - 2);
            path(out, "edge", &d, edges);
            text(out, turn + PADDING, b.middle() - 4, "edge-label", &label);
        }
    }
}

/// The x at which the edges into the states of a distance turn.
fn turn_before(graph: &StateGraphReport, layout: &Layout, distance: u32) -> i64 {
    let inside = (0..graph.states.len()).filter(|&i| graph.states[i].distance == distance);
    let room = |i: usize| text_width(&label_into(graph, i).unwrap_or_default());
    let left = inside.map(|i| layout.places[i].x - GUTTER - room(i)).min();
    left.unwrap_or_default()
}

/// From the left side of a box in a bow to the left side of another, or around one's own corner.
fn bow(a: &BoxPlace, b: &BoxPlace) -> String {
    let (from, to) = (a.middle() + 4, b.middle() - 4);
    if a.x == b.x && a.y == b.y {
        let (x, y) = (a.x, a.middle());
        let reach = x - GUTTER;
        return format!("M{x} {}C{reach} {} {reach} {} {} {}", y - 6, y - 16, y + 16, x - 2, y + 6);
    }
    let reach = a.x.min(b.x) - 2 * GUTTER;
    format!("M{} {from}C{reach} {from} {reach} {to} {} {to}", a.x, b.x - 2)
}

fn path(out: &mut String, class: &str, d: &str, edges: &[&StateGraphEdge]) {
    let actions: Vec<String> = edges
        .iter()
        .map(|edge| match edge.steps.as_slice() {
            [] => edge.action.clone(),
            steps => {
                let steps: Vec<String> = steps.iter().map(u32::to_string).collect();
                format!("step {}: {}", steps.join(", "), edge.action)
            }
        })
        .collect();
    let _ = writeln!(
        out,
        "<path class=\"{class}\" marker-end=\"url(#arrow)\" d=\"{d}\"><title>{}</title></path>",
        escaped(&actions.join("\n"))
    );
}

/// Draws a box below the last state that the plan reaches. Returns its right end and the figure's bottom.
fn broken(graph: &StateGraphReport, layout: &Layout, out: &mut String) -> (i64, i64) {
    let Some(plan) = graph.plan.as_ref().filter(|p| !p.failing_step.is_empty()) else {
        return (0, layout.bottom);
    };
    let label = shorten(&plan.failing_step);
    let last = graph.states.iter().position(|s| s.after_steps.contains(&plan.executed));
    let x = last.map_or(MARGIN, |i| layout.places[i].x);
    let (y, width) = (layout.bottom + 2 * GUTTER, text_width(&label) + 2 * PADDING);
    let height = LINE + 2 * PADDING;
    let _ = writeln!(
        out,
        "<g class=\"broken\"><title>{}</title><rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"5\"/>",
        escaped(&plan.failing_step)
    );
    text(out, x + PADDING, y + PADDING + LINE - 4, "del", &label);
    out.push_str("</g>\n");
    (x + width, y + height)
}

/// Writes a graph for Graphviz. Every text is quoted; the bytes depend on the graph alone.
pub fn dot(graph: &StateGraphReport) -> String {
    let mut out = String::from(
        "digraph states {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n",
    );
    let _ = writeln!(out, "  label=\"{}\";", quoted(&captions(graph)));
    for (index, state) in graph.states.iter().enumerate() {
        let texts: Vec<String> = lines(state).into_iter().map(|l| l.text).collect();
        let mut attributes = format!("label=\"{}\"", quoted(&texts));
        if state.distance == 0 {
            attributes.push_str(", color=\"#0072b2\", penwidth=2, group=plan");
        }
        if state.goal {
            attributes.push_str(", peripheries=2, style=filled, fillcolor=\"#e8f5e9\"");
        }
        let _ = writeln!(out, "  s{index} [{attributes}];");
    }
    for edge in &graph.edges {
        let taken = if edge.steps.is_empty() { "" } else { ", color=\"#0072b2\", penwidth=3" };
        let _ = writeln!(
            out,
            "  s{} -> s{} [label=\"{}\"{taken}];",
            edge.from,
            edge.to,
            quoted(std::slice::from_ref(&edge.action))
        );
    }
    if let Some(plan) = graph.plan.as_ref().filter(|p| !p.failing_step.is_empty()) {
        let text = quoted(std::slice::from_ref(&plan.failing_step));
        let _ = writeln!(out, "  broken [label=\"{text}\", color=\"#a02c2c\", style=dashed];");
        let last = graph.states.iter().position(|s| s.after_steps.contains(&plan.executed));
        if let Some(last) = last {
            let _ = writeln!(out, "  s{last} -> broken [style=dashed];");
        }
    }
    out + "}\n"
}

/// Lines of text inside quotes, each to the left.
fn quoted(lines: &[String]) -> String {
    let one = |line: &String| -> String {
        line.chars()
            .flat_map(|c| match c {
                '"' | '\\' => vec!['\\', c],
                c if c.is_control() => vec!['\u{fffd}'],
                c => vec![c],
            })
            .collect()
    };
    match lines {
        [line] => one(line),
        lines => lines.iter().map(|l| one(l) + "\\l").collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_plugin_common::judging::reports::{StateGraphEdge, StateGraphPlan};

    fn state(after: &[u32], distance: u32, from: Option<u32>, added: &[&str]) -> StateGraphState {
        StateGraphState {
            after_steps: after.to_vec(),
            distance,
            from,
            added: added.iter().map(|a| (*a).to_owned()).collect(),
            ..StateGraphState::default()
        }
    }

    fn edge(from: u32, to: u32, action: &str, steps: &[u32]) -> StateGraphEdge {
        StateGraphEdge { from, to, action: action.to_owned(), steps: steps.to_vec() }
    }

    fn graph() -> StateGraphReport {
        let mut states = vec![
            state(&[0, 2], 0, None, &[]),
            state(&[1], 0, Some(0), &["(near \"b\" <&>)"]),
            state(&[], 1, Some(0), &["(lit a)", "(x)"]),
            state(&[], 1, Some(0), &[]),
            state(&[], 2, Some(2), &["(near b)"]),
        ];
        states[2].goal = true;
        states[4].left_out = 3;
        StateGraphReport {
            plan: Some(StateGraphPlan {
                steps: 3,
                executed: 2,
                valid: false,
                failing_step:
                    "step 3 (go <b>\u{1b}[2J \"c\") is not applicable: there is no way from here to there"
                        .into(),
            }),
            states,
            edges: vec![
                edge(0, 1, "(go a b)", &[1]),
                edge(0, 2, "(switch a)", &[]),
                edge(0, 3, "(wait)", &[]),
                edge(0, 0, "(idle)", &[]),
                edge(1, 0, "(go b a)", &[2]),
                edge(2, 4, "(go \\a b)", &[]),
            ],
            distance: 2,
            max_states: 5,
            left_out: 3,
        }
    }

    #[test]
    fn boxes_do_not_overlap_and_the_plan_is_one_column() {
        let graph = graph();
        let layout = place(&graph, 50);
        for (i, a) in layout.places.iter().enumerate() {
            for b in &layout.places[i + 1..] {
                let apart = a.right() < b.x || b.right() < a.x || a.bottom() < b.y || b.bottom() < a.y;
                assert!(apart, "{a:?}\n{b:?}");
            }
            assert!(a.right() < layout.width && a.bottom() <= layout.bottom);
        }
        assert_eq!(layout.places[0].x, layout.places[1].x);
        assert_eq!(layout.places[2].y, layout.places[0].y, "the first neighbour stands beside its state");
    }

    #[test]
    fn the_figure_escapes_every_text_and_names_omissions() {
        let drawn = svg(&graph());
        assert_eq!(drawn, svg(&graph()));
        for part in [
            "(near &quot;b&quot; &lt;&amp;&gt;)",
            "initial state, after step 2",
            "3 more actions, not shown",
            "5 states and 6 actions, cut at 5 states: 3 actions within 2 actions of the plan's states lead to states that are not shown",
            "The plan of 3 steps breaks after 2 steps",
            "step 1: (go a b)",
            "class=\"state goal\"",
            "class=\"broken\"",
        ] {
            assert!(drawn.contains(part), "{part}\n{drawn}");
        }
        assert!(!drawn.contains("<b>") && !drawn.contains('\u{1b}'), "{drawn}");
        let opened = drawn.matches("<g ").count();
        assert_eq!((opened, drawn.matches("</g>").count()), (6, 6));
        assert_eq!(drawn.matches("<path class=").count(), 6);
    }

    /// Every edge to a neighbour turns left of every label of its column.
    #[test]
    fn no_edge_runs_through_a_label() {
        let drawn = svg(&graph());
        let turns = |text: &str| -> Vec<i64> {
            let after = text.split("class=\"edge\"").skip(1).filter_map(|t| t.split_once('H'));
            after.filter_map(|(_, t)| t.split('V').next()?.parse().ok()).collect()
        };
        let labels: Vec<i64> = drawn
            .lines()
            .filter(|l| l.contains("class=\"edge-label\""))
            .filter_map(|l| l.split('"').nth(1)?.parse().ok())
            .collect();
        let turns = turns(&drawn);
        assert_eq!((turns.len(), labels.len()), (3, 3), "{drawn}");
        assert_eq!(turns[0], turns[1], "one turn a column");
        assert!(turns.iter().zip(&labels).all(|(turn, label)| turn < label), "{turns:?} {labels:?}");
    }

    #[test]
    fn the_graphviz_file_quotes_every_text() {
        let written = dot(&graph());
        for part in [
            "label=\"+ (near \\\"b\\\" <&>)",
            "s2 -> s4 [label=\"(go \\\\a b)\"];",
            "s0 -> s1 [label=\"(go a b)\", color=\"#0072b2\", penwidth=3];",
            "s0 -> broken [style=dashed];",
            "peripheries=2",
        ] {
            let found = written.contains(part) || written.contains(&part.replace("label=\"+", "\\l+"));
            assert!(found, "{part}\n{written}");
        }
        assert!(!written.contains('\u{1b}'));
    }

    #[test]
    fn captions_state_the_result_of_the_plan() {
        let mut graph = graph();
        graph.left_out = 0;
        let second = |graph: &StateGraphReport| captions(graph).get(1).cloned().unwrap_or_default();
        graph.plan = Some(StateGraphPlan { steps: 1, executed: 1, valid: true, failing_step: String::new() });
        assert_eq!(second(&graph), "The plan of 1 step is valid");
        graph.plan =
            Some(StateGraphPlan { steps: 0, executed: 0, valid: false, failing_step: String::new() });
        assert_eq!(second(&graph), "The plan of 0 steps is executed and misses the goal");
        graph.plan = None;
        assert_eq!(captions(&graph), ["5 states and 6 actions: all within 2 actions of the initial state"]);
    }
}
