//! The assignment problem: every row one column, at the greatest total value (the Hungarian method, O(n³)).

/// Cost of a forbidden pair, larger than any sum of allowed costs.
const NEVER: i64 = 1 << 50;
/// Makes any gain in likeness worth more than any error.
const LIKENESS: i64 = 1 << 30;

/// Returns the column of each row, such that the sum of the first values is maximal and, among those, the sum
/// of the second minimal. `None` if a row would get a column without a value.
pub(super) fn assign(
    count: usize,
    value: &dyn Fn(usize, usize) -> Option<(u32, usize)>,
) -> Option<Vec<usize>> {
    let cost = |i: usize, j: usize| match value(i, j) {
        None => NEVER,
        Some((alike, error)) => (1000 - i64::from(alike)) * LIKENESS + (error as i64).min(LIKENESS / 1024),
    };
    // Row and column 0 are not used; `column[j]` is the row that has column j.
    let (mut rows, mut columns) = (vec![0i64; count + 1], vec![0i64; count + 1]);
    let mut column = vec![0usize; count + 1];
    for row in 1..=count {
        augment(row, &cost, &mut rows, &mut columns, &mut column);
    }
    let mut assigned = vec![0; count];
    for j in 1..=count {
        assigned[column[j] - 1] = j - 1;
    }
    assigned.iter().enumerate().all(|(i, &j)| value(i, j).is_some()).then_some(assigned)
}

/// Gives a further row a column, along the cheapest chain of exchanges.
fn augment(
    row: usize,
    cost: &dyn Fn(usize, usize) -> i64,
    rows: &mut [i64],
    columns: &mut [i64],
    column: &mut [usize],
) {
    let count = rows.len() - 1;
    let (mut least, mut before, mut seen) =
        (vec![i64::MAX; count + 1], vec![0usize; count + 1], vec![false; count + 1]);
    column[0] = row;
    let mut at = 0;
    while column[at] != 0 {
        seen[at] = true;
        let (i, mut delta, mut next) = (column[at], i64::MAX, 0);
        for j in 1..=count {
            if seen[j] {
                continue;
            }
            let reduced = cost(i - 1, j - 1) - rows[i] - columns[j];
            if reduced < least[j] {
                least[j] = reduced;
                before[j] = at;
            }
            if least[j] < delta {
                delta = least[j];
                next = j;
            }
        }
        for j in 0..=count {
            if seen[j] {
                rows[column[j]] += delta;
                columns[j] -= delta;
            } else if least[j] != i64::MAX {
                least[j] -= delta;
            }
        }
        at = next;
    }
    while at != 0 {
        let previous = before[at];
        column[at] = column[previous];
        at = previous;
    }
}

#[cfg(test)]
mod tests {
    use super::assign;
    use planforge_pddl::random::Random;

    /// The best total by trying all permutations.
    fn brute(table: &[Vec<Option<(u32, usize)>>], row: usize, taken: &mut Vec<bool>) -> Option<(i64, i64)> {
        if row == table.len() {
            return Some((0, 0));
        }
        let mut best = None;
        for j in 0..table.len() {
            let Some((alike, error)) = table[row][j] else { continue };
            if std::mem::replace(&mut taken[j], true) {
                continue;
            }
            let rest = brute(table, row + 1, taken);
            taken[j] = false;
            best = best.max(rest.map(|(a, e)| (a + i64::from(alike), e - error as i64)));
        }
        best
    }

    #[test]
    fn no_permutation_is_better() {
        let mut none = 0;
        for seed in 0..400 {
            let mut random = Random::stream(seed, 9);
            let count = 1 + random.below(5) as usize;
            let mut cell =
                || (!random.chance(0.4)).then(|| (random.below(4) as u32 * 300, random.below(9) as usize));
            let table: Vec<Vec<_>> = (0..count).map(|_| (0..count).map(|_| cell()).collect()).collect();
            let best = brute(&table, 0, &mut vec![false; count]);
            let found = assign(count, &|i, j| table[i][j]).map(|columns| {
                let cells = columns.iter().enumerate().filter_map(|(i, &j)| table[i][j]);
                cells.fold((0, 0), |sum, (a, e)| (sum.0 + i64::from(a), sum.1 - e as i64))
            });
            assert_eq!(found, best, "{table:?}");
            none += u32::from(best.is_none());
        }
        assert!((20..380).contains(&none), "{none}");
    }
}
