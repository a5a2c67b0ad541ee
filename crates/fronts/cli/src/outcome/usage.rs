//! Costs, requests and tokens of each model in a run, and the budget of a search.

use planforge_app::contract::Price;
use planforge_app::record::BudgetEnd;
use planforge_app::run::{BudgetReport, Cost, ModelFallback, RunReport, TaskReport, TaskUsage};
use std::collections::BTreeMap;

/// The cost of a run, and why a part of it is unknown. Nothing if no model was asked.
pub(super) fn cost_line(report: &RunReport) -> Option<String> {
    let mut used: BTreeMap<&str, TaskUsage> = BTreeMap::new();
    for (name, usage) in report.tasks.iter().flat_map(|task| &task.usage) {
        used.entry(name).or_default().add(usage);
    }
    let (mut cost, mut whys, mut uncounted, mut failed) = (Cost::default(), Vec::new(), 0, 0);
    for (name, usage) in &used {
        let price = report.prices.get(*name);
        cost.add(&Cost::of_model(usage, price));
        match price {
            Some(price) if price.cost(&usage.priced_tokens()).is_some() => {
                uncounted += usage.unmetered;
                failed += usage.failed;
            }
            Some(Price { prompt: Some(_), completion: Some(_), .. }) => {
                whys.push(format!("no price for cached tokens of [llm.{name}]"));
            }
            _ => whys.push(format!("no price for the model of [llm.{name}]")),
        }
    }
    if uncounted > 0 {
        whys.push(format!("the server did not count all tokens of {}", count(uncounted, "request")));
    }
    if failed > 0 {
        whys.push(format!("{} ended without a reply", count(failed, "request")));
    }
    let (text, whys) = (cost.text(), whys.join("; "));
    match (text.as_str(), whys.as_str()) {
        _ if used.is_empty() => None,
        ("?", whys) => Some(format!("cost: unknown: {whys}")),
        (text, "") => Some(format!("cost: {text}")),
        (text, whys) => Some(format!("cost: {text}; {whys}")),
    }
}

/// `1 call`, `2 calls`.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

pub(super) fn usage_text(task: &TaskReport) -> String {
    if task.usage.is_empty() {
        return "no model answered".to_owned();
    }
    let used = task.usage.iter().map(|(model, u)| usage_line(model, u));
    used.chain(task.moved.iter().map(fallback_line)).collect::<Vec<_>>().join("\n")
}

/// For the end of a run: the requests that a fallback model answered.
pub(crate) fn fallback_lines(report: &RunReport) -> Vec<String> {
    let answered = |name: &str| -> u64 {
        report.tasks.iter().filter_map(|task| task.usage.get(name)).map(|usage| usage.calls).sum()
    };
    let line = |moved: &ModelFallback| {
        format!("{}; {} answered {}", fallback_line(moved), moved.llm, answered(&moved.llm))
    };
    report.fallbacks().iter().map(line).collect()
}

/// The requests that a fallback model answered.
pub(crate) fn fallback_line(moved: &ModelFallback) -> String {
    let ModelFallback { llm, to, code, questions } = moved;
    format!("{} moved from {llm} to {to} [{code}]", count(*questions, "call"))
}

fn usage_line(model: &str, usage: &TaskUsage) -> String {
    let mut calls = count(usage.calls, "call");
    if usage.requests() > usage.calls {
        calls += &format!(", {}", count(usage.requests(), "request"));
    }
    let parts = |parts: &[(u64, &str)]| {
        let known: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
    };
    let read = parts(&[(usage.cached_tokens, "from a cache"), (usage.cache_write_tokens, "written to one")]);
    let written = parts(&[(usage.reasoning_tokens, "of reasoning")]);
    let unmetered = match usage.unmetered {
        0 => String::new(),
        n => format!("; {n} of them without a count from the server, so the sums are too low"),
    };
    let copies = match usage.copies {
        0 => String::new(),
        1 => "; 1 reply is a copy of another to the same request".to_owned(),
        n => format!("; {n} replies are copies of others to the same request"),
    };
    format!(
        "{model}: {} in{read}, {} out{written}, {calls}{unmetered}{copies}",
        usage.prompt_tokens, usage.completion_tokens
    )
}

