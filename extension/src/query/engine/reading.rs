//! Reads rows, and adds them up.

use std::cell::RefCell;
use std::collections::HashMap;

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::usage::columns::sum::Sum;
use jobstats_core::usage::dimension::Level;
use jobstats_core::usage::{
    Activity, Cells, Job, Layout, Owners, Row, Scope, Subject, SubjectKind,
};

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::receive::Received;
use crate::query::engine::Request;
use crate::query::engine::divided::ChangeDays;
use crate::query::read::{self, RowOwner, Selection};
use crate::query::sources::Part;

/// Reads the rows of a request.
pub(super) struct Reading<'f> {
    request: &'f Request<'f>,
    divided: ChangeDays,
    /// The jobs and names of entries and owners, which are added after reading.
    pub known: Owners,
    /// The owners of sums, with the numbers that they get here.
    pub owners: RefCell<HashMap<Job, i64>>,
    /// The rows and columns that the request needs.
    selection: Selection<'f>,
}

impl<'f> Reading<'f> {
    pub fn new(request: &'f Request<'f>, scope: &Scope) -> Result<Self, Error> {
        let question = request.question;
        let of_targets = question.filters.has(Level::Target);
        let divided = ChangeDays::find(request)?;
        let own = request.conditions.own.as_ref();
        Ok(Self {
            request,
            known: Owners::new(
                question.dimensions(),
                own,
                request.plan.window.until(),
                divided.days.clone(),
            ),
            divided,
            owners: RefCell::default(),
            selection: Selection {
                by_owner: request.asks_entries(),
                owner: &request.plan.owner_columns,
                activity: question.wanted.has_span(),
                server: question.asks_servers(),
                targets: of_targets.then(|| scope.iter().map(|it| it.0.id).collect()),
                entries: request.entry_ids(),
                uids: request.uids(),
                accounts: request.conditions.accounts(),
                ..Selection::default()
            },
        })
    }

