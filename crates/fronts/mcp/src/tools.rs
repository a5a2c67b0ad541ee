//! The tools, in the order in which a client lists them.

mod compare;
mod explain;
mod plan;
mod read;
mod run;
mod states;
mod tasks;
mod validate;

use crate::tool::ToolEntry;

pub(crate) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<read::Read>(),
    ToolEntry::of::<plan::Plan>(),
    ToolEntry::of::<validate::Validate>(),
    ToolEntry::of::<compare::Compare>(),
    ToolEntry::of::<states::States>(),
    ToolEntry::of::<tasks::Tasks>(),
    ToolEntry::of::<run::Run>(),
    ToolEntry::of::<explain::Explain>(),
];