/// The reason why the search ended, the resources spent, and the best candidate.
pub(super) fn budget_text(budget: &BudgetReport) -> String {
    let why = match budget.end {
        BudgetEnd::Accepted => "a candidate was accepted before the budget was spent",
        BudgetEnd::Spent => "the budget is spent: another pull might go beyond it",
        BudgetEnd::NothingLeft => "there was nothing left to sample or to refine",
        BudgetEnd::Stalled => "it ended because pulls spent nothing of what is limited",
        BudgetEnd::Capped => "a cap of an [llm] table was reached before the budget was spent",
    };
    let (spent, limits) = (&budget.spent, &budget.limits);
    let of = |used: String, limit: Option<String>, what: &str| match limit {
        Some(limit) => format!("{used} of {limit} {what}"),
        None => format!("{used} {what}"),
    };
    let estimated = match spent.estimated_tokens {
        0 => String::new(),
        n => format!(" ({n} of them estimated, for the server did not count them)"),
    };
    let mut used = vec![
        of(spent.calls.to_string(), limits.calls.map(|n| n.to_string()), "calls"),
        of(spent.tokens.to_string(), limits.tokens.map(|n| n.to_string()), "tokens") + &estimated,
    ];
    used.extend(
        spent.seconds.map(|s| of(format!("{s:.1}"), limits.seconds.map(|n| n.to_string()), "seconds")),
    );
    used.extend(
        spent.money.map(|m| of(format!("{m:.4}"), limits.money.map(|n| n.to_string()), "US dollars")),
    );
    let best = match (&budget.best, budget.best_value) {
        (Some(path), Some(value)) => format!("the best is {path}, with {value}"),
        (Some(path), None) => format!("the best is {path}, which has no value"),
        (None, _) => "no pull came to anything".to_owned(),
    };
    let outside = match budget.outside {
        0 => String::new(),
        n => format!("\n{n} values lay outside of the stage's range and counted as its nearer end"),
    };
    format!(
        "{why}\nspent: {}\n{} samples, {} refinements ({}): {} candidates; {best}{outside}",
        used.join(", "),
        budget.samples,
        budget.refinements,
        budget.policy,
        budget.candidates
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_pipeline::RunState;

    #[test]
    fn a_cost_that_is_unknown_says_why() {
        let price = Price { prompt: Some(2.0), completion: Some(8.0), ..Price::default() };
        let used =
            TaskUsage { calls: 3, prompt_tokens: 1000, completion_tokens: 125, ..TaskUsage::default() };
        let line = |usage: &[(&str, TaskUsage)], priced: &[&str]| {
            let usage = usage.iter().map(|(name, usage)| ((*name).to_owned(), *usage)).collect();
            let prices = priced.iter().map(|name| ((*name).to_owned(), price)).collect();
            let tasks = vec![TaskReport { usage, ..TaskReport::default() }];
            cost_line(&RunReport { schema: 1, state: RunState::Finished, tasks, prices })
        };
        let expect = |found: Option<String>, text: &str| assert_eq!(found.unwrap(), text);
        assert_eq!(line(&[], &["main"]), None);
        expect(line(&[("main", used)], &["main"]), "cost: $0.0030");
        expect(line(&[("main", used)], &[]), "cost: unknown: no price for the model of [llm.main]");
        expect(
            line(&[("critic", used), ("main", TaskUsage { unmetered: 1, failed: 2, ..used })], &["main"]),
            "cost: >= $0.0030; no price for the model of [llm.critic]; the server did not count all tokens of 1 request; \
             2 requests ended without a reply",
        );
        let cached = TaskUsage { cached_tokens: 500, ..used };
        expect(
            line(&[("main", cached)], &["main"]),
            "cost: >= $0.0020; no price for cached tokens of [llm.main]",
        );
    }
}
