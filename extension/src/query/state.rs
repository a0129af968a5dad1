//! The state of the store, which a question must know before it reads rows.

use std::collections::HashMap;

use jobstats_core::increment::Coarse;
use jobstats_core::instant::{Micros, Span};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Row, Statements};
use crate::pg::time::EARLIEST;
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::read::{self, Target};
use crate::store;
use crate::store::rollup::{ROLLUPS, Rollup};

/// The state of the store.
#[derive(Default)]
pub struct State {
    /// Set if the store is a front, whose nodes sum their rows.
    pub is_front: bool,
    /// The memory that an answer may take.
    pub limit: usize,
    /// The time since which increments and observations are kept.
    pub kept_since: Micros,
    /// Set if there are entries whose job may say who their user is.
    pub has_unnamed: bool,
    /// Set if there are entries that belong to several jobs.
    pub has_divided: bool,
    /// Set if any target was ever fed as a whole.
    pub has_wholes: bool,
    /// The ends of earlier names of users, and the last end of an earlier name of a group.
    pub renamed: Vec<Micros>,
    pub group_renamed: Micros,
    /// The rollups, coarsest first.
    pub rollups: Vec<Stored>,
    /// The spans in which rows of increments may cross edges of rollups, because a target was not read for long: usage is known by hours or
    /// days only.
    pub coarse: Vec<Coarse>,
    /// The spans in which rollups cannot be relied on.
    pub dirty: Vec<Span>,
    /// The days on which sums by owner cannot be relied on.
    pub changed_days: Vec<Micros>,
    /// The targets, also retired ones.
    pub targets: Vec<Target>,
    /// The spans without a gap between observations, by target.
    pub spans: HashMap<i32, Vec<Span>>,
}

/// The times up to which a rollup can be relied on.
#[derive(Clone, Copy)]
pub struct Stored {
    pub rollup: &'static Rollup,
    /// The time since which it is kept, and those up to which it and its sums by owner are up to date.
    pub dropped: Micros,
    pub refreshed: Micros,
    pub users_refreshed: Micros,
}

const MAX_ANSWER: &str = "SELECT s.max_answer FROM jobstats.settings s";

/// The memory that a target or a span takes.
const THING_BYTES: usize = 256;

impl State {
    /// Reads the state of the store, of a front that of all its nodes.
    pub fn read(client: &SpiClient<'_>) -> Result<Self, Error> {
        let mut state = Self {
            is_front: store::is_front(client)?,
            limit: client.query_value::<i64>(MAX_ANSWER, &[])? as usize,
            kept_since: EARLIEST,
            group_renamed: EARLIEST,
            ..Self::default()
        };
        for row in client.query("SELECT * FROM jobstats.question_state", &[])? {
            state.add(&row)?;
        }
        // A rollup without a first observation lacks nothing, unless that is so on all nodes.
        for it in &mut state.rollups {
            for refreshed in [&mut it.refreshed, &mut it.users_refreshed] {
                if *refreshed == Micros::MAX {
                    *refreshed = EARLIEST;
                }
            }
        }
        if state.is_front && store::leaves_out(client)? {
            // What is missing is known by its name.
            state.targets = read::targets()?;
        }
        Ok(state)
    }

    /// Returns the targets that filters let through.
    pub fn targets_of(&self, filters: &Filters) -> impl Iterator<Item = &Target> {
        let conditions = filters.on(Level::Target);
        self.targets.iter().filter(move |it| {
            let mut conditions = conditions.iter();
            conditions.all(|condition| condition.lets(it.value(condition.dimension), None))
        })
    }

