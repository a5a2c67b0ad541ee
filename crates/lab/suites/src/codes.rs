//! The codes of this crate's diagnostics.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const NO_GENERATOR: &str = "generate.no-generator";
pub(crate) const NO_DOMAIN: &str = "generate.no-domain";
pub(crate) const TEMPLATE: &str = "generate.template";
pub(crate) const SILENT: &str = "generate.silent-object";
pub(crate) const NO_DRAW: &str = "generate.no-draw";
pub(crate) const STOPPED: &str = "generate.stopped";
pub(crate) const UNSUPPORTED: &str = "generate.unsupported";
pub(crate) const WRONG_GIVEN_PLAN: &str = "generate.wrong-plan";
pub(crate) const LADDER_SENTENCES: &str = "ladder.sentences";
pub(crate) const LADDER_TOO_LONG: &str = "ladder.too-long";
pub(crate) const LADDER_UNREAD: &str = "ladder.unread";
pub(crate) const NO_WORDINGS: &str = "paraphrase.no-wordings";
pub(crate) const WORDING: &str = "paraphrase.template";
pub(crate) const NO_WORDS: &str = "paraphrase.unsupported";
pub(crate) const UNTOLD: &str = "paraphrase.untold";
pub(crate) const ALIKE: &str = "paraphrase.alike";
/// A text of a level does not imply its problem.
pub const NOT_IMPLIED: &str = "paraphrase.not-implied";
/// A sentence of a level is not needed and not marked irrelevant.
pub const NEEDLESS: &str = "paraphrase.needless-sentence";
/// The suite has no `domain_brief.nl`.
pub const NO_BRIEF_TEXT: &str = "paraphrase.no-brief-text";
pub(crate) const NO_TASKS: &str = "suite.no-tasks";
/// Explained by `planforge_pipeline`, which gives it too.
pub(crate) const NO_SENTENCE: &str = "suite.no-sentence";
pub(crate) const NO_TYPE: &str = "suite.no-type";
pub(crate) const IDLE_FILE: &str = "suite.idle-file";
pub(crate) const UNNAMED: &str = "suite.unnamed-object";
/// A text or `reading.toml` cannot be read.
pub const READING: &str = "suite.reading";
pub(crate) const UNSTATED: &str = "suite.unstated-fact";
pub(crate) const GOAL_HOLDS: &str = "suite.goal-holds";
pub(crate) const WRONG_PLAN: &str = "suite.wrong-plan";
pub(crate) const PROSE_PLAN: &str = "suite.prose-plan";
pub(crate) const UNSOLVABLE: &str = "suite.unsolvable";
pub(crate) const UNDECIDED: &str = "suite.undecided";
pub(crate) const TEMPLATE_DIFFERS: &str = "suite.template-differs";
pub(crate) const TEMPLATE_SHOWS: &str = "suite.template-shows";
pub(crate) const PARAMETER_ORDER: &str = "suite.parameter-order";
pub(crate) const LAYOUT: &str = "import.layout";
pub(crate) const TABLE: &str = "import.table";
pub(crate) const ROW: &str = "import.row";
pub(crate) const NO_ROW: &str = "import.no-row";
pub(crate) const DIFFERS: &str = "import.differs";
pub(crate) const DESCRIPTION: &str = "import.description";
pub(crate) const NO_DESCRIPTION: &str = "import.no-description";
pub(crate) const INCOMPLETE: &str = "import.incomplete";
pub(crate) const LEFT_OUT: &str = "import.left-out";

/// The diagnostic codes of this crate.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
