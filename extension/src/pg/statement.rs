//! Runs statements by SPI, with the snapshot that is asked for.
//!
//! pgrx chooses the snapshot itself: that of the calling statement until the transaction has an id, and a new one for each statement
//! from then on. A function that plans what it reads, and then reads it, would read two states of the store.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_long};
use std::ptr::NonNull;

use pgrx::Spi;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::pg::error::Error;

/// The state of the store that statements read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshot {
    /// The one that the calling statement reads, without what was committed since, and without what the function has written.
    OfCall,
    /// Each statement sees what is committed when it begins, and what this transaction has written.
    Latest,
}

thread_local! {
    /// The snapshot that statements read with.
    static CURRENT: Cell<Snapshot> = const { Cell::new(Snapshot::Latest) };
}

/// Restores the snapshot of before.
pub struct Held(Snapshot);

impl Drop for Held {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

impl Snapshot {
    /// Lets statements read with this snapshot until the value is dropped.
    #[must_use]
    pub fn hold(self) -> Held {
        Held(CURRENT.replace(self))
    }

    /// Returns whether statements read with that of the call.
    pub(super) fn is_of_call() -> bool {
        CURRENT.get() == Self::OfCall
    }
}

/// The values of a statement's parameters, as SPI takes them.
pub struct Values {
    types: Vec<pg_sys::Oid>,
    datums: Vec<pg_sys::Datum>,
    nulls: Vec<c_char>,
}

impl Values {
    pub(super) fn new(arguments: &[DatumWithOid<'_>]) -> Self {
        let mut values = Self {
            types: arguments.iter().map(DatumWithOid::oid).collect(),
            datums: Vec::new(),
            nulls: Vec::new(),
        };
        for argument in arguments {
            let datum = argument.datum().map(|it| it.sans_lifetime());
            let null = if datum.is_some() { b' ' } else { b'n' };
            values.datums.push(datum.unwrap_or(pg_sys::Datum::null()));
            values.nulls.push(null as c_char);
        }
        values
    }

    fn count(&self) -> c_int {
        c_int::try_from(self.types.len()).unwrap_or(c_int::MAX)
    }

    /// Returns them as a list of parameters, in the current memory context. Without any, a prepared statement is planned once.
    pub(super) fn list(&self) -> pg_sys::ParamListInfo {
        if self.types.is_empty() {
            return std::ptr::null_mut();
        }
        // SAFETY: the list has room for so many parameters, each of which is written once.
        unsafe {
            let list = pg_sys::makeParamList(self.count());
            let params = (*list).params.as_mut_ptr();
            for (place, &value) in self.datums.iter().enumerate() {
                *params.add(place) = pg_sys::ParamExternData {
                    value,
                    isnull: self.nulls[place] == b'n' as c_char,
                    pflags: pg_sys::PARAM_FLAG_CONST as u16,
                    ptype: self.types[place],
                };
            }
            list
        }
    }
}

/// A statement that can be run: SQL, which is planned for its values, or a [`Plan`].
pub trait Statement {
    /// Runs it with the current snapshot, and returns a status of SPI.
    fn run(&self, values: &mut Values, limit: c_long) -> Result<c_int, Error>;
}

/// Runs a statement on the innermost connection. Returns its rows, if it has any, which live as long as the connection, and their number.
pub fn run(
    statement: &(impl Statement + ?Sized),
    arguments: &[DatumWithOid<'_>],
    limit: Option<c_long>,
) -> Result<(Option<NonNull<pg_sys::SPITupleTable>>, usize), Error> {
    let mut values = Values::new(arguments);
    let limit = limit.unwrap_or_default();
    Spi::check_status(statement.run(&mut values, limit)?)?;
    // SAFETY: variables of this backend, which SPI has set. The table is of this statement.
    let (table, count) = unsafe {
        let table = NonNull::new(pg_sys::SPI_tuptable);
        (
            table,
            table.map_or(pg_sys::SPI_processed, |table| table.as_ref().numvals),
        )
    };
    Ok((table, usize::try_from(count).unwrap_or_default()))
}

fn c_string(statement: &str) -> Result<CString, Error> {
    CString::new(statement).map_err(|_| Error::Damaged("a statement has a zero byte".to_owned()))
}

impl<S: AsRef<str> + ?Sized> Statement for S {
    fn run(&self, values: &mut Values, limit: c_long) -> Result<c_int, Error> {
        let statement = c_string(self.as_ref())?;
        // SAFETY: a connection to SPI is open, or the status says so. The three lists are of the length that is given, and the values
        // of their types; SPI copies what it keeps.
        Ok(unsafe {
            pg_sys::SPI_execute_with_args(
                statement.as_ptr(),
                values.count(),
                values.types.as_mut_ptr(),
                values.datums.as_mut_ptr(),
                values.nulls.as_ptr(),
                Snapshot::is_of_call(),
                limit,
            )
        })
    }
}

/// A statement that is planned until it is dropped.
pub struct Plan {
    plan: NonNull<pg_sys::_SPI_plan>,
    types: Vec<pg_sys::Oid>,
}

impl Plan {
    /// Plans a statement for parameters of the types of these. The options are those of cursors, as `CURSOR_OPT_GENERIC_PLAN`.
    pub fn new(
        statement: &str,
        arguments: &[DatumWithOid<'_>],
        options: u32,
    ) -> Result<Self, Error> {
        let statement = c_string(statement)?;
        let mut values = Values::new(arguments);
        // SAFETY: a connection to SPI is open, or there is no plan. SPI copies the types.
        let plan = unsafe {
            pg_sys::SPI_prepare_cursor(
                statement.as_ptr(),
                values.count(),
                values.types.as_mut_ptr(),
                options as c_int,
            )
        };
        let Some(plan) = NonNull::new(plan) else {
            // SAFETY: a variable of this backend.
            Spi::check_status(unsafe { pg_sys::SPI_result })?;
            return Err(Error::Damaged("a statement has no plan".to_owned()));
        };
        // SAFETY: the plan was just made, and is kept once. It can be, so that the status is good.
        unsafe { pg_sys::SPI_keepplan(plan.as_ptr()) };
        Ok(Self {
            plan,
            types: values.types,
        })
    }

    pub(super) fn as_ptr(&self) -> *mut pg_sys::_SPI_plan {
        self.plan.as_ptr()
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the plan was kept, and nothing else frees it.
        unsafe { pg_sys::SPI_freeplan(self.plan.as_ptr()) };
    }
}

impl Statement for Plan {
    fn run(&self, values: &mut Values, limit: c_long) -> Result<c_int, Error> {
        if self.types != values.types {
            return Err(Error::Damaged("a plan has other parameters".to_owned()));
        }
        // SAFETY: a connection to SPI is open, or the status says so. The plan lives as long as this value, and the values are of its
        // types.
        Ok(unsafe {
            pg_sys::SPI_execute_plan(
                self.plan.as_ptr(),
                values.datums.as_mut_ptr(),
                values.nulls.as_ptr(),
                Snapshot::is_of_call(),
                limit,
            )
        })
    }
}
