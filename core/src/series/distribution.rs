//! Describes values by their smallest, median and largest one.

/// The distribution of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// The smallest value.
    pub min: f64,
    /// The value in the middle; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// The largest value.
    pub max: f64,
}

impl Distribution {
    /// Describes finite values, whose order is changed. Returns `None` if there are none.
    pub fn of(values: &mut [f64]) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let (&min, &max) = (values.first()?, values.last()?);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Some(Self { min, median, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Option<(f64, f64, f64)> {
        let found = Distribution::of(&mut values.to_vec());
        found.map(|it| (it.min, it.median, it.max))
    }

    #[test]
    fn describes_an_odd_number_of_values_by_the_one_in_the_middle() {
        assert_eq!(of(&[9.0, 0.0, 3.0]), Some((0.0, 3.0, 9.0)));
        assert_eq!(of(&[7.0]), Some((7.0, 7.0, 7.0)));
    }

    #[test]
    fn describes_an_even_number_of_values_by_the_mean_of_the_two_in_the_middle() {
        assert_eq!(of(&[8.0, 1.0, 2.0, 5.0]), Some((1.0, 3.5, 8.0)));
    }

    #[test]
    fn has_no_description_of_no_values() {
        assert_eq!(of(&[]), None);
    }
}
