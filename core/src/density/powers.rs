//! Powers of small numbers as integers of many digits, and the doubles nearest to them.

/// The number of limbs, which is enough for 2^1216 and for 100 · 2^1024.
const LIMBS: usize = 20;

/// The exponent of the unit in which powers below one are counted. The smallest powers that a double can hold, near
/// 2^-1075, then keep over 128 binary digits, of which 53 matter.
const UNIT: i32 = -1216;

/// The smallest exponent of a double's last digit.
const MIN_ULP: i32 = -1074;
/// The number of binary digits of a double.
const DIGITS: i32 = 53;

/// A number of many binary digits, lowest limb first. Digits below the unit are cut off.
#[derive(Clone)]
pub struct Power {
    limbs: [u64; LIMBS],
    /// The exponent of the unit, which is 2^unit.
    unit: i32,
    /// True if digits other than zero were cut off.
    cut: bool,
}

impl Power {
    fn power_of_two(bit: usize, unit: i32) -> Self {
        let mut limbs = [0; LIMBS];
        if let Some(limb) = limbs.get_mut(bit / 64) {
            *limb = 1 << (bit % 64);
        }
        Self {
            limbs,
            unit,
            cut: false,
        }
    }

    /// Returns the doubles nearest to base^0, base^1, … as long as they are finite.
    pub fn powers_from_one(base: u8) -> impl Iterator<Item = f64> {
        let mut power = Self::power_of_two(0, 0);
        std::iter::repeat_with(move || {
            let nearest = power.nearest();
            power.multiply(base);
            nearest
        })
        .take_while(|nearest| nearest.is_finite())
    }

    /// Returns the doubles nearest to base^-1, base^-2, … as long as they are above zero.
    pub fn powers_below_one(base: u8) -> impl Iterator<Item = f64> {
        let mut power = Self::power_of_two(UNIT.unsigned_abs() as usize, UNIT);
        std::iter::repeat_with(move || {
            power.divide(base);
            power.nearest()
        })
        .take_while(|&nearest| nearest > 0.0)
    }

    fn multiply(&mut self, factor: u8) {
        let mut carry = 0;
        for limb in &mut self.limbs {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
    }

    /// Divides and cuts off the remainder. Cutting off after each division gives the same result as cutting off once,
    /// after all divisions.
    fn divide(&mut self, divisor: u8) {
        let mut rest = 0;
        for limb in self.limbs.iter_mut().rev() {
            let dividend = (rest << 64) | u128::from(*limb);
            *limb = (dividend / u128::from(divisor)) as u64;
            rest = dividend % u128::from(divisor);
        }
        self.cut |= rest != 0;
    }

    /// Returns the nearest double; of two that are equally near, the even one.
    fn nearest(&self) -> f64 {
        let length = self.length();
        let ulp = (length + self.unit - DIGITS).max(MIN_ULP);
        let dropped = ulp - self.unit;
        if dropped <= 0 {
            return scale(self.limbs[0], self.unit);
        }
        let mantissa = self.bits_from(dropped);
        let half = self.bits_from(dropped - 1) & 1 == 1;
        let more = self.cut || self.has_bits_below(dropped - 1);
        let up = half && (more || mantissa & 1 == 1);
        scale(mantissa + u64::from(up), ulp)
    }

    /// Returns the number of binary digits.
    fn length(&self) -> i32 {
        let top = self.limbs.iter().rposition(|&limb| limb != 0);
        // The result is at most 1280.
        top.map_or(0, |top| {
            (top as i32 + 1) * 64 - self.limbs[top].leading_zeros() as i32
        })
    }

    /// Returns the 64 binary digits that begin at digit `bit`.
    fn bits_from(&self, bit: i32) -> u64 {
        let (limb, shift) = (bit as usize / 64, bit as usize % 64);
        let low = self.limbs.get(limb).copied().unwrap_or(0);
        let high = self.limbs.get(limb + 1).copied().unwrap_or(0);
        (((u128::from(high) << 64) | u128::from(low)) >> shift) as u64
    }

    fn has_bits_below(&self, bit: i32) -> bool {
        let (limb, shift) = (bit as usize / 64, bit as usize % 64);
        self.limbs[..limb].iter().any(|&limb| limb != 0)
            || self.limbs.get(limb).copied().unwrap_or(0) & ((1 << shift) - 1) != 0
    }
}

/// Returns mantissa · 2^exponent, which is a double or infinite. 2^exponent alone may be out of range for
/// [`power_of_two`], so that the mantissa is multiplied in two steps.
fn scale(mantissa: u64, exponent: i32) -> f64 {
    let half = exponent / 2;
    mantissa as f64 * power_of_two(half) * power_of_two(exponent - half)
}

/// Returns 2^exponent for an exponent within ±1022.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
