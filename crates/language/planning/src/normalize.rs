//! PDDL trees to a [`LiftedTask`]: names resolved, negation pushed to the literals, effects flattened, derived
//! predicates stratified. What cannot be given a meaning is an error with its place. Durations, timed literals, preferences and
//! trajectory constraints are listed as unsupported for grounding and search; [`crate::plan`] compiles the last two away, and validation executes them all ([`crate::lifted::Extension`]). What
//! validation does not execute either is listed in a second list.
//!
//! Nested `forall` and `when` become groups of effects that share variables and condition. A rule may use a derived predicate
//! negatively only from a lower stratum.

mod extension;
mod symbols;

use crate::lifted::{
    ActionSchema, DerivedRule, EffectChange, EffectGroup, Extension, Formula, LiftedAtom, LiftedExpr,
    LiftedTask, Metric, SoftPlace, Term, TimedEffect, Variable,
};
use crate::task::{SourcePlace, TaskText, Unsupported};
use planforge_diagnostics::{Diagnostic, Span};
use planforge_pddl::ast::{
    ArithmeticOp, CompareOp, Condition, Effect, InitElement, MetricDirection, NumericExpr,
};
use planforge_pddl::{Name, Number, ast};
use std::sync::Arc;
use symbols::{Tables, undefined_name};

/// Resolves and normalises a task.
///
/// # Errors
/// Every undeclared name, wrong arity and derived predicate that cannot be stratified or that an effect or
/// the initial state names. Such a task has no meaning. Labels use [`TaskText::source`].
pub fn normalize(domain: &ast::Domain, problem: &ast::Problem) -> Result<LiftedTask, Vec<Diagnostic>> {
    let mut normalizer = Normalizer::new(domain, problem);
    // Without all objects, every later finding follows from this one.
    if let Some(too_many) = normalizer.tables.too_many_members.take() {
        normalizer.unexecuted.push(too_many.clone());
        normalizer.unsupported.push(too_many);
        return normalizer.finish(Vec::new(), Vec::new(), Formula::truth(), 0, Metric::Steps);
    }
    let schemas: Vec<ActionSchema> =
        domain.actions.iter().zip(0..).map(|(action, number)| normalizer.schema(action, number)).collect();
    let mut rules: Vec<DerivedRule> = domain.derived.iter().filter_map(|d| normalizer.rule(d)).collect();
    for (action, number) in domain.durative_actions.iter().zip(schemas.len() as u32..) {
        let durative = normalizer.durative(action, number);
        normalizer.extension.durative.push(durative);
    }
    for (constraints, text) in
        [(&domain.constraints, TaskText::Domain), (&problem.constraints, TaskText::Problem)]
    {
        if let Some(constraints) = constraints {
            normalizer.constraints(constraints, text);
        }
    }
    normalizer.initial_state(problem);
    let mut scope = Scope::new(TaskText::Problem);
    let goal = match &problem.goal {
        Some(goal) => normalizer.hard_part(goal, SoftPlace::Goal, &mut scope),
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
    stratify(&mut rules, &mut normalizer);
    normalizer.finish(schemas, rules, goal, scope.slots, metric)
}

/// Variables in scope while a condition is read, and the number of slots assigned.
struct Scope {
    text: TaskText,
    names: Vec<(String, u32)>,
    slots: usize,
    /// True in a durative action, where `?duration` has a value.
    durative: bool,
}

impl Scope {
    fn new(text: TaskText) -> Self {
        Scope { text, names: Vec::new(), slots: 0, durative: false }
    }

    fn place(&self, span: Span) -> SourcePlace {
        SourcePlace { text: self.text, span }
    }
}

/// State of one normalisation.
struct Normalizer {
    tables: Tables,
    init: Vec<crate::task::Atom>,
    init_numbers: Vec<(crate::task::Atom, Number)>,
    unsupported: Vec<Unsupported>,
    /// Those that validation does not execute either.
    unexecuted: Vec<Unsupported>,
    extension: Extension,
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
            unexecuted: Vec::new(),
            extension: Extension::default(),
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

    /// Records a construct that nothing handles.
    fn note_unsupported(&mut self, what: &str, place: SourcePlace) {
        self.note_unplanned(what, place);
        self.unexecuted.push(Unsupported { what: what.to_owned(), place });
    }

    /// Records a construct that validation executes, but grounding and search do not.
    fn note_unplanned(&mut self, what: &str, place: SourcePlace) {
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

    fn schema(&mut self, action: &ast::Action, number: u32) -> ActionSchema {
        let mut scope = Scope::new(TaskText::Domain);
        let mut variables = self.variables(&action.parameters, &mut scope);
        let parameters = variables.len();
        variables.extend(self.variables(&action.vars, &mut scope));
        let precondition = match &action.precondition {
            Some(condition) => {
                let place = SoftPlace::Action { schema: number, at_end: false };
                self.hard_part(condition, place, &mut scope)
            }
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
                InitElement::Timed { time, element, span } => self.timed_literal(*time, element, *span),
            }
        }
        self.extension.timed.sort_by(|a, b| a.time.compare(b.time).unwrap_or(std::cmp::Ordering::Equal));
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
        for timed in &self.extension.timed {
            match &timed.change {
                TimedEffect::Add(atom) | TimedEffect::Delete(atom) => {
                    self.tables.predicates[atom.predicate as usize].fluent = true;
                }
                TimedEffect::Set(term, _) => function_fluent[term.predicate as usize] = true,
            }
        }
        let durative = self.extension.durative.iter().flat_map(|schema| [&schema.start, &schema.end]);
        for schema in schemas.iter().chain(durative) {
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
            unexecuted: self.unexecuted,
            extension: self.extension,
        })
    }
}

