//! The names that a user or group had, from the texts of several days.
//!
//! A name counts for whole UTC days: the name of a day is in the last text of the day, or else in the last one before it, or else
//! in the first one of all. Texts may come late, in any order and again. The names of single days are not kept, but the first and
//! last text that had each name. So the order of texts does not matter, as long as no name comes back after another one. Where one
//! does, a late text never changes a name of later texts; only the days between two names may get a wrong one.
//!
//! ```
//! use jobstats_core::text::getent::history::{History, Name};
//! use jobstats_core::base::instant::DAY;
//!
//! let mut history = History::default();
//! for (day, name) in [(7, "ada"), (9, "countess"), (8, "ada")] {
//!     history.add(Name::of(name, None), day * DAY);
//! }
//! let names: Vec<_> = history.runs.iter().map(|run| (run.name.name.as_str(), run.since / DAY)).collect();
//! assert_eq!(names, [("ada", 7), ("countess", 9)]);
//! ```

#[cfg(test)]
mod tests;

use crate::base::instant::{DAY, Micros};

/// The number of names of one number that are kept, the last ones.
pub const RUNS_MAX: usize = 100;

/// A name, with the primary group for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub name: String,
    /// The number of the primary group; `None` if it is unknown, and for groups.
    pub gid: Option<i64>,
}

impl Name {
    /// Makes a name.
    pub fn of(name: &str, gid: Option<i64>) -> Self {
        Self {
            name: name.to_owned(),
            gid,
        }
    }

    /// Returns whether both may be the same: a group that is unknown may be any.
    fn agrees(&self, other: &Self) -> bool {
        let has_other_gid = || self.gid.is_some() && other.gid.is_some() && self.gid != other.gid;
        self.name == other.name && !has_other_gid()
    }
}

/// The days on which a number had a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The name.
    pub name: Name,
    /// 0:00 UTC of the first day; `Micros::MIN` if it is unknown.
    pub since: Micros,
    /// The time of the last text with it; `Micros::MIN` if unknown.
    pub seen: Micros,
}

impl Run {
    /// Takes the days of a later run if that may have the same name, and returns whether it may.
    fn takes(&mut self, later: &Self) -> bool {
        let is_same = self.name.agrees(&later.name);
        if is_same {
            self.name.gid = self.name.gid.or(later.name.gid);
            self.seen = self.seen.max(later.seen);
        }
        is_same
    }
}

/// The names of a number: the runs in order, each up to the next one. The first one counts for all time before it too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// The runs.
    pub runs: Vec<Run>,
}

impl History {
    /// Adds the name in a text of this time.
    pub fn add(&mut self, name: Name, time: Micros) {
        let since = day_of(time);
        let new = Run {
            name,
            since,
            seen: time,
        };
        match self.runs.iter().rposition(|run| run.since <= since) {
            None => self.runs.insert(0, new),
            Some(place) => self.add_after(place, new),
        }
        self.runs.dedup_by(|next, run| run.takes(next));
        let surplus = self.runs.len().saturating_sub(RUNS_MAX);
        self.runs.drain(..surplus);
    }

    /// Adds a day that does not lie before the run of this place, but before the next one.
    fn add_after(&mut self, place: usize, new: Run) {
        let run = &mut self.runs[place];
        let last_day = day_of(run.seen);
        if run.takes(&new) {
            return;
        }
        if new.since == run.since {
            // Of a day that began another name, the last text counts.
            if last_day == new.since && run.seen < new.seen {
                *run = new;
            }
        } else if run.seen < new.seen {
            run.seen = run.seen.min(new.since - 1);
            self.runs.insert(place + 1, new);
        } else if new.since < last_day {
            // The name was seen before and after. The days in between are uncertain.
            let again = Run {
                since: last_day,
                ..run.clone()
            };
            run.seen = run.since;
            self.runs.splice(place + 1..place + 1, [new, again]);
        }
    }
}

/// Returns 0:00 UTC of the day of an instant; `Micros::MIN` if it is unknown.
fn day_of(time: Micros) -> Micros {
    if time == Micros::MIN {
        time
    } else {
        time - time.rem_euclid(DAY)
    }
}
