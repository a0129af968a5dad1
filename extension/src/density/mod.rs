//! `jobstats_density_agg()`: how many values lie in which power of a base, over any table.

mod accessors;
mod aggregate;
mod density_type;
