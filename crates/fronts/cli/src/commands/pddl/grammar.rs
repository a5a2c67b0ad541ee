//! `planforge pddl grammar`: what a model may write about a domain, for servers that constrain replies.

use crate::context::Context;
use crate::exit::Exit;
use crate::inputs::Inputs;
use clap::{Args, ValueEnum};
use planforge_asp::Declarations;
use planforge_asp::reader::Signature;
use planforge_grammar::{ActionHead, AspVocabulary, EditFunctions, json};
use planforge_pddl::ast::{Domain, TypedName};
use std::path::PathBuf;

/// Print a grammar that rules out ill-formed PDDL about a domain.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl grammar domain.pddl p01.pddl --of problem --format gbnf > problem.gbnf
  planforge pddl grammar domain.pddl --of action --action move --format lark
  planforge pddl grammar domain.pddl p01.pddl --of plan --format json-schema")]
pub(crate) struct GrammarArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// A problem file, of which the objects count. Without it, objects are any names.
    pub(crate) problem: Option<PathBuf>,
    /// The text that the grammar describes.
    #[arg(long, value_name = "KIND", default_value = "problem")]
    pub(crate) of: GrammarKind,
    /// The notation: GBNF for llama.cpp, vLLM and SGLang, Lark for llguidance and OpenAI, or a JSON schema for other services.
    #[arg(long, value_name = "FORMAT", default_value = "gbnf")]
    pub(crate) format: GrammarFormat,
    /// An action of the domain. With `--of action` its name and parameters are fixed, with `--of parameters` its name. Without it, the model
    /// chooses them.
    #[arg(long, value_name = "NAME")]
    pub(crate) action: Option<String>,
}

/// Text that a grammar describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarKind {
    /// A problem.
    Problem,
    /// The objects of a problem.
    Objects,
    /// One action.
    Action,
    /// The name and the parameters of one action.
    Parameters,
    /// A plan.
    Plan,
    /// Edits of the domain and, with a problem, of that.
    Edit,
    /// A representation as an answer set program.
    Asp,
    /// A whole domain; syntax only.
    Domain,
}

/// Notation of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarFormat {
    Gbnf,
    Lark,
    JsonSchema,
}

pub(crate) fn run(context: &Context, args: &GrammarArgs) -> Exit {
    let inputs = Inputs::read(&args.domain, args.problem.as_deref());
    let texts = &inputs.texts;
    context.output.diagnostics(&texts.diagnostics, &texts.sources);
    if inputs.exit() != Exit::Good {
        return inputs.exit();
    }
    let Some(domain) = &texts.domain else { return Exit::Input };
    let objects = texts.problem.as_ref().map(|problem| problem.objects.as_slice());
    let head = match &args.action {
        None => ActionHead::Open,
        Some(_) if !matches!(args.of, GrammarKind::Action | GrammarKind::Parameters) => {
            return context.usage_error("`--action` belongs to `--of action` and `--of parameters`", None);
        }
        Some(name) => match domain.actions.iter().find(|action| action.name.is(&name.to_lowercase())) {
            Some(action) => ActionHead::Interface(action),
            None => {
                let known: Vec<String> = domain.actions.iter().map(|a| format!("`{}`", a.name)).collect();
                let help = format!("its actions are {}", known.join(", "));
                let name = planforge_diagnostics::render::escape(name);
                return context.usage_error(format!("the domain has no action `{name}`"), Some(&help));
            }
        },
    };
    match text(args.of, args.format, domain, objects, head) {
        Some(text) => {
            context.output.result(&text);
            Exit::Good
        }
        None => context.usage_error(
            "there is no JSON schema of whole domains",
            Some("use `--format gbnf` or `--format lark`"),
        ),
    }
}

