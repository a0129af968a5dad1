//! Rows on their way into `jobstats.increments`.
//!
//! `INSERT … SELECT` from a function that fills a tuplestore costs as little as COPY, works the same for tables,
//! partitions and hypertables, and fires what hangs on them. The rows wait in this backend's memory in between; they are
//! taken from there as many at a time as stay in the processor's cache, where a tuplestore of all would become a file.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::LazyLock;
use std::vec;

use jobstats_core::increment::{Column, Increment};
use jobstats_core::step;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::{IntoDatum, PgBuiltInOids, PgMemoryContexts, PgTupleDesc, pg_sys};

use crate::columns::operation_columns;
use crate::error::Error;
use crate::pause::pause;
use crate::prepared;
use crate::rows::jsonb;
use crate::time::postgres_micros;

/// An increment, its entry already resolved; a row of `jobstats.increments` for each part of it.
pub struct Row {
    entry_id: i64,
    increment: Increment<'static>,
}

impl Row {
    /// What this entry did.
    pub fn new(entry_id: i64, increment: Increment<'_>) -> Self {
        let increment = Increment {
            id: "",
            ..increment
        };
        Self {
            entry_id,
            increment,
        }
    }
}

/// Rows of one target.
struct Batch {
    target_id: i32,
    rows: vec::IntoIter<Row>,
    /// How many of them a statement reads.
    at_a_time: usize,
}

thread_local! {
    static STAGED: Cell<Option<Batch>> = const { Cell::new(None) };
}

/// Registers the thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    STAGED.with(|_| ());
}

