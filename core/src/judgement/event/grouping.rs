//! Events of a file system: the episodes that began together are one.

use super::episode::Episode;
use crate::base::instant::{MINUTE, Micros, Span};

/// The time within which what begins is one event.
pub const TOGETHER: Micros = 5 * MINUTE;

/// An event: episodes of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The start of the first episode.
    pub began: Micros,
    /// The end of the last one, as far as it is known.
    pub until: Micros,
    /// The time at which the first one was found.
    pub found: Micros,
    /// The time at which the first one had lasted long enough for an alert.
    pub confirmed: Option<Micros>,
    /// True if all are over.
    pub over: bool,
    /// The rate of the first one found.
    pub rate: f64,
    /// The episodes in order of their starts.
    pub episodes: Vec<Episode>,
}

impl Event {
    /// Returns the time that the event lasted.
    pub fn span(&self) -> Span {
        (self.began, self.until)
    }

    /// Returns the episode with the largest multiple of its usual value.
    pub fn worst(&self) -> Option<&Episode> {
        let times = |it: &Episode| it.value / it.usual.max(f64::MIN_POSITIVE);
        let all = self.episodes.iter();
        all.max_by(|one, other| times(one).total_cmp(&times(other)))
    }
}

/// Returns whether two times touch each other.
pub fn overlap(one: Span, other: Span) -> bool {
    one.0 <= other.1 && other.0 <= one.1
}

/// Joins episodes of one kind and file system. What begins within five minutes of an event, or while it lasts, belongs to it.
pub fn join(mut episodes: Vec<Episode>) -> Vec<Event> {
    episodes.sort_by_key(|it| (it.began, it.subject));
    let mut events: Vec<Event> = Vec::new();
    for episode in episodes {
        match events.last_mut() {
            Some(event) if episode.began <= (event.began + TOGETHER).max(event.until) => {
                event.until = event.until.max(episode.until);
                if episode.found < event.found {
                    (event.found, event.rate) = (episode.found, episode.rate);
                }
                event.confirmed = event.confirmed.into_iter().chain(episode.confirmed).min();
                event.over &= episode.over;
                event.episodes.push(episode);
            }
            _ => events.push(Event {
                began: episode.began,
                until: episode.until,
                found: episode.found,
                confirmed: episode.confirmed,
                over: episode.over,
                rate: episode.rate,
                episodes: vec![episode],
            }),
        }
    }
    events
}
