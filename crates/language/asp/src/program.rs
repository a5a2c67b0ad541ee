//! The program of a task: the intermediate representation, the knowledge file, rules made from declarations,
//! and the library. Its answer shows which rules applied.

pub(crate) mod record;

pub use record::{Record, Twin};

use crate::codes::program as code;
use crate::declarations::{Declarations, declaration, directive_error};
use crate::library::{self, is_word};
use crate::names::{collisions, mangle};
use crate::stages::SolveJob;
use crate::syntax::ast::{Atom, Program, Rule, StatementKind, Term, function};
use crate::syntax::walk::{body_atoms, change_atoms, head_atoms, premises, visit_term, visit_terms};
use crate::types::TypeRules;
use planforge_diagnostics::{Diagnostic, LineColumn, SourceFile, SourceId, Span};
use planforge_pddl::ast::Domain;
use planforge_pddl::{TypeHierarchy, undeclared_constants};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Words of the library that every rule may conclude.
const OPEN_WORDS: [&str; 6] = ["object", "cardinality", "init", "goal", "metric", "conflict"];

/// The author of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    Text,
    Knowledge,
    /// Made from the domain's declarations.
    Domain,
    Library,
}

/// A text with its statements.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Source number in diagnostics.
    pub id: SourceId,
    /// Its name for people: `ir`, `knowledge`.
    pub name: &'a str,
    pub text: &'a str,
    /// Its statements; positions are of `text`.
    pub program: &'a Program,
}

/// The parts of a program.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    pub domain: &'a Domain,
    /// Source number of the domain in diagnostics.
    pub domain_id: SourceId,
    pub domain_text: &'a str,
    /// The knowledge file, where the domain has one.
    pub knowledge: Option<Source<'a>>,
    /// Declarations of the knowledge file.
    pub declarations: &'a Declarations,
    pub ir: Source<'a>,
}

/// One rule of an assembled program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRule {
    pub origin: Origin,
    /// Index in [`Table::sources`].
    pub source: usize,
    /// Source number in diagnostics; `None` for the library.
    pub id: Option<SourceId>,
    pub span: Span,
    /// The rule as written.
    pub written: Rule,
    /// The rule as solved, with predicates of the domain inside `init`.
    pub rule: Rule,
    /// The way in which its instances are recorded.
    pub record: Record,
}

/// Every rule of a program with its place.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub sources: Vec<SourceFile>,
    /// The rules: of the representation, of the knowledge file, made from declarations, of the library.
    pub rules: Vec<TableRule>,
    /// The predicates of the domain and of the knowledge file, with their number of arguments.
    pub predicates: BTreeSet<(String, usize)>,
}

impl Table {
    /// Line and column of a rule.
    pub fn place(&self, rule: u32) -> LineColumn {
        let rule = &self.rules[rule as usize];
        self.sources[rule.source].line_column(rule.span.start)
    }

    /// Name of the text with this rule.
    pub fn source_name(&self, rule: u32) -> &str {
        &self.sources[self.rules[rule as usize].source].name
    }
}

/// A program ready to be solved.
#[derive(Debug, Clone)]
pub struct Assembled {
    /// Input of the reasoner.
    pub job: SolveJob,
    /// Data for reading the answer.
    pub table: Table,
    /// Findings of the assembly; a program with errors should not be solved.
    pub diagnostics: Vec<Diagnostic>,
}

impl Assembled {
    /// Index of the rule that a line of [`SolveJob::plain`] or [`SolveJob::recorded`] was made from, for
    /// messages of the reasoner.
    pub fn rule_of(&self, line: &str) -> Option<u32> {
        let line = line.trim();
        let has_line = |entry: &TableRule| {
            [false, true].into_iter().any(|recorded| {
                let mut text = String::new();
                record::write(&entry.rule, &entry.record, recorded, &mut text);
                text.lines().any(|written| written == line)
            })
        };
        let rule = self.table.rules.iter().position(has_line)?;
        u32::try_from(rule).ok()
    }
}

/// Assembles the program of a task.
pub fn assemble(task: &Task<'_>) -> Assembled {
    let mut assembler = Assembler {
        task,
        table: Table::default(),
        written: 0,
        given: Vec::new(),
        diagnostics: collisions(task.domain, task.domain_id),
    };
    let with_object = assembler.read_written();
    let types = TypeRules::of(task.domain, task.declarations, with_object);
    assembler.put_inside_init(&types);
    assembler.read_made(&types);
    assembler.read_library();
    let ranks = Ranks::of(&assembler.table.rules);
    assembler.record(&ranks);
    let mut job = assembler.job(&types, ranks);
    job.guess = record::guess(&assembler.table.rules, &job);
    assembler.table.predicates = types.predicates;
    Assembled { job, table: assembler.table, diagnostics: assembler.diagnostics }
}

