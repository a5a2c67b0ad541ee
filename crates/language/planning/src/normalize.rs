//! PDDL trees to a [`LiftedTask`]: names resolved, negation pushed to the literals, effects flattened, derived
//! predicates stratified. What cannot be given a meaning is an error with its place; what has a meaning that planforge
//! does not execute (durations, preferences) is listed as unsupported.

mod effects;
mod formula;
mod stratify;
mod symbols;

use crate::lifted::{ActionSchema, DerivedRule, Formula, LiftedExpr, LiftedTask, Metric, Variable};
use crate::task::{SourcePlace, TaskText, Unsupported};
use planforge_diagnostics::{Diagnostic, Span};
use planforge_pddl::Number;
use planforge_pddl::ast::{self, InitElement, MetricDirection};
use std::sync::Arc;
use symbols::Tables;

/// Resolves and normalises a task.
///
/// # Errors
/// Every undeclared name, wrong arity and derived predicate that cannot be stratified or that an effect or
/// the initial state names. Such a task has no meaning. Labels use [`TaskText::source`].
pub fn normalize(domain: &ast::Domain, problem: &ast::Problem) -> Result<LiftedTask, Vec<Diagnostic>> {
    let mut normalizer = Normalizer::new(domain, problem);
    let schemas: Vec<ActionSchema> = domain.actions.iter().map(|a| normalizer.schema(a)).collect();
    let mut rules: Vec<DerivedRule> = domain.derived.iter().filter_map(|d| normalizer.rule(d)).collect();
    for action in &domain.durative_actions {
        normalizer.note_unsupported("a durative action", SourcePlace::domain(action.span));
    }
    for (constraints, text) in
        [(&domain.constraints, TaskText::Domain), (&problem.constraints, TaskText::Problem)]
    {
        if let Some(c) = constraints {
            normalizer.note_unsupported("trajectory constraints", SourcePlace { text, span: c.span() });
        }
    }
    normalizer.initial_state(problem);
    let mut scope = Scope::new(TaskText::Problem);
    let goal = match &problem.goal {
        Some(goal) => normalizer.formula(goal, false, &mut scope),
        None => {
            normalizer.error(
                "planning.no-goal",
                "the problem has no goal that could be read",
                SourcePlace::problem(problem.span),
                "add (:goal ...) to the problem",
            );
            Formula::truth()
        }
    };
    let metric = normalizer.metric(problem);
    stratify::stratify(&mut rules, &mut normalizer);
    normalizer.finish(schemas, rules, goal, scope.slots, metric)
}

/// Variables in scope while a condition is read, and the number of slots assigned.
pub(crate) struct Scope {
    text: TaskText,
    names: Vec<(String, u32)>,
    slots: usize,
}

impl Scope {
    fn new(text: TaskText) -> Self {
        Scope { text, names: Vec::new(), slots: 0 }
    }

    fn place(&self, span: Span) -> SourcePlace {
        SourcePlace { text: self.text, span }
    }
}

/// State of one normalisation.
pub(crate) struct Normalizer {
    tables: Tables,
    init: Vec<crate::task::Atom>,
    init_numbers: Vec<(crate::task::Atom, Number)>,
    unsupported: Vec<Unsupported>,
    diagnostics: Vec<Diagnostic>,
}

impl Normalizer {
    fn new(domain: &ast::Domain, problem: &ast::Problem) -> Self {
        let mut diagnostics = Vec::new();
        let tables = Tables::new(domain, problem, &mut diagnostics);
        Normalizer {
            tables,
            init: Vec::new(),
            init_numbers: Vec::new(),
            unsupported: Vec::new(),
            diagnostics,
        }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        place: SourcePlace,
        help: &str,
    ) {
        let mut diagnostic = Diagnostic::error(code, message).at(place.text.source(), place.span, "");
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
    }

    pub(crate) fn note_unsupported(&mut self, what: &str, place: SourcePlace) {
        self.unsupported.push(Unsupported { what: what.to_owned(), place });
    }

    /// Opens the variables of a list; the caller truncates `scope.names` to close them.
    pub(crate) fn variables(&mut self, list: &[ast::TypedName], scope: &mut Scope) -> Vec<Variable> {
        list.iter()
            .map(|typed| {
                let objects = self.tables.objects_of(typed.ty.as_ref(), scope.text, &mut self.diagnostics);
                let slot = scope.slots as u32;
                scope.slots += 1;
                scope.names.push((typed.name.key().to_owned(), slot));
                let type_name = symbols::type_text(typed.ty.as_ref());
                Variable { name: typed.name.as_str().to_owned(), slot, objects, type_name }
            })
            .collect()
    }

