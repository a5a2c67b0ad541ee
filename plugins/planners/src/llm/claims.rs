//! Reads a model's claims about its plan: the states after steps, the goal, the cost and the validity.
//!
//! The question asks for one form, and models answer in many: lines with labels, a JSON object, sentences.
//! Unreadable claims are absent, with a remark, and do not affect the plan. A label takes precedence over a
//! sentence, and the last of several labels counts, which is the one at the end of the plan. Sentences that
//! contradict each other make no claim.

use planforge_contract::{ClaimedState, PlanClaims};
use planforge_plugin_sdk::serde_json::{self, Map, Value};
use regex::Regex;
use std::sync::LazyLock;

/// The claims of a reply, with remarks about unreadable ones.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Claims {
    pub(crate) claims: PlanClaims,
    /// Messages for the log.
    pub(crate) remarks: Vec<String>,
}

pub(crate) fn read(reply: &str) -> Claims {
    let mut read = read_labels(reply);
    if let Some(found) = claims_in_json(reply) {
        fill(&mut read.claims, found);
    }
    read.claims.states.retain(|state| !state.literals.is_empty() || !state.sentences.is_empty());
    let missing = [
        ("what is true after its steps", read.claims.states.is_empty()),
        ("whether the goal is reached", read.claims.goal_reached.is_none()),
        ("what the plan costs", read.claims.cost.is_none()),
        ("whether the plan is valid", read.claims.valid.is_none()),
    ];
    for (what, _) in missing.iter().filter(|(_, missing)| *missing) {
        read.remarks.push(format!("the reply does not say in a form that is read {what}"));
    }
    read
}

/// Takes from `more` what `claims` lack.
fn fill(claims: &mut PlanClaims, more: PlanClaims) {
    if claims.states.is_empty() {
        claims.states = more.states;
    }
    claims.goal_reached = claims.goal_reached.or(more.goal_reached);
    claims.cost = claims.cost.or(more.cost);
    claims.valid = claims.valid.or(more.valid);
}

/// A state with the facts of a text added.
fn to_claimed_state(after: u32, texts: &[&str]) -> ClaimedState {
    let mut state = ClaimedState { after, ..ClaimedState::default() };
    texts.iter().for_each(|text| read_facts(text, &mut state));
    state
}

/// `yes`, `no` and similar words at the beginning of a text; `None` if it begins otherwise or offers both.
fn yes_or_no(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let first = words.next()?;
    if words.next() == Some("or") {
        return None;
    }
    match first {
        "yes" | "true" | "valid" | "correct" | "reached" | "achieved" | "satisfied" | "met" | "y" => {
            Some(true)
        }
        "no" | "false" | "not" | "invalid" | "incorrect" | "wrong" | "unreached" | "n" => Some(false),
        _ => None,
    }
}

/// A pattern that a test compiles; one that did not would match nothing.
fn pattern(text: &'static str) -> Option<Regex> {
    Regex::new(text).ok()
}

