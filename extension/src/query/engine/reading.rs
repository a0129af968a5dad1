//! Reads rows, and adds them up.

use std::cell::RefCell;
use std::collections::HashMap;

use jobstats_core::columns::sum::Sum;
use jobstats_core::dimension::Level;
use jobstats_core::instant::{Micros, Span};
use jobstats_core::usage::{Cells, Layout, Row, Rows, Scope, Subject, SubjectKind};

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::pause::pause;
use crate::query::engine::Request;
use crate::query::engine::divided::Divided;
use crate::query::engine::names::Owner;
use crate::query::read::{self, Whose};
use crate::query::sources::{Inside, Part};

/// Reads the rows of a request.
pub(super) struct Reading<'f> {
    request: &'f Request<'f>,
    pub subjects: Subjects<'f>,
    pub divided: Divided,
    /// The targets, users and accounts whose rows are read, if not all.
    targets: Option<Vec<i32>>,
    uids: Option<Vec<i64>>,
    accounts: Option<Vec<String>>,
}

impl<'f> Reading<'f> {
    pub fn new(request: &'f Request<'f>, scope: &Scope) -> Result<Self, Error> {
        let of_targets = request.question.filters.has(Level::Target);
        Ok(Self {
            request,
            subjects: Subjects {
                columns: request.plan.owners.names_of_columns(),
                owners: RefCell::default(),
            },
            divided: Divided::find(request)?,
            targets: of_targets.then(|| scope.iter().map(|it| it.0.id).collect()),
            uids: request.uids(),
            accounts: request.conditions.accounts(),
        })
    }

    /// Returns the rows and columns that are read: all that the request needs, and `more`.
    fn wanted<'w>(&'w self, more: read::Wanted<'w>) -> read::Wanted<'w> {
        let request = self.request;
        read::Wanted {
            whose: more.whose || request.asks_entries(),
            owner: self.subjects.columns,
            activity: request.question.wanted.has_span(),
            server: request.question.asks_servers(),
            targets: self.targets.as_deref(),
            entries: match request.plan.sources.owner() {
                Some(_) => None,
                None => request.few.as_deref(),
            },
            uids: self.uids.as_deref(),
            accounts: self.accounts.as_deref(),
            ..more
        }
    }

    /// Gives `take` the rows of a part of the sources, each with the position of its target and its subject.
    pub fn each(
        &self,
        scope: &Scope,
        (part, layout): (&Part, &Layout),
        more: read::Wanted<'_>,
        take: &mut dyn FnMut(usize, Subject, read::Usage<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut count = 0_usize;
        read::usage(part, layout, &self.wanted(more), &mut |row| {
            count += 1;
            if count.is_multiple_of(1000) {
                pause();
            }
            if let Some(target) = scope.position(row.target, row.server.as_deref()) {
                let subject = self.subjects.of(&row.whose, &self.divided, row.at);
                take(target, subject, row)?;
            }
            Ok(true)
        })
    }

    fn window(&self) -> Span {
        let window = &self.request.plan.window;
        (window.since(), window.until())
    }
}

/// The rows that were found, added up.
pub(super) struct Found<'f> {
    pub reading: Reading<'f>,
    pub cells: Cells,
    sums: Vec<Sum>,
    layouts: [Layout; 2],
}

impl<'f> Found<'f> {
    /// Starts to add up these sums and, with `has_spans`, the times between which there was activity.
    pub fn new(reading: Reading<'f>, sums: &[Sum], has_spans: bool) -> Self {
        let request = reading.request;
        Self {
            cells: Cells::new(sums.len(), has_spans, request.plan.limit),
            layouts: [false, true].map(|combined| Layout::new(sums, combined)),
            sums: sums.to_vec(),
            reading,
        }
    }

