//! Sections of a domain and of a problem.

use super::condition::is_number;
use super::{Entry, MAX_TYPE_PAIRS, TreeReader};
use crate::ast::{
    Action, Condition, Derived, Domain, DurativeAction, InitElement, Length, Metric, MetricDirection, Problem,
};
use crate::hierarchy::TypeHierarchy;
use crate::name::Name;
use crate::sexpr::{Children, DOMAIN_SECTIONS, FIELDS, NodeId, PROBLEM_SECTIONS, is_section_keyword};
use planforge_diagnostics::{Diagnostic, Span};

/// Sections of HDDL, which adds hierarchical tasks to PDDL.
const HIERARCHICAL_SECTIONS: &[&str] = &[":task", ":method", ":htn"];

/// Requirement keywords of HDDL, one of them with the spelling of a competition's domains.
const HIERARCHICAL_REQUIREMENTS: &[&str] =
    &[":hierarchy", ":hierachie", ":method-preconditions", ":htn-method-prec"];

/// Requirement keywords of PDDL 1.2 to 3.1.
const REQUIREMENTS: &[&str] = &[
    ":strips",
    ":typing",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":equality",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":conditional-effects",
    ":fluents",
    ":numeric-fluents",
    ":object-fluents",
    ":adl",
    ":ucpop",
    ":durative-actions",
    ":duration-inequalities",
    ":continuous-effects",
    ":derived-predicates",
    ":timed-initial-literals",
    ":preferences",
    ":constraints",
    ":action-costs",
    ":goal-utilities",
    ":domain-axioms",
    ":subgoal-through-axioms",
    ":safety-constraints",
    ":expression-evaluation",
    ":open-world",
    ":true-negation",
    ":time",
];

/// The fields of an action, each with the nodes between its keyword and the next.
struct Fields<'a, 't> {
    name: Name,
    list: Vec<(NodeId, Children<'a, 't>)>,
}

impl<'a, 't> TreeReader<'a, 't> {
    pub(super) fn domain(&mut self, define: NodeId) -> Domain {
        let mut domain = Domain { span: self.tree.span(define), ..Domain::default() };
        let mut constraints = Vec::new();
        self.report_hierarchy(define, "domain");
        for id in self.tree.children(define).skip(1) {
            if !self.tree.is_list(id) {
                self.stray_in_definition(id);
            } else if self.tree.head_is(id, "domain") {
                domain.name = self.only_name(id, "domain");
            } else {
                self.domain_section(id, &mut domain, &mut constraints);
            }
        }
        domain.constraints = merge(constraints);
        self.limit_types(&domain);
        if domain.name.is_none() && !self.tree.children(define).any(|id| self.tree.head_is(id, "domain")) {
            let help = "begin with `(define (domain NAME)`";
            let place = self.head_span(define);
            self.error_help("pddl.missing-name", "the domain has no name".into(), place, help);
        }
        if self.hierarchical {
            return domain;
        }
        self.require_section(&domain.sections, ":predicates", define, false);
        if domain.actions.is_empty() && domain.durative_actions.is_empty() {
            self.require_section(&domain.sections, ":action", define, false);
        }
        domain
    }

    /// Refuses a hierarchy that is so deep that its size exceeds that of the text by far.
    fn limit_types(&mut self, domain: &Domain) {
        if self.too_many_types || TypeHierarchy::has_at_most(domain, MAX_TYPE_PAIRS) {
            return;
        }
        self.too_many_types = true;
        let place = domain.sections.iter().find(|section| section.keyword.is(":types"));
        let message = format!(
            "the {} types have more than {MAX_TYPE_PAIRS} pairs of a type and a type above it",
            domain.types.len()
        );
        let help = "write fewer types, or fewer levels of them";
        let span = place.map_or(Span::empty(0), |section| section.keyword.span);
        self.error_help("pddl.too-many-types", message, span, help);
    }

    /// An atom directly inside `(define`.
    fn stray_in_definition(&mut self, id: NodeId) {
        let word = self.tree.text(id);
        let message = format!("`{word}` stands outside every section");
        if is_section_keyword(word) {
            let help = format!("write `({word}`: its opening parenthesis is missing");
            self.error_help("pddl.stray-token", message, self.tree.span(id), help);
        } else {
            self.error("pddl.stray-token", message, self.tree.span(id));
        }
    }

