//! The figure as SVG.

use super::layout::{BoxPlace, GUTTER, LINE, Layout, MARGIN, PADDING, label_into, place, text_width};
use super::{LineKind, captions};
use crate::chart::escaped;
use planforge_plugin_common::judging::reports::{StateGraphEdge, StateGraphReport};
use std::collections::BTreeMap;
use std::fmt::Write as _;

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
    let label = super::shorten(&plan.failing_step);
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
