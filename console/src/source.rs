//! The sources of readings: commands that are run again and again, a recording, or a store.

mod commands;
pub mod process;
pub mod recording;
mod replay;
pub mod stored;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::ask::error::Error;
use crate::live::history::{Loads, Medians, TargetStates};
use crate::live::interval::Round;
use crate::live::user_names::UserNames;

pub use commands::{Commands, server_of};
pub use replay::Replay;
pub use stored::StoreSource;

/// A step to another reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The next round: the only step of commands; the first one of a store is the requested time.
    Next,
    /// So many readings forward, or back.
    By(isize),
    /// The first reading that can be compared with one before.
    Begin,
    /// The last reading; of a store, what comes from now on.
    End,
}

/// The place of a reading in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The number of the reading, from 1.
    pub at: usize,
    /// The number of all readings.
    pub of: usize,
}

/// The result of a step.
#[derive(Debug, Default)]
pub struct Update {
    /// The new rounds in order; empty at the end of a recording.
    pub rounds: Vec<Round>,
    /// True if these readings do not follow those before.
    pub begins_anew: bool,
    /// The place in a recording.
    pub position: Option<Position>,
    /// The time until the next reading of a recording, in microseconds. Of live readings, it is the time until the next attempt
    /// after a failure.
    pub until_next: Option<i64>,
    /// True for live rounds, false for the past; `None` if unchanged.
    pub is_live: Option<bool>,
    /// The loads of file systems in the day before, if they are new.
    pub history: Option<Loads>,
    /// The medians of rows at this time of day, if they are new.
    pub medians: Option<Medians>,
    /// Names of users that appear in the readings.
    pub users: Vec<(u32, Box<str>)>,
}

impl Update {
    /// Brings the state of the targets, and the names of users, up to date.
    pub fn apply(self, history: &mut TargetStates, users: &mut Arc<UserNames>) {
        if self.begins_anew {
            *history = TargetStates::default();
        }
        if let Some(loads) = self.history {
            history.past_loads = loads;
        }
        if let Some(medians) = self.medians {
            history.medians = medians;
        }
        if !self.users.is_empty() {
            Arc::make_mut(users).extend(self.users);
        }
        for round in self.rounds {
            history.take(round);
        }
    }
}

/// A source of readings.
pub trait Source: Send {
    /// Goes to another reading, and blocks until it is made.
    ///
    /// # Errors
    ///
    /// Fails if there will be no more readings. Servers that fail are part of a reading.
    fn step(&mut self, step: Step) -> Result<Update, Error>;

    /// Returns true if rounds are live and must be requested on schedule.
    fn is_live(&self) -> bool;
}
