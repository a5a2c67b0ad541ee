//! Names of objects that nothing names.

use crate::syntax::ast::Term;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names for objects that the text only counts: a prefix (by default the type's name) and an index (by
/// default from 1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    prefixes: BTreeMap<String, String>,
    first: BTreeMap<String, i64>,
}

impl Naming {
    /// Objects of that type are called by that prefix.
    pub fn set_prefix(&mut self, ty: &str, prefix: &str) {
        self.prefixes.insert(ty.to_owned(), prefix.to_owned());
    }

    /// True if objects of that type have a prefix of their own.
    pub fn has_prefix(&self, ty: &str) -> bool {
        self.prefixes.contains_key(ty)
    }

    /// Objects of that type are counted from that index.
    pub fn set_first(&mut self, ty: &str, index: i64) {
        self.first.insert(ty.to_owned(), index);
    }

    /// The index of the first object of a type.
    pub fn first(&self, ty: &str) -> i64 {
        self.first.get(ty).copied().unwrap_or(1)
    }

    /// The name of the object of a type at an index.
    pub fn name(&self, ty: &str, index: i64) -> String {
        format!("{}{index}", self.prefixes.get(ty).map_or(ty, String::as_str))
    }

    /// The index at which an object of a type has that name; `None` for a name of another form.
    pub fn index(&self, ty: &str, name: &str) -> Option<i64> {
        let prefix = self.prefixes.get(ty).map_or(ty, String::as_str);
        let index = name.strip_prefix(prefix)?.parse().ok()?;
        (index >= self.first(ty) && self.name(ty, index) == name).then_some(index)
    }

    /// The trusted functions of the library: `@id(T, I)`. `None` for any other name.
    pub fn call(&self, function: &str, arguments: &[Term]) -> Option<Result<Term, String>> {
        if function != "id" {
            return None;
        }
        Some(match arguments {
            [Term::Function { name, arguments }, Term::Number(index)]
                if arguments.is_empty() && !name.is_empty() =>
            {
                Ok(Term::Function { name: self.name(name, *index), arguments: Vec::new() })
            }
            _ => Err("takes a type and an index".to_owned()),
        })
    }
}
