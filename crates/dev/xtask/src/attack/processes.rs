//! Kills and full disks: the measurements that exist already, as rows.

use super::context::Context;
use super::table::Row;
use planforge_testkit::survival::Survival;

/// Kills at scale 1.
const KILLS: usize = 50;

/// Sizes of the disks in kilobytes.
const SIZES: [usize; 8] = [20, 100, 300, 600, 1000, 1500, 2000, 64000];

fn survival(context: &Context, most_kills: usize) -> Survival<'_> {
    Survival { planforge: &context.planforge, suites: &context.suites, seeds: "1,2", tasks: 3, most_kills }
}

/// Evaluations killed with SIGKILL, as in `measure-survival`.
pub(crate) fn kills(context: &Context) -> Result<Row, String> {
    let mut row = Row::default();
    let ended = survival(context, 10).run(context.scaled(KILLS), context.seed, |survivor| {
        let agreed = survivor.kills.len().saturating_sub(survivor.violations.len());
        row.agreed += agreed;
        row.unexplained.extend(survivor.violations.iter().cloned());
        row.count("evaluations");
    });
    ended.map_err(|e| e.to_string())?;
    Ok(row)
}

/// Evaluations on full and read-only disks, as in `measure-disks`. Mounting a disk needs root.
pub(crate) fn disks(context: &Context) -> Row {
    let mut row = Row::default();
    let survival = survival(context, 0);
    let sizes = &SIZES[..context.scaled(SIZES.len()).min(SIZES.len())];
    let filled =
        survival.fill(sizes, |filled| row.record(&format!("{} kB", filled.kilobytes), &filled.violations));
    let ended =
        filled.and_then(|()| survival.read_only(|refused| row.record(refused.what, &refused.violations)));
    match ended {
        Ok(()) => row,
        Err(error) if row.cases() == 0 => Row::not_run(&format!("a small disk cannot be mounted ({error})")),
        Err(error) => {
            row.unexplained.push(error.to_string());
            row
        }
    }
}
