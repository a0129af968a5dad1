//! Reads the rows of a statement as they come, without keeping them.
//!
//! SPI keeps all rows of a statement before it gives the first, and a cursor keeps a batch. To copy them takes longer than to add
//! them up.
#![allow(unsafe_code)]

use std::ptr;
use std::time::Instant;

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::{AnyNumeric, FromDatum, Spi};

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::plans::prepared;
use crate::pg::statement::{Snapshot, Values};
use crate::pg::tuplestore::{ColumnType, columns};

/// A plan for any values would open, and lock, each partition.
pub const FOR_VALUES: u32 = pg_sys::CURSOR_OPT_CUSTOM_PLAN | pg_sys::CURSOR_OPT_PARALLEL_OK;

/// Plans a statement once for all values.
pub const ONCE: u32 = pg_sys::CURSOR_OPT_GENERIC_PLAN;

/// A row, as long as it is being received.
pub struct Received {
    slot: *mut pg_sys::TupleTableSlot,
}

impl Received {
    /// Returns a value, which lives as long as the row; NULL is `None`.
    #[inline]
    pub fn datum(&self, column: usize) -> Option<pg_sys::Datum> {
        // SAFETY: all columns of the slot are filled, and their number was checked.
        unsafe {
            (!*(*self.slot).tts_isnull.add(column)).then(|| *(*self.slot).tts_values.add(column))
        }
    }

    /// Returns a value of an integer or a time; NULL is `None`.
    #[inline]
    pub fn integer(&self, column: usize) -> Option<i64> {
        self.datum(column).map(|it| it.value() as i64)
    }

    /// Returns a value of a boolean; NULL is `false`.
    pub fn boolean(&self, column: usize) -> bool {
        self.datum(column).is_some_and(|it| it.value() & 0xff != 0)
    }

    /// Returns a whole number of any size.
    pub fn numeric(&self, column: usize) -> Result<Option<i128>, Error> {
        let Some(datum) = self.datum(column) else {
            return Ok(None);
        };
        // SAFETY: the type of the column was checked.
        let number = unsafe { AnyNumeric::from_datum(datum, false) };
        number
            .map(|it| i128::try_from(it).map_err(Error::damaged_value))
            .transpose()
    }

    /// Returns a value of a float.
    pub fn float(&self, column: usize) -> Option<f64> {
        self.datum(column)
            .map(|it| f64::from_bits(it.value() as u64))
    }

    /// Returns bytes.
    pub fn bytes(&self, column: usize) -> Option<&[u8]> {
        let datum = self.datum(column)?;
        // SAFETY: the type of the column was checked.
        unsafe { <&[u8]>::from_datum(datum, false) }
    }

    /// Returns a copy of a text.
    pub fn text(&self, column: usize) -> Option<String> {
        let datum = self.datum(column)?;
        // SAFETY: the type of the column was checked.
        unsafe { String::from_datum(datum, false) }
    }
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// An integer of four or eight bytes.
    Integer,
    /// A time.
    Time,
    /// A boolean.
    Boolean,
    /// A text.
    Text,
    /// A number of any size.
    Numeric,
    /// A float of eight bytes.
    Float,
    /// Bytes.
    Bytes,
}

impl Type {
    fn is(self, oid: pg_sys::Oid) -> bool {
        match self {
            Self::Integer => oid == pg_sys::INT4OID || oid == pg_sys::INT8OID,
            Self::Time => oid == pg_sys::TIMESTAMPTZOID,
            Self::Boolean => oid == pg_sys::BOOLOID,
            Self::Text => oid == pg_sys::TEXTOID,
            Self::Numeric => oid == pg_sys::NUMERICOID,
            Self::Float => oid == pg_sys::FLOAT8OID,
            Self::Bytes => oid == pg_sys::BYTEAOID,
        }
    }
}

/// Checks the columns before the first row. The owner of a store can alter tables.
type Check<'t> = &'t mut dyn FnMut(&[ColumnType]) -> Result<(), Error>;

