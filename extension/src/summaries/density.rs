//! `jobstats_density_agg()`: counts the values of any table by powers of a base.

mod accessors;
mod aggregate;
mod summary_type;
