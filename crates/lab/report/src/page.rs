//! The HTML file: one style element, one script element, the index and the chunks as data that no browser runs, and the first table
//! for readers without scripts.

use crate::chunks::{Stores, broken};
use crate::documents::{CellEntry, Counts, Index};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use planforge_contract::{Failure, FailureClass};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};

const TEMPLATE: &str = include_str!("../assets/report.html");
const STYLE: &str = concat!(include_str!("../assets/tokens.css"), include_str!("../assets/report.css"));
/// The modules of assets/js, which the page of `planforge serve page` also uses.
const MODULES: [&str; 13] = [
    include_str!("../assets/js/base.js"),
    include_str!("../assets/js/list.js"),
    include_str!("../assets/js/text.js"),
    include_str!("../assets/js/overview.js"),
    include_str!("../assets/js/task.js"),
    include_str!("../assets/js/candidate.js"),
    include_str!("../assets/js/states.js"),
    include_str!("../assets/js/calls.js"),
    include_str!("../assets/js/rounds.js"),
    include_str!("../assets/js/beside.js"),
    include_str!("../assets/js/search.js"),
    include_str!("../assets/js/app.js"),
    include_str!("../assets/js/file.js"),
];

/// Joins the modules to one script with one scope: a file cannot name modules that are inside itself. An import or an export is one
/// line or the first word of a line, and no two modules declare the same name.
fn script() -> String {
    let lines = MODULES.iter().flat_map(|module| module.lines());
    let lines = lines.filter(|line| !line.starts_with("import "));
    let lines = lines.map(|line| line.strip_prefix("export ").unwrap_or(line));
    format!("\"use strict\";\n(() => {{\n{}\n}})();\n", lines.collect::<Vec<_>>().join("\n"))
}

/// Writes the page and returns how many bytes it has.
pub(crate) fn write(index: &Index, json: &str, stores: &Stores, out: &mut dyn Write) -> Result<u64, Failure> {
    let head = head(index, &inert(json)).map_err(|error| {
        let message = format!("the template of the report is broken: {error:#}");
        Failure::new(FailureClass::System, "report.io", message)
    })?;
    let mut out = Counting { out, bytes: 0 };
    let written = out.write_all(head.as_bytes()).and_then(|()| {
        stores.write_elements(&mut out)?;
        out.write_all(b"</body>\n</html>\n")?;
        out.flush()
    });
    written.map_err(|error| broken(&error))?;
    Ok(out.bytes)
}

fn head(index: &Index, json: &str) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("report.html", TEMPLATE)?;
    let script = script();
    // Only our own script and style run, whatever else the file holds.
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    environment.get_template("report.html")?.render(context! {
        title => visible(&index.title),
        kind => index.kind,
        style => STYLE,
        style_hash => hash(STYLE),
        script_hash => hash(&script),
        script => script,
        index => json,
        rows => Serde(index.cells.iter().map(Row::of).collect::<Vec<_>>()),
    })
}

/// A line of the table that is there without scripts.
#[derive(Serialize)]
struct Row {
    suite: String,
    column: String,
    seed: u64,
    state: &'static str,
    counts: Counts,
}

impl Row {
    fn of(cell: &CellEntry) -> Self {
        let column = if cell.model.is_empty() {
            cell.pipeline.clone()
        } else {
            format!("{}@{}", cell.pipeline, cell.model)
        };
        Self {
            suite: visible(&cell.suite),
            column: visible(&column) + if cell.simulated { " (simulated)" } else { "" },
            seed: cell.seed,
            state: cell.state,
            counts: cell.counts,
        }
    }
}

/// Names with everything made visible that could reorder or hide text.
fn visible(text: &str) -> String {
    planforge_diagnostics::render::escape(text)
}

/// Escapes JSON so that it cannot end its element or open another one. These characters occur only inside
/// strings, where JSON permits escapes.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Counts what goes through.
struct Counting<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counting<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let n = self.out.write(buffer)?;
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
