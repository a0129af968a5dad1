//! Determines what the caller of a reading function may see.
//!
//! A role with rights on the tables sees everything, and functions run with its own rights. Readers of their own jobs and
//! readers without names have no right on tables. For them, functions that can restrict their answers run with the rights of
//! the store's owner and filter rows or hide names; all other functions fail at the first table.

pub use jobstats_core::usage::OwnUsage;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc::{Pinned, sends_log};
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call, connect_with, values};
use crate::pg::statement::Snapshot;
use crate::store;
use crate::store::front::{note_left_out, on_nodes};
use crate::store::rights::owner::{Rights, current_user};

/// The kinds of readers.
#[derive(Debug, Clone)]
pub enum Reader {
    /// A reader of everything.
    All,
    /// A reader of their own jobs and accounts.
    Own(OwnUsage),
    /// A reader of everything without names of users and jobs.
    Nameless,
}

impl Reader {
    pub fn own(&self) -> Option<&OwnUsage> {
        match self {
            Self::Own(own) => Some(own),
            Self::All | Self::Nameless => None,
        }
    }
}

/// Returns the uids and accounts as parameters of a statement; NULL for a reader of everything.
pub fn own_parameters(own: Option<&OwnUsage>) -> [DatumWithOid<'static>; 2] {
    values![
        own.map(|it| it.uids.clone()),
        own.map(|it| it.accounts.clone())
    ]
}

/// The places of these parameters in a statement that has them [first](after_own).
pub const OWN_FIRST: [&str; 2] = ["$1", "$2"];

/// Returns the parameters of a statement: the uids and accounts of the reader first, then these.
pub fn after_own<'d, const N: usize>(
    own: Option<&OwnUsage>,
    further: [DatumWithOid<'d>; N],
) -> Vec<DatumWithOid<'d>> {
    own_parameters(own).into_iter().chain(further).collect()
}

/// Returns a table of jobs as a reader sees it; `uids` and `accounts` are parameters of the statement. The own rows are
/// filtered first, whatever the rest of the statement does: row counts of PostgreSQL then do not reveal other rows.
pub fn seen(table: &str, own: Option<&OwnUsage>, [uids, accounts]: [&str; 2]) -> String {
    let Some(own) = own else {
        return format!("jobstats.{table}");
    };
    let of_accounts = match own.accounts.is_empty() {
        true => String::new(),
        false => format!(" OR own.account = ANY ({accounts})"),
    };
    format!(
        "(SELECT * FROM jobstats.{table} own WHERE own.uid = ANY ({uids}){of_accounts} OFFSET 0)"
    )
}

/// Returns the table of entries as a reader sees it: entries of own uids and entries that were matched with own jobs.
pub fn seen_entries(own: Option<&OwnUsage>, parameters: [&str; 2]) -> String {
    if own.is_none() {
        return "jobstats.entries".to_owned();
    }
    format!(
        "(SELECT * FROM jobstats.entries own WHERE own.uid = ANY ({}) OR own.entry_id = ANY (ARRAY( \
            SELECT held.entry_id FROM {} job JOIN jobstats.entry_jobs held ON held.job_no = job.job_no)) OFFSET 0)",
        parameters[0],
        seen("job_ids", own, parameters)
    )
}

/// The prefix of a uid in `jobstats.on_behalf_of`, which otherwise has the name of a role.
const USER: &str = "uid:";

/// The owner of the store, if there is one and the caller may not read the tables.
const OWNER_OF_OTHERS: &str = "SELECT n.nspowner FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE n.nspname = 'jobstats' AND c.relname = 'entries' AND NOT pg_catalog.has_table_privilege(c.oid, 'SELECT')";

/// The uids and accounts that a role may see, also by inherited rights.
const OWN: &str = "SELECT coalesce(array_agg(m.uid) FILTER (WHERE m.uid IS NOT NULL), '{}') AS uids, \
        coalesce(array_agg(m.account) FILTER (WHERE m.account IS NOT NULL), '{}') AS accounts \
    FROM jobstats.members m WHERE pg_catalog.pg_has_role($1, m.role, 'USAGE')";

/// The uids and accounts that the role of this name may see.
const OWN_OF_NAMED: &str = "SELECT coalesce(array_agg(m.uid) FILTER (WHERE m.uid IS NOT NULL), '{}') AS uids, \
        coalesce(array_agg(m.account) FILTER (WHERE m.account IS NOT NULL), '{}') AS accounts \
    FROM jobstats.members m, pg_catalog.pg_roles r WHERE r.rolname = $1 AND NOT r.rolsuper AND pg_catalog.pg_has_role(r.oid, m.role, 'USAGE')";

/// The uid of a user whom the store knows, and the accounts that the user manages. System users are excluded: their processes
/// do I/O for the jobs of all.
const OWN_OF_USER: &str = "SELECT ARRAY[$1] AS uids, \
        ARRAY(SELECT m.account FROM jobstats.managers m WHERE m.uid = $1) AS accounts \
    FROM jobstats.settings s WHERE $1 > 0 AND $1 >= s.system_uids_below AND (EXISTS (SELECT FROM jobstats.users u WHERE u.uid = $1) OR EXISTS (SELECT FROM jobstats.entries e WHERE e.uid = $1))";