/// Takes a row; `false` if no more are wanted.
type Take<'t> = &'t mut dyn FnMut(&Received) -> Result<bool, Error>;

/// The receiver that PostgreSQL calls, with its state.
#[repr(C)]
struct Receiver<'t> {
    own: pg_sys::DestReceiver,
    check: Check<'t>,
    take: Take<'t>,
    rows: u64,
    failed: Option<Error>,
}

/// Plans and runs a statement that reads, and gives its rows to `take`. The columns must have these types.
///
/// # Errors
/// Errors of `take`, and [`Error::Damaged`] if a column is of another type.
pub fn each(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    types: &[Type],
    take: Take<'_>,
) -> Result<(), Error> {
    run(FOR_VALUES, statement, arguments, &mut are(types), take)
}

/// Returns the check that columns have these types.
pub fn are(types: &[Type]) -> impl FnMut(&[ColumnType]) -> Result<(), Error> {
    move |columns| {
        let mut pairs = columns.iter().zip(types);
        if columns.len() == types.len() && pairs.all(|(column, it)| it.is(column.oid)) {
            return Ok(());
        }
        let problem = "the columns of a statement have other types";
        Err(Error::Damaged(problem.to_owned()))
    }
}

/// Runs a statement as [`each`] does, with a plan for its values or [once](ONCE).
pub fn run(
    options: u32,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    check: Check<'_>,
    take: Take<'_>,
) -> Result<(), Error> {
    let begin = Instant::now();
    let plan = prepared(statement, arguments, options)?;
    let mut receiver = Receiver {
        own: pg_sys::DestReceiver {
            receiveSlot: Some(receive),
            rStartup: Some(start),
            rShutdown: Some(nothing),
            rDestroy: Some(nothing),
            mydest: pg_sys::CommandDest::DestNone,
        },
        check,
        take,
        rows: 0,
        failed: None,
    };
    let values = Values::new(arguments);
    // SAFETY: a connection to SPI is open, or the status reports an error. The receiver and the parameters outlive the call,
    // and the plan has their types.
    let status = unsafe {
        let options = pg_sys::SPIExecuteOptions {
            params: values.list(),
            read_only: Snapshot::is_of_call(),
            must_return_tuples: true,
            dest: ptr::from_mut(&mut receiver).cast(),
            ..Default::default()
        };
        pg_sys::SPI_execute_plan_extended(plan.as_ptr(), &options)
    };
    if let Some(error) = receiver.failed {
        return Err(error);
    }
    Spi::check_status(status)?;
    pgrx::debug1!(
        "{} rows in {:.1} ms: {}",
        receiver.rows,
        begin.elapsed().as_secs_f64() * 1e3,
        statement.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    Ok(())
}

#[pg_guard]
unsafe extern "C-unwind" fn start(
    receiver: *mut pg_sys::DestReceiver,
    _operation: std::ffi::c_int,
    descriptor: pg_sys::TupleDesc,
) {
    // SAFETY: PostgreSQL passes the receiver that it was given, and the type of its rows.
    let (receiver, columns) =
        unsafe { (&mut *receiver.cast::<Receiver<'_>>(), columns(descriptor)) };
    receiver.failed = (receiver.check)(&columns).err();
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(
    slot: *mut pg_sys::TupleTableSlot,
    receiver: *mut pg_sys::DestReceiver,
) -> bool {
    // SAFETY: PostgreSQL passes the receiver that it was given, and a row of the type that `start` has checked.
    let receiver = unsafe {
        pg_sys::slot_getallattrs(slot);
        &mut *receiver.cast::<Receiver<'_>>()
    };
    if receiver.failed.is_some() {
        return false;
    }
    receiver.rows += 1;
    if receiver.rows.is_multiple_of(500) {
        pause();
    }
    (receiver.take)(&Received { slot }).unwrap_or_else(|error| {
        receiver.failed = Some(error);
        false
    })
}

#[pg_guard]
unsafe extern "C-unwind" fn nothing(_receiver: *mut pg_sys::DestReceiver) {}
