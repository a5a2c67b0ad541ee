//! Programs from outside, held under limits: a process group of its own, wall time, memory, output, and an end that takes
//! everything with it that the program started.
//!
//! * [`run`] runs a program to its end and returns how it ended, what it wrote and what it said on its standard error.
//! * [`Session`] holds a conversation with a program, one line a message.
//! * [`Process`] is what both stand on, for those who speak another way over the pipes.
//!
//! How a program ended is an [`Ending`]: a limit, a signal, an exit code and a program that never started are different
//! values, and none is ever made of another. Nothing here is asynchronous: pipes are drained by threads of their own, so that
//! no program can hold its caller up by not reading or by writing too much.
//!
//! **Environment.** A program sees the variables that its [`CommandSpec`] names and no other, so that no key in the caller's
//! environment reaches it.
//!
//! **Memory.** A memory limit is the address space of each process (`RLIMIT_AS`). It is set by `/bin/sh` before it becomes the
//! program, so that no moment goes by without it; the words of the command reach the shell as arguments and are never read as
//! shell text.
//!
//! **End of the tree.** The process group is killed. On Linux, so is every process that carries the mark which each program is
//! given in its environment (`PLANFORGE_CHILD`), which finds those that left the group. A process that leaves the group and
//! clears its environment is not found, and where the caller itself is killed by `SIGKILL`, nobody is left to end its programs.

mod ending;
mod process;
mod run;
mod session;
mod spec;
mod tail;
mod tree;

pub use ending::{Ending, Finished, Stream};
pub use process::{Pipes, Process};
pub use run::run;
pub use session::{Session, Trouble};
pub use spec::{CommandSpec, Environment, Limits, USUAL_VARIABLES};
