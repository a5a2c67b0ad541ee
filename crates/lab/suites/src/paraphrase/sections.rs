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

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_pddl::print_problem;

    fn with(lines: &str) -> Result<String, String> {
        let text = "(define (problem p) (:domain d) (:init (a)) (:goal (b)) (:metric minimize (* 2 (is-violated w2))))";
        let mut problem = parse_problem(text, SourceId(0)).value;
        add_sections(&mut problem, lines)?;
        sort_metric(&mut problem);
        Ok(print_problem(&problem).split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn sections_are_added_and_terms_of_metrics_sorted() {
        let lines = "init(a).\n%pddl (:init (at 5 (not (a))))\n%pddl (:goal (preference w1 (c))) (:metric minimize (* 1 (is-violated w1)))\n\
            %pddl (:constraints (sometime (a)))\n% pddl no such line\n";
        assert_eq!(
            with(lines).unwrap(),
            "(define (problem p) (:domain d) (:init (a) (at 5 (not (a)))) (:goal (and (b) (preference w1 (c)))) \
             (:constraints (sometime (a))) (:metric minimize (+ (* 1 (is-violated w1)) (* 2 (is-violated w2)))))"
        );
    }

    #[test]
    fn what_cannot_be_added_is_named() {
        assert!(
            with("%pddl (:goal (preference w1 (c))").unwrap_err().contains("(:goal (preference w1 (c))`: ")
        );
        assert!(with("%pddl (:goul (c))").is_err());
        assert_eq!(
            with("%pddl (:metric maximize (x))").unwrap_err(),
            "only metrics to be minimised can be added up"
        );
    }
}
