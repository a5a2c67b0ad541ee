//! Round trips of suites through a disguise; the disguised suite contains no original name.

// Helpers outside of #[test] are no production code either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../planning/tests/it/support.rs"]
mod support;

use planforge_diagnostics::SourceId;
use planforge_obfuscate::{Disguise, DisguiseOptions, NameGroup, NameStyle, Sources};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{
    Name, NameKind, StripSpans, VisitNames as _, diff_domains, diff_problems, parse_domain, parse_problem,
};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::domains::{ComparisonVerdict, EquivalenceLimits, compare_domains};
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use support::{Features, random_task};

fn suites() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    folders.retain(|folder| folder.join("domain.pddl").exists());
    folders.sort();
    assert!(folders.len() >= 15);
    folders
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

/// Every file of a suite's folder: texts, domains and problems.
fn sources(folder: &Path) -> Sources {
    let mut sources = Sources { suite: name(folder), ..Sources::default() };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for path in files {
        let file = name(&path);
        let list = match file.rsplit_once('.') {
            Some((_, "nl")) => &mut sources.texts,
            Some((stem, "pddl")) if stem.ends_with("_template") => continue,
            Some((stem, "pddl")) if stem.starts_with("domain") => &mut sources.domains,
            Some((_, "pddl")) => &mut sources.problems,
            _ => continue,
        };
        list.push(std::fs::read_to_string(path).unwrap());
    }
    sources
}

fn domain(text: &str) -> Domain {
    let parsed = parse_domain(text, SourceId(0));
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
    parsed.value
}

fn problem(text: &str) -> Problem {
    let parsed = parse_problem(text, SourceId(0));
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
    parsed.value
}

/// The names of definitions; variables and function words are none that could give anything away.
fn names(domains: &[String], problems: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut note = |symbol: NameKind, name: &mut Name| {
        if symbol != NameKind::Variable {
            names.insert(name.key().to_owned());
        }
    };
    domains.iter().for_each(|text| domain(text).visit_names(&mut note));
    problems.iter().for_each(|text| problem(text).visit_names(&mut note));
    names
}

/// Differences other than order: by structure, and by the comparison of behaviour.
fn same(reference: (&str, &str), told: (&str, &str), what: &str) -> ComparisonVerdict {
    let (a, b) = (domain(reference.0), domain(told.0));
    let (pa, pb) = (problem(reference.1), problem(told.1));
    assert!(diff_domains(&a, &b).is_empty(), "{what}: {:?}", diff_domains(&a, &b));
    assert!(diff_problems(&pa, &pb).is_empty(), "{what}: {:?}", diff_problems(&pa, &pb));
    let limits = EquivalenceLimits { max_pairs: 20_000, ..EquivalenceLimits::default() };
    let verdict = compare_domains([&a, &b], [&pa, &pb], &limits, &mut Unlimited).unwrap().verdict();
    assert_ne!(verdict, ComparisonVerdict::Different, "{what}");
    let equal = equivalent_problems(&a, &pa, &pb, 1_000_000, &mut Unlimited);
    assert!(matches!(equal, ProblemEquivalence::Equal { .. }), "{what}: {equal:?}");
    verdict
}

#[test]
fn every_suite_comes_back_equal_from_its_disguise() {
    for folder in suites() {
        let sources = sources(&folder);
        for (names, seed) in [(NameStyle::Random, 1), (NameStyle::Misleading, 2), (NameStyle::Original, 3)] {
            let disguise = Disguise::new(&sources, &DisguiseOptions::all(names, seed));
            let told = disguise.domain(&sources.domains[0]).unwrap();
            let renamed = |text: &str| if names == NameStyle::Original { None } else { Some(text != told) };
            assert_ne!(renamed(&sources.domains[0]), Some(false));
            for text in &sources.problems {
                let new = disguise.problem(text).unwrap();
                let back = disguise.renaming().back([told.as_str(), new.as_str()]);
                assert!(back.recalled.is_empty(), "{:?}", back.recalled);
                let what = format!("{} {}", sources.suite, names.name());
                let verdict = same((&sources.domains[0], text), (&back.pddl(&told), &back.pddl(&new)), &what);
                assert_eq!(verdict, ComparisonVerdict::Equal, "{what}");
                // The table of this task alone leads back as well.
                let own = disguise.renaming_of([told.as_str()], [new.as_str()]).back([]);
                assert_eq!(own.pddl(&new), back.pddl(&new));
            }
        }
    }
}

#[test]
fn random_domains_come_back_equal_from_their_disguise() {
    // A few have more states than are compared.
    let mut whole = 0;
    for seed in 0..60 {
        let (domain, problem) = random_task(seed, Features { adl: true, derived: true, costs: true });
        let sources = Sources {
            suite: "random".into(),
            domains: vec![domain],
            problems: vec![problem],
            texts: Vec::new(),
        };
        let style = if seed % 2 == 0 { NameStyle::Random } else { NameStyle::Misleading };
        let disguise = Disguise::new(&sources, &DisguiseOptions::all(style, seed));
        let (told, new) =
            (disguise.domain(&sources.domains[0]).unwrap(), disguise.problem(&sources.problems[0]).unwrap());
        let back = disguise.renaming().back([told.as_str(), new.as_str()]);
        let (told, new) = (back.pddl(&told), back.pddl(&new));
        let verdict = same((&sources.domains[0], &sources.problems[0]), (&told, &new), &seed.to_string());
        whole += u32::from(verdict == ComparisonVerdict::Equal);
    }
    assert!(whole >= 50, "{whole}");
}

