//! Checks that depend on plugins: kind, options, environment.

use super::catalogue::{Catalogue, CatalogueError, OptionProblem, OptionProblemKind};
use super::reader::{At, TableReader, error_at, with_help};
use super::tree::{Node, SourcePlace, Value, locate};
use crate::suggest::help_for;
use planforge_contract::{JsonObject, PluginInfo, PluginKind};
use planforge_diagnostics::Diagnostic;

/// Reads `use` and checks that the plugin exists and has the right kind.
pub(crate) fn plugin(
    reader: &mut TableReader<'_>,
    kind: PluginKind,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> (String, Option<PluginInfo>) {
    let had = reader.node("use").is_some();
    let Some(id) = reader.string("use", out) else {
        if !had {
            reader.missing("use", &format!("\"{}\"", example(kind, catalogue)), out);
        }
        return (String::new(), None);
    };
    let info = match catalogue.info(&id.value) {
        Ok(info) => info,
        Err(CatalogueError::Unknown) => {
            out.push(unknown_plugin(&id, kind, catalogue));
            return (id.value, None);
        }
        Err(CatalogueError::Unavailable { code, message }) => {
            let text = format!("plugin `{}` cannot be loaded: {message}", id.value);
            let help = format!("`planforge explain {code}` says more");
            out.push(error_at("pipeline.plugin-unavailable", text, id.place).help(help));
            return (id.value, None);
        }
    };
    if info.kind != kind {
        let text = format!("{} needs a {kind}, and `{}` is a {}", reader.what, id.value, info.kind);
        let names = of_kind(kind, catalogue);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let help = help_for(&id.value, &names, &format!("plugins of kind {kind}"));
        out.push(with_help(error_at("pipeline.plugin-kind", text, id.place), help));
        return (id.value, None);
    }
    (id.value, Some(info))
}

fn of_kind(kind: PluginKind, catalogue: &dyn Catalogue) -> Vec<String> {
    catalogue.ids().into_iter().filter(|id| catalogue.info(id).is_ok_and(|info| info.kind == kind)).collect()
}

fn example(kind: PluginKind, catalogue: &dyn Catalogue) -> String {
    of_kind(kind, catalogue).into_iter().next().unwrap_or_else(|| format!("{kind}-..."))
}

fn unknown_plugin(id: &At<String>, kind: PluginKind, catalogue: &dyn Catalogue) -> Diagnostic {
    let ids = of_kind(kind, catalogue);
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    // The one plugin of planforge that is built apart.
    let help = match &*id.value {
        "provider-local" => Some(
            "build it with `cargo build --release --manifest-path plugins/provider-local/Cargo.toml` and name the folder of its library \
             with `--plugin-dir`; docs/how-to/local-model.md has the steps"
                .to_owned(),
        ),
        name => help_for(name, &names, &format!("plugins of kind {kind}")),
    };
    with_help(
        error_at("pipeline.unknown-plugin", format!("there is no plugin `{}`", id.value), id.place),
        help,
    )
    .help("`planforge plugins list` shows all plugins and where they were looked for")
}

/// `options`, checked against the plugin's schema.
pub(crate) fn options(
    reader: &mut TableReader<'_>,
    info: Option<&PluginInfo>,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> JsonObject {
    let empty = Node { place: reader.place, value: Value::Table(super::tree::Table::default()) };
    let (table, node) = match reader.table("options", out) {
        Some((table, node)) => (super::reader::json_object(table), node),
        None => (JsonObject::new(), &empty),
    };
    if let Some(info) = info {
        option_problems(info, &table, node, catalogue, out);
    }
    table
}

/// Turns the host's findings about options into diagnostics at their places.
pub(super) fn option_problems(
    info: &PluginInfo,
    options: &JsonObject,
    node: &Node,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) {
    for OptionProblem { pointer, kind, message, help } in catalogue.check_options(&info.id, options) {
        let code = match kind {
            OptionProblemKind::Unknown => "pipeline.unknown-option",
            OptionProblemKind::Missing => "pipeline.missing-option",
            OptionProblemKind::Invalid => "pipeline.option",
        };
        let place: SourcePlace = locate(node, &pointer, kind == OptionProblemKind::Unknown);
        let text = format!("options of `{}`: {message}", info.id);
        out.push(with_help(error_at(code, text, place), help));
    }
    for name in &info.secrets {
        secret_option(name, node, out);
    }
}

/// A secret option holds the name of an environment variable, or a table of such names.
fn secret_option(name: &str, node: &Node, out: &mut Vec<Diagnostic>) {
    let Some(found) = node.as_table().and_then(|table| table.get(name)) else { return };
    if let Value::Table(table) = &found.value {
        table
            .entries
            .iter()
            .for_each(|(key, node)| variable_name(&format!("{name}.{}", key.name), node, out));
    } else {
        variable_name(name, found, out);
    }
}

fn variable_name(name: &str, node: &Node, out: &mut Vec<Diagnostic>) {
    let Value::String(value) = &node.value else { return };
    // What looks like a key is reported for the whole file at once; here it is enough to see that it is no name.
    if !super::secrets::is_variable_name(value) && !super::secrets::looks_like_key(value) {
        let text = format!("`{name}` must hold the name of an environment variable: letters, digits and `_`");
        out.push(error_at("pipeline.secret-name", text, node.place).help("for example OPENAI_API_KEY"));
    }
}

/// Warns where a plugin is given feedback and asks no model, which could use it.
pub(crate) fn check_feedback_is_used(
    reader: &mut TableReader<'_>,
    info: Option<&PluginInfo>,
    feedback: &[String],
    out: &mut Vec<Diagnostic>,
) {
    let Some(info) = info.filter(|info| info.roles.is_empty() && !feedback.is_empty()) else { return };
    let place = reader.node("feedback").map_or(reader.place, |node| node.place);
    let message = format!("`{}` asks no model, which could heed the feedback", info.id);
    let warning = Diagnostic::warning("pipeline.unheard", message).at(place.source, place.span, "");
    out.push(warning.help("name the feedback in a stage whose plugin asks a model, or take it out"));
}
