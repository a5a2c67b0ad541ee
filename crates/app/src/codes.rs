//! Diagnostic codes and their explanations.

use crate::error::Error;
use planforge_diagnostics::CodeInfo;

/// All codes, by name.
pub fn all() -> Vec<&'static CodeInfo> {
    let mut infos: Vec<_> = tables().into_iter().flatten().collect();
    infos.sort_by_key(|info| info.code);
    infos
}

/// The explanation of a code.
///
/// # Errors
/// `cli.usage`: there is no such code; the help names the nearest.
pub fn explain(code: &str) -> Result<&'static CodeInfo, Error> {
    let tables = tables();
    if let Some(info) = planforge_diagnostics::find_code(&tables, code) {
        return Ok(info);
    }
    let known = tables.iter().flat_map(|t| t.iter()).map(|i| i.code);
    let nearest =
        known.max_by(|a, b| strsim::jaro_winkler(a, code).total_cmp(&strsim::jaro_winkler(b, code)));
    let message = format!("there is no code `{}`", planforge_diagnostics::render::escape(code));
    let help = nearest.map(|nearest| format!("the nearest is `{nearest}`; `planforge explain` lists all"));
    Err(Error::usage(message, help.as_deref()))
}

/// The code whose name differs from a word by a slip, if there is one.
pub fn nearest(word: &str) -> Option<&'static str> {
    planforge_pddl::nearest(word, tables().into_iter().flatten().map(|info| info.code))
}

/// The tables of all crates.
pub(crate) fn tables() -> Vec<&'static [CodeInfo]> {
    vec![
        planforge_pddl::CODES,
        planforge_asp::CODES,
        planforge_asp::reader::CODES,
        planforge_planning::CODES,
        planforge_asp::compile::CODES,
        planforge_asp::program::CODES,
        planforge_plugin_host::CODES,
        planforge_plugin_sdk::reply::CODES,
        planforge_record::CODES,
        planforge_llm::CODES,
        planforge_pipeline::CODES,
        planforge_pipeline::SUITE_CODES,
        planforge_model_api::batch::CODES,
        planforge_model_api::batch_services::CODES,
        planforge_suites::CODES,
        planforge_evaluate::CODES,
        planforge_report::CODES,
        planforge_provider_noisy_oracle::CODES,
        planforge_model_api::http::CODES,
        planforge_translator_asp::CODES,
        planforge_translator_actions::CODES,
        planforge_translator_describe::CODES,
        planforge_plugin_common::translating::CODES,
        planforge_translator_edit::CODES,
        planforge_verifier_equivalence::classes::CODES,
        planforge_verifier_equivalence::clusters::CODES,
        planforge_verifier_critique::CODES,
        planforge_verifier_equivalence::CODES,
        planforge_verifier_ew::CODES,
        planforge_verifier_val::CODES,
        planforge_planners::classical::CODES,
        planforge_planners::external::CODES,
        planforge_planners::llm::CODES,
        planforge_environment_pddl::CODES,
        planforge_environment_process::CODES,
        CODES,
    ]
}

