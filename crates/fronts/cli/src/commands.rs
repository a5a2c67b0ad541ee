//! The commands, one module each: arguments, help examples and code. Each returns how the process ends and prints through
//! [`Output`](crate::output::Output).

// Declared here, not by the macro, so that `cargo fmt` finds their files.
pub(crate) mod batch;
pub(crate) mod check;
pub(crate) mod command_line;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod models;
pub(crate) mod pddl;
pub(crate) mod plugins;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod solve;
pub(crate) mod study;
pub(crate) mod suite;
mod worker;

use crate::context::Context;
use crate::exit::Exit;

/// Declares the enum of the commands, its dispatch, and the headings of `planforge --help`. A module has the name of its
/// command, its arguments and a function `run`.
macro_rules! commands {
    ($($heading:literal { $($(#[$only:meta])* $name:ident($module:ident::$args:ident)),* $(,)? })* hidden { $hidden:ident($hidden_module:ident::$hidden_args:ident) }) => {
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum Command {
            $($($(#[$only])* $name(Box<$module::$args>),)*)*
            #[command(hide = true)]
            $hidden($hidden_module::$hidden_args),
        }

        impl Command {
            /// Runs the command.
            pub(crate) fn run(&self, context: &Context) -> Exit {
                match self {
                    $($($(#[$only])* Self::$name(args) => $module::run(context, args),)*)*
                    Self::$hidden(args) => $hidden_module::run(context, args),
                }
            }
        }

        /// The headings of `planforge --help` with their commands, in order.
        pub(crate) const HEADINGS: &[(&str, &[&str])] = &[$(($heading, &[$($(#[$only])* stringify!($module)),*])),*];
    };
}

commands! {
    "Solve" {
        Solve(solve::SolveArgs)
    }
    "Run" {
        Run(run::RunArgs),
        Replay(replay::ReplayArgs),
        Runs(runs::RunsArgs),
        Batch(batch::BatchArgs),
    }
    "Measure" {
        Evaluate(evaluate::EvaluateCommandArgs),
        Compare(compare::CompareArgs),
        Report(report::ReportArgs),
        Study(study::StudyArgs),
    }
    "PDDL" {
        Pddl(pddl::PddlArgs)
    }
    "Write and extend" {
        Suite(suite::SuiteArgs),
        Models(models::ModelsArgs),
        Plugins(plugins::PluginsArgs)
    }
    "Serve" {
        #[cfg(feature = "serve")]
        Serve(serve::ServeArgs)
    }
    "Help" {
        Check(check::CheckArgs),
        Explain(explain::ExplainArgs),
        Doctor(doctor::DoctorArgs),
        Demo(demo::DemoArgs),
        Completions(completions::CompletionsArgs),
    }
    hidden { Worker(worker::WorkerArgs) }
}
