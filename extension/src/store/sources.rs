//! The sources of texts that the feed takes, and what the store holds of each.
//!
//! How a text of a source is read and stored stands in `feed/`, in a file or folder that is named after what it reads.

use jobstats_core::accounting::SCHEDULERS;
use pgrx::prelude::*;

use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;

/// A source as the store sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The name: the column `source` of `jobstats.feed`, and an element of `jobstats.writers.sources`.
    pub name: &'static str,
    /// The tables with its rows that grow with time. They are divided by time, and old parts of them are dropped.
    pub growing: &'static [Growing],
}

impl Source {
    /// Makes a source whose tables are not divided by time.
    const fn undivided(name: &'static str) -> Self {
        Self { name, growing: &[] }
    }
}

/// A table that grows with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growing {
    /// The name in the schema `jobstats`. Its time column is `time`.
    pub table: &'static str,
    /// The setting that says how long its rows are kept.
    pub kept: Kept,
}

/// The setting of `jobstats_setup()` that says how long rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Rows are kept as long as raw text.
    RawRetention,
    /// Rows are kept as long as increments, and until the rollups have summed them.
    Retention,
}

impl Kept {
    /// Returns the name of the setting.
    const fn setting(self) -> &'static str {
        match self {
            Self::RawRetention => "raw_retention",
            Self::Retention => "retention",
        }
    }
}

/// The output of `lctl get_param` on Lustre servers.
pub const LCTL: Source = Source {
    name: "lctl",
    growing: &[
        Growing {
            table: "raw",
            kept: Kept::RawRetention,
        },
        Growing {
            table: "observations",
            kept: Kept::Retention,
        },
        Growing {
            table: "increments",
            kept: Kept::Retention,
        },
        Growing {
            table: "target_readings",
            kept: Kept::RawRetention,
        },
        Growing {
            table: "target_increments",
            kept: Kept::Retention,
        },
        Growing {
            table: "server_readings",
            kept: Kept::RawRetention,
        },
        Growing {
            table: "server_increments",
            kept: Kept::Retention,
        },
    ],
};

/// The output of `getent passwd`. It fills `jobstats.users`, which has one row per user.
pub const PASSWD: Source = Source::undivided("passwd");

/// The output of `getent group`. It fills `jobstats.groups`, which has one row per group.
pub const GROUP: Source = Source::undivided("group");

/// The output of an exporter for Prometheus. It fills `jobstats.sample_series` and its sums, which have few rows per series.
pub const OPENMETRICS: Source = Source::undivided("openmetrics");

/// The sources that are no schedulers. The first is that of a text which names none.
pub const OTHERS: [Source; 4] = [LCTL, PASSWD, GROUP, OPENMETRICS];

/// All sources: the accounting of each scheduler fills `jobstats.jobs`.
pub const SOURCES: [Source; OTHERS.len() + SCHEDULERS.len()] = {
    let mut all = [LCTL; OTHERS.len() + SCHEDULERS.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = match at.checked_sub(OTHERS.len()) {
            Some(scheduler) => Source::undivided(SCHEDULERS[scheduler].name),
            None => OTHERS[at],
        };
        at += 1;
    }
    all
};

/// Returns the tables that grow with time.
pub fn growing() -> impl Iterator<Item = &'static Growing> {
    SOURCES.iter().flat_map(|source| source.growing)
}

/// Returns the position of a source in [`SOURCES`]; `None` names the first.
///
/// # Errors
/// [`Error::UnknownSource`].
pub fn position(name: Option<&str>) -> Result<usize, Error> {
    let Some(name) = name else {
        return Ok(0);
    };
    let found = SOURCES.iter().position(|source| source.name == name);
    found.ok_or_else(|| Error::UnknownSource {
        name: name.to_owned(),
        valid: names(),
    })
}

/// Returns the source of a name; `None` names the first.
///
/// # Errors
/// [`Error::UnknownSource`].
pub fn named(name: Option<&str>) -> Result<&'static Source, Error> {
    Ok(&SOURCES[position(name)?])
}

/// Returns the names of all sources, for a message.
fn names() -> String {
    SOURCES.map(|source| source.name).join(", ")
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.growing_tables() RETURNS TABLE (relation text, kept text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.growing_tables() IS
'Internal: the tables of the store that grow with time, and the setting that says how long their rows are kept.';
"#)]
fn jobstats_growing_tables()
-> TableIterator<'static, (name!(relation, &'static str), name!(kept, &'static str))> {
    TableIterator::new(growing().map(|growing| (growing.table, growing.kept.setting())))
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.known_sources(sources text[]) RETURNS text[]
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.known_sources(text[]) IS
'Internal: the sources of these names, each once and in a fixed order; NULL is lctl. Errors: 0A000 for a name that no source has, 22023 for no name.';
"#)]
fn jobstats_known_sources(sources: Option<Short<Vec<Option<String>>>>) -> SqlResult<Vec<String>> {
    let names = sources.map_or_else(|| vec![None], |names| names.0);
    if names.is_empty() {
        let hint = format!("Name some of {}.", self::names());
        return Err(Error::argument("sources is empty", hint).into());
    }
    let mut wanted = [false; SOURCES.len()];
    for name in names {
        wanted[position(name.as_deref())?] = true;
    }
    let known = SOURCES.iter().zip(wanted).filter(|(_, wanted)| *wanted);
    Ok(known.map(|(source, _)| source.name.to_owned()).collect())
}
