//! Exact numbers: the one arithmetic of planning. Search, simulation and validation compute with it, so that they
//! agree on what a plan costs and on whether a comparison holds.
//!
//! A number is a fraction of two 128-bit integers in lowest terms. Sums, differences, products and quotients are
//! exact as long as they fit; comparisons are always exact. A result that does not fit is *inexact*: it continues as
//! a 64-bit float and never becomes exact again, so that nothing is proven with it.

use std::cmp::Ordering;
use std::fmt;

/// An exact fraction, an inexact value, or undefined.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    /// With a denominator of 0: the bits of a float.
    numerator: i128,
    /// Positive; 0 for what is not exact.
    denominator: i128,
}

/// Decimal digits whose value fits into 128 bits in any case.
const DIGITS: usize = 38;

impl Number {
    /// Zero.
    pub const ZERO: Number = Number { numerator: 0, denominator: 1 };
    /// One.
    pub const ONE: Number = Number { numerator: 1, denominator: 1 };
    /// No value: a fluent that nothing has set, or a division by zero. Every comparison with it is false.
    pub const UNDEFINED: Number = Number { numerator: f64::NAN.to_bits() as i128, denominator: 0 };

    /// An integer.
    pub const fn integer(value: i128) -> Self {
        Number { numerator: value, denominator: 1 }
    }

    /// `numerator / denominator`; undefined where the denominator is 0.
    pub fn fraction(numerator: i128, denominator: i128) -> Self {
        if denominator == 1 {
            return Number::integer(numerator);
        }
        if denominator == 0 {
            return Number::UNDEFINED;
        }
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs());
        let sign = if denominator < 0 { -1 } else { 1 };
        // Only a divisor of 2^127 does not fit, and then both sides are the smallest integer.
        let Ok(divisor) = i128::try_from(divisor) else { return Number::ONE };
        match ((numerator / divisor).checked_mul(sign), (denominator / divisor).checked_mul(sign)) {
            (Some(numerator), Some(denominator)) => Number { numerator, denominator },
            _ => Number::inexact(numerator as f64 / denominator as f64),
        }
    }

    /// A value that is known as a float only; undefined for NaN.
    fn inexact(value: f64) -> Self {
        if value.is_nan() {
            return Number::UNDEFINED;
        }
        Number { numerator: i128::from(value.to_bits()), denominator: 0 }
    }

    /// The decimal that a float is written as: 0.1 is a tenth.
    pub fn from_f64(value: f64) -> Self {
        if value.is_finite() { Number::parse(&value.to_string()) } else { None }
            .unwrap_or(Number::inexact(value))
    }

    /// Reads a decimal such as `-12.50` or `1e-3`. A decimal that does not fit is inexact; one beyond the range of
    /// floats is infinite. Returns `None` for a text that is not a number.
    pub fn parse(text: &str) -> Option<Self> {
        let float: f64 = text.parse().ok()?;
        Some(Number::parse_exact(text).unwrap_or(Number::inexact(float)))
    }

    fn parse_exact(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (digits, 0),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = whole.trim_start_matches('0');
        let part = part.trim_end_matches('0');
        if whole.len() + part.len() > DIGITS {
            return None;
        }
        let mut value: i128 = 0;
        for digit in whole.bytes().chain(part.bytes()) {
            value = value.checked_mul(10)?.checked_add(i128::from((digit as char).to_digit(10)?))?;
        }
        if negative {
            value = -value;
        }
        let shift = exponent.checked_sub(i32::try_from(part.len()).ok()?)?;
        if value == 0 {
            return Some(Number::ZERO);
        }
        let power = 10i128.checked_pow(shift.unsigned_abs())?;
        if shift >= 0 {
            Some(Number::integer(value.checked_mul(power)?))
        } else {
            Some(Number::fraction(value, power))
        }
    }

    /// Returns true if there is no value.
    #[inline]
    pub fn is_undefined(self) -> bool {
        self == Number::UNDEFINED
    }

    /// Returns true if there is a value, but arithmetic lost its exact amount. Nothing is decided by such a value.
    #[inline]
    pub fn is_inexact(self) -> bool {
        self.denominator == 0 && !self.is_undefined()
    }

    /// Returns true for the exact zero.
    #[inline]
    pub fn is_zero(self) -> bool {
        self == Number::ZERO
    }

    /// Returns true for values below zero.
    pub fn is_negative(self) -> bool {
        if self.denominator == 0 { self.to_f64() < 0.0 } else { self.numerator < 0 }
    }

    /// Numerator and denominator in lowest terms; `None` for what is not exact.
    pub fn parts(self) -> Option<(i128, i128)> {
        (self.denominator != 0).then_some((self.numerator, self.denominator))
    }

    /// The value as four machine words, for tables of states.
    pub fn to_words(self) -> [u64; 4] {
        let (n, d) = (self.numerator as u128, self.denominator as u128);
        [n as u64, (n >> 64) as u64, d as u64, (d >> 64) as u64]
    }

    /// The value of [`Number::to_words`].
    pub fn from_words(words: [u64; 4]) -> Self {
        let join = |low: u64, high: u64| (u128::from(low) | u128::from(high) << 64) as i128;
        Number { numerator: join(words[0], words[1]), denominator: join(words[2], words[3]) }
    }

    /// The nearest float; NaN where undefined.
    pub fn to_f64(self) -> f64 {
        const EXACT: i128 = 1 << 53;
        match (self.numerator, self.denominator) {
            (bits, 0) => f64::from_bits(bits as u64),
            (n, 1) => n as f64,
            // One rounding of two floats that are exact.
            (n, d) if n.abs() <= EXACT && d <= EXACT => n as f64 / d as f64,
            (n, d) => match self.decimal().and_then(|text| text.parse().ok()) {
                Some(value) => value,
                None => n as f64 / d as f64,
            },
        }
    }

    /// The finite decimal of the value; `None` where there is none.
    fn decimal(self) -> Option<String> {
        let (numerator, denominator) = self.parts()?;
        let mut rest = denominator;
        let mut count = |prime: i128| {
            let mut times = 0u32;
            while rest % prime == 0 {
                rest /= prime;
                times += 1;
            }
            times
        };
        let (twos, fives) = (count(2), count(5));
        if rest != 1 {
            return None;
        }
        let places = twos.max(fives) as usize;
        // Scaling digit by digit: the scaled numerator may not fit.
        let mut value = numerator.unsigned_abs();
        let denominator = denominator.unsigned_abs();
        let mut text = String::new();
        if numerator < 0 {
            text.push('-');
        }
        text.push_str(&(value / denominator).to_string());
        value %= denominator;
        if places > 0 {
            text.push('.');
        }
        for _ in 0..places {
            value = value.checked_mul(10)?;
            text.push(char::from_digit((value / denominator) as u32, 10)?);
            value %= denominator;
        }
        Some(text)
    }

    /// Applies an operation: exactly, or on floats where that does not fit.
    #[inline]
    fn combine(
        self,
        other: Number,
        exact: impl Fn(Number, Number) -> Option<Number>,
        float: impl Fn(f64, f64) -> f64,
    ) -> Number {
        if self.denominator != 0
            && other.denominator != 0
            && let Some(result) = exact(self, other)
        {
            return result;
        }
        if self.is_undefined() || other.is_undefined() {
            return Number::UNDEFINED;
        }
        Number::inexact(float(self.to_f64(), other.to_f64()))
    }

    /// Orders two values; `None` where one is undefined.
    pub fn compare(self, other: Number) -> Option<Ordering> {
        match (self.parts(), other.parts()) {
            (Some((a, 1)), Some((b, 1))) => Some(a.cmp(&b)),
            (Some(a), Some(b)) => Some(compare_fractions(a, b)),
            _ => self.to_f64().partial_cmp(&other.to_f64()),
        }
    }
}

