//! The table as text and Markdown.

use super::{ClassColumn, ClassRow, Classes, ListedSuspect, rows};
use crate::results::{ComparisonRule, Counts, ExactResult, Group, Histogram, ReplyClass, of_group};
use crate::sums::Artefact;
use crate::table::{Align, Table, marked_up, visible};
use planforge_contract::Failure;
use planforge_planning::result_class::ResultClass;

/// The most suspects that texts list; files list all.
const MOST_LISTED: usize = 20;
/// The most characters of a name that tables show.
const MOST_OF_A_NAME: usize = 60;

impl Classes {
    /// The tables for a terminal.
    pub fn text(&self) -> String {
        self.render_sections(|title, table| format!("{}\n\n{}", visible(title), table.text()), visible)
    }

    /// The tables as Markdown.
    pub fn markdown(&self) -> String {
        // Two blanks at its end keep a line apart from the next.
        self.render_sections(
            |title, table| format!("{}\n\n{}", marked_up(&visible(title)), table.markdown()),
            |line| marked_up(&visible(line)) + "  ",
        )
    }

    fn render_sections(&self, one: impl Fn(&str, &Table) -> String, line: impl Fn(&str) -> String) -> String {
        if self.columns.is_empty() {
            return "Not measured: no pipeline has a stage that classifies actions, such as verifier-classes.\n".to_owned();
        }
        let mut parts = vec![one("Result classes: % of all replies that were asked for", &self.table())];
        parts.push(self.notes().iter().map(|note| line(note) + "\n").collect());
        let mut add = |title: &str, table: Table| {
            if !table.is_empty() {
                parts.push(one(title, &table));
            }
        };
        add(
            "With parameters by position, as in the paper: % of all replies that were asked for",
            self.positional(),
        );
        add("By domain: % of replies", self.by_domain());
        add("By action: % of replies that are equivalent", self.by_action());
        let errors = format!("Action reconstruction error, {}", self.reading.name());
        add(&errors, self.errors());
        add("What the exact comparison says of replies that fit", self.exact());
        let worth = |listed: &&ListedSuspect| self.is_worth_a_look(listed);
        let all = self.columns.iter().flat_map(|column| &column.suspects).filter(worth).count();
        let more = all.saturating_sub(MOST_LISTED);
        let rest = if more > 0 { format!(" ({more} more in classes_suspects.csv)") } else { String::new() };
        let title =
            format!("Equivalent by their plans and not known to be equal, the highest error first{rest}");
        add(
            &title,
            self.suspects(MOST_LISTED, |listed| self.is_worth_a_look(listed), |column| self.short(column)),
        );
        add("After each round of re-prompting: % of the replies that went into rounds", self.rounds());
        add("From the first class (row) to the class after the last round (column): replies", self.changes());
        parts.join("\n")
    }

