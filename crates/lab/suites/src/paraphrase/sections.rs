//! Sections of a problem among the facts of a level: timed facts, constraints, preferences and a metric, which the language of facts
//! does not have.

use super::PDDL_COMMENT;
use super::facts::sum_terms;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{ArithmeticOp, Condition, Metric, MetricDirection, NumericExpr, Problem};
use planforge_pddl::{parse_problem, print_numeric};

/// Adds the sections that the lines `%pddl ...` of a representation state to the problem that follows from its facts. The terms of several
/// metrics are added up.
///
/// # Errors
/// A line that cannot be read, or a second metric that cannot be added to the first.
pub fn add_sections(problem: &mut Problem, representation: &str) -> Result<(), String> {
    for line in representation.lines().filter_map(|line| line.strip_prefix(PDDL_COMMENT)) {
        // A problem needs these two.
        let init = if line.contains("(:init") { "" } else { " (:init)" };
        let goal = if line.contains("(:goal") { "" } else { " (:goal (and))" };
        let text = format!("(define (problem p) (:domain d) {line}{init}{goal})");
        let parsed = parse_problem(&text, SourceId(0));
        if let Some(error) = parsed.diagnostics.iter().find(|d| Diagnostic::is_error(d)) {
            return Err(format!("`{line}`: {}", error.message));
        }
        let part = parsed.value;
        problem.init.extend(part.init);
        problem.goal = joined(problem.goal.take(), part.goal);
        problem.constraints = joined(problem.constraints.take(), part.constraints);
        problem.metric = match (problem.metric.take(), part.metric) {
            (Some(one), Some(other)) => Some(sum(one, other)?),
            (one, other) => one.or(other),
        };
    }
    Ok(())
}

/// Sorts the terms of a sum that is to be minimised, since sentences state them in any order.
pub fn sort_metric(problem: &mut Problem) {
    let Some(metric) = &mut problem.metric else { return };
    let mut terms: Vec<NumericExpr> = sum_terms(&metric.expr).into_iter().cloned().collect();
    if terms.len() > 1 {
        terms.sort_by_cached_key(print_numeric);
        metric.expr = NumericExpr::Arithmetic(ArithmeticOp::Add, terms, metric.span);
    }
}

fn joined(one: Option<Condition>, other: Option<Condition>) -> Option<Condition> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let parts = one.conjuncts().iter().chain(other.conjuncts()).cloned().collect();
            Some(Condition::And(parts, Span::default()))
        }
        (one, other) => one.or(other),
    }
}

fn sum(one: Metric, other: Metric) -> Result<Metric, String> {
    if [one.direction, other.direction] != [MetricDirection::Minimize; 2] {
        return Err("only metrics to be minimised can be added up".to_owned());
    }
    let span = Span::default();
    let expr = NumericExpr::Arithmetic(ArithmeticOp::Add, vec![one.expr, other.expr], span);
    Ok(Metric { expr, ..one })
}
