//! `jobstats_fold()`: folds the numbers in the names of jobs.

use pgrx::prelude::*;

use crate::pg::argument::Short;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_fold(name text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_fold(text) IS
'Folds the numbers in the name of a job: task_17 becomes task_#. So the tasks of a workflow engine, each of which is a job with a number in its name, can be grouped. A number is a run of the digits 0 to 9, whatever stands beside it; all other characters stay. NULL for NULL. Errors: 54000 for a name of over 1 MB.';
"#)]
fn jobstats_fold(name: Short<&str>) -> String {
    jobstats_core::fold::fold(&name).into_owned()
}
