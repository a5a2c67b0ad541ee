//! Definitions printed canonically: sections in PDDL's order, names and everything within a section as they were.
//!
//! Printing what was read from printed text gives the same text again, and reading printed text gives the same tree
//! apart from spans. Empty sections are left out, except those that a definition must have.
//!
//! Templates are beginnings to complete (exploration-walk paper, Listings 4 and 6): a domain with the signatures of its actions and nothing
//! that they mean, a problem with its objects and neither initial state nor goal.

mod tree;

use crate::ast::{Action, Condition, Domain, DurativeAction, Effect, MetricDirection, Problem, TypedName};
use crate::name::Name;
use std::fmt::Write as _;
use tree::Doc;

/// A domain as text that ends with a line feed.
pub fn print_domain(domain: &Domain) -> String {
    let mut p = Printer { out: String::from("(define") };
    if let Some(name) = &domain.name {
        p.inline(&Doc::with_head("domain", [tree::name(name)]));
    }
    p.names(":requirements", &domain.requirements);
    p.typed_section(":types", &domain.types);
    p.typed_section(":constants", &domain.constants);
    let predicates: Vec<Doc> =
        domain.predicates.iter().map(|d| tree::declaration(&d.name, &d.parameters)).collect();
    p.section(":predicates", &predicates);
    p.functions(domain);
    if let Some(constraints) = &domain.constraints {
        p.section(":constraints", &[tree::condition(constraints)]);
    }
    for rule in &domain.derived {
        let mut items = vec![tree::declaration(&rule.predicate, &rule.parameters)];
        items.extend(rule.condition.as_ref().map(tree::condition));
        p.section(":derived", &items);
    }
    domain.actions.iter().for_each(|action| p.action(action));
    domain.durative_actions.iter().for_each(|action| p.durative_action(action));
    p.end()
}

/// A problem as text that ends with a line feed.
pub fn print_problem(problem: &Problem) -> String {
    let mut p = Printer { out: String::from("(define") };
    if let Some(name) = &problem.name {
        p.inline(&Doc::with_head("problem", [tree::name(name)]));
    }
    if let Some(name) = &problem.domain_name {
        p.section(":domain", &[tree::name(name)]);
    }
    if let Some(name) = &problem.situation {
        p.section(":situation", &[tree::name(name)]);
    }
    p.names(":requirements", &problem.requirements);
    p.typed_section(":objects", &problem.objects);
    let init: Vec<Doc> = problem.init.iter().map(tree::init).collect();
    p.section(":init", &init);
    if let Some(goal) = &problem.goal {
        p.section(":goal", &[tree::condition(goal)]);
    }
    if let Some(constraints) = &problem.constraints {
        p.section(":constraints", &[tree::condition(constraints)]);
    }
    if let Some(metric) = &problem.metric {
        let direction = match metric.direction {
            MetricDirection::Minimize => "minimize",
            MetricDirection::Maximize => "maximize",
        };
        p.section(":metric", &[Doc::word(direction), tree::numeric(&metric.expr)]);
    }
    if let Some(length) = &problem.length {
        let part = |keyword: &str, value: Option<u64>| {
            value.map(|n| Doc::with_head(keyword, [Doc::word(n.to_string())]))
        };
        let parts: Vec<Doc> =
            part(":serial", length.serial).into_iter().chain(part(":parallel", length.parallel)).collect();
        p.section(":length", &parts);
    }
    p.end()
}

/// A condition on one line.
pub fn print_condition(condition: &Condition) -> String {
    tree::condition(condition).flat()
}

/// An effect on one line.
pub fn print_effect(effect: &Effect) -> String {
    tree::effect(effect).flat()
}

/// An atom on one line.
pub fn print_atom(atom: &crate::ast::Atom) -> String {
    tree::atom(atom).flat()
}

/// A numeric expression on one line.
pub fn print_numeric(expr: &crate::ast::NumericExpr) -> String {
    tree::numeric(expr).flat()
}

/// An entry of the initial state on one line.
pub fn print_init(element: &crate::ast::InitElement) -> String {
    tree::init(element).flat()
}

/// A typed list on one line, without parentheses.
pub fn print_typed_list(list: &[TypedName]) -> String {
    let docs: Vec<String> = tree::typed_groups(list).into_iter().flatten().map(|d| d.flat()).collect();
    docs.join(" ")
}

