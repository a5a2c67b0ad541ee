//! Grammars in requests: a stage's option, the constraint of a request, and replies in JSON.

use crate::translating::codes;
use planforge_contract::{Constraint, Failure, FailureClass, FinishReason, Reply};
use planforge_grammar::Grammar;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Use of grammars in the requests of a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GrammarUse {
    /// None.
    #[default]
    Off,
    /// Where the provider enforces them.
    Prefer,
    /// Always: a provider that does not enforce them is refused.
    Require,
}

impl GrammarUse {
    /// True for [`GrammarUse::Off`].
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// The constraint of replies that hold a text of the grammar in a code block of that language, after a free text if `reason`. `schema` is
    /// the JSON schema of the same content, if there is one.
    pub fn constraint(
        self,
        grammar: &Grammar,
        (language, reason): (&str, bool),
        schema: Option<Value>,
    ) -> Constraint {
        let grammar = grammar.in_code_block(language, reason);
        let schema = match schema {
            Some(Value::Object(schema)) => Some(schema),
            _ => None,
        };
        Constraint {
            gbnf: grammar.to_gbnf(),
            lark: grammar.to_lark(),
            schema,
            required: self == Self::Require,
        }
    }

    /// No constraint, for a question that has no grammar for this reason.
    ///
    /// # Errors
    /// Class `Request` if grammars are required.
    pub fn without_grammar(self, reason: &str) -> Result<Option<Constraint>, Failure> {
        match self {
            Self::Off | Self::Prefer => Ok(None),
            Self::Require => {
                let message = format!("the stage requires a grammar, and there is none: {reason}");
                let help = "write `grammar = \"prefer\"` in the stage's options";
                Err(Failure::new(FailureClass::Request, codes::NO_GRAMMAR, message).help(help))
            }
        }
    }
}

/// The reply as PDDL. A reply in JSON, to a question with a schema, is converted by `read`; every other one stays.
///
/// # Errors
/// Class `Reply`: the JSON is not of the schema.
pub fn reply_as_pddl(
    reply: &Reply,
    constraint: Option<&Constraint>,
    read: impl FnOnce(&str) -> Result<String, String>,
) -> Result<Reply, Failure> {
    let has_schema = constraint.is_some_and(|constraint| constraint.schema.is_some());
    // A reply that was cut off fails where it is read.
    let is_whole = reply.finish != FinishReason::Length;
    if !has_schema || !is_whole || !reply.content.trim_start().starts_with('{') {
        return Ok(reply.clone());
    }
    match read(&reply.content) {
        Ok(content) => Ok(Reply { content, ..reply.clone() }),
        Err(why) => Err(Failure::new(
            FailureClass::Reply,
            codes::JSON_REPLY,
            format!("the reply in JSON is not of its schema: {why}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_diagnostics::SourceId;
    use planforge_grammar::plan_grammar;
    use planforge_pddl::parse_domain;
    use serde_json::json;

    fn constraint(grammar: GrammarUse, schema: Option<Value>) -> Constraint {
        let domain = parse_domain("(define (domain d) (:predicates) (:action a :effect (and)))", SourceId(0));
        grammar.constraint(&plan_grammar(&domain.value, None), ("plan", false), schema)
    }

    #[test]
    fn only_require_makes_a_required_constraint_and_refuses_questions_without_one() {
        assert!(constraint(GrammarUse::Require, None).required);
        let preferred = constraint(GrammarUse::Prefer, None);
        assert!(
            !preferred.required && preferred.gbnf.contains("```plan") && preferred.lark.contains("```plan")
        );
        assert_eq!(GrammarUse::Prefer.without_grammar("no domain"), Ok(None));
        let failure = GrammarUse::Require.without_grammar("no domain").unwrap_err();
        assert_eq!(failure.code, codes::NO_GRAMMAR);
        assert!(failure.message.contains("no domain"), "{}", failure.message);
    }

    #[test]
    fn only_json_for_a_schema_is_converted() {
        let read = |_: &str| Ok("(a)".to_owned());
        let reply = |text: &str| Reply::new(text, FinishReason::Stop);
        let with = constraint(GrammarUse::Prefer, Some(json!({"type": "object"})));
        let content = |reply: &Reply, constraint| reply_as_pddl(reply, constraint, read).unwrap().content;
        assert_eq!(content(&reply(" {}"), Some(&with)), "(a)");
        assert_eq!(content(&reply("```plan\n(b)```"), Some(&with)), "```plan\n(b)```");
        let without = constraint(GrammarUse::Prefer, None);
        assert_eq!(content(&reply("{}"), Some(&without)), "{}");
        assert_eq!(content(&reply("{}"), None), "{}");
        let broken = reply_as_pddl(&reply("{"), Some(&with), |_| Err("no `goal`".to_owned())).unwrap_err();
        assert_eq!(broken.code, codes::JSON_REPLY);
        let cut = Reply::new("{", FinishReason::Length);
        assert_eq!(content(&cut, Some(&with)), "{");
    }
}
