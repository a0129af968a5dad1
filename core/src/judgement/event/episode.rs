//! Episodes: spans in which a condition held, though not in every reading.

use crate::base::instant::{HOUR, MINUTE, Micros, Span};

/// An episode is measured in this time from its start. So a long one need not be read again to its start.
pub const MEASURED: Micros = 3 * HOUR;

/// A time in which a service or a target was not as usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Episode {
    /// The position of the service or target in the input.
    pub subject: usize,
    /// The start of the first reading that shows it.
    pub began: Micros,
    /// The time until which it lasted; if it is not over, the end of the last reading.
    pub until: Micros,
    /// The time at which the readings were sufficient.
    pub found: Micros,
    /// The time at which it had lasted long enough for an alert; `None` if it has not yet, or never did.
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

    /// Returns the time that the episode lasted.
    pub fn span(&self) -> Span {
        (self.began, self.until)
    }

    /// Returns the time from its start until it was found.
    pub(super) fn until_found(&self) -> Span {
        (self.began, self.found)
    }

    /// Returns the time in which the episode is [measured](MEASURED).
    pub(super) fn measured(&self) -> Span {
        (self.began, self.until.min(self.began + MEASURED))
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
    /// Returns the level of a value: at or above a threshold it supports an episode, below a lower one it contradicts it.
    pub fn of(value: f64, threshold: f64, ends: f64) -> Self {
        match value {
            _ if value >= threshold => Self::High,
            _ if value >= ends => Self::Between,
            _ => Self::Low,
        }
    }
}

/// The conditions on which an episode begins and ends.
pub(super) struct Hold {
    /// The number of newest readings, three quarters of which must be high.
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

/// Finds the episodes of a subject in readings, which are in order of time. Their rates, values and usual values are left to the detector.
pub(super) fn episodes(
    subject: usize,
    readings: impl Iterator<Item = (Span, Level)>,
    hold: &Hold,
) -> Vec<Episode> {
    let readings: Vec<(Span, Level)> = readings.collect();
    let mut found: Vec<Episode> = Vec::new();
    // The first reading that may count for the next episode, and the start of the low readings so far.
    let (mut first, mut low_since): (usize, Option<Micros>) = (0, None);
    for (index, &((since, until), level)) in readings.iter().enumerate() {
        let before = index.checked_sub(1).map_or(since, |it| readings[it].0.1);
        let is_gap = since - before >= hold.quiet;
        let open = found.last_mut().filter(|it| !it.over);
        if is_gap {
            if let Some(open) = open {
                open.over = true;
                open.until = low_since.unwrap_or(open.until);
            }
            (first, low_since) = (index, None);
        } else if let Some(open) = open {
            low_since = (level == Level::Low).then(|| low_since.unwrap_or(since));
            if let Some(ended) = low_since.filter(|low| until - low >= hold.quiet) {
                open.over = true;
                open.until = ended;
                (first, low_since) = (index + 1, None);
                continue;
            }
            open.until = until;
            if open.confirmed.is_none() && is_confirmed(&readings[..=index], open.began, hold) {
                open.confirmed = Some(until);
            }
            continue;
        }
        if let Some(began) = begins(&readings[first..=index], hold) {
            found.push(Episode {
                began,
                confirmed: is_confirmed(&readings[..=index], began, hold).then_some(until),
                over: false,
                ..Episode::seen_at(subject, until)
            });
        }
    }
    found
}

/// Returns whether an episode that began at a time has lasted long enough at the last of these readings to be confirmed.
fn is_confirmed(readings: &[(Span, Level)], began: Micros, hold: &Hold) -> bool {
    let since = readings.partition_point(|(span, _)| span.0 < began);
    let lasts = readings.last().map_or(0, |(span, _)| span.1 - began);
    lasts >= hold.confirms && are_high(&readings[since..])
}

/// Returns the time since which the newest of these readings are high.
fn begins(readings: &[(Span, Level)], hold: &Hold) -> Option<Micros> {
    let (last, _) = readings.last()?;
    let covers =
        |it: &&[(Span, Level)]| it.len() >= hold.readings && last.1 - it[0].0.0 >= hold.lasting;
    let starts = (0..readings.len()).rev();
    let newest = starts.map(|start| &readings[start..]).find(covers)?;
    let first = newest.iter().find(|(_, level)| *level == Level::High)?;
    are_high(newest).then_some(first.0.0)
}

/// Returns whether three quarters of readings are high, and the newest one is.
fn are_high(readings: &[(Span, Level)]) -> bool {
    let is_high = |it: &&(Span, Level)| it.1 == Level::High;
    let highs = readings.iter().filter(is_high).count();
    readings.last().as_ref().is_some_and(is_high) && highs * 4 >= readings.len() * 3
}
