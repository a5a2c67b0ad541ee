//! The domains and their problems, and the texts of the tables put to their actions.

use super::tables::{CLASSES, Class, Row};
use super::{Import, LAYOUT_HELP, Text};
use crate::codes;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::{Action, Domain};
use planforge_pddl::{
    TaskSources, check_domain, check_problem, diff_domains, nearest, parse_domain, parse_problem,
};
use std::collections::BTreeMap;

/// A domain with its problems.
#[derive(Debug)]
pub(super) struct DomainFiles {
    /// The stem of its file, which names the suite.
    pub(super) name: String,
    pub(super) file: Text,
    pub(super) domain: Domain,
    /// Stems and texts, in order.
    pub(super) problems: Vec<(String, String)>,
}

/// The texts of a domain's actions: action, in lower case -> class -> text.
pub(super) type Texts = BTreeMap<String, BTreeMap<Class, String>>;

impl Import<'_> {
    /// Every `pddl-problems/NAME.pddl` that has a folder of problems.
    pub(super) fn domains(&mut self) -> Option<Vec<DomainFiles>> {
        let stems = self.stems("pddl-problems", ".pddl")?;
        if stems.is_empty() {
            let message = format!("{} has no domain NAME.pddl", self.display_path("pddl-problems"));
            self.found.push(Diagnostic::error(codes::LAYOUT, message).help(LAYOUT_HELP));
        }
        Some(stems.into_iter().filter_map(|name| self.domain(name)).collect())
    }

    fn domain(&mut self, name: String) -> Option<DomainFiles> {
        let file = self.text(&format!("pddl-problems/{name}.pddl"))?;
        let parsed = parse_domain(&file.text, file.source);
        let mut wrong = parsed.diagnostics;
        wrong.extend(check_domain(&parsed.value, file.source));
        self.found.extend(wrong.into_iter().filter(Diagnostic::is_error));
        let folder = format!("pddl-problems/{name}");
        // Without its problems it still has its actions, so that its rows are not strange.
        let stems = self.stems(&folder, ".pddl");
        if stems.as_ref().is_some_and(Vec::is_empty) {
            let message = format!("{} has no problem", self.display_path(&folder));
            self.found.push(Diagnostic::error(codes::LAYOUT, message).help(LAYOUT_HELP));
        }
        let mut problems = Vec::new();
        for stem in stems.unwrap_or_default() {
            let Some(problem) = self.text(&format!("{folder}/{stem}.pddl")) else { continue };
            let read = parse_problem(&problem.text, problem.source);
            let sources = TaskSources { domain: file.source, problem: problem.source };
            let wrong = check_problem(&parsed.value, &read.value, sources);
            self.found.extend(read.diagnostics.into_iter().chain(wrong).filter(Diagnostic::is_error));
            problems.push((stem, problem.text));
        }
        Some(DomainFiles { name, file, domain: parsed.value, problems })
    }

    /// The texts of each domain's actions, in the order of the domains.
    pub(super) fn actions(&mut self, domains: &[DomainFiles], rows: Vec<Row>) -> Vec<Texts> {
        let mut texts: Vec<Texts> = domains.iter().map(|_| Texts::new()).collect();
        // Where that table is not there at all, one message says it.
        let based = rows.iter().any(|row| row.class == Class::Base);
        for row in rows {
            let Some(index) = domains.iter().position(|found| found.is_called(&row.domain)) else {
                let names: Vec<&str> = domains.iter().map(|d| d.name.as_str()).collect();
                let message = format!("no domain in pddl-problems is called `{}`", row.domain);
                let help = format!("the domains are {}", names.join(", "));
                self.found.push(row.error(codes::ROW, message).help(help));
                continue;
            };
            let (Some(domain), Some(texts)) = (domains.get(index), texts.get_mut(index)) else { continue };
            self.action(domain, row, texts);
        }
        for (domain, texts) in domains.iter().zip(&texts) {
            self.silent(domain, texts, based);
        }
        texts
    }

    fn action(&mut self, found: &DomainFiles, row: Row, texts: &mut Texts) {
        let actions = &found.domain.actions;
        let Some(action) = actions.iter().find(|a| a.name.as_str().eq_ignore_ascii_case(&row.action)) else {
            let message = format!("domain `{}` has no action `{}`", found.name, row.action);
            let names: Vec<&str> = actions.iter().map(|a| a.name.as_str()).collect();
            let help = match nearest(&row.action, names.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("its actions are {}", names.join(", ")),
            };
            self.found.push(row.error(codes::ROW, message).help(help));
            return;
        };
        if let Some(differs) = differs(found, action, &row) {
            self.found.push(differs);
        }
        let of_action = texts.entry(action.name.key().to_owned()).or_default();
        if of_action.contains_key(&row.class) {
            let message = format!("action `{}` of `{}` is described twice", row.action, found.name);
            self.found.push(row.error(codes::ROW, message).help("keep one of the rows"));
            return;
        }
        of_action.insert(row.class, row.text);
    }

    /// Actions that a table leaves out: a text is made for them from the suite's sentences.
    fn silent(&mut self, found: &DomainFiles, texts: &Texts, based: bool) {
        for action in &found.domain.actions {
            let told = texts.get(action.name.key());
            let missing: Vec<&str> = CLASSES
                .iter()
                .filter(|(class, _)| !told.is_some_and(|t| t.contains_key(class)))
                .map(|(_, file)| *file)
                .collect();
            if missing.is_empty() {
                continue;
            }
            let message =
                format!("action `{}` of `{}` has no row in {}", action.name, found.name, missing.join(", "));
            // The texts of the other classes go on where that of the base class ends.
            let unfounded = based && told.is_some_and(|t| !t.is_empty() && !t.contains_key(&Class::Base));
            let silent = match unfounded {
                true => Diagnostic::error(codes::NO_ROW, message)
                    .help("add its row to Base-HC.csv: its other texts continue that one"),
                false => Diagnostic::warning(codes::NO_ROW, message)
                    .help("its text is made from its parameters and the suite's sentences"),
            };
            self.found.push(silent.at(found.file.source, action.name.span, ""));
        }
    }
}

