//! Length of representations and of the problems they stand for.

/// Lines and characters of both.
#[derive(Clone, Copy, Default)]
pub(crate) struct Size {
    tasks: usize,
    ir: (usize, usize),
    pddl: (usize, usize),
}

impl Size {
    pub(crate) fn of(ir: &str, problem: &str) -> Self {
        Self { tasks: 1, ir: measure(ir, '%'), pddl: measure(problem, ';') }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.ir = (self.ir.0 + other.ir.0, self.ir.1 + other.ir.1);
        self.pddl = (self.pddl.0 + other.pddl.0, self.pddl.1 + other.pddl.1);
    }

    /// Four columns of a table.
    pub(crate) fn cells(&self) -> String {
        format!("{} | {} | {} | {}", self.ir.0, self.ir.1, self.pddl.0, self.pddl.1)
    }
}

/// Lines with something on them and their characters, without comments and with single spaces, so that layout does not count.
fn measure(text: &str, comment: char) -> (usize, usize) {
    let bare = |line: &str| {
        let line = line.split(comment).next().unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = text.lines().map(bare).filter(|l| !l.is_empty()).collect();
    (lines.len(), lines.iter().map(|l| l.chars().count()).sum())
}

/// Averages a suite, and over all suites whose names begin alike.
pub(crate) fn table(sizes: &[(String, Size)]) -> String {
    let mut out =
        "| suite | IR lines | IR characters | PDDL lines | PDDL characters | characters, IR to PDDL |\n"
            .to_owned();
    out.push_str("|---|---|---|---|---|---|\n");
    let texts = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
    for group in sizes.chunk_by(|(a, _), (b, _)| texts(a) == texts(b)) {
        let mut whole = Size::default();
        for (suite, size) in group {
            out.push_str(&row(suite, *size));
            whole.add(*size);
        }
        out.push_str(&row(&format!("{} all", texts(&group[0].0)), whole));
    }
    out
}

fn row(name: &str, size: Size) -> String {
    let mean = |n: usize| n as f64 / size.tasks.max(1) as f64;
    let share = 100.0 * size.ir.1 as f64 / size.pddl.1.max(1) as f64;
    format!(
        "| {name} | {:.1} | {:.0} | {:.1} | {:.0} | {share:.0} % |\n",
        mean(size.ir.0),
        mean(size.ir.1),
        mean(size.pddl.0),
        mean(size.pddl.1)
    )
}