    /// Gives `take` the rows of a part of the sources, each with the position of its target and its subject. The selection of the
    /// request is changed by `change` first.
    pub fn each(
        &self,
        scope: &Scope,
        (part, layout): (&Part, &Layout),
        change: impl FnOnce(&mut Selection<'f>),
        take: &mut dyn FnMut(usize, Subject, read::UsageRow<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut selection = self.selection.clone();
        change(&mut selection);
        read::usage(part, layout, &selection, &mut |row| {
            if let Some(target) = scope.position(row.target, row.server.as_deref()) {
                take(target, self.subject(row.owner, row.at), row)?;
            }
            Ok(true)
        })
    }

    /// Adds up the rows of the parts of the sources.
    pub fn cells(&self, scope: &Scope, parts: &[Part], sums: &[Sum]) -> Result<Cells, Error> {
        let request = self.request;
        let activity = match request.question.wanted.has_span() {
            true => Activity::OfCells,
            false => Activity::Unknown,
        };
        let mut cells = Cells::new(sums.len(), activity, request.plan.state.limit);
        // Partitions of other nodes are left out by values alone, and a front else plans for any.
        let asks_some = request.plan.state.is_front && self.selection.targets.is_some();
        let _values = asks_some.then(|| Pinned::new([(c"plan_cache_mode", c"force_custom_plan")]));
        let (mut on_nodes, here): (Vec<&Part>, Vec<&Part>) =
            parts.iter().partition(|it| self.adds_on_nodes(scope, it));
        for part in here {
            self.add_rows(&mut cells, scope, (part, sums), false)?;
        }
        // Nodes add up all rollups of a kind at once.
        let kind = |it: &&Part| (it.relation.rollup.is_none(), it.relation.owner);
        on_nodes.sort_by_key(kind);
        for parts in on_nodes.chunk_by(|one, other| kind(one) == kind(other)) {
            self.add_sums(&mut cells, scope, (parts, sums))?;
            for part in parts.iter().filter(|it| it.relation.rollup.is_none()) {
                self.add_rows(&mut cells, scope, (part, sums), true)?;
            }
        }
        Ok(cells)
    }

    /// Returns whether nodes of a front add up the rows of a part that lie inside of steps. Sums of increments have no activity, and no sums
    /// have servers or days.
    fn adds_on_nodes(&self, scope: &Scope, part: &Part) -> bool {
        let request = self.request;
        let question = request.question;
        let can_be_summed = part.relation.rollup.is_some()
            || !question.wanted.has_span() && !question.asks_servers();
        request.plan.state.is_front
            && can_be_summed
            && part.lies_inside(scope.steps())
            && self.divided.days.is_empty()
            && request.lasts.is_none()
    }

    fn add_sums(
        &self,
        cells: &mut Cells,
        scope: &Scope,
        (parts, sums): (&[&Part], &[Sum]),
    ) -> Result<(), Error> {
        // With almost as many sums as rows, PostgreSQL would aggregate here, and nodes would send all columns.
        let _on_nodes = Pinned::new([(c"cpu_operator_cost", c"10")]);
        read::sums(parts, sums, &self.selection, &scope.edges, &mut |found| {
            if let Some(target) = scope.position(found.target, None) {
                let subject = self.subject(found.owner, 0);
                let active = found.active.map(|it| self.in_window(it));
                cells.add_sums((found.step, target), subject, active, found.sums)?;
            }
            Ok(())
        })
    }

    /// Adds the rows of a part, or only the rows that cross its edges.
    fn add_rows(
        &self,
        cells: &mut Cells,
        scope: &Scope,
        (part, sums): (&Part, &[Sum]),
        crossing: bool,
    ) -> Result<(), Error> {
        let layout = Layout::new(sums, part.relation.owner.is_some());
        let change = |it: &mut Selection<'_>| it.crossing = crossing;
        self.each(
            scope,
            (part, &layout),
            change,
            &mut |target, subject, row| {
                // Of targets that were read at other times, no more than their last observation counts.
                let lasts = self.request.lasts.as_ref();
                let part = lasts.and_then(|it| it.get(&row.target));
                let row = Row {
                    target,
                    subject,
                    span: row.span,
                    part: part.copied().unwrap_or(row.part),
                    active: self.in_window(row.active),
                    node: None,
                    values: row.values,
                };
                Ok(cells.add(scope, &layout, &row)?)
            },
        )
    }

    /// Returns the part of a time of activity that lies in the window.
    fn in_window(&self, (first, last): Span) -> Span {
        let window = &self.request.plan.window;
        let since = window.since();
        (first.max(since), last.min(window.until()).max(since))
    }

    /// Returns the entry or owner of a row, on its day.
    fn subject(&self, owner: RowOwner<'_>, at: Micros) -> Subject {
        match owner {
            RowOwner::Any => Subject::ALL,
            RowOwner::Entry(id) => self.divided.of_entry(id, at),
            RowOwner::Owner(row, first) => {
                let owner = self.owner(row, first);
                let days = self.divided.of_user(owner.uid, at);
                let mut owners = self.owners.borrow_mut();
                let next = owners.len() as i64;
                Subject {
                    kind: SubjectKind::Owner,
                    days,
                    id: *owners.entry(owner).or_insert(next),
                }
            }
        }
    }

    /// Reads the owner of a row of sums, as a job: an owner is named like an entry without a user whose job has all names.
    fn owner(&self, row: &Received, first: usize) -> Job {
        let columns = &self.request.plan.owner_columns;
        let place = |name: &str| Some(first + columns.iter().position(|it| *it == name)?);
        let number = |name: &str| row.integer(place(name)?);
        let text = |name: &str| row.text(place(name)?);
        let values = self.known.of_job.iter().map(|it| text(it.column));
        Job {
            days: (Micros::MIN, Micros::MAX),
            alone: true,
            number: None,
            uid: number("uid"),
            gid: number("gid"),
            account: text("account"),
            values: values.collect(),
        }
    }
}
