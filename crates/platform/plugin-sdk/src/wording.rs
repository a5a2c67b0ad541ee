//! Facts in words, for environments that tell states and for feedback about them: by the suite's sentences and, where it has
//! none, by the names. Every fact gets its sentence, those without arguments and those that do not hold too.

use planforge_contract::Sentences;
use std::collections::BTreeMap;

/// Sentences by lower-case name.
#[derive(Debug, Clone, Default)]
pub struct Wording {
    templates: BTreeMap<String, Sentences>,
}

impl Wording {
    /// The sentences of a suite; names in any case.
    pub fn new(sentences: &BTreeMap<String, Sentences>) -> Self {
        Self { templates: sentences.iter().map(|(k, v)| (k.to_lowercase(), v.clone())).collect() }
    }

    /// These sentences where they have an entry, else the others'.
    #[must_use]
    pub fn or(&self, others: &BTreeMap<String, Sentences>) -> Self {
        let mut all = Self::new(others);
        all.templates.extend(self.templates.clone());
        all
    }

    /// A fact that holds, `parcel at holds for p1 and elm.`, or does not, `parcel at does not hold for p1 and elm.`.
    pub fn fact(&self, predicate: &str, arguments: &[&str], holds: bool) -> String {
        let template = self.templates.get(&predicate.to_lowercase());
        match template {
            Some(t) if holds && !t.yes.is_empty() => return fill(&t.yes, arguments, ""),
            Some(t) if !holds && !t.no.is_empty() => return fill(&t.no, arguments, ""),
            Some(t) if !holds && !t.yes.is_empty() => {
                return format!("Not true: {}", fill(&t.yes, arguments, ""));
            }
            _ => {}
        }
        let verb = if holds { "holds" } else { "does not hold" };
        match arguments {
            [] => format!("{} {verb}.", words(predicate)),
            _ => format!("{} {verb} for {}.", words(predicate), list(arguments)),
        }
    }

    /// As [`Wording::fact`], as a part of a sentence: `the van is in elm`, `it is not true that the van is in elm`.
    pub fn clause(&self, predicate: &str, arguments: &[&str], holds: bool) -> String {
        let template = self.templates.get(&predicate.to_lowercase());
        // A suite need not say what it is for a fact not to hold, and inside a sentence that is said in another form.
        if !holds && template.is_some_and(|t| t.no.is_empty() && !t.yes.is_empty()) {
            return format!("it is not true that {}", clause(&self.fact(predicate, arguments, true)));
        }
        clause(&self.fact(predicate, arguments, holds))
    }

    /// A number: `fuel of truck1 is 5.`
    pub fn value(&self, function: &str, arguments: &[&str], value: f64) -> String {
        match self.templates.get(&function.to_lowercase()) {
            Some(t) if !t.yes.is_empty() => fill(&t.yes, arguments, &value.to_string()),
            _ if arguments.is_empty() => format!("{} is {value}.", words(function)),
            _ => format!("{} of {} is {value}.", words(function), list(arguments)),
        }
    }

    /// A moment of a plan with times. The sentence of [`CLOCK`] has the time of day at which plans begin, and a unit of time is then a
    /// minute: `at 8:00` gives `at 8:15` for 15. Without it: `at 15`.
    pub fn moment(&self, time: &str) -> String {
        let begins = self.templates.get(CLOCK).and_then(|sentence| time_of_day(&sentence.yes));
        let minutes = time.parse::<f64>().ok().filter(|minutes| (0.0..1e9).contains(minutes));
        let Some(((before, begin, after), minutes)) = begins.zip(minutes) else {
            return format!("at {time}");
        };
        // Planners put thousandths between steps.
        let seconds = (minutes * 60.0).round() as u64;
        let (minutes, seconds) = (begin + seconds / 60, seconds % 60);
        let (day, hour, minute) = (minutes / 1440 + 1, minutes / 60 % 24, minutes % 60);
        let seconds = if seconds == 0 { String::new() } else { format!(":{seconds:02}") };
        let day = if day == 1 { String::new() } else { format!(" on day {day}") };
        format!("{before}{hour}:{minute:02}{seconds}{day}{after}")
    }
}