impl Normalizer {
    /// The condition, or its negation, in negation normal form.
    pub(crate) fn formula(&mut self, condition: &Condition, negated: bool, scope: &mut Scope) -> Formula {
        match condition {
            Condition::And(parts, span) => self.junction(parts, !negated, negated, *span, scope),
            Condition::Or(parts, span) => self.junction(parts, negated, negated, *span, scope),
            Condition::Not(inner, _) => self.formula(inner, !negated, scope),
            Condition::Imply(premise, conclusion, span) => {
                let parts =
                    vec![self.formula(premise, !negated, scope), self.formula(conclusion, negated, scope)];
                if negated { Formula::And(parts) } else { Formula::Or(parts, *span) }
            }
            Condition::Exists(q) => self.quantified_formula(q, !negated, negated, scope),
            Condition::Forall(q) => self.quantified_formula(q, negated, negated, scope),
            Condition::Atom(atom) => match self.atom(atom, scope) {
                Some(lifted) => Formula::Literal { atom: lifted, negated, span: atom.span },
                None => Formula::truth(),
            },
            Condition::Equal(left, right, span) => match (self.term(left, scope), self.term(right, scope)) {
                (Some(left), Some(right)) => Formula::Equal { left, right, negated, span: *span },
                _ => Formula::truth(),
            },
            Condition::Compare(comparison) => self.comparison(comparison, negated, scope),
            Condition::Preference(p) => {
                self.note_unsupported("a preference", scope.place(p.span));
                Formula::truth()
            }
            Condition::Timed(_, _, span) => {
                self.note_unsupported("a timed condition", scope.place(*span));
                Formula::truth()
            }
            Condition::Trajectory(t) => {
                self.note_unsupported("a trajectory constraint", scope.place(t.span));
                Formula::truth()
            }
        }
    }

