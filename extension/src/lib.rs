//! pgrx glue: one file per SQL feature.
pgrx::pg_module_magic!();
