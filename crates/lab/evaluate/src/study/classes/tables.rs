//! The judged mutants, as tables and lists.

use super::super::suites::StudySuite;
use super::{Behaves, Exact, JudgedMutant};
use crate::table::{Align, Table};
use planforge_pddl::mutate::action::ActionMutantKind;
use planforge_planning::equivalence::domains::ComparisonVerdict;
use planforge_planning::result_class::ResultClass;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

fn columns(first: &str, names: impl IntoIterator<Item = String>) -> Table {
    let rest = names.into_iter().map(|name| (name, Align::Right));
    Table::new(std::iter::once((first.to_owned(), Align::Left)).chain(rest))
}

/// A row for each suite and one for all, of counts.
fn by_suite(
    mut table: Table,
    suites: &[StudySuite],
    judged: &[JudgedMutant],
    counts: impl Fn(&[&JudgedMutant]) -> Vec<String>,
) -> Table {
    let mut row = |name: &str, own: &[&JudgedMutant]| {
        table.row(std::iter::once(name.to_owned()).chain(counts(own)));
    };
    for (index, suite) in suites.iter().enumerate() {
        row(&suite.name, &judged.iter().filter(|j| j.suite == index).collect::<Vec<_>>());
    }
    row("all", &judged.iter().collect::<Vec<_>>());
    table
}

fn count(own: &[&JudgedMutant], test: impl Fn(&JudgedMutant) -> bool) -> String {
    own.iter().filter(|j| test(j)).count().to_string()
}

/// Mutants by kind, and the number of actions with fewer than requested.
pub fn by_kind(suites: &[StudySuite], judged: &[JudgedMutant], asked: usize) -> Table {
    let kinds = ActionMutantKind::ALL;
    let names = ["actions", "mutants"].into_iter().chain(kinds.iter().map(|kind| kind.as_str()));
    let names = names.chain(["actions with fewer"]).map(str::to_owned);
    by_suite(columns("domain", names), suites, judged, |own| {
        let mut of_action: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for j in own {
            *of_action.entry((j.suite, j.action)).or_default() += 1;
        }
        let fewer = of_action.values().filter(|n| **n < asked).count();
        let mut cells = vec![of_action.len().to_string(), own.len().to_string()];
        cells.extend(kinds.iter().map(|kind| count(own, |j| j.mutant.kind == *kind)));
        cells.push(fewer.to_string());
        cells
    })
}

/// Mutants by class, and how many have a flaw by construction and come out as it.
pub fn by_class(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    let names = ResultClass::ALL.iter().map(|class| class.name().to_owned());
    let names = names.chain(["flaws".to_owned(), "found".to_owned()]);
    by_suite(columns("domain", names), suites, judged, |own| {
        let mut cells: Vec<String> =
            ResultClass::ALL.iter().map(|class| count(own, |j| j.class == *class)).collect();
        cells.push(count(own, |j| j.mutant.flaw.is_some()));
        cells.push(count(own, |j| j.mutant.flaw.is_some() && !j.is_misjudged()));
        cells
    })
}

/// The results of the exact comparison by class.
pub fn behaviour(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    const DIFFERENT: [ResultClass; 3] = [ResultClass::NoPlan, ResultClass::NPApp, ResultClass::OPApp];
    let (equivalent, undecided) = (vec![ResultClass::Equivalent], vec![ResultClass::Undecided]);
    let columns_of = [
        ("equal: Equivalent", ComparisonVerdict::Equal, equivalent.clone()),
        ("equal: called different", ComparisonVerdict::Equal, DIFFERENT.to_vec()),
        ("equal: Undecided", ComparisonVerdict::Equal, undecided.clone()),
        ("different: NoPlan", ComparisonVerdict::Different, vec![ResultClass::NoPlan]),
        ("different: NPApp", ComparisonVerdict::Different, vec![ResultClass::NPApp]),
        ("different: OPApp", ComparisonVerdict::Different, vec![ResultClass::OPApp]),
        ("different: Equivalent", ComparisonVerdict::Different, equivalent),
        ("different: Undecided", ComparisonVerdict::Different, undecided),
        ("open", ComparisonVerdict::Open, ResultClass::ALL.to_vec()),
    ];
    let names = columns_of.iter().map(|(name, ..)| (*name).to_owned());
    by_suite(columns("domain", names), suites, judged, |own| {
        let of = |j: &JudgedMutant, exact: ComparisonVerdict| {
            j.behaves.as_ref().is_some_and(|b| b.exact.verdict() == exact)
        };
        let cell = |(_, exact, classes): &(&str, ComparisonVerdict, Vec<ResultClass>)| {
            count(own, |j| of(j, *exact) && classes.contains(&j.class))
        };
        columns_of.iter().map(cell).collect()
    })
}

