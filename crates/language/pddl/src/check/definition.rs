//! The checks of a domain, and of a problem against its domain.

use super::types::second_object;
use super::{Checker, Feature, Insertion, KnownNames, TypeHierarchy};
use crate::ast::{
    Action, CompareOp, Condition, Derived, Domain, DurativeAction, Effect, InitElement, NumericExpr, Problem,
    Term, TypeRef, TypedName,
};
use crate::name::Name;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Checks the meaning of a domain. Findings about its form come from reading it.
///
/// A constant that the domain uses without declaring it is a warning here: a problem may declare an object of
/// that name. [`super::check_problem`] makes it an error if the problem does not.
pub fn check_domain(domain: &Domain, source: SourceId) -> Vec<Diagnostic> {
    let types = TypeHierarchy::of(domain);
    let mut checker = Checker::new(domain, &types, source);
    checker.whole_domain(domain);
    checker.predicate_use(domain);
    let declared: Vec<&Name> = domain.requirements.iter().collect();
    let insertion = domain_insertion(domain);
    if let Some(diagnostic) = crate::check::report_undeclared(&checker.features, &declared, insertion, source)
    {
        checker.push(diagnostic);
    }
    for diagnostic in
        crate::check::report_unused_requirements(&checker.features, &domain.requirements, source)
    {
        checker.push(diagnostic);
    }
    checker.sink.finish()
}

/// Constants that a domain uses and does not declare, the first use of each.
pub fn undeclared_constants<'a>(domain: &'a Domain, types: &'a TypeHierarchy) -> Vec<&'a Name> {
    let mut checker = Checker::new(domain, types, SourceId(0));
    checker.whole_domain(domain);
    checker.undeclared
}

/// The requirements that a domain makes use of and does not declare, as keywords.
pub fn undeclared_requirements(domain: &Domain) -> Vec<&'static str> {
    let types = TypeHierarchy::of(domain);
    let mut checker = Checker::new(domain, &types, SourceId(0));
    checker.whole_domain(domain);
    let declared: Vec<&Name> = domain.requirements.iter().collect();
    crate::check::missing_requirements(&checker.features, &declared)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

fn domain_insertion(domain: &Domain) -> Insertion {
    let section = domain.sections.iter().find(|s| s.keyword.is(":requirements"));
    match (domain.requirements.last(), section, &domain.name) {
        (Some(last), ..) => Insertion::Append(last.span.end),
        (None, Some(section), _) => Insertion::Append(section.keyword.span.end),
        (None, None, Some(_)) => match domain.sections.first() {
            Some(first) => Insertion::SectionBefore(first.span.start),
            None => Insertion::None,
        },
        _ => Insertion::None,
    }
}

impl<'a> Checker<'a> {
    fn whole_domain(&mut self, domain: &'a Domain) {
        self.declarations(domain);
        domain.actions.iter().for_each(|action| self.action(action));
        domain.durative_actions.iter().for_each(|action| self.durative_action(action));
        domain.derived.iter().for_each(|rule| self.check_derived(rule));
        if let Some(constraints) = &domain.constraints {
            self.features.note(Feature::Constraints, constraints.span());
            self.condition(constraints, true);
        }
    }

    fn action(&mut self, action: &'a Action) {
        let used = self.bound(&action.parameters, &[], |checker| {
            let used = checker.bound(&action.vars, &[], |checker| {
                if let Some(precondition) = &action.precondition {
                    checker.condition(precondition, true);
                    checker.contradiction(precondition);
                }
                checker.action_effect(action.effect.as_ref());
            });
            checker.report_unused(&action.vars, &used, "variable");
        });
        self.report_unused(&action.parameters, &used, "parameter");
    }

    fn action_effect(&mut self, effect: Option<&'a Effect>) {
        let Some(effect) = effect else { return };
        if matches!(effect, Effect::And(parts, _) if parts.is_empty()) {
            let message = "the effect is empty, so the action changes nothing".to_owned();
            self.warning("pddl.empty-effect", message, effect.span());
        }
        self.effect(effect);
        for part in effect.conjuncts() {
            let Effect::Delete(deleted, span) = part else { continue };
            let same = |other: &&Effect| matches!(other, Effect::Add(a) if a.predicate == deleted.predicate && a.args == deleted.args);
            if let Some(added) = effect.conjuncts().iter().find(same) {
                let source = self.sink.source;
                let message = format!("`{}` is made false and true at once", deleted.predicate);
                self.push(
                    Diagnostic::warning("pddl.contradictory-effect", message)
                        .at(source, *span, "deleted here")
                        .also(source, added.span(), "added here")
                        .help("PDDL lets the addition win"),
                );
            }
        }
    }

