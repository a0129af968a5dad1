//! Finds the days on which jobs of entries and names of users change.

use std::collections::HashMap;

use jobstats_core::base::instant::Micros;
use jobstats_core::usage::{Subject, SubjectKind};

use crate::pg::error::Error;
use crate::pg::receive::Type;
use crate::pg::spi::values;
use crate::query::engine::Request;
use crate::query::read::{self, time};

/// The days on which jobs of entries and names of users change.
#[derive(Default)]
pub(super) struct ChangeDays {
    entries: HashMap<i64, Vec<Micros>>,
    users: HashMap<i64, Vec<Micros>>,
    /// The last instants of days, in order.
    pub days: Vec<Micros>,
}

impl ChangeDays {
    pub fn find(request: &Request<'_>) -> Result<Self, Error> {
        let plan = request.plan;
        let [since, until] = plan.window.bounds()?;
        let mut divided = Self::default();
        if plan.jobs.several {
            let is_own = request.conditions.own.is_some();
            let own = request.entry_ids().filter(|_| is_own);
            let held = read::rows(
                include_str!("../read/divided.sql"),
                &values![since, until, is_own, own],
                &[Type::Integer, Type::Time, Type::Time],
                |row| Some((row.integer(0)?, [time(row, 1)?, time(row, 2)?])),
            )?;
            for (entry, days) in held {
                divided.entries.entry(entry).or_default().extend(days);
            }
        }
        if plan.names.several {
            let renamed = read::rows(
                include_str!("../read/renamed.sql"),
                &values![since, until],
                &[Type::Integer, Type::Integer, Type::Time],
                |row| Some((row.integer(0), row.integer(1)?, time(row, 2)?)),
            )?;
            for (entry, uid, until) in renamed {
                let days = match entry {
                    Some(entry) => divided.entries.entry(entry).or_default(),
                    None => divided.users.entry(uid).or_default(),
                };
                days.push(until);
            }
        }
        let all = divided.entries.values_mut();
        for days in all.chain(divided.users.values_mut()) {
            days.push(Micros::MAX);
            days.sort_unstable();
            days.dedup();
            divided.days.extend_from_slice(days);
        }
        divided.days.sort_unstable();
        divided.days.dedup();
        Ok(divided)
    }

    pub fn of_entry(&self, id: i64, at: Micros) -> Subject {
        // Nearly always there are no edges, and many rows.
        let has_any = !self.entries.is_empty();
        let edges = has_any.then(|| self.entries.get(&id)).flatten();
        Subject {
            kind: SubjectKind::Entry,
            days: self.days(edges, at),
            id,
        }
    }

    pub fn of_user(&self, uid: Option<i64>, at: Micros) -> u32 {
        let edges = uid.and_then(|uid| self.users.get(&uid));
        self.days(edges, at)
    }

    /// Returns the number of the days in which an instant lies, between edges at which something changes.
    fn days(&self, edges: Option<&Vec<Micros>>, at: Micros) -> u32 {
        let Some(edges) = edges else {
            return 0;
        };
        let last = edges[edges
            .partition_point(|&edge| edge < at)
            .min(edges.len() - 1)];
        let number = match last {
            Micros::MAX => self.days.len() - 1,
            last => self.days.partition_point(|&it| it < last),
        };
        number as u32 + 1
    }
}
