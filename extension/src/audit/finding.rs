//! Disagreements, as people read them.

use jobstats_core::instant::Micros;

use crate::audit::Target;
use crate::pg::error::Error;
use jobstats_core::escape::escape;

/// The number of disagreements above which an audit fails. Nobody reads more.
const LIMIT: usize = 100_000;

/// The number of bytes of a line that are shown.
const SHOWN: usize = 200;

/// A stored value that differs from the computed one.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The time of the observation.
    pub time: Micros,
    pub entry: Option<String>,
    pub what: &'static str,
    pub stored: Option<String>,
    pub computed: Option<String>,
}

impl Finding {
    /// Creates a finding about an observation as a whole.
    pub fn new(
        time: Micros,
        what: &'static str,
        stored: impl Into<Option<String>>,
        computed: impl Into<Option<String>>,
    ) -> Self {
        Self {
            time,
            entry: None,
            what,
            stored: stored.into(),
            computed: computed.into(),
        }
    }
}

/// Cluster and name of a target.
type Name = (String, String);

/// The findings of an audit.
#[derive(Default)]
pub struct Findings(Vec<(Name, Finding)>);

impl Findings {
    /// Adds a finding about a target.
    ///
    /// # Errors
    /// [`Error::TooManyDisagreements`] if there are 100,000 findings already.
    pub fn add(&mut self, target: &Target, finding: Finding) -> Result<(), Error> {
        self.add_named((target.cluster.clone(), target.name.clone()), finding)
    }

    /// Adds a finding about a target of which only the cluster and the name are known.
    ///
    /// # Errors
    /// [`Error::TooManyDisagreements`] if there are 100,000 findings already.
    pub fn add_named(&mut self, target: Name, finding: Finding) -> Result<(), Error> {
        if self.0.len() == LIMIT {
            return Err(Error::TooManyDisagreements);
        }
        self.0.push((target, finding));
        Ok(())
    }

    /// Returns the findings in order of target and time. The findings of one observation stay in the order in which
    /// they were found.
    pub fn in_order(mut self) -> Vec<(Name, Finding)> {
        self.0
            .sort_by(|a, b| (&a.0, a.1.time).cmp(&(&b.0, b.1.time)));
        self.0
    }
}

/// Returns the first line in which two texts differ, from each of them; `None` for a text that has ended before or is
/// missing.
pub fn first_difference(
    stored: Option<&[u8]>,
    computed: Option<&[u8]>,
) -> (Option<String>, Option<String>) {
    let (mut stored, mut computed) = (lines(stored), lines(computed));
    for number in 1.. {
        match (stored.next(), computed.next()) {
            (None, None) => break,
            (one, other) if one == other => {}
            (one, other) => {
                let show = |line| shown(number, line);
                return (one.map(show), other.map(show));
            }
        }
    }
    (None, None)
}

fn lines(text: Option<&[u8]>) -> impl Iterator<Item = &[u8]> {
    let lines = text.into_iter();
    lines.flat_map(|text| text.split_inclusive(|byte| *byte == b'\n'))
}

fn shown(number: usize, line: &[u8]) -> String {
    let cut = &line[..line.len().min(SHOWN)];
    format!("line {number}: {}", escape(cut).trim_end())
}