    /// Adds the rows of the parts of the sources.
    pub fn add(&mut self, scope: &Scope, parts: &[Part]) -> Result<(), Error> {
        // Partitions of other nodes are left out by values alone, and a front else plans for any.
        let asks_some = self.reading.request.plan.is_front && self.reading.targets.is_some();
        let _values = asks_some.then(|| Pinned::new([(c"plan_cache_mode", c"force_custom_plan")]));
        let (mut on_nodes, here): (Vec<&Part>, Vec<&Part>) =
            parts.iter().partition(|it| self.adds_on_nodes(scope, it));
        for part in here {
            self.add_rows(scope, part, false)?;
        }
        // Nodes add up all rollups of a kind at once.
        let kind = |it: &&Part| (it.relation.rollup.is_none(), it.relation.owner);
        on_nodes.sort_by_key(kind);
        for parts in on_nodes.chunk_by(|one, other| kind(one) == kind(other)) {
            self.add_sums(scope, parts)?;
            for part in parts.iter().filter(|it| it.relation.rollup.is_none()) {
                self.add_rows(scope, part, true)?;
            }
        }
        Ok(())
    }

    /// Returns whether nodes of a front add up the rows of a part that lie inside of steps. Sums of increments have no activity, and no sums
    /// have servers or days.
    fn adds_on_nodes(&self, scope: &Scope, part: &Part) -> bool {
        let request = self.reading.request;
        let question = request.question;
        let can_be_summed = match part.inside(scope.steps()) {
            Inside::All => true,
            Inside::Most => !question.wanted.has_span() && !question.asks_servers(),
            Inside::Unknown => false,
        };
        let is_divided = !self.reading.divided.days.is_empty();
        request.plan.is_front && can_be_summed && !is_divided && request.lasts.is_none()
    }

    fn add_sums(&mut self, scope: &Scope, parts: &[&Part]) -> Result<(), Error> {
        let (reading, window) = (&self.reading, self.reading.window());
        let (cells, all) = (&mut self.cells, &self.sums);
        let wanted = reading.wanted(read::Wanted::default());
        read::sums(parts, all, &wanted, &scope.edges, &mut |found| {
            pause();
            if let Some(target) = scope.position(found.target, None) {
                let subject = reading.subjects.of(&found.whose, &reading.divided, 0);
                let active = found.active.map(|it| active_in(window, it));
                cells.add_sums((found.step, target), subject, active, found.sums)?;
            }
            Ok(())
        })
    }

    /// Adds the rows of a part, or those that cross its edges.
    fn add_rows(&mut self, scope: &Scope, part: &Part, crossing: bool) -> Result<(), Error> {
        let (reading, window, cells) = (&self.reading, self.reading.window(), &mut self.cells);
        let layout = &self.layouts[usize::from(part.relation.owner.is_some())];
        let more = read::Wanted {
            crossing,
            ..read::Wanted::default()
        };
        reading.each(scope, (part, layout), more, &mut |target, subject, row| {
            // Of targets that were read at other times, no more than their last observation counts.
            let lasts = reading.request.lasts.as_ref();
            let part = lasts.and_then(|it| it.get(&row.target));
            let rows = Rows {
                layout,
                part: part.copied().unwrap_or(row.part),
            };
            let row = Row {
                target,
                subject,
                span: row.span,
                active: active_in(window, row.active),
                node: None,
                values: row.values,
            };
            Ok(cells.add(scope, &rows, &row)?)
        })
    }
}

/// Returns the part of a time of activity that lies in a window.
pub(super) fn active_in((since, until): Span, (first, last): Span) -> Span {
    (first.max(since), last.min(until).max(since))
}

/// The owners of sums, which have numbers here.
pub(super) struct Subjects<'s> {
    columns: &'s [&'static str],
    pub owners: RefCell<HashMap<Owner, i64>>,
}

impl Subjects<'_> {
    /// Returns whose a row of a day is.
    fn of(&self, whose: &Whose<'_>, divided: &Divided, at: Micros) -> Subject {
        match *whose {
            Whose::Nobody => Subject::ALL,
            Whose::Entry(id) => divided.of_entry(id, at),
            Whose::Owner(row, first) => {
                let is_user = self.columns.first() == Some(&"uid");
                let uid = if is_user { row.integer(first) } else { None };
                let mut owners = self.owners.borrow_mut();
                let next = owners.len() as i64;
                let owner = Owner::read(row, first, self.columns);
                Subject {
                    kind: SubjectKind::Owner,
                    days: divided.of_user(uid, at),
                    id: *owners.entry(owner).or_insert(next),
                }
            }
        }
    }
}