    /// The remarks below the first table.
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "In brackets: 95 % interval with actions as trials, for replies to one action are not independent (with domains as trials for \
             whole domains). Intervals with replies as trials, and by bootstrap over actions, are in the CSV and JSON."
                .to_owned(),
        ];
        notes.extend(
            self.columns.iter().map(|column| format!("{}: {}.", self.short(column), describe_column(column))),
        );
        if self.columns.iter().any(|column| !column.positional.is_empty()) {
            notes.push(
                "Classes are up to a bijection between parameters of the same type. The paper compares them by position: its classes are in \
                 a table of their own."
                    .to_owned(),
            );
        }
        let any = |group| self.columns.iter().any(|column| of_group(&column.counts(), group) > 0);
        if any(Group::Undecided) || any(Group::Failed) {
            notes.push(
                "Undecided (a limit), Failed (a reply that never came, or a judgement that broke) and NotJudged (a reply that no stage \
                 looked at) are neither right nor wrong; they are part of 100 %."
                    .to_owned(),
            );
        }
        notes
    }

    /// A column's name as tables show it; files have the whole.
    fn short(&self, column: &ClassColumn) -> String {
        let name = self.name(column);
        if name.chars().count() <= MOST_OF_A_NAME {
            return name;
        }
        name.chars().take(MOST_OF_A_NAME - 1).chain(['\u{2026}']).collect()
    }

    fn table(&self) -> Table {
        let names = self.columns.iter().map(|column| (self.short(column), Align::Right));
        let mut table = Table::new([("result".to_owned(), Align::Left)].into_iter().chain(names));
        let replies = self.columns.iter().map(|column| column.replies.to_string());
        table.row(["replies".to_owned()].into_iter().chain(replies));
        for line in self.lines() {
            let (name, sum) = (line.name, line.sum);
            let figures =
                self.columns.iter().map(|column| figure(column.rows.iter().find(|row| row.name == name)));
            let shown = if sum { name.to_owned() } else { format!("  {name}") };
            table.row([shown].into_iter().chain(figures));
        }
        if self.columns.iter().any(|column| column.samples > 0) {
            let samples = self.columns.iter().map(|column| column.samples.to_string());
            table.row(["whole domains".to_owned()].into_iter().chain(samples));
            for group in Group::ALL {
                let of =
                    |column: &ClassColumn| column.whole.iter().find(|row| row.name == group.row()).cloned();
                let lines: Vec<Option<ClassRow>> = self.columns.iter().map(of).collect();
                if lines.iter().flatten().any(|row| row.count > 0) || group == Group::Equivalent {
                    let figures = lines.iter().map(|row| figure(row.as_ref()));
                    table.row([format!("  whole {}", group.row())].into_iter().chain(figures));
                }
            }
        }
        table
    }

    /// The lines of Table 1: the paper's always, and of the others those that some column has, undecided and failed always.
    fn lines(&self) -> Vec<ClassRow> {
        let any =
            |name: &str| self.columns.iter().any(|column| column.row(name).is_some_and(|row| row.count > 0));
        let wanted = |row: &&ClassRow| match row.group {
            Group::Fits => any(row.name),
            Group::Failed => !row.sum && (row.name == ReplyClass::Failed.name() || any(row.name)),
            _ => true,
        };
        let first = self.columns.first().map(|column| column.rows.as_slice()).unwrap_or_default();
        let mut lines: Vec<ClassRow> = first.iter().filter(wanted).cloned().collect();
        // A reply without a class has no primary class.
        lines.iter_mut().filter(|row| row.group == Group::Failed).for_each(|row| row.sum = true);
        lines
    }

    /// The lines of behaviour with parameters by position; empty if no reply changes its class.
    fn positional(&self) -> Table {
        let names = self.columns.iter().map(|column| (self.short(column), Align::Right));
        let mut table = Table::new([("result".to_owned(), Align::Left)].into_iter().chain(names));
        if self.columns.iter().all(|column| column.positional.is_empty()) {
            return table;
        }
        let behaviour =
            |line: &ClassRow| matches!(line.group, Group::Different | Group::Equivalent | Group::Undecided);
        for line in self.lines().into_iter().filter(behaviour) {
            let figures = self.columns.iter().map(|column| {
                let own = if column.positional.is_empty() { &column.rows } else { &column.positional };
                figure(own.iter().find(|row| row.name == line.name))
            });
            let shown = if line.sum { line.name.to_owned() } else { format!("  {}", line.name) };
            table.row([shown].into_iter().chain(figures));
        }
        table
    }

    fn by_domain(&self) -> Table {
        let groups = self.groups();
        let mut table = self.group_table("domain", &groups);
        for (suite, column) in
            self.suites().iter().flat_map(|suite| self.columns.iter().map(move |c| (suite, c)))
        {
            let Some(own) = column.suites.iter().find(|own| own.suite == *suite) else { continue };
            let clusters: Vec<&Counts> = own.actions.iter().map(|tally| &tally.counts).collect();
            table.row(self.grouped_row(suite.clone(), column, &rows(&clusters), &groups));
        }
        table
    }

    fn by_action(&self) -> Table {
        let words = ["domain", "action"].map(|name| (name.to_owned(), Align::Left));
        let names = self.columns.iter().map(|column| (self.short(column), Align::Right));
        let mut table = Table::new(words.into_iter().chain(names));
        for suite in self.suites() {
            for action in self.actions(&suite) {
                let figures = self.columns.iter().map(|column| {
                    let tally = column.tally(&suite, &action);
                    let of = |counts: &Counts| of_group(counts, Group::Equivalent);
                    tally.filter(|tally| tally.replies() > 0).map_or("-".to_owned(), |tally| {
                        let (n, all) = (of(&tally.counts), tally.replies());
                        format!("{:.1} ({n}/{all})", 100.0 * n as f64 / all as f64)
                    })
                });
                table.row([suite.clone(), action.clone()].into_iter().chain(figures));
            }
        }
        table
    }

    fn actions(&self, suite: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let own = self.columns.iter().flat_map(|column| &column.suites).filter(|own| own.suite == suite);
        for tally in own.flat_map(|own| &own.actions) {
            if !names.iter().any(|name| name.eq_ignore_ascii_case(&tally.action)) {
                names.push(tally.action.clone());
            }
        }
        names
    }

    /// The primary classes that tables have columns for.
    fn groups(&self) -> Vec<Group> {
        let any = |group: Group| self.columns.iter().any(|column| of_group(&column.counts(), group) > 0);
        Group::ALL.into_iter().filter(|group| *group != Group::Fits || any(Group::Fits)).collect()
    }

    fn group_table(&self, first: &str, groups: &[Group]) -> Table {
        let words = [(first, Align::Left), ("method", Align::Left), ("replies", Align::Right)];
        let groups = groups.iter().map(|group| (group.row(), Align::Right));
        Table::new(words.into_iter().chain(groups))
    }

    fn grouped_row(
        &self,
        first: String,
        column: &ClassColumn,
        rows: &[ClassRow],
        groups: &[Group],
    ) -> Vec<String> {
        let of = |group: &Group| rows.iter().find(|row| row.sum && row.group == *group);
        let all: u64 = Group::ALL.iter().filter_map(|group| Some(of(group)?.count)).sum();
        let figures =
            groups.iter().map(|group| of(group).map_or("-".to_owned(), |row| format!("{:.1}", row.percent)));
        [first, self.short(column), all.to_string()].into_iter().chain(figures).collect()
    }

    /// Errors by primary class: how many, their mean, and the share of those without any.
    fn errors(&self) -> Table {
        let header = [
            ("method", Align::Left),
            ("class", Align::Left),
            ("replies", Align::Right),
            ("without one", Align::Right),
            ("mean", Align::Right),
            ("error 0 %", Align::Right),
            ("highest", Align::Right),
        ];
        let mut table = Table::new(header);
        for column in &self.columns {
            for group in [Group::Equivalent, Group::Different, Group::Semantic, Group::Undecided, Group::Fits]
            {
                let replies = of_group(&column.counts(), group);
                if replies == 0 {
                    continue;
                }
                let histogram = column.histogram(self.reading, group);
                let known: u64 = histogram.values().sum();
                let mut line = vec![self.short(column), group.name().to_owned(), replies.to_string()];
                line.push((replies - known.min(replies)).to_string());
                line.extend(histogram_figures(&histogram));
                table.row(line);
            }
        }
        table
    }

    fn exact(&self) -> Table {
        let header = [
            ("method", Align::Left),
            ("by plans", Align::Left),
            ("exactly", Align::Left),
            ("replies", Align::Right),
            ("mean error", Align::Right),
            ("error 0 %", Align::Right),
            ("highest error", Align::Right),
        ];
        let mut table = Table::new(header);
        for column in &self.columns {
            for (fate, answers) in &column.exact {
                for answer in ExactResult::ALL {
                    let Some(counted) = answers.get(&answer) else { continue };
                    let name = match fate {
                        ReplyClass::Class(ResultClass::Equivalent) => "equivalent".to_owned(),
                        other => format!("{} ({})", other.group().name(), other.name()),
                    };
                    let mut line =
                        vec![self.short(column), name, answer.name().to_owned(), counted.replies.to_string()];
                    let empty = Histogram::new();
                    line.extend(histogram_figures(counted.errors.get(&self.reading).unwrap_or(&empty)));
                    table.row(line);
                }
            }
        }
        table
    }

    fn rounds(&self) -> Table {
        let groups = self.groups();
        let mut table = self.group_table("round", &groups);
        for column in &self.columns {
            for (round, rows) in column.rounds.iter().enumerate() {
                table.row(self.grouped_row(round.to_string(), column, rows, &groups));
            }
        }
        table
    }

    fn changes(&self) -> Table {
        let groups = self.groups();
        let words = ["method", "first class"].map(|name| (name.to_owned(), Align::Left));
        let names = groups.iter().map(|group| (group.row().to_owned(), Align::Right));
        let mut table = Table::new(words.into_iter().chain(names));
        for column in &self.columns {
            for from in &groups {
                let of = |to: &Group| {
                    let found = column.changes.iter().find(|change| (change.from, change.to) == (*from, *to));
                    found.map_or(0, |change| change.replies)
                };
                let line: Vec<u64> = groups.iter().map(of).collect();
                if line.iter().any(|n| *n > 0) {
                    let first = [self.short(column), from.row().to_owned()];
                    table.row(first.into_iter().chain(line.iter().map(u64::to_string)));
                }
            }
        }
        table
    }
}

