//! The program of a task: the intermediate representation, the knowledge file, rules made from declarations,
//! and the library. Its answer shows which rules applied.

mod guess;
mod prune;
mod ranks;
pub(crate) mod record;
pub(crate) mod walk;

use crate::build::function;
use crate::codes::program as code;
pub use crate::codes::program::CODES;
use crate::declarations::{Declarations, declaration, directive_error};
use crate::library::{self, is_word};
use crate::names::{collisions, mangle};
use crate::stages::SolveJob;
use crate::syntax::ast::{Atom, Program, Rule, StatementKind, Term};
use crate::types::TypeRules;
use planforge_diagnostics::{Diagnostic, LineColumn, SourceFile, SourceId, Span};
use planforge_pddl::ast::Domain;
use planforge_pddl::{TypeHierarchy, undeclared_constants};
use prune::Candidate;
use ranks::Ranks;
pub use record::{Record, Twin};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use walk::{body_atoms, change_atoms, head_atoms, visit_term, visit_terms};

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
    job.guess = guess::guess(&assembler.table.rules, &job);
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
        let needed = prune::find_needed_rules(&candidates, &given);
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