    /// Reports a conjunction that requires an atom and its negation.
    fn contradiction(&mut self, condition: &'a Condition) {
        for part in condition.conjuncts() {
            let Condition::Not(inner, span) = part else { continue };
            let Condition::Atom(denied) = &**inner else { continue };
            let same = |other: &&Condition| matches!(other, Condition::Atom(a) if a.predicate == denied.predicate && a.args == denied.args);
            if let Some(asked) = condition.conjuncts().iter().find(same) {
                let source = self.sink.source;
                let message = format!("`{}` is asked to be true and false at once", denied.predicate);
                self.push(
                    Diagnostic::warning("pddl.contradictory-condition", message)
                        .at(source, *span, "must be false here")
                        .also(source, asked.span(), "must be true here"),
                );
            }
        }
    }

    fn durative_action(&mut self, action: &'a DurativeAction) {
        self.features.note(Feature::Durative, action.span);
        let used = self.bound(&action.parameters, &[], |checker| {
            if let Some(duration) = &action.duration {
                checker.duration(duration);
            }
            if let Some(condition) = &action.condition {
                checker.condition(condition, true);
            }
            checker.action_effect(action.effect.as_ref());
        });
        self.report_unused(&action.parameters, &used, "parameter");
        for part in action.condition.iter().flat_map(Condition::conjuncts) {
            if matches!(part, Condition::Atom(_) | Condition::Not(..) | Condition::Compare(_)) {
                let message = "this condition says no time: `at start`, `over all` or `at end`".to_owned();
                self.error("pddl.missing-time", message, part.span());
            }
        }
        for part in action.effect.iter().flat_map(Effect::conjuncts) {
            if matches!(part, Effect::Add(_) | Effect::Delete(..)) {
                let message = "this effect says no time: `at start` or `at end`".to_owned();
                self.error("pddl.missing-time", message, part.span());
            }
        }
    }

    fn duration(&mut self, duration: &'a Condition) {
        for part in duration.conjuncts() {
            let part = if let Condition::Timed(_, inner, _) = part { inner } else { part };
            match part {
                Condition::Compare(c) if matches!(c.left, NumericExpr::Duration(_)) => {
                    if c.op != CompareOp::Equal {
                        self.features.note(Feature::DurationInequalities, c.span);
                    }
                    self.numeric(&c.right);
                }
                other => {
                    let message =
                        "a duration is `(= ?duration EXPRESSION)` or an inequality of it".to_owned();
                    self.error("pddl.bad-duration", message, other.span());
                }
            }
        }
    }

    fn check_derived(&mut self, rule: &'a Derived) {
        self.features.note(Feature::Derived, rule.span);
        let declared = self.predicates.get(rule.predicate.key()).copied();
        let parameters: &'a [TypedName] = declared.map_or(&[], |d| &d.parameters);
        match declared {
            None if !self.predicates_unknown => {
                let message = format!("no predicate `{}` is declared", rule.predicate);
                self.unknown("pddl.undefined-predicate", message, &rule.predicate, KnownNames::Predicates);
            }
            Some(decl) if decl.parameters.len() != rule.parameters.len() => {
                let (want, have) = (decl.parameters.len(), rule.parameters.len());
                let message =
                    format!("the predicate `{}` has {want} argument(s), not {have}", rule.predicate);
                self.error("pddl.arity", message, rule.predicate.span);
            }
            _ => {}
        }
        let inherited: Vec<Option<&'a TypeRef>> = parameters.iter().map(|p| p.ty.as_ref()).collect();
        self.bound(&rule.parameters, &inherited, |checker| {
            if let Some(condition) = &rule.condition {
                checker.condition(condition, true);
            }
        });
    }

