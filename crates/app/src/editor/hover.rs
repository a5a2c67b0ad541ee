//! What is known of the name at the cursor.

use super::analysis::Analysis;
use super::occurrences::{NameClass, Occurrence, Role};
use super::position::DocumentParams;
use super::workspace::{Workspace, path_of};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, TypedName};
use planforge_pddl::{TypeHierarchy, print_typed_list};
use planforge_pipeline::{SentenceFile, read_sentences};
use planforge_plugin_common::telling::{condition_clause, effect_clause};
use planforge_plugin_sdk::wording::{Wording, list};
use serde_json::{Value, json};
use std::rc::Rc;

/// Most names in a list.
const MOST_NAMES: usize = 12;

/// The text for the name at the cursor, as Markdown.
pub fn hover(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let uri = &params.text_document.uri;
    let own = workspace.documents.get(uri)?.analysis()?;
    let wanted = own.at(own.index.offset(&own.text, params.position))?;
    let (domain_uri, beside) = match own.domain() {
        Some(_) => (uri.clone(), Rc::clone(&own)),
        None => workspace.domain_for(uri)?,
    };
    let domain = beside.domain()?;
    let sentences = sentences(workspace, &domain_uri, &beside.text);
    let about =
        About { own: &own, beside: &beside, domain, wording: Wording::new(&sentences.facts), sentences };
    let text = about.name(wanted)?;
    let range = own.index.range(&own.text, wanted.name.span);
    Some(json!({ "contents": { "kind": "markdown", "value": text }, "range": range }))
}

/// The sentences beside a domain.
pub(super) fn sentences(workspace: &Workspace, domain_uri: &str, domain: &str) -> SentenceFile {
    let file = path_of(domain_uri).map(|path| path.with_file_name("sentences.toml"));
    let text = file.and_then(|file| workspace.text(&file));
    text.map(|text| read_sentences(&text, SourceId(0), domain, &mut Vec::new())).unwrap_or_default()
}

struct About<'a> {
    own: &'a Analysis,
    /// The domain's text.
    beside: &'a Analysis,
    domain: &'a Domain,
    wording: Wording,
    sentences: SentenceFile,
}

