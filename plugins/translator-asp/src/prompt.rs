//! The questions: templates in `templates/`, filled with the task's text and the domain's names.

use crate::infer::{FURTHER_PLACE, IR, MOST_QUOTED};
use crate::vocabulary::{NumberedType, Vocabulary, on_one_line};
use crate::{AspTranslatorOptions, codes};
use planforge_contract::{Failure, FailureClass, ReportedDiagnostic, TaskView, TranslateRequest};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 15] = [
    ("system", include_str!("../templates/system.txt")),
    ("ic", include_str!("../templates/ic.txt")),
    ("cardinalities", include_str!("../templates/cardinalities.txt")),
    ("objects", include_str!("../templates/objects.txt")),
    ("rules", include_str!("../templates/rules.txt")),
    ("g1", include_str!("../templates/g1.txt")),
    ("state-rules", include_str!("../templates/state-rules.txt")),
    ("sample-text", include_str!("../templates/sample-text.txt")),
    ("sample-types", include_str!("../templates/sample-types.txt")),
    ("sample-predicates", include_str!("../templates/sample-predicates.txt")),
    ("sample-objects", include_str!("../templates/sample-objects.txt")),
    ("sample-rules", include_str!("../templates/sample-rules.txt")),
    ("repair", include_str!("../templates/repair.txt")),
    ("repair-json", include_str!("../templates/repair-json.txt")),
    ("revise", include_str!("../templates/revise.txt")),
];

/// Most findings in one question: the rest are mostly consequences.
const MOST_FINDINGS: usize = 10;

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

#[derive(Serialize)]
struct Example<'a> {
    text: &'a str,
    ir: &'a str,
}

#[derive(Serialize)]
struct InContext<'a> {
    example: Example<'a>,
    task_text: &'a str,
}

#[derive(Serialize)]
struct Generic<'a> {
    types: String,
    objects: String,
    predicates: String,
    functions: String,
    numbered: &'a [NumberedType],
    task_text: &'a str,
}

#[derive(Serialize)]
struct Repair {
    findings: Vec<Finding>,
    more: usize,
}

/// A finding as a repair question shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// `line 3, column 7`; empty if it has no place in what the model wrote.
    pub(crate) place: String,
    pub(crate) message: String,
    /// The line that it is about.
    pub(crate) text: String,
    pub(crate) help: Vec<String>,
}

#[derive(Serialize)]
struct Revise<'a> {
    ir: Option<&'a str>,
    feedback: Vec<&'a str>,
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(codes::TEMPLATE, &TEMPLATES)? })
    }

    /// The system text: the option's, or ours.
    pub(crate) fn system(&self, options: &AspTranslatorOptions) -> Result<String, Failure> {
        self.templates.system(options.system.as_deref(), &())
    }

    /// The question of mode `ic`.
    pub(crate) fn in_context(&self, task: &TaskView) -> Result<String, Failure> {
        let task_text = text_of(task)?;
        let given = &task.materials.example;
        let text = material(task, "example.text", &given.text)?;
        let example = Example { text, ir: material(task, "example.ir", &given.ir)? };
        self.templates.render("ic", &InContext { example, task_text })
    }

    /// One of the generic questions: `cardinalities`, `objects`, `rules` or `g1`. `objects` are pairs of object and type.
    pub(crate) fn generic(
        &self,
        name: &str,
        task: &TaskView,
        vocabulary: &Vocabulary,
        objects: &[(String, String)],
    ) -> Result<String, Failure> {
        let context = Generic {
            types: vocabulary.type_lines(),
            objects: table(vocabulary, objects),
            predicates: vocabulary.predicate_lines(),
            functions: vocabulary.functions.join(", "),
            numbered: &vocabulary.numbered,
            task_text: text_of(task)?,
        };
        self.templates.render(name, &context)
    }

    /// The question that shows the findings about a program and asks for it again.
    pub(crate) fn repair(&self, mut findings: Vec<Finding>) -> Result<String, Failure> {
        let more = findings.len().saturating_sub(MOST_FINDINGS);
        findings.truncate(MOST_FINDINGS);
        self.templates.render("repair", &Repair { findings, more })
    }

    /// The question that shows why an answer is not readable JSON and asks for it again.
    pub(crate) fn repair_json(&self, message: &str) -> Result<String, Failure> {
        self.templates.render("repair-json", &std::collections::BTreeMap::from([("message", message)]))
    }

    /// The question that shows the pipeline's findings and asks for the program again. `ir`: the current
    /// program, unless the conversation shows it.
    pub(crate) fn revise(&self, request: &TranslateRequest, ir: Option<&str>) -> Result<String, Failure> {
        let feedback = request.feedback.iter().map(|f| f.trim()).collect();
        self.templates.render("revise", &Revise { ir: ir.map(str::trim), feedback })
    }
}

impl Finding {
    /// A diagnostic about `text`, of which the model wrote what comes after the first `own` lines.
    pub(crate) fn of(diagnostic: &ReportedDiagnostic, text: &str, own: u32) -> Self {
        let of_text = diagnostic.file == IR && diagnostic.line > 0;
        let line = of_text.then(|| text.lines().nth(diagnostic.line as usize - 1)).flatten();
        let place = match diagnostic.line.checked_sub(own).filter(|line| of_text && *line > 0) {
            Some(line) => format!("line {line}, column {}", diagnostic.column),
            None => String::new(),
        };
        let text: String = line.unwrap_or_default().trim().chars().take(MOST_QUOTED).collect();
        let help = diagnostic.help.iter().map(|help| in_own_lines(help, own)).collect();
        Self { place, message: diagnostic.message.clone(), text, help }
    }
}

/// A further place of a finding, `ir line 4: ...`, in the lines that the model wrote.
fn in_own_lines(help: &str, own: u32) -> String {
    let place = help.strip_prefix(FURTHER_PLACE).and_then(|rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some((rest[..digits].parse::<u32>().ok()?, &rest[digits..]))
    });
    match place {
        Some((line, rest)) if line > own => format!("line {}{rest}", line - own),
        Some((_, rest)) => format!("said before{rest}"),
        None => help.to_owned(),
    }
}

/// `{"pot": ["pot_1"], "kid": []}`, with every type.
fn table(vocabulary: &Vocabulary, objects: &[(String, String)]) -> String {
    let entries = vocabulary.types.iter().map(|ty| {
        let of_type = objects.iter().filter(|(_, t)| *t == ty.name).map(|(object, _)| object.as_str());
        format!("{}: {}", on_one_line(&ty.name), on_one_line(&of_type.collect::<Vec<_>>()))
    });
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

fn text_of(task: &TaskView) -> Result<&str, Failure> {
    let text = task.task_text.trim();
    if text.is_empty() {
        let message = format!("task `{}` of suite `{}` has no text to translate", task.task, task.suite);
        return Err(Failure::new(FailureClass::Request, codes::NO_TEXT, message)
            .help("put the task's text beside its problem, as `p01.nl` beside `p01.pddl`"));
    }
    Ok(text)
}

fn material<'a>(task: &TaskView, name: &str, text: &'a Option<String>) -> Result<&'a str, Failure> {
    let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    text.ok_or_else(|| {
        let message = format!("suite `{}` has no material `{name}` for the in-context example", task.suite);
        Failure::new(FailureClass::Request, codes::NO_EXAMPLE, message).help(
            "add `p_example.nl` and `p_example.lp` to the suite or to an add-on, set `example = true` in [given], or use mode `g3`",
        )
    })
}
