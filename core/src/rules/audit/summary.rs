//! The numbers of observations and targets that were audited, in words.

use std::fmt;

/// The numbers of observations and targets that were audited.
#[derive(Debug, Clone, Copy, Default)]
pub struct Summary {
    audited: u64,
    left: u64,
    targets: u64,
}

impl Summary {
    /// Adds a target: the number of observations that were recomputed, and of the remaining ones.
    pub fn add(&mut self, computed: u64, left: u64) {
        self.audited += computed;
        self.left += left;
        self.targets += u64::from(computed > 0);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u64, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        write!(
            out,
            "audited {} of {}",
            counted(self.audited, "observation"),
            counted(self.targets, "target")
        )?;
        match self.left {
            0 => Ok(()),
            left => write!(
                out,
                "; skipped {left}: their raw text, or that of the previous observation, is gone or damaged"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_a_computed_observation_are_not_counted() {
        let mut summary = Summary::default();
        assert_eq!(summary.to_string(), "audited 0 observations of 0 targets");
        summary.add(1, 0);
        assert_eq!(summary.to_string(), "audited 1 observation of 1 target");
        summary.add(2, 0);
        summary.add(0, 4);
        assert_eq!(
            summary.to_string(),
            "audited 3 observations of 2 targets; skipped 4: their raw text, or that of the previous observation, is gone \
             or damaged"
        );
    }
}