/// The entry of a suite's functions that says when plans begin.
pub const CLOCK: &str = "total-time";

/// The first time of day in a text, in minutes, with what stands before and after it. Hours go from 0 to 23; a time with `am` or `pm` behind
/// it is none.
pub fn time_of_day(text: &str) -> Option<(&str, u64, &str)> {
    text.match_indices(':').find_map(|(colon, _)| {
        let is_digit = |c: char| c.is_ascii_digit();
        let begin = text[..colon].trim_end_matches(is_digit).len();
        let after = &text[colon + 1..];
        let end = colon + 1 + after.find(|c| !is_digit(c)).unwrap_or(after.len());
        let (hour, minute) = (&text[begin..colon], &text[colon + 1..end]);
        let minutes = hour.parse::<u64>().ok()?.checked_mul(60)?.checked_add(minute.parse().ok()?)?;
        let next = text[end..].trim_start().replace('.', "").to_ascii_lowercase();
        let is_of_twelve = ["am", "pm"].iter().any(|half| {
            next.strip_prefix(half).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        });
        (minute.len() == 2 && minutes < 1440 && !is_of_twelve).then_some((
            &text[..begin],
            minutes,
            &text[end..],
        ))
    })
}

/// A fact that a sentence states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    /// The predicate, in lower case.
    pub predicate: String,
    /// Its arguments, in lower case.
    pub arguments: Vec<String>,
    /// True if the sentence states that the fact holds.
    pub holds: bool,
}

impl Wording {
    /// Reads the fact that a sentence states in the suite's words: a template's words with objects in its
    /// slots, whatever the articles, the case and the marks at the ends of words. `None` if no template fits,
    /// or if several state different facts.
    pub fn read_fact(&self, sentence: &str, is_object: &dyn Fn(&str) -> bool) -> Option<StatedFact> {
        let said = tokens(sentence);
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let denied = [&["not", "true"][..], &["it", "is", "not", "true", "that"]];
        let (said, denied) = match denied.into_iter().find_map(|prefix| said.strip_prefix(prefix)) {
            Some(rest) => (rest, true),
            None => (said.as_slice(), false),
        };
        let mut found: Option<StatedFact> = None;
        for (predicate, sentences) in &self.templates {
            for (template, holds) in [(&sentences.yes, true), (&sentences.no, false)] {
                let Some(arguments) = arguments(&tokens(template), said, is_object) else { continue };
                let fact = StatedFact { predicate: predicate.clone(), arguments, holds: holds != denied };
                if found.as_ref().is_some_and(|other| *other != fact) {
                    return None;
                }
                found = Some(fact);
            }
        }
        found
    }
}

/// The words of a sentence that carry its meaning, in lower case.
fn tokens(sentence: &str) -> Vec<String> {
    let bare = |w: &str| w.trim_matches(|c: char| ".,!:;\"'`()".contains(c)).to_lowercase();
    let words = sentence.split_whitespace().map(bare);
    words.filter(|w| !w.is_empty() && !matches!(w.as_str(), "the" | "a" | "an")).collect()
}

/// The words in the slots of a template, if its other words are those of the sentence.
fn arguments(template: &[String], said: &[&str], is_object: &dyn Fn(&str) -> bool) -> Option<Vec<String>> {
    if template.is_empty() || template.len() != said.len() {
        return None;
    }
    let mut slots: BTreeMap<usize, &str> = BTreeMap::new();
    for (wanted, word) in template.iter().zip(said) {
        let Some((before, slot, after)) =
            wanted.split_once('{').and_then(|(b, rest)| rest.split_once('}').map(|(s, a)| (b, s, a)))
        else {
            if wanted != word {
                return None;
            }
            continue;
        };
        let number: usize = slot.parse().ok()?;
        let object = word.strip_prefix(before)?.strip_suffix(after)?;
        if !is_object(object) || *slots.entry(number).or_insert(object) != object {
            return None;
        }
    }
    let all = slots.keys().copied().eq(1..=slots.len());
    all.then(|| slots.into_values().map(str::to_owned).collect())
}

