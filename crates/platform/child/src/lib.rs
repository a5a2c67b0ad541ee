//! External programs under limits: each in its own process group, with limits of wall time, memory and
//! output. Ending a program ends its whole process tree.
//!
//! * [`run`] runs a program to its end and returns how it ended, its output and the end of its standard error.
//! * [`Session`] holds a conversation with a program, one line per message.
//! * [`Process`] is the base of both, for other protocols over the pipes; [`read_line`] reads its output by lines.
//!
//! An [`Ending`] keeps limits, signals, exit codes and failed starts apart. Nothing here is asynchronous:
//! separate threads drain the pipes, so that no program can block its caller by not reading or by writing too
//! much.
//!
//! **Environment.** A program sees only the variables that its [`CommandSpec`] names, so that no key in the caller's environment reaches it.
//!
//! **Memory.** A memory limit is the address space of each process (`RLIMIT_AS`). `/bin/sh` sets it before it becomes the program, so the limit always holds; the words of the command are arguments of the shell and are never parsed as shell text.
//!
//! **End of the tree.** The process group is killed. On Linux, every process with the program's mark in its environment (`PLANFORGE_CHILD`) is killed too, which finds processes that left the group. A process that leaves the group and clears its environment is not found.
//!
//! **End of the caller.** Each program has a guard, a shell that waits on a pipe from the caller. When the caller ends, also by `SIGKILL`, the pipe closes and the guard kills the program's tree.

mod ending;
mod guard;
mod process;
mod session;
mod spec;

pub use ending::{Ending, Finished, Stream};
pub use process::{Pipes, Process, run};
pub use session::{Line, Session, Trouble, read_line};
pub use spec::{CommandSpec, Environment, Limits, USUAL_VARIABLES};