    /// Predicates that nothing mentions, and those that only ever become false.
    fn predicate_use(&mut self, domain: &'a Domain) {
        let has_actions = !domain.actions.is_empty() || !domain.durative_actions.is_empty();
        for predicate in &domain.predicates {
            let name = &predicate.name;
            let usage = self.usage.get(name.key()).cloned().unwrap_or_default();
            let is_derived = self.derived.contains_key(name.key());
            if !usage.mentioned && !is_derived && has_actions {
                let message = format!("no action or rule mentions the predicate `{name}`");
                self.warning("pddl.unused-predicate", message, name.span);
            } else if let (Some(deleted), false, true) = (usage.deleted, usage.added, usage.wanted.is_some())
            {
                let source = self.sink.source;
                let message = format!("actions make `{name}` false, and none makes it true");
                self.push(
                    Diagnostic::advice("pddl.never-added", message)
                        .at(source, name.span, "")
                        .also(source, deleted, "made false here")
                        .help("that is right for something used up; otherwise an action lacks an effect"),
                );
            }
        }
    }
}

/// The sources that a domain and a problem were read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskSources {
    /// Source of the domain.
    pub domain: SourceId,
    /// Source of the problem.
    pub problem: SourceId,
}

impl Default for TaskSources {
    /// The domain is source 0, the problem source 1.
    fn default() -> Self {
        Self { domain: SourceId(0), problem: SourceId(1) }
    }
}

/// Everything wrong or odd with a problem's meaning under that domain. The domain's own faults are
/// [`super::check_domain`]'s.
///
/// A problem that names another domain, and whose facts mostly make no sense in this one, gets that one finding only.
pub fn check_problem(domain: &Domain, problem: &Problem, sources: TaskSources) -> Vec<Diagnostic> {
    // An unreadable text is already reported; other findings would only follow from that.
    if *domain == Domain::default() || *problem == Problem::default() {
        return Vec::new();
    }
    let types = TypeHierarchy::of(domain);
    let mut checker = Checker::new(domain, &types, sources.problem);
    checker.objects_known = true;
    if checker.wrong_domain(domain, problem) && checker.is_foreign(problem) {
        return checker.sink.finish();
    }
    checker.problem_objects(problem, sources.domain);
    checker.constants_of_domain(domain, problem, sources);
    checker.init(problem);
    checker.goal(domain, problem);
    checker.never_true(domain, problem);
    checker.unused_objects(domain, problem);
    let declared: Vec<&Name> = domain.requirements.iter().chain(&problem.requirements).collect();
    let insertion = problem_insertion(problem);
    if let Some(diagnostic) =
        crate::check::report_undeclared(&checker.features, &declared, insertion, sources.problem)
    {
        checker.push(diagnostic);
    }
    checker.sink.finish()
}

/// Reads and checks a domain and a problem for it: both trees, if nothing in them is an error, for what is left of a damaged
/// task is another task. The domain is source 0, the problem source 1.
///
/// # Errors
/// Everything found, warnings included, where there is an error among it.
pub fn read_task(domain: &str, problem: &str) -> Result<(Domain, Problem), Vec<Diagnostic>> {
    let ids = TaskSources::default();
    let domain = crate::parse_domain(domain, ids.domain);
    let problem = crate::parse_problem(problem, ids.problem);
    let mut found = [domain.diagnostics, problem.diagnostics].concat();
    found.extend(super::check_domain(&domain.value, ids.domain));
    found.extend(check_problem(&domain.value, &problem.value, ids));
    match found.iter().any(Diagnostic::is_error) {
        true => Err(found),
        false => Ok((domain.value, problem.value)),
    }
}

/// A requirement that a task makes use of, whether it declares it or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedRequirement {
    /// The keyword, for example `:negative-preconditions`.
    pub requirement: &'static str,
    /// The text with the first use.
    pub source: SourceId,
    /// Place of the first use.
    pub span: Span,
}

/// Returns the requirements that a domain and a problem use, each once: the features that a planner must
/// support.
pub fn requirements_used(domain: &Domain, problem: &Problem, sources: TaskSources) -> Vec<UsedRequirement> {
    let types = TypeHierarchy::of(domain);
    let mut of_domain = Checker::new(domain, &types, sources.domain);
    of_domain.whole_domain(domain);
    let mut of_problem = Checker::new(domain, &types, sources.problem);
    of_problem.objects_known = true;
    of_problem.problem_objects(problem, sources.domain);
    of_problem.init(problem);
    of_problem.goal(domain, problem);
    let mut found: Vec<UsedRequirement> = Vec::new();
    for (features, source) in [(&of_domain.features, sources.domain), (&of_problem.features, sources.problem)]
    {
        for (_, requirement, span) in features.used() {
            if !found.iter().any(|r| r.requirement == requirement) {
                found.push(UsedRequirement { requirement, source, span });
            }
        }
    }
    found
}

