//! Diagnostic codes of plugins, for `planforge explain`.

use planforge_diagnostics::CodeInfo;

macro_rules! codes {
    ($($code:literal, $title:literal, $explanation:literal;)*) => {
        /// The codes `plugin.*`, `options.*` and `host.*`.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $explanation }),*];
    };
}

codes! {
    "plugin.file", "A plugin's file cannot be read or opened",
    "First load gate. The file is missing, is not a shared library of this platform, or the dynamic linker refuses it (a \
library that it needs is absent).\n\nRebuild it for this machine, or take it off the search path.";
    "plugin.symbol", "A library does not export exactly one plugin",
    "Second load gate. A plugin library exports `planforge_plugin_<crate>` and `planforge_epoch_<crate>`, once each. The symbol \
table is read before any code of the library runs.\n\nExport the plugin with the SDK's `export_plugin!`, once, and build it as \
`crate-type = [\"cdylib\", \"rlib\"]`. A plugin must not link another plugin.";
    "plugin.epoch", "A plugin was built for another ABI epoch",
    "Third load gate. Host and plugin must share the epoch, which is not planforge's version: it changes only when the documents or \
the binary interface do.\n\nRebuild the plugin against this planforge's SDK.";
    "plugin.layout", "A plugin's binary layout is not the expected one",
    "Fourth load gate. abi_stable compared the layout of the library's module with the host's and found them different; the message \
holds both.\n\nRebuild the plugin against this planforge's SDK.";
    "plugin.describe", "A plugin's description is wrong",
    "Fifth load gate. The result of describe() cannot be read, has another id than the library's symbol or another ABI epoch, or \
its options schema is not a JSON schema.\n\nThis is the plugin's fault; tell its author.";
    "plugin.options", "The options do not fit the plugin's schema",
    "Sixth load gate. Every problem is listed, with the nearest valid name. Unknown options are errors.\n\n`planforge plugins list` \
shows the options of each plugin.";
    "plugin.create", "A plugin instance could not be created",
    "Last load gate. create() panicked or failed without a readable reason.\n\nThis is the plugin's fault; tell its author.";
    "plugin.unknown", "There is no plugin of that id",
    "The id is the crate's name without `planforge-`. A library is found on the search path only, never in the working directory.\n\n\
See `planforge plugins list`.";
    "plugin.kind", "The plugin is of another kind",
    "For example a verifier where the stage needs a planner.\n\n`planforge plugins list` shows the kind of each plugin.";
    "plugin.program", "The program of a plugin did not start or ended",
    "The message holds the exit status and the end of what the program wrote to standard error. Calls that were in progress are \
repeated once, each alone; the call that ends the program again fails. The next call starts the program anew.\n\nCheck `command` in its \
plugin.toml, and run the program by hand.";
    "plugin.exception", "A program's method failed",
    "The program answered a call with an error without a failure document. In Python this is an exception that the plugin did not \
catch. This is never a verdict.\n\nThis is the plugin's fault; tell its author.";
    "plugin.duplicate", "Two plugins on the search path have the same id",
    "A library or program takes the place of the bundled plugin of its id; of two neither is taken.\n\nTake one off the search path.";
    "plugin.panic", "A plugin panicked",
    "The panic was caught inside the plugin; message and place are in the failure. The instance is not used again. This is never a \
verdict about a candidate.\n\nThis is the plugin's fault; tell its author.";
    "plugin.poisoned", "The plugin's instance broke earlier",
    "After a panic or a call that was given up, the state of an instance is unknown, so it is not called again. The message holds the \
first failure.\n\nCorrect that failure first.";
    "plugin.deadline", "A plugin did not answer in time",
    "The call was given up; its thread is left behind and the instance is not used again (a program is ended and started anew). This is \
never a verdict.\n\nA call may take `limits.call_deadline_s` of the pipeline. Without that key, 600 s without an answer or progress end \
a call. Progress is a report of progress or an answer of the host; the time that a plan stage grants (`limits.time_s`) counts too. \
Describing and creating may take 30 s.\n\nSet the key to the seconds that the call needs, or let the plugin report progress.";
    "plugin.threads", "No thread was free for a plugin's call",
    "Calls run on a bounded number of threads; calls that were given up keep theirs.\n\nLook for plugins that hang.";
    "plugin.busy", "The plugin was busy until the deadline",
    "A plugin declares how many calls an instance takes at a time; this one waited for its turn until its deadline.\n\nLower the \
concurrency or raise the time limit.";
    "plugin.reply-size", "A plugin's reply is larger than the host takes",
    "Replies are bounded (64 MiB by default) so that one plugin cannot take all memory. The same bound holds for a plugin's \
questions to the host. The reply was discarded, and a program that wrote it was ended.\n\nThis is the \
plugin's fault; tell its author.";
    "plugin.reply-count", "A plugin answered with the wrong number of results",
    "A batch is answered entry by entry; any other number would put verdicts beside the wrong candidates. A plan outcome without a plan \
is refused too.\n\nThis is the plugin's fault; tell its author.";
    "plugin.document", "A document that crossed the boundary cannot be read",
    "A plugin's answer or request is not the expected JSON document, or has another schema number. This is a failure, never \
a verdict.\n\nThis is the plugin's fault; tell its author.";
    "plugin.method", "A plugin was asked for a method it does not have",
    "Host and plugin do not agree on the methods of a kind.\n\nRebuild the plugin against this planforge's SDK.";
    "plugin.environment", "An environment contradicts itself or was asked for the impossible",
    "It listed an action as applicable and refused it, or a state was asked for after a sequence that cannot be executed.\n\nCheck the \
sequence, or tell the environment's author.";
    "options.unknown", "Unknown option",
    "The plugin has no option of that name. Unknown options are errors, so that a misspelt one is not silently without effect.";
    "options.missing", "An option is missing",
    "The plugin cannot do without this option.";
    "options.type", "An option has the wrong type",
    "For example a text where a number is expected.";
    "options.value", "An option has a value that is not allowed",
    "For example a number out of range, or a word that is not among the choices.";
    "new.kind", "Unknown kind of plugin",
    "Kinds are provider, translator, verifier, planner and environment.";
    "new.name", "The name is not valid for a plugin",
    "Lower-case words joined by dashes, beginning with a letter: `verifier-short-plans`.";
    "new.exists", "The folder of the new plugin exists already",
    "Nothing is overwritten. Take another name or another folder.";
    "new.sdk", "The folder is not a planforge source tree",
    "A new plugin takes the SDK from a source tree that has crates/platform/plugin-sdk.";
    "new.file", "A file of the new plugin cannot be written",
    "The message holds the file and the system's error.";
    "host.forbidden", "A plugin asked the host for something its kind may not ask",
    "Translators: complete. Verifiers: complete, environment, plan. Planners: complete, worker. Translators with the capability \
`worker`: worker. Providers and environments: nothing.\n\nThis is the plugin's fault; tell its author.";
    "host.gone", "The host has given up the call",
    "A plugin called a host service after its deadline. The call was refused.";
    "host.cancelled", "The run was interrupted",
    "Ctrl-C or a signal. The run's record says how to resume.";
    "host.no-worker", "There is no child process for this plugin",
    "The plugin has no worker side, or the host has no executable to start.";
    "host.no-environment", "No environment is open",
    "A verifier asked the task's environment, and the pipeline declares none.\n\nAdd an `[environment]` table.";
    "host.no-planner", "No plan stage has that label",
    "A verifier asked a planner by a label that no plan stage has.";
    "host.worker-limit", "A child process met a limit",
    "Time, or size of its answer. The child was killed; the next request starts another. This is a limit, never a verdict.";
    "host.worker-memory", "A child process took more memory than it may have",
    "It ended by that; the next request starts another. This is a limit, never a verdict.";
    "host.worker-panic", "A plugin panicked in its child process",
    "Message and place are in the failure. The child ended; the next question starts another. This is never a verdict.\n\nThis is the \
plugin's fault; tell its author.";
    "host.worker-died", "A child process could not be started or ended by itself",
    "The exit status and the end of what it wrote to standard error are in the message.";
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = super::CODES.iter().map(|c| c.code).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