struct Assembler<'a> {
    task: &'a Task<'a>,
    table: Table,
    /// The rules below this number are of the representation and the knowledge file.
    written: usize,
    /// Indices of the rules for atoms that the stages pass in.
    given: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Assembler<'_> {
    fn add(&mut self, origin: Origin, source: usize, id: Option<SourceId>, span: Span, rule: &Rule) {
        let (written, rule) = (rule.clone(), rule.clone());
        self.table.rules.push(TableRule { origin, source, id, span, written, rule, record: Record::LeftOut });
    }

    /// Adds the rules of the representation and of the knowledge file. True if one of them is about objects
    /// of any type.
    fn read_written(&mut self) -> bool {
        let written =
            [Some((self.task.ir, Origin::Text)), self.task.knowledge.map(|k| (k, Origin::Knowledge))];
        for (source, origin) in written.into_iter().flatten() {
            self.table.sources.push(SourceFile::new(source.name, source.text));
            let at = self.table.sources.len() - 1;
            for statement in &source.program.statements {
                match &statement.kind {
                    StatementKind::Rule(rule)
                        if origin == Origin::Knowledge && declaration(rule).is_some() => {}
                    StatementKind::Rule(rule) => self.add(origin, at, Some(source.id), statement.span, rule),
                    StatementKind::Directive { name, .. } => {
                        self.diagnostics.push(directive_error(name, source.id, statement.span));
                    }
                }
            }
        }
        self.written = self.table.rules.len();
        self.report_taken_names();
        self.table.rules.iter().any(|rule| asks_for_object(&rule.rule))
    }

    /// Conclusions under a name that the library gives a meaning to.
    fn report_taken_names(&mut self) {
        for entry in &self.table.rules {
            for head in head_atoms(&entry.rule) {
                let arguments = head.arguments.len();
                let is_open = OPEN_WORDS.contains(&head.name.as_str());
                if let Some(id) = entry.id
                    && (head.name.starts_with('_') || (is_word(&head.name, arguments) && !is_open))
                {
                    let message =
                        format!("`{}` with {arguments} arguments is the library's to conclude", head.name);
                    let found = Diagnostic::error(code::SHADOWED, message)
                        .at(id, entry.span, "")
                        .help("give the predicate another name, one that does not begin with `_`");
                    self.diagnostics.push(found);
                }
            }
        }
    }

    /// Wraps predicates of the domain or of the knowledge file that stand outside a state in `init`.
    fn put_inside_init(&mut self, types: &TypeRules) {
        for entry in &mut self.table.rules {
            change_atoms(&mut entry.rule, &mut |atom: &mut Atom| {
                let arguments = atom.arguments.len();
                if !is_word(&atom.name, arguments)
                    && types.predicates.contains(&(atom.name.clone(), arguments))
                {
                    let fact = function(&atom.name, std::mem::take(&mut atom.arguments));
                    atom.name = "init".to_owned();
                    atom.arguments = vec![fact];
                }
            });
        }
    }

    fn read_made(&mut self, types: &TypeRules) {
        self.table.sources.push(SourceFile::new("domain", self.task.domain_text));
        let domain = self.table.sources.len() - 1;
        for made in &types.rules {
            let (origin, source, id) = match self.task.knowledge {
                Some(knowledge) if !made.of_domain => (Origin::Knowledge, 1, knowledge.id),
                _ => (Origin::Domain, domain, self.task.domain_id),
            };
            self.add(origin, source, Some(id), made.span, &made.rule);
        }
    }

    fn read_library(&mut self) {
        for file in library::files() {
            self.table.sources.push(SourceFile::new(file.name, file.text));
            let at = self.table.sources.len() - 1;
            for statement in &file.program.statements {
                if let StatementKind::Rule(rule) = &statement.kind {
                    self.add(Origin::Library, at, None, statement.span, rule);
                }
            }
            for (rule, span) in &file.given {
                self.add(Origin::Library, at, None, *span, rule);
                self.given.push(self.table.rules.len() - 1);
            }
        }
    }

    /// Leaves out what cannot apply and decides how the rest is recorded.
    fn record(&mut self, ranks: &Ranks) {
        let heads = |name: &str, arguments: usize| {
            let is_head = |rule: &TableRule| {
                head_atoms(&rule.rule).iter().any(|h| h.name == name && h.arguments.len() == arguments)
            };
            self.table.rules.iter().any(is_head)
        };
        let mut given = Vec::new();
        if heads("cardinality", 2) {
            given.push(("generated", 3));
        }
        if ranks.any() || self.table.rules.iter().any(|rule| has_map(&rule.rule)) {
            given.extend([("index", 3), ("amount", 2)]);
        }
        let written = self.written;
        let candidates: Vec<Candidate<'_>> = self
            .table
            .rules
            .iter()
            .enumerate()
            .map(|(at, entry)| Candidate {
                rule: &entry.rule,
                is_written: at < written,
                is_given: self.given.contains(&at),
                is_kept: entry.origin == Origin::Text,
            })
            .collect();
        let needed = find_needed_rules(&candidates, &given);
        for (number, (entry, needed)) in self.table.rules.iter_mut().zip(needed).enumerate() {
            if self.given.contains(&number) {
                let is_handed_in = |head: &Atom| given.contains(&(head.name.as_str(), head.arguments.len()));
                if head_atoms(&entry.rule).into_iter().any(is_handed_in) {
                    entry.record = Record::Given;
                }
            } else if needed {
                entry.record = record::record(&entry.rule, number);
            }
        }
    }
}