    fn junction(
        &mut self,
        parts: &[Condition],
        conjunction: bool,
        negated: bool,
        span: Span,
        scope: &mut Scope,
    ) -> Formula {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match self.formula(part, negated, scope) {
                Formula::And(inner) if conjunction => flat.extend(inner),
                Formula::Or(inner, _) if !conjunction => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if conjunction { Formula::And(flat) } else { Formula::Or(flat, span) }
    }

    fn quantified_formula(
        &mut self,
        q: &ast::Quantified<Condition>,
        exists: bool,
        negated: bool,
        scope: &mut Scope,
    ) -> Formula {
        let outer = scope.names.len();
        let variables = self.variables(&q.parameters, scope);
        let body = Box::new(self.formula(&q.body, negated, scope));
        scope.names.truncate(outer);
        if exists {
            Formula::Exists(variables, body, q.span)
        } else {
            Formula::Forall(variables, body, q.span)
        }
    }

    fn comparison(&mut self, c: &ast::Comparison, negated: bool, scope: &mut Scope) -> Formula {
        let (Some(left), Some(right)) = (self.expression(&c.left, scope), self.expression(&c.right, scope))
        else {
            return Formula::truth();
        };
        let compare = |comparison, left, right| Formula::Compare { comparison, left, right, span: c.span };
        let comparison = match (c.op, negated) {
            (CompareOp::Less, false) | (CompareOp::GreaterEqual, true) => CompareOp::Less,
            (CompareOp::LessEqual, false) | (CompareOp::Greater, true) => CompareOp::LessEqual,
            (CompareOp::Greater, false) | (CompareOp::LessEqual, true) => CompareOp::Greater,
            (CompareOp::GreaterEqual, false) | (CompareOp::Less, true) => CompareOp::GreaterEqual,
            (CompareOp::Equal, false) => CompareOp::Equal,
            (CompareOp::Equal, true) => {
                let less = compare(CompareOp::Less, left.clone(), right.clone());
                return Formula::Or(vec![less, compare(CompareOp::Greater, left, right)], c.span);
            }
        };
        compare(comparison, left, right)
    }

    /// An atom with its names resolved; `None` after an error was reported.
    pub(crate) fn atom(&mut self, atom: &ast::Atom, scope: &Scope) -> Option<LiftedAtom> {
        let args = self.terms(&atom.args, scope);
        let Some(predicate) = self.tables.predicate(&atom.predicate) else {
            self.diagnostics.push(undefined_name("predicate", &atom.predicate, scope.text));
            return None;
        };
        let arity = self.tables.predicates[predicate as usize].arity;
        self.check_arity("predicate", &atom.predicate, atom.args.len(), arity, scope, atom.span)?;
        Some(LiftedAtom { predicate, args: args? })
    }

    /// A function term with its names resolved.
    pub(crate) fn fluent(&mut self, fluent: &ast::Fluent, scope: &Scope) -> Option<LiftedAtom> {
        let args = self.terms(&fluent.args, scope);
        let Some(function) = self.tables.function(&fluent.function) else {
            self.diagnostics.push(undefined_name("function", &fluent.function, scope.text));
            return None;
        };
        let arity = self.tables.function_arity[function as usize];
        self.check_arity("function", &fluent.function, fluent.args.len(), arity, scope, fluent.span)?;
        Some(LiftedAtom { predicate: function, args: args? })
    }

    fn check_arity(
        &mut self,
        kind: &str,
        name: &Name,
        given: usize,
        declared: usize,
        scope: &Scope,
        span: Span,
    ) -> Option<()> {
        if given == declared {
            return Some(());
        }
        let message = format!("the {kind} {name} takes {declared} arguments, here it has {given}");
        self.error("planning.arity", message, scope.place(span), "");
        None
    }

    fn terms(&mut self, args: &[ast::Term], scope: &Scope) -> Option<Box<[Term]>> {
        let terms: Vec<Option<Term>> = args.iter().map(|t| self.term(t, scope)).collect();
        terms.into_iter().collect()
    }

    fn term(&mut self, term: &ast::Term, scope: &Scope) -> Option<Term> {
        let (kind, found) = match term {
            ast::Term::Variable(name) => {
                let slot = scope.names.iter().rev().find(|(n, _)| n == name.key());
                ("variable", slot.map(|(_, slot)| Term::Slot(*slot)))
            }
            ast::Term::Constant(name) => ("object", self.tables.object(name).map(Term::Object)),
        };
        if found.is_none() {
            self.diagnostics.push(undefined_name(kind, term.name(), scope.text));
        }
        found
    }

    /// A numeric expression; `None` after an error or an unsupported construct was noted.
    pub(crate) fn expression(&mut self, expr: &NumericExpr, scope: &Scope) -> Option<LiftedExpr> {
        match expr {
            NumericExpr::Number(value, _) => Some(LiftedExpr::Constant(*value)),
            NumericExpr::Fluent(fluent) => self.fluent(fluent, scope).map(LiftedExpr::Function),
            NumericExpr::Arithmetic(op, args, _) => {
                let args: Vec<Option<LiftedExpr>> = args.iter().map(|a| self.expression(a, scope)).collect();
                let mut args = args.into_iter().collect::<Option<Vec<_>>>()?;
                if args.len() == 1 && *op == ArithmeticOp::Subtract {
                    args.insert(0, LiftedExpr::Constant(Number::ZERO));
                }
                operation(*op, args)
            }
            NumericExpr::Duration(_) if scope.durative => Some(LiftedExpr::Duration),
            NumericExpr::Duration(span) | NumericExpr::ElapsedTime(span) => {
                self.note_unsupported("a duration", scope.place(*span));
                None
            }
            NumericExpr::TotalTime(_) => Some(LiftedExpr::Steps),
            NumericExpr::IsViolated(name, span) => match self.known_preference_name(name.as_str()) {
                Some(name) => Some(LiftedExpr::Violations(name)),
                None => {
                    self.note_unsupported(
                        "the violations of a preference that is not there",
                        scope.place(*span),
                    );
                    None
                }
            },
        }
    }
}

/// Operands above this are grouped, so that the depth of a long sum is logarithmic.
const GROUP: usize = 16;

/// An operation on one or more operands, from left to right. Only sums and products have more than two: their order does
/// not matter, as arithmetic is exact.
fn operation(op: ArithmeticOp, mut operands: Vec<LiftedExpr>) -> Option<LiftedExpr> {
    while operands.len() > GROUP {
        let mut groups = Vec::with_capacity(operands.len().div_ceil(GROUP));
        let mut rest = operands.into_iter();
        while let Some(first) = rest.next() {
            groups.push(rest.by_ref().take(GROUP - 1).fold(first, |sum, next| binary(op, sum, next)));
        }
        operands = groups;
    }
    operands.into_iter().reduce(|sum, next| binary(op, sum, next))
}

/// An operation, folded where both sides are numbers.
fn binary(op: ArithmeticOp, left: LiftedExpr, right: LiftedExpr) -> LiftedExpr {
    match (&left, &right) {
        (LiftedExpr::Constant(a), LiftedExpr::Constant(b)) => LiftedExpr::Constant(op.apply(*a, *b)),
        _ => LiftedExpr::Binary(op, Box::new((left, right))),
    }
}

/// Enclosing variables and conditions during the traversal of an effect.
struct EffectWalk {
    groups: Vec<EffectGroup>,
    variables: Vec<Variable>,
    condition: Vec<Formula>,
    /// The group that changes at this depth go to, once one exists.
    current: Option<usize>,
}

impl EffectWalk {
    fn push(&mut self, change: EffectChange, span: Span) {
        let group = match self.current {
            Some(group) => group,
            None => {
                self.groups.push(EffectGroup {
                    variables: self.variables.clone(),
                    condition: match self.condition.as_slice() {
                        [single] => single.clone(),
                        many => Formula::And(many.to_vec()),
                    },
                    changes: Vec::new(),
                });
                self.groups.len() - 1
            }
        };
        self.current = Some(group);
        self.groups[group].changes.push((change, span));
    }
}

impl Normalizer {
    /// The groups of an effect.
    pub(crate) fn effects(&mut self, effect: &Effect, scope: &mut Scope) -> Vec<EffectGroup> {
        let mut walk =
            EffectWalk { groups: Vec::new(), variables: Vec::new(), condition: Vec::new(), current: None };
        self.walk_effect(effect, scope, &mut walk);
        walk.groups
    }