/// Formats an action schema as in a domain, but without indentation.
pub fn print_action(action: &Action) -> String {
    let mut p = Printer { out: String::new() };
    p.action(action);
    p.out.trim_start().to_owned()
}

struct Printer {
    out: String,
}

impl Printer {
    fn inline(&mut self, doc: &Doc) {
        self.out.push(' ');
        self.out.push_str(&doc.flat());
    }

    /// `(:keyword items...)`: on one line if it fits, an item a line otherwise.
    fn section(&mut self, keyword: &str, items: &[Doc]) {
        self.out.push_str("\n  ");
        Broken { keyword, items }.write(&mut self.out);
    }

    fn names(&mut self, keyword: &str, names: &[Name]) {
        if !names.is_empty() {
            self.out.push_str("\n  ");
            self.out.push_str(&Doc::with_head(keyword, names.iter().map(tree::name)).flat());
        }
    }

    /// A typed list, a line for each type.
    fn typed_section(&mut self, keyword: &str, list: &[TypedName]) {
        if list.is_empty() {
            return;
        }
        self.out.push_str(&format!("\n  ({keyword}"));
        for group in tree::typed_groups(list) {
            self.out.push_str("\n   ");
            for doc in group {
                self.inline(&doc);
            }
        }
        self.out.push(')');
    }

    fn functions(&mut self, domain: &Domain) {
        if domain.functions.is_empty() {
            return;
        }
        self.out.push_str("\n  (:functions");
        let mut rest = domain.functions.as_slice();
        while let Some(first) = rest.first() {
            self.out.push_str("\n   ");
            self.inline(&tree::declaration(&first.name, &first.parameters));
            rest = &rest[1..];
            match (&first.ty, rest.first()) {
                (Some(ty), _) => {
                    self.out.push_str(" -");
                    self.inline(&tree::type_ref(ty));
                }
                // The next type would otherwise be taken for this one's, too.
                (None, Some(_)) if rest.iter().any(|f| f.ty.is_some()) => self.out.push_str(" - number"),
                (None, _) => {}
            }
        }
        self.out.push(')');
    }

    fn field(&mut self, keyword: &str, doc: &Doc) {
        self.out.push_str(&format!("\n    {keyword} "));
        doc.write(keyword.len() + 5, &mut self.out);
    }

    fn head(&mut self, keyword: &str, name: &Name, parameters: &[TypedName]) {
        self.out.push_str(&format!("\n  ({keyword} {name}"));
        self.field(":parameters", &tree::parameters(parameters));
    }

    fn action(&mut self, action: &Action) {
        self.head(":action", &action.name, &action.parameters);
        if !action.vars.is_empty() {
            self.field(":vars", &tree::parameters(&action.vars));
        }
        if let Some(precondition) = &action.precondition {
            self.field(":precondition", &tree::condition(precondition));
        }
        if let Some(effect) = &action.effect {
            self.field(":effect", &tree::effect(effect));
        }
        self.out.push(')');
    }

    fn durative_action(&mut self, action: &DurativeAction) {
        self.head(":durative-action", &action.name, &action.parameters);
        if let Some(duration) = &action.duration {
            self.field(":duration", &tree::condition(duration));
        }
        if let Some(condition) = &action.condition {
            self.field(":condition", &tree::condition(condition));
        }
        if let Some(effect) = &action.effect {
            self.field(":effect", &tree::effect(effect));
        }
        self.out.push(')');
    }

    fn end(mut self) -> String {
        self.out.push_str(")\n");
        self.out
    }
}

/// A section whose items go below each other when there are several lists among them.
struct Broken<'a> {
    keyword: &'a str,
    items: &'a [Doc],
}

impl Broken<'_> {
    fn write(&self, out: &mut String) {
        out.push('(');
        out.push_str(self.keyword);
        let several = self.items.iter().filter(|item| matches!(item, Doc::List(..))).count() > 1;
        let mut column = 3 + self.keyword.len();
        for item in self.items {
            if several && matches!(item, Doc::List(..)) {
                out.push_str("\n    ");
                column = 4;
            } else {
                out.push(' ');
                column += 1;
            }
            item.write(column, out);
            if let Doc::Word(word) = item {
                column += word.chars().count();
            }
        }
        out.push(')');
    }
}

