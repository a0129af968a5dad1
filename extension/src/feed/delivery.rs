//! A row of the feed without its text.

use jobstats_core::base::instant::{DAY, Micros};
use pgrx::datum::{DatumWithOid, Interval, Range, RangeBound, TimestampWithTimeZone};

use crate::feed::sources;
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::spi::values;
use crate::pg::time::{micros, timestamptz};
use crate::store::rights::writer::Bounds;

/// The longest stored name in bytes. Host names have at most 255.
const NAME_LIMIT: usize = 255;

/// The longest plausible duration of reading a text.
const LONGEST_READING: i128 = DAY as i128;

/// The columns of a row of the feed, as the caller passes them.
#[derive(Default)]
pub struct Arguments<'a> {
    pub cluster: Option<String>,
    pub server: Option<String>,
    pub read_at: Option<TimestampWithTimeZone>,
    pub body: Option<&'a str>,
    pub body_zstd: Option<Bytea<'a>>,
    pub duration: Option<Interval>,
    pub shipper: Option<String>,
    pub source: Option<String>,
    pub covers: Option<Range<TimestampWithTimeZone>>,
    pub bounds: Bounds,
}

/// One row of the feed, without its text.
pub struct Delivery {
    pub cluster: String,
    pub server: String,
    /// The name of the source.
    pub source: &'static str,
    pub time: Micros,
    /// The start and the end of the span that the text covers, as its sender states them.
    pub covers: Option<(Micros, Micros)>,
    pub duration: Option<Interval>,
    pub shipper: Option<String>,
    /// The targets and parameters that the sender may feed.
    pub bounds: Bounds,
}

impl Delivery {
    /// Takes the columns of a row, whose time is `now` by default.
    ///
    /// # Errors
    /// [`Error::LongName`], [`Error::UnknownSource`], or [`Error::Argument`] if there is no server or no finite time.
    pub fn new(arguments: &mut Arguments<'_>, now: Micros) -> Result<Self, Error> {
        let server = arguments.server.take();
        let delivery = Self {
            cluster: arguments.cluster.take().unwrap_or_default(),
            server: server.ok_or_else(|| {
                let hint = "Name the server that the text comes from, as in 'oss1'.";
                Error::argument("server must not be NULL", hint)
            })?,
            source: sources::named(arguments.source.as_deref())?.name(),
            time: arguments.read_at.map_or(Ok(now), micros)?,
            covers: arguments.covers.take().map(bounds).transpose()?.flatten(),
            duration: arguments.duration.take().filter(is_possible),
            shipper: arguments.shipper.take().map(shortened),
            bounds: std::mem::take(&mut arguments.bounds),
        };
        require_short("cluster", &delivery.cluster)?;
        require_short("server", &delivery.server)?;
        Ok(delivery)
    }

    /// Returns the key of the text as arguments of a statement: cluster, source, server and time.
    pub fn key(&self) -> Result<[DatumWithOid<'_>; 4], Error> {
        Ok(values![
            self.cluster.as_str(),
            self.source,
            self.server.as_str(),
            timestamptz(self.time)?
        ])
    }
}

/// Fails with [`Error::LongName`] for a name that is too long.
pub fn require_short(what: &'static str, name: &str) -> Result<(), Error> {
    let limit = NAME_LIMIT;
    match name.len() {
        len if len > limit => Err(Error::LongName { what, limit }),
        _ => Ok(()),
    }
}

/// Returns the start and the end of a span; `None` if it is empty.
///
/// # Errors
/// [`Error::Argument`] if the span has no start or no end.
pub fn bounds(covers: Range<TimestampWithTimeZone>) -> Result<Option<(Micros, Micros)>, Error> {
    let Some((since, until)) = covers.into_inner() else {
        return Ok(None);
    };
    let finite = |bound: RangeBound<TimestampWithTimeZone>| {
        let time = bound.get().and_then(|time| micros(*time).ok());
        time.ok_or_else(|| {
            let hint = "Give the span in which the text is complete, such as tstzrange(now() - interval '20 minutes', now()).";
            Error::argument("covers must have a finite start and a finite end", hint)
        })
    };
    Ok(Some((finite(since)?, finite(until)?)))
}

/// Truncates a name to [`NAME_LIMIT`] bytes: a long name of a shipper is no reason to reject a text.
fn shortened(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(NAME_LIMIT));
    name
}

/// Returns whether a duration is plausible. Computations with other intervals overflow.
fn is_possible(duration: &Interval) -> bool {
    let months = i128::from(duration.months());
    let days = months * 30 + i128::from(duration.days());
    let micros = days * i128::from(DAY) + i128::from(duration.micros());
    (0..=LONGEST_READING).contains(&micros)
}
