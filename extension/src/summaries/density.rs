//! `jobstats_density_agg()`: counts the values of any table by powers of a base.

mod accessors;
mod aggregate;

use jobstats_core::series::density::{Density, DensityError};

summary_type!(Density, DensityError, density_in, density_out, density_recv);
