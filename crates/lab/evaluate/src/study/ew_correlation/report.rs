//! The files of the study: tables, CSV and figures.

use super::{CorrelationCurve, CorrelationPoint, CorrelationStudy};
use crate::artefact::Artefact;
use crate::chart::{Panel, Series, Style, svg};
use crate::table::{Align, Table};
use planforge_contract::Failure;

impl CorrelationStudy {
    /// The study's files: CSV by difference and by pair, text, JSON, a figure of some suites (Fig. 2b; at most six, the first where
    /// `shown` names none) and one of all (Fig. 4).
    ///
    /// # Errors
    /// `study.plot`: a figure cannot be drawn.
    pub fn artefacts(&self, shown: &[String]) -> Result<Vec<Artefact>, Failure> {
        let panels: Vec<Panel> = self.suites.iter().map(|curve| self.panel(curve)).collect();
        Ok(vec![
            Artefact::new("ew-correlation.csv", self.csv()),
            Artefact::new("ew-correlation-pairs.csv", self.pairs_csv()),
            Artefact::new("ew-correlation.md", self.markdown()),
            Artefact::json("ew-correlation.json", self)?,
            Artefact::new("ew-correlation.svg", svg(&[self.figure(shown)], 1)),
            Artefact::new("ew-correlation-all.svg", svg(&panels, 3)),
        ])
    }

    /// One line a suite and difference.
    pub fn csv(&self) -> String {
        let columns =
            ["difference", "pairs", "mean_score", "standard_error", "undefined", "limit", "refused"]
                .map(|name| (name, Align::Right));
        let mut table = Table::new([("suite", Align::Left)].into_iter().chain(columns));
        for (curve, point) in self.suites.iter().flat_map(|c| c.points.iter().map(move |p| (c, p))) {
            let figure = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.6}"));
            table.row([
                curve.suite.clone(),
                point.difference.to_string(),
                point.scores.len().to_string(),
                figure(point.score.map(|s| s.mean)),
                figure(point.score.and_then(|s| s.standard_error)),
                point.undefined.to_string(),
                point.limit.to_string(),
                point.refused.to_string(),
            ]);
        }
        table.csv()
    }

    /// One line a pair that has a score.
    pub fn pairs_csv(&self) -> String {
        let mut table =
            Table::new([("suite", Align::Left), ("difference", Align::Right), ("score", Align::Right)]);
        for (curve, point) in self.suites.iter().flat_map(|c| c.points.iter().map(move |p| (c, p))) {
            for score in &point.scores {
                table.row([curve.suite.clone(), point.difference.to_string(), format!("{score:.6}")]);
            }
        }
        table.csv()
    }

    /// Mean scores, a row a suite and a column a difference, with the rank correlations.
    pub fn table(&self) -> Table {
        let differences = (1..=self.spec.most).map(|d| (d.to_string(), Align::Right));
        let coefficients = ["rho", "tau", "rho of means", "not scored"].map(|n| (n.to_owned(), Align::Right));
        let mut table = Table::new(
            [("suite".to_owned(), Align::Left)].into_iter().chain(differences).chain(coefficients),
        );
        for curve in &self.suites {
            let figure = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2}"));
            let at = |d: usize| curve.points.iter().find(|p| p.difference == d).and_then(|p| p.score);
            let mut row = vec![curve.suite.clone()];
            row.extend((1..=self.spec.most).map(|d| figure(at(d).map(|s| s.mean))));
            row.extend(
                [curve.over_pairs.spearman, curve.over_pairs.kendall, curve.over_means.spearman].map(figure),
            );
            row.push(curve.points.iter().map(CorrelationPoint::not_scored).sum::<usize>().to_string());
            table.row(row);
        }
        table
    }

    /// The table with remarks.
    pub fn markdown(&self) -> String {
        let spec = &self.spec;
        format!(
            "Mean walk score of pairs of damaged domains by the number of terms in which they differ (exploration-walk paper, \
             Fig. 2b and 4). {} pairs for each difference (seed {}); each domain of a pair has lost {} to {} terms, at least one is \
             left in each list. Metric: {}, {} walks of each length 1 to {} a direction, Eq. 2 over the first {} problems. `rho` and \
             `tau`: Spearman's and Kendall's rank correlation of difference and score over all pairs; `rho of means`: of the row. \
             `-`: no such pair. `not scored`: pairs whose score is not defined or for which a limit was reached ({} ground instances, {} MiB).\n\n{}",
            spec.pairs,
            spec.seed,
            spec.lost.0,
            spec.lost.1,
            spec.metric.name(),
            spec.walks_per_length,
            spec.t_max,
            spec.tasks,
            spec.max_instances,
            spec.max_bytes >> 20,
            self.table().markdown()
        )
    }

    fn figure(&self, shown: &[String]) -> Panel {
        let chosen = self.suites.iter().filter(|c| !c.points.is_empty());
        let chosen = chosen.filter(|c| shown.is_empty() || shown.contains(&c.suite)).take(6);
        let series = chosen.enumerate().map(|(number, curve)| Series {
            label: Some(curve.suite.clone()),
            style: Style::Number(number),
            ..line(curve)
        });
        Panel {
            title: "Walk score and difference of domains".to_owned(),
            series: series.collect(),
            ..self.frame()
        }
    }

    fn panel(&self, curve: &CorrelationCurve) -> Panel {
        let rho = curve.over_pairs.spearman.map_or("no pairs".to_owned(), |rho| format!("rho {rho:.2}"));
        Panel {
            title: format!("{} ({rho})", curve.suite),
            series: vec![Series { style: Style::Number(0), ..line(curve) }],
            ..self.frame()
        }
    }

    fn frame(&self) -> Panel {
        Panel {
            x_label: "terms that differ".to_owned(),
            y_label: "mean walk score".to_owned(),
            x: (0.0, self.spec.most as f64 + 1.0),
            y: (0.0, 1.0),
            legend_right: true,
            ..Panel::default()
        }
    }
}

/// Means with their standard errors.
fn line(curve: &CorrelationCurve) -> Series {
    let scored = || curve.points.iter().filter_map(|p| Some((p.difference as f64, p.score?)));
    Series {
        points: scored().map(|(x, score)| (x, score.mean)).collect(),
        errors: scored().map(|(_, score)| score.standard_error.unwrap_or(0.0)).collect(),
        ..Series::default()
    }
}
