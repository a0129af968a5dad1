//! Numbers in cells: three significant digits, of rates with at most three decimals, aligned at the decimal point, with their unit.

use jobstats_core::output::quantity::{Quantity, Readable};

use crate::values::text;

/// The sign of a number that cannot be known.
pub const UNKNOWN: &str = "–";

/// Smaller rates are shown as less than this.
const SMALLEST: f64 = 0.001;

/// The number of significant digits.
const DIGITS: usize = 3;

/// The part that a sum of floating point numbers may miss of a whole.
const ROUNDING: f64 = 1e-9;

/// Prints a rate of an operation.
pub fn rate(value: impl Into<Option<f64>>, operation: &str) -> String {
    Number::of(value.into(), operation, Quantity::Rate).text()
}

/// Prints an amount of an operation.
pub fn total(value: impl Into<Option<f64>>, operation: &str) -> String {
    Number::of(value.into(), operation, Quantity::Total).text()
}

/// Prints the bytes or the time of a call of an operation.
pub fn per_call(value: impl Into<Option<f64>>, operation: &str) -> String {
    Number::of(value.into(), operation, Quantity::PerCall).text()
}

/// Prints a number of calls.
pub fn calls(count: f64) -> String {
    total(count, "open")
}

/// Prints an amount of energy.
pub fn joules(value: f64) -> String {
    let mut number = Number::of(Some(value), "open", Quantity::Total);
    number.unit.push('J');
    number.text()
}

/// Prints a ratio, or another number without a unit.
pub fn ratio(number: impl Into<Option<f64>>) -> String {
    rate(number, "service_time")
}

/// Prints a difference with its sign, and its size in this way.
pub fn difference(value: impl Into<Option<f64>>, print: impl Fn(f64) -> String) -> String {
    match value.into() {
        None => UNKNOWN.to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(value) => {
            let sign = if value > 0.0 { "+" } else { "−" };
            format!("{sign}{}", print(value.abs()))
        }
    }
}

/// Prints a part of a whole as percent.
pub fn percent(part: impl Into<Option<f64>>) -> String {
    Number::percent(part.into()).text()
}

/// Returns the mean of numbers, if there are any.
pub fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let numbers: Vec<_> = numbers.collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// A number split at its decimal point, so that a column can align it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Number {
    /// The digits in front of the point, or the sign of an unknown number.
    pub whole: String,
    /// The point and decimals, or empty.
    pub fraction: String,
    /// The unit with its prefix, such as `MB/s`, or empty.
    pub unit: String,
}

/// The widths of the parts of a column of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Widths {
    /// The cells in front of the decimal point.
    pub whole: usize,
    /// The cells of the point and of the digits behind it.
    pub fraction: usize,
    /// The cells of the unit, without the blank in front of it.
    pub unit: usize,
}

impl Number {
    /// Formats a value of an operation, or the sign of an unknown one.
    pub fn of(value: Option<f64>, operation: &str, quantity: Quantity) -> Self {
        let Some(value) = value else {
            return Self::plain(UNKNOWN);
        };
        if value == 0.0 {
            return Self::plain("0");
        }
        let is_small = quantity == Quantity::Rate && value < SMALLEST;
        let value = match quantity {
            // More decimals would make a column wider for little.
            Quantity::Rate if value < 1.0 => (value / SMALLEST).round().max(1.0) * SMALLEST,
            _ => value,
        };
        match Readable::new(value, operation, quantity) {
            Some(readable) => Self::split(&readable.to_string(), is_small),
            None => Self::plain(UNKNOWN),
        }
    }

    /// Formats a value with three digits, including zeros, so that the digits of a right-aligned column line up. A count below a thousand
    /// is exact.
    pub fn fixed(value: Option<f64>, operation: &str, quantity: Quantity) -> Self {
        let mut number = Self::of(value, operation, quantity);
        let is_number = number.whole.bytes().all(|digit| digit.is_ascii_digit());
        let is_zero = number.whole == "0" && number.fraction.is_empty();
        let is_exact = quantity == Quantity::Total && matches!(&*number.unit, "" | "B");
        if !is_number || is_zero || is_exact {
            return number;
        }
        // A rate below 1 has at most as many decimals.
        let decimals = match number.whole.as_str() {
            "0" => DIGITS,
            whole => DIGITS.saturating_sub(whole.len()),
        };
        if decimals > 0 {
            let digits = number.fraction.trim_start_matches('.');
            number.fraction = format!(".{digits:0<decimals$}");
        }
        number
    }

