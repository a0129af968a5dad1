//! Reads a store: what it knows of each target now, or knew at a moment in the past.
//!
//! A reading has the last observation of each target, as `jobstats_now()` has it, so that the numbers of the screen can be had by SQL.
//! Whatever moment is asked for, the reading is made of what the store says of that moment alone.

mod errors;
mod questions;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use jobstats_client::answers::TargetRow;
use jobstats_client::{Backoff, Connector, Options};
use jobstats_core::increment::Column;
use jobstats_core::instant::{MINUTE, Micros};
use jobstats_core::target::TargetKind;
use postgres::Client;

use super::{Source, Step, Update};
use crate::ask::store;
use crate::live::board::Loads;
use crate::live::interval::{Failure, Interval, Reading, STORE, Seen};
use crate::live::who::Who;

pub use errors::Error;
use questions::{Active, ROLLUPS, Rollup, Target, Work};

/// The settings of a session: it reads only, no statement hangs, and none is compiled, which would take longer than it runs.
const SETTINGS: &str = "\
    SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET jit = off; SET client_min_messages = warning";

/// The time after which accounts and names of users are asked for again.
const RENEWED: Micros = 10 * MINUTE;

/// The width of the steps of the course of the load, which rollups have.
const STEP: Micros = 10 * MINUTE;

/// The number of buckets without work that a step passes over.
const PASSED: usize = 24;

/// The time between readings of a target whose usual time is not known.
const USUAL: Micros = 5 * MINUTE;

/// The targets of a store that are looked at. A name matches a pattern as for LIKE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// The pattern of the names of clusters.
    pub cluster: Option<String>,
    /// The pattern of the names of file systems.
    pub filesystem: Option<String>,
}

impl Scope {
    /// Returns the clusters, as an argument of questions.
    pub fn clusters(&self) -> Option<Vec<String>> {
        self.cluster.clone().map(|pattern| vec![pattern])
    }

    /// Returns the file systems, as an argument of questions.
    pub fn filesystems(&self) -> Option<Vec<String>> {
        self.filesystem.clone().map(|pattern| vec![pattern])
    }

    /// Returns what is said of a store that has no target of this scope.
    pub fn nothing(&self) -> Error {
        match *self == Self::default() {
            true => Error::Empty,
            false => Error::OutOfScope,
        }
    }
}

/// A store that is read again and again.
pub struct Stored {
    connector: Connector,
    scope: Scope,
    /// True if a failure is shown, and tried again, instead of ending the program.
    is_patient: bool,
    session: Option<Client>,
    /// The moment that is shown; `None` is now.
    at: Option<Micros>,
    /// The reading that was made last, if it has not been dropped.
    shown: Option<Shown>,
    /// The place in time from which the next step goes.
    place: Option<Place>,
    people: HashMap<i64, Known>,
    /// The time at which what is known of identifiers was asked for first.
    people_since: Micros,
    /// The end of the course of the load.
    history_until: Option<Micros>,
    failures: u32,
    /// The time of the database, and when it was asked for.
    clock: Option<(Micros, Instant)>,
}

/// The place of a reading in time.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The moment.
    time: Micros,
    /// The last observation up to then.
    newest: Micros,
    /// The usual time between readings.
    pace: Micros,
    /// True if the reading is a bucket of a rollup.
    is_rollup: bool,
}

/// The targets that a reading was made of.
struct Shown {
    time: Micros,
    targets: Vec<Target>,
    has_clusters: bool,
}

/// The owner of an identifier, with the name of the user.
struct Known {
    who: Arc<Who>,
    user: Option<(u32, Box<str>)>,
}

impl Stored {
    /// Takes the connection, what of the store is looked at, and the moment to begin with; `None` is now.
    ///
    /// With `is_patient`, a failure that may pass is part of a reading. It ends the program otherwise.
    ///
    /// # Errors
    ///
    /// Fails if the settings do not describe a connection. Nothing is connected yet.
    pub fn new(
        options: &Options,
        scope: Scope,
        at: Option<Micros>,
        is_patient: bool,
    ) -> Result<Self, Error> {
        Ok(Self {
            connector: store::connector(options)?,
            scope,
            is_patient,
            session: None,
            at,
            shown: None,
            place: None,
            people: HashMap::new(),
            people_since: 0,
            history_until: None,
            failures: 0,
            clock: None,
        })
    }

    /// Returns the time by the clock of the database, as far as it is known.
    fn now(&self) -> Micros {
        let Some((now, since)) = self.clock else {
            return jiff::Timestamp::now().as_microsecond();
        };
        let passed = Micros::try_from(since.elapsed().as_micros());
        now.saturating_add(passed.unwrap_or(Micros::MAX))
    }

