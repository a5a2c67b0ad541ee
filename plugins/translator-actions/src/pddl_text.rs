//! Pieces of PDDL in replies and questions.

use planforge_pddl::ast::TypedName;
use planforge_pddl::{Name, print_typed_list};

/// Characters around an item of a list.
pub(crate) const MARKS: [char; 7] = ['-', '*', '`', ' ', '.', '\t', '+'];

/// `(name ?x - type)`.
pub(crate) fn declaration(name: &Name, parameters: &[TypedName]) -> String {
    match parameters.is_empty() {
        true => format!("({name})"),
        false => format!("({name} {})", print_typed_list(parameters)),
    }
}

/// The types of a parameter, in lower case.
pub(crate) fn alternatives(parameter: &TypedName) -> Vec<String> {
    match &parameter.ty {
        Some(ty) => ty.alternatives.iter().map(|name| name.key().to_owned()).collect(),
        None => vec!["object".to_owned()],
    }
}

/// True if a text of PDDL, readable or not, has a list that begins with the name.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let heads = text.split('(').skip(1);
    let word = |rest: &str| -> String {
        rest.trim_start().chars().take_while(|c| !c.is_whitespace() && !"();".contains(*c)).collect()
    };
    heads.map(word).any(|head| head.eq_ignore_ascii_case(name))
}