    fn domain_section(
        &mut self,
        id: NodeId,
        domain: &mut Domain,
        constraints: &mut Vec<crate::ast::Condition>,
    ) {
        let mut rest = self.tree.children(id);
        let Some(keyword) = rest.next().filter(|head| !self.tree.is_list(*head)) else {
            self.error("pddl.unknown-section", "a section begins with a keyword", self.head_span(id));
            return;
        };
        let key = self.tree.text(keyword).to_ascii_lowercase();
        let repeats = matches!(key.as_str(), ":action" | ":durative-action" | ":derived" | ":axiom");
        if DOMAIN_SECTIONS.contains(&key.as_str()) {
            self.note_section(&mut domain.sections, id, keyword, repeats);
        }
        match key.as_str() {
            ":requirements" => {
                let requirements = self.requirements(rest);
                domain.requirements.extend(requirements);
            }
            ":types" => domain.types.extend(self.typed_list(rest, Entry::Type)),
            ":constants" => domain.constants.extend(self.typed_list(rest, Entry::Object)),
            ":predicates" => {
                domain.predicates.extend(rest.filter_map(|id| self.declaration(id, "predicate")));
            }
            ":functions" => domain.functions.extend(self.functions(rest)),
            ":action" => domain.actions.extend(self.action(id)),
            ":durative-action" => domain.durative_actions.extend(self.durative_action(id)),
            ":derived" => domain.derived.extend(self.read_derived(id)),
            ":axiom" => domain.derived.extend(self.axiom(id)),
            ":constraints" => {
                constraints.extend(self.condition_value(rest, "the section", id));
            }
            // Reported once for the definition.
            key if HIERARCHICAL_SECTIONS.contains(&key) => {}
            _ => self.unknown_section(keyword, DOMAIN_SECTIONS, "domain"),
        }
    }

    /// Reports a hierarchical definition as unsupported, once for all its sections of HDDL.
    fn report_hierarchy(&mut self, define: NodeId, kind: &str) {
        let mut found: Vec<(&str, Span)> = Vec::new();
        for id in self.tree.children(define).skip(1) {
            let section = HIERARCHICAL_SECTIONS.iter().find(|section| self.tree.head_is(id, section));
            if let Some(section) = section.filter(|section| found.iter().all(|(seen, _)| seen != *section)) {
                found.push((section, self.head_span(id)));
            }
        }
        let Some((_, first)) = found.first().copied() else { return };
        self.hierarchical = true;
        let sections: Vec<String> = found.iter().map(|(section, _)| format!("`{section}`")).collect();
        let message = format!(
            "this {kind} is hierarchical (HDDL: {}), and hierarchical planning is not supported",
            sections.join(", ")
        );
        let help = "use a domain without tasks and methods, and a problem with a `:goal`";
        self.error_help("pddl.hierarchical", message, first, help);
    }

    fn unknown_section(&mut self, keyword: NodeId, known: &[&str], kind: &str) {
        let span = self.tree.span(keyword);
        let word = self.tree.text(keyword);
        if word.eq_ignore_ascii_case(":process") || word.eq_ignore_ascii_case(":event") {
            let message = format!("`{word}` is of PDDL+, whose processes and events are not supported");
            let help = "describe changes by actions, or by timed literals in the problem's `:init`";
            self.error_help("pddl.unknown-section", message, span, help);
        } else if is_section_keyword(self.tree.text(keyword)) {
            let message = format!("a {kind} has no section `{}`", self.tree.text(keyword));
            self.error("pddl.unknown-section", message, span);
        } else {
            self.unknown_word("pddl.unknown-section", "section", span, known);
        }
    }

    pub(super) fn requirements(&mut self, rest: Children<'a, 't>) -> Vec<Name> {
        let mut list = Vec::new();
        for id in rest {
            if self.tree.is_list(id) {
                self.error("pddl.unexpected-list", "a list among requirements", self.tree.span(id));
                continue;
            }
            let name = self.name(id);
            let of_hierarchy = self.hierarchical && HIERARCHICAL_REQUIREMENTS.contains(&name.key());
            if !of_hierarchy && !REQUIREMENTS.contains(&name.key()) {
                let mut diagnostic =
                    Diagnostic::warning("pddl.unknown-requirement", format!("unknown requirement `{name}`"))
                        .at(self.sink.source, name.span, "");
                diagnostic.help.extend(self.sink.suggestion(name.key(), REQUIREMENTS.iter().copied()));
                self.sink.push(diagnostic);
            }
            list.push(name);
        }
        list
    }

