//! The table of all errors of this extension, each with its SQLSTATE, message and hint.

use std::borrow::Cow;
use std::collections::TryReserveError;
use std::fmt::Display;

use jobstats_core::base::nearest::{SUGGESTED, nearest};
use jobstats_core::identity::entry_id::FormatError;
use jobstats_core::rules::audit::TooManyFindings;
use jobstats_core::rules::snapshot::ReadError;
use jobstats_core::series::counter::{self, CounterError};
use jobstats_core::series::density::{self, DensityError};
use jobstats_core::usage::filter::FilterError;
use jobstats_core::usage::{MeasureError, Measures, UsageError};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgSqlErrorCode as Code, spi};
use thiserror::Error;

/// Defines [`Error`]: of each variant the SQLSTATE, the message as thiserror takes it, and the hint, which may be empty.
macro_rules! errors {
    ($(
        $name:ident $(($(#[$from:meta])? $value:ident: $type:ty))? $({ $($field:ident: $kind:ty),* })?
            => $code:expr, ($($message:tt)+), $hint:expr;
    )+) => {
        /// An error of a function of this extension.
        #[derive(Debug, Error)]
        pub enum Error {
            $(
                #[error($($message)+)]
                $name $(($(#[$from])? $type))? $({ $($field: $kind),* })?,
            )+
        }

        impl Error {
            #[allow(unused_variables)]
            fn sqlstate(&self) -> Code {
                match self {
                    $(Self::$name $(($value))? $({ $($field),* })? => $code,)+
                }
            }

            #[allow(unused_variables)]
            fn hint(&self) -> Cow<'static, str> {
                match self {
                    $(Self::$name $(($value))? $({ $($field),* })? => $hint.into(),)+
                }
            }
        }
    };
}

errors! {
    NoStore => Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        ("the jobstats store does not exist in this database"),
        "Run SELECT jobstats_setup();";
    ForeignSchema => Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        ("schema \"jobstats\" belongs to another role or holds something else"),
        "Rename or drop that schema, or run jobstats_setup() as its owner.";
    StoreVersion { store: String, extension: &'static str, newer: bool } => Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        ("the jobstats store has version {store}, the extension has version {extension}"),
        match newer {
            true => "Install the newer version of jobstats and run ALTER EXTENSION jobstats UPDATE;",
            false => "Run SELECT jobstats_setup();",
        };
    Encoding(name: String) => Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        ("jobstats needs a database with encoding UTF8, not {0}"),
        "Create a database with ENCODING 'UTF8' TEMPLATE template0.";
    // A higher isolation level reads the previous snapshot as of the transaction's start.
    Isolation { action: &'static str, level: String } => Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
        ("{action} is not possible under isolation level {level}"),
        "Use READ COMMITTED, the default.";
    ReadOnly => Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
        ("cannot write in a read-only transaction"),
        "Use a read-write transaction on the primary server.";
    TransactionBlock(procedure: String) => Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
        ("{0} cannot run inside a transaction block"),
        "CALL it alone, without BEGIN or other statements: it commits itself.";
    NotOwner => Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
        ("must be owner of the jobstats store"),
        "Connect as the owner of the schema jobstats, a member of that role, or a superuser.";
    Front => Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        ("this store is a front, which stores no rows itself"),
        "Do this on a node: jobstats.front_nodes lists them. To update the front, run SELECT jobstats_attach(name);";
    Node(problem: String) => Code::ERRCODE_CONNECTION_FAILURE,
        ("a node of the front does not answer: {0}"),
        "Find it in jobstats.front_nodes. To leave it out until it answers, run CALL jobstats_maintain();";
    NobodyAsks => Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
        ("jobstats.on_behalf_of does not name a user that this role may query for"),
        "Name a role in jobstats.members, or a known user: SET LOCAL jobstats.on_behalf_of = 'ada', or 'uid:1000'.";
    Nameless(dimension: &'static str) => Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
        ("this role may not see names, so it cannot group or filter by {0}"),
        "Group and filter by account, partition and dimensions of targets. rates, totals, top, summary and densities can also be grouped by uid and job, which are pseudonyms.";
    MayNotFeed { role: String, text: Option<&'static str>, cluster: String, server: String } => Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
        ("role {role} may not feed {}cluster '{cluster}' from server {server}", .text.map_or(String::new(), |it| format!("{it} of "))),
        format!(
            "The owner of the store can allow it with jobstats_grant_writer(role, cluster, server{}).",
            text.map_or(String::new(), |it| format!(", sources => '{{{it}}}'")),
        );
    NoTimescale => Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        ("TimescaleDB is not installed in this database"),
        "Run CREATE EXTENSION timescaledb; first.";
    InTheWay { relation: String, dependent: String } => Code::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
        ("cannot replace jobstats.{relation} because {dependent} depends on it"),
        "Drop it and create it again afterwards, or grant its owner to the owner of the store.";
    TextTooLarge { limit: u64 } => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("the text has more than {limit} bytes"),
        "Feed one target per row, or raise max_text in jobstats.settings.";
    Ratio { limit: u64 } => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("the text is more than {limit} times its compressed size"),
        "Lustre text does not compress that well: check the file that was sent.";
    TooManyTargets { found: usize, limit: usize } => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("the text has {found} targets, more than {limit}"),
        "Feed the targets in several rows, or raise max_targets in jobstats.settings.";
    NotZstd(problem: String) => Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
        ("the text is not zstd data: {0}"),
        "Send plain text in the column body, or compress it with zstd.";
    Settings { problem: String, hint: String } => Code::ERRCODE_CHECK_VIOLATION,
        ("{problem}"),
        hint.clone();
    Argument { problem: String, hint: Cow<'static, str> } => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        ("{problem}"),
        hint.clone();
    Null(argument: &'static str) => Code::ERRCODE_NULL_VALUE_NOT_ALLOWED,
        ("{0} must not be NULL"),
        "Give a value.";
    NoRow(relation: &'static str) => Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        ("jobstats.{0} has lost a row"),
        "Run SELECT jobstats_setup(); it restores missing rows, with default settings.";
    LongName { what: &'static str, limit: usize } => Code::ERRCODE_STRING_DATA_RIGHT_TRUNCATION,
        ("{what} has more than {limit} bytes"),
        match *what {
            "entry" => "Check the text: Lustre prints shorter identifiers.",
            _ => "Use a shorter name: each text is stored with it.",
        };
    LongArgument => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("an argument has more than a megabyte"),
        "Give fewer names, or patterns with *.";
    Unknown { what: &'static str, name: String, valid: String } => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        ("{what} \"{}\" does not exist", shown(name)),
        meant(name, valid);
    // A later version may know the source: this SQLSTATE lets senders retain the text.
    UnknownSource { name: String, valid: String } => Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        ("source \"{}\" does not exist", shown(name)),
        format!("Valid values are {valid}. A later version of jobstats may have more.");
    TargetExists { name: String } => Code::ERRCODE_UNIQUE_VIOLATION,
        ("target \"{}\" already exists", shown(name)),
        "Targets cannot be merged: retire one with jobstats_alter_target(), or rename the other one first.";
    TooManyRows => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("the answer has over a million rows"),
        "Use a longer step, a shorter window or fewer dimensions.";
    TooManySteps => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("the window has over 100,000 steps"),
        "Use a longer step or a shorter window.";
    TooManyCells { steps: usize, targets: i64 } => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("{steps} steps times {targets} targets exceed a million"),
        "Use a longer step, a shorter window or fewer targets.";
    TooManyFindings(#[from] error: TooManyFindings) => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ("{0}"),
        "Use a shorter window; jobstats_reprocess() corrects what can be recomputed.";
    EntryRace => Code::ERRCODE_T_R_SERIALIZATION_FAILURE,
        ("another transaction stored an entry with the same hash at the same time"),
        "Feed the text again.";
    Memory(bytes: usize) => Code::ERRCODE_OUT_OF_MEMORY,
        ("out of memory: could not allocate {0} bytes"),
        LESS_AT_ONCE;
    Read(#[from] error: ReadError) => Code::ERRCODE_OUT_OF_MEMORY, ("out of memory: {0}"), LESS_AT_ONCE;
    Format(#[from] error: FormatError) => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        ("{0}"),
        match error {
            FormatError::NoNode(_) => "Set node_pattern of the format to NULL, or add %H to jobid_name on the clients.",
            FormatError::LongPattern(_) => "Use % for any characters.",
            _ => "Give the jobid_name that is set on the clients.",
        };
    Counter(#[from] error: CounterError) => counter_code(error), ("{0}"), counter_hint(error);
    Density(#[from] error: DensityError) => density_code(error), ("{0}"), density_hint(error);
    Usage(#[from] error: UsageError) =>
        match error {
            UsageError::Overflow => Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            UsageError::Memory(_) => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            UsageError::NoRoom(_) => Code::ERRCODE_OUT_OF_MEMORY,
        },
        ("{0}"),
        match error {
            UsageError::Overflow => "Use a shorter window or fewer targets.",
            UsageError::Memory(_) => "Use a longer step, a shorter window or fewer dimensions, or raise max_answer in jobstats.settings.",
            UsageError::NoRoom(_) => LESS_AT_ONCE,
        };
    Spi(#[from] error: spi::Error) => Code::ERRCODE_INTERNAL_ERROR, ("{0}"), "";
    Damaged(problem: String) => Code::ERRCODE_DATA_CORRUPTED,
        ("the store is damaged: {0}"),
        "Run SELECT jobstats_setup(); and compare the store with its raw text: SELECT * FROM jobstats_audit();";
    // A value of one of the extension's types.
    DamagedValue(problem: String) => Code::ERRCODE_DATA_CORRUPTED,
        ("a stored value is damaged: {0}"),
        "Recompute the value from its readings.";
}

const LESS_AT_ONCE: &str =
    "Query less at once, feed fewer targets per row, or give the server more memory.";

/// Returns the beginning of a text for a message, escaped. A caller's megabyte must not get into the server's log.
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(&shortened(text, 60)).into_owned().into()
}

/// Escapes characters that control a terminal, end a line or change the direction of text: names come from untrusted texts.
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

    /// Makes an [`Error::DamagedValue`].
    pub fn damaged_value(reason: impl Display) -> Self {
        Self::DamagedValue(reason.to_string())
    }

    /// Returns how to report JSON of a relation that cannot be read or written.
    pub fn damaged_row(relation: &str) -> impl Fn(serde_json::Error) -> Self {
        move |error| Self::Damaged(format!("a row of jobstats.{relation}: {error}"))
    }

    /// Makes the error for an empty window.
    pub fn empty_window() -> Self {
        Self::argument(
            "since must be earlier than until",
            "Use a window such as now() - interval '1 hour' and now(). The default is the last ten minutes; infinity is now.",
        )
    }
}

/// Lists the valid names after the most similar ones.
fn meant(name: &str, valid: &str) -> String {
    let words = valid.split(", ").filter(|it| !it.contains(' '));
    let near = nearest(name, words, SUGGESTED).join(" or ");
    let meant = match near.is_empty() {
        true => near,
        false => format!("Did you mean {near}? "),
    };
    format!("{meant}Valid values are {valid}.")
}

fn counter_code(error: &CounterError) -> Code {
    match error {
        CounterError::Negative(_) | CounterError::BeyondModulus { .. } | CounterError::Range => {
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE
        }
        CounterError::Modulus(_) | CounterError::Moduli(..) => {
            Code::ERRCODE_INVALID_PARAMETER_VALUE
        }
        CounterError::TooMany(_) | CounterError::TooLate(_) => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        CounterError::Overlap | CounterError::NotPrevious => Code::ERRCODE_DATA_EXCEPTION,
        CounterError::Memory => Code::ERRCODE_OUT_OF_MEMORY,
        CounterError::Text => Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        CounterError::Bytes => Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
    }
}

fn counter_hint(error: &CounterError) -> Cow<'static, str> {
    let hint = match error {
        CounterError::Negative(_) => "Leave such rows out: FILTER (WHERE value >= 0).",
        CounterError::TooMany(_) | CounterError::TooLate(_) => {
            "Give the rows in order of time: jobstats_counter_agg(time, value ORDER BY time)."
        }
        CounterError::Overlap => "Use spans that share no reading, or one summary of all readings.",
        CounterError::NotPrevious => {
            "Give the previous summary: lag(counter) OVER (PARTITION BY series ORDER BY bucket)."
        }
        CounterError::Modulus(_) | CounterError::BeyondModulus { .. } => {
            "Give the number of values that the counter can have, such as 4294967296 for 32 bits; NULL if it never wraps."
        }
        CounterError::Moduli(..) => {
            "Give the same wraps_at in all rows of a counter, and aggregate one counter at a time, with GROUP BY."
        }
        CounterError::Range => "Counters have at most 63 bits: aggregate a shorter span.",
        CounterError::Memory => "Aggregate fewer readings at once.",
        CounterError::Bytes => "Send the unchanged binary form of a jobstats_counter.",
        CounterError::Text => {
            return format!("It looks like this: {}", counter::TEXT_EXAMPLE).into();
        }
    };
    hint.into()
}

fn density_code(error: &DensityError) -> Code {
    match error {
        DensityError::Base(_) | DensityError::Bases(..) => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        DensityError::Value(_) | DensityError::TooMany => Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
        DensityError::Memory => Code::ERRCODE_OUT_OF_MEMORY,
        DensityError::Text => Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        DensityError::Bytes => Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
    }
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
        DensityError::Bytes => "Send the unchanged binary form of a jobstats_density.",
        DensityError::Text => {
            return format!("It looks like this: {}", density::TEXT_EXAMPLE).into();
        }
    };
    hint.into()
}

impl From<FilterError> for Error {
    fn from(error: FilterError) -> Self {
        Self::argument(error.to_string(), error.hint())
    }
}

impl From<MeasureError> for Error {
    fn from(error: MeasureError) -> Self {
        let problem = match error {
            MeasureError::Unknown(name) => {
                return Self::unknown("operation", &name, Measures::names());
            }
            MeasureError::NoNumber(name) => {
                format!("the weight of {} is not a number", shown(&name))
            }
            MeasureError::Weights(problem) => problem,
        };
        let hint = r#"Give numbers to operations, as in '{"read_bytes": 1, "write_bytes": 2.5}'."#;
        Self::argument(problem, hint)
    }
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
            hint if hint.is_empty() => report,
            hint => report.set_hint(hint),
        }
    }
}
