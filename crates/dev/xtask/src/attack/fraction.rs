//! Exact fractions for the independent simulator. They share no code with the arithmetic of `planforge-pddl`.

use std::cmp::Ordering;
use std::fmt;

/// A value beyond the range of [`Fraction`]. A case with such a value is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// A fraction in lowest terms with a positive denominator. Both parts are bounded, so that two fractions can be
/// compared by products of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fraction {
    numerator: i128,
    denominator: i128,
}

const MAX_NUMERATOR: i128 = 1 << 80;
const MAX_DENOMINATOR: i128 = 1 << 45;

impl Fraction {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub(crate) const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`; `None` if the denominator is 0.
    pub(crate) fn new(numerator: i128, denominator: i128) -> Result<Option<Self>, TooLarge> {
        if denominator == 0 {
            return Ok(None);
        }
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a).map_err(|_| TooLarge)? * denominator.signum();
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        if numerator.abs() > MAX_NUMERATOR || denominator > MAX_DENOMINATOR {
            return Err(TooLarge);
        }
        Ok(Some(Self { numerator, denominator }))
    }

    fn from_parts(numerator: Option<i128>, denominator: Option<i128>) -> Result<Self, TooLarge> {
        let (Some(numerator), Some(denominator)) = (numerator, denominator) else { return Err(TooLarge) };
        Self::new(numerator, denominator)?.ok_or(TooLarge)
    }

    pub(crate) fn plus(self, other: Self) -> Result<Self, TooLarge> {
        let left = self.numerator.checked_mul(other.denominator);
        let right = other.numerator.checked_mul(self.denominator);
        let sum = left.zip(right).and_then(|(l, r)| l.checked_add(r));
        Self::from_parts(sum, self.denominator.checked_mul(other.denominator))
    }

    pub(crate) fn minus(self, other: Self) -> Result<Self, TooLarge> {
        self.plus(other.negated())
    }

    pub(crate) fn negated(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    pub(crate) fn times(self, other: Self) -> Result<Self, TooLarge> {
        Self::from_parts(
            self.numerator.checked_mul(other.numerator),
            self.denominator.checked_mul(other.denominator),
        )
    }

    /// The quotient; `None` if the divisor is 0.
    pub(crate) fn divided_by(self, other: Self) -> Result<Option<Self>, TooLarge> {
        if other.numerator == 0 {
            return Ok(None);
        }
        let numerator = self.numerator.checked_mul(other.denominator);
        Self::from_parts(numerator, self.denominator.checked_mul(other.numerator)).map(Some)
    }

    /// The nearest float.
    pub(crate) fn to_f64(self) -> f64 {
        // A finite decimal is rounded once, by the parser of floats.
        let mut digits = format!("{}.", (self.numerator / self.denominator).abs());
        let mut rest = (self.numerator % self.denominator).abs();
        for _ in 0..50 {
            if rest == 0 {
                let value: f64 = digits.parse().unwrap_or(f64::NAN);
                return if self.numerator < 0 { -value } else { value };
            }
            rest *= 10;
            digits.push_str(&(rest / self.denominator).to_string());
            rest %= self.denominator;
        }
        self.numerator as f64 / self.denominator as f64
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}
