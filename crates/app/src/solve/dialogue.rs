//! The points that a text leaves open: found by comparing behaviour, asked about where the plan depends on them, and kept as tests.

use super::behaviour::{
    BehaviourTest, Comparison, Difference, Found, Model, Translation, compare, compare_changed,
    shortest_differences,
};
use super::phrases::Phrases;
use super::questions::{
    Answer, MOST_STEPS, OpenPoint, PointStatus, choice, fits, headline, is_yes, question_of, said, statements,
};
use crate::context::Context;
use crate::question::Statement;
use planforge_planning::equivalence::joint::follow::Standing;
use planforge_planning::walk::NamedStep;
use planforge_plugin_common::reading::{
    GapKind, Part, Point as CriticPoint, PointChange, apply, apply_after, rule_of_other_cases, sources,
};
use planforge_plugin_common::telling::fill;
use planforge_record::sha256_hex;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// One way in which the text was read.
pub(super) struct Reading {
    pub(super) model: Model,
    /// Points that the critic of this reading names; `None` if it gave no answer.
    pub(super) points: Option<Vec<CriticPoint>>,
}

impl Reading {
    /// True if every action is marked as assumed: no sentence says what can be done.
    pub(super) fn invents_actions(&self) -> bool {
        let parts = sources(&self.model.domain_text, &self.model.problem_text);
        let mut actions = parts.iter().filter(|part| part.part == Part::Action).peekable();
        actions.peek().is_some() && actions.all(|action| action.assumed)
    }
}

/// Settings of a dialogue.
pub(super) struct Settings<'s> {
    /// Most questions.
    pub(super) questions: usize,
    /// False: nobody is asked, and everything open is assumed.
    pub(super) ask: bool,
    /// Points with the answers that were given before.
    pub(super) answers: &'s [OpenPoint],
    /// The words of questions.
    pub(super) phrases: &'static Phrases,
}

/// The end of a dialogue.
pub(super) struct Dialogue {
    /// The model that the plan is for.
    pub(super) model: Model,
    /// The readings that allow the same as the one that it comes from, it included.
    pub(super) agreeing: Vec<usize>,
    /// Further readings, which divide the actions otherwise: the plan can be followed in them.
    pub(super) following: usize,
    /// The agreement is known for sequences of at most so many steps; `None` if it is proved.
    pub(super) agreed_up_to: Option<u32>,
    pub(super) points: Vec<OpenPoint>,
    /// The plan for the model.
    pub(super) found: Found,
    /// Words of the author that no choice expresses: they need new readings.
    pub(super) statements: Vec<String>,
    /// What a person should know about the dialogue, a sentence each.
    pub(super) remarks: Vec<String>,
    /// Points that could not be compared.
    pub(super) not_looked_at: usize,
    /// Points whose other side has a plan, with that side, if the followed ones have none.
    pub(super) solvable_if: Vec<OpenPoint>,
    /// Answers that the model does not follow.
    pub(super) unfollowed: Vec<Unfollowed>,
    /// Answers to points that are not among these: they stay in the sheet as tests.
    pub(super) kept: Vec<OpenPoint>,
    /// Steps of the plan, from 0, that are possible because of an answer, with the question and the answer.
    pub(super) allowed_by: Vec<(usize, String)>,
}

/// An answer that the model does not follow.
pub(super) struct Unfollowed {
    /// The point, which follows its answer.
    pub(super) given: OpenPoint,
    /// The id of the point whose answer excludes it; `None` if no reading allows it.
    pub(super) excluded_by: Option<String>,
}

/// The two models of a choice that was answered.
struct Sides {
    /// The id of its point.
    id: String,
    /// The model before the answer.
    before: Model,
    rival: Model,
    /// True if the model was kept.
    keeps: bool,
}

/// Another model that may be meant.
struct Rival {
    model: Model,
    /// From names of the main model to those of this one.
    translation: Translation,
    reading: usize,
    origin: Origin,
    /// The point of a critic, or of a line that no sentence states, in words.
    told: Option<CriticPoint>,
    difference: Difference,
    /// Readings that are like it, or whose critics name it; none if it follows from a point about something else.
    supporters: BTreeSet<usize>,
    /// A plan that is valid in both, where no other is cheaper in either, once it was searched for.
    shared_plan: OnceCell<Option<Vec<String>>>,
}