fn problem_insertion(problem: &Problem) -> Insertion {
    let section = |keyword: &str| problem.sections.iter().find(|s| s.keyword.is(keyword));
    if let Some(last) = problem.requirements.last() {
        return Insertion::Append(last.span.end);
    }
    match (section(":requirements"), section(":domain")) {
        (Some(section), _) => Insertion::Append(section.keyword.span.end),
        (None, Some(section)) => Insertion::SectionAfter(section.span.end),
        (None, None) => Insertion::None,
    }
}

/// Returns the span of a problem's section for labels; the definition's opening if there is no such section.
fn section_place(problem: &Problem, keyword: &str) -> Span {
    let section = problem.sections.iter().find(|s| s.keyword.is(keyword));
    section.map_or(Span::new(problem.span.start, problem.span.start), |s| s.keyword.span)
}

impl<'a> Checker<'a> {
    fn wrong_domain(&mut self, domain: &Domain, problem: &Problem) -> bool {
        let (Some(own), Some(named)) = (&domain.name, &problem.domain_name) else { return false };
        if own == named {
            return false;
        }
        let help = format!("write `(:domain {own})`, or check with the domain `{named}`");
        let message = format!("the problem is for the domain `{named}`, but this domain is `{own}`");
        let source = self.sink.source;
        self.push(Diagnostic::error("pddl.wrong-domain", message).at(source, named.span, "").help(help));
        true
    }

    /// Returns true if more than half of the initial facts use predicates that this domain does not have.
    fn is_foreign(&self, problem: &Problem) -> bool {
        let mut facts = 0usize;
        let mut unknown = 0usize;
        for element in &problem.init {
            if let InitElement::Atom(atom) | InitElement::Not(atom, _) = element {
                facts += 1;
                unknown += usize::from(!self.predicates.contains_key(atom.predicate.key()));
            }
        }
        unknown * 2 > facts
    }

    fn problem_objects(&mut self, problem: &'a Problem, domain: SourceId) {
        self.type_refs(&problem.objects);
        // Whether objects need `:typing` is the domain's matter.
        self.features = crate::check::Features::default();
        for object in &problem.objects {
            if let Some(constant) = self.objects.get(object.name.key()).copied() {
                let message = format!("`{}` is already a constant of the domain", object.name);
                let source = self.sink.source;
                self.push(second_object(message, (constant, domain), (object, source)));
            }
        }
        self.unique_objects("object", &problem.objects);
        for object in &problem.objects {
            self.objects.entry(object.name.key()).or_insert(object);
        }
    }

    /// Reports constants that the domain uses without declaring them and that are not objects of the problem.
    fn constants_of_domain(&mut self, domain: &Domain, problem: &Problem, sources: TaskSources) {
        for name in undeclared_constants(domain, self.types) {
            if self.objects.contains_key(name.key()) {
                continue;
            }
            let message =
                format!("the domain uses `{name}`, which neither the domain nor the problem declares");
            self.push(
                Diagnostic::error("pddl.undefined-constant", message)
                    .at(sources.problem, section_place(problem, ":objects"), "")
                    .also(sources.domain, name.span, "used here")
                    .help(format!("declare `{name}` in the domain's `:constants`")),
            );
        }
    }

    fn init(&mut self, problem: &'a Problem) {
        let mut seen: FxHashMap<u64, &'a InitElement> = FxHashMap::default();
        seen.reserve(problem.init.len());
        for element in &problem.init {
            self.init_element(element);
            if let Some(first) = seen.insert(element_hash(element), element) {
                self.report_repeated(first, element);
            }
        }
    }

    fn init_element(&mut self, element: &'a InitElement) {
        match element {
            InitElement::Atom(atom) => {
                self.atom(atom);
                self.usage.entry(atom.predicate.key()).or_default().added = true;
                if self.derived.contains_key(atom.predicate.key()) {
                    let message =
                        format!("`{}` is derived by a rule; the initial state cannot set it", atom.predicate);
                    self.warning("pddl.derived-in-init", message, atom.span);
                }
            }
            InitElement::Not(atom, _) => self.atom(atom),
            InitElement::Value(fluent, ..) => self.fluent(fluent),
            InitElement::Timed { element, span, .. } => {
                self.features.note(Feature::TimedLiterals, *span);
                self.init_element(element);
            }
        }
    }