    fn walk_effect(&mut self, effect: &Effect, scope: &mut Scope, walk: &mut EffectWalk) {
        match effect {
            Effect::And(parts, _) => {
                for part in parts {
                    self.walk_effect(part, scope, walk);
                }
            }
            Effect::Forall(q) => {
                let outer = (scope.names.len(), walk.variables.len(), walk.current.take());
                let variables = self.variables(&q.parameters, scope);
                walk.variables.extend(variables);
                self.walk_effect(&q.body, scope, walk);
                scope.names.truncate(outer.0);
                walk.variables.truncate(outer.1);
                walk.current = outer.2;
            }
            Effect::When(condition, body, _) => {
                let outer = walk.current.take();
                let condition = self.formula(condition, false, scope);
                walk.condition.push(condition);
                self.walk_effect(body, scope, walk);
                walk.condition.pop();
                walk.current = outer;
            }
            Effect::Add(atom) => {
                if let Some(lifted) = self.changed_atom(atom, scope) {
                    walk.push(EffectChange::Add(lifted), atom.span);
                }
            }
            Effect::Delete(atom, span) => {
                if let Some(lifted) = self.changed_atom(atom, scope) {
                    walk.push(EffectChange::Delete(lifted), *span);
                }
            }
            Effect::Assign(assignment) => self.walk_assignment(assignment, scope, walk),
            Effect::Timed(_, _, span) => self.note_unsupported("a timed effect", scope.place(*span)),
        }
    }