    /// Formats a part of a whole as percent. Only all of it is 100 %.
    pub fn percent(part: Option<f64>) -> Self {
        let Some(part) = part.filter(|part| part.is_finite()) else {
            return Self::plain(UNKNOWN);
        };
        // A part of a difference may go the other way.
        let sign = if part < 0.0 { "−" } else { "" };
        let percent = 100.0 * part.abs();
        let digits = match percent {
            0.0 => "0",
            ..1.0 => "<1",
            99.5.. if part.abs() < 1.0 - ROUNDING => ">99",
            _ => &format!("{percent:.0}"),
        };
        Self {
            whole: format!("{sign}{digits}"),
            unit: "%".to_owned(),
            ..Self::default()
        }
    }

    /// Formats a number as it is.
    pub fn plain(text: &str) -> Self {
        Self {
            whole: text.to_owned(),
            ..Self::default()
        }
    }

    fn split(text: &str, is_smaller: bool) -> Self {
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e');
        let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
        let sign = if is_smaller { "<" } else { "" };
        Self {
            whole: format!("{sign}{whole}"),
            fraction: fraction.to_owned(),
            unit: unit.trim_start().to_owned(),
        }
    }

    /// Returns the text without alignment.
    pub fn text(&self) -> String {
        let is_close = self.unit.is_empty() || self.unit.starts_with('/');
        let space = if is_close { "" } else { " " };
        format!("{}{}{space}{}", self.whole, self.fraction, self.unit)
    }

    /// Returns the text in a column of these widths, aligned at the decimal point.
    pub fn aligned(&self, widths: Widths) -> String {
        let before = widths.whole.saturating_sub(text::width(&self.whole));
        text::left(
            &format!("{}{}", " ".repeat(before), self.text()),
            widths.cells(),
        )
    }
}

impl Widths {
    /// Returns the widths that these numbers take at least.
    pub fn of<'n>(least: Self, numbers: impl IntoIterator<Item = &'n Number>) -> Self {
        numbers.into_iter().fold(least, |widths, number| Self {
            whole: widths.whole.max(text::width(&number.whole)),
            fraction: widths.fraction.max(text::width(&number.fraction)),
            unit: widths.unit.max(text::width(&number.unit)),
        })
    }

    /// Returns the cells of a column of these widths.
    pub const fn cells(self) -> usize {
        let blank = if self.unit > 0 { 1 } else { 0 };
        self.whole + self.fraction + blank + self.unit
    }
}

/// The parts of a full block, from an eighth on.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Draws a part of a whole as a bar of at most this many cells, in eighths of a cell. A part that is not zero is seen.
pub fn bar(part: f64, cells: usize) -> String {
    if part.is_nan() || part <= 0.0 {
        return String::new();
    }
    let eighths = (part.min(1.0) * cells as f64 * 8.0).round() as usize;
    let eighths = eighths.clamp(1, 8 * cells.max(1));
    let mut out = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        out.push(EIGHTHS[eighths % 8 - 1]);
    }
    out
}

