//! Quantities as people read them: three digits, a decimal prefix as storage is sold with, and a unit.

use std::fmt::{self, Display};

use crate::base::operation::{Kind, OPERATIONS, find, timed};

crate::named! {
    /// A number in the columns of an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Quantity {
        /// An amount per second; of `service_time` the mean number of requests in service.
        Rate = "rate",
        /// An amount: calls, bytes, or seconds.
        Total = "total",
        /// Bytes or seconds per call.
        PerCall = "per_call",
    }
    /// Returns the name, which is that of a column.
    pub fn name;
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A number whose unit has a decimal prefix: `104 MB/s`, `1.2 k`.
    Scaled(&'static str),
    /// Seconds, in the largest unit that leaves a number of 2 or more: `23 ms`, `90 min`.
    Duration,
    /// A number that has no unit.
    Plain,
}

/// A number with its unit. It prints as text such as `104 MB/s`, `1.7 MB` or `23 ms`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Readable {
    value: f64,
    unit: Unit,
}

impl Readable {
    /// Takes a number of an answer. `operation` is one of the [`OPERATIONS`], `metadata`, `bytes`, `service_time`,
    /// `weighted`, or a name such as `open_time`. Returns `None` if there is no such operation.
    pub fn new(value: f64, operation: &str, quantity: Quantity) -> Option<Self> {
        let unit = match operation {
            "metadata" => of_requests(quantity),
            "bytes" => of_bytes(quantity),
            "service_time" => of_time(quantity),
            "weighted" => Unit::Scaled(""),
            "energy" => match quantity {
                Quantity::Rate => Unit::Scaled("W"),
                _ => Unit::Scaled("J"),
            },
            "energy_per_gb" => Unit::Scaled("J/GB"),
            _ if timed(operation).is_some() => of_time(quantity),
            _ => match OPERATIONS[find(operation.as_bytes())?].kind {
                Kind::Requests => of_requests(quantity),
                Kind::Bytes => of_bytes(quantity),
            },
        };
        Some(Self { value, unit })
    }
}

const fn of_requests(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::Rate => Unit::Scaled("/s"),
        Quantity::Total => Unit::Scaled(""),
        Quantity::PerCall => Unit::Duration,
    }
}

const fn of_bytes(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::Rate => Unit::Scaled("B/s"),
        Quantity::Total | Quantity::PerCall => Unit::Scaled("B"),
    }
}

const fn of_time(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::Rate => Unit::Plain,
        Quantity::Total | Quantity::PerCall => Unit::Duration,
    }
}

impl Display for Readable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.value.is_finite() {
            // PostgreSQL's names of these values.
            return out.write_str(match self.value {
                f64::INFINITY => "Infinity",
                f64::NEG_INFINITY => "-Infinity",
                _ => "NaN",
            });
        }
        match self.unit {
            Unit::Scaled(unit) => scaled(self.value, unit, out),
            Unit::Duration => duration(self.value, out),
            Unit::Plain => write!(out, "{}", plain(self.value)),
        }
    }
}

/// The prefixes of 1000, 1000², and so on.
const PREFIXES: [&str; 6] = ["k", "M", "G", "T", "P", "E"];

fn scaled(value: f64, unit: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut value = three_digits(value);
    let mut prefix = "";
    for larger in PREFIXES {
        if value.abs() < 1000.0 {
            break;
        }
        // A quotient has three digits again only if it is rounded again.
        value = three_digits(value / 1000.0);
        prefix = larger;
    }
    let unit = format!("{prefix}{unit}");
    // A count without a unit has no space behind it, and `/s` follows its number directly.
    let space = if unit.is_empty() || unit.starts_with('/') {
        ""
    } else {
        " "
    };
    write!(out, "{}{space}{unit}", plain(value))
}

/// The units of durations: from how many seconds on each is used, and its seconds.
const DURATIONS: [(f64, f64, &str); 6] = [
    (172_800.0, 86_400.0, "d"),
    (7_200.0, 3_600.0, "h"),
    (120.0, 60.0, "min"),
    (1.0, 1.0, "s"),
    (1e-3, 1e-3, "ms"),
    (0.0, 1e-6, "µs"),
];

fn duration(seconds: f64, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let rounded = three_digits(seconds).abs();
    let unit = DURATIONS.iter().find(|(from, ..)| rounded >= *from);
    let (value, name) = match unit {
        Some((_, width, name)) if seconds != 0.0 => (seconds / width, *name),
        _ => (0.0, "s"),
    };
    write!(out, "{} {name}", plain(value))
}

