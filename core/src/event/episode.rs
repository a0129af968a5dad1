//! Episodes: from when to when something was so, though not every reading says so.

use crate::instant::{HOUR, MINUTE, Micros, Span};

/// The time from its start by which an episode is measured. A long one that is judged again need not be read to its start.
pub const MEASURED: Micros = 3 * HOUR;

/// A time in which a service or a target was not as usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Episode {
    /// The position of the service or target among those that were given.
    pub subject: usize,
    /// The start of the first reading that shows it.
    pub began: Micros,
    /// The time until which it lasted; if it is not over, the end of the last reading.
    pub until: Micros,
    /// The time at which the readings were enough to say so.
    pub found: Micros,
    /// The time at which it had lasted so long that somebody should be told; `None` if it has not yet, or never did.
    pub confirmed: Option<Micros>,
    /// True if it is over.
    pub over: bool,
    /// By how many times it passed the floor of its kind when it was found.
    pub rate: f64,
    /// The value in the first [`MEASURED`], in the detector's unit.
    pub value: f64,
    /// The usual value, in the same unit.
    pub usual: f64,
}

impl Episode {
    /// Returns the episode that one reading shows, which is over at once.
    pub(super) const fn seen_at(subject: usize, time: Micros) -> Self {
        Self {
            subject,
            began: time,
            until: time,
            found: time,
            confirmed: Some(time),
            over: true,
            rate: 1.0,
            value: 0.0,
            usual: 0.0,
        }
    }
}

/// The word of a reading on an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Speaks for one.
    High,
    /// Neither begins nor ends one.
    Between,
    /// Speaks against one.
    Low,
}

impl Level {
    /// Returns what a value says: from a threshold on it speaks for an episode, and against one under half of that.
    pub fn of(value: f64, threshold: f64) -> Self {
        match value {
            _ if value >= threshold => Self::High,
            _ if value >= threshold / 2.0 => Self::Between,
            _ => Self::Low,
        }
    }
}

/// The conditions on which an episode begins and ends.
pub(super) struct Hold {
    /// The number of newest readings of which three quarters must be high.
    pub readings: usize,
    /// The least time that these readings cover.
    pub lasting: Micros,
    /// The time of low readings, or without any, that ends it.
    pub quiet: Micros,
    /// The time after which, if three quarters of its readings were high and the newest one is, it is confirmed.
    pub confirms: Micros,
}

impl Hold {
    /// The time after which an episode is over.
    pub const QUIET: Micros = 15 * MINUTE;
}

/// The time that an episode lasted, and whether it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub began: Micros,
    pub until: Micros,
    pub found: Micros,
    pub confirmed: Option<Micros>,
    pub over: bool,
}

impl Stretch {
    /// Returns the time up to which it is [measured](MEASURED).
    pub fn measured_until(&self) -> Micros {
        self.until.min(self.began + MEASURED)
    }

    /// Returns the episode of a subject that lasted so long.
    pub const fn episode(&self, subject: usize, rate: f64, value: f64, usual: f64) -> Episode {
        Episode {
            subject,
            began: self.began,
            until: self.until,
            found: self.found,
            confirmed: self.confirmed,
            over: self.over,
            rate,
            value,
            usual,
        }
    }
}

/// Finds the episodes in readings, which are in order of time.
pub(super) fn stretches(readings: &[(Span, Level)], hold: &Hold) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    // The first reading that may count for the next episode, and the start of the low readings so far.
    let (mut first, mut low_since): (usize, Option<Micros>) = (0, None);
    for (index, &((since, until), level)) in readings.iter().enumerate() {
        let before = index.checked_sub(1).map_or(since, |it| readings[it].0.1);
        let is_gap = since - before >= hold.quiet;
        let open = found.last_mut().filter(|it| !it.over);
        if is_gap {
            first = index;
        }
        if let Some(open) = open {
            let low = (level == Level::Low).then(|| low_since.unwrap_or(since));
            let ended = match is_gap {
                true => low_since,
                false => low.filter(|low| until - low >= hold.quiet),
            };
            if is_gap || ended.is_some() {
                open.over = true;
                open.until = ended.unwrap_or(open.until);
                (first, low_since) = (index, None);
                if !is_gap {
                    first = index + 1;
                    continue;
                }
            } else {
                low_since = low;
                open.until = until;
                if open.confirmed.is_none() && is_confirmed(&readings[..=index], open.began, hold) {
                    open.confirmed = Some(until);
                }
                continue;
            }
        }
        if let Some(began) = begins(&readings[first..=index], hold) {
            found.push(Stretch {
                began,
                until,
                found: until,
                confirmed: is_confirmed(&readings[..=index], began, hold).then_some(until),
                over: false,
            });
        }
    }
    found
}

/// Returns whether an episode that began at a time has lasted long enough at the last of these readings to be confirmed.
fn is_confirmed(readings: &[(Span, Level)], began: Micros, hold: &Hold) -> bool {
    let since = readings.partition_point(|(span, _)| span.0 < began);
    let all = &readings[since..];
    let highs = all.iter().filter(|(_, level)| *level == Level::High);
    all.last().is_some_and(|(span, level)| {
        *level == Level::High
            && span.1 - began >= hold.confirms
            && highs.count() * 4 >= all.len() * 3
    })
}

/// Returns the time since which the newest of these readings are high.
fn begins(readings: &[(Span, Level)], hold: &Hold) -> Option<Micros> {
    let (last, level) = readings.last()?;
    let covers =
        |it: &&[(Span, Level)]| it.len() >= hold.readings && last.1 - it[0].0.0 >= hold.lasting;
    let starts = (0..readings.len()).rev();
    let newest = starts.map(|start| &readings[start..]).find(covers)?;
    let highs = newest.iter().filter(|(_, level)| *level == Level::High);
    let first = highs.clone().next()?;
    let enough = highs.count() * 4 >= newest.len() * 3;
    (*level == Level::High && enough).then_some(first.0.0)
}
