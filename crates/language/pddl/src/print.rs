//! Definitions printed canonically: sections in PDDL's order, names and everything within a section as they were.
//!
//! Printing what was read from printed text gives the same text again, and reading printed text gives the same tree
//! apart from spans. Empty sections are left out, except those that a definition must have.

mod doc;
mod tree;

use crate::ast::{Action, Condition, Domain, DurativeAction, Effect, MetricDirection, Problem, TypedName};
use crate::name::Name;
use doc::Doc;

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
