//! The one place where an error of ours becomes an error of PostgreSQL, with its SQLSTATE and a HINT.

use std::borrow::Cow;
use std::collections::TryReserveError;
use std::fmt::Display;

use jobstats_core::base::nearest::{SUGGESTED, nearest};
use jobstats_core::identity::entry_id::FormatError;
use jobstats_core::rules::audit::TooManyFindings;
use jobstats_core::series::counter::{self, CounterError};
use jobstats_core::series::density::{self, DensityError};
use jobstats_core::usage::filter::FilterError;
use jobstats_core::usage::{MeasureError, Measures, UsageError};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgSqlErrorCode, spi};
use thiserror::Error;

/// An error of a function of this extension.
#[derive(Debug, Error)]
pub enum Error {
    /// The store does not exist.
    #[error("the store of jobstats is missing in this database")]
    NoStore,
    /// A schema `jobstats` exists, but is not ours.
    #[error("schema \"jobstats\" belongs to another role or holds something else")]
    ForeignSchema,
    /// Another version of the extension made the store.
    #[error("the store of jobstats is of version {store}, the extension of version {extension}")]
    StoreVersion {
        /// The version that the store was made for.
        store: String,
        /// The version of the extension.
        extension: &'static str,
        /// True if the store's version is the later one.
        newer: bool,
    },
    /// The encoding of the database is not UTF-8, in which identifiers are stored.
    #[error("jobstats needs a database with encoding UTF8, not {0}")]
    Encoding(String),
    /// The isolation level is too high: the previous text must be read as of now, not as of the transaction's start.
    #[error("{action} is not possible under isolation level {level}")]
    Isolation {
        /// The action that was attempted.
        action: &'static str,
        /// The isolation level.
        level: String,
    },
    /// A write on a standby, or in a read-only transaction.
    #[error("nothing can be written in a read-only transaction")]
    ReadOnly,
    /// A procedure that commits, called in a transaction block.
    #[error("{0} cannot run inside of a transaction block")]
    TransactionBlock(String),
    /// A caller who may call maintenance, but does not have the rights to do it.
    #[error(
        "only the owner of the store of jobstats, or whoever has that role's rights, can do this"
    )]
    NotOwner,
    /// A front, which has no rows of its own.
    #[error("this store is a front: it shows the rows of its nodes, and has none of its own")]
    Front,
    /// A node of a front that cannot be asked.
    #[error("a node of the front does not answer: {0}")]
    Node(String),
    /// A role that asks for others, and does not say for whom, or names nobody who may ask.
    #[error("this role asks for others, and jobstats.on_behalf_of names nobody who may ask")]
    NobodyAsks,
    /// A dimension that a reader without names may not ask for.
    #[error("this role sees no names, so it may not ask by {0}")]
    Nameless(&'static str),
    /// A text that its sender has no right to feed.
    #[error("role {role} may not feed {}cluster '{cluster}' from server {server}", .text.map_or(String::new(), |it| format!("{it} of ")))]
    MayNotFeed {
        /// The role, as SQL writes it.
        role: String,
        /// The source, unless it is lctl.
        text: Option<&'static str>,
        /// The cluster.
        cluster: String,
        /// The server, in quotes, or NULL.
        server: String,
    },
    /// A conversion without TimescaleDB.
    #[error("TimescaleDB is not installed in this database")]
    NoTimescale,
    /// An object that would not survive the replacement of a table.
    #[error("{dependent} depends on jobstats.{relation}, which is to be replaced")]
    InTheWay {
        /// The table of the store.
        relation: String,
        /// The object as PostgreSQL describes it.
        dependent: String,
    },
    /// A text larger than `max_text`, or larger than unpacked text may be.
    #[error("the text has more than {limit} bytes")]
    TextTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// A text that packs so well that it cannot be one of Lustre.
    #[error("the text is more than {limit} times as long as it is packed")]
    Ratio {
        /// The largest ratio of unpacked to packed size.
        limit: u64,
    },
    /// A text with more targets than `max_targets`.
    #[error("the text has {found} targets, more than {limit}")]
    TooManyTargets {
        /// The number of targets in the text.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// `body_zstd` cannot be unpacked.
    #[error("the text is not zstd data: {0}")]
    NotZstd(String),
    /// A row with neither or both of `body` and `body_zstd`.
    #[error("{0}")]
    Body(&'static str),
    /// Settings that contradict each other.
    #[error("{problem}")]
    Settings {
        /// The contradiction.
        problem: String,
        /// The remedy.
        hint: String,
    },
    /// An argument that is out of range, or has no meaning.
    #[error("{problem}")]
    Argument {
        /// The reason why it is refused.
        problem: String,
        /// The value to give instead.
        hint: Cow<'static, str>,
    },
    /// A NULL where it has no meaning.
    #[error("{0} must not be NULL")]
    Null(&'static str),
    /// A table of the store that has lost an indispensable row.
    #[error("jobstats.{0} has lost a row")]
    NoRow(&'static str),
    /// A name that is too long, and would be stored with every text.
    #[error("{what} has more than {limit} bytes")]
    LongName {
        /// The thing that it names.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// A list of names, or a name, that is longer than any real one.
    #[error("an argument has more than a megabyte")]
    LongArgument,
    /// A name in an argument that names nothing.
    #[error("there is no {what} \"{}\"", shown(name))]
    Unknown {
        /// The kind of thing that it should name.
        what: &'static str,
        /// The name.
        name: String,
        /// The valid names.
        valid: String,
    },
    /// A source that this version does not know. A later one may know it, so a sender should keep the text.
    #[error("there is no source \"{}\"", shown(name))]
    UnknownSource {
        /// The name.
        name: String,
        /// The valid names.
        valid: String,
    },
    /// A new name for a target that another target has.
    #[error("there is a target \"{}\" already", shown(.0))]
    TargetExists(String),
    /// An answer that is too long for anybody to read.
    #[error("the answer has over a million rows")]
    TooManyRows,
    /// A window of very many steps, each of which costs time and memory for every group.
    #[error("the window has over 100,000 steps")]
    TooManySteps,
    /// A window whose steps, over all targets together, take minutes.
    #[error("{steps} steps of {targets} targets are over a million")]
    TooManyCells {
        /// The number of steps of the window.
        steps: usize,
        /// The number of targets in scope.
        targets: i64,
    },
    /// A store that disagrees with its raw text everywhere.
    #[error("{0}")]
    TooManyFindings(#[from] TooManyFindings),
    /// Another transaction stored another identifier with the same hash at the same time.
    #[error("another transaction has stored an entry with the same hash at the same time")]
    EntryRace,
    /// Not enough memory.
    #[error("out of memory: could not allocate {0} bytes")]
    Memory(usize),
    /// Not enough memory for the content of a text.
    #[error("out of memory: {0}")]
    Read(#[from] jobstats_core::rules::snapshot::ReadError),
    /// Not enough memory for the increments between two texts.
    #[error("out of memory: {0}")]
    Compare(#[from] jobstats_core::rules::increment::CompareError),
    /// A `jobid_name` that cannot be compiled.
    #[error("{0}")]
    Format(#[from] FormatError),
    /// An error of a summary of a counter.
    #[error("{0}")]
    Counter(#[from] CounterError),
    /// An error of a density.
    #[error("{0}")]
    Density(#[from] DensityError),
    /// An error of a filter.
    #[error("{0}")]
    Filter(#[from] FilterError),
    /// An answer that needs too much memory, or has too large sums.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// Operations or weights that are none.
    #[error("{}", operation(.0))]
    Measure(#[from] MeasureError),
    /// An error of SPI.
    #[error("{0}")]
    Spi(#[from] spi::Error),
    /// A part of the store that is missing, or not as it must be.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A value of one of our types is not what its functions made.
    #[error("a stored value is damaged: {0}")]
    DamagedValue(String),
}

/// Returns the beginning of a text for a message, escaped: otherwise a megabyte from a caller could go into the log of the server.
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(&shortened(text, 60)).into_owned().into()
}

/// Escapes what a terminal obeys in a sentence: control characters, and marks that end a line or change the direction of text. Names in it come
/// from texts of others.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let escaped = text.chars().map(|it| match is_obeyed(it) {
        true => it.escape_default().to_string(),
        false => it.to_string(),
    });
    escaped.collect::<String>().into()
}

fn is_obeyed(character: char) -> bool {
    let is_mark = matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_mark || character.is_control()
}

/// The largest number of characters of a message.
const MESSAGE_LIMIT: usize = 300;

fn shortened(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

impl Error {
    /// Returns whether the error is that packed text is invalid, so that it cannot be unpacked.
    pub const fn is_of_packed(&self) -> bool {
        matches!(
            self,
            Self::NotZstd(_) | Self::TextTooLarge { .. } | Self::Ratio { .. }
        )
    }

    /// Makes an [`Error::Argument`].
    pub fn argument(problem: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Self::Argument {
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// Makes an [`Error::Unknown`].
    pub fn unknown(what: &'static str, name: &str, valid: impl Into<String>) -> Self {
        Self::Unknown {
            what,
            name: name.to_owned(),
            valid: valid.into(),
        }
    }

    /// Makes an [`Error::DamagedValue`] of the reason why a value cannot be read.
    pub fn damaged_value(reason: impl Display) -> Self {
        Self::DamagedValue(reason.to_string())
    }

    /// Makes the error for a feed that does not say from which server its text comes.
    pub fn no_server() -> Self {
        Self::argument(
            "server must not be NULL",
            "Name the server that the text comes from, as in 'oss1'.",
        )
    }

    /// Makes the error for a window that has no time in it.
    pub fn empty_window() -> Self {
        Self::argument(
            "since must be earlier than until",
            "Give a window such as now() - interval '1 hour' and now(). Without both it is the last ten minutes; infinity is now.",
        )
    }

    #[allow(clippy::too_many_lines, reason = "a table with a line for each error")]
    fn sqlstate(&self) -> PgSqlErrorCode {
        use PgSqlErrorCode as Code;
        match self {
            Self::NoStore
            | Self::StoreVersion { .. }
            | Self::ForeignSchema
            | Self::Front
            | Self::NoRow(_)
            | Self::NoTimescale => Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            Self::Null(_) => Code::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            Self::InTheWay { .. } => Code::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
            Self::Encoding(_) | Self::UnknownSource { .. } => Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            Self::Isolation { .. } | Self::TransactionBlock(_) => {
                Code::ERRCODE_ACTIVE_SQL_TRANSACTION
            }
            Self::Node(_) => Code::ERRCODE_CONNECTION_FAILURE,
            Self::NotOwner | Self::NobodyAsks | Self::Nameless(_) | Self::MayNotFeed { .. } => {
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE
            }
            Self::ReadOnly => Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
            Self::TextTooLarge { .. }
            | Self::Ratio { .. }
            | Self::TooManyTargets { .. }
            | Self::TooManyRows
            | Self::LongArgument
            | Self::TooManySteps
            | Self::TooManyCells { .. }
            | Self::TooManyFindings(_) => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            Self::NotZstd(_) => Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
            Self::Body(_)
            | Self::Argument { .. }
            | Self::Unknown { .. }
            | Self::Format(_)
            | Self::Filter(_) => Code::ERRCODE_INVALID_PARAMETER_VALUE,
            Self::LongName { .. } => Code::ERRCODE_STRING_DATA_RIGHT_TRUNCATION,
            Self::Settings { .. } => Code::ERRCODE_CHECK_VIOLATION,
            Self::TargetExists(_) => Code::ERRCODE_UNIQUE_VIOLATION,
            Self::EntryRace => Code::ERRCODE_T_R_SERIALIZATION_FAILURE,
            Self::Memory(_) | Self::Read(_) | Self::Compare(_) => Code::ERRCODE_OUT_OF_MEMORY,
            Self::Counter(error) => match error {
                CounterError::Negative(_)
                | CounterError::BeyondModulus { .. }
                | CounterError::Range => Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                CounterError::Modulus(_) | CounterError::Moduli(..) => {
                    Code::ERRCODE_INVALID_PARAMETER_VALUE
                }
                CounterError::TooMany(_) | CounterError::TooLate(_) => {
                    Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED
                }
                CounterError::Overlap | CounterError::NotPrevious => Code::ERRCODE_DATA_EXCEPTION,
                CounterError::Memory => Code::ERRCODE_OUT_OF_MEMORY,
                CounterError::Text => Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
                CounterError::Bytes => Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
            },
            Self::Density(error) => match error {
                DensityError::Base(_) | DensityError::Bases(..) => {
                    Code::ERRCODE_INVALID_PARAMETER_VALUE
                }
                DensityError::Value(_) | DensityError::TooMany => {
                    Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE
                }
                DensityError::Memory => Code::ERRCODE_OUT_OF_MEMORY,
                DensityError::Text => Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
                DensityError::Bytes => Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
            },
            Self::Usage(UsageError::Overflow) => Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            Self::Usage(UsageError::Memory(_)) => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            Self::Usage(UsageError::NoRoom(_)) => Code::ERRCODE_OUT_OF_MEMORY,
            Self::Measure(_) => Code::ERRCODE_INVALID_PARAMETER_VALUE,
            Self::Spi(_) => Code::ERRCODE_INTERNAL_ERROR,
            Self::Damaged(_) | Self::DamagedValue(_) => Code::ERRCODE_DATA_CORRUPTED,
        }
    }

    #[allow(clippy::too_many_lines, reason = "a table with a line for each error")]
    fn hint(&self) -> Option<Cow<'static, str>> {
        let hint = match self {
            Self::Settings { hint, .. } => return Some(hint.clone().into()),
            Self::MayNotFeed { text, .. } => {
                let sources = text.map_or(String::new(), |it| format!(", sources => '{{{it}}}'"));
                return Some(format!("The owner of the store allows it with jobstats_grant_writer(role, cluster, server{sources}).").into());
            }
            Self::Argument { hint, .. } => return Some(hint.clone()),
            Self::Filter(error) => return Some(error.hint().into()),
            Self::Unknown { name, valid, .. } => return Some(meant(name, valid).into()),
            Self::UnknownSource { valid, .. } => {
                return Some(
                    format!("Valid are {valid}. A later version of jobstats may have more.").into(),
                );
            }
            Self::NoStore | Self::StoreVersion { newer: false, .. } => {
                "Run SELECT jobstats_setup();"
            }
            Self::StoreVersion { newer: true, .. } => {
                "Install the later version of jobstats and run ALTER EXTENSION jobstats UPDATE;"
            }
            Self::NoRow(_) => {
                "Run SELECT jobstats_setup(); it restores missing rows, with default settings."
            }
            Self::Null(_) => "Give a value.",
            Self::ForeignSchema => {
                "Rename or drop that schema, or run jobstats_setup() as its owner."
            }
            Self::NotOwner => "Connect as the owner of the schema jobstats, or as a superuser.",
            Self::Front => {
                "Do that on a node: jobstats.front_nodes lists them. SELECT jobstats_attach(name); brings the front up to date."
            }
            Self::Node(_) => {
                "jobstats.front_nodes names it. CALL jobstats_maintain(); leaves it out until it answers."
            }
            Self::NobodyAsks => {
                "Name a role of jobstats.members, or a user that the store knows: SET LOCAL jobstats.on_behalf_of = 'ada', or 'uid:1000'."
            }
            Self::Nameless(_) => {
                "Group and filter by account, partition and dimensions of targets. rates, totals, top, summary and densities can also be grouped by uid and job, which are pseudonyms."
            }
            Self::Encoding(_) => "Create a database with ENCODING 'UTF8' TEMPLATE template0.",
            Self::NoTimescale => "Run CREATE EXTENSION timescaledb; first.",
            Self::InTheWay { .. } => {
                "Drop it, and create it again afterwards; or grant the role that owns it to the owner of the store."
            }
            Self::Isolation { .. } => "Use READ COMMITTED, the default.",
            Self::ReadOnly => "Use the primary server, in a transaction that may write.",
            Self::TransactionBlock(_) => {
                "It commits by itself: CALL it alone, without BEGIN or other statements."
            }
            Self::TextTooLarge { .. } => {
                "Feed one target per row, or raise max_text in jobstats.settings."
            }
            Self::Ratio { .. } => "No text of Lustre packs so well: check the file that was sent.",
            Self::TooManyTargets { .. } => {
                "Feed the targets in several rows, or raise max_targets in jobstats.settings."
            }
            Self::Body(_) => {
                "Give the text as body or, packed with zstd, as body_zstd, and not both."
            }
            Self::NotZstd(_) => {
                "Send plain text in the column body, or pack it with the zstd tool."
            }
            Self::LongName { what: "entry", .. } => {
                "No Lustre server prints such a long identifier."
            }
            Self::LongName { .. } => "Use a shorter name: each text is stored with it.",
            Self::TooManySteps => "Ask for a longer step or a shorter window.",
            Self::LongArgument => "Give fewer names, or patterns with *.",
            Self::TooManyCells { .. } => {
                "Ask for a longer step, a shorter window or fewer targets."
            }
            Self::TooManyRows => "Ask for a longer step, a shorter window or fewer dimensions.",
            Self::TooManyFindings(_) => {
                "Ask for a shorter window; jobstats_reprocess() puts right what can be computed."
            }
            Self::TargetExists(_) => {
                "Two targets cannot become one: retire one of them with jobstats_alter_target(), or give the other one another name first."
            }
            Self::EntryRace => "Feed the text again.",
            Self::Format(FormatError::NoNode(_)) => {
                "Set node_pattern of the format to NULL, or let clients send %H."
            }
            Self::Format(FormatError::LongPattern(_)) => "Use % for any characters.",
            Self::Format(_) => "Give the jobid_name that is set on the clients.",
            Self::Counter(error) => return Some(counter_hint(error)),
            Self::Density(error) => return Some(density_hint(error)),
            Self::Usage(UsageError::Overflow) => "Ask for a shorter window or fewer targets.",
            Self::Usage(UsageError::Memory(_)) => {
                "Ask for a longer step, a shorter window or fewer dimensions, or raise max_answer in jobstats.settings."
            }
            Self::Measure(MeasureError::Unknown(name)) => {
                return Some(meant(name, &Measures::names()).into());
            }
            Self::Measure(MeasureError::NoNumber(_) | MeasureError::Weights(_)) => {
                r#"Give numbers to operations, as in '{"read_bytes": 1, "write_bytes": 2.5}'."#
            }
            Self::Memory(_)
            | Self::Read(_)
            | Self::Compare(_)
            | Self::Usage(UsageError::NoRoom(_)) => {
                "Ask for less at once, feed fewer targets per row, or give the server more memory."
            }
            Self::Damaged(_) => {
                "Run SELECT jobstats_setup(); and compare the store with its raw text: SELECT * FROM jobstats_audit();"
            }
            Self::DamagedValue(_) => "Compute the value again from its readings.",
            Self::Spi(_) => return None,
        };
        Some(Cow::Borrowed(hint))
    }
}

/// Lists the valid names, and those that are most like a name.
fn meant(name: &str, valid: &str) -> String {
    let words = valid.split(", ").filter(|it| !it.contains(' '));
    let near = nearest(name, words, SUGGESTED).join(" or ");
    let meant = match near.is_empty() {
        true => near,
        false => format!("Did you mean {near}? "),
    };
    format!("{meant}Valid are {valid}.")
}

/// Says which operation is not known.
fn operation(error: &MeasureError) -> String {
    match error {
        MeasureError::Unknown(name) => format!("there is no operation \"{}\"", shown(name)),
        MeasureError::NoNumber(name) => format!("the weight of {} is not a number", shown(name)),
        MeasureError::Weights(problem) => problem.clone(),
    }
}

fn counter_hint(error: &CounterError) -> Cow<'static, str> {
    let hint = match error {
        CounterError::Negative(_) => "Leave such rows out: FILTER (WHERE value >= 0).",
        CounterError::TooMany(_) | CounterError::TooLate(_) => {
            "Give the rows in the order of time: jobstats_counter_agg(time, value ORDER BY time)."
        }
        CounterError::Overlap => {
            "Use spans of time that have no reading in common, or one summary of all readings."
        }
        CounterError::NotPrevious => {
            "Give the summary before: lag(counter) OVER (PARTITION BY series ORDER BY bucket)."
        }
        CounterError::Modulus(_) | CounterError::BeyondModulus { .. } => {
            "Give the number of values that the counter can have, such as 4294967296 for 32 bits; NULL if it never wraps."
        }
        CounterError::Moduli(..) => {
            "Give the same wraps_at in all rows of a counter, and sum up one counter at a time, with GROUP BY."
        }
        CounterError::Range => {
            "Counters have at most 63 bits: sum up readings of a shorter span of time."
        }
        CounterError::Memory => "Sum up fewer readings at once.",
        CounterError::Bytes => "Send the binary form in which a jobstats_counter was received.",
        CounterError::Text => {
            return format!("It looks like this: {}", counter::TEXT_EXAMPLE).into();
        }
    };
    hint.into()
}

fn density_hint(error: &DensityError) -> Cow<'static, str> {
    let hint = match error {
        DensityError::Bases(..) => "Merge only densities with the same base.",
        DensityError::Value(_) => {
            "Leave such rows out: FILTER (WHERE value >= 0 AND value < 'infinity')."
        }
        DensityError::Base(_) => "Give a whole number such as 2 or 10.",
        DensityError::TooMany => "Count the values in several densities.",
        DensityError::Memory => "Count fewer values at once.",
        DensityError::Bytes => "Send the binary form in which a jobstats_density was received.",
        DensityError::Text => {
            return format!("It looks like this: {}", density::TEXT_EXAMPLE).into();
        }
    };
    hint.into()
}

impl From<TryReserveError> for Error {
    fn from(error: TryReserveError) -> Self {
        Self::Read(error.into())
    }
}

impl From<Error> for ErrorReport {
    #[track_caller]
    fn from(error: Error) -> Self {
        let message = shortened(&error.to_string(), MESSAGE_LIMIT).into_owned();
        let report = Self::new(error.sqlstate(), message, "jobstats");
        match error.hint() {
            Some(hint) => report.set_hint(hint),
            None => report,
        }
    }
}
