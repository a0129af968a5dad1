//! Reads a store: what it knows of each target now, or knew at a moment in the past.
//!
//! A reading has the last observation of each target, as `jobstats_now()` has it, so that the numbers of the screen can be had by SQL.
//! Whatever moment is asked for, the reading is made of what the store says of that moment alone.

mod errors;
mod questions;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use jobstats_client::answers::{Filters, WorkRow};
use jobstats_client::{Backoff, Connector, Options};
use jobstats_core::base::instant::{MINUTE, Micros};
use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::target::TargetKind;
use jobstats_core::usage::times::calls_have_times;

use super::{Source, Step, Update};
use crate::ask::store;
use crate::live::history::{Loads, Medians};
use crate::live::interval::{Failure, Interval, Reading, STORE, Seen, Work};
use crate::live::who::Who;

pub use errors::Error;
use questions::{Session, Target, Wholes};

/// The time after which accounts and names of users are asked for again.
const RENEWED: Micros = 10 * MINUTE;

/// The width of the steps of the course of the load, which rollups have.
const STEP: Micros = 10 * MINUTE;

/// The number of buckets without work that a step passes over.
const PASSED: usize = 24;

/// The time between readings of a target whose usual time is not known.
const USUAL: Micros = 5 * MINUTE;

/// The targets of a store that are looked at. In a pattern `*` stands for any characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// The pattern of the names of clusters.
    pub cluster: Option<String>,
    /// The pattern of the names of file systems.
    pub filesystem: Option<String>,
}

impl Scope {
    /// Returns both, as the filters of a question.
    pub fn filters(&self) -> Filters {
        let list = |pattern: &Option<String>| pattern.clone().map(|pattern| vec![pattern]);
        Filters {
            cluster: list(&self.cluster),
            filesystem: list(&self.filesystem),
            ..Filters::default()
        }
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
    session: Option<Session>,
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
    /// The end of the hour that is compared with what is usual.
    medians_until: Option<Micros>,
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
    /// True if the targets are of several clusters. As long as they are, their names have the cluster.
    has_clusters: bool,
}

impl Shown {
    fn new(time: Micros, targets: Vec<Target>) -> Self {
        let mut clusters = targets.iter().map(|it| &it.row.cluster);
        let first = clusters.next();
        let has_clusters = clusters.any(|cluster| Some(cluster) != first);
        Self {
            time,
            targets,
            has_clusters,
        }
    }

    fn name(&self, target: &Target) -> Arc<str> {
        match self.has_clusters {
            true => format!("{}/{}", target.row.cluster, target.row.target).into(),
            false => target.row.target.as_str().into(),
        }
    }

    /// Returns the names of the targets that are not late at a time.
    fn pending(&self, time: Micros) -> Vec<Arc<str>> {
        let pending = self.targets.iter().filter(|it| !it.is_late(time));
        pending.map(|it| self.name(it)).collect()
    }

    /// Returns the targets of which the reading before does not have the observation.
    fn fresh(&self, before: Option<&Self>) -> Vec<&Target> {
        let known = before.iter().flat_map(|before| &before.targets);
        let known: HashSet<_> = known.map(Target::observation).collect();
        let targets = self.targets.iter();
        let fresh = targets.filter(|it| !known.contains(&it.observation()));
        fresh.collect()
    }

    /// Returns the usual time between the readings of most targets.
    fn pace(&self) -> Micros {
        let mut usual: Vec<_> = self.targets.iter().filter_map(|it| it.usual).collect();
        usual.sort_unstable();
        usual.get(usual.len() / 2).copied().unwrap_or(USUAL).max(1)
    }
}

/// The owner of an identifier, and the number and the name of the user.
type Known = (Arc<Who>, Option<(u32, Box<str>)>);

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
            medians_until: None,
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

