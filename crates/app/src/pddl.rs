//! Work on PDDL texts without a language model: one module each.

pub mod compare;
pub mod diagram;
pub mod draw;
pub mod format;
pub mod grammar;
pub mod infer;
pub mod plan;
pub mod read;
pub mod steps;
pub mod task;
pub mod tell;
pub mod validate;

use crate::context::Context;
use crate::inputs::{Inputs, Source};
use planforge_pipeline::read_sentences;
use planforge_plugin_sdk::wording::Wording;

/// The sentences in which facts of a domain are told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sentences {
    /// Those of the file `sentences.toml` beside the domain's file; names if there is none.
    #[default]
    BesideDomain,
    /// Those of this text, in the form of `sentences.toml`.
    Given(Source),
}

impl Sentences {
    /// Reads the sentences. Mistakes in them are added to the inputs' findings.
    fn read(&self, context: &Context, domain: &Source, inputs: &mut Inputs) -> Wording {
        let beside = || domain.beside(context, "sentences.toml");
        let given = match self {
            Self::BesideDomain => beside(),
            Self::Given(source) => Some(source.clone()),
        };
        let Some(given) = given else { return Wording::default() };
        let (source, text) = inputs.load_text(context, &given);
        let domain = inputs.text(0).to_owned();
        let Some(text) = text else { return Wording::default() };
        Wording::new(&read_sentences(&text, source, &domain, &mut inputs.texts.diagnostics).facts)
    }
}

#[cfg(test)]
mod tests {
    use super::compare::{models, walks};
    use super::{Sentences, plan, validate};
    use crate::{Context, Error, RequestLimits, Source, Status};
    use serde_json::{Value, json};

    const DOMAIN: &str = "(define (domain d) (:requirements :strips) (:predicates (on) (off))
        (:action press :precondition (off) :effect (and (on) (not (off)))))";
    const STUCK: &str = "(define (domain d) (:requirements :strips) (:predicates (on) (off))
        (:action press :precondition (and (off) (on)) :effect (and (on) (not (off)))))";
    const PROBLEM: &str = "(define (problem p) (:domain d) (:init (off)) (:goal (on)))";

    fn json_of<T: serde::Serialize>(result: Result<T, Error>) -> Value {
        serde_json::to_value(result.unwrap()).unwrap()
    }

    #[test]
    fn files_and_texts_of_the_same_names_have_the_same_results() {
        let folder = tempfile::tempdir().unwrap();
        let context = Context { folder: folder.path().to_owned(), ..Context::default() };
        let file = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            [Source::File(name.into()), Source::text(name, text)]
        };
        let (domains, problems) = (file("d.pddl", DOMAIN), file("p.pddl", PROBLEM));
        let (wrong, plans) = (file("w.pddl", "(define (domain d)"), file("p.plan", "(press)"));
        let forms = [0, 1].map(|form| {
            let validate = |domain: &Source, plan: Option<&Source>| {
                let request = validate::ValidateRequest {
                    domain: domain.clone(),
                    problem: Some(problems[form].clone()),
                    plan: plan.cloned(),
                    in_words: None,
                    epsilon: None,
                    limits: RequestLimits::default(),
                };
                json_of(validate::validate(&context, &request))
            };
            let request = plan::PlanRequest {
                domain: domains[form].clone(),
                problem: problems[form].clone(),
                search: plan::PlanSearch::Optimal,
                in_words: None,
                limits: RequestLimits::default(),
                nodes: None,
                threads: None,
                report_plans: false,
            };
            let mut planned = json_of(plan::plan(&context, &request));
            planned.as_object_mut().unwrap().remove("statistics");
            [validate(&domains[form], Some(&plans[form])), validate(&wrong[form], None), planned]
        });
        assert_eq!(forms[0], forms[1]);
        assert_eq!(forms[0][0]["valid"], true, "{:#}", forms[0][0]);
        assert_eq!(forms[0][1]["diagnostics"][0]["file"], "w.pddl", "{:#}", forms[0][1]);
        assert_eq!(forms[0][2]["plans"][0]["steps"], json!(["(press)"]), "{:#}", forms[0][2]);
    }

    #[test]
    fn a_plan_is_told_where_that_was_requested() {
        let request = plan::PlanRequest {
            domain: Source::text("domain", DOMAIN),
            problem: Source::text("problem", PROBLEM),
            search: plan::PlanSearch::Best,
            in_words: Some(Sentences::BesideDomain),
            limits: RequestLimits::default(),
            nodes: Some(100),
            threads: None,
            report_plans: false,
        };
        let result = plan::plan(&Context::default(), &request).unwrap();
        assert!(result.told.unwrap().to_string().contains("press"));
    }

    #[test]
    fn a_candidate_that_can_do_less_differs_in_behaviour_and_walks() {
        let request = models::ModelsRequest {
            domain: Source::text("reference domain", DOMAIN),
            problem: Source::text("reference problem", PROBLEM),
            candidate_domain: Some(Source::text("candidate domain", STUCK)),
            candidate_problem: None,
            sentences: Sentences::BesideDomain,
            seed: 0,
            nodes: 1000,
            limits: RequestLimits::seconds(Some(30.0)),
        };
        let compared = models::models(&Context::default(), &request).unwrap();
        assert_eq!(compared.decision, "different", "{compared:?}");
        assert!(compared.problems.is_none() && !compared.in_words.is_empty(), "{compared:?}");
        let alone = walks::WalksRequest {
            reference: request.domain.clone(),
            candidate: request.candidate_domain.clone().unwrap(),
            problems: vec![[request.problem.clone(), request.problem.clone()]],
            options: walks::WalkVerifierOptions::default(),
            match_interface: false,
            seed: 0,
            limits: RequestLimits::default(),
        };
        let alone = walks::walks(&Context::default(), &alone).unwrap();
        assert_eq!(compared.walks, Some(alone.report));
        let nothing = models::ModelsRequest { candidate_domain: None, ..request };
        assert_eq!(models::models(&Context::default(), &nothing).unwrap_err().code(), "cli.usage");
    }

    #[test]
    fn a_cancelled_comparison_is_undecided() {
        let context = Context::default();
        context.cancellation.cancel();
        let [domain, problem] = [Source::text("domain", DOMAIN), Source::text("problem", PROBLEM)];
        let request = walks::WalksRequest {
            reference: domain.clone(),
            candidate: domain,
            problems: vec![[problem.clone(), problem]],
            options: walks::WalkVerifierOptions::default(),
            match_interface: false,
            seed: 0,
            limits: RequestLimits::default(),
        };
        let compared = walks::walks(&context, &request).unwrap();
        assert_eq!(compared.status, Status::Interrupted);
        assert_eq!(compared.report.score, None);
    }
}
