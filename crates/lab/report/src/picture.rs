//! Pictures of states: a template (`picture.toml`) defines the facts that make stacks, grids, groups and
//! marks; the result is SVG and the list of facts that the picture does not show. Without a template that fits,
//! the domain's types and predicates give one. The bytes depend on the state, the template and the domain alone.

mod build;
mod coordinates;
mod default;
mod paint;
#[cfg(feature = "png")]
mod png;
mod shape;

pub use paint::STYLE;
#[cfg(feature = "png")]
pub use png::png;

/// Refuses to draw PNG, which this build was made without.
///
/// # Errors
/// Always: why, as a clause.
#[cfg(not(feature = "png"))]
pub fn png(_svg: &str) -> Result<Vec<u8>, String> {
    Err("this planforge was built without `--features png`; choose SVG, or build it with that feature"
        .to_owned())
}

use coordinates::Scene;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::{Domain, Problem, TypedName};
use planforge_pipeline::{Colour, LookSpec, PictureTemplate, read_picture};
use planforge_planning::task::{Atom, ObjectId, Symbols};
use std::collections::HashMap;
use std::sync::Arc;

/// The most things of a picture; further ones are counted in a note.
pub const MAX_THINGS: usize = 600;

/// The reason why states are drawn without a suite's template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoTemplate {
    /// The suite has no template.
    Missing,
    /// The template does not fit the domain, which may have other predicates than the suite's: why, in sentences.
    DoesNotFit(Vec<String>),
}

impl std::fmt::Display for NoTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no picture.toml"),
            Self::DoesNotFit(why) => write!(f, "picture.toml does not fit this domain: {}", why.join("; ")),
        }
    }
}

/// A state as SVG.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The `<svg>` element, without a style: a page of many pictures has [`STYLE`] once.
    pub svg: String,
    /// The atoms that it does not show, by their numbers in what was drawn.
    pub undrawn: Vec<usize>,
    /// The values that it does not show, by their numbers in what was drawn.
    pub undrawn_numbers: Vec<usize>,
    /// Things that were left out because there were more than [`MAX_THINGS`].
    pub left_out: usize,
}

impl Picture {
    /// The picture as a separate file.
    pub fn standalone(&self) -> String {
        standalone(&self.svg)
    }
}

/// The colours of a file of its own.
const LIGHT: &str = "svg.pf-picture{color:#1f2328;background:#ffffff}";
const DARK: &str = "@media (prefers-color-scheme:dark){svg.pf-picture{color:#e6e6e6;background:#17191c}}";

/// An `<svg>` element as a separate file, which follows the reader's light or dark setting.
pub fn standalone(svg: &str) -> String {
    with_style(svg, &format!("{STYLE}{LIGHT}{DARK}"))
}

fn with_style(svg: &str, style: &str) -> String {
    match svg.find('>') {
        Some(end) => format!("{}\n<style>{style}</style>\n{}\n", &svg[..=end], &svg[end + 1..]),
        None => svg.to_owned(),
    }
}

/// Facts about an object.
#[derive(Debug, Clone)]
struct Object {
    /// Its name as written.
    name: String,
    /// In lower case.
    key: String,
    /// Its types and all above them, in lower case.
    types: Vec<String>,
    /// Its place among all objects in the order in which people count.
    rank: usize,
    /// Its place among the objects of its type, which gives it a colour.
    of_its_type: usize,
}

/// Draws states of one task.
#[derive(Debug, Clone)]
pub struct Painter {
    template: PictureTemplate,
    objects: Vec<Object>,
    predicates: HashMap<String, u32>,
    functions: HashMap<String, u32>,
}

impl Painter {
    /// Prepares a task. `symbols` are those of the states that will be drawn.
    ///
    /// # Errors
    /// The template does not fit the domain.
    pub fn new(
        template: &PictureTemplate,
        domain: &Domain,
        problem: &Problem,
        symbols: Arc<Symbols>,
    ) -> Result<Self, NoTemplate> {
        let wrong: Vec<String> = template.fit(domain).into_iter().map(|d| d.message).collect();
        if !wrong.is_empty() {
            return Err(NoTemplate::DoesNotFit(wrong));
        }
        Ok(Self::with(template.clone(), domain, problem, &symbols))
    }

    fn with(template: PictureTemplate, domain: &Domain, problem: &Problem, symbols: &Symbols) -> Self {
        let numbered =
            |names: &[String]| (0..).zip(names).map(|(id, name)| (name.to_lowercase(), id)).collect();
        Self {
            template,
            objects: objects(domain, problem, symbols),
            predicates: numbered(&symbols.predicates),
            functions: numbered(&symbols.functions),
        }
    }

