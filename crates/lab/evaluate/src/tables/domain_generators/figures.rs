//! The domain-generators paper's Fig. 2 to 5 as SVG, with their values as CSV and JSON; and classes over
//! rounds of re-prompting, which the paper leaves to future work.

use super::{ClassColumn, ClassRow, Classes};
use crate::chart::{
    ColumnPanel, Columns, Paint, Part, Point, Points, Stacked, StackedRow, columns_svg, points_svg,
    stacked_svg,
};
use crate::results::{Counts, Group, Reading, ReplyClass, of_group};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use crate::tables::marked_name;
use planforge_contract::Failure;
use planforge_planning::result_class::ResultClass;
use serde::Serialize;
use std::collections::BTreeMap;

/// Errors from here on share the last column of Fig. 5.
const LAST_COLUMN: u64 = 20;

/// The primary classes with their colours, from left to right.
const PRIMARY: [(Group, Paint); 7] = [
    (Group::Syntax, Paint::Vermilion),
    (Group::Semantic, Paint::Orange),
    (Group::Different, Paint::Blue),
    (Group::Equivalent, Paint::Green),
    (Group::Fits, Paint::Sky),
    (Group::Undecided, Paint::Grey),
    (Group::Failed, Paint::Hatched),
];

/// The subclasses of different domain.
const DIFFERENT: [(ReplyClass, &str, Paint); 3] = [
    (ReplyClass::Class(ResultClass::NoPlan), "NoPlan: no plan found", Paint::Blue),
    (ReplyClass::Class(ResultClass::NPApp), "NPApp: a new plan fails in the original", Paint::Sky),
    (ReplyClass::Class(ResultClass::OPApp), "OPApp: an original plan fails in the new domain", Paint::Purple),
];

/// Files, and why a figure is missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassFigures {
    /// Files to write.
    pub files: Vec<Artefact>,
    /// Sentences for the user.
    pub notes: Vec<String>,
}

/// The document `figures.json`.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    reading: Reading,
    /// Fig. 2 (both halves), 3 and 4 are made of these lines.
    columns: Vec<ColumnFigures<'a>>,
}

#[derive(Serialize)]
struct ColumnFigures<'a> {
    name: String,
    model: &'a str,
    method: &'a str,
    description: Option<&'a str>,
    simulated: bool,
    size: Option<f64>,
    replies: u64,
    rows: &'a [ClassRow],
    rounds: &'a [Vec<ClassRow>],
    /// Fig. 5: by primary class, replies by error.
    errors: BTreeMap<Group, BTreeMap<u64, u64>>,
}

/// Draws all figures of a table.
///
/// # Errors
/// `study.plot`: a document has no JSON form.
pub fn class_figures(table: &Classes) -> Result<ClassFigures, Failure> {
    let mut out = ClassFigures::default();
    let columns: Vec<&ClassColumn> = table.columns.iter().filter(|column| column.replies > 0).collect();
    if columns.is_empty() {
        out.notes.push("no reply was classified, so there are no figures".to_owned());
        return Ok(out);
    }
    out.files.push(Artefact::new("fig2_classes.svg", stacked_svg(&by_class(table, &columns))));
    out.files.push(Artefact::new("fig2_different.svg", stacked_svg(&by_difference(table, &columns))));
    match by_size(&columns) {
        figures if !figures.is_empty() => {
            out.files.extend(figures.iter().map(|(name, figure)| Artefact::new(name, points_svg(figure))));
        }
        _ => out.notes.push(
            "no figure over model size: no model's name says it (such as 7b); state it with --model-size NAME=BILLIONS".to_owned(),
        ),
    }
    out.files.push(Artefact::new("fig4_descriptions.svg", stacked_svg(&by_description(&columns))));
    out.files.push(Artefact::new("fig5_are.svg", columns_svg(&by_error(table, &columns))));
    if columns.iter().any(|column| !column.rounds.is_empty()) {
        out.files.push(Artefact::new("rounds.svg", stacked_svg(&by_round(table, &columns))));
    }
    out.files.push(Artefact::new("figures.csv", table.csv()));
    out.files.push(Artefact::new("fig5_are.csv", errors_csv(&columns)));
    let document = Document {
        schema: 1,
        reading: table.reading,
        columns: columns.iter().map(|column| ColumnFigures::of(table, column)).collect(),
    };
    out.files.push(Artefact::json("figures.json", &document)?);
    Ok(out)
}