macro_rules! patterns {
    ($($name:ident = $text:literal;)*) => {
        $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| pattern($text));)*
        #[cfg(test)]
        fn compiled_patterns() -> Vec<bool> {
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
fn read_labels(reply: &str) -> Claims {
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
                read_facts(text, state);
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

const STATES_KEYS: [&str; 3] = ["states", "stateafter", "statesaftersteps"];
const STEPS_KEYS: [&str; 2] = ["steps", "checkedsteps"];
const STATE_KEYS: [&str; 5] = ["state", "stateafter", "literals", "facts", "stateafterstep"];
const NUMBER_KEYS: [&str; 5] = ["after", "step", "n", "number", "index"];
const GOAL_KEYS: [&str; 4] = ["goalreached", "goal", "goalachieved", "reachesgoal"];
const COST_KEYS: [&str; 4] = ["cost", "totalcost", "optimalcost", "plancost"];
const VALID_KEYS: [&str; 4] = ["valid", "planvalid", "isvalid", "planisvalid"];

/// The claims of the last object in the reply that makes any.
fn claims_in_json(reply: &str) -> Option<PlanClaims> {
    objects(reply).iter().rev().map(of_object).find(|c| *c != PlanClaims::default())
}

/// The steps of the last object in the reply that lists some: `plan`, or the actions of `steps`.
pub(crate) fn plan_in_json(reply: &str) -> Option<Vec<String>> {
    objects(reply).iter().rev().find_map(|object| {
        let listed = get(object, &["plan", "actions"]).or_else(|| get(object, &STEPS_KEYS))?.as_array()?;
        let step = |entry: &Value| match entry {
            Value::String(text) => Some(text.clone()),
            Value::Object(fields) => Some(get(fields, &["action", "step"])?.as_str()?.to_owned()),
            _ => None,
        };
        listed.iter().map(step).collect::<Option<Vec<_>>>().filter(|steps| !steps.is_empty())
    })
}

/// The objects of the reply: whole code blocks, else the whole reply.
fn objects(reply: &str) -> Vec<Map<String, Value>> {
    let mut texts: Vec<&str> = reply.split("```").skip(1).step_by(2).collect();
    texts.push(reply);
    let body = |text: &&str| {
        let text = text.trim();
        let text = text.strip_prefix("json").unwrap_or(text);
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        }
    };
    texts.iter().filter_map(body).collect()
}

/// The value of the first of the keys, in any case and with any separators.
fn get<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    let plain =
        |key: &str| -> String { key.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
    keys.iter().find_map(|wanted| object.iter().find(|(key, _)| plain(key) == *wanted).map(|(_, v)| v))
}

fn of_object(object: &Map<String, Value>) -> PlanClaims {
    let states = get(object, &STATES_KEYS).or_else(|| get(object, &STEPS_KEYS));
    PlanClaims {
        states: states.map(of_states).unwrap_or_default(),
        goal_reached: get(object, &GOAL_KEYS).and_then(truth),
        cost: get(object, &COST_KEYS).and_then(number),
        valid: get(object, &VALID_KEYS).and_then(truth),
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => yes_or_no(text),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        _ => None,
    }
}

/// States in a list, numbered or in order from 1, or under their numbers.
fn of_states(value: &Value) -> Vec<ClaimedState> {
    let at = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
    match value {
        Value::Array(entries) => {
            entries.iter().enumerate().filter_map(|(index, entry)| of_state(entry, at(index))).collect()
        }
        Value::Object(entries) => {
            let numbered = |(key, entry): (&String, &Value)| {
                let digits = key.trim_start_matches(|c: char| !c.is_ascii_digit());
                of_state(entry, digits.parse().ok()?)
            };
            let mut states: Vec<ClaimedState> = entries.iter().filter_map(numbered).collect();
            states.sort_by_key(|state| state.after);
            states
        }
        _ => Vec::new(),
    }
}

fn of_state(value: &Value, after: u32) -> Option<ClaimedState> {
    match value {
        Value::String(text) => Some(to_claimed_state(after, &[text])),
        Value::Array(facts) => {
            let texts: Vec<&str> = facts.iter().filter_map(Value::as_str).collect();
            Some(to_claimed_state(after, &texts))
        }
        Value::Object(fields) => {
            let number =
                get(fields, &NUMBER_KEYS).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
            match get(fields, &STATE_KEYS)? {
                Value::Object(_) => None,
                facts => of_state(facts, number.unwrap_or(after)),
            }
        }
        _ => None,
    }
}

/// Adds the facts of a text to a state: atoms as literals, everything else as sentences.
fn read_facts(text: &str, into: &mut ClaimedState) {
    for piece in text.split([';', '\n']) {
        let piece = trim_marks(piece);
        if piece.is_empty() {
            continue;
        }
        match literals(piece) {
            Some(literals) => into.literals.extend(literals),
            None => into.sentences.extend(sentences(piece)),
        }
    }
}

/// Without bullets, wrappers and marks of emphasis.
fn trim_marks(piece: &str) -> &str {
    let piece = piece.trim().trim_start_matches(['-', '*', '•', '>', ' ']);
    piece.trim_matches(|c: char| c.is_whitespace() || "`{}[],.*".contains(c))
}

/// The sentences of a text without atoms.
fn sentences(piece: &str) -> Vec<String> {
    let parts = piece.split(". ").map(trim_marks).filter(|s| s.chars().any(char::is_alphabetic));
    parts.map(|s| s.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The literals that a text consists of; `None` if it holds anything else.
fn literals(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        rest = separators(rest);
        if rest.is_empty() {
            return (!out.is_empty()).then_some(out);
        }
        let (negated, after) = negation(rest);
        rest = one(after, negated, &mut out)?;
    }
}

/// Skips commas, `and` and white space.
fn separators(mut rest: &str) -> &str {
    loop {
        let next = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == '&' || c == '∧');
        let next = match word(next) {
            Some(("and", after)) => after,
            _ => next,
        };
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// The word in letters at the beginning, where white space or a parenthesis follows.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| c.is_whitespace() || c == '(')?;
    Some((&text[..end], &text[end..])).filter(|(w, _)| !w.is_empty())
}

fn negation(text: &str) -> (bool, &str) {
    if let Some(rest) = text.strip_prefix(['¬', '!', '~']) {
        return (true, rest.trim_start());
    }
    match word(text) {
        Some((w, rest)) if w.eq_ignore_ascii_case("not") => (true, rest.trim_start()),
        _ => (false, text),
    }
}

/// One literal, or a conjunction in parentheses; what follows it.
fn one<'a>(text: &'a str, negated: bool, out: &mut Vec<String>) -> Option<&'a str> {
    if let Some(inner) = text.strip_prefix('(') {
        let close = closing(inner)?;
        let body = inner[..close].trim();
        let rest = &inner[close + 1..];
        match word(body) {
            Some((w, parts)) if w.eq_ignore_ascii_case("and") && !negated => out.extend(literals(parts)?),
            Some((w, part)) if w.eq_ignore_ascii_case("not") && !negated => {
                let part = part.trim_start();
                let after = one(part, true, out)?;
                if !after.trim().is_empty() {
                    return None;
                }
            }
            _ => out.push(atom(&body.split_whitespace().collect::<Vec<_>>(), negated)?),
        }
        return Some(rest);
    }
    // `on(a, b)`; a name without parentheses may be any word of a sentence.
    let open = text.find('(')?;
    let close = open + 1 + closing(&text[open + 1..])?;
    let mut words = vec![text[..open].trim_end()];
    words.extend(text[open + 1..close].split([',', ' ']).map(str::trim).filter(|w| !w.is_empty()));
    out.push(atom(&words, negated)?);
    Some(&text[close + 1..])
}