    /// Prepares a task with a template's text, or without one; with the reason if the template was not used.
    pub fn of_text(
        template: Option<&str>,
        domain: &Domain,
        problem: &Problem,
        symbols: Arc<Symbols>,
    ) -> (Self, Option<NoTemplate>) {
        let mut found: Vec<Diagnostic> = Vec::new();
        let read = template.map(|text| read_picture(text, SourceId(0), None, &mut found));
        let fitting = match read {
            None => Err(NoTemplate::Missing),
            Some(None) => Err(NoTemplate::DoesNotFit(found.into_iter().map(|d| d.message).collect())),
            Some(Some(template)) => Self::new(&template, domain, problem, symbols.clone()),
        };
        match fitting {
            Ok(painter) => (painter, None),
            Err(why) => (Self::with(default::template(domain), domain, problem, &symbols), Some(why)),
        }
    }

    /// Draws a state: its atoms, and its numeric function terms with their values. `title` describes the
    /// picture.
    pub fn draw(&self, atoms: &[Atom], numbers: &[(Atom, f64)], title: &str) -> Picture {
        let mut scene = Scene::new(self, atoms, numbers);
        let sheet = build::sheet(self, &mut scene);
        let svg = paint::svg(&sheet, title);
        Picture {
            svg,
            undrawn: scene.undrawn(),
            undrawn_numbers: scene.undrawn_numbers(),
            left_out: sheet.left_out,
        }
    }

    fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id as usize)
    }

    fn is_of(&self, id: ObjectId, types: &[planforge_pipeline::TypeName]) -> bool {
        self.object(id).is_some_and(|object| types.iter().any(|wanted| object.types.contains(&wanted.name)))
    }

    /// The objects of some types, in the order in which people count.
    fn objects_of(&self, types: &[planforge_pipeline::TypeName]) -> Vec<ObjectId> {
        let mut found: Vec<ObjectId> =
            (0..).take(self.objects.len()).filter(|id| self.is_of(*id, types)).collect();
        self.in_order(&mut found);
        found
    }

    fn in_order(&self, objects: &mut [ObjectId]) {
        objects.sort_by_key(|id| self.object(*id).map_or(usize::MAX, |object| object.rank));
    }

    /// The look of things of an object's types: each part from the first entry that has it.
    fn look(&self, id: ObjectId) -> (Option<&str>, Option<Colour>) {
        let types = self.object(id).map(|object| object.types.as_slice()).unwrap_or_default();
        let looks =
            || self.template.looks.iter().filter(|look: &&LookSpec| types.contains(&look.type_name.name));
        (looks().find_map(|look| look.glyph.as_deref()), looks().find_map(|look| look.colour))
    }
}

/// The objects of a task, by their numbers.
fn objects(domain: &Domain, problem: &Problem, symbols: &Symbols) -> Vec<Object> {
    let hierarchy = TypeHierarchy::of(domain);
    let mut declared: HashMap<&str, Vec<&TypedName>> = HashMap::new();
    for entry in domain.constants.iter().chain(&problem.objects) {
        declared.entry(entry.name.key()).or_default().push(entry);
    }
    let mut objects: Vec<Object> = Vec::with_capacity(symbols.objects.len());
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in &symbols.objects {
        let key = name.to_lowercase();
        let entries = declared.get(key.as_str()).map(Vec::as_slice).unwrap_or_default();
        let own: Vec<_> = entries.iter().filter_map(|e| hierarchy.resolve(e.ty.as_ref())).flatten().collect();
        let above = |ty: &planforge_pddl::TypeId| own.iter().any(|id| hierarchy.is_subtype(*id, *ty));
        let count = u32::try_from(hierarchy.len()).unwrap_or(u32::MAX);
        let types: Vec<String> =
            (0..count).filter(above).map(|id| hierarchy.name(id).key().to_owned()).collect();
        let first = own.first().map(|id| hierarchy.name(*id).key().to_owned()).unwrap_or_default();
        let of_its_type = counts.entry(first).or_insert(0);
        objects.push(Object { name: name.clone(), key, types, rank: 0, of_its_type: *of_its_type });
        *of_its_type += 1;
    }
    let mut order: Vec<usize> = (0..objects.len()).collect();
    order.sort_by(|a, b| planforge_pddl::natural(&objects[*a].key, &objects[*b].key));
    for (rank, at) in order.into_iter().enumerate() {
        objects[at].rank = rank;
    }
    objects
}
