//! Runs statements by SPI with a chosen snapshot.
//!
//! pgrx chooses the snapshot itself: until the transaction has an id, of the calling statement, and then a new one for each
//! statement. A function that plans and then reads would see two states of the store.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_long};
use std::ptr::NonNull;

use pgrx::Spi;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::pg::error::Error;

/// The snapshot of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshot {
    /// The snapshot of the calling statement, without later commits and without writes of the function.
    OfCall,
    /// A new snapshot for each statement, with all commits before it and writes of this transaction.
    Latest,
}

thread_local! {
    /// The snapshot of the next statements.
    static CURRENT: Cell<Snapshot> = const { Cell::new(Snapshot::Latest) };
}

/// Restores the previous snapshot.
pub struct SnapshotGuard(Snapshot);

impl Drop for SnapshotGuard {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

impl Snapshot {
    /// Sets the snapshot of statements until the value is dropped.
    #[must_use]
    pub fn hold(self) -> SnapshotGuard {
        SnapshotGuard(CURRENT.replace(self))
    }

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

    /// Creates a list of parameters in the current memory context. Without parameters, a prepared statement is planned once.
    pub(super) fn list(&self) -> pg_sys::ParamListInfo {
        if self.types.is_empty() {
            return std::ptr::null_mut();
        }
        // SAFETY: the list has room for all parameters, and each is written once.
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

/// A statement to run: SQL, which is planned for its values, or a [`Plan`].
pub trait Statement {
    /// Runs it with the current snapshot, and returns a status of SPI.
    fn run(&self, values: &mut Values, limit: c_long) -> Result<c_int, Error>;
}

/// Runs a statement on the innermost connection. Returns the rows, which live as long as the connection, and their number.
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
        // SAFETY: a connection to SPI is open, or the status reports an error. The three lists have the given length, and the
        // values have their types; SPI copies them.
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
    /// Plans a statement for parameters with the types of `arguments`. `options` are options of cursors, such as
    /// `CURSOR_OPT_GENERIC_PLAN`.
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
        // SAFETY: the plan was kept, and is freed only here.
        unsafe { pg_sys::SPI_freeplan(self.plan.as_ptr()) };
    }
}

impl Statement for Plan {
    fn run(&self, values: &mut Values, limit: c_long) -> Result<c_int, Error> {
        if self.types != values.types {
            return Err(Error::Damaged("a plan has other parameters".to_owned()));
        }
        // SAFETY: a connection to SPI is open, or the status reports an error. The plan outlives the call, and the values have
        // its types.
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
