//! Filters and shards: the cells and tasks of a matrix that are run. The rest stays in the tables, as not
//! run.

use super::seeds::parse_seeds;
use crate::results::CellKey;
use planforge_diagnostics::Diagnostic;
use std::fmt;
use wildmatch::WildMatch;

/// The axis of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Suite,
    Pipeline,
    Model,
    Seed,
    Task,
}

impl Axis {
    const ALL: [(&'static str, Self); 5] = [
        ("suite", Self::Suite),
        ("pipeline", Self::Pipeline),
        ("model", Self::Model),
        ("seed", Self::Seed),
        ("task", Self::Task),
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Pipeline => "pipeline",
            Self::Model => "model",
            Self::Seed => "seed",
            Self::Task => "task",
        }
    }
}

/// `suite=a,b`, `task=p0*` or `seed=42-43`: any of several values of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    axis: Axis,
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq)]
enum Pattern {
    Glob(WildMatch),
    Seeds { text: String, seeds: Vec<u64> },
}

impl Pattern {
    fn matches(&self, value: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(value),
            Self::Seeds { seeds, .. } => value.parse().is_ok_and(|seed| seeds.contains(&seed)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Glob(glob) => glob.to_string(),
            Self::Seeds { text, .. } => text.clone(),
        }
    }
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// The mistake, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<&str> = Axis::ALL.iter().map(|(name, _)| *name).collect();
        let (name, values) =
            text.split_once('=').ok_or("write AXIS=VALUES, such as suite=garden,parcels or task=p0*")?;
        let Some((_, axis)) = Axis::ALL.iter().find(|(known, _)| *known == name.trim()) else {
            let near = nearest(name.trim(), &names).map(|near| format!(", did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| format!("; there are {}", names.join(", ")));
            return Err(format!("unknown axis `{}`{near}", name.trim()));
        };
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        if values.contains(&"") {
            return Err(format!("`{text}` names an empty value"));
        }
        let pattern = |value: &&str| match axis {
            Axis::Seed => Ok(Pattern::Seeds { text: (*value).to_owned(), seeds: parse_seeds(value)? }),
            _ => Ok(Pattern::Glob(WildMatch::new(value))),
        };
        let patterns = values.iter().map(pattern).collect::<Result<_, String>>()?;
        Ok(Self { axis: *axis, patterns })
    }

    fn matches(&self, value: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(value))
    }
}

/// Part I of N: every N-th cell of the matrix, from the I-th on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub part: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// Reads `I/N`.
    ///
    /// # Errors
    /// The mistake, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let (part, of) = text.split_once('/').ok_or("write I/N, such as 1/8")?;
        match (number(part), number(of)) {
            (Some(part), Some(of)) if part >= 1 && part <= of => Ok(Self { part, of }),
            (Some(part), Some(of)) => {
                Err(format!("part {part} of {of} is out of range: parts are numbered from 1 to N"))
            }
            _ => Err("write I/N with whole numbers, such as 1/8".to_owned()),
        }
    }

    /// True if the cell at this place of the matrix, counted from 0, belongs to it.
    pub const fn has(self, place: usize) -> bool {
        place % self.of + 1 == self.part
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// The selected part of a matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// A cell or task is run where, on every axis that these name, one of them matches.
    pub only: Vec<Filter>,
    /// And where none of these matches.
    pub except: Vec<Filter>,
    /// And where the cell belongs to this part.
    pub shard: Option<Shard>,
}

/// The names that a matrix has on its axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axes {
    /// The suites, each with its tasks.
    pub suites: Vec<(String, Vec<String>)>,
    pub pipelines: Vec<String>,
    /// The models of the matrix.
    pub models: Vec<String>,
    pub seeds: Vec<u64>,
}

impl Axes {
    fn names(&self, axis: Axis) -> Vec<String> {
        match axis {
            Axis::Suite => self.suites.iter().map(|(name, _)| name.clone()).collect(),
            Axis::Pipeline => self.pipelines.clone(),
            Axis::Model => self.models.clone(),
            Axis::Seed => self.seeds.iter().map(u64::to_string).collect(),
            Axis::Task => {
                let mut all: Vec<String> = self.suites.iter().flat_map(|(_, tasks)| tasks.clone()).collect();
                all.sort();
                all.dedup();
                all
            }
        }
    }
}

/// A filter's value that nothing of the matrix matches, or filters that leave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedFilter {
    message: String,
    help: String,
}

impl UnmatchedFilter {
    /// The message for the user.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error("evaluate.filter", self.message.clone()).help(self.help.clone())
    }
}

impl Selection {
    /// True if any task is left out of a cell that is run.
    pub fn filters_tasks(&self) -> bool {
        self.only.iter().chain(&self.except).any(|filter| filter.axis == Axis::Task)
    }

    /// True if everything is selected.
    pub fn is_whole(&self) -> bool {
        self.only.is_empty() && self.except.is_empty() && self.shard.is_none()
    }

    fn takes(&self, axis: Axis, value: &str) -> bool {
        let mut only = self.only.iter().filter(|filter| filter.axis == axis).peekable();
        let wanted = only.peek().is_none() || only.any(|filter| filter.matches(value));
        wanted && !self.except.iter().any(|filter| filter.axis == axis && filter.matches(value))
    }

    /// True if the cell at this place of the matrix, counted from 0, is run.
    pub fn takes_cell(&self, place: usize, key: &CellKey) -> bool {
        self.shard.is_none_or(|shard| shard.has(place))
            && self.takes(Axis::Suite, &key.suite)
            && self.takes(Axis::Pipeline, &key.pipeline)
            && self.takes(Axis::Model, &key.model)
            && self.takes(Axis::Seed, &key.seed.to_string())
    }