    /// Two entries about one atom or one fluent; `first` may only share its hash.
    fn report_repeated(&mut self, first: &InitElement, second: &InitElement) {
        let (Some(a), Some(b)) = (subject(first), subject(second)) else { return };
        if a != b || self.sink.is_full() {
            return;
        }
        let source = self.sink.source;
        let same_sign = matches!(first, InitElement::Not(..)) == matches!(second, InitElement::Not(..));
        let diagnostic = match (first, second) {
            (InitElement::Value(_, x, _), InitElement::Value(_, y, _)) if x != y => {
                Diagnostic::error("pddl.contradictory-init", format!("`{}` is given two values", a.0))
            }
            _ if same_sign => {
                Diagnostic::warning("pddl.duplicate-fact", format!("this `{}` is given twice", a.0))
            }
            _ => {
                let message = format!("this `{}` is said to be true and false", a.0);
                Diagnostic::error("pddl.contradictory-init", message)
            }
        };
        self.push(diagnostic.at(source, second.span(), "").also(source, first.span(), "first given here"));
    }

    fn goal(&mut self, domain: &'a Domain, problem: &'a Problem) {
        let preconditions = domain.actions.iter().filter_map(|a| a.precondition.as_ref());
        let conditions = domain.durative_actions.iter().filter_map(|a| a.condition.as_ref());
        let own = problem.goal.iter().chain(&problem.constraints).chain(&domain.constraints);
        for condition in own.chain(preconditions).chain(conditions) {
            collect_preferences(condition, &mut self.preferences);
        }
        if let Some(goal) = &problem.goal {
            if goal.is_empty() {
                let message = "the goal is empty, so the empty plan reaches it".to_owned();
                self.warning("pddl.empty-goal", message, goal.span());
            }
            self.condition(goal, true);
        }
        if let Some(constraints) = &problem.constraints {
            self.features.note(Feature::Constraints, constraints.span());
            self.condition(constraints, true);
        }
        if let Some(metric) = &problem.metric {
            self.numeric(&metric.expr);
        }
    }

    /// Reports predicates that the goal or an action requires, that no effect adds and no initial fact has.
    fn never_true(&mut self, domain: &'a Domain, problem: &'a Problem) {
        let added = predicates_added(domain);
        let mut reported: FxHashSet<&str> = FxHashSet::default();
        let never = |checker: &Self, key: &str| {
            let in_init = checker.usage.get(key).is_some_and(|u| u.added);
            !in_init && !added.contains(key) && checker.predicates.contains_key(key)
        };
        let mut wanted: Vec<(&Name, Span)> = Vec::new();
        if let Some(goal) = &problem.goal {
            atoms_wanted(goal, true, &mut |atom| wanted.push((&atom.predicate, atom.span)));
        }
        for (name, span) in wanted {
            if never(self, name.key()) && reported.insert(name.key()) {
                let message =
                    format!("the goal needs `{name}`, which no action adds and no initial fact has");
                self.warning("pddl.unreachable-goal", message, span);
            }
        }
        let mut needed: Vec<&'a Name> = Vec::new();
        for precondition in domain.actions.iter().filter_map(|a| a.precondition.as_ref()) {
            for part in precondition.conjuncts() {
                if let Condition::Atom(atom) = part {
                    needed.push(&atom.predicate);
                }
            }
        }
        let place = section_place(problem, ":init");
        for name in needed {
            if never(self, name.key()) && reported.insert(name.key()) {
                let message =
                    format!("actions need `{name}`, which none of them adds and no initial fact has");
                self.warning("pddl.never-true", message, place);
            }
        }
    }