impl Assembler<'_> {
    fn job(&self, types: &TypeRules, ranks: Ranks) -> SolveJob {
        let (mut plain, mut recorded) = (String::new(), String::new());
        let (mut hard, mut relaxed) = (String::new(), Vec::new());
        for (number, entry) in self.table.rules.iter().enumerate() {
            record::write(&entry.rule, &entry.record, false, &mut plain);
            record::write(&entry.rule, &entry.record, true, &mut recorded);
            if let Record::Constraint(twin) = &entry.record {
                // Writing to a string cannot fail.
                let _ = writeln!(hard, ":- {}.", twin.any());
                let key = [vec![Term::Number(number as i64)], twin.arguments()].concat();
                let key: Vec<String> = key.iter().map(Term::to_string).collect();
                relaxed.push(format!("1, {} : {}", key.join(", "), twin.atom()));
            }
        }
        let relaxed = if relaxed.is_empty() {
            relaxed.concat()
        } else {
            format!("#minimize {{ {} }}.\n", relaxed.join("; "))
        };
        SolveJob {
            plain,
            recorded,
            hard,
            relaxed,
            naming: self.task.declarations.naming.clone(),
            taken: self.constants(),
            mentioned: self.mentioned_constants(),
            above: types.above.clone(),
            feeds: ranks.feeds,
            ranked: ranks.types,
            ranks_all: ranks.all,
            ..SolveJob::default()
        }
    }

    /// Every constant that the representation, the knowledge file or the domain has: names that no object may be given.
    fn constants(&self) -> BTreeSet<String> {
        let hierarchy = TypeHierarchy::of(self.task.domain);
        let declared = self.task.domain.constants.iter().map(|constant| &constant.name);
        let named = declared.chain(undeclared_constants(self.task.domain, &hierarchy));
        let mut found: BTreeSet<String> = named.map(|name| mangle(name.key())).collect();
        found.extend(self.task.declarations.objects.iter().cloned());
        for entry in &self.table.rules[..self.written] {
            visit_terms(&entry.rule, &mut |term| {
                if let Term::Function { name, arguments } = term
                    && arguments.is_empty()
                    && !found.contains(name)
                {
                    found.insert(name.clone());
                }
            });
        }
        found
    }
}

impl Assembler<'_> {
    /// Constants in facts of the initial state or the goal.
    fn mentioned_constants(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in &self.table.rules[..self.written] {
            for atom in head_atoms(&entry.rule).into_iter().chain(body_atoms(&entry.rule)) {
                let Some((fact, arguments)) = fact_of_state(atom) else { continue };
                if fact == "map" {
                    continue;
                }
                for term in arguments {
                    visit_term(term, &mut |term| {
                        if let Term::Function { name, arguments } = term
                            && arguments.is_empty()
                        {
                            found.insert(name.clone());
                        }
                    });
                }
            }
        }
        found
    }
}

/// The predicate and arguments inside `init` or `goal`.
fn fact_of_state(atom: &Atom) -> Option<(&str, &[Term])> {
    match (atom.name.as_str(), atom.arguments.as_slice()) {
        ("init" | "goal", [Term::Function { name, arguments }]) => {
            match (name.as_str(), arguments.as_slice()) {
                ("neg", [Term::Function { name, arguments }]) => Some((name, arguments)),
                _ => Some((name, arguments)),
            }
        }
        _ => None,
    }
}