/// Rounds to three significant digits.
fn three_digits(value: f64) -> f64 {
    // Printing rounds the decimal number, exactly, where a product with a power of ten would not.
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Prints a number with three significant digits and without zeros at the end. Only numbers that would be unreadable
/// otherwise have an exponent: those under a billionth, and those with more than 15 digits.
fn plain(value: f64) -> String {
    let value = three_digits(value);
    match value.abs() {
        size if size == 0.0 || (1e-9..1e15).contains(&size) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: f64, operation: &str, quantity: Quantity) -> String {
        Readable::new(value, operation, quantity)
            .expect("the operation exists")
            .to_string()
    }

    #[test]
    fn each_quantity_of_each_kind_has_its_unit() {
        use Quantity::{PerCall, Rate, Total};
        assert_eq!(text(104_234_567.0, "write_bytes", Rate), "104 MB/s");
        assert_eq!(text(1_700_000.0, "read_bytes", PerCall), "1.7 MB");
        assert_eq!(text(8_709e9, "bytes", Total), "8.71 TB");
        assert_eq!(text(565_156.0, "metadata", Total), "565 k");
        assert_eq!(text(167.4, "open", Rate), "167/s");
        assert_eq!(text(12_345.0, "open", Rate), "12.3 k/s");
        assert_eq!(text(0.0231, "open", PerCall), "23.1 ms");
        assert_eq!(text(5_400.0, "service_time", Total), "90 min");
        assert_eq!(text(3.25, "service_time", Rate), "3.25");
        assert_eq!(text(0.0004, "service_time", PerCall), "400 µs");
        assert_eq!(text(86.4, "open_time", Total), "86.4 s");
        assert_eq!(text(2_500.0, "weighted", Rate), "2.5 k");
    }

    #[test]
    fn rounding_up_moves_to_the_next_unit() {
        assert_eq!(text(999.4, "read_bytes", Quantity::Total), "999 B");
        assert_eq!(text(999.6, "read_bytes", Quantity::Total), "1 kB");
        assert_eq!(text(999_999.0, "open", Quantity::Total), "1 M");
        assert_eq!(text(0.9996, "open", Quantity::PerCall), "1 s");
        assert_eq!(text(119.9, "open", Quantity::PerCall), "2 min");
        assert_eq!(text(104_234_567.0, "open", Quantity::PerCall), "1210 d");
    }

    #[test]
    fn extremes_have_a_text() {
        use Quantity::{PerCall, Rate};
        assert_eq!(text(0.0, "write_bytes", Rate), "0 B/s");
        assert_eq!(text(0.0, "open", PerCall), "0 s");
        assert_eq!(text(-1500.0, "write_bytes", Rate), "-1.5 kB/s");
        assert_eq!(text(0.00427, "open", Rate), "0.00427/s");
        assert_eq!(text(4.27e-6, "open", Rate), "0.00000427/s");
        assert_eq!(text(0.000_356, "service_time", Rate), "0.000356");
        assert_eq!(text(4.27e-10, "open", Rate), "4.27e-10/s");
        assert_eq!(text(18e18, "write_bytes", Rate), "18 EB/s");
        assert_eq!(text(1e30, "write_bytes", Rate), "1000000000000 EB/s");
        assert_eq!(text(1e35, "write_bytes", Rate), "1e17 EB/s");
        assert_eq!(text(f64::NAN, "open", Rate), "NaN");
        assert_eq!(text(f64::NEG_INFINITY, "open", Rate), "-Infinity");
    }

    #[test]
    fn an_unknown_operation_has_no_unit() {
        assert_eq!(Readable::new(1.0, "fly", Quantity::Rate), None);
        assert_eq!(Readable::new(1.0, "read_bytes_time", Quantity::Rate), None);
        assert_eq!(Quantity::find("per_hour"), None);
        assert_eq!(Quantity::find("per_call"), Some(Quantity::PerCall));
    }

    proptest! {
        /// A text can be read back, and is no more than half of the third digit away from the value.
        #[test]
        fn what_is_shown_is_the_value(mantissa in 1.0_f64..10.0, exponent in -3_i32..20) {
            let value = mantissa * 10_f64.powi(exponent);
            let text = text(value, "write_bytes", Quantity::Rate);
            let (number, unit) = text.split_once(' ').expect("a number and a unit");
            let prefix = PREFIXES.iter().position(|prefix| unit.starts_with(prefix));
            let factor = prefix.map_or(1.0, |position| 1000_f64.powi(position as i32 + 1));
            let shown = number.parse::<f64>().expect("a number") * factor;
            prop_assert!((shown - value).abs() <= 0.00501 * value, "{value} is shown as {text}");
        }
    }
}