    /// Name and fields of an action, durative action or axiom. `known` are its field keywords.
    fn fields(&mut self, list: NodeId, known: &[&str], named: bool) -> Fields<'a, 't> {
        let mut rest = self.tree.children(list);
        rest.next();
        let is_keyword = |id: NodeId| self.tree.atom(id).is_some_and(|w| w.starts_with(':'));
        let name_node = rest.peek().filter(|id| named && !self.tree.is_list(*id) && !is_keyword(*id));
        if name_node.is_some() {
            rest.next();
        } else if named {
            self.error("pddl.missing-name", "the action has no name", self.head_span(list));
        }
        let name = match name_node {
            Some(id) => self.name(id),
            None => Name::new("", Span::empty(self.head_span(list).end)),
        };
        let mut fields: Vec<(NodeId, Children<'a, 't>)> = Vec::new();
        while let Some(id) = rest.next() {
            if !is_keyword(id) {
                let message = "this belongs to no field of the action";
                self.error("pddl.stray-token", message, self.head_or_atom(id));
                continue;
            }
            let value = rest;
            while rest.peek().is_some_and(|next| !is_keyword(next)) {
                rest.next();
            }
            self.note_field(id, value.until(rest.peek()), known, &mut fields);
        }
        Fields { name, list: fields }
    }

    fn note_field(
        &mut self,
        keyword: NodeId,
        value: Children<'a, 't>,
        known: &[&str],
        fields: &mut Vec<(NodeId, Children<'a, 't>)>,
    ) {
        let text = self.tree.text(keyword);
        let span = self.tree.span(keyword);
        if !known.iter().any(|k| k.eq_ignore_ascii_case(text)) {
            if FIELDS.iter().any(|k| k.eq_ignore_ascii_case(text)) {
                let allowed = known.join("`, `");
                let help = format!("its fields are `{allowed}`");
                self.error_help("pddl.unknown-field", format!("no field `{text}` belongs here"), span, help);
            } else {
                self.unknown_word("pddl.unknown-field", "field", span, known);
            }
            return;
        }
        if let Some((first, _)) = fields.iter().find(|(k, _)| self.tree.text(*k).eq_ignore_ascii_case(text)) {
            let first = self.tree.span(*first);
            let diagnostic =
                Diagnostic::error("pddl.duplicate-field", format!("`{text}` is given a second time"))
                    .at(self.sink.source, span, "this one is not read")
                    .also(self.sink.source, first, "first given here");
            self.sink.push(diagnostic);
            return;
        }
        fields.push((keyword, value));
    }

    pub(super) fn head_or_atom(&self, id: NodeId) -> Span {
        if self.tree.is_list(id) { self.head_span(id) } else { self.tree.span(id) }
    }

    /// The value of a field, and the field's keyword.
    fn field(&self, fields: &Fields<'a, 't>, key: &str) -> Option<(NodeId, Children<'a, 't>)> {
        fields.list.iter().find(|(k, _)| self.tree.text(*k).eq_ignore_ascii_case(key)).copied()
    }

    fn parameters_field(&mut self, fields: &Fields<'a, 't>, key: &str) -> Vec<crate::ast::TypedName> {
        let Some((keyword, mut value)) = self.field(fields, key) else { return Vec::new() };
        let Some(list) = value.next() else {
            let message = format!("`{}` has no value", self.tree.text(keyword));
            let place = self.tree.span(keyword);
            self.error_help("pddl.missing-value", message, place, "write `()` for none");
            return Vec::new();
        };
        let whose = format!("`{key}`");
        self.expect_end(value, &whose);
        self.parameter_list(list)
    }

    fn condition_field(&mut self, fields: &Fields<'a, 't>, key: &str) -> Option<crate::ast::Condition> {
        let (keyword, value) = self.field(fields, key)?;
        self.condition_value(value, &format!("`{key}`"), keyword)
    }

