//! The grammar of intermediate representations: answer set programs over a given vocabulary.

use crate::tree::{Builder, Expr, Grammar};

/// The names that a representation may use, as answer set programs write them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AspVocabulary {
    /// Types.
    pub types: Vec<String>,
    /// Predicates with their number of arguments.
    pub predicates: Vec<(String, usize)>,
    /// Numeric functions with their number of arguments.
    pub functions: Vec<(String, usize)>,
}

/// Most blanks between two words.
const MAX_BLANKS: u32 = 60;

/// The grammar of representations: facts and rules about `init` and `goal`, `object` and `cardinality`, with the types and predicates of the
/// vocabulary. Objects and variables are any names: whether a rule binds its variables cannot be said by a context-free grammar.
pub fn asp_grammar(vocabulary: &AspVocabulary) -> Grammar {
    let mut builder = Builder::default();
    let space = Expr::class(&[(' ', ' '), ('\t', '\t'), ('\n', '\n'), ('\r', '\r')]);
    let blank = builder.token("ws", space.repeat(1, Some(MAX_BLANKS)));
    let gap = blank.clone().optional();
    let inner = Expr::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]).repeat(0, Some(60));
    let constant = Expr::sequence([Expr::class(&[('a', 'z')]), inner.clone()]);
    let variable = Expr::sequence([Expr::class(&[('A', 'Z'), ('_', '_')]), inner]);
    let number = Expr::class(&[('0', '9')]).repeat(1, Some(9));
    let constant = builder.token("constant", constant);
    let variable = builder.token("variable", variable);
    let number = builder.token("number", number);
    let term = builder.rule("term", Expr::choice([constant, variable, number.clone()]));
    let words = |builder: &mut Builder, rule: &str, words: Vec<&str>| match words.as_slice() {
        [] => Expr::Choice(Vec::new()),
        words => builder.token(rule, Expr::choice(words.iter().map(|word| Expr::text(*word)))),
    };
    let types = vocabulary.types.iter().map(String::as_str).collect();
    let ty = words(&mut builder, "type", types);
    let text = Expr::text;
    let call = |name: Expr, arguments: Vec<Expr>| {
        let mut parts = vec![name, text("(")];
        for (n, argument) in arguments.into_iter().enumerate() {
            parts.extend((n > 0).then(|| Expr::sequence([gap.clone(), text(",")])));
            parts.extend([gap.clone(), argument]);
        }
        parts.extend([gap.clone(), text(")")]);
        Expr::sequence(parts)
    };
    let applications = |builder: &mut Builder, rule: &str, declared: &[(String, usize)]| {
        let mut arities: Vec<usize> = declared.iter().map(|(_, arity)| *arity).collect();
        arities.sort_unstable();
        arities.dedup();
        let of_arity = arities.into_iter().map(|arity| {
            let names = declared.iter().filter(|(_, n)| *n == arity).map(|(name, _)| name.as_str()).collect();
            let name = words(builder, &format!("{rule}-{arity}"), names);
            if arity == 0 { name } else { call(name, vec![term.clone(); arity]) }
        });
        Expr::choice(of_arity.collect::<Vec<_>>())
    };
    let atom = applications(&mut builder, "predicate", &vocabulary.predicates);
    let atom = builder.rule("atom", atom);
    let function = applications(&mut builder, "function", &vocabulary.functions);
    let names = vocabulary.predicates.iter().map(|(name, _)| name.as_str()).collect();
    let relation = words(&mut builder, "relation", names);
    let map = call(text("map"), vec![ty.clone(), relation, ty.clone()]);
    let value = Expr::sequence([function, gap.clone(), text("="), gap.clone(), number.clone()]);
    let negated = Expr::sequence([text("not"), blank.clone(), atom.clone()]);
    let init = call(text("init"), vec![Expr::choice([atom.clone(), map.clone(), value])]);
    let goal = call(text("goal"), vec![Expr::choice([atom.clone(), map, negated])]);
    let object = call(text("object"), vec![term.clone(), ty.clone()]);
    let stated = Expr::choice([
        object.clone(),
        call(text("init"), vec![atom.clone()]),
        call(text("goal"), vec![atom]),
    ]);
    let stated = builder.rule("stated", stated);
    let compared = ["!=", "<", "<=", ">", ">=", "="].map(text);
    let compare = [term.clone(), gap.clone(), Expr::choice(compared), gap.clone(), term];
    let literal = Expr::choice([
        stated.clone(),
        Expr::sequence([text("not"), blank.clone(), stated]),
        Expr::sequence(compare),
    ]);
    let literal = builder.rule("literal", literal);
    let next = Expr::sequence([gap.clone(), text(","), gap.clone(), literal.clone()]);
    let body = [gap.clone(), text(":-"), gap.clone(), literal, next.any_number()];
    let rule = Expr::sequence([Expr::choice([init, goal, object]), Expr::sequence(body).optional()]);
    let cardinality = call(text("cardinality"), vec![ty, number]);
    let statement = Expr::sequence([Expr::choice([cardinality, rule]), gap.clone(), text(".")]);
    let statement = builder.rule("statement", Expr::sequence([gap.clone(), statement]));
    builder.finish(Expr::sequence([statement.any_number(), gap]))
}
