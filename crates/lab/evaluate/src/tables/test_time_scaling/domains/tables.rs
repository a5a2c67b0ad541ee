//! The table of methods as text, Markdown and CSV.

use super::{Scaling, ScalingCell, ScalingRow};
use crate::artefact::Artefact;
use crate::results::{AskedFor, Baseline, OpenReason, Replies};
use crate::statistics::mean;
use crate::table::{Align, Table};
use crate::tables::name_with_model;
use crate::tables::test_time_scaling::rate::{Criterion, Rate};
use planforge_contract::Failure;

impl Scaling {
    /// The files that hold it.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        Artefact::of_table("scaling", [self.csv(), self.markdown(), self.text()], self)
    }

    /// The tables for a terminal.
    pub fn text(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.text()))
    }

    /// The tables as Markdown.
    pub fn markdown(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.markdown()))
    }

    fn render_sections(&self, one: impl Fn(&str, &Table) -> String) -> String {
        let cells = || self.rows.iter().flat_map(|row| row.cells.values());
        let measured = |criterion| cells().any(|cell| cell.rates.contains_key(&criterion));
        let mut parts: Vec<String> = Criterion::ALL
            .into_iter()
            .filter(|criterion| measured(*criterion))
            .map(|criterion| one(criterion.title(), &self.table(criterion)))
            .collect();
        if !self.baselines.is_empty() {
            let title = "Empty domains: % of domains without an error in them, and those of them in which no action has an effect";
            parts.push(one(title, &self.empty_table()));
        }
        parts.push(one("Replies and cost, over all domains and seeds", &self.reply_table()));
        let mut out = parts.join("\n");
        out += "\nIn brackets: 95 % interval with domains as trials; in parentheses: points more or less than the base method.\n";
        if cells().flat_map(|cell| cell.rates.values()).any(|rate| !rate.open.is_empty()) {
            out += "u tasks undecided, c not comparable, f failed, o not finished: neither for nor against; `?`: were they all counted for \
                    it, the figure would be another.\n";
        }
        for (criterion, how) in [
            (Criterion::Val, "a stage that reads PDDL with `parser = \"val\"`"),
            (Criterion::Walk, "a stage that measures exploration walks"),
            (Criterion::Same, "a stage that compares domains with the reference (`what = \"domain\"`)"),
        ] {
            if !measured(criterion) {
                out += &format!("Not measured: {}. It takes {how}.\n", criterion.title());
            }
        }
        out
    }

    fn name(&self, row: &ScalingRow) -> String {
        let models = self.rows.iter().map(|row| row.model.as_str());
        name_with_model(models, &row.model, &row.method, row.simulated)
    }

    /// A row for each method, a column for each output, and their average.
    pub fn table(&self, criterion: Criterion) -> Table {
        let names = self.columns.iter().map(|asked| (asked.name().to_owned(), Align::Right));
        let average = (self.columns.len() > 1).then(|| ("avg.".to_owned(), Align::Right));
        let mut table =
            Table::new([("method".to_owned(), Align::Left)].into_iter().chain(names).chain(average));
        for row in &self.rows {
            let rates: Vec<Option<&Rate>> = self
                .columns
                .iter()
                .map(|asked| row.cells.get(asked).and_then(|cell| cell.rates.get(&criterion)))
                .collect();
            let shown = rates.iter().map(|rate| rate.map_or("-".to_owned(), figure));
            // The paper's average is over the columns; of a method that lacks one there is none.
            let all: Option<Vec<f64>> = rates.iter().map(|rate| rate.map(|rate| rate.percent)).collect();
            let average = (self.columns.len() > 1)
                .then(|| all.and_then(|all| mean(&all)).map_or("-".to_owned(), |m| format!("{:.1}", m.mean)));
            table.row([self.name(row)].into_iter().chain(shown).chain(average));
        }
        table
    }

    /// Null baselines beside the methods: texts without content, which parsers accept. Such a domain counts as not
    /// accepted in the tables above.
    fn empty_table(&self) -> Table {
        let mut table = Table::new([
            ("method", Align::Left),
            ("task", Align::Left),
            ("domains", Align::Right),
            ("without errors %", Align::Right),
            ("empty", Align::Right),
        ]);
        for baseline in Baseline::WITHOUT_CONTENT {
            let own = || self.baselines.iter().filter(|own| own.baseline == baseline);
            let (all, read) = (own().count(), own().filter(|own| own.domain).count());
            let percent = format!("{:.1}", 100.0 * read as f64 / all.max(1) as f64);
            let words = [baseline.name().to_owned(), "-".to_owned()];
            table.row(words.into_iter().chain([all.to_string(), percent, read.to_string()]));
        }
        for (row, asked, cell) in self.each() {
            let Some(rate) = cell.rates.get(&Criterion::FrontEnd).or(cell.rates.get(&Criterion::Val)) else {
                continue;
            };
            let read = rate.percent + 100.0 * cell.empty as f64 / rate.tasks.max(1) as f64;
            let words = [self.name(row), asked.name().to_owned()];
            let figures = [rate.tasks.to_string(), format!("{read:.1}"), cell.empty.to_string()];
            table.row(words.into_iter().chain(figures));
        }
        table
    }

    fn reply_table(&self) -> Table {
        let words = ["method", "task"].map(|name| (name, Align::Left));
        let numbers = [
            "domains",
            "seeds",
            "replies",
            "with PDDL %",
            "without errors %",
            "errors a reply",
            "warnings a reply",
            "walk score",
            "calls",
            "tokens in",
            "tokens out",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        for (row, asked, cell) in self.each() {
            let domains = cell.rates.get(&Criterion::Plan).map_or(0, |rate| rate.domains);
            let mut line =
                vec![self.name(row), asked.name().to_owned(), domains.to_string(), cell.seeds.to_string()];
            line.extend(
                reply_figures(cell.replies.as_ref()).map(|figure| figure.unwrap_or_else(|| "-".to_owned())),
            );
            line.push(match cell.walk_score {
                Some(score) if cell.walk_domains < domains => {
                    format!("{score:.2} (of {})", cell.walk_domains)
                }
                Some(score) => format!("{score:.2}"),
                None => "-".to_owned(),
            });
            // A sum that the server did not count in full is a lower bound.
            let least = if cell.usage.unmetered > 0 { ">= " } else { "" };
            line.push(cell.usage.calls.to_string());
            line.extend(
                [cell.usage.prompt_tokens, cell.usage.completion_tokens].map(|n| format!("{least}{n}")),
            );
            table.row(line);
        }
        table
    }

    fn each(&self) -> impl Iterator<Item = (&ScalingRow, AskedFor, &ScalingCell)> {
        self.rows.iter().flat_map(|row| row.cells.iter().map(move |(asked, cell)| (row, *asked, cell)))
    }

    /// One line for each method and output.
    pub fn csv(&self) -> String {
        let words = ["model", "method", "pipeline", "simulated", "task", "seeds"].map(str::to_owned);
        let rates = Criterion::ALL.into_iter().flat_map(|criterion| {
            let endings =
                ["", "_if_open", "_low", "_high", "_delta", "_delta_low", "_delta_high", "_open", "_domains"];
            endings.map(|ending| format!("{}{ending}", criterion.column()))
        });
        let others = [
            "walk_score",
            "walk_domains",
            "replies",
            "with_pddl",
            "without_errors",
            "errors_a_reply",
            "warnings_a_reply",
            "calls",
            "prompt_tokens",
            "completion_tokens",
            "unmetered",
        ];
        let header = words.into_iter().chain(rates).chain(others.map(str::to_owned));
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        let four = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.4}"));
        for (row, asked, cell) in self.each() {
            let mut line =
                vec![row.model.clone(), row.method.clone(), cell.pipeline.clone(), row.simulated.to_string()];
            line.extend([asked.name().to_owned(), cell.seeds.to_string()]);
            for criterion in Criterion::ALL {
                let rate = cell.rates.get(&criterion);
                let delta = rate.and_then(|rate| rate.delta.as_ref());
                let between = delta.and_then(|delta| delta.interval);
                line.extend([
                    four(rate.map(|r| r.percent)),
                    four(rate.map(|r| r.percent_if_open)),
                    four(rate.map(|r| r.interval.low)),
                    four(rate.map(|r| r.interval.high)),
                    four(delta.map(|d| d.points)),
                    four(between.map(|i| i.low)),
                    four(between.map(|i| i.high)),
                    rate.map_or(String::new(), |r| r.open.iter().map(|(_, n)| n).sum::<usize>().to_string()),
                    rate.map_or(String::new(), |r| r.domains.to_string()),
                ]);
            }
            line.extend([four(cell.walk_score), cell.walk_domains.to_string()]);
            line.extend(reply_figures(cell.replies.as_ref()).map(Option::unwrap_or_default));
            let usage = &cell.usage;
            let counts = [usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.unmetered];
            line.extend(counts.map(|n| n.to_string()));
            table.row(line);
        }
        table.csv()
    }
}