    fn effect_field(&mut self, fields: &Fields<'a, 't>, list: NodeId) -> Option<crate::ast::Effect> {
        if let Some((keyword, value)) = self.field(fields, ":effect") {
            return self.effect_value(value, keyword);
        }
        let message = "the action has no `:effect`, so it changes nothing";
        self.warning("pddl.missing-effect", message, self.head_span(list));
        None
    }

    fn action(&mut self, list: NodeId) -> Option<Action> {
        const KNOWN: &[&str] = &[":parameters", ":vars", ":precondition", ":effect"];
        let fields = self.fields(list, KNOWN, true);
        Some(Action {
            parameters: self.parameters_field(&fields, ":parameters"),
            vars: self.parameters_field(&fields, ":vars"),
            precondition: self.condition_field(&fields, ":precondition"),
            effect: self.effect_field(&fields, list),
            name: fields.name,
            span: self.tree.span(list),
        })
    }

    fn durative_action(&mut self, list: NodeId) -> Option<DurativeAction> {
        const KNOWN: &[&str] = &[":parameters", ":duration", ":condition", ":effect"];
        let fields = self.fields(list, KNOWN, true);
        if self.field(&fields, ":duration").is_none() {
            let message = "the durative action has no `:duration`";
            self.error("pddl.missing-duration", message, self.head_span(list));
        }
        Some(DurativeAction {
            parameters: self.parameters_field(&fields, ":parameters"),
            duration: self.condition_field(&fields, ":duration"),
            condition: self.condition_field(&fields, ":condition"),
            effect: self.effect_field(&fields, list),
            name: fields.name,
            span: self.tree.span(list),
        })
    }

    /// `(:derived (p ?x - t) CONDITION)`
    fn read_derived(&mut self, list: NodeId) -> Option<Derived> {
        let mut rest = self.tree.children(list);
        rest.next();
        let Some(head) = rest.next() else {
            self.error("pddl.missing-name", "the rule defines no predicate", self.tree.span(list));
            return None;
        };
        let decl = self.declaration(head, "derived predicate")?;
        let condition = self.condition_value(rest, "the rule's condition", list);
        let span = self.tree.span(list);
        Some(Derived { predicate: decl.name, parameters: decl.parameters, condition, span })
    }

    /// `(:axiom :vars (..) :context CONDITION :implies ATOM)` of PDDL 1.2, a derived predicate in other words.
    fn axiom(&mut self, list: NodeId) -> Option<Derived> {
        const KNOWN: &[&str] = &[":vars", ":context", ":implies"];
        let fields = self.fields(list, KNOWN, false);
        let vars = self.parameters_field(&fields, ":vars");
        let context = self.condition_field(&fields, ":context");
        let span = self.tree.span(list);
        let implied = self.field(&fields, ":implies").and_then(|(_, mut value)| value.next());
        let Some(implied) = implied else {
            self.error("pddl.missing-name", "the axiom implies nothing", self.head_span(list));
            return None;
        };
        let atom = match self.condition(implied)? {
            crate::ast::Condition::Atom(atom) => atom,
            other => {
                self.error("pddl.bad-axiom", "an axiom implies one atom", other.span());
                return None;
            }
        };
        self.derived_of_axiom(vars, context, atom, span)
    }

    /// The head of the rule takes the atom's variables with their declared types; the others are existential.
    fn derived_of_axiom(
        &mut self,
        vars: Vec<crate::ast::TypedName>,
        context: Option<crate::ast::Condition>,
        atom: crate::ast::Atom,
        span: Span,
    ) -> Option<Derived> {
        let mut parameters = Vec::new();
        for arg in &atom.args {
            if !arg.is_variable() {
                let message = "planforge reads axioms whose implied atom has variables only";
                self.error("pddl.bad-axiom", message, arg.span());
                return None;
            }
            let declared = vars.iter().find(|v| &v.name == arg.name()).and_then(|v| v.ty.clone());
            parameters.push(crate::ast::TypedName { name: arg.name().clone(), ty: declared });
        }
        let inner: Vec<_> =
            vars.into_iter().filter(|v| !parameters.iter().any(|p| p.name == v.name)).collect();
        let condition = context.map(|body| {
            if inner.is_empty() {
                return body;
            }
            let span = body.span();
            let body = Box::new(body);
            crate::ast::Condition::Exists(crate::ast::Quantified { parameters: inner, body, span })
        });
        Some(Derived { predicate: atom.predicate, parameters, condition, span })
    }
}

