//! From the facts of a state to the things of a picture.

use super::coordinates::{Scene, ShownFact, argument, argument_or_first};
use super::shape::{Mark, Node, Part, Sheet, Thing};
use super::{MAX_THINGS, Painter};
use crate::picture::coordinates::place;
use crate::picture::shape::{Cell, Fill, FillPaint};
use planforge_pipeline::{Colour, GridSpec, GroupSpec, Height, MarkSpec, Pattern};
use planforge_planning::task::ObjectId;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The greatest depth of things inside each other: a robot with a tray with a cup in a room is four.
const DEEPEST: usize = 12;
/// The most words on one thing.
const MOST_MARKS: usize = 24;
/// The most words on all things together.
const MAX_MARKS: usize = 1_500;
/// The most words below a picture.
const MOST_WORDS: usize = 60;

/// A thing in or on another thing, and the facts that place it.
type HeldThing = (ObjectId, Vec<ShownFact>);

/// Draws a state as a sheet of parts.
pub(super) fn sheet(painter: &Painter, scene: &mut Scene<'_>) -> Sheet {
    let mut build = Build {
        inside: BTreeMap::new(),
        above: HashMap::new(),
        marks: HashMap::new(),
        words: Vec::new(),
        drawn: HashMap::new(),
        path: Vec::new(),
        depth: 0,
        left: MAX_THINGS,
        marks_left: MAX_MARKS,
        left_out: 0,
        painter,
        scene,
    };
    build.relations();
    let mut parts = Vec::new();
    build.draw_held(&mut parts);
    build.piles(&mut parts);
    for grid in &painter.template.grids {
        build.grid(grid, &mut parts);
    }
    build.groups(&mut parts);
    build.others(&mut parts);
    build.words(&mut parts);
    let twice: HashSet<ObjectId> =
        build.drawn.iter().filter(|(_, count)| **count > 1).map(|(id, _)| *id).collect();
    let left_out = build.left_out;
    for part in &mut parts {
        tell_twice(part, &twice);
    }
    Sheet { parts, left_out }
}

struct Build<'p, 's, 'a> {
    painter: &'p Painter,
    scene: &'s mut Scene<'a>,
    /// Cell or place -> what is in it.
    inside: BTreeMap<ObjectId, Vec<HeldThing>>,
    /// Things on a thing.
    above: HashMap<ObjectId, Vec<HeldThing>>,
    marks: HashMap<ObjectId, Vec<(ShownFact, Mark)>>,
    words: Vec<(ShownFact, Mark)>,
    /// Number of drawings of each object.
    drawn: HashMap<ObjectId, usize>,
    /// The things that the one under way is in or on.
    path: Vec<ObjectId>,
    /// Number of containers around it.
    depth: usize,
    left: usize,
    marks_left: usize,
    left_out: usize,
}