    fn schema(&mut self, action: &ast::Action) -> ActionSchema {
        let mut scope = Scope::new(TaskText::Domain);
        let mut variables = self.variables(&action.parameters, &mut scope);
        let parameters = variables.len();
        variables.extend(self.variables(&action.vars, &mut scope));
        let precondition = match &action.precondition {
            Some(condition) => self.formula(condition, false, &mut scope),
            None => Formula::truth(),
        };
        let effects = match &action.effect {
            Some(effect) => self.effects(effect, &mut scope),
            None => Vec::new(),
        };
        ActionSchema { variables, parameters, slots: scope.slots, precondition, effects, span: action.span }
    }

    fn rule(&mut self, derived: &ast::Derived) -> Option<DerivedRule> {
        let mut scope = Scope::new(TaskText::Domain);
        let mut variables = self.variables(&derived.parameters, &mut scope);
        let predicate = self.tables.predicate(&derived.predicate)?;
        let declared = &self.tables.predicates[predicate as usize];
        if declared.arity != variables.len() {
            let message = format!(
                "the rule gives {} {} arguments, its declaration {}",
                derived.predicate,
                variables.len(),
                declared.arity
            );
            self.error("planning.arity", message, SourcePlace::domain(derived.span), "");
            return None;
        }
        for ((variable, typed), objects) in
            variables.iter_mut().zip(&derived.parameters).zip(&declared.arguments)
        {
            if typed.ty.is_none() {
                variable.objects = Arc::clone(objects);
            }
        }
        let body = match &derived.condition {
            Some(condition) => self.formula(condition, false, &mut scope),
            None => return None,
        };
        Some(DerivedRule { predicate, variables, slots: scope.slots, body, stratum: 0, span: derived.span })
    }

    fn initial_state(&mut self, problem: &ast::Problem) {
        let scope = Scope::new(TaskText::Problem);
        for element in &problem.init {
            match element {
                InitElement::Atom(atom) => {
                    let Some(lifted) = self.atom(atom, &scope) else { continue };
                    let ground = lifted.instantiate(&[]);
                    let predicate = &self.tables.predicates[ground.predicate as usize];
                    if predicate.derived {
                        let message = format!(
                            "{} is derived by a rule, so the initial state cannot set it",
                            atom.predicate
                        );
                        let help = "remove the atom from :init, or the rule from the domain";
                        self.error("planning.derived-set", message, SourcePlace::problem(atom.span), help);
                    }
                    self.init.push(ground);
                }
                InitElement::Not(atom, _) => {
                    self.atom(atom, &scope);
                }
                InitElement::Value(fluent, value, _) => {
                    if let Some(lifted) = self.fluent(fluent, &scope) {
                        self.init_numbers.push((lifted.instantiate(&[]), *value));
                    }
                }
                InitElement::Timed { span, .. } => {
                    self.note_unsupported("a timed initial literal", SourcePlace::problem(*span));
                }
            }
        }
        self.init.sort();
        self.init.dedup();
    }

    fn metric(&mut self, problem: &ast::Problem) -> Metric {
        let Some(metric) = &problem.metric else { return Metric::Steps };
        let scope = Scope::new(TaskText::Problem);
        let Some(expr) = self.expression(&metric.expr, &scope) else { return Metric::Steps };
        // A constant metric does not distinguish plans; the shortest is optimal.
        if matches!(expr, LiftedExpr::Constant(_)) {
            return Metric::Steps;
        }
        Metric::Value { expr, maximize: metric.direction == MetricDirection::Maximize, span: metric.span }
    }

    fn finish(
        mut self,
        schemas: Vec<ActionSchema>,
        mut rules: Vec<DerivedRule>,
        goal: Formula,
        goal_slots: usize,
        metric: Metric,
    ) -> Result<LiftedTask, Vec<Diagnostic>> {
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(self.diagnostics);
        }
        let mut function_fluent = vec![false; self.tables.function_arity.len()];
        for schema in &schemas {
            for (change, _) in schema.effects.iter().flat_map(|g| &g.changes) {
                match change {
                    crate::lifted::EffectChange::Add(atom) | crate::lifted::EffectChange::Delete(atom) => {
                        self.tables.predicates[atom.predicate as usize].fluent = true;
                    }
                    crate::lifted::EffectChange::Numeric(_, atom, _) => {
                        function_fluent[atom.predicate as usize] = true
                    }
                }
            }
        }
        rules.sort_by_key(|r| r.stratum);
        Ok(LiftedTask {
            object_types: self.tables.object_types(),
            symbols: Arc::new(self.tables.symbols),
            predicates: self.tables.predicates,
            function_arity: self.tables.function_arity,
            function_fluent,
            schemas,
            rules,
            init: self.init,
            init_numbers: self.init_numbers,
            goal,
            goal_slots,
            metric,
            unsupported: self.unsupported,
        })
    }
}