/// How a rival is made from its reading.
#[derive(Clone, PartialEq)]
enum Origin {
    /// It is the reading itself.
    Reading,
    /// By the change of a critic.
    Change(Box<PointChange>),
    /// Without a line that no sentence states.
    LineLeftOut,
}

/// Goes through all open points of some readings once. `readings` is not empty.
pub(super) fn talk_once(
    context: &Context,
    readings: &[Reading],
    classes: &Classes,
    settings: &Settings<'_>,
) -> Dialogue {
    let main = classes.largest();
    let mut talk = Talk {
        context,
        readings,
        classes,
        settings,
        main,
        model: readings[main].model.clone(),
        rivals: Vec::new(),
        points: Vec::new(),
        tests: Vec::new(),
        statements: Vec::new(),
        remarks: Vec::new(),
        not_looked_at: 0,
        asked: 0,
        divided: BTreeSet::new(),
        sides: Vec::new(),
        answered: settings.answers.to_vec(),
    };
    talk.collect();
    talk.follow_quotes();
    while let Some(at) = talk.next() {
        if !talk.ask(at) {
            break;
        }
    }
    talk.end()
}

/// A point that follows its answer; `None` if that is not a choice.
fn answered(given: &OpenPoint, phrases: &Phrases) -> Option<OpenPoint> {
    match given.read_answer(phrases) {
        Answer::Choice(choice) => Some(given.clone().with_choice(choice)),
        Answer::Open(_) | Answer::Words(_) => None,
    }
}

/// The model without one of the lines that no sentence states (`; assumed`), each with the line.
fn without_assumed_lines(model: &Model, phrases: &Phrases) -> Vec<(String, Model)> {
    let mut models = Vec::new();
    let texts = [&model.domain_text, &model.problem_text];
    for (at, text) in texts.iter().enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        let mut action = None;
        for (number, line) in lines.iter().enumerate() {
            let (code, comment) = line.split_once(';').unwrap_or((line, ""));
            if let Some((_, rest)) = code.split_once("(:action ") {
                action = rest.split_whitespace().next();
            }
            let code = code.trim();
            let is_whole = code.starts_with('(') && code.matches('(').count() == code.matches(')').count();
            if !is_whole || !comment.contains("assumed") {
                continue;
            }
            let mut kept = lines.clone();
            kept.remove(number);
            let changed = kept.join("\n");
            let made = match at {
                0 => Model::read(&changed, &model.problem_text),
                _ => Model::read(&model.domain_text, &changed),
            };
            let place = action.filter(|_| at == 0).map(|action| fill(phrases.of_action, &[&action]));
            let place = place.unwrap_or_default();
            // A declaration that is used cannot be left out.
            models.extend(made.ok().map(|made| (format!("{code}{place}"), made)));
        }
    }
    models
}

/// Most steps of a difference that a critic names.
const MOST_NAMED_STEPS: usize = 20;

/// Readings in classes of the same behaviour.
pub(super) struct Classes {
    /// By reading, the first reading of its class.
    first: Vec<usize>,
    /// By reading, the length up to which it was compared with the first of its class; `None`: proved.
    bounds: Vec<Option<u32>>,
}

impl Classes {
    pub(super) fn of(context: &Context, readings: &[Reading]) -> Self {
        let (mut first, mut bounds): (Vec<usize>, Vec<Option<u32>>) = (Vec::new(), Vec::new());
        for (number, reading) in readings.iter().enumerate() {
            let mut class = (number, None);
            for other in (0..number).filter(|other| first[*other] == *other) {
                match compare(&readings[other].model, &reading.model, context).0 {
                    Comparison::Same => class = (other, None),
                    Comparison::SameUpTo(steps) => class = (other, Some(steps)),
                    Comparison::Different(..) | Comparison::Open(_) => continue,
                }
                break;
            }
            first.push(class.0);
            bounds.push(class.1);
        }
        Self { first, bounds }
    }

    fn members(&self, of: usize) -> Vec<usize> {
        (0..self.first.len()).filter(|reading| self.first[*reading] == self.first[of]).collect()
    }

    /// The first reading of the largest class; of equal ones the first.
    fn largest(&self) -> usize {
        let size = |reading: &usize| self.members(*reading).len();
        let firsts = (0..self.first.len()).filter(|reading| self.first[*reading] == *reading);
        firsts.min_by_key(|reading| std::cmp::Reverse(size(reading))).unwrap_or(0)
    }
}