/// The primary classes that some of these counts have; the paper's four always.
fn kinds<'c>(all: impl Iterator<Item = &'c ClassRow> + Clone) -> Vec<(Group, Paint)> {
    let any = |group| all.clone().any(|row| row.group == group && row.count > 0);
    let paper = [Group::Syntax, Group::Semantic, Group::Different, Group::Equivalent];
    PRIMARY.into_iter().filter(|(group, _)| paper.contains(group) || any(*group)).collect()
}

fn legend(kinds: &[(Group, Paint)]) -> Vec<(&'static str, Paint)> {
    kinds.iter().map(|(group, paint)| (group.name(), *paint)).collect()
}

/// A bar of primary classes.
fn bar(name: String, heading: Option<String>, rows: &[ClassRow], kinds: &[(Group, Paint)]) -> StackedRow {
    let sums = || rows.iter().filter(|row| row.sum);
    let part = |(kind, (group, _)): (usize, &(Group, Paint))| {
        let row = sums().find(|row| row.group == *group)?;
        Some(Part { kind, value: row.percent, count: row.count })
    };
    let parts = kinds.iter().enumerate().filter_map(part).collect();
    StackedRow { name, heading, of: sums().map(|row| row.count).sum(), parts }
}

/// Fig. 2, top.
fn by_class(table: &Classes, columns: &[&ClassColumn]) -> Stacked {
    let kinds = kinds(columns.iter().flat_map(|column| &column.rows));
    Stacked {
        title: "Result classes by model".to_owned(),
        x_label: "% of replies".to_owned(),
        rows: columns.iter().map(|column| bar(table.name(column), None, &column.rows, &kinds)).collect(),
        kinds: legend(&kinds),
    }
}

/// Fig. 2, bottom.
fn by_difference(table: &Classes, columns: &[&ClassColumn]) -> Stacked {
    let row = |column: &&ClassColumn| {
        let part = |(kind, (fate, ..)): (usize, &(ReplyClass, &str, Paint))| {
            let row = column.row(fate.name())?;
            Some(Part { kind, value: row.percent, count: row.count })
        };
        let parts = DIFFERENT.iter().enumerate().filter_map(part).collect();
        StackedRow { name: table.name(column), heading: None, of: column.replies, parts }
    };
    Stacked {
        title: "Different domains by how they differ".to_owned(),
        x_label: "% of all replies".to_owned(),
        kinds: DIFFERENT.iter().map(|(_, name, paint)| (*name, *paint)).collect(),
        rows: columns.iter().map(row).collect(),
    }
}

/// Fig. 3, one for each description class, with its file name; nothing where no size is known. The paper's is
/// over base descriptions, so `fig3_size.svg` has those, or else the first class.
fn by_size(columns: &[&ClassColumn]) -> Vec<(String, Points)> {
    let mut classes: Vec<Option<&str>> = columns.iter().map(|column| column.description.as_deref()).collect();
    classes.sort_by_key(|class| *class != Some("base"));
    let mut distinct: Vec<Option<&str>> = Vec::new();
    for class in classes {
        if !distinct.contains(&class) {
            distinct.push(class);
        }
    }
    let several = distinct.len() > 1;
    let mut figures = Vec::new();
    for class in distinct {
        let own: Vec<&ClassColumn> =
            columns.iter().copied().filter(|column| column.description.as_deref() == class).collect();
        let title = match (several, class) {
            (true, Some(class)) => format!("Result classes by model size, {class} descriptions"),
            (true, None) => "Result classes by model size, no descriptions".to_owned(),
            (false, _) => "Result classes by model size".to_owned(),
        };
        let Some(points) = size_points(&own, title) else { continue };
        let name = match figures.is_empty() {
            true => "fig3_size.svg".to_owned(),
            false => format!("fig3_size_{}.svg", class.unwrap_or("none")),
        };
        figures.push((name, points));
    }
    figures
}