    fn session(&mut self) -> Result<&mut Client, Error> {
        let session = match self.session.take() {
            Some(session) => session,
            None => store::connect(&self.connector, SETTINGS, drop)?,
        };
        Ok(self.session.insert(session))
    }

    /// Takes a step, all answers to which are of one moment of the store.
    fn try_step(&mut self, step: Step) -> Result<Update, Error> {
        self.session()?.batch_execute(store::BEGIN)?;
        let update = self.step_in_transaction(step);
        match &update {
            Err(error) if error.kind().is_some() => {}
            _ => self.session()?.batch_execute("COMMIT")?,
        }
        update
    }

    fn step_in_transaction(&mut self, step: Step) -> Result<Update, Error> {
        let (was_at, mut begins_anew) = (self.at, self.shown.is_none());
        if let Some(place) = self.place {
            match self.moved(step, place)? {
                Moment::Stays => {}
                Moment::Now => self.at = None,
                Moment::At(at) => {
                    begins_anew |= at < place.time;
                    self.at = Some(at);
                }
                Moment::Nothing => return Ok(Update::default()),
            }
            // What is now follows what was a while ago only if nothing of it is missing.
            begins_anew |= was_at.is_some() && self.at.is_none();
        }
        let read = match self.place.filter(|it| it.is_rollup && step == Step::Next) {
            Some(place) => self.read_on(begins_anew, place, was_at),
            None => self.read(begins_anew),
        };
        if let (Err(Error::Before { .. }), Step::By(..0), Some(_)) = (&read, step, &self.shown) {
            // Nothing is kept of the time before, so the screen stays where it is.
            self.at = was_at;
            return Ok(Update::default());
        }
        read
    }

    /// Makes the next reading that there is, of rollups or else of observations. Without one, the screen stays where it was.
    fn read_on(
        &mut self,
        begins_anew: bool,
        place: Place,
        was_at: Option<Micros>,
    ) -> Result<Update, Error> {
        for _ in 0..PASSED {
            match (self.read(begins_anew), self.at) {
                (Err(error), Some(at)) if error.kind().is_none() => {
                    self.at = Some(at.saturating_add(place.pace));
                }
                (read, _) => return read,
            }
        }
        let scope = self.scope.clone();
        let after = questions::after(self.session()?, &scope, place.time)?;
        self.at = after.or(was_at);
        match after {
            Some(_) => self.read(begins_anew),
            None => Ok(Update::default()),
        }
    }

    /// Returns the moment to which a step goes. A step over a time without observations goes to the next ones.
    fn moved(&mut self, step: Step, place: Place) -> Result<Moment, Error> {
        let (is_live, is_patient) = (self.at.is_none(), self.is_patient);
        let scope = self.scope.clone();
        let by = match step {
            Step::Next if is_live => return Ok(Moment::Stays),
            Step::End => return Ok(Moment::Now),
            Step::Begin => {
                let first = questions::first(self.session()?, &scope)?;
                return Ok(first.map_or(Moment::Stays, |first| Moment::At(first + place.pace)));
            }
            Step::Next => 1,
            Step::By(by) => by,
        };
        // What is shown after the last reading is that reading.
        let base = if by < 0 { place.newest } else { place.time };
        let wanted = base.saturating_add(place.pace.saturating_mul(by as Micros));
        if by < 0 {
            let before = questions::before(self.session()?, &scope, wanted)?;
            return Ok(Moment::At(match before {
                Some(before) if before <= wanted - place.pace && !place.is_rollup => before,
                _ => wanted,
            }));
        }
        let after = questions::after(self.session()?, &scope, place.time)?;
        Ok(match after {
            _ if is_live => Moment::Stays,
            _ if place.is_rollup && wanted <= self.now() => Moment::At(wanted),
            Some(after) => Moment::At(wanted.min(self.now()).max(after)),
            None if is_patient => Moment::Now,
            None => Moment::Nothing,
        })
    }

