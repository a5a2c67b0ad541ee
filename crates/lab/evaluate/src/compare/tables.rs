//! A comparison as text, as Markdown and as CSV.

use super::at_k::{AtK, AtKSide, Estimator, SampleComparison};
use super::figures::Success;
use super::pairs::{PairBy, PairKey};
use super::{Comparison, Estimate, Side};
use crate::results::OpenReason;
use crate::statistics::Interval;
use crate::table::{Align, Table};
use planforge_diagnostics::render::escape;

/// The most lines of a list in texts; JSON and CSV have all of them.
const SHOWN: usize = 20;

/// A part of the report.
enum Block {
    Heading(String),
    Line(String),
    Table(Table),
}

impl Comparison {
    /// For a terminal.
    pub fn text(&self) -> String {
        let told = self.blocks().into_iter().map(|block| match block {
            Block::Heading(text) => format!("\n{text}\n"),
            Block::Line(text) => format!("{text}\n"),
            Block::Table(table) => format!("\n{}\n", table.text()),
        });
        tidy(&told.collect::<String>())
    }

    pub fn markdown(&self) -> String {
        let told = self.blocks().into_iter().map(|block| match block {
            Block::Heading(text) => format!("\n## {text}\n\n"),
            Block::Line(text) => format!("{}\n\n", text.replace('<', "&lt;")),
            // Cells are escaped already.
            Block::Table(table) => format!("\n{}\n", table.markdown()),
        });
        tidy(&told.collect::<String>())
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![
            Block::Line(self.answer() + "\n"),
            Block::Line(side("A", &self.a)),
            Block::Line(side("B", &self.b)),
        ];
        let by = match self.settings.pair_by {
            PairBy::Seed => "by suite, task and seed",
            PairBy::Task => "by suite and task, seeds in their order",
        };
        blocks.push(Block::Line(format!(
            "{} paired {by}; {}. Differences are B less A, intervals {} % by the bootstrap over {}s unless stated otherwise.",
            count(self.pairs, "run"),
            count(self.clusters, self.settings.unit()),
            self.settings.confidence * 100.0,
            self.settings.unit()
        )));
        self.success_blocks(&mut blocks);
        self.metric_blocks(&mut blocks);
        self.efficiency_blocks(&mut blocks);
        for samples in &self.samples {
            sample_blocks(samples, &mut blocks);
        }
        self.lists(&mut blocks);
        if !self.notes.is_empty() {
            blocks.push(Block::Heading("Notes".to_owned()));
            blocks.extend(self.notes.iter().map(|note| Block::Line(format!("* {}", one_line(note)))));
        }
        blocks
    }

    /// The result in one sentence: who succeeds more often, and whether chance explains it.
    fn answer(&self) -> String {
        let success = &self.success;
        let decided = success.both + success.only_a + success.only_b + success.neither;
        let Some(p) = success.p_adjusted.or(success.p) else {
            return format!("Nothing can be compared: no pair of {} is decided on both sides.", self.pairs);
        };
        let (a, b) = (success.both + success.only_a, success.both + success.only_b);
        let pairs = count(decided as usize, "pair");
        let result = if p > 1.0 - self.settings.confidence {
            format!("No difference is shown: A succeeds in {a} of {pairs}, B in {b}")
        } else if a > b {
            format!("A succeeds more often: in {a} of {pairs}, B in {b}")
        } else {
            format!("B succeeds more often: in {b} of {pairs}, A in {a}")
        };
        let open = if success.open > 0 { format!("; {} open", success.open) } else { String::new() };
        format!("{result} ({}{open}).", p_equation(p))
    }

