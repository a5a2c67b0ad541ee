//! The graph in the language of Graphviz.

use super::{captions, lines};
use planforge_plugin_common::judging::reports::StateGraphReport;
use std::fmt::Write as _;

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
