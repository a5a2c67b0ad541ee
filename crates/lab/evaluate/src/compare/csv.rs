//! A comparison as CSV: a row a figure.

use super::at_k::AtKSide;
use super::at_k::{AtK, SampleComparison};
use super::pairs::PairKey;
use super::tables::{name_of, number, one_line, over, points_range};
use super::{Comparison, Estimate};
use crate::table::{Align, Table};

impl Comparison {
    /// One table with a row a figure, discordant, open and unpaired runs included.
    pub fn csv(&self) -> String {
        let columns = [
            "section",
            "name",
            "k",
            "a",
            "b",
            "difference",
            "low",
            "high",
            "ratio",
            "ratio_low",
            "ratio_high",
            "p",
            "p_adjusted",
            "pairs",
            "clusters",
            "note",
        ];
        let mut table = Table::new(columns.map(|name| (name, Align::Left)));
        for row in self.figures() {
            table.row(row.cells());
        }
        table.csv()
    }

    fn figures(&self) -> Vec<Figure> {
        let mut rows = vec![self.success_figure()];
        let success = &self.success;
        let counts = [
            ("both", success.both),
            ("only A", success.only_a),
            ("only B", success.only_b),
            ("neither", success.neither),
            ("open", success.open),
        ];
        rows.extend(
            counts.map(|(name, n)| Figure { pairs: Some(n as usize), ..Figure::new("counts", name) }),
        );
        if let Some(bounds) = success.bounds {
            for (name, extreme) in
                [("open counted for A", bounds.for_a), ("open counted for B", bounds.for_b)]
            {
                let difference = Some(Estimate { value: extreme.difference, interval: None });
                rows.push(Figure { difference, p: Some(extreme.p), ..Figure::new("bounds", name) });
            }
        }
        rows.extend(self.metrics.iter().map(|metric| Figure {
            a: metric.mean_a,
            b: metric.mean_b,
            difference: metric.difference,
            ratio: metric.ratio,
            p: metric.p,
            p_adjusted: metric.p_adjusted,
            pairs: Some(metric.pairs),
            clusters: Some(metric.clusters),
            ..Figure::new("metric", metric.name)
        }));
        rows.extend(self.efficiency.iter().map(|one| Figure {
            a: one.a.rate.map(|rate| rate.value),
            b: one.b.rate.map(|rate| rate.value),
            ratio: one.ratio,
            pairs: Some(one.pairs),
            ..Figure::new("success per", one.per)
        }));
        for samples in &self.samples {
            rows.extend(samples.at.iter().map(|at| sample_figure(samples, at)));
            let absent = [("A", &samples.absent_a), ("B", &samples.absent_b)];
            for (letter, why) in absent.iter().filter_map(|(letter, why)| Some((letter, why.as_ref()?))) {
                let note = format!("{letter} has none: {why}");
                rows.push(Figure { note, ..Figure::new(name_of(samples.estimator), &samples.over_a) });
            }
        }
        let listed = |section: &'static str, key: &PairKey, note: String| Figure {
            note,
            ..Figure::new(section, &key.label())
        };
        for one in &success.discordant {
            let section = if one.only == "a" { "only A succeeds" } else { "only B succeeds" };
            rows.push(listed(section, &one.key, one.why.clone()));
        }
        rows.extend(
            success
                .open_pairs
                .iter()
                .map(|one| listed("open", &one.key, format!("A {}, B {}: {}", one.a, one.b, one.why))),
        );
        rows.extend(self.only_a.iter().map(|one| listed("on A alone", &one.key, one.answer.to_owned())));
        rows.extend(self.only_b.iter().map(|one| listed("on B alone", &one.key, one.answer.to_owned())));
        rows.extend(self.other_content.iter().map(|key| listed("other content", key, String::new())));
        rows.extend(self.notes.iter().map(|note| Figure { note: note.clone(), ..Figure::new("note", "") }));
        rows
    }

    fn success_figure(&self) -> Figure {
        let success = &self.success;
        let newcombe = success.newcombe.map(|interval| format!("Newcombe: {}", points_range(interval)));
        Figure {
            a: success.rate_a,
            b: success.rate_b,
            difference: success.difference,
            p: success.p,
            p_adjusted: success.p_adjusted,
            pairs: Some((success.both + success.only_a + success.only_b + success.neither) as usize),
            clusters: Some(self.clusters),
            note: newcombe.unwrap_or_default(),
            ..Figure::new("success", success.question.name())
        }
    }
}

/// A row of the CSV.
#[derive(Default)]
struct Figure {
    section: &'static str,
    name: String,
    k: Option<usize>,
    a: Option<f64>,
    b: Option<f64>,
    difference: Option<Estimate>,
    ratio: Option<Estimate>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    pairs: Option<usize>,
    clusters: Option<usize>,
    note: String,
}

impl Figure {
    fn new(section: &'static str, name: &str) -> Self {
        Self { section, name: name.to_owned(), ..Self::default() }
    }

    fn cells(self) -> Vec<String> {
        let plain = |value: Option<f64>| value.map(|v| format!("{v}")).unwrap_or_default();
        let whole = |value: Option<usize>| value.map(|v| v.to_string()).unwrap_or_default();
        let mut cells = vec![self.section.to_owned(), self.name, whole(self.k), plain(self.a), plain(self.b)];
        for estimate in [self.difference, self.ratio] {
            let interval = estimate.and_then(|e| e.interval);
            cells.extend(
                [estimate.map(|e| e.value), interval.map(|i| i.low), interval.map(|i| i.high)].map(plain),
            );
        }
        cells.extend([plain(self.p), plain(self.p_adjusted), whole(self.pairs), whole(self.clusters)]);
        cells.push(one_line(&self.note));
        cells
    }
}

fn sample_figure(samples: &SampleComparison, at: &AtK) -> Figure {
    let open = |side: Option<AtKSide>| side.filter(|s| s.if_open > s.value).map(|s| number(s.if_open));
    let note = [("A", open(at.a)), ("B", open(at.b))]
        .into_iter()
        .filter_map(|(letter, value)| Some(format!("{letter} {} if open samples were right", value?)))
        .collect::<Vec<_>>()
        .join("; ");
    Figure {
        k: Some(at.k),
        a: at.a.map(|side| side.value),
        b: at.b.map(|side| side.value),
        difference: at.difference,
        pairs: at.a.or(at.b).map(|side| side.units),
        note,
        ..Figure::new(name_of(samples.estimator), &over(samples))
    }
}