    fn success_blocks(&self, blocks: &mut Vec<Block>) {
        let success = &self.success;
        let judge = |side: &Side| {
            side.judged_by.as_ref().map_or("the verdict".to_owned(), |label| format!("`{label}`"))
        };
        let (a, b) = (judge(&self.a), judge(&self.b));
        let judges = if a == b { a } else { format!("{a} in A, {b} in B") };
        blocks.push(Block::Heading(format!("Success: {}, as {judges} says", success.question.name())));
        let mut table = Table::new([
            ("both", Align::Right),
            ("only A", Align::Right),
            ("only B", Align::Right),
            ("neither", Align::Right),
            ("open", Align::Right),
            ("A", Align::Right),
            ("B", Align::Right),
        ]);
        let counts = [success.both, success.only_a, success.only_b, success.neither, success.open];
        let rates = [success.rate_a, success.rate_b].map(|rate| rate.map_or("-".to_owned(), percent));
        table.row(counts.iter().map(u64::to_string).chain(rates));
        blocks.push(Block::Table(table));
        let (Some(difference), Some(p)) = (success.difference, success.p) else {
            open_lines(success, blocks);
            return;
        };
        let mut said = format!("Difference {}", points(difference.value));
        if let Some(newcombe) = success.newcombe {
            said += &format!(", {} by Newcombe's method 10", points_range(newcombe));
        }
        if let Some(interval) = difference.interval {
            said += &format!(", {} by the bootstrap", points_range(interval));
        }
        blocks.push(Block::Line(said + "."));
        let cluster = self.settings.unit();
        let test = if success.independent {
            "McNemar's exact test".to_owned()
        } else {
            format!("Exact test that flips the signs of whole {cluster}s")
        };
        let adjusted =
            success.p_adjusted.map_or(String::new(), |p| format!(", {} after Holm's correction", p_value(p)));
        blocks.push(Block::Line(format!("{test}: {}{adjusted}; two-sided.", p_equation(p))));
        let mcnemar = &success.mcnemar;
        if success.independent {
            blocks.push(Block::Line(format!("Its mid-p variant: {}.", p_equation(mcnemar.mid_p))));
        } else {
            blocks.push(Block::Line(format!(
                "McNemar over runs, which are not independent within a {cluster}, so that p is too small: exact {}, mid-p {}.",
                p_value(mcnemar.exact),
                p_value(mcnemar.mid_p)
            )));
        }
        if let Some(g) = success.cohens_g {
            let odds =
                success.odds_ratio.map_or("not defined, for A alone never succeeds".to_owned(), number);
            blocks.push(Block::Line(format!(
                "Discordant pairs: odds of B to A {odds}; Cohen's g {}.",
                signed(g)
            )));
        }
        open_lines(success, blocks);
    }

    fn metric_blocks(&self, blocks: &mut Vec<Block>) {
        if self.metrics.is_empty() {
            return;
        }
        blocks.push(Block::Heading("Figures of a task, over pairs that have them on both sides".to_owned()));
        let or = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let head = |columns: &[&'static str]| {
            let right = columns.iter().map(|name| (*name, Align::Right));
            Table::new([("", Align::Left), ("better", Align::Left)].into_iter().chain(right))
        };
        let mut table = head(&["pairs", "A", "B", "B - A", "interval", "B / A", "interval"]);
        let mut tests = head(&["B higher", "A higher", "tied", "B better", "p", "Holm"]);
        for metric in &self.metrics {
            let better = if metric.more_is_better { "more" } else { "less" };
            let interval = |estimate: Option<Estimate>, form: fn(f64) -> String| {
                or(estimate.and_then(|e| e.interval).map(|interval| range(interval, form)))
            };
            table.row([
                metric.name.to_owned(),
                better.to_owned(),
                metric.pairs.to_string(),
                or(metric.mean_a.map(number)),
                or(metric.mean_b.map(number)),
                or(metric.difference.map(|e| signed(e.value))),
                interval(metric.difference, signed),
                or(metric.ratio.map(|e| number(e.value))),
                interval(metric.ratio, number),
            ]);
            tests.row([
                metric.name.to_owned(),
                better.to_owned(),
                metric.b_higher.to_string(),
                metric.a_higher.to_string(),
                metric.ties.to_string(),
                or(metric.b_better.map(percent)),
                or(metric.p.map(p_value)),
                or(metric.p_adjusted.map(p_value)),
            ]);
        }
        blocks.push(Block::Table(table));
        blocks.push(Block::Table(tests));
        for metric in &self.metrics {
            let missing =
                [("A alone", metric.missing_a), ("B alone", metric.missing_b), ("both", metric.missing_both)];
            let missing: Vec<String> =
                missing.iter().filter(|(_, n)| *n > 0).map(|(who, n)| format!("{n} ({who})")).collect();
            if !missing.is_empty() {
                let missing = missing.join(", ");
                blocks.push(Block::Line(format!("{}: pairs that lack it: {missing}.", metric.name)));
            }
        }
        blocks.push(Block::Line(format!(
            "Counted are {0}s; p: exact sign test over {0}s, ties left out. Corrected together ({1}): {2}.",
            self.settings.unit(),
            self.correction.method,
            self.correction.family.join(", ")
        )));
    }

