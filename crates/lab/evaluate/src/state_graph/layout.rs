//! Positions of boxes and labels, in pixels.

use super::{Line, lines};
use planforge_plugin_common::judging::reports::StateGraphReport;

/// Height of a line of text.
pub(super) const LINE: i64 = 16;
/// Space inside a box.
pub(super) const PADDING: i64 = 8;
/// Space between boxes one above the other.
const GAP: i64 = 14;
/// Space between states of the plan: an arrow and its label.
const STEP_GAP: i64 = 46;
/// Space between a box and the edges beside it.
pub(super) const GUTTER: i64 = 24;
pub(super) const MARGIN: i64 = 24;

/// A state's box.
#[derive(Debug, Clone)]
pub(super) struct BoxPlace {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) lines: Vec<Line>,
}

impl BoxPlace {
    pub(super) fn right(&self) -> i64 {
        self.x + self.width
    }
    pub(super) fn bottom(&self) -> i64 {
        self.y + self.height
    }
    pub(super) fn middle(&self) -> i64 {
        self.y + self.height / 2
    }
    pub(super) fn centre(&self) -> i64 {
        self.x + self.width / 2
    }
}

/// Everything placed.
pub(super) struct Layout {
    pub(super) places: Vec<BoxPlace>,
    pub(super) width: i64,
    /// Below the last box.
    pub(super) bottom: i64,
}

/// The width of a text: the font has one width for all characters, 7.2 pixels, and some room.
pub(super) fn text_width(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(0) * 15 / 2
}

/// The label of the tree edge into a state: the action that it was found by.
pub(super) fn label_into(graph: &StateGraphReport, state: usize) -> Option<String> {
    let from = graph.states[state].from?;
    let edge = graph.edges.iter().find(|e| e.from == from && e.to as usize == state)?;
    Some(super::shorten(&edge.action))
}

/// Places the states below a caption that ends at `top`.
pub(super) fn place(graph: &StateGraphReport, top: i64) -> Layout {
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
