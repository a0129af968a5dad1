//! The rights of writers, of readers and of maintenance.

pub(crate) mod caller;
pub(crate) mod owner;
pub(crate) mod writer;

use pgrx::prelude::*;

extension_sql_file!("rights/grants.sql", name = "grants");
extension_sql_file!("rights/privileges.sql", name = "privileges", finalize);
