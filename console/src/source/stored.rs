//! Reads a store, now or at a past time.
//!
//! A round has the last observation of each target, like `jobstats_now()`, so that SQL returns the numbers of the screen. A round of the
//! past uses only data of that time.

mod questions;
mod targets;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jobstats_client::answers::{EntryTotalsRow, Filters};
use jobstats_client::program::exit;
use jobstats_client::{Connector, Kind, Options, database::retry};
use jobstats_core::base::instant::{MINUTE, Micros};

use super::{Source, Step, Update};
use crate::ask::error::Error;
use crate::ask::store;
use crate::live::history::{Loads, Medians};
use crate::live::interval::{Failure, Round, STORE};
use crate::live::owner::Owner;
use crate::values::when::timestamp;

use questions::{Session, Target};
use targets::ShownTargets;

/// The lifetime of cached accounts and user names.
const OWNER_LIFETIME: Micros = 10 * MINUTE;

/// The width of the steps of the course of the load, which rollups have.
const STEP: Micros = 10 * MINUTE;

/// The number of buckets without work that a step passes over.
const MAX_EMPTY_BUCKETS: usize = 24;

/// The time between readings of a target whose usual time is not known.
const DEFAULT_INTERVAL: Micros = 5 * MINUTE;

/// A store that is read again and again.
pub struct StoreSource {
    connector: Connector,
    scope: Filters,
    /// The zone of times in messages.
    zone: TimeZone,
    /// True if a failure is shown, and tried again, instead of ending the program.
    is_patient: bool,
    session: Option<Session>,
    /// The moment that is shown; `None` is now.
    at: Option<Micros>,
    /// The reading that was made last, if it has not been dropped.
    shown: Option<ShownTargets>,
    /// The place in time from which the next step goes.
    place: Option<TimePosition>,
    owners: Owners,
    /// The time of the cached owners.
    owners_since: Micros,
    /// The end of the course of the load.
    history_until: Option<Micros>,
    /// The end of the hour that is compared with its baseline.
    medians_until: Option<Micros>,
    failures: u32,
    /// The time of the database, and the time of that query.
    clock: Option<(Micros, Instant)>,
}

/// The place of a reading in time.
#[derive(Debug, Clone, Copy)]
struct TimePosition {
    /// The moment.
    time: Micros,
    /// The last observation up to then.
    newest: Micros,
    /// The usual time between readings.
    pace: Micros,
    /// True if the reading is a bucket of a rollup.
    is_rollup: bool,
}

/// The owners of identifiers, each with the number and the name of the user.
type Owners = HashMap<i64, (Arc<Owner>, Option<(u32, Box<str>)>)>;