/// True if a rule is about objects of any type: it mentions the type `object` elsewhere than in the
/// conclusion `object(X, object)`.
fn asks_for_object(rule: &Rule) -> bool {
    let mut count = 0;
    visit_terms(rule, &mut |term| {
        count += usize::from(
            matches!(term, Term::Function { name, arguments } if name == "object" && arguments.is_empty()),
        );
    });
    let heads = head_atoms(rule);
    let concluded = heads.iter().filter(|head| {
        head.name == "object"
            && matches!(head.arguments.as_slice(), [_, Term::Function { name, arguments }] if name == "object" && arguments.is_empty())
    });
    count > concluded.count()
}

fn has_map(rule: &Rule) -> bool {
    let is_map = |head: &&Atom| match fact_of_state(head) {
        Some((fact, _)) => fact == "map",
        // What a variable stands for may be a map.
        None => matches!(head.name.as_str(), "init" | "goal"),
    };
    head_atoms(rule).iter().any(is_map)
}

// Types that the rules of a program count or put in order, and types that must be complete before the
// missing objects of another type are known.

/// Words that put the objects of the type that is their first argument in order.
const ORDERED: [(&str, usize); 5] = [("index", 3), ("amount", 2), ("first", 2), ("last", 2), ("follows", 3)];

#[derive(Default)]
struct Ranks {
    /// Types whose objects rules put in order.
    types: BTreeSet<String>,
    /// A rule puts the objects of a variable type in order.
    all: bool,
    /// For each type those whose objects bring objects of it.
    feeds: BTreeMap<String, BTreeSet<String>>,
}

fn constant(term: Option<&Term>) -> Option<&str> {
    match term {
        Some(Term::Function { name, arguments }) if arguments.is_empty() => Some(name),
        _ => None,
    }
}

/// The type that an atom is about: `Some(None)` where it is a variable.
fn ordered_type(atom: &Atom) -> Option<Option<&str>> {
    ORDERED.contains(&(atom.name.as_str(), atom.arguments.len())).then(|| constant(atom.arguments.first()))
}

fn member_of(atom: &Atom) -> Option<&str> {
    match (atom.name.as_str(), atom.arguments.as_slice()) {
        ("object", [_, ty]) => constant(Some(ty)),
        _ => None,
    }
}

impl Ranks {
    fn of(rules: &[TableRule]) -> Self {
        let mut found = Self::default();
        for entry in rules.iter().filter(|entry| entry.origin != Origin::Library) {
            for atom in body_atoms(&entry.rule) {
                match ordered_type(atom) {
                    Some(Some(ty)) => drop(found.types.insert(ty.to_owned())),
                    Some(None) => found.all = true,
                    None => {}
                }
            }
            for head in head_atoms(&entry.rule) {
                let counted =
                    (head.name == "cardinality" && head.arguments.len() == 2).then(|| head.arguments.first());
                if let Some(fed) = member_of(head).or_else(|| counted.and_then(constant)) {
                    let sources = body_atoms(&entry.rule)
                        .filter_map(|atom| member_of(atom).or_else(|| ordered_type(atom).flatten()));
                    let sources: Vec<String> = sources.filter(|ty| *ty != fed).map(str::to_owned).collect();
                    if !sources.is_empty() {
                        found.feeds.entry(fed.to_owned()).or_default().extend(sources);
                    }
                }
            }
        }
        found
    }

    fn any(&self) -> bool {
        self.all || !self.types.is_empty()
    }
}

// Selects the rules that can apply. A domain of twenty predicates gives a hundred rules of types, most of
// them about predicates that a task never mentions, and the reasoner would take as long for them as for the
// others.

/// The atoms that rules can derive, by predicate, and inside `init` and `goal` by the predicate there.
#[derive(Default)]
struct Derivable<'a> {
    plain: FxHashSet<(&'a str, usize)>,
    states: FxHashMap<&'a str, State<'a>>,
    /// The state and predicate of every map.
    maps: FxHashSet<(&'a str, &'a str)>,
}

#[derive(Default)]
struct State<'a> {
    /// Something whose predicate is a variable.
    any: bool,
    facts: FxHashSet<(bool, &'a str, usize)>,
}