/// `in_van-now` as words.
fn words(name: &str) -> String {
    name.replace(['-', '_'], " ").trim().to_owned()
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    list_with(items, "and")
}

/// As [`list`], with this word before the last item.
pub fn list_with<T: AsRef<str>>(items: &[T], and: &str) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} {and} {last}", most.join(", ")),
    }
}

/// A sentence as part of another.
pub fn clause(sentence: &str) -> String {
    let sentence = sentence.trim().trim_end_matches('.');
    let mut letters = sentence.chars();
    match (letters.next(), letters.clone().next()) {
        // A word of capitals is a name.
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// Puts arguments and value into a template in one pass, so that nothing inserted is read as a slot.
fn fill(template: &str, arguments: &[&str], value: &str) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let Some(close) = from.find('}') else {
            rest = from;
            break;
        };
        let slot = &from[1..close];
        let argument = slot.parse::<usize>().ok().and_then(|n| arguments.get(n.checked_sub(1)?));
        match (argument, slot) {
            (Some(argument), _) => out.push_str(argument),
            (None, "value") => out.push_str(value),
            (None, _) => out.push_str(&from[..=close]),
        }
        rest = &from[close + 1..];
    }
    out.push_str(rest);
    out
}

/// A line of the candidate's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// `domain`, `problem` or `plan`.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// The line without indentation; empty where there is nothing to show.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, yes: &str, no: &str) -> Wording {
        Wording::new(&BTreeMap::from([(name.to_owned(), Sentences { yes: yes.into(), no: no.into() })]))
    }

    #[test]
    fn facts_of_any_arity_are_told_whether_they_hold_or_not() {
        let s = Wording::default();
        assert_eq!(s.fact("van-empty", &[], true), "van empty holds.");
        assert_eq!(s.fact("van-empty", &[], false), "van empty does not hold.");
        assert_eq!(s.fact("van-at", &["elm"], true), "van at holds for elm.");
        assert_eq!(s.fact("link", &["a", "b", "c"], false), "link does not hold for a, b and c.");
        assert_eq!(s.value("fuel", &["t1"], 2.5), "fuel of t1 is 2.5.");
        assert_eq!(s.value("total", &[], 3.0), "total is 3.");
    }

    #[test]
    fn sentences_are_found_in_any_case_and_filled_once() {
        let s = with("Parcel-At", "{1} is in {2}, whatever {3} and {x} say.", "{1} is elsewhere.");
        assert_eq!(s.fact("parcel-at", &["{2}", "elm"], true), "{2} is in elm, whatever {3} and {x} say.");
        assert_eq!(s.fact("PARCEL-AT", &["p1", "elm"], false), "p1 is elsewhere.");
        assert_eq!(with("f", "{value} l in {1}", "").value("f", &["tank"], 4.0), "4 l in tank");
        assert_eq!(with("p", "open { brace", "").fact("p", &[], true), "open { brace");
    }

    #[test]
    fn a_sentence_is_read_back_whatever_its_articles_and_case() {
        let suite = BTreeMap::from([
            ("On".to_owned(), Sentences { yes: "{1} stands on {2}.".into(), no: String::new() }),
            (
                "free".to_owned(),
                Sentences { yes: "The arm is free.".into(), no: "The arm is not free.".into() },
            ),
            ("twin".to_owned(), Sentences { yes: "{1}'s twin is {1}.".into(), no: String::new() }),
            ("half".to_owned(), Sentences { yes: "{2} is half.".into(), no: String::new() }),
            ("x".to_owned(), Sentences { yes: "{1} shines.".into(), no: String::new() }),
            ("y".to_owned(), Sentences { yes: "The {1} shines.".into(), no: String::new() }),
        ]);
        let wording = Wording::new(&suite);
        let told = |sentence: &str| {
            let fact = wording.read_fact(sentence, &|w| ["a1", "b2"].contains(&w))?;
            Some(format!(
                "{}{} {}",
                if fact.holds { "" } else { "not " },
                fact.predicate,
                fact.arguments.join(" ")
            ))
        };
        assert_eq!(told("the A1 stands on the b2").as_deref(), Some("on a1 b2"));
        assert_eq!(told("Not true: a1 stands on b2.").as_deref(), Some("not on a1 b2"));
        assert_eq!(told("Arm is not free!").as_deref(), Some("not free "));
        assert_eq!(told("It is not true that the arm is not free.").as_deref(), Some("free "));
        assert_eq!(told("a1's twin is a1").as_deref(), Some("twin a1"));
        for unread in
            ["a1's twin is b2", "a1 stands on c3", "a1 stands", "", "b2 is half", "a1 shines", "stands on"]
        {
            assert_eq!(told(unread), None, "{unread}");
        }
    }

    #[test]
    fn a_fact_is_part_of_a_sentence() {
        let s = with("at", "The van is at {1}.", "");
        assert_eq!(s.clause("at", &["elm"], true), "the van is at elm");
        assert_eq!(s.clause("at", &["elm"], false), "it is not true that the van is at elm");
        assert_eq!(s.clause("IN", &["A1", "b"], false), "IN does not hold for A1 and b");
        assert_eq!(with("at", "A1 is at {1}.", "").clause("at", &["x"], true), "A1 is at x");
    }

    #[test]
    fn what_a_suite_does_not_say_is_said_all_the_same() {
        let s = with("at", "{1} is at {2}.", "");
        assert_eq!(s.fact("at", &["van", "elm"], false), "Not true: van is at elm.");
        assert_eq!(with("at", "", "").fact("at", &["van"], true), "at holds for van.");
        let own = with("at", "{1} stands at {2}.", "");
        let suite = BTreeMap::from([
            ("AT".to_owned(), Sentences { yes: "no".into(), no: String::new() }),
            ("full".to_owned(), Sentences { yes: "{1} is full.".into(), no: String::new() }),
        ]);
        let both = own.or(&suite);
        assert_eq!(both.fact("at", &["van", "elm"], true), "van stands at elm.");
        assert_eq!(both.fact("full", &["van"], true), "van is full.");
    }

    #[test]
    fn moments_are_told_by_the_clock_where_it_is_known_when_plans_begin() {
        let wording = with(CLOCK, "at 8:00", "");
        for (time, told) in [
            ("0", "at 8:00"),
            ("40", "at 8:40"),
            ("40.001", "at 8:40"),
            ("62.5", "at 9:02:30"),
            ("960", "at 0:00 on day 2"),
            ("2405.5", "at 0:05:30 on day 3"),
            ("never", "at never"),
        ] {
            assert_eq!(wording.moment(time), told);
        }
        assert_eq!(Wording::default().moment("40"), "at 40");
        assert_eq!(with(CLOCK, "about 12:30 o'clock", "").moment("31"), "about 13:01 o'clock");
        assert_eq!(with(CLOCK, "at 7:00 amid fog", "").moment("1"), "at 7:01 amid fog");
        for wrong in [
            "at eight",
            "at 8:0",
            "at 25:00",
            "at :30",
            "8:",
            "at 11:50 pm",
            "8:00 a.m.",
            "99999999999999999999:00",
        ] {
            assert_eq!(time_of_day(wrong), None, "{wrong}");
        }
    }
}
