//! In-context examples for describing: planforge's own suites, or those that the command line names.

use crate::context::Context;
use crate::exit::Exit;
use planforge_contract::{Materials, Sentences, SuiteMaterials};
use planforge_diagnostics::SourceId;
use planforge_pipeline::{LoadedSuite, Suite, load_leniently};
use std::collections::BTreeMap;
use std::path::PathBuf;

macro_rules! own {
    ($name:literal) => {
        Texts {
            name: $name,
            domain: include_str!(concat!("../../../../../examples/suites/", $name, "/domain.pddl")),
            domain_text: include_str!(concat!("../../../../../examples/suites/", $name, "/domain.nl")),
            problem: include_str!(concat!("../../../../../examples/suites/", $name, "/p_example.pddl")),
            text: include_str!(concat!("../../../../../examples/suites/", $name, "/p_example.nl")),
            sentences: include_str!(concat!("../../../../../examples/suites/", $name, "/sentences.toml")),
        }
    };
}

/// The files of one of our suites.
struct Texts {
    name: &'static str,
    domain: &'static str,
    domain_text: &'static str,
    problem: &'static str,
    text: &'static str,
    sentences: &'static str,
}

/// Suites as unlike each other as those that the paper chose (Appendix C), in the order in which they are shown.
const OWN: [Texts; 3] = [own!("grippers"), own!("childsnack"), own!("termes")];

/// The example suites for `translator-describe`. A suite of the described one's name is left out: its texts are what is to be written.
pub(super) fn suites(
    context: &Context,
    folders: &[PathBuf],
    described: &str,
) -> Result<Vec<SuiteMaterials>, Exit> {
    let mut suites = if folders.is_empty() {
        own(context, described)?
    } else {
        read_examples(context, folders, described)?
    };
    suites.truncate(Materials::MAX_SUITES);
    Ok(suites)
}

fn own(context: &Context, described: &str) -> Result<Vec<SuiteMaterials>, Exit> {
    let folder = tempfile::tempdir().map_err(|error| {
        context.output.note(&format!("error: no folder for temporary files: {error}"));
        Exit::System
    })?;
    let mut folders = Vec::new();
    for suite in OWN {
        let path = folder.path().join(suite.name);
        let files = [
            ("domain.pddl", suite.domain),
            ("domain.nl", suite.domain_text),
            ("p_example.pddl", suite.problem),
            ("p_example.nl", suite.text),
            ("sentences.toml", suite.sentences),
        ];
        let written = std::fs::create_dir(&path)
            .and_then(|()| files.iter().try_for_each(|(name, text)| std::fs::write(path.join(name), text)));
        written.map_err(|error| {
            context.output.note(&format!("error: temporary files cannot be written: {error}"));
            Exit::System
        })?;
        folders.push(path);
    }
    read_examples(context, &folders, described)
}

fn read_examples(
    context: &Context,
    folders: &[PathBuf],
    described: &str,
) -> Result<Vec<SuiteMaterials>, Exit> {
    let mut examples = Vec::new();
    for folder in folders {
        let LoadedSuite { suite, diagnostics, sources } = load_leniently(folder);
        let errors: Vec<_> = diagnostics.into_iter().filter(|d| d.is_error()).collect();
        context.output.diagnostics(&errors, &sources);
        let Some(suite) = suite.filter(|_| errors.is_empty()) else { return Err(Exit::Input) };
        if suite.name == described {
            continue;
        }
        let solved = suite.example.as_ref().map(|e| (e.problem.clone(), e.text.clone()));
        let first = suite.tasks.first().map(|t| (t.reference_problem.clone(), t.text.clone()));
        let (problem, text) = solved.or(first).unwrap_or_default();
        let types = types(&suite);
        let present = |text: String| Some(text).filter(|text| !text.is_empty());
        examples.push(SuiteMaterials {
            domain: suite.reference_domain.and_then(present),
            domain_text: present(suite.domain_text),
            problem: problem.and_then(present),
            text: present(text),
            sentences: present(sentences_json(&suite.sentences)),
            types: present(types),
        });
    }
    Ok(examples)
}

/// Descriptions in the format requested of a model: of every type, or none.
fn types(suite: &Suite) -> String {
    let domain = suite.reference_domain.as_deref().unwrap_or_default();
    let declared = planforge_pddl::parse_domain(domain, SourceId(0)).value.types;
    let all = declared.iter().all(|ty| suite.types.contains_key(&ty.name.as_str().to_ascii_lowercase()));
    match suite.types.is_empty() || !all {
        true => String::new(),
        false => serde_json::to_string_pretty(&suite.types).unwrap_or_default(),
    }
}

/// Sentences in the format requested of a model.
fn sentences_json(sentences: &BTreeMap<String, Sentences>) -> String {
    let complete: BTreeMap<_, _> = sentences.iter().filter(|(_, s)| !s.no.is_empty()).collect();
    match complete.is_empty() {
        true => String::new(),
        false => serde_json::to_string_pretty(&complete).unwrap_or_default(),
    }
}
