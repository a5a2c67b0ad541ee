//! `roles`: which models of the file take the roles that a plugin declares: a name, names in an order, or names with weights.

use super::reader::{At, TableReader, error_at, with_help};
use super::tree::{Key, Node, SourcePlace, Table, Value};
use crate::bound::makes_no_request;
use crate::suggest::help_for;
use planforge_contract::{JsonObject, PluginInfo};
use planforge_diagnostics::Diagnostic;
use planforge_llm::RoleModels;
use std::collections::BTreeMap;

const CODE: &str = "pipeline.role-models";

/// Each role declared by the plugin, each given to models of the file. None may be left out, unless the plugin makes no request with its
/// options. Names that are used go into `used`.
pub(super) fn roles(
    reader: &mut TableReader<'_>,
    (info, options): (Option<&PluginInfo>, &JsonObject),
    models: &[String],
    used: &mut Vec<String>,
    out: &mut Vec<Diagnostic>,
) -> BTreeMap<String, RoleModels> {
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    let mut roles = BTreeMap::new();
    let mut place = reader.place;
    let mut keys: Vec<&Key> = Vec::new();
    if let Some((table, node)) = reader.table("roles", out) {
        place = node.place;
        for (key, node) in &table.entries {
            keys.push(key);
            let mut role = RoleReader { name: &key.name, models: &models, used, out };
            if let Some(read) = role.read(node) {
                roles.insert(key.name.clone(), read);
            }
        }
    }
    if let Some(info) = info {
        let needed = !makes_no_request(info, options);
        check_declared_roles(
            reader,
            (info, needed),
            &keys,
            models.first().copied().unwrap_or("main"),
            place,
            out,
        );
    }
    roles
}

/// Compares the file's roles with those that the plugin declares.
fn check_declared_roles(
    reader: &TableReader<'_>,
    (info, needed): (&PluginInfo, bool),
    keys: &[&Key],
    model: &str,
    place: SourcePlace,
    out: &mut Vec<Diagnostic>,
) {
    let declared: Vec<&str> = info.roles.iter().map(|r| r.name.as_str()).collect();
    for role in keys.iter().filter(|role| !declared.contains(&role.name.as_str())) {
        let text = format!("`{}` has no role `{}`", info.id, role.name);
        let help = help_for(&role.name, &declared, "roles it asks for");
        out.push(with_help(error_at("pipeline.unknown-role", text, role.place), help));
    }
    for role in declared.iter().filter(|role| needed && !keys.iter().any(|key| key.name == **role)) {
        let text =
            format!("{} does not say which model takes the role `{role}` of `{}`", reader.what, info.id);
        let help = format!("add `{role} = \"{model}\"` to its `roles`");
        out.push(error_at("pipeline.missing-role", text, place).help(help));
    }
}

/// One role being read.
struct RoleReader<'a> {
    name: &'a str,
    models: &'a [&'a str],
    used: &'a mut Vec<String>,
    out: &'a mut Vec<Diagnostic>,
}

impl RoleReader<'_> {
    fn read(&mut self, node: &Node) -> Option<RoleModels> {
        match &node.value {
            Value::String(name) => {
                self.model(name, node.place);
                Some(RoleModels::One(name.clone()))
            }
            Value::Array(items) => self.order(items, node.place),
            Value::Table(table) => self.weights(table, node.place),
            _ => {
                let wanted = "the name of a model, several names, or names with weights";
                self.wrong_type("", node, wanted);
                None
            }
        }
    }

    fn order(&mut self, items: &[Node], place: SourcePlace) -> Option<RoleModels> {
        let mut names: Vec<At<String>> = Vec::new();
        for item in items {
            let Value::String(name) = &item.value else {
                self.wrong_type(" in the list", item, "the name of a model");
                continue;
            };
            self.model(name, item.place);
            if let Some(first) = names.iter().find(|first| first.value == *name) {
                let message = format!("`{name}` is listed twice for role `{}`", self.name);
                let twice = error_at(CODE, message, item.place)
                    .also(first.place.source, first.place.span, "it is here")
                    .help("remove one: a model that failed is not sent the same request again");
                self.out.push(twice);
                continue;
            }
            names.push(At { value: name.clone(), place: item.place });
        }
        match &names[..] {
            [] => {
                self.no_model(items.is_empty(), place);
                None
            }
            [only] => {
                self.lone(&only.value, items.len(), place);
                Some(RoleModels::One(only.value.clone()))
            }
            _ => Some(RoleModels::Order(names.into_iter().map(|name| name.value).collect())),
        }
    }

    fn weights(&mut self, table: &Table, place: SourcePlace) -> Option<RoleModels> {
        let mut weights = BTreeMap::new();
        for (key, node) in &table.entries {
            self.model(&key.name, key.place);
            let weight = match node.value {
                Value::Float(weight) => weight,
                Value::Integer(weight) => weight as f64,
                _ => {
                    self.wrong_type(&format!(": the weight of `{}`", key.name), node, "a number");
                    continue;
                }
            };
            if !(weight.is_finite() && weight > 0.0) {
                let message = format!(
                    "role `{}`: the weight of `{}` is {weight}; a weight is above 0",
                    self.name, key.name
                );
                let help = "omit a model that must never be drawn; for a model that is asked only after another fails, write a list";
                self.out.push(error_at("pipeline.range", message, node.place).help(help));
                continue;
            }
            weights.insert(key.name.clone(), weight);
        }
        if table.entries.is_empty() {
            self.no_model(true, place);
        }
        let mut names = weights.keys();
        match (names.next(), names.next()) {
            (None, _) => None,
            (Some(only), None) => {
                self.lone(only, table.entries.len(), place);
                Some(RoleModels::One(only.clone()))
            }
            _ => Some(RoleModels::Weights(weights)),
        }
    }

    /// A name that a table of the file should have.
    fn model(&mut self, name: &str, place: SourcePlace) {
        self.used.push(name.to_owned());
        if !self.models.contains(&name) {
            let text = format!("there is no table `[llm.{name}]`");
            let help = help_for(name, self.models, "models in this file");
            self.out.push(with_help(error_at("pipeline.unknown-llm", text, place), help));
        }
    }

    fn wrong_type(&mut self, part: &str, node: &Node, wanted: &str) {
        let message = format!("role `{}`{part} must be {wanted}, not {}", self.name, node.kind());
        let help = format!(
            "write `{0} = \"main\"`, `{0} = [\"main\", \"backup\"]` or `{0} = {{ main = 3, other = 1 }}`",
            self.name
        );
        self.out.push(error_at("pipeline.type", message, node.place).help(help));
    }

    fn no_model(&mut self, is_empty: bool, place: SourcePlace) {
        if is_empty {
            let message = format!("role `{}` has no model", self.name);
            self.out.push(error_at(CODE, message, place).help("name at least one [llm.NAME] table"));
        }
    }

    /// Warns about a list or table with a single name. With several names, other messages report it.
    fn lone(&mut self, name: &str, written: usize, place: SourcePlace) {
        if written == 1 {
            let message = format!("role `{}` has one model in a list, so there is no fallback", self.name);
            let warning = Diagnostic::warning(CODE, message).at(place.source, place.span, "");
            self.out.push(warning.help(format!("write `{} = \"{name}\"`, or add a second model", self.name)));
        }
    }
}