struct Talk<'t> {
    context: &'t Context,
    readings: &'t [Reading],
    classes: &'t Classes,
    settings: &'t Settings<'t>,
    /// The reading that the model comes from.
    main: usize,
    model: Model,
    rivals: Vec<Rival>,
    points: Vec<OpenPoint>,
    /// What answers decided.
    tests: Vec<(BehaviourTest, bool)>,
    statements: Vec<String>,
    remarks: Vec<String>,
    /// Points that could not be compared.
    not_looked_at: usize,
    asked: usize,
    /// Readings that divide the actions otherwise, and in which the plan of the main one can be followed.
    divided: BTreeSet<usize>,
    /// The choices that were answered.
    sides: Vec<Sides>,
    /// The points that were answered before, with their steps in the names of the model.
    answered: Vec<OpenPoint>,
}

impl Talk<'_> {
    /// The rivals of the main model: the other classes of readings, and what the critics of its class name.
    fn collect(&mut self) {
        let classes = self.classes;
        let members = classes.members(self.main);
        let main = self.main;
        for reading in (0..self.readings.len()).filter(|r| classes.first[*r] == *r && *r != main) {
            let model = self.readings[reading].model.clone();
            let supporters = classes.members(reading).into_iter().collect();
            self.add_rival(model, reading, Origin::Reading, None, supporters);
        }
        for &reading in &members {
            self.add_points(reading);
        }
        self.add_assumed_lines();
    }

    /// The rivals of the model without one of the lines that no sentence states. A line with a point is decided already.
    fn add_assumed_lines(&mut self) {
        let (main, phrases) = (self.main, self.settings.phrases);
        for (line, changed) in without_assumed_lines(&self.model, phrases) {
            let [question, here, otherwise] = phrases.unstated.map(|text| fill(text, &[&line]));
            if self.points.iter().any(|point| point.question == question) {
                continue;
            }
            let told = CriticPoint {
                kind: GapKind::Other,
                question,
                here,
                otherwise,
                decided_by: None,
                steps: Vec::new(),
                change: PointChange::default(),
            };
            self.add_rival(changed, main, Origin::LineLeftOut, Some(told), BTreeSet::from([main]));
        }
    }

    /// The rivals that the critic of a reading names.
    fn add_points(&mut self, reading: usize) {
        let readings = self.readings;
        let Model { domain_text, problem_text, .. } = &readings[reading].model;
        for point in readings[reading].points.iter().flatten() {
            let made = |change: &PointChange| {
                apply(domain_text, problem_text, change)
                    .and_then(|(domain, problem)| Model::read(&domain, &problem))
            };
            let supporters = BTreeSet::from([reading]);
            match made(&point.change) {
                Ok(model) => {
                    let origin = Origin::Change(Box::new(point.change.clone()));
                    self.add_rival(model, reading, origin, Some(point.clone()), supporters);
                }
                Err(why) => self.leave_out(&point.question, &why),
            }
            // The critic doubts a rule for a part of the cases. That of the other cases may hold for these, too, which nobody says.
            if let Some(change) = rule_of_other_cases(domain_text, point)
                && let Ok(model) = made(&change)
            {
                self.add_rival(model, reading, Origin::Change(Box::new(change)), None, BTreeSet::new());
            }
        }
    }

    /// True if a reading behaves as the main one, so that a change of it is the only difference of the result.
    fn is_like_main(&self, reading: usize) -> bool {
        self.classes.first[reading] == self.classes.first[self.main]
    }

    /// A point that was not looked at.
    fn leave_out(&mut self, what: &str, why: &str) {
        self.not_looked_at += 1;
        self.remarks.push(format!("not looked at: {what} ({why})"));
    }

    /// Adds a rival if it behaves differently; one that differs as a known one does supports that.
    fn add_rival(
        &mut self,
        model: Model,
        reading: usize,
        origin: Origin,
        told: Option<CriticPoint>,
        supporters: BTreeSet<usize>,
    ) {
        let is_read = origin == Origin::Reading;
        let compare = if !is_read && reading == self.main { compare_changed } else { compare };
        let (comparison, translation) = compare(&self.model, &model, self.context);
        let difference = match comparison {
            Comparison::Different(shortest, other) => {
                let named =
                    told.as_ref().and_then(|told| self.named_difference(&told.steps, &model, &translation));
                match (named, self.is_like_main(reading)) {
                    (named, true) => {
                        let found = named.into_iter().chain([shortest]).chain(other);
                        self.of_the_text(found.collect(), &model, &translation)
                    }
                    // The change is one of several differences: other steps may show another one than the words mean.
                    (Some(named), false) => named,
                    (None, false) if is_read => {
                        self.of_the_text([shortest].into_iter().chain(other).collect(), &model, &translation)
                    }
                    (None, false) => {
                        if let Some(told) = told {
                            let why = "it belongs to a reading that the answers exclude";
                            self.leave_out(&told.question, why);
                        }
                        return;
                    }
                }
            }
            Comparison::Same | Comparison::SameUpTo(_) => return,
            Comparison::Open(why) => {
                let what = told.map_or("the difference of two readings".to_owned(), |told| told.question);
                self.leave_out(&what, &why);
                return;
            }
        };
        if is_read && self.is_granularity(&model, &difference) {
            self.divided.extend(supporters);
            return;
        }
        let is_told_by = |known: &Rival| {
            let test = known.difference.test.to_second(&translation);
            let holds = test.and_then(|test| test.holds(&model, self.context));
            holds.is_some_and(|holds| holds != known.difference.holds_in_first)
        };
        if let Some(at) = self.rivals.iter().position(is_told_by) {
            let known = &mut self.rivals[at];
            known.supporters.extend(supporters.iter().copied());
            if known.told.is_none() {
                known.told.clone_from(&told);
            }
            // A reading may differ in more than this: after an answer it is compared again.
            if !is_read {
                return;
            }
        }
        self.rivals.push(Rival {
            model,
            translation,
            reading,
            origin,
            told,
            difference,
            supporters,
            shared_plan: OnceCell::new(),
        });
    }

    /// The difference that the steps of a critic show, if execution says that they show one. It fits the words of the question better than
    /// the shortest difference does.
    fn named_difference(
        &self,
        steps: &[String],
        model: &Model,
        translation: &Translation,
    ) -> Option<Difference> {
        if steps.is_empty() || steps.len() > MOST_NAMED_STEPS {
            return None;
        }
        let steps: Vec<String> =
            steps.iter().map(|step| Some(NamedStep::parse(step)?.to_string())).collect::<Option<_>>()?;
        let of_this = translation.to_second(&steps).map(|other| [steps.clone(), other]);
        let of_other = translation.to_first(&steps).map(|own| [own, steps.clone()]);
        of_this.into_iter().chain(of_other).find_map(|[own, other]| {
            let states = |states| {
                let holds = |steps: &[String], model: &Model| {
                    BehaviourTest { steps: steps.to_vec(), states }.holds(model, self.context)
                };
                let (here, there) = (holds(&own, &self.model)?, holds(&other, model)?);
                (here != there).then_some((states, here))
            };
            let (states, holds_in_first) = states(Statement::Possible).or_else(|| states(Statement::Done))?;
            let test = BehaviourTest { steps: own.clone(), states };
            let own_steps = if holds_in_first { own } else { other };
            Some(Difference { test, holds_in_first, conditions: Vec::new(), own_steps })
        })
    }

    /// The first of some differences whose steps name only objects that a sentence mentions, if there is one: the author of the text does not
    /// know others. `differences` is not empty.
    fn of_the_text(
        &self,
        mut differences: Vec<Difference>,
        model: &Model,
        translation: &Translation,
    ) -> Difference {
        let mut known = self.model.objects_of_sentences();
        known.extend(model.objects_of_sentences());
        let is_known = |difference: &Difference| {
            let mut steps = difference.test.steps.iter().filter_map(|step| NamedStep::parse(step));
            steps.all(|step| step.args.iter().all(|arg| known.contains(&arg.to_lowercase())))
        };
        // Lines without sentences say nothing about objects.
        if let Some(at) = differences.iter().position(|found| known.is_empty() || is_known(found)) {
            return differences.swap_remove(at);
        }
        // Under a renaming those of both sides are there already, and equal names mean nothing.
        let others = match translation.is_identity() {
            true => shortest_differences(&self.model, model, self.context),
            false => Vec::new(),
        };
        others.into_iter().find(is_known).unwrap_or_else(|| differences.swap_remove(0))
    }

    /// True if the difference to another reading can be followed there: it divides the actions otherwise.
    fn is_granularity(&self, other: &Model, difference: &Difference) -> bool {
        let (allowing, refusing) =
            if difference.holds_in_first { (&self.model, other) } else { (other, &self.model) };
        let followed = refusing.follow(&difference.own_steps, allowing, Standing::Strict, self.context);
        followed.is_some_and(|followed| match difference.test.states {
            Statement::Possible => followed.executed,
            Statement::Done => followed.goal,
        })
    }

    /// Makes the changes for which a critic quotes a sentence of the text.
    fn follow_quotes(&mut self) {
        let is_decided = |rival: &Rival| rival.told.as_ref().is_some_and(|told| told.decided_by.is_some());
        while let Some(at) = self.rivals.iter().position(is_decided) {
            let rival = self.rivals.remove(at);
            // A correction that leaves no plan is one more mistake.
            if matches!(rival.model.plan(self.context), Found::Unsolvable(_))
                && self.model.plan(self.context).steps().is_some()
            {
                continue;
            }
            let mut point = self.point(&rival, PointStatus::DecidedByText);
            match self.given(&point.id).map(|given| self.read(&given.answer, &point)) {
                Some(Answer::Choice(choice)) if choice != point.follows => {
                    let quote = rival.told.as_ref().and_then(|told| told.decided_by.as_deref());
                    self.remarks.push(format!(
                        "the answer counts against a sentence of the text: {} The text says \"{}\"",
                        said(&point, choice),
                        quote.unwrap_or_default()
                    ));
                    let point = point.with_choice(choice);
                    self.tests.push((point.test.clone(), point.holds));
                    self.points.push(point);
                }
                Some(Answer::Words(words)) if !words.is_empty() => {
                    point.answer = words.clone();
                    point.status = PointStatus::Answered;
                    self.state(point, &words);
                    return;
                }
                _ => {
                    self.points.push(point);
                    self.take(rival);
                }
            }
        }
    }

    /// Keeps the author's own words about a point as a statement, with the answers to the other points.
    fn state(&mut self, point: OpenPoint, words: &str) {
        let mut known = self.points.clone();
        let is_new =
            |given: &&OpenPoint| given.id != point.id && !self.points.iter().any(|p| p.id == given.id);
        known.extend(self.settings.answers.iter().filter(is_new).cloned());
        self.statements.extend(statements(&known, self.settings.phrases));
        self.statements.push(format!("{} {words}", point.question));
        self.points.push(point);
    }

    fn read(&self, answer: &str, point: &OpenPoint) -> Answer {
        Answer::read(answer, &point.choices, self.settings.phrases)
    }

    /// The answer to a point that was given before.
    fn given(&self, id: &str) -> Option<&OpenPoint> {
        self.settings.answers.iter().find(|given| given.id == id && !given.answer.trim().is_empty())
    }

    /// An answer to another point that decides the rival, too: its steps tell the two models apart. True: the rival is meant.
    fn implied(&self, rival: &Rival) -> Option<(OpenPoint, bool)> {
        let is_open = |given: &&OpenPoint| !self.points.iter().any(|point| point.id == given.id);
        self.answered.iter().filter(is_open).find_map(|given| {
            let answered = answered(given, self.settings.phrases)?;
            let here = given.test.holds_if_named(&self.model, self.context)?;
            let test = given.test.to_second(&rival.translation)?;
            let there = test.holds_if_named(&rival.model, self.context)?;
            let is_meant = there == answered.holds;
            (here != there).then_some((answered, is_meant))
        })
    }

    /// True if an answer to the rival's point decides it.
    fn is_given(&self, rival: &Rival) -> bool {
        if self.implied(rival).is_some() {
            return true;
        }
        let point = self.point(rival, PointStatus::Open);
        let answer = self.given(&point.id).map(|given| self.read(&given.answer, &point));
        matches!(answer, Some(Answer::Choice(_) | Answer::Words(_)))
    }

    /// The rival to ask about next: the one that splits the readings and critics best, then the shortest difference.
    fn next(&self) -> Option<usize> {
        if !self.statements.is_empty() {
            return None;
        }
        // A difference that shows late, and that no critic has put into words, is no question for a person.
        let is_short =
            |rival: &Rival| rival.told.is_some() || rival.difference.test.steps.len() <= MOST_STEPS;
        let is_doubtful =
            |rival: &Rival| rival.origin != Origin::LineLeftOut && is_short(rival) || self.is_given(rival);
        let mut open: Vec<usize> =
            (0..self.rivals.len()).filter(|at| is_doubtful(&self.rivals[*at])).collect();
        open.sort_by_key(|at| {
            let rival = &self.rivals[*at];
            (std::cmp::Reverse(rival.supporters.len()), rival.difference.test.steps.len(), *at)
        });
        open.into_iter().find(|at| {
            let rival = &self.rivals[*at];
            !self.is_known(rival) && (self.is_given(rival) || !self.is_either_way(rival))
        })
    }

    /// True if the rival has a point already: it was assumed, or waits.
    fn is_known(&self, rival: &Rival) -> bool {
        self.points.iter().any(|point| point.test == rival.difference.test)
    }

    /// True if one plan is valid in both, and no other is cheaper in either.
    fn is_either_way(&self, rival: &Rival) -> bool {
        self.shared_plan(rival).is_some()
    }

    fn shared_plan<'r>(&self, rival: &'r Rival) -> Option<&'r Vec<String>> {
        rival.shared_plan.get_or_init(|| self.search_shared_plan(rival)).as_ref()
    }

    fn search_shared_plan(&self, rival: &Rival) -> Option<Vec<String>> {
        let (own, other) = (self.model.plan(self.context), rival.model.plan(self.context));
        let ((own, own_cost), (other, other_cost)) = (own.steps()?, other.steps()?);
        let is_as_good = |[own, other]: &[Vec<String>; 2]| {
            self.model.cost_of(own, self.context).is_some_and(|cost| cost <= own_cost)
                && rival.model.cost_of(other, self.context).is_some_and(|cost| cost <= other_cost)
        };
        let translated = [
            rival.translation.to_second(own).map(|other| [own.to_vec(), other]),
            rival.translation.to_first(other).map(|own| [own, other.to_vec()]),
        ];
        let found = translated.into_iter().flatten().find(is_as_good);
        let common =
            || self.model.common_plan(&rival.model, &rival.translation, self.context).filter(is_as_good);
        found.or_else(common).map(|[own, _]| own)
    }

    /// The point of a rival. The plan follows the rival only if the text decides for it.
    fn point(&self, rival: &Rival, status: PointStatus) -> OpenPoint {
        let Difference { test, holds_in_first, conditions, .. } = &rival.difference;
        // The model puts the difference into words; what does not fit its steps is not shown.
        let told = rival.told.as_ref().filter(|told| fits(told, &test.steps, &self.model));
        let (question, own, other) = match told {
            Some(told) => (told.question.clone(), told.here.clone(), told.otherwise.clone()),
            None => (headline(test, self.settings.phrases), String::new(), String::new()),
        };
        let sides = [(own, *holds_in_first), (other, !holds_in_first)];
        let mut choices: Vec<(usize, String)> = sides
            .iter()
            .enumerate()
            .map(|(side, (clause, holds))| {
                (side, choice(clause, *holds, test, conditions, self.settings.phrases))
            })
            .collect();
        choices.sort_by_key(|(side, text)| (!is_yes(text), *side));
        let followed = usize::from(status == PointStatus::DecidedByText);
        let follows = choices.iter().position(|(side, _)| *side == followed).map_or(1, |at| at + 1);
        let choices: Vec<String> = choices.into_iter().map(|(_, text)| text).collect();
        // The steps change with the answers to other points.
        let named = match told {
            Some(told) => format!("{question}\n{}\n{}", told.here, told.otherwise),
            None => format!("{question}\n{}", choices.join("\n")),
        };
        let id = sha256_hex(named.as_bytes());
        OpenPoint {
            id: id.get(..8).unwrap_or(&id).to_owned(),
            kind: rival.told.as_ref().map_or("readings".to_owned(), |told| told.kind.to_string()),
            question,
            choices,
            status,
            answer: String::new(),
            follows,
            test: test.clone(),
            holds: sides[followed].1,
        }
    }

    /// Asks about a rival. False if the dialogue ends here.
    fn ask(&mut self, at: usize) -> bool {
        let mut point = self.point(&self.rivals[at], PointStatus::Open);
        let given = self.given(&point.id);
        if given.is_none()
            && let Some((given, is_meant)) = self.implied(&self.rivals[at])
        {
            self.decide(at, given, !is_meant);
            return true;
        }
        let mut answer = given.map(|given| given.answer.clone()).unwrap_or_default();
        if answer.trim().is_empty() {
            if self.asked >= self.settings.questions || !self.settings.ask {
                point.status = PointStatus::Assumed;
                self.points.push(point);
                return true;
            }
            self.asked += 1;
            match self.context.ask(question_of(&point, self.settings.phrases)) {
                Some(words) => answer = words,
                None => {
                    self.points.push(point);
                    return true;
                }
            }
        }
        match self.read(&answer, &point) {
            Answer::Choice(choice) => {
                let keeps = choice == point.follows;
                self.decide(at, point.with_choice(choice), keeps);
            }
            Answer::Open(word) => {
                point.answer = word.to_owned();
                point.status = PointStatus::Assumed;
                self.points.push(point);
            }
            Answer::Words(words) => {
                point.answer = words.clone();
                point.status = PointStatus::Answered;
                self.state(point, &words);
                return false;
            }
        }
        true
    }

    /// Follows an answer that decides a rival. `keeps`: the model is meant, not the rival.
    fn decide(&mut self, at: usize, answered: OpenPoint, keeps: bool) {
        let rival = self.rivals.remove(at);
        self.sides.push(Sides {
            id: answered.id.clone(),
            before: self.model.clone(),
            rival: rival.model.clone(),
            keeps,
        });
        self.tests.push((answered.test.clone(), answered.holds));
        self.points.push(answered);
        if !keeps {
            self.take(rival);
        }
        self.drop_refuted();
    }

    /// The rival becomes the model. The changes of other rivals are made again on it.
    fn take(&mut self, rival: Rival) {
        let base = self.readings[rival.reading].model.clone();
        if rival.reading != self.main {
            let translated = |test: &BehaviourTest| rival.translation.to_second(&test.steps);
            // An answer without such steps in the other reading excludes none of its rivals.
            self.tests.retain_mut(|(test, _)| match translated(test) {
                Some(steps) => {
                    test.steps = steps;
                    true
                }
                None => false,
            });
            for point in self.points.iter_mut().chain(&mut self.answered) {
                if let Some(steps) = translated(&point.test) {
                    point.test.steps = steps;
                }
            }
        }
        let has_changed = self.main != rival.reading;
        self.main = rival.reading;
        self.model = rival.model;
        if has_changed {
            self.add_points(rival.reading);
        }
        for old in std::mem::take(&mut self.rivals) {
            let model = match &old.origin {
                // It was made of the model before, and is made again below.
                Origin::LineLeftOut => continue,
                Origin::Change(change) if old.reading == self.main => {
                    let before = (base.domain_text.as_str(), base.problem_text.as_str());
                    let now = (self.model.domain_text.as_str(), self.model.problem_text.as_str());
                    let made = apply_after(before, now, change)
                        .and_then(|(domain, problem)| Model::read(&domain, &problem));
                    match made {
                        Ok(model) => model,
                        Err(why) => {
                            if let Some(told) = &old.told {
                                self.remarks.push(format!(
                                    "not looked at after the answers: {} ({why})",
                                    told.question
                                ));
                            }
                            continue;
                        }
                    }
                }
                Origin::Change(_) | Origin::Reading => old.model,
            };
            self.add_rival(model, old.reading, old.origin, old.told, old.supporters);
        }
        self.add_assumed_lines();
    }

    /// Removes the rivals that an answer excludes.
    fn drop_refuted(&mut self) {
        let (context, tests) = (self.context, &self.tests);
        self.rivals.retain(|rival| {
            tests.iter().all(|(test, holds)| {
                let test = test.to_second(&rival.translation);
                test.and_then(|test| test.holds(&rival.model, context)).is_none_or(|found| found == *holds)
            })
        });
    }

    /// Answers that no point has any more, and that the model does not follow.
    fn unfollowed(&mut self) -> Vec<Unfollowed> {
        let mut unfollowed = Vec::new();
        for given in &self.answered {
            let is_point = self.points.iter().any(|point| point.id == given.id);
            if is_point {
                continue;
            }
            let Some(answered) = answered(given, self.settings.phrases) else {
                if matches!(given.read_answer(self.settings.phrases), Answer::Words(words) if !words.is_empty())
                {
                    self.remarks.push(format!("an answer fits no open point any more: {}", given.question));
                }
                continue;
            };
            let fits = |model: &Model| {
                given.test.holds_if_named(model, self.context).map(|holds| holds == answered.holds)
            };
            match fits(&self.model) {
                Some(true) => {}
                Some(false) => {
                    let excludes = |sides: &&Sides| {
                        fits(if sides.keeps { &sides.rival } else { &sides.before }) == Some(true)
                    };
                    let last = self.sides.iter().rev().find(excludes);
                    let excluded_by = last.map(|sides| sides.id.clone());
                    unfollowed.push(Unfollowed { given: answered, excluded_by });
                }
                None => {
                    self.remarks.push(format!("an answer fits no open point any more: {}", given.question));
                }
            }
        }
        unfollowed
    }

    /// Sorts what is left: assumptions, and points that make no difference to the plan.
    fn end(mut self) -> Dialogue {
        let is_waiting = self.points.iter().any(|point| point.status == PointStatus::Open);
        for at in 0..self.rivals.len() {
            let rival = &self.rivals[at];
            if self.is_known(rival) {
                continue;
            }
            let status = match self.is_either_way(rival) {
                // A line that no plan depends on is among the parts that no sentence states.
                true if rival.origin == Origin::LineLeftOut => continue,
                true => PointStatus::EitherWay,
                false => PointStatus::Assumed,
            };
            let point = self.point(rival, status);
            self.points.push(point);
        }
        let unfollowed = if self.statements.is_empty() { self.unfollowed() } else { Vec::new() };
        let found = if is_waiting { Found::Open } else { self.best_plan() };
        let allowed_by = found.steps().map(|(steps, _)| self.allowed_by(steps)).unwrap_or_default();
        let agreeing = self.classes.members(self.main);
        let agreed_up_to = agreeing.iter().filter_map(|reading| self.classes.bounds[*reading]).min();
        let following = match found.steps() {
            Some((steps, _)) => {
                self.divided.iter().filter(|reading| self.is_followed(**reading, steps)).count()
            }
            None => 0,
        };
        Dialogue {
            agreeing,
            following,
            agreed_up_to,
            found,
            model: self.model,
            points: self.points,
            statements: self.statements,
            remarks: self.remarks,
            not_looked_at: self.not_looked_at,
            solvable_if: Vec::new(),
            unfollowed,
            kept: Vec::new(),
            allowed_by,
        }
    }

    /// Steps of the plan that the other side of an answer refuses, and its own does not.
    fn allowed_by(&self, steps: &[String]) -> Vec<(usize, String)> {
        let refused = |model: &Model| {
            let report = model.has_steps(steps).then(|| model.execute(steps, self.context)).flatten()?;
            Some(report.failing_step.map_or(usize::MAX, |step| step.index))
        };
        let of = |sides: &Sides| {
            let point = self.points.iter().find(|point| point.id == sides.id)?;
            let (own, other) = match sides.keeps {
                true => (&sides.before, &sides.rival),
                false => (&sides.rival, &sides.before),
            };
            let at = refused(other).filter(|at| *at < steps.len())?;
            (refused(own)? > at).then(|| (at, said(point, point.follows)))
        };
        self.sides.iter().filter_map(of).collect()
    }

    fn is_followed(&self, reading: usize, steps: &[String]) -> bool {
        let followed = self.readings[reading].model.follow(steps, &self.model, Standing::Loose, self.context);
        followed.is_some_and(|followed| followed.goal)
    }

    /// Of the plans that are as good as the best one, the one that is valid in most rivals.
    fn best_plan(&self) -> Found {
        let own = self.model.plan(self.context).clone();
        if own.steps().is_none() {
            return own;
        }
        let mut best = (self.valid_in(&own), own.clone());
        for steps in self.rivals.iter().filter_map(|rival| self.shared_plan(rival)) {
            let steps = steps.clone();
            let found = match &own {
                Found::Plan { cost, optimal, .. } => Found::Plan { steps, cost: *cost, optimal: *optimal },
                Found::Unsolvable(_) | Found::Open => continue,
            };
            let valid = self.valid_in(&found);
            if valid > best.0 {
                best = (valid, found);
            }
        }
        best.1
    }

    fn valid_in(&self, found: &Found) -> usize {
        let Some((steps, _)) = found.steps() else { return 0 };
        let is_valid = |rival: &&Rival| {
            let steps = rival.translation.to_second(steps);
            steps.is_some_and(|steps| rival.model.cost_of(&steps, self.context).is_some())
        };
        self.rivals.iter().filter(is_valid).count()
    }
}
