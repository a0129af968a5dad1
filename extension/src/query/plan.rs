//! The plan of an answer: the window of a question and the sources of its rows.

use jobstats_core::instant::{DAY, HOUR, Micros};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::spi::Statements;
use crate::pg::time::{EARLIEST, now, timestamptz, timestamptzs};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::jobs::Jobs;
use crate::query::names::Names;
use crate::query::notice::{hinted, listed};
use crate::query::owners::Owners;
use crate::query::params::Params;
use crate::query::question::Question;
use crate::query::sources::{Sources, Spans};
use crate::query::window::{Window, require_bearable};
use crate::store;

/// The window of a question and the sources of its rows.
pub struct Plan {
    /// The window.
    pub window: Window,
    /// The sources of the rows.
    pub sources: Sources,
    /// The ways in which the answer depends on jobs.
    pub jobs: Jobs,
    /// The owners of sums, if the answer reads such.
    pub owners: Owners,
    /// The names that the answer is about.
    pub names: Names,
    /// Set if the store is a front, whose nodes sum their rows.
    pub is_front: bool,
    /// The targets in scope, if a front is asked about some: nodes that have none of them are not asked then.
    targets: Option<Vec<i32>>,
    /// The targets in scope of nodes that are left out of a front. They count as not observed.
    missing: Vec<i32>,
    /// The schema of our functions, quoted.
    pub schema: String,
    instants: Instants,
}

/// Declares instants that statements name, each with a method of a plan that binds it.
macro_rules! instants {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// The instants that statements name, as values of PostgreSQL.
        struct Instants {
            $($name: $type,)*
        }

        impl Plan {
            $($(#[$doc])*
            pub fn $name(&self, params: &Params) -> String {
                params.bind(stringify!($name), || self.instants.$name.clone())
            })*
        }
    };
}

instants! {
    /// Binds the start of the window.
    since: TimestampWithTimeZone,
    /// Binds the end of the window.
    until: TimestampWithTimeZone,
    /// Binds the latest end of rows of increments that cross the start of the window.
    since_reach: TimestampWithTimeZone,
    /// Binds the latest end of rows of increments that cross the end of the window.
    until_reach: TimestampWithTimeZone,
    /// Binds the time up to which the first observation of the window is looked for among few: an hour after its start, or after what is
    /// not kept.
    early: TimestampWithTimeZone,
    /// Binds the time from which on the last observation of the window is looked for among few: an hour before its end.
    late: TimestampWithTimeZone,
    /// Binds the time up to which the first observation after the window is looked for among few: an hour after its end, or after what is
    /// not kept.
    soon: TimestampWithTimeZone,
    /// Binds the time a day before the start of the window.
    day_before: TimestampWithTimeZone,
    /// Binds the time since which increments and observations are kept.
    kept_since: TimestampWithTimeZone,
    /// Binds the edges of the steps.
    edges: Vec<TimestampWithTimeZone>,
}

impl Plan {
    /// Finds the window and the sources of a question; `None` if the answer is empty.
    pub fn find(client: &SpiClient<'_>, question: &Question) -> Result<Option<Self>, Error> {
        store::require(client)?;
        match Window::resolve(client, &question.period, &question.filters)? {
            Some(window) => Self::over(client, question, window),
            None => Ok(None),
        }
    }

    /// Finds the sources of a question in this window; `None` if the question asks for no operation.
    pub fn over(
        client: &SpiClient<'_>,
        question: &Question,
        window: Window,
    ) -> Result<Option<Self>, Error> {
        if question.measures.list.is_empty() {
            return Ok(None);
        }
        require_bearable(client, &window, &question.filters)?;
        let sources = if question.needs_increments() {
            Sources::increments(client, &window)?
        } else {
            Sources::choose(client, &window, question.owner())?
        };
        let is_front = store::is_front(client)?;
        let (mut jobs, mut owners) = (Jobs::default(), Owners::default());
        match sources.owner() {
            Some(owner) => owners = Owners::find(client, question, &window, owner)?,
            None => jobs = Jobs::find(client, question, &window)?,
        }
        Ok(Some(Self {
            instants: Instants::new(&window, &sources)?,
            jobs,
            owners,
            names: Names::find(client, question, &window)?,
            targets: match is_front && question.filters.has(Level::Target) {
                true => Some(targets(client, &question.filters)?),
                false => None,
            },
            missing: match is_front && store::leaves_out(client)? {
                true => missing(client, &question.filters, window.since())?,
                false => Vec::new(),
            },
            window,
            sources,
            is_front,
            schema: store::extension_schema()?,
        }))
    }

    /// Returns the plan by which the same window is answered for whole targets.
    pub fn of_wholes(&self, client: &SpiClient<'_>) -> Result<Self, Error> {
        let sources = Sources::of_wholes(client, &self.window)?;
        Ok(Self {
            instants: Instants::new(&self.window, &sources)?,
            window: self.window.clone(),
            sources,
            jobs: Jobs::default(),
            owners: Owners::default(),
            names: Names::default(),
            is_front: self.is_front,
            targets: self.targets.clone(),
            missing: self.missing.clone(),
            schema: self.schema.clone(),
        })
    }