/// A type of PostgreSQL, by name and number.
type Type = (&'static str, PgBuiltInOids);

const TIME: Type = ("timestamptz", PgBuiltInOids::TIMESTAMPTZOID);
const NUMBER: Type = ("bigint", PgBuiltInOids::INT8OID);
const NUMBERS: Type = ("bigint[]", PgBuiltInOids::INT8ARRAYOID);

/// The columns before those of the operations.
const FIXED: [(&str, Type); 7] = [
    ("time", TIME),
    ("since", TIME),
    ("observed", TIME),
    ("last_active", TIME),
    ("entry_id", NUMBER),
    ("target_id", ("integer", PgBuiltInOids::INT4OID)),
    ("reset", ("boolean", PgBuiltInOids::BOOLOID)),
];

/// The columns after them.
const LAST: [(&str, Type); 3] = [
    ("read_bytes_hist", NUMBERS),
    ("write_bytes_hist", NUMBERS),
    ("detail", ("jsonb", PgBuiltInOids::JSONBOID)),
];

/// All columns, as [`fill`] fills them.
fn columns() -> impl Iterator<Item = (String, Type)> {
    let named = |(name, kind): (&str, Type)| (name.to_owned(), kind);
    let operations = operation_columns().map(|(_, name)| (name, NUMBER));
    FIXED
        .into_iter()
        .map(named)
        .chain(operations)
        .chain(LAST.into_iter().map(named))
}

/// Writes increments of a target, divided at the edges of rollups; gives the number of rows.
///
/// # Errors
/// Those of PostgreSQL, by way of its own reports.
pub fn insert_increments(
    client: &mut SpiClient<'_>,
    target_id: i32,
    rows: Vec<Row>,
) -> Result<usize, Error> {
    if rows.is_empty() {
        return Ok(0);
    }
    let Source { names, select } = source();
    let statement = format!("INSERT INTO jobstats.increments ({names}) {select}");
    let pieces = rows.len().div_ceil(AT_A_TIME);
    staged(target_id, rows, AT_A_TIME, || {
        let inserted = (0..pieces).map(|_| Ok(prepared::update(client, &statement, &[])?.len()));
        inserted.sum()
    })
}

/// Runs a statement that reads increments of a target from [`Source::select`].
///
/// # Errors
/// Those of the statement.
pub fn with_rows<T>(
    target_id: i32,
    rows: Vec<Row>,
    run: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    staged(target_id, rows, usize::MAX, run)
}

/// Half a megabyte of rows. A tuplestore of 12,089 was written to a file, a tenth of the time that they took.
const AT_A_TIME: usize = 1000;

fn staged<T>(
    target_id: i32,
    rows: Vec<Row>,
    at_a_time: usize,
    run: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    STAGED.set(Some(Batch {
        target_id,
        rows: rows.into_iter(),
        at_a_time,
    }));
    let _staged = Staged;
    run()
}

/// Takes the rows away again, also where an error of PostgreSQL ends the statement.
struct Staged;

impl Drop for Staged {
    fn drop(&mut self) {
        STAGED.set(None);
    }
}

/// The waiting rows, for statements that read them once.
pub struct Source {
    /// The columns of `jobstats.increments`.
    pub names: String,
    /// A SELECT that gives these columns.
    pub select: String,
}

/// How statements read the waiting rows.
pub fn source() -> Source {
    let names: Vec<String> = columns().map(|(name, _)| format!("\"{name}\"")).collect();
    let types = columns().map(|(name, (kind, _))| format!("\"{name}\" {kind}"));
    let names = names.join(", ");
    let select = format!(
        "SELECT {} FROM jobstats_internal.staged_increments() AS staged ({})",
        names,
        types.collect::<Vec<String>>().join(", "),
    );
    Source { names, select }
}

/// The rows that this backend's running feed is about to store or its audit compares; none at any other time.
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.staged_increments() RETURNS SETOF record
LANGUAGE c VOLATILE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.staged_increments() IS
'Internal: the increments that the running feed of this session is about to store, or its audit compares.';
"#)]
fn jobstats_staged_increments(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: called by the executor with a ReturnSetInfo, which InitMaterializedSRF checks; the tuplestore and the
    // descriptor that it leaves there live as long as the call.
    unsafe {
        pg_sys::InitMaterializedSRF(fcinfo, pg_sys::MAT_SRF_USE_EXPECTED_DESC);
        let result = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        if let Some(mut batch) = STAGED.take() {
            put_rows(&mut batch, (*result).setResult, (*result).setDesc);
            STAGED.set(Some(batch));
        }
    }
}

/// # Safety
/// `store` and `descriptor` are those of the running call, and the descriptor is the one of [`source`].
unsafe fn put_rows(
    batch: &mut Batch,
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
) {
    let positions: HashMap<Column, usize> = operation_columns()
        .enumerate()
        .map(|(position, (column, _))| (column, FIXED.len() + position))
        .collect();
    // Values of other types than those of the caller's columns would be taken for addresses.
    // SAFETY: the descriptor is valid by this function's contract; it is copied.
    let wanted = unsafe { PgTupleDesc::from_pg_copy(descriptor) };
    let wanted = wanted.iter().map(|column| column.atttypid);
    if !wanted.eq(columns().map(|(_, (_, oid))| oid.oid().value())) {
        pgrx::ereport!(
            ERROR,
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            "jobstats_internal.staged_increments() serves jobstats itself alone"
        );
    }
    let width = FIXED.len() + positions.len() + LAST.len();
    let mut values = vec![pg_sys::Datum::from(0); width];
    let mut nulls = vec![true; width];
    let mut context = PgMemoryContexts::new("jobstats staged row");
    // Divided here, one at a time: after a long gap the parts are many times the increments.
    for row in batch.rows.by_ref().take(batch.at_a_time) {
        let observed = row.increment.time;
        for part in step::split(row.increment) {
            pause();
            let key = (batch.target_id, observed, row.entry_id);
            nulls.fill(true);
            // SAFETY: arrays and text of one row are copied into the tuplestore before their memory is reset.
            unsafe {
                context.switch_to(|_| fill(key, &part, &positions, &mut values, &mut nulls));
                pg_sys::tuplestore_putvalues(
                    store,
                    descriptor,
                    values.as_mut_ptr(),
                    nulls.as_mut_ptr(),
                );
                context.reset();
            }
        }
    }
}

fn fill(
    (target_id, observed, entry_id): (i32, i64, i64),
    increment: &Increment<'_>,
    positions: &HashMap<Column, usize>,
    values: &mut [pg_sys::Datum],
    nulls: &mut [bool],
) {
    let mut set = |position: usize, datum: Option<pg_sys::Datum>| {
        if let Some(datum) = datum {
            values[position] = datum;
            nulls[position] = false;
        }
    };
    set(0, postgres_micros(increment.time).into_datum());
    set(1, postgres_micros(increment.since).into_datum());
    set(2, postgres_micros(observed).into_datum());
    set(3, increment.last_active.map(postgres_micros).into_datum());
    set(4, entry_id.into_datum());
    set(5, target_id.into_datum());
    set(6, increment.reset.into_datum());
    for (column, total) in &increment.totals {
        if let Some(position) = positions.get(column) {
            set(*position, (*total).into_datum());
        }
    }
    let after = FIXED.len() + positions.len();
    let histograms = [&increment.read_histogram, &increment.write_histogram];
    for (position, histogram) in (after..).zip(histograms) {
        let numbers = histogram.as_ref().map(|numbers| numbers.to_vec());
        set(position, numbers.into_datum().map(packed));
    }
    let detail = increment.detail.as_deref().and_then(jsonb);
    set(after + 2, detail.map(packed));
}

/// How values are compressed: lz4 where the server was built with it, as nearly all are, takes a quarter of the time of the
/// default, which is a fifth of the time of these rows, and leaves as little.
static COMPRESSION: LazyLock<c_char> = LazyLock::new(|| {
    /// `TOAST_LZ4_COMPRESSION`
    const LZ4: c_char = b'l' as c_char;
    /// As `default_toast_compression` says.
    const DEFAULT: c_char = 0;
    // SAFETY: C strings that outlive the call, which only asks whether the setting would be valid.
    let is_valid = unsafe {
        pg_sys::set_config_option(
            c"default_toast_compression".as_ptr(),
            c"lz4".as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_TEST,
            pg_sys::GucAction::GUC_ACTION_SET,
            false,
            pg_sys::DEBUG5 as i32,
            false,
        )
    };
    if is_valid != 0 { LZ4 } else { DEFAULT }
});

/// A value of variable length, compressed where that makes it smaller. PostgreSQL itself does that only to rows that
/// would not fit four to a page; but of histograms and details, which are half of a row, most is zeros and names.
fn packed(value: pg_sys::Datum) -> pg_sys::Datum {
    unsafe extern "C-unwind" {
        fn toast_compress_datum(value: pg_sys::Datum, method: c_char) -> pg_sys::Datum;
    }
    // SAFETY: the value is whole and in memory, as it was just made; a null pointer says that it stays as it is.
    let compressed = unsafe { toast_compress_datum(value, *COMPRESSION) };
    if compressed.is_null() {
        value
    } else {
        compressed
    }
}
