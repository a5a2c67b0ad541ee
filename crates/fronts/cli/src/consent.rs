//! Questions about consent on a terminal. Without one, only what the options and the user's files allow is allowed.

use crate::commands::Command;
use crate::commands::command_line::Cli;
use planforge_app::{AllowedByOptions, AskedOnce, ConsentDecision, ConsentRequest};
use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;

/// The consent of the user of this command.
pub(crate) fn consent_of(cli: &Cli) -> Result<Arc<dyn ConsentDecision>, planforge_app::Error> {
    let options = AllowedByOptions::new(&cli.allow_host, cli.allow_commands)?
        .allow_authorities(&cli.allow_ca)?
        .allow_typed_addresses(&cli.typed_settings);
    let has_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if has_terminal && may_ask(&cli.command) {
        let terminal = |request: &_| ask(request, &mut std::io::stdin().lock(), &mut std::io::stderr());
        return Ok(Arc::new(AskedOnce::new(options, terminal)));
    }
    Ok(Arc::new(options))
}

/// True for commands that send requests or start programs, and that use standard input for nothing else.
fn may_ask(command: &Command) -> bool {
    matches!(
        command,
        Command::Solve(_)
            | Command::Run(_)
            | Command::Batch(_)
            | Command::Evaluate(_)
            | Command::Study(_)
            | Command::Suite(_)
            | Command::Models(_)
            | Command::Plugins(_)
            | Command::Demo(_)
    )
}

/// Prints the question and reads the answer. Everything but `y` and `yes` is a no.
fn ask(request: &ConsentRequest, input: &mut dyn BufRead, output: &mut dyn Write) -> bool {
    let mut answer = String::new();
    let asked = write!(output, "{request}.\nAllow it for this command? [y/N] ").and_then(|()| output.flush());
    asked.is_ok()
        && input.read_line(&mut answer).is_ok()
        && ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_file_option_server_and_variable_and_its_default_is_no() {
        let request = ConsentRequest::Connect {
            server: "http://127.0.0.1:9".to_owned(),
            variables: vec!["OPENAI_API_KEY".to_owned()],
            option: "proxy".to_owned(),
            place: "theirs.toml:7: [llm.main]".to_owned(),
            is_proxy: true,
        };
        let mut shown = Vec::new();
        for (typed, allowed) in
            [("", false), ("\n", false), ("n\n", false), ("maybe\n", false), ("y\n", true), (" YES\n", true)]
        {
            shown.clear();
            assert_eq!(ask(&request, &mut typed.as_bytes(), &mut shown), allowed, "{typed:?}");
        }
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "theirs.toml:7: [llm.main]: `proxy` would send the value of OPENAI_API_KEY through `http://127.0.0.1:9`.\n\
             Allow it for this command? [y/N] "
        );
    }
}