/// Replies; of 100 those with PDDL and those without errors; errors and warnings of one that has PDDL.
fn reply_figures(replies: Option<&Replies>) -> [Option<String>; 5] {
    let share = |part: u64, of: u64, scale: f64, digits: usize| {
        (of > 0).then(|| format!("{:.digits$}", scale * part as f64 / of as f64))
    };
    let Some(r) = replies else { return [None, None, None, None, None] };
    [
        Some(r.replies.to_string()),
        share(r.parsed, r.replies, 100.0, 1),
        share(r.clean, r.replies, 100.0, 1),
        share(r.errors, r.parsed, 1.0, 2),
        share(r.warnings, r.parsed, 1.0, 2),
    ]
}

/// `21.9 [12.0, 36.7] (+3.5)`, with what is open behind it.
fn figure(rate: &Rate) -> String {
    let open: Vec<String> = OpenReason::ALL
        .iter()
        .filter_map(|(why, letter, _)| {
            let (_, n) = rate.open.iter().find(|(known, _)| known == why)?;
            Some(format!("{n}{letter}"))
        })
        .collect();
    let open = if open.is_empty() { String::new() } else { format!(" {{{}}}", open.join(" ")) };
    let mark = if rate.percent < rate.percent_if_open { "?" } else { "" };
    let delta = rate.delta.as_ref().map_or(String::new(), |delta| format!(" ({:+.1})", delta.points));
    format!("{:.1}{mark} [{:.0}, {:.0}]{delta}{open}", rate.percent, rate.interval.low, rate.interval.high)
}
