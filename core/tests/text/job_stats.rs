//! The meaning of the lines of `job_stats`: layouts of all versions of Lustre, damaged and hostile lines.

mod damage;
mod hostile;
mod layouts;
