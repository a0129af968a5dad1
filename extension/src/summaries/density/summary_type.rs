//! The type `jobstats_density`.

use jobstats_core::series::density::{Density, DensityError};

summary_type!(Density, DensityError, density_in, density_out, density_recv);
