//! A reply as points, each checked on its own.

use planforge_contract::Reply;
use planforge_plugin_common::reading::{
    GapKind, Point, PointChange, Points, apply, has_decisive_quote, has_quote,
};
use planforge_plugin_sdk::loose::{Entry, Kind, Value, salvage};

/// Most points that are read.
const MOST_READ: usize = 12;

/// The text and PDDL that the points are about.
pub(super) struct PointReader<'a> {
    pub(super) text: &'a str,
    pub(super) domain: &'a str,
    pub(super) problem: &'a str,
    /// True if changes of the domain are refused.
    pub(super) fixed: bool,
}

impl PointReader<'_> {
    /// The points of a reply. `None` if it has no list of points.
    pub(super) fn read(&self, reply: &Reply) -> Option<Points> {
        let found = salvage(&reply.content);
        let mut entries: Vec<&[Entry]> = Vec::new();
        let mut has_list = false;
        for (_, value) in &found.values {
            // A part of points that cannot be read is not an empty list of them.
            let is_part = matches!(&value.kind, Kind::List(values) if values.is_empty())
                && reply.content.contains("question");
            has_list |= !is_part && collect(value, &mut entries);
        }
        let mut points = Points::default();
        let mut rivals: Vec<(String, String)> = Vec::new();
        for point in entries.iter().take(MOST_READ) {
            self.add(point, &mut points, &mut rivals);
        }
        if entries.len() > MOST_READ {
            points
                .remarks
                .push(format!("{} points are not read: at most {MOST_READ} are", entries.len() - MOST_READ));
        }
        has_list.then_some(points)
    }

    fn add(&self, entries: &[Entry], points: &mut Points, rivals: &mut Vec<(String, String)>) {
        let text = |key: &str| find(entries, key).and_then(one_text).unwrap_or_default();
        let question = text("question");
        let (here, otherwise) = (text("here"), text("otherwise"));
        let shown = if question.is_empty() { "a point" } else { &question };
        let mut refuse = |why: &str| points.remarks.push(format!("{shown} (not used: {why})"));
        if question.is_empty() || otherwise.is_empty() {
            return refuse("a question or its other answer is missing");
        }
        let change = find(entries, "change").map(read_change).unwrap_or_default();
        if self.fixed && changes_domain(&change) {
            return refuse("it changes the given domain");
        }
        let rival = match apply(self.domain, self.problem, &change) {
            Ok(rival) => rival,
            Err(why) => return refuse(&why),
        };
        // An object of the change may be a constant of the domain.
        if self.fixed && rival.0 != self.domain {
            return refuse("it changes the given domain");
        }
        if rivals.contains(&rival) {
            return refuse("another point makes the same change");
        }
        rivals.push(rival);
        let quote = text("decided_by");
        let decides = has_decisive_quote(self.text, &quote);
        if !decides && !is_none(&quote) {
            points.remarks.push(match has_quote(self.text, &quote) {
                true => format!("{question} (the quote `{quote}` is too short to decide)"),
                false => format!("{question} (the text does not have the quote `{quote}`)"),
            });
        }
        points.points.push(Point {
            kind: GapKind::from_name(&text("kind")),
            question,
            here,
            otherwise,
            decided_by: decides.then_some(quote),
            steps: texts(find(entries, "steps")),
            change,
        });
    }
}

/// Adds the points of a value. Returns true if it is a list of points, which may be empty.
fn collect<'v>(value: &'v Value, points: &mut Vec<&'v [Entry]>) -> bool {
    match &value.kind {
        Kind::Object(entries) => match find(entries, "points").map(|value| &value.kind) {
            Some(Kind::List(values)) => collect_list(values, points),
            Some(Kind::Object(_)) => find(entries, "points").is_some_and(|value| collect(value, points)),
            _ if find(entries, "question").is_some() => {
                points.push(entries);
                true
            }
            _ => false,
        },
        Kind::List(values) => {
            let is_point =
                |value: &Value| matches!(&value.kind, Kind::Object(e) if find(e, "question").is_some());
            (values.is_empty() || values.iter().any(is_point)) && collect_list(values, points)
        }
        _ => false,
    }
}

/// Adds the points of a list. Returns true if it has one or is empty.
fn collect_list<'v>(values: &'v [Value], points: &mut Vec<&'v [Entry]>) -> bool {
    let before = points.len();
    for value in values {
        match &value.kind {
            // Without a question it is a point all the same, which is remarked.
            Kind::Object(entries) => points.push(entries),
            _ => {
                collect(value, points);
            }
        }
    }
    values.is_empty() || points.len() > before
}

fn find<'v>(entries: &'v [Entry], key: &str) -> Option<&'v Value> {
    let plain = |key: &str| key.trim().to_lowercase().replace(['-', ' '], "_");
    entries.iter().find(|entry| plain(&entry.key) == key).map(|entry| &entry.value)
}

/// A text on one line.
fn one_text(value: &Value) -> Option<String> {
    match &value.kind {
        Kind::Text(text) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// The texts of a list, or a single one. Empty ones are left out.
fn texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| match &value.kind {
        Kind::Text(text) if !is_none(text) => Some(text.trim().to_owned()),
        _ => None,
    };
    match value.map(|value| (&value.kind, value)) {
        Some((Kind::List(values), _)) => values.iter().filter_map(text).collect(),
        Some((_, value)) => text(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// True for an empty text and for a word that stands for one.
fn is_none(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "" | "none" | "null" | "-" | "n/a")
}

fn read_change(value: &Value) -> PointChange {
    let Kind::Object(entries) = &value.kind else { return PointChange::default() };
    let list = |key: &str| texts(find(entries, key));
    let goal = list("goal");
    PointChange {
        types: list("types"),
        predicates: list("predicates"),
        actions: list("actions"),
        remove_actions: list("remove_actions"),
        objects: list("objects"),
        remove_objects: list("remove_objects"),
        add: list("add"),
        remove: list("remove"),
        goal: match goal.as_slice() {
            [] => None,
            [goal] => Some(goal.clone()),
            // A line each, as a comment ends with its line.
            several => Some(format!("(and {}\n)", several.join("\n"))),
        },
    }
}

fn changes_domain(change: &PointChange) -> bool {
    let lists = [&change.types, &change.predicates, &change.actions, &change.remove_actions];
    lists.iter().any(|list| !list.is_empty())
}