    /// Makes the reading of the moment that is shown.
    fn read(&mut self, begins_anew: bool) -> Result<Update, Error> {
        let (at, scope) = (self.at, self.scope.clone());
        let now = questions::now(self.session()?)?;
        self.clock = Some((now, Instant::now()));
        let all = questions::targets(self.session()?, &scope, at)?;
        let targets: Vec<Target> = all.iter().cloned().filter_map(Target::observed).collect();
        let in_bucket = match at {
            Some(at) if targets.is_empty() => self.in_rollups(&all, at)?,
            _ => None,
        };
        let is_rollup = in_bucket.is_some();
        let (targets, work) = match in_bucket {
            Some((targets, work)) => (targets, Some(work)),
            None => (targets, None),
        };
        let newest = targets.iter().map(|it| it.time).max();
        let Some(newest) = newest else {
            return Err(self.nothing(at)?);
        };
        // Of a rollup, the bucket is shown that the moment is in.
        let time = match is_rollup {
            true => newest,
            false => at.unwrap_or(now),
        };
        let has_clusters = targets
            .iter()
            .map(|it| &it.row.cluster)
            .collect::<BTreeSet<_>>()
            .len()
            > 1;
        // Names of targets have the cluster as long as there are several.
        let before = self.shown.as_ref();
        let before = before.filter(|it| !begins_anew && it.has_clusters == has_clusters);
        let begins_anew = before.is_none();
        let known: HashMap<i32, Micros> = before
            .iter()
            .flat_map(|shown| &shown.targets)
            .map(|target| (target.row.target_id, target.time))
            .collect();
        let is_new = |target: &&Target| known.get(&target.row.target_id) != Some(&target.time);
        let fresh: Vec<&Target> = targets.iter().filter(is_new).collect();
        let name = |target: &Target| name(target, has_clusters);
        let pending = targets.iter().filter(|target| !is_new(target));
        let pending: Vec<_> = pending.filter(|it| !it.is_late(time)).map(name).collect();
        if fresh.is_empty() && !self.is_patient && at.is_none() {
            return Ok(Update::default());
        }
        let work = match work {
            Some(work) => work,
            None => questions::work(self.session()?, &fresh, at)?,
        };
        let users = self.meet(&work, time)?;
        let mut work_of: HashMap<i32, Vec<Work>> = HashMap::new();
        for one in work {
            work_of.entry(one.target).or_default().push(one);
        }
        let seen = fresh.iter().map(|target| {
            let work = work_of.remove(&target.row.target_id).unwrap_or_default();
            self.seen(target, name(target), work)
        });
        let mut readings = vec![Reading {
            time,
            seen: seen.collect(),
            pending,
            failures: Vec::new(),
        }];
        if begins_anew {
            // The first reading has targets that were late at that moment.
            let pending = targets.iter().filter(|target| !target.is_late(time));
            readings.push(Reading {
                time,
                pending: pending.map(name).collect(),
                ..Reading::default()
            });
        }
        let history = self.history(time, begins_anew, has_clusters)?;
        let pace = pace(&targets);
        let until_next = at.map(|_| pace);
        self.place = Some(Place {
            time,
            newest: newest.min(time),
            pace,
            is_rollup,
        });
        self.shown = Some(Shown {
            time,
            targets,
            has_clusters,
        });
        Ok(Update {
            readings,
            begins_anew,
            until_next,
            history,
            users,
            ..Update::default()
        })
    }

    /// Returns the targets of the finest rollup that knows something of a moment, where observations are not kept any more, and their
    /// work.
    fn in_rollups(&mut self, all: &[TargetRow], at: Micros) -> Result<Option<Active>, Error> {
        let scope = self.scope.clone();
        let first = questions::first(self.session()?, &scope)?;
        let is_over = |rollup: &Rollup| first.is_none_or(|first| rollup.end(at) <= first);
        for rollup in ROLLUPS.into_iter().filter(is_over) {
            let (targets, work) = questions::in_bucket(self.session()?, all, rollup, at)?;
            if !targets.is_empty() {
                return Ok(Some((targets, work)));
            }
        }
        Ok(None)
    }

    /// Returns what is said of a store, or of a moment, of which nothing is known.
    fn nothing(&mut self, at: Option<Micros>) -> Result<Error, Error> {
        let scope = self.scope.clone();
        let first = questions::first(self.session()?, &scope)?;
        if let Some(at) = at.filter(|_| self.place.is_none()) {
            self.place = Some(Place {
                time: at,
                newest: at,
                pace: USUAL,
                is_rollup: false,
            });
        }
        Ok(first.map_or_else(|| scope.nothing(), |first| Error::Before { first }))
    }

    fn seen(&self, target: &Target, name: Arc<str>, work: Vec<Work>) -> Seen {
        let row = &target.row;
        let count = |count: Option<i32>| count.unwrap_or_default().unsigned_abs().into();
        let interval = row.since.map(|since| {
            let mut totals = work.iter().flat_map(|it| &it.totals);
            let has_times = totals.any(|(column, _)| matches!(column, Column::Usecs(_)));
            Interval {
                since: since.as_microsecond(),
                until: target.time,
                timed: (!work.is_empty()).then_some(has_times),
                added: count(row.added),
                resets: count(row.resets),
                removed: count(row.removed),
                work: work
                    .into_iter()
                    .filter_map(|it| {
                        Some(crate::live::interval::Work {
                            who: Arc::clone(&self.people.get(&it.entry)?.who),
                            totals: it.totals,
                        })
                    })
                    .collect(),
            }
        });
        Seen {
            target: name,
            kind: TargetKind::named(&row.kind).unwrap_or(TargetKind::Ost),
            server: row.server.as_deref().unwrap_or_default().into(),
            time: target.time,
            entries: count(row.entries),
            problems: count(row.problems),
            interval,
        }
    }