impl Build<'_, '_, '_> {
    /// Finds the things inside and on other things, and their marks.
    fn relations(&mut self) {
        let painter = self.painter;
        let mut known: HashSet<(ObjectId, usize)> = HashSet::new();
        let grids = painter.template.grids.iter().map(|g| (&g.cells, &g.at, "cell"));
        let groups = painter.template.groups.iter().filter(|g| g.title.is_none());
        for (types, patterns, variable) in grids.chain(groups.map(|g| (&g.places, &g.inside, "place"))) {
            for pattern in patterns {
                for (shown, args) in self.scene.facts(pattern) {
                    let pair = (argument(pattern, "what", args), argument(pattern, variable, args));
                    let ((Some(what), Some(place)), ShownFact::Atom(at)) = (pair, shown) else { continue };
                    // One fact may be named by two entries.
                    if painter.is_of(place, types) && known.insert((place, at)) {
                        self.inside.entry(place).or_default().push((what, vec![shown]));
                    }
                }
            }
        }
        for pattern in painter.template.stacks.iter().flat_map(|stack| &stack.on) {
            for (shown, args) in self.scene.facts(pattern) {
                let pair = (argument(pattern, "above", args), argument(pattern, "below", args));
                if let (Some(above), Some(below)) = pair {
                    self.above.entry(below).or_default().push((above, vec![shown]));
                }
            }
        }
        for held in self.inside.values_mut().chain(self.above.values_mut()) {
            held.sort_by_key(|(id, _)| painter.object(*id).map_or(usize::MAX, |object| object.rank));
        }
        for mark in &painter.template.marks {
            self.mark(mark);
        }
    }

    fn mark(&mut self, spec: &MarkSpec) {
        let facts: Vec<(ShownFact, &[ObjectId], Option<f64>)> = match spec.numeric {
            true => {
                let values = self.scene.values(&spec.fact).into_iter();
                values.map(|(shown, args, value)| (shown, args, Some(value))).collect()
            }
            false => {
                self.scene.facts(&spec.fact).into_iter().map(|(shown, args)| (shown, args, None)).collect()
            }
        };
        for (shown, args, value) in facts {
            let mark = Mark { text: self.words_of(spec, args, value), colour: spec.colour };
            match argument(&spec.fact, "of", args) {
                Some(of) => self.marks.entry(of).or_default().push((shown, mark)),
                None => self.words.push((shown, mark)),
            }
        }
    }

    /// The words of a mark with names and values filled in.
    fn words_of(&self, spec: &MarkSpec, args: &[ObjectId], value: Option<f64>) -> String {
        let mut out = String::new();
        let mut rest = spec.text.as_str();
        while let Some(open) = rest.find('{') {
            let (before, slot) = rest.split_at(open);
            out.push_str(before);
            let Some(close) = slot.find('}') else {
                out.push_str(slot);
                return out;
            };
            let name = &slot[1..close];
            match (argument(&spec.fact, name, args), value) {
                (Some(id), _) => out.push_str(&self.name(id)),
                (None, Some(value)) => out.push_str(&value.to_string()),
                (None, None) => {}
            }
            rest = &slot[close + 1..];
        }
        out + rest
    }

    fn name(&self, id: ObjectId) -> String {
        self.painter.object(id).map(|object| object.name.clone()).unwrap_or_default()
    }

    /// A thing with its words and what is in it. The caller has made sure that there is room.
    fn thing(&mut self, id: ObjectId, place: bool) -> Thing {
        self.left = self.left.saturating_sub(1);
        *self.drawn.entry(id).or_default() += 1;
        let (glyph, colour) = self.painter.look(id);
        let name = self.name(id);
        let label = glyph.map_or(name.clone(), |glyph| format!("{glyph} {name}"));
        let mut thing = Thing {
            label,
            colour,
            place: place || self.inside.contains_key(&id),
            object: Some(id),
            ..Thing::default()
        };
        let marks = self.marks.get(&id).cloned().unwrap_or_default();
        let most = MOST_MARKS.min(self.marks_left);
        let more = marks.len().saturating_sub(most);
        self.marks_left -= marks.len() - more;
        for (shown, mark) in marks.into_iter().take(most) {
            self.scene.show(shown);
            thing.marks.push(mark);
        }
        if more > 0 {
            thing.marks.push(Mark { text: format!("and {more} more"), colour: None });
        }
        let inside = self.inside.get(&id).cloned().unwrap_or_default();
        if self.depth < DEEPEST {
            self.path.push(id);
            self.depth += 1;
            thing.inside = self.all(inside);
            self.depth -= 1;
            self.path.pop();
        }
        thing
    }

    /// Nodes for things that some facts put here, as many as there is room for.
    fn all(&mut self, held: Vec<HeldThing>) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut more = 0;
        for (id, shown) in held {
            // A thing inside itself is described in words.
            if self.path.contains(&id) {
                continue;
            }
            if self.left == 0 {
                more += 1;
                continue;
            }
            shown.into_iter().for_each(|fact| self.scene.show(fact));
            nodes.push(self.node(id));
        }
        self.left_out += more;
        if more > 0 {
            nodes.push(Node::More(more));
        }
        nodes
    }

    /// A thing with the things on it.
    fn node(&mut self, id: ObjectId) -> Node {
        let thing = self.thing(id, false);
        let above = self.above.get(&id).cloned().unwrap_or_default();
        if above.is_empty() {
            return Node::Thing(thing);
        }
        self.path.push(id);
        let tops = self.all(above);
        self.path.pop();
        Node::Pile(thing, tops)
    }

    /// The objects of facts about one thing, each once, in order, with its facts.
    fn of_one(&self, patterns: &[Pattern]) -> Vec<HeldThing> {
        let mut found: Vec<HeldThing> = Vec::new();
        for pattern in patterns {
            for (shown, args) in self.scene.facts(pattern) {
                let Some(id) = argument_or_first(pattern, args) else { continue };
                match found.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, facts)) => facts.push(shown),
                    None => found.push((id, vec![shown])),
                }
            }
        }
        found.sort_by_key(|(id, _)| self.painter.object(*id).map_or(usize::MAX, |object| object.rank));
        found
    }

    /// Draws held things, and places that are not objects.
    fn draw_held(&mut self, parts: &mut Vec<Part>) {
        let painter = self.painter;
        for stack in painter.template.stacks.iter().filter(|stack| !stack.held.is_empty()) {
            let held = self.of_one(&stack.held);
            let nodes = self.all(held);
            let title = Some(if nodes.is_empty() { "held: nothing" } else { "held:" }.to_owned());
            parts.push(Part::Row { title, nodes, table: false });
        }
        for group in painter.template.groups.iter() {
            let Some(title) = &group.title else { continue };
            let held = self.of_one(&group.inside);
            let inside = self.all(held);
            let thing = Thing { label: title.clone(), place: true, inside, ..Thing::default() };
            parts.push(Part::Row { title: None, nodes: vec![Node::Thing(thing)], table: false });
        }
    }

    fn contained_things(&self) -> HashSet<ObjectId> {
        self.inside.values().flatten().map(|(id, _)| *id).collect()
    }

    fn piles(&mut self, parts: &mut Vec<Part>) {
        let painter = self.painter;
        if painter.template.stacks.is_empty() {
            return;
        }
        let contained = self.contained_things();
        let bottoms: Vec<Pattern> = painter.template.stacks.iter().flat_map(|s| s.bottom.clone()).collect();
        let bottoms = self.of_one(&bottoms);
        let on: HashSet<ObjectId> = self.above.values().flatten().map(|(id, _)| *id).collect();
        let mut below: Vec<ObjectId> = self.above.keys().copied().collect();
        below.retain(|id| {
            !on.contains(id)
                && !contained.contains(id)
                && !self.drawn.contains_key(id)
                && !bottoms.iter().any(|b| b.0 == *id)
        });
        painter.in_order(&mut below);
        let mut nodes = self.all(bottoms.into_iter().filter(|(id, _)| !contained.contains(id)).collect());
        for id in below {
            if self.left > 0 {
                nodes.push(self.node(id));
            } else {
                self.left_out += 1;
            }
        }
        parts.push(Part::Row { title: None, nodes, table: true });
    }

    /// Places that are in no other place and nowhere else in the picture.
    fn groups(&mut self, parts: &mut Vec<Part>) {
        let painter = self.painter;
        let groups = || painter.template.groups.iter().filter(|group: &&GroupSpec| group.title.is_none());
        let contained = self.contained_things();
        for group in groups() {
            let mut places = painter.objects_of(&group.places);
            places.retain(|id| !contained.contains(id) && !self.drawn.contains_key(id));
            if !places.is_empty() {
                let nodes = self.places(&places);
                parts.push(Part::Row { title: None, nodes, table: false });
            }
        }
    }

    /// Things with words on them that are nowhere in the picture.
    fn others(&mut self, parts: &mut Vec<Part>) {
        let mut ids: Vec<ObjectId> =
            self.marks.keys().filter(|id| !self.drawn.contains_key(id)).copied().collect();
        if ids.is_empty() {
            return;
        }
        self.painter.in_order(&mut ids);
        let mut nodes = Vec::new();
        let mut more = 0;
        for id in ids {
            if self.left == 0 {
                more += 1;
            } else {
                nodes.push(Node::Thing(self.thing(id, false)));
            }
        }
        self.left_out += more;
        if more > 0 {
            nodes.push(Node::More(more));
        }
        parts.push(Part::Row { title: None, nodes, table: false });
    }

    fn words(&mut self, parts: &mut Vec<Part>) {
        let words = std::mem::take(&mut self.words);
        let more = words.len().saturating_sub(MOST_WORDS);
        let mut shown: Vec<Mark> = Vec::new();
        for (fact, mark) in words.into_iter().take(MOST_WORDS) {
            self.scene.show(fact);
            shown.push(mark);
        }
        if more > 0 {
            shown.push(Mark { text: format!("and {more} more"), colour: None });
        }
        if !shown.is_empty() {
            parts.push(Part::Words(shown));
        }
    }
}

