//! Disagreements, for people to read.

use jobstats_core::increment::Micros;

use super::Target;
use crate::error::Error;
use jobstats_core::escape::escape;

/// More than anybody reads.
const LIMIT: usize = 100_000;

/// Characters of a line that are shown.
const SHOWN: usize = 200;

/// One thing that is stored and differs from what was computed.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The observation.
    pub time: Micros,
    pub entry: Option<String>,
    pub what: &'static str,
    pub stored: Option<String>,
    pub computed: Option<String>,
}

impl Finding {
    /// About an observation as a whole.
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

/// What an audit returns.
#[derive(Default)]
pub struct Findings(Vec<(Name, Finding)>);

impl Findings {
    /// # Errors
    /// Where they are more than anybody reads.
    pub fn add(&mut self, target: &Target, finding: Finding) -> Result<(), Error> {
        self.add_named((target.cluster.clone(), target.name.clone()), finding)
    }

    /// The same where only the name of the target is known.
    ///
    /// # Errors
    /// Where they are more than anybody reads.
    pub fn add_named(&mut self, target: Name, finding: Finding) -> Result<(), Error> {
        if self.0.len() == LIMIT {
            return Err(Error::TooManyDisagreements);
        }
        self.0.push((target, finding));
        Ok(())
    }

    /// By target and time; those of one observation stay in the order in which they were found.
    pub fn in_order(mut self) -> Vec<(Name, Finding)> {
        self.0
            .sort_by(|a, b| (&a.0, a.1.time).cmp(&(&b.0, b.1.time)));
        self.0
    }
}

/// The first line in which two texts differ, of each; None where a text has ended before or is not there.
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