/// Compares two fractions without overflow: by their whole parts, then by the inverses of the rests.
fn compare_fractions(mut a: (i128, i128), mut b: (i128, i128)) -> Ordering {
    let mut reversed = false;
    loop {
        let (whole_a, whole_b) = (a.0.div_euclid(a.1), b.0.div_euclid(b.1));
        let (rest_a, rest_b) = (a.0.rem_euclid(a.1), b.0.rem_euclid(b.1));
        let order = match whole_a.cmp(&whole_b) {
            Ordering::Equal => match (rest_a, rest_b) {
                (0, 0) => Ordering::Equal,
                (0, _) => Ordering::Less,
                (_, 0) => Ordering::Greater,
                _ => {
                    (a, b) = ((a.1, rest_a), (b.1, rest_b));
                    reversed = !reversed;
                    continue;
                }
            },
            order => order,
        };
        return if reversed { order.reverse() } else { order };
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        if let (Ok(mut x), Ok(mut y)) = (u64::try_from(a), u64::try_from(b)) {
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return u128::from(x);
        }
        (a, b) = (b, a % b);
    }
    a
}

fn add(a: Number, b: Number) -> Option<Number> {
    if a.denominator == b.denominator {
        let sum = a.numerator.checked_add(b.numerator)?;
        return Some(Number::fraction(sum, a.denominator)).filter(|n| n.denominator != 0);
    }
    let common = i128::try_from(gcd(a.denominator.unsigned_abs(), b.denominator.unsigned_abs())).ok()?;
    let (left, right) = (b.denominator / common, a.denominator / common);
    let sum = a.numerator.checked_mul(left)?.checked_add(b.numerator.checked_mul(right)?)?;
    Some(Number::fraction(sum, a.denominator.checked_mul(left)?)).filter(|n| n.denominator != 0)
}