    fn unused_objects(&mut self, domain: &Domain, problem: &'a Problem) {
        let mut used: FxHashSet<&str> = FxHashSet::default();
        let mut note = |args: &'a [Term]| used.extend(args.iter().map(|a| a.name().key()));
        for element in &problem.init {
            match element {
                InitElement::Timed { element, .. } => element_args(element, &mut note),
                other => element_args(other, &mut note),
            }
        }
        for condition in problem.goal.iter().chain(&problem.constraints) {
            atoms_wanted(condition, true, &mut |atom| note(&atom.args));
            atoms_wanted(condition, false, &mut |atom| note(&atom.args));
        }
        // Without facts about any object, as in a template, saying so of each is noise.
        if used.is_empty() {
            return;
        }
        // A constant declared again is used by the domain, perhaps.
        let is_constant = |name: &Name| domain.constants.iter().any(|c| c.name == *name);
        let unused: Vec<&Name> = problem
            .objects
            .iter()
            .map(|o| &o.name)
            .filter(|name| !used.contains(name.key()))
            .take(6)
            .filter(|name| !is_constant(name))
            .collect();
        if let Some(first) = unused.first() {
            let names: Vec<String> = unused.iter().take(5).map(|name| format!("`{name}`")).collect();
            let more = if unused.len() > 5 { " and others" } else { "" };
            let message =
                format!("neither the initial state nor the goal mentions {}{more}", names.join(", "));
            let source = self.sink.source;
            self.push(Diagnostic::advice("pddl.unused-object", message).at(source, first.span, ""));
        }
    }
}

/// Returns the predicate or function of an entry, and its arguments.
fn subject(element: &InitElement) -> Option<(&Name, &[Term])> {
    match element {
        InitElement::Atom(atom) | InitElement::Not(atom, _) => Some((&atom.predicate, &atom.args)),
        InitElement::Value(fluent, ..) => Some((&fluent.function, &fluent.args)),
        InitElement::Timed { .. } => None,
    }
}

fn element_hash(element: &InitElement) -> u64 {
    let mut hasher = FxHasher::default();
    match subject(element) {
        Some((name, args)) => {
            matches!(element, InitElement::Value(..)).hash(&mut hasher);
            name.hash(&mut hasher);
            args.iter().for_each(|arg| arg.name().hash(&mut hasher));
        }
        None => element.span().hash(&mut hasher),
    }
    hasher.finish()
}

fn element_args<'a>(element: &'a InitElement, note: &mut impl FnMut(&'a [Term])) {
    if let Some((_, args)) = subject(element) {
        note(args);
    }
}

/// Visits every atom under an even number of negations, or an odd one if `positive` is false.
fn atoms_wanted<'a>(condition: &'a Condition, positive: bool, visit: &mut impl FnMut(&'a crate::ast::Atom)) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|part| atoms_wanted(part, positive, visit));
        }
        Condition::Not(inner, _) => atoms_wanted(inner, !positive, visit),
        Condition::Imply(a, b, _) => {
            atoms_wanted(a, !positive, visit);
            atoms_wanted(b, positive, visit);
        }
        Condition::Exists(q) | Condition::Forall(q) => atoms_wanted(&q.body, positive, visit),
        Condition::Atom(atom) if positive => visit(atom),
        Condition::Preference(p) => atoms_wanted(&p.condition, positive, visit),
        Condition::Timed(_, inner, _) => atoms_wanted(inner, positive, visit),
        Condition::Trajectory(t) => t.conditions.iter().for_each(|part| atoms_wanted(part, positive, visit)),
        Condition::Atom(_) | Condition::Equal(..) | Condition::Compare(_) => {}
    }
}

fn collect_preferences<'a>(condition: &'a Condition, names: &mut Vec<&'a Name>) {
    match condition {
        Condition::Preference(p) => names.extend(&p.name),
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|part| collect_preferences(part, names));
        }
        Condition::Forall(q) | Condition::Exists(q) => collect_preferences(&q.body, names),
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => collect_preferences(inner, names),
        _ => {}
    }
}

/// Predicates that some action or rule makes true.
fn predicates_added(domain: &Domain) -> FxHashSet<&str> {
    fn walk<'a>(effect: &'a Effect, added: &mut FxHashSet<&'a str>) {
        match effect {
            Effect::And(parts, _) => parts.iter().for_each(|part| walk(part, added)),
            Effect::Forall(q) => walk(&q.body, added),
            Effect::When(_, inner, _) | Effect::Timed(_, inner, _) => walk(inner, added),
            Effect::Add(atom) => {
                added.insert(atom.predicate.key());
            }
            Effect::Delete(..) | Effect::Assign(_) => {}
        }
    }
    let mut added: FxHashSet<&str> = domain.derived.iter().map(|rule| rule.predicate.key()).collect();
    let instantaneous = domain.actions.iter().filter_map(|a| a.effect.as_ref());
    let durative = domain.durative_actions.iter().filter_map(|a| a.effect.as_ref());
    instantaneous.chain(durative).for_each(|effect| walk(effect, &mut added));
    added
}
