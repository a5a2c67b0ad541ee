//! Claims in lines with labels (`State after step 2: ...`, `Goal reached: yes`, `Cost: 4`) and in sentences.

use super::{Claims, to_claimed_state, yes_or_no};
use planforge_contract::{ClaimedState, PlanClaims};
use regex::Regex;
use std::sync::LazyLock;

/// A pattern that a test compiles; one that did not would match nothing.
fn pattern(text: &'static str) -> Option<Regex> {
    Regex::new(text).ok()
}

macro_rules! patterns {
    ($($name:ident = $text:literal;)*) => {
        $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| pattern($text));)*
        #[cfg(test)]
        pub(super) fn all() -> Vec<bool> {
            vec![$($name.is_some()),*]
        }
    };
}

patterns! {
    STATE_N = r"(?i)^(?:the )?(?:new |resulting |current )?(?:state|facts)(?: that hold)?(?: (?:after|following|at))?(?: (?:the )?(?:step|action))?\s*#?(\d+)(?: is)?\s*[:,=]\s*(.*)$";
    AFTER_N = r"(?i)^after (?:the )?(?:step|action)\s*#?(\d+)\s*[:,]\s*(.*)$";
    STATE_INITIAL = r"(?i)^(?:the )?(?:initial|starting) state(?: is)?\s*[:,=]\s*(.*)$";
    STATE_HERE = r"(?i)^(?:the )?(?:new |resulting |current |next )?state(?: (?:after|now)(?: (?:this|the) (?:step|action))?)?(?: is)?\s*[:=]\s*(.*)$";
    STEP = r"(?i)^(?:step|action)\s*#?(\d+)\b";
    NUMBERED = r"^(\d+)[.)]\s*\(";
    GOAL = r"(?i)^(?:is )?(?:the )?goals?(?: state| conditions?)?(?: is| are| was| has been)?(?: (?:reached|achieved|satisfied|met|fulfilled))?\s*[:?=]\s*(.*)$";
    GOAL_SAID = r"(?i)\bgoals?(?: state| conditions?)?(?: is| are| was| has been| have been)( not|n't)?(?: now| then| also| therefore| thus| finally| all| yet)*(?: been)? (?:reached|achieved|satisfied|met|fulfilled)\b";
    GOAL_REACHED = r"(?i)\b(?:reaches|achieves|satisfies|fulfils|fulfills) (?:the|all|every) goals?\b";
    COST = r"(?i)^(?:the )?(?:final |total |optimal |overall |minimal |minimum |plan |plan's )*cost(?: of the (?:whole |entire )?plan)?(?: is)?\s*[:=]\s*(.*)$";
    COST_SAID = r"(?i)\b(?:(?:final|total|optimal|overall|minimal|minimum|plan's) cost(?: of the plan)?|cost of (?:the|this) plan)\s*(?:is|=|of|was|:)\s*(?:therefore |thus |just |only |equal to )?(-?\d+(?:\.\d+)?)";
    NUMBER = r"^(-?\d+(?:\.\d+)?)\b";
    VALID = r"(?i)^(?:is )?(?:the |this |my )?(?:plan(?: is)? )?(?:valid|correct)(?:ity)?\s*[:?=]\s*(.*)$";
    VALID_SAID = r"(?i)\b(?:the|this|my) plan is(?: indeed| now| therefore| thus| also)*( not|n't)?(?: indeed| a)? (in)?(?:valid|correct)\b";
    CONDITIONAL = r"(?i)\b(?:if|until|whether|when|once|should|must|before|unless|so that|to be|check|ensure|verify|make sure|need)\b";
}

/// A claim that labels or sentences make.
#[derive(Default)]
struct StatedClaim<T> {
    labelled: Option<T>,
    sentences: Vec<T>,
}

impl<T: PartialEq + Copy> StatedClaim<T> {
    /// The claim, or a remark if sentences contradict each other.
    fn decide(self, what: &str, remarks: &mut Vec<String>) -> Option<T> {
        if self.labelled.is_some() {
            return self.labelled;
        }
        let first = *self.sentences.first()?;
        if self.sentences.iter().all(|s| *s == first) {
            return Some(first);
        }
        remarks.push(format!("the reply contradicts itself about {what}"));
        None
    }
}

#[derive(Default)]
struct ClaimReader {
    states: Vec<ClaimedState>,
    /// True if the following list entries belong to the last state.
    within: bool,
    step: Option<u32>,
    goal: StatedClaim<bool>,
    cost: StatedClaim<f64>,
    valid: StatedClaim<bool>,
    remarks: Vec<String>,
}

