//! Words that fit at the cursor: keywords, names, and arguments by type. The place is found from tokens, as the text is unfinished while
//! somebody types.

use super::position::{DocumentParams, Position};
use super::workspace::Workspace;
use planforge_format::{TokenKind, tokens};
use planforge_pddl::ast::{Domain, Problem, TypedName};
use planforge_pddl::{TypeHierarchy, print_typed_list};
use serde_json::{Value, json};

/// Most items of one answer.
const MOST_ITEMS: usize = 500;

const DOMAIN_SECTIONS: &[&str] = &[
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":action",
    ":durative-action",
    ":derived",
    ":constraints",
];
const PROBLEM_SECTIONS: &[&str] =
    &[":domain", ":requirements", ":objects", ":init", ":goal", ":constraints", ":metric"];
const ACTION_FIELDS: &[&str] = &[":parameters", ":precondition", ":effect"];
const DURATIVE_FIELDS: &[&str] = &[":parameters", ":duration", ":condition", ":effect"];
const REQUIREMENTS: &[&str] = &[
    ":strips",
    ":typing",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":equality",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":conditional-effects",
    ":fluents",
    ":numeric-fluents",
    ":adl",
    ":durative-actions",
    ":derived-predicates",
    ":timed-initial-literals",
    ":preferences",
    ":constraints",
    ":action-costs",
];
const CONDITIONS: &[&str] = &["and", "or", "not", "imply", "exists", "forall", "="];
const EFFECTS: &[&str] = &["and", "not", "when", "forall", "increase", "decrease", "assign"];

/// Item kinds of the protocol.
const FUNCTION: u8 = 3;
const VARIABLE: u8 = 6;
const CLASS: u8 = 7;
const KEYWORD: u8 = 14;
const CONSTANT: u8 = 21;

/// A variable and the types of its objects, in lower case.
type Variable = (String, Vec<String>);

/// An open list.
#[derive(Debug, Default)]
struct Frame {
    /// Its words before the cursor, in lower case, and an empty one for each list.
    items: Vec<String>,
    /// The typed list in it, if it binds variables.
    variables: Vec<Variable>,
}

impl Frame {
    fn head(&self) -> &str {
        self.items.first().map_or("", String::as_str)
    }

    /// The keyword of the field that the cursor is in.
    fn field(&self) -> &str {
        self.items.iter().skip(1).rev().find(|item| item.starts_with(':')).map_or("", String::as_str)
    }

    /// True if a list that begins here is a typed list of variables.
    fn next_binds(&self) -> bool {
        match self.head() {
            ":action" | ":durative-action" => {
                matches!(self.field(), ":parameters" | ":vars")
                    && self.items.last().is_some_and(|item| !item.is_empty())
            }
            "forall" | "exists" | ":derived" => self.items.len() == 1,
            _ => false,
        }
    }
}

/// The place of the cursor.
#[derive(Debug)]
struct Place {
    open: Vec<Frame>,
    /// Start of the word that is being typed.
    word_start: usize,
    word: String,
}

impl Place {
    /// `None` inside a comment.
    fn at(text: &str, offset: usize) -> Option<Self> {
        let mut place = Self { open: Vec::new(), word_start: offset, word: String::new() };
        for token in tokens(text).take_while(|token| token.start < offset) {
            let end = token.range().end;
            match token.kind {
                TokenKind::Comment if offset <= end => return None,
                TokenKind::Comment => {}
                TokenKind::Open => place.open.push(Frame::default()),
                TokenKind::Close => place.close(),
                TokenKind::Word if offset <= end => {
                    place.word_start = token.start;
                    place.word = text.get(token.start..offset)?.to_lowercase();
                }
                TokenKind::Word => {
                    if let Some(frame) = place.open.last_mut() {
                        frame.items.push(token.text.to_lowercase());
                    }
                }
            }
        }
        Some(place)
    }

    fn close(&mut self) {
        let (Some(closed), Some(parent)) = (self.open.pop(), self.open.last_mut()) else { return };
        if parent.next_binds() {
            // The head of a derived predicate is not a variable.
            parent.variables.extend(typed_variables(&closed.items));
        }
        parent.items.push(String::new());
    }

    fn head(&self, depth: usize) -> &str {
        self.open.len().checked_sub(depth + 1).and_then(|at| self.open.get(at)).map_or("", Frame::head)
    }