const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "mcp.arguments",
        title: "the arguments of a tool call cannot be used",
        explanation: "An argument is missing, unknown, of the wrong type, or above its ceiling. The message names it, and the tool's \
                      input schema describes all of them:\n\n    {\"domain\": {\"text\": \"(define (domain d) ...)\"}}\n    \
                      {\"domain\": {\"path\": \"blocks/domain.pddl\"}, \"limits\": {\"seconds\": 60}}\n\nNothing was judged.",
    },
    CodeInfo {
        code: "mcp.file",
        title: "a file named in a tool call cannot be read",
        explanation: "Tools read files only under the roots that the client grants (MCP roots). A path is relative to a root, or begins with \
                      one. `..`, symbolic links, and files that are not regular files are refused:\n\n    {\"path\": \
                      \"../other/domain.pddl\"}\n\nGrant the folder in the client, or pass the text itself.",
    },
    CodeInfo {
        code: "mcp.input-size",
        title: "the texts of a tool call are too large",
        explanation: "The texts of one call together exceed the limit `input_mb`. Raise it up to its ceiling:\n\n    \
                      {\"limits\": {\"input_mb\": 64}}",
    },
    CodeInfo {
        code: "mcp.cancelled",
        title: "a tool call was cancelled",
        explanation: "The client cancelled the call, or closed the connection. The call has no result.",
    },
    CodeInfo {
        code: "mcp.server",
        title: "the MCP server cannot start, or its client broke the protocol",
        explanation: "The port is taken, the token cannot be read or is shorter than 16 bytes, or the client's first message is not one \
                      of the protocol:\n\n    planforge serve mcp --http 80\n\nThe message says which.",
    },
    CodeInfo {
        code: "mcp.client",
        title: "the client cannot do what a tool call needs of it",
        explanation: "Files need a client that lists its roots, and pipelines on the client's own model need a client with sampling. This \
                      client declares neither, or refused the request. Pass texts instead of paths, or name another model.",
    },
    CodeInfo {
        code: "lsp.no-domain",
        title: "no file beside a problem defines its domain",
        explanation: "The language server looks for the domain that a problem names in the problem's folder and in the folder above: in \
                      domain-STEM.pddl, in domain.pddl, in other files and in open documents.\n\n    \
                      (define (problem p) (:domain blocks) ...)\n\nWithout it, the problem is checked alone: types, predicates and the \
                      arguments of facts are not.",
    },
    CodeInfo {
        code: "cli.usage",
        title: "the command line is wrong",
        explanation: "The code of command-line mistakes in the JSON object that `--json` prints. The message is that of standard error, and the exit \
                      code is 30. `planforge COMMAND --help` shows the arguments with examples.",
    },
    CodeInfo {
        code: "cli.unreadable-file",
        title: "a file named on the command line cannot be read",
        explanation: "The operating system refused: the file does not exist, is a folder, or you may not read it.\n\n    \
                      planforge pddl validate missing.pddl\n\nCheck the path and its permissions. Nothing was judged, so the \
                      exit code is 31 and not 10.",
    },
    CodeInfo {
        code: "cli.output",
        title: "the result cannot be written to standard output",
        explanation: "The disk is full, or a quota is reached, so the file behind standard output is incomplete:\n\n    \
                      planforge pddl plan domain.pddl p01.pddl > /full/disk/p01.plan\n\nMake room and repeat the command. The exit code is 36. \
                      A pipe that its reader closes, as in `planforge explain | head`, is not an error.",
    },
    CodeInfo {
        code: "cli.nothing-to-describe",
        title: "there is no PDDL to tell in plain language",
        explanation: "`planforge suite describe` needs a folder with domain.pddl and a problem NAME.pddl for each task, and a \
                      pipeline file that gives both to its stages:\n\n    [given]\n    domain = true\n    problem = true",
    },
    CodeInfo {
        code: "cli.no-representation",
        title: "nothing tells what a suite's texts state",
        explanation: "`planforge suite learn-knowledge` compares what texts state with reference problems. Give intermediate representations \
                      with `--replies`: a run folder or cassette of `translator-asp`, or a folder with a file TASK.lp for each task. Without \
                      them the suite needs p_example.lp and p_example.pddl, which show what texts leave out.",
    },
    CodeInfo {
        code: "cli.deferred",
        title: "a command needs answers at once, and a provider answers later",
        explanation: "`provider-batch` leaves questions in files and has no answers yet when the command needs them. `planforge run` and \
                      `planforge evaluate` end with exit code 26 and go on once the answers are there; this command cannot. Name a \
                      provider that answers at once in the [llm] table, or override it:\n\n    --set llm.main.use=provider-openai",
    },
    CodeInfo {
        code: "cli.no-requests",
        title: "no request waits in batch files",
        explanation: "`planforge batch` sends the request files in RUN/batch to a batch service. They are written by a run whose model table has \
                      `use = \"provider-batch\"`, and the run ends with exit code 26. This run has none: it sends its requests itself, or \
                      was interrupted before it had any.",
    },
    CodeInfo {
        code: "cli.batch-table",
        title: "a request file belongs to no model table, or to several",
        explanation: "`planforge batch` takes the service, its address and the name of the key's variable from the `[llm.NAME]` table of the \
                      run's pipeline that has the model and the service of the request file:\n\n    [llm.main]\n    use = \"provider-batch\"\n    \
                      service = \"anthropic\"\n    model = \"claude-sonnet-4-6\"\n\nTables of one model and service must name one address and variable.",
    },
    CodeInfo {
        code: "cli.no-rounds",
        title: "a run refined nothing of what is asked about",
        explanation: "`planforge runs rounds` tells what the rounds of a refine stage did to candidates. The run has no such task, or its pipeline has \
no refine stage, or no round of it came to an end.",
    },
    CodeInfo {
        code: "cli.no-inference",
        title: "there is no inferred problem whose parts could be explained",
        explanation: "`planforge runs explain` reads a run folder in which translator-asp inferred a problem, or the file that\n\n    \
                      planforge pddl infer --domain domain.pddl p01.lp --json > p01.json\n\nwrites. Problems that a model wrote as \
                      PDDL come with nothing but the reply, which `planforge replay RUN` shows.",
    },
    CodeInfo {
        code: "cli.file-exists",
        title: "a file that would be written exists with other content",
        explanation: "Nothing was written. Choose another folder with --out, or replace the files with --force.",
    },
    CodeInfo {
        code: "cli.unwritable-file",
        title: "a file cannot be written",
        explanation: "The operating system refused; the message says why. Check the folder, its permissions and the space \
                      that is left.",
    },
    CodeInfo {
        code: "cli.consent",
        title: "a key would go to a server, or a program would be started, that the user has not allowed",
        explanation: "A pipeline file names an environment variable and a server (`base_url`, `proxy`), and may come from somebody else. \
                      Without consent a key goes only to loopback addresses and, over https, to the service that it is for (OPENAI_API_KEY \
                      to api.openai.com). Allow another server for one command:\n\n    planforge run pipeline.toml --suite suite \
                      --allow-host llm.example.org\n\nor for good, in planforge/allow.toml of your configuration folder (usually \
                      ~/.config):\n\n    [keys]\n    MY_KEY = [\"llm.example.org\"]\n\nA host without a scheme means https. A table \
                      [models.NAME] of planforge/config.toml that names the variable and the server allows it too.\n\nA pipeline file can also \
                      name a command that a plugin starts, such as `command` of planner-external and environment-process. It \
                      is started only with\n\n    planforge run pipeline.toml --suite suite --allow-commands\n\nor with an entry \
                      in the same file, which the message prints:\n\n    [commands]\n    HASH = \"python3 puzzle.py\"\n\nThe \
                      hash covers the words of the command, the contents of the program and of the files among its arguments, \
                      the folder it starts in and its other options. Files that the program loads by itself are not covered. A \
                      replay starts no such program.",
    },
    CodeInfo {
        code: "cli.config",
        title: "the user's configuration file cannot be used",
        explanation: "`planforge/config.toml` of your configuration folder (usually ~/.config) holds model tables for `--model`, each with \
                      the keys of an [llm.NAME] table:\n\n    [models.own]\n    use = \"provider-openai\"\n    model = \"qwen3-32b\"\n    \
                      base_url = \"https://llm.example.org/v1\"\n    api_key_env = \"OWN_KEY\"\n\nThe file is missing a closing quote, \
                      has another key beside [models], or may not be read; the message says which.",
    },
    CodeInfo {
        code: "cli.prices",
        title: "a list of prices cannot be read",
        explanation: "A model table without `price` takes its price from planforge/prices.toml of your configuration folder (usually \
                      ~/.config), then from the list that comes with planforge (configs/prices.toml), if its requests go to the \
                      provider's own service. An entry names the provider, models (`*` at the end stands for any ending), prices in US \
                      dollars for a million tokens, their day and where they come from:\n\n    [[price]]\n    provider = \
                      \"provider-openai\"\n    models = [\"gpt-x\", \"gpt-x-20*\"]\n    price = { prompt = 2.0, cached = 0.2, completion = \
                      8.0 }\n    date = \"2026-11-23\"\n    source = \"our contract\"\n\n`base_url` makes it a price for another \
                      address, `until = \"2026-12-31\"` ends it, and `cache_write` and `reasoning` are further prices.",
    },
    CodeInfo {
        code: "cli.clock",
        title: "the clock of the machine is set to a time without a date",
        explanation: "The record of a run holds its date, and the calendar ends with the year 9999. Set the clock.",
    },
    CodeInfo {
        code: "cli.missing-secret",
        title: "the environment variable that holds a key is not set",
        explanation: "A pipeline file names the environment variable of a key and never holds the key itself:\n\n    \
                      [llm.main]\n    api_key_env = \"OPENAI_API_KEY\"\n\nSet that variable for a live run. Replay needs no \
                      key; a local server that wants none needs no `api_key_env`.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_code_is_explained_once() {
        let mut seen = BTreeSet::new();
        for info in tables().into_iter().flatten() {
            assert!(seen.insert(info.code), "{} has two explanations", info.code);
        }
    }
}