/// Reads labels and sentences outside of the plan's own block.
pub(crate) fn read(reply: &str) -> Claims {
    let mut reader = ClaimReader::default();
    let mut block: Option<bool> = None;
    for line in reply.lines() {
        match (line.trim().strip_prefix("```"), block) {
            (Some(_), Some(_)) => block = None,
            (Some(tag), None) => block = Some(matches!(tag.trim(), "plan" | "json")),
            (None, Some(true)) => {}
            (None, _) => reader.line(line),
        }
    }
    let mut remarks = reader.remarks;
    let claims = PlanClaims {
        states: reader.states,
        goal_reached: reader.goal.decide("the goal", &mut remarks),
        cost: reader.cost.decide("the cost", &mut remarks),
        valid: reader.valid.decide("whether the plan is valid", &mut remarks),
    };
    Claims { claims, remarks }
}

/// The groups of a match.
fn groups<'t, const N: usize>(pattern: &Option<Regex>, text: &'t str) -> Option<[Option<&'t str>; N]> {
    let captures = pattern.as_ref()?.captures(text)?;
    Some(std::array::from_fn(|i| captures.get(i + 1).map(|m| m.as_str())))
}

fn matches(pattern: &Option<Regex>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|p| p.is_match(text))
}

impl ClaimReader {
    fn line(&mut self, line: &str) {
        let bare: String = line.replace("**", "").replace("__", "");
        let text = bare.trim().trim_start_matches(['#', '>', ' ']);
        let bullet = text.starts_with(['-', '*', '•', '(']);
        let text = text.trim_start_matches(['-', '*', '•', ' ']).trim().trim_matches('`');
        if text.is_empty() {
            self.within = self.within && self.states.last().is_some_and(is_empty);
            return;
        }
        if self.state(text) || self.label(text) {
            return;
        }
        if let Some([Some(number)]) = groups(&STEP, text).or_else(|| groups(&NUMBERED, text)) {
            self.step = number.parse().ok();
            self.within = false;
        } else if self.within && bullet {
            if let Some(state) = self.states.last_mut() {
                super::facts::read(text, state);
            }
            return;
        } else {
            self.within = false;
        }
        self.sentences(text);
    }

    /// A line that begins a state.
    fn state(&mut self, text: &str) -> bool {
        let numbered = groups(&STATE_N, text).or_else(|| groups(&AFTER_N, text));
        let (after, facts) = if let Some([Some(number), facts]) = numbered {
            (number.parse().ok(), facts)
        } else if let Some([facts]) = groups(&STATE_INITIAL, text) {
            (Some(0), facts)
        } else if let Some([facts]) = groups(&STATE_HERE, text) {
            (self.step, facts)
        } else {
            return false;
        };
        let Some(after) = after else {
            self.remarks.push(format!("a state without the number of its step: {text}"));
            self.within = false;
            return true;
        };
        self.states.push(to_claimed_state(after, &[facts.unwrap_or_default()]));
        self.within = true;
        true
    }

    /// A line with a label other than a state's.
    fn label(&mut self, text: &str) -> bool {
        if let Some([value]) = groups(&GOAL, text) {
            take(yes_or_no(value.unwrap_or_default()), &mut self.goal, text, &mut self.remarks);
        } else if let Some([value]) = groups(&COST, text) {
            let value = value.unwrap_or_default().trim_start_matches(['$', ' ']);
            let [number] = groups(&NUMBER, value).unwrap_or([None]);
            take(number.and_then(|n| n.parse().ok()), &mut self.cost, text, &mut self.remarks);
        } else if let Some([value]) = groups(&VALID, text) {
            take(yes_or_no(value.unwrap_or_default()), &mut self.valid, text, &mut self.remarks);
        } else {
            return false;
        }
        self.within = false;
        true
    }

    fn sentences(&mut self, text: &str) {
        for sentence in text.split_inclusive(['.', '!', '?', ';']).filter(|s| !s.ends_with('?')) {
            if matches(&CONDITIONAL, sentence) {
                continue;
            }
            if let Some([negation]) = groups(&GOAL_SAID, sentence) {
                self.goal.sentences.push(negation.is_none());
            } else if matches(&GOAL_REACHED, sentence) {
                self.goal.sentences.push(true);
            }
            if let Some([negation, prefix]) = groups(&VALID_SAID, sentence) {
                self.valid.sentences.push(negation.is_some() == prefix.is_some());
            }
        }
        if let Some([Some(number)]) = groups(&COST_SAID, text)
            && let Ok(number) = number.parse()
        {
            self.cost.sentences.push(number);
        }
    }
}

fn is_empty(state: &ClaimedState) -> bool {
    state.literals.is_empty() && state.sentences.is_empty()
}

fn take<T>(value: Option<T>, said: &mut StatedClaim<T>, line: &str, remarks: &mut Vec<String>) {
    match value {
        Some(value) => said.labelled = Some(value),
        None => remarks.push(format!("cannot be read: {line}")),
    }
}