    /// The keyword of the section or field around the cursor.
    fn part(&self) -> &str {
        self.open
            .iter()
            .rev()
            .find_map(|frame| match frame.head() {
                ":action" | ":durative-action" => Some(frame.field()),
                head if head.starts_with(':') => Some(head),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// True if the list at the cursor is a typed list.
    fn is_typed_list(&self) -> bool {
        let parent = self.open.len().checked_sub(2).and_then(|at| self.open.get(at));
        matches!(self.head(0), ":types" | ":constants" | ":objects" | "either")
            || matches!(self.head(1), ":predicates" | ":functions")
            || parent.is_some_and(Frame::next_binds)
    }
}

/// The variables of a typed list, given as words.
fn typed_variables(items: &[String]) -> Vec<Variable> {
    let mut found: Vec<Variable> = Vec::new();
    let mut group = 0;
    let mut words = items.iter();
    while let Some(word) = words.next() {
        if word == "-" {
            let ty = words.next().filter(|ty| !ty.is_empty()).cloned();
            found[group..].iter_mut().for_each(|(_, types)| types.extend(ty.clone()));
            group = found.len();
        } else if word.starts_with('?') {
            found.push((word.clone(), Vec::new()));
        }
    }
    found
}

/// The items at the cursor.
pub fn completion(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let uri = &params.text_document.uri;
    let own = workspace.documents.get(uri)?.analysis()?;
    let offset = own.index.offset(&own.text, params.position);
    let place = Place::at(&own.text, offset)?;
    let beside = match own.domain() {
        Some(_) => Some(std::rc::Rc::clone(&own)),
        None => workspace.domain_for(uri).map(|(_, analysis)| analysis),
    };
    let nothing = Domain::default();
    let domain = beside.as_ref().and_then(|analysis| analysis.domain()).unwrap_or(&nothing);
    let start = own.index.position(&own.text, place.word_start);
    let mut items = Items { range: (start, params.position), found: Vec::new() };
    items.fill(&place, domain, own.problem());
    items.found.truncate(MOST_ITEMS);
    Some(Value::Array(items.found))
}

struct Items {
    range: (Position, Position),
    found: Vec<Value>,
}

impl Items {
    fn push(&mut self, label: &str, kind: u8, detail: &str, rank: u8) {
        let (start, end) = self.range;
        self.found.push(json!({
            "label": label, "kind": kind, "detail": detail, "sortText": format!("{rank}{label}"),
            "textEdit": { "range": { "start": start, "end": end }, "newText": label },
        }));
    }

    fn keywords(&mut self, words: &[&str]) {
        words.iter().for_each(|word| self.push(word, KEYWORD, "", 2));
    }

    fn fill(&mut self, place: &Place, domain: &Domain, problem: Option<&Problem>) {
        let Some(frame) = place.open.last() else { return };
        if place.is_typed_list()
            && (frame.items.last().is_some_and(|word| word == "-") || frame.head() == "either")
        {
            self.push("object", CLASS, "", 1);
            let types = TypeHierarchy::of(domain);
            types
                .names()
                .filter(|name| !name.is("object"))
                .for_each(|name| self.push(name.as_str(), CLASS, "", 0));
            return;
        }
        if place.is_typed_list() {
            return;
        }
        match frame.head() {
            "" => self.heads(place, domain, problem.is_some()),
            ":requirements" => self.keywords(REQUIREMENTS),
            ":action" => self.keywords(ACTION_FIELDS),
            ":durative-action" => self.keywords(DURATIVE_FIELDS),
            ":domain" => domain.name.iter().for_each(|name| self.push(name.as_str(), CONSTANT, "", 0)),
            "=" => self.terms(place, domain, problem, None),
            head => {
                let argument = frame.items.len() - 1;
                let predicates = domain.predicates.iter().map(|p| (&p.name, &p.parameters));
                let functions = domain.functions.iter().map(|f| (&f.name, &f.parameters));
                let declared = predicates.chain(functions).find(|(name, _)| name.key() == head);
                if let Some(parameter) = declared.and_then(|(_, parameters)| parameters.get(argument)) {
                    self.terms(place, domain, problem, Some(parameter));
                }
            }
        }
    }

    /// What a list can begin with.
    fn heads(&mut self, place: &Place, domain: &Domain, is_problem: bool) {
        match (place.head(1), place.part()) {
            ("define", _) => {
                self.keywords(if is_problem { PROBLEM_SECTIONS } else { DOMAIN_SECTIONS });
                return;
            }
            ("", _) => return self.keywords(&["define"]),
            (_, ":effect") => self.keywords(EFFECTS),
            (_, ":precondition" | ":condition" | ":goal" | ":derived" | ":constraints") => {
                self.keywords(CONDITIONS)
            }
            (_, ":init") => self.keywords(&["=", "not"]),
            (_, ":metric" | ":duration") => {}
            _ => return,
        }
        for predicate in domain.predicates.iter().filter(|_| !matches!(place.part(), ":metric" | ":duration"))
        {
            self.push(predicate.name.as_str(), FUNCTION, &print_typed_list(&predicate.parameters), 0);
        }
        for function in &domain.functions {
            self.push(function.name.as_str(), FUNCTION, &print_typed_list(&function.parameters), 1);
        }
    }

    /// Variables in scope, objects and constants that fit a parameter.
    fn terms(
        &mut self,
        place: &Place,
        domain: &Domain,
        problem: Option<&Problem>,
        parameter: Option<&TypedName>,
    ) {
        let types = TypeHierarchy::of(domain);
        let ids =
            |names: &[String]| -> Vec<u32> { names.iter().filter_map(|name| types.get(name)).collect() };
        let names = |entry: &TypedName| -> Vec<String> {
            entry.ty.iter().flat_map(|ty| &ty.alternatives).map(|n| n.key().to_owned()).collect()
        };
        let wanted = parameter.map(names).map(|names| ids(&names)).unwrap_or_default();
        let fits = |given: &[String]| {
            let given = ids(given);
            // A term without a type is an `object`.
            wanted.is_empty()
                || given.iter().any(|given| wanted.iter().any(|wanted| types.is_subtype(*given, *wanted)))
        };
        for (name, given) in
            place.open.iter().flat_map(|frame| &frame.variables).filter(|(_, given)| fits(given))
        {
            self.push(name, VARIABLE, &given.join(" or "), 0);
        }
        let objects = problem.map(|problem| problem.objects.as_slice()).unwrap_or_default();
        for entry in objects.iter().chain(&domain.constants) {
            let given = names(entry);
            if fits(&given) {
                self.push(entry.name.as_str(), CONSTANT, &given.join(" or "), 1);
            }
        }
    }
}
