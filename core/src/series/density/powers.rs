//! Powers of small numbers in decimal digits, and the doubles nearest to them, which the standard library finds.

use std::iter;

/// The number of digits behind the point: as many as half of the smallest double has.
const PLACES: usize = 1_075;

/// Returns the doubles nearest to base^0, base^1, … as long as they are finite.
pub fn powers_from_one(base: u8) -> impl Iterator<Item = f64> {
    // The last digit comes first.
    let mut digits = vec![1];
    iter::from_fn(move || {
        let nearest = nearest("", digits.iter().rev());
        multiply(&mut digits, base);
        nearest
    })
}

/// Returns the doubles nearest to base^-1, base^-2, … as long as they are above zero.
pub fn powers_below_one(base: u8) -> impl Iterator<Item = f64> {
    // The first digit is before the point, the last one represents all digits that were cut off.
    let mut digits = vec![0; PLACES + 2];
    digits[0] = 1;
    iter::from_fn(move || {
        divide(&mut digits, base);
        nearest("0.", digits[1..].iter())
    })
}

fn multiply(digits: &mut Vec<u8>, factor: u8) {
    let mut carry = 0;
    for digit in digits.iter_mut() {
        let product = u32::from(*digit) * u32::from(factor) + carry;
        *digit = (product % 10) as u8;
        carry = product / 10;
    }
    while carry > 0 {
        digits.push((carry % 10) as u8);
        carry /= 10;
    }
}

/// Divides, and keeps 1 for a remainder. Cutting off after each division gives the same digits as cutting off once, after all divisions.
fn divide(digits: &mut [u8], divisor: u8) {
    let (divisor, mut rest) = (u32::from(divisor), 0);
    let Some((cut, digits)) = digits.split_last_mut() else {
        return;
    };
    for digit in digits {
        let dividend = 10 * rest + u32::from(*digit);
        *digit = (dividend / divisor) as u8;
        rest = dividend % divisor;
    }
    *cut |= u8::from(rest != 0);
}

/// Returns the double nearest to a number that is written with these digits; `None` if that is zero or infinite.
fn nearest<'d>(before: &str, digits: impl Iterator<Item = &'d u8>) -> Option<f64> {
    let digits = digits.map(|it| char::from(b'0' + it));
    let text: String = before.chars().chain(digits).collect();
    let nearest: f64 = text.parse().ok()?;
    (nearest > 0.0 && nearest.is_finite()).then_some(nearest)
}
