//! Types for costs: 32 bits where no sum can reach their end, 128 bits otherwise. Nothing saturates, so that an infinite
//! value always means a dead end.

use crate::task::GroundTask;
use std::fmt::Debug;
use std::ops::Add;

/// Cost of a step, and bound on the cost to the goal.
pub(crate) trait Cost: Copy + Ord + Default + Debug + Add<Output = Self> + 'static {
    /// Above the sum of all operators' costs.
    const INFINITE: Self;
    /// Cost of a path.
    type Total: Total + From<Self>;

    fn of(cost: u64) -> Self;

    /// The difference, 0 where it would be negative.
    fn minus(self, other: Self) -> Self;

    /// The value as an index if it is below `end`.
    fn below(self, end: usize) -> Option<usize>;

    fn from_index(index: usize) -> Self;
}

/// Cost of a path of up to 2^32 steps.
pub(crate) trait Total:
    Copy + Ord + Default + Debug + Add<Output = Self> + Into<u128> + 'static
{
    /// That of what does not exist.
    const INFINITE: Self;

    /// The difference, 0 where it would be negative.
    fn minus(self, other: Self) -> Self;

    /// Least number of steps that cost this much if none costs more than `dearest`.
    fn steps(self, dearest: Self) -> u32;
}

macro_rules! cost {
    ($cost:ty, $total:ty) => {
        impl Cost for $cost {
            const INFINITE: Self = <$cost>::MAX;
            type Total = $total;

            #[inline]
            fn of(cost: u64) -> Self {
                cost as $cost
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.saturating_sub(other)
            }

            #[inline]
            fn below(self, end: usize) -> Option<usize> {
                (self < end as $cost).then_some(self as usize)
            }

            #[inline]
            fn from_index(index: usize) -> Self {
                index as $cost
            }
        }

        impl Total for $total {
            const INFINITE: Self = <$total>::MAX;

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.saturating_sub(other)
            }

            fn steps(self, dearest: Self) -> u32 {
                let steps = if self == 0 { 0 } else { self.div_ceil(dearest.max(1)) };
                u32::try_from(steps).unwrap_or(u32::MAX - 1)
            }
        }
    };
}

cost!(u32, u64);
cost!(u128, u128);

/// Returns true if 32 bits hold every cost that a search computes: a bound counts each relaxed operator at most once.
pub(crate) fn fits_narrow(task: &GroundTask) -> bool {
    let relaxed = task.operators.iter().map(|o| u128::from(o.cost) * (1 + o.conditional.len() as u128));
    relaxed.sum::<u128>() < u128::from(u32::MAX / 4)
}