    /// Raises notices if the answer does not cover all targets up to its end, or ends well before now.
    pub fn note_behind(&self) -> Result<(), Error> {
        if let Some(last) = self.window.stalled {
            hinted(
                format!(
                    "no target in scope has been read for {}",
                    rounded(now()? - last)
                ),
                format!(
                    "The last text is of {}. jobstats.health says what to do.",
                    timestamptz(last)?
                ),
            );
            return Ok(());
        }
        if !self.window.behind.is_empty() {
            pgrx::notice!("{}", behind(&self.window.behind));
        }
        if let Some((target, age)) = &self.window.cut {
            let (target, age) = (shown(target), rounded(*age));
            pgrx::notice!("the window ends {age} ago, at the last observation of {target}");
        }
        Ok(())
    }

    /// Raises notices if the answer would have been different when the increments were still kept.
    pub fn note_age(&self) {
        let kept_since = self.instants.kept_since;
        if self.sources.parts().next().is_some() {
            pgrx::notice!(
                "increments are kept since {kept_since}; older data is only available per bucket of a rollup, and values inside a \
                 bucket are interpolated"
            );
        }
        if self.sources.has_lost {
            pgrx::notice!(
                "increments are kept since {kept_since}; older data that is not in rollups counts as not observed"
            );
        }
    }

    /// Returns the condition on rows `usage` of the targets in scope, with a leading AND, if nodes are chosen by it.
    pub fn of_targets(&self, params: &Params) -> String {
        self.targets.as_ref().map_or_else(String::new, |targets| {
            let targets = params.bind("targets in scope", || targets.clone());
            format!(" AND usage.target_id = ANY ({targets})")
        })
    }

    /// Returns a SELECT of spans of no length of the targets that are missing, after UNION ALL, if there are any.
    pub fn of_missing(&self, params: &Params) -> String {
        if self.missing.is_empty() {
            return String::new();
        }
        let targets = params.bind("missing targets", || self.missing.clone());
        let since = self.since(params);
        format!("\nUNION ALL\nSELECT unnest({targets}), {since}, {since}")
    }
}

impl Instants {
    fn new(window: &Window, sources: &Sources) -> Result<Self, Error> {
        let (since, until) = (window.since(), window.until());
        Ok(Self {
            since: timestamptz(since)?,
            until: timestamptz(until)?,
            since_reach: timestamptz(sources.reach(since))?,
            until_reach: timestamptz(sources.reach(until))?,
            early: timestamptz(since.max(sources.kept_since).saturating_add(HOUR))?,
            late: timestamptz(until.saturating_sub(HOUR).max(EARLIEST))?,
            soon: timestamptz(until.max(sources.kept_since).saturating_add(HOUR))?,
            day_before: timestamptz(since.saturating_sub(DAY).max(EARLIEST))?,
            kept_since: timestamptz(sources.kept_since)?,
            edges: timestamptzs(&window.edges)?,
        })
    }
}

/// Returns the targets that filters let through.
fn targets(client: &SpiClient<'_>, filters: &Filters) -> Result<Vec<i32>, Error> {
    let params = Params::default();
    let conditions = filters.conditions(Level::Target, "target", &params);
    let statement =
        format!("SELECT target.target_id FROM jobstats.targets target WHERE true{conditions}");
    let found = client.query(&statement, &params.take())?;
    found.map(|row| row.at(1)).collect()
}

/// Returns the targets of nodes that are left out which would have been observed, as far as is known: they were in the day before the
/// window, or in the day before their node last answered.
fn missing(client: &SpiClient<'_>, filters: &Filters, since: Micros) -> Result<Vec<i32>, Error> {
    let (params, since) = (Params::default(), timestamptz(since)?);
    let conditions = filters.conditions(Level::Target, "target", &params);
    let since = params.bind("since", || since);
    let statement = format!(
        "SELECT target.target_id FROM jobstats.attached node JOIN jobstats.targets target \
         ON (target.target_id - 1) / 65536 = node.node \
         WHERE node.left_out_since IS NOT NULL \
         AND target.last_observation > least({since}, node.answered) - interval '1 day'{conditions}"
    );
    let found = client.query(&statement, &params.take())?;
    found.map(|row| row.at(1)).collect()
}

/// The number of targets that a notice names.
const NAMED: usize = 5;

/// Says which targets are behind. The first are named.
fn behind(targets: &[(String, Micros)]) -> String {
    let verbs = match targets.len() {
        1 => "target is behind and lowers",
        _ => "targets are behind and lower",
    };
    let named = targets.iter();
    let names: Vec<String> = named
        .map(|(name, age)| format!("{} ({})", shown(name), rounded(*age)))
        .collect();
    format!(
        "{} {verbs} the coverage: {}",
        targets.len(),
        listed(&names, NAMED)
    )
}

/// Returns a time span in seconds, minutes or hours, rounded down.
fn rounded(span: Micros) -> String {
    let seconds = span / 1_000_000;
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// Binds the starts and the ends of spans of this name.
pub fn bind_spans(name: &str, spans: &Spans, params: &Params) -> (String, String) {
    (
        params.bind(&format!("{name} lower"), || spans.lower.clone()),
        params.bind(&format!("{name} upper"), || spans.upper.clone()),
    )
}
