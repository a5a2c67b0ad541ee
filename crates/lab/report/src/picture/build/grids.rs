//! Grids of places with colours and heights.

use super::super::coordinates::place;
use super::super::node::{Cell, Fill, FillPaint, Mark, Node, Part};
use super::super::scene::{ShownFact, argument};
use super::{Build, NAMED};
use planforge_pipeline::{Colour, GridSpec, Height};
use planforge_planning::task::ObjectId;
use std::collections::HashMap;

impl Build<'_, '_, '_> {
    pub(super) fn grid(&mut self, grid: &GridSpec, parts: &mut Vec<Part>) {
        let painter = self.painter;
        let placed = place(painter, self.scene, grid);
        let mut fills = self.fills(grid);
        let mut heights = self.heights(grid);
        let mut cells = Vec::new();
        let mut more = 0;
        for (id, row, column) in placed.cells {
            if self.left == 0 {
                more += 1;
                continue;
            }
            let mut cell = Cell { row, column, thing: self.thing(id, true), ..Cell::default() };
            for (shown, fill) in fills.remove(&id).unwrap_or_default() {
                self.scene.show(shown);
                match &cell.fill {
                    None => cell.fill = Some(fill),
                    Some(_) => cell
                        .thing
                        .marks
                        .push(Mark { text: format!("also {}", fill.name), colour: Some(Colour::Red) }),
                }
            }
            for (shown, number, words) in heights.remove(&id).unwrap_or_default() {
                self.scene.show(shown);
                match &cell.height {
                    None => cell.height = Some((number, words)),
                    Some(_) => cell
                        .thing
                        .marks
                        .push(Mark { text: format!("also {words}"), colour: Some(Colour::Red) }),
                }
            }
            cells.push(cell);
        }
        self.left_out += more;
        parts.push(Part::Grid { rows: placed.rows, columns: placed.columns, cells });
        if more > 0 {
            parts.push(Part::Row { title: None, nodes: vec![Node::More(more)], table: false });
        }
        if !placed.elsewhere.is_empty() {
            let nodes = self.places(&placed.elsewhere);
            let title = Some("cells without a place in the grid:".to_owned());
            parts.push(Part::Row { title, nodes, table: false });
        }
    }

    /// Places one by one, as many as there is room for.
    pub(super) fn places(&mut self, ids: &[ObjectId]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for id in ids {
            if self.left == 0 {
                break;
            }
            nodes.push(Node::Thing(self.thing(*id, true)));
        }
        let more = ids.len() - nodes.len();
        if more > 0 {
            self.left_out += more;
            nodes.push(Node::More(more));
        }
        nodes
    }

    pub(super) fn fills(&self, grid: &GridSpec) -> HashMap<ObjectId, Vec<(ShownFact, Fill)>> {
        let mut fills: HashMap<ObjectId, Vec<(ShownFact, Fill)>> = HashMap::new();
        for pattern in &grid.fill {
            for (shown, args) in self.scene.facts(pattern) {
                let pair = (argument(pattern, "cell", args), argument(pattern, "colour", args));
                if let (Some(cell), Some(colour)) = pair {
                    fills.entry(cell).or_default().push((shown, self.fill(colour)));
                }
            }
        }
        fills
    }

    /// The colour that an object is called, else one of the palette by its place among the objects of its type.
    pub(super) fn fill(&self, id: ObjectId) -> Fill {
        let Some(object) = self.painter.object(id) else {
            return Fill { name: String::new(), paint: FillPaint::Palette(Colour::Grey) };
        };
        let named = NAMED.iter().find(|(name, ..)| *name == object.key);
        let paint = match named {
            Some((_, red, green, blue)) => FillPaint::Named(*red, *green, *blue),
            None => FillPaint::Palette(Colour::ALL[object.of_its_type % Colour::ALL.len()].1),
        };
        Fill { name: object.name.clone(), paint }
    }

    pub(super) fn heights(
        &self,
        grid: &GridSpec,
    ) -> HashMap<ObjectId, Vec<(ShownFact, Option<f64>, String)>> {
        let mut heights: HashMap<ObjectId, Vec<(ShownFact, Option<f64>, String)>> = HashMap::new();
        match &grid.height {
            Some(Height::Fact(pattern)) => {
                for (shown, args) in self.scene.facts(pattern) {
                    let pair = (argument(pattern, "cell", args), argument(pattern, "n", args));
                    let (Some(cell), Some(level)) = pair else { continue };
                    let name = self.name(level);
                    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
                    let number = name.get(digits..).and_then(|digits| digits.parse::<u32>().ok());
                    let words = number.map_or(name, |number| number.to_string());
                    heights.entry(cell).or_default().push((shown, number.map(f64::from), words));
                }
            }
            Some(Height::Number(pattern)) => {
                for (shown, args, value) in self.scene.values(pattern) {
                    let Some(cell) = argument(pattern, "cell", args) else { continue };
                    let number = value.is_finite().then_some(value);
                    heights.entry(cell).or_default().push((shown, number, value.to_string()));
                }
            }
            None => {}
        }
        heights
    }
}