impl DomainFiles {
    /// Tables name a domain as its PDDL does, or as its file is called; letters of any case.
    fn is_called(&self, name: &str) -> bool {
        let own = self.domain.name.as_ref().map(|n| n.as_str());
        own.is_some_and(|own| own.eq_ignore_ascii_case(name)) || self.name.eq_ignore_ascii_case(name)
    }
}

/// The difference between a row's PDDL and the domain's file. Formatting and the order of conjuncts do not
/// matter.
fn differs(found: &DomainFiles, action: &Action, row: &Row) -> Option<Diagnostic> {
    let warn = |what: String| {
        row.warning(codes::DIFFERS, format!("{what} of `{}` in {}", row.action, found.name))
            .also(found.file.source, action.span, "what counts")
            .help("the domain's file counts; the row's text is taken over as it is")
    };
    let wrapped = format!("(define (domain d) {})", row.pddl);
    let written = parse_domain(&wrapped, row.source);
    if let Some(wrong) = written.diagnostics.iter().find(|d| d.is_error()) {
        return Some(warn(format!("the row's PDDL cannot be read ({}) for the action", wrong.message)));
    }
    let one = |action: Option<&Action>| Domain {
        actions: action.into_iter().cloned().collect(),
        ..Domain::default()
    };
    let differences = diff_domains(&one(Some(action)), &one(written.value.actions.first()));
    if differences.is_empty() && written.value.actions.len() == 1 {
        return None;
    }
    let shown: Vec<String> = differences.iter().map(ToString::to_string).collect();
    Some(warn(format!("the row's PDDL differs ({}) from the action", shown.join("; "))))
}