impl StoreSource {
    /// Takes the connection, what of the store is looked at, the moment to begin with (`None` is now), and the zone of messages.
    ///
    /// With `is_patient`, a failure that may pass is part of a reading. It ends the program otherwise.
    ///
    /// # Errors
    ///
    /// Fails if the settings do not describe a connection. Does not connect.
    pub fn new(
        options: &Options,
        scope: Filters,
        at: Option<Micros>,
        zone: TimeZone,
        is_patient: bool,
    ) -> Result<Self, Error> {
        Ok(Self {
            connector: store::connector(options)?,
            scope,
            zone,
            is_patient,
            session: None,
            at,
            shown: None,
            place: None,
            owners: HashMap::new(),
            owners_since: 0,
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
            Err(error) if error.code() != exit::NOTHING => {}
            _ => self.session()?.execute("COMMIT")?,
        }
        update
    }

    fn step_in_transaction(&mut self, step: Step) -> Result<Update, Error> {
        let (was_at, mut begins_anew) = (self.at, self.shown.is_none());
        if let Some(place) = self.place {
            let at = self.moved(step, place)?;
            if at.is_none() && was_at.is_some() && !self.is_patient {
                // The past is printed up to its end.
                return Ok(Update::default());
            }
            begins_anew |= match at {
                Some(at) => at < place.time,
                // Live rounds follow the past only without a gap.
                None => was_at.is_some(),
            };
            self.at = at;
        }
        let read = match self.place.filter(|it| it.is_rollup && step == Step::Next) {
            Some(place) => self.read_on(begins_anew, place, was_at),
            None => self.read(begins_anew),
        };
        if let (Err(error), Step::By(..0), Some(_)) = (&read, step, &self.shown)
            && error.code() == exit::NOTHING
        {
            // Earlier data is not retained, so the screen stays.
            self.at = was_at;
            return Ok(Update::default());
        }
        read
    }

    /// Makes the next reading that there is, of rollups or else of observations. Without one, the screen stays where it was.
    fn read_on(
        &mut self,
        begins_anew: bool,
        place: TimePosition,
        was_at: Option<Micros>,
    ) -> Result<Update, Error> {
        for _ in 0..MAX_EMPTY_BUCKETS {
            match (self.read(begins_anew), self.at) {
                (Err(error), Some(at)) if error.code() == exit::NOTHING => {
                    self.at = Some(at.saturating_add(place.pace));
                }
                (read, _) => return read,
            }
        }
        let (_, after) = self.session()?.nearest(place.time)?;
        self.at = after.or(was_at);
        match after {
            Some(_) => self.read(begins_anew),
            None => Ok(Update::default()),
        }
    }

    /// Returns the moment to which a step goes; `None` is now. A step over a time without observations goes to the next ones.
    fn moved(&mut self, step: Step, place: TimePosition) -> Result<Option<Micros>, Error> {
        let by = match step {
            Step::End => return Ok(None),
            Step::Begin => {
                let first = self.session()?.first()?;
                return Ok(first.map(|first| first + place.pace).or(self.at));
            }
            Step::Next => 1,
            Step::By(by) => by,
        };
        if by >= 0 && self.at.is_none() {
            return Ok(None);
        }
        // After the last round, the screen shows that round.
        let base = if by < 0 { place.newest } else { place.time };
        let wanted = base.saturating_add(place.pace.saturating_mul(by as Micros));
        if by < 0 {
            let (before, _) = self.session()?.nearest(wanted)?;
            return Ok(Some(match before {
                Some(before) if before <= wanted - place.pace && !place.is_rollup => before,
                _ => wanted,
            }));
        }
        let (_, after) = self.session()?.nearest(place.time)?;
        Ok(match after {
            _ if place.is_rollup && wanted <= self.now() => Some(wanted),
            after => after.map(|after| wanted.min(self.now()).max(after)),
        })
    }

    /// Makes the reading of the moment that is shown.
    fn read(&mut self, begins_anew: bool) -> Result<Update, Error> {
        let at = self.at;
        let now = self.session()?.now()?;
        self.clock = Some((now, Instant::now()));
        let all = self.session()?.targets(at)?;
        let mut targets: Vec<_> = all.iter().cloned().filter_map(Target::observed).collect();
        let mut in_bucket = None;
        // Beyond the retention of increments, there are the totals of a rollup.
        if let Some(at) = at.filter(|_| targets.is_empty()) {
            let (active, work) = self.session()?.in_rollups(&all, at)?;
            (targets, in_bucket) = (active, Some(work));
        }
        let Some(newest) = targets.iter().map(|it| it.time).max() else {
            return Err(self.nothing(at)?);
        };
        let is_rollup = in_bucket.is_some();
        // Of a rollup, the bucket is shown that the moment is in.
        let time = match is_rollup {
            true => newest,
            false => at.unwrap_or(now),
        };
        let shown = ShownTargets::new(time, targets);
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
        let users = self.load_owners(&work, time)?;
        let counters = self.session()?.counters(&fresh)?;
        let rounds = shown.rounds(&fresh, (&work, counters), &self.owners, begins_anew);
        let history = self.history(&shown, begins_anew)?;
        let medians = self.medians(&shown, begins_anew)?;
        let pace = shown.pace();
        self.place = Some(TimePosition {
            time,
            newest: newest.min(time),
            pace,
            is_rollup,
        });
        self.shown = Some(shown);
        Ok(Update {
            rounds,
            begins_anew,
            until_next: at.map(|_| pace),
            history,
            medians,
            users,
            ..Update::default()
        })
    }

    /// Returns the error for a store or a time without data.
    fn nothing(&mut self, at: Option<Micros>) -> Result<Error, Error> {
        let first = self.session()?.first()?;
        if let Some(at) = at.filter(|_| self.place.is_none()) {
            self.place = Some(TimePosition {
                time: at,
                newest: at,
                pace: DEFAULT_INTERVAL,
                is_rollup: false,
            });
        }
        let Some(first) = first else {
            return Ok(nothing(&self.scope));
        };
        let first = timestamp(first).to_zoned(self.zone.clone());
        let first = first.strftime("%F %T %Z");
        let message = format!("no data for that time; observations begin {first}");
        Ok(Error::other(exit::NOTHING, message))
    }

    /// Loads unknown owners, and returns the names of the users.
    fn load_owners(
        &mut self,
        work: &[EntryTotalsRow],
        time: Micros,
    ) -> Result<Vec<(u32, Box<str>)>, Error> {
        // Accounts and names change, and are different in the past.
        if (time - self.owners_since).abs() > OWNER_LIFETIME {
            self.owners.clear();
            self.owners_since = time;
        }
        let wanted: BTreeSet<i64> = work.iter().map(|it| it.entry_id).collect();
        let unknown = wanted.iter().filter(|it| !self.owners.contains_key(it));
        let unknown: Vec<i64> = unknown.copied().collect();
        if !unknown.is_empty() {
            let entries = self.session()?.entries(unknown, time)?;
            let owners = entries.into_iter().map(|entry| {
                let owner = Arc::new(Owner::from(&entry));
                let user = owner.user.zip(entry.user_name.map(Into::into));
                (entry.entry_id, (owner, user))
            });
            self.owners.extend(owners);
        }
        let users = wanted
            .iter()
            .filter_map(|it| self.owners.get(it)?.1.clone());
        Ok(users.collect::<BTreeMap<_, _>>().into_iter().collect())
    }

    /// Loads the load of the previous day, unless it is cached.
    fn history(&mut self, shown: &ShownTargets, begins_anew: bool) -> Result<Option<Loads>, Error> {
        let until = shown.begin_of_step();
        if !begins_anew && self.history_until == Some(until) {
            return Ok(None);
        }
        let history = self.session()?.history(until, STEP, shown.has_clusters)?;
        self.history_until = Some(until);
        Ok(Some(history))
    }

    /// Loads the medians of this hour, unless they are cached. On a large store this takes seconds, so the first screen does not wait for
    /// it, and the first printed round of the past has no baseline.
    fn medians(
        &mut self,
        shown: &ShownTargets,
        begins_anew: bool,
    ) -> Result<Option<Medians>, Error> {
        let until = shown.begin_of_step();
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
            // Medians of another hour do not apply.
            return Ok(known.map(|_| Medians::new()));
        }
        // The reading is right without it, and a lost connection shows at the next question.
        let medians = self.session()?.medians(until, shown.has_clusters);
        Ok(Some(medians.unwrap_or_default()))
    }
}

