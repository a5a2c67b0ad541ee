//! The Gantt chart of a plan with times, as text and as SVG: a row for each step, a bar from its start to its end, and the timed literals.
//! The same plan gives the same bytes.

use crate::chart::escaped;
use planforge_pddl::Number;
use planforge_planning::{Schedule, ScheduledStep};
use std::fmt::Write as _;

/// Most rows; later steps are counted.
const MOST_ROWS: usize = 2000;
/// Characters of a bar's column in the text.
const COLUMNS: usize = 60;
/// Most characters of a step's text.
const MOST_CHARACTERS: usize = 40;

/// The end of the chart: of the last step, or the last timed literal within reach of it.
fn end_of(schedule: &Schedule) -> f64 {
    let end = schedule.makespan.to_f64();
    let literals =
        schedule.timed.iter().map(|literal| literal.time.to_f64()).filter(|time| *time <= 1.5 * end);
    literals.fold(end, f64::max).max(f64::MIN_POSITIVE)
}

/// A distance of ticks that gives up to ten of them: 1, 2 or 5 times a power of ten.
fn tick_distance(end: f64) -> f64 {
    let power = 10f64.powf((end / 10.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| end / step <= 10.0).unwrap_or(end)
}

fn ticks(end: f64) -> impl Iterator<Item = f64> {
    let distance = tick_distance(end);
    (0..=10).map(move |number| f64::from(number) * distance).take_while(move |tick| *tick <= end * 1.000_001)
}

/// A time without the noise of binary fractions.
fn tick_text(tick: f64) -> String {
    let text = format!("{tick:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= MOST_CHARACTERS {
        return text.to_owned();
    }
    text.chars().take(MOST_CHARACTERS - 1).chain(['\u{2026}']).collect()
}

fn times(step: &ScheduledStep) -> String {
    match step.duration {
        Some(duration) => format!("{} to {} ({duration})", step.start, step.end()),
        None => format!("at {}", step.start),
    }
}

/// The chart as text.
pub fn text(schedule: &Schedule) -> String {
    let end = end_of(schedule);
    let column = |time: Number| {
        let share = (time.to_f64() / end).clamp(0.0, 1.0);
        ((share * COLUMNS as f64) as usize).min(COLUMNS - 1)
    };
    let rows = schedule.steps.iter().take(MOST_ROWS);
    let labels: Vec<String> = rows.clone().map(|step| shorten(&step.text)).collect();
    let literals: Vec<String> = schedule.timed.iter().map(|literal| shorten(&literal.text)).collect();
    let width = labels.iter().chain(&literals).map(|label| label.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    let mut row = |label: &str, bar: &str, times: &str| {
        let _ = writeln!(out, "{label:<width$} |{bar:<COLUMNS$}| {times}");
    };
    let mut scale = String::new();
    for tick in ticks(end) {
        let at = ((tick / end) * COLUMNS as f64) as usize;
        if at < COLUMNS && (scale.is_empty() || at > scale.chars().count()) {
            scale = format!("{scale:<at$}{}", tick_text(tick));
        }
    }
    row("", &scale.chars().take(COLUMNS).collect::<String>(), "");
    for (step, label) in rows.zip(&labels) {
        let (from, to) = (column(step.start), column(step.end()));
        let bar = match step.duration {
            Some(_) => format!("{}{}", " ".repeat(from), "=".repeat((to - from).max(1))),
            None => format!("{}*", " ".repeat(from)),
        };
        row(label, &bar, &times(step));
    }
    for (literal, label) in schedule.timed.iter().zip(&literals) {
        let late = literal.time.to_f64() > end;
        let bar = if late { String::new() } else { format!("{}!", " ".repeat(column(literal.time))) };
        row(label, &bar, &format!("at {}, timed literal", literal.time));
    }
    let more = schedule.steps.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        let _ = writeln!(out, "and {more} more steps");
    }
    out
}

/// Colours of bars, by the action's name.
const COLOURS: [&str; 8] =
    ["#4269d0", "#3ca951", "#efb118", "#ff725c", "#6cc5b0", "#a463f2", "#ff8ab7", "#9c6b4e"];

/// Height of a row, and the place of the bars, in pixels.
const ROW: usize = 22;
const LEFT: usize = 300;
const BARS: usize = 700;
const TOP: usize = 30;

/// The chart as SVG.
pub fn svg(schedule: &Schedule) -> String {
    let end = end_of(schedule);
    let rows: Vec<&ScheduledStep> = schedule.steps.iter().take(MOST_ROWS).collect();
    let more = schedule.steps.len() - rows.len();
    let height = TOP + ROW * (rows.len() + usize::from(more > 0)) + 10;
    let width = LEFT + BARS + 20;
    let x = |time: f64| LEFT as f64 + BARS as f64 * (time / end).clamp(0.0, 1.0);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    for tick in ticks(end) {
        let (at, bottom) = (x(tick), height - 10);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#d0d7de\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#57606a\">{}</text>",
            TOP - 8,
            tick_text(tick)
        );
    }
    let mut names: Vec<&str> = Vec::new();
    for (number, step) in rows.iter().enumerate() {
        let name = step.text.split([' ', ')']).next().unwrap_or_default();
        let colour = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let (y, from) = (TOP + ROW * number, x(step.start.to_f64()));
        let wide = (x(step.end().to_f64()) - from).max(2.0);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#1f2328\">{}</text><rect x=\"{from:.1}\" y=\"{}\" width=\"{wide:.1}\" height=\"{}\" rx=\"2\" fill=\"{}\"><title>{}: {}</title></rect>",
            LEFT - 8,
            y + 15,
            escaped(&shorten(&step.text)),
            y + 3,
            ROW - 6,
            COLOURS[colour % COLOURS.len()],
            escaped(&step.text),
            times(step)
        );
    }
    for literal in schedule.timed.iter().filter(|literal| literal.time.to_f64() <= end) {
        let (at, bottom) = (x(literal.time.to_f64()), height - 10);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#cf222e\" stroke-width=\"2\" stroke-dasharray=\"4 3\"><title>at {}: {}</title></line>",
            literal.time,
            escaped(&literal.text)
        );
    }
    if more > 0 {
        let y = TOP + ROW * rows.len() + 15;
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{y}\" fill=\"#57606a\">and {more} more steps</text>");
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_planning::TimedLiteral;

    fn schedule() -> Schedule {
        let n = |text: &str| Number::parse(text).unwrap();
        let step = |index, text: &str, start, duration: Option<&str>| ScheduledStep {
            index,
            text: text.to_owned(),
            start: n(start),
            duration: duration.map(n),
        };
        Schedule {
            steps: vec![
                step(0, "(light match)", "0", Some("8")),
                step(1, "(mend <f1>)", "0.001", Some("5")),
                step(2, "(ring bell)", "5.002", None),
            ],
            timed: vec![
                TimedLiteral { time: n("6"), text: "(not (open shop))".to_owned() },
                TimedLiteral { time: n("100"), text: "(open shop)".to_owned() },
            ],
            makespan: n("8"),
            epsilon: n("0.001"),
        }
    }

    #[test]
    fn a_bar_reaches_from_the_start_to_the_end_of_its_step() {
        let chart = text(&schedule());
        let row = |label: &str, from: usize, bar: &str, times: &str| {
            let bar = format!("{}{bar}", " ".repeat(from));
            format!("{label:<17} |{bar:<60}| {times}")
        };
        let lines: Vec<&str> = chart.lines().collect();
        assert!(lines[0].starts_with(&format!("{} |0      1", " ".repeat(17))), "{chart}");
        let expected = [
            row("(light match)", 0, &"=".repeat(59), "0 to 8 (8)"),
            row("(mend <f1>)", 0, &"=".repeat(37), "0.001 to 5.001 (5)"),
            row("(ring bell)", 37, "*", "at 5.002"),
            row("(not (open shop))", 45, "!", "at 6, timed literal"),
            row("(open shop)", 0, "", "at 100, timed literal"),
        ];
        assert_eq!(lines[1..], expected, "{chart}");
    }

    #[test]
    fn the_figure_has_a_bar_a_step_and_escapes_texts() {
        let figure = svg(&schedule());
        assert_eq!(figure.matches("<rect x=").count(), 3);
        assert_eq!(figure.matches("stroke-dasharray").count(), 1);
        assert!(figure.contains("(mend &lt;f1&gt;)") && !figure.contains("<f1>"));
    }

    #[test]
    fn a_plan_without_steps_or_without_length_has_a_chart() {
        let empty = Schedule { steps: Vec::new(), timed: Vec::new(), makespan: Number::ZERO, ..schedule() };
        assert_eq!(text(&empty).lines().count(), 1);
        assert!(svg(&empty).ends_with("</svg>\n"));
    }
}
