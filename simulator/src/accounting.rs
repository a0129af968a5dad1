//! The texts of schedulers: what accounting knows at a time, and how each scheduler prints it.

pub mod calls;
mod flux;
mod gridengine;
pub mod known;
mod lsf;
mod pbs;
pub mod printed;
mod slurm;
#[cfg(test)]
mod tests;
pub mod text;