    fn session(&mut self) -> Result<&mut Session, Error> {
        let session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.connector, self.scope.clone())?,
        };
        Ok(self.session.insert(session))
    }

    /// Takes a step, all answers to which are of one moment of the store.
    fn try_step(&mut self, step: Step) -> Result<Update, Error> {
        self.session()?.execute(store::BEGIN)?;
        let update = self.step_in_transaction(step);
        match &update {
            Err(error) if error.kind().is_some() => {}
            _ => self.session()?.execute("COMMIT")?,
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
        let after = self.session()?.after(place.time)?;
        self.at = after.or(was_at);
        match after {
            Some(_) => self.read(begins_anew),
            None => Ok(Update::default()),
        }
    }

    /// Returns the moment to which a step goes. A step over a time without observations goes to the next ones.
    fn moved(&mut self, step: Step, place: Place) -> Result<Moment, Error> {
        let (is_live, is_patient) = (self.at.is_none(), self.is_patient);
        let by = match step {
            Step::Next if is_live => return Ok(Moment::Stays),
            Step::End => return Ok(Moment::Now),
            Step::Begin => {
                let first = self.session()?.first()?;
                return Ok(first.map_or(Moment::Stays, |first| Moment::At(first + place.pace)));
            }
            Step::Next => 1,
            Step::By(by) => by,
        };
        // What is shown after the last reading is that reading.
        let base = if by < 0 { place.newest } else { place.time };
        let wanted = base.saturating_add(place.pace.saturating_mul(by as Micros));
        if by < 0 {
            let before = self.session()?.before(wanted)?;
            return Ok(Moment::At(match before {
                Some(before) if before <= wanted - place.pace && !place.is_rollup => before,
                _ => wanted,
            }));
        }
        Ok(match self.session()?.after(place.time)? {
            _ if is_live => Moment::Stays,
            _ if place.is_rollup && wanted <= self.now() => Moment::At(wanted),
            Some(after) => Moment::At(wanted.min(self.now()).max(after)),
            None if is_patient => Moment::Now,
            None => Moment::Nothing,
        })
    }

    /// Makes the reading of the moment that is shown.
    fn read(&mut self, begins_anew: bool) -> Result<Update, Error> {
        let at = self.at;
        let now = self.session()?.now()?;
        self.clock = Some((now, Instant::now()));
        let (targets, in_bucket) = self.targets(at)?;
        let Some(newest) = targets.iter().map(|it| it.time).max() else {
            return Err(self.nothing(at)?);
        };
        let is_rollup = in_bucket.is_some();
        // Of a rollup, the bucket is shown that the moment is in.
        let time = match is_rollup {
            true => newest,
            false => at.unwrap_or(now),
        };
        let shown = Shown::new(time, targets);
        let before = self.shown.as_ref().filter(|_| !begins_anew);
        let before = before.filter(|it| it.has_clusters == shown.has_clusters);
        let begins_anew = before.is_none();
        let fresh = shown.fresh(before);
        if fresh.is_empty() && !self.is_patient && at.is_none() {
            return Ok(Update::default());
        }
        let work = match in_bucket {
            Some(work) => work,
            None => self.session()?.work(&fresh, at)?,
        };
        let users = self.meet(&work, time)?;
        let wholes = self.session()?.wholes(&fresh)?;
        let readings = self.readings(&shown, &fresh, (&work, wholes), begins_anew);
        let until = time - time.rem_euclid(STEP);
        let history = self.history(until, begins_anew, shown.has_clusters)?;
        let medians = self.medians(until, begins_anew, shown.has_clusters)?;
        let pace = shown.pace();
        self.place = Some(Place {
            time,
            newest: newest.min(time),
            pace,
            is_rollup,
        });
        self.shown = Some(shown);
        Ok(Update {
            readings,
            begins_anew,
            until_next: at.map(|_| pace),
            history,
            medians,
            users,
            ..Update::default()
        })
    }

    /// Returns the targets that were observed up to a moment. Where observations are not kept any more, they are those of a bucket of a
    /// rollup, with their work in it.
    fn targets(
        &mut self,
        at: Option<Micros>,
    ) -> Result<(Vec<Target>, Option<Vec<WorkRow>>), Error> {
        let all = self.session()?.targets(at)?;
        let targets: Vec<_> = all.iter().cloned().filter_map(Target::observed).collect();
        if let Some(at) = at.filter(|_| targets.is_empty())
            && let Some((targets, work)) = self.session()?.in_rollups(&all, at)?
        {
            return Ok((targets, Some(work)));
        }
        Ok((targets, None))
    }

    /// Returns what is said of a store, or of a moment, of which nothing is known.
    fn nothing(&mut self, at: Option<Micros>) -> Result<Error, Error> {
        let first = self.session()?.first()?;
        if let Some(at) = at.filter(|_| self.place.is_none()) {
            self.place = Some(Place {
                time: at,
                newest: at,
                pace: USUAL,
                is_rollup: false,
            });
        }
        Ok(first.map_or_else(|| self.scope.nothing(), |first| Error::Before { first }))
    }

    /// Returns a reading of the targets whose observations are new, and after a jump a second one, which says which targets were late at
    /// that moment.
    fn readings(
        &self,
        shown: &Shown,
        fresh: &[&Target],
        (work, mut wholes): (&[WorkRow], Wholes),
        begins_anew: bool,
    ) -> Vec<Reading> {
        let mut work_of: HashMap<i32, Vec<&WorkRow>> = HashMap::new();
        for one in work {
            work_of.entry(one.target_id).or_default().push(one);
        }
        let seen = fresh.iter().map(|target| {
            let work = work_of.remove(&target.row.target_id).unwrap_or_default();
            let mut seen = self.seen(target, shown.name(target), &work);
            if let Some(interval) = &mut seen.interval {
                interval.whole = wholes.remove(&target.row.target_id);
            }
            seen
        });
        let reading = Reading {
            time: shown.time,
            pending: shown.pending(shown.time),
            ..Reading::default()
        };
        let mut readings = vec![Reading {
            seen: seen.collect(),
            ..reading.clone()
        }];
        readings.extend(begins_anew.then_some(reading));
        readings
    }

    fn seen(&self, target: &Target, name: Arc<str>, rows: &[&WorkRow]) -> Seen {
        let row = &target.row;
        let count = |count: Option<i32>| count.unwrap_or_default().unsigned_abs().into();
        let interval = row.since.map(|since| {
            let usecs = rows.iter();
            let usecs = usecs.flat_map(|it| it.usecs.iter().take(OPERATIONS.len()));
            let work = rows.iter().filter_map(|it| {
                let who = Arc::clone(&self.people.get(&it.entry_id)?.0);
                let totals = questions::totals(it);
                Some(Work { who, totals })
            });
            Interval {
                since: since.as_microsecond(),
                until: target.time,
                timed: calls_have_times(usecs.map(Option::is_some)),
                work: work.collect(),
                whole: None,
                added: count(row.added),
                resets: count(row.resets),
                removed: count(row.removed),
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
    fn meet(&mut self, work: &[WorkRow], time: Micros) -> Result<Vec<(u32, Box<str>)>, Error> {
        // Accounts and names change, and are different in the past.
        if (time - self.people_since).abs() > RENEWED {
            self.people.clear();
            self.people_since = time;
        }
        let wanted: BTreeSet<i64> = work.iter().map(|it| it.entry_id).collect();
        let unknown = wanted.iter().filter(|it| !self.people.contains_key(it));
        let unknown: Vec<i64> = unknown.copied().collect();
        if !unknown.is_empty() {
            let entries = self.session()?.entries(unknown, time)?;
            let people = entries.into_iter().map(|entry| {
                let who = Arc::new(Who::from(&entry));
                let user = who.user.zip(entry.user_name.map(Into::into));
                (entry.entry_id, (who, user))
            });
            self.people.extend(people);
        }
        let users = wanted
            .iter()
            .filter_map(|it| self.people.get(it)?.1.clone());
        Ok(users.collect::<BTreeMap<_, _>>().into_iter().collect())
    }

    /// Asks for the loads of the day before, unless they are known.
    fn history(
        &mut self,
        until: Micros,
        begins_anew: bool,
        has_clusters: bool,
    ) -> Result<Option<Loads>, Error> {
        if !begins_anew && self.history_until == Some(until) {
            return Ok(None);
        }
        let history = self.session()?.history(until, STEP, has_clusters)?;
        self.history_until = Some(until);
        Ok(Some(history))
    }

    /// Asks for what is usual in this hour, unless it is known. On a large store that takes seconds: the first picture does not wait for
    /// it, and of the past the first reading that is printed is compared alone.
    fn medians(
        &mut self,
        until: Micros,
        begins_anew: bool,
        has_clusters: bool,
    ) -> Result<Option<Medians>, Error> {
        let asks = match begins_anew {
            true => !self.is_patient,
            false => self.at.is_none(),
        };
        let known = self.medians_until.filter(|_| !begins_anew);
        if known == Some(until) {
            return Ok(None);
        }
        self.medians_until = asks.then_some(until);
        if !asks {
            // Those of another hour say nothing of this one.
            return Ok(known.map(|_| Medians::new()));
        }
        // The reading is right without it, and a lost connection shows at the next question.
        let medians = self.session()?.medians(until, has_clusters);
        Ok(Some(medians.unwrap_or_default()))
    }

    /// Returns a reading that says what failed. The targets are as late as they would be without it.
    fn failed(&self, time: Micros, error: &Error) -> Update {
        let shown = self.shown.as_ref();
        let failure = Failure {
            server: STORE.into(),
            reason: error.to_string(),
            since: shown.map(|shown| shown.time),
        };
        let reading = Reading {
            time,
            pending: shown.map_or_else(Vec::new, |shown| shown.pending(time)),
            failures: vec![failure],
            ..Reading::default()
        };
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
        let pause = Backoff::pause(self.failures, fastrand::f64());
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