    fn efficiency_blocks(&self, blocks: &mut Vec<Block>) {
        blocks.push(Block::Heading("Success for what was spent".to_owned()));
        if self.efficiency.is_empty() {
            blocks.push(Block::Line("No pair has its costs on both sides.".to_owned()));
        } else {
            let columns = ["pairs", "A", "interval", "B", "interval", "B / A", "interval"];
            let mut table = Table::new(
                std::iter::once(("success per", Align::Left)).chain(columns.map(|name| (name, Align::Right))),
            );
            for one in &self.efficiency {
                let rate = |rate: Option<Estimate>, if_open: Option<f64>, open: u64| match (rate, if_open) {
                    (None, _) => ["-".to_owned(), "-".to_owned()],
                    (Some(rate), Some(if_open)) if open > 0 => {
                        [format!("{} ({} if open)", number(rate.value), number(if_open)), interval_of(rate)]
                    }
                    (Some(rate), _) => [number(rate.value), interval_of(rate)],
                };
                let cells = [one.per.to_owned(), one.pairs.to_string()]
                    .into_iter()
                    .chain(rate(one.a.rate, one.a.rate_if_open, one.a.open))
                    .chain(rate(one.b.rate, one.b.rate_if_open, one.b.open))
                    .chain(rate(one.ratio, None, 0));
                table.row(cells);
            }
            blocks.push(Block::Table(table));
            for one in self.efficiency.iter().filter(|one| one.missing > 0) {
                blocks.push(Block::Line(format!("{}: unknown of {}.", one.per, count(one.missing, "pair"))));
            }
        }
        blocks.push(Block::Line(
            "Waiting for models is the recorded time of all requests, as if sent one after another."
                .to_owned(),
        ));
        for (letter, side) in [("A", &self.a), ("B", &self.b)] {
            blocks.push(Block::Line(wall(letter, side)));
        }
    }

    fn lists(&self, blocks: &mut Vec<Block>) {
        let success = &self.success;
        let mut list = |title: &str, all: Vec<String>| {
            if all.is_empty() {
                return;
            }
            blocks.push(Block::Heading(format!("{title}: {}", all.len())));
            let more = all.len().saturating_sub(SHOWN);
            blocks.extend(all.into_iter().take(SHOWN).map(|line| Block::Line(format!("* {line}"))));
            if more > 0 {
                blocks.push(Block::Line(format!("* and {more} more, which --json and --csv have")));
            }
        };
        let settled = |only: &str| -> Vec<String> {
            let own = success.discordant.iter().filter(|one| one.only == only);
            own.map(|one| because(&one.key, "", &one.why)).collect()
        };
        list("Only A succeeds", settled("a"));
        list("Only B succeeds", settled("b"));
        let open = success.open_pairs.iter();
        list(
            "Open",
            open.map(|one| because(&one.key, &format!("A {}, B {}", one.a, one.b), &one.why)).collect(),
        );
        for (title, lonely) in [("On A's side alone", &self.only_a), ("On B's side alone", &self.only_b)] {
            list(title, lonely.iter().map(|one| because(&one.key, one.answer, "")).collect());
        }
        let other = "Same name, but other files or another in-context example";
        list(other, self.other_content.iter().map(|key| because(key, "", "")).collect());
    }
}

const fn name_of(estimator: Estimator) -> &'static str {
    match estimator {
        Estimator::Pass => "pass@k",
        Estimator::Best => "best@k",
    }
}

/// The kind of samples, once if both sides agree.
fn over(samples: &SampleComparison) -> String {
    let tell =
        |over: &str, by: &str| if by.is_empty() { over.to_owned() } else { format!("{over}, by {by}") };
    let a = tell(&samples.over_a, &samples.judged_by_a);
    let b = tell(&samples.over_b, &samples.judged_by_b);
    if a == b { a } else { format!("A: {a}; B: {b}") }
}

fn sample_blocks(samples: &SampleComparison, blocks: &mut Vec<Block>) {
    let name = match samples.estimator {
        Estimator::Pass => "Pass@k",
        Estimator::Best => "Best@k",
    };
    blocks.push(Block::Heading(format!("{name} ({})", over(samples))));
    for (letter, why) in [("A", &samples.absent_a), ("B", &samples.absent_b)] {
        if let Some(why) = why {
            blocks.push(Block::Line(format!("{letter} has none: {why}.")));
        }
    }
    if samples.at.is_empty() {
        return;
    }
    let columns = ["A", "B", "B - A", "interval"];
    let mut table = Table::new(std::iter::once("k").chain(columns).map(|name| (name, Align::Right)));
    let side = |side: Option<AtKSide>| match side {
        None => "-".to_owned(),
        Some(side) if side.if_open > side.value => {
            format!("{} ({} if open)", number(side.value), number(side.if_open))
        }
        Some(side) => number(side.value),
    };
    for at in &samples.at {
        let difference = at.difference.map(|e| signed(e.value)).unwrap_or_else(|| "-".to_owned());
        let interval = at.difference.and_then(|e| e.interval).map(|interval| range(interval, signed));
        let interval = interval.unwrap_or_else(|| "-".to_owned());
        table.row([at.k.to_string(), side(at.a), side(at.b), difference, interval]);
    }
    blocks.push(Block::Table(table));
    let fewer = |pick: fn(&AtK) -> Option<AtKSide>| {
        let units = samples.at.iter().filter_map(pick).map(|side| side.units);
        let (least, most) = (units.clone().min(), units.max());
        least.zip(most).filter(|(least, most)| least < most)
    };
    for (letter, units) in [("A", fewer(|at| at.a)), ("B", fewer(|at| at.b))] {
        if let Some((least, most)) = units {
            let what = "the highest k rests on fewer of them";
            blocks.push(Block::Line(format!("{letter}: means of {most} down to {least}; {what}.")));
        }
    }
    for (letter, copies) in [("A", samples.copies_a), ("B", samples.copies_b)] {
        if copies > 0 {
            let copies = count(copies, "sample");
            blocks.push(Block::Line(format!(
                "{letter}: {copies} repeat another word for word and are not new draws."
            )));
        }
    }
}