#[test]
fn no_name_of_a_suite_is_seen_through_its_disguise() {
    for folder in suites() {
        let sources = sources(&folder);
        let originals = names(&sources.domains, &sources.problems);
        for style in [NameStyle::Random, NameStyle::Misleading] {
            let disguise = Disguise::new(&sources, &DisguiseOptions::all(style, 5));
            let renaming = disguise.renaming();
            // All of our suites have names that say something, but for two towns and some parameters (`?next`).
            let silent = |name: &String| !originals.contains(name) || ["from", "to"].contains(&name.as_str());
            assert!(renaming.kept.iter().all(silent), "{:?}", renaming.kept);
            let domains: Vec<String> =
                sources.domains.iter().map(|text| disguise.domain(text).unwrap()).collect();
            let problems: Vec<String> =
                sources.problems.iter().map(|text| disguise.problem(text).unwrap()).collect();
            let new = names(&domains, &problems);
            assert_eq!(new.len(), originals.len(), "{}: two names became one", sources.suite);
            let both: Vec<&String> = new.intersection(&originals).collect();
            assert!(both.iter().all(|name| renaming.kept.contains(name)), "{both:?}");
            let texts: Vec<String> = sources.texts.iter().map(|text| disguise.text(text)).collect();
            for text in &texts {
                let words = text.to_lowercase();
                let words: BTreeSet<&str> =
                    words.split(|c: char| !(c.is_alphanumeric() || "-_".contains(c))).collect();
                let seen: Vec<&String> =
                    originals.iter().filter(|name| words.contains(name.as_str())).collect();
                let allowed = |name: &&String| renaming.left.contains(name) || renaming.kept.contains(name);
                assert!(seen.iter().all(allowed), "{} {}: {seen:?} in {text}", sources.suite, style.name());
            }
            // A story that is told twice is told in the same words.
            let back = renaming.back([]);
            for (text, original) in texts.iter().zip(&sources.texts) {
                assert_eq!(&back.text(text), original, "{}", sources.suite);
            }
        }
    }
}

#[test]
fn a_disguise_belongs_to_seed_and_suite_and_to_nothing_else() {
    let folder = suites().into_iter().find(|folder| name(folder) == "blocks").unwrap();
    let one = sources(&folder);
    let mut reversed = one.clone();
    reversed.problems.reverse();
    reversed.texts.reverse();
    let told = |sources: &Sources, options: &DisguiseOptions| {
        let disguise = Disguise::new(sources, options);
        (
            disguise.domain(&one.domains[0]).unwrap(),
            disguise.problem(&one.problems[2]).unwrap(),
            disguise.text(&one.texts[1]),
        )
    };
    let options = DisguiseOptions::all(NameStyle::Random, 7);
    assert_eq!(told(&one, &options), told(&reversed, &options));
    assert_ne!(told(&one, &options), told(&one, &DisguiseOptions::all(NameStyle::Random, 8)));
    assert_ne!(told(&one, &options), told(&Sources { suite: "piles".into(), ..one.clone() }, &options));
    let kept =
        told(&one, &DisguiseOptions { reorder: false, ..DisguiseOptions::all(NameStyle::Original, 7) });
    assert_eq!(kept.2, one.texts[1]);
    assert!(domain(&kept.0).eq_ignoring_spans(&domain(&one.domains[0])));
    // Order alone says nothing else.
    let moved = told(&one, &DisguiseOptions::all(NameStyle::Original, 7));
    assert!(!domain(&moved.0).eq_ignoring_spans(&domain(&one.domains[0])));
    assert!(diff_domains(&domain(&moved.0), &domain(&one.domains[0])).is_empty());
}

#[test]
fn kinds_that_are_not_listed_keep_their_names() {
    let folder = suites().into_iter().find(|folder| name(folder) == "tyres").unwrap();
    let sources = sources(&folder);
    for kind in NameGroup::ALL {
        let options = DisguiseOptions { what: [kind].into(), ..DisguiseOptions::all(NameStyle::Random, 1) };
        let disguise = Disguise::new(&sources, &options);
        let told = disguise.domain(&sources.domains[0]).unwrap();
        let mut changed = BTreeSet::new();
        let mut old = Vec::new();
        domain(&sources.domains[0])
            .visit_names(&mut |symbol, name| old.push((symbol, name.key().to_owned())));
        let ordered = Disguise::new(&sources, &DisguiseOptions { reorder: false, ..options.clone() });
        let mut new = Vec::new();
        domain(&ordered.domain(&sources.domains[0]).unwrap())
            .visit_names(&mut |symbol, name| new.push((symbol, name.key().to_owned())));
        assert_eq!(old.len(), new.len());
        for ((symbol, a), (_, b)) in old.iter().zip(&new) {
            if a != b {
                changed.insert(*symbol);
            }
        }
        let expected: &[NameKind] = match kind {
            NameGroup::Domain => &[NameKind::Domain],
            // `boot`, `wheel` and `open` name one thing each; what a constant is called an argument is too.
            NameGroup::Types => &[NameKind::Type],
            NameGroup::Predicates => &[NameKind::Predicate],
            NameGroup::Functions | NameGroup::Objects => &[],
            NameGroup::Actions => &[NameKind::Action],
            NameGroup::Constants => &[NameKind::Constant, NameKind::Object],
            NameGroup::Parameters => &[NameKind::Variable],
        };
        assert_eq!(changed, expected.iter().copied().collect(), "{kind:?}");
        let new = disguise.problem(&sources.problems[0]).unwrap();
        let back = disguise.renaming().back([told.as_str(), new.as_str()]);
        same((&sources.domains[0], &sources.problems[0]), (&back.pddl(&told), &back.pddl(&new)), kind.name());
    }
}
