//! The state of the store, which a question must know before it reads rows.

use std::cmp::Reverse;
use std::collections::HashMap;

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::base::target::TargetKind;
use jobstats_core::rules::increment::Coarse;
use jobstats_core::usage::Target;
use pgrx::spi::SpiClient;
use serde::Deserialize;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::receive::{self, Type};
use crate::pg::spi::Statements;
use crate::pg::time::EARLIEST;
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::read;
use crate::store;
use crate::store::rollup::{ROLLUPS, Rollup};

/// The state of the store.
#[derive(Default)]
pub struct State {
    /// Set if the store is a front. Its nodes sum their rows.
    pub is_front: bool,
    /// The memory that an answer may take.
    pub limit: usize,
    /// The time since which increments and observations are kept.
    pub kept_since: Micros,
    /// Set if the user of some entries is only known from their job.
    pub has_unnamed: bool,
    /// Set if there are entries that belong to several jobs.
    pub has_divided: bool,
    /// Set if any target was ever fed as a whole.
    pub has_target_counters: bool,
    /// The ends of earlier names of users, and the last end of an earlier name of a group.
    pub renamed: Vec<Micros>,
    pub group_renamed: Micros,
    /// The rollups, coarsest first.
    pub rollups: Vec<RollupState>,
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
pub struct RollupState {
    pub rollup: &'static Rollup,
    /// The time since which it is kept, and those up to which it and its sums by owner are up to date.
    pub dropped: Micros,
    pub refreshed: Micros,
    pub users_refreshed: Micros,
}

/// The state of a store, or of a node of a front. An infinite time is the first or the last one.
#[derive(Deserialize)]
struct NodeState {
    has_refresh: bool,
    kept_since: Option<Micros>,
    has_unnamed: bool,
    has_divided: bool,
    has_target_counters: bool,
    renamed: Vec<Micros>,
    group_renamed: Option<Micros>,
    /// The level, the time since which it is kept, and those up to which it and its sums by owner are up to date.
    rollups: Vec<(String, Micros, Micros, Micros)>,
    coarse: Vec<(Span, Micros)>,
    dirty: Vec<Span>,
    changed_days: Vec<Micros>,
    targets: Vec<TargetRow>,
    spans: Vec<(i32, Span)>,
}

/// The id, cluster, file system, kind and name of a target, and the end of its last observation, if it is retired.
type TargetRow = (i32, String, Option<String>, String, String, Option<Micros>);

const STATE: &str = "SELECT n.state FROM jobstats.question_state n";

const MAX_ANSWER: &str = "SELECT s.max_answer FROM jobstats.settings s";

/// The memory that a byte of a state takes, at most.
const BYTES_OF_BYTE: usize = 4;

impl State {
    /// Reads the state of the store; of a front, the state of all its nodes.
    pub fn read(client: &SpiClient<'_>) -> Result<Self, Error> {
        let mut state = Self {
            is_front: store::is_front(client)?,
            limit: client.query_value::<i64>(MAX_ANSWER, &[])? as usize,
            kept_since: EARLIEST,
            group_renamed: EARLIEST,
            ..Self::default()
        };
        receive::each(STATE, &[], &[Type::Text], &mut |row| {
            let text = row.text(0).unwrap_or_default();
            require_room(text.len(), BYTES_OF_BYTE)?;
            let damaged = |it| Error::Damaged(format!("the state of a store: {it}"));
            state.add(serde_json::from_str(&text).map_err(damaged)?)?;
            Ok(true)
        })?;
        state.rollups.sort_by_key(|it| Reverse(it.rollup.micros));
        state.rollups.dedup_by(|it, known| known.takes(it));
        // A rollup without a first observation is complete, unless that applies to all nodes.
        for it in &mut state.rollups {
            for refreshed in [&mut it.refreshed, &mut it.users_refreshed] {
                if *refreshed == Micros::MAX {
                    *refreshed = EARLIEST;
                }
            }
        }
        if state.is_front && store::leaves_out(client)? {
            // Targets of missing nodes are known by name.
            state.targets = read::targets()?;
        }
        Ok(state)
    }

    /// Returns the time since which targets were observed, as far back as that is kept.
    pub fn observed_since(&self) -> Option<Micros> {
        self.spans.values().flatten().map(|it| it.0).min()
    }

    /// Returns the targets that filters let through.
    pub fn targets_of(&self, filters: &Filters) -> impl Iterator<Item = &Target> {
        let conditions = filters.on(Level::Target);
        self.targets.iter().filter(move |it| {
            let mut conditions = conditions.iter();
            conditions.all(|condition| condition.lets(it.value(condition.dimension), None))
        })
    }

    /// Adds the state of a node of a front, or of the store.
    fn add(&mut self, node: NodeState) -> Result<(), Error> {
        if !node.has_refresh {
            return Err(Error::NoRow("refresh"));
        }
        self.kept_since = self.kept_since.max(node.kept_since.unwrap_or(EARLIEST));
        self.has_unnamed |= node.has_unnamed;
        self.has_divided |= node.has_divided;
        self.has_target_counters |= node.has_target_counters;
        self.renamed.extend(node.renamed);
        let group_renamed = node.group_renamed.unwrap_or(EARLIEST);
        self.group_renamed = self.group_renamed.max(group_renamed);
        for (level, dropped, refreshed, users_refreshed) in node.rollups {
            let rollup = ROLLUPS.iter().find(|it| it.name == level);
            self.rollups.extend(rollup.map(|rollup| RollupState {
                rollup,
                dropped: dropped.max(EARLIEST),
                refreshed,
                users_refreshed,
            }));
        }
        let coarse = node.coarse.into_iter();
        let coarse = coarse.map(|(span, width)| Coarse { span, width });
        self.coarse.extend(coarse);
        self.dirty.extend(node.dirty);
        self.changed_days.extend(node.changed_days);
        for (id, cluster, filesystem, kind, name, retired) in node.targets {
            let kind = TargetKind::find(&kind).unwrap_or(TargetKind::Ost);
            self.targets.push(Target {
                cluster,
                filesystem,
                retired,
                ..Target::new(id, name, kind)
            });
        }
        for (target, span) in node.spans {
            self.spans.entry(target).or_default().push(span);
        }
        Ok(())
    }
}

impl RollupState {
    /// Limits itself to the times of the same rollup on another node, and returns whether it is the same one.
    fn takes(&mut self, other: &Self) -> bool {
        let is_same = self.rollup.micros == other.rollup.micros;
        if is_same {
            self.dropped = self.dropped.max(other.dropped);
            self.refreshed = self.refreshed.min(other.refreshed);
            self.users_refreshed = self.users_refreshed.min(other.users_refreshed);
        }
        is_same
    }
}
