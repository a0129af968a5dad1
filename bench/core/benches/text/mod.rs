//! The text of a busy server, of any size, in two layouts: what the benchmarks read.
//!
//! Values follow from the numbers of entry and operation alone, so that they are the same in every run. Which lines
//! counted anything looks like chance: no processor foresees it.

use std::fmt::Write;

/// Versions of Lustre whose layouts differ most in what a record costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Short records of an MDT and of an OST: most counters are calls only.
    V2_12,
    /// Long records of an OST: bounds, sums, squares and histograms.
    V2_16,
}

impl Layout {
    pub const ALL: [Self; 2] = [Self::V2_12, Self::V2_16];

    pub const fn name(self) -> &'static str {
        match self {
            Self::V2_12 => "2.12",
            Self::V2_16 => "2.16",
        }
    }

    /// The targets of the server, with their operations.
    fn targets(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::V2_12 => &[
                (
                    "mdt.scratch-MDT0000",
                    "open close mknod link unlink mkdir rmdir rename getattr setattr getxattr setxattr statfs sync \
                     samedir_rename crossdir_rename read_bytes write_bytes punch",
                ),
                (
                    "obdfilter.scratch-OST0000",
                    "read_bytes write_bytes getattr setattr punch sync destroy create statfs get_info set_info quotactl",
                ),
            ],
            Self::V2_16 => &[(
                "obdfilter.scratch-OST0000",
                "read_bytes write_bytes read write getattr setattr punch sync destroy create statfs get_info set_info \
                 quotactl prealloc",
            )],
        }
    }
}

/// The parameters of a generated text.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub layout: Layout,
    /// Records of each target, with identifiers that differ.
    pub entries: u64,
    /// Percent of the operations' lines that counted something.
    pub filled: u64,
    /// A minute later: a quarter of the entries has done three to five operations more, one of a hundred is gone, and as
    /// many are new.
    pub later: bool,
}

impl Plan {
    pub fn print(self) -> String {
        let mut text = String::new();
        for (target, (name, operations)) in (0..).zip(self.layout.targets()) {
            let operations: Vec<_> = operations.split_whitespace().collect();
            let _ = write!(text, "{name}.job_stats=\njob_stats:\n");
            let gone = if self.later { self.entries / 100 } else { 0 };
            for entry in gone..self.entries + gone {
                self.record(&mut text, name, &operations, target << 32 | entry);
            }
        }
        text
    }

    fn record(self, text: &mut String, target: &str, operations: &[&str], key: u64) {
        let entry = key & u64::from(u32::MAX);
        let (job, uid, node) = (27_000_000 + entry, 10_000 + entry % 500, entry % 700);
        let is_active = self.later && chance(key, 0, 4) == 0;
        let age = 1_000 + chance(key, 1, 80_000) + if is_active { 60 } else { 0 };
        let start = 1_767_225_600 + chance(key, 2, 10_000);
        let _ = match self.layout {
            Layout::V2_12 => writeln!(
                text,
                "- job_id:          {job}:{uid}:r{node:02}c01\n  snapshot_time:   {}",
                start + age
            ),
            Layout::V2_16 => writeln!(
                text,
                "- job_id:          \"{job}:{uid}:r{node:02}c01\"\n\
                 \x20 snapshot_time:   {}.685497069 secs.nsecs\n\
                 \x20 start_time:      {start}.685497069 secs.nsecs\n\
                 \x20 elapsed_time:    {age}.000000000 secs.nsecs",
                start + age,
            ),
        };
        let is_mdt = target.starts_with("mdt");
        let more = if is_active { 3 + chance(key, 3, 3) } else { 0 };
        let first = chance(key, 4, operations.len() as u64);
        // MDTs of 2.12 never count bytes.
        let countable = operations
            .iter()
            .filter(|name| !(is_mdt && name.ends_with("_bytes")))
            .count() as u64;
        let filled = self.filled * operations.len() as u64 / countable;
        for (place, name) in (0..).zip(operations) {
            let line = key << 8 | place;
            let is_bytes = name.ends_with("_bytes");
            let mut samples = 0;
            if !(is_mdt && is_bytes) {
                if chance(line, 5, 100) < filled {
                    samples += 1 + chance(line, 6, 1 << chance(line, 7, 20));
                }
                if (place + operations.len() as u64 - first) % (operations.len() as u64) < more {
                    samples += 1 + chance(line, 8, 100);
                }
            }
            self.counter(text, name, is_mdt, samples, line);
        }
    }

    fn counter(self, text: &mut String, name: &str, is_mdt: bool, samples: u64, line: u64) {
        let is_bytes = name.ends_with("_bytes");
        let unit = match self.layout {
            Layout::V2_12 if is_mdt || !is_bytes => "reqs",
            Layout::V2_16 if !is_bytes => "usecs",
            _ => "bytes",
        };
        let colon = format_args!("{name}:");
        let _ = write!(
            text,
            "  {:<16} {{ samples: {samples:>11}, unit: {unit:>5}",
            colon.to_string()
        );
        if is_bytes || self.layout == Layout::V2_16 {
            let sizes = Sizes::of(is_bytes, samples, line);
            let Sizes { min, max, sum, .. } = sizes;
            let _ = match self.layout {
                Layout::V2_12 => write!(text, ", min:{min:>8}, max:{max:>8}, sum:{sum:>16}"),
                Layout::V2_16 => write!(
                    text,
                    ", min: {min:>8}, max: {max:>8}, sum: {sum:>16}, sumsq: {:>18}",
                    sizes.sumsq
                ),
            };
            if is_bytes && self.layout == Layout::V2_16 {
                sizes.histogram(text, samples);
            }
        }
        text.push_str(" }\n");
    }
}

/// Bytes or microseconds of the calls of a counter.
struct Sizes {
    /// The powers of two between which they are.
    powers: (u64, u64),
    min: u64,
    max: u64,
    sum: u64,
    sumsq: u64,
}

impl Sizes {
    fn of(is_bytes: bool, samples: u64, line: u64) -> Self {
        let least = if is_bytes { 12 } else { 3 };
        let low = least + chance(line, 9, 8);
        let high = if samples > 1 {
            low + chance(line, 10, 5)
        } else {
            low
        };
        let some = samples.min(1);
        let mean = (1 << low) + chance(line, 11, (1 << high) - (1 << low) + 1);
        Self {
            powers: (low, high),
            min: some << low,
            max: some << high,
            sum: samples * mean,
            // As it does in Lustre.
            sumsq: (samples * mean).wrapping_mul(mean),
        }
    }

    fn histogram(&self, text: &mut String, samples: u64) {
        let (low, high) = self.powers;
        let buckets = (high - low + 1).min(samples);
        text.push_str(", hist: { ");
        for bucket in 0..buckets {
            let comma = if bucket > 0 { ", " } else { "" };
            let count = samples / buckets + if bucket == 0 { samples % buckets } else { 0 };
            let power = low + bucket;
            let letter = ["", "K", "M"][(power / 10) as usize];
            let _ = write!(text, "{comma}{}{letter}: {count}", 1 << (power % 10));
        }
        text.push_str(" }");
    }
}

/// Returns a pseudo-random number below `limit`: splitmix64 of its arguments.
fn chance(key: u64, what: u64, limit: u64) -> u64 {
    let mut hash = key
        .wrapping_mul(31)
        .wrapping_add(what)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (hash ^ hash >> 31) % limit
}
