//! `planforge replay`: a recorded run again, without network or key.

use super::Context;
use super::run::{again, exit_of, print};
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::session::broke;
use planforge_contract::Failure;
use planforge_record::RunFolder;
use std::sync::Arc;

pub(crate) fn run(context: &Context, args: &ReplayArgs) -> Exit {
    let folder = match RunFolder::open(&args.run, Arc::default()) {
        Ok(folder) => folder,
        Err(error) => return broke(context, &Failure::from(error)),
    };
    match again(context, folder, args.jobs) {
        Ok((ended, tasks)) => {
            print(context, &ended, &tasks, args.json, None);
            exit_of(&ended.report, None)
        }
        Err(exit) => exit,
    }
}