impl About<'_> {
    fn name(&self, wanted: &Occurrence) -> Option<String> {
        let key = wanted.name.key();
        match wanted.class {
            NameClass::Predicate => self.predicate(wanted),
            NameClass::Function => {
                let function = self.domain.functions.iter().find(|f| f.name.key() == key)?;
                let used = self.owners(wanted, Role::Added);
                Some(format!(
                    "{}\n\nChanged by {}.",
                    signature(function.name.as_str(), &function.parameters),
                    names(&used)
                ))
            }
            NameClass::Action => self.action(key),
            NameClass::Type => self.type_name(key),
            NameClass::Object => {
                let declared = |a: &Analysis| Some(a.slice(a.declaration(wanted)?.name.span).to_owned());
                let name = declared(self.own).or_else(|| declared(self.beside))?;
                let objects = self.own.problem().map(|p| p.objects.as_slice()).unwrap_or_default();
                let entry = objects.iter().chain(&self.domain.constants).find(|o| o.name.key() == key)?;
                let ty = entry
                    .ty
                    .as_ref()
                    .map(|ty| ty.alternatives.iter().map(|n| n.as_str()).collect::<Vec<_>>());
                let described =
                    ty.as_ref().and_then(|ty| self.sentences.types.get(&ty.first()?.to_lowercase()));
                let described = described.map(|text| format!("\n\n{name} is {text}.")).unwrap_or_default();
                Some(format!("{}{described}", code(&print_typed_list(std::slice::from_ref(entry)))))
            }
            NameClass::Variable => {
                let declared = self.own.declaration(wanted)?;
                let entry = self.variable(declared)?;
                Some(code(&print_typed_list(std::slice::from_ref(&entry))))
            }
            NameClass::Domain => Some(format!(
                "Domain `{}`: {} actions, {} predicates.",
                wanted.name,
                self.domain.actions.len() + self.domain.durative_actions.len(),
                self.domain.predicates.len()
            )),
            NameClass::Problem | NameClass::Preference => None,
        }
    }

    fn predicate(&self, wanted: &Occurrence) -> Option<String> {
        let declared = self.domain.predicates.iter().find(|p| p.name == wanted.name)?;
        let mut text = signature(declared.name.as_str(), &declared.parameters);
        let arguments: Vec<&str> =
            declared.parameters.iter().map(|p| p.name.as_str().trim_start_matches('?')).collect();
        text += &format!("\n\n{}\n\n", self.wording.fact(declared.name.as_str(), &arguments, true));
        if self.domain.derived.iter().any(|rule| rule.predicate == wanted.name) {
            text += "Derived by a rule.  \n";
        }
        let lines = [("Added by", Role::Added), ("Deleted by", Role::Deleted), ("Needed by", Role::Needed)];
        let lines = lines.map(|(verb, role)| format!("{verb} {}.", names(&self.owners(wanted, role))));
        Some(text + &lines.join("  \n"))
    }

    /// The actions in which a name has the role.
    fn owners(&self, wanted: &Occurrence, role: Role) -> Vec<String> {
        let places = self.beside.places(wanted).filter(|place| place.role == role);
        let mut owners: Vec<String> =
            places.filter_map(|place| Some(place.owner.as_ref()?.to_string())).collect();
        owners.dedup();
        owners
    }

    fn action(&self, key: &str) -> Option<String> {
        if let Some(action) = self.domain.durative_actions.iter().find(|a| a.name.key() == key) {
            return Some(signature(action.name.as_str(), &action.parameters));
        }
        let action = self.domain.actions.iter().find(|a| a.name.key() == key)?;
        let mut text = signature(action.name.as_str(), &action.parameters);
        if let Some(condition) = action.precondition.as_ref().filter(|c| !c.is_empty()) {
            text += &format!("\n\nNeeds that {}.", condition_clause(condition, &self.wording));
        }
        if let Some(effect) = action.effect.as_ref().filter(|effect| !effect.changes_nothing()) {
            text += &format!("\n\nAfterwards, {}.", effect_clause(effect, &self.wording));
        }
        Some(text)
    }

    fn type_name(&self, key: &str) -> Option<String> {
        let types = TypeHierarchy::of(self.domain);
        let id = types.get(key)?;
        let described = self
            .sentences
            .types
            .get(key)
            .map(|text| format!("\n\nAn object of it is {text}."))
            .unwrap_or_default();
        let parents: Vec<String> =
            types.parents(id).iter().map(|parent| types.name(*parent).to_string()).collect();
        let parents = if parents.is_empty() { "object".to_owned() } else { list(&parents) };
        let below = types.names().filter(|name| {
            types.get(name.key()).is_some_and(|below| below != id && types.is_subtype(below, id))
        });
        let below: Vec<String> = below.map(ToString::to_string).collect();
        let objects = self.own.problem().map(|p| p.objects.as_slice()).unwrap_or_default();
        let of_type = |o: &&TypedName| {
            o.ty.iter()
                .flat_map(|ty| &ty.alternatives)
                .any(|name| types.get(name.key()).is_some_and(|ty| types.is_subtype(ty, id)))
        };
        let objects: Vec<String> = objects
            .iter()
            .chain(&self.domain.constants)
            .filter(of_type)
            .map(|o| o.name.to_string())
            .collect();
        let mut text = format!(
            "{}{described}\n\nTypes below: {}.",
            code(&format!("{} - {parents}", types.name(id))),
            names(&below)
        );
        if !objects.is_empty() {
            text += &format!("  \nObjects: {}.", names(&objects));
        }
        Some(text)
    }

    /// The declaration of a variable with its type, from the typed list around it.
    fn variable(&self, declared: &Occurrence) -> Option<TypedName> {
        let at = self
            .own
            .occurrences
            .iter()
            .position(|o| o.binding == declared.binding && o.role == Role::Declared)?;
        // The type of a variable follows it, behind the other variables of its group.
        let rest = &self.own.text.get(declared.name.span.end as usize..)?;
        let end = rest.find(')').unwrap_or(rest.len());
        let list =
            format!("(define (domain d) (:action a :parameters ({} {})))", declared.name, &rest[..end]);
        let parsed = planforge_pddl::parse_domain(&list, SourceId(0)).value;
        let entry = parsed.actions.first()?.parameters.first()?.clone();
        (entry.name == self.own.occurrences[at].name).then_some(entry)
    }
}

fn signature(name: &str, parameters: &[TypedName]) -> String {
    let parameters = print_typed_list(parameters);
    let space = if parameters.is_empty() { "" } else { " " };
    code(&format!("({name}{space}{parameters})"))
}

fn code(text: &str) -> String {
    format!("```pddl\n{text}\n```")
}

/// `a`, `b` and 3 more; `nothing` if there are none.
fn names(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names if names.len() > MOST_NAMES => {
            format!("{} and {} more", names[..MOST_NAMES].join(", "), names.len() - MOST_NAMES)
        }
        names => list(names),
    }
}
