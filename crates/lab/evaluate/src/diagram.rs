//! A graph of named nodes as SVG, in rows: an arrow goes from a row to one above it, except where arrows form a circle. The same graph gives
//! the same bytes.

use crate::chart::escaped;
use std::fmt::Write as _;

/// Most nodes that are drawn.
const MOST_NODES: usize = 150;
/// Most arrows that are drawn.
const MOST_EDGES: usize = 1500;
/// Most nodes of a row.
const MOST_IN_ROW: usize = 10;
/// Most characters of a name.
const MOST_CHARACTERS: usize = 22;
const BOX: (usize, usize) = (168, 30);
const GAP: (usize, usize) = (18, 56);

const STYLE: &str = "text{font:13px sans-serif;fill:#1a1a1a}rect{fill:#fff;stroke:#555}path{fill:none;stroke:#777}\
                     .head{fill:#777;stroke:none}";

/// A graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagram {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Arrows: place of the first node, place of the second one, and a remark.
    pub edges: Vec<(usize, usize, String)>,
}

/// Draws a graph.
pub fn svg(diagram: &Diagram) -> String {
    let count = diagram.nodes.len().min(MOST_NODES);
    let edges: Vec<&(usize, usize, String)> =
        diagram.edges.iter().filter(|(from, to, _)| *from < count && *to < count).take(MOST_EDGES).collect();
    let rows = split(arrange(count, &edges));
    let width = rows.iter().map(Vec::len).max().unwrap_or(1).max(1) * (BOX.0 + GAP.0) + GAP.0;
    let caption = if diagram.nodes.len() > count || diagram.edges.len() > edges.len() { 24 } else { 0 };
    let height = rows.len().max(1) * (BOX.1 + GAP.1) + caption;
    let mut place = vec![(0, 0); count];
    for (number, row) in rows.iter().enumerate() {
        let start = (width - row.len() * (BOX.0 + GAP.0) + GAP.0) / 2;
        for (at, node) in row.iter().enumerate() {
            place[*node] = (start + at * (BOX.0 + GAP.0), GAP.1 / 2 + number * (BOX.1 + GAP.1));
        }
    }
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\
         <style>{STYLE}</style><defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path class=\"head\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n"
    );
    // Writing to a text cannot fail.
    for (from, to, remark) in &edges {
        let ((x1, y1), (x2, y2)) = (place[*from], place[*to]);
        let (middle1, middle2) = (x1 + BOX.0 / 2, x2 + BOX.0 / 2);
        let (start, end) =
            if y1 > y2 { (y1, y2 + BOX.1) } else { (y1 + BOX.1, if y1 == y2 { y2 + BOX.1 } else { y2 }) };
        // Within a row, the arrow goes below it.
        let bend = if y1 == y2 { start + GAP.1 / 2 } else { (start + end) / 2 };
        let _ = writeln!(
            out,
            "<path d=\"M{middle1} {start}C{middle1} {bend} {middle2} {bend} {middle2} {end}\" marker-end=\"url(#head)\"><title>{}</title></path>",
            escaped(remark)
        );
    }
    for (name, (x, y)) in diagram.nodes.iter().zip(&place) {
        let shown: String = match name.char_indices().nth(MOST_CHARACTERS) {
            None => name.clone(),
            Some((at, _)) => format!("{}\u{2026}", &name[..at]),
        };
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\"><title>{}</title>{}</text>",
            BOX.0,
            BOX.1,
            x + BOX.0 / 2,
            y + 20,
            escaped(name),
            escaped(&shown)
        );
    }
    if caption > 0 {
        let (nodes, arrows) = (diagram.nodes.len() - count, diagram.edges.len() - edges.len());
        let _ = writeln!(
            out,
            "<text x=\"8\" y=\"{}\">{nodes} names and {arrows} arrows are not drawn</text>",
            height - 8
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The row of each node, from the top: one below the lowest of those that its arrows lead to. An arrow that closes a circle does not count.
fn arrange(count: usize, edges: &[&(usize, usize, String)]) -> Vec<Vec<usize>> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    edges.iter().filter(|(from, to, _)| from != to).for_each(|(from, to, _)| next[*from].push(*to));
    let mut row: Vec<Option<usize>> = vec![None; count];
    let mut open = vec![false; count];
    for root in 0..count {
        // A stack of its own: a chain of types may be long.
        let mut stack = vec![(root, 0)];
        while let Some((node, at)) = stack.pop() {
            if at == 0 {
                if row[node].is_some() || open[node] {
                    continue;
                }
                open[node] = true;
            }
            match next[node].get(at) {
                Some(&to) => {
                    stack.push((node, at + 1));
                    if row[to].is_none() && !open[to] {
                        stack.push((to, 0));
                    }
                }
                None => {
                    row[node] = Some(
                        next[node].iter().filter_map(|to| row[*to]).map(|row| row + 1).max().unwrap_or(0),
                    );
                    open[node] = false;
                }
            }
        }
    }
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (node, row) in row.into_iter().enumerate() {
        let row = row.unwrap_or(0);
        rows.resize_with(rows.len().max(row + 1), Vec::new);
        rows[row].push(node);
    }
    rows
}

/// Cuts rows that are too wide.
fn split(rows: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    rows.iter().flat_map(|row| row.chunks(MOST_IN_ROW)).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_lead_upwards_and_circles_end() {
        let edge = |from, to| (from, to, String::new());
        let edges = [edge(1, 0), edge(2, 1), edge(3, 3), edge(0, 2)];
        let edges: Vec<&(usize, usize, String)> = edges.iter().collect();
        assert_eq!(arrange(4, &edges[..2]), [vec![0, 3], vec![1], vec![2]]);
        assert_eq!(arrange(4, &edges).iter().flatten().count(), 4);
    }

    #[test]
    fn names_are_escaped_and_a_large_graph_is_cut() {
        let nodes: Vec<String> = (0..MOST_NODES + 1).map(|number| format!("<n{number}>")).collect();
        let drawn = svg(&Diagram { nodes, edges: vec![(1, 0, "a & b".to_owned())] });
        assert!(
            drawn.contains("&lt;n0&gt;") && !drawn.contains("<n0>") && drawn.contains("a &amp; b"),
            "{drawn}"
        );
        assert!(drawn.contains("1 names and 0 arrows are not drawn"), "{drawn}");
        assert!(svg(&Diagram::default()).starts_with("<svg"));
    }
}