/// The counted replies of a column, and the rule that compared plans.
fn describe_column(column: &ClassColumn) -> String {
    let after = if column.after_rounds { "what rounds of re-prompting left" } else { "replies as they came" };
    let mut out = format!("{after}, by stage `{}`", column.stage);
    let one = |s: &ComparisonRule| {
        format!("{} plans of each of {} problems, rule {}, {}", s.k, s.problems, s.rule, s.semantics)
    };
    let all: Vec<String> = column.settings.iter().map(one).collect();
    out += &match all.as_slice() {
        [] => "; no reply came so far that plans were compared".to_owned(),
        [one] => format!("; {one}"),
        several => format!("; MIXED settings: {}", several.join(" and ")),
    };
    if column.runs_open > 0 {
        let (open, runs) = (column.runs_open, column.runs);
        out += &format!(
            "; {open} of {runs} runs are not finished or cannot be read, and what they lack is in no figure"
        );
    }
    out
}

/// Mean, share of zeros in per cent, highest.
fn histogram_figures(histogram: &Histogram) -> [String; 3] {
    let n: u64 = histogram.values().sum();
    if n == 0 {
        return ["-", "-", "-"].map(str::to_owned);
    }
    let sum: u64 = histogram.iter().map(|(error, n)| error * n).sum();
    let zeros = histogram.get(&0).copied().unwrap_or(0);
    [
        format!("{:.2}", sum as f64 / n as f64),
        format!("{:.1}", 100.0 * zeros as f64 / n as f64),
        histogram.keys().next_back().map_or("-".to_owned(), u64::to_string),
    ]
}