/// Marks things that a state of a wrong model has in two places.
fn tell_twice(part: &mut Part, twice: &HashSet<ObjectId>) {
    if twice.is_empty() {
        return;
    }
    match part {
        Part::Row { nodes, .. } => nodes.iter_mut().for_each(|node| tell_node(node, twice)),
        Part::Grid { cells, .. } => cells.iter_mut().for_each(|cell| tell_thing(&mut cell.thing, twice)),
        Part::Words(_) => {}
    }
}

fn tell_node(node: &mut Node, twice: &HashSet<ObjectId>) {
    match node {
        Node::Thing(thing) => tell_thing(thing, twice),
        Node::Pile(thing, tops) => {
            tell_thing(thing, twice);
            tops.iter_mut().for_each(|top| tell_node(top, twice));
        }
        Node::More(_) => {}
    }
}

fn tell_thing(thing: &mut Thing, twice: &HashSet<ObjectId>) {
    if thing.object.is_some_and(|id| twice.contains(&id)) {
        thing.marks.push(Mark { text: "also elsewhere".to_owned(), colour: Some(Colour::Red) });
    }
    thing.inside.iter_mut().for_each(|node| tell_node(node, twice));
}

/// Colours that objects are called.
const NAMED: [(&str, u8, u8, u8); 14] = [
    ("black", 0x22, 0x22, 0x22),
    ("white", 0xff, 0xff, 0xff),
    ("red", 0xd6, 0x27, 0x28),
    ("green", 0x2c, 0xa0, 0x2c),
    ("blue", 0x1f, 0x5f, 0xbf),
    ("yellow", 0xf0, 0xd0, 0x20),
    ("orange", 0xf0, 0x8c, 0x1e),
    ("purple", 0x80, 0x40, 0xa0),
    ("pink", 0xf0, 0x9a, 0xb8),
    ("brown", 0x8c, 0x56, 0x4b),
    ("grey", 0x8a, 0x8a, 0x8a),
    ("gray", 0x8a, 0x8a, 0x8a),
    ("cyan", 0x30, 0xc0, 0xd0),
    ("gold", 0xd4, 0xaf, 0x37),
];

impl Build<'_, '_, '_> {
    fn grid(&mut self, grid: &GridSpec, parts: &mut Vec<Part>) {
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
    fn places(&mut self, ids: &[ObjectId]) -> Vec<Node> {
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

    fn fills(&self, grid: &GridSpec) -> HashMap<ObjectId, Vec<(ShownFact, Fill)>> {
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
    fn fill(&self, id: ObjectId) -> Fill {
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

    fn heights(&self, grid: &GridSpec) -> HashMap<ObjectId, Vec<(ShownFact, Option<f64>, String)>> {
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