/// The heights of the bars of a sparkline.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the last values as a line of bars. A value that is not known is a gap.
pub fn sparkline(values: &[Option<f64>], cells: usize) -> String {
    let values = &values[values.len().saturating_sub(cells)..];
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let height = |value: &Option<f64>| match value {
        None => ' ',
        Some(_) if most <= 0.0 => HEIGHTS[0],
        Some(value) => HEIGHTS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    values.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(value: f64) -> Number {
        Number::of(Some(value), "write_bytes", Quantity::Rate)
    }

    #[test]
    fn a_part_may_go_the_other_way() {
        for (part, shown) in [(-0.11, "−11 %"), (-0.001, "−<1 %"), (-2.0, "−200 %")] {
            assert_eq!(percent(part), shown);
        }
    }

    #[test]
    fn numbers_align_at_the_point_and_have_their_units() {
        let numbers = [rate(104e6), rate(1.25e3), rate(0.0), rate(512.0)];
        let widths = Widths::of(Widths::default(), &numbers);
        let column: Vec<_> = numbers.iter().map(|it| it.aligned(widths)).collect();
        assert_eq!(
            column,
            ["104 MB/s   ", "  1.25 kB/s", "  0        ", "512 B/s    "]
        );
        assert!(
            column
                .iter()
                .all(|cell| text::width(cell) == widths.cells())
        );
    }

    #[test]
    fn unknown_is_a_dash_and_zero_is_zero() {
        let unknown = Number::of(None, "write_bytes", Quantity::Rate);
        assert_eq!(unknown.text(), "–");
        assert_eq!(rate(0.0).text(), "0");
        let calls = |value| Number::of(Some(value), "open", Quantity::Rate).text();
        assert_eq!(
            (joules(336_000.0), joules(5.6)),
            ("336 kJ".to_owned(), "5.6 J".to_owned())
        );
        assert_eq!(calls(0.125), "0.125/s");
        assert_eq!(calls(0.0001), "<0.001/s");
        assert_eq!(
            (calls(0.028_46), calls(0.999_9)),
            ("0.028/s".to_owned(), "1/s".to_owned())
        );
        let time = Number::of(Some(0.0004), "service_time", Quantity::PerCall);
        assert_eq!(time.text(), "400 µs");
        assert_eq!(calls(12_345.0), "12.3 k/s");
        assert_eq!(
            Number::of(Some(3.25), "service_time", Quantity::Rate).text(),
            "3.25"
        );
        assert_eq!(Number::percent(Some(0.424)).text(), "42 %");
        assert_eq!(Number::percent(Some(0.001)).text(), "<1 %");
        assert_eq!(Number::percent(None).text(), "–");
    }

    #[test]
    fn only_the_whole_is_100_percent() {
        let percent = |part| Number::percent(Some(part)).text();
        assert_eq!(
            (percent(1.0), percent(0.994)),
            ("100 %".to_owned(), "99 %".to_owned())
        );
        assert_eq!(
            (percent(0.996), percent(0.999_99)),
            (">99 %".to_owned(), ">99 %".to_owned())
        );
        // Ten tenths miss a little.
        assert_eq!(percent([0.1; 10].iter().sum()), "100 %");
    }

    #[test]
    fn a_fixed_number_has_three_digits() {
        let load = |value| Number::fixed(Some(value), "service_time", Quantity::Rate).text();
        assert_eq!(
            [load(3.8), load(72.0), load(247.0), load(0.1)],
            ["3.80", "72.0", "247", "0.100"]
        );
        assert_eq!(
            [load(0.0), load(0.000_1), load(1234.0)],
            ["0", "<0.001", "1230"]
        );
        let bytes = |value, quantity| Number::fixed(Some(value), "read_bytes", quantity).text();
        assert_eq!(bytes(4e6, Quantity::Rate), "4.00 MB/s");
        assert_eq!(
            (bytes(7.0, Quantity::Total), bytes(7e3, Quantity::Total)),
            ("7 B".to_owned(), "7.00 kB".to_owned())
        );
        assert_eq!(
            Number::fixed(Some(12.0), "open", Quantity::Total).text(),
            "12"
        );
        assert_eq!(Number::fixed(None, "open", Quantity::Rate).text(), "–");
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(0.001, 4), "▏");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.53, 4), "██▏");
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(7.0, 4), "████");
        assert_eq!(bar(f64::NAN, 4), "");
        assert_eq!(
            sparkline(&[Some(0.0), None, Some(4.0), Some(8.0)], 9),
            "▁ ▄█"
        );
        assert_eq!(sparkline(&[Some(0.0); 9], 3), "▁▁▁");
    }

    proptest! {
        #[test]
        fn a_bar_stays_in_its_cells(part in any::<f64>(), cells in 1_usize..30) {
            prop_assert!(text::width(&bar(part, cells)) <= cells);
        }

        #[test]
        fn a_number_fits_the_widths_that_it_asked_for(values in prop::collection::vec(0.0..1e19_f64, 1..9)) {
            let numbers: Vec<_> = values.into_iter().map(rate).collect();
            let widths = Widths::of(Widths::default(), &numbers);
            for number in &numbers {
                prop_assert_eq!(text::width(&number.aligned(widths)), widths.cells());
                prop_assert!(!number.aligned(widths).contains('…'));
            }
        }
    }
}
