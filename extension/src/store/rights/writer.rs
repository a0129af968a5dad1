//! Determines what the caller may feed.
//!
//! The feeding role is `current_user` of the INSERT, not the role of the session: in ANALYZE, an index function runs with the
//! rights of the table's owner, and a `SECURITY DEFINER` function with the rights of its owner.

use crate::pg::error::{Error, shown};
use crate::pg::plans;
use crate::pg::spi::{connect_as_of_call, connect_mut, values};
use crate::store;
use crate::store::rights::owner::{Rights, current_user, owner_of_store};

/// The target patterns that a role may feed, or all, and whether it is bound to servers.
#[derive(Default)]
pub(crate) struct Bounds {
    pub targets: Option<Vec<String>>,
    pub server: bool,
}

/// The default source: the output of lctl on a Lustre server.
pub(crate) const LCTL: &str = "lctl";

/// The query for the grants in `jobstats.writers` to a role, also by inherited rights, if it may INSERT. The rights of the
/// store's owner allow everything.
const BOUNDS: &str = "\
    SELECT count(*) > 0 OR pg_catalog.pg_has_role($4, current_user, 'USAGE') AS allowed, pg_catalog.quote_ident(pg_catalog.pg_get_userbyid($4)) AS role, \
        CASE WHEN bool_and(w.target IS NOT NULL) AND NOT pg_catalog.pg_has_role($4, current_user, 'USAGE') THEN array_agg(w.target) END AS targets, \
        coalesce(bool_or(w.server IS NOT NULL), false) AS server \
    FROM jobstats.writers w \
    WHERE (w.cluster IS NULL OR w.cluster = $1) AND (w.server IS NULL OR $2 LIKE ANY (jobstats_internal.as_like(ARRAY[w.server]))) AND $3 = ANY (w.sources) \
        AND pg_catalog.pg_has_role($4, w.role, 'USAGE') AND pg_catalog.has_schema_privilege($4, 'jobstats'::text, 'USAGE') \
        AND pg_catalog.has_table_privilege($4, 'jobstats.feed'::text, 'INSERT')";

/// Feeds a text of this cluster, server and source with the rights of the store's owner, if the caller may feed it.
///
/// # Errors
/// Errors of `feed`, [`Error::NoStore`], [`Error::StoreVersion`], and [`Error::MayNotFeed`].
pub(crate) fn as_writer<T>(
    cluster: &str,
    server: Option<&str>,
    source: &'static str,
    feed: impl FnOnce(Bounds) -> Result<T, Error>,
) -> Result<T, Error> {
    let caller = current_user();
    let _rights = Rights::of(connect_as_of_call(owner_of_store)?);
    let bounds = connect_mut(|client| {
        store::require(client)?;
        let text = values![cluster, server, source, caller];
        let grant = plans::rows(client, BOUNDS, &text)?.next();
        let grant = grant.ok_or(Error::NoRow("writers"))?;
        if !grant.get::<bool>("allowed")? {
            return Err(Error::MayNotFeed {
                role: grant.get("role")?,
                text: (source != LCTL).then_some(source),
                cluster: shown(cluster).into_owned(),
                server: server.map_or("NULL".to_owned(), |it| format!("'{}'", shown(it))),
            });
        }
        Ok(Bounds {
            targets: grant.get("targets")?,
            server: grant.get("server")?,
        })
    })?;
    feed(bounds)
}
