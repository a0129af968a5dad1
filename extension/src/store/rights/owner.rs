//! Runs code with the rights of the store's owner.
//!
//! A superuser may maintain the store of another role, whose triggers and defaults must not run with the superuser's rights.
//! `SET ROLE` is not a boundary, because a trigger can run `RESET ROLE`, nor is a `SECURITY DEFINER` function of the owner, who
//! can alter it. PostgreSQL itself runs functions of indexes and materialized views in this way.
#![allow(unsafe_code)]

use std::ffi::c_int;

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call, connect_mut, values};
use crate::store;

/// The rights of another role, held until the value is dropped or the transaction fails.
pub(in crate::store) struct Rights {
    user: pg_sys::Oid,
    context: c_int,
    nest_level: c_int,
}

impl Rights {
    /// Takes the rights of a role. Until they are dropped, roles cannot be set or reset, and deferring to the end of the
    /// transaction is not possible; GUCs that are set meanwhile are reset then.
    pub(in crate::store) fn of(role: pg_sys::Oid) -> Self {
        let mut rights = Self {
            user: pg_sys::Oid::INVALID,
            context: 0,
            nest_level: 0,
        };
        let restricted =
            (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION) as c_int;
        // SAFETY: in a backend's only thread. An error restores user, context and GUCs of the transaction level around
        // it.
        unsafe {
            pg_sys::GetUserIdAndSecContext(&raw mut rights.user, &raw mut rights.context);
            pg_sys::SetUserIdAndSecContext(role, rights.context | restricted);
            rights.nest_level = pg_sys::NewGUCNestLevel();
        }
        rights
    }
}

impl Drop for Rights {
    fn drop(&mut self) {
        // After an error, aborting the transaction or subtransaction takes everything back.
        if !std::thread::panicking() {
            // SAFETY: both were saved by `of`, and levels begun since have ended.
            unsafe {
                pg_sys::AtEOXact_GUC(false, self.nest_level);
                pg_sys::SetUserIdAndSecContext(self.user, self.context);
            }
        }
    }
}

/// Returns the owner of the store.
pub(in crate::store) fn owner_of_store(client: &SpiClient<'_>) -> Result<pg_sys::Oid, Error> {
    let owner = "SELECT n.nspowner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'jobstats'";
    let owner: Option<pg_sys::Oid> = plans::query_value(client, owner)?;
    owner.ok_or(Error::NoStore)
}

/// Returns the role that statements run as.
pub(in crate::store) fn current_user() -> pg_sys::Oid {
    // SAFETY: reads a variable of this backend.
    unsafe { pg_sys::GetUserId() }
}

/// Returns the owner of the store if the caller has the owner's rights.
fn owner(client: &SpiClient<'_>) -> Result<pg_sys::Oid, Error> {
    store::require(client)?;
    let owner: Option<pg_sys::Oid> = client.query_value(
        "SELECT n.nspowner FROM pg_catalog.pg_namespace n \
         WHERE n.nspname = 'jobstats' AND pg_catalog.pg_has_role(current_user, n.nspowner, 'USAGE')",
        &[],
    )?;
    owner.ok_or(Error::NotOwner)
}

/// Runs `work` with the rights of the store's owner. Refuses callers without them (42501), and fails without a store (55000).
pub(crate) fn as_owner_of_store<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let owner = connect_as_of_call(owner)?;
    connect_as_of_call(store::require_rows)?;
    let _rights = Rights::of(owner);
    work()
}

#[pg_extern(sql = false)]
fn as_owner(work: Option<&str>, state: Option<String>) -> SqlResult<Option<String>> {
    let step = match work {
        Some("maintain") => "SELECT jobstats_internal.maintain_step($1::jsonb)::text",
        Some("forget") => {
            "SELECT jsonb_agg(f)::text FROM jobstats_internal.forget_user($1::bigint) f"
        }
        Some("drop targets") => "SELECT jobstats_internal.drop_targets($1::jsonb)::text",
        Some("watch") => "SELECT jobstats_internal.watch()::text WHERE $1::text IS NULL",
        Some("convert") => "SELECT jobstats_internal.convert_step($1::jsonb)::text",
        work => {
            let work = work.unwrap_or_default();
            let works = "maintain, convert, forget, drop targets, watch";
            return Err(Error::unknown("work", work, works).into());
        }
    };
    let take = || connect_mut(|client| client.execute_value(step, &values![state]));
    // A front needs maintenance, too.
    if work == Some("maintain") {
        let _rights = Rights::of(connect_as_of_call(owner)?);
        return Ok(take()?);
    }
    Ok(as_owner_of_store(take)?)
}
