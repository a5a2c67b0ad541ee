//! Fixed words of a valid plan in sentences.

/// Fixed words of a valid plan in a language. `{}` stands for what the field names, in that order.
#[derive(Debug, Clone, Copy)]
pub struct PlanWords {
    /// The verdict: the steps, and the cost if it is another number.
    pub valid: &'static str,
    /// A number of steps: one, and several.
    pub steps: [&'static str; 2],
    /// After the steps: the cost.
    pub cost: &'static str,
    /// A step without changes.
    pub nothing_changes: &'static str,
    /// A part that repeats: its first and last step, the other objects, and the object that they stand for.
    pub repeated: &'static str,
    /// Before the last item of a list.
    pub and: &'static str,
    /// The reason of a step: number and action of the later step that needs it.
    pub so_that: &'static str,
}

impl PlanWords {
    /// English.
    pub const ENGLISH: Self = Self {
        valid: "The plan is valid: after {}{}, the goal holds.",
        steps: ["1 step", "{} steps"],
        cost: " and cost {}",
        nothing_changes: "Nothing changes.",
        repeated: "Steps {} to {}: the same with {} instead of {}.",
        and: "and",
        so_that: "So that step {}, {}, is possible.",
    };

    pub(super) fn count(&self, steps: usize) -> String {
        fill(self.steps[usize::from(steps != 1)], &[&steps])
    }
}

/// The template with the values in the places of its `{}`, in order.
pub fn fill(template: &str, values: &[&dyn std::fmt::Display]) -> String {
    let mut parts = template.split("{}");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (part, at) in parts.zip(0..) {
        out += &values.get(at).map(ToString::to_string).unwrap_or_default();
        out += part;
    }
    out
}
