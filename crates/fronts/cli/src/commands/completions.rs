//! `planforge completions`: shell completions and the manual page, from the command line's own definition.

use super::command_line::grouped_command;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use planforge_app::contract::{Failure, FailureClass};

/// Print completions for a shell, or the manual page.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge completions bash > ~/.local/share/bash-completion/completions/planforge
  planforge completions zsh > ~/.zfunc/_planforge
  planforge completions man > planforge.1 && man ./planforge.1")]
pub(crate) struct CompletionsArgs {
    /// The shell, or `man` for the manual page of all commands.
    #[arg(value_enum)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}

pub(crate) fn run(context: &Context, args: &CompletionsArgs) -> Exit {
    let mut text = Vec::new();
    let shell = match args.format {
        Format::Bash => Shell::Bash,
        Format::Elvish => Shell::Elvish,
        Format::Fish => Shell::Fish,
        Format::Powershell => Shell::PowerShell,
        Format::Zsh => Shell::Zsh,
        Format::Man => {
            let mut command = grouped_command();
            command.build();
            if let Err(error) = write_pages(&command, &mut text) {
                let message = format!("the manual page cannot be written: {error}");
                return context.print_error(&Failure::new(FailureClass::System, "record.io", message).into());
            }
            context.output.result(&String::from_utf8_lossy(&text));
            return Exit::Good;
        }
    };
    clap_complete::generate(shell, &mut grouped_command(), "planforge", &mut text);
    context.output.result(&String::from_utf8_lossy(&text));
    Exit::Good
}

/// Writes the page of a command and, after it, those of its subcommands.
fn write_pages(command: &clap::Command, out: &mut Vec<u8>) -> std::io::Result<()> {
    clap_mangen::Man::new(command.clone()).render(out)?;
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        write_pages(inner, out)?;
    }
    Ok(())
}