/// The predicate inside a state: whether it is negated, its name and number of arguments. `None` for a variable.
fn inner(term: &Term) -> Option<(bool, &str, usize)> {
    match term {
        Term::Function { name, arguments } => match (name.as_str(), arguments.as_slice()) {
            ("neg", [Term::Function { name, arguments }]) => Some((true, name, arguments.len())),
            ("neg", [_]) => None,
            _ => Some((false, name, arguments.len())),
        },
        _ => None,
    }
}

fn state(atom: &Atom) -> Option<(&str, &Term)> {
    match atom.arguments.as_slice() {
        [content] if atom.name == "init" || atom.name == "goal" => Some((&atom.name, content)),
        _ => None,
    }
}

impl<'a> Derivable<'a> {
    /// Adds a head. True if it makes something new derivable.
    fn add(&mut self, head: &'a Atom) -> bool {
        let Some((name, content)) = state(head) else {
            return self.plain.insert((&head.name, head.arguments.len()));
        };
        let state = self.states.entry(name).or_default();
        let Some(fact) = inner(content) else { return !std::mem::replace(&mut state.any, true) };
        if let Term::Function { name: map, arguments } = content
            && let ("map", [_, Term::Function { name: predicate, .. }, _]) =
                (map.as_str(), arguments.as_slice())
        {
            self.maps.insert((name, predicate));
        }
        state.facts.insert(fact)
    }

    fn covers(&self, atom: &Atom) -> bool {
        if let Some((name, content)) = state(atom) {
            let Some(state) = self.states.get(name) else { return false };
            return state.any || inner(content).is_none_or(|fact| state.facts.contains(&fact));
        }
        if let ("pair", [Term::Function { name: state, .. }, Term::Function { name: predicate, .. }, ..]) =
            (atom.name.as_str(), atom.arguments.as_slice())
            && !self.states.get(state.as_str()).is_some_and(|state| state.any)
        {
            return self.maps.contains(&(state.as_str(), predicate.as_str()));
        }
        self.plain.contains(&(atom.name.as_str(), atom.arguments.len()))
    }
}

/// A rule, and whether it was written for this task or domain; the other rules are included only if needed.
struct Candidate<'a> {
    rule: &'a Rule,
    is_written: bool,
    /// Stands for atoms that the stages pass in.
    is_given: bool,
    /// Kept even if it never applies, so that the reasoner reports its mistakes.
    is_kept: bool,
}

/// For each rule whether it has to be in the program. `given` are predicates that the reasoner is handed.
fn find_needed_rules(candidates: &[Candidate<'_>], given: &[(&'static str, usize)]) -> Vec<bool> {
    let mut live = applicable(candidates, given);
    let mut used: FxHashSet<(&str, usize)> = FxHashSet::default();
    used.extend(
        [
            ("object", 2),
            ("init", 1),
            ("goal", 1),
            ("metric", 2),
            ("conflict", 1),
            ("missing", 2),
            ("mapped", 4),
        ]
        .iter(),
    );
    let mut kept = vec![false; candidates.len()];
    loop {
        let before = used.len();
        let mut changed = false;
        for (at, candidate) in candidates.iter().enumerate() {
            if kept[at] || !live[at] {
                continue;
            }
            let is_used = candidate.is_written
                || head_atoms(candidate.rule)
                    .iter()
                    .any(|h| used.contains(&(h.name.as_str(), h.arguments.len())));
            if is_used {
                kept[at] = true;
                changed = true;
                used.extend(body_atoms(candidate.rule).map(|a| (a.name.as_str(), a.arguments.len())));
            }
        }
        if !changed && used.len() == before {
            break;
        }
    }
    for (at, candidate) in candidates.iter().enumerate() {
        live[at] = kept[at] || candidate.is_kept;
    }
    live
}

/// Rules each of whose positive conditions something can derive.
fn applicable(candidates: &[Candidate<'_>], given: &[(&'static str, usize)]) -> Vec<bool> {
    let mut derivable = Derivable::default();
    derivable.plain.extend(given.iter().copied());
    debug_assert!(given.iter().all(|(name, arguments)| is_word(name, *arguments)));
    let mut live = vec![false; candidates.len()];
    loop {
        let mut changed = false;
        for (at, candidate) in candidates.iter().enumerate() {
            if !live[at] && !candidate.is_given && premises(candidate.rule).all(|atom| derivable.covers(atom))
            {
                live[at] = true;
                changed = true;
                for head in head_atoms(candidate.rule) {
                    derivable.add(head);
                }
            }
        }
        if !changed {
            return live;
        }
    }
}