/// Classes over the sizes of models.
fn size_points(columns: &[&ClassColumn], title: String) -> Option<Points> {
    // Over sizes the paper's classes tell something; what has no class is in Fig. 2.
    let known = |group| !matches!(group, Group::Undecided | Group::Failed);
    let mut kinds = kinds(columns.iter().flat_map(|column| &column.rows));
    kinds.retain(|(group, _)| known(*group));
    let point = |column: &&ClassColumn| {
        let value = |(group, _): &(Group, Paint)| {
            column.rows.iter().find(|row| row.sum && row.group == *group).map_or(0.0, |row| row.percent)
        };
        Some(Point { name: column.words(), x: column.size?, values: kinds.iter().map(value).collect() })
    };
    let points: Vec<Point> = columns.iter().filter_map(point).collect();
    if points.is_empty() {
        return None;
    }
    let mut unknown: Vec<&str> =
        columns.iter().filter(|column| column.size.is_none()).map(|column| column.model.as_str()).collect();
    unknown.dedup();
    let mut notes = Vec::new();
    if points.iter().any(|point| Some(point.x) != points.first().map(|first| first.x)) {
        notes.push("Lines join the means of all models and methods of a size.".to_owned());
    }
    if !unknown.is_empty() {
        notes.push(format!("Not shown, of unknown size: {}", unknown.join(", ")));
    }
    Some(Points {
        title,
        x_label: "billions of parameters (logarithmic)".to_owned(),
        x_unit: "billion parameters",
        y_label: "% of replies".to_owned(),
        named: false,
        kinds: legend(&kinds),
        points,
        notes,
    })
}

/// Fig. 4: below each model and method its description classes.
fn by_description(columns: &[&ClassColumn]) -> Stacked {
    let kinds = kinds(columns.iter().flat_map(|column| &column.rows));
    let mut groups: Vec<(String, Vec<&ClassColumn>)> = Vec::new();
    let methods = columns.iter().any(|column| columns.iter().any(|other| other.method != column.method));
    for column in columns {
        let name = match (column.model.is_empty(), methods) {
            (true, _) => column.method.clone(),
            (false, true) => format!("{} {}", column.model, column.method),
            (false, false) => column.model.clone(),
        };
        let name = marked_name(&name, column.simulated);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, own)) => own.push(column),
            None => groups.push((name, vec![column])),
        }
    }
    let mut rows = Vec::new();
    for (name, own) in &mut groups {
        let order = ["base", "flipped", "random"];
        own.sort_by_key(|column| order.iter().position(|class| column.description.as_deref() == Some(class)));
        for (place, column) in own.iter().enumerate() {
            let class = column.description.clone().unwrap_or_else(|| "no descriptions".to_owned());
            rows.push(bar(class, (place == 0).then(|| name.clone()), &column.rows, &kinds));
        }
    }
    Stacked {
        title: "Result classes by model and description class".to_owned(),
        x_label: "% of replies".to_owned(),
        kinds: legend(&kinds),
        rows,
    }
}

/// Beyond the paper: after each round.
fn by_round(table: &Classes, columns: &[&ClassColumn]) -> Stacked {
    let with: Vec<&&ClassColumn> = columns.iter().filter(|column| !column.rounds.is_empty()).collect();
    let kinds = kinds(with.iter().flat_map(|column| column.rounds.iter().flatten()));
    let mut rows = Vec::new();
    for column in with {
        for (round, lines) in column.rounds.iter().enumerate() {
            let name = if round == 0 { "as they came".to_owned() } else { format!("after round {round}") };
            rows.push(bar(name, (round == 0).then(|| table.name(column)), lines, &kinds));
        }
    }
    Stacked {
        title: "Result classes after rounds of re-prompting".to_owned(),
        x_label: "% of the replies that went into rounds".to_owned(),
        kinds: legend(&kinds),
        rows,
    }
}