/// The position of the parenthesis that closes one opened before this text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn atom(words: &[&str], negated: bool) -> Option<String> {
    let is_name = |w: &&str| {
        w.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
            && w.chars().all(|c| c.is_alphanumeric() || "-_+@#/=<>!$%&*~^.".contains(c))
    };
    if words.is_empty() || !words.iter().all(is_name) {
        return None;
    }
    let atom = format!("({})", words.join(" "));
    Some(if negated { format!("(not {atom})") } else { atom })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(after: u32, literals: &[&str], sentences: &[&str]) -> ClaimedState {
        let own = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
        ClaimedState { after, literals: own(literals), sentences: own(sentences) }
    }

    #[test]
    fn every_pattern_compiles() {
        assert!(compiled_patterns().into_iter().all(|compiled| compiled));
    }

    #[test]
    fn the_form_that_is_asked_for_is_read() {
        let reply = "Step 1: (go red blue)\nCheck 1: we are near red; yes\nState after step 1: (near blue); (not (near red))\n\
Step 2: (switch blue)\nCheck 2: near blue\nState after step 2: (on blue)\n\nGoal reached: yes\nCost: 2\nPlan valid: no\n\n\
```plan\n(go red blue)\n(switch blue)\n```";
        let read = read(reply);
        let expected = PlanClaims {
            states: vec![state(1, &["(near blue)", "(not (near red))"], &[]), state(2, &["(on blue)"], &[])],
            goal_reached: Some(true),
            cost: Some(2.0),
            valid: Some(false),
        };
        assert_eq!(read, Claims { claims: expected, remarks: vec![] });
    }

    #[test]
    fn marks_lists_and_words_are_read_as_well() {
        let reply = "## Step 1: pick it up\n**State after step 1:**\n- The arm holds block1.\n- clear(block2), not clear(block1)\n\n\
1. (stack block1 block2)\n- **State**: {on(block1, block2) and ¬holding(block1)}\nAfter step 3, the arm is free. All is done.\n\
**Total cost**: 3 steps\n**Is the goal reached?** Yes, it is.\n";
        let read = read(reply);
        assert_eq!(
            read.claims.states,
            [
                state(1, &["(clear block2)", "(not (clear block1))"], &["The arm holds block1"]),
                state(1, &["(on block1 block2)", "(not (holding block1))"], &[]),
                state(3, &[], &["the arm is free", "All is done"]),
            ]
        );
        assert_eq!(
            (read.claims.goal_reached, read.claims.cost, read.claims.valid),
            (Some(true), Some(3.0), None)
        );
        assert_eq!(read.remarks, ["the reply does not say in a form that is read whether the plan is valid"]);
    }

    #[test]
    fn sentences_claim_unless_they_ask_or_make_conditions() {
        let read = read(
            "If the goal is reached we stop. Is the goal reached?\nAfter the last step the goal is not reached. \
The total cost is 4.5. So this plan is invalid.",
        );
        assert_eq!(
            (read.claims.goal_reached, read.claims.cost, read.claims.valid),
            (Some(false), Some(4.5), Some(false))
        );
        let both =
            super::read("The plan is valid. The goal is achieved.\nNo, wait: the goal is not achieved.");
        assert_eq!((both.claims.goal_reached, both.claims.valid), (None, Some(true)));
        assert!(both.remarks.contains(&"the reply contradicts itself about the goal".to_owned()));
    }

    #[test]
    fn the_last_label_counts_and_the_form_itself_claims_nothing() {
        let last = read("Goal reached: no\nGoal reached: yes\nthe goal is not reached");
        assert_eq!(last.claims.goal_reached, Some(true));
        let echoed =
            read("Goal reached: yes or no\nCost: a number\nPlan valid: yes or no, after a look back");
        assert_eq!(echoed.claims, PlanClaims::default());
        assert!(
            echoed.remarks.contains(&"cannot be read: Cost: a number".to_owned()),
            "{:?}",
            echoed.remarks
        );
    }

    #[test]
    fn json_is_read_in_several_shapes() {
        let listed = read(
            r#"```json
{"Steps": [{"step": 1, "action": "(go red blue)", "state": ["(near blue)", "not (near red)"]}, {"action": "(switch blue)", "state": "(on blue)"}],
 "goal_reached": "yes", "total cost": 2, "Valid": true}
```"#,
        );
        let expected = PlanClaims {
            states: vec![state(1, &["(near blue)", "(not (near red))"], &[]), state(2, &["(on blue)"], &[])],
            goal_reached: Some(true),
            cost: Some(2.0),
            valid: Some(true),
        };
        assert_eq!(listed, Claims { claims: expected, remarks: vec![] });
        let keyed = read(
            r#"{"states": {"after step 2": ["(on blue)"], "step 1": ["we are near blue."]}, "cost": "two"}"#,
        );
        assert_eq!(
            keyed.claims.states,
            [state(1, &[], &["we are near blue"]), state(2, &["(on blue)"], &[])]
        );
        assert_eq!(keyed.claims.cost, None);
        assert_eq!(
            plan_in_json(r#"{"plan": ["(go red blue)", "(switch blue)"]}"#).unwrap(),
            ["(go red blue)", "(switch blue)"]
        );
        assert_eq!(plan_in_json(r#"{"plan": [1, 2]}"#), None);
    }

    #[test]
    fn other_text_than_facts_is_a_sentence_or_ignored() {
        let facts = |text: &str| {
            let mut state = ClaimedState::default();
            read_facts(text, &mut state);
            (state.literals, state.sentences)
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(
            facts("(and (a b) (not (c)))"),
            (vec!["(a b)".to_owned(), "(not (c))".to_owned()], none.clone())
        );
        assert_eq!(facts("; - ;\n{}"), (none.clone(), none.clone()));
        assert_eq!(facts("(not (not (a)))").0, none);
        assert_eq!(facts("(a (b)").0, none);
        assert_eq!(facts("the lamp (red) is on").0, none, "a sentence with a remark is no atom");
        assert_eq!(facts("Ж («é») ∧").0, none);
    }

    #[test]
    fn no_text_breaks_the_reader() {
        for text in [
            "",
            "State:",
            "State after step 99999999999: (a)",
            "```",
            "```json\n{",
            "Step \u{301}1: («",
            "Cost:",
            "Goal:",
            "((((",
            "Step 1",
        ] {
            let read = read(text);
            assert_eq!(read.claims, PlanClaims::default(), "{text}");
        }
    }
}
