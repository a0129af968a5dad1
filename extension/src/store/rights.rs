//! Who may write, who may read, and whose rights maintenance has.

mod owner;

use pgrx::prelude::*;

extension_sql_file!("rights/grants.sql", name = "grants");
extension_sql_file!("rights/privileges.sql", name = "privileges", finalize);
