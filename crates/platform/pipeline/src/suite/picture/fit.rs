//! The check of a template against a domain: a candidate may have other predicates than the reference that
//! the template was written for.

use super::read::CODE;
use super::{Coordinates, Height, Pattern, PictureTemplate, TypeName};
use crate::front::reader::with_help;
use crate::suggest::help_for;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::Domain;
use std::collections::{BTreeMap, BTreeSet};

/// The declarations of a domain, in lower case.
struct Declared {
    predicates: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
    derived: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl Declared {
    fn of(domain: &Domain) -> Self {
        let key = |name: &planforge_pddl::Name| name.key().to_owned();
        let mut types: BTreeSet<String> = domain.types.iter().map(|entry| key(&entry.name)).collect();
        let parents = domain.types.iter().filter_map(|entry| entry.ty.as_ref());
        types.extend(parents.flat_map(|ty| &ty.alternatives).map(key));
        types.insert("object".to_owned());
        Self {
            predicates: domain.predicates.iter().map(|p| (key(&p.name), p.parameters.len())).collect(),
            functions: domain.functions.iter().map(|f| (key(&f.name), f.parameters.len())).collect(),
            derived: domain.derived.iter().map(|rule| key(&rule.predicate)).collect(),
            types,
        }
    }
}

impl PictureTemplate {
    /// Everything that keeps the template from drawing states of this domain (`suite.picture`); nothing where it fits.
    pub fn fit(&self, domain: &Domain) -> Vec<Diagnostic> {
        let declared = Declared::of(domain);
        let mut found = Vec::new();
        for pattern in self.fact_patterns() {
            fact(pattern, &declared, &mut found);
        }
        for pattern in self.number_patterns() {
            number(pattern, &declared, &mut found);
        }
        for name in self.type_names().filter(|name| !declared.types.contains(&name.name)) {
            let names: Vec<&str> = declared.types.iter().map(String::as_str).collect();
            let message = format!("the domain has no type `{}`", name.name);
            let unknown = Diagnostic::error(CODE, message).at(name.source, name.span, "");
            found.push(with_help(unknown, help_for(&name.name, &names, "its types are")));
        }
        // As the file has them; and a pattern may be wrong in two ways.
        found.sort_by_key(|d| d.labels.first().map(|label| label.span.start));
        found
    }

    /// The patterns over predicates.
    fn fact_patterns(&self) -> impl Iterator<Item = &Pattern> {
        let stacks = self.stacks.iter().flat_map(|s| s.on.iter().chain(&s.bottom).chain(&s.held));
        let cells = self.grids.iter().flat_map(|grid| {
            let neighbours = match &grid.coordinates {
                Coordinates::Neighbours(list) => list.as_slice(),
                Coordinates::Name(_) => &[],
            };
            let height = match &grid.height {
                Some(Height::Fact(pattern)) => Some(pattern),
                _ => None,
            };
            neighbours.iter().map(|(_, pattern)| pattern).chain(&grid.at).chain(&grid.fill).chain(height)
        });
        let groups = self.groups.iter().flat_map(|group| &group.inside);
        let marks = self.marks.iter().filter(|mark| !mark.numeric).map(|mark| &mark.fact);
        stacks.chain(cells).chain(groups).chain(marks)
    }

    /// The patterns over numeric functions.
    fn number_patterns(&self) -> impl Iterator<Item = &Pattern> {
        let heights = self.grids.iter().filter_map(|grid| match &grid.height {
            Some(Height::Number(pattern)) => Some(pattern),
            _ => None,
        });
        heights.chain(self.marks.iter().filter(|mark| mark.numeric).map(|mark| &mark.fact))
    }

    fn type_names(&self) -> impl Iterator<Item = &TypeName> {
        let cells = self.grids.iter().flat_map(|grid| &grid.cells);
        let places = self.groups.iter().flat_map(|group| &group.places);
        cells.chain(places).chain(self.looks.iter().map(|look| &look.type_name))
    }
}

fn fact(pattern: &Pattern, declared: &Declared, out: &mut Vec<Diagnostic>) {
    if declared.derived.contains(&pattern.name) {
        let message =
            format!("`{}` is a derived predicate, and states are drawn from their basic facts", pattern.name);
        out.push(Diagnostic::error(CODE, message).at(pattern.source, pattern.span, ""));
        return;
    }
    arity("predicate", pattern, &declared.predicates, out);
}

fn number(pattern: &Pattern, declared: &Declared, out: &mut Vec<Diagnostic>) {
    arity("function", pattern, &declared.functions, out);
}

fn arity(kind: &str, pattern: &Pattern, known: &BTreeMap<String, usize>, out: &mut Vec<Diagnostic>) {
    let Some(&arity) = known.get(&pattern.name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let message = format!("the domain has no {kind} `{}`", pattern.name);
        let unknown = Diagnostic::error(CODE, message).at(pattern.source, pattern.span, "");
        out.push(with_help(unknown, help_for(&pattern.name, &names, &format!("{kind}s"))));
        return;
    };
    if arity != pattern.slots.len() {
        let message = format!(
            "{kind} `{}` has {arity} argument(s) in the domain, and {} here",
            pattern.name,
            pattern.slots.len()
        );
        let wrong = Diagnostic::error(CODE, message).at(pattern.source, pattern.span, "");
        out.push(wrong.help("`_` is an argument that the picture does not show"));
    }
}