/// The conditions of all sections of one keyword; several are one flat conjunction.
fn merge(mut sections: Vec<crate::ast::Condition>) -> Option<crate::ast::Condition> {
    match sections.as_slice() {
        [] | [_] => sections.pop(),
        [first, .., last] => {
            let span = first.span().to(last.span());
            Some(crate::ast::Condition::And(sections, span))
        }
    }
}

/// Conditions of the sections read so far.
#[derive(Default)]
struct Conditions {
    goal: Vec<Condition>,
    constraints: Vec<Condition>,
}

impl<'a, 't> TreeReader<'a, 't> {
    pub(super) fn problem(&mut self, define: NodeId) -> Problem {
        let mut problem = Problem { span: self.tree.span(define), ..Problem::default() };
        let mut merged = Conditions::default();
        self.report_hierarchy(define, "problem");
        for id in self.tree.children(define).skip(1) {
            if !self.tree.is_list(id) {
                self.stray_in_definition(id);
            } else if self.tree.head_is(id, "problem") {
                problem.name = self.only_name(id, "problem");
            } else {
                self.problem_section(id, &mut problem, &mut merged);
            }
        }
        problem.goal = merge(merged.goal);
        problem.constraints = merge(merged.constraints);
        if problem.name.is_none() && !self.tree.children(define).any(|id| self.tree.head_is(id, "problem")) {
            let help = "begin with `(define (problem NAME)`";
            let place = self.head_span(define);
            self.error_help("pddl.missing-name", "the problem has no name".into(), place, help);
        }
        for keyword in [":domain", ":init", ":goal"] {
            // A hierarchical problem may leave its goal out.
            if self.hierarchical && keyword == ":goal" {
                continue;
            }
            self.require_section(&problem.sections, keyword, define, true);
        }
        problem
    }

    fn problem_section(&mut self, id: NodeId, problem: &mut Problem, merged: &mut Conditions) {
        let mut rest = self.tree.children(id);
        let Some(keyword) = rest.next().filter(|head| !self.tree.is_list(*head)) else {
            self.error("pddl.unknown-section", "a section begins with a keyword", self.head_span(id));
            return;
        };
        let key = self.tree.text(keyword).to_ascii_lowercase();
        if PROBLEM_SECTIONS.contains(&key.as_str()) {
            self.note_section(&mut problem.sections, id, keyword, false);
        }
        match key.as_str() {
            ":domain" => problem.domain_name = self.only_name(id, "domain"),
            ":requirements" => {
                let requirements = self.requirements(rest);
                problem.requirements.extend(requirements);
            }
            ":objects" => problem.objects.extend(self.typed_list(rest, Entry::Object)),
            ":init" => self.init(rest, &mut problem.init),
            ":goal" => {
                merged.goal.extend(self.condition_value(rest, "the goal", id));
            }
            ":constraints" => {
                merged.constraints.extend(self.condition_value(rest, "the section", id));
            }
            ":metric" => problem.metric = self.metric(id).or(problem.metric.take()),
            ":situation" => problem.situation = self.only_name(id, "situation"),
            ":length" => problem.length = Some(self.length(rest)),
            // Reported once for the definition.
            key if HIERARCHICAL_SECTIONS.contains(&key) => {}
            _ => self.unknown_section(keyword, PROBLEM_SECTIONS, "problem"),
        }
    }

    fn init(&mut self, rest: Children<'a, 't>, init: &mut Vec<InitElement>) {
        for id in rest {
            if self.tree.head_is(id, "and") {
                let message = "the initial state is a list; it needs no `and`";
                self.warning("pddl.and-in-init", message, self.head_span(id));
                for inner in self.tree.children(id).skip(1) {
                    init.extend(self.init_element(inner, true));
                }
            } else {
                init.extend(self.init_element(id, true));
            }
        }
    }