    /// Asks who the owners of this work are, unless they are known, and returns the names of their users.
    fn meet(&mut self, work: &[Work], time: Micros) -> Result<Vec<(u32, Box<str>)>, Error> {
        // Accounts and names change, and are different in the past.
        if (time - self.people_since).abs() > RENEWED {
            self.people.clear();
            self.people_since = time;
        }
        let wanted: BTreeSet<i64> = work.iter().map(|it| it.entry).collect();
        let unknown = wanted.iter().filter(|it| !self.people.contains_key(it));
        let unknown: Vec<i64> = unknown.copied().collect();
        if !unknown.is_empty() {
            let entries = questions::entries(self.session()?, unknown, time)?;
            let people = entries.into_iter().map(|entry| {
                let who = Arc::new(questions::who(&entry));
                let user = who.user.zip(entry.user_name.map(Into::into));
                (entry.entry_id, Known { who, user })
            });
            self.people.extend(people);
        }
        let users = wanted
            .iter()
            .filter_map(|it| self.people.get(it)?.user.clone());
        Ok(users.collect::<BTreeMap<_, _>>().into_iter().collect())
    }

    /// Asks for the loads of the day before, unless they are known.
    fn history(
        &mut self,
        time: Micros,
        begins_anew: bool,
        has_clusters: bool,
    ) -> Result<Option<Loads>, Error> {
        let until = time - time.rem_euclid(STEP);
        if !begins_anew && self.history_until == Some(until) {
            return Ok(None);
        }
        let scope = self.scope.clone();
        let history = questions::history(self.session()?, &scope, until, STEP, has_clusters)?;
        self.history_until = Some(until);
        Ok(Some(history))
    }

    /// Returns a reading that says what failed. The targets are as late as they would be without it.
    fn failed(&self, time: Micros, error: &Error) -> Update {
        let mut reading = Reading {
            time,
            ..Reading::default()
        };
        if let Some(shown) = &self.shown {
            let pending = shown.targets.iter().filter(|it| !it.is_late(time));
            reading.pending = pending.map(|it| name(it, shown.has_clusters)).collect();
        }
        reading.failures.push(Failure {
            server: STORE.into(),
            reason: error.to_string(),
            since: self.shown.as_ref().map(|shown| shown.time),
        });
        Update {
            readings: vec![reading],
            ..Update::default()
        }
    }
}

impl Source for Stored {
    fn step(&mut self, step: Step) -> Result<Update, super::Error> {
        let was_live = self.at.is_none();
        let stepped = self.try_step(step);
        let is_live = self.at.is_none();
        // A key has said already where to go, and may not have got there.
        let is_live = (was_live != is_live || step != Step::Next).then_some(is_live);
        let error = match stepped {
            Ok(update) => {
                self.failures = 0;
                return Ok(Update { is_live, ..update });
            }
            Err(error) => error,
        };
        // Before anything was shown, a mistake in the settings will not pass.
        if !self.is_patient || self.clock.is_none() && !error.is_passing() {
            return Err(error.into());
        }
        let time = self.at.unwrap_or_else(|| self.now());
        let mut update = self.failed(time, &error);
        update.is_live = is_live;
        if error.kind().is_none() {
            // The store has answered: nothing is known.
            self.shown = None;
            update.begins_anew = true;
            if let (Some(at), Some(place)) = (self.at, &mut self.place) {
                (place.time, place.newest) = (at, at);
                update.until_next = Some(place.pace);
            }
            return Ok(update);
        }
        self.session = None;
        self.failures += 1;
        let pause = Backoff::default().pause(self.failures, fastrand::f64());
        update.until_next = Micros::try_from(pause.as_micros()).ok();
        Ok(update)
    }

    fn is_live(&self) -> bool {
        self.at.is_none()
    }
}

/// The end of a step.
enum Moment {
    /// The moment stays what it is; now goes on.
    Stays,
    /// To what comes from now on.
    Now,
    /// To a moment in the past.
    At(Micros),
    /// There is nothing more.
    Nothing,
}

/// Returns the usual time between the readings of most targets.
fn pace(targets: &[Target]) -> Micros {
    let mut usual: Vec<_> = targets.iter().filter_map(|it| it.usual).collect();
    usual.sort_unstable();
    usual.get(usual.len() / 2).copied().unwrap_or(USUAL).max(1)
}

/// Returns the name of a target, with that of its cluster if there are several.
fn name(target: &Target, has_clusters: bool) -> Arc<str> {
    match has_clusters {
        true => format!("{}/{}", target.row.cluster, target.row.target).into(),
        false => target.row.target.as_str().into(),
    }
}