impl Source for StoreSource {
    fn step(&mut self, step: Step) -> Result<Update, Error> {
        let was_live = self.at.is_none();
        let stepped = self.try_step(step);
        let is_live = self.at.is_none();
        // A key has changed the mode, but the step may have failed.
        let is_live = (was_live != is_live || step != Step::Next).then_some(is_live);
        let error = match stepped {
            Ok(update) => {
                self.failures = 0;
                return Ok(Update { is_live, ..update });
            }
            Err(error) => error,
        };
        // Before anything was shown, a mistake in the settings will not pass.
        if !self.is_patient || self.clock.is_none() && !is_passing(&error) {
            return Err(error);
        }
        let shown = self.shown.as_ref();
        let failure = Failure {
            server: STORE.into(),
            reason: error.to_string(),
            since: shown.map(|shown| shown.time),
        };
        // Targets become late as they would without the failure.
        let time = self.at.unwrap_or_else(|| self.now());
        let round = Round {
            time,
            pending: shown.map_or_else(Vec::new, |shown| shown.pending(time)),
            failures: vec![failure],
            ..Round::default()
        };
        let mut update = Update {
            rounds: vec![round],
            is_live,
            ..Update::default()
        };
        if error.code() == exit::NOTHING {
            // The store has answered without data.
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
        let pause = retry::pause(self.failures, fastrand::f64(), Duration::ZERO);
        update.until_next = Micros::try_from(pause.as_micros()).ok();
        Ok(update)
    }

    fn is_live(&self) -> bool {
        self.at.is_none()
    }
}

/// Returns the filters of one cluster and one file system, or of all.
pub fn scope(cluster: Option<String>, filesystem: Option<String>) -> Filters {
    Filters {
        cluster: cluster.map(|it| vec![it]),
        filesystem: filesystem.map(|it| vec![it]),
        ..Filters::default()
    }
}

/// Returns the error for a store without a target that these filters take.
pub fn nothing(scope: &Filters) -> Error {
    let message = match *scope == Filters::default() {
        true => "no target has been observed yet; check that jobstats-shipper runs",
        false => "no target matches this cluster and file system; jobstats.targets lists all",
    };
    Error::other(exit::NOTHING, message)
}

/// Returns true if a later attempt may succeed without a change of the settings.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Store(error) => {
            let kind = error.kind();
            kind.is_passing() || matches!(kind, Kind::Silent | Kind::Slow)
        }
        _ => true,
    }
}