    /// Adds a row: of a front, that of a node. What is not known of one is not known.
    fn add(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let numbers = |name: &str| -> Result<Vec<Option<i64>>, Error> {
            let found: Option<Vec<Option<i64>>> = row.get(name)?;
            Ok(found.unwrap_or_default())
        };
        let times = |name: &str, infinite: Micros| -> Result<Vec<Micros>, Error> {
            let found = numbers(name)?.into_iter();
            Ok(found.map(|it| it.unwrap_or(infinite)).collect())
        };
        if !row.get::<bool>("has_refresh")? {
            return Err(Error::NoRow("refresh"));
        }
        let kept_since: Option<i64> = row.get("kept_since")?;
        self.kept_since = self.kept_since.max(kept_since.unwrap_or(EARLIEST));
        self.has_unnamed |= row.get::<bool>("has_unnamed")?;
        self.has_divided |= row.get::<bool>("has_divided")?;
        self.has_wholes |= row.get::<bool>("has_wholes")?;
        self.renamed.extend(times("renamed", Micros::MAX)?);
        let group_renamed: Option<i64> = row.get("group_renamed")?;
        self.group_renamed = self.group_renamed.max(group_renamed.unwrap_or(EARLIEST));
        let levels: Option<Vec<String>> = row.get("levels")?;
        let refreshed = times("refreshed", Micros::MAX)?.into_iter();
        let refreshed = refreshed.zip(times("users_refreshed", Micros::MAX)?);
        let dropped = times("dropped", EARLIEST)?.into_iter();
        for ((level, dropped), refreshed) in levels.iter().flatten().zip(dropped).zip(refreshed) {
            self.add_rollup(level, dropped, refreshed);
        }
        let width = times("coarse_width", 0)?.into_iter();
        let since = times("coarse_since", Micros::MIN)?.into_iter();
        let spans = since.zip(times("coarse_until", Micros::MAX)?);
        let coarse = spans.zip(width).map(|(span, width)| Coarse { span, width });
        self.coarse.extend(coarse);
        let since = times("dirty_since", Micros::MIN)?.into_iter();
        self.dirty
            .extend(since.zip(times("dirty_until", Micros::MAX)?));
        self.changed_days
            .extend(times("changed_days", Micros::MIN)?);
        self.add_targets(row, &numbers("ids")?, &numbers("retired")?)?;
        let targets = numbers("span_targets")?;
        require_room(targets.len(), THING_BYTES)?;
        let since = times("span_since", Micros::MIN)?.into_iter();
        let spans = since.zip(times("span_until", Micros::MAX)?);
        for (target, span) in targets.into_iter().flatten().zip(spans) {
            self.spans.entry(target as i32).or_default().push(span);
        }
        Ok(())
    }

    fn add_rollup(&mut self, level: &str, dropped: Micros, refreshed: (Micros, Micros)) {
        let Some(rollup) = ROLLUPS.iter().find(|it| it.name == level) else {
            return;
        };
        let new = Stored {
            rollup,
            dropped,
            refreshed: refreshed.0,
            users_refreshed: refreshed.1,
        };
        match self.rollups.iter_mut().find(|it| it.rollup.name == level) {
            Some(known) => {
                known.dropped = known.dropped.max(dropped);
                known.refreshed = known.refreshed.min(new.refreshed);
                known.users_refreshed = known.users_refreshed.min(new.users_refreshed);
            }
            None => {
                let coarser = |it: &Stored| it.rollup.micros > rollup.micros;
                let place = self.rollups.partition_point(coarser);
                self.rollups.insert(place, new);
            }
        }
    }

    fn add_targets(
        &mut self,
        row: &Row<'_>,
        ids: &[Option<i64>],
        retired: &[Option<i64>],
    ) -> Result<(), Error> {
        require_room(ids.len(), THING_BYTES)?;
        let texts = |name: &str| -> Result<Vec<Option<String>>, Error> {
            let found: Option<Vec<Option<String>>> = row.get(name)?;
            Ok(found.unwrap_or_default())
        };
        let named = texts("names")?.into_iter().zip(texts("kinds")?);
        let located = texts("clusters")?.into_iter().zip(texts("filesystems")?);
        let targets = ids.iter().zip(retired).zip(named.zip(located));
        for ((id, retired), ((name, kind), (cluster, filesystem))) in targets {
            self.targets.push(Target {
                id: id.unwrap_or(0) as i32,
                cluster: cluster.unwrap_or_default(),
                filesystem,
                kind: kind.unwrap_or_default(),
                name: name.unwrap_or_default(),
                retired: *retired,
            });
        }
        Ok(())
    }
}