fn open_lines(success: &Success, blocks: &mut Vec<Block>) {
    if success.open == 0 {
        return;
    }
    let told = |open: &[(OpenReason, usize)]| {
        let all: Vec<String> =
            open.iter().map(|(why, n)| format!("{n} {}", super::pairs::why_word(*why))).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    };
    blocks.push(Block::Line(format!(
        "Open, and in no test: {} (A: {}; B: {}).",
        count(success.open as usize, "pair"),
        told(&success.open_a),
        told(&success.open_b)
    )));
    if let Some(bounds) = success.bounds {
        blocks.push(Block::Line(format!(
            "Were they all counted for A and against B: difference {}, {}; for B and against A: {}, {}.",
            points(bounds.for_a.difference),
            p_equation(bounds.for_a.p),
            points(bounds.for_b.difference),
            p_equation(bounds.for_b.p)
        )));
    }
}

fn side(letter: &str, side: &Side) -> String {
    let models = if side.models.is_empty() { "no model named".to_owned() } else { side.models.join(" + ") };
    format!(
        "{letter}: {} ({}; {}; {}, {})",
        one_line(&side.name),
        one_line(&side.pipeline),
        one_line(&models),
        count(side.runs, "run"),
        count(side.tasks, "task")
    )
}

fn wall(letter: &str, side: &Side) -> String {
    let wall = &side.wall;
    if wall.sessions == 0 {
        return format!("{letter}: no session's times were read.");
    }
    let rate = wall
        .solved_per_second
        .map_or(String::new(), |rate| format!(", tasks solved a second: {}", number(rate)));
    let unknown = match wall.without_end {
        0 => String::new(),
        n => format!("; {} without a recorded end, whose time is unknown", count(n, "session")),
    };
    format!(
        "{letter}: wall time of whole runs {} s in {}{rate}{unknown}.",
        number(wall.seconds),
        count(wall.sessions, "session")
    )
}

fn because(key: &PairKey, what: &str, why: &str) -> String {
    let parts: Vec<String> =
        [what, why].iter().filter(|part| !part.is_empty()).map(|part| one_line(part)).collect();
    if parts.is_empty() {
        one_line(&key.label())
    } else {
        format!("{}: {}", one_line(&key.label()), parts.join("; "))
    }
}

/// Control characters escaped, spaces and line ends as one space, and of an endless text the beginning.
fn one_line(text: &str) -> String {
    const MOST: usize = 240;
    let line = escape(&text.split_whitespace().collect::<Vec<_>>().join(" ")).to_string();
    if line.chars().count() <= MOST { line } else { line.chars().take(MOST).collect::<String>() + "..." }
}

fn tidy(text: &str) -> String {
    let mut out = String::new();
    let mut blank = true;
    for line in text.lines() {
        if !(line.is_empty() && blank) {
            out += line;
            out.push('\n');
        }
        blank = line.is_empty();
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// A number and a noun, in the plural where it is not one.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn points(difference: f64) -> String {
    format!("{:+.1} points", difference * 100.0)
}

fn points_range(interval: Interval) -> String {
    format!("{:+.1} to {:+.1}", interval.low * 100.0, interval.high * 100.0)
}

/// Up to four significant digits.
fn number(value: f64) -> String {
    let size = value.abs();
    let digits = if size >= 1000.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 10.0 {
        2
    } else if size >= 0.1 || size == 0.0 {
        3
    } else {
        5
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn signed(value: f64) -> String {
    let text = number(value);
    if value > 0.0 { format!("+{text}") } else { text }
}

pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

/// A p-value in a sentence.
pub(crate) fn p_equation(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}

fn range(interval: Interval, form: impl Fn(f64) -> String) -> String {
    format!("{} to {}", form(interval.low), form(interval.high))
}

fn interval_of(estimate: Estimate) -> String {
    estimate.interval.map_or_else(|| "-".to_owned(), |interval| range(interval, number))
}

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
