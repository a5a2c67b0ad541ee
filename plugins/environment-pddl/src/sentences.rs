//! Facts in words. Every fact gets its sentence, those without arguments too.

use std::collections::BTreeMap;

/// The templates of the options, by lower-case name.
#[derive(Debug, Default)]
pub(crate) struct Sentences {
    templates: BTreeMap<String, String>,
}

impl Sentences {
    pub(crate) fn new(templates: &BTreeMap<String, String>) -> Self {
        Self { templates: templates.iter().map(|(k, v)| (k.to_lowercase(), v.clone())).collect() }
    }

    /// A fact: `parcel at holds for p1 and elm.`
    pub(crate) fn fact(&self, predicate: &str, arguments: &[&str]) -> String {
        match self.templates.get(&predicate.to_lowercase()) {
            Some(template) => fill(template, arguments, ""),
            None if arguments.is_empty() => format!("{} holds.", words(predicate)),
            None => format!("{} holds for {}.", words(predicate), list(arguments)),
        }
    }

    /// A number: `fuel of truck1 is 5.`
    pub(crate) fn value(&self, function: &str, arguments: &[&str], value: f64) -> String {
        match self.templates.get(&function.to_lowercase()) {
            Some(template) => fill(template, arguments, &value.to_string()),
            None if arguments.is_empty() => format!("{} is {value}.", words(function)),
            None => format!("{} of {} is {value}.", words(function), list(arguments)),
        }
    }
}

/// `in_van-now` as words.
fn words(name: &str) -> String {
    name.replace(['-', '_'], " ").trim().to_owned()
}

/// `a`, `a and b`, `a, b and c`.
fn list(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Puts arguments and value into a template in one pass, so that nothing inserted is read as a slot.
fn fill(template: &str, arguments: &[&str], value: &str) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let Some(close) = from.find('}') else {
            rest = from;
            break;
        };
        let slot = &from[1..close];
        let argument = slot.parse::<usize>().ok().and_then(|n| arguments.get(n.checked_sub(1)?));
        match (argument, slot) {
            (Some(argument), _) => out.push_str(argument),
            (None, "value") => out.push_str(value),
            (None, _) => out.push_str(&from[..=close]),
        }
        rest = &from[close + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, template: &str) -> Sentences {
        Sentences::new(&BTreeMap::from([(name.to_owned(), template.to_owned())]))
    }

    #[test]
    fn facts_of_any_arity_are_told() {
        let s = Sentences::default();
        assert_eq!(s.fact("van-empty", &[]), "van empty holds.");
        assert_eq!(s.fact("van-at", &["elm"]), "van at holds for elm.");
        assert_eq!(s.fact("link", &["a", "b", "c"]), "link holds for a, b and c.");
        assert_eq!(s.value("fuel", &["t1"], 2.5), "fuel of t1 is 2.5.");
        assert_eq!(s.value("total", &[], 3.0), "total is 3.");
    }

    #[test]
    fn templates_are_found_in_any_case_and_filled_once() {
        let s = with("Parcel-At", "{1} is in {2}, whatever {3} and {x} say.");
        assert_eq!(s.fact("parcel-at", &["{2}", "elm"]), "{2} is in elm, whatever {3} and {x} say.");
        assert_eq!(with("f", "{value} l in {1}").value("f", &["tank"], 4.0), "4 l in tank");
        assert_eq!(with("p", "open { brace").fact("p", &[]), "open { brace");
    }
}