fn multiply(a: Number, b: Number) -> Option<Number> {
    if a.denominator == 1 && b.denominator == 1 {
        return Some(Number::integer(a.numerator.checked_mul(b.numerator)?));
    }
    // Reduced crosswise first, so that the result fits whenever its lowest terms do.
    let (left, right) =
        (Number::fraction(a.numerator, b.denominator), Number::fraction(b.numerator, a.denominator));
    let numerator = left.numerator.checked_mul(right.numerator)?;
    let denominator = left.denominator.checked_mul(right.denominator)?;
    (denominator != 0).then_some(Number { numerator, denominator })
}

fn divide(a: Number, b: Number) -> Option<Number> {
    let inverse = Number::fraction(b.denominator, b.numerator);
    if inverse.denominator == 0 { None } else { multiply(a, inverse) }
}

impl std::ops::Add for Number {
    type Output = Number;
    #[inline]
    fn add(self, other: Number) -> Number {
        self.combine(other, add, |a, b| a + b)
    }
}

impl std::ops::Neg for Number {
    type Output = Number;
    #[inline]
    fn neg(self) -> Number {
        match (self.numerator.checked_neg(), self.denominator) {
            (Some(numerator), denominator @ 1..) => Number { numerator, denominator },
            _ => Number::inexact(-self.to_f64()),
        }
    }
}

impl std::ops::Sub for Number {
    type Output = Number;
    #[inline]
    fn sub(self, other: Number) -> Number {
        self + -other
    }
}

impl std::ops::Mul for Number {
    type Output = Number;
    #[inline]
    fn mul(self, other: Number) -> Number {
        self.combine(other, multiply, |a, b| a * b)
    }
}

impl std::ops::Div for Number {
    type Output = Number;
    /// Undefined for a divisor of zero.
    #[inline]
    fn div(self, other: Number) -> Number {
        if other.is_zero() || other.to_f64() == 0.0 {
            return Number::UNDEFINED;
        }
        self.combine(other, divide, |a, b| a / b)
    }
}

impl fmt::Display for Number {
    /// The exact decimal where there is one, otherwise the nearest float.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.decimal() {
            Some(text) => f.write_str(&text),
            None => self.to_f64().fmt(f),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            Some((_, 1)) => write!(f, "{self}"),
            Some((n, d)) => write!(f, "{n}/{d}"),
            None => write!(f, "~{}", self.to_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn decimals_add_up_exactly() {
        assert_eq!(n("0.1") + n("0.2"), n("0.3"));
        assert_eq!((n("1") / n("3")) * n("3"), n("1"));
        assert!(n("123456789.1").compare(n("123456789")) == Some(Ordering::Greater));
        assert_eq!(n("999999999999.123457") + n("0.000001"), n("999999999999.123458"));
        assert_eq!(-n("1.5") - n("-1.5"), Number::ZERO);
    }

    #[test]
    fn numbers_print_as_floats_do() {
        for text in ["0", "1", "-1.5", "0.1", "123456789.125", "1e-3", "1e21", "100", "-0.000001", "1e-12"] {
            let float: f64 = text.parse().unwrap();
            assert_eq!(n(text).to_string(), float.to_string(), "{text}");
            assert_eq!(n(text).to_f64(), float, "{text}");
            assert_eq!(Number::from_f64(float), n(text), "{text}");
        }
        assert_eq!((n("1") / n("3")).to_string(), (1.0 / 3.0f64).to_string());
        assert_eq!(n("12345678901234567890.125").to_string(), "12345678901234567890.125");
    }

    #[test]
    fn what_does_not_fit_is_inexact_and_stays_so() {
        let large = n("1e38");
        assert!(!large.is_inexact());
        let product = large * large;
        assert!(product.is_inexact() && (product - product).is_inexact());
        assert!((product.to_f64() / 1e76 - 1.0).abs() < 1e-12);
        assert!(n("1e300").is_inexact());
        assert_eq!(n("1e300").to_string(), 1e300f64.to_string());
        assert!(!(large / large).is_inexact());
    }

    #[test]
    fn undefined_values_compare_with_nothing() {
        let undefined = n("1") / n("0");
        assert!(undefined.is_undefined() && (undefined + n("1")).is_undefined());
        assert_eq!(undefined.compare(n("1")), None);
        assert_eq!(Number::from_words(undefined.to_words()), undefined);
        assert_eq!(Number::from_words(n("-1.25").to_words()), n("-1.25"));
    }

    #[test]
    fn fractions_compare_exactly_where_products_would_not_fit() {
        let a = Number::fraction(i128::MAX, i128::MAX - 1);
        let b = Number::fraction(i128::MAX - 1, i128::MAX - 2);
        assert_eq!(a.compare(b), Some(Ordering::Less));
        assert_eq!((-a).compare(-b), Some(Ordering::Greater));
        assert_eq!(a.compare(a), Some(Ordering::Equal));
    }
}