/// The action interface as a domain: name, requirements, types, constants and signatures; predicates, conditions and effects
/// are empty. The text ends without a line end.
pub fn domain_template(domain: &Domain) -> String {
    let mut out = format!("(define (domain {})\n", domain.name.as_ref().map_or("domain", |n| n.as_str()));
    if !domain.requirements.is_empty() {
        let names: Vec<&str> = domain.requirements.iter().map(|r| r.as_str()).collect();
        let _ = writeln!(out, "  (:requirements {})", names.join(" "));
    }
    if !domain.types.is_empty() {
        let _ = writeln!(out, "  (:types {})", print_typed_list(&domain.types));
    }
    if !domain.constants.is_empty() {
        let _ = writeln!(out, "  (:constants {})", print_typed_list(&domain.constants));
    }
    out.push_str("  (:predicates)");
    for action in &domain.actions {
        signature(&mut out, "action", action.name.as_str(), &action.parameters, ":precondition (and)");
    }
    for action in &domain.durative_actions {
        let empty = ":duration ()\n    :condition (and)";
        signature(&mut out, "durative-action", action.name.as_str(), &action.parameters, empty);
    }
    out.push(')');
    out
}

fn signature(out: &mut String, keyword: &str, name: &str, parameters: &[TypedName], condition: &str) {
    let parameters = print_typed_list(parameters);
    let _ = write!(
        out,
        "\n  (:{keyword} {name}\n    :parameters ({parameters})\n    {condition}\n    :effect (and))"
    );
}

/// The objects as a problem: name, domain and objects; initial state and goal are empty. The text ends without a line end.
pub fn problem_template(problem: &Problem) -> String {
    let name = problem.name.as_ref().map_or("problem", |n| n.as_str());
    let domain = problem.domain_name.as_ref().map_or("domain", |n| n.as_str());
    let mut out = format!("(define (problem {name})\n  (:domain {domain})\n  (:objects");
    for group in problem.objects.chunk_by(|a, b| a.ty == b.ty) {
        // A name without a type would take that of the next group, so a list that has types anywhere has them everywhere.
        let untyped = group.iter().all(|o| o.ty.is_none());
        let typed = problem.objects.iter().any(|o| o.ty.is_some());
        let end = if untyped && typed { " - object" } else { "" };
        let _ = write!(out, "\n    {}{end}", print_typed_list(group));
    }
    out.push_str(")\n  (:init)\n  (:goal (and)))");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check_domain, diff_domains, parse_domain, parse_problem};
    use planforge_diagnostics::SourceId;

    const DOMAIN: &str = "(define (domain d) (:requirements :strips :typing) (:types a b - object c - (either a b)) \
        (:constants k - a) (:predicates (p ?x - a)) (:action one :parameters (?x ?y - a ?z - (either a b)) :precondition (p ?x) \
        :effect (not (p ?x))) (:action two :parameters () :effect (p k)))";

    #[test]
    fn a_domain_template_keeps_only_names_and_types() {
        let text = domain_template(&parse_domain(DOMAIN, SourceId(0)).value);
        assert_eq!(
            text,
            "(define (domain d)\n  (:requirements :strips :typing)\n  (:types a b - object c - (either a b))\n  \
             (:constants k - a)\n  (:predicates)\n  (:action one\n    :parameters (?x ?y - a ?z - (either a b))\n    \
             :precondition (and)\n    :effect (and))\n  (:action two\n    :parameters ()\n    :precondition (and)\n    \
             :effect (and)))"
        );
        let read = parse_domain(&text, SourceId(0));
        assert!(!read.diagnostics.iter().any(|d| d.is_error()), "{:?}", read.diagnostics);
        assert!(!check_domain(&read.value, SourceId(0)).iter().any(|d| d.is_error()));
        assert!(diff_domains(&read.value, &read.value).is_empty());
    }

    #[test]
    fn a_problem_keeps_its_objects() {
        let problem = "(define (problem p) (:domain d) (:objects x y - a z) (:init (p x)) (:goal (p y)))";
        let text = problem_template(&parse_problem(problem, SourceId(0)).value);
        assert_eq!(
            text,
            "(define (problem p)\n  (:domain d)\n  (:objects\n    x y - a\n    z - object)\n  (:init)\n  (:goal (and)))"
        );
    }
}