/// The grammar as text; nothing for a kind without a JSON schema.
fn text(
    kind: GrammarKind,
    format: GrammarFormat,
    domain: &Domain,
    objects: Option<&[TypedName]>,
    head: ActionHead<'_>,
) -> Option<String> {
    if format == GrammarFormat::JsonSchema {
        let schema = match kind {
            GrammarKind::Problem => json::problem_schema(domain, objects),
            GrammarKind::Objects => json::objects_schema(domain),
            GrammarKind::Action => json::action_schema(domain, head),
            GrammarKind::Parameters => json::parameters_schema(domain, head.name()),
            GrammarKind::Plan => json::plan_schema(domain, objects),
            GrammarKind::Edit => json::edit_schema(domain, objects, edit_functions(objects)),
            GrammarKind::Asp => json::asp_schema(&vocabulary(domain)),
            GrammarKind::Domain => return None,
        };
        return Some(format!("{schema:#}\n"));
    }
    let grammar = match kind {
        GrammarKind::Problem => planforge_grammar::problem_grammar(domain, objects),
        GrammarKind::Objects => planforge_grammar::objects_grammar(domain),
        GrammarKind::Action => planforge_grammar::action_grammar(domain, head),
        GrammarKind::Parameters => planforge_grammar::parameters_grammar(domain, head.name()),
        GrammarKind::Plan => planforge_grammar::plan_grammar(domain, objects),
        GrammarKind::Edit => planforge_grammar::edit_grammar(domain, objects, edit_functions(objects)),
        GrammarKind::Asp => planforge_grammar::asp_grammar(&vocabulary(domain)),
        GrammarKind::Domain => planforge_grammar::domain_grammar(domain),
    };
    Some(if format == GrammarFormat::Lark { grammar.to_lark() } else { grammar.to_gbnf() })
}

/// With objects, edits are of a problem too.
fn edit_functions(objects: Option<&[TypedName]>) -> EditFunctions<'static> {
    if objects.is_some() { EditFunctions::BOTH } else { EditFunctions::DOMAIN }
}

/// The names that a representation of the domain's tasks may use.
fn vocabulary(domain: &Domain) -> AspVocabulary {
    let signature = Signature::new(domain, &Declarations::default());
    AspVocabulary {
        types: signature.all_types().map(str::to_owned).collect(),
        predicates: signature.predicates.into_iter().collect(),
        functions: signature.functions.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_diagnostics::SourceId;
    use planforge_pddl::{parse_domain, parse_problem};

    const KINDS: [GrammarKind; 8] = [
        GrammarKind::Problem,
        GrammarKind::Objects,
        GrammarKind::Action,
        GrammarKind::Parameters,
        GrammarKind::Plan,
        GrammarKind::Edit,
        GrammarKind::Asp,
        GrammarKind::Domain,
    ];

    #[test]
    fn every_kind_has_a_grammar_and_all_but_whole_domains_a_schema() {
        let domain = "(define (domain d) (:types t) (:predicates (on-top ?x - t)) (:action go :parameters (?x - t) :effect (on-top ?x)))";
        let domain = parse_domain(domain, SourceId(0)).value;
        let problem = "(define (problem p) (:domain d) (:objects a-1 - t) (:init) (:goal (on-top a-1)))";
        let problem = parse_problem(problem, SourceId(1)).value;
        for kind in KINDS {
            for objects in [None, Some(problem.objects.as_slice())] {
                let print = |format| text(kind, format, &domain, objects, ActionHead::Open);
                assert!(print(GrammarFormat::Gbnf).unwrap().contains("root ::= "), "{kind:?}");
                assert!(print(GrammarFormat::Lark).unwrap().contains("start: "), "{kind:?}");
                assert_eq!(
                    print(GrammarFormat::JsonSchema).is_some(),
                    kind != GrammarKind::Domain,
                    "{kind:?}"
                );
            }
        }
        assert!(vocabulary(&domain).predicates.contains(&("on_top".to_owned(), 1)));
        let head = ActionHead::Interface(&domain.actions[0]);
        let action = text(GrammarKind::Action, GrammarFormat::Gbnf, &domain, None, head).unwrap();
        assert!(action.contains("\"?x\"") && action.contains("\"go\""), "{action}");
    }
}
