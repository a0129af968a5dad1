//! The scope of a report and its measure of load.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Filters, TargetRow, Targets};
use jobstats_core::base::pattern::exactly;
use jobstats_core::output::quantity::{Quantity, Readable};

use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::chart::frame::TimeAxis;
use crate::show::document::Cell;
use crate::subject::questions::Selection;
use crate::values::number;
use crate::values::text::shown;
use crate::values::when::{Clock, Span};

/// A week.
pub const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

jobstats_core::named! {
    /// The operation that measures the load.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Measure {
        /// The time that servers spend on requests.
        #[default]
        ServiceTime = "service_time",
        /// The metadata requests of MDTs, if no server reports times.
        Metadata = "metadata",
        /// The bytes of OSTs, if no server reports times.
        Bytes = "bytes",
    }
    /// Returns the name of the operation.
    pub fn name;
}

impl Measure {
    /// Returns the words for the measure.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ServiceTime => "requests in service",
            Self::Metadata => "metadata requests",
            Self::Bytes => "bytes read and written",
        }
    }

    /// Returns true for the time of servers.
    pub const fn is_time(self) -> bool {
        matches!(self, Self::ServiceTime)
    }
}

/// The question that a report answers.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub filesystem: String,
    /// The selected usage: of a file system, or of a user on any.
    pub filters: Filters,
    pub window: Span,
    /// The names of the targets of the file system.
    pub targets: Vec<String>,
    /// The cluster that the file system is in.
    pub home: String,
    /// The servers that its targets were last observed on.
    pub servers: BTreeSet<String>,
    pub measure: Measure,
    pub clock: Clock,
}

impl Scope {
    /// Finds a file system, by default the only one. Fails if it is missing or ambiguous.
    pub fn find(
        store: &mut Store,
        name: Option<&str>,
        cluster: Option<&str>,
        window: Span,
        clock: Clock,
    ) -> Result<Self, Error> {
        let place = |row: &TargetRow| Some((row.filesystem.clone()?, row.cluster.clone()));
        let mut targets = store.ask(&Targets::default())?.rows;
        let known: BTreeSet<_> = targets.iter().filter_map(place).collect();
        targets.retain(|row| {
            let is_named = |own: &String| name.is_none_or(|name| own == name);
            let is_in = cluster.is_none_or(|it| row.cluster == it);
            is_in && row.filesystem.as_ref().is_some_and(is_named)
        });
        let matching: BTreeSet<_> = targets.iter().filter_map(place).collect();
        match Vec::from_iter(matching).as_slice() {
            [(filesystem, home)] => Ok(Self {
                filesystem: filesystem.clone(),
                filters: on(Some(filesystem), cluster),
                window,
                targets: targets.iter().map(|row| row.target.clone()).collect(),
                home: home.clone(),
                servers: targets.into_iter().filter_map(|row| row.server).collect(),
                clock,
                ..Self::default()
            }),
            [] => Err(unknown(name, cluster, &known)),
            several => Err(Error::Usage(format!(
                "several file systems exist, choose one: {}",
                list(several)
            ))),
        }
    }

    /// Returns the work of a user, on a file system or on all of them.
    pub fn of_user(
        uid: u32,
        filesystem: Option<&str>,
        cluster: Option<&str>,
        window: Span,
        clock: Clock,
    ) -> Self {
        Self {
            filesystem: filesystem.unwrap_or_default().to_owned(),
            filters: Filters {
                uid: Some(vec![uid.into()]),
                ..on(filesystem, cluster)
            },
            window,
            clock,
            ..Self::default()
        }
    }

    /// Returns true if only the work of a user counts.
    pub const fn is_own(&self) -> bool {
        self.filters.uid.is_some()
    }

    /// Returns the work in the window.
    pub fn work(&self) -> Selection {
        self.during(self.window)
    }

    /// Returns the work in another window.
    pub fn during(&self, window: Span) -> Selection {
        Selection {
            window,
            filters: self.filters.clone(),
        }
    }

    /// Returns the work in the same window a week before.
    pub fn week_before(&self) -> Selection {
        let earlier = |time: Timestamp| time.checked_sub(WEEK).unwrap_or(Timestamp::MIN);
        self.during((earlier(self.window.0), earlier(self.window.1)))
    }

    /// Prints a rate of the measure.
    pub fn rate(&self, rate: impl Into<Option<f64>>) -> String {
        number::rate(rate, self.measure.name())
    }

    /// Returns the cell of a rate of the measure.
    pub fn cell(&self, rate: Option<f64>) -> Cell {
        Cell::rate(rate, self.measure.name())
    }

    /// Prints a power of ten of the measure, which is exact however small it is.
    pub fn power(&self, exponent: i32) -> String {
        let rate = 10_f64.powi(exponent);
        if !self.measure.is_time() {
            let readable = Readable::new(rate, self.measure.name(), Quantity::Rate);
            return readable.map_or_else(|| rate.to_string(), |it| it.to_string());
        }
        match exponent {
            0.. => format!("{rate:.0}"),
            -3.. => rate.to_string(),
            // So many zeros do not fit next to a chart.
            _ => format!("{rate:e}"),
        }
    }

    /// Returns the title of an axis of the measure.
    pub fn title(&self) -> String {
        let mut title = self.measure.words().to_owned();
        title[..1].make_ascii_uppercase();
        if !self.measure.is_time() {
            title.push_str(" per second");
        }
        title
    }

    /// Prints a time in the window.
    pub fn moment(&self, time: Timestamp) -> String {
        self.clock.within(time, self.window)
    }

    /// Prints a span in the window, as `12:50 to 13:00`.
    pub fn span(&self, span: Span) -> String {
        format!("{} to {}", self.moment(span.0), self.moment(span.1))
    }

    /// Returns the axis of the window.
    pub const fn axis(&self) -> TimeAxis<'_> {
        TimeAxis::new(self.window, &self.clock)
    }

    /// Returns the scopes that cover the load of all targets: without times, metadata for MDTs and bytes for OSTs.
    pub fn all(&self) -> Vec<Self> {
        let mut all = vec![self.clone()];
        if !self.measure.is_time() {
            all.push(Self {
                measure: Measure::Bytes,
                ..self.clone()
            });
        }
        all
    }
}

/// Returns the filters that let through the work on a file system.
fn on(filesystem: Option<&str>, cluster: Option<&str>) -> Filters {
    let only = |name: Option<&str>| name.map(|name| vec![exactly(name)]);
    Filters {
        cluster: only(cluster),
        filesystem: only(filesystem),
        ..Filters::default()
    }
}

fn unknown(name: Option<&str>, cluster: Option<&str>, known: &BTreeSet<(String, String)>) -> Error {
    let of = cluster.map_or_else(String::new, |it| format!(" of cluster {}", shown(it)));
    let (kind, name) = match name {
        Some(name) => ("file system", shown(name) + &of),
        None => ("any", format!("file system{of}")),
    };
    let note = match known.is_empty() {
        true => "the store has no targets".to_owned(),
        false => format!("known: {}", list(known)),
    };
    Error::unknown(kind, &name, &[note])
}

/// Lists file systems, each with the option that chooses its cluster.
fn list<'k>(known: impl IntoIterator<Item = &'k (String, String)>) -> String {
    let names = known
        .into_iter()
        .map(|(filesystem, cluster)| match cluster.as_str() {
            "" => shown(filesystem),
            cluster => format!("{} (--cluster {})", shown(filesystem), shown(cluster)),
        });
    names.collect::<Vec<_>>().join(", ")
}