/// The query whether the role sees everything without names, also by inherited rights.
const NAMELESS: &str = "SELECT EXISTS (SELECT FROM jobstats.pseudonym_readers n WHERE pg_catalog.pg_has_role($1, n.role, 'USAGE'))";

/// Runs a reading function. For a reader of their own jobs it runs with the rights of the store's owner, and gets the uids and
/// accounts.
///
/// # Errors
/// Errors of `read`, and [`Error::NobodyAsks`] for a proxy that does not name a user.
pub fn as_reader<T>(read: impl FnOnce(Option<&OwnUsage>) -> Result<T, Error>) -> Result<T, Error> {
    with_reader(|reader, rights| match reader {
        Reader::Own(own) => {
            let _rights = rights;
            read(Some(&own))
        }
        // PostgreSQL rejects a role without rights on tables.
        Reader::All | Reader::Nameless => {
            drop(rights);
            read(None)
        }
    })
}

/// Runs a reading function that works without names. For a restricted reader it runs with the rights of the store's owner.
///
/// # Errors
/// As of [`as_reader`].
pub fn as_any_reader<T>(read: impl FnOnce(Reader) -> Result<T, Error>) -> Result<T, Error> {
    with_reader(|reader, _rights| read(reader))
}

/// Determines the reader, and prepares reading from a front.
fn with_reader<T>(
    read: impl FnOnce(Reader, Option<Rights>) -> Result<T, Error>,
) -> Result<T, Error> {
    // Functions and operators of the caller must not be used.
    let _path = Pinned::new([(c"search_path", c"pg_catalog, pg_temp")]);
    if !connect_as_of_call(store::is_front)? {
        return with_rights(read);
    }
    // Lets each node of a front aggregate its own partition. Nested loops would take a round trip per row or transfer rows
    // again, and planning takes round trips, too.
    let _plans = Pinned::new([
        (c"enable_partitionwise_aggregate", c"on"),
        (c"enable_nestloop", c"off"),
        (c"jit", c"off"),
        (c"plan_cache_mode", c"force_generic_plan"),
    ]);
    on_nodes(|| {
        with_rights(|reader, rights| {
            connect_as_of_call(note_left_out)?;
            read(reader, rights)
        })
    })
}

/// Takes the rights of the store's owner for a restricted reader. Current rights count: the snapshot of a cursor may be older
/// than a revoked right.
fn with_rights<T>(
    read: impl FnOnce(Reader, Option<Rights>) -> Result<T, Error>,
) -> Result<T, Error> {
    let others = |client: &SpiClient<'_>| client.query_value(OWNER_OF_OTHERS, &[]);
    let Some(owner) = connect_with::<Option<pg_sys::Oid>>(Snapshot::Latest, others)? else {
        return read(Reader::All, None);
    };
    let caller = current_user();
    // Logged plans would reveal row counts.
    let _quiet = sends_log().then(|| Pinned::new([(c"client_min_messages", c"notice")]));
    let rights = Rights::of(owner);
    match connect_with(Snapshot::Latest, |client| reader(client, caller))? {
        Some(reader) => read(reader, Some(rights)),
        None => {
            // PostgreSQL rejects a role without any right.
            drop(rights);
            read(Reader::All, None)
        }
    }
}

/// Returns the kind of reader of a role without rights on tables; `None` if it may not read at all.
fn reader(client: &SpiClient<'_>, caller: pg_sys::Oid) -> Result<Option<Reader>, Error> {
    if let Some(own) = own(client, caller)? {
        return Ok(Some(Reader::Own(own)));
    }
    let is_nameless: bool = client.query_value(NAMELESS, &values![caller])?;
    Ok(is_nameless.then_some(Reader::Nameless))
}

/// Returns the uids and accounts of a role, or of the user that a proxy names; `None` if it has neither.
fn own(client: &SpiClient<'_>, caller: pg_sys::Oid) -> Result<Option<OwnUsage>, Error> {
    let is_proxy: bool = client.query_value(
        "SELECT EXISTS (SELECT FROM jobstats.proxies s WHERE pg_catalog.pg_has_role($1, s.role, 'USAGE'))",
        &values![caller],
    )?;
    let found = match is_proxy {
        false => client.query_opt(OWN, &values![caller])?,
        true => {
            let name = "SELECT pg_catalog.current_setting('jobstats.on_behalf_of', true)";
            let name: Option<String> = client.query_value(name, &[])?;
            let name = name.ok_or(Error::NobodyAsks)?;
            match name.strip_prefix(USER) {
                Some(uid) => {
                    let uid: u32 = uid.parse().map_err(|_| Error::NobodyAsks)?;
                    if store::is_front(client)? {
                        store::limit(client)?;
                    }
                    client.query_opt(OWN_OF_USER, &values![i64::from(uid)])?
                }
                None => client.query_opt(OWN_OF_NAMED, &values![name])?,
            }
        }
    };
    let own = match found {
        Some(row) => OwnUsage {
            uids: row.get("uids")?,
            accounts: row.get("accounts")?,
        },
        None => OwnUsage::default(),
    };
    match own.uids.is_empty() && own.accounts.is_empty() {
        true if is_proxy => Err(Error::NobodyAsks),
        true => Ok(None),
        false => Ok(Some(own)),
    }
}

#[pg_extern(sql = false)]
fn own_uids() -> SqlResult<Option<Vec<i64>>> {
    Ok(as_reader(|own| Ok(own.map(|it| it.uids.clone())))?)
}