/// Fig. 5.
fn by_error(table: &Classes, columns: &[&ClassColumn]) -> Columns {
    let shown = [Group::Equivalent, Group::Different, Group::Fits, Group::Undecided, Group::Semantic];
    let any = |group| columns.iter().any(|column| !column.histogram(table.reading, group).is_empty());
    let kinds: Vec<(Group, Paint)> = shown
        .into_iter()
        .filter(|group| *group == Group::Equivalent || any(*group))
        .filter_map(|group| PRIMARY.into_iter().find(|(known, _)| *known == group))
        .collect();
    let panel = |column: &&ClassColumn| {
        let own: Vec<BTreeMap<u64, u64>> =
            kinds.iter().map(|(group, _)| column.histogram(table.reading, *group)).collect();
        let last =
            own.iter().filter_map(|histogram| histogram.keys().next_back()).max().copied().unwrap_or(0);
        let at = |error: u64| {
            let open = error == LAST_COLUMN && last >= LAST_COLUMN;
            let count = |histogram: &BTreeMap<u64, u64>| match open {
                true => histogram.range(error..).map(|(_, n)| n).sum(),
                false => histogram.get(&error).copied().unwrap_or(0),
            };
            let parts = own.iter().enumerate().map(|(kind, histogram)| {
                let count: u64 = count(histogram);
                Part { kind, value: count as f64, count }
            });
            (if open { format!("{error}+") } else { error.to_string() }, parts.collect())
        };
        let known: u64 = own.iter().flat_map(BTreeMap::values).sum();
        ColumnPanel {
            title: table.name(column),
            columns: (0..=last.min(LAST_COLUMN)).map(at).collect(),
            note: without(column, known),
        }
    };
    Columns {
        title: format!("Action reconstruction error by result class, {}", table.reading.name()),
        x_label: "action reconstruction error".to_owned(),
        y_label: "replies".to_owned(),
        kinds: legend(&kinds),
        panels: columns.iter().map(panel).collect(),
    }
}

/// The replies without an error, in words.
fn without(column: &ClassColumn, known: u64) -> String {
    let counts: Counts = column.counts();
    let syntax = of_group(&counts, Group::Syntax);
    let failed = of_group(&counts, Group::Failed);
    let rest = column.replies.saturating_sub(known + syntax + failed);
    let kinds = [(syntax, "syntax error"), (failed, "without a class"), (rest, "without this reading")];
    let parts: Vec<String> =
        kinds.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} {n}")).collect();
    let without = if parts.is_empty() { "none".to_owned() } else { parts.join(", ") };
    format!("Replies with a figure: {known}. Without: {without}.")
}

fn errors_csv(columns: &[&ClassColumn]) -> String {
    let header =
        ["model", "method", "description", "simulated", "reading", "class", "group", "are", "replies"];
    let mut csv = Table::new(header.map(|name| (name, Align::Left)));
    for column in columns {
        for reading in Reading::ALL {
            let mut all: BTreeMap<(ReplyClass, u64), u64> = BTreeMap::new();
            for tally in column.suites.iter().flat_map(|suite| &suite.actions) {
                for (fate, histogram) in tally.errors.get(&reading).into_iter().flatten() {
                    histogram.iter().for_each(|(error, n)| *all.entry((*fate, *error)).or_default() += n);
                }
            }
            for ((fate, error), n) in all {
                csv.row([
                    column.model.clone(),
                    column.method.clone(),
                    column.description.clone().unwrap_or_default(),
                    column.simulated.to_string(),
                    reading.name().to_owned(),
                    fate.name().to_owned(),
                    fate.group().name().to_owned(),
                    error.to_string(),
                    n.to_string(),
                ]);
            }
        }
    }
    csv.csv()
}

impl<'a> ColumnFigures<'a> {
    fn of(table: &Classes, column: &'a ClassColumn) -> Self {
        let histograms = Group::ALL.into_iter().map(|group| (group, column.histogram(table.reading, group)));
        Self {
            name: table.name(column),
            model: &column.model,
            method: &column.method,
            description: column.description.as_deref(),
            simulated: column.simulated,
            size: column.size,
            replies: column.replies,
            rows: &column.rows,
            rounds: &column.rounds,
            errors: histograms.filter(|(_, histogram)| !histogram.is_empty()).collect(),
        }
    }
}
