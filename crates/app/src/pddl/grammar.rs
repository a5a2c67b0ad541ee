//! What a model may write about a domain, as a grammar for servers that constrain replies.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Inputs, Source};
use crate::status::Status;
use planforge_asp::Declarations;
use planforge_asp::reader::Signature;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_grammar::{ActionHead, AspVocabulary, EditFunctions, count_listed_names, json};
use planforge_pddl::ast::{Domain, TypedName};
use serde::Serialize;

/// Most names of objects in the lists of a grammar.
const MAX_LISTED_NAMES: usize = 2_000_000;

/// A grammar of texts about a domain.
#[derive(Debug, Clone)]
pub struct GrammarRequest {
    /// The domain.
    pub domain: Source,
    /// A problem, of which the objects count. Without it, objects are any names.
    pub problem: Option<Source>,
    /// The text that the grammar describes.
    pub kind: GrammarKind,
    /// The notation.
    pub format: GrammarFormat,
    /// An action of the domain whose name is fixed, and its parameters with [`GrammarKind::Action`].
    pub action: Option<String>,
}

/// Text that a grammar describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarKind {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarFormat {
    /// Of llama.cpp, vLLM and SGLang.
    Gbnf,
    /// Of llguidance and OpenAI.
    Lark,
    /// A JSON schema.
    JsonSchema,
}

/// A grammar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct GrammarResult {
    /// The grammar in its notation.
    pub text: String,
}

/// Makes a grammar that rules out ill-formed texts about a domain.
///
/// # Errors
/// Texts with errors, more names than a grammar may list, an action that the domain does not have, a kind without a JSON schema.
pub fn grammar(context: &Context, request: &GrammarRequest) -> Result<GrammarResult, Error> {
    let inputs = Inputs::read(context, &request.domain, request.problem.as_ref());
    let status = inputs.status();
    let (domain, problem) = (inputs.texts.domain.clone(), inputs.texts.problem.clone());
    let findings = inputs.into_findings();
    if status != Status::Good {
        return Err(Error::findings(status, findings.diagnostics, findings.sources));
    }
    context.findings(&findings.diagnostics, &findings.sources);
    let Some(domain) = domain else { return Err(Error::of_status(Status::Input)) };
    let objects = problem.as_ref().map(|problem| problem.objects.as_slice());
    let head = match &request.action {
        None => ActionHead::Open,
        Some(_) if !matches!(request.kind, GrammarKind::Action | GrammarKind::Parameters) => {
            return Err(Error::usage("`--action` belongs to `--of action` and `--of parameters`", None));
        }
        Some(name) => match domain.actions.iter().find(|action| action.name.is(&name.to_lowercase())) {
            Some(action) => ActionHead::Interface(action),
            None => {
                let known: Vec<String> = domain.actions.iter().map(|a| format!("`{}`", a.name)).collect();
                let help = format!("its actions are {}", known.join(", "));
                let name = planforge_diagnostics::render::escape(name);
                return Err(Error::usage(format!("the domain has no action `{name}`"), Some(&help)));
            }
        },
    };
    let known = known_objects(request.kind, objects);
    let listed = known.map_or(0, |known| count_listed_names(&domain, known, MAX_LISTED_NAMES));
    if listed > MAX_LISTED_NAMES {
        let message = format!(
            "the grammar would list {listed} names of objects or more, with one list for each type of a parameter; at most {MAX_LISTED_NAMES} are listed"
        );
        let mut found = Diagnostic::error("cli.grammar-size", message);
        if known.is_some_and(|known| !known.is_empty()) {
            found = found.help("leave out the problem: objects are then any names");
        }
        return Err(Error::findings(Status::NodeLimit, vec![found], SourceMap::default()));
    }
    let text = text(request.kind, request.format, &domain, objects, head);
    text.map(|text| GrammarResult { text }).ok_or_else(|| {
        let help = "use `--format gbnf` or `--format lark`";
        Error::usage("there is no JSON schema of whole domains", Some(help))
    })
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

/// The objects besides the domain's constants that a kind lists as arguments. `None` if it lists no names: objects are then any names, or
/// the texts have none.
fn known_objects(kind: GrammarKind, objects: Option<&[TypedName]>) -> Option<&[TypedName]> {
    match kind {
        GrammarKind::Problem | GrammarKind::Plan => objects,
        GrammarKind::Edit => Some(objects.unwrap_or_default()),
        GrammarKind::Action | GrammarKind::Parameters => Some(&[]),
        GrammarKind::Objects | GrammarKind::Asp | GrammarKind::Domain => None,
    }
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
        let listed = |kind| known_objects(kind, Some(problem.objects.as_slice())).map(<[TypedName]>::len);
        assert_eq!(KINDS.map(listed), [Some(1), None, Some(0), Some(0), Some(1), Some(1), None, None]);
        assert!(vocabulary(&domain).predicates.contains(&("on_top".to_owned(), 1)));
        let head = ActionHead::Interface(&domain.actions[0]);
        let action = text(GrammarKind::Action, GrammarFormat::Gbnf, &domain, None, head).unwrap();
        assert!(action.contains("\"?x\"") && action.contains("\"go\""), "{action}");
    }
}