    /// True if a task of a cell is run.
    pub fn takes_task(&self, task: &str) -> bool {
        self.takes(Axis::Task, task)
    }

    /// Every value that nothing of the matrix matches: a filter that was misspelt must not run something else.
    pub fn mistakes(&self, axes: &Axes) -> Vec<UnmatchedFilter> {
        let mut found = Vec::new();
        for (option, filter) in
            self.only.iter().map(|f| ("--only", f)).chain(self.except.iter().map(|f| ("--except", f)))
        {
            let names = axes.names(filter.axis);
            for pattern in filter.patterns.iter().filter(|pattern| !names.iter().any(|n| pattern.matches(n)))
            {
                found.push(no_match(option, filter.axis, &pattern.text(), &names));
            }
        }
        found
    }
}

fn no_match(option: &str, axis: Axis, pattern: &str, names: &[String]) -> UnmatchedFilter {
    let what = axis.name();
    let message = format!("{option} {what}={pattern} matches no {what} of the matrix");
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let help = match nearest(pattern, &all) {
        Some(near) => format!("did you mean `{near}`?"),
        None if all.is_empty() => format!("the matrix has no {what}s"),
        None => {
            let listed: Vec<String> = all.iter().take(20).map(|name| format!("`{name}`")).collect();
            let more = if all.len() > 20 { ", ..." } else { "" };
            format!("there are {}{more}", listed.join(", "))
        }
    };
    UnmatchedFilter { message, help }
}

/// The nearest of the names, if one is near enough to have been meant.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let distances = names.iter().map(|known| (strsim::damerau_levenshtein(name, known), *known));
    distances.filter(|(distance, _)| *distance <= limit).min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(texts: &[&str]) -> Vec<Filter> {
        texts.iter().map(|text| Filter::parse(text).unwrap()).collect()
    }

    fn axes() -> Axes {
        let tasks = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        Axes {
            suites: vec![
                ("garden".to_owned(), tasks(&["p01", "p02"])),
                ("parcels".to_owned(), tasks(&["p01", "p11"])),
            ],
            pipelines: tasks(&["llm-p", "pd-tree"]),
            models: tasks(&["small", "large"]),
            seeds: vec![42, 43, 44],
        }
    }

    /// The cells of the matrix in its order.
    fn cells() -> Vec<CellKey> {
        let axes = axes();
        let mut all = Vec::new();
        for (suite, _) in &axes.suites {
            for (pipeline, model) in
                axes.pipelines.iter().flat_map(|p| axes.models.iter().map(move |m| (p, m)))
            {
                all.extend(axes.seeds.iter().map(|&seed| CellKey {
                    suite: suite.clone(),
                    pipeline: pipeline.clone(),
                    model: model.clone(),
                    seed,
                }));
            }
        }
        all
    }

    fn taken(selection: &Selection) -> usize {
        cells().iter().enumerate().filter(|(place, key)| selection.takes_cell(*place, key)).count()
    }

    #[test]
    fn filters_intersect_across_axes_and_unite_within_one() {
        let only = |texts: &[&str]| Selection { only: filters(texts), ..Selection::default() };
        assert_eq!(taken(&Selection::default()), 24);
        assert_eq!(taken(&only(&["suite=garden,parcels"])), 24);
        assert_eq!(taken(&only(&["suite=g*", "seed=42-43"])), 8);
        assert_eq!(taken(&only(&["seed=42", "seed=44"])), 16);
        assert_eq!(taken(&only(&["pipeline=pd-???e", "model=large", "seed=43"])), 2);
        let except = Selection {
            only: filters(&["suite=garden"]),
            except: filters(&["model=small", "seed=44"]),
            shard: None,
        };
        assert_eq!(taken(&except), 4);
        let tasks = Selection { only: filters(&["task=p0*"]), except: filters(&["task=p02"]), shard: None };
        assert!(tasks.filters_tasks() && !except.filters_tasks());
        assert_eq!(["p01", "p02", "p11"].map(|task| tasks.takes_task(task)), [true, false, false]);
    }

    #[test]
    fn every_cell_belongs_to_one_shard() {
        for of in [1, 2, 5, 24, 40] {
            let shards =
                (1..=of).map(|part| Selection { shard: Some(Shard { part, of }), ..Selection::default() });
            assert_eq!(shards.map(|shard| taken(&shard)).sum::<usize>(), 24, "{of}");
        }
        assert_eq!(Shard::parse("2/3"), Ok(Shard { part: 2, of: 3 }));
        for wrong in ["0/3", "4/3", "3", "a/3", "1/0", "-1/2", ""] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_filter_without_a_match_is_an_error_with_a_suggestion() {
        let selection = Selection {
            only: filters(&["suite=gardn,parcels", "task=q*"]),
            except: filters(&["seed=50-51"]),
            shard: None,
        };
        let found: Vec<String> =
            selection.mistakes(&axes()).iter().map(|m| format!("{}; {}", m.message, m.help)).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("suite=gardn") && found[0].contains("did you mean `garden`?"), "{found:?}");
        assert!(found[1].contains("task=q*") && found[1].contains("`p01`, `p02`, `p11`"), "{found:?}");
        assert!(found[2].contains("--except seed=50-51") && found[2].contains("`42`"), "{found:?}");
        assert!(selection.mistakes(&axes())[0].diagnostic().code == "evaluate.filter");
        for (wrong, word) in [
            ("suit=a", "did you mean `suite`?"),
            ("a", "AXIS=VALUES"),
            ("seed=x", "`x`"),
            ("task=a,", "empty"),
        ] {
            assert!(Filter::parse(wrong).unwrap_err().contains(word), "{wrong}");
        }
    }
}
