//! Reads, checks and prints every domain and problem of the shared suites, and names those that fail.
//!
//! The suites are not part of this repository. If they are absent, the tests print that and pass.

use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{
    StripSpans, TaskSources, check_domain, check_problem, parse_domain, parse_problem, print_domain,
    print_problem,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files with known errors: both have facts about undeclared objects.
const FAULTY: [&str; 2] = ["exploration-walk/floortile/p_example.pddl", "llm-p/floortile/p_example.pddl"];

fn suites() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/suites");
    if root.is_dir() {
        return Some(root);
    }
    println!("skipped: {} is not there", root.display());
    None
}

fn files(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "pddl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

enum Definition {
    Domain(Domain),
    Problem(Problem),
}

fn read(path: &Path) -> (String, Definition, Vec<Diagnostic>) {
    let text = std::fs::read_to_string(path).unwrap();
    if text.to_lowercase().contains("(domain ") {
        let parsed = parse_domain(&text, SourceId(0));
        (text, Definition::Domain(parsed.value), parsed.diagnostics)
    } else {
        let parsed = parse_problem(&text, SourceId(0));
        (text, Definition::Problem(parsed.value), parsed.diagnostics)
    }
}

/// The domain a problem belongs to, by the layouts the collections use.
fn domain_of(problem: &Path) -> Domain {
    let folder = problem.parent().unwrap();
    let stem = problem.file_stem().unwrap().to_str().unwrap();
    let usual = if stem.ends_with("_template") { "domain_template.pddl" } else { "domain.pddl" };
    let candidates =
        [folder.join(format!("domain-{stem}.pddl")), folder.join(usual), folder.with_extension("pddl")];
    let path = candidates.iter().find(|c| c.exists()).unwrap_or_else(|| panic!("no domain for {problem:?}"));
    match read(path).1 {
        Definition::Domain(domain) => domain,
        Definition::Problem(_) => panic!("{path:?} is no domain"),
    }
}

#[test]
fn every_file_is_accepted_except_the_faulty_ones() {
    let Some(root) = suites() else { return };
    let mut share: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut refused = Vec::new();
    for path in files(&root) {
        let (_, definition, mut found) = read(&path);
        match &definition {
            Definition::Domain(domain) => found.extend(check_domain(domain, SourceId(0))),
            Definition::Problem(problem) => {
                let sources = TaskSources { domain: SourceId(1), problem: SourceId(0) };
                found.extend(check_problem(&domain_of(&path), problem, sources));
            }
        }
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let errors: Vec<&Diagnostic> = found.iter().filter(|d| d.is_error()).collect();
        let collection = name.split('/').next().unwrap().to_owned();
        let (accepted, all) = share.entry(collection).or_default();
        *all += 1;
        if errors.is_empty() {
            *accepted += 1;
        } else {
            println!("{name}: {}", errors.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; "));
            refused.push(name);
        }
    }
    for (collection, (accepted, all)) in &share {
        println!("{collection}: {accepted} of {all} accepted");
    }
    assert_eq!(refused, FAULTY);
    assert!(share.len() >= 5, "a collection is missing: {share:?}");
}

#[test]
fn printing_is_stable_and_keeps_the_content() {
    let Some(root) = suites() else { return };
    for path in files(&root) {
        let (text, definition, _) = read(&path);
        match definition {
            Definition::Domain(domain) => {
                let printed = print_domain(&domain);
                let again = parse_domain(&printed, SourceId(0));
                assert!(!again.has_errors(), "{path:?}\n{:?}\n{printed}", again.diagnostics);
                assert!(again.value.eq_ignoring_spans(&domain), "{path:?}\n{printed}");
                assert_eq!(print_domain(&again.value), printed, "{path:?}");
                assert_eq!(words(&text, true), words(&printed, true), "{path:?}");
            }
            Definition::Problem(problem) => {
                let printed = print_problem(&problem);
                let again = parse_problem(&printed, SourceId(0));
                assert!(!again.has_errors(), "{path:?}\n{:?}\n{printed}", again.diagnostics);
                assert!(again.value.eq_ignoring_spans(&problem), "{path:?}\n{printed}");
                assert_eq!(print_problem(&again.value), printed, "{path:?}");
                assert_eq!(words(&text, false), words(&printed, false), "{path:?}");
                assert_eq!(problem.init.len(), facts(&text), "{path:?}");
            }
        }
    }
}

/// Counts the names in a text with an independent reader: words without comments and punctuation. Types are
/// grouped anew by the printer and numbers are written anew, so neither counts, nor do keywords of PDDL in a
/// domain, where axioms become rules and `()` becomes `(and)`.
fn words(text: &str, domain: bool) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut after_dash = false;
    for line in text.lines() {
        let line = line.split(';').next().unwrap().replace('(', " ( ").replace(')', " ) ").replace('?', " ?");
        for word in line.split_whitespace() {
            let is_type = std::mem::replace(&mut after_dash, word == "-");
            let lower = word.to_lowercase();
            let punctuation = matches!(lower.as_str(), "(" | ")" | "-" | "either" | "object" | "number");
            let grammar = lower.starts_with(':') || matches!(lower.as_str(), "and" | "exists" | "in-package");
            if is_type || punctuation || lower.parse::<f64>().is_ok() || (domain && grammar) {
                continue;
            }
            if lower.starts_with('-')
                || lower.starts_with('"')
                || lower == ":requirements"
                || lower == ":objects"
            {
                continue;
            }
            *counts.entry(lower).or_default() += 1;
        }
    }
    counts
}

/// Counts the entries of a problem's initial state by parentheses alone.
fn facts(text: &str) -> usize {
    let clean: String = text.lines().flat_map(|line| [line.split(';').next().unwrap(), "\n"]).collect();
    let lower = clean.to_lowercase();
    let start = lower.find(":init").unwrap();
    let mut depth = 0;
    let mut count = 0;
    for byte in lower.as_bytes()[start..].iter() {
        match byte {
            b'(' => {
                count += usize::from(depth == 0);
                depth += 1;
            }
            b')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            break;
        }
    }
    count
}