    fn changed_atom(&mut self, atom: &ast::Atom, scope: &Scope) -> Option<LiftedAtom> {
        let lifted = self.atom(atom, scope)?;
        if self.tables.predicates[lifted.predicate as usize].derived {
            let message = format!("{} is derived by a rule, so an effect cannot set it", atom.predicate);
            let help = "change what the rule depends on instead, or remove the rule";
            self.error("planning.derived-set", message, scope.place(atom.span), help);
            return None;
        }
        Some(lifted)
    }

    fn walk_assignment(&mut self, a: &ast::Assignment, scope: &mut Scope, walk: &mut EffectWalk) {
        let fluent = self.fluent(&a.fluent, scope);
        let value = self.expression(&a.value, scope);
        if let (Some(fluent), Some(value)) = (fluent, value) {
            walk.push(EffectChange::Numeric(a.op, fluent, value), a.span);
        }
    }
}

/// Numbers the strata, or reports the rules that go through their own negation.
fn stratify(rules: &mut [DerivedRule], normalizer: &mut Normalizer) {
    let derived: Vec<bool> = normalizer.tables.predicates.iter().map(|p| p.derived).collect();
    // Edges head -> used derived predicate.
    let mut edges: Vec<(u32, u32, bool, Span)> = Vec::new();
    for rule in rules.iter() {
        rule.body.for_each_literal(&mut |atom, negated, span| {
            if derived[atom.predicate as usize] {
                edges.push((rule.predicate, atom.predicate, negated, span));
            }
        });
    }
    let mut faults = false;
    for &(head, used, negated, span) in &edges {
        if negated && depends_on(used, head, &edges) {
            faults = true;
            let names = &normalizer.tables.symbols.predicates;
            let (head, used) = (&names[head as usize], &names[used as usize]);
            let message =
                format!("{head} is derived through the negation of {used}, which depends on {head} again");
            let help = "a derived predicate may not depend on its own negation: break the cycle";
            normalizer.error("planning.not-stratifiable", message, SourcePlace::domain(span), help);
        }
    }
    if faults {
        return;
    }
    let mut stratum = vec![0u32; derived.len()];
    loop {
        let mut changed = false;
        for &(head, used, negated, _) in &edges {
            let least = stratum[used as usize] + u32::from(negated);
            if stratum[head as usize] < least {
                stratum[head as usize] = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for rule in rules {
        rule.stratum = stratum[rule.predicate as usize];
    }
}

/// Returns true if `from` is `to` or depends on it, directly or not.
fn depends_on(from: u32, to: u32, edges: &[(u32, u32, bool, Span)]) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while next < seen.len() {
        let current = seen[next];
        if current == to {
            return true;
        }
        for &(head, used, _, _) in edges {
            if head == current && !seen.contains(&used) {
                seen.push(used);
            }
        }
        next += 1;
    }
    false
}