/// By kind of mistake: exactly different ones that plans show and do not show, for each k.
pub fn by_mistake(judged: &[JudgedMutant], ks: &[NonZeroUsize]) -> Table {
    let names = ["equal", "different", "open"].map(str::to_owned).into_iter();
    let names = names.chain(ks.iter().map(|k| format!("different, not shown by {k} plans")));
    let mut table = columns("mistake", names.chain(["equal, counted otherwise".to_owned()]));
    let mut row = |name: &str, test: &dyn Fn(&JudgedMutant) -> bool| {
        let own: Vec<&Behaves> =
            judged.iter().filter(|j| test(j)).filter_map(|j| j.behaves.as_ref()).collect();
        let count = |test: &dyn Fn(&Behaves) -> bool| own.iter().filter(|b| test(b)).count().to_string();
        let different = |b: &Behaves| matches!(b.exact, Exact::Different(_));
        let mut cells = vec![
            name.to_owned(),
            count(&|b| b.exact == Exact::Equal),
            count(&different),
            count(&|b| b.exact == Exact::Open),
        ];
        cells.extend(
            (0..ks.len())
                .map(|at| count(&|b| different(b) && b.classes.get(at) == Some(&ResultClass::Equivalent))),
        );
        cells.push(count(&|b| b.counted.is_some_and(|class| class != ResultClass::Equivalent)));
        table.row(cells);
    };
    for kind in ActionMutantKind::ALL.into_iter().take(4) {
        row(kind.as_str(), &|j| j.mutant.kind == kind);
    }
    row("all", &|_| true);
    table
}

/// The reason why plans do not show a difference, by suite.
pub fn unseen_reasons(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    let unseen = |j: &JudgedMutant| j.behaves.as_ref().and_then(|b| b.unseen.as_ref()).map(|u| u.name());
    let mut names: Vec<&'static str> = judged.iter().filter_map(unseen).collect();
    names.sort_unstable();
    names.dedup();
    let table = columns("domain", names.iter().map(|name| (*name).to_owned()));
    by_suite(table, suites, judged, |own| {
        names.iter().map(|name| count(own, |j| unseen(j) == Some(*name))).collect()
    })
}

/// Every mutant that is not what it is by construction, in words.
pub fn misjudged(suites: &[StudySuite], judged: &[JudgedMutant]) -> Vec<String> {
    judged
        .iter()
        .filter(|j| j.is_misjudged() || j.contradicts())
        .map(|j| {
            let expected = match j.mutant.flaw {
                Some(flaw) => ResultClass::from(flaw).name(),
                None => "no error, and where exactly equal no difference",
            };
            format!(
                "{} {}: {} ({}): {} by construction, {} found{}\n{}",
                suite_name(suites, j),
                action_name(suites, j),
                j.mutant.kind,
                j.mutant.change,
                expected,
                j.class.name(),
                j.finding.as_ref().map(|f| format!(": {f}")).unwrap_or_default(),
                j.mutant.reply
            )
        })
        .collect()
}

/// The suite that a mutant is of.
fn suite_name<'s>(suites: &'s [StudySuite], judged: &JudgedMutant) -> &'s str {
    suites.get(judged.suite).map_or("", |suite| suite.name.as_str())
}

fn action_name<'s>(suites: &'s [StudySuite], judged: &JudgedMutant) -> &'s str {
    let action = suites.get(judged.suite).and_then(|suite| suite.domain.actions.get(judged.action));
    action.map_or("", |action| action.name.as_str())
}

/// Every mutant, for a file.
pub fn rows(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    let names = [
        "domain",
        "action",
        "kind",
        "change",
        "constructed",
        "class",
        "finding",
        "exact",
        "shortest difference",
        "further k",
        "counted",
        "why plans do not show it",
        "action text",
    ];
    let mut table = Table::new(names.map(|name| (name, Align::Left)));
    for j in judged {
        let behaves = j.behaves.as_ref();
        let difference = behaves.and_then(|b| match &b.exact {
            Exact::Different(d) => {
                Some(d.steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
            _ => None,
        });
        let further =
            behaves.map(|b| b.classes.iter().skip(1).map(|c| c.name()).collect::<Vec<_>>().join(" "));
        table.row([
            suite_name(suites, j).to_owned(),
            action_name(suites, j).to_owned(),
            j.mutant.kind.to_string(),
            j.mutant.change.clone(),
            j.mutant.flaw.map(|flaw| ResultClass::from(flaw).name().to_owned()).unwrap_or_default(),
            j.class.name().to_owned(),
            j.finding.clone().unwrap_or_default(),
            behaves.map(|b| format!("{:?}", b.exact.verdict()).to_lowercase()).unwrap_or_default(),
            difference.unwrap_or_default(),
            further.unwrap_or_default(),
            behaves.and_then(|b| b.counted).map(|c| c.name().to_owned()).unwrap_or_default(),
            behaves.and_then(|b| b.unseen.as_ref()).map(|u| u.name().to_owned()).unwrap_or_default(),
            j.mutant.text.clone(),
        ]);
    }
    table
}