/// `10.73 [4, 25]`.
fn figure(row: Option<&ClassRow>) -> String {
    row.map_or("-".to_owned(), |row| {
        format!("{:.2} [{:.0}, {:.0}]", row.percent, row.actions.low, row.actions.high)
    })
}

impl Classes {
    /// The files that hold it.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        let mut files = Artefact::of_table("classes", [self.csv(), self.markdown(), self.text()], self)?;
        if self.columns.iter().any(|column| !column.suspects.is_empty()) {
            files.push(Artefact::new(
                "classes_suspects.csv",
                self.suspects(usize::MAX, |_| true, |column| self.name(column)).csv(),
            ));
        }
        Ok(files)
    }

    /// One line for each class, over all, by domain, by action, by round, and for whole domains.
    pub fn csv(&self) -> String {
        let header = [
            "model",
            "method",
            "pipeline",
            "description",
            "simulated",
            "size_b",
            "scope",
            "suite",
            "action",
            "round",
            "class",
            "sum",
            "replies",
            "count",
            "percent",
            "prompts_low",
            "prompts_high",
            "trials_low",
            "trials_high",
            "bootstrap_low",
            "bootstrap_high",
        ];
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        for column in &self.columns {
            let mut put = |scope: &str, suite: &str, action: &str, round: &str, rows: &[ClassRow]| {
                let all: u64 = rows.iter().filter(|row| row.sum).map(|row| row.count).sum();
                for row in rows {
                    let mut line = vec![column.model.clone(), column.method.clone(), column.pipeline.clone()];
                    line.extend([
                        column.description.clone().unwrap_or_default(),
                        column.simulated.to_string(),
                    ]);
                    line.push(column.size.map_or(String::new(), |size| size.to_string()));
                    line.extend([scope, suite, action, round, row.name].map(str::to_owned));
                    line.extend([row.sum.to_string(), all.to_string(), row.count.to_string()]);
                    let four = |value: f64| format!("{value:.4}");
                    line.extend([row.percent, row.prompts.low, row.prompts.high].map(four));
                    // One action alone does not generalise to others.
                    let trials = (scope != "action").then_some(row.actions);
                    line.extend([trials, row.bootstrap].into_iter().flat_map(|interval| {
                        [interval.map(|i| i.low), interval.map(|i| i.high)]
                            .map(|end| end.map_or(String::new(), four))
                    }));
                    table.row(line);
                }
            };
            put("all", "", "", "", &column.rows);
            put("by-position", "", "", "", &column.positional);
            for suite in &column.suites {
                let clusters: Vec<&Counts> = suite.actions.iter().map(|tally| &tally.counts).collect();
                put("suite", &suite.suite, "", "", &rows(&clusters));
                for tally in &suite.actions {
                    put("action", &suite.suite, &tally.action, "", &rows(&[&tally.counts]));
                }
            }
            for (round, rows) in column.rounds.iter().enumerate() {
                put("round", "", "", &round.to_string(), rows);
            }
            put("whole", "", "", "", &column.whole);
        }
        table.csv()
    }
}