    /// Reads one entry. `(at TIME ...)` is allowed only if `timed` is true.
    fn init_element(&mut self, id: NodeId, timed: bool) -> Option<InitElement> {
        let span = self.tree.span(id);
        if !self.tree.is_list(id) {
            return self.bare_word(id, "an entry of the initial state").map(InitElement::Atom);
        }
        let mut rest = self.tree.children(id);
        let Some(head) = rest.next().filter(|head| !self.tree.is_list(*head)) else {
            let message = "an entry of the initial state begins with a predicate";
            self.error("pddl.bad-init", message, self.head_span(id));
            return None;
        };
        let operator = self.name(head);
        match operator.key() {
            "not" => {
                let [inner] = self.operands(rest, id, &operator)?;
                match self.init_element(inner, false)? {
                    InitElement::Atom(atom) => Some(InitElement::Not(atom, span)),
                    _ => {
                        self.error("pddl.bad-init", "in the initial state, `not` takes one atom", span);
                        None
                    }
                }
            }
            "=" => self.initial_value(rest, id),
            "at" if timed && self.is_timed(rest) => self.timed_literal(rest, id),
            "and" | "or" | "imply" | "exists" | "forall" | "when" | "oneof" | "<" | "<=" | ">" | ">=" => {
                let help = "list every fact that holds, with its objects";
                let message = format!("`{operator}` cannot stand in the initial state");
                self.error_help("pddl.bad-init", message, operator.span, help);
                None
            }
            _ => self.atom_list(id, head).map(InitElement::Atom),
        }
    }

    fn is_timed(&self, mut rest: Children<'a, 't>) -> bool {
        rest.next().and_then(|id| self.tree.atom(id)).is_some_and(is_number)
            && rest.next().is_some_and(|id| self.tree.is_list(id))
            && rest.next().is_none()
    }

    fn timed_literal(&mut self, mut rest: Children<'a, 't>, list: NodeId) -> Option<InitElement> {
        let (time, what) = (rest.next()?, rest.next()?);
        let time = self.number(time)?;
        let element = Box::new(self.init_element(what, false)?);
        Some(InitElement::Timed { time, element, span: self.tree.span(list) })
    }

    /// Reads `(= FLUENT NUMBER)`.
    fn initial_value(&mut self, rest: Children<'a, 't>, list: NodeId) -> Option<InitElement> {
        let span = self.tree.span(list);
        let operands: Vec<NodeId> = rest.collect();
        let [fluent, value] = operands.as_slice() else {
            let message = format!("`=` has 2 arguments, not {}", operands.len());
            self.error("pddl.operator-arity", message, span);
            return None;
        };
        if self.tree.atom(*value).is_some_and(|w| !is_number(w)) {
            self.object_fluent(span);
            return None;
        }
        let fluent = self.fluent(*fluent);
        let value = self.number(*value);
        Some(InitElement::Value(fluent?, value?, span))
    }

    /// Reads `(:metric minimize EXPRESSION)`.
    fn metric(&mut self, list: NodeId) -> Option<Metric> {
        let span = self.tree.span(list);
        let mut rest = self.tree.children(list);
        rest.next();
        let direction = match rest.next().and_then(|id| self.tree.atom(id)) {
            Some(word) if word.eq_ignore_ascii_case("minimize") => MetricDirection::Minimize,
            Some(word) if word.eq_ignore_ascii_case("maximize") => MetricDirection::Maximize,
            _ => {
                let help = "write `(:metric minimize (total-cost))`";
                let message = "the metric says neither `minimize` nor `maximize`".to_owned();
                self.error_help("pddl.bad-metric", message, span, help);
                return None;
            }
        };
        let Some(expr) = rest.next() else {
            self.error("pddl.missing-value", "the metric has no expression", span);
            return None;
        };
        self.expect_end(rest, "the metric");
        let expr = self.numeric(expr)?;
        Some(Metric { direction, expr, span })
    }

    /// `(:length (:serial N) (:parallel N))`
    fn length(&mut self, rest: Children<'a, 't>) -> Length {
        let mut length = Length::default();
        for id in rest {
            let value = self.tree.is_list(id).then(|| self.tree.children(id).nth(1)).flatten();
            let value = value.and_then(|v| self.tree.atom(v)).and_then(|w| w.parse::<u64>().ok());
            if value.is_some() && self.tree.head_is(id, ":serial") {
                length.serial = value;
            } else if value.is_some() && self.tree.head_is(id, ":parallel") {
                length.parallel = value;
            } else {
                let message = "a length is `(:serial N)` or `(:parallel N)`";
                self.error("pddl.bad-length", message, self.tree.span(id));
            }
        }
        length
    }
}
